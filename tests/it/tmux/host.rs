//! Hosts, with a program in the place of `ssh` that runs what it is given by a shell, as the shell of a host does.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::copy_shell;
use crate::support::private_tmux::PrivateTmux;
use fleetwatch::config::Config;
use fleetwatch::fleet::{Capture, PollResult, ServerId, TerminalKey};
use fleetwatch::ids::ServerInstance;
use fleetwatch::poll;
use fleetwatch::profile::ProfileSet;
use fleetwatch::tmux::{Delivery, Error, Guard, Key, PasteText, Server, Settings};

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
    let look = host.server().look(&[host.key().pane]).await.unwrap();
    assert_eq!(look.captures[0].screen.as_ref().unwrap().rows()[0].text(), "it's $HOME \\ `id` \"; #{pane_id}");
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
    let report = poll::look(settings, Arc::new(ProfileSet::builtin()), host.id()).await.server;
    let PollResult::Listed(panes) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(panes.iter().all(|pane| matches!(pane.capture, Capture::Fresh(_))));
    panes.len()
}

#[tokio::test]
async fn the_processes_of_a_host_come_from_its_ps() {
    assert_eq!(agents_found(r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#).await, 2);
}

#[tokio::test]
async fn where_ps_says_no_tmux_still_names_the_command() {
    let directory = tempfile::tempdir().unwrap();
    program(&directory.path().join("ps"), "exit 1");
    let without_ps = r#"while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#;
    assert_eq!(agents_found(&format!("PATH={}:$PATH; {without_ps}", directory.path().display())).await, 1);
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_no_missing_server() {
    let unreachable = "echo 'ssh: connect to host box-2 port 22: No route to host' >&2; exit 255";
    let host = Host::new(PrivateTmux::unstarted(), unreachable);
    let error = host.server().look(&[]).await.unwrap_err();
    assert!(matches!(&error, Error::Unreachable { host, message } if host == "box-2" && message.contains("No route")));
    let host = Host::willing(PrivateTmux::unstarted());
    assert!(host.server().look(&[]).await.unwrap_err().is_no_server());
}

#[tokio::test]
async fn what_a_login_prints_does_not_disturb() {
    let chatty = r#"echo Welcome; while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#;
    let host = Host::new(PrivateTmux::start(&["cat"]), chatty);
    assert_eq!(host.server().look(&[]).await.unwrap().panes.len(), 1);
}

#[tokio::test]
async fn a_connection_that_stays_in_the_background_holds_nothing_up() {
    let lingering =
        r#"(sleep 20 >/dev/null </dev/null &); while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*""#;
    let host = Host::new(PrivateTmux::start(&["cat"]), lingering);
    let start = Instant::now();
    assert_eq!(host.server().look(&[]).await.unwrap().panes.len(), 1);
    assert!(start.elapsed() < Duration::from_secs(10));
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
        assert_eq!(host.server().look(&[]).await.unwrap().panes.len(), 1, "{words}");
    }
}

#[tokio::test]
async fn looks_share_one_connection_and_what_is_sent_does_not_wait_for_a_slow_one() {
    let directory = tempfile::tempdir().unwrap();
    let begun = directory.path().join("begun");
    let counting = format!(
        r#"while [ "$1" != -- ]; do shift; done; shift 2; [ -n "$1" ] && echo >> {}; exec sh -c "$*""#,
        begun.display()
    );
    let host = Host::new(PrivateTmux::start(&["cat"]), &counting);
    let count = || std::fs::read_to_string(&begun).unwrap_or_default().lines().count();
    for _ in 0..20 {
        host.server().look(&[]).await.unwrap();
    }
    assert_eq!(count(), 1);
    let server = host.server();
    let looks = tokio::join!(server.look(&[]), server.look(&[]), server.look(&[]), server.look(&[]));
    for look in [looks.0, looks.1, looks.2, looks.3] {
        assert_eq!(look.unwrap().panes.len(), 1);
    }
    assert!((2..=3).contains(&count()), "{}", count());
}

#[tokio::test]
async fn half_an_answer_is_none() {
    // It cuts off what the host says after 1,500 bytes, in the midst of an answer, and keeps nothing open then.
    let torn = r#"while [ "$1" != -- ]; do shift; done; shift 2; [ -n "$1" ] || exit 1; exec 3<&0
        sh -c "$*" <&3 | dd bs=1 count=1500 2>/dev/null & exec >/dev/null 3<&-; wait"#;
    let host = Host::new(PrivateTmux::start(&["cat"]), torn);
    let mut broken = 0;
    for _ in 0..10 {
        match host.server().look(&[host.key().pane]).await {
            Ok(look) => assert_eq!((look.panes.len(), look.captures.len()), (1, 1)),
            Err(error) => {
                assert!(matches!(error, Error::Unreachable { .. }), "{error}");
                broken += 1;
            }
        }
    }
    assert!(broken > 0);
}
