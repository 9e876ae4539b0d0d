//! Which of several processes that watch a server tells of it. Each thing is told once, however many look on.
//!
//! Whoever is on duty holds a lock on a file in the state directory, which the system takes back when the process ends,
//! however it ends; the next one that looks takes over. A dashboard comes before `watch`, as it knows what the operator
//! sees and mutes.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::history::Rank;
use crate::moment::{Moment, Span};
use crate::private;

/// How often a duty that another process has is asked for.
const ASK: Span = Span::from_millis(500);
/// How much later than the process before a process that takes over may see the same.
const SAME: Span = Span::from_secs(10);

/// What is to be done for a server by one process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Duty {
    /// Bells and notices of a terminal; only who has one can do it.
    Terminal,
    /// Notices of the desktop, and commands.
    Outside,
    /// Messages to agents.
    FollowUps,
}

impl Duty {
    const fn word(self) -> &'static str {
        match self {
            Duty::Terminal => "terminal",
            Duty::Outside => "outside",
            Duty::FollowUps => "follow-ups",
        }
    }
}

/// The duties of this process.
#[derive(Debug)]
pub(super) struct Duties {
    directory: Option<PathBuf>,
    rank: Rank,
    posts: BTreeMap<(Duty, String), Post>,
}

#[derive(Debug, Default)]
struct Post {
    /// The lock, while this process has it.
    held: Option<File>,
    /// When another process had it.
    refused: Option<Moment>,
    /// What the process before told last.
    told_before: Vec<(Moment, String)>,
    /// What this process told last.
    told: Vec<(Moment, String)>,
}

impl Duties {
    /// The duties that are told apart in a state directory; without one this process has all of them.
    pub(super) fn new(directory: Option<&Path>, rank: Rank) -> Self {
        Self { directory: directory.map(|directory| directory.join("duties")), rank, posts: BTreeMap::new() }
    }

    /// Whether this process has a duty for a server, by [`ServerId::word`](crate::place::ServerId::word); it takes one that nobody
    /// has.
    pub(super) fn has(&mut self, duty: Duty, server: &str, now: Moment) -> bool {
        self.ask(duty, server, now, Span::ZERO)
    }

    /// Takes the duties that nobody has for these servers. Must be called again and again.
    pub(super) fn tend<'a>(&mut self, duties: &[Duty], servers: impl Iterator<Item = &'a str>, now: Moment) {
        for server in servers {
            for &duty in duties {
                let post = self.posts.get(&(duty, server.to_owned()));
                if post.is_none_or(|post| post.held.is_none()) {
                    self.ask(duty, server, now, ASK);
                }
            }
        }
    }

    /// Whether something may be told by this process: it has the duty, and the process that had it before did not tell it
    /// a moment ago. From here on it counts as told.
    pub(super) fn may_tell(&mut self, duty: Duty, server: &str, what: &str, now: Moment) -> bool {
        if !self.has(duty, server, now) {
            return false;
        }
        let Some(post) = self.posts.get_mut(&(duty, server.to_owned())) else { return true };
        if post.told_before.iter().any(|(at, told)| told == what && now.since(*at) < SAME) {
            return false;
        }
        post.told.push((now, what.replace(['\n', '\t'], " ")));
        post.told.retain(|(at, _)| now.since(*at) < SAME);
        if let Some(file) = &mut post.held
            && let Err(error) = write_down(file, &post.told)
        {
            tracing::warn!(%error, "whoever takes over may tell something again");
        }
        true
    }

    /// Asks for a duty, unless another process had it less than `distance` ago.
    fn ask(&mut self, duty: Duty, server: &str, now: Moment, distance: Span) -> bool {
        let Some(directory) = &self.directory else { return true };
        let is_preferred = self.rank == Rank::Dashboard && duty != Duty::FollowUps;
        let post = self.posts.entry((duty, server.to_owned())).or_default();
        let waits = post.refused.is_some_and(|at| at <= now && now.since(at) < distance);
        let (common, preferred) = (file(directory, duty, server, ""), file(directory, duty, server, ".dashboard"));
        if post.held.is_none() && !waits {
            let asked = take(if is_preferred { &preferred } else { &common });
            if asked.as_ref().is_ok_and(Option::is_some) {
                let (common, preferred) = (told_in(&common), told_in(&preferred));
                post.told_before = common.into_iter().chain(preferred).collect();
            }
            match asked {
                Ok(held) => post.held = held,
                Err(error) => {
                    // Twice is better than never.
                    tracing::warn!(%error, directory = %directory.display(), "other processes may tell the same");
                    return true;
                }
            }
            post.refused = post.held.is_none().then_some(now);
        }
        let yields = !is_preferred && duty != Duty::FollowUps && is_held(&preferred);
        post.held.is_some() && !yields
    }
}

