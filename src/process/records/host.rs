//! The processes and files of a host with /proc, read over its connection.
//!
//! What all agents need in a poll is requested at once, the rest when needed. Unexpected data counts as absent; after a torn
//! or late answer, nothing more is requested until the next poll.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use super::database::{DatabaseAnswers, Unanswered};
use super::files::{FileState, Files};
use super::find::{Workplace, fits};
use super::{ENTRIES, RecordedAgent, database};
use crate::agent_record::RecordClock;
use crate::private::FileStamp;
use crate::process::{listed, proc};
use crate::profile::ProcessInfo;
use crate::time::{Span, Timestamp};
use crate::tmux::{Error, Nonce, Server};

/// Bytes of a file that are read at one poll.
const AT_ONCE: u64 = 512 << 10;
/// What `stat` prints of a file: its owner, its kind, and what identifies it and its state.
const STAT: &str = "--format=%u %f %d %i %s %Y %y %n";
/// The bits of a mode with the kind of file, and their value for a regular one.
const KINDS: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// All that is read at each poll: the time there, in nanoseconds if `date` has them, and the user's id; the processes with
/// the given ids; the files that they hold open; and the states of files. A mark separates the parts.
const POLL: &str = r#"mark=$1 format=$2 count=$3
shift 3
date +%s%N
id -u
open=
while [ "$count" -gt 0 ]; do
  IFS= read -r line </proc/"$1"/stat && printf '%s\n' "$line" && open="$open /proc/$1/fd"
  shift
  count=$((count - 1))
