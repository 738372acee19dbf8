"""Memories that a person changes, and pairs of them that wait for a decision."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import quote

from tests._support.server import Server

_numbers = itertools.count(1)

# Of each pair the second one is the newer.
PORTS = (
    "We decided that the API server listens on port 8080.",
    "We decided that the API server listens on port 9090.",
)
DEPLOYMENTS = (
    "Deployments go out on Tuesdays after the stand-up meeting.",
    "Deployments go out on Tuesdays, after the stand-up meeting is over.",
)
TESTS = (
    "我们决定发布前必须运行 just test 并等待全部通过。",
    "我们决定发布之前必须运行 just test，并等待全部测试通过。",
)


def new_project(name: str) -> str:
    """A project that no other test writes to."""
    return f"{name}-{next(_numbers)}"


def saved(server: Server, project: str, *texts: str) -> list[int]:
    """Memories with these texts."""
    replies = [server.post("/api/memory/save", {"text": text, "project": project}) for text in texts]
    return [reply.json["id"] for reply in replies]


def waiting(server: Server, project: str) -> list[dict[str, Any]]:
    """What waits for a decision there, after a look at what is new."""
    while server.post("/api/review/scan", {}).json["more"]:
        pass
    found: list[dict[str, Any]] = server.request("GET", f"/api/review?project={quote(project)}").json["items"]
    return found


def told(server: Server, project: str) -> str:
    """What the next session of the project would be given at its start."""
    text: str = server.request("GET", f"/api/context/preview?project={quote(project)}").json["text"]
    return text


def lives(server: Server, *numbers: int) -> list[str]:
    """Where these memories are in their life."""
    return [server.request("GET", f"/api/memories/named/{number}").json["life"] for number in numbers]
