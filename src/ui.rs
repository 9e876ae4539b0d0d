//! The dashboard: a view of the fleet in, a frame out; keys in, requests out. It knows no clock, no tmux and no task.
//!
//! The driving rule: after every event and every change of the fleet, call [`Ui::update`] and carry out what it and
//! [`Ui::handle`] ask for; draw when something happened or when [`Ui::wake_at`] has come.

mod action;
mod answer;
mod canvas;
mod columns;
mod composer;
mod confirm;
mod control;
mod dialog;
mod drawing;
mod drill;
mod filter_bar;
mod grid;
mod header;
mod help;
mod interrupt;
mod keymap;
mod kit;
mod layout;
mod lists;
mod log;
mod memory;
mod note;
mod options;
mod order;
mod overlay;
mod pace;
mod picker;
mod preview;
mod raw;
mod request;
mod start;
mod table;
mod theme;
mod toast;
mod today;

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde::{Deserialize, Serialize};

pub use action::Action;
pub use keymap::{Binding, Context, Keymap};
pub use lists::decided;
pub use memory::Waiting;
pub use options::UiOptions;
pub use overlay::OverlayEvent;
pub use request::{Copied, Decision, Request};
pub use theme::{Appearance, Depth, Theme};
pub use toast::{Topic, outcome_text};

use crate::fleet::{ServerId, TerminalKey, View};
use crate::present::arrangement::{Grouping, RowKey, Sort, TableRow};
use crate::present::columns::ChosenColumns;
use crate::present::filter::Filter;
use crate::present::flags::{ChosenFlags, Flags};
use crate::present::item::{Item, find, find_live_task, find_task};
use crate::present::{text, times};
use crate::record::{Intent, Stored};
use crate::status::Status;
use crate::time::Timestamp;
use canvas::Canvas;
use grid::Tiles;
use kit::frame::{Buttons, Hint, HitMap};
use kit::input::LineInput;
use kit::line::{Part, blank, field, right, span};
use kit::list::List;
use kit::scroll::Viewport;
use kit::{frame, line, question, reading, search};
use layout::{Panes, Regions};
use memory::OverlayMemory;
use order::RowSelection;
use overlay::{Flow, Overlay, OverlayContext, OverlayKind, OverlayPlace};

/// The layout that the operator has chosen while the dashboard ran, which the next one begins with. One more choice is
/// one more field, with a default for files that have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// The layout, and where the dividers are.
    panes: Panes,
    /// The columns of the table.
    columns: ChosenColumns,
    sort: Sort,
    grouping: Grouping,
    /// What is pinned and muted.
    flags: ChosenFlags,
    /// Whether the operator was told how the dashboard calls.
    introduced: bool,
}

impl Choices {
    /// These, with the pins and mutes that another dashboard has changed since both knew `base`.
    pub fn merged(&self, base: &Self, theirs: &Self) -> Self {
        Self { flags: self.flags.merged(&base.flags, &theirs.flags), ..self.clone() }
    }

    /// What is pinned and muted.
    pub fn into_flags(self) -> Flags {
        let mut flags = Flags::default();
        flags.restore(self.flags);
        flags
    }
}

/// What the last frame showed where.
#[derive(Clone, Debug, Default)]
struct Drawn {
    rows: Vec<(Rect, RowKey)>,
    /// The first row of the table that is shown.
    first: usize,
    /// How many rows the table had.
    count: usize,
    /// Where a click performs which action: hints of the footer, buttons of what lies on top.
    buttons: Buttons,
    /// What has the keyboard, where something lies over the table.
    top: Rect,
    log: Rect,
    /// The pane of the screen, and how far that can be scrolled up.
    screen: (Rect, usize),
    page: usize,
    /// Rows that stand side by side.
    columns: usize,
    any_spinner: bool,
    regions: Regions,
}

