//! Draws a captured screen as SVG, or an asciicast as one that moves, for the screenshots (see scripts/screenshots).
//!
//!     tmux capture-pane -e -p | cargo run --example svg -- COLUMNS ROWS [dark|light] > screen.svg
//!     cargo run --example svg -- moving < tour.cast > tour.svg

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read;
use std::num::NonZero;

use fleetwatch::screen::{Color, Row, Screen, Style};
use unicode_width::UnicodeWidthStr;

/// Pixels of one cell, and of the margin around all of them.
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 12.0;

/// The colours that a terminal gives to the programs in it.
struct Palette {
    foreground: &'static str,
    background: &'static str,
    sixteen: [&'static str; 16],
}

const DARK: Palette = Palette {
    foreground: "#d4d7dd",
    background: "#16181d",
    sixteen: [
        "#2a2d34", "#e5534b", "#57ab5a", "#d9a441", "#539bf5", "#c56ad6", "#39b5bd", "#c8ccd4", "#6b717d", "#ff6b62",
        "#6bc46d", "#f0bd58", "#6cb6ff", "#dd86ee", "#56d4dd", "#ffffff",
    ],
};

const LIGHT: Palette = Palette {
    foreground: "#24292f",
    background: "#ffffff",
    sixteen: [
        "#24292f", "#cf222e", "#116329", "#8a5a00", "#0969da", "#8250df", "#1b7c83", "#6e7781", "#57606a", "#a40e26",
        "#1a7f37", "#9a6700", "#218bff", "#a475f9", "#3192aa", "#8c959f",
    ],
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["moving"] {
        print!("{}", draw_moving(&std::io::read_to_string(std::io::stdin())?)?);
        return Ok(());
    }
    let (columns, rows, palette) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [columns, rows] | [columns, rows, "dark"] => (columns.parse()?, rows.parse()?, &DARK),
        [columns, rows, "light"] => (columns.parse()?, rows.parse()?, &LIGHT),
        _ => return Err("usage: svg COLUMNS ROWS [dark|light] < capture, or svg moving < cast".into()),
    };
    let mut capture = Vec::new();
    std::io::stdin().read_to_end(&mut capture)?;
    print!("{}", draw(&Screen::from_capture(&capture, columns, rows), rows, palette)?);
    Ok(())
}

