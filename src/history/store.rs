//! The writing side of the file: batches of messages, each one transaction.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{TransactionBehavior, params};

use super::Trouble;
use super::batch::WriteBatch;
use super::encoding::Codec;
use super::identity::Owner;
use super::open::{self, HistoryOptions, Opened};
use super::record::{Message, Record};
use super::standing::ServerSummary;
use crate::fleet::TerminalKey;
use crate::private::Held;
use crate::time::{Span, Timestamp};

/// How long a process that no longer says so still counts as watching.
pub(super) const LEASE: Span = Span::from_secs(30);
/// How often a process says that it still watches.
pub(super) const BEAT: Span = Span::from_secs(10);

/// How long it is kept what the leader of a server is to write: longer than it takes until it is known that it has ended.
const KEPT: Span = Span::from_secs(60);

/// What this process knows of the terminals that it watches, whatever file it writes to.
///
/// What happens to a terminal is written by the leader of its server. The others keep it for a while, and the one that leads
/// next writes what the leader before it has not, so that nothing is written twice and nothing is lost.
#[derive(Clone, Default)]
pub(super) struct Watching {
    /// The servers that this process leads, by [`ServerId::word`](crate::ids::ServerId::word).
    pub(super) leads: HashMap<String, Held>,
    pub(super) terminals: HashMap<TerminalKey, WatchedTerminal>,
    /// What the leader is to write; oldest first.
    pub(super) standby: VecDeque<Arc<Record>>,
}

/// A terminal that this process watches.
#[derive(Clone, Copy)]
pub(super) struct WatchedTerminal {
    pub(super) since: Timestamp,
    /// Its row in the table `watches`, when this process writes it.
    pub(super) row: Option<i64>,
}

/// An open store.
pub(super) struct Store {
    opened: Opened,
    path: PathBuf,
    owner: Owner,
    codec: Codec,
    watching: Watching,
    last_beat: Timestamp,
    /// The log beside the file, by its inode, once something was written.
    log: Option<u64>,
}

impl Store {
    /// Opens the file as [`open::open`] does.
    ///
    /// # Errors
    /// As there.
    pub(super) fn open(path: &Path, owner: &Owner, options: &HistoryOptions, now: Timestamp) -> Result<Self, Trouble> {
        Self::with(open::open(path, options, now)?, path, owner, now)
    }

    /// Opens the file as [`open::open_after_damage`] does.
    ///
    /// # Errors
    /// As there.
    pub(super) fn open_after_damage(
        path: &Path,
        owner: &Owner,
        options: &HistoryOptions,
        now: Timestamp,
    ) -> Result<Self, Trouble> {
        Self::with(open::open_after_damage(path, options, now)?, path, owner, now)
    }

    fn with(opened: Opened, path: &Path, owner: &Owner, now: Timestamp) -> Result<Self, Trouble> {
        // Every statement of the writer stays prepared; there are about thirty.
        opened.connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            opened,
            path: path.to_owned(),
            owner: owner.clone(),
            codec: Codec::new()?,
            watching: Watching::default(),
            last_beat: now,
            log: None,
        })
    }

    /// Where a damaged file was moved to when this one was opened.
    pub(super) fn set_aside(&self) -> Option<&PathBuf> {
        self.opened.set_aside.as_ref()
    }

    /// Whether the path still means this file, and not another one or none, and its log is the one that is written.
    pub(super) fn is_in_place(&self) -> bool {
        let is_same_file = open::inode(&self.path) == self.opened.inode;
        let has_log = self.log.is_none() || open::log_inode(&self.path) == self.log;
        if is_same_file && !has_log {
            // Nobody else reads what went into a log that somebody removed; it can still be brought into the file.
            let saved = self.opened.connection.pragma_update_and_check(None, "wal_checkpoint", "PASSIVE", |_| Ok(()));
            saved.err().into_iter().for_each(|error| tracing::warn!(%error, "a removed log could not be saved"));
        }
        is_same_file && has_log
    }

    /// Goes on from what another store of this process knew; watches have to be opened in this file.
    pub(super) fn inherit(&mut self, mut watching: Watching) {
        watching.terminals.values_mut().for_each(|watched| watched.row = None);
        self.watching = watching;
    }

    /// What another store of this process goes on from.
    pub(super) fn into_watching(self) -> Watching {
        self.watching
    }

    /// Writes messages in one transaction: all of them or none.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn write(&mut self, messages: &[Message], now: Timestamp) -> Result<(), Trouble> {
        self.transact(now, |batch| messages.iter().try_for_each(|message| batch.message(message)))
    }

    /// Says that this process still watches. Due every [`BEAT`], and when this process has been `stopped` for a while, with the
    /// time at which that began.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn beat(&mut self, now: Timestamp, stopped: Option<Timestamp>) -> Result<(), Trouble> {
        self.watching.standby.retain(|record| now.since(record.at()) < KEPT);
        if !self.watching.terminals.is_empty() {
            let stopped = stopped.or_else(|| (now.since(self.last_beat) > LEASE).then_some(self.last_beat));
            self.transact(now, |batch| batch.beat(stopped))?;
        }
        self.last_beat = now;
        Ok(())
    }

    /// Ends the watches of this process.
    ///
    /// # Errors
    /// Nothing was written; the watches run out by themselves.
    pub(super) fn leave(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let sql = "UPDATE watches SET seen = ?1, ended = ?1 WHERE owner = ?2 AND ended IS NULL";
        self.opened.connection.execute(sql, params![now.as_millis(), self.owner.as_str()])?;
        ServerSummary::leave(&self.opened.connection, &self.owner, now)?;
        self.watching = Watching::default();
        // The file is whole by itself then, without its log; a reader that is in the way is not waited for.
        self.opened.connection.pragma_update_and_check(None, "wal_checkpoint", "PASSIVE", |_| Ok(()))?;
        Ok(())
    }

    /// The connection, for chores that are no records.
    pub(super) fn connection(&mut self) -> &mut rusqlite::Connection {
        &mut self.opened.connection
    }

    fn transact(
        &mut self,
        now: Timestamp,
        work: impl FnOnce(&mut WriteBatch<'_>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let transaction = self.opened.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut batch = WriteBatch {
            transaction,
            codec: &mut self.codec,
            owner: &self.owner,
            // What a failed transaction changed here must not stay.
            watching: self.watching.clone(),
            now,
        };
        work(&mut batch)?;
        let WriteBatch { transaction, watching, .. } = batch;
        transaction.commit()?;
        self.watching = watching;
        if self.log.is_none() {
            self.log = open::log_inode(&self.path);
        }
        Ok(())
    }
}
