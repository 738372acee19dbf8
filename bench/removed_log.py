"""The write-ahead log is removed under a real server, which is killed with the first 503 that anybody is given.

Four clients save, two read, one asks whether the server is ready, all at once; then the log is unlinked. Nothing that
was answered 200 may be lost after the next start, and the file must be sound: who is refused is refused after the
rescue.
"""

from __future__ import annotations

import http.client
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench import drafts, report
from bench.kill import BATCH, SAVE
from bench.stores import stores
from bench.victim import Victim
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.sqlite.engine import plain_engine

WRITERS, READERS = 4, 2
WRITTEN_S = (0.05, 1.0)  # how long is written before the log goes
PATIENCE_S = 30.0


class Try:
    """One life of the server, and what its clients were answered."""

    def __init__(self, victim: Victim, log: Path, chance: random.Random) -> None:
        self._victim, self._log, self._chance = victim, log, chance
        self.acknowledged: dict[int, str] = {}
        self.refused_by = ""
        self._refused = threading.Event()
        self._ending = threading.Event()

    def run(self, number: int) -> None:
        """Start, write, remove the log, kill at the first 503."""
        self._victim.start()
        clients = [
            *(
                threading.Thread(target=self._client, args=("save", self._saving(number, each)))
                for each in range(WRITERS)
            ),
            *(threading.Thread(target=self._client, args=("read", self._read)) for _ in range(READERS)),
            threading.Thread(target=self._client, args=("readiness", self._readiness)),
        ]
        for client in clients:
            client.start()
        time.sleep(self._chance.uniform(*WRITTEN_S))
        self._log.unlink()
        seen = self._refused.wait(PATIENCE_S)
        self._victim.kill()
        self._ending.set()
        for client in clients:
            client.join()
        if not seen:
            raise RuntimeError(f"nobody was refused within {PATIENCE_S:.0f} s after the log was removed")

    def _client(self, name: str, ask: Callable[[http.client.HTTPConnection], int]) -> None:
        connection = self._victim.connect()
        with suppress(OSError, http.client.HTTPException, ValueError):
            while not self._ending.is_set():
                if ask(connection) == 503 and not self._refused.is_set():
                    self.refused_by = name
                    self._refused.set()
        self._ending.wait(PATIENCE_S)

    def _saving(self, number: int, writer: int) -> Callable[[http.client.HTTPConnection], int]:
        chance, made = random.Random(f"{number} {writer}"), 0

        def save(connection: http.client.HTTPConnection) -> int:
            nonlocal made
            made += 1
            text = f"{number}-{writer}-{made} {drafts.text(chance, 400)}"
            status, answer = self._victim.post(connection, SAVE, {"text": text})
            if status == 200:
                self.acknowledged[answer["id"]] = text
            return status

        return save

    def _get(self, connection: http.client.HTTPConnection, path: str) -> int:
        connection.request("GET", path, headers=self._victim.headers())
        reply = connection.getresponse()
        reply.read()
        return reply.status

    def _read(self, connection: http.client.HTTPConnection) -> int:
        return self._get(connection, "/api/observations?limit=20")

    def _readiness(self, connection: http.client.HTTPConnection) -> int:
        time.sleep(0.002)
        return self._get(connection, "/api/readiness")


def missing(victim: Victim, acknowledged: dict[int, str]) -> list[int]:
    """Which of these the next life of the server has not."""
    victim.start()
    try:
        connection = victim.connect(timeout=60)
        ids = list(acknowledged)
        there: dict[int, str] = {}
        for start in range(0, len(ids), 500):
            status, found = victim.post(connection, BATCH, {"ids": ids[start : start + 500]})
            if status != 200:
                return ids
            there |= {item["id"]: item["narrative"] for item in found}
        return [number for number in ids if there.get(number) != acknowledged[number]]
    finally:
        victim.kill()


def sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with the file."""
    engine = plain_engine(path)
    try:
        with engine.connect() as connection:
            return connection.exec_driver_sql("PRAGMA integrity_check").scalars().all() == ["ok"]
    except Exception:
        return False
    finally:
        engine.dispose()


def soak(tries: int, seed: int, parent: Path | None = None) -> dict[str, Any]:
    """So many tries, each on a store of its own."""
    chance, progress, began = random.Random(seed), report.Progress("removed log"), time.monotonic()
    refused, acknowledged = Counter[str](), 0
    problems: list[str] = []
    for number in range(tries):
        with stores("sqlite", durable=True, parent=parent) as made:
            url = made.fresh()
            path = sqlite_path(url)
            assert path is not None
            victim = Victim(made.home, url)
            one = Try(victim, Path(f"{path}-wal"), chance)
            try:
                one.run(number)
                refused[one.refused_by] += 1
                acknowledged += len(one.acknowledged)
                if not sound(path):
                    problems.append(f"try {number}: the file is damaged")
                if lost := missing(victim, one.acknowledged):
                    problems.append(f"try {number}, refused by {one.refused_by}: lost {len(lost)}, {lost[:3]}")
            finally:
                victim.kill()
        progress.tell(f"{number + 1} of {tries}, {len(problems)} wrong")
    progress.close()
    return {
        "tries": tries, "acknowledged": acknowledged, "first refused": dict(sorted(refused.items())),
        "wrong": len(problems), "problems": problems[:20], "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--tries", type=int, default=50)
    parser.add_argument("--dir", type=Path, default=None, help="where stores lie; must be a real disk")
    given = parser.parse_args(argv)
    seed = report.chosen_seed(given.seed)
    figures = {"seed": seed} | soak(given.tries, seed, given.dir)
    return report.conclude("removed log", figures, report.lines(figures), kept=not figures["wrong"], as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
