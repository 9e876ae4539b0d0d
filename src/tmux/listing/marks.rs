//! What fleetwatch itself has written into a server: user options of task sessions and their windows. tmux keeps them for
//! as long as the session or window lives, so that every process of fleetwatch reads the same.

use super::super::words::owner_words;

/// The names of the options. Nothing else in tmux is called so.
///
/// `RUN`, `TOLD`, `TASKS` and `WORKTREE` say what `fleetwatch run` and `new` made, and go with it. The others are there for as long as somebody
/// watches, as is the hook that counts bells: whoever watches last takes them back, the next one after a process that was
/// killed, and `doctor --clean`.
pub(in crate::tmux) mod names {
    /// Of a window: how often its bell rang since the hook was installed.
    pub const BELLS: &str = "@fleetwatch_bells";
    /// Of a window: milliseconds since the epoch at which `fleetwatch run` started its program.
    pub const RUN: &str = "@fleetwatch_run";
    /// Of a window: set when the dashboard has reported that its program ended.
    pub const TOLD: &str = "@fleetwatch_told";
    /// Of a window: what its own `remain-on-exit` was before fleetwatch switched it on.
    pub const REMAIN: &str = "@fleetwatch_remain";
    /// Of a session: it is one of tasks, as `fleetwatch run` made it or the operator said so.
    pub const TASKS: &str = "@fleetwatch_tasks";
    /// Of a session: the processes that want its bells counted.
    pub const WATCHERS: &str = "@fleetwatch_watchers";
    /// Of a session: the indices of global hooks that had to be copied into it.
    pub const COPIED: &str = "@fleetwatch_copied";
    /// Of a window: the working tree that `fleetwatch new` started its agent in.
    pub const WORKTREE: &str = "@fleetwatch_worktree";
}

/// The marks on a pane's session and window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The bell counter; `None` where nothing has rung or no counter was ever there.
    pub bells: Option<u64>,
    /// When `fleetwatch run` started the window's program, in milliseconds since the epoch.
    pub run_at: Option<i64>,
    /// Whether the end of this program has been reported.
    pub is_reported: bool,
    /// Whether the session is marked as one of tasks.
    pub task_session: bool,
    /// The processes that want the session's bells counted, as `PID@MACHINE`.
    pub watchers: Vec<String>,
    /// Whether the window keeps a program that has ended, whatever code it has.
    pub remains: bool,
    /// Whether that was fleetwatch's doing.
    pub made_to_remain: bool,
}

/// The formats, separated by commas. None of the values holds one, but for the last, which lists words.
pub(super) fn format() -> String {
    use names::{BELLS, REMAIN, RUN, TASKS, TOLD, WATCHERS};
    format!("#{{{BELLS}}},#{{{RUN}}},#{{{TOLD}}},#{{{TASKS}}},#{{remain-on-exit}},#{{{REMAIN}}},#{{{WATCHERS}}}")
}

impl Marks {
    /// Reads what [`format`] printed. What is not as fleetwatch writes it is not there: anybody may set options.
    pub(super) fn read(text: &str) -> Self {
        let mut fields = text.splitn(7, ',');
        let mut next = || fields.next().unwrap_or_default();
        let bells = next().parse().ok();
        let run_at = next().parse().ok().filter(|at| *at > 0);
        let (is_reported, task_session) = (!next().is_empty(), next() == "1");
        // A number in some versions of tmux, a word in others.
        let remains = matches!(next(), "on" | "1");
        let made_to_remain = !next().is_empty();
        Self { bells, run_at, is_reported, task_session, watchers: owner_words(next()), remains, made_to_remain }
    }
}
