//! Finds an agent's records: by proof that a file belongs to its process, or by the directory that it works in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::database;
use super::files::{FileState, Files, Workplace, part_fits};
use crate::agent_record::{AgentRecordSource, DirectoryLink};
use crate::ids::TerminalKey;
use crate::profile::{ProcessInfo, ProfileSet};
use crate::time::{Span, Timestamp};

/// Bytes of a file that are read at one poll. If there are more, only the end is read, so that what came before does not
/// pass for the present.
pub(super) const AT_ONCE: u64 = 4 << 20;
pub(super) const TAIL: u64 = 256 << 10;
/// Bytes of its beginning that are read in that case: Codex's first line has 22 kB.
pub(super) const HEAD: u64 = 64 << 10;

/// Files of a folder that are read together.
const GATHERED: usize = 100;
/// Files of a directory that are read to find the newest that fits.
const CANDIDATES: usize = 8;
/// How exactly the start of a process is known.
const CLOCK: Span = Span::from_secs(2);

/// An agent whose records may be read.
#[derive(Clone, Debug)]
pub struct RecordedAgent {
    pub key: TerminalKey,
    /// The processes that are the agent: a launcher and what it started.
    pub processes: Vec<u32>,
    pub sources: Arc<[AgentRecordSource]>,
    /// Its tool, and the profiles that recognise other processes of it.
    pub tool: String,
    pub profiles: Arc<ProfileSet>,
    /// Whether its screen has changed since the last poll.
    pub is_changing: bool,
}

impl RecordedAgent {
    /// Its processes without services that it started: those hold the files of other agents as well.
    pub(super) fn in_its_session(&self, files: &Files) -> impl Iterator<Item = u32> {
        let session = self.processes.first().and_then(|process| files.session(*process));
        self.processes.iter().copied().filter(move |process| session.is_some() && files.session(*process) == session)
    }
}

/// Where an agent works, if no other agent of its kind works there.
pub(super) fn works_alone(files: &Files, agent: &RecordedAgent) -> Option<Workplace> {
    let workplace = files.workplace(*agent.processes.first()?)?;
    let is_other = |process: &ProcessInfo| !is_part_of(files, process.pid, agent) && is_same_kind(process, agent);
    let there = files.working_in(&workplace.directory);
    // If it is not listed itself, others are not either.
    let is_seen = there.iter().any(|process| agent.processes.contains(&process.pid));
    (is_seen && !there.iter().any(is_other)).then_some(workplace)
}

/// Whether a process belongs to an agent: it started it, or was started by it.
fn is_part_of(files: &Files, process: u32, agent: &RecordedAgent) -> bool {
    let family = files.ancestors(process);
    agent.processes.iter().any(|own| family.contains(own) || files.ancestors(*own).contains(&process))
}

fn is_same_kind(process: &ProcessInfo, agent: &RecordedAgent) -> bool {
    let process = ProcessInfo { foreground: true, ..process.clone() };
    !agent.profiles.agent_processes(&agent.tool, &[process]).is_empty()
}

/// The agent's folder, and the newest file of a source that was changed since the agent began, among those that its
/// directory leads to.
pub(super) fn find_by_directory(
    files: &Files,
    source: &AgentRecordSource,
    agent: &RecordedAgent,
    at: &Workplace,
) -> Option<(PathBuf, PathBuf)> {
    let base = base(files, source, *agent.processes.first()?, Some(&at.directory))?;
    let directory = at.directory.to_str()?;
    let slug = directory.trim_start_matches('/').replace(['/', ':'], "-");
    let mut file = source.file.as_deref()?.replace("{cwd}", &slug);
    if let Some(DirectoryLink::File(naming)) = &source.directory {
        let naming_file = files.saying(&base, naming, directory)?;
        file = file.replace("{directory}", &starred(naming_file.strip_prefix(&base).ok()?, naming)?);
    }
    let is_recent =
        |path: PathBuf| Some((changed(files, source, &path)?, path)).filter(|(at_, _)| *at_ + CLOCK >= at.began);
    let mut found: Vec<(Timestamp, PathBuf)> = files.below(&base, &file).into_iter().filter_map(is_recent).collect();
    found.sort();
    let is_of_it = |path: &PathBuf| match &source.directory {
        Some(DirectoryLink::Line(place)) => first_value(files, path, source).is_some_and(|value| {
            place.find(&value).iter().any(|it| it.as_str() == Some(directory)) && source.first.hold(&value)
        }),
        _ => begins_as(files, path, source),
    };
    let mut newest = found.into_iter().rev().take(CANDIDATES).map(|(_, path)| path);
    inside(files, &base, &newest.find(is_of_it)?)
}

/// The files of a source in the folder that they are gathered from, by their names.
pub(super) fn gathered(files: &Files, folder: &Path, source: &AgentRecordSource) -> Vec<PathBuf> {
    let name = source.file.as_deref().and_then(|file| file.rsplit('/').next()).unwrap_or_default();
    let mut found = files.below(folder, name);
    found.sort();
    found.truncate(GATHERED);
    found
}

