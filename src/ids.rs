//! Where terminals are: hosts, tmux servers, panes, and the names that people give them.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// A tmux socket, as `-L` and `-S` name it.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Socket {
    /// The server that plain `tmux` talks to.
    #[default]
    Default,
    /// `-L NAME`.
    Name(Arc<str>),
    /// `-S PATH`.
    Path(Arc<Path>),
}

impl Socket {
    /// `-S PATH`.
    pub fn at(path: impl AsRef<Path>) -> Self {
        Socket::Path(path.as_ref().into())
    }

    /// Whether both are the very same text, as in almost all comparisons: each terminal's identity has one.
    fn is_shared_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Socket::Name(one), Socket::Name(other)) => Arc::ptr_eq(one, other),
            (Socket::Path(one), Socket::Path(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Its identity. Paths are compared as they are spelt: part by part takes ten times as long.
    fn spelling(&self) -> (u8, &OsStr) {
        match self {
            Socket::Default => (0, OsStr::new("")),
            Socket::Name(name) => (1, OsStr::new(name.as_ref())),
            Socket::Path(path) => (2, path.as_os_str()),
        }
    }
}

impl PartialEq for Socket {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.spelling() == other.spelling()
    }
}

impl Eq for Socket {}

impl PartialOrd for Socket {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Socket {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_shared_with(other) { Ordering::Equal } else { self.spelling().cmp(&other.spelling()) }
    }
}

impl Hash for Socket {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spelling().hash(state);
    }
}

impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Socket::Default => f.write_str("default"),
            Socket::Name(name) => f.write_str(name),
            Socket::Path(path) => path.display().fmt(f),
        }
    }
}

impl Socket {
    /// The spelling that all processes share: tmux's own socket is the one called `default`. A path is another server
    /// than a name, unless [`Socket::named_in`] found out that it is one.
    pub fn common(&self) -> Socket {
        match self {
            Socket::Name(name) if **name == *"default" => Socket::Default,
            socket => socket.clone(),
        }
    }

    /// A path right in `directory`, where tmux keeps the sockets that `-L` names, by its name: `-L work`, `-S
    /// /tmp/tmux-1000/work` and the variable `TMUX` may mean the same server.
    pub fn named_in(self, directory: &Path) -> Socket {
        let name = match &self {
            Socket::Path(path) if path.parent() == Some(directory) => path.file_name().and_then(|name| name.to_str()),
            _ => None,
        };
        match name {
            Some(name) => Socket::Name(name.into()).common(),
            None => self,
        }
    }

    /// tmux with the option that names it, as one would type it on its machine.
    pub fn command(&self) -> String {
        match self {
            Socket::Default => "tmux".to_owned(),
            Socket::Name(name) => format!("tmux -L {name}"),
            Socket::Path(path) => format!("tmux -S {}", path.display()),
        }
    }

    /// That spelling in a word.
    pub fn word(&self) -> String {
        match self.common() {
            Socket::Default => "default".to_owned(),
            Socket::Name(name) => format!("name:{name}"),
            Socket::Path(path) => format!("path:{}", path.display()),
        }
    }
}

/// A tmux server: a host and a socket on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ServerId {
    /// `None` is this machine, else the name that `ssh` takes.
    pub host: Option<Arc<str>>,
    pub socket: Socket,
}

impl ServerId {
    /// The server in a word that every process spells alike, however it was named.
    pub fn word(&self) -> String {
        format!("{}/{}", self.host.as_deref().unwrap_or_default(), self.socket.word())
    }

    /// A name without this server's host in front.
    pub fn without_host<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.host.as_deref()?)?.strip_prefix('/')
    }

    /// A name of something on it, different from the same one on another machine.
    pub fn on_host(&self, name: &str) -> String {
        self.host.as_ref().map_or_else(|| name.to_owned(), |host| format!("{host}/{name}"))
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, &self.socket) {
            (None, Socket::Default) => f.write_str("local"),
            (None, socket) => write!(f, "{socket}"),
            (Some(host), Socket::Default) => f.write_str(host),
            (Some(host), socket) => write!(f, "{host}:{socket}"),
        }
    }
}

