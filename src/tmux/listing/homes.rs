//! Where a window is at home that several sessions show: linked into another one, or in a group of sessions. Its terminals are
//! named after the session that it was made in, whoever links it or makes another session of the group.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::known::{ListedPane, ListedSession};
use crate::ids::{PaneId, PaneLocation};

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
