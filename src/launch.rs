//! What operators start: agents and tasks, each in a window of its own, and a working tree of git for an agent that is to have one.
//!
//! All is checked before anything is made. What was made is taken back where the rest fails, or where the program ends at once.

mod agents;
mod close;
mod order;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::config::NewConfig;
use crate::git::{self, Git, Worktree};
use crate::history::Intents;
use crate::ids::{ServerId, SessionId, TerminalKey, WindowId};
use crate::present::objection::Objection;
use crate::present::text::{Offer, at_last_word, quoted};
use crate::profile::ProfileSet;
use crate::record::{IntentId, OperatorAction, Record};
use crate::time::Timestamp;
use crate::tmux::{self, Argv, Begun, ListedPane, Listing, NewTask, NewWindow, Server, Start, TaskPlace};
pub use agents::Agents;
pub use close::{Closed, Closing, close, remove_worktree, worktree_left};
pub use order::{Order, What};

/// The session for tasks where none is named.
const TASKS: &str = "tasks";
/// The longest name of a task, a window or a session.
const LONGEST_NAME: usize = 64;
/// How often opening a window is tried while others open theirs: of those that want the same name at once, one gets it.
const OPENINGS: u32 = 64;
/// How many times a program is looked at that may end at once.
const LOOKS: u32 = 6;
/// How often what was started or asked to end is looked at.
pub const LOOK: Duration = Duration::from_millis(250);
/// Lines of what it has printed then that an error shows.
const PRINTED: usize = 3;

/// What starts agents and tasks in one tmux server.
#[derive(Clone, Debug)]
pub struct Launcher {
    pub server: Server,
    pub profiles: Arc<ProfileSet>,
    pub config: NewConfig,
    /// The directory that an order means that names none.
    pub here: Option<String>,
    pub history: Option<PathBuf>,
}

/// What was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    pub begun: Begun,
    /// What it is called until somebody sees it: by its session, or by the window of a task.
    pub name: String,
    pub session: String,
    pub command: Vec<String>,
    pub directory: Option<String>,
    /// The working tree that it has for itself.
    pub worktree: Option<Worktree>,
    /// The prompt that is to wait for it.
    pub prompt: String,
    /// That prompt in the queue.
    pub queued: Option<IntentId>,
    /// Whether it runs in the window of a task that had ended; `None` for an agent.
    pub again: Option<bool>,
}

impl Started {
    /// What is kept of it.
    pub fn record(&self, name: &str, at: Timestamp) -> Record {
        let (window, command) = (self.begun.window.to_string(), self.command.clone());
        let action = OperatorAction::Run { window, command, again: self.again.unwrap_or(false) };
        Record::Action { key: Some(self.begun.key.clone()), name: name.to_owned(), at, action }
    }
}

impl From<tmux::Error> for Objection {
    fn from(error: tmux::Error) -> Self {
        Objection::new(&error, error.hint())
    }
}

impl Launcher {
    /// The agents that can be started. Waits for the disk.
    pub fn agents(&self) -> Agents {
        Agents::find(&self.profiles, &self.config, self.search_path().as_deref(), self.history.as_deref())
    }

    /// The same in the repository around its directory. Waits for the disk.
    #[must_use]
    pub fn in_repository(self) -> Self {
        let here = self.here.as_ref().filter(|_| self.server.id().host.is_none());
        let root = here.and_then(|here| repository_around(Path::new(here)));
        Self { here: root.or(self.here), ..self }
    }

    /// Starts what is ordered, and puts its first prompt into the queue.
    ///
    /// # Errors
    /// It cannot be started, and nothing is left of it.
    pub async fn start(&self, order: &Order, now: Timestamp) -> Result<Started, Objection> {
        if let Some(session) = &order.session {
            check_name("session", session, ".:")?;
        }
        let mut started = match &order.what {
            What::Agent { name, prompt } => self.start_agent(order, name.as_deref(), prompt).await?,
            What::Task(command) => return self.start_task(order, command, now).await,
        };
        if !started.prompt.is_empty() {
            started.queued = Some(self.queue(&started, now).await.map_err(|why| {
                let what = format!("{} was started, but its prompt cannot wait: {why}", started.name);
                Objection::new(what, "send it when the agent is ready")
            })?);
        }
        Ok(started)
    }

