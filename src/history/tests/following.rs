//! Whoever follows the history misses nothing that it could not read at once.

use serde_json::json;

use super::*;
use crate::history::following::{Follower, Following};
use crate::history::intents::Progressing;
use crate::history::reader::Reader;
use crate::history::submissions::OthersSubmissions;

/// A follower for whom the file is locked by another process, the first time that it reads.
struct LockedOut<F> {
    follower: F,
    path: PathBuf,
    was_locked: bool,
}

impl<F: Follower> Follower for LockedOut<F> {
    type News = F::News;

    fn begin_anew(&mut self) {
        self.follower.begin_anew();
    }

    fn read(&mut self, reader: &mut Reader) -> Result<Vec<F::News>, Trouble> {
        if self.was_locked {
            return self.follower.read(reader);
        }
        self.was_locked = true;
        reader.connection().busy_timeout(Duration::ZERO).unwrap();
        let other = Connection::open(&self.path).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let read = self.follower.read(reader);
        other.execute_batch("ROLLBACK").unwrap();
        assert!(matches!(read, Err(Trouble::Locked)), "the lock keeps nobody out");
        read
    }
}

/// Follows a file that is locked at the first look, and in which only the locker writes: versions stay what they were.
fn locked_at_first<F: Follower>(path: &Path, follower: F) -> Following<LockedOut<F>> {
    // With a log of its own, as it is otherwise, no writer keeps a reader out for longer than a moment.
    Connection::open(path).unwrap().pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    let mut following =
        Following::new(path.to_owned(), LockedOut { follower, path: path.to_owned(), was_locked: false });
    let (found, pause) = following.look();
    assert!(found.is_empty() && pause.is_none(), "a lock is soon gone");
    following
}

fn submit(path: &Path, owner: &str, uid: &str, pane: u32) {
    let begun = Message::InputBegun { uid: uid.to_owned(), operation: super::inputs::prompt(pane, 0, "hello") };
    let delivered = Message::InputDelivered { uid: uid.to_owned(), at: at(0) };
    store(path, owner, at(0)).write(&[begun, delivered], at(0)).unwrap();
}

#[test]
fn submissions_that_were_locked_at_the_first_look_are_read_at_the_next() {
    let (_directory, path) = place();
    let follower = OthersSubmissions::new(&path, Owner::named("ours"));
    submit(&path, "ours", "a", 1);
    submit(&path, "theirs", "b", 2);
    let mut following = locked_at_first(&path, follower);
    let panes = |(found, _): (Vec<Submission>, _)| found.iter().map(|one| one.key.pane.0).collect::<Vec<u32>>();
    assert_eq!(panes(following.look()), [2]);
    assert!(panes(following.look()).is_empty());
    submit(&path, "theirs", "c", 3);
    assert_eq!(panes(following.look()), [3]);
}

#[test]
fn intents_that_were_locked_at_the_first_look_are_read_at_the_next_and_still_old() {
    let (_directory, path) = place();
    let queue = |key: &str, target: &str| {
        let mut intents = Intents::open(&path, Owner::named("theirs"), at(0)).unwrap();
        intents.queue(target, key, &json!({}), at(0), None).unwrap();
    };
    queue("a", "lead");
    let mut following = locked_at_first(&path, Progressing::default());
    let told = |(found, _): (Vec<IntentNews>, _)| {
        found.iter().map(|one| (one.intent.target.clone(), one.is_old)).collect::<Vec<_>>()
    };
    assert_eq!(told(following.look()), [("lead".to_owned(), true)]);
    assert!(told(following.look()).is_empty());
    queue("b", "docs");
    assert_eq!(told(following.look()), [("docs".to_owned(), false)]);
}

#[test]
fn in_a_file_that_takes_the_place_of_another_everything_is_new() {
    let (_directory, path) = place();
    submit(&path, "theirs", "a", 1);
    let mut following = Following::new(path.clone(), OthersSubmissions::new(&path, Owner::named("ours")));
    assert_eq!(following.look().0, []);
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    assert_eq!(following.look(), (Vec::new(), Some(Duration::from_secs(1))));
    submit(&path, "theirs", "b", 2);
    assert_eq!(following.look().0.iter().map(|one| one.key.pane.0).collect::<Vec<_>>(), [2]);
}

/// A follower that meets damage at its second reading.
struct Stumbling {
    follower: Progressing,
    readings: usize,
}

impl Follower for Stumbling {
    type News = IntentNews;

    fn begin_anew(&mut self) {
        self.follower.begin_anew();
    }

    fn read(&mut self, reader: &mut Reader) -> Result<Vec<IntentNews>, Trouble> {
        self.readings += 1;
        if self.readings == 2 { Err(Trouble::Damaged) } else { self.follower.read(reader) }
    }
}

fn queue(path: &Path, target: &str) {
    let mut intents = Intents::open(path, Owner::named("theirs"), at(0)).unwrap();
    intents.queue(target, target, &json!({}), at(0), None).unwrap();
}

/// What is told at a look: whom it is for, and whether it is old.
fn told<F: Follower<News = IntentNews>>(following: &mut Following<F>) -> Vec<(String, bool)> {
    following.look().0.into_iter().map(|one| (one.intent.target, one.is_old)).collect()
}

#[test]
fn a_file_that_is_replaced_after_it_could_not_be_read_is_new_all_the_same() {
    let (_directory, path) = place();
    queue(&path, "lead");
    let mut following = Following::new(path.clone(), Stumbling { follower: Progressing::default(), readings: 0 });
    assert_eq!(told(&mut following), [("lead".to_owned(), true)]);
    queue(&path, "docs");
    let (found, pause) = following.look();
    assert!(found.is_empty() && pause.is_some(), "it is damaged");
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    queue(&path, "other");
    queue(&path, "another");
    assert_eq!(told(&mut following), [("other".to_owned(), false), ("another".to_owned(), false)]);
}

#[test]
fn what_follows_a_file_that_could_never_be_read_is_new() {
    let (_directory, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, [7; 10_000]).unwrap();
    let mut following = Following::new(path.clone(), Progressing::default());
    assert!(following.look().1.is_some(), "it is no database");
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    queue(&path, "lead");
    assert_eq!(told(&mut following), [("lead".to_owned(), false)]);
}
