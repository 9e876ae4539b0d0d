//! Marks that a pane cannot guess.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Sixteen hexadecimal digits that are used for one call and never again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nonce(String);

impl Nonce {
    pub(super) fn new() -> Self {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        // The standard library's hasher is keyed from the system's randomness; what a keyed SipHash makes of a
        // counter cannot be told without the key, and the key never leaves the process.
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        Self(format!("{:016x}", RandomState::new().hash_one(call)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
