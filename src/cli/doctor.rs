//! `fleetwatch doctor`: what works, what is missing, and what to do about it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::commands::completed;
use super::config::{Checked, checked};
use super::failure::without_number;
use super::options::user_profiles;
use super::survey::{Watched, join_all};
use super::watch::unused_rules;
use super::{Done, Failure, GlobalOptions, console, output};
use crate::app::Environment;
use crate::config::{Adopted, AdoptedError, AdoptedSession, Loaded};
use crate::delivery::{desktop, post};
use crate::engine::Freshness;
use crate::fleet::{ServerId, Terminal, no_record};
use crate::git::Git;
use crate::history::{History, Reader};
use crate::notify::Means;
use crate::present::text::{counted, quoted};
use crate::record::HistoryError;
use crate::repository::GitError;
use crate::screen::harmless;
use crate::state::FactSource;
use crate::status::Status;
use crate::tmux::{self, Trace};
use crate::ui::Depth;
use crate::{clock, owner, poll, private, process};

/// Check the setup, and say what to fix.
///
/// It checks tmux, the servers, the configuration, the history and the terminal.
///
/// Exit codes: 0 fleetwatch can work; 1 something keeps it from working, such as a wrong configuration: a FAIL says what; 2
/// wrong usage.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch doctor")]
pub struct DoctorArgs {
    /// Remove what killed fleetwatch processes left in task sessions.
    #[arg(long)]
    pub clean: bool,
    /// Print one JSON array: `{"grade": "ok", "note" or "fail", "subject", "what", "remedy"}`.
    #[arg(long)]
    pub json: bool,
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Grade {
    #[serde(rename = "ok")]
    Good,
    /// Something works less well than it could.
    #[serde(rename = "note")]
    Notice,
    /// fleetwatch cannot do its work.
    #[serde(rename = "fail")]
    Bad,
}

/// One thing that was checked.
#[derive(Serialize)]
struct Finding {
    grade: Grade,
    subject: &'static str,
    what: String,
    /// What to do about it.
    remedy: Option<String>,
}

/// Runs the command. The exit code is 1 if something keeps fleetwatch from working.
pub async fn run(args: &DoctorArgs, options: &GlobalOptions) -> Done {
    let version = tmux_version();
    let mut findings = vec![match &version {
        Ok(version) => Finding::good("tmux", version),
        Err(failure) => Finding::bad("tmux", failure),
    }];
    findings.extend(configuration(options));
    findings.push(git(options));
    match Watched::new(options) {
        // Without tmux here, only other machines can be asked.
        Ok(watched) if version.is_err() && watched.servers.iter().all(|server| server.host.is_none()) => {
            findings.push(Finding::notice("servers", "not asked, because there is no usable tmux", None));
        }
        Ok(watched) => {
            findings.extend(ssh(&watched));
            findings.extend(notices(&watched.loaded));
            let asked = watched.servers.iter().map(|id| async { (id.clone(), ask(&watched, id).await) });
            let asked = join_all(asked).await;
            // A server that did not answer is not asked again.
            let up: Vec<ServerId> =
                asked.iter().filter(|(_, answer)| answer.is_ok()).map(|(id, _)| id.clone()).collect();
            let mut answering = Watched { servers: up, ..watched };
            // Reading repositories needs fleetwatch's directory, which a check must not make.
            answering.settings.poll.git &= has_state_directory();
            findings.extend(asked.iter().map(|(id, answer)| server_finding(id, answer, !answering.servers.is_empty())));
            if !options.names_a_server() {
                let watched: Vec<&ServerId> = asked.iter().map(|(id, _)| id).collect();
                findings.extend(unwatched(&watched));
            }
            findings.extend(terminals(&answering).await);
            let unseen = answering.servers.iter().map(|id| unseen(&answering, id));
            findings.extend(join_all(unseen).await.into_iter().flatten());
            findings.extend(traces(&answering, args.clean).await);
            findings.extend(turns(&answering));
            findings.extend(follow_ups(&answering).await);
        }
        Err(_) => findings.push(Finding::notice(
            "servers",
            "not asked, because the configuration or a profile has an error",
            None,
        )),
    }
    findings.extend(chosen());
    findings.extend(options.load().ok().map(|loaded| history(&loaded)));
    findings.extend(terminal());
    for finding in &mut findings {
        finding.what = without_number(&finding.what);
        finding.remedy = finding.remedy.take().map(|remedy| completed(&remedy));
    }
    let code = if args.json { output::print_json(&findings)? } else { output::print(&text(&findings))? };
    Ok(if findings.iter().any(|finding| finding.grade == Grade::Bad) { ExitCode::FAILURE } else { code })
}

/// The findings for people.
fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { grade, subject, what, remedy } in findings {
        let (mark, status) = match grade {
            Grade::Good => ("ok", Status::Finished),
            Grade::Notice => ("note", Status::Working),
            Grade::Bad => ("FAIL", Status::Failed),
        };
        let blanks = " ".repeat(6 - mark.len());
        let mark = console::painted(mark, Some(console::color(status)));
        let _ = writeln!(text, "{mark}{blanks}{subject:<14} {}", harmless(what));
        if let Some(remedy) = remedy {
            let _ = writeln!(text, "{:<20} → {}", "", harmless(remedy));
        }
    }
    console::wrapped(&text)
}

