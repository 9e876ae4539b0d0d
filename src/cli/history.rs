//! `fleetwatch history`: what happened, from the store (SPEC §10).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use jiff::tz::TimeZone;
use ratatui::crossterm::style::Color;
use serde_json::{Map, Value, json};

use super::console::{color, painted};
use super::failure::{nothing, number};
use super::list::{aligned, make_room};
use super::{Done, Failure, GlobalOptions, console, output};
use crate::clock;
use crate::engine::warning_of;
use crate::fleet::{ServerId, TerminalKey};
use crate::history;
use crate::history::{Grain, History, Period, Reader, RecordFilter, Settings, StoredTerminal, WriterState, day_totals};
use crate::present::objection::Objection;
use crate::present::sentence::{Doer, Sentence};
use crate::present::target::resolve_past;
use crate::present::totals::{TotalsWords, turns_told};
use crate::present::{document, sentence, text, times};
use crate::record::timeline::Holder;
use crate::record::totals::{DayTotals, Totals, TotalsOf};
use crate::record::{Body, HistoryError, Kind, Stored};
use crate::screen::harmless;
use crate::state::TurnResult;
use crate::status::Status;
use crate::time::Timestamp;

/// The hint where the history has nothing.
const WRITTEN_BY: &str = "the dashboard and `fleetwatch watch` write the history while they run";
/// Lines that are printed when nothing says which.
const USUAL_LINES: u32 = 100;

/// Print what happened, and what was sent.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch history docs --since 2h")]
pub struct HistoryArgs {
    /// Terminal: a name that it has or had, a pane id such as %12, or the beginning of a name that only one has.
    pub target: Option<String>,
    /// Start: an age (30m, 2h, 3d), a day (today, yesterday, 2026-11-21), a time of day (09:00, its last occurrence),
    /// or both (2026-11-21T09:00, 2026-11-21T09:00:00Z).
    #[arg(long, value_name = "WHEN", value_parser = moment, allow_hyphen_values = true)]
    pub since: Option<Timestamp>,
    /// End, in the same forms.
    #[arg(long, value_name = "WHEN", value_parser = moment, allow_hyphen_values = true)]
    pub until: Option<Timestamp>,
    /// Only this kind; may be repeated.
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<Kind>,
    /// Only the newest COUNT lines; without --since and --json the newest 100.
    #[arg(long, value_name = "COUNT", value_parser = count, allow_hyphen_values = true)]
    pub limit: Option<u32>,
    /// Print JSON lines: `{"at", "kind", "terminal", "state", "changed", "evidence", …}`.
    #[arg(long)]
    pub json: bool,
    /// Print every change of a field with its milliseconds, not sentences alone; --json has them in any case.
    #[arg(long, conflicts_with = "summary")]
    pub details: bool,
    /// Print for each day how long each terminal worked and waited for you, what it used, and how its turns ended. With
    /// --json, also for each hour of it.
    #[arg(long, conflicts_with_all = ["kind", "limit"])]
    pub summary: bool,
    /// Whose totals these are. A terminal counts for the agent and the label that it had last on the day.
    #[arg(long, value_name = "WHAT", default_value = "terminal", requires = "summary")]
    pub by: TotalsOf,
}

/// A point in time, as [`times::moment`] reads it.
fn moment(text: &str) -> Result<Timestamp, Objection> {
    times::moment(text, &Zoned::now())
}

/// A number of lines.
fn count(text: &str) -> Result<u32, Objection> {
    let what = "not a number of lines";
    number(text, 1..=u32::MAX, what, "write a whole number from 1 on, such as 20")
}

