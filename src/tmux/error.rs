//! What can go wrong with a call to tmux, what kind of trouble it is, and what to do about it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::fleet::ServerId;
use crate::operation::Refusal;
use crate::state::Problem;

/// The oldest tmux that has what fleetwatch uses.
pub(super) const OLDEST: (u32, u32) = (3, 2);

/// Why a path is not that of a socket.
pub(super) const NO_SOCKET: &str = "it is no socket";

/// A call to tmux that did not do what it was for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The program is not installed, or not in the path.
    #[error("{program} is not installed{}", on(.host))]
    Missing { program: String, host: Option<Arc<str>> },
    #[error("tmux {found} is too old{}", on(.host))]
    TooOld { found: String, host: Option<Arc<str>> },
    /// Nobody listens on the socket.
    #[error("no tmux server is running on {}", socket(.server))]
    NoServer { server: ServerId, message: String },
    /// The server has ended in the midst of the call. tmux says the same of one that ends the connection because it does not
    /// understand its client: who asks again knows which of the two it was.
    #[error("the tmux server on {server} has ended: {message}")]
    Lost { server: ServerId, message: String },
    /// The server is there, but the `tmux` program is another version and does not understand it.
    #[error("the tmux client{} cannot talk to the server on {server}: {message}", version(.client))]
    Mismatch { server: ServerId, message: String, client: Option<String> },
    /// The socket is there but may not be used.
    #[error("tmux refused: {message}")]
    Refused { message: String },
    #[error("tmux on {server} did not answer within {} ms", .after.as_millis())]
    TimedOut { server: String, after: Duration },
    /// Nothing could get to the host.
    #[error("host {host} cannot be reached: {message}")]
    Unreachable {
        host: String,
        message: String,
        /// What must work on the command line before fleetwatch gets there, as a hint.
        check: String,
    },
    /// A name from the configuration or the command line that must not reach a command line.
    #[error("{what} {name:?} cannot be used: {why}")]
    BadName { what: &'static str, name: String, why: &'static str },
    /// The output is not what was asked for.
    #[error("tmux sent an unreadable answer: {0}")]
    Garbled(String),
    /// tmux or the system said no for another reason.
    #[error("tmux failed: {0}")]
    Failed(String),
}

/// A server as whoever looks for it calls its socket.
fn socket(server: &ServerId) -> String {
    if *server == ServerId::default() { "the default socket".to_owned() } else { server.to_string() }
}

fn version(client: &Option<String>) -> String {
    client.as_ref().map(|version| format!(" ({version})")).unwrap_or_default()
}

/// How a server is started, after the words for that.
fn with_tmux(server: &ServerId) -> String {
    format!("{} with `{} new-session`", on(&server.host), server.socket.command())
}

fn on(host: &Option<Arc<str>>) -> String {
    host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default()
}

impl Error {
    /// A short, stable name of the kind of trouble.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Missing { .. } => "tmux_missing",
            Error::TooOld { .. } => "tmux_too_old",
            Error::NoServer { .. } => "no_server",
            Error::Lost { .. } => "server_ended",
            Error::Mismatch { .. } => "tmux_mismatch",
            Error::Refused { .. } => "refused",
            Error::TimedOut { .. } => Problem::TIMEOUT,
            Error::Unreachable { .. } => "unreachable",
            Error::BadName { .. } => "bad_name",
            Error::Garbled(_) => "garbled",
            Error::Failed(_) => "tmux_failed",
        }
    }

    /// What the operator can do about it.
    pub fn hint(&self) -> String {
        match self {
            Error::Missing { program, .. } if program == "ssh" => {
                "install the OpenSSH client, or watch local servers only".into()
            }
            Error::Missing { program, .. } if !Path::new(program).ends_with("tmux") => {
                format!("install {program} and make sure that it is in the PATH")
            }
            Error::Missing { .. } => {
                format!("install tmux {}.{} or newer and make sure that it is in the PATH", OLDEST.0, OLDEST.1)
            }
            Error::TooOld { .. } => format!("fleetwatch needs tmux {}.{} or newer", OLDEST.0, OLDEST.1),
            Error::NoServer { server, .. } => {
                format!("start one{}, or name another with -L NAME, -S PATH or --host HOST", with_tmux(server))
            }
            Error::Lost { server, .. } => {
                format!("start it again{}; if the same ends it once more, install a newer tmux", with_tmux(server))
            }
            Error::Mismatch { server, .. } => {
                let host = on(&server.host);
                format!(
                    "the server was started by another tmux; put that one first in the PATH{host}, or restart the server"
                )
            }
            Error::Refused { .. } => "check the socket's owner and permissions".into(),
            Error::TimedOut { .. } => {
                "the server may be stopped or overloaded; a dashboard or `watch` keeps trying".into()
            }
            Error::Unreachable { check, .. } => check.clone(),
            Error::BadName { what: "host", .. } => {
                "write the host as for `ssh`, such as `box-2` or `me@box-2`, or define a Host in ~/.ssh/config".into()
            }
            Error::BadName { why: NO_SOCKET, .. } => {
                "name the socket of a tmux server, or a path where nothing is".into()
            }
            Error::BadName { .. } => "use letters, digits, `.`, `_`, `-` and, in paths, `/`".into(),
            Error::Garbled(_) => {
                "see whether `tmux show -s command-alias` puts another command in the place of `list-panes`, \
                                  `list-sessions`, `display-message` or `capture-pane`"
                    .into()
            }
            Error::Failed(_) => "run `fleetwatch doctor` to see what tmux answers".into(),
        }
    }

    /// The error as the public state carries it.
    pub fn problem(&self) -> Problem {
        Problem { kind: self.kind().to_owned(), message: self.to_string() }
    }

    /// Whether a server has ended and left its socket behind. Where there is no socket either, tmux says so instead.
    pub fn is_left_behind(&self) -> bool {
        let Error::NoServer { message, .. } = self else { return false };
        message.starts_with("no server running") || message.contains("Connection refused")
    }

    /// Whether it says for certain that there is no such server, and so no pane of it.
    pub fn is_no_server(&self) -> bool {
        matches!(self, Error::NoServer { .. })
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Tmux { message: error.to_string(), hint: error.hint(), is_no_server: error.is_no_server() }
    }
}

