//! The dashboard as a program: one loop over keys, reports, outcomes and time; the only place that owns the terminal.

mod appearance;
mod keeper;
mod keyboards;
mod lending;
mod reload;
mod requests;
mod starting;
mod terminal;

use std::collections::BTreeMap;
use std::future::{poll_fn, ready};
use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream as _;
use ratatui::crossterm::event::{Event, EventStream};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clock;
use crate::config::Config;
use crate::delivery::DeliveryEvent;
use crate::engine::{Engine, EngineEvent, Update};
use crate::fleet::{Effect, FoundSession, ServerId, Terminal};
use crate::history::{History, Questions};
use crate::notify::Suppression;
use crate::operation::Producer;
use crate::owner::{self, Actor, OwnerEvent};
use crate::record::question::Answer;
use crate::record::{Draft, Intent, IntentId, Stored};
use crate::screen::harmless;
use crate::sender::OperationEvent;
use crate::status::Status;
use crate::task::Task;
use crate::time::{Span, Timestamp};
use crate::tmux::{Inside, living_but};
use crate::ui::{Action, OverlayEvent, Topic, Ui, UiOptions, outcome_text};
pub use appearance::Environment;
use appearance::FileWatch;
pub use appearance::{LoadResult, LoadSource, ProfilesResult};
pub use keeper::kept_flags;
use keeper::{ChoiceStore, DraftStore};
use keyboards::Keyboards;
pub use terminal::AppError;
use terminal::{Lent, SignalRequest, Signals, Tty, given_back};

/// The shortest time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(33);
/// The shortest time between two frames that keys asked for; a key is answered within it.
const KEY_FRAME: Duration = Duration::from_millis(8);
/// How long the first frame waits for the first answers, so that it has something to show.
const FIRST_FRAME: Duration = Duration::from_millis(200);
/// After so many of the longest ticks without a key the operator was away.
const AWAY: u32 = 15;
/// Events of the terminal that are taken in before a frame is drawn.
const EVENTS_AT_ONCE: usize = 256;

/// What the dashboard shows.
#[derive(Clone, Debug)]
pub struct Settings {
    pub config: Config,
    pub watching: owner::Settings,
    pub servers: Vec<ServerId>,
    /// Where all of that comes from, to read it again.
    pub source: LoadSource,
    /// What the operator is told at the start.
    pub greeting: Option<&'static str>,
    /// Completes the commands in a hint.
    pub hint: fn(&str) -> String,
    /// Whether the operator did not choose which server is shown, and is told of others where nothing is there to show.
    pub tells_others: bool,
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

/// What the dashboard does once a task has ended.
type Continuation = Box<dyn FnOnce(&mut App) -> Result<(), AppError> + Send>;

struct App {
    engine: Engine,
    ui: Ui,
    actor: Actor,
    /// What must not be left half done: a prompt that is pasted but not submitted.
    sends: JoinSet<()>,
    keyboards: Keyboards,
    /// The tmux that the dashboard itself runs in.
    inside: Option<Inside>,
    /// Held by who keeps a choice in a file: choices are kept in the order in which they are made.
    choosing: Arc<Mutex<()>>,
    /// Where async tasks that have ended say what to do with their results.
    to_done: mpsc::UnboundedSender<Continuation>,
    drafts: DraftStore,
    choices: ChoiceStore,
    history: History,
    /// The messages to agents that are open.
    follow_ups: BTreeMap<IntentId, Intent>,
    questions: Questions,
    /// What happened of late, and what is done from now on.
    log: mpsc::UnboundedReceiver<Stored>,
    answers: mpsc::UnboundedReceiver<Answer>,
    /// What holds now of the configuration.
    config: Config,
    watch: FileWatch,
    /// What to do with the results of async tasks that have ended.
    done: mpsc::UnboundedReceiver<Continuation>,
    signals: Signals,
    /// Whoever holds the terminal reads its events; nobody else may.
    events: Option<EventStream>,
    /// The program that has the terminal in the meantime; nothing is drawn then.
    lent: Option<Lent>,
    tty: Tty,
    wants_to_end: bool,
    last_frame: Instant,
    /// The clock as it was read for the next frame: all ages on it go by this time.
    now: Timestamp,
    /// The same of the last frame.
    shown_at: Timestamp,
    /// The last frame that a key asked for, and whether the next one is such: what agents do does not keep a key waiting.
    last_key_frame: Instant,
    is_key_frame: bool,
    /// When the terminal last reported a key or a change of its size.
    last_event: Option<Instant>,
    /// When the next frame is to be drawn because something has changed; times change by themselves.
    due: Option<Instant>,
    /// When to look which other servers the user has, where they are told of.
    looks_at: Option<Instant>,
}

impl App {
    fn start(settings: Settings) -> Result<Self, AppError> {
        let Settings { config, watching, servers, source, greeting, hint, tells_others } = settings;
        let appearance = appearance::options(&config.ui, &source.directories())?;
        let profiles = Arc::clone(&watching.profiles);
        let history = History::start(&config.history);
        let (engine, actor) = Engine::start_acting(watching, &servers, (&config, &history), true)?;
        let mut ui = Ui::new(UiOptions { templates: config.templates.clone(), ..appearance });
        ui.complete_hints(hint);
        if let Some(greeting) = greeting {
            ui.notify(Status::Ready, greeting.to_owned(), clock::now());
        }
        appearance::tell_what_left(&mut ui, &config);
        let drafts = DraftStore::start(&config.history, &mut ui);
        let choices = ChoiceStore::start(&config.history, &mut ui);
        let (questions, answers) = history.questions(profiles);
        let (to_done, done) = mpsc::unbounded_channel();
        Ok(Self {
            engine,
            ui,
            actor,
            sends: JoinSet::new(),
            keyboards: Keyboards::default(),
            inside: Inside::new(std::env::var("TMUX").ok(), std::env::var("TMUX_PANE").ok()),
            choosing: Arc::default(),
            to_done,
            drafts,
            choices,
            follow_ups: BTreeMap::new(),
            questions,
            log: history.log(),
            answers,
            history,
            watch: FileWatch::new(source, &config.ui.theme),
            done,
            signals: Signals::listen()?,
            tty: Tty::take(config.ui.mouse)?,
            events: Some(EventStream::new()),
            lent: None,
            config,
            wants_to_end: false,
            last_frame: Instant::now(),
            now: clock::now(),
            shown_at: Timestamp::default(),
            last_key_frame: Instant::now(),
            is_key_frame: false,
            last_event: None,
            due: None,
            looks_at: tells_others.then(Instant::now),
        })
    }

