"""The field spelling of the operator's paths (contract 000 §3.5): questions parsed once, answers and rows rendered.

A row is the same in a list, in an export and in a live event, so that what was seen in one can be found in another.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.event import Event
from codexmem.domain.job import Depth
from codexmem.domain.memory import Kind
from codexmem.domain.query import Cursor
from codexmem.domain.search import Mode
from codexmem.services.operations import entries
from codexmem.services.operations.entries import Failure, SearchTrace, SessionTiming
from codexmem.services.operations.reports import (
    MAX_EXPORTED,
    MAX_LISTED,
    FailureFilter,
    FailureSummary,
    Listed,
    TimingFilter,
    TraceFilter,
    Within,
)
from codexmem.services.operations.trends import BUCKET_S, WINDOW_S, Trend
from codexmem.services.operations.upkeep import MAX_SENT, IndexState, NotSent, Retried, Sent
from codexmem.surfaces._kit import moments
from codexmem.surfaces._kit.moments import iso

Row = dict[str, Any]
MessageType = Literal["observation", "summarize"]
Number = Annotated[int, Field(ge=1, le=2**63 - 1)]
_LISTED = Annotated[int, Field(ge=1, le=MAX_LISTED)]
_EXPORTED = Annotated[int, Field(ge=1, le=MAX_EXPORTED)]
_SPELLED = {"error_class": "errorClass"}  # payload fields that the contract spells in another way
_LOST_PLUS = re.compile(r" (\d\d:?\d\d)$")  # of a time zone, in an address that did not escape it
_PLACE = re.compile(r"(\d{1,16})\.(\d{1,18})")


class _Asked(BaseModel):
    """What is unknown is ignored, and what is empty was not given."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _given(cls, raw: Any) -> Any:
        return {name: value for name, value in raw.items() if value != ""} if isinstance(raw, dict) else raw


class _Timed(_Asked):
    """Between two times."""

    from_: str | None = Field(default=None, alias="from", description="Not before: ISO 8601, or epoch in s or ms.")
    to: str | None = Field(default=None, description="Not after, inclusive; a day means all of it (UTC).")

    def within(self) -> Within:
        """The time that is meant."""
        first, last = _moment("from", self.from_), _moment("to", self.to)
        return Within(
            **({"from_ms": first.first_ms} if first is not None else {}),
            **({"to_ms": last.last_ms} if last is not None else {}),
        )


class TracesRequest(_Timed):
    """`GET /api/ops/search-traces`."""

    limit: _LISTED = 100
    query: str = Field(default="", description="Part of what was searched for, in any case.")
    project: str | None = None
    mode: Mode | None = None

    def to_filter(self) -> TraceFilter:
        """Which searches."""
        return TraceFilter(self.within(), self.query, self.project, self.mode)


class TimingsRequest(_Timed):
    """`GET /api/ops/session-timings`."""

    limit: _LISTED = 100
    sessionDbId: Number | None = None  # noqa: N815  the contract's spelling
    messageType: MessageType | None = None  # noqa: N815
    success: bool | None = None

    def to_filter(self) -> TimingFilter:
        """Which extractions."""
        return TimingFilter(self.within(), self.sessionDbId, self.messageType, self.success)


class FailuresRequest(_Timed):
    """`GET /api/ops/failure-summary`."""

    limit: _LISTED = 100
    sessionDbId: Number | None = None  # noqa: N815
    errorClass: str | None = None  # noqa: N815
    messageType: MessageType | None = None  # noqa: N815

    def to_filter(self) -> FailureFilter:
        """Which failures."""
        return FailureFilter(self.within(), self.sessionDbId, self.errorClass, self.messageType)


class TracesExport(TracesRequest):
    """The same searches as a file."""

    limit: _EXPORTED = MAX_EXPORTED
    format: Literal["csv", "ndjson"] = "csv"


class TimingsExport(TimingsRequest):
    """The same timings as a file."""

    limit: _EXPORTED = MAX_EXPORTED
    format: Literal["csv", "ndjson"] = "csv"


