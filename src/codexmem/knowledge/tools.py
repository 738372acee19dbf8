"""The ten verbs of contract 003: what each does, and the toolset that offers them to agents. JSON-RPC offers the same.

A verb is a value. The toolset is not among the usual ones.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from codexmem.http.params import parsed
from codexmem.http.tool import Tool, ToolInvocation, ToolResult, Toolset, schema_of
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.wire import WireAnswer
from codexmem.knowledge import wire
from codexmem.knowledge.service import Knowledge
from codexmem.knowledge.service.workspaces import shown_files

MAX_RESULTS = 20  # entries that a search shows
DUMPED = 4 << 20  # characters that a dump shows of each level
SEARCH_S = 5.0  # how long workspaces are looked through
P = TypeVar("P", bound=wire.Parameters)


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who asks, and how long an answer may take."""

    by: WriteContext
    until: float = float("inf")  # on the clock that `ids.monotonic` reads
    key: str | None = None  # repeating what creates something is safe with one


@dataclass(frozen=True)
class Verb(Generic[P]):
    """One of the ten."""

    name: str
    title: str
    description: str  # for a model
    parameters: type[P]
    answer: Callable[[Knowledge, P, CallContext], WireAnswer]
    reads_only: bool = False


def _init_workspace(knowledge: Knowledge, given: wire.TaskParameters, _: CallContext) -> wire.WorkspaceMade:
    return wire.WorkspaceMade(path=knowledge.workspaces.init(given.task_id))


def _add(knowledge: Knowledge, given: wire.AddParameters, asked: CallContext) -> wire.EntryAdded:
    def effect() -> tuple[wire.EntryAdded, str]:
        memory = knowledge.entries.add(given.content, given.summary, given.tags or (), asked.by)
        return wire.EntryAdded.of(memory), f"memory:{memory.seq}"

    return knowledge.receipts.once_as(wire.EntryAdded, "/rpc memory_add", asked.key, given, effect)


def _query(knowledge: Knowledge, given: wire.QueryParameters, _: CallContext) -> wire.FittingEntries:
    _require_query(given.query)
    return wire.FittingEntries.of(knowledge.entries.find(given.query, given.top_k or wire.TOP_K))


def _delete(knowledge: Knowledge, given: wire.DeleteParameters, asked: CallContext) -> wire.EntryDeleted:
    memory = knowledge.entries.delete(given.kb_id, asked.by)
    return wire.EntryDeleted(status="success", id=memory.id)


def _cleanup(knowledge: Knowledge, given: wire.TaskParameters, asked: CallContext) -> wire.WorkspaceRemoved:
    path = knowledge.workspaces.cleanup(given.task_id, asked.by)
    return wire.WorkspaceRemoved(status="success", path=path)


def _get_status(knowledge: Knowledge, _: wire.NoParameters, __: CallContext) -> wire.KnowledgeStatus:
    return wire.KnowledgeStatus.of(loaded=knowledge.entries.readable(), active=knowledge.workspaces.active())


def _dump(knowledge: Knowledge, given: wire.LevelParameters, _: CallContext) -> WireAnswer:
    notes: dict[str, None] = {}
    match given.level or "all":
        case "kb":
            entries = _entries(knowledge, notes)
            return wire.EntriesDump(status="ok", data=entries, **wire.noted(notes))
        case "workspace":
            workspaces = _workspaces(knowledge, notes)
            return wire.WorkspacesDump(status="ok", data=workspaces, **wire.noted(notes))
        case _:
            both = wire.EverythingDumped(kb=_entries(knowledge, notes), workspace=_workspaces(knowledge, notes))
            return wire.WholeDump(status="ok", data=both, **wire.noted(notes))


def _entries(knowledge: Knowledge, notes: dict[str, None]) -> dict[str, wire.KnowledgeEntry]:
    shown: dict[str, wire.KnowledgeEntry] = {}
    left = DUMPED
    for memory in knowledge.entries.all():
        entry = wire.KnowledgeEntry.of(memory)
        left -= len(entry.content) + len(entry.summary) + 200
        if left < 0 and shown:
            notes[f"only the {len(shown):,} oldest entries are shown: the answer would be too large"] = None
            break
        shown[memory.id] = entry
    return shown


def _workspaces(knowledge: Knowledge, notes: dict[str, None]) -> dict[str, wire.DumpedWorkspace]:
    workspaces = knowledge.workspaces
    names, _ = workspaces.tasks()
    files = shown_files(workspaces.files(notes), DUMPED, notes)
    return {
        name: wire.DumpedWorkspace(
            path=workspaces.told_path(name),
            files={
                path: text if isinstance(text, str) else wire.FileSize(bytes=text)
                for path, text in files.get(name, {}).items()
            },
        )
        for name in names
    }


