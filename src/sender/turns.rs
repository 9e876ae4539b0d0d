//! One sender at a time for each terminal: two texts at once would end up in one prompt. A mutex ensures this within a
//! process, a locked file among the processes of a user; the system releases the lock when its process ends.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Refusal;
use crate::clock;
use crate::fleet::TerminalKey;
use crate::hash::Fnv;
use crate::private::{self, Lock};

/// How long another process may take, which has limits of its own.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who may send where.
#[derive(Debug)]
pub(super) struct Turns {
    /// Where the files are; without one only this process takes turns.
    directory: Option<PathBuf>,
    here: Mutex<HashMap<TerminalKey, Arc<tokio::sync::Mutex<()>>>>,
}

/// The right to send to a terminal, until it is dropped.
#[derive(Debug)]
pub(super) struct SendLock {
    _file: Option<Claim>,
    _here: tokio::sync::OwnedMutexGuard<()>,
}

/// A file that this process has locked. Nobody needs it afterwards.
#[derive(Debug)]
struct Claim {
    path: PathBuf,
    _locked: Lock,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed while locked: a waiting process sees that it is gone, and makes another one.
        let _ = fs::remove_file(&self.path);
    }
}

impl Turns {
    pub(super) fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, here: Mutex::default() }
    }

    /// Waits for the right to send to a terminal.
    ///
    /// # Errors
    /// Another process does not let go of it.
    pub(super) async fn take(&self, key: &TerminalKey) -> Result<SendLock, Refusal> {
        let here = {
            let mut turns = self.here.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(key.clone()).or_default())
        };
        let here = here.lock_owned().await;
        let Some(directory) = &self.directory else { return Ok(SendLock { _file: None, _here: here }) };
        let path = directory.join(name(key));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match claim(&path) {
                Ok(Some(claim)) => return Ok(SendLock { _file: Some(claim), _here: here }),
                Ok(None) if Instant::now() >= deadline => return Err(Refusal::Occupied(PATIENCE.as_secs())),
                Ok(None) => tokio::time::sleep(clock::A_MOMENT).await,
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "other processes may send there at the same time");
                    return Ok(SendLock { _file: None, _here: here });
                }
            }
        }
    }

    /// Whether another process sends to a terminal, or is stopped while it does.
    pub(super) fn is_taken(&self, key: &TerminalKey) -> bool {
        self.directory.as_ref().is_some_and(|directory| Lock::is_taken(&directory.join(name(key))))
    }

    /// Says why other processes cannot be kept from sending to a terminal at the same time.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(directory) = &self.directory else {
            return Err("this user has no directory for locks".to_owned());
        };
        let path = directory.join(format!("check-{}", std::process::id()));
        claim(&path).map(drop).map_err(|error| format!("{} cannot be locked: {error}", path.display()))
    }
}

/// Takes a lock; `None` when another process has it.
fn claim(path: &Path) -> io::Result<Option<Claim>> {
    path.parent().map_or(Ok(()), private::make_directory)?;
    Ok(Lock::try_take(path)?.map(|locked| Claim { path: path.to_owned(), _locked: locked }))
}

/// A pane by its machine and its process: the same server has several names.
fn name(key: &TerminalKey) -> String {
    let mut host = Fnv::default();
    host.feed(key.server.host.as_deref().unwrap_or_default().as_bytes());
    format!("{:016x}-{}-{}", host.get(), key.pane.0, key.pid)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::fleet::{PaneId, ServerId, Socket};

    fn key(socket: Socket) -> TerminalKey {
        TerminalKey { server: ServerId { host: None, socket }, pane: PaneId(1), pid: 7, instance: Default::default() }
    }

    #[tokio::test]
    async fn one_process_at_a_time_sends_to_a_terminal_whatever_its_server_is_called() {
        let directory = tempfile::tempdir().unwrap();
        let turns = || Turns::new(Some(directory.path().join("turns")));
        let (one, two) = (turns(), turns());
        let (default, path) = (key(Socket::Default), key(Socket::at("/tmp/tmux-0/default")));
        let first = one.take(&default).await.unwrap();
        let other = TerminalKey { pid: 8, ..default.clone() };
        assert!(two.take(&other).await.is_ok(), "another terminal is free");
        let waits = tokio::time::timeout(Duration::from_millis(100), two.take(&path)).await;
        assert!(waits.is_err(), "the other process sends there");
        assert!(two.is_taken(&path) && !two.is_taken(&other));
        drop(first);
        let second = two.take(&path).await.unwrap();
        let file = fs::read_dir(directory.path().join("turns")).unwrap().next().unwrap().unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        drop(second);
        assert_eq!(fs::read_dir(directory.path().join("turns")).unwrap().count(), 0, "nothing is left");
    }

    #[tokio::test]
    async fn without_locks_it_is_said_and_sent_all_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let turns = Turns::new(Some(directory.path().join("turns")));
        assert_eq!(turns.check(), Ok(()));
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let blocked = Turns::new(Some(file));
        assert!(blocked.check().is_err() && Turns::new(None).check().is_err());
        assert!(blocked.take(&key(Socket::Default)).await.is_ok());
    }
}
