"""The commands as processes: a server that stops in order, one that is killed, workers, and a port that is taken.

The first test starts the real program; the others take forks of one that is loaded, whose callers hand signals on.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from codexmem.app import open_core
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.store.database import acting_as
from codexmem.settings import load
from tests._support import warm
from tests._support.postgres import Installation, PostgresServer
from tests._support.waiting import eventually
from tests.cli.conftest import ROOT, Call


def environ() -> dict[str, str]:
    dropped = ("CODEXMEM_", "PYTHONDONTWRITEBYTECODE")  # compiled once, as an installed program is
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PYTHONPATH": f"{ROOT}/src", "LANG": "C.UTF-8"}


@contextmanager
def process(*args: str, cwd: Path, fork: bool = True) -> Iterator[subprocess.Popen[str]]:
    command = [str(warm.programs() / "codexmem")] if fork else [sys.executable, "-m", "codexmem.cli"]
    program = subprocess.Popen(
        [*command, *args], cwd=cwd, env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield program
    finally:
        if program.poll() is None:
            program.send_signal(signal.SIGTERM if fork else signal.SIGKILL)  # a fork is told by its caller
        program.communicate()


@contextmanager
def serving(data_dir: Path, *more: str, fork: bool = True) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process, ready; its address as it announces it."""
    there = ("--port", "0", "--data-dir", str(data_dir))
    with process("serve", *there, *more, cwd=data_dir.parent, fork=fork) as program:
        eventually(lambda: (data_dir / "server.json").exists() or program.poll() is not None)
        assert program.poll() is None, program.communicate()
        yield program, json.loads((data_dir / "server.json").read_text())["url"]


def pid_in(data_dir: Path) -> int:
    """The server's; that of a fork is not its caller's."""
    pid: int = json.loads((data_dir / "server.json").read_text())["pid"]
    return pid


def ended(program: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = program.communicate(timeout=30)
    return program.returncode, out, err


@pytest.mark.sqlite
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_in_order(number: signal.Signals, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir, fork=number != signal.SIGTERM) as (program, url):
        assert httpx.post(f"{url}/api/memory/save", json={"text": "one"}).status_code == 200
        program.send_signal(number)
        code, out, err = ended(program)
    assert (code, out) == (0, "")
    assert f"codexmem listens on {url} " in err
    assert err.rstrip().endswith("stopped")
    assert not (data_dir / "server.json").exists()


@pytest.mark.sqlite
def test_a_killed_server_is_followed_by_another(tmp_path: Path, call: Call) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as (program, url):
        number = httpx.post(f"{url}/api/memory/save", json={"text": "one"}).json()["id"]
        assert call("doctor").code == 0
        killed = pid_in(data_dir)
        os.kill(killed, signal.SIGKILL)
        program.wait()
    assert (data_dir / "server.json").exists()
    assert "[warn] server.json names a server" in call("doctor").out
    with serving(data_dir):
        eventually(lambda: pid_in(data_dir) != killed)
        again = json.loads((data_dir / "server.json").read_text())["url"]
        found = httpx.post(f"{again}/api/observations/batch", json={"ids": [number]}).json()
        assert [each["narrative"] for each in found] == ["one"]
        assert "[ok]   the server at" in call("doctor").out


@pytest.mark.sqlite
def test_a_second_server_is_refused_and_a_taken_port_too(tmp_path: Path, call: Call) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as (_, url):
        pid = pid_in(data_dir)
        said = call("serve", "--port", "0")
        assert said.code == 6
        assert f"(pid {pid})" in said.err
        assert "listens" not in said.err
        assert pid_in(data_dir) == pid
        assert httpx.get(f"{url}/api/health").status_code == 200
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = call("serve", "--port", port, "--data-dir", str(tmp_path / "other"), "--json")
    assert (said.code, said.json["error"]["code"]) == (5, "conflict")


@pytest.mark.sqlite
def test_a_search_beside_a_running_server(tmp_path: Path, call: Call) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as (program, url):
        assert httpx.post(f"{url}/api/memory/save", json={"text": "the port is 8080"}).status_code == 200
        assert "the port is 8080" in call("search", "port", "--all-projects").out
        assert call("index", "status").code == 0
        refused = call("index", "rebuild")
        assert (refused.code, f"(pid {pid_in(data_dir)})" in refused.err) == (6, True)
        assert httpx.post(f"{url}/api/memory/save", json={"text": "now it is 9090"}).status_code == 200
        assert "9090" in call("search", "9090", "--all-projects").out
        program.send_signal(signal.SIGTERM)
        assert ended(program)[0] == 0
    assert "9090" in call("search", "9090", "--all-projects").out


@pytest.mark.sqlite
def test_serve_tells_programs_where_it_listens(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--json") as (program, url):
        pid = pid_in(tmp_path / "data")
        program.send_signal(signal.SIGTERM)
        code, out, _ = ended(program)
    document: dict[str, Any] = json.loads(out)
    assert (code, document["url"], document["pid"]) == (0, url, pid)


@pytest.mark.postgresql
def test_a_team_store_by_command_alone(postgres_server: PostgresServer, tmp_path: Path, call: Call) -> None:
    """Upgrade, key, worker, backup, restore: what an operator does on the first day."""
    url = postgres_server.create_database("operator")
    there = ("--database-url", url)
    assert call("db", "status", *there).code == 6
    assert call("doctor", *there).code == 1
    assert call("key", "create", "--tenant", "acme", "--label", "ci", *there).code == 6
    assert call("db", "upgrade", *there).code == 0
    assert call("db", "status", *there).code == 0
    assert call("key", "create", "--label", "ci", *there).code == 2
    key = call("key", "create", "--tenant", "acme", "--label", "ci", "--json", *there).json
    assert call("key", "ls", "--tenant", "acme", "--json", *there).json["keys"][0]["id"] == key["id"]
    with process("worker", *there, "--data-dir", str(tmp_path / "data"), cwd=tmp_path) as program:
        core = open_core(load({"database_url": url, "data_dir": str(tmp_path / "data")}, {}))
        try:
            with acting_as("acme"):
                core.housekeeping.begin()
                eventually(lambda: core.queue.counts()[JobStatus.COMPLETED] >= 3)
        finally:
            core.close()
        program.send_signal(signal.SIGTERM)
        code, _, err = ended(program)
        assert (code, err.rstrip().endswith("stopped")) == (0, True)
    os.environ["CODEXMEM_PG_BIN_DIR"] = str(Installation.find().root / "bin")
    try:
        made = call("backup", *there, "--json").json
        assert made["counts"]["api_keys"] == 1
        assert call("key", "revoke", key["id"], "--tenant", "acme", *there).code == 0
        assert call("restore", made["path"], "--yes", *there).code == 0
    finally:
        del os.environ["CODEXMEM_PG_BIN_DIR"]
    assert call("key", "ls", "--tenant", "acme", "--json", *there).json["keys"][0]["revoked_ms"] is None
