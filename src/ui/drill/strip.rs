//! The time line: who had the turn when, as a strip of cells, and how long each in all.

use ratatui::prelude::{Buffer, Line, Modifier, Rect, Style};

use super::state::Drill;
use crate::record::timeline::{BEAT, Holder, TimelineSpan, timeline, totals};
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::ui::{Canvas, blank, line, span, text, times};

/// Who has the turn, and what is wrong then.
type StripHolder = (Holder, Option<Status>);

/// A strip shorter than this shows its times to the second.
const MINUTES: Span = Span::from_secs(600);

impl Drill {
    /// When nobody watched, by time; nothing is claimed of what the terminal did then.
    pub(super) fn gaps(&self) -> Vec<(Timestamp, Timestamp)> {
        let line = timeline(&[], &self.watched(), self.begin(), self.until);
        let unwatched = line.into_iter().filter(|stretch| stretch.holder == Holder::Unwatched);
        unwatched.map(|stretch| (stretch.from, stretch.to)).collect()
    }

    /// When somebody watched: other processes and earlier ones, as they wrote it, and this one.
    fn watched(&self) -> Vec<(Timestamp, Timestamp)> {
        let own = self.steps.seen_since().map(|since| (since, self.until));
        // The history learns a little later than now that this process watches.
        let is_behind = |to: Timestamp| to < self.until && self.until.since(to) < BEAT;
        let kept = self.line.watched.iter().map(|&(from, to)| (from, if is_behind(to) { self.until } else { to }));
        kept.chain(own).collect()
    }

    /// The stretches that are shown: what the history answered, and then what this process has seen itself.
    fn stretches(&self) -> (Timestamp, Vec<TimelineSpan>) {
        let from = self.begin().max(self.until - Span::DAY);
        let last = self.line.points.last().map(|point| point.at);
        let known = self.line.points.partition_point(|point| point.at <= from).saturating_sub(1);
        let mut points = self.line.points[known..].to_vec();
        points.extend(self.steps.points_after(last));
        (from, timeline(&points, &self.watched(), from, self.until))
    }

    fn begin(&self) -> Timestamp {
        let kept = self.line.watched.first().map(|(begin, _)| *begin);
        [kept, self.steps.seen_since()].into_iter().flatten().min().unwrap_or(self.until)
    }

    /// Draws the strip with its times at both ends into the first row and what each holder had in all into the second;
    /// the selected moment is marked on the strip.
    pub(super) fn draw_strip(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let until = self.until;
        let parts = &canvas.theme.parts;
        let (from, line) = self.stretches();
        let time = |at| match until.since(from) {
            shown if shown >= Span::DAY => times::day_and_clock(at, canvas.zone),
            shown if shown < MINUTES => times::wall(at, canvas.zone).chars().take(8).collect(),
            _ => times::clock(at, canvas.zone),
        };
        let (begin, end) = (time(from), time(until));
        let mut strip = Line::from(vec![blank(1), span(format!("{begin} "), parts.quiet)]);
        let cells = line::room(area, &strip).saturating_sub(end.chars().count() + 2);
        let marked = self.step_selected().and_then(|step| cell_of(step.at, from, until, cells));
        for (cell, shown) in holders(&line, from, until, cells).into_iter().enumerate() {
            let (glyph, style) = appearance(canvas, shown);
            let style = if marked == Some(cell) { style.add_modifier(Modifier::REVERSED) } else { style };
            strip += span(glyph, style);
        }
        strip += span(format!(" {end}"), parts.quiet);

        // Before the first poll there was nothing to watch.
        let begun = line.partition_point(|stretch| stretch.to <= self.begin());
        let is_before = line[..begun].iter().all(|stretch| stretch.holder == Holder::Unwatched);
        let totals = told(if is_before { &line[begun..] } else { &line });
        let is_task = self.shown.item().terminal().is_none();
        let message = |(shown, span): &(StripHolder, Span), is_short: bool| {
            let word = if is_short { short } else { word };
            format!(" {} {}", word(*shown, is_task), span.rounded())
        };
        // A glyph before each, and ` · ` between them.
        let needed: usize = totals.iter().map(|total| text::width(&message(total, false)) + 4).sum();
        let is_short = needed > usize::from(area.width) + 3;
        let told = totals.iter().enumerate().flat_map(|(nth, total)| {
            let (glyph, style) = appearance(canvas, total.0);
            let between = span(if nth == 0 { "" } else { " · " }, parts.quiet);
            [between, span(glyph, style), span(message(total, is_short), parts.text)]
        });
        line::draw_all(buffer, area, [strip, told.collect()]);
    }
}

/// What each holder had in all, as far as that is a second.
fn told(line: &[TimelineSpan]) -> Vec<(StripHolder, Span)> {
    totals(line).into_iter().filter(|(_, span)| *span >= Span::SECOND).collect()
}

