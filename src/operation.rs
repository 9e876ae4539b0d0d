//! What is done to a terminal, and its outcome (SPEC §11): the types that the dashboard, the command line, the sender, the
//! outbox and the history share.

pub mod interrupt;
mod key;

use std::fmt;
use std::sync::Arc;

use crate::dialog::{self, ChoiceError, Dialog};
use crate::fleet::{Terminal, TerminalKey};
use crate::ids::NamedPlace;
use crate::state::{ProcessState, UiContext};
use crate::status::Hindrance;
use crate::task::Task;
use crate::time::{Span, Timestamp};

pub use key::{Key, KeyError};

/// How long an act may take. After that, the process that would report it has died.
pub const LONGEST_ACT: Span = Span::from_secs(180);

/// Something that is done to one terminal, once.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Operation {
    /// When it was asked for.
    pub at: Timestamp,
    pub producer: Producer,
    pub to: Recipient,
    pub act: Act,
}

/// An action on a terminal.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Act {
    /// A prompt, which begins a turn.
    Prompt { text: String, when: When },
    /// An answer to a dialog, as long as it is still the one that the operator saw.
    Answer { dialog: Arc<Dialog>, asked: Asked, reply: Reply },
    /// Keys that the operator types. With a dialog they are for that one only.
    Keys { keys: Vec<Key>, dialog: Option<Arc<Dialog>>, privacy: Privacy },
    /// Keys that stop what the agent does, with the same rule.
    Interrupt { keys: Vec<Key>, dialog: Option<Arc<Dialog>> },
}

/// What a dialog asks, as it was shown to the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Asked {
    /// Its text.
    pub excerpt: String,
    /// What it is about, in one line: a command, a file, a question.
    pub about: String,
}

impl Asked {
    /// What the text of a dialog asks, which a terminal shows in this context.
    pub fn new(excerpt: String, context: UiContext, dialog: &Dialog) -> Self {
        Self { about: dialog::about(&excerpt, context, dialog), excerpt }
    }
}

/// When a prompt is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum When {
    /// Once the agent is ready and has no draft; until then it is queued.
    Ready,
    /// Now, if it is ready and has no draft.
    #[default]
    Now,
    /// Now, also to an agent that works, has a draft or cannot be read; never into a dialog or a menu, nor to another
    /// program.
    Anyway,
}

impl When {
    /// For a sender that does not queue: now, where the agent was to be waited for.
    pub const fn without_waiting(self) -> Self {
        if matches!(self, When::Ready) { When::Now } else { self }
    }
}

/// Who asked for an operation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Producer {
    /// The operator in the dashboard.
    Dashboard,
    /// A command in a shell.
    CommandLine,
    /// Somebody with a token, over HTTP: the token's name, and where they are.
    Token { name: String, address: String },
    /// A queued prompt, by its number in the outbox.
    Queue(i64),
    /// A follow-up, by its number in the outbox.
    FollowUp(i64),
}

/// The prefix of a token's name in a producer.
pub const TOKEN: &str = "token ";

impl Producer {
    /// Whether they press keys for what they see of a terminal; a script means whatever it shows.
    pub const fn has_looked(&self) -> bool {
        matches!(self, Producer::Dashboard | Producer::Token { .. })
    }
}

impl fmt::Display for Producer {
    /// The public name, under which the outcome of what the outbox sent is found again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Producer::Dashboard => f.write_str("dashboard"),
            Producer::CommandLine => f.write_str("command line"),
            Producer::Token { name, address } => write!(f, "{TOKEN}{name} at {address}"),
            Producer::Queue(number) => write!(f, "queue {number}"),
            Producer::FollowUp(number) => write!(f, "follow-up {number}"),
        }
    }
}

