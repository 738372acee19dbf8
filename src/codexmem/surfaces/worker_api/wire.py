"""The field spelling of contract 000 beyond what the recall doors share: health, saves, lists and figures."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.memory import Memory
from codexmem.domain.query import MAX_OFFSET
from codexmem.services.overview import Counted
from codexmem.services.status import Health, Phase, Readiness
from codexmem.surfaces._kit.recall.rows import ROW

MAX_LISTED = 100


class ListRequest(BaseModel):
    """A page of a list."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    limit: int = Field(20, ge=1, le=MAX_LISTED)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    project: str | None = None


class Saved(BaseModel):
    """What a save answers."""

    success: bool
    id: int
    title: str
    project: str
    message: str
    duplicate: bool | None = None  # only where the same was saved before


class Projects(BaseModel):
    """Projects that have captured memories, those written to last first."""

    projects: list[str]


class Processing(BaseModel):
    """Whether captured work waits."""

    isProcessing: bool  # noqa: N815  the contract's spelling
    queueDepth: int  # noqa: N815  the contract's spelling


class WorkerStats(BaseModel):
    """The server."""

    version: str
    uptime: int = Field(description="seconds")
    activeSessions: int  # noqa: N815  the contract's spelling
    sseClients: int  # noqa: N815  the contract's spelling
    port: int | None


class DatabaseStats(BaseModel):
    """The store."""

    path: str | None = Field(None, description="only where telling it gives nothing away")
    size: int | None = Field(description="bytes; null where tenants share a database")
    observations: int
    sessions: int
    summaries: int
    prompts: int


class Stats(BaseModel):
    """Figures, as they were at most ten seconds ago."""

    worker: WorkerStats
    database: DatabaseStats


def health(facts: Health, *, mcp_ready: bool) -> dict[str, Any]:
    """The answer to `GET /api/health`; uptime in milliseconds, as the clients of this contract expect."""
    return {
        "status": "ok",
        "version": facts.version,
        "initialized": facts.initialized,
        "mcpReady": mcp_ready,
        "pid": facts.pid,
        "uptime": int(facts.uptime_s * 1000),
    }


def readiness(facts: Readiness) -> dict[str, Any]:
    """The answer to `GET /api/readiness`.

    Why a store cannot be opened is for the log: it names paths and addresses, and probes bring no key.
    """
    told = facts.phase in {Phase.STALLED, Phase.UNAVAILABLE} and facts.reason is not None
    return {"status": facts.phase.value} | ({"reason": facts.reason} if told else {})


def text(told: str) -> dict[str, Any]:
    """Text as an MCP client takes it, so that a bridge can pass it on."""
    return {"content": [{"type": "text", "text": told}]}


def page(memories: Sequence[Memory], request: ListRequest, *, more: bool) -> dict[str, Any]:
    """One page of a list."""
    items = [ROW[memory.kind](memory) for memory in memories]
    return {"items": items, "hasMore": more, "offset": request.offset, "limit": request.limit}


def stats(facts: Health, counted: Counted, *, followers: int, port: int | None, path: str | None) -> dict[str, Any]:
    """The answer to `GET /api/stats`; uptime in seconds, as the clients of this path expect."""
    return {
        "worker": {
            "version": facts.version,
            "uptime": int(facts.uptime_s),
            "activeSessions": counted.active_sessions,
            "sseClients": followers,
            "port": port,
        },
        "database": {
            **({"path": path} if path is not None else {}),
            "size": counted.size,
            "observations": counted.observations,
            "sessions": counted.sessions,
            "summaries": counted.summaries,
            "prompts": counted.prompts,
        },
    }
