//! Names of keys.

use std::str::FromStr;

use crate::dialog::Press;
use crate::pattern::nearest;

/// A key by the name that `send-keys` knows it by: `Enter`, `C-c`, `M-Up`, `F5`, `y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Key(String);

impl TryFrom<String> for Key {
    type Error = KeyError;

    fn try_from(name: String) -> Result<Self, KeyError> {
        name.parse()
    }
}

/// A name that tmux would not know, and would type as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a key")]
pub struct KeyError(pub String);

impl Key {
    /// The names of keys that are no characters, as tmux writes them.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = NAMES.iter().map(|(_, tmux)| *tmux).collect();
        names.dedup();
        names
    }
}

impl KeyError {
    /// The key that was probably meant, else all that there are.
    pub fn hint(&self) -> String {
        let written = self.0.to_lowercase().replace('+', "-");
        let modifier = MODIFIERS.iter().find_map(|(word, tmux)| Some((written.strip_prefix(word)?, tmux)));
        if let Some(key) = modifier.and_then(|(rest, tmux)| format!("{tmux}{rest}").parse::<Key>().ok()) {
            return format!("did you mean `{}`?", key.as_str());
        }
        let nearest = nearest(&self.0, NAMES.iter().map(|(name, _)| *name));
        if let Some((_, tmux)) = NAMES.iter().find(|(name, _)| Some(*name) == nearest) {
            return format!("did you mean `{tmux}`?");
        }
        let names = Key::names().join(", ");
        format!("a key is one character, {names} or F1 to F{FUNCTION_KEYS}, with C-, M- or S- in front")
    }
}

/// tmux's own names, and the ones that people write for them.
const NAMES: &[(&str, &str)] = &[
    ("Enter", "Enter"),
    ("Return", "Enter"),
    ("Escape", "Escape"),
    ("Esc", "Escape"),
    ("Tab", "Tab"),
    ("BTab", "BTab"),
    ("Space", "Space"),
    ("BSpace", "BSpace"),
    ("Backspace", "BSpace"),
    ("Up", "Up"),
    ("Down", "Down"),
    ("Left", "Left"),
    ("Right", "Right"),
    ("Home", "Home"),
    ("End", "End"),
    ("PageUp", "PageUp"),
    ("PgUp", "PageUp"),
    ("PPage", "PageUp"),
    ("PageDown", "PageDown"),
    ("PgDn", "PageDown"),
    ("NPage", "PageDown"),
    ("Insert", "IC"),
    ("IC", "IC"),
    ("Delete", "DC"),
    ("DC", "DC"),
];

/// Modifiers as people write them, and as tmux does.
const MODIFIERS: [(&str, &str); 5] =
    [("ctrl-", "C-"), ("control-", "C-"), ("alt-", "M-"), ("meta-", "M-"), ("shift-", "S-")];

/// Function keys that tmux has.
const FUNCTION_KEYS: u8 = 12;

impl Key {
    /// The Enter key, which submits.
    pub fn enter() -> Self {
        Self("Enter".to_owned())
    }

    /// The Escape key, which begins what other keys send as well.
    pub fn escape() -> Self {
        Self("Escape".to_owned())
    }

    /// Whether it types a character; all others are pressed for what they do.
    pub fn is_text(&self) -> bool {
        self.0 == "Space" || self.0.chars().count() == 1
    }

