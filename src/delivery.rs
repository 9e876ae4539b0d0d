//! What is told outside of the dashboard: bells and notices of the operator's terminal and desktop, and commands.
//!
//! What goes out, when and how is decided in [`crate::notify`]; here it is done, and what fails is told once.

mod carrier;
mod command;
mod desktop;
mod terminal;

use jiff::tz::TimeZone;
use tokio::sync::mpsc::UnboundedSender;

use crate::fleet::View;
use crate::moment::Moment;
use crate::notify::{Notifier, Operator, Rule};
use crate::task::Batch;
use carrier::Carrier;
pub use terminal::Around;

/// What is told outside, for as long as the fleet is watched.
#[derive(Clone, Debug)]
pub struct Outside {
    notifier: Notifier,
    carrier: Carrier,
}

impl Outside {
    /// By the rules of the configuration; what fails is told to `troubles` in whole sentences.
    pub fn new(rules: &[Rule], troubles: UnboundedSender<String>) -> Self {
        Self {
            notifier: Notifier::new(rules.to_vec(), TimeZone::system()),
            carrier: Carrier::new(Around::of_process(), troubles),
        }
    }

    /// Follows other rules from now on.
    pub fn obey(&mut self, rules: &[Rule]) {
        self.notifier.obey(rules);
    }

    /// Mutes everything, or lets the rules hold again.
    pub fn mute(&mut self, muted: bool) {
        self.notifier.mute(muted);
    }

    /// Takes in what the fleet shows now. What is due is carried out; the rest is to be written to the operator's
    /// terminal.
    pub fn follow(&mut self, view: &View<'_>, operator: Operator<'_>) -> Vec<u8> {
        if !self.notifier.has_rules() {
            return Vec::new();
        }
        self.notifier.observe(view, operator);
        let deliveries = std::iter::from_fn(|| self.notifier.poll(view.now));
        deliveries.flat_map(|delivery| self.carrier.carry_out(&delivery)).collect()
    }

    /// Takes in what happened to tasks; the next [`Outside::follow`] tells it.
    pub fn tasks(&mut self, batch: &Batch, now: Moment) {
        self.notifier.tasks(batch, now);
    }

    /// When to call [`Outside::follow`] again at the latest.
    pub fn poll_timeout(&self) -> Option<Moment> {
        self.notifier.poll_timeout()
    }
}
