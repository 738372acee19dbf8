"""What a developer asks (contract 002 §7.2); switched off unless configured, and then as if it were not there."""

from typing import Any

from fastapi import APIRouter

from codexmem.domain.errors import NotFound
from codexmem.surfaces.lab_api.services import Services
from codexmem.surfaces.lab_api.system import shown


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/_debug/state", include_in_schema=False)
    def state() -> dict[str, Any]:
        settings = services.lab.debug
        if settings is None:
            raise NotFound("no such path", hint="C2XC_ENABLE_DEBUG_ENDPOINTS=1 switches the debug paths on")
        return {"settings": settings, **shown(services.lab.system.view())}
