"""The documents of `/api/sync`: what a checkout tells about its files, and what becomes of them.

Routes return these models and the command parses them. Importing this loads nothing of a server.
"""

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.model import redaction
from codexmem.kernel.model.memory import MAX_CONTENT, MAX_KEY, MAX_PROJECT, Kind
from codexmem.kernel.wire import WireAnswer
from codexmem.sync.document import MAX_PATH
from codexmem.sync.model import FileReport, FileResult, Outcome, SyncBase

if TYPE_CHECKING:
    from codexmem.sync.service import SyncedPage, SyncItem

MAX_FILES = 100
MAX_ANCESTORS = 50
_MAX_CAUSE = 300

_Digest = Annotated[str, Field(pattern=r"^([0-9a-f]{64}|gone)$")]
_Project = Annotated[str, Field(min_length=1, max_length=MAX_PROJECT)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SyncBaseSent(_Body):
    """A state that file and memory once had in common."""

    digest: _Digest
    version: Annotated[int, Field(ge=0, lt=2**31)] = 0

    def base(self) -> SyncBase:
        """As the service knows it."""
        return SyncBase(self.digest, self.version)


class SyncFileSent(_Body):
    """One file of a checkout; without text, the place where one was."""

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH)]
    text: Annotated[str | None, Field(max_length=MAX_CONTENT)] = None
    memory: Annotated[str, Field(max_length=MAX_KEY, description="the memory it was last in step with")] = ""
    base: SyncBaseSent | None = None
    ancestors: Annotated[tuple[SyncBaseSent, ...], Field(max_length=MAX_ANCESTORS)] = ()
    onward: Annotated[bool, Field(description="false after a checkout of another branch or an earlier commit")] = True
    replaced: Annotated[bool, Field(description="the base was put over an old text and never committed")] = False
    cause: Annotated[str, Field(max_length=_MAX_CAUSE, description="the commit, for the history")] = ""
    insisted: Annotated[bool, Field(description="a person decided for the file where both were edited")] = False

    @classmethod
    def of(cls, report: FileReport) -> Self:
        """As it is sent."""
        return cls(
            path=report.path, text=report.text, memory=report.memory, onward=report.onward, replaced=report.replaced,
            insisted=report.insisted, cause=report.cause[:_MAX_CAUSE],
            base=_sent(report.base) if report.base is not None else None,
            ancestors=tuple(map(_sent, report.ancestors[:MAX_ANCESTORS])),
        )  # fmt: skip

    def report(self) -> FileReport:
        """As the service knows it."""
        return FileReport(
            self.path, self.text, self.memory, self.base.base() if self.base is not None else None,
            tuple(each.base() for each in self.ancestors), self.onward, self.replaced, redaction.redact(self.cause),
            self.insisted,
        )  # fmt: skip


class SyncFiles(_Body):
    """Some files of a checkout, to be brought in step with the memories of its project."""

    project: _Project
    files: Annotated[tuple[SyncFileSent, ...], Field(max_length=MAX_FILES)]
    dry_run: Annotated[bool, Field(description="only say what would be done")] = False
    delta: Annotated[str | None, Field(max_length=MAX_KEY, description="of the request before, if any")] = None


class SyncFileAnswer(WireAnswer):
    """What became of one file."""

    path: str
    outcome: Outcome
    memory: str
    version: int
    digest: str
    text: str | None  # what the file is to say; null if there is to be no file
    reason: str

    @classmethod
    def of(cls, result: FileResult) -> Self:
        """This one."""
        return cls(
            path=result.path, outcome=result.outcome, memory=result.memory, version=result.version,
            digest=result.digest, text=result.text, reason=result.reason,
        )  # fmt: skip


class SyncFilesAnswer(WireAnswer):
    """What became of some files; all that one run writes is one delta."""

    results: tuple[SyncFileAnswer, ...]
    delta: str | None

    @classmethod
    def of(cls, page: "SyncedPage") -> Self:
        """This one."""
        return cls(results=tuple(map(SyncFileAnswer.of, page.results)), delta=page.delta)


class SyncMemory(WireAnswer):
    """A memory as a file."""

    id: str
    kind: Kind
    version: int
    digest: str
    text: str

    @classmethod
    def of(cls, item: "SyncItem") -> Self:
        """This one."""
        memory, file = item.memory, item.file
        return cls(id=memory.id, kind=memory.kind, version=memory.version, digest=file.digest(), text=file.text())


class SyncMemories(WireAnswer):
    """One page of a project's memories as files."""

    items: tuple[SyncMemory, ...]
    withheld: int  # memories that must not leave the store, or are too large
    next_cursor: str | None
    has_more: bool


class SyncError(WireAnswer):
    """A refusal."""

    error: str
    hint: str | None = None


def _sent(base: SyncBase) -> SyncBaseSent:
    return SyncBaseSent(digest=base.digest, version=base.version)
