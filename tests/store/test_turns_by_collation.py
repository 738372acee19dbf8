"""Turns between tenants where the database sorts text otherwise than Python does, as most locales make it.

The PostgreSQL that tests run knows the C locale only, so its walk over tenants is played here in another order.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from codexmem.kernel.store.database import Database, Transaction
from codexmem.kernel.store.dispatch import Dispatch, _walk

TENANTS = ("a-team", "B-team")  # Python puts B-team first


class Walked:
    """Answers the walk as a database of such a locale does; every tenant has jobs that are due."""

    def execute(self, statement: object, values: dict[str, Any] | None = None) -> Any:
        if statement is not _walk or values is None:
            return None
        behind = [name for name in TENANTS if name.casefold() > values["after"].casefold()]
        rows = [SimpleNamespace(tenant=name, due=True) for name in behind[: values["limit"]]]
        return SimpleNamespace(all=lambda: rows)


def test_every_tenant_has_its_turn_in_any_locale() -> None:
    engine = SimpleNamespace(skip_locked=lambda statement: statement, ambient_tenant=None)
    queue = Dispatch(cast(Database, SimpleNamespace(engine=engine)))
    tx = cast(Transaction, SimpleNamespace(connection=Walked()))
    turns = [queue._turns(tx, 0, 1, 0) for _ in range(4)]
    assert [tenant for (tenant,) in turns] == [*TENANTS, *TENANTS]
    assert sorted(queue._turns(tx, 0, 5, 0)) == sorted(TENANTS)
