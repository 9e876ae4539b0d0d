//! Hosts over the real `ssh`: each name leads to its own machine, and what goes wrong is told by its name.
//!
//! These tests need `sshd`, so they run only when they are asked for: `cargo test --test it ssh_hosts:: -- --ignored`. Then a
//! missing one is a failure.

use std::time::Duration;

use crate::support::hosts::Hosts;
use fleetwatch::fleet::{ServerId, TerminalKey};
use fleetwatch::tmux::{Delivery, Guard, Key, Obstacle, PasteText, Server, Settings};

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
        let (told, errors, _) = hosts.run(BOTH, &["list"]);
        for right in ["prod-db/on-prod-db", "staging-db/on-staging-db"] {
            assert!(told.contains(right), "{told}{errors}");
        }
        for wrong in ["prod-db/on-staging-db", "staging-db/on-prod-db"] {
            assert!(!told.contains(wrong), "{told}{errors}");
        }
    }
    let (_, errors, fine) = hosts.run(BOTH, &["--host", "staging-db", "run", "job", "--", "sleep", "600"]);
    assert!(fine, "{errors}");
    assert!(hosts.tmux("staging-db", &["list-windows", "-a"]).contains("job"));
    assert!(!hosts.tmux("prod-db", &["list-windows", "-a"]).contains("job"));

    // It is known by the name that it was given, and by the hint of `run`.
    let (_, errors, _) = hosts.run(BOTH, &["--host", "staging-db", "run", "job", "--", "sleep", "600"]);
    assert!(errors.contains("`fleetwatch --host staging-db tasks kill job`"), "{errors}");
    let (told, errors, fine) = hosts.run(BOTH, &["keys", "job", "x"]);
    assert!(fine, "{told}{errors}");
    let (told, errors, fine) = hosts.run(BOTH, &["--host", "staging-db", "tasks", "kill", "job"]);
    assert!(fine && told.contains("killed"), "{told}{errors}");

    let (told, errors, _) = hosts.run(BOTH, &["doctor"]);
    for machine in ["prod-db", "staging-db"] {
        let line = told.lines().find(|line| line.contains(&format!("{machine} answers within"))).unwrap_or_default();
        for fact in [" ms", "1 pane", "in tmux ", "the first call took", "connection "] {
            assert!(line.contains(fact), "{told}{errors}");
        }
    }
}

#[test]
#[ignore = "drives a real sshd: install openssh-server, then ask for it with --ignored"]
fn every_host_that_does_not_answer_is_named() {
    let hosts = Hosts::behind_one_address(&["good", "bad-1", "bad-2"]);
    hosts.tmux("good", &["-f", "/dev/null", "new-session", "-d", "-s", "work", "cat"]);
    let config = "[[server]]\nhost = \"good\"\n[[server]]\nhost = \"bad-1\"\n[[server]]\nhost = \"bad-2\"\n\
                  [[terminal]]\nsession = \"*\"\n";
    let (told, errors, fine) = hosts.run(config, &["list"]);
    assert!(fine && told.contains("good/work"), "{told}{errors}");
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
    let (told, errors, fine) = hosts.run("[[server]]\nhost = \"box\"\n", &["explain", "work"]);
    assert!(!fine, "{told}");
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
    let before = server.look(&[]).await.unwrap();
    hosts.redirect("box", "spare");
    let after = server.look(&[]).await.unwrap();
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
