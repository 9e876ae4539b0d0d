//! What is remembered of one pane, what the next poll must ask about it, and what a poll shows of tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::fleet::{Capture, Declared, PaneId, PaneLocation, TerminalKey};
use crate::hash::fast_of;
use crate::ids::{SessionId, WindowId};
use crate::profile::Program;
use crate::screen::{Cursor, PaneFacts, Screen};
use crate::state::Problem;
use crate::task::{PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskPoll, TaskSnapshot};
use crate::time::{Span, Timestamp};
use crate::tmux::{CapturedPane, ListedPane};

/// A pane whose processes must be scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::poll) struct Suspect {
    pub(in crate::poll) pane: PaneId,
    pub(in crate::poll) pid: u32,
    /// `pane_current_command`.
    pub(in crate::poll) command: String,
    /// The tool that the configuration gives.
    pub(in crate::poll) tool: Option<String>,
    /// Whether it is enough that the agent's process still runs.
    pub(in crate::poll) may_be_same: bool,
    /// The server's clock and the pane's activity at the listing.
    at: i64,
    activity: i64,
}

/// Seconds of the server's clock after which the processes of a pane are listed again when something was printed
/// in it: a program that starts behind an unchanged command shows itself.
pub(super) const IDENTIFY_ACTIVE: i64 = 2;
/// The same for a pane in which nothing was printed since the last time.
const IDENTIFY_IDLE: i64 = 60;
/// The same for all processes of an agent's pane where the agent's own still runs in the foreground, and where nothing was
/// printed since either. Up to [`SPREAD`] seconds more: of agents that were found at once, each has its own turn.
const IDENTIFY_AGENT: i64 = 30;
const IDENTIFY_SILENT_AGENT: i64 = 300;
const SPREAD: u32 = 30;
/// Seconds in which an agent starts all of its own processes, such as the one that writes Codex's record.
const AGENT_STARTS: i64 = 20;

/// The most polls that wait for the exit status of a task.
const TASK_ENDING: u8 = 4;

/// What is remembered of one pane.
#[derive(Debug, Default)]
pub(super) struct PaneMemory {
    pub(super) wanted: CaptureNeed,
    /// Its place when that was decided.
    pub(super) place: Option<Arc<PaneLocation>>,
    /// Whether fleetwatch itself runs in it.
    pub(super) own: bool,
    program: Option<Identified>,
    /// Whether a known agent has ever been seen in it: it stays watched when the agent is gone.
    had_agent: bool,
    captured: Option<Captured>,
    /// Whether it was put off no longer when there were many to be captured for the first time.
    pub(super) is_asked: bool,
    /// Whether the last capture showed something new.
    pub(super) changing: bool,
    /// Whether its window was one of a task when that was decided.
    pub(super) is_marked_task: bool,
    /// Whether it was there before this process: what ended then is reported as it is.
    pub(super) is_old: bool,
    life: Life,
    owes_exit_status: bool,
    /// The window's activity, and after which time of ours nothing was printed then.
    printed: Option<(i64, Timestamp)>,
    /// Bell flag and counter of the last poll of a pane whose end was not awaited: a bell and an end are one message.
    rung: Option<(bool, Option<u64>)>,
    previewed: Option<Previewed>,
}

/// The last lines of a task's pane, and what they were made of beside its screen.
#[derive(Debug)]
struct Previewed {
    cursor: Cursor,
    dead: bool,
    preview: Preview,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum CaptureNeed {
    #[default]
    Never,
    WithAgent(Declared),
    Always(Declared),
    /// As a task, or as an agent when one runs in it.
    Task(Declared),
}

/// tmux calls a pane dead a moment before it knows how the process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Unseen,
    Alive,
    /// Dead in the last polls, so many of them, while its exit status was awaited.
    Ending(u8),
    Ended,
}

