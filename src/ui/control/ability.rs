//! What cannot be done now, and why: the key that would do it says so, and so does the list of commands.

use super::table::{ANSWERED, NOTHING_SELECTED};
use crate::fleet::{Terminal, View};
use crate::task::Task;
use crate::time::Timestamp;
use crate::ui::arrangement::Grouping;
use crate::ui::composer::Composer;
use crate::ui::interrupt::Interrupt;
use crate::ui::layout::Layout;
use crate::ui::{Action, Item, RowKey, Ui};

impl Ui {
    /// Why an action of the table would do nothing now; `None` where it does something.
    pub(super) fn why_not(&self, action: Action, view: &View<'_>) -> Option<String> {
        let arrangement = &self.memory.arrangement;
        let (item, is_head) = (self.acted_on(view), matches!(self.cursor.row(), Some(RowKey::Head(_))));
        let dead = || view.tasks.iter().any(|task| task.is_dead() && !task.is_gone());
        let why = match (action, item) {
            (Action::Fold | Action::FoldAll | Action::Group, _) if self.tiles.is_some() => {
                format!("a grid has no groups ({} goes back to the table)", self.fleet_key(Action::Layout))
            }
            (Action::FocusLeft | Action::FocusRight, _) if self.tiles.is_some() => return None,
            (Action::Fold | Action::FoldAll | Action::FocusLeft | Action::FocusRight, _)
                if arrangement.grouping == Grouping::None =>
            {
                "there are no groups".to_owned()
            }
            (Action::NextWaiting | Action::PreviousWaiting, _) if arrangement.queue(view).is_empty() => {
                self.why_none_waits(view)
            }
            (Action::UnmarkAll, _) if arrangement.flags.marked(view).next().is_none() => "nothing is marked".to_owned(),
            (Action::Broadcast, _) if arrangement.flags.marked_agents(view).is_empty() => {
                format!("mark the terminals first ({})", self.fleet_key(Action::Mark))
            }
            (Action::SwitchPane, _) if !self.takes_turns() => "no pane takes turns with another one here".to_owned(),
            (Action::LogFilter, _) if self.is_bare(view) => {
                "nothing has happened yet that the log would show".to_owned()
            }
            (Action::LogFilter, _) if self.drawn.log.is_empty() => {
                let shows = if self.takes_turns() { Action::SwitchPane } else { Action::Layout };
                format!("the log is not on the screen ({} shows it)", self.fleet_key(shows))
            }
            (Action::FollowUps, _) if self.memory.follow_ups.is_empty() => {
                "no prompt or follow-up waits or needs a decision".to_owned()
            }
            (Action::TaskSessions, _) if view.sessions.is_empty() => "there are no sessions".to_owned(),
            (Action::PruneTasks, _) if !dead() => "there is no task to remove".to_owned(),
            (Action::KillAllTasks, _) if view.tasks.iter().all(|task| task.is_gone()) => {
                "there is no task to kill".to_owned()
            }
            (Action::Unqueue, _) => self.why_nothing_comes_back(view)?,
            (Action::Seen, _) if !self.acted_on_together(view).iter().any(|item| self.is_unseen(*item)) => {
                "no result there is unseen".to_owned()
            }
            (Action::Interrupt, _) => self.why_nothing_stops(view)?,
            (Action::Open | Action::Mark | Action::Fold, None) if is_head => return None,
            (Action::Open, _) if !self.marked_that_wait(view).is_empty() || self.has_just_answered(view.now) => {
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

    /// Whether two panes share one place below the table.
    pub(super) fn takes_turns(&self) -> bool {
        self.panes.layout == Layout::All && self.panes.single(&self.drawn.regions).is_some()
    }

    /// Whether the key that opens a row is taken to be meant for a dialog that was there just now.
    pub(super) fn has_just_answered(&self, now: Timestamp) -> bool {
        self.answered.is_some_and(|at| (at..at + ANSWERED).contains(&now))
    }

    /// Whether there is anything of it to be marked as seen.
    fn is_unseen(&self, item: Item<'_>) -> bool {
        match item {
            Item::Terminal(terminal) => terminal.state.wants_to_be_seen(),
            Item::Task(task) => self.memory.bells.unseen(task) > 0,
        }
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
            [Item::Terminal(it)] => Interrupt::needless(it).map(|why| format!("nothing to interrupt: {why}")),
            ref several => {
                let stops = |item: &Item<'_>| item.terminal().is_some_and(|it| Interrupt::needless(it).is_none());
                (!several.iter().any(stops)).then(|| "nothing to interrupt in the marked ones".to_owned())
            }
        }
    }
}

/// Why nothing can be done to a task whose server ended.
fn gone_with_server(task: &Task) -> String {
    format!("{} is gone with its tmux server", task.id)
}
