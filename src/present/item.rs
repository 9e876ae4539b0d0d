//! The subject of a row: an agent's terminal or a task, and what the tables say about it.

use super::text;
use crate::dialog::{Dialog, asked, asked_before, bare};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::ids::NamedPlace;
use crate::repository::GitFacts;
use crate::state::{
    AgentFacts, Attention, Availability, FactName, FactSource, KeptNote, Note, Phase, Since, State, TaskStatus,
    ended_in_words,
};
use crate::status::Status;
use crate::task::Task;
use crate::time::Timestamp;

/// What stands before each option of a dialog in its line.
pub const BEFORE_OPTION: &str = "   ";
/// How much of an option's text the line of a dialog shows, in characters.
const OPTION_SHOWN: usize = 18;
/// How much of a prompt stands before what its turn does now, in cells.
const PROMPT_SHOWN: usize = 48;

/// An agent's terminal or a task.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    Terminal(&'a Terminal),
    Task(&'a Task),
}

impl<'a> From<&'a Terminal> for Item<'a> {
    fn from(terminal: &'a Terminal) -> Self {
        Item::Terminal(terminal)
    }
}

impl<'a> From<&'a Task> for Item<'a> {
    fn from(task: &'a Task) -> Self {
        Item::Task(task)
    }
}

/// How many agents and how many tasks there are of each of [`Status::GROUPS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemCounts([[u32; 2]; Status::GROUPS.len()]);

impl ItemCounts {
    /// Counts one more.
    pub fn add(&mut self, item: Item<'_>) {
        self.0[item.status().place()][usize::from(matches!(item, Item::Task(_)))] += 1;
    }

    /// How many there are of a group.
    pub fn count(&self, group: Status) -> usize {
        self.0[group.place()].map(counted).iter().sum()
    }

    /// The sign of a group; running tasks have their own.
    pub fn sign_of(&self, group: Status) -> Status {
        if group.group() == Status::Working && self.0[group.place()][0] == 0 { Status::Running } else { group }
    }

    /// How many of a group there are, in the words of their rows: `3 finished, 1 exited 0`. A task that ended badly has failed,
    /// as `status` and the filter have it, whatever its code.
    pub fn words(&self, group: Status) -> String {
        let [agents, tasks] = self.0[group.place()].map(counted);
        let of_tasks = match group.group() {
            Status::Finished => Status::Exited(Some(0)).word(),
            Status::Working => Status::Running.word(),
            _ => return format!("{} {}", agents + tasks, group.group_word(agents + tasks)),
        };
        let words =
            [(agents, group.group_word(agents).into()), (tasks, of_tasks)].into_iter().filter(|(count, _)| *count > 0);
        words.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

fn counted(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl<'a> Item<'a> {
    /// What is so of an agent's terminal, or of a task, whichever it is.
    pub fn either<T>(self, of_agent: impl FnOnce(&'a Terminal) -> T, of_task: impl FnOnce(&'a Task) -> T) -> T {
        match self {
            Item::Terminal(terminal) => of_agent(terminal),
            Item::Task(task) => of_task(task),
        }
    }

    /// Everything that there is a row for.
    pub fn all(view: &View<'a>) -> Vec<Self> {
        let terminals = view.terminals.iter().copied().map(Item::Terminal);
        terminals.chain(view.tasks.iter().copied().map(Item::Task)).collect()
    }

    /// What has an identity.
    pub fn find(view: &View<'a>, key: &TerminalKey) -> Option<Self> {
        find(view, key).map(Item::Terminal).or_else(|| find_task(view, key).map(Item::Task))
    }

    /// The terminal of an agent.
    pub fn terminal(self) -> Option<&'a Terminal> {
        self.either(Some, |_| None)
    }

    /// Its identity.
    pub fn key(self) -> &'a TerminalKey {
        self.either(|terminal| &terminal.key, |task| &task.key)
    }

    /// Its unique name.
    pub fn id(self) -> &'a str {
        self.either(|terminal| &terminal.state.terminal.id, |task| &task.id)
    }

