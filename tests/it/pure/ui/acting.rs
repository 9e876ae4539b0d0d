//! Acting on terminals: dialogs that are answered in place.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use fleetwatch::dialog::Dialog;
use fleetwatch::operation::Key;
use fleetwatch::operation::{Asked, Privacy};
use fleetwatch::present::text::Offer;
use fleetwatch::screen::Screen;
use fleetwatch::state::{Attention, Availability, BusinessState, LastTurn};
use fleetwatch::status::Hindrance;

/// Lets a terminal show another dialog, in a pane with room for all of it.
pub fn ask(fleet: &mut SampleFleet, terminal: usize, text: &str) {
    let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    ask_in(fleet, terminal, text, u16::try_from(widest + 1).expect("a width").max(120));
}

/// The same in a pane of so many columns.
pub fn ask_in(fleet: &mut SampleFleet, terminal: usize, text: &str, columns: u16) {
    let screen = Screen::from_text(text, columns);
    fleet.terminals[terminal].dialog = Some(Arc::new(Dialog::read(&screen, 0..screen.rows().len())));
    fleet.terminals[terminal].screen = Some(Arc::new(screen).into());
}

#[test]
fn what_an_agent_takes_a_text_as_is_said_before_it_is_sent_and_afterwards() {
    let mut fleet = SampleFleet::usual();
    let at = fleet.terminals.iter().position(|terminal| terminal.state.terminal.id == "docs").expect("docs");
    fleet.terminals[at].input = fleetwatch::profile::ProfileSet::builtin().input("claude");
    let key = fleet.terminals[at].key.clone();
    for (width, height) in [(120, 40), (80, 24), (60, 15)] {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, width, height);
        compose(&mut ui, &fleet, 6);
        press(&mut ui, &fleet, &chars("!touch here"));
        let shown = text(&mut ui, &fleet, width, height);
        assert!(shown.contains("prompt to docs"), "{shown}");
        assert!(shown.contains("would be taken as a shell command"), "{shown}");
        press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Char('x')]);
        assert!(!text(&mut ui, &fleet, width, height).contains("would be taken"));
        sent(&mut ui, &fleet, &key, "!touch here", Outcome::Accepted(Some("taken as a shell command".to_owned())));
        let shown = text(&mut ui, &fleet, width, height);
        assert!(shown.contains("docs: taken as a shell command"), "{shown}");
    }
}

/// Lets a terminal ask for leave, in the words of a profile that knows which options say yes once and no.
pub fn ask_leave(fleet: &mut SampleFleet, terminal: usize, text: &str) {
    ask(fleet, terminal, text);
    let mut dialog = fleet.terminals[terminal].dialog.as_deref().expect("a dialog").clone();
    dialog.set_verdicts(&["yes".to_owned()], &["no".to_owned()]);
    fleet.terminals[terminal].dialog = Some(Arc::new(dialog));
}

#[test]
fn one_key_says_yes_once_or_no_where_the_profile_knows_them() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. Yes, and never ask again\n  3. No");
    // In the table they open the box, in the box they choose; Enter sends.
    for (keys, shown, option) in
        [("y", "› 1  Yes", 0), ("n", "› 3  No", 2), ("\nn", "› 3  No", 2), ("nny", "› 1  Yes", 0)]
    {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 40);
        for key in chars(keys) {
            assert_eq!(press(&mut ui, &fleet, &[key]), []);
            frame(&mut ui, &fleet, 120, 40);
        }
        assert!(text(&mut ui, &fleet, 120, 40).contains(shown), "{keys}");
        assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(option), "{keys}");
    }
    // What is not all in view is read first.
    let long: String = (1..=60).map(|line| format!("line {line}\n\n")).collect();
    ask_leave(&mut fleet, 0, &format!("{long}Drop it?\n❯ 1. Yes\n  2. No"));
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 80, 24);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 80, 24);
    assert_eq!(press(&mut ui, &fleet, &chars("y")), []);
    assert!(text(&mut ui, &fleet, 80, 24).contains("read on"));
    // A profile that does not say which is which, two options that say the same, and letters that are the dialog's own.
    for (dialog, reported) in [
        ("Drop it?\n❯ 1. Go on\n  2. Stop", "no option is yes or no; 1 to 2 choose"),
        ("Drop it?\n❯ 1. Yes\n  2. Yes", "not known which option is yes, this once; 1 to 2 choose"),
        ("Drop it? (Y)es/(N)o [Yes]: ", "sends: y, and Enter where it waits for it"),
    ] {
        ask_leave(&mut fleet, 0, dialog);
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        frame(&mut ui, &fleet, 120, 40);
        assert_eq!(press(&mut ui, &fleet, &chars("y")), [], "{dialog}");
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains(reported), "{shown}");
    }
    // The smallest box says so in its only row for it, and a message leaves its title alone.
    ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Go on\n  2. Stop\n  3. Ask\n  4. Wait\n  5. Leave\n  6. Stay\n  7. Fix");
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 40, 10);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 40, 10);
    press(&mut ui, &fleet, &chars("y"));
    ui.notify(Status::Failed, "docs did not take the prompt".to_owned(), fleet.now);
    let shown = text(&mut ui, &fleet, 40, 10);
    assert!(shown.contains("no option is yes or no; 1 to 7 choose"), "{shown}");
    assert!(shown.contains("shop-api: ") && shown.contains("docs did not take the prompt"), "{shown}");
    ask(&mut fleet, 0, "Drop it?\n❯ 1. Go on\n  2. Stop");
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("n"));
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "nothing is chosen where the no is not known");
}

/// A dashboard with the line open in which a no gets its reason.
fn asked_for_a_reason() -> (SampleFleet, Ui) {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. No");
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("w"));
    frame(&mut ui, &fleet, 120, 40);
    (fleet, ui)
}

