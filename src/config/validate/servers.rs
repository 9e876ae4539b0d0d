//! The tmux servers to watch, and how their hosts are reached.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Source, globs};
use crate::config::ConfigError;
use crate::config::file::{ServerTable, TransportTable};
use crate::config::host_names::{SshHosts, is_pattern, listed};
use crate::fleet::{ServerId, Socket};
use crate::pattern::Pattern;
use crate::tmux::{self, CommandTransport};

/// The servers of a configuration, with the other files that they were read from.
#[derive(Debug, Default)]
pub(super) struct ServersRead {
    pub servers: Vec<ServerId>,
    pub files: Vec<PathBuf>,
}

impl Source<'_> {
    pub(super) fn servers(&self, tables: &[ServerTable]) -> Result<ServersRead, ConfigError> {
        let mut read = ServersRead::default();
        let ssh = OnceCell::new();
        for (index, table) in tables.iter().enumerate() {
            let socket = self.socket(index, table)?;
            if table.host.is_some() || table.hosts.is_empty() && table.hosts_file.is_none() {
                let server = ServerId { host: table.host.clone(), socket: socket.clone() };
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
            // A host that several patterns mean is one host.
            for host in hosts {
                let server = ServerId { host: Some(host), socket: socket.clone() };
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
            (Some(name), None) => Socket::Name(name.clone()),
            (None, Some(path)) if !path.starts_with('/') => {
                let hint = "write the whole path of the socket, from `/` on";
                return Err(self.fault(at("path"), format!("`{path}` is not an absolute path"), hint));
            }
            (None, Some(path)) => Socket::Path(PathBuf::from(path)),
            (None, None) => Socket::Default,
        })
    }

    fn check_server(&self, index: usize, host: &'static str, server: &ServerId) -> Result<(), ConfigError> {
        let Err(error) = tmux::check_name(server) else { return Ok(()) };
        // A socket's name that is right here may be wrong on a host.
        let key = match (&error, &server.socket) {
            (tmux::Error::BadName { what: "host", .. }, _) => host,
            (_, Socket::Path(_)) => "path",
            _ => "socket",
        };
        Err(self.fault(("server", Some(index), Some(key)), error.to_string(), error.hint()))
    }

    /// The hosts that a name or a pattern means; a pattern means hosts of ssh's own configuration.
    fn hosts(&self, index: usize, text: &str, ssh: &OnceCell<SshHosts>) -> Result<Vec<String>, ConfigError> {
        let pattern = Pattern::new(text).ok().filter(|_| is_pattern(text));
        let Some(pattern) = pattern else { return Ok(vec![text.to_owned()]) };
        let found: Vec<String> = ssh.get_or_init(SshHosts::of_user).matching(&pattern).cloned().collect();
        if found.is_empty() {
            let what = format!("no Host in ~/.ssh/config or /etc/ssh/ssh_config fits `{text}`");
            let hint =
                "write the pattern as the Host lines there have the names, or list names in `hosts` or `hosts_file`";
            return Err(self.fault(("server", Some(index), Some("hosts")), what, hint));
        }
        Ok(found)
    }

    /// The hosts that a file lists.
    fn hosts_in(&self, index: usize, path: &Path, socket: &Socket) -> Result<Vec<String>, ConfigError> {
        let at = ("server", Some(index), Some("hosts_file"));
        let text = std::fs::read_to_string(path).map_err(|error| {
            let what = format!("`{}` cannot be read: {error}", path.display());
            self.fault(at, what, "write the path of a text file with the name of a host in each line")
        })?;
        for (name, place) in listed(&text) {
            let server = ServerId { host: Some(name.to_owned()), socket: socket.clone() };
            if let Err(error @ tmux::Error::BadName { what: "host", .. }) = tmux::check_name(&server) {
                return Err(ConfigError::at(path, &text, Some(place), error.to_string(), error.hint()));
            }
        }
        let names: Vec<String> = listed(&text).map(|(name, _)| name.to_owned()).collect();
        if names.is_empty() {
            let hint = "write the name of a host in each line";
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
                return Ok(CommandTransport { hosts: globs(&hosts), command, terminal });
            }
        };
        let hint = "write which hosts it leads to and how: hosts = [\"web-*\"], command = [\"docker\", \"exec\", \"-i\", \"{host}\"]";
        Err(self.fault(("transport", Some(index), None), format!("a transport without `{missing}`"), hint))
    }
}
