//! Listing and capturing in real tmux servers.

use std::time::Duration;

use crate::support::private_tmux::{PATIENCE, PrivateTmux, signal, wait_until};
use fleetwatch::fleet::PaneId;
use fleetwatch::tmux::{Error, KnownRows, Server, Settings};

#[tokio::test]
async fn every_pane_is_listed_with_its_place_and_facts() {
    let tmux = PrivateTmux::start(&["sleep", "1000"]);
    let second = tmux.new_window("main", "edit", &["cat"]);
    let other = tmux.new_session("other one", &["sh", "-c", r"printf '\033]2;a title\007hello'; cat"]);
    tmux.wait_for_text("other one:", "hello");

    let listing = tmux.server().poll(&[other.pane]).await.unwrap();
    assert_eq!(listing.version, tmux.run(&["display-message", "-p", "#{version}"]).trim());
    assert_eq!(Some(listing.server_pid), tmux.server_pid());
    let names: Vec<_> = listing.panes.iter().map(|pane| pane.place.derived_name()).collect();
    assert_eq!(names, ["main:0", "main:1", "other one"]);
    let edit = listing.panes.iter().find(|pane| pane.id == second.pane).unwrap();
    assert_eq!((edit.pid, edit.place.window_name.as_str(), edit.facts.command.as_str()), (second.pid, "edit", "cat"));
    assert_eq!((edit.columns, edit.rows), (100, 30));
    let [capture] = &listing.captures[..] else { panic!("one capture") };
    assert_eq!((capture.pane.id, capture.pane.facts.title.as_str()), (other.pane, "a title"));
    assert_eq!(capture.screen.as_ref().unwrap().rows()[0].text(), "hello");
    assert_eq!((capture.pane.facts.cursor.column, capture.pane.facts.cursor.row), (5, 0));
}

#[tokio::test]
async fn what_happens_in_a_pane_that_stands_still_is_seen_in_the_next_poll() {
    let tmux = PrivateTmux::start(&["cat"]);
    tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    tmux.run(&["set-option", "-g", "monitor-bell", "on"]);
    for name in ["bell", "title", "end", "mode", "full", "printed", "size", "moved"] {
        tmux.new_window("main", name, &["cat"]);
    }
    let end = tmux.key_of("main:end").pid;
    let mut known = KnownRows::default();
    let server = tmux.server();
    let whole = server.poll_again(&mut known, &[]).await.unwrap();
    let after = |seconds: i64| {
        let now = || tmux.run(&["display-message", "-p", "%s"]).trim().parse::<i64>().unwrap();
        wait_until("the next seconds", || now() >= whole.clock + seconds);
    };
    // Nothing is printed any more, so that brief rows tell of all panes.
    after(4);
    server.poll_again(&mut known, &[]).await.unwrap();
    let quiet = server.poll_again(&mut known, &[]).await.unwrap();
    assert_eq!(quiet.panes, server.poll(&[]).await.unwrap().panes);

    signal("KILL", end);
    tmux.run(&["copy-mode", "-t", "main:mode"]);
    let tty = |name: &str| tmux.run(&["display-message", "-p", "-t", &format!("main:{name}"), "#{pane_tty}"]);
    let print = |name: &str, text: &str| std::fs::write(tty(name).trim(), text).unwrap();
    print("bell", "\x07");
    print("title", "\x1b]2;another\x07");
    print("full", "\x1b[?1049h");
    print("printed", "new");
    wait_until("what was printed", || tmux.screen("main:printed").contains("new"));
    wait_until("the title", || tmux.run(&["list-panes", "-a", "-F", "#{pane_title}"]).contains("another"));
    wait_until("the end, the bell and the other screen in tmux", || {
        let count = |format: &str| tmux.run(&["list-panes", "-a", "-F", format]).matches('1').count();
        ["#{pane_dead}", "#{window_bell_flag}", "#{alternate_on}"].iter().all(|format| count(format) == 1)
    });
    let printed = tmux.key_of("main:printed").pane;
    let seen = server.poll_again(&mut known, &[printed]).await.unwrap();
    assert_eq!(seen.panes, server.poll(&[]).await.unwrap().panes);
    assert_eq!(seen.captures, server.poll(&[printed]).await.unwrap().captures);
    // A bell that was heard, and a mode that was left.
    tmux.run(&["select-window", "-t", "main:bell"]);
    tmux.run(&["copy-mode", "-q", "-t", "main:mode"]);
    let seen = server.poll_again(&mut known, &[]).await.unwrap();
    assert_eq!(seen.panes, server.poll(&[]).await.unwrap().panes);
    assert!(seen.panes.iter().all(|pane| !pane.facts.bell && !pane.facts.in_mode));
    // Another window, and one that is gone.
    tmux.new_window("main", "more", &["cat"]);
    let seen = server.poll_again(&mut known, &[]).await.unwrap();
    assert_eq!(seen.panes, server.poll(&[]).await.unwrap().panes);
    tmux.run(&["kill-window", "-t", "main:more"]);
    let seen = server.poll_again(&mut known, &[]).await.unwrap();
    assert_eq!(seen.panes, server.poll(&[]).await.unwrap().panes);
    // Another size or place is seen when all panes are listed again.
    tmux.run(&["resize-window", "-t", "main:size", "-x", "71", "-y", "17"]);
    tmux.run(&["move-window", "-s", "main:moved", "-t", "main:77"]);
    let same = async {
        while server.poll_again(&mut known, &[]).await.unwrap().panes != server.poll(&[]).await.unwrap().panes {}
    };
    tokio::time::timeout(PATIENCE, same).await.expect("the new size and place are seen");
    // Another name alone is seen when everything is listed again.
    tmux.run(&["rename-session", "-t", "main", "renamed"]);
    let renamed = async {
        while server.poll_again(&mut known, &[]).await.unwrap().panes.iter().any(|pane| pane.place.session == "main") {}
    };
    tokio::time::timeout(PATIENCE, renamed).await.expect("the new name is seen");
}

