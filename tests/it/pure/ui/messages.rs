//! Messages that come and go: they hide nothing that has the keyboard.

use super::*;
use ratatui::layout::Position;

const LONG: &str = "keymap.toml:12:3: the key \"g\" stands twice in the list `fleet`: it runs `jump` and `first`, and only \
                    one of them can be meant (take one of them out)";

/// The frame before four messages come, and with them.
fn before_and_after(ui: &mut Ui, fleet: &SampleFleet, width: u16, height: u16) -> (Buffer, Buffer) {
    let before = frame(ui, fleet, width, height);
    for text in ["task build (@12) started", "docs took the prompt", "copied: the name", LONG] {
        ui.notify(Status::Failed, text.to_owned(), fleet.now);
    }
    let after = frame(ui, fleet, width, height);
    assert_ne!(before, after, "at least one message is shown at {width}x{height}");
    (before, after)
}

/// Fails where anything in an area differs.
fn assert_kept(before: &Buffer, after: &Buffer, area: Rect) {
    assert!(!area.is_empty());
    for at in area.positions() {
        assert_eq!(before[at].symbol(), after[at].symbol(), "{at:?} of {area:?}\n{}", lines(after).join("\n"));
    }
}

/// The box on the frame.
fn place_of_box(buffer: &Buffer) -> Rect {
    let find = |corner: &str| {
        buffer
            .area
            .positions()
            .find(|at| buffer[*at].symbol() == corner)
            .unwrap_or_else(|| panic!("no box:\n{}", lines(buffer).join("\n")))
    };
    let (first, right, bottom) = (find("┌"), find("┐"), find("└"));
    Rect::new(first.x, first.y, right.x + 1 - first.x, bottom.y + 1 - first.y)
}

const SIZES: [(u16, u16); 4] = [(80, 24), (120, 30), (160, 45), (60, 14)];

#[test]
fn messages_hide_nothing_of_a_popup() {
    let mut fleet = SampleFleet::usual();
    fleet.tasks = tasks();
    for (width, height) in SIZES {
        for keys in ["?", ":", "y", "s", ":columns\n", "jx", "jjjjjjjx", "jjjjjji\u{14}", " j BaG\n"] {
            let mut ui = dashboard();
            frame(&mut ui, &fleet, width, height);
            for key in keys.chars() {
                let event = match key {
                    '\n' => KeyEvent::from(KeyCode::Enter),
                    '\u{14}' => KeyEvent::new(KeyCode::Char('t'), KeyModifiers::CONTROL),
                    c if c.is_uppercase() => KeyEvent::new(KeyCode::Char(c), KeyModifiers::SHIFT),
                    c => KeyEvent::from(KeyCode::Char(c)),
                };
                ui.handle(&Event::Key(event), &fleet.view());
                frame(&mut ui, &fleet, width, height);
            }
            let shown = frame(&mut ui, &fleet, width, height);
            if shown.content.iter().all(|cell| cell.symbol() != "┌") {
                continue;
            }
            let (before, after) = before_and_after(&mut ui, &fleet, width, height);
            assert_kept(&before, &after, place_of_box(&before));
        }
    }
}

#[test]
fn messages_hide_nothing_of_the_prompt_that_is_written() {
    let fleet = SampleFleet::usual();
    for (width, height) in SIZES {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &chars("jjjjjjione"));
        let (before, after) = before_and_after(&mut ui, &fleet, width, height);
        let title = lines(&before).iter().position(|line| line.contains("─ prompt to")).expect("a prompt");
        let top = u16::try_from(title).expect("a row");
        let width = if width < 110 { width } else { width * 9 / 20 };
        assert_kept(&before, &after, Rect::new(0, top, width, height - 1 - top));
    }
}

#[test]
fn messages_hide_nothing_of_the_keyboard_of_a_terminal() {
    let fleet = SampleFleet::usual();
    for (width, height) in SIZES {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &chars("r"));
        let (before, after) = before_and_after(&mut ui, &fleet, width, height);
        let inside = place_of_box(&before);
        for at in inside.positions().filter(|at| before[*at].symbol() != " ") {
            assert_eq!(before[at].symbol(), after[at].symbol(), "{at:?}\n{}", lines(&after).join("\n"));
        }
    }
}

#[test]
fn in_a_grid_messages_hide_no_tile_that_needs_the_operator() {
    let mut fleet = SampleFleet::usual();
    for terminal in &mut fleet.terminals {
        match terminal.state.waits() {
            // Their tiles are the last ones by name, where messages stand otherwise.
            true => terminal.state.terminal.id.insert(0, '龍'),
            false => (terminal.state.attention, terminal.state.turn.phase) = (Attention::None, Phase::Ready),
        }
    }
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("s"));
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("vv"));
    fleet.now = NOW + Span::from_secs(60);
    ui.update(&fleet.view());
    let (before, after) = before_and_after(&mut ui, &fleet, 160, 45);
    let is_title = |at: Position| before[at].symbol() == "▌";
    let titles: Vec<Position> = before.area.positions().filter(|at| is_title(*at)).collect();
    assert!(titles.len() > 1, "{}", lines(&before).join("\n"));
    for title in titles {
        let below = |y: &u16| {
            *y == title.y || before[(title.x - 1, *y)].symbol() == "│" || before[(title.x - 1, *y)].symbol() == "┃"
        };
        let height = (title.y..44).take_while(below).count() as u16;
        let tile = Rect::new(title.x, title.y, 30, height);
        assert_kept(&before, &after, tile);
    }
}

#[test]
fn a_message_leaves_what_would_be_sent_in_view_in_the_smallest_box() {
    let mut fleet = SampleFleet::usual();
    let long: String = (1..=12).map(|line| format!("line {line}\n\n")).collect();
    super::acting::ask(&mut fleet, 0, &format!("{long}Drop it?\n❯ 1. Yes\n  2. No"));
    let mut dialog = fleet.terminals[0].dialog.as_deref().expect("a dialog").clone();
    dialog.set_verdicts(&["yes".to_owned()], &["no".to_owned()]);
    fleet.terminals[0].dialog = Some(std::sync::Arc::new(dialog));
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 40, 10);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 40, 10);
    assert!(shown.contains("read on") && !shown.contains("y yes"), "those keys would only choose: {shown}");
    for _ in 0..30 {
        press(&mut ui, &fleet, &[KeyCode::Down]);
        frame(&mut ui, &fleet, 40, 10);
    }
    ui.handle(&Event::Paste("hello".to_owned()), &fleet.view());
    let shown = text(&mut ui, &fleet, 40, 10);
    assert!(shown.contains("pasted text is not") && shown.contains("sends: "), "{shown}");
}
