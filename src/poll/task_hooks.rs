//! Has the bells of declared task sessions counted, and their windows kept after their programs end, as long as a process watches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::plan::{OtherSession, TaskSession};
use crate::config::Adopted;
use crate::ids::{ServerId, ServerInstance, SessionId, WindowId};
use crate::private::FileStamp;
use crate::process;
use crate::tmux::{Counting, Server};

/// How often the same is tried again where tmux does not do it.
const AGAIN: Duration = Duration::from_secs(10);

/// The hooks in the task sessions of one server.
#[derive(Debug)]
pub(super) struct TaskHooks {
    /// This process; `None` if it polls only once, or leaves no trace by choice.
    owner: Option<String>,
    /// Whether something was set in the server that is to be taken back.
    hooks_set: Arc<AtomicBool>,
    tried: BTreeMap<SessionId, (Instant, Vec<WindowId>)>,
    /// When hooks were last removed from sessions that are no longer task sessions.
    removed: BTreeMap<SessionId, Instant>,
}

impl TaskHooks {
    pub(super) fn new(owner: Option<String>, hooks_set: Arc<AtomicBool>) -> Self {
        Self { owner, hooks_set, tried: BTreeMap::new(), removed: BTreeMap::new() }
    }

    /// Sets missing hooks in the sessions of the last poll. It costs a process only if one is missing.
    pub(super) async fn ensure_hooks(&mut self, server: &Server, instance: &ServerInstance, sessions: &[TaskSession]) {
        let Some(owner) = self.owner.clone() else { return };
        self.tried.retain(|id, _| sessions.iter().any(|session| session.id == *id));
        for session in sessions {
            if session.watchers.contains(&owner) {
                // Perhaps set by an earlier poller of this process.
                self.hooks_set.store(true, Ordering::Relaxed);
                if session.fleeting.is_empty() {
                    continue;
                }
            }
            let tried = self.tried.get(&session.id);
            if tried.is_some_and(|(at, windows)| *windows == session.fleeting && at.elapsed() < AGAIN) {
                continue;
            }
            self.tried.insert(session.id, (Instant::now(), session.fleeting.clone()));
            let gone: Vec<String> = session.watchers.iter().filter(|watcher| !is_alive(watcher)).cloned().collect();
            let (windows, owner, gone) = (&session.fleeting[..], &owner[..], &gone[..]);
            let counting = Counting { instance, session: session.id, windows, owner, gone };
            self.hooks_set.store(true, Ordering::Relaxed);
            if let Err(error) = server.count_bells(&counting).await {
                tracing::warn!(server = %server.id(), session = %session.id, %error, "bells are not counted");
            }
        }
    }

    /// Removes the hooks that this process, or one that has ended, set in sessions that are no longer task sessions.
    pub(super) async fn remove_hooks(&mut self, server: &Server, others: &[OtherSession]) {
        let Some(owner) = &self.owner else { return };
        self.removed.retain(|id, _| others.iter().any(|other| other.id == *id));
        for OtherSession { id, watchers } in others {
            if self.removed.get(id).is_some_and(|at| at.elapsed() < AGAIN) {
                continue;
            }
            let leave: Vec<String> =
                watchers.iter().filter(|watcher| *watcher == owner || !is_alive(watcher)).cloned().collect();
            if leave.is_empty() && !watchers.is_empty() {
                continue;
            }
            self.removed.insert(*id, Instant::now());
            if let Err(error) = server.stop_counting_in(*id, &leave).await {
                tracing::warn!(server = %server.id(), session = %id, %error, "what was set was not taken back");
            }
        }
    }
}

/// This process, as task sessions remember it.
pub fn this_process() -> String {
    format!("{}@{}", std::process::id(), process::machine())
}

/// Whether a process that a task session remembers may still run: one of this machine that is no more does not.
pub fn is_alive(owner: &str) -> bool {
    match owner.split_once('@') {
        Some((pid, machine)) if machine == process::machine() => pid.parse().is_ok_and(process::is_fleetwatch),
        _ => true,
    }
}

// The sessions that the operator chose to be tasks, followed while they are watched: the choice may be made in another
// process.

/// The file of the choice, as it was read last.
#[derive(Debug)]
pub(super) struct Chosen {
    path: Option<PathBuf>,
    /// The stamp of the file that was read, if there was one; the outer `None` until it is first read.
    read: Option<Option<FileStamp>>,
}

impl Chosen {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, read: None }
    }

    /// The chosen sessions of a server, when the file is another one than at the last call. One that cannot be read
    /// changes nothing; `doctor` reports it.
    pub(super) fn read_again(&mut self, server: &ServerId) -> Option<BTreeSet<String>> {
        let path = self.path.as_ref()?;
        let stamp = FileStamp::at(path);
        if self.read.replace(stamp) == Some(stamp) {
            return None;
        }
        match Adopted::read(path) {
            Ok(adopted) => Some(adopted.of_server(server)),
            Err(error) => {
                tracing::warn!(%error, "the chosen task sessions are not known");
                None
            }
        }
    }
}
