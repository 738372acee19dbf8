"""Lessons, learnings, deltas and rollbacks as contract 002 spells them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.living import LivingFields
from codexmem.kernel.model.history import Delta, DeltaStatus, MemoryVersion, Mode, Op
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Memory, State, Status
from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.lab.lesson_model import (
    GLOBAL,
    MAX_CONTENT,
    MAX_ROLE,
    LessonEdit,
    LessonType,
    NewLesson,
    attrs_of,
    extra_of,
    spelled_job,
)
from codexmem.lab.model import MAX_REASON, SCHEMA_VERSION
from codexmem.lab.wire.fields import Document, EpochSeconds, Extra, SchemaVersion, seconds

if TYPE_CHECKING:
    from codexmem.lab.service.learning import QueuedLearning
    from codexmem.lab.service.learnings import (
        DeltaDetail,
        DeltaOutline,
        DeltaWrite,
        Later,
        LessonChange,
        Preview,
        Prospect,
        Recorded,
        RolledBack,
    )

ShownStatus = Literal["active", "archived"]
_Content = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)]
_Role = Annotated[str, Field(min_length=1, max_length=MAX_ROLE)]
# What a delta did, in the contract's words; a rollback restores and removes.
_Done = Literal["add", "update", "archive", "restore", "remove"]
_OPS: Mapping[Op, _Done] = {
    Op.ADD: "add", Op.UPDATE: "update", Op.ARCHIVE: "archive", Op.RESTORE: "restore", Op.DELETE: "remove"
}  # fmt: skip
_LEARNED = "rbd_"  # with which ids of deltas of learning and of its rollback begin


class NoteRequest(BaseModel):
    """`POST /memories`: a note that a person writes."""

    model_config = ConfigDict(frozen=True)

    content: _Content
    role: _Role = GLOBAL
    type: Literal["manual_note"] = LessonType.MANUAL.value
    source_run_id: Annotated[str, Field(max_length=200)] | None = None
    schema_version: SchemaVersion = SCHEMA_VERSION
    extra: Extra = {}

    def to_note(self) -> NewLesson:
        """What is to be remembered."""
        return NewLesson(self.content, self.role, self.source_run_id or None, self.schema_version, self.extra)


class EditRequest(BaseModel):
    """`PATCH /memories/{mem_id}`: only what is given changes."""

    model_config = ConfigDict(frozen=True)

    content: _Content | None = None
    role: _Role | None = None
    status: ShownStatus | None = None
    schema_version: SchemaVersion | None = None
    extra: Extra | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1, description="only if it is still this version")] | None = None

    def to_edit(self) -> LessonEdit:
        """What changes."""
        status = Status(self.status) if self.status is not None else None
        return LessonEdit(self.content, self.role, status, self.schema_version, self.extra)


class RollbackRequest(BaseModel):
    """`POST …/rollback`, and its preview."""

    model_config = ConfigDict(frozen=True)

    delta_id: Annotated[str, Field(max_length=200)] | None = None  # the last learning that stands, if left out
    mode: Mode = Mode.STRICT
    relearn: bool = False
    reason: Annotated[str, Field(max_length=MAX_REASON)] = ""


class LabLesson(LivingFields):
    """One lesson."""

    mem_id: str
    seq: int
    project: str
    status: str
    role: str
    type: str
    title: str
    content: str
    confidence: Figure
    run_ids: tuple[str, ...]
    edited_by_hand: bool
    source_run_id: str | None
    created_at: EpochSeconds
    updated_at: EpochSeconds
    schema_version: int
    extra: Document
    version: int

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """This one."""
        attrs = attrs_of(memory.state)
        return cls(
            mem_id=memory.id,
            seq=memory.seq,
            **cls.living(memory),
            project=memory.state.project,
            **_said(memory.state),
            source_run_id=attrs.runs[0] if attrs.runs else None,
            created_at=seconds(memory.created_ms),
            updated_at=seconds(memory.updated_ms),
            schema_version=attrs.schema_version,
            extra=extra_of(memory.state),
            version=memory.version,
        )


class OneLesson(WireAnswer):
    """A lesson, by itself."""

    memory: LabLesson


class LessonVersion(WireAnswer):
    """What a lesson said at one time."""

    version: int
    op: str
    actor: str
    created_at: EpochSeconds
    delta_id: str | None
    source_run_id: str | None
    note: str
    status: str
    role: str
    type: str
    title: str
    content: str
    confidence: Figure
    run_ids: tuple[str, ...]
    edited_by_hand: bool

    @classmethod
    def of(cls, version: MemoryVersion) -> Self:
        """This one."""
        source = version.source or ""
        return cls(
            version=version.version,
            op=_OPS[version.op],
            actor=version.actor,
            created_at=seconds(version.created_ms),
            delta_id=version.delta,
            source_run_id=source.removeprefix("run:") if source.startswith("run:") else None,
            note=version.note,
            **_said(version.state),
        )


class _LessonFields(TypedDict):
    status: str
    role: str
    type: str
    title: str
    content: str
    confidence: float
    run_ids: tuple[str, ...]
    edited_by_hand: bool


def _said(state: State) -> _LessonFields:
    attrs = attrs_of(state)
    return {
        "status": state.status.value, "role": attrs.role, "type": state.type, "title": state.title,
        "content": state.content, "confidence": state.confidence, "run_ids": attrs.runs,
        "edited_by_hand": attrs.by_hand,
    }  # fmt: skip


class LessonRoles(WireAnswer):
    """Whom lessons can be for."""

    roles: tuple[str, ...]


class LearningQueued(WireAnswer):
    """A learning that was asked for."""

    run_id: str
    job_id: str
    status: str

    @classmethod
    def of(cls, queued: "QueuedLearning") -> Self:
        """This one."""
        return cls(run_id=queued.run_id, job_id=spelled_job(queued.job_id), status="queued")


class LearningJob(WireAnswer):
    """One learning."""

    rb_job_id: str
    run_id: str
    kind: str
    created_at: EpochSeconds
    started_at: EpochSeconds | None
    ended_at: EpochSeconds | None
    status: JobStatus
    error: str | None
    delta_id: str | None
    n_ops: int | None
    reason: Literal["dry_run"] | None = Field(description="why nothing was learned: a dry run teaches nothing")
    attempts: int
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, job: Job, run_id: str) -> Self:
        """A job that learns from this run."""
        result = job.result or {}
        return cls(
            rb_job_id=spelled_job(job.id),
            run_id=run_id,
            kind="learn",
            created_at=seconds(job.created_ms),
            started_at=seconds(job.started_ms),
            ended_at=seconds(job.ended_ms),
            status=job.status,
            error=job.error,
            delta_id=result.get("delta_id"),
            n_ops=result.get("n_ops"),
            reason=result.get("reason"),
            attempts=job.attempts,
            schema_version=SCHEMA_VERSION,
            extra={},
        )


class RunLearnings(WireAnswer):
    """The learnings of one run."""

    run_id: str
    jobs: tuple[LearningJob, ...]

    @classmethod
    def of(cls, run_id: str, jobs: Iterable[Job]) -> Self:
        """These."""
        return cls(run_id=run_id, jobs=tuple(LearningJob.of(each, run_id) for each in jobs))


class LessonState(WireAnswer):
    """A lesson's whole state, as the store keeps it."""

    content: str
    attrs: Document
    project: str
    status: str
    type: str
    title: str
    priority: int
    confidence: Figure
    uris: tuple[str, ...]
    links: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, state: State) -> Self:
        """This one."""
        return cls.model_validate(state.to_json())


