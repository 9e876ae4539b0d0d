//! Acting on terminals: dialogs that are answered in place.

use std::sync::Arc;

use super::*;
use fleetwatch::dialog::Dialog;
use fleetwatch::screen::Screen;
use fleetwatch::state::BusinessState;

/// Lets a terminal show another dialog.
fn ask(fleet: &mut SampleFleet, terminal: usize, text: &str) {
    let screen = Screen::from_text(text, 120);
    fleet.terminals[terminal].dialog = Some(Arc::new(Dialog::read(&screen, 0..screen.rows().len())));
    fleet.terminals[terminal].screen = Some(Arc::new(screen));
}

fn option_of(requests: &[Request]) -> Option<usize> {
    match requests {
        [Request::Answer { option, .. }] => Some(*option),
        _ => None,
    }
}

#[test]
fn an_answer_needs_a_second_key_and_goes_with_the_dialog_that_was_shown() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("› 1  Yes") && shown.contains("sends: 1") && shown.contains("nothing was sent"), "{shown}");
    // The dialog's own number chooses and sends nothing.
    assert_eq!(press(&mut ui, &fleet, &chars("3")), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("sends: 3"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Up]), []);
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let Request::Answer { key, dialog, excerpt, option } = &requests[0] else { panic!("{requests:?}") };
    assert_eq!((key, *option), (&fleet.terminals[0].key, 1));
    assert!(dialog.is_same(fleet.terminals[0].dialog.as_ref().expect("a dialog")));
    assert!(excerpt.starts_with("Bash command"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("sending 2 Yes, and don't ask again for rm commands …"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "one answer at a time");
    let why = "the dialog is still there".to_owned();
    ui.answered(key, "shop-api", &Sent::NotTaken { why }, "unknown", &fleet.view());
    assert!(text(&mut ui, &fleet, 120, 40).contains("not taken: the dialog is still there"));
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(1));
}

#[test]
fn what_became_of_an_answer_is_told_and_the_dialog_closes() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(0));
    fleet.terminals[0].state.assessment.business_state = BusinessState::Working;
    assert!(text(&mut ui, &fleet, 120, 40).contains("sending 1 Yes …"), "the outcome is still to come");
    let key = fleet.terminals[0].key.clone();
    ui.answered(&key, "shop-api", &Sent::Accepted, "working again", &fleet.view());
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("shop-api: taken: working again") && !shown.contains("sends:"), "{shown}");
}

#[test]
fn a_dialog_that_changes_is_shown_and_gets_no_key_that_was_on_its_way() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    ask(&mut fleet, 0, "Drop the database?\n  1. Yes\n❯ 2. No");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("Drop the database?") && shown.contains("the dialog changed, nothing was sent"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("look at it first"));
    fleet.now = fleet.now + Span::from_secs(1);
    // The agent's own mark is where the choice begins.
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(1));
}

#[test]
fn the_next_dialog_of_a_terminal_follows_the_answered_one() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let key = fleet.terminals[0].key.clone();
    ui.answered(&key, "shop-api", &Sent::Accepted, "another dialog", &fleet.view());
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "the old one is still on the screen");
    ask(&mut fleet, 0, "And this?\n❯ 1. Yes\n  2. No");
    assert!(text(&mut ui, &fleet, 120, 40).contains("And this?"));
    fleet.now = fleet.now + Span::from_secs(2);
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(0));
}

#[test]
fn what_cannot_be_answered_with_a_choice_says_so() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    for (dialog, says) in [
        ("Which ones?\n❯ 1. [ ] Tests\n  2. [x] Docs", "several options can be ticked here"),
        ("Type the name of the branch:", "it has no options that can be read"),
    ] {
        ask(&mut fleet, 0, dialog);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains(says) && shown.contains("go there and answer"), "{shown}");
        assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "{dialog}");
        press(&mut ui, &fleet, &[KeyCode::Esc]);
    }
}

#[test]
fn options_are_chosen_with_the_mouse_and_sent_with_the_button() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let place = |ui: &mut Ui, text: &str| {
        let shown = lines(&frame(ui, &fleet, 120, 40));
        let row = shown.iter().position(|line| line.contains(text)).expect(text);
        let column = shown[row].split(text).next().map_or(0, UnicodeWidthStr::width);
        (u16::try_from(column).expect("a column"), u16::try_from(row).expect("a row"))
    };
    let click = |ui: &mut Ui, (column, row): (u16, u16)| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        ui.handle(&Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }), &fleet.view())
    };
    let at = place(&mut ui, "3  No");
    assert_eq!(click(&mut ui, at), []);
    let at = place(&mut ui, "enter answer   g go there and answer");
    assert_eq!(option_of(&click(&mut ui, at)), Some(2));
}

#[test]
fn dialogs_in_every_size_and_colour() {
    let fleet = SampleFleet::usual();
    for (width, height) in [(80, 24), (160, 45)] {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &chars("2"));
        insta::assert_snapshot!(format!("answer_{width}x{height}"), text(&mut ui, &fleet, width, height));
    }
    for name in Theme::names() {
        let theme = Theme::shipped(name).expect("a shipped theme");
        let mut ui = Ui::new(Options { theme, ..Options::default() });
        frame(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        let buffer = frame(&mut ui, &fleet, 120, 40);
        let shown = lines(&buffer);
        let row = shown.iter().position(|line| line.contains("› 1  Yes")).expect("the chosen option");
        let column = shown[row].split("1  Yes").next().map_or(0, UnicodeWidthStr::width);
        let cell = |row: usize| {
            let cell = &buffer[(u16::try_from(column).expect("a column"), u16::try_from(row).expect("a row"))];
            (cell.fg, cell.bg, cell.modifier)
        };
        assert_ne!(cell(row), cell(row + 1), "{name}: the chosen option looks like the others");
    }
}
