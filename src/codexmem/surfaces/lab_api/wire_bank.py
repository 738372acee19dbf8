"""Lessons, learnings, deltas and rollbacks as contract 002 spells them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.history import Mode, Op, Version
from codexmem.domain.job import Job
from codexmem.domain.lab import MAX_REASON, SCHEMA_VERSION
from codexmem.domain.lesson import GLOBAL, MAX_CONTENT, MAX_ROLE, LessonType, attrs_of
from codexmem.domain.memory import Memory, State, Status
from codexmem.services.lab.bank import Edit, NewNote, extra_of
from codexmem.services.lab.learning import Queued, spelled_job
from codexmem.services.lab.learnings import Outline, Whole, Written
from codexmem.services.lab.rollback import LessonChange, Preview, Prospect, Recorded, TakenBack
from codexmem.surfaces.lab_api.wire import Extra, SchemaVersion, seconds

ShownStatus = Literal["active", "archived"]
_Content = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)]
_Role = Annotated[str, Field(min_length=1, max_length=MAX_ROLE)]
# What a delta did, in the contract's words; a rollback restores and removes.
_OPS = {Op.ADD: "add", Op.UPDATE: "update", Op.ARCHIVE: "archive", Op.RESTORE: "restore", Op.DELETE: "remove"}


class NoteRequest(BaseModel):
    """`POST /memories`: a note that a person writes."""

    model_config = ConfigDict(frozen=True)

    content: _Content
    role: _Role = GLOBAL
    type: Literal["manual_note"] = LessonType.MANUAL.value
    source_run_id: Annotated[str, Field(max_length=200)] | None = None
    schema_version: SchemaVersion = SCHEMA_VERSION
    extra: Extra = {}

    def to_note(self) -> NewNote:
        """What is to be remembered."""
        return NewNote(self.content, self.role, self.source_run_id or None, self.schema_version, self.extra)


class EditRequest(BaseModel):
    """`PATCH /memories/{mem_id}`: only what is given changes."""

    model_config = ConfigDict(frozen=True)

    content: _Content | None = None
    role: _Role | None = None
    status: ShownStatus | None = None
    schema_version: SchemaVersion | None = None
    extra: Extra | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1, description="only if it is still this version")] | None = None

    def to_edit(self) -> Edit:
        """What changes."""
        status = Status(self.status) if self.status is not None else None
        return Edit(self.content, self.role, status, self.schema_version, self.extra)


class RollbackRequest(BaseModel):
    """`POST …/rollback`, and its preview."""

    model_config = ConfigDict(frozen=True)

    delta_id: Annotated[str, Field(max_length=200)] | None = None  # the last learning that stands, if left out
    mode: Mode = Mode.STRICT
    relearn: bool = False
    reason: Annotated[str, Field(max_length=MAX_REASON)] = ""


def memory(given: Memory) -> dict[str, Any]:
    """One lesson."""
    attrs = attrs_of(given.state)
    return {
        "mem_id": given.id,
        **_state(given.state),
        "source_run_id": attrs.runs[0] if attrs.runs else None,
        "created_at": seconds(given.created_ms),
        "updated_at": seconds(given.updated_ms),
        "schema_version": attrs.schema_version,
        "extra": extra_of(given.state),
        "version": given.version,
    }


def job(given: Job, run_id: str) -> dict[str, Any]:
    """One learning."""
    result = given.result or {}
    return {
        "rb_job_id": spelled_job(given.id),
        "run_id": run_id,
        "kind": "learn",
        "created_at": seconds(given.created_ms),
        "started_at": seconds(given.started_ms),
        "ended_at": seconds(given.ended_ms),
        "status": given.status.value,
        "error": given.error,
        "delta_id": result.get("delta_id"),
        "n_ops": result.get("n_ops"),
        "reason": result.get("reason"),
        "attempts": given.attempts,
        "schema_version": SCHEMA_VERSION,
        "extra": {},
    }


def queued(given: Queued) -> dict[str, Any]:
    """A learning that was asked for."""
    return {"run_id": given.run_id, "job_id": spelled_job(given.job_id), "status": "queued"}


def delta(given: Recorded, run_id: str) -> dict[str, Any]:
    """One delta."""
    return {
        "delta_id": given.delta.id,
        "run_id": run_id,
        "created_at": seconds(given.delta.created_ms),
        "cause": given.delta.cause,
        "status": given.delta.status.value,
        "reverts": given.delta.reverts,
        "ops": [_change(each) for each in given.changes],
        "schema_version": SCHEMA_VERSION,
        "extra": {},
    }


def outline(given: Outline) -> dict[str, Any]:
    """One delta of any run, by how much it did."""
    counts = {name: given.ops.get(op, 0) for op, name in _OPS.items()}
    return {
        "delta_id": given.delta.id,
        "run_id": given.run_id,
        "created_at": seconds(given.delta.created_ms),
        "cause": given.delta.cause,
        "status": given.delta.status.value,
        "reverts": given.delta.reverts,
        "actor": given.delta.actor,
        "n_ops": sum(counts.values()),
        "counts": counts,
        "schema_version": SCHEMA_VERSION,
        "extra": {},
    }


def whole(given: Whole) -> dict[str, Any]:
    """The same with every write: before, after, and who has written there since."""
    return {**outline(given.outline), "ops": [_written(each) for each in given.written]}


def version(given: Version) -> dict[str, Any]:
    """What a lesson said at one time."""
    source = given.source or ""
    return {
        "version": given.version,
        "op": _OPS[given.op],
        "actor": given.actor,
        "created_at": seconds(given.created_ms),
        "delta_id": given.delta,
        "source_run_id": source.removeprefix("run:") if source.startswith("run:") else None,
        "note": given.note,
        **_state(given.state),
    }


def preview(given: Preview, run_id: str) -> dict[str, Any]:
    """What a rollback would change."""
    return {
        "run_id": run_id,
        "delta_id": given.delta.id,
        "status": given.delta.status.value,
        "mode": given.mode.value,
        "changes": [_prospect(each) for each in given.prospects],
        "overwritten_mem_ids": given.overwritten,
        "later_delta_ids": given.later_deltas,
    }


def taken_back(given: TakenBack, run_id: str) -> dict[str, Any]:
    """What a rollback did."""
    return {
        "run_id": run_id,
        "delta_id": given.delta.id,
        "status": given.delta.status.value,
        "rollback_delta_id": given.undone_by,
        "restored_mem_ids": list(given.restored),
        "left_mem_ids": list(given.left),
        "learning": queued(given.relearning) if given.relearning is not None else None,
    }


def _state(given: State) -> dict[str, Any]:
    attrs = attrs_of(given)
    return {
        "status": given.status.value,
        "role": attrs.role,
        "type": given.type,
        "title": given.title,
        "content": given.content,
        "confidence": given.confidence,
        "run_ids": list(attrs.runs),
        "edited_by_hand": attrs.by_hand,
    }


def _change(given: LessonChange) -> dict[str, Any]:
    """`before` and `after` are the whole states, as the store keeps them."""
    return {
        "op": _OPS[given.op],
        "mem_id": given.mem_id,
        "before": given.before.to_json() if given.before is not None else None,
        "after": given.after.to_json(),
    }


def _written(given: Written) -> dict[str, Any]:
    return {
        "op": _OPS[given.op],
        "mem_id": given.mem_id,
        "version": given.version,
        "before": given.before.to_json() if given.before is not None else None,
        "after": given.after.to_json(),
        "edited_since": [
            {
                "version": each.version,
                "op": _OPS[each.op],
                "actor": each.actor,
                "created_at": seconds(each.created_ms),
                "delta_id": each.delta,
                "by_hand": each.delta is None,
            }
            for each in given.since
        ],
        "more_since": given.more,
    }


def _prospect(given: Prospect) -> dict[str, Any]:
    return {
        "op": "keep" if given.stays else "remove" if given.removes else "restore",
        "mem_id": given.memory.id,
        "now": given.memory.state.to_json(),
        "then": (given.memory.state if given.stays else given.target).to_json(),
        "written_since": [
            {
                "version": each.version,
                "actor": each.actor,
                "created_at": seconds(each.created_ms),
                "delta_id": each.delta,
            }
            for each in given.since
        ],
    }
