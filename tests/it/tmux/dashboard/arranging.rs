//! How the operator wants the fleet to be shown, through real keys: order, groups, filter, marks, pins, mutes.

use super::*;

impl Desk {
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
fn a_mixed_fleet() -> (Desk, PrivateTmux) {
    let desk = Desk::new();
    let other = PrivateTmux::unstarted();
    let config = format!(
        "[[server]]\nsocket = \"{}\"\n[[server]]\nsocket = \"{}\"\n[[terminal]]\nsession = \"bee\"\nlabel = \"loud\"\n",
        desk.watched.name(),
        other.name()
    );
    std::fs::write(desk.directory.path().join("fleetwatch/config.toml"), config).unwrap();
    let parrot = desk.parrot();
    other.new_session("ant", &["bash", "--norc", "--noprofile", "-c", &parrot]);
    other.wait_for_text("ant:", "❯");
    desk.start_parrot_in("bee");
    desk.start_parrot_in("cat");
    desk.type_text(&format!("clear; {}", env!("CARGO_BIN_EXE_fleetwatch")));
    desk.press("Enter");
    desk.wait("3 ready");
    desk.tell("cat", "nap 3600");
    desk.wait("1 working");
    desk.tell("bee", "ask");
    desk.wait("1 needs you");
    desk.run_task("abe", &["sleep", "4711"]);
    desk.wait("▶ abe");
    (desk, other)
}

#[test]
fn rows_stand_in_every_order_and_in_every_group() {
    let (desk, other) = a_mixed_fleet();
    desk.press("s");
    desk.wait("by name");
    desk.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    let of_agents = || desk.rows().into_iter().filter(|name| name != "abe").collect::<Vec<_>>();
    desk.press("s");
    desk.wait("by phase");
    wait_until("what works before what is ready before what waits", || of_agents() == ["cat", "ant", "bee"]);
    desk.press("s");
    desk.wait("by age");
    wait_until("the longest first", || of_agents() == ["ant", "cat", "bee"]);
    desk.press("s");
    desk.wait("by agent");
    desk.wait_for_rows("agent", &["ant", "bee", "cat", "abe"]);
    desk.press("s");
    desk.wait("by server");
    let one_is_first = desk.watched.name() < other.name();
    desk.wait_for_rows(
        "server",
        if one_is_first { &["abe", "bee", "cat", "ant"] } else { &["ant", "abe", "bee", "cat"] },
    );
    desk.press("s");
    desk.wait_without("by server");
    wait_until("the most urgent first", || of_agents() == ["bee", "cat", "ant"]);

    desk.press("b");
    desk.wait("grouped by session");
    desk.wait_for_rows("session", &["▾ bee", "bee", "▾ ant", "ant", "▾ cat", "cat", "▾ tasks", "abe"]);
    desk.press("b");
    desk.wait("grouped by agent");
    desk.wait_for_rows("agent", &["▾ parrot", "bee", "cat", "ant", "▾ task", "abe"]);
    desk.press("b");
    desk.wait("grouped by server");
    wait_until("a group for each server", || {
        let rows = desk.rows();
        let heads: Vec<&String> = rows.iter().filter(|row| row.starts_with('▾')).collect();
        heads.len() == 2 && heads.iter().all(|head| head.contains("fleetwatch-test-"))
    });
    desk.press("b");
    desk.wait("grouped by label");
    desk.wait_for_rows("label", &["▾ loud", "bee", "▾ the others", "abe", "cat", "ant"]);
    // One group is folded and unfolded, from a row of it and from its head; what it hides still counts.
    desk.press("Home");
    desk.press("z");
    desk.wait_for_rows("label", &["▸ loud", "▾ the others", "abe", "cat", "ant"]);
    desk.wait("▸ loud        1  ? 1 needs you");
    desk.press("z");
    desk.wait_for_rows("label", &["▾ loud", "bee", "▾ the others", "abe", "cat", "ant"]);
    desk.press("Enter");
    desk.wait("▸ loud        1");
    // The next one that needs somebody is found in a folded group, forwards and backwards.
    desk.press("End");
    desk.press("N");
    desk.wait_for_cursor("bee");
    desk.press("Z");
    desk.wait_for_rows("label", &["▸ loud", "▸ the others"]);
    desk.press("n");
    desk.wait_for_cursor("bee");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn every_word_of_a_filter_holds() {
    let (desk, _other) = a_mixed_fleet();
    let home = desk.directory.path().file_name().unwrap().to_string_lossy().into_owned();
    desk.press("Home");
    desk.press("p");
    desk.wait("bee is pinned");
    desk.press("s");
    desk.wait("by name");
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
        desk.type_text("/");
        desk.press("C-u");
        desk.type_text(filter);
        desk.wait(&format!("{} of 4", rows.len()));
        if rows.is_empty() {
            desk.wait("No terminal matches the filter");
        } else {
            desk.wait_for_rows(filter, rows);
        }
        desk.press("Enter");
        desk.wait("? help");
    }
    desk.type_text("/");
    desk.press("C-u");
    desk.type_text("is:nonsense");
    desk.wait("no state nonsense");
    desk.wait("is: needs-you working");
    desk.press("Escape");
    desk.wait_for_rows("name", &["bee", "abe", "ant", "cat"]);
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn rows_are_marked_pinned_and_muted() {
    let (desk, _other) = a_mixed_fleet();
    desk.press("s");
    desk.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    let marks = || desk.screen().lines().filter(|line| line.contains('■')).count();
    desk.press("Home");
    desk.press("j");
    desk.wait_for_cursor("ant");
    desk.press("Space");
    desk.wait("1 marked");
    desk.wait_for_cursor("bee");
    desk.press("Space");
    desk.wait("2 marked");
    wait_until("two marks", || marks() == 2);
    // Marks outlast a filter, and can be asked for.
    desk.type_text("/is:marked");
    desk.wait_for_rows("marks", &["ant", "bee"]);
    desk.press("Escape");
    // The row under the cursor stays where it is until the cursor leaves it.
    wait_until("all rows", || desk.rows().len() == 4);
    desk.press("End");
    desk.wait_for_rows("name", &["abe", "ant", "bee", "cat"]);
    desk.press("Home");
    desk.press("j");
    desk.wait_for_cursor("ant");
    desk.press("Space");
    desk.wait("1 marked");
    desk.press("*");
    desk.wait("4 marked");
    desk.press("u");
    desk.wait_without("marked");
    // What is pinned stands at the top as soon as the cursor has left it, what is muted counts no more.
    desk.press("End");
    desk.wait_for_cursor("cat");
    desk.press("p");
    desk.wait("cat is pinned to the top");
    desk.press("Home");
    desk.wait_for_cursor("abe");
    desk.press("End");
    desk.wait_for_rows("name, pinned first", &["cat", "abe", "ant", "bee"]);
    desk.press("Home");
    desk.wait_for_cursor("cat");
    desk.press("p");
    desk.wait("cat is no longer pinned");
    desk.press("n");
    desk.wait_for_cursor("bee");
    desk.press("m");
    desk.wait("bee is muted: it will not count as needing you");
    desk.wait("1 muted");
    desk.wait_without("1 needs you");
    desk.press("n");
    desk.wait("nothing needs you");
    desk.press("m");
    desk.wait("bee is counted again when it needs you");
    desk.wait_without("bee is muted");
    desk.wait("1 needs you");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn what_the_configuration_says_of_how_rows_are_shown_holds_for_tasks() {
    let desk = Desk::new();
    let config = format!(
        "[[server]]\nsocket = \"{}\"\n[[terminal]]\nwindow = \"bee\"\nlabel = \"builds\"\npin = true\n",
        desk.watched.name()
    );
    std::fs::write(desk.directory.path().join("fleetwatch/config.toml"), config).unwrap();
    desk.start_parrot_in("ant");
    desk.run_task("bee", &["sleep", "4711"]);
    desk.open();
    desk.wait("↑▶ bee");
    desk.press("s");
    desk.wait_for_rows("name", &["bee", "ant"]);
    desk.type_text("/label:builds");
    desk.wait("1 of 2");
    desk.press("Escape");
    desk.wait_without("label:builds");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn a_name_and_a_label_are_kept_beside_tmux_until_another_agent_is_begun() {
    let desk = Desk::with_parrot();
    let twice =
        format!("{}; exec bash --norc", desk.parrot().replace("exec cat", &desk.parrot().replace("exec cat", ":")));
    desk.watched.new_session("nest", &["bash", "--norc", "--noprofile", "-c", &twice]);
    desk.watched.wait_for_text("nest:", "❯");
    desk.run_task("mill", &["sleep", "4711"]);
    desk.open();
    desk.wait("2 ready");
    desk.press("s");
    desk.wait_for_rows("name", &["birds", "mill", "nest"]);
    desk.press("End");
    desk.wait_for_cursor("nest");
    desk.press(",");
    desk.wait("name of nest: nest");
    desk.press("C-u");
    desk.type_text("birds");
    desk.press("Enter");
    desk.wait("another terminal is called birds");
    desk.press("C-u");
    desk.type_text("aviary");
    desk.press("Enter");
    desk.wait_for_rows("name", &["aviary", "birds", "mill"]);
    desk.press("L");
    desk.type_text("loud");
    desk.press("Enter");
    // tmux knows nothing of it, and everybody else does.
    let sessions = desk.watched.run(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(sessions.split_whitespace().collect::<Vec<_>>(), ["birds", "nest", "tasks"]);
    let told = |words: &[&str]| desk.fleetwatch(words).1;
    let said = || {
        let all: serde_json::Value = serde_json::from_str(&told(&["list", "--json"])).unwrap();
        let of =
            |it: &serde_json::Value| Some(format!("{} {}", it["terminal"]["id"].as_str()?, it["terminal"]["label"]));
        all.as_array().unwrap().iter().filter_map(of).collect::<Vec<_>>()
    };
    wait_until("the label in the list", || said().contains(&"aviary \"loud\"".to_owned()));
    for (name, prompt) in [("aviary", "one"), ("nest", "two"), ("nest:0", "three")] {
        assert_eq!(desk.fleetwatch(&["send", name, prompt]).0, Some(0), "{name}");
        desk.watched.wait_for_text("nest:", &format!("» {prompt}"));
    }
    let refused = desk.fleetwatch(&["note", "birds", "--name", "nest"]);
    let why = "error: birds keeps its name: nest is what aviary is called in tmux\n\
               hint: choose a name that nothing else has\n";
    assert_eq!(refused, (Some(1), why.to_owned()));
    assert_eq!(desk.fleetwatch(&["note", "mill", "--name", "grinder", "flour"]).0, Some(0));
    desk.wait_for_rows("name", &["aviary", "birds", "grinder"]);
    desk.wait("# flour");
    let noted = told(&["note"]);
    assert!(noted.contains("aviary   nest      loud") && noted.contains("grinder  mill             flour"), "{noted}");
    desk.type_text("/label:loud");
    desk.press("Enter");
    desk.wait_for_rows("label", &["aviary"]);
    desk.press("Escape");
    // Right behind it, another key is one with Alt.
    desk.wait_for_rows("name", &["aviary", "birds", "grinder"]);
    // It survives the dashboard.
    desk.press("q");
    desk.expect_restored();
    desk.open();
    desk.wait("aviary");
    let history = told(&["history", "nest"]);
    assert!(history.contains("aviary"), "the history finds it by both names: {history}");
    desk.watched.run(&["send-keys", "-t", "nest:", "exit", "Enter"]);
    wait_until("the next agent under the terminal's own name", || desk.rows().contains(&"nest".to_owned()));
    assert!(!desk.rows().contains(&"aviary".to_owned()));
    wait_until("no label", || said().contains(&"nest null".to_owned()));
    desk.press("q");
    desk.expect_restored();
}
