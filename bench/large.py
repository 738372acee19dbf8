"""A real server on a large store: when it is ready, what it holds while idle, and how long searches and prompts wait.

Stores of several sizes are filled in bulk (`bench/filling.py` says what that leaves out), each with a project of the
same 200 memories. A server with the shipped encoder takes each over, beside a server whose store is empty. Questions
come over HTTP on one connection; in turn with them the statements that the indexes send for the same question go to a
driver's connection of the same kind, with nothing made of the answers. Jobs that wait are due tomorrow.
"""

from __future__ import annotations

import http.client
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench import report, search_latency
from bench.corpus import Corpus, Made, Question
from bench.filling import fill
from bench.search_latency import Bare, Overheard, Product
from bench.stores import stores
from bench.victim import Victim, seconds_to_start
from codexmem.app.core import open_core
from codexmem.capture.service import SUMMARIZE
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.job import NewJob
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store import schema
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.sqlite.engine import plain_engine
from codexmem.settings import Settings

ENCODER = "use-multilingual-v3"
EQUAL, EQUAL_SIZE = "equal", 200
SCOPES = ("equal", "project", "all")
_STARTS = 3
_SETTLE_S, _IDLE_S = 5.0, 20.0
_TOMORROW_MS = 86_400_000
_WARM = 10
_RATIO, _READY_S, _IDLE_MB, _WAKEUPS_S = 1.5, 0.5, 60.0, 2.0  # the goals: of p95, beyond the empty store's, and of all


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, where it is asked, and the statements that answer it."""

    question: Question
    scope: str
    heard: list[Overheard]


def memories(corpus: Corpus, size: int) -> Iterator[Made]:
    """So many, the first of which are a project of their own."""
    for made in corpus.memories(size):
        if made.memory.seq <= EQUAL_SIZE:
            state = replace(made.memory.state, project=EQUAL)
            yield replace(made, memory=replace(made.memory, state=state))
        else:
            yield made


def filled(url: str, size: int, jobs: int, count: int, seed: int, progress: report.Progress) -> list[Asked]:
    """Fill the store, leave it as a server leaves it, and say what will be asked."""
    corpus, kept = Corpus(seed), list[Made]()
    equal = set(range(1, EQUAL_SIZE + 1, max(1, EQUAL_SIZE // (count + _WARM))))
    spread = set(range(EQUAL_SIZE + 1, size + 1, max(1, (size - EQUAL_SIZE) // (2 * (count + _WARM)))))
    fill(url, search_latency.noted(memories(corpus, size), equal | spread, kept), corpus.vectors, progress, ENCODER)
    questions = corpus.questions(kept)
    path = sqlite_path(url)
    assert path is not None
    core = open_core(Settings(path.parent, url))
    try:
        progress.tell("looking for what is not indexed")
        core.indexer.catch_up(lambda: None)
        _add_waiting_jobs(core.queue, path, jobs)
        product = Product(core)
        within = [each for each in questions if each.project == EQUAL][: count + _WARM]
        others = [each for each in questions if each.project != EQUAL]
        by_scope = dict(zip(SCOPES, (within, others[: count + _WARM], others[-count - _WARM :]), strict=True))
        progress.tell("noting statements")
        return [
            Asked(question, scope, product.overhear(question, "all" if scope == "all" else "project"))
            for scope, each in by_scope.items()
            for question in each
        ]
    finally:
        core.close()


def _add_waiting_jobs(queue: Queue, path: Path, count: int) -> None:
    """So many jobs that wait, all like the first."""
    if not count:
        return
    job: Any = queue.enqueue(NewJob(SUMMARIZE, {"session": 1, "turn": 1}, lane="0", delay_ms=_TOMORROW_MS))
    columns = [column.name for column in schema.jobs.c if column.name not in ("id", "lane")]
    names = ", ".join(columns)
    engine = plain_engine(path)
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.exec_driver_sql(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            f"INSERT INTO jobs (id, lane, {names}) SELECT {job.id} + i, CAST(i AS TEXT), {names} FROM jobs, n",
            (count - 1,),
        )
        connection.exec_driver_sql("UPDATE counters SET value = value + ? WHERE name = 'jobs'", (count - 1,))
        connection.exec_driver_sql("COMMIT")
    engine.dispose()


def _memory_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _switches(pid: int) -> dict[str, int]:
    """How often each of its threads has waited for something so far."""
    said = {task.name: (task / "status").read_text() for task in Path(f"/proc/{pid}/task").iterdir()}
    return {name: int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for name, text in said.items()}


def idle(victim: Victim) -> tuple[float, float]:
    """Megabytes that it holds, and wake-ups a second, while nobody asks anything."""
    time.sleep(_SETTLE_S)
    before, began = _switches(victim.pid), time.monotonic()
    time.sleep(_IDLE_S)
    woken = sum(count - before.get(name, 0) for name, count in _switches(victim.pid).items())
    return _memory_mb(victim.pid), woken / (time.monotonic() - began)


def _timed(connection: http.client.HTTPConnection, victim: Victim, path: str) -> float:
    began = time.perf_counter()
    connection.request("GET", path, headers=victim.headers())
    reply = connection.getresponse()
    reply.read()
    took = (time.perf_counter() - began) * 1_000
    if reply.status != 200:
        raise RuntimeError(f"{path} answered {reply.status}")
    return took


def _search(asked: Asked) -> str:
    where = {} if asked.scope == "all" else {"project": asked.question.project}
    return f"/api/search?{urlencode({'limit': 5, 'query': asked.question.text, **where})}"


def _prompt(asked: Asked) -> str:
    # Another text than the search's, because the server remembers the newest vectors.
    said = f"{asked.question.text}\nplease go on"
    return f"/api/context?{urlencode({'project': asked.question.project, 'session': f's-{id(asked)}', 'prompt': said})}"


def waits(victim: Victim, bare: Bare, asked: Sequence[Asked], path_of: Callable[[Asked], str]) -> dict[str, Any]:
    """Milliseconds of the server's answers and of their statements, in turn."""
    connection, ours, alone = victim.connect(120.0), list[float](), list[float]()
    for number, each in enumerate(asked):
        if number % 2:
            alone.append(sum(bare.ask(each.heard)[0]))
        ours.append(_timed(connection, victim, path_of(each)))
        if not number % 2:
            alone.append(sum(bare.ask(each.heard)[0]))
    connection.close()
    shares = {
        f"{name}_p{share}_ms": round(report.percentile(taken[_WARM:], share / 100), 2)
        for name, taken in (("http", ours), ("bare", alone))
        for share in (50, 95)
    }
    return {**shares, "ratio_p95": round(shares["http_p95_ms"] / shares["bare_p95_ms"], 2)}


