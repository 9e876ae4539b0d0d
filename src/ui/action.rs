//! What the operator can ask for. Keys, mouse, footer and help all speak of the same [`Action`]s.

/// Declares the actions with the name that a keymap uses, a sentence for the help, and what they are about: `row` for
/// those that do something with the row that the cursor is on, `head` for those among them that do something with the head of
/// a group, too, `table` for those that move in the table, or change
/// which rows there are and how they are shown.
macro_rules! actions {
    ($($(#[$meta:meta])* $action:ident = $name:literal, $description:literal $([$($about:ident)+])?;)+) => {
        /// Something that the operator can ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action { $($(#[$meta])* $action),+ }

        impl Action {
            /// Every action, in the order of the help.
            pub const ALL: &'static [Action] = &[$(Action::$action),+];

            /// The name that a keymap uses.
            pub const fn name(self) -> &'static str {
                match self { $(Action::$action => $name),+ }
            }

            /// What it does, for the help.
            pub const fn description(self) -> &'static str {
                match self { $(Action::$action => $description),+ }
            }

            const fn about(self) -> &'static [&'static str] {
                match self { $(Action::$action => &[$($(stringify!($about)),+)?]),+ }
            }
        }
    };
}

actions! {
    Up = "up", "select the terminal above" [table];
    Down = "down", "select the terminal below" [table];
    PageUp = "page-up", "one page up" [table];
    PageDown = "page-down", "one page down" [table];
    First = "first", "select the first terminal" [table];
    Last = "last", "select the last terminal" [table];
    NextWaiting = "next-waiting", "go to the longest wait, pressed again to the next; to failed and finished only if nobody waits" [table];
    PreviousWaiting = "previous-waiting", "select the previous one that needs you" [table];
    Filter = "filter", "filter the terminals; in a text, search" [table];
    Sort = "sort", "choose how the terminals are sorted and grouped" [table];
    Fold = "fold", "fold or unfold the group" [row head table];
    Mark = "mark", "mark the terminal or group and go down; B, x, m, p and U act on all marked" [row head table];
    MarkAll = "mark-all", "mark all shown terminals" [table];
    Pin = "pin", "pin or unpin the terminal, or all marked ones, at the top" [row];
    Mute = "mute", "mute the terminal, or all marked ones, for a time or for good; or unmute it" [row];
    Rename = "rename", "name the terminal; an empty name restores its own" [row];
    Label = "label", "label the terminal, or all marked ones, to group by" [row];
    Open = "open", "answer the waiting dialog, or write a prompt" [row head];
    AllowOnce = "allow-once", "open the dialog with \"yes, this once\" chosen" [row];
    Refuse = "refuse", "open the dialog with \"no\" chosen" [row];
    RefuseWhy = "refuse-why", "say no and why, or answer in your own words" [row];
    Prompt = "prompt", "write a prompt" [row];
    History = "history", "show the terminal's history and earlier screens" [row table];
    LastAnswer = "last-answer", "read the last answer in full" [row];
    Today = "today", "show who worked and who waited for you today, hour by hour, with cost";
    Broadcast = "broadcast", "write a prompt to all marked terminals" [table];
    Interrupt = "interrupt", "interrupt the agent, or all marked ones (asks first)" [row];
    Raw = "raw", "type directly into the terminal" [row];
    Unqueue = "unqueue", "take back the terminal's queued prompts" [row];
    Explain = "explain", "explain the state" [row];
    Jump = "jump", "go to the terminal in tmux" [row];
    Start = "start", "start an agent, or a task";
    End = "end", "end the agent, or kill the task (asks first)" [row];
    RerunTask = "rerun-task", "run the selected task again (asks first)" [row];
    PruneTasks = "prune-tasks", "remove all tasks that have ended (asks first)";
    TaskSessions = "task-sessions", "choose which sessions are tasks";
    Servers = "servers", "list the servers and hosts, slowest first, to filter by one";
    FollowUps = "follow-ups", "list prompts and follow-ups that wait, resend or dismiss them";
    MuteAll = "mute-all", "mute or unmute all notices";
    Copy = "copy", "copy the name, the dialog or the transcript" [row];
    Layout = "layout", "change the layout: screen below, screen beside, grid of screens" [table];
    Columns = "columns", "choose the columns of the table";
    Palette = "palette", "list all commands";
    Help = "help", "list all keys";
    Quit = "quit", "quit fleetwatch";
    Suspend = "suspend", "suspend fleetwatch to the shell";
    Reload = "reload", "reload configuration, keymap and theme, and redraw the screen";
    Accept = "accept", "send it, or take what is selected";
    Anyway = "anyway", "send it although the agent is not ready or does not show the whole question";
    Tick = "tick", "tick or untick the option";
    Recall = "recall", "search earlier prompts";
    Template = "template", "start from a template of the configuration";
    Edit = "edit", "edit in your own editor";
    Newline = "newline", "start a new line";
    Close = "close", "close this; a draft is kept";
    FocusLeft = "focus-left", "go to the left" [table];
    FocusRight = "focus-right", "go to the right" [table];
    NextMatch = "next", "go to the next match, file or part";
    PreviousMatch = "previous", "go to the previous match, file or part";
    Complete = "complete", "complete the word";
}

