//! Tasks in the dashboard: seen, ended after a question, run again, removed; and nothing of it stays in tmux.

use super::Desk;
use crate::support::private_tmux::{signal, wait_until};

impl Desk {
    /// Starts a task on the watched server, as an agent would.
    pub(super) fn run_task(&self, name: &str, command: &[&str]) {
        assert_eq!(self.fleetwatch(&[&["run", name, "--"], command].concat()).0, Some(0), "{name}");
    }

    fn hooks(&self) -> String {
        self.watched.run(&["show-hooks", "-t", "tasks:"])
    }
}

#[test]
fn a_task_is_not_said_to_run_where_its_server_does_not_answer() {
    let desk = Desk::with_parrot();
    desk.run_task("build", &["sleep", "4711"]);
    desk.open();
    desk.wait("▶ build");
    let server = desk.watched.server_pid().unwrap();
    let row = || desk.screen().lines().find(|line| line.contains(" build ")).unwrap_or_default().to_owned();
    signal("STOP", server);
    wait_until("the task to be out of reach", || row().contains("! build") && row().contains("error"));
    assert!(!row().contains("running"), "{}", desk.screen());
    signal("CONT", server);
    wait_until("the task to run on", || row().contains("▶ build") && row().contains("running"));
    desk.watched.run(&["kill-server"]);
    wait_until("the task to be gone", || row().is_empty());
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_task_is_ended_run_again_and_removed_by_keys() {
    let desk = Desk::with_parrot();
    desk.run_task("build", &["sleep", "4711"]);
    desk.run_task("test", &["sh", "-c", "echo two failed; read x; exit 101"]);
    let end = || {
        // tmux may lose what a program prints that ends at once.
        desk.watched.wait_for_text("tasks:=test", "two failed");
        desk.watched.run(&["send-keys", "-t", "tasks:=test", "Enter"]);
    };
    end();
    desk.open();
    desk.wait("▶ build");
    desk.wait("exited 101");
    desk.wait("task sessions from before: tasks: 1 alive");
    wait_until("the counter", || desk.hooks().contains("@fleetwatch_bells"));
    // The failed test comes first.
    desk.press("Home");
    desk.wait("two failed");
    desk.type_text("yn");
    desk.wait("clipboard: 4 characters");
    let ended = || desk.watched.run(&["list-panes", "-s", "-t", "tasks:", "-F", "#{window_name} #{pane_dead_time}"]);
    let before = ended();
    desk.press("R");
    desk.wait("run test again?");
    desk.press("Escape");
    desk.wait_without("run test again?");
    assert_eq!(ended(), before, "nothing was run again");
    desk.press("R");
    desk.wait("run test again?");
    desk.press("y");
    desk.wait("test runs again");
    end();
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
fn all_tasks_are_ended_at_once_and_what_was_left_is_offered_for_removal() {
    let desk = Desk::with_parrot();
    desk.run_task("old", &["true"]);
    wait_until("its end", || desk.watched.run(&["list-panes", "-t", "tasks:", "-F", "#{pane_dead}"]).trim() == "1");
    // Its end has been told before, so that it is a leftover.
    desk.watched.run(&["set-option", "-w", "-t", "tasks:", "@fleetwatch_told", "1"]);
    desk.open();
    desk.wait("task sessions from before: tasks: 1 ended; X removes what has ended");
    desk.press("X");
    desk.wait("remove old?");
    desk.press("Escape");
    desk.wait_without("remove old?");
    desk.run_task("build", &["sleep", "4711"]);
    desk.wait("▶ build");
    desk.press("M-k");
    desk.wait("end 2 tasks?");
    desk.press("y");
    wait_until("the last window to be removed", || {
        !desk.watched.output(&["has-session", "-t", "=tasks"]).status.success()
    });
    desk.wait("disappeared: killed");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn what_happens_to_tasks_is_told_wherever_the_operator_looks() {
    let desk = Desk::with_parrot();
    desk.run_task("first", &["sleep", "4711"]);
    desk.open();
    desk.wait("▶ first");
    // Neither the table nor the log is to be seen here.
    desk.press("Home");
    desk.press("d");
    desk.wait("what happened  ");
    desk.run_task("build", &["sh", "-c", "read answer; exit $answer"]);
    desk.wait("build started");
    desk.watched.run(&["send-keys", "-t", "tasks:=build", "7", "Enter"]);
    desk.wait("build exited with code 7");
    desk.press("Escape");
    desk.wait("? help");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_dashboard_that_is_terminated_takes_its_counter_back() {
    let desk = Desk::with_parrot();
    // `run` has the bells of the session that it makes counted from its first moment.
    desk.run_task("build", &["sleep", "4711"]);
    desk.open();
    desk.wait("▶ build");
    wait_until("the counter", || desk.hooks().contains("@fleetwatch_bells"));
    signal("TERM", desk.dashboard_pid());
    desk.expect_restored();
    assert!(!desk.hooks().contains("@fleetwatch_bells"), "{}", desk.hooks());
}

#[test]
fn a_task_session_that_is_taken_out_of_the_configuration_is_as_it_was_at_once() {
    let desk = Desk::with_parrot();
    desk.watched.new_session("builds", &["sleep", "4711"]);
    desk.watched.run(&["rename-window", "-t", "builds:", "server"]);
    let config = desk.directory.path().join("fleetwatch/config.toml");
    std::fs::write(&config, "[[task]]\nsession = \"builds\"\n").unwrap();
    let set = || {
        let hooks = desk.watched.run(&["show-hooks", "-t", "builds:"]);
        hooks + &desk.watched.run(&["show-options", "-w", "-t", "builds:"])
    };
    let before = set();
    desk.open();
    desk.wait("▶ server");
    wait_until("the counter", || set().contains("@fleetwatch_bells") && set().contains("remain-on-exit"));
    std::fs::write(&config, "").unwrap();
    desk.press("C-r");
    desk.wait("configuration reloaded");
    wait_until("the session to be as it was", || set() == before);
    desk.wait_without("▶ server");
    desk.press("q");
    desk.expect_restored();
}

/// A build that asks three times, the last time for something that nobody else may see.
const ASKING: &str = "read -r -p 'Continue? [y/N] ' a; echo \"first $a\"; read -r -p 'Name: ' b; echo \"second $b\"; \
                      read -r -s -p 'Password: ' c; echo; echo \"third ${#c} letters\"; sleep 4711";

#[test]
fn a_task_that_asks_is_answered_in_place_and_what_is_typed_is_nowhere_kept() {
    let desk = Desk::with_parrot();
    desk.run_task("build", &["bash", "-c", ASKING]);
    let log = desk.directory.path().join("log");
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    desk.type_text(&format!("clear; {program} --log '{}' -L {}", log.display(), desk.watched.name()));
    desk.press("Enter");
    desk.wait("1 needs you");
    desk.press("n");
    desk.wait("enter answer");
    desk.press("i");
    desk.wait("build is a task, not an agent; r sends every key there");
    desk.press("Escape");
    desk.wait_without("is a task, not an agent");
    // A second Enter behind the one that opens it is not the answer.
    desk.operator.run(&["send-keys", "-t", "main:", "Enter", "Enter"]);
    desk.wait("every key goes to build; ctrl-] leaves");
    assert!(!desk.watched.screen("tasks:").contains("first"), "{}", desk.watched.screen("tasks:"));
    desk.type_text("y");
    desk.press("Enter");
    desk.watched.wait_for_text("tasks:", "first y");
    desk.type_text("q; ünï");
    desk.press("Enter");
    desk.watched.wait_for_text("tasks:", "second q; ünï");
    desk.type_text("hunter2");
    desk.press("Enter");
    desk.watched.wait_for_text("tasks:", "third 7 letters");
    desk.wait("third 7 letters");
    desk.wait("* enter");
    assert!(!desk.screen().contains("h u n t"), "{}", desk.screen());
    // What is typed when it has ended is not taken for keys of the dashboard.
    desk.press("C-c");
    desk.wait("build has ended, and keys go nowhere");
    desk.type_text("qR?");
    desk.press("C-]");
    desk.wait("? help");
    desk.wait("exited 130");
    desk.press("r");
    desk.wait("build has ended");
    desk.press("Escape");
    desk.wait_without("build has ended");
    desk.press("q");
    desk.expect_restored();
    wait_until("the keys in the history", || desk.history().contains(r#""keys":["(text)""#));
    let state = desk.directory.path().join("state/fleetwatch");
    let mut kept = vec![std::fs::read(&log).unwrap()];
    kept.extend(std::fs::read_dir(state).unwrap().filter_map(|file| std::fs::read(file.unwrap().path()).ok()));
    let kept: Vec<String> = kept.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    assert!(kept.iter().all(|text| !text.contains("hunter2") && !text.contains(r#"["h""#)), "{kept:?}");
}

#[test]
fn tasks_take_keys_on_the_command_line_and_say_what_they_are_elsewhere() {
    let desk = Desk::with_parrot();
    desk.run_task("build", &["bash", "-c", ASKING]);
    let fleetwatch = |words: &[&str]| desk.fleetwatch(words);
    desk.watched.wait_for_text("tasks:", "Continue? [y/N]");
    for words in [
        &["send", "build", "hello"][..],
        &["send", "--when-ready", "build", "hello"],
        &["answer", "build", "y"],
        &["inspect", "build"],
    ] {
        let (code, said) = fleetwatch(words);
        assert_eq!(code, Some(1), "{words:?}: {said}");
        assert!(said.starts_with("error: build is a task; no agent runs in it\nhint: `fleetwatch keys build y Enter`"));
    }
    let (code, said) = fleetwatch(&["explain", "build"]);
    assert!(code == Some(0) && said.contains("it asks: Continue? [y/N]"), "{said}");
    assert_eq!(fleetwatch(&["keys", "build", "n", ";", "Space", "é", "Enter"]), (Some(0), "accepted\n".to_owned()));
    desk.watched.wait_for_text("tasks:", "first n; é");
    // Only the pane that was meant, and only as long as its program runs.
    desk.watched.run(&["copy-mode", "-t", "tasks:"]);
    let (code, said) = fleetwatch(&["keys", "build", "x"]);
    assert!(code == Some(1) && said.contains("refused: the pane is in copy mode"), "{said}");
    desk.watched.run(&["send-keys", "-t", "tasks:", "-X", "cancel"]);
    assert_eq!(fleetwatch(&["keys", "build", "C-c"]).0, Some(0));
    wait_until("the end", || {
        desk.watched.run(&["display-message", "-p", "-t", "tasks:", "#{pane_dead}"]).trim() == "1"
    });
    let (code, said) = fleetwatch(&["keys", "build", "x"]);
    assert!(code == Some(1) && said.contains("refused: the program in the pane has ended"), "{said}");
}

#[test]
fn a_session_is_chosen_to_be_one_of_tasks_and_let_go_by_the_same_keys() {
    let desk = Desk::with_parrot();
    desk.watched.new_session("mine", &["sleep", "4711"]);
    desk.watched.run(&["rename-window", "-t", "mine:", "server"]);
    let hooks = || desk.watched.run(&["show-hooks", "-t", "mine:"]);
    let before = hooks();
    desk.open();
    let choose = |question: &str| {
        desk.press("T");
        desk.wait("task sessions");
        desk.type_text("mine");
        desk.press("Enter");
        desk.wait(question);
        desk.press("y");
        desk.wait_without(question);
    };
    choose("treat mine as tasks?");
    desk.wait("mine is a task session now");
    desk.wait("▶ server");
    wait_until("the counter", || hooks().contains("@fleetwatch_bells"));
    // The next dashboard knows it, too.
    desk.press("q");
    desk.expect_restored();
    assert_eq!(hooks(), before);
    desk.open();
    desk.wait("▶ server");
    choose("stop treating mine as tasks?");
    desk.wait_without("▶ server");
    wait_until("the session to be as it was", || hooks() == before);
    desk.press("T");
    desk.wait("task sessions");
    desk.press("Escape");
    desk.wait_without("task sessions");
    desk.press("q");
    desk.expect_restored();
}
