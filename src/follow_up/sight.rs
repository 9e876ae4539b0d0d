//! What was seen of a terminal, kept across the processes that watch: what happened while nobody did is told by how it
//! looks now. Only what an earlier process has seen counts; to whoever looks for the first time all is as it is.

use serde::{Deserialize, Serialize};

use super::event::{self, Event};
use crate::fleet::Terminal;
use crate::moment::{Moment, Span};
use crate::notify::{Occasion, standing};
use crate::screen::harmless;
use crate::state::{Availability, Phase};
use crate::task::{Happening, Task};

/// How long a terminal must look alike before that is compared with what was seen by an earlier process, and before an
/// agent that is ready again has ended its turn without a result.
pub const LULL: Span = Span::from_secs(4);

/// What was seen of a terminal that agents are told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    Agent {
        /// Whether a turn is in flight whose end was not told yet.
        busy: bool,
        /// What it needs or has done, told already.
        stands: Option<Standing>,
    },
    Task {
        window: String,
        ended: bool,
        bells: u64,
        prompt: Option<String>,
    },
}

/// What an agent needs or has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub occasion: Occasion,
    pub text: String,
}

/// A terminal that agents are told of, as it looks now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub identity: String,
    pub server: String,
    pub name: String,
    pub sight: Sight,
    /// Whether it can be told what it does.
    pub is_clear: bool,
    /// What stands there that may have to be told.
    pub event: Option<Event>,
    /// What an agent says of itself.
    pub said: Option<String>,
}

impl Source {
    /// An agent.
    pub fn of_terminal(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let name = state.terminal.id.clone();
        let event =
            standing(terminal).map(|(occasion, text)| Event::of_attention(&terminal.key, &name, occasion, &text));
        let stands = event.as_ref().map(|event| Standing { occasion: event.occasion, text: event.text.clone() });
        let is_there = state.diagnostics.availability == Availability::Available;
        Self {
            identity: event::identity(&terminal.key),
            server: terminal.key.server.word(),
            name,
            sight: Sight::Agent { busy: is_there && state.turn.phase == Phase::Active, stands },
            is_clear: event.is_some() || is_there && state.turn.phase != Phase::Unknown,
            event,
            said: state.activity.clone(),
        }
    }

    /// A task.
    pub fn of_task(task: &Task, now: Moment) -> Self {
        let ended = task.is_dead();
        let end = || Event::of_task(&task.event(now, Happening::Exited { code: task.exit_code(), bells: 0 }));
        Self {
            identity: event::identity(&task.key),
            server: task.key.server.word(),
            name: task.id.clone(),
            sight: Sight::Task {
                window: task.window.to_string(),
                ended,
                bells: task.bells,
                prompt: task.prompt().map(str::to_owned),
            },
            is_clear: task.known,
            event: ended.then(end),
            said: None,
        }
    }

    /// Whether a turn is in flight.
    pub fn is_busy(&self) -> bool {
        matches!(self.sight, Sight::Agent { busy: true, .. })
    }

    /// Whether it is a task in the window of another one.
    pub fn is_in_place_of(&self, server: &str, other: &Sight) -> bool {
        match (&self.sight, other) {
            (Sight::Task { window, .. }, Sight::Task { window: other, .. }) => self.server == server && window == other,
            _ => false,
        }
    }

    fn event(&self, occasion: Occasion, mark: &str, text: &str) -> Event {
        Event {
            source: self.name.clone(),
            identity: self.identity.clone(),
            server: self.server.clone(),
            occasion,
            mark: mark.to_owned(),
            is_unique: false,
            text: event::line(text),
            output: Vec::new(),
        }
    }
}

