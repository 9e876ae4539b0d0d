//! The command line as a user meets it: the real binary, real tmux servers on private sockets, exit codes and texts.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

use crate::support::private_tmux::{PATIENCE, Permit, PrivateTmux, signal, wait_or_tell, wait_until};
use crate::support::{copy_shell, without_options};
use serde_json::Value;

/// `fleetwatch` with some arguments, away from the user's tmux and configuration.
fn fleetwatch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
    for variable in ["TMUX", "TMUX_PANE", "FLEETWATCH_CONFIG"] {
        command.env_remove(variable);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("HOME", "/nonexistent").stdin(Stdio::null()).args(arguments);
    command
}

/// The number of the signal that Ctrl-C sends.
const SIGINT: i32 = 2;

/// The README and the guides for users.
fn guides() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guides = [
        "README",
        "docs/tour",
        "docs/dashboard",
        "docs/configuration",
        "docs/tasks",
        "docs/scripting",
        "docs/serving",
        "docs/troubleshooting",
    ];
    guides.map(|name| std::fs::read_to_string(root.join(name).with_extension("md")).unwrap()).concat()
}

/// What came of a run.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    errors: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), errors: text(&output.stderr) }
    }
}

fn run(arguments: &[&str]) -> Ran {
    let ran: Ran = fleetwatch(arguments).output().unwrap().into();
    Ran { errors: without_options(&ran.errors, arguments), ..ran }
}

/// A running `fleetwatch demo --no-dashboard`.
struct Demo {
    child: Child,
    server: String,
    _permit: Arc<Permit>,
}

impl Demo {
    fn start() -> Self {
        let permit = Permit::get();
        let mut child =
            fleetwatch(&["demo", "--no-dashboard"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut server = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut server).unwrap();
        Self { child, server: server.trim().to_owned(), _permit: permit }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        run(&[&["-L", &self.server], arguments].concat())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = Command::new("tmux").args(["-L", &self.server, "kill-server"]).stderr(Stdio::null()).status();
    }
}

#[test]
fn only_a_demo_is_named_where_no_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let hint = |name: &str| {
        let demo = folder.path().join(name);
        std::fs::create_dir(&demo).unwrap();
        let _alive = std::os::unix::net::UnixListener::bind(demo.join("alive")).unwrap();
        let mut list = fleetwatch(&["list"]);
        let ran: Ran = list.env("TMPDIR", folder.path()).env("TMUX_TMPDIR", folder.path()).output().unwrap().into();
        std::fs::remove_dir_all(&demo).unwrap();
        assert!(ran.code == Some(1) && ran.errors.contains("hint: start one with `tmux new-session`"), "{ran:?}");
        ran.errors.contains("a demo runs: add `-L fleetwatch-demo-")
    };
    assert!(hint("fleetwatch-demo-31-0"));
    // Anybody may make such a directory, and what is named is typed.
    assert!(!hint("fleetwatch-demo-x`; echo") && !hint("fleetwatch-demo-1;ls"));
}

#[test]
fn without_a_server_every_command_says_so_and_what_to_do() {
    let tmux = PrivateTmux::unstarted();
    let commands: [&[&str]; 8] = [
        &["list"],
        &["output", "x"],
        &["list", "--json"],
        &["send", "x", "text"],
        &["keys", "x", "Escape"],
        &["answer", "x", "1"],
        &["wait", "x", "--for", "ready"],
        &["explain", "x"],
    ];
    for command in commands {
        let ran = run(&[&["-L", tmux.name()], command].concat());
        let wanted = format!(
            "error: no tmux server is running on {0}\nhint: start one with `tmux -L {0} new-session`, or name another \
             with -L NAME, -S PATH or --host HOST\n",
            tmux.name()
        );
        assert_eq!((ran.code, ran.out.as_str(), ran.errors), (Some(1), "", wanted), "{command:?}");
    }
    // A program reads one object of each.
    for command in [&["send", "x", "text", "--json"][..], &["answer", "x", "--json"]] {
        let ran = run(&[&["-L", tmux.name()], command].concat());
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &told["terminal"], &told["outcome"]), (Some(1), &"x".into(), &"refused".into()));
        let detail = told["detail"].as_str().unwrap();
        assert!(ran.errors.starts_with(&format!("error: {detail}\n")), "{ran:?}");
    }
    let status = |format| run(&["-L", tmux.name(), "status", "--poll", "--format", format]);
    assert_eq!(
        (status("tmux").code, status("tmux").out.as_str()),
        (Some(0), "#[none,bg=colour235,fg=colour250] no server answers#[none,bg=colour235] #[default]\n")
    );
    assert_eq!((status("plain").code, status("plain").out.as_str()), (Some(1), ""));
}

