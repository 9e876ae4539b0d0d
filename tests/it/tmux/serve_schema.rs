//! What `serve` answers is what `openapi.json` says: every route that reads is asked of a fleet with something of everything, and
//! each answer is held against the schema. A field that is not described is as wrong as one that is missing.

use serde_json::{Value, json};

use super::serve::{Cage, Server};
use crate::support::private_tmux::wait_until;

/// What is wrong with a value, by its place; nothing if it fits.
fn faults(api: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(path) = schema["$ref"].as_str() {
        let named = api.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path} is not there"));
        return faults(api, named, value, at);
    }
    let mut all = Vec::new();
    let mut fault = |what: String| all.push(format!("{at}: {what}"));
    for key in ["anyOf", "oneOf"] {
        let Some(ways) = schema[key].as_array() else { continue };
        let tried: Vec<Vec<String>> = ways.iter().map(|way| faults(api, way, value, at)).collect();
        if !tried.iter().any(Vec::is_empty) {
            fault(format!("fits none of {}: {tried:?}", ways.len()));
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        faults(api, part, value, at).into_iter().for_each(&mut fault);
    }
    if let Some(wanted) = schema.get("const").filter(|wanted| *wanted != value) {
        fault(format!("is {value} and not {wanted}"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        fault(format!("{value} is none of {}", schema["enum"]));
    }
    let is_of = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Null => Vec::new(),
        Value::String(kind) => vec![kind],
        kinds => kinds.as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind)) {
        fault(format!("{value} is not of type {kinds:?}"));
    }
    if let Some(text) = value.as_str().filter(|_| schema["format"] == "date-time")
        && text.parse::<jiff::Timestamp>().is_err()
    {
        fault(format!("{text} is no time"));
    }
    if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            let of = schema["prefixItems"].get(index).or_else(|| schema.get("items"));
            all.extend(of.map(|of| faults(api, of, item, &format!("{at}[{index}]"))).unwrap_or_default());
        }
    }
    if let Some(fields) = value.as_object() {
        let described = schema["properties"].as_object();
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                all.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            let place = format!("{at}.{name}");
            match described.and_then(|all| all.get(name)).or_else(|| schema.get("additionalProperties")) {
                Some(Value::Bool(true)) => {}
                Some(Value::Bool(false)) => all.push(format!("{place} may not be there")),
                Some(of) => all.extend(faults(api, of, field, &place)),
                // What is described at all is described whole.
                None if described.is_some() => all.push(format!("{place} is not described")),
                None => {}
            }
        }
    }
    all
}

/// What a route answers, by the schema of its status.
fn check(server: &Server, api: &Value, route: &str, path: &str, status: u16) -> Value {
    let answer = server.get(path);
    assert_eq!(answer.status, status, "{path}: {answer:?}");
    let described = &api["paths"][route]["get"]["responses"][status.to_string()];
    let described = match described["$ref"].as_str() {
        Some(named) => api.pointer(named.trim_start_matches('#')).unwrap(),
        None => described,
    };
    let content = described["content"].as_object().unwrap_or_else(|| panic!("{path} {status} is not described"));
    let Some(schema) = content.get("application/json").map(|it| &it["schema"]) else {
        let kind = content.keys().next().unwrap();
        assert!(answer.head.contains(kind.as_str()), "{path} is not {kind}: {}", answer.head);
        return Value::Null;
    };
    let value = answer.json();
    let faults = faults(api, schema, &value, path);
    assert!(faults.is_empty(), "{}\n{value:#}", faults.join("\n"));
    value
}

#[test]
fn every_route_that_reads_answers_what_is_described() {
    let cage = Cage::new();
    let token = cage.token("test", &["--scope", "act"]);
    let server = cage.serve_to(token, &["--listen", "127.0.0.1:0"]);
    server.wait_for_ready();
    let api = server.get("/openapi.json").json();
    // A turn, a prompt and an answer that are in the history, a task, and a dialog that is open.
    let sent = server.post("/v1/terminals/main/input", "k1", &json!({ "text": "hello" }).to_string());
    assert_eq!(sent.status, 200, "{sent:?}");
    cage.ask("one");
    wait_until("the dialog is served", || !server.get("/v1/terminals/main/dialog").json().is_null());
    let dialog = server.get("/v1/terminals/main/dialog").json();
    let answered =
        server.post("/v1/terminals/main/answer", "k2", &json!({ "dialog": dialog["id"], "choice": "yes" }).to_string());
    assert_eq!(answered.status, 200, "{answered:?}");
    cage.printed(&["run", "job", "--", "sh", "-c", "echo done; exec sleep 1000"]);
    cage.ask("two");
    let is_there = |path: &str, is_it: &dyn Fn(&Value) -> bool| wait_until(path, || is_it(&server.get(path).json()));
    let has_some = |value: &Value| value.as_array().is_some_and(|all| !all.is_empty());
    is_there("/v1/tasks", &has_some);
    is_there("/v1/terminals/main/dialog", &|dialog| !dialog.is_null());
    is_there("/v1/terminals/main/transitions", &|all| all.as_array().is_some_and(|all| all.len() > 3));
    is_there("/v1/history?kind=task_event", &has_some);

    for (route, methods) in api["paths"].as_object().unwrap() {
        if methods.get("get").is_none() || route == "/v1/events" {
            continue;
        }
        let value = check(&server, &api, route, &route.replace("{id}", "main"), 200);
        if route.contains("{id}") {
            check(&server, &api, route, &route.replace("{id}", "nobody"), 404);
        }
        assert!(!value.as_array().is_some_and(Vec::is_empty), "{route} says nothing, so nothing is checked");
    }
    check(&server, &api, "/v1/terminals/{id}", "/v1/terminals/job", 200);
    check(&server, &api, "/v1/terminals/{id}/explain", "/v1/terminals/job/explain", 200);
    check(&server, &api, "/v1/terminals/{id}/dialog", "/v1/terminals/job/dialog", 409);
    check(&server, &api, "/v1/history", "/v1/history?kind=nothing", 400);
    let transitions = server.get("/v1/terminals/main/transitions").json();
    let last = transitions.as_array().unwrap().last().unwrap();
    assert!(!last["changed"].as_array().unwrap().is_empty() && last["evidence"].is_array(), "{last}");
}

#[test]
fn what_is_not_described_and_what_is_missing_is_found() {
    let api = json!({ "components": { "schemas": { "It": { "type": "object", "required": ["at"],
        "properties": { "at": { "type": "string" }, "more": { "anyOf": [{ "type": "null" }, { "type": "array", "items": { "enum": ["a"] } }] } } } } } });
    let schema = json!({ "$ref": "#/components/schemas/It" });
    let found = |value: Value| faults(&api, &schema, &value, "it").len();
    assert_eq!(found(json!({ "at": "x", "more": ["a"] })), 0);
    assert_eq!(found(json!({ "at": "x", "more": null })), 0);
    for wrong in [
        json!({}),
        json!({ "at": 1 }),
        json!({ "at": "x", "packed": 1 }),
        json!({ "at": "x", "more": ["b"] }),
        json!(["x"]),
    ] {
        assert_eq!(found(wrong.clone()), 1, "{wrong}");
    }
}
