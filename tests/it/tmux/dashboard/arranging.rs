//! How the operator wants the fleet to be shown, through real keys: order, groups, filter, marks, pins, mutes.

use super::*;

impl World {
    /// What the table lists, top first: names, and the titles of groups behind `▾` or `▸`.
    pub(super) fn rows(&self) -> Vec<String> {
        let screen = self.screen();
        let below = screen.lines().skip_while(|line| !line.contains("NAME")).skip(1);
        let name = |line: &str| {
            let (fold, rest) = match line.find(['▾', '▸']) {
                Some(at) => (line[at..].chars().next(), line[at..].chars().skip(2).collect::<String>()),
                None => (None, line.chars().skip(4).collect()),
            };
            let name = rest.split("  ").next().unwrap_or_default().trim().to_owned();
            fold.map_or(name.clone(), |fold| format!("{fold} {name}"))
        };
        below.take_while(|line| !line.trim().is_empty() && !line.starts_with('─')).map(name).collect()
    }

    /// Waits until the table lists exactly this.
    pub(super) fn wait_for_rows(&self, what: &str, rows: &[&str]) {
        wait_until(&format!("{rows:?} by {what}"), || self.rows() == rows);
    }

    /// Waits until the cursor is on a row.
    pub(super) fn wait_for_cursor(&self, name: &str) {
        wait_until(&format!("the cursor on {name}"), || {
            self.screen().lines().any(|line| line.starts_with('›') && line.contains(name))
        });
    }

    pub(super) fn tell(&self, session: &str, prompt: &str) {
        self.watched.run(&["send-keys", "-t", &format!("{session}:"), prompt, "Enter"]);
    }
}

/// Ant is ready, cat works, bee asks, and abe is a task. All but the ant are on one server, the ant is on another.
fn a_mixed_fleet() -> (World, PrivateTmux) {
    let world = World::new();
    let other = PrivateTmux::unstarted();
    let config = format!(
        "[[server]]\nsocket = \"{}\"\n[[server]]\nsocket = \"{}\"\n[[terminal]]\nsession = \"bee\"\nlabel = \"loud\"\n",
        world.watched.name(),
        other.name()
    );
    std::fs::write(world.directory.path().join("fleetwatch/config.toml"), config).unwrap();
    let parrot = world.parrot();
    other.new_session("ant", &["bash", "--norc", "--noprofile", "-c", &parrot]);
    other.wait_for_text("ant:", "❯");
    world.start_parrot_in("bee");
    world.start_parrot_in("cat");
    world.type_text(&format!("clear; {}", env!("CARGO_BIN_EXE_fleetwatch")));
    world.press("Enter");
    world.wait("3 ready");
    world.tell("cat", "nap 3600");
    world.wait("1 working");
    world.tell("bee", "ask");
    world.wait("1 needs you");
    world.run_task("abe", &["sleep", "4711"]);
    world.wait("▶ abe");
    (world, other)
}

#[test]
fn rows_stand_in_every_order_and_in_every_group() {
    let (world, other) = a_mixed_fleet();
    world.arrange("sort by name");
    world.wait("by name");
    world.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    let of_agents = || world.rows().into_iter().filter(|name| name != "abe").collect::<Vec<_>>();
    world.arrange("sort by state");
    world.wait("by state");
    wait_until("what works before what is ready before what waits", || of_agents() == ["cat", "ant", "bee"]);
    world.arrange("sort by age");
    world.wait("by age");
    wait_until("the longest first", || of_agents() == ["ant", "cat", "bee"]);
    world.arrange("sort by agent");
    world.wait("by agent");
    world.wait_for_rows("agent", &["ant", "bee", "cat", "abe"]);
    world.arrange("sort by server");
    world.wait("by server");
    let one_is_first = world.watched.name() < other.name();
    world.wait_for_rows(
        "server",
        if one_is_first { &["abe", "bee", "cat", "ant"] } else { &["ant", "abe", "bee", "cat"] },
    );
    world.arrange("sort by attention");
    world.wait_without("by server");
    wait_until("the most urgent first", || of_agents() == ["bee", "cat", "ant"]);

    world.arrange("group by session");
    world.wait("grouped by session");
    world.wait_for_rows("session", &["▾ one each", "bee", "abe", "cat", "ant"]);
    world.arrange("group by agent");
    world.wait("grouped by agent");
    world.wait_for_rows("agent", &["▾ parrot", "bee", "cat", "ant", "▾ task", "abe"]);
    world.arrange("group by server");
    world.wait("grouped by server");
    wait_until("a group for each server", || {
        let rows = world.rows();
        let heads: Vec<&String> = rows.iter().filter(|row| row.starts_with('▾')).collect();
        heads.len() == 2 && heads.iter().all(|head| head.contains("fleetwatch-test-"))
    });
    world.arrange("group by label");
    world.wait("grouped by label");
    world.wait_for_rows("label", &["▾ loud", "bee", "▾ no label", "abe", "cat", "ant"]);
    // One group is folded and unfolded, from a row of it and from its head; what it hides still counts.
    world.press("Home");
    world.press("Left");
    world.wait_for_rows("label", &["▸ loud", "▾ no label", "abe", "cat", "ant"]);
    world.wait("▸ loud      1  ? 1 needs you");
    world.press("Right");
    world.wait_for_rows("label", &["▾ loud", "bee", "▾ no label", "abe", "cat", "ant"]);
    world.press("Enter");
    world.wait("▸ loud      1");
    // The next one that needs somebody is found in a folded group, forwards and backwards.
    world.press("End");
    world.press("BTab");
    world.wait_for_cursor("bee");
    world.press("Left");
    world.wait_for_rows("label", &["▸ loud", "▾ no label", "abe", "cat", "ant"]);
    world.press("Tab");
    world.wait_for_cursor("bee");
    world.quit();
}

