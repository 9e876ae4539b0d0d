//! Every server of the user: those in tmux's directory, as they come and go.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::support::private_tmux::{Permit, wait_until};

/// A directory in which tmux has its sockets, and no others.
struct Sockets {
    folder: tempfile::TempDir,
    _permit: Arc<Permit>,
}

impl Sockets {
    fn new() -> Self {
        let sockets = Self { folder: tempfile::tempdir().unwrap(), _permit: Permit::get() };
        let rules = "[[terminal]]\nsession = \"*\"\n[[server]]\nsocket = \"*\"\n";
        std::fs::write(sockets.config(), rules).unwrap();
        sockets
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("fleetwatch.toml")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in ["TMUX", "TMUX_PANE"] {
            command.env_remove(name);
        }
        for name in ["TMUX_TMPDIR", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            command.env(name, self.folder.path());
        }
        command.env("FLEETWATCH_CONFIG", self.config()).stdin(Stdio::null());
        command
    }

    fn try_start(&self, server: &str) -> bool {
        let words = ["-L", server, "-f", "/dev/null", "new-session", "-d", "-s", server, "cat"];
        self.command("tmux").args(words).output().unwrap().status.success()
    }

    fn tmux(&self, server: &str, words: &[&str]) {
        let ran = self.command("tmux").args(["-L", server, "-f", "/dev/null"]).args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    }

    /// Starts a server with a pane that is watched.
    fn start(&self, server: &str) {
        assert!(self.try_start(server), "{server} does not start");
    }

    fn fleetwatch(&self, words: &[&str]) -> (String, String) {
        let ran = self.command(env!("CARGO_BIN_EXE_fleetwatch")).args(words).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&ran.stdout), text(&ran.stderr))
    }

    /// The sockets of what is listed, and what was warned of.
    fn listed(&self) -> (Vec<String>, String) {
        let (out, errors) = self.fleetwatch(&["list", "--json"]);
        let rows: Vec<Value> = serde_json::from_str(&out).unwrap_or_default();
        let mut sockets: Vec<String> =
            rows.iter().map(|row| row["terminal"]["socket"].as_str().unwrap().to_owned()).collect();
        sockets.sort();
        (sockets, errors)
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        for server in ["default", "work", "claude-swarm-7", "late"] {
            let _ = self.command("tmux").args(["-L", server, "kill-server"]).output();
        }
    }
}

/// A `watch` whose lines are kept.
struct Watch(Child, Arc<Mutex<Vec<Value>>>);

impl Watch {
    fn start(sockets: &Sockets) -> Self {
        let mut watch = sockets.command(env!("CARGO_BIN_EXE_fleetwatch"));
        let mut watch = watch.args(["watch", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (out, kept) = (watch.stdout.take().unwrap(), Arc::clone(&lines));
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            lines.for_each(|line| kept.lock().unwrap().extend(serde_json::from_str::<Value>(&line)));
        });
        Self(watch, lines)
    }

    fn wait_for(&self, what: &str, is_it: impl Fn(&Value) -> bool) {
        wait_until(what, || self.1.lock().unwrap().iter().any(&is_it));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_server_of_the_user_is_listed_and_one_that_does_not_run_is_no_fault() {
    let sockets = Sockets::new();
    let (none, errors) = sockets.listed();
    assert!(none.is_empty() && errors.contains("no tmux server is running"), "without any server it says so: {errors}");
    sockets.start("work");
    sockets.start("claude-swarm-7");
    // Nobody listens on it any more.
    drop(std::os::unix::net::UnixListener::bind(sockets.folder.path().join("dead")).unwrap());
    assert_eq!(sockets.listed(), (vec!["claude-swarm-7".to_owned(), "work".to_owned()], String::new()));
    let (doctor, _) = sockets.fleetwatch(&["doctor"]);
    assert!(doctor.contains("claude-swarm-7") && !doctor.contains("not watched"), "{doctor}");
}

#[test]
fn servers_that_come_and_go_are_watched_as_long_as_they_are_there() {
    let sockets = Sockets::new();
    sockets.start("work");
    let watch = Watch::start(&sockets);
    let is_of = |line: &Value, kind: &str, server: &str| line["kind"] == *kind && line["terminal"] == *server;
    watch.wait_for("the first server", |line| is_of(line, "state", "work"));
    sockets.start("late");
    watch.wait_for("a server that came later", |line| is_of(line, "state", "late"));
    sockets.tmux("late", &["kill-server"]);
    watch.wait_for("its end", |line| is_of(line, "transition", "late"));
    // Another one by its name is watched as well, once tmux has let go of the socket.
    wait_until("its socket to be free", || sockets.try_start("late"));
    let come = || watch.1.lock().unwrap().iter().filter(|line| is_of(line, "state", "late")).count();
    wait_until("it to come again", || come() == 2);
    // One that stays away leaves the list with what ran there.
    sockets.tmux("late", &["kill-server"]);
    wait_until("it to be watched no more", || sockets.listed().0 == ["work"]);
}
