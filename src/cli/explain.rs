//! `fleetwatch explain`: why fleetwatch says what it says of a terminal.

use std::fmt::Write as _;

use super::survey::{Survey, Watched};
use super::{Done, Failure, GlobalOptions, output, target};
use crate::fleet::Terminal;
use crate::profile::{Explanation, Program, Reading, Selected};
use crate::screen::{Screen, harmless};
use crate::state::State;

/// Show how the state of a terminal follows from its screen: regions, rules, rows.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[arg(help = target::HELP)]
    pub target: String,
    /// Leave out the rules that did not fire.
    #[arg(long)]
    pub fired: bool,
    /// Print one JSON object: `{"explanation", "reading", "state"}`.
    #[arg(long)]
    pub json: bool,
}

/// A terminal's screen with what reads it.
pub(super) struct Read<'a> {
    pub screen: &'a Screen,
    pub selected: Selected,
    pub reading: Reading,
    pub explanation: Explanation,
}

/// Runs the command.
///
/// # Errors
/// No such terminal, or nothing reads its screen.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let terminal = survey.terminal(&args.target)?;
    let state = state(&survey, terminal);
    let read = read(terminal, &watched)?;
    if args.json {
        let value = serde_json::json!({
            "explanation": read.explanation,
            "reading": reading_json(&read),
            "state": state,
        });
        return output::print(&format!("{value:#}\n"));
    }
    let mut text = heading(terminal, &read);
    push_screen(&mut text, &read);
    push_rules(&mut text, &read, args.fired);
    push_state(&mut text, &read.reading, &state);
    output::print(&text)
}

/// Reads a terminal's screen with the profile that fits it.
///
/// # Errors
/// No known agent runs there, or its screen could not be had.
pub(super) fn read<'a>(terminal: &'a Terminal, watched: &Watched) -> Result<Read<'a>, Failure> {
    let id = &terminal.state.terminal.id;
    let Program::Agent { tool, version } = target::program(terminal) else {
        let command = &terminal.facts.command;
        return Err(Failure::refused(format!("{id} runs no known agent, but `{command}`: its screen is not read"))
            .hint("`tool` of a [[terminal]] in the configuration says which agent it is"));
    };
    let Some(screen) = terminal.screen.as_deref() else {
        return Err(Failure::refused(format!("the screen of {id} could not be had")).hint("try again"));
    };
    let configured = watched.declared(terminal).version.is_some();
    let Some(selected) = watched.library.select(&tool, version.as_deref(), configured) else {
        return Err(Failure::refused(format!("there is no profile for `{tool}`"))
            .hint("`fleetwatch profiles list` shows the agents that are known"));
    };
    let (reading, explanation) = selected.profile.explain(screen, &terminal.facts);
    Ok(Read { screen, selected, reading, explanation })
}

/// A terminal's public state as of the survey.
pub(super) fn state(survey: &Survey, terminal: &Terminal) -> State {
    survey.fleet.state(&terminal.key, survey.now).unwrap_or_else(|| terminal.state.clone())
}

/// What the reading says beside what the state repeats.
pub(super) fn reading_json(read: &Read<'_>) -> serde_json::Value {
    let Read { selected, reading, .. } = read;
    serde_json::json!({
        "profile": selected.profile.id(),
        "selection": selected.selection.word(),
        "output_family": family(read),
        "phase": reading.phase,
        "surface": reading.surface,
        "assessment": reading.assessment,
        "background_work": reading.background_work,
        "banner_version": reading.banner_version,
        "doubt": reading.doubt,
        "evidence": reading.evidence,
    })
}

/// The public name of the family of screens that the reading belongs to (SPEC §6).
pub(super) fn family<'a>(read: &'a Read<'_>) -> Option<&'a str> {
    read.reading.family.and_then(|family| read.selected.profile.family(family))
}

