//! `fleetwatch run`: a program in a task window of its own (SPEC §9).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::history::keep;
use super::survey::Watched;
use super::{Done, Failure, GlobalOptions, output};
use crate::clock;
use crate::engine::{self, Freshness};
use crate::fleet::ServerId;
use crate::history::History;
use crate::launch::{check_name, start_task};
use crate::present::objection::Objection;
use crate::present::text::quoted;
use crate::record::{OperatorAction, Record};
use crate::state::TaskStatus;
use crate::task::Task;
use crate::tmux::{Argv, Begun, NewTask};

/// Run a command as a task, in a tmux window that stays.
///
/// The session is created if needed. If a task of that name has ended, it is run again in its window; if it is still
/// running, nothing is started. The command is started as given, without a shell.
///
/// Exit code 0 says that it was started, whatever becomes of it: `fleetwatch wait NAME --for exited` waits for its end. 1 says
/// that nothing was started, or that the command cannot be run, and 2 that a name or an option is wrong.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch run build -- make -j8 all")]
pub struct RunArgs {
    /// The name of the task and its window.
    pub name: String,
    /// The session for the window; if it is created, all its windows are tasks.
    #[arg(long, value_name = "SESSION", default_value = "tasks")]
    pub session: String,
    /// The working directory; default: the current one.
    #[arg(long, value_name = "DIRECTORY")]
    pub cwd: Option<PathBuf>,
    /// Print one JSON object: `{"name", "outcome": "started", "failed" (it cannot be run) or "refused", "detail"}`, with the ids of
    /// what was started.
    #[arg(long)]
    pub json: bool,
    /// The command with its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// A name is invalid, a task of that name runs, or tmux refuses.
pub async fn run(args: &RunArgs, options: &GlobalOptions) -> Done {
    let (again, begun, seen) = or_refused(&args.name, args.json, begin(args, options).await)?;
    JustStarted { name: &args.name, session: &args.session, program: &args.command[0], begun: &begun, again }
        .tell(seen.as_ref(), args.json)
}

/// Starts the task. Returns whether it took the window of an ended one, and its present state.
async fn begin(args: &RunArgs, options: &GlobalOptions) -> Result<(bool, Begun, Option<Task>), Failure> {
    check_name("task", &args.name, "").map_err(misnamed)?;
    check_name("session", &args.session, ".:").map_err(misnamed)?;
    let argv = Argv::new(args.command.clone()).map_err(|error| {
        Failure::usage(&error).hint("write a program behind `--`, such as `fleetwatch run build -- make -j8`")
    })?;
    let watched = Watched::new(options)?;
    let Some(id) = watched.home() else {
        return Err(Failure::usage("there is no server to run it on").hint("name one with `-L`"));
    };
    let server = watched.server(id)?;
    let cwd = directory(args.cwd.as_deref(), id)?;
    let at = clock::now();
    let task = NewTask { name: &args.name, cwd: cwd.as_deref(), argv: &argv, now: at.as_millis() };
    let (again, begun) = start_task(&server, &args.session, &task).await?;
    // Opening it takes as long as a command that cannot run takes to end.
    let history = History::start(&watched.loaded.config.history);
    keep(&history).await;
    let seen = seen_now(&watched, &begun).await;
    history.record(Record::Action {
        key: Some(begun.key.clone()),
        // Another task may have its name.
        name: seen.as_ref().map_or(&args.name, |task| &task.id).clone(),
        at,
        action: OperatorAction::Run { window: begun.window.to_string(), command: args.command.clone(), again },
    });
    keep(&history).await;
    Ok((again, begun, seen))
}

/// What came of a start; with `--json`, a refusal is printed as well.
pub(super) fn or_refused<T>(name: &str, json: bool, started: Result<T, Failure>) -> Result<T, Failure> {
    if let (Err(why), true) = (&started, json) {
        let object = json!({ "name": name, "outcome": "refused", "detail": why.to_string() });
        output::acted("nothing was started", output::print_json(&object));
    }
    started
}

/// A started task as its server shows it now: a command that cannot run has ended by then.
pub(super) async fn seen_now(watched: &Watched, begun: &Begun) -> Option<Task> {
    let server = [begun.key.server.clone()];
    let fleet = engine::survey(&watched.settings, &server, Freshness::Now, watched.notes()).await.ok()?;
    fleet.task(&begun.key.server, begun.window).cloned()
}

/// A task that has just been started.
pub(super) struct JustStarted<'a> {
    /// The name of its window.
    pub name: &'a str,
    pub session: &'a str,
    pub program: &'a str,
    pub begun: &'a Begun,
    /// Whether it runs in the window of a task that had ended.
    pub again: bool,
}

