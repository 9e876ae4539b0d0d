//! What came of an operation, as the operator is told it.

use super::raw::spoken_all;
use crate::operation::{Act, Operation, Outcome, When};
use crate::status::Status;

/// What an outcome is to the operator.
pub fn status(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Accepted(_) => Status::Finished,
        Outcome::Unverified { .. } => Status::Unknown,
        Outcome::NotTaken { .. } | Outcome::Refused(_) => Status::Failed,
    }
}

/// What came of an operation, in a sentence.
pub fn told(operation: &Operation, outcome: &Outcome) -> String {
    let (name, why) = (&operation.to.name, outcome.detail().unwrap_or_default());
    match (&operation.act, outcome) {
        (Act::Prompt { .. }, Outcome::Accepted(Some(how))) => format!("{name}: {how}"),
        (Act::Prompt { .. }, Outcome::Accepted(None)) => format!("{name} took the prompt"),
        (Act::Prompt { .. }, Outcome::NotTaken { .. }) => format!("{name} did not take the prompt: {why}"),
        (Act::Prompt { .. }, Outcome::Unverified { .. }) => {
            format!("it is not known whether {name} took the prompt: {why}")
        }
        (Act::Prompt { when: When::Ready, .. }, Outcome::Refused(_)) => {
            format!("the queued prompt for {name} was not sent: {why}")
        }
        (Act::Prompt { .. }, Outcome::Refused(_)) => format!("nothing was sent to {name}: {why}"),
        (Act::Answer { .. }, Outcome::Accepted(Some(after))) => format!("{name}: taken: {after}"),
        (Act::Answer { .. }, Outcome::Accepted(None)) => format!("{name}: taken"),
        (Act::Answer { .. }, Outcome::Unverified { .. }) => {
            format!("it is not known whether the dialog of {name} was answered: {why}")
        }
        (Act::Answer { .. }, _) => format!("the dialog of {name} was not answered: {why}"),
        (Act::Keys { keys, .. } | Act::Interrupt { keys, .. }, Outcome::Accepted(_)) => {
            format!("pressed {} in {name}", spoken_all(keys))
        }
        (_, Outcome::Unverified { .. }) => format!("it is not known whether keys were pressed in {name}: {why}"),
        (_, _) => format!("no key was pressed in {name}: {why}"),
    }
}
