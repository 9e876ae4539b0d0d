//! What a look prints, and how it is read.
//!
//! A record is `NONCE KIND numbers NONCE (text NONCE)* tail`. Numbers are separated by commas; texts (names, title,
//! command, directory) may hold anything that a pane cares to put there, but not the nonce of this call. The tail of
//! a capture's record is the screen.

use super::script::Nonce;
use super::words::{is_plain, owner_words};
use super::{Error, error};
use crate::fleet::{PaneId, PaneLocation};
use crate::ids::{ServerInstance, TerminalKey};
use crate::screen::{Cursor, PaneFacts, Row, Screen, harmless};

/// What a server answered to one look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// tmux's version, as it writes it: `3.3a`.
    pub version: String,
    /// The process id of the server; another one is another server on the same socket.
    pub server_pid: u32,
    /// Which server it is, on which machine.
    pub instance: ServerInstance,
    /// The server's clock at the beginning of the look, in whole seconds since the Unix epoch: the clock that
    /// [`ListedPane::activity`] is of.
    pub clock: i64,
    /// Every pane, in tmux's order. One that is linked into several sessions is there once for each.
    pub panes: Vec<ListedPane>,
    /// The panes that were captured, with their facts at that time.
    pub captures: Vec<CapturedPane>,
}

/// One pane of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPane {
    pub id: PaneId,
    /// The process that tmux started in the pane.
    pub pid: u32,
    /// tmux's number of the session, without its `$`.
    pub session_id: u32,
    /// tmux's number of the window, without its `@`.
    pub window_id: u32,
    pub place: PaneLocation,
    /// When something was last printed in the pane's window, in seconds of the server's clock.
    pub activity: i64,
    pub columns: u16,
    pub rows: u16,
    pub cwd: Option<String>,
    pub facts: PaneFacts,
    /// Whether keys that are sent to this pane go to all panes of its window.
    pub synchronized: bool,
    /// Whether the pane takes no keys (`select-pane -d`).
    pub input_off: bool,
    pub marks: Marks,
    /// The beginning of the command that the pane was started with; `None` when it is the user's shell.
    pub start_command: Option<String>,
}

/// A captured screen.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedPane {
    pub pane: ListedPane,
    /// `None` when tmux listed the pane but printed no screen.
    pub screen: Option<Screen>,
}

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListedKind {
    Pane,
    Capture,
}

/// Characters of a pane's start command that are listed.
const COMMAND: usize = 200;

/// How tmux begins what it writes into the last row of a pane whose program has ended.
const DEAD: &str = "Pane is dead";

/// Texts in a row.
const TEXTS: usize = 7;

pub(super) fn header_format(nonce: &Nonce, on_host: bool) -> String {
    // `display-message` is the one command here that puts the time into its text.
    format!("{nonce}H#{{pid}},%s,#{{version}},{}{nonce}", instance_format(on_host))
}

/// What a server says of itself that no other one does, in letters, digits and `. _ -`: its process and its start, and on a
/// host the machine's name. The name of this machine may change while its servers live on.
pub(super) fn instance_format(on_host: bool) -> &'static str {
    if on_host { "#{s/[^A-Za-z0-9._-]//:host}.#{pid}.#{start_time}" } else { "#{pid}.#{start_time}" }
}

/// Reads what [`instance_format`] printed. What is not as it should be is not known.
pub(super) fn read_instance(text: &str) -> ServerInstance {
    ServerInstance::new(if text.chars().all(is_plain) { text } else { "" })
}

pub(super) fn end_format(nonce: &Nonce) -> String {
    format!("{nonce}E{nonce}")
}

pub(super) fn row_format(nonce: &Nonce, kind: ListedKind) -> String {
    let kind = match kind {
        ListedKind::Pane => 'P',
        ListedKind::Capture => 'C',
    };
    // Formats that a tmux does not know are empty there: pane_dead_signal is younger than 3.2.
    let numbers = "#{pane_id},#{pane_pid},#{session_id},#{window_id},#{window_index},#{pane_index},#{window_panes},\
                   #{session_windows},#{window_activity},#{pane_width},#{pane_height},#{cursor_x},#{cursor_y},\
                   #{cursor_flag},#{alternate_on},#{pane_dead},#{pane_dead_status},#{pane_dead_signal},\
                   #{window_bell_flag},#{history_size},#{pane_in_mode},#{pane_synchronized},#{pane_input_off}";
    format!(
        "{nonce}{kind}{numbers}{nonce}#{{session_name}}{nonce}#{{window_name}}{nonce}#{{?#{{==:#{{pane_title}},#{{host}}}},,#{{pane_title}}}}{nonce}\
         #{{pane_current_command}}{nonce}#{{pane_current_path}}{nonce}{marks}{nonce}#{{={COMMAND}:pane_start_command}}{nonce}",
        marks = format()
    )
}

impl Listing {
    /// Reads the whole output of a look whose parts are framed by `mark`.
    ///
    /// Fails when a mark is missing, so that half an answer is never taken for a smaller fleet, and when tmux is too
    /// old.
    pub fn parse(text: &str, mark: &str) -> Result<Self, Error> {
        parse(text, mark)
    }

