//! Work whose instructions are counted (`scripts/count-instructions`): `counts CASE TIMES` does one thing so many times.
//!
//! Instructions are the same on every machine, so a change of a tenth is a change of the program.

#![allow(clippy::expect_used, reason = "what cannot be set up has nothing to count")]

#[path = "../tests/it/support/sample_fleet.rs"]
mod sample_fleet;

use std::hint::black_box;
use std::sync::Arc;

use fleetwatch::fleet::{
    self, Capture, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId, ServerReport, TerminalKey,
    View,
};
use fleetwatch::profile::{ProfileSet, Program};
use fleetwatch::screen::{PaneFacts, Screen};
use fleetwatch::time::{Span, Timestamp};
use fleetwatch::ui::{Ui, UiOptions};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use sample_fleet::SampleFleet;

/// Rows of a dashboard, terminals of a server.
const MANY: u32 = 1_000;
/// Panes of a fleet that stands still.
const STILL: u32 = 300;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (Some(case), times) = (words.first(), words.get(1).and_then(|times| times.parse().ok()).unwrap_or(1)) else {
        return eprintln!("usage: counts poll|event|key|frame TIMES");
    };
    match case.as_str() {
        "poll" => poll(times),
        "event" => event(times),
        "key" => dashboard(times, Some('j')),
        "frame" => dashboard(times, None),
        other => eprintln!("there is no case {other}"),
    }
}

/// Claude Code, so many seconds into a turn; before the first one it is ready.
fn screen(seconds: u32) -> Arc<Screen> {
    let output =
        "  ⎿  some output of a tool, dim and long enough to fill the row as real output does, on and on\n".repeat(30);
    let rule = "─".repeat(120);
    let (turn, hint) = match seconds {
        0 => (String::new(), "? for shortcuts"),
        _ => (format!("✶ Clauding… ({seconds}s · ↓ 120 tokens)"), "esc to interrupt · ← for agents"),
    };
    let text = format!("{output}\n{turn}\n\n{rule}\n❯\u{a0}\n{rule}\n  {hint}");
    Arc::new(Screen::from_text(&text, 120))
}

/// What one poll reports: all panes, of which one may show another screen.
struct Panes(Vec<PaneReport>);

impl Panes {
    fn new(count: u32) -> Self {
        let report = |number| PaneReport {
            key: TerminalKey {
                server: ServerId::default(),
                pane: PaneId(number),
                pid: number,
                instance: Default::default(),
            },
            place: Arc::new(PaneLocation {
                session: format!("agent-{number}"),
                window_panes: 1,
                session_windows: 1,
                ..Default::default()
            }),
            cwd: None,
            facts: PaneFacts::default(),
            program: Program::agent("claude", None),
            capture: Capture::Fresh(screen(0)),
            declared: None,
            record: None,
            git: None,
            agent_process: Some(number),
            printed_until: None,
        };
        Self((1..=count).map(report).collect())
    }

    fn poll(&mut self, fleet: &mut Fleet, now: Timestamp) {
        let report = ServerReport::new(ServerId::default(), now, PollResult::Listed(self.0.clone()));
        fleet.handle(Input::Server(report), now);
        while let Some(effect) = fleet.poll_effect() {
            black_box(effect);
        }
        self.0.iter_mut().for_each(|pane| pane.capture = Capture::Unchanged);
    }
}

/// A fleet that was polled for so long that everything in it rests.
fn rested(panes: &mut Panes) -> (Fleet, Timestamp) {
    let mut fleet = Fleet::new(fleet::Settings::default(), Arc::new(ProfileSet::builtin()));
    let mut now = Timestamp::from_millis(1_700_000_000_000);
    for _ in 0..60 {
        panes.poll(&mut fleet, now);
        now = now + Span::SECOND;
    }
    (fleet, now)
}

/// A poll of a fleet that stands still.
fn poll(times: u32) {
    let mut panes = Panes::new(STILL);
    let (mut fleet, mut now) = rested(&mut panes);
    for _ in 0..times {
        panes.poll(&mut fleet, now);
        now = now + Span::SECOND;
    }
}

/// One of many terminals shows another screen.
fn event(times: u32) {
    let mut panes = Panes::new(MANY);
    let (mut fleet, mut now) = rested(&mut panes);
    for nth in 0..times {
        panes.0[(nth * 7 % MANY) as usize].capture = Capture::Fresh(screen(1 + nth));
        panes.poll(&mut fleet, now);
        black_box(fleet.view(now));
        now = now + Span::SECOND;
    }
}

/// A frame of many rows after a change, or a key and the frame that answers it.
fn dashboard(times: u32, key: Option<char>) {
    let mut fleet = SampleFleet::of(MANY as usize);
    let mut ui = Ui::new(UiOptions::default());
    let viewport = Viewport::Fixed(Rect::new(0, 0, 200, 50));
    let backend = CrosstermBackend::new(std::io::sink());
    let mut terminal =
        Terminal::with_options(backend, TerminalOptions { viewport }).expect("a terminal that draws nowhere");
    ui.update(&fleet.view());
    for nth in 0..times {
        fleet.now = fleet.now + Span::from_millis(250);
        // What is drawn after a key is unchanged; a frame alone is drawn because something changed.
        let version = if key.is_some() { Some(1) } else { Some(u64::from(nth)) };
        if let Some(key) = key {
            let view = View { version, ..fleet.view() };
            black_box(ui.handle(&Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)), &view));
        }
        let view = View { version, ..fleet.view() };
        ui.update(&view);
        // Nothing of it can fail: the bytes go nowhere.
        let _ = terminal.draw(|frame| _ = ui.draw(frame, &view));
    }
}