impl Finding {
    fn good(subject: &'static str, what: impl Into<String>) -> Self {
        Self { grade: Grade::Good, subject, what: what.into(), remedy: None }
    }

    fn notice(subject: &'static str, what: impl Into<String>, remedy: Option<&str>) -> Self {
        Self { grade: Grade::Notice, subject, what: what.into(), remedy: remedy.map(str::to_owned) }
    }

    fn bad(subject: &'static str, failure: &Failure) -> Self {
        Self { grade: Grade::Bad, subject, what: failure.to_string(), remedy: failure.remedy().map(str::to_owned) }
    }
}

/// What a program says of its version, or why it does not.
fn version_of(program: &str, option: &str) -> Result<String, String> {
    let ran = Command::new(program).arg(option).output();
    let output = ran.map_err(|error| format!("{program} cannot be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match (text(&output.stdout), text(&output.stderr)) {
        (_, why) if !output.status.success() => Err(format!("`{program} {option}` failed: {why}")),
        // `ssh` prints it on standard error.
        (out, errors) => Ok(if out.is_empty() { errors } else { out }),
    }
}

/// The version of the tmux program.
///
/// # Errors
/// It is missing, does not run, or is too old.
pub(super) fn tmux_version() -> Result<String, Failure> {
    let fits = |text: String| match tmux::check_version(text.trim_start_matches("tmux ")) {
        Ok(()) => Ok(text),
        Err(error) => Err(error.to_string()),
    };
    version_of("tmux", "-V").and_then(fits).map_err(|why| {
        Failure::refused(why).hint("install tmux 3.2 or newer and make sure that it comes first in the PATH")
    })
}

/// The `ssh` program, if hosts are watched.
fn ssh(watched: &Watched) -> Option<Finding> {
    watched.servers.iter().find(|server| server.host.is_some())?;
    let remedy = "install the OpenSSH client, unless a [[transport]] reaches every host";
    Some(
        version_of("ssh", "-V")
            .map_or_else(|why| Finding::notice("ssh", why, Some(remedy)), |version| Finding::good("ssh", version)),
    )
}

/// The programs by which notices go out, where they are missing.
fn notices(loaded: &Loaded) -> Vec<Finding> {
    let needed = [(Means::Webhook, post::PROGRAM), (Means::Desktop, desktop::PROGRAM)];
    let needed = needed.iter().filter(|(means, _)| loaded.config.notify.iter().any(|rule| rule.by.contains(means)));
    let missing = needed.filter_map(|(means, (program, remedy))| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = private::program(program, &path).is_some();
        let what = || format!("nothing is announced by {means}: there is no program {program}");
        (!is_there).then(|| Finding::notice("notices", what(), Some(remedy)))
    });
    missing.collect()
}

/// Whether a process acts that follows other rules.
async fn follow_ups(watched: &Watched) -> Option<Finding> {
    if watched.loaded.config.follow_up.is_empty() {
        return None;
    }
    for server in &watched.servers {
        if owner::is_owned(&watched.settings, server) && owner::ask(&watched.settings, server, false).await.is_none() {
            let failure = unused_rules();
            return Some(Finding::notice("follow-ups", failure.to_string(), failure.remedy()));
        }
    }
    None
}

