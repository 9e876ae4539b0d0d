//! Why a terminal is in its state, as text: regions, rules, rows, what followed, and which timers run
//! (SPEC §5, `explain`).

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use super::Terminal;
use crate::agent_record::{RecordedPhase, RecordedTurn};
use crate::dialog::{asked, bare};
use crate::profile::{Classification, DialogProjection, Explanation, ProfileSet};
use crate::screen::{Screen, harmless};
use crate::state::{
    Assessment, Attention, Availability, FactSource, LastTurn, Phase, RECORD_HOLDS, Since, State, UiContext,
};
use crate::status::last_turn_in_words;
use crate::time::{Span, Timestamp};
use crate::tracker::{Timer, TimerName};

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
    /// What the agent's own record says of its turn, and why nothing is known of it otherwise.
    pub record: Option<&'a RecordedTurn>,
    pub no_record: &'a str,
    /// The timers that run, the next deadline first.
    pub timers: &'a [Timer],
    /// Where the operator's clock on the wall is.
    pub zone: &'a TimeZone,
    pub now: Timestamp,
}

impl Why<'_> {
    /// The answer in the operator's words, several lines of harmless text.
    pub fn answer(&self) -> String {
        answer(self.state, Some(self), self.zone, self.now)
    }

    /// The details behind [`Why::answer`] for people, several lines of harmless text.
    pub fn text(&self, rules: RuleSelection, projection: &DialogProjection) -> String {
        let mut text = String::new();
        // Few rules fire, and who asks only for them looks for them.
        if rules == RuleSelection::Fired {
            push_rules(&mut text, self.explanation, rules);
        }
        push_screen(&mut text, self.screen, self.explanation, projection);
        if rules == RuleSelection::Tried {
            push_rules(&mut text, self.explanation, rules);
        }
        push_state(&mut text, self.reading, self.state);
        push_facts(&mut text, self.state);
        self.push_timers(&mut text);
        text
    }

    /// The same with what follows first and the screen left out, for where the screen is in view.
    pub fn brief(&self) -> String {
        let mut text = String::new();
        push_state(&mut text, self.reading, self.state);
        self.push_timers(&mut text);
        push_rules(&mut text, self.explanation, RuleSelection::Fired);
        text
    }

    /// The timers that run: what is going to happen by itself if nothing changes, and when.
    fn push_timers(&self, text: &mut String) {
        text.push_str("\nTimers\n");
        if self.timers.is_empty() {
            text.push_str("  none runs\n");
        }
        for timer in self.timers {
            let left = timer.until.since(self.now).as_secs();
            let [since, until] = [timer.since, timer.until].map(|at| clock(at, self.zone, self.now));
            let _ = writeln!(text, "  {:<29} in {left:.1} s, at {until}, since {since}", timer.name);
            let _ = writeln!(text, "    {}", timer.then);
        }
    }
}

