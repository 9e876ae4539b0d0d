//! The subject of the view: an agent's terminal or a task, as last seen, and everything that is known of it.

use std::collections::VecDeque;
use std::sync::Arc;

use ratatui::prelude::{Buffer, Line, Rect};

use super::texts::worded;
use crate::fleet::{ServerHealth, Terminal, TerminalKey, View};
use crate::record::question::{SessionFile, StoredScreen};
use crate::repository::GitFacts;
use crate::screen::{KeptScreen, PaneFacts, Screen};
use crate::state::{FactName, FactSource};
use crate::status::{Status, last_turn_in_words};
use crate::task::{Preview, Task};
use crate::time::Timestamp;
use crate::ui::composer::Composer;
use crate::ui::dialog::DialogBox;
use crate::ui::{Action, Canvas, Context, Flow, Item, OverlayContext, blank, field, line, right, span, text, times};

/// A terminal, as long as it is there and afterwards.
#[derive(Clone, Debug)]
pub enum Subject {
    Agent(Box<Terminal>),
    Task {
        task: Box<Task>,
        /// The last lines of its output.
        output: KeptScreen,
    },
}

impl Subject {
    pub fn agent(terminal: &Terminal) -> Self {
        // Its transitions are in the list.
        Self::Agent(Box::new(Terminal { transitions: VecDeque::new(), ..terminal.clone() }))
    }

    pub fn task(task: &Task) -> Self {
        Self::Task { task: Box::new(task.clone()), output: Arc::new(output(&task.preview())).into() }
    }

    /// Its present state; `None` when it is gone.
    pub fn now(&self, view: &View<'_>) -> Option<Self> {
        match self {
            Self::Agent(known) => crate::ui::find(view, &known.key).map(Self::agent),
            Self::Task { task: known, output } => {
                let task = crate::ui::find_task(view, &known.key)?;
                // The same output stays the same, so that nobody reads it anew.
                let same = task.preview() == known.preview();
                Some(if same {
                    Self::Task { task: Box::new(task.clone()), output: output.clone() }
                } else {
                    Self::task(task)
                })
            }
        }
    }

    /// What it is, as the table has it.
    pub fn item(&self) -> Item<'_> {
        match self {
            Self::Agent(terminal) => Item::Terminal(terminal),
            Self::Task { task, .. } => Item::Task(task),
        }
    }

    pub fn key(&self) -> &TerminalKey {
        self.item().key()
    }

    pub fn name(&self) -> &str {
        self.item().id()
    }

    /// Why a task stands as it does; `None` for an agent, whose reasons are asked for.
    pub fn why_task(&self, now: Timestamp) -> Option<String> {
        match self {
            Self::Agent(_) => None,
            Self::Task { task, .. } => Some(task.why(now)),
        }
    }

    /// Whether a dialog of an agent has the keys.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Agent(terminal) if terminal.state.waits())
    }

    /// Gives way to its prompt or its dialog. The table's cursor may have gone on to another row meanwhile, where a
    /// filter lets this one through no longer.
    pub fn act(&self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match self {
            Self::Task { task, .. } => {
                let jump = cx.options.keymap.key_for(Context::Drill, Action::Jump);
                let there = jump.map(|jump| format!("; go there to type ({jump})")).unwrap_or_default();
                cx.tell(Status::Unknown, format!("{} is a task{there}", task.id));
                Flow::Stay
            }
            Self::Agent(agent) if action == Action::Open && self.waits() => {
                Flow::Become(Box::new(DialogBox::new(agent, None)))
            }
            Self::Agent(agent) if action != Action::Prompt && self.waits() => {
                let mut dialog = DialogBox::meaning(agent, action, None);
                dialog.offer_draft(cx.memory);
                Flow::Become(Box::new(dialog))
            }
            Self::Agent(agent) => match Composer::refused(agent) {
                Some(why) => cx.refuse(&why),
                None => Flow::Become(Box::new(Composer::new(agent.key.clone(), cx.memory))),
            },
        }
    }

    /// What the head shows of it beside its name, most important first.
    fn about(&self, home: &str) -> Vec<String> {
        let item = self.item();
        let (what, id) = match self {
            Self::Agent(terminal) => (item.agent(), terminal.key.pane.to_string()),
            Self::Task { task, .. } => {
                let command = task.pane.as_ref().map_or("", |pane| pane.command.as_str());
                (format!("task {command}"), task.window.to_string())
            }
        };
        let parts = [what, format!("{id} {}", item.place()), item.cwd_and_git(home)];
        parts.into_iter().filter(|text| !text.trim().is_empty()).collect()
    }

    /// What it shows now.
    pub fn screen(&self) -> Option<&KeptScreen> {
        match self {
            Self::Agent(terminal) => terminal.screen.as_ref(),
            Self::Task { output, .. } => Some(output),
        }
    }

    /// Its state with a screen, to be read as a dialog.
    pub fn shown(&self, screen: Arc<Screen>) -> StoredScreen {
        match self {
            Self::Agent(terminal) => {
                let Terminal { state, facts, .. } = &**terminal;
                let (tool, version) = (state.terminal.tool.clone(), state.terminal.observed_tool_version.clone());
                StoredScreen { screen, facts: facts.clone(), tool, version }
            }
            Self::Task { .. } => {
                StoredScreen { screen, facts: PaneFacts::default(), tool: String::new(), version: None }
            }
        }
    }

    /// The file in which the agent keeps what was said, if it is known.
    pub fn session_file(&self) -> Option<SessionFile> {
        let Self::Agent(terminal) = self else { return None };
        let path = terminal.state.agent.text(FactName::Transcript)?.into();
        Some(SessionFile { path, tool: terminal.state.terminal.tool.clone() })
    }

    /// Everything else that is known of it.
    pub fn facts(&self, canvas: &Canvas<'_>, view: &View<'_>) -> Vec<Line<'static>> {
        match self {
            Self::Agent(terminal) => of_agent(canvas, terminal, view),
            Self::Task { task, .. } => of_task(canvas, task, view),
        }
    }
}

