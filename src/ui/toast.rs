//! Messages that come and go by themselves and never take the keyboard, and the words for the outcome of an operation.

use std::collections::VecDeque;

use jiff::tz::TimeZone;
use ratatui::prelude::{Buffer, Position, Rect};

use super::raw::spoken_all;
use super::{Canvas, Overlay, OverlayPlace, Pen, frame, text, times};
use crate::fleet::TerminalKey;
use crate::operation::{Act, Operation, Outcome, Reply, When};
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// Messages shown at a time.
const SHOWN: usize = 4;
/// Messages that can be read again.
const RECENT: usize = 100;
/// The widest message, in cells, and the lines that it may take: what is wrong and where has to fit.
const WIDEST: u16 = 100;
/// See [`WIDEST`].
const LINES: usize = 4;
/// The cells of a cut message beside which it says where the rest is.
const LEAST_CUT: usize = 12;
/// How long good news stays.
const SHORT: Span = Span::from_secs(6);
/// How long it takes to read why a key did nothing.
const READ: Span = Span::from_secs(1);
/// How long good news stays at least while keys are pressed.
const LEAST: Span = Span::from_secs(2);
/// How long trouble stays.
const LONG: Span = Span::from_secs(20);

/// What a message is about. A newer one on the same topic takes the place of the older one, which it makes untrue or
/// old: `queued for docs` ends with `docs took the prompt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A prompt for a terminal: on its way, queued, taken back, taken, refused.
    Prompt(TerminalKey),
    /// The dialog of a terminal, and what became of its answer.
    Dialog(TerminalKey),
    /// Keys that were pressed in a terminal.
    Keys(TerminalKey),
    /// A task that is ended, removed or run again.
    Task(TerminalKey),
    /// What happened to a task last.
    Event(TerminalKey),
    /// How a terminal is shown: pinned, muted.
    Flags(TerminalKey),
    /// Which panes are shown.
    Layout,
    /// What was copied last.
    Clipboard,
    /// That the operator's files were read again.
    Files,
    /// What is wrong with the configuration.
    Config,
    /// What the configuration says that is no setting any more.
    Left,
    /// What is wrong with the operator's keymap.
    Keymap,
    /// What is wrong with the theme.
    Theme,
    /// What is wrong with the operator's profiles.
    Profiles,
    /// Whether another process that watches can be followed.
    Owner,
    /// Whether the history can be written.
    History,
    /// Whether notices go out.
    Notices,
    /// Which drafts of the last time are here again.
    Drafts,
    /// Why a key that was pressed did nothing.
    Key,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub status: Status,
    pub text: String,
    /// Without one it stands for itself.
    topic: Option<Topic>,
    until: Timestamp,
}

/// The messages that are shown, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Toasts {
    shown: Vec<Toast>,
    /// All that was said lately, with its time, oldest first: what is cut or gone can be read there.
    recent: VecDeque<(Timestamp, String)>,
}

impl Toasts {
    /// Shows a message from now on, in place of what was shown on the same topic.
    pub fn push(&mut self, topic: Option<Topic>, status: Status, text: String, now: Timestamp) {
        let until = now + stay(status);
        if self.recent.back().is_none_or(|(_, last)| *last != text) {
            self.recent.push_back((now, text.clone()));
        }
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        // The same message again is no news; it only stays longer.
        self.shown.retain(|toast| toast.text != text && (topic.is_none() || toast.topic != topic));
        self.shown.push(Toast { status, text, topic, until });
        let surplus = self.shown.len().saturating_sub(SHOWN);
        self.shown.drain(..surplus);
    }

