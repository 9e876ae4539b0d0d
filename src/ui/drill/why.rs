//! What followed from what: of now as the profile explains it, of an earlier time as it was kept.

use serde_json::Value;

use super::list::evidence_words;
use super::steps::Step;
use crate::screen::harmless;
use crate::ui::canvas::Canvas;
use crate::ui::popup::Line;
use crate::ui::transitions;

/// The groups of the public state (SPEC §2) that are told of an earlier time.
const GROUPS: [&str; 11] = [
    "diagnostics",
    "surface",
    "turn",
    "last_turn",
    "assessment",
    "operator",
    "lifecycle_timing",
    "lifecycle_authority",
    "stability",
    "attention",
    "stale",
];

/// An explanation as lines; headings stand at the margin.
pub fn of_now(canvas: &Canvas<'_>, text: &str) -> Vec<Line> {
    let parts = &canvas.theme.parts;
    let style = |line: &str| if line.starts_with(' ') { parts.text } else { parts.title };
    text.lines().map(|line| vec![(line.to_owned(), style(line))]).collect()
}

/// What a step changed, why, and what the whole state was then.
pub fn of_step(canvas: &Canvas<'_>, step: &Step) -> Vec<Line> {
    let parts = &canvas.theme.parts;
    let heading = |text: &str| vec![(text.to_owned(), parts.title)];
    let field =
        |name: &str, value: String| vec![(format!("  {name:<22} "), parts.quiet), (harmless(&value), parts.text)];
    let mut lines: Vec<Line> = Vec::new();
    match (step.changes(), step) {
        (Some(changes), _) => {
            lines.push(heading("What changed"));
            for (name, from, to) in &changes.changed {
                let short = name.rsplit('.').next().unwrap_or(name);
                lines.push(field(short, format!("{} → {}", transitions::value(from), transitions::value(to))));
            }
            if changes.changed.is_empty() {
                lines.push(vec![("  nothing that is public".to_owned(), parts.quiet)]);
            }
            lines.extend(changes.note.map(|note| field("note", note.to_owned())));
        }
        (None, Step::Kept(stored)) => {
            lines.push(heading("What happened"));
            lines.extend(fields(&stored.document).map(|(name, value)| field(name, value)));
        }
        (None, Step::Seen(_)) => {}
    }
    let evidence = step.evidence();
    if !evidence.is_empty() {
        lines.extend([Vec::new(), heading("Evidence")]);
        lines.extend(evidence.iter().map(|item| vec![(format!("  {}", evidence_words(item)), parts.text)]));
    }
    let Step::Kept(stored) = step else {
        lines.extend([Vec::new(), vec![("  the full state at that time was not kept".to_owned(), parts.quiet)]]);
        return lines;
    };
    if let Some(state) = stored.document.get("state").filter(|state| state.is_object()) {
        lines.extend([Vec::new(), heading("The state then")]);
        let is_task = state.get("kind").is_some();
        let task = state.as_object().into_iter().flatten().filter(|(name, _)| is_task && *name != "preview");
        lines.extend(task.map(|(name, value)| field(name, plain(value))));
        for group in GROUPS.into_iter().filter(|_| !is_task) {
            match state.get(group) {
                Some(Value::Object(members)) => {
                    lines.push(vec![(format!("  {group}"), parts.title)]);
                    let member = |(name, value): (&String, &Value)| {
                        vec![(format!("    {name:<36} "), parts.quiet), (harmless(&plain(value)), parts.text)]
                    };
                    lines.extend(members.iter().map(member));
                }
                Some(value) if !value.is_null() => lines.push(field(group, plain(value))),
                _ => {}
            }
        }
    }
    if let Some(events) = stored.document.get("events").and_then(Value::as_array).filter(|events| !events.is_empty()) {
        lines.extend([Vec::new(), heading("Named between the assessments since the transition before")]);
        for event in events {
            let word = |name: &str| event.get(name).map(plain).unwrap_or_default();
            lines.push(vec![(format!("  {}  ", word("at")), parts.quiet), (harmless(&word("event")), parts.text)]);
        }
    }
    lines
}

fn fields(document: &Value) -> impl Iterator<Item = (&str, String)> {
    let members = document.as_object().into_iter().flatten();
    members.filter(|(name, _)| *name != "state").map(|(name, value)| (name.as_str(), plain(value)))
}

/// A value without the quotes of JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        other => other.to_string(),
    }
}
