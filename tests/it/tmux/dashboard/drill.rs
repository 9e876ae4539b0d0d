//! One terminal's past: gone back to, looked at, searched, and still there after a restart.

use super::*;

impl Desk {
    /// The row of the list that is selected.
    fn selected_step(&self) -> String {
        self.screen().lines().find(|line| line.starts_with('›')).unwrap_or_default().to_owned()
    }

    /// Goes back in time, step by step, until one tells of something.
    fn go_back_to(&self, what: &str) {
        for step in 1..40 {
            self.press("j");
            self.wait(&format!("what happened  {step} of "));
            if self.selected_step().contains(what) {
                return;
            }
        }
        panic!("nothing tells of {what}: {}", self.screen());
    }

    fn parrot_is_told(&self, key: &str) {
        self.watched.run(&["send-keys", "-t", "birds:", key]);
    }

    /// A parrot that has asked and was answered; nothing of it is left on its screen.
    fn with_a_past() -> Self {
        let desk = Self::with_parrot();
        desk.open();
        desk.wait("1 ready");
        desk.parrot_is_told("ask");
        desk.parrot_is_told("Enter");
        desk.wait("1 needs you");
        desk.parrot_is_told("1");
        desk.watched.wait_for_text("birds:", "● answered 1");
        desk.wait_without("1 needs you");
        desk
    }
}

#[test]
fn the_past_of_a_terminal_is_there_now_and_after_a_restart() {
    let desk = Desk::with_a_past();
    desk.press("d");
    desk.wait("what happened  0 of ");
    desk.wait("● answered 1");
    assert!(!desk.screen().contains("> 1. Yes"), "the dialog is gone: {}", desk.screen());
    desk.go_back_to("asks for approval");
    desk.wait("> 1. Yes");
    assert!(!desk.screen().contains("● answered 1"), "the screen is that of then: {}", desk.screen());
    desk.press("Tab");
    desk.wait("What changed");
    desk.wait("Evidence");
    desk.press("Tab");
    desk.wait("[transcript]");
    desk.wait("» ask");
    desk.press("/");
    desk.type_text("ALLOW");
    desk.wait("nowhere \"ALLOW\"");
    desk.press("C-u");
    desk.type_text("allow");
    desk.wait("of 1 \"allow\"");
    desk.press("Enter");
    desk.press("BTab");
    desk.wait("[why]");
    desk.press("Escape");
    desk.wait("NAME");
    desk.press("q");
    desk.expect_restored();

    desk.open();
    desk.wait("birds");
    desk.press("d");
    desk.wait("the history begins here");
    desk.go_back_to("asks for approval");
    desk.wait("> 1. Yes");
    // In a narrow terminal the moment stands below the list.
    desk.resize(80, 24);
    wait_until("the screen below the list", || desk.at("[screen]").is_some_and(|at| at.0 == 2 && at.1 > 8));
    desk.wait("> 1. Yes");
    desk.wait("what happened");
    desk.press("Home");
    desk.wait("● answered 1");
    desk.press("q");
    desk.wait("NAME");
    desk.press("q");
    desk.resize(120, 40);
    desk.expect_restored();
}

#[test]
fn two_dashboards_write_one_history_and_show_each_thing_once() {
    let desk = Desk::with_parrot();
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    let home = desk.directory.path().display().to_string();
    let (config, state) = (format!("XDG_CONFIG_HOME={home}"), format!("XDG_STATE_HOME={home}/state"));
    let arguments = ["env", "LC_ALL=C.UTF-8", &config, &state, program, "-L", desk.watched.name()];
    let other = PrivateTmux::start(&arguments);
    other.wait_for_text("main:", "1 ready");
    desk.open();
    desk.wait("1 ready");
    desk.parrot_is_told("ask");
    desk.parrot_is_told("Enter");
    desk.wait("1 needs you");
    other.wait_for_text("main:", "1 needs you");
    desk.press("m");
    desk.wait("birds is muted");
    let both = [&desk.operator, &other];
    for dashboard in both {
        dashboard.run(&["send-keys", "-t", "main:", "d"]);
        dashboard.wait_for_text("main:", "the history begins here");
    }
    // One of the two has written it, and has seen it a moment earlier or later than the other.
    wait_until("what was seen is known to be what is kept", || {
        both.iter().all(|dashboard| {
            let screen = dashboard.screen("main:");
            let told = |what: &str| screen.lines().filter(|line| line.contains(what)).count();
            told("asks for approval") == 1 && told("action muted") == 1
        })
    });
    let history = Command::new(program)
        .env("XDG_CONFIG_HOME", &home)
        .env("XDG_STATE_HOME", format!("{home}/state"))
        .args(["-L", desk.watched.name(), "history", "--details", "birds"])
        .output()
        .unwrap();
    let text = String::from_utf8(history.stdout).unwrap();
    assert_eq!(text.matches("ready → approval").count(), 1, "{text}");
    assert!(text.contains("action       muted"), "{text}");
}

#[test]
fn a_history_that_cannot_be_written_is_told_for_as_long_as_it_cannot() {
    let desk = Desk::with_parrot();
    // A directory stands where the file should be.
    let file = desk.directory.path().join("state/fleetwatch/history.db");
    std::fs::create_dir_all(&file).unwrap();
    desk.open();
    desk.wait("! history ");
    desk.wait("history is not written: ");
    // Where, and what to do.
    desk.wait("fleetwatch/history.db:");
    desk.wait("[history]");
    desk.wait("1 ready");
    desk.press("d");
    desk.wait("the history cannot be read now: ");
    desk.wait("Parrot v1.0.0");
    desk.press("Escape");
    desk.wait("NAME");
    // The message goes, the trouble stays; and when it is over, it is written again and nothing is lost.
    desk.press("Escape");
    desk.wait_without("history is not written: ");
    desk.wait("! history ");
    std::fs::remove_dir(&file).unwrap();
    desk.wait_without("! history ");
    desk.press("d");
    desk.wait("the history begins here");
    desk.press("C-c");
    desk.expect_restored();
}

