//! The operator's terminal: taken over once and restored once, however the program ends, and lent to other programs.

use std::fs::{self, OpenOptions};
use std::future::pending;
use std::io::{self, BufWriter, IsTerminal, Read, Stdout, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, SetTitle,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute, queue};
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use crate::config::ConfigError;
use crate::fleet::TerminalKey;
use crate::screen::harmless;

/// Why the dashboard could not be shown, or not any longer.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("the dashboard needs a terminal, and standard output is not one")]
    NotATerminal,
    #[error(transparent)]
    Server(#[from] crate::tmux::Error),
    /// A keymap or theme of the operator's is wrong.
    #[error(transparent)]
    Appearance(#[from] ConfigError),
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    /// A part of the program panicked; its message has been printed.
    #[error("a part of fleetwatch crashed")]
    Panicked,
}

impl AppError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            AppError::NotATerminal => {
                "`fleetwatch list`, `fleetwatch watch` and `fleetwatch demo --no-dashboard` need no terminal".to_owned()
            }
            AppError::Server(error) => error.hint(),
            AppError::Appearance(error) => error.hint.clone(),
            AppError::Terminal(_) => "run it in a terminal of its own, not in the background".to_owned(),
            AppError::Panicked => "please report what was printed above".to_owned(),
        }
    }
}

/// Bytes of a frame that are collected before they are written; a full repaint of a large terminal fits.
const FRAME_BYTES: usize = 256 << 10;

/// Asks for buttons, the wheel and dragging. crossterm's own command asks for every movement of the mouse, too, each of
/// which would wake the loop.
const TAKE_MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";

/// Has the terminal keep its title, and take that again (xterm's window operations 22 and 23, which tmux knows as well).
const KEEP_TITLE: &[u8] = b"\x1b[22;0t";
/// See [`KEEP_TITLE`].
const TITLE_BACK: &[u8] = b"\x1b[23;0t";

/// Whether the terminal is in the dashboard's hands. Drop, panic hook and signals may all want to give it back; only
/// the first one does.
static HELD: AtomicBool = AtomicBool::new(false);

/// Writes to the terminal while it is held, and nothing after that. When ratatui goes it shows the cursor once more, and panics
/// where it can tell nobody that this failed, as on a terminal that was closed.
struct HeldTerminal(Stdout);

impl Write for HeldTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if HELD.load(Ordering::SeqCst) { self.0.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if HELD.load(Ordering::SeqCst) { self.0.flush() } else { Ok(()) }
    }
}

/// Fails when there is no terminal to draw on.
pub(super) fn check() -> Result<(), AppError> {
    if io::stdout().is_terminal() { Ok(()) } else { Err(AppError::NotATerminal) }
}

/// The terminal while the dashboard has it.
pub(super) struct Tty {
    terminal: Terminal<CrosstermBackend<BufWriter<HeldTerminal>>>,
    mouse: bool,
    /// Whether the next frame redraws every cell.
    is_stale: bool,
    /// The last bell or notice that had to wait, as another program had the terminal.
    unrung: Vec<u8>,
    /// The title that the terminal was given last.
    title: String,
}

