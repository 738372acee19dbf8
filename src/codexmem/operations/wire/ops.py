"""What the operator's paths answer (contract 000 §3.5).

A row is the same in a list, in an export and in a live event, so that what was seen in one can be found in another.
"""

from collections import Counter
from collections.abc import Mapping
from statistics import fmean
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field

from codexmem.http.moments import iso
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.wire import Figure, WireAnswer, required_first
from codexmem.operations.service.entries import FailureEntry, SearchTrace, SessionTiming
from codexmem.operations.service.reports import FailureSummary, ReportPage, Trend, TrendBucket
from codexmem.operations.service.upkeep import IndexState, NotSent, ResentVectors, Retried
from codexmem.operations.wire.requests import TrendsRequest, spelled

_Truncated = Annotated[bool, Field(description="older ones were not looked at, because it had been enough")]


_SCANNED_FIRST = ConfigDict(json_schema_extra=required_first("scanned", "truncated"))


class OpsAnswer(WireAnswer):
    """An answer: exactly these fields."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=spelled, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class LogRow(OpsAnswer):
    """A line of the log: the same in lists, exports and live events."""

    id: int
    at: str
    at_epoch: int

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names of all fields, as they are answered."""
        return tuple(map(spelled, cls.model_fields))


class Trace(LogRow):
    """One search."""

    query: str
    project: str
    mode: str
    recipe: str
    results: int
    duration_ms: Figure
    vector_source: str | None
    vector_hits: int
    sources: dict[str, int]
    timings: dict[str, Figure]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, row: SearchTrace, **more: Any) -> Self:
        """A search, with the further fields of a larger document."""
        return cls(
            id=row.seq,
            at=iso(row.at_ms),
            at_epoch=row.at_ms,
            query=row.query,
            project=row.project,
            mode=row.mode,
            recipe=row.recipe,
            results=row.results,
            duration_ms=row.total_ms,
            vector_source="+".join(sorted(row.vectors)) or None,
            vector_hits=sum(row.vectors.values()),
            sources=row.sources,
            timings=row.timings_ms,
            notes=row.notes,
            **more,
        )


class Timing(LogRow):
    """One extraction."""

    session_db_id: int | None
    project: str
    message_type: str
    success: bool
    events: int
    queue_wait_ms: Figure
    model_ms: Figure
    index_ms: Figure
    total_ms: Figure

    @classmethod
    def of(cls, row: SessionTiming) -> Self:
        """How long it took."""
        return cls(
            id=row.seq,
            at=iso(row.at_ms),
            at_epoch=row.at_ms,
            session_db_id=row.session,
            project=row.project,
            message_type=row.message_type,
            success=row.success,
            events=row.events,
            queue_wait_ms=row.queue_wait_ms,
            model_ms=row.model_ms,
            index_ms=row.index_ms,
            total_ms=row.total_ms,
        )


class Failure(LogRow):
    """One job that failed for good, or one call of a model."""

    job_id: int | None
    kind: str
    session_db_id: int | None
    message_type: str | None
    attempts: int
    error_class: str
    error: str
    fallback: str | None = Field(description="who did the work although the model failed: rules")

    @classmethod
    def of(cls, row: FailureEntry) -> Self:
        """What failed, and why."""
        return cls(
            id=row.seq,
            at=iso(row.at_ms),
            at_epoch=row.at_ms,
            job_id=row.job,
            kind=row.kind,
            session_db_id=row.session,
            message_type=row.message_type,
            attempts=row.attempts,
            error_class=row.error_class,
            error=row.error,
            fallback=row.fallback,
        )


class TracesAnswer(OpsAnswer):
    """`GET /api/ops/search-traces`."""

    model_config = _SCANNED_FIRST

    traces: tuple[Trace, ...]
    count: int
    average_ms: float | None
    by_mode: dict[str, int]
    scanned: int
    truncated: _Truncated

    @classmethod
    def of(cls, page: ReportPage[SearchTrace]) -> Self:
        """Searches, with averages over those that are shown."""
        rows = page.rows
        return cls(
            traces=tuple(map(Trace.of, rows)),
            count=len(rows),
            average_ms=_mean([row.total_ms for row in rows]),
            by_mode=Counter(row.mode for row in rows),
            scanned=page.scanned,
            truncated=page.truncated,
        )


class Averages(OpsAnswer):
    """Over the rows that are shown; of nothing, null."""

    queue_wait_ms: float | None
    model_ms: float | None
    index_ms: float | None
    total_ms: float | None


class TimingsAnswer(OpsAnswer):
    """`GET /api/ops/session-timings`."""

    model_config = _SCANNED_FIRST

    timings: tuple[Timing, ...]
    count: int
    succeeded: int
    failed: int
    averages: Averages
    scanned: int
    truncated: _Truncated

    @classmethod
    def of(cls, page: ReportPage[SessionTiming]) -> Self:
        """Extractions, with averages over those that are shown."""
        rows = page.rows
        succeeded = sum(row.success for row in rows)
        return cls(
            timings=tuple(map(Timing.of, rows)),
            count=len(rows),
            succeeded=succeeded,
            failed=len(rows) - succeeded,
            averages=Averages(
                queue_wait_ms=_mean([row.queue_wait_ms for row in rows]),
                model_ms=_mean([row.model_ms for row in rows]),
                index_ms=_mean([row.index_ms for row in rows]),
                total_ms=_mean([row.total_ms for row in rows]),
            ),
            scanned=page.scanned,
            truncated=page.truncated,
        )


