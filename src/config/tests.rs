use std::ffi::OsString;
use std::path::Path;

use super::*;
use crate::fleet::{Declared, PaneId, PaneLocation, Socket};
use crate::ids::place;
use crate::notify::Means;
use crate::time::Span;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("test.toml"))
}

/// The first two lines of each file say how it is refused: `# error: LINE:COLUMN: what` and `# hint: what to do`.
#[test]
fn a_broken_file_is_refused_with_place_and_remedy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid_configs");
    let mut refused = 0;
    for path in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = Path::new(path.file_name().unwrap());
        let error = Config::parse(&text, name).expect_err(&format!("{} must be refused", name.display()));
        let said = format!("# error: {error}\n# hint: {}\n", error.hint);
        let said = said.replace(&format!("{}:", name.display()), "");
        let wanted: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
        assert_eq!(said, wanted, "{}", name.display());
        refused += 1;
    }
    assert!(refused >= 60, "{refused} files are there");
}

#[test]
fn the_shipped_file_says_what_the_program_does_without_one() {
    assert_eq!(parse(DEFAULT_TEXT).unwrap(), Config::default());
    assert_eq!(parse("").unwrap(), Config::default());
}

#[test]
fn the_bell_rings_unless_it_is_off_or_a_rule_says_what_is_reported() {
    let means =
        |text: &str| -> Vec<Means> { parse(text).unwrap().notices().into_iter().flat_map(|rule| rule.by).collect() };
    let rule = |by: &str| format!("[[notify]]\non = [\"failed\"]\nby = [\"{by}\"]\n");
    assert_eq!(means(""), [Means::Bell]);
    assert_eq!(means("[ui]\nbell = true\n"), [Means::Bell]);
    assert_eq!(means("[ui]\nbell = false\n"), []);
    // A rule of one's own takes the place of the bell, whatever it is about.
    assert_eq!(means(&rule("osc9")), [Means::Osc9]);
    assert_eq!(means(&format!("[ui]\nbell = true\n{}", rule("osc9"))), [Means::Osc9]);
}

#[test]
fn a_setting_that_left_is_a_warning_and_the_rest_holds() {
    let text = "[serve]\npush_services = [\"a.example\"]\nprivate_networks = [\"10.9.0.0/24\"]\n\
                [[notify]]\non = [\"failed\"]\nby = [\"push\", \"bell\"]\n\
                [[notify]]\non = [\"gone\"]\nby = [\"push\"]\n\
                [[notify]]\non = [\"exited\"]\nby = [\"push\"]\ncommand = [\"say\"]\n";
    let config = parse(text).unwrap();
    let warnings: Vec<String> = config.left.iter().map(ToString::to_string).collect();
    let wanted = ["2:1: `push_services`", "6:7: `push`", "9:7: `push`", "12:7: `push`"];
    assert_eq!(warnings, wanted.map(|place| format!("test.toml:{place} is no setting any more")));
    assert!(config.left.iter().all(|left| left.hint.contains("webhook")));
    let kept: Vec<(usize, Means)> =
        config.notify.iter().map(|rule| (rule.on.len(), *rule.by.first().unwrap())).collect();
    assert_eq!(kept, [(1, Means::Bell), (1, Means::Command)], "a rule that announced by push alone is none");
    assert_eq!(config.private_networks, ["10.9.0.0/24".parse().unwrap()]);
    // A fault beside it stands where it stood.
    let error = parse(&text.replace("\"exited\"", "\"exitd\"")).unwrap_err();
    assert!(error.to_string().starts_with("test.toml:11:7: "), "{error}");
    assert!(parse("[serve]\npush_service = []\n").is_err(), "it was never one");
}