fn output(preview: &Preview) -> Screen {
    Screen::from_text(&preview.lines().join("\n"), u16::MAX)
}

/// The facts of an agent's terminal as lines.
pub fn of_agent(canvas: &Canvas<'_>, terminal: &Terminal, view: &View<'_>) -> Vec<Line<'static>> {
    let mut facts = Facts { canvas, lines: Vec::new() };
    pane(&mut facts, terminal, view);
    agent(&mut facts, terminal);
    recorded(&mut facts, terminal);
    lifecycle(&mut facts, terminal);
    facts.lines
}

/// The facts of a task as lines.
pub fn of_task(canvas: &Canvas<'_>, task: &Task, view: &View<'_>) -> Vec<Line<'static>> {
    let mut facts = Facts { canvas, lines: Vec::new() };
    facts.heading("Task");
    facts.put("name", task.id.clone());
    noted(&mut facts, task);
    facts.put("window", format!("{}:{} {} ({})", task.session, task.index, task.name, task.window));
    facts.put("status", format!("{} for {}", task.status, times::lasting(task.began(), canvas.now)));
    facts.put("prompt", task.prompt().unwrap_or_default());
    facts.put("runs since", format!("{} ago", canvas.now.since(task.started_at).rounded()));
    let code = task.exit_code().map(|code| code.to_string());
    facts.put("exit code", code.unwrap_or_else(|| if task.is_dead() { "not known" } else { "–" }.to_owned()));
    facts.put("bells", task.bells.to_string());
    let started = if task.registration.at().is_some() { "by fleetwatch run" } else { "by somebody else" };
    facts.put("started", started);
    facts.heading("Pane");
    let known = if task.known { "yes" } else { "not in the last poll" };
    facts.put("pane", format!("{}, known: {known}", task.key.pane));
    facts.put("pid of the pane", task.key.pid.to_string());
    let pane = task.pane.as_ref();
    facts.put("command", pane.map(|pane| pane.command.clone()).unwrap_or_default());
    facts.put("directory", pane.and_then(|pane| pane.cwd.clone()).unwrap_or_default());
    server(&mut facts, &task.key, view);
    facts.lines
}

struct Facts<'a, 'c> {
    canvas: &'a Canvas<'c>,
    lines: Vec<Line<'static>>,
}

impl Facts<'_, '_> {
    fn heading(&mut self, text: &str) {
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        self.lines.push(span(text, self.canvas.theme.parts.title).into());
    }

