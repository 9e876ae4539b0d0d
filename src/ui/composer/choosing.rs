//! Taking an earlier prompt or a template into the composer.

use super::recall::PromptRecall;
use crate::config::{Field, Template};
use crate::fleet::Terminal;
use crate::screen::harmless;
use crate::ui::menu::{Menu, MenuEntry};

/// A list of texts of which one is taken.
#[derive(Debug)]
pub struct Choosing {
    pub menu: Menu,
    texts: Texts,
}

#[derive(Debug)]
enum Texts {
    Prompts(Vec<String>),
    Templates(Vec<Template>),
}

impl Choosing {
    /// The prompts that were sent before; `None` when there are none.
    pub fn prompts(recall: &PromptRecall) -> Option<Self> {
        let (prompts, own) = recall.all();
        let note = |place: usize| if place < own { "here" } else { "" }.to_owned();
        let entry = |(place, prompt): (usize, &String)| MenuEntry { text: in_one_line(prompt), note: note(place) };
        let entries: Vec<MenuEntry> = prompts.iter().enumerate().map(entry).collect();
        let texts = Texts::Prompts(prompts.to_vec());
        (!entries.is_empty()).then(|| Self { menu: Menu::new("earlier prompts", entries), texts })
    }

    /// The templates of the configuration; `None` when there are none.
    pub fn templates(templates: &[Template]) -> Option<Self> {
        let text = |template: &Template| in_one_line(&template.filled(|field| format!("{{{field}}}")));
        let entry = |template: &Template| MenuEntry {
            text: format!("{}   {}", template.name, text(template)),
            ..MenuEntry::default()
        };
        let entries: Vec<MenuEntry> = templates.iter().map(entry).collect();
        let texts = Texts::Templates(templates.to_vec());
        (!entries.is_empty()).then(|| Self { menu: Menu::new("templates", entries), texts })
    }

    /// The chosen text, for a terminal or for several; or why it cannot be taken.
    pub fn chosen(&self, terminal: Option<&Terminal>) -> Option<Result<String, &'static str>> {
        let place = self.menu.chosen()?;
        match (&self.texts, terminal) {
            (Texts::Prompts(prompts), _) => prompts.get(place).cloned().map(Ok),
            (Texts::Templates(templates), Some(terminal)) => {
                templates.get(place).map(|template| Ok(template.filled(|field| value(field, terminal))))
            }
            (Texts::Templates(templates), None) => templates.get(place).map(|template| match template.has_fields() {
                true => Err("the template has fields, which differ from terminal to terminal"),
                false => Ok(template.filled(|_| String::new())),
            }),
        }
    }
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
