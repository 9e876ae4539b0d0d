//! Options one below the other.

use super::super::option::{Choice, Found, Manner, Submit, TextEntry};
use super::super::text::{self, DialogLine};
use crate::screen::Color;

/// What agents draw after an option that has been taken.
pub(super) const TICKS: [char; 2] = ['✔', '✓'];

/// Boxes to tick, and whether they are ticked.
const BOXES: [(&str, bool); 12] = [
    ("[ ]", false),
    ("[x]", true),
    ("[X]", true),
    ("[✓]", true),
    ("[✔]", true),
    ("[*]", true),
    ("☐", false),
    ("☑", true),
    ("☒", true),
    ("◻", false),
    ("◼", true),
    ("▢", false),
];

/// A label without its box, and whether that is ticked.
fn unboxed(label: &str) -> (&str, Option<bool>) {
    let found = BOXES.iter().find_map(|(it, ticked)| Some((label.strip_prefix(it)?, *ticked)));
    found.map_or((label, None), |(label, ticked)| (label.trim_start(), Some(ticked)))
}

/// Labels of the row that hands in what is ticked.
const SUBMITS: [&str; 4] = ["submit", "submit answers", "next", "done"];

/// A row that begins an option.
struct Numbered<'a> {
    index: usize,
    number: usize,
    column: usize,
    is_marked: bool,
    label: &'a str,
}

/// Options with numbers that go up from 1: the lowest such list with a mark, else the lowest one of several options. The
/// subject is above, and may have numbers, too.
pub(super) fn numbered(lines: &[DialogLine<'_>]) -> Option<Found> {
    let candidates: Vec<Numbered<'_>> = lines.iter().enumerate().filter_map(candidate).collect();
    let mut lists = Vec::new();
    let mut end = candidates.len();
    while end > 0 {
        let start = list_start(&candidates[..end]);
        if candidates[start].number == 1 {
            lists.push(&candidates[start..end]);
        }
        end = start;
    }
    let is_marked = |list: &&[Numbered<'_>]| list.iter().any(|option| option.is_marked);
    let list = lists.iter().copied().find(is_marked).or_else(|| lists.iter().copied().find(|list| list.len() > 1))?;
    let starts: Vec<(usize, &str)> = list.iter().map(|option| (option.index, option.label)).collect();
    let marked = list.iter().position(|option| option.is_marked).or_else(|| highlighted(lines, list));
    Some(found(lines, &starts, marked, Manner::Numbers, |place| list[place].number.to_string()))
}

/// The one option with a background of its own, which is all that some agents mark with.
fn highlighted(lines: &[DialogLine<'_>], list: &[Numbered<'_>]) -> Option<usize> {
    let is_highlighted = |option: &Numbered<'_>| {
        let line = &lines[option.index];
        let style = line.row.text().find(line.text).map(|byte| line.row.style_at(byte));
        style.is_some_and(|style| style.inverse || style.background != Color::Default)
    };
    let mut places = (0..list.len()).filter(|&place| is_highlighted(&list[place]));
    places.next().filter(|_| places.next().is_none())
}

fn candidate<'a>((index, line): (usize, &DialogLine<'a>)) -> Option<Numbered<'a>> {
    let (text, column, is_marked) = line.unmarked();
    let (text, ends): (_, &[char]) = text.strip_prefix('[').map_or((text, &['.', ')']), |behind| (behind, &[']']));
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| (1..=2).contains(digits))?;
    let label = text[digits..].strip_prefix(ends)?;
    let number = text[..digits].parse().ok()?;
    // A label that fills its row may lose the blank before it.
    let is_label = label.starts_with(|c: char| c.is_whitespace() || c.is_uppercase());
    is_label.then(|| Numbered { index, number, column, is_marked, label: label.trim() })
}

