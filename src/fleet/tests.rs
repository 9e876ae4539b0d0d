use std::sync::Arc;

use super::*;
use crate::profile::Program;
use crate::screen::{PaneFacts, Screen};
use crate::state::Change;
use crate::state::{Availability, Note, NotePart, Phase, TurnResult};
use crate::status::Status;

fn pane(pane: u32, pid: u32) -> PaneReport {
    PaneReport {
        key: TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid, instance: Default::default() },
        place: PaneLocation { session: "web".to_owned(), ..PaneLocation::default() }.into(),
        cwd: None,
        facts: PaneFacts::default(),
        program: Program::agent("claude", None),
        capture: Capture::Unchanged,
        declared: Some(Declared { name: Some("web".to_owned()), ..Declared::default() }),
        record: None,
        git: None,
        agent_process: None,
        printed_until: None,
    }
}

/// The names after a poll, by pane and process.
fn names(fleet: &mut Fleet, second: i64, panes: Vec<PaneReport>) -> Vec<(u32, u32, String)> {
    let at = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let report = ServerReport::new(ServerId::default(), at, PollResult::Listed(panes));
    fleet.handle(Input::Server(report), at);
    while fleet.poll_effect().is_some() {}
    fleet.entries.iter().map(|(key, entry)| (key.pane.0, key.pid, entry.terminal().state.terminal.id.clone())).collect()
}

fn named(pane: u32, pid: u32, id: &str) -> (u32, u32, String) {
    (pane, pid, id.to_owned())
}

#[test]
fn one_that_is_gone_takes_its_name_from_nobody_who_is_there() {
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    assert_eq!(names(&mut fleet, 0, vec![pane(0, 10)]), [named(0, 10, "web")]);
    // Another agent in a new pane, and another one in the same pane.
    assert_eq!(names(&mut fleet, 1, vec![pane(3, 11)]), [named(0, 10, "web %0"), named(3, 11, "web")]);
    let again = names(&mut fleet, 2, vec![pane(3, 12)]);
    assert_eq!(again, [named(0, 10, "web %0"), named(3, 11, "web %3"), named(3, 12, "web")]);
    // Two live ones have different names, and each of those that are gone has a name of its own.
    let two = names(&mut fleet, 3, vec![pane(3, 13), pane(4, 14)]);
    let mut ids: Vec<&str> = two.iter().map(|(.., id)| id.as_str()).collect();
    assert!(ids.contains(&"web %4") && !ids.contains(&"web"), "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), two.len(), "{two:?}");
    assert_eq!(names(&mut fleet, 4, vec![pane(4, 14)]).last(), Some(&named(4, 14, "web")));
}

#[test]
fn what_was_not_polled_yet_says_so_beside_what_was_known_and_is_no_news() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let report = |second, panes| {
        let (server, outcome) = (ServerId::default(), PollResult::Listed(panes));
        Input::Server(ServerReport::new(server, at(second), outcome))
    };
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let mut state = Entry::new(pane(0, 10).key, Default::default(), None, false, at(-90)).state(at(-90));
    state.diagnostics.availability = Availability::Available;
    state.attention = crate::state::Attention::Approval;
    state.terminal.tool = "claude".to_owned();
    let known = TerminalHistory {
        state,
        screen: None,
        watched_until: at(-60),
        unbroken_until: at(-60),
        prompted: false,
        seen: false,
    };
    fleet.handle(Input::Known { key: pane(0, 10).key, known: Box::new(known) }, at(0));
    let awaited = |id| PaneReport { capture: Capture::Awaited, ..pane(id, 10 + id) };
    for second in [0, 1] {
        fleet.handle(report(second, vec![awaited(0), awaited(1)]), at(second));
        fleet.handle(Input::TimePassed, at(second + 1));
        assert!(fleet.poll_effect().is_none(), "it is no news");
        assert!(fleet.servers().all(ServerView::is_waiting));
        let reported = |id: u32| {
            let state = &fleet.terminal(&pane(id, 10 + id).key).unwrap().state;
            assert_eq!(
                (state.diagnostics.availability, state.attention),
                (Availability::Unknown, crate::state::Attention::None)
            );
            let problem = state.diagnostics.probe_error.as_ref().unwrap();
            (problem.message.clone(), state.stale.as_ref().map(|stale| stale.at), state.since)
        };
        assert_eq!(reported(0), ("not looked at yet; 1m ago: approval".to_owned(), Some(at(-60)), at(-60)));
        assert_eq!(reported(1).0, "not looked at yet");
    }
    let screen = Arc::new(Screen::from_text("hello", 80));
    let read = |id| PaneReport { capture: Capture::Fresh(Arc::clone(&screen)), ..pane(id, 10 + id) };
    fleet.handle(report(2, vec![read(0), awaited(1)]), at(2));
    let introduced: Vec<Effect> = std::iter::from_fn(|| fleet.poll_effect()).collect();
    assert!(matches!(&introduced[0], Effect::Introduced { key } if key.pane == PaneId(0)), "{introduced:?}");
    assert!(fleet.servers().all(ServerView::is_waiting));
    fleet.handle(report(3, vec![pane(0, 10), read(1)]), at(3));
    let terminal = fleet.terminal(&pane(1, 11).key).unwrap();
    assert!(!fleet.servers().any(ServerView::is_waiting) && terminal.state.diagnostics.probe_error.is_none());
}

