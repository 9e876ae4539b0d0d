//! Completions and the man page, made from the same description as `--help`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode, Stdio};
use std::sync::Arc;

use clap::{Arg, Command, FromArgMatches};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, ArgValueCompleter, CompleteEnv, CompletionCandidate};

use super::commands::{GROUPS, is_everyday};
use super::options::GLOBAL;
use super::output::wait_for;
use super::survey::{Survey, Watched};
use super::{Done, Failure, GlobalOptions, console, output};
use crate::dialog::Choice;
use crate::engine::{Freshness, PATIENCE};
use crate::fleet::{self, Fleet};
use crate::operation::Key;
use crate::present::filter::{Filter, filter_completions};
use crate::present::item::Item;
use crate::present::target::nearest_or;
use crate::present::text::counted;
use crate::time::Timestamp;
use crate::tmux::{homes, of_user};

/// What the exit codes of every command mean (SPEC §12).
pub const EXIT_CODES: [(u8, &str); 4] = [
    (0, "success"),
    (1, "refused, failed, timed out or not found"),
    (2, "wrong usage or configuration"),
    (3, "unverified: it may have been done, but that was not seen in time"),
];

/// What every command takes from its environment.
const VARIABLES: [(&str, &str); 6] = [
    ("FLEETWATCH_CONFIG", "the configuration file, where `--config` names none"),
    ("NO_COLOR", "if set to anything, nothing is coloured"),
    ("TMUX", "the tmux server to watch, where neither an option nor the configuration names one"),
    ("XDG_CONFIG_HOME", "the directory for configurations; default: ~/.config"),
    ("XDG_RUNTIME_DIR", "the directory for the sockets over which fleetwatch processes talk; default: in the next one"),
    ("XDG_STATE_HOME", "the directory for the history; default: ~/.local/state"),
];
/// The files that every command uses, where no variable says otherwise.
const FILES: [(&str, &str); 2] = [
    ("~/.config/fleetwatch/config.toml", "the configuration; keymaps, themes and profiles are beside it"),
    ("~/.local/state/fleetwatch/history.db", "what happened and what was sent"),
];

/// The exit codes in one line, for the help.
pub fn exit_codes() -> String {
    let codes: Vec<String> = EXIT_CODES.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
    format!("Exit codes: {}.", codes.join("; "))
}

/// The command with help for people: the commands in groups, and in each of them an example in place of the options that
/// every command has.
pub fn with_help(mut command: Command) -> Command {
    // Building hands the global options down to the commands.
    command.build();
    let mut groups = String::new();
    let mut rest: Vec<&str> = command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
    for (group, names) in GROUPS {
        rest.retain(|name| !names.contains(name));
        for (nth, name) in names.iter().enumerate() {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let head = if nth == 0 { group } else { "" };
            groups.push_str(&format!("  {head:<7} {name:<8} {}\n", about.unwrap_or_default()));
        }
    }
    groups.push_str(&format!("  More    {}\n", rest.join(", ")));
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\nCommands:\n{}\nOptions:\n{{options}}{{after-help}}",
        console::wrapped(&groups)
    );
    command.help_template(template).mut_subcommands(with_example)
}

/// A command with its example in the help, and the same for the commands below it.
fn with_example(command: Command) -> Command {
    let is_of_all = |arg: &Arg| arg.get_help_heading() == Some(GLOBAL);
    let command = command.mut_args(|arg| if is_of_all(&arg) { arg.hide(true) } else { arg });
    let command = command.after_help("Options of every command (-L, -S, --host, …): `fleetwatch --help`");
    command
        .help_template("{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}")
        .mut_subcommands(with_example)
}

