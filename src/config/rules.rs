//! Which panes are watched, and what the configuration says about them.

use super::error::{ValueFault, suggestion};
use crate::fleet::{Declared, PaneId, PaneLocation, ServerId};
use crate::pattern::Pattern;
use crate::state::words;

/// The panes that the configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether panes that no rule names are watched when a known agent runs in them.
    pub discover: bool,
    pub(super) ignore: Vec<Pattern>,
    pub(super) terminals: Vec<TerminalRule>,
    pub(super) tasks: Vec<TerminalRule>,
}

/// One `[[terminal]]`, or the place of a `[[task]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalRule {
    pub(super) session: Option<Pattern>,
    pub(super) window: Option<Pattern>,
    pub(super) pane: Option<Pattern>,
    pub(super) socket: Option<Pattern>,
    pub(super) host: Option<Pattern>,
    pub(super) declared: Declared,
    pub(super) pin: Option<bool>,
    pub(super) mute: Option<bool>,
}

/// A pane, by everything that a rule can match.
#[derive(Clone, Copy, Debug)]
pub struct PaneAddress<'a> {
    pub server: &'a ServerId,
    pub place: &'a PaneLocation,
    pub pane: PaneId,
}

/// What the configuration says of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// It is never watched.
    Ignored,
    /// It is watched, whatever runs in it.
    Named(Declared),
    /// It is watched when a known agent runs in it; the configuration may say how it is shown.
    Discovered(Declared),
}

impl Default for Rules {
    fn default() -> Self {
        Self { discover: true, ignore: Vec::new(), terminals: Vec::new(), tasks: Vec::new() }
    }
}

impl Rules {
    /// What the configuration says of a pane. Ignoring wins over naming. Of several `[[terminal]]` that say what a pane
    /// is, the first one that matches is taken; label, pin and mute come from the first one each that gives them.
    pub fn of_pane(&self, address: PaneAddress<'_>) -> Match {
        if self.is_ignored(address) {
            return Match::Ignored;
        }
        let matching = || self.terminals.iter().filter(|rule| rule.matches(address));
        let named = matching().find(|rule| rule.names());
        let shown = Declared {
            label: matching().find_map(|rule| rule.declared.label.clone()),
            pinned: matching().find_map(|rule| rule.pin).unwrap_or_default(),
            muted: matching().find_map(|rule| rule.mute).unwrap_or_default(),
            ..named.map(|rule| rule.declared.clone()).unwrap_or_default()
        };
        match named {
            Some(_) => Match::Named(shown),
            None if self.discover => Match::Discovered(shown),
            None => Match::Ignored,
        }
    }

    /// Whether a pattern says that the pane is never watched.
    pub fn is_ignored(&self, address: PaneAddress<'_>) -> bool {
        // Spelling an address costs more than all else that is done for an idle pane.
        if self.ignore.is_empty() {
            return false;
        }
        // A pane is ignored under each of its names: no link and no group of sessions makes it one to watch.
        address.place.all().any(|(session, index)| {
            let spellings = address.spellings(session, index);
            self.ignore.iter().any(|pattern| spellings.iter().any(|spelling| pattern.matches(spelling)))
        })
    }

    /// Whether the configuration declares the pane's window as one of a task.
    pub fn is_task(&self, address: PaneAddress<'_>) -> bool {
        self.tasks.iter().any(|rule| rule.matches(address))
    }

    /// Whether it declares the whole session of a pane as one of tasks.
    pub fn is_task_session(&self, address: PaneAddress<'_>) -> bool {
        self.tasks.iter().any(|rule| rule.window.is_none() && rule.matches(address))
    }
}

impl TerminalRule {
    /// Whether the rule has panes watched. One that only says how panes are shown does not.
    fn names(&self) -> bool {
        let Declared { name, tool, version, label, .. } = &self.declared;
        let only_shown = label.is_some() || self.pin.is_some() || self.mute.is_some();
        !only_shown || name.is_some() || tool.is_some() || version.is_some()
    }

