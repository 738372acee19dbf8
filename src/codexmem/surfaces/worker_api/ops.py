"""The operator's paths (contract 000 §3.5, 3 to 14): the state of things, reports with their exports, and the few
repairs that somebody decides on.
"""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from codexmem.domain.memory import Kind
from codexmem.services.operations import Operations
from codexmem.surfaces.worker_api import answers_ops as answers
from codexmem.surfaces.worker_api import exports, wire_ops
from codexmem.surfaces.worker_api.answers_ops import described

_KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}}


class Services(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""
    _add_upkeep(door, services)
    _add_reports(door, services)
    _add_exports(door, services)


def _add_upkeep(door: APIRouter, services: Services) -> None:
    @door.get("/api/ops/index-status", response_model=None, responses=described(answers.IndexStatus))
    def index_status() -> dict[str, Any]:
        return wire_ops.index_status(services.operations.upkeep.index_state())

    @door.get("/api/ops/agent-metrics", response_model=None, responses=described(answers.AgentMetrics))
    def agent_metrics() -> dict[str, dict[str, int]]:
        return services.operations.upkeep.agent_metrics()

    @door.post("/api/ops/agent-metrics/reset", response_model=None, responses=described(answers.AgentMetricsReset))
    def reset_agent_metrics() -> dict[str, Any]:
        services.operations.upkeep.reset_agent_metrics()
        return {"success": True, **services.operations.upkeep.agent_metrics()}

    @door.post("/api/ops/retry-failed", response_model=None, responses=described(answers.RetriedAnswer))
    def retry_failed(body: wire_ops.RetryRequest | None = None) -> dict[str, Any]:
        asked = body or wire_ops.RetryRequest()
        return wire_ops.retried(services.operations.upkeep.retry_failed(asked.sessionDbId))

    @door.post("/api/ops/backfill/chroma", response_model=None, responses=described(answers.BackfilledAnswer))
    def backfill(body: wire_ops.BackfillRequest | None = None) -> dict[str, Any]:
        asked = body or wire_ops.BackfillRequest()
        outcome = services.operations.upkeep.send_again(
            _KINDS, project=asked.project, limit=asked.limit, after=asked.cursor()
        )
        return wire_ops.backfilled(outcome)


def _add_reports(door: APIRouter, services: Services) -> None:
    @door.get("/api/ops/search-traces", response_model=None, responses=described(answers.TracesAnswer))
    def search_traces(asked: Annotated[wire_ops.TracesRequest, Query()]) -> dict[str, Any]:
        return wire_ops.traces(services.operations.reports.search_traces(asked.to_filter(), limit=asked.limit))

    @door.get("/api/ops/session-timings", response_model=None, responses=described(answers.TimingsAnswer))
    def session_timings(asked: Annotated[wire_ops.TimingsRequest, Query()]) -> dict[str, Any]:
        return wire_ops.timings(services.operations.reports.session_timings(asked.to_filter(), limit=asked.limit))

    @door.get("/api/ops/failure-summary", response_model=None, responses=described(answers.FailuresAnswer))
    def failure_summary(asked: Annotated[wire_ops.FailuresRequest, Query()]) -> dict[str, Any]:
        return wire_ops.failures(services.operations.reports.failures(asked.to_filter(), limit=asked.limit))

    @door.get("/api/ops/trends", response_model=None, responses=described(answers.TrendsAnswer))
    def trends(asked: Annotated[wire_ops.TrendsRequest, Query()]) -> dict[str, Any]:
        found = services.operations.trends.lately(
            window_s=asked.windowSec, bucket_s=asked.bucketSec, until_ms=asked.until_ms()
        )
        return wire_ops.trends(asked, found)


def _add_exports(door: APIRouter, services: Services) -> None:
    @door.get("/api/ops/search-traces/export", response_class=StreamingResponse, responses=_FILE)
    def export_search_traces(asked: Annotated[wire_ops.TracesExport, Query()]) -> Any:
        found = services.operations.reports.export_search_traces(asked.to_filter(), limit=asked.limit)
        return exports.download("search-traces", map(wire_ops.trace, found), exports.TRACE_COLUMNS, asked.format)

    @door.get("/api/ops/session-timings/export", response_class=StreamingResponse, responses=_FILE)
    def export_session_timings(asked: Annotated[wire_ops.TimingsExport, Query()]) -> Any:
        found = services.operations.reports.export_session_timings(asked.to_filter(), limit=asked.limit)
        return exports.download("session-timings", map(wire_ops.timing, found), exports.TIMING_COLUMNS, asked.format)

    @door.get("/api/ops/failure-summary/export", response_class=StreamingResponse, responses=_FILE)
    def export_failures(asked: Annotated[wire_ops.FailuresExport, Query()]) -> Any:
        found = services.operations.reports.export_failures(asked.to_filter(), limit=asked.limit)
        return exports.download("failure-summary", map(wire_ops.failure, found), exports.FAILURE_COLUMNS, asked.format)
