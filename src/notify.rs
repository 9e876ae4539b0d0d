//! Which notices go out, when and how: the fleet's state and the time in, deliveries out.
//!
//! What a terminal needs must last for a moment before it is announced, so that a half-drawn dialog makes no
//! notice. Nothing is announced twice: a dialog that is covered for a while is the same dialog, and what is over before a rule's
//! minimum distance has passed is dropped. Of the processes that watch a server one notifies, its leader; the others keep what
//! they would announce for a while, should the leader end before it has. The driving rule: call [`Notifier::observe`]
//! when something has changed or when [`Notifier::poll_timeout`] has come, then take deliveries from [`Notifier::poll`]
//! until there are none.

mod rule;

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dialog::{Dialog, asked};
use crate::fleet::{ServerId, Terminal, TerminalKey, View};
use crate::screen::harmless;
use crate::state::{Attention, Phase, State};
use crate::task::{Batch, Task, TaskEvent};
use crate::time::{Span, Timestamp};
use crate::tracker::{HANDOVER, STABLE};

pub use rule::{COMMAND_DEADLINE, Means, NotifyRule, Occasion, QuietHours, Webhook, WebhookShape};

/// How long a process that does not lead keeps a notice: longer than it takes until it is known that the leader has ended.
const KEPT: Span = HANDOVER.times(2);

/// What the operator does not want announced.
#[derive(Clone, Copy)]
pub struct Suppression<'a> {
    /// The terminal that is in view while the operator sits in front of it.
    pub looks_at: Option<&'a TerminalKey>,
    /// Which terminals are muted.
    pub is_muted: &'a dyn Fn(&Terminal) -> bool,
    /// Whether a task is muted.
    pub is_task_muted: &'a dyn Fn(&Task) -> bool,
}

impl Suppression<'static> {
    /// Where nobody sits in front of it, only the configuration mutes.
    pub const NOBODY: Self =
        Self { looks_at: None, is_muted: &|terminal| terminal.declared.muted, is_task_muted: &|_| false };
}

impl Suppression<'_> {
    fn wants_to_know_of(&self, terminal: &Terminal) -> bool {
        self.looks_at != Some(&terminal.key) && !(self.is_muted)(terminal)
    }
}

/// Decides what is announced outside the dashboard.
#[derive(Clone, Debug)]
pub struct Notifier {
    lanes: Vec<Lane>,
    /// The operator's time zone, for quiet hours.
    zone: TimeZone,
    known: HashMap<TerminalKey, Known>,
    /// Servers that were polled before: what their first poll shows is no news.
    servers: HashSet<ServerId>,
    muted: bool,
    /// Notices that other leaders should send, and since when.
    kept: Vec<(Timestamp, Notice)>,
    /// Notices that other leaders handled before they were due here, and when.
    reported_there: Vec<(Timestamp, NoticeId)>,
    /// Notices that went out, or need not, since the last [`Notifier::take_handled`].
    handled: Vec<NoticeId>,
    /// Counts the polls, to know which terminals are still there.
    poll: u64,
}

/// What is known of one terminal.
#[derive(Clone, Debug)]
struct Known {
    thing: Option<Thing>,
    /// Since when it stands.
    since: Timestamp,
    /// What was announced last, or was not because nobody wanted to know.
    reported: Option<Thing>,
    poll: u64,
}

impl Known {
    fn due(&self) -> Option<Timestamp> {
        (self.thing.is_some() && self.thing != self.reported).then(|| self.since + STABLE)
    }
}

impl Notifier {
    /// A notifier that has seen nothing yet.
    pub fn new(rules: Vec<NotifyRule>, zone: TimeZone) -> Self {
        let lanes = rules.into_iter().map(Lane::new).collect();
        Self {
            lanes,
            zone,
            known: HashMap::new(),
            servers: HashSet::new(),
            muted: false,
            kept: Vec::new(),
            reported_there: Vec::new(),
            handled: Vec::new(),
            poll: 0,
        }
    }

    /// Follows other rules from now on; the same ones again go on as they are.
    pub fn set_rules(&mut self, rules: &[NotifyRule]) {
        if !self.lanes.iter().map(|lane| &lane.rule).eq(rules) {
            self.lanes = rules.iter().cloned().map(Lane::new).collect();
        }
    }

    /// Mutes everything, or ends that. Events in the meantime are not announced later.
    pub fn mute(&mut self, muted: bool) {
        self.muted = muted;
        if muted {
            self.lanes.iter_mut().for_each(|lane| lane.waiting.clear());
        }
    }

