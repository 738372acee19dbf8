"""`codexmem rpc` where there is no server yet: it starts one and brings the token that this one has just made."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest

from codexmem.client.rpc import RpcBridge
from codexmem.client.starting import ServerLocation
from tests._support import warm
from tests._support.server import environment
from tests.clients.test_bridge import ended, fake


@pytest.mark.sqlite
def test_it_starts_a_server_and_brings_its_token(tmp_path: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "method": "memory_add", "params": ["端口 37877", "端口"], "id": 1},
        {"jsonrpc": "2.0", "method": "memory_query", "params": ["端口"], "id": 2},
    ]
    with ended(tmp_path):
        done = subprocess.run(
            [warm.program("codexmem"), "rpc", "--port", "0"],
            env=environment(tmp_path, CODEXMEM_AUTH="token"), input="\n".join(map(json.dumps, lines)).encode(),
            capture_output=True, check=True, timeout=50,
        )  # fmt: skip
        added, found = (json.loads(line) for line in done.stdout.splitlines())
    assert added["result"]["summary"] == "端口"
    assert found["result"]["results"][0]["id"] == added["result"]["id"]


def test_lines_and_answers_nested_beyond_reason(tmp_path: Path) -> None:
    with fake("application/json", b"[" * 50_000) as (url, _):
        target = io.BytesIO()
        source = io.BytesIO(
            b"[" * 50_000 + b'\n{"jsonrpc": "2.0", "method": "memory_query", "params": ["x"], "id": 7}\n'
        )
        RpcBridge(ServerLocation(tmp_path, 1, url=url)).run(source, target)
    refused, failed = (json.loads(line) for line in target.getvalue().splitlines())
    assert (refused["id"], refused["error"]["code"]) == (None, -32700)
    assert (failed["id"], failed["error"]["code"]) == (7, -32603)
