"""Learnings over all runs: which are on their way, what each changed, and whether a person has changed it since."""

from dataclasses import dataclass

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Delta, DeltaStatus, Op
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Kind, State
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.lab.model import run_subject
from codexmem.lab.service.bank import KINDS
from codexmem.lab.store.learnings import MOST_LATER, LaterWrite, LearningTable

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
