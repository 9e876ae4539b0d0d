//! A screen as text that any process can read back: rows as `capture-pane -e` prints them. It comes from another process,
//! so it is read like a capture, and whatever could act on a terminal is taken out (SPEC §15).

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Color, Screen, Style};

#[derive(Serialize, Deserialize)]
struct Wire {
    columns: u16,
    rows: u16,
    text: String,
}

impl Serialize for Screen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        Wire { columns: self.columns, rows, text: self.to_capture() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Screen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Wire { columns, rows, text } = Wire::deserialize(deserializer)?;
        Ok(Screen::from_capture(text.as_bytes(), columns, rows))
    }
}

impl Screen {
    /// What [`Screen::from_capture`] reads this screen from.
    pub fn to_capture(&self) -> String {
        let mut text = String::new();
        let mut style = Style::default();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            for (run, next) in row.captured_runs() {
                if next != style {
                    style = next;
                    push_style(&mut text, style);
                }
                text.push_str(&run);
            }
        }
        text
    }
}

/// Appends the sequence that sets a style, whatever was set before.
fn push_style(text: &mut String, style: Style) {
    text.push_str("\x1b[0");
    let flags =
        [(style.bold, "1"), (style.dim, "2"), (style.italic, "3"), (style.underline, "4"), (style.inverse, "7")];
    for (_, code) in flags.into_iter().filter(|(is_set, _)| *is_set) {
        text.push(';');
        text.push_str(code);
    }
    for (color, code) in [(style.foreground, 38), (style.background, 48)] {
        // Writing to a string does not fail.
        let _ = match color {
            Color::Default => Ok(()),
            Color::Indexed(index) => write!(text, ";{code};5;{index}"),
            Color::Rgb(r, g, b) => write!(text, ";{code};2;{r};{g};{b}"),
        };
    }
    text.push('m');
}
