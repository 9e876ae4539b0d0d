//! Standard output and the end of a command: whole lines, no panic on a closed pipe, signals.

use std::cell::Cell;
use std::fmt::Display;
use std::future::poll_fn;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::task::Poll;

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Serialize, Serializer};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tracing_subscriber::filter::LevelFilter;

use super::console::in_locale;
use super::failure::{Done, Failure};
use crate::present::document::json_line;
use crate::private;

/// Prints a text for people.
pub(super) fn print(text: &str) -> Done {
    conclude(write(text))
}

/// Writes a text for people to standard output at once.
pub(super) fn write(text: &str) -> io::Result<()> {
    write_whole(&in_locale(text))
}

/// Writes a text for people, or JSON.
pub(super) fn write_as(is_json: bool, text: &str) -> io::Result<()> {
    if is_json { write_whole(text) } else { write(text) }
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

/// Runs a command that polls tmux servers; the others start no runtime.
pub(super) fn wait_for<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.context("the runtime cannot be started")?.block_on(command)
}

/// The same in one thread, for commands that wait for no keys: memory that is allocated in one thread and freed in another
/// is not reused.
pub(super) fn wait_in_one_thread<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the runtime cannot be started")?.block_on(command)
}
