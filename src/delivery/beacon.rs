//! Says how things stand into the history, for those who must not ask tmux once more.

use std::collections::HashMap;

use crate::fleet::{ServerHealth, ServerView, View};
use crate::history::{History, ServerSummary};
use crate::ids::ServerId;
use crate::notify::Suppression;
use crate::time::{Span, Timestamp};

/// How often it is said again although nothing has changed; well within the time that it holds.
const AGAIN: Span = Span::from_secs(5);

/// What was said last of each server.
#[derive(Debug)]
pub(super) struct Beacon {
    history: History,
    said: HashMap<ServerId, ServerSummary>,
}

impl Beacon {
    pub(super) fn new(history: History) -> Self {
        Self { history, said: HashMap::new() }
    }

    /// Says what has changed since, and what was not said for a while, of the servers that this process leads.
    pub(super) fn follow(&mut self, view: &View<'_>, operator: Suppression<'_>, leads: &dyn Fn(&ServerId) -> bool) {
        if self.history.path().is_none() {
            return;
        }
        let answers = |server: &&&ServerView| matches!(server.health, ServerHealth::Up | ServerHealth::NoServer(_));
        let answering = || view.servers.iter().filter(answers).filter(|server| leads(&server.id));
        // What nobody says again must not be waited for.
        self.said.retain(|id, _| answering().any(|server| server.id == *id));
        for server in answering() {
            let summary = ServerSummary::of(view, &server.id, operator.is_muted, operator.is_task_muted);
            let is_said = self.said.get(&server.id).is_some_and(|said| {
                ServerSummary { at: said.at, ..summary.clone() } == *said && view.now.since(said.at) < AGAIN
            });
            if !is_said {
                self.history.summarize(summary.clone());
                self.said.insert(server.id.clone(), summary);
            }
        }
    }

    /// When something has to be said again at the latest.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.said.values().map(|said| said.at + AGAIN).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Fleet, Input, PollResult, ServerReport, Settings};
    use crate::history;
    use crate::profile::ProfileSet;
    use crate::state::Problem;

    #[test]
    fn a_server_that_answers_no_more_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = Some(directory.path().join("history.db"));
        let history = History::start(&history::Settings { path, ..history::Settings::default() });
        let mut beacon = Beacon::new(history);
        let mut fleet = Fleet::new(Settings::default(), ProfileSet::builtin().into());
        let now = Timestamp::from_millis(1_800_000_000_000);
        let mut follow = |outcome| {
            let server = ServerId::default();
            fleet.handle(Input::Server(ServerReport { server, at: now, outcome }), now);
            let operator = Suppression { looks_at: None, is_muted: &|_| false, is_task_muted: &|_| false };
            beacon.follow(&fleet.view(now), operator, &|_| true);
            beacon.poll_timeout()
        };
        assert_eq!(follow(PollResult::Listed(Vec::new())), Some(now + AGAIN));
        let problem = Problem { kind: "failed".to_owned(), message: "no route".to_owned() };
        assert_eq!(follow(PollResult::Failed(problem)), None);
    }
}