    /// Whether a pane of this look is the terminal with an identity.
    pub fn shows(&self, pane: &ListedPane, key: &TerminalKey) -> bool {
        pane.id == key.pane && pane.pid == key.pid && self.instance.may_be(&key.instance)
    }
}

fn parse(text: &str, mark: &str) -> Result<Listing, Error> {
    let mut parts = text.split(mark);
    // Nothing of ours stands before the first mark.
    parts.next();
    let mut look = Listing::default();
    let mut headed = false;
    while let Some(head) = parts.next() {
        let Some(kind) = head.chars().next() else { return Err(garbled("a record without a kind")) };
        let numbers = &head[kind.len_utf8()..];
        match kind {
            'H' => {
                read_header(&mut look, numbers)?;
                headed = true;
                parts.next();
            }
            'E' if headed => return Ok(look),
            'P' | 'C' => {
                let mut texts = [""; TEXTS];
                for text in &mut texts {
                    *text = parts.next().ok_or_else(|| garbled("a row that ends early"))?;
                }
                let tail = parts.next().ok_or_else(|| garbled("a row that ends early"))?;
                // For a pane that is gone `display-message` prints the formats with nothing in them.
                if kind == 'C' && numbers.starts_with(',') {
                    continue;
                }
                let pane = read_row(numbers, texts).ok_or_else(|| garbled("a row with other numbers"))?;
                match kind {
                    'P' => look.panes.push(pane),
                    _ => look.captures.push(read_capture(pane, tail)),
                }
            }
            _ => return Err(garbled("a record of an unknown kind")),
        }
    }
    Err(garbled(if headed { "the end is missing" } else { "the beginning is missing" }))
}

fn garbled(what: &str) -> Error {
    Error::Garbled(what.to_owned())
}

fn read_header(look: &mut Listing, numbers: &str) -> Result<(), Error> {
    let mut fields = numbers.splitn(4, ',');
    let mut next = || fields.next().unwrap_or_default();
    let (pid, clock, version, instance) = (next(), next(), next(), next());
    error::check_version(version)?;
    look.version = harmless(version);
    look.instance = read_instance(instance);
    look.server_pid = pid.parse().map_err(|_| garbled("a header without a process id"))?;
    look.clock = clock.parse().map_err(|_| garbled("a header without a time"))?;
    Ok(())
}

/// A row's numbers, from left to right.
struct Numbers<'a>(std::str::Split<'a, char>);

impl Numbers<'_> {
    fn text(&mut self) -> Option<&str> {
        self.0.next()
    }

    /// A number with tmux's sigil in front, if it has one.
    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.text()?.trim_start_matches(['%', '$', '@']).parse().ok()
    }

    /// A flag; what this tmux does not tell is off.
    fn flag(&mut self) -> Option<bool> {
        self.text().map(|text| !matches!(text, "" | "0"))
    }
}

fn read_row(numbers: &str, texts: [&str; TEXTS]) -> Option<ListedPane> {
    let [session, window, title, command, cwd, marks, started] = texts;
    let mut n = Numbers(numbers.split(','));
    // The fields stand in the order of `row_format`.
    let (id, pid, session_id, window_id) = (n.number()?, n.number()?, n.number()?, n.number()?);
    let (window_index, pane_index, window_panes, session_windows) =
        (n.number()?, n.number()?, n.number()?, n.number()?);
    let (activity, columns, rows) = (n.number()?, n.number()?, n.number()?);
    let cursor = Cursor { column: n.number()?, row: n.number()?, visible: n.flag()? };
    let (alternate, dead) = (n.flag()?, n.flag()?);
    let status: Option<i32> = n.number();
    let signal = n.text().and_then(signal_number);
    let (bell, history_size, in_mode) = (n.flag()?, n.number()?, n.flag()?);
    let (synchronized, input_off) = (n.flag()?, n.flag()?);
    Some(ListedPane {
        id: PaneId(id),
        pid,
        session_id,
        window_id,
        place: PaneLocation {
            session: harmless(session),
            window_index,
            window_name: harmless(window),
            pane_index,
            window_panes,
            session_windows,
        },
        activity,
        columns,
        rows,
        cwd: (!cwd.is_empty()).then(|| harmless(cwd)),
        facts: PaneFacts {
            title: harmless(title),
            command: harmless(command),
            cursor,
            alternate,
            dead,
            // What a shell would say of a command that a signal ended.
            exit_status: if dead { signal.map(|signal| 128 + signal).or(status) } else { None },
            bell,
            history_size,
            in_mode,
        },
        synchronized,
        input_off,
        marks: Marks::read(marks),
        start_command: start_command(&harmless(started)),
    })
}

/// A command as people write it: without the quotes that tmux puts around a single word, and without what keeps a word
/// from a shell.
fn start_command(text: &str) -> Option<String> {
    let unquoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|text| !text.contains('"'));
    let text = unquoted.unwrap_or(text).trim();
    let text = ["env -- ", "nice -n 0 -- "].iter().find_map(|before| text.strip_prefix(before)).unwrap_or(text);
    (!text.is_empty()).then(|| text.to_owned())
}

