//! Counts bells, and keeps windows open when their programs end, in declared task sessions: the one exception to leaving no trace.
//!
//! Bells are counted by a hook in tmux's own language, at its own array index. A session that has a hook array does
//! not run the global one any more, so the user's global hooks are copied into it, and removed again with ours.
//! Each process that watches adds its name to the session; the last one that leaves removes everything. What a killed
//! process left is found by its name, and cleaned up by the next one.

use std::collections::{BTreeMap, BTreeSet};

use tmux_interface::{DisplayMessage, TmuxCommand};

use super::super::listing::names;
use super::super::script::{Script, command, option, set, unset};
use super::super::send::in_instance;
use super::super::words::{Nonce, owner_words};
use super::super::{Error, Server};
use crate::ids::{ServerInstance, SessionId, WindowId};
use crate::screen::harmless;

/// The place of the hook in the array: far from where people put theirs.
const INDEX: u32 = 7070;

/// Who wants what of a session.
#[derive(Clone, Debug)]
pub struct Counting<'a> {
    /// The server that the session was seen in.
    pub instance: &'a ServerInstance,
    pub session: SessionId,
    /// Windows that do not keep their programs yet.
    pub windows: &'a [WindowId],
    /// This process, as `PID@MACHINE`.
    pub owner: &'a str,
    /// Processes that are no more.
    pub gone: &'a [String],
}

/// What fleetwatch has left in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub session_name: String,
    /// Whether `run` made the session, or the operator said that it is one of tasks.
    pub declared: bool,
    /// The processes that want its bells counted, as `PID@MACHINE`.
    pub watchers: Vec<String>,
    /// Whether the hook is there.
    pub hook: bool,
    /// Windows that were made to keep programs that have ended, with what they had of their own before.
    pub windows: BTreeMap<WindowId, String>,
    /// Windows whose bells were counted, those that keep their programs for other reasons among them.
    pub rung: BTreeSet<WindowId>,
}

impl Trace {
    fn is_empty(&self) -> bool {
        !self.hook && self.watchers.is_empty() && self.windows.is_empty() && self.rung.is_empty()
    }

    /// Whether it is what `run` set when it made the session, and nobody has watched since.
    pub fn is_of_run(&self) -> bool {
        self.declared && self.watchers.is_empty() && self.windows.is_empty()
    }
}

impl Server {
    /// Counts the bells of a session from now on, and keeps what ends in the given windows.
    pub async fn count_bells(&self, wanted: &Counting<'_>) -> Result<(), Error> {
        let target = wanted.session.to_string();
        let hooks = self.hooks(wanted.session, wanted.windows).await?;
        let mut commands = hooks.copies_of_global(&target);
        commands.push(counting_hook(&target));
        // Its own name goes as well before it is added, as twice would have to be taken out twice.
        for owner in wanted.gone.iter().map(String::as_str).chain([wanted.owner]) {
            commands.push(without_owner(&target, owner));
        }
        commands.push(option(&["-a"], &target, &[names::WATCHERS, &entry(wanted.owner)]));
        for window in wanted.windows {
            let before = hooks.remain.get(window).filter(|before| !before.is_empty()).map_or("unset", String::as_str);
            commands.push(set(&["-w"], &window.to_string(), names::REMAIN, before));
            commands.push(set(&["-w"], &window.to_string(), "remain-on-exit", "on"));
        }
        let mut script = Script::new();
        // The same number may be another session's by now, in a server that was started anew.
        for command in commands {
            script.push(in_instance(wanted.instance, self.id.host.is_some(), command));
        }
        self.run_script(script).await.map(drop)
    }

    /// Lets the user's global hooks run in a session that was made with the hook that counts: what they are was not known
    /// before, as the server may have begun with the session.
    pub(super) async fn keep_global_hooks(&self, session: SessionId) -> Result<(), Error> {
        let hooks = self.hooks(session, &[]).await?;
        let mut script = Script::new();
        hooks.copies_of_global(&session.to_string()).into_iter().for_each(|command| script.push(command));
        if script.is_empty() { Ok(()) } else { self.run_script(script).await.map(drop) }
    }

    /// Takes processes out of every session of the server; where nobody is left, all that fleetwatch set there goes. What
    /// `run` set in a session that nobody has watched yet stays with it.
    pub async fn stop_counting(&self, owners: &[String]) -> Result<(), Error> {
        for (session, trace) in self.traces().await?.into_iter().filter(|(_, trace)| !trace.is_of_run()) {
            self.clean(session, &trace, owners).await?;
        }
        Ok(())
    }

