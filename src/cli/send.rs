//! `fleetwatch send`, `keys` and `answer`: into a terminal, and what became of it (SPEC §11).

use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::time::Duration;

use super::history::keep;
use super::live::Live;
use super::survey::Watched;
use super::target::Meant;
use super::wait::{self, Found, seconds};
use super::{Done, Failure, GlobalOptions, output, target};
use crate::dialog::{Dialog, NoChoice};
use crate::feed;
use crate::fleet::{Terminal, TerminalKey};
use crate::history::{History, NewInput, Privacy, Sent, Ticket};
use crate::moment::Span;
use crate::sender::{Insistence, Limits, Recipient, Refusal, Reply, SendOptions, SendOutcome, Sender};
use crate::state::State;
use crate::tmux::{Key, UnknownKey};

/// Send a prompt to an agent, and say whether it took it.
#[derive(Clone, Debug, clap::Args)]
pub struct SendArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// The prompt; `-` or nothing reads it from standard input.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Wait until the agent is ready and has no draft, and send then.
    #[arg(long)]
    pub when_ready: bool,
    /// Send to an agent that works, has a draft or cannot be read, too; never into a dialog, nor to another program.
    #[arg(long, conflicts_with = "when_ready")]
    pub force: bool,
    /// Give up after this many seconds without a reaction, or with --when-ready without readiness.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
}

/// Press keys in a terminal or a task, whatever it shows.
#[derive(Clone, Debug, clap::Args)]
pub struct KeysArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// The keys, by tmux's names: Escape, C-c, Up, Enter, F5, y.
    #[arg(value_name = "KEY", required = true, allow_hyphen_values = true, value_parser = key)]
    pub keys: Vec<Key>,
}

/// Answer the dialog that an agent shows.
#[derive(Clone, Debug, clap::Args)]
pub struct AnswerArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// The answer: an option's number, the beginning of its text, or the key that the dialog asks for.
    #[arg(value_name = "CHOICE", allow_hyphen_values = true)]
    pub choice: String,
}

/// Runs `send`.
///
/// # Errors
/// Nothing was sent, or nothing shows that the agent took it.
pub async fn send(args: &SendArgs, options: &GlobalOptions) -> Done {
    let text = prompt(args.text.as_deref())?;
    let watched = Watched::new(options)?;
    let sender = Sender::new(watched.library.clone(), watched.feed.tmux.clone());
    if args.when_ready {
        return send_when_ready(args, &text, &watched, &sender).await;
    }
    let survey = watched.survey().await?;
    let terminal = survey.terminal(&args.target)?;
    let to = Recipient::of(terminal);
    let insistence = if args.force { Insistence::Force } else { Insistence::Polite };
    let reaction = args.timeout.map_or(Limits::default().reaction, span);
    let options = SendOptions { insistence, limits: Limits { reaction, ..Limits::default() } };
    let history = History::start(&watched.loaded.config.history);
    let ticket = begin(&history, input_of(terminal, Sent::Prompt(text.clone()))).await;
    let outcome = sender.send_and_tell(&to, &text, options, || ticket.delivered(feed::now())).await;
    tell(outcome, &ticket)
}

/// Runs `keys`.
///
/// # Errors
/// The keys were not pressed.
pub async fn keys(args: &KeysArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let (to, name, privacy) = match survey.meant(&args.target)? {
        Meant::Terminal(terminal) => (Recipient::of(terminal), &terminal.state.terminal.id, Privacy::of(terminal)),
        Meant::Task(task) => (Recipient::of_task(task), &task.id, Privacy::Secret),
    };
    let sender = Sender::new(watched.library.clone(), watched.feed.tmux.clone());
    let history = History::start(&watched.loaded.config.history);
    let keys = Sent::keys(&args.keys, privacy);
    let ticket = begin(&history, input(to.key.clone(), name, keys)).await;
    let outcome = sender.keys(&to, &args.keys).await;
    if outcome == SendOutcome::Accepted {
        ticket.delivered(feed::now());
    }
    tell(outcome, &ticket)
}

/// Runs `answer`.
///
/// # Errors
/// There is no dialog, the choice is none of its options, or it did not take the answer.
pub async fn answer(args: &AnswerArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let survey = watched.survey().await?;
    let terminal = survey.terminal(&args.target)?;
    let excerpt = terminal.state.assessment.operator_excerpt.clone();
    let Some((dialog, excerpt)) = terminal.dialog.clone().zip(excerpt) else {
        return Err(Failure::refused(format!("{} shows no dialog", terminal.state.terminal.id))
            .hint("`fleetwatch list` shows which terminals wait for an answer")
            .into());
    };
    let reply = Reply::meant(&args.choice, &dialog).map_err(|no_choice| unmeant(&no_choice, &dialog))?;
    let to = Recipient::of(terminal);
    let sender = Sender::new(watched.library.clone(), watched.feed.tmux.clone());
    let history = History::start(&watched.loaded.config.history);
    let answer = Sent::Answer { dialog: excerpt, choice: args.choice.clone() };
    let ticket = begin(&history, input_of(terminal, answer)).await;
    let pressing = || ticket.delivered(feed::now());
    let answered = sender.answer(&to, &dialog, &reply, Limits::default(), pressing).await;
    tell(answered.outcome, &ticket)
}

