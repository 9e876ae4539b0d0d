//! The dialog that a terminal waits in, and its options: the operator takes one, ticks several, or types a
//! text in the row of one.
//!
//! Nobody answers blind (SPEC §11): nothing is sent before all that is asked and the whole text of the chosen option
//! have been on the screen. The answer is for the dialog that was shown: it goes with the request, and the sender
//! checks it again. When a dialog changes while it is shown, the choice is cleared, and keys do nothing for a second.

mod body;
mod several;
mod state;
mod verdict;

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::prelude::{Buffer, Position, Rect};

use self::state::{Held, Shown, Stage, Typing};
use self::verdict::{NOT_SEEN, TOO_EARLY, unknown};
use super::composer::{NO_TEMPLATE, templates};
use super::memory::OverlayMemory;
use super::overlay::OverlayReply;
use super::question::{Hold, Question, QuestionText};
use super::raw::Raw;
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, LineInput, Overlay, OverlayContext, OverlayEvent, OverlayKind, Theme,
    Topic, toast,
};
use crate::dialog::{self, TextEntry};
use crate::fleet::{Terminal, View};
use crate::operation::{Act, Asked, Operation, Outcome, PasteText, Recipient, Reply};
use crate::status::Status;
use crate::time::Timestamp;
pub use several::SeveralDialogs;
pub use state::DialogBox;
pub use verdict::{meant_option, verdict_hints};

impl Shown {
    /// The readable dialog that a terminal waits with.
    fn of(terminal: &Terminal) -> Option<Self> {
        let (dialog, screen) = (terminal.dialog.as_ref()?, terminal.screen()?);
        let excerpt = terminal.state.assessment.operator_excerpt.clone().unwrap_or_default();
        let dialog = Arc::clone(dialog);
        let mut shown = Self { dialog, screen, excerpt, now: Vec::new(), before: Vec::new() };
        shown.now = shown.said();
        Some(shown)
    }
}

impl DialogBox {
    /// The dialog of a terminal, whose row may have come under the cursor by itself.
    pub fn new(terminal: &Terminal, slipped: Option<Timestamp>) -> Self {
        Self {
            key: terminal.key.clone(),
            name: String::new(),
            shown: None,
            question: Question::default(),
            ticks: Vec::new(),
            typing: None,
            reason: None,
            meant: None,
            stage: Stage::Choosing,
            has_sent: false,
            message: None,
            has_line: false,
            slipped,
            answered: None,
        }
    }

    /// Takes over what the terminal shows now, and says when it is another dialog.
    fn follow(&mut self, terminal: &Terminal) {
        self.name.clone_from(&terminal.state.terminal.id);
        let Some(mut shown) = Shown::of(terminal) else { return };
        let before = self.shown.take();
        // What is sent is typed there, row by row.
        let typed_in = self.typing.as_ref().filter(|_| self.stage == Stage::Sending).and_then(|typing| typing.option);
        let is_same = before.as_ref().is_some_and(|before| before.dialog.is_same_but_for(&shown.dialog, typed_in));
        match before {
            Some(before) if is_same => {
                shown.before = before.before;
                self.message.take_if(|_| matches!(self.stage, Stage::Closed));
                if self.stage != Stage::Sending && before.dialog.ticked() != shown.dialog.ticked() {
                    self.begin_anew(&shown.dialog, "the agent's selection changed; nothing was submitted");
                }
            }
            Some(before) => {
                shown.before = before.now;
                let has_sent = std::mem::take(&mut self.has_sent);
                self.begin_anew(
                    &shown.dialog,
                    if has_sent { "the dialog changed" } else { "the dialog changed; nothing was sent" },
                );
            }
            None => {
                let marked = Some(shown.dialog.marked.unwrap_or(0)).filter(|_| shown.dialog.can_answer());
                let meant = self.meant.take();
                let chosen = meant.map_or(marked, |answer| meant_option(&shown.dialog, answer));
                self.question = Question::with(chosen);
                self.ticks = shown.dialog.ticked();
                if let (Some(answer), None) = (meant, chosen) {
                    self.message = Some((Status::Stalled, unknown(&shown.dialog, answer)));
                }
                if meant == Some(Action::RefuseWhy) {
                    self.typing = Some(Typing { line: LineInput::default(), option: chosen });
                }
                // A dialog that just came up may not be the one that the key was meant for.
                let since = terminal.state.since().at;
                self.question.shown_since(self.slipped.map_or(since, |slipped| slipped.max(since)));
            }
        }
        // The screen may show for a moment what was answered; it is not to be answered once more.
        let is_over = is_same && self.answered.is_some_and(|since| since == terminal.state.since().at);
        if self.stage != Stage::Sending && !is_over {
            (self.stage, self.answered) = (Stage::Choosing, None);
            if let Some(typing) = &mut self.typing {
                typing.option = typing.option.filter(|option| shown.dialog.hears(*option));
            }
        }
        self.shown = Some(shown);
    }