/// The screen, with what each row is taken for, and a `+` before what the operator and the agent said.
fn push_screen(text: &mut String, screen: &Screen, explanation: &Explanation, projection: &DialogProjection) {
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
    text.push_str("\nRows, with `+` before what you and the agent said\n");
    for (index, row) in screen.rows().iter().enumerate().filter(|(_, row)| !row.is_blank()) {
        let mut words: Vec<&str> = Vec::new();
        let projected = projection.rows.get(index);
        words.extend(projected.map(|row| row.reason.word()));
        words.extend(
            rows.iter().filter(|found| found.row == index).flat_map(|found| found.kinds.iter().map(String::as_str)),
        );
        let mark = if projected.is_some_and(|row| row.kept) { '+' } else { '-' };
        let _ = writeln!(text, "  {index:>3} {mark} {:<30} {}", words.join(" "), harmless(row.text()));
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
    for problem in [&diagnostics.probe_error, &diagnostics.parse_error].into_iter().flatten() {
        line(&problem.kind, problem.message.clone());
    }
    if !assessment.anomalies.is_empty() {
        line("anomalies", assessment.anomalies.iter().map(|anomaly| anomaly.word()).collect::<Vec<_>>().join(", "));
    }
    line("turn", format!("{}, background work {}", turn.phase, turn.background_work));
    line("last turn", result_text(last_turn));
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

/// What is known of the agent, and whether its record or its screen says so.
fn push_facts(text: &mut String, state: &State) {
    for (at, (name, fact)) in state.agent.iter().enumerate() {
        let head = if at == 0 { "\nAgent\n" } else { "" };
        let source = fact.source.word();
        let _ =
            writeln!(text, "{head}  {:<14} {} ({source}, {})", name.word(), harmless(&fact.value.to_string()), fact.at);
    }
}

/// How the last turn ended, and what says so.
fn result_text(last: &LastTurn) -> String {
    last_turn_in_words(last).unwrap_or_else(|| match &last.detail {
        None => "none yet".to_owned(),
        Some(detail) => format!("no result: {detail}"),
    })
}

/// The time of day by the clock on the wall, with the day where that is not today: `14:02:11`, `14 Nov 14:02:11`.
fn clock(moment: Timestamp, zone: &TimeZone, now: Timestamp) -> String {
    let Some(at) = moment.in_zone(zone) else { return moment.to_string() };
    let is_today = now.in_zone(zone).is_some_and(|now| now.date() == at.date());
    at.strftime(if is_today { "%H:%M:%S" } else { "%-d %b %H:%M:%S" }).to_string()
}

// The answer before its details: what a terminal is, since when, why, how sure that is, and what would change it.

/// What began so recently may have begun long before: a first poll cannot tell.
const FIRST_POLL: Span = Span::SECOND;

/// Why nothing is known of an agent by a record of its own, `is_allowed` telling whether the configuration lets it be read.
pub fn no_record(agent: &Terminal, profiles: &ProfileSet, is_allowed: bool) -> &'static str {
    let tool = &agent.state.terminal.tool;
    let sources = profiles.records(tool);
    match () {
        () if !is_allowed => "its records are turned off in the configuration",
        () if agent.state.terminal.through.is_some() => "it runs behind another program",
        () if profiles.agents().all(|agent| agent != tool) => "no profile reads it",
        () if sources.is_empty() => "no rules for its records",
        () if agent.key.server.host.is_some() => "records on hosts are not read",
        () if sources.iter().any(|source| source.directory.is_some()) => {
            "no record in its directory has changed since it began, or another agent of its kind works there"
        }
        () => "none is certainly its own: it may have written none yet, or share one with other agents",
    }
}

/// The same of an agent that is gone: since when, why, and how its last turn ended.
pub fn answer_of_ended(state: &State, zone: &TimeZone, now: Timestamp) -> String {
    answer(state, None, zone, now)
}

fn answer(state: &State, why: Option<&Why<'_>>, zone: &TimeZone, now: Timestamp) -> String {
    let mut text = format!("{} {}", state.terminal.id, what(state));
    let said = match state.assessment.awaits_operator() {
        true => asked(state, None),
        false => state.activity.as_deref().map(bare),
    };
    if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
        let _ = write!(text, ": {said}");
    }
    let mut text = harmless(&text.replace(['\n', '\t'], " "));
    text.push('\n');
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<14} {}", harmless(value));
    };
    line("since", &since(state.since(), zone, now));
    // How the last turn ended is no reason for what goes on now.
    let goes_on = state.turn.phase == Phase::Active || state.assessment.awaits_operator();
    let of_now = || state.evidence.iter().filter(|evidence| !(goes_on && evidence.rule == "last-turn"));
    for evidence in of_now() {
        let row = evidence.line.map(|row| format!(", row {row}")).unwrap_or_default();
        line("because", &format!("rule {}{row}: {}", evidence.rule, evidence.text.trim()));
    }
    if of_now().next().is_none() {
        line("because", "no rule finds anything on its screen that says more");
    }
    if let Some(why) = why.filter(|_| !state.has_ended()) {
        let (record, believed) = recorded(why);
        line("screen", says(why.reading.phase, &why.reading.assessment));
        line("record", &record);
        line("believed", believed);
    }
    if state.has_ended() {
        let at = state.last_turn.at.map(|at| format!(", at {}, {} ago", clock(at, zone, now), now.since(at).rounded()));
        line("last turn", &(result_text(&state.last_turn) + &at.unwrap_or_default()));
    }
    if let Some(doubt) = why.and_then(|why| why.reading.doubt.as_deref()) {
        line("not sure", doubt);
    }
    let sure = match (&state.stale, state.stability.stable) {
        _ if state.has_ended() => None,
        (Some(stale), _) => Some(format!("not at all: the last good poll is {} old", now.since(stale.at).rounded())),
        (None, true) => {
            Some(format!("nothing of it has changed for {}", now.since(state.stability.stable_since).rounded()))
        }
        (None, false) if !state.since_exact => Some("not watched for a second yet: it may change".to_owned()),
        (None, false) => Some("something changed less than a second ago: it may change again".to_owned()),
    };
    sure.into_iter().for_each(|sure| line("how sure", &sure));
    line("changes with", changes_with(state));
    // That nothing happens is no change.
    let timers = why.into_iter().flat_map(|why| why.timers);
    for timer in timers.filter(|timer| timer.name != TimerName::Stability) {
        line("by itself", &format!("in {}: {}", timer.until.since(now).rounded(), timer.then));
    }
    text
}