#[derive(Debug)]
struct Identified {
    program: Program,
    /// Whether it is not known what runs under a command that agents run under.
    may_be_agent: bool,
    /// `pane_current_command` at that time.
    command: String,
    /// When the agent was found first, and when all its processes were listed, by the server's clock.
    first_at: i64,
    whole_at: i64,
    /// The server's clock and the pane's activity when it was last found to be so.
    at: i64,
    activity: i64,
}

#[derive(Debug)]
struct Captured {
    moment: CaptureMoment,
    /// A hash of the screen: whether a capture is another one is all that is asked.
    hash: u64,
    /// The screen of a task, whose last lines are shown.
    screen: Option<Arc<Screen>>,
}

/// When a pane was captured, and what tmux said of it then.
#[derive(Debug)]
struct CaptureMoment {
    /// The server's clock when it was captured.
    at: i64,
    activity: i64,
    facts: PaneFacts,
    size: (u16, u16),
}

impl CaptureMoment {
    fn new(at: i64, pane: &ListedPane) -> Self {
        Self { at, activity: pane.activity, facts: pane.facts.clone(), size: (pane.columns, pane.rows) }
    }

    /// Whether a pane that is listed now still shows what was captured.
    fn lasts(&self, listed: &ListedPane) -> bool {
        self.activity == listed.activity
            && !self.may_have_missed()
            && self.facts == listed.facts
            && self.size == (listed.columns, listed.rows)
    }

    /// Whether something may have been printed in the second of the capture, after it.
    fn may_have_missed(&self) -> bool {
        self.at <= self.activity
    }
}

impl PaneMemory {
    /// What runs in it, once its processes have been listed.
    pub(super) fn program(&self) -> Option<Program> {
        self.program.as_ref().map(|identified| identified.program.clone())
    }

    /// Its configuration.
    pub(super) fn declared(&self) -> Option<&Declared> {
        match &self.wanted {
            CaptureNeed::Always(declared) | CaptureNeed::WithAgent(declared) | CaptureNeed::Task(declared) => {
                Some(declared)
            }
            CaptureNeed::Never => None,
        }
    }

    /// Whether it has never been captured.
    pub(super) fn is_new(&self) -> bool {
        self.captured.is_none()
    }

    /// Whether the next poll will most likely have to capture it.
    pub(super) fn will_change(&self) -> bool {
        self.changing || self.captured.as_ref().is_some_and(|captured| captured.moment.may_have_missed())
    }

    /// Records what runs in it.
    pub(super) fn identified(&mut self, suspect: &Suspect, program: Program, may_hide_agent: bool) {
        self.had_agent |= matches!(program, Program::Agent { .. } | Program::Suspended { .. });
        let Suspect { at, activity, .. } = *suspect;
        let before = self.program.as_ref().filter(|known| known.program == program);
        let first_at = before.map_or(at, |known| known.first_at);
        let command = suspect.command.clone();
        // A process that is only missing may have ended since the panes were listed.
        let is_unseen = matches!(&program, Program::Unknown(problem) if problem.kind != "no_process" || first_at < at);
        let may_be_agent = is_unseen && may_hide_agent;
        self.program = Some(Identified { program, may_be_agent, command, first_at, whole_at: at, at, activity });
    }

    /// Records that an agent ran in it once.
    pub(super) fn had_agent(&mut self) {
        self.had_agent = true;
    }