#[tokio::test]
async fn what_one_call_lists_and_captures_belongs_together() {
    // The title and the only row count in step, as fast as tmux reads them.
    let count = r"n=0; while :; do n=$((n + 1)); printf '\033]2;%s\007\r%s' $n $n; done";
    let tmux = PrivateTmux::start(&["sh", "-c", count]);
    tmux.wait_for_text("main:", "9");
    let (server, pane) = (tmux.server(), tmux.key_of("main:").pane);
    let mut known = KnownRows::default();
    let many = [pane; 200];
    let mut seen = Vec::new();
    for _ in 0..20 {
        let listing = server.poll_again(&mut known, &many).await.unwrap();
        let facts = &listing.panes[0].facts;
        let title: i64 = facts.title.parse().unwrap();
        for capture in &listing.captures {
            let shown = capture.screen.as_ref().unwrap().rows()[0].text();
            // What is read of the program at once may end behind the title, or within the number: up to the cursor it is new.
            let written = &shown[..usize::from(facts.cursor.column).min(shown.len())];
            let fits = |number: i64| number.to_string().starts_with(written);
            assert!(fits(title) || fits(title - 1), "{shown:?} of {facts:?}");
        }
        assert!(
            listing.captures.iter().all(|capture| capture == &listing.captures[0]),
            "nothing is read within a call"
        );
        seen.push(title);
    }
    assert_eq!(seen.iter().collect::<std::collections::BTreeSet<_>>().len(), 20, "it goes on between two calls");
}

#[tokio::test]
async fn a_pane_that_is_gone_hides_no_other() {
    let tmux = PrivateTmux::start(&["sh", "-c", "echo here; cat"]);
    tmux.wait_for_text("main:", "here");
    let pane = tmux.key_of("main:").pane;
    let listing = tmux.server().poll(&[PaneId(999), pane, PaneId(998)]).await.unwrap();
    assert_eq!(listing.captures.len(), 1);
    assert_eq!(listing.captures[0].screen.as_ref().unwrap().rows()[0].text(), "here");
}

#[tokio::test]
async fn hostile_names_titles_and_directories_stay_in_their_fields() {
    let directory = tempfile::tempdir().unwrap();
    let hostile = directory.path().join("a\tb\n0123456789abcdefE;#{pane_id},$HOME'\"");
    std::fs::create_dir(&hostile).unwrap();
    std::fs::write(hostile.join("begun"), "cat runs\n").unwrap();
    let title = "x,#{pane_pid};'\" \u{202e}".to_owned() + &"w".repeat(10_000);
    let tmux = PrivateTmux::start(&["sh", "-c", "cat"]);
    tmux.run(&["rename-window", "-t", "main:", "w\t##{pane_id}\n,$(x)"]);
    tmux.run(&["select-pane", "-t", "main:", "-T", &title.replace('#', "##")]);
    tmux.run(&[
        "respawn-pane",
        "-k",
        "-c",
        &hostile.to_str().unwrap().replace('#', "##"),
        "-t",
        "main:",
        "cat",
        "begun",
        "-",
    ]);
    let runs = || tmux.run(&["display-message", "-p", "#{pane_current_command} #{pane_current_path}"]);
    tmux.wait_for_text("main:", "cat runs");
    wait_until("cat in the directory", || runs().starts_with("cat ") && runs().trim_end().ends_with("HOME'\""));

    let listing = tmux.server().poll(&[]).await.unwrap();
    let [pane] = &listing.panes[..] else { panic!("one pane, not {:?}", listing.panes) };
    assert_eq!(pane.facts.command, "cat");
    assert!(pane.facts.title.starts_with("x,#{pane_pid};'\" www") && pane.facts.title.len() > 10_000);
    assert!(pane.cwd.as_ref().unwrap().ends_with("0123456789abcdefE;#{pane_id},$HOME'\""), "{:?}", pane.cwd);
    assert!(pane.place.window_name.contains("#{pane_id}"), "{}", pane.place.window_name);
}

