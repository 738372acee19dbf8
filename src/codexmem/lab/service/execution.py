"""How a run moves, and its batch with it: each move with its event, in one transaction.

Moves are conditional, so a run ends once, and its last event is written once, whoever else tries at the same moment.
Once a cancel has been accepted a run cannot end otherwise.

Executing runs: the job that hands a run to an agent and writes how it ended.

A run's own failure is an outcome of its job, not a failure of the queue: the job completes and the run has failed, with
a reason. What may pass (a model or a store that does not answer, a limit that is spent) lets the job be tried again,
and the journal goes on where it stopped. A worker that vanishes leaves job and run to the next one; after a few in a
row both fail.
"""

import traceback
from collections.abc import Callable, Mapping
from typing import Protocol

from codexmem.kernel.jobs.job_kind import Done, Interrupted, JobContext, Lost, Overdue
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.errors import CodexmemError, NotReady, RateLimited, StorageFull, Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Canceled, Job, JobStatus, RetryLater
from codexmem.kernel.store.database import Database
from codexmem.lab.model import LIBRARY_EMPTY, MAX_ERROR, Batch, Run, RunOutput, RunStatus, RunTask, ending
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.trace import RunTrace
from codexmem.lab.store.runs import RunTable
from codexmem.lab.store.trace import Steps


class RunTransitions:
    """Moves the acting tenant's runs."""

    def __init__(self, db: Database, runs: RunTable, trace: RunTrace, queue: Queue, clock: Clock,
                 library_is_empty: Callable[[Mapping[str, object]], bool] = lambda _: False) -> None:  # fmt: skip
        self._db = db
        self._runs = runs
        self._trace = trace
        self._queue = queue
        self._clock = clock
        self._library_is_empty = library_is_empty  # by a batch's configuration

    def begin(self, run_id: str, holder: str) -> tuple[Run, Batch] | None:
        """Give a run to one attempt; None if there is nothing to execute any more."""
        batch_id = self._runs.batch_of(run_id)
        if batch_id is None:
            return None
        now_ms = self._clock.now_ms()
        with self._db.transaction():
            batch = self._runs.hold_batch(batch_id)
            before = self._runs.run(run_id)
            run = self._runs.begin(run_id, holder, now_ms=now_ms)
            if run is None or before is None:
                return None
            self._runs.begin_batch(batch_id, now_ms=now_ms)
            if before.started_ms is None:
                self._trace.append(run_id, (EventType.RUN_STARTED, _started(batch)))
            else:
                self._trace.append(run_id, (EventType.RUN_RESUMED, {"steps": run.steps}))
            return run, batch

    def complete(self, job: Job, run: Run, output: RunOutput) -> None:
        """The run has an output; raises Canceled or Lost if it may not have one any more."""
        answer: dict[str, object] = self._trace.masked(output.to_json())
        with self._db.transaction():
            self._hold(job)
            self._runs.hold_batch(run.batch_id)
            event_id = self._trace.append(run.id, (EventType.FINAL_OUTPUT, answer))[0]
            if not self._end(run.id, run.batch_id, RunStatus.COMPLETED, output=answer, event_id=event_id):
                raise Canceled(f"run {run.id} was canceled")

    def fail(self, job: Job, run: Run, error: str, traceback: str | None) -> None:
        """The run cannot be finished; the same."""
        with self._db.transaction():
            self._hold(job)
            if not self.failed(run.id, run.batch_id, error, traceback):
                raise Canceled(f"run {run.id} was canceled")

    def failed(self, run_id: str, batch_id: str, error: str, traceback: str | None = None) -> bool:
        """End a run as failed, whatever becomes of its job; False if it has ended or is to be canceled."""
        error = str(self._trace.masked(error))[:MAX_ERROR]
        with self._db.transaction():
            self._runs.hold_batch(batch_id)
            if not self._end(run_id, batch_id, RunStatus.FAILED, error=error):
                return False
            details = {"traceback": traceback} if traceback else {}
            self._trace.append(run_id, (EventType.RUN_FAILED, {"error": error, **details}))
            return True

    def canceled(self, run_id: str, batch_id: str) -> bool:
        """End a run for which a cancel was accepted; False if it has ended."""
        with self._db.transaction():
            self._runs.hold_batch(batch_id)
            if not self._end(run_id, batch_id, RunStatus.CANCELED):
                return False
            run = self._runs.run(run_id)
            reason = run.cancel_reason if run is not None else None
            self._trace.append(run_id, (EventType.RUN_CANCELED, {"reason": reason}))
            return True

    def settle(self, job: Job, status: JobStatus, why: str) -> None:
        """The job of a run went back to the queue, failed or was canceled: so does the run."""
        run = self._runs.run(str(job.payload.get("run_id", "")))
        if run is None or run.status.ended:
            return
        match status:
            case JobStatus.QUEUED:
                self._runs.requeue(run.id)
            case JobStatus.CANCELED:
                # Someone may have canceled the job itself, without a word about the run.
                self._runs.mark([run.id], cancel_id=run.cancel_id or "cancel_job", reason="its job was canceled")
                self.canceled(run.id, run.batch_id)
            case _:
                if not self.failed(run.id, run.batch_id, why or "its job failed"):
                    self.canceled(run.id, run.batch_id)

    def ended_together(self, batch_id: str, count: int) -> None:
        """So many runs of a batch that the caller holds were canceled at once."""
        if count:
            self._count(batch_id, RunStatus.CANCELED, count, None)

    def _hold(self, job: Job) -> None:
        # The job first, as everywhere: whoever took it from us has written there.
        if not self._queue.hold(job):
            raise Lost(f"job {job.id} is no longer ours")

    def _end(self, run_id: str, batch_id: str, target: RunStatus, *, error: str | None = None,
             output: Mapping[str, object] | None = None, event_id: str | None = None) -> bool:  # fmt: skip
        now_ms = self._clock.now_ms()
        extra = {LIBRARY_EMPTY: True} if self._had_no_library(batch_id, target) else None
        won = self._runs.end(run_id, target, now_ms=now_ms, error=error, output=output, event_id=event_id, extra=extra)
        if won:
            self._count(batch_id, target, 1, error)
        return won

    def _had_no_library(self, batch_id: str, target: RunStatus) -> bool:
        """Whether a run that comes to its end had nothing to cite; what is told of it says so from then on."""
        batch = self._runs.batch(batch_id) if target is not RunStatus.CANCELED else None
        return batch is not None and self._library_is_empty(batch.config_snapshot)

    def _count(self, batch_id: str, target: RunStatus, count: int, error: str | None) -> None:
        batch = self._runs.count_ended(batch_id, target, count, error=error)
        if batch.ended_runs >= batch.n_runs:
            status = ending(
                n_runs=batch.n_runs, completed=batch.completed_runs, failed=batch.failed_runs,
                canceled=batch.cancel_id is not None,
            )  # fmt: skip
            self._runs.end_batch(batch_id, status, now_ms=self._clock.now_ms())