    /// Handles the present view; `leads` says for which servers this process notifies.
    pub fn observe(&mut self, view: &View<'_>, operator: Suppression<'_>, leads: &dyn Fn(&ServerId) -> bool) {
        self.poll += 1;
        for terminal in &view.terminals {
            if let Some(thing) = self.due_thing(terminal, view.now) {
                self.kept.push((view.now, Notice::of_attention(terminal, thing, view.now)));
            }
        }
        let poll = self.poll;
        self.known.retain(|_, known| known.poll == poll);
        let answered = view.servers.iter().filter(|server| server.answered_at.is_some());
        self.servers.extend(answered.map(|server| server.id.clone()));
        self.reported_there.retain(|(at, _)| view.now.since(*at) < KEPT);
        for (at, notice) in std::mem::take(&mut self.kept) {
            let id = notice.id();
            if let Some(reported) = self.reported_there.iter().position(|(_, reported)| *reported == id) {
                self.reported_there.remove(reported);
                continue;
            }
            let terminal = view.terminals.iter().find(|terminal| terminal.key == notice.key);
            if !leads(&notice.key.server) {
                self.kept.extend((view.now.since(at) < KEPT).then_some((at, notice)));
            } else if notice.thing.is_none() || terminal.is_some_and(|terminal| operator.wants_to_know_of(terminal)) {
                self.tell(notice, view.now);
            } else {
                self.handled.push(id);
            }
        }
    }

    /// Handles task events, which go out with the next poll because they cannot pass.
    pub fn tasks(&mut self, batch: &Batch, now: Timestamp) {
        self.kept.extend(batch.events.iter().map(|event| (now, Notice::of_task(event))));
    }

    /// The next due delivery of this process.
    pub fn poll(&mut self, now: Timestamp, leads: &dyn Fn(&ServerId) -> bool) -> Option<Dispatch> {
        let Self { lanes, known, handled, .. } = self;
        let stands = |notice: &Notice| {
            let is_so = notice
                .thing
                .as_ref()
                .is_none_or(|thing| known.get(&notice.key).is_some_and(|known| known.thing.as_ref() == Some(thing)));
            is_so && leads(&notice.key.server)
        };
        lanes.iter_mut().find_map(|lane| lane.take(now, stands, handled))
    }

    /// The notices that went out, or need not, since the last call, for the other processes.
    pub fn take_handled(&mut self) -> Vec<NoticeId> {
        std::mem::take(&mut self.handled)
    }

    /// Another process leads a server, and what this one knows of it comes from there: that is no news.
    pub fn follow(&mut self, server: &ServerId) {
        self.kept.retain(|(_, notice)| notice.key.server != *server);
        self.known.retain(|key, _| key.server != *server);
        self.servers.remove(server);
    }

    /// Another process has handled a notice, which may not be due here yet.
    pub fn handled(&mut self, handled: NoticeId, now: Timestamp) {
        self.reported_there.push((now, handled));
    }

    /// When to call [`Notifier::observe`] and [`Notifier::poll`] again at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let known = self.known.values().filter_map(Known::due);
        known.chain(self.lanes.iter().filter_map(Lane::due)).min()
    }

    /// The terminal's due event, which counts as announced from here on.
    fn due_thing(&mut self, terminal: &Terminal, now: Timestamp) -> Option<Thing> {
        let thing = Thing::of(&terminal.state);
        let is_news = self.servers.contains(&terminal.key.server);
        let known = self.known.entry(terminal.key.clone()).or_insert_with(|| Known {
            thing: None,
            since: now,
            reported: None,
            poll: 0,
        });
        known.poll = self.poll;
        if known.thing != thing {
            known.thing = thing;
            known.since = now;
            if !is_news {
                known.reported.clone_from(&known.thing);
            }
        }
        if known.thing.is_none() && Thing::is_over(&terminal.state) {
            known.reported = None;
        }
        known.due().filter(|due| *due <= now)?;
        known.reported = known.thing.clone();
        known.thing.clone()
    }

    fn tell(&mut self, notice: Notice, now: Timestamp) {
        let (mut used, mut is_wanted) = (BTreeSet::new(), false);
        if self.muted {
            return self.handled.push(notice.id());
        }
        // One notice rings once, however many rules want it to; each rule's own command runs, and its own web hook is posted to.
        for lane in &mut self.lanes {
            if !notice.is_wanted_by(&lane.rule, now, &self.zone) {
                continue;
            }
            let means: BTreeSet<Means> = lane.rule.by.difference(&used).copied().collect();
            used.extend(means.iter().copied().filter(|means| !matches!(means, Means::Command | Means::Webhook)));
            if !means.is_empty() {
                is_wanted = true;
                lane.push(notice.clone(), means);
            }
        }
        if !is_wanted {
            self.handled.push(notice.id());
        }
    }
}

