//! Who polls a server: the process that holds a lock on a file, which the system releases however the process ends.
//! It listens on the socket beside the file.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use crate::fleet::ServerId;
use crate::private::{self, HeldLock, Lock, inode, runtime_file};

/// Where the lease of a server is.
#[derive(Clone, Debug)]
pub(super) struct LeasePath {
    lock: PathBuf,
    socket: PathBuf,
}

impl LeasePath {
    /// The path that all processes with this history share; `None` without a directory for sockets.
    pub(super) fn of(server: &ServerId, history: Option<&Path>, may_own: bool) -> Option<Self> {
        let file = |kind| runtime_file(server, history, kind, may_own);
        Some(Self { lock: file("lock")?, socket: file("sock")? })
    }

    /// Whether nobody has the lease.
    pub(super) fn is_free(&self) -> bool {
        matches!(Lock::try_take(&self.lock), Ok(Some(_)))
    }

    /// Whether somebody listens.
    pub(super) fn is_listened(&self) -> bool {
        private::is_listened(&self.socket)
    }

    pub(super) async fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.socket).await
    }

    /// Listens on the socket, replacing an earlier one.
    fn listen(&self) -> io::Result<UnixListener> {
        match fs::remove_file(&self.socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&self.socket)?;
        // The directory is private already.
        fs::set_permissions(&self.socket, fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// The inode of the current lock file.
    pub(super) fn lock_inode(&self) -> Option<u64> {
        inode(&self.lock)
    }

    /// Takes the lease, if nobody has it.
    fn try_lease(&self) -> io::Result<Option<Lease>> {
        let Some(lock) = Lock::try_take(&self.lock)? else { return Ok(None) };
        let listener = self.listen()?;
        let lease = Lease { socket: inode(&self.socket), place: self.clone(), lock, listener };
        Ok(lease.held().holds().then_some(lease))
    }

    /// Takes the lease from an owner that is stopped and answers nobody. The owner keeps a lock on the removed file, and
    /// notices that when it continues. Another process that tries the same has to wait, and then finds the new lock.
    fn take_over(&self, frozen: u64) -> io::Result<Option<Lease>> {
        let Some(_turn) = Lock::try_take(&self.lock.with_extension("turn"))? else { return Ok(None) };
        if self.lock_inode() == Some(frozen) {
            fs::remove_file(&self.lock)?;
        }
        self.try_lease()
    }
}

/// The right to poll a server for all processes; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Lease {
    place: LeasePath,
    lock: Lock,
    pub(super) listener: UnixListener,
    /// The file of the socket on which it listens.
    socket: Option<u64>,
}

impl Lease {
    /// Whether this process is still the owner; another one may have taken over while this one was stopped.
    pub(super) fn held(&self) -> HeldLock {
        self.lock.held()
    }

    /// Listens again if the socket was removed or replaced.
    pub(super) fn mend_socket(&mut self) {
        if inode(&self.place.socket) != self.socket
            && let Ok(listener) = self.place.listen()
        {
            (self.listener, self.socket) = (listener, inode(&self.place.socket));
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.held().holds() {
            // The next owner makes both again.
            let _ = fs::remove_file(&self.place.socket);
            let _ = fs::remove_file(&self.place.lock);
        }
    }
}

/// The result of asking for a server.
#[derive(Debug)]
pub(super) enum Acquired {
    Lease(Lease),
    /// Another process has the lease, and listens.
    Connection(UnixStream),
    /// Nobody listens, and this process does not have the lease.
    Silence,
    /// No process can own the server here.
    Nothing,
}

/// How a process asks for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bid {
    /// It only wants to follow.
    Follow,
    /// It owns the server if nobody does.
    Own,
    /// It replaces a frozen owner that holds this lock.
    Replace(u64),
}

/// Takes the lease of a server, if this process may and nobody has it, else connects to its owner.
pub(super) async fn acquire(place: &LeasePath, bid: Bid) -> Acquired {
    let lease = match bid {
        Bid::Follow => Ok(None),
        Bid::Own => place.try_lease(),
        Bid::Replace(lock) => place.take_over(lock),
    };
    match lease {
        Ok(Some(lease)) => return Acquired::Lease(lease),
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, socket = %place.socket.display(), "this process polls for itself alone");
            return Acquired::Nothing;
        }
    }
    match place.connect().await {
        Ok(stream) => Acquired::Connection(stream),
        Err(_) => Acquired::Silence,
    }
}
