"""Batches: asking for runs, listing, looking, canceling (contract 002 §2.3-2.5)."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from codexmem.domain.lab import BatchStatus
from codexmem.services.lab.runs import MAX_QUERY, Place
from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.lab_api import wire_runs as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.post("/api/v1/batches")
    def create(body: wire.BatchRequest, key: IdempotencyKey) -> dict[str, Any]:
        runs = services.lab.runs
        turn = runs.turn()  # before the transaction that a key's receipt opens

        def effect() -> Answer:
            batch, made = runs.create(body.to_order(), turn=turn)
            return Answer({"batch": wire.batch(batch), "runs": [wire.run(run) for run in made]}, f"batch:{batch.id}")

        return services.receipts.once("POST /api/v1/batches", key, body.model_dump(), effect)

    @door.get("/api/v1/batches")
    def listed(
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: Annotated[list[BatchStatus], Query(max_length=10, description="may be repeated")] = [],  # noqa: B006
        q: Annotated[str, Query(max_length=MAX_QUERY, description="part of a request, in any case")] = "",
    ) -> dict[str, Any]:
        name = f"batches {' '.join(sorted(status))} {q}"
        seen = place(name, cursor_text, int, str)
        found, after = services.lab.runs.batches(
            statuses=status, text=q.strip(), below=Place(*seen) if seen else None, limit=limit
        )
        running = services.lab.runs.running(found)
        items = [wire.batch(batch, running.get(batch.id, 0)) for batch in found]
        return page(items, cursor(name, after.created_ms, after.id) if after else None)

    @door.get("/api/v1/batches/{batch_id}")
    def one(batch_id: str) -> dict[str, Any]:
        found = services.lab.runs.batch(batch_id)
        return {"batch": wire.batch(found, services.lab.runs.running([found]).get(found.id, 0))}

    @door.post("/api/v1/batches/{batch_id}/cancel")
    def cancel(batch_id: str, body: Annotated[wire.CancelRequest | None, Body()] = None) -> dict[str, Any]:
        asked = body or wire.CancelRequest()
        return {"cancel_id": services.lab.runs.cancel_batch(batch_id, asked.reason).id, "status": "requested"}
