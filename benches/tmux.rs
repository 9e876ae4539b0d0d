//! What a poll of a tmux server costs: reading its output, and the whole of it against a real server.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A bench that cannot be set up has nothing to say.

#[allow(dead_code)]
#[path = "../tests/it/support/private_tmux.rs"]
mod private_tmux;

use divan::Bencher;
use fleetwatch::fleet::PaneId;
use fleetwatch::tmux::Listing;
use private_tmux::{PrivateTmux, wait_until};

fn main() {
    divan::main();
}

const MARK: &str = "0123456789abcdef";

/// What tmux prints for a listing of `panes` panes with captures of the first `captures` of them, 120×40 and coloured.
fn output(panes: usize, captures: usize) -> String {
    let row = |kind: char, n: usize| {
        let numbers = format!("%{n},{},$1,@{n},{n},0,1,{panes},1795234800,120,40,5,6,1,0,0,,,0,900,0,0,0", 4000 + n);
        let texts = ["work", "shop-api", "✳ Fixing the header", "claude", "/home/someone/src/shop-api"].join(MARK);
        format!("{MARK}{kind}{numbers}{MARK}{texts}{MARK}\n")
    };
    let line =
        "\u{1b}[38;5;174m●\u{1b}[39m The \u{1b}[1mheader\u{1b}[0m is fixed, \u{1b}[2mand so is the footer\u{1b}[0m │\n";
    let listing: String = (0..panes).map(|n| row('P', n)).collect();
    let captured: String = (0..captures).map(|n| row('C', n) + &line.repeat(40)).collect();
    format!("{MARK}H4211,1795234813,3.3a{MARK}\n{listing}{captured}{MARK}E{MARK}\n")
}

/// Reading the output of one poll.
#[divan::bench(args = [(100, 0), (500, 0), (500, 50)])]
fn read_output(bencher: Bencher<'_, '_>, (panes, captures): (usize, usize)) {
    let text = output(panes, captures);
    bencher.bench(|| Listing::parse(divan::black_box(&text), MARK).unwrap());
}

/// A server with as many panes as wanted, each with a screen full of coloured text.
fn server(panes: usize) -> PrivateTmux {
    let script = r"i=0; while [ $i -lt 29 ]; do printf '\033[31mred\033[0m plain \033[1;34mbold blue\033[0m text\n'; i=$((i+1)); done; printf end; exec sleep 10000";
    let tmux = PrivateTmux::start(&["sh", "-c", script]);
    for _ in 1..panes {
        tmux.new_window("main", "more", &["sh", "-c", script]);
    }
    let last = format!("main:{}", panes - 1);
    wait_until("the last pane", || tmux.screen(&last).contains("end"));
    tmux
}

/// A whole poll of a real server: process, answer, reading.
#[divan::bench(args = [(8, 0), (8, 8), (100, 0), (100, 10), (100, 100), (500, 0), (500, 50)], sample_count = 20, sample_size = 1)]
fn poll(bencher: Bencher<'_, '_>, (panes, captures): (usize, usize)) {
    let tmux = server(panes);
    let handle = tmux.server();
    let captures: Vec<PaneId> = (0..captures).map(|n| PaneId(u32::try_from(n).unwrap())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.bench_local(|| runtime.block_on(handle.poll(&captures)).unwrap());
}
