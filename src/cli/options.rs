//! The options that every command takes, combined with the configuration.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Once;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};

use super::Failure;
use crate::config::{Config, ConfigError, Loaded, SearchPath};
use crate::fleet::{ServerId, Socket};
use crate::profile::ProfileSet;
use crate::record;
use crate::tmux::{self, living_but, named, server_around};

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
        let mut loaded = self.find()?;
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

    /// The configuration, by which every server is watched only where the options name none.
    pub fn find(&self) -> Result<Loaded, ConfigError> {
        let mut loaded = Loaded::find(&self.search_path())?;
        loaded.config.every_server &= !self.names_a_server();
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
        } else if config.servers.is_empty() && !config.every_server {
            vec![server_around()]
        } else {
            config.servers.clone()
        };
        let mut servers = Vec::new();
        for server in chosen.into_iter().map(named) {
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
        if config.every_server {
            servers.extend(living_but(&servers.iter().collect::<Vec<_>>()));
            servers.extend(servers.is_empty().then(|| named(server_around())));
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
