"""Products and presets in their tables. Nothing is removed, so what names a product always finds it.

Pages go by (created_ms, id), newest first, each along an index and no further than its own length.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.schema import preset_products, presets, products
from codexmem.lab.model import Preset, Product, Shelved
from codexmem.lab.store.runs import RunCursor

_PRODUCT = [f.name for f in fields(Product)]
_PRESET = [f.name for f in fields(Preset) if f.name != "product_ids"]


class CatalogTable:
    """Reads and writes the acting tenant's `products` and `presets`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def product(self, product_id: str, *, hold: bool = False) -> Product | None:
        """One product; with `hold`, nobody else changes it until the transaction ends."""
        with self._db.reading() as tx:
            row = tx.run(_hold_product if hold else _get_product, id=product_id).mappings().first()
        return _product(row) if row is not None else None

    def known(self, product_ids: Sequence[str]) -> dict[str, Product]:
        """Those of these products that exist."""
        with self._db.reading() as tx:
            return {row["id"]: _product(row) for row in tx.run(_known, ids=list(product_ids)).mappings()}

    def named(self, folded: str) -> str | None:
        """The active product that has this case-folded name."""
        with self._db.reading() as tx:
            found: str | None = tx.run(_named, folded=folded).scalar()
            return found

    def products(
        self, status: Shelved | None, *, below: RunCursor | None, limit: int
    ) -> tuple[list[Product], RunCursor | None]:
        """Products of this status or of all, newest first; and where the next page starts."""
        with self._db.reading() as tx:
            rows = _page(tx, _products_of, _products, status, below, limit)
        return [_product(row) for row in rows[:limit]], _after(rows, limit)

    def add_product(self, product: Product, folded: str) -> None:
        """Store a new product; a Conflict if an active one has its name."""
        with self._db.transaction() as tx:
            tx.add(products, _row(product, _PRODUCT) | {"folded": folded})

    def write_product(self, product: Product, folded: str) -> None:
        """Store a changed product; likewise."""
        with self._db.transaction() as tx:
            values = _row(product, _PRODUCT) | {"folded": folded}
            tx.run(_write_product, of_id=values.pop("id"), **values)

    def preset(self, preset_id: str, *, hold: bool = False) -> Preset | None:
        """One preset; `hold` as for a product."""
        with self._db.reading() as tx:
            row = tx.run(_hold_preset if hold else _get_preset, id=preset_id).mappings().first()
            return _presets(tx, [row])[0] if row is not None else None

    def presets(
        self, status: Shelved | None, *, below: RunCursor | None, limit: int
    ) -> tuple[list[Preset], RunCursor | None]:
        """Presets, as products are listed."""
        with self._db.reading() as tx:
            rows = _page(tx, _presets_of, _presets_all, status, below, limit)
            return _presets(tx, rows[:limit]), _after(rows, limit)

    def add_preset(self, preset: Preset) -> None:
        """Store a new preset."""
        with self._db.transaction() as tx:
            tx.add(presets, _row(preset, _PRESET))
            tx.add(preset_products, *_places(preset))

    def write_preset(self, preset: Preset) -> None:
        """Store a changed preset, which the caller holds."""
        with self._db.transaction() as tx:
            values = _row(preset, _PRESET)
            tx.run(_write_preset, of_id=values.pop("id"), **values)
            tx.run(_clear_preset, id=preset.id)
            tx.add(preset_products, *_places(preset))


def _row(given: Product | Preset, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(given, name) for name in names} | {"status": given.status.value}


def _product(row: Any) -> Product:
    return Product(**{name: row[name] for name in _PRODUCT} | {"status": Shelved(row["status"])})


def _presets(tx: Transaction, rows: Sequence[Any]) -> list[Preset]:
    """Presets with their products, all read at once."""
    named: dict[str, list[str]] = {row["id"]: [] for row in rows}
    for place in tx.run(_of_presets, ids=list(named)):
        named[place.preset_id].append(place.product_id)
    return [
        Preset(**{name: row[name] for name in _PRESET}
               | {"status": Shelved(row["status"]), "product_ids": tuple(named[row["id"]])})
        for row in rows
    ]  # fmt: skip


def _places(preset: Preset) -> list[dict[str, object]]:
    return [
        {"preset_id": preset.id, "place": place, "product_id": product_id}
        for place, product_id in enumerate(preset.product_ids, 1)
    ]


def _page(tx: Transaction, of_status: sa.Select[Any], of_all: sa.Select[Any], status: Shelved | None,
          below: RunCursor | None, limit: int) -> list[Any]:  # fmt: skip
    """The rows of a page, and one more if there is a next one."""
    where = {"ms": below.created_ms if below else 2**62, "id": below.id if below else "", "limit": limit + 1}
    found = tx.run(of_all, **where) if status is None else tx.run(of_status, status=status.value, **where)
    return list(found.mappings())


def _after(rows: Sequence[Any], limit: int) -> RunCursor | None:
    return RunCursor(rows[limit - 1]["created_ms"], rows[limit - 1]["id"]) if len(rows) > limit else None


def _newest(table: sa.Table, names: Sequence[str]) -> sa.Select[Any]:
    c = table.c
    # The end as well: SQLite finds its beginning in the index by that, and not by a pair.
    ms, seen = sa.cast(bindparam("ms"), sa.BigInteger), sa.cast(bindparam("id"), sa.Text)
    return (
        sa.select(*(c[name] for name in names))
        .where(c.tenant == ACTING, c.created_ms <= ms, sa.tuple_(c.created_ms, c.id) < sa.tuple_(ms, seen))
        .order_by(c.created_ms.desc(), c.id.desc())
        .limit(bindparam("limit"))
    )


def _set(table: sa.Table, names: Sequence[str]) -> sa.Update:
    c = table.c
    changed = {name: bindparam(name, type_=c[name].type) for name in names if name != "id"}
    return sa.update(table).where(c.tenant == ACTING, c.id == bindparam("of_id")).values(changed)


_p, _s, _m = products.c, presets.c, preset_products.c
_columns = [_p[name] for name in _PRODUCT]
_get_product = sa.select(*_columns).where(_p.tenant == ACTING, _p.id == bindparam("id"))
_hold_product = _get_product.with_for_update(key_share=True)
_known = sa.select(*_columns).where(_p.tenant == ACTING, _p.id.in_(bindparam("ids", expanding=True)))
_named = sa.select(_p.id).where(
    _p.tenant == ACTING, _p.folded == bindparam("folded"), _p.status == sa.literal_column("'active'")
)
_products = _newest(products, _PRODUCT)
_products_of = _products.where(_p.status == bindparam("status"))
_write_product = _set(products, [*_PRODUCT, "folded"])
_get_preset = sa.select(*(_s[name] for name in _PRESET)).where(_s.tenant == ACTING, _s.id == bindparam("id"))
_hold_preset = _get_preset.with_for_update(key_share=True)
_presets_all = _newest(presets, _PRESET)
_presets_of = _presets_all.where(_s.status == bindparam("status"))
_write_preset = _set(presets, _PRESET)
_clear_preset = sa.delete(preset_products).where(_m.tenant == ACTING, _m.preset_id == bindparam("id"))
_of_presets = (
    sa.select(_m.preset_id, _m.product_id)
    .where(_m.tenant == ACTING, _m.preset_id.in_(bindparam("ids", expanding=True)))
    .order_by(_m.preset_id, _m.place)
)
