use super::*;

fn dialog(text: &str) -> Dialog {
    let screen = Screen::from_text(text, 100);
    Dialog::read(&screen, 0..screen.rows().len())
}

fn labels(dialog: &Dialog) -> Vec<(&str, &str)> {
    dialog.options.iter().map(|option| (option.name.as_str(), option.label.as_str())).collect()
}

#[test]
fn numbers_choose_by_themselves() {
    let found = dialog("Do it?\n ❯ 1. Yes\n   2. Yes, and don't ask\n   3. No (esc)\n\n Esc to cancel · Tab to amend");
    assert_eq!(labels(&found), [("1", "Yes"), ("2", "Yes, and don't ask"), ("3", "No (esc)")]);
    assert_eq!((found.manner, found.marked, found.option_rows.clone()), (Manner::Numbers, Some(0), 1..4));
    assert_eq!(in_words(&found.presses(2)), "3");
    assert_eq!(found.choose("yes"), Ok(0));
    assert_eq!(found.choose("yes, and"), Ok(1));
    assert_eq!(found.choose("3"), Ok(2));
    assert_eq!(found.choose("ye"), Err(NoChoice::Several("ye".to_owned())));
    assert_eq!(found.choose("4"), Err(NoChoice::None("4".to_owned())));
}

#[test]
fn what_is_asked_about_may_have_numbers_of_its_own() {
    let found =
        dialog("The plan:\n 1. Drop the table\n 2. Run\n❯ 1. Fake\n\n│ ❯ 1. Yes │\n│   2. No  │\n 3.5 GB are free");
    assert_eq!(labels(&found), [("1", "Yes"), ("2", "No")]);
    assert!(dialog("3.5 GB are free\n2024 was a year\n1.\n123. far too many").options.is_empty());
}

#[test]
fn the_mark_and_what_ticks_make_no_other_dialog() {
    let at = |mark: &str, end: &str| dialog(&format!("Trust it?\n{mark}\n{end}"));
    let first = at("❯ 1. Yes\n  2. No", "⠋ Waiting…\nEnter to confirm");
    assert!(first.is_same(&at("  1. Yes\n❯ 2. No", "⠙ Waiting…\nTab to amend")));
    let ticked = at("❯ 1. Yes ✔\n  2. No", "");
    assert!(first.is_same(&ticked) && ticked.taken && !first.taken);
    assert!(!first.is_same(&at("❯ 1. Yes\n  2. No, exit", "")));
    assert!(!first.is_same(&dialog("Trust that?\n❯ 1. Yes\n  2. No")));
}

#[test]
fn marks_are_moved_where_there_are_no_numbers() {
    let found = dialog("Which one?\n  ❯ Yes, set it\n    No, keep it\n      (as it was)\n    Later\n\nfooter");
    assert_eq!(labels(&found), [("1", "Yes, set it"), ("2", "No, keep it"), ("3", "Later")]);
    assert_eq!(found.options[1].detail, "(as it was)");
    assert_eq!(in_words(&found.presses(2)), "Down Down Enter");
    let last = dialog("Which one?\n    Yes\n    No\n  ❯ Later");
    assert_eq!(in_words(&last.presses(0)), "Up Up Enter");
    assert_eq!(in_words(&last.presses(2)), "Enter");
    let many: String = (1..=11).map(|n| format!("{}{n:>2}. item\n", if n == 2 { "> " } else { "  " })).collect();
    assert_eq!(in_words(&dialog(&many).presses(10)), "Down ".repeat(9) + "Enter");
}

#[test]
fn the_marked_one_of_buttons_stands_in_brackets() {
    let text = "Allow it?\n┃   Allow once   \x1b[48;5;214mAllow\x1b[0m   Reject  ⇆ select";
    let screen = Screen::from_capture(text.as_bytes(), 60, 3);
    let found = Dialog::read(&screen, 0..3);
    assert_eq!((found.manner, found.marked), (Manner::Buttons, Some(1)));
    let rows: Vec<String> = (0..4).map(|y| found.row_text(&screen, y).trim_end().to_owned()).collect();
    assert_eq!(rows, ["Allow it?", "┃   Allow once   [Allow]   Reject  ⇆ select", "", ""]);
    let numbered = dialog("Do it?\n❯ 1. Yes");
    assert_eq!(numbered.row_text(&Screen::from_text("Do it?\n❯ 1. Yes", 100), 1), "❯ 1. Yes");
}

#[test]
fn letters_are_typed() {
    let found = dialog("src/cart.py\nAdd file? (Y)es/(N)o/(D)on't ask again [Yes]: n");
    assert_eq!(labels(&found), [("y", "Yes"), ("n", "No"), ("d", "Don't ask again")]);
    assert_eq!((found.marked, found.typed.as_str()), (Some(0), "n"));
    assert_eq!(in_words(&found.presses(2)), "d Enter");
    assert!(found.is_same(&dialog("src/cart.py\nAdd file? (Y)es/(N)o/(D)on't ask again [Yes]: ")));
    let plain = dialog("Overwrite a (b) file? [y/N]");
    assert_eq!((labels(&plain), plain.marked), (vec![("y", "Yes"), ("n", "No")], Some(1)));
    assert_eq!(dialog("Your name (or nick):").manner, Manner::Unknown);
}

#[test]
fn several_choices_are_not_made_with_one_key() {
    let found = dialog("Which?\n❯ 1. [ ] Tests\n  2. [✔] Docs\n");
    assert_eq!((found.manner, found.can_choose(), found.presses(0)), (Manner::Several, false, Vec::new()));
    let empty = dialog("");
    assert_eq!((empty.manner, empty.presses(0)), (Manner::Unknown, Vec::new()));
}

proptest::proptest! {
    #[test]
    fn no_screen_breaks_the_reading(text in "(?s).{0,200}", start in 0_usize..9, end in 0_usize..9) {
        let screen = Screen::from_text(&text, 80);
        let found = Dialog::read(&screen, start..end.max(start));
        for option in 0..=found.options.len() {
            found.presses(option);
        }
        for y in 0..10 {
            found.row_text(&screen, y);
        }
        proptest::prop_assert!(found.is_same(&found));
    }
}