class FailuresAnswer(OpsAnswer):
    """`GET /api/ops/failure-summary`."""

    model_config = _SCANNED_FIRST

    total: int
    by_error_class: dict[str, int]
    failures: tuple[Failure, ...]
    scanned: int
    truncated: _Truncated

    @classmethod
    def of(cls, summary: FailureSummary) -> Self:
        """Failures by class, and the newest."""
        recent = summary.recent
        return cls(
            total=summary.total,
            by_error_class=summary.classes,
            failures=tuple(map(Failure.of, recent.rows)),
            scanned=recent.scanned,
            truncated=recent.truncated,
        )


class Bucket(OpsAnswer):
    """One stretch of time."""

    at: str
    at_epoch: int
    search_count: int
    avg_search_ms: float | None
    queue_count: int
    avg_queue_total_ms: float | None
    failure_count: int

    @classmethod
    def of(cls, bucket: TrendBucket) -> Self:
        """How busy it was; an average of nothing is null."""
        return cls(
            at=iso(bucket.from_ms),
            at_epoch=bucket.from_ms,
            search_count=bucket.searches,
            avg_search_ms=bucket.search_ms,
            queue_count=bucket.extractions,
            avg_queue_total_ms=bucket.extraction_ms,
            failure_count=bucket.failures,
        )


class TrendsAnswer(OpsAnswer):
    """`GET /api/ops/trends`."""

    window_sec: int
    bucket_sec: int
    from_: str
    to: str
    truncated: bool
    buckets: tuple[Bucket, ...]

    @classmethod
    def of(cls, asked: TrendsRequest, trend: Trend) -> Self:
        """The series, oldest first."""
        return cls(
            window_sec=asked.window_sec,
            bucket_sec=asked.bucket_sec,
            from_=iso(trend.from_ms),
            to=iso(trend.to_ms),
            truncated=trend.truncated,
            buckets=tuple(map(Bucket.of, trend.buckets)),
        )


class OwnIndex(OpsAnswer):
    """The vectors in the store's own engine."""

    used: bool
    engine: str
    embeddings: int | None


class OutsideIndex(OpsAnswer):
    """The vectors in a Chroma server."""

    configured: bool
    reachable: bool | None
    embeddings: int | None
    error: str | None


class IndexStatus(OpsAnswer):
    """`GET /api/ops/index-status`."""

    mode: str
    model: str | None
    dimension: int | None
    sqlite: OwnIndex
    chroma: OutsideIndex
    waiting: int
    complete: bool
    former_models: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, state: IndexState) -> Self:
        """`mode` is the configured backend; `sqlite` means the store's own index, on either engine."""
        status = state.status
        own = status.backend != "chroma"
        return cls(
            mode="sqlite" if status.backend == state.engine else status.backend,
            model=status.model,
            dimension=status.dimension,
            sqlite=OwnIndex(
                used=own, engine=state.engine, embeddings=status.indexed.get(state.engine) if own else None
            ),
            chroma=OutsideIndex(
                configured=state.outside,
                reachable=state.silence is None if state.outside else None,
                embeddings=status.indexed.get("chroma"),
                error=state.silence,
            ),
            waiting=status.waiting,
            complete=status.complete,
            former_models=tuple(status.former),
            notes=tuple(status.notes),
        )


class Outcomes(OpsAnswer):
    """How the model's answers were."""

    model_config = ConfigDict(alias_generator=None)

    success: int
    parse_fail: int
    schema_fail: int
    repair_fail: int
    fallback_used: int


class AgentMetrics(OpsAnswer):
    """`GET /api/ops/agent-metrics`."""

    observation: Outcomes
    summary: Outcomes

    @classmethod
    def of(cls, metrics: Mapping[str, Mapping[str, int]]) -> Self:
        """By what was asked of the model."""
        return cls(observation=Outcomes(**metrics["observation"]), summary=Outcomes(**metrics["summary"]))


class AgentMetricsReset(OpsAnswer):
    """`POST /api/ops/agent-metrics/reset`."""

    model_config = ConfigDict(json_schema_extra=required_first("observation", "summary"))

    success: bool
    observation: Outcomes
    summary: Outcomes


class RetriedAnswer(OpsAnswer):
    """`POST /api/ops/retry-failed`."""

    success: bool
    retried: int
    more: bool = Field(description="time was up before all had their turn; ask again")

    @classmethod
    def of(cls, outcome: Retried) -> Self:
        """What runs again."""
        return cls(success=True, retried=outcome.count, more=outcome.more)


class BackfilledAnswer(OpsAnswer):
    """`POST /api/ops/backfill/chroma`."""

    success: bool
    observations: int
    summaries: int
    prompts: int
    skipped: bool
    reason: str | None = None
    next: str | None = Field(description="send it back as `after` to go on")

    @classmethod
    def of(cls, outcome: ResentVectors | NotSent) -> Self:
        """What was sent; the reason is told only where nothing was."""
        counts = outcome.counts if isinstance(outcome, ResentVectors) else {}
        after = outcome.after if isinstance(outcome, ResentVectors) else None
        return cls(
            success=True,
            observations=counts.get(Kind.OBSERVATION, 0),
            summaries=counts.get(Kind.SUMMARY, 0),
            prompts=counts.get(Kind.PROMPT, 0),
            skipped=isinstance(outcome, NotSent),
            **({"reason": outcome.reason} if isinstance(outcome, NotSent) else {}),
            next=f"{after.created_ms}.{after.seq}" if after is not None else None,
        )


def _mean(values: list[float]) -> float | None:
    return round(fmean(values), 3) if values else None
