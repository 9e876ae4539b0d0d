//! The thread that writes.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::identity::Owner;
use super::open::Options;
use super::presence::Presence;
use super::record::Message;
use super::retention::{self, Limits};
use super::store::{BEAT, Store};
use super::trouble::{Condition, Health};
use super::{Trouble, now};
use crate::fleet::TerminalKey;
use crate::moment::Moment;

/// Messages in one transaction at most, and messages that are kept while the file cannot be written.
const BATCH: usize = 256;
/// How long the first message of a batch waits for others.
const GATHER: Duration = Duration::from_millis(50);
/// How long to wait after a failure.
const RETRY: Duration = Duration::from_secs(2);

/// Says how the writing goes.
pub(super) fn set(health: &Mutex<Health>, condition: Condition) {
    health.lock().unwrap_or_else(PoisonError::into_inner).condition = condition;
}

/// What the thread works with.
pub(super) struct Writer {
    path: PathBuf,
    owner: Owner,
    limits: Limits,
    options: Options,
    health: Arc<Mutex<Health>>,
    store: Option<Store>,
    /// The terminals of a store that was closed because of trouble.
    orphans: Vec<TerminalKey>,
    /// What is not written yet, oldest first.
    pending: Vec<Message>,
    next_beat: Instant,
    next_chores: Instant,
    /// Not to be tried before.
    not_before: Instant,
    damaged: bool,
}

impl Writer {
    pub(super) fn new(
        path: PathBuf,
        owner: Owner,
        limits: Limits,
        options: Options,
        health: Arc<Mutex<Health>>,
    ) -> Self {
        let now = Instant::now();
        Self {
            path,
            owner,
            limits,
            options,
            health,
            store: None,
            orphans: Vec::new(),
            pending: Vec::new(),
            next_beat: now + BEAT_TIME,
            next_chores: now + retention::FIRST,
            not_before: now,
            damaged: false,
        }
    }

    /// Writes what comes until nobody can send any more; `progress` is told of each batch.
    pub(super) fn run(mut self, messages: &Receiver<Message>, progress: &SyncSender<()>) {
        // Should this process be killed, the next one need not wait until its claims run out.
        let presence = Presence::show(&self.path, &self.owner);
        if let Err(error) = &presence {
            tracing::warn!(%error, "whoever takes over from this process has to wait");
        }
        loop {
            let open = self.gather(messages);
            if self.work(!open) {
                // Nobody may be waiting, and the one before may not have been heard yet.
                let _ = progress.try_send(());
            }
            if !open {
                break;
            }
        }
        if let Some(store) = &mut self.store
            && let Err(trouble) = store.leave(now())
        {
            tracing::warn!(%trouble, "the history's watches could not be ended");
        }
    }

