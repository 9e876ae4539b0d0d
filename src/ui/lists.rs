//! Lists to pick one entry from: every action of the table with its key, what can be copied, which sessions are
//! tasks, how servers answer, and the prompts and follow-ups that wait or may not have arrived.

use std::cmp::Reverse;

use jiff::tz::TimeZone;

use super::action::words_for;
use super::confirm::Confirm;
use super::help::ExplanationView;
use super::keymap::{Binding, show};
use super::picker::{MenuEntry, Picker};
use super::request::Decision;
use super::{Action, Context, Copied, Filter, Flow, Keymap, OverlayContext, Request, Theme, text, times};
use crate::fleet::{DeclaredBy, ServerHealth, ServerView, SessionView, Terminal, TerminalKey, View};
use crate::present::arrangement::{Grouping, Sort};
use crate::record::{Intent, IntentId, IntentState};

/// Actions only the list of commands has, because they are rare.
pub(super) const RARE: [Action; 13] = [
    Action::FollowUps,
    Action::Label,
    Action::Copy,
    Action::MarkAll,
    Action::Fold,
    Action::MuteAll,
    Action::Rename,
    Action::Columns,
    Action::RerunTask,
    Action::PruneTasks,
    Action::TaskSessions,
    Action::Servers,
    Action::Reload,
];

/// Every command with its key, those first that `here` names: what the selected row offers. What would do nothing now
/// stands last, with why. Behind them stand the orders, the groupings and the themes.
pub fn palette(
    keymap: &Keymap,
    here: &[Action],
    why_not: impl Fn(Action) -> Option<String>,
    orders: Vec<Sort>,
) -> Picker {
    let of = |keymap: &Keymap| -> Vec<Binding> { keymap.bindings(Context::Fleet).cloned().collect() };
    let (shipped, live) = (of(&Keymap::shipped()), of(keymap));
    let mut actions: Vec<Action> = Vec::new();
    for action in shipped.iter().chain(&live).filter_map(|binding| binding.action).chain(RARE) {
        if !actions.contains(&action) && !matches!(action, Action::Palette | Action::Close) {
            actions.push(action);
        }
    }
    let place = |action: &Action| here.iter().position(|offered| offered == action).unwrap_or(usize::MAX);
    let mut actions: Vec<(Option<String>, Action)> =
        actions.into_iter().map(|action| (why_not(action), action)).collect();
    actions.sort_by_key(|(why, action)| (why.is_some(), place(action)));
    let entry = |(why, action): &(Option<String>, Action)| {
        let binding = live.iter().find(|binding| binding.action == Some(*action));
        let keys = binding.map(|binding| binding.keys.iter().map(|key| show(*key)).collect::<Vec<_>>().join("  "));
        let text = binding.map_or(action.description(), |binding| binding.description.as_str());
        MenuEntry { why_not: why.clone(), ..MenuEntry::new(text, keys.unwrap_or_default()) }
    };
    let arranged = Arranging::all();
    let themes: Vec<&str> = Theme::names().collect();
    let shown_in = themes.iter().map(|name| MenuEntry::new(format!("theme {name}"), ""));
    let by_name = arranged.iter().map(|it| it.entry(&orders));
    let entries = actions.iter().map(entry).chain(by_name).chain(shown_in).collect();
    // The footer and the keymap call them by their names.
    let named = actions.iter().map(|(_, action)| action.name()).chain(arranged.iter().map(|it| it.name()));
    let names: Vec<&str> = named.chain(themes.clone()).collect();
    let ordered = arranged.iter().map(|it| it.synonyms());
    let themed = themes.iter().map(|name| format!("theme-{name} colour color"));
    let synonyms = actions.iter().map(|(_, action)| words_for(*action)).chain(ordered).chain(themed).collect();
    let palette = Picker::new("commands", "do it", entries, move |index, cx| {
        if let Some((_, action)) = actions.get(index) {
            return Flow::Perform(*action);
        }
        let index = index - actions.len();
        match arranged.get(index) {
            Some(arranging) => arranging.take(&orders, cx),
            None => {
                cx.ask(Request::Theme(themes[index - arranged.len()]));
                Flow::Close
            }
        }
    });
    palette.found_by(names).also_called(synonyms).typed_behind(":")
}

