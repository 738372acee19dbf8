"""The queue under load and under fire: `backlog`, `crash` and `lanes`, on both engines, each ending by itself.

backlog: a hundred thousand jobs waiting; how long until the first claim after opening, what claims and enqueues cost.
crash: a thousand worker processes killed at five points; nothing lost, no effect twice, nothing stuck.
lanes: four worker processes on PostgreSQL; jobs of one lane never overlap and keep their order.
Exit status 1 if a promise is broken. Everything stays on this machine.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.backlog import Figures, backlog
from bench.opened import Opened, opened
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.model.event import EventType, LogPosition, NewEvent
from codexmem.kernel.model.job import Job, JobStatus, RetryLater
from codexmem.kernel.store.opening import sqlite_url
from tests._support.postgres import PostgresServer

POINTS = ("claimed", "handled", "before_commit", "after_commit", "before_next")
AHEAD = 4  # jobs that wait while workers are killed
PATIENCE_S = 30.0


def crash(url: str, *, crashes: int, lease_ms: int, seed: int, engine: str) -> Figures:
    """Kill worker processes at every point and count what became of their jobs."""
    chance = random.Random(seed)
    at_once = 1 if engine == "sqlite" else 3
    with tempfile.TemporaryDirectory(prefix="codexmem-bench-") as folder:
        trail = Path(folder) / "trail"
        killed: Counter[str] = Counter()
        alive: dict[int, str] = {}
        started = time.perf_counter()
        while killed.total() < crashes or alive:
            while len(alive) < at_once and killed.total() + len(alive) < crashes:
                point, hit, child_seed = chance.choice(POINTS), chance.randrange(1, 4), chance.random()
                pid = _fork(_doomed, url, trail, point, hit, lease_ms, child_seed)
                alive[pid] = point
            pid, status = os.wait()
            point = alive.pop(pid)
            if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
                raise RuntimeError(f"a worker that should die at {point} ended with status {status}")
            killed[point] += 1
            if (count := killed.total()) % 100 == 0:
                print(f"  {count} crashes, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        with opened(url) as store:
            worker = store.worker(_effective(store, trail, random.Random(seed)), lease_ms=lease_ms, look_s=0.1)
            worker.start()
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                if not _retry(store, trail) and not store.unfinished():
                    break
                time.sleep(0.05)
            worker.stop()
            return _verdict(store, trail, killed) | {
                "lease ms": lease_ms,
                "seconds": round(time.perf_counter() - started, 1),
            }


def _doomed(url: str, trail: Path, point: str, hit: int, lease_ms: int, seed: float) -> None:
    """A worker process that runs what there is, with a few jobs more when little waits, until it dies at its point."""
    chance = random.Random(seed)
    hits = 0

    def checkpoint(name: str) -> None:
        nonlocal hits
        if name == point:
            hits += 1
            if hits >= hit:
                os.kill(os.getpid(), signal.SIGKILL)

    with opened(url) as store:
        worker = store.worker(_effective(store, trail, chance), lease_ms=lease_ms, look_s=0.1, threads=2,
                              checkpoint=checkpoint)  # fmt: skip
        worker.start()
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            # No more than workers get done, so that how long a job waits is the queue's doing and not the backlog's.
            _retry(store, trail)
            if store.queue.counts()[JobStatus.QUEUED] < AHEAD:
                lane = f"lane-{chance.randrange(20)}" if chance.random() < 0.5 else None
                _note(trail, "ack", store.put(lane=lane, max_attempts=100))
            time.sleep(0.002)


def _retry(store: Opened, trail: Path) -> int:
    # Three deaths in a row look like a job's own doing, and here every worker dies. What a person would do is done at
    # once, so that these jobs' waits count like the others'.
    count = store.queue.retry_failed()
    if count:
        _note(trail, "retry", count)
    return count


def _effective(store: Opened, trail: Path, chance: random.Random) -> Callable[[Job, JobContext], Done]:
    def run(job: Job, _: JobContext) -> Done:
        _note(trail, "start", job.id, time.monotonic_ns())
        time.sleep(chance.random() * 0.003)
        event = NewEvent(EventType.MEMORY_WRITTEN, f"effect:{job.id}", {})
        return Done({}, lambda: store.log.append(event))

    return run


def _verdict(store: Opened, trail: Path, killed: Counter[str]) -> Figures:
    acked, kept_away = set[int](), 0
    starts: dict[int, list[int]] = defaultdict(list)
    for kind, number, *rest in _lines(trail):
        if kind == "ack":
            acked.add(number)
        elif kind == "retry":
            kept_away += number
        else:
            starts[number].append(rest[0])
    deadline = time.monotonic() + PATIENCE_S
    # An undecided transaction, such as a statistics run of the server, hides the newest events for a while.
    while not acked <= (effects := _effects(store)).keys() and time.monotonic() < deadline:
        time.sleep(0.1)
    waits = [(b - a) / 1e9 for times in starts.values() for a, b in pairwise(times)]
    missing = Counter(store.queue.get(job_id).status.value for job_id in acked if job_id not in effects)
    lost = missing.total()
    twice = sum(count > 1 for count in effects.values())
    stuck = sum(wait > PATIENCE_S for wait in waits) + store.unfinished()
    return {
        "crashes": killed.total(), **{f"at {point}": killed[point] for point in POINTS}, "jobs": len(acked),
        "runs": sum(map(len, starts.values())), "lost": lost, "lost stand as": dict(missing), "effects twice": twice,
        "stuck over 30 s": stuck, "longest until run again s": round(max(waits, default=0), 2),
        "failed after 3 deaths, retried": kept_away, "broken": int(bool(lost or twice or stuck)),
    }  # fmt: skip


def _effects(store: Opened) -> Counter[int]:
    found: Counter[int] = Counter()
    place = LogPosition(0, 0)
    while batch := store.events.after(place, limit=1000):
        place = batch[-1].place
        found.update(int(event.subject.removeprefix("effect:")) for event in batch if event.type == "memory.written")
    return found


def lanes(url: str, processes: int, *, count: int, per_lane: int, seed: int) -> Figures:
    """Run many lanes in several processes and look for overlaps in what they wrote down."""
    total = count * per_lane
    with tempfile.TemporaryDirectory(prefix="codexmem-bench-") as folder:
        trail, over = Path(folder) / "trail", Path(folder) / "over"
        started = time.perf_counter()
        pids = [_fork(_lane_worker, url, trail, over, seed + n) for n in range(processes)]
        with opened(url) as store:
            for _ in range(per_lane):
                for lane in range(count):
                    store.put(lane=f"lane-{lane}")
            deadline = time.monotonic() + 300
            while store.unfinished() and time.monotonic() < deadline:
                time.sleep(0.05)
            completed = store.queue.counts()[JobStatus.COMPLETED]
        seconds = time.perf_counter() - started
        over.touch()
        clean = sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 for pid in pids)
        runs: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
        for _, lane, start, end, job_id, pid in _lines(trail):
            runs[lane].append((start, end, job_id, pid))
    overlaps = disorder = 0
    for mine in runs.values():
        mine.sort()
        for before, after in pairwise(mine):
            overlaps += after[0] < before[1]
            disorder += after[2] < before[2]
    return {
        "processes": processes, "lanes": count, "jobs": total, "completed": completed,
        "runs": sum(map(len, runs.values())),
        "processes that ran some": len({run[3] for mine in runs.values() for run in mine}),
        "overlaps": overlaps, "out of order": disorder, "jobs/s": round(total / seconds),
        "broken": int(bool(overlaps or disorder or completed != total or clean != processes)),
    }  # fmt: skip


def _lane_worker(url: str, trail: Path, over: Path, seed: int) -> None:
    chance = random.Random(seed)

    def run(job: Job, _: JobContext) -> Done:
        start = time.monotonic_ns()  # one clock for all processes of this machine
        time.sleep(chance.random() * 0.004)
        lane = int((job.lane or "").removeprefix("lane-"))
        _note(trail, "run", lane, start, time.monotonic_ns(), job.id, os.getpid())
        if job.attempts == 1 and chance.random() < 0.1:
            raise RetryLater("once more", delay_ms=5)
        return Done()

    with opened(url) as store:
        worker = store.worker(run)
        worker.start()
        while not over.exists():
            time.sleep(0.05)
        worker.stop()


def _fork(body: Callable[..., None], *values: Any) -> int:
    """A child that shares what is imported and nothing that is open."""
    if pid := os.fork():
        return pid
    try:
        body(*values)
    except BaseException as error:
        print(f"a worker process failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def _note(trail: Path, kind: str, *numbers: int) -> None:
    line = " ".join([kind, *map(str, numbers)]) + "\n"
    descriptor = os.open(trail, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line.encode())  # one write: whole even if the process dies next
    os.close(descriptor)


def _lines(trail: Path) -> Iterator[tuple[Any, ...]]:
    for line in trail.read_text().splitlines():
        kind, *numbers = line.split()
        yield kind, *map(int, numbers)


@contextmanager
def _stores(engine: str) -> Iterator[Callable[[str], str]]:
    """Makes empty, durable stores by name."""
    if engine == "sqlite":
        with tempfile.TemporaryDirectory(prefix="codexmem-bench-") as folder:
            yield lambda name: sqlite_url(Path(folder) / f"{name}.db")
    else:
        with PostgresServer(durable=True) as server:
            yield server.create_store


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.queue", description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="backlog|crash|lanes", help="all of them, unless named")
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), help="both, unless named")
    parser.add_argument("--jobs", type=int, default=100_000, help="waiting jobs (backlog)")
    parser.add_argument("--samples", type=int, default=1_000, help="measured operations (backlog)")
    parser.add_argument("--starts", type=int, default=5, help="measured starts of a server, 0 for none (backlog)")
    parser.add_argument("--crashes", type=int, default=1_000, help="killed workers per engine (crash)")
    parser.add_argument("--lease-ms", type=int, default=600, help="short, so that the run is quick (crash)")
    parser.add_argument("--processes", type=int, default=4, help="worker processes (lanes)")
    parser.add_argument("--lanes", type=int, default=200)
    parser.add_argument("--per-lane", type=int, default=25)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    seed = (options := parser.parse_args(arguments)).seed
    wanted = options.parts or ["backlog", "crash", "lanes"]
    if unknown := set(wanted) - {"backlog", "crash", "lanes"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    logging.disable(logging.WARNING)  # hundreds of lost workers are the point here, not news
    results: dict[str, Figures] = {"seed": {"value": seed}}
    for engine in [options.engine] if options.engine else ["sqlite", "postgresql"]:
        with _stores(engine) as empty:
            for part in wanted:
                if part == "lanes" and engine == "sqlite":
                    continue  # one process owns a SQLite file
                url = empty(part)
                if part == "backlog":
                    figures = backlog(url, jobs=options.jobs, samples=options.samples, starts=options.starts)
                elif part == "crash":
                    figures = crash(url, crashes=options.crashes, lease_ms=options.lease_ms, seed=seed, engine=engine)
                else:
                    figures = lanes(url, options.processes, count=options.lanes, per_lane=options.per_lane, seed=seed)
                results[f"{part} {engine}"] = figures
                if not options.json:
                    print(f"{part}, {engine} (seed {seed})")
                    print(*(f"  {name:<32} {value}" for name, value in figures.items()), sep="\n", flush=True)
    if options.json:
        print(json.dumps(results))
    return int(any(figures.get("broken") for figures in results.values()))


if __name__ == "__main__":
    raise SystemExit(main())
