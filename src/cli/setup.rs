//! `fleetwatch setup`: a popup, a summary in the status line and notices, written into the operator's files after they saw
//! the change and said yes.

mod plan;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use self::plan::{Notices, TmuxSettings};
use super::failure::{nothing, quoted};
use super::{Done, Failure, GlobalOptions, output};
use crate::config::{Config, WILD_IN_PATH, files_named};
use crate::private::Revision;

/// How deep tmux's files may include each other.
const DEEPEST: usize = 5;
/// The number of wrong answers after which setup gives up.
const PATIENCE: usize = 5;

/// Offer a popup key, a status line and notices.
///
/// Each change is shown, and written only if you say yes.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch setup --print")]
pub struct SetupArgs {
    /// Print the change that adds everything still missing, without asking or writing.
    #[arg(long)]
    print: bool,
}

/// A file of the operator with the proposed change.
#[derive(Debug)]
struct Proposal {
    /// The path as the operator knows it, and with links resolved.
    path: PathBuf,
    target: PathBuf,
    /// `None` if there is no such file.
    old: Option<String>,
    new: String,
}

/// Runs the command.
///
/// # Errors
/// There is no terminal to ask in, a file cannot be read or written, or the operator did not say yes.
pub fn run(args: &SetupArgs, options: &GlobalOptions) -> Done {
    let can_ask = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !args.print && !can_ask {
        return Err(Failure::usage("there is no terminal to ask questions in")
            .hint("`fleetwatch setup --print` prints what it would write"));
    }
    let program = program()?;
    let mut asking = Confirmation { is_silent: args.print };
    let tmux = tmux_proposal(&program, &mut asking)?;
    let config = config_proposal(options, &mut asking)?;
    let proposals: Vec<Proposal> = [tmux, config].into_iter().flatten().filter(Proposal::changes).collect();
    if proposals.is_empty() {
        return output::print("there is nothing to change\n");
    }
    let shown = proposals.iter().map(Proposal::shown).collect::<Vec<_>>().join("\n");
    if args.print {
        return output::print(&shown);
    }
    output::write(&format!("\n{shown}\n"))?;
    if !asking.yes("Write this? Old files are kept as NAME.before-fleetwatch.", false)? {
        output::print("nothing was written\n")?;
        return Ok(ExitCode::FAILURE);
    }
    write(proposals)
}

/// Prepares all files before it replaces any, so that one that cannot be written keeps the others as they are.
fn write(proposals: Vec<Proposal>) -> Done {
    let mut ready = Vec::new();
    for proposal in proposals {
        let old = proposal.old.as_ref().map(String::as_bytes);
        let revision = Revision::prepare(&proposal.target, old, proposal.new.as_bytes()).map_err(|error| {
            Failure::refused(format!("nothing was written: {}: {error}", proposal.path.display()))
                .hint("`fleetwatch setup --print` prints the lines, to be added by hand")
        })?;
        ready.push((proposal, revision));
    }
    let mut done = String::new();
    for (Proposal { path, .. }, revision) in ready {
        let kept = revision.commit().map_err(|error| {
            Failure::refused(format!("{done}{} was not written: {error}", path.display()))
                .hint("`fleetwatch setup` offers again what is still missing")
        })?;
        done.push_str(&format!("{} is written", path.display()));
        done.push_str(&kept.map_or("\n".to_owned(), |kept| format!("; its old text is in {}\n", kept.display())));
        if path.extension() != Some(OsStr::new("toml")) {
            done.push_str(&format!(
                "a running tmux reads it with: tmux source-file {}\n",
                quoted(&path.display().to_string())
            ));
        }
    }
    Ok(output::acted(done.trim_end(), output::print(&done)))
}

impl Proposal {
    /// Reads a file, following links.
    fn of(path: PathBuf) -> Result<Self, Failure> {
        let is_link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(_) if !is_link => path.clone(),
            Err(error) => {
                let hint = "create the file that it points to, or remove the link";
                return Err(Failure::refused(format!("{} points nowhere: {error}", path.display())).hint(hint));
            }
        };
        let old = text(&target)?;
        Ok(Self { path, target, new: old.clone().unwrap_or_default(), old })
    }

    fn changes(&self) -> bool {
        self.old.as_ref().map_or(!self.new.is_empty(), |old| *old != self.new)
    }

    /// The change, as `diff -u` writes it.
    fn shown(&self) -> String {
        let name = match self.path == self.target {
            true => self.path.display().to_string(),
            false => format!("{} (behind {})", self.target.display(), self.path.display()),
        };
        plan::diff(&name, self.old.as_deref(), &self.new)
    }
}