/// Where the list that ends with the last candidate begins.
fn list_start(candidates: &[Numbered<'_>]) -> usize {
    let mut start = candidates.len() - 1;
    while start > 0 {
        let (above, below) = (&candidates[start - 1], &candidates[start]);
        // Numbers of two digits may begin one column further to the left.
        if above.number + 1 != below.number || above.column.abs_diff(below.column) > 1 {
            break;
        }
        start -= 1;
    }
    start
}

/// Options without numbers, one of which is marked: the rows around it whose texts begin in the same column.
pub(super) fn marked(lines: &[DialogLine<'_>]) -> Option<Found> {
    let index = lines.iter().rposition(|line| line.unmarked().2)?;
    let (_, column, _) = lines[index].unmarked();
    let belongs = |line: &&DialogLine<'_>| !line.text.is_empty() && line.unmarked().1 >= column;
    let above = lines[..index].iter().rev().take_while(belongs).count();
    let below = lines[index + 1..].iter().take_while(belongs).count();
    let block = index - above..index + 1 + below;
    // A row in brackets is a remark on the options above it.
    let is_option = |text: &str, at: usize| at == column && !(text.starts_with('(') && text.ends_with(')'));
    let starts: Vec<(usize, &str)> = block
        .map(|i| (i, lines[i].unmarked()))
        .filter(|(_, it)| is_option(it.0, it.1))
        .map(|(i, it)| (i, it.0))
        .collect();
    let marked = starts.iter().position(|(i, _)| *i == index);
    (starts.len() > 1).then(|| found(lines, &starts, marked, Manner::Rows, |place| (place + 1).to_string()))
}

fn found(
    lines: &[DialogLine<'_>],
    starts: &[(usize, &str)],
    marked: Option<usize>,
    manner: Manner,
    name: impl Fn(usize) -> String,
) -> Found {
    let mut end = 0;
    let options = starts.iter().enumerate().map(|(place, (index, label))| {
        let next = starts.get(place + 1).map_or(lines.len(), |(next, _)| *next);
        // A label may continue right below its number; for the last option only if it had no more room.
        let (_, column, _) = lines[*index].unmarked();
        let belongs = |pair: &&[DialogLine<'_>]| {
            let [line, below] = pair else { return false };
            let is_deeper = below.column > lines[*index].column;
            let goes_on = below.column >= column && (place + 1 < starts.len() || text::had_no_room(line, below));
            // The row that hands in what is ticked is below the last option, but belongs to none.
            let hands_in = unboxed(label).1.is_some() && is_submit(below);
            !below.text.is_empty() && !hands_in && (is_deeper || goes_on)
        };
        end = index + 1 + lines[*index..next].windows(2).take_while(belongs).count();
        let below = lines[index + 1..end].iter().map(|line| line.text);
        // Some agents explain an option in a column of its own.
        let (label, beside) = label.split_once("  ").unwrap_or((label, ""));
        let (label, ticked) = unboxed(untick(label));
        let option = &lines[*index..end];
        let (label, mut text) = match beside.trim() {
            "" => text::of_option(label, option),
            beside => (label.to_owned(), [beside].into_iter().chain(below).map(str::to_owned).collect()),
        };
        let detail = text.join(" ");
        text.insert(0, label.clone());
        let takes_text = TextEntry::of(&label);
        Choice { name: name(place), label, detail, text, ticked, takes_text, verdict: None, key: None }
    });
    let options: Vec<Choice> = options.collect();
    let several = options.iter().any(|option| option.ticked.is_some());
    let first = starts.first().map_or(0, |(index, _)| lines[*index].y);
    let last = lines.get(end.saturating_sub(1)).map_or(first, |line| line.y + 1);
    let manner = if several { Manner::Several } else { manner };
    let submit = if several { submit(lines, starts) } else { None };
    Found { manner, options, marked, rows: first..last, typed: String::new(), submit }
}

fn is_submit(line: &DialogLine<'_>) -> bool {
    SUBMITS.contains(&line.unmarked().0.to_lowercase().as_str())
}

/// The row that hands in what is ticked, among the options or right below them.
fn submit(lines: &[DialogLine<'_>], starts: &[(usize, &str)]) -> Option<Submit> {
    let first = starts.first().map_or(0, |(index, _)| *index);
    let index = (first..lines.len()).find(|&index| is_submit(&lines[index]))?;
    let below = starts.iter().filter(|(start, _)| *start < index).count();
    Some(Submit { below, marked: lines[index].unmarked().2 })
}

pub(super) fn untick(text: &str) -> &str {
    text.trim_end_matches(|c: char| TICKS.contains(&c) || c.is_whitespace())
}
