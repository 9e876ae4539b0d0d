//! The mouse in a real terminal: what a terminal sends for it is written to the dashboard's pane, byte for byte.

use super::*;

/// Buttons as terminals number them (SGR): the left one, moving while it is held, and both directions of the wheel.
const LEFT: u8 = 0;
const HELD: u8 = 32;
const WHEEL_UP: u8 = 64;
const WHEEL_DOWN: u8 = 65;

impl Desk {
    /// Reports the mouse at a cell, counted from 0.
    fn report(&self, button: u8, (column, row): (usize, usize), end: char) {
        let bytes = format!("\x1b[<{button};{};{}{end}", column + 1, row + 1);
        let bytes: Vec<String> = bytes.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut words = vec!["send-keys", "-t", "main:", "-H"];
        words.extend(bytes.iter().map(String::as_str));
        self.operator.run(&words);
    }

    fn click_at(&self, at: (usize, usize)) {
        self.report(LEFT, at, 'M');
        self.report(LEFT, at, 'm');
    }

    fn drag(&self, from: (usize, usize), to: (usize, usize)) {
        self.report(LEFT, from, 'M');
        self.report(HELD, to, 'M');
        self.report(LEFT, to, 'm');
    }

    /// Where a text stands on the screen, once it does.
    fn place(&self, text: &str) -> (usize, usize) {
        let mut place = None;
        wait_until(&format!("{text:?}"), || {
            place = self.at(text);
            place.is_some()
        });
        place.unwrap()
    }

    fn click(&self, text: &str) {
        self.click_at(self.place(text));
    }
}

#[test]
fn the_log_goes_back_in_time_with_the_wheel() {
    let desk = Desk::with_parrot();
    desk.start_parrot_in("crows");
    desk.start_parrot_in("doves");
    desk.open();
    desk.wait("3 ready");
    for bird in ["birds", "crows", "doves"] {
        desk.watched.run(&["send-keys", "-t", &format!("{bird}:"), "ask", "Enter"]);
    }
    let asked = || desk.screen().matches("asks for approval: Allow this?").count();
    wait_until("what each has asked", || asked() == 3);
    let (column, row) = desk.place("asks for approval: Allow this?");
    desk.report(WHEEL_DOWN, (column, row), 'M');
    wait_until("the newest to be scrolled away", || asked() < 3);
    desk.report(WHEEL_UP, (column, row), 'M');
    wait_until("all of them", || asked() == 3);
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn rows_are_selected_opened_folded_and_scrolled_with_the_mouse() {
    let desk = Desk::with_parrot();
    desk.start_parrot_in("crows");
    desk.start_parrot_in("doves");
    desk.open();
    desk.wait("3 ready");
    desk.press("s");
    // They stand so already, and a click before the next frame would be on rows that are no longer where they were.
    desk.wait("by name");
    desk.wait_for_rows("name", &["birds", "crows", "doves"]);
    let (column, row) = desk.place(" doves ");
    desk.click_at((column + 2, row));
    desk.wait_for_cursor("doves");
    // Over the table the wheel moves the cursor, and keeps to the rows.
    desk.report(WHEEL_UP, (column, row), 'M');
    desk.wait_for_cursor("crows");
    desk.report(WHEEL_UP, (column, row), 'M');
    desk.wait_for_cursor("birds");
    desk.report(WHEEL_DOWN, (column, row), 'M');
    desk.wait_for_cursor("crows");
    // A head is folded by a click on it.
    desk.press("b");
    desk.wait("▾ doves");
    desk.click("▾ doves");
    desk.wait("▸ doves");
    desk.click("▸ doves");
    desk.wait("▾ doves");
    // Two clicks open what one selects.
    let (column, row) = desk.place("· birds");
    desk.click_at((column, row));
    desk.click_at((column, row));
    desk.wait("prompt to birds");
    desk.press("Escape");
    desk.wait("? help");
    // The footer is made of buttons.
    desk.click("? help");
    desk.wait("for what is selected now");
    desk.press("q");
    desk.wait_without("for what is selected now");
    desk.click(": commands");
    desk.wait("› write a prompt");
    // The wheel moves in the list, wherever it is turned, and a click beside the list closes it.
    desk.report(WHEEL_DOWN, (2, 4), 'M');
    desk.wait("› go to the terminal in tmux");
    desk.click_at((2, 4));
    desk.wait_without("go to the terminal in tmux");
    desk.wait_for_cursor("birds");
    // Nobody is left to take the release of the button.
    desk.report(LEFT, desk.place("q quit"), 'M');
    desk.expect_restored();
}

#[test]
fn panes_are_resized_with_the_mouse() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    let (_, level) = desk.place("─ log ─");
    desk.drag((4, level), (6, level - 3));
    wait_until("the upper divider three rows up", || desk.place("─ log ─").1 == level - 3);
    let (upright, _) = desk.place("─ birds ");
    desk.drag((upright - 1, level), (upright - 11, level));
    wait_until("the other divider ten columns to the left", || desk.place("─ birds ").0 == upright - 10);
    // What is not held is not moved, and dragging selects nothing.
    desk.report(HELD, (40, 10), 'M');
    desk.press("C-l");
    desk.wait_for_cursor("birds");
    assert_eq!((desk.place("─ birds ").0, desk.place("─ log ─").1), (upright - 10, level - 3));
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn dialogs_are_answered_and_questions_decided_with_their_buttons() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.tell("birds", "ask");
    desk.wait("1 needs you");
    desk.click("enter answer");
    desk.wait("sends: Enter");
    desk.click("2  No");
    desk.wait("sends: 2");
    assert!(desk.watched.screen("birds:").contains("> 1. Yes"), "choosing sends nothing");
    let (column, row) = desk.place("g go there and answer");
    desk.click_at((column - 10, row));
    desk.watched.wait_for_text("birds:", "● answered 2");
    desk.wait("birds: taken");
    desk.wait_without("sends: 2");
    desk.wait("1 ready");
    // A list is chosen from with a click, and a question that is declined does nothing.
    desk.press("y");
    desk.click("name of the terminal");
    desk.wait("sent to the terminal's clipboard: 5 characters");
    desk.run_task("build", &["sleep", "4711"]);
    desk.wait("▶ build");
    desk.click(" build ");
    desk.wait_for_cursor("build");
    desk.click("K end it");
    desk.wait("end build?");
    desk.click("n no");
    desk.wait_without("end build?");
    desk.wait("▶ build");
    desk.click("K end it");
    desk.click("y end");
    desk.wait("build was ended");
    // With the mouse left to the terminal no report means anything.
    std::fs::write(desk.directory.path().join("fleetwatch/config.toml"), "[ui]\nmouse = false\n").unwrap();
    desk.press("C-r");
    wait_until("the mouse to be left alone", || desk.flags() == "100");
    desk.press("q");
    desk.expect_restored();
}
