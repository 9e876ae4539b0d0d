//! Takes the operator to a pane.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tmux_interface::{AttachSession, DisplayMessage, ListKeys, SelectPane, SelectWindow, SwitchClient, TmuxCommand};

use super::listing::{instance_format, read_instance};
use super::script::Script;
use super::send::{guarded_by_pid, sequence};
use super::words::Nonce;
use super::{Error, Server, Settings, run, words};
use crate::fleet::TerminalKey;
use crate::ids::{ServerId, Socket};
use crate::operation::Obstacle;

/// How long the way back is shown, in milliseconds; the pane stands still meanwhile, until a key is pressed.
const WAY_BACK_MS: usize = 2500;

/// The tmux client that this process runs in, by its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// `TMUX`: socket path, server pid and session.
    tmux: String,
    /// `TMUX_PANE`; a popup (`display-popup`) has none.
    pane: Option<String>,
}

impl Inside {
    /// From the values of `TMUX` and `TMUX_PANE`; `None` when this process does not run in tmux.
    pub fn new(tmux: Option<String>, pane: Option<String>) -> Option<Self> {
        let is_set = |value: &String| !value.is_empty();
        Some(Self { tmux: tmux.filter(is_set)?, pane: pane.filter(is_set) })
    }

    /// Whether this process runs in a popup, which lies over whatever its client shows.
    pub fn is_popup(&self) -> bool {
        self.pane.is_none()
    }

    /// The socket of the server; its path may hold commas, the two numbers behind it do not.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        let path = self.tmux.rsplitn(3, ',').last()?;
        (!path.is_empty()).then(|| PathBuf::from(path))
    }

    fn server_pid(&self) -> Option<u32> {
        self.tmux.rsplit(',').nth(1)?.parse().ok()
    }
}

/// What brings the operator to a pane.
#[derive(Debug)]
pub enum Jump {
    /// The operator's tmux client shows the pane now.
    Switched,
    /// This program shows it: it is to be given the operator's terminal, and to be waited for.
    Attach(Command),
}

impl Server {
    /// Brings the operator to a pane: switches the tmux client that fleetwatch runs in when it belongs to the same
    /// server, else says what to run.
    ///
    /// Fails when the pane is gone or has another process.
    pub async fn jump(&self, key: &TerminalKey, inside: Option<&Inside>) -> Result<Jump, Error> {
        let nonce = Nonce::new();
        let pane = key.pane.to_string();
        let found = DisplayMessage::new().print().target_pane(pane.as_str());
        let mut script = Script::new();
        script.push(
            found
                .message(format!(
                    "{nonce}#{{pid}},#{{pane_pid}},#{{session_id}},#{{window_id}},{}",
                    instance_format(self.id.host.is_some())
                ))
                .build(),
        );
        ask_for_keys(&mut script, &nonce, Some(&pane));
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(facts) = text.lines().find_map(|line| line.strip_prefix(nonce.as_str())) else {
            return Err(self.explain(&output, Error::Garbled("no answer about the pane".into())));
        };
        let keys = TmuxKeys::read(&text, &nonce);
        let mut facts = facts.split(',');
        let (server, pid) = (facts.next(), facts.next());
        let [session, window] = [(); 2].map(|()| facts.next().unwrap_or_default());
        if !read_instance(facts.next().unwrap_or_default().trim_end()).may_be(&key.instance) {
            return Err(Error::Failed(Obstacle::Elsewhere.to_string()));
        }
        let pid = pid.unwrap_or_default();
        if pid.parse() != Ok(key.pid) {
            return Err(not_its_process(pid));
        }
        let here = server.and_then(|pid| pid.parse().ok());
        match inside.filter(|inside| self.id.host.is_none() && here.is_some() && inside.server_pid() == here) {
            Some(inside) => {
                // What leads back depends on what the client comes from.
                let back = match self.place_of(inside).await {
                    (own, _) if own != session => keys.pressed_for("switch-client -l", None),
                    (_, own) if own.as_deref() == Some(window) => keys.pressed_for("last-pane", None),
                    _ => keys.pressed_for("last-window", None),
                };
                let to = if inside.is_popup() { "where you were" } else { "fleetwatch" };
                self.switch(key, inside, &format!("{back}: back to {to}")).await.map(|()| Jump::Switched)
            }
            None => {
                let around = match inside {
                    Some(inside) => inside.keys(self.settings.clone()).await,
                    None => None,
                };
                let back = keys.pressed_for("detach-client", around.as_ref());
                let inner = if inside.is_some() { " in this inner tmux" } else { "" };
                Ok(Jump::Attach(self.attach(&pane, session, &format!("{back}{inner}: back to fleetwatch")).await?))
            }
        }
    }