class FailuresExport(FailuresRequest):
    """The same failures as a file."""

    limit: _EXPORTED = MAX_EXPORTED
    format: Literal["csv", "ndjson"] = "csv"


class TrendsRequest(_Asked):
    """`GET /api/ops/trends`."""

    windowSec: Annotated[int, Field(ge=WINDOW_S.start, lt=WINDOW_S.stop)] = 3_600  # noqa: N815
    bucketSec: Annotated[int, Field(ge=BUCKET_S.start, lt=BUCKET_S.stop)] = 60  # noqa: N815
    to: str | None = Field(default=None, description="The window's end, inclusive; now unless given.")

    def until_ms(self) -> int | None:
        """Where the window ends."""
        last = _moment("to", self.to)
        return last.last_ms if last is not None else None


class RetryRequest(_Asked):
    """`POST /api/ops/retry-failed`."""

    sessionDbId: Annotated[int, Field(ge=1, le=2**63 - 1, strict=True)] | None = None  # noqa: N815


class BackfillRequest(_Asked):
    """`POST /api/ops/backfill/chroma`."""

    project: str | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_SENT, strict=True)] = 1_000
    after: str | None = Field(default=None, description="The `next` of the answer before, to go on where it ended.")

    def cursor(self) -> Cursor | None:
        """Where to go on."""
        if self.after is None:
            return None
        place = _PLACE.fullmatch(self.after)
        if place is None:
            raise InvalidArgument(f"after: {self.after[:40]!r} is no place", hint="send back `next` as it was given")
        return Cursor(int(place[1]), int(place[2]))


def _moment(name: str, text: str | None) -> moments.Stretch | None:
    if text is None:
        return None
    try:
        return moments.stretch(_LOST_PLUS.sub(r"+\1", text.strip()))
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"{name}: {text[:40]!r} is not a time", hint="send epoch seconds or milliseconds, or an ISO 8601 date"
        ) from None


def trace(row: SearchTrace) -> Row:
    """One search."""
    return {
        **_when(row.seq, row.at_ms),
        "query": row.query,
        "project": row.project,
        "mode": row.mode,
        "recipe": row.recipe,
        "results": row.results,
        "durationMs": row.total_ms,
        "vectorSource": "+".join(sorted(row.vectors)) or None,
        "vectorHits": sum(row.vectors.values()),
        "sources": row.sources,
        "timings": row.timings_ms,
        "notes": list(row.notes),
    }


def timing(row: SessionTiming) -> Row:
    """One extraction."""
    return {
        **_when(row.seq, row.at_ms),
        "sessionDbId": row.session,
        "project": row.project,
        "messageType": row.message_type,
        "success": row.success,
        "events": row.events,
        "queueWaitMs": row.queue_wait_ms,
        "modelMs": row.model_ms,
        "indexMs": row.index_ms,
        "totalMs": row.total_ms,
    }


def failure(row: Failure) -> Row:
    """One failure."""
    return {
        **_when(row.seq, row.at_ms),
        "jobId": row.job,
        "kind": row.kind,
        "sessionDbId": row.session,
        "messageType": row.message_type,
        "attempts": row.attempts,
        "errorClass": row.error_class,
        "error": row.error,
        "fallback": row.fallback,
    }


def logged(event: Event) -> Row:
    """An event of the live stream: where and when, and what its payload says in the contract's spelling."""
    said = event.payload or {}
    spelled = {_SPELLED.get(name, name): value for name, value in said.items()}
    return {**_when(event.seq, event.at_ms), "subject": event.subject, "project": event.project} | {
        # `subject` of a failure is what the job was about; the event itself is about the job.
        name: value for name, value in spelled.items() if name != "subject"
    } | _about(said.get("subject"))  # fmt: skip


def depth(queue: Depth) -> Row:
    """Captured work as it stands, and failed jobs of every kind; each number is counted up to 10,000."""
    waiting = queue.queued + queue.running
    return {"queueDepth": waiting, "isProcessing": waiting > 0, **asdict(queue)}


