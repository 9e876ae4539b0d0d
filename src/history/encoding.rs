//! How screens and documents are stored as bytes: versioned, compact, and read back without trust.
//!
//! A screen is its text, a table of the styles in use, and for each row the lengths of its stretches, in postcard's wire
//! format. Styles repeat and text compresses well once the two are apart. Every stored blob begins with a byte that says
//! how it was packed, so that a better way can be added without touching what is stored.

use serde::{Deserialize, Serialize};
use zstd::bulk::{Compressor, Decompressor};

use super::Trouble;
use crate::hash::fnv;
use crate::screen::{Color, Row, RowBuilder, Screen, Style};

/// The first byte of an encoded screen.
const SCREEN_VERSION: u8 = 1;
/// What a blob may grow to when it is unpacked: far more than a screen of 1000 × 1000 cells in a hundred colours.
const MOST_UNPACKED: usize = 32 << 20;
/// The zstd level; higher ones cost several times as much and gain some per cent on texts this short.
const LEVEL: i32 = 5;
/// Typical documents, so that a document only pays for where it differs (SPEC §2 fixes the keys).
const STATE_SAMPLE: &[u8] = include_bytes!("samples/documents.jsonl");

/// How a blob was packed: its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain = 0,
    Zstd = 1,
    /// zstd with [`STATE_SAMPLE`] as its dictionary.
    ZstdState = 2,
}

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
    pub(super) fn pack(&mut self, document: &impl Serialize) -> Result<Vec<u8>, Trouble> {
        let text = serde_json::to_string(document).map_err(|error| Trouble::Other(error.to_string()))?;
        Ok(pack(Packing::ZstdState, &mut self.state.0, text.as_bytes()))
    }

    /// The JSON of a document's blob.
    pub(super) fn unpack_document(&mut self, blob: &[u8]) -> Result<String, Trouble> {
        self.unpack(blob).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(Trouble::Damaged)
    }

    /// An encoded screen as a blob.
    pub(super) fn pack_screen(&mut self, encoded: &[u8]) -> Vec<u8> {
        pack(Packing::Zstd, &mut self.plain.0, encoded)
    }

    /// The screen of a blob.
    pub(super) fn unpack_screen(&mut self, blob: &[u8]) -> Result<Screen, Trouble> {
        self.unpack(blob).as_deref().and_then(decode_screen).ok_or(Trouble::Damaged)
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

fn pack(packing: Packing, compressor: &mut Compressor<'static>, bytes: &[u8]) -> Vec<u8> {
    let (packing, body) = match compressor.compress(bytes) {
        Ok(packed) if packed.len() < bytes.len() => (packing, packed),
        _ => (Packing::Plain, bytes.to_vec()),
    };
    let mut blob = Vec::with_capacity(body.len() + 1);
    blob.push(packing as u8);
    blob.extend(body);
    blob
}

/// A stable hash of an encoded screen, as SQLite's signed integer. It only finds candidates: what is stored
/// under it is compared before it is shared, since a pane can choose its screen.
pub(super) fn hash(encoded: &[u8]) -> i64 {
    fnv(encoded).cast_signed()
}

/// All of an encoded screen but its text, which follows.
#[derive(Serialize, Deserialize)]
struct ScreenLayout {
    version: u8,
    columns: u16,
    rows: usize,
    styles: Vec<PackedStyle>,
    /// The [`RowRuns`] of each row.
    runs: Vec<u8>,
}

/// The stretches of one style in a row: the index of the style and the bytes of text.
type RowRuns = Vec<(usize, usize)>;

/// Bold, dim, italic, underline and inverse, lowest bit first, the foreground and the background.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct PackedStyle(u8, Color, Color);

impl From<Style> for PackedStyle {
    fn from(style: Style) -> Self {
        let flags = [style.inverse, style.underline, style.italic, style.dim, style.bold];
        let flags = flags.into_iter().fold(0, |bits, is_on| bits << 1 | u8::from(is_on));
        Self(flags, style.foreground, style.background)
    }
}

impl From<PackedStyle> for Style {
    fn from(PackedStyle(flags, foreground, background): PackedStyle) -> Self {
        let [bold, dim, italic, underline, inverse] = [0, 1, 2, 3, 4].map(|bit| flags >> bit & 1 == 1);
        Self { foreground, background, bold, dim, italic, underline, inverse }
    }
}

/// Lays a screen down as bytes.
pub(super) fn encode_screen(screen: &Screen) -> Result<Vec<u8>, Trouble> {
    let refused = |error: postcard::Error| Trouble::Other(error.to_string());
    let mut styles: Vec<PackedStyle> = Vec::new();
    let (mut runs, mut text) = (Vec::new(), String::new());
    for row in screen.rows() {
        let mut row_runs = RowRuns::new();
        for (stretch, style) in row.captured_runs() {
            let style = PackedStyle::from(style);
            let index = styles.iter().position(|known| *known == style).unwrap_or(styles.len());
            if index == styles.len() {
                styles.push(style);
            }
            row_runs.push((index, stretch.len()));
            text.push_str(&stretch);
        }
        runs = postcard::to_extend(&row_runs, runs).map_err(refused)?;
    }
    let (columns, rows) = (screen.columns(), screen.rows().len());
    let layout = ScreenLayout { version: SCREEN_VERSION, columns, rows, styles, runs };
    let mut bytes = postcard::to_allocvec(&layout).map_err(refused)?;
    bytes.extend(text.as_bytes());
    Ok(bytes)
}

/// Reads a screen; `None` for bytes that [`encode_screen`] never writes. Characters that must not reach a terminal are
/// taken out as from a capture, whoever wrote the file.
pub(super) fn decode_screen(bytes: &[u8]) -> Option<Screen> {
    let (layout, text): (ScreenLayout, _) = postcard::take_from_bytes(bytes).ok()?;
    let (mut runs, mut text) = (layout.runs.as_slice(), std::str::from_utf8(text).ok()?);
    let mut row = || {
        let mut row = RowBuilder::default();
        let (of_row, rest): (RowRuns, _) = postcard::take_from_bytes(runs).ok()?;
        for (style, length) in of_row {
            let style = Style::from(*layout.styles.get(style)?);
            let (stretch, rest) = text.split_at_checked(length)?;
            stretch.chars().for_each(|c| row.push(c, style));
            text = rest;
        }
        runs = rest;
        Some(row.finish())
    };
    let rows = (0..layout.rows).map(|_| row()).collect::<Option<Vec<Row>>>()?;
    let is_whole = layout.version == SCREEN_VERSION && text.is_empty() && runs.is_empty();
    is_whole.then(|| Screen::new(layout.columns, rows))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any capture at all, rich in sequences that set styles.
    fn captures() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[ a-zäß漢🙂\u{301}\u{202E}\u{200B}]{0,12}".prop_map(String::into_bytes),
            (0..110u8).prop_map(|n| format!("\x1b[{n}m").into_bytes()),
            (0..=255u8).prop_map(|n| format!("\x1b[38;5;{n}m").into_bytes()),
            (0..=255u8, 0..=255u8).prop_map(|(r, b)| format!("\x1b[48;2;{r};7;{b}m").into_bytes()),
            Just(b"\n".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn every_screen_comes_back_as_it_was(capture in captures(), columns in 0u16..200, rows in 0u16..60) {
            let screen = Screen::from_capture(&capture, columns, rows);
            let encoded = encode_screen(&screen).unwrap();
            prop_assert_eq!(decode_screen(&encoded), Some(screen.clone()));
            let mut codec = Codec::new().unwrap();
            let blob = codec.pack_screen(&encoded);
            prop_assert_eq!(codec.unpack_screen(&blob), Ok(screen));
        }

        #[test]
        fn bytes_that_are_cut_are_refused_and_garbled_ones_are_so_or_make_a_harmless_screen(
            capture in captures(), at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<prop::sample::Index>(),
        ) {
            let mut encoded = encode_screen(&Screen::from_capture(&capture, 80, 24)).unwrap();
            prop_assert_eq!(decode_screen(&encoded[..cut.index(encoded.len())]), None);
            let at = at.index(encoded.len());
            encoded[at] = with;
            if let Some(screen) = decode_screen(&encoded) {
                prop_assert!(screen.rows().iter().all(|row| row.text().chars().all(crate::screen::is_harmless)));
            }
        }

        #[test]
        fn noise_is_no_screen_that_acts_on_the_terminal(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut codec = Codec::new().unwrap();
            let _ = codec.unpack_document(&noise);
            if let Ok(screen) = codec.unpack_screen(&noise) {
                prop_assert!(screen.rows().iter().all(|row| row.text().chars().all(crate::screen::is_harmless)));
            }
        }

        #[test]
        fn every_document_comes_back_as_it_was(text in "\\PC{0,300}") {
            let mut codec = Codec::new().unwrap();
            let blob = codec.pack(&text).unwrap();
            let json = codec.unpack_document(&blob).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    /// What is stored must be readable for ever: these bytes were written by the first version.
    #[test]
    fn the_first_layout_stays_readable() {
        let bytes = [1, 3, 2, 2, 1, 1, 4, 0, 0, 0, 2, 1, 2, 3, 6, 2, 0, 2, 1, 1, 0, b'a', b'b', b'c'];
        let screen = Screen::from_capture(b"\x1b[1;34mab\x1b[0;48;2;1;2;3mc\n\x1b[0m", 3, 2);
        assert_eq!(decode_screen(&bytes), Some(screen.clone()));
        assert_eq!(encode_screen(&screen).unwrap(), bytes);
    }
}