    /// The session that this process is shown in, and the window of its pane.
    async fn place_of(&self, inside: &Inside) -> (String, Option<String>) {
        let around = inside.tmux.rsplit(',').next().map(|session| format!("${session}")).unwrap_or_default();
        let Some(pane) = inside.pane.as_deref() else { return (around, None) };
        let mut script = Script::new();
        let ids = "#{session_id},#{window_id}";
        script.push(DisplayMessage::new().print().target_pane(pane).message(ids).build());
        let output = self.run_script(script).await.map(|output| output.stdout).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        output
            .trim()
            .split_once(',')
            .map_or((around, None), |(session, window)| (session.to_owned(), Some(window.to_owned())))
    }

    async fn switch(&self, key: &TerminalKey, inside: &Inside, way_back: &str) -> Result<(), Error> {
        let switch = SwitchClient::new().target_session(key.pane.to_string()).build();
        let found = DisplayMessage::new().print().target_pane(key.pane.to_string()).message("#{pane_pid}").build();
        let mut script = Script::new();
        // To look at a pane it need not take keys: one whose program has ended, or that is in copy mode, is shown as well.
        let mut guarded = guarded_by_pid(key, sequence([show(way_back), switch]));
        guarded.push_param(sequence([found]));
        script.push(guarded);
        // tmux finds the client to switch by the pane that it is asked from; from a popup it is the one that was used
        // last, which the operator has just pressed a key in.
        let pane = inside.pane.as_deref().map(|pane| ("TMUX_PANE", pane));
        let environment: Vec<(&str, &str)> = [("TMUX", inside.tmux.as_str())].into_iter().chain(pane).collect();
        let words = ["source-file", "-"];
        let (script, turn) = (script.into_bytes(), run::InTurn::default());
        let output = run::run_in(&self.settings, &self.id, &environment, &words, script, turn).await?;
        match output.code {
            Some(0) if output.stdout.is_empty() => Ok(()),
            _ => Err(self.explain(&output, not_its_process(String::from_utf8_lossy(&output.stdout).trim()))),
        }
    }

    async fn attach(&self, pane: &str, session: &str, way_back: &str) -> Result<Command, Error> {
        // The new client alone shows it, in its status line; who has never left a tmux does not know how.
        let commands = [
            SelectWindow::new().target_window(pane).build(),
            SelectPane::new().target_pane(pane).build(),
            AttachSession::new().target_session(session).build(),
            show(way_back),
        ];
        let on_host = self.id.host.is_some();
        // Here tmux reads the locale itself; `ssh` mostly does not hand it on.
        let utf8 = on_host && is_utf8(locale().as_deref());
        let words = words::server_words(&self.id.socket).into_iter();
        let mut tmux: Vec<String> = words.filter(|word| utf8 || word != "-u").collect();
        for (nth, command) in commands.iter().map(TmuxCommand::to_vec).enumerate() {
            tmux.extend((nth > 0).then(|| ";".to_owned()));
            tmux.extend(command.into_iter().map(String::from));
        }
        let term = if on_host { self.known_terminal(std::env::var("TERM").ok()).await } else { None };
        let mut command = run::foreground(&self.settings, &self.id, term, &tmux)?;
        if on_host {
            // What goes wrong with the connection; tmux itself speaks through the terminal.
            command.stderr(Stdio::piped());
        }
        // A client inside of another server's pane is wanted here.
        command.env_remove("TMUX").env_remove("TMUX_PANE");
        Ok(command)
    }

