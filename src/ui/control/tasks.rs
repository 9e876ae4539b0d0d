//! The questions before tasks are killed, run again or removed.

use crate::fleet::View;
use crate::task::Task;
use crate::ui::confirm::Confirm;
use crate::ui::{Action, Item, Request, Ui, text};

impl Ui {
    /// Asks for what an action says of the selected task, or of all: none of it can be taken back.
    pub(super) fn act_on_tasks(&mut self, action: Action, view: &View<'_>) {
        let selected = match self.acted_on(view) {
            Some(Item::Task(task)) => Some(task),
            _ => None,
        };
        let there = view.tasks.iter().copied().filter(|task| !task.is_gone());
        match (action, selected) {
            (Action::KillTask, Some(task)) if task.is_dead() => self.ask_to_kill(vec![task], "remove"),
            (Action::KillTask, Some(task)) => self.ask_to_kill(vec![task], "kill"),
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

    fn ask_to_kill(&mut self, tasks: Vec<&Task>, what: &'static str) {
        let lines = lines(&tasks);
        let title = match &tasks[..] {
            [task] => format!("{what} {}?", task.id),
            tasks => format!("{what} {} tasks?", tasks.len()),
        };
        let tasks = tasks.iter().map(|task| (task.key.clone(), task.window)).collect();
        self.open(Confirm::new(title, lines, what, vec![Request::KillTasks(tasks)]));
    }
}

/// Each task with how it stands and what it runs, in columns.
fn lines(tasks: &[&Task]) -> Vec<String> {
    let rows = || tasks.iter().map(|task| (task.id.as_str(), task.as_status().word(), task.command()));
    let widest = |cells: usize, text: &str| cells.max(text::width(text));
    let (name, word) = rows().fold((0, 0), |(name, word), row| (widest(name, row.0), widest(word, &row.1)));
    rows().map(|row| format!("{}  {}  {}", text::padded(row.0, name), text::padded(&row.1, word), row.2)).collect()
}