#[test]
fn who_steps_back_from_a_reason_refuses_nothing() {
    let (fleet, mut ui) = asked_for_a_reason();
    press(&mut ui, &fleet, &chars("keep it"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("sends: 2"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(!shown.contains("sends:") && shown.contains("Drop it?"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "nothing is chosen");
    // The reason is not lost: it is kept, and in the line again where it is wanted again.
    assert!(shown.contains("nothing was sent; the text is kept; w brings it back"), "{shown}");
    assert_eq!(draft(&ui, &fleet.terminals[0].key), "keep it");
    press(&mut ui, &fleet, &chars("w"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("> keep it") && shown.contains("esc back, keep the text"), "{shown}");
    assert!(shown.contains("esc keep text"), "{shown}");
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert_eq!(option_of(&requests), Some(1));
    let Request::Perform(answer) = &requests[0] else { panic!("{requests:?}") };
    ui.ended(answer, &Outcome::Accepted(Some("ready for a prompt".to_owned())), &fleet.view());
    assert_eq!(draft(&ui, &fleet.terminals[0].key), "", "it was sent");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("shop-api took the answer: refused; ready for a prompt"), "{shown}");
    // So it is where the box was closed, or the dashboard left, in between; what is typed takes its place.
    for opens in [&[KeyCode::Char('w')][..], &[KeyCode::Enter, KeyCode::Char('w')]] {
        let mut ui = dashboard();
        ui.restore_drafts([kept(&fleet.terminals[0].key, "keep it")]);
        frame(&mut ui, &fleet, 120, 40);
        for key in opens {
            press(&mut ui, &fleet, &[*key]);
            frame(&mut ui, &fleet, 120, 40);
        }
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains("> keep it") && shown.contains("what you type replaces the draft"), "{shown}");
        press(&mut ui, &fleet, &chars("no"));
        press(&mut ui, &fleet, &[KeyCode::Esc]);
        assert_eq!(draft(&ui, &fleet.terminals[0].key), "no");
    }
}

#[test]
fn who_never_moved_the_cursor_goes_on_with_the_next_that_waits() {
    let answered = |keys: &[KeyCode]| {
        let mut fleet = SampleFleet::usual();
        ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. No");
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 80, 14);
        press(&mut ui, &fleet, keys);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        frame(&mut ui, &fleet, 80, 14);
        let requests = press(&mut ui, &fleet, &chars("y\n"));
        let Request::Perform(answer) = &requests[0] else { panic!("{requests:?}") };
        ui.ended(answer, &Outcome::Accepted(None), &fleet.view());
        fleet.terminals[0].state = fleet.terminals[7].state.clone();
        fleet.terminals[0].state.terminal.id = "shop-api".to_owned();
        for _ in 0..8 {
            fleet.now = fleet.now + Span::from_secs(1);
            frame(&mut ui, &fleet, 80, 14);
        }
        let shown = text(&mut ui, &fleet, 80, 14);
        (selected(&mut ui, &fleet), shown.lines().any(|line| line.contains("billing")))
    };
    let (selected, shows_next) = answered(&[]);
    assert!(selected.contains("billing") && shows_next, "{selected}");
    // Whoever moved it stays where they are.
    assert!(answered(&[KeyCode::Down, KeyCode::Up]).0.contains("shop-api"));
}

#[test]
fn a_death_behind_the_box_of_a_dialog_is_said_and_not_seen_yet() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    fleet.now = fleet.now + Span::from_secs(3);
    let state = &mut fleet.terminals[0].state;
    state.diagnostics.availability = Availability::Unavailable;
    (state.unseen, state.attention) = (true, Attention::Gone);
    state.last_turn = LastTurn::cut_off(state.last_turn.source, fleet.now);
    for _ in 0..8 {
        assert_eq!(ui.update(&fleet.view()), [], "nobody has pressed a key since");
        let shown = text(&mut ui, &fleet, 120, 40);
        assert_eq!(shown.matches("shop-api is gone; nothing was sent").count(), 1, "once: {shown}");
        fleet.now = fleet.now + Span::from_millis(700);
    }
    let shown = text(&mut ui, &fleet, 120, 40);
    let row = shown.lines().find(|line| line.contains("shop-api  ")).unwrap_or_default();
    assert!(row.contains("failed") && row.contains("cut off in mid-turn"), "one word for one state: {shown}");
    press(&mut ui, &fleet, &[KeyCode::Left]);
    let key = fleet.terminals[0].key.clone();
    fleet.now = fleet.now + Span::from_secs(1);
    assert_eq!(ui.update(&fleet.view()), [Request::Seen(key)]);
    fleet.terminals[0].state.unseen = false;
    let shown = text(&mut ui, &fleet, 120, 40);
    let row = shown.lines().find(|line| line.contains("shop-api  ")).unwrap_or_default();
    assert!(row.contains(" gone ") && row.contains(" ✗ "), "its last turn has the same sign: {row}");
}

#[test]
fn a_no_takes_its_reason_along_as_the_next_prompt() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. No");
    let config = "[[template]]\nname = \"safe\"\ntext = \"make a copy of {name}\"\n";
    let config = fleetwatch::config::Config::parse(config, std::path::Path::new("t")).expect("a configuration");
    let options = UiOptions { templates: config.templates, ..UiOptions::default() };
    let (key, dialog) = (fleet.terminals[0].key.clone(), fleet.terminals[0].dialog.clone().expect("a dialog"));
    let begin = |ui: &mut Ui| {
        frame(ui, &fleet, 120, 40);
        press(ui, &fleet, &chars("w"));
        frame(ui, &fleet, 120, 40);
        assert_eq!(press(ui, &fleet, &[KeyCode::Enter]), [], "nothing is typed yet");
        press(ui, &fleet, &chars("first, "));
        control(ui, &fleet, 't');
        frame(ui, &fleet, 120, 40);
        press(ui, &fleet, &[KeyCode::Enter]);
        let shown = text(ui, &fleet, 120, 40);
        assert!(shown.contains("2  No: first, make a copy of shop-api"), "{shown}");
        assert!(shown.contains("sends: 2, and the text as the next prompt"), "{shown}");
        let requests = press(ui, &fleet, &[KeyCode::Enter]);
        assert_eq!(option_of(&requests), Some(1), "the prompt waits for what becomes of the answer");
    };
    let reason = "first, make a copy of shop-api";
    let act = Act::Answer { dialog, asked: Asked::default(), reply: Reply::Option(1) };
    let answer = operation(&fleet, &key, act);
    let mut ui = Ui::new(options.clone());
    begin(&mut ui);
    ui.ended(&answer, &Outcome::Accepted(None), &fleet.view());
    let requests = ui.update(&fleet.view());
    assert_eq!(acts(&requests), [(&key, &prompt(reason, When::Ready))]);
    assert_eq!(acts(&ui.update(&fleet.view())), [], "once");
    // What was not taken is kept, and no key that is meant for the dashboard ends up in it.
    let mut ui = Ui::new(options.clone());
    begin(&mut ui);
    ui.ended(&answer, &Refusal::Begun.into(), &fleet.view());
    assert_eq!(acts(&ui.update(&fleet.view())), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("w brings the text back"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "a no without its reason is another answer");
    press(&mut ui, &fleet, &chars("w"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("2  No: first, make a copy of shop-api"));
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(1));
    // What may have been taken is followed by nothing, and its reason is kept.
    ui.ended(&answer, &Outcome::Unverified { why: "not seen".to_owned() }, &fleet.view());
    assert_eq!(acts(&ui.update(&fleet.view())), []);
    assert_eq!(draft(&ui, &fleet.terminals[0].key), reason);
}

#[test]
fn who_closes_the_box_before_a_no_was_taken_keeps_its_reason() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. No");
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("wkeep it"));
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(1));
    assert!(text(&mut ui, &fleet, 120, 40).contains("esc close"), "one key is enough");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Esc]), []);
    assert!(!text(&mut ui, &fleet, 120, 40).contains("sends: "));
    assert_eq!(draft(&ui, &fleet.terminals[0].key), "keep it");
}

