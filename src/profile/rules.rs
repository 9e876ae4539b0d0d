//! The rule language: how a profile is written in TOML, and how it is checked and compiled (SPEC §5).
//!
//! A file describes one tool: which processes are it, and one or more profiles for intervals of its versions. A
//! profile names **rows** (a pattern and, where words alone could be quoted, a style), says where the live prompt is
//! (**composer**), and lists **rules**: which rows in which region of the screen, with which title and cursor, mean
//! what. `extends` takes another profile's rows and rules and replaces those of the same name, and the keys of its composer
//! and turn that are not given.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::classification::Family;
use super::input::PasteLimit;
use crate::agent_record::AgentRecordSource;
use crate::dialog::{Manner, Notes, Press};
use crate::state::words;

/// One file of profiles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolFile {
    pub tool: ToolData,
    /// Agents that are known by their processes alone: the file's tool stands in for them.
    #[serde(default)]
    pub without_profile: Vec<ToolData>,
    #[serde(default, rename = "profile")]
    pub profiles: Vec<ProfileData>,
    /// The records that it writes about its own sessions.
    #[serde(default, rename = "record")]
    pub records: Vec<Spanned<AgentRecordSource>>,
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
    /// Patterns of executables' paths, links resolved, that identify the tool whatever name it was started by.
    #[serde(default)]
    pub executables: Vec<Spanned<String>>,
    /// Patterns of script paths or module names that identify the tool under an interpreter.
    #[serde(default)]
    pub scripts: Vec<Spanned<String>>,
    /// Arguments with which it is no interactive agent: options, and commands in place of a prompt.
    #[serde(default)]
    pub headless: Vec<String>,
    /// Patterns of which one is on its screen near the bottom, where nothing else tells whose screen it is; none if its profile
    /// finds nothing on the screens of others.
    #[serde(default)]
    pub signature: Vec<Spanned<String>>,
    /// Prompts that end it.
    #[serde(default)]
    pub ends: Vec<String>,
    /// The program that starts it, and its arguments.
    #[serde(default)]
    pub starts: Vec<String>,
    /// The keys that stop its turn, one after the other; none if that is not known.
    #[serde(default)]
    pub interrupt: Vec<StopKey>,
    /// Texts that are no prompts to it, or would not arrive unchanged.
    #[serde(default)]
    pub input: Vec<InputData>,
    /// What the options of its dialogs mean.
    #[serde(default)]
    pub options: OptionsData,
}

/// What the options of a tool's dialogs mean, in its own words and in lower case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionsData {
    /// How options begin that are lines to type in.
    #[serde(default)]
    pub typed: Vec<String>,
    /// Whole labels that allow what it asks for, this once.
    #[serde(default)]
    pub once: Vec<String>,
    /// Whole labels that refuse it.
    #[serde(default)]
    pub refusing: Vec<String>,
    /// Whole labels that only Escape chooses: Enter there waits for a text.
    #[serde(default)]
    pub escapes: Vec<String>,
    /// First lines of the dialog that then asks what to do instead: Enter with nothing typed ends it.
    #[serde(default)]
    pub instead: Vec<String>,
    /// How its questions take notes.
    pub notes: Option<NotesData>,
}

/// How a tool's questions take notes, in its own words and in lower case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotesData {
    /// The whole label of the option that means none of the others.
    pub option: String,
    /// The key that opens the line for a note.
    pub key: NoteKey,
    /// What stands below the options as long as it is offered.
    pub offered: String,
}

/// A key that opens a line, by tmux's name.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum NoteKey {
    Tab,
}

impl From<&NotesData> for Notes {
    fn from(data: &NotesData) -> Self {
        let NoteKey::Tab = data.key;
        Self { option: data.option.clone(), key: Press::Tab, offered: data.offered.clone() }
    }
}

/// A kind of text that a tool does not take as a prompt, byte for byte.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputData {
    /// A pattern of the whole text.
    pub text: Spanned<String>,
    /// What becomes of it, to follow the word "taken": `as a shell command`.
    #[serde(default)]
    pub taken: Option<String>,
    /// Whether it is a prompt all the same, and begins a turn.
    #[serde(default)]
    pub prompt: bool,
    /// What is sent after it, and cut off by the tool, so that it arrives unchanged.
    #[serde(default)]
    pub pad: String,
}