/// What a witness says of an agent.
fn says(phase: Phase, assessment: &Assessment) -> &'static str {
    let menu = [UiContext::SelectionMenu, UiContext::SlashCommand].contains(&assessment.ui_context);
    match phase {
        _ if assessment.awaits_operator() => WAITS,
        Phase::Active => WORKS,
        Phase::Ready => RESTS,
        Phase::Unknown if menu => MENU,
        Phase::Unknown => "does not say",
    }
}

/// What the agent's own record says beside its screen, and which of the two is believed.
fn recorded(why: &Why<'_>) -> (String, &'static str) {
    let facts = |source| {
        let of_it = why.state.agent.iter().filter(|(_, fact)| fact.source == source);
        of_it.map(|(name, _)| name.word()).collect::<Vec<_>>().join(", ")
    };
    let Some(turn) = why.record else {
        let (own, guessed) = (facts(FactSource::Record), facts(FactSource::Directory));
        let record = match () {
            () if !own.is_empty() => format!("shows no turns, only {own}"),
            () if !guessed.is_empty() => {
                format!("one found by its directory, perhaps another agent's, shows only {guessed}")
            }
            () => format!("none: {}", why.no_record),
        };
        return (record, "its screen");
    };
    let said = match turn.phase {
        RecordedPhase::Active => WORKS,
        RecordedPhase::Waiting => WAITS,
        RecordedPhase::Menu => MENU,
        RecordedPhase::Idle | RecordedPhase::Background => RESTS,
    };
    let shown = says(why.reading.phase, &why.reading.assessment);
    let published = says(why.state.turn.phase, &why.state.assessment);
    let believed = match () {
        () if said == shown => "both, and they agree",
        () if said == published => "its record",
        () if shown == published => "its screen",
        () => "neither alone",
    };
    (format!("{said}: `{}` since {}", turn.word, clock(turn.at, why.zone, why.now)), believed)
}

/// What a witness says, behind its name.
const WORKS: &str = "says that it works";
const RESTS: &str = "says that it is ready";
const WAITS: &str = "says that it waits for the operator";
const MENU: &str = "says that a menu is open";

/// What the terminal is, to stand behind its name.
fn what(state: &State) -> &'static str {
    match state.diagnostics.availability {
        Availability::TuiDown => return "has no agent any more",
        Availability::Unavailable => return "is gone, with its pane",
        Availability::Error => return "cannot be read",
        _ if state.is_suspended() => return "is stopped",
        Availability::Available | Availability::Unknown => {}
    }
    if state.assessment.awaits_operator() {
        return match state.assessment.ui_context {
            UiContext::ApprovalPrompt => "waits for your approval",
            UiContext::Question => "asks you a question",
            UiContext::TrustPrompt => "asks whether you trust what is there",
            UiContext::Setup => "waits for you in its setup",
            UiContext::Limit => "asks what to do about its account's limit",
            _ => "waits for you",
        };
    }
    match (state.attention, state.turn.phase, state.assessment.ui_context) {
        (Attention::Stalled, ..) => "stands still when it should not",
        (_, Phase::Active, _) => "works",
        (_, Phase::Ready, UiContext::Limit) => "is stopped by its account's limit; it takes a prompt",
        (Attention::Failed, Phase::Ready, _) => "is ready for a prompt; its last turn failed",
        (Attention::Interrupted, Phase::Ready, _) => "is ready for a prompt; its last turn was interrupted",
        (Attention::Finished, Phase::Ready, _) => "is ready for a prompt; it has finished, and you have not looked yet",
        (_, Phase::Ready, UiContext::CommandPrompt) => "rests; its prompt holds a command or is in shell mode",
        (_, Phase::Ready, _) => "is ready for a prompt",
        (_, Phase::Unknown, UiContext::SelectionMenu) => "shows a menu, which has the keyboard",
        (_, Phase::Unknown, UiContext::SlashCommand) => "shows its list of commands",
        (_, Phase::Unknown, _) => "is unknown: its screen does not show what it does",
    }
}

