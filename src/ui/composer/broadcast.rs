//! Who gets a prompt: what stands in its way; with several agents, who will get it, who will not and why, the
//! question before it is sent, and each outcome.

use ratatui::prelude::{Buffer, Line, Rect};

use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Operation, Outcome, Recipient, Refusal, When};
use crate::status::{Hindrance, Status};
use crate::ui::overlay::OverlayReply;
use crate::ui::question::{Answers, Hold, Question, QuestionText};
use crate::ui::reading::Paragraph;
use crate::ui::theme::Parts;
use crate::ui::{
    Action, Canvas, Context, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayEvent, OverlayKind, Theme, Topic,
    Viewport, blank, field, find, frame, line, span, text, toast,
};

/// One terminal, or several that get the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    One(TerminalKey),
    Several(Vec<TerminalKey>),
}

impl Recipients {
    /// The one terminal, if it is one.
    pub fn one(&self) -> Option<&TerminalKey> {
        match self {
            Recipients::One(key) => Some(key),
            Recipients::Several(_) => None,
        }
    }

    /// All of them, in the order in which they were named.
    pub fn keys(&self) -> &[TerminalKey] {
        match self {
            Recipients::One(key) => std::slice::from_ref(key),
            Recipients::Several(keys) => keys,
        }
    }
}

/// What keeps a prompt from a terminal now; `None` when it would be sent.
pub fn hindrance(view: &View<'_>, key: &TerminalKey) -> Option<Hindrance> {
    find(view, key).map_or(Some(Hindrance::Gone), Terminal::prompt_hindrance)
}

/// The rows from which on a list of terminals that goes on says more than all names in two lines.
const LIST: usize = 6;

/// The widest name that the others are put in line with.
const NAME_MOST: usize = 24;

/// What a terminal would get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gets {
    Now,
    WhenReady(Hindrance),
    Nothing(Hindrance),
    /// It would get it later, for what keeps it from there now, but no prompt can wait, and why not.
    CannotWait(Option<Hindrance>, &'static str),
}

/// The words for each of [`Gets`], in its colour.
const NOW: (Status, &str) = (Status::Ready, "now");
const WHEN_READY: (Status, &str) = (Status::Working, "when ready");
const NOT: (Status, &str) = (Status::Failed, "not");

impl Gets {
    const fn in_words(self) -> (Status, &'static str) {
        match self {
            Gets::Now => NOW,
            Gets::WhenReady(_) => WHEN_READY,
            Gets::Nothing(_) | Gets::CannotWait(..) => NOT,
        }
    }

    /// Why it does not get it now, or not at all.
    pub fn why(self) -> Option<String> {
        match self {
            Gets::Now => None,
            Gets::WhenReady(why) | Gets::Nothing(why) => Some(why.to_string()),
            Gets::CannotWait(Some(why), cannot_wait) => Some(format!("{why}, and {cannot_wait}")),
            Gets::CannotWait(None, cannot_wait) => Some(cannot_wait.to_owned()),
        }
    }
}

/// How a prompt is to be sent: when, and why none can wait, where none can.
#[derive(Clone, Copy, Debug)]
pub struct SendWay {
    pub when: When,
    pub cannot_wait: Option<&'static str>,
}

/// What a terminal would get: now, or later if it cannot take a prompt yet and prompts can wait there.
pub fn gets(view: &View<'_>, key: &TerminalKey, SendWay { when, cannot_wait }: SendWay) -> Gets {
    match (hindrance(view, key), cannot_wait) {
        (None, Some(why)) if when == When::Ready => Gets::CannotWait(None, why),
        (None, _) => Gets::Now,
        (Some(hindrance), _) if when == When::Anyway && hindrance.may_insist() => Gets::Now,
        (Some(hindrance), None) if when != When::Anyway && hindrance.may_pass() => Gets::WhenReady(hindrance),
        (Some(hindrance), Some(why)) if when != When::Anyway && hindrance.may_pass() => {
            Gets::CannotWait(Some(hindrance), why)
        }
        (Some(hindrance), _) => Gets::Nothing(hindrance),
    }
}

