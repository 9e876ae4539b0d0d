//! The model server for agents under test, seen by a client that speaks plain HTTP: the tests of the real agents are
//! worth what it is worth.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::model_server::{Answer, Dialect, Ending, Gate, ModelServer, Work};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

/// Asks the server, and gives the connection back before anything is read.
fn ask(server: &ModelServer, path: &str, body: &Value) -> BufReader<TcpStream> {
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    BufReader::new(stream)
}

/// The status and what follows the head, up to the end of the stream or of the connection.
fn read(mut reply: BufReader<TcpStream>) -> (u16, String) {
    let mut first = String::new();
    reply.read_line(&mut first).unwrap();
    let status = first.split(' ').nth(1).unwrap().parse().unwrap();
    let (mut line, mut length) = (String::new(), None);
    while reply.read_line(&mut line).unwrap() > 2 {
        let value = line.strip_prefix("content-length: ").map(|value| value.trim().parse::<u64>().unwrap());
        length = length.or(value);
        line.clear();
    }
    let mut body = String::new();
    if let Some(length) = length {
        reply.take(length).read_to_string(&mut body).unwrap();
        return (status, body);
    }
    let mut line = String::new();
    while reply.read_line(&mut line).unwrap() > 0 && line != "0\r\n" {
        body.push_str(&line);
        line.clear();
    }
    (status, body)
}

/// A request as Claude Code makes it in a turn: with tools.
fn turn_of_messages() -> Value {
    json!({"model": "m", "stream": true, "max_tokens": 32_000, "tools": [{"name": "Bash"}, {"name": "Read"}]})
}

/// The words of all the events' text, put together again.
fn spoken(stream: &str, pointer: &str) -> String {
    let events = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|event| serde_json::from_str::<Value>(event).unwrap());
    events.filter_map(|event| Some(event.pointer(pointer)?.as_str()?.to_owned())).collect()
}

#[test]
fn an_answer_is_streamed_and_noted() {
    let server = ModelServer::start(Dialect::Messages);
    assert_eq!(server.timeline().work(), Work::None);
    let gate = Gate::new();
    let answer = Answer::new().say("Grüße, ", Duration::from_millis(300)).hold(&gate);
    server.answer(answer.call("Bash", json!({"command": "ls"})));
    let reply = ask(&server, "/v1/messages?beta=true", &turn_of_messages());
    server.timeline().wait_for_work(Work::Answering, PATIENCE);
    gate.open();
    let (status, stream) = read(reply);
    assert_eq!((status, spoken(&stream, "/delta/text").as_str()), (200, "Grüße, "));
    assert_eq!(spoken(&stream, "/delta/partial_json"), r#"{"command":"ls"}"#);
    assert_eq!(spoken(&stream, "/delta/stop_reason"), "tool_use");
    server.timeline().wait_for_work(Work::Over(Ending::ToolAsked), PATIENCE);
}

#[test]
fn the_other_dialect_says_the_same() {
    let server = ModelServer::start(Dialect::Responses);
    let answer = Answer::new().think("**Looking**", Duration::ZERO).say("All is well.", Duration::from_millis(300));
    server.answer(answer);
    let (status, stream) = read(ask(&server, "/v1/responses", &json!({"model": "m", "stream": true, "input": []})));
    assert_eq!(status, 200);
    assert_eq!(spoken(&stream, "/delta"), "**Looking**All is well.");
    assert_eq!(spoken(&stream, "/response/status"), "in_progresscompleted");
    server.timeline().wait_for_work(Work::Over(Ending::Answered), PATIENCE);
}

#[test]
fn a_refusal_has_its_status_and_a_cut_has_no_end() {
    let server = ModelServer::start(Dialect::Messages);
    server.answer(Answer::refusal(500, "api_error", "Internal server error"));
    let (status, body) = read(ask(&server, "/v1/messages", &turn_of_messages()));
    assert_eq!(status, 500);
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"]["message"], "Internal server error");
    server.timeline().wait_for_work(Work::Over(Ending::Refused(500)), PATIENCE);

    server.answer(Answer::new().say("The log begins", Duration::ZERO).cut());
    let (_, stream) = read(ask(&server, "/v1/messages", &turn_of_messages()));
    assert_eq!(spoken(&stream, "/delta/text"), "The log begins");
    assert!(!stream.contains("message_stop"), "{stream}");
    server.timeline().wait_for_work(Work::Over(Ending::Cut), PATIENCE);
}

#[test]
fn a_client_that_hangs_up_is_noticed() {
    let server = ModelServer::start(Dialect::Messages);
    let never = Gate::new();
    server.answer(Answer::new().hold(&never));
    let client = ask(&server, "/v1/messages", &turn_of_messages());
    server.timeline().wait_for_work(Work::Answering, PATIENCE);
    drop(client);
    server.timeline().wait_for_work(Work::GivenUp, PATIENCE);
}

#[test]
fn asides_take_no_answer_and_a_turn_too_many_is_noted() {
    let server = ModelServer::start(Dialect::Messages);
    let (status, _) = read(ask(&server, "/v1/messages/count_tokens", &json!({"model": "m"})));
    assert_eq!(status, 200);
    let title = json!({"model": "m", "max_tokens": 512, "messages": []});
    let (_, body) = read(ask(&server, "/v1/messages", &title));
    assert!(body.contains("Work on the shop"), "{body}");
    assert_eq!((server.timeline().requests(), server.timeline().work()), (0, Work::None));

    read(ask(&server, "/v1/messages", &turn_of_messages()));
    assert_eq!((server.timeline().requests(), server.timeline().unexpected()), (1, 1));
}
