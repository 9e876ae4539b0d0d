//! A single poll of a server. With many panes it is reported in parts, so that the fleet reads some screens while tmux prints
//! the next ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use super::{PollerState, ServerPoller, Settings, Suspect, add_records, now};
use crate::clock;
use crate::fleet::{Input, PaneId, PaneReport, PollResult, ServerId, ServerReport};
use crate::profile::{ProfileSet, Program};
use crate::time::Timestamp;
use crate::tmux::{Captures, Listing};

/// The most further polls, each after a moment, that wait for the exit status of a task.
const FURTHER_POLLS: u32 = 10;
/// Screens in a part. Each part is a call, for which tmux goes through all of its panes.
const PART: usize = 256;

/// Polls a server once, captures every watched pane, and sends each part as it comes.
pub async fn tell(settings: Settings, profiles: Arc<ProfileSet>, server: ServerId, to: Sender<Input>) {
    let mut poller = match ServerPoller::new(settings, profiles, server.clone(), PollerState::default()) {
        Ok(poller) => poller,
        // Its name is not fit for a command line.
        Err(error) => {
            let unfit = ServerReport::new(server, now(), PollResult::Failed(error.problem()));
            // Nobody waits for it any more where this fails, here and below.
            return drop(to.send(Input::Server(unfit)).await);
        }
    };
    poller.is_only_poll = true;
    let listed = match poller.ask().await {
        Ok((poll, suspects)) => {
            // Panes named like an agent are captured while the others are identified.
            let mut named = poller.called_like_agents(&suspects);
            if !poller.is_reported_in_parts(&named) {
                named.clear();
            }
            let screens = poller.server.captures(&poller.rows, &named, PART);
            poller.identify(&suspects).await;
            let due = poller.memory.due(&poll);
            if poller.is_reported_in_parts(&due) {
                return poller.report_in_parts(poll, due, (named, screens), to).await;
            }
            Ok((poll, due))
        }
        Err(error) => Err(error),
    };
    let mut polled = poller.complete(listed).await;
    // How tasks ended that have just done so is known in a moment.
    for _ in 0..FURTHER_POLLS {
        if poller.awaits_exit_status {
            tokio::time::sleep(clock::A_MOMENT).await;
            polled = poller.poll().await;
        }
    }
    for input in polled.inputs() {
        if to.send(input).await.is_err() {
            return;
        }
    }
}

impl ServerPoller {
    /// Whether these panes take tmux so long that they are reported in parts. Tasks are always reported together.
    fn is_reported_in_parts(&self, due: &[PaneId]) -> bool {
        due.len() > PART && self.on_host.is_none() && !self.memory.has_task_among(due)
    }

    /// The panes of which the name of the program says that it is an agent.
    fn called_like_agents(&self, suspects: &[Suspect]) -> Vec<PaneId> {
        let is_agent = |suspect: &&Suspect| {
            let program = self.profiles.identify(&suspect.command, &[], suspect.tool.as_deref());
            matches!(program, Program::Agent { .. })
        };
        suspects.iter().filter(is_agent).map(|suspect| suspect.pane).collect()
    }

    async fn report_in_parts(
        &mut self,
        poll: Listing,
        due: Vec<PaneId>,
        (begun, mut screens): (Vec<PaneId>, Captures),
        to: Sender<Input>,
    ) {
        let begun: BTreeSet<PaneId> = begun.into_iter().collect();
        let others: Vec<PaneId> = due.iter().filter(|pane| !begun.contains(pane)).copied().collect();
        screens.add(&others);
        self.memory.await_screens(&due);
        let due: BTreeSet<PaneId> = due.into_iter().collect();
        let mut listed = self.memory.report(poll.clone(), Listing::default(), now());
        self.name_processes(&mut listed.panes);
        // Records and repositories are read while tmux captures.
        self.begin_records(listed.panes.iter());
        self.read_git(&mut listed.panes).await;
        let listed = self.conclude(Ok(listed)).await;
        // A poll stands for one moment: what is read last does not prove that what was read first is still so.
        let at = listed.server.at;
        for input in listed.inputs() {
            if to.send(input).await.is_err() {
                return;
            }
        }
        let mut left = due.len();
        let mut records = BTreeMap::new();
        while let Some(captured) = screens.next().await {
            let outcome = match captured {
                Ok((mut part, more)) => {
                    part.retain(|pane| due.contains(pane));
                    left = left.saturating_sub(part.len());
                    let mut panes = self.read_part(&poll, &part, more, at);
                    records.extend(self.records_read().await);
                    add_records(&mut panes, &mut records);
                    PollResult::Read { panes, is_last: left == 0 }
                }
                Err(error) => {
                    tracing::warn!(server = %self.server.id(), %error, "a part of a poll failed");
                    PollResult::Failed(error.problem())
                }
            };
            let is_over = matches!(outcome, PollResult::Failed(_));
            let server = self.server.id().clone();
            let report = ServerReport { load: self.load(), ..ServerReport::new(server, at, outcome) };
            if to.send(Input::Server(report)).await.is_err() || is_over {
                return;
            }
        }
    }

    /// The reports of some panes of a poll, once they are captured.
    fn read_part(&mut self, poll: &Listing, part: &[PaneId], more: Listing, at: Timestamp) -> Vec<PaneReport> {
        let part: BTreeSet<PaneId> = part.iter().copied().collect();
        self.memory.await_no_more(&part);
        let panes = poll.panes.iter().filter(|pane| part.contains(&pane.id)).cloned().collect();
        let poll = Listing { panes, captures: Vec::new(), ..poll.clone() };
        let mut panes = self.memory.report(poll, more, at).panes;
        self.name_processes(&mut panes);
        self.add_git(&mut panes);
        panes
    }
}
