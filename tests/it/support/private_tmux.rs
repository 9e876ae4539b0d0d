//! A tmux server of a test's own, on a private socket, which dies with the test.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use fleetwatch::fleet::{PaneId, ServerId, Socket, TerminalKey};
use fleetwatch::ids::ServerInstance;
use fleetwatch::tmux::{Server, Settings};

/// How long a test waits for something that must come. A condition that comes soon costs nothing of it, and on a machine
/// that does much else at once it may come late.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How many tests drive tmux at once at most, whatever `--test-threads` says. They wait more than they compute, but each has
/// two or three servers, a dashboard and an agent, and what is late on a crowded machine fails tests about time.
const AT_ONCE: usize = 10;

/// How many do now.
static DRIVING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// A test's permit to drive tmux. All that a test starts shares one, so that it never waits for itself.
pub struct Permit;

impl Permit {
    /// The permit of the test that runs on this thread; waits for one if it has none.
    pub fn get() -> Arc<Self> {
        thread_local! {
            static MINE: RefCell<Weak<Permit>> = const { RefCell::new(Weak::new()) };
        }
        MINE.with_borrow_mut(|mine| {
            mine.upgrade().unwrap_or_else(|| {
                let driving = DRIVING.lock().unwrap_or_else(PoisonError::into_inner);
                let full = |driving: &mut usize| *driving >= AT_ONCE;
                *ENDED.wait_while(driving, full).unwrap_or_else(PoisonError::into_inner) += 1;
                let permit = Arc::new(Self);
                *mine = Arc::downgrade(&permit);
                permit
            })
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *DRIVING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}

/// What the identity of a pane consists of.
const IDENTITY: &str = "#{pane_id} #{pane_pid} #{pid}.#{start_time}";

/// A tmux server on a socket that nobody else has. Dropping it kills it and all that runs in it.
pub struct PrivateTmux {
    name: String,
    _permit: Arc<Permit>,
}

impl PrivateTmux {
    /// A socket name that is not in use; no server runs there yet.
    pub fn unstarted() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("fleetwatch-test-{}-{number}", std::process::id()), _permit: Permit::get() }
    }

    /// A server with one session `main` of 100 columns and 30 rows, in which `command` runs.
    pub fn start(command: &[&str]) -> Self {
        let server = Self::unstarted();
        server.new_session("main", command);
        server
    }

    /// Adds a session.
    pub fn new_session(&self, session: &str, command: &[&str]) -> TerminalKey {
        let mut words = vec!["-f", "/dev/null", "new-session", "-d", "-P", "-F", IDENTITY, "-s", session];
        words.extend(["-x", "100", "-y", "30"]);
        words.extend(command);
        self.key(&self.run(&words))
    }

    /// Adds a window behind the others of a session.
    pub fn new_window(&self, session: &str, name: &str, command: &[&str]) -> TerminalKey {
        let target = format!("{session}:");
        let mut words = vec!["new-window", "-d", "-P", "-F", IDENTITY, "-t", &target, "-n", name];
        words.extend(command);
        self.key(&self.run(&words))
    }

    fn key(&self, printed: &str) -> TerminalKey {
        let words: Vec<&str> = printed.split_whitespace().collect();
        let [pane, pid, instance] = words[..] else { panic!("no identity: {printed:?}") };
        let pane = PaneId(pane.trim_start_matches('%').parse().expect("a pane id"));
        TerminalKey {
            server: self.id(),
            pane,
            pid: pid.parse().expect("a pid"),
            instance: ServerInstance::new(instance),
        }
    }

    /// The identity of a pane that stands at a tmux target now.
    pub fn key_of(&self, target: &str) -> TerminalKey {
        self.key(&self.run(&["display-message", "-p", "-t", target, IDENTITY]))
    }

    /// The socket's name, as `-L` takes it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process of fleetwatch that watches this server in the background, by its id.
    pub fn background_watch(&self) -> Option<String> {
        let words = format!("-L\0{}\0watch\0--background", self.name);
        let is_it = |process: &std::fs::DirEntry| {
            std::fs::read_to_string(process.path().join("cmdline")).is_ok_and(|cmdline| cmdline.contains(&words))
        };
        let process = std::fs::read_dir("/proc").unwrap().flatten().find(is_it)?;
        Some(process.file_name().to_string_lossy().into_owned())
    }

    pub fn id(&self) -> ServerId {
        ServerId { host: None, socket: Socket::Name(self.name.as_str().into()) }
    }

    /// The handle under test, with a deadline that a busy machine keeps.
    pub fn server(&self) -> Server {
        let settings = Settings { deadline: Duration::from_secs(10), ..Settings::default() };
        Server::new(self.id(), settings).expect("a good name")
    }

    /// Runs a tmux command by the test itself, and returns what it printed. Fails the test when tmux says no.
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.output(words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "tmux {words:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a tmux command by the test itself, whatever comes of it.
    pub fn output(&self, words: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        // Without these a test that runs inside of tmux would mix up its server with the user's.
        command.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null());
        // With it agents draw without colours, which nobody who works with them has.
        command.env_remove("CI");
        command.args(["-u", "-L", &self.name]).args(words).output().expect("tmux is installed")
    }

    /// The process id of the server, if one runs.
    pub fn server_pid(&self) -> Option<u32> {
        let output = self.output(&["display-message", "-p", "#{pid}"]);
        String::from_utf8_lossy(&output.stdout).trim().parse().ok()
    }

    /// The visible text of a pane.
    pub fn screen(&self, target: &str) -> String {
        self.run(&["capture-pane", "-p", "-t", target])
    }

    /// Waits until a text is on a pane's screen.
    pub fn wait_for_text(&self, target: &str, text: &str) {
        let shown = || format!("{target} shows:\n{}", self.screen(target));
        wait_or_tell(&format!("{text:?} in {target}"), || self.screen(target).contains(text), shown);
    }

    pub fn socket(&self) -> PathBuf {
        let uid = String::from_utf8_lossy(&Command::new("id").arg("-u").output().expect("id").stdout).trim().to_owned();
        let directory = std::env::var_os("TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        directory.join(format!("tmux-{uid}")).join(&self.name)
    }
}

impl Drop for PrivateTmux {
    fn drop(&mut self) {
        // A server that a test stopped must run to be able to end.
        if let Some(pid) = stopped_server(&self.name) {
            signal("CONT", pid);
        }
        let _ = self.output(&["kill-server"]);
        let _ = std::fs::remove_file(self.socket());
    }
}

/// Sends a signal by its name.
pub fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args([format!("-{name}"), pid.to_string()]).stderr(Stdio::null()).status();
    drop(status);
}

/// The server of a socket name, when it is stopped: it cannot be asked for its pid then.
fn stopped_server(name: &str) -> Option<u32> {
    let output = Command::new("ps").args(["-axo", "pid=,stat=,args="]).output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (pid, state) = (words.next()?, words.next()?);
        (state.starts_with('T') && words.any(|word| word == name)).then(|| pid.parse().ok())?
    })
}

