//! Stories of follow-ups, one a file: what happens, what an agent is seen to do, and what it is told.

use std::collections::HashMap;
use std::path::PathBuf;

use rstest::rstest;
use serde::Deserialize;

use super::*;
use crate::notify::Occasion;
use crate::pattern::Pattern;
use crate::state::Tri;
use crate::time::{Span, Timestamp};

/// A file under `tests/follow_ups/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    title: String,
    rules: Vec<StoryRule>,
    steps: Vec<StoryStep>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryRule {
    on: Vec<Occasion>,
    from: String,
    to: String,
    template: Option<String>,
}

/// One thing that happens, and what follows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryStep {
    /// Seconds since the beginning.
    at: f64,
    event: Option<StoryEvent>,
    /// An agent was sent all that waits for it.
    sent: Option<String>,
    /// The message that was sent last may have been sent by a process that died.
    died: Option<Died>,
    /// Who is to be told of the event.
    #[serde(default)]
    tells: Vec<String>,
    /// What keeps somebody from being told of it.
    stops: Option<String>,
    /// The message that the agent got.
    message: Option<String>,
    /// What is taken to have become of the message.
    fate: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryEvent {
    source: String,
    event: Occasion,
    text: String,
    #[serde(default)]
    output: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Died {
    /// The outcome that is on record.
    recorded: Option<String>,
    /// What the agent is seen to do; `missing` when its terminal is not there.
    agent: String,
    #[serde(default)]
    screen: String,
    #[serde(default)]
    draft: bool,
    /// Whether its prompt is not found on the screen.
    #[serde(default)]
    unread: bool,
    /// For how many seconds it was polled.
    #[serde(default = "long")]
    waited: u64,
    /// Whether something has scrolled away.
    #[serde(default)]
    scrolled: bool,
}

/// What agents were told.
#[derive(Debug, Default)]
struct Messages {
    /// Since each one's last turn ended.
    since_end: HashMap<String, Vec<MessageEvent>>,
    /// Of which source, whom, and when.
    queued: Vec<(String, String, Timestamp)>,
}

impl Messages {
    fn times(&self, source: &str, to: &str, now: Timestamp) -> u64 {
        let counts = |(of, messages, at): &&(String, String, Timestamp)| {
            of == source && messages == to && now.since(*at) < COUNTED
        };
        self.queued.iter().filter(counts).count() as u64
    }
}

const fn long() -> u64 {
    10
}

#[rstest]
fn story(#[files("tests/follow_ups/*.toml")] path: PathBuf) {
    let text = std::fs::read_to_string(&path).unwrap();
    let story: Story = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rules: Vec<FollowUpRule> = story.rules.iter().map(rule).collect();
    let mut messages = Messages::default();
    let mut waiting: Vec<Wanted> = Vec::new();
    for step in &story.steps {
        let at = format!("{} at {}", story.title, step.at);
        let now = Timestamp::from_millis((step.at * 1000.0) as i64);
        if let Some(happened) = &step.event {
            let event = event(happened);
            let chain = match event.is_of_an_agent() {
                true => chain(&event.source, messages.since_end.get(&event.source).into_iter().flatten()),
                false => Vec::new(),
            };
            let (mut tells, mut stops) = (Vec::new(), None);
            for wanted in wanted(&rules, &event, &chain) {
                match closes_a_loop(&event.source, &wanted.to, &chain, messages.times(&event.source, &wanted.to, now)) {
                    None => {
                        messages.queued.push((event.source.clone(), wanted.to.clone(), now));
                        tells.push(wanted.to.clone());
                        waiting.push(wanted);
                    }
                    Some(why) => stops = Some(why),
                }
            }
            if event.is_result() {
                messages.since_end.remove(&event.source);
            }
            assert_eq!((&tells, &stops), (&step.tells, &step.stops), "{at}");
        }
        if let Some(agent) = &step.sent {
            let (now_sent, rest) = waiting.drain(..).partition(|wanted| wanted.to == *agent);
            waiting = rest;
            let now_sent: Vec<Wanted> = now_sent;
            let events: Vec<MessageEvent> = now_sent.into_iter().map(|wanted| wanted.body).collect();
            messages.since_end.entry(agent.clone()).or_default().extend(events.clone());
            assert_eq!(step.message.as_deref().map(str::trim_end), Some(message(7, &events).as_str()), "{at}");
        }
        if let Some(died) = &step.died {
            let fate = format!(
                "{:?}",
                fate(Some(7), died.recorded.as_deref(), target(died).as_ref(), Span::from_secs(died.waited))
            );
            assert_eq!(step.fate.as_ref(), Some(&fate), "{at}");
        }
    }
}

fn rule(rule: &StoryRule) -> FollowUpRule {
    FollowUpRule {
        on: rule.on.iter().copied().collect(),
        from: Pattern::new(&rule.from).unwrap(),
        to: rule.to.clone(),
        template: rule.template.clone(),
        keep: Span::from_secs(60),
    }
}

fn event(event: &StoryEvent) -> FollowUpEvent {
    FollowUpEvent {
        source: event.source.clone(),
        occasion: event.event,
        has_failed: false,
        at: Timestamp::default(),
        key: event.source.clone(),
        text: event.text.clone(),
        output: event.output.clone(),
    }
}

fn target(died: &Died) -> Option<Target> {
    let posture = match died.agent.as_str() {
        "ready" => Posture::Ready,
        "busy" => Posture::Busy,
        "gone" => Posture::Gone,
        "missing" => return None,
        other => panic!("an agent is ready, busy, gone or missing, not {other}"),
    };
    let draft = match (died.draft, died.unread) {
        (true, _) => Tri::Yes,
        (false, true) => Tri::Unknown,
        (false, false) => Tri::No,
    };
    Some(Target::new(posture, draft, &died.screen, !died.scrolled))
}
