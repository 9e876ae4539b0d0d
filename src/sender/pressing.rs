//! Keys that are pressed as they are, with no look at what becomes of them.

use super::{Outcome, Pane, Recipient, Refusal, Sender};
use crate::dialog::Dialog;
use crate::tmux::{Guard, Key, Obstacle};

/// How often keys are tried while the program's name changes.
const TRIES: u32 = 3;

impl Sender {
    /// Presses keys, whatever the terminal shows, as long as the program runs there that the recipient stands for; where it
    /// stands for none, whichever runs there at the last look.
    pub async fn keys(&self, to: &Recipient, keys: &[Key]) -> Outcome {
        let outcome = match self.take_turn(to).await {
            Ok((_turn, pane)) => self.press_in(pane, to, keys).await,
            Err(refusal) => refusal.into(),
        };
        // Which keys is nobody's business: a password may be among them.
        tracing::info!(terminal = ?to.key, count = keys.len(), %outcome, "pressed keys");
        outcome
    }

    async fn press_in(&self, mut pane: Pane, to: &Recipient, keys: &[Key]) -> Outcome {
        let mut tries = TRIES;
        loop {
            let command = match to.tool {
                Some(_) => self.check_program(&mut pane, to).await.map(|_| pane.command.take().unwrap_or_default()),
                None => pane.capture().await.map(|captured| captured.pane.facts.command),
            };
            let pressing = match command {
                Ok(command) => pane.press(keys, &Guard::of_program(&command)).await,
                Err(refusal) => return refusal.into(),
            };
            tries -= 1;
            // An agent may take another name; another program is found out by the next look.
            if tries == 0 || !matches!(pressing, Err(Refusal::Obstacle(Obstacle::Changed))) {
                return pressed(pressing);
            }
        }
    }

    /// Presses keys in a dialog, which must still be the one that the operator saw.
    pub async fn keys_in(&self, to: &Recipient, seen: &Dialog, keys: &[Key]) -> Outcome {
        let (_turn, mut pane) = match self.take_turn(to).await {
            Ok(taken) => taken,
            Err(refusal) => return refusal.into(),
        };
        let outcome = match pane.look_at_dialog().await.map(|look| look.dialog) {
            Err(refusal) => refusal.into(),
            Ok(None) => Refusal::NoDialog.into(),
            Ok(Some(dialog)) if !dialog.is_same(seen) => Refusal::AnotherDialog.into(),
            Ok(Some(_)) => pressed(pane.press_as_seen(keys).await),
        };
        tracing::info!(terminal = ?to.key, count = keys.len(), %outcome, "pressed keys in a dialog");
        outcome
    }
}

/// What became of keys, which nobody waits for.
fn pressed(pressing: Result<(), Refusal>) -> Outcome {
    match pressing {
        Ok(()) => Outcome::Accepted(None),
        // tmux may have done it and not been able to say so.
        Err(Refusal::Tmux(error)) if !error.is_no_server() => {
            Outcome::Unverified { why: format!("it is not known whether the keys were pressed: {error}") }
        }
        Err(refusal) => refusal.into(),
    }
}
