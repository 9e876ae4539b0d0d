//! What is told outside of the dashboard: to the operator by bells, notices and commands, to agents by follow-ups.
//!
//! What goes out, when and how is decided in [`crate::notify`] and [`crate::follow_up`]; here it is done, and what fails
//! is told once.

mod beacon;
mod carrier;
mod command;
mod desktop;
mod duty;
mod ends;
mod follow_ups;
mod terminal;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};

use jiff::tz::TimeZone;
use tokio::sync::mpsc::UnboundedSender;

use crate::config::Config;
use crate::fleet::{Effect, View};
use crate::history::{History, Rank};
use crate::moment::Moment;
use crate::notify::{Delivery, Means, Notice, Notifier, Operator};
use crate::sender::Sender;
use beacon::Beacon;
use carrier::Carrier;
use duty::{Duties, Duty};
pub use ends::note_ends;
use follow_ups::{FollowUps, Office};
pub use terminal::Around;

/// What is told of the telling itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Something could not be told, in a whole sentence.
    Trouble(String),
    /// An agent was told something.
    FollowUp(String),
}

/// The means of the operator's terminal.
const RINGS: &[Means] = &[Means::Bell, Means::Osc9, Means::Osc777];
/// The others, which need no terminal.
const CARRIED: &[Means] = &[Means::Desktop, Means::Command];

/// What is told outside, for as long as the fleet is watched.
#[derive(Debug)]
pub struct Outside {
    notifier: Notifier,
    carrier: Carrier,
    follow_ups: Option<FollowUps>,
    office: Office,
    beacon: Beacon,
    /// What this process tells, and not another one that watches the same.
    duties: Duties,
    /// The duties that it can have.
    able: Vec<Duty>,
    /// Whether there is anything to tell the operator, ever.
    has_notices: bool,
}

impl Outside {
    /// By the rules of the configuration. Must be called within the runtime.
    pub fn start(config: &Config, history: &History, rank: Rank, sender: Sender, told: UnboundedSender<Told>) -> Self {
        let office = Office::new(history.clone(), sender, told.clone());
        let follow_ups = office.open(&config.follow_up);
        let has_terminal = rank == Rank::Dashboard || io::stderr().is_terminal();
        let location = config.history.location();
        Self {
            duties: Duties::new(location.as_deref().and_then(std::path::Path::parent), rank),
            able: if has_terminal { vec![Duty::Terminal, Duty::Outside] } else { vec![Duty::Outside] },
            notifier: Notifier::new(config.notify.clone(), TimeZone::system()),
            carrier: Carrier::new(Around::of_process(), told),
            has_notices: !config.notify.is_empty(),
            follow_ups,
            office,
            beacon: Beacon::new(history.clone(), rank),
        }
    }

    /// Follows other rules from now on.
    pub fn obey(&mut self, config: &Config) {
        self.notifier.obey(&config.notify);
        match &mut self.follow_ups {
            Some(follow_ups) => follow_ups.obey(&config.follow_up),
            none => *none = self.office.open(&config.follow_up),
        }
        self.has_notices = !config.notify.is_empty();
    }

    /// Mutes what the operator is told, or lets the rules hold again. Agents are told all the same.
    pub fn mute(&mut self, muted: bool) {
        self.notifier.mute(muted);
    }

    /// Takes in what the fleet tells; the next [`Outside::follow`] passes it on.
    pub fn effect(&mut self, effect: &Effect, now: Moment) {
        let Effect::Tasks(batch) = effect else { return };
        self.notifier.tasks(batch, now);
    }

    /// Takes in what the fleet shows now. What is due is carried out; the rest is to be written to the operator's
    /// terminal.
    pub fn follow(&mut self, view: &View<'_>, operator: Operator<'_>) -> Vec<u8> {
        self.beacon.follow(view, operator);
        if let Some(follow_ups) = &mut self.follow_ups {
            follow_ups.look(view);
        }
        if !self.has_notices {
            return Vec::new();
        }
        self.notifier.observe(view, operator);
        let servers: Vec<String> = view.servers.iter().map(|server| server.id.word()).collect();
        self.duties.tend(&self.able, servers.iter().map(String::as_str), view.now);
        let mut bytes = Vec::new();
        while let Some(delivery) = self.notifier.poll(view.now) {
            for (duty, means) in [(Duty::Terminal, RINGS), (Duty::Outside, CARRIED)] {
                if let Some(delivery) = self.share(&delivery, duty, means, view.now) {
                    bytes.extend(self.carrier.carry_out(&delivery));
                }
            }
        }
        bytes
    }

    /// What of a delivery falls to this process by some means.
    fn share(&mut self, delivery: &Delivery, duty: Duty, means: &[Means], now: Moment) -> Option<Delivery> {
        let by: BTreeSet<Means> = means.iter().copied().filter(|means| delivery.by.contains(means)).collect();
        if by.is_empty() || !self.able.contains(&duty) {
            return None;
        }
        let mut falls_here = |notice: &&Notice| {
            let what = format!("{} {} {}", notice.key.pane, notice.key.pid, notice.text);
            self.duties.may_tell(duty, &notice.key.server.word(), &what, now)
        };
        let notices: Vec<Notice> = delivery.notices.iter().filter(|notice| falls_here(notice)).cloned().collect();
        (!notices.is_empty()).then(|| Delivery { by, rule: delivery.rule.clone(), notices })
    }

    /// When to call [`Outside::follow`] again at the latest.
    pub fn poll_timeout(&self) -> Option<Moment> {
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
