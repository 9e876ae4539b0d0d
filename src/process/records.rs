//! Finds the records that agents write about their own sessions, and reads what was added to them (SPEC §14).
//!
//! A file counts only with proof that it belongs to this very process: it is named after the process and says when that
//! began, the process holds it open, or another proven file names its session. A service that the agent started is not
//! this process. Without proof, a file that the agent's directory leads to gives unsure facts, as long as no other agent
//! of its kind works there. Everything is only read; links out of the agent's folder, files that are not regular and
//! those of other users are left alone.

mod database;
mod files;
mod find;
mod transcript;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agent_record::{AgentRecordReader, AgentRecordReading, AgentRecordSource, RecordAddition, RecordKeeping};
use crate::hash::fnv;
use crate::ids::TerminalKey;
use crate::private::FileStamp;
use crate::state::{Fact, FactName, FactValue};
use crate::time::{Span, Timestamp};

pub use transcript::RecordedTranscript;

pub use database::READ_WITHIN;
use database::Unanswered;
use files::{FileState, Files, Workplace};
pub use find::RecordedAgent;
use find::{AT_ONCE, HEAD, TAIL};

/// Bytes of a line that is read; agents write some of 100 kB.
const LINE: usize = 4 << 20;
/// How often new files are searched for, for an agent that stands still; for one whose screen changes, each second.
const FIND_AGAIN_STILL: Span = Span::from_secs(30);
/// How long after its screen an agent may still write: so long it counts as changing.
const FOLLOWS: Span = Span::from_secs(10);
/// How often the files of an agent that stands still are checked.
const READ_STILL: Span = Span::from_secs(2);

/// The records of the agents of one server on this machine.
#[derive(Debug, Default)]
pub struct AgentRecords {
    files: Files,
    agents: BTreeMap<TerminalKey, AgentState>,
    /// How often they were read.
    polls: u64,
    /// The files that more than one agent writes to.
    contested: BTreeSet<PathBuf>,
    /// What is kept of what is read, for a recording.
    keeping: Option<RecordKeeping>,
}

#[derive(Debug, Default)]
struct AgentState {
    /// The last poll that listed it.
    polled: u64,
    /// Whether its files may say something else since it was last returned.
    is_followed: bool,
    processes: Vec<u32>,
    files: Vec<RecordFile>,
    /// What was last returned; `None` when nothing was yet.
    returned: Option<AgentRecordReading>,
    read_at: Option<Timestamp>,
    /// When the agent's screen last changed.
    changed_at: Option<Timestamp>,
}

impl AgentRecords {
    /// Records that keep what was read for [`AgentRecords::additions`].
    pub fn kept(keeping: RecordKeeping) -> Self {
        Self { keeping: Some(keeping), ..Self::default() }
    }

    /// Additions to an agent's records since the last call, for a recording.
    pub fn additions(&mut self, agent: &RecordedAgent) -> Vec<RecordAddition> {
        let Some(state) = self.agents.get_mut(&agent.key) else { return Vec::new() };
        let files = state.files.iter_mut().zip(agent.sources.iter());
        files.filter_map(|(file, source)| file.addition(source)).collect()
    }

    /// Whether any of these is to be read, or one has left. Where none is, a poll wakes no thread to read.
    pub fn is_due(&self, agents: &[RecordedAgent], now: Timestamp) -> bool {
        let is_due = |agent: &RecordedAgent| self.agents.get(&agent.key).is_none_or(|known| known.is_due(agent, now));
        agents.len() != self.agents.len() || agents.iter().any(is_due)
    }

