//! Tasks in the dashboard: seen, ended after a question, run again, removed; and nothing of it stays in tmux.

use std::process::Command;

use super::Desk;
use super::private_tmux::{signal, wait_until};

impl Desk {
    /// Starts a task on the watched server, as an agent would.
    fn run_task(&self, name: &str, command: &[&str]) {
        let mut fleetwatch = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        let home = self.directory.path();
        fleetwatch.env("XDG_CONFIG_HOME", home).env("XDG_STATE_HOME", home.join("state"));
        fleetwatch.env_remove("TMUX").env_remove("TMUX_PANE").current_dir(home);
        fleetwatch.args(["-L", self.watched.name(), "run", name, "--"]).args(command);
        assert!(fleetwatch.output().unwrap().status.success(), "{name}");
    }

    fn hooks(&self) -> String {
        self.watched.run(&["show-hooks", "-t", "tasks:"])
    }
}

#[test]
fn a_task_is_ended_run_again_and_removed_by_keys() {
    let desk = Desk::with_parrot();
    desk.run_task("build", &["sleep", "4711"]);
    desk.run_task("test", &["sh", "-c", "echo two failed; exit 101"]);
    desk.open();
    desk.wait("▶ build");
    desk.wait("exited 101");
    desk.wait("task sessions from before: tasks: 1 alive");
    wait_until("the counter", || desk.hooks().contains("@fleetwatch_bells"));
    // The failed test comes first.
    desk.press("Home");
    desk.wait("two failed");
    desk.press("R");
    desk.wait("test runs again");
    desk.type_text("/build");
    desk.press("Enter");
    desk.press("K");
    desk.wait("end build?");
    desk.press("Escape");
    desk.wait_without("end build?");
    desk.press("K");
    desk.wait("end build?");
    desk.press("y");
    desk.wait("build was ended");
    desk.press("Escape");
    desk.wait("disappeared: killed");
    desk.press("X");
    desk.wait("remove test?");
    desk.press("y");
    wait_until("the last window to be removed", || {
        !desk.watched.output(&["has-session", "-t", "=tasks"]).status.success()
    });
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_dashboard_that_is_terminated_takes_its_counter_back() {
    let desk = Desk::with_parrot();
    desk.run_task("build", &["sleep", "4711"]);
    let before = desk.hooks();
    desk.open();
    wait_until("the counter", || desk.hooks().contains("@fleetwatch_bells"));
    signal("TERM", desk.dashboard_pid());
    desk.expect_restored();
    assert_eq!(desk.hooks(), before);
}
