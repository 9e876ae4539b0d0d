//! The agent of a terminal, and the profile that reads it.

use super::Entry;
use super::parts::Agent;
use crate::profile::ProfileSet;
use crate::time::Timestamp;
use crate::tracker::Tracker;

/// Whether two versions are known and not the same.
fn differ(one: Option<&String>, other: Option<&String>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

impl Entry {
    /// Notes which agent runs; another tool, version or process than before gets a fresh tracker (SPEC §5). Whether it did.
    pub(super) fn agent_runs(
        &mut self,
        (tool, version): (String, Option<String>),
        is_another: bool,
        profiles: &ProfileSet,
        now: Timestamp,
    ) -> bool {
        let given_version = self.terminal.declared.version.clone().or(version);
        let known = self.agent.as_ref().filter(|agent| agent.tool == tool && !is_another);
        let other = known.is_none_or(|agent| differ(agent.given_version.as_ref(), given_version.as_ref()));
        let learned = known.is_some_and(|agent| agent.given_version.is_none()) && given_version.is_some();
        if other && self.agent.is_some() {
            self.tracker = Tracker::begun(self.settings.clone(), now);
        }
        if other || learned {
            let banner = known.filter(|_| !other).and_then(|agent| agent.banner.clone());
            self.choose(tool, given_version, banner, profiles);
        }
        other
    }

    pub(super) fn choose(
        &mut self,
        tool: String,
        given_version: Option<String>,
        banner: Option<String>,
        profiles: &ProfileSet,
    ) {
        let configured = self.terminal.declared.version.is_some();
        let version = if configured { given_version.clone() } else { banner.clone().or_else(|| given_version.clone()) };
        let selected = profiles.select(&tool, version.as_deref(), configured);
        let facts = &mut self.terminal.state.terminal;
        facts.tool = tool.clone();
        facts.observed_tool_version = version;
        facts.profile = selected.as_ref().map(|selected| selected.profile.id().to_owned());
        self.terminal.interrupt = profiles.interrupt(&tool).to_vec();
        self.terminal.input = profiles.input(&tool);
        self.agent = Some(Agent { tool, given_version, banner, selected });
    }

    /// A banner on the screen knows the version better than the package on the disk (SPEC §3); whether that changes
    /// the profile or how far it is trusted.
    pub(super) fn learn_version(&mut self, banner: Option<String>, profiles: &ProfileSet, now: Timestamp) -> bool {
        let (Some(banner), Some(agent)) = (banner, &self.agent) else { return false };
        if self.terminal.declared.version.is_some() || agent.banner.as_ref() == Some(&banner) {
            return false;
        }
        let chosen = |agent: &Agent| agent.selected.as_ref().map(|s| (s.profile.id().to_owned(), s.recorded));
        let before = chosen(agent);
        if differ(agent.banner.as_ref(), Some(&banner)) {
            self.tracker = Tracker::begun(self.settings.clone(), now);
        }
        let (tool, given_version) = (agent.tool.clone(), agent.given_version.clone());
        self.choose(tool, given_version, Some(banner), profiles);
        before != self.agent.as_ref().and_then(chosen)
    }
}
