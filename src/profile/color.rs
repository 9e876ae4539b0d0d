//! Colour classes: what a rule requires of a colour, without naming the theme's number for it.

use crate::screen::{Color, indexed_rgb};

/// The broad classes that rules name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Default,
    Black,
    Grey,
    White,
    Red,
    Orange,
    Yellow,
    Green,
    Cyan,
    Blue,
    Magenta,
}

/// A rule's condition on a colour: `grey`, `red|magenta`, `not grey`, `default`, `set`, `246`, `#4e4e4e`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColorTest {
    negated: bool,
    alternatives: Vec<Alternative>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Alternative {
    /// Any colour but the default one.
    Set,
    Class(Class),
    Exact(Color),
}

impl ColorTest {
    /// Reads a test; the error says which word is not known.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (negated, rest) = text.strip_prefix("not ").map_or((false, text), |rest| (true, rest));
        let alternatives = rest.split('|').map(|word| alternative(word.trim())).collect::<Result<_, _>>()?;
        Ok(Self { negated, alternatives })
    }

    /// Whether a colour passes.
    pub(super) fn accepts(&self, color: Color) -> bool {
        let any = self.alternatives.iter().any(|alternative| match alternative {
            Alternative::Set => color != Color::Default,
            Alternative::Class(class) => class_of(color) == *class,
            Alternative::Exact(exact) => *exact == color,
        });
        any != self.negated
    }
}

fn alternative(word: &str) -> Result<Alternative, String> {
    let class = match word {
        "set" => return Ok(Alternative::Set),
        "default" => Class::Default,
        "black" => Class::Black,
        "grey" => Class::Grey,
        "white" => Class::White,
        "red" => Class::Red,
        "orange" => Class::Orange,
        "yellow" => Class::Yellow,
        "green" => Class::Green,
        "cyan" => Class::Cyan,
        "blue" => Class::Blue,
        "magenta" => Class::Magenta,
        _ => return exact(word),
    };
    Ok(Alternative::Class(class))
}

fn exact(word: &str) -> Result<Alternative, String> {
    if let Ok(index) = word.parse::<u8>() {
        return Ok(Alternative::Exact(Color::Indexed(index)));
    }
    let hex = word.strip_prefix('#').filter(|hex| hex.len() == 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    match hex.map(u32::to_be_bytes) {
        Some([_, r, g, b]) => Ok(Alternative::Exact(Color::Rgb(r, g, b))),
        None => Err(format!(
            "no colour is called `{word}`; use default, set, black, grey, white, red, orange, yellow, green, cyan, blue, magenta, a number from 0 to 255 or #rrggbb"
        )),
    }
}

fn class_of(color: Color) -> Class {
    let (r, g, b) = match color {
        Color::Default => return Class::Default,
        // The first sixteen have names, whatever the terminal's theme makes of them.
        Color::Indexed(index @ 0..16) => return NAMED[usize::from(index)],
        Color::Indexed(index) => indexed_rgb(index).into(),
        Color::Rgb(r, g, b) => (r, g, b),
    };
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    if high - low <= high / 8 || high < 24 {
        return match high {
            0..40 => Class::Black,
            40..225 => Class::Grey,
            225.. => Class::White,
        };
    }
    hue_class(r, g, b)
}

const NAMED: [Class; 16] = [
    Class::Black,
    Class::Red,
    Class::Green,
    Class::Yellow,
    Class::Blue,
    Class::Magenta,
    Class::Cyan,
    Class::Grey,
    Class::Grey,
    Class::Red,
    Class::Green,
    Class::Yellow,
    Class::Blue,
    Class::Magenta,
    Class::Cyan,
    Class::White,
];

fn hue_class(r: u8, g: u8, b: u8) -> Class {
    let (r, g, b) = (f32::from(r), f32::from(g), f32::from(b));
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    let spread = high - low;
    let hue = if high == r {
        60.0 * ((g - b) / spread).rem_euclid(6.0)
    } else if high == g {
        60.0 * ((b - r) / spread + 2.0)
    } else {
        60.0 * ((r - g) / spread + 4.0)
    };
    match hue {
        h if h < 14.0 => Class::Red,
        h if h < 38.0 => Class::Orange,
        h if h < 72.0 => Class::Yellow,
        h if h < 165.0 => Class::Green,
        h if h < 195.0 => Class::Cyan,
        h if h < 260.0 => Class::Blue,
        h if h < 338.0 => Class::Magenta,
        _ => Class::Red,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_across_colour_depths() {
        let accepts = |test: &str, color| ColorTest::parse(test).expect("tests here are well-formed").accepts(color);
        // The grey of Claude Code's footer with 256 and with true colours.
        assert!(accepts("grey", Color::Indexed(246)) && accepts("grey", Color::Rgb(153, 153, 153)));
        assert!(accepts("not grey", Color::Default) && accepts("grey", Color::Indexed(8)));
        // Red as Codex writes failures, pink as Claude Code 2.0 writes them.
        assert!(accepts("red", Color::Indexed(1)) && accepts("red|magenta", Color::Rgb(255, 107, 128)));
        assert!(accepts("orange", Color::Indexed(174)) || accepts("red", Color::Indexed(174)));
        assert!(accepts("green", Color::Indexed(114)) && accepts("yellow", Color::Indexed(220)));
        assert!(accepts("246", Color::Indexed(246)) && accepts("#010203", Color::Rgb(1, 2, 3)));
    }

    #[test]
    fn an_unknown_word_is_named() {
        assert!(ColorTest::parse("grey|mauve").expect_err("mauve is no class").contains("mauve"));
    }
}