#[test]
fn only_what_works_is_offered_while_an_answer_is_on_its_way_and_after_it() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. No");
    let offers =
        ["enter answer", "y yes", "n no", "w no", "r keys", "go there", "nothing was sent", "new on the screen"];
    let assert_over = |ui: &mut Ui, fleet: &SampleFleet| {
        let shown = text(ui, fleet, 120, 40);
        assert!(shown.contains("sends: ") && shown.matches("esc close").count() == 2, "{shown}");
        for offer in offers {
            assert!(!shown.contains(offer), "{offer}: {shown}");
        }
    };
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("enter answer") && shown.contains("y yes, once"), "{shown}");
    let requests = press(&mut ui, &fleet, &chars("\n"));
    let Request::Perform(answer) = &requests[0] else { panic!("{requests:?}") };
    assert_over(&mut ui, &fleet);
    assert_eq!(press(&mut ui, &fleet, &chars("1yn ")), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("sending 1 Yes …"));
    ui.ended(answer, &Outcome::Accepted(None), &fleet.view());
    assert_over(&mut ui, &fleet);
    assert!(text(&mut ui, &fleet, 120, 40).contains("taken"));
    // One that closes by itself is told in a message.
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    fleet.terminals[0].state.assessment.business_state = BusinessState::Working;
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("the dialog of shop-api is closed") && !shown.contains("sends: "), "{shown}");
}

/// Marks the first rows and opens what waits there.
fn open_marked(ui: &mut Ui, fleet: &SampleFleet, rows: usize, (width, height): (u16, u16)) {
    frame(ui, fleet, width, height);
    press(ui, fleet, &vec![KeyCode::Char(' '); rows]);
    assert_eq!(press(ui, fleet, &[KeyCode::Enter]), []);
    assert_eq!(press(ui, fleet, &[KeyCode::Enter]), [], "nobody has seen it yet");
}

#[test]
fn several_dialogs_get_one_answer_once_all_of_each_was_read() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Run make a?\n❯ 1. Yes\n  2. Yes, and never ask for make again\n  3. No");
    ask_leave(&mut fleet, 1, "Run make b?\n❯ 1. Yes\n  2. No");
    let long: String = (1..=40).map(|line| format!("line {line}\n\n")).collect();
    ask_leave(&mut fleet, 2, &format!("{long}Run make c?\n❯ 1. Yes\n  2. No"));
    let answers = |requests: &[Request]| -> Vec<(String, Arc<Dialog>, Reply)> {
        let answer = |(key, act): (&TerminalKey, &Act)| match act {
            Act::Answer { dialog, reply, .. } => (key.pane.to_string(), Arc::clone(dialog), reply.clone()),
            other => panic!("{other:?}"),
        };
        acts(requests).into_iter().map(answer).collect()
    };
    let expected = |places: &[(usize, usize)]| -> Vec<(String, Arc<Dialog>, Reply)> {
        let answer = |(at, option): &(usize, usize)| {
            let terminal = &fleet.terminals[*at];
            (terminal.key.pane.to_string(), terminal.dialog.clone().expect("a dialog"), Reply::Option(*option))
        };
        places.iter().map(answer).collect()
    };
    // What all have marked is chosen; each gets its own dialog with the answer.
    let mut ui = dashboard();
    open_marked(&mut ui, &fleet, 2, (120, 40));
    let shown = text(&mut ui, &fleet, 120, 40);
    for said in
        ["answer 2 of 2 dialogs", "Run make a?", "Run make b?", "› 1    Yes  2 of 2", "Yes goes to shop-api, billing"]
    {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert_eq!(answers(&press(&mut ui, &fleet, &[KeyCode::Enter])), expected(&[(0, 0), (1, 0)]));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("taken by 0 of 2"), "{shown}");
    // One that is marked is answered in a box of its own, wherever the cursor is.
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Char(' '), KeyCode::End, KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("shop-api: approval for") && shown.contains("Run make a?"), "{shown}");
    // Unless the row under the cursor asks something itself.
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars(" "));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("enter answer ") && !shown.contains("answer the marked"), "{shown}");
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("billing: "), "{shown}");
    // Who has no such option is left out, which is said; and the box is read again where it says more.
    let mut ui = dashboard();
    open_marked(&mut ui, &fleet, 2, (120, 40));
    frame(&mut ui, &fleet, 120, 40);
    // A number stands once, at the option of most of them, and chooses that.
    press(&mut ui, &fleet, &chars("22"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("› 3/2  No  2 of 2"));
    press(&mut ui, &fleet, &[KeyCode::Down]);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("left out: billing, it has no option Yes, and never ask for make again"), "{shown}");
    // Options of all of them come before rare ones, and none moves with the choice.
    let row = |shown: &str, said: &str| shown.lines().position(|line| line.contains(said)).expect("a row");
    let no = row(&shown, "3/2  No  2 of 2");
    assert!(no < row(&shown, "     Yes, and never ask for make again  1 of 2"), "{shown}");
    press(&mut ui, &fleet, &[KeyCode::Up]);
    let moved = text(&mut ui, &fleet, 120, 40);
    assert!(moved.contains("› 3/2  No") && row(&moved, "3/2  No  2 of 2") == no, "{moved}");
    press(&mut ui, &fleet, &[KeyCode::Down]);
    assert_eq!(answers(&press(&mut ui, &fleet, &[KeyCode::Enter])), expected(&[(0, 1)]));
    assert!(text(&mut ui, &fleet, 120, 40).contains("it has no option Yes, and never ask"));
    // The same word is the same answer, whatever its number is in each of them. The box says what is chosen and sends it.
    let mut ui = dashboard();
    open_marked(&mut ui, &fleet, 2, (120, 40));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("y choose yes, once") && shown.contains("n choose no"), "{shown}");
    for (key, said) in [("y", "Yes is chosen: enter answers them"), ("n", "No is chosen: enter answers them")] {
        assert_eq!(press(&mut ui, &fleet, &chars(key)), []);
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains(said), "{shown}");
    }
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("› 3/2  No  2 of 2"), "{shown}");
    assert_eq!(answers(&press(&mut ui, &fleet, &[KeyCode::Enter])), expected(&[(0, 2), (1, 1)]));
    // The third one is longer than the box.
    let mut ui = dashboard();
    open_marked(&mut ui, &fleet, 3, (80, 24));
    let mut seen = String::new();
    let sent = (0..100).find_map(|_| {
        let shown = text(&mut ui, &fleet, 80, 24);
        seen.push_str(&shown);
        let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
        assert!(requests.is_empty() || (1..=40).all(|line| seen.contains(&format!("line {line} "))), "{shown}");
        press(&mut ui, &fleet, &[KeyCode::Down]);
        (!requests.is_empty()).then_some(requests)
    });
    assert_eq!(answers(&sent.expect("an answer")).len(), 3);
}

#[test]
fn the_frame_of_a_box_speaks_of_the_dialog_in_it_whatever_the_agent_does_by_now() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Run make a?\n❯ 1. Yes\n  2. No");
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(0));
    let mut after = SampleFleet::usual();
    let id = std::mem::take(&mut after.terminals[0].state.terminal.id);
    after.terminals[0].state = after.terminals[9].state.clone();
    after.terminals[0].state.terminal.id = id;
    ui.update(&after.view());
    let shown = text(&mut ui, &after, 120, 40);
    assert!(shown.contains("┌ shop-api: the answer is on its way") && shown.contains("Run make a?"), "{shown}");
}

