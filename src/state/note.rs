//! The operator's names and labels.

use serde::{Deserialize, Serialize};

use crate::ids::TerminalKey;
use crate::screen::harmless;

/// Characters of a name or a label at most.
const LONGEST: usize = 60;

/// What the operator calls a terminal, and groups it by, in place of what the configuration and tmux say; each one harmless line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub name: Option<String>,
    pub label: Option<String>,
}

/// The parts of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotePart {
    Name,
    Label,
}

impl NotePart {
    /// Why what somebody typed for it cannot be kept whole, if so.
    pub fn fault(self, typed: &str) -> Option<String> {
        let what = match self {
            Self::Name => "name",
            Self::Label => "label",
        };
        let count = line(typed).chars().count();
        (count > LONGEST).then(|| format!("a {what} has at most {LONGEST} characters, and this one has {count}"))
    }
}

/// What somebody typed as one harmless line.
fn line(typed: &str) -> String {
    let words: Vec<&str> = typed.split_whitespace().collect();
    harmless(&words.join(" "))
}

impl Note {
    /// A part of it.
    pub fn part(&self, part: NotePart) -> Option<&str> {
        match part {
            NotePart::Name => self.name.as_deref(),
            NotePart::Label => self.label.as_deref(),
        }
    }

    /// The note with one part typed anew; without it if that comes to nothing.
    pub fn with(mut self, part: NotePart, typed: &str) -> Self {
        let place = match part {
            NotePart::Name => &mut self.name,
            NotePart::Label => &mut self.label,
        };
        let line: String = line(typed).chars().take(LONGEST).collect();
        *place = Some(line.trim().to_owned()).filter(|line| !line.is_empty());
        self
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A note with whose it is: an agent's, as long as its process is the one that runs in the terminal, or a task's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptNote {
    pub key: TerminalKey,
    /// The process of the agent; `None` where that was not known, and of a task.
    pub process: Option<u32>,
    /// Empty where it was taken away.
    pub note: Note,
}

impl KeptNote {
    /// Whether it is about what runs in a terminal now, or ran there last.
    pub fn is_of(&self, key: &TerminalKey, process: Option<u32>) -> bool {
        let is_another = |(its, process)| its != process;
        self.key.may_be(key) && !self.process.zip(process).is_some_and(is_another)
    }
}

/// Why a text cannot be a terminal's name, whatever others are called.
pub fn unfit_name(name: &str) -> Option<String> {
    let fit = name.replace(':', "-");
    let fit = fit.trim_start_matches(['%', '@', '-']);
    let such = if fit.is_empty() { String::new() } else { format!(": for instance `{fit}`") };
    (fit != name).then(|| {
        let why = "a name contains no `:` and does not begin with `%`, `@` or `-`";
        format!("{why}, so that it differs from tmux targets and options{such}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PaneId, ServerId, Socket};

    #[test]
    fn each_part_is_one_harmless_line() {
        let text = |typed: &str| Note::default().with(NotePart::Label, typed).label;
        assert_eq!(text(" review\n  #12 \u{1b}[31mred\u{202e} ").as_deref(), Some("review #12 [31mred"));
        assert_eq!((text(" \n"), text("\u{200b}")), (None, None));
        assert_eq!(text(&"é".repeat(900)).map(|text| text.chars().count()), Some(LONGEST));
        assert_eq!((NotePart::Label.fault(&"é ".repeat(30)), NotePart::Name.fault("x")), (None, None));
        let why = NotePart::Label.fault(&"é".repeat(61)).unwrap();
        assert_eq!(why, "a label has at most 60 characters, and this one has 61");
        let named = Note::default().with(NotePart::Name, " price\tfix ").with(NotePart::Label, "x");
        assert_eq!((named.part(NotePart::Name), named.part(NotePart::Label)), (Some("price fix"), Some("x")));
        assert!(named.with(NotePart::Name, " ").with(NotePart::Label, "").is_empty());
    }

    #[test]
    fn a_note_is_of_one_agent() {
        let key = |socket| TerminalKey {
            server: ServerId { host: None, socket },
            pane: PaneId(1),
            pid: 7,
            instance: Default::default(),
        };
        let kept = |process| KeptNote { key: key(Socket::Name("default".into())), process, note: Note::default() };
        let of = |kept: KeptNote, process| kept.is_of(&key(Socket::Default), process);
        assert!(of(kept(Some(20)), Some(20)) && of(kept(Some(20)), None) && of(kept(None), Some(20)));
        assert!(!of(kept(Some(20)), Some(21)), "another agent was begun in its pane");
        assert!(!kept(None).is_of(&key(Socket::Name("work".into())), None));
    }

    #[test]
    fn names_differ_from_targets_and_options() {
        assert_eq!(unfit_name("price fix"), None);
        assert!(unfit_name("-work:1").is_some_and(|why| why.ends_with("options: for instance `work-1`")));
        assert!(["%12", "@3", "work:1", "--all"].into_iter().all(|name| unfit_name(name).is_some()));
    }
}
