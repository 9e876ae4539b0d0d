//! Faults forced at each step of what fleetwatch does. A stand-in (`support/faults.c`) counts the calls by which a process leaves
//! traces, and has the one that is named fail: so no step is left to chance. Whatever comes, what is said to be done was done once,
//! what is said to be refused was not done, the history says the same, and it stays whole.
//!
//! Two cells of each fault are run by default, `FLEETWATCH_FAULTS=all` runs the whole table of steps and faults, `'send:'` a scenario, and
//! `'send: pipe 3: killed'` a cell. `FLEETWATCH_FAULTS_PART=2/5` runs the second fifth of them. What came of them is printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::owner::{Cage, Watch};
use crate::support::private_tmux::{PATIENCE, Pause, pass, signal, wait_until};

/// How many cells of each fault are run unless told otherwise.
const SHARE: usize = 2;
/// How many are run at once. More would wait for permission to drive tmux.
const WORKERS: usize = 4;
/// How long a process that a fault has stopped stays so.
const STOPPED: Duration = Duration::from_secs(1);

const ANY: &str = "open write sync name socket spawn pipe say";
const DISK: &[&str] = &["disk full", "read-only", "I/O error", "no descriptor"];

/// What can come at a step.
struct Fault {
    name: &'static str,
    /// What the stand-in is told.
    deed: &'static str,
    /// The kinds of steps at which it can come.
    kinds: &'static str,
    /// Whether it comes at each of several such steps in a row, or at the first of them only: what comes from outside or stays on from
    /// there makes no difference between them.
    at_each: bool,
    /// Where it means something: in these scenarios, or in all.
    scenarios: &'static str,
}

impl Fault {
    const fn new(name: &'static str, deed: &'static str, kinds: &'static str) -> Self {
        Self { name, deed, kinds, at_each: false, scenarios: "" }
    }

    const fn at_each(self) -> Self {
        Self { at_each: true, ..self }
    }

    const fn in_scenarios(self, scenarios: &'static str) -> Self {
        Self { scenarios, ..self }
    }

    fn fits(&self, scenario: &str, step: &str, is_first: bool) -> bool {
        let has = |words: &str, word: &str| words.split(' ').any(|known| known == word);
        let is_here = has(self.scenarios, scenario) || self.scenarios.is_empty() && scenario != "shell";
        is_here && (is_first || self.at_each) && has(self.kinds, step.split(' ').next().unwrap_or_default())
    }
}

const FAULTS: &[Fault] = &[
    Fault::new("killed", "kill", ANY).at_each(),
    Fault::new("torn", "torn", "write socket pipe say").at_each(),
    Fault::new("I/O error", "io", "open write sync name").at_each(),
    Fault::new("disk full", "full", "open write"),
    Fault::new("read-only", "readonly", "open write sync name"),
    Fault::new("no descriptor", "files", "open socket spawn"),
    Fault::new("stopped", "stop", ANY),
    Fault::new("an hour on", "clock 3600", ANY),
    Fault::new("an hour back", "clock -3600", ANY),
    Fault::new("tmux killed", "run TMUX kill-server", ANY),
    Fault::new(
        "tmux upgraded",
        "run TMUX kill-server; while TMUX ls; do :; done; until TMUX NEW AGENT; do :; done; ANOTHER; READY",
        ANY,
    ),
    Fault::new("ssh cut", "run kill -9 $(cat 'HOME/pids')", ANY).in_scenarios("host"),
    Fault::new("agent replaced", "run TMUX respawn-pane -k -t main: AGENT; ANOTHER; READY", "spawn pipe"),
    Fault::new(
        "agent ends",
        "run kill -9 $(pgrep -P $(TMUX display-message -p -t main: '#{pane_pid}')); SHELL",
        "spawn pipe",
    )
    .in_scenarios("shell"),
    Fault::new(
        "names swapped",
        "run TMUX rename-session -t main x; TMUX rename-session -t other main; ANOTHER",
        "spawn pipe",
    )
    .in_scenarios("send answer asked"),
    Fault::new("copy mode", "run TMUX copy-mode -t main:", "spawn pipe").in_scenarios("send answer asked host"),
    Fault::new("a hand types", "run TMUX send-keys -t main: -l OTHER; sleep 0.2", "spawn pipe")
        .in_scenarios("send answer asked host"),
];