/// How the rows can be arranged.
#[derive(Clone, Copy, Debug)]
enum Arranging {
    Sort(Sort),
    Group(Grouping),
}

impl Arranging {
    fn all() -> Vec<Self> {
        Sort::all().map(Self::Sort).chain(Grouping::ALL.map(Self::Group)).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sort(order) => order.name(),
            Self::Group(grouping) => grouping.name().unwrap_or("no groups"),
        }
    }

    fn synonyms(self) -> String {
        match self {
            Self::Sort(order) => format!("sort-{} order", order.name()),
            Self::Group(grouping) => format!("group-{} groups", grouping.name().unwrap_or("none")),
        }
    }

    fn entry(self, orders: &[Sort]) -> MenuEntry {
        match self {
            Self::Sort(order) => {
                let why_not = (!orders.contains(&order)).then(|| says_nothing(order));
                MenuEntry {
                    why_not,
                    ..MenuEntry::new(format!("sort by {}: {}", order.name(), order.explanation()), "")
                }
            }
            Self::Group(Grouping::None) => MenuEntry::new("no groups", ""),
            Self::Group(_) => MenuEntry::new(format!("group by {}", self.name()), ""),
        }
    }

    fn take(self, orders: &[Sort], cx: &mut OverlayContext<'_, '_>) -> Flow {
        match self {
            Self::Sort(order) if !orders.contains(&order) => cx.say(&says_nothing(order)),
            Self::Sort(order) => cx.memory.arrangement.sort = order,
            Self::Group(grouping) => cx.memory.arrangement.grouping = grouping,
        }
        Flow::Close
    }
}

/// How the terminals are sorted and grouped, the present ones marked.
pub fn arranging(sort: Sort, grouping: Grouping, orders: Vec<Sort>) -> Picker {
    let all = Arranging::all();
    let is_now = |it: &Arranging| match it {
        Arranging::Sort(order) => *order == sort,
        Arranging::Group(of) => *of == grouping,
    };
    let entry =
        |it: &Arranging| MenuEntry { note: if is_now(it) { "now" } else { "" }.to_owned(), ..it.entry(&orders) };
    let entries = all.iter().map(entry).collect();
    Picker::new("sort and group", "do it", entries, move |index, cx| all[index].take(&orders, cx))
}

/// Why an order is of no use.
fn says_nothing(order: Sort) -> String {
    format!("no terminal says its {}", order.name())
}

/// What can be copied, with the key that does it and what it is called.
const COPIED: [(&str, Copied, &str); 3] = [
    ("n", Copied::Name, "the name of the terminal"),
    ("d", Copied::Dialog, "the dialog that waits, with its options"),
    ("t", Copied::Transcript, "the transcript on its screen"),
];

/// Which text of a terminal is copied: one key each.
pub fn copying(key: TerminalKey) -> Picker {
    let entries = COPIED.iter().map(|(letter, _, text)| MenuEntry::new(*text, *letter)).collect();
    let about = key.clone();
    let picker = Picker::new("copy to the clipboard", "copy", entries, move |index, cx| {
        cx.ask(Request::Copy { key: key.clone(), what: COPIED[index].1.clone() });
        Flow::Close
    });
    picker.about(about).by_letter()
}

/// The widest name that the others are put in line with.
const WIDEST: usize = 40;

/// The sessions in view; the server stands with each where there are several.
pub fn task_sessions(view: &View<'_>) -> Picker {
    let sessions: Vec<SessionView> = view.sessions.iter().map(|&session| session.clone()).collect();
    let several = view.servers.len() > 1;
    let name = |session: &SessionView| match several {
        true => format!("{}: {}", session.server, session.name),
        false => session.name.clone(),
    };
    let widest = sessions.iter().map(|session| text::width(&name(session))).max().unwrap_or(0).min(WIDEST);
    let entry = |session: &SessionView| {
        let name = text::padded(&name(session), widest);
        MenuEntry::new(format!("{name}  {}", text::counted(session.windows, "window")), note(session))
    };
    let entries = sessions.iter().map(entry).collect();
    Picker::new("task sessions", "change it", entries, move |index, cx| ask_about(&sessions[index], cx))
}

