"""A server is started where there is none: in the background, by one hook at a time, and never for somebody else's."""

from __future__ import annotations

import json
import os
import signal
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.hook import starting
from tests._support.waiting import eventually
from tests.clients.hook.conftest import Call
from tests.clients.hook.test_program import TOOL, spooled


@pytest.fixture
def started(data: Path) -> Iterator[None]:
    """Ends the server that a test has started."""
    yield
    announced = data / "server.json"
    if announced.exists():
        os.kill(json.loads(announced.read_text())["pid"], signal.SIGTERM)
        eventually(lambda: not announced.exists())


@pytest.mark.usefixtures("started")
def test_a_missing_server_is_started_and_gets_what_waited(hook: Call, data: Path) -> None:
    switches = {"CODEXMEM_AUTOSTART": "1", "CODEXMEM_PORT": "0", "CODEXMEM_EMBEDDER": "none"}
    first = hook("raw", "observation", payload={**TOOL, "tool_use_id": "u-1"}, **switches)
    assert first.code == 0
    assert len(spooled(data)) == 1, "the server is not waited for"
    eventually((data / "server.json").exists)

    def delivered() -> bool:
        hook("drain", payload={}, **switches)
        return not spooled(data)

    eventually(delivered)
    assert stat.S_IMODE((data / "server.log").stat().st_mode) & 0o077 == 0


def test_one_attempt_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned: list[list[str]] = []
    monkeypatch.setattr(starting, "_spawn", lambda command, *_: spawned.append(command))
    assert starting.start(str(tmp_path), {})
    assert not starting.start(str(tmp_path), {})
    assert len(spawned) == 1
    assert spawned[0][1:] == ["-m", "codexmem.cli", "serve", "--data-dir", str(tmp_path)]
    old = time.time() - starting.AGAIN_S - 1
    os.utime(tmp_path / "server.starting", (old, old))
    assert starting.start(str(tmp_path), {})
    assert not starting.start(str(tmp_path), {})
    assert len(spawned) == 2


def test_of_many_at_once_one_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned: list[object] = []
    monkeypatch.setattr(starting, "_spawn", lambda command, *_: spawned.append(command))
    for age in (None, starting.AGAIN_S + 5):
        spawned.clear()
        if age is not None:
            old = time.time() - age
            os.utime(tmp_path / "server.starting", (old, old))
        threads = [threading.Thread(target=starting.start, args=(str(tmp_path), {})) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(spawned) == 1


def test_a_mark_from_the_future_is_no_reason_to_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_spawn", lambda *_: None)
    starting.start(str(tmp_path), {})
    future = time.time() + 10**6
    os.utime(tmp_path / "server.starting", (future, future))
    assert starting.start(str(tmp_path), {})


@pytest.mark.parametrize(
    "switches",
    [
        {"CODEXMEM_AUTOSTART": "0"},
        {"CODEXMEM_AUTOSTART": "off"},
        {"CODEXMEM_AUTOSTART": "1", "CODEXMEM_URL": "http://127.0.0.1:9"},
    ],
)
def test_nothing_is_started_where_that_is_not_wanted(switches: dict[str, str], hook: Call, data: Path) -> None:
    hook("raw", "observation", payload=TOOL, **switches)
    assert len(spooled(data)) == 1
    assert not (data / "server.starting").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not starting.start(str(tmp_path / "file" / "data"), {})
