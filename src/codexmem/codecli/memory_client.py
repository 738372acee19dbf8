"""The QA memory over HTTP: search, hit, candidate, validate and expire, each within its time as a whole.

A server that is slow, silent or drips its answer byte by byte costs no more than the time-out: the exchange runs in a
thread of its own, which is left behind when the time is up. Redirects are not followed, since our key would go along;
over plain HTTP to another machine the key is not sent at all. Nothing but `CodexmemError` is ever raised.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from codexmem.client import starting, transport
from codexmem.client.starting import ServerLocation
from codexmem.codecli import surroundings
from codexmem.codecli.child import signals
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, Unauthorized, Unavailable

LIMIT, MOST_ITEMS = 6, 20  # contract 001 §4.1
MIN_SCORE = 0.2
_MOST_REPLY = 4 << 20


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """A question with its answer, as the memory found it."""

    qa_id: str
    question: str
    answer: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    status: str = ""
    score: float | None = None
    anchor: str = ""
    unproven: bool = False  # a candidate that nobody has confirmed
    contradicts: tuple[str, ...] = ()  # other answers to the same question
    document: Mapping[str, object] = field(default_factory=dict, compare=False)  # all that the server said

    @classmethod
    def of(cls, said: Mapping[str, object]) -> RecalledItem | None:
        """From the server's words; None if they name no item. What is missing is left empty, never guessed."""
        qa_id = said.get("qa_id")
        if not isinstance(qa_id, str) or not qa_id.strip():
            return None
        status = _text(said.get("status"))
        return cls(
            qa_id=qa_id.strip(),
            question=_text(said.get("question")),
            answer=_text(said.get("answer")),
            summary=_text(said.get("summary")),
            tags=_texts(said.get("tags")),
            confidence=_number(said.get("confidence")),
            status=status,
            score=_number(said.get("score")),
            anchor=_text(said.get("anchor")) or f"[QA_REF {qa_id.strip()}]",
            unproven=bool(said.get("unproven", status == "candidate")),
            contradicts=_texts(said.get("contradicts")),
            document=said,
        )


@dataclass(frozen=True, slots=True)
class ItemReference:
    """That an item was shown, or used."""

    qa_id: str
    shown: bool = True
    used: bool = False
    message_id: str = ""
    context: str = ""

    def document(self) -> dict[str, object]:
        """As the server takes it."""
        told: dict[str, object] = {"qa_id": self.qa_id, "shown": self.shown, "used": self.used}
        return told | {name: value for name in ("message_id", "context") if (value := getattr(self, name))}


