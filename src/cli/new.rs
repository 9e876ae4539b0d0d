//! `fleetwatch new`: an agent in a window of its own, with its first prompt (SPEC §9).

use std::future::ready;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::failure::seconds;
use super::history::keep;
use super::output::end_asked_for;
use super::run::{JustStarted, misnamed, or_refused, seen_now};
use super::survey::Watched;
use super::wait::Limit;
use super::{Done, Failure, GlobalOptions, console, output};
use crate::clock;
use crate::engine::Engine;
use crate::fleet::Terminal;
use crate::history::{History, Intents, WriterState};
use crate::launch::{self, Launcher, Order, Started, What};
use crate::notify::Suppression;
use crate::operation::{Outcome, PasteText, Refusal};
use crate::owner::Rank;
use crate::present::document::what_or_null;
use crate::present::text::quoted;
use crate::record::{HistoryError, IntentState};
use crate::status::Status;

/// How long a new agent may take until it is found among the others.
const FOUND: Duration = Duration::from_secs(20);

/// Start an agent in a tmux session of its own, and send its first prompt.
///
/// The prompt waits in the queue until the agent is ready and you have answered what it asks at its start. The command ends
/// when the agent has taken the prompt. With `--worktree`, the agent works in the git worktree of that branch; if there is
/// none, one is made beside the repository or in `[new] worktrees`.
///
/// Exit code 1: nothing was started and nothing is left behind, or the prompt was not taken.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch new claude --worktree fix-login \"Fix the login\"")]
pub struct NewArgs {
    /// The agent, such as claude, or a name of `[new.starts]`; default: the one that was started last.
    ///
    /// `!COMMAND` starts a task instead: `fleetwatch new '!make test'`.
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// The first prompt. One that begins with `-` goes after `--`.
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// The directory to start in; default: the current one.
    #[arg(short = 'C', value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// Work in a git worktree for this branch, which is made if needed.
    #[arg(long, value_name = "BRANCH")]
    pub worktree: Option<String>,
    /// Open a window in this session, not a session of its own; the session is created if needed.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Stop waiting after this many seconds (or 10m); the prompt stays in the queue.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Print one JSON object: `{"name", "outcome": "started", "refused" or that of the prompt, "detail"}`, with the ids of what was
    /// started, its directory and its worktree.
    #[arg(long)]
    pub json: bool,
}

impl NewArgs {
    fn order(&self) -> Result<Order, Failure> {
        let what = match self.agent.as_deref().and_then(|agent| Some((agent, Order::command_of(agent)?))) {
            Some((_, command)) => {
                let words = shlex::split(command).ok_or_else(|| Failure::usage("a quote has no end"))?;
                Order::task(words.into_iter().chain(self.prompt.clone()).collect())
            }
            None => Ok(What::Agent { name: self.agent.clone(), prompt: self.prompt.join(" ") }),
        };
        let directory = self.directory.as_ref().map(|path| {
            let unfit =
                || Failure::usage(format!("{} is not UTF-8", path.display())).hint("tmux takes only such names");
            path.to_str().map(str::to_owned).ok_or_else(unfit)
        });
        let (worktree, session) = (self.worktree.clone(), self.session.clone());
        let order = Order { what: what.map_err(misnamed)?, directory: directory.transpose()?, worktree, session };
        if let What::Agent { prompt, .. } = &order.what
            && !prompt.is_empty()
        {
            PasteText::new(prompt.as_str())?;
        }
        order.checked().map_err(misnamed)
    }
}