/// Waits until a condition holds, and fails the test when it never does.
pub fn wait_until(what: &str, condition: impl FnMut() -> bool) {
    wait_or_tell(what, condition, String::new);
}

/// Waits until a condition holds, and fails the test when it never does, with what is to be known then.
pub fn wait_or_tell(what: &str, condition: impl FnMut() -> bool, tell: impl Fn() -> String) {
    wait_within(PATIENCE, what, condition, tell);
}

/// The same with another patience.
pub fn wait_within(patience: Duration, what: &str, mut condition: impl FnMut() -> bool, tell: impl Fn() -> String) {
    let (start, mut pause) = (Instant::now(), Pause::default());
    while !condition() {
        assert!(start.elapsed() < patience, "waited in vain for {what}\n{}", tell());
        pause.pass();
    }
}

/// Looks again and again for so long. Whatever `check` asserts must hold all that time.
pub fn throughout(time: Duration, mut check: impl FnMut()) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        check();
        std::thread::sleep(Duration::from_millis(50));
    }
    check();
}

/// Lets time pass that is part of what is tested: how long something stands, or when it is disturbed. What must come is waited for
/// with `wait_until` instead.
pub fn pass(time: Duration) {
    std::thread::sleep(time);
}

/// The time between two looks at something that must come. It grows, as each look costs what is waited for processor time.
#[derive(Default)]
pub struct Pause(Duration);

impl Pause {
    const SHORTEST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_millis(60);

    pub fn pass(&mut self) {
        self.0 = (self.0 * 5 / 4).clamp(Self::SHORTEST, Self::LONGEST);
        std::thread::sleep(self.0);
    }
}
