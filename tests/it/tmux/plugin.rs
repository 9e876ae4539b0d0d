//! The plugin for tmux, sourced in a real server.

use std::path::Path;
use std::process::{Command, Stdio};

use super::owner::{Cage, which};
use crate::support::private_tmux::{PrivateTmux, wait_until};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tmux/fleetwatch.tmux");
const SEGMENT: &str = "#(fleetwatch status --format tmux)";

/// A server with two parrots, in which `fleetwatch` is the program under test.
fn world() -> Cage {
    let cage = Cage::new();
    let home = |name: &str| cage.home.path().join(name).display().to_string();
    let program = Path::new(env!("CARGO_BIN_EXE_fleetwatch")).parent().unwrap().display().to_string();
    for (name, value) in [
        ("PATH", format!("{program}:{}", std::env::var("PATH").unwrap())),
        ("XDG_CONFIG_HOME", home("")),
        ("XDG_STATE_HOME", home("state")),
        ("XDG_RUNTIME_DIR", home("run")),
    ] {
        cage.tmux.run(&["set-environment", "-g", name, &value]);
    }
    cage.tmux.run(&["set-environment", "-gu", "FLEETWATCH_CONFIG"]);
    cage
}

fn source(tmux: &PrivateTmux) {
    tmux.run(&["run-shell", PLUGIN]);
}

fn global(tmux: &PrivateTmux, option: &str) -> String {
    tmux.run(&["show-options", "-gqv", option]).trim_end_matches('\n').to_owned()
}

fn popup_keys(tmux: &PrivateTmux) -> Vec<String> {
    let keys = tmux.run(&["list-keys", "-T", "prefix"]);
    let ours = keys.lines().filter(|line| line.contains("display-popup") && line.contains("fleetwatch"));
    ours.map(|line| line.split_whitespace().nth(3).unwrap().to_owned()).collect()
}

/// The watchers of a tmux server, by their ids.
fn watchers(server: &str) -> Vec<String> {
    let words = format!("fleetwatch\0watch\0--for-tmux\0{server}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_one = |process: &std::fs::DirEntry| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|cmdline| cmdline == words.as_bytes())
    };
    processes.filter(is_one).map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

fn kill(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).stdin(Stdio::null()).status().unwrap().success());
}

#[test]
fn sourced_twice_it_is_there_once_and_rings_until_tmux_ends() {
    let cage = world();
    let tmux = &cage.tmux;
    let server = tmux.run(&["display-message", "-p", "#{pid}"]).trim().to_owned();
    tmux.run(&["set-option", "-g", "status-right", "it's \"mine\" $HOME;#[bold]\\;"]);
    let (mine, options) = (global(tmux, "status-right"), tmux.run(&["show-options", "-g"]));
    source(tmux);
    source(tmux);
    assert_eq!(popup_keys(tmux), ["F"]);
    assert_eq!(global(tmux, "status-right"), format!("{SEGMENT} {mine}"));
    let others = |options: &str| -> Vec<String> {
        let is_ours =
            |line: &&str| ["status-right ", "status-interval ", "@fleetwatch"].iter().any(|it| line.starts_with(it));
        options.lines().filter(|line| !is_ours(line)).map(str::to_owned).collect()
    };
    assert_eq!(others(&tmux.run(&["show-options", "-g"])), others(&options), "nothing else is set");
    assert_eq!(global(tmux, "status-interval"), "5");
    wait_until("a watcher", || !watchers(&server).is_empty());
    // The status line and the watcher agree on the server, and whoever is attached hears it.
    let outer =
        PrivateTmux::start(&["env", "-u", "TMUX", "TERM=screen", "tmux", "-L", tmux.name(), "attach", "-t", "main"]);
    outer.run(&["set-option", "-g", "status", "off"]);
    wait_until("the status line", || outer.screen("main:").contains("·2  it's"));
    outer.run(&["new-window", "-d", "-t", "main:", "cat"]);
    let has_rung = || outer.run(&["list-windows", "-F", "#{window_index}#{window_bell_flag}"]).contains("01");
    outer.run(&["select-window", "-t", "main:1"]);
    assert!(!has_rung());
    cage.prompt("other", "ask");
    wait_until("the bell", has_rung);
    wait_until("its name", || outer.screen("main:0").contains("? other "));
    assert_eq!(watchers(&server).len(), 1);
    // Once it has ended, it can be started again.
    let first = watchers(&server).remove(0);
    kill("-TERM", &first);
    wait_until("its end", || global(tmux, "@fleetwatch-watching").is_empty());
    source(tmux);
    wait_until("another one", || watchers(&server).iter().any(|process| *process != first));
    // A tmux that is killed ends nothing itself.
    kill("-KILL", &server);
    wait_until("its end with tmux", || watchers(&server).is_empty());
}

