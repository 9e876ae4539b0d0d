//! `fleetwatch close`: ends an agent, and removes the worktree that it had for itself (SPEC §9).

use std::process::ExitCode;

use serde_json::json;

use super::history::keep;
use super::list::ShownAs;
use super::survey::Watched;
use super::tasks::{self, TasksArgs, TasksCommand};
use super::{Done, Failure, GlobalOptions, output};
use crate::clock;
use crate::fleet::Terminal;
use crate::history::History;
use crate::launch::{self, Closed, Closing};
use crate::operation::{Act, Operation, Producer, Recipient, When};
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::present::text::quoted;
use crate::record::{OperatorAction, Record};
use crate::status::Hindrance;

/// End an agent, or kill a task.
///
/// The agent is asked by its own command; if it does not end within ten seconds, its pane is closed. One that works, asks
/// or has a draft is left alone unless you add `--force`.
///
/// With `--remove-worktree`, the worktree that `new` made is removed too, but not its branch, and only if nothing would be
/// lost: it is clean, and its commits are on another branch or pushed. Otherwise the command says what would be lost, with
/// exit code 1.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch close fix-login --remove-worktree")]
pub struct CloseArgs {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: String,
    /// Close it at once, whatever it does.
    #[arg(long)]
    pub force: bool,
    /// Also remove its worktree, if nothing would be lost.
    #[arg(long)]
    pub remove_worktree: bool,
    /// Also delete the files there that git ignores.
    #[arg(long, requires = "remove_worktree")]
    pub with_ignored: bool,
    /// Print one JSON object: `{"terminal", "outcome": "ended", "killed" or "refused", "detail", "worktree", "removed", "left"}`.
    #[arg(long)]
    pub json: bool,
}

/// What became of the worktree.
#[derive(Default)]
struct Tree {
    path: Option<String>,
    removed: bool,
    /// What is there that would be lost.
    left: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// No such agent, it is not ready, or its worktree has something that would be lost.
pub async fn run(args: &CloseArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let terminal = match watched.meant(&survey, &args.target, Purpose::Acting).await? {
        Item::Terminal(terminal) => terminal,
        Item::Task(task) => {
            let command = TasksCommand::Kill { targets: vec![task.window.to_string()], json: args.json };
            return tasks::run(&TasksArgs { shown: ShownAs::default(), command: Some(command) }, options).await;
        }
    };
    let name = &terminal.state.terminal.id;
    if let Err(why) = may_close(terminal, args.force) {
        if args.json {
            let object = json!({ "terminal": name, "outcome": "refused", "detail": why.to_string() });
            output::acted("nothing was done", output::print_json(&object));
        }
        return Err(why);
    }
    let server = watched.server(&terminal.key.server)?;
    let path = server.worktree_of(&terminal.key).await.unwrap_or_default();
    let history = History::start(&watched.loaded.config.history);
    let action = OperatorAction::of_word("closed");
    history.record(Record::Action { key: Some(terminal.key.clone()), name: name.clone(), at: clock::now(), action });
    keep(&history).await;
    let to = Recipient::of(terminal).at(terminal.named_by(&args.target));
    let end = watched.settings.profiles.end(&terminal.state.terminal.tool);
    let closing = match end {
        _ if args.force => Closing::Force,
        Some(text) if !terminal.state.has_ended() => Closing::Ask(Box::new(Operation {
            at: clock::now(),
            producer: Producer::CommandLine,
            to: to.clone(),
            act: Act::Prompt { text: text.to_owned(), when: When::Now },
        })),
        _ => Closing::Remains,
    };
    let closed = launch::close(&server, &watched.actor(&history), &to, closing).await?;
    watched.show_changes([&terminal.key.server]).await;
    let outcome = if closed == Closed::Ended { "ended" } else { "killed" };
    if !args.json {
        output::print(&format!("{name} {}\n", if closed == Closed::Ended { "ended" } else { "was killed" }))?;
    }
    let tree = match path {
        Some(path) => close_tree(args, &watched, &server, path).await?,
        None if args.remove_worktree => {
            Tree { left: vec!["`new` started it in no worktree".to_owned()], ..Tree::default() }
        }
        None => Tree::default(),
    };
    let detail = (!tree.left.is_empty()).then(|| tree.left.join("; "));
    if args.json {
        let object = json!({
            "terminal": name, "outcome": outcome, "detail": detail, "worktree": tree.path, "removed": tree.removed, "left": tree.left,
        });
        output::acted(name, output::print_json(&object));
    }
    match (&tree.path, detail) {
        (path, Some(detail)) if args.remove_worktree => {
            let stays = path.as_ref().map_or("there is nothing to remove".to_owned(), |path| format!("{path} stays"));
            Err(Failure::refused(format!("{stays}: {detail}"))
                .hint_if(path.as_deref().map(|path| format!("look there first; {} removes it", launch::removal(path)))))
        }
        (Some(path), _) if tree.removed && !args.json => {
            Ok(output::acted(name, output::print(&format!("{path} was removed; its branch stays\n"))))
        }
        (Some(path), None) if !tree.removed && !args.json => {
            let what = format!("its worktree {path} stays, though nothing would be lost with it\n");
            Ok(output::acted(name, output::print(&format!("{what}hint: {} removes it\n", launch::removal(path)))))
        }
        (Some(path), Some(detail)) if !args.json => {
            Ok(output::acted(name, output::print(&format!("its worktree {path} stays: {detail}\n"))))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Looks what would be lost with a worktree, and removes it if that is asked for and nothing would be.
async fn close_tree(
    args: &CloseArgs,
    watched: &Watched,
    server: &crate::tmux::Server,
    path: String,
) -> Result<Tree, Failure> {
    let left = match launch::worktree_left(server, &path, &watched.loaded.config.new.copy).await {
        Ok(left) => left,
        Err(why) => return Ok(Tree { path: Some(path), removed: false, left: vec![why.to_string()] }),
    };
    let mut reasons = left.reasons.clone();
    if !left.ignored.is_empty() && !args.with_ignored {
        reasons.push(format!("git ignores {} there (`--with-ignored` removes them too)", left.ignored_in_short()));
    }
    if !args.remove_worktree || !reasons.is_empty() {
        return Ok(Tree { path: Some(path), removed: false, left: reasons });
    }
    launch::remove_worktree(&path, &left).await?;
    Ok(Tree { path: Some(path), removed: true, left: Vec::new() })
}

/// Refuses an agent that would lose something.
fn may_close(terminal: &Terminal, force: bool) -> Result<(), Failure> {
    let name = &terminal.state.terminal.id;
    match terminal.prompt_hindrance() {
        Some(Hindrance::Gone) if terminal.state.is_unavailable() => {
            Err(Failure::refused(format!("the pane of {name} is gone"))
                .hint("`fleetwatch list` shows what is there now"))
        }
        Some(hindrance) if !force && hindrance != Hindrance::Gone => {
            let hint = format!("`fleetwatch close {} --force` closes it at once", quoted(name));
            Err(Failure::refused(format!("{name} was not closed: {hindrance}")).hint(hint))
        }
        _ => Ok(()),
    }
}
