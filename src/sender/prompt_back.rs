//! The prompt that follows an answer.

use std::time::{Duration, Instant};

use super::Gate;
use super::steps::REACTION;
use crate::time::Span;

/// How long after an answer that returns to the prompt an agent may take until the prompt accepts text: it draws twice.
const PROMPT_AFTER_ANSWER: Span = REACTION.times(2);

/// A deadline for trying again: the prompt comes back once the agent has drawn the end of the turn.
pub struct PromptBack(Instant);

impl PromptBack {
    /// From now on, as long as an agent may take.
    pub fn awaited() -> Self {
        Self(Instant::now() + Duration::from(PROMPT_AFTER_ANSWER))
    }
}

impl Gate for PromptBack {
    async fn may_retry(&mut self) -> bool {
        Instant::now() < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_prompt_is_tried_again_until_its_agent_has_had_its_time() {
        let mut awaited = PromptBack::awaited();
        assert!(awaited.may_begin().await && awaited.may_retry().await);
        let mut over = PromptBack(Instant::now());
        assert!(over.may_begin().await && !over.may_retry().await);
    }
}
