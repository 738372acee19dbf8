"""Capture and what stands behind it, on an opened store, with a distiller that says what a test wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from codexmem.domain.capture import HookReport
from codexmem.domain.job import Job, JobStatus
from codexmem.domain.memory import Kind, Memory
from codexmem.domain.query import Filter, Page
from codexmem.embed.model import Embedder
from codexmem.events.log import Log
from codexmem.events.review import Review
from codexmem.jobs.duty import Context as RunContext
from codexmem.jobs.queue import Queue
from codexmem.llm.material import Digest, Distilled, Material, Outcome, Result
from codexmem.search.finder import Finder
from codexmem.services.capture import EXTRACT, SUMMARIZE, Intake, Rules, excluded
from codexmem.services.context import Context
from codexmem.services.extraction import Budget, Extraction
from codexmem.services.forgetting import Forgetting
from codexmem.store.bell import LocalBell
from codexmem.store.candidates import Candidates
from codexmem.store.captures import Captures
from codexmem.store.database import Database
from codexmem.store.dispatch import Dispatch
from codexmem.store.event_pages import EventPages
from codexmem.store.events import Events
from codexmem.store.history import Versions
from codexmem.store.jobs import Jobs
from codexmem.store.memories import Memories as MemoryTable
from codexmem.store.receipts import Receipts as ReceiptTable
from codexmem.store.sessions import Sessions
from codexmem.store.tallies import Tallies
from tests._support import services
from tests._support.services import Services


class Scripted:
    """Distils each batch into one observation that names its tools; a test may replace what it says."""

    def __init__(self) -> None:
        self.asked: list[Material] = []
        self.title: Callable[[Material], str] = lambda material: "+".join(event.tool for event in material.events)

    def observations(self, material: Material, check: Callable[[], None]) -> Result[tuple[Distilled, ...]]:
        check()
        self.asked.append(material)
        distilled = Distilled(
            type="change", title=self.title(material), subtitle="", narrative=str(material.events[-1].response),
            facts=(), concepts=("what-changed",), files_read=("src/读.py",), files_modified=(),
            events=tuple(event.seq for event in material.events),
        )  # fmt: skip
        return _result((distilled,))

    def summary(self, material: Material, message: str, check: Callable[[], None]) -> Result[Digest | None]:
        check()
        self.asked.append(material)
        return _result(Digest(material.prompt, "", message, "", "", ""))


def _result(value: Any) -> Result[Any]:
    return Result(
        value=value, outcomes=(Outcome.SUCCESS,), by="model", prompt_tokens=100, completion_tokens=20, model_ms=5.0,
        error_class=None, error=None,
    )  # fmt: skip


@dataclass
class Capturing:
    """What a hook would talk to, and what works behind it."""

    db: Database
    base: Services
    intake: Intake
    extraction: Extraction
    context: Context
    forgetting: Forgetting
    queue: Queue
    sessions: Sessions
    captures: Captures
    tallies: Tallies
    distiller: Scripted = field(default_factory=Scripted)

    def tool(self, tool: str = "Bash", *, session: str = "s1", **told: Any) -> Any:
        """Report one tool event."""
        told.setdefault("input", {"command": "make"})
        told.setdefault("response", "ok")
        return self.intake.observe(HookReport(session, tool=tool, project="demo", **told))

    def say(self, prompt: str, *, session: str = "s1", **told: Any) -> Any:
        """Report one prompt."""
        return self.intake.init(HookReport(session, prompt=prompt, project="demo", **told))

    def waiting(self) -> list[Job]:
        """Jobs of capture that have not run, oldest first."""
        return [job for job in self.queue.list(JobStatus.QUEUED)[::-1] if job.kind in (EXTRACT, SUMMARIZE)]

    def run(self, *, all_of_them: bool = False) -> int:
        """Run what is due, in order, as a worker would; returns how many jobs ran."""
        ran = 0
        for job in self.waiting():
            if not all_of_them and job.run_at_ms > self.base.clock.now_ms():
                continue
            handle = self.extraction.observations if job.kind == EXTRACT else self.extraction.summaries
            done = handle(job, RunContext(job, 60.0))
            with self.db.transaction():
                if done.effect is not None:
                    done.effect()
            self.queue.cancel(job.id)  # ended, as far as the queue is concerned
            ran += 1
        return ran

    def memories(self, kind: Kind) -> list[Memory]:
        """All memories of one kind, oldest first."""
        return list(self.base.memories.page(Filter(frozenset({kind})), Page(limit=500)).items)[::-1]


_USUAL = Rules()


def build(db: Database, rules: Rules = _USUAL, *, daily_tokens: int = 0, embedder: Embedder | None = None) -> Capturing:
    """Wire capture on this store."""
    base = services.build(db)
    clock = base.clock
    log = Log(db, Events(db), LocalBell(), clock)
    queue = Queue(db, Jobs(db), Dispatch(db), LocalBell(), clock)
    sessions, captures, tallies = Sessions(db), Captures(db), Tallies(db)
    distiller = Scripted()
    budget = Budget(tallies, clock, daily_tokens)
    finder = Finder(
        db, MemoryTable(db), Versions(db), Candidates(db), services.text_index(db), services.vector_table(db), embedder,
        clock, None,
    )  # fmt: skip
    context = Context(
        base.memories, finder, sessions, log, Review(EventPages(db)), db.acting_tenant,
        partial(excluded, rules.excluded_projects),
    )  # fmt: skip
    return Capturing(
        db=db, base=base, queue=queue, sessions=sessions, captures=captures, tallies=tallies, distiller=distiller,
        intake=Intake(db, sessions, captures, base.memories, queue, log, clock, rules, context.begun), context=context,
        extraction=Extraction(sessions, captures, base.memories, tallies, budget, distiller, log, clock),  # type: ignore[arg-type]
        forgetting=Forgetting(db, base.memories, base.history, sessions, captures, ReceiptTable(db), log),
    )  # fmt: skip
