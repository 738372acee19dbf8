"""What somebody who watches the lab asks: is a worker at work, what waits, what was put right at the start."""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.domain.ids import Clock
from codexmem.domain.job import JobStatus
from codexmem.domain.lab import BatchStatus, RunStatus
from codexmem.services.lab.reconciling import Reconciling
from codexmem.store import depth
from codexmem.store.database import Database
from codexmem.store.lab_runs import Runs

LEARN = "lab.learn"  # the kind of job that learns from a run


@dataclass(frozen=True, slots=True)
class Watch:
    """Whether a worker of this process works."""

    enabled: bool
    running: bool
    poll_interval_s: float  # at most so long until it looks, if a wake-up was lost


@dataclass(frozen=True, slots=True)
class View:
    """One look."""

    at_ms: int
    worker: Watch
    runs: dict[RunStatus, int]
    batches: dict[BatchStatus, int]
    learning: dict[JobStatus, int]
    reconciled: int


class System:
    """Looks when asked; each status is counted up to a limit, so a look costs no more as the lab grows."""

    def __init__(
        self, db: Database, runs: Runs, reconciling: Reconciling, clock: Clock, watch: Callable[[], Watch]
    ) -> None:
        self._db = db
        self._runs = runs
        self._reconciling = reconciling
        self._clock = clock
        self._watch = watch

    def view(self) -> View:
        """How it stands."""
        runs, batches = self._runs.counts()
        learning = depth.by_status(self._db, LEARN)
        return View(self._clock.now_ms(), self._watch(), runs, batches, learning, self._reconciling.reconciled)