class MemoryClient:
    """Speaks to one memory; any number of calls, each within `timeout_ms`."""

    def __init__(self, place: ServerLocation, timeout_ms: int) -> None:
        self._place = place
        self._timeout_ms = timeout_ms
        self._until: float | None = None

    def together(self) -> MemoryClient:
        """The same memory, for calls that share one time-out from now on."""
        made = MemoryClient(self._place, self._timeout_ms)
        made._until = surroundings.monotonic() + self._timeout_ms / 1000
        return made

    @property
    def url(self) -> str:
        """Where the memory is looked for."""
        return starting.address(self._place)

    def search(self, project: str, query: str, limit: int = LIMIT, min_score: float = MIN_SCORE) -> list[RecalledItem]:
        """What the memory has for a query, best first; at most as many as asked for, whatever the server thinks."""
        said = self.post("search", {"project_id": project, "query": query, "limit": limit, "min_score": min_score})
        found = said.get("items")
        if not isinstance(found, list):
            raise self._garbled("its answer has no list of items")
        items = (RecalledItem.of(each) for each in found if isinstance(each, dict))
        return [item for item in items if item is not None][:limit]

    def hit(self, project: str, references: Sequence[ItemReference]) -> dict[str, Any]:
        """Tell which items were shown and used."""
        return self.post("hit", {"project_id": project, "references": [each.document() for each in references]})

    def candidate(
        self, project: str, question: str, answer: str, *, summary: str | None = None, tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None, source: str | None = None, author: str | None = None,
        confidence: float | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Offer a question with its answer."""
        optional = {"summary": summary, "source": source, "author": author, "confidence": confidence}
        return self.post(
            "candidates",
            {"project_id": project, "question": question, "answer": answer, "tags": list(tags)}
            | {"metadata": dict(metadata or {})}
            | {name: value for name, value in optional.items() if value is not None},
        )

    def validate(self, project: str, qa_id: str, **signal: Any) -> dict[str, Any]:
        """Tell whether an item proved right: result, signal_strength, success, strong_signal, source, context, …"""
        given = {name: value for name, value in signal.items() if value is not None}
        return self.post("validate", {"project_id": project, "qa_id": qa_id} | given)

    def expire(self, batch_size: int = 200) -> dict[str, Any]:
        """Let the memory put away what is out of date."""
        return self.post("expire", {"batch_size": batch_size})

    def post(self, verb: str, body: Mapping[str, object]) -> dict[str, Any]:
        """One call of `/v1/qa/…`."""
        return self.exchange("POST", f"/v1/qa/{verb}", body)

    def exchange(self, method: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Ask, and return the JSON object that was answered."""
        url = self.url
        until = self._until if self._until is not None else surroundings.monotonic() + self._timeout_ms / 1000
        left = until - surroundings.monotonic()
        if left <= 0:
            raise self.late()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers |= starting.headers(self._place, withhold=True)
        try:
            exchange = _Exchange(url, method, path, transport.encoded(body), headers, left)
        except ValueError as error:
            raise InvalidArgument(
                f"{url[:200]} is not the address of a memory server: {error}",
                hint="set memory.base_url to something like https://memory.example.com",
                details={"reason": "codecli_bad_url", "url": url[:200], "problem": str(error)},
            ) from error
        status, text = exchange.answer(self)
        return self._understood(status, text)

    def _understood(self, status: int, text: bytes) -> dict[str, Any]:
        try:
            said = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError):
            said = None
        if 300 <= status < 400:
            raise Unavailable(
                f"the memory server at {self.url} sends us elsewhere ({status}), where our key does not go",
                hint="set memory.base_url to the address itself",
                details={"reason": "codecli_redirect", "url": self.url, "status": status},
            )
        if status >= 400:
            raise self._refused(status, said if isinstance(said, dict) else {})
        if not isinstance(said, dict):
            raise self._garbled("its answer is no JSON object")
        return said

    def _refused(self, status: int, said: Mapping[str, object]) -> CodexmemError:
        error = said.get("error", said.get("detail"))
        inner = error if isinstance(error, dict) else {"message": error, "hint": said.get("hint")}
        message = _text(inner.get("message"))[:300] or f"the memory server answered {status}"
        if status in {401, 403}:
            return Unauthorized(
                f"the memory server at {self.url} rejected the key",
                hint="set MEMORY_API_KEY; over plain http it is sent to this machine only",
                details={"reason": "codecli_wrong_key", "url": self.url},
            )
        kind = transport.BY_STATUS.get(status, Unavailable if status >= 500 else CodexmemError)
        return kind(message, hint=_text(inner.get("hint"))[:300] or None)

    def _garbled(self, problem: str) -> CodexmemError:
        return Unavailable(
            f"what answers at {self.url} is not a memory server: {problem}",
            hint="check memory.base_url; for details run mem-codecli doctor",
            details={"reason": "codecli_garbled", "url": self.url, "problem": problem},
        )

    def silent(self, problem: str) -> CodexmemError:
        """What is said of a server that cannot be spoken to."""
        return Unavailable(
            f"the memory server at {self.url} does not answer: {problem}",
            hint="start it with: codexmem serve, or set memory.base_url",
            details={"reason": "codecli_server_silent", "url": self.url, "problem": problem},
        )

    def late(self) -> CodexmemError:
        """What is said of a server that takes too long."""
        return self.silent(f"not within {self._timeout_ms} ms")


class _Exchange:
    """One request and its answer, in a thread that nobody has to wait for."""

    def __init__(self, url: str, method: str, path: str, body: bytes | None, headers: dict[str, str],
                 left: float) -> None:  # fmt: skip
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("it must begin with http:// or https://")
        self._request = (method, transport.below(url, path), body, headers)
        self._connection = transport.connect(url, left)
        self._left = left
        self._done = threading.Event()
        self._given_up = False
        self._late = False  # the socket noticed it first
        self._answer: tuple[int, bytes] | None = None
        self._problem = ""

    def answer(self, client: MemoryClient) -> tuple[int, bytes]:
        """Status and body, in time."""
        threading.Thread(target=self._work, name="codecli-memory", daemon=True).start()
        try:
            in_time = self._done.wait(self._left)
        finally:
            self._given_up = True  # also where a person interrupts: nothing is sent behind their back
            if not self._done.is_set():
                self._hang_up()
        if self._late or not in_time:
            raise client.late()
        if self._answer is None:
            raise client.silent(self._problem)
        return self._answer

    def _work(self) -> None:
        signals.none_here()
        try:
            self._connection.connect()
            if not self._given_up:
                self._connection.request(*self._request)
                reply = self._connection.getresponse()
                body = reply.read(_MOST_REPLY + 1)
                if len(body) > _MOST_REPLY:
                    self._problem = "its answer is too long"
                else:
                    self._answer = (reply.status, body)
        except TimeoutError:
            self._late = True
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._problem = str(error) or type(error).__name__
        except Exception as error:
            self._problem = type(error).__name__
        finally:
            with contextlib.suppress(OSError):
                self._connection.close()
            self._done.set()

    def _hang_up(self) -> None:
        """Wake a thread that waits for the other side; one that looks up a name ends by itself."""
        connected = self._connection.sock
        if connected is not None:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -1e9 < value < 1e9 else None
