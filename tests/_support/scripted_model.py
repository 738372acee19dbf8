"""A scripted model on loopback: OpenAI's Responses and Chat Completions, over real HTTP, for real coding agents.

It keeps no state between requests: the step to play is the number of tool results that a request already carries, so a
repeated request gets the same answer. Every request is kept as it arrived; that is where to see what reached a model.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Value = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """The model ends its turn with a text."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool; `tool` is a pattern of its whole name, with its namespace or without."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None  # what a free-form tool gets instead of arguments


Step = Say | Call


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    body: Value

    @property
    def tools(self) -> list[tuple[str, str]]:
        """Namespace, or nothing, and name of every tool that the agent offers."""
        offered = list(self.body.get("tools") or [])
        for item in self.body.get("input") or []:
            if item.get("type") == "additional_tools":
                offered += item["tools"]
        found: list[tuple[str, str]] = []
        for tool in offered:
            if tool.get("type") == "namespace":
                found += [(tool["name"], inner["name"]) for inner in tool["tools"]]
            else:
                found.append(("", tool.get("function", tool).get("name") or tool["type"]))
        return found

    @property
    def results(self) -> int:
        """How many tools have answered so far."""
        items = [str(item.get("type", "")).endswith("_call_output") for item in self.body.get("input") or []]
        messages = [str(message["role"]) == "tool" for message in self.body.get("messages") or []]
        return sum(items) + sum(messages)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message, in order; tool calls and their results are left out."""
        said = self.body.get("messages") or [item for item in self.body["input"] if item.get("type") == "message"]
        return [(message["role"], _text(message.get("content"))) for message in said if message["role"] != "tool"]

    def texts(self, role: str) -> list[str]:
        """What was said in a role."""
        return [text for said_by, text in self.messages if said_by == role]


@dataclass
class ScriptedModel:
    """Plays `script`; a request that offers no tools (a title, a summary) gets `aside`."""

    script: Sequence[Step] = ()
    aside: str = "A title"
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    _server: ThreadingHTTPServer | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def url(self) -> str:
        """What to configure."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _endpoint(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def play(self, *script: Step) -> None:
        """A new script, and a clean record of requests."""
        self.script = script
        self.asked = []

    def answer(self, asked: Asked) -> tuple[int, Value | list[Value]]:
        """Status and body, or the events of a stream."""
        self.asked.append(asked)
        if not asked.path.endswith(("/responses", "/chat/completions")):
            return 404, {"error": {"message": f"no such path: {asked.path}"}}
        step = self._step(asked)
        mark = f"{next(self._numbers):04}"
        offered = next((tool for tool in asked.tools if isinstance(step, Call) and _fits(step, tool)), None)
        if isinstance(step, Call) and offered is None:
            # A wrong script must fail loudly, not play something else.
            return 400, {"error": {"message": f"no tool {step.tool!r} among {asked.tools}"}}
        speak = _responses if asked.path.endswith("/responses") else _chat
        whole, events = speak(step, offered or ("", ""), mark, str(asked.body.get("model")))
        return 200, events if asked.body.get("stream") else whole

    def _step(self, asked: Asked) -> Step:
        if not asked.tools:
            return Say(self.aside)
        left = self.script[asked.results :]
        return left[0] if left else Say("The script has ended.")


def _fits(call: Call, tool: tuple[str, str]) -> bool:
    namespace, name = tool
    return any(re.fullmatch(call.tool, spelled) for spelled in (name, f"{namespace}{name}", f"{namespace}__{name}"))


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _responses(step: Step, tool: tuple[str, str], mark: str, model: str) -> tuple[Value, list[Value]]:
    namespace, name = tool
    item: Value
    if isinstance(step, Say):
        said = {"type": "output_text", "text": step.text, "annotations": []}
        item = {"type": "message", "id": f"msg_{mark}", "role": "assistant", "content": [said]}
    elif step.source is not None:
        item = {"type": "custom_tool_call", "id": f"ctc_{mark}", "call_id": f"call_{mark}", "name": name,
                "input": step.source}  # fmt: skip
    else:
        item = {"type": "function_call", "id": f"fc_{mark}", "call_id": f"call_{mark}", "name": name,
                "arguments": json.dumps(step.arguments, ensure_ascii=False)}  # fmt: skip
    item["status"] = "completed"
    if namespace:
        item["namespace"] = namespace
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}  # fmt: skip
    whole = {"id": f"resp_{mark}", "object": "response", "created_at": 0, "model": model, "status": "completed",
             "output": [item], "usage": usage}  # fmt: skip
    return whole, [
        {"type": "response.created", "response": whole | {"status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _chat(step: Step, tool: tuple[str, str], mark: str, model: str) -> tuple[Value, list[Value]]:
    about = {"id": f"chatcmpl-{mark}", "created": 0, "model": model}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    message: Value = {"role": "assistant"}
    if isinstance(step, Say):
        message["content"] = step.text
    else:
        function = {"name": "".join(tool), "arguments": json.dumps(step.arguments, ensure_ascii=False)}
        message["tool_calls"] = [{"index": 0, "id": f"call_{mark}", "type": "function", "function": function}]
    reason = "stop" if isinstance(step, Say) else "tool_calls"
    whole = about | {"object": "chat.completion", "usage": usage,
                     "choices": [{"index": 0, "message": message, "finish_reason": reason}]}  # fmt: skip
    chunk = about | {"object": "chat.completion.chunk"}
    return whole, [
        chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        chunk | {"choices": [], "usage": usage},
    ]


def _endpoint(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"  # a stream ends where the connection does

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = model.answer(Asked(self.path, body))
            # An agent that was stopped no longer listens, and a traceback would land in another test.
            with contextlib.suppress(ConnectionError):
                if isinstance(answer, list):
                    self._send(status, "text/event-stream", "".join(map(_event, answer)).encode())
                else:
                    self._send(status, "application/json", json.dumps(answer).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Endpoint


def _event(value: Value) -> str:
    if "type" in value:
        return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n"
    # Chat Completions names no events and says when it has ended.
    return f"data: {json.dumps(value)}\n\n" + ("" if value["choices"] else "data: [DONE]\n\n")
