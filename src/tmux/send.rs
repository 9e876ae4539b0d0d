//! Sends text and keys into a pane, in one command sequence with the check that it is still as it was seen (SPEC §11).

mod guard;
mod key;

use tmux_interface::{DeleteBuffer, DisplayMessage, IfShell, LoadBuffer, PasteBuffer, SendKeys, TmuxCommand};

use super::listing::instance_format;
use super::script::{Script, line};
use super::words::Nonce;
use super::{Error, Listing, Server, run, transport};
use crate::fleet::TerminalKey;
use crate::ids::{NamedPlace, ServerInstance};

pub use guard::{Guard, Misread};
pub use key::{Key, UnknownKey};

/// What became of a text or of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// tmux wrote them to the pane.
    Delivered,
    /// Nothing was written.
    Refused(Obstacle),
}

/// Why tmux would not deliver to a pane what is meant for its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// Its [`Guard`] did not hold: another program, or another screen.
    #[error("the pane changed after fleetwatch looked at it")]
    Changed,
}

/// The facts that each delivery depends on, in the order in which [`Obstacle::read`] reads them. A window with one pane has
/// none to be synchronized with.
const FACTS: &str = "#{pane_pid} #{?pane_dead,1,0} #{?pane_in_mode,1,0} \
                     #{?#{&&:#{pane_synchronized},#{!=:#{window_panes},1}},1,0} #{?pane_input_off,1,0}";

impl Server {
    /// Pastes a text as one bracketed paste where the program asked for those, byte for byte (newlines too).
    ///
    /// Identity, mode and the guard are checked in the same command sequence. No buffer is left behind, come what may.
    pub async fn paste(&self, key: &TerminalKey, text: &PasteText, guard: &Guard) -> Result<Delivery, Error> {
        let nonce = Nonce::new();
        let buffer = format!("fleetwatch-{nonce}");
        // The outer check refuses before a buffer exists; the inner one holds when the paste happens, as reading
        // the text lets the server do other things in between.
        let paste = PasteBuffer::new().delete().bracket_codes().no_replacement().buffer_name(buffer.as_str());
        let delivered = sequence([paste.target_pane(key.pane.to_string()).build(), said(&nonce, "delivered")]);
        let late = sequence([DeleteBuffer::new().buffer_name(buffer.as_str()).build(), facts(&nonce, key, guard)]);
        let load = LoadBuffer::new().buffer_name(buffer.as_str()).path("-").build();
        // These words are arguments of a process, which others on its machine may read: of a screen's text they have letters and
        // digits only.
        let inner = guarded_by(key, guard.coarse(), delivered, late);
        let outer = guarded(key, sequence([load, inner]), sequence([facts(&nonce, key, guard)]));
        let words = outer.to_vec();
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let result = run::run(&self.settings, &self.id, &words, text.as_str().as_bytes().to_vec()).await;
        let answer = result.and_then(|output| self.read_delivery(key, &nonce, &output));
        if !matches!(answer, Ok(Delivery::Delivered)) {
            self.forget_buffer(&buffer).await;
        }
        answer
    }

    /// Presses keys, one after the other, with the same checks.
    pub async fn press(&self, key: &TerminalKey, keys: &[Key], guard: &Guard) -> Result<Delivery, Error> {
        let nonce = Nonce::new();
        let pane = key.pane.to_string();
        let mut send = SendKeys::new().target_pane(pane).build();
        send.push_param("--");
        for key in keys {
            send.push_param(key.as_str());
        }
        let delivered = sequence([send, said(&nonce, "delivered")]);
        let mut script = Script::new();
        script.push(guarded_by(key, guard.exact(), delivered, sequence([facts(&nonce, key, guard)])));
        let output = self.run_script(script).await?;
        self.read_delivery(key, &nonce, &output)
    }

    /// Whether a pane is where somebody says that it is.
    pub async fn is_meant(&self, key: &TerminalKey, named: &NamedPlace) -> Result<bool, Error> {
        let (nonce, guard) = (Nonce::new(), Guard::default().at(key.pane, Some(named)));
        let is_there = format!("#{{==:#{{pane_pid}},{}}}", key.pid);
        let condition = guard.named().map(|named| format!("#{{&&:{is_there},{named}}}")).unwrap_or(is_there);
        let message = format!("{nonce}#{{?{},meant,}}", of_instance(key, condition));
        let mut script = Script::new();
        script.push(DisplayMessage::new().print().target_pane(key.pane.to_string()).message(message).build());
        let output = self.run_script(script).await?;
        Ok(String::from_utf8_lossy(&output.stdout).contains(&format!("{nonce}meant")))
    }