#[test]
fn a_report_in_parts_tells_the_same_as_in_one() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let screen = |text: &str| Capture::Fresh(Arc::new(Screen::from_text(text, 80)));
    let panes = |text: &str| (0..7).map(|id| PaneReport { capture: screen(text), ..pane(id, 10 + id) }).collect();
    let reports = ["one", "two"].map(|text| {
        ServerReport::new(ServerId::default(), at(i64::from(text == "two")), PollResult::Listed(panes(text)))
    });
    let states = |count| {
        let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
        for report in reports.clone() {
            let at = report.at;
            let parts: Vec<ServerReport> = report.in_parts(count).collect();
            assert_eq!(parts.len(), 7_usize.div_ceil(count));
            for part in parts {
                fleet.handle(Input::Server(part), at);
            }
            assert!(!fleet.servers().any(ServerView::is_waiting));
        }
        (0..7).map(|id| fleet.state(&pane(id, 10 + id).key, at(2)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(states(3), states(7));
}

#[test]
fn the_row_of_one_that_was_cut_off_goes_on_after_a_restart_until_it_was_seen() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let shown = |seen: bool, gone_at: i64| {
        let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
        let mut state = Entry::new(pane(0, 10).key, Default::default(), None, false, at(-90)).state(at(-90));
        (state.terminal.id, state.terminal.tool) = ("web".to_owned(), "claude".to_owned());
        state.diagnostics.availability = Availability::Unavailable;
        state.last_turn = crate::state::LastTurn::cut_off(crate::state::TurnSource::SurfaceInference, at(gone_at));
        (state.since, state.unseen) = (at(gone_at), true);
        let until = at(-30);
        let known =
            TerminalHistory { state, screen: None, watched_until: until, unbroken_until: until, prompted: false, seen };
        fleet.handle(Input::Known { key: pane(0, 10).key, known: Box::new(known) }, at(0));
        for second in [0, 5] {
            let report = ServerReport::new(ServerId::default(), at(second), PollResult::Listed(Vec::new()));
            fleet.handle(Input::Server(report), at(second));
        }
        let shown = |fleet: &Fleet| {
            let terminal = fleet.terminal(&pane(0, 10).key);
            terminal.map(|terminal| (terminal.state.terminal.id.clone(), Status::of(&terminal.state)))
        };
        let before = shown(&fleet);
        fleet.handle(Input::TimePassed, at(gone_at) + Span::from_secs(601));
        assert_eq!(shown(&fleet), None, "not for ever");
        before
    };
    assert_eq!(shown(false, -60), Some(("web".to_owned(), Status::CutOff)));
    assert_eq!(shown(true, -60), None);
    assert_eq!(shown(false, -700), None);
}

#[test]
fn a_screen_that_stands_still_is_packed_and_shown_as_it_is() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let screen = |text: &str| Arc::new(Screen::from_text(text, 80));
    let poll = |fleet: &mut Fleet, second, text: Option<&str>| {
        let capture = text.map_or(Capture::Unchanged, |text| Capture::Fresh(screen(text)));
        let panes = vec![PaneReport { capture, ..pane(0, 10) }];
        fleet.handle(
            Input::Server(ServerReport::new(ServerId::default(), at(second), PollResult::Listed(panes))),
            at(second),
        );
        let terminal = fleet.terminal(&pane(0, 10).key).unwrap();
        (terminal.screen.as_ref().unwrap().is_whole(), terminal.screen().unwrap())
    };
    assert_eq!(poll(&mut fleet, 0, Some("one")), (true, screen("one")), "a command that polls once packs nothing");
    assert_eq!(poll(&mut fleet, 1, None), (false, screen("one")));
    assert_eq!(poll(&mut fleet, 2, Some("two")), (true, screen("two")));
    assert_eq!(poll(&mut fleet, 6, None), (true, screen("two")));
    assert_eq!(poll(&mut fleet, 7, None), (false, screen("two")));
    assert!(
        fleet.view(at(7)).recent.iter().all(|change| change.screen.as_ref().is_none_or(|screen| !screen.is_whole()))
    );
}

