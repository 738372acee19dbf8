"""Looking again: now and then an author reads what a project knows, and what it wants is done in one delta.

What says the same becomes one memory, what holds no longer is deprecated, repeated corrections become a rule, and what
was often confirmed counts more. What a person said goes only where another statement of a person says it. Everything is
a version with the delta's name, so `codexmem undo delta_…` brings back exactly what was there.
"""

from collections.abc import Callable
from dataclasses import replace

from codexmem.capture.author import TurnAuthor
from codexmem.capture.author_queue import AuthorQueue
from codexmem.capture.job_log import JobLog
from codexmem.capture.stored_text import stored_line
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.llm.material import AuthorAnswer, KnownMemory, Operation, OperationKind
from codexmem.kernel.llm.prompts.review import MOST
from codexmem.kernel.model import redaction
from codexmem.kernel.model.approval import PROPOSED
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.job import PATIENT, GiveUp, Job, NewJob, RetryLater
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.statement import LASTING, SUPERSEDES, TYPES, LastingKind
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database

CONSOLIDATE = "capture.consolidate"
TIMEOUT_S = 600.0
ACTOR = "author"
CAUSE = "consolidate"
_LEAST = 8  # memories below which there is nothing to tidy
_BUSY_MS = 600_000
_DELAY_MS = 3_600_000  # after something was written, so that a day's sessions are looked at together
_CONFIRMED, _SURE, _STEP = 3, 0.95, 0.1
_OBSERVATIONS = frozenset({Kind.OBSERVATION})


class Consolidation:
    """The job that looks again at a project of the acting tenant."""

    def __init__(self, db: Database, memories: Memories, history: History, queue: Queue, plan: AuthorQueue,
                 author: TurnAuthor, log: JobLog, is_idle: Callable[[], bool] = lambda: True) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._queue = queue
        self._plan = plan
        self._author = author
        self._log = log
        self._is_idle = is_idle  # whether the author has nothing else to do

    def plan(self, project: str) -> None:
        """Look again some time after something was written; once, whatever is written until then."""
        if project:
            self._queue.enqueue(NewJob(
                CONSOLIDATE, {"project": project}, subject=_subject(project),
                dedupe_key=f"{CONSOLIDATE}:{project}", priority=PATIENT, delay_ms=_DELAY_MS, max_attempts=9,
            ))  # fmt: skip

    def look_again(self, job: Job, context: JobContext) -> Done:
        """Ask about what the project knows, and do what comes of it."""
        project = job.payload.get("project")
        if not isinstance(project, str):
            raise GiveUp(f"job {job.id} names no project")
        known = self._plan.tellable(project, self._known(project))
        if len(known) < _LEAST:
            return Done({"changed": 0})
        if not self._is_idle():
            raise RetryLater("the author is at work", error_class="busy", delay_ms=_BUSY_MS)
        shown = [
            KnownMemory(
                f"K{place}", memory.seq, kind_named(memory), memory.state.content, memory.author is Origin.HUMAN
            )
            for place, memory in enumerate(known, 1)
        ]
        answer = self._author.review(project, shown, context.check)
        return Done({"operations": len(answer.operations)}, lambda: self.apply(project, answer))

    def apply(self, project: str, answer: AuthorAnswer) -> str | None:
        """Do it in one delta; its name, or None if nothing was to be done."""
        self._log.count(answer)
        known = {memory.seq: memory for memory in self._known(project)}
        surer = [memory for memory in known.values() if _surer(memory) > memory.state.confidence]
        if not answer.operations and not surer:
            return None
        with self._db.transaction():
            delta = self._history.open_delta(_subject(project), CAUSE, WriteContext(ACTOR))
            by = WriteContext(ACTOR, delta=delta.id)
            for memory in surer:
                known[memory.seq] = self._write(memory, replace(memory.state, confidence=_surer(memory)), by)
            for operation in answer.operations:
                self._do(project, operation, known, by)
            return delta.id

    def _known(self, project: str) -> list[Memory]:
        """What holds in the project, oldest first."""
        wanted = Filter(_OBSERVATIONS, project=project, facets=LASTING)
        return list(self._memories.page(wanted, PageRequest(limit=MOST)).items)[::-1]

    def _do(self, project: str, said: Operation, known: dict[int, Memory], by: WriteContext) -> None:
        by = replace(by, note=stored_line(said.reason))
        if said.op is OperationKind.ADD:
            self._add(project, said, by)
            return
        keep = known.get(said.target or 0)
        dropped = [memory for seq in said.dropped if (memory := known.get(seq)) is not None]
        if keep is None or keep.state.status not in VISIBLE:
            return
        kept = self._memories.kept(dropped, by)
        going = [
            each for each in dropped if each.state.status in VISIBLE and _may_go(each, keep) and each.seq not in kept
        ]
        if not going:
            return
        state = keep.state
        if said.text and keep.author is not Origin.HUMAN:
            state = replace(state, content=redaction.redact(said.text), title=stored_line(said.title))
        links = tuple(dict.fromkeys((*state.links, *((SUPERSEDES, each.seq) for each in going))))
        known[keep.seq] = self._write(keep, replace(state, links=links), by)
        for each in going:
            known[each.seq] = self._write(each, replace(each.state, status=Status.DEPRECATED), by)

    def _add(self, project: str, said: Operation, by: WriteContext) -> None:
        attrs = ObservationAttrs(concepts=(said.kind.value,), unproven=tuple(map(redaction.redact, said.unproven)))
        state = State(
            redaction.redact(said.text), attrs, project=project, type=TYPES[said.kind], title=stored_line(said.title),
            marks=PROPOSED if said.proposed else frozenset(),
        )  # fmt: skip
        self._memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.MODEL), by)

    def _write(self, memory: Memory, state: State, by: WriteContext) -> Memory:
        return self._memories.write(memory, state, Op.UPDATE, by)


def kind_named(memory: Memory) -> str:
    """The kind of a lasting memory, as an author is told it."""
    attrs = memory.state.attrs
    concepts = attrs.concepts if isinstance(attrs, ObservationAttrs) else ()
    return next((each for each in concepts if each in set(LastingKind)), memory.state.type)


def _may_go(memory: Memory, keep: Memory) -> bool:
    """Whether it may be dropped for that one: a person's words only for a person's."""
    return memory.seq != keep.seq and (memory.author is not Origin.HUMAN or keep.author is Origin.HUMAN)


def _surer(memory: Memory) -> float:
    """How sure a memory is that was confirmed so often."""
    if memory.counters.valid < _CONFIRMED:
        return memory.state.confidence
    return max(memory.state.confidence, min(_SURE, 0.5 + _STEP * memory.counters.valid))


def _subject(project: str) -> str:
    return f"project:{project}"
