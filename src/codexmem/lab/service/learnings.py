"""Taking a learning back: which learnings there were, what a rollback would change, and the rollback itself.

Strict, the default: every lesson that the learning touched stands again exactly as it stood before it, whoever wrote to
it since, a person or a later learning; a lesson that it added is hidden. Lessons that it did not touch stay as they
are. So of two learnings that touched the same lesson, taking back the first also takes back what the second did to that
lesson, and taking back the second brings back what stood between them: to be rid of both, take back the newer first.
Safe: what was written since is left, told, and the learning stands until the rest is taken back too. A rollback is a
delta itself and can be rolled back. Only what was forgotten for good cannot come back.

Learnings over all runs: which are on their way, what each changed, and whether a person has changed it since.
"""

from dataclasses import dataclass, replace

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import Delta, DeltaStatus, MemoryVersion, Mode, Op, WriteContext
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Kind, Memory, State
from codexmem.kernel.services.history import History, RollbackStep
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.lab.model import MAX_REASON, run_subject
from codexmem.lab.service.bank import KINDS, Bank
from codexmem.lab.service.learning import LEARN_CAUSE, PREFIX, Learning, QueuedLearning
from codexmem.lab.service.learning.learning import lane_of
from codexmem.lab.service.trace import RunTrace, no_run
from codexmem.lab.store.learnings import MOST_LATER, LaterWrite, LearningTable
from codexmem.lab.store.runs import RunTable

MAX_DELTAS = 50
_LOOKED = 200  # deltas that are looked through for the last learning that stands
_WRITES = 20  # newest writes of a lesson that a preview tells


@dataclass(frozen=True, slots=True)
class LessonChange:
    """What a delta did to one lesson."""

    op: Op
    mem_id: str
    before: State | None  # None: it was not there
    after: State


@dataclass(frozen=True, slots=True)
class Recorded:
    """A delta with what it did."""

    delta: Delta
    changes: tuple[LessonChange, ...]


