"""What one captured event, one memory and one search cost on PostgreSQL: seconds of processors and bytes.

A real server over HTTP, then a worker in this process, on a PostgreSQL with fsync. Processor time is that of the server
or the worker and of all of PostgreSQL's; it contains no waiting, but is inflated where other programs share the caches.
Bytes are what the database has grown by, indexes included, and its write-ahead log. `--write` keeps the figures in
`docs/scale-costs.json`, from which `just generated` makes the plan of `docs/scale.md`.
"""

from __future__ import annotations

import json
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from bench import report
from bench.fairness_load import query
from bench.growth import COSTS
from bench.stores import stores
from codexmem.app.core import open_core
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.store.database import acting_as
from codexmem.settings import Settings
from tests._support.postgres import PostgresServer
from tests._support.server import Server

_TICKS = os.sysconf("SC_CLK_TCK")
_TENANT, _PROJECT = "bench", "bench"
_WORDS = ("def", "return", "import", "error", "fix", "login", "test", "token", "expiry", "src/auth.py", "8123", "pool",
          "timeout", "retry", "修复", "登录", "测试", "deploy", "branch", "config", "queue", "cache")  # fmt: skip
_EVENT_WORDS, _MEMORY_WORDS = 300, 95  # about 2,000 and 600 characters


@dataclass(frozen=True)
class Spent:
    """What a phase took, for each of what it did."""

    count: int
    process_ms: float
    postgres_ms: float
    bytes: float
    wal_bytes: float

    def figures(self) -> dict[str, float]:
        """As they are kept."""
        return {
            "count": self.count, "process_ms": round(self.process_ms, 2), "postgres_ms": round(self.postgres_ms, 2),
            "bytes": round(self.bytes), "wal_bytes": round(self.wal_bytes),
        }  # fmt: skip


def processor_s(pid: int, *, waited: bool = False) -> float:
    """Seconds of user and system time of a process so far; with `waited` of its children that have ended too."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if waited else 13])) / _TICKS


class Meter:
    """Reads what a phase took."""

    def __init__(self, postgres: PostgresServer, url: str) -> None:
        self._postgres = postgres
        self._url = url

    @contextmanager
    def measuring(self, process: Callable[[], float], number: int, found: list[Spent]) -> Iterator[None]:
        """Add what the block takes, by each of the things it counts."""
        before = (process(), *self._database())
        yield
        after = (process(), *self._database())
        own, postgres, size, wal = ((late - early) / number for early, late in zip(before, after, strict=True))
        found.append(Spent(number, own * 1000, postgres * 1000, size, wal))

    def _database(self) -> tuple[float, float, float]:
        """Seconds, bytes and bytes of the log so far."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            row = connection.execute(
                "SELECT pg_database_size(current_database()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
            ).fetchone()
            assert row is not None
            seconds = processor_s(self._postgres.pid, waited=True)
            for place in Path("/proc").glob("[0-9]*/stat"):
                try:
                    if int(place.read_text().rpartition(")")[2].split()[1]) == self._postgres.pid:
                        seconds += processor_s(int(place.parent.name), waited=True)
                except OSError:
                    continue  # it has just ended, and is counted with its parent the next time
        return seconds, float(row[0]), float(row[1])


def words(chance: random.Random, count: int, number: int) -> str:
    """Text that no other call makes."""
    return " ".join([*chance.choices(_WORDS, k=count), f"{chance.randrange(1 << 60):x}", str(number)])


def until_idle(url: str, kinds: Sequence[str] = ()) -> None:
    """Wait until nothing of these kinds runs, or is due within a minute; of any kind if none is named."""
    due = (
        "SELECT count(*) FROM jobs WHERE (status = 'running' OR status = 'queued' AND run_at_ms < %s) "
        "AND (cardinality(%s::text[]) = 0 OR kind = ANY (%s))"
    )
    deadline = time.monotonic() + 1_800
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < deadline:
            row = connection.execute(due, [int(time.time() * 1000) + 60_000, list(kinds), list(kinds)]).fetchone()
            if row == (0,):
                return
            time.sleep(0.5)
    raise TimeoutError("the worker did not come to an end")


