//! `fleetwatch inspect`: the two complete artifacts of one snapshot (SPEC §6).

use std::fmt::Write as _;

use super::failure::whole;
use super::survey::Watched;
use super::target::Purpose;
use super::{Done, Failure, GlobalOptions, explain, output, target};
use crate::profile::{DialogProjection, Projector, RowReason, TailRegex};
use crate::screen::harmless;
use crate::state::State;

/// Show how a screen is read: the assessment, and each row.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch inspect shop-api")]
pub struct InspectArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// Project the screen as plain text instead of as the profile knows it.
    #[arg(long)]
    pub plain: bool,
    /// Find an answer in the dialog: the last match of this pattern, or its last group.
    #[arg(long, value_name = "PATTERN")]
    pub answer: Option<String>,
    /// How far from the dialog's end the answer is looked for.
    #[arg(long, value_name = "CHARACTERS", default_value_t = 4000, requires = "answer")]
    #[arg(value_parser = whole, allow_hyphen_values = true)]
    pub answer_within: usize,
    /// Print one JSON object: `{"terminal", "parser", "assessment", "agent", "projection", "answer", "diagnostics", "evidence"}`.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// No such terminal, nothing reads its screen, or the pattern is wrong.
pub async fn run(args: &InspectArgs, options: &GlobalOptions) -> Done {
    let associator = args.answer.as_deref().map(|pattern| associator(pattern, args.answer_within)).transpose()?;
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let item = watched.meant(&survey, &args.target, Purpose::Reading).await?;
    let terminal = target::terminal(item, Purpose::Reading)?;
    let state = survey.fleet.state_of(terminal, survey.now);
    let read = explain::read(terminal, &watched.settings.profiles)?;
    let projector = if args.plain { Projector::Plain } else { Projector::Profile };
    let mut projection = read.selected.profile.project(&read.screen, &terminal.facts, projector);
    projection.add_anomalies(&state.assessment.anomalies);
    let answer = associator.as_ref().and_then(|associator| associator.answer(&projection.dialog_text));
    if args.json {
        let value = serde_json::json!({
            "terminal": state.terminal,
            "parser": {
                "profile": read.selected.profile.id(),
                "tool": read.selected.profile.tool(),
                "preset": read.selected.profile.versions().min,
                "selection": read.selected.selection.word(),
                "recorded": read.selected.recorded,
                "output_family": explain::family(&read),
                "banner_version": read.reading.banner_version,
                "doubt": read.reading.doubt,
            },
            "assessment": state.assessment,
            "agent": state.agent,
            "projection": projection,
            "answer": answer,
            "diagnostics": state.diagnostics,
            "evidence": state.evidence,
        });
        return output::print_json(&value);
    }
    let mut text = explain::heading(terminal, &read);
    push_assessment(&mut text, &state, explain::family(&read));
    push_facts(&mut text, &state);
    push_projection(&mut text, &projection);
    if associator.is_some() {
        let _ = writeln!(text, "\nAnswer\n  {}", answer.map_or("none".to_owned(), harmless));
    }
    output::print(&output::wrapped(&text))
}

fn associator(pattern: &str, characters: usize) -> Result<TailRegex, Failure> {
    TailRegex::new(pattern, characters).map_err(|error| {
        // The crate's errors have several lines; the last one says what is wrong.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::usage(format!("`{pattern}` is not a pattern: {reason}"))
            .hint("patterns are regular expressions, such as `RESULT: (.*)`")
    })
}

fn push_assessment(text: &mut String, state: &State, family: Option<&str>) {
    let State { assessment, evidence, diagnostics, .. } = state;
    let anomalies: Vec<&str> = assessment.anomalies.iter().map(|anomaly| anomaly.word()).collect();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<15} {}", harmless(value));
    };
    line("availability", assessment.availability.word());
    line("business state", assessment.business_state.word());
    line("input mode", assessment.input_mode.word());
    line("ui context", assessment.ui_context.word());
    line("output family", family.unwrap_or("none"));
    line("anomalies", &if anomalies.is_empty() { "none".to_owned() } else { anomalies.join(", ") });
    line("parse status", diagnostics.parse_status.word());
    for problem in [&diagnostics.probe_error, &diagnostics.parse_error].into_iter().flatten() {
        line(&problem.kind, &problem.message);
    }
    for excerpt in assessment.operator_excerpt.iter().flat_map(|excerpt| excerpt.lines()) {
        line("dialog", excerpt);
    }
    if let Some(name) = &assessment.dialog {
        line("dialog's name", name);
    }
    for item in evidence.iter() {
        // What stands on no row is of the title, of another fact of the pane, or of the time.
        let row = item.line.map_or_else(String::new, |row| format!(" row {row}"));
        line("evidence", &format!("{}{row}: {}", item.rule, item.text));
    }
}

/// What is known of the agent, and whether its record or its screen says so.
fn push_facts(text: &mut String, state: &State) {
    for (at, (name, fact)) in state.agent.iter().enumerate() {
        let head = if at == 0 { "\nAgent\n" } else { "" };
        let source = fact.source.word();
        let _ =
            writeln!(text, "{head}  {:<15} {} ({source}, {})", name.word(), harmless(&fact.value.to_string()), fact.at);
    }
}

/// Every row of the screen down to the last one with text, and why it belongs to the dialog or not.
fn push_projection(text: &mut String, projection: &DialogProjection) {
    let DialogProjection { rows_total, rows_kept, normalized_text, rows, .. } = projection;
    let _ = writeln!(text, "\nScreen: {rows_total} rows; the {rows_kept} with `+` are what you and the agent said");
    for (row, line) in rows.iter().zip(normalized_text.lines()) {
        let line = match row.reason {
            RowReason::Blank => String::new(),
            reason => format!("  {} {reason:<11}  {}", if row.kept { '+' } else { '-' }, harmless(line)),
        };
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
