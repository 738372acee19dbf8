"""The ten verbs of contract 003, for every door that offers them: what each takes and what it answers.

A verb is a value. Its parameters are the fields of a model, in the order in which they may be given by position.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain import ids
from codexmem.domain.errors import InvalidArgument
from codexmem.domain.history import By
from codexmem.domain.memory import MAX_LABEL
from codexmem.services.knowledge import Knowledge
from codexmem.services.knowledge.entries import MAX_TAGS, shown
from codexmem.services.knowledge.workspaces import shown_files
from codexmem.services.receipts import Answer, Receipts

TOP_K, MAX_TOP_K = 3, 100
MAX_RESULTS = 20  # entries that a search shows
DUMPED = 4 << 20  # characters that a dump shows of each level
SEARCH_S = 5.0  # how long workspaces are looked through

Level = Literal["kb", "workspace", "all"]


class Services(Protocol):
    """What the verbs need."""

    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def receipts(self) -> Receipts: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks, and how long an answer may take."""

    actor: str
    until: float = float("inf")  # on the clock that `ids.monotonic` reads
    key: str | None = None  # repeating what creates something is safe with one


class Parameters(BaseModel):
    """What a verb takes; nothing is converted and nothing is ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NoParameters(Parameters):
    """Nothing."""


class TaskParameters(Parameters):
    """A task."""

    task_id: Annotated[str, Field(description="Unique name of the task")]


class AddParameters(Parameters):
    """`memory_add`."""

    content: Annotated[str, Field(description="What the entry says")]
    summary: Annotated[str, Field(description="What it is about, in a few words")]
    tags: Annotated[list[Annotated[str, Field(max_length=MAX_LABEL)]], Field(max_length=MAX_TAGS)] | None = Field(
        default=None, description="Labels to file it under"
    )


class QueryParameters(Parameters):
    """`memory_query`."""

    query: Annotated[str, Field(description="What to look for")]
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] | None = Field(
        default=None, description=f"How many of the best results, {TOP_K} unless given"
    )


class DeleteParameters(Parameters):
    """`memory_delete`."""

    kb_id: Annotated[str, Field(description="Id of the entry")]


class LevelParameters(Parameters):
    """`memory_dump`."""

    level: Level | None = Field(default=None, description="kb, workspace or all; all unless given")


class SearchParameters(Parameters):
    """`memory_search`."""

    query: Annotated[str, Field(description="Words that must all be there")]
    level: Level | None = Field(default=None, description="kb, workspace or all; all unless given")


class RestoreParameters(Parameters):
    """`memory_restore`."""

    backup_path: Annotated[str, Field(description="What memory_backup answered")]


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Verb(Generic[P]):
    """One of the ten."""

    name: str
    title: str
    description: str  # for a model
    parameters: type[P]
    answer: Callable[[Services, P, Asked], dict[str, Any]]
    reads_only: bool = False


def _init_workspace(services: Services, given: TaskParameters, _: Asked) -> dict[str, Any]:
    return {"path": services.knowledge.workspaces.init(given.task_id)}


def _add(services: Services, given: AddParameters, asked: Asked) -> dict[str, Any]:
    def effect() -> Answer:
        by = By(asked.actor)
        memory = services.knowledge.entries.add(given.content, given.summary, given.tags or (), by)
        body = {"id": memory.id, "summary": shown(memory)["summary"]}
        return Answer(body, f"memory:{memory.seq}")

    return services.receipts.once("/rpc memory_add", asked.key, given.model_dump(), effect)


def _query(services: Services, given: QueryParameters, _: Asked) -> dict[str, Any]:
    _require_query(given.query)
    found = services.knowledge.entries.find(given.query, given.top_k or TOP_K)
    results = [{"id": memory.id, **shown(memory)} for memory in found]
    return {"results": [{name: each[name] for name in ("id", "summary", "content")} for each in results]}


def _delete(services: Services, given: DeleteParameters, asked: Asked) -> dict[str, Any]:
    memory = services.knowledge.entries.delete(given.kb_id, By(asked.actor))
    return {"status": "success", "id": memory.id}


def _cleanup(services: Services, given: TaskParameters, asked: Asked) -> dict[str, Any]:
    return {"status": "success", "path": services.knowledge.workspaces.cleanup(given.task_id, By(asked.actor))}


def _get_status(services: Services, _: NoParameters, __: Asked) -> dict[str, Any]:
    loaded = services.knowledge.entries.readable()
    return {
        "status": "ok" if loaded else "degraded",
        "kb_status": "loaded" if loaded else "unloaded",
        "workspace_status": "active" if services.knowledge.workspaces.active() else "clean",
    }


def _dump(services: Services, given: LevelParameters, _: Asked) -> dict[str, Any]:
    notes: dict[str, None] = {}
    match given.level or "all":
        case "kb":
            told = _entries(services, notes)
        case "workspace":
            told = _workspaces(services, notes)
        case _:
            told = {"kb": _entries(services, notes), "workspace": _workspaces(services, notes)}
    return {"status": "ok", "data": told, **_noted(notes)}


def _entries(services: Services, notes: dict[str, None]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    left = DUMPED
    for memory in services.knowledge.entries.all():
        entry = shown(memory)
        left -= len(memory.state.content) + len(str(entry["summary"])) + 200
        if left < 0 and told:
            notes[f"only the {len(told):,} oldest entries are shown: the answer would be too large"] = None
            break
        told[memory.id] = entry
    return told


def _workspaces(services: Services, notes: dict[str, None]) -> dict[str, Any]:
    workspaces = services.knowledge.workspaces
    names, _ = workspaces.tasks()
    files = shown_files(workspaces.files(notes), DUMPED, notes)
    return {name: {"path": workspaces.told_path(name), "files": files.get(name, {})} for name in names}


def _search(services: Services, given: SearchParameters, asked: Asked) -> dict[str, Any]:
    _require_query(given.query)
    level, results = given.level or "all", []
    notes: dict[str, None] = {}
    if level != "workspace":
        found, more = services.knowledge.entries.containing(given.query, MAX_RESULTS)
        if more:
            notes[f"only the first {MAX_RESULTS} entries are shown; name more words to narrow them"] = None
        results += [{"source": "kb", "key": memory.id, "value": shown(memory)} for memory in found]
    if level != "kb":
        until = min(asked.until, ids.monotonic() + SEARCH_S)
        looked = services.knowledge.workspaces.search(given.query, late=lambda: ids.monotonic() > until)
        notes |= dict.fromkeys(looked.notes)
        results += [
            {"source": "workspace", "key": hit.key, "value": {"line": hit.line, "text": hit.text}}
            for hit in looked.hits
        ]
    return {"status": "ok", "results": results, **_noted(notes)}


def _backup(services: Services, _: NoParameters, __: Asked) -> dict[str, Any]:
    made = services.knowledge.snapshots.backup()
    left = made.manifest.left_out
    more = f" {left:,} links or special files in workspaces were left out." if left else ""
    return {"status": "ok", "message": f"Backup successful.{more}", "backup_path": made.path}


def _restore(services: Services, given: RestoreParameters, asked: Asked) -> dict[str, Any]:
    services.knowledge.snapshots.restore(given.backup_path, By(asked.actor))
    return {"status": "ok", "message": f"从 {given.backup_path} 恢复成功"}


def _require_query(query: str) -> None:
    if not query.strip():
        raise InvalidArgument("query must not be empty", hint="memory_dump shows everything")


def _noted(notes: dict[str, None]) -> dict[str, str]:
    """What an answer leaves out, in a field beyond the contract; absent when it leaves out nothing."""
    return {"note": "; ".join(notes)} if notes else {}


VERBS: tuple[Verb[Any], ...] = (
    Verb(
        "memory_init_workspace", "Make a workspace",
        "Make an isolated, empty folder for a task and return its path. The first step of a new task.",
        TaskParameters, _init_workspace,
    ),
    Verb(
        "memory_add", "Add knowledge",
        "Add an entry to the knowledge base: what it says, a short summary, and tags to file it under. Returns its id.",
        AddParameters, _add,
    ),
    Verb(
        "memory_query", "Query knowledge",
        "The entries of the knowledge base that fit a query best by words and meaning, whole; none if nothing fits.",
        QueryParameters, _query, reads_only=True,
    ),
    Verb(
        "memory_delete", "Delete knowledge",
        "Delete an entry of the knowledge base by its id. It is hidden; its history stays.",
        DeleteParameters, _delete,
    ),
    Verb(
        "memory_cleanup", "Remove a workspace",
        "Remove a task's folder and everything in it for good. Do it when the task is finished.",
        TaskParameters, _cleanup,
    ),
    Verb(
        "memory_get_status", "Status",
        "Whether the knowledge base is loaded and whether any workspace is active.",
        NoParameters, _get_status, reads_only=True,
    ),
    Verb(
        "memory_dump", "Dump",
        "Everything in the knowledge base (kb), in the workspaces (workspace) or both (all), for debugging. A note "
        "says what did not fit.",
        LevelParameters, _dump, reads_only=True,
    ),
    Verb(
        "memory_search", "Search everywhere",
        "Find words in the knowledge base (kb), in the text files of all workspaces (workspace) or in both (all): only "
        "what contains every one of them. memory_query searches by meaning.",
        SearchParameters, _search, reads_only=True,
    ),
    Verb(
        "memory_backup", "Back up",
        "Save the knowledge base and all workspaces to a new backup file and return its path.",
        NoParameters, _backup,
    ),
    Verb(
        "memory_restore", "Restore a backup",
        "Replace the knowledge base and all workspaces by what a backup holds. What is there is backed up first.",
        RestoreParameters, _restore,
    ),
)  # fmt: skip
BY_NAME: dict[str, Verb[Any]] = {verb.name: verb for verb in VERBS}
