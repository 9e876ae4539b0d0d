//! Processes of which a shell tells: those of hosts, and of systems without /proc.

use std::collections::BTreeMap;

use super::proc::{Stat, words_of};
use crate::profile::ProcessInfo;
use crate::screen::harmless;

/// Lists all processes in two parts with an empty line between them: what the system knows of each, and the words that it was
/// called with. The first line says in which form: the files of /proc, for which `cat` and `head` are enough, or columns of `ps`.
pub(super) const LIST: &[&str] = &[
    "sh",
    "-c",
    "if cd /proc 2>/dev/null && [ -r self/stat ]; \
     then echo proc; cat [0-9]*/stat 2>/dev/null; echo; head -c 4096 [0-9]*/cmdline 2>/dev/null; \
     else echo ps; ps -axww -o pid=,ppid=,pgid=,tpgid=,tty=,stat=,comm= || exit; echo; ps -axww -o pid=,args= || exit; fi; \
     exit 0",
];

/// Reads what [`LIST`] printed. Other lines are left out.
pub(super) fn read(text: &str) -> BTreeMap<u32, ProcessInfo> {
    let (form, text) = text.split_once('\n').unwrap_or_default();
    let (known, called) = text.split_once("\n\n").unwrap_or((text, ""));
    let (known, mut called): (Vec<ProcessInfo>, BTreeMap<u32, ProcessWords<'_>>) = match form {
        "proc" => (known.lines().filter_map(Stat::parse).map(Stat::info).collect(), called_by_files(called)),
        _ => (known.lines().filter_map(columns).collect(), called.lines().filter_map(called_by_line).collect()),
    };
    let called = |process: ProcessInfo| {
        let called = called.remove(&process.pid).unwrap_or(ProcessWords::Unknown);
        (process.pid, called.complete(process))
    };
    known.into_iter().map(called).collect()
}

/// The words that a process was called with, as they were printed.
enum ProcessWords<'a> {
    Unknown,
    /// With a NUL behind each.
    Words(&'a str),
    /// With blanks between them, and maybe in them.
    Line(&'a str),
}

impl ProcessWords<'_> {
    fn complete(self, process: ProcessInfo) -> ProcessInfo {
        let arguments: Vec<String> = match self {
            ProcessWords::Unknown => Vec::new(),
            ProcessWords::Words(text) => words_of(text),
            // Where words end is not known; only the executable may be told with its blanks.
            ProcessWords::Line(text) => {
                let program = process.executable.as_deref().filter(|program| text.starts_with(program));
                let rest = &text[program.map_or(0, str::len)..];
                program.into_iter().chain(rest.split_whitespace()).map(harmless).collect()
            }
        };
        let called_as = || arguments.first().filter(|program| program.starts_with('/')).cloned();
        ProcessInfo { executable: process.executable.clone().or_else(called_as), arguments, ..process }
    }
}

/// The words by process, as `head` prints files: `==> 77/cmdline <==`, and behind that what is in it.
fn called_by_files(text: &str) -> BTreeMap<u32, ProcessWords<'_>> {
    let mut found = BTreeMap::new();
    for part in text.strip_prefix("==> ").unwrap_or(text).split("\n==> ") {
        let Some((name, words)) = part.split_once("/cmdline <==\n") else { continue };
        let Ok(pid) = name.parse::<u32>() else { continue };
        // A process whose words look like this speaks for another one: then nothing is known of that one.
        let is_twice = found.contains_key(&pid);
        found.insert(pid, if is_twice { ProcessWords::Unknown } else { ProcessWords::Words(words) });
    }
    found
}

fn called_by_line(line: &str) -> Option<(u32, ProcessWords<'_>)> {
    let (pid, words) = line.trim_start().split_once(char::is_whitespace)?;
    Some((pid.parse().ok()?, ProcessWords::Line(words.trim_start())))
}

