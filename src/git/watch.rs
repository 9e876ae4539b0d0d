//! When to read each repository again: never while a poll waits, and seldom where no agent is active.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Distance, Git, root_of};
use crate::repository::{GitError, GitFacts, REREAD};
use crate::time::{Span, Timestamp};

/// A repository is read for a share of the time: after a reading nothing is read for so many times as long.
const REST: u32 = 20;

/// A directory that an agent works in, and whether the agent's screen has changed since the last call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirectory {
    pub path: String,
    pub is_active: bool,
}

/// The repositories around the directories of agents, as they were read last.
#[derive(Debug)]
pub struct GitWatch {
    directories: BTreeMap<String, Schedule<Option<PathBuf>>>,
    roots: BTreeMap<PathBuf, Schedule<Root>>,
    sender: UnboundedSender<GitAnswer>,
    answers: UnboundedReceiver<GitAnswer>,
    /// Readings that have not ended.
    open: usize,
}

#[derive(Debug, Default)]
struct Root {
    facts: Option<Arc<GitFacts>>,
    distance: Distance,
}

#[derive(Debug)]
enum GitAnswer {
    /// The top-level directories around directories.
    Located(Vec<(String, Option<PathBuf>)>),
    /// A repository was read.
    Read { root: PathBuf, facts: Result<Box<GitFacts>, GitError>, distance: Distance, took: Duration },
}

/// Something that is read again and again.
#[derive(Debug, Default)]
struct Schedule<T> {
    known: T,
    /// When it is read next: while an agent is active there, and while none is.
    next: Option<(Timestamp, Timestamp)>,
    /// Whether an agent was active there since the last reading began.
    is_active: bool,
    is_open: bool,
}

impl<T> Schedule<T> {
    /// Whether a reading is due, which begins then.
    fn begins(&mut self, now: Timestamp) -> bool {
        let is_due = self.next.is_none_or(|(active, still)| now >= if self.is_active { active } else { still });
        if self.is_open || !is_due {
            return false;
        }
        (self.is_open, self.is_active, self.next) = (true, false, Some((now + REREAD, now + Span::MINUTE)));
        true
    }

    fn ended(&mut self, known: T, now: Timestamp, rest: Span) {
        let at_least = now + rest;
        self.next = self.next.map(|(active, still)| (active.max(at_least), still.max(at_least)));
        (self.known, self.is_open) = (known, false);
    }
}

impl Default for GitWatch {
    fn default() -> Self {
        let (sender, answers) = unbounded_channel();
        Self { directories: BTreeMap::new(), roots: BTreeMap::new(), sender, answers, open: 0 }
    }
}

impl GitWatch {
    /// Takes in which directories agents work in, and begins to read what is due. Waits for nothing.
    pub fn poll(&mut self, directories: &[GitDirectory], now: Timestamp) {
        while let Ok(answer) = self.answers.try_recv() {
            self.take(answer, now);
        }
        let there: HashSet<&str> = directories.iter().map(|it| it.path.as_str()).collect();
        self.directories.retain(|path, _| there.contains(path.as_str()));
        for GitDirectory { path, is_active } in directories {
            let directory = self.directories.entry(path.clone()).or_default();
            directory.is_active |= is_active;
            if let Some(root) = &directory.known {
                self.roots.entry(root.clone()).or_default().is_active |= is_active;
            }
        }
        let known: HashSet<&PathBuf> = self.directories.values().filter_map(|it| it.known.as_ref()).collect();
        self.roots.retain(|root, _| known.contains(root));
        let due = self.directories.iter_mut().filter_map(|(path, it)| it.begins(now).then(|| path.clone())).collect();
        self.locate(due);
        self.read(now);
    }

    /// What is known of the repository around a directory.
    pub fn facts(&self, directory: &str) -> Option<Arc<GitFacts>> {
        let root = self.directories.get(directory)?.known.as_ref()?;
        self.roots.get(root)?.known.facts.clone()
    }

    /// Waits until everything that was begun is read, for a while at most.
    pub async fn settle(&mut self, at_most: Duration, now: Timestamp) {
        let all = async {
            while self.open > 0 {
                let Some(answer) = self.answers.recv().await else { return };
                self.take(answer, now);
                self.read(now);
            }
        };
        let _ = tokio::time::timeout(at_most, all).await;
    }

    fn take(&mut self, answer: GitAnswer, now: Timestamp) {
        self.open = self.open.saturating_sub(1);
        match answer {
            GitAnswer::Located(located) => {
                for (path, root) in located {
                    if let Some(root) = &root {
                        self.roots.entry(root.clone()).or_default();
                    }
                    self.directories.entry(path).and_modify(|it| it.ended(root, now, Span::ZERO));
                }
            }
            GitAnswer::Read { root, facts, distance, took } => {
                let Some(it) = self.roots.get_mut(&root) else { return };
                let known = it.known.facts.take();
                let facts = match (facts, known) {
                    (Ok(facts), Some(known)) if known.is_same(&facts) => Some(known),
                    (Ok(facts), _) => Some(Arc::from(facts)),
                    (Err(_), _) => None,
                };
                let rest = u64::try_from((took * REST).as_millis()).unwrap_or(u64::MAX);
                it.ended(Root { facts, distance }, now, Span::from_millis(rest));
            }
        }
    }

    fn locate(&mut self, directories: Vec<String>) {
        if directories.is_empty() {
            return;
        }
        self.open += 1;
        let sender = self.sender.clone();
        tokio::task::spawn_blocking(move || {
            let located = directories.into_iter().map(|path| {
                let root = root_of(path.as_ref());
                (path, root)
            });
            // Nobody listens any more when the poller has ended.
            let _ = sender.send(GitAnswer::Located(located.collect()));
        });
    }

    fn read(&mut self, now: Timestamp) {
        for (root, it) in &mut self.roots {
            if !it.begins(now) {
                continue;
            }
            self.open += 1;
            let (sender, root) = (self.sender.clone(), root.clone());
            let mut distance = std::mem::take(&mut it.known.distance);
            tokio::spawn(async move {
                let began = Instant::now();
                let facts = match Git::of_process().await {
                    Ok(git) => git.facts(&root, &mut distance, now).await,
                    Err(trouble) => Err(trouble),
                };
                if let Err(trouble) = &facts {
                    tracing::debug!(root = %root.display(), %trouble, "a repository was not read");
                }
                let took = began.elapsed();
                let _ = sender.send(GitAnswer::Read { root, facts: facts.map(Box::new), distance, took });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_read_often_and_what_takes_long_seldom() {
        let at = |seconds: u64| Timestamp::from_millis(1_000_000) + Span::from_secs(seconds);
        let mut schedule = Schedule::<()>::default();
        assert!(schedule.begins(at(0)) && !schedule.begins(at(99)), "it has not ended");
        schedule.ended((), at(1), Span::ZERO);
        assert!(!schedule.begins(at(59)), "nothing has changed");
        schedule.is_active = true;
        assert!(!schedule.begins(at(4)) && schedule.begins(at(5)));
        schedule.ended((), at(5), Span::from_secs(200));
        schedule.is_active = true;
        assert!(!schedule.begins(at(204)) && schedule.begins(at(205)));
    }
}
