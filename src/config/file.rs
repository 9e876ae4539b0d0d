//! The configuration as written in the file, before it is checked. The doc comments go into the JSON schema,
//! `config/fleetwatch.schema.json`, which a test makes.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{NewConfig, RecordsConfig, TerminalRule, UiConfig};
use crate::notify::{Means, Occasion, WebhookShape};
use crate::pattern::Pattern;

/// The configuration of fleetwatch.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "fleetwatch"))]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConfigFile {
    pub watch: WatchTable,
    /// The tmux servers to watch; none means the server that fleetwatch runs in, or else tmux's default server.
    pub server: Vec<ServerTable>,
    /// How to reach hosts that `ssh` does not reach.
    pub transport: Vec<TransportTable>,
    /// Panes to watch whatever runs in them, with what is known of them.
    pub terminal: Vec<TerminalRule>,
    /// Windows that run builds, servers and scripts rather than agents.
    pub task: Vec<TaskTable>,
    pub tracker: TrackerTable,
    pub history: HistoryTable,
    pub records: RecordsConfig,
    /// Templates for prompts, which the composer offers.
    pub template: Vec<TemplateTable>,
    pub ui: UiConfig,
    /// What is announced outside the dashboard, and how.
    pub notify: Vec<NotifyTable>,
    /// Messages that tell an agent what happens in other terminals.
    pub follow_up: Vec<FollowUpTable>,
    pub serve: ServeTable,
    pub new: NewConfig,
}

/// Which panes are watched, and how servers are polled.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct WatchTable {
    /// Watch every pane that runs a supported agent, not only those of [[terminal]].
    pub discover: Option<bool>,
    /// Glob patterns of panes that are never watched, matched against `session`, `session:window`,
    /// `session:window.pane` and `%pane`; the window by its index or its name.
    pub ignore: Vec<Pattern>,
    /// Milliseconds between two polls of a server.
    pub tick_ms: Option<i64>,
    /// Milliseconds between two polls while something changes.
    pub fastest_tick_ms: Option<i64>,
    /// Milliseconds between two polls once nothing has changed for a while and no dashboard shows the server.
    pub slowest_tick_ms: Option<i64>,
    /// Milliseconds that a server may take to answer.
    pub timeout_ms: Option<i64>,
    /// Start a process that keeps watching when no dashboard is open.
    pub background: Option<bool>,
    /// Minutes after which that process ends when nobody has used it.
    pub background_minutes: Option<i64>,
    /// Read branches and changes of the git repositories that agents work in.
    pub git: Option<bool>,
}

/// A tmux server.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct ServerTable {
    /// The socket's name, as `tmux -L` takes it; `*` is every server of yours on this machine, also one that comes later.
    pub socket: Option<String>,
    /// The socket's path, as `tmux -S` takes it.
    pub path: Option<String>,
    /// The host, as `ssh` or a [[transport]] takes it; none means this machine.
    pub host: Option<String>,
    /// The names of several hosts.
    pub hosts: Vec<String>,
}

impl ServerTable {
    /// Whether it means every server of the user on this machine.
    pub fn is_every(&self) -> bool {
        self.socket.as_deref() == Some("*")
    }
}

/// A command that reaches hosts.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TransportTable {
    /// Glob patterns of the names of the hosts that it reaches.
    pub hosts: Vec<Pattern>,
    /// The command, to which the program to run there and its arguments are appended; {host} stands for the host's name.
    pub command: Vec<String>,
    /// The same for a program that takes over your terminal; left out: `command`.
    pub terminal: Vec<String>,
}

/// Task windows: of whole sessions, or single ones.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TaskTable {
    /// Glob pattern of the session's name.
    pub session: Option<Pattern>,
    /// Glob pattern of the window's index or name.
    pub window: Option<Pattern>,
    /// Glob pattern of the server's socket name or path.
    pub socket: Option<Pattern>,
    /// Glob pattern of the server's host.
    pub host: Option<Pattern>,
}

