//! What becomes of intents, as it happens, whichever process sees to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

use super::{Intent, IntentId, IntentState, select};
use crate::history::reader::Reader;
use crate::history::{History, Trouble, open};

/// How often the file is asked whether something was written.
const LOOK: Duration = Duration::from_millis(200);
/// How often a file that cannot be read is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// An intent that is new, or has come further.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentNews {
    pub intent: Intent,
    /// Whether it was so before anybody here asked.
    pub is_old: bool,
}

impl History {
    /// What becomes of intents from now on, those first that are open already. Reading has a thread of its own, which
    /// ends when the receiver is dropped.
    pub fn intents(&self) -> mpsc::UnboundedReceiver<IntentNews> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let Some(path) = self.path() {
            let mut follower = Follower { path: path.to_owned(), reading: None, known: None };
            let thread = thread::Builder::new().name("intents".to_owned()).spawn(move || {
                while !sender.is_closed() {
                    let (found, pause) = follower.follow();
                    // Nobody listens any more when this fails; the loop ends then.
                    found.into_iter().for_each(|news| drop(sender.send(news)));
                    thread::sleep(pause);
                }
            });
            if let Err(error) = thread {
                tracing::warn!(%error, "what becomes of follow-ups is not read");
            }
        }
        receiver
    }
}

/// How far an intent has come: its state, and how many events it tells of.
type Progress = (IntentState, usize);

/// Reads on where it stopped.
struct Follower {
    path: PathBuf,
    reading: Option<Reading>,
    /// Those that were open at the last look, and the last one of all; `None` before the first look.
    known: Option<Known>,
}

#[derive(Default)]
struct Known {
    open: BTreeMap<IntentId, Progress>,
    last: IntentId,
}

struct Reading {
    reader: Reader,
    inode: Option<u64>,
    version: i64,
}

impl Follower {
    fn follow(&mut self) -> (Vec<IntentNews>, Duration) {
        match self.try_follow() {
            Ok(found) => (found, LOOK),
            Err(Trouble::Locked) => (Vec::new(), LOOK),
            Err(trouble) => {
                tracing::debug!(%trouble, "follow-ups cannot be read");
                self.reading = None;
                (Vec::new(), RETRY)
            }
        }
    }

    fn try_follow(&mut self) -> Result<Vec<IntentNews>, Trouble> {
        let inode = open::inode(&self.path);
        if self.reading.as_ref().is_some_and(|reading| reading.inode != inode) {
            // The file was moved aside; its successor begins to count anew.
            (self.reading, self.known) = (None, Some(Known::default()));
        }
        let (reading, fresh) = match &mut self.reading {
            Some(reading) => (reading, false),
            None => {
                let reader = Reader::open(&self.path)?;
                let version = reader.data_version()?;
                (self.reading.insert(Reading { reader, inode, version }), true)
            }
        };
        let version = reading.reader.data_version()?;
        if version == reading.version && !fresh {
            return Ok(Vec::new());
        }
        let first = self.known.is_none();
        let known = self.known.get_or_insert_default();
        let condition = match first {
            true => "id > ?1 AND state IN ('pending', 'attempted', 'unknown', 'expired')".to_owned(),
            false => {
                // What is settled does not change any more.
                let open: Vec<String> = known.open.keys().map(|id| id.0.to_string()).collect();
                format!("id > ?1 OR id IN ({})", open.join(", "))
            }
        };
        let last = known.last.0;
        let mut news = Vec::new();
        for intent in select(reading.reader.connection(), &condition, last)? {
            let progress = (intent.state, intent.events.len());
            let before = known.open.get(&intent.id).copied();
            if before.is_none() && intent.id <= known.last || before == Some(progress) {
                continue;
            }
            match intent.state.is_open() {
                true => drop(known.open.insert(intent.id, progress)),
                false => drop(known.open.remove(&intent.id)),
            }
            known.last = known.last.max(intent.id);
            news.push(IntentNews { intent, is_old: first });
        }
        if first {
            known.last = known.last.max(newest(&reading.reader)?);
        }
        reading.version = version;
        Ok(news)
    }
}

/// The last intent of all, settled or not.
fn newest(reader: &Reader) -> Result<IntentId, Trouble> {
    let sql = "SELECT coalesce(max(id), 0) FROM intents";
    Ok(IntentId(reader.connection().query_row(sql, [], |row| row.get(0))?))
}

impl IntentState {
    /// What became of an intent, as `watch --json` says it: the state, and `queued` of what waits.
    pub const fn outcome(self) -> &'static str {
        match self {
            IntentState::Pending => "queued",
            state => state.word(),
        }
    }

    /// Whether it can still become something else.
    pub const fn is_open(self) -> bool {
        matches!(self, IntentState::Pending | IntentState::Attempted | IntentState::Unknown | IntentState::Expired)
    }
}