/// Reads what `tmux` wrote to standard error. `None` when it says nothing about the call as a whole.
pub(super) fn from_stderr(id: &ServerId, stderr: &[u8], code: Option<i32>) -> Option<Error> {
    let stderr = String::from_utf8_lossy(stderr);
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = |line: &str| crate::screen::harmless(line).chars().take(300).collect::<String>();
    for line in lines() {
        // tmux's client.c: the words of CLIENT_EXIT_LOST_SERVER (`lost server` before 3.2).
        if ["server exited unexpectedly", "lost server"].iter().any(|words| line.starts_with(words)) {
            return Some(Error::Lost { server: id.clone(), message: message(line) });
        }
        // The same of MSG_VERSION: the server is there, and does not take this client.
        if line.starts_with("protocol version mismatch") {
            return Some(Error::Mismatch { server: id.clone(), message: message(line), client: None });
        }
        let gone = ["no server running", "server exited"].iter().any(|words| line.starts_with(words));
        let nobody = line.starts_with("error connecting to")
            && (line.contains("No such file or directory") || line.contains("Connection refused"));
        if gone || nobody {
            return Some(Error::NoServer { server: id.clone(), message: message(line) });
        }
        if line.starts_with("error connecting to") {
            return Some(Error::Refused { message: message(line) });
        }
    }
    let last = lines().next_back().map(message);
    match (&id.host, code) {
        (Some(host), Some(127)) => Some(Error::Missing { program: "tmux".into(), host: Some(host.clone()) }),
        (_, Some(0)) => None,
        _ => last.map(Error::Failed),
    }
}

/// Fails when a version, as tmux writes it, is older than what fleetwatch needs. Versions without a number
/// (`master`, `openbsd-7.4`) are taken to be new enough.
///
/// # Errors
/// It is older.
pub fn check_version(version: &str) -> Result<(), Error> {
    let number = version.trim_start_matches("next-");
    let mut parts = number.split('.').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse::<u32>().ok()
    });
    let (Some(Some(major)), minor) = (parts.next(), parts.next().flatten()) else { return Ok(()) };
    if (major, minor.unwrap_or(0)) < OLDEST {
        return Err(Error::TooOld { found: version.to_owned(), host: None });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> ServerId {
        ServerId::default()
    }

    #[test]
    fn what_tmux_says_is_told_apart() {
        let read = |text: &str| from_stderr(&local(), text.as_bytes(), Some(1)).map(|error| error.kind());
        assert_eq!(read("no server running on /tmp/tmux-0/default\n"), Some("no_server"));
        assert_eq!(read("error connecting to /tmp/x (No such file or directory)\n"), Some("no_server"));
        assert_eq!(read("server exited\n"), Some("no_server"));
        assert_eq!(read("server exited unexpectedly\n"), Some("server_ended"));
        let lost = from_stderr(&local(), b"server exited unexpectedly\n", Some(1)).unwrap();
        assert_eq!(
            lost.hint(),
            "start it again with `tmux new-session`; if the same ends it once more, install a newer tmux"
        );
        assert_eq!(read("protocol version mismatch (client 8, server 7)\n"), Some("tmux_mismatch"));
        assert_eq!(read("error connecting to /tmp/x (Permission denied)\n"), Some("refused"));
        assert_eq!(read("can't find pane: %7\n"), Some("tmux_failed"));
        assert_eq!(read(""), None);
    }

    #[test]
    fn how_the_very_server_is_started_is_said() {
        use crate::fleet::Socket;
        let hint = |host: Option<&str>, socket| {
            let id = ServerId { host: host.map(Into::into), socket };
            let error = from_stderr(&id, b"no server running on /x\n", Some(1)).unwrap();
            assert!(error.is_left_behind());
            error.hint()
        };
        assert!(hint(None, Socket::Default).starts_with("start one with `tmux new-session`, or"));
        assert!(hint(None, Socket::Name("work".into())).contains("`tmux -L work new-session`"));
        assert!(hint(None, Socket::at("/tmp/x")).contains("`tmux -S /tmp/x new-session`"));
        assert!(hint(Some("box-2"), Socket::Default).starts_with("start one on box-2 with `tmux new-session`, or"));
        let none = from_stderr(&local(), b"error connecting to /x (No such file or directory)\n", Some(1)).unwrap();
        assert!(!none.is_left_behind());
    }

    #[test]
    fn a_host_without_tmux_is_no_missing_server() {
        let id = ServerId { host: Some("box-2".into()), ..local() };
        let read = |text: &str, code| from_stderr(&id, text.as_bytes(), Some(code)).map(|error| error.kind());
        assert_eq!(read("bash: tmux: command not found\n", 127), Some("tmux_missing"));
        assert_eq!(read("no server running on /tmp/tmux-0/default\n", 1), Some("no_server"));
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        for fine in ["3.2", "3.2a", "3.10", "4.0", "next-3.6", "master", "openbsd-7.4"] {
            assert_eq!(check_version(fine), Ok(()), "{fine}");
        }
        for old in ["3.1c", "2.9a", "1.8"] {
            assert!(matches!(check_version(old), Err(Error::TooOld { .. })), "{old}");
        }
    }
}
