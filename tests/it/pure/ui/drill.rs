//! One terminal: its time line, its list, and what stands beside it.

use std::sync::Arc;

use fleetwatch::agent_record::{GAP, Said, Speaker};
use fleetwatch::record::HistoryError;
use fleetwatch::record::question::{Answer, HistoryAnswer, HistoryQuestion, QuestionKind};
use fleetwatch::record::timeline::{Holder, Point, TimelineData};
use fleetwatch::record::{
    Body, NamedEvent, PublicState, RecordId, ScreenId, Sent, Stored, StoredInput, StoredTransition,
};
use fleetwatch::repository::{Printed, WorkingTreeDiff};
use fleetwatch::screen::Screen;
use fleetwatch::state::{
    Availability, Change, Evidence, OperatorStatus, State, Summary, Transition, TurnResult, TurnSource, UiContext,
};
use fleetwatch::time::Timestamp;
use fleetwatch::tracker::SurfaceEvent;
use serde_json::json;

use super::acting::waiting;
use super::*;

fn ago(seconds: u64) -> Timestamp {
    NOW - Span::from_secs(seconds)
}

fn summary(phase: Phase, context: UiContext) -> Summary {
    let waits = context == UiContext::ApprovalPrompt;
    Summary {
        availability: Availability::Available,
        phase,
        result: TurnResult::Success,
        source: TurnSource::ExplicitInput,
        ui_context: context,
        status: if waits { OperatorStatus::WaitingUserAnswer } else { OperatorStatus::Ready },
    }
}

fn composer() -> Arc<[Evidence]> {
    [Evidence { rule: "composer".into(), line: Some(20), text: "❯".into() }].into()
}

/// The usual fleet, whose first terminal has seen two transitions.
pub fn fleet() -> SampleFleet {
    let mut fleet = SampleFleet::usual();
    let changed =
        |field: &'static str, from: &str, to: &str| Change { field: field.into(), from: from.into(), to: to.into() };
    let evidence = vec![
        Evidence { rule: "approval".into(), line: Some(10), text: " Do you want to proceed?".into() },
        Evidence { rule: "option".into(), line: Some(11), text: " ❯ 1. Yes".into() },
    ];
    let transitions = [
        Transition {
            at: ago(400),
            changed: vec![changed("turn.phase", "ready", "active")],
            summary: summary(Phase::Active, UiContext::NormalPrompt),
            note: None,
            evidence: composer(),
        },
        Transition {
            at: ago(124),
            changed: vec![changed("turn.phase", "active", "unknown")],
            summary: summary(Phase::Unknown, UiContext::ApprovalPrompt),
            note: None,
            evidence: evidence.into(),
        },
    ];
    fleet.terminals[0].transitions.extend(transitions);
    fleet
}

fn kept(id: i64, seconds: u64, body: Body) -> Stored {
    Stored { id: RecordId(id), at: ago(seconds), key: None, name: "shop-api".into(), body }
}

fn kept_transition(id: i64, seconds: u64, from: &str, phase: Phase) -> Stored {
    let state = json!({ "turn": { "phase": phase.word(), "background_work": "no" }, "attention": "none" });
    let transition = Transition {
        at: ago(seconds),
        changed: vec![Change { field: "turn.phase".into(), from: from.into(), to: phase.word().into() }],
        summary: summary(phase, UiContext::NormalPrompt),
        note: None,
        evidence: composer(),
    };
    let events = vec![NamedEvent { at: ago(500), event: SurfaceEvent::ProcessingStarted }];
    let (state, screen) = (Some(PublicState::Other(state)), Some(ScreenId(id)));
    kept(id, seconds, Body::Transition(StoredTransition { transition, state, events, screen }))
}

/// What the history has: of today, a prompt among it, and of the day before.
fn records() -> Vec<Stored> {
    let sent = StoredInput {
        sender: "dashboard".into(),
        sent: Sent::Prompt { text: "clean the build cache\nand then run the tests".into() },
        outcome: Some("accepted".into()),
        detail: None,
        ended_at: Some(ago(401)),
    };
    vec![
        kept_transition(1, 90_000, "unknown", Phase::Ready),
        kept_transition(2, 80_000, "ready", Phase::Active),
        kept_transition(3, 2_400, "active", Phase::Ready),
        kept(4, 402, Body::Input(sent)),
        kept_transition(5, 400, "ready", Phase::Active),
    ]
}

