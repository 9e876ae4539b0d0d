//! Acting on agents from the dashboard, through real keys.

use super::*;

impl Desk {
    /// Types a prompt into the parrot's pane itself.
    fn tell_parrot(&self, prompt: &str) {
        self.watched.run(&["send-keys", "-t", "birds:", prompt, "Enter"]);
    }

    /// What `fleetwatch history` tells of the parrot as JSON lines.
    fn history(&self) -> String {
        let directory = self.directory.path().display().to_string();
        let output = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
            .args(["history", "--json", "-L", self.watched.name()])
            .env("XDG_CONFIG_HOME", &directory)
            .env("XDG_STATE_HOME", format!("{directory}/state"))
            .env_remove("TMUX")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn a_dialog_is_answered_in_place() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.tell_parrot("ask");
    desk.wait("1 needs you");
    desk.press("Enter");
    desk.wait("sends: 1");
    desk.press("Down");
    desk.wait("sends: 2");
    assert!(desk.watched.screen("birds:").contains("> 1. Yes"), "choosing sends nothing");
    desk.press("Enter");
    desk.watched.wait_for_text("birds:", "● answered 2");
    desk.wait("birds: taken: ready");
    desk.wait_without("sends: 2");
    wait_until("the answer in the history", || {
        desk.history().lines().any(|line| {
            line.contains(r#""sender":"dashboard""#)
                && line.contains(r#""choice":"2 No""#)
                && line.contains(r#""outcome":"accepted""#)
                && line.contains("Allow this?")
        })
    });
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn marks_are_moved_and_letters_typed_in_place() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.tell_parrot("menu");
    desk.wait("1 needs you");
    desk.press("Enter");
    desk.wait("sends: Enter");
    desk.press("3");
    desk.wait("sends: Down Down Enter");
    desk.press("Enter");
    desk.watched.wait_for_text("birds:", "● chose Gamma");
    desk.wait("birds: taken");
    desk.tell_parrot("letter");
    desk.wait("1 needs you");
    desk.press("Enter");
    desk.wait("sends: y, and Enter where it waits for it");
    desk.press("n");
    desk.wait("sends: n, and Enter where it waits for it");
    desk.press("Enter");
    desk.watched.wait_for_text("birds:", "● answered n");
    desk.press("q");
}

#[test]
fn a_dialog_that_has_changed_is_not_answered() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.tell_parrot("ask");
    desk.wait("1 needs you");
    desk.press("Enter");
    desk.wait("sends: 1");
    // Somebody answers there, and another dialog comes up before the dashboard can have looked again.
    desk.watched.run(&["send-keys", "-t", "birds:", "2", "m", "e", "n", "u", "Enter"]);
    desk.watched.wait_for_text("birds:", "  Gamma");
    desk.press("Enter");
    desk.wait("the dialog changed");
    desk.wait("nothing was sent");
    desk.wait("3  Gamma");
    assert!(desk.watched.screen("birds:").contains("> Alpha"), "nothing was sent");
    desk.press("Escape");
    desk.press("q");
}
