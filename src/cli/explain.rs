//! `fleetwatch explain`: why fleetwatch reports the state of a terminal.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::json;

use super::failure::seconds;
use super::history::on_servers;
use super::survey::{Survey, Watched};
use super::unwatched::unwatched;
use super::{Done, Failure, GlobalOptions, console, output};
use crate::fleet::{RuleSelection, ServerHealth, ServerView, Terminal, TerminalKey, Why, answer_of_ended, no_record};
use crate::history::Reader;
use crate::present::explanation::{ReadScreen, read};
use crate::present::item::Item;
use crate::present::target::{self, Purpose, resolve_past};
use crate::record::{Body, PublicState, Stored, StoredTransition};
use crate::screen::harmless;
use crate::state::State;
use crate::status::Status;
use crate::time::Timestamp;

/// Explain a state, with the rules and rows behind it.
///
/// The answer comes first, then regions, rules, rows and timers.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch explain shop-api")]
pub struct ExplainArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// Watch for this many seconds first, for what only time shows: growth, timers, the end of a turn.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub watch: Option<Duration>,
    /// Print the rules first, and only those that fired.
    #[arg(long)]
    pub fired: bool,
    /// Print one JSON object: `{"explanation", "reading", "projection", "record", "state", "timers"}`, the first four null for an agent that is
    /// gone; of a task `{"state", "why"}`.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// No such terminal, or nothing reads its screen.
pub async fn run(args: &ExplainArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let survey = match args.watch {
        None => watched.survey().await?,
        Some(time) => watched.survey_while(time, |_| true).await?,
    };
    let meant = match survey.meant(&args.target, Purpose::Reading) {
        Ok(meant) => meant,
        Err(unknown) => {
            let pane = unwatched(&args.target, &watched.settings, &survey.fleet).await;
            let is_its = |key: &TerminalKey| pane.as_ref().is_none_or(|pane| pane.agent == Some((key.pane, key.pid)));
            return match remembered(&args.target, options, &survey, is_its) {
                Some(state) => print_ended(args, &state, survey.now),
                None => Err(pane.map_or(unknown, |pane| pane.why)),
            };
        }
    };
    let terminal = match meant {
        Item::Terminal(terminal) => terminal,
        // What only looks like a question is one if another poll shows it as well.
        Item::Task(_) => return explain_task(args, &watched.survey_with_prompts().await?),
    };
    let state = survey.fleet.state_of(terminal, survey.now);
    if state.has_ended() {
        let is_its = |key: &TerminalKey| (key.pane, key.pid) == (terminal.key.pane, terminal.key.pid);
        let known = Some(state.clone()).filter(|state| state.stale.is_some() || state.last_turn.at.is_some());
        if let Some(state) = known.or_else(|| remembered(&state.terminal.id, options, &survey, is_its)) {
            return print_ended(args, &state, survey.now);
        }
    }
    if state.is_suspended() {
        return print_ended(args, &state, survey.now);
    }
    let timers = survey.fleet.timers(&terminal.key);
    let read = read(terminal, &watched.settings.profiles)?;
    if args.json {
        return output::print_json(&read.json(&survey.fleet, &terminal.key, &state));
    }
    let facts = &terminal.state.terminal;
    let reads_records = watched.settings.poll.records.allow(&facts.tool, facts.cwd.as_deref());
    let why = Why {
        screen: &read.screen,
        reading: &read.reading,
        explanation: &read.explanation,
        state: &state,
        record: survey.fleet.recorded_turn(&terminal.key),
        no_record: no_record(terminal, &watched.settings.profiles, reads_records),
        timers: &timers,
        zone: &TimeZone::system(),
        now: survey.now,
    };
    let rules = if args.fired { RuleSelection::Fired } else { RuleSelection::Tried };
    output::print(&console::wrapped(&format!(
        "{}\n{}{}",
        why.answer(),
        heading(terminal, &read),
        why.text(rules, &read.projection)
    )))
}

