"""Extraction against a model server that fails half of the time: every job ends, once, and nothing is stuck.

Sessions report tool calls through the whole intake, a worker extracts them with the product's own services, and the
server answers each request well or with a fault: too many requests, server errors, silence, dripping headers and
bodies, torn connections, ten megabytes, refused keys, spent quotas, no JSON, other JSON. The limits of a call are set
short, so that silence does not take hours; everything else is as in the product. A calm part before tells how many
requests each captured event costs when nothing fails.
"""

from __future__ import annotations

import random
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench import report
from bench.stores import stores
from bench.writes import wired
from codexmem.app import Core
from codexmem.capture.author import TurnAuthor
from codexmem.capture.author_queue import AUTHOR, AuthorQueue
from codexmem.capture.authoring import Authoring
from codexmem.capture.extraction import Extraction
from codexmem.capture.job_log import JobLog, TokenBudget
from codexmem.capture.service import EXTRACT, SUMMARIZE
from codexmem.kernel.jobs.job_kind import JobKind
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.llm.openai import OpenAIModel
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.capture import HookReport, Queued
from codexmem.kernel.model.event import LogPosition
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from tests._support import model_server
from tests._support.model_server import Asked, Manner, ModelServer, Reply

TOOLS = 6  # events of a turn
CAPTURED = TOOLS + 2  # with the prompt and the end of the turn
REPORTERS = 8
WORKERS = 16
DEADLINE_S = 0.4  # of a call while the server fails
CALM_S = 30.0  # of one while it does not: a busy machine is no fault
LATER_MS = 1_800_000
STUCK_S = 60.0  # without any job ending
MOST_REQUESTS = 0.15

_FAULTS: dict[str, Reply | str] = {
    "429": model_server.rate_limited(),
    "429 soon": model_server.rate_limited("0.02"),
    "500": model_server.refused(500),
    "503": model_server.refused(503),
    "400": model_server.refused(400, "no"),
    "401": model_server.refused(401),
    "quota": model_server.out_of_quota(),
    "silence": model_server.SILENCE,
    "drip": Reply(200, model_server.said("x" * 4_000).octets, manner=Manner.DRIP),
    "drip headers": model_server.DRIP_HEADERS,
    "reset": model_server.RESET,
    "10 MB": model_server.huge(10),
    "HTML": Reply(200, b"<html>log in</html>", {"Content-Type": "text/html"}),
    "no JSON": "I would rather talk about it.",
    "cut JSON": '{"reason": "", "memories": [{"title": "Half',
    "other JSON": '{"answer": 42}',
    "another shape": '{"reason": "", "memories": [7]}',
}


@dataclass
class Server:
    """A model server that fails as often as it is told to, and counts what it did."""

    http: ModelServer
    chance: random.Random
    faulty: float = 0.0
    sent: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, _: Asked) -> Reply | str | None:
        with self._lock:
            fault = self.chance.choice(list(_FAULTS)) if self.chance.random() < self.faulty else ""
            self.sent[fault or "good"] += 1
        return _FAULTS[fault] if fault else None


@contextmanager
def serving(seed: int) -> Iterator[Server]:
    """The server until the block ends."""
    with ModelServer(keep=False, silence_s=2.0) as http:
        server = Server(http, random.Random(seed))
        http.script = server.script
        yield server


def _event(session: str, number: int) -> HookReport:
    """One tool call of those that agents make, in both languages."""
    tool, given, response = (
        ("Read", {"file_path": f"/w/src/m{number}.py"}, "def run():\n    pass\n" * 20),
        ("Edit", {"file_path": f"/w/src/m{number}.py", "old_string": "ttl = 1", "new_string": f"ttl = {number}"}, "ok"),
        ("Bash", {"command": "pytest -q"}, {"stdout": "1 failed, 3 passed in 1s", "exit_code": 1}),
        ("Grep", {"pattern": "登录"}, {"filenames": ["/w/src/登录.py"]}),
        ("Bash", {"command": f"make 步骤-{number}"}, "完成\n" * 50),
    )[number % 5]
    return HookReport(
        session, project="bench", cwd="/w", tool=tool, input=given, response=response, call=f"{session}-{number}"
    )


