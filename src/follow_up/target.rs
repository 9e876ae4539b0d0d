//! The agent that is to be told: whether now is the time, and whether a message has arrived.

use super::message::tag;
use crate::fleet::Terminal;
use crate::screen::Screen;
use crate::state::{Availability, BusinessState, Phase, Tri};

/// What an agent could do with a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posture {
    /// It would begin a turn.
    Ready,
    /// It works, asks something, has a draft, or cannot be told.
    Busy,
    /// Its terminal is there, but no agent runs in it.
    Gone,
}

/// What is seen of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub posture: Posture,
    /// Whether its prompt holds text.
    pub has_draft: bool,
    /// What it shows, without blanks: agents wrap and indent what they were told.
    shown: String,
    /// Whether all that it ever showed is still on the screen.
    shows_all: bool,
}

impl Target {
    /// What a terminal shows now.
    pub fn of(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let has_draft = state.surface.editing_input == Tri::Yes;
        let is_ready = state.turn.phase == Phase::Ready
            && state.surface.ready_posture == Tri::Yes
            && state.surface.pending_input != Tri::Yes
            && state.assessment.business_state != BusinessState::AwaitingOperator;
        let posture = match state.diagnostics.availability {
            Availability::Available if is_ready && !has_draft && !terminal.facts.in_mode => Posture::Ready,
            Availability::TuiDown | Availability::Unavailable => Posture::Gone,
            _ => Posture::Busy,
        };
        let shows_all = !terminal.facts.alternate && terminal.facts.history_size == 0;
        Self::new(posture, has_draft, &text(terminal.screen.as_deref()), shows_all)
    }

    /// A target that shows a text; `shows_all` when nothing of it has scrolled away.
    pub fn new(posture: Posture, has_draft: bool, shown: &str, shows_all: bool) -> Self {
        Self { posture, has_draft, shown: squeezed(shown), shows_all }
    }

    /// Whether the message with a number stands on its screen.
    pub fn shows(&self, number: i64) -> bool {
        self.shown.contains(&squeezed(&tag(number)))
    }
}

/// What became of a message whose sender died while it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrived,
    /// Nothing of it was sent; it may be sent.
    NotSent,
    /// It cannot be told, for this reason; the operator is asked.
    Unclear(&'static str),
    /// It is too early to tell.
    Wait,
}

/// What became of the message with a number. `recorded` is the outcome that its sender still wrote down.
pub fn fate(number: i64, recorded: Option<&str>, target: Option<&Target>) -> Fate {
    match recorded {
        Some("accepted") => return Fate::Arrived,
        Some("refused") => return Fate::NotSent,
        _ => {}
    }
    let Some(target) = target.filter(|target| target.posture != Posture::Gone) else {
        return Fate::Unclear("its agent is gone");
    };
    match (target.shows(number), target.has_draft, target.posture) {
        (true, true, _) => Fate::Unclear("it may stand in the prompt, unsent"),
        (true, false, _) => Fate::Arrived,
        (false, false, Posture::Ready) if target.shows_all => Fate::NotSent,
        (false, _, Posture::Ready) => Fate::Unclear("it is not on the screen, and may have scrolled away"),
        (false, ..) => Fate::Wait,
    }
}

fn text(screen: Option<&Screen>) -> String {
    screen.map(|screen| screen.rows().iter().map(|row| row.text()).collect::<Vec<_>>().concat()).unwrap_or_default()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
