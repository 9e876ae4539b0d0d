use super::*;
use crate::recording::{Archive, EventKind, Player, Recording};
use crate::screen::Cursor;
use crate::time::Timestamp;

fn header() -> Header {
    Header {
        tool: Some("claude".to_owned()),
        version: Some("2.1.197".to_owned()),
        situation: None,
        size: Size { columns: 20, rows: 2 },
        began: Some(Timestamp::from_millis(1_700_000_000_500)),
    }
}

fn text_of(write: impl FnOnce(&mut RecordingWriter<&mut Vec<u8>>)) -> String {
    let mut bytes = Vec::new();
    write(&mut RecordingWriter::new(&mut bytes, &header()).unwrap());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn only_what_changed_is_written() {
    let facts = PaneFacts { command: "node".to_owned(), title: "t\u{1b}]".to_owned(), ..PaneFacts::default() };
    let text = text_of(|writer| {
        let at = Span::from_millis;
        writer.frame(at(0), &facts, &Screen::from_text("one\ntwo", 20)).unwrap();
        writer.frame(at(1500), &facts, &Screen::from_text("one\ntwo", 20)).unwrap();
        let cursor = Cursor { column: 4, row: 1, visible: true };
        let facts = PaneFacts { cursor, dead: true, exit_status: Some(3), ..facts.clone() };
        writer.frame(at(1750), &facts, &Screen::from_text("one\n2", 20)).unwrap();
    });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"version":3,"term":{"cols":20,"rows":2,"type":"tmux-256color"},"command":"claude","tags":["claude","2.1.197"],"timestamp":1700000000}"#,
            r#"[0.0,"m","process node"]"#,
            r#"[0.0,"o","\u001b[1;1H\u001b[0m\u001b[2K\u001b[0mone\u001b[2;1H\u001b[0m\u001b[2K\u001b[0mtwo\u001b]2;t]\u0007\u001b[0m\u001b[1;1H\u001b[?25l"]"#,
            r#"[1.75,"o","\u001b[2;1H\u001b[0m\u001b[2K\u001b[0m2\u001b[0m\u001b[2;5H\u001b[?25h"]"#,
            r#"[0.0,"x","3"]"#,
        ]
    );
}

/// What is recorded from the frames of a recording shows the same frames again.
#[test]
fn a_recording_of_a_recording_shows_the_same() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst");
    let archive = Archive::open(&path).unwrap();
    let mut compared = 0;
    for name in archive.names().filter(|name| !name.contains("success")) {
        let original = archive.recording(name).unwrap();
        let mut bytes = Vec::new();
        let mut writer = RecordingWriter::new(&mut bytes, &original.header).unwrap();
        for frame in Player::new(&original) {
            writer.frame(frame.at, &frame.facts, &frame.screen).unwrap();
        }
        let copy = Recording::parse(name, &bytes).unwrap();
        assert_eq!(copy.header, original.header, "{name}");
        let mut copied = Player::new(&copy).peekable();
        let mut shown = None;
        for frame in Player::new(&original) {
            while let Some(next) = copied.next_if(|next| next.at <= frame.at) {
                shown = Some(next);
            }
            let shown = shown.as_ref().unwrap();
            assert_eq!(shown.facts, frame.facts, "{name} at {:?}", frame.at);
            assert_eq!(shown.screen, frame.screen, "{name} at {:?}", frame.at);
            compared += 1;
        }
    }
    assert!(compared > 5000, "{compared} frames");
}

#[test]
fn a_header_without_a_version_is_read_as_it_was_written() {
    let header = Header { version: None, situation: Some("a test".to_owned()), began: None, ..header() };
    let mut bytes = Vec::new();
    RecordingWriter::new(&mut bytes, &header).unwrap();
    assert_eq!(Recording::parse("x", &bytes).unwrap().header, header);
}

#[test]
fn what_an_agent_wrote_is_read_again_with_the_time_at_which_it_came() {
    let addition = |path: &str, is_anew: bool, lines: &[&str]| RecordAddition {
        source: "log-*.jsonl".to_owned(),
        path: path.to_owned(),
        is_anew,
        is_partial: false,
        known: json!(null),
        lines: lines.iter().map(|line| json!({ "event": line })).collect(),
    };
    let additions = [addition("log-1.jsonl", true, &["begins"]), addition("log-1.jsonl", false, &["\u{1b}]2;x"])];
    let text = text_of(|writer| {
        writer.record(Span::ZERO, &addition("", true, &[])).unwrap();
        additions.iter().for_each(|addition| writer.record(Span::from_millis(40), addition).unwrap());
        writer.record(Span::from_millis(50), &addition("", true, &[])).unwrap();
        writer.record(Span::from_millis(60), &addition("", true, &[])).unwrap();
    });
    assert_eq!(
        text.lines().nth(1),
        Some(
            r#"[0.04,"m","record {\"source\":\"log-*.jsonl\",\"path\":\"log-1.jsonl\",\"anew\":true,\"lines\":[{\"event\":\"begins\"}]}"]"#
        )
    );
    let read = Recording::parse("a.cast", format!("{text}[0,\"m\",\"record the end\"]\n").as_bytes()).unwrap();
    let kinds: Vec<EventKind> = read.events.iter().map(|event| event.kind.clone()).collect();
    let record = |addition: &RecordAddition| EventKind::Record(Box::new(addition.clone()));
    assert_eq!(kinds[..2], [record(&additions[0]), record(&additions[1])]);
    // Of a file that was never there nothing is said, and anybody's marker may begin with the same word.
    assert_eq!(kinds[2..], [record(&addition("", true, &[])), EventKind::Marker("record the end".to_owned())]);
    let polls: Vec<u64> = Player::new(&read).map(|frame| frame.at.as_millis()).collect();
    assert_eq!(polls, [40, 50]);
}
