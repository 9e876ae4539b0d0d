//! `fleetwatch watch`: what changes, as it happens.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::future::ready;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use ratatui::crossterm::style::Color;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::Serialize;
use serde_json::{Value, json};

use super::console::color;
use super::history::{warn_of, word};
use super::list::{filter_of, keep_what_fits};
use super::output::end_asked_for;
use super::survey::Watched;
use super::{Done, Failure, GlobalOptions, console, output, queue};
use crate::app::kept_flags;
use crate::clock;
use crate::delivery::DeliveryEvent;
use crate::engine::{Engine, Update};
use crate::fleet::{Effect, Fleet, ServerHealth, ServerId, ServerView, Terminal, TerminalKey, TerminalTransition};
use crate::history::History;
use crate::notify::Suppression;
use crate::owner::Rank;
use crate::present::document::what_or_null;
use crate::present::filter::Filter;
use crate::present::flags::Flags;
use crate::present::item::Item;
use crate::present::{document, text};
use crate::record::{Body, Intent, IntentState, Stored, StoredInput};
use crate::repository::GitFacts;
use crate::screen::harmless;
use crate::state::{AgentFacts, Change, Evidence, Problem, State, Transition};
use crate::status::{Status, news};
use crate::task::{Happening, Task, TaskEvent, rang};
use crate::time::{Span, Timestamp};

/// Print a line for each terminal, then for each event.
///
/// Events are transitions, task events, inputs and follow-ups. It waits for a server that is not there yet, and goes on after one
/// that ends. Ctrl-C, SIGTERM or the end of whoever reads it ends it with exit code 0.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch watch --json")]
pub struct WatchArgs {
    /// Print only lines about what matches this filter, written as for `list`: by what it is then, or was last if it is gone.
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Print JSON lines: `{"at", "kind": "state", "transition", "facts", "task_event", "input" or "follow_up", "terminal", "state", …}`,
    /// with "changed" and "evidence" of a transition, "changed" of facts (at most each 5 s for a terminal), "event" of a task event, "sender", "input" (prompt, keys, answer), what
    /// was sent and "outcome" of an input, and of a follow-up "outcome" (queued, sent, unknown whether it arrived, expired,
    /// cancelled, resent, dismissed), "intent", its number, "text" and "events".
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

/// How often a detached process checks whether it is still used.
const ASK: Duration = Duration::from_secs(1);

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
    let mut printer = Printer { flags, ..Printer::new(args.json, filter) };
    let mut health = BTreeMap::new();
    let end = end_asked_for();
    tokio::pin!(end);
    let mut closed = output::closed();
    let idle = watched.loaded.config.watch.background_idle;
    let mut ask = tokio::time::interval(ASK);
    loop {
        let mut lines = String::new();
        tokio::select! {
            event = engine.next() => {
                engine.handle(event, clock::now());
                gather(engine).await;
            }
            Some(input) = inputs.recv() => lines = printer.input_line(&input, engine.fleet())?,
            _ = ask.tick(), if args.is_detached() => {
                if args.has_outlived_tmux() || (args.background && engine.unused_for() > idle) {
                    return Ok(ExitCode::SUCCESS);
                }
            }
            Some(()) = closed.recv(), if !args.is_detached() => return Ok(ExitCode::SUCCESS),
            _ = &mut end => return Ok(ExitCode::SUCCESS),
        }
        // Where no server is, there is nothing that an unknown field could be part of the name of.
        let is_silent = || engine.has_listed() && engine.fleet().servers().all(|it| it.health != ServerHealth::Up);
        if is_unchecked && (!engine.is_waiting() || is_silent()) {
            is_unchecked = false;
            keep_what_fits(&printer.filter, &mut engine.fleet().view(clock::now()), &printer.flags, "list")?;
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
        let bytes = engine.deliver(NOBODY, clock::now());
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
        lines.insert_str(0, &printer.lines(&updates, engine.fleet())?);
        lines.push_str(&printer.facts_lines(engine.fleet(), clock::now())?);
        if !args.is_detached()
            && let Err(error) = output::write_as(args.json, &lines)
        {
            return output::conclude(Err(error));
        }
    }
}

/// Takes in further reports for a moment: printing costs as much for many reports as for one.
async fn gather(engine: &mut Engine) {
    tokio::time::sleep(GATHERED).await;
    for _ in 0..GATHERED_REPORTS {
        let Some(event) = engine.try_next() else { return };
        engine.handle(event, clock::now());
    }
}

/// How long reports are gathered, and how many at most.
const GATHERED: Duration = Duration::from_millis(25);
const GATHERED_REPORTS: u32 = 256;

/// `watch` has no operator in front of it; only the configuration mutes.
pub(super) const NOBODY: Suppression<'_> =
    Suppression { looks_at: None, is_muted: &|terminal| terminal.declared.muted, is_task_muted: &|_| false };

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

/// The new problems of servers.
pub(super) fn new_problems(fleet: &Fleet, known: &mut BTreeMap<ServerId, ServerHealth>) -> Vec<(ServerId, Problem)> {
    let is_new =
        |server: &&ServerView| known.insert(server.id.clone(), server.health.clone()).as_ref() != Some(&server.health);
    let changed = fleet.servers().filter(is_new);
    changed.filter_map(|server| Some((server.id.clone(), server.health.problem()?.clone()))).collect()
}

/// Turns updates into lines.
pub(super) struct Printer {
    json: bool,
    zone: TimeZone,
    filter: Filter,
    /// What was pinned and muted when it began.
    flags: Flags,
    /// What the filter last let through.
    fitting: BTreeSet<TerminalKey>,
    /// The id under which each terminal was shown.
    shown: BTreeMap<TerminalKey, String>,
    /// The facts of each agent and its repository that were last printed, and when.
    printed: BTreeMap<TerminalKey, (AgentFacts, Option<Arc<GitFacts>>, Timestamp)>,
    /// When the facts of all agents were last gone through.
    facts_at: Timestamp,
    /// The cells of the longest name so far.
    widest: usize,
}

/// The most cells that a name is given, so that one long name does not push all others away; and those of a word.
const NAME: usize = 24;
/// See [`NAME`].
const WORD: usize = 11;

/// The shortest time between two lines of an agent's facts: tokens grow with each answer.
const FACTS: Span = Span::from_secs(5);
/// How often all agents are gone through for new facts.
const FACTS_EVERY: Span = Span::from_millis(500);

#[derive(Serialize)]
struct Transitioned<'a> {
    word: Option<Cow<'static, str>>,
    what: Option<String>,
    changed: &'a [Change],
    note: Option<&'a str>,
    evidence: &'a [Evidence],
}