    /// What was chosen, ticked or typed was meant for something else.
    fn begin_anew(&mut self, dialog: &dialog::Dialog, why: &str) {
        self.question.changed();
        self.ticks = dialog.ticked();
        if let Some(typing) = &mut self.typing {
            typing.option = None;
        }
        if matches!(self.stage, Stage::Choosing | Stage::Closed) {
            self.message = Some((Status::Stalled, why.to_owned()));
        }
    }

    /// Whether keys do nothing: they may have been meant for what was there before.
    pub fn is_deaf(&self, now: Timestamp) -> bool {
        self.question.is_deaf(now) || matches!(self.stage, Stage::Closed)
    }

    /// Why the key that answers would send nothing.
    fn held(&self, now: Timestamp) -> Option<Held> {
        let shown = self.shown.as_ref()?;
        match self.question.hold(&self.asked(&Theme::default()), now) {
            _ if self.types_draft() => Some(Held::Lost),
            _ if self.is_deaf(now) => Some(Held::Not(Hold::Changed)),
            _ if !shown.dialog.can_answer() => Some(Held::ChoiceError),
            Some(hold) => Some(Held::Not(hold)),
            None if self.question.chosen().is_none() => Some(Held::NothingChosen),
            None if shown.dialog.can_tick() && self.ticks.is_empty() => Some(Held::NothingTicked),
            None if self.types_nothing() && !self.is_optional(shown) => Some(Held::NothingTyped),
            None if !shown.dialog.is_whole() && !self.refuses() => Some(Held::NotWhole),
            None => None,
        }
    }

    fn asked(&self, theme: &Theme) -> QuestionText {
        let Some(shown) = &self.shown else { return QuestionText::default() };
        let typed = self.typing.as_ref().filter(|it| it.option.is_some()).map_or("", |typing| typing.line.text());
        shown.asked(self.question.chosen().filter(|_| !self.types_draft()), &self.ticks, typed, theme)
    }

    /// Whether the chosen option is one whose text is still to be typed.
    fn wants_text(&self) -> bool {
        let chosen = self.shown.as_ref().zip(self.question.chosen());
        self.typing.is_none() && chosen.is_some_and(|(shown, chosen)| shown.dialog.takes_text(chosen))
    }

    /// Whether a text is asked for, and none is typed.
    fn types_nothing(&self) -> bool {
        self.typing.as_ref().is_some_and(|typing| typing.line.text().trim().is_empty())
    }

    /// Whether the option that a text is typed for is one without it, too.
    fn is_optional(&self, shown: &Shown) -> bool {
        let option = self.typing.as_ref().and_then(|typing| typing.option);
        option.is_some_and(|option| shown.dialog.takes_text(option) && !shown.dialog.needs_text(option))
    }

    /// What would be sent.
    fn reply(&self) -> Option<Reply> {
        let (dialog, chosen) = (&self.shown.as_ref()?.dialog, self.question.chosen()?);
        Some(match &self.typing {
            Some(Typing { line, option: Some(option), .. }) if dialog.takes_text(*option) && !self.types_nothing() => {
                Reply::Text { option: *option, text: PasteText::new(line.text()).ok()? }
            }
            Some(typing) => Reply::Option(typing.option?),
            None if dialog.can_tick() => Reply::Ticks(self.ticks.clone()),
            None => Reply::Option(chosen),
        })
    }

