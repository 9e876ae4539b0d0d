//! A question that must be answered with a key of its own before something happens.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Request;
use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::overlay::{Flow, HitMap, Overlay, OverlayContext};
use super::reading::Paragraph;
use super::sheet::{Answers, Question, QuestionText};
use crate::fleet::View;

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
}

impl Overlay for Confirm {
    fn context(&self) -> Context {
        Context::Confirm
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        self.answers.hints(self.question.hold(&self.asked, view.now))
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        self.answers.draw(canvas, buffer, area, &mut self.question, (&self.title, &self.asked))
    }

    fn perform(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            // What it does has to be read first; the box says how.
            Action::Confirm if self.question.hold(&self.asked, desk.view.now).is_some() => Flow::Stay,
            Action::Confirm => {
                desk.requests.append(&mut self.requests);
                Flow::Close
            }
            _ => self.question.perform(action),
        }
    }
}