#[test]
fn a_blank_row_stands_between_two_dialogs_where_not_all_have_room() {
    let mut fleet = SampleFleet::usual();
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        ask_leave(&mut fleet, at, &format!("Run\n\n  make {name}\n\nProceed with {name}?\n❯ 1. Yes\n  2. No"));
    }
    for (height, has_room) in [(24, true), (16, false)] {
        let mut ui = dashboard();
        open_marked(&mut ui, &fleet, 2, (80, height));
        let shown = text(&mut ui, &fleet, 80, height);
        let row = |said: &str| shown.lines().position(|line| line.contains(said)).expect("a row");
        assert_eq!(row("Proceed with a?") - row("make a"), if has_room { 2 } else { 1 }, "{shown}");
        assert_eq!(row("billing: question") - row("Proceed with a?"), 2, "{shown}");
    }
}

#[test]
fn a_dialog_that_changes_beside_others_is_taken_out_and_keys_are_deaf() {
    let mut fleet = SampleFleet::usual();
    ask_leave(&mut fleet, 0, "Run make a?\n❯ 1. Yes\n  2. No");
    ask_leave(&mut fleet, 1, "Run make b?\n❯ 1. Yes\n  2. No");
    let mut ui = dashboard();
    open_marked(&mut ui, &fleet, 2, (120, 40));
    assert!(text(&mut ui, &fleet, 120, 40).contains("› 1  Yes"));
    ask_leave(&mut fleet, 1, "Run rm -rf build?\n❯ 1. Yes\n  2. No");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "nothing goes in the moment of the change");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("left out: billing, its dialog changed") && !shown.contains("› 1  Yes"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    fleet.now = fleet.now + Span::from_secs(2);
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "nothing is chosen any more");
    press(&mut ui, &fleet, &chars("y"));
    frame(&mut ui, &fleet, 120, 40);
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(
        matches!(acts(&requests)[..], [(key, Act::Answer { .. })] if *key == fleet.terminals[0].key),
        "{requests:?}"
    );
    // Where none is left, there is nothing to choose.
    ask_leave(&mut fleet, 0, "Run rm -rf src?\n❯ 1. Yes\n  2. No");
    let mut ui = dashboard();
    open_marked(&mut ui, &fleet, 2, (120, 40));
    ask_leave(&mut fleet, 0, "Run a?\n❯ 1. Yes\n  2. No");
    ask_leave(&mut fleet, 1, "Run b?\n❯ 1. Yes\n  2. No");
    fleet.now = fleet.now + Span::from_secs(1);
    frame(&mut ui, &fleet, 120, 40);
    fleet.now = fleet.now + Span::from_secs(2);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("answer 0 of 2 dialogs") && shown.contains("esc close without answering"), "{shown}");
    assert!(!shown.contains("choose") && !shown.contains("answer them"), "{shown}");
}

fn option_of(requests: &[Request]) -> Option<usize> {
    match acts(requests)[..] {
        [(_, Act::Answer { reply: Reply::Option(option), .. })] => Some(*option),
        _ => None,
    }
}

/// A prompt that waits since 12 seconds.
pub fn waiting(text: &str) -> Waiting {
    Waiting { text: text.to_owned(), since: NOW - Span::from_secs(12) }
}

/// The pane shows the end of a command; where the agent's record proves the rest, the box has all of it.
#[test]
fn what_the_record_completes_is_read_to_its_end_and_answered_without_more() {
    for is_proven in [true, false] {
        let mut fleet = SampleFleet::usual();
        ask(&mut fleet, 0, " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n");
        let rows: Vec<String> = (1..=60).map(|row| format!("echo row {row} of sixty")).collect();
        let behind = vec!["Write sixty rows".to_owned()];
        let recorded = fleetwatch::dialog::Recorded { text: rows.clone(), behind, instead: 0..0 };
        let dialog = Arc::make_mut(fleet.terminals[0].dialog.as_mut().expect("a dialog"));
        (dialog.cuts, dialog.above) = (vec![fleetwatch::dialog::Cut::Top], rows[40..].to_vec());
        dialog.recorded = is_proven.then_some(recorded);
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        let mut shown = text(&mut ui, &fleet, 120, 40);
        assert_eq!(shown.contains("◆ in full by the agent's own record"), is_proven, "{shown}");
        assert_eq!(shown.contains("its beginning is not on the screen"), !is_proven, "{shown}");
        fleet.now = fleet.now + Span::from_secs(2);
        if is_proven {
            assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "not all of it was read");
        }
        for _ in 0..6 {
            press(&mut ui, &fleet, &[KeyCode::PageDown]);
            shown += &text(&mut ui, &fleet, 120, 40);
        }
        assert_eq!(rows.iter().all(|row| shown.contains(row.as_str())), is_proven);
        assert_eq!(acts(&press(&mut ui, &fleet, &[KeyCode::Enter])).len(), usize::from(is_proven), "{shown}");
    }
}

#[test]
fn an_answer_needs_a_second_key_and_goes_with_the_dialog_that_was_shown() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(
        shown.contains("› 1  Yes") && shown.contains("sends: Enter") && shown.contains("without answering"),
        "{shown}"
    );
    // The dialog's own number chooses and sends nothing.
    assert_eq!(press(&mut ui, &fleet, &chars("3")), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("sends: 3"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Up]), []);
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let Request::Perform(answer) = &requests[0] else { panic!("{requests:?}") };
    let Act::Answer { dialog, asked, reply } = &answer.act else { panic!("{requests:?}") };
    assert_eq!((&answer.to.key, reply), (&fleet.terminals[0].key, &Reply::Option(1)));
    assert!(dialog.is_same(fleet.terminals[0].dialog.as_ref().expect("a dialog")));
    assert!(asked.excerpt.starts_with("Bash command"));
    assert_eq!(asked.about, "rm -rf build/cache · Remove the build cache");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("sending 2 Yes, and don't ask again for rm commands …"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "one answer at a time");
    let why = "the dialog is still there".to_owned();
    ui.ended(answer, &Outcome::NotTaken { why }, &fleet.view());
    assert!(text(&mut ui, &fleet, 120, 40).contains("not taken: the dialog is still there"));
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(1));
}

#[test]
fn what_became_of_an_answer_is_shown_and_the_dialog_closes() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert_eq!(option_of(&requests), Some(0));
    fleet.terminals[0].state.assessment.business_state = BusinessState::Working;
    assert!(text(&mut ui, &fleet, 120, 40).contains("sending 1 Yes …"), "the outcome is still to come");
    let Request::Perform(answer) = &requests[0] else { panic!("{requests:?}") };
    ui.ended(answer, &Outcome::Accepted(Some("working again".to_owned())), &fleet.view());
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("shop-api took the answer: working again") && !shown.contains("sends:"), "{shown}");
}

#[test]
fn a_dialog_that_changes_is_shown_and_gets_no_key_that_was_on_its_way() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    ask(&mut fleet, 0, "Drop the database?\n  1. Yes\n❯ 2. No");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("Drop the database?") && shown.contains("the dialog changed; nothing was sent"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("look at it first"));
    fleet.now = fleet.now + Span::from_secs(1);
    ui.update(&fleet.view());
    assert!(!text(&mut ui, &fleet, 120, 40).contains("look at it first"), "that is over");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "nothing is chosen any more");
    assert!(text(&mut ui, &fleet, 120, 40).contains("nothing is chosen"));
    // The agent's own mark is where the choice begins.
    press(&mut ui, &fleet, &[KeyCode::Down]);
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Enter])), Some(1));
}

