//! Messages that come and go: they hide nothing that has the keyboard, and no row that needs the operator.

use super::*;
use fleetwatch::screen::Screen;
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
        for keys in ["?", ":", "y", "M\n", "jx", "jjjjjjjx", "X", "T", "jjjjjji\u{14}", " j BaG\n"] {
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
        assert_kept(&before, &after, Rect::new(0, top, width, height - top));
    }
}

#[test]
fn messages_stand_where_nothing_does_in_a_whole_view() {
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
        let mut ui = dashboard();
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &chars("d"));
        let (before, after) = before_and_after(&mut ui, &fleet, width, height);
        let now = lines(&before).iter().position(|line| line.starts_with("› now")).expect("the list");
        let drawn = before.area.positions().filter(|at| usize::from(at.y) >= now && before[*at].symbol() != " ");
        let list = if width < 110 { width } else { width * 9 / 20 };
        // The moment stands below the list in a narrow frame.
        let moment = lines(&before).iter().position(|line| line.starts_with("─ [screen]"));
        let end = moment.map_or(height - 1, |row| u16::try_from(row).expect("a row"));
        for at in drawn.filter(|at| at.x < list && at.y < end) {
            assert_eq!(before[at].symbol(), after[at].symbol(), "{at:?}\n{}", lines(&after).join("\n"));
        }
    }
}

#[test]
fn messages_hide_no_row_that_needs_the_operator_while_there_is_room_elsewhere() {
    let mut fleet = SampleFleet::of(20);
    fleet.terminals.truncate(20);
    let waits = SampleFleet::usual().terminals[0].state.clone();
    for (index, terminal) in fleet.terminals.iter_mut().enumerate() {
        let id = std::mem::take(&mut terminal.state.terminal.id);
        // The last ones by name need the operator.
        if index >= 16 {
            terminal.state = waits.clone();
            terminal.state.terminal.id = format!("z-{id}");
        } else {
            (terminal.state.attention, terminal.state.turn.phase) = (Attention::None, Phase::Ready);
            terminal.state.terminal.id = id;
        }
    }
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 80, 24);
    press(&mut ui, &fleet, &chars("vvvs"));
    fleet.now = NOW + Span::from_secs(60);
    let (before, after) = before_and_after(&mut ui, &fleet, 80, 24);
    let needing: Vec<usize> =
        lines(&before).iter().enumerate().filter(|(_, line)| line.contains("? z-")).map(|(row, _)| row).collect();
    assert_eq!(needing.len(), 4);
    for row in needing {
        assert_eq!(lines(&before)[row], lines(&after)[row], "{}", lines(&after).join("\n"));
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
fn a_message_does_not_hide_where_the_selected_agent_is_written_to() {
    let full: String = (1..=60).map(|row| format!("row {row} of its screen\n")).collect();
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        // The screen below the table or beside the log, and the screen beside the table.
        for layout in ["", "v"] {
            // Where the screen has no room beside the table, that layout is none of its own.
            if layout == "v" && width < 100 {
                continue;
            }
            let mut fleet = SampleFleet::usual();
            let ingest = fleet.terminals.iter_mut().find(|it| it.state.terminal.id == "ingest").expect("ingest");
            ingest.screen = Some(Arc::new(Screen::from_text(full.trim_end(), 120)).into());
            let mut ui = dashboard();
            frame(&mut ui, &fleet, width, height);
            press(&mut ui, &fleet, &chars(layout));
            press(&mut ui, &fleet, &[KeyCode::Down; 7]);
            fleet.now = NOW + Span::from_secs(60);
            let before = frame(&mut ui, &fleet, width, height);
            let top = lines(&before).iter().position(|line| line.contains("─ ingest")).expect("its screen");
            let left = lines(&before)[top].split("─ ingest").next().map_or(0, UnicodeWidthStr::width);
            for text in ["docs took the prompt", "a message that is as long as it takes to fill most of a row, or two"]
            {
                ui.notify(Status::Failed, text.to_owned(), fleet.now);
            }
            let after = frame(&mut ui, &fleet, width, height);
            assert!(lines(&after).join("\n").contains("docs took the prompt"));
            let (left, top) = (u16::try_from(left).expect("a column"), u16::try_from(top).expect("a row"));
            let lower = top + (height - 1 - top).div_ceil(2);
            assert_kept(&before, &after, Rect::new(left, lower, width - left, height - 1 - lower));
        }
    }
}

#[test]
fn messages_hide_nothing_that_the_selected_terminal_asks() {
    let mut fleet = SampleFleet::usual();
    let asked =
        ["Allow rm -rf build in the directory of the project, and all that depends on it?", "❯ 1. Yes", "  2. No"];
    super::acting::ask(&mut fleet, 0, &asked.join("\n"));
    let mut ui = dashboard();
    if !text(&mut ui, &fleet, 80, 24).contains("2. No") {
        press(&mut ui, &fleet, &[KeyCode::Tab]);
    }
    let (before, after) = before_and_after(&mut ui, &fleet, 80, 24);
    for option in ["❯ 1. Yes", "  2. No"] {
        let row = lines(&before).iter().position(|line| line.contains(option)).expect("the option");
        assert_eq!(lines(&before)[row], lines(&after)[row], "{}", lines(&after).join("\n"));
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

#[test]
fn a_message_that_has_no_room_is_cut_over_the_keys_and_read_whole_again() {
    let mut fleet = SampleFleet::usual();
    let waits = fleet.terminals[0].state.clone();
    for terminal in &mut fleet.terminals {
        let id = std::mem::take(&mut terminal.state.terminal.id);
        terminal.state = waits.clone();
        terminal.state.terminal.id = id;
    }
    let asked: String = (1..=20).map(|row| format!("row {row} of what it asks\n")).collect();
    for index in 0..fleet.terminals.len() {
        super::acting::ask(&mut fleet, index, &format!("{asked}Do it?\n❯ 1. Yes\n  2. No"));
    }
    for (width, height) in [(80, 24), (40, 10)] {
        let mut ui = dashboard();
        let (before, after) = before_and_after(&mut ui, &fleet, width, height);
        let shown = lines(&after).join("\n");
        for at in Rect::new(0, 0, width, height - 1).positions().filter(|at| before[*at].symbol() != " ") {
            assert_eq!(before[at].symbol(), after[at].symbol(), "{at:?}\n{shown}");
        }
        assert!(shown.contains("E: all of it"), "{shown}");
        // One that is whole says so by nothing.
        let mut other = dashboard();
        frame(&mut other, &fleet, 160, 45);
        other.notify(Status::Failed, LONG.to_owned(), fleet.now);
        let whole = text(&mut other, &fleet, 160, 45);
        assert!(whole.contains("take one of them out)") && !whole.contains("all of it"), "{whole}");
        press(&mut ui, &fleet, &chars("E"));
        let again = text(&mut ui, &fleet, 160, 45);
        assert!(
            again.contains("22:13:20  keymap.toml:12:3: the key") && again.contains("22:13:20  docs took"),
            "{again}"
        );
        assert!(again.contains("take one of them out"), "{again}");
    }
}
