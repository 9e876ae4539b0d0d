//! Which terminals are shown: a text that the operator types, word by word.
//!
//! A plain word fits to a name, an agent or a session that has its letters in order, or to a directory that has it as
//! it is. `is:`, `agent:`, `host:`, `session:` and `label:` ask for one thing, by the beginning of what it is called; what is
//! known of an agent by a part of it or by a number; `!` in front turns a word around. Every word has to fit.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::arrangement::{Arrangement, Flags};
use super::frame::{Canvas, Hint};
use super::input::LineInput;
use super::item::{Item, Measure};
use super::keymap::Context;
use super::overlay::{Flow, HitMap, Overlay, OverlayContext, OverlayPlace};
use super::text::{self, Pen};
use crate::fleet::View;
use crate::repository::GitFacts;
use crate::state::{FactName, Tri, TurnResult, numbered};
use crate::status::Status;

/// The words that `is:` knows: those that the table, the header and the log say, and marks of a row.
const STATES: [&str; 23] = [
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
    "dirty",
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

/// What people say as well, among it the words of the JSON, and which of [`STATES`] that means; `success` is a turn
/// that ended well, seen or not.
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
    /// A part of what is known.
    Fact(FactName, String),
    /// Less or more of something than this.
    Measured(Measure, Bound),
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Below(f64),
    Above(f64),
}

/// What can be asked for by the beginning of what it is called.
const FIELDS: [&str; 5] = ["is", "agent", "host", "session", "label"];

/// The facts that can be asked for by a part of what they say.
const FACTS: [(&str, FactName); 4] = [
    ("model", FactName::Model),
    ("mode", FactName::PermissionMode),
    ("branch", FactName::Branch),
    ("prompt", FactName::LastPrompt),
];

/// The numbers that can be asked for.
const MEASURES: [(&str, Measure); 4] = [
    ("context", Measure::ContextLeft),
    ("plan", Measure::PlanDone),
    ("tokens", Measure::Tokens),
    ("cost", Measure::Cost),
];

impl Bound {
    /// Reads `<20%`, `>5` or a number alone, which means what the operator looks for; nothing where there is no number yet.
    fn new(measure: Measure, text: &str) -> Option<Self> {
        let number = text.trim_start_matches(['<', '>', '$']).trim_end_matches('%');
        if number.is_empty() {
            return None;
        }
        // What is no number lets through nothing.
        let number = numbered(number).unwrap_or(f64::NAN);
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

/// What is wrong with a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// There is no such state.
    NoState(String),
    /// A word of its own, which looks like one that asks for something.
    Mistyped { word: String, meant: &'static str },
}

/// What a word was meant to ask for that only looks like one of those that do: fewer than half of its letters are wrong.
fn mistyped(word: &str) -> Option<Unclear> {
    let (word, _) = word.split_once(':')?;
    let facts = FACTS.iter().map(|(name, _)| *name);
    let known = FIELDS.into_iter().chain(facts).chain(MEASURES.iter().map(|(name, _)| *name));
    let (wrong, meant) = known.map(|name| (strsim::osa_distance(word, name), name)).min()?;
    (wrong * 2 < word.chars().count()).then(|| Unclear::Mistyped { word: word.to_owned(), meant })
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

    /// What is wrong with it.
    pub fn doubt(&self) -> Option<Unclear> {
        let unknown = |term: &Term| match &term.what {
            What::Is(word, states) if states.is_empty() => Some(Unclear::NoState(word.clone())),
            What::Fuzzy(_, word) | What::Part(word) => mistyped(word),
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
            Some((name, value)) if let Some((_, fact)) = FACTS.iter().find(|(word, _)| *word == name) => {
                What::Fact(*fact, value.to_owned())
            }
            Some((name, value)) if let Some((_, measure)) = MEASURES.iter().find(|(word, _)| *word == name) => {
                What::Measured(*measure, Bound::new(*measure, value)?)
            }
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
            What::Fact(name @ (FactName::Model | FactName::PermissionMode), word) => {
                spelt_alike(&item.fact(*name)).contains(&spelt_alike(word))
            }
            What::Fact(FactName::Branch, word) if let Some(git) = item.git() => contains(&git.branch_or_commit(), word),
            What::Fact(name, word) => contains(&item.fact(*name), word),
            What::Measured(measure, bound) => measure.of(item).is_some_and(|value| bound.holds(value)),
            What::Label(word) => item.label().is_some_and(|label| begins(label, word)),
        }
    }
}

/// A name by its letters and digits: a screen and a record spell the same model (`Opus 4.5`, `claude-opus-4-5`) and the same
/// mode (`accept edits`, `acceptEdits`) in ways of their own.
fn spelt_alike(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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
        "dirty" => item.git().and_then(GitFacts::is_dirty) == Some(true),
        "marked" => flags.is_marked(item),
        "pinned" => flags.is_pinned(item),
        "muted" => flags.is_muted(item),
        "exited" => matches!(status, Status::Exited(_)),
        // The header counts what reads otherwise with its group.
        word => status.word() == word || (!status.needs_operator() && status.group().name() == word),
    }
}

/// The filter while it is typed.
#[derive(Debug)]
pub struct FilterBar {
    line: LineInput,
}

impl FilterBar {
    /// Begins with the filter that holds.
    pub fn new(filter: &Filter) -> Self {
        Self { line: LineInput::new(filter.text()) }
    }

