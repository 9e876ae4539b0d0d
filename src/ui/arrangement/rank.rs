//! What comes before what.

use std::cmp::Ordering;

use crate::fleet::Terminal;
use crate::moment::Moment;
use crate::state::{Attention, State};
use crate::ui::meaning::{Meaning, turn_meaning};

/// The place of a terminal by how urgently it needs the operator; the lowest comes first. Of dialogs an approval comes
/// before a question, then trust, then set-up; a muted terminal has its place among those that need nobody.
pub fn rank(terminal: &Terminal, muted: bool) -> usize {
    let state = &terminal.state;
    let meaning = if muted { Meaning::Unknown } else { Meaning::of(state) };
    let dialog = match (meaning, state.attention) {
        (Meaning::Waits, Attention::Approval) => 0,
        (Meaning::Waits, Attention::Question) => 1,
        (Meaning::Waits, Attention::Trust) => 2,
        (Meaning::Waits, _) => 3,
        _ => 0,
    };
    place(meaning) * 4 + dialog
}

/// The place of a terminal by what it does.
pub fn phase(state: &State) -> usize {
    match turn_meaning(state) {
        Meaning::Working => 0,
        Meaning::Ready => 1,
        other => 2 + place(other),
    }
}

/// Since when a terminal has needed the operator: when its dialog came up, or when its turn ended.
pub fn waiting_since(terminal: &Terminal) -> Option<Moment> {
    let state = &terminal.state;
    match Meaning::of(state) {
        Meaning::Waits | Meaning::Stalled | Meaning::Error => Some(state.turn.since),
        Meaning::Failed | Meaning::Interrupted | Meaning::Finished => state.last_turn.at.or(Some(state.turn.since)),
        Meaning::Working | Meaning::Ready | Meaning::Unknown | Meaning::Gone => None,
    }
}

fn place(meaning: Meaning) -> usize {
    Meaning::ALL.iter().position(|&other| other == meaning).unwrap_or(Meaning::ALL.len())
}

/// Compares names as people do: without regard to case, and numbers by their value, so that `api-9` comes before
/// `api-10`.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.chars().peekable(), b.chars().peekable());
    loop {
        let (Some(&x), Some(&y)) = (a.peek(), b.peek()) else {
            return a.peek().is_some().cmp(&b.peek().is_some());
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            number(&mut a).cmp(&number(&mut b))
        } else {
            a.next();
            b.next();
            x.to_lowercase().cmp(y.to_lowercase())
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The digits that come next, as something that compares by value: how many there are without leading zeros, then
/// which.
fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> (usize, String) {
    let mut digits = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        if digit != '0' || !digits.is_empty() {
            digits.push(digit);
        }
    }
    (digits.len(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_people_do() {
        let mut names =
            ["api-10", "Web", "api-9", "api", "api-09b", "1", "étude", "api-123456789012345678901234567890"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["1", "api", "api-9", "api-09b", "api-10", "api-123456789012345678901234567890", "Web", "étude"]
        );
    }
}