    /// What was said lately, a line each, newest first; `None` where nothing was.
    pub fn recent(&self, zone: &TimeZone) -> Option<String> {
        let line = |(at, text): &(Timestamp, String)| format!("{}  {text}", times::to_the_second(*at, zone));
        let lines: Vec<String> = self.recent.iter().rev().map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// What has just been said on a topic.
    pub fn said_now(&self, topic: &Topic, now: Timestamp) -> Option<&str> {
        let is_it = |toast: &&Toast| toast.topic.as_ref() == Some(topic) && toast.until == now + stay(toast.status);
        self.shown.iter().rev().find(is_it).map(|toast| toast.text.as_str())
    }

    /// Lets all messages stay as if they had come just now.
    pub fn renew(&mut self, now: Timestamp) {
        self.shown.iter_mut().for_each(|toast| toast.until = now + stay(toast.status));
    }

    /// Takes away the messages whose time has come.
    pub fn expire(&mut self, now: Timestamp) {
        self.shown.retain(|toast| toast.until > now);
    }

    /// Takes away what is no longer true of a topic.
    pub fn retire(&mut self, topic: &Topic) {
        self.shown.retain(|toast| toast.topic.as_ref() != Some(topic));
    }

    /// Takes away with a key what could be read: what was said of an earlier key, as keys do something again, and good
    /// news. Trouble stays for its time.
    pub fn retire_read(&mut self, now: Timestamp) {
        let stays = |toast: &Toast| match (&toast.topic, stay(toast.status)) {
            (Some(Topic::Key), _) => READ,
            (_, LONG) => LONG,
            _ => LEAST,
        };
        self.shown.retain(|toast| now.since(toast.until - stay(toast.status)) < stays(toast));
    }

    /// Takes away what was said of the table and its rows, and all good news, where another view takes the keyboard.
    pub fn retire_of_table(&mut self) {
        let is_of_table = |topic: &Topic| matches!(topic, Topic::Flags(_) | Topic::Layout | Topic::Drafts | Topic::Key);
        self.shown.retain(|toast| stay(toast.status) == LONG && !toast.topic.as_ref().is_some_and(is_of_table));
    }

    /// Takes all messages away.
    pub fn clear(&mut self) {
        self.shown.clear();
    }

    /// When the next message goes.
    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.shown.iter().map(|toast| toast.until).min()
    }

    /// Draws the messages into an area, newest lowest: at the bottom right unless that would hide what is to stay free,
    /// else as near to it as they fit; fewer where there is no such place for all.
    pub fn draw(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, free: &Free<'_>) {
        let Some((mut stack, place)) = self.placed(buffer, area, free) else { return };
        stack.say_where_the_rest_is(free.again.as_deref(), place.width);
        let mut top = place.y;
        for Message { toast, lines, .. } in &stack.messages {
            let (width, height) = (stack_cells(lines), u16::try_from(lines.len()).unwrap_or(u16::MAX));
            let x = if stack.is_left { place.x } else { place.right() - width };
            let place = Rect { x, y: top, width, height };
            frame::clear(buffer, place);
            buffer.set_style(place, canvas.theme.parts.selected);
            let style = canvas.theme.parts.selected.patch(canvas.theme.style(toast.status));
            // The glyph of what is unknown would look like the end of something that was cut.
            let glyph = if toast.status == Status::Unknown { NOTE_MARK } else { canvas.glyph(toast.status) };
            Pen::new(buffer, place, 0).skip(1).raw(glyph, style);
            for (row, line) in (0..).zip(lines) {
                Pen::new(buffer, place, row).skip(3).text(line, style);
            }
            top += height;
        }
    }