    async fn run(&mut self) -> Result<(), AppError> {
        // What does not answer at once is shown as silent.
        let first_polls = async {
            while !self.engine.has_listed() {
                self.engine.turn().await;
            }
        };
        let _ = tokio::time::timeout(FIRST_FRAME, first_polls).await;
        self.show_updates();
        // What exists at the start is no news; what comes while the first frame is drawn is.
        self.deliver()?;
        self.tell_of_drafts();
        self.introduce();
        self.draw()?;
        while !self.wants_to_end {
            self.wait().await?;
            self.follow().await?;
            // A frame does not wait for what is shown elsewhere.
            if self.lent.is_none() && self.due.is_some_and(|due| due <= Instant::now()) {
                self.draw()?;
            }
            self.deliver()?;
            if self.lent.is_some() {
                continue;
            }
            terminal::panic_on_request();
            if !self.tty.is_held() {
                return Err(AppError::Panicked);
            }
        }
        self.finish().await;
        Ok(())
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
                    // Polled by the loop itself, which the terminal's next event has to wake.
                    let event = tokio::select! {
                        biased;
                        event = next_event(&mut self.events) => event,
                        () = ready(()) => break,
                    };
                    self.on_event(event).await?;
                }
                self.want_answer();
            }
            Some(continuation) = self.done.recv() => {
                continuation(self)?;
                self.want_answer();
            }
            Some(answer) = self.answers.recv() => {
                self.ui.on_event(OverlayEvent::Answered(&answer), &self.engine.fleet().view(clock::now()));
                self.want_answer();
            }
            Some(record) = self.log.recv() => {
                let more = std::iter::from_fn(|| self.log.try_recv().ok());
                let records = std::iter::once(record).chain(more).collect();
                self.keep_in_log(records);
                self.want_frame(FRAME);
            }
            event = self.engine.next() => {
                self.take_in(event);
                // Where reports come without a pause, frames go on.
                while self.due.is_none_or(|due| Instant::now() < due)
                    && let Some(event) = self.engine.try_next()
                {
                    self.take_in(event);
                    tokio::select! {
                        biased;
                        event = next_event(&mut self.events) => {
                            self.on_event(event).await?;
                            self.want_answer();
                            break;
                        }
                        () = ready(()) => {}
                    }
                }
            }
            () = tokio::time::sleep_until(wake) => self.want_frame(Duration::ZERO),
        }
        Ok(())
    }

    /// Takes in what the engine has, and asks for a frame where that changes anything to show.
    fn take_in(&mut self, event: EngineEvent) {
        let is_own = matches!(event, EngineEvent::Update(Update::Operation(_)) | EngineEvent::Noted(_));
        let is_quiet =
            matches!(event, EngineEvent::Owner(OwnerEvent::Input(_)) | EngineEvent::Part | EngineEvent::Timeout);
        let (before, now) = (self.engine.fleet().version(), clock::now());
        // The loop is awake anyway: the times that have changed need not wake it again.
        let is_aged = now.since(self.shown_at) >= Span::SECOND;
        self.engine.handle(event, now);
        if is_own {
            self.want_answer();
        } else if !is_quiet || is_aged || self.engine.has_updates() || self.engine.fleet().version() != before {
            self.want_frame(FRAME);
        }
    }

    /// Asks for a frame as soon as the last one is old enough.
    fn want_frame(&mut self, distance: Duration) {
        self.want_frame_at(self.last_frame + distance);
    }

    /// Asks for the frame that shows what the operator has done.
    fn want_answer(&mut self) {
        self.is_key_frame = true;
        self.want_frame_at(self.last_key_frame + KEY_FRAME);
    }

    /// None is asked for while another program has the terminal.
    fn want_frame_at(&mut self, at: Instant) {
        if self.lent.is_none() {
            self.due = Some(self.due.map_or(at, |due| due.min(at)));
        }
    }

    /// When a time on the frame will have changed by itself.
    fn wake_at(&self) -> Instant {
        let now = clock::now();
        let next = match self.lent {
            // The files are followed all the same.
            Some(_) => now + Span::SECOND,
            None => self.ui.wake_at(&self.engine.fleet().view(self.shown_at)),
        };
        Instant::now() + Duration::from(next.since(now))
    }

    /// Lets the dashboard follow the engine, the files and the time.
    async fn follow(&mut self) -> Result<(), AppError> {
        let now = clock::now();
        self.now = now;
        self.show_updates();
        self.follow_files();
        if let Some(warning) = self.history.new_warning() {
            let remedy = self.history.remedy().map(|remedy| format!("; {remedy}")).unwrap_or_default();
            self.ui.notify_about(Topic::History, Status::Error, format!("{warning}{remedy}"), now);
            self.want_frame(FRAME);
        }
        let health = self.history.health();
        if self.ui.set_history_trouble(health.trouble()) | self.ui.set_cannot_wait(health.why_nothing_waits()) {
            self.want_frame(FRAME);
        }
        self.look_for_others();
        // What nobody sees does not count as seen, and no message goes before it was.
        if self.lent.is_none() {
            for request in self.ui.update(&self.engine.fleet().view(now)) {
                self.carry_out(request).await?;
                self.want_frame(FRAME);
            }
        }
        self.keep_drafts();
        self.keep_choices();
        Ok(())
    }

    /// Shows what the engine reports.
    fn show_updates(&mut self) {
        while let Some(update) = self.engine.poll_update() {
            match update {
                Update::Effect(Effect::Tasks(batch)) => self.show_task_events(&batch),
                Update::Effect(Effect::TasksFound { sessions }) => {
                    let prune = self.ui.key_for(Action::PruneTasks);
                    self.ui.notify(Status::Finished, found(&sessions, prune.as_deref()), clock::now());
                }
                Update::Effect(_) | Update::Operation(OperationEvent::Begun(_)) => {}
                Update::Refused(why) => self.ui.notify_about(Topic::Owner, Status::Unknown, why, clock::now()),
                Update::Intent(news) => self.on_intent(news),
                // The history reports what becomes of messages in the outbox.
                Update::Operation(OperationEvent::Ended(operation, outcome)) => {
                    if self.history.path().is_none() {
                        self.keep_in_log(vec![Stored::unwritten(&operation, &outcome)]);
                    }
                    if operation.producer == Producer::Dashboard {
                        self.ui.ended(&operation, &outcome, &self.engine.fleet().view(clock::now()));
                    }
                }
                Update::Delivery(DeliveryEvent::Trouble(trouble)) => self.complain(&trouble),
                Update::Delivery(DeliveryEvent::Unclear(_)) => {}
                Update::Delivery(DeliveryEvent::FollowUp(text)) => self.ui.notify(Status::Ready, text, clock::now()),
            }
        }
    }

    /// Looks which servers of the user are not watched, while there is nothing to show.
    fn look_for_others(&mut self) {
        if self.engine.fleet().is_bare() && self.looks_at.is_some_and(|at| at <= Instant::now()) {
            self.looks_at = Some(Instant::now() + self.engine.settings().poll.ticks.longest);
            let watched = self.engine.servers();
            self.ui.show_other_servers(living_but(&watched.iter().collect::<Vec<_>>()));
            self.want_frame(FRAME);
        }
    }

    /// Announces what the rules want of the current state.
    fn deliver(&mut self) -> io::Result<()> {
        let now = clock::now();
        self.engine.mute(self.ui.mutes_all());
        let is_muted = |terminal: &Terminal| self.ui.mutes(terminal);
        let is_task_muted = |task: &Task| self.ui.mutes(task);
        let looks_at = self.ui.looked_at(now);
        let operator = Suppression { looks_at, is_muted: &is_muted, is_task_muted: &is_task_muted };
        let bytes = self.engine.deliver(operator, now);
        self.tty.ring(&bytes)
    }

    /// Gives the terminal back and lets the prompts that are on their way arrive, for no longer than a sender takes. What
    /// did not arrive is reported where the operator is now.
    async fn finish(&mut self) {
        self.call_in().await;
        self.let_go();
        for waiting in self.still_waiting() {
            let _ = writeln!(io::stderr(), "{}", harmless(&waiting));
        }
        self.keyboards = Keyboards::default();
        let arrive = async { while self.sends.join_next().await.is_some() {} };
        for left in self.engine.leave(arrive).await {
            let _ = writeln!(io::stderr(), "warning: {}", harmless(&left));
        }
        while let Some(update) = self.engine.poll_update() {
            let Update::Operation(OperationEvent::Ended(operation, outcome)) = update else { continue };
            if operation.producer == Producer::Dashboard {
                if !outcome.is_accepted() {
                    // The terminal may be gone, and then nobody is left to be told.
                    let _ = writeln!(io::stderr(), "warning: {}", harmless(&outcome_text(&operation, &outcome)));
                }
                // What has arrived is no draft.
                self.ui.ended(&operation, &outcome, &self.engine.fleet().view(clock::now()));
            }
        }
        self.leave_drafts().await;
        self.leave_choices().await;
    }

    fn draw(&mut self) -> Result<(), AppError> {
        let view = self.engine.fleet().view(self.now);
        self.tty.draw(|frame| self.ui.draw(frame, &view))?;
        match self.ui.title(&view) {
            Some(title) => self.tty.set_title(title)?,
            None => self.tty.give_title_back()?,
        }
        (self.last_frame, self.shown_at) = (Instant::now(), self.now);
        if std::mem::take(&mut self.is_key_frame) {
            self.last_key_frame = self.last_frame;
        }
        self.due = None;
        Ok(())
    }

    async fn on_event(&mut self, event: Option<io::Result<Event>>) -> Result<(), AppError> {
        let Some(Ok(event)) = event else {
            // The terminal is gone, and with it the operator.
            self.wants_to_end = true;
            return Ok(());
        };
        let away = self.engine.settings().poll.ticks.longest * AWAY;
        if self.last_event.replace(Instant::now()).is_none_or(|at| at.elapsed() >= away) {
            // What stands still is polled less often, until somebody comes back to it.
            self.engine.servers().iter().for_each(|server| self.engine.wake(server));
        }
        if let Event::Resize(..) = event {
            // A terminal that has its old size again may have cut what it showed.
            self.tty.clear();
        }
        let requests = self.ui.handle(&event, &self.engine.fleet().view(clock::now()));
        for request in requests {
            self.carry_out(request).await?;
        }
        if self.ui.has_opened() && self.lent.is_none() {
            // The next key of a burst may answer only what has been on the screen.
            self.now = clock::now();
            self.draw()?;
        }
        Ok(())
    }
}

