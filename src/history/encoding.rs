//! How screens and documents are stored as bytes: versioned, compact, and read back without trust. A screen is stored as
//! [`kept`](crate::screen::kept) lays it down. Every stored blob begins with a byte that says how it was packed.

use serde::Serialize;
use zstd::bulk::{Compressor, Decompressor};

use crate::hash::fnv;
use crate::record::HistoryError;
use crate::screen::Screen;
use crate::screen::kept::{self, MOST_UNPACKED, Packing, blob};

/// The zstd level; higher ones cost several times as much and gain some per cent on texts this short.
const LEVEL: i32 = 5;
/// Typical documents, so that a document only pays for where it differs (SPEC §2 fixes the keys).
const STATE_SAMPLE: &[u8] = include_bytes!("samples/documents.jsonl");

/// Packs and unpacks blobs. It keeps zstd's tables between calls, which are dear to set up.
pub(super) struct Codec {
    plain: (Compressor<'static>, Decompressor<'static>),
    state: (Compressor<'static>, Decompressor<'static>),
}

impl Codec {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            plain: (Compressor::new(LEVEL)?, Decompressor::new()?),
            state: (Compressor::with_dictionary(LEVEL, STATE_SAMPLE)?, Decompressor::with_dictionary(STATE_SAMPLE)?),
        })
    }

    /// A document as a blob of JSON.
    pub(super) fn pack(&mut self, document: &impl Serialize) -> Result<Vec<u8>, HistoryError> {
        let text = serde_json::to_string(document).map_err(|error| HistoryError::Other(error.to_string()))?;
        Ok(blob(Packing::ZstdState, self.state.0.compress(text.as_bytes()), text.as_bytes()))
    }

    /// The JSON of a document's blob.
    pub(super) fn unpack_document(&mut self, blob: &[u8]) -> Result<String, HistoryError> {
        self.unpack(blob).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(HistoryError::Damaged)
    }

    /// An encoded screen as a blob.
    pub(super) fn pack_screen(&mut self, encoded: &[u8]) -> Vec<u8> {
        blob(Packing::Zstd, self.plain.0.compress(encoded), encoded)
    }

    /// The screen of a blob.
    pub(super) fn unpack_screen(&mut self, blob: &[u8]) -> Result<Screen, HistoryError> {
        self.unpack(blob).as_deref().and_then(kept::decode).ok_or(HistoryError::Damaged)
    }

    fn unpack(&mut self, blob: &[u8]) -> Option<Vec<u8>> {
        let (packing, rest) = blob.split_first()?;
        match *packing {
            p if p == Packing::Plain as u8 => Some(rest.to_vec()),
            p if p == Packing::Zstd as u8 => self.plain.1.decompress(rest, MOST_UNPACKED).ok(),
            p if p == Packing::ZstdState as u8 => self.state.1.decompress(rest, MOST_UNPACKED).ok(),
            _ => None,
        }
    }
}

/// A stable hash of an encoded screen, as SQLite's signed integer. It only finds candidates: what is stored
/// under it is compared before it is shared, since a pane can choose its screen.
pub(super) fn hash(encoded: &[u8]) -> i64 {
    fnv(encoded).cast_signed()
}

/// Lays a screen down as bytes.
pub(super) fn encode_screen(screen: &Screen) -> Result<Vec<u8>, HistoryError> {
    kept::encode(screen).map_err(|error| HistoryError::Other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn noise_is_no_document(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut codec = Codec::new().unwrap();
            let read = codec.unpack_document(&noise);
            prop_assert!(read.is_err() || matches!(noise[0], 0..=2));
        }

        #[test]
        fn every_document_comes_back_as_it_was(text in "\\PC{0,300}") {
            let mut codec = Codec::new().unwrap();
            let blob = codec.pack(&text).unwrap();
            let json = codec.unpack_document(&blob).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
