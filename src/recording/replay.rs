//! Drives the fleet with a recording exactly as live watching does: what the tests read from a recording is
//! what an operator would have seen.

use std::sync::Arc;

use super::{EventKind, Frame, Player, RecordedEvent, Recording};
use crate::agent_record::{AgentRecordReading, RecordedFiles};
use crate::fleet::{
    Capture, Declared, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId, ServerReport, Settings,
    TerminalKey,
};
use crate::profile::{ProfileSet, Program};
use crate::state::State;
use crate::time::{Span, Timestamp};

/// How a recording is replayed.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The agent, instead of the one that the header names.
    pub tool: Option<String>,
    pub version: VersionSource,
    pub sampling: Sampling,
    /// Whether the agent's own records are read, where the recording has some.
    pub with_records: bool,
    pub settings: Settings,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            tool: None,
            version: VersionSource::default(),
            sampling: Sampling::default(),
            with_records: true,
            settings: Settings::default(),
        }
    }
}

/// Where the agent's version comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VersionSource {
    #[default]
    FromHeader,
    Given(String),
    /// As if nothing said it.
    Withheld,
}

/// When the terminal is polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// At every frame of the recording.
    #[default]
    EveryFrame,
    /// At the multiples of a poll interval, as live watching does.
    Every(Span),
}

/// Replays a recording and calls `published` with the time since its start and the public state after every poll of the
/// terminal and after every timer, whether or not the state changed.
pub fn replay(
    recording: &Recording,
    profiles: Arc<ProfileSet>,
    options: &ReplayOptions,
    published: impl FnMut(Span, &State),
) {
    replay_frames(recording, Player::new(recording), profiles, options, published);
}

/// The same of frames that were played before, as whoever replays a recording often plays it once.
pub fn replay_frames(
    recording: &Recording,
    frames: impl Iterator<Item = Frame>,
    profiles: Arc<ProfileSet>,
    options: &ReplayOptions,
    mut published: impl FnMut(Span, &State),
) {
    let began = recording.began();
    let mut watch = Watch::new(recording, profiles, options);
    match options.sampling {
        Sampling::EveryFrame => {
            for frame in frames {
                watch.pass_time(began + frame.at, &mut published);
                watch.poll(frame, &mut published);
            }
        }
        Sampling::Every(tick) => {
            let tick = tick.as_millis().max(1);
            let mut latest: Option<Frame> = None;
            let mut frames = frames.peekable();
            for n in 0..=recording.duration().as_millis() / tick {
                let at = Span::from_millis(n * tick);
                while let Some(frame) = frames.next_if(|frame| frame.at <= at) {
                    let printed = frame.printed || latest.as_ref().is_some_and(|l| l.printed);
                    latest = Some(Frame { printed, ..frame });
                }
                watch.wait(began + at, &mut published);
                if let Some(frame) = &mut latest {
                    frame.at = at;
                    watch.poll(frame.clone(), &mut published);
                    frame.printed = false;
                }
            }
        }
    }
    watch.pass_time(began + recording.duration(), &mut published);
}

/// Which program a pane runs, when `command` is tmux's `pane_current_command` (SPEC §13): the agent runs while that
/// names it, as its profile has it, or the interpreter it started under; a recording without process markers (`None`) shows it all along.
pub fn program(profiles: &ProfileSet, tool: Option<&str>, version: Option<&str>, command: Option<&str>) -> Program {
    let other = || Program::Other { command: command.unwrap_or_default().to_owned() };
    let Some(tool) = tool.filter(|tool| *tool != "shell") else { return other() };
    let runs = |command| command == tool || is_interpreter(command) || profiles.command_means_tool(tool, command);
    if command.is_none_or(runs) {
        return Program::agent(tool, version);
    }
    other()
}

fn is_interpreter(command: &str) -> bool {
    let python = command.strip_prefix("python").is_some_and(|v| v.chars().all(|c| c.is_ascii_digit() || c == '.'));
    python || matches!(command, "node" | "bun")
}

/// A fleet with one terminal that is fed from a recording.
struct Watch<'a> {
    fleet: Fleet,
    profiles: Arc<ProfileSet>,
    key: TerminalKey,
    place: Arc<PaneLocation>,
    name: &'a str,
    tool: Option<&'a str>,
    version: Option<&'a str>,
    /// The version that is given in place of all that is seen.
    configured: Option<&'a str>,
    began: Timestamp,
    now: Timestamp,
    /// What was seen at the last poll.
    last: Option<Frame>,
    /// The agent's records as far as they were read, what the recording has of them later, and what they said last.
    files: RecordedFiles,
    to_come: &'a [RecordedEvent],
    said: AgentRecordReading,
}