/// Runs the command.
///
/// # Errors
/// There is no history, it cannot be read, or the target fits no terminal in it.
pub fn run(args: &HistoryArgs, options: &GlobalOptions) -> Done {
    if let (Some(since), Some(until)) = (args.since, args.until)
        && since > until
    {
        let what = format!("--since {} is after --until {}", local(since, "%H:%M:%S"), local(until, "%H:%M:%S"));
        return Err(Failure::usage(what).hint("swap them: `--since` is the earlier one"));
    }
    if let Some(since) = args.since.filter(|since| *since > clock::now()) {
        let what = format!("--since {} has not come yet", local(since, "%H:%M:%S"));
        return Err(Failure::usage(what).hint("nothing has happened since then; `--since 2h` is two hours ago"));
    }
    let config = options.load()?.config;
    let path = config.history.location().ok_or_else(|| {
        Failure::refused("without a home directory there is no place for a history").hint("set `path` in [history]")
    })?;
    let unusable = |trouble: HistoryError| unusable(&path, &trouble);
    let mut reader = Reader::open(&path).map_err(unusable)?;
    let known = on_servers(reader.terminals().map_err(unusable)?, options);
    let terminals = match &args.target {
        Some(target) => {
            let known: Vec<_> = known.iter().map(|one| (&one.key, one.name.as_str())).collect();
            Some(resolve_past(target, &known, |name| reader.named(name)).map_err(unusable)??)
        }
        None if options.names_a_server() => Some(known.iter().map(|terminal| terminal.key.clone()).collect()),
        None => None,
    };
    if args.summary {
        let chosen = known.iter().filter(|one| terminals.as_ref().is_none_or(|keys| keys.contains(&one.key)));
        return totals(args, &mut reader, &chosen.cloned().collect::<Vec<_>>()).map_err(unusable)?;
    }
    let filter = RecordFilter {
        terminals,
        since: args.since,
        until: args.until,
        kinds: args.kind.clone(),
        limit: args.limit.or_else(|| (args.since.is_none() && !args.json).then_some(USUAL_LINES)),
        before: None,
    };
    if args.json {
        return print_json(&mut reader, &filter).map_err(unusable)?;
    }
    let lines = if args.details { details(&mut reader, &filter) } else { sentences(&mut reader, &filter) };
    let lines = lines.map_err(unusable)?;
    if !lines.is_empty() {
        return print_lines(lines, console::terminal_width().filter(|_| !args.details));
    }
    if !reader.records(&RecordFilter { limit: Some(1), ..filter }).map_err(unusable)?.is_empty() {
        return nothing("nothing of that is worth a sentence", "`--details` prints every change");
    }
    let is_filtered = args.target.is_some() || args.since.is_some() || args.until.is_some() || !args.kind.is_empty();
    nothing(if is_filtered { "the history has no such entries" } else { "there are no entries yet" }, WRITTEN_BY)
}

/// Where the history is kept that a command needs, for `what` it is needed.
///
/// # Errors
/// None is kept.
pub(super) fn kept_at(settings: &Settings, what: &str) -> Result<PathBuf, Failure> {
    settings.kept_at().ok_or_else(|| {
        Failure::refused(format!("no history is kept, so there {what}")).hint(match settings.enabled {
            true => "set HOME or XDG_STATE_HOME, or `path` in [history]",
            false => "set `enabled = true` in [history]",
        })
    })
}

/// What is said of a history that cannot be read or written.
pub(super) fn unusable(path: &Path, trouble: &HistoryError) -> Failure {
    match trouble {
        HistoryError::Missing(path) => {
            Failure::refused(format!("there is no history yet: {} is missing", path.display())).hint(trouble.hint())
        }
        trouble => {
            Failure::refused(format!("the history {} cannot be used: {trouble}", path.display())).hint(trouble.hint())
        }
    }
}

/// Waits until what a command does is kept, so that other processes know of it, and says when it is not.
pub(super) async fn keep(history: &History) {
    let is_kept = history.written(history::PATIENCE).await;
    if !is_kept && matches!(history.health().condition, WriterState::Starting | WriterState::Good) {
        return Failure::refused("history is not written yet").hint(HistoryError::Locked.hint()).warn();
    }
    warn_of(history);
}

/// Says that the history does not keep what is done, where it does not.
pub(super) fn warn_of(history: &History) {
    if let Some(warning) = warning_of(history) {
        Failure::from(warning).warn();
    }
}

/// The terminals on the server that the options name, or all.
pub(super) fn on_servers(known: Vec<StoredTerminal>, options: &GlobalOptions) -> Vec<StoredTerminal> {
    if !options.names_a_server() {
        return known;
    }
    let servers: Vec<ServerId> = options.servers(&crate::config::Config::default());
    let is_there = |key: &TerminalKey| {
        servers.iter().any(|server| key.may_be(&TerminalKey { server: server.clone(), ..key.clone() }))
    };
    known.into_iter().filter(|terminal| is_there(&terminal.key)).collect()
}

fn print_json(reader: &mut Reader, filter: &RecordFilter) -> Result<Done, HistoryError> {
    let mut written = Ok(());
    reader.each(filter, |record| {
        written = document::json_line(&document::of_record(&record)).and_then(|line| output::write_whole(&line));
        written.is_ok()
    })?;
    Ok(output::conclude(written))
}

/// One event for people: when, to whom, a coloured text and the rest.
struct HistoryLine {
    time: String,
    name: String,
    text: String,
    color: Option<Color>,
    rest: String,
}

/// Records that are read at once to find sentences.
const PAGE: u32 = 500;