/// What would make it something else.
fn changes_with(state: &State) -> &'static str {
    match (state.diagnostics.availability, state.turn.phase) {
        _ if state.is_suspended() => "`fg` in its pane, or its end",
        (Availability::TuiDown, _) => "an agent that is started in the pane",
        (Availability::Unavailable, _) => "nothing: another pane is another terminal",
        (Availability::Error, _) => "a poll of it that succeeds",
        _ if state.assessment.awaits_operator() => "an answer to the dialog, or the dialog's end on its screen",
        (_, Phase::Active) if is_held_by_record(state) => "the end of the turn in the agent's own record",
        (_, Phase::Active) => "the end of the work on its screen, when its answer has stood still for a moment",
        (_, Phase::Ready) => "a prompt that is sent, or work or a dialog on its screen",
        (_, Phase::Unknown) => "a screen that a rule knows",
    }
}

/// Whether the screen alone would not tell that the turn goes on.
fn is_held_by_record(state: &State) -> bool {
    // What runs on behind a prompt and how the last turn ended rest on the same rule.
    state.evidence.iter().any(|evidence| evidence.rule == "record" && evidence.text == RECORD_HOLDS)
}

fn since(since: Since, zone: &TimeZone, now: Timestamp) -> String {
    let elapsed = now.since(since.at);
    if elapsed < FIRST_POLL && !since.exact {
        return "just now, or before this poll".to_owned();
    }
    let (clock, elapsed) = (clock(since.at, zone, now), elapsed.rounded());
    if since.exact { format!("{clock}, for {elapsed}") } else { format!("{clock} at least, for more than {elapsed}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_record::{AgentRecordReading, RecordedPhase, RecordedResult, RecordedTurn};
    use crate::profile::{ProfileSet, TakenAs};
    use crate::screen::{Cursor, PaneFacts, Screen};
    use crate::state::{Evidence, TerminalFacts, TurnResult};
    use crate::tracker::{Observation, Settings, Tracker};

    const SCOUT: &str = include_str!("../../tests/it/support/scout.toml");

    #[test]
    fn a_turn_that_its_record_holds_changes_with_the_record() {
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", SCOUT).unwrap();
        let profile = profiles.select("scout", Some("1.0.0"), false).unwrap().profile;
        let facts = PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() };
        let reading = profile.read(&Screen::from_capture("❯\n".as_bytes(), 80, 24), &facts);
        let at = Timestamp::from_millis(1_000);
        let witness = |record: Option<RecordedTurn>| {
            let mut tracker = Tracker::new(Settings::default(), at);
            tracker.recorded(AgentRecordReading { turn: record, ..AgentRecordReading::default() });
            tracker.handle(Observation::Submitted { at, taken: TakenAs::Prompt }, at);
            tracker.handle(Observation::Read { reading: &reading, temporal: profile.temporal(), resized: false }, at);
            changes_with(&tracker.state(TerminalFacts::default(), at))
        };
        let turn = |phase| RecordedTurn {
            phase,
            context: None,
            word: "busy".to_owned(),
            at,
            marks_turns: true,
            patience: None,
        };
        assert!(witness(None).contains("its screen"));
        assert!(witness(Some(turn(RecordedPhase::Active))).contains("record"));
        assert!(witness(Some(turn(RecordedPhase::Background))).contains("its screen"));
    }

    #[test]
    fn a_result_that_its_record_corrects_names_both_witnesses() {
        let at = Timestamp::from_millis(1_000);
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", SCOUT).unwrap();
        let profile = profiles.select("scout", Some("1.0.0"), false).unwrap().profile;
        let facts = PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() };
        let mut tracker = Tracker::new(Settings::default(), at);
        for (seconds, screen) in
            [(0, "» one\n~ Thinking\n\n❯\n"), (2, "» one\n• Done.\n\n❯\n"), (4, "» one\n• Done.\n\n❯\n")]
        {
            let reading = profile.read(&Screen::from_capture(screen.as_bytes(), 80, 24), &facts);
            let read = Observation::Read { reading: &reading, temporal: profile.temporal(), resized: false };
            tracker.handle(read, at + Span::from_secs(seconds));
        }
        let ended_at = at + Span::from_secs(4);
        let evidence = |tracker: &Tracker| -> Vec<String> {
            let of_last = |evidence: &&Evidence| ["last-turn", "record"].contains(&evidence.rule.as_str());
            let state = tracker.state(TerminalFacts::default(), ended_at);
            state.evidence.iter().filter(of_last).map(|said| format!("{}: {}", said.rule, said.text)).collect()
        };
        assert_eq!(evidence(&tracker), ["last-turn: the work ended, and its answer stood still"]);
        let detail = Some("429 Too Many Requests".to_owned());
        let result = RecordedResult { result: TurnResult::KnownFailure, detail, began: None, at: ended_at };
        tracker.recorded(AgentRecordReading { result: Some(result), ..AgentRecordReading::default() });
        tracker.handle(Observation::Nothing, ended_at);
        assert_eq!(
            evidence(&tracker),
            [
                "record: the agent's own record says how the last turn ended: failed: 429 Too Many Requests",
                "last-turn: the screen was read as finished; the record is believed",
            ]
        );
    }

    #[test]
    fn how_sure_it_is_goes_by_the_same_clock_as_its_age() {
        let at = Timestamp::from_millis(100_000);
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", SCOUT).unwrap();
        let profile = profiles.select("scout", Some("1.0.0"), false).unwrap().profile;
        let facts = PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() };
        let reading = profile.read(&Screen::from_capture("❯\n".as_bytes(), 80, 24), &facts);
        let result_text = |printed_until: Option<Timestamp>, now: Timestamp| {
            let mut tracker = Tracker::new(Settings::default(), at);
            tracker.printed_until(printed_until);
            let read = Observation::Read { reading: &reading, temporal: profile.temporal(), resized: false };
            tracker.handle(read, at);
            let text = answer(&tracker.state(TerminalFacts::default(), now), None, &TimeZone::UTC, now);
            let of = |name: &str| {
                text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap_or_default().trim().to_owned()
            };
            [of("since"), of("how sure")]
        };
        let [since, sure] = result_text(Some(at - Span::from_secs(53)), at);
        assert!(since.ends_with("for more than 53s"), "{since}");
        assert_eq!(sure, "nothing of it has changed for 53s");
        let [since, sure] = result_text(None, at);
        assert_eq!(
            [since.as_str(), sure.as_str()],
            ["just now, or before this poll", "not watched for a second yet: it may change"]
        );
        assert_eq!(result_text(None, at + Span::from_secs(75))[1], "nothing of it has changed for 1m");
    }

    #[test]
    fn the_answer_names_both_witnesses_and_who_is_believed() {
        let at = Timestamp::from_millis(1_000);
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", SCOUT).unwrap();
        let profile = profiles.select("scout", Some("1.0.0"), false).unwrap().profile;
        let facts = PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() };
        let screen = Screen::from_capture("❯\n".as_bytes(), 80, 24);
        let (reading, explanation) = profile.explain(&screen, &facts);
        let result_text = |phase: Option<RecordedPhase>, marks_turns: bool| {
            let word = "busy".to_owned();
            let turn = phase.map(|phase| RecordedTurn { phase, context: None, word, at, marks_turns, patience: None });
            let mut tracker = Tracker::new(Settings::default(), at);
            let mut record = AgentRecordReading { turn, ..AgentRecordReading::default() };
            if phase.is_none() && marks_turns {
                let value = crate::state::FactValue::Text("opus".to_owned());
                record
                    .facts
                    .put(crate::state::FactName::Model, crate::state::Fact { value, source: FactSource::Record, at });
            }
            tracker.recorded(record);
            tracker.handle(Observation::Read { reading: &reading, temporal: profile.temporal(), resized: false }, at);
            let state = tracker.state(TerminalFacts::default(), at);
            let why = Why {
                screen: &screen,
                reading: &reading,
                explanation: &explanation,
                state: &state,
                record: tracker.record(),
                no_record: "no rules for its records",
                timers: &[],
                zone: &TimeZone::UTC,
                now: at,
            };
            let answer = why.answer();
            let lines = answer.lines().map(str::trim).skip_while(|line| !line.starts_with("screen")).take(3);
            lines.map(|line| line[15..].to_owned()).collect::<Vec<_>>()
        };
        let shown = "says that it is ready";
        let since = "`busy` since 00:00:01";
        for (phase, record, believed) in [
            (RecordedPhase::Idle, "says that it is ready", "both, and they agree"),
            (RecordedPhase::Active, "says that it works", "its record"),
            (RecordedPhase::Menu, "says that a menu is open", "its screen"),
        ] {
            assert_eq!(
                result_text(Some(phase), phase != RecordedPhase::Menu),
                [shown, &format!("{record}: {since}"), believed]
            );
        }
        assert_eq!(result_text(None, true), [shown, "shows no turns, only model", "its screen"]);
        assert_eq!(result_text(None, false), [shown, "none: no rules for its records", "its screen"]);
    }
}