done 2>/dev/null
printf '%s\n' "$mark"
# With a second thing to list it names the folders.
ls -l /dev/null $open 2>/dev/null
printf '%s\n' "$mark"
[ $# -eq 0 ] || stat "$format" -- "$@" 2>/dev/null
exit 0
"#;
/// The states of the files below a folder that fit a pattern. The shell reads the pattern as nothing else.
const BELOW: &str = r#"cd -- "$1" 2>/dev/null || exit 0
IFS=
printf '%s\0' $2 | xargs -0 stat "$3" -- 2>/dev/null
exit 0
"#;
/// The file below a folder that fits a pattern and whose line is a text.
const SAYING: &str = r#"cd -- "$1" 2>/dev/null || exit 0
IFS=
for file in $2; do
  line=
  [ -f "$file" ] && [ -O "$file" ] && [ ! -L "$file" ] && read -r line <"$file"
  [ "$line" != "$3" ] || { printf '%s\n' "$file"; exit 0; }
done
"#;
/// The repository around a directory, else the directory itself.
const REPOSITORY: &str = r#"cd -P -- "$1" || exit 1
while [ ! -e .git ] && [ "$PWD" != / ]; do cd -P ..; done
[ -e .git ] || cd -P -- "$1"
pwd -P
"#;
/// When the machine was started, in seconds; the readable working directories of processes; and all processes.
const PROCESSES: &str = r#"mark=$1
shift
sed -n 's/^btime //p' /proc/stat
ls -ld /proc/[0-9]*/cwd 2>/dev/null
printf '%s\n' "$mark"
exec "$@"
"#;
/// Queries a database; the queries are the first line of standard input.
const QUERY: &str = include_str!("query.py");
/// The state of an open file, and some of its bytes from an offset.
const READ: &str = r#"[ -f "$1" ] && [ ! -L "$1" ] || exit 1
{ stat -L "$4" /proc/self/fd/0 && tail -c +"$2" | head -c "$3"; } <"$1"
"#;

/// A host, and what is known of it in the current poll.
#[derive(Debug)]
pub(super) struct ProcessesOnHost {
    server: Server,
    runtime: Handle,
    is_silent: Cell<bool>,
    user: Option<u32>,
    /// The session and the start of each process, by id.
    processes: HashMap<u32, (u64, u64)>,
    /// Variables of processes, by id and start: they never change.
    variables: RefCell<HashMap<(u32, u64, String), Option<OsString>>>,
    held: HashMap<u32, Vec<PathBuf>>,
    states: RefCell<HashMap<PathBuf, Option<FileState>>>,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    /// All processes, once they were asked for.
    all: OnceCell<AllProcesses>,
}

/// The processes of a host.
#[derive(Debug, Default)]
struct AllProcesses {
    /// When the machine was started, as it says so.
    started: String,
    directories: HashMap<u32, PathBuf>,
    processes: BTreeMap<u32, ProcessInfo>,
}

impl ProcessesOnHost {
    pub(super) fn new(server: Server, runtime: Handle) -> Self {
        Self {
            server,
            runtime,
            is_silent: Cell::new(false),
            user: None,
            processes: HashMap::new(),
            variables: RefCell::default(),
            held: HashMap::new(),
            states: RefCell::default(),
            real: RefCell::default(),
            all: OnceCell::new(),
        }
    }

    fn all(&self) -> &AllProcesses {
        self.all.get_or_init(|| {
            let mark = Nonce::new().to_string();
            let words: Vec<&str> = [&[mark.as_str()], listed::LIST].concat();
            let words: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
            let answer = self.ask_shell(PROCESSES, &words).unwrap_or_default();
            let Ok([directories, processes]) = <[&[u8]; 2]>::try_from(parts(&answer, &mark)) else {
                return AllProcesses::default();
            };
            let (started, directories) = directories.split_at(line_end(directories));
            let processes = String::from_utf8_lossy(processes);
            let processes = listed::read(&processes);
            let directories = directories.split(|byte| *byte == b'\n').filter_map(read_directory).collect();
            AllProcesses { started: String::from_utf8_lossy(started).into_owned(), directories, processes }
        })
    }

    /// What a program prints there; `None` if it fails or does not answer.
    fn ask(&self, words: &[&OsStr], stdin: &str) -> Option<Vec<u8>> {
        if self.is_silent.get() {
            return None;
        }
        let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        let answer = self.runtime.block_on(self.server.print_beside(&words?, stdin.as_bytes().to_vec()));
        let complain = |error: &Error| {
            let is_silent = matches!(error, Error::TimedOut { .. } | Error::Unreachable { .. } | Error::Garbled(_));
            self.is_silent.set(is_silent);
            tracing::debug!(%error, "a record was not read");
        };
        answer.inspect_err(complain).ok()
    }

    fn ask_shell(&self, script: &str, words: &[&OsStr]) -> Option<Vec<u8>> {
        // The whole script is read before any of it runs.
        let before = ["sh", "-c", r#"eval "$(cat)""#, "sh"].map(OsStr::new);
        self.ask(&[&before, words].concat(), script)
    }

    fn read_states(&self, answer: &[u8]) {
        let states = answer.split(|byte| *byte == b'\n').filter_map(|line| self.read_state(line));
        self.states.borrow_mut().extend(states.map(|(state, path)| (path, Some(state))));
    }

    /// Reads a line of [`STAT`]; `None` unless it is a regular file of this user.
    fn read_state(&self, line: &[u8]) -> Option<(FileState, PathBuf)> {
        let mut fields = line.splitn(10, |byte| *byte == b' ');
        let mut next = || std::str::from_utf8(fields.next()?).ok();
        let (user, mode) = (next()?.parse().ok()?, u32::from_str_radix(next()?, 16).ok()?);
        let identity = (next()?.parse().ok()?, next()?.parse().ok()?);
        let (length, seconds) = (next()?.parse().ok()?, next()?.parse().ok()?);
        // `2026-11-23 08:00:00.123456789 +0000`
        let (_date, time, _zone) = (next()?, next()?, next()?);
        let nanoseconds = time.split_once('.').and_then(|(_, fraction)| fraction.parse().ok()).unwrap_or(0);
        let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
        let is_own = Some(user) == self.user && mode & KINDS == REGULAR;
        let stamp = FileStamp { seconds, nanoseconds, length };
        is_own.then_some((FileState { identity, stamp }, path))
    }
}

impl Files for ProcessesOnHost {
    fn begin(&mut self, agents: &[&RecordedAgent], known: &[&Path], now: Timestamp) -> RecordClock {
        (self.processes, self.held, self.is_silent) = Default::default();
        self.states.borrow_mut().clear();
        self.real.borrow_mut().clear();
        self.all.take();
        let ids: Vec<u32> = agents.iter().flat_map(|agent| agent.processes.iter().copied()).collect();
        let mark = Nonce::new();
        let mut words = vec![mark.to_string().into(), OsString::from(STAT), ids.len().to_string().into()];
        words.extend(ids.iter().map(|id| id.to_string().into()));
        words.extend(known.iter().map(|path| path.as_os_str().to_owned()));
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let Some(answer) = self.ask_shell(POLL, &words) else {
            // Its shell ends it well, whatever was missing.
            self.is_silent.set(true);
            return RecordClock::from(now);
        };
        self.user = None;
        let Ok([processes, held, states]) = <[&[u8]; 3]>::try_from(parts(&answer, &mark.to_string())) else {
            return RecordClock::from(now);
        };
        let processes = String::from_utf8_lossy(processes);
        let mut lines = processes.lines();
        let Some(clock) = lines.next().and_then(read_clock) else { return RecordClock::from(now) };
        self.user = lines.next().and_then(|line| line.parse().ok());
        for line in lines {
            let process = proc::stat_field_of(line, 3).zip(proc::stat_field_of(line, 19));
            let id = line.split(' ').next().and_then(|id| id.parse().ok()).filter(|id| ids.contains(id));
            self.processes.extend(id.zip(process));
        }
        let alive = &self.processes;
        self.variables.borrow_mut().retain(|(id, began, _), _| alive.get(id).is_some_and(|(_, at)| at == began));
        self.held = read_held(held, &ids);
        self.states.borrow_mut().extend(known.iter().map(|path| (path.to_path_buf(), None)));
        self.read_states(states);
        // The host reported its time before anything was read, so nothing counts as newer than it is.
        RecordClock::new(now, clock)
    }

    fn is_silent(&self) -> bool {
        self.is_silent.get()
    }

    fn is_here(&self) -> bool {
        false
    }

    fn at_once(&self) -> u64 {
        AT_ONCE
    }

    fn session(&self, process: u32) -> Option<u64> {
        self.processes.get(&process).map(|(session, _)| *session)
    }

    fn began(&self, process: u32) -> Option<u64> {
        self.processes.get(&process).map(|(_, began)| *began)
    }

    fn variable(&self, process: u32, name: &str) -> Option<OsString> {
        let key = (process, self.began(process)?, name.to_owned());
        if let Some(known) = self.variables.borrow().get(&key) {
            return known.clone();
        }
        // An environment holds keys and tokens as well; only what is asked for leaves the host.
        let script = r#"tr "\n\000" "\001\n" <"/proc/$1/environ" | sed -n "s/^$2=//p""#;
        let answer = self.ask(&["sh", "-c", script, "sh", &process.to_string(), name].map(OsStr::new), "")?;
        let value = answer.strip_suffix(b"\n").map(|value| OsString::from_vec(value.to_vec()));
        self.variables.borrow_mut().insert(key, value.clone());
        value
    }

    fn held(&self, process: u32) -> Vec<PathBuf> {
        self.held.get(&process).cloned().unwrap_or_default()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real.borrow().get(path) {
            return known.clone();
        }
        let words = ["sh", "-c", r#"[ -e "$1" ] && readlink -f -- "$1""#, "sh"].map(OsStr::new);
        let real = self.ask(&[&words[..], &[path.as_os_str()]].concat(), "").and_then(read_path);
        self.real.borrow_mut().insert(path.to_owned(), real.clone());
        real
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.ask(&[OsStr::new("test"), OsStr::new("-d"), path.as_os_str()], "").is_some()
    }

    fn workplace(&self, process: u32) -> Option<Workplace> {
        let began = proc::at_tick(&self.all().started, self.began(process)?)?;
        Some(Workplace { directory: self.all().directories.get(&process)?.clone(), began })
    }

    fn working_in(&self, directory: &Path) -> Vec<ProcessInfo> {
        let AllProcesses { directories, processes, .. } = self.all();
        let there = directories.iter().filter(|(_, path)| *path == directory);
        there.filter_map(|(process, _)| processes.get(process).cloned()).collect()
    }

    fn ancestors(&self, process: u32) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut next = Some(process);
        while let Some(process) = next.filter(|&process| process > 1 && found.insert(process)) {
            next = self.all().processes.get(&process).map(|process| process.parent);
        }
        found
    }

    fn repository(&self, directory: &Path) -> Option<PathBuf> {
        read_path(self.ask_shell(REPOSITORY, &[directory.as_os_str()])?)
    }

    fn saying(&self, base: &Path, wanted: &str, text: &str) -> Option<PathBuf> {
        let words = [base.as_os_str(), OsStr::new(wanted), OsStr::new(text)];
        let answer = String::from_utf8(self.ask_shell(SAYING, &words)?).ok()?;
        let path = Path::new(answer.trim_end_matches('\n'));
        fits(path, wanted).then(|| base.join(path))
    }

    fn below(&self, base: &Path, wanted: &str) -> Vec<PathBuf> {
        let words = [base.as_os_str(), OsStr::new(wanted), OsStr::new(STAT)];
        let answer = self.ask_shell(BELOW, &words).unwrap_or_default();
        let found = answer.split(|byte| *byte == b'\n').filter_map(|line| self.read_state(line));
        let found = found.filter(|(_, path)| fits(path, wanted)).take(ENTRIES);
        let found: Vec<_> = found.map(|(state, path)| (base.join(path), Some(state))).collect();
        self.states.borrow_mut().extend(found.iter().cloned());
        found.into_iter().map(|(path, _)| path).collect()
    }

    fn state(&self, path: &Path) -> Option<FileState> {
        if !self.states.borrow().contains_key(path) {
            self.states.borrow_mut().insert(path.to_owned(), None);
            let words = ["stat", STAT, "--"].map(OsStr::new);
            self.read_states(&self.ask(&[&words[..], &[path.as_os_str()]].concat(), "")?);
        }
        self.states.borrow().get(path).copied().flatten()
    }

    fn read(&self, path: &Path, from: u64, at_most: u64) -> Option<(FileState, Vec<u8>)> {
        // `tail` counts from one.
        let (from, at_most) = (OsString::from((from + 1).to_string()), OsString::from(at_most.to_string()));
        let mut answer = self.ask_shell(READ, &[path.as_os_str(), &from, &at_most, OsStr::new(STAT)])?;
        let content = answer.split_off(answer.iter().position(|byte| *byte == b'\n')? + 1);
        answer.pop();
        Some((self.read_state(&answer)?.0, content))
    }

    fn query(&self, path: &Path, queries: &[String], at: &Workplace) -> DatabaseAnswers {
        let asked = json!({
            "path": path.to_str(), "directory": at.directory.to_str(), "began": at.began.as_millis(), "queries": queries,
            "busy": database::BUSY.as_secs_f64(), "longest": database::LONGEST.as_secs_f64(), "rows": database::ROWS,
            "bytes": AT_ONCE,
        });
        let program = "import json, sys; asked = json.loads(sys.stdin.readline()); exec(sys.stdin.read())";
        let words = ["python3", "-I", "-c", program].map(OsStr::new);
        let answer = self.ask(&words, &format!("{asked}\n{QUERY}")).unwrap_or_default();
        let answer = String::from_utf8_lossy(&answer);
        let (rows, ended) = answer.trim_end().rsplit_once('\n').unwrap_or(("", answer.trim_end()));
        let ended = match ended {
            "done" => Ok(()),
            "busy" => Err(Unanswered::Busy),
            // It took too long, or the host has no program for it.
            _ => Err(Unanswered::TooLong),
        };
        let row = |line| -> Option<Value> {
            let row: Map<String, Value> = serde_json::from_str(line).ok()?;
            let read = |value| if let Value::String(text) = value { database::read_text(&text) } else { value };
            Some(row.into_iter().map(|(name, value)| (name, read(value))).collect())
        };
        DatabaseAnswers { rows: rows.lines().filter_map(row).collect(), ended }
    }
}

/// The parts of an answer, which marks on lines of their own separate.
fn parts<'a>(answer: &'a [u8], mark: &str) -> Vec<&'a [u8]> {
    let mark = format!("{mark}\n");
    let (mut parts, mut rest) = (Vec::new(), answer);
    while let Some(at) = rest.windows(mark.len()).position(|part| part == mark.as_bytes()) {
        parts.push(&rest[..at]);
        rest = &rest[at + mark.len()..];
    }
    parts.push(rest);
    parts
}

