//! `fleetwatch send`, `keys` and `answer`: send something into a terminal and report the outcome (SPEC §11).

use std::io::{ErrorKind, IsTerminal, Read};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use serde_json::json;

use super::failure::{nothing, seconds};
use super::history::keep;
use super::survey::{Watched, first_polls, turn};
use super::wait::{self, Limit};
use super::{Done, Failure, GlobalOptions, console, list, output};
use crate::clock;
use crate::dialog::{Cut, Dialog, TextEntry};
use crate::engine::Engine;
use crate::fleet::{ServerId, Terminal, TerminalKey};
use crate::history::History;
use crate::operation::{
    Act, Asked, Key, KeyError, Operation, Outcome, PasteText, Privacy, Producer, Recipient, Refusal, Reply, TextError,
    When,
};
use crate::owner::Actor;
use crate::present::answer::{BY_KEY, is_no, meant};
use crate::present::dialog_shown::{DialogShown, answers, sends};
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::present::text::quoted;
use crate::screen::harmless;
use crate::sender::PromptBack;
use crate::sender::{Gate, StepLimits};
use crate::status::Hindrance;
use crate::time::Span;

/// Send a prompt to an agent and say whether it took it.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch send docs \"Add a table of contents\"")]
pub struct SendArgs {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: String,
    /// The prompt; `-` or nothing reads standard input. One that begins with `-` goes after `--`.
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// Send once the agent is ready and has no draft.
    #[arg(long)]
    pub when_ready: bool,
    /// Send even if the agent is working, has a draft or cannot be read; never into a dialog or to another program.
    #[arg(long, conflicts_with = "when_ready")]
    pub force: bool,
    /// Give up after this many seconds (or 10m) without a reaction; with --when-ready, without the agent being ready.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Print one JSON object: `{"terminal", "outcome", "detail", "dialog"}`; errors are printed as well.
    #[arg(long)]
    pub json: bool,
}

/// Press keys in a terminal or task.
///
/// fleetwatch presses them whatever the terminal shows, as long as the same program runs there.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch keys build y Enter")]
pub struct KeysArgs {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: String,
    /// The keys, by their tmux names: Escape, C-c, Up, Enter, F5, y.
    #[arg(value_name = "KEY", required_unless_present = "text", value_parser = <Key as std::str::FromStr>::from_str)]
    pub keys: Vec<Key>,
    /// Type this line first, each character as a key: `--text 1.2.0 Enter`. The history keeps only that a text was typed.
    #[arg(long, allow_hyphen_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub text: Option<String>,
    /// Print one JSON object: `{"terminal", "outcome", "detail", "dialog"}`; errors are printed as well.
    #[arg(long)]
    pub json: bool,
}

/// Print an agent's dialog, and answer it.
///
/// Without a choice, the command only prints it, with exit code 0.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch answer shop-api yes --expect 'rm -rf build'")]
pub struct AnswerArgs {
    #[arg(help = target::HELP_TO_ACT)]
    pub target: String,
    /// An option's number, the beginning of its text, or a key such as Escape.
    ///
    /// A letter is a key only where the options cannot be read. `yes` and `no` (`y` and `n`) mean the one option that says so for this question only, never one that holds for longer
    /// ("always", "don't ask again", "for this session"); if none or several are left, nothing is sent. Where several
    /// options can be ticked, `A,B` ticks exactly these and submits them.
    #[arg(value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    pub choice: Option<String>,
    /// Your own text, for an option that takes one: typed there, or sent as a prompt once the option has closed the
    /// dialog ("No, and tell Claude what to do differently").
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "choice")]
    pub text: Option<String>,
    /// Answer only this dialog: its full name (`assessment.dialog` in `list --json`), or a text above its options.
    #[arg(long, value_name = "HASH|TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub expect: Option<String>,
    /// Print one JSON object: `{"terminal", "outcome", "detail", "dialog"}`; errors are printed as well.
    #[arg(long)]
    pub json: bool,
}

/// Runs `send`.
///
/// # Errors
/// Nothing was sent, or nothing shows that the agent took it.
pub async fn send(args: &SendArgs, options: &GlobalOptions) -> Done {
    ActReport::of(args.json, &args.target, async |report| send_once(args, options, report).await).await
}

