//! One row of a screen: styled text without anything that could act on a terminal.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// A colour as the program in the pane asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Color {
    #[default]
    Default,
    /// One of the terminal's 256 colours.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The usual red, green and blue of one of the colours 16 to 255.
pub fn indexed_rgb(index: u8) -> [u8; 3] {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match index {
        232.. => [8 + 10 * (index - 232); 3],
        _ => [36, 6, 1].map(|place| LEVELS[usize::from(index.saturating_sub(16) / place % 6)]),
    }
}

/// How a stretch of text is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    pub foreground: Color,
    pub background: Color,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub inverse: bool,
}

impl Style {
    /// Whether a blank in this style can be seen.
    fn shows_on_blank(self) -> bool {
        self.background != Color::Default || self.inverse || self.underline
    }
}

/// A stretch of one style within a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    /// The byte at which the stretch begins.
    start: u32,
    style: Style,
}

/// One row of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row {
    // Every pane keeps its rows: what has grown by pushing takes up to twice the room.
    text: Box<str>,
    runs: Box<[Run]>,
    /// Characters that were shown and are not in `text`, as they could act on a terminal, each with the byte before which
    /// it stood.
    hidden: Box<[(u32, char)]>,
    /// Bytes of `text` without the blanks at its end.
    trimmed: u32,
}

impl Row {
    /// The row's text without the blanks at its end.
    pub fn text(&self) -> &str {
        &self.text[..self.trimmed as usize]
    }

    /// Whether nothing but blanks stands in the row.
    pub fn is_blank(&self) -> bool {
        self.text().trim().is_empty()
    }

    /// The style at a byte of the text; beyond the text it is the default style.
    pub fn style_at(&self, byte: usize) -> Style {
        if byte >= self.text.len() {
            return Style::default();
        }
        let after = self.runs.partition_point(|run| run.start as usize <= byte);
        after.checked_sub(1).and_then(|i| self.runs.get(i)).map_or(Style::default(), |run| run.style)
    }

    /// The stretches of one style, left to right, with the blanks at the end that can be seen.
    pub fn runs(&self) -> impl Iterator<Item = (&str, Style)> {
        self.runs.iter().enumerate().map(|(i, run)| {
            let end = self.runs.get(i + 1).map_or(self.text.len(), |next| next.start as usize);
            (&self.text[run.start as usize..end], run.style)
        })
    }

    /// The stretches of one style as they were captured: with what [`Row::runs`] leaves out.
    pub(crate) fn captured_runs(&self) -> impl Iterator<Item = (Cow<'_, str>, Style)> {
        let mut end = 0;
        self.runs().map(move |(run, style)| {
            let start = end;
            end += run.len();
            // It was drawn with the character before it.
            let behind = |(at, _): &&(u32, char)| (start < *at as usize || start == 0) && *at as usize <= end;
            let mut whole = Cow::Borrowed(run);
            for (at, c) in self.hidden.iter().rev().filter(behind) {
                whole.to_mut().insert(*at as usize - start, *c);
            }
            (whole, style)
        })
    }

    /// The row with all that nobody sees spelled out, as [`spelled`] does: what stands behind it moves to the right.
    pub fn spelled(&self) -> Cow<'_, Row> {
        if self.hidden.is_empty() && matches!(spelled(&self.text), Cow::Borrowed(_)) {
            return Cow::Borrowed(self);
        }
        let captured: Vec<(char, Style)> =
            self.captured_runs().flat_map(|(run, style)| run.chars().map(|c| (c, style)).collect::<Vec<_>>()).collect();
        let mut row = RowBuilder::default();
        let chars: Vec<char> = captured.iter().map(|(c, _)| *c).collect();
        for ((c, style), is_unseen) in captured.iter().zip(unseen(&chars)) {
            match is_unseen {
                true => spelling(*c).chars().for_each(|c| row.push(c, *style)),
                false => row.push(*c, *style),
            }
        }
        Cow::Owned(row.finish())
    }

    /// The background that all of its text is drawn on, if that is not the terminal's own.
    pub fn background(&self) -> Option<Color> {
        let mut drawn = self.runs().filter(|(run, _)| !run.trim().is_empty()).map(|(_, style)| style.background);
        let first = drawn.next().filter(|color| *color != Color::Default)?;
        drawn.all(|color| color == first).then_some(first)
    }

    /// Columns that the text without its trailing blanks takes.
    pub fn width(&self) -> usize {
        self.text().chars().map(|c| c.width().unwrap_or(0)).sum()
    }
}

