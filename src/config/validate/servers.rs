//! The tmux servers to watch, and how their hosts are reached.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Source, globs};
use crate::config::ConfigError;
use crate::config::file::{ServerTable, TransportTable};
use crate::fleet::{ServerId, Socket};
use crate::tmux::{self, CommandTransport};

impl Source<'_> {
    pub(super) fn servers(&self, tables: &[ServerTable]) -> Result<Vec<ServerId>, ConfigError> {
        let mut servers = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let at = |key| ("server", Some(index), Some(key));
            let socket = match (&table.socket, &table.path) {
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
            };
            let server = ServerId { host: table.host.clone(), socket };
            if let Err(error) = tmux::check_name(&server) {
                // A socket's name that is right here may be wrong on a host.
                let key = match error {
                    tmux::Error::BadName { what: "host", .. } => "host",
                    _ if table.path.is_some() => "path",
                    _ => "socket",
                };
                return Err(self.fault(at(key), error.to_string(), error.hint()));
            }
            if servers.contains(&server) {
                let hint = "remove one of the two [[server]] tables";
                return Err(self.fault(
                    ("server", Some(index), None),
                    format!("the server `{server}` is named twice"),
                    hint,
                ));
            }
            servers.push(server);
        }
        Ok(servers)
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