/// Reads a line of `PID PPID PGID TPGID TTY STATE COMMAND`. The command may hold blanks; some systems give its whole path.
fn columns(line: &str) -> Option<ProcessInfo> {
    let mut rest = line;
    let mut field = || {
        let field = rest.trim_start();
        let end = field.find(char::is_whitespace).unwrap_or(field.len());
        rest = &field[end..];
        &field[..end]
    };
    let [pid, parent, group, terminal_group, terminal, state] = std::array::from_fn(|_| field());
    let stat = Stat {
        pid: pid.parse().ok()?,
        name: String::new(),
        state: state.chars().next()?,
        parent: parent.parse().ok()?,
        group: group.parse().ok()?,
        terminal: Some(terminal).filter(|name| !matches!(*name, "?" | "??" | "-")).map(harmless),
        terminal_group: terminal_group.parse().unwrap_or(0),
        began: None,
    };
    let command = rest.trim();
    let executable = command.starts_with('/').then(|| harmless(command));
    let name = harmless(command.trim_start_matches('-').rsplit('/').next().unwrap_or_default());
    stat.has_not_ended().then(|| ProcessInfo { name, executable, ..stat.info() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::under_all;

    #[test]
    fn columns_of_ps_become_a_tree() {
        let text = "ps\n    1     0     1    -1 ??    Ss   /sbin/init\n  700     1   700   812 ttys001 Ss   -bash\n\
                    \u{20}\u{20}812   700   812   812 ttys001 S+   node\n  813   812   812   812 ttys001 S+   /Users/a/My Tools/claude\n\
                    \u{20}\u{20}814   812   814   814 ttys002 Ss+  /bin/claude\n  815   812   812   812 ttys001 Z+   (claude)\nnonsense\n\
                    \u{20}\u{20}816   700   816   812 ttys001 T    codex\n\n\
                    \u{20}\u{20}700 -bash\n  812 node /usr/local/bin/claude --continue\n  813 /Users/a/My Tools/claude --resume\n";
        let found = under_all(&read(text), &[700, 5]);
        let names: Vec<_> =
            found[&700].iter().map(|info| (info.name.as_str(), info.foreground, info.stopped)).collect();
        assert_eq!(
            names,
            [("bash", false, false), ("node", true, false), ("codex", false, true), ("claude", true, false)],
            "on the pane's terminal, and not ended"
        );
        assert_eq!(found[&700][1].arguments, ["node", "/usr/local/bin/claude", "--continue"]);
        assert_eq!(found[&700][3].arguments, ["/Users/a/My Tools/claude", "--resume"]);
        assert_eq!(found[&5], []);
    }

    #[test]
    fn files_of_proc_become_the_same() {
        let text = "proc\n1 (init) S 0 1 1 0 -1 0\n700 (bash) S 1 700 700 34816 812 0\n812 (node) S 700 812 700 34816 812 0\n\
                    813 (a (b) S) R 812 812 700 34816 812 0\n\n\
                    ==> 700/cmdline <==\n-bash\0\n==> 812/cmdline <==\nnode\0/home/a b/codex\0--x\0\n==> 813/cmdline <==\nx\0\n\
                    ==> 700/cmdline <==\nclaude\0";
        let all = read(text);
        let found = under_all(&all, &[700]);
        assert_eq!(found[&700][1].arguments, ["node", "/home/a b/codex", "--x"]);
        assert_eq!((found[&700][2].name.as_str(), found[&700][2].foreground), ("a (b) S", true));
        assert_eq!(found[&700][0].arguments, [""; 0], "another process speaks for it");
    }

    #[test]
    fn a_system_that_tells_no_foreground_group_has_all_there_that_is_not_stopped() {
        let text =
            "proc\n700 (bash) S 1 700 700 0 0 0\n812 (node) S 700 812 700 0 0 0\n813 (vi) T 700 813 700 0 0 0\n\n";
        let found = under_all(&read(text), &[700]);
        let names: Vec<_> = found[&700].iter().map(|info| (info.name.as_str(), info.foreground)).collect();
        assert_eq!(names, [("bash", true), ("node", true), ("vi", false)]);
    }

    /// The script itself, by the shells and tools that are here.
    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_listed() {
        let listed = std::process::Command::new(LIST[0]).args(&LIST[1..]).output().unwrap();
        let all = read(&String::from_utf8_lossy(&listed.stdout));
        let own = &all[&std::process::id()];
        assert_eq!(own.arguments, std::env::args().collect::<Vec<_>>());
    }
}
