"""MCP over stdio for agents that speak nothing else: each line is passed on to the running server, each answer back.

The bridge keeps no state of the conversation, because the server keeps none: a server that was restarted, or started
only now, goes on answering. Nothing but the protocol is ever written to the output. A message that could not be
delivered is answered in words that a model can read; one that may have been delivered is never sent twice. The list of
tools and other answers without memories are given here while the server is down: a client asks once, when it starts.
"""

from __future__ import annotations

import base64
import http.client
import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, BinaryIO
from urllib.parse import quote

from codexmem.client import starting
from codexmem.client.delivery import Delivery
from codexmem.client.sampling import Sampling
from codexmem.client.starting import ServerLocation
from codexmem.hook import processes
from codexmem.kernel.model import json_text
from codexmem.kernel.model.errors import CodexmemError, Unavailable

TIMEOUT_S = 120.0
_TOGETHER = 8  # messages on their way at once
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_ALONE = frozenset({"initialize", "ping", "server/discover", *_LISTS})
_ALONE_S = 5.0  # how long a server is waited for before such a message is answered here
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_INTERNAL, _PARSE = -32603, -32700

Alone = Callable[[str, bytes, Mapping[str, str]], tuple[int, str, bytes]]  # path, body, headers: status, type, body

log = logging.getLogger(__name__)


class Bridge:
    """Between a pair of streams and the server."""

    def __init__(
        self, place: ServerLocation, *, toolset: str = "", project: str = "", cwd: str = "", alone: Alone | None = None
    ) -> None:
        self._place = place
        self._alone = alone  # answers a message that needs no memories
        self._path = "/mcp" + (f"/{quote(toolset)}" if toolset else "")
        about = {"project": project, "cwd": cwd}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in about.items() if value)
        self._path += f"?{query}" if query else ""
        self._delivery = Delivery(place, TIMEOUT_S)
        self._above = ",".join(processes.ancestors())  # by which the server knows whose session speaks
        self._client = ""  # what the client calls itself
        self._version = ""  # of the protocol, once a handshake has settled it
        self._writing = threading.Lock()

    def run(self, source: BinaryIO, target: BinaryIO) -> None:
        """Pass messages until the source ends, then what is still on its way."""
        sampling = Sampling(self._place, partial(self._tell, target))
        try:
            self._run(source, target, sampling)
        finally:
            sampling.end()

    def _run(self, source: BinaryIO, target: BinaryIO, sampling: Sampling) -> None:
        with ThreadPoolExecutor(_TOGETHER, thread_name_prefix="codexmem-bridge") as pool:
            waiting = threading.BoundedSemaphore(_TOGETHER)
            for line in source:
                if not line.strip():
                    continue
                found = _read(line)
                # Old clients may send several messages as one; each is answered for itself.
                for message in found if isinstance(found, list) else [found]:
                    if not isinstance(message, dict):
                        self._tell(target, _error(None, _PARSE, "this line is not a message"))
                    elif sampling.see(message):
                        continue
                    elif message.get("method") == "initialize":
                        # What follows depends on its answer.
                        self._pass(message, target)
                    else:
                        waiting.acquire()
                        pool.submit(self._pass, message, target).add_done_callback(lambda _: waiting.release())

    def _pass(self, message: dict[str, object], target: BinaryIO) -> None:
        try:
            answers: Iterable[Any] = self._asked(message)
        except CodexmemError as error:
            answers = _undelivered(message, error.message if error.hint is None else f"{error.message}; {error.hint}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = f"the codexmem server went away while it answered ({type(error).__name__})"
            answers = _undelivered(message, f"{reason}; if this was to save something, look whether it was saved")
        except Exception:
            log.exception("a message could not be passed on")
            answers = _undelivered(message, "the codexmem bridge failed; its error output says why")
        for answer in answers:
            self._tell(target, answer)

    def _asked(self, message: dict[str, object]) -> list[Any]:
        """The server's answers to one message."""
        if message.get("method") == "initialize":
            self._client = _plain(_part(_part(message.get("params"), "clientInfo"), "name"))
        status, kind, body = self._exchange(message)
        found = _events(body) if kind.startswith("text/event-stream") else [_read(body)] if body.strip() else []
        answers = [_own(answer, message) for answer in found if isinstance(answer, dict) and "jsonrpc" in answer]
        if message.get("method") == "initialize":
            for answer in answers:
                self._version = str(_part(answer.get("result"), "protocolVersion") or "") or self._version
        if not answers and _is_request(message):
            return _undelivered(message, f"the codexmem server answered {status} without a message")
        return answers if _is_request(message) else []

    def _exchange(self, message: dict[str, object]) -> tuple[int, str, bytes]:
        body = json.dumps(message, ensure_ascii=False).encode()
        if self._alone is None or message.get("method") not in _ALONE:
            return self._delivery.post(self._path, body, lambda: self._headers(message))
        try:
            return self._delivery.post(self._path, body, lambda: self._headers(message), _ALONE_S)
        except (Unavailable, OSError, http.client.HTTPException):
            return self._alone(self._path, body, self._headers(message))

    def _headers(self, message: dict[str, object]) -> dict[str, str]:
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **starting.headers(self._place),
            "X-Codexmem-Processes": self._above,
        }
        method, params = message.get("method"), message.get("params")
        # A message of the newer protocol names its client, an older one leaves that to the handshake.
        client = self._client or _plain(_part(_part(_part(params, "_meta"), _CLIENT_KEY), "name"))
        sent |= {"X-Codexmem-Client": client} if client else {}
        # A message of the newer protocol names its version itself and is mirrored in headers.
        own = _part(_part(params, "_meta"), _VERSION_KEY)
        if isinstance(own, str) and isinstance(method, str):
            sent |= {"MCP-Protocol-Version": own, "Mcp-Method": _spelled(method)}
            if isinstance(name := _part(params, _NAMED.get(method, "")), str):
                sent["Mcp-Name"] = _spelled(name)
        elif self._version and method != "initialize":
            sent["MCP-Protocol-Version"] = self._version
        return sent

    def _tell(self, target: BinaryIO, answer: Any) -> None:
        line = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            target.write(line)
            target.flush()


