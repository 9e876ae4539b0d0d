//! What happened, whom it is told, and in which words.

use std::sync::Arc;

use super::*;
use crate::fleet::{self, Capture, Declared, Fleet, Input, PaneId, PaneReport, PollResult, ServerReport};
use crate::ids::WindowId;
use crate::profile::{ProfileSet, Program};
use crate::screen::PaneFacts;
use crate::state::{Attention, LastTurn, TaskStatus, Transition, TurnSource};
use crate::task::{Batch, Happening};

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + (seconds * 1000.0) as i64)
}

fn rule(on: &[Occasion], from: &str, to: &str, template: Option<&str>) -> FollowUpRule {
    let (on, from) = (on.iter().copied().collect(), Pattern::new(from).unwrap());
    FollowUpRule { on, from, to: to.to_owned(), template: template.map(str::to_owned), keep: Span::from_secs(60) }
}

fn happened(source: &str, occasion: Occasion, text: &str, output: &[&str]) -> FollowUpEvent {
    let output = output.iter().map(|line| (*line).to_owned()).collect();
    let (source, text) = (source.to_owned(), text.to_owned());
    FollowUpEvent { key: text.clone(), source, occasion, has_failed: false, at: at(0.0), text, output }
}

#[test]
fn an_event_is_told_to_each_agent_that_a_rule_names_in_the_words_of_its_template() {
    let rules = [
        rule(&[Occasion::Exited, Occasion::Input], "build-*", "lead", None),
        rule(&[Occasion::Exited], "*", "docs", Some("{source}: {text} ({event}, {other}) Look into it.")),
        rule(&[Occasion::Exited], "*", "lead", Some("a second rule for one agent")),
        rule(&[Occasion::Exited], "*", "build-api", Some("an agent is not told of itself")),
    ];
    let ended = "task build-api (@12) exited with code 2";
    let event = happened("build-api", Occasion::Exited, ended, &["error: {text}", "1 error"]);
    let told: Vec<(String, String)> =
        wanted(&rules, &event).into_iter().map(|wanted| (wanted.to, message(7, &[wanted.body]))).collect();
    let message =
        |said: &str| format!("[fleetwatch notification 7, not from the user] {said}\n  | error: {{text}}\n  | 1 error");
    let of_docs = message(&format!("build-api: {ended} (exited, {{other}}) Look into it."));
    assert_eq!(told, [("lead".to_owned(), message(ended)), ("docs".to_owned(), of_docs)]);
    assert_eq!(wanted(&rules[..2], &happened("web", Occasion::Input, "task web (@13) asks: continue?", &[])), []);
}

#[test]
fn what_happens_while_an_agent_is_busy_becomes_one_message() {
    let rules = [rule(&[Occasion::Exited, Occasion::Notify], "*", "lead", None)];
    let ended = happened("build", Occasion::Exited, "task build (@1) exited with code 0", &["done"]);
    let events = [ended, happened("web", Occasion::Notify, "task web (@2) rang", &[])];
    let bodies: Vec<MessageEvent> = events.iter().flat_map(|event| wanted(&rules, event)).map(|it| it.body).collect();
    assert_eq!(
        message(7, &bodies),
        "[fleetwatch notification 7, not from the user] 2 events:\n- task build (@1) exited with code 0\n    | done\n\
         - task web (@2) rang"
    );
    let many = vec![bodies[1].clone(); IN_FULL + 3];
    assert!(message(7, &many).ends_with("- and 3 more"));
}

/// One agent on the default server, as a process sees it that leads the server or not.
struct Scene {
    fleet: Fleet,
    terminal: Terminal,
    events: RecentEvents,
    leads: bool,
}

impl Scene {
    fn new() -> Self {
        let key = TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 1, instance: Default::default() };
        let pane = PaneReport {
            key: key.clone(),
            place: Arc::default(),
            cwd: None,
            facts: PaneFacts::default(),
            program: Program::agent("claude", None),
            capture: Capture::Unchanged,
            declared: Some(Declared { name: Some("birds".to_owned()), ..Declared::default() }),
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let mut fleet = Fleet::new(fleet::Settings::default(), Arc::new(ProfileSet::builtin()));
        let outcome = PollResult::Listed(vec![pane]);
        fleet.handle(Input::Server(ServerReport::new(ServerId::default(), at(0.0), outcome)), at(0.0));
        let terminal = fleet.terminal(&key).unwrap().clone();
        Self { fleet, terminal, events: RecentEvents::since(at(0.0)), leads: true }
    }

    fn ends(&mut self, began: Option<f64>, ended: f64) {
        let (result, source) = (TurnResult::Success, TurnSource::SurfaceInference);
        let (began, at) = (began.map(at), Some(at(ended)));
        self.terminal.state.last_turn = LastTurn { result, source, began, at, ..LastTurn::NONE };
    }

