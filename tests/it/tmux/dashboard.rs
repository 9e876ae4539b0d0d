//! The real dashboard in a real terminal: the operator's tmux server shows it, another one is watched.

mod acting;
mod arranging;
mod composing;
mod drill;
mod follow_ups;
mod look;
mod mouse;
mod notices;
mod presses;
mod tasks;
mod views;

use std::process::{Child, Command, Stdio};

use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, signal, wait_until};

/// A shell with a terminal, in which the dashboard is started, and a server with a small agent to watch.
struct Desk {
    operator: PrivateTmux,
    watched: PrivateTmux,
    directory: tempfile::TempDir,
    /// What `stty` said of the terminal before the dashboard had it.
    modes: String,
}

impl Desk {
    /// A desk whose watched server does not run yet.
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
        // It is not the first start, of which something is told.
        let state = directory.path().join("state/fleetwatch");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::write(state.join("dashboard.json"), "{\"introduced\": true}").unwrap();
        let config = directory.path().display().to_string();
        let environment = [
            format!("XDG_CONFIG_HOME={config}"),
            format!("XDG_STATE_HOME={config}/state"),
            format!("FLEETWATCH_TEST_PANIC={config}/panic"),
            "LC_ALL=C.UTF-8".to_owned(),
            "PS1=desk> ".to_owned(),
        ];
        let mut shell = vec!["env", "-u", "TMUX", "-u", "TMUX_PANE"];
        shell.extend(environment.iter().map(String::as_str));
        shell.extend(["bash", "--norc", "--noprofile"]);
        let operator = PrivateTmux::start(&shell);
        operator.run(&["set-option", "-g", "window-size", "manual"]);
        operator.run(&["resize-window", "-t", "main:", "-x", "120", "-y", "40"]);
        operator.wait_for_text("main:", "desk>");
        let mut desk = Self { operator, watched: PrivateTmux::unstarted(), directory, modes: String::new() };
        desk.modes = desk.stty("before");
        desk
    }

    /// A desk with a parrot to watch, named by its session.
    fn with_parrot() -> Self {
        let desk = Self::new();
        desk.start_parrot();
        desk
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        let home = self.directory.path();
        command.env("XDG_CONFIG_HOME", home).env("XDG_STATE_HOME", home.join("state")).current_dir(home);
        command.env_remove("TMUX").env_remove("TMUX_PANE");
        let output = command.args(["-L", self.watched.name()]).args(words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    }

    fn type_text(&self, text: &str) {
        self.operator.run(&["send-keys", "-t", "main:", "-l", "--", text]);
    }

    fn press(&self, key: &str) {
        self.operator.run(&["send-keys", "-t", "main:", key]);
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

    /// Fails unless the shell has its terminal back as it was: screen, cursor, mouse and modes.
    fn expect_restored(&self) {
        self.wait("desk>");
        wait_until("the alternate screen, the mouse and the cursor to be given back", || self.flags() == "001");
        assert_eq!(self.stty("after"), self.modes);
    }
}

#[test]
fn it_finds_agents_follows_them_and_gives_the_terminal_back() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("birds");
    desk.wait("parrot");
    desk.wait("1 ready");
    assert_eq!(desk.flags(), "110", "alternate screen and mouse are on, the cursor is hidden");
    // A prompt that somebody types into the pane itself.
    desk.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    desk.wait("1 needs you");
    desk.wait("Allow this?");
    desk.press("Enter");
    desk.wait("close; nothing was sent");
    assert!(desk.watched.screen("birds:").contains("> 1. Yes"), "opening a dialog answers nothing");
    desk.press("Escape");
    desk.wait_without("nothing was sent");
    desk.press("?");
    desk.wait("for what is selected now");
    desk.press("q");
    desk.wait_without("for what is selected now");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn it_survives_every_size() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    for (columns, rows) in [(200, 50), (80, 24), (20, 5), (2, 1), (200, 50)] {
        desk.resize(columns, rows);
        let size = || desk.operator.run(&["display-message", "-p", "-t", "main:", "#{pane_width}x#{pane_height}"]);
        wait_until("the new size", || size().trim() == format!("{columns}x{rows}"));
        if columns >= 20 {
            wait_until("the name in a frame of the new size", || {
                let screen = desk.screen();
                screen.contains("birds")
                    && (rows < 10
                        || screen.lines().nth(usize::from(rows) - 1).is_some_and(|line| line.contains("help")))
            });
        }
    }
    desk.wait("STABLE");
    desk.press("q");
    desk.resize(120, 40);
    desk.expect_restored();
}

