//! How a line that starts something can go on: the agents that are installed, directories, options.

use std::path::Path;

use super::{Launcher, with_home};
use crate::present::offer::Offer;
use crate::present::text::at_last_word;

/// The directories that are offered at most.
const MOST: usize = 50;
/// What may stand behind an agent's name.
const OPTIONS: [(&str, &str); 3] = [
    ("-C ", "the directory to start in"),
    ("--worktree ", "a branch, for which it gets a git worktree"),
    ("--session ", "the session for the window"),
];

impl Launcher {
    /// How a line can go on. Waits for the disk.
    pub fn offers(&self, line: &str) -> Vec<Offer> {
        let (before, begun) = at_last_word(line);
        let offer = |text: &str, note: &str, ends: &str| Offer {
            line: format!("{before}{text}{ends}"),
            text: text.to_owned(),
            note: note.to_owned(),
        };
        match before.split_whitespace().next_back() {
            Some("-C") if self.server.id().host.is_none() => {
                self.directories(begun).iter().map(|path| offer(path, "", "")).collect()
            }
            Some("-C" | "--worktree" | "--session") => Vec::new(),
            _ if begun.starts_with('-') => {
                let fitting = OPTIONS.iter().filter(|(option, _)| option.starts_with(begun));
                fitting.map(|(option, note)| offer(option, note, "")).collect()
            }
            None if begun.starts_with('!') => Vec::new(),
            None => {
                let agents = self.agents();
                let names = agents.installed().iter().filter(|name| name.starts_with(begun));
                names.map(|name| offer(name, "", " ")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The directories that begin so, as they are written.
    fn directories(&self, begun: &str) -> Vec<String> {
        let (above, name) = begun.rfind('/').map_or(("", begun), |slash| begun.split_at(slash + 1));
        let directory = Path::new(self.here.as_deref().unwrap_or("/")).join(with_home(above));
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let is_meant = |found: &String| found.starts_with(name) && (!found.starts_with('.') || name.starts_with('.'));
        let named = entries.filter(|it| it.path().is_dir()).filter_map(|it| it.file_name().into_string().ok());
        let mut found: Vec<String> = named.filter(is_meant).collect();
        found.sort();
        found.iter().take(MOST).map(|name| format!("{above}{name}/")).collect()
    }
}
