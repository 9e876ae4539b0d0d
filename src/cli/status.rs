//! `fleetwatch status`: a one-line summary for tmux's status line, from a process that watches, without asking tmux.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Instant;

use clap::ValueEnum;
use serde_json::json;

use super::output::wait_for;
use super::survey::{Watched, of_demo};
use super::{Done, Failure, GlobalOptions, console, output};
use crate::app::kept_flags;
use crate::clock;
use crate::engine::PATIENCE;
use crate::fleet::{ServerId, Terminal};
use crate::history::{self, Need, Reader, ServerSummary};
use crate::present::text;
use crate::present::totals::sign;
use crate::record::HistoryError;
use crate::screen::harmless;
use crate::state::Problem;
use crate::status::Status;
use crate::task::Task;
use crate::time::Timestamp;

/// Print a one-line summary, without asking tmux.
///
/// It comes from a running dashboard or `watch`, and may be a third of a second behind `list` and `wait`.
///
/// Exit codes: 0 success; 1 nothing is watching, or no server answers; 2 wrong usage or configuration. With --format tmux, the line
/// says so and the code is 0, because tmux hides what a failed command prints. In the JSON, "watched" is false if this command had to
/// look itself (--poll), and "problems" says which servers do not answer, and why.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch status --format json")]
pub struct StatusArgs {
    /// Output for tmux's status line (with its colours and escapes), for people, or for programs.
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    pub format: Format,
    /// The same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Poll the servers once if nothing is watching.
    #[arg(long)]
    pub poll: bool,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Tmux,
    Plain,
    Json,
}

/// A group's style in tmux; `None` for what one line leaves out.
const fn style(group: Status) -> Option<&'static str> {
    Some(match group.group() {
        Status::Failed => "fg=colour203,bold",
        Status::Stalled | Status::Error => "fg=colour203",
        Status::Interrupted => "fg=colour176",
        Status::Finished => "fg=colour114",
        Status::Working => "fg=colour221",
        Status::Ready => "fg=colour116",
        Status::Unknown => QUIET,
        Status::Gone => return None,
        _ => "fg=colour213,bold",
    })
}

/// What is no state, in tmux.
const QUIET: &str = "fg=colour250";

/// A line for tmux on a dark background of its own, by colours that no theme changes: a bar may have any colour.
fn on_dark(parts: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let parts = parts.into_iter().map(|(style, said)| format!("#[none,bg=colour235,{style}] {said}"));
    format!("{}#[none,bg=colour235] #[default]\n", parts.collect::<String>())
}

/// Runs the command. The exit code is 1 if nothing is watching and `--poll` was not given, except for tmux, which shows the
/// line in any case.
///
/// # Errors
/// The configuration is wrong; with `--poll`, no server answers.
pub fn run(args: &StatusArgs, options: &GlobalOptions) -> Done {
    let format = if args.json { Format::Json } else { args.format };
    let config = options.load()?.config;
    let now = clock::now();
    let mut trouble = None;
    // tmux asks every second, and its line must not flicker where another process takes over.
    let read = if format == Format::Tmux { stored(&config.history, now) } else { settled(&config.history) };
    let mut summaries = match read {
        Ok(summaries) => summaries,
        Err(failure) => {
            trouble = Some(failure);
            Vec::new()
        }
    };
    // The servers that `list` would show here; if none of them is watched, all watched ones, by their names.
    let wanted: Vec<String> = options.servers(&config).iter().map(ServerId::word).collect();
    let is_wanted = |summary: &ServerSummary| wanted.contains(&summary.server);
    let is_elsewhere = !options.names_a_server() && !summaries.iter().any(is_wanted);
    if !is_elsewhere {
        summaries.retain(is_wanted);
    }
    let is_watched = !summaries.is_empty();
    let silence = silence(&summaries);
    let mut is_known = is_watched || args.poll;
    if args.poll && (!is_watched || silence.is_some()) {
        match wait_for(poll(options, now)) {
            Ok(polled) => summaries = polled,
            Err(failure) if format == Format::Tmux && failure.is_refusal() => {
                (is_known, trouble) = (false, Some(failure));
            }
            Err(failure) => return Err(failure),
        }
    } else if let Some(failure) = silence {
        (is_known, trouble) = (false, Some(failure));
    }
    if let Some(failure) = trouble.as_ref().filter(|_| format == Format::Json || args.poll) {
        failure.warn();
    }
    let servers = if is_elsewhere && is_watched { names(&summaries) } else { String::new() };
    let summary = TotalSummary { servers, ..TotalSummary::of(&summaries) };
    let line = match format {
        Format::Json => {
            let code = output::print_json(&summary.json(now, is_watched))?;
            return Ok(if is_known { code } else { ExitCode::FAILURE });
        }
        Format::Tmux if is_known => summary.tmux(now),
        Format::Tmux => {
            let what = if args.poll || is_watched { "no server answers" } else { "nothing is watching" };
            on_dark([(QUIET, what.to_owned())])
        }
        Format::Plain if is_known => console::wrapped(&summary.plain(now)),
        Format::Plain => {
            let hint = "start `fleetwatch` or `fleetwatch watch`, or add --poll to poll once".to_owned() + &of_demo();
            return Err(trouble.unwrap_or_else(|| Failure::refused("nothing is watching").hint(hint)));
        }
    };
    output::print(&line)
}

