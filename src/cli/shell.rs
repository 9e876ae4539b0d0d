//! Completions and the man page, made from the same description as `--help`.

use clap::Command;

use super::{Done, Failure, output};

/// What the exit codes of every command mean (SPEC §12).
pub const EXIT_CODES: [(u8, &str); 4] = [
    (0, "success"),
    (1, "refused, failed, timed out or not found"),
    (2, "wrong usage or configuration"),
    (3, "unverified: it may have been done, but that was not seen in time"),
];

/// The exit codes in one line, for the help.
pub fn exit_codes() -> String {
    let codes: Vec<String> = EXIT_CODES.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
    format!("Exit codes: {}.", codes.join("; "))
}

/// Print completions for a shell.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Print a man page, for `man -l -`.
#[derive(Clone, Debug, clap::Args)]
pub struct ManArgs {
    /// The command whose page to print, such as `list` or `tasks kill`; default: the program's.
    pub command: Vec<String>,
}

/// Prints completions.
pub fn completions(args: &CompletionArgs, mut command: Command) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "fleetwatch", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

/// A command without the `help` commands below it, which have no pages.
fn without_help(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    names.into_iter().fold(command.disable_help_subcommand(true), |all, name| all.mut_subcommand(name, without_help))
}

/// Prints the page of the program, or of one of its commands; each ends with the exit codes.
pub fn man(args: &ManArgs, command: Command) -> Done {
    let mut command = without_help(command);
    // Building gives the commands the names that their pages have, such as `fleetwatch-list`.
    command.build();
    let mut page = &command;
    for name in &args.command {
        page = page.find_subcommand(name).filter(|found| !found.is_hide_set()).ok_or_else(|| {
            Failure::usage(format!("there is no command `{}`", args.command.join(" ")))
                .hint(format!("`{} --help` lists the commands", page.get_bin_name().unwrap_or("fleetwatch")))
        })?;
    }
    // The synopsis is that of `--help`, because clap_mangen's has no values. The exit codes have a section of their own.
    let usage = page.clone().render_usage().to_string().replace('\\', "\\e").replace('-', "\\-");
    let usage = usage.trim_start_matches("Usage: ");
    let (mut head, mut text) = (Vec::new(), Vec::new());
    let man = clap_mangen::Man::new(page.clone().after_help(""));
    man.render_title(&mut head)?;
    man.render_name_section(&mut head)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if page.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let [head, text] = [head, text].map(|part| String::from_utf8_lossy(&part).into_owned());
    let mut text = format!("{head}.SH SYNOPSIS\n{usage}\n{text}");
    text.push_str(".SH \"EXIT STATUS\"\n");
    for (code, meaning) in EXIT_CODES {
        text.push_str(&format!(".TP\n{code}\n{meaning}\n"));
    }
    output::print(&text)
}