impl JustStarted<'_> {
    /// Says that it runs, or that it ended at once.
    ///
    /// # Errors
    /// As [`JustStarted::end`].
    pub(super) fn tell(&self, seen: Option<&Task>, json: bool) -> Done {
        let (Begun { session: session_id, window, key }, ended) = (self.begun, seen.filter(|task| task.is_dead()));
        let (id, session) = (seen.map_or(self.name, |task| &task.id), self.session);
        let trouble = self.trouble(seen);
        if json {
            let object = json!({
                "name": self.name,
                "outcome": if trouble.is_some() { "failed" } else { "started" },
                "detail": &trouble,
                // Another one if something else has the given name.
                "id": id,
                "status": seen.map_or(TaskStatus::Running, |task| task.status),
                "exit_code": ended.and_then(Task::exit_code),
                "session": session,
                "session_id": session_id.to_string(),
                "window_id": window.to_string(),
                "pane": key.pane.to_string(),
                "pid": key.pid,
                "again": self.again,
            });
            output::acted(format!("{id} was started"), output::print_json(&object));
            return self.end(trouble);
        }
        let how = match (ended, self.again) {
            (Some(task), _) => format!("{} at once in", task.as_status().word()),
            (None, true) => "runs again in".to_owned(),
            (None, false) => "runs in".to_owned(),
        };
        let host = key.server.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
        let (pane, pid) = (key.pane, key.pid);
        let said = format!("{id} {how} {session}{host}: window {window}, pane {pane}, pid {pid}");
        output::acted(&said, output::print(&format!("{said}\n")));
        self.end(trouble)
    }

    /// What a shell and tmux say of a command that they cannot run.
    fn trouble(&self, seen: Option<&Task>) -> Option<String> {
        let program = self.program;
        match seen.filter(|task| task.is_dead()).and_then(Task::exit_code)? {
            127 => Some(format!("there is no command `{program}`")),
            126 => Some(format!("`{program}` cannot be run")),
            _ => None,
        }
    }

    /// The end of the command that started it.
    ///
    /// # Errors
    /// The command could not be run.
    fn end(&self, trouble: Option<String>) -> Done {
        let Some(why) = trouble else { return Ok(ExitCode::SUCCESS) };
        let name = quoted(self.name);
        let is_shells = self.program.contains(|it: char| it.is_whitespace() || "|&;<>$`".contains(it));
        let hint = match is_shells {
            true => format!("no shell reads it: `fleetwatch run {name} -- sh -c {}`", quoted(self.program)),
            false => format!("`fleetwatch run {name} -- COMMAND` runs another one in its window"),
        };
        Err(Failure::refused(why).hint(hint))
    }
}

/// The failure of a name that was typed.
pub(super) fn misnamed(why: Objection) -> Failure {
    Failure::usage(&why).hint_if(why.hint)
}

/// The hint where the directory to start in is none.
const EXISTING: &str = "name an existing directory";

/// The directory to start in, on the server's machine.
fn directory(given: Option<&Path>, server: &ServerId) -> Result<Option<String>, Failure> {
    let text = |path: &Path| {
        let unfit = || Failure::usage(format!("{} is not UTF-8", path.display())).hint("tmux takes only such names");
        path.to_str().map(str::to_owned).ok_or_else(unfit)
    };
    if server.host.is_some() {
        return given.map(text).transpose();
    }
    let path = given.unwrap_or(Path::new("."));
    match std::fs::canonicalize(path) {
        Ok(path) if path.is_dir() => text(&path).map(Some),
        Ok(path) => Err(Failure::usage(format!("{} is not a directory", path.display())).hint(EXISTING)),
        Err(error) => Err(Failure::usage(format!("{}: {error}", path.display())).hint(EXISTING)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_targets_options_and_formats() {
        for name in ["build", "build-2", "a.b", "größe", "_x", "feat/login", "7"] {
            assert!(check_name("task", name, "").is_ok(), "{name}");
        }
        for name in [
            "",
            "-x",
            "%1",
            "@2",
            "$3",
            "=x",
            "a b",
            "a:b",
            "#{pane_id}",
            "a\nb",
            "\u{202e}a",
            "a;",
            "'",
            "a".repeat(65).as_str(),
        ] {
            assert!(check_name("task", name, "").is_err(), "{name:?}");
        }
        assert!(check_name("session", "a.b", ".:").is_err());
    }
}