/// After a change of the tables, `FLEETWATCH_WRITE_SCHEMA=1 cargo test --lib schema` writes it.
#[test]
fn the_shipped_schema_is_that_of_the_tables() {
    let schema = format!("{:#}\n", schemars::schema_for!(file::ConfigFile).to_value());
    if std::env::var_os("FLEETWATCH_WRITE_SCHEMA").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/fleetwatch.schema.json");
        std::fs::write(path, &schema).unwrap();
    } else {
        assert!(schema == SCHEMA, "config/fleetwatch.schema.json is old; FLEETWATCH_WRITE_SCHEMA=1 writes it");
    }
}

/// A key that the file could set and the shipped file does not show would be a secret.
#[test]
fn the_shipped_file_shows_every_key() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let mut tables = vec![("", &schema["properties"])];
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        // The words of a value have no keys.
        tables.extend(definition.get("properties").map(|properties| (name.as_str(), properties)));
    }
    for (table, properties) in tables {
        for key in properties.as_object().unwrap().keys() {
            let shown = DEFAULT_TEXT
                .lines()
                .map(|line| line.trim_start_matches(['#', ' ', '[']))
                .any(|line| line.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with([' ', '=', ']'])));
            assert!(shown, "`{key}` of `{table}` is missing in config/fleetwatch.toml");
        }
    }
}

#[test]
fn the_commented_examples_of_the_shipped_file_are_right() {
    let mut text = String::new();
    let mut in_example = false;
    for line in DEFAULT_TEXT.lines() {
        let bare = line.trim_start_matches(['#', ' ']);
        in_example = line.starts_with('#') && (bare.starts_with("[[") || in_example && bare.contains(" = "));
        if in_example {
            text += &format!("{bare}\n");
        }
    }
    let config = parse(&text).unwrap();
    assert!(!config.servers.is_empty() && !config.rules.terminals.is_empty(), "no example found in:\n{text}");
}

#[test]
fn a_file_that_is_not_there_or_not_text_is_an_error_without_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.toml");
    let error = Config::load(&missing).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: there is no such file", missing.display()));
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(
        Config::load(&binary).unwrap_err().to_string(),
        format!("{}: the file is not UTF-8 text", binary.display())
    );
}

#[test]
fn the_search_path_asks_the_nearest_voice_first() {
    let environment = |names: &'static [(&'static str, &'static str)]| {
        move |name: &str| names.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(*value))
    };
    let paths = |search: SearchPath| {
        search.candidates().iter().map(|found| (found.origin, found.path.display().to_string())).collect::<Vec<_>>()
    };
    let platform = Some(Path::new("/home/user/.config/fleetwatch"));
    let all = environment(&[("FLEETWATCH_CONFIG", "/env.toml"), ("XDG_CONFIG_HOME", "/xdg")]);
    let xdg = environment(&[("FLEETWATCH_CONFIG", ""), ("XDG_CONFIG_HOME", "/xdg")]);
    assert_eq!(
        paths(SearchPath::new(Some(Path::new("option.toml")), all, platform)),
        [(Origin::CommandLine, "option.toml".into())]
    );
    assert_eq!(paths(SearchPath::new(None, all, platform)), [(Origin::Environment, "/env.toml".into())]);
    assert_eq!(
        paths(SearchPath::new(None, xdg, platform)),
        [
            (Origin::XdgConfigHome, "/xdg/fleetwatch/config.toml".into()),
            (Origin::Platform, "/home/user/.config/fleetwatch/config.toml".into()),
        ]
    );
    assert_eq!(
        paths(SearchPath::new(None, environment(&[("XDG_CONFIG_HOME", "relative")]), platform)),
        [(Origin::Platform, "/home/user/.config/fleetwatch/config.toml".into())]
    );
}

#[test]
fn a_file_is_needed_only_where_it_was_asked_for() {
    let nowhere = Path::new("/nonexistent/fleetwatch");
    assert_eq!(Loaded::find(&SearchPath::new(None, |_| None, Some(nowhere))).unwrap(), Loaded::default());
    assert!(Loaded::find(&SearchPath::new(Some(nowhere), |_| None, None)).is_err());
    assert!(
        Loaded::find(&SearchPath::new(None, |name| (name == "FLEETWATCH_CONFIG").then(|| nowhere.into()), None))
            .is_err()
    );
}