/// The terminal to send to, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recipient {
    pub key: TerminalKey,
    /// The terminal's name at that time.
    pub name: String,
    /// The agent that must be running there to be sent a prompt; `None` where none is expected: then any known one may.
    pub tool: Option<String>,
    /// The version whose profile reads the screen.
    pub version: Option<String>,
    /// Whether tool and version come from the configuration.
    pub configured: bool,
    /// The program behind which the agent runs, so that nothing but its screen shows it.
    pub through: Option<String>,
    /// The place by which it was named: nothing is sent once that means another pane, or none.
    pub named: Option<NamedPlace>,
}

impl Recipient {
    /// A terminal of which no more is known than its name.
    pub fn new(key: TerminalKey, name: String) -> Self {
        Self { key, name, tool: None, version: None, configured: false, through: None, named: None }
    }

    /// The pane of a task, in which no agent is expected.
    pub fn of_task(task: &Task) -> Self {
        Self::new(task.key.clone(), task.id.clone())
    }

    /// A terminal for keys, which are meant for whatever program it shows.
    pub fn as_shown(terminal: &Terminal) -> Self {
        let to = Self::of(terminal);
        Self { tool: to.tool.filter(|_| is_there(terminal)), ..to }
    }

    /// A terminal as a sender knows it.
    pub fn of(terminal: &Terminal) -> Self {
        let facts = &terminal.state.terminal;
        // Where no agent runs, the facts name whatever program does.
        let found = is_there(terminal).then(|| facts.tool.clone());
        Self {
            key: terminal.key.clone(),
            name: terminal.state.terminal.id.clone(),
            tool: found.or_else(|| terminal.declared.tool.clone()),
            version: facts.observed_tool_version.clone(),
            configured: terminal.declared.tool.is_some(),
            through: facts.through.clone(),
            named: None,
        }
    }

    /// The same, named by its place.
    #[must_use]
    pub fn at(self, named: Option<NamedPlace>) -> Self {
        Self { named, ..self }
    }
}

/// Whether the agent that a terminal shows still is there, be it suspended.
fn is_there(terminal: &Terminal) -> bool {
    matches!(terminal.state.diagnostics.process_state, ProcessState::TuiUp | ProcessState::Suspended)
}

/// What to answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Reply {
    /// One of the options of the dialog, by its place from 0.
    Option(usize),
    /// Exactly these of the options that can be ticked, handed in together.
    Ticks(Vec<usize>),
    /// A text of the operator's own, in the row of an option that takes one.
    Text { option: usize, text: PasteText },
    /// Keys, whatever they do there.
    Keys(Vec<Key>),
}

impl Reply {
    /// What is answered, in the dialog's own words.
    pub fn in_words(&self, dialog: &Dialog) -> String {
        let name = |place: &usize| dialog.options.get(*place).map(|it| format!("{} {}", it.name, it.label));
        match self {
            Reply::Option(option) => name(option).unwrap_or_default(),
            Reply::Ticks(options) => options.iter().filter_map(name).collect::<Vec<_>>().join(", "),
            Reply::Text { option, text } => format!("{}: {}", name(option).unwrap_or_default(), text.as_str()),
            Reply::Keys(keys) => keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" "),
        }
    }

    /// What somebody means who names an option by its number or its text, or else a key.
    ///
    /// # Errors
    /// It is no key, and no option or several could be meant.
    pub fn meant(text: &str, dialog: &Dialog) -> Result<Self, ChoiceError> {
        if dialog.can_tick() {
            return match dialog.choose_several(text) {
                Ok(options) if options.iter().all(|option| dialog.options[*option].ticked.is_some()) => {
                    Ok(Reply::Ticks(options))
                }
                Ok(_) => Err(ChoiceError::None(text.to_owned())),
                Err(no_choice) => Err(no_choice),
            };
        }
        match dialog.choose(text) {
            Ok(option) => Ok(Reply::Option(option)),
            // A number is always meant as an option where they have some.
            Err(no_choice) if !dialog.options.is_empty() && text.parse::<u8>().is_ok() => Err(no_choice),
            Err(no_choice) => match text.parse::<Key>() {
                // So is a character where the options say what chooses them: it would do there what nobody can tell.
                Ok(key) if !(dialog.can_choose() && key.is_text()) => Ok(Reply::Keys(vec![key])),
                _ => Err(no_choice),
            },
        }
    }
}

