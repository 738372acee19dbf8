"""Two sessions of Codex on one project: the second begins with what the first has learned.

The test tells it with assertions; the guide's example is its last request.
"""

from __future__ import annotations

from typing import Any

from tests._support.scripted_model import Asked, Call, Say
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.agents.codex import Codex
from tests.agents.person import Run

FILE = "orders.py"
BEFORE = '"""Orders."""\n\nTIMEOUT_S = 3\n'
AFTER = '"""Orders."""\n\nTIMEOUT_S = 30\n'
PATCH = f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-TIMEOUT_S = 3\n+TIMEOUT_S = 30\n*** End Patch"
PROMPT = "Orders time out under load. Find out why and fix it."
SEARCHED = "order timeouts"
SAVED = "The payment gateway needs up to 20 seconds under load; TIMEOUT_S in orders.py must stay above that."
ANSWER = "Orders timed out because TIMEOUT_S was 3 seconds and the payment gateway needs up to 20. It is 30 now."
NEXT_PROMPT = "Why is the timeout of orders 30 seconds?"
NEXT_ANSWER = "Because the payment gateway needs up to 20 seconds under load."


def first_session(codex: Codex) -> Run:
    """Look, change, search, save, answer."""
    codex.person.write(FILE, BEFORE)
    codex.model.play(
        Call("exec_command", {"cmd": f"cat {FILE}"}),
        Call("apply_patch", source=PATCH),
        Call("mcp__codexmem__search", {"query": SEARCHED}),
        Call("mcp__codexmem__save_memory", {"text": SAVED}),
        Say(ANSWER),
    )
    return codex.exec(PROMPT)


def learned(server: Server, *, summaries: int) -> dict[str, list[dict[str, Any]]]:
    """What the server keeps of so many finished turns once nothing waits: each list newest first."""

    def kept() -> dict[str, list[dict[str, Any]]] | None:
        lists = {
            name: get(server, f"/api/{name}?limit=100")["items"] for name in ("summaries", "observations", "prompts")
        }
        done = len(lists["summaries"]) >= summaries and not get(server, "/api/processing-status")["isProcessing"]
        return lists if done else None

    return eventually(kept)


def has_ended(server: Server) -> bool:
    """Whether no session is open any more."""
    return eventually(lambda: bool(get(server, "/api/stats")["worker"]["activeSessions"] == 0))


def was_searched(server: Server, query: str) -> bool:
    """Whether the server was asked for this, which it notes down a moment later."""
    return eventually(lambda: query in [trace["query"] for trace in get(server, "/api/ops/search-traces")["traces"]])


def second_session(codex: Codex) -> tuple[Run, Asked]:
    """Ask about it in a new conversation; also what the model was asked first."""
    codex.model.play(Say(NEXT_ANSWER))
    run = codex.exec(NEXT_PROMPT)
    return run, codex.model.asked[0]


def get(server: Server, path: str) -> Any:
    """What the server answers."""
    answer = server.request("GET", path)
    assert answer.status == 200, answer.body
    return answer.json
