//! Templates of prompts: a text with fields that the terminal fills in.

use crate::state::words;

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

/// What is wrong with the text of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// A brace stands alone.
    Brace,
    /// No terminal has a field of that name.
    Field(String),
}

impl Template {
    /// Reads a template: `{name}` is a field, `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A brace stands alone, or no terminal has such a field.
    pub fn parse(name: &str, text: &str) -> Result<Self, TemplateError> {
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
            let (field, behind) = behind.split_once('}').filter(|_| brace == "{").ok_or(TemplateError::Brace)?;
            let known = Field::of_word(field).ok_or_else(|| TemplateError::Field(field.to_owned()))?;
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
}
