//! What runs in a pane (SPEC §3): the processes under the pane's own, and the version of an agent among them.
//!
//! On Linux it reads /proc, elsewhere and on hosts it asks `ps`. One scan serves all panes of a server.

mod machine;
mod proc;
mod ps;
mod records;
mod tree;
mod version;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use machine::{is_fleetwatch, machine};
pub use proc::RunningProcess;
pub use records::{AgentRecords, RecordedAgent, RecordedTranscript};
pub use version::{VersionCache, version_in_path};

use crate::profile::ProcessInfo;
use crate::tmux::{Error, Server};

/// The processes of panes, by the pane's own process id: that process first, then the ones under it, parents before
/// their children.
pub type PaneProcesses = BTreeMap<u32, Vec<ProcessInfo>>;

/// Processes that are looked at under one pane. A pane that runs more of them is a build or a bomb, not an agent that
/// hides behind the first ones.
const PER_PANE: usize = 256;

/// Panes whose trees are walked one by one; for more of them all processes of the machine are read at once.
const WALKED: usize = 32;

/// How surely processes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoroughness {
    /// One may be missing that was started or whose sibling ended while it was looked.
    Quick,
    /// All that are there.
    All,
}

/// The processes under each of the given ones, on the server's machine.
///
/// A process that has ended meanwhile is left out. Fails when processes cannot be looked at at all.
pub async fn under(server: &Server, roots: Vec<u32>, thoroughness: Thoroughness) -> Result<PaneProcesses, Error> {
    if server.id().host.is_none() && Path::new(proc::ROOT).join("self/stat").exists() {
        // Reading hundreds of small files must not hold up the thread that other servers are waited for on.
        let scan = tokio::task::spawn_blocking(move || {
            let root = Path::new(proc::ROOT);
            let is_quick = thoroughness == Thoroughness::Quick && roots.len() <= WALKED;
            match is_quick.then(|| proc::walk(root, &roots, PER_PANE)).flatten() {
                Some(walked) => Ok(walked),
                None => proc::scan(root, &roots, PER_PANE),
            }
        });
        return match scan.await {
            Ok(scanned) => scanned.map_err(|error| Error::Failed(format!("/proc cannot be read: {error}"))),
            Err(error) => Err(Error::Failed(format!("reading /proc failed: {error}"))),
        };
    }
    let text = server.run_beside(ps::COMMAND).await?;
    Ok(ps::parse(&text, &roots, PER_PANE))
}

/// Reads a file up to a limit. Files of /proc do not tell their size, and are dear to read in small pieces.
fn read_some(path: &Path, limit: u64) -> Option<Vec<u8>> {
    const PIECE: usize = 4 << 10;
    let mut bytes = Vec::with_capacity(PIECE);
    File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// This process and the ones that it was started from, up to the first: one of them is the process of the pane that
/// fleetwatch itself runs in. Empty where there is no /proc.
pub fn own_ancestors() -> BTreeSet<u32> {
    proc::ancestors(Path::new(proc::ROOT), std::process::id())
}
