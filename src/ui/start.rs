//! The line in which the operator writes what is to be started: an agent with its first prompt, or a task.

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Rect};
use ratatui::widgets::StatefulWidget;

use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, LineInput, List, Overlay, OverlayContext, OverlayEvent, OverlayKind,
    Request, Viewport, blank, field, frame, line, span, text,
};
use crate::fleet::{TerminalKey, View};
use crate::present::text::Offer;

/// The widest box, and the most offers and lines of text in it.
const WIDEST: u16 = 100;
/// See [`WIDEST`].
const OFFERS: usize = 8;
/// See [`WIDEST`].
const LINES: usize = 3;
/// What can be written.
const FORM: &str = "AGENT [-C DIRECTORY] [--worktree BRANCH] [--session NAME] [PROMPT], or !COMMAND for a task";

/// What is to be started, while it is typed.
#[derive(Debug)]
pub struct StartBox {
    /// The row that it begins beside: by default in its repository, on its server.
    near: Option<TerminalKey>,
    line: LineInput,
    /// How the line can go on, once that is known.
    offers: Option<Vec<Offer>>,
    /// What was typed after Tab, before it was known what Tab completes to.
    held: Option<Vec<KeyEvent>>,
    at: usize,
    view: Viewport,
    /// Where it starts if the line does not say so.
    place: String,
    is_starting: bool,
    has_started: bool,
    /// Why it was not started.
    trouble: Option<String>,
}

impl StartBox {
    /// An empty line, beside a row.
    pub fn new(near: Option<TerminalKey>) -> Self {
        Self {
            near,
            line: LineInput::default(),
            offers: None,
            held: None,
            at: 0,
            view: Viewport::default(),
            place: String::new(),
            is_starting: false,
            has_started: false,
            trouble: None,
        }
    }

    /// What is asked for so that the line can be completed.
    pub fn request(&self) -> Request {
        Request::Offers { line: self.line.text().to_owned(), near: self.near.clone() }
    }

    fn write(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) {
        self.line = LineInput::new(text);
        self.changed(cx);
    }

    fn changed(&mut self, cx: &mut OverlayContext<'_, '_>) {
        (self.offers, self.held, self.at, self.trouble) = (None, None, 0, None);
        cx.ask(self.request());
    }

    fn offered(&self) -> &[Offer] {
        self.offers.as_deref().unwrap_or_default()
    }

    /// What stands below the line.
    fn words(&self) -> String {
        match (&self.trouble, self.is_starting) {
            (Some(why), _) => why.clone(),
            (None, true) => "starting …".to_owned(),
            (None, false) => format!("{FORM}. {}", self.place),
        }
    }
}

impl Overlay for StartBox {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(Context::Start)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![
            (Action::Accept, "start"),
            (Action::Complete, "complete"),
            (Action::Down, "down"),
            (Action::Close, "close"),
        ]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let width = area.width.saturating_sub(4).min(WIDEST);
        let lines = text::wrapped(&self.words(), usize::from(width.saturating_sub(4)), LINES);
        let height = u16::try_from(1 + LINES + OFFERS).unwrap_or(u16::MAX).saturating_add(2);
        let Some(inner) = frame::boxed(canvas, buffer, area, (width, height), "start an agent or a task") else {
            return HitMap::default();
        };
        line::draw(buffer, inner, self.line.behind(canvas, inner, vec![span("›", parts.key), blank(1)]));
        let below = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        let style = if self.trouble.is_some() { parts.text } else { parts.quiet };
        line::draw_all(buffer, below, lines.iter().map(|line| vec![field(line, usize::from(below.width), style)]));
        let taken = u16::try_from(LINES).unwrap_or(u16::MAX).min(below.height);
        let list = Rect { y: below.y + taken, height: below.height - taken, ..below };
        let offers = self.offers.as_deref().unwrap_or_default();
        let entry = |nth: usize, room: usize| {
            let Offer { text, note, .. } = &offers[nth];
            let cells = text::width(text).min(room);
            vec![
                field(text, cells, parts.text),
                blank(2),
                span(text::cut(note, room.saturating_sub(cells + 2)), parts.quiet),
            ]
        };
        List { parts, count: offers.len(), at: self.at, entry }.render(list, buffer, &mut self.view);
        HitMap::at(frame::around(inner))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let typed = self.line.text();
        match action {
            Action::Accept if self.is_starting => return cx.refuse("it is being started"),
            Action::Accept if self.held.is_some() => return cx.refuse("the word is still being completed"),
            Action::Accept => {
                // Who has not written the name of an agent takes the one that is selected, and sees it before it starts.
                let is_name = !typed.contains(char::is_whitespace) && !typed.starts_with('!');
                let offered = self.offered().get(self.at).map(|offer| offer.line.clone());
                match offered.filter(|line| is_name && line.trim_end() != typed) {
                    Some(line) => self.write(&line, cx),
                    None => {
                        cx.ask(Request::Start { line: typed.to_owned(), near: self.near.clone() });
                        (self.is_starting, self.trouble) = (true, None);
                    }
                }
            }
            Action::Complete => match self.offered().get(self.at).map(|offer| offer.line.clone()) {
                Some(line) => self.write(&line, cx),
                None if self.offers.is_none() => drop(self.held.get_or_insert_default()),
                None => return cx.refuse("nothing begins with that"),
            },
            Action::Up => self.at = self.at.saturating_sub(1),
            Action::Down => self.at = (self.at + 1).min(self.offered().len().saturating_sub(1)),
            Action::Close => return Flow::Close,
            _ => return Flow::Pass,
        }
        Flow::Stay
    }

    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if let Some(held) = &mut self.held {
            held.push(key);
        } else if self.line.key(key) {
            self.changed(cx);
        }
        Flow::Stay
    }

    fn paste(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.held.is_some() {
            return cx.refuse("the word is still being completed");
        }
        if self.line.paste(text) {
            self.changed(cx);
        }
        Flow::Stay
    }

    fn update(&mut self, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.has_started { Flow::Close } else { Flow::Stay }
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, cx: &mut OverlayContext<'_, '_>) {
        match event {
            OverlayEvent::Offers { line, place, offers } if line == self.line.text() => {
                (self.offers, self.place, self.at) = (Some(offers.to_vec()), place.to_owned(), 0);
                let Some(held) = self.held.take() else { return };
                self.obey(Action::Complete, cx);
                for key in held {
                    self.key(key, cx);
                }
            }
            OverlayEvent::Started(Ok(())) => self.has_started = self.is_starting,
            OverlayEvent::Started(Err(why)) => (self.is_starting, self.trouble) = (false, Some(why.in_full())),
            _ => {}
        }
    }
}
