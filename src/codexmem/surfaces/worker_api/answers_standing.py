"""What the paths about the system, a search and backups answer, for the interface description."""

from typing import Literal

from pydantic import Field

from codexmem.surfaces.worker_api.answers_ops import AgentMetrics, Answer, IndexStatus, Trace


class Listed(Answer):
    """The place of a result in one list, from 1, and its score there."""

    rank: int | None = Field(description="null: this list did not have it")
    score: float


class Factor(Answer):
    """One signal's part of the sum that results are ordered by."""

    name: str
    group: Literal["lexical", "vector", "boost"]
    share: float


class RankedResult(Answer):
    """Why one result stands where it does; the fields about that are null in traces that do not tell it."""

    rank: int = Field(description="place in the answer, from 1")
    seq: int
    ref: str | None = Field(description="its name, as it is now")
    kind: str | None
    title: str | None
    gone: bool = Field(description="it was forgotten since")
    score: float = Field(description="probability of relevance, as the searcher saw it")
    sum: float | None = Field(description="what the order goes by: all factors together")
    rankBySum: int | None = Field(  # noqa: N815  the manner of these paths, here and below
        description="place by the sum alone, before near duplicates stepped behind and a reranker had its say"
    )
    lexical: Listed | None = Field(description="BM25 among what words found")
    vector: Listed | None = Field(description="cosine among all candidates; null where vectors took no part")
    rerank: float | None
    factors: list[Factor] = Field(description="the largest first")


class TraceAnswer(Trace):
    """`GET /api/ops/search-traces/{trace_id}`."""

    kinds: list[str]
    unit: str
    offset: int
    asOfEpoch: int | None  # noqa: N815
    explained: bool
    ranked: list[RankedResult]


class HealthAnswer(Answer):
    """`GET /api/health`."""

    status: Literal["ok"]
    version: str
    initialized: bool
    mcpReady: bool  # noqa: N815
    pid: int
    uptime: int = Field(description="milliseconds")


class ReadinessAnswer(Answer):
    """`GET /api/readiness`, with 200 or 503."""

    status: Literal["initializing", "ready", "stalled", "unavailable", "failed", "stopping"]
    reason: str | None = Field(default=None, description="why queued work or the store does not move")


class VersionAnswer(Answer):
    """`GET /api/version`."""

    version: str


class EngineState(Answer):
    """What the store stands on."""

    name: Literal["sqlite", "postgresql"]
    version: str
    schema_: str = Field(alias="schema")


class WorkerAnswer(Answer):
    """What runs jobs in this process."""

    enabled: bool
    running: bool
    pollIntervalSec: float  # noqa: N815
    runningJobs: int  # noqa: N815
    overdueJobs: int  # noqa: N815
    oldestWaitingMs: int | None  # noqa: N815
    lastEndedMs: int | None = Field(description="since a job last ended")  # noqa: N815


class WaitingJob(Answer):
    """The job that has been due longest."""

    jobId: int  # noqa: N815
    kind: str
    waitingMs: int  # noqa: N815


class QueueAnswer(Answer):
    """Jobs by status, each counted up to `countedUpTo`."""

    queued: int
    running: int
    completed: int
    failed: int
    canceled: int
    countedUpTo: int  # noqa: N815
    oldestWaiting: WaitingJob | None  # noqa: N815


class WriterAnswer(Answer):
    """Who writes memories from what is captured."""

    provider: str = Field(description="openai or rules: who works, not what is set")
    model: str | None
    host: str | None = Field(description="where the text goes")
    chosen: bool = Field(description="false: rules, because neither key nor address is set")
    leavesMachine: bool  # noqa: N815


class FailingAnswer(Answer):
    """What is wrong with the model."""

    errorClass: str  # noqa: N815
    error: str
    since: str
    sinceEpoch: int  # noqa: N815
    count: int = Field(description="extractions in a row, as far as was looked back")


class ModelAnswer(Answer):
    """How well the model answers."""

    metrics: AgentMetrics
    writer: WriterAnswer
    failing: FailingAnswer | None = Field(description="null while the model answers, or where none is asked")


class BudgetAnswer(Answer):
    """What models have cost today (UTC)."""

    day: str
    spentTokens: int  # noqa: N815
    limitTokens: int | None = Field(description="null: no limit")  # noqa: N815
    leftTokens: int | None  # noqa: N815


class AgentAnswer(Answer):
    """A kind of agent, by its newest session."""

    platform: str
    sessionDbId: int  # noqa: N815
    sessionKey: str  # noqa: N815
    sessionStatus: Literal["active", "completed"]  # noqa: N815
    project: str
    lastWroteAt: str  # noqa: N815
    lastWroteEpoch: int  # noqa: N815
    eventsToday: int  # noqa: N815
    sessionsToday: int  # noqa: N815


class LiveAnswer(Answer):
    """Readers of the live log."""

    clients: int


class DataAnswer(Answer):
    """What the data directory takes."""

    directory: str | None = Field(description="null where callers bring keys")
    totalBytes: int  # noqa: N815
    databaseBytes: int | None  # noqa: N815
    backupsBytes: int  # noqa: N815
    truncated: bool = Field(description="so many files that only some were counted")


class SystemAnswer(Answer):
    """`GET /api/ops/system`."""

    at: str
    atEpoch: int  # noqa: N815
    version: str
    python: str
    pid: int
    uptimeSec: int  # noqa: N815
    phase: str
    engine: EngineState
    worker: WorkerAnswer
    queue: QueueAnswer
    index: IndexStatus
    model: ModelAnswer
    budget: BudgetAnswer
    agents: list[AgentAnswer]
    agentsTruncated: bool  # noqa: N815
    eventsTodayTruncated: bool  # noqa: N815
    live: LiveAnswer
    data: DataAnswer | None = Field(description="null where tenants share the store")


class VerifiedAnswer(Answer):
    """What a check of a backup found."""

    ok: bool
    at: str
    atEpoch: int  # noqa: N815
    problem: str | None


class RestoreCommands(Answer):
    """What to type, with the server stopped: `check` changes nothing, `command` restores, `start` serves again."""

    command: str
    check: str
    start: str


class BackupAnswer(Answer):
    """One backup; what its manifest would say is null where it cannot be read."""

    name: str
    at: str | None
    atEpoch: int | None  # noqa: N815
    sizeBytes: int | None  # noqa: N815
    engine: str | None
    schema_: str | None = Field(alias="schema")
    version: str | None
    memories: int | None
    cause: Literal["manual", "upgrade", "restore"]
    verified: VerifiedAnswer | None
    problem: str | None
    restore: RestoreCommands


class MakingAnswer(Answer):
    """A backup on its way, or the last one that failed."""

    name: str
    startedEpoch: int  # noqa: N815
    done: int
    total: int
    status: Literal["running", "failed"]
    error: str | None
    hint: str | None


class BackupsAnswer(Answer):
    """`GET /api/ops/backups`."""

    available: bool
    reason: str | None
    directory: str | None
    command: str
    running: MakingAnswer | None
    backups: list[BackupAnswer]
    truncated: bool


class BackupMade(Answer):
    """`POST /api/ops/backups`, when it was done at once."""

    backup: BackupAnswer


class BackupBegun(Answer):
    """The same while it goes on."""

    making: MakingAnswer


class BackupVerified(Answer):
    """`POST /api/ops/backups/{name}/verify`."""

    name: str
    verified: VerifiedAnswer
