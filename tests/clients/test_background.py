"""The log of the server in the background."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from pathlib import Path
from types import GeneratorType

import pytest

from codexmem.client import background, starting
from codexmem.client.starting import ServerLocation
from codexmem.hook import starting as hook_starting
from codexmem.kernel.model.errors import Unavailable
from tests._support.chroma import _free_port as free_port
from tests._support.waiting import eventually


@pytest.mark.parametrize("count,shown", [(0, ""), (2, "8\n9\n"), (100, "".join(f"{n}\n" for n in range(10)))])
def test_the_end_of_a_log(count: int, shown: str, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    assert background.last_lines(log, count) == ""
    log.write_text("".join(f"{n}\n" for n in range(10)))
    assert background.last_lines(log, count) == shown


def test_of_a_long_log_only_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("x" * 99 + "\n" + "y\n" * 200_000 + "last\n")
    assert background.last_lines(log, 2) == "y\nlast\n"
    assert len(background.last_lines(log, 100_000)) == 2 * 99_999 + 5


def test_a_log_is_followed_also_when_it_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    said: list[str] = []
    log.write_text("old\n")
    lines = background.following(log)
    assert isinstance(lines, GeneratorType)
    thread = threading.Thread(target=lambda: said.extend(itertools.islice(lines, 2)), daemon=True)
    thread.start()
    eventually(lambda: lines.gi_frame is not None and "at" in lines.gi_frame.f_locals)  # it knows where the log ends
    with log.open("a") as more:
        more.write("new\n")
    eventually(lambda: lines.gi_frame is not None and lines.gi_frame.f_locals["at"] == len("old\nnew\n"))
    log.write_text("a\n")
    thread.join(10)
    assert said == ["new\n", "a\n"]


def test_nobody_is_there_without_an_announcement(tmp_path: Path) -> None:
    assert background.look(ServerLocation(tmp_path, 9)) is None
    (tmp_path / "server.json").write_text('{"url": "http://127.0.0.1:9", "pid": 1}')
    assert background.look(ServerLocation(tmp_path, 9)) is None


SLOW = """
import http.server, sys, time
time.sleep(1.5)
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{"status": "ready"}')
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ready).serve_forever()
"""


def started_by(script: str, port: int, monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Programs that are started in the place of servers."""
    programs: list[subprocess.Popen[bytes]] = []

    def spawn(*_: object) -> int:
        programs.append(subprocess.Popen([sys.executable, "-c", script, str(port)]))
        return programs[-1].pid

    monkeypatch.setattr(hook_starting, "_spawn", spawn)
    return programs


@pytest.mark.process
def test_a_slow_server_is_awaited_while_its_process_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    programs = started_by(SLOW, port, monkeypatch)
    try:
        assert starting.ensure(ServerLocation(tmp_path, port), wait_s=0.2) == f"http://127.0.0.1:{port}"
    finally:
        programs[0].kill()
        programs[0].wait()


@pytest.mark.process
def test_a_server_that_ends_or_takes_for_ever_is_not_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    programs = started_by("", port, monkeypatch)
    with pytest.raises(Unavailable, match="does not answer"):
        starting.ensure(ServerLocation(tmp_path, port), wait_s=1.0, longest_s=60)
    programs[0].wait()
    (tmp_path / hook_starting.ATTEMPT).unlink()
    programs = started_by("import time; time.sleep(60)", port, monkeypatch)
    try:
        with pytest.raises(Unavailable, match="is still starting after"):
            starting.ensure(ServerLocation(tmp_path, port), wait_s=0.1, longest_s=0.5)
    finally:
        programs[0].kill()
        programs[0].wait()