impl Action {
    /// The action that a keymap calls by a name, also by one that it had before.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = RENAMED.iter().find(|(before, _)| *before == name).map_or(name, |(_, now)| now);
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Whether it does something with the row that the cursor is on.
    pub fn is_of_row(self) -> bool {
        self.about().contains(&"row")
    }

    /// Whether it does something with the head of a group, too.
    pub fn is_of_head(self) -> bool {
        self.about().contains(&"head")
    }

    /// Whether it moves in the table, or changes which rows there are and how they are shown.
    pub fn is_of_table(self) -> bool {
        self.about().contains(&"table")
    }
}

/// Names that actions had before, and those that they have now.
const RENAMED: [(&str, &str); 3] = [("kill-task", "end"), ("next-view", "layout"), ("confirm", "accept")];

/// Other words by which people look for an action.
const SYNONYMS: &[(Action, &str)] = &[
    (Action::Open, "answer reply respond approve accept allow deny reject yes no"),
    (Action::AllowOnce, "approve accept allow yes"),
    (Action::Refuse, "deny reject no"),
    (Action::RefuseWhy, "reason because deny reject"),
    (Action::Prompt, "send queue message ask tell compose"),
    (Action::Broadcast, "send all everyone several"),
    (Action::Jump, "attach switch goto focus visit"),
    (Action::Raw, "attach keys keyboard terminal passthrough"),
    (Action::Interrupt, "cancel escape abort stop kill end terminate"),
    (Action::Unqueue, "withdraw cancel queue undo"),
    (Action::History, "log detail details transcript drill events screen diff changes git facts"),
    (Action::LastAnswer, "read reply response output result said message"),
    (Action::Today, "day summary totals report statistics stats cost tokens hours bars yesterday usage spent"),
    (Action::Explain, "reason debug"),
    (Action::NextWaiting, "attention blocked approval"),
    (Action::Filter, "find search grep"),
    (Action::Rename, "call title"),
    (Action::Label, "tag group"),
    (Action::Mute, "silence hide snooze"),
    (Action::MuteAll, "notify notices notifications silence"),
    (Action::Layout, "panes view split zoom grid tiles wall tall"),
    (Action::Sort, "order group grouping arrange"),
    (Action::Columns, "table fields hide show order widths"),
    (Action::TaskSessions, "adopt windows"),
    (Action::Servers, "hosts machines ssh latency connection"),
    (Action::Start, "new run launch spawn open create worktree"),
    (Action::End, "kill close stop terminate delete remove exit worktree"),
    (Action::RerunTask, "restart rerun retry again"),
    (Action::PruneTasks, "clean clear delete remove"),
    (Action::FollowUps, "outbox messages"),
    (Action::Copy, "yank clipboard"),
    (Action::Reload, "refresh restart config settings theme"),
    (Action::Suspend, "background shell"),
    (Action::Quit, "exit quit leave close bye stop"),
    (Action::Help, "keys bindings manual usage popup"),
];

/// The words by which people look for an action, apart by blanks.
pub fn words_for(action: Action) -> String {
    let also = SYNONYMS.iter().find(|(of, _)| *of == action).map_or("", |(_, words)| words);
    format!("{} {also}", action.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        for &action in Action::ALL {
            assert_eq!(Action::by_name(action.name()), Some(action));
        }
    }
}
