//! Hosts over the real `ssh`: each name leads to its own machine, and what goes wrong is reported under its name.
//!
//! These tests need `sshd`, so they run only when they are asked for: `cargo test --test it ssh_hosts:: -- --ignored`. Then a
//! missing one is a failure.

use std::time::Duration;

use crate::support::hosts::Hosts;
use crate::support::private_tmux::{PATIENCE, pass};
use fleetwatch::fleet::{ServerId, TerminalKey};
use fleetwatch::operation::{Key, Obstacle, PasteText};
use fleetwatch::tmux::{Delivery, Error, Guard, Server, Settings};

const BOTH: &str = "[[server]]\nhost = \"prod-db\"\n[[server]]\nhost = \"staging-db\"\n\
                    [[terminal]]\nsession = \"on-*\"\n";

#[test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
fn hosts_with_one_address_are_two_machines() {
    let hosts = Hosts::behind_one_address(&["prod-db", "staging-db"]);
    for machine in ["prod-db", "staging-db"] {
        hosts.tmux(machine, &["-f", "/dev/null", "new-session", "-d", "-s", &format!("on-{machine}"), "cat"]);
    }
    // The second time both connections are there.
    for _ in 0..2 {
        let (reported, errors, _) = hosts.run(BOTH, &["list"]);
        for right in ["prod-db/on-prod-db", "staging-db/on-staging-db"] {
            assert!(reported.contains(right), "{reported}{errors}");
        }
        for wrong in ["prod-db/on-staging-db", "staging-db/on-prod-db"] {
            assert!(!reported.contains(wrong), "{reported}{errors}");
        }
    }
    let (_, errors, fine) = hosts.run(BOTH, &["--host", "staging-db", "run", "job", "--", "sleep", "600"]);
    assert!(fine, "{errors}");
    assert!(hosts.tmux("staging-db", &["list-windows", "-a"]).contains("job"));
    assert!(!hosts.tmux("prod-db", &["list-windows", "-a"]).contains("job"));

    // It is known by the name that it was given, and by the hint of `run`.
    let (_, errors, _) = hosts.run(BOTH, &["--host", "staging-db", "run", "job", "--", "sleep", "600"]);
    assert!(errors.contains("`fleetwatch --host staging-db ") && errors.contains(" tasks kill job`"), "{errors}");
    let (reported, errors, fine) = hosts.run(BOTH, &["keys", "job", "x"]);
    assert!(fine, "{reported}{errors}");
    let (reported, errors, fine) = hosts.run(BOTH, &["--host", "staging-db", "tasks", "kill", "job"]);
    assert!(fine && reported.contains("killed"), "{reported}{errors}");

    let (reported, errors, _) = hosts.run(BOTH, &["doctor"]);
    for machine in ["prod-db", "staging-db"] {
        let line =
            reported.lines().find(|line| line.contains(&format!("{machine} answers within"))).unwrap_or_default();
        for fact in [" ms", "1 pane", "in tmux ", "connection "] {
            assert!(line.contains(fact), "{reported}{errors}");
        }
    }
}

