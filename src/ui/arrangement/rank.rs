//! What comes before what.

use std::cmp::Ordering;

use super::item::Item;
use crate::moment::Moment;
use crate::state::Attention;
use crate::ui::meaning::Meaning;

/// The place of a terminal by how urgently it needs the operator; the lowest comes first. Of dialogs an approval comes
/// before a question, then trust, then set-up and what a task asks; a muted terminal has its place among those that need nobody.
pub fn rank(item: Item<'_>, muted: bool) -> usize {
    let meaning = if muted { Meaning::Unknown } else { item.meaning() };
    let attention = match item {
        Item::Terminal(terminal) => terminal.state.attention,
        Item::Task(_) => Attention::None,
    };
    let dialog = match (meaning, attention) {
        (Meaning::Waits, Attention::Approval) => 0,
        (Meaning::Waits, Attention::Question) => 1,
        (Meaning::Waits, Attention::Trust) => 2,
        (Meaning::Waits, _) => 3,
        _ => 0,
    };
    place(meaning) * 4 + dialog
}

/// The place of a terminal by what it does.
pub fn phase(item: Item<'_>) -> usize {
    match item.doing() {
        Meaning::Working => 0,
        Meaning::Ready => 1,
        other => 2 + place(other),
    }
}

/// Since when a terminal has needed the operator: when its dialog came up, or when its turn ended.
pub fn waiting_since<'a>(item: impl Into<Item<'a>>) -> Option<Moment> {
    let item = item.into();
    let ended = || match item {
        Item::Terminal(terminal) => terminal.state.last_turn.at,
        Item::Task(_) => None,
    };
    match item.meaning() {
        Meaning::Waits | Meaning::Stalled | Meaning::Error => Some(item.since()),
        Meaning::Failed | Meaning::Interrupted | Meaning::Finished => ended().or(Some(item.since())),
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
