"""What the paths about the system, a search and backups answer, in the manner of the operator's paths."""

from typing import Any, Literal, Self, cast

from pydantic import Field

from codexmem.http.moments import iso
from codexmem.kernel.model.handle import ref
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.ranking import Ranked
from codexmem.kernel.model.writer import MemoryWriter
from codexmem.kernel.services.status import Phase, Readiness, ServerHealth
from codexmem.kernel.services.usage import QuotaState
from codexmem.kernel.wire import Figure
from codexmem.operations.service.backups import BackupCheck, BackupEntry, Backups, Making, StoreCommands
from codexmem.operations.service.dashboard import AgentActivity, Failing, Look, Spent, StoreLocation, WorkerState
from codexmem.operations.service.entries import Explained, TraceResult
from codexmem.operations.wire.ops import AgentMetrics, IndexStatus, OpsAnswer, Trace

_TITLE = 200  # characters
_LEXICAL = frozenset({"words", "words_before", "words_after", "coverage"})
_VECTOR = frozenset({"meaning", "meaning_before", "meaning_after"})


class Listed(OpsAnswer):
    """The place of a result in one list, from 1, and its score there."""

    rank: int | None = Field(description="null: this list did not have it")
    score: float

    @classmethod
    def of(cls, listed: tuple[int | None, float] | None) -> Self | None:
        """None where there was no such list."""
        return cls(rank=listed[0], score=listed[1]) if listed is not None else None


class Factor(OpsAnswer):
    """One signal's part of the sum that results are ordered by."""

    name: str
    group: Literal["lexical", "vector", "boost"]
    share: float

    @classmethod
    def of(cls, name: str, share: float) -> Self:
        """A signal by its name."""
        return cls(
            name=name, group="lexical" if name in _LEXICAL else "vector" if name in _VECTOR else "boost", share=share
        )


class RankedResult(OpsAnswer):
    """Why one result stands where it does; the fields about that are null in traces that do not tell it."""

    rank: int = Field(description="place in the answer, from 1")
    seq: int
    ref: str | None = Field(description="its name, as it is now")
    kind: str | None
    title: str | None
    gone: bool = Field(description="it was forgotten since")
    score: Figure = Field(description="probability of relevance, as the searcher saw it")
    sum: Figure | None = Field(description="what the order goes by: all factors together")
    rank_by_sum: int | None = Field(
        description="place by the sum alone, before near duplicates stepped behind and a reranker had its say"
    )
    lexical: Listed | None = Field(description="BM25 among what words found")
    vector: Listed | None = Field(description="cosine among all candidates; null where vectors took no part")
    rerank: float | None
    factors: tuple[Factor, ...] = Field(description="the largest first")

    @classmethod
    def of(cls, rank: int, result: TraceResult, *, pieces: bool) -> Self:
        """A result at this place; pieces of documents are not named."""
        memory, why = result.memory, result.why
        text = memory.state.title or memory.state.content[: 20 * _TITLE] if memory is not None else ""
        return cls(
            rank=rank,
            seq=result.seq,
            ref=ref(memory) if memory is not None else None,
            kind=memory.kind.value if memory is not None else Kind.CHUNK.value if pieces else None,
            title=" ".join(text.split())[:_TITLE] if memory is not None else None,
            gone=memory is None and not pieces,
            score=result.score,
            sum=why.sum if why is not None else None,
            rank_by_sum=why.by_sum if why is not None else None,
            lexical=Listed.of(why.words) if why is not None else None,
            vector=Listed.of(why.meaning) if why is not None else None,
            rerank=why.rerank if why is not None else None,
            factors=_factors(why) if why is not None else (),
        )


def _factors(why: Ranked) -> tuple[Factor, ...]:
    ordered = sorted(why.shares.items(), key=lambda each: (-abs(each[1]), each[0]))
    return tuple(Factor.of(name, share) for name, share in ordered)


class TraceAnswer(Trace):
    """`GET /api/ops/search-traces/{trace_id}`."""

    kinds: tuple[str, ...]
    unit: str
    offset: int
    as_of_epoch: int | None
    explained: bool
    ranked: tuple[RankedResult, ...]

    @classmethod
    def of_search(cls, found: Explained) -> Self:
        """One search, with why each of its first results stands where it does."""
        pieces = found.kinds == (Kind.CHUNK.value,)
        return cls.of(
            found.trace,
            kinds=found.kinds,
            unit=found.unit,
            offset=found.offset,
            as_of_epoch=found.as_of_ms,
            explained=any(each.why is not None for each in found.results),
            ranked=tuple(
                RankedResult.of(found.offset + at, each, pieces=pieces) for at, each in enumerate(found.results, 1)
            ),
        )


