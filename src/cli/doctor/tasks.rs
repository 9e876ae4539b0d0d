//! What fleetwatch has set in the task sessions of the servers, and what killed processes of it left there.

use super::super::join::join_all;
use super::super::survey::Watched;
use super::Finding;
use crate::config::{Adopted, AdoptedError, AdoptedSession};
use crate::ids::ServerId;
use crate::poll;
use crate::tmux::{Server, Trace};

/// The sessions that the operator chose to be tasks, on whatever server.
pub(super) fn chosen() -> Vec<Finding> {
    let Some(path) = Adopted::location() else { return Vec::new() };
    let adopted = match Adopted::read(&path) {
        Ok(adopted) => adopted,
        Err(error) => {
            let remedy = match error {
                AdoptedError::Damaged { .. } => "remove it, and choose the sessions again",
                _ => "check that it is a file and that you may read it",
            };
            return vec![Finding::notice("tasks", error.to_string(), Some(remedy))];
        }
    };
    let told = |chosen: &AdoptedSession| {
        let host = if chosen.host.is_empty() { String::new() } else { format!("{}:", chosen.host) };
        let (socket, session) = (&chosen.socket, &chosen.session);
        Finding::good("tasks", format!("on {host}{socket}, session {session} is one of tasks by your choice"))
    };
    adopted.iter().map(told).collect()
}

/// A finding for each session in which something is set; with `clean`, what was left behind is removed first.
pub(super) async fn all(watched: &Watched, clean: bool) -> Vec<Finding> {
    let asked = watched.servers.iter().map(|id| findings(watched, id, clean));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn findings(watched: &Watched, id: &ServerId, clean: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Ok(server) = Server::new(id.clone(), watched.settings.feed.tmux.clone()) else { return findings };
    // A server that does not answer is a finding of its own already.
    let Ok(traces) = server.traces().await else { return findings };
    let gone: Vec<String> =
        traces.values().flat_map(|trace| &trace.watchers).filter(|owner| !poll::is_alive(owner)).cloned().collect();
    for trace in traces.values() {
        let alive = trace.watchers.iter().filter(|owner| !gone.contains(owner)).count();
        let what = format!("in session {} on {id}, {}", trace.session_name, contents(trace));
        findings.push(match (alive, clean) {
            (0, _) if trace.is_of_run() => Finding::good("tasks", format!("{what}, since `fleetwatch run` made it")),
            (0, false) => {
                let remedy = "`fleetwatch doctor --clean` removes it, and so does the next dashboard when it ends";
                Finding::notice("tasks", format!("{what}; it was left by a process that is gone"), Some(remedy))
            }
            (0, true) => Finding::good("tasks", format!("{what}; it is removed")),
            (1, _) => Finding::good("tasks", format!("{what}, for a fleetwatch that runs")),
            (alive, _) => Finding::good("tasks", format!("{what}, for {alive} of fleetwatch that run")),
        });
    }
    if clean && let Err(error) = server.stop_counting(&gone).await {
        findings.push(Finding::notice("tasks", format!("what was left on {id} could not be removed: {error}"), None));
    }
    findings
}

fn contents(trace: &Trace) -> String {
    let hook = if trace.hook { "bells are counted" } else { "bells are not counted" };
    let kept = match trace.windows.len() {
        0 => String::new(),
        1 => ", 1 window keeps its program".to_owned(),
        count => format!(", {count} windows keep their programs"),
    };
    let rung = match trace.rung.len() {
        0 => String::new(),
        1 => ", 1 window has rung".to_owned(),
        count => format!(", {count} windows have rung"),
    };
    format!("{hook}{kept}{rung}")
}
