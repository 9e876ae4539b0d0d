//! What is wrong with a configuration, where, and what to do about it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::pattern::nearest;
use crate::present::objection::TextFault;

/// A configuration that is refused, or a keymap or theme beside it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// Empty if no file is at fault.
    pub path: PathBuf,
    /// `None` when the file as a whole is at fault.
    pub position: Option<Position>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

/// A place in a text file, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.as_os_str().is_empty() {
            write!(f, "{}", self.path.display())?;
            if let Some(Position { line, column }) = self.position {
                write!(f, ":{line}:{column}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)
    }
}

impl ConfigError {
    /// A file that cannot be read at all.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        let (what, hint) = match error.kind() {
            io::ErrorKind::NotFound if path.is_symlink() => {
                ("this link leads to no file".to_owned(), "create the file that it points to, or remove the link")
            }
            io::ErrorKind::NotFound => (
                "there is no such file".to_owned(),
                "`fleetwatch config` prints the default, to start from; `fleetwatch config paths` says where \
                 fleetwatch looks for one",
            ),
            io::ErrorKind::InvalidData => {
                ("the file is not UTF-8 text".to_owned(), "a configuration is a TOML file in UTF-8")
            }
            io::ErrorKind::IsADirectory => ("this is a directory".to_owned(), "name the file in it"),
            _ => (format!("cannot be read: {error}"), "check that it is a file that you may read"),
        };
        Self { path: path.to_owned(), position: None, what, hint: hint.to_owned() }
    }

    /// A fault at a place of the text.
    pub fn at(path: &Path, text: &str, span: Option<Range<usize>>, what: String, hint: String) -> Self {
        let position = span.map(|span| Position::of_byte(text, span.start));
        Self { path: path.to_owned(), position, what, hint }
    }

    /// A fault of a keymap or a theme.
    pub fn of(path: &Path, text: &str, TextFault { what, at, hint }: TextFault) -> Self {
        Self::at(path, text, Some(at), what, hint)
    }
}

impl Position {
    /// The place of a byte of `text`; beyond its end, the place after the last character.
    pub fn of_byte(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

/// What is wrong, and what to do about it.
pub(super) type ValueProblem = (String, String);

/// The name that was probably meant, or else all known names.
pub(super) fn suggestion(unknown: &str, known: &[impl AsRef<str>], title: &str) -> String {
    match nearest(unknown, known.iter().map(AsRef::as_ref)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
            format!("{title}: {}", known.join(", "))
        }
    }
}
