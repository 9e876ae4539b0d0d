//! `--connect`: what another machine watches, through the `fleetwatch serve` that runs there.

use std::path::Path;
use std::sync::Arc;

use super::survey::{Watched, allow_files};
use super::{Command, Failure, GlobalOptions};
use crate::fleet::ServerId;
use crate::history;
use crate::http::{Endpoint, HttpError};
use crate::owner::{self, Rank, Remote};
use crate::poll;
use crate::private;
use crate::profile::ProfileSet;
use crate::tmux;

/// The variable that has the token.
const TOKEN: &str = "FLEETWATCH_TOKEN";

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Address { .. } => Failure::usage(&error).hint(error.hint()),
            _ => Failure::refused(&error).hint(error.hint()),
        }
    }
}

/// Refuses what cannot be done through `--connect`.
///
/// # Errors
/// As said.
pub(super) fn check(command: Option<&Command>, options: &GlobalOptions) -> Result<(), Failure> {
    let works = matches!(
        command,
        None | Some(
            Command::List(_)
                | Command::Watch(_)
                | Command::Wait(_)
                | Command::Send(_)
                | Command::Keys(_)
                | Command::Answer(_)
        )
    );
    if works || options.connect.is_none() {
        return Ok(());
    }
    Err(Failure::usage("this works on the machine itself only")
        .hint("through `--connect` there are the dashboard, `list`, `watch`, `wait`, `send`, `answer` and `keys`"))
}

/// Whom to ask, with the token that is good there.
fn endpoint(url: &str, options: &GlobalOptions) -> Result<Endpoint, Failure> {
    let endpoint = Endpoint::new(url, options.ca.as_deref())?;
    if !endpoint.is_private() && !options.insecure {
        return Err(Failure::usage(format!(
            "what is said to {} is not encrypted, the token included",
            endpoint.place()
        ))
        .hint("use https, or a tunnel (`ssh -L 7717:localhost:7717 HOST`); `--insecure` does it all the same"));
    }
    Ok(endpoint.with_token(&token(options)?)?)
}

/// The token: from the file that is named, else from the environment.
fn token(options: &GlobalOptions) -> Result<String, Failure> {
    let told = match &options.token_file {
        Some(path) => read_token(path)?,
        None => std::env::var(TOKEN).unwrap_or_default(),
    };
    let told = told.trim();
    if told.is_empty() {
        return Err(Failure::usage("there is no token")
            .hint(format!("`fleetwatch token add NAME` there prints one, for {TOKEN} or a file for `--token-file`")));
    }
    Ok(told.to_owned())
}

fn read_token(path: &Path) -> Result<String, Failure> {
    let unusable = |why: String| {
        Failure::usage(format!("the token in {} cannot be used: {why}", path.display()))
            .hint(format!("it must be your own file, `chmod 600 {}`", path.display()))
    };
    let bytes = private::read_secret(path).map_err(|error| unusable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unusable("it is no text".to_owned()))
}

impl Watched {
    /// What the options and the configuration ask to watch, here or on another machine.
    ///
    /// # Errors
    /// As [`Watched::new`], or nobody answers there.
    pub(super) async fn open(options: &GlobalOptions) -> Result<Self, Failure> {
        match &options.connect {
            Some(url) => Self::afar(url, options).await,
            None => Self::new(options),
        }
    }

    async fn afar(url: &str, options: &GlobalOptions) -> Result<Self, Failure> {
        let mut loaded = options.load()?;
        let endpoint = endpoint(url, options)?;
        let place: Arc<str> = endpoint.place().into();
        let (remote, welcome, ahead) = Remote::open(endpoint).await?;
        history::go_by_clock_ahead(ahead);
        // What happens there is kept there.
        loaded.config.history.enabled = false;
        loaded.config.watch.background = false;
        let mut profiles = ProfileSet::builtin();
        for (file, text) in &welcome.profiles {
            profiles.add(file, text).map_err(|error| {
                Failure::refused(format!("{place} reads screens by a profile that cannot be used here: {error}"))
                    .hint("install the same version on both machines")
            })?;
        }
        let poll = poll::Settings {
            tmux: tmux::Settings { elsewhere: Some(place), ..tmux::Settings::default() },
            git: true,
            ..poll::Settings::default()
        };
        let (fleet, rank) = (welcome.fleet, Rank::Reader);
        let settings = owner::Settings { poll, profiles: Arc::new(profiles), fleet, rank, remote: Some(remote) };
        let servers: Vec<ServerId> = welcome.servers;
        allow_files(servers.len());
        Ok(Self { loaded, servers, settings })
    }
}