/// What words of a deed stand for: a tmux command, what agents are run by, and what is waited for.
const WORDS: &[(&str, &str)] = &[
    ("READY", "until TMUX capture-pane -p -t main: | grep -q ❯; do :; done"),
    ("SHELL", "until TMUX capture-pane -p -t main: | grep -q '^[$]$'; do :; done"),
    ("ANOTHER", "TMUX pipe-pane -t main: \"cat >>'HOME/another'\""),
    ("NEW", "-f /dev/null new-session -d -s main -x 100 -y 30"),
    ("AGENT", "'HOME/parrot' 'HOME/parrot.sh'"),
    ("TMUX", "env -u TMUX tmux -u -L SERVER 2>/dev/null"),
];

type Scenario = (&'static str, fn(&Cell<'_>) -> Seen);

/// What is done, and how. The process that does it is under test from the beginning, or from when the stand-in is armed.
const SCENARIOS: &[Scenario] = &[
    ("send", send),
    ("answer", answer),
    ("asked", asked),
    ("record", record),
    ("hand-over", hand_over),
    ("start", start),
    ("new", new),
    ("host", host),
    ("shell", shell),
];

/// A place in the table: a step of a scenario, and what comes there. Without one the steps are counted.
struct Cell<'a> {
    ground: &'a Ground,
    cage: Cage,
    /// The agent that the act is meant for.
    pid: Value,
    fault: Option<(String, &'static str)>,
}

/// What was seen of an act.
#[derive(Default)]
struct Seen {
    /// What the process said became of it; nothing if it did not live to say so.
    told: Option<String>,
    /// How often it was done.
    done: usize,
    /// Whether something is left of it that was not done.
    is_begun: bool,
    /// The outcomes in the history.
    kept: Vec<Option<String>>,
    /// Everything else that must not be.
    wrong: Vec<String>,
}

/// What all cells begin with: the stand-in, and a history that must stay whole.
struct Ground {
    home: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { home: tempfile::tempdir().unwrap() };
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/faults.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(ground.shim()).arg(source);
        assert!(compiler.status().unwrap().success());
        let cage = Cage::new();
        let sent = cage.fleetwatch("seed", &["send", "other", "seed"]).output().unwrap();
        assert!(sent.status.success(), "{sent:?}");
        fs::copy(cage.home.path().join("state/fleetwatch/history.db"), ground.history()).unwrap();
        ground
    }

    fn shim(&self) -> PathBuf {
        self.home.path().join("faults.so")
    }

    fn history(&self) -> PathBuf {
        self.home.path().join("history.db")
    }
}

