//! The options that every command takes, combined with the configuration.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Once;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};

use super::Failure;
use super::faults::first_fault;
use crate::config::{Config, ConfigError, Loaded, SearchPath};
use crate::fleet::{ServerId, Socket};
use crate::private;
use crate::profile::ProfileSet;
use crate::record;
use crate::tmux;

/// Values of options that are the words of a kind.
macro_rules! values {
    ($($kind:ty),*) => {$(
        impl ValueEnum for $kind {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(self.word().into())
            }
        }
    )*};
}
values!(record::Kind, record::totals::TotalsOf);

/// Reads a value of a list, which may have a blank behind the comma before it.
#[derive(Clone)]
pub(super) struct Trimmed<P>(pub P);

impl<P: TypedValueParser> TypedValueParser for Trimmed<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, clap::Error> {
        self.0.parse_ref(command, arg, value.to_str().map_or(value, |text| OsStr::new(text.trim())))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// What stands above the options of every command in the help.
pub(super) const GLOBAL: &str = "Global options";

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = GLOBAL)]
pub struct GlobalOptions {
    /// Watch the tmux server with this name, as `tmux -L`.
    #[arg(short = 'L', value_name = "NAME", global = true, conflicts_with = "socket_path")]
    pub socket_name: Option<String>,
    /// Watch the tmux server on this socket, as `tmux -S`.
    #[arg(short = 'S', value_name = "PATH", global = true)]
    pub socket_path: Option<PathBuf>,
    /// Watch tmux on this host, named as for `ssh`.
    #[arg(long, value_name = "HOST", global = true)]
    pub host: Option<String>,
    /// Read this configuration, not the default one.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Append a log to this file, without any prompts.
    #[arg(long, value_name = "FILE", global = true)]
    pub log: Option<PathBuf>,
}

impl GlobalOptions {
    /// Where the configuration may be.
    pub fn search_path(&self) -> SearchPath {
        SearchPath::of_process(self.config.as_deref())
    }

    /// The configuration that holds for this process.
    ///
    /// # Errors
    /// It is wrong, or the one that was asked for is missing.
    pub fn load(&self) -> Result<Loaded, Failure> {
        let found = Loaded::find(&self.search_path());
        let mut loaded = found.map_err(|error| first_fault(error, &self.search_path()))?;
        // A command reads it more than once.
        static WARNED: Once = Once::new();
        WARNED.call_once(|| loaded.config.left.iter().for_each(|left| Failure::from(left.clone()).warn()));
        if let [server] = &self.servers(&loaded.config)[..]
            && let Some(history) = crate::demo::history_of(server)
        {
            loaded.config.history.path = Some(history);
        }
        Ok(loaded)
    }

    /// The built-in profiles, and the user's own from the directory `profiles` beside the configuration.
    ///
    /// # Errors
    /// One of the user's profiles cannot be read or is wrong.
    pub fn profiles(&self) -> Result<ProfileSet, Failure> {
        let mut profiles = ProfileSet::builtin();
        for (file, text) in self.profile_texts()? {
            profiles.add(&file, &text).map_err(|error| {
                Failure::usage(error).hint(format!("`fleetwatch profiles check {file}` checks it alone"))
            })?;
        }
        Ok(profiles)
    }

    /// The user's own profiles, each with the path of its file.
    fn profile_texts(&self) -> Result<Vec<(String, String)>, Failure> {
        let text = |path: PathBuf| match std::fs::read_to_string(&path) {
            Ok(text) => Ok((path.display().to_string(), text)),
            Err(error) => Err(Failure::from(ConfigError::unreadable(&path, &error))),
        };
        user_profiles(&self.search_path())?.into_iter().map(text).collect()
    }

    /// Whether the options themselves name a server.
    pub fn names_a_server(&self) -> bool {
        self.socket_name.is_some() || self.socket_path.is_some() || self.host.is_some()
    }

    /// Refuses for a socket what is none, of which tmux says only that no server is there.
    pub fn check(&self) -> Result<(), Failure> {
        if let Some(path) = self.socket_path.as_ref().filter(|_| self.host.is_none()) {
            let server = ServerId { host: None, socket: Socket::at(path) };
            tmux::check_name(&server)?;
        }
        Ok(())
    }

    /// These options as words of a command line.
    pub fn words(&self) -> Vec<OsString> {
        let log = self.log.iter().flat_map(|path| [OsString::from("--log"), path.into()]);
        self.place().into_iter().chain(log).collect()
    }

