//! What the writers of profiles measure with; it is not installed.
//!
//!     cargo run --release --example lab -- score recordings/recordings.zst
//!
//! `score` says how well the published states agree with the truth of labelled recordings (SPEC §13).

// What cannot be set up fails the test.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[allow(dead_code)] // Tests use more of it.
mod scoring;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::scoring::score::in_parallel;
use crate::scoring::score::tasks::{TaskField, TaskScore, TaskSpell, score_task};
use crate::scoring::score::{Delay, Score, Spell, Tally, score};
use crate::scoring::truth::{Doubts, Field};
use clap::{Args, Parser, Subcommand};
use fleetwatch::cli::SharedReplayArgs;
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::{Archive, Recording, RecordingError, ReplayOptions};
use fleetwatch::screen::harmless;
use fleetwatch::state::Phase;
use fleetwatch::time::Span;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Measures profiles with recordings.
#[derive(Debug, Parser)]
struct Lab {
    #[command(subcommand)]
    command: Measurement,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    Score(ScoreArgs),
}

/// Compare what fleetwatch says with labelled recordings.
#[derive(Clone, Debug, Args)]
struct ScoreArgs {
    /// Recordings, archives (`*.zst`), and directories to search for `*.cast`; `-` reads a recording on standard input.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: SharedReplayArgs,
    /// Add this file of profiles to the built-in ones.
    #[arg(long = "profile", value_name = "FILE")]
    profiles: Vec<PathBuf>,
    /// How many of the longest wrong spells to list.
    #[arg(long, value_name = "N", default_value_t = 20)]
    worst: usize,
    /// List only wrong spells of these fields.
    #[arg(long = "field", value_name = "FIELD", value_parser = field)]
    fields: Vec<Field>,
    /// List the scores of every recording.
    #[arg(long)]
    recordings: bool,
    /// Ignore the labels that a Markdown table doubts: recording, fields, seconds from–to, reason.
    #[arg(long, value_name = "FILE")]
    doubts: Option<PathBuf>,
    /// Exit with 1 if a field of an agent version scores below this percentage.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    fail_under: Option<f64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

fn field(text: &str) -> Result<Field, String> {
    let names = || Field::ALL.iter().map(|field| field.word()).collect::<Vec<_>>().join(", ");
    Field::of_word(text).ok_or_else(|| format!("it takes {}", names()))
}

fn percentage(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "write a number from 0 to 100, such as 99.5".to_owned())
}

