"""Remembering and changing: the one writer of memories.

Every write is checked, saved against the version it saw, recorded as a version, indexed by its words and logged, all in
one transaction. Undoing is the business of `services.history`, which writes through here as well.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from codexmem.kernel.events.log import Log
from codexmem.kernel.model import address, approval, history, ids
from codexmem.kernel.model.errors import Conflict, Forbidden, InvalidArgument, NotFound, StorageFull, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import MemoryVersion, Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import (
    LAZY_HISTORY,
    PERSONAL,
    Kind,
    Mark,
    Memory,
    MemoryDraft,
    Origin,
    State,
    Status,
)
from codexmem.kernel.model.project_scope import present_scope
from codexmem.kernel.model.query import Filter, Handle, PageRequest, Seq
from codexmem.kernel.model.spans import timed
from codexmem.kernel.model.visibility import Visibility, present_viewer
from codexmem.kernel.search.indexer import Indexer
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.listing import Listing, Lists
from codexmem.kernel.store.memories import MemoryTable

_TRIES = 5  # a change that names no version is repeated on what another writer just left
_RELATION_MAX = 64

_log = logging.getLogger(__name__)

Change = Callable[[State], State]


class Memories:
    """The verbs on single memories."""

    def __init__(self, db: Database, table: MemoryTable, lists: Lists, versions: VersionTable, index: Indexer, log: Log,
                 clock: Clock, trusts_agents: bool = False, require_room: Callable[[], None] = lambda: None
                 ) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._lists = lists
        self._versions = versions
        self._index = index
        self._log = log
        self._clock = clock
        self._require_room = require_room
        self._trusts_agents = trusts_agents  # whether what they write into the core needs no person

    @timed("memories.remember")
    def remember(self, draft: MemoryDraft, by: WriteContext) -> Memory:
        """Store something new as version 1."""
        self._require_room()
        uris = tuple(address.writable(uri) for uri in draft.state.uris)
        author = replace(by, origin=Origin.HUMAN) if draft.origin is Origin.HUMAN else by
        viewer = present_viewer()
        usual = viewer.writes if draft.kind in PERSONAL else Visibility.PROJECT
        state = replace(draft.state, uris=uris, visibility=draft.visibility or usual)
        if state.visibility is Visibility.MINE and not viewer.owner:
            self._require_alone()
        if not self._trusts_agents:
            state = approval.judged(draft.kind, None, state, author)
        draft = replace(draft, state=approval.in_its_project(draft.kind, state.without_credit()))
        draft.check()
        by.check()
        now = self._now(by)
        with self._db.transaction():
            memory = self._table.insert(
                draft, id=draft.id or ids.mint(draft.kind), source=by.source, now_ms=now, owner=viewer.owner or None
            )
            if draft.kind not in LAZY_HISTORY or by.delta is not None:
                self._versions.add(_version(memory, Op.ADD, by, now))
            self._written(memory, Op.ADD)
            return memory

    def get(self, handle: Handle, kinds: frozenset[Kind]) -> Memory:
        """The memory of these kinds that answers to the handle, hidden ones included."""
        memory = self._table.find(handle, kinds)
        if memory is None:
            raise NotFound(f"{spelled(handle)} not found")
        return memory

    def many(self, seqs: Iterable[int], kinds: frozenset[Kind]) -> dict[int, Memory]:
        """Those of these numbers that exist and are of these kinds."""
        return self._table.many(seqs, kinds)

    def page(self, wanted: Filter, page: PageRequest) -> Listing:
        """One page in creation order."""
        return self._lists.page(wanted, page)

    def of_sessions(self, sessions: Sequence[str], wanted: Filter, limit: int) -> dict[str, list[Memory]]:
        """The newest of each of a few sessions, so many of each at most; two queries for all of them."""
        return self._lists.of_sessions(sessions, wanted, limit)

    def change(
        self,
        handle: Handle,
        kinds: frozenset[Kind],
        change: Change,
        by: WriteContext,
        *,
        seen: int | None = None,
        op: Op = Op.UPDATE,
    ) -> Memory:
        """Apply a change to the state; with `seen`, only if that is still the version."""
        for _ in range(_TRIES):
            with self._db.transaction():
                memory = self.get(handle, kinds)
                if seen is not None and memory.version != seen:
                    raise changed_since(memory, seen)
                written = self._write(memory, change(memory.state), op, by)
            if written is not None:
                return written
            if seen is not None:
                raise changed_since(self.get(handle, kinds), seen)
        raise Conflict(f"{spelled(handle)} is being changed by many writers at once", hint="try again")

    @timed("memories.write")
    def write(self, memory: Memory, state: State, op: Op, by: WriteContext, *, exactly: bool = False,
              as_before: bool = False) -> Memory:  # fmt: skip
        """Replace the state that was read; somebody else's write in between is a conflict.

        What a person wants told (`is_kept`) only a person takes away; for anybody else that is a conflict as well.
        `exactly`: whether a person agreed to it is as the state says, because it stood like that before. That is for
        people to say: an agent that takes back what a person did to its words proposes them again. `as_before`: it
        said these words before, and its marks say whose they are.
        """
        written = self._write(memory, state, op, by, exactly=exactly, as_before=as_before)
        if written is None:
            raise changed_since(self.get(Seq(memory.seq), frozenset({memory.kind})), memory.version)
        return written

    def _write(self, memory: Memory, state: State, op: Op, by: WriteContext, *, exactly: bool = False,
               as_before: bool = False) -> Memory | None:  # fmt: skip
        _require_writable(memory)
        if not as_before:
            state = approval.credited(memory.origin, memory.state, state, by)
        state = approval.in_its_project(memory.kind, self._judged(memory, state, by, exactly=exactly))
        if state.visibility is not memory.state.visibility:
            self._require_may_show(memory, state.visibility, by)
        state.check(memory.kind)
        by.check()
        now = self._now(by)
        after = memory.with_state(state, now_ms=now)
        with self._db.transaction():
            if not self._table.save(memory, after):
                return None
            if memory.version == 1 and memory.kind in LAZY_HISTORY:
                self._keep_first(memory)
            self._versions.add(_version(after, op, by, now))
            self._written(after, op)
            return after

    def patch(
        self, handle: Handle, kinds: frozenset[Kind], old: str, new: str, by: WriteContext, *, seen: int | None = None
    ) -> Memory:
        """Replace the one place where the content says `old`."""
        return self.change(
            handle, kinds, lambda state: replace(state, content=history.patch(state.content, old, new)), by, seen=seen
        )

    def append(
        self, handle: Handle, kinds: frozenset[Kind], text: str, by: WriteContext, *, seen: int | None = None
    ) -> Memory:
        """Add text at the end of the content."""
        return self.change(
            handle, kinds, lambda state: replace(state, content=history.append(state.content, text)), by, seen=seen
        )

    def delete(self, handle: Handle, kinds: frozenset[Kind], by: WriteContext, *, seen: int | None = None) -> Memory:
        """Hide the memory; its history stays and a rollback brings it back."""
        return self.change(handle, kinds, lambda s: replace(s, status=Status.DELETED), by, seen=seen, op=Op.DELETE)

    def archive(self, handle: Handle, kinds: frozenset[Kind], by: WriteContext, *, seen: int | None = None) -> Memory:
        """Put the memory away."""
        return self.change(handle, kinds, lambda s: replace(s, status=Status.ARCHIVED), by, seen=seen, op=Op.ARCHIVE)

    def alias(
        self, handle: Handle, kinds: frozenset[Kind], uri: str, by: WriteContext, *, seen: int | None = None
    ) -> Memory:
        """Give the memory one more address."""
        name = address.writable(uri)

        def add(state: State) -> State:
            if name in state.uris:
                raise Conflict(f"{name} already names this memory")
            return replace(state, uris=(*state.uris, name))

        return self.change(handle, kinds, add, by, seen=seen)

    def unalias(
        self, handle: Handle, kinds: frozenset[Kind], uri: str, by: WriteContext, *, seen: int | None = None
    ) -> Memory:
        """Take an address away; the first, primary one stays."""
        name = address.normalise(uri)

        def remove(state: State) -> State:
            if name not in state.uris[1:]:
                raise NotFound(f"{name} is not an alias of this memory")
            return replace(state, uris=tuple(u for u in state.uris if u != name))

        return self.change(handle, kinds, remove, by, seen=seen)

    def link(self, handle: Handle, kinds: frozenset[Kind], relation: str, target: int, by: WriteContext, *,
             seen: int | None = None) -> Memory:  # fmt: skip
        """Point from one memory to another; pointing twice changes nothing in what it says."""
        if not 0 < len(relation) <= _RELATION_MAX:
            raise InvalidArgument(f"a relation has 1 to {_RELATION_MAX} characters")
        self.get(Seq(target), frozenset(Kind))

        def add(state: State) -> State:
            return replace(state, links=tuple(dict.fromkeys((*state.links, (relation, target)))))

        return self.change(handle, kinds, add, by, seen=seen)

    def unlink(self, handle: Handle, kinds: frozenset[Kind], relation: str, target: int, by: WriteContext, *,
               seen: int | None = None) -> Memory:  # fmt: skip
        """Take a link away."""

        def remove(state: State) -> State:
            if (relation, target) not in state.links:
                raise NotFound(f"there is no link {relation!r} to #{target}")
            return replace(state, links=tuple(link for link in state.links if link != (relation, target)))

        return self.change(handle, kinds, remove, by, seen=seen)

    def linked_to(self, seq: int, *, limit: int = 100) -> list[tuple[str, int]]:
        """Which memories point to this one, and how."""
        return self._table.linked_to(seq, limit)

    def pointed_to(self, seqs: Sequence[int], relation: str) -> set[int]:
        """Those of these memories that another one points to in this way; one query for all of them."""
        return self._table.pointed_to(seqs, relation)

    def count(self, seqs: Sequence[int], *, shown: int = 0, used: int = 0, valid: int = 0, invalid: int = 0) -> None:
        """Add to the running counters; not a version."""
        self._table.count(seqs, shown=shown, used=used, valid=valid, invalid=invalid)

    def count_reading(self, seqs: Sequence[int], *, shown: int = 0, used: int = 0) -> None:
        """Count that these were read; a store that cannot be written keeps nobody from reading."""
        try:
            self.count(seqs, shown=shown, used=used)
        except (StorageFull, Unavailable) as problem:
            _log.warning("what was read is not counted: %s", problem.message)

    def agreed(self, memories: Sequence[Memory]) -> dict[int, State]:
        """What each of these last said without being proposed, by number; those that never did are left out.

        Two queries for all that are proposed; the store looks at the versions of those, and hands over one of each.
        """
        found = {each.seq: each.state for each in memories if Mark.PROPOSED not in each.state.marks}
        proposed = {each.seq: each.kind for each in memories if each.seq not in found and each.version > 1}
        return found | (self._versions.agreed(proposed) if proposed else {})

    def kept(self, memories: Sequence[Memory], by: WriteContext) -> frozenset[int]:
        """Numbers of those that this writer may not take away: a person wants them told. Costs as `agreed`."""
        if self._trusts_agents or by.origin is Origin.HUMAN:
            return frozenset()
        agreed = self.agreed(memories)
        return frozenset(
            each.seq for each in memories if approval.is_kept(each.kind, each.state, agreed.get(each.seq), by)
        )

    def is_kept(self, memory: Memory, by: WriteContext) -> bool:
        """Whether this writer may not take the memory away. Who tidies up by itself asks, and leaves it."""
        return bool(self.kept((memory,), by))

    def _judged(self, memory: Memory, after: State, by: WriteContext, *, exactly: bool) -> State:
        if self._trusts_agents or (by.origin is Origin.HUMAN and exactly):
            return after
        if approval.brings_back(memory.state, after, by):
            raise approval.stays_away(memory.seq)
        agreed = self.agreed((memory,)).get(memory.seq) if by.origin is not Origin.HUMAN else None
        kept = approval.is_kept(memory.kind, memory.state, agreed, by)
        if kept and approval.takes_away(memory.state, after):
            raise approval.only_for_people(memory.seq, memory.state)
        return approval.judged(memory.kind, memory.state, after, by, agreed)

    def _require_may_show(self, memory: Memory, visibility: Visibility, by: WriteContext) -> None:
        """Refuse to let others see what is somebody's own, or to take from others what they made."""
        if self._db.engine.ambient_tenant is not None:
            return
        own = memory.owner is not None and memory.owner == present_viewer().owner
        shared = Visibility.MINE not in (memory.state.visibility, visibility)
        if not own and not (shared and by.origin is Origin.HUMAN):
            raise Forbidden(
                f"only who made #{memory.seq} decides who sees it",
                hint="ask its owner: codexmem share",
                details={"reason": "not_yours", "seq": memory.seq},
            )

    def _require_alone(self) -> None:
        if self._db.engine.ambient_tenant is None:
            raise InvalidArgument(
                "this key belongs to no member, so nothing can be private to it",
                hint="use a member's key: codexmem key create --member NAME",
                details={"reason": "no_owner"},
            )

    def _now(self, by: WriteContext) -> int:
        now = self._clock.now_ms()
        return now if by.at_ms is None else min(by.at_ms, now)

    def _keep_first(self, memory: Memory) -> None:
        # Its first version was only its row, which has just changed.
        if self._versions.get(memory.kind, memory.seq, 1) is None:
            self._versions.add(
                _version(memory, Op.ADD, WriteContext(memory.origin.value, memory.source), memory.created_ms)
            )

    def _written(self, memory: Memory, op: Op) -> None:
        self._index.put(memory)
        self._log.append(
            NewEvent(
                EventType.MEMORY_WRITTEN,
                subject=f"memory:{memory.seq}",
                project=memory.state.project,
                owner=memory.owner if memory.state.visibility is Visibility.MINE else None,
                payload={"seq": memory.seq, "kind": memory.kind.value, "version": memory.version, "op": op.value},
            )
        )


def _version(memory: Memory, op: Op, by: WriteContext, now_ms: int) -> MemoryVersion:
    return MemoryVersion(memory.seq, memory.version, op, memory.state, by.actor, now_ms, by.delta, by.source, by.note)


def _require_writable(memory: Memory) -> None:
    """Refuse to change what may only be read; the database would change nothing, as if another writer had been."""
    scope = present_scope()
    if scope is not None and scope.writes is not None and memory.state.project not in scope.writes:
        raise Forbidden(
            f"#{memory.seq} belongs to a project that this member may read and not write",
            hint="ask whoever runs the server: codexmem grant add",
            details={"reason": "project", "seq": memory.seq},
        )


def changed_since(memory: Memory, seen: int) -> Conflict:
    """Somebody else wrote it after the caller had read it."""
    return Conflict(
        f"memory #{memory.seq} changed since version {seen}",
        hint="read it again and repeat the change on what it says now",
        details={"reason": "changed_since", "seen": seen, "version": memory.version},
    )


def spelled(handle: Handle) -> str:
    """The handle as a person would write it."""
    return f"memory #{handle.value}" if isinstance(handle, Seq) else str(handle.value)
