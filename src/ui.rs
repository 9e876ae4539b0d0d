//! The dashboard: a view of the fleet in, a frame out; keys in, requests out. It knows no clock, no tmux and no task.
//!
//! The driving rule: after every event and every change of the fleet, call [`Ui::update`] and carry out what it and
//! [`Ui::handle`] ask for; draw when something happened or when [`Ui::wake_at`] has come.

mod action;
mod canvas;
mod composer;
mod control;
mod dialog;
mod empty;
mod fit;
mod footer;
mod header;
mod help;
mod keymap;
mod layout;
mod meaning;
mod order;
mod pane;
mod popup;
mod preview;
mod table;
pub mod text;
mod theme;
mod times;
mod toast;
mod transitions;
mod what;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use action::Action;
pub use keymap::{Binding, Context, Keymap, KeymapError};
pub use meaning::Meaning;
pub use theme::{Depth, Look, Theme, ThemeError};

use crate::fleet::{Terminal, TerminalKey, View};
use crate::moment::{Moment, Span};
use canvas::Canvas;
use composer::Composer;
use layout::{Regions, Size};
use order::Cursor;
use toast::Toasts;

/// What the dashboard looks like and listens to.
#[derive(Clone, Debug)]
pub struct Options {
    pub keymap: Keymap,
    pub theme: Theme,
    /// Where the operator's clock stands.
    pub zone: TimeZone,
    /// Whether nothing but ASCII may be drawn.
    pub ascii: bool,
    pub depth: Depth,
    /// Whether the spinner of a working row turns.
    pub motion: bool,
}

impl Default for Options {
    /// The shipped keymap and the dark theme, in UTC.
    fn default() -> Self {
        let theme = Theme::shipped("dark").unwrap_or_default();
        let keymap = Keymap::shipped();
        Self { keymap, theme, zone: TimeZone::UTC, ascii: false, depth: Depth::True, motion: true }
    }
}

/// What the operator wants done that the dashboard cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Quit,
    /// Stop the process as the shell's Ctrl-Z does.
    Suspend,
    /// Draw every cell anew.
    Redraw,
    /// Show the terminal in tmux.
    Jump {
        key: TerminalKey,
    },
    /// The operator has seen the terminal.
    Seen {
        key: TerminalKey,
    },
    /// Tell why the terminal is said to be what it is, by [`Ui::explained`].
    Explain {
        key: TerminalKey,
    },
    /// Send a prompt; `force` insists where the agent is not ready.
    Send {
        key: TerminalKey,
        text: String,
        force: bool,
    },
}

/// What became of a prompt, as the operator is told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    Accepted,
    /// It went in, but nothing shows that it was taken.
    NotTaken {
        why: String,
    },
    /// Nothing was sent.
    Refused {
        why: String,
        hint: Option<String>,
        /// Whether it would be sent when the operator insists.
        may_insist: bool,
    },
}

/// Which pane is shown below the table when there is room for one only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Below {
    #[default]
    Preview,
    Transitions,
}

/// What has the keyboard, beside the help, which may lie over anything.
#[derive(Clone, Debug, Default)]
enum Mode {
    #[default]
    Fleet,
    Composer(Box<Composer>),
    Dialog {
        key: TerminalKey,
        scroll: usize,
    },
    /// Why a terminal is said to be what it is; the text is as of when it was asked for.
    Explanation {
        key: TerminalKey,
        title: String,
        lines: Vec<String>,
        scroll: usize,
    },
}

/// What the last frame showed where.
#[derive(Clone, Debug, Default)]
struct Drawn {
    rows: Vec<(Rect, TerminalKey)>,
    hints: Vec<(Rect, Action)>,
    transitions: Rect,
    page: usize,
    /// How far the popup can be scrolled.
    scroll_most: usize,
    any_spinner: bool,
    /// Whether the panes below the table take turns.
    one_pane: bool,
}

/// The state of the dashboard.
#[derive(Clone, Debug)]
pub struct Ui {
    options: Arc<Options>,
    cursor: Cursor,
    mode: Mode,
    /// How far the help is scrolled while it is open.
    help: Option<usize>,
    below: Below,
    /// Newest transitions that are scrolled away.
    skipped: usize,
    /// The first row of the table that is shown.
    first: usize,
    drafts: HashMap<TerminalKey, String>,
    toasts: Toasts,
    /// When the operator last did something.
    touched: Option<Moment>,
    last_click: Option<(TerminalKey, Moment)>,
    /// The result that was last told to have been seen, so that it is told once.
    told_seen: Option<(TerminalKey, Moment)>,
    drawn: Drawn,
}

impl Ui {
    /// A dashboard that has shown nothing yet.
    pub fn new(options: Options) -> Self {
        Self {
            options: Arc::new(options),
            cursor: Cursor::default(),
            mode: Mode::Fleet,
            help: None,
            below: Below::default(),
            skipped: 0,
            first: 0,
            drafts: HashMap::new(),
            toasts: Toasts::default(),
            touched: None,
            last_click: None,
            told_seen: None,
            drawn: Drawn::default(),
        }
    }

    /// Shows a message that goes by itself.
    pub fn notify(&mut self, meaning: Meaning, text: String, now: Moment) {
        self.toasts.push(meaning, text, now);
    }

    /// Draws a frame. Nothing of it depends on anything but this dashboard and the view.
    pub fn draw(&mut self, frame: &mut Frame<'_>, view: &View<'_>) {
        let area = frame.area();
        self.draw_into(frame.buffer_mut(), area, view);
    }

