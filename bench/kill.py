"""SIGKILL of the server under load: every acknowledged write is there, once, whatever was killed and whenever.

Eight clients save over HTTP while the server is killed at random moments and started again, and, on PostgreSQL, while
the database itself is restarted and crashed. An external ledger says what was acknowledged. What was sent and not
answered is sent again with its idempotency key and must take effect exactly once.
"""

from __future__ import annotations

import http.client
import random
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from bench import drafts, report
from bench.ledger import Entry, Ledger, digest
from bench.stores import Stores, stores
from bench.victim import Victim, seconds_to_start
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.sqlite.engine import plain_engine

WRITERS = 8
LIFE_S = (0.05, 0.6)
LONGEST_LIFE_S = 60.0
SAVE, BATCH = "/api/memory/save", "/api/observations/batch"
READ_AT_ONCE = 500
RECENT, RANDOM, REPLAYED = 150, 150, 8  # looked at after each start: the newest are most at risk


@dataclass
class Figures:
    """What the run has seen so far."""

    kills: int = 0
    restarts: dict[str, int] = field(default_factory=dict)
    ready_s: list[float] = field(default_factory=list)
    recovery_s: list[float] = field(default_factory=list)  # from the database's return to the next acknowledgement
    read_back: int = 0
    replayed: int = 0
    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)


class Clients:
    """Writers that go on for ever, waiting while the server is down."""

    def __init__(self, victim: Victim, ledger: Ledger, seed: int) -> None:
        self._victim = victim
        self._ledger = ledger
        self._serving = threading.Event()
        self._ending = threading.Event()
        self._new = threading.Event()  # whether new entries are made, or only unknown ones sent again
        self._new.set()
        self.failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(n, seed), daemon=True) for n in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def resume(self) -> None:
        """The server is up."""
        self._serving.set()

    def pause(self) -> None:
        """The server is about to go; requests in flight find out by themselves."""
        self._serving.clear()

    def drain(self) -> None:
        """Send no new entries, and end when every unknown one is answered."""
        self._new.clear()
        patience = time.monotonic() + 60
        while not self._ledger.settled and time.monotonic() < patience and not self.failures:
            time.sleep(0.01)
        self.end()

    def end(self) -> None:
        """Let every thread finish what it is doing; may be called twice."""
        self._ending.set()
        self._serving.set()
        for thread in self._threads:
            thread.join(30)

    def _run(self, number: int, seed: int) -> None:
        chance, made = random.Random(f"{seed} {number}"), 0
        connection: http.client.HTTPConnection | None = None
        try:
            while not self._ending.is_set():
                if not self._serving.wait(0.2):
                    continue
                entry = self._ledger.next_open()
                if entry is None:
                    if not self._new.is_set():
                        time.sleep(0.005)
                        continue
                    made += 1
                    key = f"{seed}-{number}-{made}"
                    entry = Entry(key, f"{key} {drafts.text(chance, chance.randrange(100, 700))}")
                connection = connection or self._victim.connect()
                if not self._send(connection, entry):
                    connection.close()
                    connection = None
        except BaseException as error:  # reported by the thread that controls us
            self.failures.append(error)
        finally:
            if connection is not None:
                connection.close()

    def _send(self, connection: http.client.HTTPConnection, entry: Entry) -> bool:
        """Whether the connection can be used again."""
        self._ledger.tried(entry)
        try:
            status, answer = self._victim.post(connection, SAVE, {"text": entry.text}, **{"Idempotency-Key": entry.key})
        except (OSError, http.client.HTTPException, ValueError):
            self._ledger.unanswered(entry)
            time.sleep(0.01)
            return False
        if status == 200:
            self._ledger.answered(entry, answer["id"])
        elif status >= 500:
            # An error of the store's commit may hide a success, so this is as unknown as no answer.
            self._ledger.unanswered(entry)
            time.sleep(0.02)
        else:
            self._ledger.rejected(entry, f"{status} {answer}")
        return True