/// Where the first line ends.
fn line_end(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len())
}

/// Reads a line that is an absolute path.
fn read_path(mut answer: Vec<u8>) -> Option<PathBuf> {
    let is_line = answer.pop() == Some(b'\n') && answer.starts_with(b"/");
    is_line.then(|| PathBuf::from(OsString::from_vec(answer)))
}

/// The target of a link, in a line of `ls -l`.
fn target(line: &[u8]) -> Option<(&[u8], PathBuf)> {
    let at = line.windows(4).position(|part| part == b" -> ")?;
    Some((&line[..at], PathBuf::from(OsStr::from_bytes(&line[at + 4..]))))
}

/// Reads the line of a process's working directory: `… /proc/77/cwd -> /home/dev`.
fn read_directory(line: &[u8]) -> Option<(u32, PathBuf)> {
    let (link, directory) = target(line)?;
    let process = link.strip_suffix(b"/cwd")?.rsplit(|byte| *byte == b'/').next()?;
    Some((std::str::from_utf8(process).ok()?.parse().ok()?, directory))
}

/// Reads what `date +%s%N` printed; the end of the second if it has no nanoseconds.
fn read_clock(line: &str) -> Option<Timestamp> {
    let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
    let number: i64 = digits.parse().ok()?;
    Some(match digits.len() > 12 {
        true => Timestamp::from_millis(number / 1_000_000),
        false => Timestamp::from_millis(number.checked_mul(1000)?) + Span::from_secs(1),
    })
}

/// Reads what `ls -l` printed of open files, by process.
fn read_held(answer: &[u8], processes: &[u32]) -> HashMap<u32, Vec<PathBuf>> {
    let mut held: HashMap<u32, Vec<PathBuf>> = HashMap::new();
    let mut process = None;
    for line in answer.split(|byte| *byte == b'\n') {
        if let Some(folder) = line.strip_prefix(b"/proc/").and_then(|line| line.strip_suffix(b"/fd:")) {
            process =
                std::str::from_utf8(folder).ok().and_then(|id| id.parse().ok()).filter(|id| processes.contains(id));
        }
        if let (Some(id), Some((_, path))) = (process, target(line)) {
            held.entry(id).or_default().push(path);
        }
    }
    held
}
