"""Taking back a delta, or everything a source wrote, however much that is.

One call takes back as many memories as fit a short transaction and says where the next goes on; all of them write into
one delta, which can itself be taken back. What was taken back already needs nothing, so a call may be repeated, and an
interrupted undoing is finished by asking again. Names that memories of different calls have swapped may be lost, which
is told; up to one call's worth everything is taken back at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import Delta, DeltaStatus, Mode, WriteContext
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory
from codexmem.kernel.model.query import Seq
from codexmem.kernel.services.history import History, RollbackStep
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import TouchedMemory, VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.forgetting import is_persons
from codexmem.recall.lineage import Downstream, Lineage

AT_ONCE = 200  # memories taken back in one transaction: other writers wait behind it
MAX_SHOWN = 100
_COUNTED = 100_000  # memories that an outline looks at
_LINE = 200
_FOLLOWED = 2_000  # memories whose words are followed
_ALL = frozenset(Kind)
_UNDOINGS = 20  # of one source, that are looked at for something to bring back


@dataclass(frozen=True, slots=True)
class Whose:
    """What is to be taken back: the writes of one delta, or all of one source."""

    source: str | None = None
    delta: str | None = None
    include_mine: bool = False  # of a session: also what persons wrote

    def __post_init__(self) -> None:
        """One of them, and not both."""
        if not (self.source or self.delta) or (self.source and self.delta):
            raise InvalidArgument("name either a source or a delta", hint='for example {"source": "session:12"}')

    @property
    def name(self) -> str:
        """The one that was given."""
        return self.source or self.delta or ""


@dataclass(frozen=True, slots=True)
class Change:
    """What would happen to one memory."""

    seq: int
    kind: str
    project: str
    title: str
    op: str  # delete: it is hidden; restore: it says again what it said before
    written_since: bool  # by somebody else, so that it is left unless that is overruled


@dataclass(frozen=True, slots=True)
class Outline:
    """What taking back would change, without changing it."""

    memories: int
    written_since: int
    first: tuple[Change, ...]
    more: bool = False  # so many that only these were counted
    kept: tuple[Change, ...] = ()  # what persons wrote in a session, which stays


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What one call took back."""

    delta: str | None  # what it wrote into; take that back to have everything as it was. None: nothing was written
    restored: int
    left: int  # written by others since
    lost_uris: tuple[str, ...] = ()
    after: int | None = None  # where the next call goes on; None when all is done


