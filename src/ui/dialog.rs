//! The dialog that a terminal waits in, as its agent drew it, and its options, of which the operator takes one.
//!
//! What is answered is the dialog that was shown: it goes with the request, and whoever sends looks again. A dialog that
//! changes while it is shown is shown anew, and is not answered by a key that was on its way to the old one.

mod body;

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::meaning::{Meaning, turn_word, waits};
use super::overlay::{Desk, Laid, News, Overlay, Then};
use super::popup::Scroll;
use super::raw::Raw;
use super::toast::Topic;
use super::{Request, Sent, times};
use crate::dialog::{self, Manner};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::moment::{Moment, Span};
use crate::screen::Screen;

/// How long a dialog that took the place of another one is not answered: a key may have been meant for the old one.
const LOOK_FIRST: Span = Span::from_secs(1);
/// How long an answered dialog that is still shown is taken for the old one.
const FOLLOW: Span = Span::from_secs(3);

/// The dialog of one terminal. It closes when the terminal no longer waits.
#[derive(Debug)]
pub struct Dialog {
    key: TerminalKey,
    shown: Option<Shown>,
    /// The option that would be sent.
    chosen: usize,
    stage: Stage,
    /// What the operator is told below the options.
    told: Option<(Meaning, String)>,
    scroll: Scroll,
    /// Where the last frame drew the options.
    places: Vec<(Rect, usize)>,
}

/// What is shown.
#[derive(Clone, Debug)]
struct Shown {
    dialog: Arc<dialog::Dialog>,
    screen: Arc<Screen>,
    /// The dialog's text, for the history.
    excerpt: String,
    /// When it took the place of another one.
    changed: Option<Moment>,
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Choosing,
    Sending,
    /// It was answered; this one is over.
    Answered(Moment),
}

impl Dialog {
    /// The dialog of a terminal.
    pub fn new(key: TerminalKey) -> Self {
        Self {
            key,
            shown: None,
            chosen: 0,
            stage: Stage::Choosing,
            told: None,
            scroll: Scroll::default(),
            places: Vec::new(),
        }
    }

    /// Takes over what the terminal shows now, and says when it is another dialog.
    fn follow(&mut self, terminal: &Terminal, now: Moment) {
        let (Some(dialog), Some(screen)) = (&terminal.dialog, &terminal.screen) else { return };
        let before = self.shown.as_ref().filter(|shown| shown.dialog.is_same(dialog));
        if matches!(self.stage, Stage::Answered(at) if before.is_some() && now.since(at) < FOLLOW) {
            return;
        }
        let is_other = before.is_none();
        let changed = match before {
            Some(before) => before.changed,
            None => self.shown.is_some().then_some(now),
        };
        if is_other {
            self.chosen = dialog.marked.unwrap_or(0);
            self.scroll = Scroll::default();
            if changed.is_some() && self.stage == Stage::Choosing {
                self.told = Some((Meaning::Stalled, "the dialog changed, nothing was sent".to_owned()));
            }
        }
        if self.stage != Stage::Sending {
            self.stage = Stage::Choosing;
        }
        let excerpt = terminal.state.assessment.operator_excerpt.clone().unwrap_or_default();
        let (dialog, screen) = (Arc::clone(dialog), Arc::clone(screen));
        self.shown = Some(Shown { dialog, screen, excerpt, changed });
    }

    /// Asks for the chosen option to be sent, with the dialog that it was chosen from.
    fn answer(&mut self, desk: &mut Desk<'_, '_>) {
        let Some(shown) = self.shown.as_ref().filter(|_| self.stage == Stage::Choosing) else { return };
        let Some(option) = shown.dialog.options.get(self.chosen).filter(|_| shown.dialog.can_choose()) else { return };
        if shown.changed.is_some_and(|at| desk.view.now.since(at) < LOOK_FIRST) {
            let told = "the dialog changed just now, nothing was sent; look at it first".to_owned();
            self.told = Some((Meaning::Stalled, told));
            return;
        }
        desk.ask(Request::Answer {
            key: self.key.clone(),
            dialog: Arc::clone(&shown.dialog),
            excerpt: shown.excerpt.clone(),
            option: self.chosen,
        });
        self.stage = Stage::Sending;
        self.told = Some((Meaning::Working, format!("sending {} {} …", option.name, option.label)));
    }

    fn step(&mut self, options: isize) -> Then {
        match self.shown.as_ref().map_or(0, |shown| shown.dialog.options.len()) {
            0 => self.scroll.step(options),
            count => self.chosen = self.chosen.saturating_add_signed(options).min(count - 1),
        }
        Then::Stay
    }

