//! Templates of prompts: a text with fields that the terminal fills in.

use crate::state::words;

words! {
    /// What of a terminal a template can name.
    Field {
        Name = "name", Agent = "agent", Version = "version", Session = "session", Window = "window", Pane = "pane",
        Cwd = "cwd", Title = "title", Host = "host",
    }
}

/// A prompt to begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What it is chosen by.
    pub name: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(Field),
}

/// What is wrong with a template's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadTemplate {
    /// `{` without its `}`, or the other way round.
    Brace,
    /// No terminal has such a field.
    Field(String),
}

impl Template {
    /// Reads a template: `{name}` is a field, `{{` and `}}` are braces.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, BadTemplate> {
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
            let (field, behind) = behind.split_once('}').filter(|_| brace == "{").ok_or(BadTemplate::Brace)?;
            let known = Field::of_word(field).ok_or_else(|| BadTemplate::Field(field.to_owned()))?;
            parts.extend([Part::Text(std::mem::take(&mut plain)), Part::Field(known)]);
            rest = behind;
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        Ok(Self { name: name.to_owned(), parts })
    }

    /// Whether it has fields, so that it differs from terminal to terminal.
    pub fn has_fields(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Field(_)))
    }

    /// The text with its fields filled in, as plain text: what a field holds is not read for fields again.
    pub fn filled(&self, value: impl Fn(Field) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Field(field) => value(*field),
        };
        self.parts.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled_in_as_plain_text() {
        let template = Template::parse("t", "Look at {cwd} of {name}, print {{}} }}").expect("a template");
        assert!(template.has_fields());
        let filled = template.filled(|field| format!("<{field} {{name}}>"));
        assert_eq!(filled, "Look at <cwd {name}> of <name {name}>, print {} }");
        assert!(!Template::parse("t", "plain").expect("a template").has_fields());
    }

    #[test]
    fn what_is_no_field_is_refused() {
        assert_eq!(Template::parse("t", "a {nam}"), Err(BadTemplate::Field("nam".to_owned())));
        assert_eq!(Template::parse("t", "a {name"), Err(BadTemplate::Brace));
        assert_eq!(Template::parse("t", "a } b"), Err(BadTemplate::Brace));
    }
}
