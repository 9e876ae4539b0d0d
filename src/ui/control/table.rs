//! Keys of the table: moving in it, opening overlays, order, groups, filter, marks, and the layout.

use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::interrupt;
use crate::present::arrangement::{Group, Sort};
use crate::state::{Availability, NotePart, Phase, TaskStatus};
use crate::status::Status;
use crate::ui::answer::TaskAnswer;
use crate::ui::columns::ColumnList;
use crate::ui::composer::Composer;
use crate::ui::dialog::{DialogBox, SeveralDialogs, verdict_hints};
use crate::ui::drill::Drill;
use crate::ui::filter_bar::FilterBar;
use crate::ui::interrupt::Interrupt;
use crate::ui::lists::{arranging, follow_ups, needs_decision, palette, servers, task_sessions};
use crate::ui::note::NoteBar;
use crate::ui::raw::Raw;
use crate::ui::today::Today;
use crate::ui::{Action, Drawn, Filter, Hint, Item, Request, RowKey, Topic, Ui, find, grid};

/// What is said where an action is for one terminal, and the cursor is on none.
pub(super) const NOTHING_SELECTED: &str = "no terminal is selected";

impl Ui {
    /// The keys worth showing while the table has the keyboard.
    pub(super) fn fleet_hints(&self, view: &View<'_>) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        if let Some(RowKey::Head(group)) = self.cursor.row() {
            let folded = self.memory.arrangement.is_folded(group);
            hints.extend([(Action::Open, if folded { "unfold" } else { "fold" }), (Action::Mark, "mark them all")]);
        }
        let answers_marked = !self.marked_that_wait(view).is_empty();
        if answers_marked {
            hints.push((Action::Open, "answer the marked"));
        }
        if let Some(terminal) = self.cursor.terminal(view) {
            if terminal.state.waits() && !answers_marked {
                hints.push((Action::Open, "answer"));
                // From here they only open its box.
                hints.extend(terminal.dialog.iter().flat_map(|dialog| verdict_hints(dialog, ["yes …", "no …"])));
            } else if !terminal.state.has_ended() && !answers_marked {
                hints.push((Action::Prompt, "prompt"));
            }
            if terminal.state.turn.phase == Phase::Active {
                hints.push((Action::Interrupt, "interrupt"));
            }
            if self.memory.queued.contains_key(&terminal.key) {
                hints.push((Action::Unqueue, "take back"));
            }
            if !self.memory.arrangement.flags.marked_agents(view).is_empty() {
                hints.push((Action::Broadcast, "prompt to the marked"));
            }
            if terminal.state.diagnostics.availability != Availability::Unavailable {
                hints.push((Action::Jump, "jump"));
            }
            hints.push((Action::History, "history"));
        }
        if let Some(Item::Task(task)) = self.selected(view) {
            let opens = if task.status == TaskStatus::WaitingInput { "answer" } else { "history" };
            if !answers_marked {
                hints.push((Action::Open, opens));
            }
            if answers_marked || opens == "answer" {
                hints.push((Action::History, "history"));
            }
            if !task.is_gone() && !matches!(task.status, TaskStatus::WaitingInput | TaskStatus::Exited) {
                hints.push((Action::Raw, "type"));
            }
            if !task.is_gone() {
                hints.push((Action::Jump, "jump"));
                hints.push(if task.is_dead() { (Action::RerunTask, "run again") } else { (Action::KillTask, "kill") });
            }
        }
        let arrangement = &self.memory.arrangement;
        if arrangement.shown(view).any(|item| arrangement.needs_operator(item)) {
            hints.push((Action::NextWaiting, "longest wait"));
        } else if arrangement.shown(view).any(|item| arrangement.wants_a_look(item)) {
            hints.push((Action::NextWaiting, "next to look at"));
        }
        // It has no key, and stands first in the list of commands.
        let is_unclear = self.memory.follow_ups.iter().any(needs_decision);
        if is_unclear {
            hints.push((Action::FollowUps, "unclear messages"));
        }
        if !self.memory.arrangement.filter.is_empty() {
            hints.push((Action::Close, "show all"));
        }
        if let Some(terminal) = self.cursor.terminal(view) {
            hints.push((Action::Explain, "why"));
            if terminal.state.waits() {
                hints.push((Action::Prompt, "prompt"));
            }
        }
        let commands = if is_unclear { "unclear messages" } else { "commands" };
        hints.extend([(Action::Palette, commands), (Action::Quit, "quit"), (Action::Help, "help")]);
        hints
    }

    /// Does what an action says of the table.
    pub(super) fn perform_in_fleet(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        if let Some(why) = self.why_not(action, view) {
            self.say(why, view);
            return Vec::new();
        }
        let page = isize::try_from(self.drawn.page.max(1)).unwrap_or(isize::MAX);
        match action {
            Action::Up => self.step_beside(0, -1, view),
            Action::Down => self.step_beside(0, 1, view),
            Action::FocusLeft if self.tiles.is_some() => self.step_beside(-1, 0, view),
            Action::FocusRight if self.tiles.is_some() => self.step_beside(1, 0, view),
            Action::PageUp => self.step(-page, view),
            Action::PageDown => self.step(page, view),
            Action::First => {
                self.step(isize::MIN, view);
                let rows = self.rows(view);
                self.cursor.stay_at_top(&rows);
            }
            Action::Last => self.step(isize::MAX, view),
            Action::NextWaiting => self.step_to_waiting(true, view),
            Action::PreviousWaiting => self.step_to_waiting(false, view),
            Action::Open => match &self.marked_that_wait(view)[..] {
                [] => self.open_selected(view),
                [one] => self.open(DialogBox::new(one, self.cursor.slipped())),
                marked => self.open(SeveralDialogs::new(marked)),
            },
            Action::AllowOnce | Action::Refuse | Action::RefuseWhy => match &self.marked_that_wait(view)[..] {
                [] => self.open_dialog(action, view),
                [one] => self.open(DialogBox::meaning(one, action, None)),
                marked => self.open(SeveralDialogs::meaning(marked, action)),
            },
            Action::Prompt => self.compose(view),
            Action::History => {
                if let Some(key) = self.cursor.key().cloned() {
                    self.open_history(&key, view);
                }
            }
            Action::Broadcast => self.broadcast(view),
            Action::Interrupt => return self.interrupt(view),
            Action::Raw => match self.acted_on(view) {
                Some(Item::Terminal(terminal)) => self.open(Raw::new(terminal.key.clone())),
                Some(Item::Task(task)) => self.open(Raw::for_task(task)),
                None => {}
            },
            Action::Unqueue => return self.unqueue(view),
            Action::Palette => {
                let here: Vec<Action> = self.fleet_hints(view).into_iter().map(|(action, _)| action).collect();
                let orders = self.orders(view);
                self.open(palette(&self.options.keymap, &here, |action| self.why_not(action, view), orders));
            }
            Action::Columns => self.open(ColumnList::default()),
            Action::Today => self.open(Today::default()),
            Action::MuteAll => return self.toggle_notices(view),
            Action::Pin | Action::Mute => return self.flag(action, view),
            Action::Rename | Action::Label => {
                let (part, items) = match action {
                    Action::Label => (NotePart::Label, self.acted_on_together(view)),
                    _ => (NotePart::Name, self.acted_on(view).into_iter().collect()),
                };
                if let Some(bar) = NoteBar::new(part, &items) {
                    self.open(bar);
                }
            }
            Action::KillTask | Action::RerunTask | Action::PruneTasks => {
                self.act_on_tasks(action, view);
            }
            Action::FollowUps => self.open(follow_ups(&self.memory.follow_ups, view)),
            Action::TaskSessions => self.open(task_sessions(view)),
            Action::Servers => self.open(servers(view, &self.options.zone)),
            _ => self.rearrange(action, view),
        }
        Vec::new()
    }

    /// What the cursor is on, unless that is the head of a group.
    pub(in crate::ui) fn selected<'a>(&self, view: &View<'a>) -> Option<Item<'a>> {
        Item::find(view, self.cursor.key()?)
    }

    /// What an action on one row is about: the terminal that lies on top, such as the one that is looked into, else the
    /// selected row.
    pub(super) fn acted_on<'a>(&self, view: &View<'a>) -> Option<Item<'a>> {
        Item::find(view, &self.target()?)
    }

    /// Moves the cursor by rows, and stops at both ends: by the rows as they were shown, wherever they may be by now.
    pub(super) fn step(&mut self, rows_down: isize, view: &View<'_>) {
        let rows = self.rows(view);
        let Drawn { rows: shown, first, count, .. } = &self.drawn;
        let from = shown.iter().position(|(_, key)| Some(key) == self.cursor.row());
        let to = from.map(|from| (first + from).saturating_add_signed(rows_down).min(count.saturating_sub(1)));
        let shown = to.and_then(|to| shown.get(to.checked_sub(*first)?));
        match shown.and_then(|(_, key)| rows.iter().position(|row| row.is(key))) {
            Some(index) => self.cursor.select(index, &rows, view.now),
            None => self.cursor.step(rows_down, &rows, view.now),
        }
        self.before_filter = self.cursor.row().cloned();
    }

    /// Moves the cursor to the row below or above, in a grid to the tile there, if there is one.
    fn step_beside(&mut self, right: isize, down: isize, view: &View<'_>) {
        let (columns, count, from) = (self.drawn.columns, self.drawn.count, self.cursor.index());
        let by = if columns > 1 { grid::neighbour(from, (columns, count), right, down) } else { Some(down) };
        by.into_iter().for_each(|rows_down| self.step(rows_down, view));
    }

    fn toggle_notices(&mut self, view: &View<'_>) -> Vec<Request> {
        self.muted = !self.muted;
        let key = self.fleet_key(Action::MuteAll);
        let muted = format!("all notices are muted; {key} undoes it");
        let message = if self.muted { muted } else { "notices are on again".to_owned() };
        self.notify_about(Topic::Notices, Status::Ready, message, view.now);
        vec![Request::Note { key: None, action: if self.muted { "notices muted" } else { "notices on" } }]
    }

    /// Opens what the selected row offers: the dialog of an agent, which is never answered by opening it, the composer,
    /// a line for the answer to a task that asks or else its keyboard, or what happened to any other task.
    pub(super) fn open_selected(&mut self, view: &View<'_>) {
        if let Some(RowKey::Head(group)) = self.cursor.row().cloned() {
            return self.toggle_fold(&group, view);
        }
        match self.selected(view) {
            Some(Item::Task(task)) if task.status == TaskStatus::WaitingInput => {
                return match TaskAnswer::to(task) {
                    Some(line) => self.open(line),
                    None => self.open(Raw::answering(task)),
                };
            }
            Some(Item::Task(task)) => return self.open_history(&task.key, view),
            _ => {}
        }
        let Some(terminal) = self.cursor.terminal(view) else { return };
        if terminal.state.waits() {
            self.open(DialogBox::new(terminal, self.cursor.slipped()));
        } else {
            self.compose(view);
        }
    }

    /// The marked agents that wait and are shown, by rows; none while an overlay is open, or if it is only one and the
    /// selected row asks something itself.
    pub(super) fn marked_that_wait<'a>(&self, view: &View<'a>) -> Vec<&'a Terminal> {
        let arrangement = &self.memory.arrangement;
        let waits = |item: Item<'a>| match item {
            Item::Terminal(terminal) if terminal.state.waits() && arrangement.flags.is_marked(item) => Some(terminal),
            _ => None,
        };
        let is_here = self.overlays.is_empty() && matches!(self.cursor.row(), Some(RowKey::Terminal(_)));
        let marked: Vec<&Terminal> = arrangement.shown(view).filter(|_| is_here).filter_map(waits).collect();
        let asks_itself = || self.selected(view).is_some_and(|item| item.status().needs_operator());
        if marked.len() == 1 && asks_itself() { Vec::new() } else { marked }
    }

    /// Opens the dialog of a terminal with what the operator means to answer; it is sent from there.
    fn open_dialog(&mut self, meant: Action, view: &View<'_>) {
        let Some(Item::Terminal(terminal)) = self.acted_on(view) else { return };
        let mut dialog = DialogBox::meaning(terminal, meant, self.cursor.slipped());
        dialog.offer_draft(&self.memory);
        self.open(dialog);
    }

    pub(super) fn open_history(&mut self, key: &TerminalKey, view: &View<'_>) {
        if let Some(drill) = Drill::of(key, view) {
            self.open(drill);
        }
    }

    fn compose(&mut self, view: &View<'_>) {
        if let Some(Item::Terminal(terminal)) = self.acted_on(view) {
            self.open(Composer::new(terminal.key.clone(), &self.memory));
        }
    }

    /// Opens the composer for all marked terminals.
    fn broadcast(&mut self, view: &View<'_>) {
        let marked = self.memory.arrangement.flags.marked_agents(view);
        let mut keys: Vec<TerminalKey> = marked.iter().map(|item| item.key().clone()).collect();
        // In the order of the rows; those that no row shows come last.
        let rows = self.rows(view);
        let place = |key: &TerminalKey| rows.iter().position(|row| row.item().is_some_and(|item| item.key() == key));
        keys.sort_by_key(|key| place(key).unwrap_or(rows.len()));
        let hidden = self.memory.arrangement.hidden(&marked, view);
        if hidden > 0 {
            self.notify(Status::Stalled, format!("the filter hides {hidden} of the marked"), view.now);
        }
        self.open(Composer::for_several(keys, &self.memory));
    }

    /// What an action for several is about: all that are marked, unless something about one terminal lies on top; else
    /// what any action is about.
    pub(super) fn acted_on_together<'a>(&self, view: &View<'a>) -> Vec<Item<'a>> {
        let marked = self.memory.arrangement.flags.marked(view);
        let marked: Vec<Item<'a>> = marked.filter(|_| self.overlays.is_empty()).collect();
        if marked.is_empty() { self.acted_on(view).into_iter().collect() } else { marked }
    }

    /// Asks which key is to stop the selected agent or all that are marked.
    fn interrupt(&mut self, view: &View<'_>) -> Vec<Request> {
        let together = self.acted_on_together(view);
        if together.len() > 1 {
            let (mut agents, mut left_out): (Vec<&Terminal>, Vec<String>) = (Vec::new(), Vec::new());
            for item in together {
                match item {
                    Item::Terminal(terminal) => match interrupt::needless(terminal) {
                        None => agents.push(terminal),
                        Some(needless) => left_out.push(needless),
                    },
                    Item::Task(task) => left_out.push(format!("{} is a task", task.id)),
                }
            }
            self.open(Interrupt::new(&agents, left_out));
            return Vec::new();
        }
        let Some(Item::Terminal(terminal)) = self.acted_on(view) else { return Vec::new() };
        self.open(Interrupt::new(&[terminal], Vec::new()));
        Vec::new()
    }

    /// Asks for the prompts back that wait for the selected terminal or for all that are marked.
    fn unqueue(&self, view: &View<'_>) -> Vec<Request> {
        vec![Request::Unqueue(self.queued_here(view))]
    }

    /// The terminals of those that prompts wait for.
    fn queued_here(&self, view: &View<'_>) -> Vec<TerminalKey> {
        let together = self.acted_on_together(view).into_iter().map(|item| item.key().clone());
        together.filter(|key| self.memory.queued.contains_key(key)).collect()
    }

    /// Why no prompt is taken back, where the last one is, and what is queued elsewhere; `None` where one is.
    pub(super) fn why_nothing_comes_back(&self, view: &View<'_>) -> Option<String> {
        if !self.queued_here(view).is_empty() {
            return None;
        }
        let key = self.target().and_then(|key| find(view, &key));
        Some(key.map_or_else(|| NOTHING_SELECTED.to_owned(), |terminal| self.why_none_is_queued(terminal, view)))
    }

    fn why_none_is_queued(&self, terminal: &Terminal, view: &View<'_>) -> String {
        let named = |key: &TerminalKey| Some(find(view, key)?.state.terminal.id.clone());
        let (key, name) = (&terminal.key, &terminal.state.terminal.id);
        if self.memory.sending.contains_key(key) {
            return format!("too late: the prompt is on its way to {name}");
        }
        if self.memory.draft(key).is_some() {
            return format!(
                "no prompt is queued for {name}; {} opens the draft for it",
                self.fleet_key(Action::Prompt)
            );
        }
        if terminal.state.turn.phase == Phase::Active {
            let stop = self.fleet_key(Action::Interrupt);
            return format!("no prompt is queued for {name}: it works on what it has; {stop} interrupts it");
        }
        let elsewhere: Vec<String> = self.memory.queued.keys().filter_map(named).collect();
        match elsewhere.is_empty() {
            true => format!("no prompt is queued for {name}"),
            false => format!("no prompt is queued for {name}, but for {}", elsewhere.join(", ")),
        }
    }

    /// Does what an action says of the order of the rows.
    pub(super) fn rearrange(&mut self, action: Action, view: &View<'_>) {
        // Rows that stand in another order now are no longer where they were shown.
        self.drawn.rows.clear();
        let arrangement = &mut self.memory.arrangement;
        match action {
            Action::Filter => {
                let bar = FilterBar::new(&arrangement.filter);
                self.before_filter = self.cursor.row().cloned();
                return self.open(bar);
            }
            // Nothing is put into another order.
            Action::Close if arrangement.filter.is_empty() => {
                arrangement.flags.unmark_all();
                return self.memory.toasts.clear();
            }
            Action::Close => {
                arrangement.filter = Filter::default();
                self.memory.toasts.clear();
            }
            Action::Sort => {
                let orders = self.orders(view);
                return self.open(arranging(self.memory.arrangement.sort, self.memory.arrangement.grouping, orders));
            }
            Action::Fold => return self.fold_here(None, view),
            Action::FocusLeft => return self.fold_here(Some(true), view),
            Action::FocusRight => return self.fold_here(Some(false), view),
            Action::Mark => return self.mark(view),
            Action::MarkAll => {
                let shown: Vec<Item<'_>> = arrangement.shown(view).collect();
                return arrangement.flags.mark(shown);
            }
            _ => return self.lay_out(action, view),
        }
        self.put_in_order(view);
    }

    /// What the operator put into another order is in that order at once.
    pub(super) fn put_in_order(&mut self, view: &View<'_>) {
        self.drawn.rows.clear();
        self.release_rows();
        self.follow(view);
        self.cursor.hold(view.now);
    }

    /// The orders that say something of what is shown.
    fn orders(&self, view: &View<'_>) -> Vec<Sort> {
        Sort::of_use(&self.memory.arrangement.shown(view).collect::<Vec<_>>())
    }

    /// Lets every row go to where it belongs.
    pub(super) fn release_rows(&mut self) {
        self.cursor.release();
        if let Some(tiles) = &mut self.tiles {
            tiles.release();
        }
    }

    /// Follows a filter that is being typed: each row stands where it belongs, and the cursor is on the terminal that
    /// was selected before, or on the first one as long as that is not shown.
    pub(super) fn follow_filter(&mut self, view: &View<'_>) {
        self.release_rows();
        self.drawn.rows.clear();
        let rows = self.rows(view);
        let before = self.before_filter.as_ref().and_then(|key| rows.iter().position(|row| row.is(key)));
        self.cursor.select(before.unwrap_or(0), &rows, view.now);
    }

    /// Folds a group or unfolds it; the cursor goes to its head.
    pub(super) fn toggle_fold(&mut self, group: &Group, view: &View<'_>) {
        let fold = !self.memory.arrangement.is_folded(group);
        self.drawn.rows.clear();
        self.memory.arrangement.fold(group, fold);
        let rows = self.rows(view);
        if let Some(head) = rows.iter().position(|row| row.is(&RowKey::Head(group.clone()))) {
            self.cursor.select(head, &rows, view.now);
        }
    }

    /// Folds or unfolds the group that the cursor is in, whichever it is not or as is wanted.
    fn fold_here(&mut self, wanted: Option<bool>, view: &View<'_>) {
        let group = match self.cursor.row() {
            Some(RowKey::Head(group)) => Some(group.clone()),
            _ => self.selected(view).and_then(|item| self.memory.arrangement.group_of(view, item.key())),
        };
        match group {
            Some(group) if wanted == Some(self.memory.arrangement.is_folded(&group)) => {}
            Some(group) => self.toggle_fold(&group, view),
            // The cursor is on no row.
            None => {}
        }
    }

    /// Marks the selected terminal and goes on to the next row, so that several are marked by one key; on the head of a
    /// group it marks the group.
    fn mark(&mut self, view: &View<'_>) {
        let arrangement = &mut self.memory.arrangement;
        match self.cursor.row() {
            Some(RowKey::Head(group)) => {
                let members = arrangement.members(view, group);
                if members.iter().all(|member| arrangement.flags.is_marked(*member)) {
                    members.into_iter().for_each(|member| arrangement.flags.toggle_mark(member));
                } else {
                    arrangement.flags.mark(members);
                }
            }
            Some(RowKey::Terminal(_)) => {
                if let Some(item) = self.selected(view) {
                    self.memory.arrangement.flags.toggle_mark(item);
                }
                self.step(1, view);
            }
            None => {}
        }
    }

    /// Does what an action says of the layout.
    pub(super) fn lay_out(&mut self, action: Action, view: &View<'_>) {
        if action == Action::Layout {
            self.panes.layout = self.panes.next_layout(&self.drawn.regions);
            let key = self.fleet_key(action);
            let message = format!("{}; {key} goes on", self.panes.layout.words());
            self.notify_about(Topic::Layout, Status::Ready, message, view.now);
        }
    }
}