words! {
    /// A key that can stop an agent, by tmux's name.
    StopKey { Escape = "Escape", ControlC = "C-c", ControlD = "C-d", Enter = "Enter" }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileData {
    pub id: Spanned<String>,
    pub extends: Option<Spanned<String>>,
    /// Whether it reads, in place of the profiles for the same versions, the screens on which one of its rules gives `surface`.
    #[serde(default)]
    pub surface: bool,
    /// Rules of the extended profile that do not hold here.
    #[serde(default)]
    pub without: Vec<String>,
    /// The first version that it reads.
    pub min: Spanned<String>,
    /// The first version that it no longer reads.
    pub max: Option<Spanned<String>>,
    /// Versions that recordings show. Only the oldest and the newest count: what lies outside is read with caution.
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

/// Conditions on the style at one place of a row.
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
    /// The row with the prompt's glyph; a group `draft` holds the text after it. Required.
    pub prompt: Option<String>,
    /// The same row while it holds a command to the agent, or is in a mode that runs what is sent: neither takes a prompt.
    pub command: Option<String>,
    /// Rows that follow it while the text is longer than one row.
    pub continuation: Option<String>,
    /// The row right above.
    pub above: Option<String>,
    /// The row right above while the text is higher than its room: the row below is then the first one that is shown.
    pub above_cut: Option<String>,
    /// The row right below the text.
    pub below: Option<String>,
    /// Rows that must follow right below that, in this order, and belong to the prompt.
    pub foot: Option<Vec<String>>,
    /// The most rows that are not blank and may follow: a footer, a list. A prompt further up is history. Required.
    pub rows_below: Option<usize>,
    /// What makes shown text a placeholder or a suggestion instead of a draft.
    pub ghost: Option<Vec<StyleData>>,
    /// Texts that are placeholders whatever their style.
    pub placeholders: Option<Vec<String>>,
    /// Whether the terminal's cursor must be visible for the prompt to be live.
    pub cursor: Option<CursorData>,
    /// Whether the cursor must stand in the prompt's rows for it to be live.
    pub cursor_inside: Option<bool>,
    /// Whether the prompt is there only while it takes the keys: then a prompt row without the cursor is a submitted
    /// one, and what is typed while there is none goes nowhere.
    pub only_when_idle: Option<bool>,
    /// The most of one paste that is a part of the prompt: the model gets more as an attachment.
    pub paste: Option<PasteLimit>,
}

impl ComposerData {
    /// Its own keys, and another composer's for those it lacks.
    pub(super) fn or(self, other: ComposerData) -> ComposerData {
        ComposerData {
            prompt: self.prompt.or(other.prompt),
            command: self.command.or(other.command),
            continuation: self.continuation.or(other.continuation),
            above: self.above.or(other.above),
            above_cut: self.above_cut.or(other.above_cut),
            below: self.below.or(other.below),
            foot: self.foot.or(other.foot),
            rows_below: self.rows_below.or(other.rows_below),
            ghost: self.ghost.or(other.ghost),
            placeholders: self.placeholders.or(other.placeholders),
            cursor: self.cursor.or(other.cursor),
            cursor_inside: self.cursor_inside.or(other.cursor_inside),
            only_when_idle: self.only_when_idle.or(other.only_when_idle),
            paste: self.paste.or(other.paste),
        }
    }
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
    pub prompts: Option<Vec<String>>,
    /// Those of `prompts` that are commands to the agent itself: what such a command opens was opened by the
    /// operator, and what it prints is no answer.
    pub commands: Option<Vec<String>>,
    /// Rows that are no part of what was said: progress, tips, notices, status.
    pub chrome: Option<Vec<String>>,
    /// Rows in which the agent itself offers to stop its work: as long as one stands there, it may still be at work.
    pub stop_offers: Option<Vec<String>>,
    /// Rows whose group `text` names the running tool, the last one counting.
    pub tools: Option<Vec<String>>,
    /// Rows whose group `text` begins an answer, the last one counting.
    pub answers: Option<Vec<String>>,
    /// How long work counts as going on after its last trace, in milliseconds.
    pub linger_ms: Option<u64>,
    /// Whether a growing turn is work by itself, for agents that show nothing else while they answer. If a title has shown
    /// work, the title is believed instead.
    pub growth: Option<bool>,
    /// Whether a turn ends well only with a completion row; without one it ends without a result.
    pub completion_row: Option<bool>,
    /// Whether a turn that is stopped before its answer ends without a word, so that work that goes without an answer was
    /// stopped.
    pub stops_silently: Option<bool>,
}

impl TurnData {
    /// Its own keys, and another turn's for those it lacks.
    pub(super) fn or(self, other: TurnData) -> TurnData {
        TurnData {
            prompts: self.prompts.or(other.prompts),
            commands: self.commands.or(other.commands),
            chrome: self.chrome.or(other.chrome),
            stop_offers: self.stop_offers.or(other.stop_offers),
            tools: self.tools.or(other.tools),
            answers: self.answers.or(other.answers),
            linger_ms: self.linger_ms.or(other.linger_ms),
            growth: self.growth.or(other.growth),
            completion_row: self.completion_row.or(other.completion_row),
            stops_silently: self.stops_silently.or(other.stops_silently),
        }
    }
}

words! {
    /// What a rule concludes from the screen.
    Signal {
        /// A turn is in flight.
        Working = "working",
        Approval = "approval",
        Question = "question",
        Trust = "trust",
        Setup = "setup",
        /// A picker or a full-screen view that takes the keys.
        Menu = "menu",
        /// A list of commands above or below the live prompt.
        Slash = "slash",
        /// A list of files at the live prompt.
        Files = "files",
        /// The agent is starting or restarting: its prompt takes nothing yet.
        Starting = "starting",
        /// The session is not up yet: the prompt takes text, but what is submitted has to wait.
        Opening = "opening",
        Completed = "completed",
        Interrupted = "interrupted",
        Failed = "failed",
        /// A submitted message waits in the agent's own queue.
        Queued = "queued",
        /// Shells or sub-agents go on beside or after the turn.
        Background = "background",
        /// The screen contradicts itself.
        Doubt = "doubt",
        /// The agent draws itself in the other way that this profile reads.
        Surface = "surface",
        /// Nothing of the state: the groups of its rows that are named like facts, or `context_full`, are their values.
        Facts = "facts",
    }
}

words! {
    /// Which part of the screen a rule reads.
    #[derive(Default)]
    Region {
        /// The whole screen.
        #[default]
        All = "all",
        /// Everything above the live prompt; all of it when there is none.
        Above = "above",
        /// From the last submitted prompt to the live prompt.
        Turn = "turn",
        /// The live prompt's rows.
        Composer = "composer",
        /// What is drawn below the live prompt.
        Footer = "footer",
    }
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
    /// For dialogs: the first row of the text that is shown to the operator; it is searched for upwards from the match.
    pub excerpt: Option<String>,
    /// For dialogs: which of `rows` is the question. The first by default.
    pub question: Option<String>,
    /// For questions: which of `rows` begins what stands in the open line for a note, as its group `text`; a blank row ends it.
    pub note: Option<String>,
    /// For dialogs whose agent scrolls what is above the options, without a mark: their rows before the options, from which on
    /// some may be out of sight. So may they be where the dialog has the whole height of the pane.
    pub scrolls_from: Option<usize>,
    /// For dialogs: something else is shown before it, so that nobody can read it.
    #[serde(default)]
    pub behind: bool,
    /// For dialogs: the rows do not show who opened it. Opened by a command of the operator it is a menu, whatever the
    /// rule gives; a menu that opens in the agent's turn waits for the operator.
    #[serde(default)]
    pub by_either: bool,
    /// For dialogs: how it takes its answer, if the drawing does not show that.
    pub manner: Option<Manner>,
    /// For work: the agent repaints these rows while it works.
    #[serde(default)]
    pub ticks: bool,
    /// For work: it is a status row, which an agent may leave behind.
    #[serde(default)]
    pub status_row: bool,
}
