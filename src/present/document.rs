//! The JSON documents of the contract (SPEC §12).

use serde_json::{Map, Value, json};

use super::sentence;
use crate::record::{Stored, members};
use crate::screen::harmless;

/// A record as one line of `history --json`.
pub fn of_record(record: &Stored) -> Value {
    let fixed = json!({ "at": record.at, "kind": record.body.kind(), "terminal": record.name, "state": null });
    let mut line: Map<String, Value> = members(fixed).collect();
    for (name, value) in record.body.fields() {
        // The fixed fields win over what another version wrote.
        match name.as_str() {
            "state" => line["state"] = value,
            _ => drop(line.entry(name).or_insert(value)),
        }
    }
    line.insert("id".to_owned(), json!(record.id.0));
    let sentence = sentence::of(&record.body, &record.name);
    let sentence = sentence.map(|sentence| harmless(&format!("{} {}", sentence.subject(&record.name), sentence.text)));
    line.insert("sentence".to_owned(), sentence.into());
    Value::Object(line)
}