    fn put(&mut self, name: &str, value: impl AsRef<str>) {
        let parts = &self.canvas.theme.parts;
        let value = Some(span(value, parts.text)).filter(|value| !value.content.trim().is_empty());
        let value = value.unwrap_or_else(|| span("–", parts.text));
        self.lines.push(vec![span(format!("  {name:<20} "), parts.quiet), value].into());
    }

    /// The same of a name of the contract, for people.
    fn word(&mut self, name: &str, word: &str) {
        self.put(name, worded(word));
    }
}

fn pane(facts: &mut Facts<'_, '_>, terminal: &Terminal, view: &View<'_>) {
    let (key, known) = (&terminal.key, &terminal.state.terminal);
    facts.heading("Pane");
    facts.put("name", known.id.clone());
    noted(facts, terminal);
    facts.put("place", format!("{} ({})", terminal.place.target(), key.pane));
    facts.put("session, window", [&known.session, &known.window].map(|it| it.clone().unwrap_or_default()).join(", "));
    facts.put("title", known.title.clone());
    facts.put("directory", known.cwd.clone().unwrap_or_default());
    let size = terminal.screen().map(|screen| format!("{}×{}", screen.columns(), screen.rows().len()));
    facts.put("size", size.unwrap_or_default());
    server(facts, key, view);
    if let Some(git) = &known.git {
        repository(facts, git);
    }
}

/// What the operator has noted of it, if anything.
fn noted<'a>(facts: &mut Facts<'_, '_>, item: impl Into<Item<'a>>) {
    let item = item.into();
    let own = item.note().name.as_ref().map(|_| item.own_name());
    let said = [("own name", own.as_deref()), ("label", item.label())];
    said.into_iter().for_each(|(name, said)| said.into_iter().for_each(|said| facts.put(name, said)));
}

/// The repository around its directory.
fn repository(facts: &mut Facts<'_, '_>, git: &GitFacts) {
    let counted = |count: Option<u64>| count.map_or_else(|| "not known".to_owned(), |count| count.to_string());
    facts.heading("Git");
    facts.put("working tree", git.root.clone());
    facts.put("branch", git.branch.clone().unwrap_or_else(|| "none, a commit is checked out".to_owned()));
    facts.put("commit", git.head.clone().unwrap_or_else(|| "none yet".to_owned()));
    let upstream = git.ahead.zip(git.behind).map(|(ahead, behind)| format!("{ahead} ahead, {behind} behind"));
    facts.put("upstream", upstream.unwrap_or_else(|| "none".to_owned()));
    let (added, removed) = (counted(git.added), counted(git.removed));
    facts.put("changed files", format!("{} (+{added} -{removed})", counted(git.changed)));
    facts.put("untracked", counted(git.untracked));
    facts.put("so since", format!("{} at least", facts.canvas.now.since(git.at).rounded()));
}

fn server(facts: &mut Facts<'_, '_>, key: &TerminalKey, view: &View<'_>) {
    facts.heading("Server");
    facts.put("server", key.server.to_string());
    facts.put("host", key.server.host.as_deref().unwrap_or("this machine"));
    facts.put("socket", key.server.socket.to_string());
    if let Some(server) = view.servers.iter().find(|server| server.id == key.server) {
        let health = match &server.health {
            ServerHealth::Waiting => "has not answered yet".to_owned(),
            ServerHealth::Up => "answers".to_owned(),
            ServerHealth::NoServer(problem) | ServerHealth::Failed(problem) => problem.message.clone(),
        };
        let answered = server.answered_at.map(|at| format!(", last {} ago", view.now.since(at).rounded()));
        facts.put("health", health + &answered.unwrap_or_default());
        facts.put("terminals", server.terminals.to_string());
    }
}