/// How much of what is typed may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Privacy {
    Open,
    /// A password may be among it: any program may ask for one, with or without that word.
    Secret,
}

impl Privacy {
    /// How to type into an agent's terminal now: setting it up may need a key or a password.
    pub fn of(terminal: &Terminal) -> Self {
        match terminal.state.assessment.ui_context {
            UiContext::Setup => Privacy::Secret,
            _ => Privacy::Open,
        }
    }
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Outcome {
    /// The terminal reacted to it. What the agent took the text as, if not as a prompt, or what the terminal shows since.
    Accepted(Option<String>),
    /// It was seen that it was not taken, though something of it may have gone in.
    NotTaken { why: String },
    /// It may have been taken; its effect was not seen in time.
    Unverified { why: String },
    /// Nothing was sent.
    Refused(Refusal),
}

impl Outcome {
    /// The public name: `accepted`, `not_taken`, `unverified` or `refused`.
    pub const fn word(&self) -> &'static str {
        match self {
            Outcome::Accepted(_) => "accepted",
            Outcome::NotTaken { .. } => "not_taken",
            Outcome::Unverified { .. } => "unverified",
            Outcome::Refused(_) => "refused",
        }
    }

    /// The detail beside the word: why it was not accepted, or how it was.
    pub fn detail(&self) -> Option<String> {
        match self {
            Outcome::Accepted(how) => how.clone(),
            Outcome::NotTaken { why } | Outcome::Unverified { why } => Some(why.clone()),
            Outcome::Refused(refusal) => Some(refusal.to_string()),
        }
    }

    /// Whether the terminal reacted to it.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Outcome::Accepted(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Accepted(None) => f.write_str("accepted"),
            Outcome::Accepted(Some(how)) => write!(f, "accepted, {how}"),
            Outcome::NotTaken { why } => write!(f, "not taken: {why}"),
            Outcome::Unverified { why } => write!(f, "unverified: {why}"),
            Outcome::Refused(refusal) => write!(f, "refused: {refusal}"),
        }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Outcome::Refused(refusal)
    }
}

impl From<Hindrance> for Refusal {
    fn from(hindrance: Hindrance) -> Self {
        Refusal::Hindrance(hindrance)
    }
}

/// Why tmux would not deliver to a pane what is meant for its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum Obstacle {
    #[error("the pane is gone")]
    Gone,
    /// Its name leads to another machine than before, or the server was started anew.
    #[error("a different machine or tmux server now answers under this name")]
    Elsewhere,
    #[error("a different process now runs in the pane")]
    Replaced,
    #[error("the program in the pane has ended")]
    Dead,
    #[error("the pane is in copy mode or another mode of tmux")]
    InMode,
    #[error("the window's panes are synchronized, so all of them would get it")]
    Synchronized,
    #[error("the pane's input is disabled")]
    InputOff,
    /// Its session, window or pane was renamed or moved.
    #[error("the name does not mean this pane any more")]
    Renamed,
    /// Its guard did not hold: another program, or another screen.
    #[error("the pane changed after fleetwatch looked at it")]
    Changed,
}

/// Why nothing was sent: what hinders a prompt by the agent's state is a [`Hindrance`], what tmux sees an [`Obstacle`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum Refusal {
    #[error(transparent)]
    Text(TextError),
    #[error(transparent)]
    Obstacle(Obstacle),
    /// tmux did not answer, or said no; `hint` is what to do about it.
    #[error("{message}")]
    Tmux { message: String, hint: String, is_no_server: bool },
    #[error("{tool} does not run there; {command} does")]
    AgentGone { tool: String, command: String },
    #[error("no known agent runs there; {command} does")]
    NoAgent { command: String },
    #[error("{0}")]
    Hindrance(Hindrance),
    #[error("the dialog is gone; nothing was sent")]
    NoDialog,
    #[error("the dialog changed; nothing was sent")]
    AnotherDialog,
    #[error("somebody has started to answer the dialog")]
    Begun,
    #[error("the dialog has no such option")]
    NoSuchOption,
    #[error("it was withdrawn before it was sent")]
    Withdrawn,
    #[error("another fleetwatch process has been sending there for {0} s")]
    Occupied(u64),
    /// Anything else, such as a terminal that cannot be captured.
    #[error("{0}")]
    Other(String),
}

