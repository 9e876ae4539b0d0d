//! Takes the operator to a pane.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tmux_interface::{AttachSession, DisplayMessage, SelectPane, SelectWindow, SwitchClient, TmuxCommand};

use super::listing::{instance_format, read_instance};
use super::script::{Nonce, Script};
use super::send::{Obstacle, guarded_by_pid, sequence};
use super::{Error, Server, Settings, run, words};
use crate::fleet::TerminalKey;
use crate::ids::{ServerId, Socket};

/// How long the way back is shown, in milliseconds; the pane stands still meanwhile, until a key is pressed.
const WAY_BACK_MS: usize = 2500;

/// The tmux client that this process runs in, as its environment tells.
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
                    "{nonce}#{{pid}},#{{pane_pid}},#{{session_id}},{}",
                    instance_format(self.id.host.is_some())
                ))
                .build(),
        );
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(facts) = text.lines().find_map(|line| line.strip_prefix(nonce.as_str())) else {
            return Err(self.explain(&output, Error::Garbled("no word of the pane".into())));
        };
        let mut facts = facts.split(',');
        let (server, pid, session) = (facts.next(), facts.next(), facts.next().unwrap_or_default());
        if !read_instance(facts.next().unwrap_or_default().trim_end()).may_be(&key.instance) {
            return Err(Error::Failed(Obstacle::Elsewhere.to_string()));
        }
        if pid.and_then(|pid| pid.parse().ok()) != Some(key.pid) {
            return Err(Error::Failed("the pane is gone".into()));
        }
        let here = server.and_then(|pid| pid.parse().ok());
        match inside.filter(|inside| self.id.host.is_none() && here.is_some() && inside.server_pid() == here) {
            Some(inside) => self.switch(key, inside).await.map(|()| Jump::Switched),
            None => Ok(Jump::Attach(self.attach(&pane, session, inside).await?)),
        }
    }

    async fn switch(&self, key: &TerminalKey, inside: &Inside) -> Result<(), Error> {
        let switch = SwitchClient::new().target_session(key.pane.to_string()).build();
        let gone = DisplayMessage::new().print().message("gone").build();
        let mut script = Script::new();
        // To look at a pane it need not take keys: one whose program has ended, or that is in copy mode, is shown as well.
        let mut guarded = guarded_by_pid(key, sequence([switch]));
        guarded.push_param(sequence([gone]));
        script.push(guarded);
        // tmux finds the client to switch by the pane that it is asked from; from a popup it is the one that was used
        // last, which the operator has just pressed a key in.
        let pane = inside.pane.as_deref().map(|pane| ("TMUX_PANE", pane));
        let environment: Vec<(&str, &str)> = [("TMUX", inside.tmux.as_str())].into_iter().chain(pane).collect();
        let words = ["source-file", "-"];
        let output = run::run_in(&self.settings, &self.id, &environment, &words, script.into_bytes()).await?;
        match output.code {
            Some(0) if output.stdout.is_empty() => Ok(()),
            _ => Err(self.explain(&output, Error::Failed("the pane is gone".into()))),
        }
    }

    async fn attach(&self, pane: &str, session: &str, inside: Option<&Inside>) -> Result<Command, Error> {
        // The new client alone shows it, in its status line; who has never left a tmux does not know how.
        let way_back = match inside {
            None => "#{prefix} d: back to fleetwatch",
            Some(_) => "#{prefix} d in this inner tmux: back to fleetwatch",
        };
        let commands = [
            SelectWindow::new().target_window(pane).build(),
            SelectPane::new().target_pane(pane).build(),
            AttachSession::new().target_session(session).build(),
            DisplayMessage::new().delay(WAY_BACK_MS).message(way_back).build(),
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

    /// The terminal to tell a host's tmux of, where it does not know ours and would not begin; `None` where it does, or
    /// where that cannot be told.
    async fn known_terminal(&self, term: Option<String>) -> Option<&'static str> {
        let term =
            term.filter(|term| !term.is_empty() && term.chars().all(words::is_plain) && !term.starts_with('-'))?;
        let answer = run::beside(&self.settings, &self.id, &["infocmp", &term], Vec::new()).await.ok()?;
        // 127 is the shell's: there is no such program to ask.
        (!matches!(answer.code, Some(0 | 127 | 255) | None)).then_some(COMMON_TERMINAL)
    }
}

/// What every machine knows, and most terminals are compatible with.
const COMMON_TERMINAL: &str = "xterm-256color";

fn locale() -> Option<String> {
    ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

/// Whether a terminal of that locale shows UTF-8; without one, most do.
fn is_utf8(locale: Option<&str>) -> bool {
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
    /// Asks the tmux server around this process, and changes nothing there.
    ///
    /// Fails when it does not answer.
    pub async fn clipboard(&self, settings: Settings) -> Result<Clipboard, Error> {
        if self.is_popup() {
            return Ok(Clipboard::Popup);
        }
        let socket = self.socket().ok_or_else(|| Error::Failed("TMUX names no server".into()))?;
        let server = Server::new(ServerId { host: None, socket: Socket::Path(socket) }, settings)?;
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
