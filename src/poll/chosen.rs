//! The sessions that the operator chose to be tasks, followed while they are watched: the choice may be made in another
//! process.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::config::Adopted;
use crate::ids::ServerId;

/// The file of the choice, as it was read last.
#[derive(Debug)]
pub(super) struct Chosen {
    path: Option<PathBuf>,
    /// When the file that was read was written, and its length; the outer `None` when it was never looked at.
    read: Option<Option<(SystemTime, u64)>>,
}

impl Chosen {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, read: None }
    }

    /// The chosen sessions of a server, when the file is another one than at the last call. One that cannot be read
    /// changes nothing; `doctor` tells of it.
    pub(super) fn read_again(&mut self, server: &ServerId) -> Option<BTreeSet<String>> {
        let path = self.path.as_ref()?;
        let stamp = std::fs::metadata(path).ok().and_then(|found| Some((found.modified().ok()?, found.len())));
        if self.read.replace(stamp) == Some(stamp) {
            return None;
        }
        match Adopted::read(path) {
            Ok(adopted) => Some(adopted.of_server(server)),
            Err(error) => {
                tracing::warn!(%error, "the chosen task sessions are not known");
                None
            }
        }
    }
}
