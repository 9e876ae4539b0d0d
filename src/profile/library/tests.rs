use super::*;

#[test]
fn every_builtin_file_is_accepted() {
    Library::check_builtin().expect("the built-in profiles are well-formed");
    assert_eq!(Library::builtin().tools.len(), BUILTIN.len());
}

fn foreground(name: &str, arguments: &[&str]) -> ProcessInfo {
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    ProcessInfo { name: name.to_owned(), arguments, foreground: true, ..ProcessInfo::default() }
}

#[test]
fn an_agent_without_a_profile_is_named_by_the_configuration_and_read_by_none() {
    let library = Library::builtin();
    let runs = |command: &str, processes: &[ProcessInfo]| library.identify(command, processes, Some("goose"));
    let goose = Program::Agent { tool: "goose".to_owned(), version: None };
    assert_eq!(runs("goose", &[]), goose);
    assert_eq!(runs("node", &[foreground("node", &["/usr/bin/goose", "session"])]), goose);
    assert_eq!(runs("bash", &[foreground("bash", &["-bash"])]), Program::Other { command: "bash".to_owned() });
    let selected = library.select("goose", Some("1.0"), false).expect("one profile stands in for all that are missing");
    assert_eq!((selected.profile.id(), selected.recorded), ("generic/0", false));
    let screen = crate::screen::Screen::from_capture("› hello\n● Hi.\n\n❯ \n".as_bytes(), 40, 8);
    let reading = selected.profile.read(&screen, &crate::screen::PaneFacts::default());
    assert_eq!(reading.phase, crate::state::Phase::Unknown);
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
    let mut library = Library::default();
    let newer = "composer = { placeholders = ['Sing'] }\nturn = { linger_ms = 800, growth = false }";
    library.add("lark.toml", &file("prompt = 'prompt', rows_below = 4", newer)).expect("it is well-formed");
    let profile = library.select("lark", Some("1.0"), false).expect("it was added").profile;
    let temporal = Temporal { linger: crate::moment::Span::from_millis(800), ..Temporal::default() };
    assert_eq!(profile.temporal(), temporal, "what is given takes the place of what the other says");
    let screen = crate::screen::Screen::from_capture("» hello\n> Sing".as_bytes(), 40, 4);
    let reading = profile.read(&screen, &crate::screen::PaneFacts::default());
    assert_eq!((reading.turn.prompts, reading.phase), (1, crate::state::Phase::Ready), "the rest is as there");
    assert_eq!(reading.draft, None, "its own placeholder is no draft");

    let error =
        |older, newer| Library::check("lark.toml", &file(older, newer)).expect_err("a key is missing").to_string();
    assert_eq!(error("prompt = 'prompt'", ""), "lark.toml:9:24: the composer needs `rows_below`");
    assert_eq!(error("rows_below = 4", ""), "lark.toml:9:24: the composer needs `prompt`");
}

#[test]
fn a_version_is_recorded_between_the_oldest_and_the_newest_recording() {
    let library = Library::builtin();
    let of = |version| library.select("claude", version, false).expect("it is built in");
    assert!(of(Some("2.1.197")).recorded && of(Some("2.1.250")).recorded && of(Some("1.0.128")).recorded);
    assert!(!of(Some("2.1.330")).recorded && !of(Some("2.1.20")).recorded && !of(Some("0.2.9")).recorded);
    assert!(!of(None).recorded);
    assert_eq!(of(Some("2.1.20")).profile.id(), "claude_code/2.1");
}
