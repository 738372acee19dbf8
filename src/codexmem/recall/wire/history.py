"""What memories of any kind said in earlier versions, on the wire. Times are milliseconds since 1970."""

from typing import Any, Self

from pydantic import Field

from codexmem.kernel.model import handle
from codexmem.kernel.model.history import MemoryVersion, Op
from codexmem.kernel.model.memory import Kind, State, Status
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.provenance import ComparedStates, VersionPage

# Kept for machines: which events and file contents it rests on, and how its fields are read.
_SILENT = frozenset({"attrs", "blobs", "events", "schema_version", "prompt_number", "discovery_tokens"})


class MemoryVersionLine(WireAnswer):
    """One write."""

    version: int
    op: Op
    actor: str
    source: str | None
    note: str = Field(description="the reason, or the act")
    delta: str | None = Field(description="the writes it belongs to, which can be undone together")
    undone: bool = Field(description="whether that delta was undone")
    created_ms: int
    status: Status
    changed: tuple[str, ...] = Field(description="fields that differ from the version before")

    @classmethod
    def of(cls, each: MemoryVersion, before: MemoryVersion | None, undone: frozenset[str]) -> Self:
        """One write, after another one."""
        return cls(
            version=each.version,
            op=each.op,
            actor=each.actor,
            source=each.source,
            note=each.note,
            delta=each.delta,
            undone=each.delta in undone,
            created_ms=each.created_ms,
            status=each.state.status,
            changed=tuple(_differing(before.state, each.state)) if before is not None else (),
        )


class MemoryVersions(WireAnswer):
    """Versions of one memory, the newest first."""

    ref: str
    seq: int
    kind: Kind
    current: int
    items: tuple[MemoryVersionLine, ...]
    next_cursor: str | None
    has_more: bool

    @classmethod
    def of(cls, page: VersionPage, next_cursor: str | None) -> Self:
        """A page, and where the next one begins."""
        memory = page.memory
        pairs = zip(page.versions, (*page.versions[1:], page.before), strict=True)
        return cls(
            ref=handle.ref(memory),
            seq=memory.seq,
            kind=memory.kind,
            current=memory.version,
            items=tuple(MemoryVersionLine.of(*pair, page.undone) for pair in pairs),
            next_cursor=next_cursor,
            has_more=next_cursor is not None,
        )


class MemoryState(WireAnswer):
    """What a memory said in one version."""

    version: int
    op: Op
    actor: str
    note: str
    created_ms: int
    title: str
    content: str
    status: Status

    @classmethod
    def of(cls, each: MemoryVersion) -> Self:
        """This version."""
        state = each.state
        return cls(
            version=each.version,
            op=each.op,
            actor=each.actor,
            note=each.note,
            created_ms=each.created_ms,
            title=state.title,
            content=state.content,
            status=state.status,
        )


class FieldChange(WireAnswer):
    """A field in which two states of a memory differ."""

    field: str = Field(description="content, title, type, project, priority, another one, or a field of its kind")
    before: Any
    after: Any


class MemoryDiff(WireAnswer):
    """Two versions of one memory, or how it stands and how it would stand after a rollback."""

    ref: str
    seq: int
    current: int
    before: MemoryState
    after: MemoryState
    changes: tuple[FieldChange, ...]

    @classmethod
    def of(cls, compared: ComparedStates) -> Self:
        """These two."""
        memory, before, after = compared.memory, compared.before, compared.after
        return cls(
            ref=handle.ref(memory),
            seq=memory.seq,
            current=memory.version,
            before=MemoryState.of(before),
            after=MemoryState.of(after),
            changes=field_changes(before.state, after.state, without=frozenset({"content"})),
        )


def field_changes(before: State, after: State, *, without: frozenset[str]) -> tuple[FieldChange, ...]:
    """The fields that differ, those of its kind among them."""
    return tuple(
        FieldChange(field=name, before=old, after=new)
        for name, (old, new) in _differing(before, after).items()
        if name not in without
    )


def _differing(before: State, after: State) -> dict[str, tuple[Any, Any]]:
    old, new = ({**each.without_credit().to_json(), **each.attrs.to_json()} for each in (before, after))
    names = [name for name in dict.fromkeys((*old, *new)) if name not in _SILENT]
    return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}