def _started(batch: Batch) -> dict[str, object]:
    return {
        "mode": "dry_run" if batch.dry_run else "normal",
        "user_request": batch.user_request,
        "recipes_per_run": batch.recipes_per_run,
        "temperature": batch.temperature,
    }


TIMEOUT_S = 3_600.0  # of one attempt
_PASSING = (RetryLater, Unavailable, RateLimited, NotReady, StorageFull)


class RunAgent(Protocol):
    """What answers a request."""

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        """Do the task, step by step through the journal, calling its `check` often.

        Must be deterministic given the results of its steps: it is called again from the start after a crash, finds
        the steps that were done and does the others. Raises what `check` raises; RetryLater or Unavailable for what
        may pass; anything else fails the run with its text.
        """
        ...


class Unequipped:
    """Stands where no agent is configured, or cannot be: a run fails and says why."""

    def __init__(self, why: str = "no agent is configured") -> None:
        self._why = why

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        """There is nobody to ask."""
        raise NoAgentError(self._why, hint="see codexmem doctor")


class NoAgentError(CodexmemError):
    """Nobody can answer a request."""


class Execution:
    """Runs what is queued."""

    def __init__(self, db: Database, runs: RunTable, steps: Steps, trace: RunTrace, moves: RunTransitions, clock: Clock,
                 agent: RunAgent) -> None:  # fmt: skip
        self._db = db
        self._runs = runs
        self._steps = steps
        self._trace = trace
        self._moves = moves
        self._clock = clock
        self._agent = agent

    def run(self, job: Job, context: JobContext) -> Done:
        """Execute one run, or the rest of it."""
        context.check()
        holder = f"{job.worker}#{job.attempts}"
        begun = self._moves.begin(str(job.payload["run_id"]), holder)
        if begun is None:
            return Done({"status": "nothing to do"})
        run, batch = begun
        journal = Journal(
            run, holder, self._db, self._runs, self._steps, self._trace, self._clock, context.check
        )  # fmt: skip
        task = RunTask(
            run, batch.user_request, batch.recipes_per_run, batch.temperature, batch.dry_run, batch.config_snapshot
        )
        try:
            output = self._agent.answer(task, journal)
            context.check()
        except Overdue:
            why = f"it took longer than {TIMEOUT_S / 60:g} minutes"
            return Done({"status": "failed"}, lambda: self._moves.fail(job, run, why, None))
        except (Canceled, Interrupted, *_PASSING):
            raise
        except Exception as error:
            why, where = describe(error), None if isinstance(error, CodexmemError) else traceback.format_exc()
            return Done({"status": "failed"}, lambda: self._moves.fail(job, run, why, where))
        return Done({"status": "completed"}, lambda: self._moves.complete(job, run, output))


def describe(error: Exception) -> str:
    """One line for people."""
    text = str(error) if isinstance(error, CodexmemError) else f"{type(error).__name__}: {error}"
    return text.removesuffix(": ")
