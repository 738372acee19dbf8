"""Executing runs: the job that hands a run to an agent and writes how it ended.

A run's own failure is an outcome of its job, not a failure of the queue: the job completes and the run has failed, with
a reason. What may pass (a model or a store that does not answer, a limit that is spent) lets the job be tried again,
and the journal goes on where it stopped. A worker that vanishes leaves job and run to the next one; after a few in a
row both fail.
"""

import traceback
from typing import Protocol

from codexmem.kernel.jobs.job_kind import Done, Interrupted, JobContext, Overdue
from codexmem.kernel.model.errors import CodexmemError, NotReady, RateLimited, StorageFull, Unavailable
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Canceled, Job, RetryLater
from codexmem.kernel.store.database import Database
from codexmem.lab.model import RunOutput, RunTask
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.moves import RunTransitions
from codexmem.lab.service.trace import RunTrace
from codexmem.lab.store.runs import RunTable
from codexmem.lab.store.steps import Steps

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
