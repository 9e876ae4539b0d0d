//! What keys, the mouse and events do. The topmost overlay comes first; what it does not handle is done here, for all alike.

mod ability;
mod drafts;
mod flags;
mod table;
mod tasks;
mod waiting;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::help::{About, ExplanationView, Help};
use super::lists::copying;
use super::memory::OverlayMemory;
use super::{
    Action, Context, Flow, Hint, Item, Keymap, Overlay, OverlayContext, OverlayEvent, OverlayPlace, Request, RowKey,
    TableRow, Topic, Ui, toast,
};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Operation, Outcome, When};
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// How long the cursor rests on a terminal until it counts as seen (SPEC §2).
const SEEN_AFTER: Span = Span::from_secs(1);
/// How long after a key the operator is taken to sit in front of the dashboard.
const PRESENT: Span = Span::from_secs(15);
/// How close two clicks are that count as one.
const DOUBLE_CLICK: Span = Span::from_millis(400);
/// How long a question is on the screen before it is confirmed: it may have been opened by a letter of a text.
const NEW_QUESTION: Span = Span::from_millis(500);
/// Lines of the log that one turn of the wheel moves.
const WHEEL: usize = 3;

impl Ui {
    /// Takes in what the operator's terminal reports.
    pub fn handle(&mut self, event: &Event, view: &View<'_>) -> Vec<Request> {
        if self.cursor.row().is_none() {
            self.follow(view);
        }
        if matches!(event, Event::Key(_) | Event::Mouse(_) | Event::Paste(_)) {
            self.touched = Some(view.now);
            self.cursor.hold(view.now);
            let rows = self.rows(view);
            self.cursor.locate(&rows);
        }
        let requests = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.cursor.begin_key();
                self.key(*key, view)
            }
            Event::Mouse(mouse) => self.mouse(*mouse, view),
            Event::Paste(text) => self.paste(text, view),
            _ => Vec::new(),
        };
        if self.has_opened {
            self.opened = Some(view.now);
        }
        // Why a key did nothing is said once, where the operator looks.
        if let Some(why) = self.memory.toasts.said_now(&Topic::Key, view.now)
            && self.overlays.last_mut().is_some_and(|top| top.tell(why))
        {
            self.retire(&Topic::Key);
        }
        requests
    }

    /// Follows the fleet and the time: messages go, and what the operator looked at counts as seen. The cursor follows
    /// with the next frame.
    pub fn update(&mut self, view: &View<'_>) -> Vec<Request> {
        self.memory.toasts.expire(view.now);
        let drafted: Vec<TerminalKey> = self.memory.drafted().cloned().collect();
        let flags = &mut self.memory.arrangement.flags;
        flags.follow(view);
        flags.set_drafted(drafted);
        self.memory.bells.follow(view);
        if let Some((key, _)) = self.bell_seen_at(view).filter(|(_, at)| *at <= view.now) {
            self.memory.bells.mark_seen(&key);
        }
        let mut requests = Vec::new();
        // From the top, so that one that closes does not move those that are still to be asked.
        for index in (0..self.overlays.len()).rev() {
            requests.extend(self.with(index, view, |overlay, cx| overlay.update(cx)).1);
        }
        let seen = self.cursor.terminal(view).filter(|_| self.seen_at(view).is_some_and(|at| at <= view.now));
        self.reported_seen =
            seen.map(|terminal| (terminal.key.clone(), finished_at(terminal))).or(self.reported_seen.take());
        requests.extend(seen.map(|terminal| Request::Seen(terminal.key.clone())));
        requests
    }

    /// Lets the cursor follow the rows.
    pub(super) fn follow(&mut self, view: &View<'_>) {
        let arrangement = &mut self.memory.arrangement;
        let is_filtered = !arrangement.filter.is_empty();
        if is_filtered {
            let (flags, cursor) = (&arrangement.flags, &self.cursor);
            let is_held = cursor.is_held(view.now);
            arrangement.filter.keep_only(|key| is_held || cursor.key() == Some(key) || flags.has_marked(key));
            let selected = self.cursor.key().and_then(|key| Item::find(view, key));
            let is_kept = |item| arrangement.filter.only_keeps(item, &arrangement.flags, view.now);
            if selected.is_some_and(is_kept) {
                self.cursor.stay();
            }
        }
        let rows = self.rows(view);
        self.cursor.follow(&rows, view.now);
        if is_filtered {
            let flags = &self.memory.arrangement.flags;
            let marked = rows.iter().filter_map(TableRow::item).filter(|item| flags.is_marked(*item)).map(Item::key);
            let kept: Vec<TerminalKey> = marked.chain(self.cursor.key()).cloned().collect();
            self.memory.arrangement.filter.keep(kept);
        }
    }

    /// Does what an action says, in whatever has the keyboard.
    pub fn perform(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        let filters = self.context() == Context::Filter;
        let (passed, mut requests) = self.with_top(view, |overlay, cx| overlay.perform(action, cx));
        if passed {
            requests.extend(self.perform_anywhere(action, view));
        }
        match action {
            // The way back leads to where the cursor was.
            Action::Close | Action::Complete if filters => self.follow_filter(view),
            Action::Answer if filters => self.cursor.look_anew(view.now),
            _ => {}
        }
        requests
    }

    /// Tells the operator the outcome of an operation.
    pub fn ended(&mut self, operation: &Operation, outcome: &Outcome, view: &View<'_>) {
        let key = &operation.to.key;
        if matches!(operation.act, Act::Prompt { .. } | Act::Answer { .. }) {
            self.memory.arrangement.flags.has_worked_on(key, outcome.is_accepted());
        }
        let mut message = toast::outcome_text(operation, outcome);
        let topic = match &operation.act {
            Act::Prompt { text, when } => {
                self.follow_draft(key, text, *when, outcome, view);
                let decide = self.key_for(Action::FollowUps);
                let is_unclear = matches!(outcome, Outcome::Unverified { .. }) && *when == When::Ready;
                let way_on = decide.filter(|_| is_unclear).map(|key| format!("{key} sends it again or leaves it"));
                let way_on = way_on.or_else(|| self.way_on(outcome));
                message.push_str(&way_on.map(|hint| format!(" ({hint})")).unwrap_or_default());
                Topic::Prompt(key.clone())
            }
            Act::Answer { .. } => {
                if outcome.is_accepted() {
                    self.cursor.is_done_with(key);
                }
                Topic::Dialog(key.clone())
            }
            Act::Keys { .. } | Act::Interrupt { .. } => Topic::Keys(key.clone()),
        };
        // Whoever types sees what the keys do.
        if !(matches!(operation.act, Act::Keys { .. }) && outcome.is_accepted()) {
            self.notify_about(topic, toast::outcome_status(outcome), message, view.now);
        }
        // What is open may tell it itself.
        self.on_event(OverlayEvent::Ended { operation, outcome }, view);
    }

    /// What the operator can do about a prompt that was refused.
    fn way_on(&self, outcome: &Outcome) -> Option<String> {
        let Outcome::Refused(refusal) = outcome else { return None };
        let insist = self.options.keymap.key_for(Context::Composer, Action::Anyway);
        let insist = insist.filter(|_| refusal.may_insist());
        insist.map(|key| format!("{key} in the prompt sends anyway")).or_else(|| refusal.hint())
    }

    /// Shows why a terminal is said to be what it is; `None` when nothing has read its screen.
    pub fn explained(&mut self, key: &TerminalKey, text: Option<String>, now: Timestamp) {
        match text {
            Some(text) => self.open(ExplanationView::new(About::Terminal(key.clone()), &text)),
            None => {
                let message = "no profile has read a screen of it".to_owned();
                self.notify_about(Topic::Key, Status::Unknown, message, now);
            }
        }
    }

    /// The terminal that the operator looks at: the selected one, as long as keys are pressed. A row that came under a
    /// cursor that stays at the top was chosen by nobody, and its notice must not be missed.
    pub fn looked_at(&self, now: Timestamp) -> Option<&TerminalKey> {
        let touched = self.touched.filter(|&touched| now.since(touched) < PRESENT)?;
        self.cursor.key().filter(|_| self.was_chosen(touched))
    }

    /// Whether the operator chose the selected row with the last key, and it did not come under the cursor by itself.
    fn was_chosen(&self, touched: Timestamp) -> bool {
        self.cursor.since().since(touched) < SEEN_AFTER
    }

    /// When the selected terminal will have been seen: when it was selected for a second (SPEC §2) while the operator
    /// was there. A result that comes while nobody touches a key stays unseen, wherever the cursor happens to be.
    pub(super) fn seen_at(&self, view: &View<'_>) -> Option<Timestamp> {
        let terminal = self.cursor.terminal(view).filter(|terminal| terminal.state.wants_to_be_seen())?;
        let finished = finished_at(terminal);
        // A death behind the box of a dialog was not seen there, nor one that came while no key was pressed.
        let is_in_box = self.overlays.iter().any(|it| matches!(it.context(), Context::Dialog | Context::Answer));
        let is_missed = is_in_box || self.touched.is_none_or(|touched| touched < finished);
        if terminal.state.has_ended() && is_missed {
            return None;
        }
        let is_reported = self.reported_seen.as_ref().is_some_and(|(key, at)| *key == terminal.key && *at == finished);
        self.seen_since(finished).filter(|_| !is_reported)
    }

    /// The task that is looked at and rang, and when that will have been seen.
    pub(super) fn bell_seen_at(&self, view: &View<'_>) -> Option<(TerminalKey, Timestamp)> {
        let key = self.target()?;
        let rang = self.memory.bells.unseen_since(&key)?;
        let is_task = view.tasks.iter().any(|task| task.key == key);
        self.seen_since(rang).filter(|_| is_task).map(|at| (key, at))
    }

    /// When something that came to the selected row at a time will have been seen there; never, as long as the operator
    /// was not there for it. What the cursor comes to while a filter is typed is looked at once that is done.
    fn seen_since(&self, came: Timestamp) -> Option<Timestamp> {
        if self.overlays.iter().any(|overlay| overlay.context() == Context::Filter) {
            return None;
        }
        let shown = self.cursor.since().max(came);
        let was_there = self
            .touched
            .is_some_and(|touched| touched >= shown || (shown.since(touched) < PRESENT && self.was_chosen(touched)));
        was_there.then(|| shown + SEEN_AFTER)
    }

    /// What has the keyboard.
    pub(super) fn context(&self) -> Context {
        self.overlays.last().map_or(Context::Fleet, |overlay| overlay.context())
    }

    /// The keys worth showing now.
    pub(super) fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        match self.overlays.last() {
            Some(overlay) => overlay.hints(view),
            None => self.fleet_hints(view),
        }
    }

    /// Lays something over everything; it has the keyboard from now on.
    pub(super) fn open(&mut self, overlay: impl Overlay + 'static) {
        if !matches!(overlay.kind().place, OverlayPlace::Popup | OverlayPlace::Bar) {
            self.memory.toasts.retire_of_table();
        }
        self.overlays.push(Box::new(overlay));
        self.has_opened = true;
    }

    /// What does the same wherever it is asked for, and then what the table does.
    fn perform_anywhere(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        if action.is_of_row() && self.overlays.iter().all(|overlay| overlay.kind().terminal.is_none()) {
            self.cursor.stay();
        }
        match action {
            Action::Help => self.open(Help::new(self.context(), &self.hints(view))),
            Action::Quit => return vec![Request::Quit],
            Action::Suspend => return vec![Request::Suspend],
            Action::Reload => return vec![Request::Reload, Request::Redraw],
            Action::Explain => match self.why_not(action, view).filter(|_| self.overlays.is_empty()) {
                Some(why) => self.say(why, view),
                None => return self.target().map(Request::Explain).into_iter().collect(),
            },
            Action::Copy => self.target().into_iter().for_each(|key| self.open(copying(key))),
            Action::Jump => {
                if let Some(why) = self.why_not(action, view) {
                    self.say(why, view);
                    return Vec::new();
                }
                let key = self.target();
                key.iter().for_each(|key| self.memory.bells.mark_seen(key));
                return key.map(Request::Jump).into_iter().collect();
            }
            Action::Close if !self.overlays.is_empty() => drop(self.overlays.pop()),
            Action::NextWaiting | Action::PreviousWaiting if self.context() == Context::Drill => {
                self.step_to_waiting(action == Action::NextWaiting, view);
            }
            // The table cannot be seen, and nobody should move in it or change it.
            _ if self.is_table_hidden() && action.is_of_table() => {
                self.say("that is done in the table".to_owned(), view)
            }
            _ => return self.perform_in_fleet(action, view),
        }
        Vec::new()
    }

    /// Whether a whole view stands in place of the table and has the keyboard.
    fn is_table_hidden(&self) -> bool {
        self.overlays.last().is_some_and(|overlay| overlay.kind().place == OverlayPlace::Screen)
    }

    /// The terminal that an action is about: that of what lies on top, else the selected one.
    pub(super) fn target(&self) -> Option<TerminalKey> {
        let shown = self.overlays.iter().rev().find_map(|overlay| overlay.kind().terminal);
        shown.or(self.cursor.key()).cloned()
    }

    fn key(&mut self, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        let action = self.options.keymap.action(self.context(), key);
        self.memory.toasts.retire_read(view.now);
        let is_read_only = matches!(self.context(), Context::Explanation | Context::Drill | Context::Today);
        match action {
            Some(Action::Confirm) if self.context() == Context::Confirm && self.is_new(view.now) => {
                let again = Keymap::name_of(key);
                self.say(format!("nothing was done: the question is new on the screen; press {again} again"), view);
                Vec::new()
            }
            Some(action) => self.perform(action, view),
            None if key.code == KeyCode::Enter && self.context() == Context::Confirm => {
                let yes = self.options.keymap.key_for(Context::Confirm, Action::Confirm).unwrap_or_default();
                self.say(format!("not confirmed: press {yes} (Enter is ignored here)"), view);
                Vec::new()
            }
            // The next letters of a text close what one of them opened.
            None if self.context() == Context::Confirm && key.code.as_char().is_some() => {
                let requests = self.perform(Action::Close, view);
                self.say("nothing was done".to_owned(), view);
                requests
            }
            // It is read while one goes on: a key that is none of its own is meant for what is below.
            None if self.context() == Context::Outcomes => {
                self.overlays.pop();
                self.key(key, view)
            }
            None if self.overlays.is_empty() || is_read_only => {
                let help = self.options.keymap.key_for(self.context(), Action::Help).unwrap_or_default();
                self.say(format!("{} does nothing here; {help} lists keys", Keymap::name_of(key)), view);
                Vec::new()
            }
            None => {
                let requests = self.with_top(view, |overlay, cx| overlay.key(key, cx)).1;
                if self.context() == Context::Filter {
                    self.follow_filter(view);
                }
                requests
            }
        }
    }

    /// Whether a key has just opened what is on top.
    fn is_new(&self, now: Timestamp) -> bool {
        self.opened.is_some_and(|opened| now.since(opened) < NEW_QUESTION)
    }

    fn paste(&mut self, text: &str, view: &View<'_>) -> Vec<Request> {
        let (passed, requests) = self.with_top(view, |overlay, cx| overlay.paste(text, cx));
        if self.context() == Context::Filter {
            self.follow_filter(view);
        }
        if passed {
            let key = self.fleet_key(Action::Prompt);
            self.say(format!("to paste a prompt, open one first ({key})"), view);
        }
        requests
    }

    /// Says why a key did nothing, or less than was meant.
    fn say(&mut self, why: String, view: &View<'_>) {
        self.notify_about(Topic::Key, Status::Unknown, why, view.now);
    }

    /// Tells whatever is open the result of something.
    pub fn on_event(&mut self, event: OverlayEvent<'_>, view: &View<'_>) {
        for index in 0..self.overlays.len() {
            self.with(index, view, |overlay, cx| {
                overlay.on_event(event, cx);
                Flow::Stay
            });
        }
    }

    /// Lets what lies on top handle something. Returns whether it, or the lack of it, passes that on, and what is
    /// asked.
    fn with_top(
        &mut self,
        view: &View<'_>,
        handle: impl FnOnce(&mut dyn Overlay, &mut OverlayContext<'_, '_>) -> Flow,
    ) -> (bool, Vec<Request>) {
        match self.overlays.len().checked_sub(1) {
            Some(top) => self.with(top, view, handle),
            None => (true, Vec::new()),
        }
    }

    fn with(
        &mut self,
        index: usize,
        view: &View<'_>,
        handle: impl FnOnce(&mut dyn Overlay, &mut OverlayContext<'_, '_>) -> Flow,
    ) -> (bool, Vec<Request>) {
        let mut cx = OverlayContext { view, options: &self.options, memory: &mut self.memory, requests: Vec::new() };
        let arranged = |memory: &OverlayMemory| (memory.arrangement.sort, memory.arrangement.grouping);
        let before = arranged(cx.memory);
        let then = handle(self.overlays[index].as_mut(), &mut cx);
        let requests = cx.requests;
        if arranged(&self.memory) != before {
            self.put_in_order(view);
        }
        self.go_on(index, then, requests, view)
    }

    /// Does what an overlay says is to become of it.
    fn go_on(&mut self, index: usize, then: Flow, requests: Vec<Request>, view: &View<'_>) -> (bool, Vec<Request>) {
        self.has_opened |= matches!(then, Flow::Become(_) | Flow::Open(_));
        match then {
            Flow::Stay => {}
            Flow::Pass => return (true, requests),
            Flow::Close => drop(self.overlays.remove(index)),
            Flow::Become(overlay) => self.overlays[index] = overlay,
            Flow::Open(overlay) => self.overlays.insert(index + 1, overlay),
            Flow::Perform(action) => {
                self.overlays.remove(index);
                let more = self.perform(action, view);
                return (false, requests.into_iter().chain(more).collect());
            }
            Flow::Reply(reply) => {
                self.overlays.remove(index);
                let Some(below) = index.checked_sub(1) else { return (false, requests) };
                let more = self.with(below, view, |overlay, cx| overlay.take_reply(reply, cx)).1;
                return (false, requests.into_iter().chain(more).collect());
            }
        }
        (false, requests)
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent, view: &View<'_>) -> Vec<Request> {
        let at = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(at, view),
            MouseEventKind::ScrollDown => self.wheel(1, at, view),
            MouseEventKind::ScrollUp => self.wheel(-1, at, view),
            _ => Vec::new(),
        }
    }

    fn click(&mut self, at: Position, view: &View<'_>) -> Vec<Request> {
        self.cursor.begin_key();
        if let Some((_, action)) = self.drawn.buttons.iter().find(|(place, _)| place.contains(at)) {
            return self.perform(*action, view);
        }
        // A click beside a popup is one to be rid of it; whatever is there is not clicked through it.
        let top = self.drawn.top;
        if self.overlays.last().is_some_and(|overlay| overlay.kind().is_popup) && !top.is_empty() && !top.contains(at) {
            return self.perform(Action::Close, view);
        }
        let (passed, requests) = self.with_top(view, |overlay, cx| overlay.click(at, cx));
        if passed {
            self.click_row(at, view);
        }
        requests
    }

    fn click_row(&mut self, at: Position, view: &View<'_>) {
        let Some((_, key)) = self.drawn.rows.iter().find(|(place, _)| place.contains(at)).cloned() else { return };
        let rows = self.rows(view);
        if let Some(index) = rows.iter().position(|row| row.is(&key)) {
            self.cursor.select(index, &rows, view.now);
        }
        if matches!(key, RowKey::Head(_)) {
            return self.open_selected(view);
        }
        let again = self.last_click.take().is_some_and(|(last, at)| last == key && view.now.since(at) <= DOUBLE_CLICK);
        if again {
            self.open_selected(view);
        } else {
            self.last_click = Some((key, view.now));
        }
    }

    fn wheel(&mut self, direction: isize, at: Position, view: &View<'_>) -> Vec<Request> {
        let (passed, requests) = self.with_top(view, |overlay, cx| overlay.wheel(direction, at, cx));
        // What is behind a popup stands still, also where the popup has nothing to scroll.
        if passed && !self.overlays.last().is_some_and(|overlay| overlay.kind().is_popup) {
            if self.drawn.log.contains(at) {
                let step = direction * isize::try_from(WHEEL).unwrap_or(1);
                let most = self.log.count(view).saturating_sub(1);
                self.skipped = self.skipped.saturating_add_signed(step).min(most);
            } else {
                self.step(direction, view);
            }
        }
        requests
    }
}

fn finished_at(terminal: &Terminal) -> Timestamp {
    terminal.state.last_turn.at.unwrap_or_default()
}
