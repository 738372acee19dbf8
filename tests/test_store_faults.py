"""A server whose disk fills up, whose file is damaged, or whose log is removed under it: it says so, goes on reading
what can be read, and acknowledges nothing that it cannot keep.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests._support import warm
from tests._support.server import Reply, Server, environment
from tests._support.waiting import eventually

pytestmark = pytest.mark.sqlite

WORDS_ONLY = {"CODEXMEM_EMBEDDER": "none"}
needs_mount = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root on Linux can mount a small disk"
)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder], check=False)
    if mounted.returncode:
        pytest.skip("nothing may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> Path:
    """Leave no byte."""
    hog = folder / "hog"
    with hog.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue
    return hog


def save(server: Server, text: str) -> Reply:
    return server.post("/api/memory/save", {"text": text, "project": "demo"})


def readiness(server: Server) -> tuple[int, str, str]:
    reply = server.request("GET", "/api/readiness")
    return reply.status, reply.json["status"], reply.json.get("reason", "")


def killed(server: Server) -> None:
    os.kill(json.loads((server.data_dir / "server.json").read_text())["pid"], signal.SIGKILL)
    assert server.stop() == -signal.SIGKILL


def told(server: Server, **asked: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    reply = server.request("GET", f"/api/context?project=demo&{query}")
    assert reply.status == 200, reply.body
    return reply.body.decode()


@needs_mount
def test_a_full_disk_takes_writing_away_and_nothing_else_and_passes(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "24m") as folder, Server(folder) as server:
        assert save(server, "端口是 8081，不是 8080").status == 200
        assert readiness(server)[0] == 200
        hog = fill(folder)
        refused = save(server, "x" * 20_000)
        assert refused.status == 507
        assert "free some space" in refused.json["hint"]
        status, phase, reason = readiness(server)
        assert (status, phase) == (503, "unavailable")
        assert "full" in reason
        assert "端口是 8081" in told(server)
        assert "端口是 8081" in told(server, session="unknown")
        assert server.request("GET", "/api/search?query=8081&project=demo").status == 200
        bridge = subprocess.run(
            [warm.program("codexmem"), "mcp"], env=environment(folder), cwd=tmp_path, timeout=60,
            input=b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", '
                  b'"arguments": {"query": "8081", "project": "demo"}}}\n',
            capture_output=True, check=True,
        )  # fmt: skip
        assert "8081" in json.loads(bridge.stdout)["result"]["content"][0]["text"]
        hog.unlink()
        eventually(lambda: readiness(server)[0] == 200)
        assert save(server, "again").status == 200


def test_a_damaged_page_is_noticed_soon_after_the_start_and_nothing_is_written_to_it(tmp_path: Path) -> None:
    with Server(tmp_path, settings=WORDS_ONLY) as server:
        for number in range(25):
            assert save(server, f"memory {number}: " + "words and more words " * 100).status == 200
    path = tmp_path / "codexmem.db"
    content = bytearray(path.read_bytes())
    leaves = [at for at in range(0, len(content), 4096) if content[at] == 13]
    pages = [at for at in leaves if b"more words" in content[at : at + 4096]]
    assert len(pages) > 10
    pages = pages[5:8]
    for at in pages:
        content[at : at + 4096] = os.urandom(4096)
    path.write_bytes(content)

    server = Server(tmp_path, settings=WORDS_ONLY)
    server.start_unready()
    try:
        eventually(lambda: readiness(server)[1] == "unavailable")
        assert readiness(server)[::2] == (503, "the store's file is damaged: nothing is written to it any more")
        refused = save(server, "into the damaged file")
        assert refused.status == 503
        assert "restore" in refused.json["hint"]
        for asked in ("/api/search?query=memory&project=demo", "/api/observations", "/api/context?project=demo"):
            assert server.request("GET", asked).status in {200, 503}
    finally:
        server.stop()


@pytest.mark.parametrize("noticed", ["by the next write", "by itself"])
def test_a_removed_log_is_noticed_and_no_acknowledged_memory_is_lost(tmp_path: Path, noticed: str) -> None:
    server = Server(tmp_path, settings=WORDS_ONLY)
    server.start()
    try:
        for number in range(3):
            assert save(server, f"acknowledged {number}").status == 200
        (tmp_path / "codexmem.db-wal").unlink()
        if noticed == "by itself":
            eventually(lambda: readiness(server)[0] == 503)
        refused = save(server, "afterwards")
        assert refused.status == 503
        assert "restart the server" in refused.json["hint"]
        status, phase, reason = readiness(server)
        assert (status, phase) == (503, "unavailable")
        assert "write-ahead log was removed" in reason
        found = subprocess.run(
            [warm.program("codexmem"), "--json", "doctor"], env=environment(tmp_path), capture_output=True,
            check=False, timeout=100,
        )  # fmt: skip
        assert "write-ahead log was removed" in found.stdout.decode()
        killed(server)
        server = Server(tmp_path, settings=WORDS_ONLY)
        server.start()
        kept = server.request("GET", "/api/observations?project=demo&limit=50").body.decode()
        assert all(f"acknowledged {number}" in kept for number in range(3))
        assert save(server, "as before").status == 200
    finally:
        server.stop()


def test_an_idle_server_has_a_short_log(tmp_path: Path) -> None:
    with Server(tmp_path, settings=WORDS_ONLY) as server:
        for number in range(16):
            assert save(server, f"{number} " + "字" * 90_000).status == 200
        log = tmp_path / "codexmem.db-wal"
        assert log.stat().st_size > 6 << 20
        eventually(lambda: log.stat().st_size <= 4 << 20)


def test_an_idle_server_sleeps(tmp_path: Path) -> None:
    with Server(tmp_path, settings=WORDS_ONLY) as server:
        assert save(server, "words").status == 200
        pid = json.loads((tmp_path / "server.json").read_text())["pid"]
        eventually(lambda: _wakes(pid, 2) <= 2.0)  # whatever the last writes left to do
        assert _wakes(pid, 5) <= 2.0


def _wakes(pid: int, seconds: float) -> float:
    """How often in a second it is woken."""
    before, began = _switches(pid), time.monotonic()
    time.sleep(seconds)
    return (_switches(pid) - before) / (time.monotonic() - began)


def _switches(pid: int) -> int:
    """How often the threads of a process went to sleep of themselves: each time something had woken them."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = status.read_text().splitlines()
        total += int(next(line for line in lines if line.startswith("voluntary_ctxt")).split()[1])
    return total


@needs_mount
def test_a_read_only_directory_is_told_as_such_by_every_command(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "24m") as folder:
        data = folder / "data"
        data.mkdir()
        env = environment(data, XDG_CONFIG_HOME=str(tmp_path), CODEXMEM_PORT="0")
        warm.run(["db", "upgrade"], env=env).check_returncode()
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        for command, language in (
            ("serve", "en"), ("serve", "zh"), ("start", "en"), ("search x", "en"), ("backup", "en"), ("key ls", "en"),
        ):  # fmt: skip
            done = warm.run(["--json", "--lang", language, *command.split()], env=env)
            said = json.loads(done.stdout)["error"]
            assert done.returncode != 0, command
            assert str(data) in said["message"], command
            assert "read-only" in said["message"].lower() or (language == "zh" and "只读" in said["message"]), command
            assert said["hint"], command
