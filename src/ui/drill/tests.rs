//! The view of a task; that of an agent's terminal is tested from outside, through keys.

use std::collections::VecDeque;

use ratatui::buffer::Buffer;

use super::*;
use crate::fleet::ServerView;
use crate::ids::{PaneId, ServerId, SessionId, WindowId};
use crate::task::{
    PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskEvent, TaskPoll, TaskSnapshot, TaskTracker,
};
use crate::time::Span;
use crate::ui::{Ui, UiOptions};

/// 2023-11-14 22:13:20 UTC.
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn ago(seconds: u64) -> Timestamp {
    NOW - Span::from_secs(seconds)
}

fn key() -> TerminalKey {
    TerminalKey { server: ServerId::default(), pane: PaneId(7), pid: 4711, instance: Default::default() }
}

fn poll(windows: Vec<TaskSnapshot>) -> TaskPoll {
    let session = SessionSnapshot { id: SessionId(1), name: "jobs".into(), windows };
    TaskPoll { sessions: vec![session], ..TaskPoll::default() }
}

fn build(exit_code: Option<i32>, lines: &[&str]) -> TaskSnapshot {
    let pane = PaneState {
        command: "make".into(),
        start_command: None,
        cwd: Some("/src/shop".into()),
        dead: exit_code.is_some(),
        exit_code,
        alternate: false,
        preview: Preview::of_lines(lines),
    };
    TaskSnapshot {
        window: WindowId(12),
        name: "build".into(),
        index: 2,
        key: key(),
        pane: Some(pane),
        ended_at: None,
        bell: false,
        bells: None,
        registration: Registration::None,
        shown: TaskDisplay::default(),
    }
}

/// A build that began a minute ago and failed ten seconds ago.
fn failed() -> (TaskTracker, VecDeque<TaskEvent>) {
    let mut watch = TaskTracker::default();
    watch.take(poll(Vec::new()), ago(90));
    let mut events = watch.take(poll(vec![build(None, &["cc -o shop main.c"])]), ago(60));
    events.extend(watch.take(poll(vec![build(Some(2), &["cc -o shop main.c", "main.c:3: error: no"])]), ago(10)));
    (watch, events.into())
}

fn text(ui: &mut Ui, view: &View<'_>, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    ui.update(view);
    ui.draw_into(&mut buffer, area, view);
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_task_has_its_past_its_output_and_its_facts() {
    let (watch, events) = failed();
    let (recent, servers): (VecDeque<_>, Vec<&ServerView>) = (VecDeque::new(), Vec::new());
    let tasks: Vec<_> = watch.tasks().collect();
    let view = View {
        now: NOW,
        version: None,
        terminals: Vec::new(),
        servers,
        recent: &recent,
        tasks,
        sessions: Vec::new(),
        task_events: &events,
    };
    let mut ui = Ui::new(UiOptions::default());
    ui.open(Drill::of(&key(), &view).expect("the task is in the view"));
    insta::assert_snapshot!("task_160x45", text(&mut ui, &view, 160, 45));
    // Before it ended it had said less.
    ui.obey(Action::Down, &view);
    ui.obey(Action::Down, &view);
    let before = text(&mut ui, &view, 160, 45);
    assert!(before.contains("cc -o shop main.c") && !before.contains("error: no"), "{before}");
    ui.obey(Action::First, &view);
    for _ in 0..4 {
        ui.obey(Action::Layout, &view);
    }
    insta::assert_snapshot!("task_facts_160x45", text(&mut ui, &view, 160, 45));
    // It goes; what is known of it stays.
    let view = View { now: NOW + Span::from_secs(5), tasks: Vec::new(), ..view };
    let gone = text(&mut ui, &view, 80, 24);
    assert!(gone.contains("build") && gone.contains("left the fleet"), "{gone}");
    assert!(Drill::of(&key(), &view).is_none());
}