impl<'a> Cell<'a> {
    fn new(ground: &'a Ground, fault: Option<(String, &'static str)>) -> Self {
        let cage = Cage::new();
        let pid = cage.tmux.key_of("main:").pid.into();
        let cell = Self { ground, cage, pid, fault };
        fs::create_dir_all(cell.path("state/fleetwatch")).unwrap();
        fs::copy(ground.history(), cell.path("state/fleetwatch/history.db")).unwrap();
        cell.hear();
        cell
    }

    /// From now on what the agent prints is known, also when its server is gone.
    fn hear(&self) {
        self.cage.tmux.run(&["pipe-pane", "-t", "main:", &format!("cat >>'{}'", self.path("printed").display())]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.cage.home.path().join(name)
    }

    /// Puts a process under test.
    fn tested(&self, arguments: &[&str]) -> Command {
        let mut command = self.cage.fleetwatch("tested", arguments);
        command.env("LD_PRELOAD", self.ground.shim()).env("FAULT_LOG", self.path("steps"));
        command.env("FAULT_HOME", self.cage.home.path()).env("FAULT_ARMED", self.path("armed"));
        if let Some((at, deed)) = &self.fault {
            let words = WORDS.iter().fold((*deed).to_owned(), |deed, (word, text)| deed.replace(word, text));
            let home = self.cage.home.path().display().to_string();
            command
                .env("FAULT_AT", at)
                .env("FAULT_DO", words.replace("HOME", &home).replace("SERVER", self.cage.tmux.name()));
        }
        command.stdout(Stdio::piped()).stderr(fs::File::create(self.path("errors")).unwrap());
        command
    }

    /// From now on steps count.
    fn arm(&self) {
        fs::write(self.path("armed"), "").unwrap();
    }

    /// The steps that were taken, by their names.
    fn steps(&self) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let log = fs::read_to_string(self.path("steps")).unwrap_or_default();
        let numbered = log.lines().map(|line| {
            let kind = line.trim_end_matches(" !").to_owned();
            let count = counts.entry(kind.clone()).or_default();
            *count += 1;
            format!("{kind} {count}")
        });
        numbered.collect()
    }

    /// Whether the fault came.
    fn is_hit(&self) -> bool {
        fs::read_to_string(self.path("steps")).unwrap_or_default().contains('!')
    }

    /// What a command that acts says became of it; nothing if it was killed. Its exit code must say the same.
    fn told(&self, output: &Output) -> Seen {
        let mut seen = Seen::default();
        let Some(code) = output.status.code() else { return seen };
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let means = match said["outcome"].as_str() {
            Some("accepted" | "started" | "queued") => 0,
            Some("refused" | "not_taken") => 1,
            Some("unverified") => 3,
            _ => -1,
        };
        if code != means {
            seen.wrong.push(format!("exit code {code} of {:?}", String::from_utf8_lossy(&output.stdout)));
        }
        seen.told = said["outcome"].as_str().map(str::to_owned);
        seen
    }

    /// What came of a prompt to a terminal.
    fn prompted(&self, terminal: &str, text: &str, output: &Output) -> Seen {
        let mut seen = self.told(output);
        self.find(terminal, &format!("» {text}"), &mut seen);
        // What was submitted stays on the screen, with its echo below.
        seen.is_begun =
            self.screen().split(&format!("❯ {text}")).skip(1).any(|after| !after.trim_start().starts_with('»'));
        seen
    }

    /// Gives the agent a prompt, as its operator would, if it is there.
    fn submit(&self, text: &str) {
        self.cage.tmux.output(&["send-keys", "-t", "main:", text, "Enter"]);
    }

    /// Whether a line says that the agent is not there any more, or cannot be seen, where the fault may do that.
    fn is_gone(&self, line: &Value) -> bool {
        let may_be = self.fault.as_ref().is_some_and(|(_, deed)| deed.contains("TMUX"));
        let state = &line["state"];
        may_be && (state["diagnostics"]["availability"] != "available" || state["terminal"]["pid"] != self.pid)
    }

    /// What somebody who watches says about the end of the turn of `hold`, which they know of before it ends.
    fn end_of_turn(&self, watch: &Watch) -> Option<String> {
        let hear = |fits: &dyn Fn(&Value) -> bool| watch.hear_of("main", |line| fits(line) || self.is_gone(line)).ok();
        let ends = |line: &Value| line["state"]["last_turn"]["result"] == "success";
        let known = hear(&|line| line["state"]["turn"]["phase"] == "active");
        fs::write(self.path("go"), "").unwrap();
        let line = if self.is_gone(known.as_ref()?) { known } else { hear(&ends) }?;
        Some(if ends(&line) { "accepted" } else { "unverified" }.to_owned())
    }

    /// What the history has of a turn once somebody who watched is told to end as well.
    fn turns(&self, told: Option<String>, watch: Watch) -> Seen {
        let mut seen = Seen { told, ..Seen::default() };
        let kept = || -> Vec<String> {
            let kept = self.cage.lines(&["history", "main", "--json", "--kind", "transition"]);
            kept.iter().map(|line| format!("{} {}", line["at"], line["changed"])).collect()
        };
        let count = |what: &str| kept().iter().filter(|line| line.contains(what)).count();
        let ends = || count(r#""to":"success""#);
        if seen.told.as_deref() == Some("accepted") {
            wait_until("the end of the turn in the history", || ends() > 0);
        }
        // Whatever is written late would be doubled now.
        watch.end();
        let (begins, ends) = (count(r#""to":"active""#), ends());
        // Where the one that was told of it cannot write, only its end is seen by another one.
        let may_miss = self.fault.as_ref().is_some_and(|(_, deed)| ["full", "readonly", "io", "files"].contains(deed));
        if begins > 1 || begins < ends && !may_miss {
            seen.wrong.push(format!("{begins} turns begin in the history, and {ends} end: {:#?}", kept()));
        }
        self.find("main", "» polly", &mut seen);
        (seen.done, seen.kept) = (ends, vec![None; ends]);
        seen
    }

    /// What stands in all panes.
    fn screen(&self) -> String {
        let tmux = |words: &[&str]| String::from_utf8_lossy(&self.cage.tmux.output(words).stdout).into_owned();
        let panes = tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
        panes.lines().map(|pane| tmux(&["capture-pane", "-p", "-t", pane])).collect()
    }

    /// How often an agent printed a text, whether one that took its place got any of it, and the outcomes of all that was sent to a
    /// terminal of this name. What was kept before must be there.
    fn find(&self, terminal: &str, text: &str, seen: &mut Seen) {
        let [printed, another] =
            ["printed", "another"].map(|name| fs::read_to_string(self.path(name)).unwrap_or_default());
        // More than the text on its line is another prompt.
        let text = &format!("{text}\r");
        seen.done = printed.matches(text).count() + another.matches(text).count();
        seen.wrong.extend(self.faults_of_history());
        let inputs = |what: &str, more: &str| {
            let from = "inputs i JOIN records r ON r.id = i.record JOIN terminals t ON t.id = r.terminal";
            self.rows(&format!("SELECT {what} FROM {from} WHERE {more}")).unwrap_or_default()
        };
        if inputs("outcome", "r.name = 'other'") != [Some("accepted".to_owned())] {
            seen.wrong.push("what was kept before is not there".to_owned());
        }
        let of = format!("r.name = '{terminal}'");
        seen.kept = inputs("outcome", &of);
        let part = text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if another.contains(part) {
            // It may have taken its place before anybody looked.
            let pid = self.cage.tmux.key_of("main:").pid.to_string();
            if !inputs("CAST(t.pid AS TEXT)", &of).contains(&Some(pid)) {
                seen.wrong.push("another agent got it".to_owned());
            }
        }
    }

    /// What is wrong with the history's file, and whatever the process under test complained of as a programmer.
    fn faults_of_history(&self) -> Vec<String> {
        let files = fs::read_dir(self.path("state/fleetwatch")).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let mut wrong: Vec<String> = names.filter(|name| name.contains("damaged")).collect();
        match self.rows("PRAGMA integrity_check") {
            Ok(rows) if rows == [Some("ok".to_owned())] => {}
            other => wrong.push(format!("the history is damaged: {other:?}")),
        }
        let errors = fs::read_to_string(self.path("errors")).unwrap_or_default();
        wrong.extend(errors.contains("panicked").then_some(errors));
        wrong
    }

    fn rows(&self, sql: &str) -> rusqlite::Result<Vec<Option<String>>> {
        let history = rusqlite::Connection::open(self.path("state/fleetwatch/history.db"))?;
        history.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    }
}

/// Waits for the end of a process; one that a fault stops goes on after a while.
fn finish(mut child: Child) -> Output {
    let (begun, mut pause) = (Instant::now(), Pause::default());
    while child.try_wait().unwrap().is_none() {
        if is_stopped(child.id()) {
            pass(STOPPED);
            signal("CONT", child.id());
        }
        if begun.elapsed() > PATIENCE {
            signal("KILL", child.id());
            panic!("it does not end: {:?}", child.wait_with_output());
        }
        pause.pass();
    }
    child.wait_with_output().unwrap()
}

fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|state| state.starts_with(" T"))
}

