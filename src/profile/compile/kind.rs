//! Kinds of rows: a pattern, and conditions on the style.

use std::ops::Range;

use regex::Regex;
use toml::Spanned;

use super::super::color::ColorTest;
use super::super::rules::{RowData, StyleData};
use super::source::{ProfileError, SourceText};
use crate::screen::{Row, Style};

/// A kind of row, by its place in the profile's table. At most 128 kinds fit into a [`Kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::profile) struct Kind(pub(in crate::profile) u8);

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::profile) struct Kinds(u128);

impl Kinds {
    pub(in crate::profile) fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind.0;
    }

    pub(in crate::profile) fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind.0) != 0
    }

    pub(in crate::profile) fn intersects(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut set = Kinds::default();
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

/// A kind of row: a pattern and conditions on the style.
#[derive(Clone, Debug)]
pub(in crate::profile) struct RowKind {
    pub name: String,
    pub pattern: Regex,
    styles: Vec<StyleTest>,
}

impl RowKind {
    /// Whether the styles fit in a row whose text has already matched.
    pub(in crate::profile) fn styles_fit(&self, row: &Row) -> bool {
        self.styles.iter().all(|test| match &test.at {
            Place::First => {
                let text = row.text();
                let first = text.len() - text.trim_start().len();
                test.accepts(row.style_at(first))
            }
            Place::Group(name) => self
                .pattern
                .captures(row.text())
                .and_then(|captures| captures.name(name).map(|found| found.start()))
                .is_some_and(|start| test.accepts(row.style_at(start))),
        })
    }
}

#[derive(Clone, Debug)]
enum Place {
    First,
    Group(String),
}

/// The conditions on one style.
#[derive(Clone, Debug)]
pub(in crate::profile) struct StyleTest {
    at: Place,
    foreground: Option<ColorTest>,
    background: Option<ColorTest>,
    bold: Option<bool>,
    dim: Option<bool>,
    italic: Option<bool>,
    inverse: Option<bool>,
}

impl StyleTest {
    pub(in crate::profile) fn accepts(&self, style: Style) -> bool {
        let flag = |wanted: Option<bool>, is: bool| wanted.is_none_or(|wanted| wanted == is);
        self.foreground.as_ref().is_none_or(|test| test.accepts(style.foreground))
            && self.background.as_ref().is_none_or(|test| test.accepts(style.background))
            && flag(self.bold, style.bold)
            && flag(self.dim, style.dim)
            && flag(self.italic, style.italic)
            && flag(self.inverse, style.inverse)
    }
}

/// Compiles a kind of row.
///
/// # Errors
/// A pattern, a colour or a group that is wrong.
pub(super) fn row_kind(source: &SourceText<'_>, name: &str, row: &Spanned<RowData>) -> Result<RowKind, ProfileError> {
    let pattern = source.regex(row.span(), &row.as_ref().text)?;
    let styles = row
        .as_ref()
        .style
        .iter()
        .map(|style| style_test(source, row.span(), style, Some(&pattern)))
        .collect::<Result<_, _>>()?;
    Ok(RowKind { name: name.to_owned(), pattern, styles })
}

/// Compiles the conditions on one style.
///
/// # Errors
/// A colour or a group that is wrong.
pub(super) fn style_test(
    source: &SourceText<'_>,
    span: Range<usize>,
    data: &StyleData,
    pattern: Option<&Regex>,
) -> Result<StyleTest, ProfileError> {
    let color = |text: &Option<String>| {
        text.as_deref().map(ColorTest::parse).transpose().map_err(|message| source.error(span.clone(), message))
    };
    let at = match data.at.as_deref() {
        None | Some("first") => Place::First,
        Some(group) if pattern.is_some_and(|p| p.capture_names().flatten().any(|name| name == group)) => {
            Place::Group(group.to_owned())
        }
        Some(group) => return Err(source.error(span, format!("the pattern has no group called `{group}`"))),
    };
    Ok(StyleTest {
        at,
        foreground: color(&data.foreground)?,
        background: color(&data.background)?,
        bold: data.bold,
        dim: data.dim,
        italic: data.italic,
        inverse: data.inverse,
    })
}

/// The names of rows that a profile may use.
pub(super) struct Names<'a> {
    pub source: &'a SourceText<'a>,
    pub rows: &'a [RowKind],
}

impl Names<'_> {
    pub(super) fn kind(&self, span: &Range<usize>, name: &str) -> Result<Kind, ProfileError> {
        let index = self.rows.iter().position(|row| row.name == name);
        index
            .and_then(|index| u8::try_from(index).ok())
            .map(Kind)
            .ok_or_else(|| self.source.error(span.clone(), format!("no row is called `{name}`")))
    }

    pub(super) fn kinds<'n>(
        &self,
        span: &Range<usize>,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<Vec<Kind>, ProfileError> {
        names.into_iter().map(|name| self.kind(span, name)).collect()
    }
}
