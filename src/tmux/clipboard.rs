//! What becomes of a text that a program inside of tmux puts into the clipboard.

use super::jump::Inside;
use super::{Error, Server, Settings, run};
use crate::ids::{ServerId, Socket};

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
