//! The real Claude Code and Codex, driven through fleetwatch against a model server of the test's own. What fleetwatch
//! says must agree with what the model server knows.
//!
//! These tests need the agents, which `scripts/install-agents` fetches from the npm registry, so they run only when
//! they are asked for: `cargo test --test real_agents -- --ignored`. Then a missing agent is a failure.

#![allow(clippy::unwrap_used)] // What cannot be set up fails the test.

#[allow(dead_code)] // The lab uses more of it.
#[path = "../examples/lab/scoring/mod.rs"]
mod scoring;
#[path = "it/support/mod.rs"]
mod support;

use std::io::Write;
use std::time::{Duration, Instant};

use crate::scoring::score::{Score, Spell, score_live};
use crate::scoring::truth::{Field, Truth};
use fleetwatch::time::Span;
use serde_json::{Value, json};
use support::model_server::{Answer, Ending, Gate, Work};
use support::private_tmux::{pass, wait_or_tell, wait_until};
use support::stage::{Agent, PATIENCE, Stage, Watch, is, said};

/// How long a published state may lag behind what happened, on a busy machine.
const LAG: Duration = Duration::from_secs(3);

fn active(state: &Value) -> bool {
    is(state, "/turn/phase", "active")
}

fn ready(state: &Value) -> bool {
    is(state, "/turn/phase", "ready") && is(state, "/surface/ready_posture", "yes")
}

fn approval(state: &Value) -> bool {
    is(state, "/assessment/ui_context", "approval_prompt")
        && is(state, "/assessment/business_state", "awaiting_operator")
}

fn result(state: &Value, wanted: &str) -> bool {
    ready(state) && is(state, "/last_turn/result", wanted)
}

fn gone(state: &Value) -> bool {
    is(state, "/diagnostics/availability", "tui_down") && is(state, "/turn/phase", "unknown")
}

/// A tool call for which the agent asks its operator.
fn dangerous_call(agent: Agent) -> Answer {
    call_to_run(agent, "touch orders.db")
}

fn call_to_run(agent: Agent, command: &str) -> Answer {
    match agent {
        Agent::ClaudeCode => {
            Answer::new().call("Bash", json!({"command": command, "description": "Create the database"}))
        }
        Agent::Codex => Answer::new().call(
            "exec_command",
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "Creates the database"}),
        ),
    }
}

/// From the prompt over an approval to the answer.
fn a_turn_with_an_approval(agent: Agent) {
    let stage = Stage::with(agent);
    let (thinking, writing) = (Gate::new(), Gate::new());
    stage.model.answer(Answer::new().hold(&thinking).then(dangerous_call(agent)));
    stage.model.answer(Answer::new().hold(&writing).say("The database is there now.", Duration::from_secs(1)));

    stage.send("Create the orders database");
    stage.model.timeline().wait_for_work(Work::Answering, PATIENCE);
    let state = stage.expect("an active turn", active);
    assert!(is(&state, "/last_turn/result", "none"), "{}", state["last_turn"]);
    // As long as the server holds the answer back, the turn is active, however little the screen shows.
    stage.expect_throughout("an active turn", LAG, active);

    thinking.open();
    stage.model.timeline().wait_for_work(Work::Over(Ending::ToolAsked), PATIENCE);
    let state = stage.expect("the approval", approval);
    assert!(is(&state, "/turn/phase", "unknown") && is(&state, "/surface/accepting_input", "no"), "{state}");
    assert!(is(&state, "/attention", "approval"), "{}", state["attention"]);
    let excerpt = state["assessment"]["operator_excerpt"].as_str().unwrap_or_default();
    assert!(excerpt.contains("touch orders.db"), "{excerpt}");
    assert!(approval(&stage.listed()), "list sees it as well");
    stage.expect_throughout("an approval", LAG, approval);
    assert_eq!(stage.model.timeline().requests(), 1, "the agent waits for its operator");

    stage.answer("1");
    stage.model.timeline().wait_for_work(Work::Answering, PATIENCE);
    stage.expect("an active turn again", active);
    writing.open();
    stage.model.timeline().wait_for_work(Work::Over(Ending::Answered), PATIENCE);
    stage.expect("success", |state| result(state, "success"));
    stage.expect_throughout("success", LAG, |state| result(state, "success"));
    assert_eq!(stage.model.timeline().unexpected(), 0);
    assert_eq!(stage.watch.course("/last_turn/result").last().map(String::as_str), Some("success"));
}

/// A tool call that the operator refuses, by the words of the dialog's own option.
fn a_refused_approval(agent: Agent) {
    let stage = Stage::with(agent);
    stage.model.answer(dangerous_call(agent));
    // What the agent makes of the refusal, if it asks at all.
    stage.model.answer(Answer::new().say("Then I will not.", Duration::from_secs(1)));
    stage.send("Create the orders database");
    stage.expect("the approval", approval);
    stage.answer("no");
    stage.expect("the end of the approval", |state| !approval(state) && !is(state, "/attention", "approval"));
    assert!(!stage.screen().contains("Do you want to proceed?"), "{}", stage.screen());
    stage.expect("a prompt again", ready);
}