    /// Takes the agent that surely has drawn its screen, if the program there is one behind which agents run.
    pub(super) fn look_through<'a>(&mut self, drawn_by: impl FnOnce() -> Option<&'a str>) {
        let Some(Identified { program, .. }) = &mut self.program else { return };
        let Program::Wrapper { command } = program else { return };
        if let Some(tool) = drawn_by() {
            let through = Some(std::mem::take(command));
            *program = Program::Agent { tool: tool.to_owned(), version: None, through };
            self.had_agent = true;
        }
    }

    /// Whether its screen is captured: also where only that can tell whether an agent runs in it.
    pub(super) fn is_looked_at(&self) -> bool {
        let is_wrapper = self.program.as_ref().is_some_and(|known| matches!(known.program, Program::Wrapper { .. }));
        self.is_watched() || (is_wrapper && !self.own && self.wanted != CaptureNeed::Never)
    }

    /// Records that the same agent still runs in it.
    pub(super) fn confirmed(&mut self, suspect: &Suspect) {
        if let Some(known) = &mut self.program {
            (known.at, known.activity) = (suspect.at, suspect.activity);
        }
    }

    /// Whether it is reported to the fleet.
    pub(super) fn is_watched(&self) -> bool {
        // An agent that runs fleetwatch as one of its tools does not turn its own terminal into fleetwatch's.
        let has_agent = self.program.as_ref().is_some_and(|known| matches!(known.program, Program::Agent { .. }));
        if self.own && !has_agent {
            return false;
        }
        match self.wanted {
            CaptureNeed::Never => false,
            CaptureNeed::WithAgent(_) => {
                self.had_agent || self.program.as_ref().is_some_and(|known| known.may_be_agent)
            }
            CaptureNeed::Always(_) | CaptureNeed::Task(_) => true,
        }
    }

    /// Whether it is a task that has ended, and how is not known yet.
    fn awaits_exit_status(&self) -> bool {
        self.is_wanted_as_task() && matches!(self.life, Life::Ending(_))
    }

    /// Whether tmux is to be reminded that its program has ended. Of a pane that is not a task it is asked once: some versions
    /// of tmux never know.
    pub(super) fn owes_exit_status(&self) -> bool {
        self.owes_exit_status
    }

    /// Bell flag and counter as reported; `None` for a task that is reported only once it is known how it ended.
    pub(super) fn take_bells(&mut self, flag: bool, counter: Option<u64>) -> Option<(bool, Option<u64>)> {
        if !self.awaits_exit_status() {
            self.rung = Some((flag, counter));
        }
        self.rung
    }

    /// Whether it is reported to the fleet as a task.
    pub(super) fn is_task(&self) -> bool {
        self.is_wanted_as_task() && !self.had_agent
    }

    /// Whether it is a task unless an agent runs in it.
    fn is_wanted_as_task(&self) -> bool {
        matches!(self.wanted, CaptureNeed::Task(_))
    }

    /// The last lines of a task's pane; `None` while it was never captured.
    pub(super) fn preview(&self) -> Option<Preview> {
        self.previewed.as_ref().map(|previewed| previewed.preview.clone())
    }

    /// What is needed to list its processes.
    pub(super) fn suspect(&self, listed: &ListedPane, clock: i64) -> Suspect {
        let tool = self.declared().and_then(|declared| declared.tool.clone());
        let command = listed.facts.command.clone();
        let may_be_same = self.program.as_ref().is_some_and(|known| {
            let is_agent = matches!(known.program, Program::Agent { .. });
            let is_settled = clock.saturating_sub(known.first_at) >= AGENT_STARTS;
            let is_same = is_agent && is_settled && known.command == command;
            let is_silent = listed.activity < known.whole_at;
            let limit = if is_silent { IDENTIFY_SILENT_AGENT } else { IDENTIFY_AGENT };
            let limit = limit + i64::from(listed.id.0 % SPREAD);
            is_same && (0..limit).contains(&clock.saturating_sub(known.whole_at))
        });
        Suspect { pane: listed.id, pid: listed.pid, command, tool, may_be_same, at: clock, activity: listed.activity }
    }

    /// Whether something else may run in it than when its processes were last listed.
    pub(super) fn needs_identification(&self, listed: &ListedPane, clock: i64) -> bool {
        let Some(known) = &self.program else { return true };
        let age = clock.saturating_sub(known.at);
        let settled = known.at > known.activity && !matches!(known.program, Program::Unknown(_));
        let idle = settled && listed.activity == known.activity;
        let limit = if idle { IDENTIFY_IDLE } else { IDENTIFY_ACTIVE };
        // A clock that was set back says nothing of the age.
        known.command != listed.facts.command || age >= limit || age < 0
    }

    /// Whether its screen may be another one than the last capture.
    pub(super) fn is_outdated(&self, listed: &ListedPane) -> bool {
        let Some(captured) = &self.captured else { return true };
        !captured.moment.lasts(listed) || (captured.screen.is_none() && self.is_wanted_as_task())
    }

    /// Stores a capture, if there is one; returns the facts and the capture for the report.
    pub(super) fn take_capture(
        &mut self,
        listed: &ListedPane,
        capture: Option<(i64, CapturedPane)>,
    ) -> (PaneFacts, Capture) {
        let (mut facts, capture) = self.newest(listed, capture);
        self.await_exit_status(&mut facts);
        if self.is_wanted_as_task() {
            self.take_preview(&facts, &capture);
        }
        (facts, capture)
    }

    /// After which time nothing was printed in its window, as of a poll at `at` when the server's clock was `clock`. It
    /// stays the same as long as nothing is.
    pub(super) fn printed_until(&mut self, listed: &ListedPane, clock: i64, at: Timestamp) -> Timestamp {
        let captured = self.captured.as_ref().map_or(listed.activity, |captured| captured.moment.activity);
        // What was captured after the listing may have been printed just now.
        let activity = captured.max(listed.activity);
        // Both clocks have whole seconds.
        let quiet = u64::try_from(clock.saturating_sub(activity).saturating_sub(1)).unwrap_or(0);
        let known = self.printed.filter(|(before, _)| *before == activity);
        self.printed.insert(known.unwrap_or((activity, at - Span::from_secs(quiet)))).1
    }

    fn newest(&mut self, listed: &ListedPane, capture: Option<(i64, CapturedPane)>) -> (PaneFacts, Capture) {
        self.changing = false;
        let Some((at, CapturedPane { pane, screen })) = capture else {
            let failed = self.is_outdated(listed);
            let capture =
                if failed { failure("no_capture", "the pane could not be captured") } else { Capture::Unchanged };
            return (listed.facts.clone(), capture);
        };
        let Some(screen) = screen else {
            return (pane.facts.clone(), failure("empty_capture", "tmux printed no screen for the pane"));
        };
        let before = self.captured.take();
        let (hash, screen) = (fast_of(&screen), Arc::new(screen));
        let same = before.as_ref().is_some_and(|before| before.hash == hash);
        self.changing = before.as_ref().is_some_and(|before| !same || before.moment.facts != pane.facts);
        let report = if same { Capture::Unchanged } else { Capture::Fresh(Arc::clone(&screen)) };
        let facts = pane.facts.clone();
        let screen = self.is_wanted_as_task().then_some(screen);
        self.captured = Some(Captured { moment: CaptureMoment::new(at, &pane), hash, screen });
        (facts, report)
    }

    fn take_preview(&mut self, facts: &PaneFacts, capture: &Capture) {
        let Some(screen) = self.captured.as_ref().and_then(|captured| captured.screen.as_ref()) else { return };
        let (cursor, dead) = (facts.cursor, facts.dead);
        let same = |previewed: &Previewed| previewed.cursor == cursor && previewed.dead == dead;
        if matches!(capture, Capture::Fresh(_)) || !self.previewed.as_ref().is_some_and(same) {
            let preview = Preview::of(screen, cursor, dead);
            self.previewed = Some(Previewed { cursor, dead, preview });
        }
    }

    /// Keeps a pane for some polls longer when it has died and its exit status is not known yet. How a task ended is
    /// worth a second; some versions of tmux never report a signal's number.
    fn await_exit_status(&mut self, facts: &mut PaneFacts) {
        let is_task = self.is_wanted_as_task();
        let polls = if is_task { TASK_ENDING } else { 1 };
        let was_unseen = self.life == Life::Unseen;
        self.life = match self.life {
            _ if !facts.dead => Life::Alive,
            _ if facts.exit_status.is_some() => Life::Ended,
            Life::Alive => Life::Ending(1),
            Life::Unseen if is_task && !self.is_old => Life::Ending(1),
            Life::Ending(count) if count < polls => Life::Ending(count + 1),
            _ => Life::Ended,
        };
        let is_ending = matches!(self.life, Life::Ending(_));
        self.owes_exit_status = facts.dead && facts.exit_status.is_none() && (is_ending || was_unseen);
        if is_ending {
            facts.dead = false;
        }
    }
}