/// Whether repositories can be read.
fn git(options: &GlobalOptions) -> Finding {
    if options.load().is_ok_and(|loaded| !loaded.config.watch.git) {
        return Finding::good("git", "no repositories are read: turned off in the configuration");
    }
    let remedy = "install git, or set `git = false` under [watch] in the configuration";
    version_of("git", "--version").map_or_else(
        |why| Finding::notice("git", format!("branches and changes are not shown: {why}"), Some(remedy)),
        |version| Finding::good("git", version),
    )
}

fn history(loaded: &Loaded) -> Finding {
    let settings = &loaded.config.history;
    let path = match settings.location() {
        _ if !settings.enabled => return Finding::good("history", "turned off in the configuration"),
        None => {
            let remedy = "set HOME or XDG_STATE_HOME, or `path` in [history]";
            return Finding::notice("history", "none is kept without a home directory", Some(remedy));
        }
        Some(path) => path,
    };
    let found = Reader::open(&path).and_then(|reader| reader.extent());
    let unwritable = |error: io::Error| {
        let what = format!("{} cannot be written, so nothing is kept: {error}", path.display());
        Finding::bad("history", &Failure::refused(what).hint(HistoryError::ReadOnly.hint()))
    };
    match found {
        Ok((count, bytes)) => {
            // SQLite needs files beside it.
            let opened = std::fs::OpenOptions::new().append(true).open(&path);
            if let Err(error) = opened.and_then(|_| writable(&path)) {
                return unwritable(error);
            }
            let mib = bytes as f64 / f64::from(1 << 20);
            Finding::good("history", format!("{count} records of {mib:.1} MiB in {}", path.display()))
        }
        Err(HistoryError::Missing(_)) => match writable(&path) {
            Ok(()) => Finding::good("history", format!("none yet; it will be {}", path.display())),
            Err(error) => unwritable(error),
        },
        Err(trouble) => {
            let what = format!("{} cannot be read: {trouble}", path.display());
            Finding::bad("history", &Failure::refused(what).hint(trouble.hint()))
        }
    }
}

/// Whether the state directory exists. A check does not make one.
fn has_state_directory() -> bool {
    private::lock_directory().is_none_or(|locks| locks.parent().is_some_and(Path::exists))
}

/// Whether the processes of a user can take turns at a terminal.
fn turns(watched: &Watched) -> Option<Finding> {
    if !has_state_directory() {
        return None;
    }
    let why = watched.actor(&History::off()).sender().check_turns().err()?;
    let what = format!("two fleetwatch processes may send to a terminal at the same time: {why}");
    let remedy = "make sure that the state directory allows files and locks, or set `XDG_STATE_HOME` to one that does";
    Some(Finding::notice("sending", what, Some(remedy)))
}

/// Whether a file can be made at a path: its directory, or the nearest one above it, belongs to this user alone and takes
/// files.
fn writable(path: &Path) -> io::Result<()> {
    let above = path.ancestors().skip(1).find(|directory| directory.exists()).unwrap_or(Path::new("/"));
    private::check_directory(above)?;
    // Only an attempt shows it: the superuser may write everywhere, even where no file can be made.
    let trial = above.join(format!(".fleetwatch-{}", std::process::id()));
    std::fs::create_dir(&trial)?;
    std::fs::remove_dir(&trial)
}

fn configuration(options: &GlobalOptions) -> Vec<Finding> {
    let Checked { good, faults, warnings, is_default } = checked(None, options);
    let good = good.iter().map(|path| Finding::good("configuration", format!("{} has no errors", path.display())));
    let faults = faults.iter().map(|fault| Finding::bad("configuration", fault));
    let warnings = warnings.iter().map(|left| Finding::notice("configuration", left.to_string(), left.remedy()));
    let mut findings: Vec<Finding> = good.chain(faults).chain(warnings).collect();
    if is_default {
        findings.push(Finding::good("configuration", "there is no file, so the defaults apply"));
    }
    findings.extend(options.search_path().misnamed().iter().map(|misnamed| {
        let what = format!("{} is not read", misnamed.display());
        Finding::notice("configuration", what, Some("it would have to be called config.toml"))
    }));
    match options.profiles() {
        Ok(profiles) => {
            let (all, agents) = (profiles.profiles().count(), profiles.agents().count());
            let own = user_profiles(&options.search_path()).map_or(0, |profiles| profiles.len());
            let own = counted(own, "file");
            findings.push(Finding::good("profiles", format!("{all} for {agents} agents, with {own} of your own")));
        }
        // A fault of one file stands above.
        Err(failure) if !findings.iter().any(|finding| finding.grade == Grade::Bad) => {
            findings.push(Finding::bad("profiles", &failure));
        }
        Err(_) => {}
    }
    findings
}

