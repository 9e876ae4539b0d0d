//! The texts beside the list: what was said, as far as screens showed it, and why a state was what it was: for now as the
//! profile explains it, for an earlier time as it was stored.

use std::sync::Arc;

use ratatui::prelude::{Buffer, Line, Rect};
use serde_json::{Value, json};

use super::steps::{StepId, TimelineEntry};
use crate::agent_record::{GAP, Said, Speaker, last_answer, last_answer_text};
use crate::present::sentence;
use crate::record::{Body, NamedEvent, StoredTransition};
use crate::screen::{KeptScreen, harmless};
use crate::state::{Change, Evidence, Transition};
use crate::time::{Span, Timestamp};
use crate::ui::help::in_brief;
use crate::ui::search::SearchableText;
use crate::ui::{Canvas, blank, line, span, times};

/// What a transcript goes up to.
#[derive(Clone, Debug)]
pub enum UpTo {
    /// The screen of now, and when it was asked for.
    Now(Option<KeptScreen>, Timestamp),
    Step(StepId),
}

/// A transcript that is read.
#[derive(Clone, Debug, Default)]
pub struct TranscriptView {
    /// All lines, and which of them are shown.
    lines: Option<Arc<[Said]>>,
    shown: Vec<usize>,
    /// Whether what tools were given and gave back is shown.
    is_unfolded: bool,
    /// Whether the lines are those of the agent's own record.
    pub is_recorded: bool,
    /// What was asked for last, and what the lines go up to.
    pub asked: Option<UpTo>,
    up_to: Option<UpTo>,
    /// Whether what was asked for last could not be read.
    pub failed: bool,
    /// Whether the next lines are shown from the last answer on.
    pub seeks_answer: bool,
    pub reader: SearchableText,
}

impl TranscriptView {
    pub fn new() -> Self {
        Self { reader: SearchableText::of_newest(), ..Self::default() }
    }

    /// Whether another one than what is there is wanted: up to a step, or up to now with the screen of now.
    pub fn is_due(&self, step: Option<StepId>, screen: Option<&KeptScreen>, now: Timestamp) -> bool {
        match (step, &self.asked) {
            (Some(step), Some(UpTo::Step(known))) => step != *known,
            (None, Some(UpTo::Now(known, asked))) => {
                let same = match (known, screen) {
                    (Some(known), Some(screen)) => known.is_same(screen),
                    (known, screen) => known.is_none() == screen.is_none(),
                };
                !same && now.since(*asked) >= Span::SECOND
            }
            _ => true,
        }
    }

    /// Takes note that what was asked for cannot be read now.
    pub fn fail(&mut self) {
        (self.asked, self.failed) = (None, true);
    }

    /// Takes in the lines, and whether they are those of the agent's own record.
    pub fn set_lines(&mut self, lines: Arc<[Said]>, is_recorded: bool) {
        (self.up_to, self.failed, self.is_recorded) = (self.asked.clone(), false, is_recorded);
        let is_same = self.lines.replace(Arc::clone(&lines)).is_some_and(|before| Arc::ptr_eq(&before, &lines));
        if !is_same {
            self.choose_shown();
        }
        if std::mem::take(&mut self.seeks_answer)
            && let Some(answer) = last_answer(&lines)
        {
            self.reader.view.begin_at(self.shown.partition_point(|line| *line < answer.start));
        }
    }

    /// The last answer in full.
    pub fn answer(&self) -> Option<String> {
        last_answer_text(self.lines.as_ref()?)
    }

    /// Shows or hides what tools were given and gave back.
    pub fn fold(&mut self) {
        self.is_unfolded = !self.is_unfolded;
        self.choose_shown();
    }

    /// Shows everything: a search covers what is hidden as well.
    pub fn unfold(&mut self) {
        if !self.is_unfolded {
            self.fold();
        }
    }

