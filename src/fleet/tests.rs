use std::sync::Arc;

use super::*;
use crate::profile::Program;
use crate::screen::PaneFacts;

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
    }
}

/// The names after a look, by pane and process.
fn names(fleet: &mut Fleet, second: i64, panes: Vec<PaneReport>) -> Vec<(u32, u32, String)> {
    let at = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let report = ServerReport { server: ServerId::default(), at, outcome: PollResult::Listed(panes) };
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