    fn apply(&self, cx: &mut OverlayContext<'_, '_>) {
        cx.memory.arrangement.filter = Filter::new(self.line.text());
    }
}

impl Overlay for FilterBar {
    fn context(&self) -> Context {
        Context::Filter
    }

    fn place(&self) -> OverlayPlace {
        OverlayPlace::Bar
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Choose, "keep"), (Action::Close, "show all again"), (Action::Down, "down")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let note = note(canvas.arrangement, view);
        let mut pen = Pen::new(buffer, area, 0);
        pen.skip(1).text("/ ", parts.key);
        let room = usize::from(pen.room());
        // What does not fit beside what is typed is told only as far as there is room.
        let typed = (self.line.cells() + 1).clamp(16.min(room), room);
        self.line.draw(canvas, &mut pen, typed);
        pen.skip(2).text(&note, parts.quiet);
        let rest = usize::from(pen.room());
        pen.field("", rest, parts.quiet);
        if let Some(Unclear::NoState(_)) = canvas.arrangement.filter.doubt() {
            draw_states(
                canvas,
                buffer,
                Rect { y: area.y + 1, height: buffer.area.bottom().saturating_sub(area.y + 2), ..area },
            );
        }
        HitMap::at(area)
    }

    fn perform(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Choose => Flow::Close,
            Action::Close => {
                cx.memory.arrangement.filter = Filter::default();
                Flow::Close
            }
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.line.key(key) {
            self.apply(cx);
        }
        Flow::Stay
    }

    fn paste(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.line.paste(text) {
            self.apply(cx);
        }
        Flow::Stay
    }

    fn click(&mut self, _at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Pass
    }

    fn wheel(&mut self, _direction: isize, _at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Pass
    }
}

/// Lists the states below the line, over the table, which has no row then anyway.
fn draw_states(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
    let cells = usize::from(area.width.saturating_sub(2));
    let lines = text::wrapped(&states_in_words(), cells, usize::from(area.height));
    for (row, line) in (0..).zip(&lines) {
        Pen::new(buffer, area, row).field("", 1, canvas.theme.parts.text).field(
            line,
            cells + 1,
            canvas.theme.parts.text,
        );
    }
}

/// How many terminals a filter lets through, or what is wrong with it.
pub fn note(arrangement: &Arrangement, view: &View<'_>) -> String {
    match arrangement.filter.doubt() {
        Some(Unclear::NoState(word)) => return format!("no state {word}"),
        Some(Unclear::Mistyped { word, meant }) => return format!("no filter {word}: — perhaps {meant}:"),
        None => {}
    }
    format!("{} of {}", arrangement.shown(view).count(), view.terminals.len() + view.tasks.len())
}