/// A turn that the operator stops with Escape while the answer is being written, and one after it.
fn an_interrupted_turn(agent: Agent) {
    let stage = Stage::with(agent);
    let never = Gate::new();
    let text = "The first thing to see is this:\n\nthe order of the lines matters.\n\n";
    stage.model.answer(Answer::new().say(text, Duration::from_secs(2)).hold(&never));
    stage.send("Explain everything in detail");
    stage.model.timeline().wait_for_work(Work::Answering, PATIENCE);
    stage.expect("an active turn", active);
    stage.expect_throughout("an active turn", LAG, active);

    stage.keys(&["Escape"]);
    stage.model.timeline().wait_for_work(Work::GivenUp, PATIENCE);
    let state = stage.expect("the interruption", |state| result(state, "interrupted"));
    assert!(is(&state, "/attention", "interrupted"), "{}", state["attention"]);

    stage.model.answer(Answer::new().wait(Duration::from_secs(2)).say("Briefly: it is.", Duration::from_secs(1)));
    stage.send("Then say it briefly");
    let state = stage.expect("an active turn", active);
    // A result stays until the next turn has one.
    assert!(is(&state, "/last_turn/result", "interrupted"), "{}", state["last_turn"]);
    stage.expect("success", |state| result(state, "success"));
    assert_eq!(stage.model.timeline().unexpected(), 0);
}

/// A service that fails for good: the agent retries, and gives up.
fn a_failed_turn(agent: Agent) {
    let stage = Stage::with(agent);
    for _ in 0..8 {
        stage.model.answer(Answer::refusal(500, "api_error", "Internal server error"));
    }
    stage.send("Check the licence header");
    stage.model.timeline().wait_for_work(Work::Over(Ending::Refused(500)), PATIENCE);
    let state = stage.expect("the failure", |state| result(state, "known_failure"));
    assert!(is(&state, "/attention", "failed"), "{}", state["attention"]);
    assert!(state["last_turn"]["detail"].is_string(), "{}", state["last_turn"]);
    let requests = stage.model.timeline().requests();
    assert!(requests > 1, "the agent tried again");
    // It had really given up: no other request comes, and nothing is taken back.
    stage.expect_throughout("a failure", LAG, |state| result(state, "known_failure"));
    assert_eq!(stage.model.timeline().requests(), requests);
    let course = stage.watch.course("/last_turn/result");
    assert!(!course.iter().any(|result| result == "success"), "{course:?}");
}

/// A connection that breaks once in the middle of an answer: the agent asks again, and the turn ends well.
fn a_broken_connection(agent: Agent) {
    let stage = Stage::with(agent);
    stage.model.answer(Answer::new().say("The log begins ", Duration::from_secs(1)).cut());
    stage
        .model
        .answer(Answer::new().wait(Duration::from_secs(2)).say("The log begins at midnight.", Duration::from_secs(1)));
    stage.send("Read the log");
    stage.model.timeline().wait_for_work(Work::Over(Ending::Answered), PATIENCE);
    stage.expect("success", |state| result(state, "success"));
    assert_eq!(stage.model.timeline().requests(), 2);
    assert_eq!(stage.model.timeline().unexpected(), 0);
}

/// The operator quits the agent, starts another, and that one is killed in the middle of its work.
fn an_agent_that_goes(agent: Agent) {
    let stage = Stage::with(agent);
    stage.keys(match agent {
        // It wants the key twice, within a second.
        Agent::ClaudeCode => &["C-d", "C-d"],
        Agent::Codex => &["C-c"],
    });
    stage.expect("the end of the agent", gone);
    stage.start_agent();
    let never = Gate::new();
    stage.model.answer(Answer::new().say("Well, let me see.\n\n", Duration::from_secs(1)).hold(&never));
    stage.send("Think about it");
    stage.model.timeline().wait_for_work(Work::Answering, PATIENCE);
    stage.expect("an active turn", active);
    stage.kill_agent();
    // A server of Codex's own may read on when its terminal is gone.
    if agent == Agent::ClaudeCode {
        stage.model.timeline().wait_for_work(Work::GivenUp, PATIENCE);
    }
    let state = stage.expect("the end of the agent", gone);
    assert!(is(&state, "/surface/accepting_input", "unknown"), "{}", state["surface"]);
    // The agent's last screen is still there, and must not be read as alive.
    stage.expect_throughout("no agent", LAG, gone);
}

/// Texts of which an agent would make something else, if they were sent carelessly.
fn prompts_that_arrive_as_they_are(agent: Agent) {
    let stage = Stage::with(agent);
    std::fs::write(stage.file("README.md"), "The shop.\n").unwrap();
    // Enter behind a backslash begins a new line, and behind a file's name it may take a completion.
    let texts = [
        r"Look into C:\shop\",
        "Say it twice \\\\",
        "Summarise @README.md",
        "two\nlines \\\nand $HOME `x` #{pane_id} ;",
    ];
    for (sent, text) in texts.into_iter().enumerate() {
        stage.model.answer(Answer::text("Done."));
        stage.send(text);
        stage.model.timeline().wait_for("the prompt", PATIENCE, |_| stage.model.prompts().len() > sent);
        stage.model.timeline().wait_for_work(Work::Over(Ending::Answered), PATIENCE);
    }
    assert_eq!(stage.model.prompts(), texts);
}

