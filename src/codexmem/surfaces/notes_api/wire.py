"""Notes as this door spells them."""

from collections.abc import Sequence
from typing import Any

from codexmem.domain import handle, note, text_size
from codexmem.domain.history import Version
from codexmem.domain.memory import Memory, State, Status
from codexmem.services.notes.finding import Relation
from codexmem.services.notes.reading import Seen, WayBack
from codexmem.services.notes.tree import Branch, Node
from codexmem.services.notes.views import View
from codexmem.surfaces._kit.cursors import cursor

_HEADLINE = 200  # characters
_OWN = frozenset({"content", "attrs"})  # told in their own way


def listed(items: Sequence[dict[str, Any]], next_cursor: str | None) -> dict[str, Any]:
    """A page of a list."""
    return {"items": list(items), "next_cursor": next_cursor, "has_more": next_cursor is not None}


def tree(branch: Branch) -> dict[str, Any]:
    """A page of the tree."""
    following = cursor("notes/tree", branch.prefix, branch.after) if branch.after is not None else None
    return {"prefix": branch.prefix, **listed([_place(node) for node in branch.nodes], following)}


def view(seen: View) -> dict[str, Any]:
    """A view as agents are told it."""
    rows = [{**row(each), "content": each.state.content if seen.whole else None} for each in seen.memories]
    return {"uri": seen.uri, "whole": seen.whole, "items": rows, "more": seen.more}


def row(memory: Memory) -> dict[str, Any]:
    """A note in a list."""
    state = memory.state
    primary = note.primary(memory)
    return {
        "uri": primary,
        "ref": handle.ref(memory),
        "seq": memory.seq,
        "id": memory.id,
        "name": primary.rpartition("/")[2],
        "headline": note.headline(state.title or state.content, _HEADLINE),
        "project": state.project,
        "priority": state.priority,
        "status": state.status,
        "disclosure": note.disclosure_of(state),
        "version": memory.version,
        "aliases": list(state.uris[1:]),
        "uses": memory.counters.used,
        "created_ms": memory.created_ms,
        "updated_ms": memory.updated_ms,
    }


def whole(seen: Seen) -> dict[str, Any]:
    """A note with its company."""
    memory = seen.memory
    state = memory.state
    return {
        **row(memory),
        "title": state.title,
        "content": state.content,
        "chars": len(state.content),
        "tokens": text_size.tokens(state.content),
        "origin": memory.origin,
        "source": memory.source,
        "session": memory.session,
        "created_by": seen.first.actor if seen.first is not None else None,
        "updated_by": seen.last.actor if seen.last is not None else None,
        "shown": memory.counters.shown,
        "relations": [_relation(each) for each in seen.relations],
        "deleted": state.status is Status.DELETED,
        "restorable": seen.restorable,
    }


def written(seen: Seen) -> dict[str, Any]:
    """A note after a write."""
    memory = seen.memory
    return {
        "success": True,
        "uri": note.primary(memory),
        "seq": memory.seq,
        "version": memory.version,
        "former_version": memory.version - 1 or None,
        "note": whole(seen),
    }


def version(each: Version, before: Version | None) -> dict[str, Any]:
    """One write; `before` is the version before it, if there was one."""
    state = each.state
    return {
        "version": each.version,
        "op": each.op,
        "actor": each.actor,
        "source": each.source,
        "note": each.note,
        "delta": each.delta,
        "created_ms": each.created_ms,
        "status": state.status,
        "priority": state.priority,
        "chars": len(state.content),
        "changed": changed(before.state, state) if before is not None else [],
    }


def state(each: Version) -> dict[str, Any]:
    """What a note said in one version."""
    said = each.state
    return {
        "version": each.version,
        "op": each.op,
        "actor": each.actor,
        "note": each.note,
        "created_ms": each.created_ms,
        "content": said.content,
        "title": said.title,
        "project": said.project,
        "status": said.status,
        "priority": said.priority,
        "disclosure": note.disclosure_of(said),
        "uris": list(said.uris),
    }


def changed(before: State, after: State) -> list[str]:
    """Names of the fields that differ."""
    content = ["content"] if before.content != after.content else []
    return content + [each["field"] for each in changes(before, after)]


def changes(before: State, after: State) -> list[dict[str, Any]]:
    """The fields beside the content that differ."""
    old, new = _fields(before), _fields(after)
    return [{"field": name, "before": old[name], "after": new[name]} for name in new if old[name] != new[name]]


def way_back(uri: str, way: WayBack) -> dict[str, Any]:
    """What bringing a version back would change."""
    now, then = way.now, way.then
    return {
        "uri": uri,
        "version": way.memory.version,
        "to": then.version,
        "before": state(now),
        "after": state(then),
        "changes": changes(now.state, then.state),
        "unified": way.unified,
        "restores": now.state.status is Status.DELETED and then.state.status is not Status.DELETED,
    }


def _fields(said: State) -> dict[str, Any]:
    whole_state = said.to_json()
    told = {name: value for name, value in whole_state.items() if name not in _OWN}
    return told | {"disclosure": note.disclosure_of(said)}


def _place(node: Node) -> dict[str, Any]:
    memory = node.memory
    if memory is None:
        told = dict.fromkeys(("seq", "priority", "status", "version", "updated_ms", "alias_of"))
        return {"uri": node.uri, "name": node.name, "has_children": node.has_children, **told}
    primary = note.primary(memory)
    return {
        "uri": node.uri,
        "name": node.name,
        "has_children": node.has_children,
        "seq": memory.seq,
        "priority": memory.state.priority,
        "status": memory.state.status,
        "version": memory.version,
        "updated_ms": memory.updated_ms,
        "alias_of": primary if primary != node.uri else None,
    }


def _relation(each: Relation) -> dict[str, Any]:
    other = each.memory
    return {
        "relation": each.relation,
        "direction": each.direction,
        "uri": each.uri,
        "seq": other.seq if other is not None else None,
        "status": other.state.status if other is not None else None,
        "priority": other.state.priority if other is not None else None,
        "headline": note.headline(other.state.content, _HEADLINE) if other is not None else None,
    }
