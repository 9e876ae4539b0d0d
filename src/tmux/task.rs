//! Task windows: started, restarted and ended, with their arguments unchanged and without a shell.
//!
//! tmux hands a command of one word to a shell, and says nothing where there is no such program: with `env` in front, no command
//! has one word, and a missing program is named. Every change is one script, in which the options of a window are set in the
//! same pass of the server that made it: a program that ends at once is kept.

mod bells;

use std::path::Path;

use tmux_interface::{DisplayMessage, IfShell, KillPane, KillWindow, TmuxCommand};

use super::listing::{instance_format, names, read_instance};
use super::script::{Script, command, line, set, unset};
use super::send::{guarded_by_pid, sequence};
use super::words::Nonce;
use super::{Error, Server, run};
use crate::ids::{PaneId, ServerId, SessionId, TerminalKey, WindowId};
pub use bells::{Counting, Trace};

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argv(Vec<String>);

/// A window that is to be made.
#[derive(Clone, Debug)]
pub struct NewTask<'a> {
    /// The name of the window. tmux expands formats in it: the caller lets no `#` through.
    pub name: &'a str,
    /// The directory to start in; `None` is where the server's user is at home.
    pub cwd: Option<&'a str>,
    pub argv: &'a Argv,
    /// Milliseconds since the epoch.
    pub now: i64,
}

/// Where a window is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskPlace {
    /// In a session that is to be made, and with it the server if there is none.
    NewSession(String),
    /// Behind the other windows of a session that is there.
    Session(SessionId),
}

/// What came of starting a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    Begun(Begun),
    /// Things are no longer as the caller saw them: the name is taken, the session is there or gone, the program that had
    /// ended runs. Nothing was started; the caller polls again.
    Overtaken,
}

/// A task that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    pub session: SessionId,
    pub window: WindowId,
    pub key: TerminalKey,
}

impl Argv {
    /// A command for `execvp`.
    ///
    /// Fails when there is no program, or a word holds a NUL, which no argument can.
    pub fn new(words: Vec<String>) -> Result<Self, Error> {
        let bad = |name: &str, why| Err(Error::BadName { what: "command", name: name.to_owned(), why });
        match words.first() {
            None => return bad("", "there is none"),
            Some(program) if program.is_empty() => return bad("", "its name is empty"),
            Some(_) => {}
        }
        match words.iter().find(|word| word.contains('\0')) {
            Some(word) => bad(word, "it holds a NUL"),
            None => Ok(Self(words)),
        }
    }

    /// The words that tmux starts without a shell.
    fn words(&self) -> impl Iterator<Item = &str> {
        // `env` would take a name with `=` for a variable; `nice` takes any.
        let has_sign = self.0.first().is_some_and(|program| program.contains('='));
        let before: &[&str] = if has_sign { &["nice", "-n", "0", "--"] } else { &["env", "--"] };
        before.iter().copied().chain(self.0.iter().map(String::as_str))
    }
}

impl Server {
    /// Starts a program in a window of its own, unless the session has a window of that name by then: the server decides,
    /// so that of several that start the same at once one does.
    pub async fn begin_task(&self, place: &TaskPlace, task: &NewTask<'_>) -> Result<Start, Error> {
        let nonce = Nonce::new();
        let (mut create, target) = self.create_window(place, task.name, &nonce);
        push_program(&mut create, task)?;
        let mut commands = vec![create];
        commands.extend(kept(&target, task.now));
        if let TaskPlace::NewSession(session) = place {
            commands.push(set(&[], &format!("={session}:"), names::TASKS, "1"));
            // Its first bell may ring before anybody has seen the session.
            commands.push(bells::counting_hook(&format!("={session}:")));
        }
        let begin = sequence(commands);
        let script = match place {
            TaskPlace::NewSession(_) => begin,
            TaskPlace::Session(id) => line(&unless_taken(*id, task.name, &nonce, begin)),
        };
        let start = self.begin(&nonce, script).await?;
        if let (TaskPlace::NewSession(_), Start::Begun(begun)) = (place, &start)
            && let Err(error) = self.keep_global_hooks(begun.session).await
        {
            // A program that ended at once may have taken the server with it; whoever watches does it later.
            tracing::debug!(server = %self.id, %error, "global hooks were not copied");
        }
        Ok(start)
    }

    /// The command that makes a window and says where it is, without its program; and the window as a target, until the sequence of
    /// commands has ended.
    fn create_window(&self, place: &TaskPlace, name: &str, nonce: &Nonce) -> (TmuxCommand<'static>, String) {
        let (mut create, target) = match place {
            TaskPlace::NewSession(session) => {
                // As wide as output mostly is; nobody is attached yet who would give it a size.
                let words = ["new-session", "-d", "-s", session, "-x", "120", "-y", "40"];
                (command(&words), format!("={session}:"))
            }
            TaskPlace::Session(id) => {
                let target = format!("{id}:{{end}}");
                (command(&["new-window", "-a", "-d", "-t", &target]), target)
            }
        };
        for word in ["-P", "-F", &begun_format(nonce, self.id.host.is_some()), "-n", name] {
            create.push_param(word.to_owned());
        }
        (create, target)
    }

