//! `fleetwatch record`: records what a pane shows and what its agent writes about its own session. Any asciinema player
//! shows the recording, and `replay` reads it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::failure::number;
use super::output::end_asked_for;
use super::{Done, Failure};
use crate::agent_record::{RecordAddition, RecordDepth, RecordKeeping};
use crate::clock;
use crate::fleet::TerminalKey;
use crate::present::objection::Objection;
use crate::process::{self, AgentRecords, RecordedAgent, Thoroughness};
use crate::profile::{ProfileSet, Program};
use crate::recording::{Header, RecordingWriter, Size};
use crate::screen::Screen;
use crate::time::{Span, Timestamp};
use crate::tmux::{CapturedPane, Server};

/// Record a terminal, until it is gone or until Ctrl-C.
///
/// The recording also has what fleetwatch reads in the agent's own record.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch record docs -o docs.cast")]
pub struct RecordArgs {
    /// The terminal.
    pub target: String,
    /// The file to write; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Poll the terminal every MS milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = tick, allow_hyphen_values = true)]
    pub tick: u64,
    /// What the recording shows, in a few words.
    #[arg(long, value_name = "TEXT")]
    pub situation: Option<String>,
    /// Keep whole lines of the agent's records, from the beginning of its session, and 100 characters of each text:
    /// prompts, answers, files, commands.
    #[arg(long)]
    pub whole_records: bool,
    /// Record only the screen. By default, the recording also has the agent's model and the like, and its prompts and
    /// answers from now on.
    #[arg(long, conflicts_with = "whole_records")]
    pub no_records: bool,
}

fn tick(text: &str) -> Result<u64, Objection> {
    number(text, 20..=10_000, "not a number of milliseconds", "write milliseconds from 20 to 10000, such as 100")
}

/// How long tmux may not answer before recording is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Records the pane of the target. What is written so far is a complete recording at any time. With `library`, the agent's
/// records are read as its profile says.
///
/// # Errors
/// The pane is missing, the file exists or cannot be written, or tmux does not answer any more.
pub async fn run(
    args: &RecordArgs,
    server: &Server,
    key: &TerminalKey,
    program: &Program,
    profiles: Option<Arc<ProfileSet>>,
) -> Done {
    if args.output.as_os_str() == "-" {
        return Err(Failure::usage("a recording is not written to standard output")
            .hint(format!("name a file: `-o {}.cast`", args.target)));
    }
    let Some(first) = capture(server, key).await? else {
        return Err(Failure::refused(format!("the terminal {} is gone", args.target))
            .hint("`fleetwatch list` shows what is there now"));
    };
    // The header has whole seconds, and the times in records must fit.
    let began = Timestamp::from_millis(clock::now().as_millis().div_euclid(1000) * 1000);
    let header = header(program, args.situation.clone(), &first, began);
    let mut recorder = Recorder {
        writer: RecordingWriter::new(create(&args.output, args.force)?, &header)?,
        began,
        frames: 0,
        records: profiles.and_then(|profiles| FollowedRecords::new(args, server, key, program, profiles)),
    };
    recorder.take(&first, clock::now()).await?;
    super::console::tell(&format!("recording {} to {}; Ctrl-C ends it", args.target, args.output.display()));
    let ended = record(args, server, key, &mut recorder).await?;
    let seconds = clock::now().since(began).as_secs();
    super::console::tell(&format!("{ended}: {} frames in {seconds:.1} s", recorder.frames));
    Ok(ExitCode::SUCCESS)
}

/// Polls the pane until it is gone or somebody ends the command; returns which.
async fn record(
    args: &RecordArgs,
    server: &Server,
    key: &TerminalKey,
    recorder: &mut Recorder,
) -> Result<&'static str, Failure> {
    let mut tick = tokio::time::interval(Duration::from_millis(args.tick));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let end = end_asked_for();
    tokio::pin!(end);
    let mut answered = Instant::now();
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            _ = &mut end => return Ok("ended"),
        }
        match capture(server, key).await {
            Ok(Some(pane)) => recorder.take(&pane, clock::now()).await?,
            Ok(None) => return Ok("the terminal is gone"),
            // A busy server may miss a poll; meanwhile the recording does not change.
            Err(error) if answered.elapsed() > PATIENCE => return Err(error),
            Err(_) => continue,
        }
        answered = Instant::now();
    }
}