    /// The name, as tmux takes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads a key's name: modifiers (`C-`, `M-`, `S-`, or `^` for control) before a named key or one character.
    fn from_str(name: &str) -> Result<Self, KeyError> {
        let unknown = || KeyError(name.to_owned());
        let mut rest = name;
        let mut modifiers = String::new();
        loop {
            let modifier = match rest.as_bytes() {
                [b'C' | b'c', b'-', _, ..] => ('C', 2),
                [b'M' | b'm', b'-', _, ..] => ('M', 2),
                [b'S' | b's', b'-', _, ..] => ('S', 2),
                [b'^', _, ..] => ('C', 1),
                _ => break,
            };
            if modifiers.contains(modifier.0) {
                return Err(unknown());
            }
            modifiers.extend([modifier.0, '-']);
            rest = &rest[modifier.1..];
        }
        let base = base_name(rest).ok_or_else(unknown)?;
        // A character carries its own shift, and control goes with the ones that a terminal can send.
        let character = base.chars().count() == 1;
        let sendable = |c: char| c.is_ascii_alphabetic() || "@[\\]^_?/ ".contains(c);
        if character && (modifiers.contains('S') || (modifiers.contains('C') && !base.chars().all(sendable))) {
            return Err(unknown());
        }
        // tmux tells `C-C` and `C-c` apart, but people mean the same.
        let base = if modifiers.contains('C') && character { base.to_ascii_lowercase() } else { base };
        Ok(Self(modifiers + &base))
    }
}

fn base_name(name: &str) -> Option<String> {
    let mut characters = name.chars();
    if let (Some(c), None) = (characters.next(), characters.next()) {
        return (!c.is_control() && crate::screen::is_harmless(c)).then(|| name.to_owned());
    }
    let named = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, tmux)| (*tmux).to_owned());
    named.or_else(|| {
        let number: u8 = name.strip_prefix(['F', 'f'])?.parse().ok()?;
        (1..=FUNCTION_KEYS).contains(&number).then(|| format!("F{number}"))
    })
}

impl From<Press> for Key {
    fn from(press: Press) -> Self {
        Self(press.to_string())
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_text_and_what_is_pressed_with_them_is_not() {
        let is_text = |name: &str| name.parse::<Key>().map(|key| key.is_text());
        assert!(["a", "Space", "é", ";", "7"].into_iter().all(|name| is_text(name) == Ok(true)));
        assert!(["C-a", "M-x", "Enter", "BSpace", "F5"].into_iter().all(|name| is_text(name) == Ok(false)));
    }

    #[test]
    fn the_keys_that_stop_agents_are_keys() {
        use crate::profile::StopKey::{ControlC, ControlD, Enter, Escape};
        for key in [Escape, ControlC, ControlD, Enter] {
            assert_eq!(key.word().parse::<Key>().map(|key| key.to_string()).as_deref(), Ok(key.word()));
        }
    }

    #[test]
    fn what_is_no_key_is_answered_with_the_keys_there_are() {
        let hint = |name: &str| KeyError(name.to_owned()).hint();
        assert_eq!(hint("Entr"), "did you mean `Enter`?");
        assert_eq!(hint("pagedwn"), "did you mean `PageDown`?");
        let all = hint("Bogus");
        assert!(all.contains("Enter, Escape, Tab") && all.contains("F1 to F12"), "{all}");
        assert_eq!(all.matches("Enter").count(), 1, "{all}");
    }

    #[test]
    fn names_are_read_as_people_write_them_and_written_as_tmux_does() {
        let key = |name: &str| name.parse::<Key>().map(|key| key.0).ok();
        for (written, tmux) in [
            ("Enter", "Enter"),
            ("esc", "Escape"),
            ("C-c", "C-c"),
            ("^C", "C-c"),
            ("M-Up", "M-Up"),
            ("C-M-Left", "C-M-Left"),
            ("F5", "F5"),
            ("S-Tab", "S-Tab"),
            ("1", "1"),
            (";", ";"),
            ("-", "-"),
            ("é", "é"),
            ("pgdn", "PageDown"),
        ] {
            assert_eq!(key(written).as_deref(), Some(tmux), "{written}");
        }
        for bad in ["", "Entr", "C-", "C-C-c", "hello", "F13", "F0", "\u{1b}", "C-é", "S-a", "-l", "0x1b", "\u{202e}"]
        {
            assert_eq!(key(bad), None, "{bad}");
        }
    }
}
