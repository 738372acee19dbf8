"""Everything of the lab on one open store, as routes and the composition root ask for it."""

import logging
from dataclasses import dataclass

from codexmem.kernel.jobs.job_kind import JobKind, JobKinds
from codexmem.kernel.jobs.worker import LOOK_S, Worker
from codexmem.lab.service import execution
from codexmem.lab.service.bank import Bank, LessonReader
from codexmem.lab.service.catalog import Catalog
from codexmem.lab.service.evidence import Evidences, Shelves
from codexmem.lab.service.execution import Execution, RunTransitions
from codexmem.lab.service.feedback import Judging
from codexmem.lab.service.learning import Learning
from codexmem.lab.service.learning import learning as learning_job
from codexmem.lab.service.learnings import Learnings, Rollbacks
from codexmem.lab.service.library import Library
from codexmem.lab.service.reconciling import LEARN, Reconciling, System, Watch
from codexmem.lab.service.runs import RUN, Runs
from codexmem.lab.service.trace import RunTrace

_log = logging.getLogger(__name__)

_STALE_MS = 30_000  # a dispatcher that has not looked for so long does not run


@dataclass(frozen=True, slots=True)
class DocumentLibrary:
    """Everything about documents."""

    library: Library
    evidence: Evidences
    shelves: Shelves


@dataclass(frozen=True, slots=True)
class ReasoningBank:
    """Everything about lessons."""

    bank: Bank
    reader: LessonReader
    learning: Learning
    rollbacks: Rollbacks
    learnings: Learnings

    def job_kinds(self) -> JobKinds:
        """The kind of job that learns."""
        return {LEARN: JobKind(self.learning.run, timeout_s=learning_job.TIMEOUT_S, moved=self.learning.settle)}


class Working:
    """Whether this process runs jobs; the worker is known only after everything that it calls."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def started(self, worker: Worker) -> None:
        """From now on jobs run here."""
        self._worker = worker

    def look(self) -> Watch:
        """How it stands."""
        running = self._worker is not None and self._worker.dispatch_age_ms() < _STALE_MS
        return Watch(self._worker is not None, running, LOOK_S)


@dataclass(frozen=True, slots=True)
class Lab:
    """Everything the lab's interface asks for, and the jobs it brings."""

    runs: Runs
    trace: RunTrace
    execution: Execution
    moves: RunTransitions
    reconciling: Reconciling
    system: System
    working: Working
    banking: ReasoningBank
    shelving: DocumentLibrary
    catalog: Catalog
    judging: Judging
    debug: dict[str, str] | None  # settings as they may be shown; None unless switched on

    def begin(self, *, alone: bool) -> None:
        """Put right what a crash left behind; what cannot be put right now does not keep the others from working.

        `alone` says that no other process can hold a job.
        """
        try:
            found = self.reconciling.begin(alone=alone)
        except Exception:
            _log.warning("runs could not be reconciled; the next start tries again", exc_info=True)
            return
        if found:
            _log.info("%d runs had lost their worker", found)

    def job_kinds(self) -> JobKinds:
        """The kinds of job of the lab."""
        running = JobKind(self.execution.run, timeout_s=execution.TIMEOUT_S, moved=self.moves.settle)
        return {RUN: running, **self.banking.job_kinds()}
