//! The limit of what an account may use, in the words that agents share (SPEC §4).

use super::{Conclusion, Fired, cut, strip_border};
use crate::dialog::Dialog;
use crate::profile::rules::Signal;

/// What an account has only so much of.
const LIMITS: [&str; 6] = ["limit", "limits", "quota", "quotas", "allowance", "cap"];
/// Limits of something else, by the word before.
const OTHERS: [&str; 18] = [
    "retry",
    "retries",
    "context",
    "window",
    "size",
    "length",
    "time",
    "depth",
    "recursion",
    "character",
    "line",
    "output",
    "turn",
    "turns",
    "step",
    "steps",
    "memory",
    "file",
];
/// That it is used up, or when it is there again.
const OVER: [&str; 11] =
    ["reached", "hit", "exceed", "exceeded", "exceeds", "exhausted", "used", "depleted", "reset", "resets", "renews"];
/// What an agent may be out of.
const USED_UP: [&str; 7] = ["usage", "credits", "quota", "messages", "requests", "tokens", "prompts"];
/// How a line says when it goes on.
const AGAIN: [&str; 8] = ["reset", "resets", "renews", "again", "until", "available", "after", "back"];

/// Whether a line says that the account's limit is reached, or when it resets.
pub(super) fn names_limit(line: &str) -> bool {
    let words = words(line);
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).map_or("", String::as_str);
    let is_limit = |at: &usize| LIMITS.contains(&words[*at].as_str()) && !OTHERS.contains(&before(*at));
    let is_over = words.iter().any(|word| OVER.contains(&word.as_str()));
    let is_out_of = words.windows(2).enumerate().any(|(at, pair)| {
        pair == ["out", "of"] && words.iter().skip(at + 2).take(3).any(|word| USED_UP.contains(&word.as_str()))
    });
    let is_limited = words.windows(2).any(|pair| pair == ["rate", "limited"]);
    (is_over && (0..words.len()).any(|at| is_limit(&at))) || is_out_of || is_limited
}

/// Whether a line names a time from when on it goes on.
fn tells_when(line: &str) -> bool {
    line.contains(|c: char| c.is_ascii_digit()) && words(line).iter().any(|word| AGAIN.contains(&word.as_str()))
}

fn words(line: &str) -> Vec<String> {
    line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

impl Conclusion<'_> {
    /// What the agent says of its account's limit, with the time that it names, where it offers choices because of that, whoever
    /// asked it for them.
    pub(super) fn limit(&self, asking: Option<(&Fired<'_>, &Dialog)>) -> Option<String> {
        let is_unknown = |fired: &Fired<'_>| fired.rule.by_either || fired.rule.gives == Signal::Setup;
        let (_, dialog) = asking.filter(|(fired, dialog)| is_unknown(fired) && dialog.offers_choices())?;
        let above = self.said_above(dialog.rows.start);
        let options = || dialog.options.iter().map(|option| option.text.join(" "));
        let said: Vec<&str> = dialog.text.iter().map(|line| line.trim()).collect();
        let named = said.iter().position(|line| names_limit(line));
        let line = match named {
            _ if names_limit(&above) => above,
            Some(at) => {
                let more = said.iter().skip(at + 1).find(|line| !tells_when(said[at]) && tells_when(line));
                std::iter::once(&said[at]).chain(more).copied().collect::<Vec<_>>().join(" ")
            }
            None => options().find(|option| names_limit(option))?,
        };
        Some(cut(line.trim_start_matches(|c: char| !c.is_alphanumeric()), 200))
    }

    /// The last paragraph above a row, from where it names a limit; a prompt is none, as a command may be repeated there.
    fn said_above(&self, y: usize) -> String {
        let sight = self.sight;
        let is_said = |y: &usize| !sight.is_blank(*y) && !sight.is_any(*y, sight.profile.turn.prompts);
        let Some(last) = (0..y).rev().find(is_said) else { return String::new() };
        let first = (0..last).rev().take_while(is_said).last().unwrap_or(last);
        let row = |y: usize| strip_border(sight.row(y)).trim();
        // What it is about may stand right above.
        let begins = (first..=last).rev().find(|&y| names_limit(row(y))).unwrap_or(first);
        (begins..=last).map(row).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_an_account_is_known_by_many_words() {
        for line in [
            "You've hit your session limit · resets 11:10pm (Europe/Paris)",
            "Claude usage limit reached. Your limit will reset at 3pm",
            "5-hour limit reached ∙ resets 3pm",
            "Stop and wait for limit to reset",
            "You're out of extra usage · resets Oct 9",
            "■ You’ve hit your usage limit. Upgrade to Pro or try again at 3:04 PM.",
            "You have exhausted your daily quota on this model.",
            "The daily limit of this model is reached.",
            "Quota exceeded for metric: requests",
            "Sorry, you have been rate-limited until 18:00",
            "API Error: 429 this request would exceed your account's rate limit",
        ] {
            assert!(names_limit(line), "{line}");
        }
        for line in [
            "■ exceeded retry limit, last status: 429 Too Many Requests",
            "Context limit reached · /compact or /clear to continue",
            "API Error: the response exceeded the 32000 output token maximum",
            "Set a limit for the request",
            "What do you want to do?",
            "The file size limit was exceeded",
        ] {
            assert!(!names_limit(line), "{line}");
        }
    }
}