/// The most names of servers in a finding.
const NAMED: usize = 8;

/// The user's other servers that are alive here: agents start some of their own.
fn unwatched(watched: &[&ServerId]) -> Option<Finding> {
    let mut names: Vec<String> = tmux::living_but(watched).iter().map(|server| server.socket.to_string()).collect();
    let first = names.first()?;
    let remedy = format!(
        "`fleetwatch -L {}` shows one; a [[server]] with `socket = \"*\"` in the configuration watches all of them",
        quoted(first)
    );
    let count = counted(names.len(), "tmux server");
    let more = names.len().checked_sub(NAMED).filter(|more| *more > 0).map(|more| format!("{more} more"));
    names.truncate(NAMED);
    names.extend(more);
    let what = format!("{count} of yours not watched: {}", harmless(&names.join(", ")));
    Some(Finding::notice("other servers", &what, Some(&remedy)))
}

/// What a server answered.
struct ServerAnswer {
    panes: usize,
    version: String,
    /// How long a call took, once there was a connection to its host.
    took: Duration,
    connection: Option<String>,
}

/// Findings on what is watched on the servers that answer.
async fn terminals(watched: &Watched) -> Vec<Finding> {
    if watched.servers.is_empty() {
        return Vec::new();
    }
    let Ok(survey) = watched.survey_quietly(Freshness::Now).await else { return Vec::new() };
    let view = survey.fleet.view(survey.now);
    let terminals: Vec<&str> = view.terminals.iter().map(|one| one.state.terminal.id.as_str()).collect();
    let tasks: Vec<&str> = view.tasks.iter().map(|one| one.id.as_str()).collect();
    let text: Vec<String> = [(terminals, "terminal"), (tasks, "task")]
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, noun)| format!("{}: {}", counted(names.len(), noun), names.join(", ")))
        .collect();
    let found = if text.is_empty() {
        let remedy = "start an agent in a pane, or name panes with [[terminal]] in the configuration";
        Finding::notice("watched", "no pane runs a known agent", Some(remedy))
    } else {
        Finding::good("watched", text.join("; "))
    };
    let agents = view.terminals.iter().filter(|one| !one.state.has_ended());
    let agents: Vec<&Terminal> = agents.copied().collect();
    // Agents of which the same is to be said share a line.
    let mut text: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for agent in &agents {
        text.entry(record(agent, watched)).or_default().push(&agent.state.terminal.id);
    }
    let records = text.iter().map(|(what, names)| Finding::good("record", format!("{}: {what}", names.join(", "))));
    let poll = &watched.settings.poll;
    let refusals = join_all(agents.iter().filter(|_| poll.git).map(|agent| refusal(agent))).await;
    std::iter::once(found).chain(records).chain(refusals.into_iter().flatten()).collect()
}

/// Why it is not known what runs in panes of a server: that nothing is found there does not say that no agent is.
async fn unseen(watched: &Watched, id: &ServerId) -> Option<Finding> {
    let server = watched.server(id).ok()?;
    let panes = server.poll(&[]).await.ok()?.panes;
    let roots: BTreeSet<u32> = panes.iter().filter(|pane| !pane.facts.dead).map(|pane| pane.pid).collect();
    let what = match process::under(&server, roots.into_iter().collect(), process::Thoroughness::All).await {
        Ok(found) => match found.values().filter(|processes| processes.is_empty()).count() {
            0 => return None,
            count => format!("those of {} of {id} are not to be seen", counted(count, "pane")),
        },
        Err(error) => format!("{id}: {error}"),
    };
    let remedy = "an agent there is found if its program has its name; else name it with `tool` in a [[terminal]]";
    Some(Finding::notice("processes", what, Some(remedy)))
}

