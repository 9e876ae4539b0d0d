mod mutations;

use std::path::Path;

use serde_json::json;

use super::*;
use crate::profile::ProfileSet;
use crate::state::KEPT_TEXT;

const LATER: Timestamp = Timestamp::from_millis(i64::MAX);

/// The source of a tool whose file is named or opened like this.
fn source(tool: &str, part: &str) -> AgentRecordSource {
    let sources = ProfileSet::builtin().records(tool);
    let is_it =
        |source: &&AgentRecordSource| [&source.file, &source.open].into_iter().flatten().any(|it| it.contains(part));
    sources.iter().find(is_it).unwrap().clone()
}

/// What a record says after each line in which that changes: of the turn, and of the last result.
fn reported(source: &AgentRecordSource, file: &str) -> (Vec<String>, AgentRecordReader) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(file);
    let mut reader = AgentRecordReader::new(false);
    let mut reported: Vec<String> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        reader.read(source, &serde_json::from_str(line).unwrap(), LATER);
        let Some(reading) = reader.reading() else { continue };
        let turn = reading.turn.as_ref().map(|turn| format!("{} at {}", turn.phase, turn.at));
        let result = reading.result.as_ref().map(|result| format!("{} at {}", result.result, result.at));
        let now = [turn, result].into_iter().flatten().collect::<Vec<_>>().join(", ");
        if reported.last() != Some(&now) {
            reported.push(now);
        }
    }
    (reported, reader)
}

/// What lines say, `>` before a prompt, `*` before a call and `|` before what a tool gave back.
fn said(source: &AgentRecordSource, lines: impl IntoIterator<Item = Value>) -> String {
    let said = lines.into_iter().flat_map(|line| source.said_by(&line));
    let marked = said.filter(|said| !said.text.is_empty()).map(|said| {
        let mark = match said.by {
            Speaker::User => "> ",
            Speaker::Agent => "",
            Speaker::Tool => "* ",
            Speaker::Output => "| ",
        };
        format!("{mark}{}", said.text)
    });
    marked.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_record_tells_who_said_what() {
    let claude = [
        json!({"type": "user", "message": {"role": "user", "content": "clean up\nthe cache"}}),
        json!({"type": "user", "message": {"role": "user", "content": "<local-command-stdout>x</local-command-stdout>"}}),
        json!({"type": "user", "message": {"role": "user", "content": "<div> is broken:\n\tfix it"}}),
        json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "a note of its own"}}),
        json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": "I'll look.\u{1b}[31m"},
            {"type": "tool_use", "name": "Bash", "input": {"command": "ls cache\ndu -sh cache", "description": "Look"}},
        ]}}),
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": [{"type": "text", "text": "a\nb"}]},
        ]}}),
        json!({"type": "assistant", "isSidechain": true, "message": {"content": [{"type": "text", "text": "aside"}]}}),
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Odd", "input": {"n": 1}}]}}),
    ];
    assert_eq!(
        said(&source("claude", "projects"), claude),
        "> clean up\n> the cache\n> <div> is broken:\n>     fix it\nI'll look.[31m\n* Bash  ls cache\n| du -sh cache\n| a\n| b\n* Odd  {\"n\":1}"
    );
    let codex = [
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "<environment_context>"}]}}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "create the file"}}),
        json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "touch a"}}),
        json!({"type": "response_item", "payload": {"type": "function_call_output", "output": "Exit code: 0"}}),
        json!({"type": "event_msg", "payload": {"type": "agent_message", "message": "Done."}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}}),
    ];
    assert_eq!(said(&source("codex", "rollout"), codex), "> create the file\n* shell  touch a\n| Exit code: 0\nDone.");
    let copilot = [
        json!({"type": "user.message", "data": {"content": "and again?"}}),
        json!({"type": "tool.execution_start", "data": {"toolName": "bash", "arguments": {"command": "ls"}}}),
        json!({"type": "tool.execution_complete", "data": {"result": {"content": "a"}}}),
        json!({"type": "assistant.message", "data": {"content": "", "toolRequests": []}}),
        json!({"type": "assistant.message", "data": {"content": "Yes."}}),
    ];
    assert_eq!(said(&source("copilot", "events"), copilot), "> and again?\n* bash  ls\n| a\nYes.");
    let qwen = [
        json!({"type": "user", "message": {"role": "user", "parts": [{"text": "wait a little"}]}}),
        json!({"type": "assistant", "message": {"parts": [
            {"text": "thinking", "thought": true},
            {"text": "Sleeping."},
            {"functionCall": {"name": "run_shell_command", "args": {"command": "sleep 25"}}},
        ]}}),
        json!({"type": "tool_result", "message": {"parts": []}, "toolCallResult": {"resultDisplay": "Blocked"}}),
    ];
    assert_eq!(
        said(&source("qwen", "chats"), qwen),
        "> wait a little\nSleeping.\n* run_shell_command  sleep 25\n| Blocked"
    );
}