/// The time windows that states depend on.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TrackerTable {
    /// How long the screen must stand still after a turn has ended before the turn counts as a success.
    pub completion_stability_seconds: Option<f64>,
    /// How long a prompt that was sent counts as work while the screen shows no reaction to it.
    pub no_reaction_seconds: Option<f64>,
    /// The time after a success in which it is withdrawn if the same turn continues.
    pub retraction_seconds: Option<f64>,
    /// How long a terminal must be unknown without a break before it counts as stalled.
    pub unknown_to_stalled_timeout_seconds: Option<f64>,
    /// How long a status row alone may stand still beside a ready prompt before it no longer counts as work.
    pub stale_active_recovery_seconds: Option<f64>,
    /// How long a whole screen may stand still beside a ready prompt before it no longer counts as work.
    pub final_stable_active_recovery_seconds: Option<f64>,
    /// How long a state must last to be called stable.
    pub stable_seconds: Option<f64>,
    /// How many failed polls in a row are an error.
    pub failed_probes: Option<i64>,
    /// How long polls may fail before that is an error.
    pub failed_probe_seconds: Option<f64>,
    /// How many transitions of each terminal are kept in memory.
    pub kept_transitions: Option<i64>,
}

/// What is kept of what happened.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct HistoryTable {
    /// Whether a history is kept.
    pub enabled: Option<bool>,
    /// How many days entries are kept.
    pub keep_days: Option<i64>,
    /// How many MiB the file may use; beyond that, the oldest entries are removed.
    pub max_mib: Option<i64>,
    /// The file; the default is `history.db` in the user's state directory.
    pub path: Option<String>,
}

/// A template for prompts.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TemplateTable {
    /// The name to choose it by.
    pub name: Option<String>,
    /// The text; `{name}` and other fields of the terminal are filled in.
    pub text: Option<String>,
}

/// What is announced outside the dashboard, and how.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct NotifyTable {
    /// What is announced: approval, question, trust, setup, failed, interrupted, finished, stalled and gone of agents;
    /// started, exited, notify, input and disappeared of tasks.
    pub on: BTreeSet<Occasion>,
    /// Glob pattern of the terminal's name in fleetwatch; none means every terminal.
    pub terminal: Option<Pattern>,
    /// How it is announced: bell, osc9, osc777, desktop, command, webhook.
    pub by: BTreeSet<Means>,
    /// A program and its arguments; it gets the events as JSON lines on its standard input.
    pub command: Vec<String>,
    /// How many seconds the command may take before it is killed.
    pub command_seconds: Option<f64>,
    /// Variables of fleetwatch's own environment that the command gets besides the usual ones (PATH, HOME, locale, display
    /// and session), such as the token of a service.
    pub command_environment: Vec<String>,
    /// The URL that it is posted to, with https.
    pub webhook: Option<String>,
    /// What is posted: json, ntfy or slack.
    pub webhook_shape: Option<WebhookShape>,
    /// The variable of fleetwatch's own environment with the secret that signs it.
    pub webhook_secret: Option<String>,
    /// The variable with a token to send along.
    pub webhook_token: Option<String>,
    /// A part of each day in which this rule is silent, such as `22:00-07:00`.
    pub quiet_hours: Option<String>,
    /// The least number of seconds between two notices of this rule; what comes in between is announced together.
    pub minimum_distance_seconds: Option<f64>,
}

/// Messages that tell an agent what happens in other terminals.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct FollowUpTable {
    /// What is reported to it; the same words as in [[notify]].
    pub on: BTreeSet<Occasion>,
    /// Glob pattern of the names of the terminals to report on.
    pub from: Option<Pattern>,
    /// The name of the agent to tell.
    pub to: Option<String>,
    /// The text of a message, with {text}, {source} and {event}.
    pub template: Option<String>,
    /// How many minutes to keep a message for an agent that is not there.
    pub keep_minutes: Option<i64>,
}

/// The settings of `fleetwatch serve`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct ServeTable {
    /// Networks whose addresses `serve` may listen on without encryption, besides those of Tailscale: `10.9.0.0/24`.
    pub private_networks: Vec<String>,
}
