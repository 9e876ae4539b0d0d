//! Keys by tmux's names, as the operator's keyboard names them.

use crokey::KeyCombination;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::keymap;
use crate::operation::Key;

/// What tmux calls the keys that are no characters.
pub const NAMED: [(KeyCode, &str); 16] = [
    (KeyCode::Char(' '), "Space"),
    (KeyCode::Enter, "Enter"),
    (KeyCode::Esc, "Escape"),
    (KeyCode::Tab, "Tab"),
    (KeyCode::BackTab, "BTab"),
    (KeyCode::Backspace, "BSpace"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
    (KeyCode::PageUp, "PageUp"),
    (KeyCode::PageDown, "PageDown"),
    (KeyCode::Insert, "IC"),
    (KeyCode::Delete, "DC"),
];

/// A key that tmux has a name for, as the operator's keyboard and the footer name it: `C-c` is `ctrl-c`.
pub fn spoken(name: &str) -> String {
    const MODIFIERS: [(&str, KeyModifiers); 3] =
        [("C-", KeyModifiers::CONTROL), ("M-", KeyModifiers::ALT), ("S-", KeyModifiers::SHIFT)];
    let (mut base, mut modifiers) = (name, KeyModifiers::NONE);
    while let Some((rest, modifier)) = MODIFIERS.iter().find_map(|(prefix, modifier)| {
        // A lone `C-` would be no modifier of anything.
        base.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(|rest| (rest, *modifier))
    }) {
        (base, modifiers) = (rest, modifiers | modifier);
    }
    let one = || base.chars().next().filter(|c| base.len() == c.len_utf8()).map(KeyCode::Char);
    let code = NAMED.iter().find(|(_, named)| *named == base).map(|(code, _)| *code).or_else(one);
    match code {
        Some(KeyCode::BackTab) => format!("shift-{}", keymap::show(KeyCombination::one_key(KeyCode::Tab, modifiers))),
        Some(code) => keymap::show(KeyCombination::one_key(code, modifiers)),
        None => name.to_lowercase(),
    }
}

/// Several keys, as [`spoken`] names each.
pub fn spoken_all<'a>(keys: impl IntoIterator<Item = &'a Key>) -> String {
    keys.into_iter().map(|key| spoken(key.as_str())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_called_as_the_footer_calls_them() {
        let called = ["C-c", "Escape", "Down", "M-Enter", "S-Up", "BTab", "Space", "q", "G", "C--", "F5", "C-", "é"];
        let expected =
            ["ctrl-c", "esc", "↓", "alt-enter", "shift-↑", "shift-tab", "space", "q", "G", "ctrl--", "f5", "c-", "é"];
        assert_eq!(called.map(spoken), expected);
    }
}
