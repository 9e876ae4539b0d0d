//! What a profile says of one screen.

use std::sync::Arc;

use crate::dialog::Dialog;
use crate::state::{Assessment, Evidence, Phase, Surface, Tri};

/// How a turn ended, as the screen's latest turn says it (SPEC §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndMark {
    /// A row that the agent draws when a turn has ended well.
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
    /// Whether nothing but a status row shows it, which an agent may leave behind (SPEC §7, stale-active).
    pub status_row_only: bool,
    /// Whether the prompt would take a submission if this work were not shown.
    pub prompt_idle: bool,
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
    /// A hash of the last submitted prompt's row; `None` when no submitted prompt is visible.
    pub prompt: Option<u64>,
    /// How many submitted prompts are visible.
    pub prompts: usize,
    /// The text below the submitted prompt without blanks, progress rows and other chrome, so that neither a footer
    /// nor a reflow changes it.
    pub text: Arc<str>,
}

impl TurnRegion {
    /// Whether `self` shows all that `earlier` showed and something more below it: the answer grew.
    pub fn grew_from(&self, earlier: &TurnRegion) -> bool {
        if self.text == earlier.text {
            return false;
        }
        if self.text.len() > earlier.text.len() && self.text.starts_with(&*earlier.text) {
            return !earlier.text.is_empty() || self.prompt == earlier.prompt;
        }
        // The top of a long turn scrolls away, so its end is looked for instead of its beginning.
        const TAIL: usize = 48;
        let tail_start = earlier.text.char_indices().rev().nth(TAIL - 1).map(|(i, _)| i);
        tail_start.is_some_and(|start| {
            let tail = &earlier.text[start..];
            self.text.rfind(tail).is_some_and(|at| at + tail.len() < self.text.len())
        })
    }
}

/// The family of screens that a reading belongs to (SPEC §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    Idle,
    Answer,
    Waiting,
    Working,
}

impl Reading {
    /// Whether a row is drawn between the last submitted prompt and the live one that was not there in an earlier reading.
    pub fn has_new_rows(&self, earlier: &[u64]) -> bool {
        self.edge.iter().any(|row| earlier.binary_search(row).is_err())
    }
}

/// The profile's reading of one snapshot. It is a pure function of the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The phase that this screen by itself supports.
    pub phase: Phase,
    /// Whether a dialog waits for the operator.
    pub in_dialog: bool,
    pub surface: Surface,
    pub assessment: Assessment,
    /// The dialog or menu that takes the keys.
    pub dialog: Option<Dialog>,
    pub background_work: Tri,
    pub activity: Option<Activity>,
    pub end: Option<TurnEnd>,
    pub turn: TurnRegion,
    /// Hashes of the rows from the last submitted prompt to the live prompt, with their styles, in ascending order.
    pub edge: Arc<[u64]>,
    /// Rows from the top of the screen to the transcript's last one; all of the screen's rows once it is full, from when
    /// on the transcript scrolls.
    pub transcript_rows: usize,
    /// The letters and digits of the last submitted prompt, as far as its last row shows them.
    pub submitted: Option<Arc<str>>,
    /// The letters and digits of the text in the live prompt.
    pub draft: Option<Arc<str>>,
    pub family: Option<Family>,
    /// What it waits for or does, in one line: the dialog's question, the running tool, the answer's first line.
    pub headline: Option<String>,
    /// Whether the screen shows nothing at all.
    pub blank: bool,
    /// Why the screen contradicts itself, when it does; such a reading claims no phase.
    pub doubt: Option<String>,
    pub evidence: Vec<Evidence>,
    /// The version that a banner on the screen tells.
    pub banner_version: Option<String>,
}