fn draw(screen: &Screen, rows: u16, palette: &Palette) -> Result<String, std::fmt::Error> {
    let mut svg = head(screen.columns(), rows, palette)?;
    for (index, row) in screen.rows().iter().enumerate() {
        draw_row(&mut svg, index, row, palette)?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn head(columns: u16, rows: u16, palette: &Palette) -> Result<String, std::fmt::Error> {
    let width = f64::from(columns) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(rows) * CELL.1 + 2.0 * MARGIN;
    let mut svg = String::new();
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" \
         font-size=\"14\" xml:space=\"preserve\">"
    )?;
    writeln!(svg, "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>", palette.background)?;
    Ok(svg)
}

fn draw_row(svg: &mut String, index: usize, row: &Row, palette: &Palette) -> std::fmt::Result {
    let mut column = 0;
    for (text, style) in row.runs() {
        let cells = text.width();
        draw_run(svg, (column, index, cells), text, style, palette)?;
        column += cells;
    }
    Ok(())
}

/// Nobody sees what is shown for less, and nobody waits for longer.
const SHORTEST: f64 = 0.2;
const LONGEST: f64 = 2.5;

/// A film strip: each row is drawn once, and a screen is a list of rows, shown while it lasts.
fn draw_moving(cast: &str) -> Result<String, Box<dyn Error>> {
    let (columns, rows, screens) = play(cast)?;
    let mut svg = head(columns, rows, &DARK)?;
    let mut known: HashMap<String, usize> = HashMap::new();
    let (mut drawn, mut shown) = (String::new(), String::new());
    for (number, (screen, _)) in screens.iter().enumerate() {
        write!(shown, "<g class=\"s\" id=\"s{number}\">")?;
        for (index, row) in screen.rows().iter().enumerate() {
            let mut text = String::new();
            draw_row(&mut text, 0, row, &DARK)?;
            if text.is_empty() {
                continue;
            }
            let next = known.len();
            let id = *known.entry(text.clone()).or_insert(next);
            if id == next {
                write!(drawn, "<g id=\"r{id}\">{text}</g>")?;
            }
            write!(shown, "<use href=\"#r{id}\" y=\"{:.0}\"/>", index as f64 * CELL.1)?;
        }
        shown.push_str("</g>\n");
    }
    let whole: f64 = screens.iter().map(|(_, lasts)| lasts).sum();
    // What does not move, as in a printout or for whoever wants no motion, is the first screen with everything on it.
    svg.push_str("<style>.s{visibility:hidden}#s0{visibility:visible}@media (prefers-reduced-motion:no-preference){\n");
    let mut at = 0.0;
    for (number, (_, lasts)) in screens.iter().enumerate() {
        let (from, to) = (at / whole * 100.0, (at + lasts) / whole * 100.0);
        let before = if number == 0 { String::new() } else { "0%{visibility:hidden}".to_owned() };
        writeln!(
            svg,
            "@keyframes k{number}{{{before}{from:.3}%{{visibility:visible}}{to:.3}%,100%{{visibility:hidden}}}}\
             #s{number}{{animation:k{number} {whole:.2}s step-end infinite}}"
        )?;
        at += lasts;
    }
    write!(svg, "}}</style>\n<defs>\n{drawn}</defs>\n{shown}</svg>\n")?;
    Ok(svg)
}

/// A screen, and for how many seconds it is shown.
type Shown = (Screen, f64);

/// The columns and rows of a cast, and its screens from the first with a table on it.
fn play(cast: &str) -> Result<(u16, u16, Vec<Shown>), Box<dyn Error>> {
    let mut lines = cast.lines();
    let head: serde_json::Value = serde_json::from_str(lines.next().ok_or("the cast is empty")?)?;
    let size = |name: &str| {
        let cells = head[name].as_u64().and_then(|it| NonZero::new(u16::try_from(it).ok()?));
        cells.ok_or("the cast has no size")
    };
    let (columns, rows) = (size("width")?, size("height")?);
    let mut terminal = vt100::Parser::new(rows, columns, 0);
    let mut screens: Vec<Shown> = Vec::new();
    let mut changed_at = 0.0;
    for line in lines {
        let (at, _, text): (f64, String, String) = serde_json::from_str(line)?;
        // What was drawn until now has been shown since then.
        let lasted = at - changed_at;
        if lasted >= SHORTEST {
            let screen = Screen::from_vt100(terminal.screen());
            let lasts = lasted.min(LONGEST);
            match screens.last_mut() {
                Some((last, before)) if *last == screen => *before = (*before + lasts).min(LONGEST),
                None if !screen.rows().iter().any(|row| row.text().contains("approval")) => {}
                _ => screens.push((screen, lasts)),
            }
            changed_at = at;
        }
        terminal.process(text.as_bytes());
    }
    Ok((columns.get(), rows.get(), screens))
}

/// One stretch of text at a column and a row, so many cells wide.
fn draw_run(
    svg: &mut String,
    (column, row, cells): (usize, usize, usize),
    text: &str,
    style: Style,
    palette: &Palette,
) -> std::fmt::Result {
    let mut foreground = rgb(style.foreground, palette).unwrap_or_else(|| palette.foreground.to_owned());
    let mut background = rgb(style.background, palette);
    if style.inverse {
        let below = background.unwrap_or_else(|| palette.background.to_owned());
        background = Some(std::mem::replace(&mut foreground, below));
    }
    let (x, y) = (MARGIN + column as f64 * CELL.0, MARGIN + row as f64 * CELL.1);
    let width = cells as f64 * CELL.0;
    if let Some(background) = background {
        // Without a seam between two of them.
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{background}\" \
             shape-rendering=\"crispEdges\"/>",
            CELL.1
        )?;
    }
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut look = format!("fill=\"{foreground}\"");
    for (holds, attribute) in [
        (style.bold, " font-weight=\"bold\""),
        (style.italic, " font-style=\"italic\""),
        (style.dim, " opacity=\"0.6\""),
        (style.underline, " text-decoration=\"underline\""),
    ] {
        if holds {
            look.push_str(attribute);
        }
    }
    // The length keeps the columns straight whatever font the reader's machine takes.
    writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" {look}>{}</text>",
        y + CELL.1 * 0.76,
        escaped(text)
    )
}

fn rgb(color: Color, palette: &Palette) -> Option<String> {
    let hex = |r: u8, g: u8, b: u8| format!("#{r:02x}{g:02x}{b:02x}");
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    Some(match color {
        Color::Default => return None,
        Color::Indexed(index @ 0..16) => palette.sixteen[usize::from(index)].to_owned(),
        Color::Indexed(index @ 16..232) => {
            let cube = index - 16;
            hex(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        Color::Indexed(index) => {
            let grey = 8 + 10 * (index - 232);
            hex(grey, grey, grey)
        }
        Color::Rgb(r, g, b) => hex(r, g, b),
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}