/// What begins with `!` is run at once, and `send` says so. Once the prompt has become a shell's, it is no agent's.
fn a_shell_command(agent: Agent) {
    let stage = Stage::with(agent);
    let sent = stage.fleetwatch(&["send", "main", "!touch made-here"]);
    assert_eq!(String::from_utf8_lossy(&sent.stdout), "accepted, taken as a shell command\n", "{}", said(&sent));
    support::private_tmux::wait_until("the command to have run", || stage.file("made-here").exists());
    if agent == Agent::ClaudeCode {
        // It lets its model comment on it.
        stage.model.timeline().wait_for("the comment", PATIENCE, |_| !stage.model.prompts().is_empty());
    }
    stage.expect("a ready agent", ready);
    let before = stage.model.prompts().len();

    stage.type_by_hand("!");
    stage.expect("no ready agent", |state| !ready(state) || is(state, "/surface/editing_input", "yes"));
    let sent = stage.fleetwatch(&["send", "main", "touch made-by-mistake"]);
    assert_eq!(sent.status.code(), Some(1), "{}", said(&sent));
    assert!(said(&sent).contains("refused: "), "{}", said(&sent));
    stage.expect_throughout("nothing run", LAG, |_| !stage.file("made-by-mistake").exists());
    assert_eq!(stage.model.prompts().len(), before, "{:?}", stage.model.prompts());
}

/// A prompt that is given while the agent works arrives when it is ready, once; two at once both do, one after the other.
fn a_prompt_that_waits(agent: Agent) {
    let stage = Stage::with(agent);
    let working = Gate::new();
    stage.model.answer(Answer::new().hold(&working).say("The first is done.", Duration::from_secs(1)));
    for text in ["The second is done.", "The third is done."] {
        stage.model.answer(Answer::new().say(text, Duration::from_secs(2)));
    }
    stage.send("Do the first thing");
    stage.model.timeline().wait_for_work(Work::Answering, PATIENCE);
    stage.expect("an active turn", active);
    let waiting = ["Then do the second thing", "Then do the third thing"].map(|prompt| stage.send_later(prompt));
    stage.expect_throughout("an active turn", LAG, active);
    assert_eq!(stage.model.timeline().requests(), 1, "nothing is sent to an agent that works");

    working.open();
    for sending in waiting {
        let output = sending.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "accepted\n", "{}\n{}", said(&output), stage.screen());
    }
    stage.model.timeline().wait_for("three answers", PATIENCE, |_| stage.model.prompts().len() >= 3);
    stage.expect("success", |state| result(state, "success"));
    let mut prompts = stage.model.prompts();
    prompts.sort();
    assert_eq!(prompts, ["Do the first thing", "Then do the second thing", "Then do the third thing"]);
    assert_eq!(stage.model.timeline().requests(), 3);
}

/// What somebody has begun to type there is neither sent nor added to.
fn a_draft_typed_by_hand(agent: Agent) {
    let stage = Stage::with(agent);
    stage.type_by_hand("half a thought");
    stage.expect("the draft", |state| is(state, "/surface/editing_input", "yes"));
    let sent = stage.fleetwatch(&["send", "main", "something else"]);
    assert!(said(&sent).contains("refused: its input line holds an unsent draft"), "{}", said(&sent));
    stage.expect_throughout("the draft", LAG, |state| is(state, "/surface/editing_input", "yes"));
    assert!(stage.screen().contains("half a thought") && !stage.screen().contains("something else"));
    assert_eq!(stage.model.timeline().requests(), 0);
}

/// A task ends, and the agent is told once.
fn a_follow_up(agent: Agent) {
    let stage = Stage::furnished(agent, |home| {
        home.configuration("[[follow_up]]\non = [\"exited\"]\nfrom = \"job\"\nto = \"main\"\n");
    });
    stage.model.answer(Answer::new().say("I saw it.", Duration::from_secs(1)));
    // tmux may lose the output of a program that ends at once (docs/architecture.md, "Facts about tmux").
    let run = stage.fleetwatch(&["run", "job", "--", "sh", "-c", "echo could not link; sleep 1; exit 3"]);
    assert!(run.status.success(), "{}", said(&run));
    stage.model.timeline().wait_for("the message", PATIENCE, |_| !stage.model.prompts().is_empty());
    stage.expect("success", |state| result(state, "success"));
    stage.expect_throughout("success", LAG, |state| result(state, "success"));
    let prompts = stage.model.prompts();
    let [message] = prompts.as_slice() else { panic!("it is told once: {prompts:?}") };
    assert!(message.starts_with("[fleetwatch notification "), "{message}");
    assert!(message.contains("not from the user] task job (") && message.contains("exited with code 3"), "{message}");
    assert!(message.contains("could not link"), "{message}");
    assert_eq!(stage.model.timeline().requests(), 1);
}

