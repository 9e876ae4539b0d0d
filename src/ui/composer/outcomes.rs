//! What became of a prompt that went to several terminals, one line each.

use crate::status::Status;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::fleet::{TerminalKey, View};
use crate::operation::{Act, Operation, Outcome};
use crate::ui::action::Action;
use crate::ui::canvas::Canvas;
use crate::ui::footer::Hint;
use crate::ui::keymap::Context;
use crate::ui::outcome;
use crate::ui::overlay::{Flow, HitMap, OperationNews, Overlay, OverlayContext};
use crate::ui::popup::{self, StyledLine};
use crate::ui::viewport::Viewport;

/// How far it has come at one terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Sending,
    /// It goes when the agent is ready.
    Queued,
    Ended(Outcome),
}

/// The list of what became of it.
#[derive(Debug)]
pub struct Outcomes {
    text: String,
    terminals: Vec<(TerminalKey, String, Progress)>,
    view: Viewport,
}

impl Outcomes {
    /// A list of terminals by key and name.
    pub fn new(text: String, terminals: Vec<(TerminalKey, String, Progress)>) -> Self {
        Self { text, terminals, view: Viewport::default() }
    }
}

impl Overlay for Outcomes {
    fn context(&self) -> Context {
        Context::Outcomes
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let taken =
            self.terminals.iter().filter(|(.., it)| matches!(it, Progress::Ended(Outcome::Accepted(_)))).count();
        let title = format!("taken by {taken} of {}", self.terminals.len());
        let line = |(_, name, progress): &(TerminalKey, String, Progress)| -> StyledLine {
            let (status, word, why) = match progress {
                Progress::Sending => (Status::Working, "sending …", String::new()),
                Progress::Queued => (Status::Working, "queued", "sent when the agent is ready".to_owned()),
                Progress::Ended(outcome) => {
                    let word = match outcome {
                        Outcome::Accepted(_) => "taken",
                        Outcome::NotTaken { .. } => "not taken",
                        Outcome::Unverified { .. } => "unverified",
                        Outcome::Refused(_) => "not sent",
                    };
                    (outcome::status(outcome), word, outcome.detail().unwrap_or_default())
                }
            };
            let style = canvas.theme.style(status);
            let glyph = canvas.glyph(status).to_owned();
            vec![
                (glyph, style),
                (format!(" {word:<10} "), style),
                (format!("{name}  "), parts.text),
                (why, parts.quiet),
            ]
        };
        let lines: Vec<StyledLine> = self.terminals.iter().map(line).collect();
        let inner = popup::draw(canvas, buffer, area, &title, &lines, &mut self.view);
        HitMap::at(popup::around(inner))
    }

    fn perform(&mut self, action: Action, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.view.perform(action)
    }

    fn hear(&mut self, news: OperationNews<'_>, _desk: &mut OverlayContext<'_, '_>) {
        let (key, outcome) = match news {
            OperationNews::Ended { operation: Operation { to, act: Act::Prompt { text, .. }, .. }, outcome }
                if *text == self.text =>
            {
                (&to.key, outcome.clone())
            }
            _ => return,
        };
        let is_open = |it: &Progress| !matches!(it, Progress::Ended(_));
        if let Some((.., progress)) = self.terminals.iter_mut().find(|(of, _, it)| of == key && is_open(it)) {
            *progress = Progress::Ended(outcome);
        }
    }
}