class DeltaChange(WireAnswer):
    """What a delta did to one lesson."""

    op: _Done
    mem_id: str
    before: LessonState | None
    after: LessonState

    @classmethod
    def of(cls, change: "LessonChange") -> Self:
        """This."""
        return cls(
            op=_OPS[change.op],
            mem_id=change.mem_id,
            before=LessonState.of(change.before) if change.before is not None else None,
            after=LessonState.of(change.after),
        )


class _DeltaHead(WireAnswer):
    delta_id: str
    run_id: str
    created_at: EpochSeconds
    cause: str
    status: DeltaStatus
    reverts: str | None


class _HeadFields(TypedDict):
    delta_id: str
    created_at: float
    cause: str
    status: DeltaStatus
    reverts: str | None
    schema_version: int
    extra: dict[str, object]


def _head(delta: Delta) -> _HeadFields:
    return {
        "delta_id": delta.id, "created_at": seconds(delta.created_ms), "cause": delta.cause, "status": delta.status,
        "reverts": delta.reverts, "schema_version": SCHEMA_VERSION, "extra": {},
    }  # fmt: skip


class LabDelta(_DeltaHead):
    """One delta of a run."""

    ops: tuple[DeltaChange, ...]
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, recorded: "Recorded", run_id: str) -> Self:
        """This one."""
        return cls(**_head(recorded.delta), run_id=run_id, ops=tuple(DeltaChange.of(each) for each in recorded.changes))


class RunDeltas(WireAnswer):
    """A page of the deltas of one run."""

    run_id: str
    items: tuple[LabDelta, ...]
    next_cursor: str | None
    has_more: bool

    @classmethod
    def of(cls, run_id: str, deltas: "Sequence[Recorded]", next_cursor: str | None) -> Self:
        """These, and where the next page starts if there is one."""
        items = tuple(LabDelta.of(each, run_id) for each in deltas)
        return cls(run_id=run_id, items=items, next_cursor=next_cursor, has_more=next_cursor is not None)