    fn turns(&mut self, seconds: f64, (from, to): (&str, &str)) {
        let changed = vec![Change { field: "phase".into(), from: from.into(), to: to.into() }];
        let summary = TaskStatus::Idle.summary(None);
        self.terminal.transitions.push_back(Transition {
            at: at(seconds),
            changed,
            summary,
            note: None,
            evidence: Arc::default(),
        });
    }

    fn asks(&mut self, since: f64) {
        let state = &mut self.terminal.state;
        (state.attention, state.since, state.since_exact) = (Attention::Approval, at(since), true);
    }

    fn take(&mut self, seconds: f64) -> Vec<String> {
        let leads = self.leads;
        let view = View { terminals: vec![&self.terminal], ..self.fleet.view(at(seconds)) };
        self.events.take(&view, &|_| leads).into_iter().map(|event| event.occasion.to_string()).collect()
    }
}

#[test]
fn what_stands_for_a_moment_is_told_once() {
    let mut scene = Scene::new();
    scene.ends(Some(1.0), 4.0);
    assert_eq!(scene.take(4.9), [""; 0], "it might be taken back");
    assert_eq!(scene.events.poll_timeout(), Some(at(5.0)));
    assert_eq!(scene.take(5.0), ["finished"]);
    assert_eq!((scene.take(6.0), scene.events.poll_timeout()), (Vec::new(), None));
    scene.asks(7.0);
    assert_eq!(scene.take(7.5), [""; 0], "half a dialog");
    scene.terminal.state.attention = Attention::None;
    assert_eq!(scene.take(9.0), [""; 0]);
    scene.asks(10.0);
    assert_eq!(scene.take(11.0), ["approval"]);
    scene.asks(12.0);
    assert_eq!(scene.take(13.0), ["approval"], "one that takes the place of another one");
    scene.ends(Some(20.0), 23.0);
    scene.terminal.state.attention = Attention::None;
    assert_eq!(scene.take(25.0), ["finished"], "also when nobody needs to look there");
    assert_eq!(scene.take(500.0), [""; 0]);
}

#[test]
fn what_began_before_anybody_watched_or_wanted_to_know_is_no_news() {
    let mut scene = Scene::new();
    scene.ends(None, 4.0);
    (scene.terminal.state.attention, scene.terminal.state.since) = (Attention::Approval, at(4.0));
    scene.terminal.state.since_exact = false;
    assert_eq!(scene.take(9.0), [""; 0]);
    scene.ends(None, 12.0);
    assert_eq!(scene.take(13.0), ["finished"], "it was seen to end");
    let mut scene = Scene::new();
    scene.ends(None, 4.0);
    scene.turns(4.0, ("active", "ready"));
    assert_eq!(scene.take(4.0), [""; 0]);
    assert_eq!(scene.take(5.0), ["finished"], "who watched before has seen it work");
    let mut scene = Scene::new();
    scene.ends(None, 4.0);
    scene.turns(4.0, ("unknown", "ready"));
    assert_eq!((scene.take(4.0), scene.take(5.0)), (Vec::new(), Vec::new()));
    scene.ends(Some(1.0), 14.0);
    scene.events = RecentEvents::since(at(15.0));
    assert_eq!(scene.take(19.0), [""; 0]);
}

#[test]
fn who_takes_over_tells_what_happened_within_a_minute() {
    let mut scene = Scene::new();
    scene.leads = false;
    let state = serde_json::json!({
        "kind": "task", "id": "build", "host": null, "socket": "default", "session": "jobs", "window_id": "@12",
        "window": "2:build", "pane": "%7", "pid": 4711, "known": true, "status": "exited",
        "since": "2026-11-21T09:00:00.000Z", "started_at": "2026-11-21T09:00:00.000Z", "command": "make", "cwd": "/src",
        "dead": true, "exit_code": 2, "bell": false, "bells": 0, "prompt": null, "preview": [],
    });
    let task = TaskEvent {
        at: at(3.0),
        id: "build".to_owned(),
        window: WindowId(12),
        name: String::new(),
        session: String::new(),
        key: scene.terminal.key.clone(),
        happening: Happening::Exited { code: Some(2), bells: 0 },
        preview: Preview::default(),
        state: serde_json::from_value(state).unwrap(),
    };
    scene.events.note(&Effect::Tasks(Batch { server: ServerId::default(), events: vec![task.clone()] }));
    scene.ends(Some(1.0), 4.0);
    assert_eq!(scene.take(9.0), [""; 0]);
    scene.leads = true;
    assert_eq!(scene.take(9.0), ["exited", "finished"]);
    assert_eq!(scene.take(9.1), [""; 0]);
    scene.leads = false;
    scene.events.note(&Effect::Tasks(Batch { server: ServerId::default(), events: vec![task] }));
    scene.take(64.0);
    scene.leads = true;
    assert_eq!(scene.take(64.0), [""; 0], "the leader of that time has told it");
}
