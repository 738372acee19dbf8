"""The evidence of runs in its table: what each run was shown, as it was then. Rows are added, never changed.

The number of a piece within its run is its alias: given once, in the order of first sight, never to another.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import run_evidence
from codexmem.lab.library_model import LibraryPassage
from codexmem.lab.model import Evidence


class EvidenceTable:
    """Reads and writes `run_evidence`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def show(self, run_id: str, passages: Sequence[LibraryPassage], *, now_ms: int) -> list[Evidence]:
        """The passages as evidence of the run, in the given order; those it has not seen get the next aliases."""
        if not passages:
            return []
        refs = list(dict.fromkeys(each.ref for each in passages))
        with self._db.transaction() as tx:
            # One at a time for each run: an attempt that has lost it may still be asking.
            tx.engine.lock_lane(tx.connection, tx.tenant, f"evidence:{run_id}")
            seen = {row["ref"]: row for row in tx.run(_of_refs, run=run_id, refs=refs).mappings()}
            last = int(tx.run(_last, run=run_id).scalar() or 0)
            fresh = {each.ref: each for each in passages if each.ref not in seen}
            added = [
                {"run_id": run_id, "number": number, "ref": each.ref, "chunk_seq": each.seq, "source": each.source,
                 "content": each.content, "kb_namespace": each.namespace, "chunk_id": each.chunk_id,
                 "created_ms": now_ms}
                for number, each in enumerate(fresh.values(), start=last + 1)
            ]  # fmt: skip
            tx.add(run_evidence, *added)
        found = {ref: _evidence(row) for ref, row in seen.items()} | {row["ref"]: _evidence(row) for row in added}
        return [found[ref] for ref in refs]

    def get(self, run_id: str, number: int) -> Evidence | None:
        """One piece by the number of its alias."""
        with self._db.reading() as tx:
            row = tx.run(_one, run=run_id, number=number).mappings().first()
            return _evidence(row) if row is not None else None

    def page(self, run_id: str, *, after: int, limit: int, content: bool) -> tuple[list[Evidence], int | None]:
        """Pieces in the order of their aliases, and where the next page starts; their text only if it is wanted."""
        with self._db.reading() as tx:
            rows = tx.run(_page if content else _bare_page, run=run_id, after=after, limit=limit + 1).mappings().all()
        return [_evidence(row) for row in rows[:limit]], rows[limit - 1]["number"] if len(rows) > limit else None

    def count(self, run_id: str) -> int:
        """How many pieces the run was shown: aliases leave no gap."""
        with self._db.reading() as tx:
            return int(tx.run(_last, run=run_id).scalar() or 0)


def _evidence(row: Any) -> Evidence:
    return Evidence(
        f"C{row['number']}", row["ref"], row["source"], row.get("content", ""), row["kb_namespace"], row["chunk_id"],
        row["created_ms"],
    )  # fmt: skip


_e = run_evidence.c
_of_run = (_e.tenant == ACTING, _e.run_id == bindparam("run"))
_bare = (_e.number, _e.ref, _e.source, _e.kb_namespace, _e.chunk_id, _e.created_ms)
_last = sa.select(sa.func.max(_e.number)).where(*_of_run)
_of_refs = sa.select(*_bare, _e.content).where(*_of_run, _e.ref.in_(bindparam("refs", expanding=True)))
_one = sa.select(*_bare, _e.content).where(*_of_run, _e.number == bindparam("number"))
_bare_page = (
    sa.select(*_bare).where(*_of_run, _e.number > bindparam("after")).order_by(_e.number).limit(bindparam("limit"))
)
_page = _bare_page.add_columns(_e.content)
