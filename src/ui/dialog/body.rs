//! The box of a dialog: the agent's question and options as lines to read, and below them what will be sent.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::prelude::{Buffer, Line, Rect, StatefulWidget, Style};

use super::state::{DialogBox, Held, Shown, Stage, Typing};
use crate::dialog::{self, Choice, Cut, Manner};
use crate::fleet::Terminal;
use crate::screen::Row;
use crate::status::Status;
use crate::ui::question::{Hold, QuestionBox, QuestionText};
use crate::ui::reading::Paragraph;
use crate::ui::theme::Parts;
use crate::ui::{Action, Canvas, Hint, HitMap, Overlay, Theme, blank, frame, line, preview, right, span, text, times};

/// The buttons have room in it.
const LEAST: usize = 68;
/// From this height on there is room for a message of two rows.
const ROOMY: u16 = 16;
/// The lines of a dialog before this one that are shown.
const WERE: usize = 6;

impl Shown {
    /// The text of the box. News in a dialog that replaced another one has a mark. Ticks and typed text stand in the row of the
    /// chosen option, and have to be read like all that is sent.
    pub(super) fn asked(&self, chosen: Option<usize>, ticks: &[usize], typed: &str, theme: &Theme) -> QuestionText {
        let (parts, changed) = (&theme.parts, theme.style(Status::Approval));
        let mut lines: Vec<Paragraph> = Vec::new();
        if self.dialog.cuts.contains(&Cut::Behind) {
            lines.push(Paragraph::plain("▲ … it is behind what its pane shows", changed));
        }
        if self.dialog.recorded.is_none() && self.dialog.cuts.contains(&Cut::Top) {
            lines.push(Paragraph::plain("▲ … its beginning is not on the screen", changed));
            let above = self.dialog.above.iter();
            lines.extend(above.map(|line| Paragraph::plain(line.trim_start(), parts.text)));
        }
        let gone = self.before.iter().filter(|line| !self.says(line));
        let gone: Vec<&String> = gone.collect();
        for line in gone.iter().take(WERE) {
            lines.push(Paragraph::plain(format!("was: {line}"), parts.quiet));
        }
        if gone.len() > WERE {
            lines.push(Paragraph::plain(format!("was: … and {} more lines", gone.len() - WERE), parts.quiet));
        }
        if !gone.is_empty() {
            lines.push(Paragraph::default());
        }
        // The ground of screens differs from that of boxes, so their colours could not be read here.
        let has_ground = parts.screen.bg.is_some();
        let plain = |style: Style| Style { fg: None, bg: None, ..style };
        let said = |(indent, text, mut line): (usize, &str, Line<'static>)| {
            line.iter_mut().filter(|_| has_ground).for_each(|span| span.style = plain(span.style));
            let is_new =
                !self.before.is_empty() && !text.trim().is_empty() && !self.before.contains(&text.trim().to_owned());
            let cut = self.dialog.cuts.iter().find_map(|cut| match cut {
                Cut::LeftOut(row) if text.contains(row.as_str()) => Some("▼ left out: "),
                Cut::Scrolled(row) if text.contains(row.as_str()) => Some("▼ may go on: "),
                Cut::Edge(row) if text.contains(row.as_str()) => Some("▶ cut off: "),
                _ => None,
            });
            let mark = cut.unwrap_or(if is_new { "+ " } else { "" });
            // What is wrapped keeps the indentation of its first row.
            let lead = [span(mark, changed), blank(indent)];
            Paragraph::new(line).led_by(lead.into_iter().filter(|it| !it.content.is_empty()).collect::<Line<'_>>())
        };
        let mut text = self.text();
        if let Some(recorded) = &self.dialog.recorded {
            let behind = text.split_off(recorded.instead.end.min(text.len()));
            text.truncate(recorded.instead.start);
            lines.extend(text.into_iter().map(said));
            lines.push(Paragraph::plain("◆ in full by the agent's own record: its pane shows a part of it", changed));
            let whole = recorded.text.iter().chain(&recorded.behind);
            lines.extend(whole.map(|line| Paragraph::plain(line, parts.text)));
            text = behind;
        }
        lines.extend(text.into_iter().map(said));
        let dialog = &self.dialog;
        if !dialog.options.is_empty() {
            lines.push(Paragraph::default());
        }
        let mut options = Vec::new();
        let names = dialog.options.iter().map(|option| text::width(&option.name)).max().unwrap_or(0);
        for (place, option) in dialog.options.iter().enumerate() {
            let is_chosen = Some(place) == chosen;
            let lead = vec![right(&option.name, names, parts.key), blank(2)];
            let tick = option.ticked.map_or("", |_| if ticks.contains(&place) { "[x] " } else { "[ ] " });
            let typed = if is_chosen { typed } else { "" };
            options.push(option_line(option, tick, typed, parts).among_options(parts, is_chosen, lead));
        }
        // Those whose ticks go are meant as well.
        let mut picked = ticks.to_vec();
        picked.extend(dialog.ticked());
        QuestionText { text: lines, options, picked }
    }

    /// What is asked, without the options, in the agent's own colours where a line stands in one row of its screen; each line
    /// behind its indentation and its text.
    fn text(&self) -> Vec<(usize, &str, Line<'static>)> {
        let rows = self.screen.rows().get(self.dialog.rows.clone()).unwrap_or_default();
        let rows: Vec<Cow<'_, Row>> = rows.iter().map(Row::spelled).collect();
        let mut from = 0;
        let line = |line| {
            let line: &String = line;
            let text = line.trim_start();
            let at = |row: &Row| Some(row.text().find(text)?).filter(|_| !text.is_empty());
            let found = rows.iter().enumerate().skip(from).find_map(|(place, row)| Some((place, row, at(row)?)));
            let parts = match found {
                Some((place, row, start)) => {
                    from = place;
                    part(row, start..start + text.len())
                }
                None => span(text, Style::default()).into(),
            };
            (line.len() - text.len(), text, parts)
        };
        self.dialog.text.iter().map(line).collect()
    }

    /// All that it says, in plain lines.
    pub(super) fn said(&self) -> Vec<String> {
        let options = self.dialog.options.iter().map(|option| option.label.as_str());
        let said = self.dialog.text.iter().map(|line| line.trim()).chain(options);
        said.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    fn says(&self, line: &String) -> bool {
        self.now.contains(line)
    }
}

/// All that an option says; the label first.
fn option_line(option: &Choice, tick: &str, typed: &str, parts: &Parts) -> Paragraph {
    let mut line = vec![span(format!("{tick}{}", option.label), parts.text)];
    if !option.detail.is_empty() {
        line.push(span(format!("  {}", option.detail), parts.quiet));
    }
    if !typed.is_empty() {
        line.extend([span(": ", parts.quiet), span(typed, parts.key)]);
    }
    Paragraph::new(line)
}

/// A part of a row in the agent's own colours.
fn part(row: &Row, wanted: Range<usize>) -> Line<'static> {
    let mut end = 0;
    let run = |(text, style): (&str, _)| {
        let start = end;
        end += text.len();
        let (from, to) = (wanted.start.max(start), wanted.end.min(end));
        (from < to).then(|| span(&text[from - start..to - start], preview::own_style(style)))
    };
    row.runs().filter_map(run).collect()
}

impl DialogBox {
    /// The title: the state of the shown dialog, whatever the terminal does by now.
    pub(super) fn title(&self, terminal: Option<&Terminal>, canvas: &Canvas<'_>) -> String {
        let name = terminal.map_or(&self.name, |terminal| &terminal.state.terminal.id);
        match (&self.stage, terminal) {
            (Stage::Choosing, Some(terminal @ Terminal { state, .. })) => {
                let since = times::lasting(state.since(), canvas.now);
                let stale = preview::staleness(canvas, terminal.into()).map(|stale| format!(", {stale}"));
                format!("{name}: {} for {since}{}", Status::of(state).word(), stale.unwrap_or_default())
            }
            (Stage::Sending, _) => format!("{name}: the answer is on its way"),
            (Stage::Answered, _) => format!("{name}: this dialog was answered"),
            (Stage::Closed | Stage::Choosing, _) => format!("{name}: this dialog is no longer open"),
        }
    }