/// The pane as it is now; `None` when it is gone or when its id belongs to another process.
async fn capture(server: &Server, key: &TerminalKey) -> Result<Option<CapturedPane>, Failure> {
    match server.capture(&[key.pane]).await {
        Ok(listing) => Ok(listing.captures.iter().find(|capture| listing.shows(&capture.pane, key)).cloned()),
        Err(error) if error.is_no_server() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn header(program: &Program, situation: Option<String>, first: &CapturedPane, began: Timestamp) -> Header {
    let (tool, version) = match program {
        Program::Agent { tool, version, .. } => (tool.clone(), version.clone()),
        // Recordings without an agent say so, so that a replay does not take the command for one.
        Program::Suspended { .. } | Program::Wrapper { .. } | Program::Other { .. } | Program::Unknown(_) => {
            ("shell".to_owned(), None)
        }
    };
    let size = Size { columns: first.pane.columns.max(1), rows: first.pane.rows.max(1) };
    Header { tool: Some(tool), version, situation, size, began: Some(began) }
}

/// Creates a file that only the user may read, because a terminal may show secrets.
fn create(path: &Path, force: bool) -> Result<File, Failure> {
    let new = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    if force {
        // Somebody else's device or pipe is not what a recording is to replace.
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            return Err(
                Failure::usage(format!("{} is not a regular file", path.display())).hint("name a file to replace")
            );
        }
        // The new file replaces the old one at once, even while somebody reads it.
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let replaced = new(&beside).and_then(|file| std::fs::rename(&beside, path).map(|()| file));
        return replaced.map_err(|error| {
            // A directory of that name cannot be replaced.
            let _ = std::fs::remove_file(&beside);
            Failure::unwritable(path, &error)
        });
    }
    match new(path) {
        Err(_) if path.is_dir() => Err(Failure::unwritable(path, &io::ErrorKind::IsADirectory.into())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Failure::refused(format!("{} already exists", path.display())).hint("`--force` replaces it"))
        }
        created => created.map_err(|error| Failure::unwritable(path, &error)),
    }
}

/// The recording in progress.
struct Recorder {
    writer: RecordingWriter<File>,
    began: Timestamp,
    frames: usize,
    /// `None` if only the screen is recorded.
    records: Option<FollowedRecords>,
}

impl Recorder {
    async fn take(&mut self, pane: &CapturedPane, now: Timestamp) -> Result<(), Failure> {
        // A pane whose screen could not be captured shows what it showed before.
        let Some(screen) = &pane.screen else { return Ok(()) };
        let unwritable = "the recording cannot be written";
        self.writer.frame(now.since(self.began), &pane.pane.facts, screen).context(unwritable)?;
        self.frames += 1;
        if let Some(records) = &mut self.records {
            let additions = records.read(screen).await;
            // Records may have been written after the screen was captured.
            let at = clock::now().since(self.began);
            additions.iter().try_for_each(|addition| self.writer.record(at, addition)).context(unwritable)?;
        }
        Ok(())
    }
}

/// The records of the agent in the pane, found and read as live watching does.
struct FollowedRecords {
    server: Server,
    agent: RecordedAgent,
    scanned_at: Option<Timestamp>,
    screen: Option<Screen>,
    records: AgentRecords,
}

impl FollowedRecords {
    /// `None` if nothing may or can be read.
    fn new(
        args: &RecordArgs,
        server: &Server,
        key: &TerminalKey,
        program: &Program,
        profiles: Arc<ProfileSet>,
    ) -> Option<Self> {
        let Program::Agent { tool, .. } = program else { return None };
        let sources = profiles.records(tool);
        if args.no_records || sources.is_empty() || server.id().host.is_some() {
            return None;
        }
        let keeping = match args.whole_records {
            true => RecordKeeping { depth: RecordDepth::Whole, since: None },
            false => RecordKeeping { depth: RecordDepth::Named, since: Some(clock::now()) },
        };
        Some(Self {
            server: server.clone(),
            agent: RecordedAgent {
                key: key.clone(),
                processes: Vec::new(),
                sources,
                tool: tool.clone(),
                profiles,
                is_changing: true,
            },
            scanned_at: None,
            screen: None,
            records: AgentRecords::kept(keeping),
        })
    }

    /// What was added; nothing if the disk fails.
    async fn read(&mut self, screen: &Screen) -> Vec<RecordAddition> {
        let now = clock::now();
        if self.scanned_at.is_none_or(|at| now.since(at) >= Span::SECOND) {
            self.scanned_at = Some(now);
            let pid = self.agent.key.pid;
            if let Ok(found) = process::under(&self.server, vec![pid], Thoroughness::All).await {
                let processes = found.get(&pid).map(Vec::as_slice).unwrap_or_default();
                self.agent.processes = self.agent.profiles.agent_processes(&self.agent.tool, processes);
            }
        }
        self.agent.is_changing = self.screen.replace(screen.clone()).is_none_or(|before| before != *screen);
        let (agent, mut records) = (self.agent.clone(), std::mem::take(&mut self.records));
        let reading = tokio::task::spawn_blocking(move || {
            records.read(std::slice::from_ref(&agent), now);
            (records.additions(&agent), records)
        });
        let Ok((additions, records)) = reading.await else { return Vec::new() };
        self.records = records;
        additions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_recording_is_private_and_replaces_nothing_by_itself() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.cast");
        drop(create(&path, false).unwrap());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "kept").unwrap();
        assert!(create(&path, false).unwrap_err().to_string().ends_with("already exists"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        drop(create(&path, true).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(create(&directory.path().join("no/such/b.cast"), false).is_err());
    }
}