/// What the operator says of a pane's agent, called `name`.
fn given(pane: u32, process: Option<u32>, name: &str) -> Input {
    let key = TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: 10, instance: Default::default() };
    let note = Note::default().with(NotePart::Name, name).with(NotePart::Label, "shop");
    Input::Noted(KeptNote { key, process, note })
}

#[test]
fn where_nobody_is_called_so_the_name_is_that_of_whoever_left_last() {
    let profiles = Arc::new(ProfileSet::builtin());
    let mut fleet = Fleet::new(Settings::default(), Arc::clone(&profiles));
    let ids = |fleet: &mut Fleet, second, panes| {
        names(fleet, second, panes).into_iter().map(|(.., id)| id).collect::<Vec<_>>()
    };
    let one = |number, pid| PaneReport { declared: None, ..pane(number, pid) };
    assert_eq!(ids(&mut fleet, 0, vec![one(5, 10)]), ["web"]);
    assert_eq!(ids(&mut fleet, 1, vec![one(6, 11)]), ["web %5", "web"]);
    assert_eq!(ids(&mut fleet, 2, vec![]), ["web %5", "web"]);
    assert_eq!(ids(&mut fleet, 3, vec![one(5, 12)]), ["web %5", "web", "web %6"]);
}

#[test]
fn a_name_that_the_operator_gives_is_its_agents() {
    let running = |process| PaneReport { agent_process: Some(process), declared: None, ..pane(0, 10) };
    let other = |session: &str| {
        let place = PaneLocation { session: session.to_owned(), ..PaneLocation::default() };
        PaneReport { place: place.into(), declared: None, ..pane(1, 11) }
    };
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    // It is known before the terminal is found.
    fleet.handle(given(0, Some(20), "front"), Timestamp::default());
    let ids = |fleet: &mut Fleet, second, panes| {
        let names = names(fleet, second, panes);
        names.into_iter().map(|(.., id)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut fleet, 0, vec![running(20), other("docs")]), ["front", "docs"]);
    let view = fleet.view(Timestamp::default());
    let (front, docs) = (view.terminals.iter().find(|it| it.note.name.is_some()).unwrap(), &other("docs").key);
    assert_eq!((front.label(), front.state.terminal.label.as_deref()), (Some("shop"), Some("shop")));
    let fault = |key, name| view.name_fault(key, name);
    assert_eq!(fault(docs, "front").as_deref(), Some("another terminal is called front"));
    assert_eq!(fault(docs, "web").as_deref(), Some("web is what front is called in tmux"));
    assert_eq!((fault(docs, "docs"), fault(&front.key, "web"), fault(docs, "free")), (None, None, None));
    // A session that comes to have that name does not take it.
    assert_eq!(ids(&mut fleet, 1, vec![running(20), other("front")]), ["front", "front %1"]);
    let suspended =
        PaneReport { program: Program::Other { command: "bash".to_owned() }, agent_process: None, ..running(0) };
    assert_eq!(ids(&mut fleet, 2, vec![suspended, other("docs")]), ["front", "docs"], "it may come back");
    assert_eq!(ids(&mut fleet, 3, vec![running(20), other("docs")]), ["front", "docs"]);
    assert_eq!(ids(&mut fleet, 4, vec![running(21), other("docs")]), ["web", "docs"], "another agent");
    let view = fleet.view(Timestamp::default());
    assert!(view.terminals.iter().all(|it| it.label().is_none() && it.note.is_empty()));
    fleet.handle(given(0, Some(21), "back"), Timestamp::default());
    fleet.handle(given(0, Some(21), ""), Timestamp::default());
    assert_eq!(ids(&mut fleet, 5, vec![running(21), other("docs")]), ["web", "docs"]);
}

#[test]
fn what_another_fleet_has_not_heard_of_yet_is_known_here() {
    let running = || PaneReport { agent_process: Some(20), declared: None, ..pane(0, 10) };
    let new = || Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let (mut before, mut after) = (new(), new());
    names(&mut before, 0, vec![running()]);
    after.handle(given(0, Some(20), "front"), Timestamp::default());
    let server = ServerId::default();
    let told = before.share(&server).into();
    after.handle(Input::Told { server, told }, Timestamp::default());
    let view = after.view(Timestamp::default());
    assert_eq!(view.terminals.iter().map(|it| it.state.terminal.id.as_str()).collect::<Vec<_>>(), ["front"]);
}