    async fn start_agent(&self, order: &Order, name: Option<&str>, prompt: &str) -> Result<Started, Objection> {
        let (launcher, asked) = (self.clone(), name.map(str::to_owned));
        let chosen = tokio::task::spawn_blocking(move || {
            let agents = launcher.agents();
            agents.choose(asked.as_deref()).map(|(name, words)| (name.to_owned(), words.to_vec()))
        });
        let (agent, command) = chosen.await.map_err(Objection::bare)??;
        let argv = Argv::new(command.clone())?;
        if !prompt.is_empty() && self.history.is_none() {
            return Err(Objection::new(
                "no prompt can wait without a history",
                "leave it out, or keep a history: [history] enabled",
            ));
        }
        let directory = self.directory(order.directory.as_deref())?;
        // Refused before anything is made.
        self.place(order.session.as_deref(), "").await?;
        let worktree = match &order.worktree {
            Some(branch) => Some(self.worktree(directory.as_deref(), branch).await?),
            None => None,
        };
        let directory = match &worktree {
            Some(made) => Some(text(&made.path)?),
            None => directory,
        };
        let named = order.worktree.as_deref().or(directory.as_deref().and_then(|path| path.rsplit('/').next()));
        let name = window_name(named.unwrap_or_default(), &agent).replace('.', "-");
        let path = self.search_path().and_then(|path| path.into_string().ok());
        let window = NewWindow {
            name: &agent,
            cwd: directory.as_deref(),
            argv: &argv,
            path: path.as_deref(),
            worktree: worktree.as_ref().map(|made| made.path.as_path()),
        };
        let opened = match self.open(order.session.as_deref(), &name, &window).await {
            Ok((session, begun)) => self.outlasts(&agent, begun).await.map(|begun| (session, begun)),
            Err(why) => Err(why),
        };
        match opened {
            Ok((session, begun)) => {
                let prompt = prompt.to_owned();
                Ok(Started {
                    begun,
                    name: session.clone(),
                    session,
                    command,
                    directory,
                    worktree,
                    prompt,
                    again: None,
                    queued: None,
                })
            }
            Err(why) => {
                if let (Some(made), Ok(git)) = (&worktree, Git::of_process().await) {
                    git.unmake(made).await;
                }
                Err(why)
            }
        }
    }

    async fn start_task(&self, order: &Order, command: &[String], now: Timestamp) -> Result<Started, Objection> {
        let argv = Argv::new(command.to_vec())?;
        let session = order.session.as_deref().unwrap_or(TASKS);
        let directory = self.directory(order.directory.as_deref())?;
        let program = command.first().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
        let name = window_name(program, "task");
        let task = NewTask { name: &name, cwd: directory.as_deref(), argv: &argv, now: now.as_millis() };
        let (again, begun) = start_task(&self.server, session, &task).await?;
        let (session, command) = (session.to_owned(), command.to_vec());
        Ok(Started {
            begun,
            name,
            session,
            command,
            directory,
            worktree: None,
            prompt: String::new(),
            again: Some(again),
            queued: None,
        })
    }

    /// Has the first prompt wait until the agent is ready.
    async fn queue(&self, started: &Started, now: Timestamp) -> Result<IntentId, String> {
        let path = self.history.clone().ok_or_else(|| "no history is kept".to_owned())?;
        let (key, name, prompt) = (started.begun.key.clone(), started.name.clone(), started.prompt.clone());
        let post = move || Intents::open(&path, now)?.post((&key, &name), (&prompt, None), now);
        let posted = tokio::task::spawn_blocking(post).await;
        posted.map_err(|error| error.to_string())?.map_err(|trouble| trouble.to_string())
    }

