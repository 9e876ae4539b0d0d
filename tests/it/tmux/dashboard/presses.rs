//! What an operator does most, done with the keys that `docs/dashboard.md` says it takes.

use std::collections::BTreeMap;

use super::*;

/// The section with the table, whose rows have a task, its keys, and how many those are.
const SECTION: &str = "## Keys of common tasks\n";

/// One thing that the operator's hands do.
#[derive(Debug)]
enum Stroke {
    Key(String),
    /// Typing a text, which counts as no key.
    Text,
}

/// The tasks of the table with their keys.
fn tasks() -> BTreeMap<String, Vec<Stroke>> {
    let guide = include_str!("../../../../docs/dashboard.md");
    let section = guide.split_once(SECTION).expect("the section").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let [task, keys, count] = cells[..] else { panic!("three cells: {row}") };
        let stroke = |word: &str| match word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
            Some(key) => Stroke::Key(key.to_owned()),
            None => Stroke::Text,
        };
        let strokes: Vec<Stroke> = keys.split(' ').map(stroke).collect();
        let pressed = strokes.iter().filter(|stroke| matches!(stroke, Stroke::Key(_))).count();
        assert_eq!(pressed.to_string(), count, "{row}");
        (task.to_owned(), strokes)
    })
    .collect()
}

/// Plays tasks of the table and keeps account of them.
struct Hands {
    tasks: BTreeMap<String, Vec<Stroke>>,
}

impl Hands {
    /// Does a task with its keys and no others; `shown` is what is on the screen before each of them.
    fn play(&mut self, world: &World, task: &str, text: &str, shown: &[&str]) {
        let strokes = self.tasks.remove(task).unwrap_or_else(|| panic!("no row for {task:?}"));
        assert_eq!(strokes.len(), shown.len(), "{task}");
        for (stroke, shown) in strokes.iter().zip(shown) {
            world.wait(shown);
            match stroke {
                Stroke::Text => world.type_text(text),
                Stroke::Key(key) if key == "y" && shown.contains('?') => world.confirm(),
                Stroke::Key(key) => world.press(match key.as_str() {
                    "prefix" => "C-b",
                    "Shift-Tab" => "BTab",
                    key => key,
                }),
            }
        }
    }
}

fn with_parrots(sessions: &[&str]) -> World {
    let world = World::with_parrot();
    for session in sessions {
        world.start_parrot_in(session);
    }
    world.open();
    world.wait(&format!("{} ready", sessions.len() + 1));
    world
}

#[test]
fn each_common_task_takes_the_keys_that_the_guide_says() {
    let mut hands = Hands { tasks: tasks() };
    answering(&mut hands);
    prompting(&mut hands);
    looking(&mut hands);
    assert!(hands.tasks.is_empty(), "nobody has done {:?}", hands.tasks.keys());
}

fn answering(hands: &mut Hands) {
    let world = with_parrots(&["crows", "doves"]);
    let answered = |session: &str, answer: &str| {
        world.watched.wait_for_text(&format!("{session}:"), &format!("● answered {answer}"));
    };
    world.tell("birds", "ask make test");
    world.wait("1 needs you");
    world.tell("crows", "ask rm -rf build");
    world.wait("2 need you");
    world.press("G");
    world.wait_for_cursor("doves");
    hands.play(&world, "find who waits longest", "", &["2 need you"]);
    world.wait_for_cursor("birds");
    hands.play(&world, "approve what it asks", "", &["2 need you", "sends: Enter"]);
    answered("birds", "1");
    world.wait("1 needs you");
    world.wait_without("sends: ");
    world.press("Tab");
    world.wait_for_cursor("crows");
    let shown = ["1 needs you", "nothing is typed yet", "2  No: only the cache"];
    hands.play(&world, "refuse it, and say why", "only the cache", &shown);
    answered("crows", "2");
    world.watched.wait_for_text("crows:", "● heard only the cache");
    world.wait("crows took the prompt");
    world.leave();

    let world = with_parrots(&[]);
    world.tell("birds", "type");
    let shown =
        ["1 needs you", "sends: Enter", "enter type it", "nothing is typed yet", "2  Type something.: green, please"];
    hands.play(&world, "answer a question in your own words", "green, please", &shown);
    world.watched.wait_for_text("birds:", "● typed green, please");
    world.leave();

    let world = with_parrots(&["crows"]);
    world.tell("birds", "ask make a");
    world.tell("crows", "ask make b");
    world.wait("2 need you");
    world.press("Home");
    world.wait_for_cursor("birds");
    hands.play(&world, "approve two at once", "", &["2 need you", "1 marked", "2 marked", "enter answer them"]);
    world.watched.wait_for_text("birds:", "● answered 1");
    world.watched.wait_for_text("crows:", "● answered 1");
    world.wait("taken by 2 of 2");
    world.leave();
}

