//! The dialogs of several terminals, answered with one option that they have in common.
//!
//! What holds for one dialog holds for each of them: all of its text has been on the screen before anything is sent,
//! the dialog that was shown goes with its answer, and the sender checks it again. One that changes meanwhile is taken
//! out, which the box says; then the choice is cleared and keys do nothing for a second.

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::prelude::{Buffer, Position, Rect};

use super::state::Shown;
use super::verdict::meant_option;
use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Asked, Recipient, Refusal, Reply};
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::composer::{Fate, Outcomes};
use crate::ui::question::{Answers, Hold, Question, QuestionText};
use crate::ui::reading::Paragraph;
use crate::ui::{
    Action, Canvas, Context, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayKind, Theme, blank, field, find, span,
    text,
};

/// What the keys are called.
const ANSWERS: Answers = Answers {
    context: Context::Dialog,
    yes: (Action::Accept, "answer them"),
    others: &[(Action::Down, "choose"), (Action::Close, "close without answering")],
};

/// The same before an option is chosen.
const UNCHOSEN: Answers =
    Answers { yes: (Action::Down, "choose"), others: &[(Action::Close, "close without answering")], ..ANSWERS };

/// The answers if no dialog is left.
const NONE_LEFT: Answers = Answers { yes: (Action::Close, "close without answering"), others: &[], ..ANSWERS };

/// The dialogs of the marked terminals.
#[derive(Debug)]
pub struct SeveralDialogs {
    /// Those with the same options stand together.
    asking: Vec<Asking>,
    /// The terminals that are not answered from here, and why.
    left_out: Vec<(TerminalKey, String, String)>,
    question: Question,
}

/// A terminal that waits.
#[derive(Debug)]
struct Asking {
    key: TerminalKey,
    name: String,
    /// What kind of dialog it is, in a word.
    kind: String,
    shown: Shown,
}

/// An option by its names and its label; those of two dialogs are one where the labels are the same.
type Common = (String, String);

impl Asking {
    /// A terminal with a dialog that can be answered together with others, or why it cannot.
    fn of(terminal: &Terminal) -> Result<Self, &'static str> {
        let shown = Shown::of(terminal).ok_or("its dialog cannot be read")?;
        if !shown.dialog.can_choose() {
            return Err("it is answered in a box of its own");
        }
        if !shown.dialog.is_whole() {
            return Err("the agent does not show the whole question");
        }
        let (key, name) = (terminal.key.clone(), terminal.state.terminal.id.clone());
        Ok(Self { key, name, kind: Status::of(&terminal.state).word().into_owned(), shown })
    }

    /// The options that one key press or a few choose, without a text.
    fn options(&self) -> impl Iterator<Item = (usize, Common)> {
        let dialog = &self.shown.dialog;
        let plain = dialog.options.iter().enumerate().filter(|(place, _)| !dialog.needs_text(*place));
        plain.map(|(place, option)| (place, (option.name.clone(), option.label.clone())))
    }

    /// Where an option stands in this dialog, if it has it once.
    fn place(&self, wanted: &Common) -> Option<usize> {
        let mut places = self.options().filter(|(_, option)| option.1 == wanted.1).map(|(place, _)| place);
        places.next().filter(|_| places.next().is_none())
    }

    fn has_options_of(&self, other: &Self) -> bool {
        self.options().eq(other.options())
    }
}

impl SeveralDialogs {
    /// The dialogs of terminals that wait.
    pub fn new(terminals: &[&Terminal]) -> Self {
        let mut several = Self { asking: Vec::new(), left_out: Vec::new(), question: Question::default() };
        for terminal in terminals {
            match Asking::of(terminal) {
                Ok(asking) => {
                    let alike = several.asking.iter().rposition(|other| other.has_options_of(&asking));
                    several.asking.insert(alike.map_or(several.asking.len(), |at| at + 1), asking);
                }
                Err(why) => {
                    several.left_out.push((terminal.key.clone(), terminal.state.terminal.id.clone(), why.to_owned()))
                }
            }
        }
        several.question = Question::with(several.marked());
        // A dialog that just came up may not be the one that the key was meant for.
        several
            .question
            .shown_since(terminals.iter().map(|terminal| terminal.state.since().at).max().unwrap_or_default());
        several
    }

    /// The same with yes, or no, chosen where all of them have that.
    pub fn meaning(terminals: &[&Terminal], answer: Action) -> Self {
        let mut several = Self::new(terminals);
        several.choose(several.meant(answer));
        several
    }

    /// The option that all of the agents have marked.
    fn marked(&self) -> Option<usize> {
        let marked = |asking: &Asking| {
            let marked = asking.shown.dialog.marked?;
            asking.options().find(|(place, _)| *place == marked).map(|(_, option)| option)
        };
        let first = marked(self.asking.first()?)?;
        let is_common = self.asking.iter().all(|asking| marked(asking).is_some_and(|option| option.1 == first.1));
        self.options().iter().position(|option| is_common && option.1 == first.1)
    }

