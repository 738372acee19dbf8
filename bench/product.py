"""A server of its own on an empty store, driven as agents drive it.

Sessions of the past are reported on the paths and in the form that `codexmem-hook` uses, with the times at which they
happened; the hook itself cannot do that, because it reports what happens now. What a new session is told is asked of
the hook program, to the letter of what it prints.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote, urlencode

from codexmem.hook import program as hook
from codexmem.hook.events import body_of, encoded
from codexmem.hook.program import PATHS
from tests._support.server import Server, environment
from tests._support.waiting import eventually

PLATFORM = "claude-code"
EMBEDDERS = ("none", "local")
_PATIENCE_S = 900.0
_MCP = {"Accept": "application/json, text/event-stream"}
_PAGE = 100
_LISTS = ("/api/observations", "/api/summaries", "/api/prompts")
_LAST_OFFSET = 10_000
_FILLED = "filled"
_MEMORY_DISK = "/dev/shm"


class Product:
    """One installation. One at a time in a process, because the hook program reads the environment."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self._repositories = folder / "repositories"
        data = folder / "data"
        for each in (self._repositories, data):
            each.mkdir(parents=True, exist_ok=True)
        self._filled = folder / _FILLED
        self.embedder = embedder
        settings = {"CODEXMEM_PROVIDER": "rules", "CODEXMEM_EMBEDDER": embedder, "CODEXMEM_LANG": "en"}
        self._server = Server(data, settings=settings)
        self.environment = environment(data, **settings) | {"HOME": str(folder), "CODEXMEM_AUTOSTART": "0",
                                                            "CODEXMEM_HOOK_BUDGET_MS": "60000"}  # fmt: skip
        self._open = ExitStack()
        self._connection: http.client.HTTPConnection | None = None

    @classmethod
    @contextmanager
    def opened(cls, embedder: str, kept: Path | None = None) -> Iterator[Product]:
        """One that is gone afterwards, or is kept in this folder and opened again if it was filled.

        It is in memory where the system has a disk there, as durability is not measured.
        """
        if kept is not None:
            if not (kept / _FILLED).exists():
                shutil.rmtree(kept, ignore_errors=True)
            with cls(kept, embedder) as product:
                yield product
            return
        place = _MEMORY_DISK if os.access(_MEMORY_DISK, os.W_OK) else None
        with tempfile.TemporaryDirectory(dir=place) as folder, cls(Path(folder), embedder) as product:
            yield product

    @property
    def filled(self) -> bool:
        """Whether everything was reported already, in an earlier run."""
        return self._filled.exists()

    def mark_filled(self) -> None:
        """From now on there is nothing to report."""
        self._filled.touch()

    def __enter__(self) -> Product:
        self._open.enter_context(self._server)
        self._open.enter_context(mock.patch.dict(os.environ, self.environment, clear=True))
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()
        try:
            self._open.close()
        except subprocess.TimeoutExpired:  # on a busy machine; what was measured stands
            os.kill(self._server.pid, signal.SIGKILL)

    def checkout(self, project: str) -> str:
        """The folder that sessions of the project work in; hooks know the project by its name."""
        folder = self._repositories / project
        folder.mkdir(exist_ok=True)
        return str(folder)

    # What happened.

    def report(self, event: str, project: str, session: str, at_ms: int, name: str, **record: Any) -> None:
        """What the hook would have sent of this event."""
        told = {"contentSessionId": session, "cwd": self.checkout(project), **record}
        body = body_of(event, told, ())
        if body is not None:
            whole = {**body, "project": project, "platform": PLATFORM, "event_id": f"{session}/{name}", "at": at_ms}
            self.ask("POST", PATHS[event], encoded(whole))

    def settle(self, *, indexed: bool = True) -> None:
        """Wait until everything reported is extracted and, unless only lists are read, indexed."""
        eventually(lambda: not self.get("/api/processing-status")["isProcessing"], within_s=_PATIENCE_S)
        if indexed and self.embedder != "none":
            eventually(lambda: not self.get("/api/ops/index-status")["waiting"], within_s=_PATIENCE_S)

    # What a new session is told.

    def at_start(self, project: str, session: str) -> str:
        """What the agent is handed when it starts."""
        return self._hooked("context", {"session_id": session, "cwd": self.checkout(project),
                                        "hook_event_name": "SessionStart", "source": "startup"})  # fmt: skip

    def at_prompt(self, project: str, session: str, prompt: str) -> str:
        """What it is handed with a prompt, which is thereby captured."""
        return self._hooked("session-init", {"session_id": session, "cwd": self.checkout(project),
                                             "hook_event_name": "UserPromptSubmit", "prompt": prompt})  # fmt: skip

    def _hooked(self, event: str, payload: Mapping[str, Any]) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the program leaves its connection to the process's end
            said = hook.run([PLATFORM, event], json.dumps(payload, ensure_ascii=False).encode())
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""

    def forget(self, session: str) -> None:
        """Erase a session that was only asked, so that the next one is asked of the same store."""
        self.post("/api/forget", {"session": session})

    # What is found.

    def search(self, project: str, query: str, limit: int = 10, **more: Any) -> list[dict[str, Any]]:
        """Results of the search over every kind, each in full, as the command asks for them."""
        asked = {"query": query, "projects": [project], "limit": limit, **more}
        found: list[dict[str, Any]] = self.post("/api/memories/search", asked)["results"]
        return found

    def tool(self, name: str, path: str = "/mcp", **arguments: Any) -> dict[str, Any]:
        """The result of one call of an MCP tool."""
        answer: dict[str, Any] = self._rpc(path, "tools/call", {"name": name, "arguments": arguments})
        if answer.get("isError"):
            raise RuntimeError(f"{name}: {answer['content']}")
        return answer

    def tools(self) -> list[dict[str, Any]]:
        """The definitions that an agent gets which `codexmem install` has connected."""
        listed: list[dict[str, Any]] = self._rpc("/mcp/recall", "tools/list", {})["tools"]
        return listed

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a JSON-RPC method."""
        return self._rpc("/rpc", method, parameters)

    def _rpc(self, path: str, method: str, parameters: Mapping[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = self.post(path, message, _MCP)
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer}")
        return answer["result"]

    def stored(self, project: str) -> Iterator[dict[str, Any]]:
        """Every observation, summary and prompt of the project that a reader can page through."""
        for path in _LISTS:
            for offset in range(0, _LAST_OFFSET + 1, _PAGE):
                page = self.get(path, project=project, limit=_PAGE, offset=offset)
                yield from page["items"]
                if not page["hasMore"]:
                    break

    # Plain requests.

    def get(self, path: str, **asked: Any) -> Any:
        """The document at this path."""
        return self.ask("GET", f"{path}?{urlencode(asked, quote_via=quote)}" if asked else path)

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Any:
        """The answer to a JSON value."""
        return self.ask("POST", path, json.dumps(body, ensure_ascii=False).encode(), headers)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Any:
        """One request on a connection that is kept; whatever is not a success is an error."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        try:
            status, said = self._exchange(method, path, body, sent)
        except (http.client.RemoteDisconnected, ConnectionError):
            # An idle connection was closed by the server; reports carry an event_id, so that twice is once.
            self._hang_up()
            status, said = self._exchange(method, path, body, sent)
        if status >= 400:
            raise RuntimeError(f"{method} {path[:120]} -> {status} {said[:300]!r}")
        return json.loads(said) if said else None

    def _exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=120)
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def text_of(memory: Mapping[str, Any]) -> str:
    """What somebody reads who opens a memory: its texts, one below the other, none of them twice."""
    said = {**memory, **memory.get("attrs", {})}
    read: list[str] = []
    for name in _READ:
        value = said.get(name)
        parts = value if isinstance(value, list | tuple) else (value,)
        texts = [part.strip() for part in parts if isinstance(part, str) and part.strip()]
        read += [text for text in texts if not any(text in earlier for earlier in read)]
    return "\n".join(read)


# In the order of reading; a list of the worker's interface and a full memory name some of them differently.
_READ = ("content", "prompt_text", "text", "title", "subtitle", "question", "request", "narrative", "facts",
         "investigated", "learned", "completed", "next_steps", "notes", "files_modified", "files_read")  # fmt: skip
