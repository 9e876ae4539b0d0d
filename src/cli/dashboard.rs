//! `fleetwatch` without a command: the dashboard.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::commands::completed;
use super::survey::Watched;
use super::{Done, Failure, GlobalOptions};
use crate::app::{self, LoadSource, ProfilesResult, Settings};
use crate::config::{Config, Loaded};
use crate::fleet::ServerId;
use crate::owner::{self, Rank};

/// Opens the dashboard on what the options and the configuration ask to watch.
///
/// # Errors
/// The configuration is wrong, or there is no terminal to draw on.
pub async fn run(options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let again = options.clone();
    let read = move || {
        let config = again.find()?.config;
        let servers = again.servers(&config);
        Ok((config, servers))
    };
    let source = LoadSource::new(candidates(options), read, read_profiles(options));
    let (config, servers) = (watched.loaded.config.clone(), watched.servers.clone());
    let (watching, tells_others) = (watched.watching(Rank::Dashboard), !options.names_a_server());
    let done =
        show(Settings { config, watching, servers, source, greeting: None, hint: completed, tells_others }).await;
    // The background process may have been killed meanwhile.
    watched.leave_to_background(options).await;
    done
}

/// The demo says at its start that it is one, because its answers look real.
const DEMO: &str = "demo: the agents are recordings, and go on as recorded whatever you answer or send";

/// Opens the dashboard of the demo on its server with its configuration; only how it polls comes from the user's.
///
/// # Errors
/// The user's configuration or a profile is wrong, or there is no terminal to draw on.
pub async fn run_on(server: ServerId, config: Config, options: &GlobalOptions) -> Done {
    let (again, demo, servers) = (options.clone(), config.clone(), vec![server]);
    let there = servers.clone();
    let read = move || {
        let own = Loaded::find(&again.search_path())?.config;
        Ok((Config { ui: own.ui, templates: own.templates, ..demo.clone() }, there.clone()))
    };
    let source = LoadSource::new(candidates(options), read, read_profiles(options));
    let own = options.load()?.config;
    let config = Config { ui: own.ui, templates: own.templates, ..config };
    let profiles = Arc::new(options.profiles()?);
    let watching = owner::Settings { rank: Rank::Dashboard, ..owner::Settings::new(&config, profiles) };
    let (greeting, hint) = (Some(DEMO), completed);
    show(Settings { config, watching, servers, source, greeting, hint, tells_others: false }).await
}

/// A function that reads the profiles again.
fn read_profiles(options: &GlobalOptions) -> impl Fn() -> ProfilesResult + Send + Sync + 'static {
    let options = options.clone();
    move || options.profiles().map_err(|failure| (failure.to_string(), failure.remedy().unwrap_or_default().to_owned()))
}

/// Where a configuration may be; keymap, themes and profiles are beside it.
pub(super) fn candidates(options: &GlobalOptions) -> Vec<PathBuf> {
    options.search_path().candidates().iter().map(|candidate| candidate.path.clone()).collect()
}

async fn show(settings: Settings) -> Done {
    match app::run(settings).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::usage(&error).hint(error.hint())),
    }
}
