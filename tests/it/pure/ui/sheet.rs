//! A view in all themes on one sheet of text: its cells, their styles as letters below them, and what each letter is.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use super::{Depth, Theme, UiOptions};

/// The ways in which every view is drawn: a name, the theme, and what the terminal can show.
const LOOKS: [(&str, &str, Depth); 6] = [
    ("dark", "dark", Depth::True),
    ("light", "light", Depth::True),
    ("high-contrast", "high-contrast", Depth::True),
    ("no-colour", "no-colour", Depth::None),
    ("dark, 16 colours", "dark", Depth::Sixteen),
    ("light, 256 colours", "light", Depth::Indexed),
];

/// Draws a view in every look. Rows of cells (`│`) are followed by their styles (`┊`) where anything has one: cells with
/// the same letter have the same style in each look, and the legend says which. Rows that ASCII changes come after.
///
/// Fails when a look differs from the others by more than its styles.
pub fn sheet(base: &UiOptions, mut draw: impl FnMut(UiOptions) -> Buffer) -> String {
    let options = |theme: &str, depth| {
        let theme = Theme::shipped(theme).expect("a shipped theme");
        UiOptions { theme, depth, ..base.clone() }
    };
    let frames: Vec<Buffer> = LOOKS.iter().map(|(_, theme, depth)| draw(options(theme, *depth))).collect();
    let ascii = draw(UiOptions { ascii: true, ..options("dark", Depth::True) });
    let mut legend = Legend::default();
    let mut lines = Vec::new();
    for y in 0..frames[0].area.height {
        let cells = row(&frames[0], y);
        for (frame, (look, ..)) in frames.iter().zip(LOOKS) {
            assert_eq!(row(frame, y), cells, "row {y} in {look}");
        }
        lines.push(format!("│{}", cells.trim_end()));
        let styles: String =
            columns(&frames[0], y).map(|(x, wide)| legend.letter(&frames, x, y).repeat(wide)).collect();
        if !styles.trim_end().is_empty() {
            lines.push(format!("┊{}", styles.trim_end()));
        }
    }
    lines.extend(legend.lines());
    lines.push("ASCII".to_owned());
    for y in 0..ascii.area.height {
        let cells = row(&ascii, y);
        assert!(cells.is_ascii(), "{cells}");
        for (x, _) in columns(&frames[0], y).filter(|(x, _)| ascii[(*x, y)].symbol() != " ") {
            let looks = [&ascii, &frames[0]].map(|frame| CellStyle::of(&frame[(x, y)]));
            assert_eq!(looks[0], looks[1], "the style of row {y}, column {x} in ASCII");
        }
        if cells != row(&frames[0], y) {
            lines.push(format!("{y:>2}│{}", cells.trim_end()));
        }
    }
    lines.join("\n")
}

/// The columns of a row that something is drawn in, each with the cells that it takes.
fn columns(frame: &Buffer, y: u16) -> impl Iterator<Item = (u16, usize)> + '_ {
    let mut next = 0;
    (0..frame.area.width).filter_map(move |x| {
        let wide = frame[(x, y)].symbol().width().max(1);
        let is_drawn = x >= next;
        next = if is_drawn { x + u16::try_from(wide).unwrap_or(1) } else { next };
        is_drawn.then_some((x, wide))
    })
}

fn row(frame: &Buffer, y: u16) -> String {
    columns(frame, y).map(|(x, _)| frame[(x, y)].symbol()).collect()
}

/// What is seen of a cell's style: a blank shows nothing of its foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellStyle {
    foreground: Color,
    background: Color,
    modifier: Modifier,
}

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        let (foreground, background, modifier) = (cell.fg, cell.bg, cell.modifier);
        let drawn = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
        if cell.symbol() == " " && !modifier.intersects(drawn) {
            return Self { foreground: Color::Reset, background, modifier: Modifier::empty() };
        }
        Self { foreground, background, modifier }
    }

    fn words(self) -> String {
        let color = |color: Color| color.to_string().to_lowercase();
        let mut words = vec![color(self.foreground)];
        if self.background != Color::Reset {
            words.push(format!("on {}", color(self.background)));
        }
        words.extend(self.modifier.iter_names().map(|(name, _)| name.to_lowercase()));
        let words = words.join(" ");
        if words == "reset" { "-".to_owned() } else { words.replace("reset ", "") }
    }
}

/// Which letter stands for which style in each look, in the order in which they are met.
#[derive(Default)]
struct Legend {
    styles: Vec<Vec<CellStyle>>,
}

impl Legend {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    fn letter(&mut self, frames: &[Buffer], x: u16, y: u16) -> &'static str {
        let looks: Vec<CellStyle> = frames.iter().map(|frame| CellStyle::of(&frame[(x, y)])).collect();
        if looks.iter().all(|look| look.words() == "-") {
            return " ";
        }
        let known = self.styles.iter().position(|style| *style == looks);
        let at = known.unwrap_or(self.styles.len());
        if known.is_none() {
            self.styles.push(looks);
        }
        Self::LETTERS.get(at..=at).expect("a letter for every style")
    }

    fn lines(self) -> Vec<String> {
        let words = |looks: Vec<CellStyle>| looks.into_iter().map(CellStyle::words).collect::<Vec<_>>();
        let styles: Vec<Vec<String>> = self.styles.into_iter().map(words).collect();
        let cells = |column: usize| {
            let words = styles.iter().map(|words| words[column].len());
            words.chain([LOOKS[column].0.len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..LOOKS.len()).map(cells).collect();
        let line = |letter: &str, words: Vec<&str>| {
            let columns: Vec<String> =
                words.iter().zip(&widths).map(|(word, cells)| format!("{word:<cells$}")).collect();
            format!("{letter} {}", columns.join("  ")).trim_end().to_owned()
        };
        let heading = line(" ", LOOKS.iter().map(|(name, ..)| *name).collect());
        let letters = Self::LETTERS.char_indices().map(|(at, _)| &Self::LETTERS[at..=at]);
        let styles =
            letters.zip(&styles).map(|(letter, words)| line(letter, words.iter().map(String::as_str).collect()));
        std::iter::once(heading).chain(styles).collect()
    }
}