def measure(home: Path, url: str, empty: str, asked: Sequence[Asked], progress: report.Progress) -> dict[str, Any]:
    """One store beside the empty one."""
    environment = {"CODEXMEM_EMBEDDER": "local"}
    full = Victim(home / "full", url, environment=environment)
    other = Victim(home / "empty", empty, environment=environment)
    for folder in ("full", "empty"):
        (home / folder).mkdir(exist_ok=True)
    ready: dict[str, list[float]] = {"full": [], "empty": []}
    found: dict[str, Any] = {}
    for number in range(_STARTS):
        for name, victim in (("empty", other), ("full", full)):
            progress.tell(f"start {number + 1} of {_STARTS}")
            ready[name].append(seconds_to_start(victim))
            if number == _STARTS - 1:
                found[f"idle_{name}_mb"], found[f"wakeups_{name}_s"] = (round(each, 1) for each in idle(victim))
            if name == "empty" or number < _STARTS - 1:
                victim.stop()
    found["ready_s"], found["ready_empty_s"] = (round(statistics.median(ready[n]), 2) for n in ("full", "empty"))
    bare = Bare(url)
    try:
        for scope in SCOPES:
            progress.tell(f"searching, {scope}")
            found[f"search_{scope}"] = waits(full, bare, [each for each in asked if each.scope == scope], _search)
        progress.tell("prompts")
        found["prompt_project"] = waits(full, bare, [each for each in asked if each.scope == "project"], _prompt)
        found["used_mb"] = round(_memory_mb(full.pid), 1)
    finally:
        bare.close()
        full.stop()
    return found


def missed(found: dict[str, Any]) -> list[str]:
    """The goals that one store misses."""
    ratios = {name: each["ratio_p95"] <= _RATIO for name, each in found.items() if isinstance(each, dict)}
    reached = {
        **ratios,
        "ready": found["ready_s"] - found["ready_empty_s"] <= _READY_S,
        "idle memory": found["idle_full_mb"] - found["idle_empty_mb"] <= _IDLE_MB,
        "wake-ups": found["wakeups_full_s"] <= _WAKEUPS_S,
    }
    return [name.replace("_", ", ") for name, kept in reached.items() if not kept]


def run(sizes: Iterable[int], *, jobs: int, count: int, seed: int, parent: Path) -> dict[str, Any]:
    """Every size, one after the other."""
    progress, found = report.Progress("large"), {}
    with acting_as(LOCAL):
        for size in sizes:
            with stores("sqlite", durable=True, parent=parent) as made:
                url, began = made.fresh(), time.monotonic()
                asked = filled(url, size, jobs, count, seed, progress)
                filled_s = round(time.monotonic() - began)
                found[str(size)] = {"filled_s": filled_s} | measure(made.home, url, made.fresh(), asked, progress)
    progress.close()
    return found


def _text(size: str, found: dict[str, Any]) -> str:
    rows = [
        [name.replace("_", ", "), *found[name].values()]
        for name in (*(f"search_{scope}" for scope in SCOPES), "prompt_project")
    ]
    return (
        f"{int(size):,} memories, filled in {found['filled_s']} s\n"
        f"  ready after {found['ready_s']} s, the empty one after {found['ready_empty_s']} s\n"
        f"  idle: {found['idle_full_mb']} MB and {found['wakeups_full_s']} wake-ups a second, the empty one "
        f"{found['idle_empty_mb']} MB and {found['wakeups_empty_s']}; {found['used_mb']} MB after the questions\n"
        + report.table(["ms", "HTTP p50", "p95", "bare p50", "p95", "p95 ratio"], rows)
        + f"\n  goals missed: {'; '.join(missed(found)) or 'none'}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000], help="memories")
    parser.add_argument("--jobs", type=int, default=100_000, help="that wait")
    parser.add_argument("--queries", type=int, default=100, help="per size and scope")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()),
                        help="where the stores lie; 7 GB for a million memories")  # fmt: skip
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    found = run(options.sizes, jobs=options.jobs, count=options.queries, seed=seed, parent=options.dir)
    text = f"seed {seed}\n" + "\n".join(_text(size, each) for size, each in found.items())
    sizes = sorted(found, key=int)
    p95 = [found[size]["search_equal"]["http_p95_ms"] for size in (sizes[0], sizes[-1])]
    if len(sizes) > 1:
        text += f"\na project of {EQUAL_SIZE}, p95, the largest store to the smallest: {p95[1] / p95[0]:.2f}"
    return report.conclude(
        "large", {"seed": seed, "sizes": found}, text, kept=not any(map(missed, found.values())), as_json=options.json
    )


if __name__ == "__main__":
    sys.exit(main())
