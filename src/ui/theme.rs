//! Themes: what each status and each part of the frame looks like, as data.

use ratatui::style::{Color, Modifier, Style};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::text;
use crate::present::objection::TextFault;
use crate::screen::indexed_rgb;
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// How long one frame of a working row's spinner stands.
pub const SPINNER_STEP: Span = Span::from_millis(200);

/// The themes that are compiled in: name and text.
const SHIPPED: [(&str, &str); 5] = [
    ("dark", include_str!("../../config/themes/dark.toml")),
    ("light", include_str!("../../config/themes/light.toml")),
    ("high-contrast", include_str!("../../config/themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../config/themes/colour-blind.toml")),
    ("no-colour", include_str!("../../config/themes/no-colour.toml")),
];

/// A checked theme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    status: Appearances,
    spinner: Spinner,
    pub parts: Parts,
}

/// A style for each of [`Status::GROUPS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Appearances {
    needs_you: Appearance,
    failed: Appearance,
    stalled: Appearance,
    error: Appearance,
    interrupted: Appearance,
    finished: Appearance,
    working: Appearance,
    ready: Appearance,
    unknown: Appearance,
    gone: Appearance,
}

/// How one status is shown: always by all three of glyph, word and style.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Appearance {
    #[serde(deserialize_with = "one_cell")]
    pub glyph: String,
    #[serde(deserialize_with = "one_ascii")]
    pub ascii: String,
    #[serde(default, deserialize_with = "style")]
    pub style: Style,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spinner {
    frames: Vec<OneCell>,
    ascii: Vec<AsciiCell>,
}

/// A glyph that takes one cell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
struct OneCell(#[serde(deserialize_with = "one_cell")] String);

/// Glyphs in ASCII.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
struct AsciiCell(#[serde(deserialize_with = "one_ascii")] String);

/// The styles of the frame's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// What is read.
    #[serde(deserialize_with = "style")]
    pub text: Style,
    /// What is read on a second look: headings, labels, ages.
    #[serde(deserialize_with = "style")]
    pub quiet: Style,
    /// The program's name, and the name of what a pane shows.
    #[serde(deserialize_with = "style")]
    pub title: Style,
    /// Lines between panes.
    #[serde(deserialize_with = "style")]
    pub rule: Style,
    /// The row that the cursor is on.
    #[serde(deserialize_with = "style")]
    pub selected: Style,
    /// A key in the footer and in the help.
    #[serde(deserialize_with = "style")]
    pub key: Style,
    /// The cursor of the composer.
    #[serde(deserialize_with = "style")]
    pub cursor: Style,
    /// The colours that stand for those of a terminal where its screen is drawn; without them, the operator's own.
    #[serde(default, deserialize_with = "style")]
    pub screen: Style,
}

/// A glyph that takes one cell, so that columns stay where they are.
fn one_cell<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let glyph = String::deserialize(deserializer)?;
    match text::width(&glyph) {
        1 => Ok(glyph),
        cells => {
            Err(D::Error::custom(format!("the glyph {glyph:?} takes {cells} cells\na glyph takes exactly one cell")))
        }
    }
}

fn one_ascii<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let glyph = one_cell(deserializer)?;
    let wrong = || format!("the glyph {glyph:?} is not ASCII\nthis one is for terminals that show nothing else");
    if glyph.is_ascii() { Ok(glyph) } else { Err(D::Error::custom(wrong())) }
}

fn style<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Style, D::Error> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Entry {
        #[serde(deserialize_with = "color")]
        foreground: Option<Color>,
        #[serde(deserialize_with = "color")]
        background: Option<Color>,
        bold: bool,
        dim: bool,
        italic: bool,
        underline: bool,
        reversed: bool,
    }
    let entry = Entry::deserialize(deserializer)?;
    let modifiers = [
        (entry.bold, Modifier::BOLD),
        (entry.dim, Modifier::DIM),
        (entry.italic, Modifier::ITALIC),
        (entry.underline, Modifier::UNDERLINED),
        (entry.reversed, Modifier::REVERSED),
    ];
    let add_modifier = modifiers.iter().filter(|(on, _)| *on).map(|(_, modifier)| *modifier).collect();
    Ok(Style { fg: entry.foreground, bg: entry.background, add_modifier, ..Style::default() })
}

