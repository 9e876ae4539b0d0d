//! Task windows: started, started again and ended, with their words as they are and without a shell.
//!
//! tmux hands a command of one word to a shell; `env` in front of it makes two. Every change is one script, in which the
//! options of a window are set in the same pass of the server that made it: a program that ends at once is kept.

mod bells;

use tmux_interface::{DisplayMessage, KillWindow, TmuxCommand};

use super::listing::marks::names;
use super::nonce::Nonce;
use super::script::{Script, line};
use super::send::guarded_by_pid;
use super::{Error, Server, run};
use crate::place::{PaneId, ServerId, SessionId, TerminalKey, WindowId};
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
    /// In a session that is there, at an index that is free.
    Session { id: SessionId, index: u32 },
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
    fn words(&self) -> Vec<String> {
        let mut words = self.0.clone();
        if let [program] = &self.0[..] {
            // `env` would take a name with `=` for a variable; `nice` takes any.
            let before: &[&str] = if program.contains('=') { &["nice", "-n", "0", "--"] } else { &["env", "--"] };
            words.splice(0..0, before.iter().map(|&word| word.to_owned()));
        }
        words
    }
}

impl Server {
    /// Starts a program in a window of its own.
    ///
    /// Fails when the session is there already or the index is taken: nothing has been started then.
    pub async fn begin_task(&self, place: &TaskPlace, task: &NewTask<'_>) -> Result<Begun, Error> {
        let nonce = Nonce::new();
        let (mut create, target) = match place {
            TaskPlace::NewSession(session) => {
                // As wide as output mostly is; nobody is attached yet who would give it a size.
                let words = ["new-session", "-d", "-s", session, "-x", "120", "-y", "40"];
                (command(&words), format!("={session}:"))
            }
            TaskPlace::Session { id, index } => {
                let target = format!("{id}:{index}");
                (command(&["new-window", "-d", "-t", &target]), target)
            }
        };
        for word in ["-P", "-F", &begun_format(&nonce), "-n", task.name] {
            create.push_param(word.to_owned());
        }
        push_program(&mut create, task)?;
        let mut commands = vec![create];
        commands.extend(kept(&target, task.now));
        if let TaskPlace::NewSession(session) = place {
            commands.push(set(&[], &format!("={session}:"), names::TASKS, "1"));
        }
        self.begin(&nonce, commands).await
    }

    /// Starts a program in the place of one that has ended; without words, the same one again.
    ///
    /// Fails when the pane is gone, or its program still runs.
    pub async fn begin_again(
        &self,
        key: &TerminalKey,
        window: WindowId,
        task: Option<&NewTask<'_>>,
        now: i64,
    ) -> Result<Begun, Error> {
        let nonce = Nonce::new();
        let pane = key.pane.to_string();
        let mut respawn = command(&["respawn-pane", "-t", &pane]);
        if let Some(task) = task {
            push_program(&mut respawn, task)?;
        }
        let mut commands = vec![respawn];
        commands.extend(kept(&window.to_string(), now));
        commands.push(unset(&["-w"], &window.to_string(), names::TOLD));
        commands.push(DisplayMessage::new().print().target_pane(pane).message(begun_format(&nonce)).build());
        self.begin(&nonce, commands).await
    }

