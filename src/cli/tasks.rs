//! `fleetwatch tasks`: lists tasks, kills them, runs them again.

use std::process::ExitCode;

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use super::failure::nothing;
use super::history::keep;
use super::list::{ListArgs, ShownAs, filter_of, keep_what_fits, unless_unclear};
use super::run::{JustStarted, or_refused, seen_now};
use super::survey::{Survey, Watched};
use super::{Done, Failure, GlobalOptions, output};
use crate::app::kept_flags;
use crate::clock;
use crate::config::{Adopted, AdoptedError};
use crate::engine::Freshness;
use crate::fleet::{DeclaredBy, ServerHealth, ServerView};
use crate::history::History;
use crate::ids::{ServerId, TerminalKey};
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::present::text::quoted;
use crate::record::{OperatorAction, Record};
use crate::state::Problem;
use crate::task::Task;
use crate::tmux::{Begun, Start};

/// List tasks; kill them, run them again, remove them.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch tasks rerun build")]
#[command(args_conflicts_with_subcommands = true)]
pub struct TasksArgs {
    #[command(flatten)]
    pub shown: ShownAs,
    #[command(subcommand)]
    pub command: Option<TasksCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum TasksCommand {
    /// Print every task, or those that match a filter (the default).
    #[command(before_help = "Example: fleetwatch tasks list is:exited")]
    List(ListArgs),
    /// Kill tasks: end their programs and close their windows.
    #[command(before_help = "Example: fleetwatch tasks kill build")]
    Kill {
        /// Tasks, by their names, window ids such as @12, or tmux targets.
        #[arg(required = true, value_name = "TASK")]
        targets: Vec<String>,
        /// Print one JSON array: `{"name", "window_id", "outcome": "killed", "removed", "gone", "failed" or "refused", "detail"}`.
        #[arg(long)]
        json: bool,
    },
    /// Run an ended task again, with the same command.
    #[command(before_help = "Example: fleetwatch tasks rerun build")]
    Rerun {
        /// The task, by its name, a window id such as @12, or a tmux target.
        #[arg(value_name = "TASK")]
        target: String,
        /// Print the ids as JSON, as `run` does; if it is refused, `{"name", "outcome": "refused", "detail"}`.
        #[arg(long)]
        json: bool,
    },
    /// Close the windows of tasks that have ended.
    #[command(before_help = "Example: fleetwatch tasks prune")]
    Prune {
        /// Only those of this session.
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Print one JSON array, as `kill` does.
        #[arg(long)]
        json: bool,
    },
    /// Treat every window of a session as a task, as [[task]] in the configuration does, until you undo it.
    #[command(before_help = "Example: fleetwatch tasks adopt builds")]
    Adopt {
        /// The session's name.
        #[arg(value_name = "SESSION")]
        session: String,
        /// Undo it.
        #[arg(long)]
        undo: bool,
        /// Print one JSON object: `{"session", "host", "adopted"}`.
        #[arg(long)]
        json: bool,
    },
    /// Kill all tasks, and close the windows of those that have ended.
    #[command(before_help = "Example: fleetwatch tasks kill-all --yes")]
    KillAll {
        /// Only those of this session.
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Do it; without this option, only say what would be done.
        #[arg(long)]
        yes: bool,
        /// Print one JSON array, as `kill` does.
        #[arg(long)]
        json: bool,
    },
}

/// What says something of tasks.
const COLUMNS_OF_TASKS: [&str; 9] = ["NAME", "SERVER", "STATE", "SINCE", "LAST", "PLACE", "PANE", "COMMAND", "WHAT"];

/// Why a task is left alone that was named beside what is none.
const SPARED: &str = "nothing is killed, as another target is no task";

/// Runs the command.
///
/// # Errors
/// No such task, its state does not allow it, or tmux refuses.
pub async fn run(args: &TasksArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let found = async || Ok::<_, Failure>(FoundTasks { watched: &watched, survey: watched.survey().await? });
    match &args.command {
        None => list(&watched, &[], &args.shown).await,
        Some(TasksCommand::List(ListArgs { filter, shown })) => list(&watched, filter, shown).await,
        Some(TasksCommand::Adopt { session, undo, json }) => adopt(&watched, session, !undo, *json).await,
        Some(TasksCommand::Kill { targets, json }) => found().await?.kill_named(targets, *json).await,
        Some(TasksCommand::Rerun { target, json }) => found().await?.rerun(target, *json).await,
        Some(TasksCommand::Prune { session, json }) => found().await?.prune(session.as_deref(), *json).await,
        Some(TasksCommand::KillAll { session, yes, json }) => {
            found().await?.kill_all(session.as_deref(), *yes, *json).await
        }
    }
}

/// Prints the tasks that fit a filter.
async fn list(watched: &Watched, filter: &[String], shown: &ShownAs) -> Done {
    let filter = filter_of(filter)?;
    let survey = watched.survey_with_prompts().await.map_err(|why| unless_unclear(&filter, why))?;
    let mut view = survey.fleet.view(survey.now);
    view.terminals.clear();
    let has_none = view.tasks.is_empty();
    keep_what_fits(&filter, &mut view, &kept_flags(&watched.loaded.config.history), "tasks list")?;
    if has_none && !shown.json {
        return no_tasks();
    }
    shown.print(&Item::all(&view), &survey, Some(&COLUMNS_OF_TASKS))
}

/// Treats a session as tasks from now on, or no longer.
async fn adopt(watched: &Watched, session: &str, adopt: bool, json: bool) -> Done {
    let path = Adopted::location()
        .ok_or_else(|| Failure::refused(AdoptedError::Homeless).hint("set HOME or XDG_STATE_HOME"))?;
    let change = |id: &ServerId| {
        let hint = "`fleetwatch doctor` says what is wrong with it";
        Adopted::change(&path, id, session, adopt).map_err(|error| Failure::refused(&error).hint(hint))
    };
    let survey = watched.survey_quietly(Freshness::Now).await?;
    let view = survey.fleet.view(survey.now);
    let trouble = |server: &ServerView| match &server.health {
        ServerHealth::Failed(problem) => Some((server.id.clone(), problem.clone())),
        _ => None,
    };
    let troubles: Vec<(ServerId, Problem)> = view.servers.iter().copied().filter_map(trouble).collect();
    // Without a server there is no session, but there may be a choice to take back.
    for id in watched.servers.iter().filter(|id| troubles.iter().all(|(silent, _)| silent != *id)) {
        let found = view.sessions.iter().find(|known| known.server == *id && known.name == session);
        let declared_by = found.map(|found| found.declared_by);
        if let (Some(Some(DeclaredBy::Configuration)), false) = (declared_by, adopt) {
            return Err(Failure::refused(format!("the configuration makes {session} a task session"))
                .hint("remove its [[task]]"));
        }
        if declared_by.is_none() && adopt {
            continue;
        }
        let mut changed = change(id)?;
        if declared_by == Some(Some(DeclaredBy::Run)) && !adopt {
            let server = watched.server(id)?;
            server.undeclare_tasks(session).await?;
            changed = true;
        }
        let done = match (declared_by, adopt) {
            (Some(_), true) if changed => "are tasks now",
            (Some(_), true) => "are tasks already",
            (Some(_), false) if changed => "are no longer tasks, except those of `run`",
            (Some(_), false) => "are not adopted, so there is nothing to undo",
            (None, _) => "would no longer be tasks",
        };
        if declared_by.is_some() || changed {
            watched.show_changes([id]).await;
            let done = format!("the windows of {session} {done}");
            let printed = match json {
                true => output::print_json(&json!({ "session": session, "host": id.host, "adopted": adopt })),
                false => output::print(&format!("{done}\n")),
            };
            return Ok(output::acted(done, printed));
        }
    }
    if let Some((server, problem)) = troubles.first() {
        return Err(watched.explain(server, problem).await);
    }
    Err(Failure::refused(format!("there is no session {session}")).hint(sessions_listed_by(&watched.servers)))
}

/// How the sessions of the servers are listed.
fn sessions_listed_by(servers: &[ServerId]) -> String {
    let listed = |server: &ServerId| {
        let place = server.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
        format!("`{} list-sessions`{place}", server.socket.command())
    };
    format!("{} lists the sessions", servers.iter().map(listed).collect::<Vec<_>>().join(" or "))
}

/// Says that there are no tasks.
fn no_tasks() -> Done {
    nothing("there are no tasks", "`fleetwatch run NAME -- COMMAND` starts one")
}

/// The tasks that one poll has found, and their servers.
struct FoundTasks<'a> {
    watched: &'a Watched,
    survey: Survey,
}

