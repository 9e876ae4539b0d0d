//! Words for command lines: quoting for tmux's own language and for shells, names that are checked first, and marks that no
//! pane can guess.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Error, NO_SOCKET};
use crate::fleet::{ServerId, Socket};

/// Quotes a word for a line of a tmux script so that tmux reads exactly this word: nothing in it is a separator, a
/// comment, a variable, a home directory or an escape, and it stays on its line.
///
/// Formats (`#{…}`) are not tmux's quoting but its commands' business; only constants go where they are expanded.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut quoted = String::with_capacity(word.len() + 2);
    quoted.push('"');
    for c in word.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '"' | '\\' | '$' | '~' => quoted.extend(['\\', c]),
            // A raw newline in quotes would swallow the blanks behind it; other controls are written alike.
            c if c.is_ascii_control() => quoted.push_str(&format!("\\{:03o}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A word as the shell of a host reads it back unchanged. Single quotes mean the same to every shell there is.
pub(super) fn shell_word(word: &str) -> Result<String, Error> {
    if word.contains('\'') || word.chars().any(char::is_control) {
        let why = "it would have to be quoted for a shell";
        return Err(Error::BadName { what: "word", name: word.to_owned(), why });
    }
    Ok(format!("'{word}'"))
}

/// Sixteen hexadecimal digits that are used for one call and never again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// One that nobody else has.
    pub fn new() -> Self {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        // The standard library's hasher is keyed from the system's randomness; what a keyed SipHash makes of a
        // counter cannot be told without the key, and the key never leaves the process.
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        Self(format!("{:016x}", RandomState::new().hash_one(call)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The words that select a server, as they stand behind `tmux`. `-u`: what is printed is UTF-8 in any locale.
pub(super) fn server_words(socket: &Socket) -> Vec<String> {
    let (option, value) = match socket {
        // Said aloud: without it tmux takes the server that `TMUX` names.
        Socket::Default => ("-L", "default".into()),
        Socket::Name(name) => ("-L", (**name).into()),
        // Paths that are no UTF-8 are refused by `check_name`.
        Socket::Path(path) => ("-S", path.to_string_lossy()),
    };
    vec!["-u".to_owned(), option.to_owned(), value.into_owned()]
}

/// Whether every part of a server's name may stand in a command line.
///
/// # Errors
/// One could be read as an option, or by the shell of a host.
pub fn check_name(id: &ServerId) -> Result<(), Error> {
    if let Some(host) = &id.host {
        check_host(host)?;
    }
    match &id.socket {
        Socket::Default => Ok(()),
        Socket::Name(name) => check_socket_name(name, id.host.is_some()),
        Socket::Path(path) => check_socket_path(path, id.host.is_some()),
    }
}

fn check_host(host: &str) -> Result<(), Error> {
    let bad = |why| Err(Error::BadName { what: "host", name: host.to_owned(), why });
    if !host.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '[' | ':')) {
        return bad("it must begin with a letter or a digit");
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | ':' | '[' | ']' | '%');
    if !host.chars().all(fits) {
        return bad("it may hold letters, digits and `. _ - @ : [ ] %` only");
    }
    if host.split('@').skip(1).any(|part| part.is_empty() || part.starts_with('-')) {
        return bad("the name behind `@` must begin with a letter or a digit");
    }
    Ok(())
}

fn check_socket_name(name: &str, remote: bool) -> Result<(), Error> {
    let bad = |why| Err(Error::BadName { what: "socket", name: name.to_owned(), why });
    if name.is_empty() || name.contains(['/', '\0']) {
        return bad("it is empty or a path; a path goes to -S");
    }
    if remote && !name.chars().all(is_plain) {
        return bad("on a host it may hold letters, digits and `. _ -` only");
    }
    Ok(())
}

fn check_socket_path(path: &Path, remote: bool) -> Result<(), Error> {
    let name = path.to_string_lossy().into_owned();
    let bad = |why| Err(Error::BadName { what: "socket", name: name.clone(), why });
    let Some(text) = path.to_str() else { return bad("it is no UTF-8") };
    if text.is_empty() || text.contains('\0') {
        return bad("it is empty or holds a NUL");
    }
    if remote && !(text.starts_with('/') && text.chars().all(|c| is_plain(c) || c == '/')) {
        return bad("on a host it must be absolute and hold letters, digits and `. _ - /` only");
    }
    // A tmux that starts a server there would put its socket in place of the file.
    if !remote && std::fs::metadata(path).is_ok_and(|found| !found.file_type().is_socket()) {
        return bad(NO_SOCKET);
    }
    Ok(())
}

/// The words of a list of processes, `=PID@MACHINE,` each, without anything that is none.
pub(super) fn owner_words(text: &str) -> Vec<String> {
    let is_owner = |word: &&str| {
        word.split_once('@').is_some_and(|(pid, machine)| {
            !machine.is_empty() && pid.parse::<u32>().is_ok() && machine.chars().all(is_plain)
        })
    };
    text.split(',').filter_map(|word| word.strip_prefix('=')).filter(is_owner).map(str::to_owned).collect()
}

pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_has_no_raw_newline_and_no_open_quote() {
        assert_eq!(quote("source-file"), "source-file");
        assert_eq!(quote(""), "\"\"");
        assert_eq!(quote("%12"), "\"%12\"");
        assert_eq!(quote("a\nb;"), "\"a\\nb;\"");
        assert_eq!(quote("\"$HOME\\~\u{7}"), "\"\\\"\\$HOME\\\\\\~\\007\"");
    }

    #[test]
    fn the_usual_server_is_named_so_that_it_is_not_the_one_around_fleetwatch() {
        assert_eq!(server_words(&Socket::Default), ["-u", "-L", "default"]);
    }

    #[test]
    fn a_host_is_never_an_option_nor_shell_text() {
        let host = |name: &str| check_name(&ServerId { host: Some(name.into()), socket: Socket::Default }).is_ok();
        for fine in ["box-2", "user@10.0.0.7", "[fe80::1%eth0]", "::1", "me@fd00::7", "build_7.example.org"] {
            assert!(host(fine), "{fine}");
        }
        for bad in ["", "-oProxyCommand=x", "a b", "a;b", "$(x)", "`x`", "user@-x", "user@", "a\nb", "ssh://x/", "é"] {
            assert!(!host(bad), "{bad}");
        }
    }

    #[test]
    fn a_socket_on_a_host_holds_no_shell_text() {
        let socket = |host: Option<&str>, socket| check_name(&ServerId { host: host.map(Into::into), socket }).is_ok();
        assert!(socket(None, Socket::Name("my socket".into())));
        assert!(!socket(Some("box"), Socket::Name("my socket".into())));
        assert!(!socket(None, Socket::Name("a/b".into())));
        assert!(socket(Some("box"), Socket::at("/tmp/x/default")));
        assert!(!socket(Some("box"), Socket::at("/tmp/$(x)")));
        assert!(!socket(Some("box"), Socket::at("default")));
    }
}
