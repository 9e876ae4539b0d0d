//! Messages to agents that wait, or of which it is not known whether they arrived: a list, what can become of the chosen
//! one, and a question before it does.

use super::Request;
use super::confirm::Confirm;
use super::overlay::Flow;
use super::picker::{MenuEntry, Picker};
use super::times;
use crate::history::{Intent, IntentId, IntentState};
use crate::time::Timestamp;

/// What the operator decides of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Resend,
    Dismiss,
}

/// The messages that are open, those that the operator has to decide of first.
pub fn follow_ups(intents: &[Intent], now: Timestamp) -> Picker {
    let mut intents = intents.to_vec();
    intents.sort_by_key(|intent| (!needs_decision(intent), intent.id));
    let entry = |intent: &Intent| {
        let text = format!("{} to {}: {}", intent.id.0, intent.target, intent.told());
        MenuEntry::new(text, format!("{} {}", word(intent.state), times::running(now.since(intent.created))))
    };
    let entries = intents.iter().map(entry).collect();
    Picker::new("messages to agents", "decide", entries, move |index, desk| {
        if intents[index].state == IntentState::Attempted {
            desk.say("it is being sent; the outcome will be shown");
            return Flow::Stay;
        }
        Flow::Become(Box::new(decisions(intents[index].clone())))
    })
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

const fn word(state: IntentState) -> &'static str {
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
    let mut lines = vec![intent.told()];
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

/// What came of a decision, in words.
pub fn decided(id: IntentId, decision: Decision, next: Option<IntentId>) -> String {
    match (decision, next) {
        (Decision::Resend, Some(next)) => format!("message {} is sent again, as number {}", id.0, next.0),
        (Decision::Resend, None) => format!("message {} is sent again", id.0),
        (Decision::Dismiss, _) => format!("message {} is dismissed", id.0),
    }
}
