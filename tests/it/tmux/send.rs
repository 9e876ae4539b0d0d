//! Pastes and keys into panes of real tmux servers, byte for byte.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::private_tmux::{PrivateTmux, signal, wait_until};
use fleetwatch::fleet::{PaneId, TerminalKey};
use fleetwatch::ids::ServerInstance;
use fleetwatch::operation::{Key, Obstacle, PasteText};
use fleetwatch::screen::{Cursor, PaneFacts, Screen};
use fleetwatch::tmux::{Delivery, Error, Guard, Server, Settings, quote};
use proptest::prelude::*;

const HOSTILE: &str = "-l first\n'single' \"double\" `tick` $HOME ~ #{pane_id} #(date) %1\n\ttab; echo hi;\n{ } [x] \\\n\
                       é ü 漢字 😀 👩‍👩‍👧 e\u{301}\n\n  indented\ntrailing;\\";

/// A pane whose program writes what it gets to a file, in raw mode.
struct Reader {
    tmux: PrivateTmux,
    directory: tempfile::TempDir,
    key: TerminalKey,
}

impl Reader {
    /// `start` is printed first: `\033[?2004h` asks for bracketed pastes.
    fn start(start: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("got");
        let script = format!("stty raw -echo; printf '{start}ready'; exec cat > '{}'", file.display());
        let tmux = PrivateTmux::start(&["sh", "-c", &script]);
        tmux.wait_for_text("main:", "ready");
        let key = tmux.key_of("main:");
        Self { tmux, directory, key }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("got")
    }

    fn got(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap_or_default()
    }

    fn wait_for(&self, bytes: &[u8]) {
        let length = || self.got().len();
        wait_until("the bytes", || length() >= bytes.len());
        let got = self.got();
        assert!(got == bytes, "{:?}", String::from_utf8_lossy(&got[..got.len().min(2000)]));
    }

    fn buffers(&self) -> String {
        self.tmux.run(&["list-buffers"])
    }
}

fn text(text: &str) -> PasteText {
    PasteText::new(text).unwrap()
}

fn bracketed(text: &str) -> Vec<u8> {
    format!("\u{1b}[200~{text}\u{1b}[201~").into_bytes()
}

#[tokio::test]
async fn a_hostile_text_arrives_byte_for_byte_in_brackets() {
    let reader = Reader::start(r"\033[?2004h");
    let delivery = reader.tmux.server().paste(&reader.key, &text(HOSTILE), &Guard::default()).await.unwrap();
    assert_eq!(delivery, Delivery::Delivered);
    reader.wait_for(&bracketed(HOSTILE));
    assert_eq!(reader.buffers(), "");
}

#[tokio::test]
async fn sixty_four_kibibytes_arrive_byte_for_byte() {
    let reader = Reader::start(r"\033[?2004h");
    let mut long = HOSTILE.repeat((64 << 10) / HOSTILE.len() + 1);
    while !long.is_char_boundary(64 << 10) {
        long.insert(0, '-');
    }
    long.truncate(64 << 10);
    assert_eq!(
        reader.tmux.server().paste(&reader.key, &text(&long), &Guard::default()).await.unwrap(),
        Delivery::Delivered
    );
    reader.wait_for(&bracketed(&long));
}

#[tokio::test]
async fn a_program_that_asked_for_no_brackets_gets_none() {
    let reader = Reader::start("");
    reader.tmux.server().paste(&reader.key, &text("one\ntwo"), &Guard::default()).await.unwrap();
    reader.wait_for(b"one\ntwo");
}

#[tokio::test]
async fn keys_arrive_as_a_terminal_sends_them() {
    let reader = Reader::start("");
    let keys = ["Enter", "Escape", "Up", "C-c", ";", "-", "$", "~", "é", "Tab", "M-x", "BSpace"];
    let keys: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
    assert_eq!(reader.tmux.server().press(&reader.key, &keys, &Guard::default()).await.unwrap(), Delivery::Delivered);
    reader.wait_for("\r\u{1b}\u{1b}[A\u{3};-$~é\t\u{1b}x\u{7f}".as_bytes());
}

#[tokio::test]
async fn a_pane_that_is_not_as_it_should_be_gets_nothing_and_no_buffer_stays() {
    let reader = Reader::start("");
    let server = reader.tmux.server();
    let refused = async |key: &TerminalKey, obstacle: Obstacle| {
        let enter = [Key::enter()];
        assert_eq!(
            server.paste(key, &text("lost"), &Guard::default()).await.unwrap(),
            Delivery::Refused(obstacle),
            "paste"
        );
        assert_eq!(server.press(key, &enter, &Guard::default()).await.unwrap(), Delivery::Refused(obstacle), "press");
        assert_eq!(reader.buffers(), "");
    };
    refused(&TerminalKey { pid: reader.key.pid + 1, ..reader.key.clone() }, Obstacle::Replaced).await;
    refused(&TerminalKey { pane: PaneId(99), ..reader.key.clone() }, Obstacle::Gone).await;
    let other = ServerInstance::new("4711.1700000000");
    refused(&TerminalKey { instance: other, ..reader.key.clone() }, Obstacle::Elsewhere).await;
    reader.tmux.run(&["copy-mode", "-t", "main:"]);
    refused(&reader.key, Obstacle::InMode).await;
    reader.tmux.run(&["send-keys", "-t", "main:", "-X", "cancel"]);
    reader.tmux.run(&["set-option", "-w", "-t", "main:", "synchronize-panes", "on"]);
    let alone = server.press(&reader.key, &["x".parse().unwrap()], &Guard::default()).await.unwrap();
    assert_eq!(alone, Delivery::Delivered, "no other pane would get it");
    reader.wait_for(b"x");
    reader.tmux.run(&["split-window", "-d", "-t", "main:", "cat"]);
    refused(&reader.key, Obstacle::Synchronized).await;
    reader.tmux.run(&["set-option", "-w", "-t", "main:", "synchronize-panes", "off"]);
    reader.tmux.run(&["select-pane", "-d", "-t", "main:"]);
    refused(&reader.key, Obstacle::InputOff).await;
    reader.tmux.run(&["select-pane", "-e", "-t", "main:"]);
    assert_eq!(server.paste(&reader.key, &text("found"), &Guard::default()).await.unwrap(), Delivery::Delivered);
    reader.wait_for(b"xfound");
    reader.tmux.run(&["set-option", "-w", "-t", "main:", "remain-on-exit", "on"]);
    signal("KILL", reader.key.pid);
    wait_until("its end", || reader.tmux.run(&["display-message", "-p", "#{pane_dead}"]).trim() == "1");
    refused(&reader.key, Obstacle::Dead).await;
}