#[test]
fn turns_of_codex_begin_and_end_in_its_rollout() {
    for file in ["codex-0.169.0.jsonl", "codex-0.116.0.jsonl"] {
        let (reported, reader) = reported(&source("codex", "rollout"), file);
        let reading = reader.reading().unwrap();
        assert_eq!(reading.turn.as_ref().map(|turn| (turn.phase, turn.marks_turns)), Some((RecordedPhase::Idle, true)));
        assert!(reported.iter().any(|reported| reported.starts_with("active")), "{reported:?}");
        assert!(reading.facts.text(FactName::Model).unwrap().starts_with("gpt-5"));
        assert_eq!(reading.facts.count(FactName::ContextLimit), Some(258_400));
        assert!(reading.facts.text(FactName::LastPrompt).is_some() && reading.facts.text(FactName::Session).is_some());
    }
    let source = source("codex", "rollout");
    let event =
        |payload: Value| json!({"timestamp": "2026-11-22T08:00:00.000Z", "type": "event_msg", "payload": payload});
    let result = |payload: Value| {
        let mut reader = AgentRecordReader::new(false);
        reader.read(&source, &event(json!({"type": "task_started"})), LATER);
        reader.read(&source, &event(payload), LATER);
        let reading = reader.reading().unwrap().clone();
        assert_eq!(reading.turn.unwrap().phase, RecordedPhase::Idle);
        reading.result.map(|result| (result.result, result.detail))
    };
    let answered = json!({"type": "task_complete", "last_agent_message": "done"});
    assert_eq!(result(answered), Some((TurnResult::Success, None)));
    let failed = json!({"type": "task_complete", "last_agent_message": null, "error": {"message": "401"}});
    assert_eq!(result(failed), Some((TurnResult::KnownFailure, Some("401".to_owned()))));
    let aborted = json!({"type": "turn_aborted", "reason": "interrupted"});
    assert_eq!(result(aborted), Some((TurnResult::Interrupted, Some("interrupted".to_owned()))));
    assert_eq!(result(json!({"type": "task_complete", "last_agent_message": null})), None, "a compaction");
    // A subagent's rollout is held open by the same process.
    let meta = |source: Value| json!({"type": "session_meta", "payload": {"source": source}});
    assert!(source.first.hold(&meta(json!("cli"))) && !source.first.hold(&meta(json!({"subagent": {}}))));
}