// What a terminal needs, told apart from the next thing of the same kind.

/// One thing to announce once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Thing {
    pub occasion: Occasion,
    mark: Mark,
}

/// Distinguishes a thing from the next one of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mark {
    /// A dialog by its words; the mark of the selected option moves.
    Dialog(String),
    /// The end of a turn by its time.
    TurnEnd(Option<Timestamp>),
    /// There is only one until it is over.
    Condition,
}

impl Thing {
    /// What a terminal in a state needs; `None` when it needs nothing.
    pub fn of(state: &State) -> Option<Self> {
        let occasion = Occasion::of_state(state)?;
        let mark = match occasion {
            Occasion::Limit if state.attention == Attention::Failed => Mark::TurnEnd(state.last_turn.at),
            Occasion::Approval | Occasion::Question | Occasion::Trust | Occasion::Setup | Occasion::Limit => {
                let excerpt = state.assessment.operator_excerpt.as_deref().unwrap_or_default();
                Mark::Dialog(excerpt.chars().filter(|c| c.is_alphanumeric()).collect())
            }
            Occasion::Failed | Occasion::Interrupted | Occasion::Finished => Mark::TurnEnd(state.last_turn.at),
            _ => Mark::Condition,
        };
        Some(Self { occasion, mark })
    }

    /// Whether what was announced before is over, so that the same may be announced again: the agent works or is ready.
    /// While nothing is known of a screen, a dialog may still be behind what covers it.
    pub fn is_over(state: &State) -> bool {
        state.turn.phase != Phase::Unknown
    }
}

// What waits to go out by one rule, and when it may.

/// Notices that wait for one rule at most; the oldest ones make room.
const WAITING: usize = 64;
/// Notices that a delivery names in its text.
const NAMED: usize = 3;

/// One rule at work.
#[derive(Clone, Debug)]
struct Lane {
    rule: NotifyRule,
    /// When something last went out.
    last: Option<Timestamp>,
    waiting: Vec<(Notice, BTreeSet<Means>)>,
}

/// The notices that go out together by one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// By which means.
    pub by: BTreeSet<Means>,
    /// The rule; its command and its deadline are wanted for [`Means::Command`].
    pub rule: NotifyRule,
    /// Oldest first, never empty.
    pub notices: Vec<Notice>,
}

impl Dispatch {
    /// Everything in one line: one notice in its own words, several by their first ones and a count.
    pub fn text(&self) -> String {
        let named: Vec<&str> = self.notices.iter().take(NAMED).map(|notice| notice.text.as_str()).collect();
        match self.notices.len().saturating_sub(NAMED) {
            0 => named.join("; "),
            more => format!("{}; and {more} more", named.join("; ")),
        }
    }

    /// The events for a program: one JSON object a line.
    pub fn lines(&self) -> String {
        self.notices.iter().map(|notice| format!("{}\n", notice.document)).collect()
    }
}

impl Lane {
    fn new(rule: NotifyRule) -> Self {
        Self { rule, last: None, waiting: Vec::new() }
    }

    fn push(&mut self, notice: Notice, means: BTreeSet<Means>) {
        if self.waiting.len() == WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((notice, means));
    }

    /// When what waits may go out.
    fn due(&self) -> Option<Timestamp> {
        let first = (!self.waiting.is_empty()).then_some(Timestamp::default())?;
        Some(self.last.map_or(first, |last| last + self.rule.minimum_distance))
    }

    /// What goes out now; what no longer stands is forgotten, and is among what is `handled`.
    fn take(
        &mut self,
        now: Timestamp,
        stands: impl Fn(&Notice) -> bool,
        handled: &mut Vec<NoticeId>,
    ) -> Option<Dispatch> {
        self.due().filter(|due| *due <= now)?;
        handled.extend(self.waiting.iter().map(|(notice, _)| notice.id()));
        let (notices, means): (Vec<Notice>, Vec<BTreeSet<Means>>) =
            self.waiting.drain(..).filter(|(notice, _)| stands(notice)).unzip();
        if notices.is_empty() {
            return None;
        }
        self.last = Some(now);
        Some(Dispatch { by: means.into_iter().flatten().collect(), rule: self.rule.clone(), notices })
    }
}

// One thing in words, for people and for programs.

