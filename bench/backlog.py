"""A hundred thousand jobs waiting: what they cost those who enqueue, claim and start."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.opened import Opened, opened
from bench.victim import Victim, seconds_to_start
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import JobStatus

BATCH = 500
READY_S = 5.0  # the promise is 2 s on an idle machine; a gate shares its cores

Figures = dict[str, Any]


def backlog(url: str, *, jobs: int, samples: int, starts: int) -> Figures:
    """What waiting jobs cost those who enqueue, claim and start."""
    chance = random.Random(1)
    with opened(url) as store:
        small = _claims(store, samples, fill=samples)
        started = time.perf_counter()
        for first in range(0, jobs, BATCH):
            with store.db.transaction():
                for n in range(first, min(first + BATCH, jobs)):
                    store.put(lane=f"lane-{n % 1000}" if n % 2 else None, priority=chance.randrange(-2, 3),
                              delay_ms=3_600_000 if n % 10 == 0 else 0)  # fmt: skip
        loaded = time.perf_counter() - started
        enqueues = [_timed(store.put, lane=(None, f"lane-{n % 1000}", f"new-{n}")[n % 3]) for n in range(samples)]
        waiting = store.queue.counts()[JobStatus.QUEUED]
    started = time.perf_counter()
    with opened(url) as store:
        (job,) = store.dispatch.claim("bench", limit=1, lease_ms=600_000, now_ms=SystemClock().now_ms())
        first_claim = time.perf_counter() - started
        store.jobs.finish(job, JobStatus.COMPLETED, now_ms=SystemClock().now_ms())
        large = _claims(store, samples)
        due, counts = _timed(store.dispatch.next_due), _timed(store.queue.counts)
    ready = _server_ready(url, starts) if starts else 0.0
    return {
        "waiting": waiting, "loaded/s": round(jobs / loaded),
        "open + first claim s": round(first_claim, 3),
        "server ready s": round(ready, 2), "enqueue p50 ms": _at(enqueues, 0.5),
        "enqueue p99 ms": _at(enqueues, 0.99), **{f"{name} ms": value for name, value in large.items()},
        **{f"{name} ms, {samples} waiting": value for name, value in small.items()},
        "next due ms": _at([due], 1), "counts ms": _at([counts], 1),
        "broken": int(first_claim > 2.0) + int(ready > READY_S),
    }  # fmt: skip


def _claims(store: Opened, samples: int, fill: int = 0) -> Figures:
    for _ in range(fill):
        store.put()
    claims, ends = [], []
    for _ in range(samples):
        now_ms = SystemClock().now_ms()
        started = time.perf_counter()
        (job,) = store.dispatch.claim("bench", limit=1, lease_ms=600_000, now_ms=now_ms)
        claims.append(time.perf_counter() - started)
        ends.append(_timed(store.jobs.finish, job, JobStatus.COMPLETED, now_ms=now_ms))
    measured = {"claim": claims, "finish": ends}
    return {f"{name} p{p}": _at(times, p / 100) for name, times in measured.items() for p in (50, 99)}


def _server_ready(url: str, starts: int) -> float:
    """From starting the process until it is ready, the median of several starts after one that compiles."""
    with tempfile.TemporaryDirectory(prefix="codexmem-bench-") as home:
        victim = Victim(Path(home), url)
        took = []
        for _ in range(starts + 1):
            took.append(seconds_to_start(victim))
            victim.kill()
    return statistics.median(took[1:])


def _timed(call: Callable[..., object], *values: Any, **named: Any) -> float:
    started = time.perf_counter()
    call(*values, **named)
    return time.perf_counter() - started


def _at(seconds: list[float], part: float) -> float:
    return round(sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * part))] * 1000, 2)
