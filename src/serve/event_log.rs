//! The newest events, as numbered lines. Each reader reads them at its own pace.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::clock;

/// The most bytes of lines that are kept.
const KEPT_BYTES: usize = 16 << 20;
/// The most bytes of a chunk.
pub(super) const CHUNK: usize = 64 << 10;
/// How many readers are sent the full state at the same time: each may take megabytes.
const BEGINNERS: usize = 8;

/// The newest lines.
#[derive(Debug)]
pub(super) struct EventLog {
    /// Which run of `serve` the numbers belong to.
    run: i64,
    pub kept: watch::Sender<Kept>,
    pub beginners: Semaphore,
}

#[derive(Debug, Default)]
pub(super) struct Kept {
    lines: VecDeque<Arc<str>>,
    /// The number of the newest line.
    pub last: u64,
    bytes: usize,
}

impl EventLog {
    pub(super) fn new() -> Self {
        let (run, beginners) = (clock::now().as_millis(), Semaphore::new(BEGINNERS));
        Self { run, kept: watch::Sender::default(), beginners }
    }

    /// Keeps lines of JSON, and wakes readers.
    pub(super) fn push(&self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        self.kept.send_modify(|kept| {
            for line in lines.lines() {
                kept.bytes += line.len();
                kept.last += 1;
                kept.lines.push_back(line.into());
            }
            while kept.bytes > KEPT_BYTES
                && let Some(oldest) = kept.lines.pop_front()
            {
                kept.bytes -= oldest.len();
            }
        });
    }

    /// The number of the newest line.
    pub(super) fn last(&self) -> u64 {
        self.kept.borrow().last
    }

    /// The next chunk after a number, and the number of its last line; `None` if it is no longer kept.
    pub(super) fn behind(&self, number: u64) -> Option<(String, u64)> {
        let kept = self.kept.borrow();
        let missing = usize::try_from(kept.last.checked_sub(number)?).ok()?;
        let first = kept.lines.len().checked_sub(missing)?;
        let (mut text, mut at) = (String::new(), number);
        for line in kept.lines.range(first..) {
            at += 1;
            push_event(&mut text, Some(&self.name(at)), line);
            if text.len() >= CHUNK {
                break;
            }
        }
        Some((text, at))
    }

    /// A number as readers receive it.
    pub(super) fn name(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    /// The number after which a reader continues; `None` for a number of another run, or for anything else.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let (run, number) = name.split_once('-')?;
        number.parse().ok().filter(|_| run.parse() == Ok(self.run))
    }
}

pub(super) fn push_event(text: &mut String, name: Option<&str>, line: &str) {
    if let Some(name) = name {
        text.extend(["id: ", name, "\n"]);
    }
    text.extend(["data: ", line, "\n\n"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_falls_behind_what_is_kept_begins_again() {
        let log = EventLog::new();
        assert_eq!(log.behind(0), Some((String::new(), 0)));
        log.push("{\"n\":1}\n{\"n\":2}\n");
        let (text, at) = log.behind(1).unwrap();
        assert_eq!((text, at), (format!("id: {}-2\ndata: {{\"n\":2}}\n\n", log.run), 2));
        assert_eq!(log.behind(3), None, "that has not been sent yet");
        let long = "x".repeat(1 << 20);
        (0..40).for_each(|_| log.push(&long));
        assert_eq!(log.behind(2), None);
        assert!(log.kept.borrow().bytes <= KEPT_BYTES);
        assert_eq!(log.behind(log.last() - 1).map(|(_, at)| at), Some(42));
        assert_eq!(log.number(&log.name(7)), Some(7));
        for other in ["", "7", "1-7", &format!("{}-", log.run), &format!("{}-x", log.run)] {
            assert_eq!(log.number(other), None, "{other}");
        }
    }
}
