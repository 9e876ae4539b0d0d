//! What is told outside of the dashboard: it follows what the dashboard shows.

use super::App;
use crate::delivery::Told;
use crate::feed;
use crate::fleet::{Input, Terminal};
use crate::notify::Operator;
use crate::ui::Meaning;

impl App {
    /// Shows what became of what was told.
    pub(super) fn on_told(&mut self, told: Told) {
        match told {
            Told::Trouble(trouble) => self.complain(&trouble),
            Told::FollowUp(text) => self.ui.notify(Meaning::Ready, text, feed::now()),
            Told::Submitting(key) => {
                self.take(Input::Submitted { key: key.clone(), at: feed::now() });
                self.wake(&key);
            }
        }
    }

    /// Tells what the rules want told of what is shown now.
    pub(super) fn tell_outside(&mut self) -> std::io::Result<()> {
        self.outside.mute(self.ui.mutes_all());
        let view = self.fleet.view(feed::now());
        let is_muted = |terminal: &Terminal| self.ui.mutes(terminal);
        let operator = Operator { looks_at: self.ui.looked_at(view.now), is_muted: &is_muted };
        let bytes = self.outside.follow(&view, operator);
        self.tty.ring(&bytes)
    }
}
