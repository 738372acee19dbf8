"""A thousand tenants on PostgreSQL behind several server processes, one of which is killed every few seconds.

Clients capture events and search, each time for another tenant and on a connection of its own, as hooks do. What was
sent and not answered is sent again under the same event id. Beside each search the statements that it sends to its
indexes are sent straight to the driver, under the same load. Every few seconds a server process or a worker is killed
with SIGKILL; at the end each acknowledged event must be stored once, and nothing that came of it twice.

Before that, how throughput grows with server processes: the same clients at one, two and four of them, in turn, each
process with the same share of a core (`bench/processor_share.py`), because a machine of two cores has no more to give.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from bench import report
from bench.corpus import MODEL, Corpus, Made
from bench.filling import fill
from bench.processor_share import ProcessorShares
from bench.search_latency import Bare, Overheard, Product, noted
from bench.stores import stores
from bench.unit_costs import processor_s, until_idle, words
from bench.victim import Victim
from codexmem.app.core import open_core
from codexmem.capture.service import EXTRACT
from codexmem.kernel.embed import choice
from codexmem.kernel.model.job import WORKER_LOST
from codexmem.kernel.services.indexing import CATCH_UP
from codexmem.kernel.store.database import acting_as
from codexmem.settings import Settings
from tests._support.postgres import PostgresServer, children
from tests._support.warm import ForkedProcess

RATIO, SHARE = 0.8, 0.2
PROJECT = "bench"
EVENTS_OF_A_SESSION = 20
_EVENT_WORDS = 300  # about 2 kB
_WARM = 200  # searches of each process before anything is measured
_ANSWER_S, _MADE_GOOD_S = 30.0, 60.0
_SETTINGS = {"CODEXMEM_TENANT_RATE": "0", "CODEXMEM_RULES_ONLY": "1"}

Process = subprocess.Popen[bytes] | ForkedProcess


@dataclass(frozen=True)
class Asked:
    """A question, the tenant who asks it, and what its search sends to the indexes."""

    text: str
    tenant: str
    heard: list[Overheard]


@dataclass
class Filled:
    """A store of many tenants."""

    url: str
    home: Path
    keys: dict[str, str]
    asked: list[Asked]
    newest: int  # number of the last memory


@dataclass
class Seen:
    """What the clients saw; each list is appended to by many threads."""

    captured: list[float] = field(default_factory=list)  # seconds
    searched: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    sent_again: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    events: list[str] = field(default_factory=list)  # acknowledged
    failures: list[str] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """How much was."""
        return len(self.captured) + len(self.searched)


class Clients:
    """Threads that capture and search until the block ends."""

    def __init__(self, filled: Filled, victim: Victim, name: str, *, capturing: int, searching: int,
                 beside: bool = False) -> None:  # fmt: skip
        self._filled, self._victim, self._name, self._beside = filled, victim, name, beside
        self._ending = threading.Event()
        self.seen = Seen()
        work = [self._capture] * capturing + [self._search] * searching
        self._threads = [threading.Thread(target=self._run, args=(each, n)) for n, each in enumerate(work)]

    def __enter__(self) -> Seen:
        for each in self._threads:
            each.start()
        return self.seen

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        for each in self._threads:
            each.join()

    def _run(self, work: Callable[[int, random.Random], Iterator[None]], number: int) -> None:
        try:
            with closing(work(number, random.Random(f"{self._name} {number}"))) as steps:  # type: ignore[type-var]
                for _ in steps:
                    if self._ending.is_set():
                        return
        except Exception as error:
            self.seen.failures.append(repr(error))

    def _capture(self, number: int, chance: random.Random) -> Iterator[None]:
        """One session of another tenant after the other."""
        tenants = list(self._filled.keys)
        for round_ in itertools.count():
            tenant = chance.choice(tenants)
            about = {"contentSessionId": f"{self._name}-{number}-{round_}", "project": PROJECT}
            begun = {**about, "event_id": f"{self._name}-{number}-{round_}", "prompt": words(chance, 20, round_)}
            self._sent("POST", "/api/sessions/init", tenant, begun)
            for place in range(EVENTS_OF_A_SESSION):
                event = f"{self._name}-{number}-{round_}-{place}"
                body = {
                    **about, "event_id": event, "tool_name": "Bash", "tool_input": {"command": f"make {event}"},
                    "tool_response": words(chance, _EVENT_WORDS, place),
                }  # fmt: skip
                self.seen.captured.append(self._sent("POST", "/api/sessions/observations", tenant, body))
                self.seen.events.append(event)
                yield

    def _search(self, _: int, chance: random.Random) -> Iterator[None]:
        with closing(Bare(self._filled.url)) as bare:
            while True:
                asked = chance.choice(self._filled.asked)
                path = f"/api/search?limit=10&query={quote(asked.text)}"
                self.seen.searched.append(self._sent("GET", path, asked.tenant))
                if self._beside:
                    took, _rows = bare.ask(asked.heard, asked.tenant)
                    self.seen.bare.append(sum(took) / 1000)
                yield

    def _sent(self, method: str, path: str, tenant: str, body: object = None) -> float:
        """Seconds until it was acknowledged, however often it had to be sent."""
        began = time.monotonic()
        payload = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._filled.keys[tenant]}", "Content-Type": "application/json"}
        while True:
            connection = self._victim.connect(_ANSWER_S)
            try:
                connection.request(method, path, payload, headers)
                reply = connection.getresponse()
                said = reply.read()
            except (OSError, http.client.HTTPException):
                self.seen.sent_again += 1
                time.sleep(0.01)
                continue
            finally:
                connection.close()
            if reply.status == 200:
                return time.monotonic() - began
            if reply.status not in {429, 503}:
                raise RuntimeError(f"{method} {path} was answered {reply.status}: {said[:300]!r}")
            self.seen.refused[str(reply.status)] += 1
            time.sleep(min(1.0, float(reply.headers.get("Retry-After", "0.1"))))


def filled(made: Any, *, memories: int, tenants: int, questions: int, embedder: str, seed: int) -> Filled:
    """A store of so many tenants with an equal part of the memories each, a key for each, and questions."""
    progress, chance, url = report.Progress("tenants"), random.Random(f"questions {seed}"), made.fresh()
    corpus, names = Corpus(seed), [f"tenant-{number:04d}" for number in range(tenants)]
    numbers = set(chance.sample(range(1, memories + 1), min(questions, memories)))
    about: list[Made] = []
    encoder = choice.choose(choice.EmbedderChoice(embedder))
    fill(url, noted(corpus.memories(memories, names), numbers, about), corpus.vectors, progress,
         encoder.model if encoder else MODEL)  # fmt: skip
    asked = []
    with tempfile.TemporaryDirectory() as scratch:
        core = open_core(Settings(Path(scratch), url, embedder=embedder))
        try:
            keys = {name: core.keys.create(name, "bench").secret for name in names}
            product = Product(core)
            for made_memory, question in zip(about, corpus.questions(about), strict=True):
                with acting_as(made_memory.tenant):
                    heard = product.overhear(question, "all")
                asked.append(Asked(question.text, made_memory.tenant, heard))
        finally:
            core.close()
    progress.close()
    return Filled(url, made.home, keys, asked, memories)


@contextmanager
def serving(filled: Filled, processes: int, embedder: str) -> Iterator[Victim]:
    """So many server processes on one port, without a worker, each of which has searched before."""
    victim = Victim(filled.home, filled.url, environment={**_SETTINGS, "CODEXMEM_EMBEDDER": embedder},
                    options=("--processes", str(processes), "--no-worker"))  # fmt: skip
    victim.start()
    try:
        warm(filled, victim, processes)
        yield victim
    finally:
        victim.stop()


def servers(victim: Victim) -> list[int]:
    """Process ids of those that answer."""
    return list(children(victim.pid)) or [victim.pid]


def warm(filled: Filled, victim: Victim, processes: int) -> None:
    """Search until all are there and none has used a processor for something that only the first search needs."""
    deadline = time.monotonic() + 120
    while len(servers(victim)) < processes and time.monotonic() < deadline:
        time.sleep(0.1)
    with Clients(filled, victim, f"warm-{processes}-{time.monotonic_ns()}", capturing=processes,
                 searching=4 * processes) as seen:  # fmt: skip
        while len(seen.searched) < _WARM * processes and not seen.failures and time.monotonic() < deadline:
            time.sleep(0.1)
    if seen.failures:
        raise RuntimeError(seen.failures[0])


def scaling(filled: Filled, postgres: PostgresServer, *, counts: Sequence[int], rounds: int, seconds: float,
            share: float, embedder: str, progress: report.Progress) -> list[dict[str, Any]]:  # fmt: skip
    """Captures and searches a second with so many server processes, in turn."""
    measured: dict[tuple[str, int], list[dict[str, float]]] = {}
    # One order after the other, so that what is warm by then is not always the same.
    orders = [counts if round_ % 2 == 0 else counts[::-1] for round_ in range(rounds)]
    for round_, processes in ((round_, each) for round_, order in enumerate(orders) for each in order):
        # The groups are removed after the processes in them.
        with _limited(share) as shares, serving(filled, processes, embedder) as victim:
            members = servers(victim)
            if shares is not None:
                shares.limit(members)
            for what in ("captures", "searches"):
                progress.tell(f"round {round_ + 1}: {what} with {processes} processes")
                clients = Clients(
                    filled, victim, f"{what}-{round_}-{processes}",
                    capturing=4 * processes * (what == "captures"), searching=4 * processes * (what == "searches"),
                )  # fmt: skip
                measured.setdefault((what, processes), []).append(_rate(clients, members, postgres, seconds))
    middle = {
        place: {name: report.percentile([each[name] for each in rows], 0.5) for name in rows[0]}
        for place, rows in measured.items()
    }
    return [
        {
            "what": what, "processes": processes, "per_s": round(middle[what, processes]["per_s"], 1),
            "of_n_times_one": round(
                middle[what, processes]["per_s"] / middle[what, counts[0]]["per_s"] / processes * counts[0], 2
            ),
            **{name: round(value, 2) for name, value in middle[what, processes].items() if name != "per_s"},
        }
        for what, processes in middle
    ]  # fmt: skip


def _rate(clients: Clients, members: Sequence[int], postgres: PostgresServer, seconds: float) -> dict[str, float]:
    """How much these clients are answered a second, and how many cores each part keeps busy with it."""
    with clients as seen:
        time.sleep(1.0)
        before, began, count = _processors(members, postgres), time.monotonic(), seen.answered
        time.sleep(seconds)
        count, took, after = seen.answered - count, time.monotonic() - began, _processors(members, postgres)
    if seen.failures:
        raise RuntimeError(seen.failures[0])
    return {"per_s": count / took, **{f"{who}_cores": (after[who] - before[who]) / took for who in before}}


def _limited(share: float) -> Any:
    return ProcessorShares(share) if share else nullcontext()


def _processors(members: Sequence[int], postgres: PostgresServer) -> dict[str, float]:
    """Seconds of processors that each part has used so far."""
    backends = sum(processor_s(pid) for pid in children(postgres.pid) if Path(f"/proc/{pid}/stat").exists())
    return {
        "servers": sum(map(processor_s, members)),
        "postgres": backends + processor_s(postgres.pid, waited=True),
        "clients": time.process_time(),
    }


class Storm:
    """One process after the other is killed and comes back."""

    def __init__(self, victim: Victim, home: Path, workers: int, seed: int) -> None:
        self._victim, self._home = victim, home
        self._chance = random.Random(f"storm {seed}")
        self._workers: list[Process] = []
        for _ in range(workers):
            self._worker()
        self.killed: Counter[str] = Counter()

    def kill_one(self) -> None:
        """A server process, which its parent starts again, or a worker, which we do."""
        serving = servers(self._victim)
        number = self._chance.randrange(len(serving) + len(self._workers))
        if number < len(serving):
            os.kill(serving[number], signal.SIGKILL)
            self.killed["servers"] += 1
            return
        worker = self._workers.pop(number - len(serving))
        worker.kill()
        worker.wait()
        self.killed["workers"] += 1
        self._worker()

    def end(self) -> None:
        """Stop the workers as an operator would."""
        for each in self._workers:
            each.send_signal(signal.SIGTERM)
        for each in self._workers:
            each.wait(60)

    def _worker(self) -> None:
        with (self._home / "worker.log").open("ab") as log:
            self._workers.append(self._victim.launch("worker", out=log.fileno(), err=log.fileno()))


def storm(filled: Filled, *, processes: int, workers: int, seconds: float, every_s: float, capturing: int,
          searching: int, embedder: str, seed: int, progress: report.Progress) -> dict[str, Any]:  # fmt: skip
    """Load while processes are killed; what was acknowledged, how long it took, and what is stored of it."""
    with serving(filled, processes, embedder) as victim:
        killer = Storm(victim, filled.home, workers, seed)
        try:
            with Clients(filled, victim, f"storm-{seed}", capturing=capturing, searching=searching,
                         beside=True) as seen:  # fmt: skip
                began = time.monotonic()
                while time.monotonic() - began < seconds and not seen.failures:
                    time.sleep(every_s)
                    killer.kill_one()
                    progress.tell(f"{killer.killed.total()} killed, {len(seen.events):,} events, "
                                  f"{len(seen.searched):,} searches")  # fmt: skip
                took = time.monotonic() - began
            progress.tell("waiting for the workers")
            until_idle(filled.url, (EXTRACT, CATCH_UP))
            unindexed = _asked_again(filled, victim) if embedder != "none" else {}
        finally:
            killer.end()
    if seen.failures:
        raise RuntimeError(seen.failures[0])
    milliseconds = {name: _shares(getattr(seen, name)) for name in ("captured", "searched", "bare")}
    return {
        "seconds": round(took), "killed": dict(killer.killed), "acknowledged": len(seen.events),
        "events_per_s": round(len(seen.events) / took, 1), "searches_per_s": round(len(seen.searched) / took, 1),
        "sent_again": seen.sent_again, "refused": dict(seen.refused), "ms": milliseconds,
        "search_beside_bare_p95": round(milliseconds["searched"]["p95"] / max(0.1, milliseconds["bare"]["p95"]), 2),
        **_stored(filled, seen.events), **unindexed,
    }  # fmt: skip


def _asked_again(filled: Filled, victim: Victim) -> dict[str, int]:
    """Memories without words or vectors: a job that has lost three workers is given up until its tenant comes again."""
    before = _unindexed(filled.url)
    for tenant in before:
        connection = victim.connect(_ANSWER_S)
        connection.request("GET", "/api/stats", headers={"Authorization": f"Bearer {filled.keys[tenant]}"})
        connection.getresponse().read()
        connection.close()
    deadline = time.monotonic() + _MADE_GOOD_S
    while (after := _unindexed(filled.url)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return {"unindexed": sum(before.values()), "unindexed_when_tenants_came_again": sum(after.values())}


def _unindexed(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        return dict(connection.execute(
            "SELECT tenant, count(*) FROM memories WHERE indexed_version < version GROUP BY tenant"
        ).fetchall())  # fmt: skip


def _shares(seconds: Sequence[float]) -> dict[str, float]:
    return {f"p{share}": round(1000 * report.percentile(seconds, share / 100), 1) for share in (50, 95, 99)}


def _stored(filled: Filled, events: Sequence[str]) -> dict[str, Any]:
    """Each acknowledged event is stored once and extracted once."""
    with psycopg.connect(filled.url) as connection:
        kept = connection.execute(
            "SELECT delivery, count(*) FROM captured_events WHERE delivery IS NOT NULL GROUP BY delivery"
        )
        times: dict[str, int] = dict(kept.fetchall())
        made = connection.execute("SELECT count(*) FROM memories WHERE seq > %s", [filled.newest]).fetchone()
        same = connection.execute(
            "SELECT tenant, kind, title, left(content, 200), array_agg(seq), array_agg(session), array_agg(created_ms) "
            "FROM memories WHERE seq > %s GROUP BY tenant, kind, title, content HAVING count(*) > 1",
            [filled.newest],
        ).fetchall()
        jobs = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE error_class <> %s) FROM jobs WHERE status = 'failed'",
            [WORKER_LOST],
        ).fetchone()
    assert made is not None
    assert jobs is not None
    return {
        "lost": sum(event not in times for event in events),
        "twice": sum(times.get(event, 0) > 1 for event in events),
        "memories_made": made[0],
        "memories_made_twice": len(same),
        "examples": [str(each) for each in same[:3]],
        "jobs_given_up": jobs[0],
        "jobs_failed_otherwise": jobs[1],
    }


def kept(found: dict[str, Any]) -> bool:
    """Whether every promise was kept."""
    storm = found.get("storm")
    held = all(row["of_n_times_one"] >= RATIO for row in found.get("scaling", ()))
    broken = ("lost", "twice", "memories_made_twice", "jobs_failed_otherwise", "unindexed_when_tenants_came_again")
    return held and (storm is None or (storm["acknowledged"] > 0 and not any(storm.get(name) for name in broken)))


def run(given: Any, seed: int, *, durable: bool = True) -> dict[str, Any]:
    """Fill, then each part."""
    progress, found = report.Progress("many tenants"), dict[str, Any]()
    with ExitStack() as stack:
        made = stack.enter_context(
            stores("postgresql", durable=durable, parent=given.dir, settings={"max_wal_size": "4GB"})
        )
        postgres = made.server
        assert postgres is not None
        began = time.monotonic()
        store = filled(made, memories=given.memories, tenants=given.tenants, questions=given.questions,
                       embedder=given.embedder, seed=seed)  # fmt: skip
        found["filled_s"] = round(time.monotonic() - began)
        if given.only != "storm":
            found["share"] = given.share
            found["scaling"] = scaling(
                store, postgres, counts=given.processes, rounds=given.rounds, seconds=given.seconds,
                share=given.share, embedder=given.embedder, progress=progress,
            )  # fmt: skip
        if given.only != "scaling":
            found["storm"] = storm(
                store, processes=given.processes[-1], workers=given.workers, seconds=60 * given.minutes,
                every_s=given.every, capturing=given.capturing, searching=given.searching, embedder=given.embedder,
                seed=seed, progress=progress,
            )  # fmt: skip
        found["load_average"] = round(os.getloadavg()[0], 1)
    progress.close()
    return found


def arguments() -> Any:
    """What can be chosen."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=500, help="different searches")
    parser.add_argument("--embedder", default="local", help="of the servers: local, none")
    parser.add_argument("--only", choices=("scaling", "storm"), default=None)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4], help="servers; the last for the storm")
    parser.add_argument("--share", type=float, default=SHARE, help="of a core, for each server; 0: no limit")
    parser.add_argument("--rounds", type=int, default=3, help="of each number of processes, in turn")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each measurement")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=5.0, help="of the storm")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two kills")
    parser.add_argument("--capturing", type=int, default=6, help="clients that capture in the storm")
    parser.add_argument("--searching", type=int, default=3, help="clients that search in the storm")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()), help="12 GB for a million memories")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    given = arguments().parse_args(argv)
    seed = report.chosen_seed(given.seed)
    found = {"seed": seed, **run(given, seed)}
    parts = []
    if "scaling" in found:
        rows = [list(row.values()) for row in found["scaling"]]
        parts.append(report.table([*found["scaling"][0]], rows))
    parts.append(report.lines(found.get("storm", {})))
    text = f"seed {seed}, filled in {found['filled_s']} s\n" + "\n".join(parts)
    return report.conclude("many tenants", found, text, kept=kept(found), as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