#[test]
fn wrong_usage_is_two_lines_and_exit_code_two() {
    let fields = "hint: the fields are is: name: age: waited: agent: host: session: label: dir: model: mode: branch: prompt: \
                  context: plan: tokens: cost:";
    let cases: [(&[&str], &str, &str); 58] = [
        (&["-L", "nobody", "list", "foo:bar"], "error: there is no field foo", fields),
        (&["-L", "nobody", "watch", "foo:bar"], "error: there is no field foo", fields),
        (&["-L", "nobody", "tasks", "list", "foo:bar"], "error: there is no field foo", fields),
        (
            &["-L", "nobody", "tasks", "list", "is:aproval"],
            "error: there is no state aproval",
            "hint: did you mean is:approval?",
        ),
        (
            &["profiles", "--json", "show", "claude"],
            "error: the subcommand 'show' cannot be used with '--json'",
            "hint: leave one of the two out",
        ),
        (
            &["replay", "x.cast", "--tool", "claud"],
            "error: no profile reads an agent `claud`",
            "hint: did you mean `claude`?",
        ),
        (
            &["tasks", "--bogus"],
            "error: unexpected argument '--bogus' found",
            "hint: usage: fleetwatch tasks [OPTIONS]",
        ),
        (
            &["keys", "web", "--text", ""],
            "error: a value is required for '--text <TEXT>' but none was supplied",
            "hint: give it a value, or leave it out",
        ),
        (
            &["answer", "web", ""],
            "error: a value is required for '[CHOICE]' but none was supplied",
            "hint: give it a value, or leave it out",
        ),
        (
            &["list", "--bogus"],
            "error: unexpected argument '--bogus' found",
            "hint: usage: fleetwatch list [OPTIONS] [FILTER]...",
        ),
        (
            &["send", "docs", "a", "b"],
            "error: unexpected argument 'b' found",
            "hint: usage: fleetwatch send [OPTIONS] <TARGET> [TEXT]; a text with blanks goes in quotes",
        ),
        (
            &["history", "--since", "2999-01-01"],
            "error: --since 2999-01-01 00:00:00 has not come yet",
            "hint: nothing has happened since then; `--since 2h` is two hours ago",
        ),
        (
            &["-S", "/etc/passwd", "list"],
            "error: socket \"/etc/passwd\" cannot be used: it is no socket",
            "hint: name the socket of a tmux server, or a path where nothing is",
        ),
        (
            &["-L", "nobody", "list", "is:aproval"],
            "error: there is no state aproval",
            "hint: did you mean is:approval?",
        ),
        (
            &["-L", "nobody", "send", "x", ""],
            "error: there is no text to send",
            "hint: write the text behind the name, or give it on standard input",
        ),
        (
            &["-L", "nobody", "name", "x", "%4"],
            "error: `%4` cannot be a name",
            "hint: a name contains no `:` and does not begin with `%`, `@` or `-`, so that it differs from tmux targets and options: for instance `4`",
        ),
        (
            &["history", "--since", "-5m"],
            "error: invalid value '-5m' for '--since <WHEN>': not a valid time",
            "hint: write how long ago (30m, 2h, 3d), a day (today, yesterday, 2026-11-21), a time (09:00), or both (2026-11-21T09:00, 2026-11-21T09:00:00Z)",
        ),
        (
            &["explain", "-x"],
            "error: unexpected argument '-x' found",
            "hint: usage: fleetwatch explain [OPTIONS] <TARGET>; put a name or a text that begins with `-` after `--`",
        ),
        (
            &["send", "web", "--whn-ready"],
            "error: unexpected argument '--whn-ready' found",
            "hint: did you mean `--when-ready`?",
        ),
        (
            &["answer", "web", "--bogus"],
            "error: unexpected argument '--bogus' found",
            "hint: usage: fleetwatch answer <TARGET> [CHOICE]; put a name or a text that begins with `-` after `--`",
        ),
        (
            &["config", "theme", "darkk"],
            "error: invalid value 'darkk' for '<NAME>'",
            "hint: did you mean `dark`? it takes dark, light, high-contrast, colour-blind, no-colour",
        ),
        (
            &["name", "docs", "--clear", "text"],
            "error: the argument '--clear' cannot be used with '[NAME]'",
            "hint: leave one of the two out",
        ),
        (&["lst"], "error: unrecognized subcommand 'lst'", "hint: did you mean `list`?"),
        (&["man", "nope"], "error: there is no command `nope`", "hint: `fleetwatch --help` lists the commands"),
        (&["config", "chek"], "error: unrecognized subcommand 'chek'", "hint: did you mean `check`?"),
        (
            &["list", "--columns", "name,stat"],
            "error: invalid value 'stat' for '--columns <NAMES>'",
            "hint: did you mean `state`?",
        ),
        (&["list", "--jso"], "error: unexpected argument '--jso' found", "hint: did you mean `--json`?"),
        (
            &["send"],
            "error: the following required arguments were not provided: <TARGET>",
            "hint: usage: fleetwatch send <TARGET> [TEXT]",
        ),
        (
            &["-L", "a", "-S", "b", "list"],
            "error: the argument '-L <NAME>' cannot be used with '-S <PATH>'",
            "hint: leave one of the two out",
        ),
        (
            &["wait", "x", "--for", "redy"],
            "error: invalid value 'redy' for '--for <STATE>'",
            "hint: did you mean `ready`?",
        ),
        (
            &["wait", "x", "--for", "ready", "--timeout", "soon"],
            "error: invalid value 'soon' for '--timeout <SECONDS>': not a time",
            "hint: write seconds (5, 0.5) or a time (10m, 1h30m), a year at most",
        ),
        (
            &["history", "--since", "soon"],
            "error: invalid value 'soon' for '--since <WHEN>': not a valid time",
            "hint: write how long ago (30m, 2h, 3d), a day (today, yesterday, 2026-11-21), a time (09:00), or both \
             (2026-11-21T09:00, 2026-11-21T09:00:00Z)",
        ),
        (
            &["history", "--limit", "few"],
            "error: invalid value 'few' for '--limit <COUNT>': not a number of lines",
            "hint: write a whole number from 1 on, such as 20",
        ),
        (
            &["history", "--limit", "-1"],
            "error: invalid value '-1' for '--limit <COUNT>': not a number of lines",
            "hint: write a whole number from 1 on, such as 20",
        ),
        (
            &["history", "--kind", "foo"],
            "error: invalid value 'foo' for '--kind <KIND>'",
            "hint: it takes transition, task_event, input, follow_up, action",
        ),
        (
            &["history", "--since", "2026-11-21", "--until", "2026-11-20"],
            "error: --since 2026-11-21 00:00:00 is after --until 2026-11-20 00:00:00",
            "hint: swap them: `--since` is the earlier one",
        ),
        (
            &["queue", "dismiss", "x"],
            "error: invalid value 'x' for '<NUMBER>...': not the number of a message",
            "hint: `fleetwatch queue` lists the messages with their numbers",
        ),
        (
            &["--config", "", "list"],
            "error: a value is required for '--config <FILE>' but none was supplied",
            "hint: give it a value, or leave it out",
        ),
        (
            &["keys", "x", "Escpe"],
            "error: invalid value 'Escpe' for '[KEY]...': \"Escpe\" is not a key",
            "hint: did you mean `Escape`?",
        ),
        (
            &["keys", "x", "Bogus"],
            "error: invalid value 'Bogus' for '[KEY]...': \"Bogus\" is not a key",
            "hint: a key is one character, Enter, Escape, Tab, BTab, Space, BSpace, Up, Down, Left, Right, Home, End, \
             PageUp, PageDown, IC, DC or F1 to F12, with C-, M- or S- in front",
        ),
        (
            &["wait", "x", "--for", "foo"],
            "error: invalid value 'foo' for '--for <STATE>'",
            "hint: it takes ready, working, idle, needs-you, approval, question, trust, setup, limit, finished, success, failed, interrupted, stalled, error, unknown, suspended, gone, exited, asks, \
             notify",
        ),
        (
            &["-L", "a/b", "list"],
            "error: socket \"a/b\" cannot be used: it is empty or a path; a path goes to -S",
            "hint: use letters, digits, `.`, `_`, `-` and, in paths, `/`",
        ),
        (
            &["--host=-oProxyCommand=x", "list"],
            "error: host \"-oProxyCommand=x\" cannot be used: it must begin with a letter or a digit",
            "hint: write the host as for `ssh`, such as `box-2` or `me@box-2`, or define a Host in ~/.ssh/config",
        ),
        (
            &["wait", "x", "--for", "ready", "--timeout", "-1"],
            "error: invalid value '-1' for '--timeout <SECONDS>': out of range",
            "hint: write seconds (5, 0.5) or a time (10m, 1h30m), a year at most",
        ),
        (
            &["keys", "x", "ctrl+c"],
            "error: invalid value 'ctrl+c' for '[KEY]...': \"ctrl+c\" is not a key",
            "hint: did you mean `C-c`?",
        ),
        (
            &["run", "x", "--", ""],
            "error: command \"\" cannot be used: its name is empty",
            "hint: write a program behind `--`, such as `fleetwatch run build -- make -j8`",
        ),
        (&["foo"], "error: unrecognized subcommand 'foo'", "hint: `fleetwatch --help` lists the commands"),
        (&["config", "check", "/tmp"], "error: /tmp: this is a directory", "hint: name the file in it"),
        (
            &["profiles", "check", "/nope"],
            "error: /nope: there is no such file",
            "hint: `fleetwatch profiles show claude` prints one to start from",
        ),
        (
            &["serve", "--listen", "foo"],
            "error: invalid value 'foo' for '--listen <ADDR:PORT>': invalid socket address syntax",
            "hint: write an address and a port, such as 127.0.0.1:7717",
        ),
        (
            &["answer", "x", "--text", "no"],
            "error: the following required arguments were not provided: <CHOICE>",
            "hint: usage: fleetwatch answer --text <TEXT> <TARGET> <CHOICE>",
        ),
        (
            &["record", "x", "-o", "x.cast", "--tick", "0"],
            "error: invalid value '0' for '--tick <MS>': out of range",
            "hint: write milliseconds from 20 to 10000, such as 100",
        ),
        (&["queu"], "error: unrecognized subcommand 'queu'", "hint: did you mean `queue`?"),
        (
            &["watch", "-q"],
            "error: unexpected argument '-q' found",
            "hint: usage: fleetwatch watch [OPTIONS] [FILTER]...",
        ),
        (
            &["record", "x", "-o", "x.cast", "--seconds", "1"],
            "error: unexpected argument '--seconds' found",
            "hint: usage: fleetwatch record [OPTIONS] --output <FILE> <TARGET>; put a name or a text that begins with `-` \
             after `--`",
        ),
        (&["profiles", "show", "clude"], "error: invalid value 'clude' for '<AGENT>'", "hint: did you mean `claude`?"),
        (
            &["replay", "x.cast", "--tool-version", "x.y"],
            "error: invalid value 'x.y' for '--tool-version <VERSION>': not a version",
            "hint: write the numbers that the agent prints, such as 2.1.34",
        ),
        (&["man", "lst"], "error: there is no command `lst`", "hint: did you mean `list`?"),
    ];
    for (arguments, error, hint) in cases {
        let ran = run(arguments);
        let lines: Vec<&str> = ran.errors.lines().collect();
        let is_like = lines.len() == 2 && lines[0].starts_with(error) && lines[1] == hint;
        assert!(is_like, "{arguments:?} said:\n{}instead of:\n{error}\n{hint}", ran.errors);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["list", "--help"], &["help", "watch"]] {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.errors.as_str()), (Some(0), ""), "{arguments:?}");
    }
    let waited = run(&["wait", "--help"]).out;
    for word in ["input", "running", "blocked", "done", "tui_down"] {
        assert!(waited.split(|c: char| !c.is_alphanumeric() && c != '_').any(|said| said == word), "{word}: {waited}");
    }
    let help = run(&["--help"]).out;
    assert!(help.contains("Exit codes: 0 success; 1 refused") && !help.contains("__play"), "{help}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    for arguments in [&["--help"][..], &["config"], &["man"], &["completions", "bash"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let ran: Ran = fleetwatch(arguments).stdout(full).output().unwrap().into();
        assert_eq!(ran.code, Some(1), "{arguments:?}");
        assert!(ran.errors.starts_with("error: standard output cannot be written: "), "{arguments:?}: {ran:?}");
    }
    // Where nobody can be told, the exit code still says it.
    let full = std::fs::File::create("/dev/full").unwrap();
    let ran: Ran = fleetwatch(&["lst"]).stderr(full).output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let full = std::fs::File::create("/dev/full").unwrap();
    let ran: Ran = fleetwatch(&["config", "check", "/nonexistent/x.toml"]).stderr(full).output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_wrong_configuration_stops_every_command_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[watch]\ndiscvoer = true\n").unwrap();
    let file = path.to_str().unwrap();
    let said = format!("error: {file}:2:1: unknown key `discvoer` in [watch]\nhint: did you mean `discover`?\n");
    for command in [&["list"][..], &["watch"], &["send", "x", "y"], &["config", "check"], &["config", "check", file]] {
        let ran = run(&[&["--config", file], command].concat());
        assert_eq!((ran.code, ran.out.as_str(), &ran.errors), (Some(2), "", &said), "{command:?}");
    }
    let by_variable: Ran = fleetwatch(&["list"]).env("FLEETWATCH_CONFIG", file).output().unwrap().into();
    assert_eq!((by_variable.code, by_variable.errors), (Some(2), said));

    let home = folder.path().join("home");
    std::fs::create_dir_all(home.join("fleetwatch")).unwrap();
    std::os::unix::fs::symlink("missing.toml", home.join("fleetwatch/config.toml")).unwrap();
    let loose: Ran = fleetwatch(&["list"]).env("XDG_CONFIG_HOME", &home).output().unwrap().into();
    assert!(loose.code == Some(2) && loose.errors.contains("this link leads to no file\nhint: create"), "{loose:?}");

    let missing = run(&["--config", "/nonexistent/x.toml", "list"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.errors.starts_with("error: /nonexistent/x.toml: there is no such file\nhint: "), "{missing:?}");
}

#[test]
fn what_is_wrong_in_any_file_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (themes, profiles) = (folder.path().join("themes"), folder.path().join("profiles"));
    std::fs::create_dir(&themes).unwrap();
    std::fs::create_dir(&profiles).unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[watch]\ndiscvoer = true\ntick_ms = 1\n\n[ui]\nmotion = 3\n").unwrap();
    let keymap = folder.path().join("keymap.toml");
    std::fs::write(&keymap, "fleet = [\n  { on = \"x\", run = \"leave\" },\n  { on = \"z-z\", run = \"quit\" },\n]\n")
        .unwrap();
    let dark = run(&["config", "theme", "dark"]).out;
    let theme = themes.join("mine.toml");
    std::fs::write(&theme, format!("{dark}\n[bogus]\n")).unwrap();
    std::fs::write(themes.join("right.toml"), &dark).unwrap();
    let profile = profiles.join("mine.toml");
    std::fs::write(&profile, "[tool]\nnonsense = 1\n").unwrap();

    let ran = run(&["--config", config.to_str().unwrap(), "config", "check"]);
    assert_eq!((ran.code, ran.out), (Some(2), format!("{}: ok\n", themes.join("right.toml").display())));
    let reported: Vec<&str> = ran.errors.lines().filter(|line| line.starts_with("error: ")).collect();
    let places = [(&config, "3:11:"), (&keymap, "2:21:")];
    for (index, (path, place)) in places.iter().enumerate() {
        assert!(reported[index].starts_with(&format!("error: {}:{place} ", path.display())), "{index}: {}", ran.errors);
    }
    assert!(reported[2].starts_with(&format!("error: {}:", theme.display())), "{}", ran.errors);
    assert!(reported[3].starts_with(&format!("error: {}:2:", profile.display())), "{}", ran.errors);
    assert_eq!(ran.errors.lines().filter(|line| line.starts_with("hint: ")).count(), reported.len(), "{}", ran.errors);
    // A directory that cannot be read is no directory without profiles.
    std::fs::remove_dir_all(&profiles).unwrap();
    std::fs::write(&profiles, "").unwrap();
    let unreadable = format!("error: {}: cannot be read: ", profiles.display());
    assert!(run(&["--config", config.to_str().unwrap(), "config", "check"]).errors.contains(&unreadable));
    assert!(run(&["--config", config.to_str().unwrap(), "profiles", "list"]).errors.starts_with(&unreadable));
}

#[test]
fn a_man_page_is_shown_by_man_on_a_terminal_and_printed_elsewhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let man = folder.path().join("man");
    // Whether a machine has the program, and what it makes of a page, is not this one's business.
    std::fs::write(&man, "#!/bin/sh\n[ \"$*\" = '-l -' ] && echo \"shown: $(grep -c '^.TH fleetwatch-list' -)\"\n")
        .unwrap();
    std::fs::set_permissions(&man, std::fs::Permissions::from_mode(0o755)).unwrap();
    let printed = run(&["man", "list"]);
    assert!(printed.out.starts_with(".ie") || printed.out.contains(".TH fleetwatch-list"), "{printed:?}");
    let (program, path) = (env!("CARGO_BIN_EXE_fleetwatch"), std::env::var("PATH").unwrap());
    let command = |path: &str| format!("PATH='{path}' '{program}' man list; exec cat");
    let with_man = command(&format!("{}:{path}", folder.path().display()));
    let tmux = PrivateTmux::start(&["sh", "-c", &with_man]);
    tmux.wait_for_text("main:", "shown: 1");
}

#[test]
fn a_control_sequence_in_a_configuration_does_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[[terminal]]\nsession = \"\\u001b]52;c;eA==\\u0007[\"\n").unwrap();
    let ran = run(&["--config", path.to_str().unwrap(), "list"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.errors.contains("bad pattern") && !ran.errors.contains(['\x1b', '\x07']), "{ran:?}");
}

