//! The dashboard as a program: one loop over keys, reports, outcomes and time; the only place that owns the terminal.

mod actors;
mod copy;
mod drafts;
mod drain;
mod editor;
mod leaving;
mod lending;
mod look;
mod outside;
mod reload;
mod requests;
mod signals;
mod tasks;
mod terminal;
mod waiting;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream as _;
use ratatui::crossterm::event::{Event, EventStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::config::Config;
use crate::delivery::{DeliveryEvent, Outside};
use crate::fleet::{self, Fleet, Input, ServerId};
use crate::history::{Answer, History, Intent, IntentId, IntentNews, Questions, Record, Submission};
use crate::owner::{self, OwnerEvent, Rank, Watcher};
use crate::poll;
use crate::profile::ProfileSet;
use crate::sender::OperationEvent;
use crate::state::Attention;
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::ui::{Topic, Ui, UiOptions};
use actors::{ActorNews, Actors};
use drafts::DraftStore;
use drain::at_once;
use lending::{Lent, given_back};
pub use look::LookError;
use reload::{FileWatch, watch};
pub use reload::{Learning, LoadResult, LoadSource};
use signals::{SignalRequest, Signals};
use terminal::Tty;

/// Reports that may wait until they are taken in; more than that and the pollers wait themselves.
const WAITING_REPORTS: usize = 64;
/// The shortest time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(33);
/// The shortest time between two frames at all; a key is answered within it.
const KEY_FRAME: Duration = Duration::from_millis(8);
/// How long the first frame waits for the first answers, so that it has something to show.
const FIRST_FRAME: Duration = Duration::from_millis(200);
/// Events of the terminal that are taken in before a frame is drawn.
const EVENTS_AT_ONCE: usize = 256;

/// What the dashboard shows.
#[derive(Clone, Debug)]
pub struct Settings {
    pub config: Config,
    pub library: Arc<ProfileSet>,
    pub servers: Vec<ServerId>,
    pub feed: poll::Settings,
    pub fleet: fleet::Settings,
    /// Where all of that comes from, to read it again.
    pub source: LoadSource,
}

/// Why the dashboard could not be shown, or not any longer.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("the dashboard needs a terminal, and standard output is not one")]
    NotATerminal,
    #[error(transparent)]
    Server(#[from] crate::tmux::Error),
    /// A keymap or theme of the operator's is wrong.
    #[error(transparent)]
    Look(#[from] LookError),
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    /// A part of the program panicked; its message has been printed.
    #[error("a part of fleetwatch crashed")]
    Panicked,
}

impl AppError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            AppError::NotATerminal => "`fleetwatch list` and `fleetwatch watch` print to anything".to_owned(),
            AppError::Server(error) => error.hint(),
            AppError::Look(error) => error.hint.clone(),
            AppError::Terminal(_) => "run it in a terminal of its own, not in the background".to_owned(),
            AppError::Panicked => "please report what was printed above".to_owned(),
        }
    }
}

/// Shows the dashboard until the operator leaves it, the terminal goes away, or the system ends the program.
///
/// # Errors
/// There is no terminal, it cannot be used, or a server's name is not fit for a command line.
pub async fn run(settings: Settings) -> Result<(), AppError> {
    terminal::check()?;
    let mut app = App::start(settings)?;
    app.run().await
}

struct App {
    fleet: Fleet,
    ui: Ui,
    actors: Actors,
    drafts: DraftStore,
    history: History,
    /// What other processes send.
    submissions: mpsc::UnboundedReceiver<Submission>,
    /// What becomes of messages to agents, and those that are open.
    intents: mpsc::UnboundedReceiver<IntentNews>,
    follow_ups: BTreeMap<IntentId, Intent>,
    questions: Questions,
    answers: mpsc::UnboundedReceiver<Answer>,
    /// What holds now of the configuration.
    config: Config,
    library: Arc<ProfileSet>,
    watch: FileWatch,
    watchers: Vec<(ServerId, Watcher)>,
    feed: poll::Settings,
    /// Where watchers send what they are told, and where it arrives.
    events_of_servers: mpsc::Sender<OwnerEvent>,
    from_servers: mpsc::Receiver<OwnerEvent>,
    news: mpsc::UnboundedReceiver<ActorNews>,
    /// How far operations have come.
    operations: mpsc::UnboundedReceiver<OperationEvent>,
    outside: Outside,
    /// What became of what was told outside.
    told: mpsc::UnboundedReceiver<DeliveryEvent>,
    signals: Signals,
    /// Whoever holds the terminal reads its events; nobody else may.
    events: Option<EventStream>,
    /// The program that has the terminal in the meantime; nothing is drawn then.
    lent: Option<Lent>,
    tty: Tty,
    wants_to_end: bool,
    last_frame: Instant,
    /// When the next frame is to be drawn because something has changed; times change by themselves.
    due: Option<Instant>,
}