#[test]
fn without_a_history_the_view_tells_what_was_seen_and_says_so() {
    let desk = Desk::with_parrot();
    let config = desk.directory.path().join("fleetwatch/config.toml");
    std::fs::write(config, "[history]\nenabled = false\n").unwrap();
    desk.open();
    desk.wait("1 ready");
    desk.parrot_is_told("ask");
    desk.parrot_is_told("Enter");
    desk.wait("1 needs you");
    desk.press("d");
    desk.wait("no history is kept");
    desk.go_back_to("→ ready");
    desk.wait("Parrot v1.0.0");
    assert!(!desk.screen().contains("> 1. Yes"), "the screen is that of then: {}", desk.screen());
    desk.press("e");
    desk.wait("the full state at that time was not kept");
    desk.press("Home");
    desk.wait("What follows");
    desk.press("g");
    desk.wait("Parrot v1.0.0");
    desk.watched.run(&["detach-client", "-s", "birds"]);
    desk.wait("what happened");
    desk.press("C-c");
    desk.expect_restored();
}

#[test]
fn what_waits_for_an_agent_is_read_and_taken_back_where_it_is_looked_into() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.tell_parrot("ask");
    desk.wait("1 needs you");
    desk.compose();
    desk.type_text("read me first");
    desk.press("M-r");
    desk.wait("queued 1");
    desk.press("d");
    desk.wait("what happened");
    desk.wait("  queued for ");
    desk.wait(": read me first");
    desk.wait("U takes it back");
    desk.press("U");
    desk.wait("taken back");
    desk.wait_without("U takes it back");
    desk.wait("you took back from it: read me");
    desk.wait("you queued for it: read me");
    assert!(!desk.watched.screen("birds:").contains("read me first"), "nothing was sent");
}

#[test]
fn the_branch_and_the_changes_of_a_repository_are_shown() {
    let desk = Desk::new();
    let shop = desk.directory.path().join("shop");
    std::fs::create_dir(&shop).unwrap();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        let output = Command::new("git").current_dir(&shop).args(who).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    git(&["init", "-q", "-b", "trunk"]);
    std::fs::write(shop.join("counted"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(shop.join("kept"), "as it is\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    std::fs::write(shop.join("counted"), "one\nzwei\nthree\n").unwrap();
    std::fs::write(shop.join("kept"), "as it is\nand more\n").unwrap();
    std::fs::write(shop.join("loose"), "").unwrap();
    let index =
        || (std::fs::read(shop.join(".git/index")).unwrap(), shop.join(".git/index").metadata().unwrap().modified());
    let (bytes, changed_at) = index();
    let command = format!("cd '{}'; {}", shop.display(), desk.parrot());
    desk.watched.new_session("birds", &["bash", "--norc", "--noprofile", "-c", &command]);
    desk.watched.wait_for_text("birds:", "❯");

    desk.resize(200, 50);
    desk.open();
    desk.wait("BRANCH");
    desk.wait("shop (trunk* +2 −1)");
    desk.press("/");
    desk.type_text("!is:dirty");
    desk.wait_without("trunk* +2 −1");
    desk.press("C-u");
    desk.type_text("is:dirty branch:trunk");
    desk.wait("trunk* +2 −1");
    desk.press("Escape");
    desk.wait_without("is:dirty");
    desk.press("d");
    desk.wait("what happened");
    desk.press("BTab");
    desk.wait("[facts]");
    desk.press("BTab");
    for shown in ["[diff]", "file 1 of 3", "@@ -1,3 +1,3 @@", "-two", "+zwei", "+and more", "? loose"] {
        desk.wait(shown);
    }
    desk.press("/");
    desk.type_text("ZWEI");
    desk.wait("nowhere \"ZWEI\"");
    desk.press("C-u");
    desk.type_text("zwei");
    desk.wait("1 of 1 \"zwei\"");
    desk.press("Escape");
    // Where only a few lines fit, a key leads from file to file.
    desk.resize(80, 12);
    desk.wait_without("[diff]");
    // The list alone is drawn by now.
    desk.wait("tab screen");
    desk.press("]");
    desk.wait("file 1 of 3");
    desk.press("]");
    desk.wait("files 2–3 of 3");
    desk.wait_without("zwei");
    desk.press("[");
    desk.wait("zwei");
    desk.resize(200, 50);
    let (later, later_changed_at) = index();
    assert_eq!((later, later_changed_at.unwrap()), (bytes, changed_at.unwrap()), "the index was written");

    // What is read follows what the agent does.
    git(&["checkout", "-q", "."]);
    std::fs::remove_file(shop.join("loose")).unwrap();
    desk.parrot_is_told("hello");
    desk.parrot_is_told("Enter");
    desk.wait("no changes since the last commit");
    std::fs::rename(shop.join(".git"), shop.join("git")).unwrap();
    desk.parrot_is_told("again");
    desk.parrot_is_told("Enter");
    desk.wait("no repository");
    desk.press("q");
    desk.wait("NAME");
    desk.press("q");
    desk.resize(120, 40);
    desk.expect_restored();
}
