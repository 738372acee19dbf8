"""The catalog: products that can be measured, and presets of them.

Two active products never have the same name, whatever its case. Nothing is removed: an archived product is no longer
offered and stays in the feedback and presets that name it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict, TypeVar

from codexmem.kernel.model import ids, privacy
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.database import Database
from codexmem.lab.model import (
    MAX_MEASURED,
    MAX_NAME,
    SCHEMA_VERSION,
    CatalogEntry,
    Preset,
    Product,
    Shelved,
    kept_extra,
)
from codexmem.lab.service.trace import RunTrace
from codexmem.lab.store.catalog import CatalogTable
from codexmem.lab.store.runs import RunCursor

__all__ = ["Catalog", "RunCursor"]

T = TypeVar("T")


class _Changes(TypedDict, total=False):
    name: str
    status: Shelved
    updated_ms: int
    schema_version: int
    extra: dict[str, object]


class Catalog:
    """The acting tenant's products and presets."""

    def __init__(self, db: Database, table: CatalogTable, trace: RunTrace, clock: Clock) -> None:
        self._db = db
        self._table = table
        self._trace = trace
        self._clock = clock

    def product(self, product_id: str) -> Product:
        """One product."""
        return _required(self._table.product(product_id), "product", product_id, "/api/v1/products")

    def products(self, statuses: Sequence[Shelved] = (), *, below: RunCursor | None = None,
                 limit: int = 50) -> tuple[list[Product], RunCursor | None]:  # fmt: skip
        """Products of these statuses or of all, newest first, and where the next page starts."""
        return self._table.products(_only(statuses), below=below, limit=limit)

    def named(self, name: str) -> list[Product]:
        """The active product of this name, whatever its case; none or one."""
        found = self._table.named(_folded(" ".join(name.split())))
        return [self.product(found)] if found is not None else []

    def add_product(self, entry: CatalogEntry) -> Product:
        """Keep a new product; a Conflict if an active one has its name."""
        now_ms, name = self._clock.now_ms(), self._name(entry.name or "")
        made = Product(
            ids.bare(), name, entry.status or Shelved.ACTIVE, now_ms, now_ms, entry.schema_version or SCHEMA_VERSION,
            self._extra(entry.extra or {}),
        )  # fmt: skip
        with self._db.transaction():
            self._require_free(made)
            self._table.add_product(made, _folded(name))
        return made

    def edit_product(self, product_id: str, entry: CatalogEntry) -> Product:
        """Change what is given; bringing an archived product back is a Conflict if its name was taken meanwhile."""
        with self._db.transaction():
            seen = _required(self._table.product(product_id, hold=True), "product", product_id, "/api/v1/products")
            made = replace(seen, **self._changed(entry))
            self._require_free(made)
            self._table.write_product(made, _folded(made.name))
        return made

    def preset(self, preset_id: str) -> Preset:
        """One preset."""
        return _required(self._table.preset(preset_id), "preset", preset_id, "/api/v1/product_presets")

    def presets(self, statuses: Sequence[Shelved] = (), *, below: RunCursor | None = None,
                limit: int = 50) -> tuple[list[Preset], RunCursor | None]:  # fmt: skip
        """Presets, as products are listed."""
        return self._table.presets(_only(statuses), below=below, limit=limit)

    def add_preset(self, entry: CatalogEntry) -> Preset:
        """Keep a new preset; its products must exist."""
        now_ms, name = self._clock.now_ms(), self._name(entry.name or "")
        made = Preset(
            ids.bare(), name, entry.status or Shelved.ACTIVE, entry.product_ids or (), now_ms, now_ms,
            entry.schema_version or SCHEMA_VERSION, self._extra(entry.extra or {}),
        )  # fmt: skip
        with self._db.transaction():
            self.require(made.product_ids, "product_ids")
            self._table.add_preset(made)
        return made

    def edit_preset(self, preset_id: str, entry: CatalogEntry) -> Preset:
        """Change what is given; a list of products replaces the one before."""
        with self._db.transaction():
            seen = _required(
                self._table.preset(preset_id, hold=True), "preset", preset_id, "/api/v1/product_presets"
            )  # fmt: skip
            listed = seen.product_ids if entry.product_ids is None else entry.product_ids
            made = replace(seen, product_ids=listed, **self._changed(entry))
            self.require(made.product_ids, "product_ids")
            self._table.write_preset(made)
        return made

    def require(self, product_ids: Sequence[str], field: str) -> dict[str, Product]:
        """These products, none twice and none unknown, or InvalidArgument that names the first wrong one."""
        if len(product_ids) > MAX_MEASURED:
            raise InvalidArgument(f"{field} names more than {MAX_MEASURED} products")
        seen: set[str] = set()
        for each in product_ids:
            if each in seen:
                raise InvalidArgument(
                    f"{field} names product {each[:80]} twice", hint="give one value for each product",
                    details={"product_id": each[:80]},
                )  # fmt: skip
            seen.add(each)
        found = self._table.known(product_ids) if product_ids else {}
        for each in product_ids:
            if each not in found:
                raise InvalidArgument(
                    f"{field} names product {each[:80]}, which is not in the catalog",
                    hint="products are listed at /api/v1/products, and added there",
                    details={"product_id": each[:80]},
                )
        return found

    def _require_free(self, product: Product) -> None:
        if product.status is not Shelved.ACTIVE:
            return
        holder = self._table.named(_folded(product.name))
        if holder is not None and holder != product.id:
            raise Conflict(
                f"an active product is named {product.name} already", hint="use that one, or archive it first",
                details={"product_id": holder},
            )  # fmt: skip

    def _changed(self, entry: CatalogEntry) -> _Changes:
        changed: _Changes = {"updated_ms": self._clock.now_ms()}
        if entry.name is not None:
            changed["name"] = self._name(entry.name)
        if entry.status is not None:
            changed["status"] = entry.status
        if entry.schema_version is not None:
            changed["schema_version"] = entry.schema_version
        if entry.extra is not None:
            changed["extra"] = self._extra(entry.extra)
        return changed

    def _name(self, given: str) -> str:
        name = " ".join(str(self._trace.masked(privacy.strip(given))).split())
        if not name or len(name) > MAX_NAME:
            raise InvalidArgument(f"name must have 1 to {MAX_NAME} characters that are not all blank")
        return name

    def _extra(self, extra: dict[str, object]) -> dict[str, object]:
        kept: dict[str, object] = self._trace.masked(privacy.strip_value(kept_extra(extra)))
        return kept


def _only(statuses: Sequence[Shelved]) -> Shelved | None:
    """The one status that is asked for; None for both, which is as good as all."""
    asked = set(statuses)
    return asked.pop() if len(asked) == 1 else None


def _folded(name: str) -> str:
    return name.casefold()


def _required(found: T | None, what: str, name: str, listed: str) -> T:
    if found is None:
        raise NotFound(f"no {what} {name[:80]}", hint=f"they are listed at {listed}")
    return found