#[test]
fn the_configuration_is_printed_checked_and_found() {
    let default = run(&["config"]);
    assert_eq!((default.code, default.out.as_str()), (Some(0), include_str!("../../../config/fleetwatch.toml")));
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("fleetwatch");
    std::fs::create_dir(&home).unwrap();
    let path = home.join("config.toml");
    std::fs::write(&path, &default.out).unwrap();
    let here =
        |words: &[&str]| -> Ran { fleetwatch(words).env("XDG_CONFIG_HOME", folder.path()).output().unwrap().into() };
    let ran = here(&["config", "paths"]);
    let other = home.join("fleetwatch.toml");
    std::fs::rename(&path, &other).unwrap();
    let unread = format!("{} is not read", other.display());
    let told = here(&["config", "paths"]).out;
    assert!(
        !ran.out.contains("is not read") && told.contains(&format!("{unread}; it would have to be called config.toml"))
    );
    let checked = here(&["doctor", "-L", PrivateTmux::unstarted().name()]).out;
    assert!(checked.contains(&unread), "{checked}");
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = ran.out.lines().find(|line| line.ends_with(path.to_str().unwrap())).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("used"), "{line}");
    let own = "[ui]\ntheme = \"light\"\n[watch]\nignore = [\"a\", # one\n  \"b\"]\n[[server]]\nsocket = \"x\"\n";
    std::fs::write(&path, own).unwrap();
    let shown = here(&["config", "show"]);
    for (setting, origin) in [
        ("theme = \"light\"", "config.toml:2"),
        ("mouse = true", "default"),
        ("  \"b\"]", "config.toml:4"),
        ("socket = \"x\"", "config.toml:7"),
    ] {
        let is_it = |line: &str| line.starts_with(setting) && line.ends_with(&format!(" # {origin}"));
        assert!(shown.out.lines().any(is_it), "{setting}: {shown:?}");
    }
    assert_eq!(shown.out.matches("theme = ").count(), 1, "{shown:?}");
    let json: Value = serde_json::from_str(&here(&["config", "show", "--json"]).out).unwrap();
    assert_eq!(json["tables"]["ui"]["theme"], serde_json::json!({ "value": "light", "from": "config.toml:2" }));
    assert_eq!(json["tables"]["server"][0]["socket"]["value"], "x", "{json}");
    assert_eq!((&json["path"], &json["names_server"]), (&path.to_str().into(), &false.into()));
    std::fs::write(&path, &shown.out).unwrap();
    let checked = run(&["config", "check", path.to_str().unwrap()]);
    assert_eq!(checked.code, Some(0), "what is shown is a configuration: {checked:?}");
    let schema: Value = serde_json::from_str(&run(&["config", "schema"]).out).unwrap();
    assert!(schema["properties"]["terminal"].is_object(), "{schema}");
}

#[test]
fn a_wrong_profile_of_the_user_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let profiles = folder.path().join("profiles");
    std::fs::create_dir(&profiles).unwrap();
    let path = profiles.join("mine.toml");
    std::fs::write(&path, "[tool]\nnonsense = 1\n").unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "").unwrap();
    for arguments in [&["profiles", "list"][..], &["profiles", "check", path.to_str().unwrap()], &["list"]] {
        let ran = run(&[&["--config", config.to_str().unwrap()], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.errors.starts_with(&format!("error: {}:2:", path.display())), "{arguments:?}: {}", ran.errors);
    }
}

#[test]
fn a_shipped_profile_is_shown_and_passes_its_own_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pi.toml");
    let shown = run(&["profiles", "show", "pi"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(0), include_str!("../../../config/profiles/pi.toml")));
    std::fs::write(&path, shown.out).unwrap();
    let checked = run(&["profiles", "check", path.to_str().unwrap()]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.starts_with(&format!("{}: ok: pi/", path.display())), "{checked:?}");
    let listed = run(&["profiles", "list"]).out;
    assert!(listed.lines().any(|line| line.starts_with("pi ") && line.contains("pi/")), "{listed}");
    let listed: Vec<Value> = serde_json::from_str(&run(&["profiles", "list", "--json"]).out).unwrap();
    let pi = listed.iter().find(|profile| profile["agent"] == "pi").unwrap();
    assert!(pi["profile"].as_str().unwrap().starts_with("pi/") && pi["min"].is_string(), "{pi}");
}

#[test]
fn completions_and_man_pages_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("FLEETWATCH_COMPLETE") && ran.out.contains("fleetwatch"), "{shell}: {}", ran.out);
        assert!(completed(shell, &["do"]).contains("doctor"), "{shell}");
    }
    assert_eq!(completed("bash", &["list", "--columns", "name,pro"]), "name,prompt");
    assert_eq!(completed("bash", &["keys", "x", "Esc"]), "Escape");
    assert!(run(&["completions", "bash"]).out.contains("%q"), "a name with blanks is one word");
    // What is quoted is not completed further, and a comma needs no quotes.
    let typed = "COMP_WORDS=(fleetwatch list --columns name,sta); COMP_CWORD=3; COMP_TYPE=9; \
                 _clap_complete_fleetwatch fleetwatch name,sta --columns; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let program = Path::new(env!("CARGO_BIN_EXE_fleetwatch")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("source <(fleetwatch completions bash); {typed}")]).env("PATH", path);
    assert_eq!(String::from_utf8_lossy(&bash.output().unwrap().stdout), "name,state\nname,stable\n");
    assert_eq!(completed("fish", &["watch", "is:wor"]), "is:working");
    assert_eq!(completed("fish", &["list", "is:wor"]), "is:working");
    assert_eq!(completed("fish", &["list", "!is:wor"]), "!is:working");
    assert_eq!(completed("fish", &["list", "is:failed,wor"]), "is:failed,working");
    // For bash, a colon ends a word.
    assert_eq!(completed("bash", &["list", "wai"]), "waited:");
    assert_eq!(completed("bash", &["list", "is", ":", "wor"]), "working");
    assert!(completed("bash", &["list", "is", ""]).contains("needs-you"));
    let page = run(&["man"]).out;
    assert!(page.contains(".TH fleetwatch 1") && page.contains("list"), "{page}");
    assert!(page.contains(".SH ENVIRONMENT\n.TP\nFLEETWATCH_CONFIG\n") && page.contains(".SH FILES\n"), "{page}");
    let list = run(&["man", "list"]).out;
    let version = concat!("\"fleetwatch ", env!("CARGO_PKG_VERSION"), "\"");
    assert!(list.contains(".TH fleetwatch-list 1") && list.contains("json"), "{list}");
    assert!(list.contains(version) && !list.contains(".SH FILES"), "{list}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let written = run(&["man", "--all", pages.to_str().unwrap()]);
    assert!(written.code == Some(0) && written.out.starts_with("wrote "), "{written:?}");
    for (name, text) in [("", &page), ("-list", &list), ("-tasks-kill", &run(&["man", "tasks", "kill"]).out)] {
        assert_eq!(std::fs::read_to_string(pages.join(format!("fleetwatch{name}.1"))).unwrap(), *text);
    }
    let mistyped = run(&["man", "--all", folder.path().join("x/man1").to_str().unwrap()]);
    assert!(
        mistyped.code == Some(2) && mistyped.errors.contains("hint: make the directory above it first"),
        "{mistyped:?}"
    );
    assert!(page.contains(".SH \"SEE ALSO\"\n\\fBtmux\\fR(1)\n"), "{page}");
    assert!(list.contains("\\fBfleetwatch\\fR(1), \\fBtmux\\fR(1)\n"), "{list}");
    let named = page.lines().filter(|line| line.starts_with("fleetwatch"));
    let named: Vec<_> = named.filter_map(|line| line.strip_suffix("(1)")).collect();
    let missing = named.iter().find(|name| !pages.join(name.replace("\\-", "-") + ".1").exists());
    assert!(!named.is_empty() && missing.is_none(), "{missing:?}");
}

/// What a shell is offered for the last of some words, one in a line.
fn completed(shell: &str, words: &[&str]) -> String {
    let typed = [&["--", "fleetwatch"], words].concat();
    let mut command = fleetwatch(&typed);
    command
        .env("FLEETWATCH_COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let ran: Ran = command.output().unwrap().into();
    assert_eq!((ran.code, ran.errors.as_str()), (Some(0), ""), "{words:?}");
    ran.out.trim_end().to_owned()
}

/// The words of every command that `--help` lists below some words.
fn commands_below(words: &[&str]) -> Vec<Vec<String>> {
    let page = run(&[&["man"], words].concat()).out;
    let above = format!("{}\\-", [&["fleetwatch"], words].concat().join("\\-"));
    let names = page
        .lines()
        .filter_map(|line| line.strip_prefix(&above)?.strip_suffix("(1)").map(|name| name.replace("\\-", "-")));
    let own: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut all = vec![own.clone()];
    for name in names {
        all.extend(commands_below(&[words, &[&name]].concat()));
    }
    all
}

#[test]
fn help_man_pages_completions_and_guides_know_the_same_options() {
    let guides = guides();
    let commands = commands_below(&[]);
    assert!(commands.len() > 35 && commands.contains(&vec!["tasks".to_owned(), "kill-all".to_owned()]), "{commands:?}");
    let mut known = std::collections::BTreeSet::new();
    for command in &commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = run(&[&words[..], &["--help"]].concat()).out;
        let completed = completed("bash", &[&words[..], &["--"]].concat());
        let page = run(&[&["man"], &words[..]].concat()).out.replace("\\-", "-");
        assert!(!page.contains("-help(1)"), "{words:?} names a page that is none");
        assert!(page.contains(&format!(".TH {} 1", [&["fleetwatch"], &words[..]].concat().join("-"))), "{words:?}");
        for (code, meaning) in
            [(0, "success"), (1, "refused, failed, timed out or not found"), (2, "wrong usage or configuration")]
        {
            assert!(page.contains(&format!(".TP\n{code}\n{meaning}")), "{words:?} says nothing of {code}: {page}");
        }
        let options = help.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line
                .strip_prefix("-")
                .filter(|rest| !rest.starts_with('-'))
                .map_or(line, |rest| rest.split_once(", ").map_or("", |(_, long)| long));
            line.starts_with("--").then(|| line.split([' ', ',']).next().unwrap_or_default())
        });
        for option in options {
            known.insert(option.to_owned());
            assert!(page.contains(option), "the man page of {words:?} does not know {option}");
            assert!(completed.lines().any(|word| word == option), "{words:?} is not completed with {option}");
        }
    }
    assert!(known.len() > 30 && known.contains("--when-ready"), "{known:?}");
    for code in ["0 success", "1 refused, failed", "2 wrong usage or configuration", "3 unverified"] {
        assert!(guides.contains(code), "the guides do not explain {code}");
    }
    // What the README says of fleetwatch stands behind its name; other programs have options of their own.
    for line in guides.lines().filter(|line| line.contains("fleetwatch ")) {
        let said = line.split("fleetwatch ").skip(1).map(|rest| rest.split(['`', '|', ')']).next().unwrap_or_default());
        for option in said.flat_map(|said| said.split(" -- ").take(1)).flat_map(str::split_whitespace) {
            let is_option = option.strip_prefix("--").is_some_and(|name| !name.is_empty());
            assert!(
                !is_option || known.contains(option),
                "the guides name an option that does not exist: {option} in {line}"
            );
        }
    }
    let no_such: Ran = run(&["man", "tasks", "kil"]);
    assert_eq!((no_such.code, no_such.out.as_str()), (Some(2), ""));
    assert_eq!(no_such.errors, "error: there is no command `tasks kil`\nhint: did you mean `kill`?\n");
}