#[test]
fn the_next_dialog_of_a_terminal_follows_the_answered_one() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let Request::Perform(answer) = &requests[0] else { panic!("{requests:?}") };
    ui.ended(answer, &Outcome::Accepted(Some("another dialog".to_owned())), &fleet.view());
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "it is answered once");
    ask(&mut fleet, 0, "And this?\n❯ 1. Yes\n  2. No");
    assert!(text(&mut ui, &fleet, 120, 40).contains("And this?"));
    fleet.now = fleet.now + Span::from_secs(2);
    assert_eq!(option_of(&press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Enter])), Some(0));
}

#[test]
fn what_cannot_be_answered_with_a_choice_says_so() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    ask(&mut fleet, 0, "Type the name of the branch:");
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("it has no options that can be read") && shown.contains("go there and answer"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
}

#[test]
fn options_are_chosen_with_the_mouse_and_sent_with_the_button() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let place = |ui: &mut Ui, text: &str| {
        let shown = lines(&frame(ui, &fleet, 120, 40));
        let row = shown.iter().position(|line| line.contains(text)).expect(text);
        let column = shown[row].split(text).next().map_or(0, UnicodeWidthStr::width);
        (u16::try_from(column).expect("a column"), u16::try_from(row).expect("a row"))
    };
    let click = |ui: &mut Ui, (column, row): (u16, u16)| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        ui.handle(&Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }), &fleet.view())
    };
    let at = place(&mut ui, "3  No");
    assert_eq!(click(&mut ui, at), []);
    let at = place(&mut ui, "enter answer   g go there and answer");
    assert_eq!(option_of(&click(&mut ui, at)), Some(2));
}

#[test]
fn the_chosen_option_stands_out_in_every_theme() {
    let fleet = SampleFleet::usual();
    for name in Theme::names() {
        let theme = Theme::shipped(name).expect("a shipped theme");
        let mut ui = Ui::new(UiOptions { theme, ..UiOptions::default() });
        frame(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        let buffer = frame(&mut ui, &fleet, 120, 40);
        let shown = lines(&buffer);
        let row = shown.iter().position(|line| line.contains("› 1  Yes")).expect("the chosen option");
        let column = shown[row].split("1  Yes").next().map_or(0, UnicodeWidthStr::width);
        let cell = |row: usize| {
            let cell = &buffer[(u16::try_from(column).expect("a column"), u16::try_from(row).expect("a row"))];
            (cell.fg, cell.bg, cell.modifier)
        };
        assert_ne!(cell(row), cell(row + 1), "{name}: the chosen option looks like the others");
    }
}

/// Opens the composer of the terminal under the cursor, which is moved down first.
fn compose(ui: &mut Ui, fleet: &SampleFleet, down: usize) {
    frame(ui, fleet, 120, 40);
    press(ui, fleet, &vec![KeyCode::Down; down]);
    press(ui, fleet, &chars("i"));
    frame(ui, fleet, 120, 40);
}

pub(super) fn control(ui: &mut Ui, fleet: &SampleFleet, c: char) -> Vec<Request> {
    ui.handle(&Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)), &fleet.view())
}

fn alt(ui: &mut Ui, fleet: &SampleFleet, c: char) -> Vec<Request> {
    ui.handle(&Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT)), &fleet.view())
}

#[test]
fn earlier_prompts_come_back_and_so_does_what_was_being_written() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("jjjjjji"));
    let key = fleet.terminals[5].key.clone();
    assert_eq!(ui.update(&fleet.view()), [Request::Prompts(Some(key))]);
    assert_eq!(ui.update(&fleet.view()), [], "they are asked for once");
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    ui.prompts(&owned(&["own two", "own one\nsecond line"]), &owned(&["of others", "own two"]), &fleet.view());
    press(&mut ui, &fleet, &chars("begun"));
    press(&mut ui, &fleet, &[KeyCode::Up]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("own two"));
    press(&mut ui, &fleet, &[KeyCode::Up]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("second line"));
    // Within a text of several lines the arrow moves first.
    press(&mut ui, &fleet, &[KeyCode::Up, KeyCode::Up]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("of others"));
    press(&mut ui, &fleet, &[KeyCode::Down; 4]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("begun") && !shown.contains("own two"), "{shown}");
    // Found by typing, among those of all terminals.
    control(&mut ui, &fleet, 'r');
    press(&mut ui, &fleet, &chars("others"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("begunof others"));
}

#[test]
fn templates_are_filled_in_and_the_editor_gives_its_text_back() {
    let fleet = SampleFleet::usual();
    let config = "[[template]]\nname = \"review\"\ntext = \"Review {cwd} with {agent}, print {{x}}\"\n";
    let config = fleetwatch::config::Config::parse(config, std::path::Path::new("t")).expect("a configuration");
    let mut ui = Ui::new(UiOptions { templates: config.templates, ..UiOptions::default() });
    compose(&mut ui, &fleet, 6);
    control(&mut ui, &fleet, 't');
    assert!(text(&mut ui, &fleet, 120, 40).contains("review   Review {cwd} with {agent}, print {x}"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("Review ~/docs with gemini, print {x}"));
    let edit = Request::OpenEditor("Review ~/docs with gemini, print {x}".to_owned());
    assert_eq!(alt(&mut ui, &fleet, 'e'), [edit]);
    ui.on_event(OverlayEvent::Edited { text: "one\ntwo\u{1b}[31m" }, &fleet.view());
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("two[31m") && shown.contains("1 control character"), "{shown}");
    assert!(!shown.contains("Review"));
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 6);
    control(&mut ui, &fleet, 't');
    assert!(text(&mut ui, &fleet, 120, 40).contains("the configuration has no [[template]]"));
}

#[test]
fn what_is_typed_after_tab_comes_behind_what_tab_completes_to() {
    let fleet = SampleFleet::usual();
    for (typed, found) in [("par", Some("parrot ")), ("par", None), ("!", None)] {
        let mut ui = dashboard();
        press(&mut ui, &fleet, &chars(&format!("o{typed}\t-C x")));
        assert!(press(&mut ui, &fleet, &[KeyCode::Enter]).is_empty(), "it starts before it is completed");
        let offer = |line: &str| Offer { line: line.into(), text: line.into(), note: String::new() };
        let offers: Vec<Offer> = found.map(offer).into_iter().collect();
        // What was found for an earlier line completes nothing.
        ui.on_event(OverlayEvent::Offers { line: "pa", place: "", offers: &[offer("pants ")] }, &fleet.view());
        ui.on_event(OverlayEvent::Offers { line: typed, place: "", offers: &offers }, &fleet.view());
        let shown = text(&mut ui, &fleet, 120, 40);
        let line = format!("› {}-C x", found.unwrap_or(typed));
        assert!(shown.contains(&line), "{line}: {shown}");
    }
}

