//! Text in cells: how wide it is, and where it is cut.
//!
//! Terminals disagree about the width of flags and presentation selectors, and one that disagrees with fleetwatch shifts
//! everything behind them. So text is taken apart into pieces whose width no terminal doubts: a base character with its
//! combining marks, or emoji that are joined to one. What else joins or modifies is left out, and flags are written as
//! letters.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::screen::{is_drawn_as_nothing, is_harmless};

/// Marks kept on one base character. Real scripts need no more than three; stacks of hundreds are an attack.
const MARKS_KEPT: usize = 4;

/// What stands for text that was cut.
pub const ELLIPSIS: &str = "…";

/// What one cell (or, for a wide character, two) shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub symbol: &'a str,
    /// Cells, 1 or 2.
    pub width: u16,
}

/// A directory as it is seen from `home`: `~/shop`.
pub fn seen_from(home: &str, directory: &str) -> String {
    let below = directory.strip_prefix(home).filter(|below| below.is_empty() || below.starts_with('/'));
    below.filter(|_| home.len() > 1).map_or_else(|| directory.to_owned(), |below| format!("~{below}"))
}

/// The pieces of a text, left to right, without anything that could act on the terminal.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    Pieces { text, at: 0, before: None }
}

/// The cells that a text takes.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    pieces(text).map(|piece| usize::from(piece.width)).sum()
}

/// A text up to its last word, which may be empty, and that word. Blanks may have several bytes, such as U+3000.
pub fn at_last_word(text: &str) -> (&str, &str) {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    text.split_at(text.len() - word.len())
}

/// The text if it fits into `cells`, else its beginning with `…` at the end.
pub fn cut(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let Some(room) = cells.checked_sub(1) else { return Cow::Borrowed("") };
    let mut kept = String::with_capacity(text.len());
    let mut used = 0;
    for piece in pieces(text) {
        used += usize::from(piece.width);
        if used > room {
            break;
        }
        kept.push_str(piece.symbol);
    }
    // One that is there already says the same.
    let end = kept.trim_end_matches(|c: char| c.is_whitespace() || ELLIPSIS.contains(c)).len();
    kept.truncate(end);
    kept.push_str(ELLIPSIS);
    Cow::Owned(kept)
}

/// A text in lines of at most `cells` cells, as [`broken`] breaks it. What does not fit into `most` lines is cut with
/// `…`.
pub fn wrapped(text: &str, cells: usize, most: usize) -> Vec<String> {
    let text = text.trim();
    let rows = if cells == 0 { Vec::new() } else { broken(text, cells) };
    let line = |(nth, row): (usize, Range<usize>)| {
        let end = if nth + 1 == most { text.len() } else { row.end };
        cut(text[row.start..end].trim_end(), cells).into_owned()
    };
    rows.into_iter().take(most).enumerate().map(line).collect()
}

/// A line in rows of at most `cells` cells, none of it lost; rows behind the first are indented two cells further.
pub fn hanging(line: &str, cells: usize) -> Vec<String> {
    let text = line.trim_start();
    let indent = (line.len() - text.len()).min(cells / 2);
    let further = indent + 2;
    if width(text) + indent <= cells {
        return vec![line.to_owned()];
    }
    let rows = broken(text, cells.saturating_sub(further));
    let row = |(nth, row): (usize, Range<usize>)| {
        format!("{:1$}{2}", "", if nth == 0 { indent } else { further }, text[row].trim_end())
    };
    rows.into_iter().enumerate().map(row).collect()
}

/// Where a text is broken into rows of at most `cells` cells, without a character of it lost: at blanks where there are
/// any near the end of a row. The blanks at the end of a row may reach beyond it.
pub fn broken(text: &str, cells: usize) -> Vec<Range<usize>> {
    let cells = cells.max(2);
    let mut rows = Vec::new();
    // Where the row begins and how full it is; the first word behind a blank of it, and how full it was before.
    let (mut start, mut used, mut word) = (0, 0, None);
    for (at, c) in text.char_indices() {
        if c == ' ' {
            word = Some((at + 1, used));
            used = (used + 1).min(cells);
            continue;
        }
        let wide = width(&text[at..at + c.len_utf8()]);
        if used + wide > cells {
            // A word that would leave half of a row blank, such as a path, is broken instead.
            let from = word.filter(|(_, before)| before * 2 >= cells).map_or(at, |(from, _)| from);
            rows.push(start..from);
            (start, used, word) = (from, width(&text[from..at]), None);
        }
        used += wide;
    }
    if start < text.len() {
        rows.push(start..text.len());
    }
    rows
}

/// A text with blanks behind it, up to a number of cells.
pub fn padded(text: &str, cells: usize) -> String {
    format!("{text}{}", " ".repeat(cells.saturating_sub(width(text))))
}

/// A count with at most four digits, and `k` or `M` behind it.
pub fn rounded(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// A number of things, by the word for one of them: `1 window`, `2 windows`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {one}{end}")
}

/// A name or a path as a shell takes it.
pub fn quoted(word: &str) -> Cow<'_, str> {
    // No shell takes a word with a NUL byte.
    shlex::try_quote(word).unwrap_or(word.into())
}

/// The beginning of a text that fits into that many cells.
pub fn fitting(text: &str, cells: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    &text[..ends.take_while(|&end| width(&text[..end]) <= cells).last().unwrap_or(0)]
}

