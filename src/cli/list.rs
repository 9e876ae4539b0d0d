//! `fleetwatch list`: the fleet as it is now.

use serde_json::Value;

use super::survey::Watched;
use super::target::{Meant, nearest};
use super::{Done, Failure, GlobalOptions, output, table};
use crate::fleet::{Fleet, View};
use crate::time::Timestamp;
use crate::ui::{COLUMNS, Column, Filter, Flags, Item, Unclear};

/// Print every watched terminal and task with its state, once.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print only what fits, as the filter of the dashboard reads it: `api`, `is:needs-you`, `agent:claude waited:>5m`.
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Print one JSON array with the full public state of each terminal and task.
    #[arg(long)]
    pub json: bool,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "json", help = help_of_columns())]
    pub columns: Option<Vec<String>>,
}

/// Runs the command.
///
/// # Errors
/// No server answers, or the configuration is wrong.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
    let columns = args.columns.as_deref().map(columns).transpose()?;
    let survey = Watched::open(options).await?.survey_with_prompts().await?;
    let mut view = survey.fleet.view(survey.now);
    let is_empty = view.terminals.is_empty() && view.tasks.is_empty();
    keep_what_fits(&Filter::new(&args.filter.join(" ")), &mut view)?;
    if args.json {
        let terminals =
            view.terminals.iter().map(|terminal| json(&survey.fleet, Meant::Terminal(terminal), survey.now));
        let tasks = view.tasks.iter().map(|task| json(&survey.fleet, Meant::Task(task), survey.now));
        let all = terminals.chain(tasks).collect::<Result<Vec<Value>, serde_json::Error>>()?;
        let text = serde_json::to_string_pretty(&all)?;
        let done = output::print(&format!("{text}\n"));
        // The process ends: to take a thousand terminals apart before takes 20 ms.
        std::mem::forget((survey, all));
        return done;
    }
    if is_empty {
        let servers: Vec<String> = view.servers.iter().map(|server| server.id.to_string()).collect();
        eprintln!("no pane of {} runs a known agent or is named by the configuration", servers.join(", "));
        return output::print("");
    }
    output::print(&table::table(&view.terminals, &view.tasks, columns.as_deref(), output::terminal_width(), survey.now))
}

/// Leaves in a view what a filter lets through.
///
/// # Errors
/// The filter asks for a state that there is none of, or for a number that is none.
fn keep_what_fits(filter: &Filter, view: &mut View<'_>) -> Result<(), Failure> {
    if let Some(doubt) = filter.doubt(view).filter(Unclear::is_wrong) {
        return Err(Failure::usage(doubt.in_short()).hint(doubt.hint()));
    }
    let (flags, now) = (Flags::default(), view.now);
    let mut fits = filter.matcher(&flags, now);
    view.terminals.retain(|terminal| fits(Item::from(*terminal)));
    view.tasks.retain(|task| fits(Item::from(*task)));
    Ok(())
}

/// The full public state of a terminal or a task (SPEC §2, §9), with what the operator notes of it.
///
/// # Errors
/// It cannot be written as JSON.
pub(super) fn json(fleet: &Fleet, meant: Meant<'_>, now: Timestamp) -> Result<Value, serde_json::Error> {
    let (item, mut fields) = match meant {
        Meant::Terminal(terminal) => (Item::from(terminal), serde_json::to_value(fleet.state_of(terminal, now))?),
        Meant::Task(task) => (Item::from(task), serde_json::to_value(task.fields())?),
    };
    fields["note"] = item.note().text.as_deref().into();
    Ok(fields)
}

fn help_of_columns() -> String {
    format!("Columns to print, in this order: {}", all_names().join(", "))
}

/// The names of all columns.
fn all_names() -> Vec<String> {
    COLUMNS.iter().map(|column| column.title.to_lowercase()).collect()
}

/// The columns of these names.
fn columns(names: &[String]) -> Result<Vec<&'static Column>, Failure> {
    let column = |name: &String| {
        let name = name.trim();
        Column::named(name).ok_or_else(|| {
            let known = all_names();
            let near = nearest(&name.to_lowercase(), known.iter().map(String::as_str)).map(str::to_owned);
            let hint = near
                .map_or_else(|| format!("columns are {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
            Failure::usage(format!("there is no column `{name}`")).hint(hint)
        })
    };
    names.iter().map(column).collect()
}
