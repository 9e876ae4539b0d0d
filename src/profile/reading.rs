//! What a profile says of one screen.

use crate::state::{Assessment, Evidence, Surface, Tri};

/// How a turn ended, as the screen's latest turn says it (SPEC §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndMark {
    /// A row that agents draw when a turn has ended well.
    Completed,
    Interrupted,
    Failed,
}

/// Work that the screen shows going on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// A hash of the rows that show it; it changes when a counter ticks or a spinner turns.
    pub fingerprint: u64,
    /// Whether the agent is known to repaint these rows while it works, so that a still one is a stall.
    pub ticks: bool,
    /// Whether nothing but a status row shows it, which an agent may leave behind.
    pub status_row_only: bool,
}

/// The end of the latest turn, as shown below the last submitted prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    pub mark: EndMark,
    /// The row that says it.
    pub detail: String,
}

/// The rows from the last submitted prompt to the live edge, reduced to what matters over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnRegion {
    /// A hash of the last submitted prompt's text and of how many are visible; `None` when none is visible.
    pub prompt: Option<u64>,
    /// A hash of the region's text without spaces and progress rows, so that a resize does not change it.
    pub signature: u64,
    /// Characters of answer, tool and other transcript text below the submitted prompt.
    pub length: usize,
    /// A hash of the text before its last characters: text that only grew keeps its beginning.
    pub answered: bool,
}

/// The profile's reading of one snapshot. It is a pure function of the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub surface: Surface,
    pub assessment: Assessment,
    pub background_work: Tri,
    pub activity: Option<Activity>,
    pub end: Option<TurnEnd>,
    pub turn: TurnRegion,
    /// What it waits for or does, in one line: the dialog's question, the running tool, the answer's first line.
    pub headline: Option<String>,
    /// Why the screen contradicts itself, when it does; such a reading claims no phase.
    pub doubt: Option<String>,
    pub evidence: Vec<Evidence>,
    /// The version that a banner on the screen tells.
    pub banner_version: Option<String>,
}