    /// Ends a task: its window and all that runs in it. Whether it was still there.
    pub async fn kill_task(&self, key: &TerminalKey, window: WindowId) -> Result<bool, Error> {
        let nonce = Nonce::new();
        let said = DisplayMessage::new().print().message(format!("{nonce}killed")).build();
        let kill = KillWindow::new().target_window(window.to_string()).build();
        let mut script = Script::new();
        script.push(guarded_by_pid(key, super::send::sequence([said, kill])));
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

    /// Notes that the ends of tasks have been told, so that the next dashboard does not tell them again.
    pub async fn ends_were_told(&self, windows: &[WindowId]) -> Result<(), Error> {
        let mut script = Script::new();
        for window in windows {
            script.push(set(&["-w"], &window.to_string(), names::TOLD, "1"));
        }
        self.run_script(script).await.map(drop)
    }

    /// Makes a session one of tasks, or an ordinary one again.
    pub async fn declare_tasks(&self, session: SessionId, tasks: bool) -> Result<(), Error> {
        let mut script = Script::new();
        script.push(match tasks {
            true => set(&[], &session.to_string(), names::TASKS, "1"),
            false => unset(&[], &session.to_string(), names::TASKS),
        });
        let output = self.run_script(script).await?;
        if output.code == Some(0) {
            Ok(())
        } else {
            Err(self.explain(&output, Error::Failed("the session is gone".into())))
        }
    }

    /// Runs commands as one sequence, which ends with the first that fails, and reads what was begun.
    async fn begin(&self, nonce: &Nonce, commands: Vec<TmuxCommand<'_>>) -> Result<Begun, Error> {
        let sequence = commands.iter().map(line).collect::<Vec<_>>().join(" ; ");
        // `source-file` alone starts no server.
        let words = ["start-server", ";", "source-file", "-"];
        let output = run::run(&self.settings, &self.id, &words, format!("{sequence}\n").into_bytes()).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let begun =
            text.lines().find_map(|line| line.strip_prefix(nonce.as_str())).and_then(|ids| read_begun(&self.id, ids));
        begun.ok_or_else(|| self.explain(&output, Error::Garbled("no word of the task that was started".into())))
    }
}

fn push_program(command: &mut TmuxCommand<'_>, task: &NewTask<'_>) -> Result<(), Error> {
    if let Some(cwd) = task.cwd {
        command.push_param("-c").push_param(literal(cwd)?);
    }
    command.push_param("--");
    for word in task.argv.words() {
        command.push_param(word);
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

/// The window keeps its program when that has ended, and bears when it was started. Its bells begin anew.
fn kept<'a>(window: &str, now: i64) -> Vec<TmuxCommand<'a>> {
    vec![set(&["-w"], window, "remain-on-exit", "on"), set(&["-w"], window, names::RUN, &now.to_string())]
}

fn set<'a>(kind: &[&str], target: &str, name: &str, value: &str) -> TmuxCommand<'a> {
    option(kind, target, &[name, value])
}

fn unset<'a>(kind: &[&str], target: &str, name: &str) -> TmuxCommand<'a> {
    option(&[kind, &["-u"]].concat(), target, &[name])
}

/// `set-option` with its flags. `-q`: an option of a window that is gone in the meantime is no trouble.
fn option<'a>(kind: &[&str], target: &str, words: &[&str]) -> TmuxCommand<'a> {
    command(&[&["set-option", "-q"], kind, &["-t", target], words].concat())
}

/// A command for which there is no builder, or whose builder knows too little of it.
fn command<'a>(words: &[&str]) -> TmuxCommand<'a> {
    let mut command = TmuxCommand::new();
    let (name, rest) = words.split_first().unwrap_or((&"", &[]));
    command.name((*name).to_owned());
    rest.iter().for_each(|&word| {
        command.push_param(word.to_owned());
    });
    command
}

fn begun_format(nonce: &Nonce) -> String {
    format!("{nonce}#{{session_id}},#{{window_id}},#{{pane_id}},#{{pane_pid}}")
}

fn read_begun(server: &ServerId, ids: &str) -> Option<Begun> {
    let mut ids = ids.trim_end().split(',');
    let mut next = |sigil: char| ids.next()?.trim_start_matches(sigil).parse::<u32>().ok();
    let (session, window, pane, pid) = (next('$')?, next('@')?, next('%')?, next('%')?);
    let key = TerminalKey { server: server.clone(), pane: PaneId(pane), pid };
    Some(Begun { session: SessionId(session), window: WindowId(window), key })
}
