//! Templates of prompts.

use super::{Source, Step, syntax};
use crate::config::file::TemplateTable;
use crate::config::template::BadTemplate;
use crate::config::{ConfigError, Field, Template};

impl Source<'_> {
    pub(super) fn templates(&self, tables: &[TemplateTable]) -> Result<Vec<Template>, ConfigError> {
        tables.iter().enumerate().map(|(index, table)| self.template(index, table)).collect()
    }

    fn template(&self, index: usize, table: &TemplateTable) -> Result<Template, ConfigError> {
        let at = |key| [Step::Key("template"), Step::Index(index), Step::Key(key)];
        for (key, value) in [("name", &table.name), ("text", &table.text)] {
            if value.is_none() {
                let hint = "a template is a `name` to choose it by, and the `text` that it begins a prompt with";
                return Err(self.fault(&at(key), format!("a template has no `{key}`"), hint));
            }
        }
        let (name, text) = (table.name.as_deref().unwrap_or_default(), table.text.as_deref().unwrap_or_default());
        self.word(&at("name"), "name", Some(name))?;
        if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            let what = format!("the text of a template has the control character U+{:04X}", u32::from(c));
            return Err(self.fault(&at("text"), what, "no prompt may contain it; take it out"));
        }
        Template::parse(name, text).map_err(|bad| {
            let known: Vec<&str> = Field::ALL.iter().map(|field| field.word()).collect();
            match bad {
                BadTemplate::Field(field) => {
                    let hint = syntax::suggestion(&field, &known, "fields");
                    self.fault(&at("text"), format!("no terminal has a field `{field}`"), hint)
                }
                BadTemplate::Brace => {
                    let hint = "a field is written `{name}`, a brace `{{` or `}}`";
                    self.fault(&at("text"), "a brace stands alone in the text of a template".to_owned(), hint)
                }
            }
        })
    }
}
