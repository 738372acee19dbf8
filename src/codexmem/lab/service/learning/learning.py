"""Learning as a job: retrieve, extract, consolidate, and write it all as one delta.

Jobs of one run stand in one lane, so they never overlap, and feedback saved again while one waits is learned with it.
A dry run teaches nothing: nobody tried its placeholders. Everything slow happens outside a transaction; the delta, its
events and the end of the job are one transaction, so a job that runs twice writes once. Locks are taken in the order
lane, job, bank, run.
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace

from codexmem.kernel.jobs.job_kind import Done, Interrupted, JobContext, Lost
from codexmem.kernel.jobs.queue import Enqueued, Queue
from codexmem.kernel.llm.model import Trouble
from codexmem.kernel.model import privacy
from codexmem.kernel.model.errors import CodexmemError, Conflict
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Canceled, GiveUp, Job, JobStatus, NewJob, RetryLater
from codexmem.kernel.model.memory import MAX_TITLE, Memory
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.lab.lesson_extractor import ModelOpinion, RunMaterial, Teacher
from codexmem.lab.lesson_model import GLOBAL, LessonPlan, Proposal, is_a_persons, spelled_job
from codexmem.lab.model import MAX_ERROR, run_subject
from codexmem.lab.service.bank import KINDS, MAX_QUERY, SHOWN, Bank, LessonFilter
from codexmem.lab.service.learning import consolidating
from codexmem.lab.service.learning.consolidating import PlanWriter
from codexmem.lab.service.learning.sources import (
    POLICY,
    EvidenceOf,
    FeedbackOf,
    Snapshot,
    SnapshotBudget,
    Sources,
    feedback_text,
    take,
)
from codexmem.lab.service.reconciling import LEARN
from codexmem.lab.service.trace import Entry, RunTrace, no_run
from codexmem.lab.store.runs import RunTable

TIMEOUT_S = 300.0
ATTEMPTS = 10  # one whose lessons were changed meanwhile is decided on again
PATIENCE = 3  # attempts for which a model that may answer later is waited for, before rules answer
MAX_JOBS = 200
_OWN = 50  # lessons that one run taught
_NEAR = 6  # lessons looked at for each proposal
_KNOWN = 24  # lessons that one plan is decided on
_PASSING = frozenset({Trouble.TRANSIENT.value, Trouble.RATE_LIMIT.value})
DRY_RUN = "dry_run"  # why a learning wrote nothing


@dataclass(frozen=True, slots=True)
class QueuedLearning:
    """A learning that waits."""

    job_id: int
    run_id: str


@dataclass(frozen=True, slots=True)
class _Learned:
    """What is to be written, and how it came about."""

    plan: LessonPlan
    opinions: tuple[ModelOpinion, ...]
    since_ms: int


class Learning:
    """The acting tenant's learnings."""

    def __init__(
        self,
        db: Database,
        table: MemoryTable,
        memories: Memories,
        runs: RunTable,
        trace: RunTrace,
        queue: Queue,
        clock: Clock,
        bank: Bank,
        applying: PlanWriter,
        teacher: Teacher,
        feedback_of: FeedbackOf,
        *,
        evidence: EvidenceOf | None = None,
        roles: tuple[str, ...] = (),
        budget: SnapshotBudget | None = None,
        spent: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._db = db
        self._table = table
        self._memories = memories
        self._runs = runs
        self._trace = trace
        self._queue = queue
        self._clock = clock
        self._bank = bank
        self._applying = applying
        self._teacher = teacher
        self._feedback_of = feedback_of
        self._evidence = evidence
        self._roles = tuple(dict.fromkeys((GLOBAL, *roles)))
        self._budget = budget or SnapshotBudget()
        self._spent = spent

    def queue(self, run_id: str, *, reason: str = "manual") -> QueuedLearning:
        """Learn from a run later; one that waits already is the one. A run that has not ended is a Conflict.

        Inside a transaction, call it before the run's own row is changed: the lane comes first.
        """
        run = self._runs.run(run_id)
        if run is None:
            raise no_run(run_id)
        if not run.status.ended:
            raise Conflict(
                f"run {run_id[:80]} has not ended: it is {run.status.value}", hint="learn when it has ended",
                details={"status": run.status.value},
            )  # fmt: skip
        lane = lane_of(run_id)
        with self._db.transaction():
            self._table.hold(lane)
            waiting = next((job for job in self._queue.of_subject(lane, limit=5) if _waits(job)), None)
            if waiting is not None and self._queue.join(waiting.id):
                return QueuedLearning(waiting.id, run_id)
            job = NewJob(LEARN, {"run_id": run_id, "reason": reason}, subject=lane, lane=lane, max_attempts=ATTEMPTS)
            outcome = self._queue.enqueue(job)
            assert isinstance(outcome, Enqueued)  # it has no dedupe key
            told = {"rb_job_id": spelled_job(outcome.id), "kind": "learn", "status": "queued", "reason": reason}
            self._trace.append(run_id, (EventType.RB_LEARN_QUEUED, told))
            return QueuedLearning(outcome.id, run_id)

    def jobs(self, run_id: str, *, limit: int = 20) -> list[Job]:
        """The learnings of a run, newest first."""
        if self._runs.batch_of(run_id) is None:
            raise no_run(run_id)
        return self._queue.of_subject(lane_of(run_id), limit=min(limit, MAX_JOBS))

    def run(self, job: Job, context: JobContext) -> Done:
        """Learn from one run."""
        run_id = str(job.payload["run_id"])
        self._tell(job, run_id, (EventType.RB_JOB_STARTED, {"kind": "learn", "attempt": job.attempts}))
        try:
            return self._learn(job, context, run_id)
        except (Canceled, Interrupted, RetryLater):
            raise
        except Exception as error:
            where = None if isinstance(error, CodexmemError | GiveUp) else traceback.format_exc()
            told = {"error": _described(error), "traceback": where, "attempt": job.attempts}
            self._tell(job, run_id, (EventType.RB_LEARN_FAILED, told))
            raise

    def settle(self, job: Job, status: JobStatus, why: str) -> None:
        """The job of a learning has failed or was canceled: its run's trace says so, in the same transaction."""
        run_id = str(job.payload.get("run_id", ""))
        if status not in {JobStatus.FAILED, JobStatus.CANCELED} or self._runs.batch_of(run_id) is None:
            return
        error = str(self._trace.masked(why or "it was canceled"))[:MAX_ERROR]
        told: dict[str, object] = {"rb_job_id": spelled_job(job.id), "kind": "learn", "error": error}
        if missing := take(self._db, self._runs, self._feedback_of, self._clock, run_id).missing:
            told["missing"] = missing
        self._trace.append(run_id, (EventType.RB_JOB_FAILED, told))

    def _learn(self, job: Job, context: JobContext, run_id: str) -> Done:
        name = spelled_job(job.id)
        snapshot = take(self._db, self._runs, self._feedback_of, self._clock, run_id)
        told = {"snapshot": snapshot.to_json(), "budget": self._budget.to_json(), "policy": POLICY}
        self._tell(job, run_id, (EventType.RB_LEARN_SNAPSHOT, told))
        if snapshot.feedback is None:
            raise GiveUp(f"run {run_id} has no feedback to learn from", error_class="missing")
        dry = snapshot.batch.dry_run
        if dry:
            learned = _Learned(LessonPlan(), (), self._clock.now_ms())
        else:
            learned = self._plan(job, context, snapshot, Sources(name, self._budget, self._trace))
        reason = DRY_RUN if dry else None
        result: dict[str, object] = {}

        def effect() -> None:
            self._table.hold(job.lane or lane_of(run_id))
            if not self._queue.hold(job):
                raise Lost(f"job {job.id} is no longer ours")
            self._bank.hold()
            self._applying.require_current(learned.plan, learned.since_ms)
            delta, done = self._applying.write(learned.plan, run_id, run_subject(run_id))
            by = learned.opinions[0].by if learned.opinions else None
            result.update({"delta_id": delta.id, "n_ops": len(done), "by": by, "reason": reason})
            self._trace.append(
                run_id,
                (EventType.RB_LEARN_COMPLETED, {
                    "rb_job_id": name, "delta_id": delta.id, "n_ops": len(done), "dry_run": dry,
                    "reason": reason, "ops": done, "refused": [each.to_json() for each in learned.plan.refused],
                    "model": self._teacher.model, "opinions": [each.to_json() for each in learned.opinions],
                }),
                (EventType.RB_JOB_COMPLETED, {"rb_job_id": name, "kind": "learn", "delta_id": delta.id}),
            )  # fmt: skip

        return Done(result, effect)

    def _plan(self, job: Job, context: JobContext, snapshot: Snapshot, sources: Sources) -> _Learned:
        since_ms = self._clock.now_ms()
        run_id, judged = snapshot.run.id, snapshot.feedback
        assert judged is not None
        sources.read_run(snapshot, self._evidence, self._found)
        near, _ = self._bank.find(
            f"{snapshot.batch.user_request}\n{feedback_text(judged)}"[:MAX_QUERY],
            LessonFilter(),
            limit=self._budget.lessons,
        )
        shown = [text for memory in near if (text := sources.read_lesson(memory))]
        self._write_sources(job, run_id, sources)
        material = RunMaterial(
            snapshot.batch.user_request, snapshot.output, judged, tuple(sources.texts), tuple(shown), self._roles
        )
        proposals, extracted = self._teacher.propose(material, context.check)
        self._count(job, extracted)
        proposals = self._cleaned(proposals)
        known = self._known(run_id, proposals)
        sources.begin_comparing()
        beside = [(sources.read_lesson(memory), is_a_persons(memory)) for memory in known]
        self._write_sources(job, run_id, sources)
        if not proposals and extracted.by == "model":
            return _Learned(
                LessonPlan(), (extracted,), since_ms
            )  # "nothing to learn" is no reason to put anything away
        if not proposals or not known:
            return _Learned(consolidating.by_rules(proposals, known, run_id), (extracted,), since_ms)
        merging, merged = self._teacher.merge(proposals, beside, context.check)
        self._count(job, merged)
        plan = (
            consolidating.by_rules(proposals, known, run_id) if merging is None
            else consolidating.by_model(proposals, known, run_id, merging)
        )  # fmt: skip
        return _Learned(plan, (extracted, merged), since_ms)

    def _known(self, run_id: str, proposals: tuple[Proposal, ...]) -> list[Memory]:
        """The lessons that these proposals are compared with: what the run taught before, and the nearest."""
        own = self._memories.page(
            Filter(KINDS, statuses=SHOWN, facets=(("run", frozenset({run_id})),)), PageRequest(_OWN)
        ).items  # fmt: skip
        found = {memory.seq: memory for memory in own[:_KNOWN]}
        for proposal in proposals:
            near, _ = self._bank.find(f"{proposal.title}\n{proposal.content}"[:MAX_QUERY], LessonFilter(), limit=_NEAR)
            found.update((memory.seq, memory) for memory in near if len(found) < _KNOWN or memory.seq in found)
        return [found[seq] for seq in sorted(found)]

    def _cleaned(self, proposals: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
        """Without what a model or a person should not have let through."""

        def clean(text: str) -> str:
            return str(self._trace.masked(privacy.strip(text))).strip()

        kept = (replace(each, title=clean(each.title)[:MAX_TITLE], content=clean(each.content)) for each in proposals)
        return tuple(each for each in kept if each.content)

    def _count(self, job: Job, opinion: ModelOpinion) -> None:
        if tokens := opinion.prompt_tokens + opinion.completion_tokens:
            self._spent(tokens)
        if opinion.error_class in _PASSING and job.attempts < PATIENCE:
            raise RetryLater(f"the model does not answer: {opinion.error}", error_class=opinion.error_class)

    def _found(self, mem_id: str) -> Memory | None:
        try:
            return self._bank.get(mem_id)
        except CodexmemError:
            return None

    def _write_sources(self, job: Job, run_id: str, sources: Sources) -> None:
        if sources.events:
            self._tell(job, run_id, *sources.events)
            sources.events.clear()

    def _tell(self, job: Job, run_id: str, *entries: Entry) -> None:
        """Add to the run's trace, as long as the job is ours."""
        with self._db.transaction():
            if not self._queue.hold(job):
                raise Lost(f"job {job.id} is no longer ours")
            self._trace.append(
                run_id, *((each, {"rb_job_id": spelled_job(job.id), **payload}) for each, payload in entries)
            )


def lane_of(run_id: str) -> str:
    """In which the learnings of a run follow each other; also what its jobs are about."""
    return f"learn:{run_id}"


def _waits(job: Job) -> bool:
    return job.status is JobStatus.QUEUED and job.attempts == 0


def _described(error: Exception) -> str:
    text = str(error) if isinstance(error, CodexmemError | GiveUp) else f"{type(error).__name__}: {error}"
    return text.removesuffix(": ")[:MAX_ERROR]
