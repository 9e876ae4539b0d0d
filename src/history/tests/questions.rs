//! Questions are answered from a thread of their own, with a history and without one.

use super::*;
use crate::profile::ProfileSet;
use crate::screen::PaneFacts;

/// Asks and waits for the answer.
fn ask(history: &History, ask: QuestionKind) -> HistoryAnswer {
    let (questions, mut answers) = history.questions(Arc::new(ProfileSet::builtin()));
    questions.ask(HistoryQuestion { key: terminal(1), ask });
    answers.blocking_recv().expect("an answer").told
}

fn kept(transitions: impl IntoIterator<Item = TransitionRecord>) -> (TempDir, History) {
    let (directory, path) = place();
    let history = running(&path);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for record in transitions {
        history.record(Record::Transition(record));
        // No more at once than the queue holds.
        assert!(runtime.block_on(history.written(Duration::from_secs(20))), "{:?}", history.health());
    }
    (directory, history)
}

fn joined(lines: &[crate::profile::Said]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn pages_lead_back_to_the_beginning() {
    let (_directory, history) = kept((0..230).map(|n| transition(1, n, Phase::Ready, "api")));
    let HistoryAnswer::Page { records, earlier: true, .. } = ask(&history, QuestionKind::Page { before: None }) else {
        panic!("a page")
    };
    assert_eq!((records.len(), records[0].at), (200, at(30)));
    let before = Some(records[0].id);
    let HistoryAnswer::Page { records, earlier, .. } = ask(&history, QuestionKind::Page { before }) else {
        panic!("a page")
    };
    assert_eq!((records.len(), records[29].at, earlier), (30, at(29), false));
}

#[test]
fn screens_and_the_time_line_are_told() {
    let (_directory, history) =
        kept([transition(1, 5, Phase::Active, "first"), transition(1, 9, Phase::Ready, "second")]);
    let HistoryAnswer::Page { records, .. } = ask(&history, QuestionKind::Page { before: None }) else {
        panic!("a page")
    };
    let Body::Transition(first) = &records[0].body else { panic!("a transition") };
    let HistoryAnswer::Screen(_, Some(screen)) = ask(&history, QuestionKind::Screen(first.screen.unwrap())) else {
        panic!("a screen")
    };
    assert_eq!(screen.rows()[0].text(), "first");
    let HistoryAnswer::Line { line, .. } = ask(&history, QuestionKind::Line { since: None, until: at(20) }) else {
        panic!("a line")
    };
    assert_eq!(line.points.iter().map(|point| point.holder).collect::<Vec<_>>(), [Holder::Working, Holder::Ready]);
}

#[test]
fn a_transcript_is_put_together_from_the_screens_of_a_terminal() {
    let shown =
        ["> first prompt\nworking on it", "working on it\nit is done\n> second prompt", "> second prompt\nfine"];
    let (_directory, history) = kept((0..3).zip(shown).map(|(n, text)| {
        let mut record = transition(1, n, Phase::Ready, text);
        // No profile knows this one, so that the whole screen is its dialog.
        let Some(PublicState::Agent(state)) = &mut record.state else { panic!("a state of an agent") };
        state.terminal.tool = "something".to_owned();
        record
    }));
    let lines = |until, last| match ask(&history, QuestionKind::Transcript { until, last }) {
        HistoryAnswer::Transcript { lines, .. } => joined(&lines),
        other => panic!("{other:?}"),
    };
    assert_eq!(lines(at(9), None), "> first prompt\nworking on it\nit is done\n> second prompt\nfine");
    assert_eq!(lines(at(0), None), "> first prompt\nworking on it");
}

#[test]
fn without_a_history_the_screen_of_now_is_still_a_transcript() {
    let history = History::off();
    let screen = Arc::new(Screen::from_text("only this", 80));
    let last = StoredScreen { screen, facts: PaneFacts::default(), tool: "something".to_owned(), version: None };
    let told = ask(&history, QuestionKind::Transcript { until: at(1), last: Some(last) });
    assert!(matches!(told, HistoryAnswer::Transcript { lines, .. } if joined(&lines) == "only this"));
    assert!(matches!(
        ask(&history, QuestionKind::Page { before: None }),
        HistoryAnswer::Failed { trouble: Trouble::Off, .. }
    ));
    assert!(matches!(
        ask(&history, QuestionKind::Transcript { until: at(1), last: None }),
        HistoryAnswer::Failed { trouble: Trouble::Off, .. }
    ));
}

#[test]
fn a_transition_keeps_what_was_named_between_assessments() {
    let mut record = transition(1, 3, Phase::Active, "api");
    record.events = vec![NamedEvent { at: at(2), event: crate::tracker::SurfaceEvent::ProcessingStarted }];
    let (_directory, history) = kept([record]);
    let HistoryAnswer::Page { records, .. } = ask(&history, QuestionKind::Page { before: None }) else {
        panic!("a page")
    };
    let json = records[0].to_json();
    assert_eq!(json["events"], serde_json::json!([{ "at": at(2), "event": "processing_started" }]));
}

#[test]
fn who_asks_again_is_told_only_what_is_new() {
    let (_directory, history) = kept([transition(1, 1, Phase::Ready, "api")]);
    let (questions, mut answers) = history.questions(Arc::new(ProfileSet::builtin()));
    let mut again = || {
        questions.ask(HistoryQuestion { key: terminal(1), ask: QuestionKind::Again });
        match answers.blocking_recv().expect("an answer").told {
            HistoryAnswer::Page { records, .. } => records.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(again(), 1);
    history.record(Record::Transition(transition(1, 2, Phase::Active, "api")));
    wait_until("the other one is told, too", || count(history.path().unwrap(), "transitions") == 2);
    assert_eq!((again(), again()), (2, 0));
}
