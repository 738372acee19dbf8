"""The long list of everything that was captured or written, from any place in it; every page costs its own length."""

from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Query

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.moments import TimeRange, stretch
from codexmem.kernel.model import handle
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import REMEMBERED, Kind, Memory
from codexmem.kernel.model.query import Filter, RowCursor
from codexmem.recall.http.described import answers
from codexmem.recall.overview import Overview
from codexmem.recall.sessions import SessionLists
from codexmem.recall.timeline import KINDS, Edge, Flow, TimelineReader, Toward
from codexmem.recall.wire.memories import MemoryCount, TimelinePage, TimelineRow

_MAX = 200
_LIST = "memories/timeline"
_Kinds = Annotated[
    list[Literal["observation", "summary", "prompt", "note", "qa", "knowledge", "lesson"]],
    Query(max_length=len(REMEMBERED), description="may be repeated; without one, what was captured"),
]
_Project = Annotated[str | None, Query(max_length=400)]
_Shared = Annotated[bool, Query(description="only what belongs to no project")]
TimeText = Annotated[
    str, Query(max_length=40, description="epoch seconds or milliseconds, or ISO 8601; a day is all of it")
]


class TimelineServices(Protocol):
    """What these routes need."""

    @property
    def timeline(self) -> TimelineReader: ...
    @property
    def overview(self) -> Overview: ...
    @property
    def sessions(self) -> SessionLists: ...


def add(api: APIRouter, services: TimelineServices) -> None:
    """Add the routes."""

    @api.get("/api/memories/timeline", responses=answers(TimelinePage))
    def timeline(
        project: _Project = None, shared: _Shared = False, kind: _Kinds = [],  # noqa: B006  the framework copies it
        from_: Annotated[TimeText, Query(alias="from")] = "", to: TimeText = "",
        anchor: Annotated[str, Query(max_length=600, description="a memory, or a time as ISO 8601, to begin at")] = "",
        direction: Toward = Toward.OLDER, cursor: CursorText = "",
        limit: Annotated[int, Query(ge=1, le=_MAX)] = 50,
    ) -> dict[str, object]:  # fmt: skip
        wanted = Filter(
            _kinds(kind), project="" if shared else project or None,
            created_from_ms=time_range("from", from_).first_ms if from_ else None,
            created_to_ms=time_range("to", to).last_ms if to else None,
        )  # fmt: skip
        edge, memory = _begin(services.timeline, anchor, direction, cursor)
        return _page(services, services.timeline.flow(wanted, edge, limit=limit), memory).document()

    @api.get("/api/memories/count", responses=answers(MemoryCount))
    def count(project: _Project = None, kind: _Kinds = []) -> dict[str, object]:  # noqa: B006  the framework copies it
        return MemoryCount.of(services.overview.some(sorted(_kinds(kind)), project or None)).document()


def _kinds(named: list[Any]) -> frozenset[Kind]:
    return frozenset(map(Kind, named)) or KINDS


def _begin(line: TimelineReader, anchor: str, direction: Toward, at: str) -> tuple[Edge | None, Memory | None]:
    found = place(_LIST, at, str, int, int)
    if found is not None:
        return Edge(RowCursor(*found[1:]), Toward(found[0])), None
    if not anchor.strip():
        return None, None
    try:
        time = stretch(anchor) if not anchor.strip().isdecimal() else None
    except ValueError:
        time = None
    if time is not None:
        return line.moment(time.first_ms, time.last_ms, direction), None
    return line.edge(anchor, direction)


def time_range(name: str, text: str) -> TimeRange:
    """The time that a parameter of this name means; InvalidArgument if it means none."""
    try:
        return stretch(text)
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"{name} is not a time: {text[:40]!r}",
            hint="write epoch seconds, milliseconds or ISO 8601, e.g. 2026-02-18",
        ) from None


def _page(services: TimelineServices, flow: Flow, anchor: Memory | None) -> TimelinePage:
    numbers = services.sessions.numbers([each.session for each in flow.items if each.session is not None])
    return TimelinePage(
        items=tuple(
            TimelineRow.of_session(each, numbers.get(each.session) if each.session is not None else None)
            for each in flow.items
        ),
        older=_cursor(Toward.OLDER, flow.older),
        newer=_cursor(Toward.NEWER, flow.newer),
        anchor=handle.ref(anchor) if anchor is not None else None,
    )


def _cursor(toward: Toward, at: RowCursor | None) -> str | None:
    return cursor(_LIST, toward.value, at.created_ms, at.seq) if at is not None else None
