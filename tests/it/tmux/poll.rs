//! The pollers in real tmux servers: panes and servers that come, change and go.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::copy_shell;
use crate::support::private_tmux::{PATIENCE, PrivateTmux, signal};
use fleetwatch::clock;
use fleetwatch::config::Config;
use fleetwatch::fleet::{
    Capture, Effect, Fleet, Input, PaneReport, PollResult, ServerId, ServerReport, TerminalKey, TerminalTransition,
};
use fleetwatch::poll::{self, Polled, Poller, Settings};
use fleetwatch::profile::{ProfileSet, Program};
use fleetwatch::state::Availability;

fn settings(rules: &str) -> Settings {
    let config = Config::parse(rules, Path::new("test.toml")).unwrap();
    let mut settings = Settings::new(&config);
    settings.tmux.deadline = Duration::from_secs(10);
    settings
}

const EVERYTHING: &str = "[[terminal]]\nsession = \"*\"\n";

/// A poller whose reports a test waits for.
struct Watched {
    poller: Poller,
}

impl Watched {
    fn start(settings: Settings, tmux: &PrivateTmux) -> Self {
        let (profiles, state) = (Arc::new(ProfileSet::builtin()), poll::PollerState::default());
        Self { poller: poll::spawn(settings, profiles, tmux.id(), state).unwrap() }
    }

    /// The next report that a condition holds for.
    async fn wait_for(&mut self, what: &str, condition: impl Fn(&PollResult) -> bool) -> ServerReport {
        let next = async {
            loop {
                if let Some(Polled { input: Input::Server(report), .. }) = self.poller.next().await
                    && condition(&report.outcome)
                {
                    return report;
                }
            }
        };
        tokio::time::timeout(PATIENCE, next).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
    }

    /// What a fleet that gets every report says of a terminal that goes.
    async fn end_of(&mut self, key: &TerminalKey, fleet: &mut Fleet) -> Option<String> {
        let is_end = |changed: &TerminalTransition| {
            changed.key == *key && changed.transition.summary.availability == Availability::Unavailable
        };
        loop {
            let report = self.wait_for("a report", |_| true).await;
            fleet.handle(Input::Server(report.clone()), report.at);
            while let Some(effect) = fleet.poll_effect() {
                match effect {
                    Effect::Changed(changed) if is_end(&changed) => return changed.state.unwrap().activity.clone(),
                    _ => {}
                }
            }
        }
    }

    async fn wait_for_panes(&mut self, what: &str, condition: impl Fn(&[PaneReport]) -> bool) -> Vec<PaneReport> {
        let report =
            self.wait_for(what, |outcome| matches!(outcome, PollResult::Listed(panes) if condition(panes))).await;
        let PollResult::Listed(panes) = report.outcome else { unreachable!("the condition says so") };
        panes
    }
}

fn shows(panes: &[PaneReport], text: &str) -> bool {
    panes.iter().any(|pane| match &pane.capture {
        Capture::Fresh(screen) => screen.rows().iter().any(|row| row.text().contains(text)),
        _ => false,
    })
}

/// What one poll reports of a server that is not reported in parts.
pub async fn poll_once(settings: poll::Settings, server: ServerId) -> ServerReport {
    let (to_test, mut inputs) = tokio::sync::mpsc::channel(16);
    poll::tell(settings, Arc::new(ProfileSet::builtin()), server, to_test).await;
    while let Some(input) = inputs.recv().await {
        if let Input::Server(report) = input {
            return report;
        }
    }
    panic!("nothing was reported");
}

#[tokio::test]
async fn one_poll_captures_every_watched_pane() {
    let tmux = PrivateTmux::start(&["sh", "-c", "echo one; cat"]);
    tmux.new_window("main", "second", &["sh", "-c", "echo two; cat"]);
    tmux.new_session("other", &["sh", "-c", "echo three; cat"]);
    for (target, text) in [("main:0", "one"), ("main:1", "two"), ("other:", "three")] {
        tmux.wait_for_text(target, text);
    }
    let rules = "[watch]\nignore = [\"other\"]\n[[terminal]]\nsession = \"*\"\n";
    let report = poll_once(settings(rules), tmux.id()).await;
    let PollResult::Listed(panes) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(panes.len(), 2);
    assert!(shows(&panes[..1], "one") && shows(&panes[1..], "two"));
    // Without a rule only agents are watched, and there are none.
    let report = poll_once(settings(""), tmux.id()).await;
    assert!(matches!(report.outcome, PollResult::Listed(panes) if panes.is_empty()));
}

