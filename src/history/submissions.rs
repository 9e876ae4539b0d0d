//! What other processes of fleetwatch send, as it happens.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;

use super::Trouble;
use super::following::Follower;
use super::handle::History;
use super::identity::Owner;
use super::reader::Reader;
use super::stored::{Body, RecordId, Stored, Submission};
use crate::time::Span;

/// How often the file is asked whether something was written; far less than a tick.
const LOOK: Duration = Duration::from_millis(150);
/// How long an outcome is waited for; the process that would tell it has died then.
const LATEST_OUTCOME: Span = Span::from_secs(600);

impl History {
    /// What other processes send from now on. Reading has a thread of its own, which ends when the receiver is dropped.
    pub fn submissions(&self) -> mpsc::UnboundedReceiver<Submission> {
        match (self.path(), self.owner()) {
            (Some(path), Some(owner)) => self.follow("submissions", LOOK, OthersSubmissions::new(path, owner.clone())),
            _ => mpsc::unbounded_channel().1,
        }
    }

    /// What any process, this one included, has sent from now on, each input once its outcome is known.
    pub fn inputs(&self) -> mpsc::UnboundedReceiver<Stored> {
        match self.path() {
            Some(path) => self.follow("inputs", LOOK, EndedInputs::new(path)),
            None => mpsc::unbounded_channel().1,
        }
    }
}

/// Inputs whose outcome is known.
pub(super) struct EndedInputs {
    /// The last record up to which no input is open; `None` while it is not known what is old.
    settled: Option<RecordId>,
    /// Later ones that were told.
    told: BTreeSet<RecordId>,
}

impl EndedInputs {
    pub(super) fn new(path: &Path) -> Self {
        // In a file that is still to be made, everything will be new.
        Self { settled: (!path.exists()).then_some(RecordId(0)), told: BTreeSet::new() }
    }
}

impl Follower for EndedInputs {
    type News = Stored;

    fn begin_anew(&mut self) {
        (self.settled, self.told) = (Some(RecordId(0)), BTreeSet::new());
    }

    fn read(&mut self, reader: &mut Reader) -> Result<Vec<Stored>, Trouble> {
        let last = reader.last_record()?;
        let settled = *self.settled.get_or_insert(last);
        let found = reader.inputs_after(settled)?;
        let now = super::now();
        let is_open = |record: &Stored| {
            let has_ended = matches!(&record.body, Body::Input(input) if input.outcome.is_some());
            !has_ended && now.since(record.at) < LATEST_OUTCOME
        };
        let oldest_open = found.iter().filter(|record| is_open(record)).map(|record| record.id).min();
        let ended = |record: &Stored| matches!(&record.body, Body::Input(input) if input.outcome.is_some());
        let news: Vec<Stored> =
            found.into_iter().filter(|record| ended(record) && !self.told.contains(&record.id)).collect();
        self.told.extend(news.iter().map(|record| record.id));
        let settled = oldest_open.map_or(last, |open| RecordId(open.0 - 1));
        self.told.retain(|id| *id > settled);
        self.settled = Some(settled);
        Ok(news)
    }
}

/// What others than this process send.
pub(super) struct OthersSubmissions {
    owner: Owner,
    /// The last submission that is old; `None` while it is not known what is.
    last: Option<i64>,
}

impl OthersSubmissions {
    pub(super) fn new(path: &Path, owner: Owner) -> Self {
        // In a file that is still to be made, everything will be new.
        let last = (!path.exists()).then_some(0);
        Self { owner, last }
    }
}

impl Follower for OthersSubmissions {
    type News = Submission;

    fn begin_anew(&mut self) {
        self.last = Some(0);
    }

    fn read(&mut self, reader: &mut Reader) -> Result<Vec<Submission>, Trouble> {
        let last = self.last.map_or_else(|| reader.last_submission(), Ok)?;
        let found = reader.submissions_after(last)?;
        self.last = Some(found.last().map_or(last, |newest| newest.number));
        Ok(found.into_iter().filter(|submission| submission.owner != self.owner.as_str()).collect())
    }
}
