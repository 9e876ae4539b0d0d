//! What a poll prints, and how it is read.
//!
//! A record is `NONCE KIND numbers NONCE (text NONCE)* tail`. Numbers are separated by commas; texts (names, title,
//! command, directory) may hold anything that a pane cares to put there, but not the nonce of this call. The tail of
//! a capture's record is the screen.
//!
//! To print all facts of a pane costs the server four times what a brief row does, and a row that is not printed next to nothing.
//! Pollers complete the rest from [`KnownRows`].

mod known;
mod marks;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::words::{Nonce, is_plain};
use super::{Error, error};
use crate::fleet::{PaneId, PaneLocation};
use crate::ids::{ServerInstance, TerminalKey};
use crate::screen::{Cursor, PaneFacts, Row, Screen, harmless};
pub(super) use known::Extent;
pub use known::{CapturedPane, KnownRows, ListedPane, ListedSession, Listing};
use known::{RowId, row_id};
pub use marks::Marks;
pub(in crate::tmux) use marks::names;

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListedKind {
    Pane(Extent),
    Capture,
    /// The facts that belong to a screen.
    Screen,
}

/// Characters of a pane's start command that are listed.
const COMMAND: usize = 200;

/// How tmux begins what it writes into the last row of a pane whose program has ended.
pub(super) const DEAD: &str = "Pane is dead";

/// Texts in a row.
const TEXTS: usize = 8;

pub(super) fn header_format(nonce: &Nonce, on_host: bool) -> String {
    // `display-message` is the one command here that puts the time into its text.
    format!("{nonce}H#{{pid}},%s,#{{version}},{}{nonce}", instance_format(on_host))
}

/// The identity of a server, in letters, digits and `. _ -`: its process and its start, and on a host the machine's name. The
/// name of this machine may change while its servers live on.
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
    match kind {
        ListedKind::Pane(Extent::Whole | Extent::Telling(_)) => whole_format(nonce, 'P'),
        ListedKind::Capture => whole_format(nonce, 'C'),
        ListedKind::Pane(Extent::All(since)) => {
            // tmux does not work out what it does not print. A comma would end a part of the condition.
            let [whole, brief] = [whole_format(nonce, 'P'), brief_format(nonce)].map(|format| escape_commas(&format));
            format!("#{{?#{{||:#{{pane_dead}},#{{>=:#{{window_activity}},{since}}}}},{whole},{brief}}}")
        }
        ListedKind::Screen => format!(
            "{nonce}S#{{pane_id}},#{{pane_pid}},#{{window_activity}},#{{pane_width}},#{{pane_height}},{SCREEN_FORMAT}{nonce}\
             {TITLE_FORMAT}{nonce}"
        ),
    }
}

/// Which panes have something to report.
pub(super) fn telling_filter(since: i64) -> String {
    let shown = "#{||:#{window_bell_flag},#{||:#{pane_in_mode},#{pane_dead}}}";
    format!("#{{||:#{{>=:#{{window_activity}},{since}}},{shown}}}")
}

/// A session. Another number of windows says that some have come or gone, another name that each of its panes has another one.
pub(super) fn session_format(nonce: &Nonce) -> String {
    format!("{nonce}W#{{session_id}},#{{session_windows}}{nonce}#{{session_name}}{nonce}#{{session_group}}{nonce}")
}

/// Marks whose screen follows. Its facts stand in the listing of the same call: the server runs a file of commands in one pass,
/// and reads nothing that panes print meanwhile.
pub(super) fn mark_format(nonce: &Nonce, pane: PaneId) -> String {
    format!("{nonce}M{}{nonce}", pane.0)
}

/// What may change of a pane in which nothing is printed. Moves show in the numbers of session and window.
fn brief_format(nonce: &Nonce) -> String {
    format!(
        "{nonce}B#{{pane_id}},#{{pane_pid}},#{{session_id}},#{{window_index}},#{{window_activity}},#{{pane_width}},\
         #{{pane_height}},#{{window_bell_flag}},#{{pane_in_mode}}{nonce}"
    )
}

/// Commas outside of braces as tmux reads them in a part of a condition.
fn escape_commas(format: &str) -> String {
    let mut depth = 0;
    let mut escaped = String::with_capacity(format.len());
    for character in format.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => escaped.push('#'),
            _ => {}
        }
        escaped.push(character);
    }
    escaped
}

