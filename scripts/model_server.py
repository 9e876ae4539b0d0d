"""A model service on 127.0.0.1 that answers agents as a script says, and knows what it did when.

It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's, as far as agents ask for them. Only the Python
standard library is needed; scripts/record-agents and scripts/situations use it.
"""

import gzip
import json
import select
import socket
import threading
import time
import uuid
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def say(text, seconds=0.0):
    """A part of the answer, in words over some time."""
    return ("say", text, seconds)


def pause(seconds):
    """Nothing at all for some time, while the connection stays open."""
    return ("pause", seconds)


def call(name, arguments):
    """A tool that the agent is to run."""
    return ("call", name, arguments)


def patch(text):
    """What the tool that edits files gets in place of arguments, where a service knows such tools."""
    return ("patch", "apply_patch", text)


def refuse(status, message, headers=None, **fields):
    """An error in place of an answer; nothing but pauses may be before it."""
    return ("refuse", status, message, headers or {}, fields)


def hang_up():
    """The connection ends in the middle of the answer."""
    return ("hang up",)


# What agents ask beside their turns with all their tools: to guess the next prompt, to note what is worth remembering.
SUGGESTION, MEMORY = "[SUGGESTION MODE", "Managed memory has"


class ClientGone(Exception):
    pass


def newest_texts(body):
    """The texts of a request behind what the model said last."""
    texts = []
    for message in reversed(body.get("messages") or body.get("contents") or body.get("input") or []):
        if message.get("role") not in (None, "user", "system", "developer") or message.get("type") == "reasoning":
            break
        content = message.get("content") or message.get("parts") or ""
        texts[:0] = [content] if isinstance(content, str) else [part.get("text") or "" for part in content]
    return texts


class ModelServer:
    """Gives each request of a turn the next scripted answer. `events` is what happened, as (time, kind): `request` came,
    `first` byte went out, `done` with the answer, `gone` is the agent before that. `asked` has the newest texts of each request."""

    def __init__(self):
        self.answers, self.events, self.asked, self.changed = deque(), [], [], threading.Condition()
        # Answers to a sub-agent, by what its conversation begins with.
        self.beside = {}
        # What it guesses that might be typed next.
        self.suggestion = ""
        outer = self

        class Handler(Exchange):
            server_side = outer

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # An agent that hangs up is no fault.

        self.http = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def answer(self, *parts):
        self.answers.append(parts)

    def note(self, kind):
        with self.changed:
            self.events.append((time.time(), kind))
            self.changed.notify_all()

    def count(self, kind):
        return sum(1 for _, event in self.events if event == kind)

    def wait(self, kind, number, seconds=40):
        """Waits until something happened so many times; says when."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.count(kind) >= number, seconds):
                raise TimeoutError(f"{kind} {number} did not come: {self.events}")
            return [at for at, event in self.events if event == kind][number - 1]

    def close(self):
        self.http.shutdown()
        self.http.server_close()


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_side = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.reply(200, {})

    def do_GET(self):
        models = [{"id": "mock-1", "object": "model", "type": "model", "display_name": "mock-1", "owned_by": "lab"}]
        is_models = self.path.split("?")[0].rstrip("/").endswith("/models")
        self.reply(200 if is_models else 404, {"object": "list", "data": models} if is_models else {})

    def do_POST(self):
        body, path = self.body(), self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply(200, {"input_tokens": 1200})
        body["stream"] = body.get("stream") or path.endswith(":streamGenerateContent")
        dialects = {"/messages": Messages, "/responses": Responses, "/chat/completions": Chat, "enerateContent": Gemini}
        dialect = next((dialect for end, dialect in dialects.items() if path.endswith(end)), None)
        if dialect is None:
            return self.reply(404, {"error": {"message": "not found", "type": "invalid_request_error"}})
        server = self.server_side
        texts = newest_texts(body)
        asked = " ".join(texts)
        is_aside = SUGGESTION in asked or MEMORY in asked
        is_turn = bool(body.get("tools")) and body.get("max_tokens", 9999) > 64 and not is_aside
        note = server.note if is_turn else lambda kind: None
        parts = [say(server.suggestion if SUGGESTION in asked else "" if is_aside else "Shop work")]
        if is_turn:
            server.asked.append(texts)
            first = json.dumps((body.get("messages") or [{}])[0])
            answers = next((answers for text, answers in server.beside.items() if text in first), server.answers)
            parts = answers.popleft() if answers else [say("All done.")]
        note("request")
        try:
            self.play(dialect(self, body), parts, note)
            note("done")
        except (ClientGone, OSError):
            self.close_connection = True
            note("gone")

    def play(self, dialect, parts, note):
        if not dialect.body.get("stream"):
            return self.reply(200, dialect.whole("".join(part[1] for part in parts if part[0] == "say")))
        for part in parts:
            if part[0] == "pause":
                self.rest(part[1])
                continue
            if part[0] == "refuse":
                error = {"type": "invalid_request_error", "message": part[2], "code": None, **part[4]}
                return self.reply(part[1], {"type": "error", "error": error}, part[3])
            if not dialect.is_open:
                self.open_stream()
                dialect.is_open = True
                dialect.begin()
                note("first")
            if part[0] == "hang up":
                self.connection.shutdown(socket.SHUT_RDWR)
                raise ClientGone
            if part[0] == "say":
                dialect.begin_text()
                words = part[1].split(" ")
                for at, word in enumerate(words):
                    dialect.text(word if at == 0 else " " + word)
                    self.rest(part[2] / len(words))
                dialect.end_text(part[1])
            else:
                getattr(dialect, part[0])(part[1], part[2])
        dialect.end()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def body(self):
        if (self.headers.get("Transfer-Encoding") or "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw or b"{}")
        except ValueError:
            return {}

    def reply(self, status, value, headers=None):
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def open_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send(self, value, event=None):
        data = value if isinstance(value, str) else json.dumps(value)
        raw = (f"event: {event}\n" if event else "").encode() + f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n" % len(raw) + raw + b"\r\n")
        self.wfile.flush()

    def rest(self, seconds):
        """Waits, and notices when the agent hangs up."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            readable, _, _ = select.select([self.connection], [], [], min(left, 0.1))
            if readable and self.connection.recv(1, socket.MSG_PEEK) == b"":
                raise ClientGone