    /// What the fold key does now; `None` where nothing can be folded.
    pub fn fold_hint(&self) -> Option<&'static str> {
        let foldable = self.lines.iter().flat_map(|lines| lines.iter()).any(|said| said.by == Speaker::Output);
        foldable.then_some(if self.is_unfolded { "fold tools" } else { "unfold tools" })
    }

    fn choose_shown(&mut self) {
        let Some(lines) = &self.lines else { return };
        let is_shown = |said: &Said| self.is_unfolded || said.by != Speaker::Output;
        self.shown = (0..lines.len()).filter(|index| is_shown(&lines[*index])).collect();
        self.reader.set_texts(self.shown.iter().map(|index| &lines[*index].text));
    }

    /// Draws what was said up to a step, or up to now; lines that go up to another time are not taken for it.
    pub fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, step: Option<StepId>) {
        let parts = &canvas.theme.parts;
        let area = self.reader.draw_typing(canvas, buffer, area);
        let is_of_step = match (step, &self.up_to) {
            (Some(step), Some(UpTo::Step(known))) => step == *known,
            (None, Some(UpTo::Now(..))) => true,
            _ => false,
        };
        let Some(lines) = self.lines.as_ref().filter(|_| is_of_step) else {
            let why = if self.failed { "what was said cannot be read now" } else { "reading …" };
            return line::draw(buffer, area, vec![blank(1), span(why, parts.quiet)]);
        };
        if lines.is_empty() {
            let why = "nothing was said on any screen that is kept";
            return line::draw(buffer, area, vec![blank(1), span(why, parts.quiet)]);
        }
        self.reader.draw(canvas, buffer, area, self.shown.len(), |index| {
            let at = self.shown[index];
            let hidden = match self.is_unfolded {
                true => 0,
                false => lines[at + 1..].iter().take_while(|said| said.by == Speaker::Output).count(),
            };
            line_of(canvas, &lines[at], hidden)
        });
    }
}

