"""Sessions to look through. What hooks report about them under the same path is the business of contract 000."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Query
from pydantic import Field

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.recall.http.described import answers
from codexmem.recall.sessions import MAX_TURNS, SessionListPage, SessionLists, TurnCursor, TurnListPage, TurnReader
from codexmem.recall.undoing import Undoing
from codexmem.recall.wire import sessions as wire

_MAX = 200
_Number = Annotated[int, Field(ge=0, lt=2**63)]


class SessionServices(Protocol):
    """What these routes need."""

    @property
    def sessions(self) -> SessionLists: ...
    @property
    def turns(self) -> TurnReader: ...
    @property
    def undoing(self) -> Undoing: ...


def add(api: APIRouter, services: SessionServices) -> None:
    """Add the routes. Numbers are told from the verbs of contract 000 by the path itself."""

    @api.get("/api/sessions", responses=answers(wire.SessionPage))
    def sessions(
        project: Annotated[str | None, Query(max_length=400)] = None,
        q: Annotated[str, Query(max_length=4_000, description="words; without them the last active come first")] = "",
        cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=_MAX)] = 50,
    ) -> dict[str, object]:  # fmt: skip
        return _found(services, q.strip(), project or None, cursor, limit).document()

    @api.get("/api/sessions/{number:int}", responses=answers(wire.OneSession))
    def session(number: _Number) -> dict[str, object]:
        listed = services.sessions.one(number)
        undone = tuple(services.undoing.undone(listed.session.subject))
        last = services.undoing.written_ms(undone[0]) if undone else None
        return wire.OneSession.of(listed, undone=undone, undone_ms=last).document()

    @api.get("/api/sessions/{number:int}/turns", responses=answers(wire.TurnPage))
    def turns(
        number: _Number, cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=MAX_TURNS)] = 10,
        hidden: Annotated[bool, Query(description="also what was undone or deleted")] = False,
    ) -> dict[str, object]:  # fmt: skip
        found = place(f"sessions/{number}/turns", cursor, int, int)
        begin = TurnCursor(*found) if found is not None else TurnCursor()
        return _turns(services.turns.page(number, begin, limit=limit, hidden=hidden)).document()

    @api.get("/api/sessions/{number:int}/events/{seq:int}", responses=answers(wire.WholeEvent))
    def event(number: _Number, seq: _Number) -> dict[str, object]:
        return wire.WholeEvent.of(services.turns.event(number, seq)).document()


def _found(services: SessionServices, text: str, project: str | None, at: str, limit: int) -> wire.SessionPage:
    if text:
        passed = place("sessions/found", at, int)
        offset = passed[0] if passed is not None else 0
        page = services.sessions.fitting(text, project=project, offset=offset, limit=limit)
    else:
        below = place("sessions", at, int, int)
        page = services.sessions.newest(project=project, below=(below[0], below[1]) if below else None, limit=limit)
    return wire.SessionPage.of(page.sessions, _following(page))


def _following(page: SessionListPage) -> str | None:
    if page.after is not None:
        return cursor("sessions", *page.after)
    return cursor("sessions/found", page.offset) if page.offset is not None else None


def _turns(page: TurnListPage) -> wire.TurnPage:
    after = page.after
    name = f"sessions/{page.session.id}/turns"
    return wire.TurnPage.of(page, cursor(name, after.event, after.logged) if after is not None else None)
