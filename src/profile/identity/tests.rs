use super::*;

fn process(pid: u32, parent: u32, words: &[&str]) -> ProcessInfo {
    let name = words[0].rsplit('/').next().unwrap_or_default().to_owned();
    let arguments = words.iter().map(|&word| word.to_owned()).collect();
    let terminal = Some("pts/1".to_owned());
    ProcessInfo { pid, parent, name, arguments, terminal, foreground: true, ..ProcessInfo::default() }
}

fn shell() -> ProcessInfo {
    ProcessInfo { foreground: false, ..process(1, 0, &["-bash"]) }
}

fn suspended(tool: &str) -> Program {
    Program::Suspended { tool: tool.to_owned() }
}

fn other(command: &str) -> Program {
    Program::Other { command: command.to_owned() }
}

/// How every agent with a profile is started: by its own name, and as the script of its interpreter.
fn starts(library: &ProfileSet) -> Vec<(String, Vec<String>)> {
    let mut starts = Vec::new();
    for known in library.tools.iter().filter(|known| known.is_read() && !known.tool.data.processes.is_empty()) {
        let data = &known.tool.data;
        starts.push((known.name().to_owned(), vec![format!("/usr/bin/{}", data.processes[0])]));
        for interpreter in data.interpreters.iter().take(1) {
            let script = format!("/opt/node tools/bin/{}", data.processes[0]);
            starts
                .push((known.name().to_owned(), vec![interpreter.clone(), "--require".into(), "x.js".into(), script]));
        }
    }
    starts
}

#[test]
fn the_data_of_wrappers_is_well_formed() {
    let wrappers: Wrappers = toml::from_str(include_str!("../../../config/wrappers.toml")).unwrap();
    assert_eq!(wrappers.renamed.len(), RENAMED.len());
    let library = ProfileSet::builtin();
    let is_agent = |name: &&String| library.by_rank(None).any(|known| known.is_called(name));
    assert_eq!(wrappers.programs.iter().find(is_agent), None, "no wrapper has the name of an agent");
}

#[test]
fn of_any_two_agents_the_one_nearest_to_the_pane_has_it() {
    let library = ProfileSet::builtin();
    let starts = starts(&library);
    let words = |start: &[String]| start.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
    for (outer, first) in &starts {
        for (_, second) in &starts {
            let (first, second) = (words(first), words(second));
            let (first, second): (Vec<_>, Vec<_>) = (first.lines().collect(), second.lines().collect());
            let agent = process(2, 1, &first);
            // As a tool that an agent runs, as one below that, and with the words of a server.
            let below = [
                vec![process(3, 2, &second)],
                vec![process(3, 2, &["/bin/sh", "-c", "tool"]), process(4, 3, &second)],
                vec![process(3, 2, &[&second[..], &["mcp", "serve"]].concat())],
            ];
            for tools in below {
                let mut tree = vec![shell(), agent.clone()];
                tree.extend(tools);
                let found = library.identify(&agent.name, &tree, None);
                assert_eq!(found, Program::agent(outer, None), "{first:?} with {second:?}");
                let own = library.agent_processes(outer, &tree);
                assert_eq!(own[0], 2, "{first:?} with {second:?}");
                assert!(!own.contains(&4), "its tools are not it: {first:?} with {second:?}");
                // Stopped, it still is what the pane has.
                let stop = |process: &mut ProcessInfo| (process.foreground, process.stopped) = (false, true);
                tree.iter_mut().skip(1).for_each(stop);
                tree[0].foreground = true;
                assert_eq!(library.identify("bash", &tree, None), suspended(outer), "{first:?} with {second:?}");
                // In the background it has no screen.
                tree.iter_mut().skip(1).for_each(|process| process.stopped = false);
                assert_eq!(library.identify("bash", &tree, None), other("bash"), "{first:?} with {second:?}");
            }
        }
    }
}

#[test]
fn an_argument_is_no_agent_and_only_a_script_is() {
    let library = ProfileSet::builtin();
    let found = |words: &[&str]| library.identify("node", &[shell(), process(2, 1, words)], None);
    for known in library.tools.iter().filter(|known| !known.tool.data.interpreters.is_empty()) {
        let name = known.tool.data.processes[0].as_str();
        let path = format!("/home/x/src/{name}");
        for interpreter in &known.tool.data.interpreters {
            for words in [
                &["serve.js", "--provider", name][..],
                &["serve.js", name],
                &["serve.js", "--root", &path],
                &["--require", &path, "serve.js"],
                &["-e", "code", &path],
                &["--watch", "serve.js", &path],
                &["run", "serve.js", &path],
            ] {
                let words = [&[interpreter.as_str()], words].concat();
                assert_eq!(found(&words), other("node"), "{words:?}");
            }
            for words in [&[path.as_str()][..], &["--no-warnings", "--import", "x.mjs", &path, "--continue"]] {
                let words = [&[interpreter.as_str()], words].concat();
                assert_eq!(found(&words), Program::agent(known.name(), None), "{words:?}");
            }
        }
    }
    assert_eq!(found(&["python3", "-m", "aider", "--model", "x"]), Program::agent("aider", None));
}