fn line() -> TimelineData {
    let point =
        |seconds, holder| Point { at: ago(seconds), holder, trouble: None, result: TurnResult::None, turn_ended: None };
    TimelineData {
        points: vec![
            point(90_000, Holder::Ready),
            point(80_000, Holder::Working),
            point(2_400, Holder::Ready),
            point(400, Holder::Working),
        ],
        watched: vec![(ago(90_000), ago(79_000)), (ago(2_400), ago(10))],
    }
}

fn tell(ui: &mut Ui, fleet: &SampleFleet, answer: HistoryAnswer) {
    let (key, answer) = (fleet.terminals[0].key.clone(), Box::new(answer));
    ui.on_event(OverlayEvent::Answered(&Answer::Terminal { key, answer }), &fleet.view());
}

fn page(ui: &mut Ui, fleet: &SampleFleet, earlier: bool) {
    tell(ui, fleet, HistoryAnswer::Page { before: None, records: records(), earlier });
}

/// The view of the first terminal, with all that the history has.
pub fn open(ui: &mut Ui, fleet: &SampleFleet) {
    frame(ui, fleet, 160, 45);
    press(ui, fleet, &chars("d"));
    page(ui, fleet, false);
    tell(ui, fleet, HistoryAnswer::Line(line()));
}

fn said() -> Vec<Said> {
    let lines = [
        ("❯ clean the build cache", true),
        ("", false),
        ("● I will look at what is in the cache, and then remove what is not needed for the tests that follow.", false),
        (GAP, false),
        ("● Bash(rm -rf build/cache)", false),
        ("  ⎿  Waiting…", false),
    ];
    lines.map(|(text, by_user)| Said::new(text, if by_user { Speaker::User } else { Speaker::Agent })).into()
}

/// Gives the screen of the moment that is two rows down in the list.
pub fn tell_screen(ui: &mut Ui, fleet: &SampleFleet) {
    let screen = Screen::from_capture("\x1b[32m●\x1b[0m Bash(ls)\n  ⎿  cache\n\n❯ ".as_bytes(), 120, 30);
    tell(ui, fleet, HistoryAnswer::Screen(ScreenId(5), Some(Arc::new(screen))));
}

pub fn tell_transcript(ui: &mut Ui, fleet: &SampleFleet) {
    tell(ui, fleet, HistoryAnswer::Transcript { is_recorded: false, lines: said().into() });
}

/// Tells of a difference of two files, and of one that is untracked.
pub fn tell_diff(ui: &mut Ui, fleet: &SampleFleet) {
    let patch = "diff --git a/src/cart.rs b/src/cart.rs\nindex 1..2 100644\n--- a/src/cart.rs\n+++ b/src/cart.rs\n\
                 @@ -1,3 +1,4 @@ fn total\n fn total() {\n-    sum()\n+    let all = sum();\n+    all\n }\n\
                 diff --git a/logo.png b/logo.png\nindex 3..4 100644\nBinary files a/logo.png and b/logo.png differ\n";
    let printed = |text: &str| Printed { bytes: text.as_bytes().to_vec(), is_cut: false };
    let diff = Ok(WorkingTreeDiff::read(&printed(patch), &printed("notes.md\0"), &[Some(printed("# Notes\n"))]));
    ui.on_event(OverlayEvent::Diff { key: &fleet.terminals[0].key, diff: &diff }, &fleet.view());
}

/// Opens the view of the selected terminal, and answers all that it asks with what is wrong with the history.
pub fn open_without_history(ui: &mut Ui, fleet: &SampleFleet, trouble: &HistoryError) {
    press(ui, fleet, &chars("d"));
    for request in ui.update(&fleet.view()) {
        if let Request::Ask(HistoryQuestion::Terminal { key, ask }) = request {
            let answer = Box::new(HistoryAnswer::Failed { ask: *ask, trouble: trouble.clone() });
            ui.on_event(OverlayEvent::Answered(&Answer::Terminal { key, answer }), &fleet.view());
        }
    }
}

