"""The stream under load and at its ends: stalled readers, limits, heartbeats, hang-ups, a server that stops."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.app import App
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.store.database import Database
from codexmem.operations.http.stream import EventStream
from codexmem.operations.service.watching import DepthMeter, LiveWatcher, LiveWatching
from tests._support.postgres import PostgresServer
from tests._support.sse import Stream
from tests._support.waiting import eventually
from tests.jobs.stores import Parts
from tests.test_app import local, running

_databases = itertools.count(1)
BEGUN = b"retry: 2000\nid: 0\n\n"


def append(core: Any, first: int, count: int) -> None:
    """So many events, in transactions of 500."""
    for start in range(first, first + count, 500):
        with core.db.transaction():
            for number in range(start, min(start + 500, first + count)):
                payload = {"n": number, "told": "实时 " * 60}
                core.log.append(NewEvent(EventType.MODEL_RESULT, f"job:{number}", payload))


@pytest.mark.postgresql
def test_a_server_has_only_so_many_streams(postgres_server: PostgresServer, tmp_path: Path) -> None:
    url = postgres_server.create_store(f"stream{next(_databases)}")
    with running(local(tmp_path, database_url=url)) as (app, address):
        keys = [app.services.core.keys.create(f"tenant-{number}", "test").secret for number in range(5)]
        streams = [Stream(address, key=key) for key in keys[:4] for _ in range(8)]
        assert {stream.reply.status for stream in streams} == {200}
        with Stream(address, key=keys[4]) as refused:
            assert refused.reply.status == 429
            assert b"the server already has 32 live readers" in refused.reply.read()
        streams.pop().close()
        eventually(lambda: app.services.live.count() == 31)
        with Stream(address, key=keys[4]) as late:
            assert late.reply.status == 200
        for stream in streams:
            stream.close()


@pytest.mark.process
@pytest.mark.sqlite
def test_a_key_has_only_so_many_streams_and_a_hang_up_frees_one(tmp_path: Path) -> None:
    with running(local(tmp_path)) as (app, url):
        streams = [Stream(url) for _ in range(8)]
        for stream in streams:
            stream.named("queue.depth")
        with Stream(url) as refused:
            assert refused.reply.status == 429
            assert refused.reply.getheader("retry-after") == "10"
            assert b"this key already has 8 live readers" in refused.reply.read()
        streams.pop().close()
        eventually(lambda: app.services.live.count() == 7)
        with Stream(url) as again:
            assert again.reply.status == 200
        for stream in streams:
            stream.close()
        eventually(lambda: app.services.live.count() == 0)


@pytest.mark.process
@pytest.mark.sqlite
def test_a_server_that_stops_ends_its_streams(tmp_path: Path) -> None:
    with running(local(tmp_path)) as (app, url):
        streams = [Stream(url) for _ in range(8)]
        for stream in streams:
            stream.named("queue.depth")
        threads = [threading.Thread(target=stream.drain) for stream in streams]
        for thread in threads:
            thread.start()
        app.stop()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    for stream in streams:
        assert stream.ended
        stream.close()


@pytest.mark.process
@pytest.mark.sqlite
def test_a_server_that_starts_again_goes_on_where_the_reader_was(tmp_path: Path) -> None:
    def write(app: App, first: int) -> None:
        append(app.services.core, first, 10)

    with running(local(tmp_path)) as (app, url), Stream(url) as stream:
        stream.named("queue.depth")
        write(app, 0)
        stream.named("model.result", 10)
        last = stream.last_id
        write(app, 10)
    with running(local(tmp_path)) as (app, url), Stream(url, last_id=last) as again:
        write(app, 20)
        assert [each.data["n"] for each in again.named("model.result", 20)] == list(range(10, 30))


class Wire:
    """The two ends of a connection, without one."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.finished = False
        self.gone = asyncio.Event()
        self._came = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            self.sent.append(message["body"])
            self.finished = not message["more_body"]
            self._came.set()

    async def until(self, piece: bytes) -> None:
        """Wait until this was sent."""
        while piece not in self.sent:
            self._came.clear()
            await self._came.wait()


@pytest.fixture
def parts(sqlite_database: Database) -> Iterator[Parts]:
    parts = Parts.of("", sqlite_database)
    yield parts
    parts.notifier.close()


@pytest.fixture
def watching(parts: Parts) -> Iterator[LiveWatching]:
    made = LiveWatching(parts.live, DepthMeter(parts.db, parts.notifier, ("capture.extract",)))
    yield made
    made.close(wait_s=5)


def still_here(place: int) -> bytes:
    return f": still here\nid: {place}\n\n".encode()


def test_a_heartbeat_in_silence_carries_the_readers_place(parts: Parts, watching: LiveWatching,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr("codexmem.operations.service.watching._READ_S", 0.05)

    async def run() -> list[bytes]:
        wire = Wire()
        stream = EventStream(watching.watch(key="k"), heartbeat_s=0.2)
        task = asyncio.create_task(stream({"type": "http"}, wire.receive, wire.send))
        await wire.until(still_here(0))
        for _ in range(3):  # of no interest to this reader, and yet it moves on
            parts.log.append(NewEvent(EventType.MEMORY_WRITTEN, "memory:1", {}))
        await wire.until(still_here(3))
        wire.gone.set()
        await asyncio.wait_for(task, 60)
        return wire.sent

    assert asyncio.run(run())[0] == BEGUN
    assert parts.live.count() == 0


def test_a_reader_that_hangs_up_leaves_nothing_behind(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> None:
        wire = Wire()
        task = asyncio.create_task(EventStream(watching.watch(key="k"))({"type": "http"}, wire.receive, wire.send))
        await wire.until(BEGUN)
        wire.gone.set()
        await asyncio.wait_for(task, 60)
        assert [each for each in asyncio.all_tasks() if each is not asyncio.current_task()] == []

    asyncio.run(run())
    assert parts.live.count() == 0


def test_a_log_that_cannot_be_read_ends_the_stream_in_good_order(parts: Parts, watching: LiveWatching,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    def fails(*_: object, **__: object) -> None:
        raise Unavailable("the store does not answer")

    async def run() -> Wire:
        wire = Wire()
        stream = EventStream(watching.watch(key="k"))
        monkeypatch.setattr(parts.events, "after", fails)
        await asyncio.wait_for(stream({"type": "http"}, wire.receive, wire.send), 10)
        return wire

    assert asyncio.run(run()).finished
    assert parts.live.count() == 0


def test_a_server_that_breaks_off_a_stream_leaves_nothing_behind(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> None:
        wire = Wire()
        watcher: LiveWatcher = watching.watch(key="k")
        task = asyncio.create_task(EventStream(watcher)({"type": "http"}, wire.receive, wire.send))
        await wire.until(BEGUN)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert watcher.closed

    asyncio.run(run())
    assert parts.live.count() == 0
