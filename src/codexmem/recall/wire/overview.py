"""Projects and figures, as contract 000 spells them."""

from typing import TYPE_CHECKING, Self

from pydantic import Field

from codexmem.kernel.wire import WireAnswer

if TYPE_CHECKING:
    from codexmem.kernel.services.status import ServerHealth
    from codexmem.recall.overview import TenantCounts


class Projects(WireAnswer):
    """Projects that have captured memories, those written to last first."""

    projects: tuple[str, ...]


class Processing(WireAnswer):
    """Whether captured work waits."""

    isProcessing: bool  # noqa: N815  the contract's spelling
    queueDepth: int  # noqa: N815  the contract's spelling

    @classmethod
    def of(cls, waiting: int) -> Self:
        """With so many jobs that wait or run."""
        return cls(isProcessing=waiting > 0, queueDepth=waiting)


class WorkerStats(WireAnswer):
    """The server."""

    version: str
    uptime: int = Field(description="seconds")
    activeSessions: int  # noqa: N815  the contract's spelling
    sseClients: int  # noqa: N815  the contract's spelling
    port: int | None


class DatabaseStats(WireAnswer):
    """The store."""

    path: str | None = Field(None, description="only where telling it gives nothing away")
    size: int | None = Field(description="bytes; null where tenants share a database")
    observations: int
    sessions: int
    summaries: int
    prompts: int


class Stats(WireAnswer):
    """Figures, as they were at most ten seconds ago."""

    worker: WorkerStats
    database: DatabaseStats

    @classmethod
    def of(
        cls, health: "ServerHealth", counted: "TenantCounts", *, followers: int, port: int | None, path: str | None
    ) -> Self:
        """Uptime in seconds, as the clients of this path expect."""
        return cls(
            worker=WorkerStats(
                version=health.version,
                uptime=int(health.uptime_s),
                activeSessions=counted.active_sessions,
                sseClients=followers,
                port=port,
            ),
            database=DatabaseStats(
                **({"path": path} if path is not None else {}),
                size=counted.size,
                observations=counted.observations,
                sessions=counted.sessions,
                summaries=counted.summaries,
                prompts=counted.prompts,
            ),
        )
