//! `fleetwatch score`: how well the published states agree with the truth of labelled recordings (SPEC §13).

mod report;
mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use report::{Report, Scored};

use super::replay::ReplayArgs;
use crate::profile::Library;
use crate::recording::score::score;
use crate::recording::truth::Field;
use crate::recording::{Options, Recording, RecordingError};

/// Score what fleetwatch says of labelled recordings against what is known to be true.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Recordings, and directories that are searched for `*.cast`.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub options: ReplayArgs,
    /// How many of the longest wrong spells are listed.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub worst: usize,
    /// List only wrong spells of these fields.
    #[arg(long = "field", value_name = "FIELD", value_parser = field)]
    pub fields: Vec<Field>,
    /// List every recording with its own scores.
    #[arg(long)]
    pub recordings: bool,
    /// Exit with 1 when a field of an agent version scores less than this many percent.
    #[arg(long, value_name = "PERCENT")]
    pub fail_under: Option<f64>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// A recording cannot be read, none is found, or standard output cannot be written.
pub fn run(args: &Args, library: Arc<Library>) -> color_eyre::Result<ExitCode> {
    let files = find(&args.paths)?;
    let scored = score_all(&files, &library, &args.options.options())?;
    let report = Report::new(scored, &args.fields);
    let printed = if args.json { report.json(args.worst) } else { text::print(&report, args.worst, args.recordings) };
    match io::stdout().lock().write_all(printed.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    let Some(limit) = args.fail_under else { return Ok(ExitCode::SUCCESS) };
    let low = report.below(limit);
    low.iter().for_each(|what| eprintln!("error: {what}, less than {limit} %"));
    Ok(if low.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn field(name: &str) -> Result<Field, String> {
    Field::named(name).ok_or_else(|| format!("the fields are {}", Field::ALL.map(Field::word).join(", ")))
}

/// The recordings among files and directories, in the order of their paths.
fn find(paths: &[PathBuf]) -> color_eyre::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() { search(path, &mut found)? } else { found.push(path.clone()) }
    }
    found.sort();
    found.dedup();
    color_eyre::eyre::ensure!(!found.is_empty(), "no recording (*.cast) found");
    Ok(found)
}

fn search(directory: &Path, found: &mut Vec<PathBuf>) -> color_eyre::Result<()> {
    let unreadable = |e: io::Error| color_eyre::eyre::eyre!("{}: {e}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // A link is not followed, so that a circle of them ends.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "cast") {
            found.push(path);
        }
    }
    Ok(())
}

/// Scores recordings on all processors; the result does not depend on how many there are.
fn score_all(files: &[PathBuf], library: &Arc<Library>, options: &Options) -> Result<Vec<Scored>, RecordingError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((n, file)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, files.get(n)?))) {
            done.push((n, score_one(file, library, options)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let mut results: Vec<(usize, Result<Scored, RecordingError>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.sort_by_key(|(n, _)| *n);
    results.into_iter().map(|(_, result)| result).collect()
}

fn score_one(file: &Path, library: &Arc<Library>, options: &Options) -> Result<Scored, RecordingError> {
    let recording = Recording::open(file)?;
    let score = score(&recording, &file.display().to_string(), Arc::clone(library), options)?;
    let word = |given: &Option<String>| given.clone().unwrap_or_else(|| "unknown".to_owned());
    let version = format!("{} {}", word(&recording.header.tool), word(&recording.header.version));
    Ok(Scored { path: file.display().to_string(), name: recording.name, version, score })
}

#[cfg(test)]
mod tests;