/// The next event of the terminal; none ever comes while another program has it.
async fn next_event(events: &mut Option<EventStream>) -> Option<io::Result<Event>> {
    match events {
        Some(events) => {
            let next = |context: &mut std::task::Context<'_>| {
                // crossterm would read its end again and again, and nothing else would be heard.
                if terminal::is_gone() {
                    return std::task::Poll::Ready(None);
                }
                let event = Pin::new(&mut *events).poll_next(context);
                if event.is_pending() {
                    terminal::announce_rest();
                }
                event
            };
            poll_fn(next).await
        }
        None => std::future::pending().await,
    }
}

/// The notice of task sessions that were there before; `prune` is the key that removes what has ended, after a question.
fn found(sessions: &[FoundSession], prune: Option<&str>) -> String {
    let count = |session: &FoundSession| match (session.alive, session.dead) {
        (0, dead) => format!("{dead} ended in {}", session.name),
        // Which of them ask for something is not known yet.
        (alive, 0) => format!("{alive} in {}", session.name),
        (alive, dead) => format!("{alive} in {}, and {dead} that ended", session.name),
    };
    let message = format!("tasks from before: {}", sessions.iter().map(count).collect::<Vec<_>>().join("; "));
    let only_ended = sessions.iter().any(|session| session.alive == 0);
    match prune.filter(|_| only_ended) {
        Some(key) => format!("{message}; {key} removes what has ended"),
        None if only_ended => format!("{message}; `fleetwatch tasks prune` removes what has ended"),
        None => message,
    }
}