impl<'a> Watch<'a> {
    fn new(recording: &'a Recording, profiles: Arc<ProfileSet>, options: &'a ReplayOptions) -> Self {
        let header = &recording.header;
        let place = PaneLocation {
            session: recording.name.clone(),
            window_name: recording.name.clone(),
            window_panes: 1,
            session_windows: 1,
            ..PaneLocation::default()
        };
        let tool = options.tool.as_deref().or(header.tool.as_deref());
        let sources = tool.filter(|_| options.with_records).map(|tool| profiles.records(tool)).unwrap_or_default();
        Self {
            fleet: Fleet::new(options.settings.clone(), Arc::clone(&profiles)),
            profiles,
            key: TerminalKey { server: ServerId::default(), pane: PaneId(0), pid: 1, instance: Default::default() },
            place: place.into(),
            name: &recording.name,
            tool,
            version: header.version.as_deref().filter(|_| options.version == VersionSource::FromHeader),
            configured: match &options.version {
                VersionSource::Given(version) => Some(version),
                VersionSource::FromHeader | VersionSource::Withheld => None,
            },
            began: recording.began(),
            now: recording.began(),
            last: None,
            files: RecordedFiles::new(sources),
            to_come: &recording.events,
            said: AgentRecordReading::default(),
        }
    }

    /// Lets the fleet's timers run until `until`, exclusively, while nobody polls.
    fn wait(&mut self, until: Timestamp, published: &mut impl FnMut(Span, &State)) {
        while let Some(due) = self.fleet.poll_timeout().filter(|due| *due < until) {
            // A timer that is due at once must not stop the time.
            self.handle(Input::TimePassed, due.max(self.now.next()).min(until), published);
            if self.now >= until {
                return;
            }
        }
    }

    /// Lets time pass until `until`, exclusively. A recording knows that nothing was printed, so it is as if somebody had
    /// polled all the time: at each of the fleet's timers, and often enough that no gap is left between two polls. While no
    /// timer runs, each distance is twice the one before, which is none: a year of silence takes a few polls.
    fn pass_time(&mut self, until: Timestamp, published: &mut impl FnMut(Span, &State)) {
        let mut distance = Span::SECOND;
        while let Some(last) = self.last.clone() {
            // A timer that is due at once must not stop the time.
            let due = self.fleet.poll_timeout().map(|due| due.max(self.now.next()));
            distance = if due.is_some() { Span::SECOND } else { Span::from_millis(distance.as_millis() * 2) };
            let at = due.unwrap_or(until).min(self.now + distance);
            if at >= until {
                return;
            }
            self.poll(Frame { at: at.since(self.began), printed: false, ..last }, published);
        }
    }

    /// New content of the agent's records at a time since the start.
    fn read_records(&mut self, at: Span) -> Option<Box<AgentRecordReading>> {
        let mut is_read = false;
        while let Some((event, rest)) = self.to_come.split_first().filter(|(event, _)| event.at <= at) {
            self.to_come = rest;
            if let EventKind::Record(addition) = &event.kind {
                self.files.take(addition, self.began + event.at);
                is_read = true;
            }
        }
        let reading = is_read.then(|| self.files.reading()).filter(|reading| *reading != self.said)?;
        self.said = reading.clone();
        Some(Box::new(reading))
    }

    fn poll(&mut self, frame: Frame, published: &mut impl FnMut(Span, &State)) {
        self.last = Some(frame.clone());
        let command = Some(frame.facts.command.as_str()).filter(|command| !command.is_empty());
        let report = PaneReport {
            key: self.key.clone(),
            place: self.place.clone(),
            cwd: None,
            program: program(&self.profiles, self.tool, self.version, command),
            facts: frame.facts,
            capture: if frame.printed { Capture::Fresh(frame.screen) } else { Capture::Unchanged },
            // A name makes it a watched terminal from the start, before its agent runs.
            declared: Some(Declared {
                name: Some(self.name.to_owned()),
                version: self.configured.map(str::to_owned),
                ..Declared::default()
            }),
            record: self.read_records(frame.at),
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let at = self.began + frame.at;
        let outcome = PollResult::Listed(vec![report]);
        self.handle(Input::Server(ServerReport::new(self.key.server.clone(), at, outcome)), at, published);
    }

    fn handle(&mut self, input: Input, now: Timestamp, published: &mut impl FnMut(Span, &State)) {
        self.now = now;
        self.fleet.handle(input, now);
        while self.fleet.poll_effect().is_some() {}
        if let Some(terminal) = self.fleet.terminal(&self.key) {
            published(now.since(self.began), &terminal.state);
        }
    }
}
