"""Capture and what stands behind it, on an opened store, with a model that says what a test wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from codexmem.capture.author import TurnAuthor
from codexmem.capture.author_queue import AUTHOR, AuthorQueue
from codexmem.capture.authoring import Authoring
from codexmem.capture.consolidation import Consolidation
from codexmem.capture.extraction import Extraction
from codexmem.capture.job_log import JobLog, TokenBudget
from codexmem.capture.service import EXTRACT, SUMMARIZE, CaptureService, Rules, excluded
from codexmem.capture.transcripts import TranscriptImport
from codexmem.hook.surroundings import refusing_file
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.events.log import Log
from codexmem.kernel.events.review import Review
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.llm.model import Completion, ModelPrompt
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.store.candidates import SearchCandidates
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.event_pages import EventPages
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.receipts import ReceiptTable
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.recall.context import ContextBuilder, ContextServices
from codexmem.recall.decay import is_faded
from codexmem.recall.forgetting import Forgetting
from tests._support import services
from tests._support.services import Services


class ScriptedModel:
    """Answers each question as a test says; as it stands, that there is nothing to remember."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.says: Callable[[str], str] = lambda _: '{"reason": "", "memories": []}'

    def answer(self, prompt: ModelPrompt, check: Callable[[], None]) -> Completion:
        check()
        self.asked.append(prompt.text)
        return Completion(self.says(prompt.text), 100, 20)


@dataclass
class Capturing:
    """What a hook would talk to, and what works behind it."""

    db: Database
    base: Services
    intake: CaptureService
    transcripts: TranscriptImport
    extraction: Extraction
    authoring: Authoring
    consolidation: Consolidation
    context: ContextBuilder
    forgetting: Forgetting
    queue: Queue
    sessions: Sessions
    captures: Captures
    tallies: Tallies
    model: ScriptedModel = field(default_factory=ScriptedModel)

    @property
    def handlers(self) -> dict[str, Callable[[Job, JobContext], Done]]:
        """What runs each kind of job of capture."""
        found = {EXTRACT: self.extraction.observations, SUMMARIZE: self.extraction.summaries}
        return {**found, AUTHOR: self.authoring.write}

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
        return [job for job in self.queue.list(JobStatus.QUEUED)[::-1] if job.kind in (EXTRACT, SUMMARIZE, AUTHOR)]

    def run(self, *, all_of_them: bool = False) -> int:
        """Run what is due, in order, as a worker would; returns how many jobs ran."""
        ran = 0
        for job in self.waiting():
            if not all_of_them and job.run_at_ms > self.base.clock.now_ms():
                continue
            done = self.handlers[job.kind](job, JobContext(job, 60.0))
            with self.db.transaction():
                if done.effect is not None:
                    done.effect()
            self.queue.cancel(job.id)  # ended, as far as the queue is concerned
            ran += 1
        return ran

    def memories(self, kind: Kind) -> list[Memory]:
        """All memories of one kind, oldest first."""
        return list(self.base.memories.page(Filter(frozenset({kind})), PageRequest(limit=500)).items)[::-1]


_USUAL = Rules()


def build(db: Database, rules: Rules = _USUAL, *, daily_tokens: int = 0, embedder: Embedder | None = None,
          asked: bool = False, patient: bool = True, falls_back: bool = False, kept_back: tuple[str, ...] = (),
          rules_read: Callable[[str, str], frozenset[str]] = lambda *_: frozenset()) -> Capturing:  # fmt: skip
    """Wire capture on this store."""
    base = services.build(db)
    clock = base.clock
    log = Log(db, EventTable(db), LocalNotifier(), clock)
    queue = Queue(db, Jobs(db), Dispatch(db), LocalNotifier(), clock)
    sessions, captures, tallies = Sessions(db), Captures(db), Tallies(db)
    model = ScriptedModel()
    budget = TokenBudget(tallies, clock, daily_tokens)
    plan = AuthorQueue(
        queue,
        sessions,
        captures,
        asked=asked,
        patient=patient,
        excludes=partial(excluded, kept_back),
        refuses=lambda folder: bool(refusing_file(folder)),
    )
    job_log = JobLog(sessions, captures, tallies, budget, log, clock)
    author = TurnAuthor(model, may_spend=budget.allows)
    tidying = Consolidation(db, base.memories, base.history, queue, plan, author, job_log)
    finder = Finder(
        db,
        MemoryTable(db),
        VersionTable(db),
        SearchCandidates(db),
        services.text_index(db),
        services.vector_table(db),
        embedder,
        clock,
        None,
    )
    context = ContextBuilder(
        ContextServices(
            db,
            base.memories,
            finder,
            sessions,
            log,
            Review(EventPages(db)),
            partial(excluded, rules.excluded_projects),
            rules_read=rules_read,
            approved=base.history.approved,
            is_faded=lambda memory: is_faded(memory, clock.now_ms()),
        )
    )
    return Capturing(
        db=db,
        base=base,
        queue=queue,
        sessions=sessions,
        captures=captures,
        tallies=tallies,
        model=model,
        transcripts=TranscriptImport(db, sessions, captures, base.memories, base.history, plan, clock, rules),
        intake=CaptureService(db, sessions, captures, base.memories, queue, log, clock, rules, plan, (context.begun,)),
        context=context,
        extraction=Extraction(sessions, captures, base.memories, plan, job_log, falls_back=falls_back),
        authoring=Authoring(
            sessions, captures, base.memories, queue, plan, author, finder.search, job_log, tidying, base.history
        ),
        consolidation=tidying,
        forgetting=Forgetting(db, base.memories, base.history, sessions, captures, ReceiptTable(db), log),
    )