    /// Asks for what was chosen, ticked or typed to be sent, with the dialog that it is for. Where a text is wanted,
    /// that is typed first.
    fn answer(&mut self, anyway: bool, cx: &mut OverlayContext<'_, '_>) {
        if self.types_draft() {
            return self.keep_as_draft(cx);
        }
        if self.stage != Stage::Choosing {
            return;
        }
        match self.held(cx.view.now) {
            None | Some(Held::NotWhole) if !anyway && self.wants_text() => {
                self.message = None;
                self.typing = Some(Typing { line: self.draft(cx.memory), option: self.question.chosen() });
                return;
            }
            None => {}
            Some(Held::NotWhole) if anyway => {}
            Some(Held::Not(Hold::Changed)) => return self.warn(TOO_EARLY),
            Some(Held::NotWhole) => return self.warn("nothing was sent: the agent does not show the whole question"),
            // Typed text has to be seen before it is sent, too.
            Some(Held::Not(Hold::Unread(..))) if self.typing.is_some() => return self.warn(NOT_SEEN),
            // It says below the options already why.
            Some(_) => return,
        }
        let (Some(shown), Some(reply), Some(terminal)) = (&self.shown, self.reply(), cx.terminal(&self.key)) else {
            return;
        };
        self.message = Some((Status::Working, format!("sending {} …", reply.in_words(&shown.dialog))));
        let context = terminal.state.assessment.ui_context;
        let (dialog, asked) = (Arc::clone(&shown.dialog), Asked::new(shown.excerpt.clone(), context, &shown.dialog));
        let is_reason = matches!(reply, Reply::Option(_)) && !self.types_nothing();
        self.reason = self.typing.as_ref().filter(|_| is_reason).map(|typing| typing.line.text().to_owned());
        cx.perform(Recipient::of(terminal), Act::Answer { dialog, asked, reply });
        self.stage = Stage::Sending;
    }

    /// Ticks the chosen option, or takes its tick away.
    fn tick(&mut self) {
        let chosen = self.shown.as_ref().zip(self.question.chosen()).filter(|_| self.stage == Stage::Choosing);
        let Some((option, chosen)) = chosen.and_then(|(it, chosen)| Some((it.dialog.options.get(chosen)?, chosen)))
        else {
            return;
        };
        if option.ticked.is_none() || option.takes_text == Some(TextEntry::Inline) {
            let message = format!("{} {} can only be ticked in the pane: go there", option.name, option.label);
            return self.warn(&message);
        }
        match self.ticks.binary_search(&chosen) {
            Ok(at) => drop(self.ticks.remove(at)),
            Err(at) => self.ticks.insert(at, chosen),
        }
        self.message = None;
        self.choose(Some(chosen));
    }

    fn step(&mut self, options: isize) -> Flow {
        if self.stage == Stage::Sending {
            return Flow::Stay;
        }
        let asked = self.asked(&Theme::default());
        self.message.take_if(|_| self.stage == Stage::Choosing);
        match self.shown.as_ref().map(|shown| &shown.dialog).filter(|dialog| dialog.can_answer()) {
            Some(dialog) => self.question.step(options, &asked, dialog.marked.unwrap_or(0)),
            None => self.question.step(options, &QuestionText { options: Vec::new(), ..asked }, 0),
        }
        Flow::Stay
    }

    /// The terminal's keyboard. What was read here need not be read there.
    fn raw(&self, now: Timestamp) -> Raw {
        let has_read = !matches!(self.held(now), Some(Held::Not(_) | Held::ChoiceError));
        match self.shown.as_ref().filter(|_| has_read) {
            Some(shown) => Raw::after_reading(self.key.clone(), Arc::clone(&shown.dialog)),
            None => Raw::new(self.key.clone()),
        }
    }

    fn choose(&mut self, option: Option<usize>) {
        let can_choose = self.stage != Stage::Sending;
        let can_choose = can_choose && self.shown.as_ref().is_some_and(|shown| shown.dialog.can_answer());
        if let Some(option) = option.filter(|_| can_choose) {
            let asked = self.asked(&Theme::default());
            // What was said of an earlier key is no longer about what is chosen.
            self.message.take_if(|_| self.stage == Stage::Choosing);
            self.question.choose(option, &asked);
        }
    }
}