/// Runs the command.
///
/// # Errors
/// Nothing was started, or the agent did not take the prompt.
pub async fn run(args: &NewArgs, options: &GlobalOptions) -> Done {
    let name = args.agent.as_deref().unwrap_or_default();
    let order = or_refused(name, args.json, args.order())?;
    let watched = Watched::new(options)?;
    let Some(id) = watched.home() else {
        return Err(Failure::usage("there is no server to start it on").hint("name one with `-L`"));
    };
    let config = &watched.loaded.config;
    let history = History::start(&config.history);
    keep(&history).await;
    let here = std::env::current_dir().ok().and_then(|path| path.to_str().map(str::to_owned));
    let launcher = Launcher {
        server: watched.server(id)?,
        profiles: Arc::clone(&watched.settings.profiles),
        config: config.new.clone(),
        here: here.filter(|_| id.host.is_none()),
        history: history.path().map(ToOwned::to_owned),
    };
    let started = or_refused(name, args.json, launcher.start(&order, clock::now()).await.map_err(Failure::from))?;
    if let Some(again) = started.again {
        let seen = seen_now(&watched, &started.begun).await;
        history.record(started.record(seen.as_ref().map_or(&started.name, |task| &task.id), clock::now()));
        keep(&history).await;
        let (name, session, program) = (&started.name, &started.session, &started.command[0]);
        return JustStarted { name, session, program, begun: &started.begun, again }.tell(seen.as_ref(), args.json);
    }
    history.record(started.record(&started.name, clock::now()));
    keep(&history).await;
    let settings = watched.watching(Rank::Watch);
    let (mut engine, _) = match &started.queued {
        Some(_) => {
            let (engine, actor) = Engine::start_acting(settings, &watched.servers, (config, &history), false)?;
            (engine, Some(actor))
        }
        None => (watched.engine()?, None),
    };
    let follower = Follower { args, started: &started, history: &history };
    let done = follower.follow(&mut engine).await;
    // What is on its way arrives, or the next owner settles it.
    engine.leave(ready(())).await.iter().for_each(|left| console::tell(&format!("warning: {left}")));
    watched.show_changes([id]).await;
    done
}

/// What becomes of a prompt in a queue that cannot be read. Its agent was started, and whoever called is to know that.
fn unknown(trouble: &HistoryError) -> Outcome {
    Outcome::Unverified { why: format!("the history, which has the prompt, cannot be used: {trouble}") }
}

/// Follows a new agent until its prompt is taken.
struct Follower<'a> {
    args: &'a NewArgs,
    started: &'a Started,
    history: &'a History,
}

