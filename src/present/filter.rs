//! Which terminals are shown: a text that the operator types, word by word.
//!
//! A plain word matches a name, an agent, a session or a directory that contains it.
//! `is:`, `name:`, `agent:`, `host:`, `session:` and `label:` match the beginning of one field; facts about an agent are matched by a part
//! or by a number, `dir:` by a part of the directory or of its repository's, and how long it has been in its state by `age:` and `waited:`. Of values between commas one must match; `!` in
//! front negates a word. All words must match.

mod unclear;
mod words;

use std::collections::BTreeSet;

use jiff::{SpanRelativeTo, Unit};
pub use unclear::Unclear;

use super::flags::Flags;
use super::item::{Item, Measure};
use super::text::at_last_word;
use crate::fleet::{TerminalKey, View};
use crate::repository::GitFacts;
use crate::state::{AgentFacts, Phase, Tri, TurnResult, UiContext, numbered};
use crate::status::Status;
use crate::time::Timestamp;
use words::{FACTS, FIELDS, LISTS, MEASURES, STATES, SYNONYMS, USUAL_AGES, is_spoken, is_state, states};

/// A filter; the empty one lets everything through.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    text: String,
    terms: Vec<Term>,
    /// The rows that stay when looking at them changes their states: those under the cursor, or marked.
    kept: BTreeSet<TerminalKey>,
}

#[derive(Clone, Debug)]
struct Term {
    wanted: bool,
    any: Vec<What>,
}

#[derive(Clone, Debug)]
enum What {
    /// A part of a name, an agent, a session or a directory.
    Part(String),
    /// The word, and the states that it may mean.
    Is(String, Vec<&'static str>),
    /// What the texts of a field say.
    Text(&'static str, String),
    /// Less or more of something than this.
    Measured(Measure, Bound),
    /// It has been as it is for less or more seconds than this.
    Aged(Bound),
    /// The same of one that waits for the operator.
    Waited(Bound),
    /// So many steps of a plan done, of so many.
    Steps(u64, u64),
    /// A number is asked for, and this is none; it lets nothing through.
    NoNumber(&'static str, String),
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Below(f64),
    Above(f64),
}

impl Bound {
    /// Reads `>5m`, `<1h30m` or a time alone, which means at least that old.
    fn of_age(text: &str) -> Option<Self> {
        let seconds = seconds(text.trim_start_matches(['<', '>'])).filter(|it| *it >= 0.0)?;
        Some(if text.starts_with('<') { Self::Below(seconds) } else { Self::Above(seconds) })
    }

    /// Reads `<20%`, `>5` or a number alone, which means what the operator looks for.
    fn new(measure: Measure, text: &str) -> Option<Self> {
        let number = numbered(text.trim_start_matches(['<', '>', '$']).trim_end_matches('%'))?;
        let is_below = text.starts_with('<') || (!text.starts_with('>') && measure.is_worth_when_small());
        Some(if is_below { Self::Below(number) } else { Self::Above(number) })
    }

    fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(bound) => value < bound,
            Self::Above(bound) => value > bound,
        }
    }
}

/// A time as it is typed: `45s`, `5m`, `1h30m`, `2d`.
fn seconds(text: &str) -> Option<f64> {
    text.parse::<jiff::Span>().ok()?.total((Unit::Second, SpanRelativeTo::days_are_24_hours())).ok()
}

impl Filter {
    /// Reads a filter as it was typed. Every text is a filter.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            terms: text.split_whitespace().filter_map(Term::new).collect(),
            ..Self::default()
        }
    }

    /// All that it asks for.
    fn asked(&self) -> impl Iterator<Item = &What> {
        self.terms.iter().flat_map(|term| &term.any)
    }

    /// The filter as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The fault of the filter: a state, a field, a number or a value that does not exist.
    pub fn doubt(&self, view: &View<'_>) -> Option<Unclear> {
        let unknown = |what: &What| match what {
            what if what.fault().is_some() => what.fault(),
            What::Part(word) => what.unknown_field().or_else(|| is_state(word).then(|| Unclear::Name(word.clone()))),
            What::Text(field, word) => {
                if Item::all(view).into_iter().any(|item| what.fits(item, &Flags::default(), view.now)) {
                    return None;
                }
                let known = values(field, view);
                (!known.is_empty()).then(|| Unclear::Value { field, word: word.clone(), known })
            }
            _ => None,
        };
        self.asked().find_map(unknown)
    }

    /// What can never fit, whatever there is.
    pub fn fault(&self) -> Option<Unclear> {
        self.asked().find_map(What::fault)
    }

    /// An unknown field that it seems to ask for. The word may be part of a name if something is called so.
    pub fn unknown_field(&self) -> Option<Unclear> {
        self.asked().find_map(What::unknown_field)
    }

    /// Whether what it lets through changes by itself as time passes.
    pub fn is_timed(&self) -> bool {
        self.asked().any(|what| matches!(what, What::Aged(_) | What::Waited(_)))
    }

    /// The rows that it lets through whatever it asks for.
    pub fn kept(&self) -> &BTreeSet<TerminalKey> {
        &self.kept
    }

    /// Lets rows through as well until [`Self::keep_only`] says otherwise, as looking at them may change their states.
    pub fn keep(&mut self, keys: impl IntoIterator<Item = TerminalKey>) {
        self.kept.extend(keys);
    }

    /// Lets no other rows through any more than those, unless it asks for them.
    pub fn keep_only(&mut self, stays: impl FnMut(&TerminalKey) -> bool) {
        self.kept.retain(stays);
    }

    /// A filter for any of the names that its words may have been meant as, where it has several words and all are plain.
    pub fn as_names(&self) -> Option<Self> {
        let plain = |what: &What| match what {
            What::Part(word) => Some(word.trim_matches(',').to_owned()),
            _ => None,
        };
        let words: Vec<String> = self.asked().map(plain).collect::<Option<_>>()?;
        let names = words.join(",");
        let is_list = names.contains(',') && self.terms.iter().all(|term| term.wanted);
        is_list.then(|| Self::new(&format!("name:{names}")))
    }

    /// Its first word that asks for nothing yet: `is:`, `age:>`.
    pub fn begun(&self) -> Option<&str> {
        self.text.split_whitespace().find(|word| Term::new(word).is_none())
    }

    /// Whether there is a field of this name.
    pub fn has_field(name: &str) -> bool {
        FIELDS.contains(&name)
    }

    /// Whether it lets a row through only because it keeps it.
    pub fn only_keeps(&self, item: Item<'_>, flags: &Flags, now: Timestamp) -> bool {
        self.kept.contains(item.key()) && !Self { kept: BTreeSet::new(), ..self.clone() }.lets(item, flags, now)
    }

    /// Whether it lets a terminal or a task through.
    pub fn lets(&self, item: Item<'_>, flags: &Flags, now: Timestamp) -> bool {
        let holds = |term: &Term| term.any.iter().any(|what| what.fits(item, flags, now)) == term.wanted;
        self.kept.contains(item.key()) || self.terms.iter().all(holds)
    }
}

