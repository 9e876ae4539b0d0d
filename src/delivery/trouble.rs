//! What the delivery tells the operator.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

/// An event of the delivery itself, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryEvent {
    /// Something could not be delivered; a whole sentence.
    Trouble(String),
    /// Whether a prompt arrived is not known. Where prompts are followed by their records, those tell it.
    Unclear(String),
    /// A message was sent to an agent.
    FollowUp(String),
}

/// Where failures are reported, each trouble once until it has passed.
#[derive(Clone, Debug)]
pub(super) struct Troubles {
    reported: Arc<Mutex<HashSet<String>>>,
    to: UnboundedSender<DeliveryEvent>,
}

impl Troubles {
    pub(super) fn new(to: UnboundedSender<DeliveryEvent>) -> Self {
        Self { reported: Arc::default(), to }
    }

    /// Reports a problem, unless it was already reported.
    pub(super) fn tell(&self, subject: &str, trouble: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(subject.to_owned()) {
            // Nobody listens any more when the program ends.
            let _ = self.to.send(DeliveryEvent::Trouble(format!("{subject}: {trouble}")));
        }
    }

    /// It works again, so that the next trouble is news.
    pub(super) fn passed(&self, subject: &str) {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).remove(subject);
    }
}
