"""Health of the process (contract 002 §1.1), with and without the prefix. Answers without touching the store."""

from typing import Any

from fastapi import APIRouter

from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/healthz")
    @door.get("/api/v1/healthz")
    async def healthz() -> dict[str, Any]:
        health = services.status.health()
        return {"status": "ok", "version": health.version, "initialized": health.initialized}