/// In auto mode, behind a gateway that does not pass the safety check on, Claude Code stops and asks.
#[test]
#[ignore = "runs the real Claude Code: scripts/install-agents, then ask for it with --ignored"]
fn auto_mode_without_its_check() {
    let stage = Stage::furnished(Agent::ClaudeCode, |home| home.claude_mode("auto"));
    let command = "python3 -c 'print(2 + 2)'";
    let call = Answer::new().call("Bash", json!({"command": command, "description": "Add"}));
    stage.model.answer(Answer::new().say("I add them.", Duration::from_secs(1)).then(call));
    stage.model.answer(Answer::new().say("It is four.", Duration::from_secs(1)));
    stage.send("Add the numbers");
    let waits = |state: &Value| is(state, "/assessment/business_state", "awaiting_operator");
    let state = stage.expect("a dialog", waits);
    assert!(!is(&state, "/attention", "none"), "{}", state["attention"]);
    stage.expect_throughout("a dialog", LAG, waits);
    let sent = stage.fleetwatch(&["send", "--force", "main", "go on"]);
    assert!(said(&sent).contains("refused: a dialog is open"), "{}", said(&sent));
}

/// What Claude Code asks with a tool of its own: options to tick, and one of several or a text.
fn questions(several: bool) -> Answer {
    let options = json!([
        {"label": "Search", "description": "Full text search"},
        {"label": "Export", "description": "CSV files"},
        {"label": "Mail", "description": "Order confirmations"},
    ]);
    let question =
        json!({"question": "Which part comes next?", "header": "Parts", "multiSelect": several, "options": options});
    Answer::new().call("AskUserQuestion", json!({"questions": [question]}))
}

fn question(state: &Value) -> bool {
    is(state, "/assessment/ui_context", "question") && is(state, "/assessment/business_state", "awaiting_operator")
}

#[test]
#[ignore = "runs the real Claude Code: scripts/install-agents, then ask for it with --ignored"]
fn claude_code_is_given_ticks_and_texts() {
    let stage = Stage::with(Agent::ClaudeCode);
    let done = || Answer::new().say("Good.", Duration::from_secs(1));
    stage.model.answer(questions(true));
    stage.model.answer(done());
    stage.send("Ask me for parts");
    stage.expect("the question", question);
    stage.answer("mail, 1");
    stage.expect("success", |state| result(state, "success"));
    assert!(stage.screen().contains("→ Search, Mail"), "{}", stage.screen());

    stage.model.answer(questions(false));
    stage.model.answer(done());
    stage.send("Ask me for one part");
    stage.expect("the question", question);
    let output = stage.fleetwatch(&["answer", "main", "Type something", "--text", "none; of 'them'"]);
    assert!(output.status.success(), "{output:?}\n{}", stage.screen());
    stage.expect("success", |state| result(state, "success"));
    assert!(stage.screen().contains("→ none; of 'them'"), "{}", stage.screen());
    assert_eq!(stage.model.timeline().unexpected(), 0);
}

#[test]
#[ignore = "runs the real Codex: scripts/install-agents, then ask for it with --ignored"]
fn codex_is_given_a_note_to_a_question() {
    let stage = Stage::furnished(Agent::Codex, |home| home.feature("default_mode_request_user_input = true"));
    let options = json!([
        {"label": "Row", "description": "One column"},
        {"label": "Table", "description": "More work"},
    ]);
    let part =
        |id: &str, question: &str| json!({"id": id, "header": "Parts", "question": question, "options": options});
    let questions = json!({"questions": [part("one", "Which layout?"), part("two", "And on phones?")]});
    stage.model.answer(Answer::new().call("request_user_input", questions));
    stage.model.answer(Answer::new().say("Good.", Duration::from_secs(1)));
    stage.send("Ask me for a layout");
    let asks = |what: &'static str| move |state: &Value| question(state) && is(state, "/activity", what);
    stage.expect("the question", asks("Which layout?"));
    let text =
        "1. both of 'them', as the one is for phones and the other one is for every screen that is wider than those";
    let output = stage.fleetwatch(&["answer", "main", "none", "--text", text]);
    assert!(output.status.success(), "{output:?}\n{}", stage.screen());
    stage.expect("the next question", asks("And on phones?"));
    stage.answer("2");
    stage.expect("success", |state| result(state, "success"));
    let shown = stage.screen();
    assert!(shown.contains("note: 1. both of 'them'") && shown.contains("answer: Table"), "{shown}");
    assert_eq!(stage.model.timeline().unexpected(), 0);
}

