//! The real dashboard in a real terminal: the operator's tmux server shows it, another one is watched.

mod acting;
mod appearance;
mod arranging;
mod composing;
mod drill;
mod follow_ups;
mod handover;
mod mouse;
mod notices;
mod presses;
mod starting;
mod tasks;
mod views;

use std::process::{Child, Command, Stdio};

use crate::support::private_tmux::{PrivateTmux, pass, signal, wait_until};
use crate::support::{copy_shell, without_options};

/// A shell with a terminal, in which the dashboard is started, and a server with a small agent to watch.
struct World {
    operator: PrivateTmux,
    watched: PrivateTmux,
    directory: tempfile::TempDir,
    /// What `stty` said of the terminal before the dashboard had it.
    modes: String,
}

impl World {
    /// A world whose watched server does not run yet.
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let profiles = directory.path().join("fleetwatch/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::copy(
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/parrot.toml"),
            profiles.join("parrot.toml"),
        )
        .unwrap();
        copy_shell("/bin/bash", directory.path().join("parrot"));
        // It is not the first start, at which something is said.
        let state = directory.path().join("state/fleetwatch");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::write(state.join("dashboard.json"), "{\"introduced\": true}").unwrap();
        let config = directory.path().display().to_string();
        let environment = [
            format!("XDG_CONFIG_HOME={config}"),
            format!("XDG_STATE_HOME={config}/state"),
            format!("FLEETWATCH_TEST_PANIC={config}/panic"),
            "LC_ALL=C.UTF-8".to_owned(),
            "PS1=world> ".to_owned(),
        ];
        let mut shell = vec!["env", "-u", "TMUX", "-u", "TMUX_PANE"];
        shell.extend(environment.iter().map(String::as_str));
        shell.extend(["bash", "--norc", "--noprofile"]);
        let operator = PrivateTmux::start(&shell);
        operator.run(&["set-option", "-g", "window-size", "manual"]);
        operator.run(&["resize-window", "-t", "main:", "-x", "120", "-y", "40"]);
        operator.wait_for_text("main:", "world>");
        let mut world = Self { operator, watched: PrivateTmux::unstarted(), directory, modes: String::new() };
        world.modes = world.stty("before");
        world
    }

    /// A world with a parrot to watch, named by its session.
    fn with_parrot() -> Self {
        let world = Self::new();
        world.start_parrot();
        world
    }

    /// The same with the dashboard open, when it has found the parrot.
    fn opened() -> Self {
        let world = Self::with_parrot();
        world.open();
        world.wait("1 ready");
        world
    }

    fn start_parrot(&self) {
        self.start_parrot_in("birds");
    }

    /// What a shell runs that is a parrot first, and then another program.
    fn parrot(&self) -> String {
        let program = self.directory.path().join("parrot");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/parrot.sh");
        format!("set +m; '{}' '{script}'; exec cat", program.display())
    }

    fn start_parrot_in(&self, session: &str) {
        self.watched.new_session(session, &["bash", "--norc", "--noprofile", "-c", &self.parrot()]);
        self.watched.wait_for_text(&format!("{session}:"), "❯");
    }

    /// Starts the dashboard in the operator's shell and waits for its first frame.
    fn open(&self) {
        self.open_with("");
    }

    /// The same with additions to the environment.
    fn open_with(&self, environment: &str) {
        let program = env!("CARGO_BIN_EXE_fleetwatch");
        self.type_text(&format!("clear; {environment} {program} -L {}", self.watched.name()));
        self.press("Enter");
        self.wait("? help");
    }

    /// What `stty` says of the terminal that the shell has.
    fn stty(&self, name: &str) -> String {
        let file = self.directory.path().join(name);
        self.type_text(&format!("stty -g > '{}.new' && mv '{0}.new' '{0}'", file.display()));
        self.press("Enter");
        wait_until("the terminal's modes", || file.exists());
        std::fs::read_to_string(&file).unwrap()
    }

    /// The command line beside the dashboard: its exit code, and what it said.
    fn fleetwatch(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.command().args(["-L", self.watched.name()]).args(words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), without_options(&text, &["-L", self.watched.name()]))
    }

    /// The program with this world's configuration and history.
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        let home = self.directory.path();
        command.env("XDG_CONFIG_HOME", home).env("XDG_STATE_HOME", home.join("state")).current_dir(home);
        command.env_remove("TMUX").env_remove("TMUX_PANE");
        command
    }

    fn type_text(&self, text: &str) {
        self.operator.run(&["send-keys", "-t", "main:", "-l", "--", text]);
    }

    fn press(&self, key: &str) {
        self.operator.run(&["send-keys", "-t", "main:", key]);
    }

    /// Does what the list of commands finds by some words.
    fn run_command(&self, words: &str) {
        self.press(":");
        self.wait("┌ commands");
        self.type_text(words);
        self.wait(&format!(": {words}"));
        self.press("Enter");
        self.wait_without("┌ commands");
    }

    /// Takes an entry of the menu of orders and groups.
    fn arrange(&self, entry: &str) {
        self.press("s");
        self.wait("sort and group");
        self.type_text(entry);
        self.wait(&format!("/ {entry}"));
        self.press("Enter");
        self.wait_without("sort and group");
    }

    /// Says yes to a question that is no longer new.
    fn confirm(&self) {
        pass(std::time::Duration::from_millis(600));
        self.press("y");
    }

    fn wait(&self, text: &str) {
        self.operator.wait_for_text("main:", text);
    }

    fn wait_without(&self, text: &str) {
        wait_until(&format!("a screen without {text:?}"), || !self.screen().contains(text));
    }

    fn screen(&self) -> String {
        self.operator.screen("main:")
    }

    fn resize(&self, columns: u16, rows: u16) {
        let (x, y) = (columns.to_string(), rows.to_string());
        self.operator.run(&["resize-window", "-t", "main:", "-x", &x, "-y", &y]);
    }

    fn flags(&self) -> String {
        let format = "#{alternate_on}#{mouse_any_flag}#{cursor_flag}";
        self.operator.run(&["display-message", "-p", "-t", "main:", format]).trim().to_owned()
    }

    /// The process of the dashboard in the operator's shell.
    fn dashboard_pid(&self) -> u32 {
        let shell = self.operator.key_of("main:").pid.to_string();
        let children = Command::new("ps").args(["-o", "pid=", "--ppid", &shell]).output().unwrap();
        String::from_utf8_lossy(&children.stdout).trim().parse().unwrap()
    }

    /// Leaves the dashboard.
    fn quit(&self) {
        self.press("q");
        self.expect_restored();
    }

    /// Fails unless the shell has its terminal back as it was: screen, cursor, mouse and modes.
    fn expect_restored(&self) {
        self.wait("world>");
        wait_until("the alternate screen, the mouse and the cursor to be given back", || self.flags() == "001");
        assert_eq!(self.stty("after"), self.modes);
    }
}