impl Refusal {
    /// Whether the same could be accepted later, so that it may be queued until the terminal is ready.
    pub fn may_pass(&self) -> bool {
        match self {
            Refusal::Hindrance(hindrance) => hindrance.may_pass(),
            Refusal::Occupied(_) | Refusal::Obstacle(Obstacle::InMode | Obstacle::Changed) => true,
            _ => false,
        }
    }

    /// Whether it would be sent all the same if the operator insisted.
    pub const fn may_insist(&self) -> bool {
        matches!(self, Refusal::Hindrance(hindrance) if hindrance.may_insist())
    }

    /// What the operator can do about it, where that is plain.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Refusal::Hindrance(hindrance) => hindrance.hint().to_owned(),
            // Insisting does not help: another program would take the text for something else, and a shell runs it.
            Refusal::AgentGone { .. } | Refusal::NoAgent { .. } => {
                "start the agent there first; other programs take only keys".to_owned()
            }
            Refusal::Obstacle(Obstacle::InMode) => Hindrance::InMode.hint().to_owned(),
            Refusal::Obstacle(Obstacle::Dead) => "`fleetwatch tasks rerun NAME` runs an ended task again".to_owned(),
            Refusal::Obstacle(Obstacle::Synchronized) => "turn off `synchronize-panes` there first".to_owned(),
            Refusal::Obstacle(Obstacle::Gone | Obstacle::Replaced | Obstacle::Renamed) => {
                "`fleetwatch list` shows what is there now".to_owned()
            }
            Refusal::Tmux { hint, .. } => hint.clone(),
            _ => return None,
        })
    }
}

/// Bytes that are pasted at most.
const LIMIT: usize = 1 << 20;

/// A text that may be pasted into a terminal: no control characters but newline and tab, so that it can neither end
/// the paste that it is in nor press a key (SPEC §11).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct PasteText(String);

impl TryFrom<String> for PasteText {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        Self::new(text)
    }
}

/// Why a text may not be pasted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum TextError {
    #[error("there is no text to send")]
    Empty,
    #[error("the text has {0} bytes; the limit is {LIMIT}")]
    TooLong(usize),
    #[error("line {line} contains the control character U+{:04X}; only newlines and tabs can be sent", *.character as u32)]
    Control { line: usize, character: char },
}

impl TextError {
    /// What to do instead.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "write the text behind the name, or give it on standard input",
            Self::TooLong(_) => "put it into a file, and name the file in a prompt",
            Self::Control { .. } => "leave control characters out; `fleetwatch keys` presses keys",
        }
    }
}

