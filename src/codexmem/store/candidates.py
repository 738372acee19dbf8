"""What ranking needs to know of the memories that an index found: a little of each, and who stands beside whom.

A candidate is read without its whole content, because a search looks at hundreds and gives back ten.
"""

import functools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.domain.memory import Memory, Origin, Status
from codexmem.domain.query import Filter
from codexmem.store.among import among
from codexmem.store.database import ACTING, Database
from codexmem.store.matching import passing
from codexmem.store.schema import memories, memory_facets

OPENING = 1_500  # characters of a content that ranking reads
_ENDING = 4  # characters in which a question mark is looked for
_QUESTION = ("?", "\uff1f")


class Candidate(NamedTuple):
    """A memory that may be an answer. A tuple, because a search makes hundreds."""

    seq: int
    session: str | None
    status: Status
    origin: Origin
    title: str
    opening: str  # the beginning of the content
    length: int  # of the whole content
    asks: bool  # whether the content ends with a question mark
    speaker: str
    priority: int
    valid: int
    invalid: int
    created_ms: int

    @classmethod
    def of(cls, memory: Memory) -> "Candidate":
        """The memory as it is given, which need not be as it stands now."""
        state, attrs = memory.state, memory.state.attrs
        return cls(
            memory.seq, memory.session, state.status, memory.origin, state.title, state.content[:OPENING],
            len(state.content), state.content[-_ENDING:].rstrip().endswith(_QUESTION),
            getattr(attrs, "speaker", "") or getattr(attrs, "author", ""), state.priority, memory.counters.valid,
            memory.counters.invalid, memory.created_ms,
        )  # fmt: skip


class Candidates:
    """Reads candidates of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def read(self, seqs: Sequence[int]) -> dict[int, Candidate]:
        """Those of these memories that exist."""
        with self._db.reading() as tx:
            rows: Sequence[Any] = tx.run(_brief, seqs=seqs).all()
        return {row[0]: _candidate(*row) for row in rows}

    def beside(self, seqs: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """The memory of the same kind before and after each of these in its session; none of those without one."""
        with self._db.reading() as tx:
            rows: Sequence[Any] = tx.run(_beside, seqs=seqs).all()
        return {seq: (before, after) for seq, session, before, after in rows if session is not None}

    def passing(self, seqs: Sequence[int], wanted: Filter) -> set[int]:
        """Those of these memories that pass the filter."""
        with self._db.reading() as tx:
            return passing(tx, seqs, wanted)

    def speakers(self, names: Sequence[str], project: str | None) -> set[str]:
        """Those of these names that label at least one memory as who said it."""
        if not names:
            return set()
        values: dict[str, Any] = {f"name_{number}": name for number, name in enumerate(names)}
        if project is not None:
            values["project"] = project
        with self._db.reading() as tx:
            return set(tx.run(_speakers(len(names), project is not None), **values).scalars())


_brief = sa.select(
    memories.c.seq, memories.c.session, memories.c.status, memories.c.origin, memories.c.title,
    sa.func.substr(memories.c.content, 1, OPENING), sa.func.length(memories.c.content),
    sa.func.substr(memories.c.content, sa.func.length(memories.c.content) - _ENDING + 1, _ENDING),
    sa.type_coerce(memories.c.attrs, sa.Text), memories.c.priority, memories.c.valid, memories.c.invalid,
    memories.c.created_ms,
).where(memories.c.tenant == ACTING, among(memories.c.seq, "seqs"))  # fmt: skip

_STATUS = {status.value: status for status in Status}
_ORIGIN = {origin.value: origin for origin in Origin}


def _candidate(seq: int, session: str | None, status: str, origin: str, title: str, opening: str, length: int,
               ending: str, attrs: str, *figures: int) -> Candidate:  # fmt: skip
    """A row of `_brief`."""
    return Candidate(
        seq, session, _STATUS[status], _ORIGIN[origin], title, opening, length, ending.rstrip().endswith(_QUESTION),
        _speaker(attrs), *figures,
    )  # fmt: skip


def _speaker(attrs: str) -> str:
    # Few memories name one, and reading the JSON of all would cost more than finding them did.
    if '"speaker"' not in attrs and '"author"' not in attrs:
        return ""
    named = json.loads(attrs)
    return named.get("speaker") or named.get("author") or ""


def _next(*, before: bool) -> sa.ScalarSelect[int]:
    other = memories.alias()
    here, there = sa.tuple_(memories.c.created_ms, memories.c.seq), sa.tuple_(other.c.created_ms, other.c.seq)
    order = (other.c.created_ms, other.c.seq)
    return (
        sa.select(other.c.seq)
        .where(
            other.c.tenant == ACTING,
            other.c.session == memories.c.session,
            other.c.kind == memories.c.kind,
            there < here if before else there > here,
        )
        .order_by(*(column.desc() if before else column.asc() for column in order))
        .limit(1)
        .correlate(memories)
        .scalar_subquery()
    )


# Whether there is a session is left to the reader: as a condition, it would lead SQLite through all that have one.
_beside = sa.select(memories.c.seq, memories.c.session, _next(before=True), _next(before=False)).where(
    memories.c.tenant == ACTING, among(memories.c.seq, "seqs")
)


@functools.cache
def _speakers(count: int, in_project: bool) -> Any:
    """One look into the index for each name: a name may label a million memories."""
    looks = []
    for number in range(count):
        conditions = [
            memory_facets.c.tenant == ACTING,
            memory_facets.c.facet == "who",
            memory_facets.c.value == bindparam(f"name_{number}"),
        ]
        if in_project:
            conditions.append(memory_facets.c.project == bindparam("project"))
        looks.append(sa.select(sa.select(memory_facets.c.value).where(*conditions).limit(1).subquery().c.value))
    return sa.union_all(*looks)
