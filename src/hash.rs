//! A hash that is the same in every run and build (64-bit FNV-1a), which the standard library's hasher does not promise,
//! hashes as text, and a fast hash of screens.
//!
//! They detect accidental changes; they do not resist an attacker.

use std::hash::{BuildHasher, Hash, Hasher};
use std::io;

use foldhash::quality::FixedState;

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A hash that is fed piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(u64);

impl Fnv {
    /// Takes in some more bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    }

    /// The hash of what was taken in so far.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Default for Fnv {
    fn default() -> Self {
        Self(BASIS)
    }
}

/// For what writes itself, as JSON does.
impl io::Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.feed(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The hash of some bytes.
pub fn fnv(bytes: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    hash.feed(bytes);
    hash.get()
}

/// A hasher that is fast and gives the same in all processes of one build: every poll hashes whole screens.
pub fn fast() -> impl Hasher {
    FixedState::default().build_hasher()
}

/// The fast hash of one value.
pub fn fast_of(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}

/// Bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that the algorithm's authors publish.
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
