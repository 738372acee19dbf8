"""The toolset of contract 004: sixteen tools on memories under addresses, which an agent keeps in order itself.

A tool parses its arguments, calls one verb, and says the outcome in text for the model and as a document for programs.
"""

import json
from collections.abc import Iterable

from codexmem.http.params import parsed
from codexmem.http.tool import Tool, ToolInvocation, ToolResult, Toolset, schema_of
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model import note
from codexmem.kernel.model.memory import Mark, Memory
from codexmem.notes import mcp_requests as requests
from codexmem.notes import mcp_text as text
from codexmem.notes import mcp_wire as wire
from codexmem.notes.document import iso
from codexmem.notes.model import ContextKind, NewNote, Strategy
from codexmem.notes.service import NoteService
from codexmem.notes.service.listing import is_view

_INSTRUCTIONS = (
    "Memories with a URI (domain://path) are yours to keep in order. At the start of a session read "
    "read_memory('system://boot'); before working on a file, a directory, an error or a request, ask preload_memory. "
    "create_memory keeps a new fact, update_memory corrects one: look with search_memory first, so that one thing is "
    "told in one place. Write some://uri in a content to link it to another memory. Every change is a version; "
    "list_rollbacks and rollback_memory take it back, also after delete_memory."
)


def _read(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.ReadRequest, call.arguments)
    notes = rooms.room(NoteService)
    if is_view(request.uri):
        seen = notes.views.read(request.uri)
        counts = notes.shelf.figures() if seen.more else None
        return ToolResult(text.view(seen, counts), wire.ReadView.of(seen).document(), seqs=_numbers(seen.memories))
    found = notes.reading.read(request.uri)
    return ToolResult(
        text.read(found, request.uri.strip()), wire.ReadNote.opened(found).document(),
        seqs=_numbers([found.memory]), opened=True,
    )  # fmt: skip


def _create(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.CreateRequest, call.arguments)
    new = NewNote(
        request.uri, request.content, request.priority, request.disclosure, call.project, visibility=request.visibility
    )
    memory = rooms.room(NoteService).writing.create(new, call.by())
    again = "" if memory.version == 1 else (
        f"\nA deleted memory had this address; its earlier versions 1 to {memory.version - 1} are kept."
    )  # fmt: skip
    said = f"Created {note.primary(memory)} (ID {memory.id}) at {iso(memory.updated_ms)}.{again}{_waits(memory)}"
    return ToolResult(said, wire.CreatedNote.of(memory, revived=memory.version > 1).document())


def _update(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.UpdateRequest, call.arguments)
    edit = request.edit()
    memory = rooms.room(NoteService).writing.update(request.uri, edit, call.by())
    answer = wire.UpdatedNote.of(memory, mode=edit.mode, previous_version=memory.version - 1)
    said = f"Updated {answer.uri}: {edit.told()}. It is at version {answer.version}; "
    return ToolResult(
        said + f"rollback_memory to version {answer.previous_version} restores what it said before." + _waits(memory),
        answer.document(),
    )


def _numbers(memories: Iterable[Memory]) -> tuple[int, ...]:
    return tuple(each.seq for each in memories)


def _waits(memory: Memory) -> str:
    """What is said of a note that a person has to agree to."""
    if Mark.PROPOSED not in memory.state.marks:
        return ""
    return (
        "\nIt is proposed: it can be read, found and preloaded, and is in system://boot; sessions of other projects "
        "are told of it once a person approves it (codexmem review)."
    )


def _delete(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.DeleteRequest, call.arguments)
    gone = rooms.room(NoteService).writing.delete(request.uri, call.by(), force=request.force)
    answer = wire.DeletedNote.of(gone)
    also = f" with its aliases {', '.join(answer.aliases)}" if answer.aliases else ""
    if answer.erased:
        return ToolResult(f"Erased {answer.uri}{also} and all its versions for good.", answer.document())
    return ToolResult(
        f"Deleted {answer.uri}{also}. Its history is kept: {answer.restore} brings it back.", answer.document()
    )


def _search(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.SearchNotesRequest, call.arguments)
    found = rooms.room(NoteService).shelf.search(request.query, request.wish(), limit=request.limit)
    return ToolResult(
        text.results(request.query, found), wire.FoundNotes.of(request.query, found).document(),
        seqs=_numbers(each.memory for each in found.found),
    )  # fmt: skip


def _preload(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.PreloadRequest, call.arguments)
    found = rooms.room(NoteService).preload.load(ContextKind(request.context_type), request.context_data)
    told = (*found.core, *(each.memory for each in found.related))
    document = wire.PreloadedNotes.of(request.context_type, found).document()
    return ToolResult(text.preloaded(found), document, seqs=_numbers(told))


