"""The trace of a run (contract 002 §2.7): pages without payloads unless asked, and one event with its own."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.event import TRACED, EventType
from codexmem.services.lab.trace import Moment
from codexmem.surfaces.lab_api import wire_runs as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services
from codexmem.surfaces.lab_api.wire import Seconds, ms


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/runs/{run_id}/events")
    def listed(
        run_id: str,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
        event_type: Annotated[list[str], Query(max_length=60, description="may be repeated; all if left out")] = [],  # noqa: B006
        since: Annotated[Seconds | None, Query(description="epoch seconds, included")] = None,
        until: Annotated[Seconds | None, Query(description="epoch seconds, included")] = None,
        include_payload: bool = False,
    ) -> dict[str, Any]:
        name = f"events {run_id}"  # the same place under any filter: a reader may widen it on the way
        seen = place(name, cursor_text, int, int)
        found = services.lab.trace.page(
            run_id, types=_types(event_type), since_ms=ms(since), until_ms=ms(until),
            after=Moment(*seen) if seen else None, limit=limit, payloads=include_payload,
        )  # fmt: skip
        last = Moment(found.items[-1].at_ms, found.items[-1].seq) if found.items else None
        tail = cursor(name, last.at_ms, last.seq) if last else cursor_text
        items = [wire.event(event, run_id) for event in found.items]
        # Beyond the contract: where to go on later, also from the end of what there is, for one who follows a trace.
        return page(items, tail if found.more else None) | {"tail_cursor": tail or None}

    @door.get("/api/v1/runs/{run_id}/events/{event_id}")
    def one(run_id: str, event_id: str) -> dict[str, Any]:
        return wire.event(services.lab.trace.event(run_id, event_id), run_id)


def _types(given: list[str]) -> list[EventType]:
    known = {each.value: each for each in TRACED}
    unknown = [each for each in given if each not in known]
    if unknown:
        raise InvalidArgument(f"event_type {unknown[0][:40]!r} is not known", hint=f"one of {', '.join(sorted(known))}")
    return [known[each] for each in given]
