//! Finds out what runs in panes.

use super::plan::Suspect;
use super::{AgentProcesses, ServerPoller};
use crate::fleet::PaneReport;
use crate::process::{self, RunningProcess, Thoroughness};
use crate::profile::{ProcessInfo, Program};
use crate::state::Problem;
use crate::tmux::Server;

/// Whether all of these processes still run on a host; cheaper than reading its process table.
async fn still_run(server: &Server, ids: &[u32]) -> bool {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    let words: Vec<&str> = ["kill", "-0"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    !ids.is_empty() && server.run_beside(&words).await.is_ok()
}

impl ServerPoller {
    pub(super) async fn identify(&mut self, suspects: &[Suspect]) {
        if suspects.is_empty() {
            self.processes = None;
            return;
        }
        let local = self.server.id().host.is_none();
        let agent = |suspect: &Suspect| self.agents.get(&suspect.pid).filter(|_| suspect.may_be_same);
        let on_host: Vec<u32> = match local {
            true => Vec::new(),
            false => suspects.iter().filter_map(|suspect| agent(suspect)?.ids.first().copied()).collect(),
        };
        let still_run = still_run(&self.server, &on_host).await;
        let still_runs = |suspect: &&Suspect| match agent(suspect) {
            Some(AgentProcesses { proof: Some(proof), .. }) => proof.still_runs(),
            Some(AgentProcesses { ids, proof: None }) => {
                still_run && ids.first().is_some_and(|id| on_host.contains(id))
            }
            None => false,
        };
        let (same, suspects): (Vec<&Suspect>, Vec<&Suspect>) = suspects.iter().partition(still_runs);
        same.into_iter().for_each(|suspect| self.memory.confirmed(suspect));
        let missing = self.identify_by(suspects, Thoroughness::Quick).await;
        self.identify_by(missing, Thoroughness::All).await;
    }

    /// Records what runs in these; returns those in which a quick look found less of an agent than there was: only reading
    /// everything can say that it is gone.
    async fn identify_by<'a>(&mut self, suspects: Vec<&'a Suspect>, thoroughness: Thoroughness) -> Vec<&'a Suspect> {
        let mut missing = Vec::new();
        if suspects.is_empty() {
            return missing;
        }
        let local = self.server.id().host.is_none();
        let roots = suspects.iter().map(|suspect| suspect.pid).collect();
        let scanned = process::under_begun(self.processes.take(), &self.server, roots, thoroughness).await;
        for suspect in suspects {
            let program = match &scanned {
                // It has just ended, or cannot be seen from here.
                Ok(found) if found.get(&suspect.pid).is_none_or(Vec::is_empty) => self.unseen(
                    suspect,
                    Problem {
                        kind: "no_process".to_owned(),
                        message: format!("process {} of the pane is not to be seen", suspect.pid),
                    },
                ),
                Ok(found) => {
                    let processes = found.get(&suspect.pid).map(Vec::as_slice).unwrap_or_default();
                    let program = self.profiles.identify(&suspect.command, processes, suspect.tool.as_deref());
                    let ids = self.agent_processes(&program, processes);
                    let known = self.agents.get(&suspect.pid);
                    if local
                        && thoroughness == Thoroughness::Quick
                        && known.is_some_and(|known| known.ids.iter().any(|id| !ids.contains(id)))
                    {
                        missing.push(suspect);
                        continue;
                    }
                    // The wrapper is still the one behind which the agent was found.
                    let is_same = known.is_some_and(|known| known.ids == ids);
                    let program = self.memory.read_through(suspect).filter(|_| is_same).unwrap_or(program);
                    let proof = local.then(|| ids.iter().find_map(|id| RunningProcess::of(*id))).flatten();
                    self.agents.insert(suspect.pid, AgentProcesses { ids, proof });
                    if local { self.with_version(program, processes) } else { program }
                }
                // Where processes cannot be listed, the command that tmux names may still be the agent's own.
                Err(error) => self.unseen(suspect, error.problem()),
            };
            self.memory.identified(suspect, program);
        }
        missing
    }

    /// The program of a pane whose processes cannot be seen: the command that tmux names may still be the agent's own.
    fn unseen(&self, suspect: &Suspect, problem: Problem) -> Program {
        match self.profiles.identify(&suspect.command, &[], suspect.tool.as_deref()) {
            wrapper @ Program::Wrapper { .. } => self.memory.read_through(suspect).unwrap_or(wrapper),
            agent @ Program::Agent { .. } => agent,
            _ => Program::Unknown(problem),
        }
    }

    /// Adds the version of the agent's package, when the program does not have one yet.
    fn with_version(&mut self, program: Program, processes: &[ProcessInfo]) -> Program {
        let Program::Agent { tool, version: None, through: None } = program else { return program };
        let agent = self.profiles.agent_processes(&tool, processes);
        let mut agent = processes.iter().filter(|process| agent.contains(&process.pid));
        let version = agent.find_map(|process| self.versions.version_of(process));
        Program::Agent { tool, version, through: None }
    }

    /// The processes that are a pane's agent, or stand for it: with a wrapper ends what runs behind it.
    fn agent_processes(&self, program: &Program, processes: &[ProcessInfo]) -> Vec<u32> {
        match program {
            Program::Agent { through: Some(command), .. } | Program::Wrapper { command } => {
                let is_it = |process: &&ProcessInfo| process.foreground && process.is_called(command);
                processes.iter().find(is_it).map(|process| process.pid).into_iter().collect()
            }
            Program::Agent { tool, .. } | Program::Suspended { tool } => self.profiles.agent_processes(tool, processes),
            Program::Other { .. } | Program::Unknown(_) => Vec::new(),
        }
    }

    /// Adds the agent's process to each pane.
    pub(super) fn name_processes(&self, panes: &mut [PaneReport]) {
        for pane in panes {
            pane.agent_process = self.agents.get(&pane.key.pid).and_then(|agent| agent.ids.first().copied());
        }
    }
}
