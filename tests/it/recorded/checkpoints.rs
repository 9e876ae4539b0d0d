//! What one process tells the others is what it knows: screens and the states of terminals come back as they were.

use std::path::Path;
use std::sync::Arc;

use fleetwatch::fleet::{
    Capture, Checkpoint, Declared, Effect, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId,
    ServerReport, Settings, TerminalKey,
};
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::{Archive, Player, program};
use fleetwatch::screen::Screen;
use fleetwatch::state::{State, Transition};

fn archive() -> Archive {
    Archive::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst")).unwrap()
}

#[test]
fn a_screen_comes_back_from_its_capture() {
    let archive = archive();
    let mut screens = 0;
    for name in archive.names() {
        let recording = archive.recording(name).unwrap();
        for frame in Player::new(&recording).step_by(9) {
            let text = frame.screen.to_capture();
            let rows = u16::try_from(frame.screen.rows().len()).unwrap();
            assert_eq!(Screen::from_capture(text.as_bytes(), frame.screen.columns(), rows), *frame.screen, "{name}");
            screens += 1;
        }
    }
    assert!(screens > 1000, "{screens}");
}

/// At every seventh poll a replica is made anew from what the fleet knows, as JSON; with the same polls it must come to the
/// same states, timers and transitions as the fleet that has seen everything.
#[test]
fn a_fleet_goes_on_from_a_checkpoint_like_the_one_that_it_is_of() {
    let archive = archive();
    let profiles = Arc::new(ProfileSet::builtin());
    let new = || Fleet::new(Settings::default(), Arc::clone(&profiles));
    let server = ServerId::default();
    let key = TerminalKey { server: server.clone(), pane: PaneId(0), pid: 1, instance: Default::default() };
    let mut polls = 0;
    for name in archive.names().step_by(3) {
        let recording = archive.recording(name).unwrap();
        let header = &recording.header;
        let (mut fleet, mut replica) = (new(), None::<Fleet>);
        let take = |fleet: &mut Fleet, input: Input, at| {
            // As a process does whose clock wakes it in time.
            while let Some(due) = fleet.poll_timeout().filter(|due| *due < at) {
                let before = fleet.poll_timeout();
                fleet.handle(Input::TimePassed, due);
                if fleet.poll_timeout() == before {
                    break;
                }
            }
            fleet.handle(input, at);
            std::iter::from_fn(|| fleet.poll_effect()).count()
        };
        for (index, frame) in Player::new(&recording).enumerate() {
            let at = recording.began() + frame.at;
            let command = Some(frame.facts.command.as_str()).filter(|command| !command.is_empty());
            let report = PaneReport {
                key: key.clone(),
                place: PaneLocation { session: name.to_owned(), ..PaneLocation::default() }.into(),
                cwd: None,
                program: program(&profiles, header.tool.as_deref(), header.version.as_deref(), command),
                facts: frame.facts,
                capture: if frame.printed { Capture::Fresh(frame.screen) } else { Capture::Unchanged },
                declared: Some(Declared { name: Some(name.to_owned()), ..Declared::default() }),
                record: None,
                git: None,
                agent_process: None,
                printed_until: None,
            };
            let input = || {
                let outcome = PollResult::Listed(vec![report.clone()]);
                Input::Server(ServerReport::new(server.clone(), at, outcome))
            };
            let reported = take(&mut fleet, input(), at);
            if let Some(replica) = &mut replica {
                assert_eq!(take(replica, input(), at), reported, "{name} at {index}");
                assert_eq!(replica.state(&key, at), fleet.state(&key, at), "{name} at {index}");
                assert_eq!(replica.poll_timeout(), fleet.poll_timeout(), "{name} at {index}");
                let (there, here) = (replica.terminal(&key).unwrap(), fleet.terminal(&key).unwrap());
                assert_eq!((&there.transitions, &there.dialog), (&here.transitions, &here.dialog), "{name} at {index}");
                polls += 1;
            }
            if index % 7 == 3 {
                let json = serde_json::to_string(&fleet.checkpoint(&server)).unwrap();
                let checkpoint: Checkpoint = serde_json::from_str(&json).unwrap();
                let mut other = new();
                take(&mut other, Input::Checkpoint { server: server.clone(), checkpoint: Box::new(checkpoint) }, at);
                replica = Some(other);
            }
        }
    }
    assert!(polls > 1000, "{polls}");
}

/// A fleet that gets nothing but checkpoints, as a process that is stopped again and again, tells each transition with the
/// state that it led to, and not with the one that holds when it is reported.
#[test]
fn what_was_missed_is_reported_with_the_state_of_its_time() {
    let archive = archive();
    let profiles = Arc::new(ProfileSet::builtin());
    let new = || Fleet::new(Settings::default(), Arc::clone(&profiles));
    let server = ServerId::default();
    let key = TerminalKey { server: server.clone(), pane: PaneId(0), pid: 1, instance: Default::default() };
    let changes = |fleet: &mut Fleet| -> Vec<(Transition, State)> {
        let effects = std::iter::from_fn(|| fleet.poll_effect());
        let changed = effects.filter_map(|effect| match effect {
            Effect::Changed(changed) => Some((changed.transition, changed.state.unwrap().as_ref().clone())),
            _ => None,
        });
        changed.collect()
    };
    let (mut missed, mut superseded) = (0, 0);
    for name in archive.names().step_by(3) {
        let recording = archive.recording(name).unwrap();
        let header = &recording.header;
        let (mut fleet, mut late) = (new(), new());
        let (mut seen, mut reported) = (Vec::new(), Vec::new());
        for (index, frame) in Player::new(&recording).enumerate() {
            let at = recording.began() + frame.at;
            let command = Some(frame.facts.command.as_str()).filter(|command| !command.is_empty());
            let report = PaneReport {
                key: key.clone(),
                place: Default::default(),
                cwd: None,
                program: program(&profiles, header.tool.as_deref(), header.version.as_deref(), command),
                facts: frame.facts,
                capture: if frame.printed { Capture::Fresh(frame.screen) } else { Capture::Unchanged },
                declared: None,
                record: None,
                git: None,
                agent_process: None,
                printed_until: None,
            };
            let outcome = PollResult::Listed(vec![report]);
            fleet.handle(Input::Server(ServerReport::new(server.clone(), at, outcome)), at);
            seen.extend(changes(&mut fleet));
            if index % 40 == 3 {
                let checkpoint = Box::new(fleet.checkpoint(&server));
                late.handle(Input::Checkpoint { server: server.clone(), checkpoint }, at);
                let now = late.state(&key, at).unwrap();
                let news = changes(&mut late);
                superseded += news.iter().filter(|(_, state)| state.turn.phase != now.turn.phase).count();
                reported.extend(news);
            }
        }
        missed += reported.len();
        assert!(reported.iter().all(|it| seen.contains(it)), "{name}");
    }
    assert!(missed > 100 && superseded > 10, "{missed}, {superseded}");
}
