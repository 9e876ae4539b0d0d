//! What came of an operation, as the operator is told it.

use super::meaning::Meaning;
use crate::operation::Outcome;

/// What an outcome means to the operator.
pub fn meaning(outcome: &Outcome) -> Meaning {
    match outcome {
        Outcome::Accepted(_) => Meaning::Finished,
        Outcome::Unverified { .. } => Meaning::Unknown,
        Outcome::NotTaken { .. } | Outcome::Refused(_) => Meaning::Failed,
    }
}
