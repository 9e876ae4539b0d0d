//! The sockets of this user's tmux servers on this machine, by one name inside a server and outside. Agents start some of their
//! own.

use std::path::{Path, PathBuf};

use super::words::check_name;
use crate::ids::{ServerId, Socket};
use crate::private;

/// The name that begins every demo's directory and server.
pub const DEMO: &str = "fleetwatch-demo-";

/// The server by the name that `-L` takes, if its socket is in the directory where this user's tmux looks for names.
/// Another user's directory, or one that only looks like it, has other servers of the same names.
pub fn named(server: ServerId) -> ServerId {
    // The directory on a host is not known here.
    let Socket::Path(path) = &server.socket else { return server };
    let above = path.parent().and_then(Path::parent).filter(|_| server.host.is_none());
    let Some(above) = above.filter(|above| homes().iter().any(|home| home == above)) else { return server };
    let directory = of_user(above);
    ServerId { socket: server.socket.named_in(&directory), ..server }
}

/// The directory in which this user's tmux makes sockets, in a place where tmux makes directories.
pub fn of_user(home: &Path) -> PathBuf {
    home.join(format!("tmux-{}", rustix::process::getuid().as_raw()))
}

/// Where tmux makes its directory, as written and with links resolved.
pub fn homes() -> Vec<PathBuf> {
    let chosen = std::env::var_os("TMUX_TMPDIR").map(PathBuf::from).filter(|path| path.exists());
    let home = chosen.unwrap_or_else(|| PathBuf::from("/tmp"));
    home.canonicalize().into_iter().chain([home]).collect()
}

/// This user's living servers on this machine but these and the demo's, by name.
pub fn living_but(known: &[&ServerId]) -> Vec<ServerId> {
    let Some(directory) = homes().first().map(|home| of_user(home)) else { return Vec::new() };
    let sockets = std::fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let server = |path: PathBuf| {
        let socket = Socket::at(&path).named_in(&directory);
        let is_known = |id: &&ServerId| id.host.is_none() && id.socket.clone().named_in(&directory) == socket;
        let name = path.file_name()?.to_str().filter(|name| !name.starts_with(DEMO))?;
        let is_other = !known.iter().any(is_known) && private::is_listened(&path);
        (is_other && !name.contains(char::is_control)).then_some(ServerId { host: None, socket })
    };
    let mut servers: Vec<ServerId> = sockets.filter_map(server).filter(|id| check_name(id).is_ok()).collect();
    servers.sort();
    servers
}

/// The server that this process runs in, else tmux's default one.
pub fn server_around() -> ServerId {
    let inside = std::env::var("TMUX").ok();
    ServerId { host: None, socket: inside.as_deref().map_or(Socket::Default, socket_of_environment) }
}

/// The socket that the variable `TMUX` (`socket,pid,session`) names.
fn socket_of_environment(variable: &str) -> Socket {
    // The path may contain commas; the two numbers after it do not.
    let path = variable.rsplitn(3, ',').last().filter(|path| !path.is_empty());
    path.map_or(Socket::Default, Socket::at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_around_this_process_is_found_in_its_environment() {
        assert_eq!(socket_of_environment("/tmp/tmux-0/work,811,3"), Socket::at("/tmp/tmux-0/work"));
        assert_eq!(socket_of_environment("/run/a,b/tmux.sock,811,3"), Socket::at("/run/a,b/tmux.sock"));
        assert_eq!(socket_of_environment(""), Socket::Default);
        assert_eq!(socket_of_environment(",1,2"), Socket::Default);
    }

    #[test]
    fn a_path_is_a_name_only_where_this_users_tmux_looks_for_names() {
        let user = rustix::process::getuid().as_raw();
        let server =
            |host: Option<&str>, path: &Path| ServerId { host: host.map(Into::into), socket: Socket::at(path) };
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