/// Who had the turn for most of each cell.
fn holders(line: &[TimelineSpan], from: Timestamp, until: Timestamp, cells: usize) -> Vec<StripHolder> {
    let all = until.since(from).as_millis().max(1);
    let edge = |cell: usize| {
        let part = u128::from(all) * cell as u128 / cells.max(1) as u128;
        from + Span::from_millis(u64::try_from(part).unwrap_or(u64::MAX))
    };
    let mut first = 0;
    (0..cells)
        .map(|cell| {
            let (begin, end) = (edge(cell), edge(cell + 1));
            while line.get(first).is_some_and(|stretch| stretch.to <= begin) {
                first += 1;
            }
            let rest = line[first.min(line.len())..].iter().take_while(|stretch| stretch.from < end);
            let inside = |stretch: &TimelineSpan| TimelineSpan {
                from: stretch.from.max(begin),
                to: stretch.to.min(end),
                ..*stretch
            };
            let inside = totals(&rest.map(inside).collect::<Vec<_>>());
            // The first one wins where two had it equally long: a cell shorter than a millisecond has nothing else.
            let longest = inside.iter().rev().max_by_key(|(_, span)| *span).map(|(shown, _)| *shown);
            let first = line.get(first).map(|stretch| (stretch.holder, stretch.trouble));
            longest.or(first).unwrap_or((Holder::Unwatched, None))
        })
        .collect()
}

fn cell_of(at: Timestamp, from: Timestamp, until: Timestamp, cells: usize) -> Option<usize> {
    let all = until.since(from).as_millis();
    if at < from || all == 0 || cells == 0 {
        return None;
    }
    let cell = u128::from(at.since(from).as_millis()) * cells as u128 / u128::from(all);
    usize::try_from(cell).ok().map(|cell| cell.min(cells - 1))
}

/// A holder's glyph and style. The glyphs differ in weight, so that the strip can be read without colours.
fn appearance<'a>(canvas: &Canvas<'a>, (holder, trouble): StripHolder) -> (&'a str, Style) {
    if let Some(trouble) = trouble {
        let appearance = canvas.theme.appearance(trouble);
        return (if canvas.ascii { &appearance.ascii } else { &appearance.glyph }, appearance.style);
    }
    let (status, glyph) = match holder {
        Holder::Working => (Status::Working, "█"),
        Holder::Waiting => (Status::Approval, "▒"),
        Holder::Ready => (Status::Ready, "░"),
        Holder::Gone => (Status::Gone, "○"),
        Holder::Unknown => (Status::Unknown, "…"),
        Holder::Unwatched => return (if canvas.ascii { " " } else { "╌" }, canvas.theme.parts.rule),
    };
    let appearance = canvas.theme.appearance(status);
    (if canvas.ascii { &appearance.ascii } else { glyph }, appearance.style)
}

const fn word((holder, trouble): StripHolder, is_task: bool) -> &'static str {
    match holder {
        _ if matches!(trouble, Some(Status::Failed)) => "failed",
        _ if trouble.is_some() => "not readable",
        Holder::Working if is_task => "ran",
        Holder::Working => "worked",
        Holder::Waiting => "waited for you",
        Holder::Ready if is_task => "at its prompt",
        Holder::Ready => "ready",
        Holder::Gone if is_task => "ended",
        Holder::Gone => "gone",
        Holder::Unknown => "unknown",
        Holder::Unwatched => "not watched",
    }
}

/// The word where there is little room.
const fn short(shown: StripHolder, is_task: bool) -> &'static str {
    match shown.0 {
        Holder::Waiting => "waited",
        Holder::Unwatched => "unseen",
        _ => word(shown, is_task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn what_is_wrong_has_a_word_and_a_sign_of_its_own() {
        let stretch = |trouble, from, to| TimelineSpan { holder: Holder::Ready, trouble, from: at(from), to: at(to) };
        let moment = TimelineSpan { to: at(35) + Span::from_millis(400), ..stretch(Some(Status::Error), 35, 35) };
        let line = [stretch(None, 0, 10), stretch(Some(Status::Failed), 10, 30), stretch(None, 30, 35), moment];
        let totals: Vec<_> = told(&line).into_iter().map(|(it, span)| (word(it, false), span.as_millis())).collect();
        assert_eq!(totals, [("ready", 15_000), ("failed", 20_000)]);
        assert_eq!(holders(&line, at(0), at(40), 2)[1], (Holder::Ready, Some(Status::Failed)));
        assert_eq!(word((Holder::Unknown, Some(Status::Error)), false), "not readable");
    }

    #[test]
    fn each_cell_has_who_had_most_of_it() {
        let stretch = |holder, from, to| TimelineSpan { holder, trouble: None, from: at(from), to: at(to) };
        let line = [stretch(Holder::Working, 0, 25), stretch(Holder::Waiting, 25, 29), stretch(Holder::Ready, 29, 40)];
        let shown =
            |cells| holders(&line, at(0), at(40), cells).iter().map(|(it, _)| it.word()).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(4), "working working working ready");
        assert_eq!(shown(8), "working working working working working waiting ready ready");
        assert_eq!(shown(0), "");
        assert_eq!(holders(&line, at(0), at(0), 2), [(Holder::Working, None); 2]);
        assert_eq!((cell_of(at(39), at(0), at(40), 4), cell_of(at(40), at(0), at(40), 4)), (Some(3), Some(3)));
        assert_eq!((cell_of(at(-1), at(0), at(40), 4), cell_of(at(1), at(1), at(1), 4)), (None, None));
    }
}
