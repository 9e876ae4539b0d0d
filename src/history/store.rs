//! The writing side of the file: batches of messages, each one transaction.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{TransactionBehavior, params};

use super::Trouble;
use super::batch::Batch;
use super::encoding::Codec;
use super::identity::Owner;
use super::open::{self, Opened, Options};
use super::record::{Message, Record};
use super::standing::Standing;
use crate::fleet::TerminalKey;
use crate::moment::{Moment, Span};

/// How long a process that no longer says so still counts as watching. Another one takes its terminals over then.
pub(super) const LEASE: Span = Span::from_secs(30);
/// How often a process says that it still watches.
pub(super) const BEAT: Span = Span::from_secs(10);

/// An open store.
///
/// Of the processes that watch a terminal, one writes its transitions: the one whose watch is open (table `watches`).
/// The others keep theirs for as long as a lease lasts and write them when the first one falls silent, so that nothing
/// is written twice and nothing is lost.
pub(super) struct Store {
    opened: Opened,
    path: PathBuf,
    owner: Owner,
    codec: Codec,
    /// The terminals that this process watches, and the open watch of those that it writes.
    watched: HashMap<TerminalKey, Option<i64>>,
    /// What another process is to write, should it not do so; oldest first.
    standby: VecDeque<Arc<Record>>,
    last_beat: Moment,
    /// The log beside the file, by its inode, once something was written.
    log: Option<u64>,
}

impl Store {
    /// Opens the file as [`open::open`] does.
    ///
    /// # Errors
    /// As there.
    pub(super) fn open(path: &Path, owner: &Owner, options: &Options, now: Moment) -> Result<Self, Trouble> {
        Self::with(open::open(path, options, now)?, path, owner, now)
    }

    /// Opens the file as [`open::open_after_damage`] does.
    ///
    /// # Errors
    /// As there.
    pub(super) fn open_after_damage(
        path: &Path,
        owner: &Owner,
        options: &Options,
        now: Moment,
    ) -> Result<Self, Trouble> {
        Self::with(open::open_after_damage(path, options, now)?, path, owner, now)
    }

    fn with(opened: Opened, path: &Path, owner: &Owner, now: Moment) -> Result<Self, Trouble> {
        // Every statement of the writer stays prepared; there are about thirty.
        opened.connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            opened,
            path: path.to_owned(),
            owner: owner.clone(),
            codec: Codec::new()?,
            watched: HashMap::new(),
            standby: VecDeque::new(),
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

    /// Takes over what another store of this process knew of the watched terminals; their watches have to be opened
    /// anew.
    pub(super) fn inherit(&mut self, watched: impl IntoIterator<Item = TerminalKey>) {
        self.watched.extend(watched.into_iter().map(|key| (key, None)));
    }

    /// The terminals that this process watches.
    pub(super) fn watched(&self) -> impl Iterator<Item = &TerminalKey> {
        self.watched.keys()
    }

    /// Writes messages in one transaction: all of them or none.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn write(&mut self, messages: &[Message], now: Moment) -> Result<(), Trouble> {
        self.transact(now, |batch| messages.iter().try_for_each(|message| batch.message(message)))
    }

    /// Says that this process still watches, and takes over terminals whose writer fell silent. Due every [`BEAT`], and when
    /// this process has been `stopped` for a while, with the time at which that began.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn beat(&mut self, now: Moment, stopped: Option<Moment>) -> Result<(), Trouble> {
        if self.watched.is_empty() {
            self.last_beat = now;
            return Ok(());
        }
        let stopped = stopped.or_else(|| (now.since(self.last_beat) > LEASE).then_some(self.last_beat));
        self.transact(now, |batch| batch.beat(stopped))?;
        self.last_beat = now;
        let oldest = now - LEASE - LEASE;
        self.standby.retain(|record| record.at() > oldest);
        Ok(())
    }

    /// Ends the watches of this process, so that another one takes over at once.
    ///
    /// # Errors
    /// Nothing was written; the watches run out by themselves.
    pub(super) fn leave(&mut self, now: Moment) -> Result<(), Trouble> {
        let sql = "UPDATE watches SET seen = ?1, ended = ?1 WHERE owner = ?2 AND ended IS NULL";
        self.opened.connection.execute(sql, params![now.as_millis(), self.owner.as_str()])?;
        Standing::leave(&self.opened.connection, &self.owner)?;
        self.watched.clear();
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
        now: Moment,
        work: impl FnOnce(&mut Batch<'_>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let transaction = self.opened.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut batch = Batch {
            transaction,
            codec: &mut self.codec,
            owner: &self.owner,
            path: &self.path,
            // What a failed transaction changed here must not stay.
            watched: self.watched.clone(),
            standby: self.standby.clone(),
            now,
        };
        work(&mut batch)?;
        let Batch { transaction, watched, standby, .. } = batch;
        transaction.commit()?;
        self.watched = watched;
        self.standby = standby;
        if self.log.is_none() {
            self.log = open::log_inode(&self.path);
        }
        Ok(())
    }
}
