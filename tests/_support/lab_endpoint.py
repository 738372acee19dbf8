"""The lab's endpoints over real HTTP, served by a thread of the test, so that the test chooses the agent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from codexmem.app import App, open_app
from codexmem.lab import build_feature
from codexmem.lab.service.execution import RunAgent
from codexmem.settings import load
from tests._support.server import Reply, Server
from tests._support.waiting import eventually


class LabEndpoint(Server):
    """Speaks to a server that runs in this process."""

    def __init__(self, data_dir: Path, app: App, url: str, key: str | None) -> None:
        super().__init__(data_dir, key=key)
        self.app = app
        self.port = urlsplit(url).port or 0

    def get(self, path: str) -> Reply:
        """GET below the prefix."""
        return self.request("GET", f"/api/v1{path}")

    def batch(self, n_runs: int = 1, request: str = "Cu–Mo 光催化剂 for C2H4", **fields: Any) -> dict[str, Any]:
        """A new batch with its runs."""
        body = {"user_request": request, "n_runs": n_runs, "dry_run": True, **fields}
        reply = self.post("/api/v1/batches", body)
        assert reply.status == 200, reply.body
        made: dict[str, Any] = reply.json
        return made

    def ended(self, batch_id: str) -> dict[str, Any]:
        """The batch once all its runs have ended."""
        seen: dict[str, Any] = {}

        def look() -> bool:
            nonlocal seen
            seen = self.get(f"/batches/{batch_id}").json["batch"]
            return seen["ended_at"] is not None

        eventually(look)
        return seen

    def quiet(self) -> None:
        """Wait until nothing waits or runs."""

        def look() -> bool:
            counts = self.get("/system/worker").json["queue"]["runs_by_status"]
            return bool(counts["queued"] + counts["running"] == 0)

        eventually(look)

    def indexed(self) -> None:
        """Wait until everything written has its vectors: until then ranks may change from one search to the next."""

        def look() -> bool:
            status = self.request("GET", "/api/ops/index-status").json
            return status["model"] is None or status["waiting"] == 0

        eventually(look)

    def pages(self, path: str, *, limit: int) -> Iterator[list[dict[str, Any]]]:
        """Every page of a list."""
        cursor, sign = "", "&" if "?" in path else "?"
        while True:
            reply = self.get(f"{path}{sign}limit={limit}&cursor={cursor}").json
            yield reply["items"]
            assert reply["has_more"] == (reply["next_cursor"] is not None)
            if not reply["has_more"]:
                return
            cursor = reply["next_cursor"]


@contextmanager
def lab_endpoint(
    data_dir: Path, agent: RunAgent | None, *, key: str | None = None, **settings: Any
) -> Iterator[LabEndpoint]:
    """A server with this agent, or with the configured one, until the block ends."""
    chosen = load({"data_dir": str(data_dir), "port": 0, "embedder": "none", **settings}, {}, data_dir)
    bound = threading.Event()
    where: list[str] = []
    failure: list[BaseException] = []

    def on_bound(url: str) -> None:
        where.append(url)
        bound.set()

    def run() -> None:
        try:
            app.run(on_bound=on_bound)
        except BaseException as error:
            failure.append(error)
            bound.set()

    patch = mock.patch.object(build_feature, "agent_from", return_value=agent) if agent is not None else nullcontext()
    with ExitStack() as opening:
        opening.enter_context(patch)
        app = open_app(chosen)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            assert bound.wait(20)
            eventually(lambda: app.status.readiness().ready or bool(failure))
            assert not failure
            opening.close()  # the agent is chosen; other labs of the session choose their own
            yield LabEndpoint(data_dir, app, where[0], key)
        finally:
            app.stop()
            thread.join(20)