/// Why a prompt that is sent so reaches none of these; `None` where it reaches one.
pub fn reaches_nobody(keys: &[TerminalKey], way: SendWay, view: &View<'_>) -> Option<String> {
    let why_not = |key: &TerminalKey| {
        let gets = gets(view, key, way);
        (gets.in_words() == NOT).then(|| format!("{}: {}", name(view, key), gets.why().unwrap_or_default()))
    };
    let whys: Option<Vec<String>> = keys.iter().map(why_not).collect();
    whys.map(|whys| format!("nobody would get it: {}", whys.join("; ")))
}

/// Draws the list beside the prompt.
pub fn draw_preview(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    keys: &[TerminalKey],
    (text, way): (&str, SendWay),
    view: &View<'_>,
) {
    let parts = &canvas.theme.parts;
    let now = keys.iter().filter(|key| gets(view, key, way) == Gets::Now).count();
    let title = format!("{now} of {} would get it now", keys.len());
    let area = frame::titled(canvas, buffer, area, vec![span(title, parts.title)]);
    let mut lines = lines(canvas.theme, keys, (text, way), view);
    let room = usize::from(area.height);
    if lines.len() > room && room < LIST {
        lines = in_brief(canvas, keys, way, usize::from(area.width.saturating_sub(2)), view);
    } else if lines.len() > room {
        let more = format!("and {} more", lines.len() + 1 - room);
        lines.truncate(room - 1);
        lines.push(span(more, parts.quiet).into());
    }
    let inner = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
    line::draw_all(buffer, inner, lines);
}

/// Who would get it now, later and not at all, in a line each.
fn in_brief(
    canvas: &Canvas<'_>,
    keys: &[TerminalKey],
    way: SendWay,
    cells: usize,
    view: &View<'_>,
) -> Vec<Line<'static>> {
    let line = |(status, word)| {
        let of_it = |key: &&TerminalKey| gets(view, key, way).in_words() == (status, word);
        let names: Vec<String> = keys.iter().filter(of_it).map(|key| name(view, key)).collect();
        if names.is_empty() {
            return None;
        }
        let message = format!("{word} {}  ", names.len());
        let names = text::cut(&names.join(", "), cells.saturating_sub(text::width(&message))).into_owned();
        Some(vec![span(message, canvas.theme.style(status)), span(names, canvas.theme.parts.text)].into())
    };
    [NOW, WHEN_READY, NOT].into_iter().filter_map(line).collect()
}

