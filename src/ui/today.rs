//! The day: who worked and who waited for the operator, hour by hour, with how turns ended, tokens and cost.

use std::borrow::Cow;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use ratatui::prelude::{Buffer, Line, Rect, Style};

use super::pace::REREAD;
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayEvent, OverlayKind, OverlayPlace,
    Part, Request, Viewport, blank, field, frame, line, right, span, text, times,
};
use crate::fleet::View;
use crate::present::totals::TotalsWords;
use crate::record::HistoryError;
use crate::record::question::{Answer, DayQuestion, HistoryQuestion};
use crate::record::timeline::Holder;
use crate::record::totals::{DayTotals, Totals, TotalsOf, hours_of};
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// The cells of an hour at most, and of a name at least and at most.
const WIDEST: usize = 6;
const NAME: (usize, usize) = (8, 24);
/// The cells of what is said beside the bars: a length of time and its word, and the rest.
const LENGTH: usize = 8;
const WORD: usize = 9;
const REST: usize = 20;
/// What labels a terminal from a shell.
const FROM_A_SHELL: &str = "`fleetwatch name NAME --label LABEL`";
/// The bars of a row: who worked, and who waited.
const BARS: usize = 2;
/// Bars from an eighth of a cell to a whole one.
const EIGHTHS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII_EIGHTHS: [&str; 8] = ["_", "-", "~", "=", "+", "x", "*", "#"];

/// The view of one day.
#[derive(Debug, Default)]
pub struct Today {
    /// `None` is today, also after midnight.
    date: Option<Date>,
    by: TotalsOf,
    /// What was asked last, and the last answer with what it is to.
    asked: Option<DayQuestion>,
    answer: Option<(DayQuestion, Result<Vec<DayTotals>, HistoryError>)>,
    view: Viewport,
}

impl Today {
    fn shown(&self, now: Timestamp, zone: &TimeZone) -> Option<Date> {
        self.date.or_else(|| Some(now.in_zone(zone)?.date()))
    }

    /// Goes to another day; there is none after today.
    fn go(&mut self, days: i64, cx: &mut OverlayContext<'_, '_>) {
        let Some(today) = cx.view.now.in_zone(&cx.options.zone).map(|now| now.date()) else { return };
        let to = self.date.unwrap_or(today).checked_add(days.days());
        match to {
            Ok(date) if date > today => cx.say("that is today: there is nothing after it yet"),
            Ok(date) => (self.date, self.view) = (Some(date).filter(|date| *date < today), Viewport::default()),
            Err(_) => {}
        }
    }
}