/// Builds rows from left to right, one after the other.
#[derive(Default)]
pub(crate) struct RowBuilder {
    text: String,
    runs: Vec<Run>,
    hidden: Vec<(u32, char)>,
}

impl RowBuilder {
    /// Appends a character; one that must not reach a terminal is kept aside.
    pub(crate) fn push(&mut self, c: char, style: Style) {
        if !is_plain(c) && !is_harmless(c) {
            if !c.is_control() {
                self.hidden.push((self.end(), c));
            }
            return;
        }
        if self.runs.last().is_none_or(|run| run.style != style) {
            let start = self.end();
            self.runs.push(Run { start, style });
        }
        self.text.push(c);
    }

    /// Appends printable ASCII.
    pub(super) fn push_plain(&mut self, text: &str, style: Style) {
        if self.runs.last().is_none_or(|run| run.style != style) {
            let start = self.end();
            self.runs.push(Run { start, style });
        }
        self.text.push_str(text);
    }

    /// Where the next character stands. A row longer than 4 GiB cannot be captured.
    fn end(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }

    /// Ends the row and cuts the blanks at its end that cannot be seen; the next row begins.
    pub(crate) fn finish(&mut self) -> Row {
        let Self { text, runs, .. } = self;
        while text.ends_with(' ') && runs.last().is_some_and(|run| !run.style.shows_on_blank()) {
            text.pop();
            while runs.last().is_some_and(|run| run.start as usize >= text.len()) {
                runs.pop();
            }
        }
        let end = self.end();
        match self.runs.is_empty() {
            true => self.hidden.clear(),
            false => self.hidden.iter_mut().for_each(|(at, _)| *at = end.min(*at)),
        }
        let trimmed = u32::try_from(self.text.trim_end_matches(' ').len()).unwrap_or(u32::MAX);
        let (text, runs, hidden) =
            (self.text.as_str().into(), self.runs.as_slice().into(), self.hidden.as_slice().into());
        self.text.clear();
        self.runs.clear();
        self.hidden.clear();
        Row { text, runs, hidden, trimmed }
    }
}

/// Whether a character is one of those that most text is made of: one cell wide, and harmless.
pub(super) fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}

/// Whether a character can be drawn without acting on the terminal: no controls, no marks that reorder text.
pub fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// A text from outside (a title, a name, a directory) without anything that could act on a terminal, and without what
/// nobody sees: two names that differ only in that would look alike. A joiner stays between two characters that are not
/// ASCII, as it shapes emoji and scripts there.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().filter(|&c| is_harmless(c)).peekable();
    while let Some(c) = chars.next() {
        if !is_joiner_apart(out.chars().next_back(), c, chars.peek().copied()) && !is_drawn_as_nothing(c) {
            out.push(c);
        }
    }
    out
}

/// A text from outside by which somebody decides, with all that could act on a terminal and all that nobody sees spelled
/// out: `<U+202E>`, `^[`, `\n`. What would be run or written may differ from what is read in nothing else.
pub fn spelled(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let chars: Vec<char> = text.chars().collect();
    let unseen = unseen(&chars);
    if !unseen.contains(&true) {
        return Cow::Borrowed(text);
    }
    let shown = chars.iter().zip(unseen);
    Cow::Owned(shown.map(|(c, is_unseen)| if is_unseen { spelling(*c) } else { c.to_string() }).collect())
}

