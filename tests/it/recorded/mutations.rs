//! Recorded screens with a fault in them: a row lost, a glyph changed, styles gone, columns cut. What a future release
//! or a half-drawn frame may look like must end in `unknown`, never in a wrong claim (SPEC §4).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use crate::scoring::score::in_parallel;
use fleetwatch::profile::Classification;
use fleetwatch::screen::{Color, PaneFacts, Screen, Style};
use fleetwatch::state::{Phase, Tri};

use super::played::{Read, played};

/// Different screens of one recording that are mutated, spread over those that are there; `FLEETWATCH_SCREENS` asks for more.
fn screens() -> usize {
    std::env::var("FLEETWATCH_SCREENS").ok().and_then(|screens| screens.parse().ok()).unwrap_or(2)
}

/// A screen that can be altered: rows of styled stretches.
#[derive(Clone)]
struct Draft {
    columns: u16,
    rows: Vec<Vec<(String, Style)>>,
    facts: PaneFacts,
}

/// An altered screen and how it was altered.
struct Mutant {
    how: &'static str,
    row: Option<usize>,
    draft: Draft,
}

impl Draft {
    fn of(screen: &Screen, facts: &PaneFacts) -> Self {
        let rows = screen.rows().iter().map(|row| row.runs().map(|(text, style)| (text.to_owned(), style)).collect());
        Self { columns: screen.columns(), rows: rows.collect(), facts: facts.clone() }
    }

    fn screen(&self) -> Screen {
        let mut text = String::new();
        for row in &self.rows {
            for (run, style) in row {
                text.push_str(&escape(*style));
                text.push_str(run);
            }
            text.push_str("\u{1b}[0m\n");
        }
        let height = u16::try_from(self.rows.len()).expect("a screen is not that tall");
        Screen::from_capture(text.as_bytes(), self.columns, height)
    }

    fn with(&self, how: &'static str, row: Option<usize>, alter: impl FnOnce(&mut Draft)) -> Mutant {
        let mut draft = self.clone();
        alter(&mut draft);
        Mutant { how, row, draft }
    }

    /// One row altered at a time.
    fn row_mutants(&self) -> Vec<Mutant> {
        let shown = (0..self.rows.len()).filter(|&y| self.rows[y].iter().any(|(text, _)| !text.trim().is_empty()));
        shown
            .flat_map(|y| {
                [
                    self.with("a row lost", Some(y), |draft| {
                        draft.rows.remove(y);
                        draft.rows.push(Vec::new());
                        let cursor = &mut draft.facts.cursor.row;
                        *cursor -= u16::from(usize::from(*cursor) > y);
                    }),
                    self.with("a row blank", Some(y), |draft| draft.rows[y].clear()),
                    self.with("a glyph changed", Some(y), |draft| change_first_glyph(&mut draft.rows[y])),
                    self.with("a row without style", Some(y), |draft| plain(&mut draft.rows[y])),
                ]
            })
            .collect()
    }

    /// The whole screen altered.
    fn whole_mutants(&self) -> Vec<Mutant> {
        let cut = |share: usize| {
            let columns = usize::from(self.columns) * share / 100;
            move |draft: &mut Draft| draft.rows.iter_mut().for_each(|row| cut_row(row, columns))
        };
        let all = |alter: fn(&mut Style)| {
            move |draft: &mut Draft| draft.rows.iter_mut().flatten().for_each(|(_, style)| alter(style))
        };
        vec![
            self.with("no styles", None, all(|style| *style = Style::default())),
            self.with("no colours", None, all(|s| (s.foreground, s.background) = Default::default())),
            self.with("no bold and dim", None, all(|s| (s.bold, s.dim) = (false, false))),
            self.with("cut to nine tenths", None, cut(90)),
            self.with("cut to three quarters", None, cut(75)),
            self.with("cut to a half", None, cut(50)),
            self.with("cut to a quarter", None, cut(25)),
            self.with("a row down", None, |draft| {
                draft.rows.insert(0, Vec::new());
                draft.rows.pop();
                draft.facts.cursor.row += 1;
            }),
            self.with("top half lost", None, |draft| {
                let half = draft.rows.len() / 2;
                draft.rows[..half].iter_mut().for_each(Vec::clear);
            }),
        ]
    }
}

fn change_first_glyph(row: &mut [(String, Style)]) {
    let Some((text, _)) = row.iter_mut().find(|(text, _)| !text.trim().is_empty()) else { return };
    let at = text.len() - text.trim_start().len();
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    text.replace_range(at..end, "¤");
}

fn plain(row: &mut [(String, Style)]) {
    row.iter_mut().for_each(|(_, style)| *style = Style::default());
}

fn cut_row(row: &mut Vec<(String, Style)>, columns: usize) {
    let mut left = columns;
    for (text, _) in row.iter_mut() {
        *text = text.chars().take(left).collect();
        left -= text.chars().count();
    }
    row.retain(|(text, _)| !text.is_empty());
}

fn escape(style: Style) -> String {
    let mut codes = "\u{1b}[0".to_owned();
    let flags = [(style.bold, 1), (style.dim, 2), (style.italic, 3), (style.underline, 4), (style.inverse, 7)];
    flags.iter().filter(|(on, _)| *on).for_each(|(_, code)| write!(codes, ";{code}").expect("a string"));
    for (color, base) in [(style.foreground, 38), (style.background, 48)] {
        match color {
            Color::Default => Ok(()),
            Color::Indexed(index) => write!(codes, ";{base};5;{index}"),
            Color::Rgb(r, g, b) => write!(codes, ";{base};2;{r};{g};{b}"),
        }
        .expect("a string");
    }
    codes + "m"
}