fn agent(facts: &mut Facts<'_, '_>, terminal: &Terminal) {
    let (state, pane) = (&terminal.state, &terminal.facts);
    facts.heading("Process and profile");
    facts.put("pid of the pane", terminal.key.pid.to_string());
    facts.put("foreground command", pane.command.clone());
    let dead = match (pane.dead, pane.exit_status) {
        (false, _) => "runs".to_owned(),
        (true, None) => "has ended".to_owned(),
        (true, Some(code)) => format!("has ended with code {code}"),
    };
    facts.put("program", dead);
    facts.put("agent", Item::from(terminal).agent());
    if let Some(wrapper) = &state.terminal.through {
        facts.put("read through", format!("{wrapper}: only its screen is seen"));
    }
    facts.put("profile", state.terminal.profile.clone().unwrap_or_else(|| "none".to_owned()));
    let anomalies = state.assessment.anomalies.iter().map(|it| it.word()).collect::<Vec<_>>().join(", ");
    facts.word("anomalies", &anomalies);
    let diagnostics = &state.diagnostics;
    facts.word("availability", diagnostics.availability.word());
    facts.word("transport", diagnostics.transport_state.word());
    facts.word("process", diagnostics.process_state.word());
    facts.word("parsing", diagnostics.parse_status.word());
    for problem in [&diagnostics.probe_error, &diagnostics.parse_error].into_iter().flatten() {
        facts.put(&worded(&problem.kind), problem.message.clone());
    }
    facts.put("read", format!("{} ago", facts.canvas.now.since(state.observed_at).rounded()));
}

/// Draws the head line. Name and state are always there; of the rest, what fits.
pub(super) fn draw_head(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    subject: &Subject,
    here: bool,
    until: Timestamp,
) {
    let parts = &canvas.theme.parts;
    let (status, since) = (subject.item().status(), subject.item().since());
    let status = if here { status } else { Status::Gone };
    let message = match here {
        true => format!("{} for {}", status.word(), times::lasting(since, until)),
        false => "left the fleet".to_owned(),
    };
    let state = format!("{} {message}", canvas.glyph(status));
    let room = usize::from(area.width);
    let state_cells = text::width(&state).min(room / 2);
    let name_cells = text::width(subject.name()).min(room.saturating_sub(state_cells + 4));
    let about_cells = room.saturating_sub(name_cells + state_cells + 7);
    let (name, state) =
        (field(subject.name(), name_cells, parts.title), right(state, state_cells, canvas.theme.style(status)));
    let about = field(subject.about(canvas.home).join(" · "), about_cells, parts.quiet);
    line::draw(buffer, area, vec![blank(1), name, blank(3), about, blank(2), state]);
}

/// What is known of the agent beside its state, and from where.
fn recorded(facts: &mut Facts<'_, '_>, terminal: &Terminal) {
    let known = &terminal.state.agent;
    if known.is_empty() {
        return;
    }
    facts.heading("Agent");
    for (name, fact) in known.iter().filter(|(_, fact)| !fact.value.to_string().is_empty()) {
        let source = match fact.source {
            FactSource::Record => "its record",
            FactSource::Directory => "a record in its directory, perhaps another agent's",
            FactSource::Screen => "its screen",
            FactSource::Sent => "as fleetwatch sent it",
        };
        let age = facts.canvas.now.since(fact.at).rounded();
        let doing = known.plan().filter(|_| name == FactName::Plan).and_then(|plan| plan.doing.clone());
        let doing = doing.map(|doing| format!(": {doing}")).unwrap_or_default();
        facts.put(&name.word().replace('_', " "), format!("{}{doing} ({source}, {age} ago)", fact.value));
    }
    if let Some((left, _)) = known.context_left() {
        facts.put("context left", format!("{left} %"));
    }
}

fn lifecycle(facts: &mut Facts<'_, '_>, terminal: &Terminal) {
    let (state, now) = (&terminal.state, facts.canvas.now);
    let (turn, last, operator) = (&state.turn, &state.last_turn, &state.operator);
    facts.heading("Turn");
    facts.put("phase", format!("{} for {}", turn.phase, times::lasting(turn.began(), now)));
    facts.word("background work", turn.background_work.word());
    let ended = last.at.map(|at| format!(", {} ago", now.since(at).rounded())).unwrap_or_default();
    facts.put(
        "last turn",
        match last_turn_in_words(last) {
            None => "–".to_owned(),
            Some(words) => format!("{words}{ended}"),
        },
    );
    if let Some(detail) = &last.detail {
        facts.put("", detail.clone());
    }
    facts.word("readiness", operator.readiness.word());
    facts.word("completion", operator.completion.word());
    facts.word("status", operator.status.word());
    facts.put("detail", operator.detail.clone().unwrap_or_default());
    let stability = &state.stability;
    let since = now.since(stability.stable_since).rounded();
    facts.put("stable", format!("{} for {since}", if stability.stable { "yes" } else { "not yet" }));
}
