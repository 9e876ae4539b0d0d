//! The OpenAPI description of the routes. A test makes it from the types; it is shipped as a file.

use axum::http::header;
use axum::response::{IntoResponse, Response};

const OPENAPI: &str = include_str!("openapi.json");

/// `GET /openapi.json`.
pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use schemars::SchemaGenerator;
    use schemars::generate::SchemaSettings;
    use serde_json::{Map, Value, json};

    use super::OPENAPI;
    use crate::record::Kind;
    use crate::serve::{act, read};
    use crate::state::{State, Transition};
    use crate::task::TaskFields;

    /// What keys of idempotency and points in time look like.
    const KEY: &str = "^[!-~]([ -~]*[!-~])?$";
    const TIME: &str = "^(now|today|yesterday|[0-9]{1,3}[smhdwy]|\
        [0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]Z?)?)?|\
        ([01][0-9]|2[0-3]):[0-5][0-9])$";

    fn kinds() -> String {
        let words = Kind::words().join("|");
        format!("^({words})(,({words}))*$")
    }

    /// What a route answers, by its status.
    fn answers(good: &[(&str, &str, Value)], bad: &[&str]) -> Value {
        let mut all = Map::new();
        for (status, what, schema) in good {
            let answer = json!({ "description": what, "content": { "application/json": { "schema": schema } } });
            all.insert((*status).to_owned(), answer);
        }
        for status in bad.iter().chain(&["401", "403", "421", "429", "500", "503"]) {
            all.insert((*status).to_owned(), json!({ "$ref": "#/components/responses/Refused" }));
        }
        Value::Object(all)
    }

    fn get(id: &str, what: &str, (said, schema): (&str, Value), bad: &[&str]) -> Value {
        json!({ "operationId": id, "summary": what, "responses": answers(&[("200", said, schema)], bad) })
    }

    fn post(id: &str, what: &str, body: &Value) -> Value {
        let done = json!({ "$ref": "#/components/schemas/Outcome" });
        let good = [("200", "The terminal reacted.", done.clone()), ("202", "It waits in the outbox.", done)];
        let key = json!({
            "name": "Idempotency-Key", "in": "header", "required": true,
            "schema": { "type": "string", "minLength": 1, "maxLength": 128, "pattern": KEY },
            "description": "A new one for each act. Repeated with the same key, a request does nothing again and gets the same answer.",
        });
        json!({ "operationId": id, "summary": what, "security": [{ "act": [] }], "parameters": [key],
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": answers(&good, &["400", "404", "408", "409", "413", "415", "422", "502", "504"]) })
    }

    fn of_a_terminal(mut operation: Value) -> Value {
        let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 },
            "description": "A whole name, a pane's id such as `%12`, or a task's window id such as `@12`." });
        let method = if operation.get("requestBody").is_some() { "post" } else { "get" };
        let others = operation["parameters"].as_array().cloned().unwrap_or_default();
        operation["parameters"] = std::iter::once(id).chain(others).collect();
        json!({ method: operation })
    }

    fn document() -> Value {
        let generator = |settings: SchemaSettings| -> SchemaGenerator {
            let settings = settings.with(|it| {
                it.definitions_path = "/components/schemas".into();
                it.meta_schema = None;
            });
            settings.into_generator()
        };
        // What is answered has every field; of what is sent some may be left out.
        let mut made = generator(SchemaSettings::draft2020_12().for_serialize());
        let mut taken = generator(SchemaSettings::draft2020_12().for_deserialize());
        let terminal = made.subschema_for::<State>().to_value();
        let task = made.subschema_for::<TaskFields>().to_value();
        let transition = made.subschema_for::<Transition>().to_value();
        let dialog = made.subschema_for::<crate::present::dialog_shown::DialogShown>().to_value();
        let screen = made.subschema_for::<read::ScreenShown>().to_value();
        let prompt = taken.subschema_for::<act::PromptBody>().to_value();
        let answer = taken.subschema_for::<act::AnswerBody>().to_value();
        let keys = taken.subschema_for::<act::KeysBody>().to_value();
        let interrupt = taken.subschema_for::<act::InterruptBody>().to_value();
        let list = |of: &Value| json!({ "type": "array", "items": of });
        let either = json!({ "anyOf": [terminal, task] });
        let nullable = json!({ "anyOf": [dialog, { "type": "null" }] });
        let text = json!({ "type": "string" });
        let record = json!({ "type": "object", "description": "Beside these, the fields of its kind, as `fleetwatch history --json` prints them.",
            "additionalProperties": true, "required": ["at", "kind", "terminal"], "properties":
            { "at": { "type": "string", "format": "date-time" }, "kind": text, "terminal": text, "sentence":
            { "type": ["string", "null"], "description": "What happened, as a person would tell it; null where that is not worth telling." } } });
        let mut schemas: Map<String, Value> = made.take_definitions(true);
        schemas.extend(taken.take_definitions(true));
        for described in ["State", "TaskFields"] {
            let what = "What it is, in the word that people read: `working`, `exited 0`.";
            schemas[described]["properties"]["word"] = json!({ "type": "string", "description": what });
        }
        let beside = |what: &str| json!({ "type": ["string", "null"], "description": what });
        let properties = &mut schemas["State"]["properties"];
        properties["id"] =
            json!({ "type": "string", "description": "Its name, under the same key as that of a task." });
        properties["what"] = beside("What it waits for or does, in one line for people.");
        let outcome = json!({ "type": "object", "required": ["outcome"], "properties": {
            "outcome": { "enum": ["accepted", "queued"] }, "detail": { "type": ["string", "null"] },
            "intent": { "type": "integer", "description": "The number of the queued prompt in the outbox." },
            "dialog_outcome": { "description": "The outcome of the answer, if a text followed it.", "const": "accepted" } } });
        let refused = json!({ "type": "object", "required": ["error", "hint"], "properties": {
            "error": text, "hint": text, "detail": { "type": ["string", "null"] },
            "may_pass": { "type": "boolean", "description": "Whether the same could be accepted later." },
            "outcome": { "enum": ["refused", "not_taken", "unverified", "under_way"] },
            "dialog": { "description": "The open dialog, if that is the reason.", "anyOf": nullable["anyOf"] } } });
        schemas.extend([
            ("Outcome".to_owned(), outcome),
            ("Refused".to_owned(), refused),
            ("Record".to_owned(), record),
        ]);
        let records = list(&json!({ "$ref": "#/components/schemas/Record" }));
        let asked = |name: &str, what: &str, schema: &Value| json!({ "name": name, "in": "query", "description": what, "schema": schema });
        let mut history =
            get("history", "What happened and what was done.", ("Oldest first.", records), &["400", "404", "409"]);
        history["parameters"] = json!([
            asked("target", "The terminal.", &json!({ "type": "string", "minLength": 1 })),
            asked("since", "A time, or how long ago: 2h.", &json!({ "type": "string", "pattern": TIME })),
            asked("until", "The same.", &json!({ "type": "string", "pattern": TIME })),
            asked("kind", "Several, separated by commas.", &json!({ "type": "string", "pattern": kinds() })),
            asked(
                "limit",
                "How many at most.",
                &json!({ "type": "integer", "minimum": 0, "maximum": 1000, "default": 100 })
            ),
        ]);
        let stream = |kind: &str, what: &str| {
            let mut all = answers(&[], &[]);
            all["200"] = json!({ "description": what, "content": { kind: { "schema": { "type": "string" } } } });
            all
        };
        let mut events = json!({ "operationId": "events", "summary": "What happens, as it happens: the lines of `watch --json`.",
            "responses": stream("text/event-stream", "Server-sent events.") });
        events["parameters"] = json!([{ "name": "Last-Event-ID", "in": "header", "schema": text, "description": "The event to continue after." }]);
        let metrics = json!({ "operationId": "metrics", "summary": "Metrics for Prometheus.",
            "responses": stream("application/openmetrics-text", "OpenMetrics.") });
        let open = json!([]);
        let health = json!({ "operationId": "healthz", "summary": "Whether it answers.", "security": open,
            "responses": { "200": { "description": "It does.", "content": { "application/json": { "schema":
                { "type": "object", "required": ["ok"], "properties": { "ok": { "const": true } } } } } } } });
        let one = |id, what, schema| of_a_terminal(get(id, what, ("As it is now.", schema), &["404", "409"]));
        let mut all = json!({
            "openapi": "3.1.0",
            "info": { "title": "fleetwatch", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "MIT", "identifier": "MIT" },
                "description": "The state of every coding agent in tmux, and ways to act on it. `docs/serving.md` has the rules." },
            "security": [{ "read": [] }],
            "paths": {
                "/healthz": { "get": health },
                "/metrics": { "get": metrics },
                "/v1/terminals": { "get": get("terminals", "All terminals of agents.", ("Most urgent first.", list(&terminal)), &[]) },
                "/v1/tasks": { "get": get("tasks", "All tasks.", ("Those that need you first.", list(&task)), &[]) },
                "/v1/terminals/{id}": one("terminal", "One terminal or task.", either),
                "/v1/terminals/{id}/dialog": one("dialog", "The dialog that is open, or null.", nullable),
                "/v1/terminals/{id}/screen": one("screen", "What is on the screen.", screen),
                "/v1/terminals/{id}/transitions": one("transitions", "The latest transitions.", list(&transition)),
                "/v1/terminals/{id}/explain": one("explain", "Why it is in its state.", json!({ "type": "object" })),
                "/v1/history": { "get": history },
                "/v1/events": { "get": events },
                "/v1/terminals/{id}/answer": of_a_terminal(post("answer", "Answers the dialog that was read.", &answer)),
                "/v1/terminals/{id}/input": of_a_terminal(post("input", "Sends a prompt.", &prompt)),
                "/v1/terminals/{id}/keys": of_a_terminal(post("keys", "Presses keys.", &keys)),
                "/v1/terminals/{id}/interrupt": of_a_terminal(post("interrupt", "Stops the agent's turn.", &interrupt)),
            },
            "components": {
                "schemas": schemas,
                "responses": { "Refused": { "description": "It is not done, and why.", "content": { "application/json": {
                    "schema": { "$ref": "#/components/schemas/Refused" } } } } },
                "securitySchemes": {
                    "read": { "type": "http", "scheme": "bearer", "description": "A token of any scope." },
                    "act": { "type": "http", "scheme": "bearer", "description": "A token with `--scope act`." },
                },
            },
        });
        spell_out(&mut all);
        all
    }

    /// Generators of clients know no `true` as a schema.
    fn spell_out(value: &mut Value) {
        if let Some(properties) = value.get_mut("properties").and_then(Value::as_object_mut) {
            properties.values_mut().filter(|it| **it == true).for_each(|it| *it = json!({}));
        }
        match value {
            Value::Object(fields) => fields.values_mut().for_each(spell_out),
            Value::Array(items) => items.iter_mut().for_each(spell_out),
            _ => {}
        }
    }

    /// What the schema calls valid is not refused for how it looks.
    #[test]
    fn what_is_refused_for_how_it_looks_does_not_fit_the_schema() {
        let api: Value = serde_json::from_str(OPENAPI).unwrap();
        let fits = |place: &str, text: &str| {
            let schema = api.pointer(place).unwrap_or_else(|| panic!("{place} is not there"));
            let pattern = schema["pattern"].as_str().unwrap_or_else(|| panic!("{place} has no pattern"));
            regex::Regex::new(pattern).unwrap().is_match(text)
        };
        let key = "/paths/~1v1~1terminals~1{id}~1keys/post/parameters/1/schema";
        let [since, kind] = [1, 3].map(|nth| format!("/paths/~1v1~1history/get/parameters/{nth}/schema"));
        let text = "/components/schemas/PromptBody/properties/text";
        let dialogs =
            ["Answer", "Keys", "Interrupt"].map(|of| format!("/components/schemas/{of}Body/properties/dialog"));
        let id = "0123456789abcdef".repeat(3);
        for (place, good, bad) in [
            (key, vec!["a", "a b", "550e8400-e29b"], vec!["", " ", "é", "a\n"]),
            (
                &since,
                vec!["2h", "30m", "today", "2026-11-21", "2026-11-21T09:00:00Z", "09:00"],
                vec!["", "x", "-1s", "2026-13-01", "25:00"],
            ),
            (&kind, vec!["input", "input,task_event"], vec!["", "x", "input,", "input,,task_event"]),
            (text, vec!["x", "é\n\ty", " a "], vec!["", " \n ", "a\u{1b}b", "\u{9b}x", "\r"]),
        ] {
            good.iter().for_each(|text| assert!(fits(place, text), "{place}: {text:?}"));
            bad.iter().for_each(|text| assert!(!fits(place, text), "{place}: {text:?}"));
            let at = since.as_str() == place;
            good.iter()
                .filter(|_| at)
                .for_each(|text| assert!(crate::present::times::moment(text, &jiff::Zoned::now()).is_ok(), "{text}"));
        }
        for dialog in &dialogs {
            assert!(
                fits(dialog, &id) && !fits(dialog, "") && !fits(dialog, &id[1..]) && !fits(dialog, &id.to_uppercase())
            );
        }
    }

    /// After a change of the types, `FLEETWATCH_WRITE_SCHEMA=1 cargo test --lib schema` writes it.
    #[test]
    fn the_shipped_schema_of_the_routes_is_that_of_the_types() {
        let made = format!("{:#}\n", document());
        if std::env::var_os("FLEETWATCH_WRITE_SCHEMA").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/openapi.json");
            std::fs::write(path, &made).unwrap();
        } else {
            assert!(made == OPENAPI, "src/serve/openapi.json is old; FLEETWATCH_WRITE_SCHEMA=1 writes it");
        }
    }
}
