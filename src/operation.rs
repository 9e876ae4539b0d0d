//! What is done to a terminal, and what came of it (SPEC §11): the words that the dashboard, the command line, the sender and
//! the history have in common.

mod outcome;

pub use outcome::{Outcome, Refusal};
