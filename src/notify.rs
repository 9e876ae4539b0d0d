//! Which notices go out, when and by which means: what the fleet shows and the time in, deliveries out.
//!
//! What a terminal needs must stand for a moment before it is told, so that a dialog that is half drawn makes no
//! notice. Nothing is told twice: a dialog that is covered for a while is the same dialog, and what went while a rule
//! kept its distance is not told any more. Of the processes that watch a server one notifies, its leader; the others keep what
//! they would tell for a while, should the leader end before it has. The driving rule: call [`Notifier::observe`] when something has changed or
//! when [`Notifier::poll_timeout`] has come, then take deliveries from [`Notifier::poll`] until there are none.

mod lane;
mod notice;
mod rule;
mod thing;

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::tz::TimeZone;

use crate::fleet::{ServerId, Terminal, TerminalKey, View};
use crate::task::{Batch, Task};
use crate::time::{Span, Timestamp};
pub use lane::Dispatch;
use lane::Lane;
pub use notice::{Notice, NoticeId, statement};
pub use rule::{Means, NotifyRule, Occasion, QuietHours};
use thing::Thing;

/// How long something must stand until it is told.
const HOLD: Span = Span::from_secs(1);

/// How long a process that does not lead keeps a notice: longer than it takes until it is known that the leader has ended.
const KEPT: Span = Span::from_secs(10);

/// What the operator does not want to be told of.
#[derive(Clone, Copy)]
pub struct Suppression<'a> {
    /// The terminal that is in view while the operator sits in front of it.
    pub looks_at: Option<&'a TerminalKey>,
    /// Which terminals are muted.
    pub is_muted: &'a dyn Fn(&Terminal) -> bool,
    /// The same of a task.
    pub is_task_muted: &'a dyn Fn(&Task) -> bool,
}

impl Suppression<'_> {
    fn wants_to_know_of(&self, terminal: &Terminal) -> bool {
        self.looks_at != Some(&terminal.key) && !(self.is_muted)(terminal)
    }
}

/// Decides what is told outside of the dashboard.
#[derive(Clone, Debug)]
pub struct Notifier {
    lanes: Vec<Lane>,
    /// Where the operator's clock stands, for quiet hours.
    zone: TimeZone,
    known: HashMap<TerminalKey, Known>,
    /// Servers that were looked at before: what their first look shows is no news.
    servers: HashSet<ServerId>,
    muted: bool,
    /// What the leaders of other servers have to tell, and since when.
    kept: Vec<(Timestamp, Notice)>,
    /// What they have seen to before it was due here, and when.
    told_there: Vec<(Timestamp, NoticeId)>,
    /// What went out since it was last asked, or need not.
    handled: Vec<NoticeId>,
    /// Counts the looks, to tell which terminals are still there.
    look: u64,
}

/// What is known of one terminal.
#[derive(Clone, Debug)]
struct Known {
    thing: Option<Thing>,
    /// Since when it stands.
    since: Timestamp,
    /// What was told last, or was not because nobody wanted to know.
    told: Option<Thing>,
    look: u64,
}

impl Known {
    fn due(&self) -> Option<Timestamp> {
        (self.thing.is_some() && self.thing != self.told).then(|| self.since + HOLD)
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
            told_there: Vec::new(),
            handled: Vec::new(),
            look: 0,
        }
    }

    /// Follows other rules from now on; the same ones again go on as they are.
    pub fn obey(&mut self, rules: &[NotifyRule]) {
        if !self.lanes.iter().map(Lane::rule).eq(rules) {
            self.lanes = rules.iter().cloned().map(Lane::new).collect();
        }
    }

    /// Mutes everything, or lets the rules hold again. What happens in the meantime is not told later.
    pub fn mute(&mut self, muted: bool) {
        self.muted = muted;
        if muted {
            self.lanes.iter_mut().for_each(Lane::clear);
        }
    }

    /// Takes in what the fleet shows now; `leads` says of which servers this process notifies.
    pub fn observe(&mut self, view: &View<'_>, operator: Suppression<'_>, leads: &dyn Fn(&ServerId) -> bool) {
        self.look += 1;
        for terminal in &view.terminals {
            if let Some(thing) = self.due_thing(terminal, view.now) {
                self.kept.push((view.now, Notice::of_attention(terminal, thing, view.now)));
            }
        }
        let look = self.look;
        self.known.retain(|_, known| known.look == look);
        let answered = view.servers.iter().filter(|server| server.answered_at.is_some());
        self.servers.extend(answered.map(|server| server.id.clone()));
        self.told_there.retain(|(at, _)| view.now.since(*at) < KEPT);
        for (at, notice) in std::mem::take(&mut self.kept) {
            let id = notice.id();
            if let Some(told) = self.told_there.iter().position(|(_, told)| *told == id) {
                self.told_there.remove(told);
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

    /// Takes in what happened to tasks; that is told with the next look, because it does not pass.
    pub fn tasks(&mut self, batch: &Batch, now: Timestamp) {
        self.kept.extend(batch.events.iter().map(|event| (now, Notice::of_task(event))));
    }

    /// The next delivery that is due, of what this process notifies.
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

    /// What went out since the last call, or need not; the other processes are to be told.
    pub fn take_handled(&mut self) -> Vec<NoticeId> {
        std::mem::take(&mut self.handled)
    }

    /// Another process leads a server, and what this one knows of it comes from there: that is no news.
    pub fn follow(&mut self, server: &ServerId) {
        self.kept.retain(|(_, notice)| notice.key.server != *server);
        self.known.retain(|key, _| key.server != *server);
        self.servers.remove(server);
    }

    /// Another process has seen to a notice, which may not be due here yet.
    pub fn handled(&mut self, handled: NoticeId, now: Timestamp) {
        self.told_there.push((now, handled));
    }

    /// When to call [`Notifier::observe`] and [`Notifier::poll`] again at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let known = self.known.values().filter_map(Known::due);
        known.chain(self.lanes.iter().filter_map(Lane::due)).min()
    }

    /// What is to be told of a terminal now; from here on it counts as told.
    fn due_thing(&mut self, terminal: &Terminal, now: Timestamp) -> Option<Thing> {
        let thing = Thing::of(&terminal.state);
        let is_news = self.servers.contains(&terminal.key.server);
        let known = self.known.entry(terminal.key.clone()).or_insert_with(|| Known {
            thing: None,
            since: now,
            told: if is_news { None } else { thing.clone() },
            look: 0,
        });
        known.look = self.look;
        if known.thing != thing {
            known.thing = thing;
            known.since = now;
        }
        if known.thing.is_none() && Thing::is_over(&terminal.state) {
            known.told = None;
        }
        known.due().filter(|due| *due <= now)?;
        known.told = known.thing.clone();
        known.thing.clone()
    }

    fn tell(&mut self, notice: Notice, now: Timestamp) {
        let (mut used, mut is_wanted) = (BTreeSet::new(), false);
        if self.muted {
            return self.handled.push(notice.id());
        }
        // One notice rings once, however many rules want it to; each rule's own command runs.
        for lane in &mut self.lanes {
            if !lane.rule().wants(&notice, now, &self.zone) {
                continue;
            }
            let means: BTreeSet<Means> = lane.rule().by.difference(&used).copied().collect();
            used.extend(means.iter().copied().filter(|&means| means != Means::Command));
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

#[cfg(test)]
mod tests;