/// The facts that belong to a screen. Formats that a tmux does not know are empty there: pane_dead_signal and
/// pane_dead_time are younger than 3.2.
const SCREEN_FORMAT: &str = "#{cursor_x},#{cursor_y},#{cursor_flag},#{alternate_on},#{pane_dead},#{pane_dead_status},\
                             #{pane_dead_signal},#{pane_dead_time},#{window_bell_flag},#{history_size},#{pane_in_mode}";

/// The title, where a program has set one.
const TITLE_FORMAT: &str = "#{?#{==:#{pane_title},#{host}},,#{pane_title}}";

fn whole_format(nonce: &Nonce, kind: char) -> String {
    // A list of panes comes with the number of windows of each session: tmux would count them again for each pane.
    let session_windows = if kind == 'P' { "" } else { "#{session_windows}" };
    let numbers = format!(
        "#{{pane_id}},#{{pane_pid}},#{{session_id}},#{{window_id}},#{{window_index}},#{{pane_index}},#{{window_panes}},\
         {session_windows},#{{window_activity}},#{{pane_width}},#{{pane_height}}"
    );
    format!(
        "{nonce}{kind}{numbers},{SCREEN_FORMAT},#{{pane_synchronized}},#{{pane_input_off}}{nonce}\
         #{{session_name}}{nonce}#{{window_name}}{nonce}{TITLE_FORMAT}{nonce}\
         #{{pane_current_command}}{nonce}#{{pane_current_path}}{nonce}{marks}{nonce}#{{={COMMAND}:pane_start_command}}{nonce}\
         #{{?#{{==:#{{window_linked_sessions}},1}},,#{{window_linked_sessions_list}}}}{nonce}",
        marks = marks::format()
    )
}

impl Listing {
    /// Reads the whole output of a poll whose parts are framed by `mark`.
    ///
    /// Fails when a mark is missing, so that half an answer is never taken for a smaller fleet, and when tmux is too
    /// old.
    pub fn parse(text: &str, mark: &str) -> Result<Self, Error> {
        parse(text, mark, &KnownRows::default(), Some(Extent::Whole))
    }

    /// Whether a pane of this poll is the terminal with an identity.
    pub fn shows(&self, pane: &ListedPane, key: &TerminalKey) -> bool {
        pane.id == key.pane && pane.pid == key.pid && self.instance.may_be(&key.instance)
    }
}