class Soak:
    """One engine's run."""

    def __init__(self, victim: Victim, made: Stores, ledger: Ledger, seed: int) -> None:
        self._victim = victim
        self._made = made
        self._ledger = ledger
        self._chance = random.Random(f"kill {seed}")
        self.clients = Clients(victim, ledger, seed)
        self.figures = Figures()

    def run(self, *, kills: int, restarts: int, min_acks: int, progress: report.Progress) -> None:
        """Start, write, kill, again; the last life is ended politely."""
        shaken = set(self._chance.sample(range(kills), min(restarts, kills))) if self._made.server else set()
        for life in range(kills):
            self._live()
            share = max(0, min_acks - len(self._ledger.order)) / (kills - life)
            self._write_for(share * self._chance.uniform(0.5, 1.5), shaken_first=life in shaken)
            self.clients.pause()
            self._victim.kill()
            self.figures.kills += 1
            self._ledger.sync()
            self._check_alive()
            progress.tell(
                f"{life + 1} of {kills} kills, {len(self._ledger.order):,} acknowledged, "
                f"{self._ledger.unknown} unknown, {len(self.figures.lost)} lost"
            )
        self._live()
        while len(self._ledger.order) < min_acks and not self.clients.failures:
            time.sleep(0.05)
        self.clients.drain()
        self._check_alive()
        self._read_back(self._ledger.order)
        self._victim.stop()

    def _live(self) -> None:
        self.figures.ready_s.append(seconds_to_start(self._victim))
        known = self._ledger.order
        if known:
            sample = [*known[-RECENT:], *(self._chance.choice(known) for _ in range(RANDOM))]
            self._read_back(sample)
            self._replay(sample)
        self.clients.resume()

    def _write_for(self, acks: float, *, shaken_first: bool) -> None:
        began, before = time.monotonic(), len(self._ledger.order)
        life = self._chance.uniform(*LIFE_S)
        if shaken_first:
            time.sleep(life)
            self._shake()
            began, life = time.monotonic(), self._chance.uniform(*LIFE_S)
        while (now := time.monotonic() - began) < LONGEST_LIFE_S and not self.clients.failures:
            if now >= life and len(self._ledger.order) - before >= acks:
                return
            time.sleep(0.002 if now >= life else min(0.02, life - now))

    def _shake(self) -> None:
        """Restart or crash the database under the running server."""
        server = self._made.server
        assert server is not None
        how = self._chance.choice(["fast", "immediate", "kill"])
        if how == "kill":
            server.kill()
            server.start()
        else:
            server.restart("fast" if how == "fast" else "immediate")
        self.figures.restarts[how] = self.figures.restarts.get(how, 0) + 1
        began, before = time.monotonic(), len(self._ledger.order)
        while len(self._ledger.order) == before and not self.clients.failures:
            if time.monotonic() - began > 30:
                raise RuntimeError("nothing was acknowledged within 30 s after the database came back")
            time.sleep(0.005)
        self.figures.recovery_s.append(time.monotonic() - began)

    def _read_back(self, entries: Sequence[Entry]) -> None:
        """Every one of these must be there with its text."""
        connection = self._victim.connect(timeout=30)
        wanted = {entry.id: entry for entry in entries if entry.id is not None}
        ids = list(wanted)
        for start in range(0, len(ids), READ_AT_ONCE):
            chunk = ids[start : start + READ_AT_ONCE]
            status, found = self._victim.post(connection, BATCH, {"ids": chunk})
            if status != 200:
                raise RuntimeError(f"reading back was answered {status}: {found}")
            there = {item["id"]: digest(item["narrative"]) for item in found}
            self.figures.lost += [f"#{n} {wanted[n].key}" for n in chunk if there.get(n) != wanted[n].hash]
        self.figures.read_back += len(ids)
        connection.close()

    def _replay(self, entries: Sequence[Entry]) -> None:
        """Asking again with the same key gives the same answer, also in another life."""
        connection = self._victim.connect()
        for entry in self._chance.sample(entries, min(REPLAYED, len(entries))):
            status, answer = self._victim.post(connection, SAVE, {"text": entry.text}, **{"Idempotency-Key": entry.key})
            if status != 200 or answer["id"] != entry.id:
                self.figures.duplicated.append(f"{entry.key}: #{entry.id}, then {status} {answer}")
        self.figures.replayed += min(REPLAYED, len(entries))
        connection.close()

    def _check_alive(self) -> None:
        if self.clients.failures:
            raise self.clients.failures[0]


def inspect(url: str, ledger: Ledger, figures: Figures) -> dict[str, Any]:
    """Look into the store itself: nothing twice, nothing that was not asked for, nothing broken."""
    with _raw(url) as run:
        stored = run("SELECT content, count(*) FROM memories GROUP BY content HAVING count(*) > 1")
        figures.duplicated += [f"{count} times: {content[:40]}" for content, count in stored]
        memories, versions, events = (
            int(run(f"SELECT count(*) FROM {table}")[0][0]) for table in ("memories", "memory_versions", "events")
        )
        answers = int(run("SELECT count(*) FROM receipts WHERE answer = '{}'")[0][0])
        broken = []
        if sqlite_path(url) is not None:
            broken = [row for row in run("PRAGMA integrity_check") if row[0] != "ok"]
            broken += run("PRAGMA foreign_key_check")
    return {
        "stored": memories,
        "stored_beyond_acknowledged": memories - len(ledger.acknowledged),
        "memories_without_their_version": memories - versions,
        "memories_without_their_event": max(0, memories - events),
        "receipts_without_answer": answers,
        "integrity_problems": len(broken),
    }


