//! How the dashboard looks on terminals of all kinds: their colours, their characters, and themes of the operator's own.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::World;
use crate::support::private_tmux::wait_until;

/// The shapes of the working row's glyph that turn, and the one that stands still.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const STILL: char = '⠿';

impl World {
    /// With a parrot that asks something.
    fn with_a_question() -> Self {
        let world = Self::with_parrot();
        world.tell_parrot("ask");
        world
    }

    /// Opens the dashboard in an environment, and leaves it once what it shows was checked.
    fn check_in(&self, environment: &str, shown: &str, check: impl FnOnce()) {
        self.open_with(environment);
        self.wait(shown);
        check();
        self.press("q");
        self.expect_restored();
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.directory.path().join("fleetwatch").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The numbers of every style on the screen, as the dashboard's own terminal got them.
    fn codes(&self) -> Vec<String> {
        let styled = self.operator.run(&["capture-pane", "-e", "-p", "-t", "main:"]);
        let codes = styled.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m'));
        codes.map(|(code, _)| code.to_owned()).collect()
    }

    /// Which kinds of colour there are on the screen.
    fn kinds_of_colour(&self) -> BTreeSet<&'static str> {
        let kind = |code: &String| {
            let numbers: Vec<&str> = code.split(';').collect();
            let has = |kind| numbers.windows(2).any(|two| matches!(two[0], "38" | "48") && two[1] == kind);
            // The first sixteen of the indexed ones are the terminal's own palette.
            let is_fine = |three: &[&str]| three[1] == "5" && three[2].parse::<u8>().is_ok_and(|index| index >= 16);
            // 39 and 49 are the terminal's own colours, numbers of one digit are bold, dim and the like.
            let any = numbers.iter().any(|number| number.len() > 1 && !matches!(*number, "39" | "49"));
            match any {
                _ if has("2") => Some("true"),
                _ if numbers.windows(3).any(is_fine) => Some("indexed"),
                any => any.then_some("sixteen"),
            }
        };
        self.codes().iter().filter_map(kind).collect()
    }

    /// The glyph of the only row, which works, for as long as it does; up to some time.
    fn glyphs_of_work(&self, time: Duration) -> BTreeSet<char> {
        let (start, mut glyphs) = (Instant::now(), BTreeSet::new());
        while start.elapsed() < time {
            let screen = self.screen();
            let row = screen.lines().find(|line| line.contains("birds") && line.contains("working"));
            let Some(row) = row else { break };
            glyphs.extend(row.chars().nth(2));
        }
        glyphs
    }
}

#[test]
fn no_colour_means_no_colour() {
    let world = World::with_a_question();
    for environment in ["NO_COLOR=1", "NO_COLOR=1 COLORTERM=truecolor", "TERM=dumb"] {
        world.check_in(environment, "1 needs you", || {
            assert_eq!(world.kinds_of_colour(), BTreeSet::new(), "{environment}: {:?}", world.codes());
            // Bold, reversed and dim carry what colour would.
            assert!(
                world.codes().iter().any(|code| code.split(';').any(|number| number == "7")),
                "{:?}",
                world.codes()
            );
        });
    }
}

#[test]
fn a_terminal_gets_no_more_colours_than_it_has() {
    let world = World::with_a_question();
    // All colours of this theme are fine ones.
    world.write("config.toml", "[ui]\ntheme = \"light\"\n");
    for (environment, kind) in [
        ("COLORTERM=truecolor TERM=screen", "true"),
        ("env -u COLORTERM TERM=xterm-direct", "true"),
        ("env -u COLORTERM TERM=xterm-256color", "indexed"),
        ("env -u COLORTERM TERM=tmux", "indexed"),
        ("env -u COLORTERM TERM=screen", "sixteen"),
        ("env -u COLORTERM TERM=linux", "sixteen"),
    ] {
        world.check_in(environment, "1 needs you", || {
            assert_eq!(world.kinds_of_colour(), BTreeSet::from([kind]), "{environment}: {:?}", world.codes());
        });
    }
}

#[test]
fn a_terminal_without_utf_8_gets_ascii_only() {
    let world = World::with_a_question();
    for environment in ["LC_ALL=C", "LC_ALL= LC_CTYPE=POSIX LANG=C.UTF-8", "LC_ALL= LC_CTYPE= LANG=de_DE.ISO-8859-1"] {
        world.check_in(environment, "|? birds", || {
            for (key, shown) in [("?", "+ keys ---"), ("Escape", "- log ---"), ("Enter", "> 1  Yes")] {
                world.press(key);
                world.wait(shown);
                assert!(world.screen().is_ascii(), "{environment}: {}", world.screen());
            }
            world.press("Escape");
            world.wait("? help");
        });
    }
    // And the operator may want it so.
    world.write("config.toml", "[ui]\nunicode = false\n");
    world.check_in("", "|? birds", || assert!(world.screen().is_ascii(), "{}", world.screen()));
}