/// Who gets it and who does not, in a line each.
fn lines(theme: &Theme, keys: &[TerminalKey], (prompt, way): (&str, SendWay), view: &View<'_>) -> Vec<Line<'static>> {
    let parts = &theme.parts;
    let names = keys.iter().map(|key| text::width(&name(view, key))).max().unwrap_or(0).min(NAME_MOST);
    let line = |key: &TerminalKey| {
        let name = text::padded(&name(view, key), names);
        let gets = gets(view, key, way);
        let ((status, word), why) = (gets.in_words(), gets.why());
        let taken =
            find(view, key).and_then(|terminal| terminal.input.taken(prompt)).filter(|_| status != Status::Failed);
        let why = taken.into_iter().chain(why).collect::<Vec<_>>().join(", ");
        let style = theme.style(status);
        let (word, name) = (span(format!("{word:<10}  "), style), span(format!("{name}  "), parts.text));
        vec![word, name, span(why, parts.quiet)].into()
    };
    keys.iter().map(line).collect()
}

/// Asks whether to send the prompt to all that would get it, and shows each outcome so far.
pub fn send(keys: &[TerminalKey], text: &str, cx: &mut OverlayContext<'_, '_>) -> Outcomes {
    cx.memory.untaken = keys.iter().cloned().collect();
    let way = SendWay { when: When::Now, cannot_wait: cx.memory.cannot_wait };
    let mut terminals = Vec::new();
    for key in keys {
        let gets = gets(cx.view, key, way);
        let mut perform = |when| {
            if let Some(terminal) = cx.terminal(key) {
                cx.perform(Recipient::of(terminal), Act::Prompt { text: text.to_owned(), when });
            }
        };
        let progress = match gets {
            Gets::Now => {
                perform(When::Now);
                cx.memory.arrangement.flags.work_on(key);
                Fate::Sending
            }
            Gets::WhenReady(_) => {
                perform(When::Ready);
                cx.memory.arrangement.flags.unmark(key);
                Fate::Queued
            }
            Gets::Nothing(why) => Fate::Ended(Refusal::from(why).into()),
            Gets::CannotWait(..) => Fate::Ended(Refusal::Other(gets.why().unwrap_or_default()).into()),
        };
        terminals.push((key.clone(), name(cx.view, key), progress));
    }
    Outcomes::of(Some(text.to_owned()), terminals)
}

fn name(view: &View<'_>, key: &TerminalKey) -> String {
    find(view, key).map_or_else(|| key.pane.to_string(), |terminal| terminal.state.terminal.id.clone())
}

/// The question before a prompt goes to several, or before a draft is sent that was not in view as a whole: who gets
/// it, who does not and why, and all of the text. What opened it takes [`OverlayReply::Yes`].
#[derive(Debug)]
pub struct SendQuestion {
    to: Recipients,
    prompt: String,
    way: SendWay,
    /// Why one key is not enough, where that is not plain.
    why: Option<&'static str>,
    question: Question,
    /// What each one would get, as it was shown.
    shown: Vec<Gets>,
}

/// What the keys are called.
const ANSWERS: Answers = Answers::yes_or("send it", &[(Action::Close, "do not send")]);

impl SendQuestion {
    /// The question for some terminals.
    pub fn new(to: Recipients, prompt: String, way: SendWay, why: Option<&'static str>, view: &View<'_>) -> Self {
        let mut question = Self { to, prompt, way, why, question: Question::default(), shown: Vec::new() };
        question.shown = question.gets(view);
        question
    }

    /// Follows what each one would get. When that changes, no key does anything for a second.
    fn follow(&mut self, view: &View<'_>) {
        let now = self.gets(view);
        if now != self.shown {
            self.shown = now;
            self.question.changed();
        }
    }

    fn asked(&self, theme: &Theme, view: &View<'_>) -> QuestionText {
        let Parts { text: plain, quiet, .. } = theme.parts;
        let why = self.why.iter().flat_map(|why| [Paragraph::plain(*why, plain), Paragraph::default()]);
        let who = lines(theme, self.to.keys(), (&self.prompt, self.way), view).into_iter().map(Paragraph::new);
        let message = [Paragraph::default(), Paragraph::plain("the whole text:", quiet)];
        let indented = |line| Paragraph::plain(line, plain).led_by(blank(2));
        why.chain(who).chain(message).chain(self.prompt.lines().map(indented)).collect::<Vec<_>>().into()
    }

    fn gets(&self, view: &View<'_>) -> Vec<Gets> {
        self.to.keys().iter().map(|key| gets(view, key, self.way)).collect()
    }

    fn hold(&self, view: &View<'_>) -> Option<Hold> {
        self.question.hold(&self.asked(&Theme::default(), view), view.now)
    }
}

impl Overlay for SendQuestion {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(Context::Confirm)
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        ANSWERS.hints(self.hold(view))
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let count = self.gets(view).iter().filter(|gets| gets.in_words() != NOT).count();
        let title = match self.to.keys() {
            [key] => format!("send this to {}?", name(view, key)),
            keys => format!("send to {count} of {}?", text::counted(keys.len(), "terminal")),
        };
        let asked = self.asked(canvas.theme, view);
        ANSWERS.draw(canvas, buffer, area, &mut self.question, (&title, &asked))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.follow(cx.view);
        match action {
            Action::Accept if self.hold(cx.view).is_none() => Flow::Reply(OverlayReply::Yes),
            Action::Accept => Flow::Stay,
            _ => Flow::read(self.question.view(), action),
        }
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.way.cannot_wait = cx.memory.cannot_wait;
        self.follow(cx.view);
        Flow::Stay
    }
}

