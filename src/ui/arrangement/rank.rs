//! What comes before what.

use std::cmp::Ordering;

use super::item::Item;
use crate::status::Status;
use crate::time::Timestamp;

/// The place of a terminal by how urgently it needs the operator; the lowest comes first. Of dialogs an approval comes
/// before a question, then trust, then set-up and what a task asks; a muted terminal has its place among those that need nobody.
pub fn rank(item: Item<'_>, muted: bool) -> usize {
    if muted { Status::Unknown.urgency() } else { item.status().urgency() }
}

/// The place of a terminal by what it does.
pub fn phase(item: Item<'_>) -> usize {
    match item.doing() {
        Status::Working | Status::Running => 0,
        Status::Ready => 1,
        other => 2 + other.urgency(),
    }
}

/// Since when a terminal has needed the operator: when its dialog came up, or when its turn ended.
pub fn waiting_since<'a>(item: impl Into<Item<'a>>) -> Option<Timestamp> {
    let item = item.into();
    let ended = || match item {
        Item::Terminal(terminal) => terminal.state.last_turn.at,
        Item::Task(_) => None,
    };
    let status = item.status();
    let since = item.since().at;
    match status {
        Status::Failed | Status::Interrupted | Status::Finished => ended().or(Some(since)),
        _ => Some(since).filter(|_| status.wants_a_look()),
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
