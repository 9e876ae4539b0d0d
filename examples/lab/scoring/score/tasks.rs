//! How well the state of tasks agrees with the truth of recordings of shells: `task`, `exit_code`, `prompt`, `bells`.
//!
//! A recording is polled like a live window. A state may lag the truth by the same second as that of an
//! agent. A recording holds one sticky bell flag and no counter, so that of bells only "some" and "none" are told apart.

use serde_json::{Map, Value};

use super::{Judging, Spell, Stretch, Tally, join};
use fleetwatch::ids::{PaneId, ServerId, SessionId, TerminalKey, WindowId};
use fleetwatch::recording::{EventKind, Frame, Player, Recording, RecordingError};
use fleetwatch::task::{
    PaneState, Preview, Registration, SETTLED, SessionSnapshot, Task, TaskDisplay, TaskPoll, TaskSnapshot, TaskTracker,
};
use fleetwatch::time::{Span, Timestamp};

/// How often the window is polled.
const POLL: Span = Span::from_millis(250);

/// What stands for a value that is not there.
const NONE: &str = "none";

fields! {
    /// A field of a task that recordings judge.
    TaskField { Task = "task", ExitCode = "exit_code", Prompt = "prompt", Bells = "bells" }
}

/// The score of one recording of a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskScore {
    pub tallies: [Tally; TaskField::ALL.len()],
    /// Where the answer was wrong.
    pub spells: Vec<TaskSpell>,
}

/// A stretch of wrong answers.
pub type TaskSpell = Spell<TaskField, String>;

/// What is true of each field, each value from one time in milliseconds until the next; what is not judged is `None`.
type Truths = [Vec<(u64, Option<String>)>; TaskField::ALL.len()];
/// What is said of each field.
type TaskAnswers = [Vec<(u64, String)>; TaskField::ALL.len()];

/// Scores what is said of a recorded shell as of a task; `None` for a recording of an agent.
pub fn score_task(recording: &Recording, source_name: &str) -> Result<Option<TaskScore>, RecordingError> {
    if recording.header.tool.as_deref() != Some("shell") {
        return Ok(None);
    }
    let (truths, answers) = (truths(recording, source_name)?, answers(recording));
    let mut score = TaskScore::default();
    for ((&field, truths), answers) in TaskField::ALL.iter().zip(&truths).zip(&answers) {
        let truths: Vec<_> = truths.iter().map(|(at, value)| (*at, value.as_deref())).collect();
        let answers: Vec<_> = answers.iter().map(|(at, value)| (*at, value.as_str())).collect();
        let judging = Judging { truths: &truths, answers: &answers, end: recording.duration().as_millis() };
        judge(field, judging, &mut score);
    }
    Ok(Some(score))
}

fn truths(recording: &Recording, source_name: &str) -> Result<Truths, RecordingError> {
    let mut truths = Truths::default();
    for event in &recording.events {
        let EventKind::Truth(json) = &event.kind else { continue };
        let fields: Map<String, Value> = serde_json::from_str(json).map_err(|error| {
            RecordingError::at(source_name, event.line, format!("the truth is not a JSON object: {error}"))
        })?;
        for (field, truths) in TaskField::ALL.iter().zip(&mut truths) {
            let value = match fields.get(field.word()) {
                None => continue,
                Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text.clone()),
                Some(other) => Some(other.to_string()),
            };
            truths.push((event.at.as_millis(), value));
        }
    }
    Ok(truths)
}

/// What is said of the recorded window, by fields.
fn answers(recording: &Recording) -> TaskAnswers {
    let mut answers = TaskAnswers::default();
    let mut watch = TaskTracker::default();
    let mut frames = Player::new(recording).peekable();
    let mut latest: Option<Frame> = None;
    let mut at = 0;
    while at <= recording.duration().as_millis() {
        while let Some(frame) = frames.next_if(|frame| frame.at.as_millis() <= at) {
            latest = Some(frame);
        }
        let mut quiet = true;
        if let Some(frame) = &latest {
            watch.take(poll(frame), Timestamp::default() + Span::from_millis(at));
            if let Some(task) = watch.tasks().next() {
                note(&mut answers, task, at);
            }
            quiet = at > frame.at.as_millis() + SETTLED.as_millis() + POLL.as_millis();
        }
        at += POLL.as_millis();
        if quiet {
            // Nothing is said anew until something changes.
            let Some(next) = frames.peek() else { break };
            at = at.max(next.at.as_millis().next_multiple_of(POLL.as_millis()));
        }
    }
    answers
}

fn note(answers: &mut TaskAnswers, task: &Task, at: u64) {
    for (field, answers) in TaskField::ALL.iter().zip(answers) {
        let answer = answer(task, *field);
        if answers.last().is_none_or(|(_, last)| *last != answer) {
            answers.push((at, answer));
        }
    }
}

fn poll(frame: &Frame) -> TaskPoll {
    let facts = &frame.facts;
    let pane = PaneState {
        command: facts.command.clone(),
        start_command: None,
        cwd: None,
        dead: facts.dead,
        exit_code: facts.exit_status,
        alternate: facts.alternate,
        preview: Preview::of(&frame.screen, facts.cursor, facts.dead),
    };
    let window = TaskSnapshot {
        window: WindowId(0),
        name: "recorded".to_owned(),
        index: 0,
        key: TerminalKey { server: ServerId::default(), pane: PaneId(0), pid: 1, instance: Default::default() },
        pane: Some(pane),
        ended_at: None,
        bell: facts.bell,
        bells: None,
        registration: Registration::None,
        shown: TaskDisplay::default(),
    };
    let session = SessionSnapshot { id: SessionId(0), name: "recorded".to_owned(), windows: vec![window] };
    TaskPoll { sessions: vec![session], ..TaskPoll::default() }
}

fn answer(task: &Task, field: TaskField) -> String {
    match field {
        TaskField::Task => task.status.word().to_owned(),
        TaskField::ExitCode => task.exit_code().map_or(NONE.to_owned(), |code| code.to_string()),
        TaskField::Prompt => task.prompt().unwrap_or(NONE).to_owned(),
        TaskField::Bells => task.bells.to_string(),
    }
}

fn fits(field: TaskField, truth: &str, answer: &str) -> bool {
    match field {
        TaskField::Bells => (truth == "0") == (answer == "0"),
        _ => truth == answer,
    }
}

/// What is true before the first poll of the window is not judged.
fn judge(field: TaskField, judging: Judging<'_, '_>, score: &mut TaskScore) {
    let stretches = judging.stretches(|truth, answer| answer.is_some_and(|answer| fits(field, truth, answer)));
    for Stretch { from, to, truth, answer, right } in stretches {
        let Some(answer) = answer else { continue };
        score.tallies[field as usize].count(to - from, right);
        if right {
            continue;
        }
        let (from, to) = (Span::from_millis(from), Span::from_millis(to));
        join(&mut score.spells, Spell { field, from, to, truth: truth.to_owned(), answer: answer.to_owned() });
    }
}
