//! A prompt in the operator's own editor.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is started when the environment names no editor.
const USUAL: &str = "vi";
/// Bytes that are read back at most; no prompt may be longer.
const LONGEST: u64 = 1 << 20;

/// A prompt in a file of its own that nobody else may read; it goes when this is dropped.
pub(super) struct DraftFile {
    path: PathBuf,
    /// What was written into it at first.
    text: String,
    is_kept: bool,
}

impl DraftFile {
    /// Writes a prompt into a new file.
    pub(super) fn write(text: String) -> io::Result<Self> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = std::env::temp_dir().join(format!("fleetwatch-prompt-{}-{time}.md", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path, text, is_kept: false };
        file.write_all(draft.text.as_bytes())?;
        Ok(draft)
    }

    /// The editor that VISUAL or EDITOR names, with the file, and what to call it.
    pub(super) fn editor(&self) -> (String, Command) {
        let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
            let value = std::env::var(name).ok()?;
            (!value.trim().is_empty()).then_some(value)
        });
        let named = named.unwrap_or_else(|| USUAL.to_owned());
        // No shell takes it apart: words are what blanks part.
        let mut words = named.split_whitespace();
        let program = words.next().unwrap_or(USUAL);
        let mut command = Command::new(program);
        command.args(words).arg(&self.path);
        (program.to_owned(), command)
    }

    /// The text as the editor left it, without the line end that editors put behind the last line.
    pub(super) fn read(&self) -> io::Result<String> {
        let mut text = String::new();
        let read = fs::File::open(&self.path)?.take(LONGEST + 1).read_to_string(&mut text)?;
        if read as u64 > LONGEST {
            return Err(io::Error::other(format!("it has more than {LONGEST} bytes")));
        }
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// Leaves the file where it is if the editor has written anything else into it, and tells where that is.
    pub(super) fn keep_if_changed(mut self) -> Option<PathBuf> {
        let written = fs::read(&self.path).ok()?;
        let text = written.strip_suffix(b"\n").unwrap_or(&written);
        self.is_kept = text != self.text.as_bytes() && written != self.text.as_bytes();
        self.is_kept.then(|| self.path.clone())
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}
