//! Windows of agents: opened with what an operator starts, and closed.

use std::path::Path;

use tmux_interface::{DisplayMessage, KillPane};

use super::{Argv, Start, TaskPlace, literal};
use crate::ids::{TerminalKey, WindowId};
use crate::tmux::listing::names;
use crate::tmux::script::{Script, set, unset};
use crate::tmux::send::{guarded_by_pid, sequence};
use crate::tmux::words::Nonce;
use crate::tmux::{Error, Server};

/// A window that is to be opened.
#[derive(Clone, Debug)]
pub struct NewWindow<'a> {
    /// Its name. tmux expands formats in it: the caller lets no `#` through.
    pub name: &'a str,
    /// The directory to start in; `None` is where the server's user is at home.
    pub cwd: Option<&'a str>,
    pub argv: &'a Argv,
    /// Where programs are looked for; `None` leaves it to the server.
    pub path: Option<&'a str>,
    /// The working tree that the agent has for itself, which is noted at the window.
    pub worktree: Option<&'a Path>,
}

impl Server {
    /// Opens a window with a program. It stays when that ends, until [`Server::let_close`].
    pub async fn open_window(&self, place: &TaskPlace, window: &NewWindow<'_>) -> Result<Start, Error> {
        let nonce = Nonce::new();
        let (mut create, target) = self.create_window(place, window.name, &nonce);
        if let Some(path) = window.path {
            create.push_param("-e").push_param(format!("PATH={path}"));
        }
        if let Some(cwd) = window.cwd {
            create.push_param("-c").push_param(literal(cwd)?);
        }
        create.push_param("--");
        window.argv.words().for_each(|word| {
            create.push_param(word.to_owned());
        });
        let mut commands = vec![create, set(&["-w"], &target, "remain-on-exit", "on")];
        if let Some(path) = window.worktree.and_then(Path::to_str) {
            commands.push(set(&["-w"], &target, names::WORKTREE, path));
        }
        self.begin(&nonce, sequence(commands)).await
    }

    /// Has a window close when its program ends, as others do.
    pub async fn let_close(&self, key: &TerminalKey, window: WindowId) -> Result<(), Error> {
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([unset(&["-w"], &window.to_string(), "remain-on-exit")])));
        self.run_script(script).await.map(drop)
    }

    /// The working tree that an agent was started in, where [`Server::open_window`] noted one.
    pub async fn worktree_of(&self, key: &TerminalKey) -> Result<Option<String>, Error> {
        let nonce = Nonce::new();
        let format = format!("{nonce}#{{{}}}", names::WORKTREE);
        let ask = DisplayMessage::new().print().target_pane(key.pane.to_string()).message(format).build();
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([ask])));
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let path = text.lines().find_map(|line| line.strip_prefix(nonce.as_str()));
        Ok(path.filter(|path| !path.is_empty()).map(str::to_owned))
    }

    /// Closes a pane with what runs in it. Whether it was still there.
    pub async fn close_pane(&self, key: &TerminalKey) -> Result<bool, Error> {
        let nonce = Nonce::new();
        let said = DisplayMessage::new().print().message(format!("{nonce}closed")).build();
        let kill = KillPane::new().target_pane(key.pane.to_string()).build();
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([said, kill])));
        let output = self.run_script(script).await?;
        Ok(String::from_utf8_lossy(&output.stdout).contains(&format!("{nonce}closed")))
    }
}