@contextmanager
def _raw(url: str) -> Iterator[Any]:
    """A function that runs SQL beside the product, as the owner of everything."""
    path = sqlite_path(url)
    with ExitStack() as stack:
        if path is not None:
            engine = plain_engine(path)
            stack.callback(engine.dispose)
            raw = stack.enter_context(engine.connect())
            yield lambda statement: raw.exec_driver_sql(statement).all()
        else:
            owner = stack.enter_context(psycopg.connect(url, autocommit=True))
            yield lambda statement: owner.execute(statement.encode()).fetchall()


def soak(
    engine: str, *, kills: int, restarts: int, min_acks: int, seed: int, parent: Path | None = None
) -> dict[str, Any]:
    """One engine from an empty store to the verdict."""
    began, progress = time.monotonic(), report.Progress(f"kill {engine}")
    with stores(engine, durable=True, parent=parent) as made:
        url = made.fresh()
        victim = Victim(made.home, url)
        tenant = LOCAL if engine == "sqlite" else "soak"
        if engine == "postgresql":
            victim.secret = victim.command("key", "create", "--tenant", tenant, "--label", "soak")["secret"]
        ledger = Ledger(made.home / "ledger")
        run = Soak(victim, made, ledger, seed)
        try:
            run.run(kills=kills, restarts=restarts, min_acks=min_acks, progress=progress)
        finally:
            victim.kill()
            run.clients.end()
            progress.close()
            ledger.close()
        figures = run.figures
        store = inspect(url, ledger, figures)
    return {
        "kills": figures.kills,
        "database_restarts": sum(figures.restarts.values()),
        "database_restarts_by_kind": figures.restarts,
        "acknowledged": len(ledger.acknowledged),
        "unknown_resolved": ledger.resolved,
        "unknown_left": ledger.unknown,
        "refused": len(ledger.refused),
        "lost": len(figures.lost),
        "duplicated": len(figures.duplicated) + len(ledger.contradictions),
        "read_back": figures.read_back,
        "replayed": figures.replayed,
        **store,
        "ready_p50_s": round(report.percentile(figures.ready_s[1:] or figures.ready_s, 0.5), 2),
        "ready_max_s": round(max(figures.ready_s[1:] or figures.ready_s), 2),
        "database_recovery_max_s": round(max(figures.recovery_s), 2) if figures.recovery_s else None,
        "seconds": round(time.monotonic() - began, 1),
        "problems": [*figures.lost, *figures.duplicated, *ledger.contradictions, *ledger.refused][:20],
    }


_MUST_BE_NONE = (
    "lost", "duplicated", "refused", "unknown_left", "stored_beyond_acknowledged", "memories_without_their_version",
    "memories_without_their_event", "receipts_without_answer", "integrity_problems",
)  # fmt: skip


def kept(figures: dict[str, Any]) -> bool:
    """Whether nothing was lost, doubled, refused, left open or broken."""
    return not any(figures[name] for name in _MUST_BE_NONE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--kills", type=int, default=200, help="per engine")
    parser.add_argument("--restarts", type=int, default=20, help="of PostgreSQL, between the kills")
    parser.add_argument("--min-acks", type=int, default=100_000, help="in all; lives are lengthened to reach it")
    parser.add_argument("--dir", type=Path, default=None, help="where stores and ledger lie; must be a real disk")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    engines = report.chosen_engines(options.engine)
    share = -(-options.min_acks // len(engines))
    results = {
        engine: soak(engine, kills=options.kills, restarts=options.restarts, min_acks=share,
                     seed=seed, parent=options.dir)
        for engine in engines
    }  # fmt: skip
    text = "\n".join(f"{engine}, seed {seed}\n{report.lines(figures)}" for engine, figures in results.items())
    total = sum(figures["acknowledged"] for figures in results.values())
    good = all(kept(figures) for figures in results.values()) and total >= options.min_acks
    return report.conclude("kill", {"seed": seed, "acknowledged": total, "engines": results}, text,
                           kept=good, as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
