//! A question that is answered with yes or no, and what is asked for after a yes.

use ratatui::prelude::{Buffer, Rect, Style};

use super::kit::question::{Answers, Question, QuestionText};
use super::kit::reading::Paragraph;
use super::{Action, Canvas, Context, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayKind, Request};
use crate::fleet::{TerminalKey, View};
use crate::status::Status;

/// The question, and what is asked for when the operator says yes.
#[derive(Debug)]
pub struct Confirm {
    title: String,
    asked: QuestionText,
    answers: Answers,
    requests: Vec<Request>,
    question: Question,
}

impl Confirm {
    /// A question with what will happen, in lines; `yes` says in a word what the key does.
    pub fn new(title: String, lines: Vec<String>, yes: &'static str, requests: Vec<Request>) -> Self {
        let text: Vec<Paragraph> = lines.into_iter().map(|line| Paragraph::plain(line, Style::default())).collect();
        let answers = Answers::yes_or(yes, &[(Action::Close, "no")]);
        Self { title, asked: text.into(), answers, requests, question: Question::default() }
    }

    /// Whether it asks about tasks of which none is left.
    fn is_moot(&self, view: &View<'_>) -> bool {
        let mut tasks = self.requests.iter().flat_map(Request::tasks).peekable();
        let is_left =
            |key: &TerminalKey| view.tasks.iter().any(|task| task.key == *key && task.as_status() != Status::Gone);
        tasks.peek().is_some() && !tasks.any(is_left)
    }
}

impl Overlay for Confirm {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(Context::Confirm)
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        self.answers.hints(self.question.hold(&self.asked, view.now))
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        self.answers.draw(canvas, buffer, area, &mut self.question, (&self.title, &self.asked))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            // Its text has to be read first; the box says how.
            Action::Accept if self.question.hold(&self.asked, cx.view.now).is_some() => Flow::Stay,
            Action::Accept => {
                cx.requests.append(&mut self.requests);
                Flow::Close
            }
            _ => Flow::read(self.question.view(), action),
        }
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if !self.is_moot(cx.view) {
            return Flow::Stay;
        }
        cx.say(&format!("no task is left to {}", self.answers.yes.1));
        Flow::Close
    }
}
