//! Prompts, keys and answers to a small interactive agent in real tmux servers.

#![allow(clippy::unwrap_used)] // What cannot be set up fails the test.

#[path = "support/private_tmux.rs"]
mod private_tmux;

use std::sync::Arc;
use std::time::Duration;

use fleetwatch::dialog::{Dialog, in_words};
use fleetwatch::moment::Span;
use fleetwatch::profile::Library;
use fleetwatch::screen::Screen;
use fleetwatch::sender::{
    After, Answered, Insistence, Limits, Recipient, Refusal, Reply, SendOptions, SendOutcome, Sender,
};
use fleetwatch::tmux::{Key, Obstacle, Settings};
use private_tmux::PrivateTmux;

/// A parrot in a pane of its own, and somebody who sends to it.
struct Cage {
    tmux: PrivateTmux,
    library: Arc<Library>,
    sender: Sender,
    parrot: Recipient,
    _directory: tempfile::TempDir,
}

impl Cage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("parrot");
        std::fs::copy("/bin/bash", &program).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/parrot.sh");
        // A shell below, as people have it: when the parrot ends, it gets the keys.
        let run = format!("set +m; '{}' '{script}'; exec cat", program.display());
        let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile", "-c", &run]);
        tmux.wait_for_text("main:", "❯");
        let mut library = Library::builtin();
        library.add("parrot.toml", include_str!("support/parrot.toml")).unwrap();
        let settings = Settings { deadline: Duration::from_secs(10), ..Settings::default() };
        let parrot =
            Recipient { key: tmux.key_of("main:"), tool: Some("parrot".into()), version: None, configured: false };
        let library = Arc::new(library);
        let sender = Sender::new(Arc::clone(&library), settings);
        Self { tmux, library, sender, parrot, _directory: directory }
    }

    /// The open dialog, as an operator is shown it.
    async fn dialog(&self) -> Dialog {
        let look = self.tmux.server().capture(&[self.parrot.key.pane]).await.unwrap();
        let profile = self.library.select("parrot", None, false).unwrap().profile;
        let reading = profile.read(look.captures[0].screen.as_ref().unwrap(), &look.captures[0].pane.facts);
        reading.dialog.unwrap()
    }

    /// Chooses an option of a dialog.
    async fn choose(&self, seen: &Dialog, option: &str) -> Answered {
        let reply = Reply::meant(option, seen).unwrap();
        self.sender.answer(&self.parrot, seen, &reply, patient(), || {}).await
    }

    async fn send(&self, text: &str) -> SendOutcome {
        self.sender.send(&self.parrot, text, SendOptions { limits: patient(), ..SendOptions::default() }).await
    }

    async fn force(&self, text: &str) -> SendOutcome {
        self.sender.send(&self.parrot, text, SendOptions { insistence: Insistence::Force, limits: patient() }).await
    }

    fn wait_for(&self, text: &str) {
        self.tmux.wait_for_text("main:", text);
    }

    fn screen(&self) -> String {
        self.tmux.screen("main:")
    }
}

/// A busy machine draws late.
fn patient() -> Limits {
    let (reaction, calm) = (Span::from_secs(8), Span::from_secs(10));
    Limits { reaction, calm, enter_again: Span::from_millis(1500), ..Limits::default() }
}

fn keys(names: &[&str]) -> Vec<Key> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

#[tokio::test]
async fn a_prompt_is_taken_and_answered() {
    let cage = Cage::new();
    let text = "say 'it'; \"now\" #{pane_id} $HOME \\";
    assert_eq!(cage.send(text).await, SendOutcome::Accepted);
    cage.wait_for(&format!("● heard {text}"));
    assert_eq!(cage.tmux.run(&["list-buffers"]), "");
}

#[tokio::test]
async fn a_parrot_that_works_or_has_a_draft_is_left_alone_unless_one_insists() {
    let cage = Cage::new();
    cage.tmux.run(&["send-keys", "-t", "main:", "-l", "half a "]);
    cage.wait_for("❯ half a");
    assert_eq!(cage.send("other").await, Refusal::Draft.into());
    assert!(!cage.screen().contains("other"));
    assert_eq!(cage.force("thought").await, SendOutcome::Accepted);
    cage.wait_for("● heard half a thought");
}

#[tokio::test]
async fn a_prompt_waits_for_the_last_strokes_of_a_turn_that_was_stopped() {
    let cage = Cage::new();
    assert_eq!(cage.send("strokes").await, SendOutcome::Accepted);
    cage.wait_for("● half an answer");
    assert_eq!(cage.send("go on").await, SendOutcome::Accepted);
    cage.wait_for("● heard go on");
    assert!(cage.screen().contains("stopped4"), "it was sent before the last stroke");
}

#[tokio::test]
async fn a_prompt_that_needs_another_enter_gets_it() {
    let cage = Cage::new();
    assert_eq!(cage.send("twice").await, SendOutcome::Accepted);
    cage.wait_for("● twice");
    assert_eq!(cage.send("now").await, SendOutcome::Accepted);
    cage.wait_for("● heard now");
}

#[tokio::test]
async fn a_prompt_that_stays_where_it_is_is_not_taken() {
    let cage = Cage::new();
    assert_eq!(cage.send("deaf").await, SendOutcome::Accepted);
    cage.wait_for("● deaf");
    let limits = Limits { reaction: Span::from_secs(2), ..patient() };
    let outcome = cage.sender.send(&cage.parrot, "hello", SendOptions { limits, ..SendOptions::default() }).await;
    assert_eq!(outcome, SendOutcome::NotTaken { why: "the text is still in the prompt".into() });
}

