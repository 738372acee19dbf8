"""Agents that write through the hook program, and backups that can be harmed."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from tests._support import warm
from tests._support.server import Server, environment
from tests._support.waiting import eventually


def wrote(server: Server, agent: str, project: str, *, ended: bool = False) -> None:
    """A session of this agent: one prompt and one tool, told by the program that agents call."""
    about = {"session_id": f"{project}-{agent}", "project": project, "cwd": str(server.data_dir)}
    hook(server, agent, "session-init", about | {"prompt": "看一下备份 and the queue"})
    tool = {"tool_name": "Bash", "tool_input": {"command": "df -h"}, "tool_response": "12 % used"}
    hook(server, agent, "observation", about | tool)
    if ended:  # a model is asked about it then
        hook(server, agent, "session-complete", about)


def hook(server: Server, agent: str, event: str, said: dict[str, Any]) -> None:
    """One event by the program that agents call."""
    command = [warm.program("codexmem"), "hook", agent, event]
    env = environment(server.data_dir, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT=str(server.port))
    done = subprocess.run(
        command, env=env, input=json.dumps(said).encode(), capture_output=True, check=False, cwd=server.data_dir
    )
    assert (done.returncode, done.stderr) == (0, b"")


def counted(server: Server) -> int:
    """How many answers of the model for observations were good so far."""
    count: int = server.request("GET", "/api/ops/agent-metrics").json["observation"]["success"]
    return count


def until_counted(server: Server) -> None:
    """Wait until the model has answered."""
    eventually(lambda: counted(server) > 0)


def backups(server: Server) -> list[dict[str, Any]]:
    """Those there are, newest first."""
    listed: list[dict[str, Any]] = server.request("GET", "/api/ops/backups").json["backups"]
    return listed


def harm(server: Server, name: str) -> None:
    """Change one byte in the largest file of a backup."""
    files = [path for path in (server.data_dir / "backups" / name).rglob("*") if path.is_file()]
    largest = max(files, key=lambda path: path.stat().st_size)
    octets = bytearray(largest.read_bytes())
    octets[len(octets) // 2] ^= 0xFF
    largest.chmod(0o600)
    largest.write_bytes(octets)
