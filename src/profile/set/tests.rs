use super::*;
use crate::profile::{ProcessInfo, Program, TakenAs};
use crate::screen::{Cursor, PaneFacts, Screen};
use crate::state::{Phase, Tri};

#[test]
fn every_builtin_file_is_accepted() {
    for (file, text) in BUILTIN {
        ProfileSet::check(file, text).unwrap();
    }
    assert_eq!(ProfileSet::builtin().tools().count(), BUILTIN.len());
}

fn foreground(name: &str, arguments: &[&str]) -> ProcessInfo {
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    ProcessInfo { name: name.to_owned(), arguments, foreground: true, ..ProcessInfo::default() }
}

#[test]
fn an_agent_without_a_profile_is_named_by_the_configuration_and_read_by_none() {
    let library = ProfileSet::builtin();
    let runs = |command: &str, processes: &[ProcessInfo]| library.identify(command, processes, Some("goose"));
    let goose = Program::agent("goose", None);
    assert_eq!(runs("goose", &[]), goose);
    assert_eq!(runs("node", &[foreground("node", &["/usr/bin/goose", "session"])]), goose);
    assert_eq!(runs("bash", &[foreground("bash", &["-bash"])]), Program::Other { command: "bash".to_owned() });
    // What nobody knows is whatever runs in place of a shell.
    let named = |command: &str, arguments: &[&str]| {
        library.identify(command, &[foreground(command, arguments)], Some("own-agent"))
    };
    let own = Program::agent("own-agent", None);
    assert_eq!(named("python3", &["python3", "agent.py"]), own);
    assert_eq!(named("bash", &["bash", "./agent.sh"]), own);
    assert_eq!(named("bash", &["-bash"]), Program::Other { command: "bash".to_owned() });
    let selected = library.select("goose", Some("1.0"), false).expect("one profile stands in for all that are missing");
    assert_eq!((selected.profile.id(), selected.recorded), ("generic/0", false));
    let screen = crate::screen::Screen::from_capture("› hello\n● Hi.\n\n❯ \n".as_bytes(), 40, 8);
    let reading = selected.profile.read(&screen, &crate::screen::PaneFacts::default());
    assert_eq!(reading.phase, crate::state::Phase::Unknown);
}

#[test]
fn agents_that_nobody_has_recorded_are_known_by_their_processes() {
    let mut library = ProfileSet::builtin();
    let agent = |tool: &str| Program::agent(tool, None);
    let crush = foreground("crush", &["crush"]);
    assert_eq!(library.identify("crush", std::slice::from_ref(&crush), None), agent("crush"));
    assert_eq!((library.label("crush"), library.label("kimi")), (Some("Crush"), Some("Kimi Code")));
    let script = foreground("node", &["node", "/usr/lib/node_modules/@augmentcode/auggie/index.mjs"]);
    assert_eq!(library.identify("node", &[script], None), agent("auggie"));
    let generic =
        |library: &ProfileSet| library.select("crush", None, false).expect("one stands in").profile.id.clone();
    assert_eq!(generic(&library), "generic/0");
    assert!(library.tools().all(|tool| tool != "crush"), "no profile reads it");
    // An agent with a profile may run a program of that name.
    let qwen = foreground("node", &["node", "/usr/lib/node_modules/@qwen-code/qwen-code/cli.js"]);
    assert_eq!(library.identify("node", &[qwen, foreground("forge", &["forge", "test"])], None), agent("qwen"));
    let own = "tool = { name = 'crush', label = 'My Crush', processes = ['crush'] }\n[[profile]]\nid = 'crush/0'\nmin = '0.0.0'";
    library.add("crush.toml", own).expect("it is well-formed");
    assert_eq!(generic(&library), "crush/0", "a profile of the user's own takes its place");
    assert_eq!(library.identify("crush", &[crush], None), agent("crush"));
}

#[test]
fn an_extending_profile_replaces_composer_and_turn_key_by_key() {
    let file = |older: &str, newer: &str| {
        format!(
            r#"
            tool = {{ name = "lark", label = "Lark" }}
            [[profile]]
            id = "lark/0"
            min = "0.0.0"
            max = "1.0.0"
            rows.prompt = {{ text = '^> (?<draft>.*)$' }}
            rows.sent = {{ text = '^» ' }}
            composer = {{ {older} }}
            turn = {{ prompts = ["sent"], growth = true }}
            [[profile]]
            id = "lark/1"
            extends = "lark/0"
            min = "1.0.0"
            {newer}
            "#
        )
    };
    let mut library = ProfileSet::default();
    let newer = "composer = { placeholders = ['Sing'] }\nturn = { linger_ms = 800, growth = false }";
    library.add("lark.toml", &file("prompt = 'prompt', rows_below = 4", newer)).expect("it is well-formed");
    let profile = library.select("lark", Some("1.0"), false).expect("it was added").profile;
    let temporal = Temporal { linger: crate::time::Span::from_millis(800), ..Temporal::default() };
    assert_eq!(profile.temporal(), temporal, "what is given takes the place of what the other says");
    let screen = crate::screen::Screen::from_capture("» hello\n> Sing".as_bytes(), 40, 4);
    let reading = profile.read(&screen, &crate::screen::PaneFacts::default());
    assert_eq!((reading.turn.prompts, reading.phase), (1, crate::state::Phase::Ready), "the rest is as there");
    assert_eq!(reading.draft, None, "its own placeholder is no draft");

    let error =
        |older, newer| ProfileSet::check("lark.toml", &file(older, newer)).expect_err("a key is missing").to_string();
    assert_eq!(error("prompt = 'prompt'", ""), "lark.toml:9:24: the composer needs `rows_below`");
    assert_eq!(error("rows_below = 4", ""), "lark.toml:9:24: the composer needs `prompt`");
}

