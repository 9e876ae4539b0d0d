//! What runs in a pane (SPEC §3): the processes under the pane's own, and the version of an agent among them.
//!
//! On this machine it reads /proc, on hosts and where there is none it asks a shell. One scan serves all panes of a server.

mod listed;
mod proc;
mod records;
mod version;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::task::JoinHandle;

use proc::{Children, of_panes};
pub use proc::{PaneProcesses, RunningProcess};
pub use records::{AgentRecords, READ_WITHIN, RecordedAgent, RecordedTranscript};
pub use version::{VersionCache, version_in_path};

use crate::profile::ProcessInfo;
use crate::tmux::{Error, Server};

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
    let listed = server.run_beside(listed::LIST).await;
    let text = listed.map_err(|error| match error {
        Error::Failed(_) => {
            Error::Failed("processes cannot be listed there, as neither /proc nor `ps` tells of them".to_owned())
        }
        other => other,
    })?;
    Ok(under_all(&listed::read(&text), &roots))
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

#[cfg(test)]
mod tests {
    use super::proc::descendants;
    use super::*;

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
