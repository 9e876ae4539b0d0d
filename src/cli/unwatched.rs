//! Why a pane that a TARGET names is not watched.

use super::Failure;
use crate::config::{Match, PaneAddress};
use crate::fleet::{Fleet, PaneId, ServerHealth, TerminalKey};
use crate::owner::Settings;
use crate::present::item::Item;
use crate::process::{self, Thoroughness};
use crate::profile::ProcessInfo;
use crate::time::Timestamp;
use crate::tmux::Server;

/// A pane that is not watched.
pub(super) struct Unwatched {
    /// The pane and its process, unless it is ignored: an agent may run in it.
    pub agent: Option<(PaneId, u32)>,
    pub why: Failure,
}

/// Why a pane is not watched; `None` if the target names no pane on a server that answers, or one that is watched.
pub(super) async fn unwatched(target: &str, settings: &Settings, fleet: &Fleet) -> Option<Unwatched> {
    let view = fleet.view(Timestamp::default());
    let known: Vec<&TerminalKey> = Item::all(&view).iter().map(|item| item.key()).collect();
    for id in view.servers.iter().filter(|server| server.health == ServerHealth::Up).map(|server| &server.id) {
        let Ok(server) = Server::new(id.clone(), settings.poll.tmux.clone()) else { continue };
        let Ok(listing) = server.poll(&[]).await else { continue };
        let is_known = |pane: PaneId| known.iter().any(|key| key.server == *id && key.pane == pane);
        let mut found =
            listing.panes.iter().filter(|pane| target == pane.id.to_string() || pane.place.named(target).is_some());
        let Some(pane) = found.next().filter(|pane| !is_known(pane.id)) else { continue };
        let (place, number) = (pane.place.target(), pane.id);
        let address = PaneAddress { server: id, place: &pane.place, pane: pane.id };
        if settings.poll.rules.of_pane(address) == Match::Ignored {
            let why = Failure::refused(format!(
                "pane {number} ({place}) is not watched, because the configuration ignores it"
            ))
            .hint("`ignore` under [watch] in the configuration names it");
            return Some(Unwatched { agent: None, why });
        }
        let found = process::under(&server, vec![pane.pid], Thoroughness::All).await;
        let found_text = match found.as_ref().map(|found| found.get(&pane.pid).map(Vec::as_slice).unwrap_or_default()) {
            Ok([]) => format!("tmux names its command `{}`", pane.facts.command),
            Ok(processes) => format!("its processes are {}", named(processes)),
            Err(error) => {
                format!("tmux names its command `{}`, and its processes are not known: {error}", pane.facts.command)
            }
        };
        let why = Failure::refused(format!("pane {number} ({place}) runs no known agent: {found_text}")).hint(format!(
            "if one of them is an agent, a [[terminal]] with `session = \"{}\"` and `tool` in the configuration says so, or \
             `processes` of a profile of your own; `fleetwatch profiles list` lists the known agents",
            pane.place.session
        ));
        return Some(Unwatched { agent: Some((pane.id, pane.pid)), why });
    }
    None
}

/// The most processes that are named of one pane, and characters of each.
const NAMED: usize = 8;
const CHARACTERS: usize = 60;

fn named(processes: &[ProcessInfo]) -> String {
    let name = |process: &ProcessInfo| {
        let line = if process.arguments.is_empty() { process.name.clone() } else { process.arguments.join(" ") };
        let short: String = line.chars().take(CHARACTERS).collect();
        let cut = if line.chars().count() > CHARACTERS { "…" } else { "" };
        format!("`{short}{cut}` ({} {})", process.name, process.pid)
    };
    let mut names: Vec<String> = processes.iter().take(NAMED).map(name).collect();
    names.extend((processes.len() > NAMED).then(|| format!("{} more", processes.len() - NAMED)));
    names.join(", ")
}
