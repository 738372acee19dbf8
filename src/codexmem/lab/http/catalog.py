"""Products and presets: listing, looking, adding, changing (contract 002 §4.1 and §4.2)."""

from typing import Annotated

from fastapi import APIRouter, Query

from codexmem.http.params import IdempotencyKey
from codexmem.lab.http.pages import DEFAULT_LIMIT, CursorText, LabRouteServices, Limit, cursor, place
from codexmem.lab.model import MAX_NAME, Shelved
from codexmem.lab.service.catalog import RunCursor
from codexmem.lab.service.lab import Lab
from codexmem.lab.wire import feedback as wire
from codexmem.lab.wire.fields import LabPage

_Statuses = Annotated[list[Shelved], Query(max_length=10, description="may be repeated; all if left out")]


def add(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""
    _add_products(api, services)
    _add_presets(api, services)


def _add_products(api: APIRouter, services: LabRouteServices) -> None:
    @api.get("/api/v1/products")
    def products(
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: _Statuses = [],  # noqa: B006
        named: Annotated[str, Query(alias="name", max_length=MAX_NAME, description="the active one of this name")] = "",
    ) -> LabPage[wire.LabProduct]:
        if named:
            return LabPage[wire.LabProduct].of(map(wire.LabProduct.of, services.room(Lab).catalog.named(named)), None)
        name = f"products {' '.join(sorted(status))}"
        seen = place(name, cursor_text, int, str)
        found, after = services.room(Lab).catalog.products(
            status, below=RunCursor(*seen) if seen else None, limit=limit
        )
        return LabPage[wire.LabProduct].of(
            map(wire.LabProduct.of, found), cursor(name, after.created_ms, after.id) if after else None
        )

    @api.get("/api/v1/products/{product_id}")
    def product(product_id: str) -> wire.OneProduct:
        return wire.OneProduct(product=wire.LabProduct.of(services.room(Lab).catalog.product(product_id)))

    @api.post("/api/v1/products")
    def add_product(body: wire.ProductRequest, key: IdempotencyKey) -> wire.OneProduct:
        def effect() -> tuple[wire.OneProduct, str]:
            made = services.room(Lab).catalog.add_product(body.to_entry())
            return wire.OneProduct(product=wire.LabProduct.of(made)), f"product:{made.id}"

        return services.receipts.once_as(wire.OneProduct, "POST /api/v1/products", key, body, effect)

    @api.put("/api/v1/products/{product_id}")
    def edit_product(product_id: str, body: wire.ProductEdit, key: IdempotencyKey) -> wire.OneProduct:
        def effect() -> tuple[wire.OneProduct, str]:
            made = services.room(Lab).catalog.edit_product(product_id, body.to_entry())
            return wire.OneProduct(product=wire.LabProduct.of(made)), f"product:{made.id}"

        given = {"product_id": product_id, **body.model_dump()}
        return services.receipts.once_as(wire.OneProduct, "PUT /api/v1/products", key, given, effect)


def _add_presets(api: APIRouter, services: LabRouteServices) -> None:
    @api.get("/api/v1/product_presets")
    def presets(
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: _Statuses = [],  # noqa: B006
    ) -> LabPage[wire.LabPreset]:
        name = f"presets {' '.join(sorted(status))}"
        seen = place(name, cursor_text, int, str)
        found, after = services.room(Lab).catalog.presets(status, below=RunCursor(*seen) if seen else None, limit=limit)
        return LabPage[wire.LabPreset].of(
            map(wire.LabPreset.of, found), cursor(name, after.created_ms, after.id) if after else None
        )

    @api.get("/api/v1/product_presets/{preset_id}")
    def preset(preset_id: str) -> wire.OnePreset:
        return wire.OnePreset(preset=wire.LabPreset.of(services.room(Lab).catalog.preset(preset_id)))

    @api.post("/api/v1/product_presets")
    def add_preset(body: wire.PresetRequest, key: IdempotencyKey) -> wire.OnePreset:
        def effect() -> tuple[wire.OnePreset, str]:
            made = services.room(Lab).catalog.add_preset(body.to_entry())
            return wire.OnePreset(preset=wire.LabPreset.of(made)), f"preset:{made.id}"

        return services.receipts.once_as(wire.OnePreset, "POST /api/v1/product_presets", key, body, effect)

    @api.put("/api/v1/product_presets/{preset_id}")
    def edit_preset(preset_id: str, body: wire.PresetEdit, key: IdempotencyKey) -> wire.OnePreset:
        def effect() -> tuple[wire.OnePreset, str]:
            made = services.room(Lab).catalog.edit_preset(preset_id, body.to_entry())
            return wire.OnePreset(preset=wire.LabPreset.of(made)), f"preset:{made.id}"

        given = {"preset_id": preset_id, **body.model_dump()}
        return services.receipts.once_as(wire.OnePreset, "PUT /api/v1/product_presets", key, given, effect)
