//! Stories of the tracking contract, one a file: what happens in a terminal, and what is said of it then.
//!
//! A story is a world that changes: a screen, a program, a pane, tmux. It is watched the way that live panes are: at
//! every step and at every tick the fleet polls it, and between the polls the fleet's own timers run. Most stories
//! play with an agent that does not exist (`support/scout.toml`), whose cues are one short row each; some show screens
//! of real recordings. `stories/README.md` describes the format.

mod restarts;
mod tasks;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::scoring::score::in_parallel;

use fleetwatch::agent_record::{AgentRecordReader, AgentRecordReading};
use fleetwatch::fleet::{
    Capture, Declared, Effect, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId, ServerReport,
    Settings, TerminalHistory, TerminalKey, TerminalTransition,
};
use fleetwatch::profile::{ProfileSet, Program};
use fleetwatch::recording::{Archive, Player};
use fleetwatch::screen::{Cursor, KeptScreen, PaneFacts, Screen};
use fleetwatch::state::Problem;
use fleetwatch::time::{Span, Timestamp};
use fleetwatch::tracker::HANDOVER;
use fleetwatch::tracker::Timer;
use serde::Deserialize;
use serde_json::Value;

#[test]
fn every_story_is_true() {
    tell_all("tests/stories", 150, |text| {
        let story: Story = toml::from_str(text).map_err(|error| error.to_string())?;
        Telling::new(&story).tell()
    });
}

/// Has every file of a folder told, or those whose names contain `FLEETWATCH_STORY`, and names the ones that are not true.
fn tell_all(folder: &str, at_least: usize, tell: impl Fn(&str) -> Result<(), String> + Sync) {
    let wanted = std::env::var("FLEETWATCH_STORY").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(folder).expect("the folder can be read").map(|file| file.expect("a file").path());
    let all: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|is| is == "toml")).collect();
    assert!(all.len() >= at_least, "{} stories are there", all.len());
    let named = |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains(&wanted));
    let chosen: Vec<&PathBuf> = all.iter().filter(named).collect();
    assert!(!chosen.is_empty(), "no story is called {wanted}");
    let told = in_parallel(&chosen, |path| {
        let text = std::fs::read_to_string(path).expect("a story can be read");
        let told = catch_unwind(AssertUnwindSafe(|| tell(&text)));
        let panicked = |panic: Box<dyn Any + Send>| Err(panic.downcast_ref::<String>().cloned().unwrap_or_default());
        told.unwrap_or_else(panicked).map_err(|failure| format!("{}\n{failure}", path.display()))
    });
    let untrue: Vec<String> = told.into_iter().filter_map(Result::err).collect();
    assert!(untrue.is_empty(), "{} of {} are not true:\n{}", untrue.len(), chosen.len(), untrue.join("\n\n"));
}

/// A file under `stories/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    title: String,
    /// Which rule of the contract it shows.
    rule: String,
    /// The agent and its version.
    #[serde(default = "scout")]
    agent: String,
    /// Seconds between polls; 0 for none beside the steps.
    #[serde(default = "half_a_second")]
    poll: f64,
    /// Seconds that an explicit input waits for a reaction, where another than the default window is wanted.
    no_reaction: Option<f64>,
    #[serde(default)]
    screens: BTreeMap<String, String>,
    steps: Vec<Step>,
}

