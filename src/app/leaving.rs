//! The end of the dashboard: what is on its way arrives, what was set is taken back, and nothing that was written is lost.

use std::io::{self, Write};

use super::App;
use crate::engine::Update;
use crate::operation::Producer;
use crate::poll;
use crate::screen::harmless;
use crate::sender::OperationEvent;
use crate::ui::told;

impl App {
    /// Gives the terminal back and lets the prompts that are on their way arrive, for no longer than a sender takes. What
    /// did not arrive is told where the operator is now.
    pub(super) async fn finish(&mut self) {
        self.call_in().await;
        self.let_go();
        for waiting in self.still_waiting() {
            let _ = writeln!(io::stderr(), "{}", harmless(&waiting));
        }
        for left in self.engine.leave(self.actors.finish()).await {
            let _ = writeln!(io::stderr(), "warning: {}", harmless(&left));
        }
        while let Some(update) = self.engine.poll_update() {
            let Update::Operation(OperationEvent::Ended(operation, outcome)) = update else { continue };
            if operation.producer == Producer::Dashboard {
                if !outcome.is_accepted() {
                    // The terminal may be gone, and then nobody is left to be told.
                    let _ = writeln!(io::stderr(), "warning: {}", harmless(&told(&operation, &outcome)));
                }
                // What has arrived is no draft.
                self.ui.ended(&operation, &outcome, &self.engine.fleet().view(poll::now()));
            }
        }
        self.leave_drafts().await;
    }
}