/// Why the git repository around an agent's directory cannot be read.
async fn refusal(agent: &Terminal) -> Option<Finding> {
    let facts = &agent.state.terminal;
    let is_here = agent.key.server.host.is_none();
    let directory = facts.cwd.as_ref().filter(|_| is_here && facts.git.is_none())?;
    let why = match Git::of_process().await {
        Ok(git) => git.facts_around(directory.as_ref(), clock::now()).await.err()?,
        Err(why) => why,
    };
    let what = format!("{}: {why} in {directory}", facts.id);
    (why != GitError::NoRepository).then(|| Finding::notice("git", what, None))
}

/// The names of the facts that a source has of an agent.
fn facts_of(agent: &Terminal, source: FactSource) -> Vec<&'static str> {
    agent.state.agent.iter().filter(|(_, fact)| fact.source == source).map(|(name, _)| name.word()).collect()
}

/// The sources of facts on an agent beside its screen, and why there are no more.
fn record(agent: &Terminal, watched: &Watched) -> String {
    let facts = &agent.state.terminal;
    let names = |source| facts_of(agent, source).join(", ");
    let (proven, guessed) = (names(FactSource::Record), names(FactSource::Directory));
    match () {
        () if !proven.is_empty() => format!("its own record is read as well as its screen ({proven})"),
        () if !guessed.is_empty() => format!(
            "a record found by its directory is read as well as its screen ({guessed}); it may be another agent's, as nothing proves whose it is"
        ),
        () => {
            let is_allowed = watched.settings.poll.records.allow(&facts.tool, facts.cwd.as_deref());
            format!("only its screen is read: {}", no_record(agent, &watched.settings.profiles, is_allowed))
        }
    }
}

async fn ask(watched: &Watched, id: &ServerId) -> Result<ServerAnswer, tmux::Error> {
    let server = watched.server(id)?;
    server.poll(&[]).await?;
    let start = Instant::now();
    let poll = server.poll(&[]).await?;
    let (took, connection) = (start.elapsed(), server.connection());
    Ok(ServerAnswer { panes: poll.panes.len(), version: poll.version, took, connection })
}

/// The finding on a server. One that does not run is no obstacle to watching the others.
fn server_finding(server: &ServerId, answer: &Result<ServerAnswer, tmux::Error>, is_any_up: bool) -> Finding {
    let is_default = *server == ServerId::default();
    let name = if is_default { "the default server".to_owned() } else { server.to_string() };
    let error = match answer {
        Ok(answer) => return Finding::good("server", format!("{name} answers {}", answer.text())),
        Err(error) => error,
    };
    let what = match error {
        tmux::Error::NoServer { .. } if error.is_left_behind() => {
            format!("{name} has ended and left its socket behind")
        }
        tmux::Error::NoServer { .. } if is_default => "no tmux server is running".to_owned(),
        tmux::Error::NoServer { .. } | tmux::Error::TimedOut { .. } | tmux::Error::Unreachable { .. } => {
            error.to_string()
        }
        _ => format!("{name} cannot be asked: {error}"),
    };
    let hint = error.hint();
    if is_any_up && error.is_no_server() {
        return Finding::notice("server", what, Some(&hint));
    }
    Finding::bad("server", &Failure::refused(what).hint(hint))
}

impl ServerAnswer {
    fn text(&self) -> String {
        let ServerAnswer { panes, version, took, connection } = self;
        let connection = connection.as_ref().map(|connection| format!("; {connection}")).unwrap_or_default();
        format!("within {} ms, with {} in tmux {version}{connection}", took.as_millis(), counted(*panes, "pane"))
    }
}