#[test]
fn it_finds_agents_follows_them_and_gives_the_terminal_back() {
    let world = World::with_parrot();
    world.open();
    world.wait("birds");
    world.wait("parrot");
    world.wait("1 ready");
    assert_eq!(world.flags(), "110", "alternate screen and mouse are on, the cursor is hidden");
    // A prompt that somebody types into the pane itself.
    world.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    world.wait("1 needs you");
    world.wait("Allow this?");
    world.press("Enter");
    world.wait("close without answering");
    assert!(world.watched.screen("birds:").contains("> 1. Yes"), "opening a dialog answers nothing");
    world.press("Escape");
    world.wait_without("close without answering");
    world.press("?");
    world.wait("what you can do now");
    world.press("q");
    world.wait_without("what you can do now");
    world.quit();
}

#[test]
fn it_survives_every_size() {
    let world = World::opened();
    for (columns, rows) in [(200, 50), (80, 24), (20, 5), (2, 1), (200, 50)] {
        world.resize(columns, rows);
        let size = || world.operator.run(&["display-message", "-p", "-t", "main:", "#{pane_width}x#{pane_height}"]);
        wait_until("the new size", || size().trim() == format!("{columns}x{rows}"));
        if columns >= 20 {
            wait_until("the name in a frame of the new size", || {
                let screen = world.screen();
                screen.contains("birds")
                    && (rows < 10
                        || screen.lines().nth(usize::from(rows) - 1).is_some_and(|line| line.contains("help")))
            });
        }
    }
    world.wait("STABLE");
    world.press("q");
    world.resize(120, 40);
    world.expect_restored();
}

