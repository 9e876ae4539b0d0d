//! The last step of a frame: what the operator's terminal cannot show is replaced by what it can.

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::theme::{Depth, at_depth};
use crate::screen::is_harmless;

/// Brings a frame down to a depth of colours, to ASCII if asked for, and makes sure that no cell can act on the
/// terminal, wherever its text came from.
pub fn fit(buffer: &mut Buffer, depth: Depth, ascii: bool) {
    let mut shades = [(Color::Reset, at_depth(Color::Reset, depth)); 2];
    let mut shade = |nth: usize, color: Color| {
        let last = &mut shades[nth];
        if last.0 != color {
            *last = (color, at_depth(color, depth));
        }
        last.1
    };
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.len() > 1 && (ascii || !symbol.chars().all(is_harmless)) {
            let plain = if ascii { plain(symbol) } else { " " };
            cell.set_symbol(plain);
        } else if symbol.len() == 1 && symbol.chars().any(char::is_control) {
            cell.set_symbol(" ");
        }
        if depth != Depth::True && (cell.fg != Color::Reset || cell.bg != Color::Reset) {
            // Neighbours mostly have the same colours, and the nearest one is looked for among hundreds.
            cell.fg = shade(0, cell.fg);
            cell.bg = shade(1, cell.bg);
        }
    }
}

/// What stands for a symbol on a terminal that shows ASCII only.
fn plain(symbol: &str) -> &'static str {
    match symbol.chars().next().unwrap_or(' ') {
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
        '⊘' => "-",
        '\u{2800}'..='\u{28FF}' | '✻' | '✽' | '✶' | '✳' | '✢' | '★' => "*",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '\u{A0}' => " ",
        _ => "?",
    }
}
