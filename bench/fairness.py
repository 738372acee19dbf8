"""Whether one tenant's load, a frozen database or a revoked key harms others: a real server, worker and PostgreSQL.

Three things are shown in one run, each beside its own measure on the same machine. *A busy neighbour*: quiet tenants
save and search alone, then beside a tenant with 200 searches at once and 5,000 waiting jobs; p95 may double. A single
job of a quiet tenant is started about as soon as without the backlog. *A frozen database*: PostgreSQL is stopped with
SIGSTOP; readiness says so within 5 s, no request takes over 10 s, and all recovers when it goes on. *A revoked key*:
what it asks for and what it reads ends within 5 s.

Clients honour Retry-After. All processes share the machine, so the figures to compare are those of one run.
"""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench import report
from bench.fairness_load import query
from bench.stores import stores
from codexmem.app.core import Core, open_core
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.store.database import acting_as
from codexmem.settings import Settings
from tests._support import warm
from tests._support.postgres import PostgresServer
from tests._support.server import Server, environment
from tests._support.sse import Stream

BUSY, QUIET = "busy", ("ant", "bee", "cat")
RATIO, READY_S, REQUEST_S, REVOKED_S = 2.0, 5.0, 10.0, 5.0
_THINK_S = 0.15  # between two requests of a quiet client


