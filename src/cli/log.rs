//! The log: what the program does and stumbles over, in a file that the user names. Without one nothing is written.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::LevelFilter;

use super::Failure;

/// Appends to a file, which only its owner can read when it is new.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn start(path: &Path) -> Result<(), Failure> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| Failure::usage(format!("{}: cannot be written: {error}", path.display())))?;
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::DEBUG)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish();
    // The command line is run once in a process, so nobody can have set another one before.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
