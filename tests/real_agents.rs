//! The real Claude Code and Codex, driven through fleetwatch against a model server of the test's own. What fleetwatch
//! says must agree with what the model server knows.
//!
//! These tests need the agents, which `scripts/install-agents` fetches from the npm registry, so they run only when
//! they are asked for: `cargo test --test real_agents -- --ignored`. Then a missing agent is a failure.

#![allow(clippy::unwrap_used)] // What cannot be set up fails the test.

mod support {
    pub mod model_server;
    pub mod private_tmux;
    pub mod stage;
}

use std::time::Duration;

use serde_json::{Value, json};
use support::model_server::{Answer, Ending, Gate, Work};
use support::stage::{Agent, PATIENCE, Stage, is};

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
    let command = "touch orders.db";
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
        // It wants to be told twice, within a second.
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
);
