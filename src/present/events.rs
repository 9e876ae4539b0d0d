//! What happens in a fleet, an event at a time: the lines of `watch`, and the event stream of `serve` (SPEC §12).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::document::{self, json_line, what_or_null};
use super::filter::Filter;
use super::flags::Flags;
use super::item::Item;
use crate::fleet::{Effect, Fleet, ServerHealth, ServerId, ServerView, Terminal, TerminalKey, TerminalTransition};
use crate::record::{Intent, IntentState, Stored};
use crate::repository::GitFacts;
use crate::state::{AgentFacts, Change, Evidence, Problem, State, Transition};
use crate::status::Status;
use crate::task::{Task, TaskEvent};
use crate::time::{Span, Timestamp};

/// The shortest time between two events of an agent's facts: tokens grow with each answer.
const FACTS: Span = Span::from_secs(5);
/// The least time between two walks through all terminals for notices, and half of that between two for new facts: among a thousand
/// something changes all the time, and a walk takes as long as a frame.
pub const WALKED: Span = Span::from_millis(250);

/// What is told of a terminal or a task.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A terminal is there, or has another name than it was shown under.
    State { state: &'a State, was: Option<String> },
    /// The same of a task.
    Task(&'a Task),
    /// A terminal's public state changed.
    Transition(&'a TerminalTransition),
    /// An agent has new facts, but the same state.
    Facts { at: Timestamp, state: &'a State, changed: Vec<Change> },
    /// Something happened to a task.
    TaskEvent(&'a TaskEvent),
    /// A follow-up is queued, takes in another event, or has ended.
    FollowUp { at: Timestamp, intent: &'a Intent, state: Option<&'a State> },
    /// Something was sent, and its outcome is known.
    Input { input: &'a Stored, state: Option<&'a State> },
}

/// What events are made of.
#[derive(Clone, Copy, Debug)]
pub enum Happened<'a> {
    Effect(&'a Effect),
    /// A message to an agent made progress.
    Intent(&'a Intent),
}

#[derive(Serialize)]
struct Transitioned<'a> {
    word: Option<Cow<'static, str>>,
    what: Option<String>,
    changed: &'a [Change],
    note: Option<&'a str>,
    evidence: &'a [Evidence],
}

impl<'a> Event<'a> {
    /// Everything that is there now.
    pub fn of_all(fleet: &'a Fleet) -> impl Iterator<Item = Event<'a>> {
        let view = fleet.view(Timestamp::default());
        let terminals = view.terminals.into_iter().map(|terminal| Event::State { state: &terminal.state, was: None });
        terminals.chain(view.tasks.into_iter().map(Event::Task))
    }

    /// When it happened.
    fn at(&self) -> Timestamp {
        match self {
            Event::State { state, .. } => state.observed_at,
            Event::Task(task) => task.since,
            Event::Transition(told) => told.transition.at,
            Event::TaskEvent(event) => event.at,
            Event::Input { input, .. } => input.at,
            Event::Facts { at, .. } | Event::FollowUp { at, .. } => *at,
        }
    }

    /// The event as one line of JSON.
    ///
    /// # Errors
    /// Nothing of it can be written as JSON.
    pub fn json(&self) -> io::Result<String> {
        match self {
            Event::State { state, was } => {
                let (word, what) = said_of(state);
                let mut happened = json!({ "word": word, "what": what });
                if let Some(was) = was {
                    happened["was"] = json!(was);
                }
                self.line("state", &state.terminal.id, state, Some(happened))
            }
            Event::Task(task) => {
                let word = json!({ "word": task.as_status().word() });
                self.line("state", &task.id, task.fields(), Some(word))
            }
            Event::Transition(TerminalTransition { id, transition, state, .. }) => {
                let Transition { changed, note, evidence, .. } = transition;
                let (word, what) = state.as_ref().map(|state| said_of(state)).unzip();
                let happened = Transitioned { word, what: what.flatten(), changed, note: note.as_deref(), evidence };
                self.line("transition", id, state, Some(happened))
            }
            Event::Facts { state, changed, .. } => {
                let (word, what) = said_of(state);
                let happened = Transitioned { word: Some(word), what, changed, note: None, evidence: &[] };
                self.line("facts", &state.terminal.id, state, Some(happened))
            }
            Event::TaskEvent(event) => self.line("task_event", &event.id, &event.state, Some(&event.happening)),
            Event::FollowUp { at, intent, state } => {
                let mut line = json!({ "at": at, "kind": "follow_up", "state": state });
                if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), document::of_intent(intent)) {
                    line.extend(fields);
                }
                json_line(&line)
            }
            Event::Input { input, state } => {
                let mut line = document::of_record(input);
                line["state"] = json!(state);
                json_line(&line)
            }
        }
    }

    /// A line with the state and what happened.
    fn line(
        &self,
        kind: &'static str,
        terminal: &str,
        state: impl Serialize,
        happened: Option<impl Serialize>,
    ) -> io::Result<String> {
        #[derive(Serialize)]
        struct EventLine<'a, S, H> {
            at: Timestamp,
            kind: &'static str,
            terminal: &'a str,
            state: S,
            #[serde(flatten)]
            happened: Option<H>,
        }
        json_line(&EventLine { at: self.at(), kind, terminal, state, happened })
    }
}

/// Its status, and what it waits for or does if anything, for people.
pub fn said_of(state: &State) -> (Cow<'static, str>, Option<String>) {
    (Status::of(state).word(), what_or_null(state))
}

/// Makes events of what happens.
pub struct Events {
    pub filter: Filter,
    /// What was pinned and muted when it began.
    pub flags: Flags,
    /// What the filter last let through.
    fitting: BTreeSet<TerminalKey>,
    /// The id under which each terminal was shown.
    shown: BTreeMap<TerminalKey, String>,
    /// The facts of each agent and its repository that were last told, and when.
    told: BTreeMap<TerminalKey, (AgentFacts, Option<Arc<GitFacts>>, Timestamp)>,
    /// When the facts of all agents were last gone through.
    facts_at: Timestamp,
}

impl Events {
    pub fn new(filter: Filter, flags: Flags) -> Self {
        let (fitting, shown, told) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        Self { filter, flags, fitting, shown, told, facts_at: Timestamp::default() }
    }

    /// Whether the filter lets something through, by what it is now, or was last if it is gone.
    fn lets<'a>(&mut self, key: &TerminalKey, item: Option<impl Into<Item<'a>>>, now: Timestamp) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let Some(item) = item else { return self.fitting.remove(key) };
        let fits = self.filter.lets(item.into(), &self.flags, now);
        if fits {
            self.fitting.insert(key.clone());
        } else {
            self.fitting.remove(key);
        }
        fits
    }

    /// The events of what has happened, in the order of their times.
    pub fn of<'a>(
        &mut self,
        happened: impl IntoIterator<Item = Happened<'a>>,
        fleet: &'a Fleet,
        now: Timestamp,
    ) -> Vec<Event<'a>> {
        let mut events = Vec::new();
        // The first event of a terminal includes all that its first poll reported, even transitions.
        let mut new = BTreeSet::new();
        for happened in happened {
            let effect = match happened {
                Happened::Effect(effect) => effect,
                Happened::Intent(intent) => {
                    events.extend(self.of_message(intent, fleet, now));
                    continue;
                }
            };
            match effect {
                Effect::Introduced { key } => {
                    let Some(terminal) = fleet.terminal(key) else { continue };
                    let id = &terminal.state.terminal.id;
                    let was = self.shown.insert(key.clone(), id.clone());
                    if was.is_none() {
                        new.insert(key.clone());
                    }
                    if self.lets(key, Some(terminal), now) && was.as_ref() != Some(id) {
                        events.push(Event::State { state: &terminal.state, was });
                    }
                }
                Effect::Changed(changed) if new.contains(&changed.key) => {}
                Effect::Changed(changed) => {
                    if self.lets(&changed.key, fleet.terminal(&changed.key), now) {
                        events.push(Event::Transition(changed));
                    }
                }
                Effect::Left(left) => {
                    self.shown.remove(&left.key);
                    if self.lets(&left.key, None::<&Terminal>, now) {
                        events.push(Event::Transition(left));
                    }
                }
                Effect::TaskIntroduced { server, window } => {
                    if let Some(task) = fleet.task(server, *window)
                        && self.lets(&task.key, Some(task), now)
                    {
                        events.push(Event::Task(task));
                    }
                }
                Effect::Tasks(batch) => {
                    for event in &batch.events {
                        if self.lets(&event.key, fleet.task(&event.key.server, event.window), now) {
                            events.push(Event::TaskEvent(event));
                        }
                    }
                }
                // Each of them already has an event.
                // Other effects are for the history.
                Effect::TasksFound { .. } | Effect::TaskChanged(_) | Effect::TaskLeft(_) => {}
            }
        }
        // One look shows what began at different times, and tmux servers answer in any order.
        events.sort_by_key(Event::at);
        events
    }

    fn of_message<'a>(&mut self, intent: &'a Intent, fleet: &'a Fleet, now: Timestamp) -> Option<Event<'a>> {
        // An attempt has no result yet, and the outcome of a prompt is told with its input.
        if intent.state == IntentState::Attempted || intent.recipient.is_some() {
            return None;
        }
        let meant = Item::all(&fleet.view(now)).into_iter().find(|item| item.id() == intent.target);
        let is_let = self.filter.is_empty() || meant.is_some_and(|meant| self.lets(meant.key(), Some(meant), now));
        is_let.then(|| Event::FollowUp { at: now, intent, state: state_of(fleet, &intent.target, now) })
    }

    /// The event of what was sent into a terminal of this fleet, and its outcome; the same as in `history`.
    pub fn of_input<'a>(&mut self, input: &'a Stored, fleet: &'a Fleet, now: Timestamp) -> Option<Event<'a>> {
        let is_here = |key: &TerminalKey| input.key.as_ref().is_some_and(|sent_to| key.may_be(sent_to));
        let meant = Item::all(&fleet.view(input.at)).into_iter().find(|item| is_here(item.key()))?;
        let is_let = self.lets(meant.key(), Some(meant), now);
        is_let.then(|| Event::Input { input, state: state_of(fleet, &input.name, input.at) })
    }

    /// The events of agents with new facts but the same state. People read those elsewhere.
    pub fn of_facts<'a>(&mut self, fleet: &'a Fleet, now: Timestamp) -> Vec<Event<'a>> {
        let mut events = Vec::new();
        // A new terminal's facts must be noted before they change.
        let has_new = self.shown.len() != self.told.len();
        if now.since(self.facts_at) < WALKED.times(2) && !has_new {
            return events;
        }
        self.facts_at = now;
        self.told.retain(|key, _| self.shown.contains_key(key));
        for terminal in fleet.view(now).terminals {
            if !self.shown.contains_key(&terminal.key) {
                continue;
            }
            let (facts, git) = (&terminal.state.agent, &terminal.state.terminal.git);
            let Some((told, told_git, at)) = self.told.get(&terminal.key) else {
                self.told.insert(terminal.key.clone(), (facts.clone(), git.clone(), now));
                continue;
            };
            let mut changed = facts.changes_from(told);
            if git != told_git {
                changed.push(Change { field: "terminal.git".into(), from: json!(told_git), to: json!(git) });
            }
            if changed.is_empty() || now.since(*at) < FACTS {
                continue;
            }
            if self.lets(&terminal.key, Some(terminal), now) {
                events.push(Event::Facts { at: now, state: &terminal.state, changed });
            }
            self.told.insert(terminal.key.clone(), (facts.clone(), git.clone(), now));
        }
        events
    }
}

/// The public state of the terminal with this name.
fn state_of<'a>(fleet: &'a Fleet, name: &str, at: Timestamp) -> Option<&'a State> {
    let view = fleet.view(at);
    view.terminals.into_iter().map(|terminal| &terminal.state).find(|state| state.terminal.id == name)
}

/// The new problems of servers.
pub fn new_problems(fleet: &Fleet, known: &mut BTreeMap<ServerId, ServerHealth>) -> Vec<(ServerId, Problem)> {
    let is_new =
        |server: &&ServerView| known.insert(server.id.clone(), server.health.clone()).as_ref() != Some(&server.health);
    let changed = fleet.servers().filter(is_new);
    changed.filter_map(|server| Some((server.id.clone(), server.health.problem()?.clone()))).collect()
}
