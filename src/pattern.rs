//! Globs of names, and texts with placeholders for values.

use std::fmt;

use globset::{Glob, GlobMatcher};

/// A template with its places filled. Everything else in it stands for itself, and what a value says about places means nothing.
pub fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        let (value, place) =
            values.iter().find(|(place, _)| from.starts_with(place)).map_or(("{", "{"), |(p, v)| (v, p));
        text.push_str(value);
        rest = &from[place.len()..];
    }
    text + rest
}

/// How alike a name and what was written for it must be, from 0 to 1. A short word with another letter in it is another word,
/// such as `nope` for `note`.
const ALIKE: f64 = 0.87;

/// The name that a misspelt one most likely means.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    let likeness = |name: &'a str| (strsim::jaro_winkler(&written, &name.to_lowercase()), name);
    let alike = names.into_iter().map(likeness).filter(|(likeness, _)| *likeness >= ALIKE);
    alike.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

/// One glob pattern, with its text.
#[derive(Clone, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// # Errors
    /// The text is no glob pattern; the error's kind says why.
    pub fn new(text: &str) -> Result<Self, globset::Error> {
        // Session names hold slashes and dots as other characters; globset's `*` stands for any of them.
        Ok(Self { text: text.to_owned(), matcher: Glob::new(text)?.compile_matcher() })
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.matcher.is_match(name)
    }

    /// Whether any of several spellings is.
    pub fn is_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.matches(name))
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl TryFrom<String> for Pattern {
    type Error = globset::Error;

    fn try_from(text: String) -> Result<Self, globset::Error> {
        Self::new(&text)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Pattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// Its text: settings are compared by what they print as, and what it is compiled to takes 10 ms to print for a hundred of them.
impl fmt::Debug for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(out)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_not_read_for_places() {
        let values = [("{text}", "a {event} {text}"), ("{event}", "ended")];
        assert_eq!(filled("{event}: {text}, {other} {", &values), "ended: a {event} {text}, {other} {");
        assert_eq!(filled("", &values), "");
    }
}