async fn send_once(args: &SendArgs, options: &GlobalOptions, report: &mut ActReport) -> Done {
    let text = prompt(args.text.as_deref())?;
    PasteText::new(text.as_str())?;
    let watched = Watched::new(options)?;
    if args.when_ready {
        return send_when_ready(args, text, &watched, report).await;
    }
    let survey = watched.survey().await?;
    let terminal = watched.terminal(&survey, &args.target).await?;
    report.is_about(terminal.into());
    let to = Recipient::of(terminal).at(terminal.named_by(&args.target));
    let when = if args.force { When::Anyway } else { When::Now };
    let reaction = args.timeout.map_or(StepLimits::default().reaction, span);
    let actor = actor(&watched).await.within(StepLimits { reaction, ..StepLimits::default() });
    report.perform(&watched, &actor, to, Act::Prompt { text, when }, ()).await
}

/// Runs `keys`.
///
/// # Errors
/// Nothing was pressed, or it is not known whether it was.
pub async fn keys(args: &KeysArgs, options: &GlobalOptions) -> Done {
    ActReport::of(args.json, &args.target, async |report| keys_once(args, options, report).await).await
}

async fn keys_once(args: &KeysArgs, options: &GlobalOptions, report: &mut ActReport) -> Done {
    let typed = args.text.iter().flat_map(|text| text.chars()).map(|character| character.to_string().parse());
    let keys = typed.chain(args.keys.iter().cloned().map(Ok)).collect::<Result<Vec<Key>, KeyError>>();
    let keys =
        keys.map_err(|unknown| Failure::usage(&unknown).hint("a text is one line without control characters"))?;
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let item = watched.meant(&survey, &args.target, Purpose::Acting).await?;
    report.is_about(item);
    let (to, privacy) = match item {
        // Whoever types a line may type a password, and an agent runs programs that ask for one.
        Item::Terminal(terminal) if args.text.is_some() => (Recipient::as_shown(terminal), Privacy::Secret),
        Item::Terminal(terminal) => (Recipient::as_shown(terminal), Privacy::of(terminal)),
        Item::Task(task) => (Recipient::of_task(task), Privacy::Secret),
    };
    let to = to.at(item.named_by(&args.target));
    let act = Act::Keys { keys, dialog: None, privacy };
    report.perform(&watched, &actor(&watched).await, to, act, ()).await
}

/// Runs `answer`.
///
/// # Errors
/// There is no dialog, the choice is none of its options, or it did not take the answer.
pub async fn answer(args: &AnswerArgs, options: &GlobalOptions) -> Done {
    ActReport::of(args.json, &args.target, async |report| answer_once(args, options, report).await).await
}

async fn answer_once(args: &AnswerArgs, options: &GlobalOptions, report: &mut ActReport) -> Done {
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let terminal = watched.terminal(&survey, &args.target).await?;
    report.is_about(terminal.into());
    let excerpt = terminal.state.assessment.operator_excerpt.clone();
    let Some((dialog, excerpt)) = terminal.dialog.clone().zip(excerpt) else {
        return Err(Failure::refused(format!("{} shows no dialog", terminal.state.terminal.id))
            .hint("`fleetwatch list` shows which terminals wait for an answer"));
    };
    let name = &terminal.state.terminal.id;
    // Whoever is refused needs it to answer right the next time.
    if !args.json {
        output::print(&console::wrapped(&whole(name, &dialog)))?;
    }
    let Some(choice) = &args.choice else {
        is_expected_of(args, name, &dialog)?;
        report.print("nothing was sent", None, None);
        return nothing("nothing was sent", &would_answer(args, name, &dialog));
    };
    let (reply, prompt) = allowed(args, name, choice, &dialog)?;
    if !args.json {
        output::print(&answered_with(&dialog, &reply, args.text.as_deref()))?;
    }
    let to = Recipient::of(terminal).at(terminal.named_by(&args.target));
    let actor = actor(&watched).await;
    let asked = Asked::new(excerpt, terminal.state.assessment.ui_context, &dialog);
    let answer = operation(to.clone(), Act::Answer { dialog, asked, reply });
    match (actor.perform(answer, ()).await, prompt) {
        (Outcome::Accepted(_), Some(text)) => {
            let prompt = Act::Prompt { text, when: When::Now };
            report.perform(&watched, &actor, to.at(None), prompt, PromptBack::awaited()).await
        }
        (outcome, _) => report.tell(&watched, &actor, outcome, &to.key.server).await,
    }
}