def _save_session(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.SessionRequest, call.arguments)
    save = rooms.room(NoteService).sessions.save
    answer = wire.SessionSaved.of(save(request.title, request.summary, call.by(), project=call.project))
    kept = f" Its summary is kept as {answer.uri}." if answer.uri else " There was no summary to keep."
    return ToolResult(f'Session {answer.session_id} "{answer.title}" is recorded.{kept}', answer.document())


def _list(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.ListNotesRequest, call.arguments)
    page = rooms.room(NoteService).shelf.page(request.wish(), limit=request.limit)
    return ToolResult(text.listed(page.memories, page.more), wire.ListedNotes.of(page).document())


def _stats(rooms: Rooms, _: ToolInvocation) -> ToolResult:
    shelf = rooms.room(NoteService).shelf
    figures = shelf.figures()
    most = shelf.named(figures)
    return ToolResult(text.stats(figures, most), wire.CountedNotes.of(figures, most).document())


def _export(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.ExportRequest, call.arguments)
    export, versions = rooms.room(NoteService).exchange.export, request.include_versions
    document = export(domain=request.domain, versions=versions, relations=request.include_relations).document()
    return ToolResult(json.dumps(document, ensure_ascii=False, indent=1), document, is_json=True)


def _import(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.ImportNotesRequest, call.arguments)
    exchange = rooms.room(NoteService).exchange
    taken = exchange.take_in(request.data, Strategy(request.strategy), call.by(), keep_priority=request.keep_priority)
    return ToolResult(text.taken_in(request.strategy, taken), wire.ImportedNotes.of(request.strategy, taken).document())


def _add_alias(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.AliasRequest, call.arguments)
    writing = rooms.room(NoteService).writing
    memory = writing.alias(request.target_uri, request.alias_uri, call.by())
    answer = wire.AliasedNote.of(memory, alias_uri=memory.state.uris[-1])
    return ToolResult(f"{answer.alias_uri} now names {answer.uri} too.", answer.document())


def _versions(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.VersionsRequest, call.arguments)
    past = rooms.room(NoteService).reading.versions(request.uri, limit=request.limit)
    return ToolResult(text.versions(past.memory, past.versions), wire.NotePast.of(past).document())


def _rollback(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.RollbackNoteRequest, call.arguments)
    done = rooms.room(NoteService).writing.rollback(request.uri, request.version, call.by())
    answer = wire.RolledBackNote.back(request.version, done)
    changes = "; ".join(answer.changes) or "nothing, it said the same"
    said = f"{answer.uri} says again what it said in version {request.version}, as version "
    return ToolResult(f"{said}{answer.version}. Changed: {changes}.", answer.document())


def _diff(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.DiffRequest, call.arguments)
    found = rooms.room(NoteService).reading.diff(request.uri, request.version1, request.version2)
    uri = request.uri.strip()
    return ToolResult(text.diff(uri, found), wire.ComparedVersions.of(uri, found).document())


def _rollbacks(rooms: Rooms, call: ToolInvocation) -> ToolResult:
    request = parsed(requests.VersionsRequest, call.arguments)
    memory, ways = rooms.room(NoteService).reading.ways_back(request.uri, limit=request.limit)
    return ToolResult(text.ways_back(memory, ways), wire.NoteRollbacks.of(memory, ways).document())


