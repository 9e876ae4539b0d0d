//! One terminal's past: gone back to, looked at, searched, and still there after a restart.

use super::*;

impl World {
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

    fn press_in_parrot(&self, key: &str) {
        self.watched.run(&["send-keys", "-t", "birds:", key]);
    }

    /// A parrot that has asked and was answered; nothing of it is left on its screen.
    fn with_a_past() -> Self {
        let world = Self::with_parrot();
        world.open();
        world.wait("1 ready");
        world.press_in_parrot("ask");
        world.press_in_parrot("Enter");
        world.wait("1 needs you");
        world.press_in_parrot("1");
        world.watched.wait_for_text("birds:", "● answered 1");
        world.wait_without("1 needs you");
        world
    }
}

#[test]
fn the_past_of_a_terminal_is_there_now_and_after_a_restart() {
    let world = World::with_a_past();
    world.press("d");
    world.wait("what happened  0 of ");
    world.wait("● answered 1");
    assert!(!world.screen().contains("> 1. Yes"), "the dialog is gone: {}", world.screen());
    world.go_back_to("asks for approval");
    world.wait("> 1. Yes");
    assert!(!world.screen().contains("● answered 1"), "the screen is that of then: {}", world.screen());
    world.press("v");
    world.wait("[transcript]");
    world.wait("» ask");
    world.press("/");
    world.type_text("ALLOW");
    world.wait("nowhere \"ALLOW\"");
    world.press("C-u");
    world.type_text("allow");
    world.wait("of 1 \"allow\"");
    world.press("Enter");
    world.press("v");
    world.wait("[diff]");
    world.press("v");
    world.wait("[why]");
    world.wait("What changed");
    world.wait("because  row ");
    world.wait("Rules");
    world.press("Escape");
    world.wait("NAME");
    world.quit();

    world.open();
    world.wait("birds");
    world.press("d");
    world.wait("the history begins here");
    world.go_back_to("asks for approval");
    world.wait("> 1. Yes");
    // In a narrow terminal the moment stands below the list.
    world.resize(80, 24);
    wait_until("the screen below the list", || world.at("[screen]").is_some_and(|at| at.0 == 2 && at.1 > 8));
    world.wait("> 1. Yes");
    world.wait("what happened");
    world.press("Home");
    world.wait("● answered 1");
    world.press("q");
    world.wait("NAME");
    world.press("q");
    world.resize(120, 40);
    world.expect_restored();
}

#[test]
fn two_dashboards_write_one_history_and_show_each_thing_once() {
    let world = World::with_parrot();
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    let home = world.directory.path().display().to_string();
    let (config, state) = (format!("XDG_CONFIG_HOME={home}"), format!("XDG_STATE_HOME={home}/state"));
    let arguments = ["env", "LC_ALL=C.UTF-8", &config, &state, program, "-L", world.watched.name()];
    let other = PrivateTmux::start(&arguments);
    other.wait_for_text("main:", "1 ready");
    world.open();
    world.wait("1 ready");
    world.press_in_parrot("ask");
    world.press_in_parrot("Enter");
    world.wait("1 needs you");
    other.wait_for_text("main:", "1 needs you");
    world.press("m");
    world.wait("until it changes");
    world.press("m");
    world.wait("birds is muted");
    let both = [&world.operator, &other];
    for dashboard in both {
        dashboard.run(&["send-keys", "-t", "main:", "d"]);
        dashboard.wait_for_text("main:", "the history begins here");
        dashboard.run(&["send-keys", "-t", "main:", "o"]);
    }
    // One of the two has written it, and has seen it a moment earlier or later than the other.
    wait_until("what was seen is known to be what is kept", || {
        both.iter().all(|dashboard| {
            let screen = dashboard.screen("main:");
            let reported = |what: &str| screen.lines().filter(|line| line.contains(what)).count();
            reported("asks for approval") == 1 && reported("you muted") == 1
        })
    });
    let history = Command::new(program)
        .env("XDG_CONFIG_HOME", &home)
        .env("XDG_STATE_HOME", format!("{home}/state"))
        .args(["-L", world.watched.name(), "history", "--details", "birds"])
        .output()
        .unwrap();
    let text = String::from_utf8(history.stdout).unwrap();
    assert_eq!(text.matches("ready → approval").count(), 1, "{text}");
    assert!(text.contains("action       muted"), "{text}");
}

