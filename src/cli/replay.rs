//! `fleetwatch replay`: the public state over a recording, in its own time, as fast as it can.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;

use super::failure::{BadValue, number};
use super::target::nearest_or;
use super::{Failure, output};
use crate::profile::{ProfileSet, is_version};
use crate::recording::{Recording, ReplayOptions, Sampling, VersionSource, replay};
use crate::state::{LifecycleTiming, Stability, State, TerminalFacts, Turn};
use crate::time::{Span, Timestamp};

/// Show what fleetwatch says about a recorded terminal.
///
/// It prints a line for the start, and one for each change.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch replay docs.cast")]
pub struct ReplayArgs {
    /// The recording, asciicast v3 or v2.
    pub file: PathBuf,
    #[command(flatten)]
    pub options: SharedReplayArgs,
    /// Print `{"t": seconds, "state": {…}}`, one object a line.
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

fn tick(text: &str) -> Result<u64, BadValue> {
    number(text, 1..=60_000, "not a number of milliseconds", "write milliseconds from 1 to 60000, such as 100")
}

fn tool_version(text: &str) -> Result<String, BadValue> {
    let hint = "write the numbers that the agent prints, such as 2.1.34";
    if is_version(text) { Ok(text.to_owned()) } else { Err(BadValue { what: "not a version", hint }) }
}

impl SharedReplayArgs {
    /// The options with the default settings of the fleet.
    pub fn options(&self) -> ReplayOptions {
        let version = match &self.tool_version {
            _ if self.no_version => VersionSource::Withheld,
            Some(version) => VersionSource::Given(version.clone()),
            None => VersionSource::FromHeader,
        };
        let sampling = self.tick.map_or(Sampling::EveryFrame, |ms| Sampling::Every(Span::from_millis(ms)));
        let with_records = !self.no_records;
        ReplayOptions { tool: self.tool.clone(), version, sampling, with_records, ..ReplayOptions::default() }
    }
}

/// Runs the command.
pub fn run(args: &ReplayArgs, profiles: Arc<ProfileSet>) -> anyhow::Result<ExitCode> {
    let recording = Recording::open(&args.file)?;
    if let Some(cut) = &recording.cut {
        Failure::refused(cut).warn();
    }
    if let Some(tool) = args.options.tool.as_deref().filter(|tool| profiles.tools().all(|known| known != *tool)) {
        let hint = nearest_or(tool, profiles.tools(), "`fleetwatch profiles list` lists the known agents");
        return Err(Failure::refused(format!("no profile reads an agent `{tool}`")).hint(hint).into());
    }
    let out = BufWriter::new(io::stdout().lock());
    output::conclude(write_changes(&recording, profiles, &args.options.options(), args.json, out))
}

/// Writes the state at the start and at each change.
fn write_changes(
    recording: &Recording,
    profiles: Arc<ProfileSet>,
    options: &ReplayOptions,
    json: bool,
    mut out: impl Write,
) -> io::Result<()> {
    let mut last: Option<State> = None;
    let mut last_row = String::new();
    let mut result =
        if json { Ok(()) } else { writeln!(out, "{:>9}  {}", "SECONDS", table_line(|column| column.0.to_owned())) };
    replay(recording, profiles, options, |at, state| {
        if result.is_err() {
            return;
        }
        if json {
            let timeless = timeless(state);
            if last.as_ref() != Some(&timeless) {
                last = Some(timeless);
                result = write_line(&mut out, at, state);
            }
        } else {
            let row = table_line(|column| column.2(state));
            if row != last_row {
                result = writeln!(out, "{:>9.3}  {row}", at.as_secs());
                last_row = row;
            }
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

/// The state without the numbers that run while nothing happens.
fn timeless(state: &State) -> State {
    State {
        turn: Turn { elapsed_seconds: 0.0, waited: None, ..state.turn },
        lifecycle_timing: LifecycleTiming {
            readiness_unknown_elapsed_seconds: None,
            completion_unknown_elapsed_seconds: None,
            completion_candidate_elapsed_seconds: None,
            ..state.lifecycle_timing
        },
        stability: Stability { stable_for_seconds: 0.0, ..state.stability.clone() },
        observed_at: Timestamp::default(),
        ..state.clone()
    }
}

/// The columns of the table after the time: title, width and content.
type ReplayColumn = (&'static str, usize, fn(&State) -> String);
const COLUMNS: [ReplayColumn; 11] = [
    ("AVAILABLE", 11, |state| state.diagnostics.availability.to_string()),
    ("PHASE", 7, |state| state.turn.phase.to_string()),
    ("ACCEPTS", 7, |state| state.surface.accepting_input.to_string()),
    ("EDITING", 7, |state| state.surface.editing_input.to_string()),
    ("POSTURE", 7, |state| state.surface.ready_posture.to_string()),
    ("BUSINESS", 17, |state| state.assessment.business_state.to_string()),
    ("CONTEXT", 16, |state| state.assessment.ui_context.to_string()),
    ("OPERATOR", 19, |state| state.operator.status.to_string()),
    ("LAST TURN", 11, |state| state.last_turn.result.word().trim_start_matches("known_").to_owned()),
    ("STABLE", 6, |state| if state.stability.stable { "yes" } else { "no" }.to_owned()),
    ("ATTENTION", 0, |state| state.attention.to_string()),
];

fn table_line(cell: impl Fn(&ReplayColumn) -> String) -> String {
    COLUMNS.iter().map(|column| format!("{:<1$}", cell(column), column.1)).collect::<Vec<_>>().join(" ")
}
