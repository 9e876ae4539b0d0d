//! Opening what a row offers: the dialog of an agent, which is never answered by opening it, the composer, a line for the answer
//! to a task that asks or else its keyboard, or what happened to any other task.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::group::Group;
use crate::fleet::View;
use crate::state::TaskStatus;
use crate::time::Span;
use crate::ui::answer::TaskAnswer;
use crate::ui::composer::Composer;
use crate::ui::dialog::{DialogBox, SeveralDialogs};
use crate::ui::raw::Raw;
use crate::ui::{Action, Context, Item, Keymap, Request, RowKey, Ui};

pub(super) const GROUP: Group =
    Group { actions: &[Action::Open, Action::AllowOnce, Action::Refuse, Action::RefuseWhy], why_not, obey };

fn why_not(ui: &Ui, action: Action, view: &View<'_>) -> Option<String> {
    if !ui.marked_that_wait(view).is_empty() {
        return None;
    }
    match (action, ui.acted_on(view)?) {
        (Action::Open, Item::Terminal(terminal)) if !terminal.state.waits() => Composer::refused(terminal),
        (Action::Open, _) => None,
        (_, Item::Terminal(terminal)) if terminal.state.waits() => None,
        (_, item @ Item::Task(_)) if item.status().needs_operator() => Some(ui.why_no_agent(item)),
        (_, item) => Some(format!("{} is not asking anything", item.id())),
    }
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match (action, &ui.marked_that_wait(view)[..]) {
        (Action::Open, []) => ui.open_selected(view),
        (Action::Open, [one]) => ui.open(DialogBox::new(one, ui.cursor.slipped())),
        (Action::Open, marked) => ui.open(SeveralDialogs::new(marked)),
        (_, []) => ui.open_dialog(action, view),
        (_, [one]) => ui.open(DialogBox::meaning(one, action, None)),
        (_, marked) => ui.open(SeveralDialogs::meaning(marked, action)),
    }
    Vec::new()
}

impl Ui {
    /// Opens what the selected row offers.
    pub(super) fn open_selected(&mut self, view: &View<'_>) {
        if let Some(RowKey::Head(group)) = self.cursor.row().cloned() {
            return self.toggle_fold(&group, view);
        }
        match self.selected(view) {
            Some(Item::Task(task)) if task.status == TaskStatus::WaitingInput => {
                return match TaskAnswer::to(task) {
                    Some(line) => self.open(line),
                    None => self.open(Raw::for_task(task)),
                };
            }
            Some(Item::Task(task)) => return self.open_history(&task.key, view),
            _ => {}
        }
        let Some(terminal) = self.cursor.terminal(view) else { return };
        if terminal.state.waits() {
            self.open(DialogBox::new(terminal, self.cursor.slipped()));
        } else {
            self.compose(view);
        }
    }

    /// Opens the dialog of a terminal with what the operator means to answer; it is sent from there.
    fn open_dialog(&mut self, meant: Action, view: &View<'_>) {
        let Some(Item::Terminal(terminal)) = self.acted_on(view) else { return };
        let mut dialog = DialogBox::meaning(terminal, meant, self.cursor.slipped());
        dialog.offer_draft(&self.memory);
        self.open(dialog);
    }
}

// Keys where a yes is asked for: nothing by accident.

/// How long nothing is pressed before a question is confirmed: it may have been opened by a letter of a text, which goes on.
const NEW_QUESTION: Span = Span::from_millis(500);

impl Ui {
    /// Answers a question with a key.
    pub(super) fn key_of_question(&mut self, action: Option<Action>, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        let is_new = self.opened.is_some_and(|opened| view.now.since(opened) < NEW_QUESTION);
        match action {
            Some(Action::Accept) if is_new => {
                self.opened = Some(view.now);
                let again = Keymap::name_of(key);
                self.say(format!("nothing was done: the question is new on the screen; press {again} again"), view);
                Vec::new()
            }
            Some(action) => self.obey(action, view),
            None if key.code == KeyCode::Enter => {
                let yes = self.options.keymap.key_for(Context::Confirm, Action::Accept).unwrap_or_default();
                self.say(format!("not confirmed: press {yes} (Enter is ignored here)"), view);
                Vec::new()
            }
            // The next letters of a text close what one of them opened.
            None if key.code.as_char().is_some() => {
                let requests = self.obey(Action::Close, view);
                self.say("nothing was done".to_owned(), view);
                requests
            }
            None => self.key_of_top(key, view),
        }
    }
}