#[test]
fn a_run_without_a_screen_for_people_is_no_agent() {
    let library = ProfileSet::builtin();
    let found = |words: &[&str]| library.identify(words[0], &[shell(), process(2, 1, words)], None);
    for words in [
        &["claude", "-p", "hello"][..],
        &["claude", "--model", "opus", "--print=x", "hello"],
        &["claude", "hello", "-p"],
        &["claude", "mcp", "serve"],
        &["node", "/usr/bin/claude", "-p"],
        &["codex", "exec", "hello"],
        &["codex", "-m", "gpt-5.5", "exec", "hello"],
        &["codex", "mcp-server"],
        &["gemini", "-p", "hello"],
        &["opencode", "run", "hello"],
        &["droid", "exec", "hello"],
        &["aider", "--message", "hello"],
    ] {
        assert_eq!(found(words), other(words[0]), "{words:?}");
    }
    for words in [
        &["claude", "hello"][..],
        &["claude", "--", "-p"],
        &["claude", "exec"],
        &["claude", "what does -p do?"],
        &["codex", "fix", "exec"],
        &["codex", "resume", "--last"],
        &["opencode", "/src/run"],
    ] {
        assert_eq!(found(words), Program::agent(words[0], None), "{words:?}");
    }
    // What such a run starts are its tools as well.
    let tree = [shell(), process(2, 1, &["claude", "-p", "x"]), process(3, 2, &["codex"])];
    assert_eq!(library.identify("claude", &tree, None), other("claude"));
}

#[test]
fn an_agent_that_was_stopped_is_there_until_another_takes_its_place() {
    let library = ProfileSet::builtin();
    let stopped = ProcessInfo { foreground: false, stopped: true, ..process(2, 1, &["claude"]) };
    let front = ProcessInfo { foreground: true, ..shell() };
    let found = |tree: &[ProcessInfo], pinned| library.identify("bash", tree, pinned);
    for pinned in [None, Some("claude")] {
        assert_eq!(found(&[front.clone(), stopped.clone()], pinned), suspended("claude"));
    }
    assert_eq!(library.agent_processes("claude", &[front.clone(), stopped.clone()]), [2]);
    assert_eq!(found(&[front.clone(), stopped.clone()], Some("codex")), other("bash"));
    let next = process(3, 1, &["codex"]);
    assert_eq!(found(&[shell(), stopped.clone(), next], None), Program::agent("codex", None));
    // The same agent, started once more.
    let again = [shell(), stopped, process(3, 1, &["claude"])];
    assert_eq!(found(&again, None), Program::agent("claude", None));
    assert_eq!(library.agent_processes("claude", &again), [3]);
}

#[test]
fn a_pinned_tool_is_believed_whatever_runs_there_but_a_shell() {
    let library = ProfileSet::builtin();
    let behind = |tool: &str, through: Option<&str>| Program::Agent {
        tool: tool.to_owned(),
        version: None,
        through: through.map(str::to_owned),
    };
    for tool in ["claude", "codex", "goose", "own-agent"] {
        for (words, through) in [
            (&["ssh", "-t", "box", "claude"][..], Some("ssh")),
            (&["/usr/bin/docker", "exec", "-it", "box", "x"], Some("docker")),
            (&["tmux", "attach"], Some("tmux")),
            (&["my-sandbox", "x"], None),
            (&["python3", "wrapper.py"], None),
            (&["bash", "./wrapper.sh"], None),
        ] {
            let tree = [shell(), process(2, 1, words)];
            assert_eq!(library.identify("x", &tree, Some(tool)), behind(tool, through), "{tool} {words:?}");
        }
        for words in [&["-bash"][..], &["zsh", "-i"], &["/bin/fish"]] {
            let name = words[0].trim_start_matches('-');
            assert_eq!(library.identify(name, &[process(1, 0, words)], Some(tool)), other(name), "{tool} {words:?}");
        }
        assert_eq!(library.identify("bash", &[], Some(tool)), other("bash"));
        assert_eq!(library.identify("ssh", &[], Some(tool)), behind(tool, Some("ssh")));
    }
}

#[test]
fn a_wrapper_is_told_apart_from_other_programs_and_an_agent_below_it_from_both() {
    let library = ProfileSet::builtin();
    let found = |tree: &[ProcessInfo]| library.identify("x", tree, None);
    let wrapper = |command: &str| Program::Wrapper { command: command.to_owned() };
    assert_eq!(found(&[shell(), process(2, 1, &["ssh", "box"])]), wrapper("ssh"));
    assert_eq!(
        found(&[shell(), process(2, 1, &["sh", "go.sh"]), process(3, 2, &["podman", "exec"])]),
        wrapper("podman")
    );
    assert_eq!(found(&[shell(), process(2, 1, &["less", "ssh"])]), other("x"));
    let client = ProcessInfo { name: "tmux: client".to_owned(), ..process(2, 1, &["tmux", "attach"]) };
    assert_eq!(found(&[shell(), client]), wrapper("tmux"));
    assert_eq!(library.identify("mosh-client", &[], None), wrapper("mosh-client"));
    let background = ProcessInfo { foreground: false, ..process(2, 1, &["ssh", "-N", "box"]) };
    assert_eq!(found(&[shell(), background]), other("x"));
    let sandboxed = [shell(), process(2, 1, &["bwrap", "claude"]), process(3, 2, &["claude"])];
    assert_eq!(found(&sandboxed), Program::agent("claude", None));
}

#[test]
fn what_packagers_call_an_agent_is_that_agent() {
    let library = ProfileSet::builtin();
    for (name, tool) in [
        (".claude-unwrapped", "claude"),
        (".claude-unwrapp", "claude"),
        (".claude-wrapped", "claude"),
        (".codex-wrapped", "codex"),
        (".gemini-wrapped_", "gemini"),
        (".opencode-wrapp", "opencode"),
        (".kimi-code-wrap", "kimi"),
    ] {
        assert_eq!(library.identify(name, &[], None), Program::agent(tool, None), "{name}");
        let path = format!("/nix/store/x/bin/{name}");
        assert_eq!(library.identify("x", &[shell(), process(2, 1, &[&path])], None), Program::agent(tool, None));
    }
    assert_eq!(library.identify(".vim-wrapped", &[], None), other(".vim-wrapped"));
}
