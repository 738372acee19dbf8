"""Sessions to look through. What hooks report about them under the same path is the business of contract 000."""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query
from pydantic import Field

from codexmem.services.sessions import SessionLists, SessionPage
from codexmem.services.turns import MAX_TURNS, Place, TurnPage, Turns
from codexmem.services.undoing import Undoing
from codexmem.surfaces._kit.cursors import CursorText, cursor, place
from codexmem.surfaces._kit.recall.described import answers
from codexmem.surfaces.memory_api import session_rows as rows

_MAX = 200
_Number = Annotated[int, Field(ge=0, lt=2**63)]


class Services(Protocol):
    """What these routes need."""

    @property
    def sessions(self) -> SessionLists: ...
    @property
    def turns(self) -> Turns: ...
    @property
    def undoing(self) -> Undoing: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes. Numbers are told from the verbs of contract 000 by the path itself."""

    @door.get("/api/sessions", responses=answers(rows.SessionPage))
    def sessions(
        project: Annotated[str | None, Query(max_length=400)] = None,
        q: Annotated[str, Query(max_length=4_000, description="words; without them the last active come first")] = "",
        cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=_MAX)] = 50,
    ) -> dict[str, Any]:  # fmt: skip
        return _found(services, q.strip(), project or None, cursor, limit)

    @door.get("/api/sessions/{number:int}", responses=answers(rows.OneSession))
    def session(number: _Number) -> dict[str, Any]:
        told = services.sessions.one(number)
        return {**rows.session(told), "undone": services.undoing.undone(told.session.subject)}

    @door.get("/api/sessions/{number:int}/turns", responses=answers(rows.TurnPage))
    def turns(
        number: _Number, cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=MAX_TURNS)] = 10,
        hidden: Annotated[bool, Query(description="also what was undone or deleted")] = False,
    ) -> dict[str, Any]:  # fmt: skip
        found = place(f"sessions/{number}/turns", cursor, int, int)
        begin = Place(*found) if found is not None else Place()
        return _turns(services.turns.page(number, begin, limit=limit, hidden=hidden))

    @door.get("/api/sessions/{number:int}/events/{seq:int}", responses=answers(rows.WholeEvent))
    def event(number: _Number, seq: _Number) -> dict[str, Any]:
        return rows.whole(services.turns.event(number, seq))


def _found(services: Services, text: str, project: str | None, at: str, limit: int) -> dict[str, Any]:
    if text:
        passed = place("sessions/found", at, int)
        offset = passed[0] if passed is not None else 0
        page = services.sessions.fitting(text, project=project, offset=offset, limit=limit)
    else:
        below = place("sessions", at, int, int)
        page = services.sessions.newest(project=project, below=(below[0], below[1]) if below else None, limit=limit)
    return _listed([rows.session(each) for each in page.sessions], _following(page))


def _following(page: SessionPage) -> str | None:
    if page.after is not None:
        return cursor("sessions", *page.after)
    return cursor("sessions/found", page.offset) if page.offset is not None else None


def _turns(page: TurnPage) -> dict[str, Any]:
    after = page.after
    name = f"sessions/{page.session.id}/turns"
    following = cursor(name, after.event, after.logged) if after is not None else None
    return {"session": page.session.id, **_listed([rows.turn(each) for each in page.turns], following)}


def _listed(items: list[dict[str, Any]], following: str | None) -> dict[str, Any]:
    return {"items": items, "next_cursor": following, "has_more": following is not None}
