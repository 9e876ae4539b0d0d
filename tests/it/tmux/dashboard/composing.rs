//! Writing prompts through real keys: lines, pastes, earlier prompts, insisting, and prompts to several that wait.

use super::*;

impl World {
    /// Hands a text to the dashboard as a terminal hands over what is pasted.
    fn paste(&self, text: &str) {
        self.operator.run(&["set-buffer", "-b", "paste", text]);
        self.operator.run(&["paste-buffer", "-p", "-d", "-b", "paste", "-t", "main:"]);
    }
}

/// The kernel hands over what was typed in pieces; tmux types long texts faster than they are read.
#[test]
fn what_is_typed_at_once_comes_whole_however_long_it_is() {
    let world = World::opened();
    for letters in [1024, 1025, 1503, 4000] {
        world.compose();
        let text = "many letters in a row ".repeat(letters / 22 + 1);
        let end = format!(" end{letters}");
        world.type_text(&format!("{}{end}", &text[..letters - end.len()]));
        world.wait(end.trim());
        world.press("Escape");
        world.wait("? help");
    }
}

#[test]
fn a_prompt_has_lines_takes_pastes_and_comes_back() {
    let world = World::opened();
    world.compose();
    world.type_text("first line");
    world.press("M-Enter");
    world.type_text("second lime");
    world.press("BSpace");
    world.press("BSpace");
    world.type_text("ne");
    world.press("C-j");
    world.paste("pasted; \"line\"\nand $another");
    world.wait("and $another");
    assert!(!world.watched.screen("birds:").contains("first"), "nothing is sent yet");
    world.press("Escape");
    world.wait("? help");
    // The draft is there again as it was, and goes as one prompt.
    world.compose();
    world.wait("second line");
    world.press("Enter");
    world.wait("birds took the prompt");
    world.watched.wait_for_text("birds:", "and $another");
    wait_until("one prompt of four lines in the history", || {
        world.history().contains(r#""text":"first line\nsecond line\npasted; \"line\"\nand $another""#)
    });
    world.wait("1 ready");
    // Nothing is no prompt.
    world.compose();
    world.press("Enter");
    world.wait("there is nothing to send yet");
    world.type_text("the last one");
    world.press("Enter");
    world.watched.wait_for_text("birds:", "● heard the last one");
    world.wait("1 ready");
    // Earlier prompts: by the arrows, and by typing.
    world.compose();
    let begins = |text: &str| world.screen().lines().any(|line| line.trim_start().starts_with(text));
    wait_until("the previous prompt", || {
        // It is looked up while the composer is drawn; what is older than it is too old.
        world.press(if begins("what should it do?") { "Up" } else { "Down" });
        begins("the last one")
    });
    world.press("C-r");
    world.wait("earlier prompts");
    world.type_text("second");
    world.wait("first line ⏎ second line");
    world.press("Enter");
    world.wait_without("earlier prompts ─");
    wait_until("the earlier prompt", || begins("second line"));
    world.press("C-c");
    world.wait("? help");
    world.quit();
}

#[test]
fn the_prompt_says_that_copy_mode_keeps_it_from_an_agent() {
    let world = World::opened();
    world.watched.run(&["copy-mode", "-t", "birds:"]);
    world.compose();
    world.wait("copy mode or another mode of tmux");
    world.watched.run(&["send-keys", "-t", "birds:", "-X", "cancel"]);
    world.wait_without("copy mode or another mode of tmux");
    world.press("Escape");
    world.wait_without("prompt to birds");
    world.quit();
}

#[test]
fn insisting_sends_where_it_is_refused_otherwise() {
    let world = World::opened();
    world.watched.run(&["send-keys", "-t", "birds:", "mine and "]);
    world.compose();
    world.wait("its input line holds an unsent draft");
    world.type_text("yours");
    // Enter lets it wait for that draft to go; taken back, it is a draft of the dashboard, which its row says.
    world.press("Enter");
    world.wait("queued for birds; U takes it back");
    world.wait("queued 1");
    world.press("U");
    world.wait("taken back: it is a draft for birds again");
    world.wait("✎");
    world.compose();
    world.press("M-s");
    world.watched.wait_for_text("birds:", "● heard mine and yours");
    world.wait("birds took the prompt");
    // What was said before of the same prompt is not said beside it.
    assert!(!world.screen().contains("taken back"), "{}", world.screen());
    world.wait_without("✎");
    world.quit();
}

#[test]
fn a_prompt_to_several_goes_to_each_when_it_is_ready() {
    let world = World::with_parrot();
    world.start_parrot_in("crows");
    world.open();
    world.wait("2 ready");
    world.tell("crows", "hold");
    world.wait("1 working");
    world.press("B");
    world.wait("mark the terminals first (space)");
    world.press("Escape");
    world.wait_without("mark the terminals first");
    world.run_command("mark all");
    world.wait("2 marked");
    world.press("B");
    world.wait("1 of 2 would get it now");
    world.type_text("to both");
    world.press("Enter");
    world.wait("send to 2 of 2 terminals?");
    world.wait("when ready");
    world.press("n");
    world.wait_without("send to 2 of 2");
    assert!(!world.watched.screen("birds:").contains("to both"));
    world.press("Enter");
    world.wait("send to 2 of 2 terminals?");
    world.confirm();
    world.wait("sent when the agent is ready");
    world.watched.wait_for_text("birds:", "● heard to both");
    world.let_go();
    world.watched.wait_for_text("crows:", "● heard to both");
    world.wait("taken by 2 of 2");
    world.press("Escape");
    world.wait("? help");
    // It was taken by all, so none is marked for it, and it is no draft any more.
    world.wait_without("2 marked");
    world.run_command("mark all");
    world.press("B");
    world.wait("2 of 2 would get it now");
    world.wait("what should it do?");
    world.press("Escape");
    world.wait("? help");
    world.quit();
}

#[test]
fn an_agent_is_interrupted_by_its_own_key() {
    let world = World::with_parrot();
    let profile = world.directory.path().join("fleetwatch/profiles/parrot.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    std::fs::write(&profile, text.replace("[tool]\n", "[tool]\ninterrupt = [\"Enter\"]\n")).unwrap();
    world.open();
    world.wait("1 ready");
    // The key of this profile sends a draft. Until the draft has been seen there is nothing to interrupt, which is said.
    world.watched.run(&["send-keys", "-t", "birds:", "half a thought"]);
    let needless = "nothing to interrupt";
    let ask = || {
        wait_until("the question", || {
            world.wait_without(needless);
            world.press("x");
            wait_until("an answer", || ["interrupt birds", needless].iter().any(|text| world.screen().contains(text)));
            world.screen().contains("interrupt birds")
        });
    };
    ask();
    // A question that came before the draft was seen changes with it, and then nothing is chosen in it any more.
    wait_until("a question with its key chosen", || {
        let is_chosen = world.screen().contains("› enter");
        if !is_chosen {
            world.press("Escape");
            world.wait("? help");
            ask();
        }
        is_chosen
    });
    world.wait("interrupt birds (ready, with a draft)?");
    world.confirm();
    world.wait("pressed enter in birds");
    world.watched.wait_for_text("birds:", "● heard half a thought");
    world.quit();
}
