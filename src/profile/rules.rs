//! The rule language: how a profile is written in TOML, and how it is checked and compiled (SPEC §5).
//!
//! A file describes one tool: which processes are it, and one or more profiles for intervals of its versions. A
//! profile names **rows** (a pattern and, where words alone could be quoted, a style), says where the live prompt is
//! (**composer**), and lists **rules**: which rows in which region of the screen, with which title and cursor, mean
//! what. `extends` takes another profile's rows and rules and replaces those of the same name.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::reading::Family;

/// One file of profiles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolFile {
    pub tool: ToolData,
    #[serde(default, rename = "profile")]
    pub profiles: Vec<ProfileData>,
}

/// Which processes are the tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolData {
    /// The tool's name, as configurations and JSON give it.
    pub name: Spanned<String>,
    /// The name that people know.
    pub label: String,
    /// Names of processes that are the tool itself.
    #[serde(default)]
    pub processes: Vec<String>,
    /// Interpreters under which its scripts run.
    #[serde(default)]
    pub interpreters: Vec<String>,
    /// Patterns of script paths or module names that tell the tool under an interpreter.
    #[serde(default)]
    pub scripts: Vec<Spanned<String>>,
    /// Names of packages whose metadata tells the version.
    #[serde(default)]
    pub packages: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileData {
    pub id: Spanned<String>,
    pub extends: Option<Spanned<String>>,
    /// Rules of the extended profile that do not hold here.
    #[serde(default)]
    pub without: Vec<String>,
    /// The first version that it reads.
    pub min: Spanned<String>,
    /// The first version that it does not read any more.
    pub max: Option<Spanned<String>>,
    /// Versions that recordings show, of which the oldest and the newest count: what lies outside is read with caution.
    /// Without it every version of the interval is trusted.
    pub recorded: Option<Vec<Spanned<String>>>,
    /// A pattern with a group `version`, tried on every row.
    pub banner: Option<Spanned<String>>,
    #[serde(default)]
    pub families: BTreeMap<Family, String>,
    #[serde(default)]
    pub rows: BTreeMap<String, Spanned<RowData>>,
    pub composer: Option<Spanned<ComposerData>>,
    pub turn: Option<Spanned<TurnData>>,
    #[serde(default)]
    pub rules: Vec<Spanned<RuleData>>,
}

/// A named kind of row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowData {
    pub text: String,
    #[serde(default)]
    pub style: Vec<StyleData>,
}

/// What is asked of the style at one place of a row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StyleData {
    /// `first` (the first character that is no blank) or the name of a group of the pattern.
    pub at: Option<String>,
    pub foreground: Option<String>,
    pub background: Option<String>,
    pub bold: Option<bool>,
    pub dim: Option<bool>,
    pub italic: Option<bool>,
    pub inverse: Option<bool>,
}

/// Where the live prompt is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComposerData {
    /// The row with the prompt's glyph; a group `draft` holds the text behind it.
    pub prompt: String,
    /// Rows that follow it while the text is longer than one row.
    pub continuation: Option<String>,
    /// The row right above.
    pub above: Option<String>,
    /// The row right below the text.
    pub below: Option<String>,
    /// Rows that must follow right below that, in this order, and belong to the prompt.
    #[serde(default)]
    pub foot: Vec<String>,
    /// Rows that are not blank and may follow at most: a footer, a list. A prompt further up is history.
    pub rows_below: usize,
    /// What makes shown text a placeholder or a suggestion instead of a draft.
    #[serde(default)]
    pub ghost: Vec<StyleData>,
    /// Texts that are placeholders whatever their style.
    #[serde(default)]
    pub placeholders: Vec<String>,
    /// Whether the terminal's cursor must be visible for the prompt to be live.
    pub cursor: Option<CursorData>,
    /// Whether the cursor must stand in the prompt's rows for it to be live.
    #[serde(default)]
    pub cursor_inside: bool,
    /// Whether the prompt is there only while it takes the keys: then a prompt row without the cursor is a submitted
    /// one, and what is typed while there is none goes nowhere.
    #[serde(default)]
    pub only_when_idle: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CursorData {
    Visible,
    Hidden,
}

/// What belongs to the latest turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnData {
    /// Rows of submitted prompts; a group `text` holds what the user wrote, without glyph, clock and the like.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// Rows that are no part of what was said: progress, tips, notices, status.
    #[serde(default)]
    pub chrome: Vec<String>,
    /// Rows whose group `text` names the running tool, the last one counting.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Rows whose group `text` begins an answer, the last one counting.
    #[serde(default)]
    pub answers: Vec<String>,
    /// How long work is taken to go on after its last trace, in ms.
    #[serde(default)]
    pub linger_ms: u64,
    /// Whether a growing turn is work by itself, for agents that show nothing else while they answer.
    #[serde(default)]
    pub growth: bool,
    /// Whether a turn ends well only with a completion row; without one it ends without a result.
    #[serde(default)]
    pub completion_row: bool,
    /// Whether a turn that is stopped before its answer vanishes, and its prompt comes back as a draft.
    #[serde(default)]
    pub prompt_returns: bool,
}

/// What a rule says of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Signal {
    /// A turn is in flight.
    Working,
    Approval,
    Question,
    Trust,
    Setup,
    /// A picker or a full-screen view that takes the keys.
    Menu,
    /// A list of commands above or below the live prompt.
    Slash,
    /// A list of files at the live prompt.
    Files,
    /// The agent is starting or restarting: its prompt takes nothing yet.
    Starting,
    /// The session is not up yet: the prompt takes text, but what is submitted has to wait.
    Opening,
    Completed,
    Interrupted,
    Failed,
    /// A submitted message waits in the agent's own queue.
    Queued,
    /// Shells or sub-agents go on beside or after the turn.
    Background,
    /// The screen contradicts itself.
    Doubt,
}

/// Which part of the screen a rule looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Region {
    /// The whole screen.
    #[default]
    All,
    /// Everything above the live prompt; all of it when there is none.
    Above,
    /// From the last submitted prompt to the live prompt.
    Turn,
    /// The live prompt's rows.
    Composer,
    /// What is drawn below the live prompt.
    Footer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ComposerTest {
    Present,
    Absent,
    Empty,
    Draft,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleData {
    pub id: String,
    pub gives: Signal,
    #[serde(default, rename = "in")]
    pub region: Region,
    /// Only so many rows that are not blank, counted from the region's end.
    pub last: Option<usize>,
    /// Rows that must all be there, from top to bottom.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Rows of which none may be there, in the same part of the region.
    #[serde(default)]
    pub none: Vec<String>,
    /// Rows of which none may follow the match of the last of `rows`, in the same region.
    #[serde(default)]
    pub not_after: Vec<String>,
    pub title: Option<String>,
    pub cursor: Option<CursorData>,
    pub composer: Option<ComposerTest>,
    /// The kind of row that the live prompt's first row must be.
    pub prompt: Option<String>,
    /// For dialogs: the first row of the text that is shown to the operator; it is looked for upwards from the match.
    pub excerpt: Option<String>,
    /// For dialogs: rows of choices side by side, of which a background tells the chosen one.
    pub choices: Option<String>,
    /// For dialogs: which of `rows` is the question. The first by default.
    pub question: Option<String>,
    /// For work: the agent repaints these rows while it works.
    #[serde(default)]
    pub ticks: bool,
    /// For work: it is a status row, which an agent may leave behind.
    #[serde(default)]
    pub status_row: bool,
}
