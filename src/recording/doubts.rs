//! Labels that are left out of scoring, because they are wrong or tell what nothing that tmux shows can tell.
//!
//! They stand in a Markdown table, so that each has its reason beside it:
//! `| AGENT-VERSION/SITUATION | field, field | FROM–TO in seconds | reason |`.

use super::RecordingError;
use super::truth::{Field, Truth};
use crate::time::Span;

/// Doubted labels of any number of recordings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doubts(Vec<Doubt>);

/// A stretch of a recording in which the labels of some fields are doubted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// `AGENT-VERSION/SITUATION`.
    pub recording: String,
    pub fields: Vec<Field>,
    pub from: Span,
    pub to: Span,
}

impl Doubts {
    /// Reads a Markdown text; everything in it but the rows of its tables is for people. `source` is how errors call it.
    ///
    /// # Errors
    /// A row of a table is no doubt; the error names its line.
    pub fn parse(source: &str, text: &str) -> Result<Self, RecordingError> {
        let mut doubts = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let Some(cells) = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|')) else { continue };
            let cells: Vec<&str> = cells.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let is_rule = cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':')));
            if is_rule || cells[0] == "recording" {
                continue;
            }
            doubts.push(doubt(&cells).map_err(|message| RecordingError::Line {
                source_name: source.to_owned(),
                line: n + 1,
                message,
            })?);
        }
        Ok(Self(doubts))
    }

    /// All of them, in their order.
    pub fn all(&self) -> &[Doubt] {
        &self.0
    }

    /// Takes the doubted labels out of a recording's truth. `source_name` is where the recording is: a file or its name
    /// in an archive.
    pub(super) fn apply(&self, source_name: &str, truth: &mut Truth) {
        for doubt in self.0.iter().filter(|doubt| doubt.is_about(source_name)) {
            doubt.fields.iter().for_each(|field| truth.leave_out(*field, doubt.from, doubt.to));
        }
    }
}

impl Doubt {
    /// Whether it is about the recording at a place.
    pub fn is_about(&self, source_name: &str) -> bool {
        let name = source_name.strip_suffix(".cast").unwrap_or(source_name);
        name.strip_suffix(&self.recording).is_some_and(|before| before.is_empty() || before.ends_with(['/', ':']))
    }
}

fn doubt(cells: &[&str]) -> Result<Doubt, String> {
    let [recording, fields, time, reason] = cells else {
        return Err(format!("a doubt has four cells (recording, fields, seconds, reason), not {}", cells.len()));
    };
    if reason.is_empty() || recording.is_empty() {
        return Err("a doubt names its recording and its reason".to_owned());
    }
    let field =
        |name: &str| Field::of_word(name.trim()).ok_or_else(|| format!("{:?} is no field that is judged", name.trim()));
    let fields = fields.split(',').map(field).collect::<Result<Vec<_>, _>>()?;
    let (from, to) = time
        .split_once('–')
        .and_then(|(from, to)| Some((seconds(from)?, seconds(to)?)))
        .ok_or_else(|| format!("{time:?} is no stretch of seconds such as 12.5–13"))?;
    if from >= to {
        return Err(format!("{time} ends before it begins"));
    }
    Ok(Doubt { recording: (*recording).to_owned(), fields, from, to })
}

fn seconds(text: &str) -> Option<Span> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..1e9).contains(&seconds).then(|| Span::from_millis((seconds * 1000.0).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Doubts\n\n| recording | fields | seconds | reason |\n|---|:--|---|---|\n\
                        | `pi-1/idle` | phase, ready_posture | 1.5–2 | blank |\n";

    #[test]
    fn a_table_of_doubts_is_read_and_the_prose_around_it_is_not() {
        let doubts = Doubts::parse("d.md", TEXT).unwrap();
        let [doubt] = doubts.all() else { panic!("one doubt") };
        assert_eq!((doubt.from.as_millis(), doubt.to.as_millis()), (1500, 2000));
        assert_eq!(doubt.fields, [Field::Phase, Field::ReadyPosture]);
        for place in ["pi-1/idle", "some/pi-1/idle.cast", "a.zst:pi-1/idle"] {
            assert!(doubt.is_about(place), "{place}");
        }
        assert!(!doubt.is_about("api-1/idle") && !doubt.is_about("pi-1/idle-2"));
    }

    #[test]
    fn a_row_that_is_no_doubt_is_refused_with_its_line() {
        for (row, why) in [
            ("| a/b | phase | 1–2 |", "four cells"),
            ("| a/b | phases | 1–2 | why |", "\"phases\" is no field"),
            ("| a/b | phase | 1-2 | why |", "no stretch of seconds"),
            ("| a/b | phase | 2–1 | why |", "ends before it begins"),
            ("| a/b | phase | 1–2 | |", "its reason"),
        ] {
            let error = Doubts::parse("d.md", &format!("words\n{row}")).unwrap_err().to_string();
            assert!(error.starts_with("d.md:2: ") && error.contains(why), "{error}");
        }
    }
}
