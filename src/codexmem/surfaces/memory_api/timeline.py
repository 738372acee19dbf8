"""The long list of everything that was captured or written, from any place in it; every page costs its own length."""

from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.memory import REMEMBERED, Kind, Memory, Status
from codexmem.domain.query import Cursor, Filter
from codexmem.services.overview import MOST_COUNTED, Overview
from codexmem.services.sessions import SessionLists
from codexmem.services.timeline import KINDS, Edge, Flow, Timeline, Toward
from codexmem.surfaces._kit.cursors import CursorText, cursor, place
from codexmem.surfaces._kit.moments import Stretch, stretch
from codexmem.surfaces._kit.recall.described import answers
from codexmem.surfaces.memory_api.rows import Short, short

_MAX = 200
_LIST = "memories/timeline"
_Kinds = Annotated[
    list[Literal["observation", "summary", "prompt", "note", "qa", "knowledge", "lesson"]],
    Query(max_length=len(REMEMBERED), description="may be repeated; without one, what was captured"),
]
_Project = Annotated[str | None, Query(max_length=400)]
_Shared = Annotated[bool, Query(description="only what belongs to no project")]
_Time = Annotated[
    str, Query(max_length=40, description="epoch seconds or milliseconds, or ISO 8601; a day is all of it")
]


class Services(Protocol):
    """What these routes need."""

    @property
    def timeline(self) -> Timeline: ...
    @property
    def overview(self) -> Overview: ...
    @property
    def sessions(self) -> SessionLists: ...


class TimelineRow(Short):
    """One memory of the list."""

    project: str
    status: Status
    uri: str | None
    session: int | None = Field(description="number of the session in which it was made, if that was captured")
    session_key: str | None


class TimelinePage(BaseModel):
    """Some memories, always the newest first."""

    items: list[TimelineRow]
    older: str | None = Field(description="the cursor of older ones; null at the end")
    newer: str | None = Field(description="the cursor of newer ones, also of those to come; null if there is nothing")
    anchor: str | None = Field(description="the memory that was asked for as an anchor")


class MemoryCount(BaseModel):
    """How many memories there are."""

    count: int
    more: bool = Field(description=f"whether there may be more: only {MOST_COUNTED:,} are counted")


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/memories/timeline", responses=answers(TimelinePage))
    def timeline(
        project: _Project = None, shared: _Shared = False, kind: _Kinds = [],  # noqa: B006  the framework copies it
        from_: Annotated[_Time, Query(alias="from")] = "", to: _Time = "",
        anchor: Annotated[str, Query(max_length=600, description="a memory, or a time as ISO 8601, to begin at")] = "",
        direction: Toward = Toward.OLDER, cursor: CursorText = "",
        limit: Annotated[int, Query(ge=1, le=_MAX)] = 50,
    ) -> dict[str, Any]:  # fmt: skip
        wanted = Filter(
            _kinds(kind), project="" if shared else project or None,
            created_from_ms=_stretch("from", from_).first_ms if from_ else None,
            created_to_ms=_stretch("to", to).last_ms if to else None,
        )  # fmt: skip
        edge, memory = _begin(services.timeline, anchor, direction, cursor)
        return _page(services, services.timeline.flow(wanted, edge, limit=limit), memory)

    @door.get("/api/memories/count", responses=answers(MemoryCount))
    def count(project: _Project = None, kind: _Kinds = []) -> dict[str, Any]:  # noqa: B006  the framework copies it
        counted = services.overview.some(sorted(_kinds(kind)), project or None)
        return {"count": counted, "more": counted == MOST_COUNTED}


def _kinds(named: list[Any]) -> frozenset[Kind]:
    return frozenset(map(Kind, named)) or KINDS


def _begin(line: Timeline, anchor: str, direction: Toward, at: str) -> tuple[Edge | None, Memory | None]:
    found = place(_LIST, at, str, int, int)
    if found is not None:
        return Edge(Cursor(*found[1:]), Toward(found[0])), None
    if not anchor.strip():
        return None, None
    try:
        time = stretch(anchor) if not anchor.strip().isdecimal() else None
    except ValueError:
        time = None
    if time is not None:
        return line.moment(time.first_ms, time.last_ms, direction), None
    return line.edge(anchor, direction)


def _stretch(name: str, text: str) -> Stretch:
    try:
        return stretch(text)
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"{name} is no time: {text[:40]!r}", hint="write epoch seconds, milliseconds or ISO 8601, e.g. 2026-02-18"
        ) from None


def _page(services: Services, flow: Flow, anchor: Memory | None) -> dict[str, Any]:
    numbers = services.sessions.numbers([each.session for each in flow.items if each.session is not None])
    return {
        "items": [_row(each, numbers) for each in flow.items],
        "older": _cursor(Toward.OLDER, flow.older),
        "newer": _cursor(Toward.NEWER, flow.newer),
        "anchor": short(anchor)["ref"] if anchor is not None else None,
    }


def _row(memory: Memory, numbers: dict[str, int]) -> dict[str, Any]:
    state = memory.state
    return {
        **short(memory),
        "project": state.project,
        "status": state.status,
        "uri": state.uris[0] if state.uris else None,
        "session": numbers.get(memory.session) if memory.session is not None else None,
        "session_key": memory.session,
    }


def _cursor(toward: Toward, at: Cursor | None) -> str | None:
    return cursor(_LIST, toward.value, at.created_ms, at.seq) if at is not None else None
