//! One poll of all servers, for the commands that answer once.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::unwatched::unwatched;
use super::{Failure, GlobalOptions};
use crate::clock;
use crate::config::Loaded;
use crate::engine::{Engine, Freshness, PATIENCE, Update};
use crate::fleet::{Fleet, ServerHealth, ServerId, Terminal};
use crate::history::History;
use crate::owner::{Actor, Rank, Roles};
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::private;
use crate::sender::Sender;
use crate::state::{KeptNote, Problem};
use crate::time::Timestamp;
use crate::{demo, engine, history, owner, poll, tmux};

/// What the options and the configuration ask to watch.
pub(super) struct Watched {
    pub loaded: Loaded,
    pub servers: Vec<ServerId>,
    pub settings: owner::Settings,
}

impl Watched {
    pub(super) fn new(options: &GlobalOptions) -> Result<Self, Failure> {
        let watched = Self::of(options)?;
        watched.ensure_background(options);
        Ok(watched)
    }

    /// Like [`Watched::new`], for the process in the background, which is in no pane.
    pub(super) fn in_background(options: &GlobalOptions) -> Result<Self, Failure> {
        let mut watched = Self::of(options)?;
        watched.settings.poll.own = poll::Own::default();
        Ok(watched)
    }

    fn of(options: &GlobalOptions) -> Result<Self, Failure> {
        let loaded = options.load()?;
        let settings = owner::Settings::new(&loaded.config, Arc::new(options.profiles()?));
        let servers = options.servers(&loaded.config);
        allow_files(servers.len());
        Ok(Self { servers, loaded, settings })
    }

    /// Starts a process in the background, if the configuration asks for one and nobody watches.
    fn ensure_background(&self, options: &GlobalOptions) {
        if !self.loaded.config.watch.background || self.is_owned() {
            return;
        }
        if let Err(error) = start_in_background(options) {
            let what = format!("no process could be started to watch in the background: {error}");
            Failure::refused(what).hint("`fleetwatch watch` in a window of its own does the same").warn();
        }
    }

    /// The same after this process has stopped watching: another one may be about to take over.
    pub(super) async fn leave_to_background(&self, options: &GlobalOptions) {
        if self.loaded.config.watch.background {
            let until = Instant::now() + PATIENCE;
            while !self.is_owned() && Instant::now() < until {
                tokio::time::sleep(clock::A_MOMENT).await;
            }
            self.ensure_background(options);
        }
    }

    /// The server on which something is started.
    pub(super) fn home(&self) -> Option<&ServerId> {
        self.settings.home(&self.servers)
    }

    /// Whether each server is owned by some process.
    fn is_owned(&self) -> bool {
        self.servers.iter().all(|server| owner::is_owned(&self.settings, server))
    }

    /// A watched server.
    ///
    /// # Errors
    /// Its name does not fit into a command line.
    pub(super) fn server(&self, id: &ServerId) -> Result<tmux::Server, tmux::Error> {
        tmux::Server::new(id.clone(), self.settings.poll.tmux.clone())
    }

    /// What acts on the watched servers: their owners, or this process.
    pub(super) fn actor(&self, history: &History) -> Actor {
        let (profiles, locks) = (Arc::clone(&self.settings.profiles), private::lock_directory());
        let sender = Sender::new(profiles, self.settings.poll.tmux.clone(), history.clone(), locks);
        Actor::new(sender, self.settings.poll.history.clone(), Roles::default())
    }

    /// The operator's notes on terminals.
    pub(super) fn notes(&self) -> Vec<KeptNote> {
        history::notes_in(self.loaded.config.history.kept_at().as_deref())
    }

    /// The settings of a process that watches.
    pub(super) fn watching(&self, rank: Rank) -> owner::Settings {
        owner::Settings { rank, ..self.settings.clone() }
    }

    /// Begins to watch every server, without acting for any.
    ///
    /// # Errors
    /// A server's name does not fit into a command line.
    pub(super) fn engine(&self) -> Result<Engine, Failure> {
        let mut engine = Engine::start(self.settings.clone(), &self.servers)?;
        engine.know(self.notes());
        Ok(engine)
    }

    /// Polls every server once, all of them at the same time; warns of those that do not answer.
    ///
    /// # Errors
    /// None of them answers.
    pub(super) async fn survey(&self) -> Result<Survey, Failure> {
        self.report(self.survey_quietly(Freshness::Now).await?).await
    }