    /// The agent, or `task`.
    pub fn tool(self) -> &'a str {
        self.either(|terminal| terminal.state.terminal.tool.as_str(), |_| "task")
    }

    /// The agent and its version, or `task`.
    pub fn agent(self) -> String {
        let version = self.either(|terminal| terminal.state.terminal.observed_tool_version.as_deref(), |_| None);
        [Some(self.tool()), version].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The session that it is in.
    pub fn session(self) -> &'a str {
        self.either(|terminal| &terminal.place.session, |task| &task.session)
    }

    /// The directory that it is in.
    pub fn cwd(self) -> &'a str {
        match self {
            Item::Terminal(terminal) => terminal.state.terminal.cwd.as_deref().unwrap_or_default(),
            Item::Task(task) => task.pane.as_ref().and_then(|pane| pane.cwd.as_deref()).unwrap_or_default(),
        }
    }

    /// The git repository around that directory, as far as it is known.
    pub fn git(self) -> Option<&'a GitFacts> {
        self.either(|terminal| terminal.state.terminal.git.as_deref(), |_| None)
    }

    /// The directory, on this machine seen from `home`, and what git says of it: `~/shop-api (main* +12 -3)`.
    pub fn cwd_and_git(self, home: &str) -> String {
        let home = if self.key().server.host.is_none() { home } else { "" };
        let cwd = text::seen_from(home, self.cwd());
        match self.git().map(GitFacts::words).filter(|words| !words.is_empty()) {
            Some(words) => format!("{cwd} ({words})"),
            None => cwd,
        }
    }

    /// The branch that its directory has, with what differs there, else the one that the agent reports.
    pub fn branch(self) -> String {
        self.git().map_or_else(|| self.fact(FactName::Branch), GitFacts::words)
    }

    /// Where it is, as tmux takes it for a target.
    pub fn place(self) -> String {
        self.either(|terminal| terminal.place.target(), |task| format!("{}:{}", task.session, task.index))
    }

    /// Its host, unless that is this one, and its ids in tmux: for a task its window, and its pane.
    pub fn pane(self) -> String {
        let host = self.key().server.host.as_ref().map(|host| format!("{host}:"));
        let window = self.either(|_| None, |task| Some(format!("{} ", task.window)));
        [host, window, Some(self.key().pane.to_string())].into_iter().flatten().collect()
    }

    /// The label that the operator or the configuration gives it.
    pub fn label(self) -> Option<&'a str> {
        self.either(Terminal::label, |task| task.note.label.as_deref().or(task.shown.label.as_deref()))
    }

    /// What the operator says of it.
    pub fn note(self) -> &'a Note {
        self.either(|terminal| &terminal.note, |task| &task.note)
    }

    /// The same with whose it is, to keep.
    pub fn kept_note(self) -> KeptNote {
        let process = self.terminal().and_then(|terminal| terminal.process);
        KeptNote { key: self.key().clone(), process, note: self.note().clone() }
    }

    /// Its name without the one that the operator gives.
    pub fn own_name(self) -> String {
        self.either(Terminal::own_name, Task::own_name)
    }

    /// What a target that means it says of its place.
    pub fn named_by(self, target: &str) -> Option<NamedPlace> {
        self.either(|terminal| terminal.named_by(target), |task| task.named_by(target))
    }

    /// Whether the configuration wants it pinned, and whether it wants it muted.
    pub fn declared(self) -> (bool, bool) {
        match self {
            Item::Terminal(terminal) => (terminal.declared.pinned, terminal.declared.muted),
            Item::Task(task) => (task.shown.pinned, task.shown.muted),
        }
    }

    /// What it is to the operator.
    pub fn status(self) -> Status {
        self.either(|terminal| Status::of(&terminal.state), |task| task.as_status())
    }

    /// What runs in it, as tmux says it, or as a task was started.
    pub fn command(self) -> &'a str {
        self.either(|terminal| terminal.facts.command.as_str(), |task| task.command())
    }

    /// Since when its status holds.
    pub fn since(self) -> Since {
        self.either(|terminal| terminal.state.since(), |task| task.began())
    }

    /// Whether its pane is gone, so that the row tells of the past.
    pub fn is_of_the_past(self) -> bool {
        self.either(|terminal| terminal.state.is_unavailable(), |task| task.is_gone())
    }

    /// Whether it waited for the operator when its server ended.
    pub fn waited_before(self) -> bool {
        match self {
            Item::Terminal(terminal) => terminal.state.stale.as_ref().is_some_and(|stale| stale.asked.is_some()),
            Item::Task(task) => task.before().is_some_and(Status::needs_operator),
        }
    }

    /// Whether it had not ended before a time.
    pub fn went_on_until(self, at: Timestamp) -> bool {
        self.either(|terminal| self.since().at.max(terminal.state.turn.since) >= at, |task| !task.is_dead())
    }

    /// Since when it has needed the operator: when its dialog came up, or when its turn ended.
    pub fn waiting_since(self) -> Option<Timestamp> {
        let status = self.status();
        let since = self.since().at;
        match (status, self) {
            (Status::Failed | Status::Interrupted | Status::Finished, Item::Terminal(terminal)) => {
                terminal.state.last_turn.at.or(Some(since))
            }
            (Status::Failed | Status::Interrupted | Status::Finished, Item::Task(_)) => Some(since),
            _ => Some(since).filter(|_| status.wants_a_look()),
        }
    }

    /// How the last turn ended, or how often the task rang; nothing where neither is known.
    pub fn last(self) -> String {
        match self {
            Item::Terminal(terminal) => {
                let ended = Status::of_last_turn(&terminal.state.last_turn);
                ended.map_or_else(String::new, |status| status.word().into_owned())
            }
            Item::Task(task) => task.rings().unwrap_or_default(),
        }
    }

    /// Whether its screen stands still; empty after a single poll, which cannot tell.
    pub fn stable(self) -> &'static str {
        self.terminal().filter(|terminal| terminal.state.stability.stable).map_or("", |_| "stable")
    }

    /// Whether a turn is in flight.
    pub fn phase(self) -> String {
        self.terminal().map_or_else(String::new, |terminal| terminal.state.turn.phase.to_string())
    }

    /// Whether it can be watched and used at all.
    pub fn availability(self) -> String {
        self.terminal().map_or_else(String::new, |terminal| terminal.state.diagnostics.availability.to_string())
    }

    /// What is known of an agent beside its state.
    pub fn facts(self) -> Option<&'a AgentFacts> {
        self.either(|terminal| Some(&terminal.state.agent), |_| None)
    }

    /// A fact about an agent in words; `~` precedes an unsure one. Empty if unknown.
    pub fn fact(self, name: FactName) -> String {
        /// The most cells: a record may say anything.
        const CELLS: usize = 60;
        let fact = self.facts().and_then(|facts| facts.get(name));
        fact.map_or_else(String::new, |fact| {
            text::cut(&format!("{}{}", unsure(fact.source), fact.value), CELLS).into_owned()
        })
    }

    /// The tokens of its session in words, rounded; empty where they are not known.
    pub fn tokens(self) -> String {
        self.facts().and_then(AgentFacts::tokens).map_or_else(String::new, |tokens| {
            let source =
                [FactName::TokensIn, FactName::TokensOut].map(|name| self.facts()?.get(name).map(|it| it.source));
            let sign = source.into_iter().flatten().next().map_or("", unsure);
            format!("{sign}{}", text::rounded(tokens))
        })
    }

    /// The cost of its session in words; empty if unknown.
    pub fn cost(self) -> String {
        let Some(fact) = self.facts().and_then(|facts| facts.get(FactName::CostUsd)) else { return String::new() };
        format!("{}${}", unsure(fact.source), fact.value)
    }

    /// How much of its context an agent has left, in words; how much it uses where its size is not known, and nothing where
    /// that is not known either.
    pub fn context_left(self) -> String {
        let Some(facts) = self.facts() else { return String::new() };
        if let Some((left, source)) = facts.context_left() {
            return format!("{}{left}% left", unsure(source));
        }
        let used = facts.get(FactName::ContextUsed).zip(facts.count(FactName::ContextUsed));
        used.map_or_else(String::new, |(fact, used)| format!("{}{} used", unsure(fact.source), text::rounded(used)))
    }

    /// Why it cannot be polled, in words.
    pub fn trouble(self) -> Option<String> {
        self.either(|terminal| trouble(&terminal.state), |task| task.problem().map(|problem| problem.message.clone()))
    }

    /// Whether it cannot be read now, and waited for the operator when it was read last.
    pub fn asked_before(self) -> bool {
        let stale = self.terminal().filter(|_| self.status() == Status::Error).and_then(|it| it.state.stale.as_ref());
        stale.is_some_and(|stale| stale.asked.is_some())
    }

    /// What it waits for or does, in one line of its own words.
    pub fn what(self) -> String {
        self.either(|terminal| what_of_agent(&terminal.state, terminal.dialog.as_deref()), what_of_task)
    }

    /// The same with nothing cut.
    pub fn whole_what(self) -> String {
        match self {
            Item::Terminal(it) => told_of_agent(&it.state, it.dialog.as_deref(), (usize::MAX, usize::MAX)),
            Item::Task(task) => what_of_task(task),
        }
    }
}

