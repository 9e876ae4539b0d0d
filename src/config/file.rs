//! The configuration as it stands in the file, before it is checked. The doc comments go into the JSON schema,
//! `config/fleetwatch.schema.json`, which a test makes.

use serde::Deserialize;

/// The configuration of fleetwatch.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "fleetwatch"))]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub watch: WatchTable,
    /// The tmux servers to watch; none means the default server, or the one that fleetwatch runs in.
    pub server: Vec<ServerTable>,
    /// How hosts are reached that `ssh` does not lead to.
    pub transport: Vec<TransportTable>,
    /// Panes to watch whatever runs in them, with what is known of them.
    pub terminal: Vec<TerminalTable>,
    /// Windows in which builds, servers and scripts run, and not agents.
    pub task: Vec<TaskTable>,
    pub tracker: TrackerTable,
    pub history: HistoryTable,
    pub records: RecordsTable,
    /// Prompts to begin with, which the composer offers.
    pub template: Vec<TemplateTable>,
    pub ui: UiTable,
    /// What is told outside of the dashboard, and how.
    pub notify: Vec<NotifyTable>,
    /// Which agents are told what happens in other terminals.
    pub follow_up: Vec<FollowUpTable>,
    pub serve: ServeTable,
}

/// How the servers are looked at, and which of their panes.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct WatchTable {
    /// Watch every pane in which a known agent runs, and not only those of [[terminal]].
    pub discover: Option<bool>,
    /// Glob patterns of panes that are never watched, matched against `session`, `session:window`,
    /// `session:window.pane` and `%pane`; the window by its index or its name.
    pub ignore: Vec<String>,
    /// Milliseconds between two looks at a server.
    pub tick_ms: Option<i64>,
    /// Milliseconds between two looks while something changes.
    pub fastest_tick_ms: Option<i64>,
    /// Milliseconds between two looks while nothing changes.
    pub slowest_tick_ms: Option<i64>,
    /// Milliseconds that a server may take to answer.
    pub timeout_ms: Option<i64>,
    /// Start a process that goes on watching when no dashboard is open.
    pub background: Option<bool>,
    /// Minutes after which that process ends when nobody has used it.
    pub background_minutes: Option<i64>,
    /// Read branches and changes of the git repositories that agents of this machine work in.
    pub git: Option<bool>,
}

/// A tmux server.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct ServerTable {
    /// The socket's name, as `tmux -L` takes it.
    pub socket: Option<String>,
    /// The socket's path, as `tmux -S` takes it.
    pub path: Option<String>,
    /// The host, as `ssh` or a [[transport]] takes it; none means this machine.
    pub host: Option<String>,
    /// Several hosts: names, and glob patterns of the names that ~/.ssh/config and /etc/ssh/ssh_config have.
    pub hosts: Vec<String>,
    /// A file with the name of a host in each line; `#` begins a comment.
    pub hosts_file: Option<String>,
}

/// A command that leads to hosts.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TransportTable {
    /// Glob patterns of the names of the hosts that it leads to.
    pub hosts: Vec<String>,
    /// The command behind which a program and its arguments are written to run it there; {host} stands for the host's name.
    pub command: Vec<String>,
    /// The same for a program that has your terminal, where that is another command.
    pub terminal: Vec<String>,
}

/// A pane, or all panes that the patterns match.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TerminalTable {
    /// Glob pattern of the session's name.
    pub session: Option<String>,
    /// Glob pattern of the window's index or name.
    pub window: Option<String>,
    /// Glob pattern of the pane's index in its window, or of its `%` id.
    pub pane: Option<String>,
    /// Glob pattern of the server's socket name or path.
    pub socket: Option<String>,
    /// Glob pattern of the server's host.
    pub host: Option<String>,
    /// The terminal's name in fleetwatch.
    pub name: Option<String>,
    /// The agent that runs there, by its profile's name, whatever the processes say.
    pub tool: Option<String>,
    /// The agent's version, whatever its screen says.
    pub version: Option<String>,
    /// What the dashboard can group it by.
    pub label: Option<String>,
    /// Whether it stands at the top of the dashboard.
    pub pin: Option<bool>,
    /// Whether it never counts as needing the operator.
    pub mute: Option<bool>,
}

/// Task windows: of whole sessions, or single ones.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TaskTable {
    /// Glob pattern of the session's name.
    pub session: Option<String>,
    /// Glob pattern of the window's index or name.
    pub window: Option<String>,
    /// Glob pattern of the server's socket name or path.
    pub socket: Option<String>,
    /// Glob pattern of the server's host.
    pub host: Option<String>,
}