/// A line, and how many hidden ones follow it.
fn line_of(canvas: &Canvas<'_>, said: &Said, hidden: usize) -> Line<'static> {
    let parts = &canvas.theme.parts;
    let style = match (said.text.as_str(), said.by) {
        (GAP, _) | (_, Speaker::Output) => parts.quiet,
        (_, Speaker::User) => parts.title,
        (_, Speaker::Tool) => parts.key,
        (_, Speaker::Agent) => parts.text,
    };
    let mut line = Line::from(span(&said.text, style));
    line.extend((hidden > 0).then(|| span(format!("  +{hidden}"), parts.quiet)));
    line
}

/// Parts of a public state that are shown in another place.
const SHOWN_ELSEWHERE: [&str; 3] = ["terminal", "evidence", "preview"];

/// An explanation as lines, the rules only behind what they saw; headings stand at the margin.
pub fn of_now(canvas: &Canvas<'_>, text: &str) -> Vec<Line<'static>> {
    let parts = &canvas.theme.parts;
    let style = |line: &str| if line.starts_with(' ') { parts.text } else { parts.title };
    let brief = in_brief(text);
    let rest = text.lines().skip_while(|line| !brief.is_empty() && !line.is_empty());
    brief.iter().map(String::as_str).chain(rest).map(|line| span(line, style(line)).into()).collect()
}

/// A value as its public word.
fn public_word(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(word) => worded(word),
        // A problem is named by its kind; its message is one key away.
        Value::Object(fields) => fields.get("kind").and_then(Value::as_str).unwrap_or("?").to_owned(),
        other => other.to_string(),
    }
}

/// What a step changed, why, and what the whole state was then.
pub fn of_step(canvas: &Canvas<'_>, step: &TimelineEntry) -> Vec<Line<'static>> {
    let parts = &canvas.theme.parts;
    let heading = |text: &str| Line::from(span(text, parts.title));
    let pair = |name: String, value: &str| Line::from(vec![span(name, parts.quiet), span(value, parts.text)]);
    let field = |name: &str, value: String| pair(format!("  {name:<22} "), &value);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let evidence = step.evidence();
    let seen = seen_words(&evidence);
    // First what a person needs to know, then how fleetwatch came to it.
    if let (Some(sentence), Some(_)) = (sentence::of(&step.body, "it"), step.transition()) {
        let since = times::to_the_second(step.at, canvas.zone);
        lines.push(heading(&format!("{since}  {}", sentence.text)));
        lines.extend(seen.iter().map(|seen| pair("  because  ".to_owned(), seen)));
        lines.push(Line::default());
    }
    if let Some(Transition { changed, note, .. }) = step.transition() {
        lines.push(heading("What changed"));
        for Change { field: name, from, to } in changed {
            let short = name.rsplit('.').next().unwrap_or(name);
            lines.push(field(&worded(short), format!("{} → {}", public_word(from), public_word(to))));
        }
        if changed.is_empty() {
            lines.push(span("  nothing that is public", parts.quiet).into());
        }
        lines.extend(note.iter().map(|note| field("note", note.clone())));
    } else {
        lines.push(heading("What happened"));
        let fields = step.body.fields();
        lines.extend(fields.iter().filter(|(name, _)| *name != "state").map(|(name, value)| field(name, plain(value))));
    }
    if !evidence.is_empty() {
        lines.extend([Line::default(), heading("Rules")]);
        lines.extend(evidence.iter().map(|item| span(format!("  {}", evidence_words(item)), parts.text).into()));
    }
    let state = members(&step.body);
    if state.is_empty() && step.transition().is_some() {
        lines.extend([Line::default(), span("  the full state at that time was not kept", parts.quiet).into()]);
    } else if !state.is_empty() {
        lines.extend([Line::default(), heading("The state then")]);
    }
    for (name, value) in &state {
        match value {
            Value::Object(members) => {
                lines.push(heading(&format!("  {}", worded(name))));
                let member =
                    |(name, value): (&String, &Value)| pair(format!("    {:<36} ", worded(name)), &plain(value));
                lines.extend(members.iter().map(member));
            }
            value => lines.push(field(&worded(name), plain(value))),
        }
    }
    if let Body::Transition(StoredTransition { events, .. }) = &step.body
        && !events.is_empty()
    {
        lines.extend([Line::default(), heading("What its screen showed meanwhile")]);
        let event = |NamedEvent { at, event }: &NamedEvent| pair(format!("  {at}  "), &worded(&event.to_string()));
        lines.extend(events.iter().map(event));
    }
    lines
}

/// The state of that time, by its public names.
fn members(body: &Body) -> Vec<(String, Value)> {
    let state = match (body, body.task()) {
        (_, Some(task)) => json!(task),
        (Body::Transition(StoredTransition { state: Some(state), .. }), _) => json!(state),
        _ => Value::Null,
    };
    let Value::Object(members) = state else { return Vec::new() };
    members.into_iter().filter(|(name, value)| !SHOWN_ELSEWHERE.contains(&name.as_str()) && !value.is_null()).collect()
}

/// A name of the contract, for people.
pub fn worded(name: &str) -> String {
    match name {
        "business_state" => "state".to_owned(),
        "known_failure" => "failed".to_owned(),
        "surface_inference" => "seen on the screen".to_owned(),
        _ => name.replace('_', " "),
    }
}

/// A value without the quotes of JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) if text.bytes().all(|c| c.is_ascii_lowercase() || c == b'_') => worded(text),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        other => other.to_string(),
    }
}

/// The evidence by row, each once, whichever rules found it.
pub fn seen_words(evidence: &[Evidence]) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for Evidence { rule, line, text } in evidence {
        let said = harmless(text.trim());
        let words = match line {
            Some(line) => format!("row {line}: {said}"),
            None if said.is_empty() => harmless(rule),
            None => said,
        };
        if !seen.contains(&words) {
            seen.push(words);
        }
    }
    seen
}

/// One piece of evidence in words: the rule, the row counted from 0 as everywhere, and what stands there.
pub fn evidence_words(Evidence { rule, line, text }: &Evidence) -> String {
    let place = line.map_or_else(String::new, |line| format!(" row {line}"));
    let text = if text.trim().is_empty() { String::new() } else { format!(": {}", text.trim()) };
    harmless(&format!("{rule}{place}{text}"))
}