    /// The working tree for a branch, with the files that the configuration copies into new ones.
    async fn worktree(&self, directory: Option<&str>, branch: &str) -> Result<Worktree, Objection> {
        if self.server.id().host.is_some() {
            return Err(Objection::new("working trees are made on this machine only", "leave out --worktree"));
        }
        let git = Git::of_process().await.map_err(Objection::bare)?;
        let around = PathBuf::from(directory.unwrap_or("/"));
        let made = git.worktree(&around, branch, self.config.worktrees.as_deref()).await?;
        if made.is_new
            && let Err(error) = Git::copy_into(&made, &self.config.copy)
        {
            git.unmake(&made).await;
            return Err(Objection::new(
                format!("the files of `copy` cannot be copied: {error}"),
                "look at [new] in the configuration",
            ));
        }
        Ok(made)
    }

    /// The directory to start in, on the server's machine.
    fn directory(&self, given: Option<&str>) -> Result<Option<String>, Objection> {
        let Some(path) = given.or(self.here.as_deref()) else { return Ok(None) };
        if self.server.id().host.is_some() {
            return Ok(Some(path.to_owned()));
        }
        let path = Path::new(self.here.as_deref().unwrap_or("/")).join(with_home(path));
        match std::fs::canonicalize(&path) {
            Ok(whole) if whole.is_dir() => text(&whole).map(Some),
            Ok(_) => Err(Objection::new(
                format!("{} is not a directory", path.display()),
                "name an existing directory with `-C`",
            )),
            Err(error) => {
                Err(Objection::new(format!("{}: {error}", path.display()), "name an existing directory with `-C`"))
            }
        }
    }

    /// Opens a window in the session that was named, or else in one of its own, which gets the name if nothing has it. Returns the
    /// session.
    async fn open(
        &self,
        session: Option<&str>,
        name: &str,
        window: &NewWindow<'_>,
    ) -> Result<(String, Begun), Objection> {
        for _ in 0..OPENINGS {
            let (session, place) = self.place(session, name).await?;
            if let Start::Begun(begun) = self.server.open_window(&place, window).await? {
                return Ok((session, begun));
            }
        }
        Err(overtaken(session.unwrap_or(name)))
    }

    /// In which session a window is opened, and whether that is to be made.
    async fn place(&self, session: Option<&str>, name: &str) -> Result<(String, TaskPlace), Objection> {
        let new = |session: &str| Ok((session.to_owned(), TaskPlace::NewSession(session.to_owned())));
        let listing = match self.server.poll(&[]).await {
            Ok(listing) => listing,
            Err(error) if error.is_no_server() => return new(session.unwrap_or(name)),
            Err(error) => return Err(error.into()),
        };
        let named = |session: &str| listing.panes.iter().find(|pane| pane.place.session == session);
        let Some(session) = session else {
            let mut numbered =
                std::iter::once(name.to_owned()).chain((2..).map(|number: u32| format!("{name}-{number}")));
            return new(&numbered.find(|session| named(session).is_none()).unwrap_or_default());
        };
        match named(session) {
            None => new(session),
            Some(pane) if pane.marks.task_session => {
                Err(Objection::new(format!("{session} is a session of tasks"), "name another one with --session"))
            }
            Some(pane) => Ok((session.to_owned(), TaskPlace::Session(SessionId(pane.session_id)))),
        }
    }

    /// Watches a new agent for a moment. One that ends at once is closed, and what it printed is said.
    async fn outlasts(&self, agent: &str, begun: Begun) -> Result<Begun, Objection> {
        let pane = begun.key.pane;
        for _ in 0..LOOKS {
            tokio::time::sleep(LOOK).await;
            // A server that is slow now says nothing of the agent.
            let Ok(seen) = self.server.capture(&[pane]).await else { continue };
            let facts = seen.captures.first().filter(|it| it.pane.pid == begun.key.pid).map(|it| &it.pane.facts);
            if facts.is_some_and(|facts| !facts.dead) {
                continue;
            }
            let code = facts.and_then(|facts| facts.exit_status).map(|code| format!(" with code {code}"));
            let printed = self.server.scrollback(pane, true).await.map(|it| it.text).unwrap_or_default();
            let printed: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = printed[printed.len().saturating_sub(PRINTED)..].join(" · ");
            let _ = self.server.close_pane(&begun.key).await;
            let said = if last.is_empty() { String::new() } else { format!(": {last}") };
            return Err(Objection::new(
                format!("{agent} ended at once{}{said}", code.unwrap_or_default()),
                "start it by hand to see why, or write another command under [new.starts] in the configuration",
            ));
        }
        let _ = self.server.let_close(&begun.key, begun.window).await;
        Ok(begun)
    }

