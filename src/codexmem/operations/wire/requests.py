"""What the operator's paths are asked (contract 000 §3.5), parsed once; in camel case on the wire alone."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from codexmem.http import moments
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.model.search import SearchMode
from codexmem.operations.service.reports import (
    BUCKET_S,
    MAX_EXPORTED,
    MAX_LISTED,
    WINDOW_S,
    FailureFilter,
    TimingFilter,
    TraceFilter,
    Within,
)
from codexmem.operations.service.upkeep import MAX_SENT

MessageType = Literal["observation", "summarize"]
_Number = Annotated[int, Field(ge=1, le=2**63 - 1)]
_Listed = Annotated[int, Field(ge=1, le=MAX_LISTED)]
_Exported = Annotated[int, Field(ge=1, le=MAX_EXPORTED)]
_LOST_PLUS = re.compile(r" (\d\d:?\d\d)$")  # of a time zone, in an address that did not escape it
_PLACE = re.compile(r"(\d{1,16})\.(\d{1,18})")


def spelled(name: str) -> str:
    """A field on the wire; Python's own words have a line behind them here."""
    return to_camel(name.rstrip("_"))


class _Asked(BaseModel):
    """What is unknown is ignored, and what is empty was not given."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=spelled)

    @model_validator(mode="before")
    @classmethod
    def _given(cls, raw: Any) -> Any:
        return {name: value for name, value in raw.items() if value != ""} if isinstance(raw, dict) else raw


class _Timed(_Asked):
    """Between two times."""

    from_: str | None = Field(default=None, description="Not before: ISO 8601, or epoch in s or ms.")
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

    limit: _Listed = 100
    query: str = Field(default="", description="Part of what was searched for, in any case.")
    project: str | None = None
    mode: SearchMode | None = None
    lookups: bool = Field(default=False, description="Also what codexmem looked up by itself.")

    def to_filter(self) -> TraceFilter:
        """Which searches."""
        return TraceFilter(self.within(), self.query, self.project, self.mode, self.lookups)


class TimingsRequest(_Timed):
    """`GET /api/ops/session-timings`."""

    limit: _Listed = 100
    session_db_id: _Number | None = None
    message_type: MessageType | None = None
    success: bool | None = None

    def to_filter(self) -> TimingFilter:
        """Which extractions."""
        return TimingFilter(self.within(), self.session_db_id, self.message_type, self.success)


class FailuresRequest(_Timed):
    """`GET /api/ops/failure-summary`."""

    limit: _Listed = 100
    session_db_id: _Number | None = None
    error_class: str | None = None
    message_type: MessageType | None = None

    def to_filter(self) -> FailureFilter:
        """Which failures."""
        return FailureFilter(self.within(), self.session_db_id, self.error_class, self.message_type)


class TracesExport(TracesRequest):
    """The same searches as a file."""

    limit: _Exported = MAX_EXPORTED
    format: Literal["csv", "ndjson"] = "csv"


class TimingsExport(TimingsRequest):
    """The same timings as a file."""

    limit: _Exported = MAX_EXPORTED
    format: Literal["csv", "ndjson"] = "csv"


class FailuresExport(FailuresRequest):
    """The same failures as a file."""

    limit: _Exported = MAX_EXPORTED
    format: Literal["csv", "ndjson"] = "csv"


class TrendsRequest(_Asked):
    """`GET /api/ops/trends`."""

    window_sec: Annotated[int, Field(ge=WINDOW_S.start, lt=WINDOW_S.stop)] = 3_600
    bucket_sec: Annotated[int, Field(ge=BUCKET_S.start, lt=BUCKET_S.stop)] = 60
    to: str | None = Field(default=None, description="The window's end, inclusive; now unless given.")

    def until_ms(self) -> int | None:
        """Where the window ends."""
        last = _moment("to", self.to)
        return last.last_ms if last is not None else None


class RetryRequest(_Asked):
    """`POST /api/ops/retry-failed`."""

    session_db_id: Annotated[int, Field(ge=1, le=2**63 - 1, strict=True)] | None = None


class BackfillRequest(_Asked):
    """`POST /api/ops/backfill/chroma`."""

    project: str | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_SENT, strict=True)] = 1_000
    after: str | None = Field(default=None, description="The `next` of the answer before, to go on where it ended.")

    def cursor(self) -> RowCursor | None:
        """Where to go on."""
        if self.after is None:
            return None
        place = _PLACE.fullmatch(self.after)
        if place is None:
            raise InvalidArgument(f"after: {self.after[:40]!r} is not a position", hint="send back `next` unchanged")
        return RowCursor(int(place[1]), int(place[2]))


def _moment(name: str, text: str | None) -> moments.TimeRange | None:
    if text is None:
        return None
    try:
        return moments.stretch(_LOST_PLUS.sub(r"+\1", text.strip()))
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"{name}: {text[:40]!r} is not a time", hint="send epoch seconds or milliseconds, or an ISO 8601 date"
        ) from None
