//! What the operator can ask for. Keys, mouse, footer and help all speak of the same [`Action`]s.

/// Declares the actions with the name that a keymap uses and a sentence for the help.
macro_rules! actions {
    ($($(#[$meta:meta])* $action:ident = $name:literal, $description:literal;)+) => {
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
        }
    };
}

actions! {
    Up = "up", "one terminal up";
    Down = "down", "one terminal down";
    PageUp = "page-up", "one page up";
    PageDown = "page-down", "one page down";
    First = "first", "to the first terminal";
    Last = "last", "to the last terminal";
    NextWaiting = "next-waiting", "to the next terminal that needs you";
    PreviousWaiting = "previous-waiting", "to the previous terminal that needs you";
    Filter = "filter", "show only some terminals";
    Sort = "sort", "sort by the next of attention, name, phase, age, agent, host";
    Group = "group", "group by the next of session, agent, host, label, nothing";
    Fold = "fold", "fold the group, or unfold it";
    FoldAll = "fold-all", "fold all groups, or unfold them";
    Mark = "mark", "mark the terminal, or the group, for acting on several";
    MarkAll = "mark-all", "mark all that are shown";
    UnmarkAll = "unmark-all", "take all marks away";
    Pin = "pin", "keep the terminal at the top, or let it go";
    Mute = "mute", "never count the terminal as needing you, or count it again";
    Open = "open", "answer the dialog that waits, or write a prompt";
    Prompt = "prompt", "write a prompt";
    History = "history", "what happened to the terminal, and its screen then";
    Broadcast = "broadcast", "write a prompt to all marked terminals";
    Interrupt = "interrupt", "press the key that stops the agent, once you have said so";
    Raw = "raw", "let every key go to the terminal";
    Unqueue = "unqueue", "take back the prompts that wait for the terminal";
    Explain = "explain", "why fleetwatch says so";
    Jump = "jump", "go to the terminal in tmux";
    KillTask = "kill-task", "end the selected task, after a question";
    RerunTask = "rerun-task", "run the selected task again, after a question";
    PruneTasks = "prune-tasks", "remove all tasks that have ended, after a question";
    KillAllTasks = "kill-all-tasks", "end all tasks, after a question";
    TaskSessions = "task-sessions", "choose which sessions are tasks";
    FollowUps = "follow-ups", "messages to agents: send one again, or leave it at that";
    MuteAll = "mute-all", "mute all notices, or let them through";
    Copy = "copy", "copy the name, the dialog or the transcript";
    SwitchPane = "switch-pane", "show the other pane below the table";
    Layout = "layout", "show the next of all panes, the screen, the transitions, the table alone";
    Taller = "taller", "give the table one row more";
    Lower = "lower", "give the panes one row more";
    Wider = "wider", "give the left pane more columns";
    Narrower = "narrower", "give the right pane more columns";
    Palette = "palette", "list all commands";
    Help = "help", "list the keys";
    Quit = "quit", "leave fleetwatch";
    Suspend = "suspend", "put fleetwatch into the background of the shell";
    Redraw = "redraw", "draw everything anew";
    Reload = "reload", "read configuration, keymap and theme again";
    Answer = "answer", "send the chosen answer";
    Send = "send", "send the prompt";
    SendAnyway = "send-anyway", "send the prompt although the agent is not ready";
    SendWhenReady = "send-when-ready", "send the prompt once the agent is ready";
    OlderPrompt = "older-prompt", "the prompt that was sent before";
    NewerPrompt = "newer-prompt", "the prompt that was sent after";
    Recall = "recall", "choose among the prompts that were sent";
    Template = "template", "begin with a template of the configuration";
    Edit = "edit", "write in your own editor";
    Newline = "newline", "begin a new line";
    Close = "close", "close this; a draft is kept";
    SwitchPaneBack = "switch-pane-back", "show the view before";
    FocusLeft = "focus-left", "move in the left pane";
    FocusRight = "focus-right", "move in the right pane";
    Zoom = "zoom", "show another part of the time";
    Search = "search", "search in the text";
    NextMatch = "next-match", "to the next place that was found";
    PreviousMatch = "previous-match", "to the place found before";
    ScrollUp = "scroll-up", "scroll up";
    ScrollDown = "scroll-down", "scroll down";
    Confirm = "confirm", "yes, do it";
    Choose = "choose", "take the one that is selected";
    Dismiss = "dismiss", "take the messages and the filter away";
}

impl Action {
    /// The action that a keymap calls by a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Whether it moves in the table, or changes which rows there are and how they are shown.
    pub const fn is_of_table(self) -> bool {
        use Action::{
            Broadcast, Dismiss, Down, Filter, First, Fold, FoldAll, Group, History, Last, Layout, Lower, Mark, MarkAll,
            Narrower, NextWaiting, PageDown, PageUp, PreviousWaiting, Sort, SwitchPane, Taller, UnmarkAll, Up, Wider,
        };
        matches!(
            self,
            Up | Down
                | PageUp
                | PageDown
                | First
                | Last
                | NextWaiting
                | PreviousWaiting
                | Filter
                | Sort
                | Group
                | Fold
                | FoldAll
                | Mark
                | MarkAll
                | UnmarkAll
                | Broadcast
                | History
                | SwitchPane
                | Layout
                | Taller
                | Lower
                | Wider
                | Narrower
                | Dismiss
        )
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
