//! Standard output and the end of a command: whole lines, no panic on a closed pipe, signals.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::future::poll_fn;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::task::Poll;

use anyhow::Context as _;
use ratatui::crossterm::style::{Color, Stylize};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Serialize, Serializer};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tracing_subscriber::filter::LevelFilter;

use super::{Done, Failure};
use crate::app::Environment;
use crate::present::text;
use crate::private;
use crate::status::Status;
use crate::ui::in_ascii;

/// Prints a text for people.
pub(super) fn print(text: &str) -> Done {
    conclude(write(text))
}

/// Writes a line to standard error. Where nobody reads it, as where the terminal is gone, nothing comes of it, and the program
/// still ends as it should.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes a text for people to standard output at once.
pub(super) fn write(text: &str) -> io::Result<()> {
    write_whole(&in_locale(text))
}

/// Writes a text for people, or JSON.
pub(super) fn write_as(is_json: bool, text: &str) -> io::Result<()> {
    if is_json { write_whole(text) } else { write(text) }
}

/// A text with the signs that the locale allows. Without UTF-8, those of the dashboard are written in ASCII; names and what
/// agents say stay as they are.
pub(super) fn in_locale(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || Environment::of_process().is_utf8() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        match in_ascii(sign) {
            Some(ascii) => plain.push_str(ascii),
            None => plain.push(sign),
        }
    }
    plain.into()
}

/// Writes what programs read to standard output at once.
pub(super) fn write_whole(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The result of a command that only printed. Whoever closes a pipe has read enough: git and gh do not complain either.
pub(super) fn conclude(written: io::Result<()>) -> Done {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => Ok(written.map(|()| ExitCode::SUCCESS).context("standard output cannot be written")?),
    }
}

/// The end of a command that has acted, once it has printed that. Where that cannot be printed, `what` was done all the same:
/// a script that is told of a failure does it again.
pub(super) fn acted(what: impl Display, printed: Done) -> ExitCode {
    printed.unwrap_or_else(|why| {
        Failure::refused(format!("{what}; {why:#}")).warn();
        ExitCode::SUCCESS
    })
}

/// Reports when nobody reads standard output any more, even while there is nothing to write. A file or a terminal always
/// has a reader.
pub(super) fn closed() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(1);
    // No events are asked for: poll reports a closed pipe in any case, and costs nothing while it waits.
    let wait = move || {
        let out = io::stdout();
        let mut ends = [PollFd::new(&out, PollFlags::empty())];
        while let Err(Errno::INTR) = poll(&mut ends, None) {}
        if ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
            // The command may have ended for another reason.
            let _ = sender.blocking_send(());
        }
    };
    // Without the thread the command ends at its next write.
    let _ = std::thread::Builder::new().name("output".to_owned()).spawn(wait);
    receiver
}

/// Waits for Ctrl-C, SIGTERM or SIGHUP, which no longer end the program by themselves once this is called. Must be called
/// within the runtime.
pub(super) fn end_asked_for() -> impl Future<Output = SignalKind> {
    let wanted = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let signals = wanted.into_iter().map(|kind| Ok((kind, signal(kind)?))).collect::<io::Result<Vec<_>>>();
    async move {
        let Ok(mut signals) = signals else {
            // Without handlers the signals end the program by themselves.
            return std::future::pending().await;
        };
        let asked = poll_fn(|context| {
            let mut received =
                signals.iter_mut().filter_map(|(kind, signal)| signal.poll_recv(context).is_ready().then_some(*kind));
            received.next().map_or(Poll::Pending, Poll::Ready)
        });
        asked.await
    }
}

/// A value as one line of JSON.
pub(super) fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}

/// Prints a line of JSON in a stream of them.
pub(super) fn print_line(value: &impl Serialize) -> Done {
    conclude(json_line(value).and_then(|line| write_whole(&line)))
}

/// Prints the whole result of a command as JSON: for people, on a terminal, indented, and in one line for programs.
pub(super) fn print_json(value: &impl Serialize) -> Done {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let written = match io::stdout().is_terminal() {
        true => serde_json::to_writer_pretty(&mut out, value),
        false => serde_json::to_writer(&mut out, value),
    };
    conclude(written.map_err(io::Error::from).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()))
}

/// The same of an array of values, each written as soon as it is made: all states of a thousand terminals are 3 MB of JSON.
pub(super) fn print_json_array(values: impl IntoIterator<Item: Serialize>) -> Done {
    print_json(&Streamed(Cell::new(Some(values))))
}

/// Values that are made while they are written.
struct Streamed<V>(Cell<Option<V>>);

impl<V: IntoIterator<Item: Serialize>> Serialize for Streamed<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten())
    }
}