#[test]
fn what_is_shown_of_a_pane_that_is_gone_is_as_old_as_the_last_poll_at_it() {
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let still = || PaneReport { program: Program::agent("claude", None), ..pane(0, 10) };
    let screen = Arc::new(crate::screen::Screen::from_text("╭──╮\n│ > │\n╰──╯", 80));
    names(&mut fleet, 0, vec![PaneReport { capture: Capture::Fresh(screen), ..still() }]);
    for second in 1..=120 {
        names(&mut fleet, second, vec![still()]);
    }
    names(&mut fleet, 121, Vec::new());
    let state = fleet.state(&still().key, Timestamp::from_millis(1_700_000_121_000)).unwrap();
    assert_eq!(state.diagnostics.availability, Availability::Unavailable);
    assert_eq!(state.stale.unwrap().at, Timestamp::from_millis(1_700_000_120_000));
}

#[test]
fn whose_turn_was_cut_off_is_shown_for_longer_than_who_left_with_nothing_to_do() {
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let rule = "─".repeat(80);
    let composer = format!("{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts");
    let working = format!("❯ go on\n\n✻ Accomplishing… (3s · ↓ 90 tokens)\n\n{composer}");
    let shows = |id, text: &str| {
        let program = Program::agent("claude", Some("2.1.330"));
        let row = text.lines().position(|line| line == "❯\u{a0}").and_then(|row| u16::try_from(row).ok()).unwrap_or(0);
        let cursor = crate::screen::Cursor { column: 2, row, visible: true };
        let facts = PaneFacts { cursor, ..PaneFacts::default() };
        let capture = Capture::Fresh(Arc::new(Screen::from_text(text, 80)));
        PaneReport { capture, program, facts, ..pane(id, 10 + id) }
    };
    let stopped = format!("❯ go on\n  ⎿  Interrupted · What should Claude do instead?\n\n{composer}");
    let done = format!("❯ go on\n\n● It is done.\n\n✻ Baked for 3s\n\n{composer}");
    for second in 0..5 {
        let works = working.replace("3s", &format!("{second}s"));
        let third = if second < 4 { &works } else { &stopped };
        let fourth = if second < 3 { &works } else { &done };
        names(&mut fleet, second, vec![shows(0, &works), shows(1, &composer), shows(2, third), shows(3, fourth)]);
    }
    let last = |fleet: &Fleet, id| fleet.entry(&pane(id, 10 + id).key).unwrap().terminal().state.last_turn.result;
    assert_eq!(last(&fleet, 3), TurnResult::Success);
    let phase = |fleet: &Fleet, id| fleet.entry(&pane(id, 10 + id).key).map(|entry| entry.terminal().state.turn.phase);
    assert_eq!((phase(&fleet, 0), phase(&fleet, 1)), (Some(Phase::Active), Some(Phase::Ready)));
    let left_at = |fleet: &mut Fleet, second: i64| {
        fleet.handle(Input::TimePassed, Timestamp::from_millis(1_700_000_000_000 + second * 1000));
        names(fleet, second, Vec::new()).into_iter().map(|it| it.0).collect::<Vec<_>>()
    };
    assert_eq!(left_at(&mut fleet, 5), [0, 1, 2, 3]);
    let status = |fleet: &Fleet, id| Status::of(&fleet.entry(&pane(id, 10 + id).key).unwrap().terminal().state);
    assert_eq!((status(&fleet, 0), status(&fleet, 1)), (Status::CutOff, Status::Gone));
    let first = fleet.view(Timestamp::from_millis(1_700_000_005_000)).terminals[0].key.clone();
    assert_eq!(first, pane(0, 10).key, "it stands where failed ones do");
    for key in [first, pane(3, 13).key] {
        let state = &fleet.entry(&key).unwrap().terminal().state;
        assert!(state.wants_to_be_seen(), "{:?}", state.attention);
        fleet.handle(Input::Seen { key }, Timestamp::from_millis(1_700_000_006_000));
    }
    assert_eq!(status(&fleet, 0), Status::Gone);
    let left = [34, 36, 604, 606].map(|second| left_at(&mut fleet, second));
    assert_eq!(
        left,
        [vec![0, 1, 2, 3], vec![0, 2, 3], vec![0, 2, 3], vec![]],
        "who was stopped just before is not gone at once, nor whose result nobody had seen"
    );
}

/// A screen of Claude Code with its cursor in the composer.
fn claude(second: i64, shown: &str) -> Input {
    let rule = "─".repeat(80);
    let text = format!("❯ go on\n\n{shown}\n\n{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts");
    let row = text.lines().position(|line| line == "❯\u{a0}").and_then(|row| u16::try_from(row).ok()).unwrap();
    let cursor = crate::screen::Cursor { column: 2, row, visible: true };
    let report = PaneReport {
        program: Program::Agent { tool: "claude".to_owned(), version: Some("2.1.330".to_owned()), through: None },
        capture: Capture::Fresh(Arc::new(Screen::from_text(&text, 80))),
        facts: PaneFacts { cursor, ..PaneFacts::default() },
        ..pane(0, 10)
    };
    let at = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    Input::Server(ServerReport::new(ServerId::default(), at, PollResult::Listed(vec![report])))
}