#[test]
fn what_is_off_is_not_set_and_a_short_interval_stays() {
    let cage = world();
    let tmux = &cage.tmux;
    let server = tmux.run(&["display-message", "-p", "#{pid}"]).trim().to_owned();
    for option in ["@fleetwatch-key", "@fleetwatch-status", "@fleetwatch-background"] {
        tmux.run(&["set-option", "-g", option, "off"]);
    }
    let settings = || (tmux.run(&["show-options", "-g"]), tmux.run(&["list-keys"]));
    let before = settings();
    source(tmux);
    assert_eq!(settings(), before);
    assert!(watchers(&server).is_empty());
    tmux.run(&["set-option", "-g", "@fleetwatch-key", "\\;"]);
    tmux.run(&["set-option", "-gu", "@fleetwatch-status"]);
    tmux.run(&["set-option", "-g", "status-interval", "2"]);
    source(tmux);
    assert_eq!(popup_keys(tmux), ["\\;"]);
    assert!(global(tmux, "status-right").starts_with(SEGMENT));
    assert_eq!(global(tmux, "status-interval"), "2");
    assert!(watchers(&server).is_empty());
}

/// What the key does, in the words of tmux.
fn key_runs(tmux: &PrivateTmux) -> String {
    let keys = tmux.run(&["list-keys", "-T", "prefix", "F"]);
    keys.split_once(" F ").map(|(_, command)| command.trim().to_owned()).unwrap()
}

#[test]
fn it_says_what_is_missing_and_finds_what_the_path_does_not() {
    let cage = world();
    let tmux = &cage.tmux;
    let home = cage.home.path().join("home");
    tmux.run(&["set-environment", "-g", "HOME", &home.display().to_string()]);
    // No program of the name, but everything else that the plugin runs.
    let bin = cage.home.path().join("few");
    std::fs::create_dir(&bin).unwrap();
    for tool in ["sh", "tmux"] {
        std::os::unix::fs::symlink(which(tool), bin.join(tool)).unwrap();
    }
    tmux.run(&["set-environment", "-g", "PATH", &bin.display().to_string()]);
    for option in ["@fleetwatch-status", "@fleetwatch-background"] {
        tmux.run(&["set-option", "-g", option, "off"]);
    }
    source(tmux);
    let missing = key_runs(tmux);
    assert!(missing.starts_with("display-message \"fleetwatch is not installed"), "{missing}");

    let installed = home.join(".local/bin/fleetwatch");
    std::fs::create_dir_all(installed.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetwatch"), &installed).unwrap();
    tmux.run(&["set-option", "-gu", "@fleetwatch-status"]);
    tmux.run(&["set-option", "-g", "@fleetwatch-width", "120"]);
    source(tmux);
    let program = installed.display();
    let opens = key_runs(tmux);
    let words = ["display-popup -E ", "-w 120 ", &format!(" {program}")];
    assert!(words.iter().all(|word| opens.contains(word)), "{opens}");
    assert!(global(tmux, "status-right").starts_with(&format!("#({program} status --format tmux) ")));
}
