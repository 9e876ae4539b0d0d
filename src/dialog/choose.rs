//! Finds the option that a text means.

use super::{Choice, Dialog, Verdict};

/// Why no option is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    #[error("the dialog has no option `{0}`")]
    None(String),
    #[error("several options begin with `{0}`")]
    Several(String),
    #[error("no option says `{0}` for this time only")]
    Standing(String),
}

/// Answers, and how options begin that mean them. Only the first beginning that any option has counts.
const ANSWERS: [(&str, &[&str]); 2] =
    [("yes", &["yes", "allow", "approve", "accept"]), ("no", &["no", "reject", "deny", "decline", "don't", "don’t"])];
/// Words of options that hold for more than this question.
const STANDING: [&str; 18] = [
    "always",
    "again",
    "without asking",
    "auto mode",
    "auto-",
    "every",
    "allow all",
    "all edits",
    "accept edits",
    "remember",
    "session",
    "conversation",
    "default",
    "future",
    "from now",
    "bypass",
    "permanent",
    "clear context",
];

impl Dialog {
    /// The option that a text means: its number or letter, its whole text, the key behind its text, or a beginning that no
    /// other one's text has. `yes` and `no`, or `y` and `n`, answer this question: they mean the option that does so by the
    /// agent's profile, and else never one that holds for longer, nor one of a menu, unless it says just that.
    ///
    /// # Errors
    /// No option is meant, or several could be.
    pub fn choose(&self, text: &str) -> Result<usize, ChoiceError> {
        let wanted = text.trim().to_lowercase();
        let only = |fits: &dyn Fn(&Choice) -> bool| {
            let mut fitting = self.options.iter().enumerate().filter(|(_, option)| fits(option));
            let first = fitting.next().map(|(place, _)| place);
            (first, fitting.next().is_some())
        };
        let label = |option: &Choice| option.label.to_lowercase();
        let by_name = only(&|option| option.name == wanted);
        // `yes` is an answer of its own even if another option begins with the same word.
        let whole = only(&|option| label(option) == wanted);
        let beginning = only(&|option| !wanted.is_empty() && label(option).starts_with(&wanted));
        // Some agents write the key of an option behind it: `Yes, proceed (y)`.
        let key = format!("({wanted})");
        let by_key = only(&|option| label(option).ends_with(&key));
        if by_name.0.is_none()
            && whole.0.is_none()
            && by_key.0.is_none()
            && let Some((word, beginnings)) =
                ANSWERS.iter().find(|(word, _)| *word == wanted || word.get(..1) == Some(&wanted))
        {
            return self.choose_once(word, beginnings);
        }
        match [by_name, whole, by_key, beginning].into_iter().find(|(first, _)| first.is_some()) {
            Some((Some(place), false)) => Ok(place),
            Some(_) => Err(ChoiceError::Several(text.to_owned())),
            None => Err(ChoiceError::None(text.to_owned())),
        }
    }

    /// Whether an option begins with a word that says yes, or no.
    pub(super) fn answers(&self, verdict: Verdict) -> bool {
        let words = ANSWERS.iter().find(|(word, _)| (*word == "yes") == (verdict == Verdict::Once));
        let beginnings = words.map_or(&[][..], |(_, beginnings)| beginnings);
        let label = |option: &Choice| option.label.to_lowercase();
        self.options.iter().any(|option| beginnings.iter().any(|words| super::option::begins(&label(option), words)))
    }

    fn choose_once(&self, word: &str, beginnings: &[&str]) -> Result<usize, ChoiceError> {
        let verdict = if word == "yes" { Verdict::Once } else { Verdict::No };
        if let Some(place) = self.that_says(verdict) {
            return Ok(place);
        }
        let begins = |label: &str, with: &str| {
            label.strip_prefix(with).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        let meaning = |with: &&str| -> Vec<(usize, String)> {
            let texts =
                self.options.iter().enumerate().map(|(place, option)| (place, option.text.join(" ").to_lowercase()));
            texts.filter(|(_, text)| begins(text, with)).collect()
        };
        let meant = beginnings.iter().map(meaning).find(|meant| !meant.is_empty());
        let Some(meant) = meant.filter(|_| !self.is_menu) else {
            return Err(ChoiceError::None(word.to_owned()));
        };
        let once = |text: &str| !STANDING.iter().any(|words| text.contains(words));
        let mut plain = meant.iter().filter(|(_, text)| once(text)).map(|(place, _)| *place);
        match (plain.next(), plain.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(ChoiceError::Several(word.to_owned())),
            (None, _) => Err(ChoiceError::Standing(word.to_owned())),
        }
    }

    /// The options that a text means if several can be ticked: one, or more with commas between them.
    ///
    /// # Errors
    /// A part means no option, or several.
    pub fn choose_several(&self, text: &str) -> Result<Vec<usize>, ChoiceError> {
        if let Ok(only) = self.choose(text) {
            return Ok(vec![only]);
        }
        text.split(',').map(|part| self.choose(part.trim())).collect()
    }

    /// The options in one line, for a message.
    pub fn list(&self) -> String {
        self.options.iter().map(|option| format!("{} {}", option.name, option.label)).collect::<Vec<_>>().join(", ")
    }
}
