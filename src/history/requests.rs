//! Acts requested over HTTP, each under a key: a repeated request gets the same answer, and nothing is done twice (SPEC §17).

use std::path::Path;

use rusqlite::{Connection, params};

use super::file::{self, HistoryOptions};
use super::identity::Owner;
use crate::operation::LONGEST_ACT;
use crate::record::HistoryError;
use crate::time::{Span, Timestamp};

/// Keys of each token that are remembered, for a day.
const MOST: i64 = 2000;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The name of the token; others may use the same keys.
    pub token: String,
    pub key: String,
    /// A hash of the whole request.
    pub digest: String,
}

/// The progress of a request when it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestProgress {
    /// It is new, and may be done now.
    New,
    /// It was done and answered with this HTTP status and body.
    Answered { status: u16, body: String },
    /// It is being done.
    UnderWay,
    /// It was begun, and its outcome is not known.
    Lost,
    /// The key was used for something else.
    Other,
}

/// The requests in a history. Its commits reach the disk before they count.
pub struct HttpRequests {
    connection: Connection,
    owner: Owner,
}

impl HttpRequests {
    /// Opens them in a history file, for a process.
    pub fn open(path: &Path, owner: Owner, now: Timestamp) -> Result<Self, HistoryError> {
        let options = HistoryOptions { is_durable: true, ..HistoryOptions::default() };
        Ok(Self { connection: file::open(path, &options, now)?.connection, owner })
    }

    /// Records a request, unless it is already recorded. It may be done only if it is new.
    ///
    /// # Errors
    /// The file cannot be written; nothing may be done.
    pub fn begin(&mut self, request: &HttpRequest, now: Timestamp) -> Result<RequestProgress, HistoryError> {
        let HttpRequest { token, key, digest } = request;
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM requests WHERE at < ?1", params![now - Span::DAY])?;
        // Nobody's acts push out the keys of another token.
        let sql = "DELETE FROM requests WHERE token = ?1 AND id <= \
                   (SELECT id FROM requests WHERE token = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
        transaction.execute(sql, params![token, MOST])?;
        let sql =
            "INSERT INTO requests (token, key, digest, at, owner) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let is_new = transaction.execute(sql, params![token, key, digest, now, self.owner.as_str()])? > 0;
        let begun = if is_new {
            RequestProgress::New
        } else {
            let sql = "SELECT digest, at, owner, status, body FROM requests WHERE token = ?1 AND key = ?2";
            transaction.query_row(sql, [token, key], |row| {
                let (at, owner) = (row.get(1)?, row.get::<_, String>(2)?);
                Ok(match row.get::<_, Option<u16>>(3)? {
                    _ if row.get::<_, String>(0)? != *digest => RequestProgress::Other,
                    Some(status) => RequestProgress::Answered { status, body: row.get(4)? },
                    None if Owner::has_ended(&owner) || now.since(at) > LONGEST_ACT => RequestProgress::Lost,
                    None => RequestProgress::UnderWay,
                })
            })?
        };
        transaction.commit()?;
        Ok(begun)
    }

    /// Forgets a request that did nothing, so that it may be repeated.
    pub fn forget(&mut self, request: &HttpRequest) -> Result<(), HistoryError> {
        let sql = "DELETE FROM requests WHERE token = ?1 AND key = ?2 AND status IS NULL";
        self.connection.execute(sql, params![request.token, request.key])?;
        Ok(())
    }

    /// Keeps the answer.
    pub fn answered(&mut self, request: &HttpRequest, status: u16, body: &str) -> Result<(), HistoryError> {
        let sql = "UPDATE requests SET status = ?1, body = ?2 WHERE token = ?3 AND key = ?4 AND digest = ?5";
        self.connection.execute(sql, params![status, body, request.token, request.key, request.digest])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::{at, place};

    #[test]
    fn a_key_is_one_act_for_every_process_and_for_a_day() {
        let (_directory, path) = place();
        let open = |owner: &str| HttpRequests::open(&path, Owner::named(owner), at(0)).unwrap();
        let (mut a, mut b) = (open(&format!("{}-0-0", std::process::id())), open("4194304-0-0"));
        let request = |token: &str, key: &str, digest: &str| HttpRequest {
            token: token.to_owned(),
            key: key.to_owned(),
            digest: digest.to_owned(),
        };
        let one = request("phone", "k", "one");
        assert_eq!(a.begin(&one, at(1)).unwrap(), RequestProgress::New);
        assert_eq!(b.begin(&one, at(2)).unwrap(), RequestProgress::UnderWay);
        assert_eq!(b.begin(&request("phone", "k", "two"), at(2)).unwrap(), RequestProgress::Other);
        assert_eq!(b.begin(&request("tablet", "k", "two"), at(2)).unwrap(), RequestProgress::New);
        assert_eq!(
            a.begin(&request("tablet", "k", "two"), at(3)).unwrap(),
            RequestProgress::Lost,
            "its process is gone"
        );
        assert_eq!(b.begin(&one, at(400)).unwrap(), RequestProgress::Lost, "nothing takes that long");
        b.forget(&one).unwrap();
        assert_eq!(b.begin(&one, at(401)).unwrap(), RequestProgress::New);
        a.answered(&one, 200, "{}").unwrap();
        let answered = RequestProgress::Answered { status: 200, body: "{}".to_owned() };
        assert_eq!(b.begin(&one, at(500)).unwrap(), answered);
        assert_eq!(b.begin(&one, at(24 * 3600)).unwrap(), answered);
        assert_eq!(b.begin(&one, at(24 * 3600 + 402)).unwrap(), RequestProgress::New, "a day is over");
        a.begin(&request("tablet", "kept", "x"), at(90_000)).unwrap();
        for number in 0..=MOST {
            a.begin(&request("phone", &number.to_string(), "x"), at(90_000)).unwrap();
        }
        assert_eq!(a.begin(&request("phone", "1", "x"), at(90_001)).unwrap(), RequestProgress::UnderWay);
        assert_eq!(a.begin(&request("tablet", "kept", "x"), at(90_001)).unwrap(), RequestProgress::UnderWay);
        let kept: i64 = b.connection.query_row("SELECT count(*) FROM requests", [], |row| row.get(0)).unwrap();
        assert!(kept <= MOST + 2, "{kept}");
    }
}