/// What a choice means for a dialog, if it may be answered so.
fn allowed(args: &AnswerArgs, name: &str, choice: &str, dialog: &Dialog) -> Result<(Reply, Option<String>), Failure> {
    is_expected_of(args, name, dialog)?;
    let (reply, prompt) = meant(choice, args.text.as_deref(), dialog)?;
    if dialog.cuts.contains(&Cut::Behind) {
        let why = format!("the dialog of {name} is behind what its pane shows");
        return Err(refused(why).hint("leave what stands before it there, and read it"));
    }
    if args.expect.is_none() && !dialog.is_whole() && !is_no(dialog, &reply, prompt.as_deref()) {
        let why = format!("the pane of {name} does not show the whole dialog");
        return Err(refused(why).hint("look at it there; `--expect` answers it anyway"));
    }
    Ok((reply, prompt))
}

/// The hint that says how a dialog would be answered: with the first choice that is allowed, else with what stands in the way.
fn would_answer(args: &AnswerArgs, name: &str, dialog: &Dialog) -> String {
    let by_key = dialog.options.is_empty().then_some("y");
    let choices = dialog.options.iter().map(|option| option.name.as_str()).chain(by_key);
    let expected = args.expect.as_ref().map(|text| format!(" --expect {}", quoted(text))).unwrap_or_default();
    let mut why = None;
    for choice in choices {
        match allowed(args, name, choice, dialog) {
            Ok(_) if by_key.is_some() => return BY_KEY.to_owned(),
            Ok(_) => {
                return format!("`fleetwatch answer {} {}{expected}` would answer it", quoted(name), quoted(choice));
            }
            Err(failure) => why = why.or(failure.remedy().map(str::to_owned)),
        }
    }
    why.unwrap_or_default()
}

/// Refuses a dialog that is not the expected one.
fn is_expected_of(args: &AnswerArgs, name: &str, dialog: &Dialog) -> Result<(), Failure> {
    let Some(expected) = args.expect.as_ref().filter(|expected| !is_expected(dialog, expected)) else { return Ok(()) };
    let what = match Dialog::is_id(expected) {
        true => format!("{name} shows another dialog, {}", dialog.id()),
        false => format!("the dialog of {name} does not say `{expected}`"),
    };
    Err(refused(what).hint("read the one above; nothing was sent"))
}

/// The failure of an act that is not even tried.
fn refused(why: String) -> Failure {
    Failure::of_act(&Refusal::Other(why).into())
}

