//! The dashboard itself: its help and commands, all notices, and leaving it.

use super::group::{Group, never};
use crate::fleet::View;
use crate::status::Status;
use crate::ui::help::Help;
use crate::ui::lists::palette;
use crate::ui::{Action, Request, Topic, Ui};

pub(super) const GROUP: Group = Group {
    actions: &[Action::Help, Action::Palette, Action::MuteAll, Action::Reload, Action::Suspend, Action::Quit],
    why_not: never,
    obey,
};

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match action {
        Action::Help => ui.open(Help::new(ui.context(), &ui.hints(view))),
        Action::Palette => {
            let here: Vec<Action> = ui.fleet_hints(view).into_iter().map(|(action, _)| action).collect();
            let orders = ui.orders(view);
            ui.open(palette(&ui.options.keymap, &here, |action| ui.why_not(action, view), orders));
        }
        Action::MuteAll => return ui.toggle_notices(view),
        Action::Reload => return vec![Request::Reload, Request::Redraw],
        Action::Suspend => return vec![Request::Suspend],
        Action::Quit => return vec![Request::Quit],
        _ => {}
    }
    Vec::new()
}

impl Ui {
    fn toggle_notices(&mut self, view: &View<'_>) -> Vec<Request> {
        self.muted = !self.muted;
        let key = self.fleet_key(Action::MuteAll);
        let muted = format!("all notices are muted; {key} undoes it");
        let message = if self.muted { muted } else { "notices are on again".to_owned() };
        self.notify_about(Topic::Notices, Status::Ready, message, view.now);
        vec![Request::Note { key: None, action: if self.muted { "notices muted" } else { "notices on" } }]
    }
}
