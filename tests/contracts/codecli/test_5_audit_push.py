"""Contract 001 §5.4: the log of this machine goes to the server, which then knows if it is rewritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codexmem.client.starting import ServerLocation
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.audit_push import push_quietly
from codexmem.codecli.gate import Gate
from codexmem.codecli.memory_client import MemoryClient
from codexmem.codecli.policy.deciding import Policy
from codexmem.kernel.model.tool_access import ToolRequest
from tests._support.server import Server
from tests.cli.conftest import Call


@pytest.mark.clause("001 §5.4", "audit push sends what the server lacks, and tells if the log was rewritten since")
def test_push_sends_what_the_server_lacks(memory: Server, project: str, home: Path, call: Call) -> None:
    log = AuditLog(home / ".local" / "state" / "mem-codecli" / "audit", sync=lambda _: None)
    gate = Gate(Policy.parse(["Bash"], ["Write"]), "auto", None, log, run_id="run-1", project_id=project)
    for number in range(3):
        gate.decide(ToolRequest("Bash", command=f"echo {number} 你好", arguments={"odd": "\ud800\0", "n": 10**30}))
    first = call("audit", "push", "--json").json
    assert (first["sent"], first["new"], first["upto"]) == (3, 3, 3)
    assert call("audit", "push", "--json").json["sent"] == 0
    gate.decide(ToolRequest("Write"))
    assert call("audit", "push", "--json").json["new"] == 1
    again = call("audit", "push", "--all", "--json").json
    assert (again["sent"], again["new"]) == (4, 0)
    assert len(memory.request("GET", f"/v1/audit?project_id={project}").json["items"]) == 4
    for path in log.folder.iterdir():
        if path.name != "key":
            path.unlink()
    gate.decide(ToolRequest("Bash", command="rm -rf /"))
    assert call("audit", "verify").code == 0, "a log that was begun anew looks well by itself"
    said = call("audit", "push", "--all")
    assert (said.code, "rewritten" in said.err) == (1, True)


def test_a_run_sends_its_log_by_itself_where_that_is_configured(memory: Server, project: str, home: Path) -> None:
    said = 'TOOL_REQUEST: {"tool": "Bash", "arguments": {"command": "ls"}}'
    environ = {
        **os.environ, "MEM_CODECLI_AUDIT_PUSH": "true", "MEM_CODECLI_MEMORY_TIMEOUT_MS": "15000",
        "MEM_CODECLI_COMMAND": "/bin/echo",
    }  # fmt: skip
    command = [sys.executable, "-m", "codexmem.codecli.cli", "run", "--audit", "auto", "--", said]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout) == (10, f"{said}\n"), done.stderr
    assert "was not sent" not in done.stderr
    log = AuditLog(home / ".local" / "state" / "mem-codecli" / "audit")
    kept = [row["seq"] for row in log.rows()]
    assert kept, done
    sent = memory.request("GET", f"/v1/audit?project_id={project}").json["items"]
    assert sorted(row["seq"] for row in sent) == kept


def test_a_log_that_cannot_be_sent_does_no_harm(home: Path, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit", sync=lambda _: None)
    log.append({"kind": "request", "tool": "Bash"})
    told: list[str] = []
    client = MemoryClient(ServerLocation(tmp_path, 9, url="http://127.0.0.1:9"), 500)
    push_quietly(log, client, told.append)
    assert len(told) == 1
    assert "was not sent" in told[0]