class DeltaCounts(WireAnswer):
    """How many lessons a delta wrote, by what it did."""

    add: int
    update: int
    archive: int
    restore: int
    remove: int


class LabDeltaOutline(_DeltaHead):
    """One delta of any run, by how much it did."""

    actor: str
    n_ops: int
    counts: DeltaCounts
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, outline: "DeltaOutline", **more: Any) -> Self:
        """This one, with the further fields of a larger document."""
        counts: dict[str, int] = {name: outline.ops.get(op, 0) for op, name in _OPS.items()}
        return cls(
            **_head(outline.delta),
            run_id=outline.run_id,
            actor=outline.delta.actor,
            n_ops=sum(counts.values()),
            counts=DeltaCounts(**counts),
            **more,
        )


class LaterEdit(WireAnswer):
    """A write that came after a delta's."""

    version: int
    op: _Done
    actor: str
    created_at: EpochSeconds
    delta_id: str | None
    by_hand: bool


class DeltaOp(WireAnswer):
    """One write of a delta: before, after, and who has written there since."""

    op: _Done
    mem_id: str
    version: int
    before: LessonState | None
    after: LessonState
    edited_since: tuple[LaterEdit, ...]
    more_since: bool

    @classmethod
    def of(cls, write: "DeltaWrite") -> Self:
        """This one."""
        return cls(
            op=_OPS[write.op],
            mem_id=write.mem_id,
            version=write.version,
            before=LessonState.of(write.before) if write.before is not None else None,
            after=LessonState.of(write.after),
            edited_since=tuple(
                LaterEdit(
                    version=each.version,
                    op=_OPS[each.op],
                    actor=each.actor,
                    created_at=seconds(each.created_ms),
                    delta_id=each.delta,
                    by_hand=each.delta is None or not each.delta.startswith(_LEARNED),
                )
                for each in write.since
            ),
            more_since=write.more,
        )


class WholeDelta(LabDeltaOutline):
    """One delta of any run with every write."""

    ops: tuple[DeltaOp, ...]


class OneDelta(WireAnswer):
    """`GET /reasoningbank/deltas/{delta_id}`."""

    delta: WholeDelta

    @classmethod
    def of(cls, detail: "DeltaDetail") -> Self:
        """This one."""
        return cls(delta=WholeDelta.of(detail.outline, ops=tuple(DeltaOp.of(each) for each in detail.written)))


class WrittenSince(WireAnswer):
    """A write that came after a learning, to a lesson that it touched."""

    version: int
    actor: str
    created_at: EpochSeconds
    delta_id: str | None

    @classmethod
    def of(cls, later: "Later") -> Self:
        """This one."""
        return cls(version=later.version, actor=later.actor, created_at=seconds(later.created_ms), delta_id=later.delta)


class RollbackChange(WireAnswer):
    """What a rollback would do to one lesson."""

    op: Literal["keep", "remove", "restore"]
    mem_id: str
    now: LessonState
    then: LessonState
    written_since: tuple[WrittenSince, ...]

    @classmethod
    def of(cls, prospect: "Prospect") -> Self:
        """This."""
        return cls(
            op="keep" if prospect.stays else "remove" if prospect.removes else "restore",
            mem_id=prospect.memory.id,
            now=LessonState.of(prospect.memory.state),
            then=LessonState.of(prospect.memory.state if prospect.stays else prospect.target),
            written_since=tuple(WrittenSince.of(each) for each in prospect.since),
        )


class RollbackPreview(WireAnswer):
    """What a rollback would change."""

    run_id: str
    delta_id: str
    status: str
    mode: Mode
    changes: tuple[RollbackChange, ...]
    overwritten_mem_ids: tuple[str, ...]
    later_delta_ids: tuple[str, ...]

    @classmethod
    def of(cls, preview: "Preview", run_id: str) -> Self:
        """This."""
        return cls(
            run_id=run_id,
            delta_id=preview.delta.id,
            status=preview.delta.status.value,
            mode=preview.mode,
            changes=tuple(RollbackChange.of(each) for each in preview.prospects),
            overwritten_mem_ids=tuple(preview.overwritten),
            later_delta_ids=tuple(preview.later_deltas),
        )


class RollbackDone(WireAnswer):
    """What a rollback did."""

    run_id: str
    delta_id: str
    status: str
    rollback_delta_id: str | None
    restored_mem_ids: tuple[str, ...]
    left_mem_ids: tuple[str, ...]
    learning: LearningQueued | None

    @classmethod
    def of(cls, done: "RolledBack", run_id: str) -> Self:
        """This."""
        return cls(
            run_id=run_id,
            delta_id=done.delta.id,
            status=done.delta.status.value,
            rollback_delta_id=done.undone_by,
            restored_mem_ids=done.restored,
            left_mem_ids=done.left,
            learning=LearningQueued.of(done.relearning) if done.relearning is not None else None,
        )
