//! What is done over HTTP (SPEC §11, §17): raw requests to the real binary, and what a small agent in a real tmux server makes
//! of them.

use serde_json::{Value, json};

use super::serve::{Answer, Cage, Server};
use crate::support::private_tmux::wait_until;

const ANSWER: &str = "/v1/terminals/main/answer";
const INPUT: &str = "/v1/terminals/main/input";
const KEYS: &str = "/v1/terminals/main/keys";
const INTERRUPT: &str = "/v1/terminals/main/interrupt";

fn serve(cage: &Cage) -> Server {
    cage.serve_to(cage.token("phone", &["--scope", "act"]), &["--listen", "127.0.0.1:0"])
}

/// The dialog that is served, once it asks for something.
fn dialog(cage: &Cage, server: &Server, what: &str) -> Value {
    cage.ask(what);
    let read = || server.get("/v1/terminals/main/dialog").json();
    wait_until("the dialog is served", || read()["text"][0] == format!("Allow {what}?"));
    read()
}

fn answer(server: &Server, key: &str, dialog: &Value, choice: &str) -> Answer {
    server.post(ANSWER, key, &json!({ "dialog": dialog["id"], "choice": choice }).to_string())
}

/// What the history has of inputs: who sent what, and what came of it.
fn inputs(server: &Server) -> Vec<(String, String, String)> {
    let reported = server.get("/v1/history?target=main&kind=input").json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |line: &Value| {
        let what = ["choice", "text"].iter().map(|name| text(&line[*name])).collect::<String>();
        (text(&line["sender"]), what, text(&line["outcome"]))
    };
    reported.as_array().unwrap().iter().map(of).collect()
}

fn times(cage: &Cage, text: &str) -> usize {
    cage.tmux.screen("main:").matches(text).count()
}

#[test]
fn an_answer_is_for_the_dialog_that_was_read_and_is_given_once() {
    let cage = Cage::new();
    let server = serve(&cage);
    let first = dialog(&cage, &server, "one");
    let given = answer(&server, "k1", &first, "yes");
    assert_eq!((given.status, &given.json()["outcome"]), (200, &json!("accepted")), "{given:?}");
    cage.tmux.wait_for_text("main:", "● answered 1");
    // Asked again, as after a lost connection, nothing is done again, though the same dialog is open again.
    let again = dialog(&cage, &server, "one");
    assert_eq!(again["id"], first["id"]);
    let repeated = answer(&server, "k1", &first, "yes");
    assert_eq!((repeated.status, &repeated.body), (200, &given.body));
    assert!(repeated.head.contains("idempotent-replayed: true"), "{repeated:?}");
    assert!(answer(&server, "k1", &first, "no").is_denial(422, "something else"));
    assert_eq!(times(&cage, "● answered"), 1);
    // Another one is open by now: it comes with the refusal, whole.
    assert_eq!(answer(&server, "k2", &again, "2").status, 200);
    let second = dialog(&cage, &server, "two");
    let stale = answer(&server, "k3", &first, "yes");
    assert!(stale.is_denial(409, "another dialog"), "{stale:?}");
    assert_eq!(stale.json()["dialog"], second);
    assert_eq!(stale.json()["outcome"], "refused");
    for (body, error) in [
        (json!({ "dialog": second["id"], "choice": "7" }), "no option"),
        (json!({ "dialog": "x", "choice": "1" }), "is not the `id`"),
        (json!({ "dialog": second["id"], "choice": "1", "text": "go" }), "takes no text"),
        (json!({ "choice": "1" }), "dialog"),
        (json!({ "dialog": second["id"], "choice": "1", "force": true }), "force"),
    ] {
        let refused = server.post(ANSWER, &body.to_string().len().to_string(), &body.to_string());
        assert!(refused.is_denial(400, error), "{body}: {refused:?}");
    }
    assert_eq!(answer(&server, "k4", &second, "no").status, 200);
    let none = answer(&server, "k5", &second, "no");
    assert!(none.is_denial(409, "dialog") && none.json()["dialog"].is_null(), "{none:?}");
    let who = "token phone at 127.0.0.1";
    let given = [(who, "1 Yes"), (who, "2 No"), (who, "2 No")];
    wait_until("the history says who answered what", || {
        // The last one may have been refused at the terminal only, which is written down as well.
        let reported = inputs(&server);
        let taken = reported.iter().filter(|(_, _, outcome)| outcome == "accepted");
        taken.map(|(who, what, _)| (who.as_str(), what.as_str())).eq(given)
    });
    assert!(cage.printed(&["history", "main"]).contains("token phone at 127.0.0.1"));
    // A key holds when the server was restarted, and for its own token only.
    let token = server.token.clone();
    drop(server);
    let server = cage.serve_to(token, &["--listen", "127.0.0.1:0"]);
    assert_eq!(answer(&server, "k1", &first, "yes").body, repeated.body);
    let other = dialog(&cage, &server, "three");
    let server = cage.serve_to(cage.token("tablet", &["--scope", "act"]), &["--listen", "127.0.0.1:0"]);
    assert_eq!(answer(&server, "k1", &other, "yes").status, 200);
}

