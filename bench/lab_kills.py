"""SIGKILL of servers and workers while batches run: every run ends in a true state, and the trace tells what was done.

Clients order batches over HTTP, cancel some, and read traces, while processes are killed at random moments and started
again: the server on SQLite; the server and two workers on PostgreSQL. A model outside counts every call that it really
got. At the end the store is read by plain SQL: no run is left over; a batch counts what its runs became; a step's call
was never made more often than the trace says; no step is recorded twice or without its event; no event that was once
seen is gone; what was accepted for canceling is canceled.
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
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import report
from bench.kill import _raw as raw
from bench.lab_agent import CONFIGURED, CountingModel
from bench.stores import stores
from bench.victim import Victim, seconds_to_start
from codexmem.lab.model import ENDED, ending
from tests._support.warm import ForkedProcess

STEPS = 4
CALL_S = 0.03
AHEAD = 12  # runs that wait or run while processes are killed
LIFE_S = (0.15, 1.2)
LEAST_RUNS = 6  # between two kills
PATIENCE_S = 120.0
WORKERS = 2
ROOT = Path(__file__).parents[1]
_ENDS = {"completed": "final_output", "failed": "run_failed", "canceled": "run_canceled"}


class Workers:
    """`codexmem worker` processes, each killed and started again by itself."""

    def __init__(self, home: Path, victim: Victim, count: int) -> None:
        self._home = home
        self._victim = victim
        self.processes: list[subprocess.Popen[bytes] | ForkedProcess | None] = [None] * count

    def start(self) -> None:
        """Start those that are down."""
        for number, process in enumerate(self.processes):
            if process is None:
                with (self._home / f"worker-{number}.log").open("ab") as log:
                    self.processes[number] = self._victim.launch("worker", out=log.fileno(), err=log.fileno())

    def kill(self, number: int) -> None:
        """SIGKILL one of them."""
        process = self.processes[number]
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.processes[number] = None

    def end(self) -> None:
        """Kill what is left."""
        for number in range(len(self.processes)):
            self.kill(number)


@dataclass
class Seen:
    """What clients were told, which must stay true."""

    batches: dict[str, int] = field(default_factory=dict)  # acknowledged, and how many runs each has
    canceled: set[str] = field(default_factory=set)  # batches whose cancel was accepted
    events: dict[str, str] = field(default_factory=dict)  # event → run
    open_orders: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # sent and not answered
    kills: Counter[str] = field(default_factory=Counter)


class Clients:
    """One client that does a little of everything between kills."""

    def __init__(self, victim: Victim, seen: Seen, seed: int) -> None:
        self._victim = victim
        self._seen = seen
        self._chance = random.Random(f"lab {seed}")
        self._numbers = itertools.count(1)
        self._seed = seed

    def act(self) -> None:
        """Order what is missing, cancel now and then, read some trace; a server that is gone is no trouble."""
        connection = self._victim.connect(timeout=5)
        try:
            self._order(connection)
            if self._chance.random() < 0.1:
                self._cancel(connection)
            self._read(connection)
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.02)
        finally:
            connection.close()

    def unfinished(self) -> int:
        """How many runs wait or run."""
        connection = self._victim.connect(timeout=5)
        try:
            counts = self._get(connection, "/api/v1/system/worker")["queue"]["runs_by_status"]
            return int(counts["queued"] + counts["running"])
        finally:
            connection.close()

    def settle(self) -> None:
        """Send again what was not answered."""
        connection = self._victim.connect(timeout=20)
        for key, body in list(self._seen.open_orders):
            self._send(connection, key, body)
        connection.close()

    def _order(self, connection: http.client.HTTPConnection) -> None:
        if self._seen.open_orders:
            self._send(connection, *self._seen.open_orders[0])
            return
        counts = self._get(connection, "/api/v1/system/worker")["queue"]["runs_by_status"]
        if counts["queued"] + counts["running"] < AHEAD:
            number = next(self._numbers)
            body = {"user_request": f"给出配方 {number}", "n_runs": self._chance.randrange(1, 7)}
            key = f"order-{self._seed}-{number}"
            self._seen.open_orders.append((key, body))
            self._send(connection, key, body)

    def _send(self, connection: http.client.HTTPConnection, key: str, body: dict[str, Any]) -> None:
        status, answer = self._victim.post(connection, "/api/v1/batches", body, **{"Idempotency-Key": key})
        if status == 200:
            self._seen.batches[answer["batch"]["batch_id"]] = body["n_runs"]
            self._seen.open_orders.remove((key, body))
        elif status < 500:
            raise RuntimeError(f"an order was answered {status}: {answer}")

    def _cancel(self, connection: http.client.HTTPConnection) -> None:
        if self._seen.batches:
            batch_id = self._chance.choice(list(self._seen.batches)[-4:])
            status, answer = self._victim.post(connection, f"/api/v1/batches/{batch_id}/cancel", {"reason": "试验"})
            if status == 200:
                self._seen.canceled.add(batch_id)
            elif status not in {409, 503}:
                raise RuntimeError(f"a cancel was answered {status}: {answer}")

    def _read(self, connection: http.client.HTTPConnection) -> None:
        runs = self._get(connection, "/api/v1/runs?limit=20")["items"]
        if runs:
            run_id = self._chance.choice(runs)["run_id"]
            for event in self._get(connection, f"/api/v1/runs/{run_id}/events?limit=50")["items"]:
                self._seen.events[event["event_id"]] = run_id

    def _get(self, connection: http.client.HTTPConnection, path: str) -> Any:
        connection.request("GET", path, headers=self._victim.headers())
        reply = connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise ValueError(f"{path} was answered {reply.status}")
        return json.loads(body)


def verdict(url: str, seen: Seen, calls: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Read the store beside the product, and say what is not as it must be."""
    problems: list[str] = []
    with raw(url) as run:
        batches = run("SELECT id, status, n_runs, completed_runs, failed_runs, canceled_runs, cancel_id FROM batches")
        runs = run("SELECT id, batch_id, status, steps, final_event_id, error, output FROM runs")
        steps = run("SELECT run_id, number, key FROM run_steps ORDER BY run_id, number")
        events = run("SELECT id, subject, type, payload FROM events WHERE substr(subject, 1, 4) = 'run:' ORDER BY seq")
        live = run("SELECT count(*) FROM jobs WHERE kind = 'lab.run' AND status IN ('queued', 'running')")[0][0]
    by_batch: dict[str, Counter[str]] = defaultdict(Counter)
    journal: dict[str, list[str]] = defaultdict(list)
    traces: dict[str, list[tuple[str, str, dict[str, Any]]]] = defaultdict(list)
    for run_id, number, key in steps:
        journal[run_id].append(key)
        if number != len(journal[run_id]):
            problems.append(f"{run_id}: step {number} stands at place {len(journal[run_id])}")
    for event_id, subject, kind, payload in events:
        traces[subject.removeprefix("run:")].append((event_id, kind, json.loads(payload)))
    for run_id, batch_id, status, count, final, error, output in runs:
        by_batch[batch_id][status] += 1
        problems += _run_problems(run_id, status, count, final, error, output, journal[run_id], traces[run_id], calls)
    for batch_id, status, n_runs, completed, failed, canceled, cancel_id in batches:
        told = Counter(completed=completed, failed=failed, canceled=canceled)
        expected = ending(n_runs=n_runs, completed=completed, failed=failed, canceled=cancel_id is not None)
        if +told != +by_batch[batch_id] or told.total() != n_runs or status != expected.value:
            problems.append(f"{batch_id}: {status}, {dict(told)} of {n_runs}, but {dict(by_batch[batch_id])}")
    known = {batch_id: n_runs for batch_id, _, n_runs, *_ in batches}
    problems += [f"{each}: acknowledged and gone" for each in seen.batches.keys() - known.keys()]
    problems += [f"{each}: nobody ordered it" for each in known.keys() - seen.batches.keys()]
    statuses = {batch_id: status for batch_id, status, *_ in batches}
    problems += [f"{each}: canceled, but {statuses[each]}" for each in seen.canceled if statuses[each] != "canceled"]
    there = {event_id for trace in traces.values() for event_id, *_ in trace}
    problems += [f"{event_id} of {run_id}: seen and gone" for event_id, run_id in seen.events.items()
                 if event_id not in there]  # fmt: skip
    counts = Counter(status for _, _, status, *_ in runs)
    resumed = sum(kind == "run_resumed" for trace in traces.values() for _, kind, _ in trace)
    return {
        "batches": len(batches), "runs": len(runs), **{f"runs_{name}": counts[name] for name in sorted(counts)},
        "steps": len(steps), "events": len(there), "events_seen": len(seen.events), "calls": sum(calls.values()),
        "calls_made_twice": sum(count > 1 for count in calls.values()), "resumed": resumed, "jobs_left": int(live),
        "problems_found": len(problems), "problems": problems[:20],
    }  # fmt: skip


