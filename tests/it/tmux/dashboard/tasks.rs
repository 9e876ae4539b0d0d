//! Tasks in the dashboard: seen, ended after a question, run again, removed; and nothing of it stays in tmux.

use super::World;
use crate::support::private_tmux::{signal, wait_until};

impl World {
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
    let world = World::with_parrot();
    world.run_task("build", &["sleep", "4711"]);
    world.open();
    world.wait("▶ build");
    let server = world.watched.server_pid().unwrap();
    let row = || world.screen().lines().find(|line| line.contains(" build ")).unwrap_or_default().to_owned();
    signal("STOP", server);
    wait_until("the task to be out of reach", || row().contains("! build") && row().contains("error"));
    assert!(!row().contains("running"), "{}", world.screen());
    signal("CONT", server);
    wait_until("the task to run on", || row().contains("▶ build") && row().contains("running"));
    world.watched.run(&["kill-server"]);
    wait_until("the task to be gone", || row().contains("○ build") && row().contains("gone"));
    assert!(!row().contains("running"), "{}", world.screen());
    // Nothing can be done to it, and it stays for as long as its server is not back.
    world.press("End");
    world.run_command("kill the task");
    world.wait("build is gone with its tmux server");
    world.watched.new_session("other", &["cat"]);
    // What happened to it stays in the log.
    world.wait("No agents found");
    assert!(row().contains("build") && world.screen().contains("─ log ─"), "{}", world.screen());
    world.quit();
}

#[test]
fn a_task_is_ended_run_again_and_removed_by_keys() {
    let world = World::with_parrot();
    world.run_task("build", &["sleep", "4711"]);
    world.run_task("test", &["sh", "-c", "echo two failed; read x; exit 101"]);
    let end = || {
        // tmux may lose what a program prints that ends at once.
        world.watched.wait_for_text("tasks:=test", "two failed");
        world.watched.run(&["send-keys", "-t", "tasks:=test", "Enter"]);
    };
    end();
    world.open();
    world.wait("▶ build");
    world.wait("exited 101");
    world.wait("tasks from before: 1 in tasks");
    wait_until("the counter", || world.hooks().contains("@fleetwatch_bells"));
    // The failed test comes first.
    world.press("Home");
    world.wait("two failed");
    world.run_command("copy the name");
    world.wait("copy to");
    world.press("n");
    world.wait("clipboard: the name, 4 characters");
    let ended = || world.watched.run(&["list-panes", "-s", "-t", "tasks:", "-F", "#{window_name} #{pane_dead_time}"]);
    let before = ended();
    world.run_command("run the selected");
    world.wait("run test again?");
    world.press("Escape");
    world.wait_without("run test again?");
    assert_eq!(ended(), before, "nothing was run again");
    world.run_command("run the selected");
    world.wait("run test again?");
    world.confirm();
    world.wait("test runs again");
    end();
    world.type_text("/build");
    world.press("Enter");
    world.run_command("kill the task");
    world.wait("kill build?");
    world.press("Escape");
    world.wait_without("kill build?");
    world.run_command("kill the task");
    world.wait("kill build?");
    world.confirm();
    world.wait("build was killed");
    world.press("Escape");
    world.wait("disappeared: killed");
    world.run_command("remove all tasks");
    world.wait("remove test?");
    world.confirm();
    wait_until("the last window to be removed", || {
        !world.watched.output(&["has-session", "-t", "=tasks"]).status.success()
    });
    world.quit();
}

#[test]
fn what_was_left_is_offered_for_removal() {
    let world = World::with_parrot();
    world.run_task("old", &["true"]);
    wait_until("its end", || world.watched.run(&["list-panes", "-t", "tasks:", "-F", "#{pane_dead}"]).trim() == "1");
    // Its end has been reported before, so that it is a leftover.
    world.watched.run(&["set-option", "-w", "-t", "tasks:", "@fleetwatch_told", "1"]);
    world.open();
    world.wait("tasks from before: 1 ended in tasks");
    world.run_command("remove all tasks");
    world.wait("remove old?");
    world.press("Escape");
    world.wait_without("remove old?");
    world.run_command("remove all tasks");
    world.wait("remove old?");
    world.confirm();
    wait_until("the last window to be removed", || {
        !world.watched.output(&["has-session", "-t", "=tasks"]).status.success()
    });
    world.quit();
}

