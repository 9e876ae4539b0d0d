//! All terminals: inputs in, effects and a view out (DESIGN).

mod place;
mod report;

pub use place::{PaneId, Place, ServerId, Socket, TerminalKey};
pub use report::{Capture, Declared, Outcome, PaneReport, ServerReport};
