"""What a run was shown of the library (contract 002 §3.2): pages without texts unless asked, and one piece whole."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from codexmem.surfaces.lab_api import wire_evidence as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/runs/{run_id}/evidence")
    def listed(
        run_id: str,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        include_content: bool = False,
    ) -> dict[str, Any]:
        name = f"evidence {run_id}"
        reached = place(name, cursor_text, int)
        found, last = services.lab.shelving.evidence.page(
            run_id, after=reached[0] if reached else 0, limit=limit, content=include_content
        )
        items = [wire.evidence(each, content=include_content) for each in found]
        return page(items, cursor(name, last) if last is not None else None)

    @door.get("/api/v1/runs/{run_id}/evidence/{alias}")
    def one(run_id: str, alias: str) -> dict[str, Any]:
        return wire.evidence(services.lab.shelving.evidence.one(run_id, alias), content=True)