#[test]
fn a_version_is_recorded_between_the_oldest_and_the_newest_recording() {
    let library = ProfileSet::builtin();
    let of = |version| library.select("claude", version, false).expect("it is built in");
    assert!(of(Some("2.1.197")).recorded && of(Some("2.1.250")).recorded && of(Some("1.0.128")).recorded);
    assert!(!of(Some("2.2.0")).recorded && !of(Some("2.1.10")).recorded && !of(Some("0.2.9")).recorded);
    assert!(!of(None).recorded);
    assert_eq!(of(Some("2.1.20")).profile.id(), "claude_code/2.1");
}

#[test]
fn what_agents_make_of_texts_is_known() {
    let library = ProfileSet::builtin();
    let taken = |tool: &str, text: &str| library.input(tool).taken(text);
    for (tool, text, wanted) in [
        ("claude", "!touch here", Some("as a shell command")),
        ("claude", "!", Some("as the key that opens its shell mode")),
        ("claude", " !touch here", None),
        ("claude", "/status", Some("as a slash command")),
        ("claude", "/model\nsecond line", Some("as a slash command")),
        ("claude", "/etc/hosts is a file", None),
        ("claude", "see /etc/hosts", None),
        ("claude", "#note", None),
        ("claude", "@README.md", None),
        ("claude", "exit", Some("as a wish to leave")),
        ("claude", "exit the loop early", None),
        ("claude", "all:\n\tmake", Some("with four blanks for each tab")),
        ("claude", "!a\tb", Some("as a shell command and with four blanks for each tab")),
        ("codex", "!touch here", Some("as a shell command")),
        ("codex", "exit", None),
        ("codex", "a\tb", None),
        ("pi", "/unknown x", None),
        ("opencode", "/help", Some("as a slash command, if there is one of that name")),
        ("kilo", "/etc/hosts is a file", None),
        ("kilo", "!touch here", None),
        ("goose", "!touch here", None),
    ] {
        assert_eq!(taken(tool, text).as_deref(), wanted, "{tool}: {text:?}");
    }
    for (text, wanted) in [("/status", TakenAs::Command), ("a\tb", TakenAs::Prompt), ("hello", TakenAs::Prompt)] {
        assert_eq!(library.input("claude").taken_as(text), wanted, "{text:?}");
    }
    assert!(library.ends("claude", ":q") && library.ends("codex", "/quit"));
    assert!(!library.ends("codex", "quit") && !library.ends("claude", "quit smoking"));
}

