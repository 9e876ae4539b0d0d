//! Who is told what: `[[follow_up]]`.

use std::collections::BTreeSet;

use super::event::FollowUpEvent;
use super::message::MessageEvent;
use crate::notify::Occasion;
use crate::pattern::Pattern;
use crate::time::Span;

/// One `[[follow_up]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUpRule {
    pub on: BTreeSet<Occasion>,
    /// The terminals that it is about, by their names.
    pub from: Pattern,
    /// The agent that is told, by its name.
    pub to: String,
    /// What is said of an event, with `{text}`, `{source}` and `{event}`; `None` is the text.
    pub template: Option<String>,
    /// How long a message is kept for an agent that is not there.
    pub keep: Span,
}

/// An event that one agent is to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    pub to: String,
    /// The name of the event for this agent, which nothing else has.
    pub key: String,
    /// What is kept of it until it is sent.
    pub body: MessageEvent,
    pub keep: Span,
}

/// Who is to be told an event. `chain` are the agents that led to it. An agent is told nothing of itself;
/// of several rules for one agent the first one holds.
pub fn wanted(rules: &[FollowUpRule], event: &FollowUpEvent, chain: &[String]) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for rule in rules {
        let fits = rule.on.contains(&event.occasion) && rule.from.matches(&event.source);
        if !fits || rule.to == event.source || wanted.iter().any(|other| other.to == rule.to) {
            continue;
        }
        let text = match &rule.template {
            Some(template) => filled(template, event),
            None => event.text.clone(),
        };
        wanted.push(Wanted {
            to: rule.to.clone(),
            key: format!("{}|{}", event.key, rule.to),
            body: MessageEvent {
                source: event.source.clone(),
                event: event.occasion.to_string(),
                text,
                output: event.output.clone(),
                chain: chain.to_vec(),
            },
            keep: rule.keep,
        });
    }
    wanted
}

/// The fields of a template; everything else in it stands for itself, so that no text of a terminal is filled in twice.
fn filled(template: &str, event: &FollowUpEvent) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        let fields = [("{text}", event.text.as_str()), ("{source}", &event.source), ("{event}", event.occasion.word())];
        match fields.into_iter().find(|(field, _)| from.starts_with(field)) {
            Some((field, value)) => {
                text.push_str(value);
                rest = &from[field.len()..];
            }
            None => {
                text.push('{');
                rest = &from[1..];
            }
        }
    }
    text.push_str(rest);
    text
}