impl Tty {
    /// Takes the terminal: raw mode, alternate screen, pasted texts apart from keys.
    pub(super) fn take(mouse: bool) -> io::Result<Self> {
        give_back_on_panic();
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, HeldTerminal(io::stdout())));
        let terminal = Terminal::new(backend)?;
        take(mouse)?;
        // A dashboard that was killed there has left the alternate screen as it was, which is what one finds.
        Ok(Self { terminal, mouse, is_stale: true, unrung: Vec::new(), title: String::new() })
    }

    /// Gives the terminal back as it was.
    pub(super) fn release(&mut self) {
        give_back();
    }

    /// Forgets what was typed and not read yet.
    pub(super) fn forget_typed(&self) {
        let flushed = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        flushed.err().into_iter().for_each(|error| tracing::debug!(%error, "what was typed ahead was not forgotten"));
    }

    /// Takes the terminal again, after others have drawn on it.
    pub(super) fn retake(&mut self) -> io::Result<()> {
        take(self.mouse)?;
        self.title.clear();
        let unrung = std::mem::take(&mut self.unrung);
        self.clear();
        self.ring(&unrung)
    }

    /// Takes a terminal again that was never given back, as the process was stopped while it had it.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        // Raw mode is only set by who believes not to have it.
        disable_raw_mode()?;
        take(self.mouse)?;
        self.clear();
        Ok(())
    }

    /// Redraws every cell with the next frame.
    pub(super) fn clear(&mut self) {
        self.is_stale = true;
    }

    /// Puts a text into the clipboard, as far as the terminal does what it is asked for; none says whether it did.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.terminal.backend_mut(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Takes the mouse, or leaves it to the terminal.
    pub(super) fn use_mouse(&mut self, mouse: bool) -> io::Result<()> {
        if mouse == self.mouse {
            return Ok(());
        }
        self.mouse = mouse;
        // Another program has it; it is taken with the terminal.
        if !self.is_held() {
            return Ok(());
        }
        let mut out = io::stdout();
        match mouse {
            true => out.write_all(TAKE_MOUSE)?,
            false => execute!(out, DisableMouseCapture)?,
        }
        out.flush()
    }

    /// Whether the terminal is still in the dashboard's hands: a panic anywhere gives it back.
    pub(super) fn is_held(&self) -> bool {
        HELD.load(Ordering::SeqCst)
    }

    /// Writes what moves no cell of the frame: a bell, a notice. While another program has the terminal the last of them
    /// waits: it could end up in the middle of what that one writes.
    pub(super) fn ring(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if !self.is_held() {
            self.unrung = bytes.to_vec();
            return Ok(());
        }
        let mut out = io::stdout();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Gives the terminal a title. It has its own back when it is given back.
    pub(super) fn set_title(&mut self, title: String) -> io::Result<()> {
        if title == self.title || !self.is_held() {
            return Ok(());
        }
        self.title = title;
        execute!(self.terminal.backend_mut(), SetTitle(&self.title))
    }

    /// Gives the terminal the title back that it had, where it was given another one.
    pub(super) fn give_title_back(&mut self) -> io::Result<()> {
        if self.title.is_empty() || !self.is_held() {
            return Ok(());
        }
        self.title.clear();
        let mut out = io::stdout();
        out.write_all(TITLE_BACK)?;
        out.write_all(KEEP_TITLE)?;
        out.flush()
    }

    /// Draws a frame, which says whether it differs from the last one; terminals that can show it at once. Nothing is
    /// written where nothing differs: neither the terminal nor a tmux around it is to wake for that.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>) -> bool) -> io::Result<()> {
        let size = self.terminal.size()?;
        let is_stale = std::mem::take(&mut self.is_stale) || size != self.terminal.get_frame().area().as_size();
        if is_stale {
            queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
            // `Terminal::clear` would ask the terminal where its cursor is, and wait for an answer that somebody else reads.
            self.terminal.resize(Rect::from((Position::ORIGIN, size)))?;
        }
        let is_new = draw(&mut self.terminal.get_frame());
        if !is_stale && !is_new {
            self.terminal.current_buffer_mut().reset();
            return Ok(());
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.flush()?;
        self.terminal.hide_cursor()?;
        self.terminal.swap_buffers();
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        give_back();
    }
}

fn take(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    let mut out = io::stdout();
    if !HELD.swap(true, Ordering::SeqCst) {
        out.write_all(KEEP_TITLE)?;
    }
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    if mouse {
        out.write_all(TAKE_MOUSE)?;
        out.flush()?;
    }
    Ok(())
}

/// Whether the terminal was closed, so that nobody types any more.
pub(super) fn is_gone() -> bool {
    is_closed(io::stdout())
}

