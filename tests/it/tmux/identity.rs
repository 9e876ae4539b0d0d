//! Who runs in a pane: agents that are suspended, that run behind another program, that have ended, and that nobody can see.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, wait_or_tell};
use fleetwatch::recording::{Archive, Player};

/// A tmux server, a folder for programs, and a configuration of its own.
struct Scene {
    tmux: PrivateTmux,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { tmux: PrivateTmux::unstarted(), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A shell under the name of another program.
    fn program(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        copy_shell("/bin/sh", &path);
        path.to_str().unwrap().to_owned()
    }

    fn configure(&self, text: &str) {
        let folder = self.path("config/fleetwatch");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    fn fleetwatch(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for variable in ["TMUX", "TMUX_PANE", "FLEETWATCH_CONFIG"] {
            command.env_remove(variable);
        }
        command.env("HOME", self.folder.path()).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_STATE_HOME", self.path("state")).args(words).output().unwrap()
    }

    fn here(&self, words: &[&str]) -> Output {
        self.fleetwatch(&[words, &["-L", self.tmux.name()]].concat())
    }

    fn listed(&self, words: &[&str]) -> Vec<Value> {
        let output = self.fleetwatch(&[&["list", "--json"], words].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    /// Waits until a terminal of this machine is what a condition wants.
    fn expect(&self, id: &str, what: &str, condition: impl Fn(&Value) -> bool) {
        let row = || self.listed(&["-L", self.tmux.name()]).into_iter().find(|row| row["id"] == id);
        wait_or_tell(what, || row().is_some_and(|row| condition(&row)), || format!("{:?}", row()));
    }
}

/// What a command said, on both ways.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn a_suspended_agent_takes_nothing_and_comes_back() {
    for name in ["claude", "codex", "crush"] {
        let scene = Scene::new();
        let agent = scene.program(name);
        scene.tmux.new_session("main", &["bash", "--norc", "--noprofile", "-i"]);
        let start = format!("{agent} -c 'while read x; do echo got $x; done'");
        scene.tmux.run(&["send-keys", "-t", "main:", &start, "Enter"]);
        let is_there =
            |row: &Value| row["terminal"]["tool"] == name && row["word"] != "suspended" && row["word"] != "gone";
        scene.expect("main", "the agent", is_there);
        scene.tmux.run(&["send-keys", "-t", "main:", "C-z"]);
        scene.expect("main", "its suspension", |row| row["word"] == "suspended");
        let row = &scene.listed(&["-L", scene.tmux.name()])[0];
        assert_eq!(row["diagnostics"]["process_state"], "suspended");
        assert_eq!(row["what"], "suspended, as by Ctrl-Z; `fg` in its pane brings it back");
        let waited = scene.here(&["wait", "main", "--for", "suspended", "--timeout", "20"]);
        assert!(waited.status.success(), "{}", said(&waited));
        assert!(said(&scene.here(&["explain", "main"])).contains("main is stopped: suspended, as by Ctrl-Z"));
        for words in
            [&["send", "main", "touch here"][..], &["send", "main", "--force", "touch here"], &["keys", "main", "y"]]
        {
            let refused = scene.here(words);
            assert!(!refused.status.success() && said(&refused).contains("suspended"), "{words:?}: {}", said(&refused));
        }
        let screen = scene.tmux.screen("main:");
        assert!(!screen.contains("touch here") && !screen.trim_end().ends_with('y'), "{screen}");
        scene.tmux.run(&["send-keys", "-t", "main:", "fg", "Enter"]);
        scene.expect("main", "its return", is_there);
    }
}

/// A file that puts the last screen of a recording that shows a text on a terminal.
fn drawing(folder: &Path, name: &str, text: &str) -> (PathBuf, u16, usize) {
    let archive = Archive::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst")).unwrap();
    let recording = archive.recording(name).unwrap();
    let frame = Player::new(&recording).filter(|frame| frame.screen.to_capture().contains(text)).last().unwrap();
    let cursor = frame.facts.cursor;
    let rows: Vec<String> = frame.screen.to_capture().lines().map(str::to_owned).collect();
    let text = format!(
        "\x1b]2;{}\x07\x1b[H\x1b[2J{}\x1b[{};{}H",
        frame.facts.title,
        rows.join("\r\n"),
        cursor.row + 1,
        cursor.column + 1
    );
    let file = folder.join("drawing");
    std::fs::write(&file, text).unwrap();
    (file, frame.screen.columns(), frame.screen.rows().len())
}

#[test]
fn an_agent_behind_a_wrapper_is_known_by_its_screen_until_the_wrapper_ends() {
    let scene = Scene::new();
    let (file, columns, rows) = drawing(scene.folder.path(), "claude-2.1.330/bash-accepted", "Do you want to proceed");
    let show = format!("stty -echo; cat {}; read x", file.display());
    let (columns, rows) = (columns.to_string(), rows.to_string());
    for name in ["ssh", "docker", "mosh-client", "less", "vim", "watch"] {
        let program = scene.program(name);
        let start = format!("{program} -c '{show}'; exec bash --norc -i");
        let size = ["-x", &columns, "-y", &rows];
        scene
            .tmux
            .run(&[&["-f", "/dev/null", "new-session", "-d", "-s", name][..], &size, &["sh", "-c", &start]].concat());
    }
    for name in ["ssh", "docker", "mosh-client"] {
        let is_read = |row: &Value| {
            row["terminal"]["tool"] == "claude" && row["terminal"]["through"] == name && row["word"] == "approval"
        };
        scene.expect(name, "the dialog behind the wrapper", is_read);
    }
    let explained = said(&scene.here(&["explain", "ssh"]));
    assert!(
        explained.contains("claude of unknown version behind ssh") || explained.contains(" behind ssh, "),
        "{explained}"
    );
    let listed = scene.listed(&["-L", scene.tmux.name()]);
    assert_eq!(listed.len(), 3, "what only shows such a screen is no agent: {listed:?}");
    scene.configure("[[terminal]]\nsession = \"*\"\n");
    scene.tmux.run(&["send-keys", "-t", "ssh:", "Enter"]);
    scene.expect("ssh", "the end of the wrapper", |row| row["word"] == "gone");
    // A pin is believed for any program, and not for the shell.
    scene.configure("[[terminal]]\nsession = \"*\"\ntool = \"claude\"\n");
    for name in ["less", "vim", "watch"] {
        scene.expect(name, "the dialog behind any program", |row| row["word"] == "approval");
    }
    scene.expect("ssh", "the shell", |row| row["word"] == "gone");
}

#[test]
fn how_the_agent_of_a_pane_that_stays_has_ended_is_told() {
    let scene = Scene::new();
    scene.configure("[[terminal]]\nsession = \"*\"\n");
    let agent = scene.program("claude");
    scene.tmux.new_session("idle", &["cat"]);
    scene.tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    for (name, script, how) in
        [("code", "exit 3", "(exit 3)"), ("signal", "kill -9 $$", "(signal 9)"), ("well", "exit 0", "(exit 0)")]
    {
        scene.tmux.new_session(name, &[&agent, "-c", script]);
        let what = format!("the agent has ended {how}; its pane is still there");
        scene.expect(name, "its end", |row| row["word"] == "gone" && row["what"] == what.as_str());
    }
}

#[test]
fn on_a_host_agents_are_found_without_ps_and_it_is_said_where_nobody_can_look() {
    let scene = Scene::new();
    let node = scene.program("node");
    let script = scene.path("My Tools/bin/codex");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, "echo up; read x").unwrap();
    scene.tmux.new_session("by-script", &[&node, script.to_str().unwrap()]);
    let tools = scene.path("My Tools/claude");
    copy_shell("/bin/sh", &tools);
    scene.tmux.new_session("by-name", &[tools.to_str().unwrap(), "-c", "echo up; read x"]);
    let programs = |name: &str, wanted: &[&str]| {
        let folder = scene.path(name);
        std::fs::create_dir_all(&folder).unwrap();
        for program in wanted {
            let path = String::from_utf8(Command::new("which").arg(program).output().unwrap().stdout).unwrap();
            symlink(path.trim(), folder.join(program)).unwrap();
        }
        let socket = scene.tmux.name();
        scene.configure(&format!(
            "[[server]]\nhost = \"box\"\nsocket = \"{socket}\"\n[[transport]]\nhosts = [\"box\"]\ncommand = [\"env\", \"PATH={}\"]\n",
            folder.display()
        ));
    };
    let names = || -> Vec<String> {
        let mut names: Vec<String> =
            scene.listed(&[]).iter().filter_map(|row| Some(row["id"].as_str()?.to_owned())).collect();
        names.sort();
        names
    };
    programs("without-ps", &["env", "sh", "tmux", "head", "cat", "uname", "dd"]);
    let both = ["box/by-name".to_owned(), "box/by-script".to_owned()];
    wait_or_tell("both agents", || names() == both, || format!("{:?}", names()));
    assert!(!said(&scene.fleetwatch(&["doctor"])).contains("to be seen"));
    programs("blind", &["env", "sh", "tmux", "head", "uname", "dd"]);
    let doctor = said(&scene.fleetwatch(&["doctor"]));
    assert!(doctor.contains("those of 2 panes of") && doctor.contains("are not to be seen"), "{doctor}");
}
