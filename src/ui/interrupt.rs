//! Interrupting agents: which key goes to which agent, and only once the operator has read that and confirmed it.

use std::sync::Arc;

use ratatui::prelude::{Buffer, Position, Rect};

use super::question::{Answers, Hold, Question, QuestionText};
use super::reading::Paragraph;
use super::toast::spoken_all;
use super::{Action, Canvas, Context, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayKind, Theme, text};
use crate::dialog::Dialog;
use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Key, Recipient, interrupt};
use crate::status::Status;
use crate::time::Timestamp;

/// What is said of an agent that asks something.
const DIALOG_ENDS: &str = "its dialog ends with the turn";

/// What the keys are called.
const ANSWERS: Answers = Answers {
    context: Context::Confirm,
    yes: (Action::Accept, "interrupt"),
    others: &[(Action::Down, "another key"), (Action::Close, "do nothing")],
};
/// The same where only the agent's own key is shown.
const FOLDED: Answers = Answers { others: &[(Action::Down, "other keys"), (Action::Close, "do nothing")], ..ANSWERS };

/// The question which key to press, in one terminal or in several.
#[derive(Debug)]
pub struct Interrupt {
    keys: Vec<TerminalKey>,
    /// What can be pressed, by tmux's names, and what it does.
    choices: Vec<(Vec<Key>, String)>,
    /// Other keys, folded away until asked for: the profiles say which one is right.
    folded: Vec<(Vec<Key>, String)>,
    /// What the terminals are said to do, as it was shown.
    shown: Vec<ShownTerminal>,
    /// Terminals that get no key, and why.
    left_out: Vec<String>,
    question: Question,
}

/// What is shown of a terminal that a key would go to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ShownTerminal {
    message: String,
    dialog: Option<Arc<Dialog>>,
}

impl ShownTerminal {
    fn of(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let draft = if interrupt::has_draft(terminal) { ", with a draft" } else { "" };
        let message = format!("{} ({}{draft})", state.terminal.id, Status::of(state).word());
        Self { message, dialog: terminal.dialog.clone().filter(|_| state.waits()) }
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_dialog = match (&self.dialog, &other.dialog) {
            (Some(one), Some(other)) => one.is_same(other),
            (None, None) => true,
            _ => false,
        };
        self.message == other.message && same_dialog
    }
}

impl Interrupt {
    /// The question for terminals, which says of others why they are left out.
    pub fn new(terminals: &[&Terminal], left_out: Vec<String>) -> Self {
        let mut choices = terminals.first().map(|terminal| interrupt::choices(terminal)).unwrap_or_default();
        for terminal in terminals.iter().skip(1) {
            // Of several agents only what does the same in all of them.
            let others = interrupt::choices(terminal);
            choices.retain(|(keys, _)| others.iter().any(|(other, _)| other == keys));
        }
        let is_own = |keys: &[Key]| terminals.iter().all(|terminal| interrupt::own(terminal) == keys);
        let is_sure = choices.first().is_some_and(|(keys, _)| !keys.is_empty() && is_own(keys));
        let folded = if is_sure { choices.split_off(1) } else { Vec::new() };
        if let (true, Some((_, note))) = (is_sure && terminals.len() > 1, choices.first_mut()) {
            "stops their turns".clone_into(note);
        }
        Self {
            keys: terminals.iter().map(|terminal| terminal.key.clone()).collect(),
            choices,
            folded,
            shown: terminals.iter().map(|terminal| ShownTerminal::of(terminal)).collect(),
            left_out,
            question: Question::with(Some(0)),
        }
    }

    /// Takes over what the terminals do now. When that changes, nothing is chosen any more, and keys do nothing for a
    /// second.
    fn follow(&mut self, view: &View<'_>) {
        let now: Vec<ShownTerminal> = (self.keys.iter().zip(&self.shown))
            .map(|(key, before)| super::find(view, key).map_or_else(|| before.clone(), ShownTerminal::of))
            .collect();
        if now.iter().zip(&self.shown).any(|(now, before)| !now.is_same(before)) {
            self.question.changed();
        }
        self.shown = now;
    }