/// The text of a file; `None` if there is none.
fn text(path: &Path) -> Result<Option<String>, Failure> {
    crate::private::check_file(path).or_else(|error| match error.kind() {
        // A file of somebody else is only read.
        ErrorKind::PermissionDenied => Ok(()),
        _ => Err(error),
    })?;
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::refused(format!("{} cannot be read: {error}", path.display()))
            .hint("setup changes only your own files that it can read as text")),
    }
}

/// The change to tmux's configuration.
fn tmux_proposal(program: &str, asking: &mut Confirmation) -> Result<Option<Proposal>, Failure> {
    let home = home().context("without a home directory there is no configuration of tmux")?;
    let files = tmux_files(&home);
    let there: Vec<&PathBuf> = files.iter().filter(|path| path.symlink_metadata().is_ok()).collect();
    let mut settings = TmuxSettings::default();
    for path in [&PathBuf::from("/etc/tmux.conf")].into_iter().chain(there.iter().copied()) {
        read(&mut settings, path, &home, DEEPEST);
    }
    if let Some(name) = settings.unread.first() {
        let what = format!(
            "nothing is proposed for tmux: its configuration reads {name}, and only tmux knows which files those are"
        );
        nothing(what, "the lines for the popup and the status line are in the README")?;
        return Ok(None);
    }
    // tmux reads all of them, one after the other.
    let Some(path) = there.last().copied().or(files.first()) else { return Ok(None) };
    let mut proposal = Proposal::of(path.clone())?;
    match (settings.popup, settings.free_key()) {
        (true, _) => asking.tell("there is already a key for the popup")?,
        (false, None) => {
            asking.tell("no key is free for the popup among F, W, A and Y: bind one to `fleetwatch` yourself")?
        }
        (false, Some(key)) => {
            if asking.yes(&format!("Open the dashboard in a popup with prefix {key}?"), true)? {
                proposal.new = plan::appended(&proposal.new, &TmuxSettings::popup_lines(key, program));
            }
        }
    }
    if settings.status {
        asking.tell("the status line already has the summary")?;
    } else if asking.yes("Show in tmux's status line how many agents need you?", true)? {
        proposal.new = plan::appended(&proposal.new, &settings.status_lines(program));
    }
    Ok(Some(proposal))
}

/// The operator's configurations of tmux, in the order in which tmux reads them. If there is none, the first is made.
fn tmux_files(home: &Path) -> Vec<PathBuf> {
    let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut files = vec![home.join(".tmux.conf")];
    files.extend(xdg.map(|directory| directory.join("tmux/tmux.conf")));
    let usual = home.join(".config/tmux/tmux.conf");
    let is_there_by_another_name = files
        .iter()
        .any(|file| file.canonicalize().is_ok_and(|file| usual.canonicalize().is_ok_and(|usual| file == usual)));
    if !files.contains(&usual) && !is_there_by_another_name {
        files.push(usual);
    }
    files
}

/// Reads a file and those that it includes; unreadable ones are skipped.
fn read(settings: &mut TmuxSettings, path: &Path, home: &Path, deep: usize) {
    let Ok(Some(text)) = text(path) else { return };
    for name in settings.read(&text) {
        let under_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| name.strip_prefix(start));
        let path = under_home.map_or_else(|| PathBuf::from(&name), |rest| home.join(rest));
        match meant(&path).filter(|_| deep > 0) {
            Some(files) => files.iter().for_each(|file| read(settings, file, home, deep - 1)),
            None => settings.unread.push(name),
        }
    }
}

/// The files that a path in tmux's configuration means; its last name may be a pattern. `None` if only tmux can tell.
fn meant(path: &Path) -> Option<Vec<PathBuf>> {
    let is_plain = path.is_absolute() && !path.to_str()?.contains(['#', '$', '\\']);
    (is_plain && !path.parent()?.to_str()?.contains(WILD_IN_PATH)).then(|| files_named(path))
}

