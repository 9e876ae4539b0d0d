//! Stopping what an agent does: which key goes, and only once the operator has said so.

use super::Request;
use super::meaning::turn_word;
use super::menu::{Entry, Menu};
use super::overlay::{Desk, Then};
use super::picker::Picker;
use super::raw::spoken_all;
use super::text;
use crate::fleet::{Terminal, TerminalKey};
use crate::state::{Availability, Phase, Tri};

/// Keys that stop programs, the usual one first, for what the agent's own profile does not say.
const KEYS: [(&[&str], &str); 3] = [
    (&["Escape"], "stops the turn of most agents"),
    (&["Escape", "Escape"], "where the first one only warns"),
    (&["C-c"], "stops programs; many agents end on a second one"),
];

/// The question which key to press.
#[derive(Debug)]
pub struct Interrupt {
    key: TerminalKey,
    /// What can be pressed, by tmux's names.
    choices: Vec<Vec<String>>,
    menu: Menu,
}

impl Interrupt {
    /// The question for a terminal.
    pub fn new(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let draft = if has_draft(terminal) { ", with a draft" } else { "" };
        let title = format!("press in {} ({}{draft})?", state.terminal.id, turn_word(state));
        let (choices, notes): (Vec<Vec<String>>, Vec<String>) = choices(terminal).into_iter().unzip();
        let called: Vec<String> = choices.iter().map(spoken_all).collect();
        let widest = called.iter().map(|called| text::width(called)).max().unwrap_or(0);
        let entry = |(called, note): (&String, &String)| Entry {
            text: format!("{called}{}   {note}", " ".repeat(widest - text::width(called))),
            note: String::new(),
        };
        let entries = called.iter().zip(&notes).map(entry).collect();
        Self { key: terminal.key.clone(), choices, menu: Menu::new(title, entries).whole() }
    }

    /// Why there is nothing to stop in a terminal; `None` when there is, when that cannot be told, or when a key would
    /// take away a draft.
    pub fn needless(terminal: &Terminal) -> Option<String> {
        let state = &terminal.state;
        let name = &state.terminal.id;
        match (state.diagnostics.availability, state.turn.phase) {
            (Availability::TuiDown | Availability::Unavailable, _) => {
                Some(format!("nothing to interrupt: the agent of {name} has ended"))
            }
            (_, Phase::Ready) if !has_draft(terminal) => Some(format!("nothing to interrupt: {name} is ready")),
            _ => None,
        }
    }

    /// What is asked for without a question, where the operator has configured it so.
    pub fn at_once(terminal: &Terminal) -> Request {
        let keys = choices(terminal).into_iter().next().map(|(keys, _)| keys);
        request(&terminal.key, keys.unwrap_or_default())
    }
}

fn has_draft(terminal: &Terminal) -> bool {
    terminal.state.surface.editing_input == Tri::Yes
}

/// What can be pressed, and what it does: what the agent's profile says, then what stops others.
fn choices(terminal: &Terminal) -> Vec<(Vec<String>, String)> {
    let own: Vec<&str> = terminal.interrupt.iter().map(|key| key.word()).collect();
    let note = format!("stops the turn of {}", terminal.state.terminal.tool);
    let others = KEYS.iter().filter(|(keys, _)| *keys != own).map(|(keys, note)| (keys.to_vec(), (*note).to_owned()));
    let own = (!own.is_empty()).then(|| (own.clone(), note));
    let names = |keys: Vec<&str>| keys.into_iter().map(str::to_owned).collect();
    own.into_iter().chain(others).map(|(keys, note)| (names(keys), note)).collect()
}

fn request(key: &TerminalKey, keys: Vec<String>) -> Request {
    Request::Keys { key: key.clone(), keys, tell: true }
}

impl Picker for Interrupt {
    fn menu(&mut self) -> &mut Menu {
        &mut self.menu
    }

    fn words(&self) -> [&'static str; 3] {
        ["press it", "another key", "press nothing"]
    }

    fn about(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn take(&mut self, index: usize, desk: &mut Desk<'_, '_>) -> Then {
        desk.ask(request(&self.key, self.choices[index].clone()));
        Then::Close
    }

    /// Pressing takes the key.
    fn takes_clicks(&self) -> bool {
        false
    }
}
