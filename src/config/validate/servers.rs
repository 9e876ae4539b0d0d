//! The tmux servers to watch, and how their hosts are reached.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ConfigText;
use crate::config::ConfigError;
use crate::config::file::{ServerTable, TransportTable};
use crate::fleet::{ServerId, Socket};
use crate::pattern::Pattern;
use crate::tmux::{self, CommandTransport};

/// The servers of a configuration, with the other files that they were read from.
#[derive(Debug, Default)]
pub(super) struct ServersRead {
    pub servers: Vec<ServerId>,
    pub files: Vec<PathBuf>,
}

impl ConfigText<'_> {
    pub(super) fn servers(&self, tables: &[ServerTable]) -> Result<ServersRead, ConfigError> {
        let mut read = ServersRead::default();
        let ssh = OnceCell::new();
        for (index, table) in tables.iter().enumerate() {
            let socket = self.socket(index, table)?;
            if table.host.is_some() || table.hosts.is_empty() && table.hosts_file.is_none() {
                let server = ServerId { host: table.host.as_deref().map(Into::into), socket: socket.clone() };
                self.check_server(index, "host", &server)?;
                if read.servers.contains(&server) {
                    let what = format!("the server `{server}` is named twice");
                    return Err(self.fault(
                        ("server", Some(index), None),
                        what,
                        "remove one of the two [[server]] tables",
                    ));
                }
                read.servers.push(server);
            }
            let mut hosts = Vec::new();
            for text in &table.hosts {
                hosts.extend(self.hosts(index, text, &ssh)?);
            }
            if let Some(path) = &table.hosts_file {
                hosts.extend(self.hosts_in(index, Path::new(path), &socket)?);
                read.files.push(path.into());
            }
            // A host that several patterns match is one host.
            for host in hosts {
                let server = ServerId { host: Some(host.into()), socket: socket.clone() };
                self.check_server(index, "hosts", &server)?;
                if !read.servers.contains(&server) {
                    read.servers.push(server);
                }
            }
        }
        read.files.extend(ssh.into_inner().into_iter().flat_map(|ssh: SshHosts| ssh.files));
        Ok(read)
    }

    fn socket(&self, index: usize, table: &ServerTable) -> Result<Socket, ConfigError> {
        let at = |key| ("server", Some(index), Some(key));
        Ok(match (&table.socket, &table.path) {
            (Some(_), Some(_)) => {
                let hint = "keep `socket` for a name as in `tmux -L`, or `path` for a path as in `tmux -S`";
                return Err(self.fault(at("path"), "a server has `socket` and `path`", hint));
            }
            (Some(name), None) if name.contains('/') => {
                let hint = format!("write it as a path: path = \"{name}\"");
                return Err(self.fault(at("socket"), format!("`{name}` is a path, not a socket's name"), hint));
            }
            (Some(name), None) if name == "default" => Socket::Default,
            (Some(name), None) => Socket::Name(name.as_str().into()),
            (None, Some(path)) if !path.starts_with('/') => {
                let hint = "write the whole path of the socket, from `/` on";
                return Err(self.fault(at("path"), format!("`{path}` is not an absolute path"), hint));
            }
            (None, Some(path)) => Socket::at(path),
            (None, None) => Socket::Default,
        })
    }

    fn check_server(&self, index: usize, host: &'static str, server: &ServerId) -> Result<(), ConfigError> {
        let Err(error) = tmux::check_name(server) else { return Ok(()) };
        // A socket name that is valid here may be invalid on a host.
        let key = match (&error, &server.socket) {
            (tmux::Error::BadName { what: "host", .. }, _) => host,
            (_, Socket::Path(_)) => "path",
            _ => "socket",
        };
        Err(self.fault(("server", Some(index), Some(key)), error.to_string(), error.hint()))
    }

    /// The hosts that a name or a pattern means; patterns match hosts of ssh's own configuration.
    fn hosts(&self, index: usize, text: &str, ssh: &OnceCell<SshHosts>) -> Result<Vec<String>, ConfigError> {
        let pattern = Pattern::new(text).ok().filter(|_| is_pattern(text));
        let Some(pattern) = pattern else { return Ok(vec![text.to_owned()]) };
        let found: Vec<String> = ssh.get_or_init(SshHosts::of_user).matching(&pattern).cloned().collect();
        if found.is_empty() {
            let what = format!("no Host in ~/.ssh/config or /etc/ssh/ssh_config matches `{text}`");
            let hint = "match the names in the Host lines there, or list names in `hosts` or `hosts_file`";
            return Err(self.fault(("server", Some(index), Some("hosts")), what, hint));
        }
        Ok(found)
    }

    /// The hosts that a file lists.
    fn hosts_in(&self, index: usize, path: &Path, socket: &Socket) -> Result<Vec<String>, ConfigError> {
        let at = ("server", Some(index), Some("hosts_file"));
        let text = std::fs::read_to_string(path).map_err(|error| {
            let what = format!("`{}` cannot be read: {error}", path.display());
            self.fault(at, what, "write the path of a text file with one host name a line")
        })?;
        for (name, place) in listed(&text) {
            let server = ServerId { host: Some(name.into()), socket: socket.clone() };
            if let Err(error @ tmux::Error::BadName { what: "host", .. }) = tmux::check_name(&server) {
                return Err(ConfigError::at(path, &text, Some(place), error.to_string(), error.hint()));
            }
        }
        let names: Vec<String> = listed(&text).map(|(name, _)| name.to_owned()).collect();
        if names.is_empty() {
            let hint = "write one host name a line";
            return Err(self.fault(at, format!("`{}` names no host", path.display()), hint));
        }
        Ok(names)
    }

    pub(super) fn transports(&self, tables: Vec<TransportTable>) -> Result<Arc<[CommandTransport]>, ConfigError> {
        tables.into_iter().enumerate().map(|it| self.transport(it)).collect()
    }

    fn transport(&self, (index, table): (usize, TransportTable)) -> Result<CommandTransport, ConfigError> {
        let missing = match () {
            () if table.hosts.is_empty() => "hosts",
            () if table.command.is_empty() => "command",
            () => {
                let TransportTable { hosts, command, terminal } = table;
                let terminal = if terminal.is_empty() { command.clone() } else { terminal };
                return Ok(CommandTransport { hosts, command, terminal });
            }
        };
        let hint = "write which hosts it reaches and how: hosts = [\"web-*\"], command = [\"docker\", \"exec\", \"-i\", \"{host}\"]";
        Err(self.fault(("transport", Some(index), None), format!("a transport without `{missing}`"), hint))
    }
}