fn prompting(hands: &mut Hands) {
    let world = with_parrots(&["crows", "doves"]);
    world.press("Home");
    world.wait_for_cursor("birds");
    let shown = [
        "3 ready",
        "1 marked",
        "2 marked",
        "3 marked",
        "3 of 3 would get it now",
        "to all of you",
        "send to 3 of 3 terminals?",
    ];
    hands.play(&world, "prompt three agents at once", "to all of you", &shown);
    for session in ["birds:", "crows:", "doves:"] {
        world.watched.wait_for_text(session, "● heard to all of you");
    }
    world.leave();

    let world = with_parrots(&[]);
    world.tell("birds", "hold");
    let shown = ["1 working", "enter queues it", "and then the docs", "queued 1"];
    hands.play(&world, "queue a prompt for a working agent, and take it back", "and then the docs", &shown);
    world.wait("taken back: it is a draft for birds again");
    world.let_go();
    world.watched.wait_for_text("birds:", "● held\n❯");
    assert!(!world.watched.screen("birds:").contains("and then the docs"));
    world.leave();

    let world = World::with_parrot();
    let profile = world.directory.path().join("fleetwatch/profiles/parrot.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    std::fs::write(&profile, text.replace("[tool]\n", "[tool]\ninterrupt = [\"C-c\"]\n")).unwrap();
    world.open();
    world.tell("birds", "hold");
    hands.play(&world, "interrupt an agent", "", &["1 working", "interrupt birds (working)?"]);
    world.wait("pressed ctrl-c in birds");
    world.leave();
}

fn looking(hands: &mut Hands) {
    let world = with_parrots(&[]);
    hands.play(&world, "go there, and come back", "", &["1 ready", "[birds]", "[birds]"]);
    world.wait("? help");
    hands.play(&world, "never count an agent as needing you", "", &["? help", "mute birds"]);
    world.wait("birds is muted");
    world.leave();

    let world = World::with_parrot();
    let profile = world.directory.path().join("fleetwatch/profiles/parrot.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    let row = "failed = { text = '^● heard fail$' }\n\n[profile.composer]";
    let rule = "\n[[profile.rules]]\nid = \"failed\"\ngives = \"failed\"\nin = \"turn\"\nrows = [\"failed\"]\n";
    std::fs::write(&profile, text.replace("[profile.composer]", row) + rule).unwrap();
    world.open();
    world.wait("1 ready");
    world.tell("birds", "fail");
    world.wait("1 failed");
    // Longer than a busy machine takes between two polls.
    world.tell("birds", "nap 2");
    world.wait("1 finished");
    hands.play(&world, "find why one failed an hour ago", "", &["1 finished", "what happened"]);
    wait_until("the moment when it failed", || {
        world.screen().lines().any(|line| line.starts_with('›') && line.contains("failed"))
    });
    world.leave();

    let world = World::new();
    let shop = world.directory.path().join("shop");
    std::fs::create_dir(&shop).unwrap();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        let output = Command::new("git").current_dir(&shop).args(who).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    git(&["init", "-q"]);
    std::fs::write(shop.join("counted"), "one\ntwo\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    std::fs::write(shop.join("counted"), "one\nzwei\n").unwrap();
    let command = format!("cd '{}'; {}", shop.display(), world.parrot());
    world.watched.new_session("birds", &["bash", "--norc", "--noprofile", "-c", &command]);
    world.watched.wait_for_text("birds:", "❯");
    world.resize(200, 50);
    world.open();
    hands.play(&world, "see what an agent changed", "", &["1 ready", "what happened", "[transcript]"]);
    world.wait("+zwei");
    world.leave();
}