/// What a fleet tells when it is given inputs, by what changed.
fn told(fleet: &mut Fleet, inputs: impl IntoIterator<Item = Input>) -> Vec<Vec<Change>> {
    let mut told = Vec::new();
    for input in inputs {
        let at = input.at().unwrap_or_default();
        fleet.handle(Input::TimePassed, at);
        fleet.handle(input, at);
        while let Some(effect) = fleet.poll_effect() {
            if let Effect::Changed(changed) = effect {
                told.push(changed.transition.changed);
            }
        }
    }
    told
}

/// A process that was the owner and is told by another one now may have told something already.
#[test]
fn what_was_told_before_another_fleet_is_followed_is_not_told_again() {
    let new = || Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let works = |seconds: std::ops::Range<i64>| seconds.map(|it| claude(it, "✻ Accomplishing… (3s · ↓ 90 tokens)"));
    let done = |seconds: std::ops::Range<i64>| seconds.map(|it| claude(it, "● It is done.\n\n✻ Baked for 3s"));
    let ends = |told: &[Vec<Change>]| {
        told.iter().flatten().filter(|change| change.field == "result" && change.to == "success").count()
    };
    let server = ServerId::default();
    for ours_sees in [4, 8] {
        let (mut ours, mut theirs) = (new(), new());
        for fleet in [&mut ours, &mut theirs] {
            told(fleet, works(0..4));
        }
        let mut all = told(&mut ours, done(4..ours_sees));
        told(&mut theirs, done(4..8));
        let whole = Box::new(theirs.share(&server));
        all.extend(told(&mut ours, [Input::Told { server: server.clone(), told: whole }]));
        assert_eq!(ends(&all), 1, "{ours_sees}: {all:#?}");
        // Then it tells what the other one tells, with its states and screens.
        for input in done(8..20).chain(works(20..24)).chain(done(24..40)) {
            let at = input.at().unwrap();
            let before = ends(&told(&mut theirs, [input]));
            for (_, news) in theirs.take_told() {
                let input = Input::Told { server: server.clone(), told: Box::new(news) };
                assert_eq!(ends(&told(&mut ours, [input])), before);
            }
            let shown = |fleet: &Fleet| {
                let view = fleet.view(at);
                let shown = |it: &&Terminal| (fleet.state_of(it, view.now), it.screen(), it.transitions.clone());
                format!("{:?}", view.terminals.iter().map(shown).collect::<Vec<_>>())
            };
            assert_eq!(shown(&ours), shown(&theirs));
        }
        // Two whole turns that only the other one saw, the second of which ends in the same way as the first.
        told(&mut theirs, works(40..44).chain(done(44..60)).chain(works(60..64)).chain(done(64..80)));
        let whole = Box::new(theirs.share(&server));
        assert_eq!(ends(&told(&mut ours, [Input::Told { server: server.clone(), told: whole }])), 2);
    }
}

/// A prompt was sent, and its turn began and ended while the server changed hands.
#[test]
fn a_turn_between_two_owners_is_kept() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let rule = "─".repeat(80);
    let shows = |rows: &str| {
        let rows = format!("{rows}\n\n{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts\n");
        let row = rows.lines().position(|line| line == "❯\u{a0}").and_then(|row| u16::try_from(row).ok()).unwrap();
        PaneReport {
            program: Program::Agent { tool: "claude".to_owned(), version: Some("2.1.330".to_owned()), through: None },
            capture: Capture::Fresh(Arc::new(Screen::from_capture(rows.as_bytes(), 80, 24))),
            facts: PaneFacts {
                cursor: crate::screen::Cursor { column: 2, row, visible: true },
                ..PaneFacts::default()
            },
            ..pane(0, 10)
        }
    };
    let prompt = |text: &str| format!("\u{1b}[48;5;237m❯ {text}\u{1b}[0m");
    let before = format!("{}\n\n● Done.", prompt("look around"));
    let after = format!("{before}\n\n{}\n\n● Tidied up.", prompt("tidy up"));
    let new = || Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let (mut theirs, mut ours) = (new(), new());
    (0..5).for_each(|second| drop(names(&mut theirs, second, vec![shows(&before)])));
    let (server, key) = (ServerId::default(), pane(0, 10).key);
    let submitted = Input::Submitted { key: key.clone(), at: at(5), text: "tidy up".to_owned() };
    theirs.handle(submitted.clone(), at(5));
    let whole = Box::new(theirs.share(&server));
    ours.handle(Input::Told { server, told: whole }, at(5));
    // The history says that it was sent, too.
    ours.handle(submitted, at(5));
    (6..12).for_each(|second| drop(names(&mut ours, second, vec![shows(&after)])));
    let last = ours.state(&key, at(12)).unwrap().last_turn;
    assert_eq!((last.result, last.source), (TurnResult::Success, crate::state::TurnSource::ExplicitInput));
}