    fn can_choose(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.dialog.can_choose())
    }
}

impl Overlay for Dialog {
    fn context(&self) -> Context {
        Context::Dialog
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        let mut hints = Vec::new();
        if self.can_choose() {
            hints.extend([(Action::Answer, "answer"), (Action::Down, "choose")]);
        }
        hints.extend([
            (Action::Raw, "keys"),
            (Action::Jump, "go there"),
            (Action::Explain, "why"),
            (Action::NextWaiting, "next for you"),
            (Action::Close, "close"),
        ]);
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Laid {
        let terminal = super::find(view, &self.key);
        if self.shown.is_none()
            && let Some(terminal) = terminal
        {
            self.follow(terminal, view.now);
        }
        let title = terminal.map_or_else(|| "the terminal is gone".to_owned(), |terminal| title(terminal, canvas));
        let Some(shown) = &self.shown else { return Laid::default() };
        let body = body::Body { shown, chosen: self.chosen, told: self.told.as_ref(), title: &title };
        let drawn = body.draw(canvas, buffer, area, &mut self.scroll);
        self.places = drawn.options;
        drawn.laid
    }

    fn perform(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Answer if self.can_choose() => self.answer(desk),
            // Without options there is nothing to send, and the key closes as it does elsewhere.
            Action::Answer => return Then::Close,
            Action::Raw => return Then::Become(Box::new(Raw::new(self.key.clone()))),
            Action::Up => return self.step(-1),
            Action::Down => return self.step(1),
            _ => return self.scroll.perform(action),
        }
        Then::Stay
    }

    /// The dialog's own numbers and letters choose; they send nothing.
    fn key(&mut self, key: KeyEvent, _desk: &mut Desk<'_, '_>) -> Then {
        if let (KeyCode::Char(c), Some(shown)) = (key.code, &self.shown) {
            let named = |option: &dialog::Choice| option.name.eq_ignore_ascii_case(&c.to_string());
            if let Some(option) = shown.dialog.options.iter().position(named) {
                self.chosen = option;
            }
        }
        Then::Stay
    }

    fn click(&mut self, at: Position, _desk: &mut Desk<'_, '_>) -> Then {
        if let Some((_, option)) = self.places.iter().find(|(place, _)| place.contains(at)) {
            self.chosen = *option;
        }
        Then::Stay
    }

    fn update(&mut self, desk: &mut Desk<'_, '_>) -> Then {
        let terminal = desk.terminal(&self.key);
        if let Some(terminal) = terminal.filter(|terminal| waits(&terminal.state)) {
            self.follow(terminal, desk.view.now);
            return Then::Stay;
        }
        match self.stage {
            // What became of the answer is still to come.
            Stage::Sending => Then::Stay,
            Stage::Answered(_) => Then::Close,
            Stage::Choosing => {
                let name = terminal.map_or("the terminal", |terminal| terminal.state.terminal.id.as_str());
                let told = format!("the dialog of {name} is closed");
                desk.tell_about(Topic::Dialog(self.key.clone()), Meaning::Ready, told);
                Then::Close
            }
        }
    }

    fn hear(&mut self, news: News<'_>, desk: &mut Desk<'_, '_>) {
        let News::Answered { key, sent } = news else { return };
        if *key != self.key || self.stage != Stage::Sending {
            return;
        }
        self.stage = match sent {
            Sent::Accepted => Stage::Answered(desk.view.now),
            Sent::NotTaken { .. } | Sent::Refused { .. } => Stage::Choosing,
        };
        self.told = match sent {
            Sent::Accepted => Some((Meaning::Finished, "taken".to_owned())),
            Sent::NotTaken { why } => Some((Meaning::Failed, format!("not taken: {why}"))),
            Sent::Refused { why, .. } => Some((Meaning::Failed, why.clone())),
        };
    }
}

fn title(terminal: &Terminal, canvas: &Canvas<'_>) -> String {
    let state = &terminal.state;
    let since = times::running(canvas.now.since(state.turn.since));
    format!("{}: {} for {since}", state.terminal.id, turn_word(state))
}

/// What is pressed for an option, in words, or why there is none to press.
fn sends(dialog: &dialog::Dialog, chosen: usize) -> String {
    match dialog.manner {
        Manner::Several => "several options can be ticked here; answer with keys, or there".to_owned(),
        _ if !dialog.can_choose() => "it has no options that can be read; answer with keys, or there".to_owned(),
        Manner::Letters => format!("sends: {}, and Enter where it waits for it", dialog.options[chosen].name),
        _ => format!("sends: {}", dialog::in_words(&dialog.presses(chosen))),
    }
}