fn failure(kind: &str, message: &str) -> Capture {
    Capture::Failed(Problem { kind: kind.to_owned(), message: message.to_owned() })
}

// What is gathered of tasks.

/// A declared task session as the last poll showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::poll) struct TaskSession {
    pub id: SessionId,
    /// The processes that want its bells counted.
    pub watchers: Vec<String>,
    /// Windows that would be gone with the end of their programs.
    pub fleeting: Vec<WindowId>,
}

/// A session that is not one of tasks, or is no longer, and in which something of fleetwatch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::poll) struct OtherSession {
    pub id: SessionId,
    /// The processes that wanted its bells counted; none where only windows bear something.
    pub watchers: Vec<String>,
}

/// The tasks of one poll, collected pane by pane.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    sessions: BTreeMap<SessionId, SessionSnapshot>,
    windows: BTreeSet<WindowId>,
    awaited: BTreeSet<WindowId>,
}

impl Gathering {
    pub(super) fn add(
        &mut self,
        key: TerminalKey,
        listed: &ListedPane,
        pane: &mut PaneMemory,
        facts: PaneFacts,
        capture: &Capture,
        ended: Option<Timestamp>,
    ) {
        let known = !matches!(capture, Capture::Failed(_));
        let window = WindowId(listed.window_id);
        let marks = &listed.marks;
        let counter = (!marks.watchers.is_empty()).then(|| marks.bells.unwrap_or(0));
        let Some((bell, bells)) = pane.take_bells(facts.bell, counter) else {
            self.awaited.insert(window);
            return;
        };
        self.windows.insert(window);
        let dead = facts.dead;
        let state = pane.preview().filter(|_| known).map(|preview| PaneState {
            command: facts.command,
            start_command: listed.start_command.clone(),
            cwd: listed.cwd.clone(),
            dead: facts.dead,
            exit_code: facts.exit_status,
            alternate: facts.alternate,
            preview,
        });
        let registration = match marks.run_at.map(Timestamp::from_millis) {
            None => Registration::None,
            Some(at) if marks.is_reported => Registration::Reported(at),
            Some(at) => Registration::Started(at),
        };
        let Declared { label, pinned, muted, .. } = pane.declared().cloned().unwrap_or_default();
        let snapshot = TaskSnapshot {
            window,
            name: listed.place.window_name.clone(),
            index: listed.place.window_index,
            key,
            pane: state,
            ended_at: ended.filter(|_| dead),
            bell,
            bells,
            registration,
            shown: TaskDisplay { label, pinned, muted },
        };
        let id = SessionId(listed.session_id);
        let session = self.sessions.entry(id).or_insert_with(|| SessionSnapshot {
            id,
            name: listed.place.session.clone(),
            windows: Vec::new(),
        });
        session.windows.push(snapshot);
    }

    /// The whole poll: sessions without a window of interest are there too, so that their next window is new.
    pub(super) fn finish(mut self, sessions: &[TaskSession], rows: &[Arc<ListedPane>]) -> TaskPoll {
        for session in sessions {
            let name = rows.iter().find(|row| row.session_id == session.id.0).map(|row| row.place.session.clone());
            self.sessions.entry(session.id).or_insert_with(|| SessionSnapshot {
                id: session.id,
                name: name.unwrap_or_default(),
                windows: Vec::new(),
            });
        }
        let elsewhere = rows.iter().map(|row| WindowId(row.window_id)).filter(|window| !self.windows.contains(window));
        let sessions = self.sessions.into_values().collect();
        TaskPoll { elsewhere: elsewhere.collect(), sessions, awaited: self.awaited }
    }
}