/// Of two processes that both let what stands still settle, each would tell the end.
#[test]
fn nothing_comes_due_in_a_process_that_has_yielded() {
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let works = (0..4).map(|it| claude(it, "✻ Accomplishing… (3s · ↓ 90 tokens)"));
    let done = || claude(4, "● It is done.\n\n✻ Baked for 3s");
    told(&mut fleet, works.chain([done()]));
    let due = fleet.poll_timeout().expect("it settles");
    fleet.yield_server(&ServerId::default());
    assert_eq!(fleet.poll_timeout(), None);
    fleet.handle(Input::TimePassed, due);
    assert!(fleet.poll_effect().is_none());
    // Nobody else polls after all.
    told(&mut fleet, [done()]);
    assert!(fleet.poll_timeout().is_some_and(|next| next >= due));
    // The row of one that is gone leaves all the same.
    let nothing = |second: i64| {
        let at = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
        Input::Server(ServerReport::new(ServerId::default(), at, PollResult::Listed(Vec::new())))
    };
    told(&mut fleet, [nothing(10)]);
    let leaves = fleet.poll_timeout().expect("it leaves");
    fleet.yield_server(&ServerId::default());
    assert_eq!(fleet.poll_timeout(), None);
    told(&mut fleet, [nothing(11)]);
    assert_eq!(fleet.poll_timeout(), Some(leaves));
}

/// The owner has ended: the first poll of this process goes on from what it was told, where the history knows nothing.
#[test]
fn a_process_that_takes_over_goes_on_from_what_it_was_told() {
    let new = || Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let works = |seconds: std::ops::Range<i64>| seconds.map(|it| claude(it, "✻ Accomplishing… (3s · ↓ 90 tokens)"));
    let done = |seconds: std::ops::Range<i64>| seconds.map(|it| claude(it, "● It is done.\n\n✻ Baked for 3s"));
    let server = ServerId::default();
    let key = pane(0, 10).key;
    for ended_before in [true, false] {
        let (mut ours, mut theirs) = (new(), new());
        told(&mut theirs, works(0..4));
        told(&mut theirs, done(4..if ended_before { 20 } else { 4 }));
        let whole = Box::new(theirs.share(&server));
        told(&mut ours, [Input::Told { server: server.clone(), told: whole }]);
        let shown = |fleet: &Fleet| {
            let state = fleet.state(&key, Timestamp::from_millis(1_700_000_040_000)).unwrap();
            (state.terminal.id.clone(), state.last_turn.clone(), state.since, state.since_exact, state.turn.phase)
        };
        let before = shown(&ours);
        assert_eq!(before, shown(&theirs));
        let mut effects = Vec::new();
        for input in done(if ended_before { 20 } else { 6 }..40) {
            let at = input.at().unwrap();
            ours.handle(Input::TimePassed, at);
            ours.handle(input, at);
            effects.extend(std::iter::from_fn(|| ours.poll_effect()));
        }
        let is_end = |effect: &&Effect| matches!(effect, Effect::Changed(it) if it.transition.changed.iter().any(|it| it.field == "result"));
        assert_eq!(effects.iter().filter(is_end).count(), usize::from(!ended_before), "{effects:#?}");
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Introduced { .. } | Effect::Left(_))));
        if ended_before {
            assert_eq!(shown(&ours), before);
        }
    }
}

/// The owner has written what it saw and ended before it told so; its last message was read late, behind this process's own clock.
#[test]
fn what_the_history_has_after_the_owners_last_word_does_not_happen_again() {
    let new = || Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let works = |seconds: std::ops::Range<i64>| seconds.map(|it| claude(it, "✻ Accomplishing… (3s · ↓ 90 tokens)"));
    let done = |seconds: std::ops::Range<i64>| seconds.map(|it| claude(it, "● It is done.\n\n✻ Baked for 3s"));
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let (server, key) = (ServerId::default(), pane(0, 10).key);
    let (mut ours, mut theirs) = (new(), new());
    told(&mut theirs, done(0..4));
    let whole = Box::new(theirs.share(&server));
    told(&mut ours, [Input::Told { server: server.clone(), told: whole }]);
    told(&mut theirs, done(4..5));
    let (_, news) = theirs.take_told().into_iter().next().unwrap();
    ours.handle(Input::TimePassed, at(9));
    ours.handle(Input::Told { server, told: Box::new(news) }, at(4));
    told(&mut theirs, works(6..7));
    let state = theirs.state(&key, at(6)).unwrap();
    let screen = theirs.entry(&key).unwrap().terminal().screen.clone();
    let (watched_until, unbroken_until) = (at(6), at(6));
    let known = TerminalHistory { state, screen, watched_until, unbroken_until, prompted: false, seen: false };
    ours.handle(Input::Known { key, known: Box::new(known) }, at(10));
    let again = told(&mut ours, works(10..12));
    assert!(!again.iter().flatten().any(|change| change.field == "phase"), "{again:#?}");
}

