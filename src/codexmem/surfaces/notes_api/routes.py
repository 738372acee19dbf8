"""`/api/notes`: looking at notes. What changes them is in `changing`."""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query

from codexmem.domain import note
from codexmem.domain.memory import Status
from codexmem.domain.query import Cursor
from codexmem.domain.search import MAX_DEPTH
from codexmem.surfaces._kit.cursors import CursorText, cursor, place
from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.notes_api import answers, changing, wire
from codexmem.surfaces.notes_api.changing import ERRORS
from codexmem.surfaces.notes_api.requests import Limit, ListNotes, Number, UriAsked


class Services(changing.Services, Protocol):
    """What this door needs."""


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()

    @door.get("/api/notes/tree", response_model=answers.NoteTree, responses=ERRORS)
    def tree(
        prefix: Annotated[str, Query(max_length=4_000, description="an address; without one, the domains")] = "",
        cursor: CursorText = "", limit: Limit = 50, deleted: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """What lies directly under an address, in the order of bytes."""
        found = place("notes/tree", cursor, str, str)
        beginning, after = found if found is not None else (prefix, "")
        return wire.tree(services.notes.tree.branch(beginning, limit=limit, after=after, deleted=deleted))

    @door.get(
        "/api/notes", response_model=answers.NoteList, response_model_exclude_unset=True, responses=ERRORS
    )  # fmt: skip
    def notes(asked: Annotated[ListNotes, Query()]) -> dict[str, Any]:
        """Notes by filters, the newest first, or by words, the best first."""
        return _found(services, asked) if asked.q.strip() else _listed(services, asked)

    @door.get("/api/notes/stats", response_model=answers.NoteStats, responses=ERRORS)
    def stats() -> dict[str, Any]:
        """How many notes there are of what."""
        figures = services.notes.shelf.figures()
        total = sum(count for status, count in figures.statuses.items() if status != Status.DELETED)
        return {"statuses": figures.statuses, "domains": figures.domains, "total": total}

    @door.get("/api/notes/read", response_model=answers.Note, responses=ERRORS)
    def read(uri: UriAsked) -> dict[str, Any]:
        """One note, deleted or not; it counts as no use of it."""
        return wire.whole(services.notes.reading.look(uri))

    @door.get("/api/notes/view", response_model=answers.NoteView, responses=ERRORS)
    def view(
        uri: Annotated[str, Query(min_length=1, max_length=4_000, description="for example system://boot")],
    ) -> dict[str, Any]:
        """A view as agents are told it; nothing is counted as shown."""
        return wire.view(services.notes.views.read(uri, told=False))

    @door.get("/api/notes/versions", response_model=answers.NoteVersions, responses=ERRORS)
    def versions(uri: UriAsked, cursor: CursorText = "", limit: Limit = 20) -> dict[str, Any]:
        """Its versions, the newest first."""
        return _versions(services, uri, cursor, limit)

    @door.get("/api/notes/version", response_model=answers.NoteState, responses=ERRORS)
    def version(uri: UriAsked, version: Number) -> dict[str, Any]:
        """What it said in one version."""
        return wire.state(services.notes.reading.version(uri, version))

    @door.get("/api/notes/diff", response_model=answers.NoteDiff, responses=ERRORS)
    def diff(uri: UriAsked, before: Number, after: Number) -> dict[str, Any]:
        """Two of its versions side by side."""
        found = services.notes.reading.diff(uri, before, after)
        return {
            "uri": uri, "before": wire.state(found.before), "after": wire.state(found.after),
            "changes": wire.changes(found.before.state, found.after.state), "unified": found.unified,
        }  # fmt: skip

    @door.get("/api/notes/rollback/preview", response_model=answers.NoteWayBack, responses=ERRORS)
    def preview(uri: UriAsked, version: Number) -> dict[str, Any]:
        """What bringing a version back would change."""
        return wire.way_back(uri, services.notes.reading.way_back(uri, version))

    changing.add(door, services)
    return door


def _listed(services: Services, asked: ListNotes) -> dict[str, Any]:
    found = place("notes", asked.cursor, int, int)
    after = Cursor(*found) if found is not None else None
    page = services.notes.shelf.page(asked.wish(), limit=asked.limit, after=after)
    following = cursor("notes", page.after.created_ms, page.after.seq) if page.after is not None else None
    return {**wire.listed([wire.row(each) for each in page.memories], following), "mode": None, "notes": []}


def _found(services: Services, asked: ListNotes) -> dict[str, Any]:
    found = place("notes/found", asked.cursor, int)
    (offset,) = found if found is not None else (0,)
    limit = min(asked.limit, MAX_DEPTH - offset)
    results = services.notes.shelf.search(asked.q.strip(), asked.wish(), limit=limit, offset=offset)
    rows = [{**wire.row(each.memory), "score": round(each.score, 4)} for each in results.found]
    further = results.more and offset + limit < MAX_DEPTH
    following = cursor("notes/found", offset + limit) if further else None
    return {**wire.listed(rows, following), "mode": results.mode.value, "notes": list(results.notes)}


def _versions(services: Services, uri: str, at: str, limit: int) -> dict[str, Any]:
    found = place("notes/versions", at, int)
    below = found[0] if found is not None else None
    # One more than is told: it says what the last one changed, and that there is more.
    past = services.notes.reading.versions(uri, limit=limit + 1, below=below)
    pairs = zip(past.versions, [*past.versions[1:], None], strict=False)
    rows = [wire.version(each, before) for each, before in pairs][:limit]
    following = cursor("notes/versions", rows[-1]["version"]) if len(past.versions) > limit else None
    told = {"uri": note.primary(past.memory), "seq": past.memory.seq, "current": past.memory.version}
    return {**told, **wire.listed(rows, following)}
