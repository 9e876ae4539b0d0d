//! The dashboard as a program: one loop over keys, reports, outcomes and time; the only place that owns the terminal.

mod actors;
mod copy;
mod editor;
mod lending;
mod look;
mod outside;
mod reload;
mod requests;
mod signals;
mod tasks;
mod terminal;
mod waiting;

use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use ratatui::crossterm::event::{Event, EventStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::config::Config;
use crate::delivery::{Outside, Told};
use crate::feed::{self, Poller};
use crate::fleet::{self, Fleet, Input, ServerId};
use crate::history::{Answer, History, Questions, Rank, Submission};
use crate::moment::Moment;
use crate::profile::Library;
use crate::queue::Queue;
use crate::screen::harmless;
use crate::ui::{Options, Ui};
use actors::{Actors, News};
pub use look::{LookError, check_look};
use reload::Watch;
pub use reload::{Reading, Source};
use signals::Signals;
use terminal::Tty;

/// Reports that may wait until they are taken in; more than that and the pollers wait themselves.
const WAITING_REPORTS: usize = 64;
/// The shortest time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(33);
/// The shortest time between two frames at all; a key is answered within it.
const KEY_FRAME: Duration = Duration::from_millis(8);
/// How long the first frame waits for the first answers, so that it has something to show.
const FIRST_FRAME: Duration = Duration::from_millis(200);
/// How long the dashboard waits, when it is left, for prompts that are on their way.
const LAST_SENDS: Duration = Duration::from_secs(10);
/// Events of the terminal that are taken in before a frame is drawn.
const EVENTS_AT_ONCE: usize = 256;

/// What the dashboard shows.
#[derive(Clone, Debug)]
pub struct Settings {
    pub config: Config,
    pub library: Arc<Library>,
    pub servers: Vec<ServerId>,
    pub feed: feed::Settings,
    pub fleet: fleet::Settings,
    /// Where all of that comes from, to read it again.
    pub source: Source,
}

/// Why the dashboard could not be shown, or not any longer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the dashboard needs a terminal, and standard output is none")]
    NotATerminal,
    #[error(transparent)]
    Server(#[from] crate::tmux::Error),
    /// A keymap or theme of the operator's is wrong.
    #[error(transparent)]
    Look(#[from] LookError),
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    /// A part of the program panicked; its message has been printed.
    #[error("a part of fleetwatch broke down")]
    Panicked,
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Error::NotATerminal => "`fleetwatch list` and `fleetwatch watch` print to anything".to_owned(),
            Error::Server(error) => error.hint(),
            Error::Look(error) => error.hint.clone(),
            Error::Terminal(_) => "run it in a terminal of its own, not in the background".to_owned(),
            Error::Panicked => "please report what was printed above".to_owned(),
        }
    }
}

/// Shows the dashboard until the operator leaves it, the terminal goes away, or the system ends the program.
///
/// # Errors
/// There is no terminal, it cannot be used, or a server's name is not fit for a command line.
pub async fn run(settings: Settings) -> Result<(), Error> {
    terminal::check()?;
    let mut app = App::start(settings)?;
    app.run().await
}

struct App {
    fleet: Fleet,
    ui: Ui,
    actors: Actors,
    /// Prompts that wait until their agents are ready.
    queue: Queue,
    history: History,
    /// What other processes send.
    submissions: mpsc::UnboundedReceiver<Submission>,
    questions: Questions,
    answers: mpsc::UnboundedReceiver<Answer>,
    /// What holds now of the configuration.
    config: Config,
    library: Arc<Library>,
    watch: Watch,
    pollers: Vec<(ServerId, Poller)>,
    feed: feed::Settings,
    /// Where pollers send what they see, and where it arrives.
    reports: mpsc::Sender<Input>,
    inputs: mpsc::Receiver<Input>,
    news: mpsc::UnboundedReceiver<News>,
    outside: Outside,
    /// What became of what was told outside.
    told: mpsc::UnboundedReceiver<Told>,
    signals: Signals,
    /// Whoever holds the terminal reads its events; nobody else may.
    events: Option<EventStream>,
    tty: Tty,
    wants_to_end: bool,
    last_frame: Instant,
    /// When the next frame is to be drawn because something has changed; times change by themselves.
    due: Option<Instant>,
}