class HealthAnswer(OpsAnswer):
    """`GET /api/health`."""

    status: Literal["ok"]
    version: str
    initialized: bool
    mcp_ready: bool
    pid: int
    uptime: int = Field(description="milliseconds")

    @classmethod
    def of(cls, health: ServerHealth) -> Self:
        """MCP is ready when the store was opened."""
        return cls(
            status="ok",
            version=health.version,
            initialized=health.initialized,
            mcp_ready=health.initialized,
            pid=health.pid,
            uptime=int(health.uptime_s * 1000),
        )


class ReadinessAnswer(OpsAnswer):
    """`GET /api/readiness`, with 200 or 503."""

    status: Literal["initializing", "ready", "stalled", "unavailable", "failed", "stopping"]
    reason: str | None = Field(default=None, description="why queued work or the store does not move")

    @classmethod
    def of(cls, readiness: Readiness) -> Self:
        """Why a store cannot be opened is for the log: it names paths and addresses, and probes bring no key."""
        told = readiness.phase in {Phase.STALLED, Phase.UNAVAILABLE} and readiness.reason is not None
        return cls.model_validate({"status": readiness.phase.value} | ({"reason": readiness.reason} if told else {}))


class VersionAnswer(OpsAnswer):
    """`GET /api/version`."""

    version: str


class EngineState(OpsAnswer):
    """What the store stands on."""

    name: Literal["sqlite", "postgresql"]
    version: str
    schema_: str


class WorkerAnswer(OpsAnswer):
    """What runs jobs in this process."""

    enabled: bool
    running: bool
    poll_interval_sec: float
    running_jobs: int
    overdue_jobs: int
    oldest_waiting_ms: int | None
    last_ended_ms: int | None = Field(description="since a job last ended")

    @classmethod
    def of(cls, state: WorkerState) -> Self:
        """How it gets on."""
        return cls(
            enabled=state.enabled,
            running=state.running,
            poll_interval_sec=state.poll_interval_s,
            running_jobs=state.jobs,
            overdue_jobs=state.overdue,
            oldest_waiting_ms=state.oldest_ready_ms,
            last_ended_ms=state.last_end_ms,
        )


class WaitingJob(OpsAnswer):
    """The job that has been due longest."""

    job_id: int
    kind: str
    waiting_ms: int


class QueueAnswer(OpsAnswer):
    """Jobs by status, each counted up to `countedUpTo`."""

    queued: int
    running: int
    completed: int
    failed: int
    canceled: int
    counted_up_to: int
    oldest_waiting: WaitingJob | None

    @classmethod
    def of(cls, look: Look) -> Self:
        """As it stands."""
        waiting = look.waiting
        oldest = (
            WaitingJob(job_id=waiting.id, kind=waiting.kind, waiting_ms=max(0, look.at_ms - waiting.since_ms))
            if waiting is not None
            else None
        )
        return cls(
            queued=look.queue[JobStatus.QUEUED],
            running=look.queue[JobStatus.RUNNING],
            completed=look.queue[JobStatus.COMPLETED],
            failed=look.queue[JobStatus.FAILED],
            canceled=look.queue[JobStatus.CANCELED],
            counted_up_to=look.counted,
            oldest_waiting=oldest,
        )


class WriterAnswer(OpsAnswer):
    """Who writes memories from what is captured."""

    provider: str = Field(description="openai, rules or an agent: who works, not what is set")
    model: str | None
    host: str | None = Field(description="where the text goes")
    chosen: bool = Field(description="false: rules, because nobody has chosen")
    undecided: bool = Field(description="there is a key, and nobody has said that it may be used")
    leaves_machine: bool

    @classmethod
    def of(cls, writer: MemoryWriter) -> Self:
        """Who works."""
        return cls(
            provider=writer.provider,
            model=writer.model or None,
            host=writer.host or None,
            chosen=writer.chosen,
            undecided=writer.undecided,
            leaves_machine=writer.sends,
        )