#[test]
fn claude_says_what_it_does_in_one_file_and_how_it_ended_in_another() {
    let status = source("claude", "sessions/");
    let phase = |status_of: Value| {
        let mut reader = AgentRecordReader::new(false);
        reader.read(&status, &status_of, LATER);
        let reading = reader.reading().unwrap().clone();
        reading.turn.map(|turn| (turn.phase, turn.word, turn.at.as_millis()))
    };
    let now = |status: &str, waiting: Value| json!({"pid": 7, "sessionId": "s", "status": status, "waitingFor": waiting, "statusUpdatedAt": 1_795_332_552_989_i64});
    let at = 1_795_332_552_989;
    assert_eq!(phase(now("busy", Value::Null)), Some((RecordedPhase::Active, "busy".to_owned(), at)));
    let asks = Some((RecordedPhase::Waiting, "permission prompt".to_owned(), at));
    assert_eq!(phase(now("waiting", json!("permission prompt"))), asks);
    assert_eq!(phase(now("waiting", json!("dialog open"))).unwrap().0, RecordedPhase::Menu);
    assert_eq!(phase(now("waiting", json!("something new"))), None, "what is not known is not guessed at");
    assert_eq!(phase(now("shell", Value::Null)).unwrap().0, RecordedPhase::Background);
    assert_eq!(phase(json!({"pid": 7, "sessionId": "s", "status": {"busy": true}})), None);

    let transcript = source("claude", "{session}");
    let (reported, reader) = reported(&transcript, "claude-2.1.197.jsonl");
    assert!(reported.iter().any(|reported| reported.starts_with("success")), "{reported:?}");
    let facts = &reader.reading().unwrap().facts;
    assert_eq!(facts.text(FactName::Branch), Some("main"));
    assert!(facts.text(FactName::Model).unwrap().starts_with("claude-"));
    assert_eq!(facts.text(FactName::LastPrompt).map(|text| text.contains("<command")), Some(false));
    assert!(facts.count(FactName::ContextUsed).is_some() && facts.count(FactName::TokensOut).is_some());
}

