//! Prompts, keys and answers to a small interactive agent in real tmux servers.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, signal, wait_until};
use fleetwatch::dialog::{Dialog, in_words};
use fleetwatch::history::History;
use fleetwatch::operation::{Act, Asked, Operation, Outcome, Privacy, Producer, Recipient, Refusal, Reply, When};
use fleetwatch::operation::{Key, Obstacle, PasteText, TextError};
use fleetwatch::profile::ProfileSet;
use fleetwatch::screen::Screen;
use fleetwatch::sender::{Gate, Sender, StepLimits};
use fleetwatch::status::Hindrance;
use fleetwatch::time::{Span, Timestamp};
use fleetwatch::tmux::Settings;

/// A parrot in a pane of its own, and somebody who sends to it.
struct Cage {
    tmux: PrivateTmux,
    profiles: Arc<ProfileSet>,
    sender: Sender,
    parrot: Recipient,
    directory: tempfile::TempDir,
}

/// A `tmux` that carries out what a test has put beside it right before it runs a script that holds a word: once, also after as many
/// others as are to be skipped, or each time and something else behind it.
pub fn betrayer(directory: &Path) -> PathBuf {
    let path = directory.join("tmux");
    let script = format!(
        r#"#!/bin/bash
cd '{}'
[[ " $* " == *" source-file "* ]] && {{ script=1; input=$(cat; echo .); }}
if [[ -e act && "$* $input" == *"$(<word)"* ]]; then
    skip=0; [ -e skip ] && skip=$(<skip)
    if ((skip > 0)); then echo "$((skip - 1))" >skip; else mv act acted && . ./acted; fi
fi
[[ -e each && "$* $input" == *"$(<word)"* ]] && {{ . ./each; each=1; }}
if [ "$script" ]; then printf %s "${{input%.}}" | tmux "$@"; else tmux "$@"; fi
code=$?
[ "$each" ] && . ./behind
exit $code
"#,
        directory.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// A gate that never lets anything begin.
struct Closed;

impl Gate for Closed {
    async fn may_begin(&mut self) -> bool {
        false
    }
}

impl Cage {
    fn new() -> Self {
        Self::of("parrot")
    }

    /// A parrot whose process has this name.
    fn of(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join(name);
        copy_shell("/bin/bash", &program);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/parrot.sh");
        // A shell below, as people have it: when the parrot ends, it gets the keys.
        let run = format!("set +m; '{}' '{script}'; exec cat", program.display());
        let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile", "-c", &run]);
        tmux.wait_for_text("main:", "❯");
        let mut profiles = ProfileSet::builtin();
        profiles.add("parrot.toml", include_str!("../support/parrot.toml")).unwrap();
        let settings =
            Settings { deadline: Duration::from_secs(10), tmux: betrayer(directory.path()), ..Settings::default() };
        let parrot = Recipient { tool: Some("parrot".into()), ..Recipient::new(tmux.key_of("main:"), "main".into()) };
        let profiles = Arc::new(profiles);
        let sender = Sender::new(Arc::clone(&profiles), settings, History::off(), Some(directory.path().join("turns")))
            .within(patient());
        Self { tmux, profiles, sender, parrot, directory }
    }

    /// Has somebody press keys right before the command with a word is run, and wait until the pane shows a text.
    fn betray(&self, word: &str, keys: &[&str], shown: &str) {
        let server = self.tmux.name();
        let pressed: String =
            keys.iter().map(|key| format!("tmux -L {server} send-keys -t main: '{key}'; sleep 0.05\n")).collect();
        let polls = format!("tmux -L {server} capture-pane -p -t main:; tmux -L {server} list-panes -F '{PROGRAM}'");
        let act = format!("{pressed}until ({polls}) | grep -qF -- '{shown}'; do sleep 0.02; done\n");
        std::fs::write(self.directory.path().join("word"), word).unwrap();
        std::fs::write(self.directory.path().join("act"), act).unwrap();
    }

    /// Draws another text over one on the screen each time a command with a word is run, and takes it away behind it.
    fn flicker(&self, word: &str, shown: &str, instead: &str) {
        let y = self.screen().lines().position(|line| line.contains(shown)).unwrap() + 1;
        let server = self.tmux.name();
        let tty = self.tmux.run(&["display-message", "-p", "-t", "main:", "#{pane_tty}"]);
        let draw = |text: &str| {
            format!(
                "printf '\\0337\\033[{y};1H\\033[K%s\\0338' '{text}' > {}\nuntil tmux -L {server} capture-pane -p -t main: \
                 | grep -qF -- '{text}'; do sleep 0.02; done\necho '{text}' >> drawn\n",
                tty.trim()
            )
        };
        std::fs::write(self.directory.path().join("word"), word).unwrap();
        std::fs::write(self.directory.path().join("behind"), draw(shown)).unwrap();
        std::fs::write(self.directory.path().join("each"), draw(instead)).unwrap();
    }

    /// Whether what was to be done behind the sender's back was done.
    fn was_betrayed(&self) -> bool {
        self.directory.path().join("acted").exists()
    }

    /// The open dialog, as an operator is shown it.
    async fn dialog(&self) -> Dialog {
        let poll = self.tmux.server().capture(&[self.parrot.key.pane]).await.unwrap();
        let profile = self.profiles.select("parrot", None, false).unwrap().profile;
        let reading = profile.read(poll.captures[0].screen.as_ref().unwrap(), &poll.captures[0].pane.facts);
        reading.dialog.unwrap()
    }

    /// Chooses an option of a dialog.
    async fn choose(&self, seen: &Dialog, option: &str) -> Outcome {
        self.reply(seen, Reply::meant(option, seen).unwrap()).await
    }

    async fn reply(&self, seen: &Dialog, reply: Reply) -> Outcome {
        perform(&self.sender, &self.parrot, answer(seen, reply)).await
    }

    async fn send(&self, text: &str) -> Outcome {
        perform(&self.sender, &self.parrot, prompt(text)).await
    }

    async fn force(&self, text: &str) -> Outcome {
        perform(&self.sender, &self.parrot, Act::Prompt { text: text.to_owned(), when: When::Anyway }).await
    }

    /// Presses keys, for one dialog only where there is one.
    async fn press(&self, names: &[&str], seen: Option<&Dialog>) -> Outcome {
        let dialog = seen.cloned().map(Arc::new);
        perform(&self.sender, &self.parrot, Act::Keys { keys: keys(names), dialog, privacy: Privacy::Open }).await
    }

    fn wait_for(&self, text: &str) {
        self.tmux.wait_for_text("main:", text);
    }

    fn screen(&self) -> String {
        self.tmux.screen("main:")
    }
}

pub async fn perform(sender: &Sender, to: &Recipient, act: Act) -> Outcome {
    let operation = Operation { at: Timestamp::default(), producer: Producer::CommandLine, to: to.clone(), act };
    sender.perform(operation, ()).await
}

pub fn prompt(text: &str) -> Act {
    Act::Prompt { text: text.to_owned(), when: When::Now }
}

pub fn answer(seen: &Dialog, reply: Reply) -> Act {
    Act::Answer { dialog: Arc::new(seen.clone()), asked: Asked::default(), reply }
}

/// How a pane's program is listed.
const PROGRAM: &str = "runs #{pane_current_command}";

/// A busy machine draws late.
pub fn patient() -> StepLimits {
    let (reaction, calm) = (Span::from_secs(8), Span::from_secs(10));
    StepLimits { reaction, calm, enter_again: Span::from_millis(1500), ..StepLimits::default() }
}

fn keys(names: &[&str]) -> Vec<Key> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

#[tokio::test]
async fn a_prompt_is_taken_and_answered() {
    let cage = Cage::new();
    let text = "say 'it'; \"now\" #{pane_id} $HOME \\";
    assert_eq!(cage.send(text).await, Outcome::Accepted(None));
    cage.wait_for(&format!("● heard {text}"));
    assert_eq!(cage.tmux.run(&["list-buffers"]), "");
}

#[tokio::test]
async fn a_parrot_that_works_or_has_a_draft_is_left_alone_unless_one_insists() {
    let cage = Cage::new();
    cage.tmux.run(&["send-keys", "-t", "main:", "-l", "half a "]);
    cage.wait_for("❯ half a");
    assert_eq!(cage.send("other").await, Refusal::Hindrance(Hindrance::Draft).into());
    assert!(!cage.screen().contains("other"));
    assert_eq!(cage.force("thought").await, Outcome::Accepted(None));
    cage.wait_for("● heard half a thought");
}

#[tokio::test]
async fn nobody_insists_on_a_text_behind_what_runs_it() {
    let cage = Cage::new();
    for typed in ["!", "ls"] {
        cage.tmux.run(&["send-keys", "-t", "main:", "-l", typed]);
        cage.wait_for(typed);
        assert_eq!(cage.send("touch x").await, Refusal::Hindrance(Hindrance::Command).into());
        assert_eq!(cage.force("touch x").await, Refusal::Hindrance(Hindrance::Command).into());
    }
    assert!(!cage.screen().contains("touch"));
}

#[tokio::test]
async fn a_long_text_goes_in_parts_and_is_one_prompt() {
    let cage = Cage::new();
    let text = "0123456789 'it' #{pane_id} $HOME | 漢字 é e\u{301} 👩\u{200d}👩 and the last words";
    assert_eq!(cage.send(text).await, Outcome::Accepted(None));
    cage.wait_for("and the last words");
    cage.wait_for("● heard 0123456789 'it' #{pane_id} $HOME | 漢字");
    assert_eq!(cage.screen().matches('»').count(), 1);
}

#[tokio::test]
async fn a_prompt_waits_for_the_last_strokes_of_a_turn_that_was_stopped() {
    let cage = Cage::new();
    assert_eq!(cage.send("strokes").await, Outcome::Accepted(None));
    cage.wait_for("● half an answer");
    assert_eq!(cage.send("go on").await, Outcome::Accepted(None));
    cage.wait_for("● heard go on");
    assert!(cage.screen().contains("stopped4"), "it was sent before the last stroke");
}

#[tokio::test]
async fn a_prompt_that_needs_another_enter_gets_it() {
    let cage = Cage::new();
    assert_eq!(cage.send("twice").await, Outcome::Accepted(None));
    cage.wait_for("● twice");
    assert_eq!(cage.send("now").await, Outcome::Accepted(None));
    cage.wait_for("● heard now");
}

/// A second Enter would be in its input by then, and it would read that as the answer.
#[tokio::test]
async fn an_agent_that_reads_enter_late_does_not_find_another_one_in_its_dialog() {
    let cage = Cage::new();
    let pane = cage.tmux.run(&["display-message", "-p", "-t", "main:", "#{pane_pid}"]);
    let found = std::process::Command::new("pgrep").args(["-P", pane.trim()]).output().unwrap();
    let parrot = String::from_utf8_lossy(&found.stdout).trim().parse().unwrap();
    std::fs::write(cage.directory.path().join("word"), "send-keys").unwrap();
    std::fs::write(cage.directory.path().join("act"), format!("kill -STOP {parrot}\n")).unwrap();
    let limits = StepLimits { reaction: Span::from_secs(3), enter_again: Span::from_millis(500), ..patient() };
    let outcome = perform(&cage.sender.clone().within(limits), &cage.parrot, prompt("ask")).await;
    assert!(cage.was_betrayed(), "{outcome}");
    signal("CONT", parrot);
    cage.wait_for("» ask");
    // If that was answered, nothing is there to be answered now.
    cage.tmux.run(&["send-keys", "-t", "main:", "2"]);
    cage.wait_for("● answered");
    assert!(cage.screen().contains("● answered 2"), "{}", cage.screen());
    assert!(matches!(&outcome, Outcome::Unverified { why } if why.contains("still in the prompt")), "{outcome}");
}

#[tokio::test]
async fn a_prompt_that_stays_where_it_is_is_not_taken() {
    let cage = Cage::new();
    assert_eq!(cage.send("deaf").await, Outcome::Accepted(None));
    cage.wait_for("● deaf");
    let limits = StepLimits { reaction: Span::from_secs(2), ..patient() };
    let outcome = perform(&cage.sender.clone().within(limits), &cage.parrot, prompt("hello")).await;
    assert!(matches!(outcome, Outcome::NotTaken { .. } | Outcome::Unverified { .. }), "{outcome}");
    assert!(outcome.to_string().contains("still in the prompt"), "{outcome}");
}

#[tokio::test]
async fn a_dialog_is_answered_only_when_it_is_the_one_that_was_seen() {
    let cage = Cage::new();
    assert_eq!(cage.send("ask").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    assert_eq!(cage.send("more").await, Refusal::Hindrance(Hindrance::Dialog).into());
    assert_eq!(cage.force("more").await, Refusal::Hindrance(Hindrance::Dialog).into());
    let seen = cage.dialog().await;
    assert_eq!(seen.list(), "1 Yes, 2 No");
    let other = Dialog::read(&Screen::from_text("Allow that?\n> 1. Yes\n  2. No", 80), 0..3);
    assert_eq!(cage.choose(&other, "No").await, Refusal::AnotherDialog.into());
    // What an operator types where they saw no dialog is for none.
    let typed = Act::Keys { keys: keys(&["Enter"]), dialog: None, privacy: Privacy::Open };
    let producer = Producer::Dashboard;
    let typed = Operation { at: Timestamp::default(), producer, to: cage.parrot.clone(), act: typed };
    assert_eq!(cage.sender.perform(typed, ()).await, Refusal::AnotherDialog.into());
    assert!(cage.screen().contains("Allow this?"));
    assert_eq!(cage.choose(&seen, "No").await, Outcome::Accepted(Some("ready for a prompt".to_owned())));
    cage.wait_for("● answered 2");
    assert_eq!(cage.choose(&seen, "No").await, Refusal::NoDialog.into());
}

#[tokio::test]
async fn an_answer_that_ends_the_agent_is_taken_though_its_dialog_stays_on_the_screen() {
    let cage = Cage::new();
    assert_eq!(cage.send("leave").await, Outcome::Accepted(None));
    cage.wait_for("2. No, and leave");
    let seen = cage.dialog().await;
    assert_eq!(cage.choose(&seen, "2").await, Outcome::Accepted(Some("the agent has ended".to_owned())));
    assert!(cage.screen().contains("2. No, and leave"));
}

#[tokio::test]
async fn marks_are_moved_and_letters_are_typed() {
    let cage = Cage::new();
    let taken = Outcome::Accepted(Some("ready for a prompt".to_owned()));
    for (option, presses) in [("gamma", "Down Down Enter"), ("Alpha", "Enter")] {
        assert_eq!(cage.send("menu").await, Outcome::Accepted(None));
        cage.wait_for("  Gamma");
        let seen = cage.dialog().await;
        assert_eq!(in_words(&seen.presses(seen.choose(option).unwrap())), presses);
        assert_eq!(cage.choose(&seen, option).await, taken);
    }
    cage.wait_for("● chose Gamma");
    cage.wait_for("● chose Alpha");
    assert_eq!(cage.send("letter").await, Outcome::Accepted(None));
    cage.wait_for("(N)o [Yes]:");
    assert_eq!(cage.choose(&cage.dialog().await, "no").await, taken);
    cage.wait_for("● answered n");
}

#[tokio::test]
async fn a_marked_option_is_taken_by_enter_and_the_next_dialog_gets_no_key() {
    let cage = Cage::new();
    assert_eq!(cage.send("trust").await, Outcome::Accepted(None));
    cage.wait_for("2. Back");
    let taken = Outcome::Accepted(Some("ready for a prompt".to_owned()));
    assert_eq!(cage.choose(&cage.dialog().await, "1").await, taken);
    cage.wait_for("● trusted");
    // What an agent does when it starts is not the work of a turn.
    assert_eq!(cage.send("start").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let outcome = cage.choose(&cage.dialog().await, "1").await;
    assert!(outcome == taken || outcome == Outcome::Accepted(None), "{outcome:?}");
    cage.wait_for("● started");
    for option in ["1", "2"] {
        assert_eq!(cage.send("chain").await, Outcome::Accepted(None));
        cage.wait_for("2. No");
        cage.choose(&cage.dialog().await, option).await;
        // The next one asks the same, so nobody can tell that the first was answered; it is left alone.
        cage.wait_for("● first answered");
        assert!(!cage.screen().contains("● second answered"), "{}", cage.screen());
        assert_eq!(cage.press(&["x"], None).await, Outcome::Accepted(None));
        cage.wait_for("● second answered");
        assert_eq!(cage.press(&["C-l"], None).await, Outcome::Accepted(None));
    }
}

#[tokio::test]
async fn options_are_ticked_and_handed_in_and_a_text_is_typed_in_its_row() {
    let cage = Cage::new();
    let taken = Outcome::Accepted(Some("ready for a prompt".to_owned()));
    assert_eq!(cage.send("tick").await, Outcome::Accepted(None));
    cage.wait_for("  Submit");
    assert_eq!(cage.choose(&cage.dialog().await, "beta, 1").await, taken);
    cage.wait_for("● handed in Alpha Beta");
    assert_eq!(cage.send("type").await, Outcome::Accepted(None));
    cage.wait_for("2. Type something.");
    let text = PasteText::new("--none; 'of' them: ü").unwrap();
    let seen = cage.dialog().await;
    let reply = Reply::Text { option: 1, text };
    assert_eq!(cage.reply(&seen, reply).await, taken);
    cage.wait_for("● typed --none; 'of' them: ü");
}

#[tokio::test]
async fn a_shell_never_gets_what_was_meant_for_an_agent() {
    let cage = Cage::new();
    assert_eq!(cage.send("exit").await, Outcome::Accepted(None));
    cage.wait_for("» exit");
    for outcome in [cage.send("rm -rf /").await, cage.force("rm -rf /").await] {
        assert!(matches!(&outcome, Outcome::Refused(Refusal::AgentGone { tool, .. }) if tool == "parrot"), "{outcome}");
    }
    assert!(!cage.screen().contains("rm"));
}

#[tokio::test]
async fn one_can_insist_on_an_agent_that_was_not_known_to_run_but_not_on_another_program() {
    let mut cage = Cage::new();
    cage.parrot.tool = None;
    assert_eq!(cage.send("hello").await, Refusal::Hindrance(Hindrance::NoProfile).into());
    assert_eq!(cage.force("hello").await, Outcome::Accepted(None));
    cage.wait_for("● heard hello");
    assert_eq!(cage.force("exit").await, Outcome::Accepted(None));
    cage.wait_for("» exit");
    for outcome in [cage.send("rm -rf /").await, cage.force("rm -rf /").await] {
        assert_eq!(outcome, Refusal::NoAgent { command: "cat".into() }.into());
    }
    assert!(!cage.screen().contains("rm"));
    let pressed = cage.press(&["m", "e", "w", "Enter"], None).await;
    assert_eq!(pressed, Outcome::Accepted(None));
    cage.wait_for("mew\nmew");
}

#[tokio::test]
async fn a_pane_in_copy_mode_gets_nothing() {
    let cage = Cage::new();
    cage.tmux.run(&["copy-mode", "-t", "main:"]);
    assert_eq!(cage.send("lost").await, Refusal::Obstacle(Obstacle::InMode).into());
    let pressed = cage.press(&["Enter"], None).await;
    assert_eq!(pressed, Refusal::Obstacle(Obstacle::InMode).into());
    cage.tmux.run(&["send-keys", "-t", "main:", "-X", "cancel"]);
    assert!(!cage.screen().contains("lost"));
    for (opens, option) in [("ask", "Yes"), ("menu", "Gamma")] {
        let cage = Cage::new();
        cage.send(opens).await;
        let seen = cage.dialog().await;
        cage.tmux.run(&["copy-mode", "-t", "main:"]);
        assert_eq!(cage.choose(&seen, option).await, Refusal::Obstacle(Obstacle::InMode).into(), "no key was pressed");
    }
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
    let pressed = cage.press(&["a", "c", "Left", "b", ";", "Enter"], None).await;
    assert_eq!(pressed, Outcome::Accepted(None));
    cage.wait_for("● heard ab;c");
}

#[tokio::test]
async fn keys_for_an_agent_do_not_go_to_what_takes_its_place() {
    let cage = Cage::new();
    cage.betray("send-keys", &["exit", "Enter"], "runs cat");
    let gone = Refusal::AgentGone { tool: "parrot".into(), command: "cat".into() };
    assert_eq!(cage.press(&["m", "e", "w", "Enter"], None).await, gone.into());
    assert!(cage.was_betrayed() && !cage.screen().contains("mew"), "{}", cage.screen());
}

#[tokio::test]
async fn keys_in_a_dialog_go_to_that_one_only() {
    let cage = Cage::new();
    assert_eq!(cage.press(&["1"], Some(&Dialog::read(&Screen::default(), 0..0))).await, Refusal::NoDialog.into());
    assert_eq!(cage.send("ask").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let seen = cage.dialog().await;
    let other = Dialog::read(&Screen::from_text("Allow that?\n> 1. Yes\n  2. No", 80), 0..3);
    assert_eq!(cage.press(&["1"], Some(&other)).await, Refusal::AnotherDialog.into());
    // Another one opens between the poll and the key.
    cage.betray("send-keys", &["2", "menu", "Enter"], "  Gamma");
    let changed = Refusal::Obstacle(Obstacle::Changed);
    assert_eq!(cage.press(&["Enter"], Some(&seen)).await, changed.into());
    assert!(cage.was_betrayed() && !cage.screen().contains("chose"), "{}", cage.screen());
    let menu = cage.dialog().await;
    let outcome = cage.press(&["Enter"], Some(&menu)).await;
    assert_eq!(outcome, Outcome::Accepted(None));
    cage.wait_for("● chose Alpha");
}

#[tokio::test]
async fn two_prompts_at_once_do_not_end_up_in_one() {
    let cage = Cage::new();
    // As in another process, which shares nothing with this one but the directory for locks.
    let locks = cage.directory.path().join("turns");
    let profiles = Arc::clone(&cage.profiles);
    let other = Sender::new(profiles, Settings::default(), History::off(), Some(locks.clone())).within(patient());
    let (one, two) = tokio::join!(cage.send("one"), perform(&other, &cage.parrot, prompt("two")));
    assert_eq!(std::fs::read_dir(locks).unwrap().count(), 0, "a lock was left behind");
    assert!([one, two].contains(&Outcome::Accepted(None)));
    cage.wait_for("● heard");
    assert!(!cage.screen().contains("onetwo") && !cage.screen().contains("twoone"));
}

#[tokio::test]
async fn control_characters_are_refused() {
    let cage = Cage::new();
    assert!(matches!(cage.force("a\u{1b}[201~\r").await, Outcome::Refused(Refusal::Text(_))));
}

/// Between the last poll and what is sent anything may happen. Here it does, each time.
#[tokio::test]
async fn a_program_that_takes_the_agents_place_before_the_paste_gets_nothing() {
    let cage = Cage::new();
    cage.betray("paste-buffer", &["exit", "Enter"], "runs cat");
    let outcome = cage.send("touch a\ntouch b").await;
    assert!(cage.was_betrayed(), "{outcome}");
    let gone = Refusal::AgentGone { tool: "parrot".into(), command: "cat".into() };
    assert_eq!(outcome, gone.into());
    assert!(!cage.screen().contains("touch"), "{}", cage.screen());
}

#[tokio::test]
async fn what_a_program_may_have_got_that_takes_the_agents_place_before_enter_is_said() {
    let cage = Cage::new();
    cage.betray("send-keys", &["C-u", "exit", "Enter"], "runs cat");
    let outcome = cage.send("hello").await;
    assert!(cage.was_betrayed(), "{outcome}");
    assert!(matches!(&outcome, Outcome::Unverified { why } if why.contains("cat, which runs there now")), "{outcome}");
}

#[tokio::test]
async fn enter_does_not_send_what_somebody_else_types() {
    let cage = Cage::new();
    cage.betray("send-keys", &["mine"], "❯ hellomine");
    let outcome = cage.send("hello").await;
    assert!(cage.was_betrayed(), "{outcome}");
    assert!(outcome.to_string().contains("somebody types there"), "{outcome}");
    assert!(!cage.screen().contains("heard"), "{}", cage.screen());
}

#[tokio::test]
async fn a_draft_that_somebody_begins_before_the_paste_stays_alone() {
    let cage = Cage::new();
    cage.betray("paste-buffer", &["mine"], "❯ mine");
    assert_eq!(cage.send("hello").await, Refusal::Hindrance(Hindrance::Draft).into());
    assert!(cage.was_betrayed() && !cage.screen().contains("hello"), "{}", cage.screen());
}

#[tokio::test]
async fn enter_does_not_answer_a_dialog_that_opens_before_it() {
    let cage = Cage::new();
    cage.betray("send-keys", &["C-u", "ask", "Enter"], "2. No");
    let outcome = cage.send("hello").await;
    assert!(cage.was_betrayed(), "{outcome}");
    assert!(outcome.to_string().contains("a dialog came up; Enter was not pressed"), "{outcome}");
    assert!(cage.screen().contains("2. No") && !cage.screen().contains("answered"), "{}", cage.screen());
}

#[tokio::test]
async fn an_answer_does_not_go_to_a_dialog_that_opens_before_its_key() {
    let cage = Cage::new();
    assert_eq!(cage.send("ask").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let seen = cage.dialog().await;
    // The other one would be moved in by the same key.
    cage.betray("send-keys", &["2", "letter", "Enter"], "(N)o [Yes]:");
    assert_eq!(cage.choose(&seen, "Yes").await, Refusal::AnotherDialog.into());
    assert!(cage.was_betrayed() && cage.screen().trim_end().ends_with("(N)o [Yes]:"), "{}", cage.screen());
}

/// What ticks beside a dialog is no reason to leave it unanswered.
#[tokio::test]
async fn a_screen_that_changes_all_the_time_is_sent_to_all_the_same() {
    let cage = Cage::new();
    assert_eq!(cage.send("clock").await, Outcome::Accepted(None));
    cage.wait_for("3 ticks");
    assert_eq!(cage.force("hello").await, Outcome::Accepted(None));
    cage.wait_for("● heard hello");
}

/// Who draws the screen can make any test fail, and still show at each poll what was answered.
#[tokio::test]
async fn a_dialog_that_is_another_one_at_each_key_gets_none_however_often_it_is_tried() {
    let cage = Cage::new();
    assert_eq!(cage.send("ask").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let seen = cage.dialog().await;
    cage.flicker("send-keys", "Allow this?", "Allow it all?");
    let limits = StepLimits { reaction: Span::from_millis(600), ..patient() };
    let reply = Reply::meant("No", &seen).unwrap();
    let answered = perform(&cage.sender.clone().within(limits), &cage.parrot, answer(&seen, reply)).await;
    assert_eq!(answered, Refusal::Obstacle(Obstacle::Changed).into());
    let drawn = std::fs::read_to_string(cage.directory.path().join("drawn")).unwrap();
    assert!(drawn.lines().filter(|line| *line == "Allow it all?").count() > 2, "{drawn}");
    assert!(cage.screen().contains("2. No") && !cage.screen().contains("answered"), "{}", cage.screen());
}

/// Rows that tmux reads in another way than it prints them cannot be tested; the others are.
#[tokio::test]
async fn a_row_that_tmux_cannot_test_keeps_nobody_from_answering() {
    let cage = Cage::new();
    assert_eq!(cage.send("ask a\u{200e}b").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let seen = cage.dialog().await;
    assert!(seen.text.concat().contains("Allow a<U+200E>b?"), "{:?}", seen.text);
    assert!(cage.choose(&seen, "No").await.is_accepted());
    cage.wait_for("● answered 2");
    assert_eq!(cage.send("ask a\u{200e}b").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    cage.flicker("send-keys", "  2. No", "  2. Nothing");
    let limits = StepLimits { reaction: Span::from_millis(600), ..patient() };
    let reply = Reply::meant("1", &seen).unwrap();
    let answered = perform(&cage.sender.clone().within(limits), &cage.parrot, answer(&seen, reply)).await;
    assert_eq!(answered, Refusal::Obstacle(Obstacle::Changed).into());
}

#[tokio::test]
async fn what_is_withdrawn_at_the_last_moment_sends_nothing() {
    let cage = Cage::new();
    let withdrawn = async |act: Act| {
        let (producer, to) = (Producer::Dashboard, cage.parrot.clone());
        let outcome = cage.sender.perform(Operation { at: Timestamp::default(), producer, to, act }, Closed).await;
        assert_eq!(outcome, Refusal::Withdrawn.into());
    };
    let typed = |dialog: Option<&Dialog>| {
        let dialog = dialog.cloned().map(Arc::new);
        Act::Keys { keys: keys(&["x", "Enter"]), dialog, privacy: Privacy::Open }
    };
    withdrawn(prompt("lost")).await;
    withdrawn(typed(None)).await;
    assert_eq!(cage.send("ask").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let seen = cage.dialog().await;
    withdrawn(answer(&seen, Reply::Option(1))).await;
    withdrawn(typed(Some(&seen))).await;
    assert!(cage.dialog().await.is_same(&seen) && !cage.screen().contains("lost"), "{}", cage.screen());
    // Blanks are no prompt, whoever lets them pass.
    for blanks in ["", " \n\t "] {
        assert_eq!(cage.send(blanks).await, Refusal::Text(TextError::Empty).into());
    }
}

#[tokio::test]
async fn behind_a_wrapper_an_agent_is_sent_to_only_as_long_as_the_screen_shows_it() {
    let mut cage = Cage::of("ssh");
    cage.parrot.through = Some("ssh".into());
    assert_eq!(cage.send("hello").await, Outcome::Accepted(None));
    cage.wait_for("● heard hello");
    // What answers behind it is a shell by now.
    let tty = cage.tmux.run(&["display-message", "-p", "-t", "main:", "#{pane_tty}"]);
    std::fs::write(tty.trim(), "\x1b[2J\x1b[HLast login: today\r\nhost$ ").unwrap();
    cage.wait_for("host$");
    let why = "nothing on the screen says that parrot still runs behind ssh";
    for outcome in [cage.send("lost").await, cage.force("lost").await, cage.press(&["x"], None).await] {
        assert_eq!(outcome, Refusal::Other(why.to_owned()).into());
    }
    // Nor where it is another wrapper, or the agent was never known to be behind one.
    for through in [Some("docker".to_owned()), None] {
        cage.parrot.through = through;
        let outcome = cage.send("lost").await;
        assert!(
            matches!(&outcome, Outcome::Refused(Refusal::AgentGone { command, .. }) if command == "ssh"),
            "{outcome}"
        );
    }
    assert!(!cage.screen().contains("lost"));
}

#[tokio::test]
async fn a_pane_whose_program_ended_gets_nothing() {
    let cage = Cage::new();
    assert_eq!(cage.send("ask").await, Outcome::Accepted(None));
    cage.wait_for("2. No");
    let seen = cage.dialog().await;
    cage.tmux.run(&["set-option", "-w", "-t", "main:", "remain-on-exit", "on"]);
    signal("KILL", cage.parrot.key.pid);
    let dead = || cage.tmux.run(&["display-message", "-p", "-t", "main:", "#{pane_dead}"]).trim() == "1";
    wait_until("its end", dead);
    for outcome in [cage.send("lost").await, cage.choose(&seen, "No").await, cage.press(&["x"], None).await] {
        assert_eq!(outcome, Refusal::Obstacle(Obstacle::Dead).into());
    }
}
