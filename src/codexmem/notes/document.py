"""Notes as a document that leaves the store and comes back: what one entry says, read and written.

A document is a caller's text: everything in it is checked as if it had been typed, and what it says about who wrote a
note counts for nothing. Core priorities are taken over only if the person who imports it says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self, TypedDict

from codexmem.kernel.model import address, note
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import MemoryVersion, Op
from codexmem.kernel.model.memory import MAX_PROJECT, MAX_TITLE, Memory, Origin, State, Status
from codexmem.kernel.model.note import CORE, LISTED
from codexmem.kernel.wire import WireAnswer
from codexmem.notes.model import MAX_VERSIONS

FORMAT, FORMAT_VERSION = "codexmem-notes", 1
MAX_ENTRIES = 1_000
MAX_RELATIONS = 200


@dataclass(frozen=True, slots=True)
class NoteEntryVersion:
    """One version of a note as a document tells it."""

    state: State
    op: Op
    note: str
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """One note as a document tells it."""

    state: State
    past: tuple[NoteEntryVersion, ...]  # oldest first, the present one last; empty if the document has no history
    relations: tuple[tuple[str, str], ...]  # relation and address
    created_ms: int | None
    reads: int
    vouched: bool  # whether the person who imports it answers for what is core
    lowered: bool  # whether its core priority was not taken over

    @property
    def uri(self) -> str:
        """Its first address."""
        return self.state.uris[0]


class NoteDocumentRelation(WireAnswer):
    """An address that a note points to."""

    relation: str
    uri: str


class NoteDocumentVersion(WireAnswer):
    """One version of a note, as it is exported; addresses only with relations."""

    version: int
    op: Op
    note: str
    content: str
    priority: int
    disclosure: str
    status: Status
    aliases: tuple[str, ...] | None = None
    actor: str
    created_at: str

    @classmethod
    def of(cls, version: MemoryVersion, *, aliases: bool) -> Self:
        """This one."""
        state = version.state
        named = {"aliases": state.uris[1:]} if aliases else {}
        return cls(
            version=version.version,
            op=version.op,
            note=version.note,
            content=state.content,
            priority=state.priority,
            disclosure=note.disclosure_of(state),
            status=state.status,
            actor=version.actor,
            created_at=iso(version.created_ms),
            **named,
        )


class _Company(TypedDict, total=False):
    aliases: tuple[str, ...]
    relations: tuple[NoteDocumentRelation, ...]
    versions: tuple[NoteDocumentVersion, ...]
    versions_left_out: int


class NoteDocumentEntry(WireAnswer):
    """One note, as it is exported; history and company only where they are asked for."""

    uri: str
    id: str
    content: str
    priority: int
    disclosure: str
    status: Status
    title: str
    project: str
    origin: Origin
    version: int
    access_count: int
    created_at: str
    updated_at: str
    aliases: tuple[str, ...] | None = None
    relations: tuple[NoteDocumentRelation, ...] | None = None
    versions: tuple[NoteDocumentVersion, ...] | None = None
    versions_left_out: int | None = None

    @classmethod
    def of(
        cls, memory: Memory, *, versions: list[MemoryVersion] | None, relations: list[tuple[str, str]] | None
    ) -> Self:
        """This one."""
        state = memory.state
        more: _Company = {}
        if relations is not None:
            more["aliases"] = state.uris[1:]
            more["relations"] = tuple(NoteDocumentRelation(relation=name, uri=uri) for name, uri in relations)
        if versions is not None:
            told = (NoteDocumentVersion.of(each, aliases=relations is not None) for each in reversed(versions))
            more["versions"] = tuple(told)
            more["versions_left_out"] = memory.version - len(versions)
        return cls(
            uri=note.primary(memory),
            id=memory.id,
            content=state.content,
            priority=state.priority,
            disclosure=note.disclosure_of(state),
            status=state.status,
            title=state.title,
            project=state.project,
            origin=memory.origin,
            version=memory.version,
            access_count=memory.counters.used,
            created_at=iso(memory.created_ms),
            updated_at=iso(memory.updated_ms),
            **more,
        )


class NoteDocument(WireAnswer):
    """Notes that leave a store."""

    format: str
    format_version: int
    exported_at: str
    domain: str | None
    include_versions: bool
    include_relations: bool
    count: int
    memories: tuple[NoteDocumentEntry, ...]


def entries_in(document: object, *, vouched: bool = False) -> list[NoteEntry]:
    """The notes of a document, or an error that says which of them is wrong, and how; core only if vouched for."""
    if not isinstance(document, Mapping) or not isinstance(document.get("memories"), list):
        raise InvalidArgument("data has no list of memories", hint="pass the result of export_memories")
    if document.get("format", FORMAT) != FORMAT or document.get("format_version", FORMAT_VERSION) != FORMAT_VERSION:
        raise InvalidArgument(f"data is not of the format {FORMAT}, version {FORMAT_VERSION}")
    raw = document["memories"]
    if len(raw) > MAX_ENTRIES:
        raise InvalidArgument(f"{len(raw):,} memories at once, at most {MAX_ENTRIES:,}", hint="import them in parts")
    found: list[NoteEntry] = []
    for number, each in enumerate(raw):
        try:
            found.append(_entry(each, vouched))
        except InvalidArgument as error:
            raise InvalidArgument(f"memories[{number}]: {error.message}", hint=error.hint) from None
    seen: dict[str, int] = {}
    for number, entry in enumerate(found):
        for uri in entry.state.uris:
            if seen.setdefault(uri, number) != number:
                raise InvalidArgument(f"memories[{number}]: {uri} is also an address of memories[{seen[uri]}]")
    return found


def iso(ms: int) -> str:
    """A time as documents and answers spell it."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entry(raw: object, vouched: bool) -> NoteEntry:
    if not isinstance(raw, Mapping):
        raise InvalidArgument("is no object")
    uri = note.fit_uri(_text(raw, "uri", required=True))
    state, lowered = _state(raw, uri, vouched)
    state = _with_rest(state, raw)
    past = [_past(each, uri, vouched, state) for each in _list(raw, "versions", MAX_VERSIONS)]
    relations = [
        (_text(each, "relation", required=True)[:64], address.normalise(_text(each, "uri", required=True)))
        for each in _list(raw, "relations", MAX_RELATIONS)
    ]
    if past and _visible_part(past[-1].state) != _visible_part(state):
        raise InvalidArgument("its last version differs from its content", hint="leave versions out to import the rest")
    return NoteEntry(
        state, tuple(past), tuple(relations), _time(raw, "created_at"), _whole(raw, "access_count", 0, 0, 2**31 - 1),
        vouched, lowered,
    )  # fmt: skip


