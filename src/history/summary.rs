//! The public state in short as one column, readable by people and by SQL.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::state::Summary;

/// The six words of a summary, in the order of [`Summary`].
pub(super) fn write(summary: &Summary) -> String {
    let Summary { availability, phase, result, source, ui_context, status } = summary;
    format!("{availability} {phase} {result} {source} {ui_context} {status}")
}

/// Reads the six words; `None` for anything else.
pub(super) fn read(words: &str) -> Option<Summary> {
    let mut words = words.split(' ');
    let summary = Summary {
        availability: word(&mut words)?,
        phase: word(&mut words)?,
        result: word(&mut words)?,
        source: word(&mut words)?,
        ui_context: word(&mut words)?,
        status: word(&mut words)?,
    };
    words.next().is_none().then_some(summary)
}

fn word<'a, T: DeserializeOwned>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    serde_json::from_value(Value::String(words.next()?.to_owned())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Availability, OperatorStatus, Phase, TurnResult, TurnSource, UiContext};

    #[test]
    fn summaries_come_back() {
        let summary = Summary {
            availability: Availability::TuiDown,
            phase: Phase::Unknown,
            result: TurnResult::KnownFailure,
            source: TurnSource::SurfaceInference,
            ui_context: UiContext::ErrorBanner,
            status: OperatorStatus::WaitingUserAnswer,
        };
        let words = "tui_down unknown known_failure surface_inference error_banner waiting_user_answer";
        assert_eq!(write(&summary), words);
        assert_eq!(read(words), Some(summary));
        assert_eq!(read("tui_down unknown"), None);
        assert_eq!(read(&format!("{words} more")), None);
        assert_eq!(read("a b c d e f"), None);
    }
}
