"""Live readers that take nothing: 31 of them stalled beside one that reads, while the log grows by many events.

What must hold: the server's memory stays bounded, because nothing is read for a client that has not taken what came
before, and the one reader gets every event once and in order, also across its own reconnections. The server is a
process of its own on PostgreSQL; events are written by this process, as a worker elsewhere writes them.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench import report
from bench.stores import Stores, stores
from codexmem import settings
from codexmem.app import Core, open_core
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.store.database import acting_as
from tests._support.server import Server
from tests._support.sse import Stream, stalled

TENANTS = ("left", "right", "upper", "lower")
PER_KEY = 8
MOST_MB = 50.0
_TOGETHER = 250  # events per transaction


def run(made: Stores, *, events: int, size: int, reconnects: int) -> dict[str, Any]:
    """So many events of about `size` bytes for each of four tenants, 8 readers each; the first reader reads."""
    url = made.fresh()
    with ExitStack() as stack:
        home = made.home / "streams"
        home.mkdir(exist_ok=True)
        core = open_core(settings.load({"data_dir": str(home / "writer"), "database_url": url}, {}, home))
        stack.callback(core.close)
        keys = {tenant: core.keys.create(tenant, "bench").secret for tenant in TENANTS}
        # Without an encoder, which a team's server loads meanwhile and which would be taken for what the readers cost.
        server = stack.enter_context(
            Server(home, database_url=url, key=keys[TENANTS[0]], settings={"CODEXMEM_EMBEDDER": "none"})
        )
        pid = json.loads((home / "server.json").read_text())["pid"]
        address = f"http://127.0.0.1:{server.port}"
        reading = Reading(address, keys[TENANTS[0]], events, reconnects)
        stack.callback(reading.close)
        for tenant, key in keys.items():
            for _ in range(PER_KEY - (tenant == TENANTS[0])):
                stack.callback(_stalled(address, key).close)
        _wait_for(lambda: _followers(server) == PER_KEY * len(TENANTS))
        before = _rss_mb(pid)
        began = time.monotonic()
        reading.start()
        for tenant in reversed(TENANTS):
            with acting_as(tenant):
                _append(core, events, size)
        reading.join()
        seconds = time.monotonic() - began
        grown = _rss_mb(pid) - before
        asked = time.monotonic()
        code = server.stop()
        return {
            "events": events * len(TENANTS),
            "event_bytes": size,
            "readers": PER_KEY * len(TENANTS),
            "reconnects": reading.reconnected,
            "received": len(reading.numbers),
            "in_order_once": reading.numbers == list(range(events)),
            "seconds": round(seconds, 1),
            "memory_before_mb": round(before, 1),
            "memory_grown_mb": round(grown, 1),
            "stopped_in_s": round(time.monotonic() - asked, 2),
            "stopped_well": code == 0,
        }


def kept(figures: dict[str, Any]) -> bool:
    """Whether the promise holds."""
    return bool(figures["in_order_once"] and figures["memory_grown_mb"] <= MOST_MB and figures["stopped_well"])


class Reading(threading.Thread):
    """The reader that reads, and hangs up now and then in the middle."""

    def __init__(self, address: str, key: str, events: int, reconnects: int) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._key = key
        self._events = events
        self._every = -(-events // (reconnects + 1))
        self._stream = Stream(address, key=key)
        self._stream.named("queue.depth")
        self.numbers: list[int] = []
        self.reconnected = 0

    def run(self) -> None:
        """Until everything came."""
        while len(self.numbers) < self._events:
            wanted = min(self._every, self._events - len(self.numbers))
            told = self._stream.named("model.result", wanted, timeout_s=600)
            self.numbers += [each.data["n"] for each in told]
            if self._stream.ended or len(self.numbers) < self._events:
                self._stream.close()
                self._stream = Stream(self._address, key=self._key, last_id=self._stream.last_id)
                self.reconnected += 1

    def close(self) -> None:
        """Hang up."""
        self._stream.close()


def _append(core: Core, events: int, size: int) -> None:
    filler = "实时" * (size // 6)
    for start in range(0, events, _TOGETHER):
        with core.db.transaction():
            for number in range(start, min(start + _TOGETHER, events)):
                payload = {"n": number, "told": filler}
                core.log.append(NewEvent(EventType.MODEL_RESULT, f"job:{number}", payload))


def _stalled(address: str, key: str) -> socket.socket:
    return stalled(address, key=key)


def _followers(server: Server) -> int:
    lines = server.request("GET", "/metrics").body.decode().splitlines()
    return int(float(next(line.split()[1] for line in lines if line.startswith("codexmem_live_followers "))))


def _rss_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _wait_for(holds: Any) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("the readers did not connect")
        time.sleep(0.02)


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--events", type=int, default=25_000, help="for each of four tenants")
    parser.add_argument("--size", type=int, default=600, help="bytes of a payload")
    parser.add_argument("--reconnects", type=int, default=5)
    given = parser.parse_args(argv)
    with stores("postgresql", durable=False) as made:
        figures = run(made, events=given.events, size=given.size, reconnects=given.reconnects)
    return report.conclude("streams", figures, report.lines(figures), kept=kept(figures), as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
