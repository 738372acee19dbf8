"""What the tools on notes answer: parse, call one verb, say it in text and as an object."""

import json
from typing import Protocol

from codexmem.domain import note
from codexmem.domain.history import By
from codexmem.domain.memory import Status
from codexmem.domain.note_document import iso
from codexmem.services.notes import Notes
from codexmem.services.notes.exchange import Strategy
from codexmem.services.notes.signs import Context
from codexmem.services.notes.views import is_view
from codexmem.services.notes.writing import NewNote
from codexmem.surfaces._kit.params import parsed
from codexmem.surfaces.mcp import notes_requests as requests
from codexmem.surfaces.mcp import notes_text as text
from codexmem.surfaces.mcp import notes_wire as wire
from codexmem.surfaces.mcp.tool import Call, Said


class Services(Protocol):
    """What the tools need."""

    @property
    def notes(self) -> Notes: ...


def read(services: Services, call: Call) -> Said:
    """read_memory"""
    request = parsed(requests.ReadRequest, call.arguments)
    if is_view(request.uri):
        return _view(services, request.uri)
    found = services.notes.reading.read(request.uri)
    memory = found.memory
    body = {
        **wire.head(memory),
        "content": memory.state.content,
        "project": memory.state.project,
        "origin": memory.origin.value,
        "versions": [wire.version(each, current=memory.version) for each in found.versions],
        "relations": [wire.relation(each) for each in found.relations],
    }
    return Said(text.read(found, request.uri.strip()), body)


def _view(services: Services, uri: str) -> Said:
    seen = services.notes.views.read(uri)
    rows = [wire.whole(memory) if seen.whole else wire.line(memory) for memory in seen.memories]
    counts = services.notes.shelf.figures() if seen.more else None
    body = {"uri": seen.uri, "title": seen.title, "count": len(rows), "more": seen.more, "memories": rows}
    return Said(text.view(seen, counts), body)


def create(services: Services, call: Call) -> Said:
    """create_memory"""
    request = parsed(requests.CreateRequest, call.arguments)
    new = NewNote(request.uri, request.content, request.priority, request.disclosure, call.project)
    memory = services.notes.writing.create(new, By(call.actor))
    body = {**wire.head(memory), "revived": memory.version > 1}
    again = "" if memory.version == 1 else (
        f"\nA deleted memory had this address; its earlier versions 1 to {memory.version - 1} are kept."
    )  # fmt: skip
    return Said(f"Created {note.primary(memory)} (ID {memory.id}) at {iso(memory.updated_ms)}.{again}", body)


def update(services: Services, call: Call) -> Said:
    """update_memory"""
    request = parsed(requests.UpdateRequest, call.arguments)
    edit = request.edit()
    memory = services.notes.writing.update(request.uri, edit, By(call.actor))
    body = {**wire.head(memory), "mode": edit.mode, "previous_version": memory.version - 1}
    told = f"Updated {note.primary(memory)}: {edit.told()}. It is at version {memory.version}; "
    return Said(told + f"rollback_memory to version {memory.version - 1} restores what it said before.", body)


def delete(services: Services, call: Call) -> Said:
    """delete_memory"""
    request = parsed(requests.DeleteRequest, call.arguments)
    gone = services.notes.writing.delete(request.uri, By(call.actor), force=request.force)
    uri, others = note.primary(gone.memory), gone.memory.state.uris[1:]
    body = {"uri": uri, "aliases": list(others), "erased": gone.erased, "restorable_version": gone.restorable}
    also = f" with its aliases {', '.join(others)}" if others else ""
    if gone.erased:
        return Said(f"Erased {uri}{also} and all its versions for good.", body)
    restore = f"rollback_memory(uri={uri!r}, version={gone.restorable})"
    return Said(f"Deleted {uri}{also}. Its history is kept: {restore} brings it back.", {**body, "restore": restore})


def search(services: Services, call: Call) -> Said:
    """search_memory"""
    request = parsed(requests.SearchRequest, call.arguments)
    found = services.notes.shelf.search(request.query, request.wish(), limit=request.limit)
    rows = [{**wire.line(each.memory), "score": round(each.score, 4)} for each in found.found]
    body = {
        "query": request.query,
        "count": len(rows),
        "more": found.more,
        "mode": found.mode.value,
        "notes": list(found.notes),
        "memories": rows,
    }
    return Said(text.results(request.query, found), body)


def preload(services: Services, call: Call) -> Said:
    """preload_memory"""
    request = parsed(requests.PreloadRequest, call.arguments)
    found = services.notes.preload.load(Context(request.context_type), request.context_data)
    body = {
        "context_type": request.context_type,
        "core": [wire.whole(memory) for memory in found.core],
        "related": [wire.chosen(each) for each in found.related],
    }
    return Said(text.preloaded(found), body)


