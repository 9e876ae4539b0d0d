//! How tmux is called: programs with pipes, and how a host is reached, by `ssh` or by a command of the operator's. Both begin a
//! program there, with pipes or with a terminal; nothing else of this crate knows which of them it is.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;

use super::error::Error;
use super::words::shell_word;
use crate::hash::fnv;
use crate::pattern::Pattern;
use crate::private::program;

/// Seconds until `ssh` gives up connecting.
const CONNECT_TIMEOUT: u32 = 10;

/// The longest path that a socket may have, less what `ssh` adds to it while it binds it.
const LONGEST_SOCKET: usize = 103 - 17;

/// What stands for the host's name in a command of the operator's.
const HOST: &str = "{host}";

/// How tmux is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The `tmux` program on this machine.
    pub tmux: PathBuf,
    /// The `ssh` program.
    pub ssh: PathBuf,
    /// The commands by which hosts are reached that `ssh` does not lead to; the first one that fits a name is used.
    pub transports: Arc<[CommandTransport]>,
    /// How long a call to a server on this machine may take.
    pub deadline: Duration,
    /// How long a call to a host may take that is connected.
    pub host_deadline: Duration,
    /// How long the first call to a host may take, which connects.
    pub connect_deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // Found once, and not anew for each poll.
            tmux: std::env::var_os("PATH").and_then(|path| program("tmux", &path)).unwrap_or_else(|| "tmux".into()),
            ssh: PathBuf::from("ssh"),
            transports: Arc::default(),
            deadline: Duration::from_secs(2),
            host_deadline: Duration::from_secs(8),
            connect_deadline: Duration::from_secs(20),
        }
    }
}

/// A command that runs a program on hosts that `ssh` does not lead to (`[[transport]]` in the configuration), such as
/// `docker exec -i {host}`. It is a list of words, and no shell reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTransport {
    /// The names of the hosts that it leads to.
    pub hosts: Vec<Pattern>,
    /// The command before the program's own words; `{host}` in it stands for the name.
    pub command: Vec<String>,
    /// The command for a program that takes over the operator's terminal.
    pub terminal: Vec<String>,
}

/// How one host is reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Transport {
    Ssh { program: PathBuf, host: String },
    Command { words: Vec<String>, terminal: Vec<String> },
}

/// A connection that several sessions share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// The one that fleetwatch opens.
    #[default]
    Own,
    /// The one that the operator opened, at the ControlPath of their own configuration.
    Operators,
}

impl Transport {
    /// How the host of that name is reached: by the first command that is meant for it, else by `ssh`.
    pub(super) fn of(settings: &Settings, host: &str) -> Self {
        let fits = |transport: &&CommandTransport| transport.hosts.iter().any(|pattern| pattern.matches(host));
        match settings.transports.iter().find(fits) {
            None => Transport::Ssh { program: settings.ssh.clone(), host: host.to_owned() },
            Some(CommandTransport { command, terminal, .. }) => {
                let words = |words: &[String]| words.iter().map(|word| word.replace(HOST, host)).collect();
                Transport::Command { words: words(command), terminal: words(terminal) }
            }
        }
    }

