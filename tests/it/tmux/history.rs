//! The history as processes leave it: killed while they write, several at once, and the real binary over a real agent.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::copy_shell;
use crate::support::private_tmux::{PATIENCE, PrivateTmux, pass, signal, throughout, wait_until};
use fleetwatch::fleet::{PaneId, ServerId, TerminalKey};
use fleetwatch::history::{History, Owner, Reader, RecordFilter, Settings};
use fleetwatch::private::HeldLock;
use fleetwatch::record::{Body, Record, TransitionRecord};
use fleetwatch::screen::Screen;
use fleetwatch::state::{Availability, OperatorStatus, Phase, Summary, Transition, TurnResult, TurnSource, UiContext};
use fleetwatch::time::Timestamp;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// Set in a process that this test binary starts to write until it is killed: `FILE` and the pane that it writes of.
const WRITER: &str = "FLEETWATCH_TEST_WRITER";

fn record(pane: u32, number: i64) -> Record {
    let phase = if number % 2 == 0 { Phase::Active } else { Phase::Ready };
    let summary = Summary {
        availability: Availability::Available,
        phase,
        result: TurnResult::None,
        source: TurnSource::None,
        ui_context: UiContext::NormalPrompt,
        status: OperatorStatus::Ready,
    };
    let at = Timestamp::from_millis(1_800_000_000_000 + number);
    let transition = Transition { at, changed: Vec::new(), summary, note: None, evidence: std::sync::Arc::default() };
    let key = TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: pane, instance: Default::default() };
    let screen = Some(Arc::new(Screen::from_text(&format!("{pane} shows {number}"), 80)).into());
    Record::Transition(TransitionRecord {
        key,
        name: format!("t{pane}"),
        transition,
        state: None,
        screen,
        events: Vec::new(),
    })
}

/// Writes for ever when this process was started to do so.
fn write_if_asked_to() {
    let Ok(asked) = std::env::var(WRITER) else { return };
    let (pane, path) = asked.split_once(' ').unwrap();
    let settings = Settings { path: Some(PathBuf::from(path)), ..Settings::default() };
    let history = History::start(&settings);
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    let began = Instant::now();
    for number in 0.. {
        // Whoever started this may have been killed itself.
        assert!(began.elapsed() < 4 * PATIENCE, "nobody ended this process");
        history.record(record(pane.parse().unwrap(), number));
        if number % 64 == 0 {
            pass(Duration::from_millis(5));
        }
    }
}

/// A process that writes until it is dropped.
struct Writer(Child);

impl Writer {
    fn start(test: &str, pane: u32, path: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("tmux::history::{test}")]).env(WRITER, format!("{pane} {}", path.display()));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SIGKILL: nothing is written any more, no lock is released in order.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn written(path: &Path) -> i64 {
    let Ok(connection) = Connection::open(path) else { return 0 };
    connection.query_row("SELECT count(*) FROM transitions", [], |row| row.get(0)).unwrap_or(0)
}

/// Every screen belongs to its record, and the numbers have no gaps but what one batch may have lost.
fn check_sound(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let broken: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(broken, 0);
    let mut reader = Reader::open(path).unwrap();
    for record in reader.records(&RecordFilter { limit: Some(300), ..RecordFilter::default() }).unwrap() {
        let Body::Transition(transition) = &record.body else { continue };
        let screen = reader.screen(transition.screen.unwrap()).unwrap().unwrap();
        let number = record.at.as_millis() - 1_800_000_000_000;
        assert_eq!(screen.rows()[0].text(), format!("{} shows {number}", &record.name[1..]));
    }
}

#[test]
fn a_process_that_is_killed_while_it_writes_leaves_a_sound_file() {
    write_if_asked_to();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    for round in 0..8 {
        let before = written(&path);
        let writer = Writer::start("a_process_that_is_killed_while_it_writes_leaves_a_sound_file", round, &path);
        // Another point in a batch each time.
        wait_until("the process writes", || written(&path) > before);
        pass(Duration::from_millis(u64::from(round) * 17));
        drop(writer);
        assert!(written(&path) > before);
        check_sound(&path);
    }
    // And who comes after writes on.
    let before = written(&path);
    let history = History::start(&Settings { path: Some(path.clone()), ..Settings::default() });
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    history.record(record(99, 1));
    drop(history);
    assert_eq!(written(&path), before + 1);
}