impl Overlay for DialogBox {
    fn kind(&self) -> OverlayKind<'_> {
        let context = if self.typing.is_some() { Context::Answer } else { Context::Dialog };
        OverlayKind { terminal: Some(&self.key), ..OverlayKind::popup(context) }
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        let (next, close) = ((Action::NextWaiting, "next that needs you"), (Action::Close, "close"));
        match self.stage {
            Stage::Choosing => {}
            // No letter does anything then.
            Stage::Sending | Stage::Answered => return vec![next, close],
            Stage::Closed => return vec![close],
        }
        let held = self.held(view.now);
        let mut hints = self.ways(held);
        let dialog = self.shown.as_ref().map(|shown| &shown.dialog).filter(|_| !self.is_deaf(view.now));
        match dialog {
            Some(_) if self.typing.is_some() => hints.push((Action::Template, "template")),
            // Before all of it was read, they only choose.
            Some(_) if matches!(held, Some(Held::Not(_))) => {}
            Some(dialog) => hints.extend(verdict_hints(dialog, ["yes, once", "no"])),
            None => {}
        }
        hints.push((Action::Raw, "keys"));
        if hints.iter().all(|(action, _)| *action != Action::Jump) {
            hints.push((Action::Jump, "go there"));
        }
        hints.extend([(Action::Explain, "why"), next, (Action::Close, self.way_back())]);
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let terminal = super::find(view, &self.key);
        if self.shown.is_none()
            && let Some(terminal) = terminal
        {
            self.follow(terminal);
        }
        let title = self.title(terminal, canvas);
        self.draw_box(canvas, buffer, area, &title)
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if action == Action::Accept
            && self.typing.is_none()
            && self.shown.as_ref().is_some_and(|shown| !shown.dialog.can_answer())
        {
            // Without options there is nothing to send, and the key closes as it does elsewhere.
            return if self.is_deaf(cx.view.now) { Flow::Stay } else { Flow::Close };
        }
        match action {
            Action::Close if self.types_draft() => self.keep_as_draft(cx),
            Action::Close if self.typing.is_some() && self.stage == Stage::Choosing => {
                self.keep_as_draft(cx);
                if self.refuses() {
                    // The next Enter must not refuse: the operator has just stepped back from that.
                    self.question.unchoose();
                }
            }
            Action::Close => {
                self.send_reason(cx);
                if matches!(self.stage, Stage::Closed) {
                    self.tell_of_closing(cx);
                }
                return Flow::Close;
            }
            Action::Accept => self.answer(false, cx),
            Action::Anyway => self.answer(true, cx),
            Action::Help | Action::Explain | Action::Suspend => return Flow::Pass,
            Action::Raw => return Flow::Become(Box::new(self.raw(cx.view.now))),
            Action::AllowOnce | Action::Refuse | Action::RefuseWhy => self.answer_with(action, cx),
            Action::Template if self.typing.is_some() => match templates(&cx.options.templates, Some(&self.key)) {
                Some(picker) => return Flow::Open(Box::new(picker)),
                None => cx.say(NO_TEMPLATE),
            },
            Action::Up => return self.step(-1),
            Action::Down => return self.step(1),
            Action::Tick if self.shown.as_ref().is_some_and(|shown| shown.dialog.can_tick()) => self.tick(),
            Action::Tick => return Flow::read(self.question.view(), Action::PageDown),
            _ => return Flow::read(self.question.view(), action),
        }
        Flow::Stay
    }

    /// The dialog's own numbers and letters choose; they send nothing.
    fn key(&mut self, key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.typing.is_some() {
            self.enter(|line| line.key(key));
        } else if let KeyCode::Char(c) = key.code {
            self.choose(self.own_option(&c.to_string()));
        }
        Flow::Stay
    }

    fn tell(&mut self, why: &str) -> bool {
        self.has_line && self.tell_in_line(why)
    }

    fn paste(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match self.typing.is_none() {
            true => cx.say("pasted text is not an answer; nothing was sent"),
            false => self.enter(|line| line.paste(text)),
        }
        Flow::Stay
    }

    fn take_reply(&mut self, reply: OverlayReply, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if let OverlayReply::Text(text) = reply {
            self.enter(|line| line.paste(&text));
        }
        Flow::Stay
    }

    fn click(&mut self, at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if let Some(option) = self.question.at(at).filter(|_| self.typing.is_none()) {
            let was_chosen = self.question.chosen() == Some(option);
            self.choose(Some(option));
            if was_chosen && self.shown.as_ref().is_some_and(|shown| shown.dialog.can_tick()) {
                self.tick();
            }
        }
        Flow::Stay
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.hears_again(cx.view.now);
        if matches!(self.stage, Stage::Answered) {
            self.send_reason(cx);
        }
        let terminal = cx.terminal(&self.key);
        if let Some(terminal) = terminal.filter(|terminal| terminal.state.waits()) {
            self.follow(terminal);
            return Flow::Stay;
        }
        match self.stage {
            // What became of the answer is still to come.
            Stage::Sending => Flow::Stay,
            // What is typed there is not to be lost.
            Stage::Closed if self.typing.is_some() => Flow::Stay,
            Stage::Choosing if self.typing.as_ref().is_some_and(|typing| !typing.line.text().is_empty()) => {
                self.close_by_itself(cx);
                Flow::Stay
            }
            Stage::Choosing | Stage::Closed => {
                self.tell_of_closing(cx);
                Flow::Close
            }
            Stage::Answered => Flow::Close,
        }
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, cx: &mut OverlayContext<'_, '_>) {
        let OverlayEvent::Ended { operation: Operation { to, act: Act::Answer { .. }, .. }, outcome } = event else {
            return;
        };
        if to.key != self.key || self.stage != Stage::Sending {
            return;
        }
        let message = match outcome {
            Outcome::Accepted(_) => "taken".to_owned(),
            Outcome::Refused(refusal) => refusal.to_string(),
            outcome => outcome.to_string(),
        };
        self.message = Some((toast::outcome_status(outcome), message));
        // After an accepted answer the box closes soon.
        if !outcome.is_accepted() {
            cx.memory.toasts.retire(&Topic::Dialog(self.key.clone()));
            self.close_line(cx);
        }
        self.has_sent |= !matches!(outcome, Outcome::Refused(_));
        self.stage = if outcome.is_accepted() { Stage::Answered } else { Stage::Choosing };
        if outcome.is_accepted() {
            self.answered = cx.terminal(&self.key).map(|terminal| terminal.state.since().at);
            self.forget_draft(cx.memory);
            self.typing = None;
        }
        match outcome {
            // The text is a draft now.
            Outcome::Refused(_) | Outcome::NotTaken { .. } => self.reason = None,
            Outcome::Unverified { .. } => self.send_reason(cx),
            Outcome::Accepted(_) => {}
        }
    }
}