fn asked(ui: &mut Ui, fleet: &SampleFleet) -> Vec<QuestionKind> {
    let asks = ui.update(&fleet.view()).into_iter().map(|request| match request {
        Request::Ask(HistoryQuestion::Terminal { ask, .. }) => *ask,
        other => panic!("{other:?}"),
    });
    asks.collect()
}

#[test]
fn the_view_gives_way_to_the_table() {
    let fleet = fleet();
    let mut ui = dashboard();
    open(&mut ui, &fleet);
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert!(text(&mut ui, &fleet, 80, 24).contains("NAME"));
}

#[test]
fn the_past_is_asked_for_once_and_further_back_as_one_goes_there() {
    let fleet = fleet();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("do"));
    assert_eq!(
        asked(&mut ui, &fleet),
        [QuestionKind::Line { since: None, until: NOW }, QuestionKind::Page { before: None }]
    );
    assert_eq!(asked(&mut ui, &fleet), [], "both are under way");
    page(&mut ui, &fleet, true);
    tell(&mut ui, &fleet, HistoryAnswer::Line(line()));
    assert_eq!(asked(&mut ui, &fleet), [QuestionKind::Page { before: Some(RecordId(1)) }], "the end is near");
    let answer = HistoryAnswer::Page { before: Some(RecordId(1)), records: Vec::new(), earlier: false };
    tell(&mut ui, &fleet, answer);
    assert_eq!(asked(&mut ui, &fleet), []);
    press(&mut ui, &fleet, &[KeyCode::End]);
    assert_eq!(asked(&mut ui, &fleet), [QuestionKind::Screen(ScreenId(1))]);
    tell(&mut ui, &fleet, HistoryAnswer::Screen(ScreenId(1), None));
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("its screen is no longer kept") && shown.contains("the history begins here"), "{shown}");
    assert!(shown.contains("Mon 13 Nov"), "another day is named: {shown}");
    // A prompt has no screen of its own: it is shown what stood there then.
    press(&mut ui, &fleet, &[KeyCode::Home]);
    press(&mut ui, &fleet, &chars("jjj"));
    assert!(text(&mut ui, &fleet, 160, 45).contains("› 22:06:38"));
    assert_eq!(asked(&mut ui, &fleet), [], "it was asked for by the frame above, and is under way");
}

#[test]
fn a_history_that_fails_is_said_and_asked_again() {
    let mut fleet = fleet();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("d"));
    for ask in asked(&mut ui, &fleet) {
        tell(&mut ui, &fleet, HistoryAnswer::Failed { ask, trouble: HistoryError::Locked });
    }
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("the history cannot be read now: another process has locked it"), "{shown}");
    assert_eq!(asked(&mut ui, &fleet), []);
    fleet.now = NOW + Span::from_secs(2);
    assert_eq!(asked(&mut ui, &fleet).len(), 2);
}

#[test]
fn what_was_said_is_shown_as_of_its_own_time_and_asked_for_again_when_it_cannot_be_read() {
    let mut fleet = fleet();
    let mut ui = dashboard();
    open(&mut ui, &fleet);
    press(&mut ui, &fleet, &chars("v"));
    frame(&mut ui, &fleet, 160, 45);
    tell(&mut ui, &fleet, HistoryAnswer::Transcript { is_recorded: false, lines: said().into() });
    assert!(text(&mut ui, &fleet, 160, 45).contains("Bash(rm -rf build/cache)"));
    press(&mut ui, &fleet, &chars("jjj"));
    let asks = |ui: &mut Ui, fleet: &SampleFleet| {
        asked(ui, fleet).into_iter().filter(|ask| matches!(ask, QuestionKind::Transcript { .. })).collect::<Vec<_>>()
    };
    let ask = asks(&mut ui, &fleet).pop().expect("a question");
    let beside = |shown: &str| {
        shown.lines().skip(4).map(|line| line.chars().skip(70).collect()).collect::<Vec<String>>().join("\n")
    };
    let shown = beside(&text(&mut ui, &fleet, 160, 45));
    assert!(shown.contains("reading …") && !shown.contains("Bash(rm"), "not of this time: {shown}");
    tell(&mut ui, &fleet, HistoryAnswer::Failed { ask, trouble: HistoryError::Locked });
    assert!(text(&mut ui, &fleet, 160, 45).contains("what was said cannot be read now"));
    assert_eq!(asks(&mut ui, &fleet), [], "not at once");
    fleet.now = NOW + Span::from_secs(2);
    assert_eq!(asks(&mut ui, &fleet).len(), 1);
    tell(&mut ui, &fleet, HistoryAnswer::Transcript { is_recorded: false, lines: said().into() });
    assert!(beside(&text(&mut ui, &fleet, 160, 45)).contains("Bash(rm"));
}

