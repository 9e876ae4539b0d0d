//! A list from which the operator picks one entry; typing narrows it down.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::prelude::{Buffer, Position, Rect};
use ratatui::widgets::StatefulWidget;

use super::kit::scroll::rows_of;
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, LineInput, List, Overlay, OverlayContext, OverlayKind, OverlayPlace,
    Viewport, blank, field, frame, line, right, span, text,
};
use crate::fleet::{TerminalKey, View};

/// The largest menu, in cells and entries: what is below stays in view around it. Why an entry would do nothing is read whole
/// where the screen has room.
const WIDEST: usize = 66;
/// See [`WIDEST`].
const HIGHEST: usize = 14;
/// The cells that a menu leaves free beside it.
const BESIDE: u16 = 8;

/// One entry of a menu.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MenuEntry {
    pub text: String,
    /// What stands at the right: a key, a count, a time.
    pub note: String,
    /// Why it would do nothing, which stands there instead.
    pub why_not: Option<String>,
}

impl MenuEntry {
    /// An entry with what stands at its right.
    pub fn new(text: impl Into<String>, note: impl Into<String>) -> Self {
        Self { text: text.into(), note: note.into(), why_not: None }
    }
}

/// A menu, as far as its entries fit to what is typed, and what becomes of the entry that is taken.
pub struct Picker {
    title: String,
    entries: Vec<MenuEntry>,
    /// The texts in which what is typed is searched for, one for each entry.
    texts: Vec<String>,
    synonyms: Vec<String>,
    /// The cells of the widest entry.
    widest: usize,
    typed: LineInput,
    /// What stands before that.
    sign: &'static str,
    /// Whether nothing is typed: the key that an entry notes takes it.
    by_letter: bool,
    /// The entries that fit to what was typed, best first.
    shown: Vec<usize>,
    /// The selected one, by its place in `shown`.
    at: usize,
    view: Viewport,
    /// Where the last frame drew the entries.
    entries_at: Rect,
    /// What the key that takes an entry is called in the footer.
    verb: &'static str,
    place: OverlayPlace,
    terminal: Option<TerminalKey>,
    take: Take,
}

/// What becomes of the entry at a place among all.
type Take = Box<dyn FnMut(usize, &mut OverlayContext<'_, '_>) -> Flow>;

impl Picker {
    /// A menu over the middle of the frame, its first entry selected; `take` is given the place of the entry among all.
    pub fn new(
        title: impl Into<String>,
        verb: &'static str,
        entries: Vec<MenuEntry>,
        take: impl FnMut(usize, &mut OverlayContext<'_, '_>) -> Flow + 'static,
    ) -> Self {
        let title = title.into();
        let cells = |entry: &MenuEntry| text::width(&entry.text) + text::width(&entry.note) + 4;
        let widest = entries.iter().map(cells).max().unwrap_or(0).max(text::width(&title) + 2).clamp(24, WIDEST);
        let with_why = |entry: &MenuEntry| Some(text::width(&entry.text) + text::width(entry.why_not.as_ref()?) + 4);
        let widest = widest.max(entries.iter().filter_map(with_why).max().unwrap_or(0));
        Self {
            title,
            texts: entries.iter().map(|entry| format!("{} {}", entry.text, entry.note)).collect(),
            synonyms: Vec::new(),
            widest,
            typed: LineInput::default(),
            sign: "/",
            by_letter: false,
            shown: (0..entries.len()).collect(),
            entries,
            at: 0,
            view: Viewport::default(),
            entries_at: Rect::ZERO,
            verb,
            place: OverlayPlace::Popup,
            terminal: None,
            take: Box::new(take),
        }
    }

    /// The menu over the panes.
    pub fn over_panes(self) -> Self {
        Self { place: OverlayPlace::Panes, ..self }
    }

    /// The menu as one about a terminal.
    pub fn about(self, key: TerminalKey) -> Self {
        Self { terminal: Some(key), ..self }
    }

    /// The menu without a line to type into: the key that an entry notes takes it.
    pub fn by_letter(self) -> Self {
        Self { by_letter: true, ..self }
    }

    /// Adds synonyms, separated by blanks: the name of each entry, then others, the best first. Typing the beginning of one shows
    /// its best entry first.
    pub fn also_called(self, synonyms: Vec<String>) -> Self {
        Self { synonyms, ..self }
    }

    /// The menu with another sign before what is typed than that of a search.
    pub fn typed_behind(self, sign: &'static str) -> Self {
        Self { sign, ..self }
    }

