"""Many tenants on one pooled connection, with everything going wrong: no row may cross.

Threads take turns on a pool of one, each time as another tenant, and their transactions fail at random: an exception in
the block, a statement error, a swallowed one, a cancelled statement, a killed backend. Inside every transaction the
tables are read without any condition, so that only row-level security stands between the tenants. The login is a
superuser on purpose: should a transaction ever run without its role, it would see everything.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import sqlalchemy as sa

from bench import report
from bench.stores import stores
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.store.database import Database, Transaction, acting_as
from codexmem.kernel.store.opening import open_database
from tests._support import services

TABLES = ("memories", "memory_versions", "memory_facets", "events", "receipts", "jobs", "api_keys")
FAULTS = ("none", "exception", "statement", "swallowed", "cancelled", "killed", "killed_before_commit", "killed_idle")
_WEIGHTS = (60, 8, 8, 6, 6, 5, 4, 3)
_LOOK = " UNION ALL ".join(f"SELECT tenant, count(*) FROM {table} GROUP BY tenant" for table in TABLES)
_OBSERVATIONS = frozenset({Kind.OBSERVATION})


class PlannedError(Exception):
    """The exception that a block raises on purpose."""


@dataclass
class Ledger:
    """What happened, told by the threads and checked by nobody but the end."""

    transactions: int = 0
    rows_seen: int = 0
    foreign_rows: int = 0
    missing: int = 0  # rows that were acknowledged and not found again
    ghosts: int = 0  # rows of a transaction that failed
    faults: Counter[str] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    acknowledged: dict[str, dict[int, str]] = field(default_factory=dict)  # tenant → number → content
    taken_back: dict[str, set[str]] = field(default_factory=dict)  # tenant → contents that must not be there
    lock: threading.Lock = field(default_factory=threading.Lock)


class Monkey:
    """Ends or interrupts the pool's backend from outside."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True, application_name="monkey")
        self._lock = threading.Lock()

    def kill(self, pid: int) -> None:
        """Terminate one backend and wait until it is gone."""
        self._run("SELECT pg_terminate_backend(%s, 5000)", pid)

    def cancel(self, pid: int) -> None:
        """Cancel what the backend is running."""
        self._run("SELECT pg_cancel_backend(%s)", pid)

    def kill_idle(self) -> None:
        """Terminate whatever lies in the pool; the next transaction finds it dead."""
        self._run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", "codexmem")

    def _run(self, statement: str, value: object) -> None:
        with self._lock:
            self._connection.execute(statement.encode(), [value])

    def close(self) -> None:
        """Give back the connection."""
        self._connection.close()


def look(tx: Transaction, tenant: str, ledger: Ledger) -> None:
    """Read every table without a condition and count what is not ours."""
    found = tx.connection.exec_driver_sql(_LOOK).all()
    with ledger.lock:
        ledger.rows_seen += sum(row[1] for row in found)
        ledger.foreign_rows += sum(row[1] for row in found if row[0] != tenant)


class Player:
    """One thread's share of the transactions."""

    def __init__(self, db: Database, monkey: Monkey, ledger: Ledger, seed: str, tenants: Sequence[str]) -> None:
        self._db = db
        self._real = services.build(db)
        self._monkey = monkey
        self._ledger = ledger
        self._seed = seed
        self._chance = random.Random(seed)
        self._tenants = tenants

    def play(self, transactions: int) -> None:
        """So many transactions, one after the other."""
        for number in range(transactions):
            tenant, fault = self._chance.choice(self._tenants), self._chance.choices(FAULTS, _WEIGHTS)[0]
            with self._ledger.lock:
                self._ledger.transactions += 1
                self._ledger.faults[fault] += 1
            try:
                with acting_as(tenant):
                    if self._chance.random() < 0.3:
                        self._read(tenant, fault)
                    else:
                        self._write(tenant, fault, f"{tenant} {self._seed} {number}")
            except (PlannedError, CodexmemError, sa.exc.DBAPIError, psycopg.Error) as error:
                self._expect(fault, error)
            except RuntimeError as error:
                # What the store says when a swallowed error would have committed half a transaction.
                self._expect(fault, error if fault == "swallowed" else None, told=repr(error))

    def _expect(self, fault: str, error: Exception | None, told: str = "") -> None:
        # An idle connection's death may also strike another thread, in the middle of its transaction.
        unavailable = isinstance(error, CodexmemError) and error.code == "dependency_unavailable"
        if error is None or (fault == "none" and not unavailable):
            with self._ledger.lock:
                self._ledger.unexpected.append(f"{fault}: {told or repr(error)}"[:300])

    def _write(self, tenant: str, fault: str, content: str) -> None:
        draft = MemoryDraft(
            Kind.OBSERVATION,
            State(content=content, attrs=ObservationAttrs(concepts=(tenant,)), project="p"),
            Origin.AGENT,
        )
        backs = self._ledger.taken_back.setdefault(tenant, set())
        number = None
        try:
            with self._db.transaction() as tx:
                look(tx, tenant, self._ledger)
                number = self._real.memories.remember(draft, WriteContext("bench")).seq
                self._fail(tx, fault)
                look(tx, tenant, self._ledger)
                if fault == "killed_before_commit":
                    self._monkey.kill(_pid(tx))
        except CodexmemError:
            # The backend died at an unknown moment: only what failed for certain must not be there.
            if fault in {"killed", "killed_before_commit", "cancelled"}:
                backs.add(content)
            raise
        except Exception:
            backs.add(content)
            raise
        self._ledger.acknowledged.setdefault(tenant, {})[number] = content

    def _read(self, tenant: str, fault: str) -> None:
        known = self._ledger.acknowledged.get(tenant, {}).copy()
        with self._db.reading() as tx:
            look(tx, tenant, self._ledger)
            page = self._real.memories.page(Filter(_OBSERVATIONS), PageRequest(limit=100)).items
            self._fail(tx, fault)
        missing = 0
        if known:
            number = self._chance.choice(list(known))
            try:
                missing = self._real.memories.get(Seq(number), _OBSERVATIONS).state.content != known[number]
            except CodexmemError as error:
                missing = error.code == "not_found"
        foreign = sum(not memory.state.content.startswith(f"{tenant} ") for memory in page)
        with self._ledger.lock:
            self._ledger.foreign_rows += foreign
            self._ledger.missing += missing

    def _fail(self, tx: Transaction, fault: str) -> None:
        if fault == "exception":
            raise PlannedError
        if fault == "statement":
            tx.connection.exec_driver_sql("SELECT 1 / (SELECT 0)")
        if fault == "swallowed":
            with suppress(sa.exc.DBAPIError):
                tx.connection.exec_driver_sql("SELECT 1 / (SELECT 0)")
        if fault == "cancelled":
            canceller = threading.Timer(0.005, self._monkey.cancel, [_pid(tx)])
            canceller.start()
            try:
                tx.connection.exec_driver_sql("SELECT pg_sleep(5)")
            finally:
                canceller.join()
        if fault == "killed":
            self._monkey.kill(_pid(tx))
        if fault == "killed_idle":
            self._monkey.kill_idle()


