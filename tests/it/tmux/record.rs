//! Recording a real pane, and reading what was recorded.

use std::path::Path;
use std::sync::Arc;

use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, wait_until};
use fleetwatch::cli::Done;
use fleetwatch::cli::record::{RecordArgs, run};
use fleetwatch::fleet::TerminalKey;
use fleetwatch::profile::{ProfileSet, Program};
use fleetwatch::recording::{EventKind, Frame, Player, Recording, ReplayOptions, Size, replay};
use fleetwatch::state::{AgentFacts, FactName};

/// Records a pane to its end, in a thread of its own.
fn recorder(tmux: &PrivateTmux, key: TerminalKey, output: &Path) -> std::thread::JoinHandle<Done> {
    recorder_of("claude", tmux, key, output)
}

fn recorder_of(
    tool: &'static str,
    tmux: &PrivateTmux,
    key: TerminalKey,
    output: &Path,
) -> std::thread::JoinHandle<Done> {
    let server = tmux.server();
    let args = RecordArgs {
        target: "main".to_owned(),
        output: output.to_owned(),
        force: false,
        tick: 30,
        situation: None,
        whole_records: false,
        no_records: false,
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let program = Program::agent(tool, Some("2.1.197"));
        let profiles = Arc::new(ProfileSet::builtin());
        runtime.block_on(run(&args, &server, &key, &program, Some(profiles)))
    })
}

#[test]
fn a_pane_is_recorded_until_it_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.cast");
    let script = r#"printf '\033]2;a title\007\033[1;31mone\033[0m \342\234\273 \360\237\246\200 end\n'; read x; printf '\033[?1049htwo'; read x"#;
    let tmux = PrivateTmux::start(&["sh", "-c", script]);
    let key = tmux.key_of("main");
    tmux.wait_for_text("main", "one");
    let recording = recorder(&tmux, key, &path);
    let recorded = |what: &str| std::fs::read_to_string(&path).is_ok_and(|text| text.contains(what));
    wait_until("the first frame", || recorded("one"));
    tmux.run(&["send-keys", "-t", "main", "Enter"]);
    wait_until("the second frame", || recorded("two"));
    tmux.run(&["resize-window", "-t", "main", "-x", "70", "-y", "20"]);
    wait_until("the resize", || recorded("70x20"));
    // A reader may come at any time.
    Recording::open(&path).unwrap();
    tmux.run(&["send-keys", "-t", "main", "Enter"]);
    recording.join().unwrap().unwrap();

    let read = Recording::open(&path).unwrap();
    assert_eq!((read.header.tool.as_deref(), read.header.version.as_deref()), (Some("claude"), Some("2.1.197")));
    assert_eq!(read.header.size, Size { columns: 100, rows: 30 });
    assert!(read.events.iter().any(|event| event.kind == EventKind::Process("sh".to_owned())));
    let frames: Vec<Frame> = Player::new(&read).collect();
    let (first, last) = (frames.first().unwrap(), frames.last().unwrap());
    assert_eq!(first.facts.title, "a title");
    let row = first.screen.row(0).unwrap();
    assert_eq!(row.text(), "one ✻ 🦀 end");
    assert!(row.style_at(0).bold && !row.style_at(4).bold);
    assert!(!first.facts.alternate && last.facts.alternate);
    let texts: Vec<&str> = last.screen.rows().iter().map(|row| row.text()).filter(|text| !text.is_empty()).collect();
    assert_eq!((last.screen.columns(), &texts[..]), (70, &["two"][..]));
}

#[test]
fn another_process_in_the_same_pane_is_another_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let tmux = PrivateTmux::start(&["sleep", "1000"]);
    let key = tmux.key_of("main");
    let recording = recorder(&tmux, key, &directory.path().join("a.cast"));
    wait_until("a recording", || Recording::open(&directory.path().join("a.cast")).is_ok_and(|r| !r.events.is_empty()));
    tmux.run(&["respawn-pane", "-k", "-t", "main", "sleep", "1000"]);
    recording.join().unwrap().unwrap();
}