// The names of hosts that the configuration does not spell out: those of ssh's own configuration, and those of a file.

/// How deep files may include each other, as in ssh itself.
const DEPTH: u32 = 16;

/// What a pattern of names is written with; in ssh's configuration also what is no name.
const WILD: [char; 5] = ['*', '?', '!', '[', '{'];

/// What a pattern of files is written with.
const WILD_IN_PATH: [char; 3] = ['*', '?', '['];

/// Whether a text stands for several names.
pub(super) fn is_pattern(text: &str) -> bool {
    // `[fe80::1]` is an address.
    text.contains(['*', '?', '{']) || text.contains('[') && !text.contains(':')
}

/// The hosts that ssh's configuration names, in the order of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SshHosts {
    pub names: Vec<String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

impl SshHosts {
    /// Reads the files of this user and of the system.
    pub(super) fn of_user() -> Self {
        let mut hosts = Self::default();
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) {
            hosts.read(&home.join(".ssh/config"), &home.join(".ssh"), &home, DEPTH);
        }
        hosts.read(Path::new("/etc/ssh/ssh_config"), Path::new("/etc/ssh"), Path::new("/"), DEPTH);
        hosts
    }

    /// The hosts that a pattern matches.
    pub(super) fn matching<'a>(&'a self, pattern: &'a Pattern) -> impl Iterator<Item = &'a String> {
        self.names.iter().filter(|name| pattern.matches(name))
    }

    /// Reads a file and those that it includes; their paths are relative to `directory`. One that cannot be read has no
    /// hosts, as for ssh.
    fn read(&mut self, path: &Path, directory: &Path, home: &Path, depth: u32) {
        let Ok(text) = std::fs::read_to_string(path) else { return };
        if self.files.iter().any(|file| file == path) {
            return;
        }
        self.files.push(path.to_owned());
        for line in text.lines() {
            let line = line.trim();
            let end = line.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line.len());
            let (keyword, rest) = line.split_at(end);
            let words = words(rest.trim_start_matches(|c: char| c.is_whitespace() || c == '='));
            match keyword.to_ascii_lowercase().as_str() {
                "host" => {
                    for name in words.into_iter().filter(|word| !word.contains(WILD)) {
                        if !self.names.contains(&name) {
                            self.names.push(name);
                        }
                    }
                }
                "include" if depth > 0 => {
                    for word in words {
                        let included = match word.strip_prefix("~/") {
                            Some(below) => home.join(below),
                            None => directory.join(&word),
                        };
                        for file in files_named(&included) {
                            self.read(&file, directory, home, depth - 1);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The words of a line. Words with blanks are in quotes; a comment ends the line.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    words
}

/// The files that match a path whose last part may be a pattern, sorted; as in glob(3), none that begins with a dot.
fn files_named(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let (Some(above), true) = (path.parent(), name.contains(WILD_IN_PATH)) else { return vec![path.to_owned()] };
    let (Ok(pattern), Ok(entries)) = (Pattern::new(name), above.read_dir()) else { return Vec::new() };
    let fits = |name: &OsStr| name.to_str().is_some_and(|name| !name.starts_with('.') && pattern.matches(name));
    let found: BTreeSet<PathBuf> =
        entries.flatten().filter(|entry| fits(&entry.file_name())).map(|entry| entry.path()).collect();
    found.into_iter().collect()
}

/// The names in a file of hosts and their places, one a line; `#` begins a comment.
pub(super) fn listed(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    text.lines().filter_map(|line| {
        let name = line.split('#').next().unwrap_or_default().trim();
        let from = name.as_ptr() as usize - text.as_ptr() as usize;
        (!name.is_empty()).then_some((name, from..from + name.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_all_files_of_ssh_and_patterns_are_none() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".ssh/config",
            "Include conf.d/*.conf \"~/my hosts\" none\nHost *\n  User me\nhost=gpu-9 # the last\nMatch all\n",
        );
        write(".ssh/conf.d/a.conf", "HOST gpu-1 gpu-2 !gpu-3 web-?\n  ProxyJump bastion\n");
        write(".ssh/conf.d/b.conf", "Include conf.d/*.conf\nHost \"gpu-2\" db\n");
        write(".ssh/conf.d/c.txt", "Host never\n");
        write("my hosts", "Host far\n");
        let mut hosts = SshHosts::default();
        hosts.read(&home.path().join(".ssh/config"), &home.path().join(".ssh"), home.path(), DEPTH);
        assert_eq!(hosts.names, ["gpu-1", "gpu-2", "db", "far", "gpu-9"]);
        assert_eq!(hosts.files.len(), 4);
        let pattern = Pattern::new("gpu-*").unwrap();
        assert_eq!(hosts.matching(&pattern).count(), 3);
    }

    #[test]
    fn a_file_of_hosts_has_one_a_line() {
        let text = "# mine\nbox-1\n\n  me@box-2  # the other\n";
        let found: Vec<_> = listed(text).collect();
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["box-1", "me@box-2"]);
        assert_eq!(&text[found[1].1.clone()], "me@box-2");
    }

    #[test]
    fn an_address_is_no_pattern() {
        assert!(!is_pattern("[fe80::1%eth0]") && !is_pattern("box-1") && is_pattern("gpu-[12]") && is_pattern("gpu-*"));
    }
}
