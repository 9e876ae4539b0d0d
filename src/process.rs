//! What runs in a pane (SPEC §3): the processes under the pane's own, and the version of an agent among them.
//!
//! On this machine it reads /proc, on hosts and where there is none it asks a shell. One scan serves all panes of a server.

mod proc;
mod records;
mod version;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::{fs, io};

use tokio::task::JoinHandle;

use crate::profile::ProcessInfo;
use crate::screen::harmless;
use crate::tmux::{Error, Server};
use proc::{Children, of_panes};
pub use proc::{PaneProcesses, RunningProcess};
use proc::{Stat, words_of};
pub use records::{AgentRecords, READ_WITHIN, RecordedAgent, RecordedTranscript};
pub use version::{VersionCache, version_in_path};

/// The most panes whose trees are walked one by one; for more, all processes of the machine are read at once.
const WALKED: usize = 32;

/// How surely processes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoroughness {
    /// Processes started during the listing, or whose sibling ended, may be missing.
    Quick,
    /// All that are there.
    All,
}

/// The processes under each of the given ones, on the server's machine.
///
/// A process that has ended meanwhile is left out. Fails if processes cannot be listed at all.
pub async fn under(server: &Server, roots: Vec<u32>, thoroughness: Thoroughness) -> Result<PaneProcesses, Error> {
    if server.id().host.is_none() && Path::new(proc::ROOT).join("self/stat").exists() {
        // Reading hundreds of small files must not block the thread that waits for other servers.
        let scan = tokio::task::spawn_blocking(move || {
            let root = Path::new(proc::ROOT);
            let is_quick = thoroughness == Thoroughness::Quick && roots.len() <= WALKED;
            match is_quick.then(|| proc::walk(root, &roots)).flatten() {
                Some(walked) => Ok(walked),
                None => proc::Table::read(root, || true).map(|table| table.under(root, &roots)),
            }
        });
        return match scan.await {
            Ok(scanned) => scanned.map_err(|error| Error::Failed(format!("/proc cannot be read: {error}"))),
            Err(error) => Err(Error::Failed(format!("reading /proc failed: {error}"))),
        };
    }
    let listed = server.run_beside(LIST).await;
    let text = listed.map_err(|error| match error {
        Error::Failed(_) => {
            Error::Failed("processes cannot be listed there, as neither /proc nor `ps` tells of them".to_owned())
        }
        other => other,
    })?;
    Ok(under_all(&read_listed(&text), &roots))
}

/// Reads all processes of this machine while something else is awaited; stops when it is dropped.
pub struct TableReading {
    table: JoinHandle<io::Result<proc::Table>>,
    goes_on: Arc<AtomicBool>,
}

impl TableReading {
    /// Begins for a server of this machine, where /proc can be read.
    pub fn begin(server: &Server) -> Option<Self> {
        let root = Path::new(proc::ROOT);
        if server.id().host.is_some() || !root.join("self/stat").exists() {
            return None;
        }
        let goes_on = Arc::new(AtomicBool::new(true));
        let read = Arc::clone(&goes_on);
        let table = tokio::task::spawn_blocking(move || proc::Table::read(root, || read.load(Ordering::Relaxed)));
        Some(Self { table, goes_on })
    }

    /// The processes under each of the given ones; `None` if they are so few that they are better walked, or if the table cannot
    /// be read. One that was started meanwhile is walked.
    async fn under(mut self, roots: &[u32]) -> Option<PaneProcesses> {
        if roots.len() <= WALKED {
            return None;
        }
        let roots = roots.to_vec();
        let table = (&mut self.table).await.ok()?.ok()?;
        let found = tokio::task::spawn_blocking(move || {
            let root = Path::new(proc::ROOT);
            let mut found = table.under(root, &roots);
            let new: Vec<u32> = found.iter().filter(|(_, found)| found.is_empty()).map(|(root, _)| *root).collect();
            found.extend(proc::walk(root, &new).unwrap_or_default());
            found
        });
        found.await.ok()
    }
}

impl Drop for TableReading {
    fn drop(&mut self) {
        self.goes_on.store(false, Ordering::Relaxed);
    }
}

