//! Text and keys into a pane, in one command sequence with the check that it is still the same pane (SPEC §11).

mod key;
mod text;

use tmux_interface::{DeleteBuffer, DisplayMessage, IfShell, LoadBuffer, PasteBuffer, SendKeys, TmuxCommand};

pub use key::{Key, UnknownKey};
pub use text::{PasteText, UnfitText};

use super::nonce::Nonce;
use super::script::{Script, line};
use super::{Error, Server, run};
use crate::fleet::{PaneId, TerminalKey};

/// What became of a text or of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// tmux wrote them to the pane.
    Delivered,
    /// Nothing was written.
    Refused(Obstacle),
}

/// Why tmux would not deliver to a pane what is meant for its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    #[error("the pane is gone")]
    Gone,
    #[error("another process has taken the pane")]
    Replaced,
    #[error("the program in the pane has ended")]
    Dead,
    #[error("the pane is in copy mode or another mode of tmux")]
    InMode,
    #[error("the panes of the window are synchronized, and all of them would get it")]
    Synchronized,
    #[error("the pane's input is switched off")]
    InputOff,
}

/// The facts that a delivery depends on, in the order in which [`Obstacle::read`] reads them.
const GUARD: &str =
    "#{pane_pid},#{?pane_dead,1,0},#{?pane_in_mode,1,0},#{?pane_synchronized,1,0},#{?pane_input_off,1,0}";

impl Server {
    /// Pastes a text as one bracketed paste where the program asked for those, byte for byte (newlines too).
    ///
    /// Identity and mode are checked in the same command sequence. No buffer is left behind, come what may.
    pub async fn paste(&self, key: &TerminalKey, text: &PasteText) -> Result<Delivery, Error> {
        let nonce = Nonce::new();
        let buffer = format!("fleetwatch-{nonce}");
        // The outer check refuses before a buffer exists; the inner one holds when the paste happens, as reading
        // the text lets the server do other things in between.
        let paste = PasteBuffer::new().delete().bracket_codes().no_replacement().buffer_name(buffer.as_str());
        let delivered = sequence([paste.target_pane(key.pane.to_string()).build(), said(&nonce, "delivered")]);
        let late = sequence([DeleteBuffer::new().buffer_name(buffer.as_str()).build(), facts(&nonce, key.pane)]);
        let load = LoadBuffer::new().buffer_name(buffer.as_str()).path("-").build();
        let inner = guarded(key, delivered, late);
        let outer = guarded(key, sequence([load, inner]), sequence([facts(&nonce, key.pane)]));
        let words = outer.to_vec();
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let result = run::run(&self.settings, &self.id, &words, text.as_str().as_bytes().to_vec()).await;
        let answer = result.and_then(|output| self.read_delivery(key, &nonce, &output));
        if !matches!(answer, Ok(Delivery::Delivered)) {
            self.forget_buffer(&buffer).await;
        }
        answer
    }

    /// Presses keys, one after the other, with the same checks.
    pub async fn press(&self, key: &TerminalKey, keys: &[Key]) -> Result<Delivery, Error> {
        let nonce = Nonce::new();
        let pane = key.pane.to_string();
        let mut send = SendKeys::new().target_pane(pane).build();
        send.push_param("--");
        for key in keys {
            send.push_param(key.as_str());
        }
        let delivered = sequence([send, said(&nonce, "delivered")]);
        let mut script = Script::new();
        script.push(guarded(key, delivered, sequence([facts(&nonce, key.pane)])));
        let output = self.run_script(script).await?;
        self.read_delivery(key, &nonce, &output)
    }

