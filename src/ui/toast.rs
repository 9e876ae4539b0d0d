//! Messages that come and go by themselves and never take the keyboard, and the words for the outcome of an operation.

use crokey::KeyCombination;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use ratatui::prelude::{Buffer, Rect};

use super::kit::frame::Look;
use super::kit::question::READ;
use super::{blank, frame, keymap, line, span, text};
use crate::fleet::TerminalKey;
use crate::operation::{Act, Key, Operation, Outcome, Reply, When};
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// Messages shown at a time.
const SHOWN: usize = 4;
/// The widest message, in cells, and the lines that it may take: what is wrong and where has to fit.
const WIDEST: u16 = 100;
/// See [`WIDEST`].
const LINES: usize = 4;
/// How long good news stays.
const SHORT: Span = Span::from_secs(6);
/// How long good news stays at least while keys are pressed.
const LEAST: Span = READ.times(2);
/// How long trouble stays.
const LONG: Span = Span::from_secs(20);

/// The topic of a message. A newer one replaces the older one, which it makes untrue or old: `queued for docs` ends with `docs
/// took the prompt`.
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
}

impl Toasts {
    /// Shows a message from now on, in place of what was shown on the same topic.
    pub fn push(&mut self, topic: Option<Topic>, status: Status, text: String, now: Timestamp) {
        let until = now + stay(status);
        // The same message again is no news; it only stays longer.
        self.shown.retain(|toast| toast.text != text && (topic.is_none() || toast.topic != topic));
        self.shown.push(Toast { status, text, topic, until });
        let surplus = self.shown.len().saturating_sub(SHOWN);
        self.shown.drain(..surplus);
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

    /// Draws the messages at the bottom right of an area, the newest lowest. Where that would hide the box that has the
    /// keyboard, the newest takes the place of the footer.
    pub fn draw(&self, look: &Look<'_>, buffer: &mut Buffer, area: Rect, (boxed, footer): (Rect, Rect)) {
        let room = area.width.min(WIDEST).saturating_sub(AROUND);
        let mut bottom = area.bottom();
        for (nth, toast) in self.shown.iter().rev().enumerate() {
            let lines = text::wrapped(&toast.text, usize::from(room), LINES);
            let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
            let (width, top) = (stack_cells(&lines), bottom.checked_sub(height).filter(|top| *top >= area.y));
            let place = top.map(|y| Rect { x: area.right().saturating_sub(width), y, width, height });
            match place.filter(|place| room > 0 && !place.intersects(boxed)) {
                Some(place) => {
                    toast.draw(look, buffer, place, &lines);
                    bottom = place.y;
                }
                None if nth == 0 => {
                    let room = usize::from(footer.width.saturating_sub(AROUND));
                    return toast.draw(look, buffer, footer, &text::wrapped(&toast.text, room, 1));
                }
                None => return,
            }
        }
    }
}

impl Toast {
    fn draw(&self, look: &Look<'_>, buffer: &mut Buffer, place: Rect, lines: &[String]) {
        frame::clear(buffer, place);
        buffer.set_style(place, look.theme.parts.selected);
        let style = look.theme.style(self.status);
        // The glyph of what is unknown would look like the end of something that was cut.
        let glyph = if self.status == Status::Unknown { NOTE_MARK } else { look.glyph(self.status) };
        line::draw_all(buffer, place, lines.iter().map(|line| vec![blank(3), span(line, style)]));
        line::draw(buffer, place, vec![blank(1), span(glyph, style)]);
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
            format!("{name} took the answer{}{}", if said.is_empty() { "" } else { ": " }, said.join("; "))
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

// Keys by tmux's names, as the operator's keyboard names them.

/// What tmux calls the keys that are no characters.
pub const NAMED: [(KeyCode, &str); 16] = [
    (KeyCode::Char(' '), "Space"),
    (KeyCode::Enter, "Enter"),
    (KeyCode::Esc, "Escape"),
    (KeyCode::Tab, "Tab"),
    (KeyCode::BackTab, "BTab"),
    (KeyCode::Backspace, "BSpace"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
    (KeyCode::PageUp, "PageUp"),
    (KeyCode::PageDown, "PageDown"),
    (KeyCode::Insert, "IC"),
    (KeyCode::Delete, "DC"),
];

/// A key that tmux has a name for, as the operator's keyboard and the footer name it: `C-c` is `ctrl-c`.
pub fn spoken(name: &str) -> String {
    const MODIFIERS: [(&str, KeyModifiers); 3] =
        [("C-", KeyModifiers::CONTROL), ("M-", KeyModifiers::ALT), ("S-", KeyModifiers::SHIFT)];
    let (mut base, mut modifiers) = (name, KeyModifiers::NONE);
    while let Some((rest, modifier)) = MODIFIERS.iter().find_map(|(prefix, modifier)| {
        // A lone `C-` would be no modifier of anything.
        base.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(|rest| (rest, *modifier))
    }) {
        (base, modifiers) = (rest, modifiers | modifier);
    }
    let one = || base.chars().next().filter(|c| base.len() == c.len_utf8()).map(KeyCode::Char);
    let code = NAMED.iter().find(|(_, named)| *named == base).map(|(code, _)| *code).or_else(one);
    match code {
        Some(KeyCode::BackTab) => format!("shift-{}", keymap::show(KeyCombination::one_key(KeyCode::Tab, modifiers))),
        Some(code) => keymap::show(KeyCombination::one_key(code, modifiers)),
        None => name.to_lowercase(),
    }
}

/// Several keys, as [`spoken`] names each.
pub fn spoken_all<'a>(keys: impl IntoIterator<Item = &'a Key>) -> String {
    keys.into_iter().map(|key| spoken(key.as_str())).collect::<Vec<_>>().join(" ")
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

#[cfg(test)]
mod spoken_tests {
    use super::*;

    #[test]
    fn keys_are_called_as_the_footer_calls_them() {
        let called = ["C-c", "Escape", "Down", "M-Enter", "S-Up", "BTab", "Space", "q", "G", "C--", "F5", "C-", "é"];
        let expected =
            ["ctrl-c", "esc", "↓", "alt-enter", "shift-↑", "shift-tab", "space", "q", "G", "ctrl--", "f5", "c-", "é"];
        assert_eq!(called.map(spoken), expected);
    }
}
