//! Which terminal a TARGET means: on the command line, and in the path of a request.

use std::borrow::Cow;

use super::item::Item;
use super::objection::Objection;
use super::text::quoted;
use crate::fleet::{PaneId, PaneLocation, Terminal};
use crate::ids::{TerminalKey, WindowId, is_id};
use crate::pattern::nearest;
use crate::task::Task;

/// How TARGET may be written for a command that acts on it, for help texts.
pub const HELP_TO_ACT: &str = "Terminal: its whole name (on a host with or without `HOST/`), a pane id such as %12, a task's window \
                               id such as @12, or a tmux target such as session:window.pane";

/// What a target is for: only to read, the beginning of a name is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Reading,
    Acting,
}

/// How TARGET may be written, for help texts.
pub const HELP: &str = "Terminal: its name (on a host with or without `HOST/`), a pane id such as %12, a task's window id such as \
                        @12, a tmux target such as session:window.pane, or the beginning of a name that only one terminal has";

/// The terminal or the task that a target means: the first of name, `%pane`, `@window`, `session`, `session:window`,
/// `session:window.pane` and, for reading, beginning of a name that fits any at all.
///
/// # Errors
/// Nothing fits, or several do; the hint names them.
pub fn resolve<'a>(target: &str, items: &[Item<'a>], purpose: Purpose) -> Result<Item<'a>, Objection> {
    find_one(target, items, AGENTS, purpose)
}

/// The terminal that an item is.
///
/// # Errors
/// It is a task.
pub fn terminal(item: Item<'_>, purpose: Purpose) -> Result<&Terminal, Objection> {
    item.terminal().ok_or_else(|| {
        let name = quoted(item.id());
        let hint = match purpose {
            Purpose::Reading => format!("`fleetwatch explain {name}` says what it shows"),
            Purpose::Acting => format!(
                "`fleetwatch keys {name} y Enter` types into it, `fleetwatch wait {name} --for asks` waits until it asks"
            ),
        };
        Objection::new(format!("{} is a task; no agent runs in it", item.id()), hint)
    })
}

/// The task that a target means, to act on it.
///
/// # Errors
/// No task fits, or several do; the hint names them.
pub fn resolve_task<'a>(target: &str, tasks: &[&'a Task]) -> Result<&'a Task, Objection> {
    find_one(target, tasks, TASKS, Purpose::Acting)
}

/// What a target may name of a terminal.
#[derive(Clone, Debug)]
struct TargetCandidate<'a> {
    id: &'a str,
    /// Its name in tmux or in the configuration, if the operator has given it another one.
    renamed_from: Option<String>,
    host: Option<&'a str>,
    pane: PaneId,
    /// The window, of a task.
    window: Option<WindowId>,
    place: Cow<'a, PaneLocation>,
}

impl<'a> TargetCandidate<'a> {
    fn of(item: Item<'a>) -> Self {
        let key = item.key();
        let renamed_from = item.note().name.as_ref().map(|_| item.own_name());
        let (window, place) = match item {
            Item::Terminal(terminal) => (None, Cow::Borrowed(&*terminal.place)),
            Item::Task(task) => (Some(task.window), Cow::Owned(task.place())),
        };
        Self { id: item.id(), renamed_from, host: key.server.host.as_deref(), pane: key.pane, window, place }
    }

    /// A name without the host.
    fn on_host<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.host?)?.strip_prefix('/')
    }

    /// Whether this was its name, with or without its host, before the operator gave it another one.
    fn was_called(&self, target: &str) -> bool {
        self.renamed_from.as_ref().is_some_and(|own| own == target || self.on_host(own) == Some(target))
    }
}

/// The one of the items that a target means.
fn find_one<'a, T: Copy + Into<Item<'a>>>(
    target: &str,
    items: &[T],
    sought: Sought,
    purpose: Purpose,
) -> Result<T, Objection> {
    let candidates: Vec<TargetCandidate<'_>> = items.iter().map(|&item| TargetCandidate::of(item.into())).collect();
    only(target, &candidates, sought, purpose).map(|index| items[index])
}