NOTES: Toolset[Rooms] = Toolset(
    "notes",
    (
        Tool(
            "read_memory",
            "Read a memory",
            "Read one memory by its URI: content, priority, disclosure, how often it was read, recent versions, and "
            "what it links to and is linked from. Special addresses are views of many: system://boot (core memories, "
            "read it first in a session), system://index (one line for each memory), system://recent or "
            "system://recent/N (what changed last). To find a URI use search_memory.",
            schema_of(requests.ReadRequest, "uri"),
            _read,
            recalls=True,
        ),
        Tool(
            "create_memory",
            "Create a memory",
            "Keep something new under a URI of your choice, e.g. project://config, user://preferences/editor. Fails if "
            "the URI is in use: then read it and use update_memory. One fact or topic per memory; mention other "
            "memories by their URI to link them. Priority 0-2 only for identity and key facts, because those are told "
            "at every start.",
            schema_of(requests.CreateRequest, "uri", "content", unlisted=["visibility"]),
            _create,
            reads_only=False,
            repeatable=False,
        ),
        Tool(
            "update_memory",
            "Change a memory",
            "Change an existing memory in one of three ways: patch (old_string with new_string; old_string must occur "
            "exactly once), append (append=true with content), or replace (content alone). priority and disclosure "
            "can be given with any of them, or alone. The state before is kept as a version for rollback_memory.",
            schema_of(requests.UpdateRequest, "uri"),
            _update,
            reads_only=False,
            repeatable=False,
        ),
        Tool(
            "delete_memory",
            "Delete a memory",
            "Hide a memory that is wrong or no longer wanted; its history is kept and rollback_memory brings it back. "
            "force=true erases it with every version and cannot be undone: only when a person asks for that.",
            schema_of(requests.DeleteRequest, "uri"),
            _delete,
            reads_only=False,
            destroys=True,
        ),
        Tool(
            "search_memory",
            "Search memories",
            "Find memories by words in their URI, content or disclosure, in English, Chinese or any language, best "
            "first. Narrow by domain and priority. Returns one line each; read_memory shows one in full. Use this when "
            "you know what you look for; use preload_memory when you are about to do something.",
            schema_of(requests.SearchNotesRequest, "query"),
            _search,
            recalls=True,
        ),
        Tool(
            "preload_memory",
            "Load what bears on this",
            "Before you start: the core memories and those that bear on a file (its path), a directory (its path), an "
            "error (message with traceback) or an intent (what the user wants, in words), each with the reason it was "
            "chosen. Returns whole contents, and nothing beside the core if nothing bears on it.",
            schema_of(requests.PreloadRequest, "context_type", "context_data"),
            _preload,
            recalls=True,
        ),
        Tool(
            "save_session",
            "Save this session",
            "At the end of a session: record it, and keep its summary as a memory under session:// that later sessions "
            "find. Tell what was asked, done, decided and left open.",
            schema_of(requests.SessionRequest),
            _save_session,
            reads_only=False,
            repeatable=False,
        ),
        Tool(
            "list_memories",
            "List memories",
            "Memories newest first, one line each, without a query: by domain, status (active, deprecated, archived; "
            "deleted shows what can be brought back) and priority. To look for words use search_memory.",
            schema_of(requests.ListNotesRequest),
            _list,
            recalls=True,
        ),
        Tool(
            "get_memory_stats",
            "Count memories",
            "How many memories there are, by status and by domain, how often they were read and which most.",
            schema_of(requests.NoRequest),
            _stats,
            recalls=True,
        ),
        Tool(
            "export_memories",
            "Export memories",
            "All memories, or those of one domain, as one JSON object that import_memories takes; with their history "
            "(include_versions) and their aliases and links (include_relations) if asked for.",
            schema_of(requests.ExportRequest),
            _export,
            recalls=True,
            exact=True,
        ),
        Tool(
            "import_memories",
            "Import memories",
            "Take in what export_memories gave. Memories that exist already are skipped, overwritten or merged. All of "
            "it is one change with an id, which a person can take back as a whole.",
            schema_of(requests.ImportNotesRequest, "data"),
            _import,
            reads_only=False,
        ),
        Tool(
            "add_alias",
            "Give a further URI",
            "Let a memory answer to one more URI, e.g. core://agent/my_user also as user://profile. It stays one "
            "memory: reading or changing it by either address is the same. Aliases are also names by which "
            "preload_memory recognises it.",
            schema_of(requests.AliasRequest, "target_uri", "alias_uri"),
            _add_alias,
            reads_only=False,
        ),
        Tool(
            "get_memory_versions",
            "History of a memory",
            "The versions of a memory, newest first: when, by whom, and what was changed. Works for deleted memories.",
            schema_of(requests.VersionsRequest, "uri"),
            _versions,
            recalls=True,
        ),
        Tool(
            "rollback_memory",
            "Bring back a version",
            "Let a memory say again what it said in an earlier version; this also brings back a deleted memory. It is "
            "written as a new version, so nothing is lost from history. list_rollbacks says what each would change.",
            schema_of(requests.RollbackNoteRequest, "uri", "version"),
            _rollback,
            reads_only=False,
            destroys=True,
            repeatable=False,
        ),
        Tool(
            "diff_versions",
            "Compare two versions",
            "Two versions of a memory: both contents whole, and the difference between them as a unified diff.",
            schema_of(requests.DiffRequest, "uri", "version1", "version2"),
            _diff,
            recalls=True,
        ),
        Tool(
            "list_rollbacks",
            "What can be brought back",
            "The earlier versions of a memory with their first line and what bringing each back would change now. Look "
            "here before rollback_memory.",
            schema_of(requests.VersionsRequest, "uri"),
            _rollbacks,
            recalls=True,
        ),
    ),
    _INSTRUCTIONS,
)