@dataclass(frozen=True, slots=True)
class Later:
    """A write that came after the learning, to a lesson that it touched."""

    version: int
    actor: str
    created_ms: int
    delta: str | None


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a rollback would do to one lesson."""

    memory: Memory
    target: State
    removes: bool  # the learning added it: it will be hidden
    stays: bool  # it was written since and the mode leaves it
    since: tuple[Later, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a rollback would change, without changing it."""

    delta: Delta
    mode: Mode
    prospects: tuple[Prospect, ...]

    @property
    def overwritten(self) -> list[str]:
        """Ids of lessons whose later writes would be lost from view."""
        return [each.memory.id for each in self.prospects if each.since and not each.stays]

    @property
    def later_deltas(self) -> list[str]:
        """Later learnings and rollbacks that wrote to the same lessons."""
        found = (write.delta for each in self.prospects for write in each.since if write.delta is not None)
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What a rollback did."""

    delta: Delta  # as it stands afterwards
    undone_by: str | None  # the delta that did it; None if it had been taken back before
    restored: tuple[str, ...] = ()  # ids of lessons
    left: tuple[str, ...] = ()
    relearning: QueuedLearning | None = None


class Rollbacks:
    """Takes back the acting tenant's learnings."""

    def __init__(
        self,
        db: Database,
        table: MemoryTable,
        memories: Memories,
        history: History,
        versions: VersionTable,
        runs: RunTable,
        trace: RunTrace,
        bank: Bank,
        learning: Learning,
    ) -> None:
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._versions = versions
        self._runs = runs
        self._trace = trace
        self._bank = bank
        self._learning = learning

    def deltas(self, run_id: str, *, limit: int = MAX_DELTAS, before: tuple[int, str] | None = None, cause: str | None =
               LEARN_CAUSE) -> tuple[list[Recorded], tuple[int, str] | None]:  # fmt: skip
        """Deltas of a run, newest first, of one cause or of all; and where the next page starts.

        Of one cause, a page looks through a bounded number and may hold fewer although there is a next one.
        """
        self._require(run_id)
        limit = min(limit, MAX_DELTAS)
        with self._db.reading():
            found = self._history.deltas_of(run_subject(run_id), limit=limit + 1, before=before)
            page = [each for each in found[:limit] if cause is None or each.cause == cause]
            changes = self._changes([each.id for each in page])
        last = found[limit - 1] if len(found) > limit else None
        return (
            [Recorded(each, tuple(changes.get(each.id, ()))) for each in page],
            (last.created_ms, last.id) if last is not None else None,
        )

    def preview(self, run_id: str, delta_id: str | None = None, mode: Mode = Mode.STRICT) -> Preview:
        """What a rollback would change; nothing for a delta that was taken back already."""
        with self._db.reading():
            delta = self._chosen(run_id, delta_id)
            if delta.status is DeltaStatus.REVERTED:
                return Preview(delta, mode, ())
            steps = self._history.preview_delta(delta.id)
            return Preview(delta, mode, tuple(self._prospect(delta, step, mode) for step in steps))

    def roll_back(self, run_id: str, by: WriteContext, *, delta_id: str | None = None, mode: Mode = Mode.STRICT,
                  reason: str = "", relearn: bool = False) -> RolledBack:  # fmt: skip
        """Take one learning back, by its id or the last that stands; with `relearn`, learn again in the same go.

        Taking back what was taken back changes nothing.
        """
        reason = str(self._trace.masked(reason))[:MAX_REASON]
        with self._db.transaction():
            if relearn:
                self._table.hold(lane_of(run_id))  # before the bank and the run, as everywhere
            self._bank.hold()
            delta = self._chosen(run_id, delta_id)
            taken = RolledBack(delta, None)
            if delta.status is DeltaStatus.APPLIED:
                taken = self._taken_back(run_id, delta, mode, by, reason)
            return replace(taken, relearning=self._learning.queue(run_id, reason="relearn")) if relearn else taken

    def _taken_back(self, run_id: str, delta: Delta, mode: Mode, by: WriteContext, reason: str) -> RolledBack:
        n_ops = self._versions.count_touched(delta.id)
        done = self._history.rollback_delta(delta.id, mode, by, prefix=PREFIX)
        names = {memory.seq: memory.id for memory in self._named(done.restored + done.left)}
        taken = RolledBack(
            self._history.delta(delta.id), done.delta.id, tuple(names[seq] for seq in done.restored),
            tuple(names[seq] for seq in done.left),
        )  # fmt: skip
        told = {
            "delta_id": delta.id, "status": taken.delta.status.value, "rollback_delta_id": taken.undone_by,
            "mode": mode.value, "restored": list(taken.restored), "left": list(taken.left),
        }  # fmt: skip
        self._trace.append(
            run_id,
            (EventType.RB_ROLLBACK_STARTED, {"delta_id": delta.id, "reason": reason, "n_ops": n_ops}),
            (EventType.RB_ROLLBACK_COMPLETED, told),
        )
        return taken

    def _chosen(self, run_id: str, delta_id: str | None) -> Delta:
        self._require(run_id)
        subject = run_subject(run_id)
        if delta_id is None:
            found = self._history.deltas_of(subject, limit=_LOOKED)
            last = next((each for each in found if each.cause == LEARN_CAUSE and _stands(each)), None)
            if last is None:
                raise NotFound(
                    f"run {run_id[:80]} has no learning that could be rolled back",
                    hint="its learnings are listed at …/reasoningbank/deltas",
                )
            return last
        try:
            delta = self._history.delta(delta_id)
        except NotFound:
            delta = None
        if delta is None or delta.subject != subject:
            raise NotFound(
                f"run {run_id[:80]} has no delta {delta_id[:80]}", hint="they are listed at …/reasoningbank/deltas"
            )
        return delta

    def _changes(self, delta_ids: list[str]) -> dict[str, list[LessonChange]]:
        written = self._versions.written_by(Kind.LESSON, delta_ids)
        names = {memory.seq: memory.id for memory in self._named(tuple(version.seq for version, _ in written))}
        found: dict[str, list[LessonChange]] = {}
        for version, before in written:
            change = LessonChange(version.op, names[version.seq], before, version.state)
            found.setdefault(version.delta or "", []).append(change)
        return found

    def _prospect(self, delta: Delta, step: RollbackStep, mode: Mode) -> Prospect:
        newest = self._versions.newest(Kind.LESSON, step.memory.seq, limit=_WRITES, below=None)
        since = tuple(reversed([_later(each) for each in _after(newest, delta.id)]))
        stays = step.written_since and mode is Mode.SAFE
        return Prospect(step.memory, step.target, step.op is Op.DELETE, stays, since)

    def _named(self, seqs: tuple[int, ...]) -> list[Memory]:
        return list(self._memories.many(seqs, KINDS).values())

    def _require(self, run_id: str) -> None:
        if self._runs.batch_of(run_id) is None:
            raise no_run(run_id)