/// Reads a poll that listed so much, completed by the known rows.
pub(super) fn parse(text: &str, mark: &str, known: &KnownRows, extent: Option<Extent>) -> Result<Listing, Error> {
    let mut parts = text.split(mark);
    // Nothing of ours stands before the first mark.
    parts.next();
    let mut listing = Listing::default();
    let mut headed = false;
    let (mut of_panes, mut of_ids) = (None, None);
    // What is not listed is as it was.
    let mut listed = match extent {
        Some(Extent::Telling(_)) => Some(vec![false; known.rows.len()]),
        _ => None,
    };
    if listed.is_some() {
        listing.panes.clone_from(&known.rows);
    }
    while let Some(head) = parts.next() {
        let Some(kind) = head.chars().next() else { return Err(garbled("a record without a kind")) };
        let numbers = &head[kind.len_utf8()..];
        match kind {
            'H' => {
                read_header(&mut listing, numbers)?;
                headed = true;
                parts.next();
            }
            'W' => {
                let (name, group) = (parts.next(), parts.next());
                let (name, group) = name.zip(group).ok_or_else(|| garbled("a row that ends early"))?;
                parts.next();
                let numbers = numbers.split_once(',').map(|(id, count)| (id.trim_start_matches('$'), count));
                let numbers = numbers.and_then(|(id, count)| Some((id.parse().ok()?, count.parse().ok()?)));
                let (session, windows) = numbers.ok_or_else(|| garbled("a session with other numbers"))?;
                let (name, group) = (harmless(name), harmless(group));
                listing.sessions.insert(session, ListedSession { name, windows, group });
            }
            'E' if headed => {
                // Every session has a pane: an alias has taken the place of the command that lists them.
                let is_whole = matches!(extent, Some(Extent::Whole | Extent::All(_))) && !listing.is_incomplete;
                if is_whole && listing.panes.is_empty() && !listing.sessions.is_empty() {
                    return Err(garbled("there are sessions and no panes"));
                }
                listing.is_incomplete |= calm(&mut listing.panes, listed.take());
                listing.is_incomplete |= known.whole_at.is_some() && listing.instance != known.instance;
                listing.is_incomplete |= match extent {
                    Some(Extent::Telling(_)) => listing.sessions != known.sessions,
                    Some(Extent::All(_)) => listing.sessions.iter().any(|(id, session)| {
                        known.sessions.get(id).is_some_and(|known| session.is_otherwise_called(known))
                    }),
                    Some(Extent::Whole) | None => false,
                };
                find_homes(&mut listing.panes, &listing.sessions);
                return Ok(listing);
            }
            'B' => {
                parts.next();
                match read_brief(numbers, known, &listing.sessions)
                    .ok_or_else(|| garbled("a brief row with other numbers"))?
                {
                    Some(pane) => listing.panes.push(pane),
                    None => listing.is_incomplete = true,
                }
            }
            'M' => {
                let tail = parts.next().ok_or_else(|| garbled("a mark that ends early"))?;
                listing.is_incomplete |= calm(&mut listing.panes, listed.take());
                let id = numbers.parse().map(PaneId).map_err(|_| garbled("a mark with another number"))?;
                let of_ids = of_ids.get_or_insert_with(|| places_by_id(&listing.panes));
                // One that is gone is not listed either.
                let pane = of_ids.get(&id).map(|place| Arc::clone(&listing.panes[*place]));
                listing.captures.extend(pane.map(|pane| read_capture(pane, tail)));
            }
            'S' => {
                let (title, tail) = (parts.next(), parts.next());
                let (title, tail) = title.zip(tail).ok_or_else(|| garbled("a row that ends early"))?;
                if numbers.starts_with(',') {
                    continue;
                }
                let of_panes = of_panes.get_or_insert_with(|| rows_of_panes(&listing.panes, known));
                let pane = read_screen_row(numbers, title, of_panes)
                    .ok_or_else(|| garbled("a screen's row with other numbers"))?;
                listing.captures.extend(pane.map(|pane| read_capture(pane.into(), tail)));
            }
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
                let pane =
                    read_row(numbers, texts, &listing.sessions).ok_or_else(|| garbled("a row with other numbers"))?;
                match (kind, &mut listed) {
                    ('P', None) => listing.panes.push(pane.into()),
                    ('P', Some(listed)) => match known.places.get(&row_id(&pane)) {
                        Some(place) => (listing.panes[*place], listed[*place]) = (pane.into(), true),
                        None => listing.is_incomplete = true,
                    },
                    _ => listing.captures.push(read_capture(pane.into(), tail)),
                }
            }
            _ => return Err(garbled("a record of an unknown kind")),
        }
    }
    Err(garbled(if headed { "the end is missing" } else { "the beginning is missing" }))
}

/// Clears the modes of panes that were not reported: each that rings or is in a mode would have been. Returns whether a dead
/// pane was not reported, either: it runs another program now, of which nothing is known.
fn calm(panes: &mut [Arc<ListedPane>], listed: Option<Vec<bool>>) -> bool {
    let mut is_replaced = false;
    for (pane, _) in panes.iter_mut().zip(listed.into_iter().flatten()).filter(|(_, listed)| !listed) {
        is_replaced |= pane.facts.dead;
        if pane.facts.bell || pane.facts.in_mode {
            let facts = &mut Arc::make_mut(pane).facts;
            (facts.bell, facts.in_mode) = (false, false);
        }
    }
    is_replaced
}

/// The first row of each pane.
fn places_by_id(listed: &[Arc<ListedPane>]) -> HashMap<PaneId, usize> {
    listed.iter().enumerate().rev().map(|(place, row)| (row.id, place)).collect()
}

/// A row of each pane, of this poll if it has listed any.
fn rows_of_panes(listed: &[Arc<ListedPane>], known: &KnownRows) -> HashMap<(PaneId, u32), Arc<ListedPane>> {
    let of_pane = |row: &Arc<ListedPane>| ((row.id, row.pid), Arc::clone(row));
    match listed {
        [] => known.rows.iter().map(of_pane).collect(),
        _ => listed.iter().map(of_pane).collect(),
    }
}

fn garbled(what: &str) -> Error {
    Error::Garbled(what.to_owned())
}