#[test]
fn signals_and_panics_give_the_terminal_back() {
    for name in ["TERM", "INT", "HUP"] {
        let world = World::with_parrot();
        world.open();
        signal(name, world.dashboard_pid());
        world.expect_restored();
    }
    let world = World::with_parrot();
    world.open();
    std::fs::write(world.directory.path().join("panic"), "").unwrap();
    world.press("j");
    world.wait("a test asked for a panic");
    world.expect_restored();
}

#[test]
fn it_goes_into_the_background_and_comes_back() {
    let world = World::with_parrot();
    world.open();
    world.press("C-z");
    world.wait("Stopped");
    assert_eq!(world.flags(), "001");
    world.type_text("fg");
    world.press("Enter");
    world.wait("1 ready");
    assert_eq!(world.flags(), "110");
    world.quit();
}

#[test]
fn stopped_from_outside_it_has_the_terminal_again_when_the_shell_goes_on_with_it() {
    let world = World::with_parrot();
    world.open();
    for (columns, rows) in [(80, 24), (60, 15), (30, 8)] {
        world.resize(columns, rows);
        world.wait("birds");
        signal("STOP", world.dashboard_pid());
        world.wait("Stopped");
        world.type_text("fg");
        world.press("Enter");
        world.wait_without("Stopped");
        wait_until("the alternate screen, the mouse and the cursor to be taken", || world.flags() == "110");
        // In a terminal that is cooked nobody hears a key without Enter, and the shell's echo would show it.
        world.press("?");
        world.wait(" keys ");
        world.press("Escape");
        world.wait_without(" keys ");
    }
    world.press("q");
    world.resize(120, 40);
    world.expect_restored();
}

#[test]
fn servers_come_and_go() {
    let world = World::new();
    world.open();
    world.wait("No tmux server is running on");
    world.start_parrot();
    world.wait("1 ready");
    world.watched.run(&["kill-server"]);
    world.wait("tmux ended");
    world.wait("1 ended with tmux");
    world.wait("with 1 terminal");
    // The row and what was on its screen stay.
    world.wait("its last screen");
    assert!(world.screen().contains("before: ready · its tmux server ended"), "{}", world.screen());
    world.start_parrot();
    world.wait("1 ready");
    world.quit();
}

#[test]
fn what_is_missing_is_said() {
    let world = World::new();
    world.open_with("PATH=/nonexistent");
    world.wait("tmux is not installed");
    world.wait("Install it with your package manager");
    world.quit();
    world.watched.new_session("plain", &["cat"]);
    world.open();
    world.wait("No agents found");
    world.quit();
}

#[test]
fn inside_tmux_a_jump_switches_the_client() {
    let world = World::with_parrot();
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    let config = format!("XDG_CONFIG_HOME={}", world.directory.path().display());
    let state = format!("XDG_STATE_HOME={}/state", world.directory.path().display());
    world.watched.run(&["set-option", "-g", "prefix", "C-a"]);
    world.watched.run(&["unbind-key", "L"]);
    world.watched.run(&["bind-key", "B", "switch-client", "-l"]);
    // The dashboard runs in the watched server itself, whose client is shown in the operator's terminal.
    world.watched.new_session("world", &["env", "LC_ALL=C.UTF-8", &config, &state, program]);
    world.type_text(&format!("tmux -u -L {} attach -t world", world.watched.name()));
    world.press("Enter");
    world.wait("1 ready");
    assert!(!world.screen().contains("generic"), "its own pane is no terminal");
    world.press("g");
    world.wait("Parrot v1.0.0");
    let shown = || world.watched.run(&["list-clients", "-F", "#{client_session}"]);
    wait_until("the client to show the birds", || shown().trim() == "birds");
    // What is shown leads back, whatever the operator's keys are.
    world.wait("C-a B: back to fleetwatch");
    for key in ["C-a", "B"] {
        world.press(key);
    }
    wait_until("the client to show the dashboard", || shown().trim() == "world");
    // From another window of the same session.
    world.watched.run(&["move-window", "-d", "-s", "birds:0", "-t", "world:7"]);
    world.wait("world:7");
    // For a moment after a jump no key is a command.
    wait_until("keys to be taken again", || {
        world.press("F9");
        world.screen().contains("does nothing here")
    });
    world.press("g");
    world.wait("C-a l: back to fleetwatch");
    world.watched.run(&["detach-client", "-s", "world"]);
    world.wait("world>");
}