#[test]
fn a_prompt_waits_where_it_can_be_seen_and_taken_back() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 7);
    let ingest = fleet.terminals.iter().find(|terminal| terminal.state.terminal.id == "ingest");
    let key = ingest.expect("a terminal").key.clone();
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("it is working") && shown.contains("enter queues it"), "{shown}");
    press(&mut ui, &fleet, &chars("later"));
    let queued = Request::Perform(operation(&fleet, &key, prompt("later", When::Ready)));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [queued]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("queued for ingest; U takes it back"), "{shown}");
    ui.show_queue([(key.clone(), vec![waiting("one")])].into());
    let row = selected(&mut ui, &fleet);
    assert!(row.trim_end().ends_with("  queued 1"), "behind what it works on: {row}");
    // It waits on when the dashboard is left, so that nothing is asked.
    assert_eq!(press(&mut ui, &fleet, &chars("q")), [Request::Quit]);
    assert_eq!(press(&mut ui, &fleet, &chars("U")), [Request::Unqueue(vec![key.clone()])]);
    ui.show_queue([].into());
    press(&mut ui, &fleet, &chars("U"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("no prompt is queued for ingest"), "{shown}");
    let asks = fleet.terminals[0].key.clone();
    ui.show_queue([(asks, vec![waiting("one")])].into());
    let shown = text(&mut ui, &fleet, 200, 40);
    assert!(shown.contains("queued 1 until its dialog is answered"), "{shown}");
    ui.show_queue([].into());
    ui.taken_back(&[(key.clone(), vec!["later".to_owned()])], &fleet.view());
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("taken back: it is a draft for ingest again; i opens it"), "{shown}");
    press(&mut ui, &fleet, &chars("i"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("later"), "it is the draft again");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    let row = selected(&mut ui, &fleet);
    assert!(["✎", "✎ draft"].iter().any(|tag| row.trim_end().ends_with(tag)), "behind the agent's words: {row}");
    // All that are marked give theirs back; a draft that was there stays beside it.
    let other = fleet.terminals[0].key.clone();
    ui.show_queue([(key.clone(), vec![waiting("one")]), (other.clone(), vec![waiting("two")])].into());
    run(&mut ui, &fleet, Action::MarkAll);
    let requests = press(&mut ui, &fleet, &chars("U"));
    let [Request::Unqueue(keys)] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(keys.iter().collect::<BTreeSet<_>>(), [&key, &other].into());
    ui.show_queue([].into());
    let back = [(key.clone(), vec!["one".to_owned()]), (other.clone(), vec!["two".to_owned()])];
    ui.taken_back(&back, &fleet.view());
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("taken back: it is a draft for ingest again"), "{shown}");
    assert_eq!(draft(&ui, &key), "one\n\nlater", "the draft that was there stands behind it");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    ui.taken_back(&[(other, Vec::new())], &fleet.view());
    press(&mut ui, &fleet, &chars("/is:draft ingest"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    press(&mut ui, &fleet, &[KeyCode::Up, KeyCode::Up]);
    assert!(selected(&mut ui, &fleet).contains("ingest"), "it is the only row");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(press(&mut ui, &fleet, &chars("q")), [Request::Quit]);
}

#[test]
fn where_no_prompt_can_wait_none_is_queued_nor_offered_to_be() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    ui.set_cannot_wait(Some("no prompt can wait without a history"));
    compose(&mut ui, &fleet, 7);
    press(&mut ui, &fleet, &chars("later"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("it is working   no prompt can wait without a history"), "{shown}");
    assert!(!shown.contains("queue") && !shown.contains("enter send"), "{shown}");
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(
        shown.contains("nothing was sent: it is working, and no prompt can wait") && shown.contains("later"),
        "{shown}"
    );
    ui.set_cannot_wait(None);
    assert!(text(&mut ui, &fleet, 120, 40).contains("enter queue"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]).len(), 1);
}

#[test]
fn a_prompt_that_nobody_would_ever_take_stays_in_the_box() {
    let mut fleet = SampleFleet::usual();
    let at = fleet.terminals.iter().position(|terminal| terminal.state.terminal.id == "ingest").expect("a terminal");
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 7);
    press(&mut ui, &fleet, &chars("too late"));
    fleet.terminals[at].state.diagnostics.availability = Availability::TuiDown;
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("nothing was sent: the agent has ended") && shown.contains("too late"), "{shown}");
    // Insisting does not pass a dialog, and nothing waits that was to go at once.
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 0);
    press(&mut ui, &fleet, &chars("now"));
    assert_eq!(alt(&mut ui, &fleet, 's'), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("nothing was sent: a dialog is open"), "{shown}");
}

#[test]
fn the_keys_of_readline_edit_a_prompt() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 6);
    press(&mut ui, &fleet, &chars("one two three"));
    for key in ['w', 'a', 'y', 'e', 'k'] {
        control(&mut ui, &fleet, key);
    }
    assert!(text(&mut ui, &fleet, 120, 40).contains("threeone two"));
    alt(&mut ui, &fleet, 'b');
    alt(&mut ui, &fleet, 'b');
    alt(&mut ui, &fleet, 'd');
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(!shown.contains("threeone") && shown.contains("two"), "{shown}");
    control(&mut ui, &fleet, 'e');
    control(&mut ui, &fleet, 'u');
    assert!(text(&mut ui, &fleet, 120, 40).contains("what should it do?"));
}

#[test]
fn a_broadcast_shows_who_gets_it_and_what_became_of_each() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("B"));
    assert!(text(&mut ui, &fleet, 160, 45).contains("mark the terminals first"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    // The approval, the finished one, the working one, the one that is gone.
    for down in [0, 5, 1, 3] {
        press(&mut ui, &fleet, &vec![KeyCode::Down; down]);
        press(&mut ui, &fleet, &chars(" "));
    }
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("B"));
    press(&mut ui, &fleet, &chars("all"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "it asks first");
    press(&mut ui, &fleet, &chars("n"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    frame(&mut ui, &fleet, 160, 45);
    fleet.now = fleet.now + Span::from_secs(1);
    let requests = press(&mut ui, &fleet, &chars("y"));
    let (now, later): (Vec<_>, Vec<_>) =
        acts(&requests).into_iter().partition(|(_, act)| **act == prompt("all", When::Now));
    assert_eq!((now.len(), later.len()), (1, 2), "{requests:?}");
    assert!(later.iter().all(|(_, act)| **act == prompt("all", When::Ready)), "{later:?}");
    sent(&mut ui, &fleet, now[0].0, "all", Outcome::Accepted(None));
    dropped(&mut ui, &fleet, later[0].0, "all");
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("taken by 1 of 4") && shown.contains("the agent has ended"), "{shown}");
    assert!(!shown.contains("took the prompt") && !shown.contains("was not sent"), "each is told once: {shown}");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    dropped(&mut ui, &fleet, later[1].0, "all");
    assert!(text(&mut ui, &fleet, 160, 45).contains("was not sent: the agent has ended"), "by a message after that");
    // The first key that is not of the list closes it and does what it does in the table.
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars(" Ball"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 160, 45);
    fleet.now = fleet.now + Span::from_secs(1);
    press(&mut ui, &fleet, &chars("y"));
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("taken by 0 of 1"), "{shown}");
    press(&mut ui, &fleet, &chars("/docs"));
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("/docs") && !shown.contains("taken by 0 of 1"), "{shown}");
    // One that would reach nobody is refused before it is asked about.
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &[KeyCode::End]);
    press(&mut ui, &fleet, &chars(" Ball"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("nobody would get it: legacy: the agent has ended"), "{shown}");
    assert!(!shown.contains("send to 0 of"), "{shown}");
}

