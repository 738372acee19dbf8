"""How audit rows are spelled: as they stand in a wrapper's log."""

import json
import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from codexmem.audit.service import MAX_PAGE, MAX_ROWS, AuditAccepted, AuditFilter
from codexmem.http.moments import TimeRange, stretch
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.wire import WireAnswer

_LOST_PLUS = re.compile(r" (\d\d:?\d\d)$")  # of a time zone, in an address that did not escape it
_MAX_ARGUMENTS = 16_384  # characters of JSON
_Name = Annotated[str, Field(max_length=400)]
_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(ge=0, lt=2**53)]
_Decision = Literal["allow", "deny", "ask"]
_Kind = Literal["request", "started", "result", "recovered"]


class AuditRow(BaseModel):
    """One row of an audit log."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seq: Annotated[int, Field(ge=1, lt=2**53)]
    prev: _Hash
    hash: _Hash
    kind: _Kind
    timestamp: _Name = ""
    at_ms: _Count = 0
    run_id: _Name = ""
    project_id: _Name = ""
    agent: _Name = ""
    call_id: _Name = ""
    tool: _Name = ""
    server: _Name = ""
    risk: Literal["read", "write", "network", "execute"] | None = None
    arguments: dict[str, object] | None = None
    arguments_hash: _Name = ""
    from_text: bool = False
    decision: _Decision | None = None
    reason: Annotated[str, Field(max_length=2_000)] = ""
    by: _Name = ""
    rule: _Name = ""
    cause: _Name | None = None
    result: Literal["success", "failure"] | None = None
    duration_ms: _Count | None = None
    problem: _Name = ""
    torn: dict[str, object] | None = None

    @field_validator("arguments", "torn")
    @classmethod
    def _bounded(cls, value: dict[str, object] | None) -> dict[str, object] | None:
        if value is not None and len(json.dumps(value, ensure_ascii=False)) > _MAX_ARGUMENTS:
            raise ValueError(f"at most {_MAX_ARGUMENTS} characters of JSON")
        return value


class AuditBatch(BaseModel):
    """`POST /v1/audit`: rows of one log, in the order of their numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    log: Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="which log: the same for all of its rows")]
    rows: Annotated[list[AuditRow], Field(max_length=MAX_ROWS)]


class AuditQuery(BaseModel):
    """`GET /v1/audit`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: _Name = ""
    decision: _Decision | None = None
    project_id: _Name = ""
    run_id: _Name = ""
    kind: _Kind | None = None
    chain: Literal["follows", "broken", "forked", "unknown"] | None = None
    from_: str | None = Field(
        default=None, alias="from", max_length=40, description="arrived not before: ISO 8601, or epoch in s or ms"
    )
    to: str | None = Field(default=None, max_length=40, description="not after, inclusive; a day means all of it (UTC)")
    cursor: Annotated[str, Field(max_length=40)] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    outcomes: bool = Field(
        default=False, description="a request carries how it ended, instead of a row of its own for that"
    )

    def wanted(self) -> AuditFilter:
        """As the service is asked."""
        first, last = _moment("from", self.from_), _moment("to", self.to)
        return AuditFilter(
            self.tool, self.decision or "", self.project_id, self.run_id, self.kind or "", self.chain or "",
            **({"from_ms": first.first_ms} if first is not None else {}),
            **({"to_ms": last.last_ms} if last is not None else {}),
        )  # fmt: skip


class AuditTaken(WireAnswer):
    """What became of a batch."""

    accepted: int
    deduped: int = Field(description="rows that were here already")
    broken: tuple[int, ...] = Field(description="numbers of rows that do not follow the one before")
    forked: tuple[int, ...] = Field(
        description="numbers of rows that were here with another hash: the log was rewritten"
    )

    @classmethod
    def of(cls, taken: AuditAccepted) -> Self:
        """What was taken in."""
        return cls(accepted=taken.accepted, deduped=taken.deduped, broken=taken.broken, forked=taken.forked)


class AuditOutcome(BaseModel):
    """How a call ended, as a later row of its log told."""

    model_config = ConfigDict(extra="forbid")

    id: str
    seq: int
    at_ms: int | None
    result: Literal["success", "failure"] | None
    duration_ms: int | None
    chain: Literal["follows", "broken", "forked", "unknown"]


class AuditItem(BaseModel):
    """One row as it was sent, with what is known of its arrival; what was not sent is not there."""

    model_config = ConfigDict(extra="forbid")

    id: str
    received_at_ms: int
    log: str
    chain: Literal["follows", "broken", "forked", "unknown"]
    actor: str = Field(description="who sent it")
    seq: int
    prev: str
    hash: str
    kind: _Kind
    timestamp: str | None = None
    at_ms: int | None = None
    run_id: str | None = None
    project_id: str | None = None
    agent: str | None = None
    call_id: str | None = None
    tool: str | None = None
    server: str | None = None
    risk: Literal["read", "write", "network", "execute"] | None = None
    arguments: dict[str, object] | None = None
    arguments_hash: str | None = None
    from_text: bool | None = None
    decision: _Decision | None = None
    reason: str | None = None
    by: str | None = None
    rule: str | None = None
    cause: str | None = None
    result: Literal["success", "failure"] | None = None
    duration_ms: int | None = None
    problem: str | None = None
    torn: dict[str, object] | None = None
    outcome: AuditOutcome | None = Field(default=None, description="of a request, if outcomes were asked for")


class AuditPage(BaseModel):
    """Rows, the last to arrive first."""

    model_config = ConfigDict(extra="forbid")

    items: list[AuditItem]
    next: str | None = Field(description="the cursor of the next page")
    scanned: int
    truncated: bool = Field(description="older rows were not looked at yet; go on with next")


def _moment(name: str, text: str | None) -> TimeRange | None:
    if not text:
        return None
    try:
        return stretch(_LOST_PLUS.sub(r"+\1", text.strip()))
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"{name}: {text!r} is not a time", hint="send epoch seconds or milliseconds, or an ISO 8601 date"
        ) from None
