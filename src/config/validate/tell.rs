//! What is told outside of the dashboard: `[[notify]]`.

use std::collections::BTreeSet;

use super::{Source, Step, syntax};
use crate::config::ConfigError;
use crate::config::file::NotifyTable;
use crate::moment::Span;
use crate::notify::{Means, Occasion, QuietHours, Rule};

/// The shortest time between two deliveries where a rule does not say.
const DISTANCE: Span = Span::from_secs(5);
/// How long a command may take where a rule does not say.
const COMMAND: Span = Span::from_secs(10);

impl Source<'_> {
    pub(super) fn notify(&self, tables: &[NotifyTable]) -> Result<Vec<Rule>, ConfigError> {
        tables.iter().enumerate().map(|(index, table)| self.notify_rule(index, table)).collect()
    }

    fn notify_rule(&self, index: usize, table: &NotifyTable) -> Result<Rule, ConfigError> {
        let at = |key| [Step::Key("notify"), Step::Index(index), Step::Key(key)];
        let on = self.words(&at("on"), "on", &table.on, Occasion::ALL, Occasion::word)?;
        let mut by = self.words(&at("by"), "by", &table.by, Means::ALL, Means::word)?;
        let command = self.command(&at("command"), &table.command)?;
        if by.contains(&Means::Command) && command.is_empty() {
            let hint = "write it as a list: command = [\"notify-send\", \"fleetwatch\"]";
            return Err(self.fault(&at("by"), "a rule goes by `command` and names none".to_owned(), hint));
        }
        if !command.is_empty() {
            by.insert(Means::Command);
        }
        if on.is_empty() || by.is_empty() {
            let key = if on.is_empty() { "on" } else { "by" };
            let all: Vec<&str> = match on.is_empty() {
                true => Occasion::ALL.iter().map(|occasion| occasion.word()).collect(),
                false => Means::ALL.iter().map(|means| means.word()).collect(),
            };
            let hint = format!("`{key}` is a list of these: {}", all.join(", "));
            return Err(self.fault(&at(key), format!("a rule without `{key}` tells nothing"), hint));
        }
        let terminal = table.terminal.as_deref().map(|text| self.pattern(&at("terminal"), text)).transpose()?;
        let hours = |text: &str| {
            let hint = "write the beginning and the end, such as quiet_hours = \"22:00-07:00\"";
            QuietHours::parse(text)
                .ok_or_else(|| self.fault(&at("quiet_hours"), format!("`{text}` is no part of a day"), hint))
        };
        let distance = ("minimum_distance_seconds", table.minimum_distance_seconds, DISTANCE, 0.0, 86_400.0);
        let deadline = ("command_seconds", table.command_seconds, COMMAND, 0.1, 600.0);
        Ok(Rule {
            on,
            terminal,
            by,
            command,
            command_deadline: self.seconds_of(&at(deadline.0), deadline)?,
            quiet_hours: table.quiet_hours.as_deref().map(hours).transpose()?,
            minimum_distance: self.seconds_of(&at(distance.0), distance)?,
        })
    }

    /// The program and its arguments. They go to the system as they are, so that only what no argument can hold is
    /// refused.
    fn command(&self, at: &[Step<'_>], words: &[String]) -> Result<Vec<String>, ConfigError> {
        match words.first() {
            Some(program) if program.is_empty() => {
                Err(self.fault(at, "the program's name is empty".to_owned(), "begin with the name of a program"))
            }
            _ if words.iter().any(|word| word.contains('\0')) => {
                Err(self.fault(at, "an argument has a NUL in it".to_owned(), "write it without"))
            }
            _ => Ok(words.to_vec()),
        }
    }

    /// The values that a list of words names.
    pub(super) fn words<T: Copy + Ord>(
        &self,
        at: &[Step<'_>],
        key: &str,
        words: &[String],
        all: &[T],
        word: fn(T) -> &'static str,
    ) -> Result<BTreeSet<T>, ConfigError> {
        let known: Vec<&str> = all.iter().map(|&value| word(value)).collect();
        let find = |(index, text): (usize, &String)| {
            let found = all.iter().copied().find(|&value| word(value) == text);
            found.ok_or_else(|| {
                let place = [at, &[Step::Index(index)]].concat();
                let hint = syntax::suggestion(text, &known, "it takes");
                self.fault(&place, format!("`{key}` does not know `{text}`"), hint)
            })
        };
        words.iter().enumerate().map(find).collect()
    }
}
