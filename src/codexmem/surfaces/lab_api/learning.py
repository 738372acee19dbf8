"""Learning from a run, what it changed, and taking that back (contract 002 §5.2 and §5.3)."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query

from codexmem.domain.history import By, DeltaStatus, Mode
from codexmem.domain.job import JobStatus
from codexmem.services.lab.bank import HAND
from codexmem.services.lab.learning.learning import MAX_JOBS
from codexmem.services.lab.rollback import MAX_DELTAS
from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.lab_api import wire_bank as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""
    _add_all(door, services)

    @door.post("/api/v1/runs/{run_id}/reasoningbank/learn")
    def learn(run_id: str, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            return Answer(wire.queued(services.lab.banking.learning.queue(run_id)))

        return services.receipts.once("POST /api/v1/runs/learn", key, {"run_id": run_id}, effect)

    @door.get("/api/v1/runs/{run_id}/reasoningbank/jobs")
    def jobs(run_id: str, limit: Annotated[int, Query(ge=1, le=MAX_JOBS)] = 20) -> dict[str, Any]:
        found = services.lab.banking.learning.jobs(run_id, limit=limit)
        return {"run_id": run_id, "jobs": [wire.job(each, run_id) for each in found]}

    @door.get("/api/v1/runs/{run_id}/reasoningbank/deltas")
    def deltas(
        run_id: str,
        limit: Annotated[int, Query(ge=1, le=MAX_DELTAS)] = 20,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        cause: Annotated[Literal["learn", "rollback", "all"], Query(description="rollbacks are deltas too")] = "learn",
    ) -> dict[str, Any]:
        name = f"deltas {run_id} {cause}"
        seen = place(name, cursor_text, int, str)
        found, after = services.lab.banking.rollbacks.deltas(
            run_id, limit=limit, before=(seen[0], seen[1]) if seen else None, cause=None if cause == "all" else cause
        )
        items = [wire.delta(each, run_id) for each in found]
        return {"run_id": run_id, **page(items, cursor(name, *after) if after else None)}

    @door.get("/api/v1/runs/{run_id}/reasoningbank/rollback/preview")
    def preview(
        run_id: str, delta_id: Annotated[str, Query(max_length=200)] = "", mode: Mode = Mode.STRICT
    ) -> dict[str, Any]:
        return wire.preview(services.lab.banking.rollbacks.preview(run_id, delta_id or None, mode), run_id)

    @door.post("/api/v1/runs/{run_id}/reasoningbank/rollback/preview")
    def preview_of(run_id: str, body: Annotated[wire.RollbackRequest | None, Body()] = None) -> dict[str, Any]:
        asked = body or wire.RollbackRequest()
        return wire.preview(services.lab.banking.rollbacks.preview(run_id, asked.delta_id, asked.mode), run_id)

    @door.post("/api/v1/runs/{run_id}/reasoningbank/rollback")
    def roll_back(
        run_id: str, key: IdempotencyKey, body: Annotated[wire.RollbackRequest | None, Body()] = None
    ) -> dict[str, Any]:
        asked = body or wire.RollbackRequest()

        def effect() -> Answer:
            done = services.lab.banking.rollbacks.roll_back(
                run_id, By(HAND), delta_id=asked.delta_id, mode=asked.mode, reason=asked.reason, relearn=asked.relearn
            )
            return Answer(wire.taken_back(done, run_id))

        given = {"run_id": run_id, **asked.model_dump(mode="json")}
        return services.receipts.once("POST /api/v1/runs/rollback", key, given, effect)


def _add_all(door: APIRouter, services: Services) -> None:
    """Beyond the contract: the same over all runs."""

    @door.get("/api/v1/reasoningbank/roles")
    def roles() -> dict[str, Any]:
        return {"roles": services.lab.banking.bank.roles}

    @door.get("/api/v1/reasoningbank/jobs")
    def all_jobs(
        status: Annotated[JobStatus | None, Query(description="all if left out")] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> dict[str, Any]:
        name = f"learnings {status or ''}"
        seen = place(name, cursor_text, int)
        found, after = services.lab.banking.learnings.jobs(
            status=status, below=seen[0] if seen else None, limit=limit
        )  # fmt: skip
        items = [wire.job(each, str(each.payload.get("run_id", ""))) for each in found]
        return page(items, cursor(name, after) if after is not None else None)

    @door.get("/api/v1/reasoningbank/deltas")
    def all_deltas(
        run_id: Annotated[str, Query(max_length=200, description="of all runs if left out")] = "",
        status: Annotated[DeltaStatus | None, Query(description="all if left out")] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> dict[str, Any]:
        name = f"all deltas {run_id} {status or ''}"
        seen = place(name, cursor_text, int, str)
        found, after = services.lab.banking.learnings.deltas(
            run_id=run_id or None, status=status, below=(seen[0], seen[1]) if seen else None, limit=limit
        )
        return page([wire.outline(each) for each in found], cursor(name, *after) if after else None)

    @door.get("/api/v1/reasoningbank/deltas/{delta_id}")
    def one_delta(delta_id: str) -> dict[str, Any]:
        return {"delta": wire.whole(services.lab.banking.learnings.delta(delta_id))}