/// A prompt, with nobody who watches.
fn send(cell: &Cell<'_>) -> Seen {
    cell.arm();
    cell.prompted("main", "polly", &finish(cell.tested(&["send", "--json", "main", "polly"]).spawn().unwrap()))
}

/// The same on a host.
fn host(cell: &Cell<'_>) -> Seen {
    let (pids, enter) = (cell.path("pids"), cell.path("enter"));
    fs::write(&enter, format!("#!/bin/sh\necho $$ >>'{}'\nexec \"$@\"\n", pids.display())).unwrap();
    fs::set_permissions(&enter, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[[transport]]\nhosts = [\"pod\"]\ncommand = ['{}']\n", enter.display());
    fs::write(cell.path("fleetwatch/config.toml"), config).unwrap();
    cell.arm();
    cell.prompted(
        "pod/main",
        "polly",
        &finish(cell.tested(&["--host", "pod", "send", "--json", "pod/main", "polly"]).spawn().unwrap()),
    )
}

/// An answer, with nobody who watches.
fn answer(cell: &Cell<'_>) -> Seen {
    cell.cage.prompt("main", "ask mkdir");
    cell.cage.tmux.wait_for_text("main:", "Allow mkdir?");
    cell.arm();
    let output = finish(cell.tested(&["answer", "--json", "main", "yes", "--expect", "mkdir"]).spawn().unwrap());
    let mut seen = cell.told(&output);
    cell.find("main", "● answered 1", &mut seen);
    seen.is_begun = cell.screen().contains("❯ 1");
    seen
}

/// A prompt that another process wants. The one under test owns the server.
fn asked(cell: &Cell<'_>) -> Seen {
    let owner = Watch::begin(&mut cell.tested(&["watch", "--json"]));
    owner.wait_for_phase("main", "ready");
    cell.arm();
    let output = cell.cage.fleetwatch("asks", &["send", "--json", "main", "polly"]).output().unwrap();
    owner.end();
    cell.prompted("main", "polly", &output)
}

/// A turn that the owner writes down, and its end. The one under test owns the server; another one takes its place.
fn record(cell: &Cell<'_>) -> Seen {
    let owner = Watch::begin(&mut cell.tested(&["watch", "--json"]));
    owner.wait_for_phase("main", "ready");
    let client = cell.cage.watch("client");
    client.wait_for_phase("main", "ready");
    cell.arm();
    cell.submit("hold");
    let told = cell.end_of_turn(&client);
    owner.end();
    cell.turns(told, client)
}

/// The same where the process under test takes the place of an owner that was killed in the midst of the turn.
fn hand_over(cell: &Cell<'_>) -> Seen {
    let owner = cell.cage.watch("owner");
    owner.wait_for_phase("main", "ready");
    let next = Watch::begin(&mut cell.tested(&["watch", "--json"]));
    next.wait_for_phase("main", "ready");
    cell.submit("hold");
    next.wait_for_phase("main", "active");
    cell.arm();
    drop(owner);
    let third = cell.cage.watch("third");
    let told = cell.end_of_turn(&third);
    next.end();
    cell.turns(told, third)
}

/// The first start, which makes the files.
fn start(cell: &Cell<'_>) -> Seen {
    fs::remove_dir_all(cell.path("state")).unwrap();
    cell.arm();
    let watch = Watch::begin(&mut cell.tested(&["watch", "--json"]));
    let pid = watch.child.id();
    let minder = std::thread::spawn(move || {
        let mut pause = Pause::default();
        while Path::new(&format!("/proc/{pid}")).exists() {
            if is_stopped(pid) {
                pass(STOPPED);
                signal("CONT", pid);
            }
            pause.pass();
        }
    });
    let heard = watch.hear_of("main", |line| line["state"]["turn"]["phase"] == "ready");
    let mut seen = Seen::default();
    let status = watch.end();
    minder.join().unwrap();
    seen.told = status.code().map(|_| if heard.is_ok() { "accepted" } else { "refused" }.to_owned());
    (seen.done, seen.kept) = (usize::from(heard.is_ok()), vec![None]);
    if !cell.screen().is_empty() {
        let next = cell.cage.watch("next");
        next.wait_for_phase("main", "ready");
        next.end();
    }
    seen.wrong.extend(cell.faults_of_history());
    seen
}

/// A prompt that would do something in the shell in which the agent was started.
fn shell(cell: &Cell<'_>) -> Seen {
    let tmux = &cell.cage.tmux;
    tmux.run(&["kill-session", "-t", "main"]);
    tmux.new_session("main", &["env", "PS1=$ ", "bash", "--norc", "--noprofile"]);
    tmux.wait_for_text("main:", "$");
    cell.submit(&format!("'{}' '{}'", cell.path("parrot").display(), cell.path("parrot.sh").display()));
    tmux.wait_for_text("main:", "❯");
    cell.hear();
    cell.arm();
    let text = format!("touch {}", cell.path("ran").display());
    let output = finish(cell.tested(&["send", "--json", "main", &text]).spawn().unwrap());
    let mut seen = cell.prompted("main", &text, &output);
    if cell.path("ran").exists() || cell.screen().contains("$ touch") {
        seen.wrong.push("the shell got it".to_owned());
    }
    seen
}

/// An agent is started, with a prompt.
fn new(cell: &Cell<'_>) -> Seen {
    // It is to be known what it was given, in whichever server it runs.
    let script = include_str!("../support/parrot.sh");
    let tell = format!("echo \"» $line\"; printf '» %s\\r\\n' \"$line\" >>'{}'", cell.path("printed").display());
    fs::write(cell.path("told.sh"), script.replace("echo \"» $line\"", &tell)).unwrap();
    let words = ["parrot", "told.sh"].map(|name| format!("'{}'", cell.path(name).display()));
    fs::write(cell.path("fleetwatch/config.toml"), format!("[new.starts]\nparrot = [{}]\n", words.join(", "))).unwrap();
    fs::create_dir(cell.path("shop")).unwrap();
    cell.arm();
    let output =
        finish(cell.tested(&["new", "parrot", "--json", "polly"]).current_dir(cell.path("shop")).spawn().unwrap());
    cell.prompted("shop", "polly", &output)
}

/// What came of a cell in one letter, or everything that is wrong.
fn judged(seen: Seen, fault: &str) -> Result<char, String> {
    let Seen { told, done, is_begun, kept, mut wrong } = seen;
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    must(done <= 1, "it was done twice");
    // One that is stopped has the terminal, and two may be refused then.
    let outcome = kept.iter().flatten().max_by_key(|outcome| *outcome != "refused").cloned();
    must(kept.iter().flatten().filter(|outcome| *outcome != "refused").count() <= 1, "two outcomes are kept");
    for said in [&told, &outcome].into_iter().flatten() {
        match said.as_str() {
            "accepted" => must(done == 1, "it was not done and is called accepted"),
            "refused" => must(done == 0 && !is_begun, "it was begun or done and is called refused"),
            "not_taken" => must(done == 0, "it was done and is called not taken"),
            _ => {}
        }
    }
    if let (Some(told), Some(outcome)) = (&told, &outcome) {
        must(told == outcome || told == "unverified", "the history says something else");
    }
    // One that is stopped while it writes keeps everybody from writing.
    let may_forget = DISK.contains(&fault) || fault == "stopped";
    must(may_forget || !kept.is_empty() || done == 0 && !is_begun, "the history does not know of it");
    must(told.is_some() || ["killed", "torn"].contains(&fault), "it did not say what became of it");
    must(
        told.as_deref() == Some("accepted") || !["", "an hour on", "an hour back"].contains(&fault),
        "it failed for no reason",
    );
    let letter = told.as_deref().map_or('x', |told| told.chars().next().unwrap_or('?'));
    match wrong.is_empty() {
        true => Ok(letter),
        false => Err(format!("{}: told {told:?}, kept {kept:?}, done {done}, begun {is_begun}", wrong.join(", "))),
    }
}

type Place = (&'static str, String, &'static str);

/// Runs one cell until its fault comes: a run may have fewer steps than the one in which they were counted.
fn run(ground: &Ground, (scenario, step, fault): &Place) -> Result<char, String> {
    let (_, act) = SCENARIOS.iter().find(|(name, _)| name == scenario).unwrap();
    let deed = FAULTS.iter().find(|known| known.name == *fault).unwrap().deed;
    for _ in 0..3 {
        let cell = Cell::new(ground, Some((step.clone(), deed)));
        let seen = catch_unwind(AssertUnwindSafe(|| act(&cell)));
        let seen = seen.map_err(|panic| {
            let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            said.chars().take(400).collect::<String>()
        })?;
        let is_hit = cell.is_hit();
        let letter = judged(seen, if is_hit { fault } else { "" })?;
        if is_hit {
            return Ok(letter);
        }
    }
    Ok('.')
}

/// The cells of a scenario: a row for each step that it takes without a fault.
fn rows(ground: &Ground, &(scenario, act): &Scenario) -> Vec<Place> {
    let cell = Cell::new(ground, None);
    let seen = act(&cell);
    let (letter, steps) = (judged(seen, ""), cell.steps());
    assert_eq!(letter, Ok('a'), "{scenario} without a fault: {steps:?}");
    let kind = |step: &str| step.split(' ').next().map(str::to_owned);
    let mut all = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let is_first = number == 0 || kind(&steps[number - 1]) != kind(step);
        let fitting = FAULTS.iter().filter(|fault| fault.fits(scenario, step, is_first));
        all.extend(fitting.map(|fault| (scenario, step.clone(), fault.name)));
    }
    all
}