    fn read_delivery(&self, key: &TerminalKey, nonce: &Nonce, output: &run::Output) -> Result<Delivery, Error> {
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(answer) = text.lines().find_map(|line| line.strip_prefix(nonce.as_str())) else {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return match stderr.lines().any(|line| line.starts_with("can't find pane")) {
                true => Ok(Delivery::Refused(Obstacle::Gone)),
                false => Err(self.explain(output, Error::Garbled("no word of what became of the delivery".into()))),
            };
        };
        match answer {
            "delivered" => Ok(Delivery::Delivered),
            facts => Obstacle::read(facts, key.pid)
                .map(Delivery::Refused)
                .ok_or_else(|| Error::Garbled("a refusal without a reason".into())),
        }
    }

    /// A text that could not be pasted must not stay in the user's buffers. Mostly there is none to delete.
    async fn forget_buffer(&self, buffer: &str) {
        let mut script = Script::new();
        script.push(DeleteBuffer::new().buffer_name(buffer).build());
        if let Err(error) = self.run_script(script).await {
            tracing::warn!(server = %self.id, %error, "a paste buffer may have been left behind");
        }
    }
}

impl Obstacle {
    /// What stands in the way according to the facts of [`GUARD`].
    fn read(facts: &str, pid: u32) -> Option<Self> {
        let mut facts = facts.split(',');
        match facts.next()? {
            // The formats of a pane that is not there are empty.
            "" => return Some(Obstacle::Gone),
            other if other.parse() != Ok(pid) => return Some(Obstacle::Replaced),
            _ => {}
        }
        let order = [Obstacle::Dead, Obstacle::InMode, Obstacle::Synchronized, Obstacle::InputOff];
        order.into_iter().zip(facts).find(|(_, flag)| *flag == "1").map(|(obstacle, _)| obstacle)
    }
}

/// `then` when the pane is still the same and takes keys, else `otherwise`; an error when it is gone.
pub(super) fn guarded<'a>(key: &TerminalKey, then: String, otherwise: String) -> TmuxCommand<'a> {
    // A comma separates the arguments of a comparison, so that the ones of the facts are written as `#,`.
    let condition = format!("#{{==:{},{}#,0#,0#,0#,0}}", GUARD.replace("},#", "}#,#"), key.pid);
    let mut command =
        IfShell::new().not_execute().target_pane(key.pane.to_string()).shell_command(condition).command(then).build();
    // The builder knows one branch only.
    command.push_param(otherwise);
    command
}

/// `then` when the pane still has the same process, dead or alive; an error when it is gone.
pub(super) fn guarded_by_pid<'a>(key: &TerminalKey, then: String) -> TmuxCommand<'a> {
    let condition = format!("#{{==:#{{pane_pid}},{}}}", key.pid);
    IfShell::new().not_execute().target_pane(key.pane.to_string()).shell_command(condition).command(then).build()
}

/// Commands one after the other, as one word for `if-shell`.
pub(super) fn sequence<'a>(commands: impl IntoIterator<Item = TmuxCommand<'a>>) -> String {
    commands.into_iter().map(|command| line(&command)).collect::<Vec<_>>().join(" ; ")
}

fn said<'a>(nonce: &Nonce, word: &str) -> TmuxCommand<'a> {
    DisplayMessage::new().print().message(format!("{nonce}{word}")).build()
}

fn facts<'a>(nonce: &Nonce, pane: PaneId) -> TmuxCommand<'a> {
    DisplayMessage::new().print().target_pane(pane.to_string()).message(format!("{nonce}{GUARD}")).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_refusal_is_read_from_the_facts() {
        assert_eq!(Obstacle::read("77,0,0,0,0", 76), Some(Obstacle::Replaced));
        assert_eq!(Obstacle::read("76,1,0,0,0", 76), Some(Obstacle::Dead));
        assert_eq!(Obstacle::read("76,0,1,1,0", 76), Some(Obstacle::InMode));
        assert_eq!(Obstacle::read("76,0,0,0,1", 76), Some(Obstacle::InputOff));
        assert_eq!(Obstacle::read("76,0,0,0,0", 76), None);
        assert_eq!(Obstacle::read(",0,0,0,0", 76), Some(Obstacle::Gone));
    }
}
