//! `fleetwatch list`: the fleet as it is now.

use clap::builder::PossibleValuesParser;
use ratatui::crossterm::style::Color;

use super::failure::nothing;
use super::options::Trimmed;
use super::survey::{Survey, Watched};
use super::{Done, Failure, GlobalOptions, console, output};
use crate::app::kept_flags;
use crate::demo;
use crate::fleet::View;
use crate::present::columns::{COLUMNS, Column};
use crate::present::document::PublicFields;
use crate::present::filter::{Filter, Unclear};
use crate::present::flags::Flags;
use crate::present::item::Item;
use crate::present::text;
use crate::time::Timestamp;

/// Print every terminal and task with its state, once.
///
/// On a terminal, columns without room are left out and long cells are cut. In a pipe, the columns are always the same: two or more
/// blanks separate cells, an empty one is `-`, and none is cut.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch list is:needs-you")]
pub struct ListArgs {
    /// Print only what matches this filter, written as in the dashboard: `api`, `is:needs-you`, `agent:claude
    /// waited:>5m`. All words must match; `name:api,web` and `is:failed,stalled` match either, `!is:ready` whatever is
    /// not ready.
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    #[command(flatten)]
    pub shown: ShownAs,
}

/// How terminals and tasks are printed.
#[derive(Clone, Debug, Default, clap::Args)]
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

/// The columns that names mean, as often as they are named; `all` adds those that are not named before it.
fn columns_named(names: &[String]) -> Vec<&'static Column> {
    let mut columns: Vec<&Column> = Vec::new();
    for name in names {
        columns.extend(Column::named(name));
        if name.eq_ignore_ascii_case(ALL) {
            let is_new = |column: &&Column| columns.iter().all(|named| named.title != column.title);
            columns.extend(COLUMNS.iter().filter(is_new).collect::<Vec<_>>());
        }
    }
    columns
}

/// Runs the command.
///
/// # Errors
/// No server answers, or the configuration is wrong.
pub async fn run(args: &ListArgs, options: &GlobalOptions) -> Done {
    let filter = filter_of(&args.filter)?;
    let watched = Watched::new(options)?;
    let survey = watched.survey_with_prompts().await.map_err(|why| unless_unclear(&filter, why))?;
    let mut view = survey.fleet.view(survey.now);
    let is_empty = view.terminals.is_empty() && view.tasks.is_empty();
    keep_what_fits(&filter, &mut view, &kept_flags(&watched.loaded.config.history), "list")?;
    let items = Item::all(&view);
    if is_empty && !args.shown.json {
        let servers: Vec<String> = view.servers.iter().map(|server| server.id.to_string()).collect();
        let what = format!("no pane of {} runs a known agent or is named in the configuration", servers.join(", "));
        let demo = match demo::running() {
            Some(demo) => format!("a demo runs: `fleetwatch -L {demo} list`"),
            None => "start an agent in a pane; `fleetwatch demo` shows some".to_owned(),
        };
        return nothing(what, &demo);
    }
    let done = args.shown.print(&items, &survey, None);
    // The process is about to end, and freeing a thousand terminals takes 20 ms.
    std::mem::forget(survey);
    done
}