    /// The rows of a guard that tmux reads in another way than it prints them, by testing and capturing them in one
    /// sequence.
    pub async fn misread(&self, key: &TerminalKey, guard: &Guard) -> Result<Misread, Error> {
        let (word, mark) = (Nonce::new(), Nonce::new());
        let mut script = Script::new();
        for test in guard.row_tests() {
            let [holds, not] = ["holds", "not"].map(|answer| sequence([said(&word, answer)]));
            script.push(guarded_by(key, test, holds, not));
        }
        script.header(&mark, self.id.host.is_some());
        script.capture(&mark, key.pane);
        script.end(&mark);
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let holds: Vec<bool> =
            text.lines().filter_map(|line| line.strip_prefix(word.as_str())).map(|answer| answer == "holds").collect();
        let listing = Listing::parse(&text, mark.as_str())?;
        let captured = listing.captures.first().and_then(|captured| Some((&captured.pane, captured.screen.as_ref()?)));
        Ok(match captured.filter(|(pane, _)| listing.shows(pane, key)) {
            Some((pane, screen)) => guard.misread(&holds, &pane.facts, screen),
            None => Misread::default(),
        })
    }

    fn read_delivery(&self, key: &TerminalKey, nonce: &Nonce, output: &transport::Output) -> Result<Delivery, Error> {
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(answer) = text.lines().find_map(|line| line.strip_prefix(nonce.as_str())) else {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return match stderr.lines().any(|line| line.starts_with("can't find pane")) {
                true => Ok(Delivery::Refused(Obstacle::Gone)),
                false => {
                    Err(self.explain(output, Error::Garbled("no answer about what became of the delivery".into())))
                }
            };
        };
        match answer {
            "delivered" => Ok(Delivery::Delivered),
            facts if facts.starts_with(ELSEWHERE) => Ok(Delivery::Refused(Obstacle::Elsewhere)),
            facts => Ok(Delivery::Refused(Obstacle::read(facts, key.pid))),
        }
    }

    /// A text that could not be pasted must not stay in the user's buffers. Mostly there is none to delete.
    async fn forget_buffer(&self, buffer: &str) {
        let mut script = Script::new();
        script.push(DeleteBuffer::new().buffer_name(buffer).build());
        if let Err(error) = self.run_script(script).await {
            tracing::warn!(server = %self.id, %error, "a paste buffer may have been left behind");
        }
    }
}

impl Obstacle {
    /// What stands in the way according to [`FACTS`]; where they are as they should be, it was the guard.
    fn read(facts: &str, pid: u32) -> Self {
        let mut facts = facts.split(' ');
        match facts.next() {
            // The formats of a pane that is not there are empty.
            None | Some("") => return Obstacle::Gone,
            Some(other) if other.parse() != Ok(pid) => return Obstacle::Replaced,
            Some(_) => {}
        }
        let order = [Obstacle::Dead, Obstacle::InMode, Obstacle::Synchronized, Obstacle::InputOff, Obstacle::Renamed];
        let found = order.into_iter().zip(facts).find(|(_, flag)| *flag == "1");
        found.map_or(Obstacle::Changed, |(obstacle, _)| obstacle)
    }
}

/// `then` when the pane is still the same and takes keys, else `otherwise`; an error when it is gone.
fn guarded<'a>(key: &TerminalKey, then: String, otherwise: String) -> TmuxCommand<'a> {
    guarded_by(key, guard::Test::default(), then, otherwise)
}

/// The same, where something more is tested.
fn guarded_by<'a>(key: &TerminalKey, test: guard::Test, then: String, otherwise: String) -> TmuxCommand<'a> {
    let guard::Test { formats, values } = test;
    let condition = format!("#{{==:{FACTS}{formats},{} 0 0 0 0{values}}}", key.pid);
    let condition = of_instance(key, condition);
    let mut command =
        IfShell::new().not_execute().target_pane(key.pane.to_string()).shell_command(condition).command(then).build();
    // The builder knows one branch only.
    command.push_param(otherwise);
    command
}

/// `then` when the pane still has the same process, dead or alive; an error when it is gone.
pub(super) fn guarded_by_pid<'a>(key: &TerminalKey, then: String) -> TmuxCommand<'a> {
    let condition = of_instance(key, format!("#{{==:#{{pane_pid}},{}}}", key.pid));
    IfShell::new().not_execute().target_pane(key.pane.to_string()).shell_command(condition).command(then).build()
}

/// What the reason of a refusal begins with where the server is another one.
const ELSEWHERE: &str = "elsewhere";