/// A number about an agent, for filters and sorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The share of the context that is left, in percent.
    ContextLeft,
    /// The share of its plan that is done, in percent.
    PlanDone,
    /// Tokens read and written in the session.
    Tokens,
    /// What the session cost, in US dollars.
    Cost,
}

impl Measure {
    /// What it is of an agent, as far as that is known.
    pub fn of(self, item: Item<'_>) -> Option<f64> {
        let facts = item.facts()?;
        Some(match self {
            Self::ContextLeft => facts.context_left()?.0 as f64,
            Self::PlanDone => facts.plan().map(|plan| plan.done as f64 * 100.0 / plan.of as f64)?,
            Self::Tokens => facts.tokens()? as f64,
            Self::Cost => facts.cost()?,
        })
    }

    /// Whether smaller values sort first.
    pub const fn is_worth_when_small(self) -> bool {
        matches!(self, Self::ContextLeft | Self::PlanDone)
    }
}

/// Precedes a fact that nothing proves to be this agent's.
const fn unsure(source: FactSource) -> &'static str {
    match source {
        FactSource::Directory => "~",
        FactSource::Record | FactSource::Screen | FactSource::Sent => "",
    }
}

/// The words for an agent: its question with the options, the prompt that it works on and the running tool, the first sentence of
/// its answer, its error, or why there is nothing to see.
pub fn what_of_agent(state: &State, dialog: Option<&Dialog>) -> String {
    told_of_agent(state, dialog, (OPTION_SHOWN, PROMPT_SHOWN))
}

