"""The lab on an opened store, wired as the product wires it, with an agent whose steps a test decides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.ids import Clock, SystemClock
from codexmem.kernel.opened import Kernel
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.store import memories as memory_table
from codexmem.kernel.store.candidates import SearchCandidates
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.listing import Lists
from codexmem.kernel.store.notify import Notifier
from codexmem.kernel.store.receipts import ReceiptTable
from codexmem.lab.build_feature import build
from codexmem.lab.lesson_extractor import Teacher
from codexmem.lab.model import Batch, BatchOrder, Run, RunOutput, RunTask
from codexmem.lab.service.execution import RunAgent
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.lab import Lab
from codexmem.settings import Settings
from tests._support.services import indexer, text_index, vector_table

SECRET = "sk-lab-secret-0123456789abcdef"


@dataclass
class StepAgent:
    """Does so many steps, each once as far as the journal knows, and remembers what it really did."""

    steps: int = 3
    during: Callable[[RunTask, Journal, int], None] = lambda task, journal, number: None
    done: list[tuple[str, str]] = field(default_factory=list)  # run and key of every call that was really made
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        said = []
        for number in range(1, self.steps + 1):
            journal.check()
            key = f"model:{number}"
            result = journal.done(key)
            if result is None:
                journal.note(EventType.LLM_REQUEST, {"key": key, "model": "steps"})
                with self._lock:
                    self.done.append((task.run.id, key))
                self.during(task, journal, number)
                said_now = (EventType.LLM_RESPONSE, {"key": key, "content": f"step {number}"})
                result = journal.record(key, {"said": f"第{number}步 of {task.user_request}"}, said_now)
            said.append(result["said"])
        return RunOutput({"recipes": [], "overall_notes": " ".join(said)}, {"C1": "kb:kb_principles__chunk-1"}, ("m",))


@dataclass
class LabBench:
    """A lab, its queue and its worker."""

    db: Database
    lab: Lab
    queue: Queue
    jobs: Jobs
    dispatch: Dispatch
    events: EventTable
    notifier: Notifier
    log: Log
    clock: Clock
    memories: Memories

    def worker(self, **options: Any) -> Worker:
        options = {"threads": 4, "lease_ms": 600, "look_s": 0.2, **options}
        return Worker(
            self.db, self.jobs, self.dispatch, self.log, self.notifier, self.clock, self.lab.job_kinds(), **options
        )

    @contextmanager
    def working(self, **options: Any) -> Iterator[Worker]:
        """A worker that runs during the block."""
        worker = self.worker(**options)
        worker.start()
        try:
            yield worker
        finally:
            worker.stop(2.0)

    def order(self, n_runs: int = 1, request: str = "Cu–Mo 光催化", **fields: Any) -> tuple[Batch, list[Run]]:
        return self.lab.runs.create(BatchOrder(request, n_runs, **fields))

    def trace(self, run: Run | str, *types: EventType) -> list[Event]:
        """The whole trace, page by page."""
        run_id, after = run if isinstance(run, str) else run.id, None
        found: list[Event] = []
        while True:
            page = self.lab.trace.page(run_id, types=types, after=after, limit=7, payloads=True)
            found += page.items
            if page.after is None:
                return found
            after = page.after

    def types(self, run: Run | str) -> list[str]:
        return [event.type for event in self.trace(run)]


def bench(db: Database, agent: RunAgent, *, tmp_path: Path, clock: Clock | None = None, teacher: Teacher | None = None,
          **settings: Any) -> LabBench:  # fmt: skip
    """The lab on this store; without a teacher rules learn."""
    clock = clock or SystemClock()
    jobs, dispatch, events, notifier = Jobs(db), Dispatch(db), EventTable(db), db.engine.make_bell()
    log = Log(db, events, notifier, clock)
    queue = Queue(db, jobs, dispatch, notifier, clock)
    chosen = Settings(data_dir=tmp_path, database_url="sqlite:///unused", openai_api_key=SECRET, **settings)
    kernel = kernel_of(db, log, clock, queue, tmp_path)
    lab = build(kernel, chosen, agent=agent, teacher=teacher or Teacher())
    return LabBench(db, lab, queue, jobs, dispatch, events, notifier, log, clock, kernel.memories)


def kernel_of(db: Database, log: Log, clock: Clock, queue: Queue, data_dir: Path) -> Kernel:
    """The memory that the lab stands on, wired as the product wires it, searched by words."""
    table, versions, text = memory_table.MemoryTable(db), VersionTable(db), text_index(db)
    index = indexer(db, clock)
    memories = Memories(db, table, Lists(db), versions, index, log, clock)
    receipts = ReceiptTable(db)
    history = History(db, memories, table, versions, receipts, index, log, clock)
    finder = Finder(db, table, versions, SearchCandidates(db), text, vector_table(db), None, clock)
    return Kernel(
        db, clock, data_dir, table=table, memories=memories, history=history, receipts=Receipts(db, receipts, clock),
        log=log, queue=queue, search=finder.search,
    )  # fmt: skip
