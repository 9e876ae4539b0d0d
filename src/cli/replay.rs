//! `fleetwatch replay`: the public state over a recording, in its own time, as fast as it can.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::failure::number;
use super::list::{aligned, cell, make_room};
use super::{Done, Failure, console, output};
use crate::present::item::what_of_agent;
use crate::present::objection::Objection;
use crate::present::target::nearest_or;
use crate::profile::{ProfileSet, is_version};
use crate::recording::{Recording, ReplayOptions, Sampling, VersionSource, replay};
use crate::state::{LifecycleTiming, Stability, State, TerminalFacts, Turn};
use crate::status::{Hindrance, Status};
use crate::time::{Span, Timestamp};

/// Show what fleetwatch says about a recorded terminal.
///
/// It prints a line for the start and one for each change. A line has the seconds since the start, the state and how the
/// last turn ended in the words of `list`, whether the screen stands still, whether a prompt would be sent or why not, and
/// what the agent asks or does.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch replay docs.cast")]
pub struct ReplayArgs {
    /// The recording, asciicast v3 or v2; `-` reads standard input.
    pub file: PathBuf,
    #[command(flatten)]
    pub options: SharedReplayArgs,
    /// Print `{"t": seconds, "state": {…}}`, one object a line, for the start and for each change but of evidence, of the title and
    /// of times that run.
    #[arg(long)]
    pub json: bool,
}

/// How recordings are replayed, for every command that replays some.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SharedReplayArgs {
    /// The agent in the recording, instead of the one that it names.
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// The agent's version, instead of the one that the recording names.
    #[arg(long, value_name = "VERSION", conflicts_with = "no_version", value_parser = tool_version)]
    pub tool_version: Option<String>,
    /// Replay as if the agent's version were unknown.
    #[arg(long)]
    pub no_version: bool,
    /// Poll the terminal every MS milliseconds, as live watching does, instead of at every change of the screen.
    #[arg(long, value_name = "MS", value_parser = tick, allow_hyphen_values = true)]
    pub tick: Option<u64>,
    /// Replay the screen alone, without what the agent wrote about its own session.
    #[arg(long)]
    pub no_records: bool,
}

fn tick(text: &str) -> Result<u64, Objection> {
    number(text, 1..=60_000, "not a number of milliseconds", "write milliseconds from 1 to 60000, such as 100")
}

fn tool_version(text: &str) -> Result<String, Objection> {
    let hint = "write the numbers that the agent prints, such as 2.1.34";
    if is_version(text) { Ok(text.to_owned()) } else { Err(Objection::new("not a version", hint)) }
}

impl SharedReplayArgs {
    /// The options with the default settings of the fleet.
    ///
    /// # Errors
    /// No profile reads the agent that is named.
    pub fn options(&self, profiles: &ProfileSet) -> Result<ReplayOptions, Failure> {
        if let Some(tool) = self.tool.as_deref().filter(|tool| profiles.tools().all(|known| known != *tool)) {
            let hint = nearest_or(tool, profiles.tools(), "`fleetwatch profiles list` lists the known agents");
            return Err(Failure::usage(format!("no profile reads an agent `{tool}`")).hint(hint));
        }
        let version = match &self.tool_version {
            _ if self.no_version => VersionSource::Withheld,
            Some(version) => VersionSource::Given(version.clone()),
            None => VersionSource::FromHeader,
        };
        let sampling = self.tick.map_or(Sampling::EveryFrame, |ms| Sampling::Every(Span::from_millis(ms)));
        let with_records = !self.no_records;
        Ok(ReplayOptions { tool: self.tool.clone(), version, sampling, with_records, ..ReplayOptions::default() })
    }
}

/// Runs the command.
///
/// # Errors
/// The recording cannot be read, no profile reads the agent that is named, or standard output cannot be written.
pub fn run(args: &ReplayArgs, profiles: Arc<ProfileSet>) -> Done {
    let options = args.options.options(&profiles)?;
    let recording = Recording::open(&args.file)?;
    if let Some(cut) = &recording.cut {
        Failure::refused(cut).warn();
    }
    if args.json {
        return output::conclude(write_states(&recording, profiles, &options));
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    replay(&recording, profiles, &options, |at, state| {
        let row = row(at, state);
        // The first column is the time, and what an agent does moves while its state stays.
        let told = 1..row.len() - 1;
        if rows.last().is_none_or(|last| last[told.clone()] != row[told]) {
            rows.push(row);
        }
    });
    let (mut head, width) = (HEAD.to_vec(), console::terminal_width());
    make_room(&mut head, &mut rows, |nth| !matches!(HEAD[nth], "LAST" | "STABLE"), width.unwrap_or(usize::MAX));
    output::print(&aligned(&head, &rows, width))
}

/// The columns of the table, and what they have of a state.
const HEAD: [&str; 6] = ["SECONDS", "STATE", "LAST", "STABLE", "TAKES A PROMPT", "WHAT"];

fn row(at: Span, state: &State) -> Vec<String> {
    let last = Status::of_last_turn(&state.last_turn).map(Status::word).unwrap_or_default();
    let stable = if state.stability.stable { "stable" } else { "" };
    let prompt = Hindrance::of(state).map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
    let words: [&str; 5] = [&Status::of(state).word(), &last, stable, &prompt, &what_of_agent(state, None)];
    [format!("{:>7.3}", at.as_secs())].into_iter().chain(words.map(cell)).collect()
}

/// Writes the state at the start and at each change.
fn write_states(recording: &Recording, profiles: Arc<ProfileSet>, options: &ReplayOptions) -> io::Result<()> {
    let (mut out, mut result) = (BufWriter::new(io::stdout().lock()), Ok(()));
    let mut last: Option<State> = None;
    replay(recording, profiles, options, |at, state| {
        let timeless = timeless(state);
        if result.is_ok() && last.as_ref() != Some(&timeless) {
            last = Some(timeless);
            result = write_line(&mut out, at, state);
        }
    });
    result?;
    out.flush()
}

fn write_line(out: &mut impl Write, at: Span, state: &State) -> io::Result<()> {
    #[derive(Serialize)]
    struct StateLine<'a> {
        t: f64,
        state: &'a State,
    }
    let state = nowhere(state);
    serde_json::to_writer(&mut *out, &StateLine { t: at.as_secs(), state: &state })?;
    out.write_all(b"\n")
}

/// The state of a terminal that is in no tmux server.
fn nowhere(state: &State) -> State {
    let terminal = TerminalFacts {
        host: None,
        socket: None,
        session: None,
        window: None,
        pane: None,
        pid: None,
        ..state.terminal.clone()
    };
    State { terminal, ..state.clone() }
}

/// The state without what moves while it stays the same: numbers that run, and the rows and the title of what turns and counts.
fn timeless(state: &State) -> State {
    State {
        terminal: TerminalFacts { title: Default::default(), ..state.terminal.clone() },
        turn: Turn { elapsed_seconds: 0.0, waited: None, ..state.turn },
        lifecycle_timing: LifecycleTiming {
            readiness_unknown_elapsed_seconds: None,
            completion_unknown_elapsed_seconds: None,
            completion_candidate_elapsed_seconds: None,
            ..state.lifecycle_timing
        },
        stability: Stability { stable_for_seconds: 0.0, stable_since: Timestamp::default(), ..state.stability.clone() },
        evidence: Arc::default(),
        observed_at: Timestamp::default(),
        ..state.clone()
    }
}
