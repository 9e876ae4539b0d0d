//! Writing prompts through real keys: lines, pastes, earlier prompts, insisting, and prompts to several that wait.

use super::*;

impl Desk {
    /// Hands a text to the dashboard as a terminal hands over what is pasted.
    fn paste(&self, text: &str) {
        self.operator.run(&["set-buffer", "-b", "paste", text]);
        self.operator.run(&["paste-buffer", "-p", "-d", "-b", "paste", "-t", "main:"]);
    }
}

#[test]
fn a_prompt_has_lines_takes_pastes_and_comes_back() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.compose();
    desk.type_text("first line");
    desk.press("M-Enter");
    desk.type_text("second lime");
    desk.press("BSpace");
    desk.press("BSpace");
    desk.type_text("ne");
    desk.press("C-j");
    desk.paste("pasted; \"line\"\nand $another");
    desk.wait("and $another");
    assert!(!desk.watched.screen("birds:").contains("first"), "nothing is sent yet");
    desk.press("Escape");
    desk.wait("? help");
    // The draft is there again as it was, and goes as one prompt.
    desk.compose();
    desk.wait("second line");
    desk.press("Enter");
    desk.wait("birds took the prompt");
    desk.watched.wait_for_text("birds:", "and $another");
    wait_until("one prompt of four lines in the history", || {
        desk.history().contains(r#""text":"first line\nsecond line\npasted; \"line\"\nand $another""#)
    });
    desk.wait("1 ready");
    // Nothing is no prompt.
    desk.compose();
    desk.press("Enter");
    desk.wait("there is nothing to send yet");
    desk.type_text("the last one");
    desk.press("Enter");
    desk.watched.wait_for_text("birds:", "● heard the last one");
    desk.wait("1 ready");
    // Earlier prompts: by the arrows, and by typing.
    desk.compose();
    let begins = |text: &str| desk.screen().lines().any(|line| line.trim_start().starts_with(text));
    wait_until("the previous prompt", || {
        // It is looked up while the composer is drawn; what is older than it is too old.
        desk.press(if begins("what should it do?") { "Up" } else { "Down" });
        begins("the last one")
    });
    desk.press("C-r");
    desk.wait("earlier prompts");
    desk.type_text("second");
    desk.wait("first line ⏎ second line");
    desk.press("Enter");
    desk.wait_without("earlier prompts ─");
    wait_until("the earlier prompt", || begins("second line"));
    desk.press("C-c");
    desk.wait("? help");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn the_prompt_says_that_copy_mode_keeps_it_from_an_agent() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.watched.run(&["copy-mode", "-t", "birds:"]);
    desk.compose();
    desk.wait("copy mode or another mode of tmux");
    desk.watched.run(&["send-keys", "-t", "birds:", "-X", "cancel"]);
    desk.wait_without("copy mode or another mode of tmux");
    desk.press("Escape");
    desk.wait_without("prompt to birds");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn insisting_sends_where_it_is_refused_otherwise() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.watched.run(&["send-keys", "-t", "birds:", "mine and "]);
    desk.compose();
    desk.wait("the prompt contains a draft");
    desk.type_text("yours");
    // Enter lets it wait for that draft to go; taken back, it is a draft of the dashboard, which its row says.
    desk.press("Enter");
    desk.wait("queued for birds; U takes it back");
    desk.wait("queued 1");
    desk.press("U");
    desk.wait("taken back: it is a draft for birds again");
    desk.wait("✎");
    desk.compose();
    desk.press("M-s");
    desk.watched.wait_for_text("birds:", "● heard mine and yours");
    desk.wait("birds took the prompt");
    // What was told before of the same prompt is not told beside it.
    assert!(!desk.screen().contains("taken back"), "{}", desk.screen());
    desk.wait_without("✎");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_prompt_to_several_goes_to_each_when_it_is_ready() {
    let desk = Desk::with_parrot();
    desk.start_parrot_in("crows");
    desk.open();
    desk.wait("2 ready");
    desk.tell("crows", "hold");
    desk.wait("1 working");
    desk.press("B");
    desk.wait("mark the terminals first (space)");
    desk.press("Escape");
    desk.wait_without("mark the terminals first");
    desk.press("*");
    desk.wait("2 marked");
    desk.press("B");
    desk.wait("1 of 2 would get it now");
    desk.type_text("to both");
    desk.press("Enter");
    desk.wait("send to 2 of 2 terminals?");
    desk.wait("when ready");
    desk.press("n");
    desk.wait_without("send to 2 of 2");
    assert!(!desk.watched.screen("birds:").contains("to both"));
    desk.press("Enter");
    desk.wait("send to 2 of 2 terminals?");
    desk.press("y");
    desk.wait("sent when the agent is ready");
    desk.watched.wait_for_text("birds:", "● heard to both");
    desk.let_go();
    desk.watched.wait_for_text("crows:", "● heard to both");
    desk.wait("taken by 2 of 2");
    desk.press("Escape");
    desk.wait("? help");
    // It was taken by all, so it is no draft any more.
    desk.press("B");
    desk.wait("2 of 2 would get it now");
    desk.wait("what should it do?");
    desk.press("Escape");
    desk.wait("? help");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn an_agent_is_interrupted_by_its_own_key_and_at_once_where_that_is_configured() {
    let desk = Desk::with_parrot();
    let directory = desk.directory.path().join("fleetwatch");
    std::fs::write(directory.join("config.toml"), "[ui]\nconfirm = false\n").unwrap();
    let profile = directory.join("profiles/parrot.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    std::fs::write(&profile, text.replace("[tool]\n", "[tool]\ninterrupt = [\"Enter\"]\n")).unwrap();
    desk.open();
    desk.wait("1 ready");
    // The key of this profile sends a draft. Until the draft has been seen there is nothing to interrupt, which is told,
    // and each key has one answer: a second one that comes too early would go into the question of the first.
    let draft = || desk.watched.run(&["send-keys", "-t", "birds:", "half a thought"]);
    let interrupt = |told: &str| {
        let needless = "nothing to interrupt";
        wait_until(told, || {
            desk.wait_without(needless);
            desk.press("x");
            wait_until("an answer", || [told, needless].iter().any(|text| desk.screen().contains(text)));
            desk.screen().contains(told)
        });
    };
    draft();
    interrupt("pressed enter in birds");
    desk.watched.wait_for_text("birds:", "● heard half a thought");
    std::fs::write(directory.join("config.toml"), "").unwrap();
    desk.press("C-r");
    desk.wait("configuration reloaded");
    draft();
    interrupt("interrupt birds");
    // A question that came before the draft was seen changes with it, and then nothing is chosen in it any more.
    wait_until("a question with its key chosen", || {
        let is_chosen = desk.screen().contains("› enter");
        if !is_chosen {
            desk.press("Escape");
            desk.wait("? help");
            interrupt("interrupt birds");
        }
        is_chosen
    });
    desk.wait("stops the turn of parrot");
    desk.press("Escape");
    desk.wait("? help");
    desk.press("q");
    desk.expect_restored();
}