#[test]
fn every_word_of_a_filter_holds() {
    let (world, _other) = a_mixed_fleet();
    let home = world.directory.path().file_name().unwrap().to_string_lossy().into_owned();
    world.press("Home");
    world.press("p");
    world.wait("bee is pinned");
    world.arrange("sort by name");
    world.wait("by name");
    for (filter, rows) in [
        ("be", &["bee", "abe"][..]),
        (&home, &["abe"]),
        ("agent:task", &["abe"]),
        ("!agent:task", &["bee", "ant", "cat"]),
        ("session:ca", &["cat"]),
        ("label:lou", &["bee"]),
        ("host:local !session:tasks", &["bee", "ant", "cat"]),
        ("is:blocked", &["bee"]),
        ("is:approval", &["bee"]),
        ("is:working agent:parrot", &["cat"]),
        ("is:ready", &["ant"]),
        ("is:pinned", &["bee"]),
        ("!is:pinned is:ready", &["ant"]),
        ("is:unknown", &[]),
    ] {
        world.type_text("/");
        world.press("C-u");
        world.type_text(filter);
        world.wait(&format!("{} of 4", rows.len()));
        if rows.is_empty() {
            world.wait("nothing matches ");
        } else {
            world.wait_for_rows(filter, rows);
        }
        world.press("Enter");
        world.wait("? help");
    }
    world.type_text("/");
    world.press("C-u");
    world.type_text("is:nonsense");
    world.wait("no state nonsense");
    world.wait("is: takes needs-you, working");
    world.press("Escape");
    world.wait_for_rows("name", &["bee", "abe", "ant", "cat"]);
    world.quit();
}

#[test]
fn rows_are_marked_pinned_and_muted() {
    let (world, _other) = a_mixed_fleet();
    world.arrange("sort by name");
    world.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    let marks = || world.screen().lines().filter(|line| line.contains('■')).count();
    world.press("Home");
    world.press("j");
    world.wait_for_cursor("ant");
    world.press("Space");
    world.wait("1 marked");
    world.wait_for_cursor("bee");
    world.press("Space");
    world.wait("2 marked");
    wait_until("two marks", || marks() == 2);
    // Marks outlast a filter, and can be asked for.
    world.type_text("/is:marked");
    world.wait_for_rows("marks", &["ant", "bee"]);
    world.press("Escape");
    // The row under the cursor stays where it is until the cursor leaves it.
    wait_until("all rows", || world.rows().len() == 4);
    world.press("End");
    world.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    world.press("Home");
    world.press("j");
    world.wait_for_cursor("ant");
    world.press("Space");
    world.wait("1 marked");
    world.run_command("mark all");
    world.wait("4 marked");
    world.press("Escape");
    world.wait_without("marked");
    // What is pinned stands at the top at once, and the cursor on it; what is muted counts no more.
    world.press("End");
    world.wait_for_cursor("cat");
    world.press("p");
    world.wait("cat is pinned to the top");
    world.wait_for_rows("name, pinned first", &["cat", "abe", "ant", "bee"]);
    world.wait_for_cursor("cat");
    world.press("p");
    world.wait("cat is no longer pinned");
    world.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    world.press("Tab");
    world.wait_for_cursor("bee");
    world.press("m");
    world.wait("until it changes");
    world.press("m");
    world.wait("bee is muted");
    world.wait("1 muted");
    world.wait_without("1 needs you");
    world.press("Tab");
    world.wait("nothing needs you");
    world.press("m");
    world.wait("bee is counted again");
    world.wait_without("bee is muted");
    world.wait("1 needs you");
    world.quit();
}

