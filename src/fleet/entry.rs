//! One terminal of the fleet: which profile reads it, its tracker, and what is shown of it.

mod agent;
mod parts;
mod told;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::tz::TimeZone;
pub(super) use parts::KEEP_UNSEEN;
use parts::{Agent, Beside, Departure};
pub(super) use parts::{ToldTerminal, UntoldTerminal};

use super::view::{Capture, Declared, PaneReport, STANDS_STILL, Terminal, place_of};
use super::why::{Why, no_record};
use crate::agent_record::RecordedTurn;
use crate::dialog::Recorded;
use crate::hash::fast;
use crate::ids::TerminalKey;
use crate::profile::{Classification, ProfileSet, Program, RefusedInputs, TakenAs};
use crate::screen::{KeptScreen, PaneFacts, Screen};
use crate::state::{Availability, KeptNote, LEFT, Note, ParseStatus, Problem, Stale, State, TerminalFacts, Transition};
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::tracker::{
    self, Assessed, GoneReason, Observation, SurfaceEvent, TerminalHistory, Timer, Tracker, surface_events,
};

/// Named events that are kept for each terminal.
const KEPT_EVENTS: usize = 64;

/// One terminal with all that is known of it.
#[derive(Debug)]
pub(super) struct Entry {
    terminal: Terminal,
    cwd: Option<String>,
    settings: tracker::Settings,
    tracker: Tracker,
    /// What the owner of its server tells beside the terminal; `None` where this process has the tracker.
    beside: Option<Beside>,
    /// The history's knowledge of it, until its first poll.
    known: Option<Box<TerminalHistory>>,
    /// Whether its screen was not captured yet.
    is_unread: bool,
    agent: Option<Agent>,
    gone: Option<Departure>,
    /// When something is due of it, as the fleet has noted it.
    pub(super) due: Option<Timestamp>,
    /// When the text of its screen was last seen to change.
    printed_at: Option<Timestamp>,
    /// A hash of the last captured screen's normalized text.
    text_hash: u64,
    assessed: Option<Assessed>,
    events: VecDeque<(Timestamp, SurfaceEvent)>,
}

/// The result of one poll.
pub(super) struct EntryUpdate {
    /// Its identification has changed.
    pub renamed: bool,
    pub transition: Option<Transition>,
}

impl Entry {
    /// A terminal that continues from earlier knowledge; `is_new` if the poll before did not list it.
    pub(super) fn new(
        key: TerminalKey,
        settings: tracker::Settings,
        known: Option<Box<TerminalHistory>>,
        is_new: bool,
        now: Timestamp,
    ) -> Self {
        let begin = if is_new { Tracker::begun } else { Tracker::new };
        let tracker = begin(settings.clone(), now);
        let facts = TerminalFacts {
            host: key.server.host.as_deref().map(str::to_owned),
            socket: Some(key.server.socket.to_string()),
            pane: Some(key.pane.to_string()),
            pid: Some(key.pid),
            ..TerminalFacts::default()
        };
        let terminal = Terminal {
            place: Arc::default(),
            declared: Declared::default(),
            note: Note::default(),
            process: None,
            state: tracker.state(facts, now),
            facts: PaneFacts::default(),
            screen: None,
            dialog: None,
            interrupt: Vec::new(),
            input: RefusedInputs::default(),
            transitions: VecDeque::new(),
            key,
        };
        Self {
            terminal,
            cwd: None,
            settings,
            tracker,
            beside: None,
            known,
            is_unread: true,
            agent: None,
            gone: None,
            due: None,
            printed_at: None,
            text_hash: 0,
            assessed: None,
            events: VecDeque::new(),
        }
    }

