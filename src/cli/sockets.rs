//! How a server's socket is called, so that one server has one name inside of it and outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fleet::{ServerId, Socket};

/// The server by the name that `-L` takes, where its socket lies in the directory in which this user's tmux looks for
/// names. Another user's directory, or one that only looks like it, holds other servers of the same names.
pub(super) fn named(server: ServerId) -> ServerId {
    // Which directory that is on a host is not known here.
    let Socket::Path(path) = &server.socket else { return server };
    let above = path.parent().and_then(Path::parent).filter(|_| server.host.is_none());
    let Some(above) = above.filter(|above| homes().iter().any(|home| home == above)) else { return server };
    match user() {
        Some(user) => {
            let directory = above.join(format!("tmux-{user}"));
            ServerId { socket: server.socket.named_in(&directory), ..server }
        }
        None => server,
    }
}

/// Where tmux makes its directory, as it is written and as tmux resolves it.
fn homes() -> Vec<PathBuf> {
    let told = std::env::var_os("TMUX_TMPDIR").map(PathBuf::from).filter(|path| path.exists());
    let home = told.unwrap_or_else(|| PathBuf::from("/tmp"));
    home.canonicalize().into_iter().chain([home]).collect()
}

/// The number of the user, after which tmux calls the directory. Without `id` paths stay paths, which work as well.
fn user() -> Option<u32> {
    let output = Command::new("id").arg("-ru").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_name_only_where_this_users_tmux_looks_for_names() {
        let user = user().unwrap();
        let server = |host: Option<&str>, path: &Path| ServerId {
            host: host.map(Into::into),
            socket: Socket::Path(path.to_owned()),
        };
        let name = |name: &str| ServerId { host: None, socket: Socket::Name(name.into()) };
        for home in homes() {
            let own = home.join(format!("tmux-{user}"));
            assert_eq!(named(server(None, &own.join("work"))), name("work"));
            assert_eq!(named(server(None, &own.join("default"))), ServerId::default());
            let other_users = home.join(format!("tmux-{}/work", user + 1));
            for path in [other_users, home.join("tmux-shared/work"), Path::new("/srv/tmux-0/work").to_owned()] {
                assert_eq!(named(server(None, &path)), server(None, &path));
            }
            let remote = server(Some("box"), &own.join("work"));
            assert_eq!(named(remote.clone()), remote);
        }
    }
}
