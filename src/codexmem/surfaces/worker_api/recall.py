"""Search and timeline (contract 000 §3.3.1, §3.3.2): an index in text, or rows if JSON is asked for."""

from typing import Any

from fastapi import APIRouter, Request

from codexmem.surfaces._kit.params import asked, described
from codexmem.surfaces._kit.recall import answers
from codexmem.surfaces._kit.recall.answers import Services, Told
from codexmem.surfaces._kit.recall.described import SearchRows, TextAnswer, TimelineRows
from codexmem.surfaces._kit.recall.described import answers as described_as
from codexmem.surfaces._kit.recall.requests import SearchRequest, TimelineRequest
from codexmem.surfaces.worker_api import wire


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/search", openapi_extra=described(SearchRequest), responses=described_as(SearchRows | TextAnswer))
    def search(request: Request) -> dict[str, Any]:
        wanted = asked(SearchRequest, request)
        return _told(answers.search(services, wanted), wanted.format)

    @door.get(
        "/api/timeline", openapi_extra=described(TimelineRequest), responses=described_as(TimelineRows | TextAnswer)
    )  # fmt: skip
    def timeline(request: Request) -> dict[str, Any]:
        wanted = asked(TimelineRequest, request)
        return _told(answers.timeline(services, wanted), wanted.format)


def _told(answer: Told, wanted: str | None) -> dict[str, Any]:
    return answer.rows if wanted == "json" else wire.text(answer.text)