/// Whether a dialog is the expected one, by its name or by its text.
fn is_expected(dialog: &Dialog, expected: &str) -> bool {
    // A dialog may show the name of another one in its text.
    if Dialog::is_id(expected) {
        return dialog.id() == expected;
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<&str> = dialog.own_lines().map(String::as_str).collect();
    words(&lines.join(" ")).contains(&words(expected))
}

/// The whole dialog, with its options as they can be typed and what each of them sends.
fn whole(name: &str, dialog: &Dialog) -> String {
    let mut shown = format!("{name} asks:\n");
    let mut say = |indent: &str, line: &str| {
        let line = format!("{indent}{}", harmless(line));
        shown.push_str(line.trim_end());
        shown.push('\n');
    };
    dialog.rows_above().iter().chain(dialog.own_lines()).for_each(|line| say("  ", line));
    if dialog.recorded.is_some() {
        say("= ", "in full by the agent's own record: its pane shows a part of it");
    }
    for cut in dialog.cuts.iter().filter(|_| !dialog.is_whole()) {
        match cut {
            Cut::Top => say("! ", "its beginning is not on the screen"),
            Cut::Behind => say("! ", "it is behind what the pane shows"),
            Cut::LeftOut(row) => say("! ", &format!("the agent leaves something out: {row}")),
            Cut::Scrolled(row) => say("! ", &format!("the agent may scroll more of it, behind this row: {row}")),
            Cut::Edge(row) => say("! ", &format!("the edge of its pane or box cuts this row: {row}")),
        }
    }
    if dialog.options.is_empty() {
        return shown;
    }
    shown.push('\n');
    let rows: Vec<Vec<String>> = (0..dialog.options.len()).flat_map(|option| rows_of(dialog, option)).collect();
    let head = ["CHOICE", "SENDS", "OPTION"];
    shown + &list::aligned(&head, &rows, None)
}

/// The rows of an option in the table of choices: its name and other words for it, its keys, and its text.
fn rows_of(dialog: &Dialog, option: usize) -> Vec<Vec<String>> {
    let Some(it) = dialog.options.get(option) else { return Vec::new() };
    let word = answers(dialog, option).filter(|word| it.name != *word);
    let names = std::iter::once(it.name.as_str()).chain(word).collect::<Vec<_>>().join(", ");
    let sends = match (sends(dialog, option), it.takes_text) {
        (_, Some(TextEntry::Inline)) if dialog.takes_text(option) => "--text TEXT".to_owned(),
        (Some(keys), Some(TextEntry::Prompt)) => format!("{keys}, then --text"),
        (Some(keys), Some(TextEntry::Note(_))) => format!("{keys}, or --text"),
        (keys, _) => keys.unwrap_or_else(|| "-".to_owned()),
    };
    let text = if it.text.is_empty() { std::slice::from_ref(&it.label) } else { &it.text };
    let row = |(nth, line): (usize, &String)| {
        let cells = if nth == 0 { [names.clone(), sends.clone()] } else { Default::default() };
        cells.into_iter().chain([harmless(line)]).collect()
    };
    text.iter().enumerate().map(row).collect()
}

/// What is answered, in the dialog's own words.
fn answered_with(dialog: &Dialog, reply: &Reply, text: Option<&str>) -> String {
    let chosen = match reply {
        // The text stands below it, line by line.
        Reply::Text { option, .. } => Reply::Option(*option).in_words(dialog),
        reply => reply.in_words(dialog),
    };
    let typed = text.iter().flat_map(|text| text.lines()).map(|line| format!("  > {}\n", harmless(line)));
    format!("answered with:\n  {}\n{}", harmless(&chosen), typed.collect::<String>())
}

/// Sends as soon as the terminal is ready; waits again if something comes between.
async fn send_when_ready(args: &SendArgs, text: String, watched: &Watched, report: &mut ActReport) -> Done {
    let limit = Limit::new(args.timeout);
    // From here on it is this terminal, whatever it is called when it is ready.
    let key = watched.terminal(&watched.survey().await?, &args.target).await?.key.clone();
    let mut engine = watched.engine()?;
    first_polls(&mut engine).await;
    let terminal = wait::until_terminal(&mut engine, &key, &args.target, limit, is_decided).await;
    if let Some(terminal) = engine.fleet().terminal(&key) {
        report.is_about(terminal.into());
    }
    let terminal = terminal?;
    let to = Recipient::of(&terminal);
    let mut waiting = WhenReady { engine, key, target: &args.target, limit, failure: None };
    let actor = actor(watched).await;
    let server = to.key.server.clone();
    let outcome = actor.perform(operation(to, Act::Prompt { text, when: When::Ready }), &mut waiting).await;
    match waiting.failure {
        Some(failure) => Err(failure),
        None => report.tell(watched, &actor, outcome, &server).await,
    }
}

/// Whether a prompt would be sent now, or refused for good.
fn is_decided(terminal: &Terminal) -> bool {
    terminal.state.has_ended() || matches!(terminal.prompt_hindrance(), None | Some(Hindrance::NoProfile))
}

/// Waits until a terminal is ready again, even if its name changes.
struct WhenReady<'a> {
    engine: Engine,
    key: TerminalKey,
    target: &'a str,
    limit: Limit,
    /// Why it stopped waiting.
    failure: Option<Failure>,
}

impl Gate for &mut WhenReady<'_> {
    async fn may_retry(&mut self) -> bool {
        if self.limit.is_over() {
            return false;
        }
        // The terminal has just been seen to differ from the fleet's state, which the next poll updates.
        turn(&mut self.engine).await;
        let WhenReady { engine, key, target, limit, failure } = &mut **self;
        match wait::until_terminal(engine, key, target, *limit, is_decided).await {
            Ok(_) => true,
            Err(why) => {
                *failure = Some(why);
                false
            }
        }
    }
}

/// The text to send.
fn prompt(argument: Option<&str>) -> Result<String, Failure> {
    match argument {
        Some(text) if text != "-" => Ok(text.to_owned()),
        None if std::io::stdin().is_terminal() => Err(TextError::Empty.into()),
        _ => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| {
                let what = format!("standard input cannot be read: {error}");
                let is_text = error.kind() != ErrorKind::InvalidData;
                if is_text { Failure::refused(what) } else { Failure::usage(what) }.hint("a prompt is text in UTF-8")
            })?;
            // The line feed at the end of a file or an `echo` is not meant for the agent.
            Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
        }
    }
}