fn color<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let hint = "a colour is a name (`magenta`, `light blue`), a number (0 to 255) or `#rrggbb`";
    name.parse().map(Some).map_err(|_| D::Error::custom(format!("{name:?} is not a colour\n{hint}")))
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
    pub fn parse(text: &str) -> Result<Self, TextFault> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            // A message of two lines is what is wrong and what to write instead.
            let (what, hint) = error
                .message()
                .split_once('\n')
                .unwrap_or((error.message(), "`fleetwatch config theme dark` prints one to start from"));
            TextFault { what: what.to_owned(), at: error.span().unwrap_or(0..0), hint: hint.to_owned() }
        })
    }

    /// The theme as a terminal of some depth can show it. Sixteen colours have none that could stand behind all the
    /// others, so that the selected row is turned around there, and of course where there are none at all.
    pub fn suited_to(mut self, depth: Depth) -> Self {
        let is_fine = |color| matches!(color, Color::Rgb(..) | Color::Indexed(16..));
        if depth == Depth::None {
            self.parts.screen = Style::default();
        }
        let selected = &mut self.parts.selected;
        let is_lost = |color| depth == Depth::None || (depth == Depth::Sixteen && is_fine(color));
        if selected.bg.is_some_and(is_lost) {
            *selected = Style { bg: None, ..*selected }.add_modifier(Modifier::REVERSED);
        }
        self
    }

    /// How many signs a working row shows in turn.
    pub fn frames(&self, ascii: bool) -> usize {
        if ascii { self.spinner.ascii.len() } else { self.spinner.frames.len() }
    }

    /// How a status is shown.
    pub fn appearance(&self, status: Status) -> &Appearance {
        match status.group() {
            Status::Failed => &self.status.failed,
            Status::Stalled => &self.status.stalled,
            Status::Error => &self.status.error,
            Status::Interrupted => &self.status.interrupted,
            Status::Finished => &self.status.finished,
            Status::Working => &self.status.working,
            Status::Ready => &self.status.ready,
            Status::Unknown => &self.status.unknown,
            Status::Gone => &self.status.gone,
            _ => &self.status.needs_you,
        }
    }

    /// The style of a status.
    pub fn style(&self, status: Status) -> Style {
        self.appearance(status).style
    }

    /// The glyph of a status; for work it is the spinner's at that time, unless nothing may move.
    pub fn glyph(&self, status: Status, ascii: bool, now: Option<Timestamp>) -> &str {
        let appearance = self.appearance(status);
        // Nothing is known of how a task gets on, and what turns would say that it does.
        if status == Status::Running {
            return RUNS;
        }
        if let Some(now) = now.filter(|_| status == Status::Working && self.frames(ascii) > 0) {
            let step = now.as_millis() / i64::try_from(SPINNER_STEP.as_millis()).unwrap_or(1);
            let index = usize::try_from(step).unwrap_or(0) % self.frames(ascii);
            return if ascii { &self.spinner.ascii[index].0 } else { &self.spinner.frames[index].0 };
        }
        if ascii { &appearance.ascii } else { &appearance.glyph }
    }
}

/// The least contrast between a screen's text and the ground that a theme gives it.
const LEGIBLE: f64 = 3.0;

/// The colours of a program on the ground that a theme gives to screens: the ground's own where the program asks for
/// the terminal's, and lighter or darker ones where its own could not be read there. Without such a ground, as they are.
pub fn on_ground(own: Style, ground: Style) -> Style {
    let (Some(text), Some(behind)) = (ground.fg, ground.bg) else { return own };
    let asked = |color: Option<Color>, otherwise| color.filter(|color| *color != Color::Reset).unwrap_or(otherwise);
    let (text, behind) = (asked(own.fg, text), asked(own.bg, behind));
    let text = match (rgb_of(text), rgb_of(behind)) {
        (Some(text_rgb), Some(behind)) => legible(text_rgb, behind).map_or(text, |[r, g, b]| Color::Rgb(r, g, b)),
        _ => text,
    };
    Style { fg: Some(text), bg: Some(behind), ..own }
}

/// A colour that is read on another, mixed from the first and from white or black; `None` where the first one is.
fn legible(text: [u8; 3], behind: [u8; 3]) -> Option<[u8; 3]> {
    if contrast(text, behind) >= LEGIBLE {
        return None;
    }
    let end = if contrast([255; 3], behind) >= contrast([0; 3], behind) { 255 } else { 0 };
    let mixed = |parts: u32| text.map(|it| u8::try_from((u32::from(it) * (8 - parts) + end * parts) / 8).unwrap_or(it));
    (1..=8).map(mixed).find(|it| contrast(*it, behind) >= LEGIBLE)
}

/// How well one colour is read on another, from 1 to 21, as WCAG 2 defines it.
fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let light = |[r, g, b]: [u8; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (light(a) + 0.05, light(b) + 0.05);
    a.max(b) / a.min(b)
}

/// The light that a part of an sRGB colour stands for, from 0 to 1.
fn linear(part: u8) -> f64 {
    let part = f64::from(part) / 255.0;
    if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}

/// The usual red, green and blue of a colour; `None` for the terminal's own.
fn rgb_of(color: Color) -> Option<[u8; 3]> {
    match color {
        Color::Reset => None,
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(index @ 16..) => Some(indexed_rgb(index)),
        Color::Indexed(index) => SIXTEEN.get(usize::from(index)).map(|(_, rgb)| *rgb),
        named => SIXTEEN.iter().find(|(color, _)| *color == named).map(|(_, rgb)| *rgb),
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

fn nearest_indexed(rgb: [u8; 3]) -> u8 {
    (16..=255).min_by_key(|&index| distance(indexed_rgb(index), rgb)).unwrap_or(16)
}

/// The sixteen colours of a palette in their order, as most terminals show them.
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

fn nearest_of_sixteen(rgb: [u8; 3]) -> Color {
    SIXTEEN.iter().min_by_key(|(_, sixteenth)| distance(*sixteenth, rgb)).map_or(Color::Reset, |(color, _)| *color)
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(&x, y)| u32::from(x.abs_diff(y)).pow(2)).sum()
}

// The signs that rows have beside the glyphs of their states.

/// What stands behind a result whose turn fleetwatch itself began.
pub const SENT_MARK: &str = "›";
/// What stands behind a result that was inferred from the screen.
pub const INFERRED_MARK: &str = "~";
/// Stands for the time of rest of a screen that still moves.
pub const MOVES: &str = "~";
/// What stands behind a result that the operator has not seen yet.
pub const UNSEEN_MARK: &str = "●";

/// Stands for a running task, whose progress nobody knows.
pub const RUNS: &str = "▶";
/// What stands before the glyph of a terminal that is marked or muted.
pub const MARKED: &str = "■";
/// What stands behind the name of a terminal that is pinned.
pub const PINNED: &str = "↑";
/// See [`MARKED`].
pub const MUTED: &str = "z";
/// What stands before what a terminal does that a prompt was begun for.
pub const DRAFTED: &str = "✎";

#[cfg(test)]
mod tests;
