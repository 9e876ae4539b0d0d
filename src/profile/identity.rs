//! Which agent a pane runs: of the processes on the pane's own terminal the one nearest to the pane, whose children are its tools
//! (SPEC §3).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::set::{KnownTool, ProfileSet};
use super::{Classification, ProcessInfo, Program, SHELLS};
use crate::screen::{PaneFacts, Screen};
use crate::state::Phase;

/// Programs behind which an agent may run, and the names that packagers give to agents.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrappers {
    programs: Vec<String>,
    renamed: Vec<String>,
}

/// A test reads the file, so nothing is left out here.
static WRAPPERS: LazyLock<Wrappers> =
    LazyLock::new(|| toml::from_str(include_str!("../../config/wrappers.toml")).unwrap_or_default());
static RENAMED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| WRAPPERS.renamed.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

impl ProfileSet {
    /// Which program a pane runs, from tmux's `pane_current_command` and the processes below the pane's own, nearest first.
    ///
    /// `pinned` is the tool that the configuration gives for the pane: it is believed whatever runs there but a shell.
    /// The version is left open; whoever listed the processes knows more about it.
    pub fn identify(&self, current_command: &str, processes: &[ProcessInfo], pinned: Option<&str>) -> Program {
        if let Some((known, _)) = self.nearest(processes, pinned, |process| process.foreground) {
            return Program::agent(known.name(), None);
        }
        let wrapper = || {
            let front = processes.iter().filter(|process| process.foreground).flat_map(ProcessInfo::names);
            let command = processes.is_empty().then_some(current_command);
            front.chain(command).find(|name| WRAPPERS.programs.iter().any(|wrapper| wrapper == name)).map(str::to_owned)
        };
        let is_in_front = match processes {
            [] => !SHELLS.contains(&current_command),
            all => all.iter().any(|process| process.foreground && !process.is_bare_shell()),
        };
        if let Some(tool) = pinned.filter(|_| is_in_front) {
            return Program::Agent { tool: tool.to_owned(), version: None, through: wrapper() };
        }
        // A process that left the tree is known by the name that tmux gives it.
        let is_seen = processes.iter().any(|process| process.is_called(current_command));
        let by_command = || self.by_rank(pinned).find(|known| known.is_called(current_command));
        if let Some(known) = (!is_seen).then(by_command).flatten() {
            return Program::agent(known.name(), None);
        }
        if let Some((known, _)) = self.nearest(processes, pinned, |process| process.stopped) {
            return Program::Suspended { tool: known.name().to_owned() };
        }
        match wrapper() {
            Some(command) => Program::Wrapper { command },
            None => Program::Other { command: current_command.to_owned() },
        }
    }

    /// The processes that are a tool by themselves, as a launcher and what it starts: not the tools that it runs.
    pub fn agent_processes(&self, tool: &str, processes: &[ProcessInfo]) -> Vec<u32> {
        let nearest = |fits: fn(&ProcessInfo) -> bool| self.nearest(processes, Some(tool), fits);
        let Some((known, nearest)) =
            nearest(|process| process.foreground).or_else(|| nearest(|process| process.stopped))
        else {
            return Vec::new();
        };
        let mut found = vec![nearest.pid];
        for process in processes {
            if found.contains(&process.parent) && !found.contains(&process.pid) && known.runs_interactively(process) {
                found.push(process.pid);
            }
        }
        found
    }

    /// Whether an agent may run under a command of this name, so that nothing is known before its processes are listed.
    pub fn may_hide_agent(&self, command: &str) -> bool {
        self.tools.iter().any(|known| known.is_interpreter(command))
    }

    /// The tool that surely has drawn a screen: the only one whose profile finds its prompt or dialog there, and what it does.
    pub fn drawn_by(&self, screen: &Screen, facts: &PaneFacts) -> Option<&str> {
        let is_its = |tool: &&str| {
            if self.find(tool).is_some_and(|known| !known.has_signed(screen)) {
                return false;
            }
            let profile = self.select(tool, None, false).map(|selected| selected.profile);
            profile.is_some_and(|profile| profile.read(screen, facts).is_surely_read())
        };
        let mut found = self.agents().filter(is_its);
        found.next().filter(|_| found.next().is_none())
    }

    /// The agent's process that is nearest to the pane among those that fit. What is below another agent is a tool of that one.
    fn nearest<'a>(
        &self,
        processes: &'a [ProcessInfo],
        pinned: Option<&str>,
        fits: impl Fn(&ProcessInfo) -> bool,
    ) -> Option<(&KnownTool, &'a ProcessInfo)> {
        let mut tools: BTreeSet<u32> = BTreeSet::new();
        for process in processes {
            if tools.contains(&process.parent) {
                tools.insert(process.pid);
                continue;
            }
            let Some(known) = self.by_rank(None).find(|known| known.runs_as(process)) else { continue };
            let is_wanted = pinned.is_none_or(|tool| known.name() == tool);
            if is_wanted && fits(process) && known.runs_interactively(process) {
                return Some((known, process));
            }
            tools.insert(process.pid);
        }
        None
    }

    /// The tools that a configuration allows. An agent with profiles may run a program that has the name of one without.
    fn by_rank(&self, pinned: Option<&str>) -> impl Iterator<Item = &KnownTool> {
        let allowed = move |known: &&KnownTool| pinned.is_none_or(|tool| known.name() == tool);
        let (read, unread): (Vec<_>, Vec<_>) = self.tools.iter().filter(allowed).partition(|known| known.is_read());
        read.into_iter().chain(unread)
    }
}