    fn matches(&self, address: PaneAddress<'_>) -> bool {
        // Each pane is matched in each poll, so nothing is spelt for a missing pattern.
        let fits = |pattern: &Option<Pattern>, fits: &dyn Fn(&Pattern) -> bool| pattern.as_ref().is_none_or(fits);
        let PaneAddress { server, place, pane } = address;
        fits(&self.session, &|pattern| pattern.is_any(&[&place.session]))
            && fits(&self.window, &|pattern| pattern.is_any(&[&place.window_index.to_string(), &place.window_name]))
            && fits(&self.pane, &|pattern| pattern.is_any(&[&place.pane_index.to_string(), &pane.to_string()]))
            && fits(&self.socket, &|pattern| pattern.matches(&server.socket.to_string()))
            && fits(&self.host, &|pattern| pattern.is_any(&[server.host.as_deref().unwrap_or("local")]))
    }
}

impl PaneAddress<'_> {
    /// Every way to write the pane's address in a session that shows its window under an index.
    fn spellings(&self, session: &str, window_index: u32) -> [String; 6] {
        let PaneLocation { window_name, pane_index, .. } = self.place;
        [
            session.to_owned(),
            format!("{session}:{window_index}"),
            format!("{session}:{window_name}"),
            format!("{session}:{window_index}.{pane_index}"),
            format!("{session}:{window_name}.{pane_index}"),
            self.pane.to_string(),
        ]
    }
}

// Templates of prompts: a text with fields that the terminal fills in.

words! {
    /// What a template can say of a terminal.
    Field {
        Name = "name", Agent = "agent", Version = "version", Session = "session", Window = "window", Pane = "pane",
        Cwd = "cwd", Title = "title", Host = "host",
    }
}

/// A template for prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The name to choose it by.
    pub name: String,
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Field(Field),
}

impl Template {
    /// Reads a template: `{name}` is a field, `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A brace stands alone, or no terminal has such a field.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, ValueFault> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let (brace, behind) = rest[at..].split_at(1);
            if let Some(behind) = behind.strip_prefix(brace) {
                plain.push_str(brace);
                rest = behind;
                continue;
            }
            let (field, behind) = behind.split_once('}').filter(|_| brace == "{").ok_or_else(|| {
                let what = "there is a single brace in the text of a template";
                (what.to_owned(), "a field is written `{name}`, a brace `{{` or `}}`".to_owned())
            })?;
            let known = Field::of_word(field).ok_or_else(|| {
                (format!("no terminal has a field `{field}`"), suggestion(field, &Field::words(), "fields"))
            })?;
            parts.extend([TemplatePart::Text(std::mem::take(&mut plain)), TemplatePart::Field(known)]);
            rest = behind;
        }
        plain.push_str(rest);
        parts.push(TemplatePart::Text(plain));
        Ok(Self { name: name.to_owned(), parts })
    }

    /// Whether it has fields, so that the text differs between terminals.
    pub fn has_fields(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, TemplatePart::Field(_)))
    }

    /// The text with its fields filled in. Values are plain text: fields in them are not filled in again.
    pub fn filled(&self, value: impl Fn(Field) -> String) -> String {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Field(field) => value(*field),
        };
        self.parts.iter().map(part).collect()
    }
}

#[cfg(test)]
mod template_tests {
    use super::*;

    #[test]
    fn fields_are_filled_in_as_plain_text() {
        let template = Template::parse("t", "Look at {cwd} of {name}, print {{}} }}").expect("a template");
        assert!(template.has_fields());
        let filled = template.filled(|field| format!("<{field} {{name}}>"));
        assert_eq!(filled, "Look at <cwd {name}> of <name {name}>, print {} }");
        assert!(!Template::parse("t", "plain").expect("a template").has_fields());
    }
}
