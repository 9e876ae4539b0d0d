//! The columns of every table: what they say, and which of them have room.

use serde::{Deserialize, Serialize};

use super::item::Item;
use super::times;
use crate::state::FactName;
use crate::time::Timestamp;

/// A column: its words for every table, and how the dashboard draws them.
#[derive(Debug)]
pub struct Column {
    pub title: &'static str,
    /// The datum in words as of a time; empty where there is none.
    pub words: Words,
    width: Width,
    rank: Rank,
    pub look: CellLook,
    /// What it says, in a few words.
    pub about: &'static str,
}

impl Column {
    const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The column that a title means, however it is written.
    pub fn named(title: &str) -> Option<&'static Self> {
        COLUMNS.iter().find(|column| column.title.eq_ignore_ascii_case(title))
    }

    /// Whether every table has it: what is it, how is it, and what does it do?
    pub const fn stays(&self) -> bool {
        matches!(self.rank, Rank::Stays)
    }

    /// Whether a dashboard has it, where it has room, unless the operator chooses otherwise.
    pub const fn is_usual(&self) -> bool {
        matches!(self.rank, Rank::Stays | Rank::Usual(_))
    }

    /// The columns of a list so wide, of terminals on one server or on several: those of a dashboard, with the age of a state
    /// in a column of its own.
    pub fn of_list(width: usize, has_servers: bool) -> Vec<&'static Self> {
        let layout = ColumnLayout::new(width, &ChosenColumns::default(), has_servers);
        let is_listed = |column: &&Self| match column.title {
            STABLE => false,
            SINCE => true,
            title => layout.shows(title),
        };
        COLUMNS.iter().filter(is_listed).collect()
    }
}

/// When a dashboard has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Stays,
    /// Shown if there is room for it and for all of a lower number.
    Usual(u8),
    /// If the operator wants it, and there is room for it and for those before it.
    Chosen,
}

/// How the dashboard draws a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellLook {
    Name,
    Agent,
    State,
    Last,
    Stable,
    Context,
    What,
    /// As what is less important.
    Quiet,
}

/// The cells of a column in the dashboard.
#[derive(Clone, Copy, Debug)]
enum Width {
    /// In a table below [`NARROW`] cells, below [`WIDE`], and above.
    Fixed([usize; 3]),
    /// What the others leave.
    Rest,
}

impl Width {
    /// The cells in a table so wide.
    fn cells(self, width: usize) -> usize {
        match self {
            Self::Fixed([cells, ..]) if width < NARROW => cells,
            Self::Fixed([_, cells, _]) if width < WIDE => cells,
            Self::Fixed([.., cells]) => cells,
            Self::Rest => 0,
        }
    }
}

/// The columns, left to right. One more is one more line.
pub const COLUMNS: &[Column] = &[
    column(NAME, Width::Fixed([10, 14, 20]), Rank::Stays, |it, _| it.id().to_owned(), CellLook::Name)
        .about("its own name, or the one that you gave it"),
    column(SERVER, fixed(14), Rank::Usual(2), |it, _| it.key().server.to_string(), CellLook::Quiet)
        .about("the tmux server or host that it is on"),
    column("AGENT", Width::Fixed([8, 8, 15]), Rank::Usual(0), |it, _| it.agent(), CellLook::Agent)
        .about("which agent it is, and its version"),
    // The longest word; with what most others leave, an age.
    column(STATE, Width::Fixed([13, 15, 17]), Rank::Stays, |it, _| it.status().word().into_owned(), CellLook::State)
        .about("what it does or waits for, and for how long"),
    column(SINCE, fixed(7), Rank::Chosen, |it, now| times::lasting(it.since(), now), CellLook::Quiet)
        .about("for how long it has been in its state"),
    column("LAST", Width::Fixed([7, 7, 8]), Rank::Usual(1), |it, _| it.last(), CellLook::Last)
        .about("how its last turn ended, and how long ago"),
    column(STABLE, fixed(6), Rank::Usual(3), |it, _| it.stable().to_owned(), CellLook::Stable)
        .about("for how long nothing read from it has changed"),
    column("PHASE", fixed(7), Rank::Chosen, |it, _| it.phase(), CellLook::Quiet)
        .about("whether a turn goes on, whatever it needs"),
    column("AVAILABLE", fixed(11), Rank::Chosen, |it, _| it.availability(), CellLook::Quiet)
        .about("whether it can be watched and used"),
    column("CONTEXT", fixed(9), Rank::Usual(4), |it, _| it.context_left(), CellLook::Context)
        .about("how much of its context is left"),
    column("PLAN", fixed(6), Rank::Chosen, |it, _| it.fact(FactName::Plan), CellLook::Quiet)
        .about("how much of its plan is done"),
    column("MODEL", fixed(16), Rank::Usual(5), |it, _| it.fact(FactName::Model), CellLook::Quiet)
        .about("the model that it uses"),
    column("PLACE", fixed(16), Rank::Chosen, |it, _| it.place(), CellLook::Quiet)
        .about("its session and window in tmux"),
    column("COST", fixed(7), Rank::Chosen, |it, _| it.cost(), CellLook::Quiet).about("what its session has cost"),
    column("TOKENS", fixed(7), Rank::Chosen, |it, _| it.tokens(), CellLook::Quiet)
        .about("the tokens that its session has used"),
    column("MODE", fixed(12), Rank::Chosen, |it, _| it.fact(FactName::PermissionMode), CellLook::Quiet)
        .about("what it may do without a question"),
    column("BRANCH", fixed(22), Rank::Usual(6), |it, _| it.branch(), CellLook::Quiet)
        .about("the git branch of its directory, and what differs"),
    column("PROMPT", fixed(30), Rank::Chosen, |it, _| it.fact(FactName::LastPrompt), CellLook::Quiet)
        .about("the last prompt that it got"),
    column("PANE", fixed(12), Rank::Chosen, |it, _| it.pane(), CellLook::Quiet).about("its pane in tmux"),
    column("LABEL", fixed(12), Rank::Chosen, |it, _| it.label().unwrap_or_default().to_owned(), CellLook::Quiet)
        .about("the label that you gave it"),
    column("COMMAND", fixed(24), Rank::Chosen, |it, _| it.command().to_owned(), CellLook::Quiet)
        .about("the command that runs in its pane"),
    column("WHAT", Width::Rest, Rank::Stays, |it, _| it.what(), CellLook::What).about("what it asks, does or has said"),
];

