//! What is typed into the dashboard by mistake: it may move something, and acts only through a box that was on the screen.

use super::*;

/// What can be open when somebody begins to type.
const VIEWS: [&str; 18] = [
    "",
    "d",
    "dv",
    "dvv",
    "dvvv",
    "dvvvv",
    "D",
    "?",
    "e",
    ":",
    "s",
    ":columns\n",
    "o",
    "/sh\n",
    "vv",
    " j \n",
    "jjjjjjjd",
    "jjjjjjj",
];

/// Whether a request changes something outside the dashboard that the operator would miss.
fn acts_on_something(request: &Request) -> bool {
    matches!(
        request,
        Request::Perform(_)
            | Request::KillTasks(..)
            | Request::RerunTask { .. }
            | Request::AdoptSession { .. }
            | Request::DecideFollowUp { .. }
            | Request::KeepNote { .. }
            | Request::Start { .. }
            | Request::CloseAgent { .. }
            | Request::RemoveWorktree { .. }
    )
}

/// Types a text as the operator's terminal sends it, with so many milliseconds between two keys; what a key opens is drawn
/// before the next one. Fails where something is done that no box on the screen offered to this key.
fn type_text(ui: &mut Ui, fleet: &mut SampleFleet, typed: &str, gap: u64) -> Vec<Request> {
    let mut done = Vec::new();
    let mut shown = text(ui, fleet, 100, 30);
    let mut keyboard = false;
    for key in chars(typed) {
        fleet.now = fleet.now + Span::from_millis(gap);
        if ui.has_opened() || gap > 0 {
            shown = text(ui, fleet, 100, 30);
        }
        let requests = press(ui, fleet, &[key]);
        keyboard |= shown.contains("every key goes there until") && key == KeyCode::Char('y');
        for request in requests.iter().filter(|request| acts_on_something(request)) {
            let is_offered = match (request, key) {
                // A task's question is answered in a line that says what Enter sends.
                (Request::Perform(Operation { act: Act::Keys { .. }, .. }), KeyCode::Enter) => {
                    keyboard || shown.contains("sends: ")
                }
                (Request::Perform(Operation { act: Act::Keys { .. }, .. }), _) => keyboard,
                (Request::Perform(Operation { act: Act::Answer { .. }, .. }), KeyCode::Enter) => {
                    shown.contains("sends: ")
                        || shown.contains("answer 2 of 2 dialogs")
                        || shown.contains("answer 1 of 2 dialogs")
                }
                (Request::Perform(_), KeyCode::Enter) => shown.contains("prompt to "),
                (Request::KeepNote { .. }, KeyCode::Enter) => shown.contains("name of ") || shown.contains("label of "),
                (Request::Start { .. }, KeyCode::Enter) => shown.contains("start an agent or a task"),
                (_, KeyCode::Char('y')) => shown.contains("y ") && shown.contains('?'),
                _ => false,
            };
            assert!(is_offered, "{key:?} of {typed:?} did {request:?} behind\n{shown}");
        }
        done.extend(requests);
        for asked in ui.update(&fleet.view()) {
            if let Request::Prompts(..) = asked {
                ui.prompts(&[], &[], &fleet.view());
            }
        }
    }
    done
}

fn opened(view: &str) -> (Ui, SampleFleet) {
    let (mut ui, mut fleet) = (dashboard(), SampleFleet { tasks: tasks(), ..SampleFleet::usual() });
    acting::ask(&mut fleet, 0, "Drop it?\n❯ 1. Yes\n  2. No");
    frame(&mut ui, &fleet, 100, 30);
    for key in chars(view) {
        press(&mut ui, &fleet, &[key]);
        frame(&mut ui, &fleet, 100, 30);
    }
    (ui, fleet)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_text_acts_only_through_a_box_that_was_shown(
        typed in "([a-z]{1,9}[ ,.:!?'/-]?|[A-Z][a-z]{0,5} |[0-9]{1,3} |[ -~]{1,4}|try |proxy |\n){1,8}",
        view in prop::sample::select(&VIEWS[..]),
        gap in prop::sample::select(vec![0_u64, 40, 150, 700]),
    ) {
        let (mut ui, mut fleet) = opened(view);
        type_text(&mut ui, &mut fleet, &typed, gap);
    }

    /// At the speed of typing a text without Enter does nothing at all.
    #[test]
    fn a_text_without_enter_acts_on_nothing(
        typed in "([a-z]{1,9}[ ,.:!?'/-]?|[A-Z][a-z]{0,5} |[0-9]{1,3} |[ -~]{1,4}|try |every |proxy |xy|ry){1,8}",
        view in prop::sample::select(&VIEWS[..]),
        gap in prop::sample::select(vec![0_u64, 40, 150, 400]),
    ) {
        let (mut ui, mut fleet) = opened(view);
        let done = type_text(&mut ui, &mut fleet, &typed, gap);
        prop_assert!(!done.iter().any(acts_on_something), "{view:?} {typed:?}: {done:?}");
    }

    #[test]
    fn y_and_enter_answer_at_any_speed(gap in 0_u64..2_000) {
        let (mut ui, mut fleet) = (dashboard(), SampleFleet::usual());
        acting::ask_leave(&mut fleet, 0, "Drop it?\n  1. No\n❯ 2. Yes");
        let done = type_text(&mut ui, &mut fleet, "y\n", gap);
        prop_assert!(matches!(acts(&done)[..], [(_, Act::Answer { reply: Reply::Option(1), .. })]), "{done:?}");
        // One that came up just now is answered by the same keys a second later.
        let (mut ui, mut fleet) = (dashboard(), SampleFleet::usual());
        acting::ask_leave(&mut fleet, 0, "Drop it?\n  1. No\n❯ 2. Yes");
        fleet.terminals.truncate(1);
        fleet.terminals[0].state.since = NOW;
        let done = type_text(&mut ui, &mut fleet, "y\n", gap / 5);
        let shown = text(&mut ui, &fleet, 120, 40);
        prop_assert!(!acts(&done).is_empty() || shown.contains("look at it first"), "{shown}");
        fleet.now = NOW + Span::from_millis(1_001);
        let again = type_text(&mut ui, &mut fleet, "y\n", 0);
        prop_assert_eq!(acts(&done).len() + acts(&again).len(), 1);
    }
}