    /// Starts a program in place of an ended one; without words, the same one. tmux blanks the screen; earlier output above it is
    /// cleared as well, so that the window shows one run.
    pub async fn begin_again(
        &self,
        key: &TerminalKey,
        window: WindowId,
        task: Option<&NewTask<'_>>,
        now: i64,
    ) -> Result<Start, Error> {
        let nonce = Nonce::new();
        let pane = key.pane.to_string();
        let mut respawn = command(&["respawn-pane", "-t", &pane]);
        if let Some(task) = task {
            push_program(&mut respawn, task)?;
        }
        let mut commands = vec![respawn, command(&["clear-history", "-t", &pane])];
        commands.extend(kept(&window.to_string(), now));
        // Its end has not been reported, and its bells begin anew.
        for name in [names::TOLD, names::BELLS] {
            commands.push(unset(&["-w"], &window.to_string(), name));
        }
        let format = begun_format(&nonce, self.id.host.is_some());
        commands.push(DisplayMessage::new().print().target_pane(pane).message(format).build());
        let taken = DisplayMessage::new().print().message(format!("{nonce}{TAKEN}")).build();
        let mut guard = guarded_by_pid(key, sequence(commands));
        guard.push_param(sequence([taken]));
        self.begin(&nonce, line(&guard)).await
    }

    /// Ends a task: its window and all that runs in it. Whether it was still there.
    pub async fn kill_task(&self, key: &TerminalKey, window: WindowId) -> Result<bool, Error> {
        let nonce = Nonce::new();
        let said = DisplayMessage::new().print().message(format!("{nonce}killed")).build();
        let kill = KillWindow::new().target_window(window.to_string()).build();
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([said, kill])));
        let output = self.run_script(script).await?;
        let killed = String::from_utf8_lossy(&output.stdout).contains(&format!("{nonce}killed"));
        let gone = String::from_utf8_lossy(&output.stderr).contains("can't find pane");
        match (killed, output.code) {
            (true, _) => Ok(true),
            (false, Some(0)) => Ok(false),
            _ if gone => Ok(false),
            _ => Err(self.explain(&output, Error::Failed("the window could not be ended".into()))),
        }
    }

    /// Notes that the ends of tasks have been reported, so that the next dashboard does not report them again. One that
    /// was run again in the meantime is another one.
    pub async fn ends_were_reported(&self, ended: &[(TerminalKey, WindowId)]) -> Result<(), Error> {
        let mut script = Script::new();
        for (key, window) in ended {
            script.push(guarded_by_pid(key, sequence([set(&["-w"], &window.to_string(), names::TOLD, "1")])));
        }
        self.run_script(script).await.map(drop)
    }

    /// Withdraws the mark that `run` set on a session of tasks. A missing session has none.
    pub async fn undeclare_tasks(&self, session: &str) -> Result<(), Error> {
        let mut script = Script::new();
        script.push(unset(&[], &format!("={session}:"), names::TASKS));
        self.run_script(script).await.map(drop)
    }

    /// Runs commands as one sequence, which ends with the first that fails, and reads what was begun.
    async fn begin(&self, nonce: &Nonce, sequence: String) -> Result<Start, Error> {
        // `source-file` alone starts no server.
        let words = ["start-server", ";", "source-file", "-"];
        let output = run::run(&self.settings, &self.id, &words, format!("{sequence}\n").into_bytes()).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answer = text.lines().find_map(|line| line.strip_prefix(nonce.as_str()));
        if let Some(begun) = answer.and_then(|ids| read_begun(&self.id, ids)) {
            return Ok(Start::Begun(begun));
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        if answer == Some(TAKEN) || errors.lines().any(is_overtaken) {
            return Ok(Start::Overtaken);
        }
        Err(self.explain(&output, Error::Garbled("no answer about the task that was started".into())))
    }
}

/// What the server answers when a session has a window of the wanted name.
const TAKEN: &str = "taken";

/// The commands, unless the session has a window of that name. The caller has checked that the name stands for itself in a
/// format.
fn unless_taken<'a>(session: SessionId, name: &str, nonce: &Nonce, commands: String) -> TmuxCommand<'a> {
    let there = format!("#{{m:*1*,#{{W:#{{==:#{{window_name}},{name}}}}}}}");
    let taken = DisplayMessage::new().print().message(format!("{nonce}{TAKEN}")).build();
    let guard = IfShell::new().not_execute().target_pane(format!("{session}:")).shell_command(there);
    let mut guard = guard.command(sequence([taken])).build();
    // The builder knows one branch only.
    guard.push_param(commands);
    guard
}

/// Whether tmux says that somebody else was quicker.
fn is_overtaken(line: &str) -> bool {
    let begins = ["duplicate session", "can't find session", "can't find pane", "can't find window"];
    begins.iter().any(|words| line.starts_with(words)) || line.ends_with("still active")
}

