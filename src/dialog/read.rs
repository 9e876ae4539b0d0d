//! Finds the options of a dialog among its rows.

pub(super) mod buttons;
mod rows;

use std::borrow::Cow;
use std::ops::Range;

use super::Dialog;
use super::option::{Choice, Found, Manner};
use super::text::{self, DialogLine, is_spinner};
use crate::screen::{Row, Screen};
use rows::{TICKS, untick};

impl Dialog {
    /// Reads the dialog in some rows of a screen. It never fails: a dialog of another form has no options.
    pub fn read(screen: &Screen, rows: Range<usize>) -> Self {
        read(screen, rows, false)
    }

    /// The same of a menu, which the operator opened.
    pub fn read_menu(screen: &Screen, rows: Range<usize>) -> Self {
        read(screen, rows, true)
    }
}

fn read(screen: &Screen, rows: Range<usize>, is_menu: bool) -> Dialog {
    let rows = rows.start.min(screen.rows().len())..rows.end.min(screen.rows().len());
    // Nobody approves a text with invisible parts.
    let spelled: Vec<Cow<'_, Row>> = screen.rows()[rows.clone()].iter().map(Row::spelled).collect();
    let columns = usize::from(screen.columns());
    let lines: Vec<DialogLine<'_>> =
        rows.clone().zip(&spelled).map(|(y, row)| DialogLine::new(y, row, columns)).collect();
    let found = rows::numbered(&lines)
        .or_else(|| rows::marked(&lines))
        .or_else(|| lettered(&lines))
        // Words side by side in a menu are its tabs.
        .or_else(|| buttons::find(&lines).filter(|_| !is_menu));
    let question = question(&lines, found.as_ref());
    let end = found.as_ref().map_or(rows.end, |found| match found.manner {
        // The letters are in the question.
        Manner::Letters => found.rows.end,
        _ => found.rows.start,
    });
    let above: Vec<DialogLine<'_>> = lines.iter().filter(|line| line.y < end).copied().collect();
    let text = text::logical(&above);
    let last = found.as_ref().map_or(rows.end, |found| found.rows.end);
    let end = last.clamp(rows.start, rows.end) - rows.start;
    // Hints for keys are beside buttons, and not part of the question.
    let hints = found.as_ref().is_some_and(|found| {
        let button = found.options.last().filter(|_| found.manner == Manner::Buttons);
        button.is_some_and(|button| !lines[found.rows.start - rows.start].text.ends_with(&button.label))
    });
    let mut cuts = text::left_out(&lines, end);
    cuts.extend(text::missing(&lines, end));
    cuts.extend(text::at_edge(&lines, end - usize::from(hints)));
    let found = found.unwrap_or(Found {
        manner: Manner::Unknown,
        options: Vec::new(),
        marked: None,
        rows: rows.end..rows.end,
        typed: String::new(),
        submit: None,
    });
    let taken = lines.iter().filter(|line| found.rows.contains(&line.y)).any(|line| line.text.ends_with(TICKS));
    let Found { manner, options, marked, rows: option_rows, typed, submit } = found;
    Dialog {
        rows,
        option_rows,
        options,
        manner,
        marked,
        typed,
        note: None,
        taken,
        text,
        cuts,
        above: Vec::new(),
        recorded: None,
        submit,
        asks_instead: false,
        is_menu,
        question,
    }
}

/// The text above the options, without marks, ticks and spinners. Below the options are hints for keys, which agents
/// change with the mark.
fn question(lines: &[DialogLine<'_>], found: Option<&Found>) -> String {
    let end = found.map_or(usize::MAX, |found| match found.manner {
        Manner::Letters | Manner::Buttons => found.rows.end,
        _ => found.rows.start,
    });
    let several = found.is_some_and(|found| found.manner == Manner::Several);
    let said = lines.iter().filter(|line| line.y < end && !is_spinner(line.text)).map(|line| {
        let text = untick(line.unmarked().0);
        // What is typed after the question is not part of it.
        let typed = found.filter(|found| line.y + 1 == found.rows.end).map_or("", |found| found.typed.as_str());
        let text = text.strip_suffix(typed).unwrap_or(text).trim_end();
        // The name of a question is ticked with the first option.
        if several { text.replace(['☑', '☒', '◼'], "☐") } else { text.to_owned() }
    });
    said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Letters as options, in the last row with words.
fn lettered(lines: &[DialogLine<'_>]) -> Option<Found> {
    let line = lines.iter().rfind(|line| !line.text.is_empty())?;
    let (question, typed) = split_typed(line.text);
    let letters = spelled(question);
    let (options, marked) = if letters.len() > 1 { with_default(question, letters) } else { bracketed(question)? };
    Some(Found {
        manner: Manner::Letters,
        options,
        marked,
        rows: line.y..line.y + 1,
        typed: typed.to_owned(),
        submit: None,
    })
}

/// The question and what is typed after it.
fn split_typed(text: &str) -> (&str, &str) {
    let end = text.rfind([']', ')', ':', '?']).map_or(text.len(), |last| last + 1);
    (&text[..end], text[end..].trim())
}

/// `(Y)es/(N)o/(D)on't ask again`
fn spelled(question: &str) -> Vec<Choice> {
    let mut options = Vec::new();
    let mut rest = question;
    while let Some(open) = rest.find('(') {
        rest = &rest[open + 1..];
        let Some(letter) = rest.chars().next().filter(char::is_ascii_alphanumeric) else { continue };
        let Some(behind) = rest[1..].strip_prefix(')') else { continue };
        let end = behind.find(['/', ',', '[', ']', '(', ':', '?']).unwrap_or(behind.len());
        if !behind.starts_with(|c: char| c.is_alphanumeric()) {
            continue;
        }
        let label = format!("{letter}{}", behind[..end].trim_end());
        options.push(Choice::plain(letter.to_ascii_lowercase().to_string(), &label));
        rest = &behind[end..];
    }
    options
}

/// The options with the one that a bracket at the end names as the default.
fn with_default(question: &str, options: Vec<Choice>) -> (Vec<Choice>, Option<usize>) {
    let named = question.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    let marked = options.iter().position(|option| Some(option.label.as_str()) == named);
    (options, marked)
}

/// `[y/N]`, `(y/n/a)`: single letters, of which a capital one is the default.
fn bracketed(question: &str) -> Option<(Vec<Choice>, Option<usize>)> {
    let open = question.rfind(['[', '('])?;
    let inner = question[open + 1..].split([']', ')']).next()?;
    let letters = inner.split('/').map(|part| {
        let mut letters = part.trim().chars();
        letters.next().filter(|c| letters.next().is_none() && c.is_ascii_alphanumeric())
    });
    let letters: Vec<char> = letters.collect::<Option<_>>()?;
    let capitals = letters.iter().filter(|c| c.is_ascii_uppercase()).count();
    let marked = letters.iter().position(char::is_ascii_uppercase).filter(|_| capitals == 1);
    let option = |letter: &char| {
        let name = letter.to_ascii_lowercase().to_string();
        let label = match name.as_str() {
            "y" => "Yes",
            "n" => "No",
            other => other,
        };
        Choice::plain(name.clone(), label)
    };
    (letters.len() > 1).then(|| (letters.iter().map(option).collect(), marked))
}
