//! The agent that is to be told: whether now is the time, and whether a message has arrived.

use super::tag;
use crate::fleet::Terminal;
use crate::screen::Screen;
use crate::state::{Availability, Tri};
use crate::time::Span;

/// How long what a process that died had begun is waited for: a tmux that it started may still deliver, and the agent draws
/// what it got.
const AFTERMATH: Span = Span::from_secs(3);
/// How long a screen is waited for that can be read.
const PATIENCE: Span = Span::from_secs(30);

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
    pub draft: Tri,
    /// What it shows, without blanks: agents wrap and indent what they were told.
    shown: String,
    /// Whether all that it ever showed is still on the screen.
    shows_all: bool,
}

impl Target {
    /// What a terminal shows now.
    pub fn of(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let posture = match state.diagnostics.availability {
            _ if terminal.takes_a_prompt() => Posture::Ready,
            Availability::TuiDown | Availability::Unavailable => Posture::Gone,
            _ => Posture::Busy,
        };
        let shows_all = !terminal.facts.alternate && terminal.facts.history_size == 0;
        Self::new(posture, state.surface.editing_input, &text(terminal.screen.as_deref()), shows_all)
    }

    /// A target that shows a text; `shows_all` when nothing of it has scrolled away.
    pub fn new(posture: Posture, draft: Tri, shown: &str, shows_all: bool) -> Self {
        Self { posture, draft, shown: squeezed(shown), shows_all }
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

/// What became of the message with a number, or of a prompt, which has none: whether the text on the screen is that one
/// cannot be told. `recorded` is the outcome that its sender still wrote down; `waited` is for how
/// long that has been asked.
pub fn fate(number: Option<i64>, recorded: Option<&str>, target: Option<&Target>, waited: Span) -> Fate {
    match recorded {
        Some("accepted") => return Fate::Arrived,
        Some("refused") => return Fate::NotSent,
        _ => {}
    }
    let Some(target) = target.filter(|target| target.posture != Posture::Gone) else {
        return Fate::Unclear("its agent is gone");
    };
    let Some(number) = number else {
        return if waited < AFTERMATH { Fate::Wait } else { Fate::Unclear("its sender died") };
    };
    match (target.shows(number), target.draft, target.posture) {
        _ if waited < AFTERMATH => Fate::Wait,
        (true, Tri::Yes, _) => Fate::Unclear("it may stand in the prompt, unsent"),
        (true, Tri::No, _) => Fate::Arrived,
        // A prompt that is not found on the screen may be the very row in which the message stands.
        (true, Tri::Unknown, _) if waited < PATIENCE => Fate::Wait,
        (true, Tri::Unknown, _) => Fate::Unclear("it is on the screen, but it cannot be told whether it was sent"),
        (false, Tri::No, Posture::Ready) if target.shows_all && recorded.is_none() => Fate::NotSent,
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