/// What happened in sentences; `limit` of the filter counts them, as not every record has one.
fn sentences(reader: &mut Reader, filter: &RecordFilter) -> Result<Vec<HistoryLine>, HistoryError> {
    let most = filter.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut filter = RecordFilter { limit: Some(PAGE), ..filter.clone() };
    let mut entries: Vec<(Stored, Sentence, u32)> = Vec::new();
    // The first keys of the oldest line may be on the next page.
    while entries.len() <= most {
        let page = reader.records(&filter)?;
        let Some(oldest) = page.first() else { break };
        filter.before = Some(oldest.id);
        for record in page.into_iter().rev() {
            let Some(sentence) = sentence::of(&record.body, &harmless(&record.name)) else { continue };
            // Keys that are typed one by one are one line, of the time of the first; each prompt and answer has its own.
            let is_repeatable = sentence::is_repeatable(&record.body) && sentence.actor == Doer::You;
            let continues = |(later, told, _): &&mut (Stored, Sentence, u32)| {
                is_repeatable && record.key == later.key && *told == sentence
            };
            match entries.last_mut().filter(continues) {
                Some((first, _, times)) => (*first, *times) = (record, *times + 1),
                None => entries.push((record, sentence, 1)),
            }
        }
    }
    entries.truncate(most);
    let line = |(record, sentence, times): (Stored, Sentence, u32)| HistoryLine {
        time: local(record.at, "%H:%M:%S"),
        name: sentence.subject(&harmless(&record.name)).to_owned(),
        color: sentence.status.map(color),
        rest: if times > 1 { format!("({times} times)") } else { String::new() },
        text: sentence.text,
    };
    Ok(entries.into_iter().rev().map(line).collect())
}

/// Every record with all that it changed.
fn details(reader: &mut Reader, filter: &RecordFilter) -> Result<Vec<HistoryLine>, HistoryError> {
    let line = |record: &Stored| {
        let (word, color) = word(record);
        // One that began with this word may have no more to say.
        let rest = Some(what(record)).filter(|what| *what != word).unwrap_or_default();
        let (time, name) = (local(record.at, "%H:%M:%S.%3f"), harmless(&record.name));
        HistoryLine { time, name, text: format!("{word:<11}"), color: Some(color), rest }
    };
    Ok(reader.records(filter)?.iter().map(line).collect())
}

/// Prints lines; what does not fit into `width` is cut.
fn print_lines(lines: Vec<HistoryLine>, width: Option<usize>) -> Done {
    let widest = lines.iter().map(|line| text::width(&line.name)).max().unwrap_or_default();
    let mut printed = String::new();
    for HistoryLine { time, name, text: first, color, rest } in lines {
        let start = format!("{time}  {name}{}  ", " ".repeat(widest - text::width(&name)));
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(text::width(&start)));
        let whole = if rest.is_empty() { first.clone() } else { format!("{first}  {rest}") };
        let cut = text::cut(&whole, room);
        let (first, rest) = match cut.strip_prefix(first.as_str()) {
            Some(rest) => (first.as_str(), rest),
            None => (cut.as_ref(), ""),
        };
        let line = format!("{start}{}{rest}", painted(first, color));
        let _ = writeln!(printed, "{}", line.trim_end());
    }
    output::print(&printed)
}

/// The day, and the time as the clock on the wall shows it in that form.
pub(super) fn local(at: Timestamp, clock: &str) -> String {
    let shown = at.in_zone(&TimeZone::system()).map(|local| local.strftime(&format!("%Y-%m-%d {clock}")).to_string());
    shown.unwrap_or_else(|| at.to_string())
}

/// What a record is about in one word, and its colour.
pub(super) fn word(record: &Stored) -> (Cow<'_, str>, Color) {
    match &record.body {
        Body::Transition(_) | Body::TaskEvent(_) => {
            let status = record.body.status().unwrap_or(Status::Unknown);
            (status.word(), color(status))
        }
        Body::Input(input) => (input.sent.what().word().into(), Color::Blue),
        Body::FollowUp(_) => ("follow-up".into(), Color::Blue),
        Body::Action(_) => ("action".into(), Color::Blue),
        Body::Other { kind, .. } => (kind.into(), Color::DarkGrey),
    }
}

/// What happened, in one line.
fn what(record: &Stored) -> String {
    // One record is one line, whatever was sent.
    harmless(&record.body.what().replace(['\n', '\t'], " ")).trim_end().to_owned()
}

// `--summary`: what was done, by the day.

/// The cells of a name in the totals.
const NAME: usize = 16;

/// Prints the totals of terminals.
fn totals(args: &HistoryArgs, reader: &mut Reader, terminals: &[StoredTerminal]) -> Result<Done, HistoryError> {
    let now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let until = args.until.map_or(now, |until| until.min(now));
    let period = Period { since: args.since, until, zone: TimeZone::system() };
    let grain = if args.json { Grain::Hour } else { Grain::Day };
    let days = day_totals(reader, terminals, args.by, &period, grain)?;
    if args.json {
        let lines: io::Result<String> = days.iter().map(|day| document::json_line(&to_json(day, args.by))).collect();
        return Ok(output::conclude(lines.and_then(|lines| output::write_whole(&lines))));
    }
    Ok(if args.by == TotalsOf::Label && days.iter().all(DayTotals::is_nameless) {
        nothing("nothing there has a label", "`fleetwatch name NAME --label LABEL` gives one")
    } else if days.is_empty() {
        nothing("nothing was watched then, so there are no totals", WRITTEN_BY)
    } else {
        output::print(&table(args.by, &days, console::terminal_width()))
    })
}