/// What an agent writes about its session is recorded as far as its profile reads it, and the replay reads it.
#[test]
fn an_agent_is_recorded_with_its_record() {
    let directory = tempfile::tempdir().unwrap();
    let (path, agent) = (directory.path().join("a.cast"), directory.path().join("codex"));
    let sessions = directory.path().join(".codex/sessions/2026/11/22");
    std::fs::create_dir_all(&sessions).unwrap();
    // A shell by the agent's name.
    copy_shell("/bin/sh", &agent);
    let script = r#"exec 3>>"$HOME/.codex/sessions/2026/11/22/rollout-1.jsonl"
echo '{"type":"session_meta","payload":{"source":"cli","id":"5-e","base_instructions":"secret"}}' >&3
echo started; read x
echo '{"type":"event_msg","payload":{"type":"task_started","model_context_window":700}}' >&3
echo '{"type":"response_item","payload":{"output":"secret"}}' >&3
echo begun; read x
"#;
    let home = format!("HOME={}", directory.path().display());
    let tmux = PrivateTmux::start(&["env", &home, agent.to_str().unwrap(), "-c", script]);
    let key = tmux.key_of("main");
    tmux.wait_for_text("main", "started");
    let recording = recorder_of("codex", &tmux, key, &path);
    let recorded = |what: &str| std::fs::read_to_string(&path).is_ok_and(|text| text.contains(what));
    wait_until("the record's first line", || recorded("5-e"));
    tmux.run(&["send-keys", "-t", "main", "Enter"]);
    wait_until("the turn's beginning", || recorded("task_started"));
    tmux.run(&["kill-session", "-t", "main"]);
    recording.join().unwrap().unwrap();
    assert!(!recorded("secret"), "{}", std::fs::read_to_string(&path).unwrap());

    let read = Recording::open(&path).unwrap();
    assert!(read.events.iter().any(|event| matches!(&event.kind, EventKind::Record(addition) if addition.is_anew)));
    let said = |with_records: bool| {
        let mut facts = AgentFacts::default();
        let options = ReplayOptions { with_records, ..ReplayOptions::default() };
        replay(&read, Arc::new(ProfileSet::builtin()), &options, |_, state| facts.clone_from(&state.agent));
        (facts.text(FactName::Session).map(str::to_owned), facts.count(FactName::ContextLimit))
    };
    assert_eq!(said(true), (Some("5-e".to_owned()), Some(700)));
    assert_eq!(said(false), (None, None));
}

/// An agent asks leave for a command of sixty rows in a pane of thirty. Its own record has all of it, as long as it is proven.
#[test]
fn a_dialog_that_its_pane_cuts_is_read_in_full_from_the_agents_record() {
    let home = tempfile::tempdir().unwrap();
    let claude = home.path().join(".claude");
    for folder in ["sessions", "projects/pier"] {
        std::fs::create_dir_all(claude.join(folder)).unwrap();
    }
    let agent = home.path().join("claude");
    copy_shell("/bin/sh", &agent);
    let rows: Vec<String> = (1..=60).map(|row| format!("echo row {row} of sixty >> ledger &&")).collect();
    let command = format!("rm -rf pier\n{}", rows.join("\n"));
    let below = "   Write a ledger\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No, and tell Claude what to do\n\n Esc to cancel\n";
    let screen = format!("{}\n Bash command\n\n   {}\n{below}", "─".repeat(99), command.replace('\n', "\n   "));
    std::fs::write(home.path().join("screen"), screen).unwrap();
    let script = r#"start=$(cut -d' ' -f22 /proc/$$/stat)
status='"sessionId":"5-e","status":"waiting","waitingFor":"permission prompt","statusUpdatedAt":1'
echo "{\"pid\":$$,\"procStart\":\"$start\",$status}" > "$HOME/.claude/sessions/$$.json"
cat "$HOME/screen"; read x; clear; echo "taken: $x"; read x"#;
    let line = |id: &str| {
        let input = serde_json::json!({ "command": command, "description": "Write a ledger" });
        let call = serde_json::json!({ "type": "tool_use", "id": id, "name": "Bash", "input": input });
        serde_json::json!({ "type": "assistant", "message": { "content": [call] } }).to_string() + "\n"
    };
    let write = |text: &str| {
        let mut record =
            std::fs::File::options().create(true).append(true).open(claude.join("projects/pier/5-e.jsonl"));
        std::io::Write::write_all(record.as_mut().unwrap(), text.as_bytes()).unwrap();
    };
    write(&line("first"));
    let variable = format!("HOME={}", home.path().display());
    let tmux =
        PrivateTmux::start(&["env", "-u", "CLAUDE_CONFIG_DIR", &variable, agent.to_str().unwrap(), "-c", script]);
    tmux.wait_for_text("main", "Do you want to proceed?");
    let fleetwatch = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for name in ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"] {
            command.env(name, home.path());
        }
        command.args(["-L", tmux.name()]).args(words).env_remove("TMUX").stdin(std::process::Stdio::null());
        command
    };
    let mut watch = fleetwatch(&["watch"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let said = |words: &[&str]| {
        let ran = fleetwatch(words).output().unwrap();
        let (out, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        (ran.status.code(), format!("{out}{errors}"))
    };
    let asked = || said(&["answer", "main"]).1;
    wait_until("the whole command", || asked().contains("in full by the agent's own record"));
    let whole = asked();
    assert!(whole.contains("rm -rf pier") && rows.iter().all(|row| whole.contains(row.as_str())), "{whole}");
    assert!(!whole.contains("its beginning is not on the screen"), "{whole}");
    // Another call with the same end may be the one that it asks for.
    write(&line("second"));
    // A process that finds no owner in time knows nothing of records, and says the same.
    wait_until("nothing to be proven", || (0..3).all(|_| asked().contains("its beginning is not on the screen")));
    assert!(!asked().contains("rm -rf pier"));
    let refused = said(&["answer", "main", "yes"]);
    assert_eq!(refused.0, Some(1), "{refused:?}");
    let ran = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"second"}]}}"#;
    write(&format!("{ran}\n"));
    wait_until("the whole command again", || asked().contains("rm -rf pier"));
    let answered = said(&["answer", "main", "yes"]);
    tmux.wait_for_text("main", "taken:");
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(!answered.1.contains("does not show the whole dialog"), "{answered:?}");
}

