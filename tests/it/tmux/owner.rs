//! One process polls a server, the others follow it, and one of them goes on when it ends (SPEC §15).

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::serve::Server;
use crate::support::copy_shell;
use crate::support::private_tmux::{PATIENCE, PrivateTmux, pass, signal, wait_or_tell, wait_until};
use serde_json::Value;
use tempfile::TempDir;

/// Two small agents in a tmux server, and directories of their own for what watches them.
pub struct Cage {
    pub tmux: PrivateTmux,
    pub home: TempDir,
}

impl Cage {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        copy_shell("/bin/bash", path("parrot"));
        fs::create_dir_all(path("fleetwatch/profiles")).unwrap();
        fs::write(path("fleetwatch/profiles/parrot.toml"), include_str!("../support/parrot.toml")).unwrap();
        fs::write(path("parrot.sh"), include_str!("../support/parrot.sh")).unwrap();
        fs::create_dir(path("run")).unwrap();
        // Each process of fleetwatch that runs tmux leaves a line in a file of its own.
        fs::create_dir(path("bin")).unwrap();
        let real = which("tmux");
        let wrapper = format!("#!/bin/sh\necho x >>\"$TMUX_LOG\"\nexec '{}' \"$@\"\n", real.display());
        fs::write(path("bin/tmux"), wrapper).unwrap();
        fs::set_permissions(path("bin/tmux"), fs::Permissions::from_mode(0o755)).unwrap();
        let run = format!("exec '{}' '{}'", path("parrot").display(), path("parrot.sh").display());
        let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile", "-c", &run]);
        tmux.new_session("other", &["bash", "--norc", "--noprofile", "-c", &run]);
        tmux.wait_for_text("main:", "❯");
        tmux.wait_for_text("other:", "❯");
        Self { tmux, home }
    }

    pub fn fleetwatch(&self, log: &str, arguments: &[&str]) -> Command {
        self.about(self.tmux.name(), log, arguments)
    }

    /// The same about another server.
    fn about(&self, server: &str, log: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for variable in ["TMUX", "TMUX_PANE", "FLEETWATCH_CONFIG"] {
            command.env_remove(variable);
        }
        let path = format!("{}:{}", self.home.path().join("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("TMUX_LOG", self.log(log));
        command.env("XDG_CONFIG_HOME", self.home.path()).env("XDG_STATE_HOME", self.home.path().join("state"));
        command.env("XDG_RUNTIME_DIR", self.home.path().join("run"));
        command.args(["-L", server]).args(arguments).stdin(Stdio::null());
        command
    }

    fn log(&self, name: &str) -> PathBuf {
        self.home.path().join(format!("log-{name}"))
    }

    /// How often the processes with this log have run tmux.
    fn polls(&self, log: &str) -> usize {
        fs::read_to_string(self.log(log)).unwrap_or_default().lines().count()
    }

    pub fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.fleetwatch("reader", arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn watch(&self, log: &str) -> Watch {
        self.watch_with(log, &[])
    }

    fn watch_with(&self, log: &str, more: &[&str]) -> Watch {
        let mut arguments = vec!["watch", "--json"];
        arguments.extend(more);
        Watch::begin(&mut self.fleetwatch(log, &arguments))
    }

    /// Gives an agent a prompt, as its operator would.
    pub fn prompt(&self, session: &str, text: &str) {
        self.tmux.run(&["send-keys", "-t", &format!("{session}:"), text, "Enter"]);
    }

    /// Stops a process while it does not write the history: one that is stopped with the lock of the file keeps it from everybody.
    fn stop_between_writes(&self, watch: &Watch) {
        let path = self.home.path().join("state/fleetwatch/history.db");
        wait_until("a moment without a write", || {
            watch.signal("-STOP");
            let history = rusqlite::Connection::open(&path).unwrap();
            history.busy_timeout(Duration::ZERO).unwrap();
            let is_free = history.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok();
            if !is_free {
                watch.signal("-CONT");
            }
            is_free
        });
    }

    /// What the history has of a terminal: each transition by its time and what changed.
    fn transitions(&self, terminal: &str) -> Vec<(String, String)> {
        let lines = self.lines(&["history", terminal, "--json", "--kind", "transition"]);
        lines.iter().map(|line| (line["at"].to_string(), line["changed"].to_string())).collect()
    }
}

pub fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file()).unwrap()
}

/// A running `watch --json`.
pub struct Watch {
    pub child: Child,
    lines: Receiver<Value>,
}