fn to_json(day: &DayTotals, by: TotalsOf) -> Value {
    let mut line = Map::new();
    line.insert("day".to_owned(), day.date.to_string().into());
    line.insert(by.word().to_owned(), day.name.clone().into());
    line.extend(fields(&day.whole));
    let hour = |(from, totals): (&Timestamp, &Totals)| {
        let mut hour = Map::new();
        hour.insert("from".to_owned(), json!(from));
        hour.extend(fields(totals));
        Value::Object(hour)
    };
    line.insert("hours".to_owned(), day.hours.iter().map(hour).collect());
    Value::Object(line)
}

/// What is said alike of a day and of an hour.
fn fields(totals: &Totals) -> Map<String, Value> {
    let mut fields = Map::new();
    for holder in Holder::ALL {
        fields.insert(format!("{holder}_seconds"), totals.time(*holder).as_secs().into());
    }
    let turns = [TurnResult::Success, TurnResult::Interrupted, TurnResult::KnownFailure];
    let turns: Map<_, _> = turns.map(|it| (it.word().to_owned(), totals.turns(it).into())).into_iter().collect();
    fields.insert("turns".to_owned(), turns.into());
    fields.insert("tokens_in".to_owned(), totals.tokens_in.into());
    fields.insert("tokens_out".to_owned(), totals.tokens_out.into());
    fields.insert("cost_usd".to_owned(), totals.cost_usd.into());
    fields
}

/// The totals of each day in a line.
fn table(by: TotalsOf, days: &[DayTotals], width: Option<usize>) -> String {
    let heading = by.word().to_uppercase();
    let mut head = vec!["DAY", &heading, "WORKED", "WAITED", "TOKENS", "COST", "TURNS"];
    let row = |day: &DayTotals| {
        let TotalsWords { worked, waited, turns, tokens, cost } = TotalsWords::of(&day.whole);
        let turns = Some(turns_told(&turns)).filter(|turns| !turns.is_empty());
        let mut row = vec![day.date.to_string(), text::cut(&harmless(&day.name), NAME).into_owned()];
        row.extend([worked, waited, tokens, cost, turns].map(|words| words.unwrap_or_else(|| "-".to_owned())));
        row
    };
    let mut rows = days.iter().map(row).collect::<Vec<_>>();
    // Without its day, whose it is and what came of it, a line says nothing.
    let last = head.len() - 1;
    make_room(&mut head, &mut rows, |nth| nth < 2 || nth == last, width.unwrap_or(usize::MAX));
    aligned(&head, &rows, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_for_people_and_programs() {
        let hour = Totals { tokens_in: Some(11_500), cost_usd: Some(0.25), ..Totals::default() };
        let begin: Timestamp = serde_json::from_value(json!("2026-11-21T08:00:00Z")).unwrap();
        let (hours, date) = ([(begin, hour.clone())].into(), "2026-11-21".parse().unwrap());
        let name = "a name that is far too long for a column of it".to_owned();
        let day = DayTotals { date, name, whole: hour, hours };
        insta::assert_snapshot!(table(TotalsOf::Terminal, std::slice::from_ref(&day), Some(80)), @r"
        DAY         TERMINAL         WORKED  WAITED  TOKENS  COST   TURNS
        2026-11-21  a name that is…  -       -       11.5k   $0.25  -
        ");
        insta::assert_snapshot!(table(TotalsOf::Terminal, std::slice::from_ref(&day), Some(40)), @r"
        DAY         TERMINAL         TURNS
        2026-11-21  a name that is…  -
        ");
        let json = to_json(&day, TotalsOf::Agent);
        assert_eq!((&json["day"], &json["agent"]), (&json!("2026-11-21"), &json!(day.name)));
        for line in [&json, &json["hours"][0]] {
            assert_eq!((&line["tokens_in"], &line["tokens_out"]), (&json!(11_500), &Value::Null));
            assert_eq!((&line["cost_usd"], &line["working_seconds"]), (&json!(0.25), &json!(0.0)));
            assert_eq!(line["turns"], json!({ "success": 0, "interrupted": 0, "known_failure": 0 }));
        }
        assert_eq!(json["hours"][0]["from"], "2026-11-21T08:00:00.000Z");
    }
}