    pub(super) fn draw_box(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, title: &str) -> HitMap {
        let parts = &canvas.theme.parts;
        let asked = self.asked(canvas.theme);
        let sends = (canvas.hint)(&self.sends());
        let message = self.message.as_ref().map(|(status, message)| (*status, (canvas.hint)(message)));
        let message_cells = message.as_ref().map_or(0, |(_, message)| text::width(message) + 2);
        let cells = text::width(&sends).max(message_cells).max(LEAST);
        // What a key has brought about may take two rows.
        let more = u16::from(message_cells + 4 > usize::from(area.width) && area.height >= ROOMY);
        let said = (2 + more, 1 + more + u16::from(message.is_some() || self.typing.is_some()));
        QuestionBox { look: canvas, title, asked: &asked, cells, said }.render(area, buffer, &mut self.question);
        let sheet = self.question.sheet;
        let held = self.held(canvas.now);
        let (said, style) = match (&self.stage, held) {
            (Stage::Closed, _) if self.typing.is_none() => (String::new(), parts.quiet),
            (Stage::Choosing | Stage::Closed, Some(held)) => {
                (self.words(held, canvas, sheet.said.width), canvas.theme.style(Status::Stalled))
            }
            _ => (sends, parts.quiet),
        };
        self.has_line = area.height >= ROOMY;
        let mut lines: Vec<Line<'_>> = Vec::new();
        if let Some(Typing { line, .. }) = &self.typing {
            lines.push(line.behind(canvas, sheet.said, span("> ", parts.key)));
        }
        // In the last row, what a key has brought about says more than what holds all the time.
        let height = usize::from(sheet.said.height);
        if message.is_none() || lines.len() + 1 + usize::from(more) < height {
            lines.push(span(said, style).into());
        }
        if let Some((status, message)) = &message {
            let style = canvas.theme.style(*status);
            let (room, rows) = (usize::from(sheet.said.width.saturating_sub(2)), height.saturating_sub(lines.len()));
            let wrapped = |message: &str, most| text::wrapped(message, room, most);
            // Why nothing was sent says that nothing was, where there is no room for both.
            let is_cut = wrapped(message, usize::MAX).len() > rows;
            let message = message.strip_prefix("nothing was sent: ").filter(|_| is_cut).unwrap_or(message.as_str());
            let signs = std::iter::once(canvas.glyph(*status)).chain(std::iter::repeat(" "));
            let line = |(sign, line)| vec![span(sign, style), blank(1), span(line, style)].into();
            lines.extend(signs.zip(wrapped(message, rows)).map(line));
        }
        line::draw_all(buffer, sheet.said, lines);
        let is_open = self.stage == Stage::Choosing;
        let mut buttons: Vec<Hint> = if is_open { self.ways(held) } else { Vec::new() };
        buttons.retain(|hint| hint.0 != Action::Jump && *hint != (Action::Down, "choose"));
        buttons.extend(is_open.then_some((Action::Jump, "go there and answer")));
        let may_have_sent = self.has_sent || matches!(self.stage, Stage::Sending | Stage::Answered);
        let close = match (self.typing.is_some() && is_open, may_have_sent) {
            _ if self.types_draft() => "back, keep the draft",
            (true, false) if self.way_back() == "back" => "back without answering",
            (true, false) => "back, keep the text",
            (false, false) => "close without answering",
            (true, true) => "back",
            (false, true) => "close",
        };
        buttons.push((Action::Close, close));
        let buttons = frame::buttons(canvas, buffer, sheet.buttons, self.context(), &buttons);
        HitMap { place: sheet.place, buttons }
    }

