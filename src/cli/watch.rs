//! `fleetwatch watch`: what changes, as it happens.

use std::collections::BTreeMap;
use std::fs::File;
use std::future::ready;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, ExitCode, Stdio};

use jiff::tz::TimeZone;
use ratatui::crossterm::style::Color;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::console::color;
use super::history::{warn_of, word};
use super::list::{filter_of, keep_what_fits};
use super::output::end_asked_for;
use super::survey::Watched;
use super::{Done, Failure, GlobalOptions, console, output, queue};
use crate::app::kept_flags;
use crate::clock;
use crate::engine::{Engine, Update};
use crate::fleet::{Fleet, ServerHealth, TerminalTransition};
use crate::history::History;
use crate::notify::Suppression;
use crate::owner::Rank;
use crate::present::document::what_or_null;
use crate::present::events::{Event, Events, new_problems, said_of};
use crate::present::filter::Filter;
use crate::present::item::Item;
use crate::present::text;
use crate::record::timeline::BEAT;
use crate::record::{Body, StoredInput};
use crate::screen::harmless;
use crate::status::{Status, news};
use crate::task::{Happening, TaskEvent, rang};
use crate::time::Timestamp;

/// Print a line for each terminal, then for each event.
///
/// Events are transitions, task events, inputs and follow-ups. The command waits for a server that has not started yet, and
/// goes on when one ends. It ends, with exit code 0, on Ctrl-C, on SIGTERM, or when nobody reads its output any more.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch watch --json")]
pub struct WatchArgs {
    /// Print only lines about what matches this filter, written as for `list`. What is gone matches by its last state.
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Print JSON lines: `{"at", "kind", "terminal", "state", …}`. A line of each kind has more fields: `state` none;
    /// `transition` "changed" and "evidence"; `facts` "changed" (at most every 5 s for a terminal); `task_event`
    /// "event"; `input` "sender", "input" (prompt, keys, answer), what was sent and "outcome"; `follow_up` its number
    /// "intent", "outcome" (queued, sent, unknown, expired, cancelled, resent, dismissed), "text" and "events".
    #[arg(long)]
    pub json: bool,
    /// Print nothing, and end when nobody has used what is watched for a time (`[watch] background`).
    #[arg(long, hide = true)]
    background: bool,
    /// Print nothing, ring where tmux is attached, and end with this process, the tmux server (`tmux/fleetwatch.tmux`).
    #[arg(long, hide = true, value_name = "PID", conflicts_with = "background")]
    for_tmux: Option<i32>,
}

impl WatchArgs {
    fn is_detached(&self) -> bool {
        self.background || self.for_tmux.is_some()
    }

    /// Whether the tmux server that started it has ended.
    fn has_outlived_tmux(&self) -> bool {
        let gone = |pid| Pid::from_raw(pid).is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH));
        self.for_tmux.is_some_and(gone)
    }
}

/// The warning where another process tells agents what happens, by its own rules.
pub(super) fn unused_rules() -> Failure {
    Failure::refused(
        "no [[follow_up]] of this configuration is used: another fleetwatch, which this one does not follow, acts",
    )
    .hint("end that one, or start it with this configuration")
}

/// Runs the command until Ctrl-C, SIGTERM, or until nobody reads its output any more.
///
/// # Errors
/// The configuration is wrong, tmux is missing, or standard output cannot be written.
pub async fn run(args: &WatchArgs, options: &GlobalOptions) -> Done {
    let filter = filter_of(&args.filter)?;
    let watched = if args.is_detached() { Watched::in_background(options)? } else { Watched::new(options)? };
    let rank = match (args.background, io::stderr().is_terminal()) {
        (true, _) => Rank::Background,
        (false, false) => Rank::Watch,
        (false, true) => Rank::Terminal,
    };
    let config = &watched.loaded.config;
    let history = History::start(&config.history);
    let has_terminal = args.for_tmux.is_some() || io::stderr().is_terminal();
    let settings = watched.watching(rank);
    let (mut engine, _) = Engine::start_acting(settings, &watched.servers, (config, &history), has_terminal)?;
    let done = print(args, filter, &watched, &mut engine, &history).await;
    // A message that is being sent to an agent arrives, or the next owner settles it.
    engine.leave(ready(())).await.iter().for_each(|left| super::console::tell(&format!("warning: {left}")));
    done
}

