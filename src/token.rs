//! Who may ask over HTTP: named tokens with a scope and an expiry. The file has only the tokens' hashes.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::hexadecimal;
use crate::private;
use crate::state::words;
use crate::time::Timestamp;

words! {
    /// What a token is good for.
    Scope {
        /// To see what there is to see.
        Read = "read",
        /// To answer, prompt, interrupt and press keys as well.
        Act = "act",
    }
}

/// A token as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub name: String,
    pub scope: Scope,
    pub created: Timestamp,
    pub expires: Timestamp,
    /// SHA-256 of the whole token, in hexadecimal digits.
    hash: String,
}

impl Token {
    /// What is kept of the token with this text.
    pub fn new(name: &str, scope: Scope, (created, expires): (Timestamp, Timestamp), text: &str) -> Self {
        Self { name: name.to_owned(), scope, created, expires, hash: hash(text) }
    }

    /// Whether it has not ended yet.
    pub fn is_good(&self, now: Timestamp) -> bool {
        now < self.expires
    }

    /// What may be shown of it.
    pub fn json(&self) -> serde_json::Value {
        let Self { name, scope, created, expires, .. } = self;
        serde_json::json!({ "name": name, "scope": scope, "created": created, "expires": expires })
    }
}

/// The tokens of this user.
#[derive(Clone, Debug)]
pub struct TokenFile(PathBuf);

impl TokenFile {
    /// `None` where there is no directory for it.
    pub fn of_user() -> Option<Self> {
        private::state_directory().map(|directory| Self(directory.join("tokens.json")))
    }

    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// All of them, those that have ended among them.
    ///
    /// # Errors
    /// The file cannot be read, others can, or it is no list of tokens.
    pub fn read(&self) -> io::Result<Vec<Token>> {
        match private::read_secret(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            text => serde_json::from_slice(&text?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    /// Replaces the list by what `change` makes of it, alone among all processes.
    ///
    /// # Errors
    /// As [`TokenFile::read`], or the file cannot be written.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Token>) -> T) -> io::Result<T> {
        private::make_directory(self.0.parent().unwrap_or(Path::new(".")))?;
        let _alone = private::locked(&self.0.with_extension("lock"))?;
        let mut tokens = self.read()?;
        let before = tokens.clone();
        let done = change(&mut tokens);
        if tokens != before {
            private::replace(&self.0, &serde_json::to_vec_pretty(&tokens)?)?;
        }
        Ok(done)
    }

    /// The token whose text this is.
    pub fn find(&self, text: &str) -> io::Result<Option<Token>> {
        let hash = hash(text);
        let mut found = None;
        for token in self.read()? {
            // Every token is compared, and each whole, so that the time reveals nothing.
            if is_equal(token.hash.as_bytes(), hash.as_bytes()) {
                found = Some(token);
            }
        }
        Ok(found)
    }
}

/// Whether two texts are equal, in a time that depends on their length alone.
fn is_equal(left: &[u8], right: &[u8]) -> bool {
    let differing = left.iter().zip(right).fold(0, |differing, (left, right)| differing | (left ^ right));
    left.len() == right.len() && std::hint::black_box(differing) == 0
}

fn hash(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_found_by_its_text_alone_and_until_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::at(directory.path().join("state/tokens.json"));
        let (now, end) = (Timestamp::from_millis(1_000), Timestamp::from_millis(2_000));
        let token = Token::new("phone", Scope::Read, (now, end), "fwt_secret");
        assert_eq!(file.find("fwt_secret").unwrap(), None);
        file.change(|tokens| tokens.push(token.clone())).unwrap();
        assert_eq!(file.find("fwt_secret").unwrap(), Some(token.clone()));
        for other in ["", "fwt_", "fwt_secres", "fwt_secret ", &token.hash] {
            assert_eq!(file.find(other).unwrap(), None, "{other}");
        }
        assert!(token.is_good(now) && !token.is_good(end));
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(!text.contains("fwt_secret"), "{text}");
        assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        // Whoever else could write it could let themselves in.
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("chmod 600"));
    }
}
