//! Layouts, lists of commands and keys, and the panes of one terminal, through real keys.

use super::*;

impl Desk {
    /// Where a text stands: its column and its row.
    pub(super) fn at(&self, text: &str) -> Option<(usize, usize)> {
        let screen = self.screen();
        let mut lines = screen.lines().enumerate();
        lines.find_map(|(row, line)| Some((line[..line.find(text)?].chars().count(), row)))
    }
}

#[test]
fn panes_are_laid_out_and_resized_by_keys() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    let (upper, right) = ("─ log ─", "─ birds ");
    desk.wait(upper);
    desk.wait(right);
    let (level, column) = (desk.at(upper).unwrap().1, desk.at(right).unwrap().0);
    desk.type_text("--");
    wait_until("the divider two rows up", || desk.at(upper).is_some_and(|at| at.1 == level - 2));
    desk.type_text("+++");
    wait_until("the divider a row down", || desk.at(upper).is_some_and(|at| at.1 == level + 1));
    desk.type_text("<<");
    wait_until("less of the left pane", || desk.at(right).is_some_and(|at| at.0 == column - 8));
    desk.type_text(">");
    wait_until("more of the left pane", || desk.at(right).is_some_and(|at| at.0 == column - 4));
    desk.press("v");
    wait_until("the screen beside the table", || desk.at(right).is_some_and(|at| at.1 == 2));
    desk.press("v");
    wait_until("a grid", || desk.at("birds  ready").is_some() && desk.at("NAME").is_none());
    desk.press("v");
    wait_until("the screen alone", || desk.at(upper).is_none() && desk.at(right).is_some());
    desk.press("v");
    wait_until("the log alone", || desk.at(upper).is_some() && desk.at(right).is_none());
    desk.press("v");
    wait_until("the table alone", || desk.at(upper).is_none() && desk.at(right).is_none());
    desk.press("v");
    wait_until("everything", || desk.at(upper).is_some() && desk.at(right).is_some());
    // Where one pane fits, a key changes which one.
    desk.resize(80, 24);
    wait_until("the screen", || desk.at(upper).is_none() && desk.at(right).is_some());
    desk.press("Tab");
    wait_until("the log", || desk.at(upper).is_some() && desk.at(right).is_none());
    desk.press("Tab");
    wait_until("the screen", || desk.at(upper).is_none() && desk.at(right).is_some());
    // The next dashboard begins with the layout of this one.
    desk.resize(120, 40);
    desk.press("v");
    wait_until("the screen beside the table", || desk.at(right).is_some_and(|at| at.1 == 2));
    desk.press("q");
    desk.expect_restored();
    desk.open();
    wait_until("the same again", || desk.at(right).is_some_and(|at| at.1 == 2));
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn commands_are_found_by_typing_keys_are_listed_and_reasons_told() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.press(":");
    desk.wait("select the terminal above");
    desk.type_text("zzzz");
    desk.wait_without("select the terminal above");
    desk.press("C-u");
    desk.type_text("sort by");
    desk.wait("› sort by attention");
    desk.press("Enter");
    desk.wait("by name");
    desk.press("C-p");
    desk.type_text("explain the");
    desk.wait("› explain the state");
    desk.press("Enter");
    desk.wait("changes with");
    // What its rules read is a key away.
    desk.press("Tab");
    desk.wait("read by parrot/1");
    desk.press("Escape");
    desk.wait_without("read by parrot/1");
    desk.press("e");
    desk.wait("changes with");
    desk.press("q");
    desk.wait_without("changes with");
    // The list of keys is longer than the screen.
    desk.resize(80, 24);
    desk.press("F1");
    desk.wait("select the terminal above");
    assert!(!desk.screen().contains("stop typing into the terminal"));
    desk.press("End");
    desk.wait_without("select the terminal above");
    desk.press("Home");
    desk.wait("select the terminal above");
    desk.press("j");
    desk.press("PageDown");
    desk.wait_without("select the terminal above");
    // It is searched, and what is typed are no keys.
    desk.press("/");
    desk.type_text("stop typing");
    desk.wait("1 of 1");
    desk.wait("stop typing into the terminal");
    desk.press("Enter");
    desk.wait("n next found");
    desk.press("?");
    desk.wait("NAME");
    // Whatever another program has written there is drawn over.
    desk.operator.run(&["send-keys", "-t", "main:", "-R"]);
    desk.press("C-l");
    desk.wait("NAME");
    desk.press("q");
    desk.resize(120, 40);
    desk.expect_restored();
}