#[test]
fn a_prompt_reaches_the_agent_as_it_was_written() {
    let world = World::opened();
    world.press("i");
    world.wait("prompt to birds");
    let prompt = r#"-l 'one' "two"; #{pane_id} $HOME `id` ünï 🚀 \"#;
    world.type_text(prompt);
    world.press("Enter");
    world.wait("birds took the prompt");
    world.watched.wait_for_text("birds:", &format!("● heard {prompt}"));
    // The turn began here, which its result tells.
    world.wait("finished");
    wait_until("a result with the mark of a sent prompt", || {
        world.screen().lines().any(|line| line.contains("finished") && line.contains('›') && line.contains("birds"))
    });
    // One that has to wait is queued, and keeps its text when it is taken back.
    world.watched.run(&["send-keys", "-t", "birds:", "a draft of somebody"]);
    world.press("i");
    world.wait("prompt to birds");
    world.type_text("mine");
    world.wait("its input line holds an unsent draft");
    world.press("Enter");
    world.wait("queued 1");
    world.press("U");
    world.wait("taken back");
    world.press("i");
    world.wait("prompt to birds");
    wait_until("the kept draft", || world.screen().lines().any(|line| line.trim_start().starts_with("mine")));
    // Escape and a letter that arrive together are one key with Alt.
    world.press("Escape");
    world.wait_without("prompt to birds");
    world.quit();
}

#[test]
fn a_prompt_on_its_way_arrives_although_the_dashboard_is_left() {
    let world = World::opened();
    world.press("i");
    world.wait("prompt to birds");
    // In one go, so that the prompt has only just left when the dashboard is left, too.
    world.operator.run(&["send-keys", "-t", "main:", "l", "a", "s", "t", "Enter", "q"]);
    world.watched.wait_for_text("birds:", "● heard last");
    world.expect_restored();
}

#[test]
fn a_hostile_pane_stays_in_its_cells() {
    let world = World::opened();
    // A title of thousands of columns, the clipboard, a bell, another screen, marks that turn text around.
    let script = "printf '\\033]2;%05000d\\007\\033]52;c;aGk=\\007\\007\\033[?1049h\\033[41m\\342\\200\\256evil\\n'; sleep 60; true";
    world.watched.new_session("evil", &["bash", "-c", script]);
    let evil = world.directory.path().join("parrot");
    let run = format!("exec '{}' -c \"{script}\"", evil.display());
    world.watched.new_session("worse", &["bash", "-c", &run]);
    world.wait("worse");
    world.press("End");
    world.press("Home");
    world.wait("birds");
    let screen = world.screen();
    let heading = screen.lines().find(|line| line.contains("NAME")).unwrap();
    let column = heading.find("STATE").unwrap();
    for name in ["birds", "worse"] {
        let row = screen.lines().find(|line| line.contains(name) && line.contains("parrot")).unwrap();
        let before: String = row.chars().take(column).collect();
        assert!(before.ends_with("  "), "{screen}");
    }
    assert!(world.operator.output(&["show-buffer"]).stdout.is_empty(), "nothing got into the operator's clipboard");
    world.quit();
}

#[test]
fn jumping_hands_the_terminal_over_and_takes_it_back() {
    let world = World::opened();
    world.press("g");
    world.wait("Parrot v1.0.0");
    world.wait("C-b d: back to fleetwatch");
    world.wait_without("? help");
    world.type_text("hello from here");
    // The history has it while they are away.
    let is_recorded = || world.history().lines().any(|line| line.contains("jumped to it"));
    wait_until("the jump in the history", is_recorded);
    world.watched.wait_for_text("birds:", "hello from here");
    world.watched.run(&["detach-client", "-s", "birds"]);
    world.wait("? help");
    world.quit();
}

#[test]
fn the_end_of_the_terminal_is_the_end_of_the_dashboard() {
    let world = World::with_parrot();
    let (program, server) = (env!("CARGO_BIN_EXE_fleetwatch"), world.watched.name());
    let code = world.directory.path().join("code");
    world.type_text(&format!("clear; (trap : HUP; {program} -L {server}; echo $? > {})", code.display()));
    world.press("Enter");
    world.wait("1 ready");
    world.operator.run(&["kill-server"]);
    wait_until("the dashboard to end", || std::fs::read_to_string(&code).is_ok_and(|code| code.ends_with('\n')));
    // It fails where it draws once more before it hears of the end, but does not panic.
    assert_ne!(std::fs::read_to_string(&code).unwrap(), "101\n");
}

