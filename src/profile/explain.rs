//! Why a profile reads a screen as it does: regions, rules tried, rows that fired (SPEC §5, `fleetwatch explain`).

use serde::Serialize;

use super::classification::Classification;
use super::compile::{Profile, ScreenRule};
use super::engine::{Miss, try_rule};
use super::rules::{Region, Signal};
use super::screen_view::{DraftText, ScreenView};
use crate::screen::{PaneFacts, Screen};

/// Everything that went into one reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    pub profile: String,
    pub prompt: Option<PromptFound>,
    /// The regions with their rows, from 0, the end exclusive.
    pub regions: Vec<RegionFound>,
    /// Rows that are of at least one known kind.
    pub rows: Vec<RowFound>,
    /// Every rule of the profile in the order in which they are tried.
    pub rules: Vec<RuleTried>,
}

/// The live prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptFound {
    /// The row with its glyph.
    pub row: usize,
    /// `empty`, `placeholder` or `draft`.
    pub holds: &'static str,
    /// Whether the cursor shows that it takes the keys.
    pub focused: bool,
}

/// A region and its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegionFound {
    pub name: Region,
    pub from: usize,
    pub to: usize,
}

/// A row and its kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowFound {
    pub row: usize,
    pub kinds: Vec<String>,
    pub text: String,
}

/// One rule and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleTried {
    pub rule: String,
    pub gives: Signal,
    pub region: Region,
    pub fired: bool,
    /// The rows that it fired on.
    pub rows: Vec<usize>,
    /// Why it did not fire.
    pub because: Option<String>,
}

impl Profile {
    /// Reads a screen and explains the reading.
    pub fn explain(&self, screen: &Screen, facts: &PaneFacts) -> (Classification, Explanation) {
        let sight = self.sight(screen, facts);
        let prompt = sight.prompt.as_ref().map(|prompt| PromptFound {
            row: prompt.row,
            holds: match prompt.draft {
                DraftText::Empty => "empty",
                DraftText::Ghost => "placeholder",
                DraftText::Text => "draft",
            },
            focused: prompt.focused,
        });
        let explanation = Explanation {
            profile: sight.profile.id.clone(),
            prompt,
            regions: Region::ALL.iter().map(|&name| region_found(&sight, name)).collect(),
            rows: (0..screen.rows().len()).filter_map(|y| row_found(&sight, y)).collect(),
            rules: sight.profile.rules.iter().map(|rule| tried(&sight, rule)).collect(),
        };
        (sight.read(), explanation)
    }
}

fn region_found(sight: &ScreenView<'_>, name: Region) -> RegionFound {
    let rows = sight.region(name);
    RegionFound { name, from: rows.start, to: rows.end }
}

fn row_found(sight: &ScreenView<'_>, row: usize) -> Option<RowFound> {
    let kinds = sight.kind_names(row);
    (!kinds.is_empty()).then(|| RowFound { row, kinds, text: sight.row(row).to_owned() })
}

fn tried(sight: &ScreenView<'_>, rule: &ScreenRule) -> RuleTried {
    let outcome = try_rule(sight, rule);
    RuleTried {
        rule: rule.id.clone(),
        gives: rule.gives,
        region: rule.region,
        fired: outcome.is_ok(),
        because: outcome.as_ref().err().map(|miss| because(sight, miss)),
        rows: outcome.unwrap_or_default(),
    }
}

fn because(sight: &ScreenView<'_>, miss: &Miss) -> String {
    match miss {
        Miss::Title => format!("the title is `{}`", sight.facts.title.trim_end()),
        Miss::Cursor if sight.facts.cursor.visible => "the cursor is visible".to_owned(),
        Miss::Cursor => "the cursor is hidden".to_owned(),
        Miss::Composer => match &sight.prompt {
            None => "there is no live prompt".to_owned(),
            Some(prompt) => format!("the live prompt in row {} is not what the rule asks for", prompt.row),
        },
        Miss::Row(kind) => format!("no `{kind}` row where it should be"),
        Miss::Forbidden(row) => format!("row {row} rules it out: {}", sight.row(*row).trim()),
    }
}