/// What changes in the world at one time, and what is expected then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Seconds since the story's beginning.
    at: f64,
    /// A name from `screens`, or the rows themselves.
    screen: Option<String>,
    /// A screen of a real recording, with its pane facts, at a time in it.
    recorded: Option<Recorded>,
    title: Option<String>,
    cursor: Option<CursorWord>,
    /// Columns and rows.
    size: Option<[u16; 2]>,
    /// What runs in the pane: an agent with its version, or another program.
    runs: Option<String>,
    /// The number of the agent's process.
    process: Option<u32>,
    pane: Option<PaneWord>,
    probe: Option<ProbeWord>,
    /// A prompt goes in through fleetwatch.
    #[serde(default)]
    submitted: bool,
    /// Another process sent a prompt at this time, and that is reported now.
    submitted_at: Option<f64>,
    /// A line that the agent writes into its log, or the whole of its status file.
    log: Option<String>,
    status: Option<String>,
    /// What was sent.
    #[serde(default)]
    text: String,
    /// The operator has seen the terminal.
    #[serde(default)]
    seen: bool,
    /// The world changes, but nobody sees it before the next poll.
    #[serde(default)]
    unwatched: bool,
    /// Another process watches from now on, which knows what the history says; `"forgetful"`: there is none.
    restarted: Option<Restart>,
    /// A part of the public state.
    #[serde(default)]
    expect: toml::Table,
    /// A part of the public state that held all the time since the step before, up to this one.
    #[serde(default)]
    throughout: toml::Table,
    /// Rules that must be, or with a `!` must not be, among the evidence.
    #[serde(default)]
    evidence: Vec<String>,
    /// Every change since the step before, in order: `phase ready -> active`.
    changes: Option<Vec<String>>,
    /// What the transitions since the step before say beside their changes.
    notes: Option<Vec<String>>,
    /// The timers that run, the next deadline first, in the story's seconds: `settle 3.5 to 4.5`.
    timers: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Restart {
    Knowing,
    Forgetful,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    name: String,
    at: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CursorWord {
    Visible,
    Hidden,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PaneWord {
    There,
    Gone,
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProbeWord {
    Works,
    Fails,
    FailsOnce,
    /// Nobody polls at all.
    Stopped,
}

fn scout() -> String {
    "scout 1.0.0".to_owned()
}

const fn half_a_second() -> f64 {
    0.5
}

/// A story while it runs.
struct Telling<'a> {
    story: &'a Story,
    fleet: Fleet,
    key: TerminalKey,
    world: World,
    now: Span,
    next_poll: Option<Span>,
    /// What the history would say.
    history: Kept,
    /// What was published since the last step.
    published: Vec<(Span, Value)>,
    /// Changes and notes since the last step.
    changes: Vec<String>,
    notes: Vec<String>,
    /// All transitions, for failures.
    log: String,
}

/// The world as it is now.
struct World {
    rows: String,
    screen: Arc<Screen>,
    facts: PaneFacts,
    size: [u16; 2],
    runs: String,
    process: Option<u32>,
    pane: PaneWord,
    probe: ProbeWord,
    /// Whether anything was printed since the last poll.
    printed: bool,
    /// When something was printed last.
    printed_at: Timestamp,
    /// What the agent's log and its status file say, and whether either has changed since the last poll.
    records: [AgentRecordReader; 2],
    recorded: bool,
}

/// The time of the story's beginning, which no rule may depend on.
const BEGINNING: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// More timers than this between two steps are a loop without an end.
const MOST_TIMERS: usize = 5000;

impl<'a> Telling<'a> {
    fn new(story: &'a Story) -> Self {
        let size = [80, 24];
        let world = World {
            rows: String::new(),
            screen: Arc::new(drawn("", size)),
            facts: PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() },
            size,
            runs: story.agent.clone(),
            process: None,
            pane: PaneWord::There,
            probe: ProbeWord::Works,
            printed: true,
            printed_at: BEGINNING,
            records: Default::default(),
            recorded: false,
        };
        Self {
            story,
            fleet: fleet(story.no_reaction),
            key: TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 100, instance: Default::default() },
            world,
            now: Span::ZERO,
            next_poll: None,
            history: Kept::default(),
            published: Vec::new(),
            changes: Vec::new(),
            notes: Vec::new(),
            log: String::new(),
        }
    }

    fn tell(mut self) -> Result<(), String> {
        for (number, step) in self.story.steps.iter().enumerate() {
            self.step(step).map_err(|what| {
                let Story { title, rule, .. } = self.story;
                format!(
                    "story:  {title} ({rule})\nstep:   {} at {} s\n{what}\nwhat was said until then:\n{}",
                    number + 1,
                    step.at,
                    self.log
                )
            })?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let at = seconds(step.at);
        if at < self.now {
            return Err("the step is earlier than the one before".to_owned());
        }
        self.pass_time(at)?;
        for (t, state) in &self.published {
            contains(&step.throughout, state).map_err(|what| format!("at {} s, {what}", t.as_secs()))?;
        }
        self.published.clear();
        self.change_world(step)?;
        if let Some(restart) = step.restarted {
            self.fleet = fleet(self.story.no_reaction);
            self.world.printed = true;
            // A process that begins reads the records from their beginning.
            self.world.recorded = self.world.records.iter().any(|record| record.reading().is_some());
            let known = self.history.known().filter(|_| restart == Restart::Knowing);
            if let Some(known) = known {
                self.handle(Input::Known { key: self.key.clone(), known: Box::new(known) });
            }
        }
        if step.submitted || step.submitted_at.is_some() {
            let at = BEGINNING + step.submitted_at.map_or(self.now, seconds);
            self.handle(Input::Submitted { key: self.key.clone(), at, text: step.text.clone() });
        }
        if step.seen {
            self.handle(Input::Seen { key: self.key.clone() });
        }
        if !step.unwatched {
            self.poll();
        }
        self.check(step)
    }

    fn check(&mut self, step: &Step) -> Result<(), String> {
        let state = self.state().ok_or("the terminal has left the fleet")?;
        contains(&step.expect, &state)?;
        // What holds after this step is where `throughout` of the next begins.
        self.published = vec![(self.now, state.clone())];
        let rules: Vec<&str> =
            state["evidence"].as_array().into_iter().flatten().filter_map(|e| e["rule"].as_str()).collect();
        for wanted in &step.evidence {
            let (rule, present) = wanted.strip_prefix('!').map_or((wanted.as_str(), true), |rule| (rule, false));
            if rules.contains(&rule) != present {
                let is = if present { "is not" } else { "is" };
                return Err(format!("the rule {rule} {is} among the evidence {rules:?}"));
            }
        }
        let timers: Vec<String> = self.fleet.timers(&self.key).iter().map(reported).collect();
        if let Some(wanted) = step.timers.as_ref().filter(|wanted| **wanted != timers) {
            return Err(format!("timers: {timers:#?}\nwanted: {wanted:#?}"));
        }
        let (changes, notes) = (std::mem::take(&mut self.changes), std::mem::take(&mut self.notes));
        if let Some(wanted) = step.changes.as_ref().filter(|wanted| **wanted != changes) {
            return Err(format!("changes: {changes:#?}\nwanted:  {wanted:#?}"));
        }
        if let Some(wanted) = step.notes.as_ref().filter(|wanted| **wanted != notes) {
            return Err(format!("notes:  {notes:?}\nwanted: {wanted:?}"));
        }
        Ok(())
    }

    fn change_world(&mut self, step: &Step) -> Result<(), String> {
        let world = &mut self.world;
        if step.screen.is_some() || step.size.is_some() || step.recorded.is_some() || step.title.is_some() {
            world.printed_at = BEGINNING + seconds(step.at);
        }
        if let Some(size) = step.size {
            world.size = size;
        }
        if let Some(name) = &step.screen {
            let rows = self.story.screens.get(name).unwrap_or(name);
            if rows == name && !name.contains('\n') {
                return Err(format!("there is no screen called {name:?}"));
            }
            world.rows = rows.clone();
        }
        if step.screen.is_some() || step.size.is_some() {
            world.screen = Arc::new(drawn(&world.rows, world.size));
            world.printed = true;
        }
        if let Some(Recorded { name, at }) = &step.recorded {
            let recording = archive().recording(name).map_err(|error| error.to_string())?;
            let frame = Player::new(&recording).take_while(|frame| frame.at <= seconds(*at)).last();
            let frame = frame.ok_or("the recording has not begun yet")?;
            (world.screen, world.facts, world.printed) = (frame.screen, frame.facts, true);
        }
        if let Some(title) = &step.title {
            world.facts.title.clone_from(title);
        }
        if let Some(cursor) = step.cursor {
            world.facts.cursor.visible = matches!(cursor, CursorWord::Visible);
        }
        world.process = step.process.or(world.process);
        if let Some(runs) = &step.runs {
            world.runs.clone_from(runs);
        }
        for (place, written) in [&step.log, &step.status].into_iter().enumerate() {
            let Some(written) = written else { continue };
            let value: Value = serde_json::from_str(written).map_err(|error| format!("{written}: {error}"))?;
            let tool = world.runs.split(' ').next().unwrap_or_default();
            let source = &profiles().records(tool)[place];
            world.records[place].read(source, &value, BEGINNING + seconds(step.at));
            world.recorded = true;
        }
        world.pane = step.pane.unwrap_or(world.pane);
        world.probe = step.probe.unwrap_or(world.probe);
        world.facts.dead = world.pane == PaneWord::Dead;
        Ok(())
    }

    /// Lets time pass until `until`: polls and the fleet's timers, in the order of their times.
    fn pass_time(&mut self, until: Span) -> Result<(), String> {
        for _ in 0..MOST_TIMERS {
            let timer = self.fleet.poll_timeout().map(|at| at.since(BEGINNING));
            if timer.is_some_and(|at| at < self.now) {
                return Err(format!("a timer of {timer:?} was left behind at {:?}", self.now));
            }
            let due = timer.filter(|at| *at < until);
            let poll = self.next_poll.filter(|at| *at < until);
            match (due, poll) {
                (None, None) => {
                    self.now = until;
                    return Ok(());
                }
                (Some(due), poll) if poll.is_none_or(|poll| due < poll) => {
                    self.now = due;
                    self.handle(Input::TimePassed);
                }
                (_, poll) => {
                    self.now = poll.unwrap_or(until);
                    self.poll();
                }
            }
        }
        Err(format!("the timers do not come to an end at {} s", self.now.as_secs()))
    }

    /// One poll of the world.
    fn poll(&mut self) {
        let every = seconds(self.story.poll);
        self.next_poll = (every > Span::ZERO)
            .then(|| Span::from_millis((self.now.as_millis() / every.as_millis() + 1) * every.as_millis()));
        let world = &mut self.world;
        if world.probe == ProbeWord::Stopped {
            return;
        }
        let problem = || Problem { kind: "timeout".to_owned(), message: "tmux did not answer in time".to_owned() };
        let outcome = match (world.probe, world.pane) {
            (ProbeWord::Fails, _) => PollResult::Failed(problem()),
            (ProbeWord::FailsOnce, _) => {
                world.probe = ProbeWord::Works;
                PollResult::Failed(problem())
            }
            (_, PaneWord::Gone) => PollResult::Listed(Vec::new()),
            _ => PollResult::Listed(vec![world.report(&self.key)]),
        };
        let at = BEGINNING + self.now;
        self.handle(Input::Server(ServerReport::new(self.key.server.clone(), at, outcome)));
    }

    fn handle(&mut self, input: Input) {
        let now = BEGINNING + self.now;
        self.history.input(&input, now);
        self.fleet.handle(input, now);
        while let Some(effect) = self.fleet.poll_effect() {
            self.history.effect(&effect);
            let Effect::Changed(TerminalTransition { transition, .. }) = effect else { continue };
            let changes: Vec<String> = transition
                .changed
                .iter()
                .map(|c| format!("{} {} -> {}", c.field, word(&c.from), word(&c.to)))
                .collect();
            let note = transition.note.as_ref().map_or(String::new(), |note| format!("  [{note}]"));
            // Writing to a string cannot fail.
            let _ = writeln!(self.log, "{:>8.3}  {}{note}", self.now.as_secs(), changes.join(", "));
            self.changes.extend(changes);
            self.notes.extend(transition.note);
        }
        if let Some(state) = self.state() {
            self.published.push((self.now, state));
        }
    }

    fn state(&self) -> Option<Value> {
        let state = self.fleet.state(&self.key, BEGINNING + self.now)?;
        Some(serde_json::to_value(state).expect("a state has a JSON form"))
    }
}

/// What a history would keep of one terminal.
#[derive(Default)]
struct Kept {
    last: Option<(Value, Option<KeptScreen>)>,
    watched_until: Timestamp,
    unbroken_until: Timestamp,
    seen: bool,
}

impl Kept {
    fn input(&mut self, input: &Input, now: Timestamp) {
        match input {
            Input::Server(ServerReport { outcome: PollResult::Listed(_), .. }) => {
                let is_unbroken = now.since(self.unbroken_until) <= HANDOVER;
                self.unbroken_until = if is_unbroken { now } else { self.unbroken_until };
                self.watched_until = now;
            }
            Input::Seen { .. } => self.seen = true,
            _ => {}
        }
    }

    fn effect(&mut self, effect: &Effect) {
        let Effect::Changed(TerminalTransition { transition, state, screen, .. }) = effect else { return };
        let state = state.as_ref().expect("what has changed has a state");
        self.unbroken_until = transition.at;
        self.seen &= transition.changed.iter().all(|change| change.field != "result");
        self.last = Some((serde_json::to_value(state).expect("a state has a JSON form"), screen.clone()));
    }

    /// As it is read back.
    fn known(&self) -> Option<TerminalHistory> {
        let (state, screen) = self.last.clone()?;
        let state = serde_json::from_value(state).expect("a state is read back");
        Some(TerminalHistory {
            state,
            screen,
            watched_until: self.watched_until,
            unbroken_until: self.unbroken_until,
            prompted: false,
            seen: self.seen,
        })
    }
}

fn fleet(no_reaction: Option<f64>) -> Fleet {
    let mut settings = Settings::default();
    settings.tracker.no_reaction = no_reaction.map_or(settings.tracker.no_reaction, seconds);
    Fleet::new(settings, Arc::clone(profiles()))
}

impl World {
    fn report(&mut self, key: &TerminalKey) -> PaneReport {
        let program = match self.runs.split_once(' ') {
            Some(("suspended", tool)) => Program::Suspended { tool: tool.to_owned() },
            Some((tool, version)) => Program::agent(tool, Some(version).filter(|v| *v != "?")),
            None => Program::Other { command: self.runs.clone() },
        };
        let fresh = std::mem::take(&mut self.printed);
        let record = std::mem::take(&mut self.recorded).then(|| {
            let mut reading = AgentRecordReading::default();
            self.records.iter().filter_map(AgentRecordReader::reading).for_each(|it| reading.merge(it));
            Box::new(reading)
        });
        let agent_process = self.process.filter(|_| matches!(program, Program::Agent { .. }));
        PaneReport {
            key: key.clone(),
            place: PaneLocation {
                session: "story".to_owned(),
                window_panes: 1,
                session_windows: 1,
                ..PaneLocation::default()
            }
            .into(),
            cwd: None,
            facts: self.facts.clone(),
            program,
            capture: if fresh { Capture::Fresh(Arc::clone(&self.screen)) } else { Capture::Unchanged },
            declared: Some(Declared { name: Some("story".to_owned()), ..Declared::default() }),
            record,
            git: None,
            agent_process,
            printed_until: Some(self.printed_at),
        }
    }
}

fn profiles() -> &'static Arc<ProfileSet> {
    static LIBRARY: OnceLock<Arc<ProfileSet>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut profiles = ProfileSet::builtin();
        profiles.add("scout.toml", include_str!("../support/scout.toml")).expect("the scout's profile is well-formed");
        Arc::new(profiles)
    })
}

