//! The view of a day: what it asks the history for, and what it shows of the answers.

use std::collections::BTreeMap;

use fleetwatch::record::HistoryError;
use fleetwatch::record::question::{Answer, DayQuestion, HistoryQuestion};
use fleetwatch::record::timeline::Holder;
use fleetwatch::record::totals::{DayTotals, Totals, TotalsOf, hours_of};
use fleetwatch::state::TurnResult;
use fleetwatch::time::Timestamp;
use jiff::tz::TimeZone;

use super::*;

/// What is asked now.
fn asked(ui: &mut Ui, fleet: &SampleFleet) -> Vec<DayQuestion> {
    let asks = ui.update(&fleet.view()).into_iter().map(|request| match request {
        Request::Ask(HistoryQuestion::Day(question)) => question,
        other => panic!("{other:?}"),
    });
    asks.collect()
}

/// Opens the view, and answers what it asks.
pub fn open(ui: &mut Ui, fleet: &SampleFleet, answer: impl Fn(&DayQuestion) -> Result<Vec<DayTotals>, HistoryError>) {
    press(ui, fleet, &chars("D"));
    answer_with(ui, fleet, answer);
}

/// The same by label, where nothing has one.
pub fn open_by_label(ui: &mut Ui, fleet: &SampleFleet) {
    press(ui, fleet, &chars("Dbb"));
    answer_with(ui, fleet, nobody);
}

fn answer_with(
    ui: &mut Ui,
    fleet: &SampleFleet,
    answer: impl Fn(&DayQuestion) -> Result<Vec<DayTotals>, HistoryError>,
) {
    for question in asked(ui, fleet) {
        let answer = answer(&question);
        ui.on_event(OverlayEvent::Answered(&Answer::Day { question, answer }), &fleet.view());
    }
}

/// One of whom it is known what they did in some hours: minutes of work and of waiting in each.
fn one(question: &DayQuestion, name: &str, minutes: &[(usize, u64, u64)]) -> DayTotals {
    let (begins, _) = hours_of(question.date, &question.zone);
    let (mut hours, mut whole) = (BTreeMap::new(), Totals::default());
    for &(hour, worked, waited) in minutes {
        let mut totals = Totals::default();
        for (holder, minutes) in [(Holder::Working, worked), (Holder::Waiting, waited)] {
            totals.add_time(holder, Span::from_secs(60 * minutes));
        }
        totals.add_time(Holder::Ready, Span::from_secs(60 * (60 - worked.min(60))));
        totals.turns[TurnResult::Success as usize] = 2;
        whole.add(&totals);
        hours.insert(begins[hour], totals);
    }
    DayTotals { date: question.date, name: name.to_owned(), whole, hours }
}

/// A working day of three, of whom one has no cost.
pub fn usual(question: &DayQuestion) -> Result<Vec<DayTotals>, HistoryError> {
    let names = match question.by {
        TotalsOf::Terminal => ["docs", "shop-api", "日本語のセッション名前"],
        TotalsOf::Agent => ["claude", "codex", "-"],
        TotalsOf::Label => ["prod", "shop", "tools"],
    };
    let mut docs = one(question, names[0], &[(7, 5, 0), (8, 30, 10), (9, 0, 60), (10, 45, 0), (13, 60, 1), (22, 9, 4)]);
    docs.whole.turns[TurnResult::KnownFailure as usize] = 1;
    docs.whole.turns[TurnResult::Interrupted as usize] = 12;
    (docs.whole.tokens_in, docs.whole.cost_usd) = (Some(1_234_567), Some(4.2));
    let mut api = one(question, names[1], &[(0, 60, 0), (1, 60, 0), (2, 17, 0), (3, 0, 0), (21, 22, 7), (22, 13, 0)]);
    api.whole.tokens_out = Some(9_000);
    Ok(vec![docs, api, one(question, names[2], &[(8, 0, 33), (9, 0, 12)])])
}

/// An agent that had several terminals at work at once.
pub fn alone(question: &DayQuestion) -> Result<Vec<DayTotals>, HistoryError> {
    let hours: Vec<_> = (6..22).map(|hour| (hour, 6 * u64::try_from(hour).unwrap(), 40)).collect();
    Ok(vec![one(question, "claude", &hours)])
}

pub fn many(question: &DayQuestion) -> Result<Vec<DayTotals>, HistoryError> {
    let minutes = |n: u64| (0..22).map(move |hour| (hour, (n * 7 + 11 * u64::try_from(hour).unwrap()) % 61, n % 5));
    Ok((0..40).map(|n| one(question, &format!("agent-{n}"), &minutes(n).collect::<Vec<_>>())).collect())
}

pub fn nobody(_: &DayQuestion) -> Result<Vec<DayTotals>, HistoryError> {
    Ok(Vec::new())
}

pub fn off(_: &DayQuestion) -> Result<Vec<DayTotals>, HistoryError> {
    Err(HistoryError::Off)
}