impl App {
    fn start(settings: Settings) -> Result<Self, AppError> {
        let (events_of_servers, from_servers) = mpsc::channel(WAITING_REPORTS);
        let (told, news) = mpsc::unbounded_channel();
        let (telling_operations, operations) = mpsc::unbounded_channel();
        let (telling, told_outside) = mpsc::unbounded_channel();
        let feed = poll::Settings { keeper: Some(poll::owner()), ..settings.feed.clone() };
        let (library, fleet) = (Arc::clone(&settings.library), settings.fleet.clone());
        let watching = owner::Settings { feed, library, fleet, rank: Rank::Dashboard };
        let watchers = watch(&watching, &settings.servers, &events_of_servers)?;
        let look = look::options(&settings.config.ui, &settings.source.directories())?;
        let mut ui = Ui::new(UiOptions { templates: settings.config.templates.clone(), ..look });
        let drafts = DraftStore::start(&settings.config.history, &mut ui);
        let history = History::start(&settings.config.history);
        let (questions, answers) = history.questions(Arc::clone(&settings.library));
        let actors = Actors::new(&settings, history.clone(), told, telling_operations);
        let sending = (actors.sender(), settings.feed.tmux.clone());
        let outside = Outside::start(&settings.config, &history, true, sending, telling);
        let signals = Signals::listen()?;
        let tty = Tty::take(settings.config.ui.mouse)?;
        Ok(Self {
            fleet: Fleet::new(settings.fleet.clone(), Arc::clone(&settings.library)),
            ui,
            actors,
            drafts,
            submissions: history.submissions(),
            intents: history.intents(),
            follow_ups: BTreeMap::new(),
            questions,
            answers,
            history,
            watch: FileWatch::new(settings.source.clone(), &settings.config.ui.theme),
            config: settings.config.clone(),
            library: Arc::clone(&settings.library),
            watchers,
            feed: watching.feed,
            events_of_servers,
            from_servers,
            news,
            operations,
            outside,
            told: told_outside,
            signals,
            events: Some(EventStream::new()),
            lent: None,
            tty,
            wants_to_end: false,
            last_frame: Instant::now(),
            due: None,
        })
    }

    async fn run(&mut self) -> Result<(), AppError> {
        self.wait_for_first_answers().await;
        // What there is from the start is no news; what comes while the first frame is drawn is.
        self.tell_outside()?;
        self.tell_of_drafts();
        self.draw()?;
        while !self.wants_to_end {
            self.wait().await?;
            self.follow().await?;
            self.tell_outside()?;
            if self.lent.is_some() {
                continue;
            }
            if self.due.is_some_and(|due| due <= Instant::now()) {
                self.draw()?;
            }
            terminal::panic_on_request();
            if !self.tty.is_held() {
                return Err(AppError::Panicked);
            }
        }
        self.finish().await;
        Ok(())
    }