/// A filter with its last word completed as far as only one thing can be meant, and all that can be meant by it: names of
/// fields, states, and what terminals in view have.
pub fn completed(text: &str, view: &View<'_>) -> (String, Vec<String>) {
    let (before, last) = at_last_word(text);
    let start = before.len() + usize::from(last.starts_with('!'));
    let word = text[start..].to_lowercase();
    let mut meant: Vec<String> = match word.split_once(':') {
        None => FIELDS.iter().map(|field| format!("{field}:")).filter(|field| field.starts_with(&word)).collect(),
        Some((field, value)) => {
            // Values before the last comma are complete.
            let last = value.rfind(',').filter(|_| LISTS.contains(&field)).map_or(0, |at| at + 1);
            let (before, value) = value.split_at(last);
            let mut values: Vec<String> = values(field, view).into_iter().filter(|it| it.starts_with(value)).collect();
            if field == "is" && values.is_empty() {
                let is_meant = |said: &&str| said.starts_with(value) && (is_spoken(said) || value.contains('_'));
                values = SYNONYMS.iter().map(|(said, _)| *said).filter(is_meant).map(str::to_owned).collect();
            }
            values.into_iter().map(|value| format!("{field}:{before}{value}")).collect()
        }
    };
    meant.sort();
    meant.dedup();
    let Some(first) = meant.first() else { return (text.to_owned(), meant) };
    let same =
        |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let common: String = meant.iter().fold(first.clone(), |common, other| same(&common, other));
    let behind = if meant.len() == 1 && !common.ends_with(':') { " " } else { "" };
    (format!("{}{common}{behind}", &text[..start]), meant)
}

