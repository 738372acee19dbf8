"""What somebody who watches the lab asks: is a worker at work, what waits, what was put right at the start."""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.store import depth
from codexmem.kernel.store.database import Database
from codexmem.lab.model import BatchStatus, RunStatus
from codexmem.lab.service.reconciling import Reconciling
from codexmem.lab.store.runs import RunTable

LEARN = "lab.learn"  # the kind of job that learns from a run


@dataclass(frozen=True, slots=True)
class Watch:
    """Whether a worker of this process works."""

    enabled: bool
    running: bool
    poll_interval_s: float  # at most so long until it looks, if a wake-up was lost


@dataclass(frozen=True, slots=True)
class SystemView:
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
        self, db: Database, runs: RunTable, reconciling: Reconciling, clock: Clock, watch: Callable[[], Watch]
    ) -> None:
        self._db = db
        self._runs = runs
        self._reconciling = reconciling
        self._clock = clock
        self._watch = watch

    def view(self) -> SystemView:
        """How it stands."""
        runs, batches = self._runs.counts()
        learning = depth.by_status(self._db, LEARN)
        return SystemView(self._clock.now_ms(), self._watch(), runs, batches, learning, self._reconciling.reconciled)
