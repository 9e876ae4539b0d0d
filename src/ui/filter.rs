//! Which terminals are shown: a text that the operator types, word by word.
//!
//! A plain word fits to a name, an agent or a session that has its letters in order, or to a directory that has it as it
//! is. `is:`, `agent:`, `host:`, `session:` and `label:` ask for one thing, by the beginning of what it is called; `!`
//! in front turns a word around. Every word has to fit.

mod bar;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

pub use bar::{FilterBar, note};

use super::arrangement::Flags;
use super::item::Item;
use crate::state::{Tri, TurnResult};
use crate::status::Status;

/// The words that `is:` knows: those that the table, the header and the log say, and marks of a row.
const STATES: [&str; 22] = [
    "needs-you",
    "working",
    "ready",
    "failed",
    "finished",
    "gone",
    "stalled",
    "interrupted",
    "error",
    "unknown",
    "draft",
    "background",
    "marked",
    "pinned",
    "muted",
    "approval",
    "question",
    "trust",
    "setup",
    "asks",
    "running",
    "exited",
];

/// What people say as well, among it the words of the JSON, and which of [`STATES`] that means; `success` is a turn that
/// ended well, seen or not.
const SYNONYMS: [(&str, &str); 16] = [
    ("active", "working"),
    ("awaiting_operator", "needs-you"),
    ("blocked", "needs-you"),
    ("completed", "success"),
    ("disconnected", "gone"),
    ("done", "success"),
    ("idle", "ready"),
    ("known_failure", "failed"),
    ("processing", "working"),
    ("success", "success"),
    ("tui_down", "gone"),
    ("unavailable", "gone"),
    ("unsupported", "unknown"),
    ("waiting", "needs-you"),
    ("waiting_input", "asks"),
    ("waiting_user_answer", "needs-you"),
];

/// The states that a word of the operator's may mean: those that it begins, else those of the synonyms that it begins.
fn states(word: &str) -> Vec<&'static str> {
    let own: Vec<&str> = STATES.into_iter().filter(|state| state.starts_with(word)).collect();
    if !own.is_empty() {
        return own;
    }
    SYNONYMS.into_iter().filter(|(said, _)| said.starts_with(word)).map(|(_, state)| state).collect()
}

/// A filter; the empty one lets everything through.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    text: String,
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    wanted: bool,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// Letters in order, and the same as a plain part.
    Fuzzy(Atom, String),
    Part(String),
    /// The word, and the states that it may mean.
    Is(String, Vec<&'static str>),
    Agent(String),
    Host(String),
    Session(String),
    Label(String),
}

impl Filter {
    /// Reads a filter as it was typed. Every text is a filter.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), terms: text.split_whitespace().filter_map(Term::new).collect() }
    }

    /// The filter as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// What is wrong with it: a state that there is none of.
    pub fn doubt(&self) -> Option<String> {
        let unknown = |term: &Term| match &term.what {
            What::Is(word, states) if states.is_empty() => Some(word.clone()),
            _ => None,
        };
        self.terms.iter().find_map(unknown)
    }

    /// Tells which terminals it lets through.
    pub fn matcher<'a>(&'a self, flags: &'a Flags) -> impl FnMut(Item<'_>) -> bool + 'a {
        // The matcher holds a table of 100 KB, which most frames have no need of.
        let is_fuzzy = self.terms.iter().any(|term| matches!(term.what, What::Fuzzy(..)));
        let mut matcher = is_fuzzy.then(|| Matcher::new(Config::DEFAULT));
        move |item| self.terms.iter().all(|term| term.fits(item, flags, matcher.as_mut()) == term.wanted)
    }
}

impl Term {
    /// A word of a filter; nothing for one that asks for nothing yet.
    fn new(word: &str) -> Option<Self> {
        let (wanted, word) = match word.strip_prefix('!') {
            Some(word) => (false, word),
            None => (true, word),
        };
        let word = word.to_lowercase();
        let what = match word.split_once(':') {
            Some(("is", value)) => What::Is(value.to_owned(), states(value)),
            Some(("agent", value)) => What::Agent(value.to_owned()),
            Some(("host", value)) => What::Host(value.to_owned()),
            Some(("session", value)) => What::Session(value.to_owned()),
            Some(("label", value)) => What::Label(value.to_owned()),
            _ if wanted => {
                let atom = Atom::new(&word, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false);
                What::Fuzzy(atom, word.clone())
            }
            // What is not wanted is meant as it is written: letters in order would throw out far too much.
            _ => What::Part(word.clone()),
        };
        let value = word.split_once(':').map_or(word.as_str(), |(_, value)| value);
        (!value.is_empty()).then_some(Self { wanted, what })
    }

    fn fits(&self, item: Item<'_>, flags: &Flags, matcher: Option<&mut Matcher>) -> bool {
        let names = [item.id(), item.tool(), item.session()];
        let begins = |text: &str, with: &str| text.to_lowercase().starts_with(with);
        let contains = |text: &str, part: &str| text.to_lowercase().contains(part);
        match &self.what {
            What::Fuzzy(atom, part) => {
                let mut buffer = Vec::new();
                let found = matcher.is_some_and(|matcher| {
                    names.iter().any(|text| atom.score(Utf32Str::new(text, &mut buffer), matcher).is_some())
                });
                found || contains(item.cwd(), part)
            }
            What::Part(part) => names.iter().any(|text| contains(text, part)) || contains(item.cwd(), part),
            What::Is(_, states) => states.iter().any(|state| is(item, flags, state)),
            What::Agent(word) => begins(item.tool(), word),
            What::Host(word) => {
                begins(item.key().server.host.as_deref().unwrap_or("local"), word)
                    || begins(&item.key().server.to_string(), word)
            }
            What::Session(word) => begins(item.session(), word),
            What::Label(word) => item.label().is_some_and(|label| begins(label, word)),
        }
    }
}

/// The states that can be asked for, in words.
pub fn states_in_words() -> String {
    format!("is: {}", STATES.join(" "))
}

/// Whether a word of [`states`] holds for a terminal or a task, as the table shows it.
fn is(item: Item<'_>, flags: &Flags, word: &str) -> bool {
    let status = item.status();
    let state = match item {
        Item::Terminal(terminal) => Some(&terminal.state),
        Item::Task(_) => None,
    };
    let ended = |result| state.is_some_and(|state| state.last_turn.result == result);
    match word {
        "needs-you" => status.needs_operator(),
        "failed" if ended(TurnResult::KnownFailure) => true,
        "interrupted" if ended(TurnResult::Interrupted) => true,
        "success" => status.group() == Status::Finished || ended(TurnResult::Success),
        "draft" => state.is_some_and(|state| state.surface.editing_input == Tri::Yes),
        "background" => state.is_some_and(|state| state.turn.background_work == Tri::Yes),
        "marked" => flags.is_marked(item),
        "pinned" => flags.is_pinned(item),
        "muted" => flags.is_muted(item),
        "exited" => matches!(status, Status::Exited(_)),
        // The header counts what reads otherwise with its group.
        word => status.word() == word || (!status.needs_operator() && status.group().name() == word),
    }
}
