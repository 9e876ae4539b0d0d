//! `fleetwatch name`: the operator's name for a terminal, and its label.

use std::collections::BTreeMap;

use serde::Serialize;

use super::failure::nothing;
use super::survey::Watched;
use super::{Done, Failure, GlobalOptions, console, list, output};
use crate::clock;
use crate::history;
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::record::HistoryError;
use crate::state::{Note, NotePart, unfit_name};

/// Name or label a terminal or task.
///
/// The command prints what changed. Without a target, it lists all names and labels.
///
/// Name and label are removed when another agent starts in the terminal or its pane closes. tmux does not see them.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch name docs manual --label shop")]
pub struct NameArgs {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: Option<String>,
    /// Its new name, in every list and command; an empty one restores its own. Without a name or an option, print name
    /// and label.
    #[arg(requires = "target", conflicts_with = "clear")]
    pub name: Option<String>,
    /// Give the terminal this label to group by, in place of the configuration's; an empty one removes it.
    #[arg(long, value_name = "LABEL", requires = "target", conflicts_with = "clear")]
    pub label: Option<String>,
    /// Remove name and label, and print them; an empty NAME and `--label ""` remove only one.
    #[arg(long, requires = "target")]
    pub clear: bool,
    /// Print JSON: `{"terminal", "own_name", "name", "label"}`, with `removed` if it removes some of these; without
    /// a target, one array.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The target fits no terminal, the name is taken, or the history cannot be read or written.
pub async fn run(args: &NameArgs, options: &GlobalOptions) -> Done {
    let parts = [(NotePart::Name, &args.name), (NotePart::Label, &args.label)];
    let fault = |(part, typed): &(NotePart, &Option<String>)| part.fault(typed.as_deref()?);
    if let Some(why) = parts.iter().find_map(fault) {
        return Err(Failure::usage(why).hint("shorten it"));
    }
    let noted = |note: Note| {
        parts.iter().fold(note, |note, (part, typed)| typed.iter().fold(note, |note, typed| note.with(*part, typed)))
    };
    let Note { name, .. } = noted(Note::default());
    if let Some((name, why)) = name.as_deref().and_then(|name| Some((name, unfit_name(name)?))) {
        return Err(Failure::usage(format!("`{name}` cannot be a name")).hint(why));
    }
    let watched = Watched::new(options)?;
    let path = super::history::kept_at(&watched.loaded.config.history, "is no place for names")?;
    let unusable = |trouble: HistoryError| super::history::unusable(&path, &trouble);
    let survey = watched.survey().await?;
    let view = survey.fleet.view(survey.now);
    let Some(target) = &args.target else { return list(&Item::all(&view), args.json) };
    let item = watched.meant(&survey, target, Purpose::Acting).await?;
    let mut kept = item.kept_note();
    kept.note = noted(kept.note);
    if let Some(why) = name.as_deref().and_then(|name| view.name_fault(item.key(), name)) {
        let failure = Failure::refused(format!("{} keeps its name: {why}", item.id()));
        return Err(failure.hint("choose a name that nothing else has"));
    }
    if args.clear {
        kept.note = Note::default();
    } else if parts.iter().all(|(_, typed)| typed.is_none()) {
        if args.json {
            return output::print_json(&Noted::new(item, kept.note));
        }
        let said = PARTS.iter().filter_map(|(part, word)| Some(format!("{word}: {}\n", kept.note.part(*part)?)));
        let said: String = said.collect();
        return match said.is_empty() {
            true => nothing(format!("{} has no name or label of yours", item.id()), NAMES_ONE),
            false => output::print(&said),
        };
    }
    history::keep_note(&path, &kept, item.id(), clock::now()).map_err(unusable)?;
    let told = Some(told(item.note(), &kept.note)).filter(|told| !told.is_empty());
    let told = told.unwrap_or_else(|| "nothing is changed\n".to_owned());
    let printed = match args.json {
        true => {
            let removed = removed(item.note(), &kept.note);
            output::print_json(&Noted { removed, ..Noted::new(item, kept.note) })
        }
        false => output::print(&console::wrapped(&told)),
    };
    Ok(output::acted(told.trim_end(), printed))
}

/// The hint where the operator has named nothing.
const NAMES_ONE: &str = "`fleetwatch name TARGET NAME` gives one a name";

/// What is said of a terminal by its words.
const PARTS: [(NotePart, &str); 2] = [(NotePart::Name, "name"), (NotePart::Label, "label")];

/// What was changed, a part in a line.
fn told(before: &Note, after: &Note) -> String {
    let line = |(part, word): (NotePart, &str)| match (before.part(part), after.part(part)) {
        (None, Some(after)) => format!("new {word}: {after}\n"),
        (Some(before), Some(after)) if before != after => format!("changed {word}: {after}\n"),
        (Some(before), None) => format!("removed {word}: {before}\n"),
        _ => String::new(),
    };
    PARTS.map(line).concat()
}

/// What is no longer said of it.
fn removed<'a>(before: &'a Note, after: &Note) -> BTreeMap<&'static str, &'a str> {
    let lost = |(part, word)| Some((word, before.part(part).filter(|_| after.part(part).is_none())?));
    PARTS.into_iter().filter_map(lost).collect()
}

/// What the operator says of a terminal or a task.
#[derive(Serialize)]
struct Noted<'a> {
    terminal: &'a str,
    /// Its name without the one that the operator gives.
    own_name: String,
    name: Option<String>,
    label: Option<String>,
    /// What was just removed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    removed: BTreeMap<&'static str, &'a str>,
}

impl<'a> Noted<'a> {
    fn new(item: Item<'a>, Note { name, label }: Note) -> Self {
        // A name that it has just got is not yet the item's.
        let terminal = item.id();
        Self { terminal, own_name: item.own_name(), name, label, removed: BTreeMap::new() }
    }
}

/// The list of all names and labels.
fn list(items: &[Item<'_>], json: bool) -> Done {
    let noted = items.iter().filter(|item| !item.note().is_empty());
    let noted: Vec<Noted<'_>> = noted.map(|item| Noted::new(*item, item.note().clone())).collect();
    if json {
        return output::print_json(&noted);
    }
    if noted.is_empty() {
        return nothing("no terminal has a name or label of yours", NAMES_ONE);
    }
    let row = |Noted { terminal, own_name, name, label, .. }: Noted<'_>| {
        let own_name = name.map(|_| own_name);
        [Some(terminal.to_owned()), own_name, label].map(|it| list::cell(&it.unwrap_or_default())).to_vec()
    };
    let rows: Vec<Vec<String>> = noted.into_iter().map(row).collect();
    output::print(&list::aligned(&["NAME", "OWN NAME", "LABEL"], &rows, console::terminal_width()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_is_printed() {
        let note = Note::default().with(NotePart::Name, "manual").with(NotePart::Label, "shop");
        assert_eq!(told(&Note::default(), &note), "new name: manual\nnew label: shop\n");
        let other = note.clone().with(NotePart::Name, "guide");
        assert_eq!(told(&note, &other), "changed name: guide\n");
        assert_eq!(told(&note, &Note::default()), "removed name: manual\nremoved label: shop\n");
        assert_eq!(told(&note, &note), "");
    }
}