/// What a word of a filter may become on the command line: also the name of what is in view.
pub fn filter_completions(word: &str, view: &View<'_>) -> Vec<String> {
    let not = if word.starts_with('!') { "!" } else { "" };
    let begun = &word[not.len()..];
    let names = Item::all(view).into_iter().map(Item::id).filter(|name| !begun.is_empty() && name.starts_with(begun));
    let meant = completed(word, view).1.into_iter().chain(names.map(str::to_owned));
    meant.map(|meant| format!("{not}{meant}")).collect()
}

/// What may stand behind the name of a field, in small letters and without blanks.
fn values(field: &str, view: &View<'_>) -> Vec<String> {
    let of = |words: &dyn Fn(Vec<String>) -> Vec<String>| {
        let all = Item::all(view).into_iter().flat_map(|item| words(texts(field, item)));
        all.map(|word| word.to_lowercase()).collect()
    };
    let words = |text: &String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    match field {
        "is" => STATES.map(str::to_owned).to_vec(),
        "age" | "waited" => USUAL_AGES.map(str::to_owned).to_vec(),
        "dir" => of(&|texts| texts.iter().map(|path| last_part(path)).collect()),
        "model" | "mode" | "branch" => of(&|texts| texts.iter().flat_map(words).collect()),
        // Prompts are said in words of their own.
        "prompt" => Vec::new(),
        // Only the beginning counts there, so only the first word can be completed.
        _ => of(&|texts| texts.first().and_then(|text| words(text).into_iter().next()).into_iter().collect()),
    }
}

/// What a row has in a field, its usual text first.
fn texts(field: &str, item: Item<'_>) -> Vec<String> {
    let server = &item.key().server;
    let (one, other) = match field {
        "name" => (item.id().to_owned(), item.note().name.as_ref().map(|_| item.own_name())),
        "agent" => (item.tool().to_owned(), None),
        "host" => (server.host.as_deref().unwrap_or("local").to_owned(), Some(server.to_string())),
        "session" => (item.session().to_owned(), None),
        "label" => (item.label().unwrap_or_default().to_owned(), None),
        "dir" => (item.cwd().to_owned(), item.git().map(|git| git.repository().to_owned())),
        "branch" if item.git().is_some() => (item.git().map(GitFacts::branch_or_commit).unwrap_or_default(), None),
        _ => match FACTS.iter().find(|(name, _)| *name == field) {
            Some((_, fact)) => (item.fact(*fact), None),
            None => return Vec::new(),
        },
    };
    [one].into_iter().chain(other).collect()
}

impl What {
    /// Why it can never fit.
    fn fault(&self) -> Option<Unclear> {
        match self {
            What::Is(word, states) if states.is_empty() => Some(Unclear::State(word.clone())),
            What::NoNumber(field, value) => Some(Unclear::Number(field, value.clone())),
            _ => None,
        }
    }

