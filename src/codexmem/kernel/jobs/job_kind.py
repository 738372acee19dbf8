"""What a kind of job asks of its worker: a plain function from job to outcome.

Slow work (a model call, a file) happens in the function, outside any transaction; what it changes in the store goes
into the outcome's `effect`, which commits together with the end of the job. A job may run more than once, its effect
happens once.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from codexmem.kernel.model import ids
from codexmem.kernel.model.job import Canceled, Job, JobStatus

DEFAULT_TIMEOUT_S = 600.0


class Interrupted(Exception):
    """The worker no longer wants this run to finish; the job itself goes on elsewhere or later."""


class Stopped(Interrupted):
    """The worker is shutting down."""


class Lost(Interrupted):
    """The lease ran out and the job is someone else's."""


class Overdue(Interrupted):
    """The run has taken longer than its kind may."""


@dataclass(frozen=True, slots=True)
class Done:
    """A job has succeeded."""

    result: Mapping[str, object] = field(default_factory=dict)
    effect: Callable[[], object] | None = None  # runs inside the transaction that ends the job; short, store only


class JobContext:
    """What a running job may ask about itself; every call may come from any thread."""

    def __init__(self, job: Job, timeout_s: float) -> None:
        self.job = job
        self.deadline = ids.monotonic() + timeout_s
        self._interrupted = threading.Event()
        self._reason: type[Exception] | None = None

    def check(self) -> None:
        """Raise if the job should stop here: canceled, lost, overdue, or the worker is shutting down."""
        if self._reason is None and ids.monotonic() > self.deadline:
            self.interrupt(Overdue)
        if self._reason is not None:
            raise self._reason(f"job {self.job.id}: {self._reason.__name__.lower()}")

    def wait(self, seconds: float) -> None:
        """Sleep, but not through an interruption: that raises at once."""
        self._interrupted.wait(max(0.0, min(seconds, self.deadline - ids.monotonic())))
        self.check()

    @property
    def reason(self) -> type[Exception] | None:
        """Why the job should stop, if it should."""
        return self._reason

    def interrupt(self, reason: type[Exception]) -> None:
        """Ask the run to stop; the first reason counts, but a lost job is lost whatever else was asked."""
        if self._reason is None or reason is Lost:
            self._reason = reason
        self._interrupted.set()

    @property
    def canceled(self) -> bool:
        """Whether someone asked for the job itself to stop."""
        return self._reason is Canceled


@dataclass(frozen=True, slots=True)
class JobKind:
    """How jobs of one kind are run."""

    run: Callable[[Job, JobContext], Done]
    timeout_s: float = DEFAULT_TIMEOUT_S  # after this the lease is no longer renewed and another worker may take over
    # Told, inside the transaction that does it, when a job goes back to the queue, fails or is canceled, and why: what
    # the job was about stands right in the same moment. It runs in any worker, after the job's own row was written.
    moved: Callable[[Job, JobStatus, str], object] | None = None
    # For whom it runs, entered around it and its effect: by default for nobody, who sees nothing private.
    acting: Callable[[Job], AbstractContextManager[object]] = lambda _: nullcontext()


JobKinds = Mapping[str, JobKind]
