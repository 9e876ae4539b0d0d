//! The mouse in a real terminal: what a terminal sends for it is written to the dashboard's pane, byte for byte.

use super::*;

/// Buttons as terminals number them (SGR): the left one, moving while it is held, and both directions of the wheel.
const LEFT: u8 = 0;
const WHEEL_UP: u8 = 64;
const WHEEL_DOWN: u8 = 65;

impl World {
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
    let world = World::with_parrot();
    world.start_parrot_in("crows");
    world.start_parrot_in("doves");
    world.open();
    world.wait("3 ready");
    for bird in ["birds", "crows", "doves"] {
        world.watched.run(&["send-keys", "-t", &format!("{bird}:"), "ask", "Enter"]);
    }
    let asked = || world.screen().matches("asks for approval: Allow this?").count();
    wait_until("what each has asked", || asked() == 3);
    let (column, row) = world.place("asks for approval: Allow this?");
    world.report(WHEEL_DOWN, (column, row), 'M');
    wait_until("the newest to be scrolled away", || asked() < 3);
    world.report(WHEEL_UP, (column, row), 'M');
    wait_until("all of them", || asked() == 3);
    world.quit();
}

#[test]
fn rows_are_selected_opened_folded_and_scrolled_with_the_mouse() {
    let world = World::with_parrot();
    world.start_parrot_in("crows");
    world.start_parrot_in("doves");
    world.open();
    world.wait("3 ready");
    world.arrange("sort by name");
    // They stand so already, and a click before the next frame would be on rows that are no longer where they were.
    world.wait("by name");
    world.wait_for_rows("name", &["birds", "crows", "doves"]);
    let (column, row) = world.place(" doves ");
    world.click_at((column + 2, row));
    world.wait_for_cursor("doves");
    // Over the table the wheel moves the cursor, and keeps to the rows.
    world.report(WHEEL_UP, (column, row), 'M');
    world.wait_for_cursor("crows");
    world.report(WHEEL_UP, (column, row), 'M');
    world.wait_for_cursor("birds");
    world.report(WHEEL_DOWN, (column, row), 'M');
    world.wait_for_cursor("crows");
    // A head is folded by a click on it.
    world.arrange("group by session");
    world.wait("▾ one each");
    world.click("▾ one each");
    world.wait("▸ one each");
    world.click("▸ one each");
    world.wait("▾ one each");
    // Two clicks open what one selects.
    let (column, row) = world.place("· birds");
    world.click_at((column, row));
    world.click_at((column, row));
    world.wait("prompt to birds");
    world.press("Escape");
    world.wait("? help");
    // The footer is made of buttons.
    world.click("? help");
    world.wait("what you can do now");
    world.press("q");
    world.wait_without("what you can do now");
    world.click(": commands");
    world.wait("› write a prompt");
    // The wheel moves in the list, wherever it is turned, and a click beside the list closes it.
    world.report(WHEEL_DOWN, (2, 4), 'M');
    world.wait("› go to the terminal in tmux");
    world.click_at((2, 4));
    world.wait_without("go to the terminal in tmux");
    world.wait_for_cursor("birds");
    // Nobody is left to take the release of the button.
    world.report(LEFT, world.place("q quit"), 'M');
    world.expect_restored();
}

#[test]
fn dialogs_are_answered_and_questions_decided_with_their_buttons() {
    let world = World::opened();
    world.tell("birds", "ask");
    world.wait("1 needs you");
    world.click("enter answer");
    world.wait("sends: Enter");
    world.click("2  No");
    world.wait("sends: 2");
    assert!(world.watched.screen("birds:").contains("> 1. Yes"), "choosing sends nothing");
    let (column, row) = world.place("g go there and answer");
    world.click_at((column - 10, row));
    world.watched.wait_for_text("birds:", "● answered 2");
    world.wait("birds took the answer");
    world.wait_without("sends: 2");
    world.wait("1 ready");
    // A list is chosen from with a click, and a question that is declined does nothing.
    world.run_command("copy the name");
    world.click("name of the terminal");
    world.wait("sent to the terminal's clipboard: the name, 5 characters");
    world.run_task("build", &["sleep", "4711"]);
    world.wait("▶ build");
    world.click(" build ");
    world.wait_for_cursor("build");
    world.run_command("kill the task");
    world.wait("kill build?");
    world.click("n no");
    world.wait_without("kill build?");
    world.wait("▶ build");
    world.run_command("kill the task");
    world.click("y kill");
    world.wait("build was killed");
    // With the mouse left to the terminal no report means anything.
    std::fs::write(world.directory.path().join("fleetwatch/config.toml"), "[ui]\nmouse = false\n").unwrap();
    world.press("C-r");
    wait_until("the mouse to be left alone", || world.flags() == "100");
    world.quit();
}