def _after(newest: list[MemoryVersion], delta_id: str) -> list[MemoryVersion]:
    """Of a lesson's newest versions those that came after the delta's own."""
    found: list[MemoryVersion] = []
    for version in newest:
        if version.delta == delta_id:
            break
        found.append(version)
    return found


def _later(version: MemoryVersion) -> Later:
    return Later(version.version, version.actor, version.created_ms, version.delta)


def _stands(delta: Delta) -> bool:
    return delta.status is DeltaStatus.APPLIED


_RUN = run_subject("")
_SHOWN = 20  # later writes told of one lesson


@dataclass(frozen=True, slots=True)
class DeltaOutline:
    """A delta of a run, and how much it did."""

    delta: Delta
    ops: dict[Op, int]

    @property
    def run_id(self) -> str:
        """The run that was learned from."""
        return self.delta.subject.removeprefix(_RUN)


@dataclass(frozen=True, slots=True)
class DeltaWrite:
    """One write of a delta, and what came after it."""

    op: Op
    mem_id: str
    version: int
    before: State | None  # None: it was not there
    after: State
    since: tuple[LaterWrite, ...]  # the newest first
    more: bool  # there are more than are told


@dataclass(frozen=True, slots=True)
class DeltaDetail:
    """A delta with everything that it wrote."""

    outline: DeltaOutline
    written: tuple[DeltaWrite, ...]


class Learnings:
    """Looks over the acting tenant's learnings."""

    def __init__(
        self, db: Database, table: LearningTable, memories: Memories, history: History, versions: VersionTable
    ) -> None:
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._versions = versions

    def jobs(self, *, status: JobStatus | None, below: int | None, limit: int) -> tuple[list[Job], int | None]:
        """Jobs that learn, newest first, and where the next page starts."""
        found = self._table.jobs(status=status, below=below, limit=limit + 1)
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    def deltas(self, *, run_id: str | None, status: DeltaStatus | None, below: tuple[int, str] | None,
               limit: int) -> tuple[list[DeltaOutline], tuple[int, str] | None]:  # fmt: skip
        """What was learned and taken back, newest first, and where the next page starts."""
        subject = run_subject(run_id) if run_id else None
        with self._db.reading():
            found, after = self._table.deltas(subject=subject, status=status, below=below, limit=limit)
            ops = self._table.ops([each.id for each in found])
        return [DeltaOutline(each, ops.get(each.id, {})) for each in found], after

    def delta(self, delta_id: str) -> DeltaDetail:
        """One delta with each write of it, before and after, and who has written there since."""
        with self._db.reading():
            delta = self._required(delta_id)
            ops = self._table.ops([delta.id]).get(delta.id, {})
            written = self._versions.written_by(Kind.LESSON, [delta.id])
            later = self._table.later(delta.id)
            names = self._memories.many([version.seq for version, _ in written], KINDS)
        since: dict[int, list[LaterWrite]] = {}
        for write in later:
            since.setdefault(write.seq, []).append(write)
        cut = len(later) == MOST_LATER
        return DeltaDetail(DeltaOutline(delta, ops), tuple(
            DeltaWrite(version.op, names[version.seq].id, version.version, before, version.state,
                    tuple(since.get(version.seq, [])[:_SHOWN]), cut or len(since.get(version.seq, [])) > _SHOWN)
            for version, before in written
        ))  # fmt: skip

    def _required(self, delta_id: str) -> Delta:
        try:
            delta = self._history.delta(delta_id)
        except NotFound:
            delta = None
        if delta is None or not delta.subject.startswith(_RUN):
            raise NotFound(f"no delta {delta_id[:80]}", hint="they are listed at /api/v1/reasoningbank/deltas")
        return delta
