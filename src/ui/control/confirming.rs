//! What keys do where a yes is asked for: nothing by accident.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::fleet::View;
use crate::time::Span;
use crate::ui::{Action, Context, Keymap, Request, Ui};

/// How long nothing is pressed before a question is confirmed: it may have been opened by a letter of a text, which goes on.
const NEW_QUESTION: Span = Span::from_millis(500);

impl Ui {
    /// Answers a question with a key.
    pub(super) fn key_of_question(&mut self, action: Option<Action>, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        let is_new = self.opened.is_some_and(|opened| view.now.since(opened) < NEW_QUESTION);
        match action {
            Some(Action::Answer) if is_new => {
                self.opened = Some(view.now);
                let again = Keymap::name_of(key);
                self.say(format!("nothing was done: the question is new on the screen; press {again} again"), view);
                Vec::new()
            }
            Some(action) => self.perform(action, view),
            None if key.code == KeyCode::Enter => {
                let yes = self.options.keymap.key_for(Context::Confirm, Action::Answer).unwrap_or_default();
                self.say(format!("not confirmed: press {yes} (Enter is ignored here)"), view);
                Vec::new()
            }
            // The next letters of a text close what one of them opened.
            None if key.code.as_char().is_some() => {
                let requests = self.perform(Action::Close, view);
                self.say("nothing was done".to_owned(), view);
                requests
            }
            None => self.key_of_top(key, view),
        }
    }
}