/// The columns of the terminal on standard output; `None` if it is no terminal, and nothing is cut or coloured.
pub(super) fn terminal_width() -> Option<usize> {
    columns(&io::stdout())
}

fn columns(of: &impl IsTerminal) -> Option<usize> {
    let (columns, _) = of.is_terminal().then(crossterm::terminal::size)?.ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Whether colours are wanted: standard output is a terminal, and nobody said no.
fn wants_color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The colour of a state's word, the same in every command.
pub(super) const fn color(status: Status) -> Color {
    match status.group() {
        Status::Failed | Status::Stalled | Status::Error => Color::Red,
        Status::Finished => Color::Green,
        Status::Working => Color::Yellow,
        Status::Ready => Color::Cyan,
        Status::Unknown | Status::Gone => Color::DarkGrey,
        _ => Color::Magenta,
    }
}

/// A text in a colour, where there is one and colours are wanted.
pub(super) fn painted(text: &str, color: Option<Color>) -> Cow<'_, str> {
    color.filter(|_| wants_color()).map_or(text.into(), |color| text.with(color).to_string().into())
}

/// A text for people with its lines broken to the width of the terminal, at blanks: paths stay whole, to be copied. Words in it may
/// be [`painted`].
pub(super) fn wrapped(text: &str) -> String {
    broken(text, terminal_width())
}

/// The same for standard error.
pub(super) fn wrapped_error(text: &str) -> String {
    broken(text, columns(&io::stderr()))
}

fn broken(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.lines().flat_map(|line| hanging(line, width)).map(|row| row + "\n").collect()
}

/// A line in rows of at most `cells` cells. Those behind the first stand below the last column that begins in its first half, and
/// below the text behind an arrow.
fn hanging(line: &str, cells: usize) -> Vec<String> {
    if shown_width(line) <= cells {
        return vec![line.to_owned()];
    }
    let begins = |(at, c): &(usize, char)| *c != ' ' && line[..*at].ends_with("  ");
    let is_in_half = |at: &usize| shown_width(&line[..*at]) <= cells / 2;
    let begins = line.char_indices().filter(begins).map(|(at, _)| at);
    let column = begins.take_while(is_in_half).last().unwrap_or_default();
    let arrow = line[column..].strip_prefix("→ ").map_or(0, |said| line.len() - column - said.len());
    let (head, rest) = line.split_at(column + arrow);
    let below = " ".repeat(if head.is_empty() { 2 } else { shown_width(head) });
    let (mut rows, mut row, mut is_begun) = (Vec::new(), head.to_owned(), false);
    for word in rest.split_inclusive(' ') {
        if is_begun && shown_width(&row) + shown_width(word.trim_end()) > cells {
            rows.push(std::mem::replace(&mut row, below.clone()).trim_end().to_owned());
        }
        row.push_str(word);
        is_begun = true;
    }
    rows.push(row);
    rows
}

/// The cells of a text without the sequences that colour it.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let before = parts.next().map_or(0, text::width);
    before + parts.filter_map(|part| part.split_once('m')).map(|(_, shown)| text::width(shown)).sum::<usize>()
}

// The log of actions, warnings and errors, in a file that the user names. Without one nothing is written.

/// Appends the log to a file. A new one can be read only by its owner.
pub(super) fn start(path: &Path) -> Result<(), Failure> {
    let file = private::open_to_append(path).map_err(|error| Failure::unwritable(path, &error))?;
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::DEBUG)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish();
    // A process runs the command line once, so none can have been set before.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_long_line_stand_below_its_last_column() {
        let said = [
            "  because        rule approval-dialog, row 12: Do you want to proceed?",
            "ok    tmux           tmux 3.4 and some more words of it",
            "                     → install another one that is newer",
            "shop-api waits for your approval: Bash command mkdir build",
            "short  line",
        ];
        let rows = said.iter().flat_map(|line| hanging(line, 44)).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(rows, @r"
          because        rule approval-dialog, row
                         12: Do you want to proceed?
        ok    tmux           tmux 3.4 and some more
                             words of it
                             → install another one
                               that is newer
        shop-api waits for your approval: Bash
          command mkdir build
        short  line
        ");
        assert!(rows.lines().all(|row| text::width(row) <= 44));
    }

    #[test]
    fn a_colour_takes_no_cells() {
        let red = |word: &str| word.with(Color::Red).to_string();
        let line = format!("10:00:00  docs  {}  what it says of it", red("failed"));
        let [plain, coloured] = ["10:00:00  docs  failed  what it says of it".to_owned(), line]
            .map(|line| hanging(&line, 36).join("\n").replace(&red("failed"), "failed"));
        assert_eq!(coloured, plain);
        assert_eq!(plain, "10:00:00  docs  failed  what it says\n                of it");
    }
}