/// tmux writes a signal's number on some systems and its name on others.
fn signal_number(text: &str) -> Option<i32> {
    let name = text.to_ascii_uppercase();
    let number = match name.trim_start_matches("SIG") {
        "HUP" => 1,
        "INT" => 2,
        "QUIT" => 3,
        "ILL" => 4,
        "TRAP" => 5,
        "ABRT" => 6,
        "FPE" => 8,
        "KILL" => 9,
        "SEGV" => 11,
        "PIPE" => 13,
        "ALRM" => 14,
        "TERM" => 15,
        other => other.parse().ok()?,
    };
    (number > 0).then_some(number)
}

/// The screen of a capture, which begins a row early where there is a scrollback.
fn read_capture(pane: ListedPane, tail: &str) -> CapturedPane {
    // The row's own line ends before the screen begins.
    let screen = tail.strip_prefix('\n').filter(|screen| !screen.is_empty());
    let above = u16::from(pane.facts.history_size > 0);
    let screen = screen.map(|screen| {
        let read = Screen::from_capture(screen.as_bytes(), pane.columns, pane.rows.saturating_add(above));
        without_notice(&pane.facts, read, usize::from(above))
    });
    CapturedPane { pane, screen }
}

/// The rows of the pane out of those that were captured. tmux scrolls a dead pane by one row to write into its last one
/// that it is dead: the row that this pushed out is shown again, and tmux's own, which no program printed, is not.
fn without_notice(facts: &PaneFacts, captured: Screen, above: usize) -> Screen {
    let is_notice = |row: &Row| row.text().trim_start().starts_with(DEAD);
    let (columns, mut rows) = (captured.columns(), captured.into_rows());
    if facts.dead && rows.last().is_some_and(is_notice) {
        rows.pop();
        // What a full-screen program shows does not go into the scrollback: the row above is not its own.
        if above == 0 || facts.alternate {
            rows.push(Row::default());
        } else {
            return Screen::new(columns, rows);
        }
    }
    rows.drain(..above.min(rows.len()));
    Screen::new(columns, rows)
}

// What fleetwatch itself has written into a server: user options of task sessions and their windows. tmux keeps them
// for as long as the session or window lives, so that every process of fleetwatch reads the same.

/// The names of the options. Nothing else in tmux is called so.
///
/// `RUN`, `TOLD` and `TASKS` say what `fleetwatch run` made, and go with it. The others are there for as long as somebody
/// watches, as is the hook that counts bells: whoever watches last takes them back, the next one after a process that was
/// killed, and `doctor --clean`.
pub(in crate::tmux) mod names {
    /// Of a window: how often its bell rang since the hook was installed.
    pub const BELLS: &str = "@fleetwatch_bells";
    /// Of a window: milliseconds since the epoch at which `fleetwatch run` started its program.
    pub const RUN: &str = "@fleetwatch_run";
    /// Of a window: set when the dashboard has told that its program ended.
    pub const TOLD: &str = "@fleetwatch_told";
    /// Of a window: what its own `remain-on-exit` was before fleetwatch switched it on.
    pub const REMAIN: &str = "@fleetwatch_remain";
    /// Of a session: it is one of tasks, as `fleetwatch run` made it or the operator said so.
    pub const TASKS: &str = "@fleetwatch_tasks";
    /// Of a session: the processes that want its bells counted.
    pub const WATCHERS: &str = "@fleetwatch_watchers";
    /// Of a session: the indices of global hooks that had to be copied into it.
    pub const COPIED: &str = "@fleetwatch_copied";
}

/// The marks on a pane's session and window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// What the bell counter says; `None` where nothing has rung or no counter was ever there.
    pub bells: Option<u64>,
    /// When `fleetwatch run` started the window's program, in milliseconds since the epoch.
    pub run_at: Option<i64>,
    /// Whether it has been told that this program ended.
    pub told: bool,
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
fn format() -> String {
    use names::{BELLS, REMAIN, RUN, TASKS, TOLD, WATCHERS};
    format!("#{{{BELLS}}},#{{{RUN}}},#{{{TOLD}}},#{{{TASKS}}},#{{remain-on-exit}},#{{{REMAIN}}},#{{{WATCHERS}}}")
}

impl Marks {
    /// Reads what [`format`] printed. What is not as fleetwatch writes it is not there: anybody may set options.
    fn read(text: &str) -> Self {
        let mut fields = text.splitn(7, ',');
        let mut next = || fields.next().unwrap_or_default();
        let bells = next().parse().ok();
        let run_at = next().parse().ok().filter(|at| *at > 0);
        let (told, task_session) = (!next().is_empty(), next() == "1");
        // A number in some versions of tmux, a word in others.
        let remains = matches!(next(), "on" | "1");
        let made_to_remain = !next().is_empty();
        Self { bells, run_at, told, task_session, watchers: owner_words(next()), remains, made_to_remain }
    }
}

#[cfg(test)]
mod tests;
