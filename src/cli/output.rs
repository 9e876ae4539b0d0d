//! Standard output: whole lines, no panic when nobody reads them.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use color_eyre::eyre::WrapErr;
use serde::Serialize;

use super::Done;

/// Prints a text. Whoever stopped reading has seen enough; that is no failure.
pub(super) fn print(text: &str) -> Done {
    conclude(write_whole(text))
}

/// Writes a text to standard output at once.
///
/// # Errors
/// It cannot be written; [`conclude`] tells what that means.
pub(super) fn write_whole(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// What a command that only printed comes to.
pub(super) fn conclude(written: io::Result<()>) -> Done {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => written.map(|()| ExitCode::SUCCESS).wrap_err("standard output cannot be written"),
    }
}

/// A value as one line of JSON.
pub(super) fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}

/// Columns of the terminal that standard output is; `None` when it is none, and nothing is cut or coloured.
pub(super) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0)
}
