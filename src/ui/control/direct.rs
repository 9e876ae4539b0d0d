//! Going to a terminal oneself: with every key, with one that interrupts, or in tmux.

use super::group::{Group, NOTHING_SELECTED};
use crate::fleet::{Terminal, View};
use crate::operation::interrupt;
use crate::ui::interrupt::Interrupt;
use crate::ui::raw::Raw;
use crate::ui::{Action, Item, Request, Ui};

pub(super) const GROUP: Group = Group { actions: &[Action::Raw, Action::Interrupt, Action::Jump], why_not, obey };

fn why_not(ui: &Ui, action: Action, view: &View<'_>) -> Option<String> {
    if action == Action::Interrupt {
        return ui.why_nothing_stops(view);
    }
    let is_raw = action == Action::Raw;
    match ui.acted_on(view)? {
        Item::Terminal(Terminal { state, .. }) if state.is_unavailable() && is_raw => {
            Some(format!("{} takes no keys: its pane is gone", state.terminal.id))
        }
        Item::Terminal(Terminal { state, .. }) if state.is_unavailable() => {
            Some(format!("there is nowhere to go: the pane of {} is gone", state.terminal.id))
        }
        Item::Task(task) if task.is_gone() => Some(Ui::gone_with_server(task)),
        Item::Task(task) if task.is_dead() && is_raw => Some(format!("{} has ended", task.id)),
        _ => None,
    }
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match (action, ui.acted_on(view)) {
        (Action::Raw, Some(Item::Terminal(terminal))) => ui.open(Raw::new(terminal.key.clone())),
        (Action::Raw, Some(Item::Task(task))) => ui.open(Raw::for_task(task)),
        (Action::Interrupt, _) => ui.interrupt(view),
        (Action::Jump, _) => {
            let key = ui.target();
            key.iter().for_each(|key| ui.memory.bells.mark_seen(key));
            return key.map(Request::Jump).into_iter().collect();
        }
        _ => {}
    }
    Vec::new()
}

impl Ui {
    /// Asks which key is to stop the selected agent or all that are marked.
    fn interrupt(&mut self, view: &View<'_>) {
        let together = self.acted_on_together(view);
        if together.len() > 1 {
            let (mut agents, mut left_out): (Vec<&Terminal>, Vec<String>) = (Vec::new(), Vec::new());
            for item in together {
                match item {
                    Item::Terminal(terminal) => match interrupt::needless(terminal) {
                        None => agents.push(terminal),
                        Some(needless) => left_out.push(needless),
                    },
                    Item::Task(task) => left_out.push(format!("{} is a task", task.id)),
                }
            }
            return self.open(Interrupt::new(&agents, left_out));
        }
        let Some(Item::Terminal(terminal)) = self.acted_on(view) else { return };
        self.open(Interrupt::new(&[terminal], Vec::new()));
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
