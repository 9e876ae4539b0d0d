//! The sessions that the operator has chosen to treat as tasks. They are kept beside the history and not in the
//! configuration, which only the operator edits.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::history::stored_server;
use crate::ids::ServerId;
use crate::private::{self, state_directory};

/// The file's name in the state directory.
const FILE_NAME: &str = "task-sessions.json";

/// The chosen sessions of all servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Adopted(BTreeSet<AdoptedSession>);

/// One chosen session. It is chosen by name, so that it is still a task session when it is created again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AdoptedSession {
    /// Empty for this machine.
    pub host: String,
    /// The socket, as the history spells it: it does not depend on how the server was named.
    pub socket: String,
    pub session: String,
}

/// Why the file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum AdoptedError {
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is not in fleetwatch's format: {source}", .path.display())]
    Damaged { path: PathBuf, source: serde_json::Error },
    #[error("there is no home directory to store the choice in")]
    Homeless,
}

impl Adopted {
    /// Where the file is; `None` when the user has no home.
    pub fn location() -> Option<PathBuf> {
        Some(state_directory()?.join(FILE_NAME))
    }

    /// Reads a file; a missing one chooses nothing.
    pub fn read(path: &Path) -> Result<Self, AdoptedError> {
        match fs::read(path) {
            Ok(text) => {
                serde_json::from_slice(&text).map_err(|source| AdoptedError::Damaged { path: path.to_owned(), source })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(AdoptedError::Io { path: path.to_owned(), source }),
        }
    }

    /// Chooses a session in the file, or takes the choice back; returns whether that changed anything. Several
    /// processes may do so at once.
    ///
    /// # Errors
    /// The file cannot be read or written; it stays as it was.
    pub fn change(path: &Path, server: &ServerId, session: &str, adopt: bool) -> Result<bool, AdoptedError> {
        let io = |source| AdoptedError::Io { path: path.to_owned(), source };
        if let Some(directory) = path.parent() {
            private::make_directory(directory).map_err(io)?;
        }
        // The lock is a separate file, because this one is replaced.
        let _locked = private::locked(&path.with_extension("lock")).map_err(io)?;
        let mut adopted = Self::read(path)?;
        let (host, socket) = stored_server(server);
        let chosen = AdoptedSession { host, socket, session: session.to_owned() };
        let changed = if adopt { adopted.0.insert(chosen) } else { adopted.0.remove(&chosen) };
        if changed {
            adopted.write(path).map_err(io)?;
        }
        Ok(changed)
    }

    /// All chosen sessions, by server and name.
    pub fn iter(&self) -> impl Iterator<Item = &AdoptedSession> {
        self.0.iter()
    }

    /// The names of the chosen sessions of a server.
    pub fn of_server(&self, server: &ServerId) -> BTreeSet<String> {
        let (host, socket) = stored_server(server);
        let here = self.0.iter().filter(|chosen| chosen.host == host && chosen.socket == socket);
        here.map(|chosen| chosen.session.clone()).collect()
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        private::replace(path, &serde_json::to_vec_pretty(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Socket;

    #[test]
    fn a_choice_is_kept_for_its_server_and_taken_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state/task-sessions.json");
        let server = |name: &str| ServerId { host: None, socket: Socket::Name(name.into()) };
        assert_eq!(Adopted::read(&path).unwrap(), Adopted::default());
        assert!(Adopted::change(&path, &server("work"), "builds", true).unwrap());
        assert!(!Adopted::change(&path, &server("work"), "builds", true).unwrap());
        assert!(Adopted::change(&path, &server("work"), "a \"name\"", true).unwrap());
        let read = Adopted::read(&path).unwrap();
        assert_eq!(read.of_server(&server("work")), BTreeSet::from(["builds".to_owned(), "a \"name\"".to_owned()]));
        assert_eq!(read.of_server(&server("play")), BTreeSet::new());
        // A socket of the same name elsewhere is another server; the default one is the same however it is named.
        let elsewhere = ServerId { host: None, socket: Socket::at("/srv/tmux-1000/work") };
        assert!(!Adopted::change(&path, &elsewhere, "builds", false).unwrap());
        assert!(Adopted::change(&path, &server("default"), "builds", true).unwrap());
        assert!(Adopted::change(&path, &ServerId::default(), "builds", false).unwrap());
        assert!(Adopted::change(&path, &server("work"), "builds", false).unwrap());
        assert_eq!(Adopted::read(&path).unwrap().of_server(&server("work")).len(), 1);
        let mode = |path: &Path| std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
        assert_eq!((mode(&path) & 0o777, mode(path.parent().unwrap()) & 0o777), (0o600, 0o700));
    }

    #[test]
    fn a_damaged_file_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("task-sessions.json");
        fs::write(&path, "{").unwrap();
        let refused = Adopted::change(&path, &ServerId::default(), "builds", true).unwrap_err().to_string();
        assert!(refused.contains("is not in fleetwatch's format"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
    }
}