/// The same from what was read meanwhile, if that serves.
pub async fn under_begun(
    begun: Option<TableReading>,
    server: &Server,
    roots: Vec<u32>,
    thoroughness: Thoroughness,
) -> Result<PaneProcesses, Error> {
    let found = match begun {
        Some(begun) => begun.under(&roots).await,
        None => None,
    };
    match found {
        Some(found) => Ok(found),
        None => under(server, roots, thoroughness).await,
    }
}

/// This process and all its ancestors: one of them is the process of the pane that fleetwatch itself runs in. Empty
/// without /proc.
pub fn own_ancestors() -> BTreeSet<u32> {
    proc::ancestors(Path::new(proc::ROOT), std::process::id())
}

/// The processes under each of the given ones, of all that there are.
fn under_all(all: &BTreeMap<u32, ProcessInfo>, roots: &[u32]) -> PaneProcesses {
    let mut children = Children::new();
    all.values().for_each(|process| children.entry(process.parent).or_default().push(process.pid));
    of_panes(roots, |pid| children.get(&pid).cloned().unwrap_or_default(), |pid| all.get(&pid).cloned())
}

// This machine, and whether another process of fleetwatch still runs on it.

/// The program's name as the system shows it.
const NAME: &str = "fleetwatch";

/// The machine's own name, in letters, digits and `. _ -` only.
pub fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let linux = fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let name = linux.or_else(|| said("uname", &["-n"])).unwrap_or_default();
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let name: String = name.trim().chars().filter(plain).collect();
        if name.is_empty() { "here".to_owned() } else { name }
    })
}

/// Whether a process of fleetwatch has this id, and not another program that got it since.
pub fn is_fleetwatch(pid: u32) -> bool {
    if pid == std::process::id() {
        return true;
    }
    name_of(pid).is_some_and(|name| name == NAME)
}

/// Names this process so that [`is_fleetwatch`] finds it, whatever its file is called. Works on Linux only.
pub fn take_name() {
    if let Err(error) = fs::write("/proc/self/comm", NAME) {
        tracing::debug!(%error, "the process keeps the name of its file");
    }
}

/// Whether a process of tmux has this id, client or server.
pub fn is_tmux(pid: u32) -> bool {
    // Linux has it call itself `tmux: server`.
    name_of(pid).is_some_and(|name| name.starts_with("tmux"))
}

/// The name of a process that has not ended.
fn name_of(pid: u32) -> Option<String> {
    let name = match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // `PID (NAME) STATE …`. One that has ended stays as `Z` until its parent has waited for it.
        Ok(stat) => {
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
            (!rest.starts_with(" Z")).then(|| name.to_owned())
        }
        Err(_) if fs::exists("/proc/self/comm").unwrap_or(false) => None,
        Err(_) => said("ps", &["-o", "comm=", "-p", &pid.to_string()]),
    };
    Some(name?.trim().rsplit('/').next()?.to_owned())
}

