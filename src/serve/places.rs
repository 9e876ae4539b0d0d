//! Who has the places of connections: each token has some of them, and one that has not shown a good token makes room for a new
//! one. Nobody without a token, and no token alone, keeps the others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::token::{Scope, Token};

/// The most connections of one token.
const OF_A_TOKEN: usize = 64;
/// The part of all places that tokens that may only read leave to those that may act: one of so many.
const LEFT_TO_ACT: usize = 8;

/// All places.
#[derive(Clone, Debug)]
pub(super) struct ConnectionPlaces {
    taken: Arc<Mutex<TakenPlaces>>,
    most: usize,
}

#[derive(Debug, Default)]
struct TakenPlaces {
    /// By their numbers, so that the oldest is the first.
    connections: BTreeMap<u64, Connection>,
    next: u64,
}

#[derive(Debug)]
struct Connection {
    /// The name of the good token that it has shown last, and what that may do.
    holder: Option<(String, Scope)>,
    /// It is to end.
    ends: Arc<Notify>,
}

/// The place of one connection, which is free again once this is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    places: ConnectionPlaces,
    number: u64,
    ends: Arc<Notify>,
}

impl ConnectionPlaces {
    pub(super) fn new(most: usize) -> Self {
        Self { taken: Arc::default(), most }
    }

    /// A place for a new connection. Where all are taken, the oldest connection without a good token ends; `None` if there is
    /// none.
    pub(super) fn take(&self) -> Option<ConnectionPlace> {
        let mut taken = self.locked();
        if taken.connections.len() >= self.most {
            let (oldest, _) = taken.connections.iter().find(|(_, it)| it.holder.is_none())?;
            let oldest = *oldest;
            taken.connections.remove(&oldest)?.ends.notify_one();
        }
        let (number, ends) = (taken.next, Arc::<Notify>::default());
        taken.next += 1;
        taken.connections.insert(number, Connection { holder: None, ends: Arc::clone(&ends) });
        drop(taken);
        Some(ConnectionPlace { places: self.clone(), number, ends })
    }

    fn locked(&self) -> MutexGuard<'_, TakenPlaces> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPlace {
    /// Waits until the connection has to make room.
    pub(super) async fn ended(&self) {
        self.ends.notified().await;
    }

    /// Notes that the connection has shown a good token; returns false where that has too many already.
    pub(super) fn hold(&self, token: &Token) -> bool {
        let mut taken = self.places.locked();
        let others = || taken.connections.iter().filter(|(number, _)| **number != self.number);
        let of_token = others().filter(|(_, it)| it.holder.as_ref().is_some_and(|(name, _)| *name == token.name));
        let reading = others().filter(|(_, it)| it.holder.as_ref().is_some_and(|(_, scope)| *scope < Scope::Act));
        let most_reading = self.places.most - self.places.most / LEFT_TO_ACT;
        let may = of_token.count() < OF_A_TOKEN.min(most_reading)
            && (token.scope >= Scope::Act || reading.count() < most_reading);
        if may && let Some(own) = taken.connections.get_mut(&self.number) {
            own.holder = Some((token.name.clone(), token.scope));
        }
        may
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.places.locked().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn token(name: &str, scope: Scope) -> Token {
        Token::new(name, scope, (Timestamp::from_millis(0), Timestamp::from_millis(1)), name)
    }

    #[tokio::test]
    async fn who_has_shown_no_token_makes_room_and_the_oldest_first() {
        let places = ConnectionPlaces::new(3);
        let (good, page) = (token("good", Scope::Read), token("page", Scope::Read));
        let [first, second, third] = [places.take().unwrap(), places.take().unwrap(), places.take().unwrap()];
        assert!(first.hold(&good));
        let fourth = places.take().unwrap();
        second.ended().await;
        assert!(fourth.hold(&page));
        let fifth = places.take().unwrap();
        third.ended().await;
        // Those that are told to end give back no place of another.
        drop((second, third));
        let sixth = places.take().unwrap();
        fifth.ended().await;
        assert!(sixth.hold(&token("act", Scope::Act)));
        assert!(places.take().is_none(), "all have shown good tokens");
        drop(fourth);
        assert!(places.take().is_some());
    }

    #[test]
    fn no_token_has_all_places_and_some_are_left_to_those_that_act() {
        let places = ConnectionPlaces::new(160);
        let readers: Vec<Token> = ["a", "b", "c"].map(|name| token(name, Scope::Read)).into();
        let mut held = Vec::new();
        for reader in &readers {
            let of_reader = (0..160).filter_map(|_| {
                let place = places.take()?;
                place.hold(reader).then_some(place)
            });
            let of_reader: Vec<ConnectionPlace> = of_reader.collect();
            assert!(of_reader.len() <= OF_A_TOKEN);
            held.extend(of_reader);
        }
        assert_eq!(held.len(), 140, "the others are left");
        let act = token("act", Scope::Act);
        let acting: Vec<ConnectionPlace> =
            (0..20).filter_map(|_| places.take()).filter(|place| place.hold(&act)).collect();
        assert_eq!(acting.len(), 20);
        // A busy reader keeps its place, and another token may use it in turn, as behind a proxy.
        assert!(held[0].hold(&readers[0]) && held[0].hold(&readers[2]));
    }
}
