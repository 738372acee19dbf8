"""Audit logs as wrappers write and send them: their own gate decides, their own log is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codexmem.audit import chain
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.gate import Gate
from codexmem.codecli.policy.deciding import Policy
from codexmem.kernel.model.tool_access import ToolRequest
from tests._support.server import Server


class Wrapper:
    """A wrapper with a log of its own: Bash is allowed, Write is denied, anything else is not decided by a rule."""

    def __init__(self, folder: Path, project: str, run: str) -> None:
        self.log = AuditLog(folder / "audit", sync=lambda _: None)
        self._gate = Gate(
            Policy.parse(["Bash"], ["Write"]), "auto", None, self.log, run_id=run, project_id=project
        )  # fmt: skip

    @property
    def id(self) -> str:
        """Which log it is, as the server is told."""
        return chain.seal(b"log", self.log.key())[:32]

    def run(self, command: str, call: str, *, ok: bool, took_ms: int) -> None:
        """The agent asks for a command, which is allowed and comes to an end."""
        self._gate.decide(ToolRequest("Bash", command=command, call_id=call, agent="codex"))
        self._gate.ended(call, ok=ok, took_ms=took_ms)

    def write(self, path: str) -> None:
        """The agent asks to write a file, which is denied."""
        self._gate.decide(ToolRequest("Write", paths=(path,), agent="codex"))

    def fetch(self, url: str) -> None:
        """The agent asks for an address, which nobody decides about."""
        self._gate.decide(ToolRequest("WebFetch", urls=(url,), agent="codex"))

    def send(self, server: Server, rows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """Send the log, or these rows in its name; what the server made of it."""
        reply = server.post("/v1/audit", {"log": self.id, "rows": list(self.log.rows()) if rows is None else rows})
        assert reply.status == 200, reply.body
        told: dict[str, Any] = reply.json
        return told