/// What became of mutants: how many were read how, and the ones that must not be.
#[derive(Default)]
struct Outcome {
    counts: BTreeMap<(String, &'static str), usize>,
    wrong: Vec<String>,
}

impl Outcome {
    fn mutants(&self) -> usize {
        self.counts.values().sum()
    }
}

/// Mutates screens of every recording for which `wanted` says yes, and has each mutant judged.
fn mutate(
    wanted: impl Fn(&Classification) -> bool + Sync,
    mutants: impl Fn(&Draft) -> Vec<Mutant> + Sync,
    judge: impl Fn(&Classification, &Mutant, &Classification) -> Option<String> + Sync,
) -> Outcome {
    let outcomes = in_parallel(played(), |played| {
        let mut outcome = Outcome::default();
        let Some(Read { profile, .. }) = &played.read else { return outcome };
        let (name, tool) = (played.name, profile.tool());
        let frames: Vec<_> = played.distinct().filter(|(_, reading)| wanted(reading)).collect();
        for (frame, reading) in frames.iter().step_by(frames.len().div_ceil(screens()).max(1)) {
            for mutant in mutants(&Draft::of(&frame.screen, &frame.facts)) {
                let read = profile.read(&mutant.draft.screen(), &mutant.draft.facts);
                let kind = if read.in_dialog { "dialog" } else { read.phase.word() };
                *outcome.counts.entry((tool.to_owned(), kind)).or_default() += 1;
                if let Some(what) = judge(reading, &mutant, &read) {
                    let rules: Vec<_> = read.evidence.iter().map(|e| e.rule.as_str()).collect();
                    let row = mutant.row.map_or(String::new(), |y| format!(" (row {y})"));
                    let at = frame.at.as_secs();
                    outcome.wrong.push(format!("{name} at {at} s, {}{row}: {what}, by {rules:?}", mutant.how));
                }
            }
        }
        outcome
    });
    outcomes.into_iter().fold(Outcome::default(), |mut sum, one| {
        one.counts.into_iter().for_each(|(key, n)| *sum.counts.entry(key).or_default() += n);
        sum.wrong.extend(one.wrong);
        sum
    })
}

fn report(what: &str, outcome: &Outcome) {
    // Not `println`, which a test that passes keeps to itself.
    let mut text = format!("{what}\n");
    for ((tool, kind), count) in &outcome.counts {
        writeln!(text, "  {tool:<10} {kind:<8} {count:>6}").expect("a string");
    }
    std::io::stderr().write_all(text.as_bytes()).expect("standard error can be written");
}

fn is_ready(reading: &Classification) -> bool {
    reading.phase == Phase::Ready || reading.surface.ready_posture == Tri::Yes
}

/// A dialog with a fault in it is a dialog still, or unknown.
#[test]
fn no_faulty_dialog_is_ready() {
    let all = |draft: &Draft| draft.row_mutants().into_iter().chain(draft.whole_mutants()).collect();
    let outcome = mutate(|reading| reading.in_dialog, all, |_, _, read| is_ready(read).then(|| "ready".to_owned()));
    report("dialogs with a fault are read as", &outcome);
    assert!(outcome.mutants() > 5_000, "{} dialogs were judged", outcome.mutants());
    assert!(outcome.wrong.is_empty(), "{} are ready:\n{}", outcome.wrong.len(), outcome.wrong.join("\n"));
}

/// A working screen with a faulty row is ready only where the agent shows its work in that one row. A cue in another
/// row, or in the title, keeps it from being ready.
#[test]
fn faulty_work_is_ready_only_where_one_row_shows_it() {
    let shows_work = |reading: &Classification| reading.phase == Phase::Active;
    let outcome = mutate(shows_work, Draft::row_mutants, |reading, mutant, read| {
        let still = |rule: &str| read.evidence.iter().any(|e| e.rule == rule);
        let elsewhere = |rule: &str| rule != "composer" && !still(rule);
        let hidden = reading.evidence.iter().find(|e| e.line != mutant.row && elsewhere(&e.rule))?;
        is_ready(read).then(|| format!("ready, and {} in another row is not seen", hidden.rule))
    });
    report("working screens with a faulty row are read as", &outcome);
    assert!(outcome.mutants() > 25_000, "{} working screens were judged", outcome.mutants());
    assert!(outcome.wrong.is_empty(), "{} are ready:\n{}", outcome.wrong.len(), outcome.wrong.join("\n"));
}

/// What stands above a dialog scrolls out of a pane that is less tall.
#[test]
fn a_dialog_is_one_in_every_pane_that_holds_it() {
    let mutants = |draft: &Draft| -> Vec<Mutant> {
        let less_tall = |rows: usize| {
            draft.with("less tall", Some(rows), |draft| {
                draft.rows.drain(..rows);
                draft.facts.cursor.row = draft.facts.cursor.row.saturating_sub(rows as u16);
            })
        };
        (1..draft.rows.len()).map(less_tall).collect()
    };
    let top = |reading: &Classification| reading.dialog.as_ref().map(|dialog| dialog.rows.start);
    let wanted = |reading: &Classification| reading.in_dialog && top(reading).is_some_and(|top| top > 0);
    let outcome = mutate(wanted, mutants, |before, mutant, read| {
        let holds_it = mutant.row <= top(before);
        (holds_it && !read.in_dialog).then(|| format!("no dialog, but {}", read.phase.word()))
    });
    report("dialogs in panes that are less tall are read as", &outcome);
    assert!(outcome.mutants() > 4_000, "{} dialogs were judged", outcome.mutants());
    assert!(outcome.wrong.is_empty(), "{} are none:\n{}", outcome.wrong.len(), outcome.wrong.join("\n"));
}
