//! The help of every command, in one snapshot to read as a user does.

use std::fmt::Write as _;
use std::process::Command;

/// Adds the help of a command and of the commands below it.
fn add(words: &[&str], text: &mut String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fleetwatch")).args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "{words:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    // They are the same for each command.
    let (own, _) = help.split_once("\nGlobal options:\n").unwrap();
    let shown = if words.is_empty() { &help } else { own };
    let _ = writeln!(text, "$ fleetwatch {}\n\n{shown}", [words, &["--help"]].concat().join(" "));
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    // The lines between two names go on with a description.
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    for name in names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help") {
        add(&[words, &[name]].concat(), text);
    }
}

#[test]
fn every_command_says_what_it_does() {
    let mut text = String::new();
    add(&[], &mut text);
    assert!(text.contains("$ fleetwatch tasks kill --help"), "{text}");
    if !cfg!(feature = "serve") {
        assert!(text.contains("this fleetwatch was built without it"), "{text}");
        return;
    }
    insta::with_settings!({prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("help", text);
    });
}
