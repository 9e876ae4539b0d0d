use super::*;
use crate::ui::lists::RARE;

fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, modifiers)
}

fn refused(text: &str) -> (String, String) {
    let error = Keymap::parse(text).expect_err("a wrong keymap");
    (error.what.clone(), text.get(error.at).unwrap_or_default().to_owned())
}

#[test]
fn the_shipped_keymap_is_right_and_every_action_has_a_key() {
    let keymap = Keymap::parse(Keymap::SHIPPED).unwrap_or_else(|error| panic!("{error} at {:?}", error.at));
    for &action in Action::ALL {
        let bound = Context::all().any(|context| keymap.key_for(context, action).is_some());
        assert!(
            bound || RARE.contains(&action),
            "{} has neither a key nor a place in the list of commands",
            action.name()
        );
    }
    let table: std::collections::HashSet<Action> =
        keymap.bindings[&Context::Fleet].iter().filter_map(|it| it.action).collect();
    // The last answer is one key away, where everything else of one terminal is behind `d`: the 37th in the table.
    assert!(
        Action::ALL.len() <= 60 && table.len() <= 37,
        "{} actions, {} in the table",
        Action::ALL.len(),
        table.len()
    );
    assert!(keymap.bindings.keys().all(|context| !context.title().is_empty()), "a part has no name in the help");
}

#[test]
fn keys_are_found_as_terminals_report_them() {
    let keymap = Keymap::shipped();
    let fleet = |code, modifiers| keymap.action(Context::Fleet, press(code, modifiers));
    assert_eq!(fleet(KeyCode::Char('j'), KeyModifiers::NONE), Some(Action::Down));
    assert_eq!(fleet(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Action::Last));
    assert_eq!(fleet(KeyCode::Char('g'), KeyModifiers::NONE), Some(Action::Jump));
    assert_eq!(fleet(KeyCode::Char('?'), KeyModifiers::NONE), Some(Action::Help));
    assert_eq!(fleet(KeyCode::Char('?'), KeyModifiers::SHIFT), Some(Action::Help));
    assert_eq!(fleet(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
    assert_eq!(fleet(KeyCode::Char('q'), KeyModifiers::CONTROL), None);
    assert_eq!(keymap.action(Context::Composer, press(KeyCode::Enter, KeyModifiers::ALT)), Some(Action::Newline));
    assert_eq!(keymap.action(Context::Composer, press(KeyCode::Char('q'), KeyModifiers::NONE)), None);
}

#[test]
fn a_key_is_bound_once_in_a_context() {
    let twice = "fleet = [ { on = \"j\", run = \"down\" }, { on = [\"k\", \"j\"], run = \"up\" } ]";
    assert_eq!(refused(twice), ("the key j is bound twice".to_owned(), "[\"k\", \"j\"]".to_owned()));
    let apart = "fleet = [ { on = \"j\", run = \"down\" } ]\nhelp = [ { on = \"j\", run = \"down\" } ]";
    assert!(Keymap::parse(apart).is_ok());
    let case = "fleet = [ { on = \"g\", run = \"jump\" }, { on = \"G\", run = \"last\" } ]";
    assert!(Keymap::parse(case).is_ok());
    let same = "fleet = [ { on = \"shift-g\", run = \"jump\" }, { on = \"G\", run = \"last\" } ]";
    assert_eq!(refused(same).0, "the key G is bound twice");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        refused("fleet = [ { on = \"j\", run = \"dwon\" } ]"),
        ("there is no action \"dwon\"".to_owned(), "\"dwon\"".to_owned())
    );
    assert_eq!(
        refused("fleet = [ { on = \"hyper-j\", run = \"down\" } ]"),
        ("\"hyper-j\" is not a key".to_owned(), "\"hyper-j\"".to_owned())
    );
    assert!(near("dwon").starts_with("did you mean down? "), "{}", near("dwon"));
    assert_eq!(near("nope"), "`fleetwatch config keymap` prints all actions");
    assert!(Keymap::parse("flet = []").is_err());
    assert!(Keymap::parse("fleet = [ { on = \"j\", run = \"down\", when = 1 } ]").is_err());
    assert!(Keymap::parse("fleet = [").is_err());
}

#[test]
fn the_operators_keys_are_laid_over_the_shipped_ones() {
    let own = "fleet = [ { on = \"j\", run = \"up\" }, { on = \"q\", run = \"none\" } ]";
    let keymap = Keymap::shipped().overlaid(Keymap::parse(own).expect("a right keymap"));
    let fleet = |c| keymap.action(Context::Fleet, press(KeyCode::Char(c), KeyModifiers::NONE));
    assert_eq!(fleet('j'), Some(Action::Up));
    assert_eq!(fleet('q'), None);
    assert_eq!(fleet('k'), Some(Action::Up));
    assert_eq!(keymap.key_for(Context::Fleet, Action::Down).as_deref(), Some("↓"));
}

#[test]
fn keys_are_shown_as_keyboards_name_them() {
    let shown = |text: &str| show(crokey::parse(text).expect("a key").normalized());
    assert_eq!(shown("shift-g"), "G");
    assert_eq!(shown("alt-enter"), "alt-enter");
    assert_eq!(shown("space"), "space");
    assert_eq!(shown("pagedown"), "pgdn");
    assert_eq!(shown("esc"), "esc");
    assert_eq!(shown("ctrl-c"), "ctrl-c");
}