/// Whether it is a terminal no more.
fn is_closed(terminal: impl AsFd) -> bool {
    tcgetattr(terminal).is_err()
}

/// Has crossterm read what is left of what was typed. It reads 1,024 bytes when the system says that there are some, and the
/// system says so once, when they come. Setting the terminal's modes, even to what they are, has it say so again.
pub(super) fn announce_rest() {
    let terminal = io::stdin();
    if rustix::io::ioctl_fionread(&terminal).is_ok_and(|left| left > 0)
        && let Ok(modes) = tcgetattr(&terminal)
    {
        // Without a terminal there are no keys either.
        let _ = tcsetattr(&terminal, OptionalActions::Now, &modes);
    }
}

/// Gives the terminal back, if it is held. Nothing here can fail or panic: there is nobody left to be told.
fn give_back() {
    if !HELD.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = out.write_all(TITLE_BACK);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Lets a panic, in whatever thread, be read on a terminal in order.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            usual(info);
        }));
    });
}

/// Panics when the environment asks for it, so that a test can see what becomes of the terminal then. Not in releases.
pub(super) fn panic_on_request() {
    #[cfg(debug_assertions)]
    if std::env::var_os("FLEETWATCH_TEST_PANIC").is_some_and(|path| std::path::Path::new(&path).exists()) {
        panic!("a test asked for a panic");
    }
}

// Signals in and out.

/// `SIGCONT`, which tokio has no name for: 18 on most Linux machines, 19 on the others.
const CONTINUE: SignalKind = SignalKind::from_raw(if cfg!(target_os = "linux") { 18 } else { 19 });

/// How long a program that has the terminal may take to give it back.
const GIVE_BACK: Duration = Duration::from_secs(1);

/// What a signal asks of the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalRequest {
    /// To end in order.
    End,
    /// To take the terminal once more: the process was stopped, and a shell may have had it meanwhile.
    Continue,
}

/// The signals that the dashboard listens to.
pub(super) struct Signals {
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    hangup: Signal,
    /// What a shell's `fg` sends.
    carry_on: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            carry_on: signal(CONTINUE)?,
        })
    }

    /// Waits until somebody wants something of the program. What a terminal sends for Ctrl-C and Ctrl-\ reaches every program
    /// on it; while another one has the terminal it is meant for that one, as it is for a shell's command (`system(3)`).
    pub(super) async fn asked(&mut self, lent: bool) -> SignalRequest {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => if !lent { return SignalRequest::End },
                _ = self.quit.recv() => if !lent { return SignalRequest::End },
                _ = self.terminate.recv() => return SignalRequest::End,
                _ = self.hangup.recv() => return SignalRequest::End,
                _ = self.carry_on.recv() => return SignalRequest::Continue,
            }
        }
    }
}

/// Asks a program to end and waits a moment for it, so that it can give the terminal back itself.
pub(super) async fn terminate(child: &mut Child) {
    if let Some(pid) = child.id() {
        send("TERM", pid).await;
    }
    let _ = tokio::time::timeout(GIVE_BACK, child.wait()).await;
}

/// Stops this process until it is continued.
pub(super) async fn stop_self() {
    send("TSTP", std::process::id()).await;
}

/// Sends a signal by way of the program that does so: the standard library cannot.
async fn send(name: &str, pid: u32) {
    let _ = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().await;
}

// The program that the terminal is lent to.

/// A program that has the terminal now.
pub(super) struct Lent {
    pub(super) child: Child,
    /// Its standard error, where that is not the terminal.
    pub(super) errors: Option<ChildStderr>,
    /// The end of what it wrote there.
    pub(super) said: Vec<u8>,
    pub(super) name: String,
    pub(super) purpose: LendPurpose,
}

/// What the terminal is lent for.
pub(super) enum LendPurpose {
    /// The operator looks at a terminal, and acts there.
    Jump(TerminalKey),
    /// The operator writes a prompt.
    Edit(DraftFile),
}

/// Bytes of standard error that are kept.
const SAID: usize = 4096;

