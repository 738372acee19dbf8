"""What the operator's paths answer, for the interface description; the routes build their answers by `wire_ops` alone.

Everything that is always there is named. Tests hold real answers against these.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


def described(model: type[BaseModel], status: int = 200) -> dict[int | str, dict[str, Any]]:
    """For a route's `responses`: what it answers."""
    return {status: {"model": model}}


class Answer(BaseModel):
    """An answer: exactly these fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(Answer):
    """A line of the log: the same in lists, exports and live events."""

    id: int
    at: str
    atEpoch: int  # noqa: N815  the contract's spelling, here and below


class Trace(Row):
    """One search."""

    query: str
    project: str
    mode: str
    recipe: str
    results: int
    durationMs: float  # noqa: N815
    vectorSource: str | None  # noqa: N815
    vectorHits: int  # noqa: N815
    sources: dict[str, int]
    timings: dict[str, float]
    notes: list[str]


class Timing(Row):
    """One extraction."""

    sessionDbId: int | None  # noqa: N815
    project: str
    messageType: str  # noqa: N815
    success: bool
    events: int
    queueWaitMs: float  # noqa: N815
    modelMs: float  # noqa: N815
    indexMs: float  # noqa: N815
    totalMs: float  # noqa: N815


class Failure(Row):
    """One job that failed for good, or one call of a model."""

    jobId: int | None  # noqa: N815
    kind: str
    sessionDbId: int | None  # noqa: N815
    messageType: str | None  # noqa: N815
    attempts: int
    errorClass: str  # noqa: N815
    error: str
    fallback: str | None = Field(description="who did the work although the model failed: rules")


class Looked(Answer):
    """How far a list looked."""

    scanned: int
    truncated: bool = Field(description="older ones were not looked at, because it had been enough")


class TracesAnswer(Looked):
    """`GET /api/ops/search-traces`."""

    traces: list[Trace]
    count: int
    averageMs: float | None  # noqa: N815
    byMode: dict[str, int]  # noqa: N815


class Averages(Answer):
    """Over the rows that are shown; of nothing, null."""

    queueWaitMs: float | None  # noqa: N815
    modelMs: float | None  # noqa: N815
    indexMs: float | None  # noqa: N815
    totalMs: float | None  # noqa: N815


class TimingsAnswer(Looked):
    """`GET /api/ops/session-timings`."""

    timings: list[Timing]
    count: int
    succeeded: int
    failed: int
    averages: Averages


class FailuresAnswer(Looked):
    """`GET /api/ops/failure-summary`."""

    total: int
    byErrorClass: dict[str, int]  # noqa: N815
    failures: list[Failure]


class Bucket(Answer):
    """One stretch of time."""

    at: str
    atEpoch: int  # noqa: N815
    searchCount: int  # noqa: N815
    avgSearchMs: float | None  # noqa: N815
    queueCount: int  # noqa: N815
    avgQueueTotalMs: float | None  # noqa: N815
    failureCount: int  # noqa: N815


class TrendsAnswer(Answer):
    """`GET /api/ops/trends`."""

    windowSec: int  # noqa: N815
    bucketSec: int  # noqa: N815
    from_: str = Field(alias="from")
    to: str
    truncated: bool
    buckets: list[Bucket]


class OwnIndex(Answer):
    """The vectors in the store's own engine."""

    used: bool
    engine: str
    embeddings: int | None


class OutsideIndex(Answer):
    """The vectors in a Chroma server."""

    configured: bool
    reachable: bool | None
    embeddings: int | None
    error: str | None


class IndexStatus(Answer):
    """`GET /api/ops/index-status`."""

    mode: str
    model: str | None
    dimension: int | None
    sqlite: OwnIndex
    chroma: OutsideIndex
    waiting: int
    complete: bool
    formerModels: list[str]  # noqa: N815
    notes: list[str]


class Outcomes(Answer):
    """How the model's answers were."""

    success: int
    parse_fail: int
    schema_fail: int
    repair_fail: int
    fallback_used: int


class AgentMetrics(Answer):
    """`GET /api/ops/agent-metrics`."""

    observation: Outcomes
    summary: Outcomes


class AgentMetricsReset(AgentMetrics):
    """`POST /api/ops/agent-metrics/reset`."""

    success: bool


class RetriedAnswer(Answer):
    """`POST /api/ops/retry-failed`."""

    success: bool
    retried: int
    more: bool = Field(description="time was up before all had their turn; ask again")


class BackfilledAnswer(Answer):
    """`POST /api/ops/backfill/chroma`."""

    success: bool
    observations: int
    summaries: int
    prompts: int
    skipped: bool
    reason: str | None = None
    next: str | None = Field(description="send it back as `after` to go on")
