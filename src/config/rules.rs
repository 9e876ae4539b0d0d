//! Which panes are watched, and what the configuration says about them.

use crate::fleet::{Declared, PaneId, PaneLocation, ServerId};
use crate::pattern::Pattern;

/// The panes that the configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether panes that no rule names are watched when a known agent runs in them.
    pub discover: bool,
    pub(super) ignore: Vec<Pattern>,
    pub(super) terminals: Vec<TerminalRule>,
    pub(super) tasks: Vec<TerminalRule>,
}

/// A pane, or all panes that the patterns match.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TerminalRule {
    /// Glob pattern of the session's name.
    pub(super) session: Option<Pattern>,
    /// Glob pattern of the window's index or name.
    pub(super) window: Option<Pattern>,
    /// Glob pattern of the pane's index in its window, or of its `%` id.
    pub(super) pane: Option<Pattern>,
    /// Glob pattern of the server's socket name or path.
    pub(super) socket: Option<Pattern>,
    /// Glob pattern of the server's host.
    pub(super) host: Option<Pattern>,
    /// The terminal's name in fleetwatch.
    pub(super) name: Option<String>,
    /// The agent that runs there, by its profile's name, whatever the processes say.
    pub(super) tool: Option<String>,
    /// The agent's version, whatever its screen says.
    pub(super) version: Option<String>,
    /// A label, by which the dashboard can group.
    pub(super) label: Option<String>,
    /// Whether it is pinned to the top of the dashboard.
    pub(super) pin: Option<bool>,
    /// Whether it never counts as needing the operator.
    pub(super) mute: Option<bool>,
}

/// A pane, by everything that a rule can match.
#[derive(Clone, Copy, Debug)]
pub struct PaneAddress<'a> {
    pub server: &'a ServerId,
    pub place: &'a PaneLocation,
    pub pane: PaneId,
}

/// What the configuration says of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// It is never watched.
    Ignored,
    /// It is watched, whatever runs in it.
    Named(Declared),
    /// It is watched when a known agent runs in it; the configuration may say how it is shown.
    Discovered(Declared),
}

impl Default for Rules {
    fn default() -> Self {
        Self { discover: true, ignore: Vec::new(), terminals: Vec::new(), tasks: Vec::new() }
    }
}

impl Rules {
    /// What the configuration says of a pane. Ignoring wins over naming. Of several `[[terminal]]` that say what a pane
    /// is, the first one that matches is taken; label, pin and mute come from the first one each that gives them.
    pub fn of_pane(&self, address: PaneAddress<'_>) -> Match {
        if self.is_ignored(address) {
            return Match::Ignored;
        }
        let matching = || self.terminals.iter().filter(|rule| rule.matches(address));
        let named = matching().find(|rule| rule.names());
        let shown = Declared {
            name: named.and_then(|rule| rule.name.clone()),
            tool: named.and_then(|rule| rule.tool.clone()),
            version: named.and_then(|rule| rule.version.clone()),
            label: matching().find_map(|rule| rule.label.clone()),
            pinned: matching().find_map(|rule| rule.pin).unwrap_or_default(),
            muted: matching().find_map(|rule| rule.mute).unwrap_or_default(),
            by_window_name: named.is_some_and(|rule| rule.asks_for_window_name(address.place)),
        };
        match named {
            Some(_) => Match::Named(shown),
            None if self.discover => Match::Discovered(shown),
            None => Match::Ignored,
        }
    }

    /// Whether a pattern says that the pane is never watched.
    pub fn is_ignored(&self, address: PaneAddress<'_>) -> bool {
        // Spelling an address costs more than all else that is done for an idle pane.
        if self.ignore.is_empty() {
            return false;
        }
        // A pane is ignored under each of its names: no link and no group of sessions makes it one to watch.
        address.place.all().any(|(session, index)| {
            let spellings = address.spellings(session, index);
            self.ignore.iter().any(|pattern| spellings.iter().any(|spelling| pattern.matches(spelling)))
        })
    }

    /// Whether the configuration declares the pane's window as one of a task.
    pub fn is_task(&self, address: PaneAddress<'_>) -> bool {
        self.tasks.iter().any(|rule| rule.matches(address))
    }

    /// Whether it declares the whole session of a pane as one of tasks.
    pub fn is_task_session(&self, address: PaneAddress<'_>) -> bool {
        self.tasks.iter().any(|rule| rule.window.is_none() && rule.matches(address))
    }
}

impl TerminalRule {
    /// Whether the rule has panes watched. One that only says how panes are shown does not.
    fn names(&self) -> bool {
        let only_shown = self.label.is_some() || self.pin.is_some() || self.mute.is_some();
        !only_shown || self.name.is_some() || self.tool.is_some() || self.version.is_some()
    }

    fn asks_for_window_name(&self, place: &PaneLocation) -> bool {
        self.window.as_ref().is_some_and(|pattern| !pattern.is_any(&[&place.window_index.to_string()]))
    }

    fn matches(&self, address: PaneAddress<'_>) -> bool {
        // Each pane is matched in each poll, so nothing is spelt for a missing pattern.
        let fits = |pattern: &Option<Pattern>, fits: &dyn Fn(&Pattern) -> bool| pattern.as_ref().is_none_or(fits);
        let PaneAddress { server, place, pane } = address;
        fits(&self.session, &|pattern| pattern.is_any(&[&place.session]))
            && fits(&self.window, &|pattern| pattern.is_any(&[&place.window_index.to_string(), &place.window_name]))
            && fits(&self.pane, &|pattern| pattern.is_any(&[&place.pane_index.to_string(), &pane.to_string()]))
            && fits(&self.socket, &|pattern| pattern.matches(&server.socket.to_string()))
            && fits(&self.host, &|pattern| pattern.is_any(&[server.host.as_deref().unwrap_or("local")]))
    }
}

impl PaneAddress<'_> {
    /// Every way to write the pane's address in a session that shows its window under an index.
    fn spellings(&self, session: &str, window_index: u32) -> [String; 6] {
        let PaneLocation { window_name, pane_index, .. } = self.place;
        [
            session.to_owned(),
            format!("{session}:{window_index}"),
            format!("{session}:{window_name}"),
            format!("{session}:{window_index}.{pane_index}"),
            format!("{session}:{window_name}.{pane_index}"),
            self.pane.to_string(),
        ]
    }
}
