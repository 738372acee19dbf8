"""Memories as a copy of them needs: many by their ids, and many with their newest versions, a few statements each."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.history import MemoryVersion
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.store import rows
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, memory_versions

_CHUNK = 500


class WholeMemories:
    """Reads `memories` and `memory_versions` many at a time."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def by_ids(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Those of these ids that are taken, whatever kind and status the memories have."""
        found: dict[str, Memory] = {}
        with self._db.reading() as tx:
            for start in range(0, len(ids), _CHUNK):
                chunk = tx.run(_by_ids, ids=list(ids[start : start + _CHUNK])).mappings()
                found.update((row["id"], rows.memory(row)) for row in chunk)
        return found

    def versions(self, kind: Kind, seqs: Sequence[int], *, newest: int) -> dict[int, list[MemoryVersion]]:
        """The newest versions of each of these memories, all of one kind, the oldest of them first."""
        found: dict[int, list[MemoryVersion]] = {}
        with self._db.reading() as tx:
            for start in range(0, len(seqs), _CHUNK):
                chunk = tx.run(_newest, seqs=list(seqs[start : start + _CHUNK]), newest=newest).mappings()
                for row in chunk:
                    found.setdefault(row["seq"], []).append(rows.version(kind, row))
        return found


_v = memory_versions.c
_by_ids = sa.select(memories).where(memories.c.tenant == ACTING, memories.c.id.in_(bindparam("ids", expanding=True)))
_ranked = (
    sa.select(memory_versions, sa.func.row_number().over(partition_by=_v.seq, order_by=_v.version.desc()).label("back"))
    .where(_v.tenant == ACTING, _v.seq.in_(bindparam("seqs", expanding=True)))
    .subquery()
)
_newest = (
    sa.select(*(_ranked.c[column.name] for column in memory_versions.columns))
    .where(_ranked.c.back <= bindparam("newest"))
    .order_by(_ranked.c.seq, _ranked.c.version)
)
