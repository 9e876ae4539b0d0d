//! The text of a dialog in logical lines, and which parts are missing (SPEC §11).
//!
//! Agents wrap what they draw, and nothing on the screen distinguishes a wrapped line from two lines. Rows are joined only
//! if they cannot mean anything else: prose, whose rows end where the next word had no room. Rows of a command are never
//! joined, because two commands must not look like one.

use unicode_width::UnicodeWidthStr;

use super::option::Cut;
use crate::screen::Row;

/// Cells that agents leave free at the right edge of wrapped text.
const PADDING: usize = 4;
/// What lines across a dialog are drawn with.
const RULES: [char; 8] = ['─', '━', '═', '▔', '╌', '╍', '┄', '┈'];
/// Characters of commands that prose does not have.
const CODE: [char; 20] =
    ['$', '`', '|', '&', ';', '<', '>', '{', '}', '[', ']', '=', '*', '\\', '#', '~', '@', '%', '^', '_'];
/// How rows of a list or a diff begin, which do not continue the row above.
const ITEMS: [&str; 6] = ["- ", "+ ", "* ", "• ", "$ ", "☐ "];
/// After these an agent may have broken a word.
const BREAKS: [char; 3] = ['/', '-', '–'];

/// Glyphs that agents put before the marked option.
const MARKS: [char; 9] = ['❯', '›', '>', '●', '▶', '▸', '➤', '→', '◉'];
/// Glyphs before options that are not marked.
const NO_MARKS: [char; 3] = ['○', '◯', '◌'];
/// What is drawn around a dialog.
const BORDERS: [char; 12] = ['│', '┃', '╭', '╮', '╰', '╯', '─', '━', '█', '░', '▐', '▌'];
/// Borders across.
const ACROSS: [char; 4] = ['─', '━', '╮', '╯'];

/// A row without borders.
#[derive(Clone, Copy, Debug)]
pub(super) struct DialogLine<'a> {
    /// From the top of the screen.
    pub(super) y: usize,
    pub(super) row: &'a Row,
    pub(super) text: &'a str,
    /// Characters before the text.
    pub(super) column: usize,
    /// The column before which the row's text has to end: that of the border, or of the screen's edge.
    pub(super) room: usize,
}

impl<'a> DialogLine<'a> {
    pub(super) fn new(y: usize, row: &'a Row, columns: usize) -> Self {
        let is_around = |c: char| c.is_whitespace() || BORDERS.contains(&c);
        let behind = row.text().trim_start_matches(is_around);
        let column = row.text()[..row.text().len() - behind.len()].chars().count();
        let text = behind.trim_end_matches(is_around);
        let border = behind[text.len()..].find(|c| BORDERS.contains(&c));
        let room = border.map_or(columns, |border| column + behind[..text.len() + border].width());
        Self { y, row, text, column, room }
    }

    /// Whether the text reaches the edge, or leaves no more than a blank before the border.
    pub(super) fn reaches_edge(&self) -> bool {
        let behind = &self.row.text()[self.row.text().rfind(self.text).map_or(0, |start| start + self.text.len())..];
        let border = behind.trim_start();
        let padding = usize::from(behind.starts_with(' ') && !border.is_empty());
        // A border that continues after the text makes it a title.
        !border.starts_with(ACROSS) && self.column + self.text.width() + padding >= self.room
    }

    /// The text after a mark, with its column, and whether the mark is that of the chosen option.
    pub(super) fn unmarked(&self) -> (&'a str, usize, bool) {
        let Some(first) = self.text.chars().next().filter(|c| MARKS.contains(c) || NO_MARKS.contains(c)) else {
            return (self.text, self.column, false);
        };
        let behind = &self.text[first.len_utf8()..];
        let text = behind.trim_start();
        if text.is_empty() || text.len() == behind.len() {
            return (self.text, self.column, false);
        }
        let blanks = behind[..behind.len() - text.len()].chars().count();
        (text, self.column + 1 + blanks, MARKS.contains(&first))
    }
}

