//! Themes: what each status and each part of the frame looks like, as data.

mod file;

use ratatui::style::{Color, Modifier, Style};

pub use file::ThemeError;

use crate::status::Status;
use crate::time::{Span, Timestamp};

/// How long one frame of a working row's spinner stands.
pub const SPINNER_STEP: Span = Span::from_millis(200);

/// The themes that are compiled in: name and text.
const SHIPPED: [(&str, &str); 4] = [
    ("dark", include_str!("../../config/themes/dark.toml")),
    ("light", include_str!("../../config/themes/light.toml")),
    ("high-contrast", include_str!("../../config/themes/high-contrast.toml")),
    ("no-colour", include_str!("../../config/themes/no-colour.toml")),
];

/// A checked theme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// In the order of [`Status::GROUPS`].
    looks: [Appearance; Status::GROUPS.len()],
    spinner: Vec<String>,
    spinner_ascii: Vec<String>,
    pub parts: Parts,
}

/// How one status is shown: always by all three of glyph, word and style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    pub glyph: String,
    pub ascii: String,
    pub style: Style,
}

/// The styles of the frame's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// What is read.
    pub text: Style,
    /// What is read on a second look: headings, labels, ages.
    pub quiet: Style,
    /// The program's name, and the name of what a pane shows.
    pub title: Style,
    /// Lines between panes.
    pub rule: Style,
    /// The row that the cursor is on.
    pub selected: Style,
    /// A key in the footer and in the help.
    pub key: Style,
    /// The cursor of the composer.
    pub cursor: Style,
}

/// What the operator's terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Styles only, as `NO_COLOR` asks.
    None,
    /// The sixteen colours of the terminal's palette.
    Sixteen,
    Indexed,
    #[default]
    True,
}

impl Theme {
    /// The names of the themes that are compiled in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// The text of a theme that is compiled in.
    pub fn shipped_text(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| *text)
    }

    /// A theme that is compiled in.
    pub fn shipped(name: &str) -> Option<Self> {
        // A test reads every shipped theme, so that this is never nothing for a name that exists.
        Self::parse(Self::shipped_text(name)?).ok()
    }

    /// Reads and checks a theme's file.
    ///
    /// # Errors
    /// What is wrong and at which byte of the text it is.
    pub fn parse(text: &str) -> Result<Self, ThemeError> {
        file::read(text)
    }

    /// The theme as a terminal of some depth can show it. Sixteen colours have none that could stand behind all the
    /// others, so that the selected row is turned around there, and of course where there are none at all.
    pub fn suited_to(mut self, depth: Depth) -> Self {
        let is_fine = |color| matches!(color, Color::Rgb(..) | Color::Indexed(16..));
        let selected = &mut self.parts.selected;
        let is_lost = |color| depth == Depth::None || (depth == Depth::Sixteen && is_fine(color));
        if selected.bg.is_some_and(is_lost) {
            *selected = Style { bg: None, ..*selected }.add_modifier(Modifier::REVERSED);
        }
        self
    }

    /// Whether a working row moves at all.
    pub fn spins(&self, ascii: bool) -> bool {
        let frames = if ascii { &self.spinner_ascii } else { &self.spinner };
        frames.len() > 1
    }

    /// How a status is shown.
    pub fn look(&self, status: Status) -> &Appearance {
        &self.looks[status.place()]
    }

    /// The style of a status.
    pub fn style(&self, status: Status) -> Style {
        self.look(status).style
    }

    /// The glyph of a status; for work it is the spinner's at that time, unless nothing may move.
    pub fn glyph(&self, status: Status, ascii: bool, now: Option<Timestamp>) -> &str {
        let look = self.look(status);
        let frames = if ascii { &self.spinner_ascii } else { &self.spinner };
        if let Some(now) = now.filter(|_| status == Status::Working && !frames.is_empty()) {
            let step = now.as_millis() / i64::try_from(SPINNER_STEP.as_millis()).unwrap_or(1);
            let index = usize::try_from(step).unwrap_or(0) % frames.len();
            return &frames[index];
        }
        if ascii { &look.ascii } else { &look.glyph }
    }
}

/// The nearest colour that a terminal of some depth has.
pub fn at_depth(color: Color, depth: Depth) -> Color {
    match (depth, color) {
        (Depth::None, _) => Color::Reset,
        (Depth::True, _) => color,
        (Depth::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(nearest_indexed([r, g, b])),
        (Depth::Indexed, _) => color,
        (Depth::Sixteen, Color::Rgb(r, g, b)) => nearest_of_sixteen([r, g, b]),
        (Depth::Sixteen, Color::Indexed(index)) if index >= 16 => nearest_of_sixteen(indexed_rgb(index)),
        (Depth::Sixteen, _) => color,
    }
}

/// The levels of the 6×6×6 cube that the 256 colours contain.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn nearest_indexed(rgb: [u8; 3]) -> u8 {
    (16..=255).min_by_key(|&index| distance(indexed_rgb(index), rgb)).unwrap_or(16)
}

/// The usual red, green and blue of one of the colours 16 to 255.
fn indexed_rgb(index: u8) -> [u8; 3] {
    if index >= 232 {
        return [8 + (index - 232) * 10; 3];
    }
    let n = usize::from(index.saturating_sub(16));
    [CUBE[n / 36 % 6], CUBE[n / 6 % 6], CUBE[n % 6]]
}

fn nearest_of_sixteen(rgb: [u8; 3]) -> Color {
    const SIXTEEN: [(Color, [u8; 3]); 16] = [
        (Color::Black, [0, 0, 0]),
        (Color::Red, [205, 0, 0]),
        (Color::Green, [0, 205, 0]),
        (Color::Yellow, [205, 205, 0]),
        (Color::Blue, [0, 0, 238]),
        (Color::Magenta, [205, 0, 205]),
        (Color::Cyan, [0, 205, 205]),
        (Color::Gray, [229, 229, 229]),
        (Color::DarkGray, [127, 127, 127]),
        (Color::LightRed, [255, 0, 0]),
        (Color::LightGreen, [0, 255, 0]),
        (Color::LightYellow, [255, 255, 0]),
        (Color::LightBlue, [92, 92, 255]),
        (Color::LightMagenta, [255, 0, 255]),
        (Color::LightCyan, [0, 255, 255]),
        (Color::White, [255, 255, 255]),
    ];
    SIXTEEN.iter().min_by_key(|(_, sixteenth)| distance(*sixteenth, rgb)).map_or(Color::Reset, |(color, _)| *color)
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(&x, y)| u32::from(x.abs_diff(y)).pow(2)).sum()
}

#[cfg(test)]
mod tests;
