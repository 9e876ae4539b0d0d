//! The help of every command, in one snapshot to read as a user does.

use std::fmt::Write as _;
use std::process::Command;

/// Adds the help of a command and of the commands below it.
fn add(words: &[&str], text: &mut String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fleetwatch")).args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "{words:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.lines().count() <= 60, "{help}");
    let _ = writeln!(text, "$ fleetwatch {}\n\n{help}", [words, &["--help"]].concat().join(" "));
    // The man page lists the commands in one form at every level.
    let page = Command::new(env!("CARGO_BIN_EXE_fleetwatch")).arg("man").args(words).output().unwrap();
    let page = String::from_utf8(page.stdout).unwrap().replace("\\-", "-");
    let above = [&["fleetwatch"], words].concat().join("-") + "-";
    for name in page.lines().filter_map(|line| line.strip_prefix(&above)?.strip_suffix("(1)")) {
        add(&[words, &[name]].concat(), text);
    }
}

#[test]
fn every_command_says_what_it_does() {
    let mut text = String::new();
    add(&[], &mut text);
    assert!(text.contains("$ fleetwatch tasks kill --help"), "{text}");
    insta::with_settings!({prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("help", text);
    });
}