#[tokio::test]
async fn what_was_seen_must_still_be_so() {
    let reader = Reader::start(r"\033[2J\033[Hrun #{x}, $(y)? [1/2] ^*\\\\\n❯ ls\n é漢字 ❯ ls\n");
    let server = reader.tmux.server();
    let seen = server.capture(&[reader.key.pane]).await.unwrap();
    let (screen, facts) = (seen.captures[0].screen.clone().unwrap(), seen.captures[0].pane.facts.clone());
    let guard = |facts: &PaneFacts| Guard::of(facts, &screen, 0..screen.rows().len(), usize::MAX..usize::MAX);
    let reported = async |guard: &Guard| {
        let pasted = server.paste(&reader.key, &text("x"), guard).await.unwrap();
        (pasted, server.press(&reader.key, &["y".parse().unwrap()], guard).await.unwrap())
    };
    let refused = Delivery::Refused(Obstacle::Changed);
    assert_eq!(reported(&guard(&facts)).await, (Delivery::Delivered, Delivery::Delivered));
    reader.wait_for(b"xy");
    let other = PaneFacts { command: "ca".to_owned(), ..facts.clone() };
    assert_eq!(reported(&guard(&other)).await, (refused, refused), "another program");
    let moved = Cursor { column: facts.cursor.column + 1, ..facts.cursor };
    assert_eq!(reported(&guard(&PaneFacts { cursor: moved, ..facts.clone() })).await, (refused, refused), "the cursor");
    let shown = |row: &str| {
        Screen::from_text(
            &screen.rows().iter().map(|row| format!("{}\n", row.text())).collect::<String>().replace("❯ ls", row),
            80,
        )
    };
    let other = Guard::of(&facts, &shown("❯ rm"), 0..3, usize::MAX..usize::MAX);
    assert_eq!(reported(&other).await, (refused, refused), "another row");
    assert_eq!(reader.buffers(), "");
    assert_eq!(reader.got(), b"xy");
}

#[tokio::test]
async fn without_a_server_there_is_an_error() {
    let tmux = PrivateTmux::unstarted();
    let key = TerminalKey { server: tmux.id(), pane: PaneId(0), pid: 1, instance: Default::default() };
    let error = tmux.server().paste(&key, &text("x"), &Guard::default()).await.unwrap_err();
    assert!(error.is_no_server(), "{error}");
    assert!(tmux.server().press(&key, &[Key::enter()], &Guard::default()).await.unwrap_err().is_no_server());
    assert_eq!(tmux.server_pid(), None);
}

#[tokio::test]
async fn what_was_given_up_at_the_deadline_is_not_delivered_later() {
    let reader = Reader::start("");
    let pid = reader.tmux.server_pid().unwrap();
    let settings = Settings { deadline: Duration::from_millis(300), ..Settings::default() };
    let server = Server::new(reader.tmux.id(), settings).unwrap();
    signal("STOP", pid);
    let error = server.paste(&reader.key, &text("late"), &Guard::default()).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    let error = server.press(&reader.key, &[Key::enter()], &Guard::default()).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    signal("CONT", pid);
    reader.tmux.server().paste(&reader.key, &text("in time"), &Guard::default()).await.unwrap();
    reader.wait_for(b"in time");
    assert_eq!(reader.buffers(), "");
}

/// What tmux reads where a word stands quoted in a script.
fn read_back(tmux: &PrivateTmux, word: &str) -> String {
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), format!("set-buffer -b word -- {}\n", quote(word))).unwrap();
    tmux.run(&["source-file", script.path().to_str().unwrap(), ";", "save-buffer", "-b", "word", "-"])
}

#[test]
fn a_quoted_word_is_read_back_by_tmux_as_it_was() {
    let tmux = PrivateTmux::start(&["cat"]);
    let words = [
        HOSTILE,
        ";",
        "a;",
        "\\;",
        "\\",
        "\\\\",
        "#{pane_id}",
        "$HOME",
        "${HOME}",
        "~",
        "~root",
        "{",
        "}",
        "{ kill-server }",
        "-t",
        "--",
        "'",
        "\"",
        "#",
        "# x",
        "%if",
        "%1",
        "a=b",
        " ",
        "\t",
        "\n",
        "a\n\n # b",
        "\u{1b}[31m",
        "\u{7f}",
        "😀",
        "!x",
        "[a]",
        "*",
        "\\n",
        "\\u0041",
        "\\101",
        "\u{e9}\u{301}",
    ];
    for word in words {
        assert_eq!(read_back(&tmux, word), word, "{word:?}");
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(64));
    let nasty = "([;\"'\\\\$~#{}%\\-= \\n\\t]|[a-z]|\\PC){1,30}";
    runner
        .run(&nasty, |word| {
            prop_assert_eq!(read_back(&tmux, &word), word);
            Ok(())
        })
        .unwrap();
}