fn span(duration: Duration) -> Span {
    Span::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// What performs operations. It warns if the history does not keep them, and performs them nevertheless.
async fn actor(watched: &Watched) -> Actor {
    let history = History::start(&watched.loaded.config.history);
    keep(&history).await;
    watched.actor(&history)
}

fn operation(to: Recipient, act: Act) -> Operation {
    Operation { at: clock::now(), producer: Producer::CommandLine, to, act }
}

/// What a command that acts says of it: in words, or as one JSON object.
struct ActReport {
    json: bool,
    terminal: String,
    /// The dialog that was answered, or that the terminal showed.
    dialog: Option<DialogShown>,
    is_printed: bool,
}

impl ActReport {
    /// Does what a command is for, about a target that is not known yet. What fails before there is an outcome was refused.
    async fn of(json: bool, target: &str, act: impl AsyncFnOnce(&mut Self) -> Done) -> Done {
        let mut report = Self { json, terminal: target.to_owned(), dialog: None, is_printed: false };
        let done = act(&mut report).await;
        if let Err(why) = &done {
            report.print("nothing was sent", Some("refused"), Some(why.to_string()));
        }
        done
    }

    /// The target is known from now on.
    fn is_about(&mut self, item: Item<'_>) {
        (self.terminal, self.dialog) = (item.id().to_owned(), item.terminal().and_then(DialogShown::of));
    }

    /// Prints the object, if it is wanted and was not printed yet; without an outcome where nothing was to be sent.
    fn print(&mut self, done: &str, outcome: Option<&'static str>, detail: Option<String>) {
        if !self.json || std::mem::replace(&mut self.is_printed, true) {
            return;
        }
        let Self { terminal, dialog, .. } = self;
        let object = json!({ "terminal": terminal, "outcome": outcome, "detail": detail, "dialog": dialog });
        output::acted(done, output::print_json(&object));
    }

    /// Performs an act and reports the outcome.
    async fn perform(&mut self, watched: &Watched, actor: &Actor, to: Recipient, act: Act, gate: impl Gate) -> Done {
        let server = to.key.server.clone();
        let outcome = actor.perform(operation(to, act), gate).await;
        self.tell(watched, actor, outcome, &server).await
    }

    /// Reports the outcome of an operation, and whether other processes could have sent at the same time.
    async fn tell(&mut self, watched: &Watched, actor: &Actor, outcome: Outcome, server: &ServerId) -> Done {
        if !matches!(outcome, Outcome::Refused(_)) {
            watched.show_changes([server]).await;
            if let Err(why) = actor.sender().check_turns() {
                Failure::refused(format!("another fleetwatch process may send there at the same time: {why}")).warn();
            }
        }
        self.print(&outcome.to_string(), Some(outcome.word()), outcome.detail());
        let look =
            format!("look at it before you send anything again: `fleetwatch explain {}`", quoted(&self.terminal));
        let failure = Failure::of_act(&outcome);
        Err(match outcome {
            Outcome::Accepted(_) if self.json => return Ok(ExitCode::SUCCESS),
            Outcome::Accepted(_) => return Ok(output::acted(&outcome, output::print(&format!("{outcome}\n")))),
            Outcome::Refused(Refusal::Text(unfit)) => unfit.into(),
            // What tmux calls NAME is a socket.
            Outcome::Refused(Refusal::Tmux { hint, .. }) => failure.hint(hint.clone()),
            Outcome::Refused(refusal) => {
                failure.hint_if(refusal.hint().map(|hint| hint.replace("NAME", &self.terminal)))
            }
            Outcome::Unverified { .. } => failure.hint(format!("it may have been taken; {look}")),
            Outcome::NotTaken { .. } => failure.hint(look),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Screen;

    #[test]
    fn a_dialog_that_shows_the_name_of_another_one_is_not_that_one() {
        let dialog = |text: &str| {
            let screen = Screen::from_text(text, 120);
            Dialog::read(&screen, 0..screen.rows().len())
        };
        let asked = dialog("Run make test?\n❯ 1. Yes\n  2. No");
        let name = asked.id();
        assert!(is_expected(&asked, &name) && is_expected(&asked, "make  test"));
        let liar = dialog(&format!("Run rm -rf build? # {name}\n❯ 1. Yes\n  2. No"));
        assert!(!is_expected(&liar, &name) && is_expected(&liar, "rm -rf"));
    }
}
