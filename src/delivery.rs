//! What goes out of fleetwatch: to the operator by bells, notices, commands and web hooks, to agents by follow-ups.
//!
//! [`crate::notify`] and [`crate::follow_up`] decide what goes out, when and how; this module sends it, and reports each
//! failure once.

mod carrier;
mod outbox;
pub mod post;
mod program;
mod trouble;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::tz::TimeZone;
use tokio::sync::mpsc::UnboundedSender;

use crate::clock;
use crate::config::Config;
use crate::fleet::{Effect, Fleet, ServerHealth, ServerId, ServerView, TerminalKey, View};
use crate::history::{History, ServerSummary};
use crate::ids::WindowId;
use crate::notify::{Dispatch, Means, NoticeId, Notifier, Suppression};
use crate::owner::Lead;
use crate::present::events::WALKED;
use crate::sender::Sender;
use crate::task::{Batch, Happening};
use crate::time::Timestamp;
use crate::tmux::{self, Server};
use carrier::Carrier;
pub use carrier::{Around, desktop};
use outbox::{Outbox, OutboxSettings};
pub use trouble::DeliveryEvent;

/// Delivers notices and follow-ups while the fleet is watched.
#[derive(Debug)]
pub struct Dispatcher {
    notifier: Notifier,
    carrier: Carrier,
    outbox: Option<Outbox>,
    outbox_settings: OutboxSettings,
    summaries: Summaries,
    history: History,
    tmux: tmux::Settings,
    /// The servers for which this process acts, as long as the lead holds.
    leads: BTreeMap<ServerId, Lead>,
    /// Whether there is a terminal that can ring.
    has_terminal: bool,
    /// Whether the operator may get any notice at all.
    has_notices: bool,
    notices: NoticeSchedule,
}

impl Dispatcher {
    /// By the rules of the configuration. Must be called within the runtime.
    pub fn start(
        config: &Config,
        history: &History,
        has_terminal: bool,
        (sender, tmux): (Sender, tmux::Settings),
        events: UnboundedSender<DeliveryEvent>,
    ) -> Self {
        let outbox_settings = OutboxSettings { history: history.clone(), sender, events: events.clone() };
        Self {
            history: history.clone(),
            tmux,
            leads: BTreeMap::new(),
            has_terminal,
            notifier: Notifier::new(config.notices(), TimeZone::system()),
            carrier: Carrier::new(Around::of_process(), events),
            has_notices: !config.notices().is_empty(),
            outbox: outbox::open(&outbox_settings, &config.follow_up),
            outbox_settings,
            summaries: Summaries::new(history.clone()),
            notices: NoticeSchedule::default(),
        }
    }

    /// With the lead this process acts for a server; without it another one does.
    pub fn lead(&mut self, server: ServerId, lead: Option<Lead>) {
        self.notices.last = None;
        let held = lead.as_ref().map(Lead::held);
        self.history.lead(server.clone(), held.clone());
        if let Some(outbox) = &self.outbox {
            outbox.lead(&server, held);
        }
        match lead {
            Some(lead) => drop(self.leads.insert(server, lead)),
            None => {
                self.leads.remove(&server);
                self.notifier.follow(&server);
            }
        }
    }

    /// The leader of its server has handled a notice.
    pub fn handled(&mut self, notice: NoticeId) {
        self.notices.last = None;
        self.notifier.handled(notice, clock::now());
    }

    /// Follows other rules from now on.
    pub fn set_config(&mut self, config: &Config) {
        self.notices.last = None;
        self.notifier.set_rules(&config.notices());
        match &mut self.outbox {
            Some(outbox) => outbox.set_rules(&config.follow_up),
            none => {
                *none = outbox::open(&self.outbox_settings, &config.follow_up);
                let leads = none.iter().flat_map(|new| self.leads.iter().map(move |lead| (new, lead)));
                leads.for_each(|(new, (server, lead))| new.lead(server, Some(lead.held())));
            }
        }
        self.has_notices = !config.notices().is_empty();
    }

    /// Mutes notices to the operator, or ends that. Follow-ups to agents still go out.
    pub fn mute(&mut self, muted: bool) {
        self.notifier.mute(muted);
    }

    /// Keeps an effect in the history and handles it; the next [`Dispatcher::follow`] delivers it.
    pub fn effect(&mut self, effect: &Effect, fleet: &Fleet, now: Timestamp) {
        self.history.effect(effect, fleet, now);
        self.outbox.iter_mut().for_each(|outbox| outbox.note(effect));
        let Effect::Tasks(batch) = effect else { return };
        self.notifier.tasks(batch, now);
        self.notices.last = None;
        if self.leads(&batch.server) {
            note_ends(batch, fleet, &self.tmux);
        }
    }

    /// Whether this process acts for a server.
    fn leads(&self, server: &ServerId) -> bool {
        self.leads.get(server).is_some_and(Lead::holds)
    }

