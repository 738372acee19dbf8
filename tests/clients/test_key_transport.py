"""No program of ours shows its API key to the network: each is run against a listener that speaks plain HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.gate import Gate
from codexmem.codecli.policy.deciding import Policy
from codexmem.kernel.model.key_transport import is_loopback, may_carry_key
from codexmem.kernel.model.tool_access import ToolRequest
from tests._support import warm

KEY = "cmk_" + "5eC7e7" * 8
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
PROMPT = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "rename the port", "cwd": "/"}
CLIENT = """
from codexmem.client import Client
from codexmem.kernel.model.errors import CodexmemError
try:
    with Client() as client:
        print(client.search("port"))
except CodexmemError as error:
    print(error.message, error.hint)
"""
QUERY = ("mem-codecli", "memory", "search", "--project-id", "p", "--query", "port")
PROGRAMS: dict[str, tuple[tuple[str, ...], object]] = {
    "codexmem-hook": (("codexmem-hook", "claude-code", "session-init"), PROMPT),
    "codexmem mcp": (("codexmem", "mcp"), INITIALIZE),
    "codexmem rpc": (("codexmem", "rpc"), {"jsonrpc": "2.0", "id": 1, "method": "memory_get_status"}),
    "codexmem doctor --canary": (("codexmem", "doctor", "--canary"), None),
    "Python client": ((sys.executable, "-c", CLIENT), None),
    "mem-codecli memory": (QUERY, None),
    "mem-codecli audit push": (("mem-codecli", "audit", "push"), None),
    "mem-codecli doctor": (("mem-codecli", "doctor"), None),
}


class Listener:
    """Takes down the head of every request and answers something friendly, on every address of this machine."""

    def __init__(self) -> None:
        self.heads: list[dict[str, str]] = []
        listener = self

        class Answering(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                return

            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                listener.heads.append({name.lower(): value for name, value in self.headers.items()})
                text = b'{"status":"ok","items":[],"jsonrpc":"2.0","id":1,"result":{}}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

        class Everywhere(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

            def server_bind(self) -> None:
                if self.address_family == socket.AF_INET6:
                    self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                super().server_bind()

        self.server = Everywhere(("", 0), Answering)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def keys(self) -> list[str]:
        return [head["authorization"] for head in self.heads if "authorization" in head]


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.server.shutdown()
    listener.server.server_close()


def remote_name() -> str:
    """A name of this very machine that is no loopback: what is sent there arrives here and nowhere else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            name = str(probe.getsockname()[0])
        except OSError:
            name = "0.0.0.0"  # a socket takes it for this machine, and nothing else says that it is
    return "0.0.0.0" if name.startswith("127.") else name


def run(program: str, url: str, home: Path, **more: str) -> str:
    """What the program says, told about a server there and a key."""
    (name, *arguments), given = PROGRAMS[program]
    command = [warm.program(name) if name in warm.PROGRAMS else name, *arguments]
    log = AuditLog(home / ".local" / "state" / "mem-codecli" / "audit", sync=lambda _: None)
    Gate(Policy.parse(["Bash"], []), "auto", None, log, run_id="r", project_id="p").decide(ToolRequest("Bash"))
    env = {
        "PATH": os.environ["PATH"], "HOME": str(home), "CODEXMEM_DATA_DIR": str(home / "data"), "LANG": "C.UTF-8",
        "CODEXMEM_URL": url, "CODEXMEM_API_KEY": KEY, "MEMORY_API_KEY": KEY, "MEM_CODECLI_MEMORY_TIMEOUT_MS": "15000",
        "CODEXMEM_HOOK_BUDGET_MS": "10000", **more,
    }  # fmt: skip
    done = subprocess.run(
        command, env=env, cwd=home, check=False, capture_output=True, timeout=60,
        input=json.dumps(given).encode() + b"\n" if given else b"",
    )  # fmt: skip
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_key_is_not_sent_in_clear_to_another_machine(program: str, listener: Listener, tmp_path: Path) -> None:
    said = run(program, f"http://{remote_name()}:{listener.port}", tmp_path)
    assert listener.keys == []
    assert not any(KEY in value for head in listener.heads for value in head.values())
    assert KEY not in said
    if program in {"mem-codecli memory", "mem-codecli audit push"}:
        assert listener.heads, said  # they go on without the key, which `mem-codecli doctor` explains
    else:
        assert any(words in said for words in ("unencrypted", "without TLS", "has no TLS")), said
        assert "https://" in said, said


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_token_of_our_own_server_goes_to_no_other(program: str, listener: Listener, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "token").write_text(KEY)
    run(program, f"http://127.0.0.1:{listener.port}", tmp_path, CODEXMEM_API_KEY="", MEMORY_API_KEY="")
    assert listener.heads
    assert listener.keys == []


# Of the slow one (it waits for what it wrote to be found) one spelling will do: all ask `may_carry_key`.
@pytest.mark.parametrize(
    "program, host",
    [
        (program, host)
        for program in PROGRAMS
        for host in ("127.0.0.1", "LOCALHOST", "[::1]")
        if program != "codexmem doctor --canary" or host == "LOCALHOST"
    ],
)
def test_a_key_is_sent_to_this_machine_and_past_any_proxy(
    program: str, host: str, listener: Listener, tmp_path: Path
) -> None:
    if host == "[::1]" and listener.server.address_family != socket.AF_INET6:
        pytest.skip("this machine has no IPv6")
    proxy = Listener()
    names = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    try:
        proxies = dict.fromkeys(names, f"http://127.0.0.1:{proxy.port}")
        said = run(program, f"http://{host}:{listener.port}", tmp_path, **proxies)
    finally:
        proxy.server.shutdown()
        proxy.server.server_close()
    assert proxy.heads == []
    assert set(listener.keys) == {f"Bearer {KEY}"}, said


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost", "HTTP://LOCALHOST:80/x", "http://127.0.0.1:5", "http://127.8.9.254", "http://[::1]",
        "http://[::1]:5/a", "https://memory.example", "HTTPS://memory.example", "http://localhost:",
    ],
)  # fmt: skip
def test_where_a_key_may_go(url: str) -> None:
    assert may_carry_key(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://memory.example", "http://localhost.example", "http://127.0.0.1.example", "http://127.1", "http://0177.0.0.1",
        "http://127.0.0.999", "http://127.0.0.01", "http://0.0.0.0", "http://[::]", "http://[::ffff:127.0.0.1]", "",
        "http://[::1].example", "http://localhost@memory.example", "http://u:p@localhost", "http://localhost:5@x",
        "http://127.0.0.1\\@memory.example", "http://１２７.0.0.1", "ftp://localhost", "localhost:80", "http://",
        "http://localhost.", "http://memory.example#@localhost", "http://memory.example?localhost",
    ],
)  # fmt: skip
def test_where_a_key_may_not_go(url: str) -> None:
    assert not may_carry_key(url)
    assert not is_loopback(url) or not url.startswith("http")
