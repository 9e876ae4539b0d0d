//! `fleetwatch list`: the fleet as it is now.

use super::survey::Watched;
use super::target::nearest;
use super::{Done, Failure, GlobalOptions, output, table};
use crate::ui::{COLUMNS, Column};

/// Print every watched terminal and task with its state, once.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print one JSON array with the full public state of each terminal and task.
    #[arg(long)]
    pub json: bool,
    /// Columns to print, in this order: name, agent, state, last, stable, phase, available, context, plan, model, place, cost,
    /// tokens, mode, branch, prompt, pane, what.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "json")]
    pub columns: Option<Vec<String>>,
}

/// Runs the command.
///
/// # Errors
/// No server answers, or the configuration is wrong.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
    let columns = args.columns.as_deref().map(columns).transpose()?;
    let survey = Watched::new(options)?.survey_with_prompts().await?;
    let view = survey.fleet.view(survey.now);
    if args.json {
        let states = view.terminals.iter().filter_map(|terminal| survey.fleet.state(&terminal.key, survey.now));
        let states = states.map(serde_json::to_value);
        let tasks = view.tasks.iter().map(|task| serde_json::to_value(task.fields()));
        let all = states.chain(tasks).collect::<Result<Vec<_>, _>>()?;
        let text = serde_json::to_string_pretty(&all)?;
        return output::print(&format!("{text}\n"));
    }
    if view.terminals.is_empty() && view.tasks.is_empty() {
        let servers: Vec<String> = view.servers.iter().map(|server| server.id.to_string()).collect();
        eprintln!("no pane of {} runs a known agent or is named by the configuration", servers.join(", "));
        return output::print("");
    }
    output::print(&table::table(&view.terminals, &view.tasks, columns.as_deref(), output::terminal_width()))
}

/// The columns of these names.
fn columns(names: &[String]) -> Result<Vec<&'static Column>, Failure> {
    let column = |name: &String| {
        let name = name.trim();
        Column::named(name).ok_or_else(|| {
            let known: Vec<String> = COLUMNS.iter().map(|column| column.title.to_lowercase()).collect();
            let near = nearest(&name.to_lowercase(), known.iter().map(String::as_str)).map(str::to_owned);
            let hint = near
                .map_or_else(|| format!("columns are {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
            Failure::usage(format!("there is no column `{name}`")).hint(hint)
        })
    };
    names.iter().map(column).collect()
}
