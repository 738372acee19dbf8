"""Runs: listing, looking, canceling, and what they have answered (contract 002 §2.4-2.6)."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from codexmem.domain.lab import Run, RunStatus
from codexmem.services.lab.runs import Place
from codexmem.surfaces.lab_api import wire_runs as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/runs")
    def listed(
        batch_id: Annotated[str, Query(max_length=200)] = "",
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        status: Annotated[list[RunStatus], Query(max_length=10, description="may be repeated")] = [],  # noqa: B006
    ) -> dict[str, Any]:
        name = f"runs {' '.join(sorted(status))} {batch_id}"
        if batch_id:
            reached = place(name, cursor_text, int)
            found, last = services.lab.runs.runs_of(
                batch_id, statuses=status, after=reached[0] if reached else 0, limit=limit
            )
            return page(_shown(services, found), cursor(name, last) if last is not None else None)
        seen = place(name, cursor_text, int, str)
        found, after = services.lab.runs.runs(statuses=status, below=Place(*seen) if seen else None, limit=limit)
        return page(_shown(services, found), cursor(name, after.created_ms, after.id) if after else None)

    @door.get("/api/v1/runs/{run_id}")
    def one(run_id: str) -> dict[str, Any]:
        return {"run": _shown(services, [services.lab.runs.run(run_id)])[0]}

    @door.get("/api/v1/runs/{run_id}/output")
    def output(run_id: str) -> dict[str, Any]:
        return services.lab.runs.output(run_id)

    @door.post("/api/v1/runs/{run_id}/cancel")
    def cancel(run_id: str, body: Annotated[wire.CancelRequest | None, Body()] = None) -> dict[str, Any]:
        asked = body or wire.CancelRequest()
        return {"cancel_id": services.lab.runs.cancel_run(run_id, asked.reason).id, "status": "requested"}


def _shown(services: Services, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Runs with what was said about each, looked up for all of them at once."""
    verdicts = services.lab.runs.verdicts(runs)
    return [wire.run(run, verdicts.get(run.id)) for run in runs]
