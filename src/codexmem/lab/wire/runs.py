"""Batches, runs, events and the lab's own state as contract 002 spells them."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from codexmem.kernel.model.event import Event
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.lab.model import (
    DEFAULT_REASON,
    LIBRARY_EMPTY,
    MAX_REASON,
    MAX_RECIPES,
    MAX_REQUEST,
    MAX_RUNS,
    MAX_TEMPERATURE,
    Batch,
    BatchOrder,
    BatchStatus,
    Overrides,
    Run,
    RunStatus,
)
from codexmem.lab.wire.fields import Document, EpochSeconds, Extra, LabPage, SchemaVersion, seconds

if TYPE_CHECKING:
    from codexmem.kernel.services.status import ServerHealth
    from codexmem.lab.service.reconciling import SystemView
    from codexmem.lab.service.runs import RunVerdict

_Text = Annotated[str, Field(max_length=1000)]


class OverridesRequest(BaseModel):
    """What a batch sets otherwise than the configuration; an empty text sets nothing."""

    model_config = ConfigDict(frozen=True)

    kb_principles_dir: _Text = ""
    kb_modulation_dir: _Text = ""
    llm_model: _Text = ""
    openai_api_base: _Text = ""


class BatchRequest(BaseModel):
    """`POST /batches`. Fields that are not known are ignored: a newer client may send more."""

    model_config = ConfigDict(frozen=True)

    user_request: Annotated[str, Field(min_length=1, max_length=MAX_REQUEST)]
    n_runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 1
    recipes_per_run: Annotated[int, Field(ge=1, le=MAX_RECIPES)] = 3
    temperature: Annotated[float, Field(ge=0, le=MAX_TEMPERATURE, allow_inf_nan=False)] = 0.7
    dry_run: bool = False
    overrides: OverridesRequest = OverridesRequest()
    schema_version: SchemaVersion = 1
    extra: Extra = {}

    @model_validator(mode="after")
    def _not_blank(self) -> Self:
        if not self.user_request.strip():
            raise ValueError("user_request must not be blank")
        return self

    def to_order(self) -> BatchOrder:
        """What is asked for."""
        return BatchOrder(
            self.user_request, self.n_runs, self.recipes_per_run, self.temperature, self.dry_run,
            Overrides(**self.overrides.model_dump()), self.schema_version, self.extra,
        )  # fmt: skip


class CancelRequest(BaseModel):
    """`POST …/cancel`."""

    model_config = ConfigDict(frozen=True)

    reason: Annotated[str, Field(max_length=MAX_REASON)] = DEFAULT_REASON


class EndedRuns(WireAnswer):
    """How many runs of a batch have ended, by how."""

    completed: int
    failed: int
    canceled: int

    @property
    def total(self) -> int:
        """However they ended."""
        return self.completed + self.failed + self.canceled


class RunsByStatus(WireAnswer):
    """Where all runs of a batch stand."""

    queued: int
    running: int
    completed: int
    failed: int
    canceled: int


class LabBatch(WireAnswer):
    """n runs of one request."""

    batch_id: str
    created_at: EpochSeconds
    started_at: EpochSeconds | None
    ended_at: EpochSeconds | None
    status: BatchStatus
    user_request: str
    n_runs: int
    recipes_per_run: int
    temperature: Figure
    dry_run: bool
    config_snapshot: Document
    error: str | None
    cancel_id: str | None
    cancel_reason: str | None
    ended_runs: EndedRuns
    runs_by_status: RunsByStatus  # beyond the contract
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, batch: Batch, running: int = 0) -> Self:
        """A batch of which so many runs are being executed."""
        completed, failed, canceled = batch.completed_runs, batch.failed_runs, batch.canceled_runs
        return cls(
            batch_id=batch.id,
            created_at=seconds(batch.created_ms),
            started_at=seconds(batch.started_ms),
            ended_at=seconds(batch.ended_ms),
            status=batch.status,
            user_request=batch.user_request,
            n_runs=batch.n_runs,
            recipes_per_run=batch.recipes_per_run,
            temperature=batch.temperature,
            dry_run=batch.dry_run,
            config_snapshot=batch.config_snapshot,
            error=batch.error,
            cancel_id=batch.cancel_id,
            cancel_reason=batch.cancel_reason,
            ended_runs=EndedRuns(completed=completed, failed=failed, canceled=canceled),
            runs_by_status=RunsByStatus(
                queued=max(0, batch.n_runs - batch.ended_runs - running),
                running=running,
                completed=completed,
                failed=failed,
                canceled=canceled,
            ),
            schema_version=batch.schema_version,
            extra=batch.extra,
        )


class RunScore(WireAnswer):
    """How a run was judged, in short."""

    score: Figure | None
    updated_at: EpochSeconds


class LabRun(WireAnswer):
    """One execution of a batch's request."""

    run_id: str
    batch_id: str
    run_index: int
    status: RunStatus
    created_at: EpochSeconds
    started_at: EpochSeconds | None
    ended_at: EpochSeconds | None
    error: str | None
    final_output_event_id: str | None
    cancel_id: str | None
    cancel_reason: str | None
    library_empty: bool = Field(description="it ended without a document to search, so it cites none")
    feedback: RunScore | None  # null until somebody judges it
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, run: Run, verdict: "RunVerdict | None" = None) -> Self:
        """A run, and how it was judged."""
        judged = RunScore(score=verdict.score, updated_at=seconds(verdict.updated_ms)) if verdict else None
        return cls(
            run_id=run.id,
            batch_id=run.batch_id,
            run_index=run.run_index,
            status=run.status,
            created_at=seconds(run.created_ms),
            started_at=seconds(run.started_ms),
            ended_at=seconds(run.ended_ms),
            error=run.error,
            final_output_event_id=run.final_event_id,
            cancel_id=run.cancel_id,
            cancel_reason=run.cancel_reason,
            library_empty=bool(run.extra.get(LIBRARY_EMPTY)),
            feedback=judged,
            schema_version=run.schema_version,
            extra={name: value for name, value in run.extra.items() if name != LIBRARY_EMPTY},
        )