/// Print completions for a shell, to be read at its start.
///
/// The shell asks fleetwatch itself, so names of terminals, tasks and columns are completed too. What to put where:
///
/// bash, in ~/.bashrc: `source <(fleetwatch completions bash)`
///
/// zsh, in ~/.zshrc behind `compinit`: `source <(fleetwatch completions zsh)`
///
/// fish, in ~/.config/fish/config.fish: `fleetwatch completions fish | source`
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch completions bash")]
pub struct CompletionArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Show a man page, or write all of them.
///
/// On a terminal, `man` shows it. In a pipe, its source is printed, for `man -l -`. To install all pages where `man` finds
/// them: `fleetwatch man --all ~/.local/share/man/man1`. The directory is made if the one above it exists.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch man tasks kill")]
pub struct ManArgs {
    /// The command whose page to show, such as `list` or `tasks kill`; default: the program's.
    pub command: Vec<String>,
    /// Write the pages of all commands into this directory.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    pub all: Option<PathBuf>,
}

/// The variable by which a shell asks for completions.
const ASKED: &str = "FLEETWATCH_COMPLETE";

/// Prints what makes a shell ask for completions.
pub fn completions(args: &CompletionArgs) -> Done {
    let (mut text, shell, name) = (Vec::new(), args.shell.to_string(), "fleetwatch");
    if let Some(shell) = Shells::builtins().completer(&shell) {
        shell.write_registration(ASKED, name, name, name, &mut text)?;
    }
    let text = String::from_utf8_lossy(&text);
    output::print(&if args.shell == clap_complete::Shell::Bash { quoting(&text) } else { text.into_owned() })
}

/// Completions for bash that quote what needs it, such as names with blanks: bash takes what it is given as it is, unlike other
/// shells. A word that begins with a quote ends with one. A comma needs no quotes, and what was quoted would not be completed further.
fn quoting(script: &str) -> String {
    const DONE: &str = "    if [[ $? != 0 ]]; then\n        unset COMPREPLY\n    elif";
    const QUOTE: &str = "    if [[ $? != 0 ]]; then\n        unset COMPREPLY\n    elif [[ \"${COMP_WORDS[COMP_CWORD]}\" != [\\\"\\']* ]]; then\n        \
                         local nth\n        for nth in \"${!COMPREPLY[@]}\"; do\n            \
                         printf -v \"COMPREPLY[$nth]\" %q \"${COMPREPLY[nth]}\"\n            \
                         COMPREPLY[nth]=\"${COMPREPLY[nth]//\\\\,/,}\"\n        done\n    fi\n    if";
    script.replacen(DONE, QUOTE, 1)
}

/// Answers a shell that asks for completions, and ends the process then.
pub fn complete(command: fn() -> Command) {
    CompleteEnv::with_factory(|| with_names(command(), command)).var(ASKED).complete();
}

/// The command with the names of what is watched for each target, and with the words of a filter.
fn with_names(command: Command, whole: fn() -> Command) -> Command {
    let name = command.get_name().to_owned();
    let may_be = move |item: &Item<'_>| match name.as_str() {
        "kill" | "rerun" => item.terminal().is_none(),
        "send" | "answer" | "record" => item.terminal().is_some(),
        _ => true,
    };
    let candidates = ArgValueCandidates::new(move || names(whole(), &may_be).unwrap_or_default());
    let words = ArgValueCompleter::new(move |word: &OsStr| filter_words(whole(), word));
    let completed = |arg: Arg| match arg.get_id().as_str() {
        "target" | "targets" => arg.add(candidates.clone()),
        "filter" => arg.add(words.clone()),
        "socket_name" => arg.add(ArgValueCandidates::new(sockets)),
        "choice" => arg.add(ArgValueCandidates::new(move || choices(whole()).unwrap_or_default())),
        "keys" => arg.add(ArgValueCandidates::new(|| Key::names().into_iter().map(CompletionCandidate::new).collect())),
        _ => arg,
    };
    command.mut_args(completed).mut_subcommands(|command| with_names(command, whole))
}

/// The names of the sockets on which this user's tmux servers may listen.
fn sockets() -> Vec<CompletionCandidate> {
    let files = homes().into_iter().filter_map(|home| std::fs::read_dir(of_user(&home)).ok()).flatten().flatten();
    let is_socket = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_socket());
    let names: BTreeSet<OsString> = files.filter(is_socket).map(|entry| entry.file_name()).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The words of the line that is completed.
fn typed() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}