/// The servers, those first that do not answer, then the slowest; the one that is taken is what is shown of all, or it
/// sees why it does not answer.
pub fn servers(view: &View<'_>, zone: &TimeZone) -> Picker {
    let mut servers: Vec<&ServerView> = view.servers.clone();
    servers.sort_by_key(|server| (server.health == ServerHealth::Up, Reverse(server.load.took)));
    let name = |server: &ServerView| server.id.to_string();
    let widest = servers.iter().map(|server| text::width(&name(server))).max().unwrap_or(0).min(WIDEST / 2);
    let entry = |server: &&ServerView| {
        let answers = match &server.health {
            ServerHealth::Up => format!("{} ms", server.load.took.as_millis()),
            ServerHealth::Waiting => "no answer yet".to_owned(),
            ServerHealth::NoServer(_) => "no tmux".to_owned(),
            ServerHealth::Failed(problem) => problem.kind.replace('_', " "),
        };
        let broken = match server.load.broken {
            0 => String::new(),
            1 => ", broke once".to_owned(),
            times => format!(", broke {times} times"),
        };
        // The list does not change while it is open, so it shows a time and no age.
        let at =
            server.answered_at.map(|at| format!(", data of {}", times::to_the_second(at, zone))).unwrap_or_default();
        let name = text::padded(&name(server), widest);
        let tasks = view.tasks.iter().filter(|task| task.key.server == server.id).count();
        MenuEntry::new(
            format!("{name}  {}", text::counted(server.terminals + tasks, "terminal")),
            format!("{answers}{broken}{at}"),
        )
    };
    let entries = servers.iter().map(entry).collect();
    let hosts: Vec<(String, Option<String>)> = (servers.iter())
        .map(|server| (server.id.host.as_deref().unwrap_or("local").to_owned(), why_silent(server)))
        .collect();
    Picker::new("servers", "show its terminals, or why it does not answer", entries, move |index, cx| {
        let (host, silent) = &hosts[index];
        if let Some(why) = silent {
            return Flow::Become(Box::new(ExplanationView::new(None, why)));
        }
        cx.memory.arrangement.filter = Filter::new(&format!("host:{host}"));
        Flow::Close
    })
}

/// Why a server does not answer, and what to do about it; `None` for one that does, or was not asked yet.
fn why_silent(server: &ServerView) -> Option<String> {
    let problem = server.health.problem()?;
    let host = server.id.host.as_ref().map(|host| format!(" --host {host}")).unwrap_or_default();
    let name = &server.id;
    Some(format!(
        "{name} does not answer\n  {}\n\nfleetwatch keeps asking; `fleetwatch doctor{host}` says more.",
        problem.message
    ))
}

/// Asks whether a session becomes one of tasks, or is one no longer.
fn ask_about(session: &SessionView, cx: &mut OverlayContext<'_, '_>) -> Flow {
    let name = &session.name;
    let (title, lines, yes, adopt) = match session.declared_by {
        Some(DeclaredBy::Configuration) => {
            return cx.refuse(&format!("the configuration makes {name} a task session: remove its [[task]]"));
        }
        None => (
            format!("treat {name} as tasks?"),
            [
                "Every window of it becomes a task, also in later sessions of that name.",
                "While fleetwatch watches, a hook of the session counts its bells,",
                "and its windows stay open when their programs end.",
            ],
            "treat it so",
            true,
        ),
        Some(DeclaredBy::Operator | DeclaredBy::Run) => (
            format!("stop treating {name} as tasks?"),
            [
                "Windows that `fleetwatch run` started stay tasks; the others do not.",
                "The hook that counts its bells is removed,",
                "and windows stay open after their programs end only if they did before.",
            ],
            "no longer",
            false,
        ),
    };
    let request = Request::AdoptSession { server: session.server.clone(), session: name.clone(), adopt };
    Flow::Become(Box::new(Confirm::new(title, lines.map(str::to_owned).to_vec(), yes, vec![request])))
}

/// Who says that a session is one of tasks.
const fn note(session: &SessionView) -> &'static str {
    match session.declared_by {
        None => "",
        Some(DeclaredBy::Operator) => "tasks",
        Some(DeclaredBy::Run) => "tasks, by run",
        Some(DeclaredBy::Configuration) => "tasks, by [[task]]",
    }
}