/// The longest text of one notice, in characters.
const LONGEST: usize = 160;

/// One announcement.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub key: TerminalKey,
    /// The terminal's name.
    pub name: String,
    pub occasion: Occasion,
    /// Whether it is the bad end of a task.
    pub has_failed: bool,
    /// One harmless line that begins with the name.
    pub text: String,
    /// The event for programs: a line of SPEC §12 with `text`; what an agent needs has the kind `attention`.
    pub document: Value,
    /// The condition that must still hold when it goes out.
    thing: Option<Thing>,
}

/// Identifies a notice in all processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeId {
    pub key: TerminalKey,
    pub text: String,
}

impl Notice {
    fn id(&self) -> NoticeId {
        NoticeId { key: self.key.clone(), text: self.text.clone() }
    }

    /// What an agent needs.
    fn of_attention(terminal: &Terminal, thing: Thing, now: Timestamp) -> Self {
        let state = &terminal.state;
        let (name, occasion) = (state.terminal.id.clone(), thing.occasion);
        let text = statement(state, terminal.dialog.as_deref(), occasion);
        let document = json!({
            "at": now, "kind": "attention", "event": occasion, "terminal": name, "text": text, "state": state,
        });
        let has_failed = state.attention == Attention::Failed;
        Self { key: terminal.key.clone(), name, occasion, has_failed, text, document, thing: Some(thing) }
    }

    /// Something that happened to a task.
    fn of_task(event: &TaskEvent) -> Self {
        let occasion = Occasion::of_task(&event.happening);
        let text = sentence(&event.text(), None);
        let mut document = json!({ "at": event.at, "kind": "task_event", "terminal": event.id, "text": text });
        if let (Some(document), Value::Object(happening)) = (document.as_object_mut(), json!(event.happening)) {
            document.extend(happening);
            document.insert("state".to_owned(), json!(event.state));
        }
        let has_failed = event.happening.is_failure();
        Self { key: event.key.clone(), name: event.id.clone(), occasion, has_failed, text, document, thing: None }
    }

    fn is_wanted_by(&self, rule: &NotifyRule, now: Timestamp, zone: &TimeZone) -> bool {
        self.occasion.is_among(&rule.on, self.has_failed)
            && rule.terminal.as_ref().is_none_or(|pattern| pattern.matches(&self.name))
            && !rule.quiet_hours.is_some_and(|hours| hours.hold(now, zone))
    }
}

/// What an agent needs or has done, in one line.
pub fn statement(state: &State, dialog: Option<&Dialog>, occasion: Occasion) -> String {
    let (activity, detail) = (&state.activity, &state.last_turn.detail);
    let (said, unwatched) = match occasion {
        Occasion::Failed | Occasion::Interrupted => (detail.clone(), is_unwatched(state)),
        // The answer of a turn that is not the latest one any more is not the agent's activity.
        Occasion::Finished => (detail.as_ref().or(activity.as_ref()).cloned(), detail.is_some() || is_unwatched(state)),
        Occasion::Stalled | Occasion::Gone => (None, false),
        _ => (asked(state, dialog).or_else(|| activity.clone()), false),
    };
    let unwatched = if unwatched { ", its end was not watched" } else { "" };
    sentence(&format!("{} {}{unwatched}", state.terminal.id, predicate(occasion)), said.as_deref())
}

/// Whether the end of the last turn, which is what the operator is wanted for, was found after nobody had watched.
fn is_unwatched(state: &State) -> bool {
    state.attention.is_about_the_past() && !state.since_exact
}

/// What an agent does, behind its name.
const fn predicate(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::Approval => "asks for approval",
        Occasion::Question => "has a question",
        Occasion::Trust => "asks for trust",
        Occasion::Setup => "waits in a setup dialog",
        Occasion::Limit => "asks what to do about its limit",
        Occasion::Failed => "failed",
        Occasion::Interrupted => "was interrupted",
        Occasion::Finished => "has finished",
        Occasion::Stalled => "has stalled",
        Occasion::Gone => "is gone",
        // Those of tasks say it themselves.
        Occasion::Started | Occasion::Exited | Occasion::Notify | Occasion::Input | Occasion::Disappeared => {
            "is a task"
        }
    }
}

/// A statement and what the terminal itself says to it, on one line of bounded length.
fn sentence(statement: &str, said: Option<&str>) -> String {
    let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|said| !said.is_empty());
    let whole = harmless(&said.map_or(statement.to_owned(), |said| format!("{statement}: {said}")));
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

#[cfg(test)]
mod tests;