/// The summary from the history, written by the processes that watch. Without a history, nothing is watching.
fn stored(settings: &history::Settings, now: Timestamp) -> Result<Vec<ServerSummary>, Failure> {
    let Some(path) = settings.kept_at() else { return Ok(Vec::new()) };
    match Reader::open(&path).and_then(|reader| reader.summaries(now)) {
        Err(HistoryError::Missing(_)) => Ok(Vec::new()),
        read => read.map_err(|trouble| super::history::unusable(&path, &trouble)),
    }
}

/// Waits until another process goes on where one has ended: a second, or a little longer if a clock is set back.
fn settled(settings: &history::Settings) -> Result<Vec<ServerSummary>, Failure> {
    let begun = Instant::now();
    loop {
        let summaries = stored(settings, clock::now())?;
        if !summaries.iter().any(|summary| summary.is_left) || begun.elapsed() > PATIENCE {
            return Ok(summaries);
        }
        std::thread::sleep(clock::A_MOMENT);
    }
}

/// Polls every server once.
async fn poll(options: &GlobalOptions, now: Timestamp) -> Result<Vec<ServerSummary>, Failure> {
    let watched = Watched::new(options)?;
    let survey = watched.survey_with_prompts().await?;
    let view = survey.fleet.view(now);
    let flags = kept_flags(&watched.loaded.config.history);
    let is_muted = |terminal: &Terminal| flags.is_muted(terminal.into());
    let is_task_muted = |task: &Task| flags.is_muted(task.into());
    Ok(view.servers.iter().map(|server| ServerSummary::of(&view, &server.id, &is_muted, &is_task_muted)).collect())
}

/// Why there is nothing to say: what is watched does not answer, and has left no rows.
fn silence(summaries: &[ServerSummary]) -> Option<Failure> {
    if TotalSummary::of(summaries).groups().next().is_some()
        || summaries.iter().any(|summary| summary.problem.is_none())
    {
        return None;
    }
    let what = match summaries {
        [] => return None,
        [ServerSummary { problem: Some(problem), .. }] => problem.message.clone(),
        several => format!("none of {} servers answers", several.len()),
    };
    Some(Failure::refused(what).hint("`fleetwatch doctor` asks again and says what to do"))
}

