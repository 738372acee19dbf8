"""Running sums by name, such as `agent.observation.success` or `tokens.2026-11-15`."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import tallies


class Tallies:
    """Reads and writes `tallies`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        add = db.engine.insert(tallies)
        self._add = add.on_conflict_do_update(
            index_elements=["tenant", "name"], set_={"value": tallies.c.value + add.excluded.value}
        )

    def add(self, amounts: Mapping[str, int]) -> None:
        """Add to several sums; always in the order of their names, so that two writers cannot wait for each other."""
        with self._db.transaction() as tx:
            for name in sorted(amounts):
                tx.run(self._add, name=name, value=amounts[name])

    def get(self, name: str) -> int:
        """One sum; zero if nothing was ever added."""
        with self._db.reading() as tx:
            return tx.run(_get, name=name).scalar() or 0

    def many(self, names: Sequence[str]) -> dict[str, int]:
        """Those of these sums to which something was ever added; a look into the key for each."""
        with self._db.reading() as tx:
            return {row.name: row.value for row in tx.run(_many, names=list(names))}

    def under(self, prefix: str) -> dict[str, int]:
        """Every sum whose name begins so."""
        with self._db.reading() as tx:
            return {row.name: row.value for row in tx.run(_under, prefix=prefix, length=len(prefix))}

    def reset(self, prefix: str) -> None:
        """Begin again at zero."""
        with self._db.transaction() as tx:
            tx.run(_reset, prefix=prefix, length=len(prefix))


_t = tallies.c
_get = sa.select(_t.value).where(_t.tenant == ACTING, _t.name == bindparam("name"))
_many = sa.select(_t.name, _t.value).where(_t.tenant == ACTING, _t.name.in_(bindparam("names", expanding=True)))
# Not a range: names of few dozen kinds stand here, and the order of letters depends on the database.
_prefixed = (_t.tenant == ACTING, sa.func.substr(_t.name, 1, bindparam("length")) == bindparam("prefix"))
_under = sa.select(_t.name, _t.value).where(*_prefixed).order_by(_t.name).limit(1_000)
_reset = sa.delete(tallies).where(*_prefixed)