impl App {
    fn start(settings: Settings) -> Result<Self, Error> {
        let (reports, inputs) = mpsc::channel(WAITING_REPORTS);
        let (told, news) = mpsc::unbounded_channel();
        let (telling, told_outside) = mpsc::unbounded_channel();
        let mut pollers = Vec::new();
        let feed = feed::Settings { keeper: Some(feed::owner()), ..settings.feed.clone() };
        for server in &settings.servers {
            let library = Arc::clone(&settings.library);
            let poller = feed::spawn(feed.clone(), library, server.clone(), reports.clone())?;
            pollers.push((server.clone(), poller));
        }
        let look = look::options(&settings.config.ui, &settings.source.directories())?;
        let ui = Ui::new(Options { templates: settings.config.templates.clone(), ..look });
        let history = History::start(&settings.config.history);
        let (questions, answers) = history.questions(Arc::clone(&settings.library));
        let actors = Actors::new(&settings, history.clone(), told);
        let outside = Outside::start(&settings.config, &history, Rank::Dashboard, actors.sender(), telling);
        let signals = Signals::listen()?;
        let tty = Tty::take(settings.config.ui.mouse)?;
        Ok(Self {
            fleet: Fleet::new(settings.fleet.clone(), Arc::clone(&settings.library)),
            ui,
            actors,
            queue: Queue::default(),
            submissions: history.submissions(),
            questions,
            answers,
            history,
            watch: Watch::new(settings.source.clone(), &settings.config.ui.theme),
            config: settings.config.clone(),
            library: Arc::clone(&settings.library),
            pollers,
            feed,
            reports,
            inputs,
            news,
            outside,
            told: told_outside,
            signals,
            events: Some(EventStream::new()),
            tty,
            wants_to_end: false,
            last_frame: Instant::now(),
            due: None,
        })
    }

    async fn run(&mut self) -> Result<(), Error> {
        self.wait_for_first_answers().await;
        // What there is from the start is no news; what comes while the first frame is drawn is.
        self.tell_outside()?;
        self.draw()?;
        while !self.wants_to_end {
            self.wait().await?;
            self.follow().await?;
            self.tell_outside()?;
            if self.due.is_some_and(|due| due <= Instant::now()) {
                self.draw()?;
            }
            terminal::panic_on_request();
            if !self.tty.is_held() {
                return Err(Error::Panicked);
            }
        }
        self.finish().await;
        Ok(())
    }

    /// Gives the terminal back and lets the prompts that are on their way arrive, for no longer than a sender takes. What
    /// did not arrive is told where the operator is now.
    async fn finish(&mut self) {
        self.let_go();
        for unsent in self.leave_queue() {
            let _ = writeln!(io::stderr(), "warning: {}", harmless(&unsent));
        }
        let sends = async { tokio::join!(self.actors.finish(), self.outside.finish()) };
        let _ = tokio::time::timeout(LAST_SENDS, sends).await;
        self.leave_tasks().await;
        while let Ok(news) = self.news.try_recv() {
            if let News::Sent { name, sent, .. } = news
                && let Some(trouble) = Ui::trouble(&name, &sent)
            {
                // The terminal may be gone, and then nobody is left to be told.
                let _ = writeln!(io::stderr(), "warning: {}", harmless(&trouble));
            }
        }
    }

