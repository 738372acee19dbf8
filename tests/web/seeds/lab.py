"""Batches and runs to look at, ordered over HTTP and answered by a scripted model that a test can hold back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from codexmem.lab.service.profiles import load
from tests._support.chat_server import streamed
from tests._support.model_server import Asked, ModelServer, Reply
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.stories import lab_cast

REQUEST = "为 CO2 还原提出 Cu 基光催化剂 for C2H4"
HELD = "一步一步 step by step"  # a request whose replies wait for the test
LESSON = "Cu loading: keep it below 2 %, 负载过高会遮光。"
REFUSED = "只有空话 only empty words"  # a request that is never answered in the form that was asked for
LIBRARY = {
    "kb_principles": (
        "Copper holds CO long enough for two of them to couple; 铜位点使两个 CO 偶联，这是生成 C2H4 的关键一步。",
        "# Competing reaction\n\nHydrogen evolution needs only two electrons and is often faster than CO2 reduction.\n"
        "Keeping CO2 near the active copper site shifts the selectivity, generally at some cost in rate.",
        "TiO2 absorbs ultraviolet light; copper on it serves CO2 reduction as an electron sink. 二氧化钛吸收紫外光。",
    ),
    "kb_modulation": (
        "Benzoic acid binds to oxide surfaces through its carboxylate. 苯甲酸通过羧酸根 carboxylate 与表面结合。",
        "Amines raise the local concentration of CO2 and compete with the carboxylate 苯甲酸 for the same sites.",
    ),
}
PATIENCE_S = 20.0
_ROLES = tuple(role.prompt for role in load("c2xc").roles.values())


@dataclass
class Playwright:
    """Plays the lab's roles; whoever asks for `HELD` gets a reply for each time that `let` was called."""

    _permits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def let(self, replies: int = 1) -> None:
        """Let so many replies go."""
        self._permits.release(replies)

    def __call__(self, asked: Asked) -> Reply | str | None:
        messages = asked.body["messages"]
        if not str(messages[0]["content"]).startswith(_ROLES):
            return None  # somebody else's question
        if HELD in asked.prompt:
            self._permits.acquire(timeout=PATIENCE_S)
        if REFUSED in asked.prompt:
            return streamed("{}")
        return lab_cast.script(asked)


@dataclass
class Lab:
    """A lab with documents, a lesson and a model; `play` holds replies back."""

    server: Server
    play: Playwright

    def batch(self, request: str, n_runs: int = 1, **fields: Any) -> dict[str, Any]:
        """Order a batch; it runs at once."""
        body = {"user_request": request, "n_runs": n_runs, "recipes_per_run": 1, **fields}
        reply = self.server.post("/api/v1/batches", body)
        assert reply.status == 200, reply.body
        made: dict[str, Any] = reply.json
        return made

    def get(self, path: str) -> Any:
        """What the lab says."""
        reply = self.server.request("GET", f"/api/v1{path}")
        assert reply.status == 200, reply.body
        return reply.json

    def ended(self, made: dict[str, Any]) -> str:
        """Wait for the batch; how it ended."""
        batch_id = made["batch"]["batch_id"]
        eventually(lambda: self.get(f"/batches/{batch_id}")["batch"]["ended_at"] is not None)
        status: str = self.get(f"/batches/{batch_id}")["batch"]["status"]
        return status

    def finished(self, request: str = REQUEST, **fields: Any) -> str:
        """A run that has completed."""
        made = self.batch(request, **fields)
        status, run_id = self.ended(made), str(made["runs"][0]["run_id"])
        assert status == "completed", self.get(f"/runs/{run_id}")
        return run_id


@contextmanager
def lab(server: Server, model: ModelServer) -> Iterator[Lab]:
    """The shared server as a lab, until the block ends."""
    before, play = model.script, Playwright()
    model.script = play
    for namespace, pieces in LIBRARY.items():
        reply = server.request("PUT", "/api/v1/kb/documents", _document(namespace, pieces))
        assert reply.status == 200, reply.body
    assert server.post("/api/v1/memories", {"content": LESSON}).status == 200
    try:
        yield Lab(server, play)
    finally:
        play.let(1_000)
        model.script = before


def _document(namespace: str, pieces: Sequence[str]) -> dict[str, Any]:
    name = f"{namespace}.md"
    made = [
        {"chunk_id": f"chunk-{namespace}-{place}", "place": place, "title": f"{name} {place}", "content": content}
        for place, content in enumerate(pieces, 1)
    ]
    return {
        "namespace": namespace, "folder": "web", "document": name, "source": f"web tests ({name})", "digest": name,
        "pieces": made, "parts": len(made),
    }  # fmt: skip