    /// The menu with words by which its entries are found as well, in their order.
    pub fn found_by<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        for (text, word) in self.texts.iter_mut().zip(words) {
            *text = format!("{word} {text}");
        }
        self
    }

    fn narrow(&mut self) {
        let typed = self.typed.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        // Each typed word counts, and the one that fits least says how well all of them fit.
        let rank = |index: usize| words.iter().map(|word| self.fit(index, word)).reduce(|a, b| Some(a?.max(b?)))?;
        let ranked = (0..self.synonyms.len()).filter_map(|index| Some((rank(index)?, index)));
        let mut ranked: Vec<(Fit, usize)> = ranked.collect();
        // Of those that fit less, what would do nothing comes last here as well.
        let is_dead = |index: usize| self.entries[index].why_not.is_some();
        ranked.sort_unstable_by_key(|((tier, at), index)| (*tier, *tier > 1 && is_dead(*index), *at, *index));
        let says = |index: &usize| words.iter().all(|word| self.texts[*index].to_lowercase().contains(word));
        self.shown = match self.synonyms.is_empty() || words.is_empty() {
            true => (0..self.texts.len()).filter(says).collect(),
            false => ranked.into_iter().map(|(_, index)| index).collect(),
        };
        (self.at, self.view) = (0, Viewport::default());
    }

    /// How well a word fits an entry that has words of its own; `None` where it has it nowhere.
    fn fit(&self, index: usize, typed: &str) -> Option<Fit> {
        /// What is shorter begins too many words.
        const WORD: usize = 3;
        let (name, others) = self.synonyms[index].split_once(' ').unwrap_or((&self.synonyms[index], ""));
        // What comes behind the first clause says under which conditions.
        let text = self.entries[index].text.to_lowercase();
        let clause = text.split([',', ';', ':']).next().unwrap_or_default();
        let begins = |words: &mut dyn Iterator<Item = &str>| -> Option<(bool, usize)> {
            let found = words.enumerate().filter(|(_, word)| word.starts_with(typed));
            found.map(|(at, word)| (word != typed, at)).min()
        };
        let named = begins(&mut name.split('-')).map(|at| (0, at));
        let meant = begins(&mut others.split(' ')).filter(|_| typed.len() >= WORD);
        let meant = meant.map(|at| (if at.0 { 2 } else { 1 }, at));
        let said = begins(&mut clause.split(|c: char| !c.is_alphanumeric())).map(|at| (1, at));
        let within = self.texts[index].to_lowercase().find(typed).map(|at| (3, (true, at)));
        [named, meant, said, within].into_iter().flatten().min()
    }
}

impl fmt::Debug for Picker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picker").field("title", &self.title).finish_non_exhaustive()
    }
}

impl Overlay for Picker {
    fn kind(&self) -> OverlayKind<'_> {
        let terminal = self.terminal.as_ref();
        OverlayKind { place: self.place, terminal, ..OverlayKind::popup(Context::Menu) }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Accept, self.verb), (Action::Down, "down"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        // All entries count, not only those that fit, so that the box stays the same while one types.
        let typing = if self.by_letter { 0 } else { 2 };
        let room = usize::from(area.width.saturating_sub(BESIDE)).max(WIDEST + 4);
        let size = ((self.widest + 4).min(room), self.entries.len().min(HIGHEST) + usize::from(typing) + 2);
        let size = (u16::try_from(size.0).unwrap_or(u16::MAX), u16::try_from(size.1).unwrap_or(u16::MAX));
        // What is not drawn cannot be clicked, either.
        self.entries_at = Rect::ZERO;
        let Some(inner) = frame::boxed(canvas, buffer, area, size, &self.title) else { return HitMap::default() };
        // The selected entry comes before the line to type into: nobody should take one that cannot be seen.
        let above = inner.height.saturating_sub(1).min(typing);
        if above > 0 {
            let sign = vec![span(self.sign, parts.key), blank(1)];
            line::draw(buffer, inner, self.typed.behind(canvas, inner, sign));
        }
        self.entries_at = Rect { y: inner.y + above, height: inner.height - above, ..inner };
        if self.shown.is_empty() {
            line::draw(buffer, self.entries_at, span("nothing fits", parts.quiet));
        }
        let entry = |nth: usize, room: usize| {
            let MenuEntry { text, note, why_not } = &self.entries[self.shown[nth]];
            match why_not {
                Some(why) => {
                    let text = span(text::cut(text, room), parts.quiet);
                    let room = room.saturating_sub(text::width(&text.content) + 2);
                    vec![text, blank(2), right(why, room, parts.quiet)]
                }
                None => {
                    let room = room.saturating_sub(text::width(note) + 1);
                    vec![field(text, room, parts.text), blank(1), span(note, parts.key)]
                }
            }
        };
        let list = List { parts, count: self.shown.len(), at: self.at, entry };
        list.render(self.entries_at, buffer, &mut self.view);
        frame::draw_extent(canvas, buffer, inner, self.view.first(), self.view.page(), self.shown.len());
        HitMap::at(frame::around(inner))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if action == Action::Accept {
            return self.shown.get(self.at).map_or(Flow::Stay, |index| (self.take)(*index, cx));
        }
        let Some(rows) = rows_of(action, usize::from(self.entries_at.height)) else { return Flow::Pass };
        self.at = self.at.saturating_add_signed(rows).min(self.shown.len().saturating_sub(1));
        Flow::Stay
    }

    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if !self.by_letter {
            if self.typed.key(key) {
                self.narrow();
            }
        } else if let KeyCode::Char(c) = key.code {
            let is_meant = |entry: &MenuEntry| entry.note == c.to_string();
            if let Some(index) = self.entries.iter().position(is_meant) {
                return (self.take)(index, cx);
            }
        }
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if !self.by_letter && self.typed.paste(text) {
            self.narrow();
        }
        Flow::Stay
    }

    fn click(&mut self, at: Position, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let index = self.view.first() + usize::from(at.y.saturating_sub(self.entries_at.y));
        if !self.entries_at.contains(at) || index >= self.shown.len() {
            return Flow::Stay;
        }
        self.at = index;
        self.obey(Action::Accept, cx)
    }
}

/// How well a typed word fits an entry, the best first: it begins the name; it begins a word of the text, or is one of those
/// that mean it; it begins one of those; it stands within the text. Of each, a whole word comes first, then what stands
/// further to the front.
type Fit = (usize, (bool, usize));