#[test]
fn a_record_tells_all_that_was_said_with_its_tools_folded() {
    let fleet = fleet();
    let mut ui = dashboard();
    open(&mut ui, &fleet);
    press(&mut ui, &fleet, &chars("v"));
    frame(&mut ui, &fleet, 160, 45);
    let lines = vec![
        Said::new("make it green", Speaker::User),
        Said::BLANK,
        Said::new("Bash  make test", Speaker::Tool),
        Said::new("12 passed", Speaker::Output),
        Said::new("1 failed", Speaker::Output),
        Said::BLANK,
        Said::new("One test fails.", Speaker::Agent),
    ];
    tell(&mut ui, &fleet, HistoryAnswer::Transcript { is_recorded: true, lines: lines.into() });
    let folded = text(&mut ui, &fleet, 160, 45);
    assert!(folded.contains("by its record") && folded.contains("Bash  make test  +2"), "{folded}");
    assert!(folded.contains("One test fails.") && !folded.contains("12 passed"), "{folded}");
    press(&mut ui, &fleet, &chars("o"));
    let unfolded = text(&mut ui, &fleet, 160, 45);
    assert!(unfolded.contains("12 passed") && !unfolded.contains("+2"), "{unfolded}");
    press(&mut ui, &fleet, &chars("o/1 fail"));
    let found = text(&mut ui, &fleet, 160, 45);
    assert!(found.contains("1 of 1 \"1 fail\"") && found.contains("1 failed"), "it is searched whole: {found}");
}

#[test]
fn without_a_history_there_is_what_was_seen() {
    let mut fleet = fleet();
    let shown = Screen::from_text("what stood there when it asked", 80);
    let recent = fleetwatch::fleet::TerminalTransition {
        key: fleet.terminals[0].key.clone(),
        id: "shop-api".into(),
        transition: fleet.terminals[0].transitions[1].clone(),
        state: None,
        screen: Some(Arc::new(shown).into()),
    };
    fleet.recent.push_back(recent);
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("d"));
    for ask in asked(&mut ui, &fleet) {
        tell(&mut ui, &fleet, HistoryAnswer::Failed { ask, trouble: HistoryError::Off });
    }
    press(&mut ui, &fleet, &chars("j"));
    assert!(text(&mut ui, &fleet, 80, 24).contains("what stood there when it asked"));
    fleet.now = NOW + Span::from_secs(60);
    assert_eq!(asked(&mut ui, &fleet), [], "nobody asks what is switched off");
}