/// The ASCII substitute of a sign, if there is one.
pub fn in_ascii(sign: char) -> Option<&'static str> {
    Some(match sign {
        '─' | '━' | '═' | '–' | '—' | '╌' | '┄' | '▔' | '▁' | '⎯' => "-",
        '│' | '┃' | '║' | '▌' | '▐' | '█' | '■' | '⎿' | '▏' | '▎' => "|",
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '╭' | '╮' | '╰' | '╯' => "+",
        '…' => "~",
        '·' | '∙' | '•' => ".",
        '●' | '○' | '◯' | '◦' => "o",
        '›' | '→' | '❯' | '▶' | '▸' | '»' => ">",
        '‹' | '←' | '«' => "<",
        '↑' => "^",
        '↓' | '▾' => "v",
        '✓' | '✔' => "+",
        '✗' | '✘' | '×' => "x",
        '✎' => "/",
        '⊘' => "-",
        '\u{2800}'..='\u{28FF}' | '✻' | '✽' | '✶' | '✳' | '✢' | '★' => "*",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '\u{A0}' => " ",
        _ => return None,
    })
}

struct Pieces<'a> {
    text: &'a str,
    /// The byte at which the part that is not yet handed out begins.
    at: usize,
    /// The base character right before `at`.
    before: Option<char>,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let start = self.at;
            let base = self.rest().chars().next()?;
            self.at += base.len_utf8();
            // Most text is ASCII without marks; looking at one byte more is all that it costs.
            if matches!(base, ' '..='~') && self.rest().as_bytes().first().is_none_or(u8::is_ascii) {
                self.before = Some(base);
                return Some(Piece { symbol: &self.text[start..self.at], width: 1 });
            }
            let after_pictograph = self.before.is_some_and(is_pictograph);
            if base == JOINER && after_pictograph {
                self.skip(is_pictograph, 1);
                continue;
            }
            if !is_harmless(base) || is_left_out(base) || (is_skin_tone(base) && after_pictograph) {
                continue;
            }
            if is_pictograph(base)
                && let Some(symbol) = self.joined(start)
            {
                self.before = Some(base);
                return Some(Piece { symbol, width: 2 });
            }
            self.before = Some(base);
            if let Some(symbol) = stand_in(base) {
                return Some(Piece { symbol, width: 1 });
            }
            let symbol = &self.text[start..self.at];
            let width = match symbol.width() {
                1 => 1,
                2 => 2,
                _ => continue,
            };
            if !is_mark(base) {
                return Some(Piece { symbol: self.with_marks(start, width), width });
            }
        }
    }
}

impl<'a> Pieces<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The emoji that begins at `start`, with those that are joined to it and their skin tones: one picture of two
    /// cells. Where a terminal draws more, the next cell begins at its place all the same. `None` when nothing is
    /// joined to it.
    fn joined(&mut self, start: usize) -> Option<&'a str> {
        let end = self.at;
        for _ in 0..JOINED {
            self.skip(|c| is_skin_tone(c) || c == EMOJI_STYLE, 2);
            let mut next = self.rest().chars();
            if next.next() != Some(JOINER) || !next.next().is_some_and(is_pictograph) {
                break;
            }
            self.skip(|_| true, 2);
        }
        let whole = &self.text[start..self.at];
        if self.at > end && whole.ends_with(|c| c != EMOJI_STYLE) && whole.width() == 2 {
            return Some(whole);
        }
        self.at = end;
        None
    }

    /// The base character that begins at `start` and ends here, with the combining marks that follow it.
    fn with_marks(&mut self, start: usize, width: u16) -> &'a str {
        let base = &self.text[start..self.at];
        self.skip(is_mark, MARKS_KEPT);
        let marked = &self.text[start..self.at];
        self.skip(is_mark, usize::MAX);
        // A cluster that is wider than its base would push its neighbours away.
        if marked.width() == usize::from(width) { marked } else { base }
    }

    /// Steps over at most `most` of the next characters, as long as they are of a kind.
    fn skip(&mut self, kind: fn(char) -> bool, most: usize) {
        self.at += self.rest().chars().take_while(|&c| kind(c)).take(most).map(char::len_utf8).sum::<usize>();
    }
}

const JOINER: char = '\u{200D}';
/// What asks for a character to be drawn as an emoji.
const EMOJI_STYLE: char = '\u{FE0F}';
/// Emoji that may be joined to one; a family has three.
const JOINED: usize = 8;

fn is_pictograph(c: char) -> bool {
    c >= '\u{2190}' && !('\u{2E80}'..='\u{D7FF}').contains(&c)
}

fn is_skin_tone(c: char) -> bool {
    ('\u{1F3FB}'..='\u{1F3FF}').contains(&c)
}

/// The substitute for a character that some terminals combine with its neighbour and others do not: the letter of a regional
/// indicator (two of them may make a flag), and the sound marks of half-width katakana.
fn stand_in(c: char) -> Option<&'static str> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    match c {
        '\u{FF9E}' => Some("\""),
        '\u{FF9F}' => Some("°"),
        _ => {
            let index = usize::try_from(u32::from(c).checked_sub(0x1F1E6)?).ok()?;
            LETTERS.get(index..index + 1)
        }
    }
}

/// Invisible characters that terminals give different widths.
fn is_left_out(c: char) -> bool {
    let joins_or_varies = matches!(c,
        '\u{200C}'..='\u{200F}' | '\u{2065}'..='\u{2069}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}');
    is_drawn_as_nothing(c) || joins_or_varies
}

fn is_mark(c: char) -> bool {
    c.width() == Some(0) && is_harmless(c) && !is_left_out(c) && stand_in(c).is_none()
}

// One way for a line that is being typed to go on.

/// A way to go on, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The whole line then.
    pub line: String,
    /// What is added to it.
    pub text: String,
    pub note: String,
}

#[cfg(test)]
mod tests;
