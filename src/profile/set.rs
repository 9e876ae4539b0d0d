//! Which profile reads which agent: the floor look-up by version (SPEC §5).

use std::sync::{Arc, OnceLock};

use super::compile::{Profile, ProfileError, Temporal, Tool, Written, read};
use super::input::RefusedInputs;
use super::rules::StopKey;
use super::version::Version;
use crate::agent_record::AgentRecordSource;
use crate::hash::Fnv;
use crate::state::words;

/// The files of `config/profiles`, which `build.rs` lists, with the names that errors give them.
const BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// The tool whose profile stands in for agents without one: it knows nothing, and claims nothing (SPEC §5).
const GENERIC: &str = "generic";

words! {
    /// How a profile came to be chosen (SPEC §6).
    Selection {
        /// The configuration names the version.
        Configured = "configured",
        /// The version was seen and lies in the profile's interval.
        DetectedVersion = "detected_version",
        /// The version was seen, but no profile is made for it; the nearest older one is used.
        FallbackFloor = "fallback_floor",
        /// No version is known; the newest profile is used.
        FallbackLatest = "fallback_latest",
    }
}

/// A profile and why it is this one.
#[derive(Clone, Debug)]
pub struct Selected {
    pub profile: Arc<Profile>,
    pub selection: Selection,
    /// Whether recordings show the agent at this version. If none does, or the version is not known, the screen may show
    /// in another shape what the profile does not find.
    pub recorded: bool,
}

impl Selected {
    /// The agent's behaviour over time, with caution for a version that no recording shows.
    pub fn temporal(&self) -> Temporal {
        Temporal { cautious: !self.recorded, ..self.profile.temporal() }
    }
}

/// One tool of the library.
#[derive(Clone, Debug)]
pub(super) struct KnownTool {
    pub(super) tool: Tool,
    profiles: Vec<Listed>,
}

/// A profile that is compiled when it is first asked for.
#[derive(Clone, Debug)]
struct Listed {
    written: Written,
    compiled: OnceLock<Option<Arc<Profile>>>,
}

impl Listed {
    fn new(written: Written) -> Self {
        Self { written, compiled: OnceLock::new() }
    }

    /// A profile that is compiled already.
    fn compiled(written: Written) -> Result<Self, ProfileError> {
        let compiled = OnceLock::from(Some(Arc::new(written.compile()?)));
        Ok(Self { written, compiled })
    }

    /// The compiled profile. It always exists: the user's are compiled when they are added, the built-in ones in a test.
    fn profile(&self) -> Option<&Arc<Profile>> {
        self.compiled.get_or_init(|| self.written.compile().ok().map(Arc::new)).as_ref()
    }
}

/// All profiles: the built-in ones and the user's.
#[derive(Clone, Debug, Default)]
pub struct ProfileSet {
    pub(super) tools: Vec<KnownTool>,
    /// A hash of the texts that it was read from, in their order.
    fingerprint: Fnv,
}

impl ProfileSet {
    /// The built-in profiles.
    pub fn builtin() -> Self {
        let mut library = Self::default();
        for (file, text) in BUILTIN {
            // A test reads every built-in file, so none is left out here.
            library.fingerprint.feed(text.as_bytes());
            for (tool, profiles) in read(file, text).into_iter().flatten() {
                library.insert(tool, profiles.into_iter().map(Listed::new).collect());
            }
        }
        library
    }

