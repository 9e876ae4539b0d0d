//! What keeps a prompt from an agent, and what to do about it.

use std::fmt;

use crate::state::{Availability, InputMode, ParseStatus, Phase, State, Surface, Tri, UiContext};

/// What keeps a prompt from beginning a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Hindrance {
    /// The agent is not there any more.
    Gone,
    /// The agent was stopped, and what has its terminal would get the keys.
    Suspended,
    /// The pane is in a mode of tmux, which takes the keys.
    InMode,
    Dialog,
    Menu,
    Working,
    /// The text in the prompt would make a command of it, or the agent's shell mode would run it.
    Command,
    /// Somebody has begun to write.
    Draft,
    /// The agent holds a prompt that it has not begun.
    Queued,
    /// The screen does not say that a prompt is taken.
    NotReady,
    /// No profile reads the agent's screen, so that nothing will ever say so.
    NoProfile,
}

impl Hindrance {
    /// What keeps a prompt from an agent now (SPEC §11); `None` when it would begin a turn.
    pub fn of(state: &State) -> Option<Self> {
        match state.diagnostics.availability {
            Availability::Available => {}
            Availability::TuiDown | Availability::Unavailable => return Some(Hindrance::Gone),
            _ if state.is_suspended() => return Some(Hindrance::Suspended),
            Availability::Unknown if state.diagnostics.parse_status == ParseStatus::UnsupportedTool => {
                return Some(Hindrance::NoProfile);
            }
            Availability::Error | Availability::Unknown => return Some(Hindrance::NotReady),
        }
        let menu = state.assessment.input_mode == InputMode::Modal;
        Hindrance::at_prompt(state.waits(), menu, state.assessment.ui_context, state.turn.phase, &state.surface)
    }

    /// The hindrance on a screen, by its question, its phase and its prompt.
    pub fn at_prompt(dialog: bool, menu: bool, context: UiContext, phase: Phase, surface: &Surface) -> Option<Self> {
        Some(match phase {
            _ if dialog => Hindrance::Dialog,
            _ if menu => Hindrance::Menu,
            _ if matches!(context, UiContext::SlashCommand | UiContext::CommandPrompt) => Hindrance::Command,
            Phase::Active => Hindrance::Working,
            _ if surface.editing_input == Tri::Yes => Hindrance::Draft,
            _ if surface.pending_input == Tri::Yes => Hindrance::Queued,
            Phase::Ready if surface.ready_posture == Tri::Yes => return None,
            Phase::Ready | Phase::Unknown => Hindrance::NotReady,
        })
    }

    /// Whether it may be over later, so that the prompt can wait for it.
    pub const fn may_pass(self) -> bool {
        !matches!(self, Hindrance::Gone | Hindrance::NoProfile)
    }

    /// Whether the prompt is sent all the same when the operator insists.
    pub const fn may_insist(self) -> bool {
        match self {
            Hindrance::Working | Hindrance::Draft | Hindrance::Queued => true,
            Hindrance::NotReady | Hindrance::NoProfile => true,
            Hindrance::Gone | Hindrance::Suspended | Hindrance::InMode => false,
            Hindrance::Dialog | Hindrance::Menu | Hindrance::Command => false,
        }
    }

    /// Until when a prompt waits that is queued behind it.
    pub const fn until(self) -> &'static str {
        match self {
            Hindrance::Gone => "for nobody: the agent has ended",
            Hindrance::Suspended => "until it is brought back with `fg`",
            Hindrance::InMode => "until its pane leaves copy mode",
            Hindrance::Dialog => "until its dialog is answered",
            Hindrance::Menu => "until its menu is closed",
            Hindrance::Command => "until the command in its input line is sent or erased",
            Hindrance::Draft => "until its draft is sent or erased",
            Hindrance::Queued => "until it begins what it holds",
            Hindrance::Working | Hindrance::NotReady => "until it is ready",
            Hindrance::NoProfile => "for ever: no profile reads it",
        }
    }

    /// The operator's remedy on the command line, if that is plain.
    pub const fn hint(self) -> &'static str {
        match self {
            Hindrance::Gone => "`fleetwatch list` shows what is there now",
            Hindrance::Suspended => "bring it back first, with `fg` in its pane",
            Hindrance::InMode => "leave the mode first (`q` leaves copy mode)",
            Hindrance::Dialog => "answer the dialog first",
            Hindrance::Menu => "leave the menu first, usually with Escape (`fleetwatch keys NAME Escape`)",
            Hindrance::Command => {
                "send or erase the command there first; `fleetwatch keys NAME BSpace` leaves an empty shell mode"
            }
            Hindrance::Working => "wait until it is ready (`--when-ready`), or send anyway (`--force`)",
            Hindrance::Draft => "send or erase the draft first, or send after it (`--force`)",
            Hindrance::Queued => "wait until the agent has begun that prompt, or send after it (`--force`)",
            Hindrance::NotReady | Hindrance::NoProfile => "look at the terminal first; `--force` sends anyway",
        }
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hindrance::Gone => "the agent has ended",
            Hindrance::Suspended => "the agent is suspended",
            Hindrance::InMode => "the pane is in copy mode or another mode of tmux",
            Hindrance::Dialog => "a dialog is open",
            Hindrance::Menu => "a menu is open",
            Hindrance::Working => "it is working",
            Hindrance::Command => "its input line holds a command or is in shell mode, which would run the text",
            Hindrance::Draft => "its input line holds an unsent draft",
            Hindrance::Queued => "a prompt is queued there already",
            Hindrance::NotReady => "it is not certain to be ready",
            Hindrance::NoProfile => "no profile tells when it is ready",
        })
    }
}