impl Overlay for Today {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::at(Context::Today, OverlayPlace::Screen)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        let mut hints = vec![(Action::FocusLeft, "the day before")];
        if self.date.is_some() {
            hints.push((Action::FocusRight, "the day after"));
        }
        let by = match self.by.next() {
            TotalsOf::Terminal => "by terminal",
            TotalsOf::Agent => "by agent",
            TotalsOf::Label => "by label",
        };
        hints.extend([(Action::Sort, by), (Action::Close, "back"), (Action::Help, "help")]);
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        frame::clear(buffer, area);
        let Some(date) = self.shown(canvas.now, canvas.zone) else { return HitMap::at(area) };
        let parts = &canvas.theme.parts;
        let day = date.strftime("%a %-d %b").to_string();
        let named = if self.date.is_none() { format!("{day}, today") } else { day.clone() };
        let by = format!("by {}", self.by);
        let is_of_it = |(question, _): &&(DayQuestion, _)| question.date == date && question.by == self.by;
        let answer = self.answer.as_ref().filter(is_of_it).map(|(_, answer)| answer);
        // Where nobody uses labels, the whole day would be one row.
        let says_something = |days: &&Vec<_>| self.by != TotalsOf::Label || !days.iter().all(DayTotals::is_nameless);
        let days = answer.and_then(|answer| answer.as_ref().ok()).filter(says_something);
        let (rows, idle) = days.map(|days| DayRow::all(days)).unwrap_or_default();
        let below = Rect { y: area.y + area.height.min(1), height: area.height.saturating_sub(1), ..area };
        if rows.is_empty() && idle == 0 {
            frame::titled(canvas, buffer, area, vec![span(named, parts.title), span(by, parts.quiet)]);
            let label = canvas.keymap.key_for(Context::Fleet, Action::Label);
            let lines = match answer {
                None => ["reading what the history has of it …".to_owned(), String::new()],
                Some(Err(HistoryError::Off)) => {
                    ["no history is kept, so nothing is known of a day".to_owned(), String::new()]
                }
                Some(Err(trouble)) => [format!("the history cannot be read now: {trouble}"), String::new()],
                Some(Ok(_)) if self.by == TotalsOf::Label => [
                    format!("nothing that was watched on {day} has a label"),
                    label.map_or_else(String::new, |key| {
                        format!("{key} in the table gives one, and so does {FROM_A_SHELL}")
                    }),
                ],
                Some(Ok(_)) => [
                    format!("nobody watched on {day}, so nothing is known of it"),
                    "the dashboard and `fleetwatch watch` write the history while they run".to_owned(),
                ],
            };
            for (nth, said, style) in [(1, &lines[0], parts.text), (2, &lines[1], parts.quiet)] {
                line::draw(buffer, line::row(below, nth), vec![blank(1), span((canvas.hint)(said), style)]);
            }
            return HitMap::at(area);
        }
        let chart = Chart::new(canvas, below, &rows, busy_hours(hours_of(date, canvas.zone).0, &rows));
        let page = (usize::from(below.height.saturating_sub(1 + u16::from(idle > 0))) / chart.lines()).max(1);
        let first = self.view.fit(page, rows.len());
        let mut title = vec![span(named, parts.title), span(by, parts.quiet), span("a full bar is 1h", parts.quiet)];
        title.extend(frame::extent(first, page, rows.len()).map(|extent| span(extent, parts.quiet)));
        frame::titled(canvas, buffer, area, title);
        let mut lines = vec![chart.clock()];
        lines.extend(rows.iter().skip(first).take(page).flat_map(|row| chart.row(row)));
        if idle > 0 {
            let more = if rows.is_empty() { "" } else { " more" };
            lines.push(Line::from(vec![blank(1), span(format!("{idle}{more} did nothing"), parts.quiet)]));
        }
        line::draw_all(buffer, below, lines);
        HitMap::at(area)
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::FocusLeft => self.go(-1, cx),
            Action::FocusRight => self.go(1, cx),
            Action::Sort => (self.by, self.view) = (self.by.next(), Viewport::default()),
            other => return Flow::read(&mut self.view, other),
        }
        Flow::Stay
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let (now, zone) = (cx.view.now, &cx.options.zone);
        let Some(date) = self.shown(now, zone) else { return Flow::Stay };
        let is_other = |asked: &DayQuestion| asked.date != date || asked.by != self.by;
        // What is under way is waited for, however long it takes.
        let is_due = |asked: &DayQuestion| {
            let answered = self.answer.as_ref().filter(|(question, _)| question == asked);
            answered.is_some_and(|(_, answer)| match answer {
                Ok(_) => self.date.is_none() && now.since(asked.now) >= REREAD,
                Err(trouble) => *trouble != HistoryError::Off && now.since(asked.now) >= REREAD,
            })
        };
        if self.asked.as_ref().is_none_or(|asked| is_other(asked) || is_due(asked)) {
            let servers = cx.view.servers.iter().map(|server| server.id.clone()).collect();
            let question = DayQuestion { date, zone: zone.clone(), now, by: self.by, servers };
            self.asked = Some(question.clone());
            cx.ask(Request::Ask(HistoryQuestion::Day(question)));
        }
        Flow::Stay
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, _cx: &mut OverlayContext<'_, '_>) {
        if let OverlayEvent::Answered(Answer::Day { question, answer }) = event {
            self.answer = Some((question.clone(), answer.clone()));
        }
    }
}