/// The one candidate that a target means.
fn only(
    target: &str,
    candidates: &[TargetCandidate<'_>],
    sought: Sought,
    purpose: Purpose,
) -> Result<usize, Objection> {
    match find(target, candidates, purpose)[..] {
        [one] => Ok(one),
        [] => Err(missing(target, candidates, sought)),
        ref several => Err(ambiguous(target, several.iter().map(|&index| &candidates[index]), sought)),
    }
}

/// The candidates of the first reading of the target that fits any.
fn find(target: &str, candidates: &[TargetCandidate<'_>], purpose: Purpose) -> Vec<usize> {
    let is_name = !is_id(target);
    let readings: [&dyn Fn(&TargetCandidate<'_>) -> bool; 7] = [
        &|candidate| is_name && candidate.id == target,
        &|candidate| is_name && candidate.on_host(candidate.id) == Some(target),
        &|candidate| is_name && candidate.was_called(target),
        &|candidate| candidate.pane.to_string() == target,
        &|candidate| candidate.window.is_some_and(|window| window.to_string() == target),
        // A session alone is a place to read in: which of its panes is meant depends on what runs in the others.
        &|candidate| {
            is_name && (purpose == Purpose::Reading || target.contains(':')) && candidate.place.named(target).is_some()
        },
        &|candidate| is_name && purpose == Purpose::Reading && begins(candidate, target),
    ];
    readings
        .iter()
        .map(|fits| (0..candidates.len()).filter(|&index| fits(&candidates[index])).collect::<Vec<_>>())
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn begins(candidate: &TargetCandidate<'_>, target: &str) -> bool {
    !target.is_empty() && candidate.id.starts_with(target)
}

/// The words for what is searched for.
#[derive(Clone, Copy)]
struct Sought {
    /// The noun for one of them.
    noun: &'static str,
    none: &'static str,
    others: &'static str,
}

const AGENTS: Sought = Sought {
    noun: "watched terminal",
    none: "no terminal is watched; `fleetwatch doctor` says why",
    others: "`fleetwatch list` lists the watched terminals",
};
const TASKS: Sought = Sought {
    noun: "task",
    none: "there are no tasks; `fleetwatch run NAME -- COMMAND` starts one",
    others: "`fleetwatch tasks list` lists the tasks",
};

fn missing(target: &str, candidates: &[TargetCandidate<'_>], sought: Sought) -> Objection {
    let begun: Vec<String> =
        candidates.iter().filter(|one| begins(one, target)).map(|one| format!("`{}`", one.id)).collect();
    let hint = if begun.is_empty() {
        let otherwise = if candidates.is_empty() { sought.none } else { sought.others };
        nearest_or(target, candidates.iter().map(|candidate| candidate.id), otherwise)
    } else {
        format!("this command needs the whole name or the pane id; did you mean {}?", begun.join(", "))
    };
    Objection::new(format!("no {} is called `{target}`", sought.noun), hint)
}

/// A hint with the name that a mistyped one may mean, or another hint if it is like none.
pub fn nearest_or<'a>(meant: &str, names: impl Iterator<Item = &'a str>, otherwise: &str) -> String {
    nearest(meant, names).map_or(otherwise.to_owned(), |name| format!("did you mean `{name}`?"))
}

fn ambiguous<'a>(target: &str, found: impl Iterator<Item = &'a TargetCandidate<'a>>, sought: Sought) -> Objection {
    let found: Vec<String> = found.map(|one| format!("{} ({} {})", one.id, one.pane, one.place.target())).collect();
    let what = format!("`{target}` could mean more than one {}: {}", sought.noun, found.join(", "));
    Objection::new(what, "name one of them, or its pane id")
}

/// The terminals among those of the history that a target means: all that have or had its name, because an agent that is started
/// again in another pane under the same name is the same to the operator. `had_it` finds those that had the name, where none has
/// it.
///
/// # Errors
/// What `had_it` says. The inner error says that the target fits none, or several.
pub fn resolve_past<E>(
    target: &str,
    known: &[(&TerminalKey, &str)],
    had_it: impl Fn(&str) -> Result<Vec<TerminalKey>, E>,
) -> Result<Result<Vec<TerminalKey>, Objection>, E> {
    let of = |fits: &dyn Fn(&TerminalKey, &str) -> bool| -> Vec<(&TerminalKey, &str)> {
        known.iter().copied().filter(|(key, name)| fits(key, name)).collect()
    };
    let keys = |found: Vec<(&TerminalKey, &str)>| found.into_iter().map(|(key, _)| key.clone()).collect();
    for found in [of(&|_, name| name == target), of(&|key, _| key.pane.to_string() == target)] {
        if !found.is_empty() {
            return Ok(Ok(keys(found)));
        }
    }
    // Another configuration may call it otherwise by now.
    let had_it = had_it(target)?;
    let found = of(&|key, _| had_it.contains(key));
    if !found.is_empty() {
        return Ok(Ok(keys(found)));
    }
    let found = of(&|_, name| !target.is_empty() && name.starts_with(target));
    let mut names: Vec<&str> = found.iter().map(|(_, name)| *name).collect();
    names.sort_unstable();
    names.dedup();
    Ok(match names[..] {
        [_] => Ok(keys(found)),
        [] => {
            let otherwise = "`fleetwatch history` without a target shows all of them";
            let hint = nearest_or(target, known.iter().map(|(_, name)| *name), otherwise);
            Err(Objection::new(format!("the history knows no terminal `{target}`"), hint))
        }
        _ => {
            let what = format!("`{target}` could mean several terminals: {}", names.join(", "));
            Err(Objection::new(what, "name one of them, or its pane id"))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ServerId, place};

    fn candidate<'a>(id: &'a str, pane: u32, place: &'a PaneLocation) -> TargetCandidate<'a> {
        let place = Cow::Borrowed(place);
        TargetCandidate { id, renamed_from: None, host: None, pane: PaneId(pane), window: None, place }
    }

    /// Six terminals: a session of its own, two windows of `work`, two panes of one of them, a name like a session.
    fn check(target: &str) -> Vec<&'static str> {
        let places = [
            ("docs", 1, place("docs", 0, "claude", 0)),
            ("api", 12, place("work", 3, "api.v2", 0)),
            ("work:4.0", 13, place("work", 4, "web", 0)),
            ("work:4.1", 14, place("work", 4, "web", 1)),
            ("work", 15, place("other", 0, "x", 0)),
            ("apiary", 16, place("bees", 0, "hive", 0)),
        ];
        let candidates: Vec<TargetCandidate<'_>> =
            places.iter().map(|(id, pane, place)| candidate(id, *pane, place)).collect();
        find(target, &candidates, Purpose::Reading).into_iter().map(|index| places[index].0).collect()
    }

    #[test]
    fn a_name_wins_over_everything_else() {
        assert_eq!(check("docs"), ["docs"]);
        assert_eq!(check("api"), ["api"]);
        assert_eq!(check("work"), ["work"]);
        assert_eq!(check("work:4.1"), ["work:4.1"]);
    }

    #[test]
    fn panes_sessions_windows_and_places_are_found() {
        assert_eq!(check("%13"), ["work:4.0"]);
        assert_eq!(check("other"), ["work"]);
        assert_eq!(check("work:3"), ["api"]);
        assert_eq!(check("work:api.v2"), ["api"]);
        assert_eq!(check("work:api.v2.0"), ["api"]);
        assert_eq!(check("work:web.1"), ["work:4.1"]);
        assert_eq!(check("bees:hive"), ["apiary"]);
    }

    #[test]
    fn a_window_with_two_terminals_is_ambiguous() {
        assert_eq!(check("work:4"), ["work:4.0", "work:4.1"]);
        assert_eq!(check("work:web"), ["work:4.0", "work:4.1"]);
    }

    #[test]
    fn the_beginning_of_a_name_is_enough_when_it_is_the_only_one() {
        assert_eq!(check("do"), ["docs"]);
        assert_eq!(check("apia"), ["apiary"]);
        assert_eq!(check("ap"), ["api", "apiary"]);
    }

    #[test]
    fn nothing_is_found_for_what_names_nothing() {
        assert_eq!(check(""), [""; 0]);
        assert_eq!(check("%1x"), [""; 0]);
        assert_eq!(check("work:33"), [""; 0]);
        assert_eq!(check("works"), [""; 0]);
        assert_eq!(check("docs:"), [""; 0]);
        assert_eq!(check("docs:0.1"), [""; 0]);
    }

    #[test]
    fn an_id_is_no_name_of_anything() {
        // Sessions may be called like the ids of others.
        let places = [place("%2", 0, "x", 0), place("web", 0, "%1", 0), place("@9", 0, "x", 0), place("$1", 0, "x", 0)];
        let window = Some(WindowId(9));
        let all = [
            candidate("%2", 1, &places[0]),
            TargetCandidate { window, ..candidate("web", 2, &places[1]) },
            TargetCandidate { renamed_from: Some("%3".to_owned()), ..candidate("@9", 4, &places[2]) },
            candidate("$1", 5, &places[3]),
        ];
        for purpose in [Purpose::Reading, Purpose::Acting] {
            let found = |target| find(target, &all, purpose);
            assert_eq!((found("%1"), found("%2"), found("%3")), (vec![0], vec![1], vec![]));
            assert_eq!((found("@9"), found("@1"), found("$1")), (vec![1], vec![], vec![]));
            assert_eq!((found("%2:0"), found("$1:0")), (vec![0], vec![3]), "what follows makes it a name");
        }
    }

    #[test]
    fn each_place_of_a_pane_means_it() {
        let linked =
            PaneLocation { links: vec![("two".to_owned(), 7), ("%0".to_owned(), 3)], ..place("one", 0, "a.b", 1) };
        let all = [candidate("one", 1, &linked)];
        for target in ["one:0", "one:a.b.1", "two:7", "two:7.1", "two:a.b", "%0:3", "%0:a.b.1"] {
            assert_eq!(find(target, &all, Purpose::Acting), [0], "{target}");
        }
        for target in ["one:7", "two:0", "two:7.0", "%0:0", "two", "three:7"] {
            assert_eq!(find(target, &all, Purpose::Acting), [0; 0], "{target}");
        }
    }

    #[test]
    fn errors_name_what_could_be_meant() {
        let api = place("work", 3, "api", 0);
        let candidates = [
            candidate("shop-api", 1, &api),
            TargetCandidate { window: Some(WindowId(9)), ..candidate("shop-web", 2, &api) },
        ];
        let text = |objection: Objection| format!("{objection:?}");
        let refusal = |target, sought| text(only(target, &candidates, sought, Purpose::Reading).unwrap_err());
        assert!(refusal("shop-apj", AGENTS).contains("did you mean `shop-api`?"));
        let acting = |target| text(only(target, &candidates, AGENTS, Purpose::Acting).unwrap_err());
        assert!(acting("shop").contains("whole name or the pane id; did you mean `shop-api`, `shop-web`?"));
        assert!(acting("shop-a").contains("did you mean `shop-api`?"), "one that begins so is not enough either");
        assert!(refusal("zzz", AGENTS).contains("fleetwatch list"));
        assert!(refusal("zzz", TASKS).contains("no task is called `zzz`"));
        assert!(text(missing("zzz", &[], AGENTS)).contains("fleetwatch doctor"));
        assert!(text(missing("zzz", &[], TASKS)).contains("fleetwatch run"));
        assert!(refusal("shop", AGENTS).contains("shop-api (%1 work:3.0), shop-web (%2 work:3.0)"));
        assert_eq!(find("@9", &candidates, Purpose::Acting), [1], "a task is found by its window");
    }

    #[test]
    fn what_was_renamed_is_still_found_by_its_own_name() {
        let (docs, web) = (place("docs", 0, "claude", 0), place("web", 0, "claude", 0));
        let renamed = |name: &str, own: &str, host, place| TargetCandidate {
            renamed_from: Some(own.to_owned()),
            host,
            ..candidate(if name == "manual" { "manual" } else { "shop" }, 1, place)
        };
        let all = [renamed("manual", "docs", None, &docs), renamed("shop", "box/web", Some("box"), &web)];
        for (target, found) in [("manual", 0), ("docs", 0), ("docs:0", 0), ("shop", 1), ("box/web", 1), ("web", 1)] {
            assert_eq!(find(target, &all, Purpose::Acting), [found], "{target}");
        }
    }

    #[test]
    fn a_name_without_its_host_is_enough_where_one_host_has_it() {
        let place = place("tasks", 0, "x", 0);
        let on = |host: &'static str, id| TargetCandidate { host: Some(host), ..candidate(id, 1, &place) };
        let here = candidate("web", 1, &place);
        let all = [
            on("box-2", "box-2/job"),
            on("box-2", "box-2/web"),
            on("box-3", "box-3/db"),
            on("box-4", "box-4/db"),
            here,
        ];
        assert_eq!(find("job", &all, Purpose::Acting), [0]);
        assert_eq!(find("box-2/job", &all, Purpose::Acting), [0]);
        assert_eq!(find("web", &all, Purpose::Acting), [4], "what has the very name comes first");
        assert_eq!(find("db", &all, Purpose::Acting), [2, 3]);
    }

    #[test]
    fn a_target_means_every_terminal_of_its_name() {
        let keys = [1, 2, 3, 4].map(|pane| TerminalKey {
            server: ServerId::default(),
            pane: PaneId(pane),
            pid: pane,
            instance: Default::default(),
        });
        let known: Vec<(&TerminalKey, &str)> = keys.iter().zip(["api", "api", "apiary", "docs"]).collect();
        let had_it = |name: &str| Ok::<_, ()>(keys.iter().filter(|_| name == "shop").take(1).cloned().collect());
        let panes = |target: &str| {
            resolve_past(target, &known, had_it)
                .unwrap()
                .map(|keys| keys.iter().map(|key| key.pane.0).collect::<Vec<_>>())
                .map_err(|objection| objection.to_string())
        };
        assert_eq!(panes("api"), Ok(vec![1, 2]));
        assert_eq!(panes("%3"), Ok(vec![3]));
        assert_eq!(panes("shop"), Ok(vec![1]), "it was called so");
        assert_eq!(panes("do"), Ok(vec![4]));
        assert_eq!(panes("ap"), Err("`ap` could mean several terminals: api, apiary".to_owned()));
        assert_eq!(panes("dosc"), Err("the history knows no terminal `dosc`".to_owned()));
        assert!(panes("").is_err());
    }
}