/// The time windows by which states are told.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TrackerTable {
    /// How long the end of a turn must stand still before it counts as a success.
    pub completion_stability_seconds: Option<f64>,
    /// How long a prompt that was sent counts as work while the screen shows nothing of it.
    pub no_reaction_seconds: Option<f64>,
    /// How soon after a success the same turn may turn out to go on.
    pub retraction_seconds: Option<f64>,
    /// How long an unbroken unknown lasts until it is a stall.
    pub unknown_to_stalled_timeout_seconds: Option<f64>,
    /// How long a lone status row may stand still beside a ready prompt.
    pub stale_active_recovery_seconds: Option<f64>,
    /// How long a whole screen may stand still beside a ready prompt while it counts as work.
    pub final_stable_active_recovery_seconds: Option<f64>,
    /// How long a state must stand to be called stable.
    pub stable_seconds: Option<f64>,
    /// How many failed looks in a row are an error.
    pub failed_probes: Option<i64>,
    /// How long failed looks may go on before they are an error.
    pub failed_probe_seconds: Option<f64>,
    /// Transitions of each terminal that are kept in memory.
    pub kept_transitions: Option<i64>,
}

/// What is kept of what happened.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct HistoryTable {
    /// Keep a history at all.
    pub enabled: Option<bool>,
    /// How many days records are kept.
    pub keep_days: Option<i64>,
    /// How many MiB the file may use; the oldest records make room for new ones.
    pub max_mib: Option<i64>,
    /// The file; the default is `history.db` in the user's state directory.
    pub path: Option<String>,
}

/// Which records are read that agents write about their own sessions.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct RecordsTable {
    /// Read them at all.
    pub enabled: Option<bool>,
    /// Agents whose records are not read; patterns of their names.
    pub except: Vec<String>,
    /// Directories in which no agent's records are read; patterns of their paths.
    pub except_directories: Vec<String>,
}

/// A prompt to begin with.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct TemplateTable {
    /// What it is chosen by.
    pub name: Option<String>,
    /// The text; `{name}` and other fields of the terminal are filled in.
    pub text: Option<String>,
}

/// How the dashboard looks.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct UiTable {
    /// The theme's name.
    pub theme: Option<String>,
    /// Whether glyphs beyond ASCII may be drawn.
    pub unicode: Option<bool>,
    /// Whether the spinner of a working row moves.
    pub motion: Option<bool>,
    /// Whether the terminal's title says how many wait.
    pub title: Option<bool>,
    /// Whether the terminal's bell rings when somebody begins to wait, where no [[notify]] says what is told.
    pub bell: Option<bool>,
    /// Whether the mouse is taken.
    pub mouse: Option<bool>,
    /// Whether the dashboard asks before it interrupts an agent.
    pub confirm: Option<bool>,
}

/// What is told outside of the dashboard, and how.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct NotifyTable {
    /// What is told: approval, question, trust, setup, failed, interrupted, finished, stalled and gone of agents;
    /// started, exited, notify, input and disappeared of tasks.
    pub on: Vec<String>,
    /// Glob pattern of the terminal's name in fleetwatch; none means every terminal.
    pub terminal: Option<String>,
    /// How it is told: bell, osc9, osc777, desktop, command, webhook, push.
    pub by: Vec<String>,
    /// A program and its arguments; it gets the events as JSON lines on its standard input.
    pub command: Vec<String>,
    /// How many seconds the command may take until it is ended.
    pub command_seconds: Option<f64>,
    /// Variables of fleetwatch's own environment that the command gets beside the usual ones (PATH, HOME, locale, display
    /// and session), such as the token of a service.
    pub command_environment: Vec<String>,
    /// The address to which it is posted, with https.
    pub webhook: Option<String>,
    /// What is posted: json, ntfy or slack.
    pub webhook_shape: Option<String>,
    /// The variable of fleetwatch's own environment with the secret by which it is signed.
    pub webhook_secret: Option<String>,
    /// The same with a token that is sent along.
    pub webhook_token: Option<String>,
    /// A part of each day in which this rule is silent, such as `22:00-07:00`.
    pub quiet_hours: Option<String>,
    /// The least number of seconds between two notices of this rule; what comes in between is told together.
    pub minimum_distance_seconds: Option<f64>,
}

/// An agent is told what happens in other terminals.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct FollowUpTable {
    /// What is told; the same words as in [[notify]].
    pub on: Vec<String>,
    /// Glob pattern of the names of the terminals that it is about.
    pub from: Option<String>,
    /// The name of the agent that is told.
    pub to: Option<String>,
    /// What is said of an event, with {text}, {source} and {event}.
    pub template: Option<String>,
    /// How many minutes a message is kept for an agent that is not there.
    pub keep_minutes: Option<i64>,
}

/// What `fleetwatch serve` is told.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct ServeTable {
    /// Hosts through which browsers may be told beside the push services that are known, as `host` or `host:port`.
    pub push_services: Vec<String>,
}