#[test]
#[ignore = "runs the real Claude Code: scripts/install-agents, then ask for it with --ignored"]
fn a_plan_of_claude_code_is_approved() {
    let stage = Stage::with(Agent::ClaudeCode);
    stage.model.answer(Answer::new().call("EnterPlanMode", json!({})));
    stage.model.answer(Answer::new().call("ExitPlanMode", json!({"plan": "1. Do this\n2. Do that"})));
    stage.model.answer(Answer::new().say("Done.", Duration::from_secs(1)));
    stage.send("Plan it");
    stage.expect("the approval", approval);
    stage.answer("1");
    stage.expect("success", |state| result(state, "success"));
}

#[test]
#[ignore = "runs the real Codex: scripts/install-agents, then ask for it with --ignored"]
fn codex_is_told_to_trust_a_folder() {
    let stage = Stage::with_codex_in_an_unknown_folder();
    let asked = |state: &Value| is(state, "/assessment/ui_context", "trust_prompt");
    let state = stage.expect("the question of trust", asked);
    let name = state["assessment"]["dialog"].as_str().unwrap_or_default().to_owned();
    let output = stage.fleetwatch(&["answer", "main", "1", "--expect", &name]);
    assert!(output.status.success(), "{output:?}\n{}", stage.screen());
    assert!(String::from_utf8_lossy(&output.stdout).contains("  1 Trust and continue\naccepted"), "{output:?}");
    stage.expect("no question of trust", |state| !asked(state) && !is(state, "/attention", "trust"));
}

/// What the agent writes about its own session is known, and agrees with what its model server knows.
fn what_its_record_says(agent: Agent) {
    let stage = Stage::with_its_record(agent);
    stage.model.answer(Answer::new().say("Forty-two.", Duration::ZERO));
    stage.send("What is the answer?");
    stage.model.timeline().wait_for_work(Work::Over(Ending::Answered), PATIENCE);
    stage.expect("the end of the turn", |state| result(state, "success"));
    let mut state = Value::Null;
    wait_until("the answer in the record", || {
        state = stage.listed();
        is(&state, "/agent/last_prompt/value", "What is the answer?")
            && is(&state, "/agent/last_answer/value", "Forty-two.")
    });
    for fact in ["model", "session", "context_used"] {
        assert!(is(&state["agent"][fact], "/source", "record"), "{fact}: {}", state["agent"]);
    }
    let silent = Gate::new();
    stage.model.answer(Answer::new().say("One moment", Duration::ZERO).hold(&silent).say(" more", Duration::ZERO));
    stage.send("And the question?");
    stage.expect("a turn", active);
    // A pause in the answer is no end, whatever the screen shows of it.
    stage.expect_throughout("the turn", Duration::from_secs(8), active);
    stage.keys(&["Escape"]);
    stage.expect("the interruption", |state| result(state, "interrupted"));
    drop(silent);
}

/// All that was said is in the transcript that the record tells, tools and what they gave back among it.
fn what_was_said_is_in_its_record(agent: Agent) {
    use fleetwatch::agent_record::Speaker;
    let stage = Stage::with_its_record(agent);
    stage.model.answer(dangerous_call(agent));
    stage.model.answer(Answer::new().say("The database is there now.", Duration::ZERO));
    stage.send("Create the orders database");
    stage.expect("the approval", approval);
    stage.answer("1");
    stage.expect("the end of the turn", |state| result(state, "success"));
    let state = stage.listed();
    let path = state.pointer("/agent/transcript/value").and_then(Value::as_str).unwrap();
    let sources = fleetwatch::profile::ProfileSet::builtin().records(state["terminal"]["tool"].as_str().unwrap());
    let source = sources.iter().find(|source| source.is_transcript()).unwrap();
    let mut recorded = fleetwatch::process::RecordedTranscript::default();
    let mut said: std::sync::Arc<[_]> = [].into();
    wait_until("the answer in the transcript", || {
        let until = fleetwatch::time::Timestamp::from_millis(i64::MAX);
        said = recorded.up_to(std::path::Path::new(path), source, until).unwrap();
        said.iter().any(|said| said.by == Speaker::Agent && said.text == "The database is there now.")
    });
    let by = |speaker| said.iter().filter(|said| said.by == speaker).map(|said| &*said.text).collect::<Vec<_>>();
    assert_eq!(by(Speaker::User), ["Create the orders database"], "{said:?}");
    assert!(matches!(by(Speaker::Tool)[..], [call] if call.contains("orders.db")), "{said:?}");
    assert!(!by(Speaker::Output).is_empty(), "{said:?}");
}

