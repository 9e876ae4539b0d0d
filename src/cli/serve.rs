//! `fleetwatch serve`: the fleet over HTTP (SPEC §17), with the engine that the dashboard runs on.
//!
//! One async task owns the engine. A route sends it a closure that runs between two events ([`Served::ask`]), so that its answer
//! describes a single moment.

mod act;
mod check;
mod event_log;
mod events;
mod listener;
mod metrics;
mod openapi;
mod page;
mod places;
mod qr;
mod read;
mod served;
mod token;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use tokio::signal::unix::SignalKind;
use tokio::sync::{Semaphore, mpsc, watch};

use super::history::warn_of;
use super::output::end_asked_for;
use super::survey::{self, Watched};
use super::watch::{NOBODY, Printer, new_problems};
use super::{Done, Failure, GlobalOptions, output};
use crate::address::{Network, WebAddress};
use crate::clock;
use crate::engine::{Engine, Update};
use crate::history::History;
use crate::owner::Rank;
use crate::present::filter::Filter;
use crate::token::Scope;
use check::Access;
use event_log::EventLog;
use listener::Listener;
use metrics::{Metrics, locked};
use places::ConnectionPlaces;
use served::{Inquiry, Served};
pub use token::{TokenArgs, token};

/// Serve the terminals over HTTP, to a phone or a script.
///
/// Whoever has a token of `fleetwatch token` may see them, and act on them if it allows that.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch serve --qr")]
pub struct ServeArgs {
    /// Listen on this address and port.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7717")]
    pub listen: SocketAddr,
    /// Listen on a socket at this path instead, which only this user can reach.
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub unix: Option<PathBuf>,
    /// Show the page's address as a QR code for your phone, with a token `qr` that is good for 30 days and replaces the previous
    /// one; it may only read unless you say `act`.
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, default_missing_value = "read", conflicts_with = "unix")]
    pub qr: Option<Scope>,
    /// Listen where other machines reach it, though nothing is encrypted.
    #[arg(long)]
    pub insecure: bool,
    /// What a proxy in front of it shows, such as `https://box.example.ts.net`: `--qr` leads there, and requests may be addressed to
    /// that name.
    #[arg(long, value_name = "URL", value_parser = WebAddress::parse)]
    pub url: Option<WebAddress>,
    /// Answer requests that are addressed to this name, in addition to `localhost` and IP addresses; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
}

/// The name of the token that is shown as a code.
const QR: &str = "qr";

/// How many inquiries may wait; beyond that, the caller waits.
const INQUIRIES: usize = 64;

/// Connections at once, and where the system allows few files: tmux, git and the history need some.
const CONNECTIONS: usize = 512;
const FEWEST_CONNECTIONS: usize = 16;