/// The place of the word that is completed; 0 where a shell does not tell.
fn completed_word() -> usize {
    std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok()).unwrap_or_default()
}

/// What the options typed so far watch.
fn survey(command: Command) -> Option<Survey> {
    let options =
        GlobalOptions::from_arg_matches(&command.ignore_errors(true).try_get_matches_from(typed()).ok()?).ok()?;
    let survey = async { Watched::new(&options)?.survey_quietly(Freshness::Known).await };
    wait_for(async { Ok(tokio::time::timeout(PATIENCE, survey).await) }).ok()?.ok()?.ok()
}

/// The names of what is watched, with its states.
fn names(command: Command, may_be: &dyn Fn(&Item<'_>) -> bool) -> Option<Vec<CompletionCandidate>> {
    let survey = survey(command)?;
    let view = survey.fleet.view(survey.now);
    let named =
        |item: Item<'_>| CompletionCandidate::new(item.id()).help(Some(item.status().word().into_owned().into()));
    Some(Item::all(&view).into_iter().filter(may_be).map(named).collect())
}

/// What chooses the options of the dialog of the terminal that is named.
fn choices(command: Command) -> Option<Vec<CompletionCandidate>> {
    let survey = survey(command)?;
    let typed: Vec<OsString> = typed().collect();
    let view = survey.fleet.view(survey.now);
    let mut named = view.terminals.iter().filter(|it| typed.iter().any(|word| *word == *it.state.terminal.id));
    let options = named.next().and_then(|terminal| terminal.dialog.as_ref()).map(|dialog| &dialog.options);
    let choice = |option: &Choice| CompletionCandidate::new(&option.name).help(Some(option.label.clone().into()));
    Some(options.into_iter().flatten().map(choice).collect())
}

/// The words that a filter may go on with.
fn filter_words(command: Command, word: &OsStr) -> Vec<CompletionCandidate> {
    let word = word.to_string_lossy();
    let field = field_before(&typed().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>(), &word);
    // Most words are the same whatever is watched.
    let survey = survey(command);
    let nothing = Fleet::new(fleet::Settings::default(), Arc::default());
    let view = survey.as_ref().map_or_else(|| nothing.view(Timestamp::default()), |it| it.fleet.view(it.now));
    let meant = filter_completions(&format!("{field}{word}"), &view);
    let rest = meant.iter().filter_map(|meant| meant.strip_prefix(&field));
    rest.map(CompletionCandidate::new).collect()
}

/// The field that bash has split off the word that is completed, for which a colon ends a word.
fn field_before(typed: &[String], word: &str) -> String {
    match &typed[..completed_word().min(typed.len())] {
        [.., field, colon] if colon == ":" => format!("{field}:"),
        // Right behind the colon, bash passes nothing in its place.
        [_, .., field] if word.is_empty() && Filter::has_field(field.trim_start_matches('!')) => format!("{field}:"),
        _ => String::new(),
    }
}

/// A command without the `help` commands below it, which have no pages.
fn without_help(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    names.into_iter().fold(command.disable_help_subcommand(true), |all, name| all.mut_subcommand(name, without_help))
}

/// Shows the page of the program or of one of its commands, or writes all pages.
pub fn man(args: &ManArgs, command: Command) -> Done {
    let mut command = without_help(command);
    // Building gives the commands the names that their pages have, such as `fleetwatch-list`.
    command.build();
    if let Some(directory) = &args.all {
        let unwritable = |error: io::Error| {
            Failure::usage(format!("{} cannot be written: {error}", directory.display())).hint(match error.kind() {
                // Whoever has mistyped a path wants no directories of that name.
                ErrorKind::NotFound => "make the directory above it first, with `mkdir -p`",
                _ => "name a directory in which you may write",
            })
        };
        let made = match std::fs::create_dir(directory) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        let count = made.and_then(|()| write_pages(directory, &command));
        let count = count.map_err(unwritable)?;
        return output::print(&format!("wrote {} into {}\n", counted(count, "man page"), directory.display()));
    }
    let mut page = &command;
    for name in &args.command {
        page = page.find_subcommand(name).filter(|found| !found.is_hide_set()).ok_or_else(|| {
            let otherwise = format!("`{} --help` lists the commands", page.get_bin_name().unwrap_or("fleetwatch"));
            let names = page.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
            Failure::usage(format!("there is no command `{}`", args.command.join(" ")))
                .hint(nearest_or(name, names, &otherwise))
        })?;
    }
    let text = text_of(page, args.command.is_empty())?;
    if io::stdout().is_terminal() && is_shown(&text) {
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&text)
}

/// Has `man` show a page on this terminal; whether it could.
fn is_shown(page: &str) -> bool {
    let Ok(mut man) = process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn() else {
        return false;
    };
    if let Some(mut to_man) = man.stdin.take() {
        // Whoever leaves the page before its end reads no more of it.
        let written = to_man.write_all(page.as_bytes());
        written.err().into_iter().for_each(|error| tracing::debug!(%error, "man did not read all of the page"));
    }
    man.wait().is_ok_and(|status| status.success())
}

/// Writes the page of a command and of those below it; returns how many these are.
fn write_pages(directory: &Path, command: &Command) -> io::Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let page = directory.join(format!("{name}.1"));
    std::fs::write(page, text_of(command, command.get_name() == name)?)?;
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    below.map(|below| write_pages(directory, below)).try_fold(1, |count, written| Ok(count + written?))
}