#[tokio::test]
async fn a_screen_full_of_control_sequences_is_read_as_cells() {
    let script =
        r"printf '\033[31mred\033[0m \033]52;c;eHh4\007\033P1000pdcs\033\\\000\377\342\200\256x\n\033[2;5Hhere'; cat";
    let tmux = PrivateTmux::start(&["sh", "-c", script]);
    tmux.wait_for_text("main:", "here");
    let listing = tmux.server().poll(&[tmux.key_of("main:").pane]).await.unwrap();
    let screen = listing.captures[0].screen.clone().unwrap();
    assert!(screen.rows()[0].text().starts_with("red "), "{:?}", screen.rows()[0].text());
    assert!(screen.rows().iter().all(|row| !row.text().chars().any(char::is_control)));
    assert_eq!(screen.rows()[1].text(), "    here");
}

#[tokio::test]
async fn polling_starts_no_server() {
    let tmux = PrivateTmux::unstarted();
    let error = tmux.server().poll(&[]).await.unwrap_err();
    assert!(error.is_no_server(), "{error}");
    assert_eq!(tmux.server_pid(), None);
    // The socket file of a server that died is no server either.
    tmux.new_session("main", &["cat"]);
    let pid = tmux.server_pid().unwrap();
    signal("KILL", pid);
    wait_until("the server's end", || tmux.server_pid().is_none());
    let error = tmux.server().poll(&[]).await.unwrap_err();
    assert!(error.is_no_server(), "{error}");
    assert_eq!(tmux.server_pid(), None);
}

#[tokio::test]
async fn a_server_without_sessions_has_no_panes() {
    let tmux = PrivateTmux::start(&["cat"]);
    tmux.run(&["set-option", "-s", "exit-empty", "off", ";", "kill-session", "-t", "main"]);
    let listing = tmux.server().poll(&[]).await.unwrap();
    assert_eq!(listing.panes, []);
}

#[tokio::test]
async fn a_stopped_server_is_given_up_at_the_deadline() {
    let tmux = PrivateTmux::start(&["cat"]);
    let pid = tmux.server_pid().unwrap();
    signal("STOP", pid);
    let settings = Settings { deadline: Duration::from_millis(300), ..Settings::default() };
    let server = Server::new(tmux.id(), settings).unwrap();
    let polled = tokio::time::timeout(Duration::from_secs(5), server.poll(&[])).await;
    let error = polled.expect("it is given up by then").unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    signal("CONT", pid);
    assert_eq!(tmux.server().poll(&[]).await.unwrap().panes.len(), 1);
}

#[tokio::test]
async fn a_missing_tmux_is_named() {
    let tmux = PrivateTmux::unstarted();
    let settings = Settings { tmux: "/nonexistent/tmux".into(), ..Settings::default() };
    let error = Server::new(tmux.id(), settings).unwrap().poll(&[]).await.unwrap_err();
    assert!(matches!(&error, Error::Missing { .. }), "{error}");
    assert!(error.hint().contains("install tmux"));
}

/// Everything of a server that a watcher could leave a trace in.
fn traces(tmux: &PrivateTmux) -> String {
    let asked: [&[&str]; 9] = [
        &["show-options", "-s"],
        &["show-options", "-g"],
        &["show-options", "-w", "-g"],
        &["show-hooks", "-g"],
        &["show-environment", "-g"],
        &["list-buffers"],
        &["list-clients"],
        &["list-windows", "-a", "-F", "#{window_id} #{window_layout} #{window_flags} #{window_activity}"],
        &["list-sessions", "-F", "#{session_id} #{session_attached} #{session_activity} #{session_alerts}"],
    ];
    asked.iter().map(|words| tmux.run(words)).collect()
}

#[tokio::test]
async fn polling_leaves_no_trace() {
    let tmux = PrivateTmux::start(&["sh", "-c", "printf 'ring\\007'; cat"]);
    let pane = tmux.new_window("main", "second", &["cat"]).pane;
    tmux.wait_for_text("main:0", "ring");
    let before = traces(&tmux);
    for _ in 0..20 {
        tmux.server().poll(&[pane, PaneId(77)]).await.unwrap();
    }
    assert_eq!(traces(&tmux), before);
}
