//! Options as letters after a question: `(Y)es/(N)o`, `[y/N]`.

use super::super::option::{Choice, Found, Manner};
use super::super::text::DialogLine;

/// Options in the last row with words.
pub(super) fn find(lines: &[DialogLine<'_>]) -> Option<Found> {
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