/// The page of a command; that of the program has its variables and files as well.
fn text_of(page: &Command, is_whole: bool) -> io::Result<String> {
    // The synopsis is that of `--help`, because clap_mangen's has no values. The exit codes have a section of their own.
    let usage = page.clone().render_usage().to_string().replace('\\', "\\e").replace('-', "\\-");
    let usage = usage.trim_start_matches("Usage: ");
    let (mut head, mut text) = (Vec::new(), Vec::new());
    let example = page.get_before_help().map(ToString::to_string).unwrap_or_default();
    let version = concat!("fleetwatch ", env!("FLEETWATCH_VERSION"));
    let man = clap_mangen::Man::new(page.clone().after_help("")).source(version);
    man.render_title(&mut head)?;
    man.render_name_section(&mut head)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if page.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let [head, text] = [head, text].map(|part| String::from_utf8_lossy(&part).into_owned());
    let mut text = format!("{head}.SH SYNOPSIS\n{usage}\n{text}");
    let own = |example: &str| Some(example.strip_prefix("Example: ")?.replace('\\', "\\e").replace('-', "\\-"));
    let below = page.get_subcommands().filter(|it| !it.is_hide_set() && (!is_whole || is_everyday(it.get_name())));
    let below = below.filter_map(|it| own(&it.get_before_help()?.to_string()));
    let mut examples: Vec<String> = own(&example).into_iter().collect();
    examples.extend(below.filter(|example| !examples.contains(example)).collect::<Vec<_>>());
    if !examples.is_empty() {
        text.push_str(&format!(".SH EXAMPLES\n{}\n", examples.join("\n.br\n")));
    }
    text.push_str(".SH \"EXIT STATUS\"\n");
    for (code, meaning) in EXIT_CODES {
        text.push_str(&format!(".TP\n{code}\n{meaning}\n"));
    }
    if is_whole {
        for (title, entries) in [("ENVIRONMENT", &VARIABLES[..]), ("FILES", &FILES)] {
            text.push_str(&format!(".SH {title}\n"));
            for (name, meaning) in entries {
                text.push_str(&format!(".TP\n{name}\n{meaning}\n").replace('-', "\\-"));
            }
        }
    }
    let words: Vec<&str> = page.get_bin_name().unwrap_or("fleetwatch").split(' ').collect();
    let above = (1..words.len()).rev().map(|nth| words[..nth].join("-")).chain(["tmux".to_owned()]);
    let above: Vec<String> = above.map(|name| format!("\\fB{}\\fR(1)", name.replace('-', "\\-"))).collect();
    text.push_str(&format!(".SH \"SEE ALSO\"\n{}\n", above.join(", ")));
    Ok(text)
}