    /// Takes in reports until every server has answered once, or for so long that something must be shown.
    async fn wait_for_first_answers(&mut self) {
        let limit = Instant::now() + FIRST_FRAME;
        while self.fleet.view(poll::now()).servers.len() < self.watchers.len() {
            match tokio::time::timeout_at(limit, self.from_servers.recv()).await {
                Ok(Some(event)) => self.on_server_event(event),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Waits until something happens, keys first, and takes in all that has happened by then.
    async fn wait(&mut self) -> Result<(), AppError> {
        let wake = self.due.unwrap_or_else(|| self.wake_at());
        tokio::select! {
            biased;
            asked = self.signals.asked(self.lent.is_some()) => match asked {
                SignalRequest::End => self.wants_to_end = true,
                SignalRequest::Continue => self.carry_on()?,
            },
            status = given_back(&mut self.lent) => self.on_given_back(status)?,
            event = next_event(&mut self.events) => {
                self.on_event(event).await?;
                for _ in 0..EVENTS_AT_ONCE {
                    let Some(event) = at_once(next_event(&mut self.events)).await else { break };
                    self.on_event(event).await?;
                }
                self.want_frame(KEY_FRAME);
            }
            Some(news) = self.news.recv() => {
                self.on_news(news).await?;
                self.want_frame(KEY_FRAME);
            }
            Some(event) = self.operations.recv() => {
                self.on_operation(&event);
                self.want_frame(KEY_FRAME);
            }
            Some(told) = self.told.recv() => {
                self.on_told(told);
                self.want_frame(FRAME);
            }
            Some(event) = self.from_servers.recv() => {
                self.on_server_event(event);
                while let Ok(event) = self.from_servers.try_recv() {
                    self.on_server_event(event);
                }
                self.want_frame(FRAME);
            }
            Some(submission) = self.submissions.recv() => {
                if let Some(input) = submission.input_for(&self.fleet, poll::now()) {
                    self.take(input);
                    self.want_frame(FRAME);
                }
            }
            Some(news) = self.intents.recv() => {
                self.on_intent(news);
                self.want_frame(FRAME);
            }
            Some(answer) = self.answers.recv() => {
                self.ui.told(&answer, &self.fleet.view(poll::now()));
                self.want_frame(KEY_FRAME);
            }
            () = tokio::time::sleep_until(wake) => self.want_frame(Duration::ZERO),
        }
        Ok(())
    }

    /// Asks for a frame as soon as the last one is old enough; for none while another program has the terminal.
    fn want_frame(&mut self, distance: Duration) {
        if self.lent.is_some() {
            return;
        }
        let at = self.last_frame + distance;
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// When something will have changed by itself: a time on the frame, or the fleet.
    fn wake_at(&self) -> Instant {
        let now = poll::now();
        let frame = match self.lent {
            // The files are followed all the same.
            Some(_) => now + Span::from_secs(1),
            None => self.ui.wake_at(&self.fleet.view(now)),
        };
        let timeouts = [self.fleet.poll_timeout(), self.outside.poll_timeout()];
        let next = timeouts.into_iter().flatten().fold(frame, Timestamp::min);
        Instant::now() + Duration::from_millis(next.since(now).as_millis())
    }

    /// Lets the fleet and the dashboard follow the time and each other.
    async fn follow(&mut self) -> Result<(), AppError> {
        let now = poll::now();
        if self.fleet.poll_timeout().is_some_and(|at| at <= now) {
            self.take(Input::TimePassed);
        }
        self.follow_files();
        if let Some(warning) = self.history.new_warning() {
            self.ui.notify_about(Topic::History, Status::Error, warning, now);
        }
        self.ui.set_history_trouble(self.history.health().trouble());
        // What nobody sees is not looked at, and no message goes before it was seen.
        if self.lent.is_none() {
            for request in self.ui.update(&self.fleet.view(now)) {
                self.carry_out(request).await?;
            }
        }
        self.keep_drafts();
        Ok(())
    }

    fn on_server_event(&mut self, event: OwnerEvent) {
        match event {
            OwnerEvent::Input(input) => self.take(input),
            OwnerEvent::Refused { server, why } => {
                let told = owner::refusal(&server, &why);
                self.ui.notify_about(Topic::Owner, Status::Unknown, told, poll::now());
            }
            OwnerEvent::Checkpoint { server, reply } => {
                owner::reply(self.fleet.checkpoint(&server), self.history.clone(), reply);
            }
            event => self.outside.server_event(event),
        }
    }

    /// Takes in what happened in this process, which the others are told.
    fn take_here(&mut self, input: Input) {
        self.keep_what_is_seen(&input, poll::now());
        let server = match &input {
            Input::Seen { key } => Some(&key.server),
            Input::TaskKilled { server, .. } => Some(server),
            _ => None,
        };
        let watcher = self.watchers.iter().find(|(watched, _)| Some(watched) == server);
        watcher.into_iter().for_each(|(_, watcher)| watcher.tell(input.clone()));
        self.take(input);
    }

    fn take(&mut self, input: Input) {
        let server = match &input {
            Input::Server(report) => Some(&report.server),
            Input::Tasks(report) => Some(&report.server),
            Input::Checkpoint { server, .. } => Some(server),
            _ => None,
        };
        if server.is_some_and(|server| self.watchers.iter().all(|(watched, _)| watched != server)) {
            // It was on its way when its server was let go, and comes too late.
            return;
        }
        let now = input.at().unwrap_or_else(poll::now);
        self.fleet.handle(input, now);
        while let Some(effect) = self.fleet.poll_effect() {
            self.outside.effect(&effect, &self.fleet, now);
            self.follow_tasks(&effect);
        }
    }

    /// Writes down that the operator sees how a turn ended, for whoever watches later.
    fn keep_what_is_seen(&self, input: &Input, now: Timestamp) {
        let Input::Seen { key } = input else { return };
        let Some(terminal) = self.fleet.terminal(key) else { return };
        if matches!(terminal.state.attention, Attention::Failed | Attention::Interrupted | Attention::Finished) {
            self.history.record(Record::seen(key.clone(), terminal.state.terminal.id.clone(), now));
        }
    }

    fn draw(&mut self) -> Result<(), AppError> {
        let view = self.fleet.view(poll::now());
        self.tty.draw(|frame| self.ui.draw(frame, &view))?;
        self.last_frame = Instant::now();
        self.due = None;
        Ok(())
    }

    async fn on_event(&mut self, event: Option<io::Result<Event>>) -> Result<(), AppError> {
        let Some(Ok(event)) = event else {
            // The terminal is gone, and with it the operator.
            self.wants_to_end = true;
            return Ok(());
        };
        let requests = self.ui.handle(&event, &self.fleet.view(poll::now()));
        for request in requests {
            self.carry_out(request).await?;
        }
        Ok(())
    }
}

/// The next event of the terminal; none ever comes while another program has it.
async fn next_event(events: &mut Option<EventStream>) -> Option<io::Result<Event>> {
    match events {
        Some(events) => poll_fn(|context| Pin::new(&mut *events).poll_next(context)).await,
        None => std::future::pending().await,
    }
}