def _read(text: bytes) -> Any:
    try:
        return json_text.loads(text)
    except ValueError:
        return None


def _events(body: bytes) -> list[Any]:
    """The messages of a stream that has ended."""
    found = []
    for block in body.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")]
        if lines:
            found.append(_read(b"\n".join(lines)))
    return found


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _plain(name: Any) -> str:
    """A client's name as a header can hold it."""
    return "".join(each for each in str(name or "")[:64] if each.isascii() and each.isprintable())


def _is_request(message: Mapping[str, object]) -> bool:
    return "method" in message and message.get("id") is not None


def _own(answer: dict[str, object], message: dict[str, object]) -> dict[str, object]:
    """A refusal that was made before the message was read does not know whose it is, nor that a model asked."""
    if "error" not in answer or answer.get("id") is not None or not _is_request(message):
        return answer
    if message["method"] == "tools/call":
        (told,) = _undelivered(message, f"the codexmem server refused: {_part(answer['error'], 'message')}")
        return told
    return {**answer, "id": message["id"]}


def _undelivered(message: Mapping[str, object], reason: str) -> list[dict[str, object]]:
    """What the client is told instead of an answer; of a notification, nothing."""
    if not _is_request(message):
        return []
    if message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": reason}], "isError": True}
        if _part(_part(message.get("params"), "_meta"), _VERSION_KEY) is not None:
            result["resultType"] = "complete"  # which the newer protocol demands
        return [{"jsonrpc": "2.0", "id": message["id"], "result": result}]
    return [_error(message["id"], _INTERNAL, reason)]


def _error(number: Any, code: int, text: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


def _spelled(value: str) -> str:
    """A header's value; what headers cannot hold is wrapped as the protocol says."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
