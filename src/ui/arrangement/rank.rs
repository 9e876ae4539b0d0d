//! What comes before what.

use std::cmp::Ordering;

use super::item::Item;
use crate::moment::Moment;
use crate::state::Attention;
use crate::ui::meaning::Meaning;

/// The place of a terminal by how urgently it needs the operator; the lowest comes first. Of dialogs an approval comes
/// before a question, then trust, then set-up and what a task asks; a muted terminal has its place among those that need nobody.
pub fn rank(item: Item<'_>, muted: bool) -> usize {
    let meaning = if muted { Meaning::Unknown } else { item.urgency() };
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
    meaning as usize * 4 + dialog
}

/// The place of a terminal by what it does.
pub fn phase(item: Item<'_>) -> usize {
    match item.doing() {
        Meaning::Working => 0,
        Meaning::Ready => 1,
        _ if matches!(item, Item::Task(_)) => 2 + item.urgency() as usize,
        other => 2 + other as usize,
    }
}

/// Since when a terminal has needed the operator: when its dialog came up, or when its turn ended.
pub fn waiting_since<'a>(item: impl Into<Item<'a>>) -> Option<Moment> {
    let item = item.into();
    let ended = || match item {
        Item::Terminal(terminal) => terminal.state.last_turn.at,
        Item::Task(_) => None,
    };
    match item.urgency() {
        Meaning::Waits | Meaning::Stalled | Meaning::Error => Some(item.since()),
        Meaning::Failed | Meaning::Interrupted | Meaning::Finished => ended().or(Some(item.since())),
        Meaning::Working | Meaning::Ready | Meaning::Unknown | Meaning::Gone => None,
    }
}

/// Compares names as people do: without regard to case, and numbers by their value, so that `api-9` comes before
/// `api-10`.
pub fn natural(mut a: &str, mut b: &str) -> Ordering {
    loop {
        let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
            return b.is_empty().cmp(&a.is_empty());
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (number(&mut a), number(&mut b));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            x.to_lowercase().cmp(y.to_lowercase())
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Takes the digits that come next out of a text. Without leading zeros the longer one is the larger number.
fn number<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits.trim_start_matches('0')
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