// What outlives the dashboard.

impl App {
    /// Tells on the first start how the dashboard calls; who has configured that, or where what it remembers is kept, knows.
    pub(super) fn introduce(&mut self) {
        let Config { ui, notify, history, .. } = &self.config;
        let is_usual = ui.bell && ui.title && notify.is_empty() && history.path.is_none();
        if is_usual && self.choices.file.is_some() {
            self.ui.introduce(clock::now());
        }
    }

    /// Keeps what is chosen, a moment after it was. Dashboards share pins and mutes; of the rest, the last change holds.
    pub(super) fn keep_choices(&mut self) {
        self.choices.follow(&mut self.ui);
        let Some(file) = self.choices.file.clone() else { return };
        let base = self.choices.read.0.clone();
        if let Some(why) = self
            .choices
            .keeper
            .follow(self.ui.choices(), Instant::now(), move |choices| keeper::write(&file, &base, choices))
        {
            self.complain(&format!("layout, columns and order are forgotten when the dashboard ends: {why}"));
        }
    }

    /// Keeps what was chosen last when the dashboard is left.
    pub(super) async fn leave_choices(&mut self) {
        let Some(file) = self.choices.file.clone() else { return };
        let base = self.choices.read.0.clone();
        self.choices.keeper.leave(self.ui.choices(), |choices| keeper::write(&file, &base, choices)).await;
    }

