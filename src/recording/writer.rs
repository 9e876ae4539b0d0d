//! Writes what tmux shows of a pane as asciicast v3, such that the [`super::Player`] returns the same frames.
//!
//! Every frame repaints the rows that changed, each whole and in its own styles, and then places the cursor, so that
//! any player can show it, from any frame that repaints all rows on.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::json;

use super::{Header, Size};
use crate::agent_record::RecordAddition;
use crate::screen::{PaneFacts, Row, Screen, harmless, push_style};
use crate::time::Span;

/// Writes one recording, a frame at a time. Every event is one line and is written with one call.
pub struct RecordingWriter<W> {
    out: W,
    /// The time of the last event.
    at: Span,
    size: Size,
    rows: Vec<Row>,
    /// `None` before the first frame.
    facts: Option<PaneFacts>,
    /// The agent's records that there are.
    records: BTreeSet<String>,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording by writing its header.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let Header { tool, version, situation, size, began } = header;
        // The tags are told apart by their order, so that what is not known before one that is stays empty.
        let mut tags: Vec<&str> = [tool, version, situation].map(|tag| tag.as_deref().unwrap_or_default()).into();
        while tags.pop_if(|tag| tag.is_empty()).is_some() {}
        let mut line = json!({
            "version": 3,
            "term": { "cols": size.columns, "rows": size.rows, "type": "tmux-256color" },
            "command": tool,
            "tags": tags,
        });
        if let Some(began) = began {
            line["timestamp"] = json!(began.as_millis().div_euclid(1000));
        }
        writeln_at_once(&mut out, &line.to_string())?;
        Ok(Self { out, at: Span::ZERO, size: *size, rows: Vec::new(), facts: None, records: BTreeSet::new() })
    }

    /// Adds what the pane shows at a time since the start; nothing is written for what did not change.
    pub fn frame(&mut self, at: Span, facts: &PaneFacts, screen: &Screen) -> io::Result<()> {
        let before = self.facts.replace(facts.clone()).unwrap_or_default();
        if facts.command != before.command {
            self.event(at, "m", &format!("process {}", harmless(&facts.command)))?;
        }
        let size = size_of(screen).unwrap_or(self.size);
        if size != self.size {
            self.event(at, "r", &format!("{}x{}", size.columns, size.rows))?;
            self.size = size;
            self.rows.clear();
        }
        let text = self.paint(&before, facts, screen);
        if !text.is_empty() {
            self.event(at, "o", &text)?;
        }
        if facts.dead && !before.dead {
            // The format needs a number; tmux does not always know one.
            self.event(at, "x", &facts.exit_status.unwrap_or(-1).to_string())?;
        }
        Ok(())
    }

    /// Adds what the agent wrote about its session; nothing is written for a file that was not there before either.
    pub fn record(&mut self, at: Span, addition: &RecordAddition) -> io::Result<()> {
        let is_there = !addition.path.is_empty();
        let was_there = match is_there {
            true => !self.records.insert(addition.source.clone()),
            false => self.records.remove(&addition.source),
        };
        match is_there || was_there {
            true => self.event(at, "m", &format!("record {}", serde_json::to_string(addition)?)),
            false => Ok(()),
        }
    }

    /// What changes the screen of before into this one.
    fn paint(&mut self, before: &PaneFacts, facts: &PaneFacts, screen: &Screen) -> String {
        let mut text = String::new();
        if facts.alternate != before.alternate {
            text.push_str(if facts.alternate { "\x1b[?1049h" } else { "\x1b[?1049l" });
            self.rows.clear();
        }
        for (y, row) in screen.rows().iter().enumerate() {
            if self.rows.get(y) != Some(row) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\x1b[{};1H\x1b[0m\x1b[2K", y + 1);
                paint_row(&mut text, row);
            }
        }
        self.rows = screen.rows().to_vec();
        if facts.title != before.title {
            let _ = write!(text, "\x1b]2;{}\x07", harmless(&facts.title));
        }
        if facts.bell && !before.bell {
            text.push('\x07');
        }
        if !text.is_empty() || facts.cursor != before.cursor {
            let (row, column) = (u32::from(facts.cursor.row) + 1, u32::from(facts.cursor.column) + 1);
            let _ = write!(text, "\x1b[0m\x1b[{row};{column}H\x1b[?25{}", if facts.cursor.visible { 'h' } else { 'l' });
        }
        text
    }

    fn event(&mut self, at: Span, code: &str, data: &str) -> io::Result<()> {
        let interval = at.as_millis().saturating_sub(self.at.as_millis());
        self.at = self.at.max(at);
        writeln_at_once(&mut self.out, &json!([Span::from_millis(interval).as_secs(), code, data]).to_string())
    }
}

/// Nothing is read of a line that the end of the process has cut off.
fn writeln_at_once(out: &mut impl Write, line: &str) -> io::Result<()> {
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

fn size_of(screen: &Screen) -> Option<Size> {
    let rows = u16::try_from(screen.rows().len()).ok().filter(|rows| *rows > 0)?;
    (screen.columns() > 0).then_some(Size { columns: screen.columns(), rows })
}

fn paint_row(text: &mut String, row: &Row) {
    for (run, style) in row.runs() {
        push_style(text, style);
        text.push_str(run);
    }
}

#[cfg(test)]
mod tests;