/// One command makes a worktree, starts the agent there, and brings its prompt to it behind all that it asks first.
fn a_start_in_a_worktree(agent: Agent) {
    let stage = Stage::without_agent(agent);
    stage.model.answer(Answer::new().say("The login works again.", Duration::from_secs(1)));
    let shop = stage.file("").display().to_string();
    let mut started = stage.begin(&["new", agent.name(), "-C", &shop, "--worktree", "fix", "Fix the login"]);
    let now = || stage.listed_as("fix").unwrap_or_default();
    let answer = || match now().pointer("/assessment/ui_context").and_then(Value::as_str) {
        // What is gone by then needs no answer.
        Some("trust_prompt") => drop(stage.fleetwatch(&["answer", "fix", "1"])),
        Some("setup") => drop(stage.fleetwatch(&["answer", "fix", "no"])),
        _ => {}
    };
    let has_ended = || {
        answer();
        started.try_wait().unwrap().is_some()
    };
    wait_or_tell("the prompt to be taken", has_ended, || now().to_string());
    let output = started.wait_with_output().unwrap();
    assert!(output.status.success() && said(&output).contains("accepted"), "{}", said(&output));
    wait_or_tell("the answer", || result(&now(), "success"), || now().to_string());
    let output = said(&stage.fleetwatch(&["output", "fix"]));
    assert!(output.contains("The login works again."), "{output}");
    assert_eq!((stage.model.timeline().requests(), stage.model.timeline().unexpected()), (1, 0));

    // It ends by its own command, and its worktree goes with it, as nothing is lost.
    let closed = stage.fleetwatch(&["close", "fix", "--remove-worktree"]);
    assert!(closed.status.success() && !stage.file("../shop-fix").exists(), "{}", said(&closed));
}

/// A command that is higher than its pane is shown in full by the agent's record, as long as that is certainly of this call.
fn a_command_that_its_pane_cuts(agent: Agent) {
    for version in [agent.versions().old, agent.versions().new] {
        let stage = Stage::with_both_witnesses(agent, version);
        stage.resize(100, 40);
        let rows: Vec<String> = (1..59).map(|row| format!("echo row {row} of sixty >> ledger &&")).collect();
        let command = format!("echo the first > ledger &&\n{}\necho the last >> ledger", rows.join("\n"));
        let thinking = Gate::new();
        stage.model.answer(Answer::new().hold(&thinking).then(call_to_run(agent, &command)));
        stage.model.answer(Answer::new().say("It is written.", Duration::from_secs(1)));
        stage.send("Write the ledger");
        thinking.open();
        stage.expect("the approval", approval);

        let dashboard = stage.dashboard();
        let shows = |what: &str| dashboard.screen("main").contains(what);
        let press = |key: &str| dashboard.run(&["send-keys", "-t", "main", key]);
        let expect = |what: &str, holds: &dyn Fn() -> bool| wait_or_tell(what, holds, || dashboard.screen("main"));
        let is_whole = || shows("◆ in full") && command.lines().all(shows) && !shows("only a part");
        dashboard.wait_for_text("main", "approval");
        press("y");
        expect("the whole command", &is_whole);

        // Another call that looks the same in the pane: half a line, all of it, and a file that does not have it any more.
        let state = stage.listed();
        let path = state.pointer("/agent/transcript/value").and_then(Value::as_str).unwrap();
        let record = std::fs::read_to_string(path).unwrap();
        let is_call = |line: &&str| {
            line.contains("of sixty") && ["tool_use", "function_call"].iter().any(|kind| line.contains(kind))
        };
        let call = record.lines().rfind(is_call).unwrap();
        let (id, unseen) = match agent {
            Agent::ClaudeCode => ("toolu_", "the first"),
            Agent::Codex => ("call_id\":\"", "the last"),
        };
        let id = call[call.find(id).unwrap()..]
            .split(['"', ','])
            .find(|part| part.contains('_') && *part != "call_id")
            .unwrap();
        let lie = call.replace(id, "another").replace(unseen, "nothing") + "\n";
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        let (half, rest) = lie.split_at(lie.len() / 2);
        file.write_all(half.as_bytes()).unwrap();
        pass(LAG);
        assert!(is_whole(), "{}", dashboard.screen("main"));
        file.write_all(rest.as_bytes()).unwrap();
        expect("a part of it", &|| !shows("◆ in full") && !shows(unseen) && shows("only a part"));
        press("Enter");
        expect("no answer", &|| shows("nothing was sent"));
        file.set_len(record.len() as u64).unwrap();
        expect("the whole command again", &is_whole);

        press("Enter");
        let written = command.lines().map(|row| row["echo ".len()..].split(" >").next().unwrap().to_owned() + "\n");
        let written: String = written.collect();
        expect("the ledger", &|| std::fs::read_to_string(stage.file("ledger")).is_ok_and(|text| text == written));
        stage.expect("the end of the turn", |state| result(state, "success"));
    }
}

/// Codex begins a service that keeps the sessions of all Codexes of the user: what it holds is of nobody's pane for certain.
#[test]
#[ignore = "runs the real Codex: scripts/install-agents, then ask for it with --ignored"]
fn codex_whose_service_keeps_its_session_is_found_by_its_directory() {
    let stage = Stage::with(Agent::Codex);
    stage.model.answer(Answer::new().say("Forty-two.", Duration::ZERO));
    stage.send("What is the answer?");
    stage.expect("the end of the turn", |state| result(state, "success"));
    for fact in ["session", "last_answer", "transcript"] {
        stage.expect(fact, |state| state["agent"][fact]["source"] == "directory");
    }
}