#[test]
fn a_shell_is_watched_only_when_the_configuration_names_it_and_gets_no_prompt() {
    let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile"]);
    tmux.wait_for_text("main", "bash-");
    let nothing = run(&["-L", tmux.name(), "list"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), ""));
    assert!(nothing.errors.contains("runs a known agent"), "{nothing:?}");
    assert_eq!(run(&["-L", tmux.name(), "list", "--json"]).out, "[]\n");
    // It is there, so a name that nobody has is not what is wrong.
    let explained = run(&["-L", tmux.name(), "explain", "main:0"]).errors;
    assert!(explained.starts_with("error: pane %0 (main:0.0) runs no known agent: "), "{explained}");
    for command in ["send main:0 hi", "send main:0 hi --when-ready", "wait main:0 --for ready", "keys main:0 x"] {
        let ran = run(&[&["-L", tmux.name()], &command.split(' ').collect::<Vec<_>>()[..]].concat());
        assert_eq!((ran.code, &ran.errors), (Some(1), &explained), "{command}");
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[[terminal]]\nsession = \"main\"\nname = \"shell\"\n").unwrap();
    let named =
        |arguments: &[&str]| run(&[&["-L", tmux.name(), "--config", path.to_str().unwrap()], arguments].concat());
    let table = named(&["list", "--columns", "name,place"]).out;
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("shell ") && row.contains("main:0.0")), "{table}");
    let before = tmux.screen("main");
    let sent = named(&["send", "shell", "echo surprise"]);
    assert_eq!(sent.code, Some(1), "{sent:?}");
    assert!(sent.errors.starts_with("error: refused: "), "{sent:?}");
    assert_eq!(tmux.screen("main"), before, "a shell must not get a prompt");
    // Nobody can insist on that, and nobody is told to.
    let mark = folder.path().join("mark");
    let prompt = format!("please; touch '{}'", mark.display());
    let refused = |program: &str| {
        format!(
            "error: refused: {program}; bash does\nhint: start the agent there first; other programs take only keys\n"
        )
    };
    for (declared, program) in [("", "no known agent runs there"), ("tool = \"claude\"\n", "claude does not run there")]
    {
        std::fs::write(&path, format!("[[terminal]]\nsession = \"main\"\nname = \"shell\"\n{declared}")).unwrap();
        for arguments in [&["send", "shell", &prompt][..], &["send", "shell", "--force", &prompt]] {
            let sent = named(arguments);
            assert_eq!((sent.code, sent.errors), (Some(1), refused(program)), "{arguments:?}");
        }
    }
    assert_eq!(tmux.screen("main"), before, "a shell must not get a prompt that is insisted on");
    assert!(!mark.exists());
    let explained = named(&["explain", "shell"]);
    assert!(explained.code == Some(1) && explained.errors.contains("runs no known agent"), "{explained:?}");
    let pressed = named(&["keys", "shell", "--json", "Enter"]).out;
    assert_eq!(pressed, "{\"terminal\":\"shell\",\"outcome\":\"accepted\",\"detail\":null,\"dialog\":null}\n");
    let refused: Value = serde_json::from_str(&named(&["keys", "nobody", "--json", "Enter"]).out).unwrap();
    assert_eq!((&refused["terminal"], &refused["outcome"]), (&"nobody".into(), &"refused".into()));
    let missing = named(&["wait", "shel1", "--for", "ready"]);
    assert_eq!(missing.errors, "error: no watched terminal is called `shel1`\nhint: did you mean `shell`?\n");
    assert_eq!(named(&["keys", "shell", "e", "c", "h", "o", "Space", "h", "i", "Enter"]).out, "accepted\n");
    let literal = "printf '%s|' \"#{pid}\" 'a;b' ~ -x ä Enter \\;";
    assert_eq!(named(&["keys", "shell", "--text", literal, "Enter"]).out, "accepted\n");
    tmux.wait_for_text("main", "\n#{pid}|a;b|");
    tmux.wait_for_text("main", "|-x|ä|Enter|;|");
    let broken = named(&["keys", "shell", "--text", "two\nlines"]);
    assert!(broken.code == Some(2) && broken.errors.contains("one line without control characters"), "{broken:?}");
    tmux.wait_for_text("main", "\nhi\n");
}

#[test]
fn rules_that_send_nothing_because_another_process_acts_are_named() {
    let tmux = PrivateTmux::start(&["sleep", "1000"]);
    let folder = tempfile::tempdir().unwrap();
    let shared =
        format!("[history]\npath = \"{}\"\n[[terminal]]\nsession = \"main\"\n", folder.path().join("h.db").display());
    let rules = "[[follow_up]]\non = [\"finished\"]\nfrom = \"*\"\nto = \"main\"\n";
    let server = tmux.name();
    let with = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        move |words: &[&str]| {
            let mut command = fleetwatch(&["-L", server, "--config", path.to_str().unwrap()]);
            command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }
    };
    let (acting, other) = (with("acting.toml", &shared), with("other.toml", &format!("{shared}{rules}")));
    let mut first = acting(&["watch"]).spawn().unwrap();
    // It ends where nobody reads what it prints.
    let mut printed = BufReader::new(first.stdout.take().unwrap());
    printed.read_line(&mut String::new()).unwrap();
    let errors = folder.path().join("errors");
    let second = other(&["watch"]).stderr(std::fs::File::create(&errors).unwrap()).spawn().unwrap();
    wait_until("the warning", || {
        std::fs::read_to_string(&errors).unwrap().contains("warning: no [[follow_up]] of this configuration is used")
    });
    let doctor = |command: Command| Ran::from({ command }.output().unwrap()).out;
    let found = [doctor(acting(&["doctor"])), doctor(other(&["doctor"]))].map(|out| out.contains("[[follow_up]]"));
    for mut watch in [first, second] {
        let _ = watch.kill();
        let _ = watch.wait();
    }
    assert_eq!(found, [false, true]);
}

#[test]
fn in_every_command_a_name_that_finds_nothing_is_a_one_and_a_file_a_two() {
    let tmux = PrivateTmux::start(&["cat"]);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let history = folder.path().join("history.db");
    let text =
        format!("[history]\npath = \"{}\"\n[[terminal]]\nsession = \"main\"\nname = \"cat\"\n", history.display());
    std::fs::write(&config, text).unwrap();
    let run = |arguments: &[&str]| -> Ran {
        let options = ["-L", tmux.name(), "--config", config.to_str().unwrap()];
        let mut command = fleetwatch(&[&options, arguments].concat());
        command.env("XDG_STATE_HOME", folder.path()).current_dir(folder.path()).output().unwrap().into()
    };
    let noted = run(&["name", "cat", "--label", "pets"]);
    assert_eq!(noted.out, "new label: pets\n", "{noted:?}");
    assert_eq!(run(&["name", "cat"]).out, "label: pets\n");
    let named: Value = serde_json::from_str(&run(&["name", "cat", "--json"]).out).unwrap();
    assert_eq!((&named["terminal"], &named["label"], &named["name"]), (&"cat".into(), &"pets".into(), &Value::Null));
    let all: Value = serde_json::from_str(&run(&["name", "--json"]).out).unwrap();
    assert_eq!(all[0], named);
    assert_eq!(run(&["list", "--no-headers", "--columns", "name, label"]).out, "cat  pets\n");
    let unfit = run(&["name", "cat", "%a:b"]);
    assert!(unfit.code == Some(2) && unfit.errors.ends_with(": for instance `a-b`\n"), "{unfit:?}");
    assert_eq!(run(&["run", "job", "--", "sleep", "600"]).code, Some(0));
    assert_eq!(run(&["name", "job", "my job"]).code, Some(0));
    let blank = run(&["answer", "my job", "1"]);
    assert!(blank.errors.contains(" keys 'my job' y Enter` types"), "a hint can be typed: {blank:?}");
    let long = run(&["name", "cat", "--label", &"x".repeat(61)]);
    assert!(long.code == Some(2) && long.errors.ends_with("this one has 61\nhint: shorten it\n"), "{long:?}");
    let cleared = run(&["name", "cat", "--clear", "--json"]).out;
    assert_eq!(cleared.lines().count(), 1, "a command that acts prints a line: {cleared}");
    let cleared: Value = serde_json::from_str(&cleared).unwrap();
    let removed = serde_json::json!({ "label": "pets" });
    assert_eq!((&cleared["label"], &cleared["removed"]), (&Value::Null, &removed));
    let commands = [
        "send nope x",
        "send nope x --when-ready",
        "keys nope Enter",
        "answer nope 1",
        "wait nope --for ready",
        "explain nope",
        "record nope -o nope.cast",
        "name nope x",
        "history nope",
        "tasks kill nope",
        "tasks rerun nope",
        "tasks adopt nope",
        "queue resend 99",
        "queue dismiss 99",
        "token revoke nope",
    ];
    let files = [
        "run job --cwd nope -- true",
        "record cat -o nope/x.cast",
        "record cat -o .",
        "record cat -o . --force",
        "replay nope.cast",
        "replay history.db",
        "config check nope",
        "profiles check nope",
        "man --all nope/man1",
        "--log nope/log list",
        "--log . list",
    ];
    for (command, code) in commands.map(|command| (command, 1)).into_iter().chain(files.map(|command| (command, 2))) {
        let ran = run(&command.split(' ').collect::<Vec<_>>());
        let lines: Vec<&str> = ran.errors.lines().collect();
        let is_like = lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: ");
        assert!(is_like && ran.code == Some(code) && ran.out.is_empty(), "{command}: {ran:?}");
    }
    let mut kept = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(kept.all(|name| !name.to_string_lossy().ends_with(".new")), "nothing is left beside a directory");
    let commands = ["tasks kill nope --json", "tasks rerun nope --json", "queue dismiss 99 --json"];
    for command in commands.into_iter().chain(["run job --cwd nope --json -- true", "run a:b --json -- true"]) {
        let ran = run(&command.split(' ').collect::<Vec<_>>());
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        let told = if told.is_array() { &told[0] } else { &told };
        let detail = told["detail"].as_str().unwrap_or_default();
        assert!(told["outcome"] == "refused" && ran.errors.starts_with(&format!("error: {detail}\n")), "{ran:?}");
    }
}

#[test]
fn no_file_is_taken_for_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let (file, config) = (folder.path().join("precious"), folder.path().join("config.toml"));
    let path = file.to_str().unwrap();
    std::fs::write(&file, "kept").unwrap();
    std::fs::write(&config, format!("[[server]]\npath = \"{path}\"\n")).unwrap();
    for options in [["-S", path], ["--config", config.to_str().unwrap()]] {
        for command in [&["run", "x", "--", "true"][..], &["list"], &["watch"], &["tasks", "rerun", "x"]] {
            let ran = run(&[&options[..], command].concat());
            assert!(ran.code == Some(2) && ran.errors.contains("cannot be used: it is no socket\nhint: "), "{ran:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept", "{command:?}");
        }
    }
}

#[test]
fn an_agent_without_a_profile_is_listed_with_what_its_pane_tells_and_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("crush");
    std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
    let tmux = PrivateTmux::start(&[program.to_str().unwrap(), "-i"]);
    // The title that tmux gives each pane is the machine's name, which says nothing of the agent.
    let untitled: serde_json::Value = serde_json::from_str(&run(&["-L", tmux.name(), "list", "--json"]).out).unwrap();
    assert_eq!(untitled[0]["terminal"]["title"], "", "{untitled}");
    tmux.run(&["send-keys", "-t", "main", "-l", "--", r"printf '\033]2;Shop\007\007said it'"]);
    tmux.run(&["send-keys", "-t", "main", "Enter"]);
    tmux.wait_for_text("main", "\nsaid it");
    let listed: serde_json::Value = serde_json::from_str(&run(&["-L", tmux.name(), "list", "--json"]).out).unwrap();
    let state = &listed[0];
    assert_eq!(state["terminal"]["tool"], "crush", "{listed}");
    assert_eq!((&state["turn"]["phase"], &state["attention"]), (&"unknown".into(), &"none".into()), "{listed}");
    let activity = state["activity"].as_str().unwrap();
    assert!(activity.contains("Shop"), "{activity}");
    let table = run(&["-L", tmux.name(), "list"]).out;
    let row = table.lines().nth(1).unwrap();
    assert!(["main ", " crush ", " unknown ", "Shop"].iter().all(|word| row.contains(word)), "{table}");
    let explained = run(&["-L", tmux.name(), "explain", "main"]);
    assert!(explained.out.contains("fleetwatch record") && explained.out.contains("profiles check"), "{explained:?}");
    assert!(explained.out.contains("read by no profile"), "{explained:?}");
    let sent = run(&["-L", tmux.name(), "send", "main", "hello"]);
    assert!(sent.code == Some(1) && sent.errors.starts_with("error: refused: no profile"), "{sent:?}");
    let queued = run(&["-L", tmux.name(), "send", "main", "hello", "--when-ready"]);
    assert!(queued.code == Some(1) && queued.errors.contains("no profile"), "nothing will ever send it: {queued:?}");
}