def _pid(tx: Transaction) -> int:
    return int(tx.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())


def run(url: str, *, transactions: int, tenants: int, threads: int, seed: int) -> dict[str, Any]:
    """Play, then look once more at every tenant, and once without a role to show that looking can fail."""
    names = [f"tenant-{number:03d}" for number in range(tenants)]
    ledger, monkey, progress = Ledger(), Monkey(url), report.Progress("tenants")
    began = time.monotonic()
    db = open_database(url, pool_size=1)
    try:
        players = [Player(db, monkey, ledger, f"{seed}-{number}", names) for number in range(threads)]
        shares = [transactions // threads + (number < transactions % threads) for number in range(threads)]
        running = [threading.Thread(target=p.play, args=(n,)) for p, n in zip(players, shares, strict=True)]
        for thread in running:
            thread.start()
        while any(thread.is_alive() for thread in running):
            progress.tell(f"{ledger.transactions:,} of {transactions:,}, {ledger.foreign_rows} foreign rows")
            running[0].join(0.2) if running[0].is_alive() else time.sleep(0.1)
        progress.close()
        control = _final(db, ledger, names)
    finally:
        monkey.close()
        db.close()
    return {
        "transactions": ledger.transactions,
        "tenants": tenants,
        "threads": threads,
        "faults": dict(sorted(ledger.faults.items())),
        "rows_seen": ledger.rows_seen,
        "acknowledged": sum(len(known) for known in ledger.acknowledged.values()),
        "foreign_rows": ledger.foreign_rows,
        "missing": ledger.missing,
        "ghosts": ledger.ghosts,
        "unexpected": ledger.unexpected[:10],
        "control_foreign_rows_without_role": control,
        "seconds": round(time.monotonic() - began, 1),
    }


def _final(db: Database, ledger: Ledger, names: Sequence[str]) -> int:
    for tenant in names:
        with acting_as(tenant), db.reading() as tx:
            look(tx, tenant, ledger)
            rows = tx.connection.exec_driver_sql("SELECT seq, content FROM memories").all()
        stored: dict[int, str] = {row[0]: row[1] for row in rows}
        known = ledger.acknowledged.get(tenant, {})
        ledger.missing += sum(stored.get(number) != content for number, content in known.items())
        ledger.ghosts += len(ledger.taken_back.get(tenant, set()) & set(stored.values()))
    control = Ledger()
    with db.engine.reading(names[0]) as connection:
        connection.exec_driver_sql("RESET ROLE")
        look(Transaction(connection, db.engine, names[0], writes=False), names[0], control)
    return control.foreign_rows


def kept(figures: dict[str, Any]) -> bool:
    """Nothing crossed, nothing was lost, and the control shows that crossing would have been seen."""
    broken = (figures["foreign_rows"], figures["missing"], figures["ghosts"], len(figures["unexpected"]))
    return not any(broken) and figures["control_foreign_rows_without_role"] > 0 and figures["rows_seen"] > 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--transactions", type=int, default=10_000)
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    with stores("postgresql", durable=False) as made:
        figures = run(made.fresh(), transactions=options.transactions, tenants=options.tenants,
                      threads=options.threads, seed=seed)  # fmt: skip
    return report.conclude("tenants", {"seed": seed, **figures}, f"seed {seed}\n{report.lines(figures)}",
                           kept=kept(figures), as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