    /// The ways to go on, for buttons and footer.
    pub(super) fn ways(&self, held: Option<Held>) -> Vec<Hint> {
        let can_tick = self.shown.as_ref().is_some_and(|shown| shown.dialog.can_tick());
        match held {
            None if self.typing.is_some() => vec![(Action::Accept, "send")],
            None if can_tick => vec![(Action::Accept, "hand in"), (Action::Tick, "tick"), (Action::Down, "choose")],
            None if self.wants_text() => vec![(Action::Accept, "type it"), (Action::Down, "choose")],
            None => vec![(Action::Accept, "answer"), (Action::Down, "choose")],
            Some(Held::Not(hold @ Hold::Unread(..))) => hold.hint().into_iter().collect(),
            Some(Held::NothingTicked) => vec![(Action::Tick, "tick"), (Action::Down, "choose")],
            Some(Held::NothingTyped) => Vec::new(),
            Some(Held::Lost) => vec![(Action::Accept, "keep as a draft")],
            Some(Held::NothingChosen) => vec![(Action::Down, "choose")],
            Some(Held::NotWhole) => {
                vec![(Action::Jump, "see all of it there"), (Action::Anyway, "answer anyway"), (Action::Down, "choose")]
            }
            Some(Held::Not(Hold::TooSmall)) => vec![(Action::Jump, "answer there")],
            Some(Held::Not(Hold::Changed) | Held::ChoiceError) => Vec::new(),
        }
    }

