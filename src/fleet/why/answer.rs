//! The answer before its details: what a terminal is, since when, why, how sure that is, and what would change it.

use std::fmt::Write as _;

use super::Why;
use crate::screen::harmless;
use crate::state::{Attention, Availability, BusinessState, Phase, Since, State, Tri, UiContext};
use crate::time::{Span, Timestamp};
use crate::tracker::TimerName;

/// What began so recently may have begun long before: a first look cannot tell.
const FIRST_LOOK: Span = Span::from_millis(1000);

impl Why<'_> {
    /// The answer in the operator's words, several lines of harmless text.
    pub fn answer(&self) -> String {
        let state = self.state;
        let mut text = format!("{} {}", state.terminal.id, what(state));
        if let Some(activity) = state.activity.as_deref().filter(|activity| !activity.trim().is_empty()) {
            let _ = write!(text, ": {activity}");
        }
        let mut text = harmless(&text.replace(['\n', '\t'], " "));
        text.push('\n');
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "  {name:<14} {}", harmless(value));
        };
        line("since", &since(state.since(), self.now));
        for evidence in &state.evidence {
            let row = evidence.line.map(|row| format!(", row {row}")).unwrap_or_default();
            line("because", &format!("rule {}{row}: {}", evidence.rule, evidence.text.trim()));
        }
        if state.evidence.is_empty() {
            line("because", "no rule finds anything on its screen that says more");
        }
        if let Some(doubt) = &self.reading.doubt {
            line("not sure", doubt);
        }
        line(
            "how sure",
            &match (&state.stale, state.stability.stable) {
                (Some(stale), _) => {
                    format!("not at all: the last good look is {} old", seconds(self.now.since(stale.at)))
                }
                (None, true) => format!("it has been the same for {:.0} s", state.stability.stable_for_seconds),
                (None, false) => {
                    format!("it is the same for only {:.1} s, and may yet change", state.stability.stable_for_seconds)
                }
            },
        );
        line("changes with", changes_with(state));
        // That nothing happens is no change.
        for timer in self.timers.iter().filter(|timer| timer.name != TimerName::Stability) {
            line("by itself", &format!("in {}: {}", seconds(timer.until.since(self.now)), timer.then));
        }
        text
    }
}

/// What the terminal is, to stand behind its name.
fn what(state: &State) -> &'static str {
    match state.diagnostics.availability {
        Availability::TuiDown => return "has no agent any more: it has ended, and its pane is still there",
        Availability::Unavailable => return "is gone, with its pane",
        Availability::Error => return "cannot be read",
        Availability::Available | Availability::Unknown => {}
    }
    if state.assessment.business_state == BusinessState::AwaitingOperator {
        return match state.assessment.ui_context {
            UiContext::ApprovalPrompt => "waits for your approval",
            UiContext::Question => "asks you a question",
            UiContext::TrustPrompt => "asks whether you trust what is there",
            UiContext::Setup => "waits for you in its set-up",
            _ => "waits for you",
        };
    }
    match (state.attention, state.turn.phase, state.assessment.ui_context) {
        (Attention::Stalled, ..) => "stands still where it should not",
        (_, Phase::Active, _) => "works",
        (Attention::Failed, Phase::Ready, _) => "is ready for a prompt; its last turn failed",
        (Attention::Interrupted, Phase::Ready, _) => "is ready for a prompt; its last turn was interrupted",
        (Attention::Finished, Phase::Ready, _) => "is ready for a prompt; it has finished, and you have not looked yet",
        (_, Phase::Ready, _) => "is ready for a prompt",
        (_, Phase::Unknown, UiContext::SelectionMenu) => "shows a menu, which has the keyboard",
        (_, Phase::Unknown, UiContext::SlashCommand) => "shows its list of commands",
        (_, Phase::Unknown, _) => "is unknown: what its screen shows does not tell what it does",
    }
}

/// What would make it something else.
fn changes_with(state: &State) -> &'static str {
    match (state.diagnostics.availability, state.turn.phase) {
        (Availability::TuiDown, _) => "an agent that is started in the pane",
        (Availability::Unavailable, _) => "nothing: another pane is another terminal",
        (Availability::Error, _) => "a look at it that succeeds",
        _ if state.assessment.business_state == BusinessState::AwaitingOperator => {
            "an answer to the dialog, or the dialog's end on its screen"
        }
        (_, Phase::Active) if is_held_by_record(state) => "the end of the turn in the agent's own record",
        (_, Phase::Active) => "the end of the work on its screen, when its answer has stood still for a moment",
        (_, Phase::Ready) => "a prompt that is sent, or work or a dialog on its screen",
        (_, Phase::Unknown) => "a screen that a rule knows",
    }
}

/// Whether the screen alone would not tell that the turn goes on.
fn is_held_by_record(state: &State) -> bool {
    // What runs on behind a prompt rests on the same rule.
    state.turn.background_work != Tri::Yes && state.evidence.iter().any(|evidence| evidence.rule == "record")
}

fn since(since: Since, now: Timestamp) -> String {
    let elapsed = now.since(since.at);
    if elapsed < FIRST_LOOK {
        return "just now, or from before this look".to_owned();
    }
    let (clock, elapsed) = (super::time_of_day(since.at), seconds(elapsed));
    if since.exact { format!("{clock}, for {elapsed}") } else { format!("{clock} at least, for more than {elapsed}") }
}

fn seconds(span: Span) -> String {
    format!("{:.1} s", span.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_record::{AgentRecordReading, RecordedPhase, RecordedTurn};
    use crate::profile::{ProfileSet, TakenAs};
    use crate::screen::{Cursor, PaneFacts, Screen};
    use crate::state::TerminalFacts;
    use crate::tracker::{Observation, Settings, Tracker};

    const SCOUT: &str = include_str!("../../../tests/it/support/scout.toml");

    #[test]
    fn a_turn_that_its_record_holds_changes_with_the_record() {
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", SCOUT).unwrap();
        let profile = profiles.select("scout", Some("1.0.0"), false).unwrap().profile;
        let facts = PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() };
        let reading = profile.read(&Screen::from_capture("❯\n".as_bytes(), 80, 24), &facts);
        let at = Timestamp::from_millis(1_000);
        let look = |record: Option<RecordedTurn>| {
            let mut tracker = Tracker::new(Settings::default(), at);
            tracker.recorded(AgentRecordReading { turn: record, ..AgentRecordReading::default() });
            tracker.handle(Observation::Submitted { at, taken: TakenAs::Prompt }, at);
            tracker.handle(Observation::Read { reading: &reading, temporal: profile.temporal(), resized: false }, at);
            changes_with(&tracker.state(TerminalFacts::default(), at))
        };
        let turn = |phase| RecordedTurn { phase, context: None, word: "busy".to_owned(), at, marks_turns: true };
        assert!(look(None).contains("its screen"));
        assert!(look(Some(turn(RecordedPhase::Active))).contains("record"));
        assert!(look(Some(turn(RecordedPhase::Background))).contains("its screen"));
    }
}
