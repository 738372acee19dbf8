"""Acts on memories and the list of them, on the wire."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.model import handle
from codexmem.kernel.model.life import MAX_PARTS, Act, Life, MemoryEdit
from codexmem.kernel.model.memory import Mark
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.services.lifecycle import MAX_IDS, ActRequest, ActResult
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.memory_list import ListedMemory
from codexmem.recall.wire.memories import TimelineRow

_NAME = Annotated[str, Field(min_length=1, max_length=600)]
_NUMBER = Annotated[int, Field(strict=True, ge=1, lt=2**63)]
_FACTS = 100
_Facts = Annotated[list[str], Field(max_length=_FACTS)]


class SplitPart(BaseModel):
    """One of the memories that another one is split into."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    title: str | None = Field(None, description="its first words, if it is left out; of a question, the question")


class ActBody(BaseModel):
    """`POST /api/memories/act`: one act on up to 200 memories; all of them change or none does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    act: Act
    ids: Annotated[list[_NUMBER | _NAME], Field(min_length=1, max_length=MAX_IDS)] = Field(
        description="numbers, or names such as #12, S9, project://config or qa-…"
    )
    text: str | None = Field(None, description="edit: the new words; merge: what the memory that stays is to say")
    title: str | None = Field(None, description="edit: the new title, or the new question")
    type: str | None = Field(None, description="edit: the new type of observations")
    facts: _Facts | None = Field(None, description="edit: the new facts; new words without them drop the old ones")
    priority: Annotated[int, Field(strict=True, ge=0, le=10)] | None = Field(None, description="edit: of notes")
    disclosure: str | None = Field(None, description="edit: when a note should be told")
    into: _NUMBER | _NAME | None = Field(None, description="supersede, merge: the memory that stays")
    parts: Annotated[list[str | SplitPart], Field(max_length=MAX_PARTS)] = Field(
        [], description="split: the new memories, as texts or with titles"
    )
    seen: _NUMBER | None = Field(None, description="only if this is still the version of the one memory")
    reason: Annotated[str, Field(max_length=4_000)] = Field("", description="kept with every version")
    visibility: Visibility | None = Field(None, description="share: who may see them from now on")

    def request(self) -> ActRequest:
        """The act as the service takes it."""
        facts = None if self.facts is None else tuple(self.facts)
        return ActRequest(
            self.act,
            tuple(self.ids),
            MemoryEdit(self.text, self.title, self.type, facts, self.priority, self.disclosure),
            self.into,
            tuple(MemoryEdit(part) if isinstance(part, str) else MemoryEdit(part.text, part.title)
                  for part in self.parts),
            self.seen,
            self.reason,
            self.visibility,
        )  # fmt: skip


class ChangedMemory(WireAnswer):
    """A memory after an act."""

    id: int = Field(description="its number")
    ref: str = Field(description="a name that every interface takes")
    version: int
    life: Life
    marks: tuple[Mark, ...]


class ActAnswer(WireAnswer):
    """What an act did."""

    delta: str | None = Field(description="undo it to have everything as it was; null if nothing was written")
    changed: tuple[ChangedMemory, ...] = Field(description="as they are now; new ones last")
    unchanged: tuple[int, ...] = Field(description="numbers of those that there was nothing to do about")

    @classmethod
    def of(cls, done: ActResult, lives: dict[int, Life]) -> Self:
        """What it did, and where the memories are in their life since."""
        changed = tuple(
            ChangedMemory(
                id=each.seq,
                ref=handle.ref(each),
                version=each.version,
                life=lives[each.seq],
                marks=tuple(sorted(each.state.marks)),
            )
            for each in done.changed
        )
        return cls(delta=done.delta, changed=changed, unchanged=done.unchanged)


class MemoryRow(TimelineRow):
    """A memory of the list."""

    version: int
    updated_ms: int

    @classmethod
    def of_listed(cls, listed: ListedMemory, session: int | None) -> Self:
        """A memory, made in this session."""
        memory = listed.memory
        return cls.of_session(memory, session, listed.life, version=memory.version, updated_ms=memory.updated_ms)


class MemoryPage(WireAnswer):
    """Some memories, newest first."""

    items: tuple[MemoryRow, ...] = Field(
        description="may be few, or none, while there is more: one call reads a bounded number of rows"
    )
    next_cursor: str | None
    has_more: bool
