//! `fleetwatch list`: the fleet as it is now.

use std::borrow::Cow;

use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::failure::nothing;
use super::options::Trimmed;
use super::survey::{Survey, Watched};
use super::{Done, Failure, GlobalOptions, output};
use crate::fleet::{Fleet, View};
use crate::state::State;
use crate::task::TaskFields;
use crate::time::Timestamp;
use crate::ui::{COLUMNS, Column, Filter, Flags, Item, ShownOn, Unclear, text, what_of_agent};

/// Print every terminal and task with its state, once.
///
/// On a terminal, the table has the columns that say something and have room, and long cells are cut. Elsewhere it always has
/// those of a terminal of 100 columns, `-` for an empty cell, two blanks or more between two cells and never in one, and nothing
/// is cut.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch list is:needs-you")]
pub struct ListArgs {
    /// Print only what matches this filter, written as in the dashboard: `api`, `is:needs-you`, `agent:claude waited:>5m`;
    /// `is:failed,stalled` is what has either state, `!is:ready` all that is not ready.
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    #[command(flatten)]
    pub shown: ShownAs,
}

/// How terminals and tasks are printed.
#[derive(Clone, Debug, clap::Args)]
pub struct ShownAs {
    /// Print one JSON array with the full public state of each row.
    #[arg(long)]
    pub json: bool,
    /// Columns to print, in this order; `all` is every one.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "json", ignore_case = true)]
    #[arg(value_parser = Trimmed(PossibleValuesParser::new(column_names())))]
    pub columns: Option<Vec<String>>,
    /// Leave out the names of the columns.
    #[arg(long, conflicts_with = "json")]
    pub no_headers: bool,
}

/// What stands for all columns.
const ALL: &str = "all";

/// What `--columns` takes.
fn column_names() -> impl Iterator<Item = String> {
    COLUMNS.iter().map(|column| column.title.to_lowercase()).chain([ALL.to_owned()])
}

/// The columns that a name means.
fn columns_named(name: &str) -> impl Iterator<Item = &'static Column> + use<> {
    let (one, is_all) = (Column::named(name), name.eq_ignore_ascii_case(ALL));
    one.into_iter().chain(COLUMNS.iter().filter(move |_| is_all))
}

/// Runs the command.
///
/// # Errors
/// No server answers, or the configuration is wrong.
pub async fn run(args: &ListArgs, options: &GlobalOptions) -> Done {
    let filter = filter_of(&args.filter)?;
    let survey = Watched::open(options).await?.survey_with_prompts().await?;
    let mut view = survey.fleet.view(survey.now);
    let is_empty = view.terminals.is_empty() && view.tasks.is_empty();
    keep_what_fits(&filter, &mut view)?;
    let items = Item::all(&view);
    if is_empty && !args.shown.json {
        let servers: Vec<String> = view.servers.iter().map(|server| server.id.to_string()).collect();
        let what = format!("no pane of {} runs a known agent or is named in the configuration", servers.join(", "));
        return nothing(what, "start an agent in a pane; `fleetwatch demo` shows some");
    }
    let done = args.shown.print(&items, &survey);
    // The process is about to end, and freeing a thousand terminals takes 20 ms.
    std::mem::forget(survey);
    done
}

impl ShownAs {
    /// Prints what a survey has found.
    pub(super) fn print(&self, items: &[Item<'_>], survey: &Survey) -> Done {
        if self.json {
            let all = items.iter().map(|item| PublicFields::of(&survey.fleet, *item, survey.now));
            return output::print_json_array(all);
        }
        let named = |names: &Vec<String>| {
            let mut columns: Vec<&Column> = Vec::new();
            for column in names.iter().flat_map(|name| columns_named(name)) {
                if columns.iter().all(|named| named.title != column.title) {
                    columns.push(column);
                }
            }
            columns
        };
        let table = if items.is_empty() {
            String::new()
        } else {
            table(items, self.columns.as_ref().map(named), self.no_headers, survey.now)
        };
        output::print(&table)
    }
}

/// The filter that words on the command line are.
///
/// # Errors
/// One has no value (in the dashboard it is about to be typed), or one that there can never be.
pub(super) fn filter_of(words: &[String]) -> Result<Filter, Failure> {
    let filter = Filter::new(&words.join(" "));
    match filter.begun() {
        Some(word) => {
            Err(Failure::usage(format!("`{word}` has no value")).hint("a value follows it: `is:working`, `age:>5m`"))
        }
        None => filter.fault().map_or(Ok(filter), |fault| Err(unclear(&fault))),
    }
}

fn unclear(fault: &Unclear) -> Failure {
    Failure::usage(format!("there is {}", fault.in_short())).hint(fault.hint())
}

/// Keeps in a view what a filter matches, and warns where that is nothing.
///
/// # Errors
/// The filter names an unknown state, a number that is none, or a field that there is none of, and nothing is called so.
pub(super) fn keep_what_fits(filter: &Filter, view: &mut View<'_>) -> Result<(), Failure> {
    let (doubt, was_empty) = (filter.doubt(view), Item::all(view).is_empty());
    let (flags, now) = (Flags::default(), view.now);
    let mut fits = filter.matcher(&flags, now);
    view.terminals.retain(|terminal| fits(Item::from(*terminal)));
    view.tasks.retain(|task| fits(Item::from(*task)));
    let nothing_fits = !was_empty && Item::all(view).is_empty();
    match doubt {
        Some(doubt) if doubt.is_wrong() || nothing_fits && matches!(doubt, Unclear::Field(_)) => {
            return Err(unclear(&doubt));
        }
        doubt if nothing_fits => {
            let hint = doubt.map_or_else(|| "`fleetwatch list` shows everything".to_owned(), |doubt| doubt.hint());
            Failure::refused(format!("nothing fits `{}`", filter.text())).hint(hint).warn();
        }
        _ => {}
    }
    Ok(())
}

/// The full public state of a terminal or a task (SPEC §2, §9), with the operator's note, and the word and the line for people.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum PublicFields<'a> {
    Terminal {
        /// The name, under the same key as that of a task.
        id: &'a str,
        #[serde(flatten)]
        state: Box<State>,
        note: Option<&'a str>,
        word: Cow<'static, str>,
        what: String,
    },
    Task {
        #[serde(flatten)]
        task: Box<TaskFields>,
        note: Option<&'a str>,
        word: Cow<'static, str>,
    },
}

