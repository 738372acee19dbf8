"""What ranking needs to know of the memories that an index found: a little of each, and who stands beside whom.

A candidate is read without its whole content, because a search looks at hundreds and gives back ten.
"""

import functools
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.memory import Kind, Memory, Origin, Status, is_manual_session
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.array_param import among
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.matching import passing
from codexmem.kernel.store.schema import memories, memory_facets
from codexmem.kernel.store.schema.columns import encoded

OPENING = 1_500  # characters of a content that ranking reads
_ENDING = 4  # characters in which a question mark is looked for
_TURN = re.compile(r'"prompt_number": ?(\d+)')
_QUESTION = ("?", "\uff1f")


class SearchCandidate(NamedTuple):
    """A memory that may be an answer. A tuple, because a search makes hundreds."""

    seq: int
    kind: Kind
    session: str | None  # whose memories belong together, as those saved by hand do not
    turn: int | None  # of the session
    status: Status
    origin: Origin
    title: str
    opening: str  # the beginning of the content
    length: int  # of the whole content
    asks: bool  # whether the content ends with a question mark
    speaker: str
    attrs: str  # the beginning of its kind's own fields, as JSON
    priority: int
    valid: int
    invalid: int
    created_ms: int

    @classmethod
    def of(cls, memory: Memory) -> "SearchCandidate":
        """The memory as it is given, which need not be as it stands now."""
        state, attrs = memory.state, memory.state.attrs
        return cls(
            memory.seq, memory.kind, _together(memory.session), getattr(attrs, "prompt_number", None), state.status,
            memory.origin, state.title, state.content[:OPENING], len(state.content),
            state.content[-_ENDING:].rstrip().endswith(_QUESTION),
            getattr(attrs, "speaker", "") or getattr(attrs, "author", ""), (encoded(attrs.to_json()) or "")[:OPENING],
            state.priority, memory.counters.valid, memory.counters.invalid, memory.created_ms,
        )  # fmt: skip


class SearchCandidates:
    """Reads candidates of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def read(self, seqs: Sequence[int]) -> dict[int, SearchCandidate]:
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

    def some(self, wanted: Filter, *, most: int) -> int:
        """About how many memories pass the filter, counted in one index up to `most`.

        Of several conditions that which narrows most is counted: a session, a label, or the project and the kinds.
        Status, dates and priority are left out, because no index holds them beside the others.
        """
        values: dict[str, object] = {"most": most}
        if wanted.session is not None:
            statement, values["session"] = _of_session, wanted.session
        elif wanted.facets:
            facet, labels = wanted.facets[0]
            statement = _of_facet if wanted.project is None else _of_facet_in_project
            values |= {"facet": facet, "labels": sorted(labels)}
        else:
            statement = _of_kinds if wanted.project is None else _of_kinds_in_project
            values["kinds"] = sorted(kind.value for kind in wanted.kinds)
        if wanted.project is not None and wanted.session is None:
            values["project"] = wanted.project
        with self._db.reading() as tx:
            count: int = tx.run(statement, **values).scalar_one()
            return count

    def speakers(self, names: Sequence[str], project: str | None) -> set[str]:
        """Those of these names that label at least one memory as who said it."""
        if not names:
            return set()
        values: dict[str, object] = {f"name_{number}": name for number, name in enumerate(names)}
        if project is not None:
            values["project"] = project
        with self._db.reading() as tx:
            return set(tx.run(_speakers(len(names), project is not None), **values).scalars())


_brief = sa.select(
    memories.c.seq, memories.c.kind, memories.c.session, memories.c.status, memories.c.origin, memories.c.title,
    sa.func.substr(memories.c.content, 1, OPENING), sa.func.length(memories.c.content),
    sa.func.substr(memories.c.content, sa.func.length(memories.c.content) - _ENDING + 1, _ENDING),
    sa.type_coerce(memories.c.attrs, sa.Text), memories.c.priority, memories.c.valid, memories.c.invalid,
    memories.c.created_ms,
).where(memories.c.tenant == ACTING, among(memories.c.seq, "seqs"))  # fmt: skip

_KIND = {kind.value: kind for kind in Kind}
_FIRST = PromptAttrs().prompt_number
_STATUS = {status.value: status for status in Status}
_ORIGIN = {origin.value: origin for origin in Origin}


def _candidate(seq: int, kind: str, session: str | None, status: str, origin: str, title: str, opening: str,
               length: int, ending: str, attrs: str, *figures: int) -> SearchCandidate:  # fmt: skip
    """A row of `_brief`."""
    return SearchCandidate(
        seq, _KIND[kind], _together(session), _turn(kind, attrs), _STATUS[status], _ORIGIN[origin], title, opening,
        length, ending.rstrip().endswith(_QUESTION), _speaker(attrs), attrs[:OPENING], *figures,
    )  # fmt: skip


def _together(session: str | None) -> str | None:
    return None if session is None or is_manual_session(session) else session


def _turn(kind: str, attrs: str) -> int | None:
    # Inside a string of the JSON the quotes would have backslashes. What has its default value is not stored.
    found = _TURN.search(attrs)
    return int(found[1]) if found else _FIRST if kind == Kind.PROMPT else None


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


def _counted(column: sa.ColumnElement[int], *conditions: sa.ColumnElement[bool]) -> sa.Select[int]:
    seen = sa.select(column).where(*conditions).limit(bindparam("most"))
    return sa.select(sa.func.count()).select_from(seen.subquery())


_kinds = (memories.c.tenant == ACTING, memories.c.kind.in_(bindparam("kinds", expanding=True)))
_facet = (
    memory_facets.c.tenant == ACTING,
    memory_facets.c.facet == bindparam("facet"),
    memory_facets.c.value.in_(bindparam("labels", expanding=True)),
)
_of_kinds = _counted(memories.c.seq, *_kinds)
_of_kinds_in_project = _counted(memories.c.seq, *_kinds, memories.c.project == bindparam("project"))
_of_facet = _counted(memory_facets.c.seq, *_facet)
_of_facet_in_project = _counted(memory_facets.c.seq, *_facet, memory_facets.c.project == bindparam("project"))
_of_session = _counted(
    memories.c.seq, memories.c.tenant == ACTING, memories.c.session == bindparam("session")
)  # fmt: skip


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
