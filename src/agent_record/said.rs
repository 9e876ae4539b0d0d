//! What was said in a session, line by line from the agent's record: the transcript, of which a screen shows only a part.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;

use super::places::{Conditions, JsonPath};
use crate::screen::harmless;

/// Characters of one text that are shown, and lines of it.
const TEXT: usize = 100_000;
const LINES: usize = 2_000;

/// The line in place of what is not there: before the part of a record that is read, or between two screens.
pub const GAP: &str = "⋯";

/// Who said a line of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    User,
    Agent,
    /// The agent calls a tool.
    Tool,
    /// What the call says beyond its first line, and what the tool gave back.
    Output,
}

/// One line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub by: Speaker,
}

impl Said {
    /// A blank line.
    pub const BLANK: Said = Said { text: String::new(), by: Speaker::Agent };

    pub fn new(text: impl Into<String>, by: Speaker) -> Self {
        Self { text: text.into(), by }
    }
}

/// The last thing that the agent said, without blank lines around it: up to the end, or up to what came after it.
pub fn last_answer(lines: &[Said]) -> Option<Range<usize>> {
    let says = |line: &Said| line.by == Speaker::Agent && !line.text.is_empty() && line.text != GAP;
    let end = lines.iter().rposition(says)? + 1;
    let before = lines[..end].iter().rposition(|line| line.by != Speaker::Agent || line.text == GAP);
    let from = before.map_or(0, |before| before + 1);
    let begin = lines[from..end].iter().position(says)?;
    Some(from + begin..end)
}

/// The same as a text.
pub fn last_answer_text(lines: &[Said]) -> Option<String> {
    let answer: Vec<&str> = lines[last_answer(lines)?].iter().map(|line| line.text.as_str()).collect();
    Some(answer.join("\n"))
}

/// Which lines of a record say something, and who does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaidRule {
    #[serde(default, rename = "where")]
    conditions: Conditions,
    /// Where several things stand that were said; the line itself is one where this is left out. What `which` and the
    /// places below name is in each of them.
    #[serde(default)]
    each: Option<JsonPath>,
    #[serde(default)]
    which: Conditions,
    by: Speaker,
    /// The tool's name.
    #[serde(default)]
    name: Option<JsonPath>,
    /// Where the text stands: the first place at which there is one.
    text: Vec<JsonPath>,
}

impl SaidRule {
    /// Adds what a line says.
    pub(super) fn read(&self, line: &Value, said: &mut Vec<Said>) {
        if self.conditions.hold(line) {
            let each = self.each.as_ref().map_or_else(|| vec![line], |each| each.find(line));
            each.into_iter().filter(|item| self.which.hold(item)).for_each(|item| self.say(item, said));
        }
    }

    fn say(&self, item: &Value, said: &mut Vec<Said>) {
        let text = self.text.iter().find_map(|place| text(&place.find(item))).unwrap_or_default();
        // A tab is a control character, and code without its indentation another code.
        let text = text.replace('\t', "    ");
        let name = self.name.as_ref().and_then(|name| name.text(item)).map(harmless);
        let mut lines = text.lines().take(LINES).map(harmless);
        let first = match (name, lines.next()) {
            (Some(name), Some(line)) => format!("{name}  {line}"),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return,
        };
        if self.by != Speaker::Output {
            said.push(Said::BLANK);
        }
        said.push(Said::new(first, self.by));
        let by = if self.by == Speaker::Tool { Speaker::Output } else { self.by };
        said.extend(lines.map(|line| Said::new(line.trim_end(), by)));
    }
}

/// The texts that were found, one below the other; anything else is shown as the JSON that it is. `None` when there is
/// nothing.
fn text(found: &[&Value]) -> Option<String> {
    let mut whole = String::new();
    for value in found {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        whole.push_str(if whole.is_empty() { "" } else { "\n" });
        whole.extend(text.chars().take(TEXT));
        if whole.len() > TEXT {
            break;
        }
    }
    (!whole.trim().is_empty()).then_some(whole)
}