    /// The keys of the chosen option in words, or why there are none.
    fn sends(&self) -> String {
        let Some(shown) = &self.shown else { return String::new() };
        let dialog = &shown.dialog;
        match (dialog.manner, self.question.chosen()) {
            _ if !dialog.can_answer() => "it has no options that can be read; answer with keys, or there".to_owned(),
            (_, None) => String::new(),
            (_, Some(chosen)) if self.typing.is_some() && !dialog.takes_text(chosen) => {
                format!("sends: {}, and the text as the next prompt", dialog::in_words(&dialog.presses(chosen)))
            }
            (_, Some(chosen)) if self.types_nothing() && !dialog.needs_text(chosen) => {
                format!("sends: {}, without a text", dialog::in_words(&dialog.presses(chosen)))
            }
            (_, Some(chosen)) if self.typing.is_some() => {
                let key = dialog.note_key(chosen).map(|key| format!("{key}, ")).unwrap_or_default();
                format!("sends: {key}the text, then Enter")
            }
            (Manner::Several, _) => format!("sends: {}", dialog::in_words(&dialog.presses_to_tick(&self.ticks))),
            (_, Some(chosen)) if self.wants_text() => {
                let name = dialog.options.get(chosen).map_or("", |option| option.name.as_str());
                let may = if dialog.needs_text(chosen) { "takes" } else { "may take" };
                format!("{name} {may} a text, which is typed here first")
            }
            (Manner::Letters, Some(chosen)) => {
                let name = dialog.options.get(chosen).map_or("", |option| option.name.as_str());
                format!("sends: {name}, and Enter where it waits for it")
            }
            (_, Some(chosen)) => format!("sends: {}", dialog::in_words(&dialog.presses(chosen))),
        }
    }

    /// Why nothing is sent yet, in as many words as there is room for.
    fn words(&self, held: Held, canvas: &Canvas<'_>, room: u16) -> String {
        let context = self.context();
        let key = |action| canvas.keymap.key_for(context, action).unwrap_or_default();
        let (jump, anyway) = (canvas.keymap.key_for(context, Action::Jump), key(Action::Anyway));
        let [long, short] = match held {
            Held::Not(Hold::TooSmall) if self.typing.is_none() => {
                let [goes, jumps] = ["goes there", "jumps"].map(|way| way_of(jump.as_deref(), way, ": "));
                [format!("too small to read it here{goes}"), format!("too small{jumps}")]
            }
            Held::Not(hold) => return hold.words(canvas, context),
            Held::NothingTyped => ["nothing is typed yet", "nothing typed yet"].map(str::to_owned),
            Held::Lost => {
                let keep = key(Action::Accept);
                let why =
                    if matches!(self.stage, Stage::Closed) { "the dialog is closed" } else { "this answers nothing" };
                [format!("{why}: {keep} keeps it as a draft"), format!("{keep}: keep as a draft")]
            }
            Held::NothingTicked => {
                let tick = key(Action::Tick);
                [format!("nothing is ticked: {tick} ticks the chosen option"), format!("{tick} ticks")]
            }
            Held::NothingChosen => {
                let down = key(Action::Down);
                [format!("nothing is chosen: {down} or its number chooses"), format!("{down} chooses")]
            }
            Held::NotWhole if self.typing.is_some() => {
                [format!("the agent shows only a part of it: {anyway} sends the text"), format!("cut: {anyway} sends")]
            }
            Held::NotWhole => {
                let is_edge = |cut: &Cut| matches!(cut, Cut::Edge(_));
                let at_edge = self.shown.as_ref().is_some_and(|shown| shown.dialog.cuts.iter().all(is_edge));
                let why = match at_edge {
                    true => "its pane is too narrow for all of it",
                    false => "the agent shows only a part of it",
                };
                let [goes, jumps] = ["goes there,", "jumps,"].map(|way| way_of(jump.as_deref(), way, " "));
                [format!("{why}:{goes} {anyway} {}", self.sends()), format!("cut:{jumps} {anyway} sends")]
            }
            Held::ChoiceError => return self.sends(),
        };
        if text::width(&long) <= usize::from(room) { long } else { short }
    }
}

/// The key that is a way out and where it leads, where there is such a key.
fn way_of(key: Option<&str>, leads: &str, before: &str) -> String {
    key.map(|key| format!("{before}{key} {leads}")).unwrap_or_default()
}