class BatchCreated(WireAnswer):
    """A new batch with its runs."""

    batch: LabBatch
    runs: tuple[LabRun, ...]

    @classmethod
    def of(cls, batch: Batch, runs: Iterable[Run]) -> Self:
        """These."""
        return cls(batch=LabBatch.of(batch), runs=tuple(LabRun.of(run) for run in runs))


class OneBatch(WireAnswer):
    """`GET /batches/{batch_id}`."""

    batch: LabBatch


class OneRun(WireAnswer):
    """`GET /runs/{run_id}`."""

    run: LabRun


class OutputAnswer(WireAnswer):
    """What a run has answered."""

    recipes_json: Document
    citations: dict[str, str]
    memory_ids: tuple[str, ...]


class CancelRequested(WireAnswer):
    """That something is to be canceled."""

    cancel_id: str
    status: Literal["requested"]

    @classmethod
    def of(cls, cancel_id: str) -> Self:
        """By this cancel."""
        return cls(cancel_id=cancel_id, status="requested")


class LabEvent(WireAnswer):
    """One event of a run's trace: where it stands in the run, and how long it took; null where that means nothing or is
    not known."""

    event_id: str
    run_id: str
    created_at: EpochSeconds
    event_type: str
    payload: Document | None  # null where it was not asked for
    started_at: float = Field(description="when it began; as created_at where it does not say how long it took")
    duration_ms: Figure | None
    depth: int | None = Field(description="0: the run's own task; null: part of no task")
    task: str | None = Field(description="0: the run's own; 0.2.1: asked for by call 1 of reply 2 of task 0")
    parent_task: str | None
    agent: str | None
    label: str | None = Field(description="what it is about, in a line")
    failed: bool = Field(description="it tells of an error")

    @classmethod
    def of(cls, event: Event, run_id: str) -> Self:
        """An event of this run."""
        told, took_us = event.outline or {}, event.took_us
        task = told.get("task")
        return cls(
            event_id=event.id,
            run_id=run_id,
            created_at=seconds(event.at_ms),
            event_type=event.type,
            payload=event.payload,
            started_at=seconds(event.at_ms - (took_us or 0) // 1_000),
            duration_ms=took_us / 1_000 if took_us is not None else None,
            depth=told.get("depth"),
            task=task,
            # A task is named by the call that asked for it: task, reply, call.
            parent_task=task.rsplit(".", 2)[0] if task is not None and task.count(".") >= 2 else None,
            agent=told.get("agent"),
            label=told.get("label"),
            failed=told.get("failed", False),
        )


class EventsPage(LabPage[LabEvent]):
    """A page of a trace."""

    # Beyond the contract: where to go on later, also from the end of what there is, for one who follows a trace.
    tail_cursor: str | None


class LabWorker(WireAnswer):
    """Whether a worker works."""

    enabled: bool
    running: bool
    poll_interval_s: Figure


class LabQueue(WireAnswer):
    """What waits, and what came of the rest."""

    runs_by_status: dict[str, int]
    batches_by_status: dict[str, int]
    rb_jobs_by_status: dict[str, int]


class LabStartup(WireAnswer):
    """What was put right at the start."""

    reconciled_running_runs: int


class LabSystem(WireAnswer):
    """One look at the lab."""

    ts: EpochSeconds
    worker: LabWorker
    queue: LabQueue
    startup: LabStartup

    @classmethod
    def of(cls, view: "SystemView") -> Self:
        """This look."""
        worker = view.worker
        return cls(
            ts=seconds(view.at_ms),
            worker=LabWorker(enabled=worker.enabled, running=worker.running, poll_interval_s=worker.poll_interval_s),
            queue=LabQueue(
                runs_by_status=_by_name(view.runs),
                batches_by_status=_by_name(view.batches),
                rb_jobs_by_status=_by_name(view.learning),
            ),
            startup=LabStartup(reconciled_running_runs=view.reconciled),
        )


class LabDebug(WireAnswer):
    """The settings, as they may be shown, before one look at the lab."""

    settings: dict[str, str]
    ts: float
    worker: LabWorker
    queue: LabQueue
    startup: LabStartup

    @classmethod
    def of(cls, settings: Mapping[str, str], view: "SystemView") -> Self:
        """These."""
        look = LabSystem.of(view)
        return cls(settings=dict(settings), ts=look.ts, worker=look.worker, queue=look.queue, startup=look.startup)


class LabHealth(WireAnswer):
    """Whether the server is up, and its store open."""

    status: Literal["ok"]
    version: str
    initialized: bool

    @classmethod
    def of(cls, health: "ServerHealth") -> Self:
        """As it stands."""
        return cls(status="ok", version=health.version, initialized=health.initialized)


def _by_name(counts: Mapping[RunStatus, int] | Mapping[BatchStatus, int] | Mapping[JobStatus, int]) -> dict[str, int]:
    return {status.value: count for status, count in counts.items()}