    /// Takes in what the fleet shows now. What is due is carried out; the rest is to be written to the operator's
    /// terminal.
    pub fn follow(&mut self, view: &View<'_>, operator: Suppression<'_>) -> Vec<u8> {
        let leads = |server: &ServerId| self.leads.get(server).is_some_and(Lead::holds);
        self.summaries.follow(view, operator, &leads);
        if let Some(outbox) = &mut self.outbox {
            outbox.follow(view, &leads);
        }
        if !self.has_notices || !self.notices.are_followed(view) {
            return Vec::new();
        }
        self.notifier.observe(view, operator, &leads);
        let mut bytes = Vec::new();
        let deliveries: Vec<Dispatch> = std::iter::from_fn(|| self.notifier.poll(view.now, &leads)).collect();
        self.notices.due = self.notifier.poll_timeout();
        // The others know it first: should this process be killed now, nothing is announced twice.
        for notice in self.notifier.take_handled() {
            let lead = self.leads.get(&notice.key.server);
            lead.into_iter().for_each(|lead| lead.handled(notice.clone()));
        }
        for delivery in deliveries {
            let is_for_terminals = |means: &Means| matches!(means, Means::Bell | Means::Osc9 | Means::Osc777);
            let able = |means: &Means| self.has_terminal || !is_for_terminals(means);
            let by: BTreeSet<Means> = delivery.by.iter().copied().filter(able).collect();
            bytes.extend(self.carrier.carry_out(&Dispatch { by, ..delivery }));
        }
        bytes
    }

    /// When to call [`Dispatcher::follow`] again at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let notices = if self.has_notices { self.notices.poll_timeout() } else { None };
        let follow_ups = self.outbox.as_ref().and_then(Outbox::poll_timeout);
        [notices, follow_ups, self.summaries.poll_timeout()].into_iter().flatten().min()
    }

    /// Waits until no message to an agent is under way.
    pub async fn finish(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.finish().await;
        }
    }
}

/// When to check for new notices.
#[derive(Debug, Default)]
struct NoticeSchedule {
    /// The version of the view that was checked last, and when; `None` when something else has changed.
    last: Option<(Option<u64>, Timestamp)>,
    /// Whether something may have changed since.
    is_behind: bool,
    /// When a notice is due.
    due: Option<Timestamp>,
}

impl NoticeSchedule {
    /// Whether it is checked now: something may have changed, or is due, and the last time was a while ago.
    fn are_followed(&mut self, view: &View<'_>) -> bool {
        let now = view.now;
        if let Some((version, at)) = self.last {
            let has_changed = version.is_none() || version != view.version;
            let is_due = self.due.is_some_and(|due| due <= now);
            // A clock that was set back says nothing of how long ago it was.
            self.is_behind = has_changed && !is_due && (at..at + WALKED).contains(&now);
            if self.is_behind || !(has_changed || is_due) {
                return false;
            }
        }
        (self.last, self.is_behind) = (Some((view.version, now)), false);
        true
    }

    /// When it has to be checked again at the latest.
    fn poll_timeout(&self) -> Option<Timestamp> {
        let behind = self.last.filter(|_| self.is_behind).map(|(_, at)| at + WALKED);
        [self.due, behind].into_iter().flatten().min()
    }
}

/// Keeps the summary of each server in the history, for processes that must not poll tmux again.
#[derive(Debug)]
struct Summaries {
    history: History,
    /// The summaries written last.
    last: HashMap<ServerId, ServerSummary>,
    /// The version of the view that they were compared with, and when; whether something may have changed since.
    followed: Option<(Option<u64>, Timestamp)>,
    is_behind: bool,
}

impl Summaries {
    fn new(history: History) -> Self {
        Self { history, last: HashMap::new(), followed: None, is_behind: false }
    }

    /// Writes the summaries that changed, for the servers that this process leads.
    fn follow(&mut self, view: &View<'_>, operator: Suppression<'_>, leads: &dyn Fn(&ServerId) -> bool) {
        if self.history.path().is_none() {
            return;
        }
        // Of a hundred servers there is news all the time.
        if let Some((version, _)) = self.followed.filter(|(_, at)| view.now.since(*at) < WALKED) {
            // Another view is due; what else has changed can wait until the next one.
            self.is_behind |= version.is_none() || version != view.version;
            return;
        }
        (self.followed, self.is_behind) = (Some((view.version, view.now)), false);
        // The rows of a silent server say so, and one that never answered has none.
        let answers = |server: &&&ServerView| match server.health {
            ServerHealth::Up | ServerHealth::NoServer(_) => !server.is_waiting(),
            ServerHealth::Failed(_) => server.answered_at.is_some(),
            ServerHealth::Waiting => false,
        };
        let answering = view.servers.iter().filter(answers).filter(|server| leads(&server.id));
        let answering: Vec<&&ServerView> = answering.collect();
        let ids: HashSet<&ServerId> = answering.iter().map(|server| &server.id).collect();
        for (_, last) in self.last.extract_if(|id, _| !ids.contains(id)) {
            self.history.summarize(ServerSummary { is_left: true, ..last });
        }
        for server in answering {
            let summary = ServerSummary::of(view, &server.id, operator.is_muted, operator.is_task_muted);
            let is_same = |last: &ServerSummary| ServerSummary { at: last.at, ..summary.clone() } == *last;
            if !self.last.get(&server.id).is_some_and(is_same) {
                self.history.summarize(summary.clone());
                self.last.insert(server.id.clone(), summary);
            }
        }
    }

