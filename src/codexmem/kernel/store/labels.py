"""Which labels there are: those of a facet that begin with something, and the projects.

Every answer is a walk along an index from one distinct value to the next, so it costs the number of values, however
many memories bear each of them. A walk is bounded, and says when it was cut short.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, memory_facets

_STEPS = 1_000  # values that a walk looks at
_LAST = "\U0010ffff"  # behind every other character, by bytes, in which both engines order labels
_PROJECTS = 2_000


@dataclass(frozen=True, slots=True)
class LabelMatches:
    """Labels that begin as was asked."""

    values: tuple[str, ...]
    whole: bool  # False if there may be more


class Labels:
    """Reads distinct values of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def beginning(self, facet: str, beginnings: Sequence[str], *, project: str | None, limit: int) -> LabelMatches:
        """Values of the facet, in the project if one is given, that begin with any of these."""
        found: dict[str, None] = {}
        whole = True
        with self._db.reading() as tx:
            for beginning in beginnings:
                asked = {"facet": facet, "first": beginning, "last": beginning + _LAST}
                if project is None:
                    read = [row.value for row in tx.run(_walk, **asked, steps=limit + 1)]
                    whole = whole and len(read) <= limit
                else:
                    rows = tx.run(_walk_of, **asked, steps=_STEPS, project=project).all()
                    read = [row.value for row in rows if row.here]
                    whole = whole and len(rows) < _STEPS
                found.update(dict.fromkeys(read))
        return LabelMatches(tuple(found)[:limit], whole and len(found) <= limit)

    def projects(self, kinds: Sequence[str]) -> dict[str, int]:
        """Every project that has memories of these kinds, and when its newest one was made; hidden ones count."""
        last: dict[str, int] = {}
        with self._db.reading() as tx:
            for kind in kinds:
                for row in tx.run(_projects, kind=kind, steps=_PROJECTS):
                    last[row.project] = max(row.last_ms or 0, last.get(row.project, 0))
        return last


def _values(*, of_project: bool) -> sa.Select[tuple[str]]:
    """The walk along a facet's values; with `here`, whether the project has one."""
    label, following = memory_facets.alias("label"), memory_facets.alias("following")
    first = (
        sa.select(label.c.value)
        .where(label.c.tenant == ACTING, label.c.facet == bindparam("facet"),
               label.c.value >= bindparam("first"), label.c.value < bindparam("last"))
        .order_by(label.c.value).limit(1)
    )  # fmt: skip
    walk = sa.select(first.scalar_subquery().label("value"), sa.literal(1).label("step")).cte("walk", recursive=True)
    further = (
        sa.select(following.c.value)
        .where(following.c.tenant == ACTING, following.c.facet == bindparam("facet"),
               following.c.value > walk.c.value, following.c.value < bindparam("last"))
        .order_by(following.c.value).limit(1).correlate(walk)
    )  # fmt: skip
    walk = walk.union_all(
        sa.select(further.scalar_subquery(), walk.c.step + 1).where(
            walk.c.value.is_not(None), walk.c.step < bindparam("steps", type_=sa.Integer)
        )
    )
    walked = sa.select(walk.c.value).where(walk.c.value.is_not(None))
    if not of_project:
        return walked
    here = sa.exists().where(
        memory_facets.c.tenant == ACTING, memory_facets.c.facet == bindparam("facet"),
        memory_facets.c.value == walk.c.value, memory_facets.c.project == bindparam("project"),
    )  # fmt: skip
    return walked.add_columns(here.label("here"))


def _projects_of_kind() -> sa.Select[tuple[str, int]]:
    memory, following, newest = (memories.alias(name) for name in ("memory", "following", "newest"))
    # The first is behind the empty name, which is no project.
    first = (
        sa.select(memory.c.project)
        .where(memory.c.tenant == ACTING, memory.c.kind == bindparam("kind"), memory.c.project > "")
        .order_by(memory.c.project)
        .limit(1)
    )
    walk = sa.select(first.scalar_subquery().label("project"), sa.literal(1).label("step")).cte("walk", recursive=True)
    further = (
        sa.select(following.c.project)
        .where(following.c.tenant == ACTING, following.c.kind == bindparam("kind"),
               following.c.project > walk.c.project)
        .order_by(following.c.project).limit(1).correlate(walk)
    )  # fmt: skip
    walk = walk.union_all(
        sa.select(further.scalar_subquery(), walk.c.step + 1).where(
            walk.c.project.is_not(None), walk.c.step < bindparam("steps", type_=sa.Integer)
        )
    )
    last = sa.select(sa.func.max(newest.c.created_ms)).where(
        newest.c.tenant == ACTING, newest.c.kind == bindparam("kind"), newest.c.project == walk.c.project
    )
    return sa.select(walk.c.project, last.scalar_subquery().label("last_ms")).where(walk.c.project.is_not(None))


_walk = _values(of_project=False)
_walk_of = _values(of_project=True)
_projects = _projects_of_kind()