#[test]
fn signals_and_panics_give_the_terminal_back() {
    for name in ["TERM", "INT", "HUP"] {
        let desk = Desk::with_parrot();
        desk.open();
        signal(name, desk.dashboard_pid());
        desk.expect_restored();
    }
    let desk = Desk::with_parrot();
    desk.open();
    std::fs::write(desk.directory.path().join("panic"), "").unwrap();
    desk.press("j");
    desk.wait("a test asked for a panic");
    desk.expect_restored();
}

#[test]
fn it_goes_into_the_background_and_comes_back() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.press("C-z");
    desk.wait("Stopped");
    assert_eq!(desk.flags(), "001");
    desk.type_text("fg");
    desk.press("Enter");
    desk.wait("1 ready");
    assert_eq!(desk.flags(), "110");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn stopped_from_outside_it_has_the_terminal_again_when_the_shell_goes_on_with_it() {
    let desk = Desk::with_parrot();
    desk.open();
    for (columns, rows) in [(80, 24), (60, 15), (30, 8)] {
        desk.resize(columns, rows);
        desk.wait("birds");
        signal("STOP", desk.dashboard_pid());
        desk.wait("Stopped");
        desk.type_text("fg");
        desk.press("Enter");
        desk.wait_without("Stopped");
        wait_until("the alternate screen, the mouse and the cursor to be taken", || desk.flags() == "110");
        // In a terminal that is cooked nobody hears a key without Enter, and the shell's echo would show it.
        desk.press("?");
        desk.wait(" keys ");
        desk.press("Escape");
        desk.wait_without(" keys ");
    }
    desk.press("q");
    desk.resize(120, 40);
    desk.expect_restored();
}

