//! Sends text and keys into a pane, in one command sequence with the check that it is still as it was seen (SPEC §11).

mod guard;

use tmux_interface::{DeleteBuffer, DisplayMessage, IfShell, LoadBuffer, PasteBuffer, SendKeys, TmuxCommand};

use super::listing::instance_format;
use super::script::{Script, line};
use super::words::Nonce;
use super::{Error, Listing, Server, run, transport};
use crate::fleet::TerminalKey;
use crate::ids::{NamedPlace, ServerInstance};
use crate::operation::{Key, Obstacle, PasteText};

pub use guard::{Guard, Misread};

/// What became of a text or of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// tmux wrote them to the pane.
    Delivered,
    /// Nothing was written.
    Refused(Obstacle),
}

/// The facts that each delivery depends on, in the order in which [`obstacle`] reads them. A window with one pane has
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
            facts => Ok(Delivery::Refused(obstacle(facts, key.pid))),
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

/// The obstacle that [`FACTS`] show; if there is none, the guard refused.
fn obstacle(facts: &str, pid: u32) -> Obstacle {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_refusal_is_read_from_the_facts() {
        assert_eq!(obstacle("77 0 0 0 0", 76), Obstacle::Replaced);
        assert_eq!(obstacle("76 1 0 0 0", 76), Obstacle::Dead);
        assert_eq!(obstacle("76 0 1 1 0", 76), Obstacle::InMode);
        assert_eq!(obstacle("76 0 0 0 1", 76), Obstacle::InputOff);
        assert_eq!(obstacle("76 0 0 0 0", 76), Obstacle::Changed);
        assert_eq!(obstacle("76 0 0 0 0 1", 76), Obstacle::Renamed);
        assert_eq!(obstacle("76 0 0 0 0 0", 76), Obstacle::Changed);
        assert_eq!(obstacle(" 0 0 0 0", 76), Obstacle::Gone);
    }
}
