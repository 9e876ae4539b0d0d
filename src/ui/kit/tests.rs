//! Every widget of the kit with what would harm a terminal, at every size and place.

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;
use ratatui::buffer::{Cell, CellWidth};
use ratatui::layout::Position;
use ratatui::prelude::{Buffer, Rect, Style};
use ratatui::widgets::{StatefulWidget, Widget};

use super::frame::{self, Look};
use super::input::LineInput;
use super::line::{self, field, right, span};
use super::list::List;
use super::question::{Answers, Question, QuestionText};
use super::reading::{HiddenRows, Paragraph, ReadProgress, Wrapped};
use super::scroll::Viewport;
use super::search::SearchableText;
use crate::screen::is_harmless;
use crate::time::Timestamp;
use crate::ui::action::Action;
use crate::ui::keymap::{Context, Keymap};
use crate::ui::theme::Theme;

/// What no widget may have written.
const UNTOUCHED: &str = "▒";
/// Controls, sequences that move, colour and name, marks that reorder or hide, and characters of doubtful width.
const HOSTILE: &[&str] = &[
    "\u{1b}[31;5m",
    "\u{1b}]0;title\u{7}",
    "\u{9b}2J",
    "\u{90}q\u{9c}",
    "\r",
    "\n",
    "\t",
    "\0",
    "\u{8}",
    "\u{7f}",
    "\u{85}",
    "\u{202e}txt",
    "\u{2066}",
    "\u{2069}",
    "\u{61c}",
    "\u{200b}",
    "\u{200d}",
    "\u{200e}",
    "\u{feff}",
    "\u{ad}",
    "\u{2028}",
    "\u{e0041}",
    "\u{fe0f}",
    "漢字",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "👩\u{200d}👩\u{200d}👧",
    "👍🏽",
    "🇩🇪",
    "क्ष",
    "لا",
    "ﾞ",
    "ᄀ",
    "…",
    "a",
    " ",
    "  ",
    "-- ",
];

fn hostile() -> impl Strategy<Value = String> {
    let long = Just("long words ".repeat(40));
    let part = prop_oneof![proptest::sample::select(HOSTILE).prop_map(str::to_owned), any::<String>(), long];
    vec(part, 0..9).prop_map(|parts| parts.concat())
}

/// A widget, drawn with a text wherever it takes one.
type Drawn = fn(&Look<'_>, &mut Buffer, Rect, &str);

const WIDGETS: &[(&str, Drawn)] = &[
    ("line", |look, buffer, area, text| {
        let style = look.theme.parts.title;
        line::draw(buffer, area, vec![span(text, style), right(text, 9, style), field(text, 5, style)]);
        line::draw(buffer, line::row(area, 1), text);
        line::draw_over(buffer, line::row(area, 2), vec![field(text, 3, style), span(text, style)]);
    }),
    ("popup", |look, buffer, area, text| {
        let lines: Vec<_> = text.split(' ').map(|word| span(word, Style::default()).into()).collect();
        frame::popup(look, buffer, area, (text, &lines), frame::ONE_COLUMN, &mut Viewport::at_end());
        frame::popup(look, buffer, area, (text, &lines), (3, 2), &mut Viewport::default());
    }),
    ("title", |look, buffer, area, text| {
        frame::titled(look, buffer, area, vec![span(text, look.theme.parts.title), span(text, look.theme.parts.quiet)]);
    }),
    ("hints", |look, buffer, area, _| {
        let hints = [(Action::Down, "down"), (Action::Close, "close"), (Action::Help, "help")];
        for (button, _) in frame::hints(look, buffer, line::row(area, 0), Context::Menu, &hints) {
            assert!(is_within(button, area));
        }
    }),
    ("list", |look, buffer, area, text| {
        let entry = |nth, room: usize| {
            vec![
                span(text, Style::default()),
                right(text, room / 2, Style::default()),
                field("", nth, Style::default()),
            ]
        };
        List { parts: &look.theme.parts, count: 9, at: 7, entry }.render(area, buffer, &mut Viewport::default());
    }),
    ("input", |look, buffer, area, text| {
        for line in [LineInput::new(text), LineInput::selected(text)] {
            line::draw(buffer, area, line.spans(look, usize::from(area.width)));
        }
    }),
    ("text", |_, buffer, area, text| {
        let line = |_| vec![span("   ", Style::default()), span(text, Style::default())].into();
        Wrapped { count: 5, line }.render(area, buffer, &mut Viewport::at_end());
    }),
    ("search", |look, buffer, area, text| {
        let mut reader = SearchableText::of_newest();
        reader.set_texts([text, text].into_iter());
        reader.obey(Action::Filter);
        reader.type_in(|line| line.paste(&text.chars().skip(1).take(2).collect::<String>()));
        let area = reader.draw_typing(look, buffer, area);
        line::draw(buffer, area, reader.marked(look, 0, span(text, Style::default()).into()));
    }),
    ("question", |look, buffer, area, text| {
        let parts = &look.theme.parts;
        let option =
            |nth| Paragraph::plain(text, Style::default()).among_options(parts, nth == 1, vec![span(text, parts.key)]);
        let asked = QuestionText {
            text: vec![Paragraph::plain(text, parts.text)],
            options: (0..3).map(option).collect(),
            picked: vec![2],
        };
        let mut question = Question::with(Some(1));
        question.say(text.to_owned());
        for _ in 0..2 {
            let drawn = Answers::yes_or("yes", &[(Action::Close, "no")]).draw(
                look,
                buffer,
                area,
                &mut question,
                (text, &asked),
            );
            assert!(drawn.buttons.iter().all(|(button, _)| is_within(*button, area)));
            question.step(1, &asked, 0);
        }
        HiddenRows { look, of: &ReadProgress::default() }.render(area, buffer);
    }),
];

fn is_within(place: Rect, area: Rect) -> bool {
    place.is_empty() || place.intersection(area) == place
}

fn side() -> impl Strategy<Value = u16> {
    prop_oneof![0_u16..3, 0_u16..60]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_widget_acts_on_the_terminal_or_leaves_its_area(
        text in hostile(), x in 0_u16..42, y in 0_u16..14, width in side(), height in side(),
    ) {
        let (theme, keymap) = (Theme::shipped("dark").unwrap_or_default(), Keymap::shipped());
        let (zone, now) = (TimeZone::UTC, Timestamp::default());
        let hint = str::to_owned;
        let look = Look { theme: &theme, keymap: &keymap, hint, zone: &zone, now, ascii: false, motion: true, covered: false };
        let (frame, area) = (Rect::new(0, 0, 40, 12), Rect::new(x, y, width, height));
        let inside = frame.intersection(area);
        for (name, draw) in WIDGETS {
            let mut buffer = Buffer::filled(frame, Cell::new(UNTOUCHED));
            draw(&look, &mut buffer, area, &text);
            for at in frame.positions() {
                let cell = &buffer[at];
                prop_assert!(inside.contains(at) || *cell == Cell::new(UNTOUCHED), "{} wrote {:?} at {}", name, cell, at);
                prop_assert!(cell.symbol().chars().all(is_harmless), "{} wrote {:?} at {}", name, cell, at);
                let last = Position { x: at.x + cell.cell_width().max(1) - 1, ..at };
                prop_assert!(cell.cell_width() == 1 || inside.contains(last), "{} wrote {:?} at {}", name, cell, at);
            }
        }
    }
}