    /// The same in one session.
    pub async fn stop_counting_in(&self, session: SessionId, owners: &[String]) -> Result<(), Error> {
        match self.traces().await?.get(&session) {
            Some(trace) => self.clean(session, trace, owners).await,
            None => Ok(()),
        }
    }

    async fn clean(&self, session: SessionId, trace: &Trace, owners: &[String]) -> Result<(), Error> {
        let mut script = Script::new();
        if trace.watchers.iter().all(|watcher| owners.contains(watcher)) {
            let windows: Vec<WindowId> = trace.windows.keys().copied().collect();
            cleaning(&mut script, session, trace, &self.hooks(session, &windows).await?);
        } else {
            owners.iter().for_each(|owner| script.push(without_owner(&session.to_string(), owner)));
        }
        self.run_script(script).await.map(drop)
    }

    /// What fleetwatch has left in the sessions of the server.
    pub async fn traces(&self) -> Result<BTreeMap<SessionId, Trace>, Error> {
        let nonce = Nonce::new();
        let watchers = names::WATCHERS;
        let fields = ["session_id", names::TASKS, watchers, "window_id", names::REMAIN, names::BELLS, "session_name"];
        let row: String = fields.iter().map(|field| format!("{nonce}#{{{field}}}")).collect();
        let mut script = Script::new();
        script.push(command(&["list-windows", "-a", "-F", &row]));
        let mut traces: BTreeMap<SessionId, Trace> = BTreeMap::new();
        for row in self.say(script).await?.lines() {
            let fields: Vec<&str> = row.split(nonce.as_str()).collect();
            let [_, session, declared, watchers, window, remain, bells, name] = fields[..] else { continue };
            let id = |text: &str, sigil| text.trim_start_matches(sigil).parse::<u32>().ok();
            let (Some(session), Some(window)) = (id(session, '$'), id(window, '@')) else { continue };
            let trace = traces.entry(SessionId(session)).or_default();
            (trace.session_name, trace.declared) = (harmless(name), declared == "1");
            trace.watchers = owner_words(watchers);
            if !remain.is_empty() {
                trace.windows.insert(WindowId(window), remain.to_owned());
            }
            if !bells.is_empty() {
                trace.rung.insert(WindowId(window));
            }
        }
        for (session, trace) in &mut traces {
            trace.hook =
                self.hooks(*session, &[]).await?.own.get(&INDEX).is_some_and(|hook| hook.contains(names::BELLS));
        }
        traces.retain(|_, trace| !trace.is_empty());
        Ok(traces)
    }

    async fn hooks(&self, session: SessionId, windows: &[WindowId]) -> Result<Hooks, Error> {
        let nonce = Nonce::new();
        let target = session.to_string();
        let mut script = Script::new();
        let mut part = |name: &str, words: &[&str]| {
            script.push(DisplayMessage::new().print().message(format!("{nonce}{name}")).build());
            script.push(command(words));
        };
        part("own", &["show-hooks", "-t", &target, "alert-bell"]);
        part("global", &["show-hooks", "-g", "alert-bell"]);
        part("copied", &["show-options", "-qv", "-t", &target, names::COPIED]);
        for window in windows.iter().map(WindowId::to_string) {
            part(&window, &["show-options", "-wqv", "-t", &window, "remain-on-exit"]);
        }
        Ok(Hooks::read(&self.say(script).await?, nonce.as_str()))
    }

    /// Runs a script for its output. A line that fails because its window is gone prints nothing.
    async fn say(&self, script: Script) -> Result<String, Error> {
        let output = self.run_script(script).await?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.code {
            Some(0) => Ok(text),
            _ if !text.is_empty() => Ok(text),
            _ => Err(self.explain(&output, Error::Failed("tmux did not tell its hooks".into()))),
        }
    }
}

/// The hooks of a session, as tmux writes them down.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hooks {
    /// The session's own, ours among them.
    own: BTreeMap<u32, String>,
    global: BTreeMap<u32, String>,
    /// Those of the session's own that fleetwatch copied from the global ones.
    copied: Vec<u32>,
    /// What windows have of their own for `remain-on-exit`.
    remain: BTreeMap<WindowId, String>,
}