/// What changes of the facts alone is a line of `watch --json`, at most each five seconds. The record is found by the agent's
/// directory, which proves nothing: it gives facts that say so, and no state.
#[test]
fn facts_that_change_are_reported_now_and_then() {
    let home = tempfile::tempdir().unwrap();
    let shop = home.path().canonicalize().unwrap().join("shop");
    let slug = shop.to_str().unwrap().replace('/', "-");
    let sessions = home.path().join(format!(".pi/agent/sessions/-{slug}--"));
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::create_dir_all(&shop).unwrap();
    let agent = home.path().join("pi");
    copy_shell("/bin/sh", &agent);
    let variable = format!("HOME={}", home.path().display());
    let words = ["env", "-C", shop.to_str().unwrap(), &variable, agent.to_str().unwrap(), "-c", "echo up; read x"];
    let tmux = PrivateTmux::start(&words);
    tmux.wait_for_text("main", "up");
    let path = sessions.join("1.jsonl");
    let line = |count: usize| {
        let usage = format!(r#"{{"input":{count},"output":1,"cost":{{"total":0.5}}}}"#);
        let message = format!(r#"{{"role":"assistant","stopReason":"stop","model":"m-1","usage":{usage}}}"#);
        format!("{{\"type\":\"message\",\"message\":{message}}}\n")
    };
    let begin = format!("{{\"type\":\"session\",\"id\":\"5-e\",\"cwd\":\"{}\"}}\n", shop.display());
    std::fs::write(&path, begin).unwrap();

    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
    for name in ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"] {
        command.env(name, home.path());
    }
    command.args(["-L", tmux.name(), "watch", "--json"]).env_remove("TMUX").stdin(std::process::Stdio::null());
    let output = home.path().join("lines");
    command.stdout(std::fs::File::create(&output).unwrap()).stderr(std::process::Stdio::null());
    let mut watch = command.spawn().unwrap();
    let lines = || -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(&output).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let reported = |field: &str, value: serde_json::Value| {
        let is_it = |line: &serde_json::Value| {
            let changed = line["changed"].as_array().cloned().unwrap_or_default();
            line["kind"] == "facts" && changed.iter().any(|change| change["field"] == field && change["to"] == value)
        };
        lines().iter().any(is_it)
    };
    wait_until("the terminal", || lines().iter().any(|line| line["kind"] == "state"));
    let mut record = std::fs::File::options().append(true).open(&path).unwrap();
    let mut sum = 0;
    wait_until("what the agent used", || {
        std::io::Write::write_all(&mut record, line(1).as_bytes()).unwrap();
        sum += 1;
        reported("agent.model", "m-1".into())
    });
    wait_until("all that it used", || reported("agent.tokens_in", sum.into()));
    watch.kill().unwrap();
    watch.wait().unwrap();
    let facts: Vec<_> = lines().into_iter().filter(|line| line["kind"] == "facts").collect();
    let at = |line: &serde_json::Value| line["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(facts.windows(2).all(|pair| at(&pair[1]).duration_since(at(&pair[0])).as_secs() >= 5), "{facts:?}");
    let state = &facts.last().unwrap()["state"];
    assert_eq!(state["agent"]["cost_usd"]["source"], "directory");
    assert_eq!(state["last_turn"]["result"], "none", "a record of the directory proves nothing");
}
