//! Hosts, with a program in the place of `ssh` that runs what it is given by a shell, as the shell of a host does.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use super::jump::in_a_terminal;
use super::poll::poll_once;
use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, wait_until};
use fleetwatch::config::Config;
use fleetwatch::fleet::{Capture, PollResult, ServerId, TerminalKey};
use fleetwatch::ids::ServerInstance;
use fleetwatch::operation::{Key, PasteText};
use fleetwatch::poll;
use fleetwatch::tmux::{Delivery, Error, Guard, Jump, Server, Settings};

fn program(path: &Path, script: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A host that is this machine, reached by a false `ssh`.
struct Host {
    tmux: PrivateTmux,
    directory: tempfile::TempDir,
}

impl Host {
    fn new(tmux: PrivateTmux, script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        program(&directory.path().join("ssh"), script);
        Self { tmux, directory }
    }

    /// It drops its options and gives the words behind the host to a shell, joined by blanks.
    fn willing(tmux: PrivateTmux) -> Self {
        Self::new(tmux, r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#)
    }

    fn id(&self) -> ServerId {
        ServerId { host: Some("box-2".into()), ..self.tmux.id() }
    }

    fn settings(&self) -> Settings {
        let host_deadline = Duration::from_secs(10);
        Settings { ssh: self.directory.path().join("ssh"), host_deadline, ..Settings::default() }
    }

    fn server(&self) -> Server {
        Server::new(self.id(), self.settings()).unwrap()
    }

    fn key(&self) -> TerminalKey {
        TerminalKey { server: self.id(), instance: ServerInstance::default(), ..self.tmux.key_of("main:") }
    }
}

#[tokio::test]
async fn a_host_is_listed_captured_and_sent_to_like_this_machine() {
    let host = Host::willing(PrivateTmux::start(&["cat"]));
    let text = "it's $HOME \\ `id` \"; #{pane_id}\n\ttwo;";
    let delivery = host.server().paste(&host.key(), &PasteText::new(text).unwrap(), &Guard::default()).await.unwrap();
    assert_eq!(delivery, Delivery::Delivered);
    assert_eq!(
        host.server().press(&host.key(), &[Key::enter()], &Guard::default()).await.unwrap(),
        Delivery::Delivered
    );
    host.tmux.wait_for_text("main:", "it's $HOME \\ `id` \"; #{pane_id}");
    let poll = host.server().poll(&[host.key().pane]).await.unwrap();
    assert_eq!(poll.captures[0].screen.as_ref().unwrap().rows()[0].text(), "it's $HOME \\ `id` \"; #{pane_id}");
    assert_eq!(host.tmux.run(&["list-buffers"]), "");
}

/// How many agents are found on a host where two run: one by its own name, and one below a shell of another name.
async fn agents_found(ssh: &str) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let claude = directory.path().join("claude").to_str().unwrap().to_owned();
    copy_shell("/bin/sh", &claude);
    let host = Host::new(PrivateTmux::start(&[&claude, "-c", "echo up; read x"]), ssh);
    host.tmux.new_session("below", &["sh", "-c", &format!("{claude} -c 'echo up; read x'; true")]);
    host.tmux.wait_for_text("main:", "up");
    host.tmux.wait_for_text("below:", "up");
    let mut settings = poll::Settings::new(&Config::parse("", Path::new("test.toml")).unwrap());
    settings.tmux = host.settings();
    let report = poll_once(settings, host.id()).await;
    let PollResult::Listed(panes) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(panes.iter().all(|pane| matches!(pane.capture, Capture::Fresh(_))));
    panes.len()
}

#[tokio::test]
async fn the_processes_of_a_host_come_from_its_ps() {
    assert_eq!(agents_found(r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#).await, 2);
}

#[tokio::test]
async fn where_ps_fails_proc_still_names_every_agent() {
    let directory = tempfile::tempdir().unwrap();
    program(&directory.path().join("ps"), "exit 1");
    let without_ps = r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#;
    assert_eq!(agents_found(&format!("PATH={}:$PATH; {without_ps}", directory.path().display())).await, 2);
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_no_missing_server() {
    let unreachable = "echo 'ssh: connect to host box-2 port 22: No route to host' >&2; exit 255";
    let host = Host::new(PrivateTmux::unstarted(), unreachable);
    let error = host.server().poll(&[]).await.unwrap_err();
    assert!(
        matches!(&error, Error::Unreachable { host, message, .. } if host == "box-2" && message.contains("No route"))
    );
    let host = Host::willing(PrivateTmux::unstarted());
    assert!(host.server().poll(&[]).await.unwrap_err().is_no_server());
}

/// An `ssh` with which every host whose name begins with `silent` takes the connection and says nothing.
const SILENT: &str = r#"while [ "$1" != -- ]; do shift; done; shift
case $1 in silent*) exec sleep 60;; esac
shift; exec sh -c "$*""#;

#[tokio::test]
async fn hosts_that_say_nothing_keep_no_other_one_from_being_connected_to() {
    let host = Host::new(PrivateTmux::start(&["cat"]), SILENT);
    let silent: Vec<_> = (0..20)
        .map(|number| {
            let id = ServerId { host: Some(format!("silent-{number}").into()), ..host.id() };
            let server = Server::new(id, host.settings()).unwrap();
            tokio::spawn(async move { server.poll(&[]).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(host.server().poll(&[]).await.unwrap().panes.len(), 1);
    assert!(silent.iter().all(|poll| !poll.is_finished()));
    silent.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn nobody_waits_without_end_for_a_host_that_is_busy() {
    let host = Host::willing(PrivateTmux::start(&["cat"]));
    let programs = tempfile::tempdir().unwrap();
    let asked = programs.path().join("asked");
    program(&programs.path().join("tmux"), &format!("echo >> {}; exec sleep 60", asked.display()));
    let slow = r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#;
    program(&host.directory.path().join("ssh"), &format!("PATH={}:$PATH; {slow}", programs.path().display()));
    let settings = Settings { host_deadline: Duration::from_secs(1), ..host.settings() };
    let server = Server::new(host.id(), settings).unwrap();
    let polls: Vec<_> = (0..12)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move { server.poll(&[]).await })
        })
        .collect();
    for poll in polls {
        assert!(matches!(poll.await.unwrap(), Err(Error::TimedOut { .. })));
    }
    // Those that waited for the first four did not wait for as long as those did, and were not asked.
    assert!(std::fs::read_to_string(asked).unwrap().lines().count() <= 4);
}

#[tokio::test]
async fn what_a_login_prints_does_not_disturb() {
    let chatty = r#"echo Welcome; while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#;
    let host = Host::new(PrivateTmux::start(&["cat"]), chatty);
    assert_eq!(host.server().poll(&[]).await.unwrap().panes.len(), 1);
}

#[tokio::test]
async fn a_connection_that_stays_in_the_background_holds_nothing_up() {
    let (place, skip) =
        (tempfile::tempdir().unwrap(), r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#);
    let gone = place.path().join("gone");
    let lingering = format!("(sh -c 'sleep 10; : >{}; sleep 10' >/dev/null </dev/null &); {skip}", gone.display());
    let host = Host::new(PrivateTmux::start(&["cat"]), &lingering);
    assert_eq!(host.server().poll(&[]).await.unwrap().panes.len(), 1);
    assert!(!gone.exists(), "it waited for the connection to end");
}

#[tokio::test]
async fn any_login_shell_will_do() {
    let tmux = PrivateTmux::start(&["cat"]);
    let text = "it's $HOME \\ `id` !! \"; #{pane_id}\n\ttwo;";
    let shells: [&[&str]; 7] = [&["sh"], &["bash"], &["fish"], &["tcsh"], &["zsh"], &["mksh"], &["busybox", "ash"]];
    let is_there = |shell: &&&[&str]| std::process::Command::new(shell[0]).arg("--version").output().is_ok();
    let shells: Vec<_> = shells.iter().filter(|shell| matches!(shell[0], "sh" | "bash") || is_there(shell)).collect();
    let mut host = Host::willing(tmux);
    for shell in shells {
        let words = shell.join(" ");
        let script = format!(r#"while [ "$1" != -- ]; do shift; done; shift 2; exec {words} -c "$*""#);
        host = Host::new(host.tmux, &script);
        let delivery = host.server().paste(&host.key(), &PasteText::new(text).unwrap(), &Guard::default()).await;
        assert_eq!(delivery.unwrap(), Delivery::Delivered, "{words}");
        host.tmux.wait_for_text("main:", "it's $HOME \\ `id` !! \"; #{pane_id}");
        host.tmux.run(&["send-keys", "-t", "main:", "C-u"]);
        assert_eq!(host.server().poll(&[]).await.unwrap().panes.len(), 1, "{words}");
    }
}

#[tokio::test]
async fn polls_share_one_connection_and_what_is_sent_does_not_wait_for_a_slow_one() {
    let directory = tempfile::tempdir().unwrap();
    let begun = directory.path().join("begun");
    let counting = format!(
        r#"while [ "$1" != -- ]; do shift; done; shift 2; [ -n "$1" ] && echo >> {}; exec sh -c "$*""#,
        begun.display()
    );
    let host = Host::new(PrivateTmux::start(&["cat"]), &counting);
    let count = || std::fs::read_to_string(&begun).unwrap_or_default().lines().count();
    for _ in 0..20 {
        host.server().poll(&[]).await.unwrap();
    }
    assert_eq!(count(), 1);
    let server = host.server();
    let polls = tokio::join!(server.poll(&[]), server.poll(&[]), server.poll(&[]), server.poll(&[]));
    for poll in [polls.0, polls.1, polls.2, polls.3] {
        assert_eq!(poll.unwrap().panes.len(), 1);
    }
    assert!((2..=4).contains(&count()), "{}", count());
}

#[tokio::test]
async fn half_an_answer_is_none() {
    // It cuts off what the host says after 1,500 bytes, in the midst of an answer, and keeps nothing open then.
    let torn = r#"while [ "$1" != -- ]; do shift; done; shift 2; [ -n "$1" ] || exit 1; exec 3<&0
        sh -c "$*" <&3 | dd bs=1 count=1500 2>/dev/null & exec >/dev/null 3<&-; wait"#;
    let host = Host::new(PrivateTmux::start(&["cat"]), torn);
    let mut broken = 0;
    for _ in 0..10 {
        match host.server().poll(&[host.key().pane]).await {
            Ok(poll) => assert_eq!((poll.panes.len(), poll.captures.len()), (1, 1)),
            Err(error) => {
                assert!(matches!(error, Error::Unreachable { .. }), "{error}");
                broken += 1;
            }
        }
    }
    assert!(broken > 0);
}

/// Machines that a command leads to and `ssh` does not: each has a name and a directory for sockets of its own, as a container
/// has, and a user's name space where this machine makes one.
struct Machines {
    directory: tempfile::TempDir,
    names: [&'static str; 2],
}

impl Machines {
    fn new() -> Self {
        let machines = Self { directory: tempfile::tempdir().unwrap(), names: ["pod-1", "pod-2"] };
        let path = machines.path("enter");
        let sockets = machines.path("sockets");
        let enter = format!(
            r#"name=$1; shift; [ -d {sockets}/$name ] || {{ echo "no such machine: $name" >&2; exit 1; }}
export TMUX_TMPDIR={sockets}/$name LC_ALL=C; unset TMUX TMUX_PANE
if unshare --map-root-user --uts true 2>/dev/null; then
exec unshare --map-root-user --uts sh -c 'hostname "$0" && exec "$@"' "$name" "$@"
fi
exec "$@""#
        );
        program(Path::new(&path), &enter);
        for name in machines.names {
            std::fs::create_dir_all(machines.path(&format!("sockets/{name}"))).unwrap();
            machines.run(name, &["tmux", "-f", "/dev/null", "new-session", "-d", "-s", &format!("on-{name}"), "cat"]);
        }
        machines
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn run(&self, machine: &str, words: &[&str]) -> String {
        let output = std::process::Command::new(self.path("enter")).arg(machine).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// A configuration that leads to them.
    fn config(&self) -> String {
        let enter = self.path("enter");
        let servers = self.names.map(|name| format!("[[server]]\nhost = \"{name}\"\n")).concat();
        format!(
            "{servers}[[terminal]]\nsession = \"on-*\"\n[[transport]]\nhosts = [\"pod-*\"]\ncommand = [\"{enter}\", \"{{host}}\"]\n"
        )
    }

    fn server(&self, host: &str) -> Server {
        let settings = poll::Settings::new(&Config::parse(&self.config(), Path::new("test.toml")).unwrap()).tmux;
        Server::new(ServerId { host: Some(host.into()), ..ServerId::default() }, settings).unwrap()
    }

    fn fleetwatch(&self, words: &[&str]) -> (String, String) {
        std::fs::write(self.path("config.toml"), self.config()).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"] {
            command.env(name, self.directory.path());
        }
        command.env_remove("TMUX").env_remove("TMUX_PANE").args(["--config", &self.path("config.toml")]).args(words);
        let output = command.output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in self.names {
            self.run(name, &["tmux", "kill-server"]);
        }
    }
}

#[tokio::test]
async fn a_machine_that_a_command_leads_to_is_a_host_like_any_other() {
    let machines = Machines::new();
    let (reported, errors) = machines.fleetwatch(&["list"]);
    assert!(reported.contains("pod-1/on-pod-1") && reported.contains("pod-2/on-pod-2"), "{reported}{errors}");
    assert!(!reported.contains("pod-1/on-pod-2"), "{reported}{errors}");
    let (reported, errors) = machines.fleetwatch(&["doctor"]);
    assert!(reported.contains(&format!("by `{} pod-1`", machines.path("enter"))), "{reported}{errors}");

    let server = machines.server("pod-1");
    let poll = server.poll(&[]).await.unwrap();
    let (pane, instance) = (&poll.panes[0], poll.instance.clone());
    let key = TerminalKey { server: server.id().clone(), pane: pane.id, pid: pane.pid, instance };
    let text = PasteText::new("it's $HOME \\ `id` \"; #{pane_id}").unwrap();
    assert_eq!(server.paste(&key, &text, &Guard::default()).await.unwrap(), Delivery::Delivered);
    assert!(!machines.run("pod-2", &["tmux", "capture-pane", "-p"]).contains("it's"));

    let Jump::Attach(command) = server.jump(&key, None).await.unwrap() else { panic!("nothing to switch") };
    let outer = in_a_terminal(&command);
    outer.wait_for_text("main:", "it's $HOME \\ `id` \"; #{pane_id}");
    let client = || machines.run("pod-1", &["tmux", "list-clients", "-F", "#{session_name} #{client_utf8}"]);
    wait_until("the client", || client() == "on-pod-1 1\n");

    let error = machines.server("pod-9").poll(&[]).await.unwrap_err();
    assert_eq!(error.to_string(), "host pod-9 cannot be reached: no such machine: pod-9");
    assert_eq!(
        error.hint(),
        format!(
            "`{} pod-9 sh -c 'echo works'` must print `works` without a password or a question",
            machines.path("enter")
        )
    );
}