/// When a file was last changed; a database is as new as its journal.
fn changed(files: &Files, source: &AgentRecordSource, path: &Path) -> Option<Timestamp> {
    let at = |path: &Path| files.state(path).map(FileState::changed);
    let journal = (!source.queries.is_empty()).then(|| database::journal(path)).flatten();
    at(path).max(journal.and_then(|journal| at(&journal)))
}

/// What matches the `*` of a pattern in a path that fits it.
fn starred(path: &Path, pattern: &str) -> Option<String> {
    let parts = path.iter().filter_map(|part| part.to_str()).zip(pattern.split('/'));
    let mut starred = parts.filter_map(|(part, wanted)| {
        let (begin, end) = wanted.split_once('*')?;
        part.strip_prefix(begin)?.strip_suffix(end).map(str::to_owned)
    });
    starred.next()
}

/// The agent's folder, and the file of a source that is proven to belong to one process, if there is one.
pub(super) fn find(
    files: &Files,
    source: &AgentRecordSource,
    process: u32,
    session: Option<&str>,
) -> Option<(PathBuf, PathBuf)> {
    let base = base(files, source, process, None)?;
    let id = process.to_string();
    let file = source.file.as_deref();
    let path = match (&source.open, file) {
        (Some(open), _) => {
            let mut held = held(files, process, &base, &open.replace("{pid}", &id));
            held.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
            let beside = |path: &Path| match file.and_then(|file| file.strip_prefix("./")) {
                Some(name) => path.with_file_name(name),
                None => path.to_owned(),
            };
            held.iter().rev().map(|path| beside(path)).find(|path| begins_as(files, path, source))?
        }
        (None, Some(file)) if source.gathered => {
            let folder = base.join(file.rsplit_once('/')?.0.replace("{session}", session?));
            files.is_folder(&folder).then_some(folder)?
        }
        (None, Some(file)) if file.contains("{session}") => {
            files.below(&base, &file.replace("{pid}", &id).replace("{session}", session?)).into_iter().next()?
        }
        (None, file) => base.join(file?.replace("{pid}", &id)),
    };
    inside(files, &base, &path)
}

/// The agent's folder and a file, links resolved; `None` if they lead out of the folder.
fn inside(files: &Files, base: &Path, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let real = files.real(path)?;
    real.starts_with(base).then(|| (base.to_owned(), real))
}

/// The agent's folder: the first that exists.
fn base(files: &Files, source: &AgentRecordSource, process: u32, directory: Option<&Path>) -> Option<PathBuf> {
    source.base.iter().find_map(|base| match base.as_str() {
        "{repository}" => files.repository(directory?),
        base => folder(files, base, process),
    })
}

/// An agent's folder, links resolved.
fn folder(files: &Files, written: &str, process: u32) -> Option<PathBuf> {
    let variable = |name: &str| -> Option<OsString> { files.variable(process, name).filter(|value| !value.is_empty()) };
    let path = match (written.strip_prefix('$'), written.strip_prefix("~/")) {
        (Some(written), _) => {
            let (name, rest) = written.split_once('/').unwrap_or((written, ""));
            PathBuf::from(variable(name)?).join(rest)
        }
        (None, Some(rest)) => PathBuf::from(variable("HOME")?).join(rest),
        (None, None) => PathBuf::from(written),
    };
    path.is_absolute().then(|| files.real(&path)).flatten()
}

/// The files below a folder that a process holds open and whose names fit.
fn held(files: &Files, process: u32, base: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut found = files.held(process);
    found.retain(|path| path.strip_prefix(base).is_ok_and(|rest| fits(rest, wanted)));
    found.dedup();
    found
}

/// Whether each part of a path fits the part of the pattern at its place.
pub(super) fn fits(path: &Path, wanted: &str) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let wanted: Vec<&str> = wanted.split('/').collect();
    parts.len() == wanted.len() && parts.iter().zip(wanted).all(|(part, wanted)| part_fits(part, wanted))
}

/// Whether the first line of a file says what the source requires.
fn begins_as(files: &Files, path: &Path, source: &AgentRecordSource) -> bool {
    source.first.is_empty() || first_value(files, path, source).is_some_and(|value| source.first.hold(&value))
}

/// The first line of a file, or all of it if it is one value.
fn first_value(files: &Files, path: &Path, source: &AgentRecordSource) -> Option<Value> {
    let first = |text: Vec<u8>| text.split_inclusive(|byte| *byte == b'\n').next().map(<[u8]>::to_vec);
    let head = || files.read(path, 0, HEAD).and_then(|(_, text)| first(text));
    let text = match (!source.replaced).then(head).flatten().filter(|line| line.ends_with(b"\n")) {
        Some(line) => line,
        None if source.replaced => files.read(path, 0, AT_ONCE)?.1,
        None => first(files.read(path, 0, AT_ONCE)?.1)?,
    };
    serde_json::from_slice(&text).ok()
}