#[test]
fn what_the_configuration_says_of_how_rows_are_shown_holds_for_tasks() {
    let world = World::new();
    let config = format!(
        "[[server]]\nsocket = \"{}\"\n[[terminal]]\nwindow = \"bee\"\nlabel = \"builds\"\npin = true\n",
        world.watched.name()
    );
    std::fs::write(world.directory.path().join("fleetwatch/config.toml"), config).unwrap();
    world.start_parrot_in("ant");
    world.run_task("bee", &["sleep", "4711"]);
    world.open();
    world.wait(&format!("▶ {:<20}↑ task", "bee"));
    world.arrange("sort by name");
    world.wait_for_rows("name", &["bee", "ant"]);
    world.type_text("/label:builds");
    world.wait("1 of 2");
    world.press("Escape");
    world.wait_without("label:builds");
    world.quit();
}

#[test]
fn a_name_and_a_label_are_kept_beside_tmux_until_another_agent_is_begun() {
    let world = World::with_parrot();
    let twice =
        format!("{}; exec bash --norc", world.parrot().replace("exec cat", &world.parrot().replace("exec cat", ":")));
    world.watched.new_session("nest", &["bash", "--norc", "--noprofile", "-c", &twice]);
    world.watched.wait_for_text("nest:", "❯");
    world.run_task("mill", &["sleep", "4711"]);
    world.open();
    world.wait("2 ready");
    world.arrange("sort by name");
    world.wait_for_rows("name", &["birds", "mill", "nest"]);
    world.press("End");
    world.wait_for_cursor("nest");
    world.run_command("rename");
    world.wait("name of nest: nest");
    world.press("C-u");
    world.type_text("birds");
    world.press("Enter");
    world.wait("another terminal is called birds");
    world.press("C-u");
    world.type_text("aviary");
    world.press("Enter");
    world.wait_for_rows("name", &["aviary", "birds", "mill"]);
    world.run_command("label the terminal");
    world.wait("label of");
    world.type_text("loud");
    world.press("Enter");
    // tmux knows nothing of it, and everybody else does.
    let sessions = world.watched.run(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(sessions.split_whitespace().collect::<Vec<_>>(), ["birds", "nest", "tasks"]);
    let reported = |words: &[&str]| world.fleetwatch(words).1;
    let said = || {
        let all: serde_json::Value = serde_json::from_str(&reported(&["list", "--json"])).unwrap();
        let of =
            |it: &serde_json::Value| Some(format!("{} {}", it["terminal"]["id"].as_str()?, it["terminal"]["label"]));
        all.as_array().unwrap().iter().filter_map(of).collect::<Vec<_>>()
    };
    wait_until("the label in the list", || said().contains(&"aviary \"loud\"".to_owned()));
    for (name, prompt) in [("aviary", "one"), ("nest", "two"), ("nest:0", "three")] {
        assert_eq!(world.fleetwatch(&["send", name, prompt]).0, Some(0), "{name}");
        world.watched.wait_for_text("nest:", &format!("» {prompt}"));
    }
    let refused = world.fleetwatch(&["name", "birds", "nest"]);
    let why = "error: birds keeps its name: nest is what aviary is called in tmux\n\
               hint: choose a name that nothing else has\n";
    assert_eq!(refused, (Some(1), why.to_owned()));
    assert_eq!(world.fleetwatch(&["name", "mill", "grinder"]).0, Some(0));
    world.wait_for_rows("name", &["aviary", "birds", "grinder"]);
    let named = reported(&["name"]);
    assert!(named.contains("aviary   nest      loud") && named.contains("grinder  mill      -"), "{named}");
    world.type_text("/label:loud");
    world.press("Enter");
    world.wait_for_rows("label", &["aviary"]);
    world.press("Escape");
    // Right behind it, another key is one with Alt.
    world.wait_for_rows("name", &["aviary", "birds", "grinder"]);
    // It survives the dashboard.
    world.quit();
    world.open();
    world.wait("aviary");
    let history = reported(&["history", "nest"]);
    assert!(history.contains("aviary"), "the history finds it by both names: {history}");
    world.watched.run(&["send-keys", "-t", "nest:", "exit", "Enter"]);
    wait_until("the next agent under the terminal's own name", || world.rows().contains(&"nest".to_owned()));
    assert!(!world.rows().contains(&"aviary".to_owned()));
    wait_until("no label", || said().contains(&"nest null".to_owned()));
    world.quit();
}
