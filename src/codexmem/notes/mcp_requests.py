"""The arguments of the tools on notes. A null means the same as leaving the argument out; unknown names are ignored."""

from typing import Annotated, Literal

from pydantic import Field, StrictStr
from pydantic.json_schema import SkipJsonSchema

from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.note import NoteEdit
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.wire import WireRequest
from codexmem.notes.model import MAX_VERSIONS, NoteFilter

MAX_FOUND = 100
MAX_LISTED = 200

Priority = Annotated[int, Field(ge=0, le=10)]
Limit = Annotated[int, Field(ge=1, le=MAX_FOUND)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Text = Annotated[StrictStr, Field(min_length=1)]

_URI = "Address of the memory, as domain://path, e.g. project://config or core://agent/my_user"
_DOMAIN = "Only this domain, the part of the URI before ://, e.g. project"
_FROM = "Only priorities from this number on (0 is the most important, 10 the least)"
_TO = "Only priorities up to this number (2 leaves the core memories)"


class ReadRequest(WireRequest):
    """read_memory"""

    uri: Text = Field(
        description=f"{_URI}; or a view: system://boot (core memories), system://index (everything there is, one line "
        "each), system://index/DOMAIN, system://recent, system://recent/N (the last N that changed)"
    )


class CreateRequest(WireRequest):
    """create_memory"""

    uri: Text = Field(description=f"{_URI}. Nothing may stand there yet")
    content: Text = Field(description="What is to be remembered, so that it makes sense without this conversation")
    priority: Priority = Field(
        default=5, description="0-2: identity and key facts, told at every start; 3-5: usual; 6-10: of little weight"
    )
    disclosure: StrictStr = Field(
        default="", description='When it should come to mind, e.g. "when deploying" or "改数据库结构之前"'
    )
    visibility: Visibility | None = Field(
        default=None, description="Who may see it: mine, project or everyone; leave it out unless the person said so"
    )


class UpdateRequest(WireRequest):
    """update_memory"""

    uri: Text = Field(description=_URI)
    content: StrictStr | None = Field(default=None, description="The new content or, with append, the text to add")
    old_string: StrictStr | None = Field(
        default=None, description="Text to replace, exactly as it stands in the content, and only once in it"
    )
    new_string: StrictStr | None = Field(default=None, description='What stands there instead; "" removes the text')
    append: bool = Field(default=False, description="Add content at the end instead of replacing everything")
    priority: Priority | None = Field(default=None, description="New priority, 0 to 10")
    disclosure: StrictStr | None = Field(default=None, description='New disclosure; "" for none')
    status: Literal["active", "deprecated", "archived"] | None = Field(
        default=None, description="deprecated or archived: keep it, but no longer find or tell it; active: again"
    )

    def edit(self) -> NoteEdit:
        """As the service takes it."""
        return NoteEdit(
            self.content, self.old_string, self.new_string, self.append, self.priority, self.disclosure,
            Status(self.status) if self.status is not None else None,
        )  # fmt: skip


class DeleteRequest(WireRequest):
    """delete_memory"""

    uri: Text = Field(description=_URI)
    force: bool = Field(default=False, description="Erase it with all its versions; cannot be undone")


class _Narrowed(WireRequest):
    domain: StrictStr | None = Field(default=None, description=_DOMAIN)
    priority_min: Priority | None = Field(default=None, description=_FROM)
    priority_max: Priority | None = Field(default=None, description=_TO)


class SearchNotesRequest(_Narrowed):
    """search_memory"""

    query: Text = Field(description="Words to look for in URIs, contents and disclosures, in any language")
    limit: Limit = Field(default=10, description="How many results at most")

    def wish(self) -> NoteFilter:
        """As the service is asked."""
        return NoteFilter(self.domain, self.priority_min, self.priority_max)


class ListNotesRequest(_Narrowed):
    """list_memories"""

    status: Literal["active", "deprecated", "archived", "deleted"] | None = Field(
        default=None, description="Only this status; without it, everything that is not deleted"
    )
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = Field(default=20, description="How many at most")

    def wish(self) -> NoteFilter:
        """As the service is asked."""
        status = Status(self.status) if self.status is not None else None
        return NoteFilter(self.domain, self.priority_min, self.priority_max, status)


class PreloadRequest(WireRequest):
    """preload_memory"""

    context_type: Literal["file", "directory", "error", "intent"] = Field(
        description="What context_data is: file, directory, error or intent"
    )
    context_data: StrictStr = Field(
        description="A file's path; a directory's path; an error with its traceback; or what the user wants, in words"
    )


class SessionRequest(WireRequest):
    """save_session"""

    title: StrictStr | None = Field(default=None, description="What the session was about, in a few words")
    summary: StrictStr | None = Field(
        default=None, description="What was asked, done, learned and left open; becomes a memory under session://"
    )


class NoRequest(WireRequest):
    """get_memory_stats"""


class ExportRequest(WireRequest):
    """export_memories"""

    domain: StrictStr | None = Field(default=None, description=_DOMAIN)
    include_versions: bool = Field(default=False, description="With the history of each memory")
    include_relations: bool = Field(default=False, description="With the aliases and links of each memory")


class ImportNotesRequest(WireRequest):
    """import_memories"""

    data: dict[str, object] = Field(description="What export_memories answered: an object with a list of memories")
    strategy: Literal["skip", "overwrite", "merge"] = Field(
        default="skip",
        description="What happens to a memory that exists already: skip leaves it, overwrite replaces what it says, "
        "merge adds the paragraphs it lacks",
    )
    keep_priority: SkipJsonSchema[bool] = False  # for the command of a person; agents are not offered it


class AliasRequest(WireRequest):
    """add_alias"""

    target_uri: Text = Field(description="An address of the existing memory, e.g. core://agent/my_user")
    alias_uri: Text = Field(description="The further address it gets, e.g. user://profile")


class VersionsRequest(WireRequest):
    """get_memory_versions and list_rollbacks"""

    uri: Text = Field(description=_URI)
    limit: Annotated[int, Field(ge=1, le=MAX_VERSIONS)] = Field(default=10, description="How many at most")


class RollbackNoteRequest(WireRequest):
    """rollback_memory"""

    uri: Text = Field(description=_URI)
    version: Number = Field(description="The version to bring back, from list_rollbacks")


class DiffRequest(WireRequest):
    """diff_versions"""

    uri: Text = Field(description=_URI)
    version1: Number = Field(description="The first version, usually the older one")
    version2: Number = Field(description="The second version")