    /// Those that say what is watched.
    pub(super) fn place(&self) -> Vec<OsString> {
        let text = |text: &Option<String>| text.as_ref().map(OsString::from);
        let path = |path: &Option<PathBuf>| path.as_ref().map(OsString::from);
        let options = [
            ("-L", text(&self.socket_name)),
            ("-S", path(&self.socket_path)),
            ("--host", text(&self.host)),
            ("--config", path(&self.config)),
        ];
        options.into_iter().flat_map(|(name, value)| value.map(|value| [name.into(), value])).flatten().collect()
    }

    /// The servers to watch: those of the options, else those of the configuration, else the one that plain `tmux`
    /// talks to. Each is listed once, under one name however it was given.
    pub fn servers(&self, config: &Config) -> Vec<ServerId> {
        let chosen = if self.names_a_server() {
            let local = crate::tmux::local(self.socket_name.clone(), self.socket_path.clone());
            vec![ServerId { host: self.host.as_deref().map(Into::into), ..local }]
        } else if config.servers.is_empty() {
            let inside = std::env::var("TMUX").ok();
            vec![ServerId { host: None, socket: inside.as_deref().map_or(Socket::Default, socket_of_environment) }]
        } else {
            config.servers.clone()
        };
        let mut servers = Vec::new();
        for server in chosen.into_iter().map(named) {
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
        servers
    }
}

/// The user's own profiles: every `*.toml` in the directory `profiles` beside a configuration, by name.
pub(super) fn user_profiles(search: &SearchPath) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for directory in search.candidates().iter().filter_map(|candidate| candidate.path.parent()) {
        found.extend(toml_files(&directory.join("profiles"))?);
    }
    found.sort();
    Ok(found)
}

/// Every `*.toml` in a directory, by name; none if there is no directory.
pub(super) fn toml_files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Failure::usage(format!("{}: cannot be read: {error}", directory.display()))
                .hint("check that it is a directory that you may read"));
        }
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    Ok(files)
}

/// The socket that the variable `TMUX` (`socket,pid,session`) names.
fn socket_of_environment(variable: &str) -> Socket {
    // The path may contain commas; the two numbers after it do not.
    let path = variable.rsplitn(3, ',').last().filter(|path| !path.is_empty());
    path.map_or(Socket::Default, Socket::at)
}

// The name of a server's socket, the same inside the server and outside.

/// The server by the name that `-L` takes, if its socket is in the directory where this user's tmux looks for names.
/// Another user's directory, or one that only looks like it, has other servers of the same names.
pub(super) fn named(server: ServerId) -> ServerId {
    // The directory on a host is not known here.
    let Socket::Path(path) = &server.socket else { return server };
    let above = path.parent().and_then(Path::parent).filter(|_| server.host.is_none());
    let Some(above) = above.filter(|above| homes().iter().any(|home| home == above)) else { return server };
    let directory = of_user(above);
    ServerId { socket: server.socket.named_in(&directory), ..server }
}

/// The directory in which this user's tmux makes sockets, in a place where tmux makes directories.
pub(super) fn of_user(home: &Path) -> PathBuf {
    home.join(format!("tmux-{}", rustix::process::getuid().as_raw()))
}

/// Where tmux makes its directory, as written and with links resolved.
pub(super) fn homes() -> Vec<PathBuf> {
    let chosen = std::env::var_os("TMUX_TMPDIR").map(PathBuf::from).filter(|path| path.exists());
    let home = chosen.unwrap_or_else(|| PathBuf::from("/tmp"));
    home.canonicalize().into_iter().chain([home]).collect()
}

/// The names of this user's living servers on this machine but these, in order.
pub(super) fn living_but(known: &[&ServerId]) -> Vec<String> {
    let Some(directory) = homes().first().map(|home| of_user(home)) else { return Vec::new() };
    let sockets = std::fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_other = |path: &PathBuf| {
        let socket = Socket::at(path).named_in(&directory);
        let is_known = |id: &&ServerId| id.host.is_none() && id.socket.clone().named_in(&directory) == socket;
        !known.iter().any(is_known) && private::is_listened(path)
    };
    let names = sockets.filter(is_other).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
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
    fn options_come_before_the_configuration() {
        let config = Config::parse("[[server]]\nsocket = \"a\"\n[[server]]\nsocket = \"b\"\n", Path::new("t")).unwrap();
        let server = |host: Option<&str>, socket| ServerId { host: host.map(Into::into), socket };
        let named = GlobalOptions { socket_name: Some("c".into()), ..GlobalOptions::default() };
        assert_eq!(named.servers(&config), [server(None, Socket::Name("c".into()))]);
        let remote = GlobalOptions { host: Some("box".into()), ..GlobalOptions::default() };
        assert_eq!(remote.servers(&config), [server(Some("box"), Socket::Default)]);
        let both = [server(None, Socket::Name("a".into())), server(None, Socket::Name("b".into()))];
        assert_eq!(GlobalOptions::default().servers(&config), both);
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
