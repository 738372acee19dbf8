"""A project with weeks of learning: days, files, types and agents, something to decide, and a model that costs."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web.seeds import life, timeline

DAY_MS = 86_400_000
TYPES = ("bugfix", "feature", "decision", "discovery", "change")
FILES = ("src/db.py", "src/api/routes.py", "web/src/app.tsx", "docs/README.md", "deploy/firewall.toml")
CONCEPTS = ("pool", "how-it-works", "trade-off")
TITLES = (
    "The pool closes idle connections after 13 seconds",
    "Routes are checked against the description at start",
    "登录超时的原因是连接池太小",
    "The firewall opens port 37877 only on loopback",
    "We keep one event stream for all tabs",
)


def learned(server: Server, project: str, count: int = 60, *, days: int = 90) -> None:
    """Memories of another program over these days, in sessions of four, with a prompt each; none of today."""
    now = int(time.time() * 1000)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        at_ms = now - DAY_MS * (1 + (number * number * 7) % days) + number
        own = {"number": number + 1, "at_ms": at_ms, "session": f"{project}-{number // 4}", "project": project}
        if number % 4 == 0:
            rows.append({**own, "kind": "prompt", "text": f"Why is step {number} slow? 为什么慢？", "prompt_number": 1})
        title = TITLES[number % len(TITLES)]
        rows.append({
            **own, "kind": "observation", "type": TYPES[number % 5], "title": f"{title} ({number})",
            "text": f"{title}. Found in step {number}, and checked twice before it was written down.",
            "concepts": [CONCEPTS[number % 3]], "files_read": [FILES[number % 5 if number % 2 else 0]],
        })  # fmt: skip
    body = {"program": "claude-mem", "fingerprint": f"{sum(map(ord, project)):016x}", "delta": None, "rows": rows}
    reply = server.post("/api/import/batch", body)
    assert reply.status == 200, reply.body


def worked(server: Server, project: str) -> None:
    """A session of today with one turn, about which the model was asked once, and which was given something."""
    agent = timeline.Agent(server, f"{project}-today", project)
    agent.asks("登录为什么超时？请修复")
    agent.handed()
    agent.handed("Which%20port%20does%20the%20firewall%20open")
    agent.uses("Edit", timeline.LARGER_POOL, "ok")
    timeline.until_there(server, project, 1, "observation")
    agent.ends_turn("The pool is larger now.")
    timeline.until_there(server, project, 1, "summary")
    agent.leaves()
    eventually(lambda: told(server, "cost", project)["total"]["calls"])


def undecided(server: Server, project: str) -> None:
    """A contradiction and a duplicate that wait for a person."""
    life.saved(server, project, *life.PORTS, *life.DEPLOYMENTS)
    life.waiting(server, project)


def told(server: Server, what: str, project: str, **more: Any) -> dict[str, Any]:
    """What the server says for the page of the project."""
    asked = urlencode({"project": project, **more}, doseq=True)
    reply = server.request("GET", f"/api/brief/{what}?{asked}")
    assert reply.status == 200, reply.body
    answer: dict[str, Any] = reply.json
    return answer