/// The logical lines of a dialog's rows, without their common indentation.
pub(super) fn logical(lines: &[DialogLine<'_>]) -> Vec<String> {
    let shown = |line: &&DialogLine<'_>| !line.text.is_empty() && !is_rule(line.text);
    let left = lines.iter().filter(shown).map(|line| line.column).min().unwrap_or(0);
    let mut logical: Vec<String> = Vec::new();
    for paragraph in lines.split(|line| line.text.is_empty() || is_rule(line.text)).filter(|it| !it.is_empty()) {
        if !logical.is_empty() {
            logical.push(String::new());
        }
        let texts: Vec<&str> = paragraph.iter().map(|line| line.text).collect();
        let same = paragraph.windows(2).all(|pair| pair[0].column == pair[1].column);
        let indent = |line: &DialogLine<'_>| " ".repeat(line.column - left);
        match same && is_prose(&texts) && paragraph.windows(2).all(|pair| had_no_room(&pair[0], &pair[1])) {
            true => logical.push(indent(&paragraph[0]) + &texts.join(" ")),
            false => logical.extend(paragraph.iter().map(|line| indent(line) + line.text)),
        }
    }
    logical
}

/// The whole label of an option, of whose first row `label` is given without mark and number, and the lines below that
/// explain it. A row below a label that had no more room continues it.
pub(super) fn of_option(label: &str, rows: &[DialogLine<'_>]) -> (String, Vec<String>) {
    let goes_on = |pair: &&[DialogLine<'_>]| had_no_room(&pair[0], &pair[1]) && !pair[0].text.ends_with(BREAKS);
    let wrapped = rows.windows(2).take_while(goes_on).count();
    let below = rows.iter().skip(1).map(|line| line.text);
    let label = std::iter::once(label).chain(below.clone().take(wrapped)).collect::<Vec<_>>().join(" ");
    (label, below.skip(wrapped).map(str::to_owned).collect())
}

/// Rows in which the agent says that it left something out, up to the options' last one; an arrow right below that says
/// that there are more options. What an edit offers to show besides, where it is there to its last row, is not missed.
pub(super) fn left_out(lines: &[DialogLine<'_>], end: usize) -> Vec<Cut> {
    let (shown, below) = lines.split_at(end);
    let more = below.first().filter(|line| is_arrow(line.text));
    let is_there = Edit::of(shown).is_some_and(|edit| edit.is_whole());
    shown
        .iter()
        .chain(more)
        .map(|line| line.text)
        .filter(|text| is_left_out(text) || (!is_there && is_folded(text)))
        .map(|text| Cut::LeftOut(text.to_owned()))
        .collect()
}

/// The head of an edit if fewer of its changed rows are shown than it counts.
pub(super) fn missing(lines: &[DialogLine<'_>], end: usize) -> Option<Cut> {
    let edit = Edit::of(&lines[..end])?;
    (edit.changed.len() < edit.all).then(|| Cut::LeftOut(edit.head.to_owned()))
}

/// An edit below a head that counts, such as `src/a.py (+9 -2)`. With several files the first one counts all of them.
struct Edit<'a> {
    head: &'a str,
    /// The rows that it counts, of which there are some.
    all: usize,
    /// Where the numbers of its changed rows end, in cells. Where there are none, it is drawn in another way.
    changed: Vec<usize>,
}

impl<'a> Edit<'a> {
    fn of(shown: &[DialogLine<'a>]) -> Option<Self> {
        let counted = |text: &str| -> Option<usize> {
            let (added, removed) = text.strip_suffix(')')?.rsplit_once("(+")?.1.split_once(" -")?;
            added.parse::<usize>().ok()?.checked_add(removed.parse().ok()?)
        };
        let changed = |line: &DialogLine<'_>| {
            let behind = line.text.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = line.text.len() - behind.len();
            let is_changed = digits > 0 && behind.starts_with(' ') && behind.trim_start().starts_with(['+', '-']);
            is_changed.then_some(line.column + digits)
        };
        let (head, all) = shown.iter().find_map(|line| Some((line.text, counted(line.text)?)))?;
        let changed: Vec<usize> = shown.iter().filter_map(changed).collect();
        (!changed.is_empty()).then_some(Self { head, all, changed })
    }

    /// Whether all its rows are shown; one that only continues another does not begin where they do.
    fn is_whole(&self) -> bool {
        self.changed.len() == self.all && self.changed.iter().all(|column| *column == self.changed[0])
    }
}

/// Rows that end at the edge without a row below that continues them: their rest is not shown.
pub(super) fn at_edge(lines: &[DialogLine<'_>], end: usize) -> Vec<Cut> {
    let cut = |(place, line): (usize, &DialogLine<'_>)| {
        let says = !line.text.is_empty() && !is_rule(line.text) && !is_left_out(line.text) && !is_folded(line.text);
        let goes_on = lines.get(place + 1).is_some_and(|below| goes_on(line, below));
        (says && line.reaches_edge() && !goes_on).then(|| Cut::Edge(line.unmarked().0.to_owned()))
    };
    lines.iter().enumerate().take(end).filter_map(cut).collect()
}

/// Whether a row may continue the one above: it is below its text, and begins nothing of its own.
fn goes_on(line: &DialogLine<'_>, below: &DialogLine<'_>) -> bool {
    let is_item = |text: &str| {
        let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = number.len() < text.len() && number.starts_with(['.', ')', ' ', ':']);
        is_numbered || ITEMS.iter().any(|item| text.starts_with(item))
    };
    !below.text.is_empty() && !is_rule(below.text) && below.column >= line.column && !is_item(below.unmarked().0)
}

/// Whether a row only says that a list goes on above or below.
fn is_arrow(text: &str) -> bool {
    ["↑", "↓", "▲", "▼"].contains(&text)
}

/// Whether a row offers to show what its agent has folded: `+ Show details`, `… (ctrl+o to expand)`.
fn is_folded(text: &str) -> bool {
    const MARKS: [char; 7] = ['+', '…', '▸', '▶', '►', '⋯', '('];
    const OFFERS: [&str; 4] = ["show ", "view ", "expand", "see "];
    const FOLDED: [&str; 6] = ["details", "more", "all", "diff", "expand", "full"];
    let text = text.trim_end_matches([')', ']']).to_lowercase();
    let offer = text.trim_start_matches(|c| MARKS.contains(&c) || c == ' ');
    let is_marked = offer.len() < text.len() && offer.split_whitespace().count() <= 4;
    (is_marked && OFFERS.iter().any(|word| offer.starts_with(word)) && FOLDED.iter().any(|word| offer.contains(word)))
        || (text.ends_with("to expand") && ["ctrl", "press", "tab"].iter().any(|key| text.contains(key)))
}

pub(super) fn is_left_out(text: &str) -> bool {
    let text = text.trim_end_matches([')', ']']);
    let lower = text.to_lowercase();
    if text.ends_with('…') || is_arrow(text) {
        return true;
    }
    let behind = lower.trim_start_matches(['…', '.', '⋮', '(', '[', '+', ' ']);
    let behind = ["first ", "last "].iter().find_map(|which| behind.strip_prefix(which)).unwrap_or(behind);
    let counted = behind.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let counts = counted.len() < behind.len();
    let what = counted.trim_start_matches("more ");
    let marked = ["…", "+", "⋮", "...", "(…", "[…"].iter().any(|mark| lower.starts_with(mark));
    let says_so = ["more", "hidden", "omitted", "truncated"].iter().any(|word| counted.contains(word));
    // A narrow box leaves the word for rows out.
    let of_rows = what.starts_with("line") || what.starts_with("row") || (marked && what.starts_with("hidden"));
    counts && of_rows && (says_so || marked)
}

/// Whether a row is only a drawn line.
pub(super) fn is_rule(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || RULES.contains(&c))
}

/// Whether rows read as sentences.
fn is_prose(rows: &[&str]) -> bool {
    let words = || rows.iter().flat_map(|row| row.split_whitespace());
    rows.first().is_some_and(|row| row.starts_with(char::is_uppercase))
        && rows.last().is_some_and(|row| row.ends_with(['.', '?', '!', ':', ')']))
        && words().count() > rows.len()
        && words().all(|word| !word.starts_with(['-', '/']) && !word.contains(CODE))
}

/// Whether the first word of the next row would have had no room at the end of this one.
pub(super) fn had_no_room(line: &DialogLine<'_>, next: &DialogLine<'_>) -> bool {
    let word = next.text.split_whitespace().next().unwrap_or_default();
    line.column + line.text.width() + 1 + word.width() + PADDING > line.room
}

/// Whether a row of a dialog is only a sign that it waits.
pub(super) fn is_ticking(row: &Row) -> bool {
    is_spinner(DialogLine::new(0, row, usize::MAX).text)
}

pub(super) fn is_spinner(text: &str) -> bool {
    text.starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

/// ASCII bullets that agents draw before a line.
const BULLETS: [char; 4] = ['?', '#', '-', '*'];
/// Punctuation that begins or ends a sentence in some language.
const OPENING: [char; 10] = ['“', '‘', '«', '„', '¿', '¡', '「', '『', '《', '…'];
/// See [`OPENING`].
const CLOSING: [char; 10] = ['”', '’', '»', '‚', '。', '、', '」', '』', '》', '–'];

/// A line without what is drawn around it, which would look like marks of the table: borders, bullets, spinners and other
/// symbols before it, arrows after it. Several blanks become one.
pub fn bare(line: &str) -> String {
    let is_drawn = |c: char| matches!(c, '\u{2500}'..='\u{259F}' | '\u{2800}'..='\u{28FF}' | '\u{FE00}'..='\u{FE0F}');
    let is_symbol = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !OPENING.contains(&c) && !CLOSING.contains(&c);
    let mut rest = line;
    loop {
        let inner = rest.trim_matches(|c: char| c.is_whitespace() || is_drawn(c));
        // An ASCII bullet is followed by a blank; else it begins a word such as `-f` or `#12`.
        let inner = inner.trim_start_matches(is_symbol).trim_end_matches(is_arrow_sign);
        let bullet = inner.strip_prefix(BULLETS).filter(|text| text.starts_with(char::is_whitespace));
        let inner = bullet.unwrap_or(inner);
        if inner.len() == rest.len() {
            return rest.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        rest = inner;
    }
}

fn is_arrow_sign(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21FF}')
}
