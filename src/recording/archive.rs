//! Many recordings in one small file.
//!
//! An archive is one zstd frame. Inside, after the line `fleetwatch recordings 1`, every recording is a line
//! `NAME LENGTH` and then LENGTH bytes of asciicast, in the order of the names. Names are `AGENT-VERSION/SITUATION`:
//! letters, digits, `.`, `-`, `_`, and `/` between parts. Recordings of one agent are alike, so that side by side they
//! take a thirtieth of their size.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;

use super::{Recording, RecordingError};

/// The largest archive that is read, in bytes when unpacked.
const LARGEST: u64 = 256 << 20;
const MAGIC: &[u8] = b"fleetwatch recordings 1\n";
/// The slowest and smallest that zstd has: an archive is packed once and read for years.
const LEVEL: i32 = 22;
/// 128 MiB, so that the whole archive is one window.
const WINDOW_LOG: u32 = 27;

/// An unpacked archive.
#[derive(Clone, Debug)]
pub struct Archive {
    /// How errors call it.
    source: String,
    bytes: Vec<u8>,
    recordings: BTreeMap<String, Range<usize>>,
}

impl Archive {
    /// Reads an archive from a file.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let source = path.display().to_string();
        let packed = std::fs::read(path).map_err(|error| RecordingError::unreadable(path, &error))?;
        Self::parse(&source, &packed)
    }

    /// Reads an archive from its bytes; `source` is how errors call it.
    pub fn parse(source: &str, packed: &[u8]) -> Result<Self, RecordingError> {
        let bad = |message: String| RecordingError::Unreadable { source_name: source.to_owned(), message };
        let bytes = unpack(packed).map_err(|e| bad(format!("this is not an archive of recordings: {e}")))?;
        if bytes.len() as u64 > LARGEST {
            return Err(bad(format!("the archive unpacks to more than {} MiB", LARGEST >> 20)));
        }
        let recordings = index(&bytes).ok_or_else(|| bad("this is not an archive of recordings".to_owned()))?;
        Ok(Self { source: source.to_owned(), bytes, recordings })
    }

    /// Packs recordings, given as name and bytes. The same recordings always give the same archive.
    ///
    /// # Errors
    /// A name has characters that archives do not take.
    pub fn pack(recordings: &BTreeMap<String, Vec<u8>>) -> std::io::Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        for (name, recording) in recordings {
            if !is_name(name) {
                return Err(std::io::Error::other(format!("{name:?} is not a name for a recording")));
            }
            writeln!(bytes, "{name} {}", recording.len())?;
            bytes.extend_from_slice(recording);
        }
        let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
        encoder.window_log(WINDOW_LOG)?;
        encoder.long_distance_matching(true)?;
        encoder.include_checksum(true)?;
        encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
        encoder.write_all(&bytes)?;
        encoder.finish()
    }

    /// The names of all recordings, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.recordings.keys().map(String::as_str)
    }

    /// The bytes of a recording.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.recordings.get(name).map(|range| &self.bytes[range.clone()])
    }

    /// How errors call a recording of this archive.
    pub fn source_name(&self, name: &str) -> String {
        format!("{}:{name}", self.source)
    }

    /// Reads a recording.
    ///
    /// # Errors
    /// There is none of that name, or it is broken.
    pub fn recording(&self, name: &str) -> Result<Recording, RecordingError> {
        let source = self.source_name(name);
        let bytes = self.bytes(name).ok_or_else(|| RecordingError::Unreadable {
            source_name: source.clone(),
            message: "the archive has no such recording".to_owned(),
        })?;
        Recording::parse(&source, bytes)
    }
}

fn unpack(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut decoder = zstd::Decoder::new(packed)?;
    decoder.window_log_max(WINDOW_LOG)?;
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know that there is too much.
    decoder.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where each recording lies; `None` when the bytes are no archive.
fn index(bytes: &[u8]) -> Option<BTreeMap<String, Range<usize>>> {
    let mut recordings = BTreeMap::new();
    let mut at = bytes.starts_with(MAGIC).then_some(MAGIC.len())?;
    while at < bytes.len() {
        let line = at + bytes[at..].iter().position(|&b| b == b'\n')?;
        let (name, length) = std::str::from_utf8(&bytes[at..line]).ok()?.split_once(' ')?;
        let end = (line + 1).checked_add(length.parse().ok()?).filter(|end| *end <= bytes.len())?;
        if !is_name(name) || recordings.insert(name.to_owned(), line + 1..end).is_some() {
            return None;
        }
        at = end;
    }
    Some(recordings)
}

/// Whether a recording may be called so: a name is also a path below the directory that an archive is unpacked to.
fn is_name(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    name.split('/').all(part)
}

#[cfg(test)]
mod tests;