impl Sight {
    /// What is remembered once this is seen, too; `quiet` is for how long it has looked like that. What stands there counts
    /// only when it was told.
    #[must_use]
    pub fn then(&self, now: &Source, quiet: Span) -> Self {
        match (self, &now.sight) {
            (_, Sight::Agent { busy: true, .. }) => Sight::Agent { busy: true, stands: None },
            (Sight::Agent { busy, .. }, Sight::Agent { stands: None, .. }) if now.is_clear => {
                Sight::Agent { busy: *busy && quiet < LULL, stands: None }
            }
            (Sight::Agent { .. }, Sight::Agent { .. }) => self.clone(),
            // What happens to a task is told before it is looked at.
            (_, now) => now.clone(),
        }
    }

    /// What is remembered once an event was told.
    #[must_use]
    pub fn told(&self, event: &Event) -> Self {
        match self {
            Sight::Agent { busy, .. } => {
                let stands = Some(Standing { occasion: event.occasion, text: event.text.clone() });
                Sight::Agent { busy: *busy && !event.ends_a_turn(), stands }
            }
            Sight::Task { window, ended, bells, prompt } => Sight::Task {
                window: window.clone(),
                ended: *ended || event.occasion == Occasion::Exited,
                bells: *bells,
                prompt: match event.occasion {
                    Occasion::Input => Some(event.mark.clone()),
                    _ => prompt.clone(),
                },
            },
        }
    }

    /// What a terminal of which nothing was seen before has told: nothing of what stands there from the start.
    pub fn first(now: &Source) -> Self {
        now.sight.clone()
    }
}

/// What happened since an earlier process saw a terminal, `at` a time that every process knows, as far as how it looks now
/// tells.
pub fn missed(before: &Sight, at: Moment, now: &Source) -> Option<Event> {
    // What is seen of it is never seen again at that time, so that it names the event.
    let unwatched = |occasion, text: &str| {
        let mark = format!("not watched since {}", at.as_millis());
        Some(Event { is_unique: true, ..now.event(occasion, &mark, text) })
    };
    match (before, &now.sight) {
        (Sight::Agent { stands: told, .. }, Sight::Agent { stands, .. }) if stands.is_some() && stands != told => {
            now.event.clone()
        }
        (Sight::Agent { busy: true, .. }, Sight::Agent { busy: false, stands: None }) => {
            let said = now.said.as_deref().map(|said| format!(": {}", harmless(said))).unwrap_or_default();
            let text = format!("{} is done, its end was not watched{said}", now.name);
            unwatched(Occasion::Finished, &text)
        }
        (Sight::Task { ended: false, .. }, Sight::Task { ended: true, .. }) => now.event.clone(),
        (Sight::Task { bells: before, .. }, Sight::Task { window, bells, ended: false, .. }) if bells > before => {
            let text = format!("task {} ({window}) rang while nobody watched", now.name);
            unwatched(Occasion::Notify, &text)
        }
        _ => None,
    }
}