#[test]
fn inside_of_tmux_its_own_server_is_watched_and_its_own_pane_is_not() {
    let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[[terminal]]\nsession = \"*\"\n").unwrap();
    tmux.new_session("beside", &["sleep", "1000"]);
    let command = format!("{} --config {} list; echo code $?", env!("CARGO_BIN_EXE_fleetwatch"), path.display());
    tmux.run(&["send-keys", "-t", "main", "-l", "--", &command]);
    tmux.run(&["send-keys", "-t", "main", "Enter"]);
    tmux.wait_for_text("main", "\ncode 0");
    let screen = tmux.screen("main");
    assert!(screen.contains("\nbeside "), "{screen}");
    assert!(!screen.contains("\nmain "), "{screen}");
}

#[test]
fn a_socket_in_a_directory_that_looks_like_that_of_tmux_is_not_the_one_of_the_same_name() {
    let tmux = PrivateTmux::start(&["sleep", "1000"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[[terminal]]\nsession = \"*\"\n").unwrap();
    let list = |variable: &str| -> Ran {
        let arguments = ["--config", path.to_str().unwrap(), "list", "--json"];
        fleetwatch(&arguments).env("TMUX", variable).output().unwrap().into()
    };
    // Its own path is its name, as everywhere else.
    let inside = list(&tmux.run(&["display-message", "-p", "#{socket_path},#{pid},0"]));
    let listed: Value = serde_json::from_str(&inside.out).unwrap();
    assert_eq!(listed[0]["terminal"]["socket"], tmux.name(), "{inside:?}");
    let shared = folder.path().join("tmux-shared").join(tmux.name());
    let elsewhere = list(&format!("{},1,0", shared.display()));
    assert_eq!(elsewhere.code, Some(1), "{elsewhere:?}");
    assert!(elsewhere.errors.contains(&format!("tmux -S {}", shared.display())), "{elsewhere:?}");
}

#[test]
fn a_command_ends_although_the_server_of_a_demo_hangs() {
    let demo = Demo::start();
    let there = demo.run(&["wait", "shop-api", "--for", "blocked", "--timeout", "60"]);
    assert_eq!(there.code, Some(0), "{there:?}");
    let pid = Command::new("tmux").args(["-L", &demo.server, "display-message", "-p", "#{pid}"]).output().unwrap();
    let pid: u32 = String::from_utf8(pid.stdout).unwrap().trim().parse().unwrap();
    signal("STOP", pid);
    let words = ["-L", &demo.server, "wait", "shop-api", "--for", "ready", "--timeout", "0.2", "--json"];
    let mut child = fleetwatch(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it to end", || child.try_wait().unwrap().is_some());
    signal("CONT", pid);
    let ended = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(
        (&told["id"], &told["reason"], ended.status.code()),
        (&"shop-api".into(), &"unreachable".into(), Some(1))
    );
    let errors = String::from_utf8(ended.stderr).unwrap();
    assert!(errors.starts_with("error: timed out after 0.2 s: tmux has not answered yet\n"), "{errors}");
}

#[test]
fn the_demo_is_listed_explained_and_answered() {
    let demo = Demo::start();
    let blocked = demo.run(&["wait", "shop-api", "--for", "blocked", "--timeout", "60"]);
    assert_eq!((blocked.code, blocked.out.as_str()), (Some(0), "shop-api: needs-you (approval)\n"), "{blocked:?}");

    let states: Value = serde_json::from_str(&demo.run(&["list", "--json"]).out).unwrap();
    let shop = states.as_array().unwrap().iter().find(|state| state["terminal"]["id"] == "shop-api").unwrap();
    assert_eq!(shop["attention"], "approval");
    assert_eq!(shop["assessment"]["business_state"], "awaiting_operator");
    for (group, fields) in [
        ("terminal", "id host socket session window pane pid tool observed_tool_version profile title cwd"),
        ("diagnostics", "availability transport_state process_state parse_status probe_error parse_error"),
        ("surface", "accepting_input editing_input ready_posture pending_input"),
        ("turn", "phase background_work since elapsed_seconds since_exact"),
        ("last_turn", "result source at detail"),
        ("assessment", "availability business_state input_mode ui_context anomalies operator_excerpt"),
        ("operator", "status readiness completion detail"),
        ("lifecycle_authority", "completion_authority turn_anchor_state completion_monitoring_armed anchor_armed_at"),
        ("stability", "signature stable stable_for_seconds stable_since"),
    ] {
        for field in fields.split(' ') {
            assert!(shop[group].get(field).is_some(), "{group}.{field} is missing in {shop:#}");
        }
    }

    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let refused = demo.run(&["record", "shop-api", "--force", "-o", pipe.to_str().unwrap()]);
    assert!(refused.code == Some(2) && refused.errors.contains("is not a regular file"), "{refused:?}");
    assert!(!pipe.metadata().unwrap().is_file(), "it is there as it was");

    let listed = |words: &[&str]| {
        let states: Vec<Value> = serde_json::from_str(&demo.run(&[&["list", "--json"], words].concat()).out).unwrap();
        states.iter().map(|state| state["terminal"]["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["shop"]), ["shop-api"]);
    assert_eq!(listed(&["is:needs-you", "agent:claude", "shop"]), ["shop-api"]);
    assert_eq!(listed(&["is:needs-you", "agent:gemini"]), Vec::<String>::new());
    assert_eq!(listed(&["is:asks,needs-you", "agent:gemini,claude", "shop"]), ["shop-api"]);
    assert!(!listed(&["!is:ready,approval"]).contains(&"shop-api".to_owned()), "none of these is wanted");
    assert_eq!(listed(&["IS:needs_you", "shop"]), ["shop-api"]);
    for words in [&["watch", "is:"][..], &["watch", "is:reddy"], &["watch", "foo:bar"]] {
        let refused = demo.run(words);
        assert!(refused.code == Some(2) && refused.out.is_empty(), "{refused:?}");
    }
    let words = ["-L", &demo.server, "watch", "--json", "is:needs-you", "shop"];
    let mut watch = fleetwatch(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(watch.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let first: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&first["terminal"], &first["word"]), (&"shop-api".into(), &"approval".into()));
    signal("INT", watch.id());
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    for words in [&["list", "docs,shop-api"][..], &["list", "docs", "shop-api"]] {
        let both = demo.run(words);
        let hint = "hint: all words must match; `name:docs,shop-api` is either of them\n";
        assert!((both.code, both.errors.ends_with(hint)) == (Some(0), true), "{both:?}");
    }
    // Its answer is whole until its turn begins anew, and from its end on.
    let printed = || -> Value { serde_json::from_str(&demo.run(&["output", "search", "--json"]).out).unwrap() };
    let is_whole = |printed: &Value| {
        assert!(printed["source"] == "screen" && printed["exit_code"].is_null(), "{printed}");
        printed["text"].as_str().unwrap().contains("Point 1: ")
    };
    wait_or_tell("the whole answer", || is_whole(&printed()), || printed().to_string());
    let cut = demo.run(&["list", "agent:claude", "!is:"]);
    assert!(cut.code == Some(2) && cut.errors.starts_with("error: `!is:` has no value\n"), "{cut:?}");
    let unknown = demo.run(&["list", "is:ready,reddy"]);
    assert!(
        unknown.errors.contains("no state reddy") && unknown.errors.contains("did you mean is:ready?"),
        "{unknown:?}"
    );
    let no_time = demo.run(&["list", "waited:abc"]);
    let said = "error: there is no time abc\nhint: waited: takes how long it has waited for you, such as waited:>5m\n";
    assert_eq!((no_time.code, no_time.errors.as_str()), (Some(2), said));
    assert_eq!(demo.run(&["list", "age:>"]).code, Some(2), "it asks for nothing");
    let unknown = demo.run(&["list", "foo:bar"]);
    assert!(unknown.code == Some(2) && unknown.errors.starts_with("error: there is no field foo\n"), "{unknown:?}");
    let agent = demo.run(&["tasks", "kill", "docs"]);
    assert!(agent.code == Some(1) && agent.errors.starts_with("error: docs is an agent, not a task\n"), "{agent:?}");
    let refused = demo.run(&["list", "is:reddy"]);
    assert!(refused.code == Some(2) && refused.errors.contains("did you mean is:ready?"), "{refused:?}");
    let fired = demo.run(&["explain", "shop", "--fired"]).out;
    let at = |title: &str| fired.find(&format!("\n{title}")).unwrap_or_else(|| panic!("no {title} in {fired}"));
    assert!(at("Rules") < at("Regions") && !fired.contains("\n  · "), "what fired stands first: {fired}");
    let explained = demo.run(&["explain", "shop"]).out;
    assert!(explained.starts_with("shop-api waits for your approval: "), "{explained}");
    let answer = explained.split("\n\n").next().unwrap();
    for name in ["since", "because        rule approval-dialog", "how sure", "changes with   an answer to the dialog"] {
        assert!(answer.contains(&format!("\n  {name}")), "{name}: {answer}");
    }
    assert!(explained.contains("✓ approval-dialog"), "{explained}");
    assert!(explained.contains("\nTimers\n  "), "{explained}");
    assert!(!explained.contains("with caution"), "{explained}");
    let explain = |name: &str| serde_json::from_str::<Value>(&demo.run(&["explain", name, "--json"]).out).unwrap();
    // A screen that stood still before the first poll is stable at once and has none; one that works has some.
    let mut explained = Value::Null;
    wait_until("a timer", || {
        explained = explain("search");
        explained["timers"][0].is_object()
    });
    for field in ["name", "since", "until", "then"] {
        assert!(explained["timers"][0][field].is_string(), "{field} is missing in {:#}", explained["timers"]);
    }
    let watched = demo.run(&["explain", "shop", "--json", "--watch", "1.5"]).out;
    let watched: Value = serde_json::from_str(&watched).unwrap();
    assert!(watched["state"]["stability"]["stable_for_seconds"].as_f64() > Some(0.5), "{watched:#}");
    let explained = explain("shop-api");
    let reading = &explained["reading"];
    assert_eq!((&reading["output_family"], &reading["preset"]), (&"claude_waiting_menu_v1".into(), &"2.1.62".into()));
    assert!(explained["projection"]["dialog_text"].as_str().unwrap().contains("Do you want to proceed?"));
    let rows = demo.run(&["explain", "shop-api"]).out;
    let captured = Command::new("tmux").args(["-L", &demo.server, "capture-pane", "-p", "-t", "shop-api"]).output();
    for row in String::from_utf8(captured.unwrap().stdout).unwrap().lines().map(str::trim_end) {
        assert!(rows.lines().any(|line| line.ends_with(row)), "{row:?} is missing in {rows}");
    }
    // The second row of an option, which looks like something else.
    let screen = rows.split("\nRows, ").nth(1).unwrap_or_default();
    let mut paths = screen.lines().filter(|line| line.ends_with("  /home/developer-01/shop-api"));
    assert!(paths.all(|line| line.contains(" + dialog ")), "{rows}");

    let refused = demo.run(&["send", "shop-api", "hello"]);
    // Without a home there is no place for locks, which is reported before.
    let error = refused.errors.lines().find(|line| line.starts_with("error:"));
    assert_eq!((refused.code, error), (Some(1), Some("error: refused: a dialog is open")), "{refused:?}");
    let wrong = demo.run(&["answer", "shop-api", "maybe"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.errors.contains("has no option `maybe`") && wrong.errors.contains("1 Yes"), "{wrong:?}");
    let asked = demo.run(&["answer", "shop-api"]);
    assert_eq!((asked.code, &asked.out), (Some(0), &wrong.out), "{asked:?}");
    let reads_on: Ran = fleetwatch(&["-L", &demo.server, "answer", "shop-api"]).output().unwrap().into();
    let hint = format!("nothing was sent\nhint: `fleetwatch -L {} answer shop-api 1` would answer it\n", demo.server);
    assert!(reads_on.errors.ends_with(&hint), "{reads_on:?}");
    let choices = asked.out.split_once("\n\nCHOICE  SENDS  OPTION\n").unwrap_or_else(|| panic!("{asked:?}")).1;
    insta::assert_snapshot!(choices, @r"
    1, yes  Enter  Yes
    2       2      Yes, and don't ask again for rm -rf build and mkdir build commands in /home/developer-01/shop-api
    3       3      Yes, and switch to auto mode · auto mode handles these prompts for you
    4, no   4      No
    ");
    let other = demo.run(&["answer", "shop-api", "yes", "--expect", "git push"]);
    assert_eq!(other.code, Some(1));
    assert!(other.errors.contains("does not say `git push`") && other.out == asked.out, "{other:?}");
    let name = explained["state"]["assessment"]["dialog"].as_str().unwrap_or_default().to_owned();
    assert_eq!(name.len(), 48, "{explained}");
    let prefix = demo.run(&["answer", "shop-api", "yes", "--expect", &name[..16]]);
    assert!(prefix.code == Some(1) && prefix.errors.contains("does not say"), "{prefix:?}");
    let letter = demo.run(&["answer", "shop-api", "x"]);
    assert!(letter.code == Some(1) && letter.errors.starts_with("error: the dialog has no option `x`\n"), "{letter:?}");
    assert!(demo.run(&["list"]).out.contains("Yes, and don't ask again"), "nothing is cut where no terminal is");
    let refused: Value = serde_json::from_str(&demo.run(&["answer", "shop-api", "x", "--json"]).out).unwrap();
    assert_eq!((&refused["outcome"], &refused["dialog"]["id"]), (&"refused".into(), &name.as_str().into()));
    let told = ["label", "sends", "answers"].map(|field| refused["dialog"]["options"][0][field].as_str().unwrap());
    assert_eq!(told, ["Yes", "Enter", "yes"]);
    let other = demo.run(&["answer", "shop-api", "yes", "--expect", "git push", "--json"]);
    let told: Value = serde_json::from_str(&other.out).unwrap();
    assert_eq!(told["detail"], "the dialog of shop-api does not say `git push`");
    assert!(other.errors.contains("error: refused: the dialog"), "{other:?}");
    let late = demo.run(&["send", "shop-api", "hello", "--when-ready", "--timeout", "0.2", "--json"]);
    let told: Value = serde_json::from_str(&late.out).unwrap();
    assert_eq!(
        (late.code, &told["outcome"], &told["dialog"]["id"]),
        (Some(1), &"refused".into(), &name.as_str().into())
    );
    assert!(
        told["detail"].as_str().unwrap().starts_with("timed out after 0.2 s: shop-api waits for you (approval)"),
        "{told}"
    );
    let unknown: Value = serde_json::from_str(&demo.run(&["answer", "nobody", "1", "--json"]).out).unwrap();
    assert_eq!(unknown["detail"], "no watched terminal is called `nobody`");
    let answered = demo.run(&["answer", "shop-api", "y", "--expect", &name]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    assert!(answered.out.starts_with("shop-api asks:\n") && !answered.out.contains(&name), "{answered:?}");
    assert!(answered.out.contains("answered with:\n  1 Yes\naccepted"), "{answered:?}");
    let late = demo.run(&["wait", "shop-api", "--for", "gone", "--timeout", "0.2"]);
    assert_eq!(late.code, Some(1));
    assert!(late.errors.starts_with("error: timed out after 0.2 s: shop-api is "), "{late:?}");
    for (words, hint) in [
        (&["wait", "shop-api", "--for", "gone", "--timeout", "1h"][..], ""),
        (&["send", "billing", "hi", "--when-ready"], "hint: nothing was sent\n"),
    ] {
        let waits = fleetwatch(&[&["-L", &demo.server], words].concat()).stderr(Stdio::piped()).spawn().unwrap();
        let status = format!("/proc/{}/status", waits.id());
        wait_until("it would hear Ctrl-C", || {
            let status = std::fs::read_to_string(&status).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
            u64::from_str_radix(caught, 16).unwrap() & 1 << (SIGINT - 1) != 0
        });
        signal("INT", waits.id());
        let ended = waits.wait_with_output().unwrap();
        assert_eq!(ended.status.signal(), Some(SIGINT), "a loop in a script goes on after any other end: {ended:?}");
        assert!(
            String::from_utf8_lossy(&ended.stderr).ends_with(&format!("error: interrupted while it waited\n{hint}")),
            "{ended:?}"
        );
    }
    let unknown = demo.run(&["wait", "web", "--for", "Error,UNKNOWN", "--timeout", "0"]);
    assert!(unknown.errors.starts_with("error: timed out after 0 s: web is "), "{unknown:?}");
}

#[test]
fn every_command_calls_the_same_state_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (profiles, config) = (folder.path().join("profiles"), folder.path().join("config.toml"));
    std::fs::create_dir(&profiles).unwrap();
    let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support");
    std::fs::copy(support.join("parrot.toml"), profiles.join("parrot.toml")).unwrap();
    let parrot = folder.path().join("parrot");
    copy_shell("/bin/bash", &parrot);
    std::fs::write(&config, format!("[history]\npath = \"{}\"\n", folder.path().join("h.db").display())).unwrap();
    let tmux = PrivateTmux::unstarted();
    let words = |words: &[&str]| {
        let options = ["-L", tmux.name(), "--config", config.to_str().unwrap()];
        options.iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let run = |arguments: &[&str]| -> Ran {
        let arguments = words(arguments);
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    for session in ["one", "two"] {
        let script = support.join("parrot.sh");
        tmux.new_session(session, &[parrot.to_str().unwrap(), "--norc", script.to_str().unwrap()]);
        tmux.wait_for_text(&format!("{session}:"), "❯");
    }
    tmux.run(&["send-keys", "-t", "one:", "ask", "Enter"]);
    tmux.wait_for_text("one:", "2. No");
    let tasks: [(&str, &[&str]); 4] = [
        ("runs", &["true"]),
        ("fine", &["true"]),
        ("bad", &["sh", "-c", "printf '\\a'; read x; exit 3"]),
        ("asks", &["bash", "-c", "read -p 'Really? [y/N] '"]),
    ];
    for (name, command) in tasks {
        assert_eq!(run(&[&["run", name, "--"], command].concat()).code, Some(0));
    }
    // The first window is now the last that began.
    assert_eq!(run(&["wait", "runs", "--for", "exited", "--timeout", "60"]).code, Some(0));
    assert_eq!(run(&["run", "runs", "--", "sleep", "1000"]).code, Some(0));
    // tmux may lose what a program prints that ends at once.
    let bell = ["display-message", "-p", "-t", "tasks:=bad", "#{window_bell_flag}"];
    wait_until("the bell", || tmux.run(&bell).trim() == "1");
    tmux.run(&["send-keys", "-t", "tasks:=bad", "Enter"]);
    // The name, the word for people, what `wait` calls it, and the field of the JSON with its value.
    let states = [
        ("one", "approval", "needs-you", "/attention", "approval"),
        ("two", "ready", "ready", "/turn/phase", "ready"),
        ("runs", "running", "working", "/status", "running"),
        ("fine", "exited 0", "success", "/status", "exited"),
        ("bad", "exited 3", "failed", "/status", "exited"),
        ("asks", "asks", "input", "/status", "waiting_input"),
    ];
    // A cell of the table is followed by two blanks or more.
    let cells = |table: &str| -> Vec<(String, String)> {
        let rows = table.lines().skip(1).map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()));
        rows.map(|mut row| (row.next().unwrap().to_owned(), row.nth(2).unwrap().to_owned())).collect()
    };
    wait_until("all states", || {
        let listed = cells(&run(&["list"]).out);
        states.iter().all(|(name, word, ..)| listed.contains(&((*name).to_owned(), (*word).to_owned())))
    });
    let table = run(&["list"]).out;
    // Where no terminal is, the columns do not depend on what they say.
    let heads = |table: &str| table.lines().next().unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(heads(&table).join(" "), "NAME SERVER AGENT STATE SINCE LAST CONTEXT MODEL BRANCH WHAT");
    let all = heads(&run(&["list", "--columns", "name,all"]).out);
    assert_eq!((all.len(), all[0].as_str()), (22, "NAME"), "each of them once");
    assert!(["PHASE", "COST", "BRANCH", "LABEL"].iter().all(|it| all.contains(&(*it).to_owned())), "{all:?}");
    assert_eq!(heads(&run(&["tasks"]).out).join(" "), "NAME SERVER STATE SINCE LAST PLACE PANE COMMAND WHAT");
    let tasks: Value = serde_json::from_str(&run(&["tasks", "--json"]).out).unwrap();
    assert_eq!(run(&["tasks", "list", "--columns", "name"]).out.lines().count(), 1 + tasks.as_array().unwrap().len());
    assert_eq!(run(&["list", "two", "--no-headers", "--columns", "Name,state,label"]).out, "two  ready  -\n");
    for (command, names) in
        [("explain", "one two asks bad fine runs"), ("send", "one two"), ("tasks kill", "asks bad fine runs")]
    {
        let words = words(&[&command.split(' ').collect::<Vec<_>>()[..], &[""]].concat());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut offered = Vec::new();
        // A shell does not wait for a server that is slow to answer.
        wait_until(&format!("the names for {command}"), || {
            let all = completed("bash", &words);
            offered = all.lines().filter(|word| !word.starts_with('-')).map(str::to_owned).collect();
            !offered.is_empty()
        });
        offered.sort_unstable_by_key(|name| names.split(' ').position(|known| known == name.as_str()));
        assert_eq!(offered.join(" "), names, "{command}");
    }
    let of_bad = table.lines().find(|row| row.starts_with("bad ")).unwrap();
    assert!(of_bad.contains("  rang  "), "its bell is shown: {table}");
    assert!(run(&["tasks"]).out.contains("  rang  "));
    let tasks = run(&["tasks", "--columns", "name,server,agent,state"]).out;
    assert!(cells(&tasks).iter().all(|row| cells(&table).contains(row)), "{table}{tasks}");

    let listed: Value = serde_json::from_str(&run(&["list", "--json"]).out).unwrap();
    let all = words(&["watch"]);
    let mut watch =
        fleetwatch(&all.iter().map(String::as_str).collect::<Vec<_>>()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let read = Arc::new(Mutex::new(String::new()));
    let reader = Arc::clone(&read);
    std::thread::spawn(move || {
        lines.map_while(Result::ok).for_each(|line| *reader.lock().unwrap() += &(line + "\n"));
    });
    // Its columns: the time, the name, the word.
    let is_shown = |name: &str, word: &str| {
        let cells = |line: &str| -> Vec<String> {
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
        };
        let lines: Vec<Vec<String>> = read.lock().unwrap().lines().map(cells).collect();
        lines.iter().any(|line| line.get(1..3).is_some_and(|cells| cells == [name, word]))
    };
    // A task that asks is one that runs until a second poll shows the same; then an event says that it asks.
    wait_until("each state in watch", || states.iter().all(|(name, word, ..)| is_shown(name, word)));
    let shown = read.lock().unwrap().clone();
    let times: Vec<&str> = shown.lines().filter_map(|line| line.split("  ").next()).collect();
    assert!(times.is_sorted(), "{shown}");
    for (name, word, condition, field, value) in states {
        // An agent's answer begins with the word that was asked for.
        let waited = run(&["wait", name, "--for", condition, "--timeout", "60"]).out;
        let said = [format!("{name}: {word}\n"), format!("{name}: {condition} ({word})\n")];
        assert!(said.contains(&waited), "{waited:?}");
        let reached = waited.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let waited: Value = serde_json::from_str(&run(&["wait", name, "--for", condition, "--json"]).out).unwrap();
        assert_eq!((&waited["id"], &waited["reached"]), (&name.into(), &reached.into()));
        let state = listed.as_array().unwrap().iter().find(|state| state["id"] == name).unwrap();
        assert_eq!((state.pointer(field), waited.pointer(field)), (Some(&value.into()), Some(&value.into())), "{name}");
        // The name is that of a task's, and what is said of it follows from a state.
        let is_beside = |key: &&String| matches!(key.as_str(), "id" | "reached" | "what" | "word");
        assert_eq!((&state["word"], &waited["word"]), (&word.into(), &word.into()));
        let keys =
            |state: &Value| state.as_object().unwrap().keys().filter(|it| !is_beside(it)).cloned().collect::<Vec<_>>();
        assert_eq!(keys(state), keys(&waited), "{name}");
    }
    for (name, state, why) in [
        ("bad", "success", "bad has ended (exited 3), so it will not be success\nhint: `fleetwatch tasks rerun bad`"),
        ("runs", "approval,stalled", "runs is a task, which is never approval or stalled\nhint: "),
        ("two", "notify", "two is an agent, whose bell is not waited for\nhint: "),
    ] {
        let over = run(&["wait", name, "--for", state, "--timeout", "60"]);
        assert!(over.code == Some(1) && over.errors.starts_with(&format!("error: {why}")), "{over:?}");
    }
    let unmet = |words: &[&str]| -> Vec<[String; 3]> {
        let ran = run(&[&["wait", "--json"], words].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let line = |line: &str| {
            let told: Value = serde_json::from_str(line).unwrap();
            assert!(told.get("reached") == Some(&Value::Null), "{told}");
            ["id", "reason", "word"].map(|field| told[field].as_str().unwrap_or("-").to_owned())
        };
        ran.out.lines().map(line).collect()
    };
    let any = run(&["wait", "nobody", "two", "--any", "--for", "ready"]);
    assert!(any.code == Some(0) && any.out == "two: ready\n", "{any:?}");
    assert!(any.errors.starts_with("warning: no watched terminal is called `nobody`\n"), "{any:?}");
    let late = ["two", "runs", "two", "--for", "failed", "--timeout", "0"];
    assert_eq!(unmet(&late), [["two", "timeout", "ready"], ["runs", "timeout", "running"]], "two is waited for once");
    let over = ["bad", "runs", "--for", "success", "--timeout", "60"];
    assert_eq!(unmet(&over), [["bad", "impossible", "exited 3"], ["runs", "given_up", "running"]]);
    let unknown = ["nobody", "runs", "--for", "success", "--timeout", "60"];
    assert_eq!(unmet(&unknown), [["nobody", "not_found", "-"], ["runs", "given_up", "running"]]);
    let ran = run(&["wait", "bad", "nobody", "--for", "exited"]);
    assert!(
        ran.out == "bad: exited 3\n" && ran.errors.starts_with("error: no watched terminal is called `nobody`"),
        "{ran:?}"
    );
    let pressed = run(&["keys", "bad", "Enter"]);
    assert!(pressed.code == Some(1) && pressed.errors.contains("hint: `fleetwatch tasks rerun bad`"), "{pressed:?}");
    let several = |words: &[&str]| run(&[&["wait", "fine", "runs", "bad", "--for", "exited"], words].concat());
    assert_eq!(several(&["--any"]).out, "fine: exited 0\n");
    let late = several(&["--timeout", "0"]);
    assert_eq!((late.code, late.out.as_str()), (Some(1), "fine: exited 0\nbad: exited 3\n"));
    let longer = |name: &str, is: &str| {
        let hint = format!("wait longer with `--timeout`; `fleetwatch explain {name}` says why it is so");
        format!("error: timed out after 0 s: {name} is {is}\nhint: {hint}\n")
    };
    assert_eq!(late.errors, longer("runs", "running"));
    let late = run(&["send", "one", "hello", "--when-ready", "--timeout", "0"]);
    let asks =
        "error: timed out after 0 s: one waits for you (approval)\nhint: `fleetwatch answer one` shows what it asks\n";
    assert_eq!((late.code, late.out.as_str(), late.errors.as_str()), (Some(1), "", asks));
    let status: Value = serde_json::from_str(&run(&["status", "--format", "json"]).out).unwrap();
    let counts =
        serde_json::json!({ "approval": 1, "ready": 1, "working": 1, "finished": 1, "failed": 1, "question": 1 });
    assert_eq!((&status["watched"], &status["counts"]), (&true.into(), &counts), "{status}");
    let needs: Vec<_> =
        status["needs"].as_array().unwrap().iter().map(|it| (&it["terminal"], &it["needs_you"], &it["word"])).collect();
    let alike = "  one, two: only its screen is read: no rules for its records\n";
    let doctor = run(&["doctor"]).out;
    assert!(doctor.contains(&format!("ok    record       {alike}")), "{doctor}");
    let (asks, bad) = (("asks", true, "asks"), ("bad", false, "exited 3"));
    let has =
        |(name, needs_you, word): (&str, bool, &str)| needs.contains(&(&name.into(), &needs_you.into(), &word.into()));
    assert!(has(asks) && has(bad), "{needs:?}");
    for (target, why) in [("asks", "asks is a task; no agent runs in it"), ("two", "two shows no dialog")] {
        let told: Value = serde_json::from_str(&run(&["answer", target, "1", "--json"]).out).unwrap();
        assert_eq!((&told["outcome"], &told["detail"]), (&"refused".into(), &why.into()));
    }
    let told = run(&["status"]).out;
    let waiting = told.strip_prefix("2 need you: ").is_some_and(|who| who.contains("one (") && who.contains("asks ("));
    assert!(waiting && told.ends_with(" · bad failed · fine finished · 1 working · 1 ready\n"), "{told}");
    for command in ["list", "doctor", "history", "explain one", "status", "status --format tmux"] {
        let words = words(&command.split(' ').collect::<Vec<_>>());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = fleetwatch(&words).env("LC_ALL", "C").output().unwrap();
        // What the agent shows stays as it is.
        let out = String::from_utf8(output.stdout).unwrap().replace('❯', "");
        assert!(out.is_ascii() && output.stderr.is_ascii() && !out.is_empty(), "{command}: {out}");
    }
    // The kept transitions have the word in a column of its own.
    for (name, word, ..) in states {
        wait_until(&format!("{name} {word} in the history"), || {
            let kept = run(&["history", name, "--details"]).out;
            let [json, both] =
                [&["--json"][..], &["--json", "--details"]].map(|how| run(&[&["history", name], how].concat()).out);
            assert_eq!(json, both, "JSON has the details in any case");
            kept.lines().any(|line| line.contains(&format!("  {name}  {word:<11}  ")))
        });
    }
    let operator = PrivateTmux::start(&["sh"]);
    operator.run(&["resize-window", "-t", "main", "-x", "60", "-y", "60"]);
    let on_terminal = |arguments: &[&str]| {
        let script = "\"$0\" \"$@\"; echo '(over)'; exec sleep 1000";
        let shell = ["respawn-pane", "-k", "-t", "main", "sh", "-c", script, env!("CARGO_BIN_EXE_fleetwatch")];
        let arguments = words(arguments);
        operator.run(&shell.into_iter().chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>());
        operator.wait_for_text("main", "(over)");
        operator.screen("main")
    };
    let (status, doctor) = (on_terminal(&["status", "--json"]), on_terminal(&["doctor"]));
    assert!(status.starts_with("{\n  \"at\": \"") && run(&["status", "--json"]).out.lines().count() == 1, "{status}");
    let broken =
        "ok    record         one, two: only its screen is read: no\n                     rules for its records\n";
    assert!(doctor.contains(broken), "{doctor}");
    let summed_up = on_terminal(&["status"]);
    let is_broken = |summed_up: &str| summed_up.lines().nth(1).is_some_and(|row| row.starts_with("  "));
    assert!(is_broken(&summed_up), "{summed_up}");
    operator.run(&["resize-window", "-t", "main", "-x", "140", "-y", "40"]);
    let dashboard = words(&[]);
    let program = [&["respawn-pane", "-k", "-t", "main", env!("CARGO_BIN_EXE_fleetwatch")][..]].concat();
    operator.run(&program.into_iter().chain(dashboard.iter().map(String::as_str)).collect::<Vec<_>>());
    for (name, word, ..) in states {
        wait_until(&format!("{name} {word} in the dashboard"), || {
            let screen = operator.screen("main");
            let mut rows = screen.lines().filter(|row| row.chars().skip(4).collect::<String>().starts_with(name));
            rows.any(|row| row.contains(&format!("  {word} ")))
        });
    }
    let header = operator.screen("main").lines().next().unwrap().to_owned();
    assert!(
        header.contains("2 need you") && header.contains("1 failed │ 1 exited 0 │ 1 running │ 1 ready"),
        "{header}"
    );
    operator.run(&["send-keys", "-t", "main", "q"]);
    let explained = run(&["explain", "asks"]).out;
    assert!(explained.starts_with("task asks (@") && explained.contains("\n  it asks: Really? [y/N]\n"), "{explained}");
    // What is gone still has an end that nobody has seen.
    tmux.run(&["send-keys", "-t", "two:", "nap 1", "Enter"]);
    assert_eq!(run(&["wait", "two", "--for", "finished", "--timeout", "60"]).code, Some(0));
    tmux.run(&["kill-session", "-t", "two"]);
    let two = |told: &Value, name: &str| {
        let all = told.as_array().unwrap().iter();
        let two = all.into_iter().find(|it| it[name] == "two")?;
        Some((two["word"].as_str()?.to_owned(), two["attention"].as_str()?.to_owned()))
    };
    let gone = Some(("gone".to_owned(), "finished".to_owned()));
    wait_until("two to be gone in the list and the summary", || {
        let listed: Value = serde_json::from_str(&run(&["list", "--json"]).out).unwrap();
        let status: Value = serde_json::from_str(&run(&["status", "--json"]).out).unwrap();
        two(&listed, "id") == gone && two(&status["needs"], "terminal") == gone
    });
    signal("INT", watch.id());
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}

#[test]
fn watching_tells_states_first_then_transitions_and_ends_when_asked() {
    let demo = Demo::start();
    let mut watch = fleetwatch(&["-L", &demo.server, "watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut known = std::collections::BTreeSet::new();
    let start = Instant::now();
    // The demo's terminals work, finish and leave, so a transition comes within seconds.
    loop {
        assert!(start.elapsed() < PATIENCE, "no transition came");
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let terminal = line["terminal"].as_str().unwrap().to_owned();
        assert_eq!(line["state"]["terminal"]["id"], terminal.as_str());
        assert!(line["word"].is_string(), "{line}");
        assert!(line["at"].as_str().is_some_and(|at| at.len() == 24 && at.ends_with('Z')), "{line}");
        if line["kind"] == "state" {
            known.insert(terminal);
            continue;
        }
        assert_eq!(line["kind"], "transition");
        assert!(known.contains(&terminal), "a transition before the state of {terminal}");
        let change = &line["changed"][0];
        assert!(change["field"].is_string() && change["from"] != change["to"], "{line}");
        assert!(line["evidence"].is_array());
        break;
    }
    signal("INT", watch.id());
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}

#[test]
fn watching_ends_without_a_word_when_nobody_reads_any_more() {
    let demo = Demo::start();
    let mut watch =
        fleetwatch(&["-L", &demo.server, "watch"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(watch.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    drop(reader);
    // The next line that it writes finds nobody.
    wait_until("the end of watch", || watch.try_wait().unwrap().is_some());
    let mut errors = String::new();
    watch.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((watch.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn doctor_names_what_is_wrong_and_says_what_to_do() {
    let tmux = PrivateTmux::unstarted();
    let ran = run(&["-L", tmux.name(), "doctor"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.lines().any(|line| line.starts_with("ok    tmux ")), "{}", ran.out);
    assert!(
        ran.out.contains("FAIL  server") && ran.out.contains("→ start one with `tmux -L fleetwatch-test-"),
        "{}",
        ran.out
    );
    let json: Vec<Value> = serde_json::from_str(&run(&["-L", tmux.name(), "doctor", "--json"]).out).unwrap();
    let server = json.iter().find(|finding| finding["subject"] == "server").unwrap();
    assert!(server["grade"] == "fail" && server["remedy"].as_str().unwrap().starts_with("start one"), "{server}");
    // All of the operator's files are checked, and a history that cannot be written is no small matter.
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    std::fs::write(&config, format!("[history]\npath = \"{}/history.db\"\n", open.display())).unwrap();
    std::fs::write(folder.path().join("keymap.toml"), "fleet = [{ on = \"x\", run = \"leave\" }]\n").unwrap();
    let ran = run(&["--config", config.to_str().unwrap(), "doctor"]).out;
    assert!(ran.contains(&format!("ok    configuration  {} has no errors\n", config.display())), "{ran}");
    assert!(ran.contains(&format!("FAIL  configuration  {}:1:", folder.path().join("keymap.toml").display())), "{ran}");
    let unwritable =
        format!("FAIL  history        {}/history.db cannot be written, so nothing is kept: ", open.display());
    assert!(ran.contains(&unwritable) && !ran.contains("os error"), "{ran}");
    let mut without_tmux = fleetwatch(&["doctor"]);
    let ran: Ran = without_tmux.env("PATH", "/nonexistent").output().unwrap().into();
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("FAIL  tmux ") && ran.out.contains("→ install tmux 3.2 or newer"), "{}", ran.out);
    assert!(ran.out.contains("servers        not asked, because there is no usable tmux"), "{}", ran.out);
    assert!(ran.out.contains("note  git            branches and changes are not shown: git cannot be"), "{}", ran.out);
    let missing: Ran = fleetwatch(&["watch"]).env("PATH", "/nonexistent").output().unwrap().into();
    assert_eq!((missing.code, missing.out.as_str()), (Some(1), ""));
    assert!(missing.errors.starts_with("error: tmux is not installed\nhint: install tmux"), "{missing:?}");
}

#[test]
fn doctor_tells_an_old_tmux_a_dead_server_and_several_servers_apart() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("tmux");
    std::fs::write(&old, "#!/bin/sh\necho tmux 3.1c\n").unwrap();
    std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran: Ran = fleetwatch(&["doctor"]).env("PATH", folder.path()).output().unwrap().into();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("FAIL  tmux           tmux 3.1c is too old\n"), "{}", ran.out);

    let (up, dead) = (PrivateTmux::start(&["sleep", "1000"]), PrivateTmux::start(&["sleep", "1000"]));
    signal("KILL", dead.run(&["display-message", "-p", "#{pid}"]).trim().parse().unwrap());
    wait_until("the server's end", || {
        run(&["-L", dead.name(), "doctor"]).out.contains("has ended and left its socket behind")
    });
    let config = folder.path().join("config.toml");
    let both = format!(
        "[history]\nenabled = false\n[[server]]\nsocket = \"{}\"\n[[server]]\nsocket = \"{}\"\n",
        dead.name(),
        up.name()
    );
    std::fs::write(&config, both).unwrap();
    let ran = run(&["--config", config.to_str().unwrap(), "doctor"]);
    assert_eq!(ran.code, Some(0), "the other one can be watched: {ran:?}");
    let reported = format!(
        "note  server         {0} has ended and left its socket behind\n                     → start one with `tmux -L {0} \
         new-session`, or name another with -L NAME, -S PATH or --host HOST\nok    server         {1} answers within ",
        dead.name(),
        up.name()
    );
    assert!(ran.out.contains(&reported) && ran.out.contains(" ms, with 1 pane in tmux "), "{}", ran.out);
}

#[test]
fn the_guides_show_what_the_program_has() {
    let guides = guides();
    for command in commands_below(&[]).into_iter().filter(|words| words.len() == 1) {
        let command = &command[0];
        assert!(guides.contains(&format!("`fleetwatch {command}")), "the guides do not show `{command}`");
    }
    // Pieces of a configuration begin with a table; what begins with a key is for another file.
    let blocks = guides.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples: Vec<&str> = blocks.filter(|block| block.starts_with('[')).collect();
    assert!(!examples.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.toml");
    for example in examples {
        std::fs::write(&path, example).unwrap();
        let checked = run(&["config", "check", path.to_str().unwrap()]);
        assert_eq!(checked.code, Some(0), "a configuration of the guides: {checked:?}\n{example}");
    }
}

#[test]
fn what_is_wrong_with_files_is_reported_like_everything_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.cast");
    std::fs::write(&path, "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}\n[0.1, \"o\"\n").unwrap();
    let file = path.to_str().unwrap();
    let broken = run(&["replay", file]);
    assert_eq!((broken.code, broken.out.as_str()), (Some(2), ""));
    assert!(broken.errors.starts_with(&format!("error: {file}:2: ")), "{broken:?}");
    assert!(broken.errors.contains("\nhint: recordings are asciicast"), "{broken:?}");
    std::fs::write(&path, "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}\n[0.1, \"o\", \"x\"]\n").unwrap();
    let replayed = run(&["replay", file, "--tool", "claude"]).out;
    insta::assert_snapshot!(replayed, @r"
    SECONDS  STATE    LAST  STABLE  TAKES A PROMPT                     WHAT
      0.100  unknown  -     -       no: it is not certain to be ready  -
    ");
    // What turns and counts is no change.
    let frame = |sign, seconds| {
        let title = format!("\\u001b]2;{sign} Baking\\u0007");
        format!("[0.2, \"o\", \"{title}\\u001b[H{sign} Baking… ({seconds}s · esc to interrupt)\"]\n")
    };
    let turning =
        "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}\n".to_owned() + &frame("✻", 1) + &frame("✶", 2);
    std::fs::write(&path, turning).unwrap();
    let replayed = run(&["replay", file, "--tool", "claude", "--json"]).out;
    assert!(replayed.lines().count() == 1 && replayed.contains("(1s · esc to interrupt)"), "{replayed}");
    std::fs::write(&path, "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}\n[0.1, \"o\"").unwrap();
    let cut = run(&["replay", file]);
    assert_eq!(cut.code, Some(0), "{cut:?}");
    assert_eq!(cut.out, "SECONDS  STATE  LAST  STABLE  TAKES A PROMPT  WHAT\n");
    let mut reads = fleetwatch(&["replay", "-"]);
    let read: Ran = reads.stdin(std::fs::File::open(&path).unwrap()).output().unwrap().into();
    assert!(read.errors.contains("standard input:2: the last line is cut"), "{read:?}");
    assert_eq!(cut.errors, format!("warning: {file}:2: the last line is cut; what comes before it is read\n"));
    let missing = run(&["replay", "/nonexistent/x.cast"]);
    assert!(
        missing.code == Some(2) && missing.errors.starts_with("error: /nonexistent/x.cast: there is no such file\n"),
        "{missing:?}"
    );
    let no_terminal = run(&["-L", "fleetwatch-test-nobody"]);
    assert_eq!(no_terminal.code, Some(2), "{no_terminal:?}");
    assert!(no_terminal.errors.starts_with("error: ") && no_terminal.errors.contains("\nhint: "), "{no_terminal:?}");
    let no_tmux: Ran = fleetwatch(&["demo"]).env("PATH", "/nonexistent").output().unwrap().into();
    assert_eq!(no_tmux.code, Some(1));
    assert!(no_tmux.errors.contains("hint: install tmux 3.2 or newer"), "{no_tmux:?}");
}

#[test]
fn a_history_that_cannot_be_used_is_named_by_every_command_that_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let (config, history) = (folder.path().join("config.toml"), folder.path().join("history.db"));
    std::fs::write(&config, format!("[history]\npath = \"{}\"\n", history.display())).unwrap();
    std::fs::write(&history, "no database at all, but longer than the head of one".repeat(100)).unwrap();
    let options = ["--config", config.to_str().unwrap()];
    let said = format!(
        "error: the history {} cannot be used: it is damaged\nhint: the next `fleetwatch` or `fleetwatch watch` sets it aside \
         and starts a new one\n",
        history.display()
    );
    for command in [&["history"][..], &["history", "--json"], &["history", "--summary"], &["status"]] {
        let ran = run(&[&options[..], command].concat());
        assert_eq!((ran.code, ran.out.as_str(), ran.errors.as_str()), (Some(1), "", said.as_str()), "{command:?}");
    }
    let json = run(&[&options[..], &["status", "--format", "json"]].concat());
    assert!(json.code == Some(1) && json.out.contains("\"watched\":false"), "{json:?}");
    assert!(json.errors.starts_with(&format!("warning: the history {}", history.display())), "{json:?}");

    std::fs::remove_file(&history).unwrap();
    rusqlite::Connection::open(&history).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for command in [&["history"][..], &["status"], &["queue"], &["queue", "resend", "1"]] {
        let ran = run(&[&options[..], command].concat());
        let lines: Vec<&str> = ran.errors.lines().collect();
        let begins =
            format!("error: the history {} cannot be used: it was written by a newer fleetwatch", history.display());
        assert!(ran.code == Some(1) && lines.len() == 2 && lines[0].starts_with(&begins), "{command:?}: {ran:?}");
        assert_eq!(lines[1], "hint: run the newer fleetwatch, or choose another `path` in [history]");
    }
    let doctor = run(&[&options[..], &["doctor"]].concat()).out;
    assert!(
        doctor.contains(&format!("{} cannot be read: it was written by a newer fleetwatch", history.display())),
        "{doctor}"
    );
}

#[test]
fn a_log_tells_what_was_done_and_nothing_of_what_was_said() {
    let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile"]);
    let folder = tempfile::tempdir().unwrap();
    let (config, log) = (folder.path().join("config.toml"), folder.path().join("log"));
    std::fs::write(&config, "[[terminal]]\nsession = \"main\"\nname = \"shell\"\n").unwrap();
    let options = ["-L", tmux.name(), "--config", config.to_str().unwrap(), "--log", log.to_str().unwrap()];
    assert_eq!(run(&[&options[..], &["send", "shell", "a word in confidence"]].concat()).code, Some(1));
    let reported = std::fs::read_to_string(&log).unwrap();
    assert!(reported.contains("polled") && reported.contains("sent a prompt"), "{reported}");
    assert!(!reported.contains("confidence"), "{reported}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&log).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let wrong = run(&["--log", "/nonexistent/log", "list"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.errors.starts_with("error: /nonexistent/log cannot be written: No such file or directory\nhint: "),
        "{wrong:?}"
    );
}
