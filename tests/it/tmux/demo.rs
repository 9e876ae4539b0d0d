//! The demo in real tmux: the panes look like agents to tmux, react to answers, and leave nothing behind.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::support::private_tmux::{Permit, PrivateTmux, wait_or_tell, wait_until};
use fleetwatch::demo::SCENES;

/// A running `fleetwatch demo --no-dashboard`; the demo cleans up after it, however it ends.
struct Demo {
    child: Child,
    server: String,
    _permit: Arc<Permit>,
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Whatever the test found, no server of it stays.
        let _ = Command::new("tmux").args(["-L", &self.server, "kill-server"]).stderr(Stdio::null()).status();
    }
}

impl Demo {
    fn start() -> std::io::Result<Self> {
        let permit = Permit::get();
        let mut child = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
            .args(["demo", "--no-dashboard"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut server = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut server)?;
        }
        Ok(Self { child, server: server.trim().to_owned(), _permit: permit })
    }

    /// What a tmux command prints; nothing when the server is gone.
    fn tmux(&self, words: &[&str]) -> String {
        let output = Command::new("tmux").args(["-u", "-L", &self.server]).args(words).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    }

    fn wait_for(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        wait_or_tell(what, || holds(self), || self.panes());
    }

    /// Whether its directory is there by the name that it has while it is removed.
    fn is_claimed(&self) -> bool {
        let begins = format!("{}.ended", self.server);
        let mut entries = std::fs::read_dir(std::env::temp_dir()).unwrap();
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(&begins)))
    }

    fn panes(&self) -> String {
        self.tmux(&[
            "list-panes",
            "-a",
            "-F",
            "#{session_name} #{pane_current_command} #{window_width}x#{window_height}",
        ])
    }

    fn screen(&self, session: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", session])
    }

    fn directory(&self) -> PathBuf {
        std::env::temp_dir().join(&self.server)
    }
}

#[test]
fn the_panes_of_the_demo_are_agents_to_tmux() {
    let demo = Demo::start().unwrap();
    for scene in SCENES {
        let size = scene.recording().unwrap().header.size;
        let pane = format!("{} {} {}x{}", scene.session, scene.tool, size.columns, size.rows);
        demo.wait_for(&pane, |demo| demo.panes().lines().any(|line| line == pane));
    }
    // One exits: its process goes on as a shell, and its pane stays the same.
    let pid = demo.tmux(&["display-message", "-p", "-t", "legacy", "#{pane_pid}"]);
    demo.wait_for("the shell", |demo| demo.panes().contains("legacy bash "));
    assert_eq!(demo.tmux(&["display-message", "-p", "-t", "legacy", "#{pane_pid}"]), pid);
}

#[test]
fn an_approval_in_the_demo_waits_until_it_is_answered() {
    let demo = Demo::start().unwrap();
    let asks = |demo: &Demo| demo.screen("shop-api").contains("Do you want to proceed?");
    demo.wait_for("the whole approval", |demo| asks(demo) && demo.screen("shop-api").contains("Esc to cancel"));
    // The mark before the call blinks until the scene stands still.
    let dialog = |demo: &Demo| demo.screen("shop-api").split_once("Bash command").map(|(_, dialog)| dialog.to_owned());
    let shown = dialog(&demo);
    demo.tmux(&["send-keys", "-t", "shop-api", "Up"]);
    // In the recording it is answered six seconds behind the beginning of the demo, before this one is interrupted.
    demo.wait_for("an interruption", |demo| demo.screen("payments").contains("Request cancelled."));
    assert!(shown.is_some());
    assert_eq!(dialog(&demo), shown, "an arrow answers nothing");
    demo.tmux(&["send-keys", "-t", "shop-api", "1"]);
    demo.wait_for("the end of the approval", |demo| !asks(demo));
}

#[test]
fn what_is_refused_in_the_demo_is_not_done_and_what_is_approved_is() {
    let demo = Demo::start().unwrap();
    let shows = |session: &'static str, text: &'static str| {
        demo.wait_for(text, |demo| demo.screen(session).contains(text));
    };
    shows("shop-api", "Do you want to proceed?");
    shows("pricing", "Do you want to create vat.py?");
    demo.tmux(&["send-keys", "-t", "shop-api", "4"]);
    demo.tmux(&["send-keys", "-t", "pricing", "1"]);
    shows("shop-api", "Did not run 1 call");
    shows("pricing", "That is done");
    assert!(!demo.screen("shop-api").contains("That is done"));
    demo.tmux(&["send-keys", "-t", "search", "Escape"]);
    shows("search", "Interrupted");
    let changes = |session: &str| {
        let home = demo.directory().join("home").join(session);
        let diff = Command::new("git").arg("-C").arg(home).args(["diff", "--shortstat"]).output().unwrap();
        String::from_utf8_lossy(&diff.stdout).into_owned()
    };
    assert!(changes("shop-api").contains("1 file changed"), "{}", changes("shop-api"));
}

