"""Addresses as a tree: what lies directly under a beginning, however much lies below that.

The walk goes along the index of addresses from one child to the next and passes over everything below a child in one
step, so a page costs its own length. Order is that of bytes on both engines. A child may have an address itself, have
others below it, or both; then it is met twice (`a`, later `a/b`, with `a-b` between them) and told the first time.
"""

import functools
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memory_uris

_LAST = "\U0010ffff"  # behind every character that an address may hold


@dataclass(frozen=True, slots=True)
class TreeChild:
    """One child of a beginning."""

    name: str
    named: bool  # whether something has the address itself
    below: bool  # whether there are addresses below it
    place: str  # where a walk goes on behind it


class AddressTree:
    """Reads `memory_uris` of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # The same function, called with the same arguments, under each engine's name for it.
        self._walk = _walk("instr" if db.engine.name == "sqlite" else "strpos")

    def children(self, beginning: str, separator: str, *, after: str, limit: int) -> list[TreeChild]:
        """Children behind a place (empty: from the first), at most so many; names end at the separator."""
        found: list[TreeChild] = []
        place = after or beginning
        steps = 2 * limit  # most children are met at most twice
        with self._db.reading() as tx:
            while len(found) < limit:
                walked = tx.run(
                    self._walk, after=place, last=beginning + _LAST, start=len(beginning) + 1, separator=separator,
                    behind=separator + _LAST, steps=steps,
                ).all()  # fmt: skip
                for row in walked:
                    child = _child(row, beginning, separator)
                    place = child.place
                    if row.cut == 0 or not child.named:
                        found.append(child)
                if len(walked) < steps:
                    break
        return found[:limit]


def _child(row: Any, beginning: str, separator: str) -> TreeChild:
    rest = row.uri[len(beginning) :]
    if row.cut == 0:
        return TreeChild(rest, named=True, below=bool(row.below), place=row.uri)
    name = rest[: row.cut - 1]
    return TreeChild(name, named=bool(row.named), below=True, place=f"{beginning}{name}{separator}{_LAST}")


@functools.cache
def _walk(position_name: str) -> sa.Select[Any]:
    """The walk; the named function tells where a text stands in another, counted from 1, and 0 if it does not."""
    position = getattr(sa.func, position_name)
    first, following, under, own = (memory_uris.alias(name).c for name in ("first", "following", "under", "own"))
    start = bindparam("start", type_=sa.Integer)
    separator, behind = (sa.cast(bindparam(name), sa.Text) for name in ("separator", "behind"))
    seed = (
        sa.select(first.uri)
        .where(first.tenant == ACTING, first.uri > bindparam("after"), first.uri < bindparam("last"))
        .order_by(first.uri)
        .limit(1)
    )
    walk = sa.select(seed.scalar_subquery().label("uri"), sa.literal(1).label("step")).cte("walk", recursive=True)
    cut = position(sa.func.substr(walk.c.uri, start), separator)
    child = sa.func.substr(walk.c.uri, 1, start + cut - 2)
    passed = sa.case((cut == 0, walk.c.uri), else_=child.concat(behind))
    further = (
        sa.select(following.uri)
        .where(following.tenant == ACTING, following.uri > passed, following.uri < bindparam("last"))
        .order_by(following.uri)
        .limit(1)
        .correlate(walk)
    )
    walk = walk.union_all(
        sa.select(further.scalar_subquery(), walk.c.step + 1).where(
            walk.c.uri.is_not(None), walk.c.step < bindparam("steps", type_=sa.Integer)
        )
    )
    cut = position(sa.func.substr(walk.c.uri, start), separator)
    child = sa.func.substr(walk.c.uri, 1, start + cut - 2)
    below = sa.exists().where(
        under.tenant == ACTING, under.uri > walk.c.uri.concat(separator), under.uri < walk.c.uri.concat(behind)
    )
    named = sa.exists().where(own.tenant == ACTING, own.uri == child)
    return (
        sa.select(walk.c.uri, cut.label("cut"), below.label("below"), named.label("named"))
        .where(walk.c.uri.is_not(None))
        .order_by(walk.c.step)
    )