/// One row of totals, or the sum.
struct DayRow<'a> {
    name: &'a str,
    day: Cow<'a, DayTotals>,
    /// What a whole bar stands for.
    full: Span,
}

impl<'a> DayRow<'a> {
    /// All of them together where several did something, and each of those, first who had the turn for longest; and how many
    /// did nothing.
    fn all(days: &'a [DayTotals]) -> (Vec<Self>, usize) {
        let mut sorted: Vec<&DayTotals> = days.iter().filter(|day| is_busy(&day.whole)).collect();
        let idle = days.len() - sorted.len();
        sorted.sort_by_key(|day| {
            let span = |holder| day.whole.time(holder).as_millis();
            std::cmp::Reverse(span(Holder::Working) + span(Holder::Waiting))
        });
        let mut rows = Vec::new();
        if let [first, others @ ..] = &sorted[..]
            && !others.is_empty()
        {
            let mut sum = DayTotals { name: "all".to_owned(), ..(*first).clone() };
            for day in others {
                sum.whole.add(&day.whole);
                day.hours.iter().for_each(|(begin, hour)| sum.hours.entry(*begin).or_default().add(hour));
            }
            rows.push(Self { name: "all", full: full(&sum), day: Cow::Owned(sum) });
        }
        rows.extend(sorted.into_iter().map(|day| Self { name: &day.name, full: full(day), day: Cow::Borrowed(day) }));
        (rows, idle)
    }
}

/// Whether somebody worked or waited, or anything came of it.
fn is_busy(totals: &Totals) -> bool {
    let words = TotalsWords::of(totals);
    words.worked.is_some() || words.waited.is_some() || words.tokens.is_some() || !words.turns.is_empty()
}