#[test]
fn what_was_sent_stands_there_until_the_agent_shows_it_itself() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let new = || Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let (mut fleet, mut gone) = (new(), new());
    let shows = |text: &str| PaneReport {
        program: Program::agent("claude", Some("2.1.330")),
        capture: Capture::Fresh(Arc::new(Screen::from_text(text, 80))),
        facts: PaneFacts { cursor: crate::screen::Cursor { column: 2, row: 1, visible: true }, ..PaneFacts::default() },
        ..pane(0, 10)
    };
    let rule = "─".repeat(80);
    let composer = format!("{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts");
    for second in 0..3 {
        names(&mut fleet, second, vec![shows(&composer)]);
        names(&mut gone, second, vec![shows(&composer)]);
    }
    let key = pane(0, 10).key;
    let works_on = |fleet: &Fleet, second| fleet.state(&key, at(second)).unwrap().works_on().map(str::to_owned);
    assert_eq!(works_on(&fleet, 2), None);
    fleet.handle(Input::Submitted { key: key.clone(), at: at(3), text: "tidy up".to_owned() }, at(3));
    assert_eq!(works_on(&fleet, 3).as_deref(), Some("tidy up"));
    let fact = fleet.state(&key, at(3)).unwrap().agent.get(crate::state::FactName::LastPrompt).cloned();
    assert_eq!(fact.map(|fact| fact.source), Some(crate::state::FactSource::Sent));
    // What was known of one stays with its row when its pane closes.
    gone.handle(Input::Submitted { key: key.clone(), at: at(3), text: "tidy up".to_owned() }, at(3));
    names(&mut gone, 4, Vec::new());
    let kept = |fleet: &Fleet, second| {
        fleet.state(&key, at(second)).unwrap().agent.get(crate::state::FactName::LastPrompt).cloned()
    };
    assert!(kept(&gone, 20).is_some_and(|fact| fact.value.to_string() == "tidy up"));
    // Nothing came of it: the agent may never have got it.
    for second in 4..30 {
        names(&mut fleet, second, vec![shows(&composer)]);
    }
    assert!(fleet.state(&key, at(30)).unwrap().agent.get(crate::state::FactName::LastPrompt).is_none());
}

#[test]
fn what_was_sent_before_a_terminal_was_found_is_its_turn() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let rule = "─".repeat(80);
    let prompt = "\u{1b}[48;5;237m❯ tidy up\u{1b}[0m";
    let rows = format!("{prompt}\n\n● Done.\n\n{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts\n");
    let shows = || PaneReport {
        program: Program::Agent { tool: "claude".to_owned(), version: Some("2.1.330".to_owned()), through: None },
        capture: Capture::Fresh(Arc::new(Screen::from_capture(rows.as_bytes(), 80, 24))),
        facts: PaneFacts { cursor: crate::screen::Cursor { column: 2, row: 5, visible: true }, ..PaneFacts::default() },
        ..pane(0, 10)
    };
    let result = |sent: &str| {
        let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
        fleet.handle(Input::Submitted { key: pane(0, 10).key, at: at(-1), text: sent.to_owned() }, at(0));
        (0..5).for_each(|second| drop(names(&mut fleet, second, vec![shows()])));
        fleet.state(&pane(0, 10).key, at(5)).unwrap().last_turn.result
    };
    assert_eq!(result("tidy up"), crate::state::TurnResult::Success);
    assert_eq!(result("look around"), crate::state::TurnResult::None, "another prompt's answer");
}

