//! What the dashboard tells outside of itself: read from the bytes that it writes and from the commands that it runs.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::World;
use crate::support::private_tmux::{pass, wait_until};

impl World {
    /// A world with a configuration and a parrot; `{}` in the text stands for the world's directory.
    fn configured(config: &str) -> Self {
        let world = Self::new();
        let directory = world.directory.path();
        let config = config.replace("{}", &directory.display().to_string());
        std::fs::write(directory.join("fleetwatch/config.toml"), config).unwrap();
        world.start_parrot();
        world
    }

    /// Keeps every byte that is written to the operator's terminal from now on.
    fn keep_bytes(&self) {
        let file = self.directory.path().join("bytes");
        self.operator.run(&["pipe-pane", "-t", "main:", &format!("cat > '{}'", file.display())]);
        wait_until("the bytes to be kept", || file.exists());
    }

    /// The bytes that are kept so far.
    fn bytes(&self) -> String {
        let bytes = std::fs::read(self.directory.path().join("bytes")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// How often it has rung: a title ends with the same byte.
    fn bells(&self) -> usize {
        let bytes = self.bytes();
        bytes.matches('\x07').count().saturating_sub(bytes.matches("\x1b]0;").count())
    }

    /// The events that a command was handed, which `tee` wrote to a file.
    fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.path().join("events")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const BY_TERMINAL: &str = "
[[notify]]
on = [\"approval\"]
terminal = \"bird*\"
by = [\"bell\", \"osc9\", \"osc777\"]
minimum_distance_seconds = 0
";

const BY_COMMAND: &str = "
[[notify]]
on = [\"approval\", \"finished\"]
by = [\"command\"]
command = [\"tee\", \"-a\", \"{}/events\"]
minimum_distance_seconds = 0
";

#[test]
fn a_dialog_rings_and_shows_a_notice_of_the_terminal_once() {
    let world = World::configured(BY_TERMINAL);
    world.open();
    world.wait("1 ready");
    world.keep_bytes();
    world.tell_parrot("ask");
    let notice = "birds asks for approval: Allow this?";
    wait_until("a notice", || world.bytes().contains("\x1b]777;"));
    wait_until("a bell", || world.bells() > 0);
    let bytes = world.bytes();
    assert!(bytes.contains(&format!("\x1b]9;fleetwatch: {notice}\x1b\\")), "{bytes:?}");
    assert!(bytes.contains(&format!("\x1b]777;notify;fleetwatch;{notice}\x1b\\")), "{bytes:?}");
    // The same dialog is still there when the next one is announced.
    world.tell_parrot("2");
    world.wait("answered 2");
    world.tell_parrot("ask");
    wait_until("another notice", || world.bytes().matches("\x1b]777;").count() == 2);
    wait_until("another bell", || world.bells() == 2);
    assert_eq!(world.bytes().matches("\x1b]9;").count(), 2);
    world.quit();
}

#[test]
fn without_a_rule_the_bell_rings_and_the_title_says_how_many_wait() {
    let world = World::new();
    world.start_parrot();
    world.operator.run(&["select-pane", "-t", "main:", "-T", "a title of mine"]);
    std::fs::remove_file(world.directory.path().join("state/fleetwatch/dashboard.json")).unwrap();
    world.open();
    world.wait("the terminal's bell rings once");
    world.wait("1 ready");
    let title = || world.operator.run(&["display-message", "-p", "-t", "main:", "#{pane_title}"]).trim().to_owned();
    wait_until("a title", || title() == "fleetwatch");
    world.keep_bytes();
    world.tell_parrot("ask");
    wait_until("a bell", || world.bells() == 1);
    wait_until("a count in the title", || title() == "(1) fleetwatch");
    world.quit();
    wait_until("the old title", || title() == "a title of mine");
    // That was said on the first start, and is not said again.
    world.open();
    world.wait("1 needs you");
    assert!(!world.screen().contains("rings once"), "{}", world.screen());
    world.quit();
}

#[test]
fn a_title_that_is_switched_off_is_given_back_at_once() {
    let world = World::configured("[ui]\ntitle = true\n");
    world.operator.run(&["select-pane", "-t", "main:", "-T", "a title of mine"]);
    world.open();
    world.wait("1 ready");
    let title = || world.operator.run(&["display-message", "-p", "-t", "main:", "#{pane_title}"]).trim().to_owned();
    for (wanted, shown) in [("true", "fleetwatch"), ("false", "a title of mine"), ("true", "fleetwatch")] {
        std::fs::write(world.directory.path().join("fleetwatch/config.toml"), format!("[ui]\ntitle = {wanted}\n"))
            .unwrap();
        wait_until(shown, || title() == shown);
    }
    world.quit();
    wait_until("the old title", || title() == "a title of mine");
}

#[test]
fn inside_of_tmux_a_notice_is_wrapped() {
    let world = World::configured(BY_TERMINAL);
    world.open_with("TMUX=/nowhere/default,1,0");
    world.wait("1 ready");
    world.keep_bytes();
    world.tell_parrot("ask");
    wait_until("a bell", || world.bells() > 0);
    let bytes = world.bytes();
    assert!(bytes.contains("\x1bPtmux;\x1b\x1b]9;fleetwatch: birds asks for approval"), "{bytes:?}");
    assert!(!bytes.contains("\x07\x1b]9;"), "{bytes:?}");
    world.press("q");
    world.wait("world>");
}

#[test]
fn a_command_gets_each_event_as_json() {
    let world = World::configured(BY_COMMAND);
    world.open();
    world.wait("1 ready");
    world.tell_parrot("nap 3.5");
    wait_until("an event", || world.events().len() == 1);
    world.tell_parrot("ask");
    wait_until("another event", || world.events().len() == 2);
    let events = world.events();
    let reported =
        |event: &Value| (event["event"].clone(), event["terminal"].clone(), event["state"]["attention"].clone());
    assert_eq!(reported(&events[0]), ("finished".into(), "birds".into(), "finished".into()));
    assert_eq!(reported(&events[1]), ("approval".into(), "birds".into(), "approval".into()));
    assert_eq!(events[0]["kind"], "attention");
    assert_eq!(events[1]["text"], "birds asks for approval: Allow this?");
    assert!(events[0]["at"].as_str().is_some_and(|at| at.ends_with('Z')));
}

#[test]
fn a_command_gets_of_the_environment_what_is_usual_and_what_its_rule_names() {
    let script = r#"["sh", "-c", "env > '{}/environment.new'; mv '{}/environment.new' '{}/environment'"]
command_environment = ["NTFY_TOKEN"]"#;
    let world = World::configured(&BY_COMMAND.replace("[\"tee\", \"-a\", \"{}/events\"]", script));
    world.open_with("ANTHROPIC_API_KEY=secret NTFY_TOKEN=wanted");
    world.wait("1 ready");
    world.tell_parrot("ask");
    let file = world.directory.path().join("environment");
    wait_until("the command", || file.exists());
    let environment = std::fs::read_to_string(file).unwrap();
    assert!(environment.contains("NTFY_TOKEN=wanted") && environment.contains("PATH="), "{environment}");
    assert!(!environment.contains("secret"), "{environment}");
}

#[test]
fn a_command_that_cannot_run_is_reported() {
    let world = World::configured(&BY_COMMAND.replace("\"tee\"", "\"{}/no-such-program\""));
    world.open();
    world.wait("1 ready");
    world.tell_parrot("ask");
    world.wait("there is no program");
}

#[test]
fn a_key_mutes_all_notices() {
    let world = World::configured(&format!("{BY_TERMINAL}{BY_COMMAND}"));
    world.start_parrot_in("crows");
    world.open();
    world.wait("2 ready");
    world.keep_bytes();
    world.run_command("all notices");
    world.wait("all notices are muted");
    world.wait("notices off   data");
    world.tell_parrot("ask");
    world.wait("1 needs you");
    world.tell_parrot("2");
    world.wait("1 finished");
    world.run_command("all notices");
    world.wait("notices are on again");
    world.press("Home");
    world.wait("› ✓ birds");
    // The operator sits in front of the first terminal, but not of this one.
    world.watched.run(&["send-keys", "-t", "crows:", "nap 3.5", "Enter"]);
    wait_until("an event", || !world.events().is_empty());
    assert_eq!((&world.events()[0]["event"], &world.events()[0]["terminal"]), (&"finished".into(), &"crows".into()));
    assert!(!world.bytes().contains("\x1b]9;"), "what happened while all was muted is not announced later");
}

/// What `fleetwatch status` prints, and whether it says yes.
pub fn status(world: &World, format: &str) -> (String, bool) {
    status_with(world, format, &[])
}

fn status_with(world: &World, format: &str, options: &[&str]) -> (String, bool) {
    let directory = world.directory.path();
    let output = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
        .args(["status", "--format", format, "-L", world.watched.name()])
        .args(options)
        .env("XDG_CONFIG_HOME", directory)
        .env("XDG_STATE_HOME", directory.join("state"))
        .env_remove("TMUX")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[test]
fn the_status_line_tells_what_the_dashboard_shows_and_when_nobody_watches() {
    let world = World::configured("[[terminal]]\nsession = \"birds\"\nname = \"bird #{pane_id}#[fg=red]\"\n");
    assert_eq!(
        status(&world, "tmux"),
        ("#[none,bg=colour235,fg=colour250] nothing is watching#[none,bg=colour235] #[default]\n".to_owned(), true)
    );
    assert_eq!(status(&world, "plain"), (String::new(), false));
    let (json, said) = status(&world, "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["watched"], said), (&false.into(), false));
    let (json, said) = status_with(&world, "json", &["--poll"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["watched"], &json["counts"]["ready"], said),
        (&false.into(), &1.into(), true),
        "one poll is no watch"
    );
    world.open();
    wait_until("a ready parrot", || status(&world, "plain").0 == "1 ready\n");
    world.tell_parrot("ask");
    wait_until("a parrot that asks", || status(&world, "plain").0.ends_with("needs you\n"));
    let (line, _) = status(&world, "tmux");
    // tmux itself shows the name as it is: nothing of it is taken for a format.
    let shown = world.operator.run(&["display-message", "-p", "-t", "main:", line.trim_end()]);
    assert!(shown.contains("bird #{pane_id}"), "{line} becomes {shown}");
    let (json, _) = status(&world, "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["watched"], &json["needs"][0]["attention"]), (&true.into(), &"approval".into()));
    world.press("q");
    world.wait("world>");
    wait_until("nobody to watch", || !status(&world, "plain").1);
}

/// `fleetwatch watch`, until it is dropped or killed.
struct Watcher(Child);

impl Watcher {
    /// Starts one beside the dashboard, and waits until it knows the parrot.
    fn beside(world: &World) -> Self {
        let (directory, log) = (world.directory.path(), tempfile::NamedTempFile::new().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
            .args(["watch", "-L", world.watched.name()])
            .env("XDG_CONFIG_HOME", directory)
            .env("XDG_STATE_HOME", directory.join("state"))
            .env_remove("TMUX")
            .stdin(Stdio::null())
            .stdout(log.reopen().unwrap())
            .spawn()
            .unwrap();
        let watcher = Self(child);
        wait_until("the parrot to be known", || std::fs::read_to_string(log.path()).unwrap().contains("birds  ready"));
        watcher
    }

    /// Kills it as a crash does.
    fn crash(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Another command, for another rule, is handed the same event.
const BY_TWO_COMMANDS: &str = "
[[notify]]
on = [\"finished\"]
by = [\"command\"]
command = [\"tee\", \"-a\", \"{}/others\"]
minimum_distance_seconds = 0
";

#[test]
fn of_several_that_watch_one_runs_the_commands_and_the_next_one_takes_over() {
    let world = World::configured(&format!("{BY_COMMAND}{BY_TWO_COMMANDS}"));
    let (first, second) = (Watcher::beside(&world), Watcher::beside(&world));
    let finished = |count: usize| {
        world.tell_parrot(&format!("nap 3.{count}"));
        wait_until("the parrot to have been heard", || {
            world.watched.screen("birds:").contains(&format!("heard nap 3.{count}"))
        });
        wait_until("an event", || world.events().len() >= count);
        // Whoever else would tell it does so within a poll and the time that a thing must stand.
        pass(std::time::Duration::from_secs(3));
        assert_eq!(world.events().len(), count, "each event is handed over once: {:?}", world.events());
    };
    finished(1);
    first.crash();
    finished(2);
    world.open();
    world.wait("1 finished");
    // The operator looks at the parrot; the dashboard knows that, and `watch` would tell nevertheless.
    world.press("Home");
    world.tell_parrot("nap 3.9");
    world.wait("heard nap 3.9");
    pass(std::time::Duration::from_secs(3));
    assert_eq!(world.events().len(), 2, "the dashboard comes before watch: {:?}", world.events());
    world.quit();
    finished(3);
    drop(second);
    let others = std::fs::read_to_string(world.directory.path().join("others")).unwrap();
    assert_eq!(others.lines().count(), 3, "both rules ran their commands each time");
}

#[test]
fn one_that_watches_in_the_background_is_there_again_when_the_dashboard_is_left() {
    let world = World::configured("[watch]\nbackground = true\n");
    let kill = |signal: &str, process: &str| Command::new("kill").args([signal, process]).status().unwrap().success();
    world.open();
    world.wait("1 ready");
    wait_until("one in the background", || world.watched.background_watch().is_some());
    let first = world.watched.background_watch().unwrap();
    assert!(kill("-KILL", &first));
    wait_until("its end", || world.watched.background_watch().is_none());
    world.quit();
    wait_until("another one", || world.watched.background_watch().is_some_and(|process| process != first));
    wait_until("it to watch", || status(&world, "plain").0 == "1 ready\n");
    assert!(kill("-TERM", &world.watched.background_watch().unwrap()));
    wait_until("its end", || world.watched.background_watch().is_none());
}
