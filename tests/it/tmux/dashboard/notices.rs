//! What the dashboard tells outside of itself: read from the bytes that it writes and from the commands that it runs.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::Desk;
use crate::support::private_tmux::wait_until;

impl Desk {
    /// A desk with a configuration and a parrot; `{}` in the text stands for the desk's directory.
    fn configured(config: &str) -> Self {
        let desk = Self::new();
        let directory = desk.directory.path();
        let config = config.replace("{}", &directory.display().to_string());
        std::fs::write(directory.join("fleetwatch/config.toml"), config).unwrap();
        desk.start_parrot();
        desk
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

    /// What somebody types into the parrot's own pane.
    fn type_to_parrot(&self, text: &str) {
        self.watched.run(&["send-keys", "-t", "birds:", text, "Enter"]);
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
    let desk = Desk::configured(BY_TERMINAL);
    desk.open();
    desk.wait("1 ready");
    desk.keep_bytes();
    desk.type_to_parrot("ask");
    let notice = "birds asks for approval: Allow this?";
    wait_until("a notice", || desk.bytes().contains("\x1b]777;"));
    wait_until("a bell", || desk.bells() > 0);
    let bytes = desk.bytes();
    assert!(bytes.contains(&format!("\x1b]9;fleetwatch: {notice}\x1b\\")), "{bytes:?}");
    assert!(bytes.contains(&format!("\x1b]777;notify;fleetwatch;{notice}\x1b\\")), "{bytes:?}");
    // The same dialog is still there when the next one is told.
    desk.type_to_parrot("2");
    desk.wait("answered 2");
    desk.type_to_parrot("ask");
    wait_until("another notice", || desk.bytes().matches("\x1b]777;").count() == 2);
    wait_until("another bell", || desk.bells() == 2);
    assert_eq!(desk.bytes().matches("\x1b]9;").count(), 2);
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn without_a_rule_the_bell_rings_and_the_title_says_how_many_wait() {
    let desk = Desk::new();
    desk.start_parrot();
    desk.operator.run(&["select-pane", "-t", "main:", "-T", "a title of mine"]);
    std::fs::remove_file(desk.directory.path().join("state/fleetwatch/dashboard.json")).unwrap();
    desk.open();
    desk.wait("the terminal's bell rings once");
    desk.wait("1 ready");
    let title = || desk.operator.run(&["display-message", "-p", "-t", "main:", "#{pane_title}"]).trim().to_owned();
    wait_until("a title", || title() == "fleetwatch");
    desk.keep_bytes();
    desk.type_to_parrot("ask");
    wait_until("a bell", || desk.bells() == 1);
    wait_until("a count in the title", || title() == "(1) fleetwatch");
    desk.press("q");
    desk.expect_restored();
    wait_until("the old title", || title() == "a title of mine");
    // That was said on the first start, and is not said again.
    desk.open();
    desk.wait("1 needs you");
    assert!(!desk.screen().contains("rings once"), "{}", desk.screen());
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_title_that_is_switched_off_is_given_back_at_once() {
    let desk = Desk::configured("[ui]\ntitle = true\n");
    desk.operator.run(&["select-pane", "-t", "main:", "-T", "a title of mine"]);
    desk.open();
    desk.wait("1 ready");
    let title = || desk.operator.run(&["display-message", "-p", "-t", "main:", "#{pane_title}"]).trim().to_owned();
    for (wanted, shown) in [("true", "fleetwatch"), ("false", "a title of mine"), ("true", "fleetwatch")] {
        std::fs::write(desk.directory.path().join("fleetwatch/config.toml"), format!("[ui]\ntitle = {wanted}\n"))
            .unwrap();
        wait_until(shown, || title() == shown);
    }
    desk.press("q");
    desk.expect_restored();
    wait_until("the old title", || title() == "a title of mine");
}

#[test]
fn inside_of_tmux_a_notice_is_wrapped() {
    let desk = Desk::configured(BY_TERMINAL);
    desk.open_with("TMUX=/nowhere/default,1,0");
    desk.wait("1 ready");
    desk.keep_bytes();
    desk.type_to_parrot("ask");
    wait_until("a bell", || desk.bells() > 0);
    let bytes = desk.bytes();
    assert!(bytes.contains("\x1bPtmux;\x1b\x1b]9;fleetwatch: birds asks for approval"), "{bytes:?}");
    assert!(!bytes.contains("\x07\x1b]9;"), "{bytes:?}");
    desk.press("q");
    desk.wait("desk>");
}

#[test]
fn a_command_gets_each_event_as_json() {
    let desk = Desk::configured(BY_COMMAND);
    desk.open();
    desk.wait("1 ready");
    desk.type_to_parrot("nap 3.5");
    wait_until("an event", || desk.events().len() == 1);
    desk.type_to_parrot("ask");
    wait_until("another event", || desk.events().len() == 2);
    let events = desk.events();
    let told = |event: &Value| (event["event"].clone(), event["terminal"].clone(), event["state"]["attention"].clone());
    assert_eq!(told(&events[0]), ("finished".into(), "birds".into(), "finished".into()));
    assert_eq!(told(&events[1]), ("approval".into(), "birds".into(), "approval".into()));
    assert_eq!(events[0]["kind"], "attention");
    assert_eq!(events[1]["text"], "birds asks for approval: Allow this?");
    assert!(events[0]["at"].as_str().is_some_and(|at| at.ends_with('Z')));
}

#[test]
fn a_command_gets_of_the_environment_what_is_usual_and_what_its_rule_names() {
    let script = r#"["sh", "-c", "env > '{}/environment.new'; mv '{}/environment.new' '{}/environment'"]
command_environment = ["NTFY_TOKEN"]"#;
    let desk = Desk::configured(&BY_COMMAND.replace("[\"tee\", \"-a\", \"{}/events\"]", script));
    desk.open_with("ANTHROPIC_API_KEY=secret NTFY_TOKEN=wanted");
    desk.wait("1 ready");
    desk.type_to_parrot("ask");
    let file = desk.directory.path().join("environment");
    wait_until("the command", || file.exists());
    let environment = std::fs::read_to_string(file).unwrap();
    assert!(environment.contains("NTFY_TOKEN=wanted") && environment.contains("PATH="), "{environment}");
    assert!(!environment.contains("secret"), "{environment}");
}

#[test]
fn a_command_that_cannot_run_is_told() {
    let desk = Desk::configured(&BY_COMMAND.replace("\"tee\"", "\"{}/no-such-program\""));
    desk.open();
    desk.wait("1 ready");
    desk.type_to_parrot("ask");
    desk.wait("cannot be started");
}

#[test]
fn a_key_mutes_all_notices() {
    let desk = Desk::configured(&format!("{BY_TERMINAL}{BY_COMMAND}"));
    desk.start_parrot_in("crows");
    desk.open();
    desk.wait("2 ready");
    desk.keep_bytes();
    desk.press("M");
    desk.wait("all notices are muted");
    desk.wait("notices off   data");
    desk.type_to_parrot("ask");
    desk.wait("1 needs you");
    desk.type_to_parrot("2");
    desk.wait("1 finished");
    desk.press("M");
    desk.wait("notices are on again");
    desk.press("Home");
    desk.wait("› ✓ birds");
    // The operator sits in front of the first terminal, but not of this one.
    desk.watched.run(&["send-keys", "-t", "crows:", "nap 3.5", "Enter"]);
    wait_until("an event", || !desk.events().is_empty());
    assert_eq!((&desk.events()[0]["event"], &desk.events()[0]["terminal"]), (&"finished".into(), &"crows".into()));
    assert!(!desk.bytes().contains("\x1b]9;"), "what happened while all was muted is not told later");
}

/// What `fleetwatch status` prints, and whether it says yes.
pub fn status(desk: &Desk, format: &str) -> (String, bool) {
    status_with(desk, format, &[])
}

fn status_with(desk: &Desk, format: &str, options: &[&str]) -> (String, bool) {
    let directory = desk.directory.path();
    let output = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
        .args(["status", "--format", format, "-L", desk.watched.name()])
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
    let desk = Desk::configured("[[terminal]]\nsession = \"birds\"\nname = \"bird #{pane_id}#[fg=red]\"\n");
    assert_eq!(status(&desk, "tmux"), ("#[dim]nothing is watching#[default]\n".to_owned(), true));
    assert_eq!(status(&desk, "plain"), (String::new(), false));
    let (json, said) = status(&desk, "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["watched"], said), (&false.into(), false));
    let (json, said) = status_with(&desk, "json", &["--poll"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["watched"], &json["counts"]["ready"], said),
        (&false.into(), &1.into(), true),
        "one look is no watch"
    );
    desk.open();
    wait_until("a ready parrot", || status(&desk, "plain").0 == "1 ready\n");
    desk.type_to_parrot("ask");
    wait_until("a parrot that asks", || status(&desk, "plain").0.ends_with("needs you\n"));
    let (line, _) = status(&desk, "tmux");
    // tmux itself shows the name as it is: nothing of it is taken for a format.
    let shown = desk.operator.run(&["display-message", "-p", "-t", "main:", line.trim_end()]);
    assert!(shown.contains("bird #{pane_id}"), "{line} becomes {shown}");
    let (json, _) = status(&desk, "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["watched"], &json["needs"][0]["attention"]), (&true.into(), &"approval".into()));
    desk.press("q");
    desk.wait("desk>");
    wait_until("nobody to watch", || !status(&desk, "plain").1);
}

/// `fleetwatch watch`, until it is dropped or killed.
struct Watcher(Child);

impl Watcher {
    /// Starts one beside the dashboard, and waits until it knows the parrot.
    fn beside(desk: &Desk) -> Self {
        let (directory, log) = (desk.directory.path(), tempfile::NamedTempFile::new().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
            .args(["watch", "-L", desk.watched.name()])
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
    let desk = Desk::configured(&format!("{BY_COMMAND}{BY_TWO_COMMANDS}"));
    let (first, second) = (Watcher::beside(&desk), Watcher::beside(&desk));
    let finished = |count: usize| {
        desk.type_to_parrot(&format!("nap 3.{count}"));
        wait_until("the parrot to have been heard", || {
            desk.watched.screen("birds:").contains(&format!("heard nap 3.{count}"))
        });
        wait_until("an event", || desk.events().len() >= count);
        // Whoever else would tell it does so within a look and the time that a thing must stand.
        std::thread::sleep(std::time::Duration::from_secs(3));
        assert_eq!(desk.events().len(), count, "each event is handed over once: {:?}", desk.events());
    };
    finished(1);
    first.crash();
    finished(2);
    desk.open();
    desk.wait("1 finished");
    // The operator looks at the parrot; the dashboard knows that, and `watch` would tell nevertheless.
    desk.press("Home");
    desk.type_to_parrot("nap 3.9");
    desk.wait("heard nap 3.9");
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(desk.events().len(), 2, "the dashboard comes before watch: {:?}", desk.events());
    desk.press("q");
    desk.expect_restored();
    finished(3);
    drop(second);
    let others = std::fs::read_to_string(desk.directory.path().join("others")).unwrap();
    assert_eq!(others.lines().count(), 3, "both rules ran their commands each time");
}

#[test]
fn one_that_watches_in_the_background_is_there_again_when_the_dashboard_is_left() {
    let desk = Desk::configured("[watch]\nbackground = true\n");
    let kill = |signal: &str, process: &str| Command::new("kill").args([signal, process]).status().unwrap().success();
    desk.open();
    desk.wait("1 ready");
    wait_until("one in the background", || desk.watched.background_watch().is_some());
    let first = desk.watched.background_watch().unwrap();
    assert!(kill("-KILL", &first));
    wait_until("its end", || desk.watched.background_watch().is_none());
    desk.press("q");
    desk.expect_restored();
    wait_until("another one", || desk.watched.background_watch().is_some_and(|process| process != first));
    wait_until("it to watch", || status(&desk, "plain").0 == "1 ready\n");
    assert!(kill("-TERM", &desk.watched.background_watch().unwrap()));
    wait_until("its end", || desk.watched.background_watch().is_none());
}
