//! What tests share.

// The tests of real agents use a part of it, and `it` another.
#![allow(dead_code)]
// What cannot be set up fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod hosts;
pub mod model_server;
pub mod private_tmux;
pub mod sample_fleet;
pub mod stage;
