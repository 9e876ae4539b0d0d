//! What a name means: sessions that are renamed and swapped, linked windows, groups of sessions, names like ids.

use std::path::Path;

use crate::support::private_tmux::{PrivateTmux, wait_until};
use fleetwatch::fleet::{PaneId, TerminalKey};
use fleetwatch::ids::NamedPlace;
use fleetwatch::operation::{Key, Obstacle, PasteText};
use fleetwatch::tmux::{Delivery, Guard, KnownRows, Listing};
use proptest::prelude::*;

fn session(name: &str) -> NamedPlace {
    NamedPlace { session: name.to_owned(), window_index: None, window_name: None, pane_index: None }
}

/// What becomes of a text and a key for a pane that is said to be there.
async fn sent(tmux: &PrivateTmux, key: &TerminalKey, named: &NamedPlace) -> Delivery {
    let (server, guard) = (tmux.server(), Guard::default().at(key.pane, Some(named)));
    let pasted = server.paste(key, &PasteText::new("text").unwrap(), &guard).await.unwrap();
    let pressed = server.press(key, &["x".parse::<Key>().unwrap()], &guard).await.unwrap();
    assert_eq!(pasted, pressed, "{named:?}");
    assert_eq!(server.is_meant(key, named).await.unwrap(), pressed == Delivery::Delivered, "{named:?}");
    pressed
}

/// Lets the next pane have an id of two digits: tmux's formats of times read `%12 ` in another way than `%1 `.
fn pass_pane_ids(tmux: &PrivateTmux) {
    for _ in 0..12 {
        let window = tmux.run(&["new-window", "-d", "-P", "-F", "#{window_id}", "-t", "main:", "cat"]);
        tmux.run(&["kill-window", "-t", window.trim()]);
    }
}

const RENAMED: Delivery = Delivery::Refused(Obstacle::Renamed);

/// Renames a session to what tmux makes of a name, if it takes it.
fn rename(tmux: &PrivateTmux, pane: PaneId, name: &str) -> String {
    tmux.output(&["rename-session", "-t", &pane.to_string(), "--", name]);
    let name = tmux.run(&["display-message", "-p", "-t", &pane.to_string(), "#{session_name}"]);
    name.trim_end_matches('\n').to_owned()
}

#[test]
fn what_is_sent_to_a_name_reaches_the_pane_that_has_it_now_and_no_other() {
    let tmux = PrivateTmux::start(&["cat"]);
    pass_pane_ids(&tmux);
    let keys = [tmux.key_of("main:"), tmux.new_session("other", &["cat"]), tmux.new_session("third", &["cat"])];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
    let nasty = "([a-z0-9]|[;\"'\\\\$~#{}%,=&|*+?()^! @<>-]|日|é|😀|\\[|\\]){1,12}";
    let names = prop::collection::vec(nasty, 3);
    runner
        .run(&names, |names| {
            let has: Vec<String> = keys.iter().zip(&names).map(|(key, name)| rename(&tmux, key.pane, name)).collect();
            for (key, own) in keys.iter().zip(&has) {
                for name in &has {
                    let expected = if name == own { Delivery::Delivered } else { RENAMED };
                    prop_assert_eq!(
                        runtime.block_on(sent(&tmux, key, &session(name))),
                        expected,
                        "{} at {}",
                        own,
                        name
                    );
                }
            }
            // The first two swap their names: who knows the old ones reaches nobody.
            rename(&tmux, keys[0].pane, "between");
            let swapped = [rename(&tmux, keys[1].pane, &has[0]), rename(&tmux, keys[0].pane, &has[1])];
            prop_assert_eq!(runtime.block_on(sent(&tmux, &keys[0], &session(&has[0]))), RENAMED);
            // tmux spells some characters out, each time that it takes a name.
            prop_assume!(swapped == has[..2]);
            prop_assert_eq!(runtime.block_on(sent(&tmux, &keys[1], &session(&has[0]))), Delivery::Delivered);
            prop_assert_eq!(runtime.block_on(sent(&tmux, &keys[0], &session(&has[1]))), Delivery::Delivered);
            Ok(())
        })
        .unwrap();
    assert_eq!(tmux.run(&["list-buffers"]), "");
}