#[test]
fn the_day_is_told_as_the_history_sums_it_up() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    for (prompt, answer) in [("ask", Some("1")), ("nap 2", None), ("hello", None)] {
        desk.tell("birds", prompt);
        if let Some(answer) = answer {
            desk.wait("1 needs you");
            // It waits for a while that can be told from none.
            std::thread::sleep(std::time::Duration::from_millis(1500));
            desk.tell("birds", answer);
        }
        desk.wait("finished");
        desk.press("S");
        desk.wait("1 ready");
    }
    desk.press("D");
    desk.wait(", today");
    let summary = |more: &[&str]| desk.summary(more);
    let number = |line: &serde_json::Value, field: &str| line[field].as_f64().unwrap();
    for (by, name) in [("terminal", "birds"), ("agent", "parrot")] {
        desk.wait(&format!("by {by}"));
        wait_until("the same as on the command line", || {
            // What somebody works or waits no longer stands still, whenever each of them has read it.
            let table = summary(&["--by", by]);
            let row = table.lines().find(|line| line.contains(name)).expect("a row").to_owned();
            let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            let [_, _, worked, waited, "-", "-", turns] = cells[..] else { panic!("{row}") };
            let screen = desk.screen();
            let shown = [name.to_owned(), format!("{worked} worked"), format!("{waited} waited"), turns.to_owned()];
            turns.ends_with(" ok") && worked != "-" && waited != "-" && shown.iter().all(|text| screen.contains(text))
        });
        let line: serde_json::Value = serde_json::from_str(summary(&["--by", by, "--json"]).trim()).unwrap();
        let hours = line["hours"].as_array().unwrap();
        for field in ["working_seconds", "waiting_seconds"] {
            let sum: f64 = hours.iter().map(|hour| number(hour, field)).sum();
            assert!((sum - number(&line, field)).abs() < 0.001 && sum > 0.0, "{field}: {line}");
        }
        desk.press("b");
    }
    desk.wait("has a label");
    desk.press("h");
    desk.wait("by label");
    desk.wait_without(", today");
    desk.press("b");
    desk.wait("nobody watched on");
    desk.press("Escape");
    desk.wait("NAME");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn one_terminal_is_looked_at_from_all_sides() {
    let desk = Desk::with_parrot();
    desk.open();
    desk.wait("1 ready");
    desk.tell("birds", "ask");
    desk.wait("1 needs you");
    desk.tell("birds", "1");
    desk.wait("1 finished");
    desk.press("d");
    desk.wait("what happened  0 of ");
    desk.wait("the history begins here");
    desk.wait("waited for you");
    for (zoom, next) in [("z", "since start"), ("z", "last 24 h"), ("z", "last hour")] {
        let shown = ["last hour", "since start", "last 24 h"].into_iter().find(|word| desk.screen().contains(word));
        desk.press(zoom);
        let shown = shown.unwrap_or(next);
        wait_until("another part of the time", || !desk.screen().contains(shown));
    }
    desk.press("Tab");
    desk.wait("[why]");
    desk.press("Tab");
    desk.wait("[transcript]");
    desk.press("Tab");
    desk.wait("[diff]");
    desk.press("Tab");
    desk.wait("[facts]");
    desk.wait("pid of the pane");
    desk.wait("Process and profile");
    desk.press("J");
    desk.press("J");
    desk.wait_without("[facts]x");
    desk.press("Tab");
    desk.wait("[screen]");
    desk.press("BTab");
    desk.wait("[facts]");
    // Movement in the right pane, and back in the list.
    desk.press("l");
    desk.press("End");
    desk.press("h");
    desk.press("End");
    desk.wait("what happened  ");
    wait_until("the first thing that is known", || {
        desk.screen().lines().any(|line| line.starts_with('›') && line.contains("unknown → ready"))
    });
    desk.press("Home");
    wait_until("now", || desk.screen().lines().any(|line| line.starts_with("› now")));
    desk.press("q");
    desk.wait("NAME");
    desk.press("q");
    desk.expect_restored();
}

#[test]
fn what_was_asked_stays_in_view_while_its_server_does_not_answer() {
    let desk = Desk::with_parrot();
    desk.tell_parrot("ask");
    desk.open();
    desk.wait("1 needs you");
    let server = desk.watched.server_pid().unwrap();
    let has_row = |word: &str| desk.screen().lines().any(|line| line.contains(" birds ") && line.contains(word));
    crate::support::private_tmux::signal("STOP", server);
    desk.wait("1 error (1 asked before)");
    wait_until("the row to say what it asked", || has_row("asked before: "));
    crate::support::private_tmux::signal("CONT", server);
    desk.wait("1 needs you");
    assert!(!has_row("asked before"), "{}", desk.screen());
    desk.leave();
}
