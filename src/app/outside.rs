//! What is told outside of the dashboard: it follows what the dashboard shows.

use super::App;
use crate::feed;
use crate::fleet::Terminal;
use crate::notify::Operator;

impl App {
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