#[test]
fn a_text_that_enter_would_alter_is_padded() {
    let library = ProfileSet::builtin();
    for (tool, text, wanted) in [
        ("claude", r"C:\src\", r"C:\src\ "),
        ("claude", "one\\\ntwo", "one\\\ntwo"),
        ("claude", "see @README.md", "see @README.md"),
        ("codex", "see @README.md", "see @README.md "),
        ("codex", "@README.md says", "@README.md says"),
        ("codex", "me@example.org", "me@example.org"),
        ("codex", "what is in $", "what is in $ "),
        ("codex", r"C:\src\", r"C:\src\"),
        ("goose", r"C:\src\", r"C:\src\"),
    ] {
        assert_eq!(library.input(tool).padded(text), wanted, "{tool}");
    }
}

#[test]
fn a_text_of_which_nothing_is_said_is_refused() {
    let file = "tool = { name = 'lark', label = 'Lark', input = [{ text = '^!' }] }";
    let error = ProfileSet::check("lark.toml", file).expect_err("nothing becomes of it");
    assert_eq!(error.message, "say what becomes of such a text: `taken` or `pad`");
}

#[test]
fn a_pattern_that_would_keep_a_dashboard_busy_is_refused_with_its_place() {
    let file = |pattern: &str| {
        format!(
            "tool = {{ name = 'lark', label = 'Lark' }}\n[[profile]]\nid = 'lark/0'\nmin = '0.0.0'\n[profile.rows]\nprompt = {{ text = '{pattern}' }}\n"
        )
    };
    let many: Vec<String> = (1..300).map(|n| format!("a{{{n}}}b")).collect();
    let error = ProfileSet::check("lark.toml", &file(&many.join("|"))).expect_err("it is too large").to_string();
    assert!(error.starts_with("lark.toml:6:10: `a{1}b|a{2}b|"), "{error}");
    assert!(
        error.ends_with("…` is too large: a pattern may take 256 KiB when it is compiled; ask for less, or split it"),
        "{error}"
    );
    ProfileSet::check("lark.toml", &file("^> .{0,80}$")).expect("it is small");
}

#[test]
fn a_link_is_known_by_the_executable_behind_it() {
    let library = ProfileSet::builtin();
    let found = |executable: &str| {
        let linked = ProcessInfo { executable: Some(executable.to_owned()), ..foreground("cc", &["cc", "--continue"]) };
        match library.identify("cc", &[foreground("bash", &["bash"]), linked], None) {
            Program::Agent { tool, .. } => tool,
            other => format!("{other:?}"),
        }
    };
    let package = "/usr/lib/node_modules/@anthropic-ai/claude-code";
    assert_eq!(found(&format!("{package}/bin/claude.exe")), "claude");
    assert_eq!(found(&format!("{package}-linux-x64/claude")), "claude");
    assert_eq!(found("/home/carla/.local/share/claude/versions/2.1.330"), "claude");
    let codex = "/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex/codex";
    assert_eq!(found(codex), "codex");
    // What a package brings along is not the agent.
    for other in [&format!("{package}/vendor/ripgrep/x64-linux/rg"), "/usr/bin/gcc-12", "/home/claude/versions/tool"] {
        assert!(found(other).starts_with("Other"), "{other}");
    }
}

#[test]
fn own_words_to_a_question_have_their_place_in_the_dialogs_of_agents() {
    use crate::dialog::{Press, TextEntry};
    use crate::screen::{Cursor, PaneFacts, Screen};
    let library = ProfileSet::builtin();
    let read = |tool: &str, version: &str, screen: &str, facts: PaneFacts| {
        let selected = library.select(tool, Some(version), false).expect("a profile");
        selected.profile.read(&Screen::from_capture(screen.as_bytes(), 110, 24), &facts)
    };
    let hidden = || PaneFacts { cursor: Cursor { visible: false, ..Cursor::default() }, ..PaneFacts::default() };
    let shown = || PaneFacts { cursor: Cursor { visible: true, ..Cursor::default() }, ..PaneFacts::default() };
    let question = "  Question 1/1 (1 unanswered)\n  Which layout?\n\n    1. Row    One column.\n    2. Table  More work.\n  \
                    \x1b[1;7m› 3. None of the above  Optionally, add details in notes (tab)\x1b[0m\n\n";
    let codex = |below: &str, facts| read("codex", "0.169.0", &format!("{question}{below}"), facts);
    let closed = codex("  tab to add notes | enter to submit answer | esc to interrupt", hidden());
    let dialog = closed.dialog.expect("a dialog");
    assert_eq!((dialog.options[2].takes_text, dialog.note), (Some(TextEntry::Note(Press::Tab)), None));
    assert_eq!(closed.headline.as_deref(), Some("Which layout?"), "whichever option is marked");
    for (line, note) in
        [("\x1b[2mAdd notes\x1b[0m", ""), ("1. Both; the one\n    for phones", "1. Both; the one for phones")]
    {
        let open =
            codex(&format!("  \x1b[1m›\x1b[0m {line}\n\n  tab or esc to clear notes | enter to submit"), shown());
        let dialog = open.dialog.expect("a dialog");
        assert_eq!((dialog.note.as_deref(), dialog.marked, dialog.options.len()), (Some(note), Some(2), 3));
    }
    let gemini = "╭──────────────────────────────╮\n│ Answer Questions             │\n│                              │\n\
                  │ Which port?                  │\n│                              │\n│ ● 1.  8080                   │\n\
                  │   2.  9090                   │\n│   3.  Enter a custom value   │\n│                              │\n\
                  │ Enter to select · Esc to cancel │\n╰──────────────────────────────╯";
    let facts = PaneFacts { title: "✋  Action Required (shop-api)".to_owned(), ..hidden() };
    let dialog = read("gemini", "0.61.0", gemini, facts).dialog.expect("a dialog");
    assert_eq!((dialog.options[2].takes_text, dialog.is_whole()), (Some(TextEntry::Inline), true), "{dialog:?}");
}

#[test]
fn a_prompt_in_the_last_row_of_a_low_pane_is_one_where_the_cursor_is() {
    let profiles = ProfileSet::builtin();
    let profile = profiles.select("claude", Some("2.1.332"), false).expect("it is built in").profile;
    let text = format!("● A shop.\n\n✻ Baked for 3s\n\n{}\n❯\u{a0}", "─".repeat(40));
    let screen = Screen::from_capture(text.as_bytes(), 40, 6);
    let at = |row| PaneFacts { cursor: Cursor { row, ..Cursor::default() }, ..PaneFacts::default() };
    let (there, elsewhere) = (profile.read(&screen, &at(5)), profile.read(&screen, &at(0)));
    assert_eq!((there.phase, there.surface.ready_posture), (Phase::Ready, Tri::Yes));
    assert_eq!(elsewhere.phase, Phase::Unknown);
}