#[test]
fn a_history_that_cannot_be_written_is_reported_for_as_long_as_it_cannot() {
    let world = World::with_parrot();
    // A directory stands where the file should be.
    let file = world.directory.path().join("state/fleetwatch/history.db");
    std::fs::create_dir_all(&file).unwrap();
    world.open();
    world.wait("! history ");
    world.wait("history is not written: ");
    // Where, and what to do.
    world.wait("fleetwatch/history.db:");
    world.wait("[history]");
    world.wait("1 ready");
    world.press("d");
    world.wait("the history cannot be read now: ");
    world.wait("Parrot v1.0.0");
    world.press("Escape");
    world.wait("NAME");
    // The message goes, the trouble stays; and when it is over, it is written again and nothing is lost.
    world.press("Escape");
    world.wait_without("history is not written: ");
    world.wait("! history ");
    std::fs::remove_dir(&file).unwrap();
    world.wait_without("! history ");
    world.press("d");
    world.wait("the history begins here");
    world.press("C-c");
    world.expect_restored();
}

#[test]
fn without_a_history_the_view_tells_what_was_seen_and_says_so() {
    let world = World::with_parrot();
    let config = world.directory.path().join("fleetwatch/config.toml");
    std::fs::write(config, "[history]\nenabled = false\n").unwrap();
    world.open();
    world.wait("1 ready");
    world.press_in_parrot("ask");
    world.press_in_parrot("Enter");
    world.wait("1 needs you");
    world.press("d");
    world.wait("no history is kept");
    assert!(!world.screen().contains("→ ready"), "a first sight is no news: {}", world.screen());
    world.press("o");
    world.go_back_to("→ ready");
    world.wait("Parrot v1.0.0");
    assert!(!world.screen().contains("> 1. Yes"), "the screen is that of then: {}", world.screen());
    world.press("e");
    world.wait("the full state at that time was not kept");
    world.press("Home");
    world.wait("What follows");
    world.press("g");
    world.wait("Parrot v1.0.0");
    world.watched.run(&["detach-client", "-s", "birds"]);
    world.wait("what happened");
    world.press("C-c");
    world.expect_restored();
}

#[test]
fn what_waits_for_an_agent_is_read_and_taken_back_where_it_is_open() {
    let world = World::opened();
    world.tell_parrot("ask");
    world.wait("1 needs you");
    world.compose();
    world.type_text("read me first");
    world.press("Enter");
    world.wait("queued 1");
    world.press("d");
    world.wait("what happened");
    world.wait("  queued for ");
    world.wait(": read me first");
    world.press("U");
    world.wait("taken back");
    world.wait("you took back from it: read me");
    world.wait("you queued for it: read me");
    assert!(!world.watched.screen("birds:").contains("read me first"), "nothing was sent");
}

#[test]
fn the_branch_and_the_changes_of_a_repository_are_shown() {
    let world = World::new();
    let shop = world.directory.path().join("shop");
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
    let command = format!("cd '{}'; {}", shop.display(), world.parrot());
    world.watched.new_session("birds", &["bash", "--norc", "--noprofile", "-c", &command]);
    world.watched.wait_for_text("birds:", "❯");

    world.resize(200, 50);
    world.open();
    world.wait("BRANCH");
    world.wait("shop (trunk* +2 -1)");
    world.press("/");
    world.type_text("!is:dirty");
    world.wait_without("trunk* +2 -1");
    world.press("C-u");
    world.type_text("is:dirty branch:trunk");
    world.wait("branch:trunk");
    world.wait("trunk* +2 -1");
    world.press("Escape");
    world.wait_without("is:dirty");
    world.press("d");
    world.wait("what happened");
    world.press("v");
    world.wait("[transcript]");
    world.press("v");
    for shown in
        ["[diff]", "files 1–3 of 3", "@@ -1,3 +1,3 @@", "-two", "+zwei", "+and more", "new file, untracked, empty"]
    {
        world.wait(shown);
    }
    world.press("/");
    world.type_text("ZWEI");
    world.wait("nowhere \"ZWEI\"");
    world.press("C-u");
    world.type_text("zwei");
    world.wait("1 of 1 \"zwei\"");
    world.press("Escape");
    // Where only a few lines fit, a key leads from file to file.
    world.resize(80, 12);
    world.wait_without("[diff]");
    // The list alone is drawn by now.
    world.wait("v screen");
    world.press("]");
    world.wait("file 1 of 3");
    world.press("]");
    world.wait("files 2–3 of 3");
    world.wait_without("zwei");
    world.press("[");
    world.wait("zwei");
    world.resize(200, 50);
    let (later, later_changed_at) = index();
    assert_eq!((later, later_changed_at.unwrap()), (bytes, changed_at.unwrap()), "the index was written");

    // What is read follows what the agent does.
    git(&["checkout", "-q", "."]);
    std::fs::remove_file(shop.join("loose")).unwrap();
    world.press_in_parrot("hello");
    world.press_in_parrot("Enter");
    world.wait("no changes since the last commit");
    std::fs::rename(shop.join(".git"), shop.join("git")).unwrap();
    world.press_in_parrot("again");
    world.press_in_parrot("Enter");
    world.wait("no repository");
    world.press("q");
    world.wait("NAME");
    world.press("q");
    world.resize(120, 40);
    world.expect_restored();
}