    /// Reads what was added. Returns the agents with news and what is known of them; an empty reading if the records are
    /// gone. A new agent is always among them, because another process may have known more of it. Waits for the disk.
    pub fn read(&mut self, agents: &[RecordedAgent], now: Timestamp) -> Vec<(TerminalKey, AgentRecordReading)> {
        self.polls += 1;
        let mut due = Vec::new();
        for agent in agents {
            if !self.agents.contains_key(&agent.key) {
                self.agents.insert(agent.key.clone(), AgentState { is_followed: true, ..AgentState::default() });
            }
            let Some(state) = self.agents.get_mut(&agent.key) else { continue };
            state.polled = self.polls;
            if state.is_of_another_process(agent) {
                state.processes.clone_from(&agent.processes);
                let file = |_| RecordFile { keeping: self.keeping, is_missed: true, ..RecordFile::default() };
                state.files = agent.sources.iter().map(file).collect();
                (state.read_at, state.is_followed) = (None, true);
            }
            if agent.is_changing {
                state.changed_at = Some(now);
            }
            if !state.is_due(agent, now) {
                continue;
            }
            (state.read_at, state.is_followed) = (Some(now), true);
            due.push((agent, state.is_changing(now)));
        }
        self.agents.retain(|_, state| state.polled == self.polls);
        if !due.is_empty() {
            self.follow(&due, now);
        }
        self.changed(agents)
    }

    fn follow(&mut self, due: &[(&RecordedAgent, bool)], now: Timestamp) {
        let Self { files, agents, .. } = self;
        files.begin(now);
        for &(agent, is_changing) in due {
            let Some(state) = agents.get_mut(&agent.key) else { continue };
            for place in 0..state.files.len() {
                let session = state.session_beside(place);
                let pause = if is_changing { Span::SECOND } else { FIND_AGAIN_STILL };
                let (source, files) = (&agent.sources[place], &*files);
                if source.directory.is_some() && state.open().any(|(other, _)| agent.sources[other].is_proven()) {
                    state.files[place].lose();
                    continue;
                }
                let followed = Followed { source, agent, session: session.as_deref(), files, now };
                state.files[place].follow(&followed, pause, now);
            }
        }
    }

    /// The agents with news since the last call.
    fn changed(&mut self, agents: &[RecordedAgent]) -> Vec<(TerminalKey, AgentRecordReading)> {
        // Two agents that resumed one session write to one file, and nothing says which line is whose.
        let mut claimed = HashSet::new();
        let open = self.agents.values().flat_map(AgentState::open).filter(|(_, open)| !open.is_shared);
        let contested = open.map(|(_, open)| &open.path).filter(|path| !claimed.insert(*path));
        let contested: BTreeSet<PathBuf> = contested.cloned().collect();
        let is_other = contested != self.contested;
        self.contested = contested;
        let mut changed = Vec::new();
        for RecordedAgent { key, sources, .. } in agents {
            let state = self.agents.get_mut(key).filter(|state| state.is_followed || is_other);
            let Some(state) = state else { continue };
            state.is_followed = false;
            let contested = &self.contested;
            let own = |(_, open): &(usize, &OpenRecord)| open.is_shared || !contested.contains(&open.path);
            let mut reading = AgentRecordReading::of(state.open().filter(own).map(|(_, open)| &open.reader));
            let is_transcript = |(place, _): &(usize, &OpenRecord)| sources[*place].is_transcript();
            if let Some((place, open)) = state.open().filter(own).find(is_transcript) {
                let value = FactValue::Text(open.path.to_string_lossy().into_owned());
                let source = sources[place].fact_source();
                reading.facts.put(FactName::Transcript, Fact { value, source, at: open.found_at });
            }
            if state.returned.as_ref() != Some(&reading) {
                state.returned = Some(reading.clone());
                changed.push((key.clone(), reading));
            }
        }
        changed
    }
}

impl AgentState {
    fn is_of_another_process(&self, agent: &RecordedAgent) -> bool {
        self.processes != agent.processes || self.files.len() != agent.sources.len()
    }

    fn is_changing(&self, now: Timestamp) -> bool {
        self.changed_at.is_some_and(|at| now.since(at) < FOLLOWS)
    }

    /// Whether its files are to be read. An agent that stands still hardly adds anything.
    fn is_due(&self, agent: &RecordedAgent, now: Timestamp) -> bool {
        let is_found = self.files.iter().any(|file| file.open.is_some());
        let pause = match self.is_changing(now) {
            true => Span::ZERO,
            false if is_found => READ_STILL,
            // A new file comes with a prompt, which the screen shows.
            false => FIND_AGAIN_STILL,
        };
        let is_other = agent.is_changing || self.is_of_another_process(agent);
        is_other || self.read_at.is_none_or(|at| now.since(at) >= pause)
    }

