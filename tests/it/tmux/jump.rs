//! Jumps to panes of real tmux servers, with a real client that an outer tmux holds.

use crate::support::private_tmux::{PrivateTmux, wait_until};
use fleetwatch::fleet::TerminalKey;
use fleetwatch::tmux::{Inside, Jump};

/// A server with two sessions; the second one's second window is where to go.
fn two_sessions() -> (PrivateTmux, TerminalKey) {
    let tmux = PrivateTmux::start(&["sh", "-c", "echo start; cat"]);
    tmux.new_session("other one", &["sh", "-c", "echo elsewhere; cat"]);
    let goal = tmux.new_window("other one", "goal", &["sh", "-c", "echo arrived; cat"]);
    (tmux, goal)
}

/// What a program looks like that is run in a terminal.
pub(super) fn in_a_terminal(command: &std::process::Command) -> PrivateTmux {
    let mut words = vec!["env".to_owned(), "-u".into(), "TMUX".into(), "-u".into(), "TMUX_PANE".into()];
    words.push(command.get_program().to_str().unwrap().to_owned());
    // The outer tmux would end its own command at a semicolon.
    words.extend(command.get_args().map(|word| word.to_str().unwrap().replace(';', "\\;")));
    PrivateTmux::start(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[tokio::test]
async fn from_outside_of_tmux_a_client_is_attached() {
    let (tmux, goal) = two_sessions();
    let Jump::Attach(command) = tmux.server().jump(&goal, None).await.unwrap() else { panic!("nothing to switch") };
    let outer = in_a_terminal(&command);
    outer.wait_for_text("main:", "arrived");
    assert_eq!(tmux.run(&["list-clients", "-F", "#{session_name}"]).trim(), "other one");
}

#[tokio::test]
async fn from_inside_the_client_is_switched() {
    let (tmux, goal) = two_sessions();
    let start = tmux.key_of("main:");
    let Jump::Attach(command) = tmux.server().jump(&start, None).await.unwrap() else { panic!("nothing to switch") };
    let outer = in_a_terminal(&command);
    outer.wait_for_text("main:", "start");
    let variable = |format: &str| tmux.run(&["display-message", "-p", "-t", "main:", format]).trim().to_owned();
    let inside = Inside::new(Some(variable("#{socket_path},#{pid},0")), Some(variable("#{pane_id}")));
    let jump = tmux.server().jump(&goal, inside.as_ref()).await.unwrap();
    assert!(matches!(jump, Jump::Switched), "{jump:?}");
    outer.wait_for_text("main:", "arrived");
    wait_until("the session", || tmux.run(&["list-clients", "-F", "#{session_name}"]).trim() == "other one");
}

#[tokio::test]
async fn inside_of_another_server_a_client_is_attached() {
    let (tmux, goal) = two_sessions();
    let inside = Inside::new(Some("/tmp/tmux-0/default,1,0".into()), Some("%0".into()));
    assert!(matches!(tmux.server().jump(&goal, inside.as_ref()).await.unwrap(), Jump::Attach(_)));
}

#[tokio::test]
async fn there_is_no_jump_to_a_pane_that_is_gone() {
    let (tmux, goal) = two_sessions();
    let other = TerminalKey { pid: goal.pid + 1, ..goal.clone() };
    assert!(tmux.server().jump(&other, None).await.is_err());
    tmux.run(&["kill-pane", "-t", &goal.pane.to_string()]);
    assert!(tmux.server().jump(&goal, None).await.is_err());
}

#[tokio::test]
async fn from_inside_panes_are_shown_that_take_no_keys() {
    let (tmux, _) = two_sessions();
    tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    let ended = tmux.new_window("other one", "ended", &["sh", "-c", "exit 3"]);
    let copied = tmux.new_window("main", "copied", &["sh", "-c", "echo copied; cat"]);
    tmux.run(&["copy-mode", "-t", &copied.pane.to_string()]);
    let is_dead = || tmux.run(&["display-message", "-p", "-t", &ended.pane.to_string(), "#{pane_dead}"]);
    wait_until("the end", || is_dead().trim() == "1");
    let start = tmux.key_of("main:0");
    let Jump::Attach(command) = tmux.server().jump(&start, None).await.unwrap() else { panic!("nothing to switch") };
    let outer = in_a_terminal(&command);
    outer.wait_for_text("main:", "start");
    let variable = |format: &str| tmux.run(&["display-message", "-p", "-t", "main:0", format]).trim().to_owned();
    let inside = Inside::new(Some(variable("#{socket_path},#{pid},0")), Some(variable("#{pane_id}")));
    for (pane, text) in [(&ended, "Pane is dead"), (&copied, "copied")] {
        let jump = tmux.server().jump(pane, inside.as_ref()).await.unwrap();
        assert!(matches!(jump, Jump::Switched), "{jump:?}");
        outer.wait_for_text("main:", text);
    }
}