#[test]
fn a_prompt_is_sent_now_or_when_the_agent_is_ready() {
    let cage = Cage::new();
    let server = serve(&cage);
    let send = |key: &str, body: Value| server.post(INPUT, key, &body.to_string());
    let taken = send("a", json!({ "text": "hello" }));
    assert_eq!((taken.status, &taken.json()["outcome"]), (200, &json!("accepted")), "{taken:?}");
    cage.tmux.wait_for_text("main:", "● heard hello");
    assert_eq!(send("a", json!({ "text": "hello" })).body, taken.body);
    assert_eq!(send("b", json!({ "text": "hold" })).status, 200);
    cage.tmux.wait_for_text("main:", "working");
    let refused = send("c", json!({ "text": "now" }));
    assert!(refused.is_denial(409, "working"), "{refused:?}");
    wait_until("it is known to work", || server.get("/v1/terminals/main").json()["turn"]["phase"] == "active");
    let queued = send("d", json!({ "text": "later", "when": "ready" }));
    assert_eq!((queued.status, &queued.json()["outcome"]), (202, &json!("queued")), "{queued:?}");
    assert!(send("e", json!({ "text": "bell \u{7}" })).is_denial(400, "control"));
    assert!(send("f", json!({ "text": "x", "when": "soon" })).is_denial(400, "soon"));
    cage.let_go();
    cage.tmux.wait_for_text("main:", "● heard later");
    assert_eq!(times(&cage, "» hello"), 1);
    wait_until("the history says who queued it", || {
        let reported = server.get("/v1/history?target=main&kind=action").json();
        let queued = reported.as_array().unwrap().iter().find(|line| line["action"] == "queued");
        queued.is_some_and(|line| line["detail"]["by"] == "token phone at 127.0.0.1")
    });
}

#[test]
fn keys_answer_no_dialog_that_was_not_read() {
    let cage = Cage::new();
    let server = serve(&cage);
    let press = |key: &str, body: Value| server.post(KEYS, key, &body.to_string());
    assert_eq!(press("a", json!({ "keys": ["h", "i", "Enter"] })).status, 200);
    cage.tmux.wait_for_text("main:", "● heard hi");
    assert!(press("b", json!({ "keys": ["Nonsense"] })).is_denial(400, "Nonsense"));
    assert!(press("c", json!({ "keys": [] })).is_denial(400, "too few or too many"));
    wait_until("it is known to be ready", || server.get("/v1/terminals/main").json()["turn"]["phase"] == "ready");
    let none = server.post(INTERRUPT, "d", "{}");
    assert!(none.is_denial(409, "is ready"), "{none:?}");
    let open = dialog(&cage, &server, "one");
    for (path, key, body) in [(KEYS, "e", json!({ "keys": ["1"] })), (INTERRUPT, "f", json!({}))] {
        let refused = server.post(path, key, &body.to_string());
        assert!(refused.is_denial(409, "shows a dialog"), "{refused:?}");
        let told = refused.json();
        assert_eq!(told["dialog"], open);
        let why = "main shows a dialog; nothing was sent";
        assert_eq!((&told["detail"], &told["error"]), (&json!(why), &json!(format!("refused: {why}"))));
    }
    let prompt = server.post(INPUT, "g", &json!({ "text": "1" }).to_string());
    assert!(prompt.is_denial(409, "dialog is open"), "{prompt:?}");
    assert_eq!(press("h", json!({ "keys": ["1"], "dialog": open["id"] })).status, 200);
    cage.tmux.wait_for_text("main:", "● answered 1");
    // What the pane cuts off nobody has read.
    let columns: usize =
        cage.tmux.run(&["display-message", "-p", "-t", "main:", "#{pane_width}"]).trim().parse().unwrap();
    let cut = dialog(&cage, &server, &"x".repeat(columns - "Allow ?".len()));
    assert_eq!(cut["whole"], false);
    let unread = answer(&server, "i", &cut, "yes");
    assert!(unread.is_denial(409, "whole dialog"), "{unread:?}");
    assert!(press("j", json!({ "keys": ["1"], "dialog": cut["id"] })).is_denial(409, "whole dialog"));
    assert_eq!(answer(&server, "k", &cut, "no").status, 200, "a plain no lets nothing happen");
    cage.tmux.wait_for_text("main:", "● answered 2");
    assert_eq!(server.post(INPUT, "l", &json!({ "text": "nap 60" }).to_string()).status, 200);
    wait_until("it is known to work", || server.get("/v1/terminals/main").json()["turn"]["phase"] == "active");
    assert_eq!(server.post(INTERRUPT, "m", "{}").status, 200);
}