    /// When something has to be written again at the latest.
    fn poll_timeout(&self) -> Option<Timestamp> {
        self.followed.filter(|_| self.is_behind).map(|(_, at)| at + WALKED)
    }
}

/// Notes in tmux that the ends of what `fleetwatch run` started have been reported, so that no later watcher reports them
/// again.
fn note_ends(batch: &Batch, fleet: &Fleet, tmux: &tmux::Settings) {
    let was_run = |window: WindowId| {
        let task = fleet.task(&batch.server, window).filter(|task| task.registration.at().is_some())?;
        Some((task.key.clone(), window))
    };
    let ends = batch.events.iter().filter(|event| matches!(event.happening, Happening::Exited { .. }));
    let ended: Vec<(TerminalKey, WindowId)> = ends.filter_map(|event| was_run(event.window)).collect();
    if ended.is_empty() {
        return;
    }
    let (server, tmux) = (batch.server.clone(), tmux.clone());
    tokio::spawn(async move {
        let Ok(server) = Server::new(server, tmux) else { return };
        if let Err(error) = server.ends_were_reported(&ended).await {
            tracing::warn!(server = %server.id(), %error, "ends may be reported twice");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Input, PollResult, ServerReport, Settings};

    #[test]
    fn what_changes_all_the_time_is_checked_now_and_then() {
        let mut fleet = Fleet::new(Settings::default(), ProfileSet::builtin().into());
        let mut notices = NoticeSchedule::default();
        let begin = Timestamp::from_millis(1_800_000_000_000);
        let moment = Span::from_millis(1);
        assert!(notices.are_followed(&fleet.view(begin)));
        assert!(!notices.are_followed(&fleet.view(begin + WALKED + WALKED)), "nothing has changed");
        fleet.handle(Input::TimePassed, begin);
        assert!(!notices.are_followed(&fleet.view(begin + moment)));
        assert_eq!(notices.poll_timeout(), Some(begin + WALKED), "it is not forgotten");
        assert!(notices.are_followed(&fleet.view(begin + WALKED)));
        assert_eq!(notices.poll_timeout(), None);
        fleet.handle(Input::TimePassed, begin);
        let set_back = begin + Span::from_millis(1) - Span::from_secs(3600);
        assert!(notices.are_followed(&fleet.view(set_back)));
        notices.due = Some(begin);
        assert!(notices.are_followed(&fleet.view(begin)), "what is due waits for no change");
        fleet.handle(Input::TimePassed, begin);
        notices.due = Some(begin + moment);
        assert!(
            notices.are_followed(&fleet.view(begin + moment)),
            "and is not put off, to be asked for without a pause"
        );
    }
    use crate::profile::ProfileSet;
    use crate::state::Problem;
    use crate::time::Span;

    #[test]
    fn a_server_that_answers_no_more_is_summed_up_as_its_rows_are_and_one_that_never_did_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = Some(directory.path().join("history.db"));
        let history = History::start(&crate::history::Settings { path, ..crate::history::Settings::default() });
        let mut summaries = Summaries::new(history);
        let mut fleet = Fleet::new(Settings::default(), ProfileSet::builtin().into());
        let begin = Timestamp::from_millis(1_800_000_000_000);
        let mut follow = |outcome, now| {
            let server = ServerId::default();
            fleet.handle(Input::Server(ServerReport::new(server, now, outcome)), now);
            let operator = Suppression { looks_at: None, is_muted: &|_| false, is_task_muted: &|_| false };
            summaries.follow(&fleet.view(now), operator, &|_| true);
            summaries.poll_timeout()
        };
        let problem = Problem { kind: "failed".to_owned(), message: "no route".to_owned() };
        let failed = || PollResult::Failed(problem.clone());
        assert_eq!(follow(failed(), begin - WALKED), None);
        assert_eq!(follow(PollResult::Listed(Vec::new()), begin), None);
        let soon = begin + Span::from_millis(1);
        assert_eq!(follow(failed(), soon), Some(begin + WALKED), "it is checked again");
        assert_eq!(follow(failed(), begin + WALKED), None, "with why it does not answer");
    }
}
