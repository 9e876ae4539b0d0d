//! Screens of versions that nobody has seen yet: every recorded dialog with one row gone, its glyphs changed, its
//! styles gone, its title gone, or cut narrower. Such a screen may be read as unknown, never as ready (SPEC §4).

use std::collections::BTreeMap;
use std::path::Path;

use fleetwatch::profile::Library;
use fleetwatch::recording::truth::{Field, Truth};
use fleetwatch::recording::{Archive, Frame, Player};
use fleetwatch::screen::{Color, PaneFacts, Row, Screen, Style};
use fleetwatch::state::Phase;

#[test]
fn no_changed_dialog_reads_as_ready() {
    let archive = Archive::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst"))
        .expect("the archive can be read");
    let library = Library::builtin();
    let (mut read, mut wrong) = (0, Vec::new());
    // A few dialogs of each kind and version say what the rest would say again.
    let mut seen: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for name in archive.names() {
        let recording = archive.recording(name).expect("a recording can be read");
        let header = &recording.header;
        let Some(selected) =
            header.tool.as_deref().and_then(|tool| library.select(tool, header.version.as_deref(), false))
        else {
            continue;
        };
        let frames: Vec<Frame> = Player::new(&recording).collect();
        let truth = Truth::of(&recording, name).expect("its truth can be read");
        let labels = truth.labels(Field::Blocked);
        for (index, label) in labels.iter().enumerate() {
            let dialog = matches!(label.value, Some("approval" | "trust" | "question" | "setup"));
            let until = labels.get(index + 1).map_or(recording.duration(), |next| next.from);
            let Some(frame) = frames.iter().rev().find(|frame| dialog && frame.at < until) else { continue };
            let version = name.split('/').next().unwrap_or(name).to_owned();
            let count = seen.entry((version, label.value.unwrap_or_default())).or_default();
            *count += 1;
            if *count > 3 {
                continue;
            }
            for (change, screen, facts) in changes(&frame.screen, &frame.facts) {
                read += 1;
                if selected.profile.read(&screen, &facts).phase == Phase::Ready {
                    wrong.push(format!("{name} at {:?}: {change}", frame.at));
                }
            }
        }
    }
    assert!(read > 2000, "only {read} changed dialogs were read");
    assert!(wrong.is_empty(), "{} of {read} changed dialogs read as ready:\n{}", wrong.len(), wrong.join("\n"));
}

/// The screen as it was, and changed in each way.
fn changes(screen: &Screen, facts: &PaneFacts) -> Vec<(String, Screen, PaneFacts)> {
    let columns = screen.columns();
    let rows = screen.rows();
    let with = |change: String, rows: Vec<Row>| (change, Screen::new(columns, rows), facts.clone());
    let mut changed = vec![with("as it was".to_owned(), rows.to_vec())];
    for (y, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_blank()) {
        let mut without = rows.to_vec();
        without.remove(y);
        changed.push(with(format!("row {y} gone"), without));
        let mut blanked = rows.to_vec();
        blanked[y] = Row::default();
        changed.push(with(format!("row {y} blank"), blanked));
        let mut glyphs = rows.to_vec();
        glyphs[y] = redraw(row, columns, other_glyph, |style| style);
        changed.push(with(format!("glyphs of row {y} changed"), glyphs));
        let mut plain = rows.to_vec();
        plain[y] = redraw(row, columns, |c| c, |_| Style::default());
        changed.push(with(format!("row {y} without style"), plain));
    }
    let all = |glyph: fn(char) -> char, style: fn(Style) -> Style, columns: u16| -> Vec<Row> {
        rows.iter().map(|row| redraw(row, columns, glyph, style)).collect()
    };
    changed.push(with("all glyphs changed".to_owned(), all(other_glyph, |style| style, columns)));
    changed.push(with("no styles".to_owned(), all(|c| c, |_| Style::default(), columns)));
    let recolored = |style: Style| Style { foreground: Color::Indexed(13), ..style };
    changed.push(with("one colour".to_owned(), all(|c| c, recolored, columns)));
    for narrow in [columns * 3 / 4, columns / 2] {
        let rows = all(|c| c, |style| style, narrow);
        changed.push((format!("cut to {narrow} columns"), Screen::new(narrow, rows), facts.clone()));
    }
    let untitled = PaneFacts { title: String::new(), ..facts.clone() };
    changed.push(("no title".to_owned(), screen.clone(), untitled));
    changed
}

/// Another glyph for everything that is no word, number, blank or common mark.
fn other_glyph(c: char) -> char {
    if c.is_ascii() || c.is_alphanumeric() || c.is_whitespace() { c } else { '◈' }
}

/// A row drawn again through the reader of captures, as far as the columns go.
fn redraw(row: &Row, columns: u16, glyph: impl Fn(char) -> char, style: impl Fn(Style) -> Style) -> Row {
    let mut kept = String::new();
    let mut left = usize::from(columns);
    for (text, old) in row.runs() {
        kept.push_str(&sgr(style(old)));
        let part: String = text.chars().map(&glyph).take(left).collect();
        left -= part.chars().count();
        kept.push_str(&part);
    }
    Screen::from_capture(kept.as_bytes(), columns, 1).row(0).cloned().unwrap_or_default()
}

fn sgr(style: Style) -> String {
    let color = |base: u8, color: Color| match color {
        Color::Default => String::new(),
        Color::Indexed(index) => format!(";{base};5;{index}"),
        Color::Rgb(r, g, b) => format!(";{base};2;{r};{g};{b}"),
    };
    let flags =
        [(style.bold, ";1"), (style.dim, ";2"), (style.italic, ";3"), (style.underline, ";4"), (style.inverse, ";7")];
    let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, code)| *code).collect();
    format!("\u{1b}[0{flags}{}{}m", color(38, style.foreground), color(48, style.background))
}