    /// The messages that are drawn, and their place: as many as can be drawn without hiding anything that must be seen,
    /// or else the newest one in place of the keys, cut where it is too long.
    fn placed(&self, buffer: &Buffer, area: Rect, free: &Free<'_>) -> Option<(Stack<'_>, Rect)> {
        let all = (1..=self.shown.len()).rev().map(|count| (count, LINES));
        let mut best: Option<(Stack<'_>, Rect, Cost)> = None;
        for (count, lines) in all.chain([(1, 1)]).filter(|_| !self.shown.is_empty()) {
            for is_left in [false, true] {
                let stack = Stack::of(&self.shown[self.shown.len() - count..], area, lines, is_left)?;
                let Some((place, cost)) = stack.best_place(buffer, area, free) else { continue };
                if best.as_ref().is_none_or(|(.., least)| cost < *least) {
                    best = Some((stack, place, cost));
                }
            }
            if best.as_ref().is_some_and(|(.., cost)| !cost.hides_too_much()) {
                break;
            }
        }
        let newest = std::slice::from_ref(self.shown.last()?);
        let cost = best.as_ref().map_or(Cost(0, 1, 0, 0), |(.., cost)| *cost);
        // Where it would hide anything but old lines of the log, one alone stands in place of the keys, if it has room
        // there; and in any case before it hides what must be seen.
        let below = Stack::of(newest, free.footer, 1, true).filter(|stack| {
            let is_alone = self.shown.len() == 1 && cost != Cost(0, 0, 0, 0) && stack.is_whole();
            !free.footer.is_empty() && (is_alone || (cost.0 == 0 && cost.hides_too_much()))
        });
        if let Some(stack) = below {
            return Some((stack, free.footer));
        }
        // Where it would hide a part of what is answered, the newest stands elsewhere.
        match Stack::of(newest, free.spare, 1, true).filter(|_| cost.0 > 0 && !free.spare.is_empty()) {
            Some(stack) => Some((stack, free.spare)),
            None => best.map(|(stack, place, _)| (stack, place)),
        }
    }
}

/// What messages are to leave free.
pub struct Free<'a> {
    pub keyboard: Keyboard,
    /// Rows that should stay in view.
    pub rows: &'a [Rect],
    /// The screen of a terminal that waits: what it asks should stay in view.
    pub asks: Rect,
    /// Every row of the table, and the screen of the selected one, in whose lower half its prompt stands: they are hidden
    /// only where there is no other place.
    pub table: &'a [Rect],
    pub screen: Rect,
    /// The line of keys, which is worth less than what a message would hide elsewhere.
    pub footer: Rect,
    /// A line for the newest message where no other place is free.
    pub spare: Rect,
    /// The key that shows the last messages again, where it is heard.
    pub again: Option<String>,
}

/// A pane down to the last of its rows with anything in it: what is below is free.
pub fn filled(buffer: &Buffer, pane: Rect) -> Rect {
    let is_filled = |row: &Rect| row.positions().any(|at| buffer.cell(at).is_some_and(|cell| cell.symbol() != " "));
    let bottom = pane.rows().rev().find(is_filled).map_or(pane.y, |row| row.bottom());
    Rect { height: bottom - pane.y, ..pane }
}

/// What has the keyboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keyboard {
    place: Rect,
    /// Whether it is a whole view, in which a message may stand where nothing does.
    is_view: bool,
}

impl Keyboard {
    /// What an overlay has drawn at a place, with the box around it.
    pub fn of(overlay: &dyn Overlay, place: Rect) -> Self {
        Self {
            place,
            is_view: !overlay.kind().is_popup
                && matches!(overlay.kind().place, OverlayPlace::Body | OverlayPlace::Screen),
        }
    }
}

/// What a place for messages hides: cells of what has the keyboard, of what should stay in view, of rows of the table and
/// the lower half of the screen, and of the rest of the screen, which says more than old lines of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost(usize, usize, usize, usize);

impl Cost {
    /// Whether fewer messages would be better.
    fn hides_too_much(self) -> bool {
        self.0 > 0 || self.1 > 0
    }
}

impl Free<'_> {
    fn cost(&self, buffer: &Buffer, place: Rect) -> Cost {
        let cells = |rect: Rect| usize::from(rect.width) * usize::from(rect.height);
        let hidden = place.intersection(self.keyboard.place);
        let is_drawn = |at: &Position| buffer.cell(*at).is_some_and(|cell| cell.symbol() != " ");
        let keyboard = if self.keyboard.is_view { hidden.positions().filter(is_drawn).count() } else { cells(hidden) };
        let rows: usize = self.rows.iter().map(|row| cells(place.intersection(*row))).sum();
        let asked = place.intersection(self.asks).positions().filter(is_drawn).count();
        let half = self.screen.height / 2;
        let lower = Rect { y: self.screen.bottom() - half, height: half, ..self.screen };
        let table: usize = self.table.iter().map(|row| cells(place.intersection(*row))).sum();
        let lower = table + cells(place.intersection(lower));
        Cost(keyboard, rows + asked, lower, cells(place.intersection(self.screen)))
    }
}

/// One message in lines.
struct Message<'a> {
    toast: &'a Toast,
    lines: Vec<String>,
    is_cut: bool,
}

/// Messages one below the other.
struct Stack<'a> {
    messages: Vec<Message<'a>>,
    is_left: bool,
    width: u16,
    height: u16,
}