    /// Takes messages until a batch is worth writing or something else is due; whether more can come.
    fn gather(&mut self, messages: &Receiver<Message>) -> bool {
        let mut until = match self.store.is_none() || !self.pending.is_empty() {
            true => self.not_before,
            // Nothing may be tried before, so that a beat which is overdue does not turn in circles.
            false => self.next_beat.min(self.next_chores).max(self.not_before),
        };
        while self.pending.len() < BATCH {
            match messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    let urgent = message.is_urgent();
                    self.pending.push(message);
                    until = match urgent {
                        // What is queued already goes along.
                        true => Instant::now(),
                        false => until.min(Instant::now() + GATHER).max(self.not_before),
                    };
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        // A full batch that may not be tried yet leaves the rest in the queue, which counts what it cannot hold.
        thread::sleep(self.not_before.saturating_duration_since(Instant::now()));
        true
    }

    /// Writes what is pending, if it may be tried now; whether it was written.
    fn work(&mut self, last: bool) -> bool {
        if Instant::now() < self.not_before && !last {
            self.answer(false);
            return false;
        }
        match self.try_work() {
            Ok(()) => {
                self.answer(true);
                self.pending.clear();
                self.damaged = false;
                set(&self.health, Condition::Good);
                true
            }
            Err(trouble) => {
                self.answer(false);
                tracing::warn!(%trouble, path = %self.path.display(), "the history cannot be written");
                // Damage is mended by the next attempt, which follows at once; damage again is not.
                let mend = trouble == Trouble::Damaged && !self.damaged;
                self.damaged = trouble == Trouble::Damaged;
                self.not_before = if mend { Instant::now() } else { Instant::now() + RETRY };
                if !matches!(trouble, Trouble::Locked | Trouble::Full) {
                    self.close();
                }
                set(&self.health, Condition::Degraded(trouble));
                false
            }
        }
    }

    fn try_work(&mut self) -> Result<(), Trouble> {
        if self.store.as_ref().is_some_and(|store| !store.is_in_place()) {
            // Another process moved the file aside, or somebody removed it: what is written there nobody reads.
            self.close();
        }
        let at = now();
        let store = match &mut self.store {
            Some(store) => store,
            None => {
                let open = if self.damaged { Store::open_after_damage } else { Store::open };
                let mut store = open(&self.path, &self.owner, &self.options, at)?;
                if let Some(kept) = store.set_aside() {
                    let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
                    health.set_aside = Some(kept.clone());
                }
                store.inherit(self.orphans.drain(..));
                self.store.insert(store)
            }
        };
        write(store, &self.pending, &self.health, at)?;
        if Instant::now() >= self.next_beat {
            self.next_beat = Instant::now() + BEAT_TIME;
            store.beat(at)?;
        }
        if Instant::now() >= self.next_chores {
            self.next_chores = Instant::now() + retention::INTERVAL;
            retention::run(store.connection(), &self.limits, at)?;
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(store) = self.store.take() {
            self.orphans.extend(store.watched().cloned());
        }
    }

    /// Tells those who wait for a flush.
    fn answer(&mut self, written: bool) {
        let (flushes, rest) =
            std::mem::take(&mut self.pending).into_iter().partition(|message| matches!(message, Message::Flush(_)));
        self.pending = rest;
        let flushes: Vec<Message> = flushes;
        for flush in flushes {
            if let Message::Flush(sender) = flush {
                // Whoever asked may have given up waiting.
                let _ = sender.send(written);
            }
        }
    }
}

const BEAT_TIME: Duration = Duration::from_millis(BEAT.as_millis());

/// Writes what is pending. A message that cannot be written for a reason of its own must not hold up the others, so
/// after such a failure each goes alone, and those that fail are lost.
fn write(store: &mut Store, pending: &[Message], health: &Mutex<Health>, at: Moment) -> Result<(), Trouble> {
    if pending.is_empty() {
        return Ok(());
    }
    match store.write(pending, at) {
        Err(Trouble::Other(_)) => {}
        written => return written,
    }
    let mut lost = 0;
    for message in pending.iter() {
        match store.write(std::slice::from_ref(message), at) {
            Err(Trouble::Other(reason)) => {
                tracing::warn!(reason, "a record of the history cannot be written");
                lost += 1;
            }
            written => written?,
        }
    }
    if lost == pending.len() as u64 {
        // Not one could be written: the reason lies in the file.
        return Err(Trouble::Other("nothing can be written to it".to_owned()));
    }
    health.lock().unwrap_or_else(PoisonError::into_inner).lost += lost;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_beat_that_is_overdue_waits_for_the_next_attempt() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let health = Arc::new(Mutex::new(Health::new(Condition::Starting)));
        let limits = super::super::Settings::default().limits();
        let mut writer = Writer::new(path, Owner::named("a"), limits, Options::default(), health);
        let (_sender, messages) = mpsc::channel();
        for is_open in [false, true] {
            let store = || Store::open(&writer.path, &writer.owner, &writer.options, now()).unwrap();
            writer.store = is_open.then(store);
            let until = Instant::now() + Duration::from_millis(40);
            (writer.next_beat, writer.not_before) = (Instant::now(), until);
            assert!(writer.gather(&messages));
            assert!(Instant::now() >= until, "the file is tried in a circle");
        }
    }
}