    /// The files that were found, with the places of their sources.
    fn open(&self) -> impl Iterator<Item = (usize, &OpenRecord)> {
        self.files.iter().enumerate().filter_map(|(place, file)| Some((place, file.open.as_deref()?)))
    }

    /// The session that another file of the agent names.
    fn session_beside(&self, place: usize) -> Option<String> {
        let others = self.open().filter(|(other, _)| *other != place);
        others
            .filter_map(|(_, open)| open.reader.reading()?.facts.text(FactName::Session))
            .map(str::to_owned)
            .find(|session| is_plain(session))
    }
}

/// Whether a text from a record may be a part of a file's name.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.len() <= 200 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// The search for one file of an agent, which most agents lack, and the file once found.
#[derive(Clone, Debug, Default)]
struct RecordFile {
    sought_at: Option<Timestamp>,
    /// The session whose file it is.
    session: Option<String>,
    /// For a recording: what to keep, and whether it was not told yet that there is no file.
    keeping: Option<RecordKeeping>,
    is_missed: bool,
    open: Option<Box<OpenRecord>>,
}

/// A file that was found, and how far it was read.
#[derive(Clone, Debug, Default)]
struct OpenRecord {
    path: PathBuf,
    /// The same below the agent's folder.
    below: PathBuf,
    /// Whether it is a database for all sessions.
    is_shared: bool,
    /// Where the agent works, if the file was found by that.
    workplace: Option<Workplace>,
    found_at: Timestamp,
    /// The device and inode of the file, and its stamp at the last poll.
    identity: Option<(u64, u64)>,
    stamp: FileStamp,
    /// The stamp of the file with what is not in the database yet.
    journal: FileStamp,
    /// A hash of the stamps of a folder's files.
    gathered: Option<u64>,
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    half: Vec<u8>,
    /// Whether the rest of a line that is too long is skipped.
    skips: bool,
    reader: AgentRecordReader,
    /// For a recording: what to keep, the lines that were read since the last call, the sum of those before them, and
    /// whether the file was begun anew.
    keeping: Option<RecordKeeping>,
    added: Vec<Value>,
    known: Option<Box<AgentRecordReader>>,
    is_anew: bool,
}

/// Which record file to follow: source, agent, session.
struct Followed<'a> {
    source: &'a AgentRecordSource,
    agent: &'a RecordedAgent,
    session: Option<&'a str>,
    files: &'a Files,
    now: Timestamp,
}

impl RecordFile {
    /// Finds the file if the last search was at least `pause` ago, and reads what was added to it.
    fn follow(&mut self, of: &Followed<'_>, pause: Span, now: Timestamp) {
        let Followed { source, agent, session, files, .. } = *of;
        let is_other = self.session.as_deref() != session;
        if is_other || self.sought_at.is_none_or(|at| now.since(at) >= pause) {
            self.sought_at = Some(now);
            self.session = session.map(str::to_owned);
            let workplace = source.directory.as_ref().and_then(|_| find::works_alone(files, agent));
            let found = match (&source.directory, &workplace) {
                (Some(_), Some(workplace)) => find::find_by_directory(files, source, agent, workplace),
                (Some(_), None) => None,
                (None, _) => {
                    agent.in_its_session(files).find_map(|process| find::find(files, source, process, session))
                }
            };
            let is_same =
                |path: &Path| self.open.as_ref().is_some_and(|open| open.path == path && open.workplace == workplace);
            match found {
                None => self.lose(),
                Some((_, path)) if is_same(&path) => {}
                Some((base, path)) => {
                    self.open = Some(Box::new(OpenRecord {
                        below: path.strip_prefix(&base).map(Path::to_owned).unwrap_or_default(),
                        path,
                        is_shared: !source.queries.is_empty(),
                        workplace,
                        found_at: now,
                        keeping: self.keeping,
                        is_anew: true,
                        ..OpenRecord::default()
                    }));
                }
            }
        }
        // It may have been removed, to come back or to be found elsewhere.
        if self.open.as_mut().is_some_and(|open| open.read(of).is_none()) {
            self.lose();
        }
    }

    /// There is no such file any more.
    fn lose(&mut self) {
        self.is_missed |= self.open.take().is_some();
    }