#[test]
fn what_went_wrong_is_no_success_when_the_turn_ends() {
    let transcript = source("claude", "{session}");
    let mut reader = AgentRecordReader::new(false);
    let at = |second: u32, mut line: Value| {
        line["timestamp"] = json!(format!("2026-11-22T08:00:{second:02}.000Z"));
        line
    };
    let prompt = |second| at(second, json!({"type": "user", "message": {"content": "go"}}));
    let error =
        json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": [{"text": "API Error: 500"}]}});
    let end = |second| at(second, json!({"type": "system", "subtype": "turn_duration"}));
    let result = |reader: &AgentRecordReader| reader.reading().unwrap().result.clone().unwrap();
    for line in [prompt(1), at(2, error), end(3)] {
        reader.read(&transcript, &line, LATER);
    }
    let failed = result(&reader);
    assert_eq!((failed.result, failed.detail.as_deref()), (TurnResult::KnownFailure, Some("API Error: 500")));
    for line in [prompt(4), end(5)] {
        reader.read(&transcript, &line, LATER);
    }
    assert_eq!(result(&reader).result, TurnResult::Success);
    // The text can be quoted, the shape cannot.
    let quoted = json!({"type": "user", "message": {"content": "[Request interrupted by user]"}});
    reader.read(&transcript, &at(6, quoted), LATER);
    assert_eq!(result(&reader).result, TurnResult::Success);
    let stopped =
        json!({"type": "user", "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}});
    reader.read(&transcript, &at(7, stopped), LATER);
    assert_eq!(result(&reader).result, TurnResult::Interrupted);
}

#[test]
fn an_old_codex_says_when_a_request_is_over_and_a_new_one_marks_its_turns() {
    let source = source("codex", "rollout");
    let line =
        |kind: &str, payload: Value| json!({"timestamp": "2026-11-22T08:00:00.000Z", "type": kind, "payload": payload});
    let message = || line("response_item", json!({"type": "message", "role": "assistant"}));
    let after = |lines: &[Value]| {
        let mut reader = AgentRecordReader::new(false);
        lines.iter().for_each(|line| reader.read(&source, line, LATER));
        let turn = reader.reading().unwrap().turn.clone().unwrap();
        (turn.phase, turn.marks_turns, turn.patience.is_some())
    };
    let prompt = || line("event_msg", json!({"type": "user_message", "message": "Go"}));
    let part = || line("event_msg", json!({"type": "agent_message", "message": "Well,"}));
    let call = || line("response_item", json!({"type": "function_call", "name": "shell"}));
    let request = || line("turn_context", json!({"model": "m"}));
    let aborted = || line("event_msg", json!({"type": "turn_aborted", "reason": "interrupted"}));
    assert_eq!(after(&[prompt(), request(), part()]), (RecordedPhase::Active, false, true));
    assert_eq!(after(&[prompt(), request(), part(), message()]), (RecordedPhase::Idle, false, true));
    assert_eq!(after(&[prompt(), message(), call(), request()]), (RecordedPhase::Active, false, true));
    assert_eq!(after(&[prompt(), aborted()]), (RecordedPhase::Idle, false, true));
    assert_eq!(after(&[prompt(), aborted(), prompt()]), (RecordedPhase::Active, false, true), "that is no mark");
    let begins = || line("event_msg", json!({"type": "task_started"}));
    assert_eq!(after(&[begins(), prompt(), request(), part(), message()]), (RecordedPhase::Active, true, false));
}

#[test]
fn an_answer_in_several_lines_is_counted_once() {
    let transcript = source("claude", "{session}");
    let line = |id: &str, output: u64| json!({"type": "assistant", "message": {"id": id, "model": "m", "usage": {"input_tokens": 10, "output_tokens": output}}});
    let lines = [line("a", 1), line("a", 5), line("b", 2)];
    let mut whole = AgentRecordReader::new(false);
    lines.iter().for_each(|line| whole.read(&transcript, line, LATER));
    let facts = &whole.reading().unwrap().facts;
    assert_eq!((facts.count(FactName::TokensIn), facts.count(FactName::TokensOut)), (Some(20), Some(7)));
    let mut tail = AgentRecordReader::new(true);
    lines.iter().for_each(|line| tail.read(&transcript, line, LATER));
    assert_eq!(tail.reading().unwrap().facts.count(FactName::TokensIn), None, "lines before the tail are not counted");
}

#[test]
fn copilot_says_that_it_asks() {
    let (reported, reader) = reported(&source("copilot", "inuse"), "copilot-1.0.102.jsonl");
    assert!(reported.iter().any(|reported| reported.starts_with("active")), "{reported:?}");
    let reading = reader.reading().unwrap();
    assert_eq!(reading.facts.text(FactName::Model), Some("mock-1"));
    assert!(!reading.turn.as_ref().unwrap().marks_turns);
    let mut reader = reader.clone();
    reader.read(&source("copilot", "inuse"), &json!({"type": "permission.requested"}), LATER);
    assert_eq!(reader.reading().unwrap().turn.as_ref().unwrap().phase, RecordedPhase::Waiting);
}

#[test]
fn texts_of_records_are_harmless_and_bounded() {
    let text = kept(&format!("a\u{1b}[31m\u{202E}b\nc{}", "x".repeat(5000)));
    assert!(text.starts_with("a[31mb\ncx") && text.chars().count() <= KEPT_TEXT, "{text:?}");
}

#[test]
fn a_time_that_could_not_be_read_back_is_none() {
    let at = JsonPath::try_from("/at".to_owned()).unwrap();
    assert_eq!(at.time(&json!({"at": i64::MIN})), None);
    assert_eq!(at.time(&json!({"at": 1_800_000_000})), Some(Timestamp::from_millis(1_800_000_000_000)));
}

#[test]
fn plans_are_read_however_agents_call_their_steps() {
    let plan = |tool: &str, part: &str, line: Value| {
        let mut reader = AgentRecordReader::new(false);
        let source = source(tool, part);
        reader.read(&source, &source.kept(&line, RecordDepth::Named), LATER);
        let plan = reader.reading().and_then(|reading| reading.facts.plan().cloned());
        plan.map(|plan| format!("{}/{} {}", plan.done, plan.of, plan.doing.unwrap_or_default()))
    };
    let todos = |word: &str| json!([{word: "a", "status": "completed"}, {word: "b", "status": "in_progress"}, {word: "c", "status": "pending"}, {word: "d", "status": "cancelled"}]);
    let wanted = Some("1/3 b".to_owned());
    let call = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "x"}, {"type": "tool_use", "name": "TodoWrite", "input": {"todos": todos("content")}}]}});
    assert_eq!(plan("claude", "{session}.jsonl", call), None, "it may be refused");
    let result = |result: Value| json!({"type": "user", "message": {"content": [{"type": "tool_result"}]}, "toolUseResult": result});
    assert_eq!(
        plan("claude", "{session}.jsonl", result(json!({"oldTodos": [], "newTodos": todos("content")}))),
        wanted
    );
    assert_eq!(plan("claude", "{session}.jsonl", result(json!("Error: refused"))), None);
    assert_eq!(plan("claude", "tasks", json!({"files": todos("subject")})), wanted);
    let arguments = json!({"explanation": "x", "plan": todos("step")}).to_string();
    let update = json!({"type": "response_item", "payload": {"type": "function_call", "name": "update_plan", "arguments": arguments}});
    assert_eq!(plan("codex", "rollout", update), wanted);
    let part = json!({"functionCall": {"name": "todo_write", "args": {"todos": todos("content")}}});
    assert_eq!(plan("qwen", "{session}.jsonl", json!({"type": "assistant", "message": {"parts": [part]}})), wanted);
    let (_, reader) = reported(&source("gemini", "chats"), "gemini-0.61.0.jsonl");
    let plan = reader.reading().unwrap().facts.plan().unwrap();
    assert_eq!((plan.done, plan.of, plan.doing.as_deref()), (1, 3, Some("two")));
}

