"""Sessions as agents report them, and memories in bulk; all of it through public endpoints."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests._support import warm
from tests._support.server import Server, environment
from tests._support.waiting import eventually

DAY_MS = 86_400_000
BATCH = 500  # rows that one import takes
# What rules make of the session's edits.
LOGIN, PORT = "编辑 src/登录.py：Pool 5 → 20", "Edited deploy/firewall.toml: port 8080 → 37877"
LARGER_POOL = {"file_path": "src/登录.py", "old_string": "pool = Pool(5)", "new_string": "pool = Pool(20)"}
OTHER_PORT = {"file_path": "deploy/firewall.toml", "old_string": "port = 8080", "new_string": "port = 37877"}


@dataclass
class Agent:
    """One session of an agent, reporting over HTTP as a hook does."""

    server: Server
    key: str
    project: str
    number: int = 0
    _calls: Iterator[int] = field(default_factory=lambda: iter(range(1, 100_000)))

    def asks(self, prompt: str) -> None:
        """A turn begins."""
        self.number = self._tell("init", prompt=prompt)["sessionDbId"]

    def uses(self, tool: str, given: Any, answer: Any) -> None:
        """A tool was used."""
        call = f"{self.key}-{next(self._calls)}"
        self._tell("observations", tool_name=tool, tool_input=given, tool_response=answer, tool_use_id=call)

    def ends_turn(self, words: str) -> None:
        """A turn ended."""
        self._tell("summarize", last_assistant_message=words)

    def leaves(self) -> None:
        """The session is over."""
        self._tell("complete")

    def handed(self, prompt: str = "") -> str:
        """What the agent is given to read at the start, or for a prompt."""
        said = f"project={self.project}&session={self.key}" + (f"&prompt={prompt}" if prompt else "")
        return self.server.request("GET", f"/api/context?{said}").body.decode()

    def _tell(self, event: str, **said: Any) -> Any:
        about = {
            "contentSessionId": self.key,
            "project": self.project,
            "platform": "claude-code",
            "cwd": "/home/me/shop",
        }
        reply = self.server.post(f"/api/sessions/{event}", {**about, **said})
        assert reply.status == 200, reply.body
        return reply.json


def hook(server: Server, event: str, said: dict[str, Any]) -> None:
    """One event by the command that agents run."""
    command = [warm.program("codexmem"), "hook", "claude-code", event]
    env = environment(server.data_dir, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT=str(server.port))
    done = subprocess.run(
        command, env=env, input=json.dumps(said).encode(), capture_output=True, check=False, cwd=server.data_dir
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def rows_of(server: Server, project: str, *kinds: str) -> list[dict[str, Any]]:
    """What the timeline holds of a project, newest first."""
    asked = "".join(f"&kind={kind}" for kind in kinds)
    found: list[dict[str, Any]] = server.request("GET", f"/api/memories/timeline?project={project}{asked}").json[
        "items"
    ]
    return found


def until_there(server: Server, project: str, count: int, *kinds: str) -> list[dict[str, Any]]:
    """Wait until so many memories of these kinds are there."""
    found: list[dict[str, Any]] = []

    def there() -> bool:
        found[:] = rows_of(server, project, *kinds)
        return len(found) >= count

    eventually(there)
    return found


def working_session(server: Server, project: str, key: str) -> Agent:
    """Two turns with tools, observations and a summary, and what the agent was handed."""
    agent = Agent(server, key, project)
    agent.asks("登录为什么超时？请修复")
    agent.uses("Edit", LARGER_POOL, "ok")
    until_there(server, project, 1, "observation")
    agent.uses("Bash", {"command": "pytest -q"}, "3 passed in 3s")
    until_there(server, project, 2, "observation")
    agent.ends_turn("The pool is larger now.")
    until_there(server, project, 1, "summary")
    agent.handed()
    agent.asks("Which port does the deployment use?")
    agent.handed("Which%20port")
    agent.uses("Edit", OTHER_PORT, "ok")
    until_there(server, project, 3, "observation")
    agent.ends_turn("It is 37877.")
    until_there(server, project, 2, "summary")
    agent.leaves()
    return agent


def imported(project: str, count: int, *, newest_ms: int) -> Iterator[list[dict[str, Any]]]:
    """Rows of another program's memory, some hundreds at a time: many days, many sessions, two languages."""
    words = ("连接池", "firewall", "部署端口", "migration", "登录超时", "retry policy", "索引", "cache")
    for start in range(0, count, BATCH):
        yield [_foreign(project, number, count, newest_ms, words) for number in range(start, min(start + BATCH, count))]


def _foreign(project: str, number: int, count: int, newest_ms: int, words: tuple[str, ...]) -> dict[str, Any]:
    session, place = divmod(number, 12)
    kind = "prompt" if place == 0 else "summary" if place == 11 else "observation"
    word, other = words[number % len(words)], words[(number * 7 + 3) % len(words)]
    row: dict[str, Any] = {
        "kind": kind, "number": number + 1, "at_ms": newest_ms - (count - number) * 60_000,
        "session": f"{project}-{session}", "project": project, "prompt_number": 1,
    }  # fmt: skip
    if kind == "prompt":
        return {**row, "text": f"What about {word} and {other}, number {number}?"}
    if kind == "summary":
        return {**row, "request": f"Look at {word}", "learned": f"{other} matters, number {number}"}
    text = f"{word} 与 {other} were looked at in step {number}, and what was found is written down here."
    return {
        **row, "type": "discovery", "title": f"{word} · {other} #{number}", "text": text,
        "facts": [f"step {number}"], "concepts": ["how-it-works"], "files_read": [f"src/part{number % 50}.py"],
    }  # fmt: skip


def import_rows(server: Server, project: str, count: int, *, newest_ms: int) -> None:
    """Fill a project with as many memories as wished."""
    fingerprint, delta = f"{sum(map(ord, project)):016x}", None
    for rows in imported(project, count, newest_ms=newest_ms):
        body = {"program": "claude-mem", "fingerprint": fingerprint, "delta": delta, "rows": rows}
        reply = server.post("/api/import/batch", body)
        assert reply.status == 200, reply.body
        delta = reply.json["delta"]


def found(server: Server, question: str, project: str) -> list[dict[str, Any]]:
    """What the product's search finds in a project."""
    asked = urlencode({"query": question, "project": project, "limit": 50})
    results: list[dict[str, Any]] = server.request("GET", f"/api/search/all?{asked}").json["results"]
    return results
