//! What a labelled recording's maker knows to be true, over its time (SPEC §13). Only scoring reads it.

use serde_json::{Map, Value};

use fleetwatch::recording::{EventKind, Recording, RecordingError};
use fleetwatch::state::{Availability, Phase, Tri, TurnResult};
use fleetwatch::time::Span;

fields! {
    /// A field of the public state that recordings judge, by its name in `truth` markers, in the order of SPEC §13.
    Field {
        Availability = "availability", AcceptingInput = "accepting_input", EditingInput = "editing_input",
        ReadyPosture = "ready_posture", Phase = "phase", Blocked = "blocked", LastResult = "last_result",
    }
}

impl Field {
    /// The values that the field may have.
    fn values(self) -> Vec<&'static str> {
        match self {
            Field::Availability => Availability::words(),
            Field::AcceptingInput | Field::EditingInput | Field::ReadyPosture => Tri::words(),
            Field::Phase => Phase::words(),
            // A name of its own for what the contract says in several fields.
            Field::Blocked => vec!["none", "approval", "trust", "question", "setup", "menu"],
            Field::LastResult => TurnResult::words(),
        }
    }
}

/// A value that holds from one time until the next; `None` is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    pub from: Span,
    pub value: Option<&'static str>,
}

/// The labels of a recording, by field, in the order of time and without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    labels: [Vec<Label>; Field::ALL.len()],
}

impl Truth {
    /// Collects the `truth` markers of a recording. Fields that are not about an agent's state are passed over.
    ///
    /// # Errors
    /// A marker is no JSON object or gives a field a value that it cannot have; `source_name` is how the error calls
    /// the recording.
    pub fn of(recording: &Recording, source_name: &str) -> Result<Self, RecordingError> {
        let mut truth = Self::default();
        for event in &recording.events {
            let EventKind::Truth(json) = &event.kind else { continue };
            truth.add(event.at, json).map_err(|message| RecordingError::at(source_name, event.line, message))?;
        }
        Ok(truth)
    }

    /// The labels of a field; before the first nothing is judged.
    pub fn labels(&self, field: Field) -> &[Label] {
        &self.labels[field as usize]
    }

    /// Judged milliseconds over all fields, until a recording's end.
    pub fn judged_ms(&self, end: Span) -> u64 {
        let of_field = |labels: &Vec<Label>| -> u64 {
            let ends = labels.iter().skip(1).map(|label| label.from).chain([end]);
            let spans = labels.iter().zip(ends).filter(|(label, _)| label.value.is_some());
            spans.map(|(label, end)| end.as_millis().saturating_sub(label.from.as_millis())).sum()
        };
        self.labels.iter().map(of_field).sum()
    }

    /// Judges nothing of a field from one time to another.
    pub fn leave_out(&mut self, field: Field, from: Span, to: Span) {
        let labels = &mut self.labels[field as usize];
        let at_end = labels.iter().rev().find(|label| label.from <= to).and_then(|label| label.value);
        let position = labels.partition_point(|label| label.from < from);
        labels.retain(|label| label.from < from || label.from > to);
        labels.splice(position..position, [Label { from, value: None }, Label { from: to, value: at_end }]);
    }

    /// Adds what holds from `at` on, as a `truth` marker says it; `at` is not before what was added last.
    ///
    /// # Errors
    /// It is no JSON object or gives a field a value that it cannot have, for people.
    pub fn add(&mut self, at: Span, json: &str) -> Result<(), String> {
        let fields: Map<String, Value> =
            serde_json::from_str(json).map_err(|e| format!("the truth is not a JSON object: {e}"))?;
        for (name, value) in fields {
            let Some(field) = Field::of_word(&name) else { continue };
            let value = match value {
                Value::Null => None,
                given => Some(known(field, &given).ok_or_else(|| {
                    format!("the truth of {name} cannot be {given}, only null or one of {}", field.values().join(", "))
                })?),
            };
            let labels = &mut self.labels[field as usize];
            if labels.last().and_then(|label| label.value) == value {
                continue;
            }
            match labels.last_mut().filter(|label| label.from == at) {
                Some(label) => label.value = value,
                None => labels.push(Label { from: at, value }),
            }
        }
        Ok(())
    }
}

fn known(field: Field, value: &Value) -> Option<&'static str> {
    let word = value.as_str()?;
    field.values().into_iter().find(|known| *known == word)
}

// Labels that are left out of scoring, because they are wrong or tell what nothing that tmux shows can tell.
//
// They stand in a Markdown table, so that each has its reason beside it:
// `| AGENT-VERSION/SITUATION | field, field | FROM–TO in seconds | reason |`.

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
            doubts.push(doubt(&cells).map_err(|message| RecordingError::at(source, n + 1, message))?);
        }
        Ok(Self(doubts))
    }

    /// All of them, in their order.
    pub fn all(&self) -> &[Doubt] {
        &self.0
    }

    /// Takes the doubted labels out of a recording's truth. `source_name` is where the recording is: a file or its name
    /// in an archive.
    pub fn apply(&self, source_name: &str, truth: &mut Truth) {
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
    let field = |name: &str| {
        Field::of_word(name.trim()).ok_or_else(|| format!("{:?} is not a field that is judged", name.trim()))
    };
    let fields = fields.split(',').map(field).collect::<Result<Vec<_>, _>>()?;
    let (from, to) = time
        .split_once('–')
        .and_then(|(from, to)| Some((seconds(from)?, seconds(to)?)))
        .ok_or_else(|| format!("{time:?} is not a range of seconds such as 12.5–13"))?;
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
mod doubts_tests {
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
            ("| a/b | phases | 1–2 | why |", "\"phases\" is not a field"),
            ("| a/b | phase | 1-2 | why |", "not a range of seconds"),
            ("| a/b | phase | 2–1 | why |", "ends before it begins"),
            ("| a/b | phase | 1–2 | |", "its reason"),
        ] {
            let error = Doubts::parse("d.md", &format!("words\n{row}")).unwrap_err().to_string();
            assert!(error.starts_with("d.md:2: ") && error.contains(why), "{error}");
        }
    }
}
