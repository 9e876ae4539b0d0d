//! Dialogs of real agents that hide rows of what they ask for, without a mark: nobody answers blind (SPEC §11).

use fleetwatch::dialog::Dialog;
use fleetwatch::profile::ProfileSet;
use fleetwatch::screen::{PaneFacts, Screen};

/// The dialog that an agent shows with these rows, in which `<grey>` and the like stand for colours.
fn dialog(agent: &str, version: &str, rows: &str) -> Dialog {
    let colours = [("<grey>", "128;128;128"), ("<blue>", "121;184;255"), ("<yellow>", "255;234;127")];
    let drawn = colours
        .iter()
        .fold(rows.replace("<>", "\x1b[0m"), |rows, (name, rgb)| rows.replace(name, &format!("\x1b[38;2;{rgb}m")));
    let drawn = drawn.replace("<chosen>", "\x1b[48;2;121;184;255m");
    let screen = Screen::from_capture(drawn.as_bytes(), 80, u16::try_from(rows.lines().count()).unwrap());
    let profiles = ProfileSet::builtin();
    let selected = profiles.select(agent, Some(version), false).expect("it has a profile");
    selected.profile.read(&screen, &PaneFacts::default()).dialog.expect("it is a dialog")
}

const STATUS: &str = "\n mock-1 (1,200) $0.00\n harbour\n Auto-approve all disabled (Shift+Tab)\n";

/// Cline's request to run a command, of which it shows some rows.
fn cline(blank: &str, shown: &str) -> Dialog {
    let rows = format!(
        "\n <blue>Cline needs permission<>\n\n <yellow>Approve tool call?<>\n{blank} <blue>run_commands<>\n\n{shown}\n\n \
         <chosen> [y] Approve <>  [n] Deny\n\n{STATUS}"
    );
    dialog("cline", "3.0.65", &rows)
}

#[test]
fn a_request_of_cline_is_whole_only_where_no_row_had_to_give_way() {
    let command = " <grey>  $ cp ledger.csv old.csv<>\n <grey>rm ledger.csv<>";
    let whole = cline("\n", command);
    assert!(whole.is_whole(), "{whole:#?}");
    assert_eq!((whole.choose("yes"), whole.choose("no")), (Ok(0), Ok(1)));
    let cut = cline("", command);
    assert!(!cut.is_whole() && cut.refuses(1) && !cut.refuses(0), "{cut:#?}");
}

#[test]
fn a_question_of_cline_with_a_bar_beside_it_is_not_whole() {
    let asks = |bar: &str| {
        let rows = format!(
            "\n <blue>Cline is asking a question<>\n\n Choose the days on which the ferry rests. {bar}\n {bar}\n  \
             <chosen>> Sundays, and every public holiday <>{bar}\n    that falls on a weekday\n    Never\n\n{STATUS}"
        );
        dialog("cline", "3.0.65", &rows)
    };
    assert!(asks("").is_whole());
    assert!(!asks(&format!("{}█", " ".repeat(20))).is_whole());
}

#[test]
fn a_request_of_kimi_code_says_what_it_is_for_and_what_it_leaves_out() {
    let asks = |last: &str| {
        let rows = format!(
            "\n   \x1b[1m<yellow>▶<> \x1b[1m<yellow>Write this file?<>\n\n   /srv/harbour/tide.py\n      1  TIDE = 3\n{last}\n   \
             \x1b[1m<blue>▶<> \x1b[1m<blue>1. Approve once<>\n     2. Approve for this session\n     3. Reject\n     4. Reject \
             with feedback\n\n   <grey>↑/↓ select · 1/2/3/4 choose · ↵ confirm · ctrl+e preview<>\n"
        );
        dialog("kimi", "2.1.0", &rows)
    };
    let whole = asks("");
    assert!(whole.is_whole() && whole.text.iter().any(|line| line.contains("TIDE = 3")), "{whole:#?}");
    assert_eq!((whole.choose("yes"), whole.choose("no")), (Ok(0), Ok(2)));
    assert!(!asks("        … 30 more lines hidden (ctrl+e to preview)\n").is_whole());
}

#[test]
fn a_request_of_pi_begins_below_its_upper_rule() {
    let rule = "─".repeat(80);
    let rows = |above: &str| {
        format!(
            "{above} <yellow>Dangerous command:<>\n\n   rm -rf pier ledger\n\n Allow?\n\n <blue>→ Yes<>\n   No\n\n \
             <grey>↑↓ navigate  enter select  escape/ctrl+c cancel<>\n\n{rule}\n~/harbour\n"
        )
    };
    let whole = dialog("pi", "0.73.1", &rows(&format!(" Working\n\n{rule}\n\n")));
    assert!(whole.is_whole() && whole.text.iter().any(|line| line.contains("rm -rf pier ledger")), "{whole:#?}");
    assert!(!dialog("pi", "0.73.1", &rows("")).is_whole(), "its upper rule is not on the screen");
}