def _report(core: Core, session: str) -> int:
    with acting_as(LOCAL):
        core.intake.init(HookReport(session, project="bench", cwd="/w", prompt="Fix the login 修复登录"))
        told = sum(core.intake.observe(_event(session, number)) == Queued() for number in range(TOOLS))
        return told + 1 + (core.intake.summarize(HookReport(session, message="登录好了 It works.")) == Queued())


def _worker(core: Core, author: TurnAuthor, threads: int) -> Worker:
    clock, tallies = SystemClock(), Tallies(core.db)
    sessions, captures = Sessions(core.db), Captures(core.db)
    plan = AuthorQueue(core.queue, sessions, captures, asked=True, soon_ms=0)
    log = JobLog(sessions, captures, tallies, TokenBudget(tallies, clock, 0), core.log, clock)
    extracting = Extraction(sessions, captures, core.memories, plan, log)
    authors = Authoring(
        sessions, captures, core.memories, core.queue, plan, author, core.recall.search, log, core.consolidation,
        core.history,
    )  # fmt: skip
    return Worker(
        core.db, Jobs(core.db), Dispatch(core.db), core.log, core.notifier, clock,
        {EXTRACT: JobKind(extracting.observations, timeout_s=60.0),
         SUMMARIZE: JobKind(extracting.summaries, timeout_s=60.0), AUTHOR: JobKind(authors.write, timeout_s=60.0)},
        threads=threads,
    )  # fmt: skip


Figures = dict[str, Any]


def run(core: Core, server: Server, *, jobs: int, faulty: float, name: str, show: Callable[[str], None]) -> Figures:
    """So many jobs from capture to their end; what came of them."""
    sessions = [f"{name}-{number}" for number in range(jobs)]
    server.faulty, server.sent = faulty, Counter()
    breaker = Breaker(first_s=0.002, longest_s=0.01)  # so short that almost every job asks
    deadline_s = DEADLINE_S if faulty else CALM_S
    model = OpenAIModel("scripted", base_url=server.http.url, deadline_s=deadline_s, pause_s=0.02, breaker=breaker)
    before, figures_before = _counts(core), _results(core)
    worker = _worker(core, TurnAuthor(model), WORKERS)
    began = time.monotonic()
    worker.start()
    try:
        with ThreadPoolExecutor(REPORTERS) as pool:
            captured = sum(pool.map(lambda session: _report(core, session), sessions))
        stuck = _ended(core, show)
    finally:
        worker.stop()
    seconds = time.monotonic() - began
    after, figures = _counts(core), _results(core)
    ended = {status.value: after[status] - before[status] for status in JobStatus
             if status is not JobStatus.QUEUED and after[status] > before[status]}  # fmt: skip
    made = captured // CAPTURED
    requests = server.sent.total()
    return {
        "captured events": captured, "jobs": made, "ended": ended, "stuck": stuck, "seconds": round(seconds, 1),
        "jobs/s": round(made / seconds, 1), "events/s": round(captured / seconds, 1), "requests": requests,
        "requests per event": round(requests / captured, 4), "faulty replies": requests - server.sent["good"],
        "replies": dict(sorted(server.sent.items())),
        "results": figures.results - figures_before.results,
        "results twice": figures.twice - figures_before.twice,
        "extracted events": figures.events - figures_before.events,
        "answered by": _less(figures.by, figures_before.by),
        "outcomes": _less(figures.outcomes, figures_before.outcomes),
        "errors": _less(figures.errors, figures_before.errors), "tokens": figures.tokens - figures_before.tokens,
    }  # fmt: skip


def _counts(core: Core) -> Counter[JobStatus]:
    return Counter(core.queue.counts())


