//! What tests share.

// The tests of real agents use a part of it, and `it` another.
#![allow(dead_code)]
// What cannot be set up fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod hosts;
pub mod model_server;
pub mod private_tmux;
pub mod sample_fleet;
pub mod stage;

/// What a command said, without the options that its hints repeat: the servers and files of a test have other names each time.
pub fn without_options(said: &str, arguments: &[&str]) -> String {
    let is_repeated = |pair: &&[&str]| ["-L", "--config"].contains(&pair[0]);
    let options = arguments.chunks(2).take_while(is_repeated).flatten();
    said.replace(&options.fold("`fleetwatch".to_owned(), |all, word| all + " " + word), "`fleetwatch")
}

/// A shell by another name, for what is recognised by the names of programs. A process of its own copies it: a file that
/// this one writes is open in children that other tests begin meanwhile, and cannot be run then.
pub fn copy_shell(shell: &str, to: impl AsRef<std::path::Path>) {
    let copied = std::process::Command::new("cp").arg(shell).arg(to.as_ref()).status().unwrap();
    assert!(copied.success(), "{shell} could not be copied to {}", to.as_ref().display());
}