impl FoundTasks<'_> {
    /// The tasks that something can be done to.
    fn tasks(&self, session: Option<&str>) -> Vec<&Task> {
        let tasks = self.survey.fleet.view(self.survey.now).tasks.into_iter();
        let there = tasks.filter(|task| !task.is_gone());
        there.filter(|task| session.is_none_or(|session| task.session == session)).collect()
    }

    fn task(&self, target: &str) -> Result<&Task, Failure> {
        target::resolve_task(target, &self.tasks(None)).map_err(|missing| {
            match self.survey.meant(target, Purpose::Acting) {
                Ok(Item::Terminal(agent)) => {
                    let id = &agent.state.terminal.id;
                    let hint = "`fleetwatch tasks` lists the tasks; an agent is ended in its own pane";
                    Failure::refused(format!("{id} is an agent, not a task")).hint(hint)
                }
                _ => missing.into(),
            }
        })
    }

    /// Kills the tasks that targets mean, or none where one of them means none.
    async fn kill_named(&self, targets: &[String], json: bool) -> Done {
        let (mut tasks, mut missing): (Vec<&Task>, Vec<(&String, Failure)>) = (Vec::new(), Vec::new());
        for target in targets {
            match self.task(target) {
                // One that is named twice is killed once.
                Ok(task) if tasks.iter().any(|other| other.key == task.key) => {}
                Ok(task) => tasks.push(task),
                Err(unknown) => missing.push((target, unknown)),
            }
        }
        let Some(((_, last), earlier)) = missing.split_last() else { return self.kill(&tasks, json).await };
        if json {
            let unknown = missing.iter().map(|(name, why)| EndedTask {
                name,
                window_id: None,
                outcome: "refused",
                detail: Some(why.to_string()),
            });
            let found = tasks.iter().map(|task| EndedTask::refused(task, SPARED));
            let objects = found.chain(unknown).collect::<Vec<_>>();
            output::acted("nothing was killed", output::print_json(&objects));
        }
        if !tasks.is_empty() {
            let spared = tasks.iter().map(|task| format!("{} ({})", task.id, task.window)).collect::<Vec<_>>();
            Failure::refused(format!("{} stays as it is: {SPARED}", spared.join(", "))).warn();
        }
        earlier.iter().for_each(|(_, why)| why.tell());
        Err(last.clone())
    }

    /// Closes the windows of tasks that have ended.
    async fn prune(&self, session: Option<&str>, json: bool) -> Done {
        let ended: Vec<&Task> = self.tasks(session).into_iter().filter(|task| task.is_dead()).collect();
        if ended.is_empty() && !json {
            let place = session.map(|session| format!(" of session {session}")).unwrap_or_default();
            let what = format!("no task{place} has ended, so there is nothing to remove");
            return nothing(what, "`fleetwatch tasks` lists the tasks");
        }
        self.kill(&ended, json).await
    }

    /// Kills all tasks, or says which these are.
    async fn kill_all(&self, session: Option<&str>, yes: bool, json: bool) -> Done {
        let tasks = self.tasks(session);
        if tasks.is_empty() && !json {
            return no_tasks();
        }
        if yes || tasks.is_empty() {
            return self.kill(&tasks, json).await;
        }
        if json {
            let refused = tasks.iter().map(|task| EndedTask::refused(task, "`--yes` is missing"));
            output::acted("nothing was killed", output::print_json(&refused.collect::<Vec<_>>()));
        }
        let of = |is_dead: bool, verb: &str| {
            let names: Vec<String> = (tasks.iter().filter(|task| task.is_dead() == is_dead))
                .map(|task| format!("{} ({})", task.id, task.as_status().word()))
                .collect();
            (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
        };
        let acts: Vec<String> = [of(false, "kill"), of(true, "remove")].into_iter().flatten().collect();
        Err(Failure::refused(format!("this would {}", acts.join(" and "))).hint("add `--yes` to do it"))
    }

    /// Ends tasks and removes their windows; tasks that had already ended do not count as killed.
    async fn kill(&self, tasks: &[&Task], json: bool) -> Done {
        let history = History::start(&self.watched.loaded.config.history);
        for task in tasks.iter().filter(|task| !task.is_dead()) {
            let (key, name) = (task.key.clone(), task.id.clone());
            history.record(Record::kill(key, name, clock::now(), "killed from the command line"));
        }
        // Whoever watches must know of it before the window is gone.
        if tasks.iter().any(|task| !task.is_dead()) {
            keep(&history).await;
        }
        let mut ended = Vec::new();
        for task in tasks {
            let (name, window_id) = (&task.id, task.window);
            let (outcome, detail) = match self.watched.server(&task.key.server)?.kill_task(&task.key, window_id).await {
                Ok(true) if task.is_dead() => {
                    history.record(done(task, task.key.clone(), OperatorAction::Prune));
                    ("removed", None)
                }
                Ok(true) => ("killed", None),
                Ok(false) => {
                    Failure::refused(format!("{name} ({window_id}) is gone already")).warn();
                    ("gone", None)
                }
                Err(error) => {
                    Failure::refused(format!("{name} ({window_id}): {error}")).hint(error.hint()).warn();
                    ("failed", Some(error.to_string()))
                }
            };
            ended.push(EndedTask { name, window_id: Some(window_id.to_string()), outcome, detail });
        }
        if tasks.iter().any(|task| task.is_dead()) {
            keep(&history).await;
        }
        self.watched.show_changes(tasks.iter().map(|task| &task.key.server)).await;
        let line = |(it, task): (&EndedTask<'_>, &&Task)| format!("{} ({}) {}", it.name, task.window, it.outcome);
        let done: Vec<String> = ended.iter().zip(tasks).filter(|(task, _)| task.is_done()).map(line).collect();
        let printed = match json {
            true => output::print_json(&ended),
            false => output::print(&done.iter().map(|line| format!("{line}\n")).collect::<String>()),
        };
        let done = if done.is_empty() { "nothing was killed".to_owned() } else { done.join(", ") };
        let code = output::acted(done, printed);
        Ok(if ended.iter().all(EndedTask::is_done) { code } else { ExitCode::FAILURE })
    }

    /// Runs an ended task again, and says that it runs, or that it ended at once.
    async fn rerun(&self, target: &str, json: bool) -> Done {
        let done = match self.task(target) {
            Ok(task) => self.begin_again(task).await,
            Err(unknown) => Err(unknown),
        };
        let (task, begun) = or_refused(target, json, done)?;
        let seen = seen_now(self.watched, &begun).await;
        let words = shlex::split(task.command()).unwrap_or_default();
        let program = words.first().map_or(task.command(), String::as_str);
        let (name, session) = (&task.name, &task.session);
        JustStarted { name, session, program, begun: &begun, again: true }.tell(seen.as_ref(), json)
    }

    async fn begin_again<'t>(&self, task: &'t Task) -> Result<(&'t Task, Begun), Failure> {
        if !task.is_dead() {
            return Err(Failure::refused(format!("task {} ({}) is still running", task.id, task.window))
                .hint(format!("`fleetwatch tasks kill {}` ends it", quoted(&task.id))));
        }
        let begun = self
            .watched
            .server(&task.key.server)?
            .begin_again(&task.key, task.window, None, clock::now().as_millis())
            .await;
        let Start::Begun(begun) = begun? else {
            return Err(Failure::refused(format!("{} ({}) runs again already, or is gone", task.id, task.window))
                .hint("`fleetwatch tasks` lists the tasks"));
        };
        let history = History::start(&self.watched.loaded.config.history);
        history.record(done(task, begun.key.clone(), OperatorAction::rerun(task)));
        keep(&history).await;
        Ok((task, begun))
    }
}

/// What became of a task that was to be ended.
#[derive(Serialize)]
struct EndedTask<'a> {
    name: &'a str,
    /// Nothing of what is no task.
    window_id: Option<String>,
    outcome: &'static str,
    detail: Option<String>,
}

impl<'a> EndedTask<'a> {
    fn refused(task: &'a Task, why: &str) -> Self {
        let (name, window_id) = (&task.id, Some(task.window.to_string()));
        Self { name, window_id, outcome: "refused", detail: Some(why.to_owned()) }
    }

    fn is_done(&self) -> bool {
        matches!(self.outcome, "killed" | "removed")
    }
}

/// The record of what the operator has done to a task.
fn done(task: &Task, key: TerminalKey, action: OperatorAction) -> Record {
    Record::Action { key: Some(key), name: task.id.clone(), at: clock::now(), action }
}
