//! The keys worth showing.

use crate::fleet::View;
use crate::state::{Availability, Phase, TaskStatus};
use crate::ui::dialog::verdict_hints;
use crate::ui::lists::needs_decision;
use crate::ui::{Action, Hint, Item, RowKey, Ui};

impl Ui {
    /// The keys worth showing now.
    pub(in crate::ui) fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        match self.overlays.last() {
            Some(overlay) => overlay.hints(view),
            None => self.fleet_hints(view),
        }
    }

    /// The keys worth showing while the table has the keyboard.
    pub(super) fn fleet_hints(&self, view: &View<'_>) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        if let Some(RowKey::Head(group)) = self.cursor.row() {
            let folded = self.memory.arrangement.is_folded(group);
            hints.extend([(Action::Open, if folded { "unfold" } else { "fold" }), (Action::Mark, "mark them all")]);
        }
        let answers_marked = !self.marked_that_wait(view).is_empty();
        if answers_marked {
            hints.push((Action::Open, "answer the marked"));
        }
        if let Some(terminal) = self.cursor.terminal(view) {
            if terminal.state.waits() && !answers_marked {
                hints.push((Action::Open, "answer"));
                // From here they only open its box.
                hints.extend(terminal.dialog.iter().flat_map(|dialog| verdict_hints(dialog, ["yes …", "no …"])));
            } else if !terminal.state.has_ended() && !answers_marked {
                hints.push((Action::Prompt, "prompt"));
            }
            if terminal.state.turn.phase == Phase::Active {
                hints.push((Action::Interrupt, "interrupt"));
            }
            if self.memory.queued.contains_key(&terminal.key) {
                hints.push((Action::Unqueue, "take back"));
            }
            if !self.memory.arrangement.flags.marked_agents(view).is_empty() {
                hints.push((Action::Broadcast, "prompt to the marked"));
            }
            if terminal.state.diagnostics.availability != Availability::Unavailable {
                hints.push((Action::Jump, "jump"));
            }
            hints.push((Action::History, "history"));
        }
        if let Some(Item::Task(task)) = self.selected(view) {
            let opens = if task.status == TaskStatus::WaitingInput { "answer" } else { "history" };
            if !answers_marked {
                hints.push((Action::Open, opens));
            }
            if answers_marked || opens == "answer" {
                hints.push((Action::History, "history"));
            }
            if !task.is_gone() && !matches!(task.status, TaskStatus::WaitingInput | TaskStatus::Exited) {
                hints.push((Action::Raw, "type"));
            }
            if !task.is_gone() {
                hints.push((Action::Jump, "jump"));
                hints.push(if task.is_dead() { (Action::RerunTask, "run again") } else { (Action::End, "kill") });
            }
        }
        let arrangement = &self.memory.arrangement;
        if arrangement.shown(view).any(|item| arrangement.needs_operator(item)) {
            hints.push((Action::NextWaiting, "longest wait"));
        } else if arrangement.shown(view).any(|item| arrangement.wants_a_look(item)) {
            hints.push((Action::NextWaiting, "next to look at"));
        }
        // It has no key, and stands first in the list of commands.
        let is_unclear = self.memory.follow_ups.iter().any(needs_decision);
        if is_unclear {
            hints.push((Action::FollowUps, "unclear messages"));
        }
        if !self.memory.arrangement.filter.is_empty() {
            hints.push((Action::Close, "show all"));
        }
        if let Some(terminal) = self.cursor.terminal(view) {
            hints.push((Action::Explain, "why"));
            if terminal.state.waits() {
                hints.push((Action::Prompt, "prompt"));
            }
        }
        let commands = if is_unclear { "unclear messages" } else { "commands" };
        hints.extend([(Action::Palette, commands), (Action::Quit, "quit"), (Action::Help, "help")]);
        hints
    }
}
