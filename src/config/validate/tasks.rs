//! The task sessions that the file declares.

use super::super::file::TaskTable;
use super::super::{ConfigError, TerminalRule};
use super::{Source, Step};

impl Source<'_> {
    pub(super) fn tasks(&self, tables: &[TaskTable]) -> Result<Vec<TerminalRule>, ConfigError> {
        let mut rules = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let at = |key| [Step::Key("task"), Step::Index(index), Step::Key(key)];
            let pattern =
                |key, text: &Option<String>| text.as_deref().map(|text| self.pattern(&at(key), text)).transpose();
            let rule = TerminalRule {
                session: pattern("session", &table.session)?,
                window: pattern("window", &table.window)?,
                socket: pattern("socket", &table.socket)?,
                host: pattern("host", &table.host)?,
                ..TerminalRule::default()
            };
            if rule.session.is_none() && rule.window.is_none() {
                let what = "a task that names no session and no window".to_owned();
                let hint = "give it `session` or `window`, such as session = \"builds*\"";
                return Err(self.fault(&[Step::Key("task"), Step::Index(index)], what, hint));
            }
            rules.push(rule);
        }
        Ok(rules)
    }
}