#[test]
fn processes_that_write_at_once_disturb_each_other_in_nothing() {
    write_if_asked_to();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let test = "processes_that_write_at_once_disturb_each_other_in_nothing";
    let writers: Vec<Writer> = (1..=3).map(|pane| Writer::start(test, pane, &path)).collect();
    let count = |pane: u32| -> i64 {
        let Ok(connection) = Connection::open(&path) else { return 0 };
        let sql = "SELECT count(*) FROM records WHERE name = ?1";
        connection.query_row(sql, [format!("t{pane}")], |row| row.get(0)).unwrap_or(0)
    };
    wait_until("each of them has written", || (1..=3).all(|pane| count(pane) > 500));
    drop(writers);
    check_sound(&path);
}

/// An agent in a private tmux server, with a configuration and a history of its own.
struct Cage {
    tmux: PrivateTmux,
    home: TempDir,
}

impl Cage {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("parrot");
        copy_shell("/bin/bash", &program);
        let profiles = home.path().join("fleetwatch/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::write(profiles.join("parrot.toml"), include_str!("../support/parrot.toml")).unwrap();
        // Work that a poll cannot miss, however busy the machine is.
        let script = home.path().join("parrot.sh");
        std::fs::write(&script, include_str!("../support/parrot.sh").replace("sleep 0.4", "sleep 2")).unwrap();
        let run = format!("set +m; '{}' '{}'; exec cat", program.display(), script.display());
        let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile", "-c", &run]);
        tmux.wait_for_text("main:", "❯");
        Self { tmux, home }
    }

    fn fleetwatch(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for variable in ["TMUX", "TMUX_PANE", "FLEETWATCH_CONFIG"] {
            command.env_remove(variable);
        }
        command.env("XDG_CONFIG_HOME", self.home.path()).env("XDG_STATE_HOME", self.home.path().join("state"));
        command.args(["-L", self.tmux.name()]).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.fleetwatch(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{arguments:?} ended with {status}: {errors}");
        String::from_utf8(stdout).unwrap()
    }

    fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        self.run(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("state/fleetwatch/history.db")
    }
}

/// A running `watch --json`, and what it printed.
struct Watch {
    child: Child,
    lines: std::sync::mpsc::Receiver<Value>,
}

impl Watch {
    fn start(cage: &Cage, filter: &[&str]) -> Self {
        let mut child =
            cage.fleetwatch(&[&["watch", "--json"], filter].concat()).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = out.read(&mut buffer) {
                text.extend(&buffer[..count]);
                while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=end).collect();
                    let _ = sender.send(serde_json::from_slice(&line).unwrap());
                }
            }
        });
        Self { child, lines }
    }

    fn wait_for(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if fits(&line) {
                return line;
            }
            seen.push(line);
        }
        panic!("{what} did not come: {seen:#?}");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_success(line: &Value, source: &str) -> bool {
    let last = &line["state"]["last_turn"];
    line["kind"] == "transition" && last["result"] == "success" && last["source"] == source
}

#[test]
fn what_goes_on_is_summed_up_to_now() {
    let cage = Cage::new();
    let watch = Watch::start(&cage, &[]);
    watch.wait_for("the parrot", |line| line["state"]["turn"]["phase"] == "ready");
    // A watcher says every ten seconds that it still watches. Sums that follow each other more closely come from what lives.
    let sum = || {
        let days = cage.lines(&["history", "--summary", "--json"]);
        days.iter().map(|day| day["ready_seconds"].as_f64().unwrap()).sum::<f64>()
    };
    let mut sums: Vec<f64> = Vec::new();
    wait_until("sums that grow with the time", || {
        let sum = sum();
        if sums.last() != Some(&sum) {
            sums.push(sum);
        }
        sums.windows(3).any(|three| three[0] > 0.0 && three[2] - three[0] < 9.0)
    });
    drop(watch);
    // It was killed, and nobody knows what happened since.
    let first = sum();
    throughout(Duration::from_secs(2), || assert_eq!(sum().to_bits(), first.to_bits()));
}