#[test]
fn what_happens_to_tasks_is_shown_wherever_the_operator_looks() {
    let world = World::with_parrot();
    world.run_task("first", &["sleep", "4711"]);
    world.open();
    world.wait("▶ first");
    // Neither the table nor the log is to be seen here.
    world.press("Home");
    world.press("d");
    world.wait("what happened  ");
    world.run_task("build", &["sh", "-c", "read answer; exit $answer"]);
    world.wait("build started");
    world.watched.run(&["send-keys", "-t", "tasks:=build", "7", "Enter"]);
    world.wait("build exited with code 7");
    world.press("Escape");
    world.wait_without("what happened");
    world.quit();
}

#[test]
fn a_dashboard_that_is_terminated_takes_its_counter_back() {
    let world = World::with_parrot();
    // `run` has the bells of the session that it makes counted from its first moment.
    world.run_task("build", &["sleep", "4711"]);
    world.open();
    world.wait("▶ build");
    wait_until("the counter", || world.hooks().contains("@fleetwatch_bells"));
    signal("TERM", world.dashboard_pid());
    world.expect_restored();
    assert!(!world.hooks().contains("@fleetwatch_bells"), "{}", world.hooks());
}

#[test]
fn a_task_session_that_is_taken_out_of_the_configuration_is_as_it_was_at_once() {
    let world = World::with_parrot();
    world.watched.new_session("builds", &["sleep", "4711"]);
    world.watched.run(&["rename-window", "-t", "builds:", "server"]);
    let config = world.directory.path().join("fleetwatch/config.toml");
    std::fs::write(&config, "[[task]]\nsession = \"builds\"\n").unwrap();
    let set = || {
        let hooks = world.watched.run(&["show-hooks", "-t", "builds:"]);
        hooks + &world.watched.run(&["show-options", "-w", "-t", "builds:"])
    };
    let before = set();
    world.open();
    world.wait("▶ server");
    wait_until("the counter", || set().contains("@fleetwatch_bells") && set().contains("remain-on-exit"));
    std::fs::write(&config, "").unwrap();
    world.press("C-r");
    world.wait("configuration reloaded");
    wait_until("the session to be as it was", || set() == before);
    world.wait_without("▶ server");
    world.quit();
}

/// A build that asks three times, the last time for something that nobody else may see.
const ASKING: &str = "read -r -p 'Continue? [y/N] ' a; echo \"first $a\"; read -r -p 'Name: ' b; echo \"second $b\"; \
                      read -r -s -p 'Password: ' c; echo; echo \"third ${#c} letters\"; sleep 4711";