#[test]
fn nothing_moves_where_nothing_is_to_move() {
    let world = World::with_parrot();
    world.watched.run(&["send-keys", "-t", "birds:", "nap 4711", "Enter"]);
    world.open();
    world.wait("1 working");
    let turning = world.glyphs_of_work(Duration::from_secs(2));
    assert!(turning.len() > 1 && turning.iter().all(|glyph| SPINNER.contains(glyph)), "{turning:?}");
    // It is read while the dashboard is open.
    world.write("config.toml", "[ui]\nmotion = false\n");
    wait_until("the spinner to stand still", || world.screen().contains(STILL));
    assert_eq!(world.glyphs_of_work(Duration::from_secs(2)), BTreeSet::from([STILL]));
    world.quit();
}

#[test]
fn a_theme_of_ones_own_is_refused_with_its_place_and_changes_nothing() {
    let world = World::with_parrot();
    let right = include_str!("../../../../config/themes/dark.toml").replace("\"·\"", "\"R\"");
    let line = right.lines().position(|line| line.starts_with("finished ")).unwrap() + 1;
    let wrong: Vec<String> = right
        .lines()
        .map(
            |line| {
                if line.starts_with("finished ") { line.replace("\"green\"", "\"cyanish\"") } else { line.to_owned() }
            },
        )
        .collect();
    let wrong = wrong.join("\n");
    let column = wrong.lines().nth(line - 1).unwrap().chars().collect::<String>();
    let column = column.split("\"cyanish\"").next().unwrap().chars().count() + 1;
    let refused = format!("mine.toml:{line}:{column}: \"cyanish\" is not a colour");
    world.write("config.toml", "[ui]\ntheme = \"mine\"\n");
    world.write("themes/mine.toml", &wrong);
    let program = env!("CARGO_BIN_EXE_fleetwatch");
    world.type_text(&format!("clear; {program} -L {}; echo \"code $?\"", world.watched.name()));
    world.press("Enter");
    world.wait("code 2");
    // Long paths are wrapped by the terminal.
    let screen = world.screen().replace('\n', "");
    assert!(screen.contains(&refused) && screen.contains("hint: a colour is a name"), "{refused}: {screen}");
    world.write("themes/mine.toml", &right);
    world.open();
    world.wait("R birds");
    world.write("themes/mine.toml", &wrong.replace("\"R\"", "\"S\""));
    world.wait("✗ nothing was changed:");
    let shown = world.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&refused) && shown.contains("R birds"), "{refused}: {shown}");
    // Not even when one asks for it.
    world.press("C-r");
    world.write("themes/mine.toml", &right.replace("\"R\"", "\"S\""));
    world.wait("S birds");
    std::fs::remove_file(world.directory.path().join("fleetwatch/themes/mine.toml")).unwrap();
    world.wait("unknown theme `mine`");
    assert!(world.screen().contains("S birds"));
    world.quit();
}

#[test]
fn in_80_columns_nobody_is_left_out_without_a_word() {
    let world = World::with_parrot();
    for session in ["crows", "doves", "finches"] {
        world.start_parrot_in(session);
    }
    world.watched.run(&["send-keys", "-t", "crows:", "ask", "Enter"]);
    world.resize(80, 24);
    world.open();
    world.wait("1 needs you");
    world.wait("·3");
    world.run_command("mark all");
    world.wait("4 marked");
    world.press("B");
    world.wait("prompt to 4 terminals");
    world.wait("when ready  crows    a dialog is open");
    world.wait("now         finches");
    world.resize(80, 15);
    world.wait("now 3  birds, doves, finches");
    world.wait("when ready 1  crows");
    world.resize(80, 24);
    world.press("Escape");
    world.wait("? help");
    // One prompt has its ways to be sent in sight.
    world.press("End");
    world.press("i");
    world.wait("prompt to finches");
    for hint in ["alt-enter new line", "alt-s send anyway"] {
        world.wait(hint);
    }
    world.press("Escape");
    world.wait("? help");
    // Grouped by agent and folded.
    world.arrange("group by agent");
    world.press("Left");
    world.wait("▸ parrot  4  ■ 4 marked  ? 1 needs you");
    world.quit();
}

#[test]
fn a_frame_that_shows_the_same_writes_nothing_and_a_terminal_that_is_asked_to_redraw_gets_all() {
    let world = World::new();
    world.open();
    world.wait("No tmux server is running on");
    let path = world.directory.path().join("written");
    let written = || std::fs::read_to_string(&path).unwrap_or_default();
    world.operator.run(&["pipe-pane", "-t", "main:", &format!("cat >> '{}'", path.display())]);
    for _ in 0..8 {
        // Each key asks for a frame, and the command takes longer than that needs.
        world.press("Home");
        world.fleetwatch(&["list"]);
    }
    assert_eq!(written(), "");
    world.type_text(":reload");
    world.press("Enter");
    wait_until("the whole screen", || written().contains("No tmux server is running on"));
}
