"""Conversations with any server that speaks OpenAI's `/chat/completions`, with tools, as a stream.

Streaming is for stopping: the connection is asked four times a second whether to go on, and is closed in the middle of
an answer if not. A server that does not stream answers whole. What it refuses (temperature, names of limits, usage in
streams, streams) is left out from then on; tools cannot be, so a model without them is told as such.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from codexmem.kernel.llm.chat import ChatMessage, ChatReply, ChatTool, spoken
from codexmem.kernel.llm.chat_stream import Assembly
from codexmem.kernel.llm.model import Check, Trouble, Unanswered
from codexmem.kernel.llm.openai_server import DEFAULT_BASE_URL, PAUSE_S, OpenAIServer, Parts
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.spans import timed

DEADLINE_S = 300.0
MAX_BYTES = 16 << 20  # of one call: in a stream each token travels in an envelope of some hundred bytes
MAX_CHARS = 1_000_000  # of everything that is sent


class OpenAIChat:
    """One model of one server."""

    def __init__(self, model: str, *, base_url: str = DEFAULT_BASE_URL, api_key: str = "",
                 deadline_s: float = DEADLINE_S, max_bytes: int = MAX_BYTES, pause_s: float = PAUSE_S,
                 breaker: Breaker | None = None, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self.name = model
        self.server = OpenAIServer(
            model, base_url=base_url, api_key=api_key, deadline_s=deadline_s, max_bytes=max_bytes, pause_s=pause_s,
            breaker=breaker, now_s=now_s,
        )  # fmt: skip
        # What the server takes, as far as it has refused something. Losing a race here costs one refusal more.
        self._limit_name = "max_completion_tokens"
        self._temperature = self._stream = self._usage = True

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r} at {self.server.place!r})"  # never the key

    @timed("model.reply")
    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[ChatTool], *, temperature: float, max_tokens: int,
              check: Check, deadline_s: float | None = None) -> ChatReply:  # fmt: skip
        """One call, or none while the server is known not to answer."""
        text = spoken(messages)
        if len(text) > MAX_CHARS:
            raise Unanswered(f"the conversation is longer than {MAX_CHARS:,} characters", Trouble.UNRECOVERABLE)
        return self.server.ask(
            lambda: self._request(messages, tools, temperature, max_tokens),
            lambda completions, sent: self._sent(completions, sent, text),
            self._learns, check, text=text, deadline_s=deadline_s,
        )  # fmt: skip

    def _request(self, messages: Sequence[ChatMessage], tools: Sequence[ChatTool], temperature: float,
                 max_tokens: int) -> Parts:  # fmt: skip
        sent: Parts = {
            "model": self.name, "messages": [_wire(each) for each in messages], self._limit_name: max_tokens,
        }  # fmt: skip
        if tools:
            sent["tools"] = [
                {"type": "function",
                 "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}}
                for tool in tools
            ]  # fmt: skip
        if self._temperature:
            sent["temperature"] = temperature
        if self._stream:
            sent["stream"] = True
            if self._usage:
                sent["stream_options"] = {"include_usage": True}
        return sent

    def _learns(self, said: str, sent: Parts) -> bool:
        """Whether the refusal names something that can be left out; it then is, also in calls to come."""
        if "max_completion_tokens" in sent and "max_completion_tokens" in said:
            self._limit_name = "max_tokens"
        elif "temperature" in sent and "temperature" in said:
            self._temperature = False
        elif "stream_options" in sent and ("stream_options" in said or "include_usage" in said):
            self._usage = False
        elif "stream" in sent and "stream" in said:
            self._stream = False
        elif "tools" in sent and ("tool" in said or "function" in said):
            hint = "choose a model that can call tools in CODEXMEM_OPENAI_MODEL"
            raise Unanswered(f"the model {self.name} takes no tools", Trouble.SETUP_REQUIRED, hint=hint)
        else:
            return False
        return True

    def _sent(self, completions: Any, sent: Parts, text: str) -> ChatReply:
        assembly, response = Assembly(), completions.with_raw_response.create(**sent)
        # A server that does not stream answers whole, whatever it was asked.
        if "stream" in sent and "event-stream" in response.http_response.headers.get("content-type", "").lower():
            for chunk in response.parse():
                assembly.take(chunk.to_dict(warnings=False) if hasattr(chunk, "to_dict") else None)
        else:
            assembly.take(self._whole(response.http_response.read()))
        if not assembly.complete:
            raise self.server.broken("the answer breaks off")
        reply = assembly.reply(text)
        if (assembly.refused or assembly.finish == "content_filter") and not (reply.content or reply.tool_calls):
            raise self.server.declined()
        return reply

    def _whole(self, body: bytes) -> Any:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise self.server.no_json(body[:200].decode("utf-8", "replace")) from None
        choices = found.get("choices") if isinstance(found, dict) else None
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise self.server.broken("no choice in the answer")
        # A whole answer is finished, also where a server does not say so.
        choices[0]["finish_reason"] = choices[0].get("finish_reason") or "stop"
        return found


def _wire(message: ChatMessage) -> Parts:
    sent: Parts = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _readable(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _readable(arguments: str) -> str:
    """Arguments that a model wrote, as servers that read them again can take them."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return json.dumps({"unreadable": arguments[:2_000]}) if arguments.strip() else "{}"
    return arguments
