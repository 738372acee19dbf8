"""How audit rows are spelled: as they stand in a wrapper's log."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from codexmem.services.auditing import MAX_PAGE, MAX_ROWS, Page, TakenIn, Wanted

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
    arguments: dict[str, Any] | None = None
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
    torn: dict[str, Any] | None = None

    @field_validator("arguments", "torn")
    @classmethod
    def _bounded(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
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
    cursor: Annotated[str, Field(max_length=40)] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50

    def wanted(self) -> Wanted:
        """As the service is asked."""
        return Wanted(
            self.tool, self.decision or "", self.project_id, self.run_id, self.kind or "", self.chain or ""
        )  # fmt: skip


class AuditTaken(BaseModel):
    """What became of a batch."""

    accepted: int
    deduped: int = Field(description="rows that were here already")
    broken: list[int] = Field(description="numbers of rows that do not follow the one before")
    forked: list[int] = Field(description="numbers of rows that were here with another hash: the log was rewritten")


class AuditPage(BaseModel):
    """Rows, the last to arrive first."""

    items: list[dict[str, Any]]
    next: str | None = Field(description="the cursor of the next page")
    scanned: int
    truncated: bool = Field(description="older rows were not looked at yet; go on with next")


def taken(outcome: TakenIn) -> dict[str, Any]:
    """What became of a batch, as it is told."""
    return {"accepted": outcome.accepted, "deduped": outcome.deduped, "broken": list(outcome.broken),
            "forked": list(outcome.forked)}  # fmt: skip


def page(found: Page) -> dict[str, Any]:
    """A page, as it is told."""
    return {"items": list(found.rows), "next": found.after, "scanned": found.scanned, "truncated": found.truncated}