#[test]
fn a_prompt_for_a_terminal_that_is_gone_stays_where_it_was_written() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 6);
    press(&mut ui, &fleet, &chars("precious"));
    // What would only say that it cannot is not offered.
    let docs = fleet.terminals.iter_mut().find(|it| it.state.terminal.id == "docs").expect("docs");
    docs.state.diagnostics.availability = Availability::TuiDown;
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("ended") && shown.contains("esc close, keep the draft"), "{shown}");
    assert!(!shown.contains("enter send") && !shown.contains("send anyway"), "{shown}");
    fleet.terminals.retain(|terminal| terminal.state.terminal.id != "docs");
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    assert_eq!(alt(&mut ui, &fleet, 'r'), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("the terminal is gone; nothing was sent") && shown.contains("precious"), "{shown}");
}

#[test]
fn a_prompt_that_is_on_its_way_is_not_offered_once_more() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 6);
    press(&mut ui, &fleet, &chars("once only"));
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let [(key, Act::Prompt { text: prompt, .. })] = acts(&requests)[..] else { panic!("{requests:?}") };
    press(&mut ui, &fleet, &chars("i"));
    assert!(!text(&mut ui, &fleet, 120, 40).contains("once only"));
    press(&mut ui, &fleet, &chars("next"));
    let why = "the screen did not react".to_owned();
    sent(&mut ui, &fleet, key, prompt, Outcome::NotTaken { why });
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("next") && shown.contains("↑ brings the draft back"), "{shown}");
    press(&mut ui, &fleet, &[KeyCode::Up]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("once only"), "what did not arrive comes back");
    press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Esc]);
    assert_eq!(draft(&ui, key), "next");
}

#[test]
fn a_prompt_that_comes_back_stays_beside_what_is_being_written() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    compose(&mut ui, &fleet, 6);
    press(&mut ui, &fleet, &chars("firt"));
    press(&mut ui, &fleet, &[KeyCode::Left]);
    let key = fleet.terminals[5].key.clone();
    dropped(&mut ui, &fleet, &key, "the one that waited");
    press(&mut ui, &fleet, &chars("s"));
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [send(&fleet, &key, "first")]);
}

#[test]
fn a_broadcast_that_all_have_taken_is_no_draft_any_more() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let broadcast = |ui: &mut Ui, fleet: &mut SampleFleet| {
        press(ui, fleet, &chars("B"));
        frame(ui, fleet, 120, 40);
        press(ui, fleet, &[KeyCode::Enter]);
        frame(ui, fleet, 120, 40);
        fleet.now = fleet.now + Span::from_secs(1);
        let requests = press(ui, fleet, &[KeyCode::Char('y'), KeyCode::Esc]);
        acts(&requests).into_iter().map(|(key, act)| (key.clone(), act.clone())).collect::<Vec<_>>()
    };
    // Two that are ready: the finished one and the quiet one.
    press(&mut ui, &fleet, &chars("/docs"));
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char(' ')]);
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    press(&mut ui, &fleet, &chars("/web"));
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char(' ')]);
    press(&mut ui, &fleet, &chars("B"));
    press(&mut ui, &fleet, &chars("once"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    let asked = broadcast(&mut ui, &mut fleet);
    assert_eq!(asked.len(), 2);
    let (first, second) = (&asked[0].0, &asked[1].0);
    sent(&mut ui, &fleet, first, "once", Outcome::Accepted(None));
    sent(&mut ui, &fleet, second, "once", Refusal::Hindrance(Hindrance::Working));
    let again = broadcast(&mut ui, &mut fleet);
    assert_eq!(again.iter().map(|(key, _)| key).collect::<Vec<_>>(), [second], "who did not get it is marked still");
    press(&mut ui, &fleet, &chars("B"));
    for (key, act) in &again {
        ui.ended(&operation(&fleet, key, act.clone()), &Outcome::Accepted(None), &fleet.view());
    }
    assert!(text(&mut ui, &fleet, 120, 40).contains("what should it do?"), "also where it stands open");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(broadcast(&mut ui, &mut fleet), [], "nothing is left to send, and nobody to send it to");
    assert!(!text(&mut ui, &fleet, 120, 40).contains("1 marked"));
}

#[test]
fn an_interrupt_asks_before_it_presses_a_key() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Down; 7]);
    let ingest = fleet.terminals.iter().find(|terminal| terminal.state.terminal.id == "ingest");
    let key = ingest.expect("a terminal").key.clone();
    assert!(text(&mut ui, &fleet, 120, 40).contains("x interrupt"), "the footer offers it for what works");
    assert_eq!(press(&mut ui, &fleet, &chars("xy")), [], "nobody has seen the question yet");
    frame(&mut ui, &fleet, 120, 40);
    let act = Act::Interrupt { keys: vec![Key::escape()], dialog: None };
    fleet.now = fleet.now + Span::from_secs(1);
    let escape = Request::Perform(operation(&fleet, &key, act));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("not confirmed: press y"));
    assert_eq!(press(&mut ui, &fleet, &chars("y")), [escape]);
    for no in [KeyCode::Esc, KeyCode::Char('n')] {
        press(&mut ui, &fleet, &chars("x"));
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains("interrupt ingest") && !shown.contains("its dialog ends"), "it is asked: {shown}");
        assert_eq!(press(&mut ui, &fleet, &[no]), []);
        assert!(!text(&mut ui, &fleet, 120, 40).contains("interrupt ingest"), "{no:?} says no");
    }
    press(&mut ui, &fleet, &[KeyCode::Home]);
    press(&mut ui, &fleet, &chars("x"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("interrupt shop-api (approval)?") && shown.contains("its dialog ends with"), "{shown}");
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::End]);
    assert_eq!(press(&mut ui, &fleet, &chars("x")), []);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("nothing to interrupt: the agent of legacy has ended"), "{shown}");
    press(&mut ui, &fleet, &chars("kx"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("nothing to interrupt: web is ready") && !shown.contains("press in"), "{shown}");
    press(&mut ui, &fleet, &chars("i"));
    assert!(!text(&mut ui, &fleet, 120, 40).contains("nothing to interrupt"), "another view is not about that");
}

