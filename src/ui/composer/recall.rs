//! Earlier prompts, one by one: those of the terminal first, then those of all.

/// Where one stands among the earlier prompts. What was being written when one left it is the newest of them.
#[derive(Clone, Debug, Default)]
pub struct PromptRecall {
    /// Newest first.
    prompts: Vec<String>,
    /// How many of them belong to the terminal itself.
    own: usize,
    at: Option<usize>,
    draft: String,
}

impl PromptRecall {
    /// Takes in the prompts that were sent to the terminal, and to any, newest first.
    pub fn learn(&mut self, own: &[String], all: &[String]) {
        self.prompts = own.to_vec();
        self.own = own.len();
        self.prompts.extend(all.iter().filter(|prompt| !own.contains(prompt)).cloned());
        self.at = None;
    }

    /// All of them, newest first, the terminal's own before those of others; and how many are its own.
    pub fn all(&self) -> (&[String], usize) {
        (&self.prompts, self.own)
    }

    /// The next older prompt; `text` is what stands in the composer now.
    pub fn older(&mut self, text: &str) -> Option<&str> {
        let next = self.at.map_or(0, |at| at + 1);
        let prompt = self.prompts.get(next)?;
        if self.at.is_none() {
            text.clone_into(&mut self.draft);
        }
        self.at = Some(next);
        Some(prompt)
    }

    /// The next newer prompt, and behind the newest one what was being written.
    pub fn newer(&mut self) -> Option<&str> {
        let at = self.at?;
        self.at = at.checked_sub(1);
        Some(self.at.and_then(|at| self.prompts.get(at)).unwrap_or(&self.draft))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_prompts_come_before_those_of_others_and_the_draft_comes_back() {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mut recall = PromptRecall::default();
        assert_eq!(recall.older("x"), None);
        assert_eq!(recall.newer(), None);
        recall.learn(&owned(&["b", "a"]), &owned(&["c", "b"]));
        assert_eq!(recall.older("draft"), Some("b"));
        assert_eq!(recall.older("b"), Some("a"));
        assert_eq!(recall.older("a"), Some("c"));
        assert_eq!(recall.older("c"), None);
        assert_eq!(recall.newer(), Some("a"));
        assert_eq!(recall.newer(), Some("b"));
        assert_eq!(recall.newer(), Some("draft"));
        assert_eq!(recall.newer(), None);
    }
}