class Undoing:
    """The verbs that take back."""

    def __init__(self, db: Database, table: MemoryTable, versions: VersionTable, history: History) -> None:
        self._db = db
        self._table = table
        self._versions = versions
        self._history = history

    def outline(self, whose: Whose, *, shown: int = 10) -> Outline:
        """How many memories would change, and the first of them; some hundreds are held at a time."""
        if whose.delta is not None and self._history.delta(whose.delta).status is DeltaStatus.REVERTED:
            return Outline(0, 0, ())
        memories = since = 0
        first: list[Change] = []
        kept: list[Change] = []
        for step in self._steps(whose):
            if memories == _COUNTED:
                return Outline(memories, since, tuple(first), more=True, kept=tuple(kept))
            if _keeps(whose, step.memory):
                kept += [_change(step)] if len(kept) < MAX_SHOWN else []
                continue
            memories += 1
            since += step.written_since
            if len(first) < min(shown, MAX_SHOWN):
                first.append(_change(step))
        return Outline(memories, since, tuple(first), kept=tuple(kept))

    def take_back(
        self, whose: Whose, mode: Mode, by: WriteContext, *, into: str | None = None, after: int = 0
    ) -> UndoResult:
        """Take back the next memories above a number; `into` and `after` are what the call before answered."""
        with self._db.transaction():
            # Two who take back the same at once would each see half of it standing.
            self._table.hold(f"undo:{whose.name}")
            if whose.delta is not None and self._history.delta(whose.delta).status is DeltaStatus.REVERTED:
                return UndoResult(into, 0, 0)
            page = self._page(whose, after)
            heads = self._table.many((each.seq for each in page), _ALL)
            touched = [each for each in page if each.seq not in heads or not _keeps(whose, heads[each.seq])]
            target = self._own(whose, into) if into is not None else None
            left = 0
            if target is None:
                takes, left = self._weigh(touched, mode)
                target = self._open(whose, by) if takes else None
            if target is not None:
                done = self._history.apply(touched, mode, target, by)
                restored, left, lost = len(done.restored), len(done.left), done.lost_uris
            else:
                restored, lost = 0, ()
        delta = target.id if target is not None else None
        if len(page) == AT_ONCE:
            return UndoResult(delta, restored, left, lost, page[-1].seq)
        if whose.delta is not None and (mode is Mode.STRICT or not (left if not after else self._stands(whose, delta))):
            self._revert(whose.delta)
        return UndoResult(delta, restored, left, lost)

    def numbers(self, whose: Whose, *, limit: int) -> list[int]:
        """Numbers of memories that it wrote, up to a limit."""
        seqs: list[int] = []
        after = 0
        while len(seqs) < limit and (page := self._page(whose, after)):
            seqs += [each.seq for each in page]
            after = page[-1].seq
        return seqs[:limit]

    def undone(self, source: str) -> list[str]:
        """The newest undoings of a source that still hide or change something: take one back to have that again."""
        own = self._history.undoings(source)[:_UNDOINGS]
        return [each for each in own if next(self._steps(Whose(delta=each)), None) is not None]

    def written_ms(self, delta: str) -> int:
        """When a delta was written."""
        return self._history.delta(delta).created_ms

    def _steps(self, whose: Whose) -> Iterator[RollbackStep]:
        after = 0
        while touched := self._page(whose, after):
            with self._db.reading():
                steps = list(self._history.plan(touched))
            yield from steps
            after = touched[-1].seq

    def _page(self, whose: Whose, after: int) -> list[TouchedMemory]:
        if whose.delta is not None:
            return self._versions.delta_page(whose.delta, after=after, limit=AT_ONCE)
        return self._versions.source_page(whose.name, after=after, limit=AT_ONCE)

    def _weigh(self, touched: list[TouchedMemory], mode: Mode) -> tuple[bool, int]:
        """Whether any of these is taken back, and how many are left."""
        takes, left = False, 0
        for step in self._history.plan(touched):
            if step.written_since and mode is Mode.SAFE:
                left += 1
            else:
                takes = True
        return takes, left

    def _open(self, whose: Whose, by: WriteContext) -> Delta:
        if whose.delta is not None:
            subject = self._history.delta(whose.delta).subject
            return self._history.open_delta(subject, "rollback", by, reverts=whose.delta)
        return self._history.open_delta(whose.name, "undo", by, reverts=whose.name)

    def _own(self, whose: Whose, into: str) -> Delta:
        found = self._history.delta(into)
        if found.reverts != whose.name:
            raise InvalidArgument(f"delta {into} does not undo {whose.name}", hint="leave it out to start again")
        return found

    def _stands(self, whose: Whose, into: str | None) -> bool:
        """Whether something of a delta still stands after the last call."""
        if whose.delta is not None and into is not None:
            count = self._versions.count_touched
            if count(whose.delta) == count(into):
                return False  # all of it was taken back in one go; else every memory has to be looked at
        return next(self._steps(whose), None) is not None

    def _revert(self, delta_id: str) -> None:
        with self._db.transaction():
            delta = self._history.delta(delta_id)
            if self._versions.mark_reverted(delta_id) and delta.reverts is not None:
                self._versions.mark_applied(delta.reverts)  # undoing an undo: the first delta stands again


class UndoFollower:
    """Follows what is taken back to what carries its words."""

    def __init__(self, db: Database, undoing: Undoing, history: History, memories: Memories, lineage: Lineage) -> None:
        self._db = db
        self._undoing = undoing
        self._history = history
        self._memories = memories
        self._lineage = lineage

    def trail(self, whose: Whose) -> list[Downstream]:
        """What may come of what is taken back, and still stands: what carries its words first; changes nothing."""
        seqs = self._undoing.numbers(whose, limit=_FOLLOWED)
        roots = list(self._memories.many(seqs, _ALL).values())
        found = self._lineage.downstream(roots) if roots else []
        return [each for each in found if each.memory.state.status in VISIBLE]

    def hide(self, whose: Whose, by: WriteContext, *, all_after: bool = False) -> tuple[str | None, int]:
        """Hide what carries the words of what is taken back, as one delta; with `all_after`, all that came after it.

        What a person wants told stays, unless a person asks for this.
        """
        taken = [each.memory for each in self.trail(whose) if each.quotes or all_after]
        kept = self._memories.kept(taken, by)
        taken = [memory for memory in taken if memory.seq not in kept]
        if not taken:
            return None, 0
        delta = self._history.open_delta(whose.name, "follow", by)
        by = replace(by, delta=delta.id, note=f"comes of {whose.name}")
        for start in range(0, len(taken), AT_ONCE):
            with self._db.transaction():
                for memory in taken[start : start + AT_ONCE]:
                    self._memories.delete(Seq(memory.seq), _ALL, by)
        return delta.id, len(taken)


def _keeps(whose: Whose, memory: Memory) -> bool:
    """Whether the memory stays because a person wrote it in the session that is taken back."""
    of_session = (whose.source or "").startswith("session:")
    return of_session and not whose.include_mine and is_persons(memory)


def _change(step: RollbackStep) -> Change:
    state = step.memory.state
    return Change(
        step.memory.seq, step.memory.kind.value, state.project, (state.title or state.content)[:_LINE],
        step.op.value, step.written_since,
    )  # fmt: skip
