//! Starting an agent or a task, and ending one.

use super::group::Group;
use crate::fleet::{Terminal, TerminalKey, View};
use crate::status::Status;
use crate::ui::confirm::Confirm;
use crate::ui::start::StartBox;
use crate::ui::{Action, Item, Request, Ui};

pub(super) const GROUP: Group = Group { actions: &[Action::Start, Action::End], why_not, obey };

fn why_not(ui: &Ui, action: Action, view: &View<'_>) -> Option<String> {
    if action == Action::Start {
        return None;
    }
    match ui.acted_on(view)? {
        Item::Task(task) if task.is_gone() => Some(Ui::gone_with_server(task)),
        Item::Terminal(Terminal { state, .. }) if state.is_unavailable() => {
            Some(format!("there is nothing to end: the pane of {} is gone", state.terminal.id))
        }
        _ => None,
    }
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match (action, ui.acted_on(view)) {
        (Action::Start, item) => {
            let start = StartBox::new(item.map(|item| item.key().clone()));
            let request = start.request();
            ui.open(start);
            return vec![request];
        }
        (_, Some(Item::Task(task))) => ui.ask_to_kill(vec![task], if task.is_dead() { "remove" } else { "kill" }),
        (_, Some(Item::Terminal(terminal))) => {
            let id = &terminal.state.terminal.id;
            let is_asked = terminal.prompt_hindrance().is_none();
            let request = Request::CloseAgent { key: terminal.key.clone(), asks: is_asked };
            let word = Status::of(&terminal.state).word();
            let lines = match terminal.prompt_hindrance() {
                None => vec!["It is asked to end. If it does not within 10 s, its pane is closed.".to_owned()],
                Some(why) => {
                    vec![
                        format!("It is {word}: {why}."),
                        "Its pane is closed at once, with all that runs there.".to_owned(),
                    ]
                }
            };
            ui.open(Confirm::new(format!("close {id}?"), lines, "close it", vec![request]));
        }
        _ => {}
    }
    Vec::new()
}

impl Ui {
    /// Selects a new terminal once it has a row.
    pub fn await_row(&mut self, key: TerminalKey) {
        self.awaited = Some(key);
    }

    /// Selects the row that is awaited, if it is there and nothing lies over the table.
    pub(super) fn select_awaited(&mut self, view: &View<'_>) {
        let Some(key) = self.awaited.clone().filter(|_| self.overlays.is_empty()) else { return };
        let rows = self.rows(view);
        if let Some(index) = rows.iter().position(|row| row.item().is_some_and(|item| item.key().may_be(&key))) {
            self.cursor.select(index, &rows, view.now);
            self.awaited = None;
        }
    }

    /// Offers to remove the worktree of an agent that was closed, with what git ignores there.
    pub fn offer_to_remove(&mut self, path: &str, branch: Option<&str>, ignored: &[String], view: &View<'_>) {
        if !self.overlays.is_empty() {
            let text = format!("nothing would be lost with its worktree {path}: `git worktree remove` removes it");
            return self.notify(Status::Finished, text, view.now);
        }
        let mut lines = vec!["It is clean, and its commits are on another branch or pushed.".to_owned()];
        lines.extend(branch.map(|branch| format!("Its branch {branch} stays.")));
        if !ignored.is_empty() {
            lines.push(format!("What git ignores there goes with it: {}", ignored.join(", ")));
        }
        let request = Request::RemoveWorktree { path: path.to_owned(), ignored: ignored.to_vec() };
        self.open(Confirm::new(format!("remove the worktree {path}?"), lines, "remove it", vec![request]));
    }
}