    /// One that is gone and was not seen since, whose row goes on from what the history knows.
    pub(super) fn gone(
        key: TerminalKey,
        settings: tracker::Settings,
        known: Box<TerminalHistory>,
        now: Timestamp,
    ) -> Self {
        let (was, since, screen) = (known.state.terminal.clone(), known.state.since, known.screen.clone());
        let mut entry = Self::new(key, settings, Some(known), false, now);
        (entry.is_unread, entry.gone) = (false, Some(Departure { at: since, unseen: true, with_server: false }));
        // Its place is not known any more, and its name is not to change; what told it from others of that name is no part of it.
        let place = place_of(&entry.terminal.key);
        let name = was.id.strip_suffix(&format!(" {place} {}", entry.terminal.key.pid));
        let name = name.or_else(|| was.id.strip_suffix(&format!(" {place}"))).unwrap_or(&was.id);
        entry.terminal.declared.name = Some(name.to_owned());
        (entry.terminal.state.terminal, entry.terminal.screen) = (was, screen);
        entry.remember();
        entry.refresh(now);
        entry
    }

    pub(super) fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// When something was due of it, and when it is now.
    pub(super) fn note_due(&mut self, keep_gone: Span) -> (Option<Timestamp>, Option<Timestamp>) {
        let due = [self.tracker.next_timeout(), self.leaves_at(keep_gone)].into_iter().flatten().min();
        let due = due.filter(|_| !self.is_told());
        (std::mem::replace(&mut self.due, due), due)
    }

    /// When one that is gone leaves.
    pub(super) fn leaves_at(&self, keep_gone: Span) -> Option<Timestamp> {
        self.gone.as_ref()?.leaves_at(&self.terminal.state, keep_gone)
    }

    /// Since when the pane is gone.
    pub(super) fn gone_since(&self) -> Option<Timestamp> {
        Some(self.gone.as_ref()?.at)
    }