impl Source {
    /// What happened to a terminal that an earlier process saw and that is not there any more; `again` says that something
    /// else runs in its place.
    pub fn lost(identity: &str, server: &str, name: &str, before: &Sight, again: bool) -> Option<Event> {
        let source = Source {
            identity: identity.to_owned(),
            server: server.to_owned(),
            name: name.to_owned(),
            sight: before.clone(),
            is_clear: false,
            event: None,
            said: None,
        };
        let (occasion, text) = match before {
            Sight::Agent { stands: Some(Standing { occasion: Occasion::Gone, .. }), .. } => return None,
            Sight::Agent { .. } => (Occasion::Gone, format!("{name} is gone, its end was not watched")),
            Sight::Task { ended: true, .. } => return None,
            Sight::Task { window, .. } if again => {
                (Occasion::Exited, format!("task {name} ({window}) exited with an unknown code"))
            }
            Sight::Task { window, .. } => {
                (Occasion::Disappeared, format!("task {name} ({window}) disappeared while nobody watched"))
            }
        };
        Some(Event { is_unique: matches!(before, Sight::Task { .. }), ..source.event(occasion, "", &text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(busy: bool, stands: Option<(Occasion, &str)>, is_clear: bool) -> Source {
        let stands = stands.map(|(occasion, text)| Standing { occasion, text: text.to_owned() });
        let mut source = Source {
            identity: "/default/%1/7".to_owned(),
            server: "/default".to_owned(),
            name: "birds".to_owned(),
            sight: Sight::Agent { busy, stands: stands.clone() },
            is_clear,
            event: None,
            said: Some("heard it".to_owned()),
        };
        source.event = stands.map(|standing| source.event(standing.occasion, &standing.text, &standing.text));
        source
    }

    fn task(ended: bool, bells: u64) -> Source {
        let sight = Sight::Task { window: "@3".to_owned(), ended, bells, prompt: None };
        let mut source = Source { sight, ..agent(false, None, true) };
        source.event = ended.then(|| source.event(Occasion::Exited, "", "task birds (@3) exited with code 2"));
        source
    }

    fn missed(before: &Sight, now: &Source) -> Option<Event> {
        super::missed(before, Moment::from_millis(1), now)
    }

    fn text(event: Option<Event>) -> Option<String> {
        event.map(|event| format!("{}: {}", event.occasion, event.text))
    }

    #[test]
    fn a_turn_that_ended_while_nobody_watched_is_told() {
        let busy = agent(true, None, true).sight;
        let ready = agent(false, None, true);
        assert_eq!(
            text(missed(&busy, &ready)).as_deref(),
            Some("finished: birds is done, its end was not watched: heard it")
        );
        let failed = agent(false, Some((Occasion::Failed, "birds failed")), true);
        assert_eq!(text(missed(&busy, &failed)).as_deref(), Some("failed: birds failed"));
        assert_eq!(missed(&busy, &agent(true, None, true)), None, "it goes on, and its end will be seen");
        assert_eq!(missed(&ready.sight, &ready), None, "nothing was seen to begin");
    }

    #[test]
    fn what_was_told_is_not_told_again() {
        let asks = agent(false, Some((Occasion::Approval, "birds asks")), true);
        let busy = agent(true, None, true).sight;
        assert!(missed(&busy, &asks).is_some());
        let told = busy.told(asks.event.as_ref().unwrap());
        assert_eq!(missed(&told, &asks), None);
        assert!(missed(&told, &agent(false, Some((Occasion::Approval, "birds asks something else")), true)).is_some());
        let done = agent(false, Some((Occasion::Finished, "birds has finished")), true);
        let told = busy.told(done.event.as_ref().unwrap());
        assert_eq!(missed(&told, &agent(false, None, true)), None, "a new process does not know of the result");
        assert_eq!(missed(&told, &done), None);
    }

    #[test]
    fn a_turn_without_a_result_is_over_after_a_while() {
        let busy = agent(true, None, true).sight;
        let ready = agent(false, None, true);
        assert_eq!(busy.then(&ready, Span::from_secs(1)), busy);
        assert_eq!(busy.then(&ready, LULL), ready.sight);
        assert_eq!(busy.then(&agent(false, None, false), LULL), busy, "what cannot be told is not the end");
    }

    #[test]
    fn tasks_that_ended_rang_or_went_are_told() {
        let (runs, ended) = (task(false, 0).sight, task(true, 0));
        assert_eq!(text(missed(&runs, &ended)).as_deref(), Some("exited: task birds (@3) exited with code 2"));
        assert_eq!(missed(&ended.sight, &ended), None);
        assert_eq!(
            text(missed(&runs, &task(false, 2))).as_deref(),
            Some("notify: task birds (@3) rang while nobody watched")
        );
        let lost = |before: &Sight, again| text(Source::lost("i", "s", "birds", before, again));
        assert_eq!(
            lost(&runs, false).as_deref(),
            Some("disappeared: task birds (@3) disappeared while nobody watched")
        );
        assert_eq!(lost(&runs, true).as_deref(), Some("exited: task birds (@3) exited with an unknown code"));
        assert_eq!(lost(&ended.sight, false), None, "dead windows vanish silently");
        let busy = agent(true, None, true).sight;
        assert_eq!(lost(&busy, false).as_deref(), Some("gone: birds is gone, its end was not watched"));
    }
}