/// Does something for each of many, a few at a time.
fn for_each<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = all.get(number) else { break };
                    let result = act(one);
                    results.lock().unwrap().push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Some cells of a fault, in other scenarios than those of the fault before.
fn share(all: &[Place], fault: usize) -> impl Iterator<Item = &Place> {
    let cells: Vec<&Place> = all.iter().filter(|(.., name)| *name == FAULTS[fault].name).collect();
    (0..SHARE).map(move |part| cells[(fault * 7 + part * cells.len() / SHARE) % cells.len()])
}

#[test]
fn whatever_fails_at_whichever_step_is_told_as_it_is() {
    let wanted = std::env::var("FLEETWATCH_FAULTS").unwrap_or_default();
    let ground = Ground::new();
    let is_of =
        |(scenario, _): &&(&str, _)| wanted.split_once(':').is_none_or(|(of, _)| of.is_empty() || of == *scenario);
    let scenarios: Vec<Scenario> = SCENARIOS.iter().filter(is_of).copied().collect();
    let all = for_each(&scenarios, |scenario| rows(&ground, scenario)).concat();
    let is_wanted = |(scenario, step, fault): &&Place| format!("{scenario}: {step}: {fault}").contains(&wanted);
    let chosen: Vec<&Place> = match wanted.as_str() {
        "all" => all.iter().collect(),
        "" => (0..FAULTS.len()).flat_map(|number| share(&all, number)).collect(),
        _ => all.iter().filter(is_wanted).collect(),
    };
    let part = std::env::var("FLEETWATCH_FAULTS_PART").unwrap_or("1/1".to_owned());
    let (part, parts): (usize, usize) =
        part.split_once('/').map(|(part, of)| (part.parse().unwrap(), of.parse().unwrap())).unwrap();
    let chosen: Vec<&Place> = chosen.into_iter().skip(part - 1).step_by(parts).collect();
    let results = for_each(&chosen, |place| {
        let begun = Instant::now();
        let result = run(&ground, place);
        let (scenario, step, fault) = place;
        println!("{scenario}: {step}: {fault}: {result:?}, {} s", begun.elapsed().as_secs());
        result
    });
    assert_eq!(results.len(), chosen.len(), "the table is not complete");
    let results: BTreeMap<Place, Result<char, String>> =
        chosen.iter().map(|place| (*place).clone()).zip(results).collect();
    println!("{}{} of {} cells", shown(&all, &results), results.len(), all.len());
    let wrong: Vec<String> = results
        .iter()
        .filter_map(|((scenario, step, fault), result)| {
            result.as_ref().err().map(|why| format!("{scenario}: {step}: {fault}: {why}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), chosen.len(), wrong.join("\n"));
}

/// The table: a row for each step, a column for each fault, and a letter for what came of it: accepted, refused, not taken, unverified, x
/// where nobody lived to say it, a point where the step did not come, ! where something is wrong.
fn shown(all: &[Place], results: &BTreeMap<Place, Result<char, String>>) -> String {
    let mut text = String::new();
    for (number, Fault { name, .. }) in FAULTS.iter().enumerate() {
        let letters =
            results.iter().filter(|((.., of), _)| of == name).map(|(_, result)| result.as_ref().unwrap_or(&'!'));
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        letters.for_each(|letter| *counts.entry(*letter).or_default() += 1);
        writeln!(text, "{number:>2} {name:14} {counts:?}").unwrap();
    }
    let mut rows: Vec<(&str, &String)> = all.iter().map(|(scenario, step, _)| (*scenario, step)).collect();
    rows.dedup();
    for (scenario, step) in rows {
        let cell = |fault: &Fault| match results.get(&(scenario, step.clone(), fault.name)) {
            Some(result) => *result.as_ref().unwrap_or(&'!'),
            None => ' ',
        };
        let cells: String = FAULTS.iter().map(|fault| format!("{:>3}", cell(fault))).collect();
        writeln!(text, "{scenario:9} {step:10} {cells}").unwrap();
    }
    text
}