    /// The same; if a task may wait at a prompt, for as long as it takes to know: it is one only if another poll
    /// shows it as well (SPEC §9).
    ///
    /// # Errors
    /// As [`Watched::survey`], or a server's name does not fit into a command line.
    pub(super) async fn survey_with_prompts(&self) -> Result<Survey, Failure> {
        let survey = self.survey_quietly(Freshness::Known).await?;
        let is_open = |fleet: &Fleet| fleet.view(Timestamp::default()).tasks.iter().any(|task| task.may_ask());
        if is_open(&survey.fleet) { self.survey_while(PATIENCE, is_open).await } else { self.report(survey).await }
    }

    /// Watches every server for a while, for what only time shows, as long as something is open.
    ///
    /// # Errors
    /// None of them answers, or a server's name does not fit into a command line.
    pub(super) async fn survey_while(
        &self,
        time: Duration,
        is_open: impl Fn(&Fleet) -> bool,
    ) -> Result<Survey, Failure> {
        let mut engine = self.engine()?;
        first_polls(&mut engine).await;
        let watching = async {
            while is_open(engine.fleet()) {
                turn(&mut engine).await;
            }
        };
        // The timeout is the usual end.
        let _over = tokio::time::timeout(time, watching).await;
        self.report(Survey { fleet: engine.into_fleet(), now: clock::now() }).await
    }

    /// Warns of servers that do not answer.
    async fn report(&self, survey: Survey) -> Result<Survey, Failure> {
        let mut troubles = self.troubles(&survey.fleet).await;
        if troubles.is_empty() || !survey.is_blind() {
            // The servers that answer are worth showing, and the others must not be passed over in silence.
            troubles.iter().for_each(Failure::warn);
            return Ok(survey);
        }
        if let [_] = troubles[..]
            && let Some(failure) = troubles.pop()
        {
            return Err(failure);
        }
        troubles.iter().for_each(Failure::warn);
        Err(Failure::refused(format!("none of {} servers answers", troubles.len()))
            .hint("`fleetwatch doctor` asks them again and shows how long each takes"))
    }

    /// Asks the owner of every server, or polls where there is none, all of them at the same time.
    pub(super) async fn survey_quietly(&self, freshness: Freshness) -> Result<Survey, Failure> {
        let fleet = engine::survey(&self.settings, &self.servers, freshness, self.notes()).await;
        let fleet = fleet.map_err(|error| Failure::refused(format!("polling a server failed: {error}")))?;
        Ok(Survey { fleet, now: clock::now() })
    }

    /// Has the owner of each server poll again after this command has changed something there, so that the next command
    /// finds it changed.
    pub(super) async fn show_changes(&self, servers: impl IntoIterator<Item = &ServerId>) {
        let servers: BTreeSet<&ServerId> = servers.into_iter().collect();
        join_all(servers.into_iter().map(|server| owner::ask(&self.settings, server, true))).await;
    }

    /// The terminal that a target means, to act on it.
    ///
    /// # Errors
    /// None fits, several do, or it is a task.
    pub(super) async fn terminal<'a>(&self, survey: &'a Survey, target: &str) -> Result<&'a Terminal, Failure> {
        Ok(target::terminal(self.meant(survey, target, Purpose::Acting).await?, Purpose::Acting)?)
    }

    /// The terminal or the task that a target means.
    ///
    /// # Errors
    /// None fits, or several do; of a pane that is there, it says why it is not watched.
    pub(super) async fn meant<'a>(
        &self,
        survey: &'a Survey,
        target: &str,
        purpose: Purpose,
    ) -> Result<Item<'a>, Failure> {
        self.explained(survey.meant(target, purpose), &survey.fleet, target).await
    }

    /// What a target means, or else why the pane that it names is not watched.
    pub(super) async fn explained<T>(
        &self,
        meant: Result<T, Failure>,
        fleet: &Fleet,
        target: &str,
    ) -> Result<T, Failure> {
        match meant {
            Ok(meant) => Ok(meant),
            Err(unknown) => Err(unwatched(target, &self.settings, fleet).await.map_or(unknown, |pane| pane.why)),
        }
    }

    /// Why servers do not answer, one failure each.
    async fn troubles(&self, fleet: &Fleet) -> Vec<Failure> {
        let view = fleet.view(clock::now());
        let silent = view.servers.iter().filter_map(|server| Some((&server.id, server.health.problem()?)));
        join_all(silent.map(|(server, problem)| self.explain(server, problem))).await
    }

    /// A problem with its remedy. The public state has only the message, so the server is asked again for the error with
    /// the remedy; a silent host is not, because it would take as long again.
    pub(super) async fn explain(&self, server: &ServerId, problem: &Problem) -> Failure {
        let again = match self.server(server) {
            Ok(handle) => {
                match handle.check().filter(|_| matches!(problem.kind.as_str(), "unreachable" | Problem::TIMEOUT)) {
                    Some(check) => return Failure::refused(&problem.message).hint(check),
                    None => match tokio::time::timeout(PATIENCE, handle.poll(&[])).await {
                        Ok(poll) => poll.err(),
                        Err(_) => return Failure::refused(&problem.message).hint("`fleetwatch doctor` asks it again"),
                    },
                }
            }
            Err(error) => Some(error),
        };
        match again {
            Some(error @ tmux::Error::NoServer { .. }) if *server == ServerId::default() => {
                let hint = error.hint() + &of_demo();
                Failure::refused(&error).hint(hint)
            }
            Some(error) => error.into(),
            None => Failure::refused(&problem.message).hint("it answers now; try again"),
        }
    }
}