impl ShownAs {
    /// Prints what a survey has found, with columns of these titles where others are usual than those of `list`.
    pub(super) fn print(&self, items: &[Item<'_>], survey: &Survey, usual: Option<&[&str]>) -> Done {
        if self.json {
            let all = items.iter().map(|item| PublicFields::of(&survey.fleet, *item, survey.now));
            return output::print_json_array(all);
        }
        if items.is_empty() {
            return output::print("");
        }
        let chosen = self.columns.as_deref().map(columns_named);
        let (table, left_out) = table(items, (chosen, usual), self.no_headers, survey.now);
        if !left_out.is_empty() && self.columns.is_some() {
            let many = if left_out.len() == 1 { "has" } else { "have" };
            let what = format!("{} {many} no room: {}", text::counted(left_out.len(), "column"), left_out.join(", "));
            Failure::refused(what).hint("a wider terminal or a pipe shows every one").warn();
        }
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

/// The failure of the servers, unless the filter names a field that does not exist: that is wrong first, because nothing can have
/// such a name.
pub(super) fn unless_unclear(filter: &Filter, why: Failure) -> Failure {
    let unknown = filter.unknown_field().filter(|_| !why.is_interrupted());
    unknown.map_or(why, |unknown| unclear(&unknown))
}

/// Keeps what a filter matches, and warns if that is nothing; `whole` is the command that shows everything.
///
/// # Errors
/// The filter names an unknown state, a number that is none, or a field that there is none of, and nothing is called so.
pub(super) fn keep_what_fits(filter: &Filter, view: &mut View<'_>, flags: &Flags, whole: &str) -> Result<(), Failure> {
    let (doubt, was_empty) = (filter.doubt(view), Item::all(view).is_empty());
    let now = view.now;
    let names = filter.as_names().filter(|it| Item::all(view).into_iter().any(|item| it.lets(item, flags, now)));
    let fits = |item: Item<'_>| filter.lets(item, flags, now);
    view.terminals.retain(|terminal| fits(Item::from(*terminal)));
    view.tasks.retain(|task| fits(Item::from(*task)));
    let nothing_fits = Item::all(view).is_empty();
    match doubt {
        Some(doubt) if doubt.is_wrong() || nothing_fits && matches!(doubt, Unclear::Field(_)) => {
            return Err(unclear(&doubt));
        }
        doubt if nothing_fits && !was_empty => {
            let any = names.map(|names| format!("all words must match; `{}` is either of them", names.text()));
            let any = any.or_else(|| doubt.map(|doubt| doubt.hint()));
            let hint = any.unwrap_or_else(|| format!("`fleetwatch {whole}` shows everything"));
            Failure::refused(format!("nothing fits `{}`", filter.text())).hint(hint).warn();
        }
        _ => {}
    }
    Ok(())
}

// The fleet as a table of text: the columns of the dashboard, straight even with wide characters.

/// Cells between two columns.
const GAP: usize = 2;
/// The cells of a terminal that has every usual column.
const WIDEST: usize = 240;

/// The table of terminals and tasks, a line each, below a head.
///
/// Without `chosen` columns, the `usual` ones, else those of a dashboard so wide. What an agent does gets what the others leave of a
/// line. Returns the titles of the columns that have no room as well.
fn table(
    items: &[Item<'_>],
    (chosen, usual): (Option<Vec<&'static Column>>, Option<&[&str]>),
    no_headers: bool,
    now: Timestamp,
) -> (String, Vec<&'static str>) {
    let width = console::terminal_width();
    // Where no terminal is, the columns do not depend on what they say.
    let has_servers = width.is_none() || items.iter().any(|item| item.key().server != items[0].key().server);
    let usual = || match usual {
        Some(titles) => COLUMNS.iter().filter(|column| titles.contains(&column.title)).collect(),
        None => Column::of_list(width.unwrap_or(WIDEST), has_servers),
    };
    let columns = chosen.unwrap_or_else(usual);
    let words = |item: Item<'_>, column: &&Column| match column.title {
        WHAT if width.is_none() => item.whole_what(),
        _ => (column.words)(item, now),
    };
    let line = |item: &Item<'_>| columns.iter().map(|column| cell(&words(*item, column))).collect();
    let mut rows: Vec<Vec<String>> = items.iter().map(line).collect();
    let mut head: Vec<&'static str> = columns.iter().map(|column| column.title).collect();
    let left_out = width.map(|width| make_room(&mut head, &mut rows, |nth| columns[nth].stays(), width));
    let most_said = most_said(&head);
    let state = head.iter().position(|title| *title == STATE);
    if no_headers {
        head.clear();
    }
    let colors = state.map(|nth| (nth, items.iter().map(|item| console::color(item.status())).collect()));
    (laid_out(&head, &rows, most_said, width, colors), left_out.unwrap_or_default())
}

/// The column that says most, and may take what is left of a line.
const WHAT: &str = "WHAT";
/// The column whose words have colours.
const STATE: &str = "STATE";

/// Its place among columns: the last one where it is not among them.
fn most_said(head: &[&str]) -> usize {
    head.iter().position(|title| *title == WHAT).unwrap_or(head.len().saturating_sub(1))
}

/// Takes out columns that a line has no room for, but none that stays; returns their titles.
pub(super) fn make_room<'t>(
    head: &mut Vec<&'t str>,
    rows: &mut [Vec<String>],
    stays: impl Fn(usize) -> bool,
    width: usize,
) -> Vec<&'t str> {
    let most_said = most_said(head);
    let cells = |(nth, title): (usize, &&str)| {
        let widest = rows.iter().map(|row| text::width(&row[nth])).max().unwrap_or_default();
        (widest.max(title.len()).min(most_cells(nth == most_said, width)), stays(nth))
    };
    let out = left_out(head.iter().enumerate().map(cells).collect(), width);
    let take_out = |nth: usize| {
        rows.iter_mut().for_each(|row| drop(row.remove(nth)));
        head.remove(nth)
    };
    let mut titles: Vec<&str> = out.into_iter().map(take_out).collect();
    titles.reverse();
    titles
}

/// The columns, by the cells that they need and whether they stay, that a line has no room for. They are given in the order in
/// which they are taken out: from left to right they say less and less of how a terminal is.
fn left_out(mut columns: Vec<(usize, bool)>, width: usize) -> Vec<usize> {
    let mut without = Vec::new();
    while columns.iter().map(|(cells, _)| cells + GAP).sum::<usize>().saturating_sub(GAP) > width
        && columns.len() > 1
        && let Some(nth) = columns.iter().rposition(|(_, stays)| !stays)
    {
        columns.remove(nth);
        without.push(nth);
    }
    without
}

/// If a line does not fit: the most cells of a column before what is left of the line is given out.
fn most_cells(says_most: bool, width: usize) -> usize {
    if says_most { width / 3 } else { MOST }
}

/// If a line does not fit: the most cells of each column but the one that says most, and the least that that one keeps.
const MOST: usize = 24;
/// See [`MOST`].
const LEAST: usize = 8;

/// Rows in columns as wide as their widest cell, below a head unless that is empty. If lines would be wider than `width`, long
/// cells are cut, then the end of the line.
pub(super) fn aligned(head: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    laid_out(head, rows, most_said(head), width, None)
}

/// The same, where the column at `most_said` gets what the others leave of a line, and the cells of one column may have colours.
fn laid_out(
    head: &[&str],
    rows: &[Vec<String>],
    most_said: usize,
    width: Option<usize>,
    colors: Option<(usize, Vec<Color>)>,
) -> String {
    let above = usize::from(!head.is_empty());
    let head: Vec<String> = head.iter().map(|&title| title.to_owned()).collect();
    let rows: Vec<&Vec<String>> = Some(&head).filter(|head| !head.is_empty()).into_iter().chain(rows).collect();
    let columns = rows.first().map_or(0, |row| row.len());
    let widest = |nth: usize| rows.iter().map(|row| text::width(&row[nth])).max().unwrap_or_default();
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    if let Some(width) = width.filter(|width| widths.iter().map(|cells| cells + GAP).sum::<usize>() > width + GAP) {
        let others = widths.iter_mut().enumerate().filter(|(nth, _)| *nth != most_said);
        let mut taken = 0;
        for (_, cells) in others {
            *cells = (*cells).min(MOST);
            taken += *cells + GAP;
        }
        widths[most_said] = widths[most_said].min(width.saturating_sub(taken).max(LEAST));
    }
    let mut table = String::new();
    for (nth, row) in rows.into_iter().enumerate() {
        let (mut line, mut left) = (String::new(), width.unwrap_or(usize::MAX));
        for (column, (cell, cells)) in row.iter().zip(&widths).enumerate() {
            let colors = colors.as_ref().filter(|(of, _)| *of == column);
            let color = colors.and_then(|(_, all)| all.get(nth.checked_sub(above)?)).copied();
            let cell = text::cut(cell, (*cells).min(left));
            let blanks = (cells + GAP).min(left) - text::width(&cell);
            left -= text::width(&cell) + blanks;
            line.push_str(&console::painted(&cell, color));
            line.push_str(&" ".repeat(blanks));
        }
        table.extend([line.trim_end(), "\n"]);
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
        let columns = [(10, true), (14, false), (11, true), (6, false), (11, false), (4, false), (80, true)];
        let without = |width| {
            let cells =
                |(nth, &(cells, stays)): (usize, &(usize, bool))| (cells.min(most_cells(nth == 6, width)), stays);
            left_out(columns.iter().enumerate().map(cells).collect(), width)
        };
        assert_eq!((without(120), without(90)), (vec![], vec![5, 4]));
        assert_eq!((without(60), without(40)), (vec![5, 4, 3, 1], vec![5, 4, 3, 1]));
    }

    #[test]
    fn what_an_agent_does_gets_what_the_others_leave_wherever_it_stands() {
        let mut head = vec!["NAME", "WHAT", "PANE", "COST"];
        let said = "Wrote the docs of it, and then the tests of it, and then the rest";
        let mut rows = [["docs", said, "%7", "0.12"].map(str::to_owned).to_vec()];
        let table = |head: &[&str], rows: &[Vec<String>]| laid_out(head, rows, most_said(head), Some(60), None);
        insta::assert_snapshot!(table(&head, &rows), @r"
        NAME  WHAT                                        PANE  COST
        docs  Wrote the docs of it, and then the tests…   %7    0.12
        ");
        assert_eq!(make_room(&mut head, &mut rows, |nth| nth < 2, 20), ["COST"]);
        assert_eq!(head, ["NAME", "WHAT", "PANE"]);
    }

    #[test]
    fn columns_are_printed_as_often_as_they_are_named() {
        let titles = |names: &[&str]| -> Vec<&str> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            columns_named(&names).iter().map(|column| column.title).collect()
        };
        assert_eq!(titles(&["name", "NAME"]), ["NAME", "NAME"]);
        let all = titles(&["what", "all"]);
        assert_eq!((all.len(), all[0], all[1]), (COLUMNS.len(), "WHAT", "NAME"));
    }

    #[test]
    fn a_long_name_leaves_room_for_the_rest_on_a_terminal_and_is_whole_elsewhere() {
        let head = ["NAME", "STATE", "WHAT"];
        let name = "a-very-long-name-of-a-session-that-somebody-has-thought-of";
        let rows = [row([name, "ready", "Wrote the docs of it"])];
        assert!(aligned(&head, &rows, None).contains(name));
        insta::assert_snapshot!(aligned(&head, &rows, Some(40)), @r"
        NAME                      STATE  WHAT
        a-very-long-name-of-a-s…  ready  Wrote…
        ");
        for width in 1..90 {
            assert!(aligned(&head, &rows, Some(width)).lines().all(|line| text::width(line) <= width));
        }
    }
}