#[test]
fn a_search_goes_from_hit_to_hit() {
    let fleet = fleet();
    let mut ui = dashboard();
    open(&mut ui, &fleet);
    press(&mut ui, &fleet, &chars("/"));
    frame(&mut ui, &fleet, 160, 45);
    let lines: Vec<_> = (0..200).map(|n| Said::new(format!("line {n} Of many"), Speaker::Agent)).collect();
    tell(&mut ui, &fleet, HistoryAnswer::Transcript { is_recorded: false, lines: lines.into() });
    press(&mut ui, &fleet, &chars("line 1 of"));
    assert!(text(&mut ui, &fleet, 160, 45).contains("1 of 1 \"line 1 of\""));
    press(&mut ui, &fleet, &[KeyCode::Backspace; 3]);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 160, 45).contains("111 of 111 \"line 1\""), "what was said last comes first");
    press(&mut ui, &fleet, &chars("]"));
    let first = text(&mut ui, &fleet, 160, 45);
    assert!(first.contains("1 of 111") && first.contains("line 1 Of many"), "{first}");
    press(&mut ui, &fleet, &chars("["));
    assert!(text(&mut ui, &fleet, 160, 45).contains("line 199 Of many"));
    press(&mut ui, &fleet, &chars("/Of M"));
    assert!(text(&mut ui, &fleet, 160, 45).contains("nowhere \"Of M\""), "a capital letter means itself");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert!(!text(&mut ui, &fleet, 160, 45).contains("Of M"));
    assert!(press(&mut ui, &fleet, &chars("]")).is_empty());
    assert!(text(&mut ui, &fleet, 160, 45).contains("nothing went wrong there, as far as the list goes"));
}

#[test]
fn what_is_new_moves_nothing_away_from_under_the_cursor() {
    let mut fleet = fleet();
    let mut ui = dashboard();
    open(&mut ui, &fleet);
    press(&mut ui, &fleet, &chars("jj"));
    let selected = |shown: &str| shown.lines().find(|line| line.starts_with('›')).expect("a selected row").to_owned();
    let before = selected(&text(&mut ui, &fleet, 160, 45));
    let next = Transition { at: NOW, ..fleet.terminals[0].transitions[0].clone() };
    fleet.terminals[0].transitions.push_back(next);
    fleet.now = NOW + Span::from_secs(1);
    let shown = text(&mut ui, &fleet, 160, 45);
    let cells = |line: &str| line.chars().take(40).collect::<String>();
    assert_eq!(cells(&selected(&shown)), cells(&before));
    fleet.now = fleet.now + Span::from_secs(1);
    assert_eq!(asked(&mut ui, &fleet), [QuestionKind::Page { before: None }], "the history has the new one by now");
    // It leaves the fleet; what is known of it stays.
    let gone = fleet.terminals.remove(0);
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("left the fleet") && shown.contains(&gone.state.terminal.id), "{shown}");
    press(&mut ui, &fleet, &chars("i"));
    assert!(text(&mut ui, &fleet, 160, 45).contains("shop-api is gone"));
}

/// Opens the view of the terminal that a filter leaves, and then lets the filter drop it: the cursor is somewhere else.
fn open_and_lose(ui: &mut Ui, fleet: &mut SampleFleet, lost: usize, becomes: usize) {
    let id = fleet.terminals[lost].state.terminal.id.clone();
    while !selected(ui, fleet).contains(&id) {
        press(ui, fleet, &chars("j"));
    }
    press(ui, fleet, &chars("d"));
    let terminal = fleet.terminals[lost].state.terminal.clone();
    fleet.terminals[lost].state = State { terminal, ..fleet.terminals[becomes].state.clone() };
    frame(ui, fleet, 120, 40);
}

#[test]
fn a_prompt_from_the_view_goes_to_its_terminal_wherever_the_cursor_is() {
    for open in [KeyCode::Char('i'), KeyCode::Enter] {
        let mut fleet = SampleFleet::usual();
        let mut ui = dashboard();
        press(&mut ui, &fleet, &chars("/is:working"));
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        let (lost, ready) = (7, 9);
        open_and_lose(&mut ui, &mut fleet, lost, ready);
        fleet.now = fleet.now + Span::from_millis(500);
        press(&mut ui, &fleet, &[open]);
        assert!(text(&mut ui, &fleet, 120, 40).contains("prompt to 検索"));
        press(&mut ui, &fleet, &chars("go on"));
        let key = fleet.terminals[lost].key.clone();
        assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [send(&fleet, &key, "go on")]);
    }
}

