"""Saving a memory by hand and reading observations by number (contract 000 §3.3.3, §3.4)."""

from typing import Any, Protocol

from fastapi import APIRouter, Request

from codexmem.services.receipts import Receipts
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces._kit.recall import answers, rows
from codexmem.surfaces._kit.recall.requests import BatchRequest, SaveRequest
from codexmem.surfaces.worker_api import wire


class Services(answers.Services, Protocol):
    """What these routes need."""

    @property
    def receipts(self) -> Receipts: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.post("/api/memory/save", response_model=wire.Saved, response_model_exclude_none=True)
    def save(request: Request, body: SaveRequest, key: IdempotencyKey) -> dict[str, Any]:
        return services.receipts.once(
            "/api/memory/save", key, body.model_dump(), lambda: answers.save(services, body, actor_of(request.scope))
        )

    @door.post("/api/observations/batch", response_model=list[rows.Observation])
    def batch(body: BatchRequest) -> list[dict[str, Any]]:
        return answers.batch(services, body)