    /// The ways to try, one after the other, when `last` was the one that led there last.
    ///
    /// The operator's connection comes last, as the operator may have given one socket to several names that lie behind one
    /// address; it serves for a host that asks for a second factor.
    pub(super) fn ways(&self, last: Way) -> &'static [Way] {
        match (self, last) {
            (Transport::Command { .. }, _) => &[Way::Own],
            (Transport::Ssh { .. }, Way::Own) => &[Way::Own, Way::Operators],
            (Transport::Ssh { .. }, Way::Operators) => &[Way::Operators, Way::Own],
        }
    }

    /// The command that runs a line of a POSIX shell, which holds `"` and `$` and no `'`, with pipes.
    pub(super) fn to_run(&self, line: &str, way: Way) -> (PathBuf, Vec<String>) {
        match self {
            Transport::Ssh { program, host } => {
                let mut words = ssh_options(host, way);
                // Every shell that somebody may log in with reads this in one way.
                words.extend(["--".to_owned(), address(host), format!("exec sh -c '{line}'")]);
                (program.clone(), words)
            }
            Transport::Command { words, .. } => {
                split([words.as_slice(), &["sh".to_owned(), "-c".to_owned(), line.to_owned()]].concat())
            }
        }
    }

    /// The command that says whether the operator's own connection is open.
    pub(super) fn to_check(&self, way: Way) -> Option<(PathBuf, Vec<String>)> {
        let Transport::Ssh { program, host } = self else { return None };
        let check = ["-O", "check", "--", &address(host)].map(str::to_owned);
        (way == Way::Operators).then(|| (program.clone(), [ssh_options(host, way).as_slice(), &check].concat()))
    }

    /// The command that gives the operator's terminal to a program, through the connection that is there already, so that
    /// nobody has to log in twice. The program gets `term` as the name of its terminal; `None` leaves the name as it is.
    pub(super) fn to_show(
        &self,
        program: &[String],
        term: Option<&str>,
        way: Way,
    ) -> Result<std::process::Command, Error> {
        let as_term = |term: &str| ["env".to_owned(), format!("TERM={term}")];
        match self {
            Transport::Ssh { program: ssh, host } => {
                let mut command = std::process::Command::new(ssh);
                if way == Way::Own {
                    command.args(["-o", &format!("ControlPath={}", control_path(host)), "-o", "ControlMaster=no"]);
                }
                command.args(["-t", "--", &address(host)]);
                for word in term.map(as_term).iter().flatten().chain(program) {
                    command.arg(shell_word(word)?);
                }
                Ok(command)
            }
            Transport::Command { terminal, .. } => {
                // Unlike `ssh`, other programs do not hand it on.
                let own = std::env::var("TERM").ok().filter(|own| !own.is_empty());
                let term = term.map(str::to_owned).or(own).map(|term| as_term(&term));
                let (first, words) =
                    split([terminal.as_slice(), term.as_ref().map_or(&[], |term| term), program].concat());
                let mut command = std::process::Command::new(first);
                command.args(words);
                Ok(command)
            }
        }
    }

    /// Whether a connection is there that a new session can share.
    pub(super) fn is_connected(&self, way: Way) -> bool {
        match self {
            Transport::Ssh { host, .. } => way == Way::Operators || Path::new(&control_path(host)).exists(),
            Transport::Command { .. } => false,
        }
    }

    /// By which connection the host is reached, in words.
    pub(super) fn connection(&self, way: Way) -> String {
        let host = match self {
            Transport::Ssh { host, .. } => host,
            Transport::Command { words, .. } => return format!("by `{}`", words.join(" ")),
        };
        match (way, control_path(host)) {
            (Way::Operators, _) => "over the connection that you opened".to_owned(),
            (Way::Own, path) if path == "none" => {
                "other calls connect by themselves, because neither XDG_RUNTIME_DIR nor ~/.ssh can hold a socket"
                    .to_owned()
            }
            (Way::Own, path) => format!("connection {path}"),
        }
    }

    /// What must work for the host to be reached: a hint with a command to type.
    pub(super) fn check(&self) -> String {
        let must = match self {
            Transport::Ssh { host, .. } => format!("`ssh -o BatchMode=yes {host} true` must work"),
            // A command that has a shell read its arguments once more, as `ssh` does, prints an empty line.
            Transport::Command { words, .. } => {
                format!("`{} sh -c 'echo works'` must print `works`", words.join(" "))
            }
        };
        format!("{must} without a password or a question")
    }
}

/// The name as `ssh` takes it: an IPv6 address without its brackets.
fn address(host: &str) -> String {
    host.replace(['[', ']'], "")
}

fn split(mut words: Vec<String>) -> (PathBuf, Vec<String>) {
    // The configuration refuses a command without a word.
    let first = if words.is_empty() { String::new() } else { words.remove(0) };
    (PathBuf::from(first), words)
}

