"""What lists of the lab show beside their rows: one statement for a page, whatever its length."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import feedback, runs
from codexmem.lab.model import RunStatus

MOST_RUNNING = 1_000  # runs at once that are looked at


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """That a run was judged, and how."""

    score: float | None
    updated_ms: int


class LabLists:
    """Reads `runs` and `feedback` for pages of batches and runs."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def running(self, batch_ids: Sequence[str]) -> dict[str, int]:
        """How many runs of each batch are being executed; reads those that are, of all batches, and no others."""
        if not batch_ids:
            return {}
        with self._db.reading() as tx:
            found = {row.batch_id: int(row.total) for row in tx.run(_running, status=RunStatus.RUNNING.value)}
        return {each: found[each] for each in batch_ids if each in found}

    def verdicts(self, run_ids: Sequence[str]) -> dict[str, RunVerdict]:
        """Those of these runs that were judged."""
        if not run_ids:
            return {}
        with self._db.reading() as tx:
            return {row.run_id: RunVerdict(row.score, row.updated_ms) for row in tx.run(_verdicts, runs=list(run_ids))}


_r, _f = runs.c, feedback.c
# Not by batch: as many run as there are workers, and a batch may have a thousand runs that do not.
_executed = (
    sa.select(_r.batch_id)
    .where(_r.tenant == ACTING, _r.status == bindparam("status"))
    .order_by(_r.created_ms.desc(), _r.id.desc())
    .limit(MOST_RUNNING)
    .subquery()
)
_running = sa.select(_executed.c.batch_id, sa.func.count().label("total")).group_by(_executed.c.batch_id)
_verdicts = sa.select(_f.run_id, _f.score, _f.updated_ms).where(
    _f.tenant == ACTING, _f.run_id.in_(bindparam("runs", expanding=True))
)