/// What is true of the agent on a stage, by what its model server did and what was done to the agent: not by what it shows.
/// While something changes, and until what is said of it may be expected, nothing is judged.
struct Course<'a> {
    stage: &'a Stage,
    began: Instant,
    truth: Truth,
    /// How the last turn ended, which holds until the next one has ended.
    result: &'static str,
}

impl<'a> Course<'a> {
    fn new(stage: &'a Stage) -> Self {
        let mut course = Self { stage, began: Instant::now(), truth: Truth::default(), result: "none" };
        course.is_so(&json!({"availability": "available"}));
        course.rests("none");
        course
    }

    fn span(&self, at: Instant) -> Span {
        Span::from_millis(at.saturating_duration_since(self.began).as_millis() as u64)
    }

    fn is_so(&mut self, fields: &Value) {
        self.truth.add(self.span(Instant::now()), &fields.to_string()).unwrap();
    }

    fn changes(&mut self) {
        self.is_so(&json!({"phase": null, "ready_posture": null, "accepting_input": null, "editing_input": null,
            "blocked": null, "last_result": null}));
    }

    /// From now on, and for a while.
    fn stays(&mut self, fields: &Value) {
        self.is_so(fields);
        pass(Duration::from_secs(2));
    }

    /// The agent has come to rest.
    fn rests(&mut self, result: &'static str) {
        self.result = result;
        pass(LAG);
        self.stays(&json!({"phase": "ready", "ready_posture": "yes", "accepting_input": "yes", "editing_input": "no",
            "blocked": "none", "last_result": result}));
    }

    fn works(&mut self) {
        self.stage.model.timeline().wait_for_work(Work::Answering, PATIENCE);
        pass(LAG);
        let result = self.result;
        self.stays(&json!({"phase": "active", "ready_posture": "no", "blocked": "none", "last_result": result}));
    }

    fn asks(&mut self) {
        self.changes();
        self.stage.model.timeline().wait_for_work(Work::Over(Ending::ToolAsked), PATIENCE);
        self.stage.wait_for_screen("the question", |screen| screen.contains("1. Yes"));
        pass(LAG);
        self.stays(&json!({"phase": "unknown", "ready_posture": "no", "accepting_input": "no", "blocked": "approval"}));
        self.changes();
    }

    fn ends(&mut self, work: Work, result: &'static str) {
        self.stage.model.timeline().wait_for_work(work, PATIENCE);
        self.changes();
        self.rests(result);
    }

    /// A prompt that somebody types, of which fleetwatch knows only what it sees.
    fn types(&mut self, prompt: &str) {
        self.changes();
        self.stage.type_by_hand(prompt);
        self.stage.wait_for_screen("the draft", |screen| screen.contains(prompt));
        self.enters();
    }

    fn enters(&mut self) {
        let requests = self.stage.model.timeline().requests();
        // What comes with Enter at once is taken for a paste.
        pass(Duration::from_secs(1));
        self.stage.press(&["Enter"]);
        self.stage
            .model
            .timeline()
            .wait_for("the prompt", PATIENCE, |entries| entries.iter().any(|entry| entry.exchange >= requests));
    }

    fn score(&self, watch: &Watch) -> Score {
        let state = |(at, state): (Instant, Value)| Some((self.span(at), serde_json::from_value(state).ok()?));
        let states: Vec<_> = watch.states().into_iter().filter_map(state).collect();
        score_live(&self.truth, &states, self.span(Instant::now()), Span::ZERO)
    }
}

