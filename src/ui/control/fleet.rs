//! The table has the keyboard: moving in it, and opening what lies over it.

use crate::fleet::View;
use crate::state::Attention;
use crate::ui::action::Action;
use crate::ui::composer::Composer;
use crate::ui::dialog::Dialog;
use crate::ui::footer::Hint;
use crate::ui::keymap::Context;
use crate::ui::meaning::{Meaning, waits};
use crate::ui::palette::Palette;
use crate::ui::{Below, Request, Ui};

impl Ui {
    /// The keys worth showing while the table has the keyboard.
    pub(super) fn fleet_hints(&self, view: &View<'_>) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        if let Some(terminal) = self.cursor.terminal(view) {
            if waits(&terminal.state) {
                hints.push((Action::Open, "dialog"));
            } else {
                hints.push((Action::Prompt, "prompt"));
            }
            hints.push((Action::Jump, "jump"));
            hints.push((Action::Explain, "why"));
        }
        if view.terminals.iter().any(|terminal| terminal.state.attention != Attention::None) {
            hints.push((Action::NextWaiting, "next for you"));
        }
        if self.drawn.one_pane && !view.terminals.is_empty() {
            let other = if self.below == Below::Preview { "transitions" } else { "screen" };
            hints.push((Action::SwitchPane, other));
        }
        hints.extend([(Action::Palette, "commands"), (Action::Quit, "quit"), (Action::Help, "help")]);
        hints
    }

    /// Does what an action says of the table.
    pub(super) fn perform_in_fleet(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        let page = isize::try_from(self.drawn.page.max(1)).unwrap_or(isize::MAX);
        match action {
            Action::Up => self.cursor.step(-1, view),
            Action::Down => self.cursor.step(1, view),
            Action::PageUp => self.cursor.step(-page, view),
            Action::PageDown => self.cursor.step(page, view),
            Action::First => self.cursor.step(isize::MIN, view),
            Action::Last => self.cursor.step(isize::MAX, view),
            Action::NextWaiting => self.step_to_waiting(true, view),
            Action::PreviousWaiting => self.step_to_waiting(false, view),
            Action::Open => self.open_selected(view),
            Action::Prompt => self.compose(view),
            Action::Palette => self.open(Palette::new(&self.options.keymap)),
            Action::SwitchPane => {
                self.below = match self.below {
                    Below::Preview => Below::Transitions,
                    Below::Transitions => Below::Preview,
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Opens what the selected terminal offers: its dialog, which is never answered by opening it, or the composer.
    pub(super) fn open_selected(&mut self, view: &View<'_>) {
        let Some(terminal) = self.cursor.terminal(view) else { return };
        if waits(&terminal.state) {
            self.open(Dialog::new(terminal.key.clone()));
        } else {
            self.compose(view);
        }
    }

    fn compose(&mut self, view: &View<'_>) {
        let Some(terminal) = self.cursor.terminal(view) else { return };
        let draft = self.memory.drafts.get(&terminal.key).map_or("", String::as_str);
        self.open(Composer::new(terminal.key.clone(), draft));
    }

    /// From a dialog it goes on to what the next terminal waits for.
    fn step_to_waiting(&mut self, forward: bool, view: &View<'_>) {
        if !self.cursor.step_to_waiting(forward, view) {
            self.notify(Meaning::Ready, "nothing needs you".to_owned(), view.now);
        } else if self.context() == Context::Dialog {
            self.overlays.pop();
            self.open_selected(view);
        }
    }
}
