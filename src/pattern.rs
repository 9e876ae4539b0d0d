//! Glob patterns of names: what a configuration says instead of a list of them.

use globset::{Glob, GlobMatcher};

/// One glob pattern, with its text.
#[derive(Clone, Debug)]
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

    /// Whether a name is one of those that are meant.
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

    /// The pattern for a set of them.
    pub fn glob(&self) -> &Glob {
        self.matcher.glob()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}