impl<'a> PublicFields<'a> {
    pub(super) fn of(fleet: &Fleet, item: Item<'a>, now: Timestamp) -> Self {
        let (note, word) = (item.note().text.as_deref(), item.status().word());
        match item {
            Item::Terminal(terminal) => {
                let (state, what) = (fleet.state_of(terminal, now).into(), what_of_agent(&terminal.state, None));
                PublicFields::Terminal { id: item.id(), state, note, word, what }
            }
            Item::Task(task) => PublicFields::Task { task: task.fields().into(), note, word },
        }
    }
}

// The fleet as a table of text: the columns of the dashboard, straight even with wide characters.

/// Cells between two columns.
const GAP: usize = 2;
/// The cells of the terminal whose columns a table has where there is no terminal.
const NOWHERE: usize = 100;

/// The table of terminals and tasks, a line each, below a head.
///
/// Without `chosen` columns, those of the command line that [`NOWHERE`] has room for; on a terminal, those that are not empty and
/// have room there: what an agent does gets its third of a line before others say more of it. What does not fit even so is cut:
/// long names first, then the end of the line.
fn table(items: &[Item<'_>], chosen: Option<Vec<&'static Column>>, no_headers: bool, now: Timestamp) -> String {
    let width = output::terminal_width();
    let is_usual = |column: &&Column| matches!(column.on, ShownOn::Both | ShownOn::CommandLine);
    let fits = |column: &&Column| match width {
        Some(width) => column.is_worth(width) && column.says_something(items),
        None => column.is_worth(NOWHERE),
    };
    let has_choice = chosen.is_some();
    let columns = chosen.unwrap_or_else(|| COLUMNS.iter().filter(is_usual).filter(fits).collect());
    let words = |item: Item<'_>, column: &&Column| match width {
        None if column.title == "WHAT" => item.whole_what(),
        _ => (column.words)(item, now),
    };
    let line = |item: &Item<'_>| columns.iter().map(|column| cell(&words(*item, column))).collect();
    let mut rows: Vec<Vec<String>> = items.iter().map(line).collect();
    let mut head: Vec<&str> = columns.iter().map(|column| column.title).collect();
    if let (false, Some(width)) = (has_choice, width) {
        make_room(&mut head, &mut rows, |nth| columns[nth].stays(), width);
    }
    if no_headers {
        head.clear();
    }
    aligned(&head, &rows, width)
}

/// Takes out columns that a line has no room for, but none that stays.
pub(super) fn make_room(head: &mut Vec<&str>, rows: &mut [Vec<String>], stays: impl Fn(usize) -> bool, width: usize) {
    let cells = |(nth, title): (usize, &&str)| {
        let widest = rows.iter().map(|row| text::width(&row[nth])).max().unwrap_or_default();
        (widest.max(title.len()), stays(nth))
    };
    for nth in left_out(head.iter().enumerate().map(cells).collect(), width) {
        head.remove(nth);
        rows.iter_mut().for_each(|row| drop(row.remove(nth)));
    }
}