#[test]
fn a_day_is_asked_for_once_and_again_while_it_goes_on() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 100, 30);
    press(&mut ui, &fleet, &chars("D"));
    let first = asked(&mut ui, &fleet);
    let [question] = &first[..] else { panic!("{first:?}") };
    assert_eq!((question.date.to_string().as_str(), question.by), ("2023-11-14", TotalsOf::Terminal));
    assert_eq!(question.servers.len(), fleet.servers.len());
    assert_eq!(asked(&mut ui, &fleet), [], "it is under way");
    fleet.now = NOW + Span::from_secs(60);
    assert_eq!(asked(&mut ui, &fleet), [], "it is still under way");
    ui.on_event(
        OverlayEvent::Answered(&Answer::Day { question: question.clone(), answer: usual(question) }),
        &fleet.view(),
    );
    let again = asked(&mut ui, &fleet);
    assert_eq!(again.iter().map(|question| question.now).collect::<Vec<_>>(), [fleet.now]);
    assert!(text(&mut ui, &fleet, 100, 30).contains("shop-api"), "the last answer is shown meanwhile");
    // A day that is over does not change.
    press(&mut ui, &fleet, &[KeyCode::Left]);
    answer_with(&mut ui, &fleet, usual);
    fleet.now = NOW + Span::from_secs(600);
    assert_eq!(asked(&mut ui, &fleet), []);
    // Without a history nobody has to ask twice; one that is locked is asked again.
    for (trouble, asks) in [(HistoryError::Off, 0), (HistoryError::Locked, 1)] {
        press(&mut ui, &fleet, &[KeyCode::Left]);
        answer_with(&mut ui, &fleet, |_| Err(trouble.clone()));
        fleet.now = fleet.now + Span::from_secs(60);
        assert_eq!(asked(&mut ui, &fleet).len(), asks, "{trouble}");
    }
}

#[test]
fn who_did_nothing_is_counted_in_one_line_and_hours_without_work_are_left_out() {
    let idle = |question: &DayQuestion| {
        let mut ready = Totals::default();
        ready.add_time(Holder::Ready, Span::from_secs(3600));
        let begins = hours_of(question.date, &question.zone).0.into_iter();
        let hours: BTreeMap<_, _> = begins.map(|hour| (hour, ready.clone())).collect();
        let one = |nth| DayTotals { name: format!("idle-{nth}"), whole: ready.clone(), ..one(question, "", &[]) };
        (0..8).map(|nth| DayTotals { hours: hours.clone(), ..one(nth) }).collect::<Vec<_>>()
    };
    let shown = |answer: &dyn Fn(&DayQuestion) -> Vec<DayTotals>| {
        let (fleet, mut ui) = (SampleFleet::usual(), dashboard());
        frame(&mut ui, &fleet, 100, 30);
        open(&mut ui, &fleet, |question| Ok(answer(question)));
        let shown = text(&mut ui, &fleet, 100, 30);
        assert!(!shown.contains("idle-"), "{shown}");
        let clock = shown.lines().nth(1).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        (shown, clock)
    };
    let (some, clock) = shown(&|question| [alone(question).unwrap(), idle(question)].concat());
    assert!(some.contains("8 more did nothing") && !some.contains(" all "), "{some}");
    assert_eq!((clock[0].as_str(), clock.last().unwrap().as_str()), ("6", "21"), "{some}");
    let (none, clock) = shown(&|question| idle(question));
    assert!(none.contains(" 8 did nothing") && clock[0] == "0", "{none}");
}

#[test]
fn one_goes_through_the_days_and_stops_at_today() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 100, 30);
    open(&mut ui, &fleet, usual);
    assert!(text(&mut ui, &fleet, 100, 30).contains("Tue 14 Nov, today"));
    press(&mut ui, &fleet, &chars("l"));
    assert!(text(&mut ui, &fleet, 100, 30).contains("that is today"));
    press(&mut ui, &fleet, &chars("hh"));
    let question = asked(&mut ui, &fleet).remove(0);
    assert_eq!(question.date.to_string(), "2023-11-12");
    assert!(text(&mut ui, &fleet, 100, 30).contains("reading"), "what is known of another day is not shown for it");
    press(&mut ui, &fleet, &chars("ll"));
    // Today is the day that it is, also after midnight.
    fleet.now = NOW + Span::from_secs(2 * 3600);
    assert_eq!(asked(&mut ui, &fleet).remove(0).date.to_string(), "2023-11-15");
    // An answer that comes late is for what was asked.
    ui.on_event(OverlayEvent::Answered(&Answer::Day { answer: usual(&question), question }), &fleet.view());
    assert!(text(&mut ui, &fleet, 100, 30).contains("reading"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert!(text(&mut ui, &fleet, 100, 30).contains("NAME"));
}

#[test]
fn a_day_has_the_hours_of_the_operators_clock() {
    // The clock was set back on that day: 02:00 comes twice.
    let mut fleet = SampleFleet::usual();
    fleet.now = Timestamp::from_millis(1_698_591_600_000);
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let mut ui = Ui::new(UiOptions { zone, ..UiOptions::default() });
    frame(&mut ui, &fleet, 220, 30);
    open(&mut ui, &fleet, usual);
    let shown = text(&mut ui, &fleet, 220, 30);
    let clock: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(
        (clock.len(), &clock[..5]),
        (23, &["0", "1", "2", "2", "3"][..]),
        "from the first to the last with work: {shown}"
    );
}

#[test]
fn what_is_not_known_is_not_shown_as_nothing() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 30);
    open(&mut ui, &fleet, usual);
    let shown = text(&mut ui, &fleet, 120, 30);
    assert!(!shown.contains("$0") && !shown.contains(" 0 tokens"), "{shown}");
    let (all, docs) = (shown.find("all").unwrap(), shown.find("docs").unwrap());
    assert!(all < shown.find("shop-api").unwrap() && docs < shown.find("日本語").unwrap(), "{shown}");
    assert!(shown[..docs].contains("$4.20") && shown[docs..].contains("1.2M tokens  $4.20"), "{shown}");
}
