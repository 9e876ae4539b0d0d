//! `fleetwatch serve` and `fleetwatch token` in a build without the feature `serve`: how to get them.

use super::{Done, Failure, GlobalOptions};
use crate::http::WITHOUT;

/// Serve the fleet over HTTP: this fleetwatch was built without it.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch serve --qr")]
pub struct ServeArgs {
    /// What is for a build with the feature.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Make tokens for `serve`: this fleetwatch was built without it.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch token add phone --scope act")]
pub struct TokenArgs {
    /// What is for a build with the feature.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub async fn run(_args: &ServeArgs, _options: &GlobalOptions) -> Done {
    refuse()
}

pub fn token(_args: &TokenArgs) -> Done {
    refuse()
}

fn refuse() -> Done {
    let (what, hint) = WITHOUT;
    Err(Failure::usage(what).hint(hint))
}