impl<'a> Stack<'a> {
    /// Messages as an area has room for them, each with no more than that many lines; `None` where it has none at all.
    fn of(toasts: &'a [Toast], area: Rect, most: usize, is_left: bool) -> Option<Self> {
        let room = area.width.min(WIDEST).checked_sub(AROUND).filter(|room| *room > 0)?;
        let message = |toast: &'a Toast| {
            let wrapped = |most| text::wrapped(&toast.text, usize::from(room), most);
            Message { toast, lines: wrapped(most), is_cut: wrapped(usize::MAX).len() > most }
        };
        let messages: Vec<Message<'a>> = toasts.iter().map(message).collect();
        let width = messages.iter().map(|message| stack_cells(&message.lines)).max().unwrap_or(0);
        let height =
            u16::try_from(messages.iter().map(|message| message.lines.len()).sum::<usize>()).unwrap_or(u16::MAX);
        Some(Self { messages, is_left, width, height })
    }

    /// Whether all of what it says has room.
    fn is_whole(&self) -> bool {
        !self.messages.iter().any(|message| message.is_cut)
    }

    /// Says behind a single message that is cut which key shows all of it.
    fn say_where_the_rest_is(&mut self, key: Option<&str>, width: u16) {
        if let ([Message { lines, is_cut: true, .. }], Some(key)) = (&mut self.messages[..], key)
            && let Some(last) = lines.last_mut()
        {
            let rest = format!("  {key}: all of it");
            let room = usize::from(width.saturating_sub(AROUND)).saturating_sub(text::width(&rest));
            if room >= LEAST_CUT {
                *last = format!("{}{rest}", text::cut(last, room));
            }
        }
    }

    /// The lowest place of those in which it hides least.
    fn best_place(&self, buffer: &Buffer, area: Rect, free: &Free<'_>) -> Option<(Rect, Cost)> {
        let x = if self.is_left { area.x } else { area.right() - self.width };
        let lowest = area.bottom().checked_sub(self.height)?;
        let places = (area.y..=lowest).rev().map(|y| Rect { x, y, width: self.width, height: self.height });
        places.map(|place| (place, free.cost(buffer, place))).min_by_key(|(_, cost)| *cost)
    }
}

/// What stands before why a key did nothing, and what is not known.
const NOTE_MARK: &str = "–";
/// A glyph with a blank on each side, and a blank at the end.
const AROUND: u16 = 4;

/// The cells that a message takes.
fn stack_cells(lines: &[String]) -> u16 {
    let width = lines.iter().map(|line| text::width(line)).max().unwrap_or(0);
    u16::try_from(width).unwrap_or(WIDEST) + AROUND
}

/// How long a message stays.
fn stay(status: Status) -> Span {
    match status {
        Status::Failed | Status::Error | Status::Stalled => LONG,
        _ => SHORT,
    }
}

/// What is said of an agent that took an answer.
pub const TOOK_ANSWER: &str = "took the answer";

/// What an outcome is to the operator.
pub fn outcome_status(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Accepted(_) => Status::Finished,
        Outcome::Unverified { .. } => Status::Unknown,
        Outcome::NotTaken { .. } | Outcome::Refused(_) => Status::Failed,
    }
}