    /// The terminal to name to a host's tmux if it does not know ours and would not start; `None` if it does, or
    /// where that is not known.
    async fn known_terminal(&self, term: Option<String>) -> Option<&'static str> {
        let term =
            term.filter(|term| !term.is_empty() && term.chars().all(words::is_plain) && !term.starts_with('-'))?;
        let answer = run::beside(&self.settings, &self.id, &["infocmp", &term]).await.ok()?;
        // 127 is the shell's: there is no such program to ask.
        (!matches!(answer.code, Some(0 | 127 | 255) | None)).then_some(COMMON_TERMINAL)
    }
}

/// Why there is no way to a pane that has this process, or none.
fn not_its_process(pid: &str) -> Error {
    let obstacle = if pid.is_empty() { Obstacle::Gone } else { Obstacle::Replaced };
    Error::Failed(obstacle.to_string())
}

// How the operator comes back, in keys of their own tmux.

/// The keys behind the prefix of a tmux server, and what they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TmuxKeys {
    prefix: String,
    /// Keys with their commands.
    bound: Vec<(String, String)>,
}

/// Adds the questions that [`TmuxKeys::read`] has the answers of.
fn ask_for_keys(script: &mut Script, nonce: &Nonce, pane: Option<&str>) {
    let mut prefix = DisplayMessage::new().print();
    if let Some(pane) = pane {
        prefix = prefix.target_pane(pane.to_owned());
    }
    script.push(prefix.message(format!("{nonce}prefix #{{prefix}}")).build());
    script.push(ListKeys::new().key_table("prefix").build());
}

impl TmuxKeys {
    fn read(text: &str, nonce: &Nonce) -> Self {
        let mut keys = Self::default();
        for line in text.lines() {
            if let Some(prefix) = line.strip_prefix(nonce.as_str()).and_then(|line| line.strip_prefix("prefix ")) {
                prefix.clone_into(&mut keys.prefix);
            }
            let Some((_, bound)) = line.strip_prefix("bind-key").and_then(|line| line.split_once("-T prefix")) else {
                continue;
            };
            if let Some((key, command)) = bound.trim_start().split_once(' ') {
                // As it would be typed, not as a configuration quotes it.
                let key = key.strip_prefix('\\').filter(|key| !key.is_empty()).unwrap_or(key);
                keys.bound.push((key.to_owned(), command.trim().to_owned()));
            }
        }
        keys
    }

    fn key_of(&self, command: &str) -> Option<&str> {
        self.bound.iter().find(|(_, does)| does == command).map(|(key, _)| key.as_str())
    }

    /// The keys for a command, in a tmux that may itself run in a pane of another one: where both have the same prefix, the outer
    /// one takes it, and has a key that hands it on. Without a key it is the command itself.
    fn pressed_for(&self, command: &str, around: Option<&Self>) -> String {
        let key = self.key_of(command).filter(|_| !matches!(self.prefix.as_str(), "" | "None"));
        let handed_on = match around.filter(|around| around.prefix == self.prefix) {
            Some(around) => around.key_of("send-prefix").map(|key| format!("{} {key}", around.prefix)),
            None => Some(self.prefix.clone()),
        };
        key.zip(handed_on).map_or_else(|| format!("tmux {command}"), |(key, prefix)| format!("{prefix} {key}"))
    }
}

/// Shows a text for a moment in the client that the commands come from.
fn show<'a>(text: &str) -> TmuxCommand<'a> {
    // Neither a format nor a time.
    let text = text.replace('#', "##").replace('%', "%%");
    DisplayMessage::new().delay(WAY_BACK_MS).message(text).build()
}