/// Runs the command until Ctrl-C or SIGTERM.
///
/// # Errors
/// The configuration is wrong, or it cannot listen at the address.
pub async fn run(args: &ServeArgs, options: &GlobalOptions) -> Done {
    let is_reached = args.unix.is_none() && !args.listen.ip().is_loopback();
    let is_private = Network::is_private(&options.load()?.config.private_networks, args.listen.ip());
    if is_reached && !is_private && !args.insecure {
        return Err(Failure::usage(format!(
            "{} can be reached from other machines, and nothing is encrypted",
            args.listen
        ))
        .hint(
            "listen on 127.0.0.1 behind `tailscale serve`, a proxy or `ssh -L` (docs/serving.md), or name the network in \
             `private_networks` of [serve]; `--insecure` allows it anyway",
        ));
    }
    if args.qr.is_some() && !std::io::stdout().is_terminal() {
        // In the log of a service, others could read the token.
        return Err(Failure::usage("a QR code needs a terminal, and standard output is not one")
            .hint("`fleetwatch token add NAME` makes a token for `http://ADDRESS/#token=TOKEN`"));
    }
    let watched = Watched::new(options)?;
    let access = Arc::new(Access::new(token::tokens()?, args.allow_host.clone(), args.url.clone()));
    // The signal handlers must exist before the socket, which the end removes.
    let end = end_asked_for();
    let listener = match &args.unix {
        Some(path) => Listener::on_socket(path).await?,
        None => Listener::on_port(args.listen).await?,
    };
    let shown = args.qr.map(|scope| token::replace(&access.tokens, QR, scope)).transpose()?;
    if access.tokens.read().is_ok_and(|tokens| tokens.is_empty()) {
        Failure::refused("there is no token, so nobody can ask").hint("`fleetwatch token add NAME` makes one").warn();
    }
    let config = &watched.loaded.config;
    let history = History::start(&config.history);
    let settings = watched.watching(Rank::Watch);
    let (mut engine, sender) = Engine::start_acting(settings, &watched.servers, (config, &history), false)?;
    let (inquiries, asked) = mpsc::channel(INQUIRIES);
    let (tell_end, ending) = watch::channel(false);
    let served = Served {
        inquiries,
        events: Arc::new(EventLog::new()),
        access,
        metrics: Arc::new(Mutex::new(Metrics::new())),
        sender,
        acts: Arc::new(Semaphore::new(act::MOST as usize)),
        history: history.path().map(PathBuf::from).zip(history.owner().cloned()),
        ending: ending.clone(),
    };
    let place = listener.place()?;
    output::print(&format!("listening on {place}\n"))?;
    let url = args.url.as_ref().map(WebAddress::place);
    if let Some(token) = shown {
        let page = url.clone().unwrap_or_else(|| qr::address(&place, &args.allow_host));
        output::print(&qr::code(&format!("{page}/#token={token}"))?)?;
        if !is_reached && url.is_none() {
            let hint = "`--url` names what a proxy shows, `--listen` an address of your VPN (docs/serving.md)";
            Failure::refused(format!("a phone cannot reach {page}")).hint(hint).warn();
        }
    } else if args.unix.is_none() {
        let page = url.as_deref().unwrap_or(&place);
        output::print(&format!(
            "next: open {page} and paste a token (`fleetwatch token add phone` prints one), or `fleetwatch serve --qr` for a phone\n"
        ))?;
    }
    let most = CONNECTIONS.min(survey::allow_all_files(watched.servers.len())).max(FEWEST_CONNECTIONS);
    let serving = tokio::spawn(listener.serve(read::routes(served.clone()), ConnectionPlaces::new(most), ending));
    let done = answer(&mut engine, &history, &served, asked, end).await;
    tell_end.send_replace(true);
    let _ended = serving.await;
    // Acts in progress are completed, and kept.
    let acts = async { drop(served.acts.acquire_many(act::MOST).await) };
    engine.leave(acts).await.iter().for_each(|left| super::console::tell(&format!("warning: {left}")));
    done
}

/// Watches, reports what happens, and answers inquiries, until the operator ends it.
async fn answer(
    engine: &mut Engine,
    history: &History,
    Served { events, metrics, .. }: &Served,
    mut asked: mpsc::Receiver<Inquiry>,
    end: impl Future<Output = SignalKind>,
) -> Done {
    let mut inputs = history.inputs();
    let (mut printer, mut health) = (Printer::new(true, Filter::default()), BTreeMap::new());
    tokio::pin!(end);
    loop {
        let mut sent = String::new();
        tokio::select! {
            event = engine.next() => {
                engine.handle(event, clock::now());
                while let Some(event) = engine.try_next() {
                    engine.handle(event, clock::now());
                }
            }
            Some(input) = inputs.recv() => {
                sent = printer.input_line(&input, engine.fleet())?;
                if !sent.is_empty() {
                    locked(metrics).sent(&input);
                }
            }
            Some(inquiry) = asked.recv() => {
                inquiry(engine);
                continue;
            }
            _ = &mut end => return Ok(ExitCode::SUCCESS),
        }
        for (server, problem) in new_problems(engine.fleet(), &mut health) {
            // Finding out why must not block inquiries.
            let what = format!("{server}: {}", problem.message);
            Failure::refused(what).hint("`fleetwatch doctor` asks it again and says what to do").warn();
        }
        warn_of(history);
        drop(engine.deliver(NOBODY, clock::now()));
        let updates: Vec<Update> = std::iter::from_fn(|| engine.poll_update()).collect();
        locked(metrics).update(&updates, engine.fleet());
        events.push(&printer.lines(&updates, engine.fleet())?);
        events.push(&sent);
        events.push(&printer.facts_lines(engine.fleet(), clock::now())?);
    }
}

#[cfg(test)]
mod tests;