fn terminal() -> Vec<Finding> {
    let environment = Environment::of_process();
    let term = environment.term.as_deref().unwrap_or_default();
    let mut findings = Vec::new();
    if !std::io::stdout().is_terminal() {
        let remedy = "the dashboard needs a terminal; `list`, `watch` and the others do not";
        findings.push(Finding::notice("terminal", "standard output is not a terminal", Some(remedy)));
    } else if term.is_empty() || term == "dumb" {
        let remedy = "set TERM to your terminal's type, such as xterm-256color";
        findings.push(Finding::notice("terminal", format!("TERM is `{term}`"), Some(remedy)));
    } else {
        let size = crossterm::terminal::size().map(|(columns, rows)| format!(", {columns}×{rows}")).unwrap_or_default();
        let colours = match environment.depth() {
            Depth::None => "no colours (NO_COLOR)",
            Depth::True => "true colour",
            Depth::Indexed => "256 colours",
            Depth::Sixteen => "16 colours",
        };
        findings.push(Finding::good("terminal", format!("{term}{size}, {colours}")));
    }
    if !environment.is_utf8() {
        let locale = environment.locale.as_deref().unwrap_or_default();
        let remedy = "set LANG to a UTF-8 locale such as C.UTF-8, or `unicode = false` under [ui] in the configuration";
        findings.push(Finding::notice("locale", format!("the locale `{locale}` is not UTF-8"), Some(remedy)));
    }
    findings
}

// What fleetwatch has set in task sessions, and what killed processes left there.

/// The chosen task sessions, on any server.
fn chosen() -> Vec<Finding> {
    let Some(path) = Adopted::location() else { return Vec::new() };
    let adopted = match Adopted::read(&path) {
        Ok(adopted) => adopted,
        Err(error) => {
            let remedy = match error {
                AdoptedError::Damaged { .. } => "remove it, and choose the sessions again",
                _ => "check that it is a file that you may read",
            };
            return vec![Finding::notice("tasks", error.to_string(), Some(remedy))];
        }
    };
    let text = |chosen: &AdoptedSession| {
        let host = if chosen.host.is_empty() { String::new() } else { format!("{}:", chosen.host) };
        let (socket, session) = (&chosen.socket, &chosen.session);
        Finding::good("tasks", format!("on {host}{socket}, session {session} is a task session by your choice"))
    };
    adopted.iter().map(text).collect()
}

/// A finding for each session in which something is set; with `clean`, leftovers are removed first.
async fn traces(watched: &Watched, clean: bool) -> Vec<Finding> {
    let asked = watched.servers.iter().map(|id| findings(watched, id, clean));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn findings(watched: &Watched, id: &ServerId, clean: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Ok(server) = watched.server(id) else { return findings };
    // A server that does not answer is already a finding.
    let Ok(traces) = server.traces().await else { return findings };
    let gone: Vec<String> =
        traces.values().flat_map(|trace| &trace.watchers).filter(|owner| !poll::is_alive(owner)).cloned().collect();
    for trace in traces.values() {
        let alive = trace.watchers.iter().filter(|owner| !gone.contains(owner)).count();
        let what = format!("in session {} on {id}, {}", trace.session_name, contents(trace));
        findings.push(match (alive, clean) {
            (0, _) if trace.is_of_run() => Finding::good("tasks", format!("{what}, because `fleetwatch run` made it")),
            (0, false) => {
                let remedy = "`fleetwatch doctor --clean` removes it, and so does the next dashboard when it ends";
                Finding::notice("tasks", format!("{what}; it was left by a process that is gone"), Some(remedy))
            }
            (0, true) => Finding::good("tasks", format!("{what}; it is removed")),
            (1, _) => Finding::good("tasks", format!("{what}, for a running fleetwatch")),
            (alive, _) => Finding::good("tasks", format!("{what}, for {alive} running fleetwatch processes")),
        });
    }
    if clean && let Err(error) = server.stop_counting(&gone).await {
        findings.push(Finding::notice("tasks", format!("what was left on {id} could not be removed: {error}"), None));
    }
    findings
}

fn contents(trace: &Trace) -> String {
    let hook = if trace.hook { "bells are counted" } else { "bells are not counted" };
    let windows = |count: usize, one: &str, several: &str| match count {
        0 => String::new(),
        1 => format!(", 1 window {one}"),
        count => format!(", {count} windows {several}"),
    };
    let kept = windows(trace.windows.len(), "keeps its program", "keep their programs");
    format!("{hook}{kept}{}", windows(trace.rung.len(), "has rung", "have rung"))
}
