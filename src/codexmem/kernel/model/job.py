"""Work for later: what a job is and how it may move.

queued → running → completed | failed | canceled. A job that fails with attempts left goes back to queued with a delay;
one whose worker vanished does so when its lease runs out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

BACKOFF_FIRST_MS = 1_000
BACKOFF_MAX_MS = 300_000
MAX_DELAY_MS = 86_400_000  # the longest a server's own "retry after" is believed
MAX_LEASE_MS = 600_000  # a lease that ends later than this was given by a clock that has since been set back
MAX_LOSSES = 3  # workers that one job may take down in a row before it is kept away from them
PRIORITIES = range(-9, 10)  # few levels: a claim asks the index once per level
PATIENT = -5  # of jobs that take minutes: they wait for all others, and never take a worker's last thread

WORKER_LOST = "worker_lost"  # error class of a job whose worker vanished


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"  # out of attempts or beyond repair; visible and retryable
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job about to be enqueued."""

    kind: str
    payload: Mapping[str, object]
    subject: str | None = None  # what it is about, e.g. session:12
    lane: str | None = None  # jobs of one lane run one at a time, in order
    dedupe_key: str | None = None  # at most one waiting or running job has it
    priority: int = 0  # higher first
    max_attempts: int = 5
    delay_ms: int = 0
    place_ms: int | None = None  # its place among those of its priority, if not that of its arrival; in the past


@dataclass(frozen=True, slots=True)
class Job:
    """A job as stored."""

    tenant: str
    id: int
    kind: str
    status: JobStatus
    payload: dict[str, Any]
    result: dict[str, Any] | None
    subject: str | None
    lane: str | None
    dedupe_key: str | None
    priority: int
    attempts: int
    max_attempts: int
    run_at_ms: int  # not before; the order within one priority
    lease_until_ms: int | None
    worker: str | None
    cancel_requested: bool
    error: str | None
    error_class: str | None
    created_ms: int
    started_ms: int | None
    ended_ms: int | None


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How much work of one tenant waits and runs, and how many of its jobs have failed, counted up to a limit."""

    queued: int
    running: int
    failed: int


def backoff_ms(attempts: int, jitter: float) -> int:
    """How long to wait after this many attempts: doubling, capped, spread by a jitter in [0, 1)."""
    delay: int = min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS << min(attempts - 1, 20))
    return int(delay * (0.5 + jitter / 2))


def is_hopeless(job: Job) -> bool:
    """Whether a job that has just lost its worker must not have another: out of attempts, or a likely killer."""
    return job.attempts >= job.max_attempts or (job.error_class == WORKER_LOST and job.attempts >= MAX_LOSSES)


class RetryLater(Exception):
    """A handler cannot finish now; the job goes back to the queue while it has attempts left."""

    def __init__(self, message: str, *, error_class: str = "transient", delay_ms: int | None = None) -> None:
        super().__init__(message)
        self.error_class = error_class
        self.delay_ms = delay_ms  # None: the usual backoff


class GiveUp(Exception):
    """A handler cannot ever finish this job; it fails at once, whatever attempts are left."""

    def __init__(self, message: str, *, error_class: str = "unrecoverable") -> None:
        super().__init__(message)
        self.error_class = error_class


class Canceled(Exception):
    """Someone asked for this job to stop."""