/// The messages that are open, those that the operator has to decide of first.
pub fn follow_ups(intents: &[Intent], view: &View<'_>) -> Picker {
    let mut intents = intents.to_vec();
    intents.sort_by_key(|intent| (!needs_decision(intent), intent.id));
    let entry = |intent: &Intent| {
        let text = format!("{} to {}: {}", intent.id.0, intent.target, intent.message_text());
        let why = if intent.state == IntentState::Pending { waits_for(intent, view) } else { String::new() };
        let age = view.now.since(intent.created).rounded();
        MenuEntry::new(text, format!("{}{why} {age}", state_name(intent.state)))
    };
    let entries = intents.iter().map(entry).collect();
    Picker::new("prompts and follow-ups", "decide", entries, move |index, cx| {
        if intents[index].state == IntentState::Attempted {
            return cx.refuse("it is being sent; the outcome will be shown");
        }
        Flow::Become(Box::new(decisions(intents[index].clone())))
    })
}

/// Why a message waits, behind the word that it does.
fn waits_for(intent: &Intent, view: &View<'_>) -> String {
    let is_it = |it: &&Terminal| match &intent.recipient {
        Some(key) => it.key.may_be(key),
        None => it.state.terminal.id == intent.target || it.renamed_from().as_ref() == Some(&intent.target),
    };
    match view.terminals.iter().copied().find(is_it) {
        None => format!(" until {} is there", intent.target),
        Some(terminal) => terminal.prompt_hindrance().map(|why| format!(" {}", why.until())).unwrap_or_default(),
    }
}

/// What can become of a message.
fn decisions(intent: Intent) -> Picker {
    let offered = match intent.state {
        IntentState::Pending => vec![(Decision::Dismiss, "do not send it")],
        _ => vec![(Decision::Resend, "send it again"), (Decision::Dismiss, "dismiss it")],
    };
    let entries = offered.iter().map(|(_, text)| MenuEntry::new(*text, "")).collect();
    let title = format!("message {} to {}", intent.id.0, intent.target);
    Picker::new(title, "decide", entries, move |index, _| Flow::Become(Box::new(question(&intent, offered[index].0))))
}

/// Whether the operator is asked about a message.
pub fn needs_decision(intent: &Intent) -> bool {
    matches!(intent.state, IntentState::Unknown | IntentState::Expired)
}

const fn state_name(state: IntentState) -> &'static str {
    match state {
        IntentState::Pending => "waits",
        IntentState::Attempted => "on its way",
        IntentState::Unknown => "unclear",
        IntentState::Expired => "not sent",
        _ => "",
    }
}

fn question(intent: &Intent, decision: Decision) -> Confirm {
    let (title, yes) = match (decision, intent.state) {
        (Decision::Resend, _) => (format!("send message {} to {} again?", intent.id.0, intent.target), "send it"),
        (Decision::Dismiss, IntentState::Pending) => {
            (format!("do not send message {} to {}?", intent.id.0, intent.target), "do not")
        }
        (Decision::Dismiss, _) => (format!("dismiss message {} to {}?", intent.id.0, intent.target), "leave it"),
    };
    let mut lines = vec![intent.message_text()];
    let why = match intent.state {
        IntentState::Unknown => Some("It may have arrived"),
        IntentState::Expired => Some("It was not sent"),
        _ => None,
    };
    let detail = intent.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
    lines.extend(why.map(|why| format!("{why}{detail}.")));
    if decision == Decision::Resend {
        lines.push("It gets another number, and waits until the agent is ready.".to_owned());
    }
    let request = Request::DecideFollowUp { id: intent.id, decision };
    Confirm::new(title, lines, yes, vec![request])
}

/// The outcome of a decision, in words.
pub fn decided(id: IntentId, decision: Decision, next: Option<IntentId>) -> String {
    match (decision, next) {
        (Decision::Resend, Some(next)) => format!("message {} is sent again, as number {}", id.0, next.0),
        (Decision::Resend, None) => format!("message {} is sent again", id.0),
        (Decision::Dismiss, _) => format!("message {} is dismissed", id.0),
    }
}