class Dialect:
    """How the parts of an answer are spelled in one service's API."""

    def __init__(self, exchange, body):
        self.body, self.send, self.model = body, exchange.send, body.get("model") or "mock-1"
        self.is_open, self.items, self.called = False, 0, False

    def begin_text(self):
        pass

    def end_text(self, text):
        pass


class Messages(Dialect):
    def event(self, kind, **fields):
        self.send({"type": kind, **fields}, kind)

    def message(self, content):
        usage = {"input_tokens": 1200, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        return {"id": "msg_" + uuid.uuid4().hex, "type": "message", "role": "assistant", "model": self.model,
                "content": content, "stop_reason": None, "stop_sequence": None, "usage": usage}

    def whole(self, text):
        return {**self.message([{"type": "text", "text": text}]), "stop_reason": "end_turn"}

    def begin(self):
        self.event("message_start", message=self.message([]))

    def begin_text(self):
        self.event("content_block_start", index=self.items, content_block={"type": "text", "text": ""})

    def text(self, piece):
        self.event("content_block_delta", index=self.items, delta={"type": "text_delta", "text": piece})

    def end_text(self, text):
        self.event("content_block_stop", index=self.items)
        self.items += 1

    def call(self, name, arguments):
        self.called = True
        block = {"type": "tool_use", "id": "toolu_" + uuid.uuid4().hex[:20], "name": name, "input": {}}
        self.event("content_block_start", index=self.items, content_block=block)
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        self.event("content_block_delta", index=self.items, delta=delta)
        self.end_text("")

    def end(self):
        reason = "tool_use" if self.called else "end_turn"
        self.event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 40})
        self.event("message_stop")


