//! Looking: into one row, at the day, at the servers, or at why.

use super::group::Group;
use crate::fleet::{TerminalKey, View};
use crate::ui::drill::Drill;
use crate::ui::lists::{copying, servers};
use crate::ui::today::Today;
use crate::ui::{Action, Item, Request, Ui};

pub(super) const GROUP: Group = Group {
    actions: &[Action::History, Action::LastAnswer, Action::Explain, Action::Copy, Action::Today, Action::Servers],
    why_not,
    obey,
};

fn why_not(ui: &Ui, action: Action, view: &View<'_>) -> Option<String> {
    match (action, ui.acted_on(view)?) {
        (Action::Explain, Item::Task(task)) => {
            let tells = ui.fleet_key(Action::History);
            Some(format!("no rules read a task; {tells} tells what happened in {}", task.id))
        }
        (Action::LastAnswer, Item::Task(task)) => {
            let shows = ui.fleet_key(Action::History);
            Some(format!("a task answers nothing; {shows} shows what {} printed", task.id))
        }
        _ => None,
    }
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match (action, ui.target()) {
        (Action::Today, _) => ui.open(Today::default()),
        (Action::Servers, _) => ui.open(servers(view, &ui.options.zone)),
        (Action::Explain, key) => return key.map(Request::Explain).into_iter().collect(),
        (Action::Copy, Some(key)) => ui.open(copying(key)),
        (Action::LastAnswer, Some(key)) => {
            if let Some(drill) = Drill::of_answer(&key, view) {
                ui.open(drill);
            }
        }
        (Action::History, _) => {
            if let Some(key) = ui.cursor.key().cloned() {
                ui.open_history(&key, view);
            }
        }
        _ => {}
    }
    Vec::new()
}

impl Ui {
    pub(super) fn open_history(&mut self, key: &TerminalKey, view: &View<'_>) {
        if let Some(drill) = Drill::of(key, view) {
            self.open(drill);
        }
    }
}
