//! Tasks: started in a window of their name, or again in the one where they ended.

use std::sync::Arc;

use crate::ids::{ServerId, SessionId, TerminalKey, WindowId};
use crate::present::objection::Objection;
use crate::tmux::{Begun, ListedPane, Listing, NewTask, Server, Start, TaskPlace};

/// How often starting something is tried while others start theirs.
pub(super) const ATTEMPTS: u32 = 8;

/// What exists of a task before it is started.
enum There {
    /// A window of that name whose program has ended.
    Ended(TerminalKey, WindowId),
    Nothing(TaskPlace),
}

/// Starts a task in a session; returns whether it is in the window of one that had ended.
///
/// # Errors
/// A task of that name runs, or tmux refuses.
pub async fn start(server: &Server, session: &str, task: &NewTask<'_>) -> Result<(bool, Begun), Objection> {
    for _ in 0..ATTEMPTS {
        let there = match server.poll(&[]).await {
            Ok(listing) => find(&listing, server.id(), session, task.name)?,
            Err(error) if error.is_no_server() => There::Nothing(TaskPlace::NewSession(session.to_owned())),
            Err(error) => return Err(error.into()),
        };
        let (again, started) = match &there {
            There::Ended(key, window) => (true, server.begin_again(key, *window, Some(task), task.now).await),
            There::Nothing(place) => (false, server.begin_task(place, task).await),
        };
        if let Start::Begun(begun) = started.map_err(Objection::from)? {
            return Ok((again, begun));
        }
    }
    Err(overtaken(session))
}

/// Where the windows of others are in the way.
pub(super) fn overtaken(session: &str) -> Objection {
    Objection::new(format!("other processes keep starting and ending windows in {session}"), "try again")
}

/// What exists of the task; refuses one that still runs.
fn find(listing: &Listing, server: &ServerId, session: &str, name: &str) -> Result<There, Objection> {
    let in_session: Vec<&Arc<ListedPane>> = listing.panes.iter().filter(|pane| pane.place.session == session).collect();
    let Some(first) = in_session.first() else { return Ok(There::Nothing(TaskPlace::NewSession(session.to_owned()))) };
    let named = in_session.iter().filter(|pane| pane.place.window_name == name);
    if let Some(alive) = named.clone().find(|pane| !pane.facts.dead) {
        let window = WindowId(alive.window_id);
        return Err(Objection::new(
            format!("task {name} ({window}) is still running in {session}"),
            format!("`fleetwatch tasks kill {name}` ends it; or give the new one another name"),
        ));
    }
    if let Some(dead) = named.clone().next_back() {
        let key =
            TerminalKey { server: server.clone(), pane: dead.id, pid: dead.pid, instance: listing.instance.clone() };
        return Ok(There::Ended(key, WindowId(dead.window_id)));
    }
    Ok(There::Nothing(TaskPlace::Session(SessionId(first.session_id))))
}
