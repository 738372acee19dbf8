"""A note that an agent writes through `codexmem mcp` knows its session, though nobody tells the bridge which one it is.

A stand-in for the agent starts a real hook through a shell and a real bridge, as agents do; two of them at once in one
project, so that only their processes tell them apart.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests._support.server import Server, environment

pytestmark = pytest.mark.process

AGENT = r"""
import json, subprocess, sys
name, cwd = sys.argv[1:]
hook = {"session_id": name, "cwd": cwd, "prompt": "remember the port", "hook_event_name": "UserPromptSubmit"}
shell = f"{sys.executable} -m codexmem.hook claude-code session-init; true"
subprocess.run(["sh", "-c", shell], input=json.dumps(hook).encode(), check=True, cwd=cwd)
print("hooked", flush=True)
sys.stdin.readline()  # until the other agent is there too
bridge = subprocess.Popen([sys.executable, "-m", "codexmem.cli", "mcp", "--toolset", "notes"], cwd=cwd,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(number, method, params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    bridge.stdin.write(json.dumps(message).encode() + b"\n")
    bridge.stdin.flush()
    return json.loads(bridge.stdout.readline())
ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                      "clientInfo": {"name": "claude-code", "version": "2"}})
note = {"uri": f"ports://{name}", "content": f"{name} listens on 8123"}
told = ask(2, "tools/call", {"name": "create_memory", "arguments": note})
assert not told["result"].get("isError"), told
read = ask(3, "tools/call", {"name": "read_memory", "arguments": {"uri": "ports://known"}})
assert not read["result"].get("isError"), read
bridge.stdin.close()
bridge.wait(30)
"""


def status_line(env: dict[str, str], cwd: Path, session: str) -> str:
    """What Claude Code would show for this session."""
    given = {"hook_event_name": "Status", "session_id": session, "cwd": str(cwd), "model": {"display_name": "Opus"}}
    done = subprocess.run(
        [sys.executable, "-m", "codexmem.hook", "claude-code", "status-line"], input=json.dumps(given).encode(),
        env=env, cwd=cwd, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == b""
    return done.stdout.decode()


def test_each_note_belongs_to_the_session_of_the_agent_that_wrote_it(tmp_path: Path) -> None:
    data, shop = tmp_path / "data", tmp_path / "shop"
    data.mkdir()
    shop.mkdir()
    with Server(data, settings={"CODEXMEM_EMBEDDER": "none", "CODEXMEM_PROVIDER": "rules"}) as api:
        assert api.post("/api/notes", {"uri": "ports://known", "content": "8080 is taken"}).status == 200
        url = f"http://127.0.0.1:{api.port}"
        env = environment(data, CODEXMEM_URL=url, CODEXMEM_HOOK_BUDGET_MS="30000")
        agents = [
            subprocess.Popen(
                [sys.executable, "-c", AGENT, name, str(shop)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for name in ("first", "second")
        ]
        try:
            for agent in agents:
                assert agent.stdout is not None
                while agent.stdout.readline() != b"hooked\n":  # what the hook tells its agent comes before
                    assert agent.poll() is None
            for agent in agents:
                agent.communicate(b"\n", timeout=150)
                assert agent.returncode == 0
        finally:
            for agent in agents:
                agent.kill()
                agent.wait()
        for name in ("first", "second"):
            note = api.request("GET", f"/api/provenance/ports://{name}").json
            assert (note["memory"]["origin"], note["session"]["key"]) == ("agent", name)
            heard = api.request("GET", f"/api/lineage?session={name}").json
            assert "ports://known" in json.dumps(heard["told"])
            # What it wrote and read is counted for it, and a status line says so.
            counts = api.request("GET", f"/api/lineage/counts?session={name}").json
            told = len(heard["told"])
            assert counts == {"session": name, "told": told, "opened": 1, "learned": 1}, heard["told"]
            assert status_line(env, shop, name) == f"codexmem: {told} told, 1 opened, 1 learned\n"
            chinese = status_line(env | {"CODEXMEM_LANG": "zh"}, shop, name)
            assert chinese == f"codexmem：告知 {told}，打开 1，学到 1\n"
        assert status_line(env, shop, "nobody") == "codexmem: 0 told, 0 opened, 0 learned\n"
        # Undoing or forgetting one session reaches its note and leaves the other's.
        assert api.post("/api/forget", {"session": "first"}).json["erased"] >= 2
        assert api.request("GET", "/api/provenance/ports://first").status == 404
        assert api.request("GET", "/api/provenance/ports://second").status == 200
