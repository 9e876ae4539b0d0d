//! How screens are kept: as they were captured, or packed while nobody looks at them. The history stores the same bytes.
//!
//! A packed screen is its text, a table of the styles in use, and for each row the lengths of its stretches, in postcard's
//! wire format. Styles repeat and text compresses well once the two are apart. A byte before it says how it was packed, so
//! that a better way can be added without touching what is stored.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::{Color, Row, RowBuilder, Screen, Style};

/// The first byte of an encoded screen.
const SCREEN_VERSION: u8 = 1;
/// The largest size of an unpacked blob: far more than a screen of 1000 × 1000 cells in a hundred colours.
pub(crate) const MOST_UNPACKED: usize = 32 << 20;
/// zstd's level for a screen in memory: a full one of 160×45 takes 7 kB as it was captured, and 1 kB packed.
const LEVEL: i32 = 1;

/// How a blob was packed: its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain = 0,
    Zstd = 1,
    /// zstd with the history's dictionary of documents.
    ZstdState = 2,
}

/// A blob of what compressed to a body, or of the bytes themselves if that is no less.
pub(crate) fn blob(packing: Packing, compressed: std::io::Result<Vec<u8>>, bytes: &[u8]) -> Vec<u8> {
    let (packing, body) = match &compressed {
        Ok(packed) if packed.len() < bytes.len() => (packing, packed.as_slice()),
        _ => (Packing::Plain, bytes),
    };
    let mut blob = Vec::with_capacity(body.len() + 1);
    blob.push(packing as u8);
    blob.extend(body);
    blob
}

/// A screen that is kept. All clones are one: packing one packs them all.
#[derive(Clone, Debug)]
pub struct KeptScreen(Arc<Mutex<ScreenForm>>);

#[derive(Debug)]
enum ScreenForm {
    Whole(Arc<Screen>),
    Packed(Box<[u8]>),
}

impl From<Arc<Screen>> for KeptScreen {
    fn from(screen: Arc<Screen>) -> Self {
        Self(Arc::new(Mutex::new(ScreenForm::Whole(screen))))
    }
}

impl KeptScreen {
    /// A screen of a blob: as [`KeptScreen::pack`] or the history packs it.
    pub fn packed(blob: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(ScreenForm::Packed(blob.into()))))
    }

    fn form(&self) -> MutexGuard<'_, ScreenForm> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The screen; `None` if the blob that it was made of is no screen's.
    pub fn whole(&self) -> Option<Arc<Screen>> {
        match &*self.form() {
            ScreenForm::Whole(screen) => Some(Arc::clone(screen)),
            ScreenForm::Packed(blob) => unpack(blob).map(Arc::new),
        }
    }

    /// Packs it, where it is not packed yet.
    pub fn pack(&self) {
        let mut form = self.form();
        let ScreenForm::Whole(screen) = &*form else { return };
        if let Ok(bytes) = encode(screen) {
            *form = ScreenForm::Packed(blob(Packing::Zstd, zstd::bulk::compress(&bytes, LEVEL), &bytes).into());
        }
    }

    /// Whether it takes the room of a whole screen.
    pub fn is_whole(&self) -> bool {
        matches!(*self.form(), ScreenForm::Whole(_))
    }

    /// Whether both are one and the same, not only alike.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn unpack(blob: &[u8]) -> Option<Screen> {
    let (packing, rest) = blob.split_first()?;
    match *packing {
        p if p == Packing::Plain as u8 => decode(rest),
        p if p == Packing::Zstd as u8 => decode(&zstd::bulk::decompress(rest, MOST_UNPACKED).ok()?),
        _ => None,
    }
}

/// As base64 of the blob: in JSON, the cells of a thousand screens take tenths of a second to write and to read.
impl Serialize for KeptScreen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = self.form();
        let encoded = match &*form {
            ScreenForm::Packed(blob) => BASE64_STANDARD.encode(blob),
            ScreenForm::Whole(screen) => {
                let bytes = encode(screen).map_err(ser::Error::custom)?;
                BASE64_STANDARD.encode([&[Packing::Plain as u8], &*bytes].concat())
            }
        };
        drop(form);
        serializer.serialize_str(&encoded)
    }
}

impl<'de> Deserialize<'de> for KeptScreen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let encoded = String::deserialize(deserializer)?;
        BASE64_STANDARD.decode(encoded).map(Self::packed).map_err(de::Error::custom)
    }
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
///
/// # Errors
/// It has more rows or stretches than postcard can count.
pub(crate) fn encode(screen: &Screen) -> Result<Vec<u8>, postcard::Error> {
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
        runs = postcard::to_extend(&row_runs, runs)?;
    }
    let (columns, rows) = (screen.columns(), screen.rows().len());
    let layout = ScreenLayout { version: SCREEN_VERSION, columns, rows, styles, runs };
    let mut bytes = postcard::to_allocvec(&layout)?;
    bytes.extend(text.as_bytes());
    Ok(bytes)
}

/// Reads a screen; `None` for bytes that [`encode`] never writes. Characters that must not reach a terminal are
/// taken out as from a capture, whoever wrote the file.
pub(crate) fn decode(bytes: &[u8]) -> Option<Screen> {
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
            let encoded = encode(&screen).unwrap();
            prop_assert_eq!(decode(&encoded), Some(screen.clone()));
            let kept = KeptScreen::from(Arc::new(screen.clone()));
            kept.pack();
            prop_assert!(!kept.is_whole());
            prop_assert_eq!(kept.whole(), Some(Arc::new(screen)));
        }

        #[test]
        fn bytes_that_are_cut_are_refused_and_garbled_ones_are_so_or_make_a_harmless_screen(
            capture in captures(), at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<prop::sample::Index>(),
        ) {
            let mut encoded = encode(&Screen::from_capture(&capture, 80, 24)).unwrap();
            prop_assert_eq!(decode(&encoded[..cut.index(encoded.len())]), None);
            let at = at.index(encoded.len());
            encoded[at] = with;
            if let Some(screen) = decode(&encoded) {
                prop_assert!(screen.rows().iter().all(|row| row.text().chars().all(crate::screen::is_harmless)));
            }
        }

        #[test]
        fn noise_is_no_screen_that_acts_on_the_terminal(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(screen) = KeptScreen::packed(noise).whole() {
                prop_assert!(screen.rows().iter().all(|row| row.text().chars().all(crate::screen::is_harmless)));
            }
        }
    }

    /// What is stored must be readable for ever: these bytes were written by the first version.
    #[test]
    fn the_first_layout_stays_readable() {
        let bytes = [1, 3, 2, 2, 1, 1, 4, 0, 0, 0, 2, 1, 2, 3, 6, 2, 0, 2, 1, 1, 0, b'a', b'b', b'c'];
        let screen = Screen::from_capture(b"\x1b[1;34mab\x1b[0;48;2;1;2;3mc\n\x1b[0m", 3, 2);
        assert_eq!(decode(&bytes), Some(screen.clone()));
        assert_eq!(encode(&screen).unwrap(), bytes);
    }
}
