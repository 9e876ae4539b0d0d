//! Prompts: to one terminal, to all that are marked, and those that wait in the queue.

use super::group::{Group, NOTHING_SELECTED};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::status::Status;
use crate::ui::composer::Composer;
use crate::ui::lists::follow_ups;
use crate::ui::{Action, Item, Request, Ui, find};

pub(super) const GROUP: Group =
    Group { actions: &[Action::Prompt, Action::Broadcast, Action::Unqueue, Action::FollowUps], why_not, obey };

fn why_not(ui: &Ui, action: Action, view: &View<'_>) -> Option<String> {
    match action {
        Action::Prompt => match ui.acted_on(view)? {
            Item::Terminal(terminal) => Composer::refused(terminal),
            item => Some(ui.why_no_agent(item)),
        },
        Action::Broadcast => {
            let has_none = ui.memory.arrangement.flags.marked_agents(view).is_empty();
            has_none.then(|| format!("mark the terminals first ({})", ui.fleet_key(Action::Mark)))
        }
        Action::Unqueue => ui.why_nothing_comes_back(view),
        _ => {
            let has_none = ui.memory.follow_ups.is_empty();
            has_none.then(|| "no prompt or follow-up waits or needs a decision".to_owned())
        }
    }
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match action {
        Action::Prompt => ui.compose(view),
        Action::Broadcast => ui.broadcast(view),
        // Back come the prompts that wait for the selected terminal or for all that are marked.
        Action::Unqueue => return vec![Request::Unqueue(ui.queued_here(view))],
        _ => ui.open(follow_ups(&ui.memory.follow_ups, view)),
    }
    Vec::new()
}

impl Ui {
    pub(super) fn compose(&mut self, view: &View<'_>) {
        if let Some(Item::Terminal(terminal)) = self.acted_on(view) {
            self.open(Composer::new(terminal.key.clone(), &self.memory));
        }
    }

    /// Opens the composer for all marked terminals.
    fn broadcast(&mut self, view: &View<'_>) {
        let marked = self.memory.arrangement.flags.marked_agents(view);
        let mut keys: Vec<TerminalKey> = marked.iter().map(|item| item.key().clone()).collect();
        // In the order of the rows; those that no row shows come last.
        let rows = self.rows(view);
        let place = |key: &TerminalKey| rows.iter().position(|row| row.item().is_some_and(|item| item.key() == key));
        keys.sort_by_key(|key| place(key).unwrap_or(rows.len()));
        let hidden = self.memory.arrangement.hidden(&marked, view);
        if hidden > 0 {
            self.notify(Status::Stalled, format!("the filter hides {hidden} of the marked"), view.now);
        }
        self.open(Composer::for_several(keys, &self.memory));
    }

    /// The terminals of those that prompts wait for.
    fn queued_here(&self, view: &View<'_>) -> Vec<TerminalKey> {
        let together = self.acted_on_together(view).into_iter().map(|item| item.key().clone());
        together.filter(|key| self.memory.queued.contains_key(key)).collect()
    }

    /// Why no prompt is taken back; `None` where one is.
    fn why_nothing_comes_back(&self, view: &View<'_>) -> Option<String> {
        if !self.queued_here(view).is_empty() {
            return None;
        }
        let key = self.target().and_then(|key| find(view, &key));
        let why = |Terminal { key, state, .. }: &Terminal| match self.memory.sending.contains_key(key) {
            true => format!("too late: the prompt is on its way to {}", state.terminal.id),
            false => format!("no prompt is queued for {}", state.terminal.id),
        };
        Some(key.map_or_else(|| NOTHING_SELECTED.to_owned(), why))
    }
}
