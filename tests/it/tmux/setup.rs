//! `fleetwatch setup` with answers typed in a real terminal, and what tmux makes of the files that it writes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::private_tmux::{PrivateTmux, wait_until};

/// A home directory, and a shell in a terminal that has it.
struct Home {
    directory: tempfile::TempDir,
    terminal: PrivateTmux,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display();
        let program = Path::new(env!("CARGO_BIN_EXE_fleetwatch")).parent().unwrap().display().to_string();
        let environment = [
            format!("HOME={path}"),
            format!("XDG_CONFIG_HOME={path}/xdg"),
            format!("PATH={program}:{}", std::env::var("PATH").unwrap()),
            "LC_ALL=C.UTF-8".to_owned(),
            "PS1=world> ".to_owned(),
        ];
        let mut shell = vec!["env", "-u", "TMUX", "-u", "TMUX_PANE", "-u", "FLEETWATCH_CONFIG"];
        shell.extend(environment.iter().map(String::as_str));
        shell.extend(["bash", "--norc", "--noprofile"]);
        let terminal = PrivateTmux::start(&shell);
        terminal.wait_for_text("main:", "world>");
        Self { directory, terminal }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Every file of the home with what it says.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.directory.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => {
                        drop(files.insert(entry.path(), fs::read_to_string(entry.path()).unwrap()))
                    }
                    _ => {}
                }
            }
        }
        files
    }

    fn keys(&self, keys: &[&str]) {
        self.terminal.run(&[&["send-keys", "-t", "main:"], keys].concat());
    }

    fn wait(&self, text: &str) {
        self.terminal.wait_for_text("main:", text);
    }

    /// Starts set-up in an empty terminal and gives answers, each when its question is asked.
    fn answers(&self, answers: &[(&str, &str)]) {
        self.keys(&["-R", "clear; fleetwatch setup; echo ended with $?", "Enter"]);
        for (question, answer) in answers {
            self.wait(question);
            self.keys(&[answer, "Enter"]);
        }
    }

    /// Runs the program without a terminal.
    fn run(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
            .args(words)
            .env("HOME", self.directory.path())
            .env("XDG_CONFIG_HOME", self.path("xdg"))
            .env_remove("FLEETWATCH_CONFIG")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

/// The questions, by words of them.
const POPUP: &str = "in a popup with prefix F";
const STATUS: &str = "Show in tmux's status line";
const NOTICES: &str = "q  quiet: neither";
const WRITE: &str = "Write this?";

#[test]
fn what_is_chosen_is_written_behind_links_and_tmux_takes_it() {
    let home = Home::new();
    let dotfile = home.write("dotfiles/tmux.conf", "set -g status-right 'mine'\nbind F display-message x\n# the end");
    fs::set_permissions(&dotfile, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/tmux.conf", home.path(".tmux.conf")).unwrap();
    let config = home.write("xdg/fleetwatch/config.toml", "# my own\n[ui]\ntheme = \"light\" # by day\n");
    let before = home.files();
    home.answers(&[("in a popup with prefix W", ""), (STATUS, "yes"), (NOTICES, "q")]);
    home.wait(WRITE);
    assert_eq!(home.files(), before, "nothing is written before the change was shown and wanted");
    let screen = home.terminal.screen("main:");
    for shown in ["+bind-key W display-popup -E -w 90% -h 90% fleetwatch", "+bell = false", " # the end", " [ui]"] {
        assert!(screen.contains(shown), "{shown}: {screen}");
    }
    home.keys(&["y", "Enter"]);
    home.wait("ended with 0");
    home.wait("tmux source-file ");
    assert!(home.path(".tmux.conf").is_symlink(), "the link leads to the same file as before");
    let after = home.files();
    for (path, said) in &before {
        let kept = path.with_file_name(format!("{}.before-fleetwatch", path.file_name().unwrap().display()));
        assert_eq!(after.get(&kept), Some(said), "{}", kept.display());
    }
    assert_eq!(after.len(), 4, "{after:?}");
    assert!(after[&dotfile].starts_with("set -g status-right 'mine'\nbind F display-message x\n# the end\n\n"));
    assert_eq!(fs::metadata(&dotfile).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(after[&config].starts_with("# my own\n[ui]\n") && after[&config].ends_with("theme = \"light\" # by day\n"));
    assert!(home.run(&["config", "check"]).status.success());
    // A server that reads it has what was asked for, and nothing in it is wrong.
    let server = PrivateTmux::unstarted();
    let file = home.path(".tmux.conf").display().to_string();
    server.run(&["-f", &file, "new-session", "-d", "cat"]);
    assert_eq!(server.run(&["source-file", &file]), "");
    let keys = server.run(&["list-keys", "-T", "prefix"]);
    assert!(keys.lines().any(|line| line.contains(" W ") && line.contains("fleetwatch")), "{keys}");
    assert!(keys.lines().any(|line| line.contains(" F ") && line.contains("display-message")), "{keys}");
    // Read twice, it says it once.
    let right = server.run(&["show-options", "-gv", "status-right"]);
    assert_eq!(right.trim(), "mine #(fleetwatch status --format tmux)");
    // What is there is not offered again.
    home.answers(&[]);
    home.wait("there is nothing to change");
    assert_eq!(home.files(), after);
    assert!(home.run(&["setup", "--print"]).stdout.starts_with(b"there is nothing to change"));
}

#[test]
fn files_that_are_not_there_are_made() {
    let home = Home::new();
    home.answers(&[(POPUP, "y"), (STATUS, "n"), (NOTICES, "d"), (WRITE, "y")]);
    home.wait("ended with 0");
    let files = home.files();
    let (tmux, config) = (home.path(".tmux.conf"), home.path("xdg/fleetwatch/config.toml"));
    assert_eq!(files.keys().collect::<Vec<_>>(), [&tmux, &config]);
    assert!(files[&tmux].contains("bind-key F display-popup") && !files[&tmux].contains("status"));
    assert!(files[&config].contains("by = [\"bell\", \"osc9\"]"));
    assert!(home.run(&["config", "check"]).status.success());
    // The one that tmux reads last is the one that is changed.
    let last = home.write("xdg/tmux/tmux.conf", "source-file ~/other.conf\n");
    home.write("other.conf", "set -g status-left '#(fleetwatch status --format tmux)'\n");
    let printed = home.run(&["setup", "--print"]);
    assert!(printed.stdout.starts_with(b"there is nothing to change"), "{printed:?}");
    fs::remove_file(home.path("other.conf")).unwrap();
    let printed = String::from_utf8(home.run(&["setup", "--print"]).stdout).unwrap();
    assert!(printed.starts_with(&format!("--- {}\n", last.display())) && printed.contains("+set -g status-right"));
}

#[test]
fn what_tmux_reads_by_a_pattern_is_read_and_what_only_tmux_knows_is_named() {
    let home = Home::new();
    home.write(".tmux.conf", "source-file ~/tmux.d/*.conf\n");
    home.write("tmux.d/keys.conf", "bind F display-message x\n");
    home.write("tmux.d/off", "bind W display-message x\n");
    let printed = || {
        let output = home.run(&["setup", "--print"]);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert!(printed().0.contains("+bind-key W display-popup"), "{:?}", printed());
    for odd in ["more.conf", "~/*/keys.conf", "'#{d:current_file}/more.conf'"] {
        home.write(".tmux.conf", &format!("source-file -q {odd}\n"));
        let (reported, why) = printed();
        assert!(!reported.contains("bind-key") && why.contains("its configuration reads "), "{odd}: {reported}{why}");
    }
}

#[test]
fn a_file_with_another_name_is_left_alone() {
    let home = Home::new();
    let file = home.write(".tmux.conf", "set -g mouse on\n");
    fs::hard_link(&file, home.path("other")).unwrap();
    let before = home.files();
    home.answers(&[(POPUP, ""), (STATUS, "n"), (NOTICES, "b"), (WRITE, "y")]);
    home.wait("a hard link");
    home.wait("ended with 1");
    assert_eq!(home.files(), before);
}

#[test]
fn who_does_not_say_yes_has_nothing_written() {
    let home = Home::new();
    home.write(".tmux.conf", "set -g mouse on\n");
    let before = home.files();
    let unwanted = |what: &str| assert_eq!(home.files(), before, "{what}");
    let all = [(POPUP, ""), (STATUS, ""), (NOTICES, "d"), (WRITE, "")];
    home.answers(&all);
    home.wait("ended with 1");
    home.wait("nothing was written");
    unwanted("Enter alone is no yes");
    // Wrong answers are asked about again, and not for ever.
    home.answers(&[(POPUP, "perhaps"), ("answer with y or n", "Y"), (STATUS, "n")]);
    for nth in 1..=5 {
        let asked = || home.terminal.screen("main:").matches(NOTICES).count() == nth;
        wait_until("the question once more", asked);
        home.keys(&["n", "Enter"]);
    }
    home.wait("ended with 1");
    unwanted("wrong answers");
    // Ctrl-C at each of the questions, and the end of input.
    for at in 0..all.len() {
        home.answers(&all[..at]);
        home.wait(all[at].0);
        home.keys(&["C-c"]);
        // Keys before the prompt might go with what the signal throws away.
        let is_back = || home.terminal.screen("main:").trim_end().ends_with("world>");
        wait_until("the shell's prompt", is_back);
        home.keys(&["echo gone with $?", "Enter"]);
        home.wait("gone with 130");
        unwanted(all[at].0);
    }
    home.answers(&all[..2]);
    home.wait(NOTICES);
    home.keys(&["C-d"]);
    home.wait("ended with 1");
    unwanted("the end of input");
}

#[test]
fn a_file_that_cannot_be_written_keeps_all_as_they_are() {
    let home = Home::new();
    let config = home.write("xdg/fleetwatch/config.toml", "[ui]\ntheme = \"light\"\n");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o444)).unwrap();
    let before = home.files();
    home.answers(&[(POPUP, ""), (STATUS, ""), (NOTICES, "d"), (WRITE, "y")]);
    home.wait("ended with 1");
    home.wait("is read-only");
    assert_eq!(home.files(), before, "also not the one that could be");
    // A link that points nowhere is reported before anything is asked.
    symlink("missing.conf", home.path(".tmux.conf")).unwrap();
    home.answers(&[]);
    home.wait("points nowhere");
    home.wait("ended with 1");
    assert_eq!(home.files(), before);
}

#[test]
fn without_a_terminal_it_only_prints() {
    let home = Home::new();
    let ran = home.run(&["setup"]);
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{errors}");
    assert!(errors.contains("no terminal") && errors.contains("fleetwatch setup --print"), "{errors}");
    let ran = home.run(&["setup", "--print"]);
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success() && printed.contains("+bind-key F display-popup") && printed.contains("+[[notify]]"));
    assert_eq!(home.files(), BTreeMap::new());
}