async fn print(args: &WatchArgs, filter: Filter, watched: &Watched, engine: &mut Engine, history: &History) -> Done {
    let mut inputs = history.inputs();
    let mut is_unchecked = !filter.is_empty();
    let flags = kept_flags(&watched.loaded.config.history);
    let mut events = Events::new(filter, flags);
    let mut printer = Printer::new();
    let mut health = BTreeMap::new();
    let end = end_asked_for();
    tokio::pin!(end);
    let mut closed = output::closed();
    let idle = watched.loaded.config.watch.background_idle;
    let mut ask = tokio::time::interval(BEAT.into());
    loop {
        if args.has_outlived_tmux() || (args.background && engine.unused_for() > idle) {
            return Ok(ExitCode::SUCCESS);
        }
        let mut sent = None;
        tokio::select! {
            event = engine.next() => {
                engine.handle(event, clock::now());
                gather(engine).await;
            }
            Some(input) = inputs.recv() => sent = Some(input),
            _ = ask.tick(), if args.is_detached() => {}
            Some(()) = closed.recv(), if !args.is_detached() => return Ok(ExitCode::SUCCESS),
            _ = &mut end => return Ok(ExitCode::SUCCESS),
        }
        // Where no server is, there is nothing that an unknown field could be part of the name of.
        let is_silent = || engine.has_listed() && engine.fleet().servers().all(|it| it.health != ServerHealth::Up);
        if is_unchecked && (!engine.is_waiting() || is_silent()) {
            is_unchecked = false;
            keep_what_fits(&events.filter, &mut engine.fleet().view(clock::now()), &events.flags, "list")?;
        }
        for (server, problem) in new_problems(engine.fleet(), &mut health) {
            let failure = tokio::select! {
                failure = watched.explain(&server, &problem) => failure,
                _ = &mut end => return Ok(ExitCode::SUCCESS),
            };
            // A server may still start, but a missing program will not appear.
            if matches!(problem.kind.as_str(), "tmux_missing" | "tmux_too_old" | "bad_name") {
                return Err(failure);
            }
            failure.warn();
        }
        warn_of(history);
        let bytes = engine.deliver(Suppression::NOBODY, clock::now());
        if args.for_tmux.is_none() {
            ring(&bytes);
        } else if !bytes.is_empty() {
            // A server that hangs must not hold up what is watched.
            std::thread::spawn(move || ring_clients(&bytes));
        }
        let updates: Vec<Update> = std::iter::from_fn(|| engine.poll_update()).collect();
        if !watched.loaded.config.follow_up.is_empty() && updates.iter().any(|it| matches!(it, Update::Refused(_))) {
            unused_rules().warn();
        }
        updates.iter().filter_map(Update::warning).for_each(|warning| Failure::refused(warning).warn());
        let (fleet, now) = (engine.fleet(), clock::now());
        if !args.json && !updates.is_empty() {
            printer.make_room(fleet);
        }
        let mut told = events.of(updates.iter().filter_map(Update::told), fleet, now);
        told.extend(sent.as_ref().and_then(|input| events.of_input(input, fleet, now)));
        let lines = if args.json {
            told.extend(events.of_facts(fleet, now));
            told.iter().map(Event::json).collect::<io::Result<String>>()?
        } else {
            told.iter().map(|event| printer.told(event)).collect()
        };
        if !args.is_detached()
            && let Err(error) = output::write_as(args.json, &lines)
        {
            return output::conclude(Err(error));
        }
    }
}

/// Takes in further reports, where there is news for a moment: printing costs as much for many reports as for one.
async fn gather(engine: &mut Engine) {
    match engine.has_updates() {
        true => tokio::time::sleep(clock::A_MOMENT).await,
        false => tokio::task::yield_now().await,
    }
    for _ in 0..GATHERED_REPORTS {
        let Some(event) = engine.try_next() else { return };
        engine.handle(event, clock::now());
    }
}

/// Reports that are gathered at most.
const GATHERED_REPORTS: u32 = 256;

/// Writes a bell or a notice to the operator's terminal on standard error, if it is one: standard output may be a pipe.
fn ring(bytes: &[u8]) {
    let mut terminal = io::stderr();
    if !bytes.is_empty() && terminal.is_terminal() {
        // The terminal may have been closed.
        let _ = terminal.write_all(bytes);
    }
}

/// The same to every terminal in which this tmux server is shown.
fn ring_clients(bytes: &[u8]) {
    let listed = Command::new("tmux").args(["list-clients", "-F", "#{client_tty}"]).stdin(Stdio::null()).output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    for path in String::from_utf8_lossy(&listed).lines() {
        // It must not become this process's own, and one that is stopped must not stop this process.
        let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
        let opened = File::options().write(true).custom_flags(flags).open(path);
        if let Ok(mut terminal) = opened
            && terminal.is_terminal()
        {
            // It may be closed meanwhile.
            let _ = terminal.write_all(bytes);
        }
    }
}

