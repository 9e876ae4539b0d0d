//! `fleetwatch score`: how well the published states agree with the truth of labelled recordings (SPEC §13).

mod report;
mod text;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use report::{Report, Scored};

use super::replay::ReplayArgs;
use super::{Failure, output};
use crate::profile::ProfileSet;
use crate::recording::doubts::Doubts;
use crate::recording::score::score;
use crate::recording::score::tasks::score_task;
use crate::recording::truth::Field;
use crate::recording::{Archive, Recording, RecordingError, ReplayOptions, in_parallel};
use crate::screen::harmless;

/// Compare what fleetwatch says about labelled recordings with their labels.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Recordings, archives (`*.zst`), and directories to search for `*.cast`.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub options: ReplayArgs,
    /// How many of the longest wrong spells to list.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub worst: usize,
    /// List only wrong spells of these fields.
    #[arg(long = "field", value_name = "FIELD", value_parser = field)]
    pub fields: Vec<Field>,
    /// List the scores of every recording.
    #[arg(long)]
    pub recordings: bool,
    /// Ignore the labels that a Markdown table doubts: recording, fields, seconds from–to, reason.
    #[arg(long, value_name = "FILE")]
    pub doubts: Option<PathBuf>,
    /// Exit with 1 if a field of an agent version scores below this percentage.
    #[arg(long, value_name = "PERCENT")]
    pub fail_under: Option<f64>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Some recordings, with nothing else asked for.
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let options = ReplayArgs::default();
        let (paths, worst) = (paths.to_owned(), 20);
        Self { paths, options, worst, fields: vec![], recordings: false, doubts: None, fail_under: None, json: false }
    }
}

/// Runs the command.
///
/// # Errors
/// A recording cannot be read, none is found, or standard output cannot be written.
pub fn run(args: &Args, library: Arc<ProfileSet>) -> anyhow::Result<ExitCode> {
    let sources = find(&args.paths)?;
    let doubts = args.doubts.as_deref().map_or_else(|| Ok(Doubts::default()), read_doubts)?;
    let scored = score_all(&sources, &library, &args.options.options(), &doubts)?;
    let report = Report::new(scored, &args.fields);
    let printed = if args.json { report.json(args.worst) } else { text::print(&report, args.worst, args.recordings) };
    output::print(&printed)?;
    let Some(limit) = args.fail_under else { return Ok(ExitCode::SUCCESS) };
    let low = report.below(limit);
    low.iter().for_each(|what| eprintln!("error: {what}, less than {limit} %"));
    Ok(if low.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn field(name: &str) -> Result<Field, String> {
    Field::of_word(name).ok_or_else(|| {
        format!("the fields are {}", Field::ALL.iter().map(|field| field.word()).collect::<Vec<_>>().join(", "))
    })
}

/// Where a recording is.
#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Packed { archive: Arc<Archive>, name: String },
}

impl Source {
    /// How errors and reports call it.
    fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Packed { archive, name } => archive.source_name(name),
        }
    }

    fn read(&self) -> Result<Recording, RecordingError> {
        match self {
            Source::File(path) => Recording::open(path),
            Source::Packed { archive, name } => archive.recording(name),
        }
    }
}

/// The recordings among files, archives and directories, in the order of their names and each only once.
fn find(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let mut found = BTreeMap::new();
    for path in paths {
        if path.is_dir() {
            search(path, &mut found)?;
        } else if path.extension().is_some_and(|e| e == "zst") {
            let archive = Arc::new(Archive::open(path)?);
            let packed = |name: &str| Source::Packed { archive: Arc::clone(&archive), name: name.to_owned() };
            found.extend(archive.names().map(packed).map(|source| (source.name(), source)));
        } else {
            found.insert(path.display().to_string(), Source::File(path.clone()));
        }
    }
    if found.is_empty() {
        return Err(Failure::usage("no recording (*.cast) found")
            .hint("name recordings, archives or directories")
            .into());
    }
    Ok(found.into_values().collect())
}

fn search(directory: &Path, found: &mut BTreeMap<String, Source>) -> anyhow::Result<()> {
    let unreadable = |e: io::Error| anyhow::anyhow!("{}: {e}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // A link is not followed, so that a circle of them ends.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "cast") {
            found.insert(path.display().to_string(), Source::File(path));
        }
    }
    Ok(())
}

fn read_doubts(path: &Path) -> anyhow::Result<Doubts> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    Ok(Doubts::parse(&name, &text)?)
}

/// Scores recordings on all processors; the result does not depend on how many there are.
fn score_all(
    sources: &[Source],
    library: &Arc<ProfileSet>,
    options: &ReplayOptions,
    doubts: &Doubts,
) -> Result<Vec<Scored>, RecordingError> {
    in_parallel(sources, |source| score_one(source, library, options, doubts)).into_iter().collect()
}

fn score_one(
    source: &Source,
    library: &Arc<ProfileSet>,
    options: &ReplayOptions,
    doubts: &Doubts,
) -> Result<Scored, RecordingError> {
    let (recording, path) = (source.read()?, source.name());
    let scored = |options: &ReplayOptions| score(&recording, &path, Arc::clone(library), options, doubts);
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

#[cfg(test)]
mod tests;
