//! Texts that may be pasted.

/// Bytes that are pasted at most.
const LIMIT: usize = 1 << 20;

/// A text that may be pasted into a terminal: no control characters but newline and tab, so that it can neither end
/// the paste that it is in nor press a key (SPEC §11).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct PasteText(String);

impl TryFrom<String> for PasteText {
    type Error = UnfitText;

    fn try_from(text: String) -> Result<Self, UnfitText> {
        Self::new(text)
    }
}

/// Why a text may not be pasted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum UnfitText {
    #[error("there is no text to send")]
    Empty,
    #[error("the text has {0} bytes; the limit is {LIMIT}")]
    TooLong(usize),
    #[error("line {line} contains the control character U+{:04X}; only newlines and tabs can be sent", *.character as u32)]
    Control { line: usize, character: char },
}

impl UnfitText {
    /// What to do instead.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "write the text behind the name, or give it on standard input",
            Self::TooLong(_) => "put it into a file, and name the file in a prompt",
            Self::Control { .. } => "leave control characters out; `fleetwatch keys` presses keys",
        }
    }
}

impl PasteText {
    /// The text as it is, byte for byte, or why not.
    pub fn new(text: impl Into<String>) -> Result<Self, UnfitText> {
        let text = text.into();
        if text.is_empty() {
            return Err(UnfitText::Empty);
        }
        if text.len() > LIMIT {
            return Err(UnfitText::TooLong(text.len()));
        }
        match text.char_indices().find(|&(_, c)| c.is_control() && c != '\n' && c != '\t') {
            Some((at, character)) => Err(UnfitText::Control { line: text[..at].matches('\n').count() + 1, character }),
            None => Ok(Self(text)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_refused_with_their_line() {
        assert_eq!(PasteText::new("a\nb\u{1b}[201~"), Err(UnfitText::Control { line: 2, character: '\u{1b}' }));
        for bad in ["\r", "\u{0}", "\u{7f}", "\u{9b}x", "a\r\nb"] {
            assert!(PasteText::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(PasteText::new(""), Err(UnfitText::Empty));
        assert!(PasteText::new("x".repeat(LIMIT + 1)).is_err());
        assert!(PasteText::new("tab\there\n{#{pane_id}; 'é😀\\").is_ok());
    }
}