    /// Whether its row stays until its server comes back.
    pub(super) fn is_kept_with_server(&self) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.with_server)
    }

    pub(super) fn server_came_back(&mut self) {
        self.gone.iter_mut().for_each(|gone| gone.with_server = false);
    }

    pub(super) fn state(&self, now: Timestamp) -> State {
        if self.is_told() {
            let mut state = self.terminal.state.clone();
            let observed_at = state.observed_at;
            state.pass(now);
            return State { observed_at, ..state };
        }
        let mut state = self.tracker.state(self.terminal.state.terminal.clone(), now);
        let has_version = state.terminal.observed_tool_version.is_some();
        state.assessment.anomalies.extend(self.agent.iter().flat_map(|agent| agent.anomalies(has_version)));
        if self.is_unread {
            self.say_unread(&mut state, now);
        }
        state
    }

    /// Says that it was not polled yet, and what was known last.
    fn say_unread(&self, state: &mut State, now: Timestamp) {
        let mut message = "not looked at yet".to_owned();
        if let Some(TerminalHistory { state: known, watched_until: at, .. }) = self.known.as_deref() {
            let was_read = known.diagnostics.availability == Availability::Available;
            state.stale = was_read.then(|| Stale::new(*at, known.surface, known.turn.phase, &known.assessment));
            state.last_turn.clone_from(&known.last_turn);
            state.agent.clone_from(&known.agent);
            (state.since, state.since_exact) = (*at, false);
            message.push_str(&format!("; {} ago: {}", now.since(*at).rounded(), Status::of(known).word()));
        }
        state.diagnostics.parse_status = ParseStatus::ProbeError;
        state.diagnostics.probe_error = Some(Problem { kind: "no_capture".to_owned(), message });
    }

    /// Whether its screen was not read yet: its state is no news.
    pub(super) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// The timers that run.
    pub(super) fn timers(&self) -> Vec<Timer> {
        self.beside.as_ref().map_or_else(|| self.tracker.timers(), |beside| beside.timers.clone())
    }

    /// What the agent's own record says of its turn.
    pub(super) fn record(&self) -> Option<&RecordedTurn> {
        match &self.beside {
            Some(beside) => beside.record.as_ref(),
            None => self.tracker.record(),
        }
    }

    /// The dialog with the agent as far as the screen shows it.
    pub(super) fn dialog_text(&self) -> Option<String> {
        let profile = &self.agent.as_ref()?.selected.as_ref()?.profile;
        let screen = self.terminal.screen()?;
        Some(profile.project(&screen, &self.terminal.facts).dialog_text)
    }

    /// Why the terminal is said to be what it is.
    pub(super) fn explain(
        &self,
        profiles: &ProfileSet,
        reads_records: bool,
        zone: &TimeZone,
        now: Timestamp,
    ) -> Option<String> {
        let profile = &self.agent.as_ref()?.selected.as_ref()?.profile;
        let screen = &*self.terminal.screen()?;
        let (reading, explanation) = profile.explain(screen, &self.terminal.facts);
        let state = self.state(now);
        let timers = self.timers();
        let no_record = no_record(&self.terminal, profiles, reads_records);
        let (reading, explanation, record) = (&reading, &explanation, self.record());
        let why = Why { screen, reading, explanation, state: &state, record, no_record, timers: &timers, zone, now };
        Some(format!("{}\n{}, read by {}\n{}", why.answer(), state.terminal.id, profile.id(), why.brief()))
    }

    /// The name that the operator gives, else its own.
    pub(super) fn wanted_name(&self) -> String {
        self.terminal.note.name.clone().unwrap_or_else(|| self.terminal.own_name())
    }

    pub(super) fn has_given_name(&self) -> bool {
        self.terminal.note.name.is_some()
    }

    /// What its name follows from.
    pub(super) fn naming(&self) -> (String, bool, bool) {
        (self.wanted_name(), self.has_given_name(), self.gone.is_some())
    }

    /// Takes what the notes say of it, its name left aside; whether its label is another one.
    pub(super) fn take_note(&mut self, notes: &[KeptNote]) -> bool {
        let Terminal { key, process, .. } = &self.terminal;
        let note = notes.iter().find(|noted| noted.is_of(key, *process)).map(|noted| noted.note.clone());
        self.terminal.note = note.unwrap_or_default();
        let label = self.terminal.label().map(str::to_owned);
        let is_other = self.terminal.state.terminal.label != label;
        self.terminal.state.terminal.label = label;
        is_other
    }

    /// Takes a name; whether it is another one.
    pub(super) fn rename(&mut self, id: String) -> bool {
        let other = self.terminal.state.terminal.id != id;
        self.terminal.state.terminal.id = id;
        other
    }

    /// Takes in a poll that found all as it was, where time changes nothing either: most polls of most terminals. `false`
    /// where the report has to go through [`Entry::poll`].
    pub(super) fn stands_still(&mut self, report: &PaneReport, now: Timestamp) -> bool {
        let PaneReport {
            key: _,
            place,
            cwd,
            facts,
            program,
            capture,
            declared,
            record,
            git,
            agent_process,
            printed_until: _,
        } = report;
        let (terminal, undeclared) = (&self.terminal, Declared::default());
        let is_same_agent = self.agent.as_ref().is_some_and(|agent| {
            let Program::Agent { tool, version, through } = program else { return false };
            let given_version = terminal.declared.version.as_ref().or(version.as_ref());
            *tool == agent.tool
                && *through == terminal.state.terminal.through
                && (given_version.is_none() || given_version == agent.given_version.as_ref())
        });
        let is_still = !self.is_told()
            && is_same_agent
            && *capture == Capture::Unchanged
            && record.is_none()
            && self.gone.is_none()
            && *facts == terminal.facts
            && *place == terminal.place
            && *cwd == self.cwd
            && *declared.as_ref().unwrap_or(&undeclared) == terminal.declared
            && *git == terminal.state.terminal.git
            && agent_process.or(terminal.process) == terminal.process
            && self.recorded(now).is_none()
            && self.tracker.passes(now);
        if is_still {
            self.terminal.state.pass(now);
        }
        is_still
    }

    /// Handles a listing's report of this pane.
    pub(super) fn poll(&mut self, report: PaneReport, profiles: &ProfileSet, now: Timestamp) -> EntryUpdate {
        self.gone = None;
        let is_awaited = report.is_awaited();
        let was_unread = self.is_unread;
        self.is_unread &= is_awaited && !report.facts.dead;
        let is_another = report.agent_process.zip(self.terminal.process).is_some_and(|(runs, ran)| runs != ran);
        let renamed = self.take_facts(&report);
        let is_resized = |new: &Screen| self.terminal.screen().is_some_and(|old| old.size() != new.size());
        let resized = matches!(&report.capture, Capture::Fresh(new) if is_resized(new));
        let facts_changed = self.terminal.facts != report.facts;
        let fresh = matches!(report.capture, Capture::Fresh(_));
        self.tracker.printed_until(self.printed_until(&report));
        if let Capture::Fresh(screen) = &report.capture {
            let (before, is_first) = (self.text_hash, self.terminal.screen.is_none());
            self.show(Arc::clone(screen));
            self.printed_at = if is_first || before == self.text_hash { self.printed_at } else { Some(now) };
        }
        let record = |tracker: &mut Tracker| report.record.into_iter().for_each(|record| tracker.recorded(*record));
        let was_dead = self.terminal.facts.dead;
        self.terminal.facts = report.facts;
        let changed = fresh || facts_changed;
        let transition = match (report.program, report.capture) {
            (Program::Unknown(_) | Program::Agent { .. } | Program::Suspended { .. }, _)
                if self.terminal.facts.dead =>
            {
                self.remember();
                self.ended(now)
            }
            (Program::Unknown(problem), _) => self.observe(Observation::ProbeFailed(problem), now),
            (Program::Suspended { tool }, _) => {
                self.agent_runs((tool, None), is_another, profiles, now);
                self.remember();
                self.observe(Observation::Suspended, now)
            }
            (Program::Agent { tool, version, .. }, Capture::Awaited) => {
                if self.is_unread {
                    self.agent_runs((tool, version), is_another, profiles, now);
                    self.refresh(now);
                }
                None
            }
            (Program::Agent { .. }, Capture::Failed(problem)) => {
                record(&mut self.tracker);
                self.observe(Observation::ProbeFailed(problem), now)
            }
            (Program::Agent { tool, version, .. }, _) => {
                let replaced = self.agent_runs((tool, version), is_another, profiles, now) || was_dead;
                // It is this agent's: the one before had another tracker.
                record(&mut self.tracker);
                let remembered = self.remember();
                let needs_reading = changed || replaced || !self.tracker.is_reading();
                self.read((needs_reading, remembered), resized, profiles, now)
            }
            (Program::Other { command } | Program::Wrapper { command }, _) => {
                self.remember();
                if self.agent.is_none() && self.terminal.state.terminal.profile.is_none() {
                    self.terminal.state.terminal.tool = command;
                }
                self.ended(now)
            }
        };
        EntryUpdate { renamed: renamed || (was_unread && !self.is_unread), transition }
    }

    /// Tells that the agent has ended, and how if its pane says so.
    fn ended(&mut self, now: Timestamp) -> Option<Transition> {
        let PaneFacts { dead, exit_status, .. } = self.terminal.facts;
        self.observe(Observation::TuiDown { exit_status: exit_status.filter(|_| dead) }, now)
    }

    /// After which time nothing was printed in the pane. Of several panes in a window tmux does not say which one
    /// printed: the one whose whole screen is as it was is taken to have been silent.
    fn printed_until(&self, report: &PaneReport) -> Option<Timestamp> {
        let PaneReport { capture, facts, place, .. } = report;
        if place.window_panes <= 1 {
            return report.printed_until;
        }
        let is = |kept: &Option<KeptScreen>, screen| kept.as_ref().and_then(KeptScreen::whole).as_ref() == Some(screen);
        let (is_same, polled_at) = match (&self.known, capture) {
            (Some(known), Capture::Fresh(screen)) => (is(&known.screen, screen), known.unbroken_until),
            (_, Capture::Unchanged) => {
                (self.terminal.facts.history_size == facts.history_size, self.tracker.observed_at())
            }
            (_, Capture::Fresh(screen)) => {
                let is_same =
                    is(&self.terminal.screen, screen) && self.terminal.facts.history_size == facts.history_size;
                (is_same, self.tracker.observed_at())
            }
            _ => (false, self.tracker.observed_at()),
        };
        report.printed_until.map(|at| if is_same { at.min(polled_at) } else { at })
    }

    fn show(&mut self, screen: Arc<Screen>) {
        let mut hasher = fast();
        screen.rows().iter().for_each(|row| row.text().hash(&mut hasher));
        self.text_hash = hasher.finish();
        self.terminal.screen = Some(screen.into());
    }

    /// Its screen, if it has stood still for a while and is not packed yet.
    pub(super) fn screen_to_pack(&self, now: Timestamp) -> Option<&KeptScreen> {
        let stands = self.printed_at.is_none_or(|at| now.since(at) >= STANDS_STILL);
        self.terminal.screen.as_ref().filter(|screen| stands && screen.is_whole())
    }

    /// Goes on from what the history says, if that is about what runs there now or about an agent that has ended. Gives the
    /// reading of what was shown then, where that is what is shown now.
    fn remember(&mut self) -> Option<Classification> {
        let known = self.known.take()?;
        let was = &known.state.terminal;
        let selected = match &self.agent {
            Some(agent) if agent.tool != was.tool => return None,
            Some(agent) => agent.own_profile(),
            None => {
                let facts = &mut self.terminal.state.terminal;
                facts.tool.clone_from(&was.tool);
                facts.observed_tool_version.clone_from(&was.observed_tool_version);
                facts.profile.clone_from(&was.profile);
                None
            }
        };
        let is_read = known.state.diagnostics.availability == Availability::Available;
        let facts = PaneFacts { title: was.title.clone(), ..self.terminal.facts.clone() };
        let screen = known.screen.as_ref().and_then(KeptScreen::whole);
        let reading = screen.as_ref().filter(|_| is_read).zip(selected.as_ref());
        let reading = reading.map(|(screen, selected)| selected.profile.read(screen, &facts));
        if is_read && self.agent.is_some() && reading.is_none() {
            return None;
        }
        let temporal = selected.map(|selected| selected.temporal()).unwrap_or_default();
        self.tracker.remember(&known, reading.as_ref(), temporal);
        let is_same = screen == self.terminal.screen() && facts == self.terminal.facts;
        reading.filter(|_| is_same)
    }

    /// Takes the profile that another library has for the agent.
    pub(super) fn set_profiles(&mut self, profiles: &ProfileSet) {
        if let Some(Agent { tool, given_version, banner, .. }) = &self.agent {
            self.choose(tool.clone(), given_version.clone(), banner.clone(), profiles);
        }
    }

    /// Keeps the prompt that it is about to be told of; what the agent takes it as.
    pub(super) fn sent(&mut self, text: &str, at: Timestamp, now: Timestamp) -> TakenAs {
        self.tracker.sent(text, at.min(now));
        self.terminal.input.taken_as(text)
    }

    /// Hands an observation to the tracker and publishes the result.
    pub(super) fn observe(&mut self, observation: Observation<'_>, now: Timestamp) -> Option<Transition> {
        let goes = matches!(observation, Observation::Gone(_));
        self.is_unread &= !goes;
        if goes && self.gone.is_none() {
            let with_server = matches!(observation, Observation::Gone(GoneReason::Server));
            self.gone = Some(Departure { at: now, unseen: false, with_server });
        }
        let transition = self.tracker.handle(observation, now);
        if let Some(transition) = &transition {
            self.terminal.transitions.push_back(transition.clone());
            while self.terminal.transitions.len() > self.settings.kept_transitions {
                self.terminal.transitions.pop_front();
            }
        }
        self.refresh(now);
        if let Some(gone) = self.gone.as_mut().filter(|_| goes) {
            gone.unseen |= self.terminal.state.unseen;
        }
        transition
    }

    /// The last transition of a terminal that leaves the fleet.
    pub(super) fn farewell(&self, now: Timestamp) -> Transition {
        Transition::last(self.summary(), LEFT, now)
    }

    /// What was named between consecutive assessments, newest last (SPEC §6).
    pub(super) fn events(&self) -> &VecDeque<(Timestamp, SurfaceEvent)> {
        &self.events
    }

    fn refresh(&mut self, now: Timestamp) {
        self.terminal.state = self.state(now);
        let assessment = self.terminal.state.assessment.clone();
        let assessed = Assessed { assessment, normalized_text: self.text_hash };
        if let Some(before) = &self.assessed {
            for event in surface_events(before, &assessed) {
                // A screen that changes with every poll must not push the others out: of such a run the last one stays.
                let is_text = |event| event == SurfaceEvent::NormalizedTextChanged;
                if is_text(event) && self.events.back().is_some_and(|(_, last)| is_text(*last)) {
                    self.events.pop_back();
                }
                self.events.push_back((now, event));
            }
            while self.events.len() > KEPT_EVENTS {
                self.events.pop_front();
            }
        }
        self.assessed = Some(assessed);
    }

    /// Takes over what names the terminal; whether any of it changed.
    fn take_facts(&mut self, report: &PaneReport) -> bool {
        let declared = report.declared.clone().unwrap_or_default();
        let renamed = self.terminal.place != report.place || self.terminal.declared != declared;
        self.terminal.place = report.place.clone();
        self.terminal.declared = declared;
        self.cwd = report.cwd.clone();
        self.terminal.process = report.agent_process.or(self.terminal.process);
        let id = self.wanted_name();
        let facts = &mut self.terminal.state.terminal;
        if facts.id.is_empty() {
            facts.id = id;
        }
        facts.session = Some(report.place.session.clone());
        facts.window = Some(format!("{}:{}", report.place.window_index, report.place.window_name));
        facts.title = report.facts.title.trim_end().to_owned();
        facts.cwd = report.cwd.clone();
        facts.git.clone_from(&report.git);
        facts.through = match &report.program {
            Program::Agent { through, .. } => through.clone(),
            _ => None,
        };
        renamed
    }

    /// Reads the screen if it has changed, unless that is done already.
    fn read(
        &mut self,
        (changed, remembered): (bool, Option<Classification>),
        resized: bool,
        profiles: &ProfileSet,
        now: Timestamp,
    ) -> Option<Transition> {
        // A profile that only stands in for one reads nothing.
        let Some(mut selected) = self.agent.as_ref().and_then(Agent::own_profile) else {
            let activity = self.terminal.activity(self.printed_at, now);
            return self.observe(Observation::NoProfile { activity }, now);
        };
        if !changed && self.terminal.screen.is_some() {
            let transition = self.observe(Observation::Unchanged, now);
            self.complete_dialog(now);
            return transition;
        }
        let Some(screen) = self.terminal.screen() else {
            let problem =
                Problem { kind: "no_capture".to_owned(), message: "the screen was not captured yet".to_owned() };
            return self.observe(Observation::ProbeFailed(problem), now);
        };
        let mut reading = remembered.unwrap_or_else(|| selected.profile.read(&screen, &self.terminal.facts));
        if self.learn_version(reading.banner_version.take(), profiles, now)
            && let Some(better) = self.agent.as_ref().and_then(|agent| agent.selected.clone())
        {
            selected = better;
            reading = selected.profile.read(&screen, &self.terminal.facts);
        }
        let transition =
            self.observe(Observation::Read { reading: &reading, temporal: selected.temporal(), resized }, now);
        let is_menu = !self.tracker.waits();
        self.terminal.dialog = reading.dialog.take().map(|dialog| Arc::new(dialog.of_operator(is_menu)));
        self.complete_dialog(now);
        transition
    }

    /// What the agent's own record newly says of a dialog that the pane shows a part of: something, or that nothing is proven any more.
    fn recorded(&self, now: Timestamp) -> Option<Option<Recorded>> {
        let dialog = self.terminal.dialog.as_ref().filter(|dialog| !dialog.cuts.is_empty())?;
        // Another one may follow it in the same state.
        let since = self.terminal.state.since().at.max(self.printed_at.unwrap_or_default());
        let recorded = dialog.recorded_in(self.tracker.open_calls(since, now));
        (recorded != dialog.recorded).then_some(recorded)
    }

    /// Takes in what the record says of the dialog.
    fn complete_dialog(&mut self, now: Timestamp) {
        if let Some(recorded) = self.recorded(now)
            && let Some(dialog) = &mut self.terminal.dialog
        {
            Arc::make_mut(dialog).recorded = recorded;
        }
    }
}