/// Where the one connection to a host listens; `none` where no directory is fit for it.
///
/// It is named after the host as the operator calls it. An address says nothing of the machine behind it: the same one may
/// lie behind two proxies, and what is meant for one machine must never go to the other.
fn control_path(host: &str) -> String {
    let runtime = std::env::var("XDG_RUNTIME_DIR").ok();
    let home = std::env::var("HOME").ok().map(|home| format!("{home}/.ssh"));
    control_path_in(host, [runtime, home].into_iter().flatten())
}

fn control_path_in(host: &str, directories: impl IntoIterator<Item = String>) -> String {
    let name = format!("fleetwatch-{:016x}", fnv(host.as_bytes()));
    let fits = |directory: &String| {
        let is_short = directory.len() + 1 + name.len() <= LONGEST_SOCKET;
        is_short && !directory.contains(UNFIT) && Path::new(directory).is_dir()
    };
    let directory = directories.into_iter().find(fits);
    directory.map_or_else(|| "none".to_owned(), |directory| format!("{directory}/{name}"))
}

/// What `ssh` would read as more than a path.
const UNFIT: [char; 5] = ['%', '"', ' ', '$', '~'];

/// `ssh` asks nothing, keeps one connection a host for all sessions, and notices by itself that a host is gone.
fn ssh_options(name: &str, way: Way) -> Vec<String> {
    let shared = match way {
        Way::Own => vec![
            "ControlMaster=auto".to_owned(),
            format!("ControlPath={}", control_path(name)),
            "ControlPersist=120".to_owned(),
        ],
        Way::Operators => vec!["ControlMaster=no".to_owned()],
    };
    let others = [
        "BatchMode=yes",
        &format!("ConnectTimeout={CONNECT_TIMEOUT}"),
        "ServerAliveInterval=5",
        "ServerAliveCountMax=2",
        "RequestTTY=no",
        "RemoteCommand=none",
        "PermitLocalCommand=no",
        "ClearAllForwardings=yes",
        "LogLevel=ERROR",
    ];
    let options = others.into_iter().map(str::to_owned).chain(shared);
    options.flat_map(|option| ["-o".to_owned(), option]).collect()
}

/// The most that a server prints in one call. Five hundred full screens are a tenth of it.
pub(super) const OUTPUT_LIMIT: usize = 64 << 20;

/// What a process left behind.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// `None` when a signal ended it.
    pub(super) code: Option<i32>,
}

pub(super) fn command(program: &Path, words: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

pub(super) fn spawn_error(command: &Command, error: &std::io::Error) -> Error {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { program, host: None },
        _ => Error::Failed(format!("{program} cannot be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::ServerId;

    #[test]
    fn each_name_of_a_host_has_a_connection_of_its_own() {
        let path = |host: &str| control_path_in(host, ["/".to_owned()]);
        assert_eq!(path("prod-db"), path("prod-db"));
        assert_ne!(path("prod-db"), path("staging-db"));
        assert_ne!(path("box"), path("me@box"));
        let id = ServerId { host: Some("box".into()), ..ServerId::default() };
        let words = super::super::run::foreground(&Settings::default(), &id, None, &[]).unwrap();
        let option = format!("ControlPath={}", control_path("box"));
        assert!(words.get_args().any(|word| word.to_str() == Some(&option)), "{words:?}");
    }

    #[test]
    fn a_connection_is_kept_only_where_its_socket_fits() {
        let long = tempfile::tempdir().unwrap();
        let long = long.path().join("x".repeat(90));
        std::fs::create_dir(&long).unwrap();
        let long = long.to_str().unwrap().to_owned();
        assert_eq!(control_path_in("box", [long.clone(), "/nowhere".to_owned()]), "none");
        assert!(control_path_in("box", [long, "/tmp".to_owned()]).starts_with("/tmp/fleetwatch-"));
    }
}