#[test]
fn a_source_without_proof_is_refused() {
    let check = |text: &str| toml::from_str::<AgentRecordSource>(text).unwrap().fault();
    assert!(check("base = [\"~/.x\"]\nfile = \"log.jsonl\"").is_some());
    assert!(check("base = [\"~/.x\"]\nfile = \"{session}/../../x\"").is_some());
    assert!(check("base = []\nfile = \"{session}\"").is_some());
    assert!(check("base = [\"~/.x\"]\nfile = \"{pid}.json\"\nstart = \"/start\"").is_some(), "it must be replaced");
    assert_eq!(check("base = [\"~/.x\"]\nfile = \"{pid}.json\"\nstart = \"/start\"\nreplaced = true"), None);
    assert_eq!(check("base = [\"~/.x\"]\nopen = \"a-*.jsonl\""), None);
    let by_directory = "base = [\"~/.x\"]\ndirectory = { line = \"/cwd\" }\nfile = \"*.jsonl\"";
    assert_eq!(check(by_directory), None);
    assert!(check(&format!("{by_directory}\n[[rule]]\nturn = \"active\"")).is_some(), "it proves no state");
    assert!(check(&format!("{by_directory}\nqueries = [\"SELECT 1\"]")).is_some());
    let like = "[tool]\nname = \"x\"\nlabel = \"X\"\n[[record]]\nlike = \"a-*.jsonl\"\n";
    let error = ProfileSet::check("x.toml", &format!("{like}{by_directory}")).unwrap_err();
    assert!(error.to_string().contains("there is no `a-*.jsonl` before it"), "{error}");
}

/// What a reader has read, without the calls of tools: their texts are in no recording.
fn without_calls(reader: &AgentRecordReader) -> Option<AgentRecordReading> {
    let reading = reader.reading()?.clone();
    Some(AgentRecordReading { calls: Vec::new(), ..reading })
}