/// The names of the servers, for a line for people.
fn names(summaries: &[ServerSummary]) -> String {
    summaries.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The name of a server, for people.
fn name(summary: &ServerSummary) -> String {
    let (host, socket) = summary.server.split_once('/').unwrap_or_default();
    let socket = ["name:", "path:"].into_iter().find_map(|kind| socket.strip_prefix(kind)).unwrap_or(socket);
    let socket = if (host, socket) == ("", "default") { "local" } else { socket };
    harmless(&[host, socket].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/"))
}

/// What waits for the operator.
const WAIT: [Status; 5] = [Status::Approval, Status::Question, Status::Trust, Status::Setup, Status::Limit];

/// Those that are named; the others are counted.
const NAMED: usize = 3;

/// The most cells of a name in tmux, whose status line has room for 40 on its right.
const NAME: usize = 20;

/// All servers together.
struct TotalSummary {
    /// Their names, unless they are the ones of a command without options.
    servers: String,
    counts: BTreeMap<String, usize>,
    needs: Vec<Need>,
    /// The servers that do not answer, by their names, and why.
    problems: Vec<(String, Problem)>,
}

impl TotalSummary {
    fn of(summaries: &[ServerSummary]) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (word, count) in summaries.iter().flat_map(|summary| &summary.counts) {
            *counts.entry(word.clone()).or_default() += count;
        }
        let mut needs: Vec<Need> = summaries.iter().flat_map(|summary| summary.needs.iter().cloned()).collect();
        needs.sort_by_key(|need| (need.place(), need.since));
        let silent = |summary: &ServerSummary| Some((name(summary), summary.problem.clone()?));
        let problems = summaries.iter().filter_map(silent).collect();
        Self { servers: String::new(), counts, needs, problems }
    }

    /// The groups that occur, with their counts, and the name if only one needs the operator.
    fn groups(&self) -> impl Iterator<Item = (Status, usize, Option<String>)> {
        Status::GROUPS.into_iter().filter(|group| style(*group).is_some()).filter_map(|group| {
            let words = WAIT.into_iter().filter(|_| group.needs_operator()).chain([group]);
            let words: BTreeSet<&str> = words.map(Status::name).collect();
            let count: usize = words.iter().filter_map(|word| self.counts.get(*word)).sum();
            let needs = |need: &&Need| words.contains(need.counted.as_str());
            let mut only = self.needs.iter().filter(needs).map(|need| harmless(&need.terminal));
            (count > 0).then(|| (group, count, only.next().filter(|_| count == 1)))
        })
    }

    /// The line for people, with those that wait for them by name, the longest wait first.
    fn plain(&self, now: Timestamp) -> String {
        let waiting = |need: &&Need| WAIT.iter().any(|status| status.name() == need.counted);
        let told = |Need { terminal, since, .. }: &Need| match since {
            Some(since) => format!("{} ({})", harmless(terminal), now.since(*since).rounded()),
            None => harmless(terminal),
        };
        let waiting: Vec<String> = self.needs.iter().filter(waiting).map(told).collect();
        let part = |(group, count, name): (Status, usize, Option<String>)| {
            let word = console::painted(group.group_word(count), Some(console::color(group)));
            if !group.needs_operator() || waiting.is_empty() {
                return format!("{} {word}", name.unwrap_or(count.to_string()));
            }
            let named = waiting.len().min(NAMED);
            let more = Some(count - named.min(count)).filter(|more| *more > 0).map(|more| format!("{more} more"));
            let who: Vec<String> = waiting[..named].iter().cloned().chain(more).collect();
            if count == 1 {
                format!("{} {word}", who.join(", "))
            } else {
                format!("{count} {word}: {}", who.join(", "))
            }
        };
        let silent = self.problems.iter().map(|(server, _)| format!("{server} does not answer"));
        let parts: Vec<String> = self.groups().map(part).chain(silent).collect();
        let said = if parts.is_empty() { "no terminals".to_owned() } else { parts.join(" · ") };
        if self.servers.is_empty() { format!("{said}\n") } else { format!("{}: {said}\n", self.servers) }
    }

    /// The line for tmux, which cuts its end: what waits for the operator comes first, with who has waited longest.
    fn tmux(&self, now: Timestamp) -> String {
        let waiting = |need: &&Need| WAIT.iter().any(|status| status.name() == need.counted);
        let longest = self.needs.iter().find(waiting);
        let named = |name: &str, age: &str| escaped(&format!("{}{age}", text::cut(name, NAME)));
        let part = |(group, count, only): (Status, usize, Option<String>)| {
            let style = style(group)?;
            let many = if count > 1 { count.to_string() } else { String::new() };
            let said = match longest.filter(|_| group.needs_operator()) {
                Some(Need { terminal, since, .. }) => {
                    let age = since.map_or(String::new(), |since| format!(" {}", now.since(since).rounded()));
                    format!("{many} {}", named(&harmless(terminal), &age))
                }
                None => only.map_or(count.to_string(), |name| format!(" {}", named(&name, ""))),
            };
            Some((style, format!("{}{said}", sign(group))))
        };
        let servers = Some(&self.servers).filter(|servers| !servers.is_empty());
        let servers = servers.map(|servers| (QUIET, escaped(&format!("{servers}:"))));
        let parts: Vec<_> = servers.into_iter().chain(self.groups().filter_map(part)).collect();
        if parts.is_empty() { "\n".to_owned() } else { on_dark(parts) }
    }

    fn json(&self, now: Timestamp, is_watched: bool) -> serde_json::Value {
        let need = |Need { terminal, attention, counted, word, since }: &Need| {
            let needs_you = WAIT.iter().any(|status| status.name() == counted);
            json!({ "terminal": terminal, "attention": attention, "word": word, "needs_you": needs_you, "since": since })
        };
        let needs: Vec<_> = self.needs.iter().map(need).collect();
        let problem = |(server, Problem { kind, message }): &(String, Problem)| json!({ "server": server, "kind": kind, "message": message });
        let problems: Vec<_> = self.problems.iter().map(problem).collect();
        json!({ "at": now, "watched": is_watched, "counts": self.counts, "needs": needs, "problems": problems })
    }
}

/// A text that tmux shows as it is in front of a style. It reads the line twice: what it expands, it draws, and each time two `#`
/// are one, but where a `[` follows only when it is drawn. The last one of an odd number is drawn as well.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        let (before, signs) = rest.split_at(at);
        rest = signs.trim_start_matches('#');
        let count = signs.len() - rest.len();
        let is_before_style = rest.is_empty() || rest.starts_with('[');
        escaped.push_str(before);
        escaped.push_str(&"#".repeat(if is_before_style { 2 * count } else { 4 * count - 2 }));
    }
    escaped + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Attention;

    fn summary(counts: &[(&str, usize)], needs: &[(&str, Attention)]) -> TotalSummary {
        TotalSummary {
            servers: String::new(),
            counts: counts.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect(),
            needs: needs
                .iter()
                .map(|(name, attention)| Need {
                    terminal: (*name).to_owned(),
                    attention: *attention,
                    counted: attention.word().to_owned(),
                    word: attention.word().to_owned(),
                    since: None,
                })
                .collect(),
            problems: Vec::new(),
        }
    }

    /// The line for tmux after some minutes, without what makes its background.
    fn drawn(summary: &TotalSummary, minutes: i64) -> String {
        let line = summary.tmux(Timestamp::from_millis(minutes * 60_000)).replace("none,bg=colour235,", "");
        line.strip_suffix("#[none,bg=colour235] #[default]\n").unwrap().to_owned()
    }

    #[test]
    fn signs_of_styles_in_names_are_drawn_as_they_are() {
        for (name, drawn) in [
            ("#(x)", "##(x)"),
            ("##(x)", "######(x)"),
            ("###(x)", "##########(x)"),
            ("a##[b", "a####[b"),
            ("#", "##"),
            ("##", "####"),
            ("#a##", "##a####"),
        ] {
            assert_eq!(escaped(name), drawn);
        }
    }

    #[test]
    fn several_are_counted_and_one_is_named() {
        let one = summary(&[("approval", 1), ("working", 3)], &[("shop #{pane_id} #[fg=red]", Attention::Approval)]);
        assert_eq!(one.plain(Timestamp::default()), "shop #{pane_id} #[fg=red] needs you · 3 working\n");
        assert_eq!(drawn(&one, 0), "#[fg=colour213,bold] ? shop ##{pane_id} ##[f…#[fg=colour221] *3");
        let two = summary(
            &[("approval", 1), ("trust", 1), ("ready", 1)],
            &[("a", Attention::Approval), ("b", Attention::Trust)],
        );
        assert_eq!(two.plain(Timestamp::default()), "2 need you: a, b · 1 ready\n");
        assert_eq!(drawn(&two, 0), "#[fg=colour213,bold] ?2 a#[fg=colour116] ·1");
        assert_eq!(summary(&[], &[]).plain(Timestamp::default()), "no terminals\n");
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let mut many = summary(&[("question", 5)], &["a", "b", "c", "d", "e"].map(|name| (name, Attention::Question)));
        many.needs.iter_mut().for_each(|need| need.since = Some(at(0)));
        assert_eq!(many.plain(at(12)), "5 need you: a (12m), b (12m), c (12m), 2 more\n");
        assert_eq!(drawn(&many, 12), "#[fg=colour213,bold] ?5 a 12m");
    }

    #[test]
    fn servers_that_a_command_is_not_about_are_named() {
        let of = |server: &str| ServerSummary {
            server: server.to_owned(),
            at: Timestamp::default(),
            is_left: false,
            counts: BTreeMap::new(),
            needs: Vec::new(),
            problem: None,
        };
        let servers = names(&["/default", "/name:ag#ents", "box/default", "/path:/srv/box"].map(of));
        assert_eq!(servers, "local, ag#ents, box/default, /srv/box");
        let total = TotalSummary { servers: "ag#ents".to_owned(), ..summary(&[("ready", 1)], &[]) };
        assert_eq!(total.plain(Timestamp::default()), "ag#ents: 1 ready\n");
        assert_eq!(drawn(&total, 0), "#[fg=colour250] ag##ents:#[fg=colour116] ·1");
        let problem = Some(Problem { kind: "no_server".to_owned(), message: "none".to_owned() });
        let down = ServerSummary { problem, ..of("/name:down") };
        assert!(silence(std::slice::from_ref(&down)).is_some() && silence(&[]).is_none());
        let both = [down, ServerSummary { counts: [("ready".to_owned(), 1)].into(), ..of("/default") }];
        assert!(silence(&both).is_none());
        assert_eq!(TotalSummary::of(&both).plain(Timestamp::default()), "1 ready · down does not answer\n");
    }
}
