//! What a labelled recording's maker knows to be true, over its time (SPEC §13). Only scoring reads it.

use serde_json::{Map, Value};

use super::{EventKind, Recording, RecordingError};
use crate::state::{Availability, Phase, Tri, TurnResult, words};
use crate::time::Span;

words! {
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
            Field::Availability => Availability::ALL.iter().map(|value| value.word()).collect(),
            Field::AcceptingInput | Field::EditingInput | Field::ReadyPosture => {
                Tri::ALL.iter().map(|value| value.word()).collect()
            }
            Field::Phase => Phase::ALL.iter().map(|value| value.word()).collect(),
            // A name of its own for what the contract says in several fields.
            Field::Blocked => vec!["none", "approval", "trust", "question", "setup", "menu"],
            Field::LastResult => TurnResult::ALL.iter().map(|value| value.word()).collect(),
        }
    }
}

/// What holds from one time until the next; `None` is not judged.
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
            truth.add(event.at, json).map_err(|message| RecordingError::Line {
                source_name: source_name.to_owned(),
                line: event.line,
                message,
            })?;
        }
        Ok(truth)
    }

    /// The labels of a field; before the first nothing is judged.
    pub fn labels(&self, field: Field) -> &[Label] {
        &self.labels[field as usize]
    }

    /// Judged milliseconds over all fields, until a recording's end.
    pub(super) fn judged_ms(&self, end: Span) -> u64 {
        let of_field = |labels: &Vec<Label>| -> u64 {
            let ends = labels.iter().skip(1).map(|label| label.from).chain([end]);
            let spans = labels.iter().zip(ends).filter(|(label, _)| label.value.is_some());
            spans.map(|(label, end)| end.as_millis().saturating_sub(label.from.as_millis())).sum()
        };
        self.labels.iter().map(of_field).sum()
    }

    /// Judges nothing of a field from one time to another.
    pub(super) fn leave_out(&mut self, field: Field, from: Span, to: Span) {
        let labels = &mut self.labels[field as usize];
        let at_end = labels.iter().rev().find(|label| label.from <= to).and_then(|label| label.value);
        let position = labels.partition_point(|label| label.from < from);
        labels.retain(|label| label.from < from || label.from > to);
        labels.splice(position..position, [Label { from, value: None }, Label { from: to, value: at_end }]);
    }

    fn add(&mut self, at: Span, json: &str) -> Result<(), String> {
        let fields: Map<String, Value> =
            serde_json::from_str(json).map_err(|e| format!("the truth is no JSON object: {e}"))?;
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
