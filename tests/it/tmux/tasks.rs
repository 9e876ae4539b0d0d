//! Tasks end to end: the program itself, real tmux servers, and what is reported of what happens in their windows.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use crate::support::private_tmux::{PrivateTmux, pass, signal, wait_or_tell, wait_until};
use fleetwatch::ids::{ServerInstance, SessionId, TerminalKey, WindowId};
use fleetwatch::tmux::Counting;
use serde_json::Value;

/// A program that rings its bell for each line that it gets.
const BELL: &str = "while read x; do printf '\\a'; done";

/// A server of the test's own, and `fleetwatch` with a home of its own.
struct World {
    tmux: PrivateTmux,
    home: tempfile::TempDir,
}

impl World {
    /// No server runs yet.
    fn new(config: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        Self { tmux: PrivateTmux::unstarted(), home }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        command.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null());
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, self.home.path());
        }
        command.arg("-L").arg(self.tmux.name()).arg("--config").arg(self.home.path().join("config.toml"));
        command.args(words).current_dir(self.home.path());
        command
    }

    fn output(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs a command that must succeed; gives what it printed.
    fn run(&self, words: &[&str]) -> String {
        let output = self.output(words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a command that must say no; gives what it said.
    fn refused(&self, code: i32, words: &[&str]) -> String {
        let output = self.output(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Starts a shell script as a task.
    fn task(&self, name: &str, script: &str) {
        self.run(&["run", name, "--", "sh", "-c", script]);
    }

    fn watch(&self) -> Watch {
        let mut child = self.command(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (reader, kept) = (BufReader::new(child.stdout.take().unwrap()), Arc::clone(&lines));
        std::thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                kept.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Watch { child, lines }
    }

    /// Watches sessions that are there; returns when their bells are counted.
    fn watch_counting(&self, session: &str) -> Watch {
        let watch = self.watch();
        let owner = format!("={}@", watch.child.id());
        wait_until("the counter", || {
            let watchers = ["show-options", "-qv", "-t", &format!("{session}:"), "@fleetwatch_watchers"];
            String::from_utf8_lossy(&self.tmux.output(&watchers).stdout).contains(&owner)
        });
        watch
    }

    /// What the counter of a window says.
    fn bells(&self, window: &str) -> String {
        self.tmux.run(&["show-options", "-wqv", "-t", window, "@fleetwatch_bells"]).trim().to_owned()
    }

    /// Presses Enter in a task so many times, after which its bell rings: each time it is waited for, as tmux takes bells
    /// that ring at the same moment for one.
    fn ring(&self, window: &str, times: u32) {
        let bells = || self.bells(window).parse::<u32>().unwrap_or_default();
        for _ in 0..times {
            let before = bells();
            self.press_enter(window);
            wait_until("the bell", || bells() == before + 1);
        }
    }

    fn press_enter(&self, window: &str) {
        self.tmux.run(&["send-keys", "-t", window, "Enter"]);
    }

    /// Everything in the server that fleetwatch could have changed.
    fn settings(&self) -> String {
        let mut all = String::new();
        for words in [
            &["show-hooks", "-g"][..],
            &["show-options", "-g"],
            &["show-options", "-gw"],
            &["list-sessions", "-F", "#{session_id} #{session_name}"],
        ] {
            all.push_str(&self.tmux.run(words));
        }
        for session in self.tmux.run(&["list-sessions", "-F", "#{session_id}"]).lines() {
            all.push_str(&self.tmux.run(&["show-hooks", "-t", session]));
            all.push_str(&self.tmux.run(&["show-options", "-t", session]));
        }
        for window in self.tmux.run(&["list-windows", "-a", "-F", "#{window_id}"]).lines() {
            all.push_str(&self.tmux.run(&["show-options", "-w", "-t", window]));
        }
        all
    }
}

/// A running `fleetwatch watch --json`, and all that it has printed.
struct Watch {
    child: Child,
    lines: Arc<Mutex<Vec<Value>>>,
}

impl Watch {
    /// What was reported of a task: `exited 3`, `notify 5`, `input Password:`.
    fn events(&self, task: &str) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let of_task = lines.iter().filter(|line| line["kind"] == "task_event" && line["terminal"] == task);
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        of_task
            .map(|line| {
                let details = ["bells", "exit_code", "prompt", "reason"].iter().filter_map(|name| line.get(name));
                [word(&line["event"])].into_iter().chain(details.map(word)).collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    /// Waits until all of that was reported of a task, in this order, and nothing else.
    fn tells(&self, task: &str, events: &[&str]) {
        self.wait_for(events, || self.events(task));
    }

    /// The same of a task that may end before the first poll of it, so that nobody sees it start.
    fn tells_the_end(&self, task: &str, events: &[&str]) {
        self.wait_for(events, || self.events(task).into_iter().filter(|event| event != "started").collect());
    }

    fn wait_for(&self, wanted: &[&str], reported: impl Fn() -> Vec<String>) {
        wait_or_tell(&format!("{wanted:?}"), || reported() == wanted, || format!("{:?}", reported()));
    }

    fn has_seen(&self, task: &str) {
        let seen = || self.lines.lock().unwrap().iter().any(|line| line["terminal"] == task);
        wait_until(&format!("a line of {task}"), seen);
    }

    fn end(mut self) {
        signal("TERM", self.child.id());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ends_are_reported_with_their_codes_however_short_a_task_lives() {
    let world = World::new("");
    world.task("first", "exec sleep 100");
    world.task("early", "exit 7");
    let watch = world.watch();
    watch.has_seen("first");
    // It has ended before the first poll, and is reported all the same.
    watch.tells_the_end("early", &["exited 7"]);
    world.task("good", "exit 0");
    world.task("bad", "sleep 0.6; exit 3");
    world.task("short", "sleep 0.05; exit 9");
    world.task("killed", "kill -9 $$");
    watch.tells_the_end("good", &["exited 0"]);
    watch.tells_the_end("short", &["exited 9"]);
    watch.tells_the_end("bad", &["exited 3"]);
    watch.tells_the_end("killed", &["exited 137"]);
    watch.tells("first", &[]);
    // Whoever watches later finds it ended, and it does not end once more.
    let marked = || world.tmux.run(&["show-options", "-wqv", "-t", "tasks:=early", "@fleetwatch_told"]);
    wait_until("the mark", || marked().contains('1'));
    watch.end();
    let later = world.watch();
    later.has_seen("early");
    world.task("last", "exit 1");
    later.tells_the_end("last", &["exited 1"]);
    later.tells("early", &[]);
}

#[test]
fn the_output_of_a_task_that_has_ended_is_shown_from_its_first_row() {
    let world = World::new("");
    // tmux may lose what a program prints that ends at once.
    world.task("short", "echo first; read x; exit 3");
    world.task("full", "for i in $(seq 1 40); do printf '\\nrow %s' $i; done; read x");
    let preview = |task: &str, last: &str| {
        let window = format!("tasks:={task}");
        world.tmux.wait_for_text(&window, last);
        world.press_enter(&window);
        world.run(&["wait", task, "--for", "exited", "--timeout", "60"]);
        let listed: Value = serde_json::from_str(&world.run(&["tasks", "list", "--json"])).unwrap();
        let fields = listed.as_array().unwrap().iter().find(|fields| fields["id"] == task).unwrap().clone();
        fields["preview"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(preview("short", "first"), ["first"]);
    // tmux's own row is there, and is not shown.
    world.tmux.wait_for_text("tasks:=short", "Pane is dead");
    let full = preview("full", "row 40");
    assert_eq!((full.len(), full[0].as_str(), full[19].as_str()), (20, "row 21", "row 40"));
}

#[test]
fn bells_are_counted_between_polls() {
    let world = World::new("");
    world.task("first", "exec sleep 100");
    let watch = world.watch_counting("tasks");
    world.task("loud", BELL);
    world.ring("tasks:=loud", 5);
    let rung = |events: &[String]| {
        events.iter().filter_map(|event| event.strip_prefix("notify ")?.parse::<u32>().ok()).sum::<u32>()
    };
    wait_until("five bells", || rung(&watch.events("loud")) == 5);
    world.task("dying", "read x; printf '\\a'; read x; exit 2");
    watch.has_seen("dying");
    signal("STOP", watch.child.id());
    world.ring("tasks:=dying", 1);
    world.press_enter("tasks:=dying");
    let ended = ["list-panes", "-t", "tasks:=dying", "-F", "#{pane_dead} #{@fleetwatch_bells}"];
    wait_until("the bell and the end", || world.tmux.run(&ended).trim() == "1 1");
    signal("CONT", watch.child.id());
    watch.tells_the_end("dying", &["exited 1 2"]);
    assert_eq!(rung(&watch.events("loud")), 5);
}

#[tokio::test]
async fn nothing_is_set_in_a_server_that_took_the_place_of_the_one_that_was_seen() {
    let tmux = PrivateTmux::start(&["cat"]);
    let poll = tmux.server().poll(&[]).await.unwrap();
    let session = SessionId(poll.panes[0].session_id);
    let counting = |instance| Counting { instance, session, windows: &[], owner: "1@here", gone: &[] };
    let other = ServerInstance::new("1.2");
    tmux.server().count_bells(&counting(&other)).await.unwrap();
    assert!(tmux.server().traces().await.unwrap().is_empty());
    tmux.server().count_bells(&counting(&poll.instance)).await.unwrap();
    assert!(tmux.server().traces().await.unwrap()[&session].hook);
    let (key, window) = (tmux.key_of("main:"), WindowId(poll.panes[0].window_id));
    let reported =
        || tmux.run(&["show-options", "-w", "-t", "main:"]).lines().filter(|line| line.contains("told")).count();
    let other = TerminalKey { pid: key.pid + 1, ..key.clone() };
    tmux.server().ends_were_reported(&[(other, window)]).await.unwrap();
    assert_eq!(reported(), 0);
    tmux.server().ends_were_reported(&[(key, window)]).await.unwrap();
    assert_eq!(reported(), 1);
}

#[test]
fn bells_that_ring_between_two_polls_are_one_message() {
    let world = World::new("");
    world.task("loud", BELL);
    let watch = world.watch_counting("tasks");
    watch.has_seen("loud");
    world.ring("tasks:=loud", 1);
    watch.tells("loud", &["notify 1"]);
    signal("STOP", watch.child.id());
    world.ring("tasks:=loud", 5);
    signal("CONT", watch.child.id());
    watch.tells("loud", &["notify 1", "notify 5"]);
}

#[test]
fn the_first_pane_stands_for_its_window() {
    let world = World::new("");
    world.task("first", "exec sleep 100");
    world.task("build", "exec sleep 100");
    let watch = world.watch();
    watch.has_seen("build");
    let second = world.tmux.run(&["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "tasks:=build", "sh"]);
    // What happens in the second pane is not the task's.
    world.tmux.run(&[
        "send-keys",
        "-t",
        second.trim(),
        "printf 'Proceed? [y/N] '; read x; exit 7",
        "Enter",
        "y",
        "Enter",
    ]);
    wait_until("the second pane to end", || {
        world.tmux.run(&["list-panes", "-t", "tasks:=build", "-F", "#{pane_dead}"]).contains('1')
    });
    // The next one stands for it when the first is gone, and that is no new task.
    world.tmux.run(&["respawn-pane", "-t", second.trim(), "sleep", "100"]);
    world.tmux.run(&["kill-pane", "-t", "tasks:=build.0"]);
    world.task("clock", "sleep 2");
    watch.tells_the_end("clock", &["exited 0"]);
    let listed: Value = serde_json::from_str(&world.run(&["tasks", "list", "--json"])).unwrap();
    let build = listed.as_array().unwrap().iter().find(|task| task["id"] == "build").unwrap().clone();
    assert_eq!((build["pane"].as_str(), build["status"].as_str()), (Some(second.trim()), Some("running")), "{build}");
    assert!(watch.events("build").iter().all(|event| event != "started"), "{:?}", watch.events("build"));
}

#[test]
fn prompts_are_reported_once_while_they_stay() {
    let world = World::new("");
    world.task("first", "exec sleep 100");
    let watch = world.watch();
    watch.has_seen("first");
    let bash = |name: &str, script: &str| world.run(&["run", name, "--", "bash", "-c", script]);
    bash("ask", "read -p 'Proceed? [y/N] ' x; echo got $x; exec sleep 100");
    bash("secret", "read -s -p 'Password: ' x; exec sleep 100");
    bash("menu", "select x in staging production; do break; done; exec sleep 100");
    bash("talk", "echo 'Proceed? [y/N] is what it will ask'; exec sleep 100");
    bash("name", "read -p 'Name of the branch: ' x; exec sleep 100");
    // One poll shows no prompt; these commands poll as often as it takes.
    for words in [&["list", "--json"][..], &["tasks", "list", "--json"]] {
        wait_until("the prompts in a list", || {
            let listed: Value = serde_json::from_str(&world.run(words)).unwrap();
            let status = |name: &str| {
                // What was started a moment ago may not be known yet.
                let task = listed.as_array().unwrap().iter().find(|task| task["id"] == name);
                let field = |field: &str| task.and_then(|task| task[field].as_str()).unwrap_or_default().to_owned();
                (field("status"), field("prompt"))
            };
            let waits = |prompt: &str| ("waiting_input".to_owned(), prompt.to_owned());
            status("ask") == waits("Proceed? [y/N]")
                && status("secret") == waits("Password:")
                && status("menu") == waits("#?")
                && status("name") == waits("Name of the branch:")
                && status("talk").0 == "running"
        });
    }
    let table = world.run(&["tasks"]);
    assert!(table.contains("  asks  ") && table.contains("Name of the branch:"), "{table}");
    watch.tells("ask", &["started", "input Proceed? [y/N]"]);
    watch.tells("secret", &["started", "input Password:"]);
    watch.tells("menu", &["started", "input #?"]);
    assert_eq!(world.run(&["wait", "ask", "--for", "input", "--timeout", "60"]), "ask: asks\n");
    wait_until("the status line to count them", || world.run(&["status"]).contains("4 need you"));
    for (window, answer) in [("ask", "y"), ("secret", "x"), ("menu", "1")] {
        world.tmux.run(&["send-keys", "-t", &format!("tasks:={window}"), answer, "Enter"]);
    }
    // Time goes by in which nothing may be reported again: as long as a task of its own takes.
    world.task("clock", "sleep 2");
    watch.tells_the_end("clock", &["exited 0"]);
    watch.tells("ask", &["started", "input Proceed? [y/N]"]);
    watch.tells("secret", &["started", "input Password:"]);
    watch.tells("menu", &["started", "input #?"]);
    watch.tells("talk", &["started"]);
}

#[test]
fn a_window_that_is_replaced_within_a_poll_is_another_task() {
    let world = World::new("[watch]\ntick_ms = 2000\nfastest_tick_ms = 2000\nslowest_tick_ms = 2000\n");
    world.task("first", "exec sleep 100");
    world.task("build", "exec sleep 100");
    let watch = world.watch();
    watch.has_seen("build");
    world.tmux.run(&["kill-window", "-t", "tasks:=build"]);
    world.task("build", "exec sleep 100");
    watch.tells("build", &["disappeared null", "started"]);
}

#[test]
fn a_session_is_adopted_and_let_go() {
    let world = World::new("");
    world.tmux.new_session("mine", &["sleep", "100"]);
    world.tmux.run(&["rename-window", "-t", "mine:", "server"]);
    assert_eq!(world.run(&["tasks"]), "");
    assert_eq!(world.run(&["tasks", "adopt", "mine"]), "the windows of mine are tasks now\n");
    assert_eq!(world.run(&["tasks", "adopt", "mine"]), "the windows of mine are tasks already\n");
    let listed = world.run(&["tasks"]);
    assert!(listed.contains("\nserver  ") && listed.contains("  running  "), "{listed}");
    let undone = world.run(&["tasks", "adopt", "mine", "--undo", "--json"]);
    assert_eq!(undone, "{\"session\":\"mine\",\"host\":null,\"adopted\":false}\n");
    let again = world.run(&["tasks", "adopt", "mine", "--undo"]);
    assert_eq!(again, "the windows of mine are not adopted, so there is nothing to undo\n");
    assert_eq!(world.run(&["tasks"]), "");
    assert_eq!(world.run(&["tasks", "prune", "--json"]), "[]\n");
    assert!(world.refused(1, &["tasks", "adopt", "yours"]).contains("there is no session yours"));
}

#[test]
fn a_session_that_was_chosen_stays_one_of_tasks_when_it_is_made_anew() {
    let world = World::new("");
    world.tmux.new_session("else", &["sleep", "100"]);
    world.tmux.new_session("mine", &["sleep", "100"]);
    world.tmux.run(&["rename-window", "-t", "mine:", "server"]);
    world.run(&["tasks", "adopt", "mine"]);
    // It is nowhere but in fleetwatch's own files: neither in the configuration nor in tmux.
    assert!(!world.settings().contains("@fleetwatch"), "{}", world.settings());
    assert_eq!(std::fs::read_to_string(world.home.path().join("config.toml")).unwrap(), "");
    assert!(world.run(&["doctor"]).contains("session mine is a task session by your choice"));
    world.tmux.run(&["kill-session", "-t", "mine"]);
    world.tmux.new_session("mine", &["sleep", "100"]);
    world.tmux.run(&["rename-window", "-t", "mine:", "again"]);
    assert!(world.run(&["list"]).contains("again"), "{}", world.run(&["list"]));
    world.tmux.run(&["kill-session", "-t", "mine"]);
    // Also what is not there can be taken back.
    world.run(&["tasks", "adopt", "mine", "--undo"]);
    assert!(!world.run(&["doctor"]).contains("by your choice"));
    assert!(world.refused(1, &["tasks", "adopt", "mine", "--undo"]).contains("there is no session mine"));
}

#[test]
fn what_the_configuration_or_run_declared_is_not_taken_back_by_mistake() {
    let world = World::new("[[task]]\nsession = \"builds\"\n");
    world.tmux.new_session("builds", &["sleep", "100"]);
    let refused = world.refused(1, &["tasks", "adopt", "builds", "--undo"]);
    assert!(refused.contains("the configuration makes builds a task session"), "{refused}");
    let missing = world.refused(1, &["tasks", "adopt", "nosuch"]);
    assert!(missing.contains(&format!("`tmux -L {} list-sessions`", world.tmux.name())), "{missing}");
    world.task("first", "exec sleep 100");
    world.tmux.new_window("tasks", "shell", &["sleep", "100"]);
    assert!(world.run(&["tasks"]).contains("shell"));
    world.run(&["tasks", "adopt", "tasks", "--undo"]);
    let listed = world.run(&["tasks"]);
    assert!(!listed.contains("shell") && listed.contains("first"), "{listed}");
}

#[test]
fn who_kills_a_task_through_fleetwatch_is_named_everywhere() {
    let world = World::new("");
    for name in ["first", "build", "lost", "done"] {
        world.task(name, if name == "done" { "exit 0" } else { "exec sleep 100" });
    }
    let watch = world.watch();
    watch.has_seen("lost");
    let pane = world.tmux.run(&["display-message", "-p", "-t", "tasks:=build", "#{pane_id}"]);
    let pane = pane.trim();
    let missing = world.refused(1, &["tasks", "kill", "build", "nosuch", "nobody"]);
    assert!(missing.contains("no task is called `nosuch`") && missing.contains("`nobody`"), "{missing}");
    assert!(missing.starts_with("warning: build (@"), "what stays is named: {missing}");
    assert_eq!(world.run(&["tasks", "kill", "build", "@1"]), "build (@1) killed\n", "named twice, killed once");
    assert!(!world.run(&["tasks"]).contains("build"), "the one that watches knows of it at once");
    assert_eq!(world.run(&["wait", "build", "--for", "gone"]), "build: gone\n", "the history knows it");
    assert_eq!(world.run(&["wait", pane, "--for", "gone"]), format!("{pane}: gone\n"), "by its pane as well");
    let told = world.run(&["wait", "build", "--for", "gone", "--json"]);
    assert_eq!(told, "{\"reached\":\"gone\",\"id\":\"build\",\"word\":\"gone\"}\n");
    let first = world.run(&["wait", "first", "lost", "--any", "--for", "running,gone"]);
    assert_eq!(first, "first: working (running)\n", "one is enough");
    watch.tells("build", &["disappeared killed from the command line"]);
    world.tmux.run(&["kill-window", "-t", "tasks:=lost"]);
    watch.tells("lost", &["disappeared null"]);
    world.run(&["wait", "done", "--for", "exited", "--timeout", "60"]);
    assert_eq!(world.run(&["tasks", "prune"]), "done (@3) removed\n");
    let kept = world.run(&["history", "--kind", "action"]);
    assert!(kept.contains("  you  killed build\n") && kept.ends_with("  you  removed done\n"), "{kept}");
    watch.tells_the_end("done", &["exited 0"]);
    let named = world.refused(1, &["tasks", "kill", "tasks"]);
    assert!(named.contains("no task is called `tasks`"), "the only task of a session is not the session: {named}");
    let asked = world.refused(1, &["tasks", "kill-all"]);
    assert!(asked.contains("this would kill first (running)") && asked.contains("--yes"), "{asked}");
    let asked = world.output(&["tasks", "kill-all", "--json"]);
    let told: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let refused = ["name", "window_id", "outcome", "detail"].map(|field| told[0][field].as_str().unwrap_or_default());
    assert_eq!((asked.status.code(), refused), (Some(1), ["first", "@0", "refused", "`--yes` is missing"]));
    let killed: Value = serde_json::from_str(&world.run(&["tasks", "kill-all", "--yes", "--json"])).unwrap();
    assert_eq!((&killed[0]["name"], &killed[0]["outcome"]), (&"first".into(), &"killed".into()));
    watch.tells("first", &["disappeared killed from the command line"]);
    assert!(world.refused(1, &["tasks", "kill", "nothing"]).contains("error: "), "no server is left");
}

#[test]
fn sessions_and_windows_that_come_move_and_change_their_names_make_no_events() {
    let world = World::new("[[task]]\nsession = \"builds*\"\n[[task]]\nsession = \"more\"\n");
    world.tmux.new_session("else", &["sleep", "100"]);
    let watch = world.watch();
    // The first poll of a session is its baseline, whatever is in it.
    world.tmux.new_session("builds", &["sleep", "100"]);
    world.tmux.run(&["rename-window", "-t", "builds:", "one"]);
    watch.has_seen("one");
    world.tmux.new_session("more", &["sleep", "100"]);
    world.tmux.run(&["rename-window", "-t", "more:", "two"]);
    watch.has_seen("two");
    world.tmux.new_window("builds", "moved", &["sh", "-c", "sleep 4; exit 5"]);
    watch.tells("moved", &["started"]);
    world.tmux.run(&["rename-session", "-t", "builds", "builds-2"]);
    world.tmux.run(&["move-window", "-s", "builds-2:moved", "-t", "more:"]);
    watch.tells("moved", &["started", "exited 5"]);
    world.tmux.run(&["move-window", "-s", "builds-2:one", "-t", "else:"]);
    world.tmux.new_window("more", "last", &["sleep", "100"]);
    watch.tells("last", &["started"]);
    watch.tells("one", &[]);
    watch.tells("two", &[]);
}

#[test]
fn all_that_a_task_has_printed_can_be_read() {
    let world = World::new("");
    world.run(&["run", "build", "--", "sh", "-c", "seq 1 300; printf '\\033]0;x\\007\\033[31mred\\033[0m\\n'; exit 7"]);
    world.run(&["wait", "build", "--for", "exited", "--timeout", "60"]);
    let printed = world.run(&["output", "build"]);
    let expected: String = (1..=300).map(|number| format!("{number}\n")).chain(["red\n".to_owned()]).collect();
    assert_eq!(printed, expected);
    let printed: Value = serde_json::from_str(&world.run(&["output", "build", "--json"])).unwrap();
    assert_eq!((&printed["source"], &printed["exit_code"]), (&"task".into(), &7.into()));
    world.run(&["run", "short", "--", "echo", "a"]);
    world.run(&["wait", "short", "--for", "exited", "--timeout", "60"]);
    let printed: Value = serde_json::from_str(&world.run(&["output", "short", "--json"])).unwrap();
    assert_eq!(printed["text"], "a", "without the blank rows below it");
    let forgotten = world.refused(2, &["run", "x", "ls", "-la"]);
    assert!(forgotten.contains("hint: usage: fleetwatch run [OPTIONS] <NAME> -- <COMMAND>"), "{forgotten}");
    let listed = world.run(&["tasks", "list", "is:exited"]);
    assert!(listed.starts_with("NAME   SERVER"), "{listed}");
    assert!(listed.contains("exited 7") && listed.contains("COMMAND") && !listed.contains("CONTEXT"), "{listed}");
    assert_eq!(world.run(&["tasks", "list", "is:running", "--json"]).trim_end(), "[]");
}

#[test]
fn output_says_where_tmux_has_dropped_its_beginning() {
    let world = World::new("");
    world.tmux.new_session("tasks", &["sleep", "100"]);
    world.tmux.run(&["set-option", "-g", "history-limit", "100"]);
    for (name, lines, is_cut) in [("short", "80", false), ("long", "1000", true)] {
        // tmux may lose what a program prints that ends at once.
        world.run(&["run", name, "--", "sh", "-c", &format!("seq {lines}; read x")]);
        world.tmux.wait_for_text(&format!("tasks:={name}"), lines);
        let printed = world.output(&["output", name, "--json"]);
        let object: Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!(object["truncated"], is_cut, "{name}");
        let said = String::from_utf8_lossy(&printed.stderr).into_owned();
        assert_eq!(
            said.contains("may be missing: tmux keeps at most 100 lines of long above its screen"),
            is_cut,
            "{said}"
        );
        assert_eq!(said.lines().count(), if is_cut { 2 } else { 0 }, "{said}");
        assert_eq!(object["text"].as_str().is_some_and(|text| text.starts_with("1\n")), !is_cut, "{object}");
    }
}

#[test]
fn a_task_is_run_again_in_its_window_when_it_has_ended_and_refused_while_it_runs() {
    let world = World::new("");
    let first: Value =
        serde_json::from_str(&world.run(&["run", "build", "--json", "--", "sh", "-c", "exit 3"])).unwrap();
    assert_eq!((first["window_id"].as_str(), first["again"].as_bool()), (Some("@0"), Some(false)));
    let waited = world.run(&["wait", "build", "--for", "exited", "--timeout", "60"]);
    assert_eq!(waited, "build: exited 3\n");
    // Nobody watches: each of these polls for itself, and tmux counts whole seconds.
    let dated = || {
        let listed: Value = serde_json::from_str(&world.run(&["list", "--json", "build"])).unwrap();
        let times = ["since", "since_exact", "started_at"].map(|field| listed[0][field].clone());
        assert!(times[0].as_str() >= times[2].as_str(), "{listed}");
        times
    };
    assert_eq!(dated(), dated());
    let watch = world.watch();
    watch.tells_the_end("build", &["exited 3"]);
    let again: Value = serde_json::from_str(&world.run(&["run", "build", "--json", "--", "sleep", "100"])).unwrap();
    assert_eq!((again["window_id"].as_str(), again["again"].as_bool()), (Some("@0"), Some(true)));
    watch.tells("build", &["exited 3", "started"]);
    let refused = world.refused(1, &["run", "build", "--", "true"]);
    assert!(refused.starts_with("error: task build (@0) is still running in tasks\nhint: "), "{refused}");
    assert!(world.refused(1, &["tasks", "rerun", "build"]).contains("is still running"));
    assert!(world.refused(2, &["run", "a b", "--", "true"]).contains("cannot be the name of a task"));
    assert!(world.refused(2, &["run", "x", "--session", "a:b", "--", "true"]).contains("name of a session"));
    assert!(world.refused(2, &["run", "x"]).contains("COMMAND"));
    assert!(world.refused(2, &["run", "x", "--cwd", "/nowhere/at/all", "--", "true"]).contains("/nowhere/at/all"));
    world.task("twice", "exit 4");
    watch.tells_the_end("twice", &["exited 4"]);
    let again: Value = serde_json::from_str(&world.run(&["tasks", "rerun", "twice", "--json"])).unwrap();
    assert_eq!((again["name"].as_str(), again["again"].as_bool()), (Some("twice"), Some(true)));
    watch.tells("twice", &["exited 4", "started", "exited 4"]);
    let kept = world.run(&["history", "--kind", "action"]);
    assert!(kept.ends_with("  you  ran twice again: sh -c 'exit 4'\n"), "{kept}");
    let killed: Value = serde_json::from_str(&world.run(&["tasks", "kill", "twice", "build", "--json"])).unwrap();
    let outcomes = [0, 1].map(|nth| ["name", "outcome"].map(|field| killed[nth][field].as_str().unwrap_or_default()));
    assert_eq!(outcomes, [["twice", "removed"], ["build", "killed"]], "{killed}");
}

#[test]
fn what_a_task_has_printed_is_of_its_last_run() {
    let world = World::new("");
    // tmux may lose what a program prints that ends at once.
    let output = |last: &str| {
        world.tmux.wait_for_text("tasks:=build", last);
        let printed = world.run(&["output", "build"]);
        world.tmux.run(&["send-keys", "-t", "tasks:=build", "Enter"]);
        world.run(&["wait", "build", "--for", "exited", "--timeout", "60"]);
        printed
    };
    // More than a screen, part of which tmux keeps above it.
    world.run(&["run", "build", "--", "sh", "-c", "seq 1000 1100; echo it fails; read x; exit 1"]);
    assert!(output("it fails").starts_with("1000\n1001\n"), "all of it");
    world.run(&["run", "build", "--", "sh", "-c", "echo all is well; read x"]);
    assert_eq!(output("all is well"), "all is well\n");
    world.run(&["tasks", "rerun", "build"]);
    assert_eq!(output("all is well"), "all is well\n");
    let hint = world.output(&["tasks", "list", "is:running"]);
    let hint = String::from_utf8_lossy(&hint.stderr).into_owned();
    assert!(hint.contains("tasks list` shows everything"), "{hint}");
}

#[test]
fn of_several_runs_at_once_each_name_is_started_once() {
    let world = World::new("");
    let at_once = |names: &[&str]| {
        let run = |name: &&str| {
            let mut command = world.command(&["run", name, "--", "sleep", "100"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<Child> = names.iter().map(run).collect();
        let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
        let reported = |output: Output| match output.status.code() {
            Some(0) => "started".to_owned(),
            _ => String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned(),
        };
        let mut reported: Vec<String> = outputs.map(reported).collect();
        reported.sort();
        reported
    };
    // Neither the server nor the session is there yet.
    let refused = "error: task build (@0) is still running in tasks";
    assert_eq!(at_once(&["build"; 5]), [refused, refused, refused, refused, "started"]);
    assert_eq!(at_once(&["one", "two", "three", "four"]), ["started"; 4]);
    let windows = || world.tmux.run(&["list-windows", "-t", "tasks", "-F", "#{window_name}"]).lines().count();
    assert_eq!(windows(), 5);
    let reported = at_once(&["more"; 4]);
    assert_eq!((reported.iter().filter(|line| *line == "started").count(), windows()), (1, 6), "{reported:?}");
    // The same of one that has ended, whose window is used again.
    world.run(&["run", "again", "--", "true"]);
    world.run(&["wait", "again", "--for", "exited", "--timeout", "60"]);
    let reported = at_once(&["again"; 4]);
    assert_eq!((reported.iter().filter(|line| *line == "started").count(), windows()), (1, 7), "{reported:?}");
}

#[test]
fn words_reach_the_program_as_they_are() {
    let world = World::new("");
    let words = [
        "plain",
        "two words",
        "it's",
        "\"",
        "a;",
        ";",
        "\\;",
        "$HOME",
        "`id`",
        "#{pane_id}",
        "#(id)",
        "~",
        "-x",
        "--",
        "*",
        "tab\tin",
        "line\nbreak",
        "größe 寿司 😀",
        "\\",
        "a\\",
        "%1",
        "{",
        "}",
        "#",
        "",
    ];
    let reported = world.home.path().join("told");
    let script = format!("printf '%s\\0' \"$@\" > {0}.new && mv {0}.new {0}", reported.display());
    let mut command = vec!["run", "words", "--", "sh", "-c", &script, "sh"];
    command.extend(words);
    world.run(&command);
    wait_until("the words", || reported.exists());
    let found = std::fs::read_to_string(&reported).unwrap();
    assert_eq!(found.split_terminator('\0').collect::<Vec<_>>(), words);

    // A single word is a program's name, and no command line for a shell.
    let odd = world.home.path().join("a b;$x #{q} '=");
    std::fs::write(&odd, format!("#!/bin/sh\npwd > {}.pwd\n", reported.display())).unwrap();
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&odd, mode).unwrap();
    let place = world.home.path().join("in # here");
    std::fs::create_dir(&place).unwrap();
    world.run(&["run", "odd", "--cwd", place.to_str().unwrap(), "--", odd.to_str().unwrap()]);
    assert_eq!(world.run(&["wait", "odd", "--for", "exited", "--timeout", "60"]), "odd: exited 0\n");
    let found = std::fs::read_to_string(format!("{}.pwd", reported.display())).unwrap();
    assert_eq!(found.trim_end(), place.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn everything_in_tmux_is_as_it_was_when_watching_ends() {
    let world = World::new("[[task]]\nsession = \"builds\"\n[[task]]\nsession = \"own\"\n");
    world.tmux.new_session("builds", &["sleep", "100"]);
    world.tmux.new_session("own", &["sleep", "100"]);
    world.tmux.new_session("else", &["sleep", "100"]);
    world.tmux.run(&["set-hook", "-g", "alert-bell", "set-option -g @global yes"]);
    world.tmux.run(&["set-hook", "-t", "own", "alert-bell[3]", "set-option -g @own \"y #{q:window_name}\""]);
    world.tmux.run(&["set-option", "-w", "-t", "own:", "remain-on-exit", "off"]);
    let before = world.settings();
    let watch = world.watch_counting("builds");
    let loud = "printf '\\a'; exec sleep 100";
    world.tmux.new_window("builds", "loud", &["sh", "-c", loud]);
    watch.tells("loud", &["started", "notify 1"]);
    // The user's hook has run as well.
    wait_until("the user's own hook", || world.tmux.run(&["show-options", "-g"]).contains("@global yes"));
    let second = world.watch();
    second.has_seen("loud");
    assert!(world.run(&["doctor"]).contains("bells are counted"), "{}", world.run(&["doctor"]));
    watch.end();
    let counts = || world.tmux.run(&["show-hooks", "-t", "own"]).contains("alert-bell[7070]");
    wait_until("the other one to count", counts);
    second.end();
    world.tmux.run(&["kill-window", "-t", "builds:=loud"]);
    world.tmux.run(&["set-option", "-gu", "@global"]);
    assert_eq!(world.settings(), before);
}

#[test]
fn a_session_that_is_no_longer_one_of_tasks_is_as_it_was_at_once() {
    let world = World::new("");
    world.tmux.new_session("mine", &["sleep", "100"]);
    world.tmux.new_window("mine", "second", &["sleep", "100"]);
    world.tmux.new_session("else", &["sleep", "100"]);
    let before = world.settings();
    world.run(&["tasks", "adopt", "mine"]);
    let watch = world.watch_counting("mine");
    // A window that leaves the session keeps nothing of it either.
    let remains = |window: &str| world.tmux.run(&["show-options", "-w", "-t", window]).contains("remain");
    wait_until("the window to keep its program", || remains("mine:second"));
    world.tmux.run(&["move-window", "-s", "mine:second", "-t", "else:"]);
    wait_until("the moved window to be as it was", || !remains("else:second"));
    world.tmux.run(&["move-window", "-s", "else:second", "-t", "mine:"]);
    world.run(&["tasks", "adopt", "mine", "--undo"]);
    wait_until("the session to be as it was", || world.settings() == before);
    watch.end();
    assert_eq!(world.settings(), before);
    // What a killed process left there goes as well.
    world.run(&["tasks", "adopt", "mine"]);
    let mut killed = world.watch_counting("mine");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    world.run(&["tasks", "adopt", "mine", "--undo"]);
    assert_ne!(world.settings(), before, "there is something to find");
    let watch = world.watch();
    wait_until("what was left to be taken back", || world.settings() == before);
    watch.end();
}

#[test]
fn what_is_set_for_a_program_by_another_name_is_no_leftover() {
    let world = World::new("");
    world.task("build", "sleep 4711");
    let other = world.home.path().join("fw");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetwatch"), &other).unwrap();
    let own = world.command(&["watch", "--json"]);
    let mut command = Command::new(other);
    command.args(own.get_args()).stdin(Stdio::null()).stdout(Stdio::null());
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command.env_remove("TMUX").env_remove("TMUX_PANE").spawn().unwrap();
    let watchers = || world.tmux.run(&["show-options", "-qv", "-t", "tasks:", "@fleetwatch_watchers"]);
    wait_until("the counter", || watchers().contains(&format!("={}@", child.id())));
    let found = String::from_utf8_lossy(&world.output(&["doctor"]).stdout).into_owned();
    assert!(found.contains("for a running fleetwatch") && !found.contains("a process that is gone"), "{found}");
    signal("TERM", child.id());
    child.wait().unwrap();
}

#[test]
fn what_a_killed_process_left_is_shown_removed_and_mended() {
    let world = World::new("[[task]]\nsession = \"builds\"\n");
    world.tmux.new_session("builds", &["sleep", "100"]);
    world.tmux.run(&["set-hook", "-g", "alert-bell", "set-option -g @global yes"]);
    let before = world.settings();
    let kill = || {
        let mut watch = world.watch_counting("builds");
        watch.child.kill().unwrap();
        watch.child.wait().unwrap();
        assert_ne!(world.settings(), before, "there is something to find");
    };
    kill();
    let said = world.run(&["doctor"]);
    assert!(said.contains("left by a process that is gone") && said.contains("doctor --clean"), "{said}");
    assert!(world.run(&["doctor", "--clean"]).contains("removed"));
    assert_eq!(world.settings(), before);
    kill();
    world.watch_counting("builds").end();
    assert_eq!(world.settings(), before, "the next one mends it");
}

/// These windows keep their programs because `run` made them so, and not for as long as somebody watches.
#[test]
fn no_count_of_bells_stays_in_a_window_that_run_made() {
    let world = World::new("");
    world.task("loud", BELL);
    world.tmux.new_session("else", &["sleep", "100"]);
    // What `run` set to count bells goes with whoever watches last.
    world.tmux.run(&["set-hook", "-u", "-t", "tasks:", "alert-bell"]);
    let before = world.settings();
    let ring = || {
        let watch = world.watch_counting("tasks");
        world.ring("tasks:=loud", 1);
        watch
    };
    ring().end();
    assert_eq!(world.settings(), before);
    let kill = || {
        let mut watch = ring();
        watch.child.kill().unwrap();
        watch.child.wait().unwrap();
    };
    kill();
    assert!(world.run(&["doctor"]).contains("1 window has rung"), "{}", world.run(&["doctor"]));
    let cleaned = world.run(&["doctor", "--clean"]);
    assert!(cleaned.contains("1 window has rung; it is removed"), "{cleaned}");
    assert_eq!(world.settings(), before);
    kill();
    world.watch_counting("tasks").end();
    assert_eq!(world.settings(), before, "the next one mends it");
    // One that moves to a session in which nothing is counted loses its count at once.
    let watch = ring();
    world.tmux.run(&["move-window", "-s", "tasks:=loud", "-t", "else:"]);
    wait_until("the count to be gone", || world.bells("else:=loud").is_empty());
    watch.end();
}

#[test]
fn the_bells_of_a_task_that_is_run_again_are_counted_anew() {
    let world = World::new("");
    world.task("first", "exec sleep 100");
    let watch = world.watch_counting("tasks");
    world.task("dying", "for i in 1 2 3; do read x; printf '\\a'; done; read x; exit 2");
    for round in 1..=2 {
        watch.has_seen("dying");
        world.ring("tasks:=dying", 3);
        world.press_enter("tasks:=dying");
        wait_until("the end", || {
            watch.events("dying").iter().filter(|event| event.starts_with("exited")).count() == round
        });
        let rung = |events: Vec<String>| {
            // Bells are reported by themselves, and those since with the end.
            let counts = events.iter().filter_map(|event| {
                event.strip_prefix("notify ").or_else(|| Some(event.strip_prefix("exited ")?.split_once(' ')?.0))
            });
            counts.filter_map(|count| count.parse::<usize>().ok()).sum::<usize>()
        };
        assert_eq!(rung(watch.events("dying")), 3 * round, "{:?}", watch.events("dying"));
        assert_eq!(world.bells("tasks:=dying"), "3");
        if round == 1 {
            world.run(&["tasks", "rerun", "dying"]);
            wait_until("the next run", || watch.events("dying").last().is_some_and(|event| event == "started"));
        }
    }
}

#[test]
fn the_history_sums_up_how_long_a_task_ran_and_waited() {
    let world = World::new("");
    world.task("server", "exec sleep 100");
    let watch = world.watch();
    watch.has_seen("server");
    world.run(&["run", "ask", "--", "bash", "-c", "sleep 2; read -p 'Proceed? [y/N] ' x; sleep 7; exit 3"]);
    watch.tells("ask", &["started", "input Proceed? [y/N]"]);
    pass(std::time::Duration::from_secs(3));
    world.tmux.run(&["send-keys", "-t", "tasks:=ask", "y", "Enter"]);
    watch.tells("ask", &["started", "input Proceed? [y/N]", "exited 3"]);
    world.run(&["tasks", "prune"]);
    // Up to when it was watched is written last.
    watch.end();
    let lines = || world.run(&["history", "--summary", "--json"]);
    let of = |task: &str| {
        let lines = lines();
        let found = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        found.into_iter().find(|line| line["terminal"] == task)
    };
    // What has been reported is written a moment later.
    wait_until("the end of the run in the history", || {
        of("ask").is_some_and(|day| day["turns"]["known_failure"] == 1) && of("server").is_some()
    });
    let seconds = |day: &Value, field: &str| day[field].as_f64().unwrap();
    let ask = of("ask").unwrap();
    // It ran 9 s, which is no work, and waited 3 s before it was answered; polls are up to a second apart on a busy machine.
    assert_eq!(seconds(&ask, "working_seconds"), 0.0, "{ask}");
    assert!(seconds(&ask, "ready_seconds") >= 7.0, "{ask}");
    assert!((2.0..=6.0).contains(&seconds(&ask, "waiting_seconds")), "{ask}");
    assert_eq!(seconds(&ask, "unknown_seconds"), 0.0, "{ask}");
    let server = of("server").unwrap();
    assert!(seconds(&server, "ready_seconds") >= 10.0 && seconds(&server, "unknown_seconds") == 0.0, "{server}");
    let text = world.run(&["history", "ask"]);
    assert!(text.contains("running again") && text.contains("exited with code 3"), "{text}");
}

#[test]
fn every_bell_of_a_session_that_run_makes_is_reported() {
    let world = World::new("[[terminal]]\nsession = \"main\"\n");
    world.tmux.new_session("main", &["cat"]);
    world.tmux.run(&["set-hook", "-g", "alert-bell[3]", "display-message x"]);
    let watch = world.watch();
    wait_until("the first poll", || !watch.lines.lock().unwrap().is_empty());
    // The first ones ring before anybody can have seen the session.
    world.task("ring", "for i in 1 2 3 4 5; do printf '\\a'; sleep 0.2; done; exec sleep 600");
    let hooks = world.tmux.run(&["show-hooks", "-t", "tasks:", "alert-bell"]);
    assert!(hooks.contains("alert-bell[3] display-message x"), "{hooks}");
    let bells = || {
        let lines = watch.lines.lock().unwrap();
        let reported = lines.iter().filter(|line| line["kind"] == "task_event" && line["event"] == "notify");
        reported.map(|line| line["bells"].as_u64().unwrap()).sum::<u64>()
    };
    wait_until("five bells", || bells() == 5);
    assert_eq!(watch.events("ring").first().map(String::as_str), Some("started"));
}

#[test]
fn a_task_that_ended_before_the_first_poll_is_as_old_as_tmux_says() {
    let world = World::new("[[task]]\nsession = \"jobs\"\n");
    world.tmux.run(&["new-session", "-d", "-s", "jobs", "-n", "asleep", "sleep 1000"]);
    world.tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    let ends = "sh -c 'sleep 0.3; exit 3'";
    world.tmux.run(&["new-window", "-d", "-t", "jobs:", "-n", "over", ends]);
    let format = ["list-panes", "-t", "jobs:=over", "-F", "#{pane_dead_status} #{pane_dead_time}"];
    wait_until("the end", || {
        let ended = world.tmux.run(&format).starts_with('3');
        // On a busy machine tmux 3.3a may miss how a program has ended.
        if !ended && world.tmux.run(&["list-panes", "-t", "jobs:=over", "-F", "#{pane_dead}"]).trim() == "1" {
            world.tmux.run(&["respawn-window", "-k", "-t", "jobs:=over", ends]);
        }
        ended
    });
    let said = world.tmux.run(&format);
    let at = said.trim().strip_prefix("3 ").and_then(|at| at.parse::<i64>().ok());
    let listed = || -> Vec<Value> { serde_json::from_str(&world.run(&["list", "--json"])).unwrap() };
    let field = |task: &str, name: &str| listed().into_iter().find(|it| it["id"] == task).unwrap()[name].clone();
    // It is there to be seen that it is older than the first poll.
    wait_until("two seconds", || at.is_none_or(|at| jiff::Timestamp::now().as_second() >= at + 2));
    assert_eq!(field("asleep", "since_exact"), false);
    assert_eq!(field("over", "since_exact"), at.is_some());
    if let Some(at) = at {
        let since: jiff::Timestamp = field("over", "since").as_str().unwrap().parse().unwrap();
        assert!((since.as_second() - at).abs() <= 1, "{since}, not {at}");
    }
    let plain = world.run(&["list"]);
    let row = |task: &str| plain.lines().find(|line| line.contains(task)).unwrap().to_owned();
    assert!(row("asleep").contains('>'), "{plain}");
    assert_eq!(row("over").contains('>'), at.is_none(), "{plain}");
}

#[test]
fn run_says_what_a_task_is_called_and_whether_it_has_ended() {
    let world = World::new("");
    world.task("first", "exec sleep 100");
    let watch = world.watch_counting("tasks");
    // Whoever watches knows it before `run` is over.
    let ids = || -> Vec<String> {
        let listed: Vec<Value> = serde_json::from_str(&world.run(&["list", "--json"])).unwrap();
        listed.iter().filter_map(|it| it["id"].as_str().map(str::to_owned)).collect()
    };
    for number in 0..4 {
        let name = format!("quick{number}");
        world.task(&name, "exec sleep 100");
        assert!(ids().contains(&name), "{name}");
    }
    world.run(&["run", "first", "--session", "more", "--", "sleep", "100"]);
    let reported = world.run(&["run", "second", "--session", "more", "--", "sleep", "100"]);
    assert!(reported.starts_with("second runs in more: "), "{reported}");
    let reported = world.run(&["run", "quick0", "--session", "more", "--", "sleep", "100"]);
    assert!(reported.starts_with("more:quick0 runs in more: "), "{reported}");
    assert!(
        ids().contains(&"more:quick0".to_owned()) && ids().contains(&"quick0".to_owned()),
        "the older one keeps its name"
    );
    let done = world.run(&["history", "--kind", "action"]);
    assert!(done.contains("  you  ran more:quick0: sleep 100\n"), "{done}");
    let reported: Value =
        serde_json::from_str(&world.run(&["run", "quick1", "--session", "more", "--json", "--", "sleep", "9"]))
            .unwrap();
    assert_eq!(
        (&reported["name"], &reported["id"], &reported["status"], &reported["outcome"]),
        (&"quick1".into(), &"more:quick1".into(), &"running".into(), &"started".into())
    );
    // What is done is done, whether it can be printed or not.
    #[cfg(target_os = "linux")]
    for words in
        [&["run", "full", "--", "sleep", "100"][..], &["keys", "full", "y"], &["tasks", "kill", "full", "--json"]]
    {
        let full = std::fs::File::create("/dev/full").unwrap();
        let done = world.command(words).stdout(full).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        let is_told = errors.starts_with("warning: ") && errors.contains("; standard output cannot be written: ");
        assert!(done.status.success() && is_told, "{words:?}: {errors}");
    }
    // On a busy machine it may end after it was looked at.
    let ran = || world.output(&["run", "nosuch", "--", "/nonexistent/x", "of", "two"]);
    let is_told =
        |ran: &Output| String::from_utf8_lossy(&ran.stdout).starts_with("nosuch exited 127 at once in tasks: ");
    let mut reported = ran();
    wait_until("a command that is not there to be told at once", || {
        is_told(&reported) || {
            reported = ran();
            is_told(&reported)
        }
    });
    let is_refused = |reported: &Output| {
        let errors = String::from_utf8_lossy(&reported.stderr);
        reported.status.code() == Some(1) && errors.starts_with("error: there is no command `/nonexistent/x`")
    };
    assert!(is_refused(&reported), "{reported:?}");
    wait_until("a line of a shell to be told", || {
        let line = world.output(&["run", "line", "--", "echo hi && ls"]);
        String::from_utf8_lossy(&line.stderr).contains("run line -- sh -c 'echo hi && ls'`")
    });
    let named = world.run(&["tasks", "list", "nosuch", "--columns", "command,what"]);
    assert!(named.contains("\n/nonexistent/x of two  env: ") && named.contains(": No such file"), "{named}");
    wait_until("the same to be told in JSON", || {
        let ran = world.output(&["run", "nosuch", "--json", "--", "/nonexistent/x"]);
        let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
        ran.status.code() == Some(1)
            && told["outcome"] == "failed"
            && told["detail"] == "there is no command `/nonexistent/x`"
    });
    wait_until("the same to be told when it is run again", || {
        let again = world.output(&["tasks", "rerun", "nosuch"]);
        is_told(&again) && is_refused(&again)
    });
    drop(watch);
}
