//! `fleetwatch demo`: the dashboard over recorded sessions, for those who have no agents yet.

use std::process::ExitCode;

use tokio::sync::mpsc;

use super::output::wait_for;
use super::{Done, Failure, output};
use crate::config::Config;
use crate::demo::Demo;
use crate::fleet::ServerId;

/// Open the dashboard on recorded sessions.
///
/// They play in a tmux server of their own, and what you do there goes into a history of its own. Both are removed at the
/// end; your tmux, your history and your configuration are not touched.
///
/// `fleetwatch -L SERVER list` sees the demo from another terminal. The server's name is in the dashboard's first line, if
/// that is wide enough, and `--no-dashboard` prints it.
///
/// A recording goes on as it was recorded, whatever you answer or send. Only a plain "no" to Claude Code has a recording of
/// its own.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch demo")]
pub struct DemoArgs {
    /// Only start the tmux server and print its name; remove it at the end of standard input or at Ctrl-C.
    #[arg(long)]
    pub no_dashboard: bool,
}

/// Runs the command; `dashboard` shows a server with a configuration until the operator leaves it.
///
/// # Errors
/// The server cannot be started, or the dashboard fails.
pub fn run(args: &DemoArgs, dashboard: impl FnOnce(Config, ServerId) -> Done) -> Done {
    let demo = Demo::start()?;
    if args.no_dashboard {
        output::print(&format!("{}\n", demo.server()))?;
        wait_for(ended(&demo))?;
        return Ok(ExitCode::SUCCESS);
    }
    dashboard(demo.config(), demo.server())
}

/// Waits for the end of standard input, for a signal or for the end of the demo's server.
async fn ended(demo: &Demo) -> Result<(), Failure> {
    let (ends, mut ended) = mpsc::channel(1);
    let server_ends = ends.clone();
    let server = demo.ended();
    std::thread::spawn(move || {
        server();
        // The command may have ended for another reason, here and below.
        let _ = server_ends.blocking_send(());
    });
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = ends.blocking_send(());
    });
    tokio::select! {
        _ = ended.recv() => {}
        _ = output::end_asked_for() => {}
    }
    Ok(())
}