#[test]
fn the_view_opens_the_dialog_of_its_terminal_wherever_the_cursor_is() {
    let mut fleet = SampleFleet::usual();
    let dialog = fleet.terminals[0].dialog.clone();
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("/is:working"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let (lost, waits) = (7, 0);
    open_and_lose(&mut ui, &mut fleet, lost, waits);
    (fleet.terminals[lost].dialog, fleet.terminals[lost].screen) = (dialog, fleet.terminals[0].screen.clone());
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("without answering"));
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(
        matches!(acts(&requests)[..], [(key, Act::Answer { .. })] if *key == fleet.terminals[lost].key),
        "{requests:?}"
    );
}

#[test]
fn keys_for_agents_say_in_the_view_of_a_task_that_it_is_one() {
    let mut fleet = SampleFleet::usual();
    fleet.tasks = tasks();
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("/agent:task"));
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char('d'), KeyCode::Char('i')]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("is a task; go there to type (g)") && shown.contains("what happened"), "{shown}");
}

/// Sixty lines that an agent answered, after a prompt and a tool and before the next tool.
fn answered() -> Vec<Said> {
    let mut said = vec![Said::new("how does it work?", Speaker::User), Said::BLANK];
    said.push(Said::new("I will look at the code first.", Speaker::Agent));
    said.extend([Said::BLANK, Said::new("Bash  ls", Speaker::Tool), Said::new("cart.rs", Speaker::Output)]);
    said.push(Said::BLANK);
    said.extend((1..=60).map(|nth| Said::new(format!("answer {nth}"), Speaker::Agent)));
    said.extend([Said::BLANK, Said::new("Bash  make", Speaker::Tool), Said::new("ok", Speaker::Output)]);
    said
}

#[test]
fn one_key_reads_the_last_answer_which_is_searched_and_copied_whole() {
    let fleet = fleet();
    for (width, height) in [(160, 45), (80, 24), (60, 12)] {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, width, height);
        press(&mut ui, &fleet, &chars("l"));
        frame(&mut ui, &fleet, width, height);
        tell(&mut ui, &fleet, HistoryAnswer::Transcript { is_recorded: true, lines: answered().into() });
        let shown = text(&mut ui, &fleet, width, height);
        assert!(shown.contains("by its record") && !shown.contains("what happened"), "{shown}");
        let rows: Vec<&str> = shown.lines().skip_while(|row| !row.contains("[transcript]")).collect();
        assert!(rows[1].contains("answer 1"), "it begins with the answer: {shown}");
        let requests = press(&mut ui, &fleet, &chars("c"));
        let whole = (1..=60).map(|nth| format!("answer {nth}")).collect::<Vec<_>>().join("\n");
        let key = fleet.terminals[0].key.clone();
        assert_eq!(requests, [Request::Copy { key, what: Copied::Answer(whole) }]);
        press(&mut ui, &fleet, &chars("/answer 47"));
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        assert!(text(&mut ui, &fleet, width, height).contains("1 of 1 \"answer 47\""));
        press(&mut ui, &fleet, &chars("h"));
        assert!(text(&mut ui, &fleet, width, height).contains("what happened"), "the rest of the view is a key away");
        press(&mut ui, &fleet, &chars("q"));
        assert!(selected(&mut ui, &fleet).contains("shop-api"));
    }
}

#[test]
fn a_task_has_no_last_answer() {
    let mut fleet = SampleFleet::usual();
    fleet.tasks = tasks();
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("/agent:task"));
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char('l')]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("a task answers nothing; d shows what"), "{shown}");
}

#[test]
fn the_mouse_selects_scrolls_and_changes_the_view() {
    let fleet = fleet();
    let mut ui = dashboard();
    open(&mut ui, &fleet);
    let shown = text(&mut ui, &fleet, 160, 36);
    let mut mouse = |kind, column: usize, row: usize| {
        let (column, row) = (u16::try_from(column).expect("a column"), u16::try_from(row).expect("a row"));
        ui.handle(&Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }), &fleet.view());
        text(&mut ui, &fleet, 160, 36)
    };
    let click = MouseEventKind::Down(MouseButton::Left);
    let row = shown.lines().position(|line| line.contains("22:06:40")).expect("a step");
    assert!(mouse(click, 5, row).lines().any(|line| line.starts_with("› 22:06:40")));
    assert!(mouse(MouseEventKind::ScrollUp, 5, row).lines().any(|line| line.starts_with("› 22:11:16")));
    let tabs = shown.lines().nth(3).expect("the titles");
    let column =
        tabs.chars().position(|c| c == '[').expect("the chosen view") + "[screen] why  transcript  diff  ".len();
    let facts = mouse(click, column, 3);
    assert!(facts.contains("[facts]") && facts.contains("pid of the pane"), "{facts}");
    let scrolled = mouse(MouseEventKind::ScrollDown, 120, 20);
    assert!(scrolled.lines().any(|line| line.starts_with("› 22:11:16")) && scrolled != facts);
}