#[test]
fn who_may_not_act_and_what_is_no_act_is_told_so() {
    let cage = Cage::new();
    let server = serve(&cage);
    let reader = cage.token("reader", &[]);
    let (address, token) = (&server.address, &server.token);
    let good = json!({ "text": "hello" }).to_string();
    let ask = |token: &str, more: &str, body: &str| {
        server.raw(&format!(
            "POST {INPUT} HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{more}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    let (key, json) = ("Idempotency-Key: a\r\n", "Content-Type: application/json\r\n");
    let fit = format!("{key}{json}");
    assert!(ask(&reader, &fit, &good).is_denial(403, "may only read"));
    assert!(ask("fwt_0", &fit, &good).is_denial(401, "not known"));
    assert!(ask(token, &format!("{fit}Origin: http://evil.example\r\n"), &good).is_denial(403, "other origins"));
    assert!(ask(token, json, &good).is_denial(400, "Idempotency-Key"));
    assert!(
        ask(token, &format!("Idempotency-Key: {}\r\n{json}", "x".repeat(200)), &good).is_denial(400, "Idempotency-Key")
    );
    assert!(ask(token, key, &good).is_denial(415, "JSON"));
    assert!(ask(token, &fit, "{").is_denial(400, "EOF"));
    assert!(ask(token, &fit, &format!("{{\"text\":\"{}\"}}", "x".repeat(600_000))).is_denial(413, "too long"));
    let missing = server.post("/v1/terminals/nobody/input", "b", &good);
    assert!(missing.is_denial(404, "nobody"), "{missing:?}");
    assert!(server.get(INPUT).is_denial(405, "method"));
    assert_eq!(times(&cage, "hello"), 0, "nothing of it was sent");
}

#[test]
fn a_name_is_asked_anew_by_each_act() {
    let cage = Cage::new();
    let server = serve(&cage);
    let pane = cage.tmux.key_of("main:").pane.to_string();
    let send = |key: &str, target: &str, text: &str| {
        server.post(&format!("/v1/terminals/{target}/input"), key, &json!({ "text": text }).to_string())
    };
    assert_eq!(send("a", "main", "hello").status, 200);
    cage.tmux.wait_for_text("main:", "● heard hello\n❯");
    // A session that has just taken a name can be addressed, and one that has just lost it cannot.
    cage.tmux.run(&["rename-session", "-t", &pane, "fresh"]);
    let taken = send("b", "fresh", "again");
    assert_eq!(taken.status, 200, "{taken:?}");
    cage.tmux.run(&["rename-session", "-t", &pane, "later"]);
    let lost = send("c", "fresh", "lost");
    assert!(lost.is_denial(404, "no watched terminal is called `fresh`"), "{lost:?}");
    // An id is no name, whatever is called so.
    cage.tmux.run(&["rename-session", "-t", &pane, "%777"]);
    assert!(send("d", "%25777", "lost").is_denial(404, "%777"));
    assert_eq!(send("e", &pane.replace('%', "%25"), "by its pane").status, 200);
    cage.tmux.wait_for_text(&pane, "heard by its pane");
    assert!(!cage.tmux.screen(&pane).contains("lost"));
}
