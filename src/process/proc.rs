//! Processes from Linux's /proc, and their tree.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::profile::ProcessInfo;
use crate::screen::harmless;
use crate::time::Timestamp;

/// Where it is mounted.
pub(super) const ROOT: &str = "/proc";

/// Bytes of a command line that are read. The first words name an agent, never those after a prompt given as an argument.
const COMMAND_LINE: u64 = 16 << 10;

/// What is read of every process.
#[derive(Clone)]
pub(super) struct Stat {
    pub(super) pid: u32,
    pub(super) name: String,
    pub(super) state: char,
    pub(super) parent: u32,
    pub(super) group: i64,
    pub(super) terminal: Option<String>,
    /// The foreground group of that terminal; 0 where the system does not tell.
    pub(super) terminal_group: i64,
    /// In ticks since the machine started.
    pub(super) began: Option<u64>,
}

impl Stat {
    /// Reads `PID (NAME) STATE PPID PGRP SESSION TTY TPGID …`. The name may hold blanks and parentheses. One that has ended is
    /// left out, though its parent has not heard of it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (open, close) = (text.find('(')?, text.rfind(')')?);
        let mut fields = text.get(close + 1..)?.split_ascii_whitespace();
        let stat = Self {
            pid: text[..open].trim().parse().ok()?,
            name: harmless(text.get(open + 1..close)?),
            state: fields.next()?.chars().next()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            terminal: fields.nth(1).filter(|number| *number != "0").map(harmless),
            terminal_group: fields.next()?.parse().ok()?,
            began: stat_field_of(text, 19),
        };
        stat.has_not_ended().then_some(stat)
    }

    pub(super) fn has_not_ended(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }

    fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    fn is_in_foreground(&self) -> bool {
        !self.is_stopped() && (self.terminal_group == self.group || self.terminal_group == 0)
    }

    /// The process as agents' rules see it, as far as this alone tells.
    pub(super) fn info(self) -> ProcessInfo {
        let (foreground, stopped) = (self.is_in_foreground(), self.is_stopped());
        let Self { pid, name, parent, terminal, .. } = self;
        ProcessInfo { pid, name, parent, terminal, foreground, stopped, ..ProcessInfo::default() }
    }
}

/// A process in the foreground of its terminal, and what changes if another one, or another program, takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningProcess {
    pid: u32,
    name: String,
    began: u64,
}

impl RunningProcess {
    /// A process of this machine, if it runs in the foreground.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = read_stat(Path::new(ROOT), pid).filter(Stat::is_in_foreground)?;
        Some(Self { pid, began: stat.began?, name: stat.name })
    }

    /// Whether the same program still runs in the foreground.
    pub fn still_runs(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }
}

/// All processes of this machine, as they were read one after the other.
pub(super) struct Table {
    stats: BTreeMap<u32, Stat>,
    children: Children,
}

impl Table {
    /// Reads it as long as `goes_on`.
    pub(super) fn read(proc: &Path, goes_on: impl Fn() -> bool) -> io::Result<Self> {
        let mut table = Self { stats: BTreeMap::new(), children: Children::new() };
        for entry in std::fs::read_dir(proc)?.take_while(|_| goes_on()) {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            // It may have ended since the directory was read.
            let Some(stat) = read_stat(proc, pid) else { continue };
            table.children.entry(stat.parent).or_default().push(pid);
            table.stats.insert(pid, stat);
        }
        Ok(table)
    }

    /// The processes under `roots` in detail.
    pub(super) fn under(&self, proc: &Path, roots: &[u32]) -> PaneProcesses {
        let children = |pid| self.children.get(&pid).cloned().unwrap_or_default();
        of_panes(roots, children, |pid| Some(describe(proc, self.stats.get(&pid)?.clone())))
    }
}

/// Reads the processes under `roots` and no others, by the kernel's lists of children; `None` if it has none. A child may
/// be missing whose sibling ended meanwhile.
pub(super) fn walk(proc: &Path, roots: &[u32]) -> Option<PaneProcesses> {
    if !proc.join("self/task").join(std::process::id().to_string()).join("children").exists() {
        return None;
    }
    Some(of_panes(roots, |pid| children(proc, pid), |pid| Some(describe(proc, read_stat(proc, pid)?))))
}

