//! How well what is said of tasks agrees with the truth of recordings of shells: `task`, `exit_code`, `prompt`, `bells`.
//!
//! A recording is looked at as a live window is, by polls. A state may lag the truth by the same second as that of an
//! agent. A recording holds one sticky bell flag and no counter, so that of bells only "some" and "none" are told apart.

use serde_json::{Map, Value};

use super::{LAG, Tally};
use crate::moment::{Moment, Span};
use crate::place::{PaneId, ServerId, SessionId, TerminalKey, WindowId};
use crate::recording::{EventKind, Frame, Player, Recording, RecordingError};
use crate::state::words;
use crate::task::{Look, PaneState, Preview, Registration, SessionSnapshot, Task, TaskSnapshot, Watch};

/// How often the window is looked at.
const POLL: Span = Span::from_millis(250);

/// What stands for a value that is not there.
const NONE: &str = "none";

words! {
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpell {
    pub field: TaskField,
    pub from: Span,
    pub to: Span,
    pub truth: String,
    pub answer: String,
}

/// The values of one field, each from one time until the next; what is not judged is `None`.
type Course = Vec<(u64, Option<String>)>;

/// Scores what is said of a recorded shell as of a task; `None` for a recording of an agent.
///
/// # Errors
/// The recording's truth cannot be read.
pub fn score_task(recording: &Recording, source_name: &str) -> Result<Option<TaskScore>, RecordingError> {
    if recording.header.tool.as_deref() != Some("shell") {
        return Ok(None);
    }
    let answers = answers(recording);
    let mut score = TaskScore::default();
    for (n, &field) in TaskField::ALL.iter().enumerate() {
        let truth = truth(recording, source_name, field)?;
        judge(field, &truth, &answers[n], recording.duration().as_millis(), &mut score);
    }
    Ok(Some(score))
}

fn truth(recording: &Recording, source_name: &str, field: TaskField) -> Result<Course, RecordingError> {
    let mut course = Course::new();
    for event in &recording.events {
        let EventKind::Truth(json) = &event.kind else { continue };
        let fields: Map<String, Value> = serde_json::from_str(json).map_err(|error| RecordingError::Line {
            source_name: source_name.to_owned(),
            line: event.line,
            message: format!("the truth is no JSON object: {error}"),
        })?;
        match fields.get(field.word()) {
            None => {}
            Some(Value::Null) => course.push((event.at.as_millis(), None)),
            Some(Value::String(text)) => course.push((event.at.as_millis(), Some(text.clone()))),
            Some(other) => course.push((event.at.as_millis(), Some(other.to_string()))),
        }
    }
    Ok(course)
}

/// What is said of the recorded window, by fields.
fn answers(recording: &Recording) -> [Course; TaskField::ALL.len()] {
    let mut courses: [Course; TaskField::ALL.len()] = Default::default();
    let mut watch = Watch::default();
    let mut frames = Player::new(recording).peekable();
    let mut latest: Option<Frame> = None;
    for n in 0..=recording.duration().as_millis() / POLL.as_millis() {
        let at = n * POLL.as_millis();
        while let Some(frame) = frames.next_if(|frame| frame.at.as_millis() <= at) {
            latest = Some(frame);
        }
        let Some(frame) = &latest else { continue };
        watch.take(look(frame), Moment::default() + Span::from_millis(at));
        let Some(task) = watch.tasks().next() else { continue };
        for (field, course) in TaskField::ALL.iter().zip(&mut courses) {
            let answer = Some(answer(task, *field));
            if course.last().is_none_or(|(_, last)| *last != answer) {
                course.push((at, answer));
            }
        }
    }
    courses
}

fn look(frame: &Frame) -> Look {
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
        key: TerminalKey { server: ServerId::default(), pane: PaneId(0), pid: 1 },
        pane: Some(pane),
        bell: facts.bell,
        bells: None,
        registration: Registration::None,
    };
    let session = SessionSnapshot { id: SessionId(0), name: "recorded".to_owned(), windows: vec![window] };
    Look { sessions: vec![session], ..Look::default() }
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

/// Counts the judged milliseconds one by one: recordings of shells are short.
fn judge(field: TaskField, truth: &Course, answers: &Course, end: u64, score: &mut TaskScore) {
    let value = |course: &Course, at: u64| {
        let after = course.partition_point(|(from, _)| *from <= at);
        after.checked_sub(1).and_then(|i| course[i].1.clone())
    };
    let began = answers.first().map_or(end, |(at, _)| *at);
    for at in began..end {
        let Some(wanted) = value(truth, at) else { continue };
        let said = value(answers, at).unwrap_or_default();
        let tally = &mut score.tallies[field as usize];
        tally.judged_ms += 1;
        // A truth of the last second counts as well.
        let counts = truth.iter().enumerate().any(|(i, (from, label))| {
            let until = truth.get(i + 1).map_or(u64::MAX, |(next, _)| next.saturating_add(LAG.as_millis()));
            *from <= at && at < until && label.as_ref().is_some_and(|label| fits(field, label, &said))
        });
        if counts {
            tally.right_ms += 1;
            continue;
        }
        let (from, to) = (Span::from_millis(at), Span::from_millis(at + 1));
        match score.spells.last_mut() {
            Some(last) if last.to == from && last.field == field && last.truth == wanted && last.answer == said => {
                last.to = to;
            }
            _ => score.spells.push(TaskSpell { field, from, to, truth: wanted, answer: said }),
        }
    }
}
