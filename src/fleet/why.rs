//! Why a terminal is said to be what it is, as text: regions, rules, rows, what followed, and which timers run
//! (SPEC §5, `explain`).

mod answer;

use std::fmt::Write as _;

use crate::profile::{Classification, Explanation};
use crate::screen::{Screen, harmless};
use crate::state::{State, TurnResult};
use crate::time::Timestamp;
use crate::tracker::Timer;

/// Which rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSelection {
    /// Every one that was tried.
    Tried,
    /// Those that fired.
    Fired,
}

/// A screen, how it was read, and the state that followed.
#[derive(Clone, Copy, Debug)]
pub struct Why<'a> {
    pub screen: &'a Screen,
    pub reading: &'a Classification,
    pub explanation: &'a Explanation,
    pub state: &'a State,
    /// The timers that run, the next deadline first.
    pub timers: &'a [Timer],
    pub now: Timestamp,
}

impl Why<'_> {
    /// The details behind [`Why::answer`] for people, several lines of harmless text.
    pub fn text(&self, rules: RuleSelection) -> String {
        let mut text = String::new();
        push_screen(&mut text, self.screen, self.explanation);
        push_rules(&mut text, self.explanation, rules);
        push_state(&mut text, self.reading, self.state);
        push_timers(&mut text, self.timers, self.now);
        text
    }

    /// The same with what follows first and the screen left out, for where the screen is in view.
    pub fn brief(&self) -> String {
        let mut text = String::new();
        push_state(&mut text, self.reading, self.state);
        push_timers(&mut text, self.timers, self.now);
        push_rules(&mut text, self.explanation, RuleSelection::Fired);
        text
    }
}

/// The screen, with what each row is taken for.
fn push_screen(text: &mut String, screen: &Screen, explanation: &Explanation) {
    let Explanation { prompt, regions, rows, .. } = explanation;
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
    for (index, row) in screen.rows().iter().enumerate().filter(|(_, row)| !row.is_blank()) {
        let kinds = rows.iter().find(|found| found.row == index).map(|found| found.kinds.join(" ")).unwrap_or_default();
        let _ = writeln!(text, "  {index:>3} {:<24} {}", kinds, harmless(row.text()));
    }
}

fn push_rules(text: &mut String, explanation: &Explanation, rules: RuleSelection) {
    text.push_str("\nRules, in the order in which they are tried\n");
    for rule in explanation.rules.iter().filter(|rule| rule.fired || rules == RuleSelection::Tried) {
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

fn push_state(text: &mut String, reading: &Classification, state: &State) {
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
    line(
        "last turn",
        match last_turn.result {
            TurnResult::None => "none yet".to_owned(),
            result => format!("{result} by {}", last_turn.source),
        },
    );
    line("operator", format!("{}, {}, {}", operator.status, operator.readiness, operator.completion));
    line("attention", state.attention.to_string());
    line(
        "windows",
        format!(
            "settle {} s, unknown to stalled {} s, stale active {} s, final stable active {} s",
            lifecycle_timing.completion_stability_seconds,
            lifecycle_timing.unknown_to_stalled_timeout_seconds,
            lifecycle_timing.stale_active_recovery_seconds,
            lifecycle_timing.final_stable_active_recovery_seconds
        ),
    );
}

/// The timers that run: what is going to happen by itself if nothing changes, and when.
fn push_timers(text: &mut String, timers: &[Timer], now: Timestamp) {
    text.push_str("\nTimers\n");
    if timers.is_empty() {
        text.push_str("  none runs\n");
    }
    for timer in timers {
        let left = timer.until.since(now).as_secs();
        let (since, until) = (time_of_day(timer.since), time_of_day(timer.until));
        let _ = writeln!(text, "  {:<29} in {left:.1} s, at {until}, since {since}", timer.name);
        let _ = writeln!(text, "    {}", timer.then);
    }
}

/// The time of day in UTC: `14:02:11.031Z`.
fn time_of_day(moment: Timestamp) -> String {
    let written = moment.to_string();
    written.split_once('T').map_or(written.clone(), |(_, time)| time.to_owned())
}