#[test]
fn the_time_line_can_be_read_by_colour_and_without() {
    let fleet = fleet();
    let strip = |theme: &str, ascii: bool| {
        let theme = Theme::shipped(theme).expect("a shipped theme");
        let style = |meaning| theme.style(meaning);
        let looks = [Status::Working, Status::Ready].map(style);
        let mut ui = Ui::new(UiOptions { theme, ascii, ..UiOptions::default() });
        open(&mut ui, &fleet);
        let buffer = frame(&mut ui, &fleet, 160, 45);
        let cells = (0..160).map(|x| buffer[(x, 1)].clone());
        (cells.collect::<Vec<_>>(), looks, lines(&buffer)[1].clone(), lines(&buffer)[2].clone())
    };
    for theme in Theme::names() {
        let (cells, looks, row, _) = strip(theme, false);
        for (glyph, look) in ["█", "░"].into_iter().zip(looks) {
            let of_it: Vec<_> = cells.iter().filter(|cell| cell.symbol() == glyph).collect();
            assert!(!of_it.is_empty(), "{theme}: {row}");
            assert!(of_it.iter().all(|cell| cell.fg == look.fg.unwrap_or(Color::Reset)), "{theme}: {glyph}");
        }
    }
    let (_, _, row, totals) = strip("dark", false);
    assert!(row.starts_with(" Mon 13 Nov 22:13 ") && row.ends_with("Tue 14 Nov 22:13"), "{row}");
    assert!(totals.contains("█ worked 21m") && totals.contains("▒ waited for you 2m"), "{totals}");
    let (_, _, row, totals) = strip("no-colour", true);
    assert!(row.is_ascii() && row.contains('*') && row.contains("..."), "{row}");
    assert!(totals.contains("* worked 21m . ? waited for you 2m"), "{totals}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_size_and_no_text_breaks_the_view(
        width in 1_u16..220, height in 1_u16..60, text in any::<String>(), keys in "[jkzenN/hlJKG\t\n:TFyx+\\-i\u{12}\u{14}]{0,12}",
    ) {
        let mut fleet = fleet();
        let evidence = [Evidence { rule: "approval".into(), line: None, text: text.clone() }].into();
        let hostile = Transition { evidence, ..fleet.terminals[0].transitions[1].clone() };
        fleet.terminals[0].transitions[1] = hostile;
        fleet.terminals[0].state.terminal.title = text.clone();
        let mut ui = sizes::with_menus();
        open(&mut ui, &fleet);
        let mut hostile = records();
        if let Body::Input(input) = &mut hostile[3].body {
            input.sent = Sent::Prompt { text: text.clone() };
        }
        if let Body::Transition(kept) = &mut hostile[2].body {
            let value = serde_json::Value::from(text.clone());
            kept.transition.changed = vec![Change { field: text.clone().into(), from: value.clone(), to: value }];
            kept.state = Some(PublicState::Other(json!({ "turn": text })));
        }
        hostile[1].body = Body::Other { kind: text.clone(), document: json!({ "of": text }) };
        tell(&mut ui, &fleet, HistoryAnswer::Page { before: None, records: hostile, earlier: false });
        for code in keys.chars() {
            sizes::strike(&mut ui, &fleet, code);
            assert_harmless(&frame(&mut ui, &fleet, width, height));
            let lines = vec![Said::new(text.clone(), Speaker::User)];
            tell(&mut ui, &fleet, HistoryAnswer::Transcript { is_recorded: false, lines: lines.into() });
            ui.on_event(OverlayEvent::Reasons { key: &fleet.terminals[0].key, text: Some(&text) }, &fleet.view());
            assert_harmless(&frame(&mut ui, &fleet, height, width));
            assert_harmless(&frame(&mut ui, &fleet, width, height.min(1 + width % 12)));
        }
    }
}