/// How the program that has the terminal ended; nothing as long as none has it.
pub(super) async fn given_back(lent: &mut Option<Lent>) -> io::Result<ExitStatus> {
    let Some(Lent { child, errors, said, .. }) = lent else { return pending().await };
    let status = loop {
        tokio::select! {
            biased;
            () = listen(errors, said) => {}
            status = child.wait() => break status,
        }
    };
    // Another process may hold its standard error open.
    let rest = async {
        while errors.is_some() {
            listen(errors, said).await;
        }
    };
    let _ = timeout(GIVE_BACK, rest).await;
    status
}

/// Waits until a program has written to its standard error; for ever when that is the terminal, or closed.
async fn listen(errors: &mut Option<ChildStderr>, said: &mut Vec<u8>) {
    let Some(pipe) = errors else { return pending().await };
    if !pipe.read_buf(said).await.is_ok_and(|read| read > 0) {
        *errors = None;
    }
    said.drain(..said.len().saturating_sub(SAID));
}

impl Lent {
    /// Why it failed: in its own words where it had any.
    pub(super) fn failure(&self, status: ExitStatus) -> Option<String> {
        if status.success() {
            return None;
        }
        let said = String::from_utf8_lossy(&self.said);
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let last = last.map(|line| format!(": {}", harmless(line))).unwrap_or_default();
        Some(format!("{} ended with an error ({status}){last}", self.name))
    }
}

/// What is started when the environment names no editor.
const USUAL: &str = "vi";

/// Bytes that are read back at most; no prompt may be longer.
const LONGEST: u64 = 1 << 20;

/// A prompt in a file of its own that nobody else may read; it goes when this is dropped.
pub(super) struct DraftFile {
    path: PathBuf,
    /// What was written into it at first.
    text: String,
    is_kept: bool,
}

impl DraftFile {
    /// Writes a prompt into a new file.
    pub(super) fn write(text: String) -> io::Result<Self> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = std::env::temp_dir().join(format!("fleetwatch-prompt-{}-{time}.md", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path, text, is_kept: false };
        file.write_all(draft.text.as_bytes())?;
        Ok(draft)
    }

    /// The editor that VISUAL or EDITOR names, with the file, and what to call it.
    pub(super) fn editor(&self) -> (String, std::process::Command) {
        let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
            let value = std::env::var(name).ok()?;
            (!value.trim().is_empty()).then_some(value)
        });
        let named = named.unwrap_or_else(|| USUAL.to_owned());
        // No shell takes it apart: words are what blanks part.
        let mut words = named.split_whitespace();
        let program = words.next().unwrap_or(USUAL);
        let mut command = std::process::Command::new(program);
        command.args(words).arg(&self.path);
        (program.to_owned(), command)
    }

    /// The text as the editor left it, without the line end that editors put behind the last line.
    pub(super) fn read(&self) -> io::Result<String> {
        let mut text = String::new();
        let read = fs::File::open(&self.path)?.take(LONGEST + 1).read_to_string(&mut text)?;
        if read as u64 > LONGEST {
            return Err(io::Error::other(format!("it has more than {LONGEST} bytes")));
        }
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// Leaves the file where it is if the editor has written anything else into it, and reports where.
    pub(super) fn keep_if_changed(mut self) -> Option<PathBuf> {
        let written = fs::read(&self.path).ok()?;
        let text = written.strip_suffix(b"\n").unwrap_or(&written);
        self.is_kept = text != self.text.as_bytes() && written != self.text.as_bytes();
        self.is_kept.then(|| self.path.clone())
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    #[test]
    fn a_terminal_is_closed_once_its_other_end_is() {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&window).unwrap();
        unlockpt(&window).unwrap();
        let name = ptsname(&window, Vec::new()).unwrap();
        let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
        let terminal =
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(name.to_str().unwrap()).unwrap();
        assert!(!is_closed(&terminal));
        drop(window);
        assert!(is_closed(&terminal));
    }
}
