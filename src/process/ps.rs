//! Processes as `ps` prints them, for hosts and for systems without /proc.

use std::collections::BTreeMap;

use super::PaneProcesses;
use super::tree::Tree;
use crate::profile::ProcessInfo;
use crate::screen::harmless;

/// The columns are those that Linux, macOS and the BSDs have in common; only the last one may hold blanks.
pub(super) const COMMAND: &[&str] = &["ps", "-axww", "-o", "pid=,ppid=,pgid=,tpgid=,args="];

/// Reads what [`COMMAND`] printed. Lines that are none are left out.
pub(super) fn parse(text: &str, roots: &[u32], limit: usize) -> PaneProcesses {
    let mut processes = BTreeMap::new();
    let mut tree = Tree::default();
    for (info, parent) in lines(text) {
        tree.add(info.pid, parent);
        processes.insert(info.pid, info);
    }
    let of_pane = |root: &u32| {
        let found = tree.under(*root, limit).into_iter();
        (*root, found.filter_map(|pid| processes.get(&pid).cloned()).collect())
    };
    roots.iter().map(of_pane).collect()
}

/// Each process with its parent.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (ProcessInfo, u32)> {
    text.lines().filter_map(parse_line)
}

fn parse_line(line: &str) -> Option<(ProcessInfo, u32)> {
    let mut rest = line;
    let mut number = || {
        let field = rest.trim_start();
        let end = field.find(char::is_whitespace).unwrap_or(field.len());
        rest = &field[end..];
        field[..end].parse::<i64>().ok()
    };
    let (pid, parent, group, terminal_group) = (number()?, number()?, number()?, number()?);
    // Where words end is not told; agents are found by their first ones, which seldom hold blanks.
    let arguments: Vec<String> = rest.split_whitespace().map(harmless).collect();
    let program = arguments.first().map(String::as_str).unwrap_or_default();
    let name = program.trim_start_matches('-').rsplit('/').next().unwrap_or_default().to_owned();
    let executable = program.starts_with('/').then(|| program.to_owned());
    let foreground = group == terminal_group;
    let info = ProcessInfo { pid: u32::try_from(pid).ok()?, name, arguments, executable, foreground };
    Some((info, u32::try_from(parent).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_a_tree() {
        let text = "    1     0     1    -1 /sbin/init splash\n  700     1   700   812 -bash\n\
                    \u{20}\u{20}812   700   812   812 node /usr/local/bin/claude --continue\n  813   812   812   812 /bin/cat\nnonsense\n";
        let found = parse(text, &[700, 5], 256);
        let names: Vec<_> = found[&700].iter().map(|info| (info.name.as_str(), info.foreground)).collect();
        assert_eq!(names, [("bash", false), ("node", true), ("cat", true)]);
        assert_eq!(found[&700][1].arguments, ["node", "/usr/local/bin/claude", "--continue"]);
        assert_eq!(found[&700][2].executable.as_deref(), Some("/bin/cat"));
        assert_eq!(found[&5], []);
    }
}