#[test]
fn keys_for_one_row_act_on_the_terminal_that_is_open() {
    let mut fleet = fleet();
    fleet.terminals[0].state.turn.phase = Phase::Active;
    let keymap =
        "drill = [ { on = \"p\", run = \"pin\" }, { on = \"s\", run = \"sort\" }, { on = \"m\", run = \"mute\" } ]";
    let keymap = Keymap::shipped().overlaid(Keymap::parse(keymap).expect("a right keymap"));
    let mut ui = Ui::new(UiOptions { keymap, ..UiOptions::default() });
    let of = |index: usize| fleet.terminals[index].key.clone();
    ui.show_queue([(of(0), vec![waiting("fix it")]), (of(5), vec![waiting("other")])].into());
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("d"));
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("queued for 12s: fix it"), "{shown}");
    assert!(shown.contains("waiting until its dialog is answered; U takes it back"), "{shown}");
    // The table's cursor goes elsewhere while this one is open.
    let first = fleet.terminals[0].clone();
    let mut without = SampleFleet { terminals: fleet.terminals.clone(), ..SampleFleet::usual() };
    without.terminals.remove(0);
    ui.update(&without.view());
    ui.update(&fleet.view());
    assert_eq!(press(&mut ui, &fleet, &chars("U")), [Request::Unqueue(vec![first.key.clone()])]);
    assert_eq!(press(&mut ui, &fleet, &chars("p")), [Request::Note { key: Some(first.key.clone()), action: "pinned" }]);
    assert_eq!(press(&mut ui, &fleet, &chars("s")), []);
    assert!(text(&mut ui, &fleet, 160, 45).contains("that is done in the table"));
    press(&mut ui, &fleet, &chars("x"));
    let asked = text(&mut ui, &fleet, 160, 45);
    assert!(asked.contains("interrupt shop-api"), "{asked}");
    fleet.now = fleet.now + Span::from_secs(1);
    let keys = vec!["Escape".parse().unwrap()];
    let escape = Request::Perform(operation(&fleet, &first.key, Act::Interrupt { keys, dialog: first.dialog.clone() }));
    assert_eq!(press(&mut ui, &fleet, &chars("y")), [escape]);
    press(&mut ui, &fleet, &chars("r"));
    assert!(text(&mut ui, &fleet, 160, 45).contains("type into shop-api?"));
}

#[test]
fn list_and_moment_are_stacked_where_the_frame_is_narrow_and_take_turns_where_it_is_low() {
    let (mut ui, fleet) = (dashboard(), fleet());
    frame(&mut ui, &fleet, 80, 24);
    press(&mut ui, &fleet, &chars("d"));
    let rows = |ui: &mut Ui, height| {
        let shown = lines(&frame(ui, &fleet, 80, height));
        ["─ what happened", "[screen]", "[transcript]"].map(|title| shown.iter().position(|line| line.contains(title)))
    };
    let [list, screen, why] = rows(&mut ui, 24);
    assert!(list < screen && list.is_some() && why.is_none(), "{list:?} {screen:?}");
    press(&mut ui, &fleet, &chars("v"));
    let [list, screen, why] = rows(&mut ui, 24);
    assert!(list < why && list.is_some() && screen.is_none(), "the list stays: {list:?} {why:?}");
    assert_eq!(rows(&mut ui, 14).map(|row| row.is_some()), [true, false, false], "a low one has room for the list");
    press(&mut ui, &fleet, &chars("v"));
    assert_eq!(rows(&mut ui, 14).map(|row| row.is_some()), [false, true, false]);
}

#[test]
fn a_key_without_a_meaning_in_the_history_says_so() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("d"));
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("Q"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("Q does nothing here; ? lists keys"));
}