    fn addition(&mut self, source: &AgentRecordSource) -> Option<RecordAddition> {
        let none = || RecordAddition { source: source.name().to_owned(), is_anew: true, ..RecordAddition::default() };
        let is_missed = std::mem::take(&mut self.is_missed);
        match &mut self.open {
            Some(open) => open.addition(source),
            None => is_missed.then(none),
        }
    }
}

impl OpenRecord {
    /// Reads what was added; `None` if the file is gone, or is another agent's.
    fn read(&mut self, of: &Followed<'_>) -> Option<()> {
        if of.source.gathered {
            self.read_gathered(of);
            return Some(());
        }
        let path = self.path.clone();
        let state = of.files.state(&path)?;
        match (self.is_shared, of.source.replaced) {
            (true, _) => self.read_database(of, &path, state),
            (false, true) => self.read_whole(of, &path, state),
            (false, false) => self.read_added(of, &path, state),
        }
    }

    fn addition(&mut self, source: &AgentRecordSource) -> Option<RecordAddition> {
        let (lines, is_anew) = (std::mem::take(&mut self.added), std::mem::take(&mut self.is_anew));
        (is_anew || !lines.is_empty()).then(|| RecordAddition {
            source: source.name().to_owned(),
            path: self.below.to_string_lossy().into_owned(),
            is_anew,
            is_partial: is_anew && self.reader.is_partial(),
            known: self.known.take().map(|known| known.summary()).unwrap_or_default(),
            lines,
        })
    }

    /// Takes in one line, or the whole of a file that is replaced.
    fn read_value(&mut self, source: &AgentRecordSource, value: &Value, now: Timestamp) {
        self.reader.read(source, value, now);
        self.keep(source, value);
    }

    /// Keeps a line that was read; of lines that are too old, only their sum. A line without a time is as old as the one
    /// before it; lines added to a known file are new.
    fn keep(&mut self, source: &AgentRecordSource, value: &Value) {
        let Some(RecordKeeping { depth, since }) = self.keeping else { return };
        let written = source.written_at(value);
        let is_old = since.is_some_and(|since| written.map_or(self.added.is_empty(), |at| at < since));
        if self.is_anew && is_old {
            (self.added, self.known) = (Vec::new(), Some(Box::new(self.reader.clone())));
        } else {
            self.added.push(source.kept(value, depth));
        }
    }

    /// Whether the file is unchanged; notes its state.
    fn is_unchanged(&mut self, FileState { identity, stamp }: FileState) -> bool {
        if self.identity.replace(identity) != Some(identity) {
            self.begin_at(0);
            self.stamp = stamp;
            return false;
        }
        std::mem::replace(&mut self.stamp, stamp) == stamp
    }

    /// Reads a part of the file, unless it has been replaced.
    fn part(&self, files: &Files, path: &Path, from: u64, at_most: u64) -> Option<Vec<u8>> {
        let (state, bytes) = files.read(path, from, at_most)?;
        (self.identity == Some(state.identity)).then_some(bytes)
    }

    /// Reads a file that is one value. While it is being written it is empty, or ends with a rest of the old value: then
    /// what was known stays.
    fn read_whole(&mut self, of: &Followed<'_>, path: &Path, state: FileState) -> Option<()> {
        let Followed { source, agent, files, now, .. } = *of;
        if self.is_unchanged(state) {
            return Some(());
        }
        let bytes = self.part(files, path, 0, TAIL)?;
        let Some(Ok(value)) = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>().next() else {
            return Some(());
        };
        if source.directory.is_none() {
            // The id may have been another process's before.
            let began =
                source.start.as_ref().and_then(|start| start.find(&value).pop()?.as_str().map(str::to_owned))?;
            let began = began.rsplit(':').next()?.parse::<u64>().ok()?;
            if !agent.processes.iter().any(|process| files.began(*process) == Some(began)) {
                return None;
            }
        }
        self.read_value(source, &value, now);
        Some(())
    }