    /// All options, each once: those of most dialogs first, else in the order of the dialogs.
    fn options(&self) -> Vec<Common> {
        let mut options: Vec<Common> = Vec::new();
        for (_, (name, label)) in self.asking.iter().flat_map(Asking::options) {
            match options.iter_mut().find(|known| known.1 == label) {
                Some((names, _)) if is_one_of(&name, names) => {}
                Some((names, _)) => names.push_str(&format!("{BETWEEN}{name}")),
                None => options.push((name, label)),
            }
        }
        options.sort_by_key(|option| std::cmp::Reverse(self.count(option)));
        options
    }

    /// How many dialogs have an option.
    fn count(&self, option: &Common) -> usize {
        self.asking.iter().filter(|it| it.place(option).is_some()).count()
    }

    fn chosen(&self) -> Option<Common> {
        self.question.chosen().and_then(|chosen| self.options().into_iter().nth(chosen))
    }

    /// Takes those out whose dialogs are no longer the ones that are shown.
    fn follow(&mut self, view: &View<'_>) {
        let mut asking = std::mem::take(&mut self.asking);
        let before = asking.len();
        asking.retain_mut(|it| {
            let terminal = find(view, &it.key);
            let now = terminal.filter(|terminal| terminal.state.waits()).map(Shown::of);
            let why = match (terminal, now) {
                (_, Some(Some(now))) if it.shown.dialog.is_same(&now.dialog) && now.dialog.is_whole() => {
                    it.shown = now;
                    return true;
                }
                (None, _) => "the terminal is gone",
                (_, None) => "its dialog is closed",
                (_, Some(_)) => "its dialog changed",
            };
            self.left_out.push((it.key.clone(), it.name.clone(), why.to_owned()));
            false
        });
        self.asking = asking;
        if self.asking.len() != before {
            self.question.changed();
        }
    }

    fn title(&self) -> String {
        format!("answer {} of {} dialogs", self.asking.len(), self.asking.len() + self.left_out.len())
    }

    /// The whole text of each dialog, who gets the chosen option and who does not, and the options.
    fn asked(&self, theme: &Theme) -> QuestionText {
        let parts = &theme.parts;
        let mut lines = Vec::new();
        for (part, it) in (1..).zip(&self.asking) {
            let head = Paragraph::plain(format!("{}: {}", it.name, it.kind), parts.title);
            let said = it.shown.asked(None, &[], "", theme).text;
            lines.extend(std::iter::once(head).chain(said).map(|line| line.in_part(part)));
        }
        let stalled = theme.style(Status::Stalled);
        for (_, name, why) in &self.left_out {
            lines.push(Paragraph::plain(format!("left out: {name}, {why}"), stalled));
        }
        // Before a choice and with each one there are as many rows, so that the options stay where they are.
        let options = self.options();
        let has_rare = options.iter().any(|option| self.count(option) < self.asking.len());
        let (who, left_out) = match self.chosen() {
            None => ("an option goes to all that have it".to_owned(), "nothing is chosen yet".to_owned()),
            Some(chosen) => {
                let (label, is_got) = (&chosen.1, |it: &&Asking| it.place(&chosen).is_some());
                let (got, not): (Vec<&Asking>, Vec<&Asking>) = self.asking.iter().partition(is_got);
                let names =
                    |asking: &[&Asking]| asking.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
                let left_out = match &not[..] {
                    [] => "nobody is left out".to_owned(),
                    [one] => format!("left out: {}, it has no option {label}", one.name),
                    not => format!("left out: {}, they have no option {label}", names(not)),
                };
                (format!("{label} goes to {}", names(&got)), left_out)
            }
        };
        if has_rare {
            lines.push(Paragraph::plain(left_out, if self.chosen().is_some() { stalled } else { parts.text }));
        }
        lines.extend([Paragraph::plain(who, parts.text), Paragraph::default()]);
        let keys: Vec<String> = (0..options.len()).map(|place| own_names(place, &options)).collect();
        let widest = keys.iter().map(|keys| text::width(keys)).max().unwrap_or(0);
        let option = |(place, option): (usize, Common)| {
            let count = self.count(&option);
            let lead = vec![field(&keys[place], widest, parts.key), blank(2)];
            let of = span(format!("  {count} of {}", self.asking.len()), parts.quiet);
            let line = vec![span(option.1, parts.text), of];
            Paragraph::new(line).among_options(parts, Some(place) == self.question.chosen(), lead)
        };
        let options = options.iter().cloned().enumerate().map(option).collect();
        QuestionText { text: lines, options, picked: Vec::new() }
    }

    fn answers(&self) -> Answers {
        match self.chosen() {
            _ if self.asking.is_empty() => NONE_LEFT,
            Some(chosen) if self.count(&chosen) == 1 => Answers { yes: (Action::Accept, "answer it"), ..ANSWERS },
            Some(_) => ANSWERS,
            None => UNCHOSEN,
        }
    }

    fn hold(&self, now: Timestamp) -> Option<Hold> {
        self.question.hold(&self.asked(&Theme::default()), now)
    }

