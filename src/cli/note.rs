//! `fleetwatch note`: the operator's note on a terminal, its name and its label.

use super::survey::Watched;
use super::target::{self, Purpose};
use super::{Done, Failure, GlobalOptions, list, output};
use crate::history::{self, Notes, Trouble};
use crate::state::{KeptNote, Note, NotePart, unfit_name};
use crate::ui::Item;

/// Write a note on a terminal or task, or name or label it.
///
/// Without a target, list all notes, names and labels.
///
/// The dashboard shows the note on the row, `list --json` as `note`. Note, name and label are removed when another agent starts in
/// the terminal or its pane closes. tmux does not see them.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch note docs \"review before Friday\"")]
pub struct NoteArgs {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: Option<String>,
    /// The note: one line. Without a note or an option, print the note.
    #[arg(requires = "target", conflicts_with = "clear")]
    pub text: Vec<String>,
    /// Give the terminal this name, in every list and command; an empty one restores its own.
    #[arg(long, value_name = "NAME", requires = "target", conflicts_with = "clear")]
    pub name: Option<String>,
    /// Give the terminal this label to group by, in place of the configuration's; an empty one removes it.
    #[arg(long, value_name = "LABEL", requires = "target", conflicts_with = "clear")]
    pub label: Option<String>,
    /// Remove note, name and label, and print them; `--name ""` and `--label ""` remove only one.
    #[arg(long, requires = "target")]
    pub clear: bool,
}

/// Runs the command.
///
/// # Errors
/// The target fits no terminal, the name is taken, or the history cannot be read or written.
pub async fn run(args: &NoteArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let settings = &watched.loaded.config.history;
    let path = settings.kept_at().ok_or_else(|| {
        let hint = match settings.enabled {
            true => "set HOME or XDG_STATE_HOME, or `path` in [history]",
            false => "set `enabled = true` in [history]",
        };
        Failure::refused("no history is kept, so there is no place for notes").hint(hint)
    })?;
    let unusable = |trouble: Trouble| super::history::unusable(&path, &trouble);
    let survey = watched.survey().await?;
    let view = survey.fleet.view(survey.now);
    let meant = args.target.as_deref().map(|target| survey.meant(target, Purpose::Acting)).transpose()?;
    let Some(item) = meant else { return output::print(&list(&Item::all(&view))) };
    let typed = Some(args.text.join(" ")).filter(|_| !args.text.is_empty());
    let parts = [(NotePart::Text, &typed), (NotePart::Name, &args.name), (NotePart::Label, &args.label)];
    let fault = |(part, typed): &(NotePart, &Option<String>)| part.fault(typed.as_deref()?);
    if let Some(why) = parts.iter().find_map(fault) {
        return Err(Failure::usage(why).into());
    }
    let mut kept = item.kept_note();
    for (part, typed) in parts {
        kept.note = typed.iter().fold(kept.note, |note, typed| note.with(part, typed));
    }
    if typed.is_some() && kept.note.text.is_none() {
        return Err(Failure::usage("the note is empty").hint("`--clear` removes note, name and label").into());
    }
    let name = args.name.as_ref().and(kept.note.name.as_deref());
    if let Some(why) = name.and_then(unfit_name) {
        return Err(Failure::usage(format!("`{}` cannot be a name", name.unwrap_or_default())).hint(why).into());
    }
    if let Some(why) = name.and_then(|name| view.name_fault(item.key(), name)) {
        let failure = Failure::refused(format!("{} keeps its name: {why}", item.id()));
        return Err(failure.hint("choose a name that nothing else has").into());
    }
    let mut removed = Note::default();
    if args.clear {
        removed = std::mem::take(&mut kept.note);
    } else if parts.iter().all(|(_, typed)| typed.is_none()) {
        return output::print(&kept.note.text.map(|text| format!("{text}\n")).unwrap_or_default());
    }
    keep(&path, &kept, item.id()).map_err(unusable)?;
    output::print(&parts_of(&removed))
}

/// What a note says, a part of it in a line.
fn parts_of(note: &Note) -> String {
    let parts = [("note", &note.text), ("name", &note.name), ("label", &note.label)];
    parts.into_iter().filter_map(|(part, text)| Some(format!("removed {part}: {}\n", text.as_ref()?))).collect()
}

fn keep(path: &std::path::Path, kept: &KeptNote, name: &str) -> Result<(), Trouble> {
    let now = history::now();
    Notes::open(path, now)?.keep(kept, name, now)
}

/// The list of all notes.
fn list(items: &[Item<'_>]) -> String {
    let rows = items.iter().filter(|item| !item.note().is_empty()).map(|item| {
        let Note { text, name, label } = item.note().clone();
        let own = name.map(|_| item.own_name());
        [Some(item.id().to_owned()), own, label, text].map(Option::unwrap_or_default).to_vec()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        eprintln!("no terminal has a note, name or label of yours");
        return String::new();
    }
    let head = ["NAME", "OWN NAME", "LABEL", "NOTE"].map(str::to_owned);
    list::aligned(&head, &rows, output::terminal_width())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_is_printed() {
        let note = Note::default().with(NotePart::Text, "review before Friday").with(NotePart::Label, "shop");
        assert_eq!(parts_of(&note), "removed note: review before Friday\nremoved label: shop\n");
        assert_eq!(parts_of(&Note::default()), "");
    }
}