impl PasteText {
    /// The text as it is, byte for byte, or why not.
    pub fn new(text: impl Into<String>) -> Result<Self, TextError> {
        let text = text.into();
        if text.is_empty() {
            return Err(TextError::Empty);
        }
        if text.len() > LIMIT {
            return Err(TextError::TooLong(text.len()));
        }
        match text.char_indices().find(|&(_, c)| c.is_control() && c != '\n' && c != '\t') {
            Some((at, character)) => Err(TextError::Control { line: text[..at].matches('\n').count() + 1, character }),
            None => Ok(Self(text)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_refused_with_their_line() {
        assert_eq!(PasteText::new("a\nb\u{1b}[201~"), Err(TextError::Control { line: 2, character: '\u{1b}' }));
        for bad in ["\r", "\u{0}", "\u{7f}", "\u{9b}x", "a\r\nb"] {
            assert!(PasteText::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(PasteText::new(""), Err(TextError::Empty));
        assert!(PasteText::new("x".repeat(LIMIT + 1)).is_err());
        assert!(PasteText::new("tab\there\n{#{pane_id}; 'é😀\\").is_ok());
        // What another process sends is checked as well.
        assert!(serde_json::from_str::<PasteText>(r#""a\u001b[201~""#).is_err());
        assert_eq!(serde_json::from_str::<PasteText>(r#""ab""#).unwrap().as_str(), "ab");
    }

    #[test]
    fn every_refusal_says_what_and_the_hint_fits_it() {
        let tmux = Refusal::Tmux { message: "no answer".into(), hint: "try tmux".into(), is_no_server: false };
        let shell = || "sh".to_owned();
        let refusals = [
            (Refusal::Text(TextError::Empty), None),
            (tmux, Some("try tmux")),
            (Refusal::AgentGone { tool: "claude".into(), command: shell() }, Some("start the agent")),
            (Refusal::NoAgent { command: shell() }, Some("start the agent")),
            (Hindrance::Dialog.into(), Some(Hindrance::Dialog.hint())),
            (Refusal::NoDialog, None),
            (Refusal::AnotherDialog, None),
            (Refusal::Begun, None),
            (Refusal::NoSuchOption, None),
            (Refusal::Withdrawn, None),
            (Refusal::Occupied(20), None),
            (Refusal::Other("no screen".into()), None),
            (Refusal::Obstacle(Obstacle::Gone), Some("fleetwatch list")),
            (Refusal::Obstacle(Obstacle::Elsewhere), None),
            (Refusal::Obstacle(Obstacle::Replaced), Some("fleetwatch list")),
            (Refusal::Obstacle(Obstacle::Dead), Some("tasks rerun")),
            (Refusal::Obstacle(Obstacle::InMode), Some(Hindrance::InMode.hint())),
            (Refusal::Obstacle(Obstacle::Synchronized), Some("synchronize-panes")),
            (Refusal::Obstacle(Obstacle::InputOff), None),
            (Refusal::Obstacle(Obstacle::Renamed), Some("fleetwatch list")),
            (Refusal::Obstacle(Obstacle::Changed), None),
        ];
        let mut passing = Vec::new();
        for (refusal, hint) in refusals {
            let said = refusal.hint();
            let fits = hint.map(|part| said.as_deref().is_some_and(|said| said.contains(part)));
            assert_eq!(fits, said.is_some().then_some(true), "{refusal}: {said:?}");
            if refusal.may_pass() {
                passing.push(refusal.to_string());
            }
            let outcome = Outcome::from(refusal.clone());
            assert_eq!((outcome.word(), outcome.detail()), ("refused", Some(refusal.to_string())));
        }
        let [dialog, occupied, mode, changed] = passing.as_slice() else { panic!("{passing:?}") };
        assert!(dialog.contains("dialog") && occupied.contains("20 s") && mode.contains("mode"), "{passing:?}");
        assert!(changed.contains("changed"));
    }

    #[test]
    fn options_that_are_ticked_are_meant_together_and_no_other_is() {
        let text = "Pick some\n❯ 1. [ ] Search\n  2. [ ] Mail\n     Submit\n\n  3. Chat about it";
        let screen = crate::screen::Screen::from_text(text, 80);
        let dialog = Dialog::read(&screen, 0..screen.rows().len());
        assert!(dialog.can_tick());
        assert_eq!(Reply::meant("1,2", &dialog), Ok(Reply::Ticks(vec![0, 1])));
        assert!(Reply::meant("chat", &dialog).is_err() && Reply::meant("nothing", &dialog).is_err());
        let keys = Reply::Keys(vec![Key::enter(), "Escape".parse().unwrap()]);
        assert_eq!(keys.in_words(&dialog), "Enter Escape");
    }
}
