//! Lines of text that are longer than a pane: wrapped, and scrolled by whole lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::ui::popup::StyledLine;
use crate::ui::text::{self, Pen};
use crate::ui::viewport::Viewport;

/// Draws the lines from `line` that fit, as far as they are scrolled.
pub fn draw(view: &mut Viewport, buffer: &mut Buffer, area: Rect, count: usize, line: impl Fn(usize) -> StyledLine) {
    let (height, cells) = (usize::from(area.height), usize::from(area.width.saturating_sub(1)));
    let mut rows = 0;
    let mut most = count;
    while most > 0 && cells > 0 {
        rows += wrap(&line(most - 1), cells).len();
        if rows > height {
            break;
        }
        most -= 1;
    }
    // A last line that alone is higher than the pane is shown from its beginning.
    let first = view.fit_to(height, most.min(count.saturating_sub(1)));
    let mut row = 0;
    for index in first..count {
        for wrapped in wrap(&line(index), cells) {
            if row >= area.height {
                return;
            }
            let mut pen = Pen::new(buffer, area, row);
            pen.skip(1);
            for (text, style) in &wrapped {
                pen.raw(text, *style);
            }
            row += 1;
        }
    }
}

/// A line as rows of at most that many cells, broken behind a blank where there is one.
fn wrap(line: &StyledLine, cells: usize) -> Vec<StyledLine> {
    let all = line.iter().map(|(text, _)| text::width(text)).sum::<usize>();
    if all <= cells || cells < 2 {
        return vec![line.clone()];
    }
    let pieces: Vec<(&str, usize, Style)> = line
        .iter()
        .flat_map(|(text, style)| text::pieces(text).map(|piece| (piece.symbol, usize::from(piece.width), *style)))
        .collect();
    // What goes on in the next row stands below its beginning, unless that is far to the right.
    let indent = pieces.iter().take_while(|(symbol, ..)| *symbol == " ").count();
    let indent = if indent * 3 <= cells { indent } else { 0 };
    let mut rows: Vec<StyledLine> = Vec::new();
    let mut from = 0;
    while from < pieces.len() {
        let mut used = if rows.is_empty() { 0 } else { indent };
        let fitting = pieces[from..].iter().take_while(|(_, width, _)| {
            used += width;
            used <= cells
        });
        let mut to = from + fitting.count().max(1);
        if to < pieces.len() {
            // Far back there is no use in looking for a blank.
            let blank = pieces[from..to].iter().rposition(|(symbol, ..)| *symbol == " ");
            to = blank.filter(|blank| blank * 2 >= to - from).map_or(to, |blank| from + blank + 1);
        }
        let mut row: StyledLine = Vec::new();
        if !rows.is_empty() && indent > 0 {
            row.push((" ".repeat(indent), Style::default()));
        }
        for (symbol, _, style) in &pieces[from..to] {
            match row.last_mut() {
                Some((text, last)) if last == style => text.push_str(symbol),
                _ => row.push(((*symbol).to_owned(), *style)),
            }
        }
        rows.push(row);
        from = to;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> StyledLine {
        vec![(text.to_owned(), Style::default())]
    }

    fn wrapped(text: &str, cells: usize) -> Vec<String> {
        let joined = |row: StyledLine| row.into_iter().map(|(text, _)| text).collect::<String>();
        wrap(&line(text), cells).into_iter().map(joined).collect()
    }

    #[test]
    fn lines_break_at_blanks_and_else_anywhere() {
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("日本語日本語", 5), ["日本", "語日", "本語"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("  one two three", 8), ["  one ", "  two ", "  three"]);
    }

    fn shown(view: &mut Viewport, count: usize) -> String {
        let area = Rect::new(0, 0, 10, 3);
        let mut buffer = Buffer::empty(area);
        draw(view, &mut buffer, area, count, |index| line(&index.to_string()));
        (0..3).map(|row| buffer[(1, row)].symbol().to_owned()).collect()
    }

    #[test]
    fn the_end_stays_in_view_until_one_scrolls_away_from_it() {
        let mut reading = Viewport::at_end();
        assert_eq!(shown(&mut reading, 2), "01 ");
        assert_eq!(shown(&mut reading, 5), "234");
        assert_eq!(shown(&mut reading, 6), "345");
        reading.step(-1);
        assert_eq!(shown(&mut reading, 7), "234");
        reading.step(isize::MAX);
        assert_eq!(shown(&mut reading, 8), "567");
        reading.go_to(false);
        assert_eq!(shown(&mut reading, 9), "012");
        reading.center(7, 0);
        assert_eq!(shown(&mut reading, 9), "678");
        let mut start = Viewport::from_start();
        assert_eq!(shown(&mut start, 9), "012");
        start.turn(1);
        assert_eq!(shown(&mut start, 9), "234");
        start.turn(9);
        assert_eq!(shown(&mut start, 9), "678");
        start.step(-1);
        assert_eq!(shown(&mut start, 9), "567");
    }
}