def measure(given: Any) -> dict[str, Any]:
    """All phases."""
    Server.forks = True  # of a process that has loaded everything: what counts is what it takes from then on
    chance = random.Random(report.chosen_seed(given.seed))
    found: dict[str, list[Spent]] = {name: [] for name in ("event", "extraction", "memory", "vector", "search")}
    with stores("postgresql", durable=True) as made:
        assert made.server is not None
        url, folder = made.fresh(), made.home
        core = open_core(Settings(folder, url, embedder="none"))
        key = core.keys.create(_TENANT, "bench").secret
        core.close()
        meter = Meter(made.server, url)

        def work(name: str, number: int, embedder: str) -> None:
            # Here, where nothing else runs meanwhile: what it takes to start a program is nobody's cost.
            core = open_core(Settings(folder, url, embedder=embedder))
            try:
                with acting_as(_TENANT):  # loads the encoder
                    core.recall.search(SearchQuery(query(0), Filter(frozenset(Kind), project=_PROJECT)))
                with meter.measuring(time.process_time, number, found[name]):
                    core.begin()
                    until_idle(url)
                    core.stop(10.0)
            finally:
                core.close()

        settings = {"CODEXMEM_EMBEDDER": given.embedder, "CODEXMEM_TENANT_RATE": "0"}
        sent = {"Authorization": f"Bearer {key}"}
        with Server(folder, database_url=url, settings=settings, options=("--no-worker",)) as server:

            def post(path: str, body: dict[str, object]) -> None:
                reply = server.request("POST", path, body, sent)
                assert reply.status == 200, reply.body

            def event(number: int) -> None:
                session = {"contentSessionId": f"session-{number % 20}", "project": _PROJECT}
                if number % 20 == number % 400:  # twenty sessions begin a turn every twenty events
                    post("/api/sessions/init", {**session, "prompt": words(chance, 20, number)})
                post("/api/sessions/observations", {
                    **session, "tool_name": "Bash", "tool_input": {"command": f"make {number}"},
                    "tool_response": words(chance, _EVENT_WORDS, number),
                })  # fmt: skip

            def memory(number: int) -> None:
                post("/api/memory/save", {"text": words(chance, _MEMORY_WORDS, number), "project": _PROJECT})

            def search(number: int) -> None:
                path = f"/api/search?limit=5&project={_PROJECT}&query={quote(query(number))}"
                assert server.request("GET", path, headers=sent).status == 200

            for _ in range(10):
                with suppress(TimeoutError):  # an encoder takes long to load on a machine that does much else
                    search(0)
                    break
            for number in range(20):  # what else is loaded at first use
                event(number)
                memory(number)
                search(number)

            def asked(name: str, act: Callable[[int], None], number: int) -> None:
                with meter.measuring(lambda: processor_s(server.pid), number, found[name]):
                    for each in range(1_000, 1_000 + number):
                        act(each)
                print(f"{name} measured", file=sys.stderr)

            asked("memory", memory, given.memories)
            work("vector", given.memories, given.embedder)
            asked("search", search, given.searches)
            asked("event", event, given.events)
            work("extraction", given.events, "none")
    return _told(found, given)


def _told(found: dict[str, list[Spent]], given: Any) -> dict[str, Any]:
    costs = {name: each[0].figures() for name, each in found.items()}
    return {
        "costs": costs,
        "embedder": given.embedder,
        "memories_searched": given.memories,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "load": round(os.getloadavg()[1], 1),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def main(argv: list[str] | None = None) -> int:
    """Measure and print, or keep."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--events", type=int, default=1500, help="captured, of 2 kB")
    parser.add_argument("--memories", type=int, default=1500, help="saved, of 600 characters")
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--embedder", default="local", help="of server and worker: none, local")
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {COSTS.name}")
    given = parser.parse_args(argv)
    measured = measure(given)
    if given.write:
        kept = json.loads(COSTS.read_text())
        COSTS.write_text(json.dumps({**kept, "measured": measured}, indent=2, ensure_ascii=False) + "\n")
    heads = ["one", "times", "process ms", "PostgreSQL ms", "bytes", "bytes of log"]
    text = report.table(heads, [[name, *each.values()] for name, each in measured["costs"].items()])
    text += f"\n  {measured['machine']}, load {measured['load']}, embedder {measured['embedder']}"
    kept_all = all(each["postgres_ms"] > 0 for each in measured["costs"].values())
    return report.conclude("unit costs", measured, text, kept=kept_all, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