class FailingAnswer(OpsAnswer):
    """What is wrong with the model."""

    error_class: str
    error: str
    since: str
    since_epoch: int
    count: int = Field(description="extractions in a row, as far as was looked back")

    @classmethod
    def of(cls, failing: Failing) -> Self:
        """Since when, and how often."""
        return cls(
            error_class=failing.error_class,
            error=failing.error,
            since=iso(failing.since_ms),
            since_epoch=failing.since_ms,
            count=failing.count,
        )


class ModelAnswer(OpsAnswer):
    """How well the model answers."""

    metrics: AgentMetrics
    writer: WriterAnswer
    failing: FailingAnswer | None = Field(description="null while the model answers, or where none is asked")


class BudgetAnswer(OpsAnswer):
    """What models have cost today (UTC)."""

    day: str
    spent_tokens: int
    limit_tokens: int | None = Field(description="null: no limit")
    left_tokens: int | None

    @classmethod
    def of(cls, spent: Spent) -> Self:
        """What is spent, and what is left."""
        return cls(day=spent.day, spent_tokens=spent.tokens, limit_tokens=spent.limit, left_tokens=spent.left)


class QuotaAnswer(OpsAnswer):
    """What a tenant has used of a quota, as this server knows it."""

    name: str = Field(description="requests or events of today (UTC), or stored memories")
    used: int
    limit: int | None = Field(description="null: no limit")
    spent: bool = Field(description="what would use more is refused with 429")

    @classmethod
    def of(cls, state: QuotaState) -> Self:
        """One quota."""
        return cls(name=state.name, used=state.used, limit=state.limit, spent=state.spent)


class AgentAnswer(OpsAnswer):
    """A kind of agent, by its newest session."""

    platform: str
    session_db_id: int
    session_key: str
    session_status: Literal["active", "completed"]
    project: str
    last_wrote_at: str
    last_wrote_epoch: int
    events_today: int
    sessions_today: int

    @classmethod
    def of(cls, agent: AgentActivity) -> Self:
        """Who reports, and when it last did."""
        newest = agent.newest
        return cls(
            platform=newest.platform,
            session_db_id=newest.id,
            session_key=newest.key,
            session_status=cast(Any, newest.status.value),
            project=newest.project,
            last_wrote_at=iso(newest.last_ms),
            last_wrote_epoch=newest.last_ms,
            events_today=agent.events_today,
            sessions_today=agent.sessions_today,
        )


class LiveAnswer(OpsAnswer):
    """Readers of the live log."""

    clients: int


class DataAnswer(OpsAnswer):
    """What the data directory takes."""

    directory: str | None = Field(description="null where callers bring keys")
    total_bytes: int
    database_bytes: int | None
    backups_bytes: int
    truncated: bool = Field(description="so many files that only some were counted")

    @classmethod
    def of(cls, place: StoreLocation) -> Self:
        """In bytes."""
        return cls(
            directory=place.directory,
            total_bytes=place.room.total,
            database_bytes=place.database,
            backups_bytes=place.room.backups,
            truncated=place.room.truncated,
        )


class SystemAnswer(OpsAnswer):
    """`GET /api/ops/system`."""

    at: str
    at_epoch: int
    version: str
    python: str
    pid: int
    uptime_sec: int
    phase: str
    engine: EngineState
    worker: WorkerAnswer
    queue: QueueAnswer
    index: IndexStatus
    model: ModelAnswer
    budget: BudgetAnswer
    quotas: tuple[QuotaAnswer, ...] = Field(description="empty where one person owns the store")
    agents: tuple[AgentAnswer, ...]
    agents_truncated: bool
    events_today_truncated: bool
    live: LiveAnswer
    data: DataAnswer | None = Field(description="null where tenants share the store")

    @classmethod
    def of(cls, health: ServerHealth, readiness: Readiness, python: str, look: Look) -> Self:
        """How everything stands."""
        return cls(
            at=iso(look.at_ms),
            at_epoch=look.at_ms,
            version=health.version,
            python=python,
            pid=health.pid,
            uptime_sec=int(health.uptime_s),
            phase=readiness.phase.value,
            engine=EngineState(name=cast(Any, look.engine), version=look.engine_version, schema_=look.schema),
            worker=WorkerAnswer.of(look.worker),
            queue=QueueAnswer.of(look),
            index=IndexStatus.of(look.index),
            model=ModelAnswer(
                metrics=AgentMetrics.of(look.metrics),
                writer=WriterAnswer.of(look.writer),
                failing=FailingAnswer.of(look.failing) if look.failing is not None else None,
            ),
            budget=BudgetAnswer.of(look.spent),
            quotas=tuple(map(QuotaAnswer.of, look.quotas)),
            agents=tuple(map(AgentAnswer.of, look.agents.listed)),
            agents_truncated=look.agents.truncated,
            events_today_truncated=look.agents.events_truncated,
            live=LiveAnswer(clients=look.followers),
            data=DataAnswer.of(look.place) if look.place is not None else None,
        )