/// A condition that holds only in the server that the terminal was seen in: it is the server itself that compares, in the
/// very sequence that acts.
pub(super) fn of_instance(key: &TerminalKey, condition: String) -> String {
    match instance_test(key) {
        Some(test) => format!("#{{&&:{test},{condition}}}"),
        None => condition,
    }
}

fn instance_test(key: &TerminalKey) -> Option<String> {
    test_of(&key.instance, key.server.host.is_some())
}

fn test_of(instance: &ServerInstance, on_host: bool) -> Option<String> {
    Some(format!("#{{==:{},{}}}", instance_format(on_host), instance.word()?))
}

/// A command that is run only in the server that was polled.
pub(super) fn in_instance<'a>(instance: &ServerInstance, on_host: bool, command: TmuxCommand<'a>) -> TmuxCommand<'a> {
    match test_of(instance, on_host) {
        Some(test) => IfShell::new().not_execute().shell_command(test).command(sequence([command])).build(),
        None => command,
    }
}

/// Commands one after the other, as one word for `if-shell`.
pub(super) fn sequence<'a>(commands: impl IntoIterator<Item = TmuxCommand<'a>>) -> String {
    commands.into_iter().map(|command| line(&command)).collect::<Vec<_>>().join(" ; ")
}

fn said<'a>(nonce: &Nonce, word: &str) -> TmuxCommand<'a> {
    DisplayMessage::new().print().message(format!("{nonce}{word}")).build()
}

fn facts<'a>(nonce: &Nonce, key: &TerminalKey, guard: &Guard) -> TmuxCommand<'a> {
    let elsewhere = instance_test(key).map(|test| format!("#{{?{test},,{ELSEWHERE}}}")).unwrap_or_default();
    let renamed = guard.named().map(|named| format!(" #{{?{named},0,1}}")).unwrap_or_default();
    let facts = format!("{nonce}{elsewhere}{FACTS}{renamed}");
    DisplayMessage::new().print().target_pane(key.pane.to_string()).message(facts).build()
}

/// Bytes that are pasted at most.
const LIMIT: usize = 1 << 20;

/// A text that may be pasted into a terminal: no control characters but newline and tab, so that it can neither end
/// the paste that it is in nor press a key (SPEC §11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasteText(String);

/// Why a text may not be pasted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitText {
    #[error("there is no text to send")]
    Empty,
    #[error("the text has {0} bytes; the limit is {LIMIT}")]
    TooLong(usize),
    #[error("line {line} contains the control character U+{:04X}; only newlines and tabs can be sent", *.character as u32)]
    Control { line: usize, character: char },
}

impl UnfitText {
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
    pub fn new(text: impl Into<String>) -> Result<Self, UnfitText> {
        let text = text.into();
        if text.is_empty() {
            return Err(UnfitText::Empty);
        }
        if text.len() > LIMIT {
            return Err(UnfitText::TooLong(text.len()));
        }
        match text.char_indices().find(|&(_, c)| c.is_control() && c != '\n' && c != '\t') {
            Some((at, character)) => Err(UnfitText::Control { line: text[..at].matches('\n').count() + 1, character }),
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
    fn the_reason_of_a_refusal_is_read_from_the_facts() {
        assert_eq!(Obstacle::read("77 0 0 0 0", 76), Obstacle::Replaced);
        assert_eq!(Obstacle::read("76 1 0 0 0", 76), Obstacle::Dead);
        assert_eq!(Obstacle::read("76 0 1 1 0", 76), Obstacle::InMode);
        assert_eq!(Obstacle::read("76 0 0 0 1", 76), Obstacle::InputOff);
        assert_eq!(Obstacle::read("76 0 0 0 0", 76), Obstacle::Changed);
        assert_eq!(Obstacle::read("76 0 0 0 0 1", 76), Obstacle::Renamed);
        assert_eq!(Obstacle::read("76 0 0 0 0 0", 76), Obstacle::Changed);
        assert_eq!(Obstacle::read(" 0 0 0 0", 76), Obstacle::Gone);
    }
}

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn control_characters_are_refused_with_their_line() {
        assert_eq!(PasteText::new("a\nb\u{1b}[201~"), Err(UnfitText::Control { line: 2, character: '\u{1b}' }));
        for bad in ["\r", "\u{0}", "\u{7f}", "\u{9b}x", "a\r\nb"] {
            assert!(PasteText::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(PasteText::new(""), Err(UnfitText::Empty));
        assert!(PasteText::new("x".repeat(LIMIT + 1)).is_err());
        assert!(PasteText::new("tab\there\n{#{pane_id}; 'é😀\\").is_ok());
    }
}
