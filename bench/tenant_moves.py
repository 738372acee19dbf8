"""Tenants moved between real clusters under write load, the mover killed at every step: nothing lost, nothing twice.

Three clusters with a server each. Clients save over HTTP with idempotency keys and read back what was acknowledged;
they know one address and follow what a server says that refuses them. Each move is killed by SIGKILL at one of its
steps, taken up again (every fourth one is given up and begun anew) and committed. An external ledger knows what was
acknowledged. A cell that answers must have everything that was acknowledged before it was asked.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from bench import report
from bench.ledger import Entry, Ledger
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.opening import upgrade_store
from codexmem.operations.cells import Cells
from codexmem.operations.tenant_move import TenantMove
from tests._support.dying_moves import run_or_die
from tests._support.postgres import PostgresServer
from tests._support.server import Server, create_key

CELLS = ("one", "two", "three")
TENANT = "acme"
STEPS = ("arriving", "copied", "fenced", "followed", "compared", "sealed", "opened", "routed")


@dataclass
class Seen:
    """What the run saw."""

    killed_at: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    fenced_ms: list[float] = field(default_factory=list)
    move_s: list[float] = field(default_factory=list)
    held_off_s: list[float] = field(default_factory=list)  # of a save, from its first try to its answer
    read_back: int = 0
    undone: int = 0
    moves: int = 0
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Client:
    """Saves one text after the other and reads each back from whichever cell answers."""

    def __init__(self, number: int, servers: dict[str, Server], ledger: Ledger, seen: Seen, ending: threading.Event,
                 pause_s: float) -> None:  # fmt: skip
        self._number, self._servers, self._ledger, self._seen = number, servers, ledger, seen
        self._ending, self._pause_s, self._cell = ending, pause_s, CELLS[0]
        self.failure = ""

    def run(self) -> None:
        count = 0
        try:
            while not self._ending.is_set():
                count += 1
                entry = Entry(f"client-{self._number}-{count}", f"memory {count} of client {self._number}")
                began = time.monotonic()
                self._save(entry)
                self._seen.held_off_s.append(time.monotonic() - began)
                self._read(entry)
                time.sleep(self._pause_s)
        except Exception as error:
            self.failure = repr(error)

    def _save(self, entry: Entry) -> None:
        while True:
            self._ledger.tried(entry)
            headers = {"Idempotency-Key": entry.key}
            try:
                reply = self._servers[self._cell].post(
                    "/api/memory/save", {"text": entry.text, "project": "bench"}, headers
                )  # fmt: skip
            except OSError:
                self._ledger.unanswered(entry)
                self._ledger.next_open()
                continue
            self._seen.statuses[f"save {reply.status}"] += 1
            if reply.status == 200:
                self._ledger.answered(entry, reply.json["id"])
                return
            self._ledger.unanswered(entry)
            self._ledger.next_open()
            self._follow(reply.status, dict(reply.headers))

    def _read(self, entry: Entry) -> None:
        while True:
            reply = self._servers[self._cell].request("GET", f"/api/observation/{entry.id}")
            self._seen.statuses[f"read {reply.status}"] += 1
            if reply.status == 200:
                self._seen.read_back += 1
                if entry.text not in reply.body.decode():
                    self._seen.wrong.append(f"{self._cell} has another memory as {entry.id}")
                return
            if reply.status == 404:
                self._seen.wrong.append(f"{self._cell} has no {entry.id}, which was acknowledged")
                return
            self._follow(reply.status, dict(reply.headers))

    def _follow(self, status: int, headers: dict[str, str]) -> None:
        if status == 421:
            self._cell = headers["codexmem-cell"]
        elif status in {429, 503}:
            time.sleep(min(1.0, float(headers.get("retry-after", "0.2"))))
        else:
            raise RuntimeError(f"{self._cell} answered {status}")


def run(moves: int, seconds: float, clients: int, filled: int, pause_s: float, seed: int) -> Seen:
    """So many moves, or as many as the time allows."""
    chance, seen, progress = random.Random(f"tenant moves {seed}"), Seen(), report.Progress("moves")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codexmem-moves-")))
        urls = {name: stack.enter_context(PostgresServer(durable=True)).create_database("codexmem") for name in CELLS}
        upgrade_store(urls["one"])
        for name, url in urls.items():
            Cells(urls["one"]).add(name, url, f"https://{name}.example")
        key = create_key(folder, urls["one"], TENANT)
        servers = {}
        for name, url in urls.items():
            (folder / name).mkdir()
            settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_TENANT_RATE": "0"}
            servers[name] = stack.enter_context(Server(folder / name, database_url=url, key=key, settings=settings))
        ledger, ending = Ledger(folder / "ledger"), threading.Event()
        for place in range(filled):
            servers["one"].post("/api/memory/save", {"text": f"filling {place} " + "word " * 100, "project": "bench"})
        working = [Client(number, servers, ledger, seen, ending, pause_s) for number in range(clients)]
        threads = [threading.Thread(target=each.run) for each in working]
        for each in threads:
            each.start()
        end, home = time.monotonic() + seconds, "one"
        while seen.moves < moves and time.monotonic() < end and not any(each.failure for each in working):
            target = chance.choice([name for name in CELLS if name != home])
            home = _moved(urls["one"], target, STEPS[seen.moves % len(STEPS)], folder, seen)
            progress.tell(f"{seen.moves} moves, {len(ledger.order):,} acknowledged, {len(seen.wrong)} wrong")
        ending.set()
        for each in threads:
            each.join()
        failures = [each.failure for each in working if each.failure]
        if failures:
            raise RuntimeError(failures[0])
        _compare(urls, home, ledger, seen)
    return seen


def _moved(directory: str, target: str, at: str, folder: Path, seen: Seen) -> str:
    """One move that is killed at this step, ended and committed; where the tenant lives then."""
    began = time.monotonic()
    call = f"TenantMove({directory!r}, {TENANT!r}, clock, by='bench', step=step).run({target!r})"
    died, steps = run_or_die(call, folder, at)
    seen.killed_at[steps[-1] if died else "not killed"] += 1
    move = TenantMove(directory, TENANT, SystemClock(), by="bench")
    if died and seen.moves % 5 == 3 and at != "routed":
        move.undo(target)
        seen.undone += 1
    moved = move.run(target)
    if moved.fenced_ms:
        seen.fenced_ms.append(moved.fenced_ms)
    run_or_die(
        call.replace(f".run({target!r})", f".commit({target!r})"), folder, ("gone", "erased", "")[seen.moves % 3]
    )
    if any(place[1] == "moved" for place in _states(directory)):
        move.commit(target)
    seen.move_s.append(time.monotonic() - began)
    seen.moves += 1
    return target


def _states(directory: str) -> list[tuple[str, str]]:
    found = []
    for cell in Cells(directory).known():
        with psycopg.connect(cell.store) as connection:
            rows = connection.execute("SELECT tenant, state FROM codexmem_cells.places WHERE tenant = %s", [TENANT])
            found += rows.fetchall()
    return found


def _compare(urls: dict[str, str], home: str, ledger: Ledger, seen: Seen) -> None:
    with psycopg.connect(urls[home]) as connection:
        rows = connection.execute("SELECT seq, content FROM memories WHERE tenant = %s", [TENANT]).fetchall()
    by_text = Counter(content for _, content in rows)
    for entry in ledger.order:
        if by_text[entry.text] == 0:
            seen.lost.append(entry.key)
        elif by_text[entry.text] > 1:
            seen.twice.append(entry.key)
    seen.wrong += ledger.contradictions
    seen.statuses["acknowledged"] = len(ledger.order)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and report; 0 if nothing was lost, stored twice or answered by a wrong cell."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--moves", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=600, help="begin no further move after so many")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--filled", type=int, default=500, help="memories that the tenant has before")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two saves of a client")
    given = parser.parse_args(arguments)
    seed = report.chosen_seed(given.seed)
    Server.forks = True
    began = time.monotonic()
    seen = run(given.moves, given.seconds, given.clients, given.filled, given.pause, seed)
    document = {
        "seed": seed, "seconds": round(time.monotonic() - began), "moves": seen.moves, "undone": seen.undone,
        "killed_at": dict(seen.killed_at), "acknowledged": seen.statuses.pop("acknowledged"),
        "read_back": seen.read_back, "answers": dict(seen.statuses),
        "fenced_ms_p50": report.percentile(seen.fenced_ms, 0.5), "fenced_ms_max": max(seen.fenced_ms, default=0),
        "move_s_p50": round(report.percentile(seen.move_s, 0.5), 1),
        "save_s_p50": round(report.percentile(seen.held_off_s, 0.5), 3),
        "save_s_max": round(max(seen.held_off_s, default=0), 1),
        "lost": len(seen.lost), "twice": len(seen.twice), "wrong": len(seen.wrong), "examples": seen.wrong[:5],
    }  # fmt: skip
    kept = not (seen.lost or seen.twice or seen.wrong)
    return report.conclude("tenant moves", document, report.lines(document), kept=kept, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