#[test]
fn servers_come_and_go() {
    let desk = Desk::new();
    desk.open();
    desk.wait("No tmux server is running on");
    desk.start_parrot();
    desk.wait("1 ready");
    desk.watched.run(&["kill-server"]);
    desk.wait("tmux ended");
    desk.wait("1 gone");
    desk.start_parrot();
    desk.wait("1 ready");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn what_is_missing_is_said() {
    let desk = Desk::new();
    desk.open_with("PATH=/nonexistent");
    desk.wait("tmux is not installed");
    desk.wait("Install it with your package manager");
    desk.press("q");
    desk.expect_restored();
    desk.watched.new_session("plain", &["cat"]);
    desk.open();
    desk.wait("No agents found");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn inside_tmux_a_jump_switches_the_client() {
    let desk = Desk::with_parrot();
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    let config = format!("XDG_CONFIG_HOME={}", desk.directory.path().display());
    let state = format!("XDG_STATE_HOME={}/state", desk.directory.path().display());
    desk.watched.run(&["set-option", "-g", "prefix", "C-a"]);
    desk.watched.run(&["unbind-key", "L"]);
    desk.watched.run(&["bind-key", "B", "switch-client", "-l"]);
    // The dashboard runs in the watched server itself, whose client is shown in the operator's terminal.
    desk.watched.new_session("desk", &["env", "LC_ALL=C.UTF-8", &config, &state, program]);
    desk.type_text(&format!("tmux -u -L {} attach -t desk", desk.watched.name()));
    desk.press("Enter");
    desk.wait("1 ready");
    assert!(!desk.screen().contains("generic"), "its own pane is no terminal");
    desk.press("g");
    desk.wait("Parrot v1.0.0");
    let shown = || desk.watched.run(&["list-clients", "-F", "#{client_session}"]);
    wait_until("the client to show the birds", || shown().trim() == "birds");
    // What is shown leads back, whatever the operator's keys are.
    desk.wait("C-a B: back to fleetwatch");
    for key in ["C-a", "B"] {
        desk.press(key);
    }
    wait_until("the client to show the dashboard", || shown().trim() == "desk");
    // From another window of the same session.
    desk.watched.run(&["move-window", "-d", "-s", "birds:0", "-t", "desk:7"]);
    desk.wait("desk:7");
    // For a moment after a jump no key is a command.
    wait_until("keys to be taken again", || {
        desk.press("F9");
        desk.screen().contains("does nothing here")
    });
    desk.press("g");
    desk.wait("C-a l: back to fleetwatch");
    desk.watched.run(&["detach-client", "-s", "desk"]);
    desk.wait("desk>");
}

#[test]
fn a_prompt_reaches_the_agent_as_it_was_written() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.press("i");
    desk.wait("prompt to birds");
    let prompt = r#"-l 'one' "two"; #{pane_id} $HOME `id` ünï 🚀 \"#;
    desk.type_text(prompt);
    desk.press("Enter");
    desk.wait("birds took the prompt");
    desk.watched.wait_for_text("birds:", &format!("● heard {prompt}"));
    // The turn began here, which its result tells.
    desk.wait("finished");
    wait_until("a result with the mark of a sent prompt", || {
        desk.screen().lines().any(|line| line.contains("finished") && line.contains('›') && line.contains("birds"))
    });
    // One that has to wait is queued, and keeps its text when it is taken back.
    desk.watched.run(&["send-keys", "-t", "birds:", "a draft of somebody"]);
    desk.press("i");
    desk.wait("prompt to birds");
    desk.type_text("mine");
    desk.wait("the prompt contains a draft");
    desk.press("Enter");
    desk.wait("queued 1");
    desk.press("U");
    desk.wait("taken back");
    desk.press("i");
    desk.wait("prompt to birds");
    wait_until("the kept draft", || desk.screen().lines().any(|line| line.trim_start().starts_with("mine")));
    // Escape and a letter that arrive together are one key with Alt.
    desk.press("Escape");
    desk.wait_without("prompt to birds");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_prompt_on_its_way_arrives_although_the_dashboard_is_left() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.press("i");
    desk.wait("prompt to birds");
    // In one go, so that the prompt has only just left when the dashboard is left, too.
    desk.operator.run(&["send-keys", "-t", "main:", "l", "a", "s", "t", "Enter", "q"]);
    desk.watched.wait_for_text("birds:", "● heard last");
    desk.expect_restored();
}

#[test]
fn a_hostile_pane_stays_in_its_cells() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    // A title of thousands of columns, the clipboard, a bell, another screen, marks that turn text around.
    let script = "printf '\\033]2;%05000d\\007\\033]52;c;aGk=\\007\\007\\033[?1049h\\033[41m\\342\\200\\256evil\\n'; sleep 60; true";
    desk.watched.new_session("evil", &["bash", "-c", script]);
    let evil = desk.directory.path().join("parrot");
    let run = format!("exec '{}' -c \"{script}\"", evil.display());
    desk.watched.new_session("worse", &["bash", "-c", &run]);
    desk.wait("worse");
    desk.press("End");
    desk.press("Home");
    desk.wait("birds");
    let screen = desk.screen();
    let heading = screen.lines().find(|line| line.contains("NAME")).unwrap();
    let column = heading.find("STATE").unwrap();
    for name in ["birds", "worse"] {
        let row = screen.lines().find(|line| line.contains(name) && line.contains("parrot")).unwrap();
        let before: String = row.chars().take(column).collect();
        assert!(before.ends_with("  "), "{screen}");
    }
    assert!(desk.operator.output(&["show-buffer"]).stdout.is_empty(), "nothing got into the operator's clipboard");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn jumping_hands_the_terminal_over_and_takes_it_back() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.press("g");
    desk.wait("Parrot v1.0.0");
    desk.wait("C-b d: back to fleetwatch");
    desk.wait_without("? help");
    desk.type_text("hello from here");
    // The history has it while they are away.
    let is_told = || desk.history().lines().any(|line| line.contains("jumped to it"));
    wait_until("the jump in the history", is_told);
    desk.watched.wait_for_text("birds:", "hello from here");
    desk.watched.run(&["detach-client", "-s", "birds"]);
    desk.wait("? help");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn the_end_of_the_terminal_is_the_end_of_the_dashboard() {
    let desk = Desk::with_parrot();
    desk.open();
    let pid = desk.dashboard_pid();
    desk.operator.run(&["kill-server"]);
    let alive =
        || Command::new("kill").args(["-0", &pid.to_string()]).stderr(Stdio::null()).status().unwrap().success();
    wait_until("the dashboard to end", || !alive());
}

#[test]
fn the_operators_own_keys_hold_and_wrong_ones_are_refused() {
    let desk = Desk::with_parrot();
    let keymap = desk.directory.path().join("fleetwatch/keymap.toml");
    let twice = "fleet = [\n  { on = \"x\", run = \"quit\" },\n  { on = \"x\", run = \"down\" },\n]\n";
    std::fs::write(&keymap, twice).unwrap();
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    desk.type_text(&format!("clear; {program} -L {}; echo \"code $?\"", desk.watched.name()));
    desk.press("Enter");
    desk.wait("code 2");
    // Long paths are wrapped by the terminal.
    let screen = desk.screen().replace('\n', "");
    assert!(screen.contains("keymap.toml:3:10: the key x is bound twice") && screen.contains("hint: "), "{screen}");
    std::fs::write(&keymap, twice.replace("\"x\", run = \"down\"", "\"q\", run = \"none\"")).unwrap();
    desk.open();
    desk.wait("x quit");
    desk.press("q");
    desk.press("x");
    desk.expect_restored();
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
    let desk = Desk::with_parrot();
    for name in ["crow", "dove"] {
        desk.watched.new_session(name, &["bash", "--norc", "--noprofile", "-c", &desk.parrot()]);
    }
    let config = "[[terminal]]\nsession = \"birds\"\nlabel = \"loud\"\n[[terminal]]\nsession = \"dove\"\nmute = true\n";
    std::fs::write(desk.directory.path().join("fleetwatch/config.toml"), config).unwrap();
    desk.open();
    desk.wait("2 ready · 1 muted");
    desk.watched.run(&["send-keys", "-t", "dove:", "ask", "Enter"]);
    desk.watched.run(&["send-keys", "-t", "crow:", "ask", "Enter"]);
    desk.wait("1 needs you");
    desk.press("n");
    wait_until("the cursor on the crow", || {
        desk.screen().lines().any(|line| line.starts_with('›') && line.contains("crow"))
    });
    // What is typed narrows the table down at once; Escape shows all of it again.
    desk.type_text("/is:blo !cr");
    desk.wait("1 of 3");
    let is_row = |line: &str| line.contains("crow") && line.contains("parrot");
    wait_until("the crow's row to go", || !desk.screen().lines().any(is_row));
    desk.press("Enter");
    desk.wait("? help");
    // Nothing that is shown needs anybody, and what is hidden is not forgotten.
    assert!(!desk.screen().contains("next that needs you"), "{}", desk.screen());
    desk.press("n");
    desk.wait("the filter hides 1 that needs you (esc shows all)");
    desk.wait("esc show all");
    desk.press("Escape");
    desk.wait_without("1 of 3");
    // By label: session, agent, host, label.
    desk.type_text("bbbb");
    desk.wait("▾ loud        1");
    desk.wait("▾ the others  2  ? 1 needs you");
    desk.type_text("Z");
    desk.wait("▸ the others  2  ? 1 needs you");
    desk.press("Space");
    desk.type_text("Z");
    desk.wait("■");
    desk.wait("marked");
    desk.type_text("ub");
    desk.wait_without("marked");
    desk.wait_without("grouped by");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn copying_reaches_the_clipboard_of_the_terminal() {
    let desk = Desk::with_parrot();
    desk.operator.run(&["set-option", "-s", "set-clipboard", "on"]);
    desk.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    desk.open();
    desk.wait("1 needs you");
    let clipboard = || {
        let output = desk.operator.output(&["show-buffer"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    desk.type_text("yn");
    desk.wait("sent to the terminal's clipboard: 5 characters");
    wait_until("the name in the clipboard", || clipboard() == "birds");
    desk.type_text("yd");
    wait_until("the dialog in the clipboard", || clipboard().contains("Allow this?") && clipboard().contains("1. Yes"));
    desk.type_text("yt");
    wait_until("the transcript in the clipboard", || clipboard().contains("ask"));
    desk.press("q");
    desk.expect_restored();
    // Inside of tmux it depends on an option, which is asked for and never set.
    desk.open_with(&format!(
        "TMUX='{}'",
        desk.operator.run(&["display-message", "-p", "#{socket_path},#{pid},0"]).trim()
    ));
    desk.wait("1 needs you");
    desk.type_text("yn");
    desk.wait("not copied: tmux drops what programs in a popup copy");
    desk.press("q");
    desk.expect_restored();
    let variable =
        |format: &str| desk.operator.run(&["display-message", "-p", "-t", "main:", format]).trim().to_owned();
    let inside = format!("TMUX='{}' TMUX_PANE='{}'", variable("#{socket_path},#{pid},0"), variable("#{pane_id}"));
    desk.open_with(&inside);
    desk.wait("1 needs you");
    desk.type_text("yn");
    desk.wait("sent to tmux for the clipboard: 5 characters");
    wait_until("the name in the clipboard", || clipboard() == "birds");
    desk.operator.run(&["set-option", "-s", "set-clipboard", "external"]);
    desk.type_text("yd");
    desk.wait("not copied: tmux drops what programs in it copy (`tmux set -s set-clipboard on`");
    desk.wait_without("sent to tmux");
    assert_eq!(clipboard(), "birds");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn changed_files_are_read_again_and_wrong_ones_change_nothing() {
    let desk = Desk::with_parrot();
    let directory = desk.directory.path().join("fleetwatch");
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    desk.open();
    desk.wait("1 ready");
    write("keymap.toml", "fleet = [ { on = \"ctrl-x\", run = \"jump\" }, { on = \"g\", run = \"none\" } ]\n");
    desk.wait("configuration reloaded");
    desk.wait("ctrl-x jump");
    write("keymap.toml", "fleet = [\n  { on = \"x\", run = \"leap\" },\n]\n");
    desk.wait("keymap.toml:2:21: there is no action");
    desk.wait("✗ nothing was changed:");
    assert!(desk.screen().contains("ctrl-x jump"));
    std::fs::remove_file(directory.join("keymap.toml")).unwrap();
    desk.wait("g jump");
    // A theme of one's own, which is looked at again as well.
    let theme = include_str!("../../../config/themes/dark.toml").replace("\"·\"", "\"R\"");
    std::fs::create_dir(directory.join("themes")).unwrap();
    write("themes/mine.toml", &theme);
    write("config.toml", "[ui]\ntheme = \"mine\"\nmouse = false\n");
    desk.wait("R birds");
    wait_until("the mouse to be left alone", || desk.flags() == "100");
    write("themes/mine.toml", &theme.replace("\"R\"", "\"S\""));
    desk.wait("S birds");
    write("config.toml", "[ui]\ntheme = \"nobody\"\n");
    desk.wait("config.toml:2:9: unknown theme `nobody`");
    assert!(desk.screen().contains("S birds"));
    // What is watched changes as well.
    write("config.toml", "[watch]\nignore = [\"bir*\"]\n");
    desk.wait("1 gone");
    write("config.toml", "[[terminal]]\nsession = \"birds\"\nname = \"parrots\"\n[tracker]\nstable_seconds = 2.0\n");
    desk.wait("[tracker] takes effect at the next start");
    wait_until("the new name", || desk.screen().lines().any(|line| line.contains("· parrots")));
    // At once, when one asks for it.
    write("config.toml", "[[terminal]]\nsession = \"birds\"\nname = \"parakeets\"\n");
    desk.press("C-r");
    wait_until("the new name", || desk.screen().lines().any(|line| line.contains("· parakeets")));
    // Each file for itself: what is right holds, and all that is wrong is told, with what to do about it.
    write("config.toml", "[ui]\nmouse = 3\n");
    write("keymap.toml", "fleet = [ { on = \"ctrl-y\", run = \"jump\" }, { on = \"g\", run = \"none\" } ]\n");
    desk.press("C-r");
    desk.wait("ctrl-y jump");
    desk.wait("left as it was: ");
    desk.wait("config.toml:2:9: ");
    write("keymap.toml", "fleet = [ { on = \"ctrl-y\", run = \"jum\" } ]\n");
    desk.press("C-r");
    // Long paths are wrapped.
    let told = || {
        desk.screen()
            .lines()
            .map(|line| line.rsplit("  ").next().unwrap_or_default().trim())
            .collect::<Vec<_>>()
            .join(" ")
    };
    wait_until("both faults", || {
        let told = told();
        told.contains("keymap.toml:1:34: there is no action \"jum\" (") && told.contains("config.toml:2:9: ")
    });
    desk.wait("nothing was changed: ");
    std::fs::remove_file(directory.join("keymap.toml")).unwrap();
    write("config.toml", "");
    desk.press("C-r");
    desk.wait_without("nothing was changed: ");
    desk.wait("configuration reloaded");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn changed_profiles_are_read_again_and_a_wrong_one_changes_nothing() {
    let desk = Desk::with_parrot();
    let profile = desk.directory.path().join("fleetwatch/profiles/parrot.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    desk.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    desk.open();
    let row = |word: &str| {
        let is_row = |line: &str| line.contains("birds") && line.contains("parrot") && line.contains(word);
        wait_until(&format!("a row that says {word}"), || desk.screen().lines().any(is_row));
    };
    row("approval");
    std::fs::write(&profile, text.replace("gives = \"approval\"", "gives = \"question\"")).unwrap();
    row("question");
    std::fs::write(&profile, text.replace("gives = \"approval\"", "gives = \"nonsense\"")).unwrap();
    desk.wait("nothing was changed: ");
    desk.wait("nonsense");
    row("question");
    // Who answers reads with the new one, too: what is no dialog there cannot be answered.
    desk.press("Enter");
    desk.wait("sends: Enter");
    std::fs::write(&profile, text.replace("(?<text>Allow", "(?<text>Never")).unwrap();
    desk.wait_without("sends: Enter");
    desk.wait_without("nothing was changed: ");
    row("unknown");
    // The box stays for a second, so that no key that was meant for it goes elsewhere.
    desk.wait_without("close; nothing was sent");
    desk.press("q");
    desk.expect_restored();
}

/// A client of the watched server in the operator's terminal, and the dashboard in a popup over it. The command that
/// shows a popup ends with it.
fn open_popup(desk: &Desk) -> Child {
    desk.watched.new_session("nest", &["cat"]);
    desk.type_text(&format!("tmux -u -L {} attach -t nest", desk.watched.name()));
    desk.press("Enter");
    wait_until("a client", || clients(desk, "#{client_session}") == "nest");
    let directory = desk.directory.path().display().to_string();
    let program = format!(
        "env LC_ALL=C.UTF-8 XDG_CONFIG_HOME={directory} XDG_STATE_HOME={directory}/state {}",
        env!("CARGO_BIN_EXE_fleetwatch")
    );
    let client = clients(desk, "#{client_name}");
    let popup = Command::new("tmux")
        .args(["-L", desk.watched.name(), "display-popup", "-c", &client, "-E", "-w", "90%", "-h", "90%", &program])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    desk.wait("1 ready");
    popup
}

fn clients(desk: &Desk, format: &str) -> String {
    desk.watched.run(&["list-clients", "-F", format]).trim().to_owned()
}

#[test]
fn in_a_popup_a_jump_switches_what_is_below_and_closes_it() {
    let desk = Desk::with_parrot();
    let mut popup = open_popup(&desk);
    desk.press("g");
    wait_until("the client to show the birds", || clients(&desk, "#{client_session}") == "birds");
    wait_until("the popup to close", || popup.try_wait().unwrap().is_some());
    desk.wait("Parrot v1.0.0");
    desk.watched.run(&["detach-client", "-s", "birds"]);
    desk.wait("desk>");
}

#[test]
fn in_a_popup_a_jump_leaves_a_prompt_that_waits_to_whoever_watches_next() {
    let desk = Desk::with_parrot();
    let mut popup = open_popup(&desk);
    desk.watched.run(&["send-keys", "-t", "birds:", "ask", "Enter"]);
    desk.wait("1 needs you");
    desk.press("i");
    desk.wait("prompt to birds");
    desk.type_text("not to be lost");
    desk.press("M-r");
    desk.wait("queued 1");
    desk.press("g");
    wait_until("the popup to close", || popup.try_wait().unwrap().is_some());
    wait_until("the client to show the birds", || clients(&desk, "#{client_session}") == "birds");
    let directory = desk.directory.path();
    let waiting = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwatch"))
        .args(["-L", desk.watched.name(), "follow-ups"])
        .env("XDG_CONFIG_HOME", directory)
        .env("XDG_STATE_HOME", directory.join("state"))
        .output()
        .unwrap();
    let waiting = String::from_utf8_lossy(&waiting.stdout).into_owned();
    assert!(waiting.contains("not to be lost"), "{waiting}");
    desk.watched.run(&["detach-client", "-s", "birds"]);
    desk.wait("desk>");
}
