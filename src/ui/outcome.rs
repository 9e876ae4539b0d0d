//! What came of an operation, as the operator is told it.

use crate::operation::Outcome;
use crate::status::Status;

/// What an outcome is to the operator.
pub fn status(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Accepted(_) => Status::Finished,
        Outcome::Unverified { .. } => Status::Unknown,
        Outcome::NotTaken { .. } | Outcome::Refused(_) => Status::Failed,
    }
}
