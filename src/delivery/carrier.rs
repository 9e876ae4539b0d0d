//! Whoever carries deliveries out: what takes time in a task of its own, what the terminal shows as bytes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use super::terminal::{Around, bytes};
use super::{DeliveryEvent, command, desktop};
use crate::notify::{Dispatch, Means};

/// Commands that run at the same time at most; a burst of events must not become a burst of processes.
const COMMANDS_AT_ONCE: usize = 4;
/// Commands that wait for their turn at most; what comes then is not run, and that is told.
const COMMANDS_WAITING: usize = 32;

/// Carries deliveries out.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    around: Around,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    troubles: Troubles,
}

/// Where it is told what failed, each trouble once until it has passed.
#[derive(Clone, Debug)]
pub(super) struct Troubles {
    told: Arc<Mutex<HashSet<String>>>,
    to: UnboundedSender<DeliveryEvent>,
}

impl Carrier {
    pub(super) fn new(around: Around, told: UnboundedSender<DeliveryEvent>) -> Self {
        Self {
            around,
            running: Arc::new(Semaphore::new(COMMANDS_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(COMMANDS_WAITING)),
            troubles: Troubles { told: Arc::default(), to: told },
        }
    }

    /// Starts what takes time, and gives what is to be written to the operator's terminal.
    pub(super) fn carry_out(&self, delivery: &Dispatch) -> Vec<u8> {
        if delivery.by.contains(&Means::Command) {
            self.run(delivery);
        }
        if delivery.by.contains(&Means::Desktop) {
            desktop::show(delivery.text(), self.troubles.clone());
        }
        bytes(&delivery.text(), &delivery.by, self.around)
    }

    fn run(&self, delivery: &Dispatch) {
        let program = delivery.rule.command.first().cloned().unwrap_or_default();
        let Ok(place) = Arc::clone(&self.waiting).try_acquire_owned() else {
            return self.troubles.tell(&program, "too many wait for their turn; an event was not handed over");
        };
        let (running, troubles) = (Arc::clone(&self.running), self.troubles.clone());
        let (rule, input) = (delivery.rule.clone(), delivery.lines());
        tokio::spawn(async move {
            // The semaphore is never closed.
            let _turn = running.acquire_owned().await;
            drop(place);
            match command::run(&rule, input).await {
                Ok(()) => troubles.passed(&program),
                Err(trouble) => troubles.tell(&program, &trouble),
            }
        });
    }
}

impl Troubles {
    /// Tells what is wrong with something, unless that was told before.
    pub(super) fn tell(&self, subject: &str, trouble: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(subject.to_owned()) {
            // Nobody listens any more when the program ends.
            let _ = self.to.send(DeliveryEvent::Trouble(format!("{subject}: {trouble}")));
        }
    }

    /// It works again, so that the next trouble is news.
    pub(super) fn passed(&self, subject: &str) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).remove(subject);
    }
}
