//! What followed from what: of now as the profile explains it, of an earlier time as it was kept.

use serde_json::{Value, json};

use super::list::evidence_words;
use super::steps::TimelineEntry;
use crate::history::{Body, NamedEvent, StoredTransition};
use crate::screen::harmless;
use crate::state::{Change, Transition};
use crate::ui::canvas::Canvas;
use crate::ui::popup::StyledLine;
use crate::ui::transitions;

/// Parts of a public state that are shown in another place.
const SHOWN_ELSEWHERE: [&str; 3] = ["terminal", "evidence", "preview"];

/// An explanation as lines; headings stand at the margin.
pub fn of_now(canvas: &Canvas<'_>, text: &str) -> Vec<StyledLine> {
    let parts = &canvas.theme.parts;
    let style = |line: &str| if line.starts_with(' ') { parts.text } else { parts.title };
    text.lines().map(|line| vec![(line.to_owned(), style(line))]).collect()
}

/// What a step changed, why, and what the whole state was then.
pub fn of_step(canvas: &Canvas<'_>, step: &TimelineEntry) -> Vec<StyledLine> {
    let parts = &canvas.theme.parts;
    let heading = |text: &str| vec![(text.to_owned(), parts.title)];
    let field =
        |name: &str, value: String| vec![(format!("  {name:<22} "), parts.quiet), (harmless(&value), parts.text)];
    let mut lines: Vec<StyledLine> = Vec::new();
    if let Some(Transition { changed, note, .. }) = step.transition() {
        lines.push(heading("What changed"));
        for Change { field: name, from, to } in changed {
            let short = name.rsplit('.').next().unwrap_or(name);
            lines.push(field(short, format!("{} → {}", transitions::value(from), transitions::value(to))));
        }
        if changed.is_empty() {
            lines.push(vec![("  nothing that is public".to_owned(), parts.quiet)]);
        }
        lines.extend(note.iter().map(|note| field("note", note.clone())));
    } else {
        lines.push(heading("What happened"));
        let fields = step.body.fields();
        lines.extend(fields.iter().filter(|(name, _)| *name != "state").map(|(name, value)| field(name, plain(value))));
    }
    let evidence = step.evidence();
    if !evidence.is_empty() {
        lines.extend([Vec::new(), heading("Evidence")]);
        lines.extend(evidence.iter().map(|item| vec![(format!("  {}", evidence_words(item)), parts.text)]));
    }
    let state = members(&step.body);
    if state.is_empty() && step.transition().is_some() {
        lines.extend([Vec::new(), vec![("  the full state at that time was not kept".to_owned(), parts.quiet)]]);
    } else if !state.is_empty() {
        lines.extend([Vec::new(), heading("The state then")]);
    }
    for (name, value) in &state {
        match value {
            Value::Object(members) => {
                lines.push(vec![(format!("  {name}"), parts.title)]);
                let member = |(name, value): (&String, &Value)| {
                    vec![(format!("    {name:<36} "), parts.quiet), (harmless(&plain(value)), parts.text)]
                };
                lines.extend(members.iter().map(member));
            }
            value => lines.push(field(name, plain(value))),
        }
    }
    if let Body::Transition(StoredTransition { events, .. }) = &step.body
        && !events.is_empty()
    {
        lines.extend([Vec::new(), heading("Named between the assessments since the transition before")]);
        for NamedEvent { at, event } in events {
            lines.push(vec![(format!("  {at}  "), parts.quiet), (event.to_string(), parts.text)]);
        }
    }
    lines
}

/// What is told of the state of that time, by its public names.
fn members(body: &Body) -> Vec<(String, Value)> {
    let state = match (body, body.task()) {
        (_, Some(task)) => json!(task),
        (Body::Transition(StoredTransition { state: Some(state), .. }), _) => json!(state),
        _ => Value::Null,
    };
    let Value::Object(members) = state else { return Vec::new() };
    members.into_iter().filter(|(name, value)| !SHOWN_ELSEWHERE.contains(&name.as_str()) && !value.is_null()).collect()
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
