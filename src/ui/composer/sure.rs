//! The question before a prompt goes to several, or before a draft is sent that was not in view as a whole: who gets it,
//! who does not and why, and all of the text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::broadcast::{Gets, gets, lines, name};
use crate::fleet::{TerminalKey, View};
use crate::operation::When;
use crate::ui::action::Action;
use crate::ui::canvas::Canvas;
use crate::ui::footer::Hint;
use crate::ui::overlay::HitMap;
use crate::ui::reading::Paragraph;
use crate::ui::sheet::{Answers, Question, QuestionText};
use crate::ui::text;
use crate::ui::theme::{Parts, Theme};

/// What the keys are called.
const ANSWERS: Answers = Answers::yes_or("send it", &[(Action::Close, "do not send")]);

/// The question.
#[derive(Debug)]
pub(super) struct Sure {
    pub(super) when: When,
    pub(super) question: Question,
    /// What each one would get, as it was shown.
    shown: Vec<Gets>,
}

impl Sure {
    /// The question for some terminals.
    pub(super) fn new(when: When, keys: &[TerminalKey], view: &View<'_>) -> Self {
        let mut sure = Self { when, question: Question::default(), shown: Vec::new() };
        sure.shown = sure.gets(keys, view);
        sure
    }

    /// Follows what each one would get. When that changes, no key does anything for a second.
    pub(super) fn follow(&mut self, keys: &[TerminalKey], view: &View<'_>) {
        let now = self.gets(keys, view);
        if now != self.shown {
            self.shown = now;
            self.question.changed();
        }
    }

    /// Whether all of it was read.
    pub(super) fn may_send(&self, keys: &[TerminalKey], prompt: &str, view: &View<'_>) -> bool {
        self.question.hold(&self.asked(&Theme::default(), keys, prompt, view), view.now).is_none()
    }

    /// The keys worth showing.
    pub(super) fn hints(&self, keys: &[TerminalKey], prompt: &str, view: &View<'_>) -> Vec<Hint> {
        ANSWERS.hints(self.question.hold(&self.asked(&Theme::default(), keys, prompt, view), view.now))
    }

    /// Draws it over all that is above the footer.
    pub(super) fn draw(
        &mut self,
        canvas: &Canvas<'_>,
        buffer: &mut Buffer,
        keys: &[TerminalKey],
        prompt: &str,
        view: &View<'_>,
    ) -> HitMap {
        let area = Rect { height: buffer.area.height.saturating_sub(1), ..buffer.area };
        let count = self.gets(keys, view).iter().filter(|gets| !matches!(gets, Gets::Nothing(_))).count();
        let title = match keys {
            [key] => format!("send this to {}?", name(view, key)),
            _ => format!("send to {count} of {}?", text::counted(keys.len(), "terminal")),
        };
        let asked = self.asked(canvas.theme, keys, prompt, view);
        ANSWERS.draw(canvas, buffer, area, &mut self.question, (&title, &asked))
    }

    fn asked(&self, theme: &Theme, keys: &[TerminalKey], prompt: &str, view: &View<'_>) -> QuestionText {
        let Parts { text: plain, quiet, .. } = theme.parts;
        let wait = self.when == When::Ready;
        let who = lines(theme, keys, prompt, wait, view).into_iter().map(Paragraph::new);
        let told = [Paragraph::default(), Paragraph::plain("the whole text:", quiet)];
        let prompt =
            prompt.lines().map(|line| Paragraph::plain(line, plain).led_by(vec![("  ".into(), Style::default())]));
        who.chain(told).chain(prompt).collect::<Vec<_>>().into()
    }

    fn gets(&self, keys: &[TerminalKey], view: &View<'_>) -> Vec<Gets> {
        keys.iter().map(|key| gets(view, key, self.when == When::Ready)).collect()
    }
}
