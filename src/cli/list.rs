//! `fleetwatch list`: the fleet as it is now.

use super::survey::Watched;
use super::{Done, GlobalOptions, output, table};

/// Print every watched terminal and task with its state, once.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print one JSON array with the full public state of each terminal and task.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// No server answers, or the configuration is wrong.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
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
    output::print(&table::table(&view.terminals, &view.tasks, output::terminal_width()))
}
