//! Takes the operator to a pane.

use std::path::PathBuf;
use std::process::Command;

use tmux_interface::{AttachSession, DisplayMessage, SelectPane, SelectWindow, SwitchClient, TmuxCommand};

use super::nonce::Nonce;
use super::script::Script;
use super::send::{guarded, sequence};
use super::{Error, Server, run, words};
use crate::fleet::TerminalKey;

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
        script.push(found.message(format!("{nonce}#{{pid}},#{{pane_pid}},#{{session_id}}")).build());
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(facts) = text.lines().find_map(|line| line.strip_prefix(nonce.as_str())) else {
            return Err(self.explain(&output, Error::Garbled("no word of the pane".into())));
        };
        let mut facts = facts.split(',');
        let (server, pid, session) = (facts.next(), facts.next(), facts.next().unwrap_or_default());
        if pid.and_then(|pid| pid.parse().ok()) != Some(key.pid) {
            return Err(Error::Failed("the pane is gone".into()));
        }
        let here = server.and_then(|pid| pid.parse().ok());
        match inside.filter(|inside| self.id.host.is_none() && here.is_some() && inside.server_pid() == here) {
            Some(inside) => self.switch(key, inside).await.map(|()| Jump::Switched),
            None => Ok(Jump::Attach(self.attach(&pane, session, inside)?)),
        }
    }

    async fn switch(&self, key: &TerminalKey, inside: &Inside) -> Result<(), Error> {
        let switch = SwitchClient::new().target_session(key.pane.to_string()).build();
        let gone = DisplayMessage::new().print().message("gone").build();
        let mut script = Script::new();
        script.push(guarded(key, sequence([switch]), sequence([gone])));
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

    fn attach(&self, pane: &str, session: &str, inside: Option<&Inside>) -> Result<Command, Error> {
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
        let mut tmux: Vec<String> =
            words::server_words(&self.id.socket).into_iter().filter(|word| word != "-u").collect();
        for (nth, command) in commands.iter().map(TmuxCommand::to_vec).enumerate() {
            tmux.extend((nth > 0).then(|| ";".to_owned()));
            tmux.extend(command.into_iter().map(String::from));
        }
        let mut command = run::foreground(&self.settings, &self.id, &tmux)?;
        // A client inside of another server's pane is wanted here.
        command.env_remove("TMUX").env_remove("TMUX_PANE");
        Ok(command)
    }
}
