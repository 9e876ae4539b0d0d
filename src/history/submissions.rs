//! What other processes of fleetwatch send, as it happens.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

use super::handle::History;
use super::identity::Owner;
use super::reader::Reader;
use super::stored::Submission;
use super::{Trouble, open};

/// How often the file is asked whether something was written; far less than a tick.
const LOOK: Duration = Duration::from_millis(150);
/// How often a file that cannot be read is tried again.
const RETRY: Duration = Duration::from_secs(1);

impl History {
    /// What other processes send from now on. Reading has a thread of its own, which ends when the receiver is dropped.
    pub fn submissions(&self) -> mpsc::UnboundedReceiver<Submission> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let (Some(path), Some(owner)) = (self.path(), self.owner()) {
            let mut follower = Follower::new(path.to_owned(), owner.clone());
            let thread = thread::Builder::new().name("submissions".to_owned()).spawn(move || {
                while !sender.is_closed() {
                    let (found, pause) = follower.follow();
                    // Nobody listens any more when this fails; the loop ends then.
                    found.into_iter().for_each(|submission| drop(sender.send(submission)));
                    thread::sleep(pause);
                }
            });
            if let Err(error) = thread {
                tracing::warn!(%error, "what other processes send is not read");
            }
        }
        receiver
    }
}

/// Reads on where it stopped.
struct Follower {
    path: PathBuf,
    owner: Owner,
    reading: Option<Reading>,
    /// The last submission that is old; `None` while it is not known what is.
    last: Option<i64>,
}

struct Reading {
    reader: Reader,
    inode: Option<u64>,
    /// The file's version when it was read last.
    version: Option<i64>,
}

impl Follower {
    fn new(path: PathBuf, owner: Owner) -> Self {
        // In a file that is still to be made, everything will be new.
        let last = (!path.exists()).then_some(0);
        Self { path, owner, reading: None, last }
    }

    /// What other processes sent since the last call, and how long to wait until the next.
    fn follow(&mut self) -> (Vec<Submission>, Duration) {
        match self.try_follow() {
            Ok(found) => (found, LOOK),
            Err(Trouble::Locked) => (Vec::new(), LOOK),
            Err(trouble) => {
                tracing::debug!(%trouble, "submissions cannot be read");
                self.reading = None;
                (Vec::new(), RETRY)
            }
        }
    }

    fn try_follow(&mut self) -> Result<Vec<Submission>, Trouble> {
        let inode = open::inode(&self.path);
        if self.reading.as_ref().is_some_and(|reading| reading.inode != inode) {
            // The file was moved aside; its successor begins to count anew.
            self.reading = None;
            self.last = Some(0);
        }
        let reading = match &mut self.reading {
            Some(reading) => reading,
            None => self.reading.insert(Reading { reader: Reader::open(&self.path)?, inode, version: None }),
        };
        let version = Some(reading.reader.data_version()?);
        if version == reading.version {
            return Ok(Vec::new());
        }
        let last = match self.last {
            Some(last) => last,
            None => *self.last.insert(reading.reader.last_submission()?),
        };
        let found = reading.reader.submissions_after(last)?;
        // Only now: what could not be read, because the file was locked, is read the next time.
        reading.version = version;
        self.last = Some(found.last().map_or(last, |newest| newest.number));
        Ok(found.into_iter().filter(|submission| submission.owner != self.owner.as_str()).collect())
    }
}