class VerifiedAnswer(OpsAnswer):
    """What a check of a backup found."""

    ok: bool
    at: str
    at_epoch: int
    problem: str | None

    @classmethod
    def of(cls, check: BackupCheck) -> Self:
        """What it found."""
        return cls(ok=check.ok, at=iso(check.at_ms), at_epoch=check.at_ms, problem=check.problem)


class RestoreCommands(OpsAnswer):
    """What to type, with the server stopped: `check` changes nothing, `command` restores, `start` serves again."""

    command: str
    check: str
    start: str


class BackupAnswer(OpsAnswer):
    """One backup; what its manifest would say is null where it cannot be read."""

    name: str
    at: str | None
    at_epoch: int | None
    size_bytes: int | None
    engine: str | None
    schema_: str | None
    version: str | None
    memories: int | None
    cause: Literal["manual", "upgrade", "restore"]
    verified: VerifiedAnswer | None
    problem: str | None
    restore: RestoreCommands

    @classmethod
    def of(cls, entry: BackupEntry, commands: StoreCommands) -> Self:
        """One backup; of one whose manifest cannot be read, only that."""
        manifest = entry.backup.manifest if entry.backup is not None else None
        restore = commands.restore(entry.name)
        return cls(
            name=entry.name,
            at=iso(manifest.created_ms) if manifest is not None else None,
            at_epoch=manifest.created_ms if manifest is not None else None,
            size_bytes=manifest.size if manifest is not None else None,
            engine=manifest.engine if manifest is not None else None,
            schema_=manifest.schema if manifest is not None else None,
            version=manifest.version if manifest is not None else None,
            memories=manifest.counts.get("memories", 0) if manifest is not None else None,
            cause=entry.cause,
            verified=VerifiedAnswer.of(entry.verified) if entry.verified is not None else None,
            problem=entry.problem,
            restore=RestoreCommands(command=restore, check=f"{restore} --dry-run", start=commands.serve()),
        )


class MakingAnswer(OpsAnswer):
    """A backup on its way, or the last one that failed."""

    name: str
    started_epoch: int
    done: int
    total: int
    status: Literal["running", "failed"]
    error: str | None
    hint: str | None

    @classmethod
    def of(cls, making: Making) -> Self:
        """How far it is."""
        return cls(
            name=making.name,
            started_epoch=making.started_ms,
            done=making.done,
            total=making.total,
            status=making.status,
            error=making.error,
            hint=making.hint,
        )


class BackupsAnswer(OpsAnswer):
    """`GET /api/ops/backups`."""

    available: bool
    reason: str | None
    directory: str | None
    command: str
    running: MakingAnswer | None
    backups: tuple[BackupAnswer, ...]
    truncated: bool

    @classmethod
    def of(cls, backups: Backups) -> Self:
        """Those there are."""
        shelf, commands = backups.shelf(), backups.commands
        shared = "tenants share this store; whoever runs the server makes its backups"
        return cls(
            available=backups.available,
            reason=None if backups.available else shared,
            directory=str(commands.directory) if commands.directory is not None else None,
            command=commands.backup(),
            running=MakingAnswer.of(shelf.making) if shelf.making is not None else None,
            backups=tuple(BackupAnswer.of(each, commands) for each in shelf.kept),
            truncated=shelf.truncated,
        )


class BackupMade(OpsAnswer):
    """`POST /api/ops/backups`, when it was done at once."""

    backup: BackupAnswer


class BackupBegun(OpsAnswer):
    """The same while it goes on."""

    making: MakingAnswer


class BackupVerified(OpsAnswer):
    """`POST /api/ops/backups/{name}/verify`."""

    name: str
    verified: VerifiedAnswer
