//! Errors of the TOML parser and serde, in words that name the key and what was meant.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::super::error::{ConfigError, suggestion};

const KEYS_WITH_DEFAULTS: &str = "`fleetwatch config` prints every key with its default";

/// Turns a parser's error into one that suggests what was meant.
pub(super) fn explain(error: &toml::de::Error, text: &str, path: &Path) -> ConfigError {
    let message = error.message().trim();
    let fault = |what, hint| ConfigError::at(path, text, error.span(), what, hint);
    let key = || error.span().map(|span| place_of(text, &span)).unwrap_or_default();
    if let Some((unknown, known)) = choices(message) {
        let place = key();
        let table = if place.is_empty() { "at the top level".to_owned() } else { format!("in [{place}]") };
        return fault(format!("unknown key `{unknown}` {table}"), suggestion(&unknown, &known, "known keys"));
    }
    if message == "wanted string or table" {
        return fault(format!("wrong type for `{}`: a string is expected", key()), "write it in quotes".to_owned());
    }
    if let Some(mismatch) = message.strip_prefix("invalid type: ") {
        let key = key();
        let (found, expected) = mismatch.split_once(", expected ").unwrap_or((mismatch, "something else"));
        let what = format!("wrong type for `{key}`: {}, where {} is expected", in_toml(found), in_toml(expected));
        let hint = match (found, expected) {
            ("map", "a sequence") => format!("write the table's name in two pairs of brackets: [[{key}]]"),
            (_, "a sequence") => "write a list in brackets, such as [\"one\", \"two\"]".to_owned(),
            (_, "a string") => "write it in quotes".to_owned(),
            (_, table) if table.starts_with("struct ") => format!("write the table's name in brackets: [{key}]"),
            (_, "a boolean") => "write `true` or `false`, without quotes".to_owned(),
            _ => KEYS_WITH_DEFAULTS.to_owned(),
        };
        return fault(what, hint);
    }
    let first_line = message.lines().next().unwrap_or("not understood");
    let hint = match first_line {
        "duplicate key" => "keep one of the two",
        _ if first_line.starts_with("string values must be quoted") => "write texts in quotes, and `true` or `false`",
        _ => KEYS_WITH_DEFAULTS,
    };
    fault(format!("this is not TOML: {first_line}"), hint.to_owned())
}

/// A type or value as serde names it, in the terms of TOML.
fn in_toml(name: &str) -> String {
    match name {
        _ if name == "map" || name.starts_with("struct ") => "a table".to_owned(),
        "sequence" | "a sequence" => "a list".to_owned(),
        "i64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        other => match other.strip_suffix(" as i128") {
            Some(number) => format!("{number} is too large"),
            None => other.to_owned(),
        },
    }
}

/// Reads serde's "unknown field `x`, expected one of `a`, `b`".
fn choices(message: &str) -> Option<(String, Vec<String>)> {
    // Every second piece between backticks is a name.
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((names.next()?, names.collect()))
}

/// The dotted name of the value at a span, or of the table with the key there.
fn place_of(text: &str, span: &Range<usize>) -> String {
    let (document, _) = DeTable::parse_recoverable(text);
    let mut names = Vec::new();
    find(document.get_ref(), span, &mut names);
    names.join(".")
}

/// Collects the names on the path to the value or key at a span; returns whether it was found.
fn find(table: &DeTable<'_>, wanted: &Range<usize>, names: &mut Vec<String>) -> bool {
    for (key, value) in table {
        if key.span() == *wanted {
            return true;
        }
        names.push(key.get_ref().to_string());
        if value.span() == *wanted || find_inside(value.get_ref(), wanted, names) {
            return true;
        }
        names.pop();
    }
    false
}

fn find_inside(value: &DeValue<'_>, wanted: &Range<usize>, names: &mut Vec<String>) -> bool {
    match value {
        DeValue::Table(table) => find(table, wanted, names),
        DeValue::Array(array) => {
            array.iter().any(|item| item.span() == *wanted || find_inside(item.get_ref(), wanted, names))
        }
        _ => false,
    }
}
