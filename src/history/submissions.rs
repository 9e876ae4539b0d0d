//! What other processes of fleetwatch send, as it happens.

use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;

use super::Trouble;
use super::following::Follower;
use super::handle::History;
use super::identity::Owner;
use super::reader::Reader;
use super::stored::Submission;

/// How often the file is asked whether something was written; far less than a tick.
const LOOK: Duration = Duration::from_millis(150);

impl History {
    /// What other processes send from now on. Reading has a thread of its own, which ends when the receiver is dropped.
    pub fn submissions(&self) -> mpsc::UnboundedReceiver<Submission> {
        match (self.path(), self.owner()) {
            (Some(path), Some(owner)) => self.follow("submissions", LOOK, OthersSubmissions::new(path, owner.clone())),
            _ => mpsc::unbounded_channel().1,
        }
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

    fn read(&mut self, reader: &Reader) -> Result<Vec<Submission>, Trouble> {
        let last = self.last.map_or_else(|| reader.last_submission(), Ok)?;
        let found = reader.submissions_after(last)?;
        self.last = Some(found.last().map_or(last, |newest| newest.number));
        Ok(found.into_iter().filter(|submission| submission.owner != self.owner.as_str()).collect())
    }
}