class Responses(Dialect):
    def event(self, kind, **fields):
        self.send({"type": kind, **fields}, kind)

    def response(self, status, **fields):
        return {"id": "resp_" + uuid.uuid4().hex[:20], "object": "response", "model": self.model, "status": status, **fields}

    def whole(self, text):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return self.response("completed", output=[{"type": "message", "role": "assistant", "content": content}])

    def begin(self):
        self.event("response.created", response=self.response("in_progress"))

    def begin_text(self):
        self.item = {"type": "message", "id": "msg_" + uuid.uuid4().hex[:20], "role": "assistant", "content": []}
        self.event("response.output_item.added", output_index=self.items, item=self.item)
        part = {"type": "output_text", "text": "", "annotations": []}
        self.event("response.content_part.added", item_id=self.item["id"], output_index=self.items, content_index=0, part=part)

    def text(self, piece):
        self.event("response.output_text.delta", item_id=self.item["id"], output_index=self.items, content_index=0, delta=piece)

    def end_text(self, text):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        self.event("response.output_item.done", output_index=self.items, item={**self.item, "content": content})
        self.items += 1

    def call(self, name, arguments):
        item = {"type": "function_call", "id": "fc_" + uuid.uuid4().hex[:20], "call_id": "call_" + uuid.uuid4().hex[:20],
                "name": name, "arguments": json.dumps(arguments), "status": "completed"}
        self.event("response.output_item.added", output_index=self.items, item={**item, "arguments": ""})
        self.event("response.output_item.done", output_index=self.items, item=item)
        self.items += 1

    def patch(self, name, text):
        item = {"type": "custom_tool_call", "id": "ctc_" + uuid.uuid4().hex[:20], "call_id": "call_" + uuid.uuid4().hex[:20],
                "name": name, "input": text, "status": "completed"}
        self.event("response.output_item.added", output_index=self.items, item={**item, "input": ""})
        self.event("response.output_item.done", output_index=self.items, item=item)
        self.items += 1

    def end(self):
        usage = {"input_tokens": 4500, "input_tokens_details": {"cached_tokens": 1000}, "output_tokens": 120,
                 "output_tokens_details": {"reasoning_tokens": 40}, "total_tokens": 4620}
        self.event("response.completed", response=self.response("completed", usage=usage))


class Chat(Dialect):
    USAGE = {"prompt_tokens": 1200, "completion_tokens": 42, "total_tokens": 1242}

    def chunk(self, delta, finish=None, **fields):
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        self.send({"id": "chatcmpl-lab", "object": "chat.completion.chunk", "created": int(time.time()),
                   "model": self.model, "choices": choices, **fields})

    def whole(self, text):
        message = {"role": "assistant", "content": text}
        return {"id": "chatcmpl-lab", "object": "chat.completion", "created": int(time.time()), "model": self.model,
                "usage": self.USAGE, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    def begin(self):
        self.chunk({"role": "assistant", "content": ""})

    def text(self, piece):
        self.chunk({"content": piece})

    def call(self, name, arguments):
        function = {"name": name, "arguments": json.dumps(arguments)}
        self.chunk({"tool_calls": [{"index": self.items, "id": "call_" + uuid.uuid4().hex[:20], "type": "function",
                                    "function": function}]})
        self.items, self.called = self.items + 1, True

    def end(self):
        self.chunk({}, "tool_calls" if self.called else "stop", usage=self.USAGE)
        self.send("[DONE]")


class Gemini(Dialect):
    def piece(self, parts, **fields):
        usage = {"promptTokenCount": 1200, "candidatesTokenCount": 42, "totalTokenCount": 1242}
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **fields}],
                "modelVersion": self.model, "responseId": "lab", "usageMetadata": usage}

    def whole(self, text):
        return self.piece([{"text": text}], finishReason="STOP")

    def begin(self):
        pass

    def text(self, piece):
        self.send(self.piece([{"text": piece}]))

    def call(self, name, arguments):
        self.send(self.piece([{"functionCall": {"name": name, "args": arguments, "id": "call_" + uuid.uuid4().hex[:20]}}]))

    def end(self):
        self.send(self.whole(""))