/// The most cells that a name is given, so that one long name does not push all others away; and those of a word.
const NAME: usize = 24;
/// See [`NAME`].
const WORD: usize = 11;

/// Turns events into lines for people.
struct Printer {
    zone: TimeZone,
    /// The cells of the longest name so far.
    widest: usize,
}

impl Printer {
    fn new() -> Self {
        Self { zone: TimeZone::system(), widest: 0 }
    }

    /// Gives names as much room as the longest one of a fleet needs.
    fn make_room(&mut self, fleet: &Fleet) {
        let view = fleet.view(clock::now());
        let widths = Item::all(&view).into_iter().map(|item| text::width(item.id()));
        self.widest = widths.chain([self.widest]).max().unwrap_or_default();
    }

    /// The line for an event; empty for a transition that brings no news, and for facts, which people read elsewhere.
    fn told(&self, event: &Event<'_>) -> String {
        match event {
            Event::State { state, was } => {
                let (word, what) = said_of(state);
                let said = was.as_ref().map(|was| format!("was called {was}")).into_iter().chain(what);
                let said = said.collect::<Vec<_>>().join(" · ");
                self.line(state.observed_at, &state.terminal.id, &word, color(Status::of(state)), &said)
            }
            Event::Task(task) => {
                let (status, what) = (task.as_status(), task.prompt().unwrap_or(task.command()));
                self.line(task.since, &task.id, &status.word(), color(status), what)
            }
            Event::Transition(TerminalTransition { id, transition, state, .. }) => {
                let news = news(transition);
                if news.is_empty() && transition.note.is_none() {
                    return String::new();
                }
                let told = news.iter().find_map(|changed| changed.status);
                let status = state.as_deref().map(Status::of).or(told).unwrap_or(Status::Unknown);
                let what = state.as_deref().and_then(what_or_null).into_iter().chain(transition.note.clone());
                let what = what.collect::<Vec<_>>().join(" · ");
                self.line(transition.at, id, &status.word(), color(status), &what)
            }
            Event::Facts { .. } => String::new(),
            Event::TaskEvent(event) => {
                let status = Status::of_task(event.state.status, event.state.exit_code);
                self.line(event.at, &event.id, &status.word(), color(status), &beside_word(event))
            }
            Event::FollowUp { at, intent, .. } => {
                let why = intent.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
                let (number, word, text) = (intent.id.0, queue::word(intent.state), intent.message_text());
                let what = format!("{number} {word}{why}: {text}");
                self.line(*at, &intent.target, "follow-up", Color::Blue, &what)
            }
            Event::Input { input, .. } => {
                let what = input.body.what().replace(['\n', '\t'], " ");
                // Its outcome came later than it was asked for.
                let at = match &input.body {
                    Body::Input(StoredInput { ended_at: Some(ended_at), .. }) => *ended_at,
                    _ => input.at,
                };
                let (word, color) = word(input);
                self.line(at, &input.name, &word, color, &what)
            }
        }
    }

    /// What happened to a terminal or task, for people: in columns, as in a log.
    fn line(&self, at: Timestamp, name: &str, word: &str, color: Color, what: &str) -> String {
        let clock = at.in_zone(&self.zone).map(|local| local.strftime("%H:%M:%S.%3f").to_string());
        let (clock, name, what) = (clock.unwrap_or_else(|| at.to_string()), harmless(name), harmless(what));
        let blanks = |cells: usize, text: &str| " ".repeat(cells.saturating_sub(text::width(text)));
        let (behind_name, behind_word) = (blanks(self.widest.min(NAME), &name), blanks(WORD, word));
        let word = console::painted(word, Some(color));
        let line = format!("{clock}  {name}{behind_name}  {word}{behind_word}  {what}");
        console::wrapped(&format!("{}\n", line.trim_end()))
    }
}

/// What happened to a task beside what its word says.
fn beside_word(event: &TaskEvent) -> String {
    match &event.happening {
        Happening::Exited { bells: 0, .. } => event.preview.useful(1).concat(),
        Happening::Exited { bells, .. } => rang(*bells),
        Happening::Input { prompt } => prompt.trim().to_owned(),
        Happening::Disappeared { reason } => reason.clone().unwrap_or_default(),
        Happening::Started | Happening::Notify { .. } => event.happening.text(),
    }
}