    /// The built-in tools, by the names of their files.
    pub fn shipped_tools() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().filter_map(|(file, _)| file.strip_suffix(".toml"))
    }

    /// The text of a built-in tool's file.
    pub fn shipped(tool: &str) -> Option<&'static str> {
        BUILTIN.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(tool)).map(|(_, text)| *text)
    }

    /// Adds a file of profiles. A tool of the same name is replaced, except for those of its profiles that the file does
    /// not name.
    ///
    /// # Errors
    /// The file is not well-formed; the library stays unchanged.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), ProfileError> {
        let compiled =
            |profiles: Vec<Written>| profiles.into_iter().map(Listed::compiled).collect::<Result<Vec<_>, _>>();
        let tools = read(file, text)?.into_iter().map(|(tool, profiles)| Ok((tool, compiled(profiles)?)));
        let tools: Vec<_> = tools.collect::<Result<_, _>>()?;
        self.fingerprint.feed(text.as_bytes());
        tools.into_iter().for_each(|(tool, profiles)| self.insert(tool, profiles));
        Ok(())
    }

    /// A number that two libraries share when they read every screen alike.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.get()
    }

    /// Checks a file without adding it; returns the ids of its profiles.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn check(file: &str, text: &str) -> Result<Vec<String>, ProfileError> {
        let tools = read(file, text)?;
        tools.iter().flat_map(|(_, it)| it).map(|written| written.compile().map(|profile| profile.id)).collect()
    }

    fn insert(&mut self, tool: Tool, mut profiles: Vec<Listed>) {
        let name = tool.data.name.as_ref();
        if let Some(old) = self.tools.iter().position(|known| known.tool.data.name.as_ref() == name) {
            let mut kept = self.tools.remove(old).profiles;
            kept.retain(|old| profiles.iter().all(|new| new.written.id != old.written.id));
            profiles.append(&mut kept);
        }
        profiles.sort_by(|a, b| a.written.min.cmp(&b.written.min));
        self.tools.push(KnownTool { tool, profiles });
        self.tools.sort_by(|a, b| a.tool.data.name.as_ref().cmp(b.tool.data.name.as_ref()));
    }

    /// The name that people know a tool by.
    pub fn label(&self, tool: &str) -> Option<&str> {
        self.find(tool).map(|known| known.tool.data.label.as_str())
    }

    /// The names of all tools that a profile reads.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(|known| !known.profiles.is_empty()).map(|known| known.tool.data.name.as_ref().as_str())
    }

    /// The same without the one that stands in for all others.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.tools().filter(|tool| *tool != GENERIC)
    }

    /// All profiles, by tool and version.
    pub fn profiles(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.tools.iter().flat_map(|known| &known.profiles).filter_map(Listed::profile)
    }

    /// Whether a prompt asks a tool to end.
    pub fn ends(&self, tool: &str, prompt: &str) -> bool {
        self.find(tool).is_some_and(|known| known.tool.data.ends.iter().any(|end| end == prompt.trim()))
    }

    /// The prompt that asks a tool to end, if there is one.
    pub fn end(&self, tool: &str) -> Option<&str> {
        self.find(tool)?.tool.data.ends.first().map(String::as_str)
    }

    /// The tools whose command is known, with the program that starts them and its arguments.
    pub fn starts(&self) -> impl Iterator<Item = (&str, &[String])> {
        let tools = self.tools.iter().map(|known| &known.tool.data);
        tools.filter(|tool| !tool.starts.is_empty()).map(|tool| (tool.name.as_ref().as_str(), &tool.starts[..]))
    }

    /// The keys that stop a tool's turn; none if they are not known.
    pub fn interrupt(&self, tool: &str) -> &[StopKey] {
        self.find(tool).map_or(&[], |known| &known.tool.data.interrupt)
    }

    /// What a tool makes of the texts that are sent to it.
    pub fn input(&self, tool: &str) -> RefusedInputs {
        self.find(tool).map(|known| known.tool.input.clone()).unwrap_or_default()
    }

    /// The records that a tool writes about its own sessions.
    pub fn records(&self, tool: &str) -> Arc<[AgentRecordSource]> {
        self.find(tool).map(|known| Arc::clone(&known.tool.records)).unwrap_or_default()
    }

    pub(super) fn find(&self, tool: &str) -> Option<&KnownTool> {
        self.tools.iter().find(|known| known.tool.data.name.as_ref() == tool)
    }

    /// The profile for a tool at a version: the highest minimum that fits (SPEC §5). A tool without one gets the
    /// `generic` one, if there is one.
    ///
    /// `configured` says that the version comes from the configuration.
    pub fn select(&self, tool: &str, version: Option<&str>, configured: bool) -> Option<Selected> {
        let has_profile = |known: &&KnownTool| !known.profiles.is_empty();
        let profiles = &self.find(tool).filter(has_profile).or_else(|| self.find(GENERIC))?.profiles;
        let selected = |listed: &Listed, selection, recorded| {
            listed.profile().map(|profile| Selected { profile: Arc::clone(profile), selection, recorded })
        };
        let Some(version) = version.and_then(Version::parse) else {
            return selected(profiles.last()?, Selection::FallbackLatest, false);
        };
        let Some(floor) = profiles.iter().rev().find(|listed| listed.written.min <= version) else {
            return selected(profiles.first()?, Selection::FallbackFloor, false);
        };
        let selection = match &floor.written.max {
            _ if configured => Selection::Configured,
            Some(max) if version >= *max => Selection::FallbackFloor,
            _ => Selection::DetectedVersion,
        };
        selected(floor, selection, selection != Selection::FallbackFloor && floor.written.is_recorded(&version))
    }

    /// Whether a command name, as a recording's process marker gives it, means that a tool runs (SPEC §13).
    pub fn command_means_tool(&self, tool: &str, command: &str) -> bool {
        self.find(tool).is_some_and(|known| {
            let data = &known.tool.data;
            data.processes.iter().chain(&data.interpreters).any(|name| name == command)
        })
    }
}

impl KnownTool {
    /// Whether a profile reads its screen.
    pub(super) fn is_read(&self) -> bool {
        !self.profiles.is_empty()
    }
}

#[cfg(test)]
mod tests;
