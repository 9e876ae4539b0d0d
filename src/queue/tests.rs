use std::sync::Arc;

use super::*;
use crate::fleet::{self, Capture, Fleet, Input, Outcome, PaneId, PaneReport, Place, ServerId, ServerReport};
use crate::profile::{Library, Program};
use crate::screen::PaneFacts;
use crate::state::{Phase, Tri};

fn key(pane: u32) -> TerminalKey {
    TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: 1 }
}

fn at(milliseconds: i64) -> Moment {
    Moment::from_millis(milliseconds)
}

fn texts(prompts: &[Queued]) -> Vec<&str> {
    prompts.iter().map(|prompt| prompt.text.as_str()).collect()
}

fn queue(prompts: &[(u32, &str)]) -> Queue {
    let mut queue = Queue::default();
    for (pane, text) in prompts {
        queue.push(key(*pane), format!("t{pane}"), (*text).to_owned(), Moment::default());
    }
    queue
}

#[test]
fn each_prompt_is_given_once_and_those_of_a_terminal_in_order() {
    let mut queue = queue(&[(1, "a"), (1, "b"), (2, "c"), (3, "d")]);
    let ready = |of: &TerminalKey| if *of == key(3) { Readiness::NotYet } else { Readiness::Ready };
    let due = queue.due(ready, at(0));
    assert_eq!(texts(&due), ["a", "c"]);
    assert!(queue.due(ready, at(1)).is_empty(), "what is on its way is not sent again, nor overtaken");
    queue.tried(due[0].id, Tried::Done, at(2));
    assert_eq!(texts(&queue.due(ready, at(3))), ["b"]);
    queue.tried(due[1].id, Tried::Done, at(3));
    assert_eq!(texts(queue.prompts()), ["b", "d"]);
}

#[test]
fn what_was_refused_for_now_is_tried_again_later() {
    let mut queue = queue(&[(1, "a")]);
    let ready = |_: &TerminalKey| Readiness::Ready;
    let due = queue.due(ready, at(0));
    queue.tried(due[0].id, Tried::Later, at(100));
    assert!(queue.due(ready, at(1099)).is_empty());
    assert_eq!(queue.next_try(at(200)), Some(at(1100)));
    assert_eq!(texts(&queue.due(ready, at(1100))), ["a"]);
    assert_eq!(queue.next_try(at(1100)), None, "it is on its way");
}

#[test]
fn what_is_on_its_way_is_neither_taken_back_nor_dropped() {
    let mut queue = queue(&[(1, "a"), (1, "b"), (2, "c")]);
    queue.due(|of| if *of == key(1) { Readiness::Ready } else { Readiness::NotYet }, at(0));
    assert_eq!(texts(&queue.cancel(&key(1))), ["b"]);
    assert_eq!(texts(&queue.drop_hopeless(|_| Readiness::Never)), ["c"]);
    assert_eq!(texts(queue.prompts()), ["a"]);
}

#[test]
fn a_pane_in_copy_mode_is_not_tried() {
    let now = at(0);
    let mut fleet = Fleet::new(fleet::Settings::default(), Arc::new(Library::builtin()));
    let pane = PaneReport {
        key: key(1),
        place: Place::default(),
        cwd: None,
        facts: PaneFacts::default(),
        program: Program::Agent { tool: "claude".to_owned(), version: None },
        capture: Capture::Unchanged,
        declared: None,
    };
    let outcome = Outcome::Listed(vec![pane]);
    fleet.handle(Input::Server(ServerReport { server: ServerId::default(), at: now, outcome }), now);
    let mut terminal = fleet.view(now).terminals[0].clone();
    assert_eq!(Readiness::of(Some(&terminal)), Readiness::NotYet);
    terminal.state.diagnostics.availability = Availability::Available;
    terminal.state.turn.phase = Phase::Ready;
    terminal.state.surface.ready_posture = Tri::Yes;
    assert_eq!(Readiness::of(Some(&terminal)), Readiness::Ready);
    let copying = Terminal { facts: PaneFacts { in_mode: true, ..terminal.facts.clone() }, ..terminal.clone() };
    assert_eq!(Readiness::of(Some(&copying)), Readiness::NotYet);
    terminal.state.surface.pending_input = Tri::Yes;
    assert_eq!(Readiness::of(Some(&terminal)), Readiness::NotYet, "it has a message that waits already");
    terminal.state.diagnostics.availability = Availability::TuiDown;
    assert_eq!(Readiness::of(Some(&terminal)), Readiness::Never);
}
