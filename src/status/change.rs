//! What a transition changed, in the words that people read: `working → approval`, `ready`, `finished`.

use serde_json::Value;

use super::Status;
use crate::state::{
    Availability, Change, ParseStatus, Phase, Summary, TaskStatus, Transition, Tri, TurnResult, UiContext,
};

/// The rank of fields that follow from others and say less to an operator; they are told only when nothing else is.
const FOLLOWS: u8 = 9;

/// One thing that a transition changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// `working → approval`, `failed`, `draft no → yes`.
    pub text: String,
    /// What the new value is to a person; `None` where it says nothing of it.
    pub status: Option<Status>,
}

/// A field by the last part of its public name, with its old and its new value.
type Field<'a> = (&'a str, &'a Value, &'a Value);

/// What a transition changed, most telling first.
pub fn changed(Transition { changed, summary, .. }: &Transition) -> Vec<Changed> {
    let fields: Vec<Field<'_>> = changed.iter().map(|Change { field, from, to }| (last(field), from, to)).collect();
    let (before, after) = (status_before(&fields, summary), status_after(summary));
    let mut changes: Vec<(u8, Changed)> = Vec::new();
    if before != after {
        changes.push((0, Changed { text: format!("{} → {}", before.word(), after.word()), status: Some(after) }));
    }
    let comes_or_goes = before != after && fields.iter().any(|(field, ..)| *field == "availability");
    for &(field, from, to) in &fields {
        let is_said = match field {
            "availability" | "phase" => before != after,
            "ui_context" => before != after && after != Status::Unknown,
            "result" => false,
            // Of a terminal that comes or goes, all the rest is said by what it is now.
            _ => comes_or_goes,
        };
        // That nothing can be said of a draft or the like any more goes with what else changed.
        let says_little = Tri::of_word(text(from)).is_some() && [text(from), text(to)].contains(&Tri::Unknown.word());
        if !is_said {
            changes.push((if says_little { FOLLOWS } else { rank(field) }, change(field, from, to)));
        }
    }
    changes.sort_by_key(|(rank, _)| *rank);
    if changes.first().is_some_and(|(rank, _)| *rank < FOLLOWS) {
        changes.retain(|(rank, _)| *rank < FOLLOWS);
    }
    changes.into_iter().map(|(_, change)| change).collect()
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What the terminal did before its fields changed.
fn status_before(fields: &[Field<'_>], summary: &Summary) -> Status {
    let from = |name: &str| fields.iter().find(|(field, ..)| *field == name).and_then(|(_, from, _)| from.as_str());
    let availability = from("availability").and_then(Availability::of_word).unwrap_or(summary.availability);
    let phase = from("phase").and_then(Phase::of_word).unwrap_or(summary.phase);
    let context = from("ui_context").and_then(UiContext::of_word).unwrap_or(summary.ui_context);
    Status::of_turn(availability, phase, context)
}

/// What it does now.
fn status_after(summary: &Summary) -> Status {
    Status::of_turn(summary.availability, summary.phase, summary.ui_context)
}

/// How much a field tells an operator; the lowest comes first.
fn rank(field: &str) -> u8 {
    match field {
        "availability" => 0,
        "phase" | "status" => 1,
        "result" => 2,
        "ui_context" => 3,
        "background_work" => 4,
        "probe_error" | "parse_error" => 5,
        "accepting_input" | "ready_posture" | "business_state" | "input_mode" | "source" | "process_state"
        | "transport_state" | "parse_status" => FOLLOWS,
        _ => 7,
    }
}

/// One field that changed, in words.
fn change(field: &str, from: &Value, to: &Value) -> Changed {
    let result = |value: &Value| value.as_str().and_then(TurnResult::of_word).and_then(Status::of_result);
    let task = |value: &Value| {
        let status = value.as_str().and_then(TaskStatus::of_word).unwrap_or(TaskStatus::Unknown);
        Status::of_task(status, None)
    };
    let (text, status) = match (field, result(to)) {
        // A result needs no "from": the turn that ended before is another one.
        ("result", Some(result)) => (result.word().into_owned(), Some(result)),
        ("result", None) => (format!("{} withdrawn", result(from).unwrap_or(Status::Unknown).word()), None),
        ("status", _) => (format!("{} → {}", task(from).word(), task(to).word()), Some(task(to))),
        _ => {
            let status = match (field, to.as_str()) {
                ("ui_context", Some(to)) => UiContext::of_word(to).and_then(Status::of_context),
                ("probe_error" | "parse_error", _) => Some(Status::Error),
                ("background_work", Some("yes")) => Some(Status::Working),
                _ => None,
            };
            (format!("{} {} → {}", label(field), short(from), short(to)), status)
        }
    };
    Changed { text, status }
}

/// What a field is called.
fn label(field: &str) -> &str {
    match field {
        "accepting_input" => "accepting",
        "editing_input" => "draft",
        "ready_posture" => "posture",
        "pending_input" => "queued",
        "background_work" => "background",
        "ui_context" => "context",
        "business_state" => "business",
        "input_mode" => "input",
        "process_state" => "process",
        "transport_state" => "transport",
        "parse_status" => "screen",
        other => other,
    }
}

/// A value of a field that has no status.
fn short(value: &Value) -> String {
    let word = match value {
        Value::Null => "–",
        Value::String(word) => word.as_str(),
        // A problem is told by its kind.
        Value::Object(fields) => fields.get("kind").and_then(Value::as_str).unwrap_or("?"),
        other => return other.to_string(),
    };
    match UiContext::of_word(word) {
        Some(UiContext::NormalPrompt) => "prompt".to_owned(),
        Some(UiContext::SelectionMenu) => "menu".to_owned(),
        Some(UiContext::SlashCommand) => "slash".to_owned(),
        None if word == ParseStatus::Parsed.word() => "read".to_owned(),
        None if word == ParseStatus::UnsupportedTool.word() => "no profile".to_owned(),
        Some(context) => {
            Status::of_context(context).map_or(word.replace('_', " "), |status| status.word().into_owned())
        }
        None => word.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::{OperatorStatus, TurnSource};
    use crate::time::Timestamp;

    fn told(phase: Phase, ui_context: UiContext, fields: &[Change]) -> String {
        let status = OperatorStatus::Unknown;
        let (availability, result, source) = (Availability::Available, TurnResult::None, TurnSource::None);
        let summary = Summary { availability, phase, result, source, ui_context, status };
        let (at, evidence) = (Timestamp::default(), Vec::new());
        let transition = Transition { at, changed: fields.to_vec(), summary, note: None, evidence };
        changed(&transition).into_iter().map(|changed| changed.text).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_change_is_told_in_the_words_of_the_table() {
        let field =
            |name: &'static str, from: &str, to: &str| Change { field: name.into(), from: json!(from), to: json!(to) };
        let asks = [
            field("phase", "active", "unknown"),
            field("ui_context", "normal_prompt", "approval_prompt"),
            field("accepting_input", "yes", "no"),
            field("business_state", "working", "awaiting_operator"),
        ];
        assert_eq!(told(Phase::Unknown, UiContext::ApprovalPrompt, &asks), "working → approval");
        let answered = [field("phase", "unknown", "active"), field("ui_context", "approval_prompt", "normal_prompt")];
        assert_eq!(told(Phase::Active, UiContext::NormalPrompt, &answered), "approval → working");
        let ended = [field("phase", "active", "ready"), field("result", "known_failure", "success")];
        assert_eq!(told(Phase::Ready, UiContext::NormalPrompt, &ended), "working → ready, finished");
        let comes = [field("availability", "tui_down", "available"), field("accepting_input", "unknown", "yes")];
        assert_eq!(told(Phase::Ready, UiContext::NormalPrompt, &comes), "gone → ready");
        let menu = [field("phase", "ready", "unknown"), field("ui_context", "normal_prompt", "slash_command")];
        assert_eq!(told(Phase::Unknown, UiContext::SlashCommand, &menu), "ready → unknown, context prompt → slash");
        let withdrawn = [field("result", "success", "none")];
        assert_eq!(told(Phase::Ready, UiContext::NormalPrompt, &withdrawn), "finished withdrawn");
        let task = [field("status", "waiting_input", "running")];
        assert_eq!(told(Phase::Active, UiContext::Unknown, &task), "asks → running");
    }
}