/// The file of a duty. What names a server may hold anything.
fn file(directory: &Path, duty: Duty, server: &str, kind: &str) -> PathBuf {
    let plain = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    let server: String = server.bytes().map(plain).collect();
    directory.join(format!("{}{kind}-{server}", duty.word()))
}

/// Takes a lock; `None` when another process has it.
fn take(path: &Path) -> io::Result<Option<File>> {
    if let Some(directory) = path.parent() {
        private::make_directory(directory)?;
    }
    let file = private::open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether some process holds a lock. Asking takes none that could be in its way for longer than a moment.
fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn write_down(file: &mut File, told: &[(Moment, String)]) -> io::Result<()> {
    let text: String = told.iter().map(|(at, what)| format!("{}\t{what}\n", at.as_millis())).collect();
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// What was told last under a lock; what cannot be read was not.
fn told_in(path: &Path) -> Vec<(Moment, String)> {
    let mut text = String::new();
    if File::open(path).and_then(|mut file| file.read_to_string(&mut text)).is_err() {
        return Vec::new();
    }
    let read = |line: &str| {
        let (at, what) = line.split_once('\t')?;
        Some((Moment::from_millis(at.parse().ok()?), what.to_owned()))
    };
    text.lines().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Moment {
        Moment::from_millis(1_800_000_000_000 + millis)
    }

    #[test]
    fn of_two_processes_one_has_a_duty_and_the_other_takes_over() {
        let directory = tempfile::tempdir().unwrap();
        let duties = || Duties::new(Some(directory.path()), Rank::Watch);
        let (mut first, mut second) = (duties(), duties());
        let (work, other) = ("/name:work", "/name:../%other");
        assert!(first.has(Duty::Outside, work, at(0)) && !second.has(Duty::Outside, work, at(0)));
        assert!(second.has(Duty::Outside, other, at(0)), "each server has its own");
        assert!(second.has(Duty::Terminal, work, at(0)), "each duty, too");
        assert!(first.may_tell(Duty::Outside, work, "a", at(1)));
        drop(first);
        assert!(!second.may_tell(Duty::Outside, work, "a", at(2)), "the first one told it");
        assert!(second.may_tell(Duty::Outside, work, "b", at(2)));
        assert!(second.may_tell(Duty::Outside, work, "a", at(60_000)), "this is the next one");
        assert_eq!(std::fs::read_dir(directory.path().join("duties")).unwrap().count(), 3);
    }

    #[test]
    fn a_dashboard_comes_before_watch() {
        let directory = tempfile::tempdir().unwrap();
        let work = "/name:work";
        let mut watch = Duties::new(Some(directory.path()), Rank::Watch);
        assert!(watch.has(Duty::Outside, work, at(0)));
        let mut dashboard = Duties::new(Some(directory.path()), Rank::Dashboard);
        assert!(dashboard.has(Duty::Outside, work, at(1)) && !watch.has(Duty::Outside, work, at(1)));
        let mut another = Duties::new(Some(directory.path()), Rank::Dashboard);
        assert!(!another.has(Duty::Outside, work, at(2)));
        assert!(!dashboard.has(Duty::FollowUps, work, at(2)) || !watch.has(Duty::FollowUps, work, at(2)));
        drop(dashboard);
        assert!(another.has(Duty::Outside, work, at(3)) && !watch.has(Duty::Outside, work, at(3)));
        drop(another);
        assert!(watch.has(Duty::Outside, work, at(4)));
    }

    #[test]
    fn without_a_directory_for_locks_everything_is_told() {
        assert!(Duties::new(None, Rank::Watch).may_tell(Duty::Outside, "/name:work", "a", at(0)));
    }
}