fn archive() -> &'static Archive {
    static ARCHIVE: OnceLock<Archive> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst");
        Archive::open(&path).expect("the archive can be read")
    })
}

/// Rows as tmux would capture them; `{1;31}` stands for that style and `{}` for none.
fn drawn(rows: &str, [columns, height]: [u16; 2]) -> Screen {
    let mut text = String::new();
    let mut rest = rows;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        match after.split_once('}').filter(|(style, _)| style.chars().all(|c| c.is_ascii_digit() || c == ';')) {
            Some((style, after)) => {
                let _ = write!(text, "\u{1b}[{style}m");
                rest = after;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    Screen::from_capture(text.as_bytes(), columns, height)
}

fn seconds(s: f64) -> Span {
    // Stories last minutes, to the millisecond.
    Span::from_millis((s * 1000.0).round() as u64)
}

/// A timer in the story's seconds.
fn reported(timer: &Timer) -> String {
    let seconds = |at: Timestamp| at.since(BEGINNING).as_secs();
    format!("{} {} to {}", timer.name, seconds(timer.since), seconds(timer.until))
}

/// Whether a state has every value that is wanted of it.
fn contains(wanted: &toml::Table, state: &Value) -> Result<(), String> {
    wanted.iter().try_for_each(|(name, wanted)| fits(name, wanted, state.get(name)))
}

fn fits(path: &str, wanted: &toml::Value, is: Option<&Value>) -> Result<(), String> {
    let Some(is) = is else { return Err(format!("there is no field {path}")) };
    match wanted {
        toml::Value::Table(table) => {
            table.iter().try_for_each(|(name, wanted)| fits(&format!("{path}.{name}"), wanted, is.get(name)))
        }
        toml::Value::Array(array) => {
            let texts: Vec<String> = array.iter().map(|v| v.as_str().map_or(v.to_string(), str::to_owned)).collect();
            let values: Vec<String> = is.as_array().into_iter().flatten().map(word).collect();
            if texts == values { Ok(()) } else { Err(format!("{path} is {values:?}, wanted {texts:?}")) }
        }
        toml::Value::String(text) => {
            let value = word(is);
            if *text == value { Ok(()) } else { Err(format!("{path} is {value}, wanted {text}")) }
        }
        toml::Value::Boolean(flag) if is.as_bool() == Some(*flag) => Ok(()),
        toml::Value::Float(number) if is.as_f64().is_some_and(|is| (is - number).abs() < 0.0005) => Ok(()),
        _ => Err(format!("{path} is {is}, wanted {wanted}")),
    }
}

/// A value without quotes: `null`, `ready`, `1.5`; a problem by its kind.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => object.get("kind").map_or_else(|| value.to_string(), word),
        other => other.to_string(),
    }
}