    fn choose(&mut self, option: Option<usize>) {
        if let Some(option) = option {
            let asked = self.asked(&Theme::default());
            self.question.choose(option, &asked);
        }
    }

    /// The option that says yes this once, or no, in every dialog that has it.
    fn meant(&self, answer: Action) -> Option<usize> {
        let says = |it: &Asking, option: &Common| match it.place(option) {
            Some(place) => meant_option(&it.shown.dialog, answer) == Some(place),
            None => true,
        };
        self.options().iter().position(|option| self.asking.iter().all(|it| says(it, option)))
    }

    /// Answers each dialog that has the chosen option with it.
    fn answer(&self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.hold(cx.view.now).is_some() {
            return Flow::Stay;
        }
        if self.asking.is_empty() {
            return Flow::Close;
        }
        let Some(chosen) = self.chosen() else {
            return cx.refuse("nothing is chosen; nothing was sent");
        };
        let left_out = |why: String| Fate::Ended(Refusal::Other(why).into());
        let mut terminals = Vec::new();
        for it in &self.asking {
            let progress = match (it.place(&chosen), cx.terminal(&it.key)) {
                (Some(place), Some(terminal)) => {
                    let (dialog, excerpt) = (Arc::clone(&it.shown.dialog), it.shown.excerpt.clone());
                    let asked = Asked::new(excerpt, terminal.state.assessment.ui_context, &dialog);
                    cx.perform(Recipient::of(terminal), Act::Answer { dialog, asked, reply: Reply::Option(place) });
                    cx.memory.arrangement.flags.work_on(&it.key);
                    Fate::Sending
                }
                (Some(_), None) => left_out("the terminal is gone".to_owned()),
                (None, _) => left_out(format!("it has no option {}", chosen.1)),
            };
            terminals.push((it.key.clone(), it.name.clone(), progress));
        }
        for (key, name, why) in &self.left_out {
            terminals.push((key.clone(), name.clone(), left_out(why.clone())));
        }
        Flow::Become(Box::new(Outcomes::of(None, terminals)))
    }
}

/// Separates the names of an option that differs between the dialogs.
const BETWEEN: char = '/';

fn is_one_of(name: &str, names: &str) -> bool {
    names.split(BETWEEN).any(|known| known.eq_ignore_ascii_case(name))
}

/// The names of the option at a place that none before it has: a number stands once, at the option of most dialogs.
fn own_names(place: usize, options: &[Common]) -> String {
    let is_new = |name: &&str| !options[..place].iter().any(|before| is_one_of(name, &before.0));
    let own: Vec<&str> = options[place].0.split(BETWEEN).filter(is_new).collect();
    own.join(&BETWEEN.to_string())
}

impl Overlay for SeveralDialogs {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(Context::Dialog)
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        let mut hints = self.answers().hints(self.hold(view.now));
        let verdicts = [(Action::AllowOnce, "choose yes, once"), (Action::Refuse, "choose no")];
        let choose = verdicts.into_iter().filter(|(verdict, _)| self.meant(*verdict).is_some());
        let last = hints.len().saturating_sub(1);
        hints.splice(last..last, choose.collect::<Vec<_>>());
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let (title, asked) = (self.title(), self.asked(canvas.theme));
        self.answers().draw(canvas, buffer, area, &mut self.question, (&title, &asked))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.follow(cx.view);
        match action {
            Action::Close => return Flow::Close,
            Action::Help | Action::Suspend => return Flow::Pass,
            Action::Accept => return self.answer(cx),
            Action::AllowOnce | Action::Refuse => match self.meant(action) {
                option @ Some(_) => {
                    self.choose(option);
                    let key = cx.options.keymap.key_for(Context::Dialog, Action::Accept).unwrap_or_default();
                    let (label, count) = self.chosen().map(|it| (it.1.clone(), self.count(&it))).unwrap_or_default();
                    let them = if count == 1 { "it" } else { "them" };
                    self.question.say(format!("{label} is chosen: {key} answers {them}"));
                }
                None => cx.say("nothing was sent: the profiles do not say which option that is in all of them"),
            },
            Action::Up | Action::Down => {
                let asked = self.asked(&Theme::default());
                self.question.step(if action == Action::Down { 1 } else { -1 }, &asked, 0);
            }
            Action::Tick => return Flow::read(self.question.view(), Action::PageDown),
            Action::PageUp | Action::PageDown => {
                return Flow::read(self.question.view(), action);
            }
            _ => cx.say("that is done in the box of one dialog"),
        }
        Flow::Stay
    }

    /// A name chooses the option that it stands at; it sends nothing.
    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.follow(cx.view);
        if let KeyCode::Char(c) = key.code {
            let named = self.options().iter().position(|option| is_one_of(&c.to_string(), &option.0));
            self.choose(named);
        }
        Flow::Stay
    }

    fn paste(&mut self, _text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        cx.refuse("pasted text is not an answer; nothing was sent")
    }

    fn click(&mut self, at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.choose(self.question.at(at));
        Flow::Stay
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.follow(cx.view);
        Flow::Stay
    }
}
