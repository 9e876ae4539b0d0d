//! `fleetwatch profiles`: the rules that read screens.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::list::aligned;
use super::{Done, Failure, GlobalOptions, console, output};
use crate::config::ConfigError;
use crate::profile::{ProfileSet, Versions};

/// List, show or check the rules that read screens.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch profiles show claude")]
#[command(args_conflicts_with_subcommands = true)]
pub struct ProfilesArgs {
    #[command(flatten)]
    list: ListedProfiles,
    #[command(subcommand)]
    command: Option<ProfilesCommand>,
}

/// How profiles are listed.
#[derive(Clone, Debug, clap::Args)]
struct ListedProfiles {
    /// Print one JSON array: `{"agent", "name", "profile", "min", "max", "recorded"}`.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, Subcommand)]
enum ProfilesCommand {
    /// List all profiles, including your own (the default).
    #[command(before_help = "Example: fleetwatch profiles list --json")]
    List(ListedProfiles),
    /// Print an agent's built-in profiles, to start your own from.
    #[command(before_help = "Example: fleetwatch profiles show claude > mine.toml")]
    Show {
        /// The agent, by its name in `profiles list`.
        #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(ProfileSet::shipped_tools()))]
        tool: String,
    },
    /// Check a file of profiles and report errors with line and column.
    #[command(before_help = "Example: fleetwatch profiles check mine.toml")]
    Check {
        /// The file.
        file: PathBuf,
    },
}

/// Runs the command.
///
/// # Errors
/// A profile is wrong, or there is no such agent.
pub fn run(args: &ProfilesArgs, options: &GlobalOptions) -> Done {
    match args.command.as_ref().unwrap_or(&ProfilesCommand::List(args.list.clone())) {
        ProfilesCommand::List(listed) => list(&options.profiles()?, listed.json),
        ProfilesCommand::Show { tool } => output::print(ProfileSet::shipped(tool).unwrap_or_default()),
        ProfilesCommand::Check { file } => check(file),
    }
}

/// What is listed of a profile.
#[derive(Serialize)]
struct ListedProfile<'a> {
    agent: &'a str,
    name: &'a str,
    profile: &'a str,
    /// The versions that it is for, before `max`.
    min: &'a str,
    max: Option<&'a str>,
    /// Those of which there are recordings; `None` where all are trusted.
    recorded: Option<&'a [String]>,
}

fn list(set: &ProfileSet, json: bool) -> Done {
    let listed = set.profiles().map(|profile| {
        let Versions { min, max, recorded } = profile.versions();
        let (agent, profile) = (profile.tool(), profile.id());
        let name = set.label(agent).unwrap_or_default();
        ListedProfile { agent, name, profile, min, max: max.as_deref(), recorded: recorded.as_deref() }
    });
    if json {
        return output::print_json_array(listed);
    }
    let row = |ListedProfile { agent, name, profile, min, max, recorded }: ListedProfile<'_>| {
        let interval = max.map_or(format!("from {min}"), |max| format!("from {min}, before {max}"));
        let recorded = match recorded {
            None => "all trusted".to_owned(),
            Some([]) => "none recorded".to_owned(),
            Some(versions) => format!("recorded {}", versions.join(", ")),
        };
        [agent, name, profile, &interval, &recorded].map(str::to_owned).to_vec()
    };
    let head = ["AGENT", "NAME", "PROFILE", "VERSIONS", "RECORDED"];
    output::print(&aligned(&head, &listed.map(row).collect::<Vec<_>>(), console::terminal_width()))
}

fn check(file: &Path) -> Done {
    let name = file.display().to_string();
    let content = std::fs::read_to_string(file).map_err(|error| {
        let failure = Failure::from(ConfigError::unreadable(file, &error));
        failure.hint("`fleetwatch profiles show claude` prints one to start from")
    })?;
    let profiles = ProfileSet::check(&name, &content).map_err(|error| {
        Failure::usage(error)
            .hint("docs/configuration.md says what a profile has; `fleetwatch profiles show claude` prints one")
    })?;
    output::print(&format!("{name}: ok: {}\n", profiles.join(", ")))
}
