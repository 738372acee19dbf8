"""How fast the service remembers, beside what the same engine and disk can do bare.

Four contenders take turns in one run: the service with sixteen threads; single rows committed one by one; groups of
sixteen single rows per commit; and groups that write the same rows as `remember` does. All commits are durable, on a
real disk. The medians of the rounds are compared; what each write costs in statements and CPU says what limits it.
"""

from __future__ import annotations

import itertools
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench import drafts, report, rows
from bench.stores import Stores, stores
from codexmem.app import Core, open_core
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.sqlite.engine import plain_engine
from codexmem.settings import Settings

WRITERS = 16
TARGET = 0.5  # of bare group commits
_BY = WriteContext("bench")

Write = Callable[[], None]  # one round's unit of work for one thread
Remembered = list[list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Contender:
    """One way to write: for each thread a function that makes `per_call` writes durable."""

    name: str
    writers: Sequence[Write]
    per_call: int = 1


@dataclass(frozen=True)
class Round:
    """What one turn of a contender gave."""

    rate: float  # durable writes per second
    cpu: float  # seconds of this process per second


def turn(contender: Contender, seconds: float) -> Round:
    """Let all its threads write for so long."""
    counts = [0] * len(contender.writers)
    failures: list[BaseException] = []
    barrier = threading.Barrier(len(contender.writers) + 1)
    ends = [float("inf")]

    def run(at: int, write: Write) -> None:
        try:
            with acting_as(LOCAL):
                barrier.wait()
                while time.monotonic() < ends[0]:
                    write()
                    counts[at] += contender.per_call
        except BaseException as error:  # reported by the thread that waits for us
            failures.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(contender.writers)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began, cpu = time.monotonic(), time.process_time()
    ends[0] = began + seconds
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    elapsed = time.monotonic() - began
    return Round(sum(counts) / elapsed, (time.process_time() - cpu) / elapsed)


class Material:
    """Texts, drafts and rows made before the clock runs; every row is new."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self._texts = [drafts.text(chance) for _ in range(500)]
        self._drafts = [drafts.observation(chance, content=text) for text in self._texts]
        self._numbers = itertools.count(1)

    def content(self) -> str:
        """One text of the size that drafts have."""
        return self._texts[next(self._numbers) % len(self._texts)]

    def draft(self) -> Any:
        """One draft."""
        return self._drafts[next(self._numbers) % len(self._drafts)]

    def rows(self, count: int) -> list[Remembered]:
        """What so many memories leave in the tables."""
        now = time.time_ns() // 1_000_000
        return [
            rows.remembered(self.draft(), tenant=LOCAL, seq=number, event=number, now_ms=now)
            for number in itertools.islice(self._numbers, count)
        ]


@contextmanager
def sqlite_bare(made: Stores, material: Material, prepared: list[Remembered]) -> Iterator[list[Contender]]:
    """Raw connections with the product's settings: one for rows of one table, one for the product's tables."""
    with ExitStack() as stack:
        plain = _sqlite(made.home / "bare.db", stack)
        plain.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, content TEXT NOT NULL)")
        path = sqlite_path(made.fresh())
        assert path is not None
        whole = _sqlite(path, stack)
        statements = [rows.insert_statement(table, "?") for table in rows.TABLES]
        single = "INSERT INTO bare (content) VALUES (?)"

        def alone() -> None:
            plain.execute(single, (material.content(),))

        def grouped() -> None:
            plain.execute("BEGIN IMMEDIATE")
            for _ in range(WRITERS):
                plain.execute(single, (material.content(),))
            plain.execute("COMMIT")

        def grouped_rows() -> None:
            whole.execute("BEGIN IMMEDIATE")
            for _ in range(WRITERS):
                for statement, values in zip(statements, prepared.pop(), strict=True):
                    for row in values:
                        whole.execute(statement, row)
            whole.execute("COMMIT")

        yield [
            Contender("single", [alone]),
            Contender("group", [grouped], WRITERS),
            Contender("group_rows", [grouped_rows], WRITERS),
        ]


def _sqlite(path: Path, stack: ExitStack) -> Any:
    # The product's own connection, so that its settings (durability, checkpoints, cache) are the same for all.
    engine = plain_engine(path)
    stack.callback(engine.dispose)
    pooled = engine.raw_connection()
    stack.callback(pooled.close)
    return pooled.driver_connection


@contextmanager
def postgres_bare(made: Stores, material: Material, prepared: list[Remembered]) -> Iterator[list[Contender]]:
    """Sixteen raw connections; the server makes groups of their commits by itself."""
    with ExitStack() as stack:
        url = made.fresh()
        connections = [stack.enter_context(psycopg.connect(url, autocommit=True)) for _ in range(WRITERS)]
        connections[0].execute("CREATE TABLE bare (id bigserial PRIMARY KEY, content text NOT NULL)")
        statements = [rows.insert_statement(table, "%s").encode() for table in rows.TABLES]

        def alone(connection: psycopg.Connection) -> Write:
            def write() -> None:
                connection.execute("INSERT INTO bare (content) VALUES (%s)", (material.content(),))

            return write

        def whole(connection: psycopg.Connection) -> Write:
            def write() -> None:
                with connection.transaction(), connection.cursor() as cursor:
                    for statement, values in zip(statements, prepared.pop(), strict=True):
                        if len(values) == 1:
                            cursor.execute(statement, values[0])
                        elif values:
                            cursor.executemany(statement, values)

            return write

        yield [
            Contender("single", [alone(connections[0])]),
            Contender("group", [alone(connection) for connection in connections]),
            Contender("group_rows", [whole(connection) for connection in connections]),
        ]


@contextmanager
def service(core: Core, material: Material) -> Iterator[Contender]:
    """Sixteen threads that remember."""

    def write() -> None:
        core.memories.remember(material.draft(), _BY)

    yield Contender("service", [write] * WRITERS)


@contextmanager
def wired(made: Stores) -> Iterator[Core]:
    """The product's own wiring on a store of its own; endpoints and worker left out."""
    core = open_core(Settings(data_dir=made.home, database_url=made.fresh()))
    try:
        yield core
    finally:
        core.close()


@dataclass(frozen=True)
class Costs:
    """What sixteen threads sent to the database per write."""

    statements: float  # on PostgreSQL round trips: several rows of one table go in one
    writes_per_fsync: float


def costs(core: Core, made: Stores, contender: Contender, seconds: float) -> Costs:
    """Count for a while, outside the timed rounds: counting is not free."""
    if made.server is None:
        return _sqlite_costs(core, contender, seconds)
    with psycopg.connect(made.server.url(), autocommit=True) as connection:
        return _postgres_costs(connection, contender, seconds)


def _sqlite_costs(core: Core, contender: Contender, seconds: float) -> Costs:
    seen: list[str] = []
    with core.db.transaction() as tx:
        driver: Any = tx.connection.connection.driver_connection
        driver.set_trace_callback(seen.append)
    written = turn(contender, seconds).rate * seconds
    driver.set_trace_callback(None)
    return Costs(len(seen) / written, written / max(1, seen.count("COMMIT")))


def _postgres_costs(connection: psycopg.Connection, contender: Contender, seconds: float) -> Costs:
    sent: list[None] = []
    originals = {name: getattr(psycopg.Cursor, name) for name in ("execute", "executemany")}

    def counting(original: Any) -> Any:
        def counted(*given: Any, **named: Any) -> Any:
            sent.append(None)
            return original(*given, **named)

        return counted

    def fsyncs() -> int:
        time.sleep(1.1)  # backends report about once a second
        row = connection.execute("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'").fetchone()
        return int(row[0]) if row else 0

    before = fsyncs()
    for name, original in originals.items():
        setattr(psycopg.Cursor, name, counting(original))
    try:
        written = turn(contender, seconds).rate * seconds
    finally:
        for name, original in originals.items():
            setattr(psycopg.Cursor, name, original)
    statements = len(sent) / written
    return Costs(statements, written / max(1, fsyncs() - before))


def measure(engine: str, *, rounds: int, seconds: float, seed: int, parent: Path | None) -> dict[str, Any]:
    """Every contender in every round, in a new order each time."""
    chance, progress = random.Random(seed), report.Progress(f"writes {engine}")
    material = Material(seed)
    prepared: list[Remembered] = []
    taken: dict[str, list[Round]] = {}
    bare = sqlite_bare if engine == "sqlite" else postgres_bare
    with (
        stores(engine, durable=True, parent=parent) as made,
        bare(made, material, prepared) as others,
        wired(made) as core,
        service(core, material) as ours,
    ):
        contenders = [*others, ours]
        stock = 2_000
        for number in range(rounds + 1):  # the first warms up and tells how many rows a round needs
            for contender in chance.sample(contenders, len(contenders)):
                progress.tell(f"round {number} of {rounds}, {contender.name}")
                if contender.name == "group_rows":
                    prepared.extend(material.rows(max(0, stock - len(prepared))))
                    result = turn(contender, seconds if number else 0.1)
                    stock = max(stock, int(result.rate * seconds * 2) + 1_000)
                else:
                    result = turn(contender, seconds if number else 0.1)
                if number:
                    taken.setdefault(contender.name, []).append(result)
        per_write = costs(core, made, ours, seconds)
    progress.close()
    rates = {name: statistics.median(each.rate for each in turns) for name, turns in taken.items()}
    cpu = {name: round(statistics.median(each.cpu for each in turns), 2) for name, turns in taken.items()}
    return {
        "rate": {name: round(rate) for name, rate in rates.items()},
        "spread": {name: [round(f(t.rate for t in turns)) for f in (min, max)] for name, turns in taken.items()},
        "service_to_single": round(rates["service"] / rates["single"], 3),
        "service_to_group": round(rates["service"] / rates["group"], 3),
        "service_to_group_rows": round(rates["service"] / rates["group_rows"], 3),
        "cpu": cpu,
        "statements_per_write": round(per_write.statements, 1),
        "writes_per_fsync": round(per_write.writes_per_fsync, 1),
        "microseconds_of_cpu_per_write": round(cpu["service"] / rates["service"] * 1e6),
        "limit": _limit(engine, rates, cpu),
        "load_average": round(os.getloadavg()[0], 1),
    }


def _limit(engine: str, rates: dict[str, float], cpu: dict[str, float]) -> str:
    if rates["service"] >= TARGET * rates["group"]:
        return "none within the target"
    cores = os.cpu_count() or 1
    if cpu["service"] >= 0.85:
        cause = "one core of Python: the interpreter lock lets one thread build and send statements at a time"
    elif os.getloadavg()[0] > 2 * cores:
        cause = "other programs: the machine was busy, measure again when it is not"
    elif engine == "postgresql" and cores <= 2:
        cause = "the machine: client and server share its cores"
    else:
        cause = "waiting for the disk and for turns on the connection"
    share = rates["group_rows"] / rates["group"]
    return f"{cause}; the rows that one memory leaves make bare groups {share:.2f} times as fast as single rows"


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="per contender and round")
    parser.add_argument("--dir", type=Path, default=None, help="where the stores lie; must be a real disk")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: measure(engine, rounds=options.rounds, seconds=options.seconds, seed=seed, parent=options.dir)
        for engine in report.chosen_engines(options.engine)
    }
    text = "\n".join(f"{engine}, seed {seed}\n{report.lines(figures)}" for engine, figures in results.items())
    # The target is met, or the limit is named: both keep the promise.
    kept = all(figures["service_to_group"] >= TARGET or figures["limit"] for figures in results.values())
    return report.conclude("writes", {"seed": seed, "engines": results}, text, kept=kept, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