/// Prints what is known of an agent that is gone or suspended.
fn print_ended(args: &ExplainArgs, state: &State, now: Timestamp) -> Done {
    if args.json {
        let value = json!({ "explanation": null, "reading": null, "projection": null, "record": null, "state": state, "timers": [] });
        return output::print_json(&value);
    }
    output::print(&console::wrapped(&answer_of_ended(state, &TimeZone::system(), now)))
}

/// The last state of an agent that is gone, from the history; `None` if its server does not answer.
fn remembered(
    target: &str,
    options: &GlobalOptions,
    survey: &Survey,
    is_its: impl Fn(&TerminalKey) -> bool,
) -> Option<State> {
    /// Transitions that are read to find one with a state.
    const LAST: u32 = 3;
    let mut reader = Reader::open(&options.load().ok()?.config.history.kept_at()?).ok()?;
    let view = survey.fleet.view(survey.now);
    let silent = |server: &&ServerView| matches!(server.health, ServerHealth::Waiting | ServerHealth::Failed(_));
    let silent: Vec<&ServerView> = view.servers.iter().copied().filter(silent).collect();
    let of_silent = |key: &TerminalKey| {
        silent.iter().any(|server| key.may_be(&TerminalKey { server: server.id.clone(), ..key.clone() }))
    };
    let known = on_servers(reader.terminals().ok()?, options);
    let known: Vec<_> = known.iter().map(|one| (&one.key, one.name.as_str())).collect();
    let mut found = resolve_past(target, &known, |target| reader.named(target)).ok()?.ok()?;
    found.retain(|key| is_its(key) && !of_silent(key));
    let mut last: Vec<Stored> = found.iter().filter_map(|key| reader.transitions(key, LAST).ok()).flatten().collect();
    last.sort_by_key(|record| record.at);
    // A last change while it was there says nothing of when it went.
    let left_at = last.last().filter(|record| record.body.status() == Some(Status::Gone)).map(|record| record.at);
    let state = last.into_iter().rev().find_map(|record| match record.body {
        Body::Transition(StoredTransition { state: Some(PublicState::Agent(state)), .. }) => Some(*state),
        _ => None,
    })?;
    Some(if state.has_ended() { state } else { state.gone_unwatched(left_at.unwrap_or(survey.now)) })
}

/// Explains a task, which has no rules and regions: its status follows from what runs in it and what it prints.
fn explain_task(args: &ExplainArgs, survey: &Survey) -> Done {
    let Item::Task(task) = survey.meant(&args.target, Purpose::Reading)? else {
        return Err(Failure::refused(format!("{} is no longer a task", args.target)).hint("try again"));
    };
    let why = task.why(survey.now);
    if args.json {
        return output::print_json(&json!({ "state": task.fields(), "why": why }));
    }
    let text = format!("task {} ({}, {}:{}): {why}", task.id, task.window, task.session, task.index);
    output::print(&console::wrapped(&text.lines().map(|line| harmless(line) + "\n").collect::<String>()))
}

/// The terminal, and the profile that reads it.
fn heading(terminal: &Terminal, read: &ReadScreen) -> String {
    let facts = &terminal.state.terminal;
    let version = facts.observed_tool_version.as_deref().unwrap_or("of unknown version");
    let behind = facts.through.as_deref().map(|wrapper| format!(" behind {wrapper}")).unwrap_or_default();
    let (profile, selection) = (&read.selected.profile, read.selected.selection.word());
    let read_by = match read.selected.recorded {
        _ if profile.tool() != facts.tool => "read by no profile".to_owned(),
        true => format!("read by {} ({selection})", profile.id()),
        false => format!("read by {} ({selection}), with caution: no recording shows this version", profile.id()),
    };
    format!(
        "{}  {} {}  {} {}{}, {read_by}\n",
        harmless(&facts.id),
        terminal.key.pane,
        harmless(&terminal.place.target()),
        harmless(&facts.tool),
        harmless(version),
        harmless(&behind),
    )
}
