//! The commands of this program, by what they are for and as they are typed.

use std::ffi::OsString;
use std::sync::OnceLock;

/// The commands in the order of the help, in groups; the others are listed under More.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    ("See", &["list", "watch", "status", "output", "explain", "history"]),
    ("Act", &["new", "send", "queue", "answer", "keys", "wait", "name", "close"]),
    ("Tasks", &["run", "tasks"]),
    ("Remote", &["serve", "token"]),
    ("Setup", &["demo", "doctor", "config"]),
];

/// Whether a command is for those who watch and act, not for setup or for writers of profiles.
pub(super) fn is_everyday(name: &str) -> bool {
    GROUPS[..3].iter().any(|(_, names)| names.contains(&name))
}

/// Whether a command asks the servers, or reads what the history has of them: those of the first three groups do.
fn asks_servers(name: &str) -> bool {
    is_everyday(name) || ["serve", "doctor", "record"].contains(&name)
}

/// The options of this process that say what is watched: errors come from modules that do not know them, and their hints name
/// commands.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Completes the commands in hints with these options from now on.
pub(super) fn complete_hints(options: &[OsString]) {
    // A process runs the command line once, so none can have been set before.
    let _ = GIVEN.set(line(options));
}

/// A hint whose commands ask the server that this one asks, so that they can be typed as they are.
pub(super) fn completed(hint: &str) -> String {
    with_options(hint, GIVEN.get().map_or("", String::as_str))
}

fn with_options(hint: &str, options: &str) -> String {
    const BEGIN: &str = "`fleetwatch";
    let mut parts = hint.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        let command = rest.split('`').next().unwrap_or_default();
        let name = command.strip_prefix(' ').and_then(|words| words.split(' ').next());
        let asks = name.map_or(command.is_empty(), asks_servers);
        text.push_str(BEGIN);
        if asks && !options.is_empty() && !command.ends_with("--help") {
            text.extend([" ", options]);
        }
        text.push_str(rest);
    }
    text
}

/// Words as a shell takes them.
fn line(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // No shell takes a word with a NUL byte, and none can be given.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_server_that_was_asked() {
        let hint =
            "`fleetwatch answer x 1` or `fleetwatch`; `fleetwatch config`, `fleetwatch tasks --help`, fleetwatch list";
        let completed = "`fleetwatch -L 'my work' answer x 1` or `fleetwatch -L 'my work'`; `fleetwatch config`, \
                         `fleetwatch tasks --help`, fleetwatch list";
        assert_eq!(with_options(hint, &line(&["-L".into(), "my work".into()])), completed);
        assert_eq!(with_options(hint, &line(&[])), hint);
    }
}
