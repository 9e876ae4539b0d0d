use std::sync::Arc;

use super::*;
use crate::profile::Program;
use crate::screen::PaneFacts;
use crate::state::{Note, NotePart};

fn pane(pane: u32, pid: u32) -> PaneReport {
    PaneReport {
        key: TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid, instance: Default::default() },
        place: PaneLocation { session: "web".to_owned(), ..PaneLocation::default() },
        cwd: None,
        facts: PaneFacts::default(),
        program: Program::Agent { tool: "claude".to_owned(), version: None },
        capture: Capture::Unchanged,
        declared: Some(Declared { name: Some("web".to_owned()), ..Declared::default() }),
        record: None,
        git: None,
        agent_process: None,
    }
}

/// The names after a look, by pane and process.
fn names(fleet: &mut Fleet, second: i64, panes: Vec<PaneReport>) -> Vec<(u32, u32, String)> {
    let at = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let report =
        ServerReport { server: ServerId::default(), at, load: Default::default(), outcome: PollResult::Listed(panes) };
    fleet.handle(Input::Server(report), at);
    while fleet.poll_effect().is_some() {}
    fleet.entries.iter().map(|(key, entry)| (key.pane.0, key.pid, entry.terminal().state.terminal.id.clone())).collect()
}

fn named(pane: u32, pid: u32, id: &str) -> (u32, u32, String) {
    (pane, pid, id.to_owned())
}

#[test]
fn one_that_is_gone_takes_its_name_from_nobody_who_is_there() {
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    assert_eq!(names(&mut fleet, 0, vec![pane(0, 10)]), [named(0, 10, "web")]);
    // Another agent in a new pane, and another one in the same pane.
    assert_eq!(names(&mut fleet, 1, vec![pane(3, 11)]), [named(0, 10, "web %0"), named(3, 11, "web")]);
    let again = names(&mut fleet, 2, vec![pane(3, 12)]);
    assert_eq!(again, [named(0, 10, "web %0"), named(3, 11, "web %3"), named(3, 12, "web")]);
    // Two that are there are told apart, and each of those that are gone has a name of its own.
    let two = names(&mut fleet, 3, vec![pane(3, 13), pane(4, 14)]);
    let mut ids: Vec<&str> = two.iter().map(|(.., id)| id.as_str()).collect();
    assert!(ids.contains(&"web %4") && !ids.contains(&"web"), "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), two.len(), "{two:?}");
    assert_eq!(names(&mut fleet, 4, vec![pane(4, 14)]).last(), Some(&named(4, 14, "web")));
}

/// What the operator says of a pane's agent, called `name`.
fn given(pane: u32, process: Option<u32>, name: &str) -> Input {
    let key = TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: 10, instance: Default::default() };
    let note = Note::default().with(NotePart::Name, name).with(NotePart::Label, "shop");
    Input::Noted(KeptNote { key, process, note })
}

#[test]
fn a_name_that_the_operator_gives_is_its_agents() {
    let running = |process| PaneReport { agent_process: Some(process), declared: None, ..pane(0, 10) };
    let other = |session: &str| {
        let place = PaneLocation { session: session.to_owned(), ..PaneLocation::default() };
        PaneReport { place, declared: None, ..pane(1, 11) }
    };
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    // It is known before the terminal is found.
    fleet.handle(given(0, Some(20), "front"), Timestamp::default());
    let ids = |fleet: &mut Fleet, second, panes| {
        let names = names(fleet, second, panes);
        names.into_iter().map(|(.., id)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut fleet, 0, vec![running(20), other("docs")]), ["front", "docs"]);
    let view = fleet.view(Timestamp::default());
    let (front, docs) = (view.terminals.iter().find(|it| it.note.name.is_some()).unwrap(), &other("docs").key);
    assert_eq!((front.label(), front.state.terminal.label.as_deref()), (Some("shop"), Some("shop")));
    let fault = |key, name| view.name_fault(key, name);
    assert_eq!(fault(docs, "front").as_deref(), Some("another terminal is called front"));
    assert_eq!(fault(docs, "web").as_deref(), Some("web is what front is called in tmux"));
    assert_eq!((fault(docs, "docs"), fault(&front.key, "web"), fault(docs, "free")), (None, None, None));
    // A session that comes to have that name does not take it.
    assert_eq!(ids(&mut fleet, 1, vec![running(20), other("front")]), ["front", "front %1"]);
    let suspended =
        PaneReport { program: Program::Other { command: "bash".to_owned() }, agent_process: None, ..running(0) };
    assert_eq!(ids(&mut fleet, 2, vec![suspended, other("docs")]), ["front", "docs"], "it may come back");
    assert_eq!(ids(&mut fleet, 3, vec![running(20), other("docs")]), ["front", "docs"]);
    assert_eq!(ids(&mut fleet, 4, vec![running(21), other("docs")]), ["web", "docs"], "another agent");
    let view = fleet.view(Timestamp::default());
    assert!(view.terminals.iter().all(|it| it.label().is_none() && it.note.is_empty()));
    fleet.handle(given(0, Some(21), "back"), Timestamp::default());
    fleet.handle(given(0, Some(21), ""), Timestamp::default());
    assert_eq!(ids(&mut fleet, 5, vec![running(21), other("docs")]), ["web", "docs"]);
}