    /// Where programs are looked for; that of a host is not known here.
    fn search_path(&self) -> Option<OsString> {
        std::env::var_os("PATH").filter(|_| self.server.id().host.is_none())
    }
}

/// The repository around a directory: that of a linked working tree is the one that it belongs to. Waits for the disk.
fn repository_around(directory: &Path) -> Option<String> {
    let root = git::root_of(directory)?;
    // A linked one has a file that names its place in the repository.
    let linked = std::fs::read_to_string(root.join(".git")).ok();
    let main = linked.as_deref().and_then(|text| {
        let place = Path::new(text.strip_prefix("gitdir: ")?.trim_end());
        let inside = place.parent()?.parent()?;
        (place.parent()?.ends_with("worktrees") && inside.ends_with(".git")).then(|| inside.parent()).flatten()
    });
    main.unwrap_or(&root).to_str().map(str::to_owned)
}

/// A path as tmux takes it.
fn text(path: &Path) -> Result<String, Objection> {
    let unfit = || Objection::new(format!("{} is not UTF-8", path.display()), "tmux takes only such names");
    path.to_str().map(str::to_owned).ok_or_else(unfit)
}

/// A path in which `~` is the user's home.
fn with_home(path: &str) -> PathBuf {
    let home = || directories::BaseDirs::new().map(|it| it.home_dir().to_owned());
    match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')).zip(home()) {
        Some((rest, home)) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}