/// The same with so many cells of an option and of a prompt.
fn told_of_agent(state: &State, dialog: Option<&Dialog>, (option_cells, prompt_cells): (usize, usize)) -> String {
    if state.waits()
        && let Some(question) = asked(state, dialog)
    {
        let options = dialog.iter().flat_map(|dialog| &dialog.options);
        return options.fold(question, |line, option| {
            format!("{line}{BEFORE_OPTION}{} {}", option.name, text::cut(&option.label, option_cells))
        });
    }
    if let Some(trouble) = trouble(state) {
        // It may still ask what it asked when it was read last.
        let before = asked_before(state, dialog);
        let before =
            before.map(|question| format!("asked before: {question}")).or_else(|| done_before(state, prompt_cells));
        let is_cut_off = state.has_ended() && state.last_turn.is_cut_off();
        let trouble = if is_cut_off { format!("cut off in mid-turn · {trouble}") } else { trouble };
        return before.map_or(trouble.clone(), |before| format!("{before} · {trouble}"));
    }
    let [activity, ended, noted] =
        [&state.activity, &state.last_turn.detail, &state.operator.detail].map(|text| text.as_deref().map(bare));
    if state.turn.phase == Phase::Active {
        // The end of the last turn says nothing about an agent that goes on, such as the next attempt after a failure, even while
        // its line is the last on the screen.
        let doing =
            [activity, noted].into_iter().flatten().find(|text| !text.is_empty() && Some(text) != ended.as_ref());
        return working(state.works_on().map(bare), doing, prompt_cells);
    }
    let answer = state.answer().map(bare);
    // An answer above an error is not how the turn ended.
    let has_gone_wrong = matches!(state.attention, Attention::Failed | Attention::Interrupted);
    let said = match has_gone_wrong {
        true => [ended, activity, noted, answer],
        false => [answer, activity, ended, noted],
    };
    let said = said.into_iter().flatten().find(|text| !text.is_empty());
    first_sentence(&said.unwrap_or_default()).to_owned()
}

