"""The ReasoningBank: lessons, which later runs read and cite as `mem:<id>`.

A lesson is a memory of the kind lesson, found by the product's own search. People add notes, edit and archive; learning
writes the rest. Whoever writes lessons holds the bank until the transaction ends, so that a learning, a rollback and a
hand edit never meet half-way. What is private or secret is taken out on the way in. A lesson that a rollback took back
is hidden from lists and can still be read by its id: a run may have cited it.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import audience, privacy
from codexmem.kernel.model.attrs import LessonAttrs
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import MemoryVersion, Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.life import LESSON_TURN
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, State, Status
from codexmem.kernel.model.query import Filter, Id, PageRequest, RowCursor, Seq
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.listing import Listing
from codexmem.kernel.store.memories import MemoryTable
from codexmem.lab.lesson_model import GLOBAL, MAX_CONTENT, MAX_ROLE, LessonEdit, LessonType, NewLesson, attrs_of
from codexmem.lab.model import Lesson, kept_extra
from codexmem.lab.service.trace import RunTrace, no_run
from codexmem.lab.store import learnings as lab_lessons
from codexmem.lab.store.runs import RunTable

KINDS = frozenset({Kind.LESSON})
SHOWN = frozenset({Status.ACTIVE, Status.ARCHIVED})
MAX_QUERY = 2_000
MAX_TOP = 50
HAND = "lab"  # actor of what people do through the lab's interface

_ROLE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class LessonFilter:
    """Which lessons; each field that is given must hold."""

    roles: frozenset[str] = frozenset()  # any of these
    type: LessonType | None = None
    statuses: frozenset[Status] = SHOWN

    def filter(self, *, until_ms: int | None = None) -> Filter:
        """As the store's lists and searches understand it."""
        facets = [("role", self.roles)] if self.roles else []
        facets += [("type", frozenset({self.type.value}))] if self.type else []
        return Filter(KINDS, statuses=self.statuses, facets=tuple(facets), created_to_ms=until_ms)