#[test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
fn a_host_behind_another_one_and_one_by_its_ipv6_address_are_reached() {
    let hosts = Hosts::behind_one_address(&["box", "bastion"]);
    hosts.tmux("box", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    let (port, mut server) = hosts.listen("box");
    hosts.configure("box", &format!("ProxyJump bastion\n  HostName 127.0.0.1\n  Port {port}"));
    hosts.configure("::1", &format!("HostName ::1\n  Port {port}"));
    let config =
        "[[server]]\nhost = \"box\"\n[[server]]\nhosts = [\"::1\", \"[::1]\"]\n[[terminal]]\nsession = \"*\"\n";
    let (reported, errors, fine) = hosts.run(config, &["list"]);
    let _ = server.kill().and_then(|()| server.wait());
    assert!(fine, "{reported}{errors}");
    for name in ["\nbox/work", "\n::1/work", "\n[::1]/work"] {
        assert!(reported.contains(name), "{name}: {reported}{errors}");
    }
    assert_eq!(hosts.connections("bastion"), 1);
}

#[test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
fn every_host_that_does_not_answer_is_named() {
    let hosts = Hosts::behind_one_address(&["good", "bad-1", "bad-2"]);
    hosts.tmux("good", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    let config = "[[server]]\nhost = \"good\"\n[[server]]\nhost = \"bad-1\"\n[[server]]\nhost = \"bad-2\"\n\
                  [[terminal]]\nsession = \"*\"\n";
    let (reported, errors, fine) = hosts.run(config, &["list"]);
    assert!(fine && reported.contains("good/work"), "{reported}{errors}");
    for silent in ["bad-1", "bad-2"] {
        assert!(errors.contains(&format!("warning: no tmux server is running on {silent}")), "{errors}");
    }
    let (_, errors, fine) = hosts.run(&config[config.find("[[server]]\nhost = \"bad-1\"").unwrap()..], &["list"]);
    assert!(!fine && errors.contains("bad-1") && errors.contains("bad-2"), "{errors}");
    assert!(errors.contains("error: none of 2 servers answers"), "{errors}");
}

#[test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
fn a_pane_in_which_no_agent_was_found_is_explained_by_its_processes() {
    let hosts = Hosts::behind_one_address(&["box"]);
    hosts.tmux("box", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "sleep 600; true"]);
    let (reported, errors, fine) = hosts.run("[[server]]\nhost = \"box\"\n", &["explain", "work"]);
    assert!(!fine, "{reported}");
    for word in ["pane %0 (work:0.0) runs no known agent", "`sleep 600`", "[[terminal]]", "session = \"work\""] {
        assert!(errors.contains(word), "{errors}");
    }
}

#[tokio::test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
async fn what_is_meant_for_one_machine_never_reaches_the_next_one_behind_its_name() {
    let hosts = Hosts::behind_one_address(&["box", "spare"]);
    for machine in ["box", "spare"] {
        hosts.tmux(machine, &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    }
    let id = ServerId { host: Some("box".into()), ..ServerId::default() };
    let patience = Duration::from_secs(60);
    let settings =
        Settings { ssh: hosts.lone_ssh(), connect_deadline: patience, host_deadline: patience, ..Settings::default() };
    let server = Server::new(id.clone(), settings).unwrap();
    let before = server.poll(&[]).await.unwrap();
    hosts.redirect("box", "spare");
    hosts.signal("box", "KILL");
    let broken = server.poll(&[]).await;
    let after = match broken {
        Ok(after) => after,
        Err(error) => {
            assert_eq!(error.kind(), "unreachable", "{error}");
            server.poll(&[]).await.unwrap()
        }
    };
    assert_ne!(before.instance, after.instance);
    // Machines that are made alike give the same ids, and even the same pids.
    let [pane] = &after.panes[..] else { panic!("one pane") };
    let meant = TerminalKey { server: id, pane: pane.id, pid: pane.pid, instance: before.instance };
    let (text, keys) = (PasteText::new("lost").unwrap(), ["x".parse::<Key>().unwrap()]);
    let refused = Delivery::Refused(Obstacle::Elsewhere);
    assert_eq!(server.paste(&meant, &text, &Guard::default()).await.unwrap(), refused);
    assert_eq!(server.press(&meant, &keys, &Guard::default()).await.unwrap(), refused);
    assert!(!server.kill_task(&meant, fleetwatch::ids::WindowId(pane.window_id)).await.unwrap());
    assert!(server.jump(&meant, None).await.unwrap_err().to_string().contains("different machine"));
    assert!(!hosts.tmux("spare", &["capture-pane", "-p", "-t", "work:"]).contains(['l', 'x']));
    let there = TerminalKey { instance: after.instance, ..meant };
    assert_eq!(server.press(&there, &keys, &Guard::default()).await.unwrap(), Delivery::Delivered);
}

/// A handle to the tmux of a host, with time enough for a busy machine.
fn server_on(hosts: &Hosts, name: &str) -> Server {
    let patience = Duration::from_secs(60);
    let settings =
        Settings { ssh: hosts.lone_ssh(), connect_deadline: patience, host_deadline: patience, ..Settings::default() };
    Server::new(ServerId { host: Some(name.into()), ..ServerId::default() }, settings).unwrap()
}

#[tokio::test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
async fn one_connection_serves_all_polls_and_is_made_anew_when_it_breaks() {
    let hosts = Hosts::behind_one_address(&["box"]);
    hosts.tmux("box", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    let server = server_on(&hosts, "box");
    for _ in 0..20 {
        assert_eq!(server.poll(&[]).await.unwrap().panes.len(), 1);
    }
    assert_eq!(hosts.connections("box"), 1);
    hosts.signal("box", "KILL");
    // It may be found out before it is used again.
    if let Err(error) = server.poll(&[]).await {
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    }
    assert_eq!(server.poll(&[]).await.unwrap().panes.len(), 1);
    assert_eq!(hosts.connections("box"), 2);
}

#[tokio::test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
async fn a_host_that_stands_still_misses_its_deadline_and_harms_no_other() {
    let hosts = Hosts::behind_one_address(&["frozen", "box"]);
    for machine in ["frozen", "box"] {
        hosts.tmux(machine, &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    }
    let (frozen, fine) = (server_on(&hosts, "frozen"), server_on(&hosts, "box"));
    assert!(frozen.poll(&[]).await.is_ok() && fine.poll(&[]).await.is_ok());
    hosts.signal("frozen", "STOP");
    let settings = Settings { ssh: hosts.lone_ssh(), host_deadline: Duration::from_secs(2), ..Settings::default() };
    let impatient = Server::new(frozen.id().clone(), settings).unwrap();
    let (late, other) = tokio::join!(impatient.poll(&[]), fine.poll(&[]));
    assert!(matches!(late, Err(Error::TimedOut { .. })), "{late:?}");
    assert_eq!(other.unwrap().panes.len(), 1);
    hosts.signal("frozen", "CONT");
    assert_eq!(frozen.poll(&[]).await.unwrap().panes.len(), 1);
}

#[tokio::test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
async fn what_a_login_prints_at_any_time_is_no_part_of_an_answer() {
    let hosts = Hosts::behind_one_address(&["box"]);
    hosts.tmux("box", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    let greeting = r#"printf "Welcome\\n0123456789abcdef out\\n"; echo hm >&2; (sleep 1; echo still here) & eval "$SSH_ORIGINAL_COMMAND""#;
    hosts.log_in_by("box", greeting);
    let server = server_on(&hosts, "box");
    let pane = server.poll(&[]).await.unwrap().panes[0].clone();
    for _ in 0..30 {
        let poll = server.poll(&[pane.id]).await.unwrap();
        assert_eq!((poll.panes, poll.captures.len()), (vec![pane.clone()], 1));
        pass(Duration::from_millis(50));
    }
    hosts.signal("box", "KILL");
    hosts.log_in_by("box", "echo This account is not available; exit 1");
    // Until the session that was killed is known to be gone, ssh has many words for its end.
    let is_said = |error: &Error| matches!(error, Error::Unreachable { message, .. } if message == "This account is not available");
    let reported = async { while !is_said(&server.poll(&[]).await.unwrap_err()) {} };
    tokio::time::timeout(PATIENCE, reported).await.expect("what the login said is reported");
}

#[test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
fn a_connection_that_the_operator_opened_is_used_where_ssh_alone_is_refused() {
    let hosts = Hosts::behind_one_address(&["box"]);
    hosts.tmux("box", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    let socket = hosts.path("by-hand");
    hosts.configure("box", &format!("PubkeyAuthentication no\n  ControlPath {}", socket.display()));
    let config = "[[server]]\nhost = \"box\"\n[[terminal]]\nsession = \"*\"\n";
    let (_, errors, fine) = hosts.run(config, &["list"]);
    assert!(!fine && errors.contains("Permission denied"), "{errors}");
    let mut by_hand = std::process::Command::new(hosts.ssh());
    by_hand.args(["-o", "ControlMaster=yes", "-o", "PubkeyAuthentication=yes", "-fN", "box"]);
    assert!(by_hand.stderr(std::process::Stdio::null()).status().unwrap().success());
    let (reported, errors, fine) = hosts.run(config, &["list"]);
    assert!(fine && reported.contains("work"), "{reported}{errors}");
    let (reported, ..) = hosts.run(config, &["doctor"]);
    assert!(reported.contains("over the connection that you opened"), "{reported}");
}
