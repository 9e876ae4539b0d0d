//! Options side by side, one of which has another background.

use super::super::option::{Choice, Found, Manner};
use super::super::text::DialogLine;
use crate::screen::{Color, Row};

/// How a hint for a key begins, which follows the buttons.
const HINTS: [&str; 10] = ["ctrl", "alt", "shift", "enter", "esc", "tab", "space", "⇆", "←", "↑"];

/// The lowest row that looks like buttons.
pub(super) fn find(lines: &[DialogLine<'_>]) -> Option<Found> {
    lines.iter().rev().find_map(buttons)
}

/// A row of buttons as text, with the marked one in brackets.
pub(in crate::dialog) fn with_marked(row: &Row, marked: usize) -> String {
    let text = row.text();
    let Some(&(start, label)) = labels(&DialogLine::new(0, row, 0)).get(marked) else { return text.to_owned() };
    format!("{}[{label}]{}", &text[..start], &text[start + label.len()..])
}

fn buttons(line: &DialogLine<'_>) -> Option<Found> {
    let labels = labels(line);
    let style = |byte: usize| {
        let style = line.row.style_at(byte);
        (style.background, style.inverse)
    };
    let styles: Vec<(Color, bool)> = labels.iter().map(|(byte, _)| style(*byte)).collect();
    let is_alone = |place: &usize| styles.iter().filter(|other| **other == styles[*place]).count() == 1;
    let alone: Vec<usize> = (0..styles.len()).filter(is_alone).collect();
    // With two buttons, each has a style of its own; the blanks after them have the style of the unmarked one.
    let behind = labels.last().map(|(byte, label)| style(byte + label.len() + 1));
    let marked = match alone[..] {
        [one] if styles.len() > 2 => one,
        [_, _] if styles.len() == 2 => alone.into_iter().find(|&place| Some(styles[place]) != behind)?,
        _ => return None,
    };
    let options = labels.iter().enumerate().map(|(place, (_, label))| Choice::plain((place + 1).to_string(), label));
    Some(Found {
        manner: Manner::Buttons,
        options: options.collect(),
        marked: Some(marked),
        rows: line.y..line.y + 1,
        typed: String::new(),
        submit: None,
    })
}

/// The texts that two or more blanks separate, up to the first hint, with their bytes in the row.
fn labels<'a>(line: &DialogLine<'a>) -> Vec<(usize, &'a str)> {
    let offset = line.row.text().len() - line.row.text().trim_start().len();
    let Some(start) = line.row.text().find(line.text).map(|start| start.max(offset)) else { return Vec::new() };
    let parts = line.text.split("  ").scan(start, |at, part| {
        let blanks = part.len() - part.trim_start().len();
        let byte = *at + blanks;
        *at += part.len() + 2;
        Some((byte, part.trim()))
    });
    let parts = parts.filter(|(_, part)| !part.is_empty());
    parts.take_while(|(_, part)| !HINTS.iter().any(|hint| part.to_lowercase().starts_with(hint))).collect()
}