#[test]
fn a_demo_leaves_nothing_behind_even_when_it_is_killed() {
    for ends in ["end of input", "-KILL", "-TERM", "kill-server"] {
        let mut demo = Demo::start().unwrap();
        let socket = PathBuf::from(demo.tmux(&["display-message", "-p", "#{socket_path}"]).trim());
        assert!(socket.exists() && demo.directory().exists());
        // A window of the operator's own does not keep the server.
        demo.tmux(&["new-session", "-d", "-s", "mine", "sleep", "1000"]);
        match ends {
            "end of input" => drop(demo.child.stdin.take()),
            "kill-server" => drop(demo.tmux(&["kill-server"])),
            signal => drop(Command::new("kill").args([signal, &demo.child.id().to_string()]).status()),
        }
        // It would take the end of its input for the end.
        let input = demo.child.stdin.take();
        demo.child.wait().unwrap();
        drop(input);
        demo.wait_for("the end of the server", |demo| demo.panes().is_empty());
        demo.wait_for("an empty directory", |demo| !demo.directory().exists() && !socket.exists());
        demo.wait_for("a swept directory", |demo| !demo.is_claimed());
    }
}

#[test]
fn a_command_that_outlives_the_demo_leaves_nothing_of_it_either() {
    let mut demo = Demo::start().unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
        .args(["--config", "/dev/null", "-L", &demo.server, "watch"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert!(lines.next().is_some_and(|line| line.is_ok()), "it says what is there");
    drop(demo.child.stdin.take());
    demo.wait_for("the end of the demo", |demo| demo.panes().is_empty());
    // It notes that they are gone.
    demo.wait_for("a history anew", |demo| demo.directory().join("history.db").exists());
    assert!(Command::new("kill").args(["-INT", &watch.id().to_string()]).status().unwrap().success());
    watch.wait().unwrap();
    demo.wait_for("an empty directory", |demo| !demo.directory().exists() && !demo.is_claimed());
}

#[test]
fn the_dashboard_tells_the_demo_true() {
    let tmux = PrivateTmux::start(&["sh"]);
    tmux.run(&["resize-window", "-t", "main", "-x", "140", "-y", "40"]);
    let pane = tmux.run(&["respawn-pane", "-k", "-t", "main", env!("CARGO_BIN_EXE_fleetwatch"), "demo"]);
    assert_eq!(pane, "");
    let row = |name: &str| {
        // The header names who has waited longest.
        let screen = tmux.screen("main");
        screen
            .lines()
            .skip(1)
            .find(|line| line.split_whitespace().any(|word| word == name))
            .unwrap_or_default()
            .to_owned()
    };
    for (name, agent, word) in [
        ("shop-api", "claude 2.1.330", "approval"),
        ("pricing", "claude 2.1.330", "approval"),
        ("billing", "codex 0.169.0", "question"),
        ("infra", "claude 2.1.329", "failed"),
        ("payments", "qwen 0.24.4", "interrupted"),
        ("docs", "gemini 0.61.0", "finished"),
        ("legacy", "codex 0.169.0", "gone"),
    ] {
        wait_until(&format!("{name} {word}"), || row(name).contains(agent) && row(name).contains(word));
    }
    let demo =
        format!("fleetwatch-demo-{}-0", tmux.run(&["display-message", "-p", "-t", "main", "#{pane_pid}"]).trim());
    assert!(std::env::temp_dir().join(&demo).exists());
    // A command of one who has configured nothing follows the dashboard, and knows what that has seen.
    let words = ["--config", "/dev/null", "-L", &demo, "list", "--columns", "name,state"];
    let listed = Command::new(env!("CARGO_BIN_EXE_fleetwatch")).args(words).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.lines().any(|line| line.split_whitespace().eq(["docs", "finished"])), "{listed}");
    tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    tmux.run(&["send-keys", "-t", "main", "q"]);
    wait_until("the end of the dashboard", || {
        tmux.run(&["display-message", "-p", "-t", "main", "#{pane_dead}"]).trim() == "1"
    });
    assert!(!std::env::temp_dir().join(&demo).exists(), "the demo has cleaned up before it ended");
    let servers = Command::new("tmux").args(["-L", &demo, "list-sessions"]).stderr(Stdio::null()).status();
    assert!(!servers.unwrap().success(), "the demo's server has ended");
}