impl Follower<'_> {
    async fn follow(&self, engine: &mut Engine) -> Done {
        let (key, limit) = (&self.started.begun.key, Limit::new(self.args.timeout));
        let (mut name, mut said, begun) = (None, None, Instant::now());
        let intents = self.history.path().filter(|_| self.started.queued.is_some());
        let intents = intents.map(|path| Intents::open(path, clock::now())).transpose();
        let intents = match intents {
            Ok(intents) => intents,
            Err(trouble) => {
                self.tell(&self.started.name)?;
                return self.conclude(&self.started.name, &unknown(&trouble));
            }
        };
        let (end, mut written) = (end_asked_for(), Instant::now());
        tokio::pin!(end);
        loop {
            tokio::select! {
                event = engine.next() => engine.handle(event, clock::now()),
                () = sleep(launch::LOOK) => {}
                signal = &mut end => {
                    return Err(Failure::interrupted(signal, "interrupted while it waited").hint_if(self.stays()));
                }
            }
            engine.deliver(Suppression::NOBODY, clock::now());
            while engine.poll_update().is_some() {}
            let terminal = engine.fleet().terminal(key);
            if let (Some(terminal), None) = (terminal, &name) {
                name = Some(terminal.state.terminal.id.clone());
                self.tell(&terminal.state.terminal.id)?;
            }
            let called = name.as_deref().unwrap_or(&self.started.name);
            self.tell_of_question(called, terminal, &mut said);
            if self.started.queued.is_some() {
                if let Some(outcome) = self.outcome(intents.as_ref()) {
                    return self.conclude(called, &outcome);
                }
                // What cannot be written down is not sent, perhaps never.
                match self.history.health().condition {
                    WriterState::Degraded(trouble) if written.elapsed() > FOUND => {
                        return self.conclude(called, &unknown(&trouble));
                    }
                    WriterState::Degraded(_) => {}
                    _ => written = Instant::now(),
                }
            } else if name.is_some() {
                return self.print(called, "started", None);
            } else if begun.elapsed() > FOUND {
                let why = format!("{called} was started, but nothing shows that it is an agent");
                self.print(called, "started", Some(&why))?;
                return Err(Failure::refused(why).hint(format!("look at it: `fleetwatch explain {}`", key.pane)));
            }
            if limit.is_over() {
                let why = format!("{called} is not ready yet");
                self.print(called, "queued", Some(&why))?;
                return Err(Failure::refused(why).hint_if(self.stays()));
            }
        }
    }

    /// What becomes of the prompt without this process.
    fn stays(&self) -> Option<String> {
        self.started.queued.map(|id| {
            let number = id.0;
            format!("the prompt stays in the queue, and whoever watches sends it; `fleetwatch queue dismiss {number}` drops it")
        })
    }

    /// Says what runs where.
    fn tell(&self, name: &str) -> Result<(), Failure> {
        let Started { begun, session, worktree, directory, .. } = self.started;
        let place = match (worktree, directory) {
            (Some(tree), _) if tree.is_new => format!(", in the new worktree {}", tree.path.display()),
            (Some(tree), _) => format!(", in the worktree {}", tree.path.display()),
            (None, Some(directory)) => format!(", in {directory}"),
            (None, None) => String::new(),
        };
        let (window, pane, pid) = (begun.window, begun.key.pane, begun.key.pid);
        if !self.args.json {
            output::print(&format!("{name} runs in {session}{place}: window {window}, pane {pane}, pid {pid}\n"))?;
        }
        Ok(())
    }

    /// Says once what keeps the prompt: a question of the agent's start.
    fn tell_of_question(&self, name: &str, terminal: Option<&Terminal>, said: &mut Option<String>) {
        let Some(state) = terminal.map(|it| &it.state).filter(|state| Status::of(state).needs_operator()) else {
            return;
        };
        let asks = what_or_null(state).unwrap_or_else(|| Status::of(state).word().into_owned());
        if self.started.queued.is_some() && said.as_ref() != Some(&asks) {
            let hint = format!("`fleetwatch answer {}` shows it", quoted(name));
            Failure::refused(format!("{name} needs you before it takes the prompt: {asks}")).hint(hint).warn();
            *said = Some(asks);
        }
    }

    /// What became of the prompt, once that is known.
    fn outcome(&self, intents: Option<&Intents>) -> Option<Outcome> {
        let (intents, id) = intents.zip(self.started.queued)?;
        let intent = match intents.get(id) {
            Ok(intent) => intent?,
            Err(trouble) => return Some(unknown(&trouble)),
        };
        let why = intent.detail.unwrap_or_default();
        match intent.state {
            IntentState::Pending | IntentState::Attempted => None,
            IntentState::Sent => Some(Outcome::Accepted(Some(why).filter(|why| !why.is_empty()))),
            IntentState::Unknown => Some(Outcome::Unverified { why }),
            IntentState::Cancelled | IntentState::Dismissed => Some(Refusal::Withdrawn.into()),
            IntentState::Failed | IntentState::Expired | IntentState::Resent => Some(Refusal::Other(why).into()),
        }
    }

    fn conclude(&self, name: &str, outcome: &Outcome) -> Done {
        self.print(name, outcome.word(), outcome.detail().as_deref())?;
        match outcome {
            Outcome::Accepted(_) if self.args.json => Ok(ExitCode::SUCCESS),
            Outcome::Accepted(_) => Ok(output::acted(outcome, output::print(&format!("{outcome}\n")))),
            _ => Err(Failure::of_act(outcome).hint(format!("look at it: `fleetwatch explain {}`", quoted(name)))),
        }
    }

    /// Prints the object, if it is wanted.
    fn print(&self, name: &str, outcome: &str, detail: Option<&str>) -> Done {
        if !self.args.json {
            return Ok(ExitCode::SUCCESS);
        }
        let Started { begun, session, worktree, directory, .. } = self.started;
        let object = json!({
            "name": name,
            "outcome": outcome,
            "detail": detail,
            "session": session,
            "session_id": begun.session.to_string(),
            "window_id": begun.window.to_string(),
            "pane": begun.key.pane.to_string(),
            "pid": begun.key.pid,
            "directory": directory,
            "worktree": worktree.as_ref().map(|tree| &tree.path),
        });
        Ok(output::acted(format!("{name} was started"), output::print_json(&object)))
    }
}
