//! The agents that can be started here: those of the profiles and of the configuration whose programs are there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::config::NewConfig;
use crate::history::{Reader, RecordFilter};
use crate::present::objection::Objection;
use crate::private;
use crate::profile::ProfileSet;
use crate::record::{Body, Kind, OperatorAction};

/// The latest things that were done among which the last start is looked for.
const LOOKED_AT: u32 = 500;

/// Every agent whose command is known, by the names to start them by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agents {
    commands: BTreeMap<String, Vec<String>>,
    /// Those whose programs are there, the one that was started last first.
    installed: Vec<String>,
}

impl Agents {
    /// Finds the programs in the directories of a `PATH`; `None` takes all to be there.
    pub fn find(profiles: &ProfileSet, config: &NewConfig, path: Option<&OsStr>, history: Option<&Path>) -> Self {
        let shipped = profiles.starts().map(|(name, words)| (name.to_owned(), words.to_vec()));
        let mut commands: BTreeMap<String, Vec<String>> = shipped.collect();
        commands.extend(config.starts.clone());
        let is_there = |words: &[String]| {
            path.is_none_or(|path| words.first().is_some_and(|name| private::program(name, path).is_some()))
        };
        let mut installed: Vec<String> =
            commands.iter().filter(|(_, words)| is_there(words)).map(|(name, _)| name.clone()).collect();
        let last = history.and_then(|history| last_started(history, &commands));
        installed.sort_by_key(|name| Some(name) != last.as_ref());
        Self { commands, installed }
    }

    /// The names of those that are there, the last one first.
    pub fn installed(&self) -> &[String] {
        &self.installed
    }

    /// The name and the command of an agent; without a name, of the one that was started last.
    ///
    /// # Errors
    /// No command is known for it, or its program is not there.
    pub fn choose(&self, name: Option<&str>) -> Result<(&str, &[String]), Objection> {
        let Some(name) = name.or(self.installed.first().map(String::as_str)) else {
            let hint = "install one, or write its command under [new.starts] in the configuration";
            return Err(Objection::new("no agent is installed that fleetwatch can start", hint));
        };
        let Some((name, words)) = self.commands.get_key_value(name) else {
            let hint = match &self.installed[..] {
                [] => "write its command under [new.starts] in the configuration".to_owned(),
                names => format!(
                    "these are installed: {}; others go under [new.starts] in the configuration",
                    names.join(", ")
                ),
            };
            return Err(Objection::new(format!("no agent is called `{name}`"), hint));
        };
        if !self.installed.contains(name) {
            let program = words.first().map_or("", String::as_str);
            let hint = "install it, or write where it is under [new.starts] in the configuration";
            return Err(Objection::new(format!("{name} is not installed: there is no program `{program}`"), hint));
        }
        Ok((name, words))
    }
}

/// The agent that was started last.
fn last_started(history: &Path, commands: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let filter = RecordFilter { kinds: vec![Kind::Action], limit: Some(LOOKED_AT), ..RecordFilter::default() };
    let done = Reader::open(history).ok()?.records(&filter).ok()?;
    done.into_iter().rev().find_map(|record| match record.body {
        Body::Action(OperatorAction::Run { command, .. }) => {
            commands.iter().find(|(_, words)| **words == command).map(|(name, _)| name.clone())
        }
        _ => None,
    })
}