def _ended(core: Core, show: Callable[[str], None]) -> int:
    """Wait until nothing is left to do; how much is, once nothing moves any more."""
    left, since = -1, time.monotonic()
    while True:
        counts = _counts(core)
        waiting = counts[JobStatus.QUEUED] + counts[JobStatus.RUNNING]
        if waiting == left and not counts[JobStatus.RUNNING] and not _due(core):
            return 0
        if waiting != left:
            left, since = waiting, time.monotonic()
            show(f"{waiting:,} jobs left")
        elif time.monotonic() - since > STUCK_S:
            return waiting
        time.sleep(0.1)


def _due(core: Core) -> int:
    """How many jobs wait for a worker, and not for a later hour: for somebody to log in, or for another look."""
    below, count = None, 0
    while page := core.queue.list(JobStatus.QUEUED, below=below, limit=500):
        below = page[-1].id
        count += sum(job.run_at_ms - job.created_ms < LATER_MS for job in page)
    return count


@dataclass
class _Figures:
    """What the log says about extractions."""

    results: int = 0
    twice: int = 0
    events: int = 0
    tokens: int = 0
    by: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


def _results(core: Core) -> _Figures:
    figures, seen = _Figures(), Counter[str]()
    place = LogPosition(0, 0)
    log = EventTable(core.db)
    while batch := log.after(place, limit=1_000):
        place = batch[-1].place
        for event in batch:
            told = event.payload
            if event.type != "model.result" or not told or not told["outcome"]:
                continue
            seen[event.subject] += 1
            figures.events += told["events"]
            figures.tokens += told["tokens"]["prompt"] + told["tokens"]["completion"]
            figures.by[told["by"]] += 1
            figures.outcomes.update(told["outcome"])
            figures.errors[told["error_class"] or "none"] += 1
    figures.results = len(seen)
    figures.twice = sum(count > 1 for count in seen.values())
    return figures


def _less(after: Counter[str], before: Counter[str]) -> dict[str, int]:
    return dict(sorted((after - before).items()))


def kept(calm: dict[str, Any], faulty: dict[str, Any]) -> bool:
    """Whether every job ended once, every event was shown once, and turns keep requests few."""
    whole = all(
        not each["stuck"] and not each["results twice"] and set(each["ended"]) == {"completed"}
        and each["results"] == each["jobs"] and each["extracted events"] == TOOLS * each["jobs"]
        for each in (calm, faulty)
    )  # fmt: skip
    return whole and calm["requests per event"] <= MOST_REQUESTS and calm["answered by"] == {"model": calm["jobs"]}


def main(argv: list[str] | None = None) -> int:
    """Run both parts on each engine and print."""
    parser = report.arguments(__doc__)
    parser.add_argument("--jobs", type=int, default=10_000, help="jobs of the faulty part")
    parser.add_argument("--calm-jobs", type=int, default=500, help="jobs of the calm part")
    parser.add_argument("--faulty", type=float, default=0.5, help="share of replies that are faults")
    given = parser.parse_args(argv)
    seed = report.chosen_seed(given.seed)
    document: dict[str, Any] = {"seed": seed}
    texts, good = [f"  seed {seed}"], True
    for engine in report.chosen_engines(given.engine):
        with stores(engine, durable=True) as made, wired(made) as core, acting_as(LOCAL), serving(seed) as server:
            progress = report.Progress(engine)
            calm = run(core, server, jobs=given.calm_jobs, faulty=0.0, name="calm", show=progress.tell)
            rss_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            faulty = run(core, server, jobs=given.jobs, faulty=given.faulty, name="faulty", show=progress.tell)
            grown_mb = round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss_kb) / 1024)
            progress.close()
        document[engine] = {"calm": calm, "faulty": faulty | {"peak memory grown MB": grown_mb}}
        good = good and kept(calm, faulty)
        texts += [f"  {engine}, calm", report.lines(calm, "    "), f"  {engine}, faulty",
                  report.lines(document[engine]["faulty"], "    ")]  # fmt: skip
    return report.conclude("extraction with faults", document, "\n".join(texts), kept=good, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
