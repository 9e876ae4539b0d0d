//! Tasks: killed, run again, removed, each after a question, as none of it can be taken back; and which sessions are tasks.

use super::group::Group;
use crate::fleet::View;
use crate::task::Task;
use crate::ui::confirm::Confirm;
use crate::ui::lists::task_sessions;
use crate::ui::{Action, Item, Request, Ui, text};

pub(super) const GROUP: Group =
    Group { actions: &[Action::RerunTask, Action::PruneTasks, Action::TaskSessions], why_not, obey };

fn why_not(ui: &Ui, action: Action, view: &View<'_>) -> Option<String> {
    let is_over = |task: &&Task| task.is_dead() && !task.is_gone();
    match action {
        Action::TaskSessions => view.sessions.is_empty().then(|| "there are no sessions".to_owned()),
        Action::PruneTasks => {
            let has_none = !view.tasks.iter().any(is_over);
            has_none.then(|| "there is no task to remove".to_owned())
        }
        _ => match ui.acted_on(view)? {
            Item::Terminal(terminal) => Some(format!("{} is not a task", terminal.state.terminal.id)),
            Item::Task(task) if task.is_gone() => Some(Ui::gone_with_server(task)),
            Item::Task(task) if action == Action::RerunTask && !task.is_dead() => {
                Some(format!("{} still runs", task.id))
            }
            Item::Task(_) => None,
        },
    }
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match action {
        Action::TaskSessions => ui.open(task_sessions(view)),
        _ => ui.act_on_tasks(action, view),
    }
    Vec::new()
}

impl Ui {
    /// Asks for what an action says of the selected task, or of all.
    fn act_on_tasks(&mut self, action: Action, view: &View<'_>) {
        let selected = match self.acted_on(view) {
            Some(Item::Task(task)) => Some(task),
            _ => None,
        };
        let there = view.tasks.iter().copied().filter(|task| !task.is_gone());
        match (action, selected) {
            (Action::RerunTask, Some(task)) if task.is_dead() => {
                let request = Request::RerunTask { key: task.key.clone(), window: task.window };
                self.open(Confirm::new(format!("run {} again?", task.id), lines(&[task]), "run again", vec![request]));
            }
            (Action::PruneTasks, _) => {
                self.ask_to_kill(there.filter(|task| task.is_dead()).collect(), "remove");
            }
            _ => {}
        }
    }

    pub(super) fn ask_to_kill(&mut self, tasks: Vec<&Task>, what: &'static str) {
        let lines = lines(&tasks);
        let title = match &tasks[..] {
            [task] => format!("{what} {}?", task.id),
            tasks => format!("{what} {} tasks?", tasks.len()),
        };
        let tasks = tasks.iter().map(|task| (task.key.clone(), task.window)).collect();
        self.open(Confirm::new(title, lines, what, vec![Request::KillTasks(tasks)]));
    }

    /// Why a task takes nothing that is for agents.
    pub(super) fn why_no_agent(&self, item: Item<'_>) -> String {
        if let Item::Task(task) = item
            && task.is_gone()
        {
            return Self::gone_with_server(task);
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

    /// Why nothing can be done to a task whose server ended.
    pub(super) fn gone_with_server(task: &Task) -> String {
        format!("{} is gone with its tmux server", task.id)
    }
}

/// Each task with how it stands and what it runs, in columns.
fn lines(tasks: &[&Task]) -> Vec<String> {
    let rows = || tasks.iter().map(|task| (task.id.as_str(), task.as_status().word(), task.command()));
    let widest = |cells: usize, text: &str| cells.max(text::width(text));
    let (name, word) = rows().fold((0, 0), |(name, word), row| (widest(name, row.0), widest(word, &row.1)));
    rows().map(|row| format!("{}  {}  {}", text::padded(row.0, name), text::padded(&row.1, word), row.2)).collect()
}
