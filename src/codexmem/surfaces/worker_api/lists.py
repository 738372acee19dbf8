"""Reading single memories and pages of them, newest first (contract 000 §3.3.4 to §3.3.7)."""

from typing import Any, Protocol

from fastapi import APIRouter, Request

from codexmem.domain.errors import NotFound
from codexmem.domain.memory import Kind, Status
from codexmem.domain.query import Filter, Page, Seq
from codexmem.services.memories import Memories
from codexmem.surfaces._kit.params import Int64, asked, described
from codexmem.surfaces._kit.recall import rows
from codexmem.surfaces._kit.recall.described import ObservationPage, PromptPage, SummaryPage, answers
from codexmem.surfaces.worker_api import wire

_NAMES = {Kind.OBSERVATION: "Observation", Kind.SUMMARY: "Session", Kind.PROMPT: "Prompt"}


class Services(Protocol):
    """What these routes need."""

    @property
    def memories(self) -> Memories: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""
    listed = described(wire.ListRequest)

    @door.get("/api/observation/{number}", response_model=rows.Observation)
    def observation(number: Int64) -> dict[str, Any]:
        return _one(services, Kind.OBSERVATION, number)

    @door.get("/api/session/{number}", response_model=rows.Summary)
    def session(number: Int64) -> dict[str, Any]:
        return _one(services, Kind.SUMMARY, number)

    @door.get("/api/prompt/{number}", response_model=rows.Prompt)
    def prompt(number: Int64) -> dict[str, Any]:
        return _one(services, Kind.PROMPT, number)

    @door.get("/api/observations", openapi_extra=listed, responses=answers(ObservationPage))
    def observations(request: Request) -> dict[str, Any]:
        return _page(services, Kind.OBSERVATION, asked(wire.ListRequest, request))

    @door.get("/api/summaries", openapi_extra=listed, responses=answers(SummaryPage))
    def summaries(request: Request) -> dict[str, Any]:
        return _page(services, Kind.SUMMARY, asked(wire.ListRequest, request))

    @door.get("/api/prompts", openapi_extra=listed, responses=answers(PromptPage))
    def prompts(request: Request) -> dict[str, Any]:
        return _page(services, Kind.PROMPT, asked(wire.ListRequest, request))


def _one(services: Services, kind: Kind, number: int) -> dict[str, Any]:
    missing = NotFound(f"{_NAMES[kind]} #{number} not found")
    try:
        memory = services.memories.get(Seq(number), frozenset({kind}))
    except NotFound:
        raise missing from None
    if memory.state.status is Status.DELETED:
        raise missing
    return rows.ROW[kind](memory)


def _page(services: Services, kind: Kind, wanted: wire.ListRequest) -> dict[str, Any]:
    listing = services.memories.page(
        Filter(frozenset({kind}), project=wanted.project or None), Page(wanted.limit, offset=wanted.offset)
    )
    return wire.page(listing.items, wanted, more=listing.after is not None)
