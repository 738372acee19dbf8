"""The operator's paths (contract 000 §3.5, 3 to 14): the state of things, reports with their exports, and the few
repairs that somebody decides on.

Rows as a file to download: CSV as RFC 4180 has it, or one JSON object a line.

A spreadsheet takes a cell that begins with certain characters for a formula, and what is exported here was written by
strangers (queries, error texts); such cells get a leading apostrophe. JSON lines hold exactly what the list shows.
"""

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from codexmem.kernel.model.memory import Kind
from codexmem.operations.service import Operations
from codexmem.operations.wire import ops as wire
from codexmem.operations.wire import requests
from codexmem.operations.wire.ops import LogRow

Row = dict[str, object]  # one of the log's lines, as a list shows it

_FORMULA = tuple("=+-@\t\r\n\0")
_TOGETHER = 200  # rows per piece that is sent
_MEDIA = {"csv": "text/csv; charset=utf-8; header=present", "ndjson": "application/x-ndjson; charset=utf-8"}


def download(name: str, model: type[LogRow], rows: Iterable[LogRow], form: Literal["csv", "ndjson"]) -> Any:
    """The rows as an attachment, sent as they are read. The first of them are read before anything is sent, so that a
    store which does not answer is an error and not an empty file.
    """
    documents = (row.document() for row in rows)
    pieces = csv_pieces(documents, model.columns()) if form == "csv" else ndjson_pieces(documents)
    first = next(pieces, b"")
    return StreamingResponse(
        itertools.chain([first], pieces),
        media_type=_MEDIA[form],
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"', "Cache-Control": "no-store"},
    )


def csv_pieces(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A header and the rows, in UTF-8 with CRLF."""
    heading: list[list[Any]] = [list(columns)]
    for some in _some(rows):
        text = io.StringIO(newline="")
        table = csv.writer(text, lineterminator="\r\n")
        table.writerows(heading)
        table.writerows([cell(row[name]) for name in columns] for row in some)
        heading = []
        yield text.getvalue().encode(errors="replace")
    if heading:
        yield (",".join(columns) + "\r\n").encode()


def ndjson_pieces(rows: Iterable[Row]) -> Iterator[bytes]:
    """An object a line, in UTF-8."""
    for some in _some(rows):
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in some)
        yield "".join(lines).encode(errors="replace")


def cell(value: Any) -> str | int | float:
    """One value in a cell: numbers as they are, true and false in JSON's spelling, lists and maps as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"'{text}" if text.startswith(_FORMULA) else text


def _some(rows: Iterable[Row]) -> Iterator[list[Row]]:
    source = iter(rows)
    while some := list(itertools.islice(source, _TOGETHER)):
        yield some


_KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_FILE: dict[int | str, dict[str, object]] = {200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}}


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
        return download("search-traces", wire.Trace, map(wire.Trace.of, found), asked.format)

    @api.get("/api/ops/session-timings/export", response_class=StreamingResponse, responses=_FILE)
    def export_session_timings(asked: Annotated[requests.TimingsExport, Query()]) -> Any:
        found = services.operations.reports.export_session_timings(asked.to_filter(), limit=asked.limit)
        return download("session-timings", wire.Timing, map(wire.Timing.of, found), asked.format)

    @api.get("/api/ops/failure-summary/export", response_class=StreamingResponse, responses=_FILE)
    def export_failures(asked: Annotated[requests.FailuresExport, Query()]) -> Any:
        found = services.operations.reports.export_failures(asked.to_filter(), limit=asked.limit)
        return download("failure-summary", wire.Failure, map(wire.Failure.of, found), asked.format)