/// How far it has come at one terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Sending,
    /// It goes when the agent is ready.
    Queued,
    Ended(Outcome),
}

/// The list of what became of it.
#[derive(Debug)]
pub struct Outcomes {
    /// The prompt that was sent; `None` where dialogs were answered.
    prompt: Option<String>,
    terminals: Vec<(TerminalKey, String, Fate)>,
    view: Viewport,
}

impl Outcomes {
    /// The list of what becomes of a prompt to terminals, or of the answers to their dialogs.
    pub fn of(prompt: Option<String>, terminals: Vec<(TerminalKey, String, Fate)>) -> Self {
        Self { prompt, terminals, view: Viewport::default() }
    }
}

impl Overlay for Outcomes {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(Context::Outcomes)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let taken = self.terminals.iter().filter(|(.., it)| matches!(it, Fate::Ended(Outcome::Accepted(_)))).count();
        let queued = self.terminals.iter().filter(|(.., it)| matches!(it, Fate::Queued)).count();
        let queued = if queued > 0 { format!(", {queued} queued") } else { String::new() };
        let title = format!("taken by {taken} of {}{queued}", self.terminals.len());
        let names = self.terminals.iter().map(|(_, name, _)| text::width(name)).max().unwrap_or(0);
        let line = |(_, name, progress): &(TerminalKey, String, Fate)| -> Line<'static> {
            let (status, word, why) = match progress {
                Fate::Sending => (Status::Working, "sending …", String::new()),
                Fate::Queued => (Status::Working, "queued", "sent when the agent is ready".to_owned()),
                Fate::Ended(outcome) => {
                    let word = match outcome {
                        Outcome::Accepted(_) => "taken",
                        Outcome::NotTaken { .. } => "not taken",
                        Outcome::Unverified { .. } => "unverified",
                        Outcome::Refused(_) => "not sent",
                    };
                    (toast::outcome_status(outcome), word, outcome.detail().unwrap_or_default())
                }
            };
            let word = span(format!("{} {word:<10} ", canvas.glyph(status)), canvas.theme.style(status));
            vec![word, field(name, names, parts.text), blank(2), span(why, parts.quiet)].into()
        };
        let lines: Vec<Line<'_>> = self.terminals.iter().map(line).collect();
        let inner = frame::popup(canvas, buffer, area, (&title, &lines), frame::ONE_COLUMN, &mut self.view);
        HitMap::at(frame::around(inner))
    }

    fn obey(&mut self, action: Action, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::read(&mut self.view, action)
    }

    /// What the list says needs no message.
    fn on_event(&mut self, event: OverlayEvent<'_>, cx: &mut OverlayContext<'_, '_>) {
        let OverlayEvent::Ended { operation: Operation { to: Recipient { key, .. }, act, .. }, outcome } = event else {
            return;
        };
        let topic = match (act, &self.prompt) {
            (Act::Prompt { text, .. }, Some(prompt)) if text == prompt => Topic::Prompt(key.clone()),
            (Act::Answer { .. }, None) => Topic::Dialog(key.clone()),
            _ => return,
        };
        let is_open = |it: &Fate| !matches!(it, Fate::Ended(_));
        if let Some((.., progress)) = self.terminals.iter_mut().find(|(of, _, it)| of == key && is_open(it)) {
            *progress = Fate::Ended(outcome.clone());
            cx.memory.toasts.retire(&topic);
        }
    }
}