    /// Reads the files of a folder when one of them has changed.
    fn read_gathered(&mut self, of: &Followed<'_>) {
        let Followed { source, files, now, .. } = *of;
        let found = find::gathered(files, &self.path, source);
        let mut stamps: Vec<_> = found.iter().filter_map(|path| Some((path, files.state(path)?.stamp))).collect();
        stamps.sort();
        let stamps = fnv(format!("{stamps:?}").as_bytes());
        if self.gathered.replace(stamps) == Some(stamps) {
            return;
        }
        let value = |path: &PathBuf| serde_json::from_str::<Value>(&files.content(path)?).ok();
        let values: Vec<Value> = found.iter().filter_map(value).collect();
        self.read_value(source, &json!({ "files": values }), now);
    }

    /// Reads a database again when it has changed. If it cannot be read now, what was known stays, and it is tried again.
    fn read_database(&mut self, of: &Followed<'_>, path: &Path, state: FileState) -> Option<()> {
        let Followed { source, files, now, .. } = *of;
        let workplace = self.workplace.clone()?;
        let journal = database::journal(path).and_then(|journal| files.state(&journal));
        let found = (Some(state.identity), state.stamp, journal.map(|journal| journal.stamp).unwrap_or_default());
        if (self.identity, self.stamp, self.journal) == found {
            return Some(());
        }
        let answers = database::query(path, &source.queries, &workplace);
        match answers.ended {
            Err(Unanswered::Busy) => return Some(()),
            Ok(()) => (),
            Err(Unanswered::TooLong) if self.reader.reading().is_none() => (),
            // It may be answered in time after another change.
            Err(Unanswered::TooLong) => {
                (self.identity, self.stamp, self.journal) = found;
                return Some(());
            }
        }
        (self.identity, self.stamp, self.journal) = found;
        self.begin_at(0);
        answers.rows.iter().for_each(|row| self.read_value(source, row, now));
        Some(())
    }

    /// Starts over at a byte; what was read before is forgotten. Unless at the beginning, the first bytes are part of a
    /// line.
    fn begin_at(&mut self, offset: u64) {
        let is_partial = offset > 0;
        (self.offset, self.half, self.skips) = (offset, Vec::new(), is_partial);
        self.reader = AgentRecordReader::new(is_partial);
        (self.added, self.known, self.is_anew) = (Vec::new(), None, true);
    }

    /// Reads at the file's head what holds for all of it.
    fn read_head(&mut self, of: &Followed<'_>, path: &Path) -> Option<()> {
        let Followed { source, files, now, .. } = *of;
        let bytes = self.part(files, path, 0, HEAD)?;
        let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|part| part.ends_with(b"\n"));
        for value in whole.filter_map(|part| line(source, part)) {
            if self.reader.read_head(source, &value, now) {
                self.keep(source, &value);
            }
        }
        Some(())
    }

    /// Reads the lines that were added since the last time.
    fn read_added(&mut self, of: &Followed<'_>, path: &Path, state: FileState) -> Option<()> {
        let Followed { source, files, now, .. } = *of;
        let unchanged = self.is_unchanged(state);
        let size = self.stamp.length;
        if size < self.offset {
            // It was truncated.
            self.begin_at(0);
        } else if unchanged && self.offset >= size {
            return Some(());
        }
        if size - self.offset > AT_ONCE {
            self.begin_at(size - TAIL);
            self.read_head(of, path)?;
        }
        let bytes = self.part(files, path, self.offset, AT_ONCE)?;
        self.offset += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = part.ends_with(b"\n");
            if !self.skips {
                self.half.extend_from_slice(part);
            }
            self.skips |= self.half.len() > LINE;
            if self.skips {
                self.half.clear();
            } else if is_whole && let Some(value) = line(source, &self.half) {
                self.read_value(source, &value, now);
            }
            if is_whole {
                self.half.clear();
                self.skips = false;
            }
        }
        // A long line must not keep its memory.
        self.half.shrink_to_fit();
        Some(())
    }
}

/// What a line says: a JSON value, or its text.
fn line(source: &AgentRecordSource, bytes: &[u8]) -> Option<Value> {
    match source.text {
        true => Some(json!({ "line": String::from_utf8_lossy(bytes).trim_end() })),
        false => serde_json::from_slice(bytes).ok(),
    }
}

#[cfg(test)]
mod tests;
