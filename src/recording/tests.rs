use std::path::Path;

use super::*;

const V3: &str =
    r#"{"version": 3, "term": {"cols": 20, "rows": 3}, "command": "claude", "tags": ["claude", "2.1.197", "idle"]}"#;
const V2: &str =
    r#"{"version": 2, "width": 20, "height": 3, "timestamp": 1700000000, "command": "/usr/bin/codex --yolo"}"#;

fn parse(lines: &[&str]) -> Result<Recording, RecordingError> {
    Recording::parse("some/a.cast", lines.join("\n").as_bytes())
}

fn times(recording: &Recording) -> Vec<u64> {
    recording.events.iter().map(|event| event.at.as_millis()).collect()
}

#[test]
fn version_3_counts_from_the_event_before() {
    let read =
        parse(&[V3, "# a comment", "", r#"[0.5, "o", "a"]"#, r#"[0.25, "z", {"later": 1}]"#, r#"[1, "i", "b"]"#])
            .unwrap();
    assert_eq!(read.name, "a");
    assert_eq!(times(&read), [500, 1750]);
    assert_eq!(read.events[1].line, 6);
    let Header { tool, version, situation, size, began } = read.header;
    assert_eq!(
        (tool.as_deref(), version.as_deref(), situation.as_deref()),
        (Some("claude"), Some("2.1.197"), Some("idle"))
    );
    assert_eq!((size, began), (Size { columns: 20, rows: 3 }, None));
}

#[test]
fn version_2_counts_from_the_start() {
    let read = parse(&[V2, r#"[0.5, "o", "a"]"#, r#"[0.75, "r", "80x24"]"#]).unwrap();
    assert_eq!(times(&read), [500, 750]);
    assert_eq!(read.events[1].kind, EventKind::Resize(Size { columns: 80, rows: 24 }));
    assert_eq!(read.header.tool.as_deref(), Some("codex"));
    assert_eq!(read.header.version, None);
    assert_eq!(read.header.began, Some(Timestamp::from_millis(1_700_000_000_000)));
}

#[test]
fn a_wrong_line_is_refused_with_its_number() {
    let cases: &[(&[&str], &str)] = &[
        (&[""], "1: the header is missing"),
        (&["[0, \"o\", \"a\"]"], "1: this is not an asciicast header"),
        (&["{\"version\": 3, "], "1: the header is broken JSON"),
        (&["{\"version\": 1, \"width\": 8, \"height\": 2, \"stdout\": []}"], "1: asciicast version 1 is not supported"),
        (&["{\"version\": 3, \"width\": 8, \"height\": 2}"], "1: the header has no `term`"),
        (&["{\"version\": 2, \"width\": 8}"], "1: the header has no `width` and `height`"),
        (&["{\"version\": 3, \"term\": {\"cols\": 0, \"rows\": 3}}"], "1: a terminal of 0x3 is not supported"),
        (
            &["{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 65535}}"],
            "1: a terminal of 80x65535 is not supported",
        ),
        (&["{\"version\": 3, \"term\": {\"cols\": -1, \"rows\": 3}}"], "1: this is not an asciicast header"),
        (&[V3, "[0.1, \"o\", \"a\"", "[0.1, \"o\", \"b\"]"], "2: broken JSON"),
        (&[V3, "[0.1, \"o\", \"a\"]", "nonsense"], "3: broken JSON"),
        (&[V3, "{\"a\": 1}"], "2: an event must be [time, code, data]"),
        (&[V3, "[\"soon\", \"o\", \"a\"]"], "2: an event must be [time, code, data]"),
        (&[V3, "[0.1, \"o\"]"], "2: an event must be [time, code, data]"),
        (&[V3, "[0.1, \"o\", 7]"], "2: the data of an `o` event must be a string"),
        (&[V3, "", "[-0.1, \"o\", \"a\"]"], "3: negative time -0.1"),
        (&[V3, "[1e300, \"o\", \"a\"]"], "2: time 1"),
        (&[V2, "[2, \"o\", \"a\"]", "[1, \"o\", \"a\"]"], "3: time runs backwards, from 2 to 1"),
        (&[V3, "[0, \"r\", \"80\"]"], "2: a resize must be COLUMNSxROWS"),
        (&[V3, "[0, \"r\", \"80x2001\"]"], "2: a terminal of 80x2001 is not supported"),
        (&[V3, "[0, \"x\", \"ok\"]"], "2: exit status \"ok\" is not a number"),
    ];
    for (lines, expected) in cases {
        let error = parse(lines).expect_err(expected).to_string();
        assert!(error.starts_with(&format!("some/a.cast:{expected}")), "{error}\nwanted {expected}");
    }
}

#[test]
fn a_last_line_that_is_cut_takes_nothing_from_those_before_it() {
    let whole = format!("{V3}\n[0.1, \"o\", \"a\"]\n[0.25, \"o\", \"\u{1f600}\"]").into_bytes();
    let last = whole.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for end in last..=whole.len() {
        let read = Recording::parse("a", &whole[..end]).unwrap();
        let is_cut = end > last && end < whole.len();
        assert_eq!((read.events.len(), read.cut.is_some()), (1 + usize::from(end == whole.len()), is_cut), "{end}");
    }
    let said = Recording::parse("a", &whole[..last + 4]).unwrap().cut.unwrap().to_string();
    assert_eq!(said, "a:3: the last line is cut; what comes before it is read");
}

#[test]
fn a_line_that_is_not_utf_8_is_refused() {
    let mut bytes = V3.as_bytes().to_vec();
    bytes.extend_from_slice(b"\n[0, \"o\", \"\xff\"]\n");
    assert_eq!(Recording::parse("b", &bytes).unwrap_err().to_string(), "b:2: the line is not UTF-8");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Recording::open(Path::new("no/such.cast")).unwrap_err().to_string();
    assert!(error.starts_with("no/such.cast: "), "{error}");
}

#[test]
fn frames_are_what_can_be_seen_from_outside() {
    let read = parse(&[
        V3,
        r#"[0, "m", "truth {\"phase\": \"ready\"}"]"#,
        r#"[0, "m", "process bash"]"#,
        r#"[0, "o", "\u001b]2;a\u0085b\u0007\u001b[1;1Hone\u001b[?25l"]"#,
        r#"[0.5, "i", "secret"]"#,
        r#"[0.5, "o", "\u001b[1;1Hone\u001b[2;4H\u001b[?25h\u0007"]"#,
        r#"[1, "m", "process claude"]"#,
        r#"[1, "r", "30x4"]"#,
        r#"[0, "o", "\u001b[4;1Hfour"]"#,
        r#"[1, "x", "3"]"#,
    ])
    .unwrap();
    let frames: Vec<Frame> = Player::new(&read).collect();
    assert_eq!(frames.iter().map(|f| f.at.as_millis()).collect::<Vec<_>>(), [0, 1000, 2000, 3000, 4000]);
    let [first, bell, process, resized, dead] = &frames[..] else { panic!("five frames") };
    assert_eq!((first.facts.title.as_str(), first.facts.command.as_str()), ("ab", "bash"));
    assert!(!first.facts.cursor.visible && !first.facts.bell && first.printed);
    assert_eq!(first.screen.row(0).unwrap().text(), "one");
    assert_eq!(bell.facts.cursor, crate::screen::Cursor { column: 3, row: 1, visible: true });
    assert!(bell.facts.bell && bell.printed);
    assert!(std::sync::Arc::ptr_eq(&first.screen, &bell.screen), "the same screen is not copied again");
    assert_eq!(process.facts.command, "claude");
    assert!(!process.printed);
    assert_eq!((resized.screen.columns(), resized.screen.rows().len()), (30, 4));
    assert_eq!(resized.screen.row(3).unwrap().text(), "four");
    assert_eq!((dead.facts.dead, dead.facts.exit_status), (true, Some(3)));
}

/// The emulator would panic over these, and take two columns where tmux takes one.
#[test]
fn an_emoji_selector_changes_no_column() {
    let narrow = r#"{"version": 2, "width": 2, "height": 2}"#;
    let read = parse(&[narrow, r#"[0, "r", "1x2"]"#, r#"[1, "o", "0\ufe0f"]"#]).unwrap();
    assert_eq!(Player::new(&read).count(), 2);
    let read = parse(&[V2, r#"[0, "o", "a\u2733\ufe0fb"]"#]).unwrap();
    let frame = Player::new(&read).next().unwrap();
    assert_eq!((frame.screen.row(0).unwrap().text(), frame.facts.cursor.column), ("a\u{2733}b", 3));
}

#[test]
fn the_agent_runs_while_the_process_marker_names_it_or_its_interpreter() {
    use crate::profile::{ProfileSet, Program};
    let profiles = ProfileSet::builtin();
    let agent = |tool: &str| Program::agent(tool, Some("1"));
    let other = |command: &str| Program::Other { command: command.to_owned() };
    for command in [Some("pi"), Some("node"), Some("bun"), Some("python3"), Some("python3.12"), None] {
        assert_eq!(program(&profiles, Some("pi"), Some("1"), command), agent("pi"), "{command:?}");
    }
    for command in ["bash", "env", "vim", "nodemon", "pythonista", "claude"] {
        assert_eq!(program(&profiles, Some("pi"), Some("1"), Some(command)), other(command));
    }
    assert_eq!(
        program(&profiles, Some("kimi"), Some("1"), Some("kimi-code")),
        agent("kimi"),
        "a process of the profile"
    );
    assert_eq!(program(&profiles, Some("shell"), None, Some("python3")), other("python3"));
    assert_eq!(program(&profiles, None, None, Some("make")), other("make"));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    /// Output that is likely to reach the corners of an emulator.
    fn output() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\x1b[".to_owned()),
            Just("\x1b]2;".to_owned()),
            Just("\x1b]52;c;aGk=\x07".to_owned()),
            Just("\x1b[?1049h".to_owned()),
            Just("\x1b[?1049l".to_owned()),
            Just("\x1bc\x1b7\x1b8\x1bM\x1bD".to_owned()),
            "\x1b\\[[0-9]{0,5}(;[0-9]{0,6}){0,4}[@-~]",
            "\x1b\\[\\?[0-9]{1,5}[hl]",
            "\\PC{0,12}",
            "[\u{0}-\u{1f}\u{7f}-\u{9f}]{1,4}",
            "[世界🦀👩‍🚀e#0\u{301}\u{202e}\u{200b}\u{fe0f}]{1,6}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    fn event() -> impl Strategy<Value = EventKind> {
        let side = prop_oneof![1..12u16, Just(300u16)];
        let small = 1..9u16;
        prop_oneof![
            8 => output().prop_map(EventKind::Output),
            1 => (side, small).prop_map(|(columns, rows)| EventKind::Resize(Size { columns, rows })),
        ]
    }

    proptest! {
        #[test]
        fn no_output_breaks_the_player_or_leaves_a_control_character(
            columns in 1..12u16, rows in 1..5u16, kinds in prop::collection::vec(event(), 0..12)
        ) {
            let header =
                Header { tool: None, version: None, situation: None, size: Size { columns, rows }, began: None };
            let events = kinds.into_iter().enumerate();
            let events = events.map(|(n, kind)| RecordedEvent { at: Span::from_millis(n as u64), line: n, kind }).collect();
            let recording = Recording { name: "hostile".to_owned(), header, events, cut: None };
            for frame in Player::new(&recording) {
                prop_assert!(!frame.facts.title.chars().any(char::is_control));
                for row in frame.screen.rows() {
                    prop_assert!(row.text().chars().all(crate::screen::is_harmless));
                }
            }
        }

        #[test]
        fn no_bytes_break_the_reader(lines in prop::collection::vec(".{0,40}", 0..6), json in ".{0,60}") {
            for head in [V3, V2, "{}", ""] {
                let text = format!("{head}\n{}\n[0.1, \"o\", {json}]", lines.join("\n"));
                let _ = Recording::parse("hostile", text.as_bytes());
            }
        }
    }
}
