//! `fleetwatch` without a command: the dashboard.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::survey::Watched;
use super::{Done, Failure, GlobalOptions};
use crate::app::{self, Settings};
use crate::config::Config;
use crate::feed;
use crate::fleet::{self, ServerId};

/// Opens the dashboard on what the options and the configuration ask to watch.
///
/// # Errors
/// The configuration is wrong, or there is no terminal to draw on.
pub async fn run(options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    show(Settings {
        config: watched.loaded.config,
        library: watched.library,
        servers: watched.servers,
        feed: watched.feed,
        fleet: watched.fleet,
        directories: directories(options),
    })
    .await
}

/// Opens the dashboard on one server with a configuration of its own; only its looks are the user's.
///
/// # Errors
/// The user's configuration or a profile is wrong, or there is no terminal to draw on.
pub async fn run_on(server: ServerId, config: Config, options: &GlobalOptions) -> Done {
    let config = Config { ui: options.load()?.config.ui, ..config };
    let library = Arc::new(options.library()?);
    let feed = feed::Settings::new(&config);
    let fleet = fleet::Settings { tracker: config.tracker.clone(), ..fleet::Settings::default() };
    show(Settings { config, library, servers: vec![server], feed, fleet, directories: directories(options) }).await
}

/// Where a configuration is looked for; what else is the operator's own lies beside it.
fn directories(options: &GlobalOptions) -> Vec<PathBuf> {
    let search = options.search_path();
    search.candidates().iter().filter_map(|candidate| candidate.path.parent()).map(Path::to_owned).collect()
}

async fn show(settings: Settings) -> Done {
    match app::run(settings).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::usage(&error).hint(error.hint()).into()),
    }
}
