"""The lab: n runs of one request, what each may become, and what they leave behind.

A batch asks for n runs. A run moves queued → running → completed | failed | canceled, and back to queued when its
worker is gone; nothing leaves an end. A batch ends with its last run. Once a cancel has been accepted, what has not
ended yet ends as canceled, whatever else happens to it.

What a person says about a run, and the products that were measured.

A product is never removed, only archived: feedback that names it stays readable. How much of the whole a product made
up is worked out once, when the feedback is saved, and kept, so that it means the same for ever.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from codexmem.kernel.model.errors import InvalidArgument

MAX_REQUEST = 20_000  # characters of a request
SEARCHED_REQUEST = 2_000  # characters of it, from its beginning, that `q` is looked for in
MAX_RUNS = 1_000
MAX_RECIPES = 50
MAX_TEMPERATURE = 2.0
MAX_REASON = 500
DEFAULT_REASON = "user_cancel"
MAX_ERROR = 2_000
LIBRARY_EMPTY = "library_empty"  # of a run, under `extra`: it had no document to search
MAX_EXTRA_CHARS = 16_384
MAX_EXTRA_DEPTH = 8
SCHEMA_VERSION = 1


class RunStatus(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"  # it has an output
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self in ENDED


class BatchStatus(StrEnum):
    """Where a batch stands."""

    QUEUED = "queued"  # none of its runs has begun
    RUNNING = "running"
    COMPLETED = "completed"  # every run has completed
    FAILED = "failed"  # ended, and a run failed although nobody canceled the batch
    CANCELED = "canceled"  # ended, and was canceled, or a run of it was and none failed

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self not in {BatchStatus.QUEUED, BatchStatus.RUNNING}


ENDED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELED})
# Every legal move; the store writes each as an UPDATE that names where it comes from.
MOVES: Mapping[RunStatus, frozenset[RunStatus]] = {
    RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.CANCELED, RunStatus.FAILED}),
    RunStatus.RUNNING: frozenset({RunStatus.QUEUED, *ENDED}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELED: frozenset(),
}


def sources(target: RunStatus) -> tuple[RunStatus, ...]:
    """From where a run may get there, in the order of the enumeration."""
    return tuple(each for each in RunStatus if target in MOVES[each])


@dataclass(frozen=True, slots=True)
class Overrides:
    """What one batch may set otherwise than the configuration; an empty text sets nothing."""

    kb_principles_dir: str = ""
    kb_modulation_dir: str = ""
    llm_model: str = ""
    openai_api_base: str = ""


@dataclass(frozen=True, slots=True)
class BatchOrder:
    """A batch as somebody asks for it, already bounded."""

    user_request: str
    n_runs: int = 1
    recipes_per_run: int = 3
    temperature: float = 0.7
    dry_run: bool = False
    overrides: Overrides = Overrides()
    schema_version: int = SCHEMA_VERSION
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """n runs of one request."""

    id: str
    status: BatchStatus
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    user_request: str
    n_runs: int
    recipes_per_run: int
    temperature: float
    dry_run: bool
    config_snapshot: dict[str, object]
    error: str | None
    cancel_id: str | None
    cancel_reason: str | None
    completed_runs: int
    failed_runs: int
    canceled_runs: int
    schema_version: int
    extra: dict[str, object]

    @property
    def ended_runs(self) -> int:
        """How many of its runs have ended."""
        return self.completed_runs + self.failed_runs + self.canceled_runs


@dataclass(frozen=True, slots=True)
class Run:
    """One execution; its output is read apart."""

    id: str
    batch_id: str
    run_index: int  # from 1
    status: RunStatus
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    error: str | None
    final_event_id: str | None
    cancel_id: str | None
    cancel_reason: str | None
    job_id: int | None
    steps: int  # in its journal
    schema_version: int
    extra: dict[str, object]

    @property
    def subject(self) -> str:
        """What its events and jobs are about."""
        return run_subject(self.id)


@dataclass(frozen=True, slots=True)
class RunTask:
    """What an agent is asked to do in one run."""

    run: Run
    user_request: str
    recipes_per_run: int
    temperature: float
    dry_run: bool
    config: dict[str, object]  # the batch's config_snapshot: model, knowledge folders, profile; no secrets


@dataclass(frozen=True, slots=True)
class RunOutput:
    """What an agent answers."""

    recipes_json: dict[str, object]
    citations: dict[str, str] = field(default_factory=dict)  # alias → reference
    memory_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As it is kept and traced."""
        return {
            "recipes_json": self.recipes_json,
            "citations": dict(self.citations),
            "memory_ids": list(self.memory_ids),
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of the knowledge base that a run was shown; its alias means the same piece for the whole run."""

    alias: str  # C1, C2, …
    ref: str  # kb:<namespace>__<chunk id>
    source: str
    content: str
    kb_namespace: str
    chunk_id: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """An item of the ReasoningBank as a run sees it."""

    id: str
    role: str
    type: str
    status: str
    content: str
    source_run_id: str | None
    created_ms: int
    updated_ms: int


def run_subject(run_id: str) -> str:
    """What events and jobs of a run are about."""
    return f"run:{run_id}"


def ending(*, n_runs: int, completed: int, failed: int, canceled: bool) -> BatchStatus:
    """How a batch ends whose runs have all ended; `canceled` says that the batch itself was."""
    if canceled:
        return BatchStatus.CANCELED
    if failed:
        return BatchStatus.FAILED
    return BatchStatus.COMPLETED if completed == n_runs else BatchStatus.CANCELED


def kept_extra(value: dict[str, object]) -> dict[str, object]:
    """An `extra` object as a resource may keep it: bounded in depth and size, or InvalidArgument."""
    size, waiting = 0, [(value, 1)]
    while waiting:
        current: Any
        current, depth = waiting.pop()
        if depth > MAX_EXTRA_DEPTH:
            raise InvalidArgument(f"extra is nested more than {MAX_EXTRA_DEPTH} levels deep")
        for key, each in current.items() if isinstance(current, dict) else (("", item) for item in current):
            size += len(key) + (len(each) if isinstance(each, str) else 1)
            if isinstance(each, dict | list):
                waiting.append((each, depth + 1))  # type: ignore[arg-type]
        if size > MAX_EXTRA_CHARS:
            raise InvalidArgument(f"extra holds more than {MAX_EXTRA_CHARS} characters")
    return value


MAX_NAME = 200
MAX_MEASURED = 200  # products of one feedback, or of one preset
MAX_WORDS = 20_000  # characters of each of pros, cons and other
MAX_SCORE = 1_000_000.0  # either way; every laboratory has its own scale
MAX_VALUE = 1e300  # so that the sum of all of them is a number


class Shelved(StrEnum):
    """Whether a product or preset is offered."""

    ACTIVE = "active"
    ARCHIVED = "archived"  # no longer offered; what names it stays as it is


@dataclass(frozen=True, slots=True)
class Product:
    """Something that an experiment can yield."""

    id: str
    name: str
    status: Shelved
    created_ms: int
    updated_ms: int
    schema_version: int
    extra: dict[str, object]


@dataclass(frozen=True, slots=True)
class Preset:
    """Products that are measured together."""

    id: str
    name: str
    status: Shelved
    product_ids: tuple[str, ...]
    created_ms: int
    updated_ms: int
    schema_version: int
    extra: dict[str, object]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What is to be kept of a product or preset; None leaves a field as it is, or at its default."""

    name: str | None = None
    status: Shelved | None = None
    product_ids: tuple[str, ...] | None = None  # of a preset
    schema_version: int | None = None
    extra: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """How much of a product there was, in whatever unit the laboratory uses."""

    product_id: str
    value: float


@dataclass(frozen=True, slots=True)
class FeedbackInput:
    """Feedback as a person gives it."""

    score: float | None = None
    pros: str = ""
    cons: str = ""
    other: str = ""
    products: tuple[Measurement, ...] = ()
    schema_version: int = SCHEMA_VERSION
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Share:
    """One measured product of a feedback."""

    id: str
    product_id: str
    product_name: str
    product_status: Shelved
    value: float
    fraction: float


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said about a run; there is one at most."""

    id: str
    run_id: str
    score: float | None
    pros: str
    cons: str
    other: str
    products: tuple[Share, ...]
    created_ms: int
    updated_ms: int
    schema_version: int
    extra: dict[str, object]


def fractions(values: Sequence[float]) -> list[float]:
    """The part of the whole that each value is; all 0 where the whole is 0. Values are finite and not negative."""
    whole = math.fsum(values)
    return [value / whole if whole > 0 else 0.0 for value in values]
