//! What is in front on a screen, and what that says about the surface (SPEC §4).

use super::{Conclusion, Fired, Front, cut, strip_border};
use crate::dialog::Dialog;
use crate::profile::classification::{EndMark, TurnEnd};
use crate::profile::rules::{Region, Signal};
use crate::profile::screen_view::DraftText;
use crate::state::{BusinessState, InputMode, Surface, Tri, UiContext};

impl Conclusion<'_> {
    pub(super) fn front(&self) -> Front {
        const DIALOGS: [(Signal, UiContext); 4] = [
            (Signal::Trust, UiContext::TrustPrompt),
            (Signal::Approval, UiContext::ApprovalPrompt),
            (Signal::Question, UiContext::Question),
            (Signal::Setup, UiContext::Setup),
        ];
        // What is known for what it is comes first.
        let mut kinds =
            [false, true].into_iter().flat_map(|either| DIALOGS.map(|(signal, context)| (signal, either, context)));
        let dialog = kinds.find(|(signal, either, _)| self.asked(*signal, *either).is_some());
        let list = |signal, context| self.has(signal).then_some(Front::List(context));
        let prompt = self.sight.prompt.as_ref();
        dialog
            .map(|(.., context)| Front::Dialog(context))
            .or_else(|| self.menu().map(|_| Front::Menu))
            .or_else(|| self.has(Signal::Starting).then_some(Front::Starting))
            .or_else(|| prompt.filter(|p| !p.focused).map(|_| Front::UnfocusedPrompt))
            .or_else(|| list(Signal::Slash, UiContext::SlashCommand))
            .or_else(|| list(Signal::Files, UiContext::SelectionMenu))
            .or_else(|| {
                prompt.filter(|_| self.has(Signal::Opening) && !self.has(Signal::Working)).map(|_| Front::Opening)
            })
            .or_else(|| prompt.map(|_| Front::Prompt))
            .or_else(|| {
                let front = if self.precedes_prompt() { Front::Starting } else { Front::WorkOnly };
                self.has(Signal::Working).then_some(front)
            })
            .unwrap_or(Front::Nothing)
    }

    /// Whether nothing is on the screen that a session has: of an agent that always shows its prompt, neither that nor anything
    /// submitted or said. What it works on, such as a session to resume, is no turn.
    fn precedes_prompt(&self) -> bool {
        let (sight, turn) = (self.sight, &self.sight.profile.turn);
        let always_shown = sight.profile.composer.as_ref().is_some_and(|composer| !composer.only_when_idle);
        let mut said = turn.answers.iter().chain(&turn.tools);
        always_shown
            && sight.submitted.is_empty()
            && !said.any(|&kind| sight.region(Region::Turn).any(|y| sight.is(y, kind)))
    }

    pub(super) fn surface(
        &self,
        front: Front,
        working: bool,
        doubtful: bool,
        end: &Option<TurnEnd>,
    ) -> (Surface, BusinessState, InputMode, UiContext) {
        let pending_input = if self.has(Signal::Queued) { Tri::Yes } else { Tri::No };
        let editing = match self.sight.prompt.as_ref().map(|p| &p.draft) {
            Some(DraftText::Text) => Tri::Yes,
            Some(DraftText::Empty | DraftText::Ghost) => Tri::No,
            // A list that covers the prompt is open because something was typed there.
            None if matches!(front, Front::List(_)) => Tri::Yes,
            None => Tri::Unknown,
        };
        let keys_elsewhere =
            Surface { accepting_input: Tri::No, editing_input: Tri::No, ready_posture: Tri::No, pending_input };
        let at_prompt =
            |ready_posture| Surface { accepting_input: Tri::Yes, editing_input: editing, ready_posture, pending_input };
        let business = if working { BusinessState::Working } else { BusinessState::Idle };
        let is_command = self.sight.prompt.as_ref().is_some_and(|prompt| prompt.command);
        let normal = if is_command { UiContext::CommandPrompt } else { UiContext::NormalPrompt };
        match front {
            Front::Dialog(context) => (keys_elsewhere, BusinessState::AwaitingOperator, InputMode::Modal, context),
            Front::Menu => {
                let business = if working { BusinessState::Working } else { BusinessState::Unknown };
                (keys_elsewhere, business, InputMode::Modal, UiContext::SelectionMenu)
            }
            Front::Starting => (Surface::UNKNOWN, BusinessState::Unknown, InputMode::Closed, UiContext::Unknown),
            Front::Opening => (at_prompt(Tri::No), BusinessState::Unknown, InputMode::Freeform, normal),
            Front::List(context) => (at_prompt(Tri::No), business, InputMode::Freeform, context),
            Front::Prompt if doubtful => (at_prompt(Tri::Unknown), BusinessState::Unknown, InputMode::Freeform, normal),
            Front::Prompt => {
                let failure = end.as_ref().filter(|end| end.mark == EndMark::Failed && !working);
                let context = match failure {
                    _ if normal == UiContext::CommandPrompt => normal,
                    Some(end) if names_limit(&end.detail) => UiContext::Limit,
                    Some(_) => UiContext::ErrorBanner,
                    None => normal,
                };
                let posture = if working { Tri::No } else { Tri::Yes };
                (at_prompt(posture), business, InputMode::Freeform, context)
            }
            Front::UnfocusedPrompt => {
                let business = if working { BusinessState::Working } else { BusinessState::Unknown };
                (Surface { pending_input, ..Surface::UNKNOWN }, business, InputMode::Unknown, UiContext::Unknown)
            }
            Front::WorkOnly if self.sight.profile.composer.as_ref().is_some_and(|c| c.only_when_idle) => {
                (keys_elsewhere, BusinessState::Working, InputMode::Closed, UiContext::Unknown)
            }
            Front::WorkOnly => {
                let surface = Surface { ready_posture: Tri::No, pending_input, ..Surface::UNKNOWN };
                (surface, BusinessState::Working, InputMode::Unknown, UiContext::Unknown)
            }
            Front::Nothing => (Surface::UNKNOWN, BusinessState::Unknown, InputMode::Unknown, UiContext::Unknown),
        }
    }
}

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
    /// The agent's words about its account's limit, with the time in them, if it offers choices because of that, whoever asked
    /// for them.
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
