//! What is told outside of the dashboard: `[[notify]]` to the operator, `[[follow_up]]` to agents.

use std::collections::BTreeSet;

use super::{Source, Step, syntax};
use crate::config::ConfigError;
use crate::config::file::{FollowUpTable, NotifyTable};
use crate::follow_up::FollowUpRule;
use crate::notify::{Means, NotifyRule, Occasion, QuietHours};
use crate::time::Span;

/// The shortest time between two deliveries where a rule does not say.
const DISTANCE: Span = Span::from_secs(5);
/// How long a message is kept for an agent that is not there, where a rule does not say.
const KEEP_MINUTES: u64 = 60;
/// How long a command may take where a rule does not say.
const COMMAND: Span = Span::from_secs(10);

impl Source<'_> {
    pub(super) fn notify(&self, tables: &[NotifyTable]) -> Result<Vec<NotifyRule>, ConfigError> {
        tables.iter().enumerate().map(|(index, table)| self.notify_rule(index, table)).collect()
    }

    fn notify_rule(&self, index: usize, table: &NotifyTable) -> Result<NotifyRule, ConfigError> {
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
        Ok(NotifyRule {
            on,
            terminal,
            by,
            command,
            command_deadline: self.seconds_of(&at(deadline.0), deadline)?,
            command_environment: self.variables(&at("command_environment"), &table.command_environment)?,
            quiet_hours: table.quiet_hours.as_deref().map(hours).transpose()?,
            minimum_distance: self.seconds_of(&at(distance.0), distance)?,
        })
    }

    /// Names of environment variables.
    fn variables(&self, at: &[Step<'_>], names: &[String]) -> Result<Vec<String>, ConfigError> {
        match names.iter().find(|name| name.is_empty() || name.contains(['=', '\0', '$', '*', ' '])) {
            Some(odd) => {
                let hint = "write names only, such as command_environment = [\"NTFY_TOKEN\"]";
                Err(self.fault(at, format!("`{odd}` is no name of an environment variable"), hint))
            }
            None => Ok(names.to_vec()),
        }
    }

    pub(super) fn follow_ups(&self, tables: &[FollowUpTable]) -> Result<Vec<FollowUpRule>, ConfigError> {
        tables.iter().enumerate().map(|(index, table)| self.follow_up(index, table)).collect()
    }

    fn follow_up(&self, index: usize, table: &FollowUpTable) -> Result<FollowUpRule, ConfigError> {
        let at = |key| [Step::Key("follow_up"), Step::Index(index), Step::Key(key)];
        let on = self.words(&at("on"), "on", &table.on, Occasion::ALL, Occasion::word)?;
        let (Some(from), Some(to), false) = (&table.from, &table.to, on.is_empty()) else {
            let missing = match (on.is_empty(), &table.from) {
                (true, _) => "on",
                (false, None) => "from",
                (false, Some(_)) => "to",
            };
            let hint = "write what is told to whom: on = [\"exited\"], from = \"build-*\", to = \"lead\"";
            let place = [Step::Key("follow_up"), Step::Index(index)];
            return Err(self.fault(&place, format!("a follow-up without `{missing}`"), hint));
        };
        self.word(&at("to"), "to", Some(to))?;
        if to.contains(['*', '?', '[', '{']) {
            let hint = "`to` is the name of one agent, as `fleetwatch list` shows it";
            return Err(self.fault(&at("to"), format!("`{to}` is a pattern"), hint));
        }
        let template = table.template.as_deref();
        if let Some(c) = template.and_then(|text| text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'))) {
            let hint = "only line ends and tabs can be sent to an agent";
            return Err(self.fault(&at("template"), format!("`template` has the character {c:?} in it"), hint));
        }
        let range = "1 to 10080";
        let minutes = match table.keep_minutes {
            None => KEEP_MINUTES,
            Some(minutes) => u64::try_from(minutes)
                .ok()
                .filter(|minutes| (1..=10_080).contains(minutes))
                .ok_or_else(|| self.out_of_range(&at("keep_minutes"), "keep_minutes", &minutes.to_string(), range))?,
        };
        Ok(FollowUpRule {
            on,
            from: self.pattern(&at("from"), from)?,
            to: to.clone(),
            template: table.template.clone(),
            keep: Span::from_secs(minutes * 60),
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
