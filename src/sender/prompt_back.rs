//! The prompt that follows an answer.

use std::time::{Duration, Instant};

use super::Gate;

/// How long after an answer that returns to the prompt an agent may take until the prompt accepts text.
const PROMPT_AFTER_ANSWER: Duration = Duration::from_secs(10);

/// A deadline for trying again: the prompt comes back once the agent has drawn the end of the turn.
pub struct PromptBack(Instant);

impl PromptBack {
    /// From now on, as long as an agent may take.
    pub fn awaited() -> Self {
        Self(Instant::now() + PROMPT_AFTER_ANSWER)
    }
}

impl Gate for PromptBack {
    async fn may_retry(&mut self) -> bool {
        Instant::now() < self.0
    }
}