impl Classification {
    /// Whether no other program can have drawn the screen: the prompt with what the agent does, or a dialog, was found.
    pub fn is_surely_read(&self) -> bool {
        self.in_dialog || (self.phase != Phase::Unknown && self.composer.is_some())
    }

    /// Whether it says anything of an agent.
    pub fn shows_agent(&self) -> bool {
        self.in_dialog || self.phase != Phase::Unknown || self.composer.is_some()
    }
}

impl KnownTool {
    fn name(&self) -> &str {
        self.tool.data.name.as_ref()
    }

    /// Whether it may have drawn a screen, by the rows at the bottom.
    fn has_signed(&self, screen: &Screen) -> bool {
        /// Rows that a dialog or a prompt takes with what is below it.
        const LIVE: usize = 14;
        let end = screen.last_row().map_or(0, |row| row + 1);
        let rows = || screen.rows()[end.saturating_sub(LIVE)..end].iter().map(|row| row.text());
        let signature = &self.tool.signature;
        signature.is_empty() || rows().any(|row| signature.iter().any(|sign| sign.is_match(row)))
    }

    /// Whether a process is this tool: by its own name, by the executable behind it, or as the script of an interpreter.
    fn runs_as(&self, process: &ProcessInfo) -> bool {
        // A link may have any name; its target counts.
        let is_its = |path: &str| self.tool.executables.iter().any(|known| known.is_match(path));
        process.names().any(|name| self.is_called(name))
            || process.executable.as_deref().is_some_and(is_its)
            || self
                .script(process)
                .is_some_and(|(_, script)| self.tool.scripts.iter().any(|known| known.is_match(script)))
    }

    /// Whether a process runs an agent with a screen for people: not `claude -p`, and no server for other programs.
    fn runs_interactively(&self, process: &ProcessInfo) -> bool {
        let headless = &self.tool.data.headless;
        let program = self.script(process).map_or(0, |(place, _)| place);
        let words = process.arguments.iter().skip(program + 1).map(String::as_str).take_while(|word| *word != "--");
        // A word behind an option may be its value; the first one that is not is a command or a prompt.
        let (mut may_be_value, mut is_command) = (false, true);
        let is_headless = |word: &str| {
            let is_option = word.starts_with('-');
            let counts = is_option || is_command;
            is_command &= is_option || may_be_value;
            may_be_value = is_option;
            let name = word.split_once('=').filter(|_| is_option).map_or(word, |(name, _)| name);
            counts && headless.iter().any(|known| known == name)
        };
        self.runs_as(process) && !words.into_iter().any(is_headless)
    }

    fn is_called(&self, name: &str) -> bool {
        let plain = RENAMED.iter().find_map(|pattern| Some(pattern.captures(name)?.name("name")?.as_str()));
        self.tool.data.processes.iter().any(|known| known == name || plain == Some(known))
    }

    /// Whether the tool may be a script under a program of this name: `python3.11` is `python3`.
    fn is_interpreter(&self, name: &str) -> bool {
        let is = |known: &String| {
            name.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.tool.data.interpreters.iter().any(is)
    }

    /// The script or module that a process runs, and its place, if the process is one of the tool's interpreters. Other arguments
    /// are the script's own.
    fn script<'a>(&self, process: &'a ProcessInfo) -> Option<(usize, &'a str)> {
        /// Options whose value is the next word, those with code in place of a script, and the commands that run one.
        const WITH_VALUE: &[&str] = &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "-C",
            "--conditions",
            "--env-file",
            "--title",
            "--preload",
            "--cwd",
            "-W",
            "-X",
        ];
        const WITH_CODE: &[&str] = &["-c", "-e", "--eval", "-p", "--print", "-pe"];
        const COMMANDS: &[&str] = &["run", "x", "-m", "--"];
        process.names().find(|name| self.is_interpreter(name))?;
        let mut words = process.arguments.iter().map(String::as_str).enumerate().skip(1);
        while let Some((place, word)) = words.next() {
            match word {
                _ if WITH_CODE.contains(&word) => return None,
                _ if WITH_VALUE.contains(&word) => drop(words.next()),
                _ if COMMANDS.contains(&word) => {}
                _ if word.starts_with('-') => {}
                _ => return Some((place, word)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
