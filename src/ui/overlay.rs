//! Overlays over the table that have the keyboard: a popup, a prompt, a whole view. Each is in its own file and
//! implements [`Overlay`], which is all that the dashboard knows about them.

use std::fmt::Debug;

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Position, Rect};

use super::canvas::Canvas;
use super::kit::frame::{Hint, HitMap};
use super::kit::scroll::Viewport;
use super::memory::OverlayMemory;
use super::options::UiOptions;
use super::request::Request;
use super::toast::Topic;
use super::{Action, Context};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Operation, Outcome, Producer, Recipient};
use crate::present::objection::Objection;
use crate::present::text::Offer;
use crate::record::question::Answer;
use crate::repository::{GitError, WorkingTreeDiff};
use crate::status::Status;

/// Where an overlay is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayPlace {
    /// In a box over whatever is there; the area is all that is above the footer.
    Popup,
    /// In the panes below the table, which get more room then.
    Panes,
    /// In the line above the table.
    Bar,
    /// In place of table and panes.
    Body,
    /// In place of everything but the footer.
    Screen,
}

/// What an overlay is to the dashboard.
#[derive(Clone, Copy, Debug)]
pub struct OverlayKind<'a> {
    /// The list of keys that holds while it has the keyboard.
    pub context: Context,
    pub place: OverlayPlace,
    /// Whether it shows itself as a box over something else, which a click beside it closes.
    pub is_popup: bool,
    /// The terminal that it is about, which jumps and explanations go to.
    pub terminal: Option<&'a TerminalKey>,
}

impl OverlayKind<'_> {
    /// A box over whatever is there.
    pub const fn popup(context: Context) -> Self {
        Self { context, place: OverlayPlace::Popup, is_popup: true, terminal: None }
    }

    /// Something that has a place of its own.
    pub const fn at(context: Context, place: OverlayPlace) -> Self {
        Self { place, is_popup: false, ..Self::popup(context) }
    }
}

/// What is to become of an overlay after it has handled something.
#[derive(Debug)]
pub enum Flow {
    Stay,
    Close,
    /// Another overlay takes the place of this one.
    Become(Box<dyn Overlay>),
    /// Another overlay lies over this one.
    Open(Box<dyn Overlay>),
    /// It closes, and what is below it does what the action says.
    Perform(Action),
    /// It closes, and the overlay below it, which opened it, takes the reply.
    Reply(OverlayReply),
    /// It has nothing to do with it: the dashboard does what it does everywhere.
    Pass,
}

impl Flow {
    /// Does what an action says of a text that is only read: scroll, or close.
    pub fn read(view: &mut Viewport, action: Action) -> Self {
        match action {
            _ if view.obey(action) => Self::Stay,
            Action::Close => Self::Close,
            _ => Self::Pass,
        }
    }
}

/// What an overlay was opened for by the one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlayReply {
    /// A text was chosen.
    Text(String),
    /// What was asked may be done.
    Yes,
}

/// The result of a request.
#[derive(Clone, Copy, Debug)]
pub enum OverlayEvent<'a> {
    /// An operation was performed, or was not.
    Ended { operation: &'a Operation, outcome: &'a Outcome },
    /// A text has become a draft for a terminal.
    Drafted { key: &'a TerminalKey, text: &'a str },
    /// The prompts that were sent before: to one terminal, and to any, newest first; and those that were begun for agents that
    /// are gone.
    Prompts { own: &'a [String], left: &'a [String], all: &'a [String] },
    /// The prompt came back from the operator's editor.
    Edited { text: &'a str },
    /// The history has answered what was asked.
    Answered(&'a Answer),
    /// How a line can go on that starts something, and where that is by default.
    Offers { line: &'a str, place: &'a str, offers: &'a [Offer] },
    /// What was ordered runs, or why it does not.
    Started(Result<(), &'a Objection>),
    /// Why a terminal is said to be what it is; `None` when nothing has read its screen.
    Reasons { key: &'a TerminalKey, text: Option<&'a str> },
    /// How the files around a terminal differ from the last commit.
    Diff { key: &'a TerminalKey, diff: &'a Result<WorkingTreeDiff, GitError> },
}

/// What an overlay can reach while it handles something.
pub struct OverlayContext<'a, 'v> {
    pub view: &'a View<'v>,
    pub options: &'a UiOptions,
    pub memory: &'a mut OverlayMemory,
    /// What the dashboard is to be asked for, in order.
    pub requests: Vec<Request>,
}

impl<'v> OverlayContext<'_, 'v> {
    /// Asks for something that the dashboard cannot do itself.
    pub fn ask(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Asks for an act on a terminal.
    pub fn perform(&mut self, to: Recipient, act: Act) {
        let operation = Operation { at: self.view.now, producer: Producer::Dashboard, to, act };
        self.requests.push(Request::Perform(operation));
    }

    /// Shows a message that goes by itself.
    pub fn tell(&mut self, status: Status, text: String) {
        self.memory.toasts.push(None, status, text, self.view.now);
    }

    /// Shows a message in place of the last one on the same topic.
    pub fn tell_about(&mut self, topic: Topic, status: Status, text: String) {
        self.memory.toasts.push(Some(topic), status, text, self.view.now);
    }

    /// Says why a key did nothing.
    pub fn say(&mut self, why: &str) {
        self.tell_about(Topic::Key, Status::Unknown, why.to_owned());
    }

    /// Says why nothing was done, and leaves everything as it is.
    pub fn refuse(&mut self, why: &str) -> Flow {
        self.say(why);
        Flow::Stay
    }

    /// The terminal with an identity, as long as it is in the fleet.
    pub fn terminal(&self, key: &TerminalKey) -> Option<&'v Terminal> {
        super::find(self.view, key)
    }
}

/// Something that lies over the table and has the keyboard as long as nothing lies over itself.
pub trait Overlay: Debug {
    /// Its keys, its place and its subject.
    fn kind(&self) -> OverlayKind<'_>;

    /// The list of keys that holds while it has the keyboard.
    fn context(&self) -> Context {
        self.kind().context
    }

    /// The keys worth showing in the footer, most useful first.
    fn hints(&self, view: &View<'_>) -> Vec<Hint>;

    /// Draws itself.
    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap;

    /// Does what an action says.
    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow;

    /// Takes in a key that its list of keys does not have.
    fn key(&mut self, _key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }

    /// Says why a key did nothing, if it has a line for that; else a message does.
    fn tell(&mut self, _why: &str) -> bool {
        false
    }

    /// Takes in a pasted text.
    fn paste(&mut self, _text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Pass
    }

    /// Takes in what an overlay was opened for that lay over it.
    fn take_reply(&mut self, _reply: OverlayReply, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }

    /// Takes in a click that is on no button.
    fn click(&mut self, _at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }

    /// Takes in a turn of the wheel: 1 is down, -1 is up.
    fn wheel(&mut self, direction: isize, _at: Position, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.obey(if direction > 0 { Action::Down } else { Action::Up }, cx)
    }

    /// Follows the fleet and the time.
    fn update(&mut self, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }

    /// Takes note of the result of a request, whoever made it.
    fn on_event(&mut self, _news: OverlayEvent<'_>, _cx: &mut OverlayContext<'_, '_>) {}
}