fn decide(config: &Config, server: &ServerId, place: &PaneLocation, pane: u32) -> Match {
    config.rules.of_pane(PaneAddress { server, place, pane: PaneId(pane) })
}

#[test]
fn the_first_terminal_that_matches_holds_and_ignoring_wins() {
    let config = parse(
        r#"
        [watch]
        ignore = ["shop:logs", "%99", "scratch*", "work:3.1"]
        [[terminal]]
        session = "shop"
        window = "api*"
        name = "shop-api"
        tool = "claude"
        [[terminal]]
        session = "shop"
        version = "1.0"
        [[terminal]]
        pane = "%7"
        host = "box-?"
        tool = "codex"
        "#,
    )
    .unwrap();
    let local = ServerId::default();
    let remote = ServerId { host: Some("box-2".into()), socket: Socket::Name("work".into()) };
    let named = |name: Option<&str>, tool: Option<&str>, version: Option<&str>| {
        Match::Named(Declared {
            name: name.map(Into::into),
            tool: tool.map(Into::into),
            version: version.map(Into::into),
            ..Declared::default()
        })
    };
    assert_eq!(
        decide(&config, &local, &place("shop", 1, "api-2", 0), 1),
        Match::Named(Declared {
            name: Some("shop-api".into()),
            tool: Some("claude".into()),
            by_window_name: true,
            ..Declared::default()
        })
    );
    assert_eq!(decide(&config, &local, &place("shop", 2, "web", 0), 2), named(None, None, Some("1.0")));
    assert_eq!(decide(&config, &local, &place("shop", 3, "logs", 0), 3), Match::Ignored);
    assert_eq!(decide(&config, &local, &place("shop", 1, "api", 0), 99), Match::Ignored);
    assert_eq!(decide(&config, &local, &place("scratch/pad", 0, "x", 0), 4), Match::Ignored);
    assert_eq!(decide(&config, &local, &place("work", 3, "x", 1), 5), Match::Ignored);
    assert_eq!(decide(&config, &local, &place("work", 3, "x", 0), 7), Match::Discovered(Declared::default()));
    assert_eq!(decide(&config, &remote, &place("work", 3, "x", 0), 7), named(None, Some("codex"), None));
    // Another session shows it, or the ignored one shows another's.
    let linked = |session: &str, index, links: &[(&str, u32)]| PaneLocation {
        links: links.iter().map(|(session, index)| ((*session).to_owned(), *index)).collect(),
        ..place(session, index, "logs", 1)
    };
    let decided = |place| decide(&config, &local, &place, 8);
    assert_eq!(decided(linked("all", 6, &[("other", 1), ("shop", 2)])), Match::Ignored);
    assert_eq!(decided(linked("scratch", 0, &[("all", 6)])), Match::Ignored);
    assert_eq!(decided(linked("all", 6, &[("work", 3)])), Match::Ignored);
    assert_eq!(decided(linked("all", 6, &[("work", 2)])), Match::Discovered(Declared::default()));
}

#[test]
fn without_discovery_only_named_panes_are_watched() {
    let config = parse("[watch]\ndiscover = false\n[[terminal]]\nsession = \"a\"\n").unwrap();
    let local = ServerId::default();
    assert_eq!(decide(&config, &local, &place("a", 0, "x", 0), 1), Match::Named(Declared::default()));
    assert_eq!(decide(&config, &local, &place("b", 0, "x", 0), 2), Match::Ignored);
}

