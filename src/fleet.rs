//! All terminals: inputs and time in, effects and a view out. It looks at no clock and does no I/O (DESIGN).
//!
//! The driving rule, for the app as for a replay: hand every [`Input`] to [`Fleet::handle`] with its time, then take
//! effects from [`Fleet::poll_effect`] until there are none, then wait for the next input or for
//! [`Fleet::poll_timeout`], whichever comes first; a timeout is handed in as [`Input::TimePassed`].

mod place;
mod report;
mod view;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub use place::{PaneId, Place, ServerId, Socket, TerminalKey};
pub use report::{Capture, Declared, Outcome, PaneReport, ServerReport};
pub use view::{Health, RecentTransition, ServerView, Terminal, View};

use crate::moment::Moment;
use crate::profile::Library;
use crate::screen::Screen;
use crate::state::Transition;
use crate::tracker;

/// Everything that can happen to the fleet.
#[derive(Clone, Debug)]
pub enum Input {
    /// One look at one server.
    Server(ServerReport),
    /// A prompt went into a terminal through fleetwatch, here or in another process of it, at `at`.
    Submitted { key: TerminalKey, at: Moment },
    /// The operator has seen the terminal: selected it for a second, jumped to it or answered it (SPEC §2).
    Seen { key: TerminalKey },
    /// Nothing happened but time.
    TimePassed,
}

/// Everything that the fleet wants done or told.
#[derive(Clone, Debug)]
pub enum Effect {
    /// A terminal is watched from now on, or what names it (id, place, title, version) has changed.
    Introduced { key: TerminalKey },
    /// The public state changed; `screen` is what was shown then.
    Changed { key: TerminalKey, id: String, transition: Transition, screen: Option<Arc<Screen>> },
    /// A terminal has left the fleet.
    Left { key: TerminalKey, id: String, transition: Transition },
}

/// The settings of the fleet, from the configuration.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub tracker: tracker::Settings,
}

/// All watched terminals and servers.
pub struct Fleet {
    #[allow(dead_code)]
    settings: Settings,
    #[allow(dead_code)]
    library: Arc<Library>,
    terminals: BTreeMap<TerminalKey, Terminal>,
    servers: BTreeMap<ServerId, ServerView>,
    recent: VecDeque<RecentTransition>,
    effects: VecDeque<Effect>,
}

impl Fleet {
    /// A fleet without terminals.
    pub fn new(settings: Settings, library: Arc<Library>) -> Self {
        Self {
            settings,
            library,
            terminals: BTreeMap::new(),
            servers: BTreeMap::new(),
            recent: VecDeque::new(),
            effects: VecDeque::new(),
        }
    }

    /// Takes in what happened. Inputs come in the order of their times; an earlier time is read as the latest one.
    pub fn handle(&mut self, _input: Input, _now: Moment) {}

    /// The next thing that the fleet wants done, oldest first.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When the fleet wants to be called with [`Input::TimePassed`] at the latest.
    pub fn poll_timeout(&self) -> Option<Moment> {
        None
    }

    /// The terminal with an identity.
    pub fn terminal(&self, key: &TerminalKey) -> Option<&Terminal> {
        self.terminals.get(key)
    }

    /// What there is to show at a time, most urgent terminal first.
    pub fn view(&self, now: Moment) -> View<'_> {
        View {
            now,
            terminals: self.terminals.values().collect(),
            servers: self.servers.values().collect(),
            recent: &self.recent,
        }
    }
}
