//! Completions and the man page, made from the same description as `--help`.

use clap::Command;

use super::{Done, Failure, output};

/// Print the completions for a shell.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Print a man page, for `man -l -`.
#[derive(Clone, Debug, clap::Args)]
pub struct ManArgs {
    /// The command whose page is printed; without it, the program's.
    pub command: Option<String>,
}

/// Prints completions.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(args: &CompletionArgs, mut command: Command) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "fleetwatch", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

/// Prints the page of the program, or of one of its commands.
///
/// # Errors
/// There is no such command, or standard output cannot be written.
pub fn man(args: &ManArgs, mut command: Command) -> Done {
    // Building gives the commands the names that their pages have, such as `fleetwatch-list`.
    command.build();
    let page = match &args.command {
        None => &command,
        Some(name) => command.find_subcommand(name).filter(|found| !found.is_hide_set()).ok_or_else(|| {
            Failure::usage(format!("there is no command `{name}`")).hint("`fleetwatch --help` lists the commands")
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page.clone()).render(&mut text)?;
    output::print(&String::from_utf8_lossy(&text))
}