/// Whether a target is the id of a pane, a window or a session, as tmux writes it: it is no name then, whatever is called so.
pub fn is_id(target: &str) -> bool {
    let number = target.strip_prefix(['%', '@', '$']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A tmux pane id without its `%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct PaneId(pub u32);

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// A tmux window id without its `@`. tmux never gives one twice in a server's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct WindowId(pub u32);

impl fmt::Display for WindowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// A tmux session id without its `$`; it stays when the session is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct SessionId(pub u32);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.0)
    }
}

/// The identity of a terminal (SPEC §1): a pane id that comes back with another pid, or in another server, is another
/// terminal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct TerminalKey {
    pub server: ServerId,
    pub pane: PaneId,
    /// The process that tmux started in the pane.
    pub pid: u32,
    pub instance: ServerInstance,
}

impl TerminalKey {
    /// Whether both may be the same terminal, however its socket was spelt: of what was stored it is not known which server it
    /// was.
    pub fn may_be(&self, other: &Self) -> bool {
        (self.pane, self.pid) == (other.pane, other.pid)
            && self.instance.may_be(&other.instance)
            && (self.server == other.server || self.server.word() == other.server.word())
    }
}

/// Which tmux server on which machine answers under the name of a [`ServerId`]: a name may lead to another machine
/// tomorrow, and a server that was started anew may give the same ids and pids. Empty where it is not known, as in what
/// was stored without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ServerInstance(Option<Arc<str>>);

impl ServerInstance {
    /// From what the server says of itself, in words without blanks.
    pub fn new(word: &str) -> Self {
        Self((!word.is_empty()).then(|| word.into()))
    }

    /// What the server says of itself; `None` where it is not known.
    pub fn word(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Whether both may be the same one: what is not known may be any.
    pub fn may_be(&self, other: &Self) -> bool {
        self.0.is_none() || other.0.is_none() || self == other
    }
}

/// Where in its tmux server a pane stands now. All of it may change while the terminal stays the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PaneLocation {
    pub session: String,
    pub window_index: u32,
    pub window_name: String,
    pub pane_index: u32,
    /// Panes in the same window.
    pub window_panes: u32,
    /// Windows that are at home in the same session.
    pub session_windows: u32,
    /// The other sessions that show the window, with its index there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(String, u32)>,
}

/// The place by which a target names a pane. It must still hold when something is sent there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NamedPlace {
    pub session: String,
    pub window_index: Option<u32>,
    pub window_name: Option<String>,
    pub pane_index: Option<u32>,
}

/// A place for tests.
#[cfg(test)]
pub(crate) fn place(session: &str, window_index: u32, window_name: &str, pane_index: u32) -> PaneLocation {
    PaneLocation {
        session: session.into(),
        window_index,
        window_name: window_name.into(),
        pane_index,
        ..PaneLocation::default()
    }
}

impl PaneLocation {
    /// The name that is derived for a terminal: the session when the pane has it to itself, else with the window,
    /// else with window and pane. It depends on nothing but the listing, so that every command derives the same.
    pub fn derived_name(&self) -> String {
        if self.window_panes > 1 {
            self.target()
        } else if self.session_windows > 1 {
            format!("{}:{}", self.session, self.window_index)
        } else {
            self.session.clone()
        }
    }

    /// `session:window.pane`, as tmux takes it for a target.
    pub fn target(&self) -> String {
        format!("{}:{}.{}", self.session, self.window_index, self.pane_index)
    }

    /// The same place in every session that shows the window, the one that it is at home in first.
    pub fn all(&self) -> impl Iterator<Item = (&str, u32)> {
        let links = self.links.iter().map(|(session, index)| (session.as_str(), *index));
        std::iter::once((self.session.as_str(), self.window_index)).chain(links)
    }

    /// Reads a tmux target that means this place: `session`, `session:window` or `session:window.pane`.
    pub fn named(&self, target: &str) -> Option<NamedPlace> {
        self.all().find_map(|(session, index)| {
            let rest = target.strip_prefix(session)?;
            let named =
                NamedPlace { session: session.to_owned(), window_index: None, window_name: None, pane_index: None };
            if rest.is_empty() {
                return Some(named);
            }
            let window = rest.strip_prefix(':')?;
            let pane = |rest: &str| match rest {
                "" => Some(None),
                rest => (rest == format!(".{}", self.pane_index)).then_some(Some(self.pane_index)),
            };
            // A window's name may contain dots, so the pane is what follows the name.
            let by_index = window.strip_prefix(&index.to_string()).and_then(pane);
            let by_name = || window.strip_prefix(&self.window_name).and_then(pane);
            match by_index {
                Some(pane_index) => Some(NamedPlace { window_index: Some(index), pane_index, ..named }),
                None => by_name().map(|pane_index| NamedPlace {
                    window_name: Some(self.window_name.clone()),
                    pane_index,
                    ..named
                }),
            }
        })
    }

    /// All that can be said of it.
    pub fn whole(&self) -> NamedPlace {
        NamedPlace {
            session: self.session.clone(),
            window_index: Some(self.window_index),
            window_name: Some(self.window_name.clone()),
            pane_index: Some(self.pane_index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_right_in_the_directory_of_tmux_is_a_name() {
        let named = |path: &str| Socket::at(path).named_in(Path::new("/tmp/tmux-1000"));
        assert_eq!(named("/tmp/tmux-1000/work"), Socket::Name("work".into()));
        assert_eq!(named("/tmp/tmux-1000/default"), Socket::Default);
        for other in ["/tmp/tmux-1001/work", "/srv/tmux-1000/work", "/tmp/tmux-1000/a/work", "/tmp/tmux-shared/work"] {
            assert_eq!(named(other), Socket::at(other));
            assert_eq!(named(other).common(), Socket::at(other));
        }
    }
}
