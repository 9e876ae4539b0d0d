//! Totals in words.

use super::text;
use crate::record::timeline::Holder;
use crate::record::totals::Totals;
use crate::state::TurnResult;
use crate::status::Status;
use crate::time::Span;

/// Totals in words; `None` where there is nothing of it, or nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TotalsWords {
    pub worked: Option<String>,
    pub waited: Option<String>,
    /// How many turns ended how; empty where none ended.
    pub turns: Vec<(u32, Status)>,
    pub tokens: Option<String>,
    pub cost: Option<String>,
}

impl TotalsWords {
    /// The words for some totals, the same wherever they are shown.
    pub fn of(totals: &Totals) -> Self {
        let time = |holder| Some(totals.time(holder)).filter(|span| *span > Span::ZERO).map(length);
        let results = [TurnResult::Success, TurnResult::KnownFailure, TurnResult::Interrupted];
        let counted = results.map(|result| (totals.turns(result), Status::of_result(result)));
        let turns = counted.into_iter().filter(|(count, _)| *count > 0).filter_map(|(count, it)| Some((count, it?)));
        let (read, written) = (totals.tokens_in, totals.tokens_out);
        // A working agent always uses tokens, so a total of zero means unknown.
        let tokens = Some(read.unwrap_or_default().saturating_add(written.unwrap_or_default())).filter(|sum| *sum > 0);
        Self {
            worked: time(Holder::Working),
            waited: time(Holder::Waiting),
            turns: turns.collect(),
            tokens: tokens.map(text::rounded),
            cost: totals.cost_usd.map(|cost| format!("${cost:.2}")),
        }
    }
}

/// How many turns ended how, in words.
pub fn turns_told(turns: &[(u32, Status)]) -> String {
    turns.iter().map(|(count, status)| format!("{count} {}", status.word())).collect::<Vec<_>>().join(", ")
}

/// The sign of a group in a line without room for its word; blank if such a line leaves it out.
pub const fn sign(group: Status) -> char {
    match group.group() {
        Status::Failed => '✗',
        Status::Stalled | Status::Error => '!',
        Status::Interrupted => '⊘',
        Status::Finished => '✓',
        Status::Working => '*',
        Status::Ready => '·',
        Status::Unknown => '…',
        Status::Gone => ' ',
        _ => '?',
    }
}

/// A length of time as it is shown everywhere; more than nothing is at least a second.
fn length(span: Span) -> String {
    let least = if span == Span::ZERO { span } else { Span::SECOND };
    span.max(least).rounded()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_unit() {
        let of = |seconds: u64| length(Span::from_millis(seconds * 1000 - 100));
        assert_eq!([of(1), of(59), of(60), of(3599), of(3600), of(36_061)], ["1s", "58s", "59s", "59m", "59m", "10h"]);
    }

    #[test]
    fn what_nobody_knows_has_no_words() {
        let words = TotalsWords::of(&Totals::default());
        assert_eq!(words, TotalsWords { worked: None, waited: None, turns: Vec::new(), tokens: None, cost: None });
        let none = Totals { tokens_in: Some(0), tokens_out: Some(0), ..Totals::default() };
        assert_eq!(TotalsWords::of(&none).tokens, None);
        let words = TotalsWords::of(&Totals { tokens_out: Some(1200), cost_usd: Some(0.0), ..Totals::default() });
        assert_eq!((words.tokens.as_deref(), words.cost.as_deref()), (Some("1.2k"), Some("$0.00")));
    }
}