type Words = fn(Item<'_>, Timestamp) -> String;

const fn column(title: &'static str, width: Width, rank: Rank, words: Words, look: CellLook) -> Column {
    Column { title, words, width, rank, look, about: "" }
}

const fn fixed(cells: usize) -> Width {
    Width::Fixed([cells; 3])
}

/// The title of a column that is more than one of many.
pub const NAME: &str = "NAME";
/// See [`NAME`].
pub const SERVER: &str = "SERVER";
/// See [`NAME`].
pub const STATE: &str = "STATE";
const SINCE: &str = "SINCE";
const STABLE: &str = "STABLE";
/// Below this many cells a table is narrow, and from [`WIDE`] on it is wide.
const NARROW: usize = 60;
/// See [`NARROW`].
const WIDE: usize = 120;
/// The percentage of the width that is kept for what a row asks or does, and where the operator chooses the columns.
const WHAT_SHARE: [usize; 2] = [30, 20];
/// Blanks between two columns.
pub const GAP: usize = 2;
/// Cursor, bar or sign, glyph and a blank.
pub const MARK: usize = 4;

/// Every column, left to right, and whether it is shown. The names of shown ones are kept once the operator has chosen; until
/// then a column of a later release comes by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<Vec<String>>", into = "Option<Vec<String>>")]
pub struct ChosenColumns {
    columns: Vec<(&'static str, bool)>,
}

impl Default for ChosenColumns {
    fn default() -> Self {
        Self { columns: COLUMNS.iter().map(|column| (column.title, column.is_usual())).collect() }
    }
}

impl From<Option<Vec<String>>> for ChosenColumns {
    /// Names that mean nothing are left out, and what cannot be taken away is there.
    fn from(names: Option<Vec<String>>) -> Self {
        let Some(names) = names else { return Self::default() };
        let mut columns: Vec<(&str, bool)> = Vec::new();
        for column in names.iter().filter_map(|name| Column::named(name)) {
            if !columns.iter().any(|(title, _)| *title == column.title) {
                columns.push((column.title, true));
            }
        }
        // The others stand behind the column that they stand behind by default.
        for (nth, column) in COLUMNS.iter().enumerate() {
            if columns.iter().any(|(title, _)| *title == column.title) {
                continue;
            }
            let before = nth.checked_sub(1).map(|before| COLUMNS[before].title);
            let at = before.and_then(|before| columns.iter().position(|(title, _)| *title == before));
            columns.insert(at.map_or(0, |at| at + 1), (column.title, column.stays()));
        }
        Self { columns }
    }
}

impl From<ChosenColumns> for Option<Vec<String>> {
    fn from(chosen: ChosenColumns) -> Self {
        let names = || chosen.shown().into_iter().map(|column| column.title.to_lowercase()).collect();
        (chosen != ChosenColumns::default()).then(names)
    }
}

impl ChosenColumns {
    /// Those that are shown, left to right.
    pub fn shown(&self) -> Vec<&'static Column> {
        self.columns.iter().filter(|(_, is_shown)| *is_shown).filter_map(|(title, _)| Column::named(title)).collect()
    }

    /// The column at a place, and whether it is shown.
    pub fn at(&self, place: usize) -> Option<(&'static Column, bool)> {
        self.columns.get(place).and_then(|(title, is_shown)| Some((Column::named(title)?, *is_shown)))
    }

    /// Shows a column or hides it. Returns whether that can be done.
    pub fn toggle(&mut self, at: usize) -> bool {
        let Some((title, is_shown)) = self.columns.get_mut(at) else { return false };
        let stays = Column::named(title).is_some_and(Column::stays);
        *is_shown = stays || !*is_shown;
        !stays
    }

    /// Moves a column by a place. Returns where it is then.
    pub fn shift(&mut self, at: usize, by: isize) -> usize {
        let to = at.saturating_add_signed(by);
        if at.max(to) >= self.columns.len() {
            return at;
        }
        self.columns.swap(at, to);
        to
    }
}

/// The columns that have room in a table so wide, with their cells. They follow from the width and the operator's choice
/// alone: no value moves a column.
#[derive(Clone, Debug)]
pub struct ColumnLayout(Vec<(&'static Column, usize)>);

impl ColumnLayout {
    /// The columns of the operator's choice that fit into a width, those of a lower rank first. The server is among the usual
    /// ones where there are several.
    pub fn new(width: usize, chosen: &ChosenColumns, has_servers: bool) -> Self {
        let is_usual = *chosen == ChosenColumns::default();
        let mut columns = chosen.shown();
        columns.retain(|column| !is_usual || column.title != SERVER || has_servers);
        let mut ranked = columns.clone();
        ranked.sort_by_key(|column| column.rank);
        let least = width * WHAT_SHARE[usize::from(!is_usual)] / 100;
        let cells = |column: &Column| match column.width.cells(width) {
            0 => GAP + least,
            cells => GAP + cells,
        };
        let mut left = (width + GAP).saturating_sub(MARK);
        let mut has_room = true;
        ranked.retain(|column| {
            has_room &= column.stays() || left >= cells(column);
            left = left.saturating_sub(if has_room { cells(column) } else { 0 });
            has_room
        });
        columns.retain(|column| ranked.iter().any(|it| it.title == column.title));
        let total: usize = columns.iter().map(|column| GAP + column.width.cells(width)).sum();
        let rest = (width + GAP).saturating_sub(MARK + total);
        // Where even those that stay have no room, first the state gives way and then the name.
        let lacks = (MARK + total).saturating_sub(width + GAP + GAP);
        let state = Column::named(STATE).map_or(0, |state| state.width.cells(width));
        let fitted = columns.into_iter().map(|column| match column.title {
            NAME => (column, column.width.cells(width).saturating_sub(lacks.saturating_sub(state)).max(1)),
            STATE => (column, column.width.cells(width).saturating_sub(lacks)),
            _ if matches!(column.width, Width::Rest) => (column, rest),
            _ => (column, column.width.cells(width)),
        });
        Self(fitted.filter(|(_, cells)| *cells > 0).collect())
    }

    /// Whether a column has room.
    pub fn shows(&self, title: &str) -> bool {
        self.0.iter().any(|(column, _)| column.title == title)
    }

    /// The columns that have room, with their cells.
    pub fn shown(&self) -> impl Iterator<Item = (&'static Column, usize)> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ChosenColumns {
        serde_json::from_str(text).unwrap()
    }

    fn names(chosen: &ChosenColumns) -> Vec<&str> {
        chosen.shown().into_iter().map(|column| column.title).collect()
    }

    #[test]
    fn a_choice_is_kept_by_name_and_what_says_the_most_stays() {
        let usual = ChosenColumns::default();
        assert_eq!((serde_json::to_string(&usual).unwrap().as_str(), read("null")), ("null", usual));
        let chosen = read(r#"["what", "of-another-release", "Model", "model", "NAME"]"#);
        assert_eq!(names(&chosen), ["WHAT", "MODEL", "NAME", "STATE"]);
        assert_eq!(read(&serde_json::to_string(&chosen).unwrap()), chosen);
        assert_eq!(chosen.columns.len(), COLUMNS.len());
        let mut bare = read("[]");
        assert_eq!(names(&bare), ["NAME", "STATE", "WHAT"]);
        for at in 0..COLUMNS.len() {
            let title = bare.columns[at].0;
            assert_eq!(bare.toggle(at), !matches!(title, "NAME" | "STATE" | "WHAT"), "{title}");
        }
        assert_eq!(names(&bare).len(), COLUMNS.len(), "nothing went, and everything else came");
        assert_eq!((bare.shift(0, -1), bare.shift(0, 1)), (0, 1));
        assert_eq!(bare.shift(COLUMNS.len(), -1), COLUMNS.len(), "the last entry is no column");
    }
}
