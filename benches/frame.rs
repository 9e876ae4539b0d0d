//! How long a frame takes, from the view to the cells.

#[path = "../tests/support/sample_fleet.rs"]
mod sample_fleet;

use divan::Bencher;
use fleetwatch::ui::{Options, Ui};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use sample_fleet::SampleFleet;

fn main() {
    divan::main();
}

/// A frame of a fleet of 200 at three sizes; the middle one is what most operators have.
#[divan::bench(args = [(80, 24), (160, 45), (220, 240)])]
fn frame_of_200_terminals(bencher: Bencher<'_, '_>, (width, height): (u16, u16)) {
    let fleet = SampleFleet::of(200);
    let area = Rect::new(0, 0, width, height);
    let mut ui = Ui::new(Options::default());
    let mut buffer = Buffer::empty(area);
    bencher.bench_local(|| {
        let view = fleet.view();
        buffer.reset();
        ui.update(&view);
        ui.draw_into(&mut buffer, area, &view);
        divan::black_box(&buffer);
    });
}