/// One JSON line (SPEC §12) of a terminal or a task, with its state and what happened.
fn json_line(
    at: Timestamp,
    kind: &'static str,
    terminal: &str,
    state: impl Serialize,
    happened: Option<impl Serialize>,
) -> io::Result<String> {
    #[derive(Serialize)]
    struct TransitionLine<'a, S, H> {
        at: Timestamp,
        kind: &'static str,
        terminal: &'a str,
        state: S,
        #[serde(flatten)]
        happened: Option<H>,
    }
    output::json_line(&TransitionLine { at, kind, terminal, state, happened })
}

impl Printer {
    pub(super) fn new(json: bool, filter: Filter) -> Self {
        Self {
            json,
            zone: TimeZone::system(),
            filter,
            flags: Flags::default(),
            fitting: BTreeSet::new(),
            shown: BTreeMap::new(),
            printed: BTreeMap::new(),
            facts_at: Timestamp::default(),
            widest: 0,
        }
    }

    /// Whether the filter lets something through, by what it is now, or was last if it is gone.
    fn lets<'a>(&mut self, key: &TerminalKey, item: Option<impl Into<Item<'a>>>) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let Some(item) = item else { return self.fitting.remove(key) };
        let fits = self.filter.matcher(&self.flags, clock::now())(item.into());
        if fits {
            self.fitting.insert(key.clone());
        } else {
            self.fitting.remove(key);
        }
        fits
    }

    /// The lines for updates in the order of their times, each with its line feed.
    pub(super) fn lines(&mut self, updates: &[Update], fleet: &Fleet) -> io::Result<String> {
        let mut lines: Vec<(Timestamp, String)> = Vec::new();
        if !self.json && !updates.is_empty() {
            let view = fleet.view(clock::now());
            let widths = Item::all(&view).into_iter().map(|item| text::width(item.id()));
            self.widest = widths.chain([self.widest]).max().unwrap_or_default();
        }
        // The first line of a terminal includes all that its first poll reported, even transitions.
        let mut new = BTreeSet::new();
        for update in updates {
            let effect = match update {
                Update::Effect(effect) => effect,
                Update::Message(message) => {
                    if !message.is_old {
                        lines.push((clock::now(), self.follow_up_line(&message.intent, fleet)?));
                    }
                    continue;
                }
                Update::Delivery(DeliveryEvent::Trouble(trouble) | DeliveryEvent::Unclear(trouble)) => {
                    super::console::tell(&format!("warning: {}", harmless(trouble)));
                    continue;
                }
                Update::Refused(why) => {
                    Failure::refused(why).warn();
                    continue;
                }
                Update::Delivery(DeliveryEvent::FollowUp(_)) | Update::Operation(_) => continue,
            };
            match effect {
                Effect::Introduced { key } => {
                    let Some(terminal) = fleet.terminal(key) else { continue };
                    let id = &terminal.state.terminal.id;
                    let before = self.shown.insert(key.clone(), id.clone());
                    if before.is_none() {
                        new.insert(key.clone());
                    }
                    if self.lets(key, Some(terminal)) && before.as_ref() != Some(id) {
                        let at = terminal.state.observed_at;
                        lines.push((at, self.introduced_line(&terminal.state, before.as_deref())?));
                    }
                }
                Effect::Changed(changed) if new.contains(&changed.key) => {}
                Effect::Changed(changed) => {
                    if self.lets(&changed.key, fleet.terminal(&changed.key)) {
                        lines.extend(self.transition_line(changed)?.map(|line| (changed.transition.at, line)));
                    }
                }
                Effect::Left(left) => {
                    self.shown.remove(&left.key);
                    if self.lets(&left.key, None::<&Terminal>) {
                        lines.extend(self.transition_line(left)?.map(|line| (left.transition.at, line)));
                    }
                }
                Effect::TaskIntroduced { server, window } => {
                    if let Some(task) = fleet.task(server, *window)
                        && self.lets(&task.key, Some(task))
                    {
                        lines.push((task.since, self.task_line(task)?));
                    }
                }
                Effect::Tasks(batch) => {
                    for event in &batch.events {
                        if self.lets(&event.key, fleet.task(&event.key.server, event.window)) {
                            lines.push((event.at, self.task_event_line(event)?));
                        }
                    }
                }
                // Each of them already has a line.
                // Other effects are for the history.
                Effect::TasksFound { .. } | Effect::TaskChanged(_) | Effect::TaskLeft(_) => {}
            }
        }
        // One look shows what began at different times, and tmux servers answer in any order.
        lines.sort_by_key(|(at, _)| *at);
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    /// The lines for agents with new facts but the same state. People read those elsewhere.
    pub(super) fn facts_lines(&mut self, fleet: &Fleet, now: Timestamp) -> io::Result<String> {
        let mut lines = String::new();
        // What a new one is shown with must be noted before it changes.
        let has_new = self.shown.len() != self.printed.len();
        if !self.json || (now.since(self.facts_at) < FACTS_EVERY && !has_new) {
            return Ok(lines);
        }
        self.facts_at = now;
        let view = fleet.view(now);
        self.printed.retain(|key, _| self.shown.contains_key(key));
        for terminal in &view.terminals {
            if !self.shown.contains_key(&terminal.key) {
                continue;
            }
            let (id, facts, git) = (&terminal.state.terminal.id, &terminal.state.agent, &terminal.state.terminal.git);
            let Some((printed, printed_git, at)) = self.printed.get(&terminal.key) else {
                self.printed.insert(terminal.key.clone(), (facts.clone(), git.clone(), now));
                continue;
            };
            let mut changed = facts.changes_from(printed);
            if git != printed_git {
                changed.push(Change { field: "terminal.git".into(), from: json!(printed_git), to: json!(git) });
            }
            if changed.is_empty() || now.since(*at) < FACTS {
                continue;
            }
            if self.lets(&terminal.key, Some(*terminal)) {
                let (word, what) = said_of(&terminal.state);
                let happened = Transitioned { word: Some(word), what, changed: &changed, note: None, evidence: &[] };
                lines.push_str(&json_line(now, "facts", id, &terminal.state, Some(happened))?);
            }
            self.printed.insert(terminal.key.clone(), (facts.clone(), git.clone(), now));
        }
        Ok(lines)
    }

    pub(super) fn state_line(&self, state: &State) -> io::Result<String> {
        self.introduced_line(state, None)
    }

    /// The same of one that was shown under another name before.
    fn introduced_line(&self, state: &State, was: Option<&str>) -> io::Result<String> {
        let (at, id) = (state.observed_at, &state.terminal.id);
        let (word, what) = said_of(state);
        if self.json {
            let mut happened = json!({ "word": word, "what": what });
            if let Some(was) = was {
                happened["was"] = json!(was);
            }
            return json_line(at, "state", id, state, Some(happened));
        }
        let said = was.map(|was| format!("was called {was}")).into_iter().chain(what).collect::<Vec<_>>().join(" · ");
        Ok(self.line(at, id, &word, color(Status::of(state)), &said))
    }

    /// The line for a transition; none for people where it brings no news.
    fn transition_line(&self, printed: &TerminalTransition) -> io::Result<Option<String>> {
        let TerminalTransition { id, transition, state, .. } = printed;
        let at = transition.at;
        if self.json {
            let Transition { changed, note, evidence, .. } = transition;
            let (word, what) = state.as_ref().map(|state| said_of(state)).unzip();
            let happened = Transitioned { word, what: what.flatten(), changed, note: note.as_deref(), evidence };
            return json_line(at, "transition", id, state, Some(happened)).map(Some);
        }
        let news = news(transition);
        if news.is_empty() && transition.note.is_none() {
            return Ok(None);
        }
        let told = news.iter().find_map(|changed| changed.status);
        let status = state.as_deref().map(Status::of).or(told).unwrap_or(Status::Unknown);
        let what = state.as_deref().and_then(what_or_null).into_iter().chain(transition.note.clone());
        let what = what.collect::<Vec<_>>().join(" · ");
        Ok(Some(self.line(at, id, &status.word(), color(status), &what)))
    }

    pub(super) fn task_line(&self, task: &Task) -> io::Result<String> {
        let status = task.as_status();
        let word = status.word();
        if self.json {
            return json_line(task.since, "state", &task.id, task.fields(), Some(json!({ "word": word })));
        }
        let what = task.prompt().unwrap_or(task.command());
        Ok(self.line(task.since, &task.id, &word, color(status), what))
    }

    fn task_event_line(&self, event: &TaskEvent) -> io::Result<String> {
        if self.json {
            return json_line(event.at, "task_event", &event.id, &event.state, Some(&event.happening));
        }
        let status = Status::of_task(event.state.status, event.state.exit_code);
        Ok(self.line(event.at, &event.id, &status.word(), color(status), &beside_word(event)))
    }

    /// The line for a follow-up that is queued, takes in another event, or has ended.
    fn follow_up_line(&mut self, intent: &Intent, fleet: &Fleet) -> io::Result<String> {
        let at = clock::now();
        // An attempt has no result yet, and the outcome of a prompt is reported with its input.
        if intent.state == IntentState::Attempted || intent.recipient.is_some() {
            return Ok(String::new());
        }
        let told = Item::all(&fleet.view(at)).into_iter().find(|item| item.id() == intent.target);
        if !self.filter.is_empty() && !told.is_some_and(|told| self.lets(told.key(), Some(told))) {
            return Ok(String::new());
        }
        if self.json {
            let state = state_of(fleet, &intent.target, at);
            let mut line = json!({ "at": at, "kind": "follow_up", "state": state });
            if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), queue::fields(intent)) {
                line.extend(fields);
            }
            return output::json_line(&line);
        }
        let why = intent.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        let (number, word, text) = (intent.id.0, queue::word(intent.state), intent.message_text());
        let what = format!("{number} {word}{why}: {text}");
        Ok(self.line(at, &intent.target, "follow-up", Color::Blue, &what))
    }

    /// The line for what was sent into a terminal of this fleet, and its outcome; the same as in `history`.
    pub(super) fn input_line(&mut self, input: &Stored, fleet: &Fleet) -> io::Result<String> {
        let view = fleet.view(input.at);
        let is_here = |key: &TerminalKey| input.key.as_ref().is_some_and(|sent_to| key.may_be(sent_to));
        let meant = Item::all(&view).into_iter().find(|item| is_here(item.key()));
        if !meant.is_some_and(|meant| self.lets(meant.key(), Some(meant))) {
            return Ok(String::new());
        }
        if self.json {
            let mut line = document::of_record(input);
            line["state"] = json!(state_of(fleet, &input.name, input.at));
            return output::json_line(&line);
        }
        let what = input.body.what().replace(['\n', '\t'], " ");
        // Its outcome came later than it was asked for.
        let at = match &input.body {
            Body::Input(StoredInput { ended_at: Some(ended_at), .. }) => *ended_at,
            _ => input.at,
        };
        let (word, color) = word(input);
        Ok(self.line(at, &input.name, &word, color, &what))
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

/// What an agent is, and what it waits for or does if anything, for people.
fn said_of(state: &State) -> (Cow<'static, str>, Option<String>) {
    (Status::of(state).word(), what_or_null(state))
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

/// The public state of the terminal with this name.
fn state_of<'a>(fleet: &'a Fleet, name: &str, at: Timestamp) -> Option<&'a State> {
    let view = fleet.view(at);
    view.terminals.into_iter().map(|terminal| &terminal.state).find(|state| state.terminal.id == name)
}