fn read_header(listing: &mut Listing, numbers: &str) -> Result<(), Error> {
    let mut fields = numbers.splitn(4, ',');
    let mut next = || fields.next().unwrap_or_default();
    let (pid, clock, version, instance) = (next(), next(), next(), next());
    error::check_version(version)?;
    listing.version = harmless(version);
    listing.instance = read_instance(instance);
    listing.server_pid = pid.parse().map_err(|_| garbled("a header without a process id"))?;
    listing.clock = clock.parse().map_err(|_| garbled("a header without a time"))?;
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

    /// A flag; one that this tmux does not report is off.
    fn flag(&mut self) -> Option<bool> {
        self.text().map(|text| !matches!(text, "" | "0"))
    }

    /// What [`SCREEN_FORMAT`] printed, and when the program ended.
    fn screen_facts(&mut self, title: &str, command: &str) -> Option<(PaneFacts, Option<i64>)> {
        let cursor = Cursor { column: self.number()?, row: self.number()?, visible: self.flag()? };
        let (alternate, dead) = (self.flag()?, self.flag()?);
        let status: Option<i32> = self.number();
        let signal = self.text().and_then(signal_number);
        let died = self.number().filter(|_| dead);
        let (bell, history_size, in_mode) = (self.flag()?, self.number()?, self.flag()?);
        // What a shell would say of a command that a signal ended.
        let exit_status = if dead { signal.map(|signal| 128 + signal).or(status) } else { None };
        let (title, command) = (harmless(title), harmless(command));
        Some((PaneFacts { title, command, cursor, alternate, dead, exit_status, bell, history_size, in_mode }, died))
    }
}

/// The row that a brief one stands for; `Some(None)` where nothing else is known of it.
fn read_brief(
    numbers: &str,
    known: &KnownRows,
    sessions: &BTreeMap<u32, ListedSession>,
) -> Option<Option<Arc<ListedPane>>> {
    let mut n = Numbers(numbers.split(','));
    let id: RowId = (PaneId(n.number()?), n.number()?, n.number()?, n.number()?);
    let session_windows = sessions.get(&id.2).map(|session| session.windows);
    let (activity, columns, rows) = (n.number()?, n.number()?, n.number()?);
    let (bell, in_mode) = (n.flag()?, n.flag()?);
    Some(known.get(&id).map(|row| {
        let before = (row.activity, row.columns, row.rows, row.facts.bell, row.facts.in_mode, row.facts.dead);
        let session_windows = session_windows.unwrap_or(row.place.session_windows);
        if before == (activity, columns, rows, bell, in_mode, false) && row.place.session_windows == session_windows {
            return Arc::clone(row);
        }
        let place = PaneLocation { session_windows, ..PaneLocation::clone(&row.place) }.into();
        let facts = PaneFacts { bell, in_mode, dead: false, exit_status: None, ..row.facts.clone() };
        Arc::new(ListedPane { place, activity, columns, rows, facts, died: None, ..ListedPane::clone(row) })
    }))
}

/// A pane as it was when it was captured; `Some(None)` where nothing else is known of it.
fn read_screen_row(
    numbers: &str,
    title: &str,
    of_panes: &HashMap<(PaneId, u32), Arc<ListedPane>>,
) -> Option<Option<ListedPane>> {
    let mut n = Numbers(numbers.split(','));
    let pane = (PaneId(n.number()?), n.number()?);
    let (activity, columns, rows) = (n.number()?, n.number()?, n.number()?);
    let Some(row) = of_panes.get(&pane) else { return Some(None) };
    let (facts, died) = n.screen_facts(title, &row.facts.command)?;
    Some(Some(ListedPane { activity, columns, rows, facts, died, ..ListedPane::clone(row) }))
}