#[tokio::test]
async fn a_dialog_is_answered_only_when_it_is_the_one_that_was_seen() {
    let cage = Cage::new();
    assert_eq!(cage.send("ask").await, SendOutcome::Accepted);
    cage.wait_for("2. No");
    assert_eq!(cage.send("more").await, Refusal::Dialog.into());
    assert_eq!(cage.force("more").await, Refusal::Dialog.into());
    let seen = cage.dialog().await;
    assert_eq!(seen.list(), "1 Yes, 2 No");
    let other = Dialog::read(&Screen::from_text("Allow that?\n> 1. Yes\n  2. No", 80), 0..3);
    assert_eq!(cage.choose(&other, "No").await, Refusal::AnotherDialog.into());
    assert!(cage.screen().contains("Allow this?"));
    assert_eq!(cage.choose(&seen, "No").await, Answered { outcome: SendOutcome::Accepted, after: After::Ready });
    cage.wait_for("● answered 2");
    assert_eq!(cage.choose(&seen, "No").await, Refusal::NoDialog.into());
}

#[tokio::test]
async fn marks_are_moved_and_letters_are_typed() {
    let cage = Cage::new();
    let taken = Answered { outcome: SendOutcome::Accepted, after: After::Ready };
    for (option, presses) in [("gamma", "Down Down Enter"), ("Alpha", "Enter")] {
        assert_eq!(cage.send("menu").await, SendOutcome::Accepted);
        cage.wait_for("  Gamma");
        let seen = cage.dialog().await;
        assert_eq!(in_words(&seen.presses(seen.choose(option).unwrap())), presses);
        assert_eq!(cage.choose(&seen, option).await, taken);
    }
    cage.wait_for("● chose Gamma");
    cage.wait_for("● chose Alpha");
    assert_eq!(cage.send("letter").await, SendOutcome::Accepted);
    cage.wait_for("(N)o [Yes]:");
    assert_eq!(cage.choose(&cage.dialog().await, "no").await, taken);
    cage.wait_for("● answered n");
}

#[tokio::test]
async fn a_shell_never_gets_what_was_meant_for_an_agent() {
    let cage = Cage::new();
    assert_eq!(cage.send("exit").await, SendOutcome::Accepted);
    cage.wait_for("» exit");
    for outcome in [cage.send("rm -rf /").await, cage.force("rm -rf /").await] {
        assert!(
            matches!(&outcome, SendOutcome::Refused(Refusal::AgentGone { tool, .. }) if tool == "parrot"),
            "{outcome}"
        );
    }
    assert!(!cage.screen().contains("rm"));
}

#[tokio::test]
async fn one_can_insist_on_an_agent_that_was_not_known_to_run_but_not_on_another_program() {
    let mut cage = Cage::new();
    cage.parrot.tool = None;
    assert_eq!(cage.send("hello").await, Refusal::NotReady.into());
    assert_eq!(cage.force("hello").await, SendOutcome::Accepted);
    cage.wait_for("● heard hello");
    assert_eq!(cage.force("exit").await, SendOutcome::Accepted);
    cage.wait_for("» exit");
    for outcome in [cage.send("rm -rf /").await, cage.force("rm -rf /").await] {
        assert_eq!(outcome, Refusal::NoAgent { command: "cat".into() }.into());
    }
    assert!(!cage.screen().contains("rm"));
    let pressed = cage.sender.keys(&cage.parrot, &keys(&["m", "e", "w", "Enter"])).await;
    assert_eq!(pressed, SendOutcome::Accepted);
    cage.wait_for("mew\nmew");
}

#[tokio::test]
async fn a_pane_in_copy_mode_gets_nothing() {
    let cage = Cage::new();
    cage.tmux.run(&["copy-mode", "-t", "main:"]);
    assert_eq!(cage.send("lost").await, Refusal::Obstacle(Obstacle::InMode).into());
    let pressed = cage.sender.keys(&cage.parrot, &keys(&["Enter"])).await;
    assert_eq!(pressed, Refusal::Obstacle(Obstacle::InMode).into());
    cage.tmux.run(&["send-keys", "-t", "main:", "-X", "cancel"]);
    assert!(!cage.screen().contains("lost"));
}

#[tokio::test]
async fn another_process_in_the_pane_gets_nothing() {
    let mut cage = Cage::new();
    cage.parrot.key.pid += 1;
    for outcome in [cage.send("lost").await, cage.force("lost").await] {
        assert_eq!(outcome, Refusal::Obstacle(Obstacle::Replaced).into());
    }
}

#[tokio::test]
async fn keys_edit_the_prompt() {
    let cage = Cage::new();
    let pressed = cage.sender.keys(&cage.parrot, &keys(&["a", "c", "Left", "b", ";", "Enter"])).await;
    assert_eq!(pressed, SendOutcome::Accepted);
    cage.wait_for("● heard ab;c");
}

#[tokio::test]
async fn two_prompts_at_once_do_not_end_up_in_one() {
    let cage = Cage::new();
    let (one, two) = tokio::join!(cage.send("one"), cage.send("two"));
    assert!([one, two].contains(&SendOutcome::Accepted));
    cage.wait_for("● heard");
    assert!(!cage.screen().contains("onetwo") && !cage.screen().contains("twoone"));
}

#[tokio::test]
async fn control_characters_are_refused() {
    let cage = Cage::new();
    assert!(matches!(cage.force("a\u{1b}[201~\r").await, SendOutcome::Refused(Refusal::Text(_))));
}