/// Why a choice is none, with the choices that there are.
fn unmeant(no_choice: &NoChoice, dialog: &Dialog) -> Failure {
    let hint = match (dialog.options.is_empty(), dialog.can_choose()) {
        (true, _) => "its options cannot be read; answer with a key, such as y or Enter".to_owned(),
        (false, true) => format!("its options: {}", dialog.list()),
        (false, false) => "several of its options can be ticked; answer with `fleetwatch keys`".to_owned(),
    };
    Failure::usage(no_choice).hint(hint)
}

/// Sends as soon as the terminal is ready, and again when something came between.
async fn send_when_ready(args: &SendArgs, text: &str, watched: &Watched, sender: &Sender) -> Done {
    let started = tokio::time::Instant::now();
    let mut live = Live::start(watched)?;
    let history = History::start(&watched.loaded.config.history);
    let mut ticket = None;
    loop {
        let left = args.timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        let ready = match wait::until(&mut live, watched, &args.target, left, State::takes_a_prompt).await? {
            Found::Holds(state) => state,
            Found::Interrupted => return Err(Failure::refused("interrupted; nothing was sent").into()),
        };
        let survey = live.fleet.view(feed::now());
        let terminal = target::resolve(&ready.terminal.id, &survey.terminals)?;
        let to = Recipient::of(terminal);
        let ticket = match &ticket {
            Some(ticket) => ticket,
            None => ticket.insert(begin(&history, input_of(terminal, Sent::Prompt(text.to_owned()))).await),
        };
        let submitting = || ticket.delivered(feed::now());
        match sender.send_and_tell(&to, text, SendOptions::default(), submitting).await {
            SendOutcome::Refused(refusal) if refusal.may_pass() => {
                // What it saw is newer than what the fleet knows; the next look brings that up to date.
                live.next().await;
            }
            outcome => return tell(outcome, ticket),
        }
    }
}

/// The text to send.
fn prompt(argument: Option<&str>) -> color_eyre::Result<String> {
    match argument {
        Some(text) if text != "-" => Ok(text.to_owned()),
        None if std::io::stdin().is_terminal() => Err(Failure::usage("there is no text to send")
            .hint("write it behind the target, or give it on standard input")
            .into()),
        _ => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| {
                Failure::usage(format!("standard input cannot be read: {error}")).hint("a prompt is text in UTF-8")
            })?;
            // The line feed that ends a file or an `echo` is not meant for the agent.
            Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
        }
    }
}

fn key(text: &str) -> Result<Key, UnknownKey> {
    text.parse()
}

fn span(duration: Duration) -> Span {
    Span::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// Keeps what is about to be sent, before it is; where that cannot be done it is said, and sent all the same.
async fn begin(history: &History, input: NewInput) -> Ticket {
    let ticket = history.begin_input(input);
    keep(history).await;
    ticket
}

/// What is about to be sent, as the history keeps it.
fn input(key: TerminalKey, name: &str, sent: Sent) -> NewInput {
    NewInput { key, name: name.to_owned(), at: feed::now(), sender: "command line".to_owned(), sent }
}

/// The same for an agent's terminal.
fn input_of(terminal: &Terminal, sent: Sent) -> NewInput {
    input(terminal.key.clone(), &terminal.state.terminal.id, sent)
}

fn tell(outcome: SendOutcome, ticket: &Ticket) -> Done {
    ticket.ended(outcome.word(), outcome.detail(), feed::now());
    match outcome {
        SendOutcome::Accepted => output::print("accepted\n").map(|_| ExitCode::SUCCESS),
        SendOutcome::Refused(Refusal::Text(unfit)) => Err(Failure::usage(unfit)
            .hint("a prompt is some text without control characters but line ends and tabs; `fleetwatch keys` presses keys")
            .into()),
        SendOutcome::Refused(refusal) => {
            let failure = Failure::refused(format!("refused: {refusal}"));
            Err(match refusal.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
            .into())
        }
        SendOutcome::NotTaken { why } => Err(Failure::refused(format!("not taken: {why}"))
            .hint("look at the terminal before you send anything again")
            .into()),
    }
}
