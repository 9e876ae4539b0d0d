//! Who watches learns which of the tasks that are gone somebody killed.

use super::*;
use crate::fleet::{Input, TaskReport};
use crate::ids::{SessionId, WindowId};
use crate::screen::Cursor;
use crate::task::{PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskPoll, TaskSnapshot};

fn pane(dead: bool) -> PaneState {
    PaneState {
        command: "make".to_owned(),
        start_command: None,
        cwd: None,
        dead,
        exit_code: None,
        alternate: false,
        preview: Preview::of(&Screen::from_text("", 80), Cursor::default(), dead),
    }
}

/// A look at windows of which some have ended; each window has the pane of its number.
fn report(seconds: i64, alive: &[u32], dead: &[u32], elsewhere: &[u32]) -> TaskReport {
    let window = |number: u32, dead: bool| TaskSnapshot {
        window: WindowId(number),
        name: format!("t{number}"),
        index: number,
        key: terminal(number),
        pane: Some(pane(dead)),
        bell: false,
        bells: None,
        registration: Registration::None,
        shown: TaskDisplay::default(),
    };
    let windows =
        alive.iter().map(|number| window(*number, false)).chain(dead.iter().map(|number| window(*number, true)));
    let session = SessionSnapshot { id: SessionId(0), name: "tasks".to_owned(), windows: windows.collect() };
    let look = TaskPoll { sessions: vec![session], elsewhere: elsewhere.iter().copied().map(WindowId).collect() };
    TaskReport { server: ServerId::default(), at: at(seconds), look, sessions: Vec::new() }
}

#[test]
fn of_the_tasks_that_are_gone_those_that_somebody_killed_are_told() {
    let (_directory, path) = place();
    let kill = |pane: u32, seconds: i64| {
        let record = Record::kill(terminal(pane), format!("t{pane}"), at(seconds), &format!("killed {pane}"));
        Message::Record(Arc::new(record))
    };
    let moved = Record::Action {
        key: Some(terminal(4)),
        name: "t4".to_owned(),
        at: at(100),
        action: OperatorAction::of_word("renamed"),
    };
    let messages =
        [kill(1, 100), kill(2, 10), kill(3, 100), Message::Record(Arc::new(moved)), kill(5, 100), kill(6, 100)];
    store(&path, "theirs", at(0)).write(&messages, at(100)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut kills = Kills::new(Some(path));
    let mut before = |report: &TaskReport| {
        let told = runtime.block_on(kills.before(report)).into_iter().map(|input| match input {
            Input::TaskKilled { window, reason, .. } => (window.0, reason),
            other => panic!("{other:?}"),
        });
        told.collect::<Vec<_>>()
    };
    assert!(before(&report(101, &[1, 2, 3, 4, 5], &[6], &[])).is_empty(), "all are there");
    // The kill of 2 was another one's, long ago; 5 was moved, and 6 had ended before.
    assert_eq!(before(&report(102, &[3], &[], &[5])), [(1, "killed 1".to_owned())]);
    assert_eq!(before(&report(103, &[], &[], &[5])), [(3, "killed 3".to_owned())], "each is told once");
    assert!(before(&report(104, &[], &[], &[])).is_empty());
}
