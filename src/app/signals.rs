//! Signals in and out.

use std::io;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};

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