/// The state of the dashboard.
#[derive(Debug)]
pub struct Ui {
    options: Arc<UiOptions>,
    /// Completes the commands in a hint.
    hint: fn(&str) -> String,
    cursor: RowSelection,
    /// What lies over the table, the last one on top; it has the keyboard.
    overlays: Vec<Box<dyn Overlay>>,
    memory: OverlayMemory,
    /// The row that was selected when the filter was begun.
    before_filter: Option<RowKey>,
    panes: Panes,
    /// Which terminal has which tile, while the last frame showed a grid.
    tiles: Option<Tiles>,
    /// What the history reports of what happened.
    log: log::Log,
    /// Newest lines of the log that are scrolled away.
    skipped: usize,
    /// Rows that the screen of a terminal is scrolled up from its end, as long as that is selected.
    lifted: Option<(TerminalKey, usize)>,
    /// Whether no notice goes out of the dashboard.
    muted: bool,
    /// What is wrong with the history, for as long as it is.
    history_trouble: Option<&'static str>,
    /// Whether the operator was told how the dashboard calls.
    introduced: bool,
    /// When the operator last did something.
    touched: Option<Timestamp>,
    last_click: Option<(RowKey, Timestamp)>,
    /// The new terminal that is selected once it has a row.
    awaited: Option<TerminalKey>,
    /// The result that was last reported as seen, so that it is reported only once.
    reported_seen: Option<(TerminalKey, Timestamp)>,
    drawn: Drawn,
    /// The last frame, and when one was last another than the one before.
    shown: (Buffer, Timestamp),
    /// Whether something was opened, or chosen in a dialog, that no frame has shown.
    has_opened: bool,
    /// When a key opened something at last.
    opened: Option<Timestamp>,
}

impl Ui {
    /// A dashboard that has shown nothing yet.
    pub fn new(options: UiOptions) -> Self {
        Self {
            options: Arc::new(options.suited()),
            hint: str::to_owned,
            cursor: RowSelection::default(),
            overlays: Vec::new(),
            memory: OverlayMemory::default(),
            before_filter: None,
            panes: Panes::default(),
            tiles: None,
            log: log::Log::default(),
            skipped: 0,
            lifted: None,
            muted: false,
            history_trouble: None,
            introduced: false,
            touched: None,
            last_click: None,
            awaited: None,
            reported_seen: None,
            drawn: Drawn::default(),
            shown: (Buffer::default(), Timestamp::default()),
            has_opened: false,
            opened: None,
        }
    }

    /// Has hints name commands as this does it, so that they can be typed as they are.
    pub fn complete_hints(&mut self, hint: fn(&str) -> String) {
        self.hint = hint;
    }

    /// A text with the commands in it as [`Self::complete_hints`] has them.
    pub fn hint_in_place(&self, text: &str) -> String {
        (self.hint)(text)
    }