    /// Tells of drafts from the last time, for terminals that are there.
    pub(super) fn tell_of_drafts(&mut self) {
        let found = std::mem::take(&mut self.drafts.found);
        let keys = found.iter().filter_map(|draft| draft.key.as_ref());
        let terminals = keys.filter_map(|key| self.engine.fleet().terminal(key));
        let names: Vec<&str> = terminals.map(|terminal| terminal.state.terminal.id.as_str()).collect();
        if !names.is_empty() {
            let message = format!("drafts restored: {}", names.join(", "));
            self.ui.notify_about(Topic::Drafts, Status::Ready, message, clock::now());
        }
    }

    /// Keeps what has been written, a moment after it was.
    pub(super) fn keep_drafts(&mut self) {
        let Some(drafts) = self.drafts.drafts.clone() else { return };
        let keep = move |unsent: &Vec<Draft>| drafts.keep(unsent).map_err(io::Error::other);
        if let Some(why) = self.drafts.keeper.follow(self.ui.drafts(), Instant::now(), keep) {
            self.complain(&format!("drafts are lost when the dashboard ends: {why}"));
        }
    }

    /// Keeps what is left when the dashboard is.
    pub(super) async fn leave_drafts(&mut self) {
        let Some(drafts) = self.drafts.drafts.clone() else { return };
        let unsent = self.ui.drafts();
        self.drafts.keeper.leave(unsent, |unsent| drafts.keep(unsent).map_err(io::Error::other)).await;
    }
}
