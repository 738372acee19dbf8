"""Looking back and taking back: versions, diffs, rollbacks, deltas and forgetting.

A rollback never removes anything: it writes earlier states as new versions inside a delta that says what it reverts, so
it can itself be rolled back. Forgetting is the opposite: it leaves no trace but an audit line.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.events.log import Log
from codexmem.kernel.model import history as rules
from codexmem.kernel.model import ids
from codexmem.kernel.model.approval import by_a_person, only_for_people
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import Delta, DeltaStatus, MemoryVersion, Mode, Op, Rollback, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import CREDIT, LAZY_HISTORY, VISIBLE, Kind, Memory, Origin, State, Status
from codexmem.kernel.model.query import Handle
from codexmem.kernel.model.spans import timed
from codexmem.kernel.model.visibility import Visibility, present_viewer
from codexmem.kernel.search.indexer import Indexer
from codexmem.kernel.services.memories import Memories, spelled
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import TouchedMemory, VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.receipts import ReceiptTable

_ALL = frozenset(Kind)
_LAST = 5_000  # newest deltas of a subject, or memories to be erased, that are looked at
_LOOKED = 20  # versions of one memory that are looked at for how it stood before
_BATCH = 500  # memories erased per transaction: other writers wait behind it


@dataclass(frozen=True, slots=True)
class RollbackStep:
    """What a rollback would do to one memory."""

    memory: Memory
    target: State
    op: Op
    written_since: bool  # by somebody else, after or among the writes being taken back


@dataclass(frozen=True, slots=True)
class Diff:
    """Two states of one memory side by side."""

    before: MemoryVersion
    after: MemoryVersion
    unified: str


class History:
    """The verbs on the past."""

    def __init__(
        self,
        db: Database,
        memories: Memories,
        table: MemoryTable,
        versions: VersionTable,
        receipts: ReceiptTable,
        index: Indexer,
        log: Log,
        clock: Clock,
    ) -> None:
        self._db = db
        self._memories = memories
        self._table = table
        self._versions = versions
        self._receipts = receipts
        self._index = index
        self._log = log
        self._clock = clock

    def versions(
        self, handle: Handle, kinds: frozenset[Kind], *, limit: int = 10, below: int | None = None
    ) -> list[MemoryVersion]:
        """Versions from the newest back."""
        with self._db.reading():
            memory = self._memories.get(handle, kinds)
            found = self._versions.newest(memory.kind, memory.seq, limit=limit, below=below)
            return found or ([_first(memory)] if memory.kind in LAZY_HISTORY and (below is None or below > 1) else [])

    def last_shown(self, memories: Sequence[Memory]) -> dict[int, Status]:
        """The last visible status of each of these memories; where the last versions show none, it is active.

        One query reads the version before of all of them, and another the one before that of those that were hidden
        then as well, which is rare; it ends after a few.
        """
        found: dict[int, Status] = {}
        for back in range(1, _LOOKED + 1):
            open_ones = [each for each in memories if each.seq not in found and each.version > back]
            if not open_ones:
                break
            versions = self._versions.many({each.seq: (each.kind, each.version - back) for each in open_ones})
            found |= {seq: each.state.status for seq, each in versions.items() if each.state.status in VISIBLE}
        return {each.seq: found.get(each.seq, Status.ACTIVE) for each in memories}

    def approved(self, proposed: Sequence[Memory]) -> list[Memory]:
        """Those of these proposed memories that a person had agreed to before, as they stood then.

        Two queries for all of them, however often they were changed since.
        """
        agreed = self._memories.agreed(proposed)
        standing = (replace(each, state=agreed[each.seq]) for each in proposed if each.seq in agreed)
        return [each for each in standing if each.state.status in VISIBLE]

    def version(self, handle: Handle, kinds: frozenset[Kind], version: int) -> MemoryVersion:
        """One version of a memory."""
        with self._db.reading():
            memory = self._memories.get(handle, kinds)
            found = self._versions.get(memory.kind, memory.seq, version)
            if found is None and memory.kind in LAZY_HISTORY and version == memory.version == 1:
                found = _first(memory)
        if found is None:
            raise NotFound(f"{spelled(handle)} has no version {version}, its newest is {memory.version}")
        return found

    def diff(self, handle: Handle, kinds: frozenset[Kind], before: int, after: int) -> Diff:
        """How the content changed between two versions."""
        with self._db.reading():
            old, new = self.version(handle, kinds, before), self.version(handle, kinds, after)
        names = (f"version {before}", f"version {after}")
        return Diff(old, new, rules.unified_diff(old.state.content, new.state.content, *names))

    def rollback(self, handle: Handle, kinds: frozenset[Kind], version: int, by: WriteContext) -> Memory:
        """Write what one memory said in an earlier version as its newest; its addresses and links stay."""
        with self._db.transaction():
            memory = self._memories.get(handle, kinds)
            state = rules.rolled_back(memory.state, self.version(handle, kinds, version).state)
            note = by.note or f"rollback to version {version}"
            return self._memories.write(memory, state, Op.RESTORE, replace(by, note=note), as_before=True)

    def open_delta(
        self, subject: str, cause: str, by: WriteContext, *, reverts: str | None = None, prefix: str = "delta"
    ) -> Delta:
        """Start a named group: writes that carry its id, which begins with the prefix, belong to it."""
        delta = Delta(
            ids.prefixed(prefix), subject, cause, by.actor, DeltaStatus.APPLIED, self._clock.now_ms(), reverts
        )
        self._versions.open_delta(delta)
        return delta

    def delta(self, delta_id: str) -> Delta:
        """One delta by its id."""
        delta = self._versions.delta(delta_id)
        if delta is None:
            raise NotFound(
                f"delta {delta_id} not found",
                hint="an act prints the delta that takes it back, and codexmem why names those of a memory",
                details={"reason": "no_delta", "delta": delta_id[:80]},
            )
        return delta

    def deltas_of(self, subject: str, *, limit: int = 50, before: tuple[int, str] | None = None) -> list[Delta]:
        """Deltas made for one subject, newest first."""
        return self._versions.deltas_of(subject, limit=limit, before=before)

    def require_run(self, delta_id: str, subject: str) -> None:
        """Refuse a delta that a run of this subject cannot go on writing into: it must be its own, and stand."""
        delta = self.delta(delta_id)
        if delta.subject != subject or delta.reverts is not None:
            raise InvalidArgument(f"delta {delta_id} is not of this import", hint="leave it out to start a new run")
        if delta.status is not DeltaStatus.APPLIED:
            raise Conflict("this import was undone while it was running", hint="run it again to import what is missing")

    def standing_undo(self, subject: str) -> str | None:
        """The newest delta that took back something of this subject and still does: undo it to have that again."""
        return next(iter(self.undoings(subject)), None)

    def undoings(self, subject: str) -> list[str]:
        """Deltas that took back something of this subject and still do, the newest first, however long ago that was.

        Some hundreds of its deltas are read at a time, and `_LAST` at most.
        """
        deltas: list[Delta] = []
        before: tuple[int, str] | None = None
        while len(deltas) < _LAST and (page := self.deltas_of(subject, limit=_BATCH, before=before)):
            deltas += page
            before = (page[-1].created_ms, page[-1].id)
        runs = {subject, *(delta.id for delta in deltas if delta.reverts is None)}
        return [each.id for each in deltas if each.reverts in runs and each.status is DeltaStatus.APPLIED]

    def preview_delta(self, delta_id: str) -> list[RollbackStep]:
        """What rolling back a delta would change, without changing it."""
        with self._db.reading():
            self.delta(delta_id)
            return list(self.plan(self._versions.touched_by_delta(delta_id)))

    def preview_source(self, source: str) -> list[RollbackStep]:
        """What undoing a source would change, without changing it."""
        with self._db.reading():
            return list(self.plan(self._versions.touched_by_source(source)))

    def rollback_delta(self, delta_id: str, mode: Mode, by: WriteContext, *, prefix: str = "delta") -> Rollback:
        """Restore every memory the delta touched to its state before it.

        Strict: even if edited since. Safe: what was edited since is left and reported, and the delta stands until the
        rest is taken back too. A reverted delta stays so: taking it back twice is taking it back once.
        """
        with self._db.transaction():
            delta = self.delta(delta_id)
            if not self._versions.mark_reverted(delta_id):
                return Rollback(delta, restored=(), left=())
            touched = self._versions.touched_by_delta(delta_id)
            undoing = self.open_delta(delta.subject, "rollback", by, reverts=delta_id, prefix=prefix)
            done = self.apply(touched, mode, undoing, by)
            if done.left:
                self._versions.mark_applied(delta_id)
            elif delta.reverts is not None:
                self._versions.mark_applied(delta.reverts)  # undoing an undo: the first delta stands again
            return done

    def undo_source(self, source: str, mode: Mode, by: WriteContext, *, keep: frozenset[int] = frozenset()) -> Rollback:
        """Take back everything a session, run or import wrote but into the memories to `keep`, in one delta."""
        with self._db.transaction():
            touched = [each for each in self._versions.touched_by_source(source) if each.seq not in keep]
            return self.apply(touched, mode, self.open_delta(source, "undo", by, reverts=source), by)

    def plan(self, touched: Sequence[TouchedMemory]) -> Iterator[RollbackStep]:
        """One step per memory that does not already stand as it stood before; some hundreds are read at a time."""
        for start in range(0, len(touched), _BATCH):
            batch = touched[start : start + _BATCH]
            heads = self._table.many((t.seq for t in batch), _ALL)  # what was forgotten since is not there
            before = self._versions.before({t.seq: (heads[t.seq].kind, t.first) for t in batch if t.seq in heads})
            for touch in batch:
                if touch.seq in heads:
                    yield from _step(heads[touch.seq], before.get(touch.seq), touch)

    @timed("history.roll_back")
    def apply(self, touched: Sequence[TouchedMemory], mode: Mode, delta: Delta, by: WriteContext) -> Rollback:
        """Write what stood before, as versions of this delta; inside the caller's transaction."""
        restored: list[int] = []
        left: list[int] = []
        for step in self.plan(touched):
            (left if step.written_since and mode is Mode.SAFE else restored).append(step.memory.seq)
        # All names are given back before any is taken: two memories may have swapped theirs.
        self._table.release_uris(restored)
        lost: list[str] = []
        chosen = frozenset(restored)
        for step in self.plan([touch for touch in touched if touch.seq in chosen]):
            taken = self._table.taken_uris(step.target.uris, step.memory.seq)
            lost.extend(sorted(taken))
            target = replace(step.target, uris=tuple(uri for uri in step.target.uris if uri not in taken))
            if by.origin is not Origin.HUMAN:
                # Else an agent could take back what a person decided: an act of withholding, or a proposal's refusal.
                target = replace(target, marks=step.memory.state.marks - CREDIT | target.marks & CREDIT)
            elif step.op is Op.DELETE:
                target = by_a_person(step.memory.kind, target)
            by_delta = replace(by, delta=delta.id)
            self._memories.write(step.memory, target, step.op, by_delta, exactly=True, as_before=True)
        self._log.append(
            NewEvent(
                EventType.DELTA_ROLLED_BACK,
                subject=f"delta:{delta.reverts}",
                payload={
                    "delta": delta.id,
                    "mode": mode.value,
                    "restored": len(restored),
                    "left": len(left),
                    **by.signature(),
                },
            )
        )
        return Rollback(delta, tuple(restored), tuple(left), tuple(lost))

    @timed("history.forget")
    def forget(self, seqs: Iterable[int], by: WriteContext, *, reason: str = "by number") -> int:
        """Erase these memories with all their versions; returns how many there were.

        What a person wants told only a person erases, here and in `forget_all`: then nothing is erased.
        """
        wanted = list(dict.fromkeys(seqs))
        self._require_erasable(wanted, by)
        erased = sum(self._erase(wanted[i : i + _BATCH], by, reason) for i in range(0, len(wanted), _BATCH))
        self._db.engine.scour()
        return erased

    def forget_all(
        self, by: WriteContext, *, project: str | None = None, session: str | None = None, source: str | None = None,
        keep: frozenset[int] = frozenset(),
    ) -> int:  # fmt: skip
        """Erase everything of one project, session or source but the memories to `keep`, some hundreds at a time;
        repeat it if interrupted.
        """
        if [project, session, source].count(None) != 2:
            raise InvalidArgument("name exactly one of project, session and source")
        if by.origin is not Origin.HUMAN:
            few = self._table.numbers_of(limit=_LAST, project=project, session=session, source=source)
            self._require_erasable([seq for seq in few if seq not in keep], by)
        reason = f"by {'project' if project is not None else 'session' if session is not None else 'source'}"
        erased = 0
        limit = _BATCH + len(keep)
        while found := self._table.numbers_of(limit=limit, project=project, session=session, source=source):
            seqs = [seq for seq in found if seq not in keep]
            if not seqs:
                break
            erased += self._erase(seqs, by, reason)
        if source is not None:
            # What it wrote into memories of others is undone first, so that nothing it said stands or is kept.
            with self._db.transaction():
                self.undo_source(source, Mode.STRICT, by, keep=keep)
                self._index.drop_past(self._versions.erase_by_source(source))
        self._db.engine.scour()
        return erased

    def some(self, limit: int, *, project: str | None = None, session: str | None = None, source: str | None = None
             ) -> list[int]:  # fmt: skip
        """Numbers of the memories of one project, session or source, up to a limit."""
        return self._table.numbers_of(limit=limit, project=project, session=session, source=source)

    def _require_erasable(self, seqs: Sequence[int], by: WriteContext) -> None:
        if by.origin is Origin.HUMAN:
            return
        for start in range(0, len(seqs), _BATCH):
            found = self._table.many(seqs[start : start + _BATCH], _ALL)
            if kept := self._memories.kept(list(found.values()), by):
                raise only_for_people(min(kept), found[min(kept)].state)

    def _erase(self, seqs: list[int], by: WriteContext, reason: str) -> int:
        with self._db.transaction():
            subjects = [f"memory:{seq}" for seq in seqs]
            self._index.drop(seqs)
            self._receipts.drop(subjects)
            self._log.scrub(subjects)
            erased = self._table.erase(seqs)
            payload = {"count": erased, "reason": reason, **by.signature()}
            self._log.append(NewEvent(EventType.MEMORY_ERASED, subject="memory:erased", payload=payload))
            return erased


def _step(memory: Memory, before: State | None, touch: TouchedMemory) -> Iterator[RollbackStep]:
    # Undoing an addition hides the memory: only forgetting removes one.
    target = before if before is not None else replace(memory.state, status=Status.DELETED)
    now = memory.state.visibility
    own = (memory.owner or "") == present_viewer().owner
    if now is Visibility.MINE or (target.visibility is Visibility.MINE and not own):
        target = replace(target, visibility=now)  # an undo shows nobody what was private, and hides nothing of others
    if target != memory.state:
        since = memory.version - touch.first + 1 != touch.writes
        yield RollbackStep(memory, target, Op.RESTORE if before is not None else Op.DELETE, since)


def _first(memory: Memory) -> MemoryVersion:
    """The first version of a memory that has only its row."""
    return MemoryVersion(
        memory.seq, 1, Op.ADD, memory.state, memory.origin.value, memory.created_ms, source=memory.source
    )