fn push_program(command: &mut TmuxCommand<'_>, task: &NewTask<'_>) -> Result<(), Error> {
    if let Some(cwd) = task.cwd {
        command.push_param("-c").push_param(literal(cwd)?);
    }
    command.push_param("--");
    for word in task.argv.words() {
        command.push_param(word.to_owned());
    }
    Ok(())
}

/// A text that tmux expands as a format, such that it stays what it is.
fn literal(text: &str) -> Result<String, Error> {
    // `##[` stays as it is in tmux's styles, so that there is no way to write `#[`.
    if text.contains("#[") || text.contains('\0') {
        let why = "tmux cannot be told of a path with `#[` in it";
        return Err(Error::BadName { what: "directory", name: text.to_owned(), why });
    }
    Ok(text.replace('#', "##"))
}

/// The window keeps its program when that has ended, and bears when it was started.
fn kept<'a>(window: &str, now: i64) -> Vec<TmuxCommand<'a>> {
    vec![set(&["-w"], window, "remain-on-exit", "on"), set(&["-w"], window, names::RUN, &now.to_string())]
}

fn begun_format(nonce: &Nonce, on_host: bool) -> String {
    format!("{nonce}#{{session_id}},#{{window_id}},#{{pane_id}},#{{pane_pid}},{}", instance_format(on_host))
}

fn read_begun(server: &ServerId, ids: &str) -> Option<Begun> {
    let mut ids = ids.trim_end().split(',');
    let mut next = |sigil: char| ids.next()?.trim_start_matches(sigil).parse::<u32>().ok();
    let (session, window, pane, pid) = (next('$')?, next('@')?, next('%')?, next('%')?);
    let instance = read_instance(ids.next()?);
    let key = TerminalKey { server: server.clone(), pane: PaneId(pane), pid, instance };
    Some(Begun { session: SessionId(session), window: WindowId(window), key })
}

// Windows of agents: opened with what an operator starts, and closed.

/// A window that is to be opened.
#[derive(Clone, Debug)]
pub struct NewWindow<'a> {
    /// Its name. tmux expands formats in it: the caller lets no `#` through.
    pub name: &'a str,
    /// The directory to start in; `None` is where the server's user is at home.
    pub cwd: Option<&'a str>,
    pub argv: &'a Argv,
    /// Where programs are looked for; `None` leaves it to the server.
    pub path: Option<&'a str>,
    /// The working tree that the agent has for itself, which is noted at the window.
    pub worktree: Option<&'a Path>,
}

impl Server {
    /// Opens a window with a program. It stays when that ends, until [`Server::let_close`].
    pub async fn open_window(&self, place: &TaskPlace, window: &NewWindow<'_>) -> Result<Start, Error> {
        let nonce = Nonce::new();
        let (mut create, target) = self.create_window(place, window.name, &nonce);
        if let Some(path) = window.path {
            create.push_param("-e").push_param(format!("PATH={path}"));
        }
        if let Some(cwd) = window.cwd {
            create.push_param("-c").push_param(literal(cwd)?);
        }
        create.push_param("--");
        window.argv.words().for_each(|word| {
            create.push_param(word.to_owned());
        });
        let mut commands = vec![create, set(&["-w"], &target, "remain-on-exit", "on")];
        if let Some(path) = window.worktree.and_then(Path::to_str) {
            commands.push(set(&["-w"], &target, names::WORKTREE, path));
        }
        self.begin(&nonce, sequence(commands)).await
    }

    /// Has a window close when its program ends, as others do.
    pub async fn let_close(&self, key: &TerminalKey, window: WindowId) -> Result<(), Error> {
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([unset(&["-w"], &window.to_string(), "remain-on-exit")])));
        self.run_script(script).await.map(drop)
    }

    /// The working tree that an agent was started in, where [`Server::open_window`] noted one.
    pub async fn worktree_of(&self, key: &TerminalKey) -> Result<Option<String>, Error> {
        let nonce = Nonce::new();
        let format = format!("{nonce}#{{{}}}", names::WORKTREE);
        let ask = DisplayMessage::new().print().target_pane(key.pane.to_string()).message(format).build();
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([ask])));
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let path = text.lines().find_map(|line| line.strip_prefix(nonce.as_str()));
        Ok(path.filter(|path| !path.is_empty()).map(str::to_owned))
    }

    /// Closes a pane with what runs in it. Whether it was still there.
    pub async fn close_pane(&self, key: &TerminalKey) -> Result<bool, Error> {
        let nonce = Nonce::new();
        let said = DisplayMessage::new().print().message(format!("{nonce}closed")).build();
        let kill = KillPane::new().target_pane(key.pane.to_string()).build();
        let mut script = Script::new();
        script.push(guarded_by_pid(key, sequence([said, kill])));
        let output = self.run_script(script).await?;
        Ok(String::from_utf8_lossy(&output.stdout).contains(&format!("{nonce}closed")))
    }
}