    /// The field that a plain word would ask for.
    fn unknown_field(&self) -> Option<Unclear> {
        let What::Part(word) = self else { return None };
        let (name, _) = word.split_once(':')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphabetic() || c == '_' || c == '-');
        is_name.then(|| Unclear::Field(name.to_owned()))
    }

    /// The term that a field and its value make; `None` for an unknown field.
    fn asked(field: &str, value: &str) -> Option<Self> {
        let word = value.to_owned();
        let measure = MEASURES.iter().find(|(name, ..)| *name == field);
        Some(match field {
            "is" => Self::Is(word, states(value)),
            "age" => Bound::of_age(value).map_or(Self::NoNumber("age", word), Self::Aged),
            "waited" => Bound::of_age(value).map_or(Self::NoNumber("waited", word), Self::Waited),
            _ => match measure {
                None => Self::Text(FIELDS.into_iter().find(|name| *name == field)?, word),
                Some((name, measure, _)) => {
                    let steps = |(done, of): (&str, &str)| Some(Self::Steps(done.parse().ok()?, of.parse().ok()?));
                    let asked = match value.split_once('/').filter(|_| *measure == Measure::PlanDone) {
                        Some(of) => steps(of),
                        None => Bound::new(*measure, value).map(|bound| Self::Measured(*measure, bound)),
                    };
                    asked.unwrap_or(Self::NoNumber(name, word))
                }
            },
        })
    }

    fn fits(&self, item: Item<'_>, flags: &Flags, now: Timestamp) -> bool {
        let age = || now.since(item.since().at).as_secs();
        let contains = |text: &str, part: &str| text.to_lowercase().contains(part);
        match self {
            Self::Part(part) => {
                let mut texts = ["name", "agent", "session"].into_iter().flat_map(|field| texts(field, item));
                contains(item.cwd(), part) || texts.any(|text| contains(&text, part))
            }
            Self::Is(_, states) => states.iter().any(|state| is(item, flags, state)),
            Self::Text(field, word) => texts(field, item).iter().any(|text| match *field {
                "model" | "mode" => spelt_alike(text).contains(&spelt_alike(word)),
                "branch" | "prompt" => contains(text, word),
                // From the home directory on behind `~`.
                "dir" => contains(text, word.strip_prefix('~').unwrap_or(word).trim_end_matches('/')),
                _ => text.to_lowercase().starts_with(word),
            }),
            Self::Steps(done, of) => {
                item.facts().and_then(AgentFacts::plan).is_some_and(|plan| (plan.done, plan.of) == (*done, *of))
            }
            Self::NoNumber(..) => false,
            Self::Aged(bound) => bound.holds(age()),
            Self::Waited(bound) => item.status().needs_operator() && bound.holds(age()),
            Self::Measured(measure, bound) => measure.of(item).is_some_and(|value| bound.holds(value)),
        }
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
        let value = word.split_once(':').map_or(word.as_str(), |(_, value)| value);
        if value.trim_matches(['<', '>', '$', '%', ',']).is_empty() {
            return None;
        }
        let asked = word.split_once(':').and_then(|(field, value)| match LISTS.contains(&field) {
            true => value.split(',').filter(|one| !one.is_empty()).map(|one| What::asked(field, one)).collect(),
            false => Some(vec![What::asked(field, value)?]),
        });
        let any = asked.unwrap_or_else(|| vec![What::Part(word.clone())]);
        Some(Self { wanted, any })
    }
}

/// The last part of a path, in small letters and up to a blank.
fn last_part(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.split_whitespace().next().unwrap_or_default().to_lowercase()
}

/// A name by its letters and digits: a screen and a record spell the same model (`Opus 4.5`, `claude-opus-4-5`) and the same
/// mode (`accept edits`, `acceptEdits`) in ways of their own.
fn spelt_alike(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a word of [`states`] holds for a terminal or a task, as the table shows it.
fn is(item: Item<'_>, flags: &Flags, word: &str) -> bool {
    let status = item.status();
    let state = item.either(|terminal| Some(&terminal.state), |_| None);
    let ended = |result| state.is_some_and(|state| state.last_turn.result == result);
    let is_at_rest = state.is_some_and(|state| state.turn.phase == Phase::Ready);
    let takes_a_prompt = match item {
        Item::Terminal(terminal) => terminal.takes_a_prompt() && Status::doing(&terminal.state) != Status::Working,
        Item::Task(_) => status == Status::Ready,
    };
    match word {
        "needs-you" => status.needs_operator(),
        "failed" if state.is_some_and(|state| state.last_turn.is_cut_off()) || ended(TurnResult::KnownFailure) => true,
        "interrupted" if ended(TurnResult::Interrupted) => true,
        "success" => status.group() == Status::Finished || (ended(TurnResult::Success) && is_at_rest),
        "idle" => takes_a_prompt,
        // Begun here, or in the agent's own prompt.
        "draft" => flags.is_drafted(item) || state.is_some_and(|state| state.surface.editing_input == Tri::Yes),
        "background" => state.is_some_and(|state| state.turn.background_work == Tri::Yes),
        "dirty" => item.git().and_then(GitFacts::is_dirty) == Some(true),
        "marked" => flags.is_marked(item),
        "pinned" => flags.is_pinned(item),
        "muted" => flags.is_muted(item),
        "exited" => matches!(status, Status::Exited(_)),
        // The failure that it is names it as well.
        "limit" => state.is_some_and(|state| state.assessment.ui_context == UiContext::Limit),
        // The header counts what reads otherwise with its group.
        word => status.word() == word || (!status.needs_operator() && status.group().name() == word),
    }
}
