//! Follow-ups in a real tmux: what happens to one agent is told to another one, once, whatever becomes of fleetwatch.

#![allow(clippy::unwrap_used)] // What cannot be set up fails the test.

#[path = "support/private_tmux.rs"]
mod private_tmux;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fleetwatch::history::{Intents, Owner};
use private_tmux::{PrivateTmux, wait_until};
use serde_json::Value;

const TAG: &str = "[fleetwatch notification";

/// Two parrots, `birds` and `lead`, and a configuration that has `lead` told of `birds`.
struct Aviary {
    tmux: PrivateTmux,
    directory: tempfile::TempDir,
    watch: Option<Child>,
}

impl Aviary {
    fn new(rules: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let profiles = directory.path().join("fleetwatch/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::copy(support("parrot.toml"), profiles.join("parrot.toml")).unwrap();
        std::fs::copy("/bin/bash", directory.path().join("parrot")).unwrap();
        std::fs::write(directory.path().join("fleetwatch/config.toml"), rules).unwrap();
        let aviary = Self { tmux: PrivateTmux::unstarted(), directory, watch: None };
        aviary.settle("birds");
        aviary.settle("lead");
        aviary
    }

    /// Starts a parrot in a session of its own, above a program that stays when it ends.
    fn settle(&self, session: &str) {
        let program = self.directory.path().join("parrot");
        let run = format!("set +m; '{}' '{}'; exec cat", program.display(), support("parrot.sh"));
        self.tmux.new_session(session, &["bash", "--norc", "--noprofile", "-c", &run]);
        self.tmux.wait_for_text(&format!("{session}:"), "❯");
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        command
            .env("XDG_CONFIG_HOME", self.directory.path())
            .env("XDG_STATE_HOME", self.directory.path().join("state"))
            .env_remove("TMUX")
            .stdin(Stdio::null())
            .args(["-L", self.tmux.name()]);
        command
    }

    fn fleetwatch(&self, words: &[&str]) -> Output {
        self.command().args(words).output().unwrap()
    }

    /// Starts to watch, and waits until both parrots are known.
    fn watch(&mut self) {
        let log = std::fs::File::create(self.directory.path().join("watched")).unwrap();
        let errors = std::fs::OpenOptions::new().create(true).append(true).open(self.log("errors")).unwrap();
        self.watch = Some(self.command().arg("watch").stdout(log).stderr(errors).spawn().unwrap());
        let known = || std::fs::read_to_string(self.log("watched")).unwrap_or_default();
        wait_until("both parrots to be known", || known().contains("birds") && known().contains("lead"));
    }

    fn log(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn warnings(&self) -> String {
        std::fs::read_to_string(self.log("errors")).unwrap_or_default()
    }

    /// Kills the watcher as a crash does.
    fn crash(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            watch.kill().unwrap();
            watch.wait().unwrap();
        }
    }

    fn type_to(&self, session: &str, text: &str) {
        self.tmux.run(&["send-keys", "-t", &format!("{session}:"), "-l", text]);
    }

    fn press(&self, session: &str, key: &str) {
        self.tmux.run(&["send-keys", "-t", &format!("{session}:"), key]);
    }

    /// Has a parrot work on something.
    fn tell(&self, session: &str, text: &str) {
        self.type_to(session, text);
        self.press(session, "Enter");
    }

    /// Everything that a parrot has shown.
    fn transcript(&self, session: &str) -> String {
        self.tmux.run(&["capture-pane", "-p", "-J", "-S", "-", "-t", &format!("{session}:")])
    }

    /// The prompts that `lead` took and that are messages of fleetwatch.
    fn told(&self) -> Vec<String> {
        let transcript = self.transcript("lead");
        transcript.lines().filter(|line| line.contains(&format!("» {TAG}"))).map(str::to_owned).collect()
    }

    /// What the history says of follow-ups.
    fn records(&self) -> Vec<Value> {
        let output = self.fleetwatch(&["history", "--json", "--kind", "follow_up"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Aviary {
    fn intents(&self) -> Intents {
        let path = self.directory.path().join("state/fleetwatch/history.db");
        Intents::open(&path, Owner::named("test"), fleetwatch::history::now()).unwrap()
    }

    /// Events that wait to be told.
    fn waiting(&self) -> usize {
        let now = fleetwatch::history::now();
        self.intents().pending(now).unwrap().iter().map(|intent| intent.events.len()).sum()
    }

    /// Checks something again and again for so many seconds.
    fn throughout(&self, seconds: u64, check: impl Fn()) {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            check();
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Aviary {
    fn drop(&mut self) {
        self.crash();
    }
}

fn support(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support").join(name).display().to_string()
}

const FINISHED: &str = "
[[follow_up]]
on = [\"finished\", \"approval\"]
from = \"bird*\"
to = \"lead\"
";

#[test]
fn an_agent_is_told_once_that_another_one_has_finished() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.tell("birds", "nap 1.5");
    wait_until("lead to be told", || aviary.told().len() == 1);
    assert!(aviary.told()[0].contains("not from the user] birds has finished: heard nap 1.5"), "{:?}", aviary.told());
    wait_until("a record", || aviary.records().len() == 1);
    let record = &aviary.records()[0];
    assert_eq!(
        (&record["kind"], &record["terminal"], &record["outcome"]),
        (&"follow_up".into(), &"lead".into(), &"sent".into())
    );
    aviary.tell("birds", "nap 1.6");
    wait_until("lead to be told again", || aviary.told().len() == 2);
}

#[test]
fn what_happens_while_it_has_a_draft_becomes_one_message() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.type_to("lead", "half a thought");
    aviary.tmux.wait_for_text("lead:", "half a thought");
    for (count, text) in ["nap 1.5", "nap 1.6"].into_iter().enumerate() {
        aviary.tell("birds", text);
        wait_until("an event to wait", || aviary.waiting() == count + 1);
    }
    aviary.throughout(2, || assert_eq!(aviary.told(), [""; 0]));
    assert!(aviary.tmux.screen("lead:").contains("half a thought"), "the draft is left alone");
    aviary.press("lead", "C-u");
    wait_until("lead to be told", || !aviary.told().is_empty());
    wait_until("a record", || aviary.records().len() == 1);
    assert_eq!(aviary.told().len(), 1);
    assert!(aviary.told()[0].contains("2 events"), "{:?}", aviary.told());
}

#[test]
fn it_waits_for_the_end_of_work_and_of_a_dialog() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.tell("lead", "nap 8");
    aviary.watch();
    aviary.tell("birds", "nap 1.5");
    wait_until("lead to be told", || aviary.told().len() == 1);
    let transcript = aviary.transcript("lead");
    assert!(transcript.find("● heard nap 8").unwrap() < transcript.find(TAG).unwrap(), "{transcript}");
    aviary.tell("lead", "ask");
    aviary.tmux.wait_for_text("lead:", "2. No");
    aviary.tell("birds", "nap 1.5");
    wait_until("an event to wait", || aviary.waiting() == 1);
    let untouched = || assert!(aviary.tmux.screen("lead:").contains("> 1. Yes"), "nothing answers a dialog");
    aviary.throughout(2, untouched);
    aviary.press("lead", "2");
    wait_until("lead to be told again", || aviary.told().len() == 2);
}

#[test]
fn a_message_waits_for_an_agent_that_is_gone_and_survives_a_crash() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.tell("lead", "exit");
    aviary.tell("birds", "nap 1.5");
    wait_until("an event to wait", || aviary.waiting() == 1);
    aviary.crash();
    aviary.tmux.run(&["kill-session", "-t", "lead"]);
    aviary.settle("lead");
    aviary.watch();
    wait_until("lead to be told", || aviary.told().len() == 1);
    wait_until("a record", || aviary.records().len() == 1);
}

#[test]
fn agents_that_are_told_of_each_other_do_not_go_on_for_ever() {
    let both = "
[[follow_up]]
on = [\"finished\"]
from = \"*\"
to = \"lead\"

[[follow_up]]
on = [\"finished\"]
from = \"*\"
to = \"birds\"
";
    let mut aviary = Aviary::new(both);
    aviary.watch();
    aviary.tell("birds", "nap 1.5");
    wait_until("lead to be told", || aviary.told().len() == 1);
    wait_until("the loop to be told", || aviary.warnings().contains("a loop of follow-ups is stopped"));
    assert_eq!(aviary.told().len(), 1);
    assert!(!aviary.transcript("birds").contains(TAG), "birds is not told of what it caused");
}

/// Kills the watcher at different moments on a message's way. Each message that was queued must have been sent once, or
/// the operator must have been asked about it; none may stand in the agent's transcript twice.
#[test]
fn no_message_is_lost_or_sent_twice_whenever_fleetwatch_dies() {
    let mut aviary = Aviary::new(FINISHED);
    // Fixed steps rather than dice: every run tries the same range of moments, from before the event to after the end.
    for (round, delay) in [2500, 3600, 4000, 4300, 4700, 5200].into_iter().enumerate() {
        aviary.watch();
        aviary.tell("birds", &format!("nap 1.{round}"));
        std::thread::sleep(Duration::from_millis(delay));
        aviary.crash();
    }
    aviary.watch();
    // What a dead process had claimed is taken over when its claim has run out.
    let now = fleetwatch::history::now;
    let open = || {
        let intents = aviary.intents();
        let far = fleetwatch::moment::Moment::from_millis(i64::MAX / 2);
        intents.pending(now()).unwrap().len() + intents.abandoned(far).unwrap().len()
    };
    let start = Instant::now();
    while open() > 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "messages are still open: {:?}", aviary.records());
        std::thread::sleep(Duration::from_millis(200));
    }
    let records = aviary.records();
    assert!(!records.is_empty());
    let transcript = aviary.transcript("lead");
    for record in records {
        let tag = format!("» {TAG} {},", record["intent"]);
        let times = transcript.matches(&tag).count();
        match record["outcome"].as_str().unwrap() {
            "sent" => assert_eq!(times, 1, "{record}\n{transcript}"),
            "unknown" => {
                assert!(times <= 1, "{record}\n{transcript}");
                assert!(aviary.warnings().contains("may or may not have been told"), "the operator is asked");
            }
            other => panic!("{other}: {record}"),
        }
    }
}

#[test]
fn an_agent_is_told_that_a_task_has_ended_with_its_last_lines() {
    let mut aviary = Aviary::new(
        "
[[follow_up]]
on = [\"exited\"]
from = \"build*\"
to = \"lead\"
",
    );
    aviary.watch();
    let script = "echo compiling; echo 'error: no such port'; exit 2";
    let started = aviary.fleetwatch(&["run", "build-api", "--", "sh", "-c", script]);
    assert!(started.status.success(), "{started:?}");
    wait_until("lead to be told", || !aviary.told().is_empty());
    wait_until("a record", || aviary.records().len() == 1);
    assert_eq!(aviary.told().len(), 1);
    let record = &aviary.records()[0];
    assert_eq!(record["outcome"], "sent", "{record}");
    let text = record["text"].as_str().unwrap();
    assert!(text.contains("not from the user] task build-api (@"), "{text}");
    assert!(text.contains(") exited with code 2\n") && text.contains("\n  | error: no such port"), "{text}");
}
