//! What becomes of intents, as it happens, whichever process sees to it.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;

use super::{Intent, IntentId, IntentState, OPEN, select};
use crate::history::following::Follower;
use crate::history::reader::Reader;
use crate::history::{History, Trouble};

/// How often the file is asked whether something was written.
const LOOK: Duration = Duration::from_millis(200);

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
        self.follow("intents", LOOK, Progressing::default())
    }
}

/// How far an intent has come: its state, and how many events it tells of.
type Progress = (IntentState, usize);

/// What comes further.
#[derive(Debug, Default)]
pub(in crate::history) struct Progressing {
    /// What was told; `None` before the first look.
    known: Option<Known>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// Those that can still become something else.
    open: BTreeMap<IntentId, Progress>,
    /// The last one of all.
    last: IntentId,
}

impl Follower for Progressing {
    type News = IntentNews;

    fn begin_anew(&mut self) {
        self.known = Some(Known::default());
    }

    fn read(&mut self, reader: &mut Reader) -> Result<Vec<IntentNews>, Trouble> {
        let connection = reader.connection();
        let (mut known, found, is_old) = match &self.known {
            None => {
                // Asked for first: what is queued and settled in between is new at the next look.
                let known = Known { last: newest(reader)?, ..Known::default() };
                (known, select(connection, OPEN, 0)?, true)
            }
            Some(known) => {
                // What is settled does not change any more.
                let open: Vec<String> = known.open.keys().map(|id| id.0.to_string()).collect();
                let condition = format!("id > ?1 OR id IN ({})", open.join(", "));
                (known.clone(), select(connection, &condition, known.last.0)?, false)
            }
        };
        let mut news = Vec::new();
        for intent in found {
            known.last = known.last.max(intent.id);
            let progress = (intent.state, intent.events.len());
            let before = match intent.state.is_open() {
                true => known.open.insert(intent.id, progress),
                false => known.open.remove(&intent.id),
            };
            if before != Some(progress) {
                news.push(IntentNews { intent, is_old });
            }
        }
        self.known = Some(known);
        Ok(news)
    }
}

/// The last intent of all, settled or not.
fn newest(reader: &Reader) -> Result<IntentId, Trouble> {
    let sql = "SELECT coalesce(max(id), 0) FROM outbox";
    Ok(IntentId(reader.connection().query_row(sql, [], |row| row.get(0))?))
}