#[test]
fn what_ended_with_its_server_stays_until_the_server_is_back() {
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 1000);
    let report = |second, outcome| Input::Server(ServerReport::new(ServerId::default(), at(second), outcome));
    let no_server = || PollResult::NoServer(Problem { kind: "no_server".to_owned(), message: String::new() });
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let screen = Arc::new(Screen::from_text("hello", 80));
    let read = |id| PaneReport { capture: Capture::Fresh(Arc::clone(&screen)), ..pane(id, 10 + id) };
    fleet.handle(report(0, PollResult::Listed(vec![read(0), read(1)])), at(0));
    // One had gone by itself, and leaves as ever.
    fleet.handle(report(5, PollResult::Listed(vec![pane(1, 11)])), at(5));
    fleet.handle(report(6, no_server()), at(6));
    let there = |fleet: &Fleet| fleet.entries.keys().map(|key| key.pane.0).collect::<Vec<_>>();
    fleet.handle(Input::TimePassed, at(3600));
    assert_eq!((there(&fleet), fleet.poll_timeout()), (vec![1], None));
    let view = fleet.view(at(3600));
    assert_eq!((Status::of(&view.terminals[0].state), view.servers[0].ended_at), (Status::Gone, Some(at(6))));
    fleet.handle(report(7200, no_server()), at(7200));
    fleet.handle(Input::TimePassed, at(7201));
    assert_eq!(there(&fleet), [1]);
    fleet.handle(report(7202, PollResult::Listed(vec![read(5)])), at(7202));
    fleet.handle(Input::TimePassed, at(7202));
    assert_eq!(there(&fleet), [5]);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 64, failure_persistence: None, ..Default::default() })]

    /// A dashboard draws nothing, and sorts nothing, as long as the version is the same.
    #[test]
    fn what_a_view_shows_changes_only_with_its_version(
        steps in proptest::collection::vec((0..9_u8, 0..3_u32, 0..3_usize, 0..40_i64), 1..40)
    ) {
        const TEXTS: [&str; 3] = ["> ", "Do you want to proceed?\n > 1. Yes\n   2. No", "* Churning... (3s - esc to interrupt)"];
        let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
        let (mut panes, mut at) = (vec![pane(0, 10), pane(1, 11)], Timestamp::from_millis(1_700_000_000_000));
        for (what, id, text, pause) in steps {
            at = at + Span::from_millis(pause.unsigned_abs() * 250);
            panes.iter_mut().for_each(|pane| pane.capture = Capture::Unchanged);
            let mut input = None;
            if let Some(pane) = panes.iter_mut().find(|pane| pane.key.pane.0 == id) {
                match what {
                    0 => pane.capture = Capture::Fresh(Arc::new(Screen::from_text(TEXTS[text], 80))),
                    1 => pane.cwd = Some(format!("/{text}")),
                    2 => pane.facts.title = TEXTS[text].to_owned(),
                    3 => pane.declared = None,
                    4 => input = Some(Input::TimePassed),
                    5 => input = Some(Input::Seen { key: pane.key.clone() }),
                    6 => pane.program = Program::agent("claude", Some("2.1.197")),
                    _ => {}
                }
            }
            match what {
                7 if panes.iter().any(|pane| pane.key.pane.0 == id) => panes.retain(|pane| pane.key.pane.0 != id),
                7 => panes.push(pane(id, 20 + id)),
                _ => {}
            }
            let outcome = match what {
                8 => PollResult::Failed(Problem { kind: "timeout".to_owned(), message: TEXTS[text].to_owned() }),
                _ => PollResult::Listed(panes.clone()),
            };
            let report = || Input::Server(ServerReport::new(ServerId::default(), at, outcome));
            let shown = |fleet: &Fleet| {
                let terminals = fleet.view(at).terminals.into_iter();
                let states = terminals.map(|terminal| {
                    let state = State { observed_at: at, ..fleet.state(&terminal.key, at).unwrap() };
                    (state, terminal.place.clone())
                });
                let servers = fleet.servers().map(|server| (server.health.clone(), server.ended_at, server.terminals));
                (states.collect::<Vec<_>>(), servers.collect::<Vec<_>>())
            };
            let before = (fleet.version(), shown(&fleet));
            fleet.handle(input.unwrap_or_else(report), at);
            while fleet.poll_effect().is_some() {}
            if fleet.version() == before.0 {
                proptest::prop_assert_eq!(&shown(&fleet), &before.1);
            }
        }
    }
}

#[test]
fn a_fleet_at_rest_keeps_its_version_and_the_first_change_ends_that() {
    let mut fleet = Fleet::new(Settings::default(), Arc::new(ProfileSet::builtin()));
    let mut poll = |second: i64, capture: Capture| {
        let at = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
        let panes = vec![PaneReport { capture, ..pane(0, 10) }];
        fleet.handle(Input::Server(ServerReport::new(ServerId::default(), at, PollResult::Listed(panes))), at);
        while fleet.poll_effect().is_some() {}
        fleet.version()
    };
    let screen = |draft: &str| {
        let rule = "─".repeat(80);
        let text = format!("{rule}\n❯\u{a0}{draft}\n{rule}\n  ? for shortcuts");
        Capture::Fresh(Arc::new(Screen::from_text(&text, 80)))
    };
    poll(0, screen(""));
    poll(60, Capture::Unchanged);
    let rest = poll(90, Capture::Unchanged);
    assert_eq!(poll(91, Capture::Unchanged), rest);
    assert_eq!(poll(92, Capture::Unchanged), rest);
    assert_ne!(poll(93, screen("goodbye")), rest, "the first change ends it");
}
