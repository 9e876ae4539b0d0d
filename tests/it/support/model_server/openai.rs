//! The Responses API, as far as Codex uses it.

use serde_json::{Value, json};

use super::anthropic::unique;
use super::wire::Request;
use super::{Piece, Purpose, Spelling};

/// What a request is for.
pub(super) fn purpose(request: &Request) -> Purpose {
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", path) if path.ends_with("/responses") => {
            let newest = request.body["input"].as_array().and_then(|items| items.last()).map(Value::to_string);
            // Codex lets a model name the task beside the first turn.
            let names_task = newest.is_some_and(|item| item.contains("single-line task title"));
            if names_task { Purpose::Aside("Work on the shop") } else { Purpose::Turn }
        }
        _ => Purpose::Service(404, json!({"error": {"message": "not found", "type": "invalid_request_error"}})),
    }
}

/// The prompt that a turn's first request ends with; later ones end with what a tool said.
pub(super) fn prompt(request: &Request) -> Option<String> {
    let newest = request.body["input"].as_array()?.last().filter(|item| item["role"] == "user")?;
    newest["content"].as_array()?.last()?["text"].as_str().map(str::to_owned)
}

/// One answer in this API.
pub(super) struct Responses {
    id: String,
    model: Value,
    done: Vec<Value>,
    open: Option<(Piece, String)>,
    sent: u64,
}

impl Responses {
    pub(super) fn new(request: &Request) -> Self {
        let id = format!("resp_{}", unique());
        Self { id, model: request.body["model"].clone(), done: Vec::new(), open: None, sent: 0 }
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": self.id, "object": "response", "created_at": 1_700_000_000, "status": status, "model": self.model,
            "output": self.done, "parallel_tool_calls": false,
            "usage": {
                "input_tokens": 4200, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 120, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 4320,
            },
        })
    }

    /// Numbers the events, as the API does.
    fn numbered(&mut self, mut events: Vec<Value>) -> Vec<Value> {
        for event in &mut events {
            event["sequence_number"] = json!(self.sent);
            self.sent += 1;
        }
        events
    }

    fn item_id(&self) -> String {
        format!("{}_{}", self.id, self.done.len())
    }

    fn begin_item(&self, kind: Piece) -> Vec<Value> {
        let (index, id) = (self.done.len(), self.item_id());
        match kind {
            Piece::Text => vec![
                json!({"type": "response.output_item.added", "output_index": index, "item":
                    {"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []}}),
                json!({"type": "response.content_part.added", "item_id": id, "output_index": index, "content_index": 0,
                    "part": {"type": "output_text", "text": "", "annotations": []}}),
            ],
            Piece::Thought => vec![
                json!({"type": "response.output_item.added", "output_index": index, "item":
                    {"type": "reasoning", "id": id, "summary": []}}),
                json!({"type": "response.reasoning_summary_part.added", "item_id": id, "output_index": index,
                    "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
            ],
        }
    }

    fn finish_item(&mut self) -> Vec<Value> {
        let Some((kind, text)) = self.open.take() else { return Vec::new() };
        let (index, id) = (self.done.len(), self.item_id());
        let (reported, item) = match kind {
            Piece::Text => (
                json!({"type": "response.output_text.done", "item_id": id, "output_index": index, "content_index": 0,
                    "text": text}),
                json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}),
            ),
            Piece::Thought => (
                json!({"type": "response.reasoning_summary_text.done", "item_id": id, "output_index": index,
                    "summary_index": 0, "text": text}),
                json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": text}]}),
            ),
        };
        self.done.push(item.clone());
        vec![reported, json!({"type": "response.output_item.done", "output_index": index, "item": item})]
    }
}

impl Spelling for Responses {
    fn open(&mut self) -> Vec<Value> {
        let response = self.response("in_progress");
        self.numbered(vec![json!({"type": "response.created", "response": response})])
    }

    fn piece(&mut self, kind: Piece, text: &str) -> Vec<Value> {
        let mut events = Vec::new();
        if self.open.as_ref().is_none_or(|(open, _)| *open != kind) {
            events.extend(self.finish_item());
            events.extend(self.begin_item(kind));
            self.open = Some((kind, String::new()));
        }
        let (index, id) = (self.done.len(), self.item_id());
        events.push(match kind {
            Piece::Text => json!({"type": "response.output_text.delta", "item_id": id, "output_index": index,
                "content_index": 0, "delta": text}),
            Piece::Thought => json!({"type": "response.reasoning_summary_text.delta", "item_id": id,
                "output_index": index, "summary_index": 0, "delta": text}),
        });
        if let Some((_, whole)) = &mut self.open {
            whole.push_str(text);
        }
        self.numbered(events)
    }

    fn call(&mut self, name: &str, input: &Value) -> Vec<Value> {
        let mut events = self.finish_item();
        let (index, id) = (self.done.len(), self.item_id());
        let call_id = format!("call_{}", unique());
        let item = json!({"type": "function_call", "id": id, "call_id": call_id, "name": name,
            "arguments": input.to_string(), "status": "completed"});
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        self.done.push(item);
        self.numbered(events)
    }

    fn close(&mut self) -> Vec<Value> {
        let mut events = self.finish_item();
        events.push(json!({"type": "response.completed", "response": self.response("completed")}));
        self.numbered(events)
    }

    fn error(&self, kind: &str, message: &str) -> Value {
        json!({"error": {"type": kind, "message": message, "code": null, "param": null}})
    }

    fn whole(&mut self, text: &str) -> Value {
        self.piece(Piece::Text, text);
        self.finish_item();
        self.response("completed")
    }
}