#[tokio::test]
async fn each_part_of_a_place_that_was_named_must_still_be_so() {
    let tmux = PrivateTmux::start(&["cat"]);
    pass_pane_ids(&tmux);
    let first = tmux.new_window("main", "api.v2", &["cat"]);
    let second = tmux.new_window("main", "web", &["cat"]);
    let split = ["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:1", "cat"];
    let third = tmux.key_of(tmux.run(&split).trim());
    tmux.run(&["new-session", "-d", "-s", "guest"]);
    tmux.run(&["link-window", "-d", "-s", "main:1", "-t", "guest:7"]);
    let at = |session: &str, index, name: Option<&str>, pane| NamedPlace {
        session: session.to_owned(),
        window_index: index,
        window_name: name.map(str::to_owned),
        pane_index: pane,
    };
    for (key, named) in [
        (&first, at("main", Some(1), None, None)),
        (&first, at("main", None, Some("api.v2"), Some(0))),
        (&first, at("guest", Some(7), None, Some(0))),
        (&third, at("guest", None, None, Some(1))),
        (&second, at("main", Some(2), Some("web"), Some(0))),
    ] {
        assert_eq!(sent(&tmux, key, &named).await, Delivery::Delivered, "{named:?}");
    }
    for (key, named) in [
        (&first, at("main", Some(2), None, None)),
        (&first, at("main", None, Some("api-v2"), None)),
        (&first, at("guest", Some(1), None, None)),
        (&second, at("guest", None, None, None)),
        (&third, at("main", Some(1), None, Some(0))),
        (&first, at("main", Some(1), Some("web"), None)),
    ] {
        assert_eq!(sent(&tmux, key, &named).await, RENAMED, "{named:?}");
    }
    // Windows, and panes within one, that swap their places.
    tmux.run(&["swap-window", "-d", "-s", "main:1", "-t", "main:2"]);
    tmux.run(&["swap-pane", "-d", "-s", &first.pane.to_string(), "-t", &third.pane.to_string()]);
    assert_eq!(sent(&tmux, &first, &at("main", Some(1), None, None)).await, RENAMED);
    assert_eq!(sent(&tmux, &first, &at("main", None, Some("api.v2"), Some(0))).await, RENAMED);
    assert_eq!(sent(&tmux, &third, &at("main", Some(2), Some("api.v2"), Some(0))).await, Delivery::Delivered);
}

/// The names that the panes at home have, by pane.
fn names(listing: &Listing) -> Vec<(u32, String)> {
    let mut names: Vec<(u32, String)> =
        listing.panes.iter().filter(|pane| pane.at_home).map(|pane| (pane.id.0, pane.place.derived_name())).collect();
    names.sort();
    names
}

#[tokio::test]
async fn no_group_and_no_link_renames_what_is_there() {
    let tmux = PrivateTmux::unstarted();
    tmux.new_session("work", &["cat"]);
    tmux.new_session("zdev", &["cat"]);
    tmux.new_session("many", &["cat"]);
    tmux.new_window("many", "second", &["cat"]);
    let server = tmux.server();
    let before = names(&server.poll(&[]).await.unwrap());
    assert_eq!(before.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), ["work", "zdev", "many:0", "many:1"]);
    let mut known = KnownRows::default();
    server.poll_again(&mut known, &[]).await.unwrap();
    let mut again = async |what: &[&str]| {
        tmux.run(what);
        let listing = server.poll_again(&mut known, &[]).await.unwrap();
        let found = names(&listing);
        // A poller that knew the panes before sees what one sees that looks for the first time.
        assert_eq!(listing.panes, server.poll(&[]).await.unwrap().panes, "{what:?}");
        found
    };
    assert_eq!(again(&["new-session", "-d", "-t", "zdev", "-s", "0-2"]).await, before);
    assert_eq!(again(&["link-window", "-d", "-s", "work:0", "-t", "zdev:7"]).await, before);
    // Of a younger session into an older one, whose name comes first as well.
    assert_eq!(again(&["link-window", "-d", "-s", "many:1", "-t", "work:5"]).await, before);
    assert_eq!(again(&["new-session", "-d", "-t", "work", "-s", "0-1"]).await, before);
    assert_eq!(again(&["kill-session", "-t", "=0-1"]).await, before);
    // One that is made in any session of a group is at home in the first one.
    let more = again(&["new-window", "-d", "-t", "0-2:9", "cat"]).await;
    assert_eq!(more.last().map(|(_, name)| name.as_str()), Some("zdev:9"));
    // Where the home is gone, another session that shows the window is it.
    let left = again(&["kill-session", "-t", "=zdev"]).await;
    assert_eq!(left[1].1, "0-2:0");
    // A session that is called otherwise is told in the next poll, however quiet its panes are.
    let renamed = again(&["rename-session", "-t", "=work", "play"]).await;
    assert_eq!(renamed[0].1, "play");
}

