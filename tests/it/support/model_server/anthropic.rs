//! The Messages API, as far as Claude Code uses it.

use serde_json::{Value, json};

use super::wire::Request;
use super::{Piece, Purpose, Spelling};

/// What a request is for.
pub(super) fn purpose(request: &Request) -> Purpose {
    let body = &request.body;
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", path) if path.ends_with("/count_tokens") => Purpose::Service(200, json!({"input_tokens": 1200})),
        ("POST", path) if path.ends_with("/messages") => {
            let tools = body["tools"].as_array().map_or(0, Vec::len);
            // A turn offers its tools; titles, topics and quota probes have none, or ask for next to nothing.
            let turn = tools > 1 && body["max_tokens"].as_u64().is_none_or(|most| most > 64);
            if turn { Purpose::Turn } else { Purpose::Aside(r#"{"title": "Work on the shop", "isNewTopic": true}"#) }
        }
        _ => Purpose::Service(if request.path.contains("/api/") { 404 } else { 200 }, json!({})),
    }
}

/// The prompt that a turn's first request ends with; later ones end with what a tool said.
pub(super) fn prompt(request: &Request) -> Option<String> {
    let newest = request.body["messages"].as_array()?.iter().rfind(|message| message["role"] == "user")?;
    let Some(parts) = newest["content"].as_array() else { return newest["content"].as_str().map(str::to_owned) };
    // The agent adds remarks of its own in front.
    parts.last()?["text"].as_str().map(str::to_owned)
}

/// One answer in this API.
pub(super) struct Messages {
    model: Value,
    blocks: usize,
    open: Option<Piece>,
    asked_tool: bool,
}

impl Messages {
    pub(super) fn new(request: &Request) -> Self {
        Self { model: request.body["model"].clone(), blocks: 0, open: None, asked_tool: false }
    }

    fn message(&self, content: Value, stop: Value) -> Value {
        json!({
            "id": "msg_0001", "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 1200, "output_tokens": 40},
        })
    }

    fn close_block(&mut self) -> Vec<Value> {
        let Some(kind) = self.open.take() else { return Vec::new() };
        let index = self.blocks;
        self.blocks += 1;
        let mut events = Vec::new();
        if kind == Piece::Thought {
            let delta = json!({"type": "signature_delta", "signature": "c2lnbmVk"});
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
        events
    }
}

impl Spelling for Messages {
    fn open(&mut self) -> Vec<Value> {
        vec![json!({"type": "message_start", "message": self.message(json!([]), Value::Null)})]
    }

    fn piece(&mut self, kind: Piece, text: &str) -> Vec<Value> {
        let mut events = if self.open == Some(kind) { Vec::new() } else { self.close_block() };
        let index = self.blocks;
        let (empty, delta) = match kind {
            Piece::Text => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            Piece::Thought => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                json!({"type": "thinking_delta", "thinking": text}),
            ),
        };
        if self.open.replace(kind).is_none() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        }
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events
    }

    fn call(&mut self, name: &str, input: &Value) -> Vec<Value> {
        self.asked_tool = true;
        let mut events = self.close_block();
        let index = self.blocks;
        self.blocks += 1;
        // Ids must differ over a whole conversation, and one process lives shorter than its clock turns.
        let id = format!("toolu_{}", unique());
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
        events
    }

    fn close(&mut self) -> Vec<Value> {
        let mut events = self.close_block();
        let stop = if self.asked_tool { "tool_use" } else { "end_turn" };
        let delta = json!({"stop_reason": stop, "stop_sequence": null});
        events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 40}}));
        events.push(json!({"type": "message_stop"}));
        events
    }

    fn error(&self, kind: &str, message: &str) -> Value {
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }

    fn whole(&mut self, text: &str) -> Value {
        self.message(json!([{"type": "text", "text": text}]), json!("end_turn"))
    }
}

/// A number that no earlier call in this process got.
pub(super) fn unique() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
