"""Notes as objects for programs: the field spelling of contract 004."""

from typing import Any

from codexmem.domain import note
from codexmem.domain.history import Version
from codexmem.domain.memory import Memory
from codexmem.domain.note_document import iso
from codexmem.services.notes.finding import Relation
from codexmem.services.notes.preload import Chosen
from codexmem.services.notes.reading import Way

MAX_WHOLE = 8_000  # characters of one note among many; read_memory gives the rest
_LINE = 160


def head(memory: Memory) -> dict[str, Any]:
    """A note without what it says."""
    state = memory.state
    return {
        "uri": note.primary(memory),
        "id": memory.id,
        "priority": state.priority,
        "status": state.status.value,
        "disclosure": note.disclosure_of(state),
        "aliases": list(state.uris[1:]),
        "version": memory.version,
        "access_count": memory.counters.used,
        "created_at": iso(memory.created_ms),
        "updated_at": iso(memory.updated_ms),
    }


def line(memory: Memory) -> dict[str, Any]:
    """A note in a list: its beginning stands for what it says."""
    return {**head(memory), "summary": summary_of(memory)}


def whole(memory: Memory) -> dict[str, Any]:
    """A note among others, with what it says up to a length."""
    content = memory.state.content
    cut = {"truncated": True} if len(content) > MAX_WHOLE else {}
    return {**head(memory), "content": content[:MAX_WHOLE], **cut}


def chosen(each: Chosen) -> dict[str, Any]:
    """A note that was preloaded, with the reasons."""
    reasons = sorted(each.reasons, key=lambda reason: -each.reasons[reason])
    return {**whole(each.memory), "score": round(each.score, 3), "reasons": reasons}


def version(each: Version, *, current: int) -> dict[str, Any]:
    """One version in a history."""
    return {
        "version": each.version,
        "current": each.version == current,
        "operation": each.op.value,
        "note": each.note,
        "actor": each.actor,
        "created_at": iso(each.created_ms),
        "status": each.state.status.value,
        "priority": each.state.priority,
        "summary": note.headline(each.state.content, _LINE),
    }


def way(each: Way, *, current: int) -> dict[str, Any]:
    """A version that can be brought back."""
    return {**version(each.version, current=current), "would_change": list(each.changes)}


def relation(each: Relation) -> dict[str, Any]:
    """Another note, or an address where none is yet."""
    there = each.memory
    return {
        "relation": each.relation,
        "direction": each.direction.value,
        "uri": each.uri,
        "exists": there is not None,
        "status": there.state.status.value if there is not None else None,
        "summary": summary_of(there) if there is not None else "",
    }


def summary_of(memory: Memory) -> str:
    """What a note is about, in one line."""
    return memory.state.title or note.headline(memory.state.content, _LINE)