/// Which terminal it is, and what reads it.
pub(super) fn heading(terminal: &Terminal, read: &Read<'_>) -> String {
    let facts = &terminal.state.terminal;
    let version = facts.observed_tool_version.as_deref().unwrap_or("of unknown version");
    format!(
        "{}  {} {}  {} {}, read by {} ({})\n",
        harmless(&facts.id),
        terminal.key.pane,
        harmless(&terminal.place.target()),
        harmless(&facts.tool),
        harmless(version),
        read.selected.profile.id(),
        read.selected.selection.word(),
    )
}

/// The screen, with what each row is taken for.
fn push_screen(text: &mut String, read: &Read<'_>) {
    let Explanation { prompt, regions, rows, .. } = &read.explanation;
    text.push_str("\nRegions\n");
    for region in regions {
        let rows = match region.to.saturating_sub(region.from) {
            0 => "none".to_owned(),
            1 => format!("row {}", region.from),
            _ => format!("rows {} to {}", region.from, region.to - 1),
        };
        let _ = writeln!(text, "  {:<14} {rows}", region.name);
    }
    match prompt {
        Some(prompt) => {
            let focus = if prompt.focused { "takes the keys" } else { "does not take the keys" };
            let _ = writeln!(text, "  {:<14} row {}, {}, {focus}", "prompt", prompt.row, prompt.holds);
        }
        None => {
            let _ = writeln!(text, "  {:<14} none", "prompt");
        }
    }
    text.push_str("\nRows\n");
    for (index, row) in read.screen.rows().iter().enumerate().filter(|(_, row)| !row.is_blank()) {
        let kinds = rows.iter().find(|found| found.row == index).map(|found| found.kinds.join(" ")).unwrap_or_default();
        let _ = writeln!(text, "  {index:>3} {:<24} {}", kinds, harmless(row.text()));
    }
}

fn push_rules(text: &mut String, read: &Read<'_>, only_fired: bool) {
    text.push_str("\nRules, in the order in which they are tried\n");
    for rule in read.explanation.rules.iter().filter(|rule| rule.fired || !only_fired) {
        let mark = if rule.fired { '✓' } else { '·' };
        let rows = rule.rows.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let why = match (&rule.because, rows.as_str()) {
            (Some(because), _) => because.clone(),
            (None, "") => String::new(),
            (None, rows) => format!("row {rows}"),
        };
        let _ = writeln!(text, "  {mark} {:<28} {:<22} {:<12} {}", rule.rule, rule.gives, rule.region, harmless(&why));
    }
}

fn push_state(text: &mut String, reading: &Reading, state: &State) {
    let State { diagnostics, surface, turn, last_turn, assessment, operator, lifecycle_timing, .. } = state;
    text.push_str("\nWhat follows\n");
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<14} {}", harmless(&value));
    };
    line("screen says", format!("phase {}", reading.phase));
    if let Some(doubt) = &reading.doubt {
        line("doubt", doubt.clone());
    }
    line(
        "surface",
        format!(
            "accepting_input {}, editing_input {}, ready_posture {}, pending_input {}",
            surface.accepting_input, surface.editing_input, surface.ready_posture, surface.pending_input
        ),
    );
    line(
        "assessment",
        format!(
            "{}: {}, {}, {}",
            assessment.availability, assessment.business_state, assessment.input_mode, assessment.ui_context
        ),
    );
    line(
        "diagnostics",
        format!(
            "{}: {}, {}, {}",
            diagnostics.availability, diagnostics.transport_state, diagnostics.process_state, diagnostics.parse_status
        ),
    );
    line("turn", format!("{}, background work {}", turn.phase, turn.background_work));
    line("last turn", format!("{} by {}", last_turn.result, last_turn.source));
    line("operator", format!("{}, {}, {}", operator.status, operator.readiness, operator.completion));
    line("attention", state.attention.to_string());
    line(
        "windows",
        format!(
            "success settles in {} s, unknown stalls after {} s, a lone status row expires after {} s, \
             a still screen after {} s",
            lifecycle_timing.completion_stability_seconds,
            lifecycle_timing.unknown_to_stalled_timeout_seconds,
            lifecycle_timing.stale_active_recovery_seconds,
            lifecycle_timing.final_stable_active_recovery_seconds
        ),
    );
}