def save_session(services: Services, call: Call) -> Said:
    """save_session"""
    request = parsed(requests.SessionRequest, call.arguments)
    saved = services.notes.sessions.save(request.title, request.summary, By(call.actor), project=call.project)
    uri = note.primary(saved.memory) if saved.memory is not None else None
    body = {
        "session_id": saved.session.id,
        "title": saved.title,
        "uri": uri,
        "memory_id": saved.memory.id if saved.memory is not None else None,
        "created_at": iso(saved.session.started_ms),
    }
    kept = f" Its summary is kept as {uri}." if uri else " There was no summary to keep."
    return Said(f'Session {saved.session.id} "{saved.title}" is recorded.{kept}', body)


def list_memories(services: Services, call: Call) -> Said:
    """list_memories"""
    request = parsed(requests.ListRequest, call.arguments)
    found = services.notes.shelf.page(request.wish(), limit=request.limit)
    rows = [wire.line(memory) for memory in found.memories]
    return Said(text.listed(found.memories, found.more), {"count": len(rows), "more": found.more, "memories": rows})


def stats(services: Services, _: Call) -> Said:
    """get_memory_stats"""
    figures = services.notes.shelf.figures()
    most = services.notes.shelf.named(figures)
    standing = sum(count for status, count in figures.statuses.items() if status != Status.DELETED.value)
    body = {
        "total": standing,
        "by_status": figures.statuses,
        "by_domain": figures.domains,
        "access": {
            "total": figures.reads,
            "memories_read": figures.read,
            "most_read": [{"uri": note.primary(memory), "access_count": reads} for memory, reads in most],
        },
    }
    return Said(text.stats(figures, most), body)


def export(services: Services, call: Call) -> Said:
    """export_memories"""
    request = parsed(requests.ExportRequest, call.arguments)
    document = services.notes.exchange.export(
        domain=request.domain, versions=request.include_versions, relations=request.include_relations
    )
    return Said(json.dumps(document, ensure_ascii=False, indent=1), document)


def import_memories(services: Services, call: Call) -> Said:
    """import_memories"""
    request = parsed(requests.ImportRequest, call.arguments)
    taken = services.notes.exchange.take_in(request.data, Strategy(request.strategy), By(call.actor))
    body = {
        "strategy": request.strategy,
        "created": taken.created,
        "changed": taken.changed,
        "skipped": taken.skipped,
        "left_deleted": taken.deleted,
        "left_core": taken.guarded,
        "priority_not_taken_over": taken.lowered,
        "addresses_not_taken_over": taken.lost_uris,
        "source": taken.source,
        "delta": taken.delta,
        "undo": f"codexmem undo {taken.delta}" if taken.delta is not None else None,
    }
    return Said(text.taken_in(request.strategy, taken), body)


def add_alias(services: Services, call: Call) -> Said:
    """add_alias"""
    request = parsed(requests.AliasRequest, call.arguments)
    memory = services.notes.writing.alias(request.target_uri, request.alias_uri, By(call.actor))
    alias = memory.state.uris[-1]
    return Said(f"{alias} now names {note.primary(memory)} too.", {**wire.head(memory), "alias_uri": alias})


def versions(services: Services, call: Call) -> Said:
    """get_memory_versions"""
    request = parsed(requests.VersionsRequest, call.arguments)
    past = services.notes.reading.versions(request.uri, limit=request.limit)
    current = past.memory.version
    body = {
        "uri": note.primary(past.memory),
        "current_version": current,
        "status": past.memory.state.status.value,
        "versions": [wire.version(each, current=current) for each in past.versions],
    }
    return Said(text.versions(past.memory, past.versions), body)


def rollback(services: Services, call: Call) -> Said:
    """rollback_memory"""
    request = parsed(requests.RollbackRequest, call.arguments)
    done = services.notes.writing.rollback(request.uri, request.version, By(call.actor))
    body = {
        **wire.head(done.memory),
        "content": done.memory.state.content,
        "restored_version": request.version,
        "previous_version": done.former.version,
        "changes": list(done.changes),
    }
    changes = "; ".join(done.changes) or "nothing, it said the same"
    told = f"{note.primary(done.memory)} says again what it said in version {request.version}, as version "
    return Said(f"{told}{done.memory.version}. Changed: {changes}.", body)


def diff(services: Services, call: Call) -> Said:
    """diff_versions"""
    request = parsed(requests.DiffRequest, call.arguments)
    found = services.notes.reading.diff(request.uri, request.version1, request.version2)
    sides = [{**wire.version(each, current=-1), "content": each.state.content} for each in (found.before, found.after)]
    for side in sides:
        del side["current"]
    body = {
        "uri": request.uri.strip(),
        "version1": sides[0],
        "version2": sides[1],
        "changes": note.differences(found.before.state, found.after.state),
        "diff": found.unified,
    }
    return Said(text.diff(request.uri.strip(), found), body)


def rollbacks(services: Services, call: Call) -> Said:
    """list_rollbacks"""
    request = parsed(requests.VersionsRequest, call.arguments)
    memory, ways = services.notes.reading.ways_back(request.uri, limit=request.limit)
    body = {
        "uri": note.primary(memory),
        "current_version": memory.version,
        "status": memory.state.status.value,
        "rollbacks": [wire.way(each, current=memory.version) for each in ways],
    }
    return Said(text.ways_back(memory, ways), body)