#[test]
fn the_mode_in_which_keys_go_to_a_terminal_cannot_be_overlooked() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &chars("ry")), [], "nobody has seen the question yet");
    assert!(text(&mut ui, &fleet, 120, 40).contains("type into shop-api? every key goes there until ctrl-]"));
    assert_eq!(press(&mut ui, &fleet, &chars("y")), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("nothing was done: the question is new on the screen"));
    fleet.now = fleet.now + Span::from_secs(1);
    assert_eq!(press(&mut ui, &fleet, &chars("y")), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("every key goes to shop-api"));
    let key = fleet.terminals[0].key.clone();
    let pressed = |name: &str| {
        let (keys, dialog) = (vec![name.parse().unwrap()], fleet.terminals[0].dialog.clone());
        Request::Perform(operation(&fleet, &key, Act::Keys { keys, dialog, privacy: Privacy::Open }))
    };
    assert_eq!(press(&mut ui, &fleet, &chars("q?")), [pressed("q"), pressed("?")]);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Esc]), [pressed("Escape")]);
    assert_eq!(control(&mut ui, &fleet, 'c'), [pressed("C-c")]);
    let buffer = frame(&mut ui, &fleet, 120, 40);
    assert_ne!(buffer[(0, 2)].fg, Color::Reset, "the frame has the colour of what waits");
    assert_eq!(ui.handle(&Event::Paste("rm -rf".into()), &fleet.view()), [], "a paste is no key");
    // Terminals report the chord as a digit.
    assert_eq!(control(&mut ui, &fleet, '5'), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("? help"));
}

/// The cursor on the task that asks, for a second.
fn on_a_task_that_asks() -> (Ui, SampleFleet) {
    let mut fleet = SampleFleet::usual();
    fleet.tasks = tasks();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 80, 24);
    press(&mut ui, &fleet, &chars("/deploy"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 80, 24);
    fleet.now = fleet.now + Span::from_secs(1);
    (ui, fleet)
}

#[test]
fn what_a_task_asks_is_answered_in_a_line_that_says_what_is_sent() {
    let (mut ui, mut fleet) = on_a_task_that_asks();
    // One that bounces is not the default answer, and what was not on the screen is not answered.
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Enter, KeyCode::Char('y'), KeyCode::Enter]), []);
    let shown = text(&mut ui, &fleet, 80, 24);
    assert!(
        shown.contains("answer to deploy") && shown.contains("nothing was sent: what it asks came up just now"),
        "{shown}"
    );
    assert!(shown.contains("Deploy 漢字 to production? [y/N]") && shown.contains("sends: y, then enter"), "{shown}");
    // Where not all of it can be shown, nothing is sent.
    frame(&mut ui, &fleet, 24, 5);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    press(&mut ui, &fleet, &[KeyCode::Backspace]);
    assert!(text(&mut ui, &fleet, 80, 24).contains("sends: enter alone"));
    press(&mut ui, &fleet, &chars("no"));
    frame(&mut ui, &fleet, 80, 24);
    let sent = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let [(_, Act::Keys { keys, dialog: None, privacy: Privacy::Secret })] = &acts(&sent)[..] else {
        panic!("{sent:?}")
    };
    assert_eq!(keys.iter().map(|key| key.as_str()).collect::<Vec<_>>(), ["n", "o", "Enter"]);
    // What is typed on goes nowhere, and Enter is sent once.
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char('x'), KeyCode::Enter]), []);
    let Request::Perform(operation) = &sent[0] else { panic!("{sent:?}") };
    ui.ended(operation, &Outcome::NotTaken { why: "tmux is gone".to_owned() }, &fleet.view());
    let shown = text(&mut ui, &fleet, 80, 24);
    assert!(
        shown.contains("no key was pressed in deploy: tmux is gone") && shown.contains("sends: no, then enter"),
        "{shown}"
    );
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    ui.ended(operation, &Outcome::Accepted(None), &fleet.view());
    // Its screen shows the question for a moment, which is not to be answered once more.
    ui.update(&fleet.view());
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    assert!(text(&mut ui, &fleet, 80, 24).contains("answer to deploy"));
    fleet.now = fleet.now + Span::from_secs(3);
    ui.update(&fleet.view());
    let shown = text(&mut ui, &fleet, 80, 24);
    assert!(shown.contains("deploy was answered: no, then enter") && !shown.contains("answer to deploy"), "{shown}");
}

#[test]
fn a_line_for_a_task_whose_server_ended_sends_nothing() {
    let (mut ui, mut fleet) = on_a_task_that_asks();
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char('y')]);
    assert!(text(&mut ui, &fleet, 80, 24).contains("answer to deploy"));
    fleet.now = fleet.now + Span::from_secs(3);
    fleet.tasks = fleet.tasks.into_iter().map(|task| task.gone_with_server(NOW)).collect();
    text(&mut ui, &fleet, 80, 24);
    assert_eq!(acts(&press(&mut ui, &fleet, &[KeyCode::Enter])), []);
}

#[test]
fn a_text_for_a_dialog_is_sent_once_it_was_seen_and_never_joins_another() {
    let (fleet, mut ui) = asked_for_a_reason();
    press(&mut ui, &fleet, &chars("first words"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [], "nobody has seen it in its line");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("not all of it was on the screen yet; press it again"), "{shown}");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("w"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("what you type replaces the draft"));
    press(&mut ui, &fleet, &chars("second"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("> second") && !shown.contains("first words"), "{shown}");
}

#[test]
fn a_reason_for_a_question_without_a_no_is_kept_as_a_draft() {
    let mut fleet = SampleFleet::usual();
    ask(&mut fleet, 0, "Which?\n❯ 1. Alpha\n  2. Beta");
    let key = fleet.terminals[0].key.clone();
    for end in [KeyCode::Enter, KeyCode::Esc] {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &chars("w"));
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains("no option is yes or no"), "{shown}");
        assert_eq!(press(&mut ui, &fleet, &chars("rq 2 neither")), []);
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains("this answers nothing: enter keeps it as a draft"), "{shown}");
        assert_eq!(shown.matches("rq 2 neither").count(), 1, "it is no part of an option: {shown}");
        assert_eq!(press(&mut ui, &fleet, &[end]), []);
        assert_eq!(draft(&ui, &key), "rq 2 neither");
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains("kept as a draft for shop-api; i in the table opens it"), "{shown}");
        assert_eq!(press(&mut ui, &fleet, &chars("r 1\n")), [], "what is typed on goes nowhere");
        fleet.now = fleet.now + Span::from_secs(2);
        press(&mut ui, &fleet, &[KeyCode::Esc]);
        ui.update(&fleet.view());
        assert!(text(&mut ui, &fleet, 120, 40).contains("✎"));
    }
}

#[test]
fn a_draft_for_an_agent_that_is_gone_is_offered_to_the_others() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    let (gone, other) = (fleet.terminals[6].key.clone(), fleet.terminals[10].key.clone());
    ui.restore_drafts([kept(&gone, "half a thought")]);
    ui.update(&fleet.view());
    fleet.terminals.remove(6);
    press(&mut ui, &fleet, &[KeyCode::End, KeyCode::Up]);
    press(&mut ui, &fleet, &chars("i"));
    ui.update(&fleet.view());
    ui.prompts(&["one".to_owned()], &["two".to_owned()], &fleet.view());
    control(&mut ui, &fleet, 'r');
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("half a thought") && shown.contains("a draft, its agent is gone"), "{shown}");
    sent(&mut ui, &fleet, &other, "half a thought", Outcome::Accepted(None));
    assert_eq!(draft(&ui, &gone), "", "it has gone to another one");
}
