//! Earlier prompts, one by one or in a list: those of the terminal first, then those of all; and the templates.

use crate::fleet::{Terminal, TerminalKey};
use crate::present::template::{Field, Template};
use crate::screen::harmless;
use crate::ui::overlay::OverlayReply;
use crate::ui::picker::{MenuEntry, Picker};
use crate::ui::{Flow, OverlayContext};

/// What the key that takes a text is called.
const TAKE: &str = "take it";

/// What is said of a draft in whose place another one stands.
const DRAFT: &str = "a draft";

/// Where one stands among the earlier prompts. What was being written when one left it is the newest of them.
#[derive(Clone, Debug, Default)]
pub struct PromptRecall {
    /// What each is, and its text: a draft, and then what was sent, newest first.
    prompts: Vec<(&'static str, String)>,
    at: Option<usize>,
    draft: String,
}

impl PromptRecall {
    /// Takes in the prompts that were sent to the terminal, those that were begun for agents that are gone, and those that
    /// were sent to any terminal, newest first.
    pub fn set_prompts(&mut self, own: &[String], left: &[String], all: &[String]) {
        self.prompts.retain(|(what, _)| *what == DRAFT);
        let sent = own.iter().map(|prompt| ("here", prompt));
        let sent = sent.chain(left.iter().map(|prompt| ("a draft, its agent is gone", prompt)));
        let sent = sent.chain(all.iter().filter(|prompt| !own.contains(prompt)).map(|prompt| ("", prompt)));
        self.prompts.extend(sent.map(|(what, prompt)| (what, prompt.clone())));
        self.at = None;
    }

    /// Has a draft at hand whose place something else takes.
    pub fn set_aside(&mut self, draft: String) {
        self.prompts.insert(0, (DRAFT, draft));
        self.at = None;
    }

    /// Whether the next older prompt is a draft.
    pub fn begins_with_draft(&self) -> bool {
        self.at.is_none() && self.prompts.first().is_some_and(|(what, _)| *what == DRAFT)
    }

    /// A list of the prompts, newest first, the terminal's own before those of others; `None` when there are none.
    pub fn picker(&self) -> Option<Picker> {
        let entry = |(what, prompt): &(&'static str, String)| MenuEntry::new(in_one_line(prompt), *what);
        let entries: Vec<MenuEntry> = self.prompts.iter().map(entry).collect();
        let prompts = self.prompts.clone();
        let take = move |index: usize, _: &mut OverlayContext<'_, '_>| {
            Flow::Reply(OverlayReply::Text(prompts[index].1.clone()))
        };
        (!entries.is_empty()).then(|| Picker::new("earlier prompts", TAKE, entries, take).over_panes())
    }

    /// The next older prompt; `text` is what stands in the composer now.
    pub fn older(&mut self, text: &str) -> Option<&str> {
        let next = self.at.map_or(0, |at| at + 1);
        let (_, prompt) = self.prompts.get(next)?;
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
        Some(self.at.and_then(|at| self.prompts.get(at)).map_or(&self.draft, |(_, prompt)| prompt))
    }
}

/// A list of the templates of the configuration, filled in for a terminal; `None` when there are none.
pub fn templates(templates: &[Template], to: Option<&TerminalKey>) -> Option<Picker> {
    let (templates, to) = (templates.to_vec(), to.cloned());
    let text = |template: &Template| in_one_line(&template.filled(|field| format!("{{{field}}}")));
    let entry = |template: &Template| MenuEntry::new(format!("{}   {}", template.name, text(template)), "");
    let entries: Vec<MenuEntry> = templates.iter().map(entry).collect();
    let take = move |index: usize, cx: &mut OverlayContext<'_, '_>| {
        let template: &Template = &templates[index];
        match to.as_ref().and_then(|key| cx.terminal(key)) {
            Some(terminal) => Flow::Reply(OverlayReply::Text(template.filled(|field| value(field, terminal)))),
            None if template.has_fields() => {
                cx.say("the template has fields, which differ from terminal to terminal");
                Flow::Close
            }
            None => Flow::Reply(OverlayReply::Text(template.filled(|_| String::new()))),
        }
    };
    (!entries.is_empty()).then(|| Picker::new("templates", TAKE, entries, take))
}

/// What a terminal fills into a field. It comes from outside, and may end neither a line nor a paste.
fn value(field: Field, terminal: &Terminal) -> String {
    let facts = &terminal.state.terminal;
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    harmless(&match field {
        Field::Name => facts.id.clone(),
        Field::Agent => facts.tool.clone(),
        Field::Version => optional(&facts.observed_tool_version),
        Field::Session => optional(&facts.session),
        Field::Window => optional(&facts.window),
        Field::Pane => terminal.key.pane.to_string(),
        Field::Cwd => optional(&facts.cwd),
        Field::Title => facts.title.clone(),
        Field::Host => optional(&facts.host),
    })
}

/// The beginning of a text as far as a menu could ever show it or find something in it.
fn in_one_line(text: &str) -> String {
    const SHOWN: usize = 400;
    let end = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    text[..end].lines().collect::<Vec<_>>().join(" ⏎ ")
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
        recall.set_prompts(&owned(&["b", "a"]), &[], &owned(&["c", "b"]));
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