def _run_problems(run_id: str, status: str, count: int, final: str | None, error: str | None, output: str | None,
                  keys: list[str], trace: list[tuple[str, str, dict[str, Any]]],
                  calls: Counter[tuple[str, str]]) -> list[str]:  # fmt: skip
    found: list[str] = []
    kinds = Counter(kind for _, kind, _ in trace)
    ends = [kind for kind in _ENDS.values() for _ in range(kinds[kind])]
    if status not in {each.value for each in ENDED} or ends != [_ENDS[status]]:
        found.append(f"{run_id}: {status}, but its trace ends with {ends}")
    if count != len(keys) or len(set(keys)) != len(keys):
        found.append(f"{run_id}: {count} steps, but {keys}")
    asked = Counter(payload["key"] for _, kind, payload in trace if kind == "llm_request")
    answered = Counter(payload["key"] for _, kind, payload in trace if kind == "llm_response")
    if answered != Counter(keys):
        found.append(f"{run_id}: steps {keys}, but answers {dict(answered)}")
    hidden = {
        key: calls[run_id, key] for key in {k for r, k in calls if r == run_id} if calls[run_id, key] > asked[key]
    }
    if hidden:
        found.append(f"{run_id}: calls {hidden}, but the trace shows {dict(asked)}")
    if status == "completed" and (len(keys) != STEPS or output is None or final is None or kinds["run_started"] != 1):
        found.append(f"{run_id}: completed with {len(keys)} steps, output {output is not None}")
    if status == "failed" and "vanished" not in (error or ""):
        found.append(f"{run_id}: failed because {error}")
    return found


