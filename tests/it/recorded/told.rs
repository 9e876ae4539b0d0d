//! What one process tells the others is what it knows: screens and the states of terminals come back as they were.

use std::sync::Arc;

use fleetwatch::fleet::{
    Capture, Declared, Effect, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId, ServerReport,
    Settings, TerminalKey, Told,
};
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::program;
use fleetwatch::screen::Screen;
use fleetwatch::state::{State, Transition};

use super::played::{Played, played};

#[test]
fn a_screen_comes_back_from_its_capture() {
    let mut screens = 0;
    for Played { name, frames, .. } in played() {
        for frame in frames.iter().step_by(9) {
            let text = frame.screen.to_capture();
            let rows = u16::try_from(frame.screen.rows().len()).unwrap();
            assert_eq!(Screen::from_capture(text.as_bytes(), frame.screen.columns(), rows), *frame.screen, "{name}");
            screens += 1;
        }
    }
    assert!(screens > 1000, "{screens}");
}

/// A fleet that is told of each poll, as JSON and from the fourth one on, shows and says the same as the one that sees them.
#[test]
fn a_fleet_that_is_told_shows_what_the_owner_shows() {
    let profiles = Arc::new(ProfileSet::builtin());
    let new = || Fleet::new(Settings::default(), Arc::clone(&profiles));
    let server = ServerId::default();
    let key = TerminalKey { server: server.clone(), pane: PaneId(0), pid: 1, instance: Default::default() };
    let news = |fleet: &mut Fleet| -> Vec<(Transition, State)> {
        let effects = std::iter::from_fn(|| fleet.poll_effect());
        let changed = effects.filter_map(|effect| match effect {
            Effect::Changed(changed) => Some((changed.transition, changed.state.unwrap().as_ref().clone())),
            _ => None,
        });
        changed.collect()
    };
    let mut polls = 0;
    for Played { name, recording, frames, .. } in played().iter().step_by(4) {
        let header = &recording.header;
        let (mut owner, mut client) = (new(), new());
        for (index, frame) in frames.iter().cloned().enumerate() {
            let at = recording.began() + frame.at;
            let command = Some(frame.facts.command.as_str()).filter(|command| !command.is_empty());
            let report = PaneReport {
                key: key.clone(),
                place: PaneLocation { session: (*name).to_owned(), ..PaneLocation::default() }.into(),
                cwd: None,
                program: program(&profiles, header.tool.as_deref(), header.version.as_deref(), command),
                facts: frame.facts,
                capture: if frame.printed { Capture::Fresh(frame.screen) } else { Capture::Unchanged },
                declared: Some(Declared { name: Some((*name).to_owned()), ..Declared::default() }),
                record: None,
                git: None,
                agent_process: None,
                printed_until: None,
            };
            let mut told = Vec::new();
            while let Some(due) = owner.poll_timeout().filter(|due| *due < at) {
                owner.handle(Input::TimePassed, due);
                told.extend(owner.take_told());
                if owner.poll_timeout() == Some(due) {
                    break;
                }
            }
            let outcome = PollResult::Listed(vec![report]);
            owner.handle(Input::Server(ServerReport::new(server.clone(), at, outcome)), at);
            told.extend(owner.take_told());
            let seen = news(&mut owner);
            if index == 3 {
                told = vec![(server.clone(), owner.share(&server))];
            } else if index > 3 {
                assert!(!told.is_empty(), "{name} at {index}");
            }
            for (server, told) in told {
                let told: Box<Told> = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
                let input = Input::Told { server, told };
                let at = input.at().unwrap();
                client.handle(input, at);
            }
            if index < 3 {
                continue;
            }
            let heard = news(&mut client);
            assert!(index == 3 || heard == seen, "{name} at {index}: {heard:#?} {seen:#?}");
            assert_eq!(client.state(&key, at), owner.state(&key, at), "{name} at {index}");
            assert_eq!(client.dialog_text(&key), owner.dialog_text(&key), "{name} at {index}");
            assert_eq!(client.timers(&key), owner.timers(&key), "{name} at {index}");
            let (there, here) = (client.terminal(&key).unwrap(), owner.terminal(&key).unwrap());
            assert_eq!((&there.transitions, &there.dialog), (&here.transitions, &here.dialog), "{name} at {index}");
            assert_eq!(there.screen(), here.screen(), "{name} at {index}");
            assert_eq!(format!("{:?}", there.interrupt), format!("{:?}", here.interrupt));
            polls += 1;
        }
    }
    assert!(polls > 1000, "{polls}");
}

/// A fleet that is told everything anew now and then, as a process that is stopped again and again, tells each transition with the
/// state that it led to, and not with the one that holds when it is reported.
#[test]
fn what_was_missed_is_reported_with_the_state_of_its_time() {
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
    for Played { name, recording, frames, .. } in played().iter().step_by(4) {
        let header = &recording.header;
        let (mut fleet, mut late) = (new(), new());
        let (mut seen, mut reported) = (Vec::new(), Vec::new());
        for (index, frame) in frames.iter().cloned().enumerate() {
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
                let told = Box::new(fleet.share(&server));
                late.handle(Input::Told { server: server.clone(), told }, at);
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