def _with_rest(state: State, raw: Mapping[str, object]) -> State:
    title, project = _text(raw, "title"), _text(raw, "project")
    if len(title) > MAX_TITLE or len(project) > MAX_PROJECT:
        raise InvalidArgument("its title or project is too long")
    return replace(state, title=title, project=project)


def _state(raw: Mapping[str, object], uri: str, vouched: bool) -> tuple[State, bool]:
    aliases = [note.fit_uri(each) for each in _texts(raw, "aliases")]
    given = _whole(raw, "priority", note.USUAL_PRIORITY, 0, 10)
    priority = given if vouched else max(given, CORE + 1)
    state = State(
        _text(raw, "content", required=True), NoteAttrs(), status=_status(raw), priority=priority,
        uris=tuple(dict.fromkeys((uri, *aliases))),
    )  # fmt: skip
    return note.fit(state, _text(raw, "disclosure")), priority != given


def _past(raw: object, uri: str, vouched: bool, now: State) -> NoteEntryVersion:
    if not isinstance(raw, Mapping):
        raise InvalidArgument("one of its versions is no object")
    state, _ = _state(raw, uri, vouched)
    if "aliases" not in raw:
        state = replace(state, uris=now.uris)
    state = replace(state, title=now.title, project=now.project)
    known = {op.value: op for op in Op if op is not Op.ADD}
    return NoteEntryVersion(
        state, known.get(_text(raw, "op"), Op.UPDATE), _text(raw, "note")[:500], _time(raw, "created_at")
    )


def _visible_part(state: State) -> tuple[object, ...]:
    return state.content, state.priority, state.attrs, state.status, state.uris


def _status(raw: Mapping[str, object]) -> Status:
    named = _text(raw, "status") or Status.ACTIVE.value
    known = {status.value: status for status in (*LISTED, Status.DELETED)}
    if named not in known:
        raise InvalidArgument(f"status {named[:40]!r} is none of {', '.join(sorted(known))}")
    return known[named]


def _text(raw: Mapping[str, object], name: str, *, required: bool = False) -> str:
    value = raw.get(name) or ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise InvalidArgument(f"{name} must be {'non-empty ' if required else ''}text")
    return value


def _texts(raw: Mapping[str, object], name: str) -> list[str]:
    value = raw.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value) or len(value) > MAX_RELATIONS:
        raise InvalidArgument(f"{name} must be a list of at most {MAX_RELATIONS} texts")
    return value


def _list(raw: Mapping[str, object], name: str, most: int) -> list[Any]:
    value = raw.get(name) or []
    if not isinstance(value, list) or len(value) > most or (name == "relations" and not _objects(value)):
        raise InvalidArgument(f"{name} must be a list of at most {most} objects")
    return value


def _objects(values: list[Any]) -> bool:
    return all(isinstance(each, Mapping) for each in values)


def _whole(raw: Mapping[str, object], name: str, usual: int, low: int, high: int) -> int:
    value = raw.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidArgument(f"{name} must be a whole number from {low} to {high}")
    return value


def _time(raw: Mapping[str, object], name: str) -> int | None:
    value = _text(raw, name)
    if not value:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidArgument(f"{name} must be a time such as 2026-01-31T12:00:00Z") from None