impl Watch {
    /// Starts `watch --json`.
    pub fn begin(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in std::io::BufRead::lines(std::io::BufReader::new(out)).map_while(Result::ok) {
                // One that is killed may not come to the end of its line.
                let Ok(line) = serde_json::from_str(&line) else { break };
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    /// Waits for a line about a terminal.
    pub fn wait_for(&self, terminal: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.hear_of(terminal, fits).unwrap_or_else(|seen| panic!("a line about {terminal} did not come: {seen}"))
    }

    /// The same, or what it said instead until it ended or was waited for in vain.
    pub fn hear_of(&self, terminal: &str, fits: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let mut seen = Vec::new();
        let until = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if line["terminal"] == terminal && fits(&line) {
                return Ok(line);
            }
            seen.push(line.to_string());
        }
        Err(seen.join("\n"))
    }

    /// Has it end, also if it is stopped before or meanwhile, and says how it ended.
    pub fn end(mut self) -> std::process::ExitStatus {
        let pid = self.child.id();
        signal("TERM", pid);
        wait_until("the end of a watch", || {
            signal("CONT", pid);
            self.child.try_wait().unwrap().is_some()
        });
        self.child.wait().unwrap()
    }

    pub fn wait_for_phase(&self, terminal: &str, phase: &str) -> Value {
        self.wait_for(terminal, |line| line["state"]["turn"]["phase"] == phase)
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn locks_that_a_stopped_process_holds_keep_nobody_from_telling() {
    let cage = Cage::new();
    let state = cage.home.path().join("state/fleetwatch");
    let locks = [state.join("git/lock"), state.join("history.db.lock"), state.join("choices.lock")];
    let first = cage.watch("first");
    first.wait_for_phase("main", "ready");
    wait_until("the files", || locks[..2].iter().all(|lock| lock.exists()));
    drop(first);
    let held = locks.map(|lock| fs::OpenOptions::new().create(true).append(true).open(lock).unwrap());
    held.iter().for_each(|lock| lock.lock().unwrap());
    let watch = cage.watch("second");
    watch.wait_for_phase("main", "ready");
    cage.prompt("main", "nap 1");
    watch.wait_for_phase("main", "active");
    watch.wait_for_phase("main", "ready");
    let sent = cage.fleetwatch("sends", &["send", "main", "polly"]).output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    watch.end();
}

#[test]
fn a_client_gets_what_the_owner_sees_and_asks_tmux_nothing() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    cage.prompt("main", "nap 8");
    let since = owner.wait_for_phase("main", "active")["state"]["turn"]["since"].clone();
    let client = cage.watch("client");
    // It knows when the turn began, though it came later.
    let known = client.wait_for("main", |line| line["kind"] == "state");
    if known["state"]["turn"]["phase"] == "active" {
        assert_eq!(known["state"]["turn"]["since"], since);
    }
    cage.prompt("other", "ask rm -rf build");
    let asked = |line: &Value| line["state"]["attention"] == "approval";
    let (here, there) = (client.wait_for("other", asked), owner.wait_for("other", asked));
    assert_eq!(here, there, "both tell the same");
    let list = cage.fleetwatch("list", &["list", "--json"]).output().unwrap();
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list[0]["terminal"]["id"], "other", "{list}");
    assert_eq!(list[0]["since"], there["state"]["since"], "an age is the owner's");
    let waited = cage.fleetwatch("list", &["wait", "other", "--for", "approval", "--timeout", "60"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&waited.stdout), "other: approval\n");
    assert_eq!((cage.polls("client"), cage.polls("list")), (0, 0));
    assert!(cage.polls("owner") > 2);
}

#[test]
fn what_ends_while_the_only_watcher_is_stopped_was_seen_by_nobody() {
    let cage = Cage::new();
    let watch = cage.watch("owner");
    watch.wait_for_phase("main", "ready");
    cage.prompt("main", "hold");
    watch.wait_for_phase("main", "active");
    cage.stop_between_writes(&watch);
    fs::write(cage.home.path().join("go"), "").unwrap();
    cage.tmux.wait_for_text("main:", "● held");
    // Longer than watches may be apart that count as one.
    pass(Duration::from_secs(12));
    watch.signal("-CONT");
    let ended = watch.wait_for("main", |line| line["state"]["last_turn"]["result"] == "success");
    assert_eq!(
        (&ended["state"]["since_exact"], &ended["state"]["turn"]["since_exact"]),
        (&false.into(), &false.into())
    );
    let unwatched =
        || cage.lines(&["history", "main", "--summary", "--json"])[0]["unwatched_seconds"].as_f64().unwrap();
    let is_known = || (11.0..60.0).contains(&unwatched());
    wait_or_tell("the time that nobody watched", is_known, || format!("unwatched for {} s", unwatched()));
}

#[test]
fn a_client_goes_on_when_the_owner_is_killed() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let client = cage.watch("client");
    client.wait_for_phase("main", "ready");
    cage.prompt("main", "hold");
    let begun = client.wait_for_phase("main", "active");
    owner.signal("-KILL");
    let killed = Instant::now();
    // What happens now only the client can see.
    cage.prompt("other", "ask rm -rf build");
    client.wait_for("other", |line| line["state"]["attention"] == "approval");
    // A bound for a busy machine; a tenth of a second is usual.
    assert!(killed.elapsed() < Duration::from_secs(20), "{:?}", killed.elapsed());
    fs::write(cage.home.path().join("go"), "").unwrap();
    let done = client.wait_for_phase("main", "ready");
    assert_eq!(begun["state"]["turn"]["since"], begun["at"]);
    let done = if done["state"]["last_turn"]["result"] == "success" {
        done
    } else {
        client.wait_for("main", |line| line["state"]["last_turn"]["result"] == "success")
    };
    assert_eq!(done["state"]["since_exact"], true);
    let is_done = |kept: &[(String, String)]| kept.iter().any(|(_, changed)| changed.contains(r#""to":"success""#));
    let kept = || cage.transitions("main");
    wait_or_tell("the end in the history", || is_done(&kept()), || format!("{:#?}", kept()));
    let mut kept = kept();
    let all = kept.len();
    kept.dedup_by(|one, other| one.1 == other.1);
    assert_eq!(kept.len(), all, "one is kept twice: {kept:#?}");
    assert_eq!(kept.iter().filter(|(_, changed)| changed.contains(r#""to":"active""#)).count(), 1, "{kept:#?}");
    let next = cage.watch("next");
    next.wait_for_phase("main", "ready");
    assert_eq!(cage.polls("next"), 0, "the client is the owner now");
}

#[test]
fn an_agent_that_is_gone_is_explained_and_its_killed_watcher_tells_no_status() {
    let cage = Cage::new();
    let told = |mut command: Command| {
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let said = |arguments: &[&str]| told(cage.fleetwatch("reader", arguments));
    let mut watch = cage.watch("watch");
    watch.wait_for_phase("main", "ready");
    watch.wait_for_phase("other", "ready");
    cage.prompt("main", "hold");
    watch.wait_for_phase("main", "active");
    cage.tmux.run(&["kill-session", "-t", "main"]);
    watch.wait_for("main", |line| line["state"]["attention"] == "gone");
    let is_said = |(code, reported): (Option<i32>, String)| {
        assert_eq!(code, Some(0), "{reported}");
        assert!(reported.starts_with("main is gone, with its pane\n"), "{reported}");
        assert!(reported.contains("last turn      failed, cut off, seen to begin on the screen, at "), "{reported}");
    };
    is_said(said(&["explain", "main"]));
    let kept = || cage.transitions("main").iter().any(|(_, changed)| changed.contains("unavailable"));
    wait_until("the end in the history", kept);
    wait_until("a status", || said(&["status"]).0 == Some(0));
    watch.signal("-TERM");
    watch.child.wait().unwrap();
    let (code, reported) = said(&["status"]);
    assert!(code == Some(1) && reported.starts_with("error: nothing is watching\n"), "{reported}");
    // A server that is not there is told from one with nothing in it, whoever watches it.
    let server = format!("{}-nosuch", cage.tmux.name());
    let mut down = cage.about(&server, "down", &["watch"]).stderr(Stdio::null()).spawn().unwrap();
    let none = format!("no tmux server is running on {server}");
    let status = |more: &[&str]| told(cage.about(&server, "reader", &[&["status"], more].concat()));
    wait_until("the problem in the status", || status(&[]).1.starts_with(&format!("error: {none}\n")));
    let (code, reported) = status(&["--poll"]);
    assert!(code == Some(1) && reported.starts_with(&format!("error: {none}\nhint: start one with ")), "{reported}");
    assert_eq!(
        status(&["--format", "tmux"]),
        (Some(0), "#[none,bg=colour235,fg=colour250] no server answers#[none,bg=colour235] #[default]\n".to_owned())
    );
    let (code, told) = status(&["--json"]);
    let told: Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    assert_eq!(
        (code, &told["watched"], &told["problems"][0]["message"]),
        (Some(1), &true.into(), &none.as_str().into())
    );
    signal("TERM", down.id());
    assert_eq!(down.wait().unwrap().code(), Some(0), "asked to end, it ends well");
    is_said(said(&["explain", "main"]));
    let json: Value = serde_json::from_str(&said(&["explain", "main", "--json"]).1).unwrap();
    assert_eq!((&json["reading"], &json["state"]["attention"]), (&Value::Null, &"gone".into()));
    // An agent that is there is not gone because nobody watches any more.
    assert!(said(&["explain", "other"]).1.starts_with("other is ready"));
    // When one went that nobody watched is not known, and it is not its last change.
    cage.tmux.run(&["new-session", "-d", "-s", "third", "sleep 4711"]);
    cage.tmux.run(&["kill-session", "-t", "other"]);
    let (_, reported) = said(&["explain", "other"]);
    assert!(reported.contains("since          just now, or before this poll"), "{reported}");
}

#[test]
fn an_owner_that_is_stopped_yields_and_gets_what_it_missed() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let client = cage.watch("client");
    client.wait_for_phase("main", "ready");
    cage.stop_between_writes(&owner);
    cage.prompt("main", "ask rm -rf build");
    let asked = |line: &Value| line["state"]["attention"] == "approval";
    let there = client.wait_for("main", asked);
    owner.signal("-CONT");
    let here = owner.wait_for("main", asked);
    assert_eq!(here["at"], there["at"], "the new owner saw it");
    let polled = cage.polls("owner");
    cage.prompt("other", "ask something else");
    let there = client.wait_for("other", asked);
    assert_eq!(owner.wait_for("other", asked)["at"], there["at"]);
    assert!(cage.polls("owner") <= polled + 2, "it polls no more");
    let asks =
        |kept: &[(String, String)]| kept.iter().filter(|(_, changed)| changed.contains("approval_prompt")).count();
    let kept = || cage.transitions("main");
    wait_or_tell("the dialog in the history", || asks(&kept()) > 0, || format!("{:#?}", kept()));
    let kept = kept();
    assert_eq!(asks(&kept), 1, "{kept:#?}");
}

/// The operator and the agents are told of what happens while the owner is stopped, by the process that takes over, and only
/// by it.
#[test]
fn what_a_stopped_owner_does_not_tell_another_process_tells_once() {
    let cage = Cage::new();
    let reported = cage.home.path().join("told");
    let config = format!(
        "[[notify]]\nterminal = \"[mj]*\"\non = [\"finished\", \"exited\"]\nby = [\"command\"]\ncommand = [\"tee\", \"-a\", {reported:?}]\n\
         minimum_distance_seconds = 0\n[[follow_up]]\nto = \"other\"\nfrom = \"main\"\non = [\"finished\"]\n"
    );
    fs::write(cage.home.path().join("fleetwatch/config.toml"), config).unwrap();
    let reported = || -> Vec<String> {
        let reported = fs::read_to_string(&reported).unwrap_or_default();
        let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
        reported.lines().map(event).collect()
    };
    let messages = || {
        let other = cage.tmux.run(&["capture-pane", "-p", "-J", "-S", "-", "-t", "other:"]);
        other.matches("» [fleetwatch notification").count()
    };
    let wait = |what: &str, holds: &dyn Fn() -> bool| {
        wait_or_tell(what, holds, || format!("{:?}, {} messages", reported(), messages()));
    };
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let client = cage.watch("client");
    client.wait_for_phase("main", "ready");
    let ran = cage.fleetwatch("run", &["run", "job", "--", "cat"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    client.wait_for("job", |_| true);
    cage.prompt("main", "hold");
    client.wait_for_phase("main", "active");
    cage.stop_between_writes(&owner);
    fs::write(cage.home.path().join("go"), "").unwrap();
    cage.tmux.run(&["send-keys", "-t", "tasks:job", "C-d"]);
    wait("a notice, a task's end and a message", &|| reported().len() >= 2 && messages() >= 1);
    owner.signal("-CONT");
    // It gets what it missed, and leaves it at that.
    owner.wait_for("main", |line| line["state"]["last_turn"]["result"] == "success");
    cage.prompt("main", "nap 1.5");
    wait("the second turn", &|| reported().len() >= 3 && messages() >= 2);
    // It takes over again when the other one dies, and knows by then what that one has reported.
    let begun = jiff::Timestamp::now().to_string();
    cage.prompt("main", "hold");
    owner.wait_for("main", |line| {
        let turn = &line["state"]["turn"];
        turn["phase"] == "active" && turn["since"].as_str() > Some(begun.as_str())
    });
    client.signal("-KILL");
    fs::write(cage.home.path().join("go"), "").unwrap();
    wait("the third turn", &|| reported().len() >= 4 && messages() >= 3);
    let mut reported = reported();
    reported.sort();
    assert_eq!(reported, ["exited", "finished", "finished", "finished"]);
    assert_eq!(messages(), 3);
}

/// What a client knew before it was stopped is old, and must not become the truth.
#[test]
fn a_client_that_was_stopped_takes_nothing_over() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let client = cage.watch("client");
    client.wait_for_phase("main", "ready");
    cage.prompt("main", "nap 2");
    client.wait_for_phase("main", "active");
    cage.stop_between_writes(&client);
    let success = |line: &Value| line["changed"].to_string().contains(r#""to":"success""#);
    let there = owner.wait_for("main", success);
    // Longer than an owner may be silent.
    pass(Duration::from_secs(3));
    client.signal("-CONT");
    let here = client.wait_for("main", success);
    assert_eq!(here["at"], there["at"], "it gets what it missed: {here}");
    cage.prompt("other", "ask rm -rf build");
    let asked = |line: &Value| line["state"]["attention"] == "approval";
    assert_eq!(client.wait_for("other", asked)["at"], owner.wait_for("other", asked)["at"]);
    assert_eq!(cage.polls("client"), 0, "it never polled");
    let kept = cage.transitions("main");
    let ends = kept.iter().filter(|(_, changed)| changed.contains(r#""to":"success""#)).count();
    assert_eq!(ends, 1, "{kept:#?}");
}

#[test]
fn a_command_waits_for_no_owner_that_is_stopped() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    cage.stop_between_writes(&owner);
    let waited = cage.fleetwatch("wait", &["wait", "main", "--for", "ready", "--timeout", "30"]).output().unwrap();
    assert!(waited.status.success(), "{}", String::from_utf8_lossy(&waited.stderr));
    assert!(cage.polls("wait") > 0, "it polled for itself");
}

/// The process that put something into a terminal last, by its id.
fn last_actor(cage: &Cage) -> u32 {
    let path = cage.home.path().join("state/fleetwatch/history.db");
    let history = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT owner FROM inputs ORDER BY record DESC LIMIT 1";
    let owner: String = history.query_row(sql, [], |row| row.get(0)).unwrap();
    owner.split('-').next().unwrap().parse().unwrap()
}

#[test]
fn what_a_command_asks_for_the_owner_does_and_the_command_says_what_became_of_it() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let act = |words: &[&str]| {
        let output = cage.fleetwatch("act", words).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said)
    };
    assert_eq!(act(&["send", "main", "polly"]), (Some(0), "accepted\n".to_owned()));
    assert_eq!(last_actor(&cage), owner.child.id());
    owner.wait_for("main", |line| line["state"]["last_turn"]["source"] == "explicit_input");
    cage.prompt("main", "nap 4");
    owner.wait_for_phase("main", "active");
    let (code, said) = act(&["send", "main", "not now"]);
    assert!(code != Some(0) && said.contains("refused: it is working"), "{said}");
    // It is refused for as long as the agent works, and tried again for who waits.
    assert_eq!(act(&["send", "--when-ready", "main", "ask rm -rf build"]).0, Some(0));
    owner.wait_for("main", |line| line["state"]["attention"] == "approval");
    let (code, said) = act(&["answer", "main", "yes", "--expect", "rm -rf build"]);
    assert!(code == Some(0) && said.contains("accepted"), "{said}");
    cage.tmux.wait_for_text("main:", "● answered 1");
    assert_eq!(act(&["keys", "main", "x", "BSpace"]), (Some(0), "accepted\n".to_owned()));
    assert_eq!(last_actor(&cage), owner.child.id());
    let kept = cage.lines(&["history", "main", "--json", "--kind", "input"]);
    let outcomes: Vec<&str> = kept.iter().map(|input| input["outcome"].as_str().unwrap_or("none")).collect();
    assert_eq!(outcomes, ["accepted", "refused", "accepted", "accepted", "accepted"], "{kept:#?}");
}

#[test]
fn where_the_owner_is_stopped_who_asked_acts_and_nothing_is_done_twice() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    cage.stop_between_writes(&owner);
    let sent = cage.fleetwatch("send", &["send", "main", "polly"]).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    assert_ne!(last_actor(&cage), owner.child.id());
    owner.signal("-CONT");
    // What it was asked for while it stood still it takes up now.
    assert_eq!(cage.fleetwatch("send", &["send", "other", "jacko"]).status().unwrap().code(), Some(0));
    owner.wait_for("other", |line| line["state"]["last_turn"]["result"] == "success");
    let prompts = cage.tmux.run(&["capture-pane", "-p", "-S", "-", "-t", "main:"]).matches("» polly").count();
    assert_eq!(prompts, 1);
}

#[test]
fn an_owner_that_is_killed_in_an_act_leaves_it_unverified_and_done_once() {
    let cage = Cage::new();
    let mut owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    // From now on a prompt needs a second Enter, which comes a while after the first one.
    cage.prompt("main", "twice");
    cage.tmux.wait_for_text("main:", "» twice");
    let send = cage.fleetwatch("send", &["send", "main", "polly"]);
    let sending = { send }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    cage.tmux.wait_for_text("main:", "❯ polly");
    owner.child.kill().unwrap();
    owner.child.wait().unwrap();
    let said = sending.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&said.stderr);
    assert!(error.contains("unverified: the fleetwatch that acts there ended before"), "{error}");
    assert_eq!(said.status.code(), Some(3), "{error}");
    let kept = cage.lines(&["history", "main", "--json", "--kind", "input"]);
    assert_eq!(kept.len(), 1, "{kept:#?}");
    assert!(cage.tmux.screen("main:").matches("» polly").count() <= 1);
}

#[test]
fn an_owner_that_ends_in_an_act_finishes_it_first() {
    let cage = Cage::new();
    let mut owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    // From now on a prompt needs a second Enter, which comes a while after the first one.
    cage.prompt("main", "twice");
    cage.tmux.wait_for_text("main:", "» twice");
    let sending = cage.fleetwatch("send", &["send", "main", "polly"]).stdout(Stdio::piped()).spawn().unwrap();
    cage.tmux.wait_for_text("main:", "❯ polly");
    owner.signal("-TERM");
    let said = sending.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "accepted\n");
    assert!(owner.child.wait().unwrap().success());
    let kept = cage.lines(&["history", "main", "--json", "--kind", "input"]);
    assert_eq!((kept.len(), kept[0]["outcome"].as_str()), (1, Some("accepted")), "{kept:#?}");
}

/// Neither a problem that is explained nor hooks that cannot be taken back keep it.
#[test]
fn a_watch_ends_though_its_tmux_server_does_not_answer() {
    let cage = Cage::new();
    let config = cage.home.path().join("fleetwatch/config.toml");
    fs::write(&config, "[watch]\ntimeout_ms = 20000\n").unwrap();
    let ran = cage.fleetwatch("run", &["run", "job", "--", "cat"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut watch = cage.watch("owner");
    watch.wait_for_phase("main", "ready");
    let is_set = || cage.tmux.run(&["show-options", "-t", "tasks:"]).contains("@fleetwatch");
    wait_or_tell("the hooks to be set", is_set, || cage.tmux.run(&["show-options", "-t", "tasks:"]));
    let server = cage.tmux.run(&["display-message", "-p", "#{pid}"]).trim().to_owned();
    let signal = |signal: &str| assert!(Command::new("kill").args([signal, &server]).status().unwrap().success());
    signal("-STOP");
    watch.signal("-TERM");
    let asked = Instant::now();
    let ended = watch.child.wait().unwrap();
    signal("-CONT");
    assert!(ended.success() && asked.elapsed() < Duration::from_secs(10), "{ended} after {:?}", asked.elapsed());
}

#[test]
fn a_process_with_other_rules_polls_for_itself() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let config = cage.home.path().join("fleetwatch/other.toml");
    fs::write(&config, "[[terminal]]\nsession = \"main\"\nname = \"mine\"\n").unwrap();
    let alone = cage.watch_with("alone", &["--config", config.to_str().unwrap()]);
    alone.wait_for_phase("mine", "ready");
    assert!(cage.polls("alone") > 0);
    // What it asks for says all that is to be done, so the owner does it, and one acts in a terminal at a time.
    let sent =
        cage.fleetwatch("send", &["--config", config.to_str().unwrap(), "send", "mine", "polly"]).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    assert_eq!(last_actor(&cage), owner.child.id());
    // It takes its turn when the other one ends.
    drop(owner);
    let next = cage.watch_with("next", &["--config", config.to_str().unwrap()]);
    next.wait_for_phase("mine", "ready");
}

#[test]
fn a_name_of_the_configuration_outlives_the_names_that_tmux_gives_a_window() {
    let cage = Cage::new();
    // A window has another name as soon as somebody has looked.
    let (tmux, server) = (which("tmux").display().to_string(), cage.tmux.name().to_owned());
    let wrapper = format!(
        "#!/bin/sh\n'{tmux}' \"$@\"\ncode=$?\n'{tmux}' -L {server} rename-window -t main: \"w$$\" 2>/dev/null\nexit $code\n"
    );
    fs::write(cage.home.path().join("bin/tmux"), wrapper).unwrap();
    let send = |rule: &str| {
        fs::write(cage.home.path().join("fleetwatch/config.toml"), rule).unwrap();
        cage.fleetwatch("send", &["send", "mine", "polly"]).output().unwrap()
    };
    for place in ["", "window = \"0\"\n", "pane = \"0\"\n"] {
        let sent = send(&format!("[[terminal]]\nsession = \"main\"\nname = \"mine\"\n{place}"));
        assert!(sent.status.success(), "{place}: {}", String::from_utf8_lossy(&sent.stderr));
        cage.tmux.wait_for_text("main:", "❯");
    }
    let refused = send("[[terminal]]\nsession = \"main\"\nwindow = \"w*\"\nname = \"mine\"\n");
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("the name does not mean this pane any more"), "{told}");
}

#[test]
fn without_a_socket_a_client_still_becomes_the_owner() {
    let cage = Cage::new();
    let owner = cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let run = cage.home.path().join("run/fleetwatch");
    let socket =
        || fs::read_dir(&run).unwrap().flatten().find(|file| file.path().extension().is_some_and(|e| e == "sock"));
    fs::remove_file(socket().unwrap().path()).unwrap();
    // The owner listens again.
    wait_until("the socket to come back", || socket().is_some());
    let client = cage.watch("client");
    client.wait_for_phase("main", "ready");
    assert_eq!(cage.polls("client"), 0);
}

#[test]
fn one_that_watches_in_the_background_knows_what_happened_meanwhile() {
    let cage = Cage::new();
    let config = cage.home.path().join("fleetwatch/config.toml");
    fs::write(&config, "[watch]\nbackground = true\n").unwrap();
    let list = |log: &str| -> Value {
        let output = cage.fleetwatch(log, &["list", "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    list("first");
    let owner = || fs::read_dir(cage.home.path().join("run/fleetwatch")).into_iter().flatten().flatten().count() == 2;
    wait_until("somebody to watch in the background", owner);
    cage.prompt("other", "nap 2");
    let is_finished = |list: &Value| list[0]["terminal"]["id"] == "other" && list[0]["attention"] == "finished";
    let mut count = 0;
    wait_until("the end of the nap", || {
        count += 1;
        let known = list(&format!("list-{count}"));
        assert_eq!(cage.polls(&format!("list-{count}")), 0, "the one in the background is asked");
        is_finished(&known)
    });
    // It is no child of this test, and ends as it is asked to.
    let process = cage.tmux.background_watch().unwrap();
    assert!(Command::new("kill").arg(process).status().unwrap().success());
    wait_until("its end", || !owner());
}

/// How many processes are killed (`FLEETWATCH_OWNER_KILLS`), and numbers below another one that say when
/// (`FLEETWATCH_KILL_SEED`).
fn kills() -> (u64, impl FnMut(u64) -> u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut seed = number("FLEETWATCH_KILL_SEED").unwrap_or_else(|| u64::try_from(now().as_millis()).unwrap());
    println!("FLEETWATCH_KILL_SEED={seed}");
    let random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    (number("FLEETWATCH_OWNER_KILLS").unwrap_or(10), random)
}

/// A prompt over HTTP; what came of it, or `None` if nobody answers.
fn post(address: &str, token: &str, key: &str, body: &str) -> Option<String> {
    let request = format!(
        "POST /v1/terminals/main/input HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let answer: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    Some(answer["outcome"].as_str().unwrap_or("refused").to_owned())
}

/// The owner is killed while a prompt, an answer, a prompt that waits for its turn, a task or a request over HTTP is under way: what is said to
/// be done was done once, what is said to be refused was not done, and the history says the same.
#[test]
fn what_is_asked_for_is_done_once_whoever_is_killed() {
    let (kills, mut random) = kills();
    let cage = Cage::new();
    let printed = |arguments: &[&str]| {
        let output = cage.fleetwatch("token", arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let token = printed(&["token", "add", "phone", "--scope", "act"]);
    let serve = || Server::start(cage.fleetwatch("serve", &["serve", "--listen", "127.0.0.1:0"]), token.clone());
    let mut watches: Vec<Watch> = (0..2).map(|n| cage.watch(&format!("{n}"))).collect();
    watches[1].wait_for_phase("main", "ready");
    let mut server = serve();
    server.wait_for_ready();
    let (mut told, mut tasks): (Vec<(String, String, &str)>, Vec<String>) = Default::default();
    for round in 0..kills {
        let text = format!("nap 0.{round:04}");
        let kind = random(5);
        let acts = |arguments: &[&str]| {
            let mut command = cage.fleetwatch("act", arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        if kind == 1 {
            cage.prompt("main", &format!("ask {text}"));
            cage.tmux.wait_for_text("main:", &format!("Allow {text}?"));
        }
        if kind == 3 {
            cage.prompt("main", "nap 0.7");
        }
        let name = format!("t{round}");
        let under_way: std::thread::JoinHandle<Option<String>> = match kind {
            0 | 1 | 3 => {
                let prompt: &[&str] = &["send", "--json", "main", &text];
                let answer: &[&str] = &["answer", "--json", "main", "yes", "--expect", &text];
                let child = match kind {
                    0 => acts(prompt),
                    1 => acts(answer),
                    _ => acts(&[prompt, &["--when-ready", "--timeout", "20"]].concat()),
                };
                std::thread::spawn(move || {
                    let output = child.wait_with_output().unwrap();
                    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
                    Some(said["outcome"].as_str().unwrap().to_owned())
                })
            }
            2 => {
                let (address, token) = (server.address.clone(), token.clone());
                let (key, body) = (format!("k{round}"), serde_json::json!({ "text": text }).to_string());
                std::thread::spawn(move || post(&address, &token, &key, &body))
            }
            _ => {
                let child = acts(&["run", &name, "--", "sh", "-c", "sleep 0.3; exit 3"]);
                std::thread::spawn(move || child.wait_with_output().unwrap().status.success().then(|| "run".to_owned()))
            }
        };
        pass(Duration::from_millis(random(900)));
        // Mostly whoever acted last, which is the owner.
        let owner = std::panic::catch_unwind(|| last_actor(&cage)).ok().filter(|_| random(4) > 0);
        let victim = match owner {
            Some(owner) if owner == server.id() => 2,
            Some(owner) => watches.iter().position(|watch| watch.child.id() == owner).unwrap_or(0),
            None => usize::try_from(random(3)).unwrap(),
        };
        if victim == 2 {
            server.kill();
            server = serve();
        } else {
            watches[victim].signal("-KILL");
            watches[victim] = cage.watch(&format!("again-{round}"));
        }
        let outcome = under_way.join().unwrap();
        if kind == 4 {
            tasks.extend(outcome.map(|_| name));
            continue;
        }
        // What could not be finished is still a draft, or a question.
        let is_open = || cage.tmux.screen("main:").contains(&format!("Allow {text}?"));
        if kind == 1 && is_open() {
            cage.tmux.run(&["send-keys", "-t", "main:", "2"]);
        }
        cage.tmux.run(&["send-keys", "-t", "main:", "C-u"]);
        let waited = cage.fleetwatch("wait", &["wait", "main", "--for", "ready", "--timeout", "30"]).output().unwrap();
        assert!(waited.status.success(), "{}", String::from_utf8_lossy(&waited.stderr));
        let act = if kind == 1 { "answer" } else { "prompt" };
        told.push((text, outcome.unwrap_or("lost".to_owned()), act));
    }
    let everything = cage.tmux.run(&["capture-pane", "-p", "-S", "-", "-t", "main:"]);
    let kept = cage.lines(&["history", "main", "--json", "--kind", "input"]);
    for (text, outcome, act) in &told {
        let times = match *act {
            "prompt" => everything.matches(&format!("» {text}")).count(),
            _ => everything.matches("● answered 1").count().min(1),
        };
        let accepted = kept.iter().filter(|line| line["outcome"] == "accepted" && line.to_string().contains(text));
        let accepted = accepted.count();
        let expected = match outcome.as_str() {
            "accepted" => times == 1 && accepted == 1,
            "refused" => times == 0 || *act == "answer",
            _ => times <= 1 && accepted <= 1,
        };
        assert!(expected, "{text}: {act} {outcome}, {times} times, accepted {accepted}: {everything} {kept:#?}");
    }
    for name in &tasks {
        let ends = || cage.lines(&["history", name, "--json", "--kind", "task_event"]);
        let ends = || ends().iter().filter(|line| line["event"] == "exited").count();
        wait_until("the end of the task is kept", || ends() > 0);
        assert_eq!(ends(), 1, "{name}: {:#?}", cage.lines(&["history", name, "--json"]));
    }
    println!("{:?}", told.iter().map(|(_, outcome, act)| format!("{act} {outcome}")).collect::<Vec<_>>());
}

/// Processes are killed at random moments, whichever of them is the owner, while prompts are sent and turns begin and end:
/// each turn is kept once, and each prompt arrives once.
#[test]
fn what_happens_is_kept_once_whoever_is_killed() {
    let (kills, mut random) = kills();
    let cage = Cage::new();
    let mut watches: Vec<Watch> = (0..3).map(|n| cage.watch(&format!("{n}"))).collect();
    let mut newest = 2;
    watches[newest].wait_for_phase("main", "ready");
    for round in 0..kills {
        let text = format!("nap 1.{round:04}");
        let begun = jiff::Timestamp::now().to_string();
        let is_sent = random(2) == 0;
        if is_sent {
            let sent = cage.fleetwatch("send", &["send", "main", &text]).output().unwrap();
            assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
        } else {
            cage.prompt("main", &text);
        }
        pass(Duration::from_millis(random(2500)));
        let victim = usize::try_from(random(3)).unwrap();
        watches[victim].signal("-KILL");
        watches[victim] = cage.watch(&format!("again-{round}"));
        newest = victim;
        // Whoever began last knows at the end what the others know.
        watches[newest].wait_for("main", |line| {
            let state = &line["state"];
            let is_of_this_turn = state["last_turn"]["at"].as_str() > Some(begun.as_str());
            is_of_this_turn && state["last_turn"]["result"] == "success" && state["turn"]["phase"] == "ready"
        });
    }
    let starts = |kept: &[(String, String)]| {
        kept.iter().filter(|(_, changed)| changed.contains(r#""to":"active""#)).count() as u64
    };
    let kept = || cage.transitions("main");
    wait_or_tell("every turn in the history", || starts(&kept()) >= kills, || format!("{:#?}", kept()));
    // Whatever is written late would be doubled now.
    drop(watches);
    let kept = kept();
    assert_eq!(starts(&kept), kills, "{kept:#?}");
    let everything = cage.tmux.run(&["capture-pane", "-p", "-S", "-", "-t", "main:"]);
    for round in 0..kills {
        let prompt = format!("» nap 1.{round:04}");
        assert_eq!(everything.matches(&prompt).count(), 1, "{prompt}: {everything}");
    }
}
