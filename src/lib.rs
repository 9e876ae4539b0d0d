//! fleetwatch: see src/lib.rs (work in progress).
pub mod cli;
pub mod config;
pub mod demo;
pub mod feed;
pub mod fleet;
pub mod moment;
pub mod process;
pub mod profile;
pub mod recording;
pub mod screen;
pub mod sender;
pub mod state;
pub mod tmux;
pub mod tracker;