/// The change to fleetwatch's own configuration.
fn config_proposal(options: &GlobalOptions, asking: &mut Confirmation) -> Result<Option<Proposal>, Failure> {
    let loaded = options.load()?;
    let first = || options.search_path().candidates().first().map(|candidate| candidate.path.clone());
    let Some(path) = loaded.path.or_else(first) else { return Ok(None) };
    let mut proposal = Proposal::of(path)?;
    let table = proposal.new.parse().context("the configuration is not a table")?;
    if plan::tells_of_notices(&table) {
        asking.tell("the configuration already says how you are notified")?;
        return Ok(None);
    }
    let notices = asking.notices()?;
    let new = plan::with_notices(&proposal.new, notices).filter(|new| Config::parse(new, &proposal.path).is_ok());
    match new {
        Some(new) => proposal.new = new,
        None => {
            let path = proposal.path.display();
            asking.tell(&format!(
                "{path} cannot be changed without another line of it: set `bell` in its [ui] yourself"
            ))?;
        }
    }
    Ok(Some(proposal))
}

/// How tmux starts this program: by its name if `PATH` leads to it.
fn program() -> Result<String, Failure> {
    let this = env::current_exe().context("it is not known which file this program is")?;
    let named = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let is_program =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if named.map(|directory| directory.join("fleetwatch")).any(|path| is_program(&path)) {
        return Ok("fleetwatch".to_owned());
    }
    let path = this.display().to_string();
    if is_plain(&path) {
        return Ok(path);
    }
    Err(Failure::refused(format!("tmux would not find this program: {path} has characters that need quotes"))
        .hint("put fleetwatch into a directory in PATH"))
}

/// Whether a path needs no quotes.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c))
}

fn home() -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    home.or_else(|| Some(directories::BaseDirs::new()?.home_dir().to_owned()))
}

/// Asks the operator in the terminal, or accepts everything.
struct Confirmation {
    is_silent: bool,
}

impl Confirmation {
    fn tell(&self, what: &str) -> io::Result<()> {
        if self.is_silent { Ok(()) } else { output::write(&format!("{what}\n")) }
    }

    /// Whether the operator says yes.
    fn yes(&mut self, question: &str, usual: bool) -> Result<bool, Failure> {
        if self.is_silent {
            return Ok(true);
        }
        let offered = if usual { "[Y/n]" } else { "[y/N]" };
        self.answer(&format!("{question} {offered} "), "y or n", |answer| match answer {
            "" => Some(usual),
            "y" | "yes" => Some(true),
            "n" | "no" => Some(false),
            _ => None,
        })
    }

    fn notices(&mut self) -> Result<Notices, Failure> {
        if self.is_silent {
            return Ok(Notices::BellAndTerminal);
        }
        let question = "What should happen when an agent or task begins to wait for you?\n  \
                        b  bell: the terminal's bell rings, as now\n  \
                        d  desktop: the bell rings, and the terminal shows a notification (OSC 9)\n     (inside tmux this needs `set -g allow-passthrough on`)\n  \
                        q  quiet: neither\n[b] ";
        // No `n`: behind two questions that take it for no, it would be typed for that.
        self.answer(question, "b, d or q", |answer| match answer {
            "" | "b" | "bell" => Some(Notices::Bell),
            "d" | "desktop" => Some(Notices::BellAndTerminal),
            "q" | "quiet" => Some(Notices::Nothing),
            _ => None,
        })
    }

    fn answer<T>(&mut self, question: &str, choices: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Failure> {
        for _ in 0..PATIENCE {
            print!("{question}");
            io::stdout().flush()?;
            let mut line = String::new();
            if io::stdin().lock().read_line(&mut line).unwrap_or(0) == 0 {
                break;
            }
            if let Some(answer) = read(&line.trim().to_lowercase()) {
                return Ok(answer);
            }
            self.tell(&format!("answer with {choices}"))?;
        }
        Err(Failure::refused("nothing was written: that was no answer").hint("`fleetwatch setup` asks again"))
    }
}
