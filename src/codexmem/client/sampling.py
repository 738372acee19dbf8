"""The bridge's side of MCP sampling: questions that wait at the server are put to the client, which has a model.

Nothing is asked unless the client has said that it offers sampling, and the server has no question unless a person has
chosen `sampling` as the writer. The server is looked for and never started.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

from codexmem.client import starting, transport
from codexmem.client.starting import ServerLocation
from codexmem.hook.surroundings import fresh_id
from codexmem.kernel.model.errors import CodexmemError

POLL_S, IDLE_S = 2.0, 30.0  # between two looks, while questions may come and while nobody would ask
_TIMEOUT_S = 10.0
_LEAVING_S = 1.0
_PREFIX = "codexmem-sampling-"


class Sampling:
    """One client's model, for as long as its bridge lives."""

    def __init__(self, place: ServerLocation, tell: Callable[[Any], None]) -> None:
        self._place = place
        self._tell = tell  # to the client
        self._bridge = fresh_id()
        self._offered = False
        self._holding = ""  # the question that the client is thinking about
        self._ended = threading.Event()

    def see(self, message: dict[str, object]) -> bool:
        """Notice what the client says; whether it was an answer to us, which is nobody else's."""
        method, params = message.get("method"), message.get("params")
        if method == "initialize" and isinstance(params, dict) and isinstance(params.get("capabilities"), dict):
            self._offered = isinstance(params["capabilities"].get("sampling"), dict)
        elif method == "notifications/initialized" and self._offered:
            self._offered = False  # once
            threading.Thread(target=self._look, name="codexmem-sampling", daemon=True).start()
        number = message.get("id")
        if method is not None or not isinstance(number, str) or not number.startswith(_PREFIX):
            return False
        # Not in the way of other messages, and no longer held before the server has it.
        threading.Thread(target=self._settle, args=(number.removeprefix(_PREFIX), _text(message)), daemon=True).start()
        return True

    def end(self) -> None:
        """The client is gone; what it held is given to another when its lease ends."""
        self._ended.set()

    def _look(self) -> None:
        pause_s = 0.0
        while not self._ended.wait(pause_s):
            told = self._post("next", {"bridge": self._bridge, "holding": self._holding})
            pause_s = POLL_S if told.get("asks") else IDLE_S
            question = told.get("question")
            if isinstance(question, dict) and not self._ended.is_set():
                late, self._holding = self._holding, str(question["id"])
                with contextlib.suppress(OSError, ValueError):  # the client has just gone
                    if late:
                        cancelled = {"requestId": f"{_PREFIX}{late}", "reason": "nobody waits for it any more"}
                        self._tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
                    self._tell(_request(question))

    def _settle(self, number: str, answer: str | None) -> None:
        if answer is None and self._ended.wait(_LEAVING_S):
            return  # no refusal: a client that leaves fails what it was asked
        self._post("answer", {"bridge": self._bridge, "id": number, "text": answer})
        if self._holding == number:
            self._holding = ""

    def _post(self, what: str, body: Mapping[str, object]) -> dict[str, object]:
        try:
            url, sent = starting.address(self._place), transport.encoded(body)
            reply = transport.ask(url, "POST", f"/api/sampling/{what}", sent, starting.headers(self._place),
                                  timeout_s=_TIMEOUT_S)  # fmt: skip
            return reply.document() if reply.status == 200 else {}
        except (OSError, ValueError, CodexmemError):
            return {}


def _request(question: Mapping[str, object]) -> dict[str, object]:
    params = {
        "messages": [{"role": "user", "content": {"type": "text", "text": question["text"]}}],
        "systemPrompt": question["system"], "maxTokens": question["max_tokens"], "includeContext": "none",
    }  # fmt: skip
    return {"jsonrpc": "2.0", "id": f"{_PREFIX}{question['id']}", "method": "sampling/createMessage", "params": params}


def _text(message: Mapping[str, object]) -> str | None:
    """What the client's model says; None for a refusal and for what is no text."""
    result = message.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    parts = content if isinstance(content, list) else [content]
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None
