//! All tests that see fleetwatch from outside, in one binary. `cargo test --test it pure::` takes about a minute, `recorded::` and
//! `tmux::` take minutes.

// What cannot be set up fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code)] // The lab uses more of it.
#[path = "../../examples/lab/scoring/mod.rs"]
mod scoring;
mod support;

/// Tests of the library without tmux and without a terminal.
mod pure {
    mod cut_dialogs;
    mod floors;
    mod git;
    mod guides;
    mod help;
    mod install;
    mod model_server;
    mod scripts;
    mod stories;
    mod tracker_properties;
    mod ui;
}

/// Tests that read all recordings, and some of them a thousand times over.
mod recorded {
    mod facts;
    mod mutations;
    mod played;
    mod recordings;
    mod scores;
    mod scores_live;
    mod told;
    mod whats;
    mod wrapped;
}

/// Tests against real tmux servers on private sockets.
mod tmux {
    mod cli;
    mod dashboard;
    mod demo;
    mod faults;
    mod follow_ups;
    mod history;
    mod host;
    mod identity;
    mod jump;
    mod listing;
    mod names;
    mod new;
    mod owner;
    mod plugin;
    mod poll;
    mod races;
    mod record;
    mod send;
    mod sender;
    mod serve;
    mod serve_acts;
    mod serve_limits;
    mod serve_page;
    mod serve_schema;
    mod servers;
    mod ssh_hosts;
    mod tasks;
    mod webhooks;
}
