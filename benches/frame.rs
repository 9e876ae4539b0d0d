//! How long a frame takes, from a key and the view to the bytes for the terminal.

#[path = "../tests/it/support/sample_fleet.rs"]
mod sample_fleet;

use divan::Bencher;
use fleetwatch::state::Phase;
use fleetwatch::time::Span;
use fleetwatch::ui::{Ui, UiOptions};
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use sample_fleet::SampleFleet;

fn main() {
    divan::main();
}

/// A frame of a fleet of 200 at three sizes; the middle one is what most operators have.
#[divan::bench(args = [(80, 24), (160, 45), (220, 240)])]
fn frame_of_200_terminals(bencher: Bencher<'_, '_>, (width, height): (u16, u16)) {
    let fleet = SampleFleet::of(200);
    let area = Rect::new(0, 0, width, height);
    let mut ui = Ui::new(UiOptions::default());
    let mut buffer = Buffer::empty(area);
    bencher.bench_local(|| {
        let view = fleet.view();
        buffer.reset();
        ui.update(&view);
        ui.draw_into(&mut buffer, area, &view);
        divan::black_box(&buffer);
    });
}

/// From a key to the bytes of the changed frame, while 50 of 200 terminals have changed since the last one: as the table
/// is at first, in groups, and through a filter with letters in order (`$` is Enter). The slowest of all samples is an upper bound of
/// what an operator meets.
#[divan::bench(args = ["", "b", "bb", "/ae$", "b/is:working !x$"], sample_count = 500, sample_size = 1)]
fn key_to_changed_frame(bencher: Bencher<'_, '_>, arranged: &str) {
    let mut fleet = SampleFleet::of(200);
    let mut ui = Ui::new(UiOptions::default());
    let viewport = Viewport::Fixed(Rect::new(0, 0, 200, 50));
    let backend = CrosstermBackend::new(std::io::sink());
    let Ok(mut terminal) = Terminal::with_options(backend, TerminalOptions { viewport }) else { return };
    let press = |ui: &mut Ui, fleet: &SampleFleet, c: char| {
        let code = if c == '$' { KeyCode::Enter } else { KeyCode::Char(c) };
        divan::black_box(ui.handle(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)), &fleet.view()));
    };
    ui.update(&fleet.view());
    for c in arranged.chars() {
        press(&mut ui, &fleet, c);
    }
    let mut turn: usize = 0;
    bencher.bench_local(|| {
        turn += 1;
        fleet.now = fleet.now + Span::from_millis(250);
        for n in 0..50 {
            let changed = &mut fleet.terminals[(turn + n * 4) % 200];
            changed.state.activity = Some(format!("Running: step {turn} of many"));
            changed.state.turn.since = fleet.now;
            changed.state.turn.phase = if turn.is_multiple_of(2) { Phase::Active } else { Phase::Ready };
        }
        press(&mut ui, &fleet, if turn % 40 < 20 { 'j' } else { 'k' });
        ui.update(&fleet.view());
        let view = fleet.view();
        // Nothing of it can fail: the bytes go nowhere.
        let _ = terminal.draw(|frame| _ = ui.draw(frame, &view));
    });
}