#[test]
fn the_operators_own_keys_hold_and_wrong_ones_are_refused() {
    let world = World::with_parrot();
    let keymap = world.directory.path().join("fleetwatch/keymap.toml");
    let twice = "fleet = [\n  { on = \"x\", run = \"quit\" },\n  { on = \"x\", run = \"down\" },\n]\n";
    std::fs::write(&keymap, twice).unwrap();
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    world.type_text(&format!("clear; {program} -L {}; echo \"code $?\"", world.watched.name()));
    world.press("Enter");
    world.wait("code 2");
    // Long paths are wrapped by the terminal.
    let screen = world.screen().replace('\n', "");
    assert!(screen.contains("keymap.toml:3:10: the key x is bound twice") && screen.contains("hint: "), "{screen}");
    std::fs::write(&keymap, twice.replace("\"x\", run = \"down\"", "\"q\", run = \"none\"")).unwrap();
    world.open();
    world.wait("x quit");
    world.press("q");
    world.wait("q does nothing here");
    world.press("x");
    world.expect_restored();
}

#[test]
fn without_a_terminal_there_is_an_error_with_a_hint() {
    let output = Command::new(env!("CARGO_BIN_EXE_fleetwatch")).args(["-L", "fleetwatch-test-none"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("error: the dashboard needs a terminal") && errors.contains("\nhint: "), "{errors}");
}

#[test]
fn the_fleet_is_filtered_grouped_and_marked() {
    let world = World::with_parrot();
    for name in ["crow", "dove"] {
        world.watched.new_session(name, &["bash", "--norc", "--noprofile", "-c", &world.parrot()]);
    }
    let config = "[[terminal]]\nsession = \"birds\"\nlabel = \"loud\"\n[[terminal]]\nsession = \"dove\"\nmute = true\n";
    std::fs::write(world.directory.path().join("fleetwatch/config.toml"), config).unwrap();
    world.open();
    world.wait("2 ready │ 1 muted");
    world.watched.run(&["send-keys", "-t", "dove:", "ask", "Enter"]);
    world.watched.run(&["send-keys", "-t", "crow:", "ask", "Enter"]);
    world.wait("1 needs you");
    world.press("Tab");
    wait_until("the cursor on the crow", || {
        world.screen().lines().any(|line| line.starts_with('›') && line.contains("crow"))
    });
    // What is typed narrows the table down at once; Escape shows all of it again.
    world.type_text("/is:blo !cr");
    world.wait("1 of 3");
    let is_row = |line: &str| line.contains("crow") && line.contains("parrot");
    wait_until("the crow's row to go", || !world.screen().lines().any(is_row));
    world.press("Enter");
    world.wait("? help");
    // Nothing that is shown needs anybody, and what is hidden is not forgotten.
    assert!(!world.screen().contains("longest wait"), "{}", world.screen());
    world.press("Tab");
    world.wait("the filter hides 1 to look at (esc shows all)");
    world.wait("esc show all");
    world.press("Escape");
    world.wait_without("1 of 3");
    world.arrange("group by label");
    world.wait("▾ loud      1");
    world.wait("▾ no label  2  ? 1 needs you");
    world.press("Home");
    world.press("Left");
    world.wait("▸ no label  2  ? 1 needs you");
    world.press("Space");
    world.press("Right");
    world.wait("■");
    world.wait("2 marked");
    world.press("Escape");
    world.wait_without("marked");
    world.arrange("no groups");
    world.wait_without("grouped by");
    world.quit();
}

#[test]
fn copying_reaches_the_clipboard_of_the_terminal() {
    let world = World::with_parrot();
    world.operator.run(&["set-option", "-s", "set-clipboard", "on"]);
    world.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    world.open();
    world.wait("1 needs you");
    let clipboard = || {
        let output = world.operator.output(&["show-buffer"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let copy = |what: &str| {
        world.run_command("copy the name");
        world.wait("copy to");
        world.press(what);
    };
    copy("n");
    world.wait("sent to the terminal's clipboard: the name, 5 characters");
    wait_until("the name in the clipboard", || clipboard() == "birds");
    copy("d");
    wait_until("the dialog in the clipboard", || clipboard().contains("Allow this?") && clipboard().contains("1. Yes"));
    copy("t");
    wait_until("the transcript in the clipboard", || clipboard().contains("ask"));
    world.quit();
    // Inside of tmux it depends on an option, which is asked for and never set.
    world.open_with(&format!(
        "TMUX='{}'",
        world.operator.run(&["display-message", "-p", "#{socket_path},#{pid},0"]).trim()
    ));
    world.wait("1 needs you");
    copy("n");
    world.wait("not copied: tmux drops what programs in a popup copy");
    world.quit();
    let variable =
        |format: &str| world.operator.run(&["display-message", "-p", "-t", "main:", format]).trim().to_owned();
    let inside = format!("TMUX='{}' TMUX_PANE='{}'", variable("#{socket_path},#{pid},0"), variable("#{pane_id}"));
    world.open_with(&inside);
    world.wait("1 needs you");
    copy("n");
    world.wait("sent to tmux for the clipboard: the name, 5 characters");
    wait_until("the name in the clipboard", || clipboard() == "birds");
    world.operator.run(&["set-option", "-s", "set-clipboard", "external"]);
    copy("d");
    world.wait("not copied: tmux drops what programs in it copy (`tmux set -s set-clipboard on`");
    world.wait_without("sent to tmux");
    assert_eq!(clipboard(), "birds");
    world.quit();
}

#[test]
fn changed_files_are_read_again_and_wrong_ones_change_nothing() {
    let world = World::with_parrot();
    let directory = world.directory.path().join("fleetwatch");
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    world.open();
    world.wait("1 ready");
    write("keymap.toml", "fleet = [ { on = \"ctrl-x\", run = \"jump\" }, { on = \"g\", run = \"none\" } ]\n");
    world.wait("configuration reloaded");
    world.wait("ctrl-x jump");
    write("keymap.toml", "fleet = [\n  { on = \"x\", run = \"leap\" },\n]\n");
    world.wait("keymap.toml:2:21: there is no action");
    world.wait("✗ nothing was changed:");
    assert!(world.screen().contains("ctrl-x jump"));
    std::fs::remove_file(directory.join("keymap.toml")).unwrap();
    world.wait("g jump");
    // A theme of one's own, which is read again as well.
    let theme = include_str!("../../../config/themes/dark.toml").replace("\"·\"", "\"R\"");
    std::fs::create_dir(directory.join("themes")).unwrap();
    write("themes/mine.toml", &theme);
    write("config.toml", "[ui]\ntheme = \"mine\"\nmouse = false\n");
    world.wait("R birds");
    wait_until("the mouse to be left alone", || world.flags() == "100");
    write("themes/mine.toml", &theme.replace("\"R\"", "\"S\""));
    world.wait("S birds");
    write("config.toml", "[ui]\ntheme = \"nobody\"\n");
    world.wait("config.toml:2:9: unknown theme `nobody`");
    assert!(world.screen().contains("S birds"));
    // What is watched changes as well.
    write("config.toml", "[watch]\nignore = [\"bir*\"]\n");
    world.wait("1 gone");
    write("config.toml", "[[terminal]]\nsession = \"birds\"\nname = \"parrots\"\n[tracker]\nstable_seconds = 2.0\n");
    world.wait("[tracker] takes effect at the next start");
    wait_until("the new name", || world.screen().lines().any(|line| line.contains("· parrots")));
    // At once, when one asks for it.
    write("config.toml", "[[terminal]]\nsession = \"birds\"\nname = \"parakeets\"\n");
    world.press("C-r");
    wait_until("the new name", || world.screen().lines().any(|line| line.contains("· parakeets")));
    // Each file for itself: what is right holds, and all that is wrong is shown, with what to do about it.
    write("config.toml", "[ui]\nmouse = 3\n");
    write("keymap.toml", "fleet = [ { on = \"ctrl-y\", run = \"jump\" }, { on = \"g\", run = \"none\" } ]\n");
    world.press("C-r");
    world.wait("ctrl-y jump");
    world.wait("left as it was: ");
    world.wait("config.toml:2:9: ");
    write("keymap.toml", "fleet = [ { on = \"ctrl-y\", run = \"jum\" } ]\n");
    world.press("C-r");
    // Long paths are wrapped.
    let reported = || {
        world
            .screen()
            .lines()
            .map(|line| line.rsplit("  ").next().unwrap_or_default().trim())
            .collect::<Vec<_>>()
            .join(" ")
    };
    wait_until("both faults", || {
        let reported = reported();
        reported.contains("keymap.toml:1:34: there is no action \"jum\" (") && reported.contains("config.toml:2:9: ")
    });
    world.wait("nothing was changed: ");
    std::fs::remove_file(directory.join("keymap.toml")).unwrap();
    write("config.toml", "");
    world.press("C-r");
    world.wait_without("nothing was changed: ");
    world.wait("configuration reloaded");
    world.quit();
}

#[test]
fn changed_profiles_are_read_again_and_a_wrong_one_changes_nothing() {
    let world = World::with_parrot();
    let profile = world.directory.path().join("fleetwatch/profiles/parrot.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    world.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    world.open();
    let row = |word: &str| {
        let is_row = |line: &str| line.contains("birds") && line.contains("parrot") && line.contains(word);
        wait_until(&format!("a row that says {word}"), || world.screen().lines().any(is_row));
    };
    row("approval");
    std::fs::write(&profile, text.replace("gives = \"approval\"", "gives = \"question\"")).unwrap();
    row("question");
    std::fs::write(&profile, text.replace("gives = \"approval\"", "gives = \"nonsense\"")).unwrap();
    world.wait("nothing was changed: ");
    world.wait("nonsense");
    row("question");
    // Who answers reads with the new one, too: what is no dialog there cannot be answered.
    world.press("Enter");
    world.wait("sends: Enter");
    std::fs::write(&profile, text.replace("(?<text>Allow", "(?<text>Never")).unwrap();
    world.wait_without("sends: Enter");
    world.wait_without("nothing was changed: ");
    row("unknown");
    // The box stays for a second, so that no key that was meant for it goes elsewhere.
    world.wait_without("close without answering");
    world.quit();
}

/// A client of the watched server in the operator's terminal, and the dashboard in a popup over it. The command that
/// shows a popup ends with it.
fn open_popup(world: &World) -> Child {
    world.watched.new_session("nest", &["cat"]);
    world.type_text(&format!("tmux -u -L {} attach -t nest", world.watched.name()));
    world.press("Enter");
    wait_until("a client", || clients(world, "#{client_session}") == "nest");
    let directory = world.directory.path().display().to_string();
    let program = format!(
        "env LC_ALL=C.UTF-8 XDG_CONFIG_HOME={directory} XDG_STATE_HOME={directory}/state {}",
        env!("CARGO_BIN_EXE_fleetwatch")
    );
    let client = clients(world, "#{client_name}");
    let popup = Command::new("tmux")
        .args(["-L", world.watched.name(), "display-popup", "-c", &client, "-E", "-w", "90%", "-h", "90%", &program])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    world.wait("1 ready");
    popup
}

fn clients(world: &World, format: &str) -> String {
    world.watched.run(&["list-clients", "-F", format]).trim().to_owned()
}

#[test]
fn in_a_popup_a_jump_switches_what_is_below_and_closes_it() {
    let world = World::with_parrot();
    let mut popup = open_popup(&world);
    world.press("g");
    wait_until("the client to show the birds", || clients(&world, "#{client_session}") == "birds");
    wait_until("the popup to close", || popup.try_wait().unwrap().is_some());
    world.wait("Parrot v1.0.0");
    world.watched.run(&["detach-client", "-s", "birds"]);
    world.wait("world>");
}

#[test]
fn in_a_popup_a_jump_leaves_a_prompt_that_waits_to_whoever_watches_next() {
    let world = World::with_parrot();
    let mut popup = open_popup(&world);
    world.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    world.wait("1 needs you");
    world.press("i");
    world.wait("prompt to birds");
    world.type_text("not to be lost");
    world.press("Enter");
    world.wait("queued 1");
    world.press("g");
    wait_until("the popup to close", || popup.try_wait().unwrap().is_some());
    wait_until("the client to show the birds", || clients(&world, "#{client_session}") == "birds");
    let directory = world.directory.path();
    let waiting = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
        .args(["-L", world.watched.name(), "queue"])
        .env("XDG_CONFIG_HOME", directory)
        .env("XDG_STATE_HOME", directory.join("state"))
        .output()
        .unwrap();
    let waiting = String::from_utf8_lossy(&waiting.stdout).into_owned();
    assert!(waiting.contains("not to be lost"), "{waiting}");
    world.watched.run(&["detach-client", "-s", "birds"]);
    world.wait("world>");
}
