"""How much was captured lately, by session: counted in an index and only so far."""

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import captured_events

MOST_EVENTS = 20_000  # counting stops here: so many, or more


class Lately:
    """Counts what the acting tenant's hooks have reported."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def events(self, since_ms: int, *, most: int = MOST_EVENTS) -> dict[int, int]:
        """Events captured since then, by the number of their session; those that were blanked are not counted."""
        with self._db.reading() as tx:
            return {row.session: int(row.total) for row in tx.run(_events, since=since_ms, most=most)}


_c = captured_events.c
_some = (
    sa.select(_c.session)
    # The second condition is that of the index by age.
    .where(_c.tenant == ACTING, _c.created_ms >= bindparam("since"), _c.body.is_not(None))
    .limit(bindparam("most"))
    .subquery()
)
_events = sa.select(_some.c.session, sa.func.count().label("total")).group_by(_some.c.session)