/// What every machine knows, and most terminals are compatible with.
const COMMON_TERMINAL: &str = "xterm-256color";

/// The first one that is set of `LC_ALL`, `LC_CTYPE` and `LANG`.
pub fn locale() -> Option<String> {
    ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

/// Whether a terminal of that locale shows UTF-8; without one, most do.
pub fn is_utf8(locale: Option<&str>) -> bool {
    locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

// What becomes of a text that a program inside of tmux puts into the clipboard.

/// What tmux does with the clipboard of the programs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipboard {
    /// It takes their texts (`set-clipboard on`), and hands them to the terminal as far as that wants them.
    Taken,
    /// It drops them without a word (`set-clipboard external`, which is the default, or `off`).
    Dropped,
    /// They come from a popup, whose programs have no clipboard.
    Popup,
}

impl Inside {
    /// The tmux server around this process.
    fn server(&self, settings: Settings) -> Result<Server, Error> {
        let socket = self.socket().ok_or_else(|| Error::Failed("TMUX names no server".into()))?;
        Server::new(ServerId { host: None, socket: Socket::at(socket) }, settings)
    }

    /// The keys of that server; `None` when it does not answer.
    async fn keys(&self, settings: Settings) -> Option<TmuxKeys> {
        let (mut script, nonce) = (Script::new(), Nonce::new());
        ask_for_keys(&mut script, &nonce, self.pane.as_deref());
        let output = self.server(settings).ok()?.run_script(script).await.ok()?;
        Some(TmuxKeys::read(&String::from_utf8_lossy(&output.stdout), &nonce))
    }

    /// Asks the tmux server around this process, and changes nothing there.
    ///
    /// Fails when it does not answer.
    pub async fn clipboard(&self, settings: Settings) -> Result<Clipboard, Error> {
        if self.is_popup() {
            return Ok(Clipboard::Popup);
        }
        let server = self.server(settings)?;
        let show = tmux_interface::ShowOptions::new().server().value().option("set-clipboard").build().to_vec();
        let words: Vec<&str> = show.iter().map(AsRef::as_ref).collect();
        let output = run::run(&server.settings, &server.id, &words, Vec::new()).await?;
        match String::from_utf8_lossy(&output.stdout).trim() {
            "on" => Ok(Clipboard::Taken),
            "external" | "off" => Ok(Clipboard::Dropped),
            _ => Err(server.explain(&output, Error::Garbled("no value of set-clipboard".into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_said_in_the_operators_own_keys() {
        let nonce = Nonce::of("n");
        let read = |text: &str| TmuxKeys::read(text, &nonce);
        let own = read(
            "n1,2,$0,@1,x\nnprefix C-a\nbind-key    -T prefix       \\;                last-pane\n\
             bind-key -r -T prefix C-o rotate-window\nbind-key    -T prefix B                 switch-client -l\n\
             bind-key    -T prefix       d                 detach-client\n",
        );
        assert_eq!(own.pressed_for("switch-client -l", None), "C-a B");
        assert_eq!(own.pressed_for("last-pane", None), "C-a ;");
        assert_eq!(own.pressed_for("last-window", None), "tmux last-window", "it has no key");
        let other = read("nprefix C-b\nbind-key -T prefix C-b send-prefix\n");
        assert_eq!(own.pressed_for("detach-client", Some(&other)), "C-a d");
        let around = read("nprefix C-a\nbind-key -T prefix a send-prefix\n");
        assert_eq!(own.pressed_for("detach-client", Some(&around)), "C-a a d");
        assert_eq!(own.pressed_for("detach-client", Some(&own)), "tmux detach-client", "nothing hands the prefix on");
        assert_eq!(
            read("nprefix None\nbind-key -T prefix d detach-client\n").pressed_for("detach-client", None),
            "tmux detach-client"
        );
    }
}
