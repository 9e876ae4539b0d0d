//! Messages to agents that wait, or of which it is not known whether they arrived: a list, what can become of the chosen
//! one, and a question before it does.

use super::Request;
use super::confirm::Confirm;
use super::menu::{Menu, MenuEntry};
use super::overlay::{Flow, OverlayContext};
use super::picker::Picker;
use super::times;
use crate::history::{Intent, IntentId, IntentState};
use crate::time::Timestamp;

/// The list of messages, or what can become of one of them.
#[derive(Debug)]
pub struct FollowUpList {
    intents: Vec<Intent>,
    /// The message that was chosen, and what can become of it.
    chosen: Option<(Intent, Vec<Decision>)>,
    menu: Menu,
}

/// What the operator decides of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Resend,
    Dismiss,
}

impl FollowUpList {
    /// The messages that are open, those that the operator has to decide of first.
    pub fn new(intents: &[Intent], now: Timestamp) -> Self {
        let mut intents = intents.to_vec();
        intents.sort_by_key(|intent| (!needs_decision(intent), intent.id));
        let entry = |intent: &Intent| {
            let text = format!("{} to {}: {}", intent.id.0, intent.target, intent.told());
            let age = times::running(now.since(intent.created));
            MenuEntry { text, note: format!("{} {age}", word(intent.state)) }
        };
        let entries = intents.iter().map(entry).collect();
        Self { intents, chosen: None, menu: Menu::new("messages to agents", entries) }
    }

    /// What can become of a message.
    fn of(intent: Intent) -> Self {
        let decisions = match intent.state {
            IntentState::Pending => vec![Decision::Dismiss],
            _ => vec![Decision::Resend, Decision::Dismiss],
        };
        let entry = |decision: &Decision| {
            let text = match (decision, intent.state) {
                (Decision::Resend, _) => "send it again",
                (Decision::Dismiss, IntentState::Pending) => "do not send it",
                (Decision::Dismiss, _) => "dismiss it",
            };
            MenuEntry { text: text.to_owned(), note: String::new() }
        };
        let entries = decisions.iter().map(entry).collect();
        let menu = Menu::new(format!("message {} to {}", intent.id.0, intent.target), entries);
        Self { intents: Vec::new(), chosen: Some((intent, decisions)), menu }
    }

    fn choose(&self, index: usize, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match (&self.chosen, self.intents.get(index)) {
            (Some((intent, decisions)), _) => match decisions.get(index) {
                Some(decision) => Flow::Become(Box::new(question(intent, *decision))),
                None => Flow::Stay,
            },
            (None, Some(intent)) if intent.state == IntentState::Attempted => {
                desk.say("it is being sent; the outcome will be shown");
                Flow::Stay
            }
            (None, Some(intent)) => Flow::Become(Box::new(Self::of(intent.clone()))),
            (None, None) => Flow::Stay,
        }
    }
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

impl Picker for FollowUpList {
    fn menu(&mut self) -> &mut Menu {
        &mut self.menu
    }

    fn words(&self) -> [&'static str; 3] {
        ["decide", "down", "close"]
    }

    fn take(&mut self, index: usize, desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.choose(index, desk)
    }
}