/// What is said of a draft that stands in the line.
const OFFERED: &str = "what you type replaces the draft; → edits it";

impl DialogBox {
    /// A line with that text, as far as it is one line. It stays kept until it was sent.
    pub(super) fn draft(&mut self, memory: &OverlayMemory) -> LineInput {
        let Some(draft) = memory.draft(Some(&self.key)).filter(|draft| LineInput::takes(&draft.text)) else {
            return LineInput::default();
        };
        self.message = Some((Status::Ready, OFFERED.to_owned()));
        LineInput::selected(&draft.text)
    }

    /// Begins the line with which the box has just opened with it.
    pub fn offer_draft(&mut self, memory: &OverlayMemory) {
        if let Some(typing) = self.typing.take_if(|typing| typing.option.is_some()) {
            self.typing = Some(Typing { line: self.draft(memory), ..typing });
        }
    }

    /// Keeps a text as the terminal's draft, in the place of one that a line begins with.
    pub(super) fn keep(&self, memory: &mut OverlayMemory, text: &str, now: Timestamp) {
        memory.drafts.retain(|key, draft| key.as_ref() != Some(&self.key) || !LineInput::takes(&draft.text));
        memory.keep_as_draft(&self.key, text, now);
    }

    /// What was typed has been sent: it is no draft any more.
    pub(super) fn forget_draft(&self, memory: &mut OverlayMemory) {
        if let Some(typing) = &self.typing {
            memory.drafts.retain(|key, draft| key.as_ref() != Some(&self.key) || draft.text != typing.line.text());
        }
    }
}
