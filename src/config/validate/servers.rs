//! The tmux servers to watch, and how their hosts are reached.

use std::sync::Arc;

use super::ConfigText;
use crate::config::ConfigError;
use crate::config::file::{ServerTable, TransportTable};
use crate::fleet::{ServerId, Socket};
use crate::tmux::{self, CommandTransport};

impl ConfigText<'_> {
    pub(super) fn servers(&self, tables: &[ServerTable]) -> Result<Vec<ServerId>, ConfigError> {
        let mut servers = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            if table.is_every() {
                self.check_every(index, table)?;
                continue;
            }
            let socket = self.socket(index, table)?;
            if table.host.is_some() || table.hosts.is_empty() {
                let server = ServerId { host: table.host.as_deref().map(Into::into), socket: socket.clone() };
                self.check_server(index, "host", &server)?;
                if servers.contains(&server) {
                    let what = format!("the server `{server}` is named twice");
                    return Err(self.fault(
                        ("server", Some(index), None),
                        what,
                        "remove one of the two [[server]] tables",
                    ));
                }
                servers.push(server);
            }
            for host in &table.hosts {
                let server = ServerId { host: Some(host.as_str().into()), socket: socket.clone() };
                self.check_server(index, "hosts", &server)?;
                if !servers.contains(&server) {
                    servers.push(server);
                }
            }
        }
        Ok(servers)
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

    /// Refuses what says more of every server.
    fn check_every(&self, index: usize, table: &ServerTable) -> Result<(), ConfigError> {
        let more = [("path", table.path.is_some()), ("host", table.host.is_some()), ("hosts", !table.hosts.is_empty())];
        let Some((key, _)) = more.into_iter().find(|(_, is_there)| *is_there) else { return Ok(()) };
        let hint =
            "every server is watched on this machine only; name those of a host one by one, in a [[server]] each";
        Err(self.fault(("server", Some(index), Some(key)), format!("`socket = \"*\"` with `{key}`"), hint))
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