def _search(knowledge: Knowledge, given: wire.SearchParameters, asked: CallContext) -> wire.Matches:
    _require_query(given.query)
    level = given.level or "all"
    results: list[wire.MatchingEntry | wire.MatchingFile] = []
    notes: dict[str, None] = {}
    if level != "workspace":
        found, more = knowledge.entries.containing(given.query, MAX_RESULTS)
        if more:
            notes[f"only the first {MAX_RESULTS} entries are shown; name more words to narrow them"] = None
        results += map(wire.MatchingEntry.of, found)
    if level != "kb":
        until = min(asked.until, ids.monotonic() + SEARCH_S)
        looked = knowledge.workspaces.search(given.query, late=lambda: ids.monotonic() > until)
        notes |= dict.fromkeys(looked.notes)
        results += map(wire.MatchingFile.of, looked.hits)
    return wire.Matches.of(results, notes)


def _backup(knowledge: Knowledge, _: wire.NoParameters, __: CallContext) -> wire.BackedUp:
    return wire.BackedUp.of(knowledge.snapshots.backup())


def _restore(knowledge: Knowledge, given: wire.RestoreParameters, asked: CallContext) -> wire.Restored:
    knowledge.snapshots.restore(given.backup_path, asked.by)
    return wire.Restored(status="ok", message=f"从 {given.backup_path} 恢复成功")


def _require_query(query: str) -> None:
    if not query.strip():
        raise InvalidArgument("query must not be empty", hint="memory_dump shows everything")


VERBS: tuple[Verb[Any], ...] = (
    Verb(
        "memory_init_workspace", "Make a workspace",
        "Make an isolated, empty folder for a task and return its path. The first step of a new task.",
        wire.TaskParameters, _init_workspace,
    ),
    Verb(
        "memory_add", "Add knowledge",
        "Add an entry to the knowledge base: what it says, a short summary, and tags to file it under. Returns its id.",
        wire.AddParameters, _add,
    ),
    Verb(
        "memory_query", "Query knowledge",
        "The entries of the knowledge base that fit a query best by words and meaning, whole; none if nothing fits.",
        wire.QueryParameters, _query, reads_only=True,
    ),
    Verb(
        "memory_delete", "Delete knowledge",
        "Delete an entry of the knowledge base by its id. It is hidden; its history stays.",
        wire.DeleteParameters, _delete,
    ),
    Verb(
        "memory_cleanup", "Remove a workspace",
        "Remove a task's folder and everything in it for good. Do it when the task is finished.",
        wire.TaskParameters, _cleanup,
    ),
    Verb(
        "memory_get_status", "Status",
        "Whether the knowledge base is loaded and whether any workspace is active.",
        wire.NoParameters, _get_status, reads_only=True,
    ),
    Verb(
        "memory_dump", "Dump",
        "Everything in the knowledge base (kb), in the workspaces (workspace) or both (all), for debugging. A note "
        "says what did not fit.",
        wire.LevelParameters, _dump, reads_only=True,
    ),
    Verb(
        "memory_search", "Search everywhere",
        "Find words in the knowledge base (kb), in the text files of all workspaces (workspace) or in both (all): only "
        "what contains every one of them. memory_query searches by meaning.",
        wire.SearchParameters, _search, reads_only=True,
    ),
    Verb(
        "memory_backup", "Back up",
        "Save the knowledge base and all workspaces to a new backup file and return its path.",
        wire.NoParameters, _backup,
    ),
    Verb(
        "memory_restore", "Restore a backup",
        "Replace the knowledge base and all workspaces by what a backup holds. What is there is backed up first.",
        wire.RestoreParameters, _restore,
    ),
)  # fmt: skip
BY_NAME: dict[str, Verb[Any]] = {verb.name: verb for verb in VERBS}


def _tool(verb: Verb[Any]) -> Tool[Rooms]:
    fields = verb.parameters.model_fields

    def answer(rooms: Rooms, call: ToolInvocation) -> ToolResult:
        # Models give more than they are asked for; what no parameter is called is passed over.
        given = {name: value for name, value in call.arguments.items() if name in fields}
        parameters = parsed(verb.parameters, given)
        document = verb.answer(rooms.room(Knowledge), parameters, CallContext(call.by())).document()
        return ToolResult(json.dumps(document, ensure_ascii=False), document, is_json=True)

    needed = [name for name, field in fields.items() if field.is_required()]
    return Tool(
        verb.name, verb.title, verb.description, schema_of(verb.parameters, *needed), answer,
        reads_only=verb.reads_only, recalls=verb.reads_only,
    )  # fmt: skip


KNOWLEDGE: Toolset[Rooms] = Toolset(
    "knowledge",
    tuple(_tool(verb) for verb in VERBS),
    "Knowledge that outlives a task goes into the knowledge base (memory_add, memory_query); a task's own files go "
    "into its workspace (memory_init_workspace first, memory_cleanup last).",
)