#[test]
fn a_dialog_that_is_asked_again_while_nobody_watches_has_not_the_age_of_the_last_one() {
    let cage = Cage::new();
    let watch = Watch::start(&cage, &[]);
    watch.wait_for("the parrot", |line| line["state"]["turn"]["phase"] == "ready");
    let press = |key: &str| cage.tmux.run(&["send-keys", "-t", "main:", key]);
    press("chain");
    press("Enter");
    let asked = watch.wait_for("the dialog", |line| line["state"]["attention"] == "approval");
    let since = asked["state"]["since"].clone();
    // tmux tells in whole seconds when something was printed.
    pass(Duration::from_secs(3));
    signal("TERM", watch.child.id());
    watch.lines.iter().for_each(drop);
    let ended = Instant::now();
    // So long it takes until it counts as unwatched.
    pass(Duration::from_secs(6));
    let listed = || -> Value {
        let listed: Value = serde_json::from_str(&cage.run(&["list", "--json"])).unwrap();
        listed[0].clone()
    };
    let table = cage.run(&["list", "--columns", "name,state,since"]);
    assert!(table.starts_with("NAME  STATE     SINCE\nmain  approval  ") && !table.contains('>'), "{table}");
    let same = listed();
    assert_eq!((&same["since"], &same["since_exact"]), (&since, &true.into()), "nothing was printed: {same:#}");
    press("1");
    cage.tmux.wait_for_text("main:", "first answered");
    cage.tmux.wait_for_text("main:", "2. No");
    let other = listed();
    assert_eq!((&other["attention"], &other["since_exact"]), (&"approval".into(), &false.into()), "{other:#}");
    let age = |state: &Value| -> f64 { state["turn"]["elapsed_seconds"].as_f64().unwrap() };
    assert!(age(&other) < ended.elapsed().as_secs_f64() - 4.0, "it was asked just now: {other:#}");
}

#[test]
fn a_turn_that_was_sent_and_taken_back_while_nobody_watches_leaves_the_last_result_and_no_exact_age() {
    let cage = Cage::new();
    let watch = Watch::start(&cage, &[]);
    watch.wait_for("the parrot", |line| line["state"]["turn"]["phase"] == "ready");
    assert_eq!(cage.run(&["send", "main", "polly"]), "accepted\n");
    let ended = watch.wait_for("its answer", |line| is_success(line, "explicit_input"));
    // tmux tells in whole seconds when something was printed.
    pass(Duration::from_secs(3));
    signal("TERM", watch.child.id());
    watch.lines.iter().for_each(drop);
    assert_eq!(cage.run(&["send", "main", "undo"]), "accepted\n");
    wait_until("the prompt was taken back", || !cage.tmux.screen("main:").contains("undo"));
    // So long it takes until a prompt is no longer awaited.
    pass(Duration::from_secs(6));
    let listed: Value = serde_json::from_str(&cage.run(&["list", "--json"])).unwrap();
    let state = &listed[0];
    assert_eq!(state["last_turn"]["at"], ended["state"]["last_turn"]["at"], "{state:#}");
    assert_eq!((&state["turn"]["phase"], &state["turn"]["since_exact"]), (&"ready".into(), &false.into()), "{state:#}");
}

