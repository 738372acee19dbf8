"""How many lessons there are, counted in an index and only so far."""

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, memory_facets

MOST = 10_000  # counting stops here: so many, or more


def count_active(db: Database, roles: frozenset[str] = frozenset(), *, most: int = MOST) -> int:
    """Active lessons of the acting tenant, all or those for one of these roles."""
    with db.reading() as tx:
        if not roles:
            return int(tx.run(_all, most=most).scalar_one())
        return int(tx.run(_for_roles, roles=sorted(roles), most=most).scalar_one())


_m, _f = memories.c, memory_facets.c
_active = (_m.kind == Kind.LESSON.value, _m.status == Status.ACTIVE.value)
_all = sa.select(sa.func.count()).select_from(
    sa.select(_m.seq).where(_m.tenant == ACTING, *_active).limit(bindparam("most")).subquery()
)
_for_roles = sa.select(sa.func.count()).select_from(
    sa.select(_m.seq)
    .join(memory_facets, sa.and_(_f.tenant == _m.tenant, _f.seq == _m.seq))
    .where(_f.tenant == ACTING, _f.facet == "role", _f.value.in_(bindparam("roles", expanding=True)), *_active)
    .limit(bindparam("most"))
    .subquery()
)
