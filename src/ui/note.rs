//! The line in which the operator types a name or a label.

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Rect};

use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, Item, LineInput, Overlay, OverlayContext, OverlayKind, OverlayPlace,
    Request, Topic, blank, line, span,
};
use crate::fleet::View;
use crate::state::{KeptNote, NotePart};

/// A part of what is noted of terminals while it is typed.
#[derive(Debug)]
pub struct NoteBar {
    part: NotePart,
    /// What is noted of each until then, and what it is called.
    noted: Vec<(KeptNote, String)>,
    /// What the line began with.
    before: String,
    line: LineInput,
}

impl NoteBar {
    /// Begins with what there is of that part, if it is the same of all; `None` without any of them.
    pub fn new(part: NotePart, items: &[Item<'_>]) -> Option<Self> {
        let first = value(part, *items.first()?);
        let common = first.filter(|first| items.iter().all(|item| value(part, *item) == Some(first)));
        let noted = items.iter().map(|item| (item.kept_note(), item.id().to_owned())).collect();
        let before = common.unwrap_or_default().to_owned();
        // Another name is seldom the old one with something behind it.
        let line = if part == NotePart::Name { LineInput::selected(&before) } else { LineInput::new(&before) };
        Some(Self { part, noted, line, before })
    }

    fn head(&self) -> String {
        let of = match &self.noted[..] {
            [(_, name)] => name.clone(),
            several => format!("{} terminals", several.len()),
        };
        match self.part {
            NotePart::Name => format!("name of {of}: "),
            NotePart::Label => format!("label of {of}: "),
        }
    }
}

/// What there is of a part.
fn value<'a>(part: NotePart, item: Item<'a>) -> Option<&'a str> {
    match part {
        NotePart::Name => Some(item.id()),
        NotePart::Label => item.label(),
    }
}

impl Overlay for NoteBar {
    fn kind(&self) -> OverlayKind<'_> {
        let terminal = if let [(kept, _)] = &self.noted[..] { Some(&kept.key) } else { None };
        OverlayKind { terminal, ..OverlayKind::at(Context::Naming, OverlayPlace::Bar) }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Accept, "keep it"), (Action::Close, "leave it as it was")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let head = vec![blank(1), span(self.head(), canvas.theme.parts.key)];
        line::draw(buffer, area, self.line.behind(canvas, area, head));
        HitMap::at(area)
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            // A line that is empty because they differ is no wish to have none of them.
            Action::Accept if self.line.text() == self.before => {
                cx.say("nothing was typed, so all stays as it was");
                Flow::Close
            }
            Action::Accept => {
                if let Some(why) = self.part.fault(self.line.text()) {
                    return cx.refuse(&why);
                }
                // Another process may have said something else of it meanwhile.
                let items = Item::all(cx.view);
                let with = |kept: &KeptNote| {
                    let mut by_now = items.iter().map(|item| item.kept_note());
                    let its = by_now.find(|it| (&it.key, it.process) == (&kept.key, kept.process));
                    let KeptNote { note, .. } = its.unwrap_or_else(|| kept.clone());
                    KeptNote { note: note.with(self.part, self.line.text()), ..kept.clone() }
                };
                let kept: Vec<(KeptNote, &String)> = self.noted.iter().map(|(kept, name)| (with(kept), name)).collect();
                let fault = |kept: &KeptNote| cx.view.name_fault(&kept.key, kept.note.name.as_deref()?);
                if let Some(why) = kept.iter().find_map(|(kept, _)| fault(kept)).filter(|_| self.part == NotePart::Name)
                {
                    return cx.refuse(&why);
                }
                // What was wrong before is right now.
                cx.memory.toasts.retire(&Topic::Key);
                for (kept, name) in kept {
                    cx.ask(Request::KeepNote { kept, name: name.clone() });
                }
                // A label may have no column.
                if self.part == NotePart::Label {
                    let label = if self.line.text().is_empty() { "removed" } else { self.line.text() };
                    cx.say(&format!("{}{label}", self.head()));
                }
                Flow::Close
            }
            Action::Close => Flow::Close,
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.line.key(key);
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.line.paste(text);
        Flow::Stay
    }
}
