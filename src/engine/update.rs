//! What the engine says happened, and what of it is told or warned of.

use crate::delivery::DeliveryEvent;
use crate::fleet::Effect;
use crate::history::{History, IntentNews, WriterState};
use crate::present::events::Happened;
use crate::present::objection::Objection;
use crate::screen::harmless;
use crate::sender::OperationEvent;

/// Something to show or to print.
#[derive(Clone, Debug)]
pub enum Update {
    /// An effect of the fleet.
    Effect(Effect),
    /// The owner of a server refuses this process, which polls for itself: why, for people.
    Refused(String),
    /// An intent has come further.
    Intent(IntentNews),
    /// An operation of this process has come further.
    Operation(OperationEvent),
    /// The outcome of a notice or a follow-up.
    Delivery(DeliveryEvent),
}

impl Update {
    /// What events are made of.
    pub fn told(&self) -> Option<Happened<'_>> {
        match self {
            Update::Effect(effect) => Some(Happened::Effect(effect)),
            Update::Intent(news) => Some(Happened::Intent(&news.intent)).filter(|_| !news.is_old),
            _ => None,
        }
    }

    /// What the operator is warned of.
    pub fn warning(&self) -> Option<String> {
        match self {
            Update::Refused(why) => Some(why.clone()),
            Update::Delivery(DeliveryEvent::Trouble(trouble) | DeliveryEvent::Unclear(trouble)) => {
                Some(harmless(trouble))
            }
            _ => None,
        }
    }
}

/// The warning where a history does not keep what is done, once. What is asked for is done all the same.
pub fn warning_of(history: &History) -> Option<Objection> {
    let what = history.new_warning()?;
    let hint =
        if let WriterState::Degraded(trouble) = history.health().condition { Some(trouble.hint()) } else { None };
    Some(Objection { what, hint: hint.map(str::to_owned) })
}
