//! Closing an agent, and the working tree that it had for itself.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::LOOK;
use crate::git::{Git, WorktreeLeft};
use crate::operation::{Operation, Outcome, Recipient};
use crate::owner::Actor;
use crate::present::objection::Objection;
use crate::tmux::Server;

/// How long an agent has to end once it was asked to.
const ENDS: Duration = Duration::from_secs(10);

/// How an agent was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// It ended by itself.
    Ended,
    /// Its pane was closed with all that ran in it.
    Killed,
}

/// How an agent is to be closed.
#[derive(Clone, Debug)]
pub enum Closing {
    /// It is asked by a prompt of its own, and its pane is closed if it does not end in time.
    Ask(Box<Operation>),
    /// Its pane is closed if nothing runs there any more.
    Remains,
    /// Its pane is closed, whatever runs there.
    Force,
}

/// Closes an agent. A shell that it was started from stays where the agent ends by itself.
///
/// # Errors
/// It does not take the prompt now, or something else runs in its pane, so that nothing was done; or tmux refuses.
pub async fn close(server: &Server, actor: &Actor, to: &Recipient, closing: Closing) -> Result<Closed, Objection> {
    let before = program(server, to).await?;
    match (closing, &before) {
        (Closing::Force, Some(_)) => {}
        (_, None) => return server.close_pane(&to.key).await.map(|_| Closed::Ended).map_err(Objection::from),
        (Closing::Remains, Some(program)) => {
            let hint = "end that there; `fleetwatch close --force` closes the pane with it";
            return Err(Objection::new(format!("it has ended, and {program} runs in its pane"), hint));
        }
        (Closing::Ask(asked), Some(_)) => {
            let outcome = actor.perform(*asked, ()).await;
            if let Outcome::Refused(refusal) = outcome {
                return Err(Objection { what: refusal.to_string(), hint: refusal.hint() });
            }
            let until = Instant::now() + ENDS;
            while Instant::now() < until {
                match program(server, to).await? {
                    // What stays of a pane of its own is closed.
                    None => {
                        let _ = server.close_pane(&to.key).await;
                        return Ok(Closed::Ended);
                    }
                    now if now != before && outcome.is_accepted() => return Ok(Closed::Ended),
                    Some(_) => sleep(LOOK).await,
                }
            }
        }
    }
    match server.close_pane(&to.key).await? {
        true => Ok(Closed::Killed),
        false => Ok(Closed::Ended),
    }
}

/// The program that runs in the pane; `None` once none does.
async fn program(server: &Server, to: &Recipient) -> Result<Option<String>, Objection> {
    let seen = match server.capture(&[to.key.pane]).await {
        Ok(seen) => seen,
        Err(error) if error.is_no_server() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let pane = seen.captures.first().map(|it| &it.pane).filter(|pane| pane.pid == to.key.pid && !pane.facts.dead);
    Ok(pane.map(|pane| pane.facts.command.clone()))
}

/// What would be lost with a working tree; whoever else is in it counts.
///
/// # Errors
/// It is none, or git does not answer.
pub async fn worktree_left(server: &Server, path: &str, copied: &[String]) -> Result<WorktreeLeft, Objection> {
    let git = Git::of_process().await.map_err(Objection::bare)?;
    let mut left = git.left_in(Path::new(path), copied).await?;
    let panes = match server.poll(&[]).await {
        Ok(listing) => listing.panes,
        Err(error) if error.is_no_server() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let is_in = |cwd: &str| Path::new(cwd).starts_with(path);
    if let Some(pane) = panes.iter().find(|pane| pane.cwd.as_deref().is_some_and(is_in)) {
        left.reasons.push(format!("pane {} of {} is in it", pane.id, pane.place.session));
    }
    Ok(left)
}

/// Removes a working tree in which nothing would be lost.
///
/// # Errors
/// git refuses, as something has come there meanwhile.
pub async fn remove_worktree(path: &str, left: &WorktreeLeft) -> Result<(), Objection> {
    Git::of_process().await.map_err(Objection::bare)?.remove_worktree(Path::new(path), left).await
}
