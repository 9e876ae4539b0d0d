//! Signals in and out.

use std::io;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long a program that has the terminal may take to give it back.
const GIVE_BACK: Duration = Duration::from_secs(1);

/// The signals that end the dashboard in order.
pub(super) struct Signals {
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until somebody wants the program to end. What a terminal sends for Ctrl-C and Ctrl-\ reaches every program
    /// on it; while another one has the terminal it is meant for that one, as it is for a shell's command (`system(3)`).
    pub(super) async fn end(&mut self, lent: bool) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => if !lent { return },
                _ = self.quit.recv() => if !lent { return },
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => return,
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
