//! Options that stand one below the other.

use super::super::{Choice, Manner};
use super::{Found, Line};

/// Boxes that can be ticked one by one.
const BOXES: [&str; 10] = ["[ ]", "[x]", "[X]", "[✓]", "[✔]", "[*]", "☐", "☑", "☒", "◻"];

/// A row that begins an option.
struct Numbered<'a> {
    index: usize,
    number: usize,
    column: usize,
    is_marked: bool,
    label: &'a str,
}

/// Options with numbers that go up from 1: the lowest such list that has a mark, else the lowest one of several. What
/// is asked about stands above, and may have numbers, too.
pub(super) fn numbered(lines: &[Line<'_>]) -> Option<Found> {
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
    let marked = list.iter().position(|option| option.is_marked);
    Some(found(lines, &starts, marked, Manner::Numbers, |place| list[place].number.to_string()))
}

fn candidate<'a>((index, line): (usize, &Line<'a>)) -> Option<Numbered<'a>> {
    let (text, column, is_marked) = line.unmarked();
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| (1..=2).contains(digits))?;
    let label = text[digits..].strip_prefix(['.', ')'])?;
    let number = text[..digits].parse().ok()?;
    label.starts_with(char::is_whitespace).then(|| Numbered { index, number, column, is_marked, label: label.trim() })
}

/// Where the list that ends with the last candidate begins.
fn list_start(candidates: &[Numbered<'_>]) -> usize {
    let mut start = candidates.len() - 1;
    while start > 0 {
        let (above, below) = (&candidates[start - 1], &candidates[start]);
        // Numbers of two digits may stand one column further to the left.
        if above.number + 1 != below.number || above.column.abs_diff(below.column) > 1 {
            break;
        }
        start -= 1;
    }
    start
}

/// Options without numbers, one of which is marked: the rows around it whose texts begin in the same column.
pub(super) fn marked(lines: &[Line<'_>]) -> Option<Found> {
    let index = lines.iter().rposition(|line| line.unmarked().2)?;
    let (_, column, _) = lines[index].unmarked();
    let belongs = |line: &&Line<'_>| !line.text.is_empty() && line.unmarked().1 >= column;
    let above = lines[..index].iter().rev().take_while(belongs).count();
    let below = lines[index + 1..].iter().take_while(belongs).count();
    let block = index - above..index + 1 + below;
    let starts: Vec<(usize, &str)> =
        block.map(|i| (i, lines[i].unmarked())).filter(|(_, it)| it.1 == column).map(|(i, it)| (i, it.0)).collect();
    let marked = starts.iter().position(|(i, _)| *i == index);
    (starts.len() > 1).then(|| found(lines, &starts, marked, Manner::Rows, |place| (place + 1).to_string()))
}

fn found(
    lines: &[Line<'_>],
    starts: &[(usize, &str)],
    marked: Option<usize>,
    manner: Manner,
    name: impl Fn(usize) -> String,
) -> Found {
    let mut end = 0;
    let options = starts.iter().enumerate().map(|(place, (index, label))| {
        let next = starts.get(place + 1).map_or(lines.len(), |(next, _)| *next);
        let below = lines[index + 1..next].iter().take_while(|line| !line.text.is_empty());
        let below = below.take_while(|line| line.column > lines[*index].column).map(|line| line.text);
        let below: Vec<&str> = below.collect();
        end = index + 1 + below.len();
        // Some agents explain an option in a column of its own.
        let (label, beside) = label.split_once("  ").unwrap_or((label, ""));
        let detail = [beside.trim()].into_iter().chain(below).filter(|text| !text.is_empty()).collect::<Vec<_>>();
        Choice { name: name(place), label: label.to_owned(), detail: detail.join(" ") }
    });
    let options: Vec<Choice> = options.collect();
    let several = options.iter().any(|option| BOXES.iter().any(|it| option.label.starts_with(it)));
    let first = starts.first().map_or(0, |(index, _)| lines[*index].y);
    let last = lines.get(end.saturating_sub(1)).map_or(first, |line| line.y + 1);
    let manner = if several { Manner::Several } else { manner };
    Found { manner, options, marked, rows: first..last, typed: String::new() }
}