/// All that must be said of an agent, one after the other, by whoever reads its record and by whoever does not: a pause in
/// an answer, dialogs, an interruption, an end that is seen no more, and a process that is killed.
fn right_by_both_witnesses(agent: Agent, version: &str) {
    let stage = Stage::with_both_witnesses(agent, version);
    let (thinking, pausing, running) = (Gate::new(), Gate::new(), Gate::new());
    let mut course = Course::new(&stage);

    let text = "Let me look at the orders first.\n\nThere are three of them.\n";
    let answer = Answer::new().hold(&thinking).say(text, Duration::from_secs(1)).hold(&pausing);
    stage.model.answer(answer.say("\nThe third one has no lines.\n", Duration::from_secs(1)));
    course.types("Check the orders");
    course.works();
    thinking.open();
    pass(Duration::from_secs(10));
    pausing.open();
    course.ends(Work::Over(Ending::Answered), "success");

    stage.model.answer(Answer::new().say("I create it.", Duration::from_secs(1)).then(dangerous_call(agent)));
    stage.model.answer(Answer::new().hold(&running).say("The database is there now.", Duration::from_secs(1)));
    course.types("Create the database");
    course.asks();
    stage.answer("1");
    course.works();
    running.open();
    course.ends(Work::Over(Ending::Answered), "success");

    stage.model.answer(dangerous_call(agent));
    course.types("Create it anew");
    course.asks();
    stage.answer("no");
    course.rests("interrupted");

    // While it writes its first line: before that Claude Code gives the prompt back as a draft, and after it an old Codex takes
    // no Escape unless its status row is there.
    let never = Gate::new();
    stage
        .model
        .answer(Answer::new().say(&"One more reason is this. ".repeat(40), Duration::from_secs(40)).hold(&never));
    course.types("Explain it in detail");
    course.works();
    course.changes();
    stage.press(&["Escape"]);
    course.ends(Work::GivenUp, "interrupted");

    // Long text in a small terminal takes the place of the message.
    stage.resize(80, 14);
    for _ in 0..6 {
        stage.model.answer(Answer::new().then(Answer::refusal(
            400,
            "invalid_request_error",
            "The request is not valid",
        )));
    }
    course.types("Check the licence");
    stage.model.timeline().wait_for_work(Work::Over(Ending::Refused(400)), PATIENCE);
    pass(LAG);
    stage.model.take_back_answers();
    let lines: Vec<String> = (1..9).map(|n| format!("line {n} of a longer text")).collect();
    stage.paste_by_hand(&lines.join("\n"));
    stage.wait_for_screen("the text", |screen| ["line 8", "Pasted", "lines"].iter().any(|word| screen.contains(word)));
    pass(LAG);
    course.result = "known_failure";
    course.stays(
        &json!({"phase": "ready", "ready_posture": "yes", "editing_input": "yes", "last_result": course.result}),
    );

    stage.model.answer(Answer::new().say(text, Duration::from_secs(1)).hold(&never));
    course.changes();
    course.enters();
    course.works();
    course.is_so(&json!({"availability": null}));
    course.changes();
    stage.kill_agent();
    pass(LAG);
    course.stays(&json!({"availability": "tui_down", "phase": "unknown"}));

    let without = stage.watch_without_records.as_ref().unwrap();
    for (watch, witness) in [(&stage.watch, "with its record"), (without, "by its screen alone")] {
        let score = course.score(watch);
        let tally = |field: Field| score.tallies[field as usize];
        let share = |field: &Field| format!("{} {:.2}", field.word(), tally(*field).percent().unwrap_or_default());
        let shares = Field::ALL.iter().map(share).collect::<Vec<_>>().join(", ");
        let judged = tally(Field::Phase).judged_ms / 1000;
        let said = format!("{} {version}, {witness}: of {judged} s right in % {shares}", agent.name());
        println!("{said}");
        let is_missed = |spell: &&Spell| spell.field == Field::Blocked && spell.truth != "none";
        assert_eq!(score.spells.iter().find(is_missed), None, "a dialog is missed; {said}");
        // Nothing on its screen tells a pause in an answer of this one from the answer's end.
        let is_checked = witness == "with its record" || (agent, version) != (Agent::Codex, agent.versions().old);
        for field in [Field::Phase, Field::LastResult] {
            let is_right = tally(field).percent() >= Some(99.9);
            assert!(is_right || !is_checked, "{said}\n{:#?}", score.spells);
        }
    }
}

/// They take longest, and their names come before those of the others, so that they begin first.
mod both_witnesses {
    use super::{Agent, right_by_both_witnesses};

    #[test]
    #[ignore = "runs the real Claude Code: scripts/install-agents, then ask for it with --ignored"]
    fn old_claude_code() {
        right_by_both_witnesses(Agent::ClaudeCode, Agent::ClaudeCode.versions().old);
    }

    #[test]
    #[ignore = "runs the real Claude Code: scripts/install-agents, then ask for it with --ignored"]
    fn new_claude_code() {
        right_by_both_witnesses(Agent::ClaudeCode, Agent::ClaudeCode.versions().new);
    }

    #[test]
    #[ignore = "runs the real Codex: scripts/install-agents, then ask for it with --ignored"]
    fn old_codex() {
        right_by_both_witnesses(Agent::Codex, Agent::Codex.versions().old);
    }

    #[test]
    #[ignore = "runs the real Codex: scripts/install-agents, then ask for it with --ignored"]
    fn new_codex() {
        right_by_both_witnesses(Agent::Codex, Agent::Codex.versions().new);
    }
}

macro_rules! for_each_agent {
    ($($story:ident),* $(,)?) => {
        mod claude_code {
            $(#[test]
            #[ignore = "runs the real Claude Code: scripts/install-agents, then ask for it with --ignored"]
            fn $story() {
                super::$story(super::Agent::ClaudeCode);
            })*
        }
        mod codex {
            $(#[test]
            #[ignore = "runs the real Codex: scripts/install-agents, then ask for it with --ignored"]
            fn $story() {
                super::$story(super::Agent::Codex);
            })*
        }
    };
}

for_each_agent!(
    a_turn_with_an_approval,
    a_refused_approval,
    an_interrupted_turn,
    a_failed_turn,
    a_broken_connection,
    an_agent_that_goes,
    prompts_that_arrive_as_they_are,
    a_shell_command,
    a_prompt_that_waits,
    a_draft_typed_by_hand,
    a_follow_up,
    what_its_record_says,
    what_was_said_is_in_its_record,
    a_command_that_its_pane_cuts,
    a_start_in_a_worktree,
);
