"""Searching every kind of memory at once: rows for programs, or the table that models read."""

from typing import Any

from fastapi import APIRouter, Request

from codexmem.surfaces._kit.params import asked, described
from codexmem.surfaces._kit.recall import everything
from codexmem.surfaces._kit.recall.described import EverythingRows, TextAnswer, answers
from codexmem.surfaces._kit.recall.everything import EverythingRequest, Services

__all__ = ["Services", "add"]


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get(
        "/api/search/all", openapi_extra=described(EverythingRequest), responses=answers(EverythingRows | TextAnswer)
    )  # fmt: skip
    def search_all(request: Request) -> dict[str, Any]:
        wanted = asked(EverythingRequest, request)
        told = everything.search(services, wanted)
        if wanted.format in {"markdown", "index"}:
            return {"content": [{"type": "text", "text": told.text}]}
        return told.rows
