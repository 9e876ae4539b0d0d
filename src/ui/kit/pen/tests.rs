use proptest::prelude::*;
use ratatui::buffer::CellWidth;

use super::*;

#[test]
fn a_pen_never_leaves_its_row() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 2));
    Pen::new(&mut buffer, Rect::new(1, 0, 3, 1), 0).text("abcdefgh", Style::default());
    Pen::new(&mut buffer, Rect::new(0, 1, 6, 1), 0).right("42", 5, Style::default()).text("漢", Style::default());
    Pen::new(&mut buffer, Rect::new(0, 5, 6, 1), 0).text("outside", Style::default());
    assert_eq!(buffer, Buffer::with_lines([" ab…  ", "   42…"]));
}

proptest! {
    #[test]
    fn pieces_have_the_width_that_ratatui_gives_them(text in any::<String>()) {
        for piece in pieces(&text) {
            prop_assert_eq!(piece.symbol.cell_width(), piece.width, "{:?}", piece);
            prop_assert!(!piece.symbol.contains(char::is_control));
        }
    }

    #[test]
    fn a_field_fills_its_cells_exactly(text in any::<String>(), cells in 0_usize..30) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 1));
        let mut pen = Pen::new(&mut buffer, Rect::new(0, 0, 30, 1), 0);
        pen.field(&text, cells, Style::default());
        prop_assert_eq!(usize::from(pen.column()), cells);
    }
}
