//! `fleetwatch note`: a line of the operator's own on a terminal.

use super::survey::Watched;
use super::target::{self, Meant, Purpose};
use super::{Done, Failure, GlobalOptions, output, table};
use crate::history::{self, Note, Notes, Reader, Trouble, same_terminal};
use crate::ui::Item;

/// Write a note on a terminal or task, or list the notes.
///
/// The dashboard shows it on the row, `list --json` as `note`. It goes when the agent ends.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: Option<String>,
    /// The note: one line. Without it, the note is printed.
    #[arg(requires = "target", conflicts_with = "clear")]
    pub text: Vec<String>,
    /// Take the note away.
    #[arg(long, requires = "target")]
    pub clear: bool,
}

/// Runs the command.
///
/// # Errors
/// The target fits no terminal, or the history cannot be read or written.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let settings = &watched.loaded.config.history;
    let path = settings.location().filter(|_| settings.enabled).ok_or_else(|| {
        Failure::refused("no history is kept, and notes are kept there").hint("set `enabled = true` in [history]")
    })?;
    let unusable = |trouble: Trouble| super::history::unusable(&path, &trouble);
    let survey = watched.survey().await?;
    let view = survey.fleet.view(survey.now);
    let meant = args.target.as_deref().map(|target| survey.meant(target, Purpose::Acting)).transpose()?;
    let meant = meant.map(|meant| match meant {
        Meant::Terminal(terminal) => Item::from(terminal),
        Meant::Task(task) => Item::from(task),
    });
    if let Some(item) = meant.filter(|_| args.clear || !args.text.is_empty()) {
        let note = Note::new(item.key().clone(), &args.text.join(" "));
        if note.text.is_none() && !args.clear {
            return Err(Failure::usage("the note is empty").hint("`--clear` takes a note away").into());
        }
        let now = history::now();
        let kept = Notes::open(&path, now).and_then(|mut notes| notes.keep(&note, item.id(), now));
        kept.map_err(unusable)?;
        return output::print("");
    }
    let notes = match Reader::open(&path).and_then(|reader| reader.notes()) {
        Err(Trouble::Missing(_)) => Vec::new(),
        notes => notes.map_err(unusable)?,
    };
    if let Some(item) = meant {
        let text = of(&notes, item).map(|text| format!("{text}\n"));
        return output::print(&text.unwrap_or_default());
    }
    let rows = Item::all(&view).into_iter().filter_map(|item| {
        let words = [item.id().to_owned(), item.status().word().into_owned(), of(&notes, item)?.to_owned()];
        Some(words.to_vec())
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        eprintln!("nothing is noted of any terminal");
        return output::print("");
    }
    let head = ["NAME", "STATE", "NOTE"].map(str::to_owned);
    output::print(&table::aligned(&head, &rows, output::terminal_width()))
}

/// What is noted of a terminal.
pub(super) fn of<'a>(notes: &'a [Note], item: Item<'_>) -> Option<&'a str> {
    notes.iter().find(|note| same_terminal(&note.key, item.key()))?.text.as_deref()
}