fn read_row(numbers: &str, texts: [&str; TEXTS], sessions: &BTreeMap<u32, ListedSession>) -> Option<ListedPane> {
    let [session, window, title, command, cwd, marks, started, linked] = texts;
    let mut n = Numbers(numbers.split(','));
    // The fields stand in the order of `row_format`.
    let (id, pid, session_id, window_id) = (n.number()?, n.number()?, n.number()?, n.number()?);
    let (window_index, pane_index, window_panes) = (n.number()?, n.number()?, n.number()?);
    let session_windows = match n.text()? {
        "" => sessions.get(&session_id).map_or(1, |session| session.windows),
        count => count.parse().ok()?,
    };
    let (activity, columns, rows) = (n.number()?, n.number()?, n.number()?);
    let (facts, died) = n.screen_facts(title, command)?;
    let (synchronized, input_off) = (n.flag()?, n.flag()?);
    Some(ListedPane {
        id: PaneId(id),
        pid,
        session_id,
        window_id,
        place: Arc::new(PaneLocation {
            session: harmless(session),
            window_index,
            window_name: harmless(window),
            pane_index,
            window_panes,
            session_windows,
            links: Vec::new(),
        }),
        activity,
        columns,
        rows,
        cwd: (!cwd.is_empty()).then(|| harmless(cwd)),
        facts,
        died,
        synchronized,
        input_off,
        marks: Marks::read(marks),
        start_command: start_command(&harmless(started)),
        // Its sessions stand in a list, each name behind a comma.
        is_linked_first: linked.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with(',')),
        at_home: true,
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
fn read_capture(pane: Arc<ListedPane>, tail: &str) -> CapturedPane {
    // The row's own line ends before the screen begins.
    let screen = tail.strip_prefix('\n').filter(|screen| !screen.is_empty());
    let above = u16::from(pane.facts.history_size > 0);
    let screen = screen.map(|screen| {
        let read = Screen::from_capture(screen.as_bytes(), pane.columns, pane.rows.saturating_add(above));
        without_notice(&pane.facts, read, usize::from(above))
    });
    CapturedPane { pane, screen }
}

/// The rows of a captured pane without tmux's own. tmux scrolls a dead pane by one row to write into its last one that it is
/// dead: the row pushed out is shown again, and tmux's own, which no program printed, is not.
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

/// Says of each row whether its window is at home there, and which other sessions show it.
pub(super) fn find_homes(rows: &mut [Arc<ListedPane>], sessions: &BTreeMap<u32, ListedSession>) {
    let mut shown: HashMap<PaneId, Vec<usize>> = HashMap::with_capacity(rows.len());
    rows.iter().enumerate().for_each(|(nth, row)| shown.entry(row.id).or_default().push(nth));
    let homes: BTreeSet<usize> = shown.values().filter_map(|places| home(places, rows, sessions)).collect();
    // A window that is linked into a session renames no other there.
    let mut windows: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for row in homes.iter().map(|nth| &rows[*nth]).filter(|_| homes.len() < rows.len()) {
        windows.entry(row.session_id).or_default().insert(row.window_id);
    }
    for places in shown.into_values() {
        let linked: Vec<(usize, String, u32)> =
            if let [_] = places[..] { Vec::new() } else { places.iter().map(|nth| address(*nth, rows)).collect() };
        for nth in places {
            let (row, at_home) = (&rows[nth], homes.contains(&nth));
            let links = linked.iter().filter(|(other, ..)| *other != nth);
            let links: Vec<(String, u32)> = links.map(|(_, session, index)| (session.clone(), *index)).collect();
            let own = windows.get(&row.session_id).filter(|_| at_home).and_then(|own| u32::try_from(own.len()).ok());
            let session_windows = own.unwrap_or(row.place.session_windows);
            if at_home != row.at_home || session_windows != row.place.session_windows || links != row.place.links {
                let place = PaneLocation { links, session_windows, ..PaneLocation::clone(&row.place) }.into();
                rows[nth] = ListedPane { place, at_home, ..ListedPane::clone(row) }.into();
            }
        }
    }
}

fn address(nth: usize, rows: &[Arc<ListedPane>]) -> (usize, String, u32) {
    (nth, rows[nth].place.session.clone(), rows[nth].place.window_index)
}

/// The row of the session that a window was made in: the one into which it was linked first, and of a group, whose sessions
/// tmux links anew now and then, the session that was made first.
fn home(places: &[usize], rows: &[Arc<ListedPane>], sessions: &BTreeMap<u32, ListedSession>) -> Option<usize> {
    let group = |nth: &usize| sessions.get(&rows[*nth].session_id).map_or("", |session| session.group.as_str());
    let first = places.iter().find(|nth| rows[**nth].is_linked_first);
    let made_first =
        |places: &mut dyn Iterator<Item = &usize>| places.min_by_key(|nth| rows[**nth].session_id).copied();
    match first {
        Some(first) if group(first).is_empty() => Some(*first),
        Some(first) => made_first(&mut places.iter().filter(|nth| group(nth) == group(first))),
        None => made_first(&mut places.iter()),
    }
}

#[cfg(test)]
mod tests;