/// The hours of a day from the first to the last in which somebody did something; all of them where nobody did.
fn busy_hours(mut hours: Vec<Timestamp>, rows: &[DayRow<'_>]) -> Vec<Timestamp> {
    let is_busy = |begin: &Timestamp| rows.iter().any(|row| row.day.hours.get(begin).is_some_and(is_busy));
    if let (Some(first), Some(last)) = (hours.iter().position(is_busy), hours.iter().rposition(is_busy)) {
        hours.truncate(last + 1);
        hours.drain(..first);
    }
    hours
}

/// What a whole bar stands for: an hour, or more full hours where several worked or waited at once.
fn full(day: &DayTotals) -> Span {
    let longest = |hour: &Totals| hour.time(Holder::Working).max(hour.time(Holder::Waiting)).as_millis();
    let most = day.hours.values().map(longest).max().unwrap_or_default();
    Span::from_millis(most.div_ceil(Span::HOUR.as_millis()).max(1) * Span::HOUR.as_millis())
}

/// How the rows are laid out, which is the same for all of them.
struct Chart<'a> {
    canvas: &'a Canvas<'a>,
    area: Rect,
    /// The beginnings of the hours.
    hours: Vec<Timestamp>,
    eighths: [&'static str; 8],
    name: usize,
    /// The cells of an hour.
    hour: usize,
    /// The blank lines below a row.
    gap: usize,
}

impl<'a> Chart<'a> {
    fn new(canvas: &'a Canvas<'a>, area: Rect, rows: &[DayRow<'_>], hours: Vec<Timestamp>) -> Self {
        let (width, height) = (usize::from(area.width), usize::from(area.height.saturating_sub(1)));
        let longest = rows.iter().map(|row| text::width(row.name)).max().unwrap_or_default();
        let beside = 5 + hours.len() + LENGTH + WORD + REST;
        let name = longest.clamp(NAME.0, NAME.1).min(width.saturating_sub(beside).max(NAME.0));
        let room = width.saturating_sub(beside - hours.len() + name);
        let hour = (room / hours.len().max(1)).clamp(1, WIDEST);
        let gap = usize::from(height / rows.len().max(1) > BARS);
        let eighths = if canvas.ascii { ASCII_EIGHTHS } else { EIGHTHS };
        Self { canvas, area, hours, eighths, name, hour, gap }
    }

    /// The lines of a row.
    const fn lines(&self) -> usize {
        BARS + self.gap
    }

    /// Which hour stands where.
    fn clock(&self) -> Line<'static> {
        let each = match self.hour {
            1 => 6,
            2 => 3,
            _ => 1,
        };
        let quiet = self.canvas.theme.parts.quiet;
        let mut labels = String::new();
        for (nth, begin) in self.hours.iter().enumerate() {
            let clock = times::clock(*begin, self.canvas.zone);
            let hour = clock.get(..2).and_then(|hour| hour.parse::<u8>().ok()).filter(|hour| hour % each == 0);
            let place = nth * self.hour;
            if let Some(hour) = hour.filter(|_| labels.is_empty() || place > labels.len()) {
                labels = format!("{labels:place$}{hour}");
            }
        }
        vec![blank(2 + self.name), span(labels, quiet)].into()
    }

    /// The bars of one row, and what they are in words.
    fn row(&self, row: &DayRow<'_>) -> Vec<Line<'static>> {
        let (theme, parts) = (self.canvas.theme, &self.canvas.theme.parts);
        let TotalsWords { worked, waited, turns, tokens, cost } = TotalsWords::of(&row.day.whole);
        let turns = turns.iter().map(|(count, status)| format!("{count}{}", self.canvas.glyph(*status)));
        let turns = turns.collect::<Vec<_>>().join(" ");
        let used = [tokens.map(|tokens| format!("{tokens} tokens")), cost].into_iter().flatten().collect::<Vec<_>>();
        // A bar that stands for more than the title says.
        let full = match row.full.as_millis() / Span::HOUR.as_millis() {
            0 | 1 => String::new(),
            hours => format!("bar: {hours}h"),
        };
        let bars = [
            (Holder::Working, Status::Working, (row.name, parts.text), worked, "worked", turns),
            (Holder::Waiting, Status::Approval, (&full, parts.quiet), waited, "waited", used.join("  ")),
        ];
        let line = |(holder, status, (name, name_style), time, word, rest): (_, _, _, Option<String>, _, _)| {
            let mut line = Line::from(vec![blank(1), field(name, self.name, name_style), blank(1)]);
            line.extend(self.bar(row, holder, theme.style(status)));
            let (time, word) = time.as_deref().map_or(("", ""), |time| (time, word));
            let length = LENGTH.min(line::room(self.area, &line).saturating_sub(1));
            line.extend([blank(1), right(time, length, parts.text), blank(1)]);
            line.extend([field(word, WORD - 1, parts.quiet), span(rest, parts.text)]);
            line
        };
        bars.into_iter().map(line).chain((0..self.gap).map(|_| Line::default())).collect()
    }

    /// The bars of a day.
    fn bar(&self, row: &DayRow<'_>, holder: Holder, style: Style) -> impl Iterator<Item = Part> {
        self.hours.iter().map(move |begin| {
            let (symbol, style) = match row.day.hours.get(begin).map(|hour| eighths_of(hour.time(holder), row.full)) {
                None => (" ", style),
                // Nothing of it, which is not the same as an hour of which nothing is known.
                Some(0) => ("·", self.canvas.theme.parts.quiet),
                Some(height) => (self.eighths[height - 1], style),
            };
            span(symbol.repeat(self.hour), style)
        })
    }
}

/// How high a bar is, in eighths; what is more than nothing can be seen.
fn eighths_of(span: Span, full: Span) -> usize {
    let eighths = span.as_millis().saturating_mul(8).div_ceil(full.as_millis().max(1));
    usize::try_from(eighths.min(8)).unwrap_or_default()
}