#[test]
fn a_task_that_asks_is_answered_in_place_and_what_is_typed_is_nowhere_kept() {
    let world = World::with_parrot();
    world.run_task("build", &["bash", "-c", ASKING]);
    let log = world.directory.path().join("log");
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    world.type_text(&format!("clear; {program} --log '{}' -L {}", log.display(), world.watched.name()));
    world.press("Enter");
    world.wait("1 needs you");
    world.press("Tab");
    world.wait("enter answer");
    world.press("i");
    world.wait("build is a task, not an agent; r sends every key there");
    world.press("Escape");
    world.wait_without("is a task, not an agent");
    world.press("Enter");
    world.wait("answer to build");
    world.wait("sends: enter alone");
    assert!(!world.watched.screen("tasks:").contains("first"), "{}", world.watched.screen("tasks:"));
    // Nothing goes there before Enter, and Esc leaves it as it was.
    world.type_text("no");
    world.wait("sends: no, then enter");
    world.press("Escape");
    world.wait_without("answer to build");
    assert!(world.watched.screen("tasks:").trim_end().ends_with("[y/N]"), "{}", world.watched.screen("tasks:"));
    world.press("Enter");
    world.wait("sends: enter alone");
    world.type_text("y");
    world.wait("sends: y, then enter");
    world.press("Enter");
    world.watched.wait_for_text("tasks:", "first y");
    world.wait("build was answered: y, then enter");
    world.wait("enter answer");
    world.press("Enter");
    world.wait("sends: enter alone");
    world.type_text("q; ünï");
    world.wait("sends: q; ünï, then enter");
    world.press("Enter");
    world.watched.wait_for_text("tasks:", "second q; ünï");
    world.wait_without("answer to build");
    world.wait("enter answer");
    world.press("Enter");
    world.wait("sends: enter alone");
    world.type_text("hunter2");
    world.wait("answer: *******");
    world.wait("sends: 7 characters, then enter");
    assert!(!world.screen().contains("hunt"), "{}", world.screen());
    world.press("Enter");
    world.watched.wait_for_text("tasks:", "third 7 letters");
    world.wait("build was answered: 7 characters, then enter");
    world.wait_without("build was answered");
    world.press("r");
    world.wait("type into build?");
    world.confirm();
    world.wait("every key goes to build; ctrl-] leaves");
    world.wait("third 7 letters");
    world.press("C-c");
    world.wait("build has ended");
    world.press("Escape");
    world.wait("exited 130");
    world.press("r");
    world.wait("build has ended");
    world.press("Escape");
    world.wait_without("build has ended");
    world.quit();
    wait_until("the keys in the history", || world.history().contains(r#""keys":["(text)""#));
    let state = world.directory.path().join("state/fleetwatch");
    let mut kept = vec![std::fs::read(&log).unwrap()];
    kept.extend(std::fs::read_dir(state).unwrap().filter_map(|file| std::fs::read(file.unwrap().path()).ok()));
    let kept: Vec<String> = kept.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    assert!(kept.iter().all(|text| !text.contains("hunter2") && !text.contains(r#"["h""#)), "{kept:?}");
}

#[test]
fn tasks_take_keys_on_the_command_line_and_say_what_they_are_elsewhere() {
    let world = World::with_parrot();
    world.run_task("build", &["bash", "-c", ASKING]);
    let fleetwatch = |words: &[&str]| world.fleetwatch(words);
    world.watched.wait_for_text("tasks:", "Continue? [y/N]");
    for words in
        [&["send", "build", "hello"][..], &["send", "--when-ready", "build", "hello"], &["answer", "build", "y"]]
    {
        let (code, said) = fleetwatch(words);
        assert_eq!(code, Some(1), "{words:?}: {said}");
        assert!(said.starts_with("error: build is a task; no agent runs in it\nhint: `fleetwatch keys build y Enter`"));
    }
    let (code, said) = fleetwatch(&["explain", "build"]);
    assert!(code == Some(0) && said.contains("it asks: Continue? [y/N]"), "{said}");
    assert_eq!(fleetwatch(&["keys", "build", "n", ";", "Space", "é", "Enter"]), (Some(0), "accepted\n".to_owned()));
    world.watched.wait_for_text("tasks:", "first n; é");
    // Only the pane that was meant, and only as long as its program runs.
    world.watched.run(&["copy-mode", "-t", "tasks:"]);
    let (code, said) = fleetwatch(&["keys", "build", "x"]);
    assert!(code == Some(1) && said.contains("refused: the pane is in copy mode"), "{said}");
    world.watched.run(&["send-keys", "-t", "tasks:", "-X", "cancel"]);
    assert_eq!(fleetwatch(&["keys", "build", "C-c"]).0, Some(0));
    wait_until("the end", || {
        world.watched.run(&["display-message", "-p", "-t", "tasks:", "#{pane_dead}"]).trim() == "1"
    });
    let (code, said) = fleetwatch(&["keys", "build", "x"]);
    assert!(code == Some(1) && said.contains("refused: the program in the pane has ended"), "{said}");
}

#[test]
fn a_session_is_chosen_to_be_one_of_tasks_and_let_go_by_the_same_keys() {
    let world = World::with_parrot();
    world.watched.new_session("mine", &["sleep", "4711"]);
    world.watched.run(&["rename-window", "-t", "mine:", "server"]);
    let hooks = || world.watched.run(&["show-hooks", "-t", "mine:"]);
    let before = hooks();
    world.open();
    let choose = |question: &str| {
        world.run_command("task sessions");
        world.wait("task sessions");
        world.type_text("mine");
        world.press("Enter");
        world.wait(question);
        world.confirm();
        world.wait_without(question);
    };
    choose("treat mine as tasks?");
    world.wait("mine is a task session now");
    world.wait("▶ server");
    wait_until("the counter", || hooks().contains("@fleetwatch_bells"));
    // The next dashboard knows it, too.
    world.quit();
    assert_eq!(hooks(), before);
    world.open();
    world.wait("▶ server");
    choose("stop treating mine as tasks?");
    world.wait_without("▶ server");
    wait_until("the session to be as it was", || hooks() == before);
    world.run_command("task sessions");
    world.wait("task sessions");
    world.press("Escape");
    world.wait_without("task sessions");
    world.quit();
}
