//! The names of hosts that the configuration does not spell out: those of ssh's own configuration, and those of a file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::pattern::Pattern;

/// Files that include each other may do so this deep, as in ssh itself.
const DEPTH: u32 = 16;

/// What a pattern of names is written with; in ssh's configuration also what is no name.
const WILD: [char; 5] = ['*', '?', '!', '[', '{'];

/// What a pattern of files is written with.
pub const WILD_IN_PATH: [char; 3] = ['*', '?', '['];

/// Whether a text stands for several names.
pub(super) fn is_pattern(text: &str) -> bool {
    // `[fe80::1]` is an address.
    text.contains(['*', '?', '{']) || text.contains('[') && !text.contains(':')
}

/// The hosts that ssh's configuration names, in the order of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SshHosts {
    pub names: Vec<String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

impl SshHosts {
    /// Those of this user and of the system.
    pub(super) fn of_user() -> Self {
        let mut hosts = Self::default();
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) {
            hosts.read(&home.join(".ssh/config"), &home.join(".ssh"), &home, DEPTH);
        }
        hosts.read(Path::new("/etc/ssh/ssh_config"), Path::new("/etc/ssh"), Path::new("/"), DEPTH);
        hosts
    }

    /// Those whose names fit one of the patterns.
    pub(super) fn matching<'a>(&'a self, pattern: &'a Pattern) -> impl Iterator<Item = &'a String> {
        self.names.iter().filter(|name| pattern.matches(name))
    }

    /// Takes in a file and those that it includes; their paths are relative to `directory`. One that cannot be read names none,
    /// as for ssh.
    fn read(&mut self, path: &Path, directory: &Path, home: &Path, depth: u32) {
        let Ok(text) = std::fs::read_to_string(path) else { return };
        if self.files.iter().any(|file| file == path) {
            return;
        }
        self.files.push(path.to_owned());
        for line in text.lines() {
            let line = line.trim();
            let end = line.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line.len());
            let (keyword, rest) = line.split_at(end);
            let words = words(rest.trim_start_matches(|c: char| c.is_whitespace() || c == '='));
            match keyword.to_ascii_lowercase().as_str() {
                "host" => {
                    for name in words.into_iter().filter(|word| !word.contains(WILD)) {
                        if !self.names.contains(&name) {
                            self.names.push(name);
                        }
                    }
                }
                "include" if depth > 0 => {
                    for word in words {
                        let included = match word.strip_prefix("~/") {
                            Some(below) => home.join(below),
                            None => directory.join(&word),
                        };
                        for file in files_named(&included) {
                            self.read(&file, directory, home, depth - 1);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The words of a line, of which those with blanks stand in quotes; a comment ends it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    words
}

/// The files that a path means whose last part may be a pattern, by name: none that begins with a dot, as in glob(3).
pub fn files_named(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let (Some(above), true) = (path.parent(), name.contains(WILD_IN_PATH)) else { return vec![path.to_owned()] };
    let (Ok(pattern), Ok(entries)) = (Pattern::new(name), above.read_dir()) else { return Vec::new() };
    let fits = |name: &OsStr| name.to_str().is_some_and(|name| !name.starts_with('.') && pattern.matches(name));
    let found: BTreeSet<PathBuf> =
        entries.flatten().filter(|entry| fits(&entry.file_name())).map(|entry| entry.path()).collect();
    found.into_iter().collect()
}

/// The names in a file of hosts, one a line, and where they stand; `#` begins a comment.
pub(super) fn listed(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    text.lines().filter_map(|line| {
        let name = line.split('#').next().unwrap_or_default().trim();
        let from = name.as_ptr() as usize - text.as_ptr() as usize;
        (!name.is_empty()).then_some((name, from..from + name.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_all_files_of_ssh_and_patterns_are_none() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".ssh/config",
            "Include conf.d/*.conf \"~/my hosts\" none\nHost *\n  User me\nhost=gpu-9 # the last\nMatch all\n",
        );
        write(".ssh/conf.d/a.conf", "HOST gpu-1 gpu-2 !gpu-3 web-?\n  ProxyJump bastion\n");
        write(".ssh/conf.d/b.conf", "Include conf.d/*.conf\nHost \"gpu-2\" db\n");
        write(".ssh/conf.d/c.txt", "Host never\n");
        write("my hosts", "Host far\n");
        let mut hosts = SshHosts::default();
        hosts.read(&home.path().join(".ssh/config"), &home.path().join(".ssh"), home.path(), DEPTH);
        assert_eq!(hosts.names, ["gpu-1", "gpu-2", "db", "far", "gpu-9"]);
        assert_eq!(hosts.files.len(), 4);
        let pattern = Pattern::new("gpu-*").unwrap();
        assert_eq!(hosts.matching(&pattern).count(), 3);
    }

    #[test]
    fn a_file_of_hosts_has_one_a_line() {
        let text = "# mine\nbox-1\n\n  me@box-2  # the other\n";
        let found: Vec<_> = listed(text).collect();
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["box-1", "me@box-2"]);
        assert_eq!(&text[found[1].1.clone()], "me@box-2");
    }

    #[test]
    fn an_address_is_no_pattern() {
        assert!(!is_pattern("[fe80::1%eth0]") && !is_pattern("box-1") && is_pattern("gpu-[12]") && is_pattern("gpu-*"));
    }
}