    fn title(&self) -> String {
        match &self.shown[..] {
            [one] if self.left_out.is_empty() => format!("interrupt {}?", one.message),
            several => format!("interrupt {}?", text::counted(several.len(), "terminal")),
        }
    }

    /// Whom it goes to, where that does not stand in the title, and the keys.
    fn asked(&self, theme: &Theme) -> QuestionText {
        let parts = &theme.parts;
        let left_out = self.left_out.iter().map(|why| format!("left out: {why}"));
        let message: Vec<String> = match &self.shown[..] {
            [one] if self.left_out.is_empty() => one.dialog.iter().map(|_| DIALOG_ENDS.to_owned()).collect(),
            several => {
                let told = |shown: &ShownTerminal| match shown.dialog {
                    Some(_) => format!("{}: {DIALOG_ENDS}", shown.message),
                    None => shown.message.clone(),
                };
                several.iter().map(told).chain(left_out).chain([String::new()]).collect()
            }
        };
        let widest = self.choices.iter().map(|(keys, _)| text::width(&spoken_all(keys))).max().unwrap_or(0);
        let option = |(place, (keys, note)): (usize, &(Vec<Key>, String))| {
            let line = format!("{:<widest$}   {note}", spoken_all(keys));
            Paragraph::plain(line, parts.text).among_options(parts, Some(place) == self.question.chosen(), Vec::new())
        };
        QuestionText {
            text: message.into_iter().map(|message| Paragraph::plain(message, parts.text)).collect(),
            options: self.choices.iter().enumerate().map(option).collect(),
            picked: Vec::new(),
        }
    }

    fn answers(&self) -> Answers {
        if self.folded.is_empty() { ANSWERS } else { FOLDED }
    }

    /// Presses what is chosen, once it was read.
    fn press(&self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let chosen = self.question.chosen().filter(|_| self.hold(cx.view.now).is_none());
        let Some((keys, _)) = chosen.and_then(|chosen| self.choices.get(chosen)) else { return Flow::Stay };
        for (key, shown) in self.keys.iter().zip(&self.shown) {
            let Some(terminal) = cx.terminal(key) else { continue };
            let act = Act::Interrupt { keys: keys.clone(), dialog: shown.dialog.clone() };
            cx.perform(Recipient::as_shown(terminal), act);
        }
        Flow::Close
    }

    /// Why no key is pressed yet.
    fn hold(&self, now: Timestamp) -> Option<Hold> {
        self.question.hold(&self.asked(&Theme::default()), now)
    }
}

impl Overlay for Interrupt {
    fn kind(&self) -> OverlayKind<'_> {
        let terminal = self.keys.first().filter(|_| self.keys.len() == 1);
        OverlayKind { terminal, ..OverlayKind::popup(Context::Confirm) }
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        let hold = self.hold(view.now);
        let mut hints = self.answers().hints(hold);
        if hold.is_none() && self.question.chosen().is_none() {
            hints.remove(0);
        }
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let is_queued = self.keys.iter().any(|key| canvas.memory.queued.contains_key(key));
        let next = if is_queued { " The prompt that is queued follows" } else { "" };
        let (title, asked) = (self.title() + next, self.asked(canvas.theme));
        self.answers().draw(canvas, buffer, area, &mut self.question, (&title, &asked))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.follow(cx.view);
        let asked = self.asked(&Theme::default());
        match action {
            Action::Close => return Flow::Close,
            Action::Accept => return self.press(cx),
            _ if self.question.is_deaf(cx.view.now) => {}
            // The first key that goes on shows the others, and leaves the choice where it is.
            Action::Down if !self.folded.is_empty() => self.choices.append(&mut self.folded),
            Action::Down => self.question.step(1, &asked, 0),
            Action::Up => self.question.step(-1, &asked, 0),
            _ => return Flow::read(self.question.view(), action),
        }
        Flow::Stay
    }

    /// Pressing takes the key; a click only chooses it.
    fn click(&mut self, at: Position, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let asked = self.asked(&Theme::default());
        if let Some(option) = self.question.at(at).filter(|_| !self.question.is_deaf(cx.view.now)) {
            self.question.choose(option, &asked);
        }
        Flow::Stay
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.follow(cx.view);
        Flow::Stay
    }
}