/// Which characters of a row are not seen for what they are.
fn unseen(chars: &[char]) -> Vec<bool> {
    let at = |at: usize| chars.get(at).copied();
    let around = |place: usize| (place.checked_sub(1).and_then(at), at(place + 1));
    let mut unseen: Vec<bool> = chars
        .iter()
        .enumerate()
        .map(|(place, &c)| {
            let (before, next) = around(place);
            is_unseen(before, c, next) || is_false_blank(before, c, next)
        })
        .collect();
    let is_of_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut start = 0;
    for word in chars.split(|c| !is_of_word(c)) {
        if word.iter().any(char::is_ascii_alphabetic) {
            word.iter().zip(&mut unseen[start..]).for_each(|(c, is_unseen)| *is_unseen |= looks_latin(*c));
        }
        start += word.len() + 1;
    }
    unseen
}

/// Whether a character is of a script whose letters look like Latin ones: in a word with those, it passes for one.
fn looks_latin(c: char) -> bool {
    matches!(c,
        '\u{0370}'..='\u{058F}' | '\u{13A0}'..='\u{13FF}' | '\u{1C80}'..='\u{1C8F}' | '\u{1F00}'..='\u{1FFF}'
        | '\u{2C80}'..='\u{2CFF}' | '\u{2DE0}'..='\u{2DFF}' | '\u{A4D0}'..='\u{A4FF}' | '\u{A640}'..='\u{A69F}'
        | '\u{AB70}'..='\u{ABBF}' | '\u{FF21}'..='\u{FF5A}' | '\u{10400}'..='\u{1044F}' | '\u{1D400}'..='\u{1D7FF}')
}

/// Whether a blank that is no space stands where one separates words: shells and paths take it for a letter.
fn is_false_blank(before: Option<char>, c: char, next: Option<char>) -> bool {
    /// What a no-break space belongs before or behind in prose.
    const PROSE: [char; 4] = ['?', '!', '»', '«'];
    let is_blank = c.is_whitespace() && !c.is_ascii() && c != '\u{3000}';
    let is_text = |side: Option<char>| side.is_some_and(|c| c.is_alphanumeric() || c.is_ascii_graphic());
    let is_prose = [before, next].into_iter().flatten().any(|c| PROSE.contains(&c));
    is_blank && is_text(before) && is_text(next) && !is_prose
}

/// Whether a character between two others cannot be seen, or must not reach a terminal.
fn is_unseen(before: Option<char>, c: char, next: Option<char>) -> bool {
    /// Encloses a digit, which makes it an emoji.
    const KEYCAP: char = '\u{20E3}';
    // A variant of a character that is not ASCII looks different.
    let varies = matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}');
    let in_vain = varies && !before.is_some_and(is_shaped) && next != Some(KEYCAP);
    !is_harmless(c) || is_drawn_as_nothing(c) || is_joiner_apart(before, c, next) || in_vain
}

/// How a character that nobody sees is written.
fn spelling(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        // As a keyboard makes it, with the control key.
        '\0'..='\x1f' | '\x7f' => char::from_u32(u32::from(c) ^ 0x40).map_or_else(String::new, |key| format!("^{key}")),
        _ => format!("<U+{:04X}>", u32::from(c)),
    }
}

/// A text without what wrapping changes: blanks and the ends of lines.
pub fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Whether a character takes part in the text and is drawn as nothing.
pub(crate) fn is_drawn_as_nothing(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FFA0}')
}

/// Whether a character is a joiner that joins nothing.
fn is_joiner_apart(before: Option<char>, c: char, next: Option<char>) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}') && !(before.is_some_and(is_shaped) && next.is_some_and(is_shaped))
}

/// Whether a joiner beside a character can be seen.
fn is_shaped(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace() && !matches!(c, '\u{200C}' | '\u{200D}')
}
