//! `fleetwatch history --summary`: totals by day, of each terminal, agent or label.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::Args;
use crate::cli::table::aligned;
use crate::cli::{Done, output};
use crate::history::{DayTotals, Holder, Period, Reader, StoredTerminal, Totals, TotalsOf};
use crate::screen::harmless;
use crate::state::TurnResult;
use crate::time::Timestamp;
use crate::ui::{TotalsWords, text};

/// The cells of a line, and those of a name in it.
const WIDTH: usize = 80;
const NAME: usize = 16;

impl ValueEnum for TotalsOf {
    fn value_variants<'a>() -> &'a [Self] {
        TotalsOf::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(self.word().into())
    }
}

/// Prints the totals of terminals.
///
/// # Errors
/// The history cannot be read, or standard output cannot be written.
pub(super) fn print(args: &Args, reader: &mut Reader, terminals: &[StoredTerminal]) -> Done {
    let now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let until = args.until.map_or(now, |until| until.min(now));
    let period = Period { since: args.since, until, zone: TimeZone::system() };
    let days = reader.days(terminals, args.by, &period)?;
    if args.json {
        let mut text = String::new();
        for day in &days {
            text.push_str(&output::json_line(&to_json(day, args.by))?);
        }
        return output::print(&text);
    }
    if days.is_empty() && args.by == TotalsOf::Label {
        eprintln!("nothing of that has a label");
        eprintln!("hint: `fleetwatch note NAME --label LABEL` gives one");
        return output::print("");
    }
    if days.is_empty() {
        eprintln!("nobody watched any of that, so there are no totals");
        eprintln!("hint: the dashboard and `fleetwatch watch` write the history while they run");
        return output::print("");
    }
    output::print(&table(args.by, &days))
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

fn table(by: TotalsOf, days: &[DayTotals]) -> String {
    let heading = by.word().to_uppercase();
    let head = ["DAY", &heading, "WORKED", "WAITED", "TOKENS", "COST", "TURNS"];
    let row = |day: &DayTotals| {
        let TotalsWords { worked, waited, turns, tokens, cost } = TotalsWords::of(&day.whole);
        let mut row = vec![day.date.to_string(), text::cut(&harmless(&day.name), NAME).into_owned()];
        row.extend([worked, waited, tokens, cost, turns].map(|words| words.unwrap_or_else(|| "-".to_owned())));
        row
    };
    aligned(&head.map(str::to_owned), &days.iter().map(row).collect::<Vec<_>>(), Some(WIDTH))
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
        insta::assert_snapshot!(table(TotalsOf::Terminal, std::slice::from_ref(&day)), @r"
        DAY         TERMINAL         WORKED  WAITED  TOKENS  COST   TURNS
        2026-11-21  a name that is…  -       -       11.5k   $0.25  -
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
