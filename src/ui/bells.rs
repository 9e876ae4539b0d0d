//! Which bells of tasks the operator has seen.

use std::collections::HashMap;

use crate::fleet::{TerminalKey, View};
use crate::task::Task;
use crate::time::Timestamp;

/// The tasks that rang.
#[derive(Clone, Debug, Default)]
pub struct Bells {
    of: HashMap<TerminalKey, Heard>,
}

/// The bells of one task.
#[derive(Clone, Debug, Default)]
struct Heard {
    rung: u64,
    /// When the last one was noticed.
    at: Timestamp,
    seen: u64,
}

impl Bells {
    /// Takes note of what has rung. A task that runs again begins to count anew.
    pub fn follow(&mut self, view: &View<'_>) {
        let mut before = std::mem::take(&mut self.of);
        for task in view.tasks.iter().filter(|task| rung(task) > 0) {
            let mut heard = before.remove(&task.key).unwrap_or_default();
            let rung = rung(task);
            if rung > heard.rung {
                heard.at = view.now;
            }
            (heard.rung, heard.seen) = (rung, heard.seen.min(rung));
            self.of.insert(task.key.clone(), heard);
        }
    }

    /// How often a task has rung since the operator last saw it.
    pub fn unseen(&self, task: &Task) -> u64 {
        rung(task).saturating_sub(self.of.get(&task.key).map_or(0, |heard| heard.seen))
    }

    /// When a task last rang, unless the operator has seen it since.
    pub fn unseen_since(&self, key: &TerminalKey) -> Option<Timestamp> {
        self.of.get(key).filter(|heard| heard.rung > heard.seen).map(|heard| heard.at)
    }

    /// The operator has seen a task.
    pub fn see(&mut self, key: &TerminalKey) {
        if let Some(heard) = self.of.get_mut(key) {
            heard.seen = heard.rung;
        }
    }
}

fn rung(task: &Task) -> u64 {
    task.bells.max(u64::from(task.bell))
}