/// The children of all threads of a process.
fn children(proc: &Path, pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(proc.join(pid.to_string()).join("task")).into_iter().flatten().flatten();
    let listed = threads.filter_map(|thread| read_some(&thread.path().join("children"), COMMAND_LINE));
    listed
        .flat_map(|listed| {
            let listed = String::from_utf8_lossy(&listed);
            listed.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// A process and its parents.
pub(super) fn ancestors(proc: &Path, pid: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|&pid| pid > 1 && found.insert(pid)) {
        next = read_stat(proc, pid).map(|stat| stat.parent);
    }
    found
}

/// When a process began, in ticks since the machine started; this distinguishes processes with the same id.
pub(super) fn began(pid: u32) -> Option<u64> {
    stat_field(pid, 19)
}

/// The session of a process. One that left its terminal's session is a shared service.
pub(super) fn session(pid: u32) -> Option<u64> {
    stat_field(pid, 3)
}

/// A number in a process's `stat`, counted after its name.
fn stat_field(pid: u32, place: usize) -> Option<u64> {
    let bytes = read_some(&Path::new(ROOT).join(pid.to_string()).join("stat"), COMMAND_LINE)?;
    stat_field_of(&String::from_utf8_lossy(&bytes), place)
}

/// The same of the text of a `stat`.
fn stat_field_of(text: &str, place: usize) -> Option<u64> {
    text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace().nth(place)?.parse().ok()
}

/// The same as a time, to the second.
pub(super) fn began_at(pid: u32) -> Option<Timestamp> {
    let text = std::fs::read_to_string(Path::new(ROOT).join("stat")).ok()?;
    at_tick(text.lines().find_map(|line| line.strip_prefix("btime "))?, began(pid)?)
}

/// The time of a tick on a machine that was started at a second since the epoch.
fn at_tick(started: &str, tick: u64) -> Option<Timestamp> {
    /// The milliseconds of a tick, as Linux reports them whatever the kernel's own are.
    const TICK: u64 = 10;
    let started: i64 = started.trim().parse().ok()?;
    let since = i64::try_from(tick.saturating_mul(TICK)).ok()?;
    Some(Timestamp::from_millis(started.checked_mul(1000)?.checked_add(since)?))
}

/// The directory that a process works in.
pub(super) fn directory(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(Path::new(ROOT).join(pid.to_string()).join("cwd")).ok()
}

/// Processes by their directories, as far as this user may read them.
pub(super) fn by_directory() -> HashMap<PathBuf, Vec<u32>> {
    let mut found: HashMap<PathBuf, Vec<u32>> = HashMap::new();
    let pids = std::fs::read_dir(ROOT).into_iter().flatten().flatten();
    for pid in pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        if let Some(directory) = directory(pid) {
            found.entry(directory).or_default().push(pid);
        }
    }
    found
}

/// One process.
pub(super) fn process(pid: u32) -> Option<ProcessInfo> {
    let stat = read_stat(Path::new(ROOT), pid)?;
    Some(ProcessInfo { foreground: true, ..describe(Path::new(ROOT), stat) })
}

fn read_stat(proc: &Path, pid: u32) -> Option<Stat> {
    Stat::parse(&String::from_utf8_lossy(&read_some(&proc.join(pid.to_string()).join("stat"), COMMAND_LINE)?))
}

fn describe(proc: &Path, stat: Stat) -> ProcessInfo {
    let directory = proc.join(stat.pid.to_string());
    let executable = std::fs::read_link(directory.join("exe")).ok();
    ProcessInfo {
        arguments: read_arguments(&directory.join("cmdline")),
        // The kernel marks an executable that an update has replaced while it runs.
        executable: executable.map(|path| path.to_string_lossy().trim_end_matches(" (deleted)").to_owned()),
        ..stat.info()
    }
}

fn read_arguments(path: &Path) -> Vec<String> {
    let bytes = read_some(path, COMMAND_LINE).unwrap_or_default();
    words_of(&String::from_utf8_lossy(&bytes))
}

// The tree of processes.

/// The processes of panes, by the pane's own process id: that process first, then the ones under it on the same terminal, nearest
/// first. None that has ended.
pub type PaneProcesses = BTreeMap<u32, Vec<ProcessInfo>>;

/// The most processes that are listed under one pane. A pane with more runs a build or a bomb, and no agent beyond the
/// first ones.
const PER_PANE: usize = 256;

/// Children by their parent.
pub(super) type Children = BTreeMap<u32, Vec<u32>>;

/// What is known of the processes of panes, of which `children` and `info` tell.
pub(super) fn of_panes(
    roots: &[u32],
    mut children: impl FnMut(u32) -> Vec<u32>,
    info: impl Fn(u32) -> Option<ProcessInfo>,
) -> PaneProcesses {
    let of_pane = |root: &u32| {
        let found = descendants(*root, PER_PANE, &mut children).into_iter();
        let mut found: Vec<ProcessInfo> = found.filter_map(&info).collect();
        // What a tool of an agent runs on a terminal of its own, or on none, is not what the pane shows.
        if let Some(terminal) = found.first().filter(|first| first.pid == *root).and_then(|root| root.terminal.clone())
        {
            found.retain(|process| process.terminal.as_ref() == Some(&terminal));
        }
        (*root, found)
    };
    roots.iter().map(of_pane).collect()
}

/// The words of a command line, with a NUL behind each.
pub(super) fn words_of(text: &str) -> Vec<String> {
    text.trim_end_matches('\0').split('\0').map(harmless).filter(|word| !word.is_empty()).collect()
}

/// A process and everything under it, nearest first, cut at `limit`.
pub(super) fn descendants(root: u32, limit: usize, mut children: impl FnMut(u32) -> Vec<u32>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([root]);
    let mut queue = VecDeque::from([root]);
    while let Some(process) = queue.pop_front() {
        found.push(process);
        if found.len() == limit {
            break;
        }
        // An id may have been reused during the scan, which can turn the tree into a ring.
        queue.extend(children(process).into_iter().filter(|child| seen.insert(*child)));
    }
    found
}

/// Reads a file up to a limit. Files of /proc do not report their size, and reading them in small pieces is slow.
pub(super) fn read_some(path: &Path, limit: u64) -> Option<Vec<u8>> {
    const PIECE: usize = 4 << 10;
    let mut bytes = Vec::with_capacity(PIECE);
    File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, pid: u32, stat: &str, cmdline: &str) {
        let directory = proc.join(pid.to_string());
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("stat"), format!("{pid} {stat} 0 0 0")).unwrap();
        std::fs::write(directory.join("cmdline"), cmdline).unwrap();
    }

    /// What a thread of a process started.
    fn started(proc: &Path, pid: &str, thread: u32, children: &str) {
        let directory = proc.join(pid).join("task").join(thread.to_string());
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("children"), children).unwrap();
    }

    #[test]
    fn the_tree_under_a_pane_is_read_with_names_that_try_to_confuse() {
        let proc = tempfile::tempdir().unwrap();
        let proc = proc.path();
        process(proc, 10, "(bash) S 1 10 10 34816 11", "-bash\0");
        process(proc, 11, "(a) R 99 (b) S 10 11 10 34816 11", "node\0/opt/x y/cli.js\0--flag\0\0");
        process(proc, 12, "(worker) S 11 12 10 34816 11", "");
        process(proc, 20, "(other) S 1 20 20 0 -1", "other\0");
        std::fs::create_dir(proc.join("sys")).unwrap();
        let found = Table::read(proc, || true).unwrap().under(proc, &[10, 77]);
        let names: Vec<_> = found[&10].iter().map(|info| (info.pid, info.name.as_str(), info.foreground)).collect();
        assert_eq!(names, [(10, "bash", false), (11, "a) R 99 (b", true), (12, "worker", false)]);
        assert_eq!(found[&10][1].arguments, ["node", "/opt/x y/cli.js", "--flag"]);
        assert_eq!(found[&77], []);
        assert_eq!(ancestors(proc, 12), BTreeSet::from([10, 11, 12]));
        assert_eq!(walk(proc, &[10, 77]), None, "this kernel does not tell who started whom");
        started(proc, "self", std::process::id(), "");
        started(proc, "10", 10, "11 ");
        started(proc, "11", 11, "");
        started(proc, "11", 13, "12 99 ");
        assert_eq!(walk(proc, &[10, 77]), Some(found));
        assert_eq!(walk(Path::new(ROOT), &[std::process::id()]).map(|found| found.len()), Some(1));
    }

    #[test]
    fn a_process_is_the_same_until_it_ends() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let stat = read_stat(Path::new(ROOT), child.id()).unwrap();
        let is_in_foreground = stat.is_in_foreground();
        let known = RunningProcess { pid: child.id(), name: stat.name, began: stat.began.unwrap() };
        assert_eq!(known.still_runs(), is_in_foreground);
        let earlier = RunningProcess { began: known.began - 1, ..known.clone() };
        assert!(!earlier.still_runs(), "another process had the id before");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!known.still_runs());
    }

    #[test]
    fn a_broken_line_is_no_process() {
        for text in ["", "12", "12 (x", "12 x) S 1", "12 (x) S", "12 (x) S a b c d e", ")("] {
            assert!(Stat::parse(text).is_none(), "{text:?}");
        }
    }
}
