"""Chores that come round: letting the log and captured events fade, forgetting old receipts and finished jobs.

Each chore is a job of its tenant that enqueues the next one when it has run, and whoever notices a tenant enqueues the
first. Two of them at once would do no harm; the dedupe key keeps them from piling up.
"""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Job, NewJob

FADE_EVENTS = "events.fade"
PRUNE_RECEIPTS = "receipts.prune"
PRUNE_JOBS = "jobs.prune"
FADE_CAPTURES = "captures.fade"
CHORES = (FADE_EVENTS, PRUNE_RECEIPTS, PRUNE_JOBS, FADE_CAPTURES)

PERIOD_MS = 6 * 3_600_000
FINISHED_JOBS_KEPT_MS = 7 * 86_400_000
_STEP = 500
_STEPS = 200
_LAST = -9  # behind everything that somebody waits for


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """The chores of every tenant; jobs run them inside the tenant they belong to."""

    queue: Queue
    clock: Clock
    fade: Callable[[], int]
    forget_receipts: Callable[[int], int]  # at most so many; returns how many went
    blank_captures: Callable[[int], int]  # likewise

    def begin(self) -> None:
        """Make sure that the acting tenant's chores come round; costs nothing if they already do."""
        for kind in CHORES:
            self.queue.enqueue(self._next(kind, delay_ms=0))

    def fade_events(self, job: Job, context: JobContext) -> Done:
        """Remove events that are past their time."""
        return self._done(job, self.fade())

    def prune_receipts(self, job: Job, context: JobContext) -> Done:
        """Remove receipts that nobody may still ask for."""
        return self._done(job, _repeated(lambda: self.forget_receipts(_STEP), context))

    def fade_captures(self, job: Job, context: JobContext) -> Done:
        """Blank captured events that are past their time; what came of them stays."""
        return self._done(job, _repeated(lambda: self.blank_captures(_STEP), context))

    def prune_jobs(self, job: Job, context: JobContext) -> Done:
        """Remove jobs that ended well long ago."""
        before = self.clock.now_ms() - FINISHED_JOBS_KEPT_MS
        return self._done(job, _repeated(lambda: self.queue.prune(ended_before_ms=before, limit=_STEP), context))

    def _done(self, job: Job, removed: int) -> Done:
        def enqueue_next() -> None:
            self.queue.enqueue(self._next(job.kind, delay_ms=PERIOD_MS))

        return Done({"removed": removed}, enqueue_next)

    def _next(self, kind: str, *, delay_ms: int) -> NewJob:
        # Named after the round it belongs to: the job that runs now must not stand in the way of the next one.
        turn = (self.clock.now_ms() + delay_ms) // PERIOD_MS
        return NewJob(kind, {}, subject="store", dedupe_key=f"{kind}:{turn}", priority=_LAST, delay_ms=delay_ms)


def _repeated(step: Callable[[], int], context: JobContext) -> int:
    removed = 0
    for _ in range(_STEPS):
        context.check()
        gone = step()
        removed += gone
        if gone < _STEP:
            break
    return removed