impl Hooks {
    fn read(text: &str, nonce: &str) -> Self {
        let mut hooks = Self::default();
        let mut part = "";
        for row in text.lines() {
            if let Some(name) = row.strip_prefix(nonce) {
                part = name;
                continue;
            }
            let hook = row.strip_prefix("alert-bell[").and_then(|rest| rest.split_once("] "));
            let hook = hook.and_then(|(index, command)| Some((index.parse::<u32>().ok()?, command.to_owned())));
            match part {
                "own" => hooks.own.extend(hook),
                "global" => hooks.global.extend(hook),
                "copied" => hooks.copied.extend(row.split(',').filter_map(|index| index.parse::<u32>().ok())),
                window => {
                    let id = window.strip_prefix('@').and_then(|id| id.parse().ok()).map(WindowId);
                    hooks.remain.extend(id.map(|id| (id, row.trim().to_owned())));
                }
            }
        }
        hooks
    }

    /// Copies the global hooks into a session whose own array holds nothing else than the counter: an array of its own
    /// hides them.
    fn copies_of_global<'a>(&self, session: &str) -> Vec<TmuxCommand<'a>> {
        if self.global.is_empty() || !self.copied.is_empty() || self.own.keys().any(|index| *index != INDEX) {
            return Vec::new();
        }
        let copied: Vec<String> = self.global.keys().map(u32::to_string).collect();
        let copies = self.global.iter().map(|(index, command)| hook(session, *index, command));
        copies.chain([set(&[], session, names::COPIED, &copied.join(","))]).collect()
    }

    /// Whether all hooks of the session are fleetwatch's.
    fn are_all_ours(&self) -> bool {
        let copied = |index: &u32| self.copied.contains(index) && self.own.get(index) == self.global.get(index);
        self.own.keys().all(|index| *index == INDEX || copied(index))
    }
}

/// Takes away what fleetwatch set in a session. What the user has put there stays.
fn cleaning(script: &mut Script, session: SessionId, trace: &Trace, hooks: &Hooks) {
    let target = session.to_string();
    if hooks.are_all_ours() {
        // An empty array of the session's own would still hide the global one.
        script.push(command(&["set-hook", "-u", "-t", &target, "alert-bell"]));
    } else {
        script.push(command(&["set-hook", "-u", "-t", &target, &format!("alert-bell[{INDEX}]")]));
    }
    for name in [names::WATCHERS, names::COPIED] {
        script.push(unset(&[], &target, name));
    }
    for (window, before) in &trace.windows {
        let window = window.to_string();
        script.push(match before.as_str() {
            "off" | "failed" => set(&["-w"], &window, "remain-on-exit", before),
            _ => unset(&["-w"], &window, "remain-on-exit"),
        });
        script.push(unset(&["-w"], &window, names::REMAIN));
    }
    for window in &trace.rung {
        script.push(unset(&["-w"], &window.to_string(), names::BELLS));
    }
}

/// The hook that counts the bells of a session from now on.
pub(super) fn counting_hook<'a>(session: &str) -> TmuxCommand<'a> {
    hook(session, INDEX, &counter())
}

/// What counts a bell. It runs with the window that rang as its target.
fn counter() -> String {
    let bells = names::BELLS;
    format!("set-option -wF {bells} \"#{{e|+:0#{{{bells}}},1}}\"")
}

fn hook<'a>(session: &str, index: u32, what: &str) -> TmuxCommand<'a> {
    command(&["set-hook", "-t", session, &format!("alert-bell[{index}]"), what])
}

/// How a process stands in the list: such that no name is the end of another one.
fn entry(owner: &str) -> String {
    format!("={owner},")
}

/// Takes a process out of the list by a substitution in tmux's own language, so that two processes at once lose nothing.
fn without_owner<'a>(session: &str, owner: &str) -> TmuxCommand<'a> {
    let (list, entry) = (names::WATCHERS, entry(owner));
    option(&["-F"], session, &[list, &format!("#{{s/{entry}//:{list}}}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_ours_when_they_are_the_counter_or_copies_that_nobody_changed() {
        let text = "Nown\nalert-bell[0] display-message a\nalert-bell[7070] set-option x\nNglobal\nalert-bell[0] \
                    display-message a\nNcopied\n0\nN@3\noff\nN@4\n";
        let mut hooks = Hooks::read(text, "N");
        assert_eq!(hooks.own.len(), 2);
        assert_eq!((&hooks.copied[..], hooks.remain.get(&WindowId(3)).map(String::as_str)), (&[0][..], Some("off")));
        assert!(hooks.are_all_ours());
        hooks.own.insert(0, "display-message changed".into());
        assert!(!hooks.are_all_ours());
    }
}