/// Starts a process that watches in the background.
fn start_in_background(options: &GlobalOptions) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(options.words()).args(["watch", "--background"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map(drop)
}

/// Open files of the program itself, and of each server: its lease, its socket, and the pipes of its sessions.
const FILES: (u64, u64) = (256, 24);
/// Enough open files for anybody. Programs started from here inherit the limit, and some try all numbers below it.
const MOST_FILES: u64 = 1 << 16;

/// Raises the limit of open files to what so many servers need: the usual 1024 are too few for fifty hosts.
pub(super) fn allow_files(servers: usize) {
    let (limit, needed) = (getrlimit(Resource::Nofile), FILES.0 + FILES.1 * servers as u64);
    if limit.current.is_some_and(|current| current < needed) {
        let current = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
        // If it fails, a host without files reports that itself.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    }
}

/// Raises the limit of open files as far as the system allows; returns how many are left beside those that servers need.
pub(super) fn allow_all_files(servers: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
    let current = limit.current.map_or(MOST_FILES, |before| before.max(current));
    // It stays what it was where the system says no.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    let current = getrlimit(Resource::Nofile).current.unwrap_or(MOST_FILES);
    usize::try_from(current.saturating_sub(FILES.0 + FILES.1 * servers as u64)).unwrap_or(usize::MAX)
}

/// Watches until every server has been polled once.
pub(super) async fn first_polls(engine: &mut Engine) {
    while engine.is_waiting() {
        turn(engine).await;
    }
}

/// Waits for the next event and takes it in; prints warnings on standard error.
pub(super) async fn turn(engine: &mut Engine) {
    engine.turn().await;
    while let Some(update) = engine.poll_update() {
        if let Update::Refused(why) = update {
            Failure::refused(why).warn();
        }
    }
}

/// What to add to a hint where only a demo runs.
pub(super) fn of_demo() -> String {
    demo::running().map(|demo| format!("; a demo runs: add `-L {demo}`")).unwrap_or_default()
}

/// The fleet as one poll of all servers shows it.
pub(super) struct Survey {
    pub fleet: Fleet,
    pub now: Timestamp,
}

impl Survey {
    /// Whether no server at all has answered.
    fn is_blind(&self) -> bool {
        self.fleet.view(self.now).servers.iter().all(|server| server.health != ServerHealth::Up)
    }

    /// The terminal or the task that a target means.
    ///
    /// # Errors
    /// None fits, or several do.
    pub(super) fn meant(&self, target: &str, purpose: Purpose) -> Result<Item<'_>, Failure> {
        Ok(target::resolve(target, &Item::all(&self.fleet.view(self.now)), purpose)?)
    }
}

/// The most futures that run at the same time.
const AT_ONCE: usize = 16;

/// Runs futures side by side and returns their outputs in the order of the futures.
pub(super) async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    stream::iter(futures).buffered(AT_ONCE).collect().await
}

#[cfg(test)]
mod join_tests {
    use super::*;

    #[tokio::test]
    async fn outputs_keep_their_order_and_only_so_many_run_at_once() {
        let running = std::cell::Cell::new(0);
        let futures = (0..40).map(|number| {
            let running = &running;
            async move {
                running.set(running.get() + 1);
                assert!(running.get() <= AT_ONCE);
                // The first ones end last.
                for _ in number..40 {
                    tokio::task::yield_now().await;
                }
                running.set(running.get() - 1);
                number
            }
        });
        assert_eq!(join_all(futures).await, (0..40).collect::<Vec<_>>());
        assert_eq!(join_all(std::iter::empty::<std::future::Ready<()>>()).await, []);
    }
}