    /// The rows of the table, top first; of a grid, in the order of its tiles.
    fn rows<'a>(&self, view: &View<'a>) -> Vec<TableRow<'a>> {
        if let Some(tiles) = &self.tiles {
            return tiles.arrange(self.memory.arrangement.ungrouped(view));
        }
        self.cursor.keep(self.memory.arrangement.rows(view), view.now)
    }

    /// Whether the operator wants no notice of a terminal or a task.
    pub fn mutes<'a>(&self, item: impl Into<Item<'a>>) -> bool {
        self.memory.arrangement.flags.is_muted(item.into())
    }

    /// The title for the terminal: how many wait for the operator. `None` leaves it alone.
    pub fn title(&self, view: &View<'_>) -> Option<String> {
        let arrangement = &self.memory.arrangement;
        let waiting = Item::all(view).into_iter().filter(|item| arrangement.needs_operator(*item)).count();
        let title = if waiting > 0 { format!("({waiting}) fleetwatch") } else { "fleetwatch".to_owned() };
        self.options.title.then_some(title)
    }

    /// Whether something was opened, or chosen in a dialog, that no frame has shown yet.
    pub fn has_opened(&self) -> bool {
        self.has_opened
    }

    /// Whether the operator wants no notice at all.
    pub fn mutes_all(&self) -> bool {
        self.muted
    }

    /// Shows in the header what is wrong with the history, in a word or two, until something else is set. Returns whether it
    /// is another thing than before.
    pub fn set_history_trouble(&mut self, trouble: Option<&'static str>) -> bool {
        std::mem::replace(&mut self.history_trouble, trouble) != trouble
    }

    /// Says why no prompt can wait until its agent is ready, until it is told otherwise.
    pub fn set_cannot_wait(&mut self, why: Option<&'static str>) -> bool {
        std::mem::replace(&mut self.memory.cannot_wait, why) != why
    }

    /// Names servers of the user that are not watched, where there is nothing to show.
    pub fn show_other_servers(&mut self, others: Vec<ServerId>) {
        self.memory.other_servers = others;
    }

    /// The messages to agents that are open from now on: that wait, are on their way, or are for the operator to
    /// decide.
    pub fn show_follow_ups(&mut self, open: Vec<Intent>) {
        self.memory.follow_ups = open;
    }

    /// What the operator has chosen by now.
    pub fn choices(&self) -> Choices {
        let arrangement = &self.memory.arrangement;
        let (columns, flags) = (arrangement.columns.clone(), arrangement.flags.chosen().clone());
        let (sort, grouping) = (arrangement.sort, arrangement.grouping);
        Choices { panes: self.panes, columns, sort, grouping, flags, introduced: self.introduced }
    }

    /// Takes over the pins and mutes that another dashboard has changed since both knew `base`.
    pub fn merge_choices(&mut self, base: &Choices, theirs: &Choices) {
        self.memory.arrangement.flags.restore(self.choices().merged(base, theirs).flags);
    }

    /// Begins with what was chosen the last time.
    pub fn restore(&mut self, choices: Choices) {
        let Choices { panes, columns, sort, grouping, flags, introduced } = choices;
        (self.panes, self.introduced) = (panes, introduced);
        let arrangement = &mut self.memory.arrangement;
        (arrangement.columns, arrangement.sort, arrangement.grouping) = (columns, sort, grouping);
        arrangement.flags.restore(flags);
    }

    /// Tells the operator, once in all its starts, how the dashboard calls.
    pub fn introduce(&mut self, now: Timestamp) {
        if !std::mem::replace(&mut self.introduced, true) {
            let hint = "when an agent begins to wait for you, the terminal's bell rings once, and its title says how many \
                        wait; [ui] in the configuration changes that";
            self.notify(Status::Ready, hint.to_owned(), now);
        }
    }

    /// Takes in what the history reports of something that happened on these servers or was done for the operator.
    pub fn keep_in_log(&mut self, record: Stored) {
        self.log.keep(record);
    }

    /// What it looks like and listens to now.
    pub fn options(&self) -> &UiOptions {
        &self.options
    }

    /// Takes away a message that is no longer true.
    pub fn retire(&mut self, topic: &Topic) {
        self.memory.toasts.retire(topic);
    }

    /// Looks like something else and listens to other keys from now on.
    pub fn set_options(&mut self, options: UiOptions) {
        self.options = Arc::new(options.suited());
    }

    /// The operator sees it again after another program had the terminal: what came meanwhile stays as if it had come
    /// now.
    pub fn is_seen_again(&mut self, now: Timestamp) {
        self.memory.toasts.renew(now);
    }

    /// The key that does something in the table, as the footer writes it.
    pub fn key_for(&self, action: Action) -> Option<String> {
        self.options.keymap.key_for(Context::Fleet, action)
    }

    /// Shows a message that goes by itself.
    pub fn notify(&mut self, status: Status, text: String, now: Timestamp) {
        self.memory.toasts.push(None, status, (self.hint)(&text), now);
    }

    /// Shows a message that goes by itself, in place of the last one on the same topic.
    pub fn notify_about(&mut self, topic: Topic, status: Status, text: String, now: Timestamp) {
        self.memory.toasts.push(Some(topic), status, (self.hint)(&text), now);
    }
}
