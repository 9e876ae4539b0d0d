//! Settings that left: a file that has them is read without them, and a warning says what to use instead.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A setting that left.
struct LeftSetting {
    table: &'static str,
    key: &'static str,
    /// The word of the key's list that left; `None` if the key did.
    word: Option<&'static str>,
    /// Keys of which one has to stand for the table to mean anything without it.
    needed: &'static [&'static str],
    /// What to use instead.
    instead: &'static str,
}

const LEFT: &[LeftSetting] = &[
    LeftSetting {
        table: "ui",
        key: "confirm",
        word: None,
        needed: &[],
        instead: "`x`, then `y` interrupts; the question is always asked",
    },
    LeftSetting {
        table: "serve",
        key: "push_services",
        word: None,
        needed: &[],
        instead: "announce with `command` or `webhook` in [[notify]], such as ntfy",
    },
    LeftSetting {
        table: "notify",
        key: "by",
        word: Some("push"),
        needed: &["command", "webhook"],
        instead: "use `command` or `webhook` in its place, such as ntfy",
    },
    // Without a host the table would mean this machine.
    LeftSetting {
        table: "server",
        key: "hosts_file",
        word: None,
        needed: &["host", "hosts"],
        instead: "write the names of the hosts in `hosts`",
    },
];

/// A place, what is said there, and what to do about it.
pub(super) type Left = (Range<usize>, String, String);

/// Takes out of a document what is no setting any more. A table of a list that says nothing else goes with it.
pub(super) fn taken_out(document: &mut DeTable<'_>) -> Vec<Left> {
    let mut left = Vec::new();
    for setting in LEFT {
        match document.get_mut(setting.table).map(Spanned::get_mut) {
            Some(DeValue::Table(table)) => drop(setting.take_out(table, &mut left)),
            Some(DeValue::Array(tables)) => {
                let kept = std::mem::replace(tables, DeArray::new()).into_iter().filter_map(|mut item| {
                    let is_kept = match item.get_mut() {
                        DeValue::Table(table) => setting.take_out(table, &mut left),
                        _ => true,
                    };
                    is_kept.then_some(item)
                });
                *tables = kept.collect();
            }
            _ => {}
        }
    }
    left
}

impl LeftSetting {
    /// Takes it out of a table; returns false when that leaves the table, or its list, with nothing to say.
    fn take_out(&self, table: &mut DeTable<'_>, left: &mut Vec<Left>) -> bool {
        let Self { key, word, needed, instead, .. } = self;
        let mut note = |span: Range<usize>, what: &str| {
            left.push((span, format!("`{what}` is no setting any more"), (*instead).to_owned()));
        };
        let Some(word) = word else {
            let Some((written, _)) = table.remove_entry(*key) else { return true };
            note(written.span(), key);
            return needed.iter().any(|other| table.contains_key(*other));
        };
        let Some(DeValue::Array(items)) = table.get_mut(*key).map(Spanned::get_mut) else { return true };
        let before = items.len();
        let kept = std::mem::replace(items, DeArray::new()).into_iter().filter(|item| {
            let is_it = item.get_ref().as_str() == Some(word);
            if is_it {
                note(item.span(), word);
            }
            !is_it
        });
        *items = kept.collect();
        let is_emptied = items.is_empty() && before > 0;
        !is_emptied || needed.iter().any(|other| table.contains_key(*other))
    }
}
