//! Whatever is open, in terminals that become as small as can be.

use super::*;

/// A dashboard whose menus have entries.
pub fn with_menus() -> Ui {
    let mut ui = Ui::new(matrix::options());
    matrix::open_messages(&mut ui, &mut SampleFleet::empty());
    ui
}

fn fleet() -> SampleFleet {
    SampleFleet { sessions: matrix::with_sessions().sessions, ..SampleFleet::usual() }
}

/// Presses the key of a character: a tab, the end of a line and control characters are those that terminals send. What
/// the prompt asks for then comes at once.
pub fn strike(ui: &mut Ui, fleet: &SampleFleet, code: char) {
    let key = match code {
        '\t' => KeyEvent::from(KeyCode::Tab),
        '\n' => KeyEvent::from(KeyCode::Enter),
        '\u{1}'..='\u{1a}' => {
            let letter = char::from_u32(u32::from(code) + 0x60).unwrap_or_default();
            KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)
        }
        _ if code.is_uppercase() => KeyEvent::new(KeyCode::Char(code), KeyModifiers::SHIFT),
        _ => KeyEvent::from(KeyCode::Char(code)),
    };
    ui.handle(&Event::Key(key), &fleet.view());
    for request in ui.update(&fleet.view()) {
        if let Request::Prompts(..) = request {
            ui.prompts(&["own".to_owned()], &["own".to_owned(), "of others".to_owned()], &fleet.view());
        }
    }
}

/// What can be open, by the keys that open it, and the words by which it is seen.
const OPEN: [(&str, &str); 14] = [
    ("", "shop-api"),
    ("i", "prompt to docs"),
    ("i\u{14}", "templates"),
    ("i\u{12}", "earlier prompts"),
    (" B", "prompt to 1 terminal"),
    (" B\u{14}", "templates"),
    ("\n", "docs"),
    ("?", "quit fleetwatch"),
    (":", "commands"),
    ("x", "nothing to interrupt"),
    ("e", "docs"),
    ("d", "[screen]"),
    ("D", "today"),
    ("/docs", "docs"),
];

#[test]
fn whatever_is_open_stays_open_in_a_terminal_that_becomes_too_small_for_it() {
    let fleet = fleet();
    for (keys, shown) in OPEN {
        for layout in ["", "v", "vv"] {
            let mut ui = with_menus();
            frame(&mut ui, &fleet, 160, 45);
            // The one that is done takes a prompt.
            press(&mut ui, &fleet, &[KeyCode::Down; 6]);
            let all = layout.chars().chain(keys.chars());
            all.for_each(|code| strike(&mut ui, &fleet, code));
            let full = text(&mut ui, &fleet, 160, 45);
            assert!(full.contains(shown), "{keys:?}: {full}");
            for height in (1..=11).rev().chain([24]) {
                for width in [3, 60, 160] {
                    assert_harmless(&frame(&mut ui, &fleet, width, height));
                    press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Up]);
                    assert_harmless(&frame(&mut ui, &fleet, width, height));
                }
            }
            let again = text(&mut ui, &fleet, 160, 45);
            assert!(again.contains(shown), "{keys:?} after {layout:?}: {again}");
        }
    }
}

#[test]
fn what_would_be_taken_from_a_list_is_seen_however_low_the_terminal_is() {
    let fleet = fleet();
    for (width, height) in [(80, 24), (160, 45), (80, 12), (60, 8)] {
        let mut ui = with_menus();
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &[KeyCode::Down; 6]);
        "++++++++++++++++++++++++i\u{14}".chars().for_each(|code| strike(&mut ui, &fleet, code));
        let shown = text(&mut ui, &fleet, width, height);
        assert!(shown.contains("› review"), "{width}x{height}: {shown}");
        press(&mut ui, &fleet, &[KeyCode::Down]);
        let shown = text(&mut ui, &fleet, width, height);
        assert!(shown.contains("› tests"), "{width}x{height}: {shown}");
    }
}
