"""The operator's paths (contract 000 §3.5, 3 to 14): the state of things, reports with their exports, and the few
repairs that somebody decides on.
"""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from codexmem.kernel.model.memory import Kind
from codexmem.operations.http import exports
from codexmem.operations.service import Operations
from codexmem.operations.wire import ops as wire
from codexmem.operations.wire import requests

_KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}}


class OpsServices(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...


def add(api: APIRouter, services: OpsServices) -> None:
    """Add the routes."""
    _add_upkeep(api, services)
    _add_reports(api, services)
    _add_exports(api, services)


def _add_upkeep(api: APIRouter, services: OpsServices) -> None:
    @api.get("/api/ops/index-status")
    def index_status() -> wire.IndexStatus:
        return wire.IndexStatus.of(services.operations.upkeep.index_state())

    @api.get("/api/ops/agent-metrics")
    def agent_metrics() -> wire.AgentMetrics:
        return wire.AgentMetrics.of(services.operations.upkeep.agent_metrics())

    @api.post("/api/ops/agent-metrics/reset")
    def reset_agent_metrics() -> wire.AgentMetricsReset:
        services.operations.upkeep.reset_agent_metrics()
        metrics = wire.AgentMetrics.of(services.operations.upkeep.agent_metrics())
        return wire.AgentMetricsReset(success=True, observation=metrics.observation, summary=metrics.summary)

    @api.post("/api/ops/retry-failed")
    def retry_failed(body: requests.RetryRequest | None = None) -> wire.RetriedAnswer:
        asked = body or requests.RetryRequest()
        return wire.RetriedAnswer.of(services.operations.upkeep.retry_failed(asked.session_db_id))

    @api.post("/api/ops/backfill/chroma", response_model_exclude_unset=True)
    def backfill(body: requests.BackfillRequest | None = None) -> wire.BackfilledAnswer:
        asked = body or requests.BackfillRequest()
        outcome = services.operations.upkeep.send_again(
            _KINDS, project=asked.project, limit=asked.limit, after=asked.cursor()
        )
        return wire.BackfilledAnswer.of(outcome)


def _add_reports(api: APIRouter, services: OpsServices) -> None:
    @api.get("/api/ops/search-traces")
    def search_traces(asked: Annotated[requests.TracesRequest, Query()]) -> wire.TracesAnswer:
        return wire.TracesAnswer.of(services.operations.reports.search_traces(asked.to_filter(), limit=asked.limit))

    @api.get("/api/ops/session-timings")
    def session_timings(asked: Annotated[requests.TimingsRequest, Query()]) -> wire.TimingsAnswer:
        return wire.TimingsAnswer.of(services.operations.reports.session_timings(asked.to_filter(), limit=asked.limit))

    @api.get("/api/ops/failure-summary")
    def failure_summary(asked: Annotated[requests.FailuresRequest, Query()]) -> wire.FailuresAnswer:
        return wire.FailuresAnswer.of(services.operations.reports.failures(asked.to_filter(), limit=asked.limit))

    @api.get("/api/ops/trends")
    def trends(asked: Annotated[requests.TrendsRequest, Query()]) -> wire.TrendsAnswer:
        trend = services.operations.trends.lately(
            window_s=asked.window_sec, bucket_s=asked.bucket_sec, until_ms=asked.until_ms()
        )
        return wire.TrendsAnswer.of(asked, trend)


def _add_exports(api: APIRouter, services: OpsServices) -> None:
    @api.get("/api/ops/search-traces/export", response_class=StreamingResponse, responses=_FILE)
    def export_search_traces(asked: Annotated[requests.TracesExport, Query()]) -> Any:
        found = services.operations.reports.export_search_traces(asked.to_filter(), limit=asked.limit)
        return exports.download("search-traces", wire.Trace, map(wire.Trace.of, found), asked.format)

    @api.get("/api/ops/session-timings/export", response_class=StreamingResponse, responses=_FILE)
    def export_session_timings(asked: Annotated[requests.TimingsExport, Query()]) -> Any:
        found = services.operations.reports.export_session_timings(asked.to_filter(), limit=asked.limit)
        return exports.download("session-timings", wire.Timing, map(wire.Timing.of, found), asked.format)

    @api.get("/api/ops/failure-summary/export", response_class=StreamingResponse, responses=_FILE)
    def export_failures(asked: Annotated[requests.FailuresExport, Query()]) -> Any:
        found = services.operations.reports.export_failures(asked.to_filter(), limit=asked.limit)
        return exports.download("failure-summary", wire.Failure, map(wire.Failure.of, found), asked.format)
