//! What keys and events do. The topmost overlay comes first; what it passes on goes to the group of the action, one file each.

mod answering;
mod arranging;
mod direct;
mod drafts;
mod folding;
mod group;
mod hints;
mod looking;
mod marking;
mod mouse;
mod moving;
mod outcomes;
mod program;
mod prompting;
mod seen;
mod starting;
mod tasks;
mod waiting;

use ratatui::crossterm::event::{Event, KeyEvent, KeyEventKind};

use super::memory::OverlayMemory;
use super::{
    Action, Context, Flow, Keymap, Overlay, OverlayContext, OverlayEvent, OverlayPlace, Request, RowKey, Topic, Ui,
};
use crate::fleet::{TerminalKey, View};
use crate::status::Status;
use group::{Group, NOTHING_SELECTED};

/// Every action that is not an overlay's own is in one of them.
const GROUPS: &[Group] = &[
    moving::GROUP,
    folding::GROUP,
    waiting::GROUP,
    marking::GROUP,
    answering::GROUP,
    prompting::GROUP,
    direct::GROUP,
    looking::GROUP,
    tasks::GROUP,
    starting::GROUP,
    arranging::GROUP,
    program::GROUP,
];

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
        // What a key chooses in a dialog is on the screen before the next one can send it.
        self.has_opened |= matches!(event, Event::Key(_)) && self.context() == Context::Dialog;
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
        self.select_awaited(view);
        requests.extend(self.newly_seen(view));
        requests
    }

    /// Does what an action says, in whatever has the keyboard.
    pub fn obey(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        let filters = self.context() == Context::Filter;
        let (passed, mut requests) = self.with_top(view, |overlay, cx| overlay.obey(action, cx));
        if passed {
            requests.extend(self.obey_anywhere(action, view));
        }
        match action {
            // The way back leads to where the cursor was.
            Action::Close | Action::Complete if filters => self.follow_filter(view),
            Action::Accept if filters => self.cursor.look_anew(view.now),
            _ => {}
        }
        requests
    }

    /// Does what an action says where nothing open does.
    fn obey_anywhere(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        if action.is_of_row() && self.overlays.iter().all(|overlay| overlay.kind().terminal.is_none()) {
            self.cursor.stay();
        }
        if action == Action::Close && self.overlays.pop().is_some() {
            return Vec::new();
        }
        let walks = self.context() == Context::Drill && matches!(action, Action::NextWaiting | Action::PreviousWaiting);
        // The table cannot be seen, and nobody should move in it or change it.
        if self.is_table_hidden() && action.is_of_table() && !walks {
            self.say("that is done in the table".to_owned(), view);
            return Vec::new();
        }
        if let Some(why) = self.why_not(action, view) {
            self.say(why, view);
            return Vec::new();
        }
        group_of(action).map(|group| (group.obey)(self, action, view)).unwrap_or_default()
    }

    /// Why an action would do nothing now; `None` where it does something. The key that would do it says so, and so does the list
    /// of commands.
    fn why_not(&self, action: Action, view: &View<'_>) -> Option<String> {
        let why = (group_of(action)?.why_not)(self, action, view);
        let is_on_head = || action.is_of_head() && matches!(self.cursor.row(), Some(RowKey::Head(_)));
        let has_row = || self.acted_on(view).is_some() || !self.acted_on_together(view).is_empty();
        why.or_else(|| (action.is_of_row() && !is_on_head() && !has_row()).then(|| NOTHING_SELECTED.to_owned()))
    }

    /// What has the keyboard.
    pub(super) fn context(&self) -> Context {
        self.overlays.last().map_or(Context::Fleet, |overlay| overlay.context())
    }

    /// Lays something over everything; it has the keyboard from now on.
    pub(super) fn open(&mut self, overlay: impl Overlay + 'static) {
        if !matches!(overlay.kind().place, OverlayPlace::Popup | OverlayPlace::Bar) {
            self.memory.toasts.retire_of_table();
        }
        self.overlays.push(Box::new(overlay));
        self.has_opened = true;
    }

    /// Whether a whole view stands in place of the table and has the keyboard.
    fn is_table_hidden(&self) -> bool {
        self.overlays.last().is_some_and(|overlay| overlay.kind().place == OverlayPlace::Screen)
    }

    fn key(&mut self, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        let action = self.options.keymap.action(self.context(), key);
        self.memory.toasts.retire_read(view.now);
        let is_read_only = matches!(self.context(), Context::Explanation | Context::Drill | Context::Today);
        match action {
            _ if self.context() == Context::Confirm => self.key_of_question(action, key, view),
            Some(action) => self.obey(action, view),
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
            None => self.key_of_top(key, view),
        }
    }

    /// Gives a key that is no action's to what lies on top.
    fn key_of_top(&mut self, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        let requests = self.with_top(view, |overlay, cx| overlay.key(key, cx)).1;
        if self.context() == Context::Filter {
            self.follow_filter(view);
        }
        requests
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
                let more = self.obey(action, view);
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
}

fn group_of(action: Action) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.actions.contains(&action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_of_the_table_is_in_one_group() {
        for action in Action::ALL {
            let groups = GROUPS.iter().filter(|group| group.actions.contains(action)).count();
            let is_of_table = action.is_of_row() || action.is_of_table();
            assert!(groups == 1 || (groups == 0 && !is_of_table), "{action:?} is in {groups}");
        }
    }
}