#[test]
fn how_panes_are_shown_makes_none_watched() {
    let config = parse(
        "[watch]\ndiscover = false\n[[terminal]]\nsession = \"shop*\"\nlabel = \"shop\"\nmute = false\n\
         [[terminal]]\nsession = \"*\"\nlabel = \"rest\"\nmute = true\npin = true\n\
         [[terminal]]\nsession = \"shop-1\"\nname = \"one\"\n",
    )
    .unwrap();
    let local = ServerId::default();
    assert_eq!(decide(&config, &local, &place("shop-2", 0, "x", 0), 2), Match::Ignored);
    let named = Declared { name: Some("one".into()), label: Some("shop".into()), pinned: true, ..Declared::default() };
    assert_eq!(decide(&config, &local, &place("shop-1", 0, "x", 0), 1), Match::Named(named));
    let discovering = parse("[[terminal]]\nsession = \"a\"\nmute = true\n").unwrap();
    let muted = Declared { muted: true, ..Declared::default() };
    assert_eq!(decide(&discovering, &local, &place("a", 0, "x", 0), 1), Match::Discovered(muted));
}

#[test]
fn a_directory_with_all_below_it_is_excepted_itself_as_well() {
    let records = parse("[records]\nexcept_directories = [\"/work/secret/**\"]\n").unwrap().records;
    for (directory, allowed) in
        [("/work/secret", false), ("/work/secret/a/b", false), ("/work/secrets", true), ("/work", true)]
    {
        assert_eq!(records.allow("codex", Some(directory)), allowed, "{directory}");
    }
}

#[test]
fn servers_are_sockets_by_name_or_path_on_a_host() {
    let config = parse(
        "[[server]]\nsocket = \"work\"\n[[server]]\npath = \"/run/t\"\n[[server]]\nhost = \"me@box\"\n\
         [[server]]\nsocket = \"default\"\n",
    )
    .unwrap();
    let server = |host: Option<&str>, socket| ServerId { host: host.map(Into::into), socket };
    assert_eq!(
        config.servers,
        [
            server(None, Socket::Name("work".into())),
            server(None, Socket::at("/run/t")),
            server(Some("me@box"), Socket::Default),
            server(None, Socket::Default),
        ]
    );
}

#[test]
fn a_star_is_every_server_beside_those_that_are_named() {
    let config = parse("[[server]]\nsocket = \"*\"\n[[server]]\nhost = \"box\"\n").unwrap();
    let remote = ServerId { host: Some("box".into()), socket: Socket::Default };
    assert!(config.every_server && config.servers == [remote]);
    assert!(!parse("[[server]]\nsocket = \"work\"\n").unwrap().every_server);
}

#[test]
fn several_hosts_are_named_in_a_list() {
    let names = |text: &str| -> Vec<String> {
        let config = parse(text).unwrap();
        assert!(config.servers.iter().all(|server| server.socket == Socket::Name("w".into())));
        config.servers.iter().map(|server| server.host.as_deref().unwrap_or_default().to_owned()).collect()
    };
    let list = "[[server]]\nhosts = [\"box-1\", \"box-2\", \"fd00::7\", \"[fe80::1]\", \"box-1\"]\nsocket = \"w\"\n";
    assert_eq!(names(list), ["box-1", "box-2", "fd00::7", "[fe80::1]"]);
}

#[test]
fn a_file_of_hosts_is_a_warning_and_its_table_means_no_other_server() {
    let config = parse(
        "[[server]]\nhosts_file = \"/etc/gpus\"\nsocket = \"w\"\n\
         [[server]]\nhosts = [\"box-1\"]\nhosts_file = \"/etc/gpus\"\n",
    )
    .unwrap();
    let warnings: Vec<String> = config.left.iter().map(ToString::to_string).collect();
    let wanted = ["2:1", "6:1"].map(|place| format!("test.toml:{place}: `hosts_file` is no setting any more"));
    assert_eq!(warnings, wanted);
    assert!(config.left.iter().all(|left| left.hint == "write the names of the hosts in `hosts`"));
    assert_eq!(config.servers, [ServerId { host: Some("box-1".into()), socket: Socket::Default }]);
}

#[test]
fn seconds_are_taken_with_and_without_a_fraction() {
    let config = parse("[tracker]\ncompletion_stability_seconds = 2\nretraction_seconds = 0.25\n").unwrap();
    assert_eq!(config.tracker.settle, Span::from_secs(2));
    assert_eq!(config.tracker.retraction, Span::from_millis(250));
}