/// The name of a window, of the characters that one may have.
fn window_name(wanted: &str, otherwise: &str) -> String {
    let name: String = wanted.chars().map(|c| if is_in_names(c) { c } else { '-' }).take(LONGEST_NAME).collect();
    let name = name.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    if name.is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

fn is_in_names(c: char) -> bool {
    c.is_alphanumeric() || "._+/@-".contains(c)
}

/// Refuses a name that tmux would change, or could take for a target or an option.
///
/// # Errors
/// The name is such a one.
pub fn check_name(what: &str, name: &str, but: &str) -> Result<(), Objection> {
    let fits = |c: char| is_in_names(c) && !but.contains(c);
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if begins && name.chars().all(fits) && name.chars().count() <= LONGEST_NAME {
        return Ok(());
    }
    let others = if but.contains('.') { "`_ + / @ -`" } else { "`. _ + / @ -`" };
    Err(Objection::new(
        format!("{name:?} cannot be the name of a {what}"),
        format!(
            "it begins with a letter or a digit, holds letters, digits and {others}, and is at most {LONGEST_NAME} \
             characters long"
        ),
    ))
}

/// How a working tree is removed by hand.
pub fn removal(path: &str) -> String {
    format!("`git -C {0} worktree remove {0}`", quoted(path))
}

// How a line that starts something can go on: the agents that are installed, directories, options.

/// The directories that are offered at most.
const MOST: usize = 50;
/// What may stand behind an agent's name.
const OPTIONS: [(&str, &str); 3] = [
    ("-C ", "the directory to start in"),
    ("--worktree ", "a branch, for which it gets a git worktree"),
    ("--session ", "the session for the window"),
];

impl Launcher {
    /// How a line can go on. Waits for the disk.
    pub fn offers(&self, line: &str) -> Vec<Offer> {
        let (before, begun) = at_last_word(line);
        let offer = |text: &str, note: &str, ends: &str| Offer {
            line: format!("{before}{text}{ends}"),
            text: text.to_owned(),
            note: note.to_owned(),
        };
        match before.split_whitespace().next_back() {
            Some("-C") if self.server.id().host.is_none() => {
                self.directories(begun).iter().map(|path| offer(path, "", "")).collect()
            }
            Some("-C" | "--worktree" | "--session") => Vec::new(),
            _ if begun.starts_with('-') => {
                let fitting = OPTIONS.iter().filter(|(option, _)| option.starts_with(begun));
                fitting.map(|(option, note)| offer(option, note, "")).collect()
            }
            None if begun.starts_with('!') => Vec::new(),
            None => {
                let agents = self.agents();
                let names = agents.installed().iter().filter(|name| name.starts_with(begun));
                names.map(|name| offer(name, "", " ")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The directories that begin so, as they are written.
    fn directories(&self, begun: &str) -> Vec<String> {
        let (above, name) = begun.rfind('/').map_or(("", begun), |slash| begun.split_at(slash + 1));
        let directory = Path::new(self.here.as_deref().unwrap_or("/")).join(with_home(above));
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let is_meant = |found: &String| found.starts_with(name) && (!found.starts_with('.') || name.starts_with('.'));
        let named = entries.filter(|it| it.path().is_dir()).filter_map(|it| it.file_name().into_string().ok());
        let mut found: Vec<String> = named.filter(is_meant).collect();
        found.sort();
        found.iter().take(MOST).map(|name| format!("{above}{name}/")).collect()
    }
}

// Tasks: started in a window of their name, or again in the one where they ended.

/// How often starting something is tried while others start theirs.
const ATTEMPTS: u32 = 8;

/// What exists of a task before it is started.
enum There {
    /// A window of that name whose program has ended.
    Ended(TerminalKey, WindowId),
    Nothing(TaskPlace),
}

/// Starts a task in a session; returns whether it is in the window of one that had ended.
///
/// # Errors
/// A task of that name runs, or tmux refuses.
pub async fn start_task(server: &Server, session: &str, task: &NewTask<'_>) -> Result<(bool, Begun), Objection> {
    for _ in 0..ATTEMPTS {
        let there = match server.poll(&[]).await {
            Ok(listing) => find(&listing, server.id(), session, task.name)?,
            Err(error) if error.is_no_server() => There::Nothing(TaskPlace::NewSession(session.to_owned())),
            Err(error) => return Err(error.into()),
        };
        let (again, started) = match &there {
            There::Ended(key, window) => (true, server.begin_again(key, *window, Some(task), task.now).await),
            There::Nothing(place) => (false, server.begin_task(place, task).await),
        };
        if let Start::Begun(begun) = started.map_err(Objection::from)? {
            return Ok((again, begun));
        }
    }
    Err(overtaken(session))
}

/// Where the windows of others are in the way.
fn overtaken(session: &str) -> Objection {
    Objection::new(format!("other processes keep starting and ending windows in {session}"), "try again")
}

/// What exists of the task; refuses one that still runs.
fn find(listing: &Listing, server: &ServerId, session: &str, name: &str) -> Result<There, Objection> {
    let in_session: Vec<&Arc<ListedPane>> = listing.panes.iter().filter(|pane| pane.place.session == session).collect();
    let Some(first) = in_session.first() else { return Ok(There::Nothing(TaskPlace::NewSession(session.to_owned()))) };
    let named = in_session.iter().filter(|pane| pane.place.window_name == name);
    if let Some(alive) = named.clone().find(|pane| !pane.facts.dead) {
        let window = WindowId(alive.window_id);
        return Err(Objection::new(
            format!("task {name} ({window}) is still running in {session}"),
            format!("`fleetwatch tasks kill {name}` ends it; or give the new one another name"),
        ));
    }
    if let Some(dead) = named.clone().next_back() {
        let key =
            TerminalKey { server: server.clone(), pane: dead.id, pid: dead.pid, instance: listing.instance.clone() };
        return Ok(There::Ended(key, WindowId(dead.window_id)));
    }
    Ok(There::Nothing(TaskPlace::Session(SessionId(first.session_id))))
}