    /// Draws a frame into a buffer.
    pub fn draw_into(&mut self, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        let area = area.intersection(buffer.area);
        if !area.is_empty() {
            self.draw_regions(buffer, area, view);
        }
        fit::fit(buffer, self.options.depth, self.options.ascii);
    }

    /// When the frame has to be drawn again at the latest, because a time on it will have changed.
    pub fn wake_at(&self, view: &View<'_>) -> Moment {
        let second = view.now + Span::from_millis(1000);
        let step = theme::SPINNER_STEP;
        let turns = self.options.motion && self.drawn.any_spinner;
        let spinner = turns.then(|| view.now + Span::from_millis(step.as_millis() - position(view.now, step)));
        let seen = self.seen_at(view);
        let moments = [Some(second), header::stale_at(view), spinner, self.toasts.next_expiry(), seen];
        moments.into_iter().flatten().min().unwrap_or(second).max(view.now)
    }

    fn draw_regions(&mut self, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        let writing = matches!(self.mode, Mode::Composer(_));
        let regions = Regions::new(area, view.terminals.len(), writing);
        let rows = self.cursor.rows(view);
        let selected = self.cursor.key().cloned();
        // The look is shared, so that drawing may note in `self` where it drew what.
        let options = Arc::clone(&self.options);
        let canvas = Canvas {
            theme: &options.theme,
            zone: &options.zone,
            now: view.now,
            ascii: self.options.ascii,
            motion: self.options.motion,
            selected: selected.as_ref(),
        };
        header::draw(&canvas, buffer, regions.header, view);
        self.drawn = Drawn { one_pane: regions.right.is_empty(), ..Drawn::default() };
        if rows.is_empty() {
            let below = Rect { height: area.height.saturating_sub(regions.table.y - area.y + 1), ..regions.table };
            empty::draw(&canvas, buffer, below, view);
        } else {
            let drawn = table::draw(&canvas, buffer, regions.table, &rows, self.first);
            (self.first, self.drawn.page, self.drawn.rows) = (drawn.first, drawn.page, drawn.rows);
            let shown = rows.iter().skip(self.first).take(self.drawn.page);
            self.drawn.any_spinner = shown.map(|row| Meaning::of(&row.state)).any(|it| it == Meaning::Working);
            self.draw_panes(&canvas, buffer, &regions, view);
        }
        let hints = self.hints(view);
        let context = self.context();
        self.drawn.hints = footer::draw(&canvas, buffer, regions.footer, &self.options.keymap, context, &hints);
        let above_footer = Rect { height: area.height - regions.footer.height, ..area };
        self.draw_popup(&canvas, buffer, above_footer, view);
        // The last row of a composer may hold a warning that matters more.
        let toasts = Rect { height: above_footer.height.saturating_sub(u16::from(writing)), ..above_footer };
        self.toasts.draw(&canvas, buffer, toasts);
    }

    fn draw_panes(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, regions: &Regions, view: &View<'_>) {
        let terminal = self.cursor.terminal(view);
        let (left, right) = (regions.left, regions.right);
        if let Mode::Composer(composer) = &mut self.mode {
            let target = view.terminals.iter().copied().find(|terminal| terminal.key == *composer.key());
            let (write, look) = if right.is_empty() { split(left) } else { (left, right) };
            preview::draw(canvas, buffer, look, target, None);
            composer.draw(canvas, buffer, write, target);
            return;
        }
        if regions.size == Size::Small || left.is_empty() {
            return;
        }
        if !right.is_empty() {
            transitions::draw(canvas, buffer, left, view, self.skipped, None);
            preview::draw(canvas, buffer, right, terminal, None);
            self.drawn.transitions = left;
            return;
        }
        match self.below {
            Below::Preview => preview::draw(canvas, buffer, left, terminal, None),
            Below::Transitions => {
                transitions::draw(canvas, buffer, left, view, self.skipped, None);
                self.drawn.transitions = left;
            }
        }
    }

    fn draw_popup(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        if let Some(scroll) = self.help {
            let lines = help::lines(canvas, &self.options.keymap);
            self.drawn.scroll_most = popup::draw(canvas, buffer, area, "keys", &lines, scroll);
        } else if let Mode::Dialog { key, scroll } = &self.mode
            && let Some(terminal) = find(view, key)
        {
            let lines = dialog::lines(terminal, canvas, &self.options.keymap);
            let title = dialog::title(terminal, canvas);
            self.drawn.scroll_most = popup::draw(canvas, buffer, area, &title, &lines, *scroll);
        } else if let Mode::Explanation { title, lines, scroll, .. } = &self.mode {
            let text = canvas.theme.parts.text;
            let lines: Vec<popup::Line> = lines.iter().map(|line| vec![(line.clone(), text)]).collect();
            self.drawn.scroll_most = popup::draw(canvas, buffer, area, title, &lines, *scroll);
        }
    }
}

/// How far a moment lies behind the last full step, in milliseconds.
fn position(now: Moment, step: Span) -> u64 {
    let step = step.as_millis().max(1);
    u64::try_from(now.as_millis()).map_or(0, |now| now % step)
}

/// A composer above, the screen that it writes to below.
fn split(area: Rect) -> (Rect, Rect) {
    let look = if area.height >= 9 { area.height / 2 } else { 0 };
    let write = area.height - look;
    (Rect { y: area.y + look, height: write, ..area }, Rect { height: look, ..area })
}

/// The terminal with an identity.
fn find<'a>(view: &View<'a>, key: &TerminalKey) -> Option<&'a Terminal> {
    view.terminals.iter().copied().find(|terminal| terminal.key == *key)
}