fn said(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

// Processes of which a shell tells: those of hosts, and of systems without /proc.

/// Lists all processes in two parts with an empty line between them: what the system knows of each, and the words that it was
/// called with. The first line says in which form: the files of /proc, for which `cat` and `head` are enough, or columns of `ps`.
const LIST: &[&str] = &[
    "sh",
    "-c",
    "if cd /proc 2>/dev/null && [ -r self/stat ]; \
     then echo proc; cat [0-9]*/stat 2>/dev/null; echo; head -c 4096 [0-9]*/cmdline 2>/dev/null; \
     else echo ps; ps -axww -o pid=,ppid=,pgid=,tpgid=,tty=,stat=,comm= || exit; echo; ps -axww -o pid=,args= || exit; fi; \
     exit 0",
];

/// Reads what [`LIST`] printed. Other lines are left out.
fn read_listed(text: &str) -> BTreeMap<u32, ProcessInfo> {
    let (form, text) = text.split_once('\n').unwrap_or_default();
    let (known, called) = text.split_once("\n\n").unwrap_or((text, ""));
    let (known, mut called): (Vec<ProcessInfo>, BTreeMap<u32, ProcessWords<'_>>) = match form {
        "proc" => (known.lines().filter_map(Stat::parse).map(Stat::info).collect(), called_by_files(called)),
        _ => (known.lines().filter_map(columns).collect(), called.lines().filter_map(called_by_line).collect()),
    };
    let called = |process: ProcessInfo| {
        let called = called.remove(&process.pid).unwrap_or(ProcessWords::Unknown);
        (process.pid, called.complete(process))
    };
    known.into_iter().map(called).collect()
}

/// The words that a process was called with, as they were printed.
enum ProcessWords<'a> {
    Unknown,
    /// With a NUL behind each.
    Words(&'a str),
    /// With blanks between them, and maybe in them.
    Line(&'a str),
}

impl ProcessWords<'_> {
    fn complete(self, process: ProcessInfo) -> ProcessInfo {
        let arguments: Vec<String> = match self {
            ProcessWords::Unknown => Vec::new(),
            ProcessWords::Words(text) => words_of(text),
            // Where words end is not known; only the executable may be told with its blanks.
            ProcessWords::Line(text) => {
                let program = process.executable.as_deref().filter(|program| text.starts_with(program));
                let rest = &text[program.map_or(0, str::len)..];
                program.into_iter().chain(rest.split_whitespace()).map(harmless).collect()
            }
        };
        let called_as = || arguments.first().filter(|program| program.starts_with('/')).cloned();
        ProcessInfo { executable: process.executable.clone().or_else(called_as), arguments, ..process }
    }
}

/// The words by process, as `head` prints files: `==> 77/cmdline <==`, and behind that what is in it.
fn called_by_files(text: &str) -> BTreeMap<u32, ProcessWords<'_>> {
    let mut found = BTreeMap::new();
    for part in text.strip_prefix("==> ").unwrap_or(text).split("\n==> ") {
        let Some((name, words)) = part.split_once("/cmdline <==\n") else { continue };
        let Ok(pid) = name.parse::<u32>() else { continue };
        // A process whose words look like this speaks for another one: then nothing is known of that one.
        let is_twice = found.contains_key(&pid);
        found.insert(pid, if is_twice { ProcessWords::Unknown } else { ProcessWords::Words(words) });
    }
    found
}

fn called_by_line(line: &str) -> Option<(u32, ProcessWords<'_>)> {
    let (pid, words) = line.trim_start().split_once(char::is_whitespace)?;
    Some((pid.parse().ok()?, ProcessWords::Line(words.trim_start())))
}