fn main() -> ExitCode {
    let Lab { command: Measurement::Score(args) } = Lab::parse();
    run(&args).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

fn run(args: &ScoreArgs) -> Result<ExitCode, Box<dyn Error>> {
    let mut profiles = ProfileSet::builtin();
    for file in &args.profiles {
        let text = std::fs::read_to_string(file).map_err(|error| RecordingError::unreadable(file, &error))?;
        profiles.add(&file.display().to_string(), &text)?;
    }
    let (options, profiles) = (args.options.options(&profiles)?, Arc::new(profiles));
    let sources = find(&args.paths)?;
    let doubts = args.doubts.as_deref().map_or_else(|| Ok(Doubts::default()), read_doubts)?;
    let scored = score_all(&sources, &profiles, &options, &doubts)?;
    let report = Report::new(scored, &args.fields);
    if !report.is_labelled() {
        return Err("nothing is labelled: a label is a `truth` line in the recording".into());
    }
    match args.json {
        true => println!("{:#}", report.json(args.worst)),
        false => print!("{}", for_people(&report, args.worst, args.recordings)),
    }
    let low = args.fail_under.map(|limit| report.below(limit)).unwrap_or_default();
    low.iter().for_each(|what| eprintln!("error: {what}, which is too low"));
    Ok(if low.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where a recording is.
#[derive(Clone, Debug)]
enum RecordingSource {
    File(PathBuf),
    Packed { archive: Arc<Archive>, name: String },
}

impl RecordingSource {
    /// Its name in errors and reports.
    fn name(&self) -> String {
        match self {
            RecordingSource::File(path) => path.display().to_string(),
            RecordingSource::Packed { archive, name } => archive.source_name(name),
        }
    }

    fn read(&self) -> Result<Recording, RecordingError> {
        match self {
            RecordingSource::File(path) => Recording::open(path),
            RecordingSource::Packed { archive, name } => archive.recording(name),
        }
    }
}

/// The recordings in files, archives and directories, sorted by name, each only once.
fn find(paths: &[PathBuf]) -> Result<Vec<RecordingSource>, Box<dyn Error>> {
    let mut found = BTreeMap::new();
    for path in paths {
        if path.is_dir() {
            search(path, &mut found)?;
        } else if path.extension().is_some_and(|e| e == "zst") {
            let archive = Arc::new(Archive::open(path)?);
            let packed = |name: &str| RecordingSource::Packed { archive: Arc::clone(&archive), name: name.to_owned() };
            found.extend(archive.names().map(packed).map(|source| (source.name(), source)));
        } else {
            found.insert(path.display().to_string(), RecordingSource::File(path.clone()));
        }
    }
    if found.is_empty() {
        return Err("no recording (*.cast) found: name recordings, archives or directories".into());
    }
    Ok(found.into_values().collect())
}

fn search(directory: &Path, found: &mut BTreeMap<String, RecordingSource>) -> Result<(), RecordingError> {
    let unreadable = |error: io::Error| RecordingError::unreadable(directory, &error);
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // Links are not followed: they may form a circle.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "cast") {
            found.insert(path.display().to_string(), RecordingSource::File(path));
        }
    }
    Ok(())
}

fn read_doubts(path: &Path) -> Result<Doubts, RecordingError> {
    let text = std::fs::read_to_string(path).map_err(|error| RecordingError::unreadable(path, &error))?;
    Doubts::parse(&path.display().to_string(), &text)
}

/// Scores recordings on all processors; the result does not depend on how many there are.
fn score_all(
    sources: &[RecordingSource],
    profiles: &Arc<ProfileSet>,
    options: &ReplayOptions,
    doubts: &Doubts,
) -> Result<Vec<Scored>, RecordingError> {
    in_parallel(sources, |source| score_one(source, profiles, options, doubts)).into_iter().collect()
}

fn score_one(
    source: &RecordingSource,
    profiles: &Arc<ProfileSet>,
    options: &ReplayOptions,
    doubts: &Doubts,
) -> Result<Scored, RecordingError> {
    let (recording, path) = (source.read()?, source.name());
    if let Some(cut) = &recording.cut {
        eprintln!("warning: {cut}");
    }
    let scored = |options: &ReplayOptions| score(&recording, &path, Arc::clone(profiles), options, doubts);
    let score = scored(options)?;
    let has_records = options.with_records && recording.has_records();
    let alone = has_records.then(|| scored(&ReplayOptions { with_records: false, ..options.clone() })).transpose()?;
    let alone = alone.map(|score| score.tallies);
    let tasks = score_task(&recording, &path)?;
    // Headers are written by whoever made the recording.
    let word = |given: &Option<String>| given.as_deref().map_or("unknown".to_owned(), harmless);
    let version = format!("{} {}", word(&recording.header.tool), word(&recording.header.version));
    Ok(Scored { path, name: harmless(&recording.name), version, score, alone, tasks })
}

// The scores of many recordings, added up.

/// One scored recording.
#[derive(Clone, Debug)]
struct Scored {
    path: String,
    name: String,
    /// Agent and version.
    version: String,
    score: Score,
    /// The scores of the screen alone, if the recording has records.
    alone: Option<Tallies>,
    /// Its scores as a task, if it shows a shell.
    tasks: Option<TaskScore>,
}

/// All scored recordings, with the fields whose wrong spells are listed.
struct Report {
    scored: Vec<Scored>,
    fields: Vec<Field>,
}

/// A summary of one field's delays.
struct DelaySummary {
    changes: usize,
    /// Changes that the state did not follow before the truth changed again.
    missed: usize,
    median: Option<Span>,
    p95: Option<Span>,
}

/// The tallies of all fields.
type Tallies = [Tally; Field::ALL.len()];
/// How many recordings, their time, and their tallies.
type Sums = (usize, Span, Tallies);

impl Report {
    /// A report whose wrong spells are those of `fields`, or of all fields if that is empty.
    fn new(scored: Vec<Scored>, fields: &[Field]) -> Self {
        Self { scored, fields: if fields.is_empty() { Field::ALL.to_vec() } else { fields.to_vec() } }
    }

    /// Recordings, their time and tallies by agent version.
    fn versions(&self) -> BTreeMap<&str, Sums> {
        sums(self.scored.iter().map(|one| (one, &one.score.tallies)))
    }

    /// The same of the recordings with records: with these, and by the screen alone.
    fn with_records(&self) -> impl Iterator<Item = (&str, Sums, Tallies)> {
        let recorded = || self.scored.iter().filter_map(|one| Some((one, one.alone.as_ref()?)));
        let (with, alone) = (sums(recorded().map(|(one, _)| (one, &one.score.tallies))), sums(recorded()));
        with.into_iter().zip(alone).map(|((version, with), (_, (.., alone)))| (version, with, alone))
    }

    /// Recordings, their time and tallies, all together.
    fn total(&self) -> Sums {
        let mut total = (0, Span::ZERO, Tallies::default());
        for (count, time, tallies) in self.versions().into_values() {
            total.0 += count;
            total.1 = Span::from_millis(total.1.as_millis() + time.as_millis());
            total.2.iter_mut().zip(tallies).for_each(|(sum, tally)| sum.add(tally));
        }
        total
    }

    /// Whether any recording has labels.
    fn is_labelled(&self) -> bool {
        let judges = |tallies: &[Tally]| tallies.iter().any(|tally| tally.judged_ms > 0);
        self.doubted_ms() > 0 || judges(&self.total().2) || judges(&self.tasks().1)
    }

    /// Labelled milliseconds of all fields that are left out because they are doubted.
    fn doubted_ms(&self) -> u64 {
        self.scored.iter().map(|one| one.score.doubted_ms).sum()
    }

    /// The wrong spells of the chosen fields, longest first.
    fn wrong(&self) -> Vec<(&Scored, &Spell)> {
        let spells = self.scored.iter().flat_map(|one| one.score.spells.iter().map(move |spell| (one, spell)));
        let mut wrong: Vec<_> = spells.filter(|(_, spell)| self.fields.contains(&spell.field)).collect();
        wrong.sort_by_key(|(one, spell)| (std::cmp::Reverse(spell.length()), spell.from, spell.field, &one.path));
        wrong
    }

    /// Judged milliseconds of phase, by truth and answer.
    fn phases(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        let mut phases = BTreeMap::new();
        for (pair, ms) in self.scored.iter().flat_map(|one| &one.score.phases) {
            *phases.entry(*pair).or_default() += ms;
        }
        phases
    }

    /// The delays of a field.
    fn delays(&self, field: Field) -> DelaySummary {
        let of_field = |delay: &&Delay| delay.field == field;
        let delays: Vec<Option<Span>> =
            self.scored.iter().flat_map(|one| one.score.delays.iter().filter(of_field)).map(|d| d.delay).collect();
        let mut followed: Vec<Span> = delays.iter().flatten().copied().collect();
        followed.sort_unstable();
        // The nearest rank: the smallest delay that this percentage does not exceed.
        let rank = |percent: usize| followed.get((followed.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        DelaySummary { changes: delays.len(), missed: delays.len() - followed.len(), median: rank(50), p95: rank(95) }
    }

    /// How many recordings are scored as tasks, and their tallies by field.
    fn tasks(&self) -> (usize, [Tally; TaskField::ALL.len()]) {
        let mut sums = [Tally::default(); TaskField::ALL.len()];
        let scores: Vec<&TaskScore> = self.scored.iter().filter_map(|one| one.tasks.as_ref()).collect();
        for score in &scores {
            sums.iter_mut().zip(score.tallies).for_each(|(sum, tally)| sum.add(tally));
        }
        (scores.len(), sums)
    }

    /// The wrong spells of tasks, with their recordings.
    fn wrong_tasks(&self) -> impl Iterator<Item = (&Scored, &TaskSpell)> {
        self.scored
            .iter()
            .flat_map(|one| one.tasks.iter().flat_map(|tasks| &tasks.spells).map(move |spell| (one, spell)))
    }

    fn tasks_json(&self) -> Value {
        let (count, tallies) = self.tasks();
        let wrong: Vec<Value> = self.wrong_tasks().map(|(one, spell)| spell_json(one, spell)).collect();
        json!({ "recordings": count, "fields": fields_json(TaskField::ALL, &tallies), "wrong": wrong })
    }

    /// The scores below a limit, in words.
    fn below(&self, limit: f64) -> Vec<String> {
        let tasks = self.tasks().1;
        let of_tasks = TaskField::ALL.iter().zip(tasks).map(|(field, tally)| (format!("tasks {field}"), tally));
        let of_agents = self.versions().into_iter().flat_map(|(version, (.., tallies))| {
            Field::ALL.iter().zip(tallies).map(move |(field, tally)| (format!("{version} {field}"), tally))
        });
        let low = |(what, tally): (String, Tally)| {
            let percent = tally.percent().filter(|percent| *percent < limit)?;
            Some(format!("{what} scores {percent:.3} %"))
        };
        of_tasks.chain(of_agents).filter_map(low).collect()
    }

    /// The report as one JSON object.
    fn json(&self, worst: usize) -> Value {
        let group = |(count, time, tallies): Sums| json!({ "recordings": count, "seconds": time.as_secs(), "fields": fields_json(Field::ALL, &tallies) });
        let versions: Map<String, Value> =
            self.versions().into_iter().map(|(name, sums)| (name.to_owned(), group(sums))).collect();
        let records: Map<String, Value> = self
            .with_records()
            .map(|(name, sums, alone)| {
                let mut version = group(sums);
                version["screen_alone"] = fields_json(Field::ALL, &alone);
                (name.to_owned(), version)
            })
            .collect();
        let recordings: Vec<Value> = self.scored.iter().map(recording_json).collect();
        let wrong: Vec<Value> =
            self.wrong().into_iter().take(worst).map(|(one, spell)| spell_json(one, spell)).collect();
        let phases: Vec<Value> = self
            .phases()
            .into_iter()
            .map(|((truth, answer), ms)| json!({ "truth": truth, "answer": answer, "seconds": seconds(ms) }))
            .collect();
        let delays: Map<String, Value> = Field::ALL
            .iter()
            .copied()
            .map(|field| (field.word().to_owned(), delay_json(&self.delays(field))))
            .collect();
        json!({
            "total": group(self.total()),
            "doubted_seconds": seconds(self.doubted_ms()),
            "versions": versions,
            "with_records": records,
            "recordings": recordings,
            "worst": wrong,
            "phases": phases,
            "delays": delays,
            "tasks": self.tasks_json(),
        })
    }
}

/// Tallies of recordings, added up by agent version.
fn sums<'a>(tallies: impl Iterator<Item = (&'a Scored, &'a Tallies)>) -> BTreeMap<&'a str, Sums> {
    let mut versions: BTreeMap<&str, Sums> = BTreeMap::new();
    for (one, of_one) in tallies {
        let (count, time, tallies) = versions.entry(&one.version).or_default();
        *count += 1;
        *time = Span::from_millis(time.as_millis() + one.score.duration.as_millis());
        tallies.iter_mut().zip(of_one).for_each(|(sum, tally)| sum.add(*tally));
    }
    versions
}

fn recording_json(one: &Scored) -> Value {
    let (seconds, fields) = (one.score.duration.as_secs(), fields_json(Field::ALL, &one.score.tallies));
    json!({ "path": one.path, "version": one.version, "seconds": seconds, "fields": fields })
}

fn fields_json(fields: &[impl ToString], tallies: &[Tally]) -> Value {
    let fields = fields.iter().zip(tallies);
    Value::Object(fields.map(|(field, tally)| (field.to_string(), tally_json(*tally))).collect())
}

fn tally_json(tally: Tally) -> Value {
    let (judged, right) = (seconds(tally.judged_ms), seconds(tally.right_ms));
    json!({ "judged_seconds": judged, "right_seconds": right, "percent": tally.percent() })
}

fn spell_json<F: Serialize, T: Serialize>(
    of: &Scored,
    Spell { field, from, to, truth, answer }: &Spell<F, T>,
) -> Value {
    let (from, to) = (from.as_secs(), to.as_secs());
    let Scored { path, version, .. } = of;
    json!({
        "path": path, "version": version, "field": field, "from": from, "to": to, "truth": truth, "answer": answer,
    })
}

fn delay_json(delays: &DelaySummary) -> Value {
    let [median, p95] = [delays.median, delays.p95].map(|delay| delay.map(Span::as_secs));
    json!({ "changes": delays.changes, "missed": delays.missed, "median_seconds": median, "p95_seconds": p95 })
}

fn seconds(ms: u64) -> f64 {
    Span::from_millis(ms).as_secs()
}

// The report for people.

/// The report as tables: scores by agent version, confused phases, delays, and the longest wrong spells.
fn for_people(report: &Report, worst: usize, recordings: bool) -> String {
    let mut rows: Vec<Vec<String>> = report.versions().iter().map(|(version, sums)| sums_row(version, sums)).collect();
    rows.push(sums_row("all", &report.total()));
    let mut tables = vec![table(["PERCENT RIGHT", "N", "MINUTES"].iter().chain(&HEADS), &rows)];
    let with_records = report.with_records().flat_map(|(version, sums, alone)| {
        let alone = ["  its screen alone", "", ""].map(str::to_owned).into_iter().chain(alone.iter().map(percent));
        [sums_row(version, &sums), alone.collect()]
    });
    let with_records: Vec<Vec<String>> = with_records.collect();
    if !with_records.is_empty() {
        tables.push(table(["WITH RECORDS", "N", "MINUTES"].iter().chain(&HEADS), &with_records));
    }
    if recordings {
        let row = |one: &Scored| {
            let named = [format!("{}/{}", one.version, one.name), format!("{:>7.1}", one.score.duration.as_secs())];
            named.into_iter().chain(one.score.tallies.iter().map(percent)).collect()
        };
        let rows: Vec<Vec<String>> = report.scored.iter().map(row).collect();
        tables.push(table(["RECORDING", "SECONDS"].iter().chain(&HEADS), &rows));
    }
    if report.doubted_ms() > 0 {
        let seconds = seconds(report.doubted_ms());
        tables.push(format!("{seconds:.1} labelled seconds, over all fields, are doubted and left out.\n"));
    }
    tables.extend([phases(report), delays(report), wrong(report, worst)]);
    tables.extend(tasks(report, worst));
    tables.join("\n")
}

/// The fields of an agent, as heads of columns.
const HEADS: [&str; Field::ALL.len()] = ["available", "accepting", "editing", "posture", "phase", "blocked", "result"];

fn table<'a>(head: impl IntoIterator<Item = &'a &'static str>, rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.into_iter().map(|&cell| cell.to_owned()).collect();
    let rows: Vec<&Vec<String>> = [&head].into_iter().chain(rows).collect();
    let widest = |nth: usize| rows.iter().filter_map(|row| row.get(nth)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..head.len()).map(|nth| widest(nth).unwrap_or_default()).collect();
    let line = |row: &&Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn sums_row(version: &str, (count, time, tallies): &Sums) -> Vec<String> {
    let named = [version.to_owned(), format!("{count:>3}"), format!("{:>7.1}", time.as_secs() / 60.0)];
    named.into_iter().chain(tallies.iter().map(percent)).collect()
}

fn tasks(report: &Report, worst: usize) -> Option<String> {
    let (count, tallies) = report.tasks();
    let fields =
        TaskField::ALL.iter().zip(&tallies).map(|(field, tally)| format!("   {field} {}", percent(tally).trim()));
    let mut out = format!("TASKS IN {count} RECORDINGS{}\n", fields.collect::<String>());
    for (one, spell) in report.wrong_tasks().take(worst) {
        let (from, to) = (spell.from.as_secs(), spell.to.as_secs());
        let (truth, answer) = (harmless(&spell.truth), harmless(&spell.answer));
        let _ = writeln!(out, "{from:>8.3} – {to:>8.3}  {}  {}: {truth}, not {answer}", one.name, spell.field);
    }
    (count > 0).then_some(out)
}

fn phases(report: &Report) -> String {
    let phases = report.phases();
    let row = |truth: &Phase| {
        let ms = |answer: &Phase| phases.get(&(truth.word(), answer.word())).copied().unwrap_or(0);
        let answers = Phase::ALL.iter().map(|answer| format!("{:>9.1}", seconds(ms(answer))));
        [format!("truth {truth}")].into_iter().chain(answers).collect()
    };
    table(["PHASE, SECONDS"].iter().chain(&Phase::words()), &Phase::ALL.iter().map(row).collect::<Vec<_>>())
}

fn delays(report: &Report) -> String {
    let row = |field: &Field| {
        let DelaySummary { changes, missed, median, p95 } = report.delays(*field);
        let seconds = |span: Option<Span>| span.map_or("–".to_owned(), |span| format!("{:.3}", span.as_secs()));
        let cells = [changes.to_string(), missed.to_string(), seconds(median), seconds(p95)];
        let cells = cells.map(|cell| format!("{cell:>7}"));
        (changes > 0).then(|| [field.word().to_owned()].into_iter().chain(cells).collect())
    };
    let head = ["DELAY, SECONDS", "changes", "missed", "median", "p95"];
    table(&head, &Field::ALL.iter().filter_map(row).collect::<Vec<_>>())
}

fn wrong(report: &Report, worst: usize) -> String {
    let wrong = report.wrong();
    let total: u64 = wrong.iter().map(|(_, spell)| spell.length().as_millis()).sum();
    let listed = worst.min(wrong.len());
    let said = format!("WRONG SPELLS: {}, {:.1} s; the {listed} longest:\n", wrong.len(), seconds(total));
    let row = |(scored, spell): &(&Scored, &Spell)| {
        let times = [spell.length(), spell.from, spell.to].map(|time| format!("{:>9.3}", time.as_secs()));
        let words = [spell.field.word(), spell.truth, spell.answer, &harmless(&scored.path)].map(str::to_owned);
        times.into_iter().chain(words).collect()
    };
    let rows: Vec<Vec<String>> = wrong.iter().take(worst).map(row).collect();
    let head = ["SECONDS", "FROM", "TO", "FIELD", "TRUTH", "ANSWER", "RECORDING"];
    if rows.is_empty() { said } else { said + &table(&head, &rows) }
}

/// Percent with two digits, rounded down, so that only a perfect score shows as 100.
fn percent(tally: &Tally) -> String {
    if tally.judged_ms == 0 {
        return format!("{:>6}", "–");
    }
    let hundredths = u128::from(tally.right_ms) * 10_000 / u128::from(tally.judged_ms);
    format!("{:>3}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests;
