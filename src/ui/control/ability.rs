//! What cannot be done now, and why: the key that would do it says so, and so does the list of commands.

use super::table::NOTHING_SELECTED;
use crate::fleet::{Terminal, View};
use crate::operation::interrupt;
use crate::present::arrangement::Grouping;
use crate::task::Task;
use crate::ui::composer::Composer;
use crate::ui::{Action, Item, RowKey, Ui};

impl Ui {
    /// Why an action of the table would do nothing now; `None` where it does something.
    pub(super) fn why_not(&self, action: Action, view: &View<'_>) -> Option<String> {
        let arrangement = &self.memory.arrangement;
        let (item, is_head) = (self.acted_on(view), matches!(self.cursor.row(), Some(RowKey::Head(_))));
        let dead = || view.tasks.iter().any(|task| task.is_dead() && !task.is_gone());
        let why = match (action, item) {
            (Action::Fold, _) if self.tiles.is_some() => {
                format!("a grid has no groups ({} goes back to the table)", self.fleet_key(Action::Layout))
            }
            (Action::FocusLeft | Action::FocusRight, _) if self.tiles.is_some() => return None,
            (Action::Fold | Action::FocusLeft | Action::FocusRight, _) if arrangement.grouping == Grouping::None => {
                "there are no groups".to_owned()
            }
            (Action::NextWaiting | Action::PreviousWaiting, _) if arrangement.queue(view).is_empty() => {
                self.why_none_waits(view)
            }
            (Action::Broadcast, _) if arrangement.flags.marked_agents(view).is_empty() => {
                format!("mark the terminals first ({})", self.fleet_key(Action::Mark))
            }
            (Action::FollowUps, _) if self.memory.follow_ups.is_empty() => {
                "no prompt or follow-up waits or needs a decision".to_owned()
            }
            (Action::TaskSessions, _) if view.sessions.is_empty() => "there are no sessions".to_owned(),
            (Action::PruneTasks, _) if !dead() => "there is no task to remove".to_owned(),
            (Action::Unqueue, _) => self.why_nothing_comes_back(view)?,
            (Action::Interrupt, _) => self.why_nothing_stops(view)?,
            (Action::Open | Action::Mark | Action::Fold, None) if is_head => return None,
            (Action::Open | Action::AllowOnce | Action::Refuse | Action::RefuseWhy, _)
                if !self.marked_that_wait(view).is_empty() =>
            {
                return None;
            }
            (action, None) if action.is_of_row() && self.acted_on_together(view).is_empty() => {
                NOTHING_SELECTED.to_owned()
            }
            (Action::AllowOnce | Action::Refuse | Action::RefuseWhy, Some(item)) => match item {
                Item::Terminal(terminal) if terminal.state.waits() => return None,
                Item::Task(_) if item.status().needs_operator() => self.why_no_agent(item),
                item => format!("{} is not asking anything", item.id()),
            },
            (Action::Open, Some(Item::Terminal(terminal))) if !terminal.state.waits() => Composer::refused(terminal)?,
            (Action::Prompt, Some(Item::Terminal(terminal))) => Composer::refused(terminal)?,
            (Action::Prompt, Some(item)) => self.why_no_agent(item),
            (Action::Explain, Some(Item::Task(task))) => {
                format!("no rules read a task; {} tells what happened in {}", self.fleet_key(Action::History), task.id)
            }
            (Action::Raw, Some(Item::Terminal(Terminal { state, .. }))) if state.is_unavailable() => {
                format!("{} takes no keys: its pane is gone", state.terminal.id)
            }
            (Action::Raw | Action::Jump | Action::KillTask | Action::RerunTask, Some(Item::Task(task)))
                if task.is_gone() =>
            {
                gone_with_server(task)
            }
            (Action::Raw, Some(Item::Task(task))) if task.is_dead() => format!("{} has ended", task.id),
            (Action::Jump, Some(Item::Terminal(Terminal { state, .. }))) if state.is_unavailable() => {
                format!("there is nowhere to go: the pane of {} is gone", state.terminal.id)
            }
            (Action::KillTask | Action::RerunTask, Some(Item::Terminal(terminal))) => {
                format!("{} is not a task", terminal.state.terminal.id)
            }
            (Action::RerunTask, Some(Item::Task(task))) if !task.is_dead() => format!("{} still runs", task.id),
            _ => return None,
        };
        Some(why)
    }

    /// The key of an action in the table, as messages name it.
    pub(super) fn fleet_key(&self, action: Action) -> String {
        self.key_for(action).unwrap_or_default()
    }

    /// Why a task takes nothing that is for agents.
    fn why_no_agent(&self, item: Item<'_>) -> String {
        if let Item::Task(task) = item
            && task.is_gone()
        {
            return gone_with_server(task);
        }
        if let Item::Task(task) = item
            && task.is_dead()
        {
            return format!(
                "{} is a task that has ended; {} runs it again",
                task.id,
                self.fleet_key(Action::RerunTask)
            );
        }
        format!("{} is a task, not an agent; {} sends every key there", item.id(), self.fleet_key(Action::Raw))
    }

    /// Why there is no agent to interrupt.
    fn why_nothing_stops(&self, view: &View<'_>) -> Option<String> {
        match self.acted_on_together(view)[..] {
            [] => Some(NOTHING_SELECTED.to_owned()),
            [item @ Item::Task(_)] => Some(self.why_no_agent(item)),
            [Item::Terminal(it)] => interrupt::needless(it).map(|why| format!("nothing to interrupt: {why}")),
            ref several => {
                let stops = |item: &Item<'_>| item.terminal().is_some_and(|it| interrupt::needless(it).is_none());
                (!several.iter().any(stops)).then(|| "nothing to interrupt in the marked ones".to_owned())
            }
        }
    }
}

/// Why nothing can be done to a task whose server ended.
fn gone_with_server(task: &Task) -> String {
    format!("{} is gone with its tmux server", task.id)
}
