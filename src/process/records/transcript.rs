//! What was said in a session, read from its record as it grows.

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::files::open;
use crate::agent_record::{AgentRecordSource, GAP, Said, Speaker};
use crate::time::Timestamp;

/// Bytes at the end of a record that a transcript is read from.
const TRANSCRIPT: u64 = 16 << 20;
/// Bytes before the offset by which a file is recognised: one that was written anew has others there.
const KNOWN_BY: usize = 64;

/// The transcript of one session, and how far its record was read, so that only additions are read. It holds the last 16 MiB of
/// the record, until another record is asked for.
#[derive(Debug, Default)]
pub struct RecordedTranscript {
    path: PathBuf,
    /// The file's device and inode.
    identity: (u64, u64),
    /// Bytes that were read, all of them whole lines.
    offset: u64,
    /// Whether the next bytes are part of a line.
    skips: bool,
    /// The last bytes before `offset`.
    known_by: Vec<u8>,
    lines: VecDeque<RecordedLine>,
    /// When the newest line was written.
    latest: Timestamp,
    /// The last transcript and its extent: how many lines it covers, where they begin, and whether earlier ones were cut off.
    cached: Option<Arc<[Said]>>,
    extent: (usize, u64, bool),
}

/// A line of a record that says something.
#[derive(Debug)]
struct RecordedLine {
    /// Where it begins in the file.
    begin: u64,
    /// When it and all lines before it were written.
    written: Timestamp,
    said: Vec<Said>,
}

impl RecordedTranscript {
    /// The transcript up to a time, from the record at `path`, oldest first. It begins with [`GAP`] if more was written than is
    /// read. The list stays the same one until something new was said; `None` if the file cannot be read.
    pub fn up_to(&mut self, path: &Path, source: &AgentRecordSource, until: Timestamp) -> Option<Arc<[Said]>> {
        let mut file = open(path)?;
        let data = file.metadata().ok()?;
        let (identity, size) = ((data.dev(), data.ino()), data.size());
        let begin = size.saturating_sub(TRANSCRIPT);
        let mut before = vec![0; self.known_by.len()];
        let known_from = self.offset.saturating_sub(before.len() as u64);
        let is_same = self.path == path
            && self.identity == identity
            && (begin..=size).contains(&self.offset)
            && file.read_exact_at(&mut before, known_from).is_ok()
            && before == self.known_by;
        if !is_same {
            *self = Self { path: path.to_owned(), identity, offset: begin, skips: begin > 0, ..Self::default() };
        }
        if size > self.offset {
            file.seek(SeekFrom::Start(self.offset)).ok()?;
            let mut bytes = Vec::new();
            file.take(size - self.offset).read_to_end(&mut bytes).ok()?;
            self.take(source, &bytes);
        }
        while self.lines.front().is_some_and(|line| line.begin < begin) {
            self.lines.pop_front();
        }
        Some(self.tell(begin > 0, until))
    }

    /// Takes in what was added; a line is read once it is complete.
    fn take(&mut self, source: &AgentRecordSource, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n').filter(|part| part.ends_with(b"\n")) {
            let begin = self.offset;
            self.offset += part.len() as u64;
            self.known_by = part[part.len().saturating_sub(KNOWN_BY)..].to_vec();
            if std::mem::take(&mut self.skips) {
                continue;
            }
            let Ok(line) = serde_json::from_slice::<Value>(part) else { continue };
            self.latest = source.written_at(&line).map_or(self.latest, |at| at.max(self.latest));
            let said = source.said_by(&line);
            if !said.is_empty() {
                self.lines.push_back(RecordedLine { begin, written: self.latest, said });
            }
        }
    }

    fn tell(&mut self, is_cut: bool, until: Timestamp) -> Arc<[Said]> {
        let count = self.lines.partition_point(|line| line.written <= until);
        let extent = (count, self.lines.front().map_or(0, |line| line.begin), is_cut);
        if let Some(cached) = self.cached.as_ref().filter(|_| self.extent == extent) {
            return Arc::clone(cached);
        }
        let gap = is_cut.then(|| Said::new(GAP, Speaker::Agent));
        let said = self.lines.iter().take(count).flat_map(|line| &line.said).cloned();
        let cached: Arc<[Said]> = gap.into_iter().chain(said).collect();
        (self.cached, self.extent) = (Some(Arc::clone(&cached)), extent);
        cached
    }
}