/// What recordings keep of a line says the same as the line.
#[test]
fn what_is_kept_of_a_line_is_read_like_the_line() {
    let files = [
        ("codex", "rollout", "codex-0.169.0.jsonl"),
        ("codex", "rollout", "codex-0.116.0.jsonl"),
        ("claude", "{session}", "claude-2.1.197.jsonl"),
        ("gemini", "chats", "gemini-0.61.0.jsonl"),
        ("pi", "{cwd}", "pi-0.74.2.jsonl"),
        ("copilot", "inuse", "copilot-1.0.102.jsonl"),
    ];
    for (tool, part, file) in files {
        let source = source(tool, part);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(file);
        let [mut whole, mut kept, mut kept_whole] = [(); 3].map(|()| AgentRecordReader::default());
        let (mut bytes, mut bytes_kept) = (0, 0);
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let named = source.kept(&value, RecordDepth::Named);
            (bytes, bytes_kept) = (bytes + line.len(), bytes_kept + named.to_string().len());
            whole.read(&source, &value, LATER);
            kept.read(&source, &named, LATER);
            assert_eq!(without_calls(&kept), without_calls(&whole), "{line}\n{named}");
            kept_whole.read(&source, &source.kept(&value, RecordDepth::Whole), LATER);
            assert_eq!(without_calls(&kept_whole), without_calls(&whole), "{line}");
        }
        assert!(bytes_kept * 2 < bytes, "{file}: {bytes_kept} of {bytes} bytes are kept");
    }
}

#[test]
fn nothing_is_kept_of_a_line_but_what_the_rules_read() {
    let transcript = source("claude", "{session}");
    let at = "2026-11-22T08:00:00.000Z";
    let kept = |line: Value| transcript.kept(&line, RecordDepth::Named);
    let result = json!({"type": "user", "timestamp": at, "cwd": "/home", "toolUseResult": {"stdout": "secret"}, "isMeta": {"why": "secret"},
        "message": {"content": [{"type": "tool_result", "content": "secret"}, {"type": "text", "text": "secret"}]}});
    let left = json!({"type": "user", "timestamp": at, "toolUseResult": {}, "isMeta": {}, "message": {"content": [{}, {"text": true}]}});
    assert_eq!(kept(result), left, "that something is there may keep a rule from fitting");
    let hidden = json!({"type": "user", "isMeta": true, "message": {"content": "secret"}});
    assert_eq!(kept(hidden), json!({"type": "user", "isMeta": true, "message": {"content": true}}));
    let prompt = json!({"type": "user", "message": {"content": "x".repeat(5000), "role": "user"}});
    assert_eq!(kept(prompt), json!({"type": "user", "message": {"content": "x".repeat(KEPT_TEXT)}}));
    let whole = transcript.kept(&json!({"text": ["y".repeat(5000)], "n": 7}), RecordDepth::Whole);
    assert_eq!(whole, json!({"text": ["y".repeat(100)], "n": 7}));
    // A status file may hold tokens, which are in no recording.
    let status = source("qwen", "sessions/").kept(&json!({"sessionId": "s", "ipcToken": "secret"}), RecordDepth::Whole);
    assert_eq!(status, json!({"sessionId": "s"}));
}

/// Recordings call a record by what its profile calls the file.
#[test]
fn no_two_records_of_an_agent_have_one_name() {
    let profiles = ProfileSet::builtin();
    for tool in profiles.tools() {
        let sources = profiles.records(tool);
        let names: std::collections::BTreeSet<&str> = sources.iter().map(AgentRecordSource::name).collect();
        assert_eq!(names.len(), sources.len(), "{tool}: {names:?}");
    }
}

/// A recording may come from anybody.
#[test]
fn a_summary_that_was_tampered_with_does_no_harm() {
    let now = Timestamp::from_millis(1_800_000_000_000);
    let fact = |value: Value| json!({ "value": value, "source": "record", "at": "2099-01-01T00:00:00.000Z" });
    let facts =
        json!({ "model": fact(json!("a\u{1b}[2Jb")), "tokens_in": fact(json!("many")), "branch": fact(json!(1)) });
    let reader = AgentRecordReader::from_summary(&json!({ "reading": { "facts": facts }, "is_understood": true }), now);
    let reading = reader.as_ref().and_then(AgentRecordReader::reading).unwrap();
    let reported: Vec<_> = reading.facts.iter().map(|(name, fact)| (name, fact.value.to_string(), fact.at)).collect();
    assert_eq!(reported, [(FactName::Model, "a[2Jb".to_owned(), now)]);
    for other in [json!(null), json!("x"), json!({ "reading": 1 }), json!([])] {
        assert!(AgentRecordReader::from_summary(&other, now).is_none(), "{other}");
    }
}
