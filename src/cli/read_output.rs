//! `fleetwatch output`: what a task has printed, or what an agent answered last.

use std::path::Path;

use serde::Serialize;

use super::failure::nothing;
use super::survey::{Survey, Watched};
use super::{Done, Failure, GlobalOptions, output};
use crate::agent_record::{AgentRecordSource, Speaker, last_answer_text};
use crate::clock;
use crate::fleet::Terminal;
use crate::present::explanation;
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::present::text::quoted;
use crate::process::RecordedTranscript;
use crate::screen::dense;
use crate::state::{FactName, KEPT_TEXT};
use crate::tmux::Scrollback;

/// Print what a task has printed, or an agent's last answer.
///
/// For a task, this is everything that tmux has kept. For an agent, it is the answer of its last turn from its own record;
/// in full, if the record is a file. Without a record, or if the turn goes on or did not end well, it is what the screen
/// shows since the last prompt.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch output build")]
pub struct OutputArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// Print one JSON object: `{"name", "source": "task", "record" or "screen", "text", "truncated", "exit_code"}`; the last is null of an agent and
    /// of a task that runs. `truncated` says whether the beginning of what a task has printed may be missing, or the end of a recorded
    /// answer; it is null of a screen.
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct OutputObject<'a> {
    name: &'a str,
    source: &'static str,
    text: String,
    /// Whether that may be less than was said; `None` where nothing tells.
    truncated: Option<bool>,
    exit_code: Option<i32>,
}

/// Runs the command.
///
/// # Errors
/// No such terminal, its screen cannot be read, or tmux does not answer.
pub async fn run(args: &OutputArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let item = watched.meant(&survey, &args.target, Purpose::Reading).await?;
    let shown = match item {
        Item::Task(task) => {
            let kept = watched.server(&task.key.server)?.scrollback(task.key.pane, task.is_dead()).await;
            let Scrollback { text, dropping } = kept?;
            if let Some(limit) = dropping {
                let name = item.id();
                Failure::refused(format!(
                    "the beginning may be missing: tmux keeps at most {limit} lines of {name} above its screen"
                ))
                .hint("tmux's option `history-limit` has it keep more, in windows that are made from then on")
                .warn();
            }
            let truncated = Some(dropping.is_some());
            OutputObject { name: item.id(), source: "task", text, truncated, exit_code: task.exit_code() }
        }
        Item::Terminal(terminal) => of_agent(terminal, &survey, &watched)?,
    };
    if args.json {
        return output::print_json(&shown);
    }
    match shown.text.trim_end() {
        "" => nothing(format!("{} shows nothing yet", item.id()), "`fleetwatch list` says what it does"),
        text => output::print(&format!("{text}\n")),
    }
}

/// What an agent said last, and where that was read.
fn of_agent<'a>(terminal: &'a Terminal, survey: &Survey, watched: &Watched) -> Result<OutputObject<'a>, Failure> {
    let name = &terminal.state.terminal.id;
    let said = |source, text, truncated| OutputObject { name, source, text, truncated, exit_code: None };
    let state = survey.fleet.state_of(terminal, survey.now);
    if let Some(answer) = state.answer() {
        let path = state.agent.text(FactName::Transcript);
        let sources = watched.settings.profiles.records(&state.terminal.tool);
        if let Some(whole) = path.and_then(|path| whole_answer(path.as_ref(), &sources, answer)) {
            return Ok(said("record", whole, Some(false)));
        }
        let is_cut = answer.chars().count() >= KEPT_TEXT;
        if is_cut {
            let cut = format!("only the first {KEPT_TEXT} characters of the answer are kept");
            Failure::refused(cut).hint("its pane and its record have all of it").warn();
        }
        return Ok(said("record", answer.to_owned(), Some(is_cut)));
    }
    if state.has_ended() {
        let id = &state.terminal.id;
        let failure = Failure::refused(format!("the agent of {id} has ended, and no record of its answer is known"));
        return Err(failure.hint(format!("`fleetwatch history {}` says what it did", quoted(id))));
    }
    let read = explanation::read(terminal, &watched.settings.profiles)?;
    let shown = read.projection.said(&read.screen);
    let answer = shown.iter().rposition(|line| line.by == Speaker::User).map_or(0, |prompt| prompt + 1);
    let lines: Vec<&str> = shown[answer..].iter().map(|line| line.text.as_str()).collect();
    Ok(said("screen", lines.join("\n").trim_matches('\n').to_owned(), None))
}

/// The answer in full, from the file that the agent keeps the conversation in; `None` if what is there now is another one.
fn whole_answer(path: &Path, sources: &[AgentRecordSource], begins: &str) -> Option<String> {
    let source = sources.iter().find(|source| source.is_transcript())?;
    let lines = RecordedTranscript::default().up_to(path, source, clock::now())?;
    let whole = last_answer_text(&lines)?;
    dense(&whole).contains(&dense(begins)).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileSet;
    use crate::state::kept;

    #[test]
    fn an_answer_is_whole_where_the_file_has_it_and_no_other_one_is_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("5-e.jsonl");
        let answer: Vec<String> = (1..=500).map(|nth| format!("    line {nth} of the answer")).collect();
        let said = |text: &str| {
            let content = serde_json::json!([{ "type": "text", "text": text }]);
            serde_json::json!({ "type": "assistant", "message": { "content": content } }).to_string() + "\n"
        };
        let sources = ProfileSet::builtin().records("claude");
        let begins = kept(&answer.join("\n"));
        let whole = || whole_answer(&path, &sources, &begins);
        assert_eq!(whole(), None, "no file is there");
        std::fs::write(&path, said("Let me see.") + &said(&answer.join("\n"))).unwrap();
        assert!(whole().unwrap().ends_with(&answer.join("\n")));
        std::fs::write(&path, said("Another one.")).unwrap();
        assert_eq!(whole(), None);
    }
}
