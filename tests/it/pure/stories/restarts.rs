//! A process that goes on from the history says what the one before it would have said.

use std::sync::Arc;

use crate::scoring::score::in_parallel;
use fleetwatch::fleet::{
    Capture, Declared, Fleet, Input, PaneId, PaneReport, PollResult, ServerId, ServerReport, TerminalKey,
};
use fleetwatch::recording::{Frame, Player, program};
use fleetwatch::state::{Completion, Phase, State};
use fleetwatch::time::Span;

use super::{BEGINNING, Kept, archive, fleet, profiles};

/// How often the terminal is polled.
const TICK: u64 = 500;
/// What was known for sure has come back within this time: what settles, settles again.
const SOON: u64 = 2000;

/// What is said at each poll of a recording until that is enough, when another process takes over before the poll with a number.
fn said(name: &str, restart: Option<u64>, is_enough: impl Fn(&[State]) -> bool) -> Vec<State> {
    let recording = archive().recording(name).expect("a recording can be read");
    let key = TerminalKey { server: ServerId::default(), pane: PaneId(0), pid: 1, instance: Default::default() };
    let mut frames = Player::new(&recording).peekable();
    let mut latest: Option<Frame> = None;
    let (mut watching, mut kept) = (fleet(None), Kept::default());
    let mut said = Vec::new();
    for poll in 0..=recording.duration().as_millis() / TICK {
        let now = BEGINNING + Span::from_millis(poll * TICK);
        while let Some(frame) = frames.next_if(|frame| frame.at <= Span::from_millis(poll * TICK)) {
            let printed = frame.printed || latest.as_ref().is_some_and(|latest| latest.printed);
            latest = Some(Frame { printed, ..frame });
        }
        let Some(frame) = &mut latest else { continue };
        let mut inputs = Vec::new();
        if restart == Some(poll) {
            watching = fleet(None);
            frame.printed = true;
            let known = kept.known().map(|known| Input::Known { key: key.clone(), known: Box::new(known) });
            inputs.extend(known);
        }
        let (tool, version) = (recording.header.tool.as_deref(), recording.header.version.as_deref());
        let command = Some(frame.facts.command.as_str()).filter(|command| !command.is_empty());
        let report = PaneReport {
            key: key.clone(),
            place: Default::default(),
            cwd: None,
            program: program(profiles(), tool, version, command),
            facts: frame.facts.clone(),
            capture: if frame.printed { Capture::Fresh(Arc::clone(&frame.screen)) } else { Capture::Unchanged },
            declared: Some(Declared { name: Some(name.to_owned()), ..Declared::default() }),
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        frame.printed = false;
        let outcome = PollResult::Listed(vec![report]);
        inputs.push(Input::Server(ServerReport::new(key.server.clone(), now, outcome)));
        inputs.into_iter().for_each(|input| hand(&mut watching, &mut kept, input, now));
        said.extend(watching.state(&key, now));
        if is_enough(&said) {
            break;
        }
    }
    said
}

fn hand(fleet: &mut Fleet, kept: &mut Kept, input: Input, now: fleetwatch::time::Timestamp) {
    kept.input(&input, now);
    fleet.handle(input, now);
    while let Some(effect) = fleet.poll_effect() {
        kept.effect(&effect);
    }
}

#[test]
fn the_second_half_of_a_recording_reads_the_same() {
    // Every fifth one: a recording is read twice.
    let names: Vec<&str> = archive().names().step_by(5).collect();
    let differing = in_parallel(&names, |name| {
        let to_its_end = |_: &[State]| false;
        let whole = said(name, None, to_its_end);
        let half = whole.len() / 2;
        let restarted = said(name, Some(half as u64), to_its_end);
        let soon = (SOON / TICK) as usize;
        let pairs = whole.iter().zip(&restarted).enumerate().skip(half + soon);
        let core = |s: &State| (s.diagnostics.availability, s.turn.phase, s.surface, s.last_turn.result, s.attention);
        let ages = |s: &State| (s.turn.since, s.since, s.since_exact, s.last_turn.at);
        let differs = pairs.clone().filter(|(_, (one, other))| core(one) != core(other));
        let differs: Vec<String> = differs
            .map(|(poll, (one, other))| format!("{name} at {poll}: {:?}, restarted: {:?}", core(one), core(other)))
            .collect();
        let aged = pairs.filter(|(_, (one, other))| ages(one) != ages(other));
        let aged: Vec<String> = aged
            .map(|(poll, (one, other))| format!("{name} at {poll}: {:?}, restarted: {:?}", ages(one), ages(other)))
            .collect();
        (whole.len() - half, differs, aged)
    });
    let polls: usize = differing.iter().map(|(polls, ..)| polls).sum();
    let wrong: Vec<&String> = differing.iter().flat_map(|(_, wrong, _)| wrong).collect();
    let aged: Vec<&String> = differing.iter().flat_map(|(_, _, aged)| aged).collect();
    println!("{} recordings, {polls} polls, {} differ, {} in an age", names.len(), wrong.len(), aged.len());
    let firsts = |of: &[(usize, Vec<String>, Vec<String>)], ages: bool| -> Vec<String> {
        of.iter().filter_map(|(_, wrong, aged)| if ages { aged.first() } else { wrong.first() }).cloned().collect()
    };
    println!("{:#?}\n{:#?}", firsts(&differing, false), firsts(&differing, true));
    // A slow stream's pace is learned again, so that one that pauses just then may differ until it goes on.
    let differ = differing.iter().filter(|(_, wrong, aged)| !wrong.is_empty() || !aged.is_empty()).count();
    assert!(differ * 20 <= names.len(), "{differ} of {} recordings", names.len());
}

/// The work is over and what it left settles: a process that takes over then says so too.
#[test]
fn what_has_come_to_rest_does_not_work_again_after_a_restart() {
    let names: Vec<&str> = archive().names().step_by(3).collect();
    let soon = (SOON / TICK) as usize;
    let cases = in_parallel(&names, |name| {
        let settles = |state: &State| {
            state.turn.phase == Phase::Ready && state.operator.completion == Completion::CandidateComplete
        };
        let settled = |said: &[State], poll: usize| said[poll - 1..=poll].iter().all(settles);
        let whole = said(name, None, |said| said.len() > soon && settled(said, said.len() - soon));
        let poll = (1..whole.len()).find(|poll| settled(&whole, *poll))?;
        let restarted = said(name, Some(poll as u64), |said| said.len() >= poll + soon);
        let mut pairs = whole.iter().zip(&restarted).skip(poll).take(soon);
        let works = pairs.any(|(one, other)| one.turn.phase == Phase::Ready && other.turn.phase == Phase::Active);
        Some((works, format!("{name} at {poll}")))
    });
    let cases: Vec<(bool, String)> = cases.into_iter().flatten().collect();
    let wrong: Vec<&String> = cases.iter().filter(|(works, _)| *works).map(|(_, what)| what).collect();
    assert!(cases.len() > 10 && wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), cases.len());
}
