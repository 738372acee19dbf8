"""The lab under load: turns between batches, a cancel of five hundred runs, and pages of a long trace.

turns: a thousand runs of five batches wait, then four worker processes begin (PostgreSQL). Fair is: while two batches
both have runs waiting, neither gets more of the starts than the other by more than the workers hold at once.
cancel: a batch of five hundred, some of them running in all four workers; how long until every run is seen canceled.
pages: the p95 of a page of a trace of 100,000 events beside that of one of 1,000, on both engines, for five filters.
Exit status 1 if a promise is broken.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import report
from bench.kill import _raw as raw
from bench.lab_agent import CONFIGURED
from bench.lab_kills import ROOT, Workers
from bench.stores import Stores, stores
from bench.victim import Victim
from codexmem.app import open_core
from codexmem.app.core import Core
from codexmem.kernel.model.event import EventType
from codexmem.kernel.store.database import acting_as
from codexmem.lab.model import BatchOrder, BatchStatus, RunStatus
from codexmem.lab.service.trace import Moment
from codexmem.settings import load

TENANT = "lab"
SIZES = (500, 4, 346, 50, 100)  # of the batches that wait, in the order they come
WORKERS, THREADS = 4, 4
AT_ONCE = WORKERS * (THREADS - 1)  # each worker keeps a thread for other work
CANCELED, CANCEL_LIMIT_S = 500, 2.0
LONG, SHORT, PAGE_LIMIT = 100_000, 1_000, 2.0
RARE, FIRST_MS = 60, 1_000_000_000
PATIENCE_S = 300.0


@contextmanager
def team(made: Stores, seconds: float) -> Iterator[tuple[Core, Workers, str]]:
    """A store, everything on it, and workers that are not started yet."""
    url = made.fresh()
    given = {
        "LAB_AGENT": "bench.lab_agent:waiting", "LAB_SECONDS": str(seconds), "CODEXMEM_EMBEDDER": "none",
        "CODEXMEM_WORKER_THREADS": str(THREADS), "CODEXMEM_OPENAI_BASE_URL": CONFIGURED,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }  # fmt: skip
    victim = Victim(made.home, url, module="bench.lab_program", environment=given)
    workers = Workers(made.home, victim, WORKERS)
    core = opened(url, made.home / "reader")
    try:
        with acting_as(TENANT):
            yield core, workers, url
    finally:
        workers.end()
        core.close()


def opened(url: str, home: Path) -> Core:
    """Everything on a store, without a worker."""
    home.mkdir(exist_ok=True)
    given = {"data_dir": str(home), "database_url": url, "embedder": "none", "openai_base_url": CONFIGURED}
    return open_core(load(given, {}, home))


def turns(made: Stores, sizes: Sequence[int] = SIZES, *, run_s: float = 0.05) -> dict[str, Any]:
    """Who was started when."""
    with team(made, run_s) as (core, workers, url):
        began = time.monotonic()
        batches = [core.lab.runs.create(BatchOrder(f"批次 {size}", size))[0].id for size in sizes]
        ordered = time.monotonic() - began
        workers.start()
        _until(lambda: all(core.lab.runs.batch(each).status.ended for each in batches))
        with raw(url) as run:
            started = run("SELECT batch_id FROM runs ORDER BY started_ms, id")
            span = run("SELECT min(started_ms), max(ended_ms) FROM runs")[0]
    order = [batches.index(batch_id) for (batch_id,) in started]
    small = sizes.index(min(sizes))
    last_of_small = max(place for place, batch in enumerate(order) if batch == small)
    return {
        "runs": len(order),
        "ordered_in_s": round(ordered, 2),
        "runs_a_second": round(len(order) / max(0.001, (span[1] - span[0]) / 1000), 1),
        "small_batch_done_after_starts": last_of_small + 1,
        "small_batch_fair_share": len(sizes) * min(sizes) + AT_ONCE,
        "largest_lead": _largest_lead(order, sizes),
        "at_once": AT_ONCE,
    }


def _largest_lead(order: Sequence[int], sizes: Sequence[int]) -> int:
    """By how many starts one batch was ahead of another while both had runs waiting."""
    counts, lead = Counter(order[:0]), 0
    for batch in order:
        counts[batch] += 1
        waiting = [counts[each] for each, size in enumerate(sizes) if counts[each] < size]
        if len(waiting) > 1:
            lead = max(lead, max(waiting) - min(waiting))
    return lead


def cancel(made: Stores, size: int = CANCELED) -> dict[str, Any]:
    """How long a cancel takes to be seen."""
    with team(made, 60.0) as (core, workers, _):
        workers.start()
        batch, runs = core.lab.runs.create(BatchOrder("五百个", size))
        _until(lambda: core.lab.system.view().runs[RunStatus.RUNNING] >= min(AT_ONCE, size))
        running = core.lab.system.view().runs[RunStatus.RUNNING]
        began = time.monotonic()
        core.lab.runs.cancel_batch(batch.id)
        answered = time.monotonic() - began
        _until(lambda: core.lab.runs.batch(batch.id).status is BatchStatus.CANCELED)
        seen = time.monotonic() - began
        traced = sum(
            len(core.lab.trace.page(run.id, types=[EventType.RUN_CANCELED]).items) for run in runs
        )  # fmt: skip
    return {"runs": size, "running": running, "answered_s": round(answered, 3), "all_canceled_s": round(seen, 3),
            "canceled_events": traced}  # fmt: skip


def pages(made: Stores, *, long: int = LONG, short: int = SHORT, looks: int = 200, seed: int = 1) -> dict[str, Any]:
    """What pages of two traces cost."""
    core = opened(made.fresh(), made.home / "reader")
    try:
        with acting_as("local"):
            runs = core.lab.runs.create(BatchOrder("长", 2))[1]
            for run, count in zip(runs, (long, short), strict=True):
                _fill(core, run.id, count)
            chance = random.Random(seed)
            return {name: _compare(look, core, [run.id for run in runs], (long, short), looks, chance)
                    for name, look in LOOKS.items()}  # fmt: skip
    finally:
        core.close()


def _fill(core: Core, run_id: str, count: int) -> None:
    kinds = [EventType.LLM_REQUEST, EventType.LLM_RESPONSE, EventType.KB_QUERY, EventType.RECAP_INFO]
    for start in range(0, count, 500):
        with core.db.transaction():
            for number in range(start, min(start + 500, count)):
                # As many of the rare type in either trace: a page of them has the same length.
                kind = EventType.MEM_SEARCH if number % (count // RARE) == 0 else kinds[number % 4]
                core.lab.trace.write([run_id], [(kind, {"n": number, "text": "内容 " * 20})], at_ms=FIRST_MS + number)


Look = Callable[[Core, str, Moment], Any]


def _rare(core: Core, run_id: str, _: Moment) -> Any:
    return core.lab.trace.page(run_id, types=[EventType.MEM_SEARCH])


LOOKS: dict[str, Look] = {
    "first page": lambda core, run_id, _: core.lab.trace.page(run_id),
    "any page": lambda core, run_id, place: core.lab.trace.page(run_id, after=place),
    "any page with payloads": lambda core, run_id, place: core.lab.trace.page(run_id, after=place, payloads=True),
    "three types": lambda core, run_id, place: core.lab.trace.page(
        run_id, after=place, types=[EventType.KB_QUERY, EventType.RECAP_INFO, EventType.MEM_SEARCH]
    ),
    "one rare type": _rare,
    "since": lambda core, run_id, place: core.lab.trace.page(run_id, since_ms=place.at_ms),
}


def _compare(look: Look, core: Core, run_ids: Sequence[str], counts: Sequence[int], looks: int,
             chance: random.Random) -> dict[str, float]:  # fmt: skip
    took: list[list[float]] = [[], []]
    for _ in range(looks):
        for times, run_id, count in zip(took, run_ids, counts, strict=True):  # in turns: both see the same machine
            place = Moment(FIRST_MS + chance.randrange(count), 0)
            began = time.perf_counter()
            look(core, run_id, place)
            times.append((time.perf_counter() - began) * 1000)
    long_ms, short_ms = (report.percentile(times, 0.95) for times in took)
    return {"p95_long_ms": round(long_ms, 2), "p95_short_ms": round(short_ms, 2), "ratio": round(long_ms / short_ms, 2)}


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"it did not happen within {PATIENCE_S:.0f} s")
        time.sleep(0.01)


def kept(results: dict[str, Any]) -> bool:
    """Whether every promise was."""
    fair = results["turns"]["largest_lead"] <= AT_ONCE + 2
    fair = fair and results["turns"]["small_batch_done_after_starts"] <= results["turns"]["small_batch_fair_share"]
    prompt = results["cancel"]["all_canceled_s"] <= CANCEL_LIMIT_S
    prompt = prompt and results["cancel"]["canceled_events"] == results["cancel"]["runs"]
    even = all(each["ratio"] <= PAGE_LIMIT for name, found in results.items() if name.startswith("pages")
               for each in found.values())  # fmt: skip
    return fair and prompt and even


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--events", type=int, default=LONG, help="of the long trace")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results: dict[str, Any] = {}
    with stores("postgresql", durable=True) as made:
        results["turns"] = turns(made)
        results["cancel"] = cancel(made)
    for engine in report.ENGINES:
        with stores(engine, durable=False) as made:
            results[f"pages {engine}"] = pages(made, long=options.events, seed=seed)
    text = "\n".join(f" {name}\n{report.lines(figures)}" for name, figures in results.items())
    return report.conclude("lab queue", {"seed": seed, **results}, f" seed {seed}\n{text}", kept=kept(results),
                           as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