/// More panes than one part of a poll has.
const PANES: usize = 300;

/// A server with [`PANES`] panes, each of which shows its number.
fn many_panes() -> PrivateTmux {
    let tmux = PrivateTmux::start(&["sh", "-c", "echo number 0; exec cat"]);
    for first in (1..PANES).step_by(50) {
        let windows = (first..PANES.min(first + 50)).map(|number| {
            let command = format!("echo number {number}; exec cat");
            [";", "new-window", "-d", "-t", "main:"].map(str::to_owned).into_iter().chain([command])
        });
        let words: Vec<String> = windows.flatten().skip(1).collect();
        tmux.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    tmux.wait_for_text(&format!("main:{}", PANES - 1), &format!("number {}", PANES - 1));
    tmux
}

#[tokio::test]
async fn one_poll_of_very_many_panes_is_reported_in_parts() {
    let tmux = many_panes();
    let (to_test, mut inputs) = tokio::sync::mpsc::channel(1024);
    let settings = Settings { history: None, ..settings(EVERYTHING) };
    poll::tell(settings, Arc::new(ProfileSet::builtin()), tmux.id(), to_test).await;
    let mut fleet = Fleet::new(Default::default(), Arc::new(ProfileSet::builtin()));
    let (mut read, mut parts) = (Vec::new(), Vec::new());
    while let Some(input) = inputs.recv().await {
        if let Input::Server(report) = &input {
            match &report.outcome {
                PollResult::Listed(panes) => {
                    assert!(read.is_empty() && panes.len() == PANES);
                    assert!(panes.iter().all(|pane| pane.capture == Capture::Awaited), "no screen is there yet");
                }
                PollResult::Read { panes, is_last } => {
                    parts.push(*is_last);
                    read.extend(panes.clone());
                }
                other => panic!("{other:?}"),
            }
        }
        let at = input.at().unwrap_or_else(clock::now);
        fleet.handle(input, at);
    }
    assert_eq!(parts, [false, true]);
    assert!((0..PANES).all(|number| shows(&read, &format!("number {number}"))));
    let view = fleet.view(clock::now());
    assert!(view.terminals.len() == PANES && view.servers.iter().all(|server| !server.is_waiting()));
}

#[tokio::test]
async fn what_is_printed_is_seen_once() {
    let tmux = PrivateTmux::start(&["cat"]);
    let mut watched = Watched::start(settings(EVERYTHING), &tmux);
    watched.wait_for_panes("the pane", |panes| panes.len() == 1).await;
    tmux.run(&["send-keys", "-t", "main:", "-l", "typed"]);
    watched.wait_for_panes("the text", |panes| shows(panes, "typed")).await;
    for _ in 0..4 {
        let panes = watched.wait_for_panes("a listing", |_| true).await;
        assert!(matches!(panes[0].capture, Capture::Unchanged), "{:?}", panes[0].capture);
    }
}

#[tokio::test]
async fn panes_that_come_move_and_go_are_followed() {
    let tmux = PrivateTmux::start(&["cat"]);
    let mut watched = Watched::start(settings(EVERYTHING), &tmux);
    watched.wait_for_panes("the first pane", |panes| panes.len() == 1).await;
    let second = tmux.new_window("main", "second", &["cat"]);
    watched.wait_for_panes("the second pane", |panes| panes.len() == 2).await;
    tmux.run(&["rename-session", "-t", "main", "renamed", ";", "rename-window", "-t", "renamed:1", "again"]);
    let renamed = |panes: &[PaneReport]| {
        panes.iter().any(|pane| pane.key == second && pane.place.target() == "renamed:1.0")
            && panes.iter().any(|pane| pane.place.window_name == "again")
    };
    watched.wait_for_panes("the new names", renamed).await;
    tmux.new_session("elsewhere", &["cat"]);
    tmux.run(&["join-pane", "-d", "-s", &second.pane.to_string(), "-t", "elsewhere:0"]);
    let moved = |panes: &[PaneReport]| {
        panes.iter().any(|pane| pane.key == second && pane.place.session == "elsewhere" && pane.place.window_panes == 2)
    };
    watched.wait_for_panes("the pane in its new place", moved).await;
    tmux.run(&["kill-pane", "-t", &second.pane.to_string()]);
    watched.wait_for_panes("its end", |panes| panes.iter().all(|pane| pane.key != second)).await;
}

#[tokio::test]
async fn a_process_that_is_killed_and_a_pane_that_is_reused_are_told_apart() {
    let tmux = PrivateTmux::start(&["cat"]);
    tmux.run(&["set-option", "-w", "-t", "main:", "remain-on-exit", "on"]);
    let key = tmux.key_of("main:");
    let mut watched = Watched::start(settings(EVERYTHING), &tmux);
    watched.wait_for_panes("the pane", |panes| panes[0].key == key).await;
    signal("KILL", key.pid);
    let panes = watched.wait_for_panes("its death", |panes| panes[0].facts.dead).await;
    assert_eq!(panes[0].key, key);
    // tmux 3.3a loses the status of one in six processes that a signal ends, for good.
    assert!(matches!(panes[0].facts.exit_status, Some(137) | None), "{:?}", panes[0].facts);
    tmux.run(&["respawn-pane", "-t", "main:", "cat"]);
    let panes = watched.wait_for_panes("another process", |panes| !panes[0].facts.dead).await;
    assert_eq!(panes[0].key.pane, key.pane);
    assert_ne!(panes[0].key.pid, key.pid);
}

#[tokio::test]
async fn a_server_that_dies_and_comes_back_is_picked_up_by_itself() {
    let tmux = PrivateTmux::start(&["sh", "-c", "echo first; cat"]);
    let mut watched = Watched::start(settings(EVERYTHING), &tmux);
    watched.wait_for_panes("the pane", |panes| shows(panes, "first")).await;
    signal("KILL", tmux.server_pid().unwrap());
    let gone = |outcome: &PollResult| matches!(outcome, PollResult::NoServer(problem) if problem.kind == "no_server");
    watched.wait_for("the server's end", gone).await;
    assert_eq!(tmux.server_pid(), None);
    tmux.new_session("main", &["sh", "-c", "echo second; cat"]);
    watched.wait_for_panes("the new server", |panes| shows(panes, "second")).await;
    tmux.run(&["kill-server"]);
    watched.wait_for("the end of that one", gone).await;
}

#[tokio::test]
async fn a_stopped_server_fails_and_holds_up_no_other() {
    let (stopped, lively) = (PrivateTmux::start(&["cat"]), PrivateTmux::start(&["cat"]));
    let mut impatient = settings(EVERYTHING);
    impatient.tmux.deadline = Duration::from_millis(500);
    let pid = stopped.server_pid().unwrap();
    signal("STOP", pid);
    let mut late = Watched::start(impatient, &stopped);
    let mut watched = Watched::start(settings(EVERYTHING), &lively);
    for _ in 0..3 {
        watched.wait_for_panes("a poll of the lively one", |panes| panes.len() == 1).await;
    }
    late.wait_for("the failure", |outcome| matches!(outcome, PollResult::Failed(problem) if problem.kind == "timeout"))
        .await;
    signal("CONT", pid);
    late.wait_for_panes("its return", |panes| panes.len() == 1).await;
}

/// A program that runs as `path`, with a shell inside that waits.
fn disguised(path: &Path) -> String {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    copy_shell("/bin/sh", path);
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn agents_are_found_by_their_processes_with_the_version_of_their_package() {
    let root = tempfile::tempdir().unwrap();
    let package = root.path().join("node_modules/@anthropic-ai/claude-code");
    let packaged = disguised(&package.join("bin/claude"));
    std::fs::write(package.join("package.json"), r#"{"version": "2.1.197"}"#).unwrap();
    let native = disguised(&root.path().join("claude/versions/2.1.329/claude"));
    let tmux = PrivateTmux::start(&["sh", "-c", &format!("{packaged} -c 'echo up; read x'; echo down; cat")]);
    tmux.new_session("other", &[&native, "-c", "echo up; read x"]);
    tmux.new_session("none", &["sh", "-c", "echo claude codex; cat"]);

    let program = |panes: &[PaneReport], session: &str| {
        panes.iter().find(|pane| pane.place.session == session).map(|pane| pane.program.clone())
    };
    let agent = |version: &str| Some(Program::agent("claude", Some(version)));
    let mut watched = Watched::start(settings(""), &tmux);
    let panes = watched.wait_for_panes("two agents", |panes| panes.len() == 2).await;
    assert_eq!(program(&panes, "main"), agent("2.1.197"));
    assert_eq!(program(&panes, "other"), agent("2.1.329"));
    // The agent ends, and its terminal stays with what runs there now.
    tmux.run(&["send-keys", "-t", "main:", "Enter"]);
    let gone = |panes: &[PaneReport]| matches!(program(panes, "main"), Some(Program::Other { .. }));
    watched.wait_for_panes("the end of one", gone).await;
    tmux.run(&["kill-session", "-t", "main"]);
    watched.wait_for_panes("the end of its pane", |panes| panes.len() == 1).await;
}

#[tokio::test]
async fn a_client_that_cannot_talk_to_its_server_does_not_make_its_panes_gone() {
    let tmux = PrivateTmux::start(&["cat"]);
    let directory = tempfile::tempdir().unwrap();
    let client = directory.path().join("tmux");
    let write = |script: &str| {
        std::fs::write(directory.path().join("new"), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(directory.path().join("new"), std::fs::Permissions::from_mode(0o755)).unwrap();
        // A script that is being run cannot be written.
        std::fs::rename(directory.path().join("new"), &client).unwrap();
    };
    write("exec tmux \"$@\"");
    let mut settings = settings(EVERYTHING);
    settings.tmux.tmux.clone_from(&client);
    let mut watched = Watched::start(settings, &tmux);
    watched.wait_for_panes("the pane", |panes| panes.len() == 1).await;
    // In the words of client.c, of a client that is older than the server.
    write("[ \"$1\" = -V ] && { echo tmux 3.2a; exit; }; echo server exited unexpectedly >&2; exit 1");
    let report = watched.wait_for("another answer", |outcome| !matches!(outcome, PollResult::Listed(_))).await;
    let PollResult::Failed(problem) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(problem.kind, "tmux_mismatch");
    assert!(problem.message.starts_with("the tmux client (3.2a) cannot talk to the server on "), "{}", problem.message);
    write("exec tmux \"$@\"");
    watched.wait_for_panes("the pane again", |panes| panes.len() == 1).await;
}

#[tokio::test]
async fn what_ended_a_terminal_is_reported_as_it_was() {
    let tmux = PrivateTmux::start(&["cat"]);
    tmux.new_window("main", "closed", &["cat"]);
    tmux.new_window("main", "taken", &["cat"]);
    let mut watched = Watched::start(settings(EVERYTHING), &tmux);
    let mut fleet = Fleet::new(Default::default(), Arc::new(ProfileSet::builtin()));
    let report =
        watched.wait_for("three panes", |outcome| matches!(outcome, PollResult::Listed(panes) if panes.len() == 3));
    let report = report.await;
    let report_at = report.at;
    fleet.handle(Input::Server(report.clone()), report.at);
    let PollResult::Listed(panes) = report.outcome else { unreachable!("the condition says so") };
    let window = |name: &str| panes.iter().find(|pane| pane.place.window_name == name).unwrap().key.clone();
    let (closed, taken) = (window("closed"), window("taken"));
    let kept = panes.iter().find(|pane| ![&closed, &taken].contains(&&pane.key)).unwrap().key.clone();

    tmux.run(&["kill-window", "-t", "main:closed"]);
    assert_eq!(watched.end_of(&closed, &mut fleet).await, None);
    tmux.run(&["respawn-pane", "-k", "-t", "main:taken", "cat"]);
    assert_eq!(watched.end_of(&taken, &mut fleet).await.as_deref(), Some("another process now runs in its pane"));
    // The pane has one row, and what ended first still says why when the rest ends.
    let rows = |fleet: &Fleet| -> Vec<(TerminalKey, Option<String>)> {
        let view = fleet.view(report_at);
        view.terminals.iter().map(|it| (it.key.clone(), it.state.activity.clone())).collect()
    };
    assert_eq!(rows(&fleet).iter().filter(|(key, _)| key.pane == taken.pane).count(), 1);
    // A server that cannot be reached has not ended.
    let (socket, away) = (tmux.socket(), tmux.socket().with_extension("away"));
    std::fs::rename(&socket, &away).unwrap();
    let report = watched.wait_for("no answer", |outcome| !matches!(outcome, PollResult::Listed(_))).await;
    assert!(matches!(&report.outcome, PollResult::Failed(problem) if problem.message.contains("kill -USR1")));
    std::fs::rename(&away, &socket).unwrap();
    tmux.run(&["kill-server"]);
    assert_eq!(watched.end_of(&kept, &mut fleet).await.as_deref(), Some("its tmux server ended"));
    assert!(rows(&fleet).contains(&(closed, None)));
}
