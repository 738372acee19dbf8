"""What the viewer shows: events of agents by the hook program, searches over HTTP, and a job that fails."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from tests._support import warm
from tests._support.model_server import Asked, ModelServer, Reply, memory_answer, refused
from tests._support.server import Server, environment
from tests._support.waiting import eventually

PROJECT = "web-viewer"
NOTED = "viewer-noted"  # the model's title is the word after it
REFUSED = "viewer-refused"  # a prompt that the model does not take
_names = itertools.count(1)


def says(asked: Asked) -> str | Reply | None:
    """What the model answers to these sessions; None leaves it to its usual manner."""
    if REFUSED in asked.prompt:
        return refused(400, "no")
    if NOTED not in asked.prompt or not asked.events:
        return None
    title = asked.prompt.rpartition(f"{NOTED}:")[2].partition(";")[0]
    return json.dumps(memory_answer(asked.events, title=title, text=title))


@contextmanager
def speaking(model: ModelServer) -> Iterator[None]:
    """The model answers these sessions, and all others as before."""
    before = model.script
    model.script = lambda asked: says(asked) or before(asked)
    try:
        yield
    finally:
        model.script = before


def hook(server: Server, event: str, said: dict[str, Any]) -> None:
    """One event by the program that agents call."""
    command = [warm.program("codexmem"), "hook", "raw", event]
    env = environment(server.data_dir, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT=str(server.port))
    done = subprocess.run(
        command, env=env, input=json.dumps(said).encode(), capture_output=True, check=False, cwd=server.data_dir
    )
    assert (done.returncode, done.stderr) == (0, b"")


def begin(server: Server, project: str = PROJECT) -> tuple[str, int]:
    """A session, over HTTP as a hook does it; its name and its number."""
    name = f"viewer-{next(_names)}"
    reply = server.post("/api/sessions/init", {"contentSessionId": name, "project": project, "prompt": "看日志"})
    assert reply.status == 200, reply.body
    return name, reply.json["sessionDbId"]


def use(server: Server, session: str, answer: str, project: str = PROJECT) -> None:
    """A tool was used in the session."""
    said = {
        "contentSessionId": session, "project": project, "tool_name": "Bash", "tool_input": {"command": "tail log"},
        "tool_response": answer, "tool_use_id": f"{session}-{next(_names)}",
    }  # fmt: skip
    reply = server.post("/api/sessions/observations", said)
    assert (reply.status, reply.json["status"]) == (200, "queued"), reply.body


def end(server: Server, session: str, project: str = PROJECT) -> None:
    """The session's turn is over, and so is the session."""
    for event in ("summarize", "complete"):
        assert server.post(f"/api/sessions/{event}", {"contentSessionId": session, "project": project}).status == 200


def noted(server: Server, title: str, *, project: str = PROJECT) -> int:
    """A session whose work became an observation with this title; the session's number."""
    name, number = begin(server, project)
    use(server, name, f"{NOTED}:{title};", project)
    end(server, name, project)
    eventually(lambda: title in titles(server, project))
    return number


def titles(server: Server, project: str = PROJECT) -> list[str]:
    """What the newest memories of the project are called."""
    found = server.request("GET", f"/api/memories/timeline?project={project}&limit=50").json["items"]
    return [each["title"] for each in found]


def search(server: Server, query: str, project: str = PROJECT) -> dict[str, Any]:
    """Search over HTTP; the trace that it left."""
    reply = server.request("GET", f"/api/search?query={quote(query)}&project={project}&limit=5")
    assert reply.status == 200, reply.body
    listed = f"/api/ops/search-traces?query={quote(query)}&limit=1"
    eventually(lambda: server.request("GET", listed).json["count"] == 1)
    trace: dict[str, Any] = server.request("GET", listed).json["traces"][0]
    return trace


def failed_learning(server: Server) -> tuple[str, str]:
    """A run that somebody wants to be learned from although nobody judged it: that job fails. Run and job."""
    made = server.post("/api/v1/batches", {"user_request": "日志 log", "n_runs": 1, "dry_run": True}).json
    run: str = made["runs"][0]["run_id"]
    eventually(lambda: bool(server.request("GET", f"/api/v1/runs/{run}").json["run"]["ended_at"]))
    job: str = server.post(f"/api/v1/runs/{run}/reasoningbank/learn", {}).json["job_id"]
    eventually(lambda: job_status(server, run, job) == "failed")
    return run, job


def job_status(server: Server, run: str, job: str) -> str:
    """How a learning stands."""
    jobs = server.request("GET", f"/api/v1/runs/{run}/reasoningbank/jobs").json["jobs"]
    status: str = next(each["status"] for each in jobs if each["rb_job_id"] == job)
    return status
