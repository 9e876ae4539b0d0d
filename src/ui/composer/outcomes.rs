//! What became of a prompt that went to several terminals, one line each.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::fleet::{TerminalKey, View};
use crate::ui::Sent;
use crate::ui::action::Action;
use crate::ui::canvas::Canvas;
use crate::ui::footer::Hint;
use crate::ui::keymap::Context;
use crate::ui::meaning::Meaning;
use crate::ui::overlay::{Desk, Laid, News, Overlay, Then};
use crate::ui::popup::{self, Line};
use crate::ui::viewport::Viewport;

/// What became of it at one terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Sending,
    /// It goes when the agent is ready.
    Queued,
    Taken,
    /// It may have been taken.
    Unverified(String),
    Not(String),
}

/// The list of what became of it.
#[derive(Debug)]
pub struct Outcomes {
    text: String,
    fates: Vec<(TerminalKey, String, Fate)>,
    view: Viewport,
}

impl Outcomes {
    /// A list of terminals by key and name.
    pub fn new(text: String, fates: Vec<(TerminalKey, String, Fate)>) -> Self {
        Self { text, fates, view: Viewport::default() }
    }
}

impl Overlay for Outcomes {
    fn context(&self) -> Context {
        Context::Outcomes
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> Laid {
        let parts = &canvas.theme.parts;
        let taken = self.fates.iter().filter(|(.., fate)| *fate == Fate::Taken).count();
        let title = format!("taken by {taken} of {}", self.fates.len());
        let line = |(_, name, fate): &(TerminalKey, String, Fate)| -> Line {
            let (meaning, word, why) = match fate {
                Fate::Sending => (Meaning::Working, "sending …", ""),
                Fate::Queued => (Meaning::Working, "queued", "sent when the agent is ready"),
                Fate::Taken => (Meaning::Finished, "taken", ""),
                Fate::Unverified(why) => (Meaning::Unknown, "unverified", why.as_str()),
                Fate::Not(why) => (Meaning::Failed, "not sent", why.as_str()),
            };
            let style = canvas.theme.style(meaning);
            let glyph = canvas.glyph(meaning).to_owned();
            vec![
                (glyph, style),
                (format!(" {word:<10} "), style),
                (format!("{name}  "), parts.text),
                (why.to_owned(), parts.quiet),
            ]
        };
        let lines: Vec<Line> = self.fates.iter().map(line).collect();
        let inner = popup::draw(canvas, buffer, area, &title, &lines, &mut self.view);
        Laid::at(popup::around(inner))
    }

    fn perform(&mut self, action: Action, _desk: &mut Desk<'_, '_>) -> Then {
        self.view.perform(action)
    }

    fn hear(&mut self, news: News<'_>, _desk: &mut Desk<'_, '_>) {
        let (key, fate) = match news {
            News::Sent { key, text, sent } if text == self.text => (key, fate(sent)),
            News::Dropped { key, text, why } if text == self.text => (key, Fate::Not(why.to_owned())),
            _ => return,
        };
        let open = |fate: &Fate| matches!(fate, Fate::Sending | Fate::Queued);
        if let Some((.., told)) = self.fates.iter_mut().find(|(of, _, told)| of == key && open(told)) {
            *told = fate;
        }
    }
}

fn fate(sent: &Sent) -> Fate {
    match sent {
        Sent::Accepted => Fate::Taken,
        Sent::Unverified { why } => Fate::Unverified(why.clone()),
        Sent::NotTaken { why } => Fate::Not(format!("it went in, but was not taken: {why}")),
        Sent::Refused { why, .. } => Fate::Not(why.clone()),
    }
}
