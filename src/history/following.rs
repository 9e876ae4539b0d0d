//! What other processes write, as it happens: a thread of its own looks now and then whether the file has changed, and
//! a [`Follower`] reads on where it stopped.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

use super::handle::History;
use super::reader::Reader;
use super::{Trouble, open};

/// How often a file that cannot be read is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Knows what of the history is told already.
pub(super) trait Follower: Send + 'static {
    /// What it tells.
    type News: Send;

    /// The file was moved aside; its successor begins to count anew, and all of it will be news.
    fn begin_anew(&mut self);

    /// What was written since the last call that succeeded. A call that fails changes nothing, so that the next one tells
    /// the same.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&mut self, reader: &mut Reader) -> Result<Vec<Self::News>, Trouble>;
}

/// A file that is open to be read.
pub(super) struct OpenFile {
    pub reader: Reader,
    /// The file itself, whatever its name comes to mean.
    inode: Option<u64>,
}

impl OpenFile {
    /// # Errors
    /// As [`Reader::open`].
    pub(super) fn open(path: &Path) -> Result<Self, Trouble> {
        // Asked for first: a file that takes its place in between is noticed at the next look.
        let inode = open::inode(path);
        Ok(Self { reader: Reader::open(path)?, inode })
    }

    /// Whether the path still means this file, and not another one or none.
    pub(super) fn is_in_place(&self, path: &Path) -> bool {
        open::inode(path) == self.inode
    }
}

impl History {
    /// What a follower tells from now on, asked every `pause`. Reading has a thread with a name of its own, which ends
    /// when the receiver is dropped.
    pub(super) fn follow<F: Follower>(
        &self,
        name: &str,
        pause: Duration,
        follower: F,
    ) -> mpsc::UnboundedReceiver<F::News> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let Some(path) = self.path() {
            let mut following = Following::new(path.to_owned(), follower);
            let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
                while !sender.is_closed() {
                    let (found, troubled) = following.look();
                    // Nobody listens any more when this fails; the loop ends then.
                    found.into_iter().for_each(|news| drop(sender.send(news)));
                    thread::sleep(troubled.unwrap_or(pause));
                }
            });
            if let Err(error) = thread {
                tracing::warn!(%error, name, "what other processes write is not read");
            }
        }
        receiver
    }
}

/// A follower and the file that it reads.
pub(super) struct Following<F> {
    path: PathBuf,
    follower: F,
    open: Option<Reader>,
    /// The file that the path meant at the last look, which need not have been readable; a file that was moved aside
    /// keeps its inode.
    inode: Option<u64>,
    /// The file's version when it was read last.
    version: Option<i64>,
}

impl<F: Follower> Following<F> {
    pub(super) fn new(path: PathBuf, follower: F) -> Self {
        Self { path, follower, open: None, inode: None, version: None }
    }

    /// What is new, and how long to wait if it is longer than usual.
    pub(super) fn look(&mut self) -> (Vec<F::News>, Option<Duration>) {
        match self.try_look() {
            Ok(found) => (found, None),
            Err(Trouble::Locked) => (Vec::new(), None),
            Err(trouble) => {
                tracing::debug!(%trouble, "what other processes write cannot be read");
                self.close();
                (Vec::new(), Some(RETRY))
            }
        }
    }

    fn try_look(&mut self) -> Result<Vec<F::News>, Trouble> {
        // Asked for first: a file that takes its place in between is noticed at the next look.
        let inode = open::inode(&self.path);
        if inode != self.inode {
            self.close();
            if self.inode.is_some() {
                self.follower.begin_anew();
            }
            self.inode = inode;
        }
        let reader = match &mut self.open {
            Some(open) => open,
            none => none.insert(Reader::open(&self.path)?),
        };
        let version = Some(reader.data_version()?);
        if version == self.version {
            return Ok(Vec::new());
        }
        let found = self.follower.read(reader)?;
        // Only now: what could not be read, because the file was locked, is read the next time.
        self.version = version;
        Ok(found)
    }

    /// The file stays known: should another one have taken its place when it is opened again, that one is new.
    /// Versions are counted anew by every connection.
    fn close(&mut self) {
        (self.open, self.version) = (None, None);
    }
}
