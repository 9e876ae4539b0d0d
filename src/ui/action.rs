//! What the operator can ask for. Keys, mouse, footer and help all speak of the same [`Action`]s.

/// Declares the actions with the name that a keymap uses, a sentence for the help, and what they are about: `row` for
/// those that do something with the row that the cursor is on, `table` for those that move in the table, or change
/// which rows there are and how they are shown, `machine` for those that need the tmux and the history of the machine that is watched,
/// `line` for those that open something to type into.
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
    Up = "up", "select the terminal above" [table step];
    Down = "down", "select the terminal below" [table step];
    PageUp = "page-up", "one page up" [table step];
    PageDown = "page-down", "one page down" [table step];
    First = "first", "select the first terminal" [table step];
    Last = "last", "select the last terminal" [table step];
    NextWaiting = "next-waiting", "go to the longest wait, pressed again to the next; to failed and finished only if nobody waits" [table step];
    PreviousWaiting = "previous-waiting", "select the previous one that needs you" [table step];
    Filter = "filter", "filter the terminals" [table];
    Sort = "sort", "sort by attention, name, state, age, agent, server in turn" [table step];
    Group = "group", "group by session, agent, server, label, nothing in turn" [table step];
    Fold = "fold", "fold or unfold the group" [row table step];
    FoldAll = "fold-all", "fold or unfold all groups" [table step];
    Mark = "mark", "mark the terminal or group and go down; B, x, m, p, S and U act on all marked" [row table step];
    MarkAll = "mark-all", "mark all shown terminals" [table];
    UnmarkAll = "unmark-all", "remove all marks" [table];
    Pin = "pin", "pin or unpin the terminal, or all marked ones, at the top" [row];
    Mute = "mute", "mute or unmute the terminal, or all marked ones: never counted as needing you" [row];
    Rename = "rename", "name the terminal; an empty name restores its own" [row line];
    Label = "label", "label the terminal, or all marked ones, to group by" [row line];
    Seen = "seen", "mark the result of the terminal, or of all marked ones, as seen";
    Open = "open", "answer the waiting dialog, or write a prompt" [row];
    AllowOnce = "allow-once", "open the dialog with \"yes, this once\" chosen" [row];
    Refuse = "refuse", "open the dialog with \"no\" chosen" [row];
    ChooseNo = "choose-no", "choose no, which enter sends: in the table this key goes to the next one";
    RefuseWhy = "refuse-why", "answer no and type why, or a question in your own words" [row line];
    Prompt = "prompt", "write a prompt" [row line];
    History = "history", "show the terminal's history and earlier screens" [row table];
    Today = "today", "show who worked and who waited for you today, hour by hour, with cost";
    Broadcast = "broadcast", "write a prompt to all marked terminals" [table line];
    Interrupt = "interrupt", "interrupt the agent, or all marked ones, after a question" [row];
    Raw = "raw", "type directly into the terminal" [row line];
    Unqueue = "unqueue", "take back the terminal's queued prompts" [row];
    Explain = "explain", "explain the state" [row];
    Jump = "jump", "go to the terminal in tmux" [row];
    KillTask = "kill-task", "kill the selected task, after a question" [row];
    RerunTask = "rerun-task", "run the selected task again, after a question" [row];
    PruneTasks = "prune-tasks", "remove all tasks that have ended, after a question";
    KillAllTasks = "kill-all-tasks", "kill all tasks, after a question";
    TaskSessions = "task-sessions", "choose which sessions are tasks";
    Servers = "servers", "list the servers and hosts, slowest first, to filter by one";
    FollowUps = "follow-ups", "list prompts and follow-ups that wait, resend or dismiss them";
    MuteAll = "mute-all", "mute or unmute all notices";
    Messages = "messages", "show the last messages again, whole";
    Copy = "copy", "copy the name, the dialog or the transcript" [row];
    SwitchPane = "switch-pane", "show the other pane below the table" [table step];
    LogFilter = "log-filter", "show in the log what you did, what went wrong, or all, in turn" [table step];
    Layout = "layout", "change the layout: all panes, tall screen, grid of screens, screen, log, table only" [table step];
    Taller = "taller", "make the table taller" [table step];
    Lower = "lower", "make the table shorter" [table step];
    Wider = "wider", "make the left pane wider" [table step];
    Narrower = "narrower", "make the left pane narrower" [table step];
    Columns = "columns", "choose the columns of the table";
    Palette = "palette", "list all commands";
    Help = "help", "list all keys";
    Quit = "quit", "quit fleetwatch";
    Suspend = "suspend", "suspend fleetwatch to the shell";
    Redraw = "redraw", "redraw the screen";
    Reload = "reload", "reload configuration, keymap and theme";
    Answer = "answer", "send the chosen answer";
    AnswerAnyway = "answer-anyway", "send the chosen answer although the agent does not show the whole question";
    Tick = "tick", "tick or untick the option";
    Send = "send", "send the prompt";
    SendAnyway = "send-anyway", "send the prompt although the agent is not ready";
    SendWhenReady = "send-when-ready", "queue the prompt, and send it once the agent is ready";
    OlderPrompt = "older-prompt", "the previous prompt";
    NewerPrompt = "newer-prompt", "the next prompt";
    Recall = "recall", "search earlier prompts";
    Template = "template", "start from a template of the configuration";
    Edit = "edit", "edit in your own editor";
    Newline = "newline", "start a new line";
    ClearLine = "clear-line", "delete to the start of the line";
    Undo = "undo", "undo the last change";
    Close = "close", "close this; a draft is kept";
    SwitchPaneBack = "switch-pane-back", "show the previous view" [step];
    FocusLeft = "focus-left", "go to the left" [table step];
    FocusRight = "focus-right", "go to the right" [table step];
    Zoom = "zoom", "change the span of the time line" [step];
    Search = "search", "search in the text";
    NextMatch = "next-match", "go to the next match" [step];
    PreviousMatch = "previous-match", "go to the previous match" [step];
    NextFile = "next-file", "go to the next file of the diff" [step];
    PreviousFile = "previous-file", "go to the previous file of the diff" [step];
    ScrollUp = "scroll-up", "scroll up" [step];
    ScrollDown = "scroll-down", "scroll down" [step];
    MoveUp = "move-up", "move the column to the left";
    MoveDown = "move-down", "move the column to the right";
    Reset = "reset", "restore the default";
    Complete = "complete", "complete the word";
    Confirm = "confirm", "yes, do it";
    Choose = "choose", "choose the selected entry";
    Dismiss = "dismiss", "dismiss the messages and the filter" [table];
}

impl Action {
    /// The action that a keymap calls by a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Whether it does something with the row that the cursor is on.
    pub fn is_of_row(self) -> bool {
        self.about().contains(&"row")
    }

    /// Whether it moves in the table, or changes which rows there are and how they are shown.
    pub fn is_of_table(self) -> bool {
        self.about().contains(&"table")
    }

    /// Whether it only changes what is seen, as one does several times in a row.
    pub fn is_step(self) -> bool {
        self.about().contains(&"step")
    }

    /// Whether it opens something to type into: where it does not, what is typed next must not be taken for keys.
    pub fn opens_line(self) -> bool {
        self.about().contains(&"line")
    }
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
