//! The agent of a terminal, and the profile that reads it.

use serde::{Deserialize, Serialize};

use crate::profile::{Selected, Selection};
use crate::state::Anomaly;

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
pub(super) fn differ(one: Option<&String>, other: Option<&String>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
