//! A theme's file: what it may say, and what is wrong with it.

use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use toml::Spanned;

use super::{Appearance, Parts, Theme};
use crate::status::Status;
use crate::ui::text;

/// Why a theme is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ThemeError {
    /// What is wrong.
    pub what: String,
    /// The bytes of the text that it is about.
    pub at: Range<usize>,
    /// What to write instead.
    pub hint: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    status: StatusEntries,
    spinner: Spinner,
    parts: PartsEntry,
}

/// A look for each of [`Status::GROUPS`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusEntries {
    needs_you: StatusEntry,
    failed: StatusEntry,
    stalled: StatusEntry,
    error: StatusEntry,
    interrupted: StatusEntry,
    finished: StatusEntry,
    working: StatusEntry,
    ready: StatusEntry,
    unknown: StatusEntry,
    gone: StatusEntry,
}

impl StatusEntries {
    /// The look of one of [`Status::GROUPS`].
    fn of(&self, status: Status) -> &StatusEntry {
        match status.group() {
            Status::Failed => &self.failed,
            Status::Stalled => &self.stalled,
            Status::Error => &self.error,
            Status::Interrupted => &self.interrupted,
            Status::Finished => &self.finished,
            Status::Working => &self.working,
            Status::Ready => &self.ready,
            Status::Unknown => &self.unknown,
            Status::Gone => &self.gone,
            _ => &self.needs_you,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusEntry {
    glyph: Spanned<String>,
    ascii: Spanned<String>,
    #[serde(default)]
    style: StyleEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spinner {
    frames: Vec<Spanned<String>>,
    ascii: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartsEntry {
    text: StyleEntry,
    quiet: StyleEntry,
    title: StyleEntry,
    rule: StyleEntry,
    selected: StyleEntry,
    key: StyleEntry,
    cursor: StyleEntry,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StyleEntry {
    foreground: Option<Spanned<String>>,
    background: Option<Spanned<String>>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reversed: bool,
}

pub(super) fn read(text: &str) -> Result<Theme, ThemeError> {
    let file: File = toml::from_str(text).map_err(|error| ThemeError {
        what: error.message().to_owned(),
        at: error.span().unwrap_or(0..0),
        hint: None,
    })?;
    let mut looks: [Appearance; Status::GROUPS.len()] = Default::default();
    for (look, status) in looks.iter_mut().zip(Status::GROUPS) {
        let entry = file.status.of(status);
        *look =
            Appearance { glyph: one_cell(&entry.glyph)?, ascii: one_ascii(&entry.ascii)?, style: style(&entry.style)? };
    }
    let parts = file.parts;
    Ok(Theme {
        looks,
        spinner: file.spinner.frames.iter().map(one_cell).collect::<Result<_, _>>()?,
        spinner_ascii: file.spinner.ascii.iter().map(one_ascii).collect::<Result<_, _>>()?,
        parts: Parts {
            text: style(&parts.text)?,
            quiet: style(&parts.quiet)?,
            title: style(&parts.title)?,
            rule: style(&parts.rule)?,
            selected: style(&parts.selected)?,
            key: style(&parts.key)?,
            cursor: style(&parts.cursor)?,
        },
    })
}

/// A glyph that takes one cell, so that columns stay where they are.
fn one_cell(glyph: &Spanned<String>) -> Result<String, ThemeError> {
    let cells = text::width(glyph.as_ref());
    if cells == 1 {
        return Ok(glyph.as_ref().clone());
    }
    Err(ThemeError {
        what: format!("the glyph {:?} takes {cells} cells", glyph.as_ref()),
        at: glyph.span(),
        hint: Some("a glyph takes exactly one cell".to_owned()),
    })
}

fn one_ascii(glyph: &Spanned<String>) -> Result<String, ThemeError> {
    if glyph.as_ref().is_ascii() {
        return one_cell(glyph);
    }
    Err(ThemeError {
        what: format!("the glyph {:?} is not ASCII", glyph.as_ref()),
        at: glyph.span(),
        hint: Some("this one is for terminals that show nothing else".to_owned()),
    })
}

fn style(entry: &StyleEntry) -> Result<Style, ThemeError> {
    let modifiers = [
        (entry.bold, Modifier::BOLD),
        (entry.dim, Modifier::DIM),
        (entry.italic, Modifier::ITALIC),
        (entry.underline, Modifier::UNDERLINED),
        (entry.reversed, Modifier::REVERSED),
    ];
    let add_modifier = modifiers.iter().filter(|(on, _)| *on).map(|(_, modifier)| *modifier).collect();
    let color = |name: &Option<Spanned<String>>| name.as_ref().map(color).transpose();
    Ok(Style { fg: color(&entry.foreground)?, bg: color(&entry.background)?, add_modifier, ..Style::default() })
}

fn color(name: &Spanned<String>) -> Result<Color, ThemeError> {
    name.as_ref().parse().map_err(|_| ThemeError {
        what: format!("{:?} is no colour", name.as_ref()),
        at: name.span(),
        hint: Some("a colour is a name (`magenta`, `light blue`), a number (0 to 255) or `#rrggbb`".to_owned()),
    })
}