class Bank:
    """The acting tenant's lessons."""

    def __init__(
        self,
        db: Database,
        table: MemoryTable,
        memories: Memories,
        search: Callable[[SearchQuery], SearchAnswer],
        runs: RunTable,
        trace: RunTrace,
        clock: Clock,
        roles: Collection[str],
        history: History,
    ) -> None:
        self._db = db
        self._table = table
        self._memories = memories
        self._search = search
        self._runs = runs
        self._trace = trace
        self._clock = clock
        self._history = history
        self._roles = frozenset({GLOBAL, *roles})

    @property
    def roles(self) -> list[str]:
        """Whom a lesson can be for: everyone, or a role of the profile."""
        return [GLOBAL, *sorted(self._roles - {GLOBAL})]

    def get(self, mem_id: str) -> Memory:
        """One lesson, whatever its status."""
        try:
            return self._memories.get(Id(mem_id), KINDS)
        except NotFound:
            raise NotFound(f"no memory {mem_id[:80]}", hint="memories are listed at /api/v1/memories") from None

    def versions(self, mem_id: str, *, below: int | None, limit: int) -> list[MemoryVersion]:
        """What a lesson said, newest first, whatever became of it."""
        return self._history.versions(Seq(self.get(mem_id).seq), KINDS, limit=limit, below=below)

    def page(self, wish: LessonFilter, *, limit: int, after: RowCursor | None = None) -> Listing:
        """Lessons, newest first; costs its own length."""
        return self._memories.page(wish.filter(), PageRequest(limit, after=after))

    def find(self, query: str, wish: LessonFilter, *, limit: int, offset: int = 0, until_ms: int | None = None
             ) -> tuple[list[Memory], bool]:  # fmt: skip
        """The lessons that fit best, best first, and whether there are more.

        With `until_ms` those made later are left out: pages of one list then fit together while lessons are added.
        """
        if len(query) > MAX_QUERY:
            raise InvalidArgument(f"query is longer than {MAX_QUERY:,} characters")
        answer = self._search(SearchQuery(query, wish.filter(until_ms=until_ms), limit=limit, offset=offset))
        return [found.memory for found in answer.results], answer.more

    def now_ms(self) -> int:
        """What `until_ms` of a first page is."""
        return self._clock.now_ms()

    def hold(self) -> None:
        """Let nobody else write lessons until the caller's transaction ends."""
        self._table.hold(LESSON_TURN)

    def add(self, note: NewLesson, by: WriteContext) -> Memory:
        """Remember a person's note."""
        attrs = LessonAttrs(
            self._role(note.role), (note.source_run_id,) if note.source_run_id else (), by_hand=True,
            schema_version=note.schema_version, extra=self._extra(note.extra),
        )  # fmt: skip
        state = State(self._content(note.content), attrs, type=LessonType.MANUAL.value, confidence=1.0)
        with self._db.transaction():
            if note.source_run_id is not None and self._runs.batch_of(note.source_run_id) is None:
                raise no_run(note.source_run_id)
            self.hold()
            source = replace(by, source=None)  # undoing what a run wrote does not undo what a person said about it
            return self._memories.remember(MemoryDraft(Kind.LESSON, state, by.origin), source)

    def edit(self, mem_id: str, edit: LessonEdit, by: WriteContext, *, seen: int | None = None) -> Memory:
        """Change a lesson by hand; with `seen`, only if that is still its version."""
        content = None if edit.content is None else self._content(edit.content)
        role = None if edit.role is None else self._role(edit.role)
        extra = None if edit.extra is None else self._extra(edit.extra)
        if edit.status is not None and edit.status not in SHOWN:
            raise InvalidArgument("status is active or archived")

        def changed(state: State) -> State:
            attrs = state.attrs
            assert isinstance(attrs, LessonAttrs)
            return replace(
                state,
                content=state.content if content is None else content,
                status=edit.status or state.status,
                attrs=replace(
                    attrs,
                    role=attrs.role if role is None else role,
                    extra=attrs.extra if extra is None else extra,
                    schema_version=edit.schema_version or attrs.schema_version,
                ),
            )

        op = Op.ARCHIVE if edit.status is Status.ARCHIVED and edit == LessonEdit(status=edit.status) else Op.UPDATE
        return self._change(mem_id, changed, by, op, seen)

    def archive(self, mem_id: str, by: WriteContext) -> Memory:
        """Put a lesson away; runs no longer find it, and learning does not bring it back."""
        return self._change(mem_id, lambda state: replace(state, status=Status.ARCHIVED), by, Op.ARCHIVE, None)

    def count_active(self, roles: frozenset[str] = frozenset()) -> int:
        """How many lessons are in use, all or for one of these roles, counted up to a limit."""
        return lab_lessons.count_active(self._db, roles)

    def _change(
        self, mem_id: str, change: Callable[[State], State], by: WriteContext, op: Op, seen: int | None
    ) -> Memory:
        with self._db.transaction():
            self.hold()
            memory = self.get(mem_id)
            if seen is not None and memory.version != seen:
                raise Conflict(
                    f"memory {mem_id} is at version {memory.version}, not {seen}",
                    hint="read it again and repeat the change on what it says now",
                    details={"version": memory.version},
                )
            if memory.state.status not in SHOWN:
                raise Conflict(
                    f"memory {mem_id} was undone by a rollback",
                    hint="undo the rollback's own delta, learn again, or add a note",
                )
            after = change(memory.state)
            if after == memory.state:
                return memory
            assert isinstance(after.attrs, LessonAttrs)
            after = replace(after, attrs=replace(after.attrs, by_hand=True))
            return self._memories.write(memory, after, op, by)

    def _content(self, text: str) -> str:
        content = str(self._trace.masked(privacy.strip(text))).strip()
        if not content:
            raise InvalidArgument("content must not be empty", hint="text marked as private is left out")
        if len(content) > MAX_CONTENT:
            raise InvalidArgument(f"content is longer than {MAX_CONTENT:,} characters", hint="write several lessons")
        return content

    def _role(self, role: str) -> str:
        if role in self._roles:
            return role
        known = ", ".join(sorted(self._roles))
        if len(role) > MAX_ROLE or not _ROLE.fullmatch(role):
            raise InvalidArgument(f"role is not a role name; roles are {known}")
        raise InvalidArgument(f"role {role} is not one of the profile's", hint=f"known are {known}")

    def _extra(self, extra: dict[str, object]) -> str:
        kept = self._trace.masked(privacy.strip_value(kept_extra(extra)))
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) if kept else ""


class LessonReader:
    """The bank as a run reads it; a lesson for everyone is a lesson for each role."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def search(self, query: str, top_k: int, role: str | None = None, status: str = "active",
               type: str | None = None) -> list[Lesson]:  # fmt: skip
        """The lessons nearest to a query; unknown statuses and types find nothing."""
        try:
            statuses, kind = frozenset({Status(status)}), LessonType(type) if type else None
        except ValueError:
            return []
        wish = LessonFilter(_for(role), kind, statuses)
        with audience.agents():
            found, _ = self._bank.find(query[:MAX_QUERY], wish, limit=max(1, min(top_k, MAX_TOP)))
        return [lesson(memory) for memory in found]

    def get(self, mem_id: str) -> Lesson | None:
        """One lesson, whatever its status."""
        try:
            with audience.agents():
                return lesson(self._bank.get(mem_id))
        except NotFound:
            return None

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, limit: int, role: str | None = None) -> tuple[int, Sequence[Lesson]]:
        """How many active lessons there are, and the newest of them."""
        wish = LessonFilter(_for(role), statuses=frozenset({Status.ACTIVE}))
        with audience.agents():
            newest = self._bank.page(wish, limit=max(1, min(limit, MAX_TOP))).items
        return self._bank.count_active(wish.roles), [lesson(memory) for memory in newest]


def lesson(memory: Memory) -> Lesson:
    """A memory as a run sees it."""
    attrs = attrs_of(memory.state)
    return Lesson(
        memory.id, attrs.role, memory.state.type, memory.state.status.value, memory.state.content,
        attrs.runs[0] if attrs.runs else None, memory.created_ms, memory.updated_ms,
    )  # fmt: skip


def _for(role: str | None) -> frozenset[str]:
    return frozenset({role, GLOBAL}) if role else frozenset()