/// The prompt that one which cannot be read, or is gone, worked on when it was read last, or what it had answered; where neither is
/// known, in a word how it stood.
fn done_before(state: &State, cells: usize) -> Option<String> {
    let is_lost = matches!(state.diagnostics.availability, Availability::Error | Availability::Unavailable);
    let stale = state.stale.as_ref().filter(|_| is_lost)?;
    let said = match stale.phase {
        Phase::Active => state.works_on().or_else(|| cut_off_prompt(state)).map(bare),
        _ => state.answer().map(|answer| first_sentence(&bare(answer)).to_owned()),
    };
    let stood = || match stale.phase {
        Phase::Active => Some(Status::Working),
        phase => Status::of_last_turn(&state.last_turn).or((phase == Phase::Ready).then_some(Status::Ready)),
    };
    let known = said.filter(|said| !said.is_empty()).or_else(|| Some(stood()?.word().into_owned()))?;
    Some(format!("before: {}", text::cut(&known, cells)))
}

/// The prompt of the turn that was cut off.
fn cut_off_prompt(state: &State) -> Option<&str> {
    let began = state.last_turn.began.filter(|_| state.last_turn.is_cut_off())?;
    let is_of_it = state.agent.get(FactName::LastPrompt)?.at >= began;
    state.agent.text(FactName::LastPrompt).filter(|_| is_of_it)
}

/// The prompt of a turn and what it does now, each once.
fn working(prompt: Option<String>, doing: Option<String>, cells: usize) -> String {
    match (prompt.filter(|prompt| !prompt.is_empty()), doing) {
        (Some(prompt), Some(doing)) if !prompt.contains(&doing) && !doing.contains(&prompt) => {
            format!("{} · {doing}", text::cut(&prompt, cells))
        }
        (Some(prompt), _) => prompt,
        (None, doing) => doing.unwrap_or_default(),
    }
}

/// A text up to the end of its first sentence: a full stop or the like with a blank and no small letter behind it.
fn first_sentence(text: &str) -> &str {
    let ends = text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?')).map(|(at, c)| at + c.len_utf8());
    let is_end = |at: &usize| {
        let mut rest = text[*at..].chars();
        rest.next() == Some(' ') && rest.next().is_some_and(|next| !next.is_lowercase())
    };
    ends.into_iter().find(is_end).map_or(text, |at| &text[..at])
}

/// The words for a task: its question, else its last output, with its command behind that while it runs, else its command.
fn what_of_task(task: &Task) -> String {
    let printed = task.preview().useful(1).first().map(|line| line.trim().to_owned());
    let command = || task.command().to_owned();
    if let Some(problem) = task.problem() {
        let before = match task.prompt() {
            Some(prompt) => format!("asked before: {}", prompt.trim()),
            None => format!("before: {}", printed.unwrap_or_else(command)),
        };
        return format!("{before} · {}", problem.message);
    }
    match (task.prompt(), printed) {
        (Some(prompt), _) => prompt.trim().to_owned(),
        (None, Some(line)) if task.status == TaskStatus::Running => format!("{line} · {}", command()),
        (None, printed) => printed.unwrap_or_else(command),
    }
}

/// Why a terminal cannot be read, in words.
pub fn trouble(state: &State) -> Option<String> {
    let problem = state.diagnostics.probe_error.as_ref().or(state.diagnostics.parse_error.as_ref());
    let said = |otherwise: &str| state.activity.clone().unwrap_or_else(|| otherwise.to_owned());
    match state.diagnostics.availability {
        Availability::Available => None,
        Availability::TuiDown => Some(said(&ended_in_words(None))),
        Availability::Unavailable => Some(said("the pane is gone")),
        Availability::Error => Some(problem.map_or("cannot be read".to_owned(), |problem| problem.message.clone())),
        Availability::Unknown if state.is_suspended() => state.activity.clone(),
        Availability::Unknown => problem.map(|problem| problem.message.clone()),
    }
}

/// The terminal with an identity.
pub fn find<'a>(view: &View<'a>, key: &TerminalKey) -> Option<&'a Terminal> {
    view.terminals.iter().copied().find(|terminal| terminal.key == *key)
}

/// The task with an identity.
pub fn find_task<'a>(view: &View<'a>, key: &TerminalKey) -> Option<&'a Task> {
    view.tasks.iter().copied().find(|task| task.key == *key)
}

/// The task with an identity, as long as it takes keys.
pub fn find_live_task<'a>(view: &View<'a>, key: &TerminalKey) -> Option<&'a Task> {
    find_task(view, key).filter(|task| !task.is_dead() && !task.is_gone())
}