/// Reads a line of `PID PPID PGID TPGID TTY STATE COMMAND`. The command may hold blanks; some systems give its whole path.
fn columns(line: &str) -> Option<ProcessInfo> {
    let mut rest = line;
    let mut field = || {
        let field = rest.trim_start();
        let end = field.find(char::is_whitespace).unwrap_or(field.len());
        rest = &field[end..];
        &field[..end]
    };
    let [pid, parent, group, terminal_group, terminal, state] = std::array::from_fn(|_| field());
    let stat = Stat {
        pid: pid.parse().ok()?,
        name: String::new(),
        state: state.chars().next()?,
        parent: parent.parse().ok()?,
        group: group.parse().ok()?,
        terminal: Some(terminal).filter(|name| !matches!(*name, "?" | "??" | "-")).map(harmless),
        terminal_group: terminal_group.parse().unwrap_or(0),
        began: None,
    };
    let command = rest.trim();
    let executable = command.starts_with('/').then(|| harmless(command));
    let name = harmless(command.trim_start_matches('-').rsplit('/').next().unwrap_or_default());
    stat.has_not_ended().then(|| ProcessInfo { name, executable, ..stat.info() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc::descendants;

    #[test]
    fn a_process_that_has_ended_has_no_name_before_its_parent_hears_of_it() {
        assert!(name_of(std::process::id()).is_some());
        let mut child = Command::new("sh").args(["-c", "exit 0"]).spawn().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while name_of(child.id()).is_some() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(name_of(child.id()), None);
        child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_process_is_found_that_begins_after_all_were_read() {
        let server = Server::new(Default::default(), Default::default()).unwrap();
        let begun = TableReading::begin(&server).unwrap();
        assert_eq!(begun.under(&[1, std::process::id()]).await, None, "so few are walked");
        let mut reading = TableReading::begin(&server).unwrap();
        let table = (&mut reading.table).await.unwrap().unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        reading.table = tokio::spawn(async { Ok(table) });
        let roots: Vec<u32> = [std::process::id(), child.id()].into_iter().chain(1 << 30..(1 << 30) + 40).collect();
        let found = reading.under(&roots).await.unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found[&child.id()].len(), 1);
        assert!(!found[&std::process::id()].is_empty());
        assert_eq!(found[&(1 << 30)], []);
    }

    #[test]
    fn nearest_come_first_and_rings_end() {
        let tree = Children::from([(1, vec![2, 3]), (2, vec![4]), (4, vec![5]), (5, vec![1])]);
        let under = |root, limit| descendants(root, limit, |pid| tree.get(&pid).cloned().unwrap_or_default());
        assert_eq!(under(1, 100), [1, 2, 3, 4, 5]);
        assert_eq!(under(1, 2), [1, 2]);
        assert_eq!(under(99, 100), [99]);
    }
}

#[cfg(test)]
mod listed_tests {
    use super::*;
    use crate::process::under_all;

    #[test]
    fn columns_of_ps_become_a_tree() {
        let text = "ps\n    1     0     1    -1 ??    Ss   /sbin/init\n  700     1   700   812 ttys001 Ss   -bash\n\
                    \u{20}\u{20}812   700   812   812 ttys001 S+   node\n  813   812   812   812 ttys001 S+   /Users/a/My Tools/claude\n\
                    \u{20}\u{20}814   812   814   814 ttys002 Ss+  /bin/claude\n  815   812   812   812 ttys001 Z+   (claude)\nnonsense\n\
                    \u{20}\u{20}816   700   816   812 ttys001 T    codex\n\n\
                    \u{20}\u{20}700 -bash\n  812 node /usr/local/bin/claude --continue\n  813 /Users/a/My Tools/claude --resume\n";
        let found = under_all(&read_listed(text), &[700, 5]);
        let names: Vec<_> =
            found[&700].iter().map(|info| (info.name.as_str(), info.foreground, info.stopped)).collect();
        assert_eq!(
            names,
            [("bash", false, false), ("node", true, false), ("codex", false, true), ("claude", true, false)],
            "on the pane's terminal, and not ended"
        );
        assert_eq!(found[&700][1].arguments, ["node", "/usr/local/bin/claude", "--continue"]);
        assert_eq!(found[&700][3].arguments, ["/Users/a/My Tools/claude", "--resume"]);
        assert_eq!(found[&5], []);
    }

    #[test]
    fn files_of_proc_become_the_same() {
        let text = "proc\n1 (init) S 0 1 1 0 -1 0\n700 (bash) S 1 700 700 34816 812 0\n812 (node) S 700 812 700 34816 812 0\n\
                    813 (a (b) S) R 812 812 700 34816 812 0\n\n\
                    ==> 700/cmdline <==\n-bash\0\n==> 812/cmdline <==\nnode\0/home/a b/codex\0--x\0\n==> 813/cmdline <==\nx\0\n\
                    ==> 700/cmdline <==\nclaude\0";
        let all = read_listed(text);
        let found = under_all(&all, &[700]);
        assert_eq!(found[&700][1].arguments, ["node", "/home/a b/codex", "--x"]);
        assert_eq!((found[&700][2].name.as_str(), found[&700][2].foreground), ("a (b) S", true));
        assert_eq!(found[&700][0].arguments, [""; 0], "another process speaks for it");
    }

    #[test]
    fn a_system_that_tells_no_foreground_group_has_all_there_that_is_not_stopped() {
        let text =
            "proc\n700 (bash) S 1 700 700 0 0 0\n812 (node) S 700 812 700 0 0 0\n813 (vi) T 700 813 700 0 0 0\n\n";
        let found = under_all(&read_listed(text), &[700]);
        let names: Vec<_> = found[&700].iter().map(|info| (info.name.as_str(), info.foreground)).collect();
        assert_eq!(names, [("bash", true), ("node", true), ("vi", false)]);
    }

    /// The script itself, by the shells and tools that are here.
    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_listed() {
        let listed = std::process::Command::new(LIST[0]).args(&LIST[1..]).output().unwrap();
        let all = read_listed(&String::from_utf8_lossy(&listed.stdout));
        let own = &all[&std::process::id()];
        assert_eq!(own.arguments, std::env::args().collect::<Vec<_>>());
    }
}
