//! The text of a profile file: names and patterns in it, and errors that point into it.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use toml::Spanned;

use super::super::version::Version;

/// Why a profile file is refused. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ProfileError {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// The text that errors point into.
pub(super) struct SourceText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl SourceText<'_> {
    pub(super) fn error(&self, span: Range<usize>, message: String) -> ProfileError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        ProfileError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }

    pub(super) fn regex(&self, span: Range<usize>, pattern: &str) -> Result<Regex, ProfileError> {
        let mut builder = RegexBuilder::new(&ascii_boundaries(pattern));
        builder.size_limit(PATTERN_SIZE).dfa_size_limit(CACHE_SIZE).build().map_err(|error| {
            if let regex::Error::CompiledTooBig(limit) = error {
                let message = format!(
                    "`{}` is too large: a pattern may take {} KiB when it is compiled; ask for less, or split it",
                    shortened(pattern),
                    limit >> 10
                );
                return self.error(span, message);
            }
            // The crate's errors have several lines; the last one says what is wrong.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            self.error(span, format!("`{}` is not a pattern: {reason}", shortened(pattern)))
        })
    }

    pub(super) fn version(&self, text: &Spanned<String>) -> Result<Version, ProfileError> {
        Version::parse(text.as_ref()).ok_or_else(|| {
            self.error(text.span(), format!("`{}` is not a version; write it like 2.1.0", text.as_ref()))
        })
    }
}

/// Bytes that one compiled pattern may take. Every row of every screen is matched against every pattern, and one as large
/// as the crate allows would keep a dashboard busy for minutes.
const PATTERN_SIZE: usize = 256 << 10;

/// Bytes that the matcher of one pattern may cache.
const CACHE_SIZE: usize = 1 << 20;

/// As much of a pattern as an error shows.
fn shortened(pattern: &str) -> String {
    const SHOWN: usize = 80;
    match pattern.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &pattern[..end]),
        None => pattern.to_owned(),
    }
}

/// Writes word boundaries as ASCII ones. The fast matcher has no Unicode ones, which cost a hundredfold on rows that are
/// not plain ASCII, as all interesting ones are.
fn ascii_boundaries(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            written.push(c);
            continue;
        }
        match chars.next() {
            Some('b') => written.push_str(r"(?-u:\b)"),
            Some(other) => written.extend(['\\', other]),
            None => written.push('\\'),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_boundaries_are_rewritten() {
        assert_eq!(ascii_boundaries(r"^\s*esc\b\\b"), r"^\s*esc(?-u:\b)\\b");
    }
}