    /// Takes in reports until every server has answered once, or for so long that something must be shown.
    async fn wait_for_first_answers(&mut self) {
        let limit = Instant::now() + FIRST_FRAME;
        while self.fleet.view(feed::now()).servers.len() < self.pollers.len() {
            match tokio::time::timeout_at(limit, self.inputs.recv()).await {
                Ok(Some(input)) => self.take(input),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Waits until something happens, keys first, and takes in all that has happened by then.
    async fn wait(&mut self) -> Result<(), Error> {
        let wake = self.due.unwrap_or_else(|| self.wake_at());
        tokio::select! {
            biased;
            () = self.signals.end() => self.wants_to_end = true,
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
            Some(told) = self.told.recv() => {
                self.on_told(told);
                self.want_frame(FRAME);
            }
            Some(input) = self.inputs.recv() => {
                self.take(input);
                while let Ok(input) = self.inputs.try_recv() {
                    self.take(input);
                }
                self.want_frame(FRAME);
            }
            Some(submission) = self.submissions.recv() => {
                if let Some(input) = submission.input_for(&self.fleet, feed::now()) {
                    self.take(input);
                    self.want_frame(FRAME);
                }
            }
            Some(answer) = self.answers.recv() => {
                self.ui.told(&answer, &self.fleet.view(feed::now()));
                self.want_frame(KEY_FRAME);
            }
            () = tokio::time::sleep_until(wake) => self.want_frame(Duration::ZERO),
        }
        Ok(())
    }

    /// Asks for a frame as soon as the last one is old enough.
    fn want_frame(&mut self, distance: Duration) {
        let at = self.last_frame + distance;
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// When something will have changed by itself: a time on the frame, or the fleet.
    fn wake_at(&self) -> Instant {
        let now = feed::now();
        let frame = self.ui.wake_at(&self.fleet.view(now));
        let timeouts = [self.fleet.poll_timeout(), self.outside.poll_timeout(), self.queue.next_try(now)];
        let next = timeouts.into_iter().flatten().fold(frame, Moment::min);
        Instant::now() + Duration::from_millis(next.since(now).as_millis())
    }

    /// Lets the fleet and the dashboard follow the time and each other.
    async fn follow(&mut self) -> Result<(), Error> {
        let now = feed::now();
        if self.fleet.poll_timeout().is_some_and(|at| at <= now) {
            self.take(Input::TimePassed);
        }
        self.follow_files();
        if let Some(warning) = self.history.new_warning() {
            self.complain(&warning);
        }
        self.ui.set_history_trouble(self.history.health().trouble());
        for request in self.ui.update(&self.fleet.view(now)) {
            self.carry_out(request).await?;
        }
        self.serve_queue();
        Ok(())
    }

    fn take(&mut self, input: Input) {
        let now = match &input {
            // One that was on its way when its server was let go comes too late.
            Input::Server(report) if self.pollers.iter().all(|(server, _)| *server != report.server) => return,
            Input::Tasks(report) if self.pollers.iter().all(|(server, _)| *server != report.server) => return,
            Input::Server(report) => report.at,
            Input::Tasks(report) => report.at,
            _ => feed::now(),
        };
        self.tell_of_kills(&input, now);
        self.fleet.handle(input, now);
        while let Some(effect) = self.fleet.poll_effect() {
            self.history.effect(&effect, &self.fleet, now);
            self.follow_tasks(&effect);
            self.outside.effect(&effect, now);
        }
    }

    fn draw(&mut self) -> Result<(), Error> {
        let view = self.fleet.view(feed::now());
        self.tty.draw(|frame| self.ui.draw(frame, &view))?;
        self.last_frame = Instant::now();
        self.due = None;
        Ok(())
    }

    async fn on_event(&mut self, event: Option<io::Result<Event>>) -> Result<(), Error> {
        let Some(Ok(event)) = event else {
            // The terminal is gone, and with it the operator.
            self.wants_to_end = true;
            return Ok(());
        };
        let requests = self.ui.handle(&event, &self.fleet.view(feed::now()));
        for request in requests {
            self.carry_out(request).await?;
        }
        Ok(())
    }
}

/// What a future has ready, if anything. It is polled as the loop itself: the terminal's events wake whoever polled them last,
/// and one that is polled as nobody leaves the next key lying until something else happens.
async fn at_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// The next event of the terminal; none ever comes while another program has it.
async fn next_event(events: &mut Option<EventStream>) -> Option<io::Result<Event>> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::{Context, Wake, Waker};

    use super::*;

    struct Loop;

    impl Wake for Loop {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn the_events_of_the_terminal_wake_the_loop_after_they_were_drained() {
        let waker = Waker::from(Arc::new(Loop));
        let polled_by = Mutex::new(None);
        let nothing_yet = poll_fn(|context| {
            *polled_by.lock().unwrap() = Some(context.waker().clone());
            Poll::<()>::Pending
        });
        let drained = pin!(at_once(nothing_yet)).poll(&mut Context::from_waker(&waker));
        assert!(matches!(drained, Poll::Ready(None)));
        assert!(polled_by.lock().unwrap().as_ref().is_some_and(|found| found.will_wake(&waker)));
    }
}
