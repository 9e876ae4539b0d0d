//! What is told outside of the dashboard: to the operator by bells, notices and commands, to agents by follow-ups.
//!
//! What goes out, when and how is decided in [`crate::notify`] and [`crate::follow_up`]; here it is done, and what fails
//! is told once.

mod beacon;
mod carrier;
mod command;
mod desktop;
mod ends;
mod follow_ups;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use tokio::sync::mpsc::UnboundedSender;

use crate::config::Config;
use crate::fleet::{Effect, Fleet, ServerId, View};
use crate::history::{self, History};
use crate::notify::{Dispatch, Means, Notifier, Suppression};
use crate::owner::{Lead, OwnerEvent};
use crate::sender::Sender;
use crate::time::Timestamp;
use crate::tmux;
use beacon::Beacon;
use carrier::Carrier;
use ends::note_ends;
use follow_ups::{FollowUps, Office};
pub use terminal::Around;

/// What is told of the telling itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryEvent {
    /// Something could not be told, in a whole sentence.
    Trouble(String),
    /// An agent was told something.
    FollowUp(String),
}

/// What is told outside, for as long as the fleet is watched.
#[derive(Debug)]
pub struct Outside {
    notifier: Notifier,
    carrier: Carrier,
    follow_ups: Option<FollowUps>,
    office: Office,
    beacon: Beacon,
    history: History,
    tmux: tmux::Settings,
    /// The servers for which this process acts, as long as the lead holds.
    leads: BTreeMap<ServerId, Lead>,
    /// Whether there is a terminal that can ring.
    has_terminal: bool,
    /// Whether there is anything to tell the operator, ever.
    has_notices: bool,
}

impl Outside {
    /// By the rules of the configuration. Must be called within the runtime.
    pub fn start(
        config: &Config,
        history: &History,
        has_terminal: bool,
        (sender, tmux): (Sender, tmux::Settings),
        told: UnboundedSender<DeliveryEvent>,
    ) -> Self {
        let office = Office::new(history.clone(), sender, told.clone());
        Self {
            history: history.clone(),
            tmux,
            leads: BTreeMap::new(),
            has_terminal,
            notifier: Notifier::new(config.notify.clone(), TimeZone::system()),
            carrier: Carrier::new(Around::of_process(), told),
            has_notices: !config.notify.is_empty(),
            follow_ups: office.open(&config.follow_up),
            office,
            beacon: Beacon::new(history.clone()),
        }
    }

    /// Takes in what this process is to a server, and what the leader of one has seen to.
    pub fn server_event(&mut self, event: OwnerEvent) {
        match event {
            OwnerEvent::Role { server, lead, .. } => {
                let held = lead.as_ref().map(Lead::held);
                self.history.lead(server.clone(), held.clone());
                if let Some(follow_ups) = &self.follow_ups {
                    follow_ups.lead(&server, held);
                }
                match lead {
                    Some(lead) => drop(self.leads.insert(server, lead)),
                    None => {
                        self.leads.remove(&server);
                        self.notifier.follow(&server);
                    }
                }
            }
            OwnerEvent::Handled(notice) => self.notifier.handled(notice, history::now()),
            OwnerEvent::Input(_) | OwnerEvent::Refused { .. } | OwnerEvent::Checkpoint { .. } => {}
        }
    }

    /// Follows other rules from now on.
    pub fn obey(&mut self, config: &Config) {
        self.notifier.obey(&config.notify);
        match &mut self.follow_ups {
            Some(follow_ups) => follow_ups.obey(&config.follow_up),
            none => {
                *none = self.office.open(&config.follow_up);
                let leads = none.iter().flat_map(|new| self.leads.iter().map(move |lead| (new, lead)));
                leads.for_each(|(new, (server, lead))| new.lead(server, Some(lead.held())));
            }
        }
        self.has_notices = !config.notify.is_empty();
    }

    /// Mutes what the operator is told, or lets the rules hold again. Agents are told all the same.
    pub fn mute(&mut self, muted: bool) {
        self.notifier.mute(muted);
    }

    /// Keeps what the fleet tells, and takes it in; the next [`Outside::follow`] passes it on.
    pub fn effect(&mut self, effect: &Effect, fleet: &Fleet, now: Timestamp) {
        self.history.effect(effect, fleet, now);
        let Effect::Tasks(batch) = effect else { return };
        self.notifier.tasks(batch, now);
        if self.leads(&batch.server) {
            note_ends(batch, fleet, &self.tmux);
        }
    }

    /// Whether this process acts for a server.
    fn leads(&self, server: &ServerId) -> bool {
        self.leads.get(server).is_some_and(Lead::holds)
    }

    /// Takes in what the fleet shows now. What is due is carried out; the rest is to be written to the operator's
    /// terminal.
    pub fn follow(&mut self, view: &View<'_>, operator: Suppression<'_>) -> Vec<u8> {
        let leads = |server: &ServerId| self.leads.get(server).is_some_and(Lead::holds);
        self.beacon.follow(view, operator, &leads);
        if let Some(follow_ups) = &mut self.follow_ups {
            follow_ups.look(view);
        }
        if !self.has_notices {
            return Vec::new();
        }
        self.notifier.observe(view, operator, &leads);
        let mut bytes = Vec::new();
        let deliveries: Vec<Dispatch> = std::iter::from_fn(|| self.notifier.poll(view.now, &leads)).collect();
        // The others know it first: should this process be killed now, nothing is told twice.
        for notice in self.notifier.take_handled() {
            let lead = self.leads.get(&notice.key.server);
            lead.into_iter().for_each(|lead| lead.handled(notice.clone()));
        }
        for delivery in deliveries {
            let able = |means: &Means| self.has_terminal || matches!(means, Means::Desktop | Means::Command);
            let by: BTreeSet<Means> = delivery.by.iter().copied().filter(able).collect();
            bytes.extend(self.carrier.carry_out(&Dispatch { by, ..delivery }));
        }
        bytes
    }

    /// When to call [`Outside::follow`] again at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let notices = if self.has_notices { self.notifier.poll_timeout() } else { None };
        [notices, self.beacon.poll_timeout()].into_iter().flatten().min()
    }

    /// Waits until no message is on its way to an agent any more.
    pub async fn finish(&self) {
        if let Some(follow_ups) = &self.follow_ups {
            follow_ups.finish().await;
        }
    }
}
