//! What every part of the dashboard is drawn and driven with: one way to write a line, one frame, one scroll model, one list, one
//! question.

pub mod frame;
pub mod input;
pub mod line;
pub mod list;
pub mod question;
pub mod reading;
pub mod scroll;
pub mod search;

#[cfg(test)]
mod tests;
