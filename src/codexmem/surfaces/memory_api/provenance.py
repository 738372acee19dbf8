"""Where a memory came from. The name stands at the end of the path as it is, or percent-encoded: `%23123`, `kb-…`."""

from dataclasses import asdict
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query

from codexmem.domain.provenance import Provenance
from codexmem.services.provenance import EVENTS, MAX_EVENTS, MAX_VERSIONS, VERSIONS, Explaining
from codexmem.surfaces._kit.recall.described import answers


class Services(Protocol):
    """What these routes need."""

    @property
    def explaining(self) -> Explaining: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/provenance/{ref:path}", responses=answers(Provenance))
    def provenance(
        ref: str, versions: Annotated[int, Query(ge=1, le=MAX_VERSIONS)] = VERSIONS,
        events: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = EVENTS,
    ) -> dict[str, Any]:  # fmt: skip
        return asdict(services.explaining.why(ref, versions=versions, events=events))