@dataclass
class Seen:
    """What clients saw."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"save": [], "search": []})
    statuses: Counter[str] = field(default_factory=Counter)

    def p(self, what: str, share: float) -> float:
        """Milliseconds that this share of the requests took at most."""
        return round(1000 * report.percentile(self.took[what], share), 1)


def quiet_clients(server: Server, keys: dict[str, str], seconds: float, seen: Seen) -> None:
    """One client of each quiet tenant, saving and searching in turn."""
    end, numbers = time.monotonic() + seconds, itertools.count()

    def client(key: str) -> None:
        sent, chance = {"Authorization": f"Bearer {key}"}, random.Random(key)
        while time.monotonic() < end:
            number = next(numbers)
            for what in ("save", "search"):
                time.sleep(_THINK_S * (0.5 + chance.random()))
                began = time.monotonic()
                if what == "save":
                    body = {"text": f"Memory {number}: {query(number)}.", "project": "bench"}
                    status = server.request("POST", "/api/memory/save", body, sent).status
                else:
                    path = f"/api/search?limit=5&project=bench&query={quote(query(number))}"
                    status = server.request("GET", path, headers=sent).status
                if status == 200:
                    seen.took[what].append(time.monotonic() - began)
                seen.statuses[str(status)] += 1

    threads = [threading.Thread(target=client, args=(keys[tenant],)) for tenant in QUIET]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


class Load:
    """The busy tenant: its searches, in a process of its own, can be paused."""

    def __init__(self, server: Server, key: str, clients: int) -> None:
        self._line = f"{server.port} {clients} {key}\n"

    def __enter__(self) -> Load:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.fairness_load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(self._line)
        self.process.stdin.flush()
        self.process.stdout.readline()
        return self

    def ended(self) -> dict[str, Any]:
        """Stop; what it saw."""
        told, _ = self.process.communicate(timeout=90)
        seen: dict[str, Any] = json.loads(told)
        return seen

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def capture(core: Core, tenant: str, count: int, sessions: int, start: int = 0) -> None:
    """So many captured events of the tenant, each with a job of its own."""
    with acting_as(tenant), core.db.transaction():
        for number in range(start, start + count):
            core.intake.observe(HookReport(
                session=f"{tenant}-{number % sessions}", project="bench", cwd="", platform="codex", tool="Bash",
                input={"command": f"make step-{number}"}, response={"stdout": f"built {query(number)} " * 20},
                event=f"{tenant}-event-{number}",
            ))  # fmt: skip


def job_wait_ms(core: Core, tenant: str, number: int) -> int:
    """How long one job of this tenant waits to be started, once it is due."""
    capture(core, tenant, 1, 1_000_000, start=number)
    with acting_as(tenant):
        newest = max((job.id for status in JobStatus for job in core.queue.list(status, limit=5)), default=0)
        while (job := core.queue.get(newest)).started_ms is None:
            time.sleep(0.02)
    return max(0, job.started_ms - job.run_at_ms)


@contextmanager
def working(folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process during the block."""
    env = environment(folder, CODEXMEM_DATABASE_URL=url, CODEXMEM_EMBEDDER="none")
    with (folder / "worker.log").open("ab") as log:
        process = subprocess.Popen([warm.program("codexmem"), "worker"], env=env, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def neighbour(core: Core, server: Server, folder: Path, url: str, keys: dict[str, str], given: Any) -> dict[str, Any]:
    """Quiet tenants alone and beside a busy one, in turn, so that what else the machine does counts for both."""
    quiet_clients(server, keys, 3.0, Seen())  # loads what is loaded at first use
    with working(folder, url):
        time.sleep(3)
        idle = [job_wait_ms(core, QUIET[number % 3], number) for number in range(given.waits)]
    for number in range(0, given.jobs, 250):
        capture(core, BUSY, min(250, given.jobs - number), max(1, given.jobs // 10), start=number)
    alone, beside, waits = Seen(), Seen(), list[int]()
    with working(folder, url) as worker, Load(server, keys[BUSY], given.clients) as load:
        for turn in range(given.rounds):
            _signal((worker, load.process), signal.SIGSTOP)
            time.sleep(1.5)
            quiet_clients(server, keys, given.seconds, alone)
            _signal((worker, load.process), signal.SIGCONT)
            time.sleep(4)
            beside_wait = threading.Thread(target=lambda n=turn: _waits(core, n, given, waits))
            beside_wait.start()
            quiet_clients(server, keys, given.seconds, beside)
            beside_wait.join(120)
        with acting_as(BUSY):
            left = core.queue.counts()[JobStatus.QUEUED]
        busy = load.ended()
    ratios = {what: round(beside.p(what, 0.95) / max(0.1, alone.p(what, 0.95)), 2) for what in ("save", "search")}
    print("neighbour measured", file=sys.stderr)
    return {
        "alone_p50_p95_ms": {what: [alone.p(what, 0.5), alone.p(what, 0.95)] for what in ratios},
        "beside_p50_p95_ms": {what: [beside.p(what, 0.5), beside.p(what, 0.95)] for what in ratios},
        "p95_ratio": ratios,
        "requests_alone_beside": [sum(alone.statuses.values()), sum(beside.statuses.values())],
        "quiet_statuses": dict(alone.statuses + beside.statuses),
        "busy_statuses": busy["statuses"],
        "busy_longest_s": busy["longest_s"],
        "job_wait_ms_idle": idle,
        "job_wait_ms_beside": waits,
        "busy_jobs_left": left,
    }


def _signal(processes: Sequence[subprocess.Popen[Any]], number: int) -> None:
    for each in processes:
        each.send_signal(number)


def _waits(core: Core, turn: int, given: Any, waits: list[int]) -> None:
    numbers = range(max(1, given.waits // given.rounds))
    waits.extend(job_wait_ms(core, QUIET[number % 3], 1_000 * (turn + 1) + number) for number in numbers)


def frozen(postgres: PostgresServer, server: Server, keys: dict[str, str], seconds: float) -> dict[str, Any]:
    """The database hangs under load and goes on."""
    stop, longest, statuses, lock = threading.Event(), [0.0], Counter[str](), threading.Lock()
    thawed: list[float] = []
    recovered: list[float] = []

    def client(number: int) -> None:
        sent = {"Authorization": f"Bearer {keys[QUIET[number % 3]]}"}
        while not stop.is_set():
            began = time.monotonic()
            if number % 2:
                body = {"text": f"Frozen {number} {began}", "project": "bench"}
                status = server.request("POST", "/api/memory/save", body, sent).status
            else:
                status = server.request("GET", f"/api/search?query={quote(query(number))}", headers=sent).status
            ended = time.monotonic()
            with lock:
                longest[0] = max(longest[0], ended - began)
                statuses[str(status)] += 1
                if thawed and status == 200 and began > thawed[0] and not recovered:
                    recovered.append(ended - thawed[0])
            stop.wait(0.1)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(24)]
    for each in threads:
        each.start()
    time.sleep(2)
    postgres.freeze()
    began = time.monotonic()
    told = _until_readiness(server, 503, 30)
    slowest, wrong = 0.0, 0
    while time.monotonic() - began < seconds:
        asked = time.monotonic()
        wrong += server.request("GET", "/api/readiness").status != 503
        slowest = max(slowest, time.monotonic() - asked)
        time.sleep(0.2)
    postgres.thaw()
    thawed.append(time.monotonic())
    ready = _until_readiness(server, 200, 30)
    time.sleep(3)
    stop.set()
    for each in threads:
        each.join(60)
    return {
        "readiness_false_after_s": told,
        "readiness_slowest_s": round(slowest, 2),
        "readiness_wrong": wrong,
        "longest_request_s": round(longest[0], 2),
        "statuses": dict(statuses),
        "ready_again_after_s": ready,
        "first_success_after_s": round(recovered[0], 2) if recovered else None,
    }


def _until_readiness(server: Server, status: int, most_s: float) -> float | None:
    began = time.monotonic()
    while time.monotonic() - began < most_s:
        if server.request("GET", "/api/readiness").status == status:
            return round(time.monotonic() - began, 2)
        time.sleep(0.05)
    return None


def revoked(core: Core, server: Server) -> dict[str, Any]:
    """A key is revoked elsewhere while it asks and reads."""
    made = core.keys.create(QUIET[0], "leaving")
    sent, ended = {"Authorization": f"Bearer {made.secret}"}, list[float]()
    with Stream(f"http://127.0.0.1:{server.port}", key=made.secret) as stream:

        def read() -> None:
            stream.drain()
            ended.append(time.monotonic())

        reader = threading.Thread(target=read)
        reader.start()
        time.sleep(3)
        assert server.request("GET", "/api/search?query=port", headers=sent).status == 200
        core.keys.revoke(QUIET[0], made.key.id)
        began = time.monotonic()
        while server.request("GET", "/api/search?query=port", headers=sent).status != 401:
            time.sleep(0.05)
        asked = time.monotonic() - began
        reader.join(15)
    return {
        "requests_refused_after_s": round(asked, 2),
        "stream_ended_after_s": round(ended[0] - began, 2) if ended else None,
    }


def _kept(found: dict[str, Any]) -> bool:
    busy, hung, gone = found["neighbour"], found["frozen"], found["revoked"]
    idle, beside = sorted(busy["job_wait_ms_idle"]), sorted(busy["job_wait_ms_beside"])
    return (
        max(busy["p95_ratio"].values()) <= RATIO
        and set(busy["quiet_statuses"]) == {"200"}
        and bool(beside)
        and beside[len(beside) // 2] <= idle[len(idle) // 2] + 1_000
        and (hung["readiness_false_after_s"] or 99) <= READY_S
        and hung["readiness_wrong"] == 0
        and hung["longest_request_s"] <= REQUEST_S
        and hung["first_success_after_s"] is not None
        and max(gone["requests_refused_after_s"], gone["stream_ended_after_s"] or 99) <= REVOKED_S
    )


def main(argv: list[str] | None = None) -> int:
    """Show all three and print them; fails unless every promise was kept."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--clients", type=int, default=200, help="searches of the busy tenant at once")
    parser.add_argument("--jobs", type=int, default=5000, help="its waiting jobs")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measured phase")
    parser.add_argument("--rounds", type=int, default=3, help="phases alone and beside, in turn")
    parser.add_argument("--waits", type=int, default=9, help="single jobs of quiet tenants")
    parser.add_argument("--embedder", default="none", help="of the server: none, local")
    parser.add_argument("--only", choices=("neighbour", "frozen", "revoked"), default=None)
    given = parser.parse_args(argv)
    found: dict[str, Any] = {}
    with stores("postgresql", durable=False) as made:
        url, folder = made.fresh(), made.home
        assert made.server is not None
        core = open_core(Settings(folder, url, embedder="none", batch_events=1))
        try:
            keys = {tenant: core.keys.create(tenant, "bench").secret for tenant in (BUSY, *QUIET)}
            for tenant in (BUSY, *QUIET):
                with acting_as(tenant):
                    _remember(core, 400 if tenant == BUSY else 100)
            settings = {"CODEXMEM_EMBEDDER": given.embedder}
            with Server(folder, database_url=url, settings=settings, options=("--no-worker",)) as server:
                if given.only in (None, "neighbour"):
                    found["neighbour"] = neighbour(core, server, folder, url, keys, given)
                if given.only in (None, "frozen"):
                    found["frozen"] = frozen(made.server, server, keys, 15.0)
                if given.only in (None, "revoked"):
                    found["revoked"] = revoked(core, server)
        finally:
            core.close()
    kept = given.only is not None or _kept(found)
    text = "\n".join(f"{part}\n" + "\n".join(f"  {name}: {json.dumps(value, ensure_ascii=False)}"
                     for name, value in figures.items()) for part, figures in found.items())  # fmt: skip
    return report.conclude("fairness", found, text, kept=kept, as_json=given.json)


def _remember(core: Core, count: int) -> None:
    for number in range(count):
        state = State(f"Memory {number}: {query(number)}.", ObservationAttrs(), project="bench")
        core.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.HUMAN), WriteContext("bench"))


if __name__ == "__main__":
    sys.exit(main())
