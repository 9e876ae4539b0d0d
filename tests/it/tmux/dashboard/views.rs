//! Layouts, lists of commands and keys, and the panes of one terminal, through real keys.

use super::*;

impl World {
    /// Where a text stands: its column and its row.
    pub(super) fn at(&self, text: &str) -> Option<(usize, usize)> {
        let screen = self.screen();
        let mut lines = screen.lines().enumerate();
        lines.find_map(|(row, line)| Some((line[..line.find(text)?].chars().count(), row)))
    }
}

#[test]
fn a_key_goes_through_the_layouts() {
    let world = World::opened();
    let (upper, right) = ("─ log ─", "─ birds ");
    world.wait(upper);
    world.wait(right);
    world.press("v");
    wait_until("the screen beside the table", || world.at(right).is_some_and(|at| at.1 == 2));
    world.press("v");
    wait_until("a grid", || world.at("birds  ready").is_some() && world.at("NAME").is_none());
    world.press("v");
    wait_until("everything", || world.at(upper).is_some() && world.at(right).is_some());
    // Where one pane fits, it is the screen.
    world.resize(80, 24);
    wait_until("the screen", || world.at(upper).is_none() && world.at(right).is_some());
    // The next dashboard begins with the layout of this one.
    world.resize(120, 40);
    wait_until("everything", || world.at(upper).is_some() && world.at(right).is_some());
    world.press("v");
    wait_until("the screen beside the table", || world.at(right).is_some_and(|at| at.1 == 2));
    world.quit();
    world.open();
    wait_until("the same again", || world.at(right).is_some_and(|at| at.1 == 2));
    world.quit();
}

#[test]
fn commands_are_found_by_typing_keys_are_listed_and_reasons_shown() {
    let world = World::opened();
    world.press(":");
    world.wait("select the terminal above");
    world.type_text("zzzz");
    world.wait_without("select the terminal above");
    world.press("C-u");
    world.type_text("sort by name");
    world.wait("› sort by name");
    world.press("Enter");
    world.wait("by name");
    world.press("C-p");
    world.type_text("explain the");
    world.wait("› explain the state");
    world.press("Enter");
    world.wait("changes with");
    // What its rules read is a key away.
    world.press("Tab");
    world.wait("read by parrot/1");
    world.press("Escape");
    world.wait_without("read by parrot/1");
    world.press("e");
    world.wait("changes with");
    world.press("q");
    world.wait_without("changes with");
    // The list of keys is longer than the screen.
    world.resize(80, 24);
    world.press("F1");
    world.wait("select the terminal above");
    assert!(!world.screen().contains("stop typing into the terminal"));
    world.press("End");
    world.wait_without("select the terminal above");
    world.press("Home");
    world.wait("select the terminal above");
    world.press("j");
    world.press("PageDown");
    world.wait_without("select the terminal above");
    // It is searched, and what is typed are no keys.
    world.press("/");
    world.type_text("stop typing");
    world.wait("1 of 1");
    world.wait("stop typing into the terminal");
    world.press("Enter");
    world.wait("] next found");
    world.press("?");
    world.wait("NAME");
    // Whatever another program has written there is drawn over.
    world.operator.run(&["send-keys", "-t", "main:", "-R"]);
    world.run_command("reload");
    world.wait("NAME");
    world.press("q");
    world.resize(120, 40);
    world.expect_restored();
}

#[test]
fn the_day_is_shown_as_the_history_sums_it_up() {
    let world = World::opened();
    for (prompt, answer) in [("ask", Some("1")), ("nap 2", None), ("hello", None)] {
        world.tell("birds", prompt);
        if let Some(answer) = answer {
            world.wait("1 needs you");
            // It waits for a while that can be told from none.
            pass(std::time::Duration::from_millis(1500));
            world.tell("birds", answer);
        }
        world.wait("finished");
        world.press("j");
        world.wait("1 ready");
    }
    world.press("D");
    world.wait(", today");
    let summary = |more: &[&str]| world.summary(more);
    let number = |line: &serde_json::Value, field: &str| line[field].as_f64().unwrap();
    for (by, name) in [("terminal", "birds"), ("agent", "parrot")] {
        world.wait(&format!("by {by}"));
        wait_until("the same as on the command line", || {
            // What somebody works or waits no longer stands still, whenever each of them has read it.
            let table = summary(&["--by", by]);
            let row = table.lines().find(|line| line.contains(name)).expect("a row").to_owned();
            let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            let [_, _, worked, waited, "-", "-", turns] = cells[..] else { panic!("{row}") };
            let screen = world.screen();
            let finished = turns.trim_end_matches(" finished");
            let shown = [name, &format!("{worked} worked"), &format!("{waited} waited"), &format!("{finished}✓")];
            turns.ends_with(" finished")
                && worked != "-"
                && waited != "-"
                && shown.iter().all(|text| screen.contains(*text))
        });
        let line: serde_json::Value = serde_json::from_str(summary(&["--by", by, "--json"]).trim()).unwrap();
        let hours = line["hours"].as_array().unwrap();
        for field in ["working_seconds", "waiting_seconds"] {
            let sum: f64 = hours.iter().map(|hour| number(hour, field)).sum();
            assert!((sum - number(&line, field)).abs() < 0.001 && sum > 0.0, "{field}: {line}");
        }
        world.press("b");
    }
    world.wait("has a label");
    world.press("h");
    world.wait("by label");
    world.wait_without(", today");
    world.press("b");
    world.wait("nobody watched on");
    world.press("Escape");
    world.wait("NAME");
    world.quit();
}

#[test]
fn one_terminal_is_looked_at_from_all_sides() {
    let world = World::opened();
    world.tell("birds", "ask");
    world.wait("1 needs you");
    world.tell("birds", "1");
    world.wait("1 finished");
    world.press("d");
    world.wait("what happened  0 of ");
    world.wait("the history begins here");
    world.press("o");
    for shown in ["[transcript]", "[diff]", "[why]", "[facts]"] {
        world.press("v");
        world.wait(shown);
    }
    world.wait("pid of the pane");
    world.wait("Process and profile");
    world.press("v");
    world.wait("[screen]");
    // Movement in the right pane, and back in the list.
    world.press("l");
    world.press("End");
    world.press("h");
    world.press("End");
    world.wait("what happened  ");
    wait_until("the first thing that is known", || {
        world.screen().lines().any(|line| line.starts_with('›') && line.contains("unknown → ready"))
    });
    world.press("Home");
    wait_until("now", || world.screen().lines().any(|line| line.starts_with("› now")));
    world.press("q");
    world.wait("NAME");
    world.quit();
}

#[test]
fn what_was_asked_stays_in_view_while_its_server_does_not_answer() {
    let world = World::with_parrot();
    world.tell_parrot("ask");
    world.open();
    world.wait("1 needs you");
    let server = world.watched.server_pid().unwrap();
    let has_row = |word: &str| world.screen().lines().any(|line| line.contains(" birds ") && line.contains(word));
    crate::support::private_tmux::signal("STOP", server);
    world.wait("1 error (1 asked before)");
    wait_until("the row to say what it asked", || has_row("asked before: "));
    crate::support::private_tmux::signal("CONT", server);
    world.wait("1 needs you");
    assert!(!has_row("asked before"), "{}", world.screen());
    world.leave();
}
