//! The agent of a terminal, and the profile that reads it.

use serde::{Deserialize, Serialize};

use super::Entry;
use crate::profile::{ProfileSet, Selected, Selection};
use crate::state::Anomaly;
use crate::time::Timestamp;
use crate::tracker::Tracker;

/// The agent that runs in the terminal, or that ran there last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Agent {
    pub tool: String,
    /// The version from the configuration or from the executable's package.
    pub given_version: Option<String>,
    /// The version in the banner on its screen: an agent that was updated while it ran still is the old one.
    pub banner: Option<String>,
    #[serde(skip)]
    pub selected: Option<Selected>,
}

impl Agent {
    /// Its profile, if that does not only stand in for one.
    pub fn own_profile(&self) -> Option<Selected> {
        self.selected.clone().filter(|selected| selected.profile.tool() == self.tool)
    }

    /// What the choice of the profile has to say beside the reading's own anomalies.
    pub fn anomalies(&self, has_version: bool) -> impl Iterator<Item = Anomaly> {
        let selected = self.selected.as_ref();
        let is_configured = selected.is_some_and(|selected| selected.selection == Selection::Configured);
        let is_unrecorded = has_version && selected.is_some_and(|selected| !selected.recorded);
        let configured = is_configured.then_some(Anomaly::PresetOverrideUsed);
        configured.into_iter().chain(is_unrecorded.then_some(Anomaly::UnknownVersionFloorUsed))
    }
}

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
