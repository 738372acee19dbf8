"""Products and presets: listing, looking, adding, changing (contract 002 §4.1 and §4.2)."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from codexmem.domain.feedback import MAX_NAME, Shelved
from codexmem.services.lab.catalog import Place
from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.lab_api import wire_feedback as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services

_Statuses = Annotated[list[Shelved], Query(max_length=10, description="may be repeated; all if left out")]


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""
    _add_products(door, services)
    _add_presets(door, services)


def _add_products(door: APIRouter, services: Services) -> None:
    @door.get("/api/v1/products")
    def products(
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: _Statuses = [],  # noqa: B006
        named: Annotated[str, Query(alias="name", max_length=MAX_NAME, description="the active one of this name")] = "",
    ) -> dict[str, Any]:
        if named:
            return page([wire.product(each) for each in services.lab.catalog.named(named)], None)
        name = f"products {' '.join(sorted(status))}"
        seen = place(name, cursor_text, int, str)
        found, after = services.lab.catalog.products(status, below=Place(*seen) if seen else None, limit=limit)
        return page([wire.product(each) for each in found], cursor(name, after.created_ms, after.id) if after else None)

    @door.get("/api/v1/products/{product_id}")
    def product(product_id: str) -> dict[str, Any]:
        return {"product": wire.product(services.lab.catalog.product(product_id))}

    @door.post("/api/v1/products")
    def add_product(body: wire.ProductRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            made = services.lab.catalog.add_product(body.to_entry())
            return Answer({"product": wire.product(made)}, f"product:{made.id}")

        return services.receipts.once("POST /api/v1/products", key, body.model_dump(), effect)

    @door.put("/api/v1/products/{product_id}")
    def edit_product(product_id: str, body: wire.ProductEdit, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            made = services.lab.catalog.edit_product(product_id, body.to_entry())
            return Answer({"product": wire.product(made)}, f"product:{made.id}")

        given = {"product_id": product_id, **body.model_dump()}
        return services.receipts.once("PUT /api/v1/products", key, given, effect)


def _add_presets(door: APIRouter, services: Services) -> None:
    @door.get("/api/v1/product_presets")
    def presets(
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: _Statuses = [],  # noqa: B006
    ) -> dict[str, Any]:
        name = f"presets {' '.join(sorted(status))}"
        seen = place(name, cursor_text, int, str)
        found, after = services.lab.catalog.presets(status, below=Place(*seen) if seen else None, limit=limit)
        return page([wire.preset(each) for each in found], cursor(name, after.created_ms, after.id) if after else None)

    @door.get("/api/v1/product_presets/{preset_id}")
    def preset(preset_id: str) -> dict[str, Any]:
        return {"preset": wire.preset(services.lab.catalog.preset(preset_id))}

    @door.post("/api/v1/product_presets")
    def add_preset(body: wire.PresetRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            made = services.lab.catalog.add_preset(body.to_entry())
            return Answer({"preset": wire.preset(made)}, f"preset:{made.id}")

        return services.receipts.once("POST /api/v1/product_presets", key, body.model_dump(), effect)

    @door.put("/api/v1/product_presets/{preset_id}")
    def edit_preset(preset_id: str, body: wire.PresetEdit, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            made = services.lab.catalog.edit_preset(preset_id, body.to_entry())
            return Answer({"preset": wire.preset(made)}, f"preset:{made.id}")

        given = {"preset_id": preset_id, **body.model_dump()}
        return services.receipts.once("PUT /api/v1/product_presets", key, given, effect)