def soak(engine: str, *, kills: int, seed: int, lease_ms: int = 2_000, parent: Path | None = None) -> dict[str, Any]:
    """One engine from an empty store to the verdict."""
    began, progress, chance = time.monotonic(), report.Progress(f"lab kills {engine}"), random.Random(f"kills {seed}")
    seen = Seen()
    with CountingModel(takes_s=CALL_S) as model, stores(engine, durable=True, parent=parent) as made:
        url = made.fresh()
        given = {
            "LAB_AGENT": "bench.lab_agent:steps", "LAB_MODEL_URL": model.url, "LAB_STEPS": str(STEPS),
            "LAB_LEASE_MS": str(lease_ms), "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
            "CODEXMEM_EMBEDDER": "none", "CODEXMEM_OPENAI_BASE_URL": CONFIGURED,
        }  # fmt: skip
        victim = Victim(made.home, url, module="bench.lab_program", environment=given)
        if engine == "postgresql":
            victim.secret = victim.command("key", "create", "--tenant", "lab", "--label", "lab")["secret"]
        workers = Workers(made.home, victim, WORKERS if engine == "postgresql" else 0)
        clients, ready = Clients(victim, seen, seed), []
        try:
            ready.append(seconds_to_start(victim))
            workers.start()
            for _ in range(kills):
                _live(clients, chance, seen)
                target = chance.choice(["server", *range(len(workers.processes))])
                if target == "server":
                    victim.kill()
                    ready.append(seconds_to_start(victim))
                else:
                    workers.kill(int(target))
                    workers.start()
                seen.kills["server" if target == "server" else "worker"] += 1
                progress.tell(f"{seen.kills.total()} of {kills} kills, {len(seen.batches)} batches")
            clients.settle()
            waited = _drain(clients)
            victim.stop()
        finally:
            victim.kill()
            workers.end()
            progress.close()
        figures = verdict(url, seen, model.calls)
    return {
        "kills": seen.kills.total(), "kills_by_target": dict(seen.kills), **figures, "drained_s": round(waited, 1),
        "ready_p50_s": round(report.percentile(ready, 0.5), 2), "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


def _live(clients: Clients, chance: random.Random, seen: Seen) -> None:
    """For a while, and until some runs were ordered: on a busy machine a while may be too short for one answer."""
    ordered = sum(seen.batches.values())
    until = time.monotonic() + chance.uniform(*LIFE_S)
    while (left := until - time.monotonic()) > 0 or (
        sum(seen.batches.values()) < ordered + LEAST_RUNS and left > -PATIENCE_S
    ):
        clients.act()
        time.sleep(0.02)


def _drain(clients: Clients) -> float:
    began = time.monotonic()
    while clients.unfinished():
        if time.monotonic() - began > PATIENCE_S:
            break  # the verdict says what is left
        time.sleep(0.1)
    return time.monotonic() - began


def kept(figures: dict[str, Any]) -> bool:
    """Whether every run ended truly and nothing is left."""
    return not figures["problems_found"] and not figures["jobs_left"] and figures["runs"] > 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--kills", type=int, default=200, help="per engine")
    parser.add_argument("--lease-ms", type=int, default=2_000, help="how long a vanished worker keeps its jobs")
    parser.add_argument("--dir", type=Path, default=None, help="where stores lie")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: soak(engine, kills=options.kills, seed=seed, lease_ms=options.lease_ms, parent=options.dir)
        for engine in report.chosen_engines(options.engine)
    }
    text = "\n".join(f" {engine}\n{report.lines(figures)}" for engine, figures in results.items())
    held = all(kept(figures) for figures in results.values())
    return report.conclude("lab kills", {"seed": seed, **results}, f" seed {seed}\n{text}", kept=held,
                           as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
