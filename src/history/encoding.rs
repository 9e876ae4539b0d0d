//! How screens and documents are laid down as bytes: versioned, compact, and read back without trust.
//!
//! A screen is its text, a table of the styles in use, and for each row the lengths of its stretches. Styles repeat and
//! text compresses well once the two are apart. Every stored blob begins with a byte that says how it was packed, so
//! that a better way can be added without touching what is stored.

use zstd::bulk::{Compressor, Decompressor};

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

/// Stored bytes that are not what was once written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored {0} cannot be read")]
pub struct Garbled(pub &'static str);

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
    /// # Errors
    /// There is no memory for zstd's tables.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            plain: (Compressor::new(LEVEL)?, Decompressor::new()?),
            state: (Compressor::with_dictionary(LEVEL, STATE_SAMPLE)?, Decompressor::with_dictionary(STATE_SAMPLE)?),
        })
    }

    /// A document (JSON of a public state and what belongs to it) as a blob.
    pub(super) fn pack_document(&mut self, text: &str) -> Vec<u8> {
        pack(Packing::ZstdState, &mut self.state.0, text.as_bytes())
    }

    /// The document of a blob.
    pub(super) fn unpack_document(&mut self, blob: &[u8]) -> Result<String, Garbled> {
        let bytes = self.unpack(blob).ok_or(Garbled("document"))?;
        String::from_utf8(bytes).map_err(|_| Garbled("document"))
    }

    /// An encoded screen as a blob.
    pub(super) fn pack_screen(&mut self, encoded: &[u8]) -> Vec<u8> {
        pack(Packing::Zstd, &mut self.plain.0, encoded)
    }

    /// The screen of a blob.
    pub(super) fn unpack_screen(&mut self, blob: &[u8]) -> Result<Screen, Garbled> {
        self.unpack(blob).as_deref().and_then(decode_screen).ok_or(Garbled("screen"))
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

/// Lays a screen down as bytes.
pub(super) fn encode_screen(screen: &Screen) -> Vec<u8> {
    let mut styles: Vec<Style> = Vec::new();
    let mut runs = Vec::new();
    let mut text = String::new();
    for row in screen.rows() {
        let mut count = 0;
        let mut row_runs = Vec::new();
        for (stretch, style) in row.runs() {
            let index = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            put(&mut row_runs, index);
            put(&mut row_runs, stretch.len());
            text.push_str(stretch);
            count += 1;
        }
        put(&mut runs, count);
        runs.extend(row_runs);
    }
    let mut bytes = vec![SCREEN_VERSION];
    put(&mut bytes, usize::from(screen.columns()));
    put(&mut bytes, screen.rows().len());
    put(&mut bytes, styles.len());
    for style in &styles {
        put_style(&mut bytes, *style);
    }
    put(&mut bytes, runs.len());
    bytes.extend(runs);
    bytes.extend(text.as_bytes());
    bytes
}

/// Reads a screen; `None` for bytes that [`encode_screen`] never writes. Characters that must not reach a terminal are
/// dropped as from a capture, whoever wrote the file.
pub(super) fn decode_screen(bytes: &[u8]) -> Option<Screen> {
    let mut from = Bytes(bytes);
    if from.byte()? != SCREEN_VERSION {
        return None;
    }
    let columns = u16::try_from(from.number()?).ok()?;
    let rows = from.number()?;
    let styles: Vec<Style> = (0..from.number()?).map(|_| from.style()).collect::<Option<_>>()?;
    let length = from.number()?;
    let mut runs = Bytes(from.take(length)?);
    let mut text = std::str::from_utf8(from.0).ok()?;
    let rows = (0..rows).map(|_| row(&mut runs, &mut text, &styles)).collect::<Option<Vec<Row>>>()?;
    (text.is_empty() && runs.0.is_empty()).then(|| Screen::new(columns, rows))
}

fn row(runs: &mut Bytes<'_>, text: &mut &str, styles: &[Style]) -> Option<Row> {
    let mut row = RowBuilder::default();
    for _ in 0..runs.number()? {
        let style = *styles.get(runs.number()?)?;
        let (stretch, rest) = text.split_at_checked(runs.number()?)?;
        stretch.chars().for_each(|c| row.push(c, style));
        *text = rest;
    }
    Some(row.finish())
}

/// Appends a number, seven bits a byte, lowest first.
fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn put_style(bytes: &mut Vec<u8>, style: Style) {
    let flags = [style.bold, style.dim, style.italic, style.underline, style.inverse];
    bytes.push(flags.iter().enumerate().map(|(bit, on)| u8::from(*on) << bit).sum());
    for color in [style.foreground, style.background] {
        match color {
            Color::Default => bytes.push(0),
            Color::Indexed(index) => bytes.extend([1, index]),
            Color::Rgb(r, g, b) => bytes.extend([2, r, g, b]),
        }
    }
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).and_then(|bytes| bytes.first().copied())
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn style(&mut self) -> Option<Style> {
        let flags = self.byte()?;
        let on = |bit: u8| flags & (1 << bit) != 0;
        Some(Style {
            bold: on(0),
            dim: on(1),
            italic: on(2),
            underline: on(3),
            inverse: on(4),
            foreground: self.color()?,
            background: self.color()?,
        })
    }

    fn color(&mut self) -> Option<Color> {
        Some(match self.byte()? {
            0 => Color::Default,
            1 => Color::Indexed(self.byte()?),
            2 => Color::Rgb(self.byte()?, self.byte()?, self.byte()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any capture at all, rich in sequences that set styles.
    fn captures() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[ a-zäß漢🙂\u{301}]{0,12}".prop_map(String::into_bytes),
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
            let encoded = encode_screen(&screen);
            prop_assert_eq!(decode_screen(&encoded), Some(screen.clone()));
            let mut codec = Codec::new().unwrap();
            let blob = codec.pack_screen(&encoded);
            prop_assert_eq!(codec.unpack_screen(&blob), Ok(screen));
        }

        #[test]
        fn bytes_that_are_cut_are_refused_and_garbled_ones_are_so_or_make_a_harmless_screen(
            capture in captures(), at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<prop::sample::Index>(),
        ) {
            let mut encoded = encode_screen(&Screen::from_capture(&capture, 80, 24));
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
            let blob = codec.pack_document(&text);
            prop_assert_eq!(codec.unpack_document(&blob), Ok(text));
        }
    }

    /// What is stored must be readable for ever: these bytes were written by the first version.
    #[test]
    fn the_first_layout_stays_readable() {
        let bytes = [1, 3, 2, 2, 1, 1, 4, 0, 0, 0, 2, 1, 2, 3, 6, 2, 0, 2, 1, 1, 0, b'a', b'b', b'c'];
        let screen = Screen::from_capture(b"\x1b[1;34mab\x1b[0;48;2;1;2;3mc\n\x1b[0m", 3, 2);
        assert_eq!(decode_screen(&bytes), Some(screen.clone()));
        assert_eq!(encode_screen(&screen), bytes);
    }

    #[test]
    fn a_number_may_not_run_on() {
        assert_eq!(Bytes(&[0xff; 9]).number(), None);
        assert_eq!(Bytes(&[0x80]).number(), None);
        assert_eq!(Bytes(&[0xac, 0x02]).number(), Some(300));
    }
}