def traces(found: Listed[SearchTrace]) -> Row:
    """Searches, with averages over those that are shown."""
    rows = found.rows
    return {
        "traces": [trace(row) for row in rows],
        "count": len(rows),
        "averageMs": _mean([row.total_ms for row in rows]),
        "byMode": dict(Counter(row.mode for row in rows)),
        **_looked(found),
    }


def timings(found: Listed[SessionTiming]) -> Row:
    """Extractions, with averages over those that are shown."""
    rows = found.rows
    succeeded = sum(row.success for row in rows)
    return {
        "timings": [timing(row) for row in rows],
        "count": len(rows),
        "succeeded": succeeded,
        "failed": len(rows) - succeeded,
        "averages": {
            "queueWaitMs": _mean([row.queue_wait_ms for row in rows]),
            "modelMs": _mean([row.model_ms for row in rows]),
            "indexMs": _mean([row.index_ms for row in rows]),
            "totalMs": _mean([row.total_ms for row in rows]),
        },
        **_looked(found),
    }


def failures(found: FailureSummary) -> Row:
    """Failures by class, and the newest."""
    return {
        "total": found.total,
        "byErrorClass": found.classes,
        "failures": [failure(row) for row in found.recent.rows],
        **_looked(found.recent),
    }


def trends(asked: TrendsRequest, found: Trend) -> Row:
    """The series, oldest first; an average of nothing is null."""
    return {
        "windowSec": asked.windowSec,
        "bucketSec": asked.bucketSec,
        "from": iso(found.from_ms),
        "to": iso(found.to_ms),
        "truncated": found.truncated,
        "buckets": [
            {
                "at": iso(bucket.from_ms),
                "atEpoch": bucket.from_ms,
                "searchCount": bucket.searches,
                "avgSearchMs": bucket.search_ms,
                "queueCount": bucket.extractions,
                "avgQueueTotalMs": bucket.extraction_ms,
                "failureCount": bucket.failures,
            }
            for bucket in found.buckets
        ],
    }


def index_status(state: IndexState) -> Row:
    """`mode` is the configured backend; `sqlite` means the store's own index, on either engine."""
    status = state.status
    own = status.backend != "chroma"
    return {
        "mode": "sqlite" if status.backend == state.engine else status.backend,
        "model": status.model,
        "dimension": status.dimension,
        "sqlite": {
            "used": own,
            "engine": state.engine,
            "embeddings": status.indexed.get(state.engine) if own else None,
        },
        "chroma": {
            "configured": state.outside,
            "reachable": state.silence is None if state.outside else None,
            "embeddings": status.indexed.get("chroma"),
            "error": state.silence,
        },
        "waiting": status.waiting,
        "complete": status.complete,
        "formerModels": list(status.former),
        "notes": list(status.notes),
    }


def retried(outcome: Retried) -> Row:
    """The answer to `POST /api/ops/retry-failed`."""
    return {"success": True, "retried": outcome.count, "more": outcome.more}


def backfilled(outcome: Sent | NotSent) -> Row:
    """The answer to `POST /api/ops/backfill/chroma`."""
    if isinstance(outcome, NotSent):
        return _sent({}) | {"skipped": True, "reason": outcome.reason, "next": None}
    after = outcome.after
    place = f"{after.created_ms}.{after.seq}" if after is not None else None
    return _sent(outcome.counts) | {"skipped": False, "next": place}


def _sent(counts: Mapping[Kind, int]) -> Row:
    return {
        "success": True,
        "observations": counts.get(Kind.OBSERVATION, 0),
        "summaries": counts.get(Kind.SUMMARY, 0),
        "prompts": counts.get(Kind.PROMPT, 0),
    }


def _about(subject: object) -> Row:
    session = entries.numbered(subject, "session") if isinstance(subject, str) else None
    return {"sessionDbId": session} if session is not None else {}


def _when(seq: int, at_ms: int) -> Row:
    return {"id": seq, "at": iso(at_ms), "atEpoch": at_ms}


def _looked(found: Listed[Any]) -> Row:
    return {"scanned": found.scanned, "truncated": found.truncated}


def _mean(values: list[float]) -> float | None:
    return round(fmean(values), 3) if values else None
