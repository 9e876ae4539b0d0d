//! `fleetwatch` without a command: the dashboard.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::survey::Watched;
use super::{Done, Failure, GlobalOptions};
use crate::app::{self, Settings, Source};
use crate::config::{Config, Loaded};
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
        source: Source::new(candidates(options), {
            let options = options.clone();
            move || {
                let config = Loaded::find(&options.search_path())?.config;
                let servers = options.servers(&config);
                Ok((config, servers))
            }
        }),
    })
    .await
}

/// Opens the dashboard on one server with a configuration of its own; only its looks are the user's.
///
/// # Errors
/// The user's configuration or a profile is wrong, or there is no terminal to draw on.
pub async fn run_on(server: ServerId, config: Config, options: &GlobalOptions) -> Done {
    let source = Source::new(candidates(options), {
        let (options, config, server) = (options.clone(), config.clone(), server.clone());
        move || {
            let ui = Loaded::find(&options.search_path())?.config.ui;
            Ok((Config { ui, ..config.clone() }, vec![server.clone()]))
        }
    });
    let config = Config { ui: options.load()?.config.ui, ..config };
    let library = Arc::new(options.library()?);
    let feed = feed::Settings::new(&config);
    let fleet = fleet::Settings { tracker: config.tracker.clone(), ..fleet::Settings::default() };
    show(Settings { config, library, servers: vec![server], feed, fleet, source }).await
}

/// Where a configuration is looked for; what else is the operator's own lies beside it.
pub(super) fn candidates(options: &GlobalOptions) -> Vec<PathBuf> {
    options.search_path().candidates().iter().map(|candidate| candidate.path.clone()).collect()
}

async fn show(settings: Settings) -> Done {
    match app::run(settings).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::usage(&error).hint(error.hint()).into()),
    }
}
