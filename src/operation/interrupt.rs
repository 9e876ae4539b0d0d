//! Which keys stop an agent, and whether there is anything to stop.

use super::{Act, Key};
use crate::fleet::Terminal;
use crate::state::{Availability, Phase, Tri};

/// Keys that stop programs, the usual one first, for what the agent's own profile does not say.
const KEYS: [(&[&str], &str); 3] = [
    (&["Escape"], "stops the turn of most agents"),
    (&["Escape", "Escape"], "if the first one only warns"),
    (&["C-c"], "stops programs; many agents end on a second one"),
];

/// Why there is nothing to stop in a terminal; `None` when there is, when that is not known, or when a key would
/// take away a draft.
pub fn needless(terminal: &Terminal) -> Option<String> {
    let state = &terminal.state;
    let name = &state.terminal.id;
    match (state.diagnostics.availability, state.turn.phase) {
        (Availability::TuiDown | Availability::Unavailable, _) => Some(format!("the agent of {name} has ended")),
        _ if state.is_suspended() => Some(format!("the agent of {name} is suspended")),
        (_, Phase::Ready) if !has_draft(terminal) => Some(format!("{name} is ready")),
        _ => None,
    }
}

/// The usual keys for what a terminal shows.
pub fn usual(terminal: &Terminal) -> Act {
    let keys = choices(terminal).into_iter().next().map(|(keys, _)| keys);
    let dialog = terminal.dialog.clone().filter(|_| terminal.state.waits());
    Act::Interrupt { keys: keys.unwrap_or_default(), dialog }
}

/// What can be pressed, and what it does: what the agent's profile says, then what stops others.
pub fn choices(terminal: &Terminal) -> Vec<(Vec<Key>, String)> {
    let own = own(terminal);
    let tool = &terminal.state.terminal.tool;
    let note = match terminal.state.turn.phase {
        Phase::Ready => format!("may clear the draft: no turn of {tool} runs"),
        _ => format!("stops the turn of {tool}"),
    };
    let others = KEYS.iter().map(|(names, note)| (parsed(names.iter().copied()), (*note).to_owned()));
    let others: Vec<(Vec<Key>, String)> = others.filter(|(keys, _)| *keys != own).collect();
    (!own.is_empty()).then_some((own, note)).into_iter().chain(others).collect()
}

/// What the agent's profile says that stops it.
pub fn own(terminal: &Terminal) -> Vec<Key> {
    parsed(terminal.interrupt.iter().map(|key| key.word()))
}

/// Whether a text is begun in its prompt.
pub fn has_draft(terminal: &Terminal) -> bool {
    terminal.state.surface.editing_input == Tri::Yes
}

fn parsed<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Key> {
    names.filter_map(|name| name.parse().ok()).collect()
}
