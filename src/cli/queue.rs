//! `fleetwatch queue`: prompts and follow-ups that wait to be sent or need a decision of the operator.

use std::fmt::Write as _;

use clap::Subcommand;
use serde_json::json;

use super::commands::completed;
use super::failure::nothing;
use super::list::{aligned, cell};
use super::{Done, Failure, GlobalOptions, console, output};
use crate::clock;
use crate::history::{Decided, Intents};
use crate::present::document::of_intent;
use crate::present::objection::Objection;
use crate::record::{HistoryError, Intent, IntentId, IntentState};
use crate::time::Timestamp;

/// List prompts and follow-ups that wait to be sent; resend or dismiss them.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch queue resend 7")]
pub struct QueueArgs {
    #[command(subcommand)]
    pub command: Option<QueueCommand>,
    /// Print one JSON array: of messages, or of decisions: `{"intent", "outcome", "resent_as", "detail"}`.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum QueueCommand {
    /// Print messages that wait, are being sent, may or may not have arrived, or expired (the default).
    #[command(before_help = "Example: fleetwatch queue list")]
    List,
    /// Resend messages that may or may not have arrived, or that expired.
    #[command(before_help = "Example: fleetwatch queue resend 7")]
    Resend {
        /// The numbers of the messages.
        #[arg(required = true, value_name = "NUMBER", value_parser = number)]
        numbers: Vec<i64>,
    },
    /// Dismiss messages; pending ones are not sent.
    #[command(before_help = "Example: fleetwatch queue dismiss 7 8")]
    Dismiss {
        /// The numbers of the messages.
        #[arg(required = true, value_name = "NUMBER", value_parser = number)]
        numbers: Vec<i64>,
    },
}

/// The number of a message.
fn number(text: &str) -> Result<i64, Objection> {
    let hint = "`fleetwatch queue` lists the messages with their numbers";
    text.parse().map_err(|_| Objection::new("not the number of a message", hint))
}

/// Runs the command. It records decisions; the process that watches carries them out.
///
/// # Errors
/// The history cannot be read or written, there is no such message, or there is nothing to decide.
pub fn run(args: &QueueArgs, options: &GlobalOptions) -> Done {
    let path = super::history::kept_at(&options.load()?.config.history, "is no queue")?;
    let now = clock::now();
    let command = args.command.as_ref().unwrap_or(&QueueCommand::List);
    if !path.exists() {
        return match command {
            QueueCommand::List => list(&[], args.json, now),
            QueueCommand::Resend { numbers } | QueueCommand::Dismiss { numbers } => {
                each(args, numbers, |_| Ok(Decided::Missing))
            }
        };
    }
    let unusable = |trouble: HistoryError| super::history::unusable(&path, &trouble);
    let mut intents = Intents::open(&path, now).map_err(unusable)?;
    match command {
        QueueCommand::List => list(&intents.open_matters().map_err(unusable)?, args.json, now),
        QueueCommand::Resend { numbers } => each(args, numbers, |id| intents.resend(id, now).map_err(unusable)),
        QueueCommand::Dismiss { numbers } => each(args, numbers, |id| intents.dismiss(id, now).map_err(unusable)),
    }
}

/// Decides on each message, and prints the result. A failure does not stop the others.
fn each(args: &QueueArgs, numbers: &[i64], mut decide: impl FnMut(IntentId) -> Result<Decided, Failure>) -> Done {
    let (mut text, mut decided, mut failures) = (String::new(), Vec::new(), Vec::new());
    for &number in numbers {
        let done = match decide(IntentId(number))? {
            Decided::Dismissed => Ok(("is dismissed".to_owned(), IntentState::Dismissed, None)),
            Decided::Resent(IntentId(next)) => {
                Ok((format!("is sent again, as number {next}"), IntentState::Resent, Some(next)))
            }
            Decided::NotOpen(state) => Err(format!("message {number} is {}; there is nothing to decide", word(state))),
            Decided::Missing => Err(format!("there is no message {number}")),
        };
        let (outcome, resent_as, detail) = match done {
            Ok((what, state, next)) => {
                let _ = writeln!(text, "message {number} {what}");
                (state.outcome(), next, None)
            }
            Err(why) => {
                failures.push(Failure::refused(&why).hint("`fleetwatch queue` lists those that are open"));
                ("refused", None, Some(why))
            }
        };
        decided.push(json!({ "intent": number, "outcome": outcome, "resent_as": resent_as, "detail": detail }));
    }
    let printed = if args.json { output::print_json(&decided) } else { output::print(&text) };
    let done = if text.is_empty() { "nothing was decided" } else { text.trim_end() };
    let code = output::acted(done, printed);
    let Some(last) = failures.pop() else { return Ok(code) };
    failures.iter().for_each(Failure::tell);
    Err(last)
}

fn list(intents: &[Intent], json: bool, now: Timestamp) -> Done {
    if json {
        return output::print_json_array(intents.iter().map(of_intent));
    }
    if intents.is_empty() {
        return nothing(
            "nothing waits to be sent or needs a decision",
            "a prompt to an agent that works is queued in the dashboard; a [[follow_up]] in the configuration sends messages",
        );
    }
    let row = |intent: &Intent| {
        let age = now.since(intent.created).rounded().to_string();
        let why = intent.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        let state = format!("{}{why}", word(intent.state));
        let cells = [&intent.id.0.to_string(), &age, &intent.target, &state, &*intent.message_text()];
        cells.map(cell).to_vec()
    };
    let rows: Vec<Vec<String>> = intents.iter().map(row).collect();
    let table = aligned(&["NUMBER", "AGE", "TO", "STATE", "MESSAGE"], &rows, console::terminal_width());
    if intents.iter().any(|intent| matches!(intent.state, IntentState::Unknown | IntentState::Expired)) {
        let hint = "`fleetwatch queue resend NUMBER` sends one again, `dismiss NUMBER` drops it";
        console::tell(&format!("hint: {}", completed(hint)));
    }
    output::print(&table)
}

/// What has become of a message, for people.
pub(super) const fn word(state: IntentState) -> &'static str {
    match state {
        IntentState::Pending => "waiting",
        IntentState::Attempted => "on its way",
        IntentState::Sent => "sent",
        IntentState::Failed => "failed",
        IntentState::Unknown => "unclear whether it arrived",
        IntentState::Expired => "not sent in time",
        IntentState::Cancelled | IntentState::Dismissed => "dismissed",
        IntentState::Resent => "sent again",
    }
}
