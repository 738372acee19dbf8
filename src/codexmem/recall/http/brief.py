"""The page of a project: what was learned, what needs care, what it cost and gave."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Query

from codexmem.http.cursors import CursorText, place
from codexmem.kernel.model.memory import MAX_PROJECT, Origin
from codexmem.kernel.model.query import RowCursor
from codexmem.recall.brief import ProjectBrief
from codexmem.recall.brief_model import LEARNED, MAX_COST_DAYS, MAX_WEEKS
from codexmem.recall.http.described import answers
from codexmem.recall.http.lifecycle import LifecycleServices, TextList, memory_page
from codexmem.recall.http.timeline import TimeText, time_range
from codexmem.recall.memory_list import ListRequirements
from codexmem.recall.wire.brief import BriefCost, BriefDays, BriefDigest, BriefFacets, BriefHealth
from codexmem.recall.wire.sessions import SessionRow

_MAX = 200
_LIST = "brief/digest"
_Project = Annotated[str, Query(max_length=MAX_PROJECT, description="empty: what belongs to no project")]


class BriefServices(LifecycleServices, Protocol):
    """What these routes need."""

    @property
    def brief(self) -> ProjectBrief: ...


def add(api: APIRouter, services: BriefServices) -> None:
    """Add the routes."""

    @api.get("/api/brief/days", responses=answers(BriefDays))
    def days(
        project: _Project, weeks: Annotated[int, Query(ge=1, le=MAX_WEEKS)] = 26,
        timezone: Annotated[int, Query(ge=-840, le=840, description="minutes that your clock is ahead of UTC")] = 0,
    ) -> dict[str, object]:  # fmt: skip
        """Counts by day of what was learned; costs the project's memories of that time."""
        span = services.brief.span(weeks * 7, timezone)
        return BriefDays.of(services.brief.days(project, span), span).document()

    @api.get("/api/brief/facets", responses=answers(BriefFacets))
    def facets(
        project: _Project, from_: Annotated[TimeText, Query(alias="from")] = "", to: TimeText = ""
    ) -> dict[str, object]:
        """What the memories of a time are about; looks at the newest 2,000 of each kind."""
        return BriefFacets.of(services.brief.labels(project, *_times(from_, to))).document()

    @api.get("/api/brief/digest", responses=answers(BriefDigest))
    def digest(
        project: _Project, from_: Annotated[TimeText, Query(alias="from")] = "", to: TimeText = "",
        file: TextList = [], concept: TextList = [], type: TextList = [], agent: TextList = [],  # noqa: B006
        origin: Annotated[list[Origin], Query(max_length=len(Origin))] = [],  # noqa: B006
        cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=_MAX)] = 50,
    ) -> dict[str, object]:  # fmt: skip
        """What was learned in a time, a page at a time, with the sessions that it was learned in."""
        from_ms, to_ms = _times(from_, to)
        wanted = ListRequirements(
            LEARNED, project, origins=frozenset(origin), files=tuple(file), concepts=frozenset(concept),
            types=frozenset(type), agents=frozenset(agent), from_ms=from_ms, to_ms=to_ms,
        )  # fmt: skip
        begin = place(_LIST, cursor, int, int)
        found = services.memory_lists.page(wanted, limit=limit, after=RowCursor(*begin) if begin else None)
        page = memory_page(services, found, _LIST)
        keys = [each.memory.session for each in found.items if each.memory.session is not None]
        listed = services.sessions.named(list(dict.fromkeys(keys)))
        return BriefDigest(
            items=page.items, next_cursor=page.next_cursor, has_more=page.has_more,
            sessions=tuple(map(SessionRow.of, listed)),
        ).document()  # fmt: skip

    @api.get("/api/brief/health", responses=answers(BriefHealth))
    def health(project: _Project) -> dict[str, object]:
        """What needs care, in numbers that are queues."""
        return BriefHealth.of(services.brief.health(project)).document()

    @api.get("/api/brief/cost", responses=answers(BriefCost))
    def cost(
        project: _Project, days: Annotated[int, Query(ge=1, le=MAX_COST_DAYS)] = MAX_COST_DAYS
    ) -> dict[str, object]:
        """What the last days cost and gave; costs what was logged on them, 10,000 events of a type at most."""
        return BriefCost.of(services.brief.cost(project, days)).document()


def _times(from_: str, to: str) -> tuple[int, int]:
    return (
        time_range("from", from_).first_ms if from_ else 0,
        time_range("to", to).last_ms if to else 2**62,
    )
