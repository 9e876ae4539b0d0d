//! Why a task is said to stand as it does.

use std::fmt::Write as _;

use super::snapshot::Registration;
use super::watch::Task;
use crate::state::TaskStatus;
use crate::time::{Span, Timestamp};

/// Lines of output that are told of a program that has ended.
const LAST: usize = 3;

/// What began so recently may have begun before anybody looked.
const FIRST_LOOK: Span = Span::from_secs(1);

/// The least code that says which signal ended a program.
const SIGNALS: i32 = 128;

impl Task {
    /// Why it is said to stand as it does, as text for people; headings stand at the margin.
    pub fn why(&self, now: Timestamp) -> String {
        let word = self.as_status().word();
        // What a first look finds may have been so for long.
        let is_new = now.since(self.since) < FIRST_LOOK;
        let mut text =
            if is_new { format!("{word}\n") } else { format!("{word} for {}\n", seconds(now.since(self.since))) };
        for reason in self.reasons() {
            let _ = writeln!(text, "  {reason}");
        }
        text.push_str("\nThe program\n");
        let _ = writeln!(text, "  {}", self.command());
        let how = match self.registration {
            Registration::None => "first seen",
            Registration::Started(_) | Registration::Told(_) => "started by `fleetwatch run`",
        };
        let ran = match (self.is_dead(), is_new) {
            (true, true) => "ended just now, or before this look".to_owned(),
            (true, false) => format!("ran for {}", seconds(self.since.since(self.started_at))),
            (false, _) => format!("has run for {}", seconds(now.since(self.started_at))),
        };
        let _ = writeln!(text, "  {how} {} ago, {ran}", seconds(now.since(self.started_at)));
        match self.bells {
            0 => {}
            1 => text.push_str("  rang once\n"),
            bells => {
                let _ = writeln!(text, "  rang {bells} times");
            }
        }
        text
    }

    fn reasons(&self) -> Vec<String> {
        let Some(pane) = &self.pane else { return vec!["the state of its pane is not known".to_owned()] };
        let command = &pane.command;
        match (self.status, self.prompt()) {
            (TaskStatus::Exited, _) => {
                let code = match self.exit_code() {
                    Some(code) if code > SIGNALS => {
                        format!("signal {} ended it: {code}, as shells say it", code - SIGNALS)
                    }
                    Some(code) => format!("its pane is dead, and tmux tells code {code}"),
                    None => "its pane is dead, and tmux does not tell how it ended".to_owned(),
                };
                let last = pane.preview.useful(LAST).into_iter().map(|line| format!("last output: {line}"));
                [code].into_iter().chain(last).collect()
            }
            (TaskStatus::WaitingInput, Some(prompt)) => vec![
                format!("it asks: {prompt}"),
                "the cursor stands where the answer goes, and two looks in a row showed the same".to_owned(),
            ],
            (TaskStatus::WaitingInput, None) => vec![format!("{command} fills the screen and waits for keys")],
            (TaskStatus::Idle, _) => vec![format!("the cursor stands behind the prompt of {command}")],
            (TaskStatus::Running | TaskStatus::Unknown, _) if self.may_ask() => {
                vec![format!("{command} runs; whether its last row asks, the next look tells")]
            }
            (TaskStatus::Running | TaskStatus::Unknown, _) => {
                vec![format!("{command} runs, and nothing on its screen asks")]
            }
        }
    }
}

/// A length of time to the second.
fn seconds(span: Span) -> String {
    format!("{} s", span.as_millis() / 1000)
}