#[test]
fn a_servers_sockets_that_nobody_watches_are_named_by_doctor() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join(format!("tmux-{}", user_id()));
    std::fs::create_dir(&directory).unwrap();
    let _alive = std::os::unix::net::UnixListener::bind(directory.join("claude-swarm-7")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(directory.join("dead")).unwrap());
    std::fs::write(directory.join("no-socket"), "").unwrap();
    let doctor = |arguments: &[&str], home: &Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for variable in ["TMUX", "TMUX_PANE", "FLEETWATCH_CONFIG"] {
            command.env_remove(variable);
        }
        command.env("XDG_CONFIG_HOME", "/nonexistent").env("HOME", "/nonexistent").env("TMUX_TMPDIR", home);
        let output = command.args(arguments).arg("doctor").output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let told = doctor(&[], folder.path());
    assert!(told.contains("1 tmux server of yours not watched: claude-swarm-7\n"), "{told}");
    assert!(told.contains("`fleetwatch -L claude-swarm-7`"), "{told}");
    // Who names a server asks for that one.
    assert!(!doctor(&["-L", "dead"], folder.path()).contains("not watched"));
}

fn user_id() -> String {
    let output = std::process::Command::new("id").arg("-u").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_prompt_goes_to_whoever_has_the_name_when_it_is_sent() {
    let cage = super::owner::Cage::new();
    let owner = cage.watch("owner");
    for name in ["main", "other"] {
        owner.wait_for_phase(name, "ready");
    }
    let [main, other] = ["main:", "other:"].map(|target| cage.tmux.key_of(target).pane.to_string());
    // Nothing is printed any more, so that the owner asks for few facts.
    let clock = || cage.tmux.run(&["display-message", "-p", "%s"]).trim().parse::<i64>().unwrap();
    let begun = clock();
    wait_until("quiet panes", || clock() >= begun + 4);
    for (pane, name) in [(&main, "between"), (&other, "main"), (&main, "other")] {
        cage.tmux.run(&["rename-session", "-t", pane, name]);
    }
    let send = |target: &str, text: &str| {
        let output = cage.fleetwatch("send", &["send", target, text]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(send("main", "for-main").0, Some(0));
    cage.tmux.wait_for_text(&other, "heard for-main");
    assert!(!cage.tmux.screen(&main).contains("for-main"));
    let told = owner.wait_for("main", |line| line["was"] == "other");
    assert_eq!(told["kind"], "state");
    // A name that is free now means nobody, and a session that takes one can be addressed at once.
    cage.tmux.run(&["rename-session", "-t", &main, "free"]);
    let (code, why) = send("other", "for-nobody");
    assert!(code == Some(1) && why.contains("no watched terminal is called `other`"), "{why}");
    assert_eq!(send("free", "for-free").0, Some(0));
    // One may be called like another one's pane.
    cage.tmux.run(&["rename-session", "-t", &main, &other]);
    assert_eq!(send(&other, "for-the-pane").0, Some(0));
    cage.tmux.wait_for_text(&other, "heard for-the-pane");
    assert!(!cage.tmux.screen(&main).contains("for-the-pane"));
    owner.signal("-TERM");
}