/// The columns, by their cells and whether they stay, that a line has no room for beside a third of it for the last one.
/// They are given in the order in which they are taken out: from left to right they say less and less of how a terminal is.
fn left_out(mut columns: Vec<(usize, bool)>, width: usize) -> Vec<usize> {
    let mut without = Vec::new();
    while let Some(((last, _), others)) = columns.split_last()
        && others.iter().map(|(cells, _)| cells.min(&MOST) + GAP).sum::<usize>() + last.min(&(width / 3)) > width
        && let Some(nth) = columns.iter().rposition(|(_, stays)| !stays)
    {
        columns.remove(nth);
        without.push(nth);
    }
    without
}

/// If a line does not fit: the most cells of each column but the last, and the least that it keeps.
const MOST: usize = 24;
/// See [`MOST`].
const LEAST: usize = 8;

/// Rows in columns as wide as their widest cell, below a head unless that is empty. If lines would be wider than `width`, long cells are cut, then the end of
/// the line.
pub(super) fn aligned(head: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let head: Vec<String> = head.iter().map(|&title| title.to_owned()).collect();
    let rows: Vec<&Vec<String>> = Some(&head).filter(|head| !head.is_empty()).into_iter().chain(rows).collect();
    let mut widths: Vec<usize> = vec![0; rows.first().map_or(0, |row| row.len())];
    for &row in &rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = text::width(cell).max(*widest);
        }
    }
    if width.is_some_and(|width| widths.iter().map(|cells| cells + GAP).sum::<usize>() > width + GAP) {
        widths.iter_mut().rev().skip(1).for_each(|cells| *cells = (*cells).min(MOST));
        // The last column says most: the widest others shrink until it has a third of the line.
        let width = width.unwrap_or(usize::MAX);
        let last = widths.last().copied().unwrap_or(0).min(width / 3);
        let taken = |widths: &[usize]| widths.iter().rev().skip(1).map(|cells| cells + GAP).sum::<usize>();
        while taken(&widths) + last > width {
            let widest = widths.iter_mut().rev().skip(1).max_by_key(|cells| **cells).filter(|cells| **cells > LEAST);
            let Some(cells) = widest else { break };
            *cells -= 1;
        }
    }
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (nth, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // The last one is cut with the line.
            let cell = if nth + 1 == row.len() { Cow::Borrowed(cell.as_str()) } else { text::cut(cell, *width) };
            line.push_str(&cell);
            line.push_str(&" ".repeat((width + GAP).saturating_sub(text::width(&cell))));
        }
        table.push_str(&text::cut(line.trim_end(), width.unwrap_or(usize::MAX)));
        table.push('\n');
    }
    table
}

/// A text without control characters, without characters on whose width terminals disagree, and without blanks beside blanks;
/// `-` where nothing is left.
pub(super) fn cell(text: &str) -> String {
    let text: String = text::pieces(text).map(|piece| piece.symbol).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    fn rows() -> Vec<Vec<String>> {
        vec![
            row(["shop-api", "ready", "Wrote docs"]),
            row(["日本語", "tui_down", ""]),
            row(["e\u{301}té", "x", "寿司を食べた"]),
        ]
    }

    #[test]
    fn wide_and_combining_characters_keep_the_columns_straight() {
        let head = ["NAME", "STATE", "WHAT"];
        insta::assert_snapshot!(aligned(&head, &rows(), None), @r"
        NAME      STATE     WHAT
        shop-api  ready     Wrote docs
        日本語    tui_down
        été       x         寿司を食べた
        ");
    }

    #[test]
    fn a_narrow_terminal_cuts_the_end_of_the_line() {
        let head = ["NAME", "STATE", "WHAT"];
        insta::assert_snapshot!(aligned(&head, &rows(), Some(24)), @r"
        NAME      STATE     WHAT
        shop-api  ready     Wro…
        日本語    tui_down
        été       x         寿…
        ");
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        // NAME, AGENT, STATE, SINCE, LAST, PLAN, WHAT.
        let columns = vec![(10, true), (14, false), (11, true), (6, false), (11, false), (4, false), (80, true)];
        let without = |width| left_out(columns.clone(), width);
        assert_eq!((without(120), without(90)), (vec![], vec![5, 4]));
        assert_eq!((without(60), without(40)), (vec![5, 4, 3, 1], vec![5, 4, 3, 1]));
    }

    #[test]
    fn a_long_name_leaves_room_for_the_rest_on_a_terminal_and_is_whole_elsewhere() {
        let head = ["NAME", "STATE", "WHAT"];
        let name = "a-very-long-name-of-a-session-that-somebody-has-thought-of";
        let rows = [row([name, "ready", "Wrote the docs of it"])];
        assert!(aligned(&head, &rows, None).contains(name));
        insta::assert_snapshot!(aligned(&head, &rows, Some(40)), @r"
        NAME                STATE  WHAT
        a-very-long-name-…  ready  Wrote the do…
        ");
        for width in 1..90 {
            assert!(aligned(&head, &rows, Some(width)).lines().all(|line| text::width(line) <= width));
        }
    }
}