/// The outcome of an operation, in a sentence.
pub fn outcome_text(operation: &Operation, outcome: &Outcome) -> String {
    let (name, why) = (&operation.to.name, outcome.detail().unwrap_or_default());
    match (&operation.act, outcome) {
        (Act::Prompt { .. }, Outcome::Accepted(Some(how))) => format!("{name}: {how}"),
        (Act::Prompt { .. }, Outcome::Accepted(None)) => format!("{name} took the prompt"),
        (Act::Prompt { .. }, Outcome::NotTaken { .. }) => format!("{name} did not take the prompt: {why}"),
        (Act::Prompt { .. }, Outcome::Unverified { .. }) => {
            format!("it is not known whether {name} took the prompt: {why}")
        }
        (Act::Prompt { when: When::Ready, .. }, Outcome::Refused(_)) => {
            format!("the queued prompt for {name} was not sent: {why}")
        }
        (Act::Prompt { .. }, Outcome::Refused(_)) => format!("nothing was sent to {name}: {why}"),
        (Act::Answer { dialog, reply, .. }, Outcome::Accepted(after)) => {
            let option = match reply {
                Reply::Option(option) | Reply::Text { option, .. } => Some(*option),
                Reply::Ticks(_) | Reply::Keys(_) => None,
            };
            let refused = option.filter(|option| dialog.refuses(*option)).map(|_| "refused");
            let said: Vec<&str> = refused.into_iter().chain(after.as_deref()).collect();
            format!("{name} {TOOK_ANSWER}{}{}", if said.is_empty() { "" } else { ": " }, said.join("; "))
        }
        (Act::Answer { .. }, Outcome::Unverified { .. }) => {
            format!("it is not known whether the dialog of {name} was answered: {why}")
        }
        (Act::Answer { .. }, _) => format!("the dialog of {name} was not answered: {why}"),
        (Act::Keys { keys, .. } | Act::Interrupt { keys, .. }, Outcome::Accepted(_)) => {
            format!("pressed {} in {name}", spoken_all(keys))
        }
        (_, Outcome::Unverified { .. }) => format!("it is not known whether keys were pressed in {name}: {why}"),
        (_, _) => format!("no key was pressed in {name}: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{PaneId, ServerId, Socket};

    fn texts(toasts: &Toasts) -> Vec<&str> {
        toasts.shown.iter().map(|toast| toast.text.as_str()).collect()
    }

    #[test]
    fn what_is_said_of_a_key_goes_with_the_next_one_that_comes_later() {
        let mut toasts = Toasts::default();
        let now = Timestamp::default() + Span::from_secs(100);
        toasts.push(Some(Topic::Key), Status::Unknown, "Q does nothing here".to_owned(), now);
        toasts.push(Some(Topic::Layout), Status::Ready, "the table alone".to_owned(), now);
        toasts.retire_read(now + Span::from_millis(900));
        assert_eq!(texts(&toasts), ["Q does nothing here", "the table alone"]);
        toasts.retire_read(now + Span::from_millis(1_000));
        assert_eq!(texts(&toasts), ["the table alone"]);
        toasts.push(None, Status::Failed, "docs did not take the prompt".to_owned(), now);
        toasts.retire_read(now + Span::from_millis(2_000));
        assert_eq!(texts(&toasts), ["docs did not take the prompt"], "good news goes with a key, trouble does not");
        toasts.clear();
        toasts.push(Some(Topic::Layout), Status::Ready, "the table alone".to_owned(), now);
        toasts.push(Some(Topic::Drafts), Status::Ready, "drafts restored: docs".to_owned(), now);
        toasts.push(Some(Topic::Config), Status::Failed, "the configuration is wrong".to_owned(), now);
        toasts.retire_of_table();
        assert_eq!(texts(&toasts), ["the configuration is wrong"]);
    }

    #[test]
    fn a_newer_message_takes_the_place_of_an_older_one_on_the_same_topic() {
        let key = |pane| TerminalKey {
            server: ServerId { host: None, socket: Socket::Default },
            pane: PaneId(pane),
            pid: 1,
            instance: Default::default(),
        };
        let mut toasts = Toasts::default();
        let now = Timestamp::default();
        let mut push = |topic, text: &str| toasts.push(topic, Status::Ready, text.to_owned(), now);
        push(Some(Topic::Prompt(key(1))), "queued for docs");
        push(Some(Topic::Prompt(key(2))), "queued for web");
        push(Some(Topic::Keys(key(1))), "pressed Escape in docs");
        push(None, "task build started");
        push(None, "task test started");
        push(Some(Topic::Prompt(key(1))), "docs took the prompt");
        let shown = ["pressed Escape in docs", "task build started", "task test started", "docs took the prompt"];
        assert_eq!(texts(&toasts), shown, "no more than {SHOWN} at a time");
        toasts.push(Some(Topic::Prompt(key(1))), Status::Ready, "queued for docs".to_owned(), now);
        assert_eq!(texts(&toasts)[..3], shown[..3]);
        assert_eq!(texts(&toasts).last(), Some(&"queued for docs"));
    }
}
