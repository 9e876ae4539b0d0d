//! A frame: which region is drawn where, and the overlays on top.

use ratatui::Frame;
use ratatui::prelude::{Buffer, Rect};

use super::grid::Following;
use super::kit::frame::Look;
use super::layout::{Layout, Regions};
use super::pace::HOLD;
use super::{Canvas, Drawn, Item, OverlayPlace, RowKey, TableRow, Ui, frame, grid, header, log, preview, table, theme};
use crate::fleet::View;
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// A frame without a change for so long shows no time to the second.
const STILL: Span = Span::SECOND.times(2);
/// How long such a frame stands at most where no report comes; a minute that is over is shown so late.
const STANDS: Span = Span::SECOND.times(4);

impl Ui {
    /// Draws a frame, and returns whether it differs from the last one. Nothing of it depends on anything but this
    /// dashboard and the view.
    pub fn draw(&mut self, frame: &mut Frame<'_>, view: &View<'_>) -> bool {
        let area = frame.area();
        self.draw_into(frame.buffer_mut(), area, view)
    }

    /// Draws a frame into a buffer; see [`Ui::draw`].
    pub fn draw_into(&mut self, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> bool {
        self.has_opened = false;
        let area = area.intersection(buffer.area);
        self.follow_grid(area, view);
        // Only what a frame shows is selected: between two frames no key goes to another row than the one that was
        // seen.
        self.follow(view);
        if !area.is_empty() {
            self.draw_regions(buffer, area, view);
        }
        frame::fit(buffer, self.options.depth, self.options.ascii);
        let (last, changed_at) = &mut self.shown;
        let is_new = last != buffer;
        if is_new {
            last.area = buffer.area;
            last.content.clone_from(&buffer.content);
            *changed_at = view.now;
        }
        is_new
    }

    /// When the frame has to be drawn again at the latest, because a time on it will have changed.
    pub fn wake_at(&self, view: &View<'_>) -> Timestamp {
        let is_still = view.now.since(self.shown.1) >= STILL;
        let second = view.now + if is_still { STANDS } else { Span::SECOND };
        let step = theme::SPINNER_STEP;
        let moves = self.options.motion && self.options.theme.frames(self.options.ascii) > 1;
        let turns = moves && self.drawn.any_spinner;
        let spinner = turns.then(|| view.now + Span::from_millis(step.as_millis() - position(view.now, step)));
        let seen = [self.seen_at(view), self.bell_seen_at(view).map(|(_, at)| at)];
        let moments = [Some(second), header::stale_at(view), spinner, self.memory.toasts.next_expiry()];
        moments.into_iter().chain(seen).flatten().min().unwrap_or(second).max(view.now)
    }

    /// Lets the tiles of a grid follow the fleet, where the frame has room for one.
    fn follow_grid(&mut self, area: Rect, view: &View<'_>) {
        if self.panes.layout != Layout::Grid || Regions::is_small(area) {
            self.tiles = None;
            return;
        }
        let rows = self.memory.arrangement.ungrouped(view);
        let (columns, lines) = grid::shape(Regions::new(area, rows.len(), false, &self.panes).table, rows.len());
        let (arrangement, cursor) = (&self.memory.arrangement, &self.cursor);
        let following = Following {
            now: view.now,
            seen: columns * lines,
            is_held: cursor.is_held(view.now),
            selected: cursor.chosen(),
        };
        let tiles = self.tiles.get_or_insert_default();
        tiles.follow(&rows, &following, |item| arrangement.needs_operator(item));
    }

    fn draw_regions(&mut self, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        let covers = |place| self.overlays.iter().any(|overlay| overlay.kind().place == place);
        let (writing, covered) =
            (covers(OverlayPlace::Panes), covers(OverlayPlace::Body) || covers(OverlayPlace::Screen));
        let rows = self.rows(view);
        // A filter and folded groups leave room; the panes would only jump about in it. Why there is nothing takes some, too.
        let there = view.terminals.len() + view.tasks.len();
        let regions = Regions::new(area, if there == 0 { NOTICE } else { rows.len().max(there) }, writing, &self.panes);
        let columns = self.memory.arrangement.layout(usize::from(regions.table.width), view);
        let look = Look {
            theme: &self.options.theme,
            keymap: &self.options.keymap,
            hint: self.hint,
            zone: &self.options.zone,
            now: view.now,
            ascii: self.options.ascii,
            motion: self.options.motion,
            covered: false,
        };
        let mut canvas = Canvas {
            look,
            home: &self.options.home,
            muted: self.muted,
            history_trouble: self.history_trouble,
            selected: self.cursor.key(),
            memory: &self.memory,
            columns: &columns,
        };
        let has_bar = !covered
            && !covers(OverlayPlace::Bar)
            && header::draw_bar(&canvas, buffer, regions.bar, view, regions.is_small);
        if !regions.is_small || !has_bar {
            header::draw(&canvas, buffer, regions.header, view);
        }
        self.drawn = Drawn { regions, first: self.drawn.first, ..Drawn::default() };
        if !covered {
            self.drawn = self.draw_fleet(&canvas, buffer, view, &rows, writing);
        }
        let above_footer = Rect { height: area.height - regions.footer.height, ..area };
        let mut boxed = Rect::ZERO;
        let (top, mut on_top) = (self.overlays.len().saturating_sub(1), Vec::new());
        for (index, overlay) in self.overlays.iter_mut().enumerate() {
            canvas.look.covered = index < top;
            let place = match overlay.kind().place {
                OverlayPlace::Popup | OverlayPlace::Screen => above_footer,
                OverlayPlace::Panes => regions.lower,
                OverlayPlace::Bar => regions.bar,
                OverlayPlace::Body => regions.body,
            };
            let laid = overlay.draw(&canvas, buffer, place, view);
            boxed = if overlay.kind().place == OverlayPlace::Screen { Rect::ZERO } else { laid.place };
            // Only what has the keyboard is clicked, and the footer speaks of it, too.
            (self.drawn.top, on_top) = (laid.place, laid.buttons);
        }
        // What can be done depends on what was shown.
        let hints = self.hints(view);
        self.drawn.buttons = frame::hints(&canvas, buffer, regions.footer, self.context(), &hints);
        self.drawn.buttons.extend(on_top);
        self.memory.toasts.draw(&canvas, buffer, regions.body, (boxed, regions.footer));
    }

    /// Draws the table and the panes below it, as far as the regions have room for them. Returns what is where.
    fn draw_fleet(
        &self,
        canvas: &Canvas<'_>,
        buffer: &mut Buffer,
        view: &View<'_>,
        rows: &[TableRow<'_>],
        writing: bool,
    ) -> Drawn {
        let (regions, mut first) = (self.drawn.regions, self.drawn.first);
        // Who has waited longest stands on top, and is not to stay out of view.
        let rests = self.touched.is_none_or(|touched| view.now.since(touched) > HOLD);
        if rests && self.tiles.is_none() && self.cursor.index() < table::page(regions.table) {
            first = 0;
        }
        if self.is_bare(view) {
            let below = Rect { height: regions.footer.y.saturating_sub(regions.table.y), ..regions.table };
            header::draw_empty(canvas, buffer, below, view);
            return Drawn { regions, first, ..Drawn::default() };
        }
        let draw = if self.tiles.is_some() { grid::draw } else { table::draw };
        let table::TableHits { rows: shown, first, page, columns } = match rows.is_empty() {
            // What is below the table stays.
            true => {
                header::draw_empty(canvas, buffer, regions.table, view);
                table::TableHits::default()
            }
            false => draw(canvas, buffer, regions.table, rows, self.cursor.index(), first),
        };
        if self.tiles.is_some() {
            table::draw_extent(canvas, buffer, regions.bar, rows, first, page);
        }
        let any_spinner = rows.iter().skip(first).take(page).any(turns);
        let is_empty = regions.left.is_empty() && regions.right.is_empty();
        let has_panes = !writing && !regions.is_small && !is_empty;
        let (log, screen) = if has_panes { self.draw_panes(canvas, buffer, view) } else { Default::default() };
        let count = rows.len();
        Drawn { regions, first, rows: shown, count, page, columns, any_spinner, log, screen, ..Drawn::default() }
    }

    /// Whether there is nothing to show but why: what happened before stays on the screen.
    pub(super) fn is_bare(&self, view: &View<'_>) -> bool {
        view.terminals.is_empty() && view.tasks.is_empty() && self.log.count(view) == 0
    }

    /// Returns where the log is, and where the screen is with how far that can be scrolled up.
    fn draw_panes(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, view: &View<'_>) -> (Rect, (Rect, usize)) {
        let (left, right) = (self.drawn.regions.left, self.drawn.regions.right);
        let mut screen = (Rect::ZERO, 0);
        match self.panes.is_screen_alone(&self.drawn.regions) {
            // Without any row there is no screen either.
            true if self.cursor.row().is_some() => {
                return (Rect::ZERO, (left, self.draw_preview(canvas, buffer, left, view)));
            }
            true => {}
            false => screen = (right, self.draw_preview(canvas, buffer, right, view)),
        }
        log::draw(canvas, buffer, left, view, (&self.log, self.skipped), canvas.selected);
        (left, screen)
    }

    /// What the selected row shows: the screen of a terminal, the members of a group.
    fn draw_preview(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> usize {
        match self.cursor.row() {
            Some(RowKey::Head(group)) => {
                let members = self.memory.arrangement.members(view, group);
                preview::draw_group(canvas, buffer, area, group, &members);
                0
            }
            _ => preview::draw(canvas, buffer, area, self.selected(view), self.lifted_now()),
        }
    }
}

/// The rows that say why there is nothing in the table.
const NOTICE: usize = 8;

/// Whether a row shows a spinner.
fn turns(row: &TableRow<'_>) -> bool {
    match row {
        TableRow::Head(head) => head.folded && head.counts.count(Status::Working) > 0,
        TableRow::Item(item @ Item::Terminal(_)) => item.status() == Status::Working,
        // Nothing is known of how a task gets on, and its glyph stands still.
        TableRow::Item(Item::Task(_)) => false,
    }
}

/// How far a moment lies behind the last full step, in milliseconds.
fn position(now: Timestamp, step: Span) -> u64 {
    let step = step.as_millis().max(1);
    u64::try_from(now.as_millis()).map_or(0, |now| now % step)
}