#[test]
fn what_is_sent_by_one_process_is_an_explicit_input_in_the_other_and_both_are_history() {
    let cage = Cage::new();
    let watch = Watch::start(&cage, &[]);
    watch.wait_for("the parrot", |line| line["state"]["turn"]["phase"] == "ready");
    assert_eq!(cage.run(&["send", "main", "polly wants a cracker"]), "accepted\n");
    watch.wait_for("the end of the explicit turn", |line| is_success(line, "explicit_input"));
    // Nothing is waited for here: the line comes once the outcome is known, which may be before the turn's end.
    let sent = cage.lines(&["history", "--json", "--kind", "input"]);
    assert_eq!(sent.len(), 1, "{sent:?}");
    // Somebody who types into the pane is nobody that fleetwatch knows of.
    cage.tmux.run(&["send-keys", "-t", "main:", "-l", "by hand"]);
    cage.tmux.run(&["send-keys", "-t", "main:", "Enter"]);
    watch.wait_for("the end of the other turn", |line| is_success(line, "surface_inference"));
    // Killed, not ended: what was reported is in the history within a moment.
    wait_until("the last transition is kept", || {
        cage.lines(&["history", "--json"]).iter().any(|line| is_success(line, "surface_inference"))
    });
    drop(watch);

    let lines = cage.lines(&["history", "main", "--json"]);
    let input = lines.iter().find(|line| line["kind"] == "input").expect("the prompt is kept");
    assert_eq!(input["text"], "polly wants a cracker");
    assert_eq!((&input["outcome"], &input["sender"]), (&"accepted".into(), &"command line".into()));
    assert!(lines.iter().any(|line| is_success(line, "explicit_input")));
    let times: Vec<&str> = lines.iter().map(|line| line["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");

    let text = cage.run(&["history", "main"]);
    assert!(text.contains("  you   prompted main: polly wants a cracker\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours where no terminal is: {text}");
    let days = cage.lines(&["history", "--summary", "--json"]);
    let turns: u64 = days.iter().map(|day| day["turns"]["success"].as_u64().unwrap()).sum();
    assert_eq!(turns, 2, "{days:?}");
    assert!(cage.run(&["history", "--summary"]).contains("2 finished"));
    let agents = cage.lines(&["history", "--summary", "--by", "agent", "--json"]);
    assert!(agents.iter().any(|day| day["agent"] == "parrot" && day["turns"]["success"] == 2), "{agents:?}");
    let labels = cage.fleetwatch(&["history", "--summary", "--by", "label"]).output().unwrap();
    assert!(labels.status.success() && labels.stdout.is_empty(), "none of them has a label: {labels:?}");
    let labels = cage.lines(&["history", "--summary", "--by", "label", "--json"]);
    assert!(labels.iter().all(|day| day["label"] == "-" && day["day"].is_string()) && !labels.is_empty(), "{labels:?}");
    let nothing = cage.fleetwatch(&["history", "--summary", "--until", "1h"]).output().unwrap();
    assert!(nothing.status.success() && nothing.stdout.is_empty(), "{nothing:?}");
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing was watched then"), "{nothing:?}");
    assert_eq!(cage.lines(&["history", "--json", "--kind", "input", "--since", "1h"]).len(), 1);
    assert_eq!(cage.lines(&["history", "--json", "--until", "1h"]).len(), 0);

    // The screen of a transition shows what stood there then.
    let mut reader = Reader::open(&cage.path()).unwrap();
    let records = reader.records(&RecordFilter::default()).unwrap();
    let shown = records.iter().any(|record| match &record.body {
        Body::Transition(transition) => {
            let screen = transition.screen.and_then(|id| reader.screen(id).unwrap());
            screen.is_some_and(|screen| screen.rows().iter().any(|row| row.text() == "● heard polly wants a cracker"))
        }
        _ => false,
    });
    assert!(shown, "no stored screen has the answer");
}

#[test]
fn watch_tells_what_another_process_sent_and_what_came_of_it() {
    let cage = Cage::new();
    cage.run(&["run", "job", "--", "cat"]);
    let watch = Watch::start(&cage, &["agent:parrot"]);
    watch.wait_for("the parrot", |line| line["state"]["turn"]["phase"] == "ready");
    // The filter does not let it through.
    cage.run(&["keys", "job", "x"]);
    cage.run(&["send", "main", "polly"]);
    let line = watch.wait_for("the input", |line| line["kind"] == "input");
    let reported =
        ["terminal", "input", "text", "sender", "outcome"].map(|field| line[field].as_str().unwrap().to_owned());
    assert_eq!(reported, ["main", "prompt", "polly", "command line", "accepted"]);
    assert_eq!(line["state"]["terminal"]["id"], "main");
    // In everything but the state of now it is the line of the history.
    let mut kept = cage.lines(&["history", "main", "--json", "--kind", "input"]).remove(0);
    kept["state"] = line["state"].clone();
    assert_eq!(kept, line);
    cage.run(&["keys", "main", "Escape"]);
    let line = watch.wait_for("the keys", |line| line["kind"] == "input");
    assert_eq!((&line["input"], &line["keys"]), (&"keys".into(), &serde_json::json!(["Escape"])));
    // Keys that are pressed one by one are one line, and a limit counts lines.
    cage.run(&["keys", "main", "Escape"]);
    assert_eq!(cage.run(&["history", "--limit", "2"]).lines().count(), 2);
    let last = cage.run(&["history", "--limit", "1"]);
    assert!(last.lines().count() == 1 && last.ends_with("  you  pressed Escape in main  (2 times)\n"), "{last}");
}

#[test]
fn a_line_of_watch_says_what_becomes_of_a_terminal_and_no_word_twice() {
    let cage = Cage::new();
    let printed = cage.home.path().join("watch.txt");
    let child = cage.fleetwatch(&["watch"]).stdout(std::fs::File::create(&printed).unwrap()).spawn().unwrap();
    let watch = Watch { child, lines: std::sync::mpsc::channel().1 };
    // The columns behind the time: the name, the word, and what is said beside it.
    let lines = || -> Vec<Vec<String>> {
        let cells = |line: &str| -> Vec<String> {
            line.split("  ").map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
        };
        let whole = std::fs::read_to_string(&printed).unwrap();
        whole.lines().map(|line| cells(line).split_off(1)).collect()
    };
    let wait_for = |name: &str, word: &str| {
        wait_until(word, || lines().iter().any(|line| line[..2] == [name, word]));
        lines().into_iter().rfind(|line| line[..2] == [name, word]).unwrap().get(2).cloned().unwrap_or_default()
    };
    wait_for("main", "ready");
    cage.run(&["send", "main", "polly"]);
    let said = wait_for("main", "finished");
    let listed: Value = serde_json::from_str(&cage.run(&["list", "main", "--json"])).unwrap();
    assert_eq!(listed[0]["what"], said, "as --json has it");
    assert!(!said.is_empty() && wait_for("main", "working").contains("polly"), "{:?}", lines());
    cage.run(&["run", "job", "--", "sh", "-c", "read -p 'Go on? [y/N] ' x; echo it is over; exit 3"]);
    assert_eq!(wait_for("job", "asks"), "Go on? [y/N]");
    cage.run(&["keys", "job", "y", "Enter"]);
    assert_eq!(wait_for("job", "exited 3"), "it is over");
    cage.run(&["send", "main", "exit"]);
    wait_for("main", "failed");
    drop(watch);
    for line in lines() {
        let said = line.get(2).map(String::as_str).unwrap_or_default();
        assert!(!said.contains('→') && !said.starts_with(&line[1]), "{line:?}");
    }
}

#[test]
fn of_a_text_that_keys_type_only_that_is_kept_whoever_it_is_typed_to() {
    let cage = Cage::new();
    cage.run(&["run", "job", "--", "cat"]);
    let watch = Watch::start(&cage, &[]);
    let ready = watch.wait_for("the parrot", |line| line["state"]["turn"]["phase"] == "ready");
    let listed: Value = serde_json::from_str(&cage.run(&["list", "main", "--json"])).unwrap();
    let nothing = Some(&Value::Null);
    assert_eq!([ready.get("what"), listed[0].get("what")], [nothing; 2], "it has neither asked nor answered");
    for name in ["main", "job"] {
        cage.run(&["keys", name, "--text", "pass word", "Enter"]);
        let line = watch.wait_for("the keys", |line| line["kind"] == "input" && line["terminal"] == name);
        assert_eq!(line["keys"], serde_json::json!(["(text)", "Enter"]));
        let said = cage.run(&["history", name, "--kind", "input"]);
        assert!(said.ends_with(&format!("  you  typed a line in {name}\n")), "{said}");
    }
}

#[test]
fn a_watch_ends_when_nobody_reads_it_although_nothing_happens() {
    let cage = Cage::new();
    let mut watch = cage.fleetwatch(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    // The first line comes, and then the parrot sits still.
    let mut out = watch.stdout.take().unwrap();
    assert_eq!(out.read(&mut [0; 64]).unwrap(), 64);
    drop(out);
    wait_until("the end of watch", || watch.try_wait().unwrap().is_some());
    assert!(watch.wait().unwrap().success());
}

#[test]
fn a_history_that_is_no_file_keeps_no_command_waiting() {
    let cage = Cage::new();
    std::fs::create_dir_all(cage.path().parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(cage.path()).status().unwrap().success());
    for (command, code) in [(&["history"][..], 1), (&["status"], 1), (&["doctor"], 1), (&["list"], 0)] {
        let mut child = cage.fleetwatch(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the end of the command", || child.try_wait().unwrap().is_some());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let said = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert_eq!(status.code(), Some(code), "{command:?}: {said}");
        let tells = command != ["list"];
        assert_eq!(said.contains("history.db is not a regular file"), tells, "{command:?}: {said}");
    }
}

#[test]
fn doctor_says_where_no_turns_can_be_taken() {
    let cage = Cage::new();
    let doctor = || String::from_utf8(cage.fleetwatch(&["doctor"]).output().unwrap().stdout).unwrap();
    let turns = cage.path().with_file_name("turns");
    assert!(!doctor().contains("may send to a terminal at the same time") && !turns.parent().unwrap().exists());
    std::fs::create_dir_all(turns.parent().unwrap()).unwrap();
    std::fs::write(&turns, "no directory").unwrap();
    let said = doctor();
    let what = "note  sending        two fleetwatch processes may send to a terminal at the same time: ";
    assert!(
        said.contains(what) && said.contains("→ make sure that the state directory allows files and locks"),
        "{said}"
    );
}

#[test]
fn a_directory_that_others_can_write_holds_no_history() {
    use std::os::unix::fs::PermissionsExt;
    let cage = Cage::new();
    let state = cage.path().parent().unwrap().to_owned();
    std::fs::create_dir_all(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let doctor = cage.fleetwatch(&["doctor"]).output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.contains("others can write to"), "{said}");
    let sent = cage.fleetwatch(&["send", "main", "polly"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&sent.stdout), "accepted\n");
    let warned = String::from_utf8(sent.stderr).unwrap();
    assert!(warned.contains("history is not written: others can write to"), "{warned}");
    assert!(!cage.path().exists());
}

#[test]
fn what_was_refused_is_kept_and_begins_no_turn() {
    let cage = Cage::new();
    cage.tmux.run(&["send-keys", "-t", "main:", "-l", "a draft"]);
    cage.tmux.wait_for_text("main:", "a draft");
    let refused = cage.fleetwatch(&["send", "main", "not now"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let lines = cage.lines(&["history", "--json"]);
    assert_eq!((lines.len(), &lines[0]["outcome"]), (1, &"refused".into()));
    assert_eq!(lines[0]["detail"], "its input line holds an unsent draft");
}

#[test]
fn a_target_that_nobody_knows_is_named() {
    let cage = Cage::new();
    let none = cage.fleetwatch(&["history"]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).starts_with("error: there is no history yet: "));
    cage.run(&["send", "main", "hello"]);
    let unknown = cage.fleetwatch(&["history", "mian"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(errors, "error: the history knows no terminal `mian`\nhint: did you mean `main`?\n");
    let other = cage.fleetwatch(&["history", "--since", "soon"]).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
}

#[test]
fn a_history_that_cannot_be_written_stops_nobody() {
    let cage = Cage::new();
    // A directory stands where the file should be.
    std::fs::create_dir_all(cage.path()).unwrap();
    let mut watch = cage.fleetwatch(&["watch"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = watch.stderr.take().unwrap();
    let sent = cage.fleetwatch(&["send", "main", "hello"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&sent.stdout), "accepted\n");
    let said = String::from_utf8_lossy(&sent.stderr);
    assert!(said.starts_with("warning: history is not written: ") && said.contains("\nhint: check the file"), "{said}");
    cage.tmux.wait_for_text("main:", "● heard hello");
    let mut text = Vec::new();
    let mut buffer = [0; 256];
    while !String::from_utf8_lossy(&text).contains("warning: history is not written: ") {
        let count = errors.read(&mut buffer).unwrap();
        assert!(count > 0, "watch ended: {}", String::from_utf8_lossy(&text));
        text.extend(&buffer[..count]);
    }
    let _ = watch.kill();
    let _ = watch.wait();
}

#[test]
fn names_of_processes_do_not_repeat() {
    let now = Timestamp::from_millis(1);
    assert_ne!(Owner::of_process(now), Owner::of_process(now));
}
