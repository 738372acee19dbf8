"""The documents of contract 003: what each of the ten verbs takes and what it answers.

A verb's parameters are the fields of a model, in the order in which they may be given by position. JSON-RPC and the MCP
tools parse and answer these models, commands read them. Importing this loads nothing of a server: services are named
for their types alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.model.attrs import KnowledgeAttrs
from codexmem.kernel.model.memory import MAX_LABEL, Memory
from codexmem.kernel.wire import WireAnswer
from codexmem.knowledge.model import MAX_TAGS

if TYPE_CHECKING:
    from codexmem.knowledge.service.snapshots import KnowledgeBackup
    from codexmem.knowledge.service.workspaces import FileMatch

TOP_K, MAX_TOP_K = 3, 100

Level = Literal["kb", "workspace", "all"]


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


class WorkspaceMade(WireAnswer):
    """Where a new workspace is."""

    path: str


class WorkspaceRemoved(WireAnswer):
    """Where a workspace was."""

    status: Literal["success"]
    path: str


class EntryAdded(WireAnswer):
    """A new entry."""

    id: str
    summary: str

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """This one."""
        return cls(id=memory.id, summary=_attrs(memory).summary)


class EntryDeleted(WireAnswer):
    """An entry that was hidden."""

    status: Literal["success"]
    id: str


class KnowledgeEntry(WireAnswer):
    """An entry as it is told where its id stands beside it."""

    content: str
    summary: str
    tags: tuple[str, ...]

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """This one."""
        attrs = _attrs(memory)
        return cls(content=memory.state.content, summary=attrs.summary, tags=attrs.tags)


class FittingEntry(WireAnswer):
    """An entry that fits a query."""

    id: str
    summary: str
    content: str


class FittingEntries(WireAnswer):
    """The entries that fit a query, best first."""

    results: tuple[FittingEntry, ...]

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> Self:
        """These."""
        return cls(
            results=tuple(
                FittingEntry(id=each.id, summary=_attrs(each).summary, content=each.state.content) for each in memories
            )
        )


class KnowledgeStatus(WireAnswer):
    """Whether there is knowledge to ask and a task at work."""

    status: Literal["ok", "degraded"]
    kb_status: Literal["loaded", "unloaded"]
    workspace_status: Literal["active", "clean"]

    @classmethod
    def of(cls, *, loaded: bool, active: bool) -> Self:
        """As it stands."""
        return cls(
            status="ok" if loaded else "degraded",
            kb_status="loaded" if loaded else "unloaded",
            workspace_status="active" if active else "clean",
        )


class FileSize(WireAnswer):
    """A file that is no text, or too long to be told."""

    bytes: int


class DumpedWorkspace(WireAnswer):
    """A task's folder: what each file says, by its path."""

    path: str
    files: dict[str, str | FileSize]


class EverythingDumped(WireAnswer):
    """Both levels."""

    kb: dict[str, KnowledgeEntry]
    workspace: dict[str, DumpedWorkspace]


class EntriesDump(WireAnswer):
    """The knowledge base by the ids of its entries."""

    status: Literal["ok"]
    data: dict[str, KnowledgeEntry]
    note: str | None = None  # beyond the contract: what was left out; absent when nothing was


class WorkspacesDump(WireAnswer):
    """The workspaces by the names of their tasks."""

    status: Literal["ok"]
    data: dict[str, DumpedWorkspace]
    note: str | None = None


class WholeDump(WireAnswer):
    """The knowledge base and the workspaces."""

    status: Literal["ok"]
    data: EverythingDumped
    note: str | None = None


class MatchingEntry(WireAnswer):
    """An entry that contains every word."""

    source: Literal["kb"]
    key: str
    value: KnowledgeEntry

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """This one."""
        return cls(source="kb", key=memory.id, value=KnowledgeEntry.of(memory))


class MatchingLine(WireAnswer):
    """The first line of a file that says one of the words; the file's name where only that does."""

    line: int | None
    text: str


class MatchingFile(WireAnswer):
    """A file of a workspace that contains every word."""

    source: Literal["workspace"]
    key: str
    value: MatchingLine

    @classmethod
    def of(cls, hit: "FileMatch") -> Self:
        """This one."""
        return cls(source="workspace", key=hit.key, value=MatchingLine(line=hit.line, text=hit.text))


class Matches(WireAnswer):
    """What contains every word."""

    status: Literal["ok"]
    results: tuple[MatchingEntry | MatchingFile, ...]
    note: str | None = None

    @classmethod
    def of(cls, results: Sequence[MatchingEntry | MatchingFile], notes: Iterable[str]) -> Self:
        """These, and what was left out."""
        return cls(status="ok", results=tuple(results), **noted(notes))


class BackedUp(WireAnswer):
    """Where a backup is."""

    status: Literal["ok"]
    message: str
    backup_path: str

    @classmethod
    def of(cls, made: "KnowledgeBackup") -> Self:
        """This one."""
        left = made.manifest.left_out
        more = f" {left:,} links or special files in workspaces were left out." if left else ""
        return cls(status="ok", message=f"Backup successful.{more}", backup_path=made.path)


class Restored(WireAnswer):
    """That a backup was restored."""

    status: Literal["ok"]
    message: str


def noted(notes: Iterable[str]) -> Mapping[str, str]:
    """The field that says what an answer leaves out, where it does."""
    said = "; ".join(notes)
    return {"note": said} if said else {}


def _attrs(memory: Memory) -> KnowledgeAttrs:
    attrs = memory.state.attrs
    assert isinstance(attrs, KnowledgeAttrs)
    return attrs
